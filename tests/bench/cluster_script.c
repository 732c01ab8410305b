/* Prints the cluster of the benches, 1,000 Nodes, 10,000 Pods, 5,000 claims with volumes and 20
 * NodePools, as a script of the fake API server (tests/fakeapi). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/kind.h"
#include "kube/object.h"
#include "pin_cluster.h"

enum { CLUSTER_BYTES = 1 << 30 };

/* Each object has a resourceVersion; "@" stands for it in a script. */
static void print(void *context, struct text json)
{
    static const char metadata[] = "\"metadata\":{";
    struct arena *arena = context;
    struct source source = {.text = json};
    struct object object;
    const struct node *root;
    struct error error = {0};
    struct text text = arena_printf(arena, "%.*s", TEXT_ARGS(json));
    char *at = strstr(text.data, metadata);
    if (!doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error) ||
        !object_read(root, NULL, TEXT(""), arena, &object, &error) || at == NULL) {
        fprintf(stderr, "bench_cluster_script: %s: %.*s\n", error.what, TEXT_ARGS(json));
        exit(2);
    }
    size_t head = (size_t)(at - text.data) + sizeof metadata - 1;
    printf("object %s %.*s%s%.*s %.*s\"resourceVersion\":\"@\",%s\n",
           kind_table[object.kind].plural, TEXT_ARGS(object.namespace),
           object.namespace.size == 0 ? "" : "/", TEXT_ARGS(object.name), (int)head, text.data,
           text.data + head);
}

int main(void)
{
    struct arena *arena = arena_create(CLUSTER_BYTES);
    if (arena == NULL)
        return 2;
    pin_cluster_make(arena, print, arena);
    pin_cluster_make_team_pools(arena, print, arena);
    arena_destroy(arena);
    return 0;
}
