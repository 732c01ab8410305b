/* Reads cases, one JSON object a line: before, after, bundle, and cluster, a list of objects.
 * Writes a line for each: the hash of after, how many hashed fields the edit changes, and the
 * verdict on each NodeClaim, by name. */
#include <stdio.h>
#include <stdlib.h>

#include "kube/go_hash.h"
#include "kube/karpenter_hash.h"
#include "kube/object.h"
#include "kube/snapshot.h"
#include "simulation/drift.h"

static const struct doc_limits limits = {.bytes = 64 << 20, .nodes = 4000000, .depth = 128};

static const struct object *read_object(const struct node *root, struct source *source,
                                        struct arena *arena)
{
    struct object *object = ARENA_NEW(arena, struct object);
    struct error error;
    if (object_read(root, source, TEXT(""), arena, object, &error))
        return object;
    fprintf(stderr, "%s\n", error.what);
    exit(1);
}

static void print_case(const struct node *root, struct source *source, struct arena *arena)
{
    static const char *const verdicts[] = {"none", "newly", "already", "undone", "unknown"};
    const struct object *before = read_object(node_get(root, "before"), source, arena);
    const struct object *after = read_object(node_get(root, "after"), source, arena);
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    FOR_ITEMS(item, node_get(root, "cluster"))
        snapshot_put(builder, read_object(item, source, arena));
    uint64_t hash = 0;
    if (!karpenter_hash_value(after, arena, &hash))
        printf("no hash");
    else if (after->kind == KIND_EC2_NODE_CLASS)
        hash ^= go_hash_text(node_string(node_get(root, "bundle")));
    struct text_list paths = {0};
    karpenter_hash_compare(before, after, arena, &paths);
    printf("%llu %zu", (unsigned long long)hash, paths.count);
    struct drift drift;
    if (!drift_of_edit(snapshot_build(builder), before, after, arena, &drift))
        printf(" no nodes");
    FOR_EACH(claim, &drift.claims)
        printf(" %s", verdicts[claim->verdict]);
    printf("%s\n", drift.by_fields ? " by fields" : "");
}

int main(void)
{
    struct arena *arena = arena_create((size_t)1 << 30);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    bool done = arena != NULL;
    while (done && (size = getline(&line, &capacity, stdin)) > 0) {
        struct source source = {.text = {line, (size_t)size}};
        const struct node *root;
        struct error error;
        done = doc_read_json(&source, &limits, NULL, arena, &root, &error);
        if (done)
            print_case(root, &source, arena);
        else
            fprintf(stderr, "%s\n", error.what);
        arena_reset(arena);
    }
    free(line);
    arena_destroy(arena);
    return done ? 0 : 1;
}
