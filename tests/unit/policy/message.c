/* The frame around what rails say: what is cut, and where; and what is told of several findings. */
#include "policy/evaluation.h"
#include "unit.h"

static void what_is_shown_is_short_and_one_line(void)
{
    static const struct {
        struct text text;
        size_t limit;
        const char *shown;
    } rows[] = {
        {TEXT("short"), 10, "short"},
        {TEXT("just enough"), 11, "just enough"},
        {TEXT("one too many"), 11, "one too ..."},
        {TEXT("a\tb\nc\x7f"
              "d\x1b[31m"),
         40, "a b c d [31m"},
        /* between characters: the seventh byte is within one */
        {TEXT("123456\xC3\xA9"
              "89012"),
         10, "123456..."},
        /* what is not UTF-8 ends, too */
        {TEXT("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"), 10, "..."},
    };
    struct arena *arena = arena_create(1 << 16);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        ASSERT_TEXT(message_printable(rows[i].text, rows[i].limit, arena), rows[i].shown);
    arena_destroy(arena);
}

static void a_day_is_that_of_utc(void)
{
    static const struct {
        int64_t unix_s;
        const char *day;
    } rows[] = {
        {0, "1970-01-01"},
        {1806537599, "2027-03-31"},
        {1806537600, "2027-04-01"},
        /* in no year that a calendar has */
        {INT64_MAX, "an unknown day"},
    };
    struct arena *arena = arena_create(1 << 16);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        ASSERT_TEXT(message_day(rows[i].unix_s, arena), rows[i].day);
    arena_destroy(arena);
}

/* ---- denials ---- */

static const struct object pod = {
    .kind = KIND_POD, .kind_name = TEXT("Pod"), .namespace = TEXT("shop"), .name = TEXT("web")};

static struct text denial_of(const struct finding *findings, size_t count, struct arena *arena)
{
    const struct subject subject = {.object = &pod};
    const struct verdict verdict = {.findings = findings, .finding_count = count};
    return message_denial(&subject, &verdict, arena);
}

#define HEADLINE(problems, rails) \
    "denied by compute guard rails: " problems " in Pod shop/web: " rails "\n"
#define FINDING(rail_name, what, more)                                                  \
    {                                                                                   \
        .rail = (rail_name), .action = (what), .path = TEXT("spec.a"),                  \
        .problem = TEXT("It is wrong."), .message = TEXT("It is wrong. Mend it."), more \
    }

static void a_denial_tells_of_what_denies(void)
{
    static const struct finding findings[] = {
        FINDING("zones", ACTION_WARN, .check = TEXT("make warned")),
        FINDING("zones", ACTION_DENY, .policy = TEXT("p")),
        FINDING("placeable", ACTION_DENY, .check = TEXT("make check")),
    };
    struct arena *arena = arena_create(1 << 16);
    ASSERT_TEXT(denial_of(findings, 1, arena), "");
    ASSERT_TEXT(denial_of(findings, 2, arena),
                HEADLINE("1 problem", "zones") "1. zones  spec.a: It is wrong. Mend it.\n"
                                               "   policy: p\n"
                                               "check before you push: taffrail check -p POLICY "
                                               "-f FILE");
    ASSERT_TEXT(denial_of(findings, 3, arena),
                HEADLINE("2 problems", "zones, placeable") "1. zones  spec.a: It is wrong. Mend it."
                                                           "\n   policy: p\n"
                                                           "2. placeable  spec.a: It is wrong. "
                                                           "Mend it.\n"
                                                           "check before you push: make check");
    arena_destroy(arena);
}

/* Of very much the beginning is told, and always one whole problem. */
static void a_long_denial_is_cut(void)
{
    enum { LONG = 6000 };
    struct arena *arena = arena_create(1 << 20);
    char *text = ARENA_ARRAY(arena, LONG + 1, char);
    memset(text, 'x', LONG);
    struct finding findings[5];
    for (size_t i = 0; i < COUNT_OF(findings); i++)
        findings[i] = (struct finding)FINDING("zones", ACTION_DENY, .more = i == 0 ? 3 : 0);
    for (size_t i = 0; i < COUNT_OF(findings); i++)
        findings[i].message = (struct text){text, LONG};
    struct text denial = denial_of(findings, COUNT_OF(findings), arena);
    CU_ASSERT(text_starts_with(denial, TEXT(HEADLINE("7 problems", "zones"))));
    CU_ASSERT(denial.size > (size_t)2 * LONG && denial.size < (size_t)3 * LONG);
    /* the first stands for three */
    CU_ASSERT_PTR_NOT_NULL(memmem(denial.data, denial.size, "\n... and 3 more\n", 16));
    char *longer = ARENA_ARRAY(arena, 4 * LONG + 1, char);
    memset(longer, 'x', (size_t)4 * LONG);
    findings[0].message = (struct text){longer, (size_t)4 * LONG};
    denial = denial_of(findings, COUNT_OF(findings), arena);
    CU_ASSERT(denial.size > (size_t)4 * LONG && denial.size < (size_t)5 * LONG);
    CU_ASSERT_PTR_NOT_NULL(memmem(denial.data, denial.size, "\n... and 4 more\n", 16));
    arena_destroy(arena);
}

/* ---- warnings ---- */

#define SIXTY "123456789.123456789.123456789.123456789.123456789.123456789."
#define TWENTY "abcdefghijklmnopqrst"

static void a_warning_is_one_short_line(void)
{
    static const struct {
        const char *path, *message, *warning;
    } rows[] = {
        {"spec.a", "It is wrong.", "[zones] spec.a: It is wrong."},
        {"", "It is wrong.", "[zones] It is wrong."},
        /* the last keys of a path are kept, and brackets are one key */
        {"spec.template.spec.containers[0].resources.requests[example.com/a.b]",
         SIXTY " It is wrong.", "[zones] ...resources.requests[example.com/a.b]: " SIXTY},
        {TWENTY TWENTY TWENTY, "It is wrong.", "[zones] " TWENTY TWENTY TWENTY ": It is wrong."},
        {TWENTY TWENTY TWENTY, TWENTY TWENTY TWENTY TWENTY TWENTY,
         "[zones] " TWENTY "abcdefghijklmnopq...: " TWENTY TWENTY TWENTY "abcdefg..."},
    };
    struct arena *arena = arena_create(1 << 16);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct finding finding = {.rail = "zones",
                                        .action = ACTION_WARN,
                                        .path = text_of(rows[i].path),
                                        .problem = text_of(rows[i].message),
                                        .message = text_of(rows[i].message)};
        struct text warning = message_warning(&finding, 0, arena);
        CU_ASSERT(warning.size <= 120);
        ASSERT_TEXT(warning, rows[i].warning);
    }
    /* of an exception it is said until when it holds */
    const int64_t day_s = 86400;
    const struct finding excepted = {.rail = "zones",
                                     .action = ACTION_EXCEPTED,
                                     .path = TEXT("spec.a"),
                                     .problem = TEXT("It is wrong."),
                                     .message = TEXT("It is wrong."),
                                     .exception = TEXT("OPS-1"),
                                     .exception_expires_unix_s = 10 * day_s};
    ASSERT_TEXT(message_warning(&excepted, 3 * day_s, arena),
                "[zones] spec.a: allowed by exception OPS-1 until 1970-01-11 (7 days left)");
    arena_destroy(arena);
}

const char unit_suite[] = "policy message";
const struct unit_test unit_tests[] = {
    {"what is shown is short and one line", what_is_shown_is_short_and_one_line},
    {"a day is that of UTC", a_day_is_that_of_utc},
    {"a denial tells of what denies", a_denial_tells_of_what_denies},
    {"a long denial is cut", a_long_denial_is_cut},
    {"a warning is one short line", a_warning_is_one_short_line},
    {NULL, NULL},
};
