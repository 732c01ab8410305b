/* labels: threads */
/* JSON patches on trees. */
#include "dump.h"
#include "unit.h"

/* RFC 6902 upon the tree, beside the public suite (conformance.patch): what is shared, what is
 * refused and why, pointers, and values made here. */

static struct arena *arena;

static const struct node *json(const char *text)
{
    struct source *source = ARENA_NEW(arena, struct source);
    const struct node *root = NULL;
    struct error error = {0};
    source->text = text_of(text);
    bool good = doc_read_json(source, &doc_limits_review, NULL, arena, &root, &error);
    ASSERT_TEXT(text_of(good ? "" : error.what), "");
    return root;
}

static struct text patched_text(const char *document, struct patch_op change)
{
    const struct node *patched = NULL;
    struct error error = {0};
    if (!doc_patch(json(document), &change, 1, arena, &patched, &error))
        return arena_printf(arena, "%s", error.what);
    return dump(arena, patched);
}

static void one_change_is_made_or_refused(void)
{
    static const struct {
        const char *document;
        enum patch_verb op;
        const char *path, *value, *result;
    } cases[] = {
        /* RFC 6902, appendix A */
        {"{\"foo\":\"bar\"}", PATCH_ADD, "/baz", "\"qux\"", "{\"foo\":\"bar\",\"baz\":\"qux\"}"},
        {"{\"foo\":[\"bar\",\"baz\"]}", PATCH_ADD, "/foo/1", "\"qux\"",
         "{\"foo\":[\"bar\",\"qux\",\"baz\"]}"},
        {"{\"foo\":[\"bar\",\"qux\",\"baz\"]}", PATCH_REMOVE, "/foo/1", NULL,
         "{\"foo\":[\"bar\",\"baz\"]}"},
        {"{\"foo\":[\"bar\"]}", PATCH_ADD, "/foo/-", "[\"abc\",\"def\"]",
         "{\"foo\":[\"bar\",[\"abc\",\"def\"]]}"},
        {"{\"/\":9,\"~1\":10}", PATCH_TEST, "/~01", "10", "{\"/\":9,\"~1\":10}"},
        /* keys of annotations */
        {"{\"a\":{}}", PATCH_ADD, "/a/example.com~1b~0c", "1", "{\"a\":{\"example.com/b~c\":1}}"},
        {"{\"a\":{\"x/y\":1,\"z\":2}}", PATCH_REMOVE, "/a/x~1y", NULL, "{\"a\":{\"z\":2}}"},
        {"{\"a\":[1,2,3]}", PATCH_ADD, "/a/3", "4", "{\"a\":[1,2,3,4]}"},
        {"{\"a\":[1,2,3]}", PATCH_ADD, "/a/0", "0", "{\"a\":[0,1,2,3]}"},
        {"{\"a\":[1,2,3]}", PATCH_REPLACE, "/a/2", "{}", "{\"a\":[1,2,{}]}"},
        {"{\"a\":[1,2,3]}", PATCH_REMOVE, "/a/0", NULL, "{\"a\":[2,3]}"},
        {"{\"\":1}", PATCH_REPLACE, "/", "2", "{\"\":2}"},
        {"[1]", PATCH_REPLACE, "", "{}", "{}"},
        /* what cannot be */
        {"{}", PATCH_ADD, "/a/b", "1", "add \"/a/b\": a key of the path is not there"},
        {"{\"a\":null}", PATCH_ADD, "/a/b", "1",
         "add \"/a/b\": the path goes through what is neither a map nor a list"},
        {"{}", PATCH_REMOVE, "/a", NULL, "remove \"/a\": a key of the path is not there"},
        {"{}", PATCH_REPLACE, "/a", "1", "replace \"/a\": a key of the path is not there"},
        {"[1]", PATCH_ADD, "/2", "1", "add \"/2\": no such index in the list"},
        {"[1]", PATCH_ADD, "/01", "1", "add \"/01\": no such index in the list"},
        {"[1]", PATCH_ADD, "/+0", "1", "add \"/+0\": no such index in the list"},
        {"[1]", PATCH_ADD, "/a", "1", "add \"/a\": no such index in the list"},
        {"[1]", PATCH_ADD, "/", "1", "add \"/\": no such index in the list"},
        {"[1]", PATCH_REMOVE, "/-", NULL, "remove \"/-\": no such index in the list"},
        {"[1]", PATCH_REPLACE, "/1", "1", "replace \"/1\": no such index in the list"},
        {"[1]", PATCH_ADD, "/18446744073709551616", "1",
         "add \"/18446744073709551616\": no such index in the list"},
        {"{}", PATCH_ADD, "a", "1", "add \"a\": a JSON pointer begins with /"},
        {"{}", PATCH_ADD, "/a~2", "1", "add \"/a~2\": after ~ stands neither 0 nor 1"},
        {"{}", PATCH_ADD, "/a~", "1", "add \"/a~\": after ~ stands neither 0 nor 1"},
        {"{\"a\":1}", PATCH_TEST, "/a", "2", "test \"/a\": another value stands there"},
        {"{\"a\":1}", PATCH_TEST, "/b", "1", "test \"/b\": a key of the path is not there"},
        {"{\"a\":1}", PATCH_TEST, "a", "1", "test \"a\": a JSON pointer begins with /"},
        {"{}", PATCH_REMOVE, "", NULL, "remove \"\": nothing would be left"},
        {"{}", PATCH_ADD, "/a", NULL, "add \"/a\": the value is missing"},
    };
    arena = arena_create(1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct patch_op change = {.op = cases[i].op, .path = text_of(cases[i].path)};
        if (cases[i].value != NULL)
            change.value = json(cases[i].value);
        ASSERT_TEXT(patched_text(cases[i].document, change), cases[i].result);
    }
    arena_destroy(arena);
}

static void the_old_tree_stays(void)
{
    static const char before[] = "{\"a\":{\"b\":[1,{\"c\":2}]},\"d\":[3]}";
    arena = arena_create(1 << 20);
    const struct node *root = json(before);
    const struct patch_op changes[] = {
        {PATCH_ADD, TEXT("/a/b/1/e"), json("4")},
        {PATCH_REMOVE, TEXT("/a/b/0"), NULL},
        {PATCH_REPLACE, TEXT("/a/b/0/c"), json("5")},
    };
    const struct node *patched = NULL;
    struct error error = {0};
    CU_ASSERT_FATAL(doc_patch(root, changes, 3, arena, &patched, &error));
    ASSERT_TEXT(dump(arena, patched), "{\"a\":{\"b\":[{\"c\":5,\"e\":4}]},\"d\":[3]}");
    ASSERT_TEXT(dump(arena, root), before);
    /* what no change touched is the same memory */
    CU_ASSERT_PTR_EQUAL(node_get(patched, "d")->items, node_get(root, "d")->items);
    /* one that fails takes the others with it */
    const struct patch_op failing[] = {changes[0], {PATCH_REMOVE, TEXT("/x"), NULL}};
    const struct node *none = NULL;
    CU_ASSERT_FALSE(doc_patch(root, failing, 2, arena, &none, &error));
    CU_ASSERT_PTR_NULL(none);
    arena_destroy(arena);
}

static void fields_have_pointers(void)
{
    arena = arena_create(1 << 20);
    const struct node *root = json("{\"a\":[{\"x/y~z\":1}]}");
    const struct field *field = field_root(arena, root);
    ASSERT_TEXT(field_pointer(arena, field), "");
    field = field_item(arena, field_get(arena, field, "a"), 0);
    ASSERT_TEXT(field_pointer(arena, field), "/a/0");
    field = field_get(arena, field, "x/y~z");
    ASSERT_TEXT(field_pointer(arena, field), "/a/0/x~1y~0z");
    struct patch_op change = {PATCH_TEST, field_pointer(arena, field), field->node};
    const struct node *patched;
    struct error error;
    CU_ASSERT(doc_patch(root, &change, 1, arena, &patched, &error));
    arena_destroy(arena);
}

static void nodes_are_made(void)
{
    arena = arena_create(1 << 20);
    struct node items[] = {node_of_text(TEXT("a/b")), node_of_bool(true), node_of_bool(false),
                           node_of_integer(-7, arena)};
    struct member members[] = {member_of(TEXT("list"), node_of_items(items, 4)),
                               member_of(TEXT("none"), node_of_members(NULL, 0))};
    const struct node *made = node_keep(arena, node_of_members(members, 2));
    ASSERT_TEXT(dump(arena, made), "{\"list\":[\"a/b\",true,false,-7],\"none\":{}}");
    CU_ASSERT(node_equal(made, json("{\"none\":{},\"list\":[\"a/b\",true,false,-7]}")));
    arena_destroy(arena);
}

/* RFC 4648, section 10. */
static void base64_is_as_the_standard_says(void)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    arena = arena_create(1 << 20);
    struct text decoded;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ASSERT_TEXT(text_base64(text_of(cases[i][0]), arena), cases[i][1]);
        CU_ASSERT_TRUE_FATAL(text_from_base64(text_of(cases[i][1]), arena, &decoded));
        ASSERT_TEXT(decoded, cases[i][0]);
    }
    ASSERT_TEXT(text_base64(TEXT("\xff\xef\xbe"), arena), "/+++");
    CU_ASSERT_TRUE_FATAL(text_from_base64(TEXT("Zm9v\r\nYg=\n=\n"), arena, &decoded));
    ASSERT_TEXT(decoded, "foob");
    arena_destroy(arena);
}

static void what_is_no_base64_is_refused(void)
{
    static const char *const cases[] = {
        "Z", "Zg", "Zg=", "Z===", "====", "Z=g=", "Zm9-", "Zg==Zg==", "Zg======", "Zm 9v", "Zm9v="};
    arena = arena_create(1 << 20);
    struct text decoded;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_FALSE(text_from_base64(text_of(cases[i]), arena, &decoded));
    CU_ASSERT_FALSE(text_from_base64((struct text){"Zm9\0", 4}, arena, &decoded));
    arena_destroy(arena);
}

const char unit_suite[] = "patch";
const struct unit_test unit_tests[] = {
    {"one change is made or refused", one_change_is_made_or_refused},
    {"the old tree stays", the_old_tree_stays},
    {"fields have pointers", fields_have_pointers},
    {"nodes are made", nodes_are_made},
    {"base64 is as the standard says", base64_is_as_the_standard_says},
    {"what is no base64 is refused", what_is_no_base64_is_refused},
    {NULL, NULL},
};
