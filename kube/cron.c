/* Schedules, read as Karpenter's parser reads them (robfig/cron's ParseStandard, in UTC). */
#include "kube/cron.h"

#include <time.h>

enum { DAY_S = 24 * 60 * 60, HOUR_S = 60 * 60, MINUTE_S = 60, YEARS_AHEAD = 5 };
/* A field that was written with a star: if one of the two day fields was, both must match. */
#define STAR ((uint64_t)1 << 63)

/* ---- one field ---- */

struct cron_field {
    const char *what;
    uint64_t least, most;
    const char *names; /* three letters each; NULL: numbers alone */
};
enum { MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK, FIELDS };
static const struct cron_field cron_fields[FIELDS] = {
    [MINUTE] = {"minute", 0, 59, NULL},
    [HOUR] = {"hour", 0, 23, NULL},
    [DAY_OF_MONTH] = {"day of month", 1, 31, NULL},
    [MONTH] = {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
    [DAY_OF_WEEK] = {"day of week", 0, 6, "sunmontuewedthufrisat"},
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool number_of(struct text t, uint64_t *number)
{
    int64_t value = 0;
    if (!text_to_int64(t, &value) || value < 0)
        return false;
    *number = (uint64_t)value;
    return true;
}

static bool value_of(const struct cron_field *field, struct text t, uint64_t *value)
{
    enum { LETTERS = 3 };
    for (const char *name = field->names; name != NULL && t.size == LETTERS && *name != '\0';
         name += LETTERS)
        if (lower(t.data[0]) == name[0] && lower(t.data[1]) == name[1] &&
            lower(t.data[2]) == name[2]) {
            *value = field->least + (uint64_t)(name - field->names) / LETTERS;
            return true;
        }
    return number_of(t, value);
}

static uint64_t bits_of(uint64_t from, uint64_t to, uint64_t step)
{
    uint64_t bits = 0;
    for (uint64_t i = from; i <= to; i += step)
        bits |= (uint64_t)1 << i;
    return bits;
}

/* "*", "5", "9-17", "*\/15", "5/15" (from 5 on), "9-17/2". */
static bool read_range(const struct cron_field *field, struct text t, uint64_t *bits,
                       struct arena *arena, struct text *fault)
{
    struct text range = t;
    struct text step_text = TEXT("");
    struct text first, last;
    uint64_t from = field->least;
    uint64_t to = field->most;
    uint64_t step = 1;
    bool stepped = text_split(t, '/', &range, &step_text);
    bool is_range = text_split(range, '-', &first, &last);
    if (!is_range)
        first = range;
    bool star = text_is(first, "*") || text_is(first, "?");
    bool good =
        star || (value_of(field, first, &from) && (!is_range || value_of(field, last, &to)));
    if (good && !star && !is_range && !stepped)
        to = from;
    good = good && (!stepped || number_of(step_text, &step));
    if (!good) {
        *fault = arena_printf(arena, "\"%.*s\" is no %s", TEXT_ARGS(t), field->what);
        return false;
    }
    if (from < field->least || to > field->most || from > to || step == 0) {
        *fault = arena_printf(arena, "\"%.*s\" is no %s: %s", TEXT_ARGS(t), field->what,
                              step == 0   ? "a step is 1 or more"
                              : from > to ? "the range ends before it begins"
                                          : arena_printf(arena, "it is from %llu to %llu",
                                                         (unsigned long long)field->least,
                                                         (unsigned long long)field->most)
                                                .data);
        return false;
    }
    *bits |= bits_of(from, to, step) | (star && step == 1 ? STAR : 0);
    return true;
}

static bool read_field(const struct cron_field *field, struct text t, uint64_t *bits,
                       struct arena *arena, struct text *fault)
{
    while (t.size > 0) {
        struct text item = t;
        struct text rest = TEXT("");
        text_split(t, ',', &item, &rest);
        if (item.size > 0 && !read_range(field, item, bits, arena, fault))
            return false;
        t = rest;
    }
    return true;
}

/* ---- a schedule ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next word of *t; empty at its end. */
static struct text take_word(struct text *t)
{
    while (t->size > 0 && is_space(t->data[0])) {
        t->data++;
        t->size--;
    }
    struct text word = {t->data, 0};
    while (t->size > 0 && !is_space(t->data[0])) {
        t->data++;
        t->size--;
        word.size++;
    }
    return word;
}

/* Splits into words: stores the first FIELDS of them, and returns how many there are. */
static size_t split_words(struct text schedule, struct text words[FIELDS])
{
    size_t count = 0;
    for (struct text word = take_word(&schedule); word.size > 0; word = take_word(&schedule)) {
        if (count < FIELDS)
            words[count] = word;
        count++;
    }
    return count;
}

static bool read_fields(struct text schedule, struct arena *arena, struct cron *cron,
                        struct text *fault)
{
    struct text words[FIELDS] = {0};
    size_t count = split_words(schedule, words);
    if (count != FIELDS) {
        *fault = arena_printf(arena,
                              "it has %zu fields, and must have five: minute, hour, day of month, "
                              "month, day of week",
                              count);
        return false;
    }
    uint64_t *const bits[FIELDS] = {&cron->minutes, &cron->hours, &cron->days_of_month,
                                    &cron->months, &cron->days_of_week};
    for (size_t i = 0; i < FIELDS; i++)
        if (!read_field(&cron_fields[i], words[i], bits[i], arena, fault))
            return false;
    return true;
}

static bool read_named(struct text name, struct arena *arena, struct cron *cron, struct text *fault)
{
    static const struct {
        const char *names[2];
        const char *means;
    } descriptors[] = {
        {{"@yearly", "@annually"}, "0 0 1 1 *"}, {{"@monthly", NULL}, "0 0 1 * *"},
        {{"@weekly", NULL}, "0 0 * * 0"},        {{"@daily", "@midnight"}, "0 0 * * *"},
        {{"@hourly", NULL}, "0 * * * *"},
    };
    for (size_t i = 0; i < COUNT_OF(descriptors); i++)
        for (size_t j = 0; j < 2 && descriptors[i].names[j] != NULL; j++)
            if (text_is(name, descriptors[i].names[j]))
                return read_fields(text_of(descriptors[i].means), arena, cron, fault);
    return false;
}

bool cron_parse(struct text schedule, struct arena *arena, struct cron *cron, struct text *fault)
{
    struct text words[FIELDS] = {0};
    size_t count = split_words(schedule, words);
    *cron = (struct cron){0};
    if (text_starts_with(words[0], TEXT("@"))) {
        if (count == 1 && read_named(words[0], arena, cron, fault))
            return true;
        *fault = TEXT("of the names that begin with @ there are @yearly, @annually, @monthly, "
                      "@weekly, @daily, @midnight and @hourly");
        return false;
    }
    if (text_starts_with(words[0], TEXT("TZ=")) || text_starts_with(words[0], TEXT("CRON_TZ="))) {
        *fault = TEXT("a schedule takes no time zone, it is read in UTC");
        return false;
    }
    return read_fields(schedule, arena, cron, fault);
}

/* ---- when it fires ---- */

static bool has(uint64_t bits, int64_t value)
{
    return (bits >> value & 1) != 0;
}

static bool matches_day(const struct cron *cron, const struct tm *day)
{
    bool of_month = has(cron->days_of_month, day->tm_mday);
    bool of_week = has(cron->days_of_week, day->tm_wday);
    if (((cron->days_of_month | cron->days_of_week) & STAR) != 0)
        return of_month && of_week;
    return of_month || of_week;
}

/* The first minute that fires from from_s to the end of its day, or -1. */
static int64_t first_of_day(const struct cron *cron, int64_t from_s)
{
    for (int64_t hour = from_s / HOUR_S; hour < 24; hour++) {
        if (!has(cron->hours, hour))
            continue;
        int64_t minute = 0;
        if (hour == from_s / HOUR_S)
            minute = (from_s % HOUR_S + MINUTE_S - 1) / MINUTE_S;
        for (; minute < 60; minute++)
            if (has(cron->minutes, minute))
                return hour * HOUR_S + minute * MINUTE_S;
    }
    return -1;
}

bool cron_next(const struct cron *cron, int64_t after_unix_s, int64_t *unix_s)
{
    time_t start = (time_t)(after_unix_s + 1);
    struct tm day;
    if (gmtime_r(&start, &day) == NULL)
        return false;
    int last_year = day.tm_year + YEARS_AHEAD;
    int64_t from_s = day.tm_hour * HOUR_S + day.tm_min * MINUTE_S + day.tm_sec;
    int64_t midnight = (int64_t)start - from_s;
    while (day.tm_year <= last_year) {
        int64_t found = -1;
        if (has(cron->months, day.tm_mon + 1) && matches_day(cron, &day))
            found = first_of_day(cron, from_s);
        if (found >= 0) {
            *unix_s = midnight + found;
            return true;
        }
        from_s = 0;
        midnight += DAY_S;
        time_t next = (time_t)midnight;
        if (gmtime_r(&next, &day) == NULL)
            return false;
    }
    return false;
}
