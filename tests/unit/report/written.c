/* Finds a value in the text of a manifest, as its author wrote it. */
#include <string.h>

#include "report/format.h"
#include "unit.h"

const char unit_suite[] = "report: values as they are written";

static struct arena *arena;

static void take_root(void *context, const struct node *root)
{
    *(const struct node **)context = root;
}

/* The value of `k` of a YAML document. */
static const struct node *value_of(struct text yaml)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = yaml;
    const struct node *root = NULL;
    struct problems problems = {.arena = arena};
    doc_read_yaml(source, YAML_MANIFEST, &doc_limits_manifest, arena, &problems, take_root, &root);
    ASSERT_INT(problems.count, 0);
    return node_get(root, "k");
}

static void scalars_are_found(void)
{
    static const struct {
        const char *yaml, *written;
    } cases[] = {
        {"k: zone", "zone"},
        {"k: zone # a comment", "zone"},
        {"{k: zone}", "zone"},
        {"k: two words\n", "two words"},
        {"k: 'zone'", "'zone'"},
        {"k: 'it''s'''", "'it''s'''"},
        {"k: \"zone\" ", "\"zone\""},
        {"k: \"a\\\"b\\\\\" ", "\"a\\\"b\\\\\""},
        {"k: \"\"", "\"\""},
        {"k: 12", "12"},
        {"k: true", "true"},
        {"k: yes", ""},
        {"k: ", ""},
        {"k: [a]", ""},
        {"k: |\n  |\n", ""},
        {"k: >\n  >\n", ""},
        {"k: one\n  two\n", ""},
        {"a: &z zone\nk: *z", ""},
        {"k: &zone zone", ""},
        {"k: !!str 12", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text yaml = text_of(cases[i].yaml);
        ASSERT_TEXT(scalar_written(yaml, value_of(yaml)), cases[i].written);
    }
    ASSERT_TEXT(scalar_written(TEXT("k: zone"), NULL), "");
    struct node beyond = {.bytes = "zone", .kind = NODE_STRING, .size = 4, .offset = 4};
    ASSERT_TEXT(scalar_written(TEXT("k: zone"), &beyond), "");
    ASSERT_TEXT(scalar_written(TEXT("zon"), &beyond), "");
    beyond.offset = 0;
    ASSERT_TEXT(scalar_written(TEXT("\"zone\\\""), &beyond), "");
}

static void scalars_keep_their_quotes(void)
{
    static const struct {
        const char *written, *value, *rewritten;
    } cases[] = {
        {"zone", "kubernetes.io/arch", "kubernetes.io/arch"},
        {"'zone'", "kubernetes.io/arch", "'kubernetes.io/arch'"},
        {"\"zone\"", "kubernetes.io/arch", "\"kubernetes.io/arch\""},
        {"zone", "No", "\"No\""},
        {"zone", "12", "\"12\""},
        {"zone", "a: b", "\"a: b\""},
        {"'zone'", "it's", "'it''s'"},
        {"\"zone\"", "a\"b\\", "\"a\\\"b\\\\\""},
        {"'zone'", "a\nb", "\"a\\u000ab\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ASSERT_TEXT(scalar_rewritten(text_of(cases[i].written), text_of(cases[i].value), arena),
                    cases[i].rewritten);
}

/* Whatever the value and the quotes, the same string is read back. */
static void scalars_mean_the_value(void)
{
    static const char *const values[] = {
        "plain", "a.b/c-d_e", "",     "~",      "null", "True", "y",          "off", "1e3",  "0x1f",
        "-",     "- a",       "a: b", "a #b",   "#a",   "'",    "\"",         "\\",  "a\\n", "{a}",
        "[a]",   "a,b",       "&a",   "*a",     "!a",   "|",    ">",          "%a",  "@a",   "`a",
        "? a",   " a ",       "a\tb", "a\nb",   "\x01", "\x7f", "2026-01-01", "é€😀", "=",    "<<",
        ".inf",  "1:30",      "a:",   "a\r\nb", "---",  "...",
    };
    static const char *const written[] = {"zone", "'zone'", "\"zone\""};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        for (size_t j = 0; j < sizeof written / sizeof written[0]; j++) {
            struct text rewritten =
                scalar_rewritten(text_of(written[j]), text_of(values[i]), arena);
            struct text block = arena_printf(arena, "k: %.*s\n", TEXT_ARGS(rewritten));
            struct text flow = arena_printf(arena, "{k: %.*s, l: 1}\n", TEXT_ARGS(rewritten));
            const struct text yamls[] = {block, flow};
            for (size_t k = 0; k < 2; k++) {
                const struct node *node = value_of(yamls[k]);
                CU_ASSERT(node_is(node, NODE_STRING));
                ASSERT_TEXT(node_string(node), values[i]);
                struct text again = scalar_written(yamls[k], node);
                CU_ASSERT(text_equal(again, rewritten));
            }
        }
    }
}

static void paths_are_short(void)
{
    static const struct {
        const char *path, *wanted;
    } cases[] = {
        {"a.yaml", "a.yaml"}, {"./a.yaml", "a.yaml"}, {".//./a/./b", "a/./b"},
        {"../a", "../a"},     {"/a", "/a"},           {".", "."},
        {"./", "./"},         {".//", ".//"},         {".a/b", ".a/b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ASSERT_TEXT(text_of(short_path(cases[i].path)), cases[i].wanted);
}

static void not_utf8_is_replaced(void)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"", ""},
        {"a\x01é€😀", "a\x01é€😀"},
        {"\xff", "\uFFFD"},
        {"a\x80\x62", "a\uFFFDb"},
        {"\xc3", "\uFFFD"},
        {"\xc3z", "\uFFFDz"},
        {"\xc0\xaf", "\uFFFD\uFFFD"},
        {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
        {"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
        {"é\xe2\x82", "é\uFFFD\uFFFD"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ASSERT_TEXT(text_as_utf8(text_of(cases[i].bytes), arena), cases[i].text);
}

#define TEST(function)                       \
    static void in_arena_##function(void)    \
    {                                        \
        arena = arena_create(1 << 24);       \
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena); \
        function();                          \
        arena_destroy(arena);                \
    }
TEST(scalars_are_found)
TEST(scalars_keep_their_quotes)
TEST(scalars_mean_the_value)
TEST(not_utf8_is_replaced)

const struct unit_test unit_tests[] = {
    {"scalars are found", in_arena_scalars_are_found},
    {"scalars keep their quotes", in_arena_scalars_keep_their_quotes},
    {"scalars mean the value", in_arena_scalars_mean_the_value},
    {"what is not UTF-8 is replaced", in_arena_not_utf8_is_replaced},
    {"paths are short", paths_are_short},
    {NULL, NULL},
};
