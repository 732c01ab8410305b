#include "server/http.h"

/* The API server says in the query how much of its caller's time is left, as Go writes a duration:
 * 10s, 1m0s, 1.5s (docs/reference/admission.md 1.7). */

static const double day_micros = 86400e6; /* no time beyond it makes a difference */

static const struct {
    struct text name;
    double micros;
} units[] = {
    {{"ns", 2}, 1e-3}, {{"us", 2}, 1},   {{"ms", 2}, 1e3},
    {{"s", 1}, 1e6},   {{"m", 1}, 60e6}, {{"h", 1}, 3600e6},
};

static void skip(struct text *left, size_t size)
{
    left->data += size;
    left->size -= size;
}

/* Digits, and after a point more of them; false when there is none at all. */
static bool take_number(struct text *left, double *number)
{
    bool digit = false, point = false;
    double place = 1;
    *number = 0;
    for (; left->size > 0; skip(left, 1)) {
        char c = *left->data;
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        digit = true;
        if (point)
            place /= 10;
        *number = point ? *number + (c - '0') * place : *number * 10 + (c - '0');
    }
    return digit;
}

/* False when none of the units is there; a longer name comes before one that begins it. */
static bool take_unit(struct text *left, double *micros)
{
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (text_starts_with(*left, units[i].name)) {
            *micros = units[i].micros;
            skip(left, units[i].name.size);
            return true;
        }
    return false;
}

static int64_t duration_micros(struct text duration)
{
    double sum = 0, number, unit;
    while (duration.size > 0) {
        if (!take_number(&duration, &number) || !take_unit(&duration, &unit))
            return 0;
        sum += number * unit;
    }
    return (int64_t)(sum < day_micros ? sum : day_micros);
}

int64_t target_timeout_us(struct text target)
{
    struct text query, parameter;
    if (!text_split(target, '?', NULL, &query))
        return 0;
    while (query.size > 0) {
        if (!text_split(query, '&', &parameter, &query)) {
            parameter = query;
            query.size = 0;
        }
        if (text_starts_with(parameter, TEXT("timeout="))) {
            skip(&parameter, sizeof "timeout=" - 1);
            return duration_micros(parameter);
        }
    }
    return 0;
}
