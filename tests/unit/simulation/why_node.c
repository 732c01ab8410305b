/* Why a Node is still there. Time begins on Thursday 1970-01-01. */
#include "simulation/why_node.h"

#include "cluster_fixture.h"

const char unit_suite[] = "simulation why a node";

enum { BUDGET_BYTES = 64 << 20, MOST = 12, DAY_S = 86400 };
#define ALL_KINDS ((kind_set)~0U)

#define POOL(disruption)                                                                           \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {disruption: " \
    "{" disruption "}}}"
#define NODE_OF(name, labels)                                                  \
    "{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels \
    "node.kubernetes.io/instance-type: small, topology.kubernetes.io/zone: a}}}"
#define NODE NODE_OF("n1", "karpenter.sh/nodepool: general, karpenter.sh/initialized: 'true', ")
#define CLAIM(spec, conditions)                                                                    \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: general-x, "                  \
    "creationTimestamp: '1970-01-02T00:00:00Z', labels: {karpenter.sh/nodepool: general}}, spec: " \
    "{" spec "}, status: {nodeName: n1, conditions: [" conditions "]}}"
#define DRIFTED                                                                     \
    "{type: Drifted, status: 'True', reason: NodePoolDrifted, lastTransitionTime: " \
    "'1970-01-03T00:00:00Z'}"
#define CONSOLIDATABLE "{type: Consolidatable, status: 'True'}"
#define POD_OF(name, metadata, status)                                                   \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name ", labels: {app: web}" metadata \
    "}, spec: {nodeName: n1}, status: {phase: " status "}}"
#define POD(name, metadata) POD_OF(name, metadata, "Running")
#define OF(kind, name) \
    ", ownerReferences: [{apiVersion: apps/v1, kind: " kind ", name: " name ", controller: true}]"
#define PDB                                                                                       \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {selector: " \
    "{matchLabels: {app: web}}}, status: {disruptionsAllowed: 0}}"

struct why_case {
    const char *name;
    const char *documents[MOST];
    const char *lines;
};

static struct text lines_of(struct arena *arena, const struct why_node *why)
{
    static const char *const consolidations[] = {[WHY_CONSOLIDATABLE] = "consolidatable",
                                                 [WHY_CONSOLIDATION_OFF] = "off",
                                                 [WHY_CONSOLIDATED_WHEN_EMPTY] = "when empty",
                                                 [WHY_CONSOLIDATION_WAITS] = "waits",
                                                 [WHY_CONSOLIDATION_UNKNOWN] = "unknown"};
    struct text_builder out = {.arena = arena};
    text_builder_printf(&out, "%.*s/%.*s %.*s in %.*s: %zu of %zu pods", TEXT_ARGS(why->pool),
                        TEXT_ARGS(why->claim), TEXT_ARGS(why->instance_type), TEXT_ARGS(why->zone),
                        why->moving_count, why->pod_count);
    for (size_t i = 0; i < why->owner_count; i++)
        text_builder_printf(&out, ", %zu %.*s", why->owners[i].count,
                            TEXT_ARGS(why->owners[i].owner));
    text_builder_printf(&out, "\n%s", consolidations[why->consolidation]);
    if (why->drifted)
        text_builder_printf(&out, ", %.*s%s%.*s at %lld", TEXT_ARGS(why->drift),
                            why->drift_path.size > 0 ? " by " : "", TEXT_ARGS(why->drift_path),
                            (long long)why->drifted_unix_s / DAY_S);
    if (why->expires)
        text_builder_printf(&out, ", expires at %lld", (long long)why->expires_unix_s / DAY_S);
    text_builder_printf(&out, "%s, blocks %zu\n", why->wanted ? ", wanted" : "",
                        why->forecast.nodes[0].block_total);
    return text_builder_text(&out);
}

static bool ask(struct fixture *fixture, const char *const *documents, const char *name,
                struct why_node *why, struct error *error)
{
    size_t count = 0;
    while (count < MOST && documents[count] != NULL)
        count++;
    const struct snapshot *snapshot = fixture_snapshot(fixture, documents, count);
    return why_node(snapshot, ALL_KINDS, text_of(name), 10 * (int64_t)DAY_S, fixture->arena, why,
                    error);
}

static void check(const struct why_case *cases, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct why_node why;
        struct error error = {0};
        CU_ASSERT_FATAL(ask(&fixture, cases[i].documents, name, &why, &error));
        struct text lines = lines_of(fixture.arena, &why);
        if (!text_is(lines, cases[i].lines))
            fprintf(stderr, "%s:\n", cases[i].name);
        ASSERT_TEXT(lines, cases[i].lines);
        arena_destroy(fixture.arena);
    }
}
#define CHECK(cases) check((cases), COUNT_OF(cases), "n1")

static void what_runs_on_it_is_counted_by_owner(void)
{
    static const struct why_case cases[] = {
        {"nothing",
         {POOL(""), NODE, CLAIM("", "")},
         "general/general-x small in a: 0 of 0 pods\nwaits, blocks 0\n"},
        {"pods that go with the node do not count, and those that have ended are none",
         {POOL(""), NODE, CLAIM("", ""), POD("log", OF("DaemonSet", "log")),
          POD_OF("old", "", "Succeeded"),
          POD("static", ", annotations: {kubernetes.io/config.mirror: x}")},
         "general/general-x small in a: 0 of 2 pods\nwaits, blocks 0\n"},
        {"most pods first, as their names are, too",
         {POOL(""), NODE, CLAIM("", ""), POD("a-0", OF("StatefulSet", "a")),
          POD("a-1", OF("StatefulSet", "a")), POD("z", "")},
         "general/general-x small in a: 3 of 3 pods, 2 StatefulSet a, 1 z\nwaits, blocks 0\n"},
        {"most pods first, whatever their names",
         {POOL(""), NODE, CLAIM("", ""), POD("z-0", OF("StatefulSet", "z")),
          POD("z-1", OF("StatefulSet", "z")), POD("web-0", OF("StatefulSet", "web")), POD("a", "")},
         "general/general-x small in a: 4 of 4 pods, 2 StatefulSet z, 1 StatefulSet web, 1 a\n"
         "waits, blocks 0\n"},
        {"most pods first",
         {POOL(""), NODE, CLAIM("", ""), POD("a", ""), POD("web-0", OF("StatefulSet", "web")),
          POD("web-1", OF("StatefulSet", "web"))},
         "general/general-x small in a: 3 of 3 pods, 2 StatefulSet web, 1 a\nwaits, blocks 0\n"},
    };
    CHECK(cases);
}

#define STATIC_POOL                                                                              \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {replicas: " \
    "1}}"

static void whether_it_is_to_go_is_known(void)
{
    static const struct why_case cases[] = {
        {"drifted and blocked",
         {POOL(""), NODE, CLAIM("", DRIFTED), POD("a", ""), PDB},
         "general/general-x small in a: 1 of 1 pods, 1 a\n"
         "waits, NodePoolDrifted at 2, wanted, blocks 1\n"},
        {"expiry counts from the NodeClaim's creation",
         {POOL(""), NODE, CLAIM("expireAfter: 48h", "")},
         "general/general-x small in a: 0 of 0 pods\nwaits, expires at 3, blocks 0\n"},
        {"it never expires",
         {POOL(""), NODE, CLAIM("expireAfter: Never", "")},
         "general/general-x small in a: 0 of 0 pods\nwaits, blocks 0\n"},
        {"consolidatable",
         {POOL(""), NODE, CLAIM("", CONSOLIDATABLE), POD("a", "")},
         "general/general-x small in a: 1 of 1 pods, 1 a\nconsolidatable, wanted, blocks 0\n"},
        {"only when empty, and it is not",
         {POOL("consolidationPolicy: WhenEmpty"), NODE, CLAIM("", CONSOLIDATABLE), POD("a", "")},
         "general/general-x small in a: 1 of 1 pods, 1 a\nwhen empty, blocks 0\n"},
        {"only when empty, and it is",
         {POOL("consolidationPolicy: WhenEmpty"), NODE, CLAIM("", CONSOLIDATABLE)},
         "general/general-x small in a: 0 of 0 pods\nconsolidatable, wanted, blocks 0\n"},
        {"never",
         {POOL("consolidateAfter: Never"), NODE, CLAIM("", CONSOLIDATABLE)},
         "general/general-x small in a: 0 of 0 pods\noff, blocks 0\n"},
        {"of a fixed size",
         {STATIC_POOL, NODE, CLAIM("", CONSOLIDATABLE)},
         "general/general-x small in a: 0 of 0 pods\noff, blocks 0\n"},
        {"a Node that says its NodePool, and has no NodeClaim",
         {POOL(""), NODE},
         "general/ small in a: 0 of 0 pods\nunknown, blocks 0\n"},
        {"drifted, and its NodePool is gone",
         {NODE, CLAIM("", DRIFTED)},
         "general/general-x small in a: 0 of 0 pods\n"
         "unknown, NodePoolDrifted at 2, wanted, blocks 1\n"},
        {"its NodePool is gone",
         {NODE, CLAIM("", CONSOLIDATABLE)},
         "general/general-x small in a: 0 of 0 pods\nunknown, blocks 1\n"},
        {"it is none of Karpenter's",
         {POOL(""), NODE_OF("n1", "")},
         "/ small in a: 0 of 0 pods\nunknown, blocks 1\n"},
    };
    CHECK(cases);
}

#define TEMPLATE(template)                                                                       \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {template: " \
    "{" template "}}}"
#define IN_A "requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]"
#define UNMET                                                                           \
    "{type: Drifted, status: 'True', reason: RequirementsDrifted, lastTransitionTime: " \
    "'1970-01-03T00:00:00Z'}"
#define DRIFTED_BY(reason, path)                                             \
    "general/general-x small in a: 0 of 0 pods\nwaits, " reason path " at 2" \
    ", wanted, blocks 0\n"

/* What the NodeClaim has of its NodePool is compared; of what it does not show nothing is said. */
static void drift_is_told_with_its_field(void)
{
    static const struct why_case cases[] = {
        {"a taint",
         {TEMPLATE("spec: {taints: [{key: a, effect: NoSchedule}]}"), NODE, CLAIM("", DRIFTED)},
         DRIFTED_BY("NodePoolDrifted", " by spec.template.spec.taints")},
        {"a label",
         {TEMPLATE("metadata: {labels: {team: a}}"), NODE, CLAIM("", DRIFTED)},
         DRIFTED_BY("NodePoolDrifted", " by spec.template.metadata.labels")},
        {"one duration written in two ways is no drift",
         {TEMPLATE("metadata: {annotations: {a: b}}, spec: {terminationGracePeriod: 1h}"), NODE,
          CLAIM("terminationGracePeriod: 60m", DRIFTED)},
         DRIFTED_BY("NodePoolDrifted", "")},
        {"a requirement of which the NodeClaim says nothing",
         {TEMPLATE("spec: {" IN_A "}"), NODE,
          "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: general-x, "
          "creationTimestamp: '1970-01-02T00:00:00Z'}, status: {nodeName: n1, conditions: [" UNMET
          "]}}"},
         DRIFTED_BY("RequirementsDrifted", " by spec.template.spec.requirements[0]")},
        {"a requirement",
         {TEMPLATE("spec: {" IN_A "}"), NODE, CLAIM("", UNMET)},
         DRIFTED_BY("RequirementsDrifted", " by spec.template.spec.requirements[0]")},
    };
    CHECK(cases);
}

static void a_node_claim_leads_to_its_node(void)
{
    static const struct why_case cases[] = {
        {"by its name",
         {POOL(""), NODE, CLAIM("", ""), POD("a", "")},
         "general/general-x small in a: 1 of 1 pods, 1 a\nwaits, blocks 0\n"},
    };
    static const struct why_case coming[] = {
        {"which has not come yet",
         {POOL(""), CLAIM("", "")},
         "general/general-x  in : 0 of 0 pods\nwaits, blocks 1\n"},
    };
    check(cases, COUNT_OF(cases), "general-x");
    check(coming, COUNT_OF(coming), "general-x");
}

static void a_node_that_is_not_there_is_told_with_the_nearest(void)
{
    static const char *const documents[MOST] = {NODE};
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct why_node why;
    struct error error = {0};
    CU_ASSERT_FALSE(ask(&fixture, documents, "n2", &why, &error));
    ASSERT_TEXT(text_of(error.what), "there is no Node n2; did you mean n1?");
    CU_ASSERT_FALSE(ask(&fixture, documents, "elsewhere", &why, &error));
    ASSERT_TEXT(text_of(error.what), "there is no Node elsewhere");
    arena_destroy(fixture.arena);
}

const struct unit_test unit_tests[] = {
    {"what runs on it is counted by owner", what_runs_on_it_is_counted_by_owner},
    {"whether it is to go is known", whether_it_is_to_go_is_known},
    {"drift is told with its field", drift_is_told_with_its_field},
    {"a NodeClaim leads to its Node", a_node_claim_leads_to_its_node},
    {"a Node that is not there is told with the nearest",
     a_node_that_is_not_there_is_told_with_the_nearest},
    {NULL, NULL},
};
