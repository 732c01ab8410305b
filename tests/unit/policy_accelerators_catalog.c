/* The rail accelerators with the user's own catalogue: another cloud's pools are judged by the
 * types that it describes. */
#include "rail_modes.h"

#define OFFERINGS                                                                          \
    "\"offerings\": [{\"Price\": 1, \"Available\": true, \"Requirements\": [{\"key\": "    \
    "\"karpenter.sh/capacity-type\", \"operator\": \"In\", \"values\": [\"on-demand\"]}, " \
    "{\"key\": \"topology.kubernetes.io/zone\", \"operator\": \"In\", \"values\": [\"a\"]}]}]"
#define TYPE(name, resources)                                                                   \
    "{\"name\": \"" name "\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], " \
    "\"resources\": {\"cpu\": \"4\", \"memory\": \"16Gi\"" resources "}, " OFFERINGS "}"

/* The first and the last carry one. */
static const char types[] = "[" TYPE("a100", ", \"nvidia.com/gpu\": \"8\"") ", " TYPE(
    "general", "") ", " TYPE("mi300", ", \"amd.com/gpu\": \"8\"") "]";

static struct world world_of(const char *rails, const char *cluster, struct arena *arena)
{
    struct world world = rail_table_world(rails, cluster, arena);
    struct source *source = ARENA_NEW(arena, struct source);
    source->file = "types.json";
    source->text = text_of(types);
    struct error error = {0};
    bool good = catalog_read(source, arena, &world.catalog, &error);
    if (!good)
        fprintf(stderr, "%s\n", error.what);
    CU_ASSERT_FATAL(good);
    struct policy *policy = ARENA_NEW(arena, struct policy);
    struct policy_set *policies = ARENA_NEW(arena, struct policy_set);
    *policy = rail_table_policy(rails, world.catalog, arena);
    *policies = *world.policies;
    policies->items = policy;
    world.policies = policies;
    return world;
}

#define POOL(name, limits, types, more)                                                         \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {limits: " \
    "{" limits "}, template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: "         \
    "AKSNodeClass, name: a}, requirements: [" types "]" more "}}}}\n"
#define OF(types) "{key: node.kubernetes.io/instance-type, operator: In, values: [" types "]}"
#define TAINTED ", taints: [{key: a, effect: NoSchedule}]"
#define ASKS(resource)                                                                           \
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, resources: " \
    "{limits: {" resource ": 1}}}]}}"

static void pools(void)
{
    static const char untainted[] = "deny spec.template.spec.taints ";
    static const struct rail_case cases[] = {
        {POOL("p", "cpu: 1", OF("a100"), ""), untainted},
        {POOL("p", "cpu: 1", OF("mi300"), ""), untainted},
        {POOL("p", "cpu: 1", OF("general"), ""), ""},
        {POOL("p", "cpu: 1", OF("general, mi300"), ""), untainted},
        {POOL("p", "cpu: 1", "", ""), "warn spec.template.spec.requirements a100, mi300"},
        {POOL("p", "cpu: 1", OF("unheard-of"), ""), ""},
    };
    static const struct rail_case limited[] = {
        {POOL("p", "nvidia.com/gpu: 8", OF("a100"), TAINTED), ""},
        {POOL("p", "nvidia.com/gpu: 8", OF("mi300"), TAINTED), "deny spec.limits "},
        {POOL("p", "amd.com/gpu: 8", OF("mi300"), TAINTED), ""},
        {POOL("p", "amd.com/gpu: 8", OF("a100, mi300"), TAINTED), "deny spec.limits "},
    };
    static const struct rail_words words[] = {
        {POOL("p", "cpu: 1", "", ""),
         "2 of the 3 instance types it can launch carry accelerators: a100, mi300",
         "add to spec.template.spec.requirements: [{key: node.kubernetes.io/instance-type, "
         "operator: NotIn, values: [a100, mi300]}]; or name the accelerators it is for, then taint "
         "and limit it"},
        {POOL("p", "cpu: 1", OF("mi300"), ""),
         "no NoSchedule or NoExecute taint: any pod may take a place on these accelerator nodes",
         "add to spec.template.spec.taints: [{key: amd.com/gpu, value: \"true\", effect: "
         "NoSchedule}]"},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = world_of("accelerators: {}", NULL, arena);
    rail_table_run_in(&world, &(struct rail_table){.cases = cases, .case_count = COUNT_OF(cases)},
                      arena);
    rail_words_run_in(&world, words, COUNT_OF(words), arena);
    world = world_of("accelerators: {requireLimits: accelerator}", NULL, arena);
    rail_table_run_in(
        &world, &(struct rail_table){.cases = limited, .case_count = COUNT_OF(limited)}, arena);
    arena_destroy(arena);
}

static void pods(void)
{
    static const struct rail_case cases[] = {
        {ASKS("nvidia.com/gpu"), "deny spec.tolerations nvidia.com/gpu"},
        {ASKS("amd.com/gpu"), ""}, /* no pool has them */
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world =
        world_of("accelerators: {}", POOL("gpu", "", OF("a100, general"), TAINTED), arena);
    rail_table_run_in(&world, &(struct rail_table){.cases = cases, .case_count = COUNT_OF(cases)},
                      arena);
    arena_destroy(arena);
}

const char unit_suite[] = "policy accelerators: the user's own catalogue";
const struct unit_test unit_tests[] = {
    {"pools", pools},
    {"pods", pods},
    {NULL, NULL},
};
