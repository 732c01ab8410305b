/* Writes plans and answers with names, so that those of different problems can be compared. */
#ifndef TAFFRAIL_UNIT_SOLVER_TOLD_H
#define TAFFRAIL_UNIT_SOLVER_TOLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "simulation/reason_words.h"
#include "solver/solver.h"
#include "unit.h"

static inline int told_compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct lines {
    const char **items;
    size_t count, capacity;
};

static inline const char *join_sorted(struct arena *arena, struct lines *lines, const char *between)
{
    struct text_builder out = {.arena = arena};
    if (lines->count > 1)
        qsort(lines->items, lines->count, sizeof *lines->items, told_compare_strings);
    for (size_t i = 0; i < lines->count; i++)
        text_builder_printf(&out, "%s%s", i == 0 ? "" : between, lines->items[i]);
    return lines->count == 0 ? "" : text_builder_text(&out).data;
}

static inline const char *tell_requirement(struct arena *arena, const struct solver_names *names,
                                           const struct solver_requirement *r)
{
    struct lines values = {0};
    size_t size;
    for (uint32_t i = 0; i < r->word_count * 64; i++)
        if ((r->words[i / 64] >> (i % 64) & 1) != 0) {
            const char *value = solver_names_value_text(names, r->key, i, &size);
            *LIST_PUSH(arena, &values) = arena_printf(arena, "%.*s", (int)size, value).data;
        }
    const char *key = solver_names_key_text(names, r->key, &size);
    return arena_printf(arena, "%.*s %s[%s] %lld..%lld min %u", (int)size, key,
                        solver_op_name(solver_requirement_op(r)), join_sorted(arena, &values, " "),
                        r->has_gte ? (long long)r->gte : -1, r->has_lte ? (long long)r->lte : -1,
                        r->min_values)
        .data;
}

/* Without its pods. */
static inline const char *tell_claim(struct arena *arena, const struct solver_problem *problem,
                                     const struct solver_node_claim *claim,
                                     const struct solver_names *names)
{
    struct lines lines = {0};
    for (size_t i = 0; i < claim->requirements->count; i++)
        *LIST_PUSH(arena, &lines) = tell_requirement(arena, names, &claim->requirements->items[i]);
    struct text_builder out = {.arena = arena};
    text_builder_printf(&out, "%s %s %s %s %lld {", solver_pool_name(problem, claim->pool),
                        claim->type == SOLVER_NONE ? "-" : solver_type_name(problem, claim->type),
                        claim->zone, claim->capacity_type, (long long)claim->price_usd_micro);
    for (size_t i = 0; i < claim->type_count; i++)
        text_builder_printf(&out, "%s ", solver_type_name(problem, claim->types[i]));
    for (uint32_t i = 0; i < solver_resource_count(problem); i++)
        text_builder_printf(&out, "%s=%lld ", solver_resource_name(problem, i),
                            (long long)claim->requests[i]);
    text_builder_printf(&out, "} %s", join_sorted(arena, &lines, "; "));
    return text_builder_text(&out).data;
}

static inline const char *tell_reasons(struct arena *arena, const struct solver_problem *problem,
                                       struct solver_reasons reasons)
{
    struct reasons_words told = reasons_tell(reasons, arena);
    struct lines lines = {0};
    for (size_t i = 0; i < told.count; i++) {
        const struct reason_words *r = &told.items[i];
        /* Of several groups in the way it names the one that was made first. */
        bool topology = r->kind == SOLVER_REASON_TOPOLOGY;
        *LIST_PUSH(arena, &lines) =
            arena_printf(arena, "%s %s: %s (%s)",
                         r->pool == SOLVER_NONE ? "*" : solver_pool_name(problem, r->pool),
                         solver_reason_name(r->kind), topology ? "" : r->message,
                         topology ? "" : r->nearest)
                .data;
    }
    return join_sorted(arena, &lines, " | ");
}

/* One line a pod, sorted. */
static inline const char *tell_plan(struct arena *arena, const struct solver_problem *problem,
                                    struct solver_run *run)
{
    const struct solver_plan *plan = solver_solve(run);
    struct lines lines = {0};
    for (size_t i = 0; i < plan->placement_count; i++) {
        const struct solver_placement *place = &plan->placements[i];
        const char *where;
        if (place->kind == SOLVER_ON_NODE) {
            where = solver_node_name(problem, place->index);
        } else if (place->kind == SOLVER_ON_NODE_CLAIM) {
            const struct solver_node_claim *claim = &plan->claims[place->index];
            struct lines pods = {0};
            for (size_t j = 0; j < claim->pod_count; j++)
                *LIST_PUSH(arena, &pods) = solver_pod_name(problem, claim->pods[j]);
            where = arena_printf(arena, "%s with %s",
                                 tell_claim(arena, problem, claim, solver_problem_names(problem)),
                                 join_sorted(arena, &pods, " "))
                        .data;
        } else {
            where = tell_reasons(arena, problem, solver_explain(run, place->pod));
        }
        *LIST_PUSH(arena, &lines) =
            arena_printf(arena, "%s %d: %s", solver_pod_name(problem, place->pod), (int)place->kind,
                         where)
                .data;
    }
    return join_sorted(arena, &lines, "\n");
}

/* Fails with the seed and the first line that differs. */
static inline bool same_told(uint64_t seed, const char *what, const char *actual,
                             const char *expected)
{
    if (strcmp(actual, expected) == 0)
        return true;
    size_t at = 0;
    while (actual[at] == expected[at])
        at++;
    while (at > 0 && actual[at - 1] != '\n')
        at--;
    fprintf(stderr, "seed %llu, %s:\n  actual   %.*s\n  expected %.*s\n", (unsigned long long)seed,
            what, (int)strcspn(actual + at, "\n"), actual + at, (int)strcspn(expected + at, "\n"),
            expected + at);
    CU_FAIL("they differ");
    return false;
}

#endif
