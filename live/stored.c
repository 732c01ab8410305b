/* Stored objects: only the fields that are read, in one piece of memory each. */
#include "live/stored.h"

#include <stdlib.h>
#include <string.h>

#include "live/transform.h"

/* The texts of struct object. */
enum { OBJECT_TEXTS = 10 };
static void list_texts(struct object *object, struct text *texts[static OBJECT_TEXTS])
{
    struct owner *owner = &object->controller;
    struct text *all[OBJECT_TEXTS] = {
        &object->api_version,   &object->kind_name, &object->namespace,  &object->name,
        &object->generate_name, &object->uid,       &owner->api_version, &owner->kind,
        &owner->name,           &owner->uid};
    memcpy(texts, all, sizeof all);
}

static const struct node *root_of(const struct object *object)
{
    static const struct node nothing = {.kind = NODE_MAP};
    return object->root != NULL && node_is(object->root->node, NODE_MAP) ? object->root->node
                                                                         : &nothing;
}

static void release_trees(struct shared_tree *const *shared, size_t count,
                          struct shared_trees *trees)
{
    for (size_t i = 0; i < count; i++)
        shared_tree_release(trees, shared[i]);
}

struct stored *stored_create(const struct object *object, struct shared_trees *trees)
{
    const struct node *root = root_of(object);
    const struct transform_field *keep = &transform_fields[object->kind];
    struct object copy = *object;
    struct text *texts[OBJECT_TEXTS];
    struct tree_copy tree_copy = {.trees = trees, .kind = object->kind};
    list_texts(&copy, texts);
    tree_copy_measure(&tree_copy, root, keep);
    for (size_t i = 0; i < OBJECT_TEXTS; i++)
        tree_copy_measure_text(&tree_copy, *texts[i]);
    size_t trees_bytes = tree_copy.shared_count * sizeof(struct shared_tree *);
    size_t size_bytes = sizeof(struct stored) + trees_bytes + tree_copy_size_bytes(&tree_copy);
    struct stored *stored = tree_copy.failed ? NULL : malloc(size_bytes);
    if (stored == NULL) {
        release_trees(tree_copy.shared, tree_copy.shared_count, trees);
        return NULL;
    }
    tree_copy_begin(&tree_copy, stored->trees + tree_copy.shared_count);
    for (size_t i = 0; i < OBJECT_TEXTS; i++)
        texts[i]->data = tree_copy_text(&tree_copy, *texts[i]);
    *stored = (struct stored){
        .size_bytes = size_bytes,
        .object = copy,
        .root_node = tree_copy_make(&tree_copy, root, keep),
        .tree_count = tree_copy.shared_count,
    };
    if (trees_bytes > 0)
        memcpy(stored->trees, tree_copy.shared, trees_bytes);
    const struct node *labels = node_at(&stored->root_node, "metadata.labels");
    stored->root.node = &stored->root_node;
    stored->object.root = &stored->root;
    stored->object.source = NULL;
    stored->object.labels = node_is(labels, NODE_MAP) ? labels : NULL;
    return stored;
}

void stored_destroy(struct stored *stored, struct shared_trees *trees)
{
    if (stored == NULL)
        return;
    release_trees(stored->trees, stored->tree_count, trees);
    free(stored);
}

bool stored_equal(const struct stored *a, const struct stored *b)
{
    struct object x = a->object, y = b->object;
    struct text *x_texts[OBJECT_TEXTS], *y_texts[OBJECT_TEXTS];
    list_texts(&x, x_texts);
    list_texts(&y, y_texts);
    for (size_t i = 0; i < OBJECT_TEXTS; i++)
        if (!text_equal(*x_texts[i], *y_texts[i]))
            return false;
    return a->unreadable == b->unreadable && x.kind == y.kind &&
           x.created_unix_s == y.created_unix_s && x.deleting == y.deleting &&
           shared_tree_equal(&a->root_node, &b->root_node);
}
