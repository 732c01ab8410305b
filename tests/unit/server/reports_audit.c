/* What an audit keeps of the objects that it judges, by namespace, and what it counts. */
#include "object_fixture.h"
#include "server/reports.h"
#include "world_of_text.h"

const char unit_suite[] = "server/reports audit";

enum { NOW_S = 1795230245, PLENTY = 16 << 20 };

static struct arena *arena;
static struct world *world;
static struct reports_audit *audit;

static void begin(const char *rails, size_t bytes)
{
    char policy[1024];
    snprintf(policy, sizeof policy,
             "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: p}, spec: "
             "{mode: enforce, rails: {%s}}}\n",
             rails);
    arena = arena_create(32 << 20);
    world = world_of_text(policy, (struct world_options){0}, 1, NOW_S);
    audit = reports_audit_create(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(audit);
    reports_audit_begin(audit, NOW_S);
}

static void end(void)
{
    reports_audit_destroy(audit);
    world_destroy(world);
    arena_destroy(arena);
}

static void put(const char *yaml)
{
    reports_audit_put(audit, world, fixture_object(arena, yaml, "shop"));
}

#define SPEC(key) "{topologySpreadConstraints: [{topologyKey: " key "}]}"
#define POD(metadata, key) \
    "{apiVersion: v1, kind: Pod, metadata: {" metadata "}, spec: " SPEC(key) "}"
#define MADE_OF(kind, name) \
    "ownerReferences: [{apiVersion: apps/v1, kind: " kind ", name: " name ", controller: true}]"
#define MAKER(kind, metadata, key)                               \
    "{apiVersion: apps/v1, kind: " kind ", metadata: {" metadata \
    "}, spec: {replicas: 1, template: {spec: " SPEC(key) "}}}"

static struct report_space space(size_t index, size_t results_max)
{
    CU_ASSERT_FATAL(index < reports_audit_space_count(audit));
    return reports_audit_space(audit, index, results_max, arena);
}

static size_t found_by(const char *rail, enum audit_outcome outcome)
{
    struct reports_audit_sums sums = reports_audit_sums(audit);
    for (size_t i = 0; i < rail_count(); i++)
        if (strcmp(rail_name(rail_at(i)), rail) == 0)
            return sums.of[i][outcome];
    CU_FAIL_FATAL("no such rail");
    return 0;
}

static void findings_are_kept_by_namespace(void)
{
    begin("topology-keys: {}", PLENTY);
    put(POD("name: a, uid: u-1", "zone"));
    put(POD("name: b", "topology.kubernetes.io/zone"));
    put(POD("name: c, namespace: web", "zone"));
    put(MAKER("Deployment", "name: d", "hostname"));
    struct reports_audit_sums sums = reports_audit_sums(audit);
    ASSERT_INT(sums.object_count, 4);
    ASSERT_INT(sums.finding_count, 3);
    ASSERT_INT(sums.unjudged_count, 0);
    ASSERT_INT(sums.lost, 0);
    ASSERT_INT(found_by("topology-keys", AUDIT_DENIED), 3);
    ASSERT_INT(found_by("topology-keys", AUDIT_WARNED), 0);
    ASSERT_INT(found_by("zones", AUDIT_DENIED), 0);

    ASSERT_INT(reports_audit_space_count(audit), 2);
    struct report_space shop = space(0, 10), web = space(1, 10);
    ASSERT_TEXT(shop.namespace, "shop");
    ASSERT_INT(shop.result_count, 2);
    ASSERT_INT(shop.left_out, 0);
    ASSERT_INT(shop.counts.of[AUDIT_DENIED], 2);
    ASSERT_INT(shop.counts.of[AUDIT_WARNED], 0);
    ASSERT_TEXT(web.namespace, "web");
    ASSERT_INT(web.result_count, 1);
    const struct node *resource = node_item(node_get(&shop.results[0], "resources"), 0);
    ASSERT_TEXT(node_string(node_get(resource, "kind")), "Pod");
    ASSERT_TEXT(node_string(node_get(resource, "name")), "a");
    ASSERT_TEXT(node_string(node_get(resource, "uid")), "u-1");
    ASSERT_TEXT(node_string(node_get(&shop.results[0], "rule")), "topology-keys");
    ASSERT_TEXT(node_string(node_get(&shop.results[0], "policy")), "p");
    ASSERT_TEXT(node_string(node_get(&shop.results[0], "result")), "fail");
    resource = node_item(node_get(&shop.results[1], "resources"), 0);
    ASSERT_TEXT(node_string(node_get(resource, "kind")), "Deployment");

    /* The next one knows nothing of it. */
    reports_audit_begin(audit, NOW_S);
    sums = reports_audit_sums(audit);
    ASSERT_INT(sums.object_count, 0);
    ASSERT_INT(sums.finding_count, 0);
    ASSERT_INT(reports_audit_space_count(audit), 0);
    ASSERT_INT(found_by("topology-keys", AUDIT_DENIED), 0);
    end();
}

static void what_is_made_of_an_owner_is_not_said_again(void)
{
    static const struct {
        const char *objects[3];
        size_t findings;
    } cases[] = {
        {{MAKER("Deployment", "name: web", "zone"),
          MAKER("ReplicaSet", "name: web-1, " MADE_OF("Deployment", "web"), "zone"),
          POD("name: web-1-a, " MADE_OF("ReplicaSet", "web-1"), "zone")},
         1},
        /* another mistake is another finding */
        {{MAKER("Deployment", "name: web", "zone"),
          MAKER("ReplicaSet", "name: web-1, " MADE_OF("Deployment", "web"), "hostname")},
         2},
        /* of another namespace, and of another name, it is another owner */
        {{MAKER("ReplicaSet", "name: web-1, namespace: other", "zone"),
          POD("name: a, " MADE_OF("ReplicaSet", "web-1"), "zone")},
         2},
        {{MAKER("ReplicaSet", "name: web-1", "zone"),
          POD("name: a, " MADE_OF("ReplicaSet", "web-2"), "zone")},
         2},
        {{MAKER("StatefulSet", "name: web-1", "zone"),
          POD("name: a, " MADE_OF("ReplicaSet", "web-1"), "zone")},
         2},
        /* made anew under its old name */
        {{MAKER("ReplicaSet", "name: web-1, uid: u-2", "zone"),
          POD("name: a, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, "
              "uid: u-1, controller: true}]",
              "zone")},
         2},
        /* Pods make nothing */
        {{POD("name: a", "zone"),
          POD("name: b, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, controller: true}]",
              "zone")},
         2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin("topology-keys: {}", PLENTY);
        for (size_t j = 0; j < COUNT_OF(cases[i].objects) && cases[i].objects[j] != NULL; j++)
            put(cases[i].objects[j]);
        ASSERT_INT(reports_audit_sums(audit).finding_count, cases[i].findings);
        end();
    }
}

/* They are counted among the objects, and nothing is said of them. */
static void what_has_ended_breaks_nothing(void)
{
    static const char *const objects[] = {
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, status: {phase: Succeeded}, "
        "spec: " SPEC("zone") "}",
        POD("name: b, deletionTimestamp: '2026-11-01T00:00:00Z'", "zone"),
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: old, " MADE_OF(
            "Deployment", "web") "}, spec: {replicas: 0, template: {spec: " SPEC("zone") "}}}",
    };
    begin("topology-keys: {}", PLENTY);
    for (size_t i = 0; i < COUNT_OF(objects); i++)
        put(objects[i]);
    ASSERT_INT(reports_audit_sums(audit).object_count, COUNT_OF(objects));
    ASSERT_INT(reports_audit_sums(audit).finding_count, 0);
    ASSERT_INT(reports_audit_space_count(audit), 0);
    end();
}

/* A report has at most so many; the rest is only counted. */
static void a_report_has_so_many_results(void)
{
    enum { MANY = REPORT_RESULTS_MAX + 3 };
    static const struct {
        size_t results_max, results;
    } cases[] = {{MANY, REPORT_RESULTS_MAX},
                 {REPORT_RESULTS_MAX, REPORT_RESULTS_MAX},
                 {7, 7},
                 {1, 1},
                 {0, 0}};
    begin("topology-keys: {}", PLENTY);
    for (size_t i = 0; i < MANY; i++)
        put(arena_printf(arena, POD("name: pod-%zu", "zone"), i).data);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct report_space shop = space(0, cases[i].results_max);
        ASSERT_INT(shop.result_count, cases[i].results);
        ASSERT_INT(shop.left_out, MANY - cases[i].results);
        ASSERT_INT(shop.counts.of[AUDIT_DENIED], MANY);
    }
    end();
}

/* etcd takes 1.5 MB of an object. */
static void a_report_has_so_many_bytes(void)
{
    enum { MANY = 300, NAME_BYTES = 3000 };
    char name[NAME_BYTES + 1];
    memset(name, 'a', NAME_BYTES);
    name[NAME_BYTES] = '\0';
    begin("topology-keys: {}", PLENTY);
    for (size_t i = 0; i < MANY; i++)
        put(arena_printf(arena, POD("name: %s-%03zu", "zone"), name, i).data);
    struct report_space shop = space(0, MANY);
    size_t bytes = 0, last_bytes = 0;
    for (size_t i = 0; i < shop.result_count; i++)
        bytes += last_bytes = node_json(&shop.results[i], arena).size;
    CU_ASSERT(bytes <= REPORT_BYTES_MAX && bytes + last_bytes > REPORT_BYTES_MAX);
    ASSERT_INT(shop.left_out, MANY - shop.result_count);
    ASSERT_INT(shop.counts.of[AUDIT_DENIED], MANY);
    end();
}

/* The strictest first, whatever came first. */
static void the_strictest_results_come_first(void)
{
    begin("topology-keys: {}, instance-types: {mode: warn, allow: {families: [m5]}}", PLENTY);
    put("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeSelector: "
        "{karpenter.k8s.aws/instance-family: c5}}}");
    put(POD("name: b", "zone"));
    struct report_space shop = space(0, 10);
    ASSERT_INT(shop.result_count, 2);
    ASSERT_TEXT(node_string(node_get(&shop.results[0], "rule")), "topology-keys");
    ASSERT_TEXT(node_string(node_get(&shop.results[1], "rule")), "instance-types");
    ASSERT_INT(found_by("instance-types", AUDIT_WARNED), 1);
    shop = space(0, 1);
    ASSERT_TEXT(node_string(node_get(&shop.results[0], "rule")), "topology-keys");
    end();
}

static void what_cannot_be_listed_is_said_of_the_cluster(void)
{
    begin("topology-keys: {}", PLENTY);
    reports_audit_miss(audit, "pods", "answered 403");
    reports_audit_miss(audit, "jobs", "answered 403");
    ASSERT_INT(reports_audit_space_count(audit), 1);
    struct report_space cluster = space(0, 10);
    ASSERT_TEXT(cluster.namespace, "");
    ASSERT_INT(cluster.result_count, 2);
    ASSERT_INT(cluster.counts.of[AUDIT_UNDECIDED], 2);
    ASSERT_TEXT(node_string(node_get(&cluster.results[0], "message")),
                "pods are not audited: they cannot be listed (answered 403).");
    ASSERT_TEXT(node_string(node_get(&cluster.results[0], "rule")), "audit");
    ASSERT_TEXT(node_string(node_get(&cluster.results[0], "policy")), "taffrail");
    CU_ASSERT_PTR_NULL(node_get(&cluster.results[0], "resources"));
    ASSERT_INT(reports_audit_sums(audit).lost, 0);
    end();
}

/* Findings without room stand in no report, and each is counted once: by its namespace, or, where
 * there was no memory even for that, as lost. */
static void what_finds_no_room_is_counted(void)
{
    enum { MANY = 200, FIRST_BYTES = 2000, STEP_BYTES = 331, LIMITS = 60 };
    size_t left_out = 0, lost = 0;
    for (size_t limit = 0; limit < LIMITS; limit++) {
        begin("topology-keys: {}, instance-types: {mode: warn, allow: {families: [m5]}}",
              FIRST_BYTES + limit * STEP_BYTES);
        for (size_t i = 0; i < MANY; i++)
            put(arena_printf(arena,
                             i % 2 == 0
                                 ? POD("name: pod-%zu, namespace: web", "zone")
                                 : "{apiVersion: v1, kind: Pod, metadata: {name: pod-%zu}, "
                                   "spec: {topologySpreadConstraints: [{topologyKey: zone}], "
                                   "nodeSelector: {karpenter.k8s.aws/instance-family: c5}}}",
                             i)
                    .data);
        reports_audit_miss(audit, "pods", "answered 403");
        struct reports_audit_sums sums = reports_audit_sums(audit);
        ASSERT_INT(sums.finding_count, MANY + MANY / 2);
        ASSERT_INT(sums.unjudged_count, 0);
        size_t counted = sums.lost;
        for (size_t i = 0; i < reports_audit_space_count(audit); i++) {
            struct report_space of = space(i, MANY);
            counted += of.result_count + of.left_out;
            left_out += of.left_out;
        }
        ASSERT_INT(counted, MANY + MANY / 2 + 1); /* and that Pods cannot be listed */
        lost += sums.lost;
        end();
    }
    CU_ASSERT(left_out > 0 && lost > 0);
}

const struct unit_test unit_tests[] = {
    {"findings are kept by namespace", findings_are_kept_by_namespace},
    {"what is made of an owner is not said again", what_is_made_of_an_owner_is_not_said_again},
    {"what has ended breaks nothing", what_has_ended_breaks_nothing},
    {"a report has so many results", a_report_has_so_many_results},
    {"a report has so many bytes", a_report_has_so_many_bytes},
    {"the strictest results come first", the_strictest_results_come_first},
    {"what cannot be listed is said of the cluster", what_cannot_be_listed_is_said_of_the_cluster},
    {"what finds no room is counted", what_finds_no_room_is_counted},
    {NULL, NULL},
};
