/* A folder's manifests as a cluster, in YAML or JSON: no crash, no leak; what the snapshot has is
 * in order and found by its name, and a plan of it places each pod once or says why not. */
/* reads: kube/manifest.c kube/snapshot.c kube/object.c
 * kube/pool.c kube/pod.c simulation/pods.c simulation/pod_shape.c simulation/volume_claims.c
 * simulation/state_nodes.c */
#include <string.h>

#include "catalog/catalog.h"
#include "fuzz.h"
#include "kube/manifest.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "simulation/simulation.h"

enum { ARENA_BYTES = 256 << 20, ROUNDS_MAX = 3 };

/* Two types, so that a plan takes little time. */
static const char types[] =
    "[{\"name\":\"s\",\"resources\":{\"cpu\":\"2\",\"memory\":\"4Gi\",\"pods\":\"20\"},"
    "\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],\"offerings\":["
    "{\"Price\":0.1,\"Requirements\":["
    "{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"a\"]},"
    "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"spot\"]}]}]},"
    "{\"name\":\"l\",\"resources\":{\"cpu\":\"8\",\"memory\":\"32Gi\",\"pods\":\"80\"},"
    "\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],\"offerings\":["
    "{\"Price\":0.3,\"Requirements\":["
    "{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"b\"]},"
    "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"on-demand\"]}]}]}]";

static struct arena *arena;
static const struct catalog *catalog;

static void begin(void)
{
    static struct source source = {.file = "types.json"};
    struct error error;
    source.text = text_of(types);
    arena = arena_create(ARENA_BYTES);
    struct arena *lasting = arena_create(ARENA_BYTES);
    REQUIRE(arena != NULL && lasting != NULL);
    REQUIRE(catalog_read(&source, lasting, &catalog, &error));
}

static int compare(const struct object *a, const struct object *b)
{
    int order = text_compare(a->namespace, b->namespace);
    return order != 0 ? order : text_compare(a->name, b->name);
}

static void check_snapshot(const struct snapshot *snapshot)
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        for (size_t i = 0; i < snapshot_count(snapshot, kind); i++) {
            const struct object *object = snapshot_object(snapshot, kind, i);
            int order = i == 0 ? -1 : compare(snapshot_object(snapshot, kind, i - 1), object);
            REQUIRE(object->kind == kind);
            /* Those without a name are as many as they are. */
            REQUIRE(order < 0 || (order == 0 && object->name.size == 0));
            REQUIRE(object->name.size == 0 ||
                    snapshot_find(snapshot, kind, object->namespace, object->name) == object);
            struct text shown = object_display_name(object, arena);
            REQUIRE(object->name.size == 0 || text_equal(shown, object->name));
        }
}

/* What rails ask of pools. */
static void check_pools(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        const struct pool *named = snapshot_pool_named(snapshot, pool->object->name);
        REQUIRE(named != NULL && text_equal(named->object->name, pool->object->name));
        REQUIRE(!pool_makes_nodes(pool) || !pool_is_static(pool));
        (void)pool_is_built_in(pool);
        (void)snapshot_has_pool_twice(snapshot, pool->object->name);
        const struct object *class = pool_node_class(snapshot, pool);
        REQUIRE(class == NULL || text_equal(class->name, pool->node_class_name));
        for (size_t j = 0; j < snapshot_count(snapshot, KIND_EC2_NODE_CLASS); j++)
            (void)node_class_is_named(pool->node_class_group, pool->node_class_kind,
                                      pool->node_class_name,
                                      snapshot_object(snapshot, KIND_EC2_NODE_CLASS, j));
    }
}

static void check_plan(const struct simulation *plan)
{
    unsigned char *placed = ARENA_ARRAY(arena, plan->pod_count, unsigned char);
    memset(placed, 0, plan->pod_count);
    for (size_t i = 0; i < plan->node_count; i++)
        for (size_t j = 0; j < plan->nodes[i].pod_count; j++) {
            REQUIRE(plan->nodes[i].pods[j] < plan->pod_count);
            REQUIRE(placed[plan->nodes[i].pods[j]]++ == 0);
        }
    for (size_t i = 0; i < plan->unschedulable_count; i++) {
        REQUIRE(placed[plan->unschedulable[i].pod]++ == 0);
        REQUIRE(plan->unschedulable[i].reason_count > 0 || plan->unschedulable[i].later_round > 0);
    }
    REQUIRE(plan->claim_count <= plan->node_count);
}

static void read_all(void *argument)
{
    const struct text *text = argument;
    struct manifests manifests;
    struct problems problems = {.arena = arena};
    struct error error = {0};
    const struct snapshot *snapshot = NULL;
    struct simulation plan;
    manifests_init(&manifests, arena);
    /* Half of the inputs are read as --strict-files reads them. */
    manifests.strict_files = text->size % 2 != 0;
    manifests_read_from(&manifests, text_opens_with(*text, "{[") ? "f.json" : "f.yaml", *text,
                        TEXT("default"));
    for (size_t i = 0; i < manifests.problems.count; i++)
        REQUIRE(manifests.problems.items[i].what[0] != '\0');
    REQUIRE(state_load(NULL, &manifests, NULL, arena, &snapshot, &problems, &error));
    check_snapshot(snapshot);
    check_pools(snapshot);
    const struct simulation_settings settings = {.max_rounds = ROUNDS_MAX};
    if (simulation_run(snapshot, catalog, &settings, arena, &plan, &problems, &error))
        check_plan(&plan);
    else
        REQUIRE(error.what[0] != '\0');
    for (size_t i = 0; i < problems.count; i++)
        REQUIRE(problems.items[i].what[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (arena == NULL)
        begin();
    struct text text = {(const char *)data, size};
    fuzz_guarded(arena, read_all, &text);
    return 0;
}
