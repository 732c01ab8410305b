/* What each Pod of a file requests, as tests/contract/pod_requests writes it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/manifest.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/snapshot.h"
#include "simulation/amounts.h"

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct named_amount *)a)->resource,
                  ((const struct named_amount *)b)->resource);
}

static void print_requests(const struct snapshot *nothing, const struct object *object,
                           struct arena *arena)
{
    struct workload workload;
    struct named_amounts requests;
    struct error error = {0};
    printf("%.*s", TEXT_ARGS(object->name));
    if (!workload_read(object, arena, &workload) ||
        !pod_requests_read(nothing, &workload, arena, &requests, &error)) {
        printf(" %s\n", error.what);
        return;
    }
    if (requests.count > 0)
        qsort(requests.items, requests.count, sizeof *requests.items, compare);
    for (size_t i = 0; i < requests.count; i++)
        printf(" %s=%lld", requests.items[i].resource, (long long)requests.items[i].quantity);
    printf("\n");
}

int main(int argc, char **argv)
{
    enum { BUDGET_BYTES = 1 << 30 };
    struct arena *arena = arena_create(BUDGET_BYTES);
    if (arena == NULL || argc != 2)
        return 2;
    struct manifests manifests;
    manifests_init(&manifests, arena);
    manifests_read(&manifests, argv[1], TEXT("default"));
    const struct snapshot *nothing = snapshot_build(snapshot_builder_create(arena));
    for (size_t i = 0; i < manifests.count; i++)
        print_requests(nothing, &manifests.items[i], arena);
    arena_destroy(arena);
    return 0;
}
