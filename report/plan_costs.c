/* What the nodes to buy cost, by NodePool and by namespace; and why pods fit nowhere, by cause. */
#include "report/plan.h"

#include <stdlib.h>
#include <string.h>

#include "simulation/other_pools.h"

/* ---- costs ---- */

struct costing {
    struct plan_costs costs;
    struct text_map places; /* of the rows, by name */
    struct arena *arena;
};

static struct plan_cost_row *row_of(struct costing *costing, struct text name)
{
    size_t *place = text_map_at(&costing->places, costing->arena, name);
    if (*place == 0) {
        costing->costs.items[costing->costs.count++] = (struct plan_cost_row){.name = name};
        *place = costing->costs.count;
    }
    return &costing->costs.items[*place - 1];
}

static int compare_rows(const void *a_pointer, const void *b_pointer)
{
    const struct plan_cost_row *a = a_pointer, *b = b_pointer;
    if (a->usd_micro_per_hour != b->usd_micro_per_hour)
        return a->usd_micro_per_hour > b->usd_micro_per_hour ? -1 : 1;
    return text_compare(a->name, b->name);
}

static struct plan_costs sorted(struct plan_costs costs)
{
    if (costs.count > 1)
        qsort(costs.items, costs.count, sizeof *costs.items, compare_rows);
    return costs;
}

static void add_price(struct plan_cost_row *row, int64_t usd_micro)
{
    row->node_count++;
    if (usd_micro < 0)
        row->unpriced_count++;
    else
        row->usd_micro_per_hour = plan_add(row->usd_micro_per_hour, usd_micro);
}

struct plan_costs plan_costs_by_pool(const struct plan *plan, struct arena *arena)
{
    struct costing costing = {.arena = arena};
    costing.costs.items = ARENA_ARRAY(arena, plan->nodes.count, struct plan_cost_row);
    for (size_t i = 0; i < plan->nodes.count; i++) {
        const struct plan_node *node = &plan->nodes.items[i];
        if (!node->bought)
            continue;
        struct plan_cost_row *row = row_of(&costing, node->node->node_pool);
        add_price(row, node->usd_micro_per_hour);
        row->pod_count += node->pending_count;
    }
    return sorted(costing.costs);
}

/* Divides a node's price among the namespaces of its pods. Pods that ask for nothing take equal
 * parts when no other is there. */
static void divide(struct costing *costing, const struct plan *plan, const struct plan_node *node)
{
    double whole = 0;
    for (size_t i = 0; i < node->share_count; i++)
        whole += plan_share_of_node(&node->shares[i], node);
    for (size_t i = 0; i < node->share_count; i++) {
        const struct plan_share *share = &node->shares[i];
        struct text namespace = plan->workloads[share->workload].namespace;
        struct plan_cost_row *row = row_of(costing, namespace);
        double part =
            whole > 0 ? plan_share_of_node(share, node) / whole : 1.0 / (double)node->share_count;
        int64_t usd_micro = node->usd_micro_per_hour;
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again |= text_equal(plan->workloads[node->shares[j].workload].namespace, namespace);
        row->node_count += !again;
        row->unpriced_count += !again && usd_micro < 0;
        row->pod_count += share->pod_count;
        if (usd_micro > 0)
            row->usd_micro_per_hour =
                plan_add(row->usd_micro_per_hour, (int64_t)((double)usd_micro * part + 0.5));
    }
}

struct plan_costs plan_costs_by_namespace(const struct plan *plan, struct arena *arena)
{
    struct costing costing = {.arena = arena};
    costing.costs.items = ARENA_ARRAY(arena, plan->workload_count, struct plan_cost_row);
    for (size_t i = 0; i < plan->nodes.count; i++)
        if (plan->nodes.items[i].bought)
            divide(&costing, plan, &plan->nodes.items[i]);
    return sorted(costing.costs);
}

/* ---- causes ---- */

/* By the kinds of a simulation_reason. */
static const struct {
    const char *kind, *meaning;
} meanings[] = {
    {"taint", "The pods do not tolerate a taint of the nodes."},
    {"requirement", "The pods ask for labels that the nodes do not have."},
    {"resources", "The pods ask for more than a machine has, or has left."},
    {"offering", "No machine is sold in that zone and capacity type."},
    {"topology", "Spreading, affinity or anti-affinity leaves no place."},
    {"volume", "The pods' volumes are elsewhere, or cannot be made."},
    {"limit", "The NodePool has reached its limit."},
    {"port", "Another pod has the host port."},
    {"min-values", "The NodePool wants more instance types to choose from (minValues)."},
    {"devices", "The devices of a ResourceClaim are not there."},
    {REASON_NOT_READY, "The NodePool makes no nodes for pods now."},
    {REASON_UNDECIDED, "What decides cannot be seen."},
};

static const char *meaning_of(const char *kind)
{
    for (size_t i = 0; i < COUNT_OF(meanings); i++)
        if (strcmp(meanings[i].kind, kind) == 0)
            return meanings[i].meaning;
    return "";
}

static struct plan_cause *cause_of(struct plan_causes *causes, const char *kind)
{
    size_t at = 0;
    while (at < causes->count && strcmp(causes->items[at].kind, kind) != 0)
        at++;
    if (at == causes->count)
        causes->items[causes->count++] = (struct plan_cause){kind, meaning_of(kind), 0, 0};
    return &causes->items[at];
}

static int compare_causes(const void *a_pointer, const void *b_pointer)
{
    const struct plan_cause *a = a_pointer, *b = b_pointer;
    if (a->pod_count != b->pod_count)
        return a->pod_count > b->pod_count ? -1 : 1;
    return strcmp(a->kind, b->kind);
}

struct plan_causes plan_causes(const struct plan_misfits *misfits, struct arena *arena)
{
    size_t most = 1;
    for (size_t i = 0; i < misfits->count; i++)
        most += misfits->items[i].first->reason_count;
    struct plan_causes causes = {ARENA_ARRAY(arena, most, struct plan_cause), 0};
    for (size_t i = 0; i < misfits->count; i++) {
        const struct simulation_reason *reasons = misfits->items[i].first->reasons;
        for (size_t j = 0; j < misfits->items[i].first->reason_count; j++) {
            bool again = false;
            for (size_t k = 0; k < j; k++)
                again |= strcmp(reasons[k].kind, reasons[j].kind) == 0;
            if (again)
                continue;
            struct plan_cause *cause = cause_of(&causes, reasons[j].kind);
            cause->pod_count += misfits->items[i].count;
            cause->workload_count++;
        }
    }
    if (causes.count > 1)
        qsort(causes.items, causes.count, sizeof *causes.items, compare_causes);
    return causes;
}
