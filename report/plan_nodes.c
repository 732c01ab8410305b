/* The nodes of a plan in the order of a report: equal ones as one, and groups of those that have
 * something in common. */
#include "report/plan.h"

#include <stdlib.h>

#include "simulation/simulation.h"

/* ---- sums ---- */

int64_t plan_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int percent(int64_t part, int64_t whole)
{
    enum { MOST = 999 };
    if (whole <= 0)
        return -1;
    double value = 100 * (double)part / (double)whole + 0.5;
    return value > MOST ? MOST : (int)value;
}

void plan_node_percents(struct plan_node *node)
{
    node->cpu_percent = percent(node->cpu_milli, node->room_cpu_milli);
    node->memory_percent = percent(node->memory_bytes, node->room_memory_bytes);
    node->before_cpu_percent = percent(node->before_cpu_milli, node->room_cpu_milli);
    node->before_memory_percent = percent(node->before_memory_bytes, node->room_memory_bytes);
}

double plan_share_of_node(const struct plan_share *share, const struct plan_node *node)
{
    double cpu =
        node->room_cpu_milli > 0 ? (double)share->cpu_milli / (double)node->room_cpu_milli : 0;
    double memory = node->room_memory_bytes > 0
                        ? (double)share->memory_bytes / (double)node->room_memory_bytes
                        : 0;
    return cpu > memory ? cpu : memory;
}

int64_t plan_node_usd_micro(const struct plan_node *node)
{
    int64_t all;
    if (node->usd_micro_per_hour <= 0)
        return 0;
    if (node->mixed_prices)
        return node->usd_micro_per_hour;
    return __builtin_mul_overflow(node->usd_micro_per_hour, (int64_t)node->count, &all) ? INT64_MAX
                                                                                        : all;
}

/* ---- order ---- */

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_counts(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_all_shares(const struct plan_node *a, const struct plan_node *b)
{
    int order = compare_counts(b->share_count, a->share_count);
    for (size_t i = 0; order == 0 && i < a->share_count; i++) {
        const struct plan_share *x = &a->shares[i];
        const struct plan_share *y = &b->shares[i];
        order = compare_counts(x->workload, y->workload);
        if (order == 0)
            order = compare_counts(y->pod_count, x->pod_count);
        if (order == 0)
            order = compare_counts(y->pending_count, x->pending_count);
        if (order == 0)
            order = compare_numbers(y->cpu_milli, x->cpu_milli);
        if (order == 0)
            order = compare_numbers(y->memory_bytes, x->memory_bytes);
    }
    return order;
}

/* 0: they are one. */
static int compare_looks(const struct plan_node *a, const struct plan_node *b,
                         enum plan_merge merge)
{
    const struct simulation_node *x = a->node;
    const struct simulation_node *y = b->node;
    int pools =
        a->bought != b->bought ? a->bought - b->bought : text_compare(x->node_pool, y->node_pool);
    int zones = text_compare(x->zone, y->zone);
    if (merge == PLAN_BY_POOL)
        return pools != 0 ? pools : zones;
    const int orders[] = {
        pools,
        compare_numbers(y->cpu_milli, x->cpu_milli),
        compare_numbers(y->memory_bytes, x->memory_bytes),
        text_compare(x->instance_type, y->instance_type),
        zones,
        text_compare(x->capacity_type, y->capacity_type),
        merge == PLAN_BY_TYPE ? 0 : compare_numbers(x->usd_micro_per_hour, y->usd_micro_per_hour),
        merge == PLAN_BY_TYPE ? 0 : compare_all_shares(a, b),
    };
    for (size_t i = 0; i < COUNT_OF(orders); i++)
        if (orders[i] != 0)
            return orders[i];
    return 0;
}

static int compare_nodes(const void *a_pointer, const void *b_pointer, void *merge)
{
    const struct plan_node *a = a_pointer;
    const struct plan_node *b = b_pointer;
    int order = compare_looks(a, b, *(const enum plan_merge *)merge);
    return order != 0 ? order : (a->node > b->node) - (a->node < b->node);
}

static struct plan_nodes select_nodes(const struct plan *plan, bool existing, bool bought,
                                      bool only_taking, struct arena *arena)
{
    struct plan_nodes selected = {ARENA_ARRAY(arena, plan->nodes.count, struct plan_node), 0};
    for (size_t i = 0; i < plan->nodes.count; i++) {
        const struct plan_node *node = &plan->nodes.items[i];
        if ((node->bought ? bought : existing) && (!only_taking || node->pending_count > 0))
            selected.items[selected.count++] = *node;
    }
    return selected;
}

/* ---- groups ---- */

/* Adds the pods of a node to those of its group; `at` has the place of each workload's share in the
 * group, from 1. */
static void add_shares(struct plan_node *group, const struct plan_node *node,
                       struct plan_share *shares, size_t *at)
{
    for (size_t i = 0; i < node->share_count; i++) {
        const struct plan_share *from = &node->shares[i];
        if (at[from->workload] == 0) {
            shares[group->share_count++] = (struct plan_share){.workload = from->workload};
            at[from->workload] = group->share_count;
        }
        struct plan_share *to = &shares[at[from->workload] - 1];
        to->pod_count += from->pod_count;
        to->pending_count += from->pending_count;
        to->cpu_milli = plan_add(to->cpu_milli, from->cpu_milli);
        to->memory_bytes = plan_add(to->memory_bytes, from->memory_bytes);
    }
}

static int compare_shares(const void *a_pointer, const void *b_pointer)
{
    const struct plan_share *a = a_pointer;
    const struct plan_share *b = b_pointer;
    int order = compare_counts(b->pod_count, a->pod_count);
    return order != 0 ? order : compare_counts(a->workload, b->workload);
}

static void add_node(struct plan_node *group, const struct plan_node *node)
{
    group->count += node->count;
    group->pending_count += node->pending_count;
    group->cpu_milli = plan_add(group->cpu_milli, node->cpu_milli);
    group->memory_bytes = plan_add(group->memory_bytes, node->memory_bytes);
    group->before_cpu_milli = plan_add(group->before_cpu_milli, node->before_cpu_milli);
    group->before_memory_bytes = plan_add(group->before_memory_bytes, node->before_memory_bytes);
    group->room_cpu_milli = plan_add(group->room_cpu_milli, node->room_cpu_milli);
    group->room_memory_bytes = plan_add(group->room_memory_bytes, node->room_memory_bytes);
}

static void add_prices(struct plan_node *group, const struct plan_node *nodes, size_t count)
{
    int64_t sum = -1;
    for (size_t i = 0; i < count; i++) {
        int64_t usd_micro = nodes[i].usd_micro_per_hour;
        group->mixed_prices |= usd_micro != nodes[0].usd_micro_per_hour;
        if (usd_micro >= 0)
            sum = plan_add(sum < 0 ? 0 : sum, usd_micro);
    }
    group->usd_micro_per_hour = group->mixed_prices ? sum : nodes[0].usd_micro_per_hour;
}

static size_t count_types(const struct plan_node *nodes, size_t count, struct arena *arena)
{
    struct text_map types = {0};
    size_t type_count = 0;
    for (size_t i = 0; i < count; i++)
        type_count += text_map_add(&types, arena, nodes[i].node->instance_type);
    return type_count;
}

/* `at`: a zero for each workload, and again when it returns. */
static struct plan_node group_nodes(const struct plan_node *nodes, size_t count, size_t *at,
                                    struct arena *arena)
{
    if (count == 1)
        return nodes[0];
    struct plan_node group = {.node = nodes[0].node, .bought = nodes[0].bought, .grouped = true};
    size_t share_count = 0;
    for (size_t i = 0; i < count; i++)
        share_count += nodes[i].share_count;
    struct plan_share *shares = ARENA_ARRAY(arena, share_count, struct plan_share);
    for (size_t i = 0; i < count; i++) {
        add_shares(&group, &nodes[i], shares, at);
        add_node(&group, &nodes[i]);
    }
    for (size_t i = 0; i < group.share_count; i++)
        at[shares[i].workload] = 0;
    if (group.share_count > 1)
        qsort(shares, group.share_count, sizeof *shares, compare_shares);
    group.shares = shares;
    group.type_count = count_types(nodes, count, arena);
    add_prices(&group, nodes, count);
    plan_node_percents(&group);
    return group;
}

static void sort_and_merge(const struct plan *plan, struct plan_nodes *nodes, enum plan_merge merge,
                           struct arena *arena)
{
    if (nodes->count > 0)
        qsort_r(nodes->items, nodes->count, sizeof *nodes->items, compare_nodes, &merge);
    size_t *at = ARENA_ARRAY(arena, plan->workload_count, size_t);
    size_t kept = 0;
    for (size_t i = 0, end; merge != PLAN_EACH && i < nodes->count; i = end) {
        end = i + 1;
        while (end < nodes->count &&
               compare_looks(&nodes->items[i], &nodes->items[end], merge) == 0)
            end++;
        struct plan_node one = nodes->items[i];
        if (merge == PLAN_EQUAL)
            one.count = end - i;
        else
            one = group_nodes(&nodes->items[i], end - i, at, arena);
        nodes->items[kept++] = one;
    }
    if (merge != PLAN_EACH)
        nodes->count = kept;
}

struct plan_nodes plan_nodes_bought(const struct plan *plan, struct arena *arena)
{
    struct plan_nodes nodes = select_nodes(plan, false, true, false, arena);
    sort_and_merge(plan, &nodes, PLAN_EQUAL, arena);
    return nodes;
}

struct plan_nodes plan_nodes_taking(const struct plan *plan, struct arena *arena)
{
    return select_nodes(plan, true, false, true, arena);
}

struct plan_nodes plan_nodes_all(const struct plan *plan, enum plan_merge merge,
                                 struct arena *arena)
{
    struct plan_nodes nodes = select_nodes(plan, true, true, false, arena);
    sort_and_merge(plan, &nodes, merge, arena);
    return nodes;
}

/* By pool; in each the fullest first, as what is there is looked for room in. */
static int compare_pools(const void *a_pointer, const void *b_pointer)
{
    const struct plan_node *a = a_pointer;
    const struct plan_node *b = b_pointer;
    int order = text_compare(a->node->node_pool, b->node->node_pool);
    if (order == 0)
        order = b->cpu_percent - a->cpu_percent;
    return order != 0 ? order : (a->node > b->node) - (a->node < b->node);
}

struct plan_nodes plan_nodes_by_pool(const struct plan *plan, struct plan_nodes *members,
                                     struct arena *arena)
{
    *members = select_nodes(plan, true, false, false, arena);
    if (members->count > 0)
        qsort(members->items, members->count, sizeof *members->items, compare_pools);
    size_t *at = ARENA_ARRAY(arena, plan->workload_count, size_t);
    struct plan_nodes groups = {ARENA_ARRAY(arena, members->count, struct plan_node), 0};
    for (size_t i = 0, end; i < members->count; i = end) {
        end = i + 1;
        while (end < members->count &&
               text_equal(members->items[i].node->node_pool, members->items[end].node->node_pool))
            end++;
        groups.items[groups.count++] = group_nodes(&members->items[i], end - i, at, arena);
    }
    return groups;
}
