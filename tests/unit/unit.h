/* A unit test program is one table of tests. main.c runs it through CUnit. The exit status is 0
 * only when at least one test ran, every one asserted something, and none failed. */
#ifndef TAFFRAIL_UNIT_H
#define TAFFRAIL_UNIT_H

#include <CUnit/CUnit.h>

struct unit_test {
    const char *name;
    void (*run)(void);
};
extern const char unit_suite[];
extern const struct unit_test unit_tests[]; /* ends with a NULL name */

/* Asserts that two texts (struct text) are equal and prints both when they are not. */
#define ASSERT_TEXT(actual, expected) \
    unit_assert_text((actual), text_of(expected), __FILE__, __LINE__)
/* Asserts that two integers are equal and prints both when they are not. */
#define ASSERT_INT(actual, expected) \
    unit_assert_int((long long)(actual), (long long)(expected), #actual, __FILE__, __LINE__)

struct text;
void unit_assert_text(struct text actual, struct text expected, const char *file, int line);
void unit_assert_int(long long actual, long long expected, const char *expression, const char *file,
                     int line);

#endif
