/* Offers that are kept up with a cluster that changes: they are what asking anew would give.
 * TAFFRAIL_SEED=N repeats a run of chance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "catalog/catalog.h"
#include "kube/karpenter.h"
#include "kube/object.h"
#include "kube/snapshot.h"
#include "pinning/warm.h"
#include "simulation/cluster.h"
#include "unit.h"

const char unit_suite[] = "kube warm";

/* ---- chance ---- */

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(state >> 33) % below;
}

static bool chance(uint32_t percent)
{
    return draw(100) < percent;
}

#define PICK(list) ((list)[draw(sizeof(list) / sizeof *(list))])

/* ---- a cluster of objects at random ---- */

static struct store *store;
static struct arena *scratch; /* of one object */

/* Of JSON text, without the outer braces and the kind. */
static void put(enum kind kind, const char *namespace, const char *name, const char *metadata,
                const char *rest)
{
    const struct kind_info *info = &kind_table[kind];
    struct source source = {
        .text = arena_printf(scratch,
                             "{\"apiVersion\":\"%s%sv1\",\"kind\":\"%s\",\"metadata\":{"
                             "\"namespace\":\"%s\",\"name\":\"%s\",\"uid\":\"u-%s\"%s}%s}",
                             info->group, *info->group == '\0' ? "" : "/", info->name, namespace,
                             name, name, metadata, rest)};
    const struct node *root = NULL;
    struct object object;
    struct error error = {0};
    if (!doc_read_json(&source, &doc_limits_review, NULL, scratch, &root, &error) ||
        !object_read(root, NULL, TEXT(""), scratch, &object, &error) || object.kind != kind) {
        fprintf(stderr, "%s\n%s\n", source.text.data, error.what);
        CU_FAIL_FATAL("the test's object is none");
    }
    CU_ASSERT_FATAL(store_put(store, &object));
    arena_reset(scratch);
}

static void take_away(enum kind kind, struct text namespace, struct text name)
{
    CU_ASSERT_FATAL(store_remove(store, kind, namespace, name));
}

/* A string made up of others. */
#define MAKE(...) (arena_printf(scratch, __VA_ARGS__).data)

static const char *const zones[] = {"a", "a", "b", "b", "c", "d"};
static const char *const apps[] = {"web", "db", "queue"};
static const char *const namespaces[] = {"red", "blue", "green"};
static const char *const keys[] = {"topology.kubernetes.io/zone", "topology.kubernetes.io/zone",
                                   "kubernetes.io/hostname", "kubernetes.io/arch"};

static const char *numbered(const char *prefix, uint32_t below)
{
    return MAKE("%s-%u", prefix, draw(below));
}

static const char *of_chance(uint32_t percent, const char *text)
{
    return chance(percent) ? text : "";
}

static const char *labels(const char *key, const char *value)
{
    return MAKE(",\"labels\":{\"%s\":\"%s\"}", key, value);
}

static const char *owned_by(const char *kind, const char *name)
{
    return MAKE(",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"%s\","
                "\"name\":\"%s\",\"uid\":\"u-%s\",\"controller\":true}]",
                kind, name, name);
}

static const char *selector(void)
{
    if (chance(10))
        return "";
    if (chance(10))
        return ",\"labelSelector\":{}";
    return MAKE(",\"labelSelector\":{\"matchLabels\":{\"app\":\"%s\"}}", PICK(apps));
}

/* One affinity or anti-affinity term. */
static const char *affinity_term(void)
{
    const char *chooses = selector();
    const char *elsewhere = "";
    if (chance(20))
        elsewhere = ",\"namespaces\":[\"red\",\"blue\"]";
    else if (chance(15))
        elsewhere = ",\"namespaceSelector\":{\"matchLabels\":{\"tier\":\"gold\"}}";
    else if (chance(10))
        elsewhere = ",\"namespaceSelector\":{\"matchLabels\":{"
                    "\"kubernetes.io/metadata.name\":\"green\"}}";
    return MAKE("{\"topologyKey\":\"%s\"%s%s}", PICK(keys), chooses, elsewhere);
}

static const char *affinity(uint32_t percent)
{
    struct text_builder out = {.arena = scratch};
    text_builder_printf(&out, ",\"affinity\":{");
    const char *comma = "";
    static const char *const kinds[] = {"podAffinity", "podAntiAffinity"};
    for (size_t i = 0; i < 2; i++)
        if (chance(percent)) {
            text_builder_printf(&out,
                                "%s\"%s\":{\"requiredDuringSchedulingIgnoredDuringExecution\":["
                                "%s]}",
                                comma, kinds[i], affinity_term());
            comma = ",";
        }
    text_builder_printf(&out, "}");
    return text_builder_text(&out).data;
}

static const char *spread(uint32_t percent)
{
    if (!chance(percent))
        return "";
    const char *chooses = selector();
    return MAKE(",\"topologySpreadConstraints\":[{\"maxSkew\":%u,\"topologyKey\":\"%s\","
                "\"whenUnsatisfiable\":\"%s\"%s%s}]",
                1 + draw(2), PICK(keys), chance(80) ? "DoNotSchedule" : "ScheduleAnyway",
                of_chance(20, ",\"minDomains\":3"), chooses);
}

static const char *containers(void)
{
    return MAKE("\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{\"cpu\":"
                "\"%u00m\"%s}}%s}]%s",
                draw(12), of_chance(5, ",\"example.com/card\":\"1\""),
                of_chance(10, ",\"ports\":[{\"hostPort\":80,\"containerPort\":80}]"),
                of_chance(20, ",\"tolerations\":[{\"operator\":\"Exists\"}]"));
}

static void change_node(void)
{
    const char *name = numbered("node", 8);
    if (chance(25)) {
        take_away(KIND_NODE, TEXT(""), text_of(name));
        return;
    }
    const char *zone = "";
    if (chance(90))
        zone = MAKE(",\"%s\":\"%s\"",
                    chance(85) ? "topology.kubernetes.io/zone"
                               : "failure-domain.beta.kubernetes.io/zone",
                    PICK(zones));
    put(KIND_NODE, "", name,
        MAKE(",\"labels\":{\"kubernetes.io/hostname\":\"%s\"%s%s%s%s}%s", name,
             of_chance(70, ",\"karpenter.sh/nodepool\":\"pool-0\""), zone,
             of_chance(50, ",\"karpenter.sh/registered\":\"true\""),
             of_chance(50, ",\"karpenter.sh/initialized\":\"true\""),
             of_chance(15, ",\"deletionTimestamp\":\"2026-11-01T00:00:00Z\"")),
        MAKE(",\"spec\":{\"providerID\":\"id-%s\"%s%s},\"status\":{\"allocatable\":{"
             "\"cpu\":\"%u\",\"pods\":\"%u\"},\"capacity\":{\"cpu\":\"8\"}}",
             name, of_chance(10, ",\"unschedulable\":true"),
             of_chance(10, ",\"taints\":[{\"key\":\"t\",\"effect\":\"NoSchedule\"}]"), draw(5),
             1 + draw(6)));
}

static void change_node_claim(void)
{
    const char *name = numbered("claim", 4);
    if (chance(30)) {
        take_away(KIND_NODE_CLAIM, TEXT(""), text_of(name));
        return;
    }
    const char *node = numbered("node", 8);
    put(KIND_NODE_CLAIM, "", name,
        MAKE(",\"labels\":{\"karpenter.sh/nodepool\":\"pool-0\","
             "\"topology.kubernetes.io/zone\":\"%s\"}%s",
             PICK(zones), of_chance(10, ",\"deletionTimestamp\":\"2026-11-01T00:00:00Z\"")),
        MAKE(",\"spec\":{},\"status\":{\"%s\":\"%s%s\"%s}", chance(60) ? "nodeName" : "providerID",
             chance(50) ? "" : "id-", node,
             of_chance(70, ",\"allocatable\":{\"cpu\":\"3\",\"pods\":\"5\"}")));
}

static void change_pod(void)
{
    const char *namespace = PICK(namespaces);
    const char *name = numbered("pod", 14);
    if (chance(25)) {
        take_away(KIND_POD, text_of(namespace), text_of(name));
        return;
    }
    const char *node = "";
    if (chance(80))
        node =
            MAKE(",\"nodeName\":\"%s\"", chance(90) ? numbered("node", 8) : numbered("claim", 4));
    const char *owner = chance(25)   ? owned_by("DaemonSet", numbered("daemon", 2))
                        : chance(15) ? owned_by("StatefulSet", numbered("set", 2))
                                     : "";
    put(KIND_POD, namespace, name,
        MAKE("%s,\"creationTimestamp\":\"2026-11-01T00:00:0%uZ\"%s%s%s", labels("app", PICK(apps)),
             draw(5), owner,
             of_chance(10, ",\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"true\"}"),
             of_chance(10, ",\"deletionTimestamp\":\"2026-11-01T00:00:00Z\"")),
        MAKE(",\"spec\":{%s%s%s%s},\"status\":{\"phase\":\"%s\"}", containers(), node, affinity(15),
             spread(10), chance(93) ? "Running" : "Succeeded"));
}

#define TEMPLATES                                                             \
    ",\"volumeClaimTemplates\":[{\"metadata\":{\"name\":\"data\"},\"spec\":{" \
    "\"storageClassName\":\"gp3\",\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}]"

static void change_set(void)
{
    const char *namespace = PICK(namespaces);
    const char *name = numbered("set", 3);
    if (chance(15)) {
        take_away(KIND_STATEFUL_SET, text_of(namespace), text_of(name));
        return;
    }
    const char *chooses = "";
    if (chance(20))
        chooses = MAKE(",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"%s\"}", PICK(zones));
    put(KIND_STATEFUL_SET, namespace, name, "",
        MAKE(",\"spec\":{\"replicas\":%u,\"template\":{\"metadata\":{\"name\":\"\"%s},\"spec\":{%s"
             "%s%s%s}}%s}",
             1 + draw(4), labels("app", PICK(apps)), containers(), chooses, affinity(25),
             spread(35), of_chance(85, TEMPLATES)));
}

static void change_daemon_set(void)
{
    const char *name = numbered("daemon", 2);
    const char *namespace = PICK(namespaces);
    if (chance(30)) {
        take_away(KIND_DAEMON_SET, text_of(namespace), text_of(name));
        return;
    }
    put(KIND_DAEMON_SET, namespace, name, "",
        MAKE(",\"spec\":{\"template\":{\"spec\":{%s}}}", containers()));
}

static void change_pool(void)
{
    const char *name = numbered("pool", 2);
    if (chance(20)) {
        take_away(KIND_NODE_POOL, TEXT(""), text_of(name));
        return;
    }
    const char *in_zone = "";
    if (chance(60))
        in_zone = MAKE("{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\","
                       "\"values\":[\"%s\"]}",
                       PICK(zones));
    put(KIND_NODE_POOL, "", name, "",
        MAKE(",\"spec\":{\"limits\":{\"cpu\":\"%u\"},\"template\":{\"spec\":{"
             "\"nodeClassRef\":{\"group\":\"karpenter.k8s.aws\",\"kind\":"
             "\"EC2NodeClass\",\"name\":\"%s\"},\"requirements\":[%s]}}}",
             8 * draw(10), chance(50) ? "c" : "unseen", in_zone));
}

/* What says in which zones things can be. */
static void change_zones(void)
{
    if (chance(30))
        put(KIND_EC2_NODE_CLASS, "", "c", "",
            MAKE(",\"status\":{\"subnets\":[{\"zone\":\"%s\"},{\"zone\":\"%s\"}]}", PICK(zones),
                 PICK(zones)));
    else if (chance(30))
        put(KIND_STORAGE_CLASS, "", "gp3", "",
            MAKE(",\"provisioner\":\"ebs.csi.aws.com\",\"volumeBindingMode\":"
                 "\"WaitForFirstConsumer\",\"allowedTopologies\":[{"
                 "\"matchLabelExpressions\":[{\"key\":\"topology.kubernetes.io/zone\","
                 "\"values\":[\"%s\"]}]}]",
                 PICK(zones)));
    else if (chance(50))
        take_away(KIND_PERSISTENT_VOLUME, TEXT(""), TEXT("volume-0"));
    else
        put(KIND_PERSISTENT_VOLUME, "", numbered("volume", 2), "",
            MAKE(",\"spec\":{\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
                 "\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\","
                 "\"operator\":\"In\",\"values\":[\"%s\"]}]}]}}}",
                 PICK(zones)));
}

static void change_namespace(void)
{
    const char *name = PICK(namespaces);
    if (chance(30))
        take_away(KIND_NAMESPACE, TEXT(""), text_of(name));
    else
        put(KIND_NAMESPACE, "", name, labels("tier", chance(50) ? "gold" : "tin"), "");
}

/* What no set is asked about, or seldom. */
static void change_other(void)
{
    const char *namespace = PICK(namespaces);
    if (chance(20))
        put(KIND_LIMIT_RANGE, namespace, "limits", "",
            MAKE(",\"spec\":{\"limits\":[{\"type\":\"Container\",\"defaultRequest\":{"
                 "\"memory\":\"%uGi\"}}]}",
                 draw(8)));
    else if (chance(50))
        put(KIND_DEPLOYMENT, namespace, numbered("web", 2), "",
            MAKE(",\"spec\":{\"replicas\":%u}", draw(4)));
    else
        put(KIND_PERSISTENT_VOLUME_CLAIM, namespace, numbered("data-set", 2), "",
            MAKE(",\"spec\":{\"storageClassName\":\"gp3\"%s}",
                 of_chance(50, ",\"volumeName\":\"volume-0\"")));
}

static void change_something(void)
{
    static const struct {
        uint32_t percent;
        void (*change)(void);
    } changes[] = {
        {60, change_pod},        {30, change_node},       {30, change_set},
        {20, change_node_claim}, {15, change_pool},       {30, change_zones},
        {30, change_namespace},  {30, change_daemon_set}, {100, change_other},
    };
    size_t i = 0;
    while (!chance(changes[i].percent))
        i++;
    changes[i].change();
    arena_reset(scratch);
}

/* ---- what the offers should be ---- */

/* "red/set-1: a b" a line. */
static struct text offers_text(const struct snapshot *snapshot, const struct pin_offers *offers,
                               struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_STATEFUL_SET); i++) {
        const struct object *set = snapshot_object(snapshot, KIND_STATEFUL_SET, i);
        const struct zones *found = pin_offers_find(offers, set);
        text_builder_printf(&out, "%.*s/%.*s:", TEXT_ARGS(set->namespace), TEXT_ARGS(set->name));
        for (size_t j = 0; found != NULL && j < found->count; j++)
            text_builder_printf(&out, " %.*s", TEXT_ARGS(found->items[j]));
        text_builder_printf(&out, "\n");
    }
    return text_builder_text(&out);
}

static struct text zones_line(const struct object *set, const struct cluster *cluster,
                              struct solver_run *run, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    struct shape_source source = {.namespace = set->namespace};
    struct pod_shape shape;
    struct solver_zones answer = {0};
    CU_ASSERT_FATAL(workload_read(set, arena, &source.workload));
    pod_shape_read(cluster->snapshot, &source, arena, &shape);
    struct solver_shape asked = shape.solver;
    struct solver_amount *items = ARENA_ARRAY(arena, shape.requests.count, struct solver_amount);
    for (size_t i = 0; i < shape.requests.count; i++)
        items[i] = (struct solver_amount){
            solver_problem_resource(cluster->problem, shape.requests.items[i].resource),
            shape.requests.items[i].quantity};
    asked.requests = (struct solver_amounts){items, shape.requests.count};
    const struct solver_question question = {.shape = &asked};
    struct error error = {0};
    if (node_count(node_at(set->root->node, "spec.volumeClaimTemplates")) > 0 &&
        shape.fault.message.size == 0)
        CU_ASSERT_FATAL(solver_query_zones(run, &question, arena, &answer, &error));
    for (size_t i = 0; i < answer.all.count; i++)
        text_builder_printf(&out, " %s", answer.all.items[i]);
    return out.size == 0 ? TEXT("") : text_builder_text(&out);
}

/* The same from the whole cluster as a forecast reads it, with its pods that wait and its claims:
 * they do not matter. */
static struct text forecast_text(const struct snapshot *snapshot, const struct catalog *catalog,
                                 struct arena *arena)
{
    struct cluster cluster;
    struct problems problems = {.arena = arena};
    struct solver_settings settings = {0};
    struct error error = {0};
    cluster_read(snapshot, catalog, arena, &cluster, &problems);
    if (!cluster_problem(&cluster, &settings, &error))
        return TEXT("refused");
    struct solver_run *run = solver_run_create(cluster.problem, arena);
    struct text_builder out = {.arena = arena};
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_STATEFUL_SET); i++) {
        const struct object *set = snapshot_object(snapshot, KIND_STATEFUL_SET, i);
        struct text line = zones_line(set, &cluster, run, arena);
        text_builder_printf(&out, "%.*s/%.*s:%.*s\n", TEXT_ARGS(set->namespace),
                            TEXT_ARGS(set->name), TEXT_ARGS(line));
    }
    return text_builder_text(&out);
}

static bool same(uint64_t seed, size_t step, const char *what, struct text actual,
                 struct text expected)
{
    bool equal = text_equal(actual, expected);
    if (!equal)
        fprintf(stderr, "TAFFRAIL_SEED=%llu, step %zu: %s\nkept up:\n%.*sasked anew:\n%.*s",
                (unsigned long long)seed, step, what, TEXT_ARGS(actual), TEXT_ARGS(expected));
    CU_ASSERT(equal);
    return equal;
}

/* ---- tests ---- */

#define TYPE(name, cpu)                                                                         \
    "{\"name\": \"" name "\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], " \
    "\"resources\": {\"cpu\": \"" cpu                                                           \
    "\", \"memory\": \"8Gi\", \"pods\": \"8\"}, \"offerings\": [" OFFER("a") ", " OFFER(        \
        "b") ", " OFFER("c") "]}"
#define OFFER(zone)                                                                             \
    "{\"Price\": 0.1, \"Available\": true, \"Requirements\": [{\"key\": "                       \
    "\"karpenter.sh/capacity-type\", \"operator\": \"In\", \"values\": [\"spot\"]}, {\"key\": " \
    "\"topology.kubernetes.io/zone\", \"operator\": \"In\", \"values\": [\"" zone "\"]}]}"

static const struct catalog *own_catalog(struct arena *arena)
{
    static const char types[] = "[" TYPE("small", "2") ", " TYPE("large", "8") "]";
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = text_of(types);
    const struct catalog *catalog = NULL;
    struct error error = {0};
    if (!catalog_read(source, arena, &catalog, &error))
        fprintf(stderr, "%s\n", error.what);
    CU_ASSERT_PTR_NOT_NULL_FATAL(catalog);
    return catalog;
}

struct count {
    size_t steps, shared, changed;
};

/* A cluster that changes; now and then versions and offers are held for longer. */
static bool run_seed(uint64_t seed, const struct catalog *catalog, size_t steps,
                     size_t most_changes, struct count *count)
{
    enum { HELD = 4 };
    const struct snapshot *snapshots[HELD] = {NULL};
    const struct pin_offers *offers[HELD] = {NULL};
    struct warm *warm = warm_create();
    bool good = true;
    state = seed;
    store = store_create();
    scratch = arena_create((size_t)16 << 20);
    for (size_t i = 0; i < 60; i++)
        change_something();
    for (size_t step = 0; step < steps && good; step++) {
        struct store_changes changes;
        struct arena *arena = arena_create((size_t)512 << 20);
        size_t at = step % HELD;
        for (size_t i = 1 + draw((uint32_t)most_changes); i > 0; i--)
            change_something();
        const struct snapshot *snapshot = store_version(store, &changes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(snapshot);
        const struct pin_offers *next =
            warm_next(warm, snapshot, step == 0 ? NULL : &changes, catalog, NULL);
        struct text kept_up = offers_text(snapshot, next, arena);
        good =
            same(seed, step, "anew", kept_up,
                 offers_text(snapshot, pin_offers_create(snapshot, catalog, NULL, arena), arena)) &&
            same(seed, step, "a whole cluster", kept_up, forecast_text(snapshot, catalog, arena));
        count->steps++;
        count->shared += next == offers[(step + HELD - 1) % HELD];
        if (chance(5))
            (void)warm_tidy(warm, snapshot);
        if (snapshots[at] != NULL)
            store_release(store, snapshots[at]);
        pin_offers_release(offers[at]);
        snapshots[at] = snapshot;
        offers[at] = next;
        arena_destroy(arena);
    }
    warm_destroy(warm); /* before what is still held */
    for (size_t i = 0; i < HELD; i++) {
        if (snapshots[i] != NULL)
            store_release(store, snapshots[i]);
        pin_offers_release(offers[i]);
    }
    store_destroy(store);
    arena_destroy(scratch);
    return good;
}

static void run_seeds(const struct catalog *catalog, size_t seeds, size_t steps)
{
    const char *given = getenv("TAFFRAIL_SEED");
    uint64_t first = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    struct count count = {0};
    printf("\n  from TAFFRAIL_SEED=%llu ", (unsigned long long)first);
    for (size_t i = 0; i < (given != NULL ? 1 : seeds); i++)
        if (!run_seed(first + i, catalog, steps, 1 + i % 6, &count))
            break;
    printf("%zu steps, %zu of which changed no offer ", count.steps, count.shared);
}

static void offers_kept_up_are_those_asked_anew(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    run_seeds(own_catalog(arena), 120, 40);
    arena_destroy(arena);
}

static void so_they_are_where_every_zone_sells_all(void)
{
    struct arena *arena = arena_create((size_t)256 << 20);
    run_seeds(catalog_builtin(arena), 3, 15);
    arena_destroy(arena);
}

/* The built-in catalogue sells everything in every zone that something names. */
static void a_zone_counts_as_long_as_something_names_it(void)
{
#define IN_ZONE(zone)                                                                          \
    "{\"matchLabelExpressions\":[{\"key\":\"topology.kubernetes.io/zone\",\"values\":[\"" zone \
    "\"]}]}"
#define VOLUME_IN(zone)                                                                          \
    ",\"spec\":{\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{" \
    "\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"" zone "\"]}]}]}}}"
#define NODE_IN(zone) ",\"labels\":{\"topology.kubernetes.io/zone\":\"" zone "\"}"
    static const struct {
        enum kind kind;
        const char *name, *metadata, *rest; /* rest NULL: it goes */
        const char *zones;
    } steps[] = {
        {KIND_NODE, "n", NODE_IN("a"), "", " a"},
        {KIND_NODE, "m", NODE_IN("b"), "", " a b"},
        {KIND_PERSISTENT_VOLUME, "v", "", VOLUME_IN("b"), " a b"},
        {KIND_PERSISTENT_VOLUME, "w", "", VOLUME_IN("c"), " a b c"},
        {KIND_NODE, "m", "", NULL, " a b c"},
        {KIND_PERSISTENT_VOLUME, "v", "", NULL, " a c"},
        {KIND_PERSISTENT_VOLUME, "w", "", VOLUME_IN("b"), " a b"},
        {KIND_STORAGE_CLASS, "s", "",
         ",\"provisioner\":\"p\",\"allowedTopologies\":[" IN_ZONE("d") "]", " a b d"},
        {KIND_STORAGE_CLASS, "s", "", NULL, " a b"},
        {KIND_NODE, "n", NODE_IN("e"), "", " b e"},
    };
    struct arena *arena = arena_create((size_t)256 << 20);
    const struct catalog *catalog = catalog_builtin(arena);
    struct warm *warm = warm_create();
    struct store_changes changes;
    store = store_create();
    scratch = arena_create((size_t)16 << 20);
    put(KIND_NODE_POOL, "", "pool", "",
        ",\"spec\":{\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":\"karpenter.k8s.aws\","
        "\"kind\":\"EC2NodeClass\",\"name\":\"c\"},\"requirements\":[]}}}");
    put(KIND_STATEFUL_SET, "red", "set", "",
        ",\"spec\":{\"template\":{\"spec\":{\"containers\":[]}}" TEMPLATES "}");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i].rest == NULL)
            take_away(steps[i].kind, TEXT(""), text_of(steps[i].name));
        else
            put(steps[i].kind, "", steps[i].name, steps[i].metadata, steps[i].rest);
        const struct snapshot *snapshot = store_version(store, &changes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(snapshot);
        const struct pin_offers *offers = warm_next(warm, snapshot, &changes, catalog, NULL);
        ASSERT_TEXT(offers_text(snapshot, offers, arena),
                    arena_printf(arena, "red/set:%s\n", steps[i].zones).data);
        pin_offers_release(offers);
        store_release(store, snapshot);
    }
    warm_destroy(warm);
    store_destroy(store);
    arena_destroy(scratch);
    arena_destroy(arena);
}

/* A reload may say something else of how Karpenter is set, while the cluster stays. */
static void other_settings_make_other_offers(void)
{
    static const struct karpenter_settings unset;
    static const struct karpenter_settings no_reserved = {.no_reserved_capacity = true};
    static const struct karpenter_settings best_effort = {.best_effort_min_values = true};
    /* Zone a has reserved machines alone, b one family where two are asked for. */
    static const struct {
        const struct karpenter_settings *settings;
        const char *zones;
    } steps[] = {
        {NULL, " a"},       {&unset, " a"},         {&no_reserved, ""},
        {&no_reserved, ""}, {&best_effort, " a b"}, {NULL, " a"},
    };
#define POOL_IN(zone, more)                                                                 \
    ",\"spec\":{\"template\":{\"spec\":{\"nodeClassRef\":{\"group\":\"karpenter.k8s.aws\"," \
    "\"kind\":\"EC2NodeClass\",\"name\":\"c\"},\"requirements\":[{\"key\":"                 \
    "\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"" zone "\"]}," more "]}}}"
    struct arena *arena = arena_create((size_t)256 << 20);
    const struct catalog *catalog = catalog_builtin(arena);
    struct warm *warm = warm_create();
    struct store_changes changes;
    store = store_create();
    scratch = arena_create((size_t)16 << 20);
    put(KIND_NODE_POOL, "", "reserved", "",
        POOL_IN("a", "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":"
                     "[\"reserved\"]}"));
    put(KIND_NODE_POOL, "", "diverse", "",
        POOL_IN("b", "{\"key\":\"karpenter.k8s.aws/instance-family\",\"operator\":\"In\","
                     "\"values\":[\"m5\",\"t3\"],\"minValues\":2}"));
    put(KIND_EC2_NODE_CLASS, "", "c", "",
        ",\"spec\":{\"capacityReservationSelectorTerms\":[{\"id\":\"cr-1\"}]},\"status\":{"
        "\"capacityReservations\":[{\"id\":\"cr-1\",\"instanceType\":\"m5.large\","
        "\"availabilityZone\":\"a\",\"state\":\"active\",\"reservationType\":\"default\"}]}");
    put(KIND_STATEFUL_SET, "red", "set", "",
        ",\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":{\"karpenter.k8s.aws/instance-family\""
        ":\"m5\"},\"containers\":[]}}" TEMPLATES "}");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct snapshot *snapshot = store_version(store, &changes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(snapshot);
        const struct pin_offers *offers =
            warm_next(warm, snapshot, &changes, catalog, steps[i].settings);
        ASSERT_TEXT(offers_text(snapshot, offers, arena),
                    arena_printf(arena, "red/set:%s\n", steps[i].zones).data);
        pin_offers_release(offers);
        store_release(store, snapshot);
    }
    warm_destroy(warm);
    store_destroy(store);
    arena_destroy(scratch);
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"offers kept up are those asked anew", offers_kept_up_are_those_asked_anew},
    {"so they are where every zone sells all", so_they_are_where_every_zone_sells_all},
    {"a zone counts as long as something names it", a_zone_counts_as_long_as_something_names_it},
    {"other settings make other offers", other_settings_make_other_offers},
    {NULL, NULL},
};
