/* What is there already, as an audit judges it: nobody asks, owners count, and `since` spares all
 * that is older. */
#include "policy/existing.h"
#include "rail_table.h"

#define RAILS "topology-keys: {}"
#define KEY "topologySpreadConstraints: [{topologyKey: zone}]"
#define OWNER(name)                                                                   \
    "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: " name ", uid: " \
    "u1, controller: true}]"
#define POD(metadata) "{apiVersion: v1, kind: Pod, metadata: {" metadata "}, spec: {" KEY "}}"
#define DEPLOYMENT(created)                                                                      \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, creationTimestamp: '" created \
    "'}, spec: {template: {metadata: {labels: {a: b}}, spec: {" KEY "}}}}"

static const char cluster[] = "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, "
                              "uid: u1, creationTimestamp: '2025-12-31T23:59:59Z'}}";

struct existing_case {
    const char *spec, *object;
    enum action asked, found; /* when a person asks for it, and when it is there */
    bool spared;              /* when it is there */
};

static const struct existing_case cases[] = {
    {"mode: enforce", DEPLOYMENT("2025-12-31T23:59:59Z"), ACTION_DENY, ACTION_DENY, false},
    {"mode: enforce, since: 2026-01-01", DEPLOYMENT("2025-12-31T23:59:59Z"), ACTION_DENY,
     ACTION_WARN, true},
    {"mode: enforce, since: 2026-01-01", DEPLOYMENT("2026-01-01T00:00:00Z"), ACTION_DENY,
     ACTION_DENY, false},
    /* Nothing stricter than the mode comes of it. */
    {"mode: audit, since: 2026-01-01", DEPLOYMENT("2025-12-31T23:59:59Z"), ACTION_AUDIT,
     ACTION_AUDIT, false},
    {"mode: warn, since: 2026-01-01", DEPLOYMENT("2025-12-31T23:59:59Z"), ACTION_WARN, ACTION_WARN,
     false},
    /* The age that counts is the root owner's. */
    {"mode: enforce, since: 2026-01-01",
     POD("name: a, creationTimestamp: '2026-05-01T00:00:00Z', " OWNER("web-1")), ACTION_DENY,
     ACTION_WARN, true},
    {"mode: enforce, since: 2026-01-01",
     POD("name: a, creationTimestamp: '2026-05-01T00:00:00Z', " OWNER("gone-1")), ACTION_DENY,
     ACTION_WARN, true},
    /* Of what does not say how old it is nothing is known. */
    {"mode: enforce, since: 2026-01-01", POD("name: a, " OWNER("gone-1")), ACTION_DENY, ACTION_DENY,
     false},
    {"mode: enforce, since: 2026-01-01", POD("name: a"), ACTION_DENY, ACTION_DENY, false},
    {"mode: enforce, since: 2026-01-01", POD("name: a, " OWNER("web-1")), ACTION_DENY, ACTION_WARN,
     true},
    {"mode: enforce, since: 2026-01-01", POD("name: a, creationTimestamp: '2026-05-01T00:00:00Z'"),
     ACTION_DENY, ACTION_DENY, false},
    /* So is the name. */
    {"mode: enforce, exceptions: [{id: EX-1, rails: [topology-keys], match: {names: [web-1]}, "
     "owner: o, reason: r, expires: 2030-01-01}]",
     POD("name: a, " OWNER("web-1")), ACTION_DENY, ACTION_EXCEPTED, false},
    /* An exception is told, and not the age. */
    {"mode: enforce, since: 2026-01-01, exceptions: [{id: EX-1, rails: [topology-keys], match: {}, "
     "owner: o, reason: r, expires: 2030-01-01}]",
     DEPLOYMENT("2025-12-31T23:59:59Z"), ACTION_EXCEPTED, ACTION_EXCEPTED, false},
};

static void judge(const struct existing_case *row, bool existing, struct arena *arena,
                  struct verdict *verdict)
{
    struct world world = rail_table_world(RAILS, cluster, arena);
    struct text yaml = arena_printf(arena,
                                    "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, "
                                    "metadata: {name: p}, spec: {%s, rails: {" RAILS "}}}",
                                    row->spec);
    struct policy *policy = ARENA_NEW(arena, struct policy);
    struct policy_set *policies = ARENA_NEW(arena, struct policy_set);
    *policy = rail_table_read_policy(yaml, world.catalog, arena);
    *policies = (struct policy_set){.items = policy, .count = 1};
    world.policies = policies;
    struct rail_documents documents = rail_table_read(row->object, arena);
    const struct subject subject = {
        .operation = OPERATION_CREATE, .object = &documents.items[0], .existing = existing};
    policy_evaluate(&world, &subject, 0, arena, verdict);
    CU_ASSERT_TRUE_FATAL(verdict->finding_count == 1);
}

static void what_is_there_is_judged_by_its_age(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct verdict asked, found;
        judge(&cases[i], false, arena, &asked);
        judge(&cases[i], true, arena, &found);
        if (asked.action != cases[i].asked || found.action != cases[i].found)
            fprintf(stderr, "%s\n  under %s: %s, %s\n", cases[i].object, cases[i].spec,
                    action_name(asked.action), action_name(found.action));
        ASSERT_INT(asked.action, cases[i].asked);
        ASSERT_INT(found.action, cases[i].found);
        CU_ASSERT(!asked.findings[0].spared);
        CU_ASSERT(found.findings[0].spared == cases[i].spared);
        arena_destroy(arena);
    }
}

static void an_identity_has_names_for_indices(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("resource-requests: {require: [memory]}", "", arena);
    struct rail_documents documents = rail_table_read(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: "
        "{metadata: "
        "{labels: {a: b}}, spec: {containers: [{name: a, resources: {requests: {memory: 1Gi}}}, "
        "{name: b}]}}}}",
        arena);
    const struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_TRUE_FATAL(verdict.finding_count == 1);
    ASSERT_TEXT(finding_identity(&verdict.findings[0], arena),
                ".spec.template.spec.containers[b].resources.requests.memory");
    ASSERT_TEXT(finding_identity(&(struct finding){0}, arena), "");
    arena_destroy(arena);
}

/* What the owner was told of is not told again of what it made; of another policy, another rail and
 * another value it was not. */
static void what_its_owner_was_told_of_is_not_told_again(void)
{
    static const struct {
        struct told told;
        size_t findings;
    } rows[] = {
        {{"topology-keys", TEXT("table"), TEXT("zone"),
          TEXT(".spec.template.spec.topologySpreadConstraints[].topologyKey"), ACTION_DENY},
         0},
        {{"topology-keys", TEXT("other"), TEXT("zone"),
          TEXT(".spec.template.spec.topologySpreadConstraints[].topologyKey"), ACTION_DENY},
         1},
        {{"zones", TEXT("table"), TEXT("zone"),
          TEXT(".spec.template.spec.topologySpreadConstraints[].topologyKey"), ACTION_DENY},
         1},
        {{"topology-keys", TEXT("table"), TEXT("zones"),
          TEXT(".spec.template.spec.topologySpreadConstraints[].topologyKey"), ACTION_DENY},
         1},
        {{"topology-keys", TEXT("table"), TEXT("zone"), TEXT(".spec.template.spec.other"),
          ACTION_DENY},
         1},
        {{"topology-keys", TEXT("table"), TEXT("zone"),
          TEXT(".spec.template.spec.topologySpreadConstraints[].topologyKey"), ACTION_WARN},
         1},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(RAILS, "", arena);
    struct rail_documents documents = rail_table_read(POD("name: a"), arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct existing owner = {0};
        *LIST_PUSH(arena, &owner.told) = rows[i].told;
        struct verdict verdict = existing_judge(&world, &documents.items[0], &owner, 0, arena);
        ASSERT_INT(verdict.finding_count, rows[i].findings);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy existing";
const struct unit_test unit_tests[] = {
    {"what is there is judged by its age", what_is_there_is_judged_by_its_age},
    {"what its owner was told of is not told again", what_its_owner_was_told_of_is_not_told_again},
    {"an identity has names for indices", an_identity_has_names_for_indices},
    {NULL, NULL},
};
