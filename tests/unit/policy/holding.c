/* What holds for an object: how strict each rail is with it, and who says so. */
#include "policy/holding.h"
#include "rail_table.h"

enum { NOW = 1795230245 }; /* 2026-11-21 */

#define POD "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}}"
#define OLD_DEPLOYMENT                                                              \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: shop, " \
    "creationTimestamp: '2025-01-01T00:00:00Z'}}"
#define REPLICA_SET                                                                                \
    "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a-1, namespace: shop, "              \
    "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: a, uid: u, controller: true}" \
    "]}}"
#define RAY "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: a, namespace: shop}}"
#define KEYS "rails: {topology-keys: {}}"
#define EX(more) "exceptions: [{id: e, rails: [topology-keys], " more "}], "

static struct text told(const struct policy_holding *holding, struct arena *arena)
{
    static const char *const sources[] = {[MODE_OF_RAIL] = "rail",
                                          [MODE_OF_POLICY] = "policy",
                                          [MODE_BY_DEFAULT] = "default",
                                          [MODE_OF_WARN_RAIL] = "warns"};
    struct text_builder lines = {.arena = arena};
    for (size_t i = 0; i < holding->rail_count; i++) {
        const struct rail_holding *rail = &holding->rails[i];
        text_builder_printf(&lines, "%s %s %s%s%s; ", rail->use->rail->name,
                            sources[rail->mode_source], action_name(rail->action),
                            rail->unknown ? " unknown" : "",
                            rail->exception == NULL ? "" : " by exception");
    }
    text_builder_printf(&lines, "%zu others", holding->other_rails);
    return text_builder_text(&lines);
}

static void rails_hold_as_the_policy_says(void)
{
    static const struct {
        const char *spec, *object;
        bool existing;
        const char *held;
    } rows[] = {
        /* who says the mode */
        {KEYS, POD, false, "topology-keys default audit; 0 others"},
        {"mode: enforce, " KEYS, POD, false, "topology-keys policy deny; 0 others"},
        {"mode: enforce, rails: {topology-keys: {mode: warn}}", POD, false,
         "topology-keys rail warn; 0 others"},
        {"mode: off, " KEYS, POD, false, "topology-keys policy none; 0 others"},
        {"mode: enforce, rails: {placeable: {}}", POD, false, "placeable warns warn; 0 others"},
        {"rails: {placeable: {}}", POD, false, "placeable warns warn; 0 others"},
        {"mode: off, rails: {placeable: {}}", POD, false, "placeable policy none; 0 others"},
        {"mode: enforce, rails: {placeable: {mode: enforce}}", POD, false,
         "placeable rail deny; 0 others"},
        /* what makes it less */
        {"mode: enforce, since: 2026-01-01, " KEYS, OLD_DEPLOYMENT, true,
         "topology-keys policy warn; 0 others"},
        {"mode: enforce, since: 2024-01-01, " KEYS, OLD_DEPLOYMENT, true,
         "topology-keys policy deny; 0 others"},
        {"mode: enforce, " KEYS, REPLICA_SET, true, "topology-keys policy audit; 0 others"},
        {"mode: warn, " KEYS, REPLICA_SET, true, "topology-keys policy warn; 0 others"},
        {"mode: enforce, " EX("expires: 2027-01-01") KEYS, POD, false,
         "topology-keys policy excepted by exception; 0 others"},
        {"mode: enforce, " EX("expires: 2026-01-01") KEYS, POD, false,
         "topology-keys policy deny by exception; 0 others"},
        {"mode: off, " EX("expires: 2027-01-01") KEYS, POD, false,
         "topology-keys policy none by exception; 0 others"},
        /* labels of a namespace that is not seen */
        {"mode: enforce, " EX(
             "expires: 2027-01-01, match: {namespaceSelector: {matchLabels: {a: b}}}") KEYS,
         POD, false, "topology-keys policy deny unknown; 0 others"},
        {"mode: enforce, match: {namespaceSelector: {matchLabels: {a: b}}}, " KEYS, POD, false,
         "topology-keys policy deny unknown; 0 others"},
        /* rails that do not judge such objects */
        {"mode: enforce, rails: {topology-keys: {}, pool-shape: {}}", POD, false,
         "topology-keys policy deny; 1 others"},
        {"mode: enforce, " KEYS, RAY, false, "1 others"},
        {"mode: enforce, podTemplates: [{group: ray.io, kind: RayCluster, paths: [spec.template]}],"
         " rails: {topology-keys: {}, pool-shape: {}}",
         RAY, false, "topology-keys policy deny; 1 others"},
        {"mode: enforce, match: {namespaces: [other]}, " KEYS, POD, false, "0 others"},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    const struct catalog *catalog = catalog_builtin(arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct policy policy = rail_table_read_policy(
            arena_printf(arena,
                         "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: "
                         "p}, spec: {%s}}",
                         rows[i].spec),
            catalog, arena);
        const struct policy_set set = {.items = &policy, .count = 1};
        const struct world world = {.policies = &set,
                                    .snapshot = snapshot_build(snapshot_builder_create(arena)),
                                    .catalog = catalog};
        struct rail_documents documents = rail_table_read(rows[i].object, arena);
        const struct subject subject = {.operation = OPERATION_CREATE,
                                        .object = &documents.items[0],
                                        .existing = rows[i].existing};
        struct object_holding holding;
        holding_find(&world, &subject, NOW, arena, &holding);
        CU_ASSERT_EQUAL_FATAL(holding.policy_count, 1);
        struct text held = told(&holding.policies[0], arena);
        if (!text_is(held, rows[i].held))
            fprintf(stderr, "%s\n", rows[i].spec);
        ASSERT_TEXT(held, rows[i].held);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy holding";
const struct unit_test unit_tests[] = {
    {"rails hold as the policy says", rails_hold_as_the_policy_says},
    {NULL, NULL},
};
