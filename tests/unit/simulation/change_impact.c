/* What changes do to nodes and to pods. Time begins on Thursday 1970-01-01 at 00:00 UTC. */
#include "simulation/change_impact.h"

#include "cluster_fixture.h"
#include "object_fixture.h"

const char unit_suite[] = "simulation change impact";

enum { MOST = 24, BUDGET_BYTES = 128 << 20 };
#define ALL_KINDS (~(kind_set)0)

/* ---- clusters ---- */

/* The hash of POOL() without more. */
#define HASH "6821555240594823858"
#define STAMPED(hash)                                                                              \
    ", annotations: {karpenter.sh/nodepool-hash: \"" hash "\", karpenter.sh/nodepool-hash-version" \
    ": v3}"
#define CLASS_NAME(name) \
    "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: " name "}"
#define POOL_OF(name, metadata, spec, labels, more)                                           \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name metadata           \
    "}, spec: {" spec "template: {metadata: {" labels "}, spec: {" CLASS_NAME("default") more \
        "}}}}"
#define NODE_CLASS(spec)                                                                \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: default, " \
    "annotations: {karpenter.k8s.aws/ec2nodeclass-hash: '1', "                          \
    "karpenter.k8s.aws/ec2nodeclass-hash-version: v6}}, spec: {" spec "}}"
#define BUDGETS(items) "disruption: {budgets: [" items "]}, "
#define POOL POOL_OF("general", STAMPED(HASH), "", "", "")
#define TEAM "labels: {team: a}"
#define LABELLED POOL_OF("general", STAMPED(HASH), "", TEAM, "")
#define IN_VALUES(key, values) "{key: " key ", operator: In, values: " values "}"
#define ZONES(values) ", requirements: [" IN_VALUES("topology.kubernetes.io/zone", values) "]"

#define META(name, zone, more)                                                                     \
    "metadata: {name: " name ", labels: {karpenter.sh/nodepool: general, karpenter.sh/initialized" \
    ": 'true', topology.kubernetes.io/zone: " zone "}" more "}"
#define CLAIM_IN(name, zone, hash, spec, status)            \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, " META( \
        name, zone, STAMPED(hash)) ", spec: {" spec "}, status: {nodeName: " name status "}}"
#define NODE_IN(name, zone, more) "{apiVersion: v1, kind: Node, " META(name, zone, more) "}"
#define WAITING(name, zone, reason) \
    CLAIM_IN(name, zone, HASH, "",  \
             ", conditions: [{type: Drifted, status: 'True', reason: " reason "}]")
/* A NodeClaim and its Node. */
#define NODE(name, zone) CLAIM_IN(name, zone, HASH, "", ""), NODE_IN(name, zone, "")
/* Five documents with NodeClaims whose Nodes have not come. */
#define COMING(name) "---\n" CLAIM_IN(name, "a", HASH, "", "") "\n"
#define FIVE_COMING(name) \
    COMING(name "1") COMING(name "2") COMING(name "3") COMING(name "4") COMING(name "5")
#define FOUR NODE("n1", "a"), NODE("n2", "a"), NODE("n3", "b"), NODE("n4", "b")

#define POD_OF(namespace, name, node, more)                                  \
    "{apiVersion: v1, kind: Pod, metadata: {labels: {app: web}, name: " name \
    ", namespace: " namespace more "}, spec: {nodeName: " node "}, status: {phase: Running}}"
#define KEPT ", annotations: {karpenter.sh/do-not-disrupt: 'true'}"
#define OWNED \
    ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true}]"
#define WEB_ALLOWS_NONE \
    "spec: {selector: {matchLabels: {app: web}}}, status: {disruptionsAllowed: 0}}"
#define PDB(namespace)                                                          \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, " \
    "namespace: " namespace "}, " WEB_ALLOWS_NONE

#define NO_NODE "This change replaces and deletes no node. |  |  | "

/* ---- impacts as text ---- */

struct impact_case {
    const char *name, *before, *after; /* after NULL: deleted */
    const char *cluster[MOST];
    const char *expected; /* effect | blocks | reasons | not seen */
    int64_t now_unix_s;
    kind_set unseen;
    bool orphans;
    size_t most; /* nodes that are looked at; 0: all */
};

static struct text words_of(const struct change_question *question, struct arena *arena)
{
    struct change_impact impact;
    if (!change_impact(question, arena, &impact))
        return TEXT("not known");
    struct impact_words words = change_impact_words(question, &impact, NULL, arena);
    struct text reasons =
        texts_join(impact.reasons.items, impact.reasons.count, impact.reasons.count, arena);
    return arena_printf(arena, "%.*s | %.*s | %.*s | %.*s", TEXT_ARGS(words.effect),
                        TEXT_ARGS(words.blocks), TEXT_ARGS(reasons), TEXT_ARGS(words.unseen));
}

static void run(const struct impact_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct impact_case *test = &cases[i];
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        size_t documents = 0;
        while (documents < MOST && test->cluster[documents] != NULL)
            documents++;
        const struct change_question question = {
            .snapshot = fixture_snapshot(&fixture, test->cluster, documents),
            .seen = ALL_KINDS & ~test->unseen,
            .now_unix_s = test->now_unix_s,
            .before = fixture_object(fixture.arena, test->before, "shop"),
            .after = fixture_object(fixture.arena, test->after, "shop"),
            .orphans = test->orphans,
            .most_nodes = test->most,
        };
        struct text words = words_of(&question, fixture.arena);
        if (!text_is(words, test->expected))
            fprintf(stderr, "in \"%s\":\n", test->name);
        ASSERT_TEXT(words, test->expected);
        arena_destroy(fixture.arena);
    }
}
#define RUN(cases) run(cases, sizeof cases / sizeof cases[0])

/* ---- NodePools ---- */

#define REPLACES_4 "This change replaces 4 of 4 nodes, at most 1 at a time, from now on."
#define FOR_LABELS "drift: spec.template.metadata.labels"

static void edits_of_node_pools(void)
{
    static const struct impact_case cases[] = {
        {.name = "a label",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL, FOUR},
         .expected = REPLACES_4 " |  | " FOR_LABELS " | "},
        {.name = "nothing",
         .before = POOL,
         .after = POOL,
         .cluster = {POOL, FOUR},
         .expected = NO_NODE},
        {.name = "a budget, which is nothing of the nodes",
         .before = POOL,
         .after = POOL_OF("general", STAMPED(HASH), BUDGETS("{nodes: '0'}"), "", ""),
         .cluster = {POOL, FOUR},
         .expected = NO_NODE},
        {.name = "a zone less, in which two of four run",
         .before = POOL_OF("general", STAMPED(HASH), "", "", ZONES("[a, b]")),
         .after = POOL_OF("general", STAMPED(HASH), "", "", ZONES("[b]")),
         .cluster = {POOL, FOUR},
         .expected = "This change replaces 2 of 4 nodes, at most 1 at a time, from now on. |  | "
                     "drift: spec.template.spec.requirements[0] | "},
        {.name = "a zone more",
         .before = POOL_OF("general", STAMPED(HASH), "", "", ZONES("[a, b]")),
         .after = POOL_OF("general", STAMPED(HASH), "", "", ZONES("[a, b, c]")),
         .cluster = {POOL, FOUR},
         .expected = NO_NODE},
        {.name = "several edits in one are one change",
         .before = POOL_OF("general", STAMPED(HASH), "", "", ZONES("[a, b]")),
         .after = POOL_OF("general", STAMPED(HASH), "", TEAM, ZONES("[b]") ", expireAfter: 1h"),
         .cluster = {POOL, FOUR},
         .expected = REPLACES_4 " |  | " FOR_LABELS ", drift: spec.template.spec.expireAfter | "},
        {.name = "back at once, before Karpenter has written the hash of the edit",
         .before = LABELLED,
         .after = POOL,
         .cluster = {LABELLED, FOUR},
         .expected = NO_NODE},
        {.name = "back to what the nodes were made of",
         .before = POOL_OF("general", "", "", TEAM, ""),
         .after = POOL,
         .cluster = {LABELLED, FOUR},
         .expected = "This change keeps 4 nodes that would have been replaced. |  |  | "},
        {.name = "a zone less, while other nodes wait for an earlier change",
         .before = POOL_OF("general", STAMPED(HASH), "", "", ZONES("[a, b]")),
         .after = POOL_OF("general", STAMPED(HASH), "", "", ZONES("[b]")),
         .cluster = {POOL, NODE("n1", "a"), CLAIM_IN("n2", "b", "77", "", ""),
                     NODE_IN("n2", "b", "")},
         .expected = "This change replaces 1 of 2 nodes, all at once, from now on. 1 more waits to "
                     "be replaced after earlier changes. |  | "
                     "drift: spec.template.spec.requirements[0] | "},
        {.name = "no nodes",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL},
         .expected = NO_NODE},
        {.name = "nodes that are leaving do not count",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL, NODE("n1", "a"),
                     "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: n2, "
                     "deletionTimestamp: '2026-01-01T00:00:00Z', labels: {karpenter.sh/nodepool: "
                     "general}}}"},
         .expected =
             "This change replaces 1 of 1 node, all at once, from now on. |  | " FOR_LABELS " | "},
        {.name = "a fixed size that is lowered",
         .before = POOL_OF("general", STAMPED(HASH), "replicas: 4, ", "", ""),
         .after = POOL_OF("general", STAMPED(HASH), "replicas: 1, ", "", ""),
         .cluster = {POOL, FOUR},
         .expected =
             "This deletes 3 of 4 nodes at once, before new ones are there, whatever the budgets "
             "say. |  | scale-down: spec.replicas | "},
        {.name = "a fixed size below what is there, and what is there below the old size",
         .before = POOL_OF("general", STAMPED(HASH), "replicas: 2, ", "", ""),
         .after = POOL_OF("general", STAMPED(HASH), "replicas: 1, ", "", ""),
         .cluster = {POOL, FOUR},
         .expected =
             "This deletes 1 of 4 nodes at once, before new ones are there, whatever the budgets "
             "say. |  | scale-down: spec.replicas | "},
        {.name = "a fixed size of none",
         .before = POOL_OF("general", STAMPED(HASH), "replicas: 9, ", "", ""),
         .after = POOL_OF("general", STAMPED(HASH), "replicas: 0, ", "", ""),
         .cluster = {POOL, FOUR},
         .expected =
             "This deletes 4 of 4 nodes at once, before new ones are there, whatever the budgets "
             "say. |  | scale-down: spec.replicas | "},
        {.name = "a fixed size that is raised",
         .before = POOL_OF("general", STAMPED(HASH), "replicas: 4, ", "", ""),
         .after = POOL_OF("general", STAMPED(HASH), "replicas: 5, ", "", ""),
         .cluster = {POOL, FOUR},
         .expected = NO_NODE},
        {.name = "a fixed size that is taken away",
         .before = POOL_OF("general", STAMPED(HASH), "replicas: 4, ", "", ""),
         .after = POOL,
         .cluster = {POOL, FOUR},
         .expected = NO_NODE},
        {.name = "a size that is none",
         .before = POOL_OF("general", STAMPED(HASH), "replicas: 4, ", "", ""),
         .after = POOL_OF("general", STAMPED(HASH), "replicas: -1, ", "", ""),
         .cluster = {POOL, FOUR},
         .expected = NO_NODE},
        {.name = "another fixed size and other labels: a node goes once",
         .before = POOL_OF("general", STAMPED(HASH), "replicas: 4, ", "", ""),
         .after = POOL_OF("general", STAMPED(HASH), "replicas: 3, ", TEAM, ""),
         .cluster = {POOL, FOUR},
         .expected = "This change replaces 3 of 4 nodes, at most 1 at a time, from now on. It "
                     "deletes 1 of 4 nodes at once, before new ones are there, whatever the "
                     "budgets say. |  | " FOR_LABELS ", scale-down: spec.replicas | "},
        {.name = "a fixed size of none and other labels: nothing is left to replace",
         .before = POOL_OF("general", STAMPED(HASH), "replicas: 4, ", "", ""),
         .after = POOL_OF("general", STAMPED(HASH), "replicas: 0, ", TEAM, ""),
         .cluster = {POOL, FOUR, POD_OF("shop", "web-1", "n1", OWNED KEPT)},
         .expected = "This deletes 4 of 4 nodes at once, before new ones are there, whatever the "
                     "budgets say. 1 pod needs another place. | 1 pod of shop holds up the drain: "
                     "shop/web-1 (karpenter.sh/do-not-disrupt). | " FOR_LABELS
                     ", scale-down: spec.replicas | "},
        {.name = "what blocks is given up last",
         .before = POOL_OF("general", STAMPED(HASH), "replicas: 4, ", "", ""),
         .after = POOL_OF("general", STAMPED(HASH), "replicas: 1, ", TEAM, ""),
         .cluster = {POOL, FOUR, POD_OF("shop", "web-1", "n1", OWNED KEPT),
                     POD_OF("shop", "web-2", "n2", OWNED KEPT)},
         .expected =
             "This change replaces 1 of 4 nodes, all of them blocked as things are. It "
             "deletes 3 of 4 nodes at once, before new ones are there, whatever the "
             "budgets say. 2 pods need another place. | 2 pods of shop hold up the drain: "
             "shop/web-1 (karpenter.sh/do-not-disrupt), shop/web-2 "
             "(karpenter.sh/do-not-disrupt). | " FOR_LABELS ", scale-down: spec.replicas | "},
        {.name = "nodes wait already for what the NodePool said; one for its node class",
         .before = POOL,
         .after = POOL_OF("general", STAMPED(HASH), "", "", ZONES("[b]")),
         .cluster = {POOL, WAITING("n1", "a", "NodePoolDrifted"), NODE_IN("n1", "a", ""),
                     WAITING("n2", "a", "RequirementsDrifted"), NODE_IN("n2", "a", ""),
                     WAITING("n3", "b", "AMIDrift"), NODE_IN("n3", "b", ""), NODE("n4", "a")},
         .expected = "This change replaces 1 of 4 nodes, all at once, from now on. 2 more wait to "
                     "be replaced after earlier changes. |  | "
                     "drift: spec.template.spec.requirements[0] | "},
        {.name = "an edit of one that is leaving",
         .before =
             "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general, "
             "deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {template: {spec: {" CLASS_NAME(
                 "default") "}}}}",
         .after = LABELLED,
         .cluster = {POOL, FOUR},
         .expected = REPLACES_4 " |  | " FOR_LABELS " | "},
        {.name = "a Deployment, of which nobody knows",
         .before = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}",
         .cluster = {FOUR},
         .expected = "not known"},
        {.name = "an old version",
         .before = "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: general}}",
         .after = "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: general}}",
         .cluster = {FOUR},
         .expected = "not known"},
    };
    RUN(cases);
}

/* ---- how fast, and what blocks ---- */

#define WORKING_DAYS "{nodes: '0', schedule: '0 0 * * 1-5', duration: 24h}"
/* A node that Karpenter has tainted to take it away, for an earlier change. */
#define GOING(name)                                                         \
    CLAIM_IN(name, "a", "77", "", ""),                                      \
        "{apiVersion: v1, kind: Node, " META(name, "a",                     \
                                             "") ", spec: {taints: [{key: " \
                                                 "karpenter.sh/disrupted, effect: NoSchedule}]}}"
#define EDIT_UNDER(budgets)                                        \
    .before = POOL_OF("general", STAMPED(HASH), budgets, "", ""),  \
    .after = POOL_OF("general", STAMPED(HASH), budgets, TEAM, ""), \
    .cluster = {POOL_OF("general", STAMPED(HASH), budgets, "", ""), FOUR}

static void the_pace_is_that_of_the_budgets(void)
{
    static const struct impact_case cases[] = {
        {.name = "two at a time",
         EDIT_UNDER(BUDGETS("{nodes: '2'}")),
         .expected =
             "This change replaces 4 of 4 nodes, at most 2 at a time, from now on. |  | " FOR_LABELS
             " | "},
        {.name = "never",
         EDIT_UNDER(BUDGETS("{nodes: '0'}")),
         .expected =
             "This change replaces 4 of 4 nodes, but budgets never let one go. |  | " FOR_LABELS
             " | "},
        {.name = "closed on working days, in UTC whatever the node's zone",
         EDIT_UNDER(BUDGETS("{nodes: '0', schedule: '0 0 * * 1-5', duration: 24h}, {nodes: '3'}")),
         .expected = "This change replaces 4 of 4 nodes, at most 3 at a time, from Saturday 00:00 "
                     "UTC. |  | " FOR_LABELS " | "},
        {.name = "far ahead, with the date",
         EDIT_UNDER(BUDGETS("{nodes: '0', schedule: '0 0 1 1 *', duration: 480h}")),
         .expected = "This change replaces 4 of 4 nodes, all at once, from Wed 1970-01-21 00:00 "
                     "UTC. |  | " FOR_LABELS " | "},
        {.name = "contradictory budgets: the least holds",
         EDIT_UNDER(BUDGETS("{nodes: 100%}, {nodes: '1'}, {nodes: '0', reasons: [Empty]}")),
         .expected = REPLACES_4 " |  | " FOR_LABELS " | "},
        {.name = "one that cannot be read stops all",
         EDIT_UNDER(BUDGETS("{nodes: '1', schedule: nonsense, duration: 1h}")),
         .expected =
             "This change replaces 4 of 4 nodes, but budgets never let one go. |  | " FOR_LABELS
             " | "},
        {.name = "another one is going already",
         .before = POOL_OF("general", STAMPED(HASH), BUDGETS("{nodes: '1'}"), "", ""),
         .after = POOL_OF("general", STAMPED(HASH), BUDGETS("{nodes: '1'}"), TEAM, ""),
         .cluster = {POOL, FOUR, GOING("n5")},
         .expected =
             "This change replaces 4 of 5 nodes, none of them right now. 1 more waits to be "
             "replaced after earlier changes. |  | " FOR_LABELS " | "},
        {.name = "budgets that come with the change count",
         .before = POOL,
         .after = POOL_OF("general", STAMPED(HASH), BUDGETS("{nodes: 100%}"), TEAM, ""),
         .cluster = {POOL, FOUR},
         .expected =
             "This change replaces 4 of 4 nodes, all at once, from now on. |  | " FOR_LABELS " | "},
    };
    RUN(cases);
}

/* Of three NodePools of one class. */
#define OF_POOL(pool, name, metadata)                                                          \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: " name ", labels: {" pool \
    "}, annotations: {karpenter.k8s.aws/ec2nodeclass-hash: '1', "                              \
    "karpenter.k8s.aws/ec2nodeclass-hash-version: v6}}, spec: {" CLASS_NAME(                   \
        "default") "}, status: {nodeName: " name "}}",                                         \
        "{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" pool               \
        "karpenter.sh/initialized: 'true'}" metadata "}}"
#define LABEL_OF(pool) "karpenter.sh/nodepool: " pool ", "
#define MADE(pool, name) OF_POOL(LABEL_OF(pool), name, "")
#define BUDGETED(name, budgets) POOL_OF(name, "", BUDGETS(budgets), "", "")
#define EDIT_OF_CLASS .before = NODE_CLASS(""), .after = NODE_CLASS("role: other")

static void the_first_window_of_the_pools_of_a_class_is_told(void)
{
    static const struct impact_case cases[] = {
        {.name = "the second is open",
         EDIT_OF_CLASS,
         .cluster = {BUDGETED("a", WORKING_DAYS), BUDGETED("b", "{nodes: '1'}"),
                     BUDGETED("c", WORKING_DAYS), MADE("a", "a1"), MADE("b", "b1"), MADE("b", "b2"),
                     MADE("c", "c1")},
         .expected = "This change replaces 4 of 4 nodes, at most 1 at a time, from now on. |  | "
                     "drift: spec.role | "},
        {.name = "two open at once, and one never",
         EDIT_OF_CLASS,
         .cluster = {BUDGETED("a", WORKING_DAYS), BUDGETED("b", "{nodes: '0'}"),
                     BUDGETED("c", WORKING_DAYS), MADE("a", "a1"), MADE("b", "b1"), MADE("b", "b2"),
                     MADE("c", "c1")},
         .expected = "This change replaces 4 of 4 nodes, at most 2 at a time, from Saturday 00:00 "
                     "UTC. |  | drift: spec.role | "},
        {.name = "none in the first",
         EDIT_OF_CLASS,
         .cluster = {BUDGETED("a", WORKING_DAYS),
                     BUDGETED("b", "{nodes: '0', schedule: '0 0 * * 1-6', duration: 24h}"),
                     OF_POOL(LABEL_OF("a"), "a1",
                             ", annotations: {karpenter.sh/do-not-disrupt: "
                             "'true'}"),
                     MADE("b", "b1")},
         .expected = "This change replaces 2 of 2 nodes, none of them right from Saturday 00:00 "
                     "UTC. | 1 node cannot go: a1 (karpenter.sh/do-not-disrupt on the Node). | "
                     "drift: spec.role | "},
        {.name = "a node of no NodePool",
         EDIT_OF_CLASS,
         .cluster = {OF_POOL("", "a1", "")},
         .expected = NO_NODE},
        {.name = "some surely, and some perhaps",
         .before = NODE_CLASS("amiSelectorTerms: [{id: ami-1}]"),
         .after = NODE_CLASS("amiSelectorTerms: [{tags: {a: b}}], role: other"),
         .cluster = {BUDGETED("a", "{nodes: '1'}"), MADE("a", "a1"),
                     "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: a2, labels: "
                     "{" LABEL_OF("a") "}}, spec: {" CLASS_NAME("default") "}}"},
         .expected =
             "This change replaces 1 of 2 nodes, all at once, from now on. 1 more of 2 nodes "
             "may be replaced, which only the cloud knows. |  | drift: spec.role, drift: "
             "spec.amiSelectorTerms | "},
        {.name = "more fields than are told",
         .before = NODE_CLASS(""),
         .after = NODE_CLASS(
             "role: other, userData: a, tags: {a: b}, detailedMonitoring: true, "
             "instanceStorePolicy: RAID0, associatePublicIPAddress: true, context: a, "
             "amiFamily: AL2, metadataOptions: {httpTokens: optional}, blockDeviceMappings: "
             "[{deviceName: /dev/xvda}]"),
         .cluster = {BUDGETED("a", "{nodes: '1'}"), MADE("a", "a1")},
         .expected =
             "This change replaces 1 of 1 node, all at once, from now on. |  | drift: "
             "spec.associatePublicIPAddress, drift: spec.userData, drift: spec.role, drift: "
             "spec.tags, drift: spec.blockDeviceMappings, drift: spec.instanceStorePolicy, drift: "
             "spec.detailedMonitoring, drift: spec.metadataOptions.httpTokens | "},
    };
    RUN(cases);
}

/* A node that may take its time goes although a pod holds it up. */
static void a_drain_that_has_an_end_is_held_up(void)
{
    static const struct impact_case cases[] = {
        {.name = "one with an end, and one without",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL, CLAIM_IN("n1", "a", HASH, "terminationGracePeriod: 1h", ""),
                     NODE_IN("n1", "a", ""), NODE("n2", "a"), POD_OF("team-a", "p", "n1", KEPT)},
         .expected =
             "This change replaces 2 of 2 nodes, at most 1 at a time, from now on. | 1 pod "
             "of team-a blocks it: team-a/p (karpenter.sh/do-not-disrupt). | " FOR_LABELS " | "},
    };
    RUN(cases);
}

#define POD_ON_N1(name) "---\n" POD_OF("team-a", name, "n1", KEPT) "\n"
#define FIVE_ON_N1(name) \
    POD_ON_N1(name "1")  \
    POD_ON_N1(name "2") POD_ON_N1(name "3") POD_ON_N1(name "4") POD_ON_N1(name "5")

static void what_is_too_much_to_name_is_counted(void)
{
    static const struct impact_case cases[] = {
        {.name = "pods that block",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL, NODE("n1", "a"), FIVE_ON_N1("a"), FIVE_ON_N1("b"), FIVE_ON_N1("c"),
                     FIVE_ON_N1("d"), POD_OF("team-b", "z", "n1", KEPT)},
         .expected = "This change replaces 1 of 1 node, all of them blocked as things are. | 21 "
                     "pods of team-a and perhaps others block it: team-a/a1 "
                     "(karpenter.sh/do-not-disrupt), team-a/a2 (karpenter.sh/do-not-disrupt), "
                     "team-a/a3 (karpenter.sh/do-not-disrupt) and 18 more. | " FOR_LABELS " | "},
        {.name = "nodes of which no more are looked at",
         .before = POOL,
         .cluster = {POOL, FOUR, POD_OF("team-a", "p", "n1", KEPT OWNED),
                     POD_OF("team-b", "q", "n2", OWNED), POD_OF("team-c", "r", "n3", KEPT)},
         .most = 2,
         .expected = "This deletes 4 of 4 nodes at once, before new ones are there, whatever the "
                     "budgets say. At least 2 pods need another place. | At least 1 pod of team-a "
                     "holds up the drain: team-a/p (karpenter.sh/do-not-disrupt). | deletion | "},
        {.name = "a node that is leaving, and one that has not begun, are no news",
         .before = POOL,
         .cluster = {POOL, GOING("n1"), POD_OF("team-a", "p", "n1", KEPT OWNED),
                     CLAIM_IN("n2", "a", HASH, "", ""),
                     "{apiVersion: v1, kind: Node, metadata: {name: n2, labels: "
                     "{karpenter.sh/nodepool: general}}}",
                     POD_OF("team-b", "q", "n2", KEPT OWNED)},
         .expected = "This deletes 2 of 2 nodes at once, before new ones are there, whatever the "
                     "budgets say. 2 pods need another place. | 1 pod of team-b holds up the "
                     "drain: team-b/q (karpenter.sh/do-not-disrupt). | deletion | "},
        {.name = "as many as are looked at",
         .before = POOL,
         .cluster = {POOL, FOUR, POD_OF("team-a", "p", "n1", OWNED)},
         .most = 4,
         .expected = "This deletes 4 of 4 nodes at once, before new ones are there, whatever the "
                     "budgets say. 1 pod needs another place. |  | deletion | "},
    };
    RUN(cases);
}

static void what_blocks_is_named_with_its_owner(void)
{
    static const struct impact_case cases[] = {
        {.name = "a pod that opts out, one under a budget",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL, FOUR, POD_OF("team-a", "web-0", "n1", ""), PDB("team-a"),
                     POD_OF("team-b", "job-0", "n2", KEPT)},
         .expected = REPLACES_4 " | 2 pods of team-a and team-b block it: team-a/web-0 "
                                "(PodDisruptionBudget web), team-b/job-0 "
                                "(karpenter.sh/do-not-disrupt). | " FOR_LABELS " | "},
        {.name = "all of them",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL, NODE("n1", "a"), POD_OF("team-b", "job-0", "n1", KEPT)},
         .expected =
             "This change replaces 1 of 1 node, all of them blocked as things are. | 1 pod "
             "of team-b blocks it: team-b/job-0 (karpenter.sh/do-not-disrupt). | " FOR_LABELS
             " | "},
        {.name = "a node itself",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL, NODE("n1", "a"), CLAIM_IN("n2", "b", HASH, "", ""),
                     NODE_IN("n2", "b", KEPT)},
         .expected =
             "This change replaces 2 of 2 nodes, at most 1 at a time, from now on. | 1 node "
             "cannot go: n2 (karpenter.sh/do-not-disrupt on the Node). | " FOR_LABELS " | "},
        {.name = "a pod is named beside many nodes",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL, FIVE_COMING("a"), FIVE_COMING("b"), FIVE_COMING("c"), FIVE_COMING("d"),
                     NODE("n1", "a"), POD_OF("team-b", "job-0", "n1", KEPT)},
         .expected =
             "This change replaces 21 of 21 nodes, all of them blocked as things are. | 1 pod of "
             "team-b blocks it: team-b/job-0 (karpenter.sh/do-not-disrupt). 20 nodes cannot go: a1 "
             "(its Node has not come yet), a2 (its Node has not come yet), a3 (its Node has not "
             "come yet) and 17 more. | " FOR_LABELS " | "},
    };
    RUN(cases);
}

/* ---- deletions ---- */

static void deletions_of_node_pools_and_classes(void)
{
    static const struct impact_case cases[] = {
        {.name = "a NodePool takes its nodes",
         .before = POOL_OF("general", "", BUDGETS("{nodes: '0'}"), "", ""),
         .cluster = {POOL, FOUR, POD_OF("team-a", "web-0", "n1", OWNED), PDB("team-a"),
                     POD_OF("team-b", "web-1", "n2", OWNED)},
         .expected =
             "This deletes 4 of 4 nodes at once, before new ones are there, whatever the budgets "
             "say. 2 pods need another place. | 1 pod of team-a holds up the drain: "
             "team-a/web-0 (PodDisruptionBudget web). | deletion | "},
        {.name = "pods that no controller makes again",
         .before = POOL,
         .cluster = {POOL, FOUR, POD_OF("team-a", "tool", "n1", ""),
                     POD_OF("team-b", "tool", "n2", "")},
         .expected = "This deletes 4 of 4 nodes at once, before new ones are there, whatever the "
                     "budgets say. 2 pods are gone for good, since no controller makes them again. "
                     "|  | deletion | "},
        {.name = "beside others",
         .before = POOL,
         .cluster = {POOL, FOUR, POD_OF("team-a", "tool", "n1", ""),
                     POD_OF("team-b", "web", "n2", OWNED)},
         .expected = "This deletes 4 of 4 nodes at once, before new ones are there, whatever the "
                     "budgets say. 1 pod needs another place, and 1 is gone for good, since no "
                     "controller makes it again. |  | deletion | "},
        {.name = "not when what it owns is to stay",
         .before = POOL,
         .cluster = {POOL, FOUR},
         .orphans = true,
         .expected = "4 nodes stay without their NodePool: Karpenter no longer replaces or "
                     "consolidates them. |  | deletion | "},
        {.name = "one node is to stay",
         .before = POOL,
         .cluster = {POOL, NODE("n1", "a")},
         .orphans = true,
         .expected = "1 node stays without its NodePool: Karpenter no longer replaces or "
                     "consolidates it. |  | deletion | "},
        {.name = "the class of one node",
         .before = NODE_CLASS(""),
         .cluster = {POOL, NODE("n1", "a")},
         .expected = "NodePool general launches no more nodes; the 1 that runs stays, "
                     "without successors. |  | deletion | "},
        {.name = "an old version",
         .before = "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: general}}",
         .cluster = {FOUR},
         .expected = "not known"},
        {.name = "an empty NodePool", .before = POOL, .cluster = {POOL}, .expected = NO_NODE},
        {.name = "Nodes whose NodeClaims nobody has listed",
         .before = POOL,
         .cluster = {POOL, NODE_IN("n1", "a", "")},
         .expected =
             "This deletes 1 of 1 node at once, before new ones are there, whatever the budgets "
             "say. |  | deletion | NodeClaims cannot all be seen"},
        {.name = "a node class keeps its nodes and stops its NodePools",
         .before = "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: "
                   "default}}",
         .cluster = {POOL, FOUR},
         .expected = "NodePool general launches no more nodes; the 4 that run stay, "
                     "without successors. |  | deletion | "},
        {.name = "a node class that no NodePool names",
         .before = "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: "
                   "other}}",
         .cluster = {POOL, FOUR},
         .expected = NO_NODE},
        {.name = "one that is being deleted already",
         .before = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general, "
                   "deletionTimestamp: '2026-01-01T00:00:00Z'}}",
         .cluster = {POOL, FOUR},
         .expected = NO_NODE},
    };
    RUN(cases);
}

/* ---- what uses it ---- */

#define CLASS(more)                                                                             \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: " \
    "p" more "}"
#define CLAIM_OF(name, class, volume)                                      \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name \
    "}, spec: {storageClassName: " class volume "}}"
#define PRIORITY(value)                                                                \
    "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, " \
    "value: " value "}"
#define OF_PRIORITY(name, class)                               \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name "}, " \
    "spec: {priorityClassName: " class "}}"
#define MOUNTING(name, claim)                                                                \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {volumes: [{name: data, " \
    "persistentVolumeClaim: {claimName: " claim "}}]}}"
#define VOLUME(policy)                                                      \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1}, spec: " \
    "{persistentVolumeReclaimPolicy: " policy "}}"

#define DEFAULT ", annotations: {storageclass.kubernetes.io/is-default-class: 'true'}"
#define CLASS_NAMED(name, metadata)                                                       \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name metadata \
    "}, provisioner: p}"
#define CLAIM_OF_NONE(name, volume)                                                                \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name "}, spec: {" volume "}" \
    "}"
#define SET(name, specs)                                                    \
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: " name "}, " \
    "spec: {volumeClaimTemplates: [" specs "]}}"
#define DONE "{apiVersion: v1, kind: Pod, metadata: {name: done}, status: {phase: Failed}, spec: {"
#define CLAIM_DOCUMENT(name) "---\n" CLAIM_OF(name, "fast", ", volumeName: v1") "\n"
#define FIVE_CLAIMS(name)    \
    CLAIM_DOCUMENT(name "1") \
    CLAIM_DOCUMENT(name "2") \
    CLAIM_DOCUMENT(name "3") CLAIM_DOCUMENT(name "4") CLAIM_DOCUMENT(name "5")
#define EPHEMERAL_OF(kind, owner)                                                \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p-scratch, " \
    "ownerReferences: [{apiVersion: v1, kind: " kind ", name: " owner            \
    ", controller: true}]}, spec: {storageClassName: fast}}"
#define OWN_AND_MOUNTED                                                                  \
    "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {volumes: [{name: scratch, " \
    "persistentVolumeClaim: {claimName: p-scratch}}]}}"
#define WITH_SCRATCH(name)                                                                      \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name "}, spec: {volumes: [{name: scratch, " \
    "ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}]}}"
#define SHOP "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"

static void what_uses_a_class_or_a_claim(void)
{
    static const struct impact_case cases[] = {
        {.name = "a StorageClass with claims, one of them without a volume",
         .before = CLASS(""),
         .cluster = {CLASS(""), CLAIM_OF("a", "fast", ", volumeName: v1"),
                     CLAIM_OF("b", "fast", ""), CLAIM_OF("c", "slow", "")},
         .expected = "2 objects use this StorageClass: 1 PersistentVolumeClaim waits for a volume "
                     "that nobody makes any more. |  | deletion | "},
        {.name = "other parameters",
         .before = CLASS(", parameters: {type: gp2}"),
         .after = CLASS(", parameters: {type: gp3}"),
         .cluster = {CLASS(""), CLAIM_OF("a", "fast", ", volumeName: v1")},
         .expected = "1 object uses this StorageClass: their volumes stay as they are, new ones "
                     "are made as the class then says. |  | change: parameters | "},
        {.name = "the default class, which claims get that name none",
         .before = CLASS_NAMED("fast", DEFAULT),
         .cluster = {CLASS_NAMED("fast", DEFAULT), CLAIM_OF_NONE("a", ""), CLAIM_OF_NONE("b", ""),
                     CLAIM_OF_NONE("c", "volumeName: v1"),
                     CLAIM_OF_NONE("d", "storageClassName: ''")},
         .expected = "2 objects use this StorageClass: 2 PersistentVolumeClaims wait for a volume "
                     "that nobody makes any more. |  | deletion | "},
        {.name = "another class is the default",
         .before = CLASS(""),
         .cluster = {CLASS(""), CLASS_NAMED("slow", DEFAULT), CLAIM_OF_NONE("a", "")},
         .expected = "This change replaces and deletes no node. |  | deletion | "},
        {.name = "sets that make claims for their replicas",
         .before = CLASS(""),
         .cluster = {CLASS(""), SET("a", "{spec: {storageClassName: fast}}"),
                     SET("b", "{spec: {storageClassName: slow}}"), SET("c", "{spec: {}}"),
                     SET("d", "{spec: {}}, {spec: {storageClassName: fast}}"), SET("e", "")},
         .expected = "2 objects use this StorageClass: no volume can be made or expanded for them "
                     "any more. |  | deletion | "},
        {.name = "more claims than are kept",
         .before = CLASS(""),
         .cluster = {CLASS(""), FIVE_CLAIMS("a"), FIVE_CLAIMS("b"), FIVE_CLAIMS("c"),
                     FIVE_CLAIMS("d"), CLAIM_DOCUMENT("e")},
         .expected = "21 objects use this StorageClass: no volume can be made or expanded for them "
                     "any more. |  | deletion | "},
        {.name = "another label alone",
         .before = CLASS(""),
         .after = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast, "
                  "labels: {a: b}}, provisioner: p}",
         .cluster = {CLASS(""), CLAIM_OF("a", "fast", "")},
         .expected = NO_NODE},
        {.name = "a PriorityClass",
         .before = PRIORITY("1000"),
         .cluster = {OF_PRIORITY("a", "high"), OF_PRIORITY("b", "high"), OF_PRIORITY("c", "low"),
                     DONE "priorityClassName: high}}"},
         .expected = "2 Pods use this PriorityClass and keep the old priority; their successors "
                     "are refused. |  | deletion | "},
        {.name = "a claim that is mounted, with its data",
         .before = CLAIM_OF("a", "fast", ", volumeName: v1"),
         .cluster = {MOUNTING("p", "a"), MOUNTING("q", "b"), VOLUME("Delete")},
         .expected = "1 Pod mounts this PersistentVolumeClaim: it goes with the last of them, and "
                     "its volume with all data. |  | deletion | "},
        {.name = "a claim that two pods mount",
         .before = CLAIM_OF("a", "fast", ""),
         .cluster = {MOUNTING("p", "a"), MOUNTING("q", "a"),
                     DONE "volumes: [{name: data, persistentVolumeClaim: {claimName: a}}]}}",
                     "{apiVersion: v1, kind: Pod, metadata: {name: r, namespace: team-b}, spec: "
                     "{volumes: [{name: data, persistentVolumeClaim: {claimName: a}}]}}"},
         .expected = "2 Pods mount this PersistentVolumeClaim: it goes with the last of them. |  | "
                     "deletion | "},
        {.name = "a claim that was made for a pod",
         .before = EPHEMERAL_OF("Pod", "p"),
         .cluster = {WITH_SCRATCH("p"), WITH_SCRATCH("q")},
         .expected = "1 Pod mounts this PersistentVolumeClaim: it goes with the last of them. |  | "
                     "deletion | "},
        {.name = "a claim that goes with the pod that mounts it",
         .before = EPHEMERAL_OF("Pod", "p"),
         .cluster = {OWN_AND_MOUNTED},
         .expected = "1 Pod mounts this PersistentVolumeClaim: it goes with the last of them. |  | "
                     "deletion | "},
        {.name = "a claim of a pod that is done",
         .before = EPHEMERAL_OF("Pod", "done"),
         .cluster = {DONE "volumes: []}}"},
         .expected = NO_NODE},
        {.name = "a claim that something else has made",
         .before = EPHEMERAL_OF("Postgres", "p"),
         .cluster = {WITH_SCRATCH("p")},
         .expected = NO_NODE},
        {.name = "an edit of a claim",
         .before = CLAIM_OF("a", "fast", ""),
         .after = CLAIM_OF("a", "fast", ", volumeName: v1"),
         .cluster = {MOUNTING("p", "a")},
         .expected = NO_NODE},
        {.name = "a claim whose volume is retained",
         .before = CLAIM_OF("a", "fast", ", volumeName: v1"),
         .cluster = {MOUNTING("p", "a"), VOLUME("Retain")},
         .expected = "1 Pod mounts this PersistentVolumeClaim: it goes with the last of them. |  | "
                     "deletion | "},
        {.name = "a claim that nobody mounts",
         .before = CLAIM_OF("a", "fast", ""),
         .cluster = {MOUNTING("q", "b")},
         .expected = NO_NODE},
        {.name = "a Namespace",
         .before = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
         .cluster = {MOUNTING("p", "a"), CLAIM_OF("a", "fast", "")},
         .expected = "2 Pods and PersistentVolumeClaims go with this Namespace. |  | deletion | "},
        {.name = "a Namespace with its data; what is done, and what is elsewhere, does not count",
         .before = SHOP,
         .cluster = {CLAIM_OF("a", "fast", ", volumeName: v1"), VOLUME("Delete"), DONE "}}",
                     "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: "
                     "team-b}}",
                     POD_OF("team-b", "p", "n1", "")},
         .expected = "1 Pod or PersistentVolumeClaim goes with this Namespace, and volumes with "
                     "all data. |  | deletion | "},
        {.name = "an empty Namespace", .before = SHOP, .cluster = {FOUR}, .expected = NO_NODE},
        {.name = "a Namespace that gets a label",
         .before = SHOP,
         .after = "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {a: b}}}",
         .cluster = {MOUNTING("p", "a")},
         .expected = NO_NODE},
    };
    RUN(cases);
}

/* ---- what cannot be seen ---- */

static void what_is_not_seen_is_said(void)
{
    static const struct impact_case cases[] = {
        {.name = "NodeClaims",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL},
         .unseen = KIND_BIT(KIND_NODE_CLAIM),
         .expected =
             "This change replaces and deletes no node. |  |  | NodeClaims cannot all be seen"},
        {.name = "Pods and their budgets",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL, FOUR},
         .unseen = KIND_BIT(KIND_POD) | KIND_BIT(KIND_POD_DISRUPTION_BUDGET),
         .expected =
             REPLACES_4 " |  | " FOR_LABELS " | Pods and PodDisruptionBudgets cannot all be seen"},
        {.name = "the NodePool of a class' NodeClaim",
         .before = NODE_CLASS(""),
         .after = NODE_CLASS("role: other"),
         .cluster = {"{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c1, labels: "
                     "{karpenter.sh/nodepool: gone}, annotations: "
                     "{karpenter.k8s.aws/ec2nodeclass-hash: '1', "
                     "karpenter.k8s.aws/ec2nodeclass-hash-version: v6}}, spec: {" CLASS_NAME(
                         "default") "}}"},
         .expected = "This change replaces 1 of 1 node, at a pace that is not known. | 1 node "
                     "cannot go: c1 (its Node has not come yet). | drift: spec.role | "},
    };
    RUN(cases);
}

const struct unit_test unit_tests[] = {
    {"edits of NodePools", edits_of_node_pools},
    {"the pace is that of the budgets", the_pace_is_that_of_the_budgets},
    {"what blocks is named with its owner", what_blocks_is_named_with_its_owner},
    {"the first window of the pools of a class is told",
     the_first_window_of_the_pools_of_a_class_is_told},
    {"a drain that has an end is held up", a_drain_that_has_an_end_is_held_up},
    {"what is too much to name is counted", what_is_too_much_to_name_is_counted},
    {"deletions of NodePools and classes", deletions_of_node_pools_and_classes},
    {"what uses a class or a claim", what_uses_a_class_or_a_claim},
    {"what is not seen is said", what_is_not_seen_is_said},
    {NULL, NULL},
};
