/* Tests the words of a rail, and one object that it denies in each mode of a policy: enforce, warn,
 * audit, and with an exception; also a Pod of a workload that is older than `since`. */
#ifndef TAFFRAIL_RAIL_MODES_H
#define TAFFRAIL_RAIL_MODES_H

#include "rail_table.h"

struct rail_words {
    const char *object, *problem, *fix; /* of its first finding */
};

static inline void rail_words_run_in(const struct world *world, const struct rail_words *rows,
                                     size_t count, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        struct rail_documents documents = rail_table_read(rows[i].object, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_evaluate(world, &subject, 0, arena, &verdict);
        CU_ASSERT_TRUE_FATAL(verdict.finding_count > 0);
        ASSERT_TEXT(verdict.findings[0].problem, rows[i].problem);
        ASSERT_TEXT(verdict.findings[0].fix, rows[i].fix);
        /* The value that tools put in the field's place is the one in the message. */
        struct text replacement = verdict.findings[0].replacement;
        if (replacement.size > 0)
            CU_ASSERT_PTR_NOT_NULL(
                memmem(rows[i].fix, strlen(rows[i].fix), replacement.data, replacement.size));
    }
}

static inline void rail_words_run(const char *rails, const char *cluster,
                                  const struct rail_words *rows, size_t count)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(rails, cluster, arena);
    rail_words_run_in(&world, rows, count, arena);
    arena_destroy(arena);
}

/* The value that tools put in place of the first finding's field; "": none. */
static inline void rail_replaces(const char *rails, const char *object, const char *replacement)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(rails, NULL, arena);
    struct rail_documents documents = rail_table_read(object, arena);
    struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_TRUE_FATAL(verdict.finding_count > 0);
    ASSERT_TEXT(verdict.findings[0].replacement, replacement);
    arena_destroy(arena);
}

static inline enum action rail_modes_action(struct world *world, const char *spec,
                                            const char *object, const char *user,
                                            struct arena *arena)
{
    struct text yaml = arena_printf(arena,
                                    "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails,"
                                    " metadata: {name: modes}, spec: {%s}}",
                                    spec);
    struct policy *policy = ARENA_NEW(arena, struct policy);
    struct policy_set *policies = ARENA_NEW(arena, struct policy_set);
    *policy = rail_table_read_policy(yaml, world->catalog, arena);
    *policies = (struct policy_set){.items = policy, .count = 1};
    world->policies = policies;
    struct rail_documents documents = rail_table_read(object, arena);
    struct subject subject = {.operation = OPERATION_CREATE,
                              .object = &documents.items[0],
                              .requester = {.name = text_of(user)}};
    struct verdict verdict;
    policy_evaluate(world, &subject, 0, arena, &verdict);
    return verdict.action;
}

/* rail: its name; keys: its settings as YAML, without the braces. */
static inline void rail_modes_run(const char *rail, const char *keys, const char *cluster,
                                  const char *object)
{
    static const struct {
        const char *spec; /* "%s: {%s}" is the rail */
        enum action action;
    } modes[] = {
        {"mode: enforce, rails: {%s: {%s}}", ACTION_DENY},
        {"mode: warn, rails: {%s: {%s}}", ACTION_WARN},
        {"mode: audit, rails: {%s: {%s}}", ACTION_AUDIT},
        {"mode: 'off', rails: {%s: {%s}}", ACTION_NONE},
        {"mode: enforce, rails: {%s: {%s}}, exceptions: [{id: EX-1, rails: [%s], match: {},"
         " owner: o, reason: r, expires: 2030-01-01}]",
         ACTION_EXCEPTED},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world =
        rail_table_world(arena_printf(arena, "%s: {%s}", rail, keys).data, cluster, arena);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct text_builder spec = {.arena = arena};
        const char *words[] = {rail, keys, rail};
        const char *from = modes[i].spec;
        for (size_t word = 0; *from != '\0'; from++) {
            if (from[0] == '%' && from[1] == 's') {
                text_builder_printf(&spec, "%s", words[word++]);
                from++;
            } else {
                text_builder_printf(&spec, "%c", *from);
            }
        }
        enum action action =
            rail_modes_action(&world, text_builder_text(&spec).data, object, "jane", arena);
        if (action != modes[i].action)
            fprintf(stderr, "%s\n  under %s: %s\n", object, modes[i].spec, action_name(action));
        ASSERT_INT(action, modes[i].action);
    }
    arena_destroy(arena);
}

/* pod_spec: the spec of a Pod that the rail denies. Its ReplicaSet is older than `since`, or
 * newer. */
static inline void rail_modes_since(const char *rail, const char *keys, const char *pod_spec)
{
    static const struct {
        const char *created;
        enum action action;
    } owners[] = {{"2025-12-31T00:00:00Z", ACTION_WARN}, {"2026-01-02T00:00:00Z", ACTION_DENY}};
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        struct text cluster =
            arena_printf(arena,
                         "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, uid: u1, "
                         "creationTimestamp: '%s'}}",
                         owners[i].created);
        struct world world =
            rail_table_world(arena_printf(arena, "%s: {%s}", rail, keys).data, cluster.data, arena);
        struct text pod = arena_printf(
            arena,
            "{apiVersion: v1, kind: Pod, metadata: {generateName: web-1-, ownerReferences: "
            "[{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: u1, controller: "
            "true}]}, spec: {%s}}",
            pod_spec);
        struct text spec =
            arena_printf(arena, "mode: enforce, rails: {%s: {since: 2026-01-01%s%s}}", rail,
                         keys[0] == '\0' ? "" : ", ", keys);
        enum action action =
            rail_modes_action(&world, spec.data, pod.data,
                              "system:serviceaccount:kube-system:replicaset-controller", arena);
        ASSERT_INT(action, owners[i].action);
    }
    arena_destroy(arena);
}

#endif
