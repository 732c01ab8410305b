/* Copies of trees in one piece of memory, with the members that are kept. */
#include <stdlib.h>
#include <string.h>

#include "live/kept_internal.h"

/* A tree that several objects have. Counted by who writes; who reads does not see the count. */
struct shared_tree {
    struct shared_tree *next; /* of its bucket */
    uint64_t hash;
    size_t holders, size_bytes;
    enum kind kind;   /* that had it first */
    struct node node; /* the memory of what it points to follows */
};

/* ---- what of a tree is kept ---- */

static bool keeps_member(const struct keep *keep, const struct member *member,
                         const struct keep **within)
{
    return keep_finds(keep, (struct text){member->key, member->key_size}, within);
}

static bool keeps_item(const struct keep *keep, const struct node *item)
{
    return keep == NULL || keep->takes == NULL || keep->takes(item);
}

/* Of what is kept of an item of the list. */
static const struct keep *within_item(const struct keep *keep, struct keep *item)
{
    if (keep == NULL)
        return NULL;
    *item = (struct keep){.inside = keep->inside};
    return item;
}

/* A key that outlives the object; NULL: it has to be copied. */
static const char *lasting_key(const struct keep *within, struct text key)
{
    return within != NULL ? within->key.data : kept_word(key);
}

static bool may_be_shared(const struct keeping *keeping, const struct node *node,
                          const struct keep *keep)
{
    return keeping->trees != NULL && keep != NULL && keep->shared && node->kind >= NODE_LIST &&
           node->size > 0;
}

/* ---- how much memory it takes ---- */

static struct shared_tree *share(struct shared_trees *trees, enum kind kind,
                                 const struct node *node, const struct keep *keep);

void keeping_measure_text(struct keeping *keeping, struct text text)
{
    if (kept_word(text) == NULL)
        keeping->bytes += text.size;
}

static void measure_members(struct keeping *keeping, const struct node *map,
                            const struct keep *keep)
{
    for (size_t i = 0; i < map->size; i++) {
        const struct member *member = &map->members[i];
        const struct keep *within;
        struct text key = {member->key, member->key_size};
        if (!keeps_member(keep, member, &within))
            continue;
        keeping->members++;
        keeping->bytes += lasting_key(within, key) == NULL ? key.size : 0;
        keeping_measure(keeping, &member->value, within);
    }
}

void keeping_measure(struct keeping *keeping, const struct node *node, const struct keep *keep)
{
    struct keep item;
    if (may_be_shared(keeping, node, keep) && keeping->shared_count < SHARED_MAX) {
        struct shared_tree *tree =
            keeping->failed ? NULL : share(keeping->trees, keeping->kind, node, keep);
        if (tree == NULL)
            keeping->failed = true;
        else
            keeping->shared[keeping->shared_count++] = tree;
    } else if (node->kind == NODE_MAP) {
        measure_members(keeping, node, keep);
    } else if (node->kind == NODE_LIST) {
        for (size_t i = 0; i < node->size; i++)
            if (keeps_item(keep, &node->items[i])) {
                keeping->nodes++;
                keeping_measure(keeping, &node->items[i], within_item(keep, &item));
            }
    } else {
        keeping_measure_text(keeping, node_text(node));
    }
}

size_t keeping_size_bytes(const struct keeping *keeping)
{
    return keeping->members * sizeof(struct member) + keeping->nodes * sizeof(struct node) +
           keeping->bytes;
}

/* ---- the copy ---- */

void keeping_begin(struct keeping *keeping, void *memory)
{
    keeping->next_member = memory;
    keeping->next_node = (struct node *)(keeping->next_member + keeping->members);
    keeping->next_byte = (char *)(keeping->next_node + keeping->nodes);
}

static const char *copy_bytes(struct keeping *keeping, struct text text)
{
    char *copy = keeping->next_byte;
    memcpy(copy, text.data, text.size);
    keeping->next_byte += text.size;
    return copy;
}

const char *keeping_copy_text(struct keeping *keeping, struct text text)
{
    const char *word = kept_word(text);
    return word != NULL ? word : copy_bytes(keeping, text);
}

static struct node copy_members(struct keeping *keeping, const struct node *map,
                                const struct keep *keep)
{
    const struct keep *within;
    struct member *members = keeping->next_member;
    size_t count = 0;
    for (size_t i = 0; i < map->size; i++)
        count += keeps_member(keep, &map->members[i], &within) ? 1 : 0;
    keeping->next_member += count;
    struct member *copy = members;
    for (size_t i = 0; i < map->size; i++) {
        const struct member *member = &map->members[i];
        struct text key = {member->key, member->key_size};
        if (!keeps_member(keep, member, &within))
            continue;
        const char *lasting = lasting_key(within, key);
        *copy++ = (struct member){
            .key = lasting != NULL ? lasting : copy_bytes(keeping, key),
            .key_size = member->key_size,
            .value = keeping_copy(keeping, &member->value, within),
        };
    }
    return node_of_members(members, count);
}

static struct node copy_items(struct keeping *keeping, const struct node *list,
                              const struct keep *keep)
{
    struct keep item;
    struct node *items = keeping->next_node;
    size_t count = 0;
    for (size_t i = 0; i < list->size; i++)
        count += keeps_item(keep, &list->items[i]) ? 1 : 0;
    keeping->next_node += count;
    struct node *copy = items;
    for (size_t i = 0; i < list->size; i++)
        if (keeps_item(keep, &list->items[i]))
            *copy++ = keeping_copy(keeping, &list->items[i], within_item(keep, &item));
    return node_of_items(items, count);
}

struct node keeping_copy(struct keeping *keeping, const struct node *node, const struct keep *keep)
{
    struct node copy = {.kind = node->kind};
    if (may_be_shared(keeping, node, keep) && keeping->shared_used < keeping->shared_count)
        return keeping->shared[keeping->shared_used++]->node;
    if (node->kind == NODE_MAP)
        return copy_members(keeping, node, keep);
    if (node->kind == NODE_LIST)
        return copy_items(keeping, node, keep);
    copy.size = node->kind == NODE_NULL ? 0 : node->size;
    copy.bytes = keeping_copy_text(keeping, node_text(node));
    return copy;
}

/* ---- trees that are shared ---- */

bool kept_tree_equal(const struct node *a, const struct node *b)
{
    if (a->kind != b->kind || a->size != b->size)
        return false;
    if (a->kind < NODE_LIST)
        return text_equal(node_text(a), node_text(b));
    if (a->items == b->items)
        return true;
    for (size_t i = 0; i < a->size; i++) {
        bool map = a->kind == NODE_MAP;
        if (map && !text_equal((struct text){a->members[i].key, a->members[i].key_size},
                               (struct text){b->members[i].key, b->members[i].key_size}))
            return false;
        if (!kept_tree_equal(map ? &a->members[i].value : &a->items[i],
                             map ? &b->members[i].value : &b->items[i]))
            return false;
    }
    return true;
}

/* FNV-1a */
static uint64_t mix(uint64_t hash, struct text t)
{
    for (size_t i = 0; i < t.size; i++)
        hash = (hash ^ (unsigned char)t.data[i]) * UINT64_C(1099511628211);
    return (hash ^ 0xFF) * UINT64_C(1099511628211);
}

static uint64_t hash_tree(uint64_t hash, const struct node *node)
{
    hash = (hash ^ node->kind) * UINT64_C(1099511628211);
    for (size_t i = 0; node->kind >= NODE_LIST && i < node->size; i++) {
        const struct member *member = &node->members[i];
        if (node->kind == NODE_MAP)
            hash = mix(hash, (struct text){member->key, member->key_size});
        hash = hash_tree(hash, node->kind == NODE_MAP ? &member->value : &node->items[i]);
    }
    return mix(hash, node_text(node));
}

static struct shared_tree **bucket_of(const struct shared_trees *trees, uint64_t hash)
{
    return &trees->buckets[(hash ^ (hash >> 32)) & (trees->bucket_count - 1)];
}

/* False: there are no buckets at all. */
static bool make_buckets(struct shared_trees *trees)
{
    enum { FIRST_BUCKETS = 16 };
    if (trees->count < trees->bucket_count)
        return true;
    size_t count = trees->bucket_count == 0 ? FIRST_BUCKETS : trees->bucket_count * 2;
    struct shared_trees wider = {.buckets = calloc(count, sizeof(struct shared_tree *)),
                                 .bucket_count = count};
    if (wider.buckets == NULL)
        return trees->bucket_count > 0; /* the chains are longer, and that is all */
    for (size_t i = 0; i < trees->bucket_count; i++)
        for (struct shared_tree *tree = trees->buckets[i]; tree != NULL;) {
            struct shared_tree *next = tree->next;
            struct shared_tree **bucket = bucket_of(&wider, tree->hash);
            tree->next = *bucket;
            *bucket = tree;
            tree = next;
        }
    free(trees->buckets);
    trees->buckets = wider.buckets;
    trees->bucket_count = count;
    return true;
}

/* NULL: malloc failed. */
static struct shared_tree *share(struct shared_trees *trees, enum kind kind,
                                 const struct node *node, const struct keep *keep)
{
    struct keeping keeping = {0};
    keeping_measure(&keeping, node, keep);
    size_t size_bytes = sizeof(struct shared_tree) + keeping_size_bytes(&keeping);
    struct shared_tree *tree = malloc(size_bytes);
    if (tree == NULL || !make_buckets(trees)) {
        free(tree);
        return NULL;
    }
    keeping_begin(&keeping, tree + 1);
    *tree = (struct shared_tree){
        .size_bytes = size_bytes,
        .kind = kind,
        .node = keeping_copy(&keeping, node, keep),
    };
    tree->hash = hash_tree(UINT64_C(14695981039346656037), &tree->node);
    struct shared_tree **bucket = bucket_of(trees, tree->hash);
    for (struct shared_tree *other = *bucket; other != NULL; other = other->next)
        if (other->hash == tree->hash && kept_tree_equal(&other->node, &tree->node)) {
            free(tree);
            other->holders++;
            return other;
        }
    tree->holders = 1;
    tree->next = *bucket;
    *bucket = tree;
    trees->count++;
    trees->size_bytes[kind] += size_bytes;
    return tree;
}

void shared_tree_release(struct shared_trees *trees, struct shared_tree *tree)
{
    if (--tree->holders > 0)
        return;
    struct shared_tree **at = bucket_of(trees, tree->hash);
    while (*at != tree)
        at = &(*at)->next;
    *at = tree->next;
    trees->count--;
    trees->size_bytes[tree->kind] -= tree->size_bytes;
    free(tree);
}

void shared_trees_destroy(struct shared_trees *trees)
{
    free(trees->buckets);
    *trees = (struct shared_trees){0};
}
