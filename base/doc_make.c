/* Trees made by the program, not read. */
#include "base/doc_internal.h"

/* Everything that is read is smaller than this limit, and so is what is made of it. */
static uint32_t size_of(size_t size)
{
    return size < DOC_BYTES_MAX ? (uint32_t)size : (uint32_t)DOC_BYTES_MAX;
}

static struct node node_of_bytes(enum node_kind kind, struct text t)
{
    struct node node = {.bytes = t.data, .kind = kind};
    node.size = size_of(t.size) & DOC_BYTES_MAX;
    return node;
}

struct node node_of_text(struct text t)
{
    return node_of_bytes(NODE_STRING, t);
}

struct node node_of_bool(bool value)
{
    return node_of_bytes(NODE_BOOL, value ? TEXT("true") : TEXT("false"));
}

struct node node_of_integer(int64_t value, struct arena *arena)
{
    return node_of_bytes(NODE_NUMBER, arena_printf(arena, "%lld", (long long)value));
}

struct node node_of_items(const struct node *items, size_t count)
{
    struct node node = {.items = items, .kind = NODE_LIST};
    node.size = size_of(count) & DOC_BYTES_MAX;
    return node;
}

struct node node_of_members(const struct member *members, size_t count)
{
    struct node node = {.members = members, .kind = NODE_MAP};
    node.size = size_of(count) & DOC_BYTES_MAX;
    return node;
}

struct member member_of(struct text key, struct node value)
{
    return (struct member){.key = key.data, .key_size = size_of(key.size), .value = value};
}

const struct node *node_keep(struct arena *arena, struct node node)
{
    struct node *kept = ARENA_NEW(arena, struct node);
    *kept = node;
    return kept;
}
