/* How long a review may take, of what several policies say. */
#include <stdio.h>

#include "policy/document.h"
#include "unit.h"

struct said {
    int64_t timeout_s, cpu_ms; /* 0: it does not say */
};

static void the_least_of_all_policies_counts(void)
{
    enum { POLICIES_MAX = 3 };
    static const struct {
        struct said said[POLICIES_MAX];
        size_t count;
        int64_t timeout_s, cpu_limit_us;
    } cases[] = {
        {{{0, 0}}, 0, 0, 500000},
        {{{0, 0}}, 1, 0, 500000},
        /* Half of what the timeout leaves: of 1 s half is a margin. */
        {{{1, 0}}, 1, 1, 250000},
        {{{30, 0}}, 1, 30, 500000},
        {{{30, 0}, {1, 0}, {9, 0}}, 3, 1, 250000},
        {{{9, 0}, {30, 0}}, 2, 9, 500000},
        /* What is said counts, also above what nobody has said. */
        {{{0, 900}}, 1, 0, 900000},
        {{{0, 100}}, 1, 0, 100000},
        {{{0, 0}, {0, 900}, {0, 800}}, 3, 0, 800000},
        {{{0, 800}, {0, 0}, {0, 900}}, 3, 0, 800000},
        {{{1, 400}, {30, 0}}, 2, 1, 400000},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct policy policies[POLICIES_MAX] = {0};
        for (size_t j = 0; j < cases[i].count; j++)
            policies[j].limits = (struct review_limits){
                .timeout_given = cases[i].said[j].timeout_s > 0,
                .timeout_s = cases[i].said[j].timeout_s,
                .cpu_given = cases[i].said[j].cpu_ms > 0,
                .cpu_ms = cases[i].said[j].cpu_ms,
            };
        const struct policy_set set = {.items = policies, .count = cases[i].count};
        ASSERT_INT(policy_set_timeout_s(&set), cases[i].timeout_s);
        ASSERT_INT(policy_set_cpu_limit_us(&set), cases[i].cpu_limit_us);
    }
}

const char unit_suite[] = "policy review limits";
const struct unit_test unit_tests[] = {
    {"the least of all policies counts", the_least_of_all_policies_counts},
    {NULL, NULL},
};
