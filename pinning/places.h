/* Whether a pod could run at all: on a machine that a NodePool can buy, were there no limit, or on
 * a Node, were it empty. */
#ifndef TAFFRAIL_PINNING_PLACES_H
#define TAFFRAIL_PINNING_PLACES_H

#include "live/store.h"
#include "solver/solver.h"

struct catalog;
struct karpenter_settings;
struct snapshot;
struct workload;

struct places;

/* Made once a snapshot, since every instance type is looked at. In the arena; NULL when the solver
 * refuses the cluster (a name that stands twice). Settings NULL: as Karpenter by itself. */
const struct places *places_create(const struct snapshot *snapshot, const struct catalog *catalog,
                                   const struct karpenter_settings *settings, struct arena *arena);
/* The same in memory of its own, held once, so that versions of a cluster share it: the snapshot
 * may go, the catalogue has to stay. NULL: memory ran out, too. */
const struct places *places_make(const struct snapshot *snapshot, const struct catalog *catalog,
                                 const struct karpenter_settings *settings);
const struct places *places_hold(const struct places *places);
void places_release(const struct places *places); /* NULL is fine */
/* Whether places of before are no longer those of now. */
bool places_mind(const struct store_changes *changes);

/* Why not, by NodePool; node_pool empty: of the Nodes, or whatever pool it were. */
struct places_reason {
    struct text node_pool, message, nearest;
    enum solver_reason_kind kind;
};
struct places_answer {
    enum {
        PLACE_THERE,   /* it could run */
        PLACE_UNKNOWN, /* what would decide cannot be seen */
        PLACE_NOWHERE,
    } kind;
    const struct places_reason *reasons; /* PLACE_NOWHERE */
    size_t reason_count;
    size_t term_count; /* of the required node affinity, of which PLACES_TERMS_MAX are looked at */
};
enum { PLACES_TERMS_MAX = 64 };
/* Limits, what runs already, and other pods do not count. */
void places_ask(const struct places *places, const struct snapshot *snapshot,
                const struct catalog *catalog, const struct workload *workload, struct arena *arena,
                struct places_answer *answer);

#endif
