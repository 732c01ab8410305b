/* Which resources are those of device plugins. */
#include "kube/device.h"
#include "unit.h"

static void an_extended_resource_has_a_foreign_domain(void)
{
    static const struct {
        const char *name;
        bool extended;
    } cases[] = {
        {"nvidia.com/gpu", true},
        {"example.org/licence", true},
        {"cpu", false},
        {"hugepages-2Mi", false},
        {"kubernetes.io/batch-cpu", false},
        {"node.kubernetes.io/gpu", false},
        {"requests.nvidia.com/gpu", false},
        {"", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (resource_is_extended(text_of(cases[i].name)) != cases[i].extended)
            fprintf(stderr, "%s:\n", cases[i].name);
        CU_ASSERT_EQUAL(resource_is_extended(text_of(cases[i].name)), cases[i].extended);
    }
}

const char unit_suite[] = "kube device";
const struct unit_test unit_tests[] = {
    {"an extended resource has a foreign domain", an_extended_resource_has_a_foreign_domain},
    {NULL, NULL},
};
