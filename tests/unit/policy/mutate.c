/* What becomes of the changes that rails want: modes, exceptions, several policies, and the pods
 * that are never changed. */
#include "change_table.h"

enum { NOW = 1795230245 }; /* 2026-11-21 */

static struct arena *arena;
static const struct catalog *catalog;
static const char *cluster; /* YAML; NULL: nothing is in it */

static struct object *read_object(const char *yaml)
{
    struct rail_documents documents = rail_table_read(yaml, arena);
    return documents.items;
}

/* The answer to a pod, under one policy or two. */
static struct verdict mutate(const char *first, const char *second, const struct subject *subject)
{
    struct policy *policies = ARENA_ARRAY(arena, 2, struct policy);
    struct policy_set set = {.items = policies, .count = second == NULL ? 1 : 2};
    policies[0] = rail_table_read_policy(text_of(first), catalog, arena);
    if (second != NULL)
        policies[1] = rail_table_read_policy(text_of(second), catalog, arena);
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    struct rail_documents documents = rail_table_read(cluster == NULL ? "" : cluster, arena);
    for (size_t i = 0; i < documents.count; i++)
        snapshot_put(builder, kept_or_whole(&documents.items[i]));
    struct world world = {
        .policies = &set, .snapshot = snapshot_build(builder), .catalog = catalog};
    struct verdict verdict;
    policy_mutate(&world, subject, NOW, arena, &verdict);
    return verdict;
}

static void set_up(void)
{
    arena = arena_create((size_t)64 << 20);
    catalog = catalog_builtin(arena);
}

#define POLICY_OF(name, spec)                                                      \
    "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: " name \
    "}, spec: {" spec "}}"
#define RAIL "rails: {accelerators: {addToleration: true}}"
#define POLICY(spec) POLICY_OF("one", spec ", " RAIL)
#define EXCEPTION(id, expires)                                                         \
    "exceptions: [{id: " id ", rails: [accelerators], match: {names: [a]}, owner: o, " \
    "reason: r, expires: " expires "}]"
#define META_POD(metadata)                                                                 \
    "{apiVersion: v1, kind: Pod, metadata: {" metadata "}, spec: {containers: [{name: a, " \
    "resources: {limits: {nvidia.com/gpu: 1}}}]}}"
#define POD META_POD("name: a")

static void the_mode_decides(void)
{
    static const struct {
        const char *policy, *outcome, *exception;
    } cases[] = {
        {POLICY("mode: enforce"), "applied", NULL},
        {POLICY("mode: warn"), "warned", NULL},
        {POLICY("mode: audit"), "audited", NULL},
        {POLICY_OF("one", RAIL), "audited", NULL},
        {POLICY("mode: off"), NULL, NULL},
        {POLICY_OF("one",
                   "mode: audit, rails: {accelerators: {mode: enforce, addToleration: true}}"),
         "applied", NULL},
        {POLICY("mode: enforce, match: {names: [b]}"), NULL, NULL},
        {POLICY("mode: enforce, match: {kinds: [Deployment]}"), NULL, NULL},
        /* labels that nobody sees */
        {POLICY("mode: enforce, match: {namespaceSelector: {matchLabels: {a: b}}}"), "warned",
         NULL},
        {POLICY("mode: audit, match: {namespaceSelector: {matchLabels: {a: b}}}"), "audited", NULL},
        {POLICY("mode: enforce, exceptions: [{id: EX-0, rails: [accelerators], match: "
                "{namespaceSelector: {matchLabels: {a: b}}}, expires: 2027-01-01}]"),
         "warned", NULL},
        {POLICY("mode: enforce, " EXCEPTION("EX-1", "2027-01-01")), "excepted", "EX-1"},
        {POLICY("mode: enforce, " EXCEPTION("EX-2", "2026-01-01")), "applied", "EX-2"},
    };
    set_up();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct subject subject = {.operation = OPERATION_CREATE, .object = read_object(POD)};
        struct verdict verdict = mutate(cases[i].policy, NULL, &subject);
        ASSERT_INT(verdict.change_count, cases[i].outcome != NULL);
        ASSERT_INT(verdict.finding_count, 0);
        if (verdict.change_count != 1)
            continue;
        const struct change *change = &verdict.changes[0];
        ASSERT_TEXT(text_of(outcome_name(change->outcome)), cases[i].outcome);
        ASSERT_TEXT(text_of(change->rail), "accelerators");
        ASSERT_TEXT(change->policy, "one");
        ASSERT_TEXT(change->exception, cases[i].exception == NULL ? "" : cases[i].exception);
        ASSERT_INT(verdict.patch.count, change->outcome == OUTCOME_APPLIED ? 2 : 0);
    }
    arena_destroy(arena);
}

/* Pods of workloads that were there before the rail was switched on. */
static void older_workloads_are_spared(void)
{
    static const struct {
        const char *created;
        enum change_outcome outcome;
    } cases[] = {
        {"2026-10-31T23:59:59Z", OUTCOME_WARNED},
        {"2026-11-01T00:00:00Z", OUTCOME_APPLIED},
        {NULL, OUTCOME_APPLIED}, /* not seen, so it is new */
    };
    set_up();
    struct subject subject = {
        .operation = OPERATION_CREATE,
        .object = read_object(
            META_POD("name: a-1, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, "
                     "name: a, controller: true}]")),
        .requester = {.name = TEXT(CONTROLLER)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cluster = cases[i].created == NULL
                      ? NULL
                      : arena_printf(arena,
                                     "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a, "
                                     "creationTimestamp: '%s'}}",
                                     cases[i].created)
                            .data;
        struct verdict verdict = mutate(POLICY("mode: enforce, since: 2026-11-01"), NULL, &subject);
        CU_ASSERT_FATAL(verdict.change_count == 1);
        ASSERT_INT(verdict.changes[0].outcome, cases[i].outcome);
        /* what is not seen may be in a moment */
        ASSERT_INT(verdict.awaited.kind, cluster == NULL ? KIND_STATEFUL_SET : KIND_UNKNOWN);
    }
    cluster = NULL;
    arena_destroy(arena);
}

/* The second sees what the first has added, even when both want it. */
static void two_policies_add_a_thing_once(void)
{
    set_up();
    struct subject subject = {.operation = OPERATION_CREATE, .object = read_object(POD)};
    struct verdict verdict =
        mutate(POLICY("mode: enforce"), POLICY_OF("two", "mode: enforce, " RAIL), &subject);
    ASSERT_INT(verdict.change_count, 1);
    ASSERT_INT(verdict.patch.count, 2);
    verdict = mutate(POLICY("mode: warn"), POLICY_OF("two", "mode: enforce, " RAIL), &subject);
    ASSERT_TEXT(change_table_text(&verdict, arena),
                "warned a toleration of nvidia.com/gpu\n"
                "applied a toleration of nvidia.com/gpu\n"
                "add /spec/tolerations []\n"
                "add /spec/tolerations/- {\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\"}");
    /* an exception holds for its own policy */
    verdict = mutate(POLICY("mode: enforce, " EXCEPTION("EX-1", "2027-01-01")),
                     POLICY_OF("two", "mode: enforce, " RAIL), &subject);
    ASSERT_INT(verdict.change_count, 2);
    ASSERT_INT(verdict.patch.count, 2);
    arena_destroy(arena);
}

static void only_pods_that_are_created_are_changed(void)
{
    static const struct {
        const char *object;
        enum operation operation;
        const char *subresource;
        bool changed;
    } cases[] = {
        {POD, OPERATION_CREATE, "", true},
        {META_POD("generateName: a-"), OPERATION_CREATE, "", true},
        {META_POD("generateName: a-, annotations: {b: c}"), OPERATION_CREATE, "", true},
        {META_POD("name: a, annotations: null"), OPERATION_CREATE, "", true},
        {META_POD("name: a, annotations: {kubernetes.io/config.mirror: b}"), OPERATION_CREATE, "",
         false},
        {META_POD("name: a, deletionTimestamp: '2026-01-01T00:00:00Z'"), OPERATION_CREATE, "",
         false},
        {POD, OPERATION_UPDATE, "", false},
        {POD, OPERATION_UPDATE, "resize", false},
        {POD, OPERATION_CREATE, "eviction", false},
        {POD, OPERATION_DELETE, "", false},
        {"{apiVersion: policy/v1, kind: Eviction, metadata: {name: a}}", OPERATION_CREATE, "",
         false},
    };
    set_up();
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int dry_run = 0; dry_run < 2; dry_run++) {
            struct subject subject = {.operation = cases[i].operation,
                                      .object = read_object(cases[i].object),
                                      .subresource = text_of(cases[i].subresource),
                                      .dry_run = dry_run != 0};
            struct verdict verdict = mutate(POLICY("mode: enforce"), NULL, &subject);
            ASSERT_INT(verdict.patch.count > 0, cases[i].changed);
        }
    arena_destroy(arena);
}

/* A patch of a pod that is no pod afterwards would be answered 500, whatever the failurePolicy. */
static void what_cannot_be_made_is_not_sent(void)
{
    static const char *const pods[] = {
        /* the list is a map */
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {tolerations: {a: b}, containers: "
        "[{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {tolerations: text, containers: "
        "[{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]}}",
        /* an item is none */
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {tolerations: [7], containers: "
        "[{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]}}",
    };
    set_up();
    for (size_t i = 0; i < COUNT_OF(pods); i++) {
        struct subject subject = {.operation = OPERATION_CREATE, .object = read_object(pods[i])};
        struct verdict verdict = mutate(POLICY("mode: enforce"), NULL, &subject);
        ASSERT_TEXT(change_table_text(&verdict, arena), "failed a toleration of nvidia.com/gpu");
    }
    arena_destroy(arena);
}

/* ---- what a change may touch ---- */

static const struct patch_op *wanted; /* what the rail of the test does to each Pod */

static void change_as_wanted(struct rail_call *call)
{
    struct change change = {.added = TEXT("something")};
    *LIST_PUSH(call->arena, &change.patch) = *wanted;
    if (wanted[1].path.size > 0)
        *LIST_PUSH(call->arena, &change.patch) = wanted[1];
    propose_change(call, &change);
}

static bool always(const void *settings)
{
    (void)settings;
    return true;
}

/* Whatever a mistake of a rail makes of it, a Pod is changed in the open fields alone. */
static void changes_keep_to_the_open_fields(void)
{
    static const struct rail rail = {.name = "accelerators",
                                     .kinds = KIND_BIT(KIND_POD),
                                     .change = change_as_wanted,
                                     .may_change = always};
#define BARE_POD "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: n}}"
    set_up();
    const struct node text = node_of_text(TEXT("b"));
    const struct node seven = node_of_integer(7, arena);
    const struct node empty = node_of_members(NULL, 0);
    const struct member a_is_b[] = {member_of(TEXT("a"), text)};
    const struct member a_is_seven[] = {member_of(TEXT("a"), seven)};
    const struct node texts = node_of_members(a_is_b, 1);
    const struct node numbers = node_of_members(a_is_seven, 1);
    const struct {
        const char *pod;
        struct patch_op patch[2];
        enum change_outcome outcome;
    } cases[] = {
        {BARE_POD, {{PATCH_ADD, TEXT("/spec/nodeSelector"), &texts}}, OUTCOME_APPLIED},
        {BARE_POD, {{PATCH_ADD, TEXT("/metadata/annotations"), &texts}}, OUTCOME_APPLIED},
        {BARE_POD, {{PATCH_ADD, TEXT("/spec/nodeSelector"), &numbers}}, OUTCOME_FAILED},
        {BARE_POD, {{PATCH_ADD, TEXT("/spec/nodeSelector"), &text}}, OUTCOME_FAILED},
        {BARE_POD, {{PATCH_ADD, TEXT("/spec/schedulerName"), &text}}, OUTCOME_FAILED},
        {BARE_POD, {{PATCH_REPLACE, TEXT("/spec/nodeName"), &text}}, OUTCOME_FAILED},
        {BARE_POD, {{PATCH_REMOVE, TEXT("/spec/nodeName"), NULL}}, OUTCOME_FAILED},
        {BARE_POD,
         {{PATCH_REMOVE, TEXT("/spec/nodeName"), NULL},
          {PATCH_ADD, TEXT("/spec/affinity"), &empty}},
         OUTCOME_FAILED},
        {BARE_POD, {{PATCH_ADD, TEXT("/status"), &empty}}, OUTCOME_FAILED},
        {BARE_POD, {{PATCH_REPLACE, TEXT("/kind"), &text}}, OUTCOME_FAILED},
        {BARE_POD, {{PATCH_REPLACE, TEXT("/spec"), &text}}, OUTCOME_FAILED},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: b}",
         {{PATCH_REPLACE, TEXT("/spec"), &empty}},
         OUTCOME_FAILED},
    };
    struct policy policy = rail_table_read_policy(text_of(POLICY("mode: enforce")), catalog, arena);
    struct rail_use use = policy.rails[0];
    use.rail = &rail;
    policy.rails = &use;
    const struct policy_set set = {.items = &policy, .count = 1};
    const struct world world = {.policies = &set,
                                .snapshot = snapshot_build(snapshot_builder_create(arena)),
                                .catalog = catalog};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct subject subject = {.operation = OPERATION_CREATE,
                                        .object = read_object(cases[i].pod)};
        struct verdict verdict;
        wanted = cases[i].patch;
        policy_mutate(&world, &subject, NOW, arena, &verdict);
        CU_ASSERT_FATAL(verdict.change_count == 1);
        if (verdict.changes[0].outcome != cases[i].outcome)
            fprintf(stderr, "case %zu\n", i);
        ASSERT_INT(verdict.changes[0].outcome, cases[i].outcome);
        ASSERT_INT(verdict.patch.count, cases[i].outcome == OUTCOME_APPLIED);
    }
    arena_destroy(arena);
}

static void people_read_what_was_added(void)
{
    set_up();
    struct change change = {.rail = "accelerators",
                            .added = TEXT("a toleration of nvidia.com/gpu")};
    static const struct {
        enum change_outcome outcome;
        const char *message, *audit;
    } cases[] = {
        {OUTCOME_APPLIED, "[accelerators] added a toleration of nvidia.com/gpu",
         "added a toleration of nvidia.com/gpu"},
        {OUTCOME_WARNED, "[accelerators] would add a toleration of nvidia.com/gpu",
         "would add a toleration of nvidia.com/gpu"},
        {OUTCOME_AUDITED, "[accelerators] would add a toleration of nvidia.com/gpu",
         "would add a toleration of nvidia.com/gpu"},
        {OUTCOME_EXCEPTED, "[accelerators] by exception not added: a toleration of nvidia.com/gpu",
         "by exception not added: a toleration of nvidia.com/gpu"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        change.outcome = cases[i].outcome;
        ASSERT_TEXT(message_change(&change, arena), cases[i].message);
        ASSERT_TEXT(message_change_audit(&change, arena), cases[i].audit);
    }
    char *added = ARENA_ARRAY(arena, 300, char);
    for (size_t i = 0; i < 300; i++)
        added[i] = 'x';
    change.added = (struct text){added, 300};
    ASSERT_INT(message_change(&change, arena).size, 120);
    arena_destroy(arena);
}

const char unit_suite[] = "policy mutate";
const struct unit_test unit_tests[] = {
    {"the mode decides", the_mode_decides},
    {"older workloads are spared", older_workloads_are_spared},
    {"two policies add a thing once", two_policies_add_a_thing_once},
    {"only pods that are created are changed", only_pods_that_are_created_are_changed},
    {"what cannot be made is not sent", what_cannot_be_made_is_not_sent},
    {"changes keep to the open fields", changes_keep_to_the_open_fields},
    {"people read what was added", people_read_what_was_added},
    {NULL, NULL},
};
