/* A cluster with running pods, for queries about one more pod. */
#ifndef TAFFRAIL_BENCH_SOLVER_WARM_H
#define TAFFRAIL_BENCH_SOLVER_WARM_H

#include "base/base.h"
#include "solver/solver.h"

enum { WARM_NODES = 1000, WARM_PODS = 10000, WARM_WORKLOADS = 300, WARM_POOLS = 20 };

struct warm {
    const struct solver_problem *problem; /* with one pending pod of each workload, in order */
    const struct solver_shape *shapes[WARM_WORKLOADS];
};

bool warm_build(const struct solver_settings *settings, struct arena *arena, struct warm *warm,
                struct error *error);

#endif
