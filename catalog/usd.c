/* Money as text. */
#include "catalog/usd.h"

#include <stdio.h>
#include <string.h>

int64_t usd_a_month(int64_t usd_micro_per_hour)
{
    int64_t month_micro;
    return __builtin_mul_overflow(usd_micro_per_hour, HOURS_A_MONTH, &month_micro) ? INT64_MAX
                                                                                   : month_micro;
}

int64_t usd_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

struct text usd_text(int64_t usd_micro, int decimals, struct arena *arena)
{
    int64_t unit = 1; /* micro-dollars of the last digit */
    for (int i = decimals; i < 6; i++)
        unit *= 10;
    int64_t units_a_dollar = 1000000 / unit;
    int64_t rounded = usd_micro / unit + (usd_micro % unit * 2 >= unit);
    char whole[24];
    snprintf(whole, sizeof whole, "%lld", (long long)(rounded / units_a_dollar));
    size_t digits = strlen(whole);
    struct text_builder dollars = {.arena = arena};
    for (size_t i = 0; i < digits; i++)
        text_builder_printf(&dollars, "%s%c", i > 0 && (digits - i) % 3 == 0 ? "," : "", whole[i]);
    text_builder_printf(&dollars, ".%0*lld", decimals, (long long)(rounded % units_a_dollar));
    return text_builder_text(&dollars);
}

struct text usd_dollars(int64_t usd_micro, struct arena *arena)
{
    return arena_printf(arena, "$%.*s", TEXT_ARGS(usd_text(usd_micro, 2, arena)));
}
