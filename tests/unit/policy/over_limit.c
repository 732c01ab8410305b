/* Who is denied though nothing was judged to its end, and which update changes nothing. */
#include <stdio.h>

#include "policy/rail.h"
#include "rail_table.h"

#define POD(more) "{apiVersion: v1, kind: Pod, metadata: {name: p" more "}, spec: {a: 1}}"
#define DEPLOYMENT \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {}}}"
#define NODE_CLAIM(labels)                                                               \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c, labels: " labels \
    "}, spec: {}}"

static const struct object *read_object(const char *yaml, struct arena *arena)
{
    struct rail_documents documents = rail_table_read(yaml, arena);
    CU_ASSERT_EQUAL_FATAL(documents.count, 1);
    return documents.items;
}

static void what_counts_as_no_change(void)
{
    static const struct {
        const char *before, *after;
        bool unchanged;
    } cases[] = {
        {POD(""), POD(""), true},
        {POD(""), "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {a: 2}}", false},
        {POD(""), "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {a: 1}, more: 1}", false},
        {"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {a: 1}, more: 1}", POD(""), false},
        {POD(""), "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {a: 1}, status: {b: 2}}",
         true},
        {POD(", labels: {a: b}"), POD(", labels: {a: c}"), false},
        {POD(", annotations: {a: b}"), POD(", annotations: {a: c}"), false},
        {POD(", annotations: {a: b}"), POD(""), false},
        {POD(", finalizers: [a]"), POD(", finalizers: [b]"), true},
        {NODE_CLAIM("{a: b}"), NODE_CLAIM("{a: c}"), false},
        /* A template has labels of its own. */
        {DEPLOYMENT,
         "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, labels: {a: b}},"
         " spec: {template: {}}}",
         true},
    };
    struct arena *arena = arena_create((size_t)16 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct subject subject = {.operation = OPERATION_UPDATE,
                                  .object = read_object(cases[i].after, arena),
                                  .old_object = read_object(cases[i].before, arena)};
        if (subject_is_unchanged(&subject) != cases[i].unchanged)
            fprintf(stderr, "%s\n", cases[i].after);
        ASSERT_INT(subject_is_unchanged(&subject), cases[i].unchanged);
        subject.old_object = NULL;
        CU_ASSERT(!subject_is_unchanged(&subject));
        subject.operation = OPERATION_CREATE;
        CU_ASSERT(!subject_is_unchanged(&subject));
    }
    arena_destroy(arena);
}

#define SPREAD "zone-spread: {minReplicas: 2}"
#define SIZE "resource-requests: {max: {cpu: 1}}"
#define OFF "resource-requests: {mode: off}"
#define WARNS "resource-requests: {mode: warn}"
#define SCALER                                                                         \
    "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}," \
    " spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}}"

static void who_is_denied(void)
{
    static const struct {
        const char *rails, *object;
        enum operation operation;
        const char *subresource;
        bool unchanged, template_unseen;
        enum action action;
    } cases[] = {
        {SIZE, POD(""), OPERATION_CREATE, "", false, false, ACTION_DENY},
        {SIZE, POD(""), OPERATION_UPDATE, "", false, false, ACTION_DENY},
        {SIZE, POD(""), OPERATION_UPDATE, "", true, false, ACTION_WARN},
        {SIZE, POD(""), OPERATION_CREATE, "", false, true, ACTION_WARN},
        {SIZE, POD(""), OPERATION_DELETE, "", false, false, ACTION_NONE},
        {SIZE, POD(""), OPERATION_UPDATE, "status", false, false, ACTION_NONE},
        {SIZE, POD(""), OPERATION_UPDATE, "resize", false, false, ACTION_DENY},
        {SPREAD, DEPLOYMENT, OPERATION_UPDATE, "resize", false, false, ACTION_NONE},
        {SPREAD, DEPLOYMENT, OPERATION_CREATE, "", false, false, ACTION_DENY},
        {SPREAD, DEPLOYMENT, OPERATION_UPDATE, "scale", false, false, ACTION_DENY},
        {SIZE, DEPLOYMENT, OPERATION_UPDATE, "scale", false, false, ACTION_NONE},
        {SPREAD, SCALER, OPERATION_CREATE, "", false, false, ACTION_DENY},
        {SIZE, SCALER, OPERATION_CREATE, "", false, false, ACTION_NONE},
        /* it judges the scale of NodePools, which no autoscaler sets */
        {"change-impact: {mode: enforce}", SCALER, OPERATION_CREATE, "", false, false, ACTION_NONE},
        {SPREAD, POD(""), OPERATION_CREATE, "", false, false, ACTION_NONE},
        {OFF, POD(""), OPERATION_CREATE, "", false, false, ACTION_NONE},
        {WARNS, POD(""), OPERATION_CREATE, "", false, false, ACTION_WARN},
        {"zone-pin: {}", POD(""), OPERATION_CREATE, "", false, false, ACTION_DENY},
        /* nobody is kept from deleting what is too much to judge */
        {"change-impact: {mode: enforce}",
         "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}}", OPERATION_DELETE, "",
         false, false, ACTION_WARN},
        {SIZE, POD(""), OPERATION_CONNECT, "", false, false, ACTION_NONE},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct world world = rail_table_world(cases[i].rails, NULL, arena);
        struct subject subject = {.operation = cases[i].operation,
                                  .object = read_object(cases[i].object, arena),
                                  .subresource = text_of(cases[i].subresource),
                                  .template_unseen = cases[i].template_unseen};
        subject.resource_kind = subject.object->kind;
        const struct shortfall shortfall = {.limit = LIMIT_CPU,
                                            .message = TEXT("It took too long."),
                                            .fix = TEXT("Make it shorter."),
                                            .unchanged = cases[i].unchanged};
        struct verdict verdict = {0};
        policy_decide_limit(&world, &subject, 0, &shortfall, arena, &verdict);
        if (verdict.action != cases[i].action)
            fprintf(stderr, "case %zu\n", i);
        ASSERT_INT(verdict.action, cases[i].action);
        ASSERT_INT(verdict.finding_count, cases[i].action != ACTION_NONE);
        ASSERT_INT(verdict.limit, LIMIT_CPU);
        if (verdict.finding_count > 0)
            ASSERT_TEXT(verdict.findings[0].message, "It took too long. Make it shorter.");
        arena_reset(arena);
    }
    arena_destroy(arena);
}

/* The answer to a Deployment of the namespace shop, which is not seen, or to what jane or an
 * autoscaler does to its scale. */
static void what_may_be_let_through_is(void)
{
    static const struct {
        const char *spec, *user, *subresource;
        enum action action;
    } cases[] = {
        {"", "jane", "", ACTION_DENY},
        {"match: {namespaceSelector: {matchLabels: {a: b}}}, ", "jane", "", ACTION_WARN},
        {"exceptions: [{id: e, rails: [zone-spread], expires: 2030-01-01}], ", "jane", "",
         ACTION_WARN},
        {"exceptions: [{id: e, rails: [zone-spread], expires: 2020-01-01}], ", "jane", "",
         ACTION_DENY},
        {"exceptions: [{id: e, rails: [zone-spread], match: {namespaceSelector: {matchLabels: {a: "
         "b}}}, expires: "
         "2030-01-01}], ",
         "jane", "", ACTION_WARN},
        {"", "jane", "scale", ACTION_DENY},
        {"", "system:serviceaccount:kube-system:horizontal-pod-autoscaler", "scale", ACTION_WARN},
    };
    enum { NOW = 1795230245 }; /* 2026-11-21 */
    struct arena *arena = arena_create((size_t)64 << 20);
    const struct catalog *catalog = catalog_builtin(arena);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        /* the second is not asked once the first denies */
        const struct policy policies[] = {
            rail_table_read_policy(
                arena_printf(arena,
                             "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: "
                             "{name: one}, spec: {mode: enforce, %srails: {" SPREAD "}}}",
                             cases[i].spec),
                catalog, arena),
            rail_table_read_policy(TEXT("{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, "
                                        "metadata: {name: two}, spec: {mode: warn, rails: {" SPREAD
                                        "}}}"),
                                   catalog, arena),
        };
        const struct policy_set set = {.items = policies, .count = COUNT_OF(policies)};
        const struct world world = {.policies = &set,
                                    .snapshot = snapshot_build(snapshot_builder_create(arena)),
                                    .catalog = catalog};
        struct object object = *read_object(DEPLOYMENT, arena);
        object.namespace = TEXT("shop");
        const struct subject subject = {.operation = OPERATION_UPDATE,
                                        .object = &object,
                                        .subresource = text_of(cases[i].subresource),
                                        .resource_kind = KIND_DEPLOYMENT,
                                        .requester = {.name = text_of(cases[i].user)}};
        const struct shortfall shortfall = {.limit = LIMIT_CPU, .message = TEXT("Too much.")};
        struct verdict verdict = {0};
        policy_decide_limit(&world, &subject, NOW, &shortfall, arena, &verdict);
        if (verdict.action != cases[i].action)
            fprintf(stderr, "case %zu\n", i);
        ASSERT_INT(verdict.action, cases[i].action);
        ASSERT_INT(verdict.finding_count, 1);
        ASSERT_TEXT(verdict.findings[0].policy, "one");
    }
    arena_destroy(arena);
}

#define REFERENCE(version, kind, name)                                                         \
    "ownerReferences: [{apiVersion: " version ", kind: " kind ", name: " name ", uid: u-" name \
    ", controller: true}]"

/* What a ReplicaSet passes on of its Deployment is found out by judging both; where there is no
 * memory for that, its Pod is a new one. */
static void owners_that_are_too_much_spare_nothing(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct text_builder constraints = {.arena = arena};
    for (size_t i = 0; i < 5000; i++)
        text_builder_printf(&constraints, "{topologyKey: key-%zu}, ", i);
    struct text cluster = arena_printf(
        arena,
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, uid: u-web, "
        "creationTimestamp: '2025-01-01T00:00:00Z'}, spec: {template: {spec: "
        "{topologySpreadConstraints: [%.*s]}}}}\n---\n"
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, uid: u-web-1, "
        "creationTimestamp: '2026-06-01T00:00:00Z', " REFERENCE(
            "apps/v1", "Deployment",
            "web") "}, spec: {template: {spec: {topologySpreadConstraints: [%.*s]}}}}",
        TEXT_ARGS(text_builder_text(&constraints)), TEXT_ARGS(text_builder_text(&constraints)));
    struct world world = rail_table_world(
        "topology-keys: {since: 2026-01-01}, zones: {since: 2026-01-01, allow: [a]}", cluster.data,
        arena);
    const struct subject subject = {
        .operation = OPERATION_CREATE,
        .object = read_object("{apiVersion: v1, kind: Pod, metadata: {name: p, " REFERENCE(
                                  "apps/v1", "ReplicaSet", "web-1") "}, spec: {}}",
                              arena),
        .requester = {.name = TEXT("system:kube-controller-manager")}};
    const struct shortfall shortfall = {.limit = LIMIT_MEMORY, .message = TEXT("Too much.")};
    static const struct {
        size_t budget;
        enum action action;
    } cases[] = {{(size_t)64 << 20, ACTION_WARN}, {(size_t)256 << 10, ACTION_DENY}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *own = arena_create(cases[i].budget);
        struct verdict verdict = {0};
        policy_decide_limit(&world, &subject, 0, &shortfall, own, &verdict);
        ASSERT_INT(verdict.action, cases[i].action);
        ASSERT_INT(limit_of_arena(own), i == 0 ? LIMIT_NONE : LIMIT_MEMORY);
        arena_destroy(own);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy over limit";
const struct unit_test unit_tests[] = {
    {"what counts as no change", what_counts_as_no_change},
    {"who is denied", who_is_denied},
    {"what may be let through is", what_may_be_let_through_is},
    {"owners that are too much spare nothing", owners_that_are_too_much_spare_nothing},
    {NULL, NULL},
};
