/* The JSON reader against json-c: what we accept, json-c accepts too, and the trees are equal. What
 * only json-c accepts is our strictness (RFC 8259, and no NUL in a key). The walk without a tree
 * finds the same values in the same places, and what is written is read again. A part that is
 * chosen is that part of the whole. */
/* reads: base/doc_json.c base/doc_members.c base/doc_scan.c base/doc_equal.c base/doc_write_json.c
 * base/utf8.c */
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "base/doc_internal.h"
#include "fuzz.h"

/* Small, so that an input reaches them. */
enum { DEPTH = 64, NODES_MAX = 500, BYTES_MAX = 3000 };
static const struct doc_limits limits = {.bytes = BYTES_MAX, .nodes = NODES_MAX, .depth = DEPTH};

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
    struct text plain = json_plain_string(written);
    REQUIRE(plain.size == 0 || (node->kind == NODE_STRING && text_equal(plain, node_text(node))));
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
    REQUIRE(walk.ended && walk.count == count && !json_walk_next(&walk, &key, &value));
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

/* ---- equality ---- */

/* Of few digits and not too small or large, so that a double tells one number from another. */
static bool double_of(const struct node *node, double *value)
{
    enum { DIGITS_MAX = 15 };
    char digits[DIGITS_MAX + 1];
    struct text t = node_text(node);
    if (node->kind != NODE_NUMBER || t.size > DIGITS_MAX)
        return false;
    snprintf(digits, sizeof digits, "%.*s", TEXT_ARGS(t));
    *value = strtod(digits, NULL);
    return fabs(*value) > 1e-290 && fabs(*value) < 1e290;
}

/* The items of a list with each other. */
static void compare_items(const struct node *list)
{
    for (size_t i = 1; list->kind == NODE_LIST && i < node_count(list); i++) {
        const struct node *a = node_item(list, i - 1), *b = node_item(list, i);
        double x, y;
        REQUIRE(node_equal(a, b) == node_equal(b, a));
        if (double_of(a, &x) && double_of(b, &y))
            REQUIRE(node_equal(a, b) == (x == y));
    }
}

/* ---- a part of a document ---- */

/* Keys that begin with - are passed over; those that begin with ? are read if their value is of an
 * even number of bytes, and then as a whole. */
static enum doc_want wants(const void *within, struct text key, const void **inside)
{
    char first = key.size > 0 ? *key.data : ' ';
    if (first == '-')
        return DOC_SKIP;
    *inside = within;
    return first == '?' ? DOC_LOOK : DOC_READ;
}

static bool needs(void *context, const void *inside, struct text value)
{
    (void)context, (void)inside;
    return value.size % 2 == 0;
}

static const struct doc_choice choice = {.root = &choice, .wants = wants, .needs = needs};

static void compare_chosen(const struct node *whole, const struct node *chosen, struct text source)
{
    REQUIRE(whole->kind == chosen->kind);
    if (whole->kind == NODE_LIST)
        REQUIRE(node_count(whole) == node_count(chosen));
    else if (whole->kind != NODE_MAP)
        REQUIRE(node_equal(whole, chosen));
    size_t found = 0;
    for (size_t i = 0; i < node_count(whole); i++) {
        if (whole->kind == NODE_LIST) {
            compare_chosen(&whole->items[i], &chosen->items[i], source);
            continue;
        }
        const struct member *member = &whole->members[i];
        const char *start = source.data + member->value.offset;
        const char *end = json_value_end(start, source.data + source.size);
        const void *inside = NULL;
        enum doc_want want = wants(&choice, member_key(member), &inside);
        const struct node *value = node_member(chosen, member_key(member));
        bool wanted =
            want == DOC_READ ||
            (want == DOC_LOOK && needs(NULL, NULL, (struct text){start, (size_t)(end - start)}));
        REQUIRE((value != NULL) == wanted);
        found += wanted;
        if (wanted && want == DOC_READ)
            compare_chosen(&member->value, value, source);
        else if (wanted)
            REQUIRE(node_equal(&member->value, value));
    }
    REQUIRE(whole->kind != NODE_MAP || node_count(chosen) == found);
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

static void try_in(struct attempt *attempt, void (*body)(void *))
{
    if (!arena_guard(attempt->arena, body, attempt, &attempt->error))
        REQUIRE(attempt->error.kind == ERROR_LIMIT);
}

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
    REQUIRE(doc_read_json(&source, &doc_limits_manifest, NULL, attempt->arena, &again, &error));
    REQUIRE(node_equal(attempt->root, again));
}

/* A key that stands twice is an error for who does not ask for it as a problem. */
static void read_strictly(void *argument)
{
    const struct attempt *attempt = argument;
    struct source source = {.text = attempt->source.text};
    const struct node *root = NULL;
    struct error error;
    bool good = doc_read_json(&source, &limits, NULL, attempt->arena, &root, &error);
    REQUIRE(good == (attempt->duplicates.count == 0));
    REQUIRE(!good || node_equal(root, attempt->root));
}

/* Values one after the other: each is where the one before has ended, and of a text that is one
 * value they are that. */
static void read_values(void *argument)
{
    const struct attempt *attempt = argument;
    struct source source = {.text = attempt->source.text};
    struct problems duplicates = {.arena = attempt->arena};
    struct node_list roots = {0};
    struct error error;
    const char *at = source.text.data, *end = at + source.text.size;
    bool good = doc_read_json_values(&source, &limits, &duplicates, attempt->arena, &roots, &error);
    REQUIRE(good ? roots.count > 0 : error.what[0] != '\0');
    FOR_EACH(root, &roots) {
        const char *start = source.text.data + (*root)->offset;
        REQUIRE(start >= at);
        check_offsets(*root, source.text);
        at = json_value_end(start, end);
        REQUIRE(at != NULL);
    }
    if (attempt->accepted)
        REQUIRE(good && roots.count == 1 && node_equal(roots.items[0], attempt->root));
    else
        REQUIRE(!good || roots.count > 1);
}

/* What is not chosen is passed over, right or wrong. */
static void read_chosen(void *argument)
{
    const struct attempt *attempt = argument;
    struct source source = {.text = attempt->source.text};
    struct doc_limits part = limits;
    const struct node *chosen = NULL;
    struct error error;
    part.choice = &choice;
    bool good = doc_read_json(&source, &part, NULL, attempt->arena, &chosen, &error);
    REQUIRE(good || error.what[0] != '\0');
    if (!attempt->accepted || attempt->duplicates.count > 0)
        return;
    REQUIRE(good);
    compare_chosen(attempt->root, chosen, source.text);
}

/* Any bytes are written as a string, and are read again as far as they are UTF-8. */
static void write_bytes(void *argument)
{
    enum { CUT_BYTES = 40 };
    const struct attempt *attempt = argument;
    struct text text = text_as_utf8(attempt->source.text, attempt->arena);
    struct text cut = json_cut(text, CUT_BYTES), longer = cut;
    struct text_builder out = {.arena = attempt->arena}, part = out, more = out, first = out;
    json_write_member(&first, "a", cut);
    REQUIRE(text_starts_with(text_builder_text(&first), TEXT("\"a\":\"")));
    text_builder_add(&out, TEXT("{"));
    json_write_member(&out, "a", attempt->source.text);
    json_write_member(&out, "b", cut);
    text_builder_add(&out, TEXT("}"));
    const struct node *root =
        fuzz_tree(text_builder_text(&out), &doc_limits_manifest, attempt->arena);
    REQUIRE(text_equal(node_string(node_get(root, "a")), text));
    REQUIRE(text_equal(node_string(node_get(root, "b")), cut));
    json_write_string(&part, cut);
    REQUIRE(part.size <= CUT_BYTES + 2);
    if (cut.size == text.size)
        return;
    do
        longer.size++;
    while (longer.size < text.size && (text.data[longer.size] & 0xC0) == 0x80);
    json_write_string(&more, longer);
    REQUIRE(more.size > CUT_BYTES + 2);
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

static void check_tree(struct attempt *attempt)
{
    struct text text = attempt->source.text;
    check_offsets(attempt->root, text);
    const struct node same = *attempt->root;
    REQUIRE(node_equal(attempt->root, attempt->root) && node_equal(attempt->root, &same));
    REQUIRE(!node_equal(attempt->root, NULL) && !node_equal(NULL, attempt->root));
    compare_with_json_c(attempt);
    compare_walk(attempt->root, text);
    compare_items(attempt->root);
    try_in(attempt, compare_written);
    try_in(attempt, read_strictly);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(1 << 20);
    struct attempt attempt = {.source = {.text = {(const char *)data, size}}, .arena = arena};
    try_in(&attempt, read_once);
    if (attempt.accepted) {
        check_tree(&attempt);
    } else {
        REQUIRE(attempt.error.kind == ERROR_INPUT || attempt.error.kind == ERROR_LIMIT);
        REQUIRE(attempt.error.what[0] != '\0');
    }
    try_in(&attempt, read_values);
    try_in(&attempt, read_chosen);
    weigh(attempt.source.text);
    try_in(&attempt, write_bytes);
    arena_destroy(arena);
    return 0;
}
