/* Sorts a plan for people: workloads, what is on each node, misfits. */
#include "report/plan.h"

#include <stdlib.h>
#include <string.h>

#include "simulation/simulation.h"

#define FORMATS(ROW) ROW(text) ROW(json) ROW(svg) ROW(html)

#define NAME_OF(name) #name,
const char *const report_plan_format_names[] = {FORMATS(NAME_OF) NULL};
#undef NAME_OF

static plan_writer *const writers[] = {
#define WRITER_OF(name) plan_##name,
    FORMATS(WRITER_OF)
#undef WRITER_OF
};

bool report_plan_write(int format, const struct simulation *simulation,
                       const struct simulation *compat, const struct report_style *style,
                       struct arena *arena, FILE *out, struct error *error)
{
    struct plan plan;
    plan_read(simulation, compat, arena, &plan);
    return writers[format](&plan, style, arena, out, error);
}

/* ---- workloads ---- */

static int compare_counts(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* "web" of "Deployment web". */
static struct text short_name(struct text workload)
{
    struct text name;
    return text_split_last(workload, ' ', NULL, &name) && name.size > 0 ? name : workload;
}

static int compare_owners(const struct simulation_pod *a, const struct simulation_pod *b)
{
    int order = text_compare(a->namespace, b->namespace);
    if (order == 0)
        order = text_compare(short_name(a->workload), short_name(b->workload));
    return order != 0 ? order : text_compare(a->workload, b->workload);
}

static int compare_pods(const void *a_pointer, const void *b_pointer)
{
    const struct simulation_pod *a = *(const struct simulation_pod *const *)a_pointer;
    const struct simulation_pod *b = *(const struct simulation_pod *const *)b_pointer;
    int order = compare_owners(a, b);
    return order != 0 ? order : (a > b) - (a < b);
}

static bool share_short_name(const struct plan_workload *a, const struct plan_workload *b)
{
    return text_equal(a->namespace, b->namespace) &&
           text_equal(short_name(a->name), short_name(b->name));
}

/* Workloads of one namespace and short name are neighbours. */
static void label_workloads(struct plan_workload *workloads, size_t count, struct arena *arena)
{
    bool one_namespace =
        count == 0 || text_equal(workloads[0].namespace, workloads[count - 1].namespace);
    for (size_t i = 0; i < count; i++) {
        struct plan_workload *workload = &workloads[i];
        bool unique = (i == 0 || !share_short_name(workload, workload - 1)) &&
                      (i + 1 == count || !share_short_name(workload, workload + 1));
        struct text name = unique ? short_name(workload->name) : workload->name;
        workload->label =
            one_namespace
                ? name
                : arena_printf(arena, "%.*s/%.*s", TEXT_ARGS(workload->namespace), TEXT_ARGS(name));
    }
}

static int compare_weights(const void *a_pointer, const void *b_pointer)
{
    const struct plan_workload *a = *(struct plan_workload *const *)a_pointer;
    const struct plan_workload *b = *(struct plan_workload *const *)b_pointer;
    int order = compare_counts(b->pending_count, a->pending_count);
    if (order == 0)
        order = compare_counts(b->pod_count, a->pod_count);
    return order != 0 ? order : (a > b) - (a < b);
}

static void rank_workloads(struct plan_workload *workloads, size_t count, struct arena *arena)
{
    struct plan_workload **sorted = ARENA_ARRAY(arena, count, struct plan_workload *);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &workloads[i];
    if (count > 0)
        qsort(sorted, count, sizeof(struct plan_workload *), compare_weights);
    for (size_t i = 0; i < count; i++)
        sorted[i]->rank = i;
}

static void read_workloads(struct plan *plan, struct arena *arena)
{
    const struct simulation_pod *pods = plan->simulation->pods;
    size_t pod_count = plan->simulation->pod_count;
    const struct simulation_pod **sorted =
        ARENA_ARRAY(arena, pod_count, const struct simulation_pod *);
    for (size_t i = 0; i < pod_count; i++)
        sorted[i] = &pods[i];
    if (pod_count > 0)
        qsort(sorted, pod_count, sizeof(const struct simulation_pod *), compare_pods);
    struct plan_workload *workloads = ARENA_ARRAY(arena, pod_count, struct plan_workload);
    size_t *workload_of = ARENA_ARRAY(arena, pod_count, size_t);
    size_t count = 0;
    for (size_t i = 0; i < pod_count; i++) {
        const struct simulation_pod *pod = sorted[i];
        if (i == 0 || compare_owners(sorted[i - 1], pod) != 0)
            workloads[count++] =
                (struct plan_workload){.namespace = pod->namespace, .name = pod->workload};
        workloads[count - 1].pod_count++;
        workloads[count - 1].pending_count += !pod->running;
        workload_of[pod - pods] = count - 1;
    }
    label_workloads(workloads, count, arena);
    rank_workloads(workloads, count, arena);
    plan->workloads = workloads;
    plan->workload_count = count;
    plan->workload_of = workload_of;
}

/* ---- nodes ---- */

static int compare_shares(const void *a_pointer, const void *b_pointer)
{
    const struct plan_share *a = a_pointer;
    const struct plan_share *b = b_pointer;
    int order = compare_counts(b->pod_count, a->pod_count);
    return order != 0 ? order : compare_counts(a->workload, b->workload);
}

static void read_shares(const struct plan *plan, struct plan_node *node, struct arena *arena)
{
    const struct simulation_node *from = node->node;
    struct plan_share *shares = ARENA_ARRAY(arena, from->pod_count, struct plan_share);
    size_t count = 0;
    for (size_t i = 0; i < from->pod_count; i++) {
        const struct simulation_pod *pod = &plan->simulation->pods[from->pods[i]];
        size_t workload = plan->workload_of[from->pods[i]];
        size_t at = 0;
        while (at < count && shares[at].workload != workload)
            at++;
        if (at == count)
            shares[count++].workload = workload;
        struct plan_share *share = &shares[at];
        share->pod_count++;
        share->pending_count += !pod->running;
        share->cpu_milli = plan_add(share->cpu_milli, pod->cpu_milli);
        share->memory_bytes = plan_add(share->memory_bytes, pod->memory_bytes);
        node->pending_count += !pod->running;
        node->cpu_milli = plan_add(node->cpu_milli, pod->cpu_milli);
        node->memory_bytes = plan_add(node->memory_bytes, pod->memory_bytes);
        if (pod->running) {
            node->before_cpu_milli = plan_add(node->before_cpu_milli, pod->cpu_milli);
            node->before_memory_bytes = plan_add(node->before_memory_bytes, pod->memory_bytes);
        }
    }
    if (count > 0)
        qsort(shares, count, sizeof *shares, compare_shares);
    node->shares = shares;
    node->share_count = count;
    node->room_cpu_milli = from->cpu_milli;
    node->room_memory_bytes = from->memory_bytes;
    plan_node_percents(node);
}

static void read_nodes(struct plan *plan, struct arena *arena)
{
    const struct simulation *simulation = plan->simulation;
    plan->nodes.items = ARENA_ARRAY(arena, simulation->node_count, struct plan_node);
    plan->nodes.count = simulation->node_count;
    for (size_t i = 0; i < simulation->node_count; i++) {
        struct plan_node *node = &plan->nodes.items[i];
        node->node = &simulation->nodes[i];
        node->count = node->type_count = 1;
        node->usd_micro_per_hour = node->node->usd_micro_per_hour;
        node->bought = i >= simulation->node_count - simulation->claim_count;
        read_shares(plan, node, arena);
        if (node->bought) {
            plan->on_claim_count += node->pending_count;
        } else {
            plan->on_node_count += node->pending_count;
            plan->taking_count += node->pending_count > 0;
        }
    }
}

/* ---- pods that fit nowhere ---- */

static bool same_reasons(const struct simulation_unschedulable *a,
                         const struct simulation_unschedulable *b)
{
    bool same = a->reason_count == b->reason_count && (a->later_round > 0) == (b->later_round > 0);
    for (size_t i = 0; same && i < a->reason_count; i++) {
        const struct simulation_reason *x = &a->reasons[i];
        const struct simulation_reason *y = &b->reasons[i];
        same = text_equal(x->node_pool, y->node_pool) && strcmp(x->kind, y->kind) == 0 &&
               text_equal(x->message, y->message) && text_equal(x->nearest, y->nearest);
    }
    return same;
}

static void divide_misfits(struct plan *plan, struct plan_misfits all, struct arena *arena)
{
    static const int kinds[] = {PLAN_NOWHERE, PLAN_LATER};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct plan_misfit *items = ARENA_ARRAY(arena, all.count, struct plan_misfit);
        struct plan_misfits *misfits = &plan->misfits[kinds[i]];
        misfits->items = items;
        for (size_t j = 0; j < all.count; j++)
            if ((all.items[j].first->later_round > 0) == (kinds[i] == PLAN_LATER))
                items[misfits->count++] = all.items[j];
    }
}

/* In the order of their first pods. */
static struct plan_misfits join_misfits(const struct plan *plan,
                                        const struct simulation_unschedulable *pods,
                                        size_t pod_count, struct arena *arena)
{
    struct plan_misfit *misfits = ARENA_ARRAY(arena, pod_count, struct plan_misfit);
    /* The last misfit of each workload, from 1, and for each misfit the one before it. */
    size_t *last = ARENA_ARRAY(arena, plan->workload_count, size_t);
    size_t *before = ARENA_ARRAY(arena, pod_count, size_t);
    size_t count = 0;
    for (size_t i = 0; i < pod_count; i++) {
        const struct simulation_unschedulable *pod = &pods[i];
        size_t workload = plan->workload_of[pod->pod];
        size_t at = last[workload];
        while (at > 0 && !same_reasons(misfits[at - 1].first, pod))
            at = before[at - 1];
        if (at == 0) {
            before[count] = last[workload];
            misfits[count++].first = pod;
            last[workload] = at = count;
        }
        misfits[at - 1].count++;
    }
    return (struct plan_misfits){.items = misfits, .count = count};
}

static void read_misfits(struct plan *plan, struct arena *arena)
{
    const struct simulation *simulation = plan->simulation;
    for (size_t i = 0; i < simulation->unschedulable_count; i++)
        plan->later_count += simulation->unschedulable[i].later_round > 0;
    divide_misfits(
        plan, join_misfits(plan, simulation->unschedulable, simulation->unschedulable_count, arena),
        arena);
    plan->misfits[PLAN_UNDECIDED] =
        join_misfits(plan, simulation->undecided, simulation->undecided_count, arena);
    plan->misfits[PLAN_NOWHERE].title = "Fit nowhere";
    plan->misfits[PLAN_UNDECIDED].title = "Not decided";
    plan->misfits[PLAN_LATER].title = "Not yet placed";
}

void plan_read(const struct simulation *simulation, const struct simulation *compat,
               struct arena *arena, struct plan *plan)
{
    *plan = (struct plan){.simulation = simulation, .compat = compat};
    read_workloads(plan, arena);
    read_nodes(plan, arena);
    read_misfits(plan, arena);
    plan->pending_count = plan->on_node_count + plan->on_claim_count +
                          simulation->unschedulable_count + simulation->undecided_count;
}
