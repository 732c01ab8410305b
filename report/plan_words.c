/* The sentences and numbers that all formats of a plan share. */

#include "catalog/catalog.h"
#include "catalog/usd.h"
#include "kube/zone.h"
#include "report/plan.h"
#include "simulation/simulation.h"

/* ---- numbers ---- */

struct text plan_usd(int64_t usd_micro, struct arena *arena)
{
    return usd_text(usd_micro, usd_micro < 10000000 ? 4 : 2, arena);
}

struct text plan_usd_a_month(int64_t usd_micro_per_hour, struct arena *arena)
{
    return usd_text(usd_a_month(usd_micro_per_hour), 2, arena);
}

struct text plan_price(int64_t usd_micro, struct arena *arena)
{
    return usd_micro < 0 ? TEXT("?") : usd_text(usd_micro, 4, arena);
}

struct text plan_percent(int percent, struct arena *arena)
{
    return percent < 0 ? TEXT("-") : arena_printf(arena, "%d%%", percent);
}

struct text plan_cpu(int64_t cpu_milli, struct arena *arena)
{
    if (cpu_milli % 1000 == 0)
        return arena_printf(arena, "%lld", (long long)cpu_milli / 1000);
    return arena_printf(arena, "%.2f", (double)cpu_milli / 1000);
}

struct text plan_gib(int64_t memory_bytes, struct arena *arena)
{
    double gib = (double)memory_bytes / (1 << 30);
    return arena_printf(arena, gib < 10 ? "%.2f" : "%.1f", gib);
}

bool plan_is_priced(const struct simulation *simulation)
{
    return simulation->claim_count == 0 || simulation->unpriced_count < simulation->claim_count;
}

struct plan_saved plan_saved(const struct plan *plan)
{
    int64_t before = plan->compat->usd_micro_per_hour;
    struct plan_saved saved = {
        .known = plan->compat->unpriced_count == 0 && plan->simulation->unpriced_count == 0,
        .usd_micro_per_hour = before - plan->simulation->usd_micro_per_hour,
    };
    if (before > 0) {
        double per_mille = 1000 * (double)saved.usd_micro_per_hour / (double)before;
        saved.percent = (double)(int64_t)(per_mille + (per_mille < 0 ? -0.5 : 0.5)) / 10;
    }
    return saved;
}

/* ---- sentences ---- */

/* Karpenter waits until it knows the machine of each NodeClaim, which may be for these pods. */
static void add_unlaunched(struct text_builder *line, const struct simulation *simulation)
{
    enum { CLAIMS_NAMED = 3 };
    size_t count = simulation->unlaunched_count;
    if (count == 0)
        return;
    text_builder_printf(
        line,
        " NodeClaim%s %.*s %s not launched yet, and %s room is not counted: Karpenter buys nothing "
        "until %s.",
        plural_s(count),
        TEXT_ARGS(texts_and(simulation->unlaunched, count, CLAIMS_NAMED, line->arena)),
        count == 1 ? "is" : "are", count == 1 ? "its" : "their", count == 1 ? "it is" : "they are");
}

struct text plan_headline(const struct plan *plan, struct arena *arena)
{
    if (plan->pending_count == 0)
        return plan->simulation->incomplete
                   ? TEXT(
                         "Of what could be understood no pod is pending; the errors name the rest.")
                   : TEXT("No pod is pending: there is nothing to buy.");
    const char *separator = ": ";
    struct text_builder line = {.arena = arena};
    text_builder_printf(&line, "%zu pod%s pending", plan->pending_count,
                        plan->pending_count == 1 ? " is" : "s are");
    const struct {
        size_t pods, nodes;
        const char *where;
    } parts[] = {
        {plan->on_node_count, plan->taking_count, "existing node"},
        {plan->on_claim_count, plan->simulation->claim_count, "new node"},
        {plan->simulation->unschedulable_count - plan->later_count, 0, "nowhere"},
    };
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (parts[i].pods == 0)
            continue;
        text_builder_printf(&line, "%s%zu fit%s ", separator, parts[i].pods,
                            parts[i].pods == 1 ? "s" : "");
        if (parts[i].nodes > 0)
            text_builder_printf(&line, "on %zu ", parts[i].nodes);
        text_builder_printf(&line, "%s%s", parts[i].where,
                            parts[i].nodes > 1 ? plural_s(parts[i].nodes) : "");
        separator = ", ";
    }
    if (plan->later_count > 0)
        text_builder_printf(&line, "%s%zu %s not yet placed", separator, plan->later_count,
                            plan->later_count == 1 ? "is" : "are");
    size_t undecided = plan->simulation->undecided_count;
    if (undecided > 0)
        text_builder_printf(&line, "%s%zu %s not decided", plan->later_count > 0 ? ", " : separator,
                            undecided, undecided == 1 ? "is" : "are");
    text_builder_add(&line, TEXT("."));
    if (plan->simulation->incomplete)
        text_builder_add(&line, TEXT(" What could not be understood is left out."));
    add_unlaunched(&line, plan->simulation);
    return text_builder_text(&line);
}

static const struct simulation_node *claims_of(const struct simulation *simulation)
{
    return simulation->nodes + simulation->node_count - simulation->claim_count;
}

/* The regions of zones that are not the one whose prices these are. */
static struct text_list unpriced_regions(const struct catalog *catalog,
                                         const struct text_list *zones, struct arena *arena)
{
    struct text priced = catalog_prices(catalog)->region;
    struct text_list regions = {0};
    for (size_t i = 0; priced.size > 0 && i < zones->count; i++) {
        struct text region = zone_region(zones->items[i]);
        if (region.size > 0 && !text_equal(region, priced) &&
            !texts_have(regions.items, regions.count, region))
            *LIST_PUSH(arena, &regions) = region;
    }
    return regions;
}

struct text plan_prices_title(const struct catalog *catalog, const struct text_list *zones,
                              bool of_another, struct arena *arena)
{
    struct text_list others = unpriced_regions(catalog, zones, arena);
    struct text_builder line = {.arena = arena};
    text_builder_add(&line, catalog_prices_title(catalog, arena));
    if (others.count > 0)
        text_builder_printf(&line, ", not of %.*s (taffrail catalog import)",
                            TEXT_ARGS(texts_join(others.items, others.count, 3, arena)));
    text_builder_add(&line, TEXT("."));
    if (of_another)
        text_builder_add(&line, TEXT(" No price of spot is known: spot nodes cost less."));
    return text_builder_text(&line);
}

static void add_prices(struct text_builder *line, const struct simulation *simulation)
{
    const struct simulation_node *claims = claims_of(simulation);
    struct text_list zones = {0};
    bool of_another = false;
    for (size_t i = 0; i < simulation->claim_count; i++) {
        *LIST_PUSH(line->arena, &zones) = claims[i].zone;
        of_another |= claims[i].price_of.size > 0;
    }
    struct text title = plan_prices_title(simulation->catalog, &zones, of_another, line->arena);
    text_builder_printf(line, " These are %.*s", TEXT_ARGS(title));
}

struct text plan_cost(const struct plan *plan, struct arena *arena)
{
    const struct simulation *simulation = plan->simulation;
    if (simulation->claim_count == 0)
        return TEXT("");
    if (!plan_is_priced(simulation))
        return TEXT("What the new nodes cost is not known: the catalogue has no price for them.");
    struct text hour = plan_usd(simulation->usd_micro_per_hour, arena);
    struct text month = plan_usd_a_month(simulation->usd_micro_per_hour, arena);
    struct text_builder line = {.arena = arena};
    text_builder_printf(&line, "New nodes cost $%.*s an hour, $%.*s a month", TEXT_ARGS(hour),
                        TEXT_ARGS(month));
    if (simulation->unpriced_count > 0)
        text_builder_printf(&line, ", without %zu of no known price", simulation->unpriced_count);
    text_builder_add(&line, TEXT("."));
    if (simulation->catalog != NULL)
        add_prices(&line, simulation);
    return text_builder_text(&line);
}

static size_t placed_count(const struct simulation *simulation)
{
    return simulation->pod_count - simulation->unschedulable_count - simulation->undecided_count;
}

static void add_difference(struct text_builder *line, size_t before, size_t now, const char *what)
{
    size_t difference = now > before ? now - before : before - now;
    if (difference > 0)
        text_builder_printf(line, ", %zu %s %s%s", difference, now > before ? "more" : "fewer",
                            what, plural_s(difference));
}

/* "costs $0.2140 an hour without 1 node of no known price". */
static void add_known_cost(struct text_builder *line, const struct simulation *simulation,
                           const char *costs, const char *is)
{
    size_t unpriced = simulation->unpriced_count;
    if (!plan_is_priced(simulation)) {
        text_builder_printf(line, "%s of no known price", is);
        return;
    }
    text_builder_printf(line, "%s $%.*s an hour", costs,
                        TEXT_ARGS(plan_usd(simulation->usd_micro_per_hour, line->arena)));
    if (unpriced > 0)
        text_builder_printf(line, " without %zu node%s of no known price", unpriced,
                            plural_s(unpriced));
}

/* A percentage would compare different things if the plans do not place the same pods. */
static void add_cost_difference(struct text_builder *line, const struct plan *plan, bool alike)
{
    struct plan_saved saved = plan_saved(plan);
    int64_t difference = saved.usd_micro_per_hour;
    if (!saved.known) {
        add_known_cost(line, plan->simulation, "costs", "is");
        return;
    }
    if (difference == 0) {
        text_builder_add(line, TEXT("costs the same"));
        return;
    }
    struct text usd = plan_usd(difference > 0 ? difference : -difference, line->arena);
    text_builder_printf(line, "%s $%.*s", difference > 0 ? "saves" : "costs", TEXT_ARGS(usd));
    if (alike)
        text_builder_printf(line, " (%.1f%%)", saved.percent < 0 ? -saved.percent : saved.percent);
    if (difference < 0)
        text_builder_add(line, TEXT(" more"));
}

struct text plan_saving(const struct plan *plan, struct arena *arena)
{
    if (plan->compat == NULL || plan->pending_count == 0)
        return TEXT("");
    const struct simulation *before = plan->compat;
    const struct simulation *now = plan->simulation;
    size_t placed_before = placed_count(before);
    size_t placed_now = placed_count(now);
    bool alike = placed_before == placed_now;
    struct text_builder line = {.arena = arena};
    text_builder_add(&line, TEXT("Karpenter's own choices "));
    add_known_cost(&line, before, "cost", "are");
    text_builder_add(&line, TEXT("; this plan "));
    if (!alike) {
        size_t difference =
            placed_now > placed_before ? placed_now - placed_before : placed_before - placed_now;
        text_builder_printf(&line, "places %zu pod%s %s and ", difference, plural_s(difference),
                            placed_now > placed_before ? "more" : "fewer");
    }
    add_cost_difference(&line, plan, alike);
    add_difference(&line, before->claim_count, now->claim_count, "node");
    text_builder_add(&line, TEXT("."));
    if (now->cut_short)
        text_builder_add(&line, TEXT(" Its time was up before all was tried (--optimize-time): "
                                     "there may be a better plan."));
    return text_builder_text(&line);
}

/* ---- names ---- */

struct text plan_pods_text(const struct plan *plan, const struct plan_node *node, char glue,
                           struct arena *arena)
{
    struct text_builder list = {.arena = arena};
    if (node->bought && node->share_count == 0)
        return TEXT("in vain: no pod can run on it");
    for (size_t i = 0; i < node->share_count; i++) {
        const struct plan_share *share = &node->shares[i];
        size_t count = node->bought ? share->pod_count : share->pending_count;
        if (count == 0)
            continue;
        if (list.size > 0)
            text_builder_add(&list, TEXT(", "));
        text_builder_add(&list, plan->workloads[share->workload].label);
        if (count > 1)
            text_builder_printf(&list, "%cx%zu", glue, count);
    }
    return text_builder_text(&list);
}

struct text plan_misfit_title(const struct plan *plan, const struct plan_misfit *misfit,
                              struct arena *arena)
{
    const struct simulation_pod *pod = &plan->simulation->pods[misfit->first->pod];
    struct text_builder title = {.arena = arena};
    text_builder_printf(&title, "%.*s/%.*s", TEXT_ARGS(pod->namespace), TEXT_ARGS(pod->name));
    if (misfit->count > 1)
        text_builder_printf(&title, " and %zu more", misfit->count - 1);
    if (!text_equal(pod->workload, pod->name))
        text_builder_printf(&title, " (%.*s)", TEXT_ARGS(pod->workload));
    return text_builder_text(&title);
}

struct text plan_reason_pool(const struct simulation_reason *reason, struct arena *arena)
{
    if (reason->node_pool.size == 0)
        return TEXT("any node");
    return arena_printf(arena, "NodePool %.*s", TEXT_ARGS(reason->node_pool));
}
