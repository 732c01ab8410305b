/* The sentences about a drill that all formats of a plan share. */
#include "kube/kind.h"
#include "report/plan.h"
#include "simulation/drill.h"
#include "simulation/simulation.h"

/* ---- what is assumed ---- */

static void start_clause(struct text_builder *line)
{
    text_builder_add(line, line->size == 0 ? TEXT("Drill: ") : TEXT("; "));
}

static void add_names(struct text_builder *line, const struct drill *drill)
{
    enum { MOST_NAMED = 5 };
    const struct {
        const struct text_list *names;
        const char *one, *several, *are;
    } clauses[] = {
        {&drill->zones, "zone ", "zones ", "lost"},
        {&drill->pools, "NodePool ", "NodePools ", "deleted"},
        {&drill->sold_out, "", "", "sold out"},
    };
    for (size_t i = 0; i < COUNT_OF(clauses); i++) {
        const struct text_list *names = clauses[i].names;
        if (names->count == 0)
            continue;
        struct text list = texts_and(names->items, names->count, MOST_NAMED, line->arena);
        start_clause(line);
        text_builder_printf(line, "%s%.*s %s %s",
                            names->count == 1 ? clauses[i].one : clauses[i].several,
                            TEXT_ARGS(list), names->count == 1 ? "is" : "are", clauses[i].are);
    }
}

struct text plan_drill_title(const struct plan *plan, struct arena *arena)
{
    const struct drilled *drilled = plan->simulation->drilled;
    struct text_builder line = {.arena = arena};
    if (drilled == NULL)
        return TEXT("");
    add_names(&line, drilled->drill);
    for (size_t i = 0; i < drilled->workload_count; i++) {
        const struct drilled_workload *workload = &drilled->workloads[i];
        start_clause(&line);
        text_builder_printf(&line, "%s %.*s/%.*s has %lld replica%s",
                            kind_table[workload->kind].name, TEXT_ARGS(workload->namespace),
                            TEXT_ARGS(workload->name), (long long)workload->replicas,
                            plural_s((size_t)workload->replicas));
        if (workload->before != workload->replicas)
            text_builder_printf(&line, ", not %lld", (long long)workload->before);
    }
    text_builder_add(&line, TEXT("."));
    return text_builder_text(&line);
}

/* ---- what it did ---- */

static void add_lost_nodes(struct text_builder *line, const struct drilled *drilled)
{
    if (drilled->node_count == 0)
        return;
    text_builder_printf(line, "%zu node%s lost", drilled->node_count,
                        drilled->node_count == 1 ? " is" : "s are");
    if (drilled->unpriced_count < drilled->node_count)
        text_builder_printf(line, ", $%.*s an hour",
                            TEXT_ARGS(plan_usd(drilled->usd_micro_per_hour, line->arena)));
    if (drilled->unpriced_count > 0)
        text_builder_printf(line, ", %zu of no known price", drilled->unpriced_count);
    text_builder_printf(line, ": %zu pod%s need%s another place", drilled->moved_count,
                        plural_s(drilled->moved_count), drilled->moved_count == 1 ? "s" : "");
    if (drilled->gone.count > 0)
        text_builder_printf(line, ", and %zu %s gone for good, since no controller makes %s again",
                            drilled->gone.count, drilled->gone.count == 1 ? "is" : "are",
                            drilled->gone.count == 1 ? "it" : "them");
    text_builder_add(line, drilled->without != NULL ? TEXT(". ") : TEXT("."));
}

static void add_plan_without(struct text_builder *line, const struct drilled *drilled)
{
    const struct simulation *without = drilled->without;
    if (without == NULL)
        return;
    size_t claims = without->claim_count, nowhere = without->unschedulable_count;
    text_builder_add(line, TEXT("Without the drill "));
    if (claims == 0)
        text_builder_add(line, TEXT("nothing would be bought"));
    else
        text_builder_printf(line, "%zu node%s%s would be bought", claims, plural_s(claims),
                            plan_is_priced(without) ? "" : " of no known price");
    if (claims > 0 && plan_is_priced(without))
        text_builder_printf(line, " for $%.*s an hour",
                            TEXT_ARGS(plan_usd(without->usd_micro_per_hour, line->arena)));
    if (without->unpriced_count > 0 && plan_is_priced(without))
        text_builder_printf(line, ", without %zu of no known price", without->unpriced_count);
    if (nowhere > 0)
        text_builder_printf(line, ", and %zu pod%s would fit nowhere", nowhere, plural_s(nowhere));
    text_builder_add(line, TEXT("."));
}

struct text plan_drill_effect(const struct plan *plan, struct arena *arena)
{
    const struct drilled *drilled = plan->simulation->drilled;
    struct text_builder line = {.arena = arena};
    if (drilled == NULL)
        return TEXT("");
    add_lost_nodes(&line, drilled);
    add_plan_without(&line, drilled);
    return text_builder_text(&line);
}

/* What keeps the pods from new nodes. Reasons that concern the Nodes there are come first, and are
 * left out where others follow. */
static struct plan_causes causes_of_pools(const struct plan *plan, struct arena *arena)
{
    const struct plan_misfits *all = &plan->misfits[PLAN_NOWHERE];
    struct plan_misfit *items = ARENA_ARRAY(arena, all->count, struct plan_misfit);
    for (size_t i = 0; i < all->count; i++) {
        struct simulation_unschedulable *pod = ARENA_NEW(arena, struct simulation_unschedulable);
        *pod = *all->items[i].first;
        for (; pod->reason_count > 1 && pod->reasons[0].node_pool.size == 0; pod->reason_count--)
            pod->reasons++;
        items[i] = (struct plan_misfit){pod, all->items[i].count};
    }
    const struct plan_misfits of_pools = {all->title, items, all->count};
    return plan_causes(&of_pools, arena);
}

struct text plan_drill_causes(const struct plan *plan, struct arena *arena)
{
    struct plan_causes causes = causes_of_pools(plan, arena);
    struct text_builder line = {.arena = arena};
    if (plan->simulation->drilled == NULL || causes.count == 0)
        return TEXT("");
    text_builder_add(&line, TEXT("In the way: "));
    for (size_t i = 0; i < causes.count; i++)
        text_builder_printf(&line, "%s%s (%zu pod%s)", i > 0 ? ", " : "", causes.items[i].kind,
                            causes.items[i].pod_count, plural_s(causes.items[i].pod_count));
    text_builder_add(&line, TEXT("."));
    return text_builder_text(&line);
}

struct text_list plan_drill_disks(const struct plan *plan, struct arena *arena)
{
    enum { MOST_LISTED = 20 };
    const struct drilled *drilled = plan->simulation->drilled;
    struct text_list lines = {0};
    size_t count = drilled == NULL ? 0 : drilled->disk_count;
    for (size_t i = 0; i < count && i < MOST_LISTED; i++) {
        const struct drilled_disk *disk = &drilled->disks[i];
        const struct simulation_pod *pod = &plan->simulation->pods[disk->pod];
        *LIST_PUSH(arena, &lines) =
            arena_printf(arena, "%.*s/%.*s: claim %.*s is in %.*s", TEXT_ARGS(pod->namespace),
                         TEXT_ARGS(pod->name), TEXT_ARGS(disk->claim), TEXT_ARGS(disk->place));
    }
    if (count > MOST_LISTED)
        *LIST_PUSH(arena, &lines) = arena_printf(arena, "and %zu more", count - MOST_LISTED);
    return lines;
}
