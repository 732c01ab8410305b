/* The pods of Karpenter's own scheduling benchmark, and what they may be placed on. */
#ifndef TAFFRAIL_BENCH_SOLVER_MIX_H
#define TAFFRAIL_BENCH_SOLVER_MIX_H

#include "base/base.h"
#include "solver/solver.h"

enum mix_kind {
    MIX_GENERIC,
    MIX_ZONE_SPREAD,
    MIX_HOST_SPREAD,
    MIX_ZONE_AFFINITY,
    MIX_HOST_ANTI,
};
#define MIX_KIND_COUNT 5

struct mix_pod {
    int64_t cpu_milli, memory_mib;
    enum mix_kind kind;
    const char *label_key, *label_value;
    const char *selected; /* the value of its kind's key that its own term selects */
};
struct mix {
    struct mix_pod *items;
    size_t count, capacity;
};

/* A fifth of each kind, the rest generic, drawn at random. */
void mix_make(struct mix *mix, size_t count, uint64_t seed, struct arena *arena);
/* One pod a line: CPU_MILLI MEMORY_MIB KIND KEY=VALUE SELECTED, where "-" selects nothing; lines
 * that begin with # are comments. */
bool mix_read(struct mix *mix, const char *path, struct arena *arena, struct error *error);
/* The 400 types of the benchmark: fake-it-N has N + 1 cores. */
bool mix_add_types(struct solver_builder *builder, struct arena *arena, struct error *error);
/* These, and the one pool of the benchmark, and the pods. */
bool mix_build(const struct mix *mix, const struct solver_settings *settings, struct arena *arena,
               const struct solver_problem **problem, size_t *shape_count, struct error *error);

/* Numbers of a seed; *state must not be 0. */
uint64_t mix_random(uint64_t *state);

#endif
