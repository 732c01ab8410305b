/* labels: threads */
/* Texts and text builders. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

static void texts_compare(void)
{
    static const struct {
        const char *a, *b;
        int order;
    } cases[] = {
        {"", "", 0},   {"a", "a", 0},   {"a", "b", -1},       {"a", "aa", -1},
        {"", "a", -1}, {"ab", "b", -1}, {"\xC3\xA9", "z", 1}, {"Z", "a", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text a = text_of(cases[i].a), b = text_of(cases[i].b);
        int forth = text_compare(a, b), back = text_compare(b, a);
        ASSERT_INT((forth > 0) - (forth < 0), cases[i].order);
        ASSERT_INT((back > 0) - (back < 0), -cases[i].order);
        ASSERT_INT(text_equal(a, b), cases[i].order == 0);
        ASSERT_INT(text_is(a, cases[i].b), cases[i].order == 0);
    }
    ASSERT_INT(text_of(NULL).size, 0);
    CU_ASSERT(text_equal(text_of(NULL), (struct text){NULL, 0}));
    CU_ASSERT_FALSE(text_equal((struct text){"a\0b", 3}, (struct text){"a\0c", 3}));
}

static void texts_start_and_end(void)
{
    static const struct {
        const char *text, *part;
        bool starts, ends;
    } cases[] = {
        {"", "", true, true},       {"abc", "", true, true},    {"abc", "ab", true, false},
        {"abc", "bc", false, true}, {"abc", "abc", true, true}, {"abc", "abcd", false, false},
        {"", "a", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text t = text_of(cases[i].text), part = text_of(cases[i].part);
        ASSERT_INT(text_starts_with(t, part), cases[i].starts);
        ASSERT_INT(text_ends_with(t, part), cases[i].ends);
    }
}

static void texts_split(void)
{
    static const struct {
        const char *text;
        bool found;
        const char *before, *after, *before_last, *after_last;
    } cases[] = {
        {"a/b/c", true, "a", "b/c", "a/b", "c"}, {"/", true, "", "", "", ""},
        {"a/", true, "a", "", "a", ""},          {"a", false, NULL, NULL, NULL, NULL},
        {"", false, NULL, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text t = text_of(cases[i].text), before = TEXT("x"), after = TEXT("y");
        ASSERT_INT(text_split(t, '/', &before, &after), cases[i].found);
        ASSERT_TEXT(before, cases[i].found ? cases[i].before : "x");
        ASSERT_TEXT(after, cases[i].found ? cases[i].after : "y");
        ASSERT_INT(text_split_last(t, '/', &before, &after), cases[i].found);
        ASSERT_TEXT(before, cases[i].found ? cases[i].before_last : "x");
        ASSERT_TEXT(after, cases[i].found ? cases[i].after_last : "y");
        ASSERT_INT(text_split(t, '/', NULL, NULL), cases[i].found);
    }
    CU_ASSERT_FALSE(text_split((struct text){NULL, 0}, '/', NULL, NULL));
    /* The text may be written to itself. */
    struct text rest = TEXT("a.b"), key;
    CU_ASSERT(text_split(rest, '.', &key, &rest));
    ASSERT_TEXT(key, "a");
    ASSERT_TEXT(rest, "b");
}

static void globs_match(void)
{
    static const struct {
        const char *text, *pattern;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "*", true},
        {"", "?", false},
        {"a", "", false},
        {"abc", "abc", true},
        {"abc", "abd", false},
        {"abc", "ab", false},
        {"abc", "abcd", false},
        {"abc", "a?c", true},
        {"abc", "???", true},
        {"abc", "????", false},
        {"abc", "*", true},
        {"abc", "a*", true},
        {"abc", "*c", true},
        {"abc", "*b", false},
        {"abc", "**", true},
        {"abcbc", "a*bc", true},
        {"team-a-prod", "team-*-prod", true},
        {"team-a-prod-2", "team-*-prod", false},
        {"mississippi", "m*iss*ppi", true},
        {"mississippi", "m*iss*ppx", false},
        {"a*c", "a*c", true},
        {"a[b]c", "a[b]c", true},
        {"b", "[b]", false},
        {"h\xC3\xA9j", "h?j", true},
        {"h\xF0\x9F\x98\x80j", "h?j", true},
        {"h\xF0\x9F\x98\x80j", "h??j", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (text_matches_glob(text_of(cases[i].text), text_of(cases[i].pattern)) !=
            cases[i].matches)
            ASSERT_TEXT(text_of(cases[i].text), cases[i].pattern);
    /* A pattern that makes a naive matcher exponential. */
    char many[2001];
    memset(many, 'a', 2000);
    CU_ASSERT_FALSE(text_matches_glob((struct text){many, 2000}, TEXT("a*a*a*a*a*a*a*a*a*a*b")));
    CU_ASSERT_TRUE(text_is_glob(TEXT("team-*")));
    CU_ASSERT_TRUE(text_is_glob(TEXT("?")));
    CU_ASSERT_FALSE(text_is_glob(TEXT("a[b]c")));
    CU_ASSERT_FALSE(text_is_glob(TEXT("")));
}

static void a_glob_lies_within_another(void)
{
    static const struct {
        const char *glob, *other;
        bool within;
    } cases[] = {
        {"ml-a", "ml-*", true},    {"ml-*", "ml-*", true},  {"ml-a*", "ml-*", true},
        {"ml-?", "ml-*", true},    {"ml-?", "ml-?", true},  {"ml-*", "ml-?", false},
        {"ml*", "ml-*", false},    {"*", "ml-*", false},    {"*", "*", true},
        {"ml-?", "ml-a", false},   {"ml-*", "ml-a", false}, {"*-ml", "*", true},
        {"a*b*c", "a*c", true},    {"a*c", "a*b*c", false}, {"a*", "a?*", false},
        {"ml-a", "ml-a", true},    {"ml-a", "ml-b", false}, {"", "*", true},
        {"\u00e9-a", "?-a", true}, {"**", "*", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (text_glob_is_within(text_of(cases[i].glob), text_of(cases[i].other)) != cases[i].within)
            CU_FAIL_FATAL(cases[i].glob);
}

static void integers_are_read(void)
{
    static const struct {
        const char *text;
        bool valid;
        int64_t value;
        bool canonical;
    } cases[] = {
        {"0", true, 0, true},
        {"7", true, 7, true},
        {"-70", true, -70, true},
        {"-0", true, 0, false},
        {"+7", true, 7, false},
        {"00", true, 0, false},
        {"007", true, 7, false},
        {"-07", true, -7, false},
        {"9223372036854775807", true, INT64_MAX, true},
        {"-9223372036854775808", true, INT64_MIN, true},
        {"9223372036854775808", false, 0, false},
        {"-9223372036854775809", false, 0, false},
        {"99999999999999999999", false, 0, false},
        {"", false, 0, false},
        {"-", false, 0, false},
        {"+", false, 0, false},
        {"--1", false, 0, false},
        {" 1", false, 0, false},
        {"1 ", false, 0, false},
        {"1.0", false, 0, false},
        {"1e3", false, 0, false},
        {"0x10", false, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 12345;
        ASSERT_INT(text_to_int64(text_of(cases[i].text), &value), cases[i].valid);
        ASSERT_INT(value, cases[i].valid ? cases[i].value : 12345);
        value = 12345;
        ASSERT_INT(text_to_canonical_int64(text_of(cases[i].text), &value), cases[i].canonical);
        ASSERT_INT(value, cases[i].canonical ? cases[i].value : 12345);
    }
}

static void digits_are_told(void)
{
    static const struct {
        const char *text;
        bool are;
    } cases[] = {{"0", true},   {"0129", true}, {"", false},  {"-1", false},
                 {"1a", false}, {"/", false},   {":", false}, {"1 ", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ASSERT_INT(text_is_digits(text_of(cases[i].text)), cases[i].are);
}

static void distances_are_counted(void)
{
    static const struct {
        const char *a, *b;
        size_t limit, distance;
    } cases[] = {
        {"", "", 3, 0},
        {"abc", "abc", 0, 0},
        {"abc", "abd", 0, 1},
        {"kitten", "sitting", 3, 3},
        {"kitten", "sitting", 9, 3},
        {"kitten", "sitting", 2, 3},
        {"kitten", "sitting", 1, 2},
        {"", "abc", 3, 3},
        {"", "abcd", 3, 4},
        {"nodepool", "nodePool", 2, 1},
        {"replcias", "replicas", 2, 2},
        {"abcdef", "uvwxyz", 2, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text a = text_of(cases[i].a), b = text_of(cases[i].b);
        ASSERT_INT(text_distance(a, b, cases[i].limit), cases[i].distance);
        ASSERT_INT(text_distance(b, a, cases[i].limit), cases[i].distance);
    }
    char longest[257];
    memset(longest, 'a', sizeof longest);
    struct text fits = {longest, 256}, too_long = {longest, 257};
    ASSERT_INT(text_distance(fits, fits, 2), 0);
    ASSERT_INT(text_distance(too_long, too_long, 2), 3);
    ASSERT_INT(text_distance(fits, too_long, 2), 3);
}

/* The textbook's table, for what text_distance finds by shorter ways. */
static size_t distance_by_table(struct text a, struct text b)
{
    static size_t table[257][257];
    for (size_t i = 0; i <= a.size; i++)
        for (size_t j = 0; j <= b.size; j++) {
            size_t least = i == 0 ? j : i;
            if (i > 0 && j > 0) {
                least = table[i - 1][j - 1] + (a.data[i - 1] != b.data[j - 1]);
                least = table[i - 1][j] + 1 < least ? table[i - 1][j] + 1 : least;
                least = table[i][j - 1] + 1 < least ? table[i][j - 1] + 1 : least;
            }
            table[i][j] = least;
        }
    return table[a.size][b.size];
}

static void distances_of_all_lengths_are_right(void)
{
    static const size_t limits[] = {0, 1, 2, 5, 30, 64, 300};
    uint64_t random = 14;
    for (size_t size = 0; size <= 256; size += size < 70 ? 1 : 31) {
        char bytes[2][256];
        struct text a = {bytes[0], size}, b = {bytes[1], 0};
        for (size_t i = 0; i < sizeof bytes[0]; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            bytes[0][i] = (char)("ab\xE4-"[random >> 62]);
            bytes[1][i] = (random >> 40) % 5 == 0 ? 'x' : bytes[0][i];
        }
        for (b.size = size / 2; b.size <= 256; b.size += 1 + b.size / 5) {
            size_t distance = distance_by_table(a, b);
            for (size_t i = 0; i < COUNT_OF(limits); i++) {
                size_t expected = distance > limits[i] ? limits[i] + 1 : distance;
                ASSERT_INT(text_distance(a, b, limits[i]), expected);
                ASSERT_INT(text_distance(b, a, limits[i]), expected);
            }
        }
    }
}

static void the_nearest_is_found(void)
{
    const struct text candidates[] = {TEXT("effect"), TEXT("reason"), TEXT("reasons"),
                                      TEXT("rail")};
    static const struct {
        const char *wanted;
        size_t limit, nearest;
    } cases[] = {
        {"reason", 2, 1},
        {"reazon", 2, 1},
        {"reasonss", 2, 2},
        {"rial", 2, 3},
        {"rial", 1, 4},
        {"xyz", 2, 4},
        {"efect", 1, 0},
        /* Two as near: the first. */
        {"reasonx", 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ASSERT_INT(text_nearest(text_of(cases[i].wanted), candidates, 4, cases[i].limit),
                   cases[i].nearest);
    ASSERT_INT(text_nearest(TEXT("a"), NULL, 0, 3), 0);
}

static void a_longer_name_has_more_typos(void)
{
    static const size_t edits[] = {0, 0, 0, 1, 2, 2, 3, 3, 3, 3, 3};
    for (size_t size = 1; size < COUNT_OF(edits); size++)
        for (size_t wrong = 0; wrong <= size; wrong++) {
            const struct text name = {"capacity-types", size};
            char letters[] = "capacity-types";
            memset(letters, '#', wrong);
            ASSERT_INT(text_meant((struct text){letters, size}, &name, 1), wrong > edits[size]);
        }
}

static void typos_are_told(void)
{
    const struct text names[] = {TEXT("cpu"),    TEXT("os"),       TEXT("why"),  TEXT("cost"),
                                 TEXT("family"), TEXT("zones"),    TEXT("zone"), TEXT("gpu-count"),
                                 TEXT("memory"), TEXT("m5.xlarge")};
    static const struct {
        const char *written, *meant; /* NULL: nothing */
    } cases[] = {
        {"cpus", "cpu"},
        {"cp", NULL},
        /* two edits of three letters, or of two, are another word */
        {"gpus", NULL},
        {"vgpu", NULL},
        {"cst", "cost"},
        {"so", NULL},
        {"oss", "os"},
        {"ossi", NULL},
        /* neighbours that changed places */
        {"wyh", "why"},
        {"hwy", "why"},
        {"ywh", NULL},
        {"cots", "cost"},
        {"cotss", "cost"},
        {"famly", "family"},
        {"FAMILY", "family"},
        {"CPU", "cpu"},
        {"zoens", "zones"},
        /* the nearest, and of two as near the first */
        {"zone", "zone"},
        {"zonex", "zones"},
        {"m5.xlrage", "m5.xlarge"},
        {"", NULL},
        {"something-else", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t meant = text_meant(text_of(cases[i].written), names, COUNT_OF(names));
        const struct text found = meant < COUNT_OF(names) ? names[meant] : TEXT("nothing");
        ASSERT_TEXT(found, cases[i].meant == NULL ? "nothing" : cases[i].meant);
    }
}

/* "M5" is no c5, and "AMD" is three edits from amd. */
static void the_same_letters_are_nearest(void)
{
    const struct text candidates[] = {TEXT("c5"),  TEXT("m5"),  TEXT("m6"),
                                      TEXT("amd"), TEXT("x[a"), TEXT("Amd")};
    static const struct {
        const char *wanted;
        size_t limit, nearest;
    } cases[] = {
        {"M5", 2, 1}, {"M5", 1, 1},  {"M5", 0, 6},  {"m5", 2, 1},  {"M6", 1, 2},
        {"N5", 1, 0}, {"AMD", 2, 3}, {"AMD", 0, 6}, {"Amd", 2, 5}, {"X{A", 1, 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ASSERT_INT(text_nearest(text_of(cases[i].wanted), candidates, 6, cases[i].limit),
                   cases[i].nearest);
}

static void builders_grow(void)
{
    struct arena *arena = arena_create(1 << 20);
    struct text_builder builder = {.arena = arena};
    ASSERT_TEXT(text_builder_text(&builder), "");
    text_builder_add(&builder, TEXT(""));
    ASSERT_TEXT(text_builder_text(&builder), "");
    char expected[8001] = "";
    for (int i = 0; i < 1000; i++) {
        if (i % 2 == 0)
            text_builder_printf(&builder, "%d,", i);
        else
            text_builder_add(&builder, arena_printf(arena, "%d,", i));
        size_t size = strlen(expected);
        snprintf(expected + size, sizeof expected - size, "%d,", i);
        ASSERT_INT(strlen(text_builder_text(&builder).data), builder.size);
    }
    ASSERT_TEXT(text_builder_text(&builder), expected);
    text_builder_printf(&builder, "%s", "");
    ASSERT_INT(builder.size, strlen(expected));
    arena_destroy(arena);
}

static void words_of_others_stay_in_one_line(void)
{
    struct arena *arena = arena_create(1 << 20);
    struct text_builder builder = {.arena = arena};
    text_builder_add(&builder, TEXT("a\n"));
    text_builder_add_line(&builder, (struct text){"b\n\x1f\x7f~\0 \xC3\xA9", 9});
    text_builder_add_line(&builder, TEXT(""));
    ASSERT_TEXT(text_builder_text(&builder), "a\nb   ~  \xC3\xA9");
    arena_destroy(arena);
}

const char unit_suite[] = "base text";
const struct unit_test unit_tests[] = {
    {"texts compare", texts_compare},
    {"texts start and end", texts_start_and_end},
    {"texts split", texts_split},
    {"globs match", globs_match},
    {"a glob lies within another", a_glob_lies_within_another},
    {"integers are read", integers_are_read},
    {"digits are told", digits_are_told},
    {"distances are counted", distances_are_counted},
    {"distances of all lengths are right", distances_of_all_lengths_are_right},
    {"the nearest is found", the_nearest_is_found},
    {"a longer name has more typos", a_longer_name_has_more_typos},
    {"typos are told", typos_are_told},
    {"the same letters are nearest", the_same_letters_are_nearest},
    {"builders grow", builders_grow},
    {"words of others stay in one line", words_of_others_stay_in_one_line},
    {NULL, NULL},
};
