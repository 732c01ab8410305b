/* The selector index against the selectors themselves. */
#include <string.h>

#include "kube/selector.h"
#include "unit.h"

static const struct node *read_json(struct arena *arena, struct text text)
{
    struct source *source = ARENA_NEW(arena, struct source);
    const struct node *root = NULL;
    struct error error;
    source->text = text;
    CU_ASSERT_FATAL(doc_read_json(source, &doc_limits_review, NULL, arena, &root, &error));
    return root;
}

/* So many expressions on keys of no object that the selector is worth an index. */
static struct text made_long(struct arena *arena, const char *labels, const char *expressions)
{
    struct text_builder json = {.arena = arena};
    text_builder_printf(&json, "{\"matchLabels\": %s, \"matchExpressions\": [", labels);
    for (int i = 0; i < 20; i++)
        text_builder_printf(&json, "{\"key\": \"none-%d\", \"operator\": \"DoesNotExist\"}, ", i);
    text_builder_printf(&json, "%s]}", expressions);
    return text_builder_text(&json);
}

#define E(key, op, values) \
    "{\"key\": \"" key "\", \"operator\": \"" op "\", \"values\": [" values "]}"

static void it_selects_what_the_selector_selects(void)
{
    static const struct {
        const char *labels, *expressions;
    } selectors[] = {
        {"{}", E("a", "Exists", "")},
        {"{\"a\": \"1\"}", E("b", "Exists", "")},
        {"{\"a\": \"1\", \"b\": \"2\"}", E("c", "DoesNotExist", "")},
        {"{}", E("a", "In", "\"1\", \"2\"")},
        {"{}", E("a", "In", "\"1\", \"1\"") ", " E("a", "In", "\"2\", \"1\"")},
        {"{}", E("a", "In", "\"1\"") ", " E("a", "In", "\"2\"")},
        {"{\"a\": \"2\"}", E("a", "NotIn", "\"2\"")},
        {"{}", E("a", "NotIn", "\"1\", \"3\"") ", " E("a", "NotIn", "\"2\"")},
        {"{}", E("a", "In", "")},
        {"{}", E("a", "NotIn", "")},
        {"{}", E("a", "Gt", "\"1\"")},
        {"{}", E("none-1", "Exists", "")},
        {"{}", E("a", "DoesNotExist", "") ", " E("a", "NotIn", "\"1\"")},
        {"{\"none-3\": \"x\"}", E("a", "Exists", "")},
        /* a list of labels is none, unless it is empty */
        {"[\"a\"]", E("a", "Exists", "")},
        {"[]", E("a", "Exists", "")},
        {"null", E("a", "Exists", "")},
    };
    static const char *const objects[] = {
        "{}",
        "null",
        "[]",
        "{\"a\": \"1\"}",
        "{\"a\": \"2\"}",
        "{\"a\": \"1\", \"b\": \"2\"}",
        "{\"a\": \"2\", \"b\": \"2\", \"c\": \"3\"}",
        "{\"b\": \"2\"}",
        "{\"a\": \"3\", \"none-1\": \"x\"}",
        "{\"a\": 1, \"b\": \"\"}",
    };
    struct arena *arena = arena_create(4 << 20);
    size_t selected = 0;
    for (size_t i = 0; i < COUNT_OF(selectors); i++) {
        const struct node *selector =
            read_json(arena, made_long(arena, selectors[i].labels, selectors[i].expressions));
        const struct selector_index *index = selector_index_make(selector, arena);
        for (size_t j = 0; j < COUNT_OF(objects); j++) {
            const struct node *labels = read_json(arena, text_of(objects[j]));
            bool expected = selector_matches(selector, labels);
            selected += expected;
            ASSERT_INT(selector_index_matches(index, labels), expected);
        }
    }
    CU_ASSERT_TRUE(selected > 20);
    CU_ASSERT_FALSE(selector_index_matches(selector_index_make(NULL, arena), NULL));
    CU_ASSERT_TRUE(
        selector_index_matches(selector_index_make(read_json(arena, TEXT("{}")), arena), NULL));
    /* A list of labels is none, however long the selector is. */
    const struct node *list = read_json(
        arena,
        TEXT("{\"matchLabels\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\"]}"));
    CU_ASSERT_FALSE(selector_index_matches(selector_index_make(list, arena), NULL));
    arena_destroy(arena);
}

const char unit_suite[] = "kube selector index";
const struct unit_test unit_tests[] = {
    {"it selects what the selector selects", it_selects_what_the_selector_selects},
    {NULL, NULL},
};
