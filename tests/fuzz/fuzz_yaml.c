/* The YAML reader in both styles: no crash, no leak, budgets are kept, and every node and every
 * problem has a place in the text. */
/* reads: base/doc_yaml.c base/yaml_node.c base/yaml_scalar.c base/yaml_parts.c */
#include <string.h>

#include "base/base.h"
#include "fuzz.h"

/* Small, so that an input reaches them. */
static const struct doc_limits limits = {.bytes = 24 << 10, .nodes = 2000, .depth = 32};
enum { ARENA_BYTES = 256 << 10 };

struct reading {
    struct source source;
    struct arena *arena;
    struct problems problems;
    enum yaml_style style;
    size_t node_count;
};

static void check_node(struct reading *reading, const struct node *node, size_t depth)
{
    REQUIRE(node->offset <= reading->source.text.size);
    REQUIRE(++reading->node_count <= limits.nodes);
    REQUIRE(depth <= limits.depth);
    struct text t = node_text(node);
    if (node->kind == NODE_BOOL)
        REQUIRE(text_is(t, "true") || text_is(t, "false"));
    if (node->kind == NODE_NUMBER)
        REQUIRE(t.size != 0 && strchr("-0123456789", t.data[0]) != NULL);
    for (size_t i = 0; i < node_count(node); i++) {
        if (node->kind == NODE_LIST) {
            check_node(reading, &node->items[i], depth + 1);
            continue;
        }
        const struct member *member = &node->members[i];
        struct text key = member_key(member);
        REQUIRE(member->key_offset <= reading->source.text.size);
        REQUIRE(node_member(node, key) == &member->value); /* every key once */
        check_node(reading, &member->value, depth + 1);
    }
}

static void take(void *context, const struct node *root)
{
    check_node(context, root, 0);
}

static void read_once(void *argument)
{
    struct reading *reading = argument;
    doc_read_yaml(&reading->source, reading->style, &limits, reading->arena, &reading->problems,
                  take, reading);
}

static void read_style(struct text text, enum yaml_style style)
{
    struct arena *arena = arena_create(ARENA_BYTES);
    struct reading reading = {
        .source = {.text = text}, .arena = arena, .problems = {.arena = arena}, .style = style};
    struct error error;
    if (!arena_guard(arena, read_once, &reading, &error))
        REQUIRE(error.kind == ERROR_LIMIT);
    for (size_t i = 0; i < reading.problems.count; i++)
        REQUIRE(reading.problems.items[i].what[0] != '\0');
    REQUIRE(arena_used_bytes(arena) <= ARENA_BYTES);
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct text text = {(const char *)data, size};
    read_style(text, YAML_MANIFEST);
    read_style(text, YAML_POLICY);
    return 0;
}
