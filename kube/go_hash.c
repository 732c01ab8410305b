/* Hashes values by tables of Go structs (docs/reference/karpenter.md 6.8). */
#include "kube/go_hash.h"

#include <stdlib.h>

#include "base/duration.h"
#include "kube/quantity.h"
#include "kube/time.h"

/* A value and whether Go would leave it out because it is zero. */
struct hashed {
    bool zero;
    uint64_t hash;
};
struct hasher {
    struct arena *arena;
    bool failed; /* Go cannot read a value, or its hash is not known */
};

/* ---- FNV-1 ---- */

static uint64_t fnv(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        hash = (hash * UINT64_C(1099511628211)) ^ at[i];
    return hash;
}

/* An integer as its first bytes, the lowest first. */
static uint64_t fnv_integer(uint64_t value, size_t size)
{
    unsigned char bytes[sizeof value];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    return fnv(bytes, size);
}

uint64_t go_hash_text(struct text t)
{
    return fnv(t.data, t.size);
}

static uint64_t ordered(uint64_t a, uint64_t b)
{
    unsigned char bytes[2 * sizeof a];
    for (size_t i = 0; i < sizeof a; i++) {
        bytes[i] = (unsigned char)(a >> (8 * i));
        bytes[sizeof a + i] = (unsigned char)(b >> (8 * i));
    }
    return fnv(bytes, sizeof bytes);
}

static uint64_t finished(uint64_t hash)
{
    return fnv_integer(hash, sizeof hash);
}

static uint64_t with_field(uint64_t hash, const char *name, uint64_t value)
{
    return finished(hash ^ ordered(go_hash_text(text_of(name)), value));
}

/* ---- values ---- */

static struct hashed struct_of(struct hasher *hasher, const struct go_struct *type,
                               const struct node *value);

static struct hashed failed(struct hasher *hasher, const struct node *value)
{
    hasher->failed = true;
    return (struct hashed){false, go_hash_text(node_json(value, hasher->arena))};
}

static struct hashed string_of(struct hasher *hasher, const struct node *value)
{
    if (!node_is(value, NODE_STRING))
        return failed(hasher, value);
    return (struct hashed){value->size == 0, go_hash_text(node_string(value))};
}

static struct hashed integer_of(struct hasher *hasher, const struct node *value, size_t size)
{
    int64_t number = 0;
    if (!node_integer(value, &number))
        return failed(hasher, value);
    return (struct hashed){number == 0, fnv_integer((uint64_t)number, size)};
}

static struct hashed bool_of(struct hasher *hasher, const struct node *value)
{
    if (!node_is(value, NODE_BOOL))
        return failed(hasher, value);
    return (struct hashed){!node_true(value), fnv_integer(node_true(value) ? 1 : 0, 1)};
}

static struct hashed quantity_of(struct hasher *hasher, const struct node *value)
{
    int64_t milli = 0;
    if (!quantity_milli(node_text(value), &milli))
        return failed(hasher, value);
    return (struct hashed){false,
                           go_hash_text(quantity_canonical(node_text(value), hasher->arena))};
}

static bool nanoseconds(const struct node *value, int64_t *ns)
{
    int64_t seconds = 0;
    return duration_parse(node_string(value), &seconds) &&
           !__builtin_mul_overflow(seconds, (int64_t)DURATION_SECOND_NS, ns);
}

static struct hashed duration_of(struct hasher *hasher, const struct node *value)
{
    int64_t ns = 0;
    if (!nanoseconds(value, &ns))
        return failed(hasher, value);
    uint64_t hash = go_hash_text(TEXT("Duration"));
    if (ns != 0)
        hash = with_field(hash, "Duration", fnv_integer((uint64_t)ns, sizeof ns));
    return (struct hashed){false, hash};
}

/* A pointer is inside: 0s is not zero, Never is. */
static struct hashed nillable_duration_of(struct hasher *hasher, const struct node *value)
{
    int64_t ns = 0;
    uint64_t hash = go_hash_text(TEXT("NillableDuration"));
    if (text_is(node_string(value), "Never"))
        return (struct hashed){true, hash};
    if (!nanoseconds(value, &ns))
        return failed(hasher, value);
    return (struct hashed){false,
                           with_field(hash, "Duration", fnv_integer((uint64_t)ns, sizeof ns))};
}

static struct hashed map_of(struct hasher *hasher, const struct node *value)
{
    if (!node_is(value, NODE_MAP))
        return failed(hasher, value);
    uint64_t hash = 0;
    for (size_t i = 0; i < value->size; i++) {
        const struct member *member = &value->members[i];
        struct hashed one = string_of(hasher, &member->value);
        hash ^= ordered(go_hash_text(member_key(member)), one.hash);
    }
    return (struct hashed){false, finished(hash)};
}

static struct hashed set_of(struct hasher *hasher, const struct go_struct *type,
                            const struct node *value)
{
    if (!node_is(value, NODE_LIST))
        return failed(hasher, value);
    uint64_t hash = 0;
    FOR_ITEMS(item, value)
        hash ^= struct_of(hasher, type, item).hash;
    return (struct hashed){false, hash};
}

static struct hashed given_of(struct hasher *hasher, const struct go_field *field,
                              const struct node *value)
{
    switch (field->kind) {
    case GO_STRING:
        return string_of(hasher, value);
    case GO_BOOL:
        return bool_of(hasher, value);
    case GO_INT32:
        return integer_of(hasher, value, sizeof(int32_t));
    case GO_INT64:
        return integer_of(hasher, value, sizeof(int64_t));
    case GO_QUANTITY:
        return quantity_of(hasher, value);
    case GO_DURATION:
        return duration_of(hasher, value);
    case GO_NILLABLE_DURATION:
        return nillable_duration_of(hasher, value);
    case GO_TIME:
        return failed(hasher, value);
    case GO_STRING_MAP:
        return map_of(hasher, value);
    case GO_STRUCT:
        return struct_of(hasher, field->inside, value);
    case GO_STRUCT_SET:
        return set_of(hasher, field->inside, value);
    }
    return (struct hashed){true, 0};
}

static const struct node *value_of(const struct go_field *field, const struct node *map)
{
    const struct node *value = node_get(map, field->key);
    return node_is_given(value) ? value : field->otherwise;
}

static struct hashed field_of(struct hasher *hasher, const struct go_field *field,
                              const struct node *map)
{
    const struct node *value = value_of(field, map);
    if (value == NULL)
        return (struct hashed){true, 0};
    struct hashed hashed = given_of(hasher, field, value);
    hashed.zero = hashed.zero && !field->pointer;
    return hashed;
}

/* The hash is finished after each field, so their order counts. */
static struct hashed struct_of(struct hasher *hasher, const struct go_struct *type,
                               const struct node *value)
{
    struct hashed hashed = {true, go_hash_text(text_of(type->name))};
    if (!node_is(value, NODE_MAP) && node_is_given(value))
        return failed(hasher, value);
    for (const struct go_field *field = type->fields; field->name != NULL; field++) {
        struct hashed one = field_of(hasher, field, value);
        if (one.zero)
            continue;
        hashed.hash = with_field(hashed.hash, field->name, one.hash);
        hashed.zero = false;
    }
    return hashed;
}

bool go_hash_struct(const struct go_struct *type, const struct node *value, struct arena *arena,
                    uint64_t *hash)
{
    struct hasher hasher = {.arena = arena};
    *hash = struct_of(&hasher, type, value).hash;
    return !hasher.failed;
}

void go_hash_compare(const struct go_struct *type, const struct node *a, const struct node *b,
                     struct text path, struct arena *arena, struct text_list *paths)
{
    struct hasher hasher = {.arena = arena};
    for (const struct go_field *field = type->fields; field->name != NULL; field++) {
        const struct node *in_a = value_of(field, a), *in_b = value_of(field, b);
        struct text inner = arena_printf(arena, "%.*s.%s", TEXT_ARGS(path), field->key);
        if (field->kind == GO_STRUCT && (!field->pointer || (in_a != NULL && in_b != NULL))) {
            go_hash_compare(field->inside, in_a, in_b, inner, arena, paths);
            continue;
        }
        struct hashed of_a = field_of(&hasher, field, a), of_b = field_of(&hasher, field, b);
        if (of_a.zero != of_b.zero || (!of_a.zero && of_a.hash != of_b.hash))
            *LIST_PUSH(arena, paths) = inner;
    }
}

/* ---- maps in order ---- */

static int compare_members(const void *a, const void *b)
{
    return text_compare(member_key(a), member_key(b));
}

static struct node sorted_map(const struct node *map, struct arena *arena)
{
    struct member *members = ARENA_ARRAY(arena, map->size, struct member);
    for (size_t i = 0; i < map->size; i++)
        members[i] =
            member_of(member_key(&map->members[i]), *node_sorted(&map->members[i].value, arena));
    if (map->size > 1)
        qsort(members, map->size, sizeof *members, compare_members);
    return node_of_members(members, map->size);
}

const struct node *node_sorted(const struct node *node, struct arena *arena)
{
    if (node_is(node, NODE_MAP))
        return node_keep(arena, sorted_map(node, arena));
    if (!node_is(node, NODE_LIST))
        return node;
    struct node *items = ARENA_ARRAY(arena, node->size, struct node);
    for (size_t i = 0; i < node->size; i++)
        items[i] = *node_sorted(&node->items[i], arena);
    return node_keep(arena, node_of_items(items, node->size));
}
