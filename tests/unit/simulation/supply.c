/* The supply: in which zones a pod could run, which answers are cached, and which changes make
 * another supply. Whether a pod could run at all, and why not, is in
 * tests/unit/policy/placeable.c. */
#include "simulation/supply.h"

#include <pthread.h>

#include "catalog/catalog.h"
#include "simulation/supply_internal.h"

#include "cluster_fixture.h"

#define ZONE_KEY "topology.kubernetes.io/zone"
#define POOL_OF(name, spec, requirements)                                                        \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {template:" \
    " {spec: {" spec "requirements: [" requirements "]}}}}\n---\n"
#define LIMITED_POOL(name, limits, requirements)                                     \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name           \
    "}, spec: {limits: {" limits "}, template: {spec: {requirements: [" requirements \
    "]}}}}\n---\n"
#define IN_ZONES(zones) "{key: " ZONE_KEY ", operator: In, values: [" zones "]}"
#define TYPES(names) "{key: node.kubernetes.io/instance-type, operator: In, values: [" names "]}, "
#define CLASS_OF(group, name) \
    "nodeClassRef: {group: " group ", kind: EC2NodeClass, name: " name "}, "
#define NODE_OF(name, labels, cpu)                                                            \
    "{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels "}}, status: " \
    "{allocatable: {cpu: " cpu ", memory: 8Gi, pods: 20}}}\n---\n"
#define TERM(key, value) "{matchExpressions: [{key: " key ", operator: In, values: [" value "]}]}"
#define REQUIRES(terms)                                                           \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {" \
    "nodeSelectorTerms: [" terms "]}}}"
#define ASKS(cpu) "containers: [{name: main, resources: {requests: {cpu: " cpu "}}}]"

static const char *const two_pools[] = {
    POOL_OF("small", "", TYPES("m5.large") IN_ZONES("a")),
    POOL_OF("large", "", TYPES("m5.4xlarge") IN_ZONES("b")),
};

struct stage {
    struct arena *arena;
    const struct snapshot *snapshot;
    const struct supply *supply;
};

static const struct snapshot *read_cluster(struct arena *arena, const char *const *documents,
                                           size_t count)
{
    struct fixture fixture = {.arena = arena};
    return fixture_snapshot(&fixture, documents, count);
}

static struct stage open_stage(const char *const *documents, size_t count)
{
    struct stage stage = {.arena = arena_create((size_t)64 << 20)};
    stage.snapshot = read_cluster(stage.arena, documents, count);
    stage.supply = supply_create(stage.snapshot, catalog_builtin(stage.arena), NULL, false);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage.supply);
    return stage;
}

static void close_stage(struct stage *stage)
{
    supply_release(stage->supply);
    arena_destroy(stage->arena);
}

static const struct object *pod_of(struct arena *arena, const char *spec)
{
    const char *document =
        arena_printf(arena, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {%s}}", spec)
            .data;
    return snapshot_object(read_cluster(arena, &document, 1), KIND_POD, 0);
}

/* "a b" */
static struct text zones_of(const struct stage *stage, const char *spec)
{
    const struct zones zones =
        supply_zones(stage->supply, stage->snapshot, pod_of(stage->arena, spec), stage->arena);
    struct text_builder line = {.arena = stage->arena};
    text_builder_add(&line, TEXT(""));
    for (size_t i = 0; i < zones.count; i++)
        text_builder_printf(&line, "%s%.*s", i == 0 ? "" : " ", TEXT_ARGS(zones.items[i]));
    return text_builder_text(&line);
}

/* ---- zones ---- */

struct zone_case {
    const char *spec, *zones;
};

/* Twice: the second time it is remembered. */
static void check_zones(const struct stage *stage, const struct zone_case *cases, size_t count)
{
    for (size_t i = 0; i < 2 * count; i++) {
        struct text zones = zones_of(stage, cases[i % count].spec);
        if (!text_is(zones, cases[i % count].zones))
            fprintf(stderr, "%s\n", cases[i % count].spec);
        ASSERT_TEXT(zones, cases[i % count].zones);
    }
}

static void zones_are_where_a_pool_can_launch_what_holds_the_pod(void)
{
    /* m5.large has two processors, m5.4xlarge sixteen */
    static const char *const cluster[] = {
        POOL_OF("plain", "", TYPES("m5.large") IN_ZONES("a, b")),
        POOL_OF("large", "", TYPES("m5.4xlarge") IN_ZONES("c")),
        POOL_OF("tainted", "taints: [{key: team, effect: NoSchedule}], ",
                TYPES("m5.4xlarge") IN_ZONES("d")),
        POOL_OF(
            "subnets", CLASS_OF("karpenter.k8s.aws", "two"),
            TYPES("m5.large") "{key: lane, operator: In, values: [fast]}, " IN_ZONES("a, e, x")),
        "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: two}, status: "
        "{subnets: [{zone: e}, {zone: f}, {zone: e}]}}\n---\n",
        LIMITED_POOL("paused", "cpu: 0", TYPES("m5.large") IN_ZONES("g")),
        POOL_OF("graded", "taints: [{key: grade, value: '5', effect: NoSchedule}], ",
                TYPES("m5.large") IN_ZONES("i")),
        /* no zone has the empty name */
        POOL_OF("nameless", "", TYPES("m5.large") IN_ZONES("''")),
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: broken}, spec: {template: "
        "{spec: {requirements: [" IN_ZONES("h") "]}}}, status: {conditions: [{type: Ready, status: "
                                                "'False'}]}}\n---\n",
    };
    static const struct zone_case cases[] = {
        {ASKS("1"), "a b c e"},
        {ASKS("8"), "c"},
        {ASKS("80"), ""},
        {ASKS("8") ", tolerations: [{operator: Exists}]", "c d"},
        {ASKS("1") ", tolerations: [{key: grade, operator: Gt, value: '4'}]", "a b c e i"},
        {ASKS("1") ", tolerations: [{key: grade, operator: Lt, value: '4'}]", "a b c e"},
        {ASKS("1") ", tolerations: [{key: grade, operator: Equal, value: '4'}]", "a b c e"},
        {ASKS("1") ", tolerations: [{key: grade, operator: Lt, value: '6'}]", "a b c e i"},
        {ASKS("1") ", tolerations: [{key: grade, operator: Equal, value: '6'}]", "a b c e"},
        {ASKS("1") ", nodeSelector: {lane: fast}", "e"},
        {ASKS("1") ", nodeSelector: {lane: slow}", ""},
        {ASKS("1") ", nodeSelector: {karpenter.sh/nodepool: large}", "c"},
        {ASKS("1") ", " REQUIRES(TERM(ZONE_KEY, "b") ", " TERM("lane", "fast")), "b e"},
        /* its own spread and affinity, and devices, are left to others */
        {ASKS("1") ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, "
                   "whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]",
         "a b c e"},
        {ASKS("1") ", resourceClaims: [{name: gpu, resourceClaimName: gpu}]", "a b c e"},
        /* a new node has its ports free */
        {"containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}], resources: {requests: "
         "{cpu: 1}}}]",
         "a b c e"},
        {"containers: [{name: m, resources: {requests: {example.com/none: 1}}}]", ""},
        /* the API server refuses these, also for what is left to others */
        {ASKS("1") ", tolerations: [{effect: Sometimes}]", ""},
        {ASKS("1") ", topologySpreadConstraints: [{maxSkew: 0, topologyKey: rack, "
                   "whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]",
         ""},
        {ASKS("1") ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
                   "[{weight: 1, preference: {matchExpressions: [{key: lane, operator: Is}]}}]}}",
         ""},
    };
    struct stage stage = open_stage(cluster, COUNT_OF(cluster));
    check_zones(&stage, cases, COUNT_OF(cases));
    static const struct {
        const char *zone;
        bool reached;
    } zones[] = {{"a", true},  {"c", true}, {"d", true},  {"e", true},
                 {"f", false}, {"g", true}, {"h", false}, {"x", false}};
    for (size_t i = 0; i < COUNT_OF(zones); i++)
        CU_ASSERT_EQUAL(supply_reaches(stage.supply, stage.snapshot, text_of(zones[i].zone)),
                        zones[i].reached);
    close_stage(&stage);
}

/* As if it were empty: who runs there comes and goes. */
static void zones_are_where_a_node_could_hold_the_pod(void)
{
    static const char *const cluster[] = {
        NODE_OF("n1", ZONE_KEY ": a, disk: ssd", "4"),
        NODE_OF("n2", ZONE_KEY ": b", "16"),
        "{apiVersion: v1, kind: Node, metadata: {name: n3, labels: {" ZONE_KEY ": c}}, spec: "
        "{taints: [{key: team, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, memory: 8Gi, "
        "pods: 20}}}\n---\n",
        "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {template: {spec: "
        "{tolerations: [{operator: Exists}], " ASKS("1") "}}}}\n---\n",
        "{apiVersion: v1, kind: Pod, metadata: {name: fat}, spec: {nodeName: n1, " ASKS("3") "}}",
    };
    static const struct zone_case cases[] = {
        {ASKS("3"), "a b"},
        {ASKS("3500m"), "b"}, /* of four processors the DaemonSet takes one */
        {ASKS("1") ", nodeSelector: {disk: ssd}", "a"},
        {ASKS("1") ", nodeSelector: {disk: hdd}", ""},
        {ASKS("1") ", tolerations: [{key: team, operator: Exists}]", "a b c"},
    };
    struct stage stage = open_stage(cluster, COUNT_OF(cluster));
    check_zones(&stage, cases, COUNT_OF(cases));
    CU_ASSERT_TRUE(supply_reaches(stage.supply, stage.snapshot, TEXT("c")));
    CU_ASSERT_FALSE(supply_reaches(stage.supply, stage.snapshot, TEXT("d")));
    close_stage(&stage);
}

/* The types of another cloud are not known: nothing but the pool's words speaks against a pod. */
static void pools_of_another_cloud_count_by_their_words(void)
{
    static const char *const cluster[] = {
        POOL_OF("azure", CLASS_OF("karpenter.azure.com", "d"),
                "{key: lane, operator: In, values: [fast]}, " IN_ZONES("a, b")),
        POOL_OF("tainted",
                CLASS_OF("karpenter.azure.com", "d") "taints: [{key: team, effect: NoSchedule}], ",
                IN_ZONES("c")),
        NODE_OF("n1", ZONE_KEY ": d", "4"),
    };
    static const struct zone_case cases[] = {
        {ASKS("1"), "a b d"},
        {ASKS("80"), "a b"},
        {ASKS("80") ", tolerations: [{key: team, operator: Exists}]", "a b c"},
        {ASKS("1") ", nodeSelector: {lane: fast}", "a b"},
        {ASKS("1") ", nodeSelector: {lane: slow}", ""},
        {ASKS("80") ", nodeSelector: {" ZONE_KEY ": b}", "b"},
    };
    struct stage stage = open_stage(cluster, COUNT_OF(cluster));
    check_zones(&stage, cases, COUNT_OF(cases));
    close_stage(&stage);
}

/* Another cloud's NodePool that is not ready launches nothing. */
static void pools_that_are_not_ready_launch_nothing(void)
{
#define NOT_READY_IN(name, group, zone)                                                          \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {template:" \
    " {spec: {" CLASS_OF(group, "d") "requirements: [" IN_ZONES(                                 \
        zone) "]}}}, status: {conditions: [{type: Ready, status: 'False'}]}}\n---\n"
    static const char *const cluster[] = {
        POOL_OF("azure", CLASS_OF("karpenter.azure.com", "d"), IN_ZONES("a")),
        NOT_READY_IN("broken", "karpenter.azure.com", "b"),
        NODE_OF("n1", ZONE_KEY ": b", "4"),
    };
    static const struct zone_case cases[] = {{ASKS("1"), "a b"}, {ASKS("80"), "a"}};
    struct stage stage = open_stage(cluster, COUNT_OF(cluster));
    check_zones(&stage, cases, COUNT_OF(cases));
    close_stage(&stage);
}

static struct stage open_stage_of(const char *catalog_text, const char *const *documents,
                                  size_t count)
{
    struct stage stage = {.arena = arena_create((size_t)64 << 20)};
    struct source *source = ARENA_NEW(stage.arena, struct source);
    const struct catalog *catalog = NULL;
    struct error error = {0};
    source->text = text_of(catalog_text);
    CU_ASSERT_FATAL(catalog_read(source, stage.arena, &catalog, &error));
    stage.snapshot = read_cluster(stage.arena, documents, count);
    stage.supply = supply_create(stage.snapshot, catalog, NULL, false);
    CU_ASSERT_FATAL(stage.supply != NULL);
    return stage;
}

/* Which zones it knows. */
static void a_users_own_catalogue_tells_what_is_sold(void)
{
#define OWN_TYPE(name, zones)                                                                    \
    "[{\"name\": \"" name "\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], " \
    "\"resources\": {\"cpu\": \"4\", \"memory\": \"8Gi\"}, \"offerings\": [" zones "]}]"
#define OWN_IN(zone)                                                                       \
    "{\"Price\": 1, \"Available\": true, \"Requirements\": [{\"key\": "                    \
    "\"karpenter.sh/capacity-type\", \"operator\": \"In\", \"values\": [\"on-demand\"]}, " \
    "{\"key\": "                                                                           \
    "\"" ZONE_KEY "\", \"operator\": \"In\", \"values\": [\"" zone "\"]}]}"
    static const char *const cluster[] = {POOL_OF("default", "", IN_ZONES("a, x"))};
    static const struct {
        const char *catalog;
        bool reaches_a, reaches_x;
    } cases[] = {
        {OWN_TYPE("own", OWN_IN("a") ", " OWN_IN("b")), true, false},
        {OWN_TYPE("own", OWN_IN("x")), false, true},
        {OWN_TYPE("own", ""), true, true}, /* it names no zone */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct stage stage = open_stage_of(cases[i].catalog, cluster, COUNT_OF(cluster));
        CU_ASSERT_EQUAL(supply_reaches(stage.supply, stage.snapshot, TEXT("a")),
                        cases[i].reaches_a);
        CU_ASSERT_EQUAL(supply_reaches(stage.supply, stage.snapshot, TEXT("x")),
                        cases[i].reaches_x);
        close_stage(&stage);
    }
}

/* Of values that nobody has the first 64 stand for all; of zones the first 256 are known. */
static void long_lists_are_cut(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct text_builder racks = {.arena = arena}, offerings = {.arena = arena};
    for (int i = 0; i < 70; i++)
        text_builder_printf(&racks, "r%d, ", i);
    for (int i = 0; i < 300; i++)
        text_builder_printf(&offerings, "%s" OWN_IN("z%03d"), i == 0 ? "" : ", ", i);
    static const char *const cluster[] = {POOL_OF("default", "", ""),
                                          NODE_OF("n1", ZONE_KEY ": z007, disk: ssd", "16")};
    struct stage stage = open_stage_of(
        arena_printf(arena, OWN_TYPE("own", "%.*s"), TEXT_ARGS(text_builder_text(&offerings))).data,
        cluster, COUNT_OF(cluster));
#define OF_RACKS(key, more)                                              \
    arena_printf(arena, ASKS("1") ", " REQUIRES(TERM(key, "%.*s" more)), \
                 TEXT_ARGS(text_builder_text(&racks)))                   \
        .data
    const struct zone_case cases[] = {{OF_RACKS("rack", "last"), ""},
                                      {OF_RACKS("disk", "hdd"), ""},
                                      {OF_RACKS("disk", "ssd"), "z007"}};
    check_zones(&stage, cases, COUNT_OF(cases));
    const struct zones known =
        supply_zones(stage.supply, stage.snapshot, pod_of(arena, ASKS("1")), arena);
    ASSERT_INT(known.count, SUPPLY_ZONES_MAX);
    ASSERT_TEXT(known.items[SUPPLY_ZONES_MAX - 1], "z255");
    CU_ASSERT_TRUE(supply_reaches(stage.supply, stage.snapshot, TEXT("z299")));
    close_stage(&stage);
    arena_destroy(arena);
}

/* ---- whether, and why not ---- */

static int ask_whether(const struct supply *supply, const struct snapshot *snapshot,
                       const char *spec, struct arena *arena, struct text *why)
{
    struct workload workload;
    struct supply_answer answer;
    CU_ASSERT_FATAL(workload_read(pod_of(arena, spec), arena, &workload));
    const struct supply_question question = {.workload = &workload,
                                             .scheduling = pod_scheduling_read(&workload, arena)};
    supply_ask(supply, snapshot, &question, arena, &answer);
    *why = answer.reason_count > 0 ? answer.reasons[0].message : TEXT("");
    return (int)answer.kind;
}

/* Pools whose types are not known leave it open, unless they launch nothing for it. */
static void other_pools_leave_it_open(void)
{
#define LEAVING_POOL                                                                      \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: leaving, "            \
    "deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {template: {spec: {requirements: " \
    "[]}}}}\n---\n"
#define STATIC_POOL                                                                 \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: fixed}, spec: " \
    "{replicas: 3, template: {spec: {requirements: []}}}}\n---\n"
#define SMALL_POOL POOL_OF("small", "", TYPES("m5.large") IN_ZONES("a"))
#define TAINTED_POOL                                                               \
    POOL_OF("azure",                                                               \
            CLASS_OF("karpenter.azure.com",                                        \
                     "d") "taints: [{key: team, value: b, effect: NoSchedule}], ", \
            IN_ZONES("c"))
    static const struct {
        const char *pools[2];
        bool no_static;
        const char *spec;
        int kind;
        const char *why;
    } cases[] = {
        {{SMALL_POOL}, false, ASKS("1"), SUPPLY_THERE, ""},
        {{SMALL_POOL}, false, ASKS("80"), SUPPLY_NOWHERE, "needs 80 cpu"},
        {{SMALL_POOL, STATIC_POOL},
         false,
         ASKS("1") ", " REQUIRES("{}"),
         SUPPLY_NOWHERE,
         "every nodeSelectorTerm of its node affinity is empty, and an empty term selects no node"},
        /* what cannot be understood is told before */
        {{SMALL_POOL},
         false,
         ASKS("1") ", tolerations: [{key: a, operator: Is}], " REQUIRES("{}"),
         SUPPLY_UNKNOWN,
         ""},
        {{SMALL_POOL, POOL_OF("azure", CLASS_OF("karpenter.azure.com", "d"),
                              "{key: lane, operator: In, values: [fast]}")},
         false,
         ASKS("80") ", " REQUIRES("{}, " TERM("lane", "slow")),
         SUPPLY_NOWHERE,
         "asks for lane slow"},
        {{SMALL_POOL, LEAVING_POOL}, false, ASKS("80"), SUPPLY_NOWHERE, "needs 80 cpu"},
        {{SMALL_POOL, STATIC_POOL}, false, ASKS("80"), SUPPLY_UNKNOWN, ""},
        {{SMALL_POOL, STATIC_POOL}, true, ASKS("80"), SUPPLY_NOWHERE, "needs 80 cpu"},
        {{SMALL_POOL, NOT_READY_IN("broken", "karpenter.k8s.aws", "b")},
         true,
         ASKS("80"),
         SUPPLY_UNKNOWN,
         ""},
        {{SMALL_POOL, TAINTED_POOL},
         false,
         ASKS("80"),
         SUPPLY_NOWHERE,
         "does not tolerate the taint team=b:NoSchedule"},
        {{SMALL_POOL, POOL_OF("azure", CLASS_OF("karpenter.azure.com", "d"), IN_ZONES("c"))},
         false,
         ASKS("1") ", nodeSelector: {karpenter.azure.com/sku-family: D}",
         SUPPLY_UNKNOWN,
         ""},
        {{SMALL_POOL, POOL_OF("azure", CLASS_OF("karpenter.azure.com", "d"),
                              "{key: lane, operator: In, values: [fast]}")},
         false,
         ASKS("80") ", nodeSelector: {lane: slow}",
         SUPPLY_NOWHERE,
         "asks for lane slow"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        const struct karpenter_settings settings = {.no_static_capacity = cases[i].no_static};
        const struct snapshot *snapshot =
            read_cluster(arena, cases[i].pools, cases[i].pools[1] == NULL ? 1 : 2);
        const struct supply *supply =
            supply_create(snapshot, catalog_builtin(arena), &settings, false);
        struct text why;
        ASSERT_INT(ask_whether(supply, snapshot, cases[i].spec, arena, &why), cases[i].kind);
        ASSERT_TEXT(why, cases[i].why);
        supply_release(supply);
        arena_destroy(arena);
    }
}

static void of_nothing_there_is_no_supply(void)
{
    static const char *const nothing[] = {
        "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"};
    struct arena *arena = arena_create((size_t)64 << 20);
    const struct snapshot *snapshot = read_cluster(arena, nothing, 1);
    CU_ASSERT_PTR_NULL(supply_create(snapshot, catalog_builtin(arena), NULL, false));
    ASSERT_INT(supply_zones(NULL, snapshot, pod_of(arena, ASKS("1")), arena).count, 0);
    CU_ASSERT_FALSE(supply_reaches(NULL, snapshot, TEXT("a")));
    supply_release(supply_hold(NULL));
    arena_destroy(arena);
}

/* ---- memory ---- */

static void it_outlives_its_snapshot_and_is_shared(void)
{
    struct arena *kept = arena_create((size_t)64 << 20);
    struct arena *passing = arena_create((size_t)64 << 20);
    struct stage stage = {.arena = kept, .snapshot = read_cluster(kept, two_pools, 2)};
    const struct supply *supply =
        supply_create(read_cluster(passing, two_pools, 2), catalog_builtin(kept), NULL, false);
    arena_destroy(passing);
    CU_ASSERT_PTR_NOT_NULL_FATAL(supply);
    stage.supply = supply_hold(supply);
    supply_release(supply);
    ASSERT_TEXT(zones_of(&stage, ASKS("1")), "a b");
    ASSERT_TEXT(zones_of(&stage, ASKS("8")), "b");
    CU_ASSERT_TRUE(supply_bytes(stage.supply) > sizeof(struct supply));
    close_stage(&stage);
}

static bool is_remembered(const struct stage *stage, struct cache_key key)
{
    struct zone_bits bits;
    return cache_find(&stage->supply->cache, key, &bits);
}

static struct cache_key key_of(const struct stage *stage, const char *value, size_t volumes)
{
    const struct solver_label label = {"lane", value};
    const struct solver_volume volume = {0};
    const struct named_amounts requests = {0};
    const struct solver_shape shape = {
        .node_selector = {&label, 1}, .volumes = &volume, .volume_count = volumes};
    return cache_key_of(&stage->supply->cache, ASKS_ZONES, &shape, &requests);
}

/* Whoever asks without end takes others' places, and no memory. */
static void what_is_remembered_is_bounded(void)
{
    enum { MANY = 3 * CACHE_SLOTS };
    struct stage stage = open_stage(two_pools, 2);
    size_t left = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        const struct zone_bits answer = {{i, i * i, 0, 1}};
        char value[32];
        snprintf(value, sizeof value, "v%llu", (unsigned long long)i);
        struct cache_key key = key_of(&stage, value, 0);
        struct zone_bits found;
        CU_ASSERT_FALSE(is_remembered(&stage, key));
        cache_put(&stage.supply->cache, key, &answer);
        CU_ASSERT_TRUE_FATAL(cache_find(&stage.supply->cache, key, &found));
        CU_ASSERT_EQUAL(found.words[1], i * i);
        CU_ASSERT_FALSE(is_remembered(&stage, key_of(&stage, value, 1)));
    }
    for (uint64_t i = 0; i < MANY; i++) {
        char value[32];
        snprintf(value, sizeof value, "v%llu", (unsigned long long)i);
        left += is_remembered(&stage, key_of(&stage, value, 0));
    }
    CU_ASSERT_TRUE(left > CACHE_SLOTS / 2 && left <= CACHE_SLOTS);
    ASSERT_TEXT(zones_of(&stage, ASKS("8")), "b");
    close_stage(&stage);
}

/* ---- threads ---- */

struct asker {
    struct stage stage;
    size_t wrong;
};

static void *ask_often(void *argument)
{
    struct asker *asker = argument;
    for (int i = 0; i < 300; i++) {
        char spec[128];
        snprintf(spec, sizeof spec, ASKS("%d") ", nodeSelector: {" ZONE_KEY ": %s}", 1 + i % 12,
                 i % 2 == 0 ? "a" : "b");
        /* m5.large, in a, has two processors and keeps some of them. */
        const char *expected = i % 2 == 1 ? "b" : i % 12 == 0 ? "a" : "";
        asker->wrong += !text_is(zones_of(&asker->stage, spec), expected);
        arena_reset(asker->stage.arena);
    }
    return NULL;
}

/* More than there are runs. */
static void threads_are_answered_alike(void)
{
    enum { THREADS = 6 };
    struct stage stage = open_stage(two_pools, 2);
    struct asker askers[THREADS];
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        askers[i] =
            (struct asker){{arena_create((size_t)64 << 20), stage.snapshot, stage.supply}, 0};
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, ask_often, &askers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(pthread_join(threads[i], NULL), 0);
        ASSERT_INT(askers[i].wrong, 0);
        arena_destroy(askers[i].stage.arena);
    }
    close_stage(&stage);
}

/* A question that finds all runs taken makes one of its own. */
static void questions_need_not_wait(void)
{
    struct stage stage = open_stage(two_pools, 2);
    struct supply *supply = (struct supply *)(uintptr_t)stage.supply;
    for (size_t i = 0; i < SUPPLY_RUNS; i++)
        atomic_store(&supply->runs[i].taken, true);
    ASSERT_TEXT(zones_of(&stage, ASKS("8")), "b");
    for (size_t i = 0; i < SUPPLY_RUNS; i++)
        CU_ASSERT_TRUE(atomic_exchange(&supply->runs[i].taken, false));
    ASSERT_TEXT(zones_of(&stage, ASKS("1")), "a b");
    close_stage(&stage);
}

/* ---- another supply ---- */

static void only_what_can_run_pods_matters(void)
{
    struct stage stage = open_stage(two_pools, 2);
    for (enum kind kind = KIND_UNKNOWN; kind < KIND_COUNT; kind++) {
        bool matters = kind == KIND_NODE_POOL || kind == KIND_PROVISIONER ||
                       kind == KIND_EC2_NODE_CLASS || kind == KIND_NODE ||
                       kind == KIND_NODE_CLAIM || kind == KIND_DAEMON_SET ||
                       kind == KIND_LIMIT_RANGE || kind == KIND_STORAGE_CLASS;
        CU_ASSERT_EQUAL(supply_depends_on(stage.supply, stage.snapshot, kind, NULL, NULL), matters);
    }
    close_stage(&stage);
}

/* Of volumes only the zones do. */
static void volumes_matter_by_their_zones(void)
{
#define VOLUME_IN(name, zone)                                                                     \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {nodeAffinity: {" \
    "required: {nodeSelectorTerms: [" TERM(ZONE_KEY, zone) "]}}}}\n---\n"
    static const char *const cluster[] = {
        NODE_OF("n1", ZONE_KEY ": m", "4"),
        VOLUME_IN("in-a", "a"),
        VOLUME_IN("in-b", "b"),
        VOLUME_IN("in-m", "m"),
        VOLUME_IN("in-x", "x"),
    };
    static const struct {
        const char *before, *after;
        bool minds;
    } cases[] = {
        {NULL, "in-a", false},   {"in-m", NULL, false},  {NULL, "in-x", true},
        {"in-a", NULL, true},    {"in-a", "in-b", true}, {"in-a", "in-a", false},
        {"in-m", "in-a", false},
    };
    struct stage stage = open_stage(cluster, COUNT_OF(cluster) - 1); /* nothing is in x yet */
    const struct snapshot *all = read_cluster(stage.arena, cluster, COUNT_OF(cluster));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct object *sides[2] = {NULL, NULL};
        const char *const names[] = {cases[i].before, cases[i].after};
        for (size_t j = 0; j < 2; j++)
            if (names[j] != NULL)
                sides[j] = snapshot_find(all, KIND_PERSISTENT_VOLUME, TEXT(""), text_of(names[j]));
        CU_ASSERT_EQUAL(supply_depends_on(stage.supply, stage.snapshot, KIND_PERSISTENT_VOLUME,
                                          sides[0], sides[1]),
                        cases[i].minds);
    }
    close_stage(&stage);
}

const char unit_suite[] = "simulation supply";
const struct unit_test unit_tests[] = {
    {"zones are where a pool can launch what holds the pod",
     zones_are_where_a_pool_can_launch_what_holds_the_pod},
    {"zones are where a node could hold the pod", zones_are_where_a_node_could_hold_the_pod},
    {"pools of another cloud count by their words", pools_of_another_cloud_count_by_their_words},
    {"pools that are not ready launch nothing", pools_that_are_not_ready_launch_nothing},
    {"a user's own catalogue tells what is sold", a_users_own_catalogue_tells_what_is_sold},
    {"long lists are cut", long_lists_are_cut},
    {"other pools leave it open", other_pools_leave_it_open},
    {"of nothing there is no supply", of_nothing_there_is_no_supply},
    {"it outlives its snapshot and is shared", it_outlives_its_snapshot_and_is_shared},
    {"what is remembered is bounded", what_is_remembered_is_bounded},
    {"threads are answered alike", threads_are_answered_alike},
    {"questions need not wait", questions_need_not_wait},
    {"only what can run pods matters", only_what_can_run_pods_matters},
    {"volumes matter by their zones", volumes_matter_by_their_zones},
    {NULL, NULL},
};
