/* Findings are cut, and nothing is lost by it: not a denial, and not what is new. */
#include "rail_table.h"

const char unit_suite[] = "policy cut";

static struct text pod_of(size_t bad_first, size_t bad_count, const char *more, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    text_builder_add(&out, TEXT("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {"
                                "topologySpreadConstraints: ["));
    for (size_t i = 0; i < bad_count; i++)
        text_builder_printf(&out, "{topologyKey: zone, maxSkew: %zu, name: c%zu}, ", i,
                            bad_first + i);
    text_builder_printf(&out, "{topologyKey: kubernetes.io/hostname}%s]}}", more);
    return text_builder_text(&out);
}

static void counts_stay_right(void)
{
    static const struct {
        size_t old_count; /* SIZE_MAX: a CREATE */
        size_t new_first, new_count;
        enum action action;
        size_t denied, audited; /* all that they stand for */
    } cases[] = {
        {SIZE_MAX, 0, 0, ACTION_NONE, 0, 0},
        {SIZE_MAX, 0, 1, ACTION_DENY, 1, 0},
        {SIZE_MAX, 0, 50, ACTION_DENY, 50, 0},
        {SIZE_MAX, 0, 51, ACTION_DENY, 51, 0},
        {SIZE_MAX, 0, 3000, ACTION_DENY, 3000, 0},
        {50, 0, 50, ACTION_AUDIT, 0, 50},
        {3000, 0, 3000, ACTION_AUDIT, 0, 3000},
        {3000, 0, 3001, ACTION_DENY, 1, 3000}, /* the last is new */
        {3000, 2999, 3000, ACTION_DENY, 2999, 1},
        {3000, 0, 10, ACTION_AUDIT, 0, 10},
        {10, 0, 3000, ACTION_DENY, 2990, 10},
        {60, 30, 60, ACTION_DENY, 30, 30},
    };
    struct arena *arena = arena_create((size_t)256 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct world world = rail_table_world("topology-keys: {}", NULL, arena);
        bool update = cases[i].old_count != SIZE_MAX;
        struct text now = pod_of(cases[i].new_first, cases[i].new_count, "", arena);
        struct rail_documents after = rail_table_read(now.data, arena);
        struct rail_documents before = {0};
        if (update)
            before = rail_table_read(pod_of(0, cases[i].old_count, "", arena).data, arena);
        const struct subject subject = {.operation = update ? OPERATION_UPDATE : OPERATION_CREATE,
                                        .object = &after.items[0],
                                        .old_object = update ? &before.items[0] : NULL};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        size_t denied = 0, audited = 0, listed = 0;
        for (size_t j = 0; j < verdict.finding_count; j++) {
            const struct finding *finding = &verdict.findings[j];
            size_t count = finding->more > 0 ? finding->more : 1;
            denied += finding->action == ACTION_DENY ? count : 0;
            audited += finding->action == ACTION_AUDIT ? count : 0;
            listed += finding->more == 0;
            CU_ASSERT(finding->pre_existing == (finding->action == ACTION_AUDIT));
        }
        ASSERT_INT(verdict.action, cases[i].action);
        ASSERT_INT(denied, cases[i].denied);
        ASSERT_INT(audited, cases[i].audited);
        CU_ASSERT(listed <= 100);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

/* A finding that tells of several values is new where one of them is, at the list or at a value. */
static void a_list_that_loses_wrong_values_is_no_news(void)
{
#define TYPES(values)                                                                           \
    "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {affinity: {nodeAffinity: {"        \
    "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [" \
    "{key: node.kubernetes.io/instance-type, operator: In, values: [" values "]}]}]}}}}}"
#define POOL(families)                                                                         \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "     \
    "{spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}, "          \
    "requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [" families \
    "]}]}}}}"
    static const struct {
        const char *before, *after;
        enum action action;
    } cases[] = {
        {TYPES("r5.large, m5.large, c5.large"), TYPES("r5.large, m5.large, c5.large"),
         ACTION_AUDIT},
        {TYPES("r5.large, m5.large, c5.large"), TYPES("c5.large, m5.large"), ACTION_AUDIT},
        {TYPES("r5.large, m5.large, c5.large"), TYPES("c5.large, m6i.large"), ACTION_AUDIT},
        {TYPES("r5.large, c5.large"), TYPES("r5.large, m6i.large, c5.xlarge"), ACTION_DENY},
        {TYPES("r5.large"), TYPES("r5.large, c5.large"), ACTION_DENY},
        {TYPES("m6i.large"), TYPES("r5.large"), ACTION_DENY},
        {POOL("r5, c5, m6i"), POOL("r5, m6i"), ACTION_AUDIT},
        {POOL("r5, c5, m6i"), POOL("r5"), ACTION_AUDIT},
        {POOL("r5, m6i"), POOL("r5, c5, m6i"), ACTION_DENY},
    };
    struct arena *arena = arena_create((size_t)256 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct world world =
            rail_table_world("instance-types: {allow: {families: [m6i]}}", NULL, arena);
        struct rail_documents before = rail_table_read(cases[i].before, arena);
        struct rail_documents after = rail_table_read(cases[i].after, arena);
        const struct subject subject = {.operation = OPERATION_UPDATE,
                                        .object = &after.items[0],
                                        .old_object = &before.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        if (verdict.action != cases[i].action)
            fprintf(stderr, "%s\n", cases[i].after);
        ASSERT_INT(verdict.action, cases[i].action);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

/* What two policies have to say of an update that changes nothing, each more than is listed. */
static void an_update_that_changes_nothing_is_no_news(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("topology-keys: {}", NULL, arena);
    struct text pod = pod_of(0, 60, "", arena);
    struct rail_documents before = rail_table_read(pod.data, arena);
    struct rail_documents after = rail_table_read(pod.data, arena);
    const struct policy policies[] = {world.policies->items[0], world.policies->items[0]};
    const struct policy_set set = {.items = policies, .count = COUNT_OF(policies)};
    world.policies = &set;
    const struct subject subject = {
        .operation = OPERATION_UPDATE, .object = &after.items[0], .old_object = &before.items[0]};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    ASSERT_INT(verdict.action, ACTION_AUDIT);
    ASSERT_INT(verdict.finding_count, 2 * 51);
    arena_destroy(arena);
}

/* Warnings before it hide no denial. */
static void severities_are_cut_apart(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    const struct world world = rail_table_world("topology-keys: {}", NULL, arena);
    struct text_builder out = {.arena = arena};
    text_builder_add(&out, TEXT("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {"
                                "topologySpreadConstraints: ["));
    for (size_t i = 0; i < 200; i++) /* no NodePool is visible: undecided */
        text_builder_printf(&out, "{topologyKey: example.com/k%zu}, ", i);
    text_builder_add(&out, TEXT("{topologyKey: zone}]}}"));
    struct rail_documents documents = rail_table_read(out.data, arena);
    const struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    ASSERT_INT(verdict.action, ACTION_DENY);
    ASSERT_INT(verdict.finding_count, 52);
    const struct finding *rest = &verdict.findings[50];
    ASSERT_INT(rest->more, 150);
    CU_ASSERT_TRUE(rest->undecided);
    ASSERT_TEXT(rest->message, "150 more findings of this rail are not listed.");
    arena_destroy(arena);
}

/* Nor do denials before it hide a warning, or count it as one of theirs. */
static void a_warning_behind_denials_is_one(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    const struct world world = rail_table_world("disruption-budgets: {}", NULL, arena);
    struct text_builder out = {.arena = arena};
    text_builder_add(&out,
                     TEXT("{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, "
                          "spec: {template: {metadata: {annotations: "
                          "{karpenter.sh/do-not-disrupt: 'true'}}}, disruption: {budgets: ["));
    for (size_t i = 0; i < 60; i++)
        text_builder_add(&out, TEXT("{nodes: lots}, "));
    text_builder_add(&out, TEXT("]}}}"));
    struct rail_documents documents = rail_table_read(out.data, arena);
    const struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    ASSERT_INT(verdict.finding_count, 52);
    const struct finding *rest = &verdict.findings[50];
    ASSERT_INT(rest->more, 10);
    ASSERT_INT(verdict.findings[51].action, ACTION_WARN);
    arena_destroy(arena);
}

#define META(more) "metadata: {name: a" more "}"
#define GOES ", deletionTimestamp: '2026-11-22T00:00:00Z'"
#define BUDGET(more, spec)                                      \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, " META( \
        more) ", spec: {selector: {}, " spec "}}"
#define POD(more, key)                                                                \
    "{apiVersion: v1, kind: Pod, " META(more) ", spec: {topologySpreadConstraints: [" \
                                              "{topologyKey: " key "}]}}"

static void on_the_way_out_what_still_works_is_judged(void)
{
    static const struct {
        const char *before, *after;
        enum action action;
    } cases[] = {
        {BUDGET("", "maxUnavailable: 1"), BUDGET("", "maxUnavailable: 0"), ACTION_DENY},
        {BUDGET(GOES, "maxUnavailable: 1"), BUDGET(GOES, "maxUnavailable: 0"), ACTION_DENY},
        {BUDGET(GOES, "maxUnavailable: 0"), BUDGET(GOES, "maxUnavailable: 0"), ACTION_AUDIT},
        {POD("", "kubernetes.io/hostname"), POD("", "zone"), ACTION_DENY},
        {POD(GOES, "kubernetes.io/hostname"), POD(GOES, "zone"), ACTION_NONE},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct world world =
            rail_table_world("topology-keys: {}, pod-disruption-budgets: {}", NULL, arena);
        struct rail_documents before = rail_table_read(cases[i].before, arena);
        struct rail_documents after = rail_table_read(cases[i].after, arena);
        const struct subject subject = {.operation = OPERATION_UPDATE,
                                        .object = &after.items[0],
                                        .old_object = &before.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        if (verdict.action != cases[i].action)
            fprintf(stderr, "%s\n", cases[i].after);
        ASSERT_INT(verdict.action, cases[i].action);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"counts stay right", counts_stay_right},
    {"a list that loses wrong values is no news", a_list_that_loses_wrong_values_is_no_news},
    {"an update that changes nothing is no news", an_update_that_changes_nothing_is_no_news},
    {"severities are cut apart", severities_are_cut_apart},
    {"a warning behind denials is one", a_warning_behind_denials_is_one},
    {"on the way out what still works is judged", on_the_way_out_what_still_works_is_judged},
    {NULL, NULL},
};
