/* Which terms of a pod name a topology key, and which of them are about the pod's own replicas. */
#include "kube/topology.h"

#include "cluster_fixture.h"
#include "kube/pod.h"
#include "object_fixture.h"

enum { BUDGET_BYTES = 1 << 20 };

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static struct workload read_pod(const char *yaml, struct arena *arena)
{
    struct workload workload;
    CU_ASSERT_FATAL(workload_read(fixture_object(arena, yaml, "shop"), arena, &workload));
    return workload;
}

static const struct snapshot *nothing_seen(struct arena *arena)
{
    return snapshot_build(snapshot_builder_create(arena));
}

/* ---- terms ---- */

static void terms_are_read_with_their_use(void)
{
    static const char pod[] =
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {topologySpreadConstraints: ["
        "{topologyKey: a, whenUnsatisfiable: DoNotSchedule}, "
        "{topologyKey: b, whenUnsatisfiable: ScheduleAnyway}, {topologyKey: c}], affinity: {"
        "podAffinity: {" REQUIRED ": [{topologyKey: d}], " PREFERRED
        ": [{podAffinityTerm: {topologyKey: e}}]}, "
        "podAntiAffinity: {" REQUIRED ": [{topologyKey: f}, {topologyKey: g}], " PREFERRED
        ": [{podAffinityTerm: {topologyKey: h}}]}}}}";
    static const struct {
        const char *key;
        enum topology_use use;
        bool required;
        const char *path; /* of the term */
    } expected[] = {
        {"a", TOPOLOGY_SPREAD, true, "spec.topologySpreadConstraints[0]"},
        {"b", TOPOLOGY_SPREAD, false, "spec.topologySpreadConstraints[1]"},
        /* the API server writes DoNotSchedule */
        {"c", TOPOLOGY_SPREAD, true, "spec.topologySpreadConstraints[2]"},
        {"d", TOPOLOGY_AFFINITY, true, "spec.affinity.podAffinity." REQUIRED "[0]"},
        {"e", TOPOLOGY_AFFINITY, false,
         "spec.affinity.podAffinity." PREFERRED "[0].podAffinityTerm"},
        {"f", TOPOLOGY_ANTI_AFFINITY, true, "spec.affinity.podAntiAffinity." REQUIRED "[0]"},
        {"g", TOPOLOGY_ANTI_AFFINITY, true, "spec.affinity.podAntiAffinity." REQUIRED "[1]"},
        {"h", TOPOLOGY_ANTI_AFFINITY, false,
         "spec.affinity.podAntiAffinity." PREFERRED "[0].podAffinityTerm"},
    };
    struct arena *arena = arena_create(BUDGET_BYTES);
    struct workload workload = read_pod(pod, arena);
    struct topology_terms terms;
    topology_terms_read(&workload, arena, &terms);
    CU_ASSERT_EQUAL_FATAL(terms.count, COUNT_OF(expected));
    for (size_t i = 0; i < terms.count; i++) {
        ASSERT_TEXT(node_string(terms.items[i].key->node), expected[i].key);
        ASSERT_INT(terms.items[i].use, expected[i].use);
        ASSERT_INT(terms.items[i].required, expected[i].required);
        ASSERT_TEXT(field_path(arena, terms.items[i].term), expected[i].path);
    }
    workload = read_pod("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {}}", arena);
    topology_terms_read(&workload, arena, &terms);
    ASSERT_INT(terms.count, 0);
    arena_destroy(arena);
}

/* ---- a pod's own replicas ---- */

#define NAME "kubernetes.io/metadata.name"
#define WEB "labelSelector: {matchLabels: {app: web}}"

static enum topology_look looks_at_itself(const struct snapshot *snapshot,
                                          const struct workload *workload,
                                          const struct topology_term *term)
{
    bool may = topology_term_may_select_itself(snapshot, workload, term);
    bool does = topology_term_selects_itself(snapshot, workload, term);
    CU_ASSERT_TRUE(may || !does);
    return does ? TOPOLOGY_LOOKS : may ? TOPOLOGY_MAY_LOOK : TOPOLOGY_LOOKS_ELSEWHERE;
}

static void terms_select_the_pod_itself(void)
{
#define NOT TOPOLOGY_LOOKS_ELSEWHERE
#define MAY TOPOLOGY_MAY_LOOK
#define DOES TOPOLOGY_LOOKS
#define SPACE(labels) \
    "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {" labels "}}}"
#define IN_SPACES(selector) WEB ", namespaceSelector: {" selector "}"
#define KEY(expression) IN_SPACES("matchExpressions: [{key: " expression "}]")
    static const struct {
        const char *labels, *term;
        const char *space; /* NULL: the own Namespace is not visible */
        enum topology_look looks;
    } rows[] = {
        {"{app: web}", WEB, NULL, DOES},
        /* of a spread, an empty one is of no pod, unless the keys make it one of labels */
        {"{app: web}", "labelSelector: {}", NULL, NOT},
        {"{app: web}", "labelSelector: {matchLabels: {}, matchExpressions: []}", NULL, NOT},
        {"{app: web}", "labelSelector: {}, matchLabelKeys: [app]", NULL, DOES},
        {"{app: web}", "labelSelector: {}, matchLabelKeys: [tier]", NULL, NOT},
        {"{app: web}", "labelSelector: {}, matchLabelKeys: [tier, app]", NULL, DOES},
        {"{app: web}", "labelSelector: {matchExpressions: [{key: app, operator: Exists}]}", NULL,
         DOES},
        {"{app: db}", WEB, NULL, NOT},
        {"{}", WEB, NULL, NOT},
        /* without a selector a term is about no pod */
        {"{app: web}", "", NULL, NOT},
        {"{app: web}", WEB ", namespaces: []", NULL, DOES},
        {"{app: web}", WEB ", namespaces: [shop]", NULL, DOES},
        {"{app: web}", WEB ", namespaces: [bank, shop]", NULL, DOES},
        {"{app: web}", WEB ", namespaces: [bank]", NULL, NOT},
        /* all, and those of a name */
        {"{app: web}", IN_SPACES(""), NULL, DOES},
        {"{app: web}", IN_SPACES("") ", namespaces: [bank]", NULL, DOES},
        {"{app: web}", IN_SPACES("matchLabels: {" NAME ": shop}"), NULL, DOES},
        {"{app: web}", IN_SPACES("matchLabels: {" NAME ": bank}"), NULL, NOT},
        {"{app: web}", KEY(NAME ", operator: In, values: [bank, shop]"), NULL, DOES},
        {"{app: web}", KEY(NAME ", operator: NotIn, values: [shop]"), NULL, NOT},
        /* whose labels are not seen, unless the name is another */
        {"{app: web}", IN_SPACES("matchLabels: {team: a}"), NULL, MAY},
        {"{app: web}", KEY("team, operator: Exists"), NULL, MAY},
        {"{app: web}", KEY("team, operator: DoesNotExist"), NULL, MAY},
        {"{app: web}", IN_SPACES("matchLabels: {" NAME ": shop, team: a}"), NULL, MAY},
        {"{app: web}", IN_SPACES("matchLabels: {" NAME ": bank, team: a}"), NULL, NOT},
        {"{app: web}",
         IN_SPACES("matchLabels: {team: a}, matchExpressions: [{key: " NAME
                   ", operator: NotIn, values: [shop]}]"),
         NULL, NOT},
        {"{app: db}", IN_SPACES("matchLabels: {team: a}"), NULL, NOT},
        {"{app: web}", IN_SPACES("matchLabels: {team: a}") ", namespaces: [shop]", NULL, DOES},
        /* and are seen; the name need not be written there */
        {"{app: web}", IN_SPACES("matchLabels: {team: a}"), SPACE("team: a"), DOES},
        {"{app: web}", IN_SPACES("matchLabels: {team: a}"), SPACE("team: b"), NOT},
        {"{app: web}", IN_SPACES("matchLabels: {team: a}"), SPACE(""), NOT},
        {"{app: web}", IN_SPACES("matchLabels: {team: a}") ", namespaces: [shop]", SPACE(""), DOES},
        {"{app: web}", KEY("team, operator: DoesNotExist"), SPACE(""), DOES},
        {"{app: web}", KEY("team, operator: DoesNotExist"), SPACE("team: a"), NOT},
        {"{app: web}", IN_SPACES("matchLabels: {" NAME ": shop, team: a}"), SPACE("team: a"), DOES},
        {"{app: web}", IN_SPACES("matchLabels: {" NAME ": shop, team: a}"),
         SPACE("team: a, " NAME ": shop"), DOES},
        {"{app: web}", IN_SPACES("matchLabels: {" NAME ": bank, team: a}"), SPACE("team: a"), NOT},
        /* a label that the pod has must be another one on the pods selected */
        {"{app: web, hash: x}", WEB ", mismatchLabelKeys: [hash]", NULL, NOT},
        {"{app: web, hash: x}", WEB ", mismatchLabelKeys: [other, hash]", NULL, NOT},
        {"{app: web, hash: x}", WEB ", mismatchLabelKeys: [other]", NULL, DOES},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const struct snapshot *snapshot =
            fixture_snapshot(&fixture, &rows[i].space, rows[i].space == NULL ? 0 : 1);
        struct workload workload =
            read_pod(arena_printf(fixture.arena,
                                  "{apiVersion: v1, kind: Pod, metadata: {name: p, labels: %s}, "
                                  "spec: {topologySpreadConstraints: [{topologyKey: a, %s}]}}",
                                  rows[i].labels, rows[i].term)
                         .data,
                     fixture.arena);
        struct topology_terms terms;
        topology_terms_read(&workload, fixture.arena, &terms);
        CU_ASSERT_EQUAL_FATAL(terms.count, 1);
        enum topology_look looks = looks_at_itself(snapshot, &workload, &terms.items[0]);
        if (looks != rows[i].looks)
            fprintf(stderr, "%s, %s beside %s\n", rows[i].labels, rows[i].term,
                    rows[i].space == NULL ? "nothing" : rows[i].space);
        ASSERT_INT(looks, rows[i].looks);
        arena_destroy(fixture.arena);
    }
}

/* A label of each pod's own in matchLabelKeys leaves it alone. */
static void own_keys_select_no_other_pod(void)
{
    static const struct {
        const char *kind, *keys;
        const char *own; /* path of the key */
    } rows[] = {
        {"StatefulSet", "[statefulset.kubernetes.io/pod-name]", "0"},
        {"StatefulSet", "[app, apps.kubernetes.io/pod-index]", "1"},
        {"StatefulSet", "[controller-revision-hash]", NULL},
        {"StatefulSet", "[]", NULL},
        {"Deployment", "[statefulset.kubernetes.io/pod-name]", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        struct workload workload = read_pod(
            arena_printf(arena,
                         "{apiVersion: apps/v1, kind: %s, metadata: {name: p}, spec: {template: "
                         "{metadata: {labels: {app: web}}, spec: {topologySpreadConstraints: "
                         "[{topologyKey: a, " WEB ", matchLabelKeys: %s}]}}}}",
                         rows[i].kind, rows[i].keys)
                .data,
            arena);
        struct topology_terms terms;
        topology_terms_read(&workload, arena, &terms);
        CU_ASSERT_EQUAL_FATAL(terms.count, 1);
        const struct field *own = topology_term_own_key(&workload, &terms.items[0], arena);
        ASSERT_INT(looks_at_itself(nothing_seen(arena), &workload, &terms.items[0]),
                   own == NULL ? TOPOLOGY_LOOKS : TOPOLOGY_LOOKS_ELSEWHERE);
        CU_ASSERT_EQUAL_FATAL(own == NULL, rows[i].own == NULL);
        if (own != NULL)
            ASSERT_TEXT(field_path(arena, own),
                        arena_printf(arena,
                                     "spec.template.spec.topologySpreadConstraints[0]."
                                     "matchLabelKeys[%s]",
                                     rows[i].own)
                            .data);
        arena_destroy(arena);
    }
}

/* Of a patch, which has no labels, any selector may select the whole. */
static void parts_may_select_themselves(void)
{
    static const struct {
        const char *kind, *labels;
        bool part;
    } rows[] = {
        {"apiVersion: apps/v1, kind: Deployment", "{}", true},
        {"apiVersion: apps/v1, kind: ReplicaSet", "{}", true},
        {"apiVersion: v1, kind: ReplicationController", "{}", true},
        {"apiVersion: apps/v1, kind: StatefulSet", "{}", true},
        {"apiVersion: apps/v1, kind: DaemonSet", "{}", true},
        {"apiVersion: apps/v1, kind: Deployment", "{app: db}", false},
        /* its controller writes labels of its own */
        {"apiVersion: batch/v1, kind: Job", "{}", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        struct workload workload = read_pod(
            arena_printf(arena,
                         "{%s, metadata: {name: p}, spec: {template: {metadata: {labels: %s}, "
                         "spec: {topologySpreadConstraints: [{topologyKey: a, " WEB
                         "}, {topologyKey: b}]}}}}",
                         rows[i].kind, rows[i].labels)
                .data,
            arena);
        struct topology_terms terms;
        topology_terms_read(&workload, arena, &terms);
        CU_ASSERT_EQUAL_FATAL(terms.count, 2);
        if (workload_is_part(&workload) != rows[i].part)
            fprintf(stderr, "%s, %s\n", rows[i].kind, rows[i].labels);
        CU_ASSERT_EQUAL(workload_is_part(&workload), rows[i].part);
        const struct snapshot *snapshot = nothing_seen(arena);
        ASSERT_INT(looks_at_itself(snapshot, &workload, &terms.items[0]),
                   rows[i].part ? TOPOLOGY_MAY_LOOK : TOPOLOGY_LOOKS_ELSEWHERE);
        ASSERT_INT(looks_at_itself(snapshot, &workload, &terms.items[1]), TOPOLOGY_LOOKS_ELSEWHERE);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "kube topology";
const struct unit_test unit_tests[] = {
    {"terms are read with their use", terms_are_read_with_their_use},
    {"terms select the pod itself", terms_select_the_pod_itself},
    {"parts may select themselves", parts_may_select_themselves},
    {"own keys select no other pod", own_keys_select_no_other_pod},
    {NULL, NULL},
};
