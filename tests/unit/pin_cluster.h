/* The objects of a cluster with a StatefulSet "web" and its claims, in zones z0, z1, ..., each with
 * a Node and a volume. They are read once and shared by all snapshots of a test. */
#ifndef TAFFRAIL_TESTS_PIN_CLUSTER_H
#define TAFFRAIL_TESTS_PIN_CLUSTER_H

#include "rail_table.h"

struct catalog;

#define ZONE_KEY "topology.kubernetes.io/zone"

enum { MOST_ZONES = 8, MOST_REPLICAS = 40 };

/* How far the claim of an ordinal is bound; all but the first two states have a zone. */
enum phase { ABSENT, MADE, NODE_CHOSEN, VOLUME_NAMED, BOUND, PHASES };
struct claim_state {
    signed char phase, zone;
};

/* Read once for all seeds. */
static struct {
    struct arena *arena;
    const struct catalog
        *catalogs[MOST_ZONES + 1]; /* by the zone without capacity; the last: none */
    const struct supply *supplies[MOST_ZONES + 1][MOST_ZONES + 1]; /* and by the number of zones */
    const struct policy_set *policies[2];
    const struct object *pools[MOST_ZONES + 1], *classes, *nodes[MOST_ZONES], *volumes[MOST_ZONES];
    const struct object *claims[MOST_REPLICAS * 2][PHASES][MOST_ZONES];
} shared;

static const struct object *read_one(struct arena *arena, struct text yaml)
{
    struct rail_documents documents = rail_table_read(yaml.data, arena);
    CU_ASSERT_EQUAL_FATAL(documents.count, 1);
    return documents.items;
}

/* Every zone offers a type that is too small for the pods. All zones but the dead one also offer a
 * larger type. */
static const struct catalog *read_catalog(int dead_zone, struct arena *arena)
{
    struct text_builder json = {.arena = arena};
    for (int type = 0; type < 2; type++) {
        text_builder_printf(&json,
                            "%s{\"name\":\"%s\",\"architecture\":\"amd64\",\"operatingSystems\":"
                            "[\"linux\"],\"resources\":{\"cpu\":\"%d\",\"memory\":\"64Gi\","
                            "\"pods\":\"100\"},\"offerings\":[",
                            type == 0 ? "[" : ",", type == 0 ? "tiny" : "ample", type * 15 + 1);
        const char *between = "";
        for (int zone = 0; zone < MOST_ZONES; zone++) {
            if (type == 1 && zone == dead_zone)
                continue;
            text_builder_printf(&json,
                                "%s{\"Price\":1,\"Available\":true,\"Requirements\":[{\"key\":"
                                "\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":"
                                "[\"on-demand\"]},{\"key\":\"" ZONE_KEY
                                "\",\"operator\":\"In\",\"values\":[\"z%d\"]}]}",
                                between, zone);
            between = ",";
        }
        text_builder_add(&json, TEXT("]}"));
    }
    text_builder_add(&json, TEXT("]"));
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = text_builder_text(&json);
    const struct catalog *catalog = NULL;
    struct error error = {0};
    if (!catalog_read(source, arena, &catalog, &error))
        fprintf(stderr, "%s\n", error.what);
    CU_ASSERT_PTR_NOT_NULL_FATAL(catalog);
    return catalog;
}

static const struct policy_set *read_policies(const char *unbound, struct arena *arena)
{
    struct policy *policy = ARENA_NEW(arena, struct policy);
    struct policy_set *policies = ARENA_NEW(arena, struct policy_set);
    *policy = rail_table_policy(arena_printf(arena, "zone-pin: {unbound: %s}", unbound).data,
                                shared.catalogs[MOST_ZONES], arena);
    *policies = (struct policy_set){.items = policy, .count = 1};
    return policies;
}

static const struct object *read_pool(int zones, struct arena *arena)
{
    struct text_builder values = {.arena = arena};
    for (int zone = 0; zone < zones; zone++)
        text_builder_printf(&values, "%sz%d", zone == 0 ? "" : ", ", zone);
    return read_one(arena,
                    arena_printf(arena,
                                 "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: "
                                 "default}, spec: {template: {spec: {requirements: [{key: " ZONE_KEY
                                 ", operator: In, values: [%.*s]}]}}}}",
                                 TEXT_ARGS(text_builder_text(&values))));
}

static const struct object *read_claim(int ordinal, enum phase phase, int zone, struct arena *arena)
{
    const char *notes = "";
    const char *volume = "";
    if (phase == BOUND)
        notes = ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}";
    else if (phase == NODE_CHOSEN)
        notes =
            arena_printf(arena, ", annotations: {volume.kubernetes.io/selected-node: n%d}", zone)
                .data;
    if (phase >= VOLUME_NAMED)
        volume = arena_printf(arena, ", volumeName: v%d", zone).data;
    return read_one(arena,
                    arena_printf(arena,
                                 "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: "
                                 "data-web-%d%s}, spec: {accessModes: [ReadWriteOnce], "
                                 "storageClassName: wait%s}}",
                                 ordinal, notes, volume));
}

static void shared_open(void)
{
    if (shared.arena != NULL)
        return;
    struct arena *arena = shared.arena = arena_create((size_t)256 << 20);
    for (int zone = 0; zone <= MOST_ZONES; zone++) {
        shared.catalogs[zone] = read_catalog(zone, arena);
        shared.pools[zone] = read_pool(zone, arena);
    }
    shared.policies[false] = read_policies("prefer", arena);
    shared.policies[true] = read_policies("require", arena);
    shared.classes = read_one(arena, TEXT("{apiVersion: storage.k8s.io/v1, kind: StorageClass, "
                                          "metadata: {name: wait}, provisioner: ebs.csi.aws.com, "
                                          "volumeBindingMode: WaitForFirstConsumer}"));
    for (int zone = 0; zone < MOST_ZONES; zone++) {
        shared.nodes[zone] = read_one(
            arena,
            arena_printf(arena,
                         "{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {" ZONE_KEY
                         ": z%d}}}",
                         zone, zone));
        shared.volumes[zone] = read_one(
            arena,
            arena_printf(
                arena,
                "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v%d}, spec: "
                "{nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: " ZONE_KEY
                ", operator: In, values: [z%d]}]}]}}}}",
                zone, zone));
    }
}

static const struct object *claim_object(int ordinal, struct claim_state state)
{
    const struct object **kept = &shared.claims[ordinal][state.phase][state.zone];
    if (*kept == NULL)
        *kept = read_claim(ordinal, (enum phase)state.phase, state.zone, shared.arena);
    return *kept;
}

#endif
