/* The main function of every unit test program. */
#include "unit.h"

#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

void unit_assert_text(struct text actual, struct text expected, const char *file, int line)
{
    bool equal = text_equal(actual, expected);
    if (!equal)
        fprintf(stderr, "%s:%d:\n  actual   \"%.*s\"\n  expected \"%.*s\"\n", file, line,
                TEXT_ARGS(actual), TEXT_ARGS(expected));
    CU_assertImplementation(equal, (unsigned)line, "texts are equal", file, "", CU_FALSE);
}

void unit_assert_int(long long actual, long long expected, const char *expression, const char *file,
                     int line)
{
    if (actual != expected)
        fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", file, line, expression, actual,
                expected);
    CU_assertImplementation(actual == expected, (unsigned)line, expression, file, "", CU_FALSE);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite suite = CU_add_suite(unit_suite, NULL, NULL);
    if (suite == NULL)
        return 1;
    size_t count = 0;
    for (const struct unit_test *test = unit_tests; test->name != NULL; test++, count++)
        if (CU_add_test(suite, test->name, test->run) == NULL)
            return 1;
    CU_basic_set_mode(CU_BRM_NORMAL);
    CU_ErrorCode code = CU_basic_run_tests();
    bool passed = code == CUE_SUCCESS && CU_get_number_of_failure_records() == 0 &&
                  CU_get_number_of_suites_failed() == 0 && count > 0 &&
                  CU_get_number_of_tests_run() == count &&
                  CU_get_number_of_asserts() >= CU_get_number_of_tests_run();
    CU_cleanup_registry();
    return passed ? 0 : 1;
}
