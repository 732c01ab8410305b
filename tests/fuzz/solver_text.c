/* Plans as text, independent of numbers. */
#include <string.h>

#include "solver_case.h"

static int compare_texts(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

void claim_text(const struct solver_problem *problem, const struct solver_node_claim *claim,
                struct text_builder *text)
{
    text_builder_printf(text, "of %s: %s %s %s %lld of", solver_pool_name(problem, claim->pool),
                        solver_type_name(problem, claim->type), claim->zone, claim->capacity_type,
                        (long long)claim->price_usd_micro);
    for (size_t i = 0; i < claim->type_count; i++)
        text_builder_printf(text, " %s", solver_type_name(problem, claim->types[i]));
    for (uint32_t i = 0; i < CASE_RESOURCES; i++)
        text_builder_printf(text, " %lld", (long long)claim->requests[i]);
}

static struct text names_text(const struct solver_problem *problem,
                              const struct solver_node_claim *claim, struct arena *arena)
{
    struct text *names = ARENA_ARRAY(arena, claim->pod_count, struct text);
    struct text_builder text = {.arena = arena};
    for (size_t i = 0; i < claim->pod_count; i++)
        names[i] = text_of(solver_pod_name(problem, claim->pods[i]));
    if (claim->pod_count > 1)
        qsort(names, claim->pod_count, sizeof *names, compare_texts);
    for (size_t i = 0; i < claim->pod_count; i++)
        text_builder_printf(&text, " %.*s", TEXT_ARGS(names[i]));
    return text_builder_text(&text);
}

struct text plan_text(const struct solver_problem *problem, const struct solver_plan *plan,
                      struct arena *arena)
{
    struct text *lines = ARENA_ARRAY(arena, plan->placement_count, struct text);
    for (size_t i = 0; i < plan->placement_count; i++) {
        const struct solver_placement *place = &plan->placements[i];
        struct text_builder line = {.arena = arena};
        text_builder_printf(&line, "%s ", solver_pod_name(problem, place->pod));
        if (place->kind == SOLVER_ON_NODE) {
            text_builder_printf(&line, "on %s", solver_node_name(problem, place->index));
        } else if (place->kind == SOLVER_ON_NODE_CLAIM) {
            claim_text(problem, &plan->claims[place->index], &line);
            text_builder_add(&line, names_text(problem, &plan->claims[place->index], arena));
        }
        lines[i] = text_builder_text(&line);
    }
    if (plan->placement_count > 1)
        qsort(lines, plan->placement_count, sizeof *lines, compare_texts);
    struct text_builder text = {.arena = arena};
    for (size_t i = 0; i < plan->placement_count; i++)
        text_builder_printf(&text, "%.*s\n", TEXT_ARGS(lines[i]));
    return text_builder_text(&text);
}

void require_same(const char *found, const char *wanted)
{
    if (strcmp(found, wanted) == 0)
        return;
    fprintf(stderr, "-- found\n%s\n-- instead of\n%s\n", found, wanted);
    REQUIRE(false);
}
