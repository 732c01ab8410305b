/* labels: threads */
/* The YAML reader, for policies and for manifests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dump.h"
#include "unit.h"

enum { ROOTS_MAX = 20000 };

struct reading {
    struct arena *arena;
    struct source source;
    struct problems problems;
    const struct node *roots[ROOTS_MAX];
    size_t count;
};
static struct reading reading;

static void keep(void *context, const struct node *root)
{
    struct reading *result = context;
    CU_ASSERT_FATAL(result->count < ROOTS_MAX);
    result->roots[result->count++] = root;
}

static void read_text(struct text yaml, enum yaml_style style, const struct doc_limits *limits)
{
    reading.source = (struct source){.file = "x.yaml", .text = yaml};
    reading.problems = (struct problems){.arena = reading.arena};
    reading.count = 0;
    doc_read_yaml(&reading.source, style, limits, reading.arena, &reading.problems, keep, &reading);
}

static void begin(void)
{
    reading.arena = arena_create((size_t)512 << 20);
}

static void end(void)
{
    arena_destroy(reading.arena);
}

/* All documents with blanks between, then each problem as !line:column. */
static struct text outcome(void)
{
    struct text_builder out = {.arena = reading.arena};
    for (size_t i = 0; i < reading.count; i++) {
        text_builder_add(&out, i == 0 ? TEXT("") : TEXT(" "));
        dump_node(&out, reading.roots[i]);
    }
    for (size_t i = 0; i < reading.problems.count; i++)
        text_builder_printf(&out, "%s!%u:%u", out.size == 0 ? "" : " ",
                            reading.problems.items[i].place.line,
                            reading.problems.items[i].place.column);
    return text_builder_text(&out);
}

struct yaml_case {
    const char *yaml, *outcome, *what; /* what: part of the first problem's message */
};

static void check(const struct yaml_case *cases, size_t count, enum yaml_style style)
{
    for (size_t i = 0; i < count; i++) {
        begin();
        read_text(text_of(cases[i].yaml), style, &doc_limits_manifest);
        ASSERT_TEXT(outcome(), cases[i].outcome);
        const char *what = reading.problems.count == 0 ? "" : reading.problems.items[0].what;
        if (cases[i].what != NULL && strstr(what, cases[i].what) == NULL)
            ASSERT_TEXT(text_of(what), cases[i].what);
        if (reading.problems.count != 0)
            ASSERT_TEXT(text_of(reading.problems.items[0].place.file), "x.yaml");
        end();
    }
}
#define CHECK(cases, style) check((cases), sizeof(cases) / sizeof *(cases), (style))

/* A choice; tests/contract/yaml compares hundreds with kubectl's own reader. */
static void scalars_are_those_of_kubectl(void)
{
    static const struct yaml_case cases[] = {
        {"[yes, No, ON, off, y, N, true, FALSE, tRUE]",
         "[true,false,true,false,true,false,true,false,\"tRUE\"]", NULL},
        {"[~, null, Null, NULL, nULL, '', ]", "[null,null,null,null,\"nULL\",\"\"]", NULL},
        {"[0x10, 0o17, 010, 0b101, 1_000, +5, -0x1F, 08]", "[16,15,8,5,1000,5,-31,8]", NULL},
        {"[1.50, 1e3, .5, 1., 1.10, 1e400, 1.2.3]", "[1.5,1000,0.5,1,1.1,\"1e400\",\"1.2.3\"]",
         NULL},
        {"['yes', \"1\", 'null']", "[\"yes\",\"1\",\"null\"]", NULL},
        {"a: |\n  yes\nb: >-\n  12", "{\"a\":\"yes\\x0A\",\"b\":\"12\"}", NULL},
        {"[2001-01-01, 12:30, 0xg]", "[\"2001-01-01\",\"12:30\",\"0xg\"]", NULL},
        {"[!!str 12, !!int '12', !!float 3, !!bool 'yes', !!null '', !!binary aGk=, !x 12]",
         "[\"12\",12,3,true,null,\"hi\",\"12\"]", NULL},
        {"- [1e20, 1e21, 1e-6, 1e-7, -1.5e300]",
         "[[100000000000000000000,1e+21,0.000001,1e-7,-1.5e+300]]", NULL},
        {"{123456.0: a, 1234567.0: b, 1e-4: c, 1e-5: d}",
         "{\"123456\":\"a\",\"1.234567e+06\":\"b\",\"0.0001\":\"c\",\"1e-05\":\"d\"}", NULL},
        {"a: !!int x", "!1:4", "\"x\" is not an integer"},
        {"a: !!binary '*'", "!1:4", "not base64"},
        {"a: .inf", "!1:4", "JSON"},
        {"on: {1: a, 0x10: b, 1.5: c, no: d}",
         "{\"true\":{\"1\":\"a\",\"16\":\"b\",\"1.5\":\"c\",\"false\":\"d\"}}", NULL},
        {"? [a]\n: b", "!1:3", "a key of a map is a list"},
        {"? {a: b}\n: c", "!1:3", "a key of a map is a map"},
        {"~: a", "!1:1", "a key of a map is null"},
        {"\"a\\0b\": c", "!1:1", "NUL"},
    };
    CHECK(cases, YAML_MANIFEST);
}

static void documents_stand_alone(void)
{
    static const struct yaml_case cases[] = {
        {"", "", NULL},
        {"\n# nothing\n", "", NULL},
        {"# comment\n---\na: 1", "{\"a\":1}", NULL},
        {"---", "null", NULL},
        {"---\n---\n# c\n---\na: 1\n---", "null null {\"a\":1} null", NULL},
        {"a: 1\n---\nb: 2\n...\n---\nc: 3\n...\n", "{\"a\":1} {\"b\":2} {\"c\":3}", NULL},
        {"--- {a: 1}\n--- text\n--- |\n  x\n", "{\"a\":1} \"text\" \"x\\x0A\"", NULL},
        {"%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n# c\n---\nb: 2", "{\"a\":1} {\"b\":2}", NULL},
        {"a: 1\n...\nb: 2", "{\"a\":1} {\"b\":2}", NULL},
        {"a: |\n  ---x\n  text\n---x: z", "{\"a\":\"---x\\x0Atext\\x0A\",\"---x\":\"z\"}", NULL},
        {"---a: 1", "{\"---a\":1}", NULL},
        {"a: 1\r\n---\r\nb: 2\r\n", "{\"a\":1} {\"b\":2}", NULL},
        /* lines that only kubectl takes for --- */
        {"a: 1\n---# c\nb: 2", "{\"a\":1} {\"b\":2}", NULL},
        {"---#: x\na: 1\n---#\n", "{\"a\":1} null", NULL},
        {"a: |\n  x\n---\xC2\xA0\u2003#: y\r\n---\u3000\n{b: 2}",
         "{\"a\":\"x\\x0A\"} null {\"b\":2}", NULL},
        {"%YAML 1.1\n---#\na: 1", "{\"a\":1} !2:1", "not YAML"},
        {"---x#: 1\n--#: 2", "{\"---x#\":1,\"--#\":2}", NULL},
        /* a comment ends where YAML ends a line */
        {"# c\ra: 1", "{\"a\":1}", NULL},
        {"# c\xC2\x85"
         "a: 1",
         "{\"a\":1}", NULL},
        {"# c\u2028{a: 1}\n---\n#\u2029#\u2028 \n--- # c\u2029b: 2", "{\"a\":1} null {\"b\":2}",
         NULL},
        {"# \u2027 \xC2\x84 \xC2\x86 \u202a\r\n#\r\n", "", NULL},
        {"\xEF\xBB\xBF"
         "a: 1\n---\nb: 2",
         "{\"a\":1} {\"b\":2}", NULL},
        {"a: 1\n---\nb: [\n---\nc: 3", "{\"a\":1} {\"c\":3} !4:1", "not YAML"},
        {"a: 'x\n---\nb: 2", "{\"b\":2} !2:1", "not YAML"},
        {"a: 1\n b: 2\n---\nc: 3\n---\n\td: 4\n---\ne: 5", "{\"c\":3} {\"e\":5} !2:3 !6:1", NULL},
        {"a: *x\n---\nb: &x 1\n---\nc: *x", "{\"b\":1} !1:4 !5:4", "the alias *x has no anchor"},
        {"\xC3\xA9: \"\xFF\"\n---\nb: 2", "{\"b\":2} !1:5", "not YAML"},
        {"a: \"\x01\"", "!1:5", "not YAML: control characters are not allowed"},
        {"\xFF\xFE"
         "a",
         "!0:0", "UTF-16"},
    };
    CHECK(cases, YAML_MANIFEST);
    begin();
    read_text((struct text){"a: 1\n\0\n---\nb: 2", 15}, YAML_MANIFEST, &doc_limits_manifest);
    ASSERT_TEXT(outcome(), "{\"b\":2} !2:1");
    end();
}

static void json_is_yaml(void)
{
    static const struct yaml_case cases[] = {
        {"{\"a\": [1, 2.50, \"x\\/y\\ud83d\\ude00\"]}",
         "{\"a\":[1,2.50,\"x/y\\xF0\\x9F\\x98\\x80\"]}", NULL},
        {"\n{\n\t\"a\":\t{\n\t\t\"b\": true\n\t}\n}\n", "{\"a\":{\"b\":true}}", NULL},
        {"{\"a\": 1}\n---\n{\"b\": 2}", "{\"a\":1} {\"b\":2}", NULL},
        {"[1, 2]", "[1,2]", NULL},
        {"{a: b, 'c': \"d\"}", "{\"a\":\"b\",\"c\":\"d\"}", NULL},
        {"{\"a\": 1,}", "{\"a\":1}", NULL},
        {"{\"a\": 1, \"a\": 2}", "{\"a\":2} !1:10", "the key \"a\" stands twice"},
        {"{\"a\": 1, \"a\": 2, }", "{\"a\":2} !1:10", "the key \"a\" stands twice"},
        {"{\"a\": 1", "!1:8", "not YAML"},
    };
    CHECK(cases, YAML_MANIFEST);
}

#define MANY_KEYS                                      \
    "k0: 1, k1: 1, k2: 1, k3: 1, k4: 1, k5: 1, "       \
    "k6: 1, k7: 1, k8: 1, k9: 1, k10: 1, k11: 1, "     \
    "k12: 1, k13: 1, k14: 1, k15: 1, k16: 1, k17: 1, " \
    "k18: 1, k19: 1, k20: 1, k21: 1, k22: 1, k23: 1, " \
    "k24: 1, k25: 1"
#define MANY_READ                                                  \
    "\"k0\":1,\"k1\":1,\"k2\":1,\"k3\":1,\"k4\":1,\"k5\":1,"       \
    "\"k6\":1,\"k7\":1,\"k8\":1,\"k9\":1,\"k10\":1,\"k11\":1,"     \
    "\"k12\":1,\"k13\":1,\"k14\":1,\"k15\":1,\"k16\":1,\"k17\":1," \
    "\"k18\":1,\"k19\":1,\"k20\":1,\"k21\":1,\"k22\":1,\"k23\":1," \
    "\"k24\":1,\"k25\":1"

static void aliases_share(void)
{
    static const struct yaml_case cases[] = {
        {"a: &x [1, {b: c}]\nb: *x", "{\"a\":[1,{\"b\":\"c\"}],\"b\":[1,{\"b\":\"c\"}]}", NULL},
        {"a: &x 1\nb: &x 2\nc: *x", "{\"a\":1,\"b\":2,\"c\":2}", NULL},
        {"&k a: *k", "{\"a\":\"a\"}", NULL},
        {"a: &x b\n*x : c", "{\"a\":\"b\",\"b\":\"c\"}", NULL},
        {"a: &x {b: *x}", "!1:11", "stands inside of what it stands for"},
        {"a: &a [*a]", "!1:8", "stands inside of what it stands for"},
        {"b: &b {a: 1, b: 2}\nc:\n  <<: *b\n  b: 3",
         "{\"b\":{\"a\":1,\"b\":2},\"c\":{\"a\":1,\"b\":3}}", NULL},
        /* As go-yaml v2 has it, a merge overwrites what stands before it. */
        /* More keys than are compared in pairs. */
        {"b: &b {a: 0, " MANY_KEYS "}\nc: {<<: *b, a: 2}",
         "{\"b\":{\"a\":0," MANY_READ "},\"c\":{" MANY_READ ",\"a\":2}}", NULL},
        {"b: &b {b: 2}\nc:\n  b: 3\n  <<: *b", "{\"b\":{\"b\":2},\"c\":{\"b\":2}}", NULL},
        {"c: {<<: [{a: 1}, {a: 2, b: 3}], d: 4}", "{\"c\":{\"b\":3,\"a\":1,\"d\":4}}", NULL},
        {"c: {<<: 1}", "!1:5", "a map or a list of maps is wanted"},
        {"c: {'<<': {a: 1}}", "{\"c\":{\"<<\":{\"a\":1}}}", NULL},
        {"c: {<<: {a: 1}, a: 2, a: 3}", "{\"c\":{\"a\":3}} !1:23", "stands twice"},
        {"c: {<<: {a: 1, a: 2}}", "{\"c\":{\"a\":2}} !1:16", "stands twice"},
    };
    CHECK(cases, YAML_MANIFEST);
    begin();
    read_text(TEXT("a: &x {b: c}\nd: *x"), YAML_MANIFEST, &doc_limits_manifest);
    const struct node *first = node_get(reading.roots[0], "a");
    const struct node *second = node_get(reading.roots[0], "d");
    CU_ASSERT_PTR_EQUAL(first->members, second->members);
    ASSERT_INT(second->offset, 16);
    end();
}

static void duplicates_are_problems(void)
{
    static const struct yaml_case cases[] = {
        {"a: 1\nb: 2\na: 3\n", "{\"b\":2,\"a\":3} !3:1",
         "the key \"a\" stands twice in one map; keep one of them"},
        {"- {a: 1, a: 2, a: 3}\n- {b: 1, 'b': 2}", "[{\"a\":3},{\"b\":2}] !1:10 !1:16 !2:10", NULL},
        {"yes: 1\n'true': 2\n", "{\"true\":2} !2:1", NULL},
        {"1: a\n0x1: b", "{\"1\":\"b\"} !2:1", NULL},
    };
    CHECK(cases, YAML_MANIFEST);
    CHECK(cases, YAML_POLICY);
}

static void policies_refuse_what_hides(void)
{
    static const struct yaml_case cases[] = {
        {"a: [yes, 0x10, 'no', ~]", "{\"a\":[true,16,\"no\",null]}", NULL},
        {"a: &x 1\nb: *x\nc: 2", "{\"a\":1,\"b\":1,\"c\":2} !1:4 !2:4",
         "an anchor (&) is not allowed in a policy; write the value out"},
        {"a: !!str 1\nb: !!map {c: !x d}\ne: !!seq []",
         "{\"a\":\"1\",\"b\":{\"c\":\"d\"},\"e\":[]} !1:4 !2:4 !2:14 !3:4", "a tag (!)"},
        {"a:\n  <<: {b: 1}\n", "{\"a\":{\"b\":1}} !2:3", "a merge key (<<)"},
        {"&x a: 1", "{\"a\":1} !1:1", "an anchor (&)"},
        {"a: 1\n---\nb: &x", "{\"a\":1} {\"b\":null} !3:4", "an anchor (&)"},
    };
    CHECK(cases, YAML_POLICY);
}

static const struct node *at(const char *path)
{
    return node_at(reading.roots[0], path);
}

/* Offsets are those of the bytes, whatever libyaml counts. */
static void nodes_know_their_place(void)
{
    static const struct {
        const char *path;
        uint32_t line, column;
    } cases[] = {
        {"key", 1, 6},
        {"\xC3\xA9", 2, 4},
        {"quoted", 3, 9},
        {"list", 5, 3},
        {"block", 7, 8},
        {"map", 10, 3},
        {"map.\xE6\xBC\xA2", 10, 6},
        {"map.after", 11, 10},
        {"flow", 12, 7},
        {"flow.a", 12, 17},
        {"end", 13, 5},
        {"anchored", 14, 11},
    };
    static const char yaml[] = "key: \xF0\x9F\x98\x80 text\n"
                               "\xC3\xA9: x\n"
                               "quoted: \"\xC3\xA9\\u00e9\" # \xE6\xBC\xA2\n"
                               "list:\n"
                               "  - \xC3\xA9\n"
                               "  - {}\n"
                               "block: |\n"
                               "  \xE6\xBC\xA2\xE6\xBC\xA2\n"
                               "map:\n"
                               "  \xE6\xBC\xA2: 1\n"
                               "  after: 2\n"
                               "flow: {\xC3\xA9: b, a: [c]}\n"
                               "end:\n"
                               "anchored: &x y\n";
    for (int bom = 0; bom < 2; bom++) {
        begin();
        struct text text =
            arena_printf(reading.arena, "%sfirst: 1\n---\n%s", bom ? "\xEF\xBB\xBF" : "", yaml);
        read_text(text, YAML_MANIFEST, &doc_limits_manifest);
        ASSERT_INT(reading.count, 2);
        reading.roots[0] = reading.roots[1];
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const struct node *node = at(cases[i].path);
            CU_ASSERT_PTR_NOT_NULL_FATAL(node);
            struct place place = source_place(&reading.source, reading.arena, node->offset);
            ASSERT_INT(place.line, cases[i].line + 2);
            ASSERT_INT(place.column, cases[i].column);
        }
        struct place place = source_place(&reading.source, reading.arena,
                                          node_at(reading.roots[0], "list")->items[1].offset);
        ASSERT_INT(place.line, 8);
        ASSERT_INT(place.column, 5);
        place =
            source_place(&reading.source, reading.arena, reading.roots[0]->members[1].key_offset);
        ASSERT_INT(place.line, 4);
        ASSERT_INT(place.column, 1);
        end();
    }
}

static void strings_are_slices_where_they_can_be(void)
{
    begin();
    static const char yaml[] = "plain: a b c\nsingle: 'quoted text'\ndouble: \"quoted\"\n"
                               "copied: 'it''s'\nfolded: a\n  b\n";
    read_text(text_of(yaml), YAML_MANIFEST, &doc_limits_manifest);
    CU_ASSERT_PTR_EQUAL(at("plain")->bytes, yaml + 7);
    CU_ASSERT_PTR_EQUAL(at("single")->bytes, strstr(yaml, "quoted text"));
    CU_ASSERT_PTR_EQUAL(at("double")->bytes, strstr(yaml, "quoted\""));
    ASSERT_TEXT(node_text(at("copied")), "it's");
    ASSERT_TEXT(node_text(at("folded")), "a b");
    end();
}

static double read_seconds(struct text yaml, enum yaml_style style, const struct doc_limits *limits)
{
    clock_t start = clock();
    read_text(yaml, style, limits);
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* libyaml alone takes 39 seconds for 100 KB of open braces. */
static void hostile_input_is_cheap(void)
{
    static const struct {
        const char *piece;
        size_t bytes;
        enum error_kind kind;
    } cases[] = {
        {"{", 100 << 10, ERROR_INPUT},       {"[", 100 << 10, ERROR_LIMIT},
        {"- ", 100 << 10, ERROR_LIMIT},      {"[{a: ", 100 << 10, ERROR_LIMIT},
        {"? ", 100 << 10, ERROR_INPUT},      {"]", 100 << 10, ERROR_INPUT},
        {"\"", 100 << 10, ERROR_INPUT},      {"!<", 100 << 10, ERROR_INPUT},
        {"&a ", 100 << 10, ERROR_INPUT},     {"*a ", 100 << 10, ERROR_INPUT},
        {"a: ", 100 << 10, ERROR_INPUT},     {"%a", 100 << 10, ERROR_INPUT},
        {"---\n}\n", 60 << 10, ERROR_INPUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int style = YAML_MANIFEST; style <= YAML_POLICY; style++) {
            begin();
            struct text_builder yaml = {.arena = reading.arena};
            while (yaml.size < cases[i].bytes)
                text_builder_add(&yaml, text_of(cases[i].piece));
            double seconds =
                read_seconds(text_builder_text(&yaml), (enum yaml_style)style, &doc_limits_policy);
            if (seconds > 2)
                fprintf(stderr, "%s: %f seconds\n", cases[i].piece, seconds);
            CU_ASSERT(seconds < 2);
            CU_ASSERT_FATAL(reading.problems.count > 0);
            struct error *last = &reading.problems.items[reading.problems.count - 1];
            if (last->kind != cases[i].kind)
                fprintf(stderr, "%s: %s\n", cases[i].piece, last->what);
            ASSERT_INT(last->kind, cases[i].kind);
            end();
        }
    }
}

static void limits_hold(void)
{
    static const struct doc_limits limits = {.bytes = 100, .nodes = 6, .depth = 3};
    static const struct yaml_case cases[] = {
        {"[1, 2, 3, 4, x]", "[1,2,3,4,\"x\"]", NULL},
        {"[1, 2, 3, 4, 5, x]", "!1:17", "more than the allowed 6 values"},
        {"a: 1\nb: 2\nc: {d: 3, e: x}", "{\"a\":1,\"b\":2,\"c\":{\"d\":3,\"e\":\"x\"}}", NULL},
        {"a: &x [1]\nb: *x\nc: z", "{\"a\":[1],\"b\":[1],\"c\":\"z\"}", NULL},
        {"a: &x [1]\nb: *x\nc: *x", "!3:4", "aliases counted as often as they are used"},
        {"[x, [[]]]", "[\"x\",[[]]]", NULL},
        {"[x, [[[]]]]", "!1:7", "more than the allowed 3 levels of nesting"},
        {"- - - - x", "!1:7", "more than the allowed 3 levels of nesting"},
        {"x\n---\nx\n---\nx\n---\nx\n---\nx\n---\nx\n---\nx\n---\ny\n",
         "\"x\" \"x\" \"x\" \"x\" \"x\" \"x\" !13:1", "more than the allowed 6 values"},
        {"---\n---\n---\n---\n---\n---\n---\n---\n", "null null null null null null !7:1",
         "more than the allowed 6 values"},
        {"[[[[]]]]", "!1:4", "more than the allowed 3 levels"},
        {"[1,2,3,4,5,6]", "!1:12", "more than the allowed 6 values"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        read_text(text_of(cases[i].yaml), YAML_MANIFEST, &limits);
        ASSERT_TEXT(outcome(), cases[i].outcome);
        if (cases[i].what != NULL) {
            ASSERT_INT(reading.problems.items[0].kind, ERROR_LIMIT);
            if (strstr(reading.problems.items[0].what, cases[i].what) == NULL)
                ASSERT_TEXT(text_of(reading.problems.items[0].what), cases[i].what);
        }
        end();
    }
    begin();
    char big[102];
    memset(big, ' ', sizeof big);
    read_text((struct text){big, 101}, YAML_MANIFEST, &limits);
    ASSERT_TEXT(text_of(reading.problems.items[0].what),
                "the YAML has 101 bytes, more than the allowed 100");
    end();
}

static void an_alias_bomb_is_counted(void)
{
    begin();
    struct text_builder yaml = {.arena = reading.arena};
    text_builder_add(&yaml, TEXT("a0: &a0 [x, x, x, x, x, x, x, x, x]\n"));
    for (int i = 1; i < 12; i++) {
        text_builder_printf(&yaml, "a%d: &a%d [", i, i);
        for (int j = 0; j < 9; j++)
            text_builder_printf(&yaml, "*a%d,", i - 1);
        text_builder_add(&yaml, TEXT("]\n"));
    }
    double seconds = read_seconds(text_builder_text(&yaml), YAML_MANIFEST, &doc_limits_manifest);
    CU_ASSERT(seconds < 2);
    ASSERT_INT(reading.count, 0);
    ASSERT_INT(reading.problems.count, 1);
    ASSERT_INT(reading.problems.items[0].kind, ERROR_LIMIT);
    end();
    begin();
    yaml = (struct text_builder){.arena = reading.arena};
    for (int i = 0; i <= 1000; i++)
        text_builder_printf(&yaml, "a%d: &a%d x\n", i, i);
    read_text(text_builder_text(&yaml), YAML_MANIFEST, &doc_limits_manifest);
    ASSERT_TEXT(outcome(), "!1001:8");
    ASSERT_INT(reading.problems.items[0].kind, ERROR_LIMIT);
    end();
}

static void ten_thousand_documents_are_read(void)
{
    begin();
    struct text_builder yaml = {.arena = reading.arena};
    for (int i = 0; i < 10000; i++)
        text_builder_printf(&yaml, "---\nkind: Pod\nmetadata: {name: p%d}\nspec: %s\n", i,
                            i % 1000 == 7 ? "[" : "{}");
    double seconds = read_seconds(text_builder_text(&yaml), YAML_MANIFEST, &doc_limits_manifest);
    CU_ASSERT(seconds < 20);
    ASSERT_INT(reading.count, 9990);
    ASSERT_INT(reading.problems.count, 10);
    ASSERT_TEXT(node_text(node_at(reading.roots[9989], "metadata.name")), "p9999");
    struct place place = source_place(&reading.source, reading.arena,
                                      node_at(reading.roots[9989], "metadata.name")->offset);
    ASSERT_INT(place.line, 9999 * 4 + 3);
    ASSERT_INT(place.column, 18);
    /* Where the next document begins, the list still is open. */
    ASSERT_INT(reading.problems.items[0].place.line, 7 * 4 + 5);
    end();
}

struct attempt {
    struct arena *arena, *problems_arena;
    struct text yaml;
    struct problems problems;
    size_t count;
};

static void take_two(void *context, const struct node *root)
{
    struct attempt *attempt = context;
    CU_ASSERT_PTR_NOT_NULL(root);
    arena_alloc(attempt->arena, 100);
    attempt->count++;
}

static void read_once(void *argument)
{
    struct attempt *attempt = argument;
    struct source source = {.text = attempt->yaml};
    attempt->problems = (struct problems){.arena = attempt->problems_arena};
    doc_read_yaml(&source, YAML_MANIFEST, &doc_limits_manifest, attempt->arena, &attempt->problems,
                  take_two, attempt);
}

/* Whatever allocation goes over the budget, the reader's, the handler's or the problems', it ends
 * in a problem or in the caller's guard, and nothing leaks (which the sanitizers see). */
static void the_memory_budget_holds(void)
{
    struct text yaml =
        TEXT("a: &x {b: 'c''d', e: [1, *x2]}\n---\nf: {g: 1, g: 2}\n---\n[\"\\n\"]\n---\n"
             "h: 0x10\n");
    bool reported = false, jumped = false, complete = false;
    for (size_t bytes = 0; bytes < 40000; bytes += bytes < 8000 ? 16 : 1000) {
        for (int same = 0; same < 2; same++) {
            struct arena *arena = arena_create(bytes), *other = arena_create(1 << 20);
            struct attempt attempt = {arena, same ? arena : other, yaml, {0}, 0};
            struct error error = {0};
            if (!arena_guard(arena, read_once, &attempt, &error)) {
                jumped = true;
                ASSERT_INT(error.kind, ERROR_LIMIT);
            } else {
                size_t last = attempt.problems.count - 1;
                bool limit = attempt.problems.items[last].kind == ERROR_LIMIT;
                reported |= limit;
                complete |= !limit && attempt.count == 3 && attempt.problems.count == 2;
                CU_ASSERT(limit || attempt.count == 3);
            }
            arena_destroy(arena);
            arena_destroy(other);
        }
    }
    CU_ASSERT(reported);
    CU_ASSERT(jumped);
    CU_ASSERT(complete);
}

/* What is written is one document, which holds the same again. */
static void what_is_written_is_read(void)
{
    static const struct {
        const char *value, *written;
    } rows[] = {
        {"a b", "k: \"a b\"\n"},
        {"a\nb", "k: |-\n  a\n  b\n"},
        {"a\tb\x7f", "k: \"a\\tb\\x7f\"\n"},
        /* U+0085, U+2028 and U+2029 end a line of YAML, of a literal block, too; the rest of C1
         * cannot stand there. */
        {"a\n\xc2\x85---\nb: c", "k: \"a\\n\\x85---\\nb: c\"\n"},
        {"a\n\u2028---\nb: c", "k: \"a\\n\\u2028---\\nb: c\"\n"},
        {"\u2029\xc2\x9b!\u00a0\u2027\u202a\u202c",
         "k: \"\\u2029\\x9b!\u00a0\u2027\u202a\u202c\"\n"},
        /* YAML has no U+FFFE and no U+FFFF. */
        {"a\n\xEF\xBF\xBD\xEF\xBF\xBE\xEF\xBF\xBF", "k: \"a\\n\xEF\xBF\xBD\\ufffe\\uffff\"\n"},
        /* No text of YAML has the last two of the plane. */
        {"a\n\xEF\xBF\xBD\xEF\xBF\xBE\xEF\xBF\xBF", "k: \"a\\n\xEF\xBF\xBD\\ufffe\\uffff\"\n"},
    };
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct member member = member_of(TEXT("k"), node_of_text(text_of(rows[i].value)));
        const struct node map = node_of_members(&member, 1);
        const struct text written = node_yaml(&map, reading.arena);
        ASSERT_TEXT(written, rows[i].written);
        read_text(written, YAML_MANIFEST, &doc_limits_manifest);
        ASSERT_INT(reading.count + reading.problems.count, 1);
        CU_ASSERT(reading.count == 1 && node_equal(reading.roots[0], &map));
    }
    end();
}

const char unit_suite[] = "base yaml";
const struct unit_test unit_tests[] = {
    {"scalars are those of kubectl", scalars_are_those_of_kubectl},
    {"documents stand alone", documents_stand_alone},
    {"json is yaml", json_is_yaml},
    {"aliases share", aliases_share},
    {"duplicates are problems", duplicates_are_problems},
    {"policies refuse what hides", policies_refuse_what_hides},
    {"nodes know their place", nodes_know_their_place},
    {"strings are slices where they can be", strings_are_slices_where_they_can_be},
    {"hostile input is cheap", hostile_input_is_cheap},
    {"limits hold", limits_hold},
    {"an alias bomb is counted", an_alias_bomb_is_counted},
    {"ten thousand documents are read", ten_thousand_documents_are_read},
    {"the memory budget holds", the_memory_budget_holds},
    {"what is written is read", what_is_written_is_read},
    {NULL, NULL},
};
