/* Durations as Go writes them, one number and its unit after the other. */
#include "base/duration.h"

/* A longer name comes before its own prefix. */
static const struct {
    struct text name;
    int64_t ns;
} units[] = {
    {{"ns", 2}, 1},
    {{"us", 2}, 1000},
    {{"\u00b5s", 3}, 1000},
    {{"\u03bcs", 3}, 1000},
    {{"ms", 2}, 1000000},
    {{"s", 1}, DURATION_SECOND_NS},
    {{"m", 1}, DURATION_MINUTE_NS},
    {{"h", 1}, DURATION_HOUR_NS},
};

static void add_digit(struct duration_part *part, int digit)
{
    if (part->is_vast || __builtin_mul_overflow(part->number, 10, &part->number) ||
        __builtin_add_overflow(part->number, digit, &part->number)) {
        part->is_vast = true;
        part->number = INT64_MAX;
    }
}

/* Digits, and after a point more of them; false when there is none at all. */
static bool take_number(struct text *t, struct duration_part *part)
{
    double place = 1;
    bool some = false;
    for (; t->size > 0; t->data++, t->size--) {
        char c = t->data[0];
        if (c == '.' && !part->has_point) {
            part->has_point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        some = true;
        place /= part->has_point ? 10 : 1;
        if (part->has_point)
            part->fraction += (c - '0') * place;
        else
            add_digit(part, c - '0');
    }
    return some;
}

bool duration_take(struct text *t, struct duration_part *part)
{
    struct text left = *t;
    *part = (struct duration_part){0};
    if (!take_number(&left, part))
        return false;
    for (size_t i = 0; i < COUNT_OF(units) && part->unit_ns == 0; i++)
        if (text_starts_with(left, units[i].name)) {
            part->unit_ns = units[i].ns;
            *t = (struct text){left.data + units[i].name.size, left.size - units[i].name.size};
        }
    return part->unit_ns != 0;
}

bool duration_take_whole(struct text *t, struct duration_part *part)
{
    return duration_take(t, part) && !part->has_point && part->unit_ns >= DURATION_SECOND_NS;
}

bool duration_is_whole(struct text t)
{
    struct duration_part part;
    bool whole = t.size > 0;
    while (t.size > 0 && whole)
        whole = duration_take_whole(&t, &part);
    return whole;
}
