/* Durations as Go writes them, part by part. */
#include "base/duration.h"
#include "unit.h"

/* "1 3600000000000;30 60000000000" is 1h30m; "none" where it is no duration. */
static struct text parts_text(struct text t, bool whole, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    struct duration_part part = {0};
    while (t.size > 0) {
        if (!(whole ? duration_take_whole : duration_take)(&t, &part))
            return TEXT("none");
        text_builder_printf(&out, "%s%lld", out.size > 0 ? ";" : "", (long long)part.number);
        if (part.has_point)
            text_builder_printf(&out, "+%g", part.fraction);
        text_builder_printf(&out, "%s %lld", part.is_vast ? "!" : "", (long long)part.unit_ns);
    }
    return text_builder_text(&out);
}

static void parts_have_numbers_and_units(void)
{
    static const struct {
        const char *text, *parts, *whole; /* whole NULL: the same */
    } rows[] = {
        {"1h30m", "1 3600000000000;30 60000000000", NULL},
        {"90s", "90 1000000000", NULL},
        {"007m", "7 60000000000", NULL},
        {"1.5s", "1+0.5 1000000000", "none"},
        {"1.s", "1+0 1000000000", "none"},
        {".25h", "0+0.25 3600000000000", "none"},
        {"3ms2us1ns", "3 1000000;2 1000;1 1", "none"},
        {"2\u00b5s3\u03bcs", "2 1000;3 1000", "none"},
        {"9223372036854775807s", "9223372036854775807 1000000000", NULL},
        {"9223372036854775808s", "9223372036854775807! 1000000000", NULL},
        {"99999999999999999999999h", "9223372036854775807! 3600000000000", NULL},
        {"1", "none", NULL},
        {"h", "none", NULL},
        {".h", "none", NULL},
        {"1d", "none", NULL},
        {"1.2.3s", "none", NULL},
        {"1h30", "none", NULL},
        {"-1h", "none", NULL},
        {"1 h", "none", NULL},
    };
    struct arena *arena = arena_create((size_t)1 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *whole = rows[i].whole == NULL ? rows[i].parts : rows[i].whole;
        ASSERT_TEXT(parts_text(text_of(rows[i].text), false, arena), rows[i].parts);
        ASSERT_TEXT(parts_text(text_of(rows[i].text), true, arena), whole);
    }
    arena_destroy(arena);
}

static void what_is_none_stays_as_it_was(void)
{
    struct text t = TEXT("15x");
    struct duration_part part;
    CU_ASSERT_FALSE(duration_take(&t, &part));
    ASSERT_TEXT(t, "15x");
}

const char unit_suite[] = "base duration";
const struct unit_test unit_tests[] = {
    {"parts have numbers and units", parts_have_numbers_and_units},
    {"what is none stays as it was", what_is_none_stays_as_it_was},
    {NULL, NULL},
};
