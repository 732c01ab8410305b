/* Copies trees with their stored members into one piece of memory. */
#include <stdlib.h>
#include <string.h>

#include "live/transform.h"

/* A tree that several objects have. Only the writing thread uses the count. */
struct shared_tree {
    struct shared_tree *next; /* of its bucket */
    uint64_t hash;
    size_t holders, size_bytes;
    enum kind kind;   /* that had it first */
    struct node node; /* the memory it points to follows */
};

/* ---- the stored part of a tree ---- */

static bool keeps_item(const struct transform_field *keep, const struct node *item)
{
    return keep == NULL || keep->takes == NULL || keep->takes(item);
}

static bool keeps_member(const struct transform_field *keep, const struct member *member,
                         const struct transform_field **within)
{
    if (!transform_field_finds(keep, member_key(member), within))
        return false;
    return *within == NULL || (*within)->inside != NULL || keeps_item(*within, &member->value);
}

/* The stored part of an item of the list. */
static const struct transform_field *within_item(const struct transform_field *keep,
                                                 struct transform_field *item)
{
    if (keep == NULL)
        return NULL;
    *item = (struct transform_field){.inside = keep->inside};
    return item;
}

/* A key that outlives the object; NULL: copy it. */
static const char *lasting_key(const struct transform_field *within, struct text key)
{
    return within != NULL ? within->key.data : transform_word(key);
}

static bool may_be_shared(const struct tree_copy *tree_copy, const struct node *node,
                          const struct transform_field *keep)
{
    return tree_copy->trees != NULL && keep != NULL && keep->shared && node->kind >= NODE_LIST &&
           node->size > 0;
}

/* ---- how much memory a copy takes ---- */

static struct shared_tree *share(struct shared_trees *trees, enum kind kind,
                                 const struct node *node, const struct transform_field *keep);

void tree_copy_measure_text(struct tree_copy *tree_copy, struct text text)
{
    if (transform_word(text) == NULL)
        tree_copy->bytes += text.size;
}

static void measure_members(struct tree_copy *tree_copy, const struct node *map,
                            const struct transform_field *keep)
{
    for (size_t i = 0; i < map->size; i++) {
        const struct member *member = &map->members[i];
        const struct transform_field *within;
        struct text key = member_key(member);
        if (!keeps_member(keep, member, &within))
            continue;
        tree_copy->members++;
        tree_copy->bytes += lasting_key(within, key) == NULL ? key.size : 0;
        tree_copy_measure(tree_copy, &member->value, within);
    }
}

void tree_copy_measure(struct tree_copy *tree_copy, const struct node *node,
                       const struct transform_field *keep)
{
    struct transform_field item;
    if (may_be_shared(tree_copy, node, keep) && tree_copy->shared_count < SHARED_MAX) {
        struct shared_tree *tree =
            tree_copy->failed ? NULL : share(tree_copy->trees, tree_copy->kind, node, keep);
        if (tree == NULL)
            tree_copy->failed = true;
        else
            tree_copy->shared[tree_copy->shared_count++] = tree;
    } else if (node->kind == NODE_MAP) {
        measure_members(tree_copy, node, keep);
    } else if (node->kind == NODE_LIST) {
        for (size_t i = 0; i < node->size; i++)
            if (keeps_item(keep, &node->items[i])) {
                tree_copy->nodes++;
                tree_copy_measure(tree_copy, &node->items[i], within_item(keep, &item));
            }
    } else {
        tree_copy_measure_text(tree_copy, node_text(node));
    }
}

size_t tree_copy_size_bytes(const struct tree_copy *tree_copy)
{
    return tree_copy->members * sizeof(struct member) + tree_copy->nodes * sizeof(struct node) +
           tree_copy->bytes;
}

/* ---- the copy ---- */

void tree_copy_begin(struct tree_copy *tree_copy, void *memory)
{
    tree_copy->next_member = memory;
    tree_copy->next_node = (struct node *)(tree_copy->next_member + tree_copy->members);
    tree_copy->next_byte = (char *)(tree_copy->next_node + tree_copy->nodes);
}

static const char *copy_bytes(struct tree_copy *tree_copy, struct text text)
{
    char *copy = tree_copy->next_byte;
    memcpy(copy, text.data, text.size);
    tree_copy->next_byte += text.size;
    return copy;
}

const char *tree_copy_text(struct tree_copy *tree_copy, struct text text)
{
    const char *word = transform_word(text);
    return word != NULL ? word : copy_bytes(tree_copy, text);
}

static struct node copy_members(struct tree_copy *tree_copy, const struct node *map,
                                const struct transform_field *keep)
{
    const struct transform_field *within;
    struct member *members = tree_copy->next_member;
    size_t count = 0;
    for (size_t i = 0; i < map->size; i++)
        count += keeps_member(keep, &map->members[i], &within) ? 1 : 0;
    tree_copy->next_member += count;
    struct member *copy = members;
    for (size_t i = 0; i < map->size; i++) {
        const struct member *member = &map->members[i];
        struct text key = member_key(member);
        if (!keeps_member(keep, member, &within))
            continue;
        const char *lasting = lasting_key(within, key);
        *copy++ = (struct member){
            .key = lasting != NULL ? lasting : copy_bytes(tree_copy, key),
            .key_size = member->key_size,
            .value = tree_copy_make(tree_copy, &member->value, within),
        };
    }
    return node_of_members(members, count);
}

static struct node copy_items(struct tree_copy *tree_copy, const struct node *list,
                              const struct transform_field *keep)
{
    struct transform_field item;
    struct node *items = tree_copy->next_node;
    size_t count = 0;
    for (size_t i = 0; i < list->size; i++)
        count += keeps_item(keep, &list->items[i]) ? 1 : 0;
    tree_copy->next_node += count;
    struct node *copy = items;
    for (size_t i = 0; i < list->size; i++)
        if (keeps_item(keep, &list->items[i]))
            *copy++ = tree_copy_make(tree_copy, &list->items[i], within_item(keep, &item));
    return node_of_items(items, count);
}

struct node tree_copy_make(struct tree_copy *tree_copy, const struct node *node,
                           const struct transform_field *keep)
{
    struct node copy = {.kind = node->kind};
    if (may_be_shared(tree_copy, node, keep) && tree_copy->shared_used < tree_copy->shared_count)
        return tree_copy->shared[tree_copy->shared_used++]->node;
    if (node->kind == NODE_MAP)
        return copy_members(tree_copy, node, keep);
    if (node->kind == NODE_LIST)
        return copy_items(tree_copy, node, keep);
    copy.size = node->kind == NODE_NULL ? 0 : node->size;
    copy.bytes = tree_copy_text(tree_copy, node_text(node));
    return copy;
}

/* ---- trees that are shared ---- */

bool shared_tree_equal(const struct node *a, const struct node *b)
{
    if (a->kind != b->kind || a->size != b->size)
        return false;
    if (a->kind < NODE_LIST)
        return text_equal(node_text(a), node_text(b));
    if (a->items == b->items)
        return true;
    for (size_t i = 0; i < a->size; i++) {
        bool map = a->kind == NODE_MAP;
        if (map && !text_equal(member_key(&a->members[i]), member_key(&b->members[i])))
            return false;
        if (!shared_tree_equal(map ? &a->members[i].value : &a->items[i],
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
            hash = mix(hash, member_key(member));
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
        return trees->bucket_count > 0; /* the chains only get longer */
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
                                 const struct node *node, const struct transform_field *keep)
{
    struct tree_copy tree_copy = {0};
    tree_copy_measure(&tree_copy, node, keep);
    size_t size_bytes = sizeof(struct shared_tree) + tree_copy_size_bytes(&tree_copy);
    struct shared_tree *tree = malloc(size_bytes);
    if (tree == NULL || !make_buckets(trees)) {
        free(tree);
        return NULL;
    }
    tree_copy_begin(&tree_copy, tree + 1);
    *tree = (struct shared_tree){
        .size_bytes = size_bytes,
        .kind = kind,
        .node = tree_copy_make(&tree_copy, node, keep),
    };
    tree->hash = hash_tree(UINT64_C(14695981039346656037), &tree->node);
    struct shared_tree **bucket = bucket_of(trees, tree->hash);
    for (struct shared_tree *other = *bucket; other != NULL; other = other->next)
        if (other->hash == tree->hash && shared_tree_equal(&other->node, &tree->node)) {
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
