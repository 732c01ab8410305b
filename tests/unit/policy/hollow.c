/* Objects that lack what rails look at, or have something else there, as an API server without
 * validation and files have them: each rail sees them, alone and beside others of their sort. */
#include <stdio.h>
#include <string.h>

#include "kube/object.h"
#include "live/watch.h"
#include "policy/rail.h"
#include "rail_table.h"

/* What stands behind apiVersion, kind and metadata. */
static const char *const hollows[] = {
    "",
    ", spec: null",
    ", spec: 1",
    ", spec: []",
    ", spec: {}",
    ", status: [], rules: x, webhooks: 1, data: [], parameters: x",
    ", spec: {template: null, selector: null, jobTemplate: []}",
    ", spec: {template: {metadata: [], spec: x}, jobTemplate: {spec: {template: {spec: []}}}}",
    ", spec: {containers: {}, volumes: x, tolerations: {a: b}, nodeSelector: [a], affinity: x}",
    ", spec: {containers: [1, null, [], {}], volumes: [1, {}], tolerations: [x, {}],"
    "  affinity: {nodeAffinity: [], podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    "x}},"
    "  topologySpreadConstraints: [1, {}], initContainers: [x]}",
    ", spec: {containers: [{resources: x}, {resources: {requests: [], limits: {cpu: [], memory: "
    "-1}}}],"
    "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:"
    "    {nodeSelectorTerms: [x, {}, {matchExpressions: x}, {matchExpressions: [1, {key: a},"
    "      {key: a, operator: Of, values: [b]}, {key: [], operator: In, values: {}}]}]}}},"
    "  volumes: [{persistentVolumeClaim: x}, {ephemeral: {volumeClaimTemplate: []}}]}",
    ", spec: {template: {spec: {requirements: x, taints: x, nodeClassRef: x, expireAfter: []}},"
    "  disruption: x, limits: [], weight: x}",
    ", spec: {template: {spec: {requirements: [1, {}, {key: a, operator: x, values: 1}], taints: "
    "[1, {}]}},"
    "  disruption: {budgets: [x, {nodes: []}], consolidateAfter: 1}, limits: {cpu: x, memory: -1}}",
    ", spec: {accessModes: x, resources: {requests: x}, storageClassName: [], claimRef: x,"
    "  nodeAffinity: {required: {nodeSelectorTerms: [{}]}}, capacity: []}",
    ", spec: {minAvailable: [], maxUnavailable: x, scaleTargetRef: x, maxReplicas: x, replicas: x,"
    "  scalableRef: x, limits: x, percentage: x, podTemplateRef: 1}",
    ", spec: {amiSelectorTerms: x, blockDeviceMappings: [x, {ebs: x}], metadataOptions: x, tags: x,"
    "  kubelet: x, userData: []}",
    ", spec: {devices: {requests: [x, {exactly: x}, {name: a}]}, spec: x, selectors: x, driver: 1}",
    ", provisioner: [], allowedTopologies: [x, {matchLabelExpressions: [x, {}]}], value: x",
};

static const char *version_of(enum kind kind)
{
    const char *const *versions = kind_versions(kind);
    return versions == NULL || versions[0] == NULL ? "v1" : versions[0];
}

static const char *object_text(enum kind kind, size_t hollow, struct arena *arena)
{
    const struct kind_info *info = &kind_table[kind];
    struct text api_version = api_version_of(text_of(info->group), version_of(kind), arena);
    return arena_printf(arena, "{apiVersion: %.*s, kind: %s, metadata: {name: h%zu%s}%s}",
                        TEXT_ARGS(api_version), info->name, hollow,
                        info->namespaced ? ", namespace: default" : "", hollows[hollow])
        .data;
}

/* Kinds that stand for what policies name have no name of their own. */
static bool is_nameless(enum kind kind)
{
    return kind_table[kind].name == NULL || kind_table[kind].name[0] == '\0';
}

static const char *every_rail(struct arena *arena)
{
    struct text_builder rails = {.arena = arena};
    for (size_t i = 0; i < rail_count(); i++)
        text_builder_printf(&rails, "%s%s: {}", i == 0 ? "" : ", ", rail_name(rail_at(i)));
    return text_builder_text(&rails).data;
}

static const char *hollow_cluster(struct arena *arena)
{
    struct text_builder documents = {.arena = arena};
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        for (size_t i = 0; i < COUNT_OF(hollows) && !is_nameless(kind); i++)
            text_builder_printf(&documents, "---\n%s\n", object_text(kind, i, arena));
    return text_builder_text(&documents).data;
}

/* Of what is created each finding says something; an update of nothing is never denied. */
static void judge(const struct world *world, const char *yaml, struct arena *arena)
{
    struct rail_documents documents = rail_table_read(yaml, arena);
    struct rail_documents before = rail_table_read(yaml, arena);
    CU_ASSERT_EQUAL_FATAL(documents.count, 1);
    struct subject created = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct subject updated = {.operation = OPERATION_UPDATE,
                              .object = &documents.items[0],
                              .old_object = &before.items[0]};
    struct subject deleted = {.operation = OPERATION_DELETE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(world, &created, 0, arena, &verdict);
    for (size_t i = 0; i < verdict.finding_count; i++) {
        CU_ASSERT(verdict.findings[i].message.size > 0);
        CU_ASSERT(verdict.findings[i].problem.size > 0);
    }
    policy_evaluate(world, &updated, 0, arena, &verdict);
    if (verdict.action == ACTION_DENY)
        fprintf(stderr, "%s\n", yaml);
    CU_ASSERT(verdict.action != ACTION_DENY);
    policy_evaluate(world, &deleted, 0, arena, &verdict);
    policy_mutate(world, &created, 0, arena, &verdict);
}

static void judge_all(const char *cluster, kind_set unseen, bool blind)
{
    struct arena *lasting = arena_create((size_t)256 << 20);
    struct arena *arena = arena_create((size_t)256 << 20);
    struct world world = rail_table_world(every_rail(lasting), cluster, lasting);
    world.unseen = unseen;
    world.blind = blind;
    world.of_cluster = !blind;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        for (size_t i = 0; i < COUNT_OF(hollows) && !is_nameless(kind); i++) {
            arena_reset(arena);
            judge(&world, object_text(kind, i, arena), arena);
        }
    arena_destroy(arena);
    arena_destroy(lasting);
}

static void nothing_else_is_there(void)
{
    judge_all(NULL, 0, false);
}

static void nothing_else_is_seen(void)
{
    judge_all(NULL, ~(kind_set)0, true);
}

static void all_others_are_hollow_too(void)
{
    struct arena *arena = arena_create((size_t)16 << 20);
    judge_all(hollow_cluster(arena), 0, false);
    arena_destroy(arena);
}

const char unit_suite[] = "policy hollow objects";
const struct unit_test unit_tests[] = {
    {"nothing else is there", nothing_else_is_there},
    {"nothing else is seen", nothing_else_is_seen},
    {"all others are hollow, too", all_others_are_hollow_too},
    {NULL, NULL},
};
