/* What changes do to nodes and to pods. Time begins on Thursday 1970-01-01 at 00:00 UTC. */
#include "simulation/change_impact.h"

#include "cluster_fixture.h"
#include "kube/object.h"

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
#define BUDGETS(items) "disruption: {budgets: [" items "]}, "
#define POOL POOL_OF("general", STAMPED(HASH), "", "", "")
#define TEAM "labels: {team: a}"
#define LABELLED POOL_OF("general", STAMPED(HASH), "", TEAM, "")
#define ZONES(values) \
    ", requirements: [{key: topology.kubernetes.io/zone, operator: In, values: " values "}]"

#define META(name, zone, more)                                                                     \
    "metadata: {name: " name ", labels: {karpenter.sh/nodepool: general, karpenter.sh/initialized" \
    ": 'true', topology.kubernetes.io/zone: " zone "}" more "}"
#define CLAIM_IN(name, zone, hash, spec, status)            \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, " META( \
        name, zone, STAMPED(hash)) ", spec: {" spec "}, status: {nodeName: " name status "}}"
#define NODE_IN(name, zone, more) "{apiVersion: v1, kind: Node, " META(name, zone, more) "}"
/* A NodeClaim and its Node. */
#define NODE(name, zone) CLAIM_IN(name, zone, HASH, "", ""), NODE_IN(name, zone, "")
#define FOUR NODE("n1", "a"), NODE("n2", "a"), NODE("n3", "b"), NODE("n4", "b")

#define POD_OF(namespace, name, node, more)                                                    \
    "{apiVersion: v1, kind: Pod, metadata: {namespace: " namespace ", name: " name             \
                                                                   ", labels: {app: web}" more \
                                                                   "}, spec: {nodeName: " node \
                                                                   "}, status: {phase: Running}}"
#define KEPT ", annotations: {karpenter.sh/do-not-disrupt: 'true'}"
#define PDB(namespace)                                                                             \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {namespace: " namespace ", "     \
                                                                                          "name: " \
                                                                                          "web}, " \
                                                                                          "spec: " \
                                                                                          "{selec" \
                                                                                          "tor: "  \
                                                                                          "{match" \
                                                                                          "Labels" \
                                                                                          ": "     \
                                                                                          "{app: " \
                                                                                          "web}}}" \
                                                                                          ", "     \
                                                                                          "status" \
                                                                                          ": "     \
                                                                                          "{disru" \
                                                                                          "ptions" \
                                                                                          "Allowe" \
                                                                                          "d: 0}}"

/* ---- impacts as text ---- */

struct impact_case {
    const char *name, *before, *after; /* after NULL: deleted */
    const char *cluster[MOST];
    const char *expected; /* effect | blocks | reasons | not seen */
    int64_t now_unix_s;
    kind_set unseen;
    bool orphans;
};

static void take(void *context, const struct node *root)
{
    *(const struct node **)context = root;
}

static const struct object *read_object(struct arena *arena, const char *yaml)
{
    if (yaml == NULL)
        return NULL;
    struct source *source = ARENA_NEW(arena, struct source);
    struct problems problems = {.arena = arena};
    const struct node *root = NULL;
    source->text = text_of(yaml);
    doc_read_yaml(source, YAML_MANIFEST, &doc_limits_manifest, arena, &problems, take, &root);
    struct object *object = ARENA_NEW(arena, struct object);
    struct error error = {0};
    if (!object_read(root, source, TEXT("shop"), arena, object, &error)) {
        fprintf(stderr, "%s\n%s\n", yaml, error.what);
        CU_FAIL_FATAL("the test's object is none");
    }
    return object;
}

static struct text words_of(const struct change_question *question, struct arena *arena)
{
    struct change_impact impact;
    if (!change_impact(question, arena, &impact))
        return TEXT("not known");
    struct impact_words words = change_impact_words(question, &impact, arena);
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
            .before = read_object(fixture.arena, test->before),
            .after = read_object(fixture.arena, test->after),
            .orphans = test->orphans,
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

static void edits_of_node_pools(void)
{
    static const struct impact_case cases[] = {
        {.name = "a label",
         .before = POOL,
         .after = LABELLED,
         .cluster = {POOL, FOUR},
         .expected = "This change replaces 4 of 4 nodes, at most 1 at a time, from now on. |  | "
                     "drift: spec.template.metadata.labels | "},
    };
    RUN(cases);
}

const struct unit_test unit_tests[] = {
    {"edits of NodePools", edits_of_node_pools},
    {NULL, NULL},
};
