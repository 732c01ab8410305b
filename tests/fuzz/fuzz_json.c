/* The JSON reader against json-c: what we accept, json-c accepts too, and the trees are equal. What
 * only json-c accepts is our strictness (RFC 8259, and no NUL in a key). The walk without a tree
 * finds the same values in the same places, and what is written is read again. */
/* reads: base/doc_json.c base/doc_members.c base/doc_scan.c base/doc_equal.c base/doc_write_json.c
 * base/utf8.c */
#include <json-c/json.h>
#include <string.h>

#include "base/doc_internal.h"
#include "fuzz.h"

enum { DEPTH = 64 };
static const struct doc_limits limits = {.bytes = 1 << 20, .nodes = 100000, .depth = DEPTH};

static void compare(const struct node *node, struct json_object *object);

/* With a NUL behind it. */
static char *copy_of(struct text t)
{
    char *copy = malloc(t.size + 1);
    REQUIRE(copy != NULL);
    memcpy(copy, t.data, t.size);
    copy[t.size] = '\0';
    return copy;
}

static void compare_number(const struct node *node, struct json_object *object)
{
    struct text t = node_text(node);
    char digits[64];
    int64_t value;
    if (json_object_is_type(object, json_type_double)) {
        char *copy = copy_of(t);
        REQUIRE(strtod(copy, NULL) == json_object_get_double(object));
        free(copy);
        return;
    }
    REQUIRE(json_object_is_type(object, json_type_int));
    if (node_integer(node, &value)) {
        REQUIRE(value == json_object_get_int64(object));
    } else if (t.data[0] != '-' && t.size < 20) {
        /* Beyond 64 bits json-c saturates. */
        snprintf(digits, sizeof digits, "%.*s", TEXT_ARGS(t));
        REQUIRE(strtoull(digits, NULL, 10) == json_object_get_uint64(object));
    }
}

static void compare_map(const struct node *map, struct json_object *object)
{
    REQUIRE(json_object_is_type(object, json_type_object));
    REQUIRE(node_count(map) == (size_t)json_object_object_length(object));
    for (size_t i = 0; i < node_count(map); i++) {
        const struct member *member = &map->members[i];
        char *key = copy_of(member_key(member));
        struct json_object *value;
        REQUIRE(strlen(key) == member->key_size);
        REQUIRE(json_object_object_get_ex(object, key, &value));
        REQUIRE(node_get(map, key) == &member->value);
        compare(&member->value, value);
        free(key);
    }
}

static void compare(const struct node *node, struct json_object *object)
{
    switch ((enum node_kind)node->kind) {
    case NODE_NULL:
        REQUIRE(object == NULL);
        break;
    case NODE_BOOL:
        REQUIRE(json_object_is_type(object, json_type_boolean));
        REQUIRE(node_true(node) == (json_object_get_boolean(object) != 0));
        break;
    case NODE_NUMBER:
        compare_number(node, object);
        break;
    case NODE_STRING:
        REQUIRE(json_object_is_type(object, json_type_string));
        REQUIRE(
            text_equal(node_text(node), (struct text){json_object_get_string(object),
                                                      (size_t)json_object_get_string_len(object)}));
        break;
    case NODE_LIST:
        REQUIRE(json_object_is_type(object, json_type_array));
        REQUIRE(node_count(node) == json_object_array_length(object));
        for (size_t i = 0; i < node_count(node); i++)
            compare(node_item(node, i), json_object_array_get_idx(object, i));
        break;
    case NODE_MAP:
        compare_map(node, object);
        break;
    }
}

/* Every node knows where it begins. */
static void check_offsets(const struct node *node, struct text source)
{
    static const char *const starts[] = {"n", "tf", "-0123456789", "\"", "[", "{"};
    REQUIRE(node->offset < source.size);
    REQUIRE(source.data[node->offset] != '\0' &&
            strchr(starts[node->kind], source.data[node->offset]) != NULL);
    for (size_t i = 0; i < node_count(node); i++) {
        if (node->kind == NODE_MAP)
            REQUIRE(source.data[node->members[i].key_offset] == '"');
        check_offsets(node->kind == NODE_MAP ? &node->members[i].value : &node->items[i], source);
    }
}

/* ---- the walk ---- */

static void compare_walk(const struct node *node, struct text source)
{
    const char *end = source.data + source.size, *start = source.data + node->offset;
    const char *behind = json_value_end(start, end);
    struct json_walk walk;
    struct text key, value;
    REQUIRE(behind != NULL);
    struct text written = {start, (size_t)(behind - start)};
    REQUIRE(json_walk_begin(&walk, written) == (node->kind == NODE_LIST || node->kind == NODE_MAP));
    if (node->kind != NODE_LIST && node->kind != NODE_MAP)
        return;
    size_t count = 0;
    bool twice = false; /* of the members of a key that stands twice only the last is in the tree */
    for (; json_walk_next(&walk, &key, &value); count++) {
        uint32_t offset = (uint32_t)(value.data - source.data);
        const struct node *child = NULL;
        for (size_t i = 0; i < node_count(node); i++) {
            const struct node *one =
                node->kind == NODE_MAP ? &node->members[i].value : &node->items[i];
            if (one->offset == offset)
                child = one;
        }
        twice |= child == NULL;
        REQUIRE(child != NULL || node->kind == NODE_MAP);
        if (child != NULL)
            compare_walk(child, source);
    }
    REQUIRE(walk.ended && walk.count == count);
    REQUIRE(count == node_count(node) || twice);
}

/* Weighs any text, and what is found of it lies in it. */
static void weigh(struct text text)
{
    struct json_step steps[JSON_STEPS_MAX];
    size_t count = json_heaviest(text, steps);
    REQUIRE(count <= JSON_STEPS_MAX);
    for (size_t i = 0; i < count; i++)
        REQUIRE(!steps[i].in_map ||
                (steps[i].key.data >= text.data && steps[i].key.data < text.data + text.size));
    (void)json_find(text, "a");
    (void)json_find_start(text, "a");
}

/* ---- */

struct attempt {
    struct source source;
    struct arena *arena;
    struct problems duplicates;
    const struct node *root;
    struct error error;
    bool accepted;
};

static void read_once(void *argument)
{
    struct attempt *attempt = argument;
    attempt->duplicates.arena = attempt->arena;
    attempt->accepted = doc_read_json(&attempt->source, &limits, &attempt->duplicates,
                                      attempt->arena, &attempt->root, &attempt->error);
}

static void compare_written(void *argument)
{
    const struct attempt *attempt = argument;
    struct source source = {.text = node_json(attempt->root, attempt->arena)};
    const struct node *again = NULL;
    struct error error;
    REQUIRE(doc_read_json(&source, &limits, NULL, attempt->arena, &again, &error));
    REQUIRE(node_equal(attempt->root, again));
}

static void compare_with_json_c(const struct attempt *attempt)
{
    struct json_tokener *tokener = json_tokener_new_ex(DEPTH + 8);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    /* With the NUL behind it, so that a number at the end is known to be complete. */
    char *copy = copy_of(attempt->source.text);
    struct json_object *object =
        json_tokener_parse_ex(tokener, copy, (int)attempt->source.text.size + 1);
    REQUIRE(json_tokener_get_error(tokener) == json_tokener_success);
    compare(attempt->root, object);
    json_object_put(object);
    json_tokener_free(tokener);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(1 << 20);
    struct attempt attempt = {.source = {.text = {(const char *)data, size}}, .arena = arena};
    if (!arena_guard(arena, read_once, &attempt, &attempt.error))
        REQUIRE(attempt.error.kind == ERROR_LIMIT);
    if (attempt.accepted) {
        check_offsets(attempt.root, attempt.source.text);
        REQUIRE(node_equal(attempt.root, attempt.root));
        compare_with_json_c(&attempt);
        compare_walk(attempt.root, attempt.source.text);
        REQUIRE(arena_guard(arena, compare_written, &attempt, &attempt.error) ||
                attempt.error.kind == ERROR_LIMIT);
    } else {
        REQUIRE(attempt.error.kind == ERROR_INPUT || attempt.error.kind == ERROR_LIMIT);
        REQUIRE(attempt.error.what[0] != '\0');
    }
    weigh(attempt.source.text);
    arena_destroy(arena);
    return 0;
}
