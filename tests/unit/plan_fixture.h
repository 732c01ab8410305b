/* Simulations made by hand, for the tests of reports of plans. */
#ifndef TAFFRAIL_PLAN_FIXTURE_H
#define TAFFRAIL_PLAN_FIXTURE_H

#include <string.h>

#include "simulation/simulation.h"

static struct arena *arena; /* of the current test */

struct draft {
    LIST(struct simulation_pod) pods;
    LIST(struct simulation_node) nodes;
    LIST(struct simulation_unschedulable) unschedulable;
    size_t claim_count, unpriced_count;
    int64_t usd_micro;
};

enum { CPU_MILLI = 500, MEMORY_MIB = 1024 };

static inline size_t add_pod(struct draft *draft, const char *namespace, const char *workload,
                             const char *name, bool running)
{
    *LIST_PUSH(arena, &draft->pods) = (struct simulation_pod){
        .namespace = text_of(namespace),
        .name = text_of(name),
        .workload = text_of(workload),
        .cpu_milli = CPU_MILLI,
        .memory_bytes = (int64_t)MEMORY_MIB << 20,
        .running = running,
    };
    return draft->pods.count - 1;
}

/* A node with 4 cpu and 16 GiB; name "": a NodeClaim to buy. */
static inline struct simulation_node *add_node(struct draft *draft, const char *name,
                                               const char *zone, const char *type,
                                               int64_t usd_micro)
{
    struct simulation_node *node = LIST_PUSH(arena, &draft->nodes);
    *node = (struct simulation_node){
        .name = text_of(name),
        .node_pool = TEXT("default"),
        .zone = text_of(zone),
        .capacity_type = TEXT("on-demand"),
        .instance_type = text_of(type),
        .cpu_milli = 4000,
        .memory_bytes = (int64_t)16 << 30,
        .usd_micro_per_hour = usd_micro,
        .round = name[0] == '\0',
    };
    draft->claim_count += node->round;
    draft->unpriced_count += node->round > 0 && usd_micro < 0;
    draft->usd_micro += node->round > 0 && usd_micro > 0 ? usd_micro : 0;
    return node;
}

static inline void put_on(struct simulation_node *node, size_t pod)
{
    size_t *pods = ARENA_ARRAY(arena, node->pod_count + 1, size_t);
    if (node->pod_count > 0)
        memcpy(pods, node->pods, node->pod_count * sizeof *pods);
    pods[node->pod_count++] = pod;
    node->pods = pods;
}

static inline void add_unschedulable(struct draft *draft, size_t pod,
                                     const struct simulation_reason *reasons, size_t reason_count)
{
    *LIST_PUSH(arena, &draft->unschedulable) =
        (struct simulation_unschedulable){pod, reasons, reason_count, 0, false};
}

static inline struct simulation finish(const struct draft *draft)
{
    return (struct simulation){
        .pods = draft->pods.items,
        .pod_count = draft->pods.count,
        .nodes = draft->nodes.items,
        .node_count = draft->nodes.count,
        .claim_count = draft->claim_count,
        .unschedulable = draft->unschedulable.items,
        .unschedulable_count = draft->unschedulable.count,
        .round_count = 2,
        .usd_micro_per_hour = draft->usd_micro,
        .unpriced_count = draft->unpriced_count,
    };
}

#define TEST(function)                       \
    static void in_arena_##function(void)    \
    {                                        \
        arena = arena_create(1 << 30);       \
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena); \
        function();                          \
        arena_destroy(arena);                \
    }

#endif
