/* Reads RFC 3339 and the durations of Karpenter. */
#include "kube/time.h"

#include <time.h>

#include "base/duration.h"

static bool take_number(struct text *t, size_t digits, int *value)
{
    if (t->size < digits)
        return false;
    *value = 0;
    for (size_t i = 0; i < digits; i++) {
        char c = t->data[i];
        if (c < '0' || c > '9')
            return false;
        *value = *value * 10 + (c - '0');
    }
    t->data += digits;
    t->size -= digits;
    return true;
}

/* wanted: a sign, or a large letter, which may be a small one. */
static bool take_character(struct text *t, char wanted)
{
    bool is_letter = wanted >= 'A';
    if (t->size == 0 || (t->data[0] != wanted && !(is_letter && t->data[0] == (wanted | 0x20))))
        return false;
    t->data++;
    t->size--;
    return true;
}

/* "Z", or an offset such as "+02:00"; the rest of t must be just that. */
static bool take_zone(struct text *t, int64_t *offset_s)
{
    if (take_character(t, 'Z')) {
        *offset_s = 0;
        return t->size == 0;
    }
    if (t->size != 6 || (t->data[0] != '+' && t->data[0] != '-'))
        return false;
    int sign = t->data[0] == '-' ? -1 : 1;
    t->data++;
    t->size--;
    int hours = 0;
    int minutes = 0;
    if (!take_number(t, 2, &hours) || !take_character(t, ':') || !take_number(t, 2, &minutes) ||
        hours > 23 || minutes > 59)
        return false;
    *offset_s = (int64_t)sign * (hours * 3600 + minutes * 60);
    return true;
}

static bool take_date(struct text *t, struct tm *broken_down)
{
    return take_number(t, 4, &broken_down->tm_year) && take_character(t, '-') &&
           take_number(t, 2, &broken_down->tm_mon) && take_character(t, '-') &&
           take_number(t, 2, &broken_down->tm_mday);
}

bool time_parse(struct text t, int64_t *unix_s)
{
    struct tm broken_down = {0};
    int64_t offset_s = 0;
    if (!take_date(&t, &broken_down))
        return false;
    if (t.size > 0) {
        if (!take_character(&t, 'T') || !take_number(&t, 2, &broken_down.tm_hour) ||
            !take_character(&t, ':') || !take_number(&t, 2, &broken_down.tm_min) ||
            !take_character(&t, ':') || !take_number(&t, 2, &broken_down.tm_sec))
            return false;
        if (take_character(&t, '.')) {
            int digit = 0;
            if (!take_number(&t, 1, &digit))
                return false;
            while (take_number(&t, 1, &digit))
                ;
        }
        if (!take_zone(&t, &offset_s))
            return false;
    }
    broken_down.tm_year -= 1900;
    broken_down.tm_mon -= 1;
    struct tm normal = broken_down;
    time_t seconds = timegm(&normal);
    /* timegm turns 30 February into 2 March, and second 60 into the next minute; what moved was
     * invalid. */
    if (normal.tm_mday != broken_down.tm_mday || normal.tm_mon != broken_down.tm_mon ||
        normal.tm_hour != broken_down.tm_hour || normal.tm_min != broken_down.tm_min)
        return false;
    *unix_s = (int64_t)seconds - offset_s;
    return true;
}

bool duration_parse(struct text t, int64_t *seconds)
{
    struct duration_part part;
    int64_t sum = 0;
    bool some = t.size > 0;
    while (t.size > 0)
        if (!duration_take_whole(&t, &part) || part.is_vast ||
            __builtin_mul_overflow(part.number, part.unit_ns / DURATION_SECOND_NS, &part.number) ||
            __builtin_add_overflow(sum, part.number, &sum))
            return false;
    *seconds = sum;
    return some;
}
