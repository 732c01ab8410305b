/* Overrides: the namespaces in which a rail is one mode softer or stricter, and which override it
 * is when several apply or a namespace's labels cannot be seen. */
#include "change_table.h"

#define SPREAD(namespace)                                                                          \
    "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: " namespace "}, spec: "          \
                                                                              "{topologySpreadCon" \
                                                                              "straints: "         \
                                                                              "[{maxSkew: 1, "     \
                                                                              "topologyKey: "      \
                                                                              "zone, "             \
                                                                              "whenUnsatisfiable:" \
                                                                              " "                  \
                                                                              "DoNotSchedule}]}}"
#define POOL                                                                               \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {template: " \
    "{spec: {requirements: [{key: a.b/c, operator: Exists}]}}}}"
#define OVERRIDE(id, match, step) "{id: " id ", match: {" match "}, step: " step "}"
#define IN_A "namespaces: [a]"
#define PROD "namespaceSelector: {matchLabels: {tier: prod}}"

/* What is there of the rail topology-keys, of which one finding is made: its action and override.
 */
static const struct {
    const char *mode, *overrides;
    const char *labels; /* of the namespace a; NULL: it cannot be seen */
    const char *expected;
} cases[] = {
    {"enforce", "", NULL, "deny"},
    {"enforce", OVERRIDE("x", IN_A, "softer"), NULL, "warn x"},
    {"warn", OVERRIDE("x", IN_A, "softer"), NULL, "audit x"},
    {"audit", OVERRIDE("x", IN_A, "softer"), NULL, ""},
    {"'off'", OVERRIDE("x", IN_A, "stricter"), NULL, "audit x"},
    {"audit", OVERRIDE("x", IN_A, "stricter"), NULL, "warn x"},
    {"warn", OVERRIDE("x", IN_A, "stricter"), NULL, "deny x"},
    {"warn", OVERRIDE("x", "namespaces: [b]", "stricter"), NULL, "warn"},
    {"warn", OVERRIDE("x", "namespaces: [\"*\"], excludeNamespaces: [a]", "stricter"), NULL,
     "warn"},
    /* of several */
    {"warn", OVERRIDE("x", IN_A, "softer") ", " OVERRIDE("z", IN_A, "stricter"), NULL, "deny z"},
    {"audit", OVERRIDE("x", IN_A, "stricter") ", " OVERRIDE("z", IN_A, "stricter"), NULL, "warn x"},
    {"enforce", OVERRIDE("x", "namespaces: [b]", "softer") ", " OVERRIDE("z", IN_A, "softer"), NULL,
     "warn z"},
    /* by the labels of the namespace */
    {"warn", OVERRIDE("x", PROD, "stricter"), "{tier: prod}", "deny x"},
    {"warn", OVERRIDE("x", PROD, "stricter"), "{tier: dev}", "warn"},
    {"warn", OVERRIDE("x", PROD, "stricter"), NULL, "undecided"},
    {"enforce", OVERRIDE("x", PROD, "softer"), NULL, "undecided"},
    {"'off'", OVERRIDE("x", PROD, "stricter"), NULL, "undecided quiet"},
    {"'off'", OVERRIDE("x", PROD, "stricter"), "{tier: dev}", ""},
    /* what cannot be seen does not matter when it could change nothing more */
    {"warn", OVERRIDE("x", PROD, "stricter") ", " OVERRIDE("z", IN_A, "stricter"), NULL, "deny z"},
    {"warn", OVERRIDE("x", PROD, "softer") ", " OVERRIDE("z", IN_A, "stricter"), NULL, "deny z"},
    {"enforce", OVERRIDE("x", PROD, "softer") ", " OVERRIDE("z", IN_A, "softer"), NULL, "warn z"},
    {"warn", OVERRIDE("x", PROD, "stricter") ", " OVERRIDE("z", IN_A, "softer"), NULL, "undecided"},
};

static struct policy read_policy(const char *mode, const char *rails, const char *overrides,
                                 struct arena *arena)
{
    struct text yaml = arena_printf(arena,
                                    "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, "
                                    "metadata: {name: p}, spec: {mode: %s, rails: {%s}, "
                                    "overrides: [%s]}}",
                                    mode, rails, overrides);
    return rail_table_read_policy(yaml, catalog_builtin(arena), arena);
}

static struct world make_world(const struct policy_set *policies, const char *labels,
                               struct arena *arena)
{
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    if (labels != NULL) {
        struct text yaml = arena_printf(
            arena, "{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: %s}}", labels);
        struct rail_documents documents = rail_table_read(yaml.data, arena);
        snapshot_put(builder, kept_or_whole(&documents.items[0]));
    }
    return (struct world){.policies = policies,
                          .snapshot = snapshot_build(builder),
                          .catalog = catalog_builtin(arena)};
}

static struct text judge(const struct world *world, const char *object, struct arena *arena)
{
    struct rail_documents documents = rail_table_read(object, arena);
    struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(world, &subject, 0, arena, &verdict);
    struct text_builder lines = {.arena = arena};
    for (size_t i = 0; i < verdict.finding_count; i++) {
        const struct finding *finding = &verdict.findings[i];
        text_builder_printf(&lines, "%s%s%s%s%.*s", i == 0 ? "" : "\n",
                            finding->undecided ? "undecided" : action_name(finding->action),
                            finding->quiet ? " quiet" : "", finding->override.size > 0 ? " " : "",
                            TEXT_ARGS(finding->override));
    }
    return text_builder_text(&lines);
}

static void a_namespace_is_one_step_away(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct policy policy =
            read_policy(cases[i].mode, "topology-keys: {}", cases[i].overrides, arena);
        struct policy_set policies = {.items = &policy, .count = 1};
        struct world world = make_world(&policies, cases[i].labels, arena);
        struct text found = judge(&world, SPREAD("a"), arena);
        if (!text_is(found, cases[i].expected))
            fprintf(stderr, "mode %s, %s\n", cases[i].mode, cases[i].overrides);
        ASSERT_TEXT(found, cases[i].expected);
        arena_destroy(arena);
    }
}

static void only_the_rails_that_are_named_move(void)
{
    static const struct {
        const char *rails, *override, *expected;
    } rows[] = {
        {"topology-keys: {}, scheduler-bypass: {}", "rails: [scheduler-bypass], step: softer",
         "deny"},
        {"topology-keys: {}, scheduler-bypass: {}", "rails: [topology-keys], step: softer",
         "warn x"},
        {"topology-keys: {mode: warn}, scheduler-bypass: {}", "step: stricter", "deny x"},
        {"topology-keys: {mode: warn}, scheduler-bypass: {}", "step: softer", "audit x"},
        /* what is enforced already is not moved */
        {"topology-keys: {}, scheduler-bypass: {mode: warn}", "step: stricter", "deny"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct text override =
            arena_printf(arena, "{id: x, match: {namespaces: [a]}, %s}", rows[i].override);
        struct policy policy = read_policy("enforce", rows[i].rails, override.data, arena);
        struct policy_set policies = {.items = &policy, .count = 1};
        struct world world = make_world(&policies, NULL, arena);
        ASSERT_TEXT(judge(&world, SPREAD("a"), arena), rows[i].expected);
        ASSERT_TEXT(judge(&world, SPREAD("b"), arena),
                    text_starts_with(text_of(rows[i].rails), TEXT("topology-keys: {mode"))
                        ? "warn"
                        : "deny");
        arena_destroy(arena);
    }
}

/* Of two rails that could say the same, the one that weighs more for this subject says it. */
static void the_rail_beside_is_weighed_for_the_subject(void)
{
    static const char pod[] =
        "{apiVersion: v1, kind: Pod, metadata: {name: w, namespace: a}, spec: {tolerations: "
        "[{operator: Exists}], containers: [{name: a}]}}";
#define TOLERATIONS "match: {namespaces: [a]}, rails: [tolerations]"
#define EXCEPTS(rails, expires)                                                                \
    "exceptions: [{id: x, match: {namespaces: [a]}, rails: [" rails "], owner: o, reason: r, " \
    "expires: " expires "}]"
    static const struct {
        const char *tolerations, *more, *labels, *expected;
    } rows[] = {
        {"", "overrides: []", NULL, "deny"},
        {"", "overrides: [{id: x, " TOLERATIONS ", step: softer}]", NULL, "deny\nwarn x"},
        {"", "overrides: [{id: x, match: {namespaces: [b]}, rails: [tolerations], step: softer}]",
         NULL, "deny"},
        {"", "overrides: [" OVERRIDE("x", IN_A, "softer") "]", NULL, "warn x"},
        {"", "overrides: [{id: x, match: {" PROD "}, rails: [tolerations], step: softer}]", NULL,
         "deny\nundecided"},
        {"", "overrides: [{id: x, match: {" PROD "}, rails: [tolerations], step: softer}]",
         "{tier: dev}", "deny"},
        {"mode: warn", "overrides: [{id: x, " TOLERATIONS ", step: stricter}]", NULL, "deny x"},
        {"", EXCEPTS("tolerations", "2027-03-31"), NULL, "deny\nexcepted"},
        {"", EXCEPTS("tolerations", "1969-03-31"), NULL, "deny"},
        {"", EXCEPTS("accelerators", "2027-03-31"), NULL, "deny"},
        {"", EXCEPTS("accelerators, tolerations", "2027-03-31"), NULL, "excepted"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct text yaml = arena_printf(arena,
                                        "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, "
                                        "metadata: {name: p}, spec: {mode: enforce, rails: "
                                        "{accelerators: {}, tolerations: {%s}}, %s}}",
                                        rows[i].tolerations, rows[i].more);
        struct policy policy = rail_table_read_policy(yaml, catalog_builtin(arena), arena);
        struct policy_set policies = {.items = &policy, .count = 1};
        struct world world = make_world(&policies, rows[i].labels, arena);
        struct text found = judge(&world, pod, arena);
        if (!text_is(found, rows[i].expected))
            fprintf(stderr, "tolerations: {%s}, %s\n", rows[i].tolerations, rows[i].more);
        ASSERT_TEXT(found, rows[i].expected);
        arena_destroy(arena);
    }
}

static void what_is_in_no_namespace_stays(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct policy policy = read_policy("enforce", "pool-limits: {}",
                                       OVERRIDE("x", "namespaces: [\"*\"]", "softer"), arena);
    struct policy_set policies = {.items = &policy, .count = 1};
    struct world world = make_world(&policies, NULL, arena);
    ASSERT_TEXT(judge(&world, POOL, arena), "deny");
    arena_destroy(arena);
}

/* A rail that is off but for some namespaces is in use: what it needs is made, and it is asked. */
static void a_rail_made_stricter_is_in_use(void)
{
    static const struct {
        const char *overrides;
        bool used;
    } rows[] = {
        {"", false},
        {OVERRIDE("x", IN_A, "stricter"), true},
        {OVERRIDE("x", IN_A, "softer"), false},
        {"{id: x, match: {namespaces: [a]}, rails: [zones], step: stricter}", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct policy policy = read_policy(
            "'off'", "placeable: {}, zone-pin: {}, zones: {mode: warn}", rows[i].overrides, arena);
        struct policy_set policies = {.items = &policy, .count = 1};
        ASSERT_INT(policy_set_uses(&policies, rail_find(TEXT("placeable"))), rows[i].used);
        ASSERT_INT(policy_set_changes_pods(&policies), rows[i].used);
        arena_destroy(arena);
    }
}

static void changes_obey_it_too(void)
{
    static const struct {
        const char *overrides, *outcome;
    } rows[] = {
        {"", "applied"},
        {OVERRIDE("x", IN_A, "softer"), "warned"},
        {OVERRIDE("x", "namespaces: [b]", "softer"), "applied"},
        {OVERRIDE("x", PROD, "softer"), "warned"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct policy policy =
            read_policy("enforce", "accelerators: {addToleration: true}", rows[i].overrides, arena);
        struct policy_set policies = {.items = &policy, .count = 1};
        struct world world = make_world(&policies, NULL, arena);
        struct rail_documents documents =
            rail_table_read("{apiVersion: v1, kind: Pod, metadata: {name: w, namespace: a}, spec: "
                            "{containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]}}",
                            arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_mutate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_EQUAL_FATAL(verdict.change_count, 1);
        ASSERT_TEXT(text_of(outcome_name(verdict.changes[0].outcome)), rows[i].outcome);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "policy override";
const struct unit_test unit_tests[] = {
    {"a namespace is one step away", a_namespace_is_one_step_away},
    {"only the rails that are named move", only_the_rails_that_are_named_move},
    {"the rail beside is weighed for the subject", the_rail_beside_is_weighed_for_the_subject},
    {"what is in no namespace stays", what_is_in_no_namespace_stays},
    {"a rail made stricter is in use", a_rail_made_stricter_is_in_use},
    {"changes obey it too", changes_obey_it_too},
    {NULL, NULL},
};
