/* Pods whose volumes are on the disks of nodes. kube-scheduler takes them to these nodes. Karpenter
 * does not look at which nodes those are, so that it buys what they cannot use, or waits for
 * kube-scheduler to place them where they cannot be (docs/reference/karpenter.md 4.2). */
#include "solver/run.h"

static void note_misplaced(struct solver_run *run, uint32_t pod)
{
    if (run->misplaced == NULL)
        run->misplaced = ARENA_ARRAY(run->arena, bits_words(run->problem->pods.count), uint64_t);
    bits_add(run->misplaced, pod);
}

bool is_misplaced(const struct solver_run *run, uint32_t pod)
{
    return run->misplaced != NULL && bits_has(run->misplaced, pod) &&
           run->placements[pod].kind != SOLVER_ON_NODE;
}

static bool misplace(struct solver_run *run, uint32_t pod)
{
    const struct shape *shape = &run->problem->shapes.items[run->problem->pods.items[pod].shape];
    for (size_t i = 0; i < shape->relaxation_count; i++) {
        const struct relaxation *relaxation = &shape->relaxations[i];
        note_relaxation(run, pod, i);
        if (!topology_match(run, shape, relaxation, NULL))
            continue;
        bool on_node = some_node_takes(run, pod, relaxation);
        bool bought = !on_node && add_to_node_claim(run, pod, relaxation);
        if (on_node || bought)
            note_misplaced(run, pod);
        if (on_node || bought || run->deferred)
            return bought;
    }
    return false;
}

bool place_with_local_volumes(struct solver_run *run, uint32_t pod)
{
    const struct shape *shape = &run->problem->shapes.items[run->problem->pods.items[pod].shape];
    arena_tick(run->arena, run->steps);
    run->steps = 0;
    run->deferred = false;
    for (size_t i = 0; i < shape->relaxation_count; i++) {
        note_relaxation(run, pod, i);
        if (add_to_existing_node(run, pod, &shape->relaxations[i]))
            return true;
    }
    if (is_misplaced(run, pod))
        return false;
    run->ignores_local = true;
    bool bought = misplace(run, pod);
    run->ignores_local = false;
    return bought;
}
