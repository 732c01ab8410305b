/* labels: threads */
/* Trees of documents: look-up, paths, and places in the text. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/base.h"

static const struct node *read_json(struct arena *arena, const char *json)
{
    struct source source = {.text = text_of(json)};
    const struct node *root = NULL;
    struct error error = {0};
    if (!doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error))
        ASSERT_TEXT(text_of(error.what), "");
    return root;
}

static void places_count_code_points(void)
{
    static const struct {
        const char *text;
        uint32_t offset, line, column;
    } cases[] = {
        {"", 0, 1, 1},
        {"", 9, 1, 1},
        {"abc", 0, 1, 1},
        {"abc", 2, 1, 3},
        {"abc", 3, 1, 4},
        {"abc", 9, 1, 4},
        {"a\nbc\n\nd", 1, 1, 2},
        {"a\nbc\n\nd", 2, 2, 1},
        {"a\nbc\n\nd", 4, 2, 3},
        {"a\nbc\n\nd", 5, 3, 1},
        {"a\nbc\n\nd", 6, 4, 1},
        {"a\nbc\n\nd", 7, 4, 2},
        {"a\r\nb", 3, 2, 1},
        {"a\n", 2, 2, 1},
        {"\xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80x", 9, 1, 4},
        {"x\n\xC3\xA9y", 4, 2, 2},
        {"\xEF\xBB\xBFxy\nz", 4, 1, 2},
        {"\xEF\xBB\xBFxy\nz", 6, 2, 1},
        {"\xEF\xBB\xBFxy\nz", 0, 1, 1},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct source source = {.file = "file", .text = text_of(cases[i].text)};
        for (int again = 0; again < 2; again++) {
            struct place place = source_place(&source, arena, cases[i].offset);
            ASSERT_INT(place.line, cases[i].line);
            ASSERT_INT(place.column, cases[i].column);
            ASSERT_TEXT(text_of(place.file), "file");
        }
    }
    arena_destroy(arena);
}

/* Columns of a line of many blocks, each counted anew. */
static void places_of_a_long_line(void)
{
    static const char *const characters[] = {"a", "\xC3\xA9", "\xE6\xBC\xA2", "\xF0\x9F\x98\x80"};
    enum { CHARACTERS = 20000 };
    struct arena *arena = arena_create((size_t)1 << 22);
    struct text_builder builder = {.arena = arena};
    uint32_t *offsets = ARENA_ARRAY(arena, CHARACTERS, uint32_t);
    uint32_t *units = ARENA_ARRAY(arena, CHARACTERS + 1, uint32_t);
    text_builder_add(&builder, TEXT("first\n"));
    for (size_t i = 0; i < CHARACTERS; i++) {
        size_t which = (i + i / 3) % COUNT_OF(characters);
        offsets[i] = (uint32_t)builder.size;
        units[i + 1] = units[i] + (which == 3 ? 2 : 1);
        text_builder_add(&builder, text_of(characters[which]));
    }
    struct source source = {.text = text_builder_text(&builder)};
    for (uint32_t i = 0; i < CHARACTERS; i += 7) {
        struct place place = source_place(&source, arena, offsets[i]);
        ASSERT_INT(place.line, 2);
        ASSERT_INT(place.column, i + 1);
        ASSERT_INT(source_utf16_column(&source, place.line, offsets[i]), units[i] + 1);
    }
    arena_destroy(arena);
}

static double seconds_of_places(size_t size)
{
    struct arena *arena = arena_create((size_t)1 << 26);
    char *line = arena_alloc(arena, size);
    memset(line, 'x', size);
    struct source source = {.text = {line, size}};
    clock_t begin = clock();
    for (uint32_t offset = 0; offset < size; offset += 200)
        CU_ASSERT_EQUAL_FATAL(source_place(&source, arena, offset).column, offset + 1);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    arena_destroy(arena);
    return seconds;
}

/* 50,000 places in 10 MB are 250 GB to count when each is counted from the line's start. */
static void places_cost_no_more_on_a_long_line(void)
{
    CU_ASSERT(seconds_of_places((size_t)10 << 20) < 5);
}

static void nodes_are_found(void)
{
    struct arena *arena = arena_create(1 << 20);
    const struct node *root = read_json(
        arena, "{\"a\":{\"b\":{\"c\":1},\"x.y\":2},\"l\":[10,\"s\",true,null],\"\":7,\"f\":false}");
    static const struct {
        const char *path, *text;
    } cases[] = {{"a.b.c", "1"},  {"a", ""}, {"a.b.c.d", NULL}, {"a.x", NULL},
                 {"a.x.y", NULL}, {"", "7"}, {"l.0", NULL},     {"f", "false"},
                 {".", NULL},     {"l", ""}, {"a.", NULL},      {"missing", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct node *node = node_at(root, cases[i].path);
        CU_ASSERT((node == NULL) == (cases[i].text == NULL));
        if (node != NULL && cases[i].text != NULL)
            ASSERT_TEXT(node_text(node), cases[i].text);
    }
    CU_ASSERT_PTR_NULL(node_at(NULL, "a"));
    CU_ASSERT_PTR_NULL(node_get(NULL, "a"));
    ASSERT_TEXT(node_text(node_member(node_get(root, "a"), TEXT("x.y"))), "2");
    const struct node *list = node_get(root, "l");
    ASSERT_INT(node_count(list), 4);
    ASSERT_INT(node_count(root), 4);
    ASSERT_INT(node_count(node_item(list, 1)), 0);
    ASSERT_INT(node_count(NULL), 0);
    CU_ASSERT_PTR_NULL(node_item(list, 4));
    CU_ASSERT_PTR_NULL(node_item(root, 0));
    CU_ASSERT_PTR_NULL(node_item(NULL, 0));
    ASSERT_TEXT(node_string(node_item(list, 1)), "s");
    ASSERT_TEXT(node_string(node_item(list, 0)), "");
    ASSERT_TEXT(node_string(NULL), "");
    ASSERT_TEXT(node_text(node_item(list, 3)), "");
    CU_ASSERT(node_true(node_item(list, 2)));
    CU_ASSERT_FALSE(node_true(node_get(root, "f")));
    CU_ASSERT_FALSE(node_true(node_item(list, 1)));
    CU_ASSERT_FALSE(node_true(NULL));
    CU_ASSERT(node_is(list, NODE_LIST));
    CU_ASSERT_FALSE(node_is(NULL, NODE_NULL));
    arena_destroy(arena);
}

static void the_last_of_equal_keys_stands(void)
{
    struct member members[2] = {{.key = "k", .key_size = 1}, {.key = "k", .key_size = 1}};
    members[1].value.kind = NODE_BOOL;
    struct node map = {.members = members, .kind = NODE_MAP, .size = 2};
    CU_ASSERT_PTR_EQUAL(node_get(&map, "k"), &members[1].value);
}

static void integers_are_numbers_without_a_fraction(void)
{
    static const struct {
        const char *json;
        bool valid;
        int64_t value;
    } cases[] = {
        {"12", true, 12},
        {"-5", true, -5},
        {"-0", true, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"\"12\"", false, 0},
        {"true", false, 0},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 0;
        ASSERT_INT(node_integer(read_json(arena, cases[i].json), &value), cases[i].valid);
        ASSERT_INT(value, cases[i].value);
    }
    arena_destroy(arena);
}

static void kinds_have_names(void)
{
    static const char *const names[] = {"null",     "a boolean", "a number",
                                        "a string", "a list",    "a map"};
    for (int kind = NODE_NULL; kind <= NODE_MAP; kind++)
        ASSERT_TEXT(text_of(node_kind_name((enum node_kind)kind)), names[kind]);
}

static void trees_are_compared(void)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        {"null", "null", true},
        {"null", "false", false},
        {"true", "false", false},
        {"true", "true", true},
        {"1", "1", true},
        {"1", "\"1\"", false},
        {"1", "1.0", true},
        {"1", "1e0", true},
        {"100", "1e2", true},
        {"100", "1E+2", true},
        {"0.010", "1e-2", true},
        {"12.5", "125e-1", true},
        {"12.5", "1.25e1", true},
        {"12.5", "12.51", false},
        {"12.5", "1.25", false},
        {"10.5", "15", false},
        {"105", "10.5e1", true},
        {"1", "-1", false},
        {"0", "-0", true},
        {"0", "0e7", true},
        {"0", "0.000", true},
        {"0", "1", false},
        {"9007199254740993", "9007199254740992", false},
        {"1e400", "1e401", false},
        {"10e400", "1e401", true},
        {"1e99999999999999999999", "1e99999999999999999998", false},
        {"\"a\"", "\"\\u0061\"", true},
        {"\"a\"", "\"b\"", false},
        {"\"a\\u0000b\"", "\"a\\u0000c\"", false},
        {"[]", "{}", false},
        {"[]", "[]", true},
        {"[1,2]", "[1,2]", true},
        {"[1,2]", "[2,1]", false},
        {"[1,2]", "[1]", false},
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}", true},
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[3],\"a\":1}", false},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":1}", false},
        {"{\"a\":null}", "{\"b\":null}", false},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct node *a = read_json(arena, cases[i].a), *b = read_json(arena, cases[i].b);
        if (node_equal(a, b) != cases[i].equal || node_equal(b, a) != cases[i].equal)
            fprintf(stderr, "%s and %s\n", cases[i].a, cases[i].b);
        ASSERT_INT(node_equal(a, b), cases[i].equal);
        ASSERT_INT(node_equal(b, a), cases[i].equal);
    }
    CU_ASSERT(node_equal(NULL, NULL));
    CU_ASSERT_FALSE(node_equal(NULL, read_json(arena, "null")));
    arena_destroy(arena);
}

static const struct node *many_members(struct arena *arena, size_t count, bool backwards)
{
    struct text_builder json = {.arena = arena};
    text_builder_add(&json, TEXT("{"));
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&json, "%s\"k%zu\":{\"x\":1}", i == 0 ? "" : ",",
                            backwards ? count - 1 - i : i);
    text_builder_add(&json, TEXT("}"));
    return read_json(arena, text_builder_text(&json).data);
}

static void large_maps_are_compared_fast(void)
{
    struct arena *arena = arena_create((size_t)256 << 20);
    static const size_t counts[] = {15, 16, 17, 200000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const struct node *forth = many_members(arena, counts[i], false);
        const struct node *back = many_members(arena, counts[i], true);
        clock_t start = clock();
        CU_ASSERT(node_equal(forth, back));
        CU_ASSERT_PTR_NULL(node_get(forth, "absent"));
        ((struct node *)node_at(back, "k7.x"))->bytes = "2";
        CU_ASSERT_FALSE(node_equal(forth, back));
        CU_ASSERT(clock() - start < 20 * CLOCKS_PER_SEC);
    }
    arena_destroy(arena);
}

static const char pod[] =
    "{\"spec\":{\"nodeSelector\":{\"kubernetes.io/arch\":\"arm64\",\"plain\":\"x\"},"
    "\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"-\":0}";

static void fields_know_their_path_and_place(void)
{
    struct arena *arena = arena_create(1 << 20);
    const struct field *root = field_root(arena, read_json(arena, pod));
    const struct field *containers = field_at(arena, root, "spec.containers");
    const struct field *absent = field_at(arena, field_item(arena, containers, 1), "image.tag");
    const struct field *selector = field_at(arena, root, "spec.nodeSelector");
    const struct {
        const struct field *field;
        const char *path, *at;
    } cases[] = {
        {root, "", "{\"spec\""},
        {containers, "spec.containers", "[{\"name\":\"a\"}"},
        {field_item(arena, containers, 0), "spec.containers[0]", "{\"name\":\"a\"}"},
        {field_get(arena, field_item(arena, containers, 1), "name"), "spec.containers[1].name",
         "\"b\""},
        {absent, "spec.containers[1].image.tag", "{\"name\":\"b\"}"},
        {field_item(arena, containers, 5), "spec.containers[5]", "[{\"name\":\"a\"}"},
        {field_get(arena, selector, "kubernetes.io/arch"), "spec.nodeSelector[kubernetes.io/arch]",
         "\"arm64\""},
        {field_member(arena, selector, TEXT("plain")), "spec.nodeSelector.plain", "\"x\""},
        {field_get(arena, selector, ""), "spec.nodeSelector[]", "{\"kubernetes.io/arch\""},
        {field_get(arena, root, "-"), "[-]", "0}"},
        {field_get(arena, root, "9"), "[9]", "{\"spec\""},
        {field_get(arena, root, "a-b_9"), "a-b_9", "{\"spec\""},
        {field_item(arena, root, 3), "[3]", "{\"spec\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ASSERT_TEXT(field_path(arena, cases[i].field), cases[i].path);
        CU_ASSERT(
            text_starts_with(text_of(pod + field_offset(cases[i].field)), text_of(cases[i].at)));
    }
    CU_ASSERT_PTR_NULL(absent->node);
    CU_ASSERT_PTR_NULL(absent->parent->node);
    ASSERT_INT(field_offset(field_root(arena, NULL)), 0);
    arena_destroy(arena);
}

/* What a long list is gathered in is given back: twice its own size is enough at any time, and
 * nothing but the list is left. */
static void a_long_list_costs_its_values(void)
{
    enum { COUNT = 1000000, SPARE_BYTES = 3 << 20 };
    const size_t values_bytes = COUNT * sizeof(struct node);
    struct arena *arena = arena_create((size_t)64 << 20);
    struct text_builder json = {.arena = arena};
    text_builder_add(&json, TEXT("["));
    for (size_t i = 0; i < COUNT; i++)
        text_builder_add(&json, i == 0 ? TEXT("{}") : TEXT(",{}"));
    text_builder_add(&json, TEXT("]"));
    struct source source = {.text = text_builder_text(&json)};
    struct arena *tight = arena_create(2 * values_bytes + SPARE_BYTES);
    const struct node *root = NULL;
    struct error error = {0};
    CU_ASSERT_TRUE(doc_read_json(&source, &doc_limits_review, NULL, tight, &root, &error));
    ASSERT_INT(node_count(root), COUNT);
    CU_ASSERT_TRUE(arena_used_bytes(tight) <= values_bytes + SPARE_BYTES);
    arena_destroy(tight);
    arena_destroy(arena);
}

static void fields_are_ordered(void)
{
    struct arena *arena = arena_create(1 << 20);
    const struct field *root = field_root(arena, NULL);
    const struct field *spec = field_get(arena, root, "spec");
    const struct field *list = field_get(arena, spec, "containers");
    /* In order. */
    const struct field *const fields[] = {
        root,
        field_get(arena, root, "Zeta"),
        field_at(arena, root, "metadata.name"),
        spec,
        list,
        field_item(arena, list, 2),
        field_get(arena, field_item(arena, list, 2), "image"),
        field_get(arena, field_item(arena, list, 2), "name"),
        field_item(arena, list, 10),
        field_at(arena, field_item(arena, list, 10), "a.b.c"),
        field_get(arena, list, "0"),
        field_get(arena, spec, "containersX"),
        field_at(arena, root, "spec.tolerations"),
    };
    size_t count = sizeof fields / sizeof *fields;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            int order = field_compare(arena, fields[i], fields[j]);
            ASSERT_INT((order > 0) - (order < 0), (i > j) - (i < j));
        }
    }
    /* Another field object for the same way is the same field. */
    ASSERT_INT(field_compare(arena, field_at(arena, root, "spec.containers"), list), 0);
    arena_destroy(arena);
}

const char unit_suite[] = "base doc";
const struct unit_test unit_tests[] = {
    {"a long list costs its values", a_long_list_costs_its_values},
    {"places count code points", places_count_code_points},
    {"places of a long line", places_of_a_long_line},
    {"places cost no more on a long line", places_cost_no_more_on_a_long_line},
    {"nodes are found", nodes_are_found},
    {"the last of equal keys stands", the_last_of_equal_keys_stands},
    {"integers are numbers without a fraction", integers_are_numbers_without_a_fraction},
    {"kinds have names", kinds_have_names},
    {"trees are compared", trees_are_compared},
    {"large maps are compared fast", large_maps_are_compared_fast},
    {"fields know their path and place", fields_know_their_path_and_place},
    {"fields are ordered", fields_are_ordered},
    {NULL, NULL},
};
