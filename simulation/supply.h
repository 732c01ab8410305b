/* Where a pod could ever run: what NodePools may launch, and the Nodes there are, were they empty.
 * One solver problem for one state of NodePools, Nodes and DaemonSets. No pod is in it, so that no
 * pod that comes or goes changes an answer. It is immutable, shared by threads, and asked while a
 * request waits; what a shape of pod was told is remembered (supply_cache.c). */
#ifndef TAFFRAIL_SIMULATION_SUPPLY_H
#define TAFFRAIL_SIMULATION_SUPPLY_H

#include "kube/kind.h"
#include "kube/zone.h"
#include "solver/solver.h"

struct catalog;
struct karpenter_settings;
struct object;
struct snapshot;
struct workload;

struct supply;

/* In memory of its own, held once; the snapshot may go, the catalogue has to stay. Settings NULL:
 * as Karpenter by itself. NULL: there is neither a NodePool nor a Node, the solver
 * refuses the cluster (a name that stands twice), or memory ran out. */
const struct supply *supply_create(const struct snapshot *snapshot, const struct catalog *catalog,
                                   const struct karpenter_settings *settings) MUST_CHECK;
const struct supply *supply_hold(const struct supply *supply); /* NULL is fine */
void supply_release(const struct supply *supply);              /* NULL is fine */
size_t supply_bytes(const struct supply *supply);
/* Whether the supply of a snapshot in which this object has changed is another one. Either side may
 * be NULL. */
bool supply_depends_on(const struct supply *supply, const struct snapshot *snapshot, enum kind kind,
                       const struct object *before, const struct object *after);

/* In which zones some NodePool can launch a node that holds the pod, within its limits, or some
 * Node could. A pool whose types are not known counts where nothing speaks against it. Volumes,
 * other pods, and how the pod is to be spread do not count. supply NULL: none is known. */
struct zones supply_zones(const struct supply *supply, const struct snapshot *snapshot,
                          const struct object *pod, struct arena *arena);
/* Whether a Node is in the zone, or some NodePool can make one there. */
bool supply_reaches(const struct supply *supply, const struct snapshot *snapshot, struct text zone);

/* Why a pod could not run, by NodePool; node_pool empty: of the Nodes, or whatever pool it were. */
struct supply_reason {
    struct text node_pool, message, nearest;
    enum solver_reason_kind kind;
};
struct supply_answer {
    enum {
        SUPPLY_THERE,   /* it could run */
        SUPPLY_UNKNOWN, /* what would decide cannot be seen */
        SUPPLY_NOWHERE,
    } kind;
    const struct supply_reason *reasons; /* SUPPLY_NOWHERE */
    size_t reason_count;
    size_t term_count; /* of the required node affinity, of which SUPPLY_TERMS_MAX are looked at */
};
enum { SUPPLY_TERMS_MAX = 64 };
/* Whether a workload's pods could run at all: limits of NodePools do not count, either. Each of
 * volumes: the zones that one of its volumes is confined to. supply NULL: it is not known. */
void supply_ask(const struct supply *supply, const struct snapshot *snapshot,
                const struct workload *workload, const struct zones *volumes, size_t volume_count,
                struct arena *arena, struct supply_answer *answer);

#endif
