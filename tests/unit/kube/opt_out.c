/* Durations of karpenter.sh/do-not-disrupt, which Karpenter reads with Go's time.ParseDuration. */
#include "kube/opt_out.h"

#include <stdio.h>

#include "unit.h"

static void durations_are_those_of_go(void)
{
    static const struct {
        const char *text;
        double ns; /* 0: is none */
    } rows[] = {
        {"1h", 3600e9},
        {"90m", 5400e9},
        {"45s", 45e9},
        {"90000ms", 90e9},
        {"20us", 20e3},
        {"20\xc2\xb5s", 20e3},
        {"20\xce\xbcs", 20e3},
        {"7ns", 7},
        {"1h30m15s", 5415e9},
        {"30m1h", 5400e9},
        {"1h1h", 7200e9},
        {"+2h", 7200e9},
        {"1.5h", 5400e9},
        {"1.1h", 3960e9},
        {"0.25h", 900e9},
        {".5h", 1800e9},
        {"2.h", 7200e9},
        {"1.25s", 1250e6},
        {"0h1s", 1e9},
        {"2562047h", 2562047 * 3600e9},
        /* more nanoseconds than an int64_t holds */
        {"2562048h", 0},
        {"2562047h60m", 0},
        /* Karpenter wants one above 0 */
        {"0s", 0},
        {"0", 0},
        {"-1h", 0},
        {"", 0},
        {"+", 0},
        {"++1h", 0},
        {"1", 0},
        {"1h30", 0},
        {"h", 0},
        {".h", 0},
        {"1..5h", 0},
        {"1.5.5h", 0},
        {"1d", 0},
        {"1H", 0},
        {"1h ", 0},
        {" 1h", 0},
        {"1 h", 0},
        {"1:h", 0},
        {"1/h", 0},
        {"true", 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double ns = -1;
        bool good = opt_out_duration(text_of(rows[i].text), &ns);
        if (good != (rows[i].ns > 0) || (good && ns != rows[i].ns))
            fprintf(stderr, "\"%s\": %.0f\n", rows[i].text, ns);
        CU_ASSERT_EQUAL(good, rows[i].ns > 0);
        if (good)
            CU_ASSERT_EQUAL(ns, rows[i].ns);
    }
}

const char unit_suite[] = "kube opting out of disruption";
const struct unit_test unit_tests[] = {
    {"durations are those of Go", durations_are_those_of_go},
    {NULL, NULL},
};
