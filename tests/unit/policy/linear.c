/* labels: once */
/* Whatever a developer can make long costs what it is long: twice as many entries take twice the
 * memory, and four times as many, four times the processor's time. What is quadratic takes four and
 * sixteen times as much. */
#include <string.h>
#include <time.h>

#include "rail_table.h"

/* An object with one thing repeated; # is the number of the repetition. */
struct shape {
    const char *name;
    const char *before, *item, *after;
};

#define META \
    "\"metadata\": {\"name\": \"x\", \"namespace\": \"team\", \"labels\": {\"app\": \"web\"}}"
#define MAIN \
    "\"containers\": [{\"name\": \"main\", \"resources\": {\"requests\": {\"cpu\": \"1\"}}}]"
#define POD "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", " META ", \"spec\": {"
#define REQUIRED                         \
    "\"affinity\": {\"nodeAffinity\": {" \
    "\"requiredDuringSchedulingIgnoredDuringExecution\": {\"nodeSelectorTerms\": ["
#define PREFERRED                        \
    "\"affinity\": {\"nodeAffinity\": {" \
    "\"preferredDuringSchedulingIgnoredDuringExecution\": ["
#define VALUES(key, op)                                                                         \
    POD MAIN ", " REQUIRED "{\"matchExpressions\": [{\"key\": \"" key "\", \"operator\": \"" op \
             "\", \"values\": ["
#define VALUES_END "]}]}]}}}}}"
#define TERM(expression) "{\"matchExpressions\": [" expression "]}"
#define IN(key, value) "{\"key\": \"" key "\", \"operator\": \"In\", \"values\": [\"" value "\"]}"
#define NOT_IN(key, value) \
    "{\"key\": \"" key "\", \"operator\": \"NotIn\", \"values\": [\"" value "\"]}"
#define TYPE "node.kubernetes.io/instance-type"
#define ZONE "topology.kubernetes.io/zone"
#define SPREAD(key)                                                     \
    "{\"maxSkew\": 1, \"topologyKey\": \"" key                          \
    "\", \"whenUnsatisfiable\": \"DoNotSchedule\", \"labelSelector\": " \
    "{\"matchLabels\": {\"app\": \"web\"}}}"
#define BUDGET                                                                                \
    "{\"apiVersion\": \"policy/v1\", \"kind\": \"PodDisruptionBudget\", " META ", \"spec\": " \
    "{\"minAvailable\": 1, \"selector\": {\"matchExpressions\": ["
#define SET                                                                               \
    "{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\", " META                       \
    ", \"spec\": {\"replicas\": 3, \"selector\": {\"matchLabels\": {\"app\": \"web\"}}, " \
    "\"template\": {" META ", \"spec\": {"
#define POOL                                                                                  \
    "{\"apiVersion\": \"karpenter.sh/v1\", \"kind\": \"NodePool\", \"metadata\": {\"name\": " \
    "\"x\"}, \"spec\": {\"template\": "
#define POOL_SPEC                                                                      \
    POOL "{\"spec\": {\"nodeClassRef\": {\"group\": \"karpenter.k8s.aws\", \"kind\": " \
         "\"EC2NodeClass\", \"name\": \"d\"}, "
#define POOL_VALUES(key) \
    POOL_SPEC "\"requirements\": [{\"key\": \"" key "\", \"operator\": \"In\", \"values\": ["
#define OLD_POOL                                                                        \
    "{\"apiVersion\": \"karpenter.sh/v1beta1\", \"kind\": \"NodePool\", \"metadata\": " \
    "{\"name\": \"x\"}, \"spec\": {\"template\": {\"metadata\": {\"annotations\": {"
#define NODE_CLASS                                                                          \
    "{\"apiVersion\": \"karpenter.k8s.aws/v1\", \"kind\": \"EC2NodeClass\", \"metadata\": " \
    "{\"name\": \"x\"}, \"spec\": {"

static const struct shape shapes[] = {
    {"labels and spreads", POD MAIN ", \"topologySpreadConstraints\": [", SPREAD("zone"), "]}}"},
    {"spreads by own keys", POD MAIN ", \"topologySpreadConstraints\": [", SPREAD("own-#"), "]}}"},
    {"node selector", POD MAIN ", \"nodeSelector\": {", "\"own-#\": \"v\"", "}}}"},
    {"types", VALUES(TYPE, "In"), "\"t#.large\"", VALUES_END},
    {"types like others", VALUES(TYPE, "In"), "\"m5-#\"", VALUES_END},
    {"types excluded", VALUES(TYPE, "NotIn"), "\"t#.large\"", VALUES_END},
    {"families", VALUES("karpenter.k8s.aws/instance-family", "In"), "\"p#\"", VALUES_END},
    {"zones", VALUES(ZONE, "In"), "\"z#\"", VALUES_END},
    {"hosts", VALUES("kubernetes.io/hostname", "In"), "\"h#\"", VALUES_END},
    {"architectures", VALUES("kubernetes.io/arch", "In"), "\"a#\"", VALUES_END},
    {"own values", VALUES("team", "In"), "\"v#\"", VALUES_END},
    {"terms of types", POD MAIN ", " REQUIRED, TERM(IN(TYPE, "g5.xlarge")), "]}}}}}"},
    {"terms of own keys", POD MAIN ", " REQUIRED, TERM(IN("own-#", "v")), "]}}}}}"},
    {"terms of zones", POD MAIN ", " REQUIRED, TERM(NOT_IN(ZONE, "z#")), "]}}}}}"},
    {"expressions", POD MAIN ", " REQUIRED "{\"matchExpressions\": [", NOT_IN(TYPE, "t#"),
     "]}]}}}}}"},
    {"preferences", POD MAIN ", " PREFERRED,
     "{\"weight\": 1, \"preference\": " TERM(IN(TYPE, "g5.xlarge")) "}", "]}}}}"},
    {"tolerations", POD MAIN ", \"tolerations\": [", "{\"key\": \"k#\", \"operator\": \"Exists\"}",
     "]}}"},
    {"resources of 0",
     "{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\", " META
     ", \"spec\": {\"template\": {\"spec\": {\"tolerations\": [{\"key\": \"nvidia.com/a1\"}], "
     "\"containers\": [{\"name\": \"main\", \"resources\": {\"limits\": {",
     "\"nvidia.com/a#\": 0", "}}}]}}}}"},
    {"classes of devices",
     POD "\"containers\": [{\"name\": \"main\", \"resources\": {\"limits\": {",
     "\"deviceclass.resource.kubernetes.io/c#\": 9", "}}}]}}"},
    {"tolerations of accelerators", POD MAIN ", \"tolerations\": [",
     "{\"key\": \"nvidia.com/gpu\", \"operator\": \"Exists\"}", "]}}"},
    {"containers", POD "\"containers\": [", "{\"name\": \"c#\"}", "]}}"},
    {"init containers", POD MAIN ", \"initContainers\": [",
     "{\"name\": \"c#\", \"resources\": {\"limits\": {\"e.com/r#\": \"1\"}}}", "]}}"},
    {"sidecars", POD MAIN ", \"initContainers\": [",
     "{\"name\": \"c#\", \"restartPolicy\": \"Always\", \"resources\": {\"limits\": "
     "{\"e.com/r#\": \"1\"}}}",
     "]}}"},
    {"resources", POD "\"containers\": [{\"name\": \"c\", \"resources\": {\"limits\": {",
     "\"e.com/r#\": \"1\"", "}}}]}}"},
    {"accelerators", POD "\"containers\": [{\"name\": \"c\", \"resources\": {\"limits\": {",
     "\"nvidia.com/gpu#\": \"1\"", "}}}]}}"},
    {"quantities", POD "\"containers\": [{\"name\": \"c\", \"resources\": {\"requests\": {",
     "\"r#\": \"x\"", "}}}]}}"},
    {"volumes", SET MAIN ", \"volumes\": [",
     "{\"name\": \"v#\", \"persistentVolumeClaim\": {\"claimName\": \"c#\"}}", "]}}}}"},
    {"ephemeral volumes", POD MAIN ", \"volumes\": [",
     "{\"name\": \"v#\", \"ephemeral\": {\"volumeClaimTemplate\": {\"spec\": "
     "{\"storageClassName\": \"early\"}}}}",
     "]}}"},
    {"budget's expressions", BUDGET, NOT_IN("app", "v#"), "]}}}"},
    {"budget's values", BUDGET "{\"key\": \"app\", \"operator\": \"In\", \"values\": [", "\"v#\"",
     "]}]}}}"},
    {"pool's taints", POOL_SPEC "\"taints\": [", "{\"key\": \"k#\", \"effect\": \"NoSchedule\"}",
     "]}}}}"},
    {"pool's taints of accelerators",
     POOL_SPEC "\"requirements\": [{\"key\": \"karpenter.k8s.aws/instance-gpu-count\", "
               "\"operator\": \"Exists\"}], \"taints\": [",
     "{\"key\": \"k#\", \"effect\": \"NoSchedule\"}", "]}}}}"},
    {"pool's zones", POOL_VALUES(ZONE), "\"z#\"", "]}]}}}}"},
    {"pool's types", POOL_VALUES(TYPE), "\"t#.large\"", "]}]}}}}"},
    {"pool's devices", POOL_VALUES("karpenter.k8s.aws/instance-gpu-count"), "\"#\"", "]}]}}}}"},
    {"pool's own values", POOL_VALUES("team"), "\"v#\"", "]}]}}}}"},
    {"pool's requirements", POOL_SPEC "\"requirements\": [", NOT_IN(ZONE, "z#"), "]}}}}"},
    {"pool's labels", POOL "{\"metadata\": {\"labels\": {", "\"own-#\": \"v\"", "}}}}}"},
    {"pool's limits", POOL "{}, \"limits\": {", "\"r#\": \"1\"", "}}}"},
    {"old pool's annotations", OLD_POOL, "\"own-#\": \"v\"", "}}}}}"},
    {"old pool's annotations at two places", OLD_POOL "\"own\": \"v\"}}, \"annotations\": {",
     "\"own-#\": \"v\"", "}}}}"},
    {"kubelet's settings", NODE_CLASS "\"kubelet\": {", "\"k#\": \"v\"", "}}}"},
    {"kubelet's misspelt settings", NODE_CLASS "\"kubelet\": {", "\"port#\": \"v\"", "}}}"},
    {"volumes of a node", NODE_CLASS "\"blockDeviceMappings\": [", "{\"ebs\": {\"iops\": 3#}}",
     "]}}"},
    {"selector terms", NODE_CLASS "\"subnetSelectorTerms\": [", "{\"id\": \"s-#\"}", "]}}"},
    {"fields that are not there", NODE_CLASS, "\"f#\": 1", "}}"},
};

static const char rails[] =
    "topology-keys: {selfMatch: true}, node-labels: {}, placeable: {}, accelerators: {}, "
    "instance-types: {allow: {categories: [c, m, r], minGeneration: 6}}, "
    "zones: {allow: [zone-a, zone-b]}, capacity-types: {allow: [on-demand]}, zone-spread: {}, "
    "volume-binding: {}, shared-volume: {}, resource-requests: {memoryLimitEqualsRequest: true}, "
    "tolerations: {allow: [\"team=web:NoSchedule\"]}, scheduler-bypass: {}, "
    "pool-shape: {}, pool-limits: {}, node-class: {}, api-versions: {}, "
    "disruption-opt-out: {}, pod-disruption-budgets: {}, resource-claims: {max: {c1: 8}}";

/* Nodes, pools, Pods and budgets enough for a look at each to show. */
static struct text cluster(struct arena *arena)
{
    struct text_builder yaml = {.arena = arena};
    for (int i = 0; i < 60; i++)
        text_builder_printf(
            &yaml,
            "---\n{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {team: t%d,"
            " topology.kubernetes.io/zone: zone-%c, kubernetes.io/hostname: n%d}}}\n"
            "---\n{apiVersion: v1, kind: Pod, metadata: {name: p%d, namespace: team, labels: {app:"
            " a%d}}, spec: {containers: [{name: c}]}}\n",
            i, i, 'a' + i % 2, i, i, i);
    for (int i = 0; i < 6; i++)
        text_builder_printf(
            &yaml,
            "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p%d}, spec:"
            " {template: {metadata: {labels: {team: t%d}}, spec: {nodeClassRef: {group:"
            " karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: [{key:"
            " karpenter.k8s.aws/instance-category, operator: In, values: [m, g]}]}}}}\n"
            "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b%d,"
            " namespace: team}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: a%d}}}}\n",
            i, i, i, i);
    text_builder_add(&yaml, TEXT("---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass,"
                                 " metadata: {name: early}, provisioner: ebs.csi.aws.com}\n"
                                 "---\n{apiVersion: v1, kind: LimitRange, metadata: {name: l,"
                                 " namespace: team}, spec: {limits: [{type: Container, default:"
                                 " {memory: 1Gi}}]}}\n"));
    return text_builder_text(&yaml);
}

static struct text write_shape(const struct shape *shape, size_t count, struct arena *arena)
{
    struct text_builder json = {.arena = arena};
    text_builder_add(&json, text_of(shape->before));
    for (size_t i = 0; i < count; i++) {
        struct text rest = text_of(shape->item), part = TEXT("");
        text_builder_add(&json, i == 0 ? TEXT("") : TEXT(", "));
        while (text_split(rest, '#', &part, &rest))
            text_builder_printf(&json, "%.*s%zu", TEXT_ARGS(part), i);
        text_builder_add(&json, rest);
    }
    text_builder_add(&json, text_of(shape->after));
    return text_builder_text(&json);
}

struct cost {
    size_t bytes;
    double ms;
};

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Of the cheaper of two runs, since the first pays for the memory. */
static struct cost cost_of(const struct world *world, const struct shape *shape, size_t count)
{
    struct arena *arena = arena_create(SIZE_MAX);
    struct cost cost = {0};
    for (int run = 0; run < 2; run++) {
        arena_reset(arena);
        struct source source = {.text = write_shape(shape, count, arena)};
        const struct node *root = NULL;
        struct object object;
        struct error error = {0};
        CU_ASSERT_FATAL(doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error));
        CU_ASSERT_FATAL(object_read(root, NULL, TEXT("team"), arena, &object, &error));
        struct subject subject = {.operation = OPERATION_CREATE, .object = &object};
        struct verdict verdict;
        size_t before = arena_used_bytes(arena);
        double start_ms = cpu_ms();
        policy_evaluate(world, &subject, 0, arena, &verdict);
        double ms = cpu_ms() - start_ms;
        cost.ms = run == 0 || ms < cost.ms ? ms : cost.ms;
        cost.bytes = arena_used_bytes(arena) - before;
    }
    arena_destroy(arena);
    return cost;
}

static void each_shape(void (*check)(const struct world *, const struct shape *))
{
    struct arena *arena = arena_create((size_t)256 << 20);
    struct world world = rail_table_world(rails, cluster(arena).data, arena);
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        check(&world, &shapes[i]);
    arena_destroy(arena);
}

static void check_memory(const struct world *world, const struct shape *shape)
{
    enum { COUNT = 1000, FIXED_BYTES = 64 << 10 };
    struct cost once = cost_of(world, shape, COUNT),
                twice = cost_of(world, shape, (size_t)2 * COUNT);
    bool linear = twice.bytes <= once.bytes * 22 / 10 + FIXED_BYTES;
    if (!linear)
        fprintf(stderr, "%s: %zu bytes, twice as many %zu\n", shape->name, once.bytes, twice.bytes);
    CU_ASSERT_TRUE(linear);
}

static void check_time(const struct world *world, const struct shape *shape)
{
    /* A busy machine makes a run long; what grows faster than its input is long each time. */
    enum { COUNT = 1500, TRIES = 4 };
    struct cost once, fourfold;
    bool linear = false;
    for (size_t i = 0; i < TRIES && !linear; i++) {
        once = cost_of(world, shape, COUNT);
        fourfold = cost_of(world, shape, (size_t)4 * COUNT);
        linear = fourfold.ms <= 8 * once.ms + 4;
    }
    if (!linear)
        fprintf(stderr, "%s: %.1f ms, four times as many %.1f\n", shape->name, once.ms,
                fourfold.ms);
    CU_ASSERT_TRUE(linear);
}

/* What is only counted leaves nothing behind; what is kept is kept by each rail that reads it. */
static const struct {
    const char *name;
    size_t bytes; /* for one more, at most */
} light[] = {
    {"kubelet's settings", 8},        {"kubelet's misspelt settings", 8},
    {"volumes of a node", 8},         {"selector terms", 8},
    {"fields that are not there", 8}, {"pool's zones", 700},
    {"pool's devices", 700},          {"pool's own values", 700},
    {"pool's taints", 1500},          {"pool's taints of accelerators", 1500},
};

static size_t lights_met;

static void check_light(const struct world *world, const struct shape *shape)
{
    enum { COUNT = 1000 };
    for (size_t i = 0; i < COUNT_OF(light); i++) {
        if (strcmp(light[i].name, shape->name) != 0)
            continue;
        struct cost once = cost_of(world, shape, COUNT),
                    twice = cost_of(world, shape, (size_t)2 * COUNT);
        /* What ends of a block stay unused may be less of the longer one. */
        size_t bytes = twice.bytes > once.bytes ? (twice.bytes - once.bytes) / COUNT : 0;
        if (bytes > light[i].bytes)
            fprintf(stderr, "%s: %zu bytes each\n", shape->name, bytes);
        CU_ASSERT_TRUE(bytes <= light[i].bytes);
        lights_met++;
    }
}

static void what_is_not_shown_is_not_made(void)
{
    lights_met = 0;
    each_shape(check_light);
    CU_ASSERT_EQUAL(lights_met, COUNT_OF(light));
}

static void memory_grows_with_what_is_written(void)
{
    each_shape(check_memory);
}

static void time_grows_with_what_is_written(void)
{
    each_shape(check_time);
}

const char unit_suite[] = "policy linear";
const struct unit_test unit_tests[] = {
    {"memory grows with what is written", memory_grows_with_what_is_written},
    {"time grows with what is written", time_grows_with_what_is_written},
    {"what is not shown is not made", what_is_not_shown_is_not_made},
    {NULL, NULL},
};
