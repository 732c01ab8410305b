/* Where a pod could ever run: on a node that a NodePool may launch, or on an existing Node if it
 * were empty. It is one solver problem for one state of NodePools, Nodes and DaemonSets. It has no
 * pods, so answers do not change when pods come and go. It is immutable, shared by threads, and
 * asked while a request waits; answers are cached by the shape of the pod (supply_cache.c). */
#ifndef TAFFRAIL_SIMULATION_SUPPLY_H
#define TAFFRAIL_SIMULATION_SUPPLY_H

#include "kube/kind.h"
#include "kube/pod.h"
#include "kube/zone.h"
#include "solver/solver.h"

struct catalog;
struct karpenter_settings;
struct object;
struct pool;
struct snapshot;
struct workload;

struct supply;

/* Makes a supply in memory of its own, held once. The snapshot may be freed, the catalogue must
 * stay. Settings NULL: Karpenter's defaults. plans: it is asked what workloads add (added.h), which
 * takes memory for each instance type. Returns NULL when there is neither a NodePool nor a
 * Node, the solver refuses the cluster (a duplicate name), or memory runs out. */
const struct supply *supply_create(const struct snapshot *snapshot, const struct catalog *catalog,
                                   const struct karpenter_settings *settings,
                                   bool plans) MUST_CHECK;
const struct supply *supply_hold(const struct supply *supply); /* NULL is fine */
void supply_release(const struct supply *supply);              /* NULL is fine */
size_t supply_bytes(const struct supply *supply);
/* Whether the supply changes when this object changes. before or after may be NULL. */
bool supply_depends_on(const struct supply *supply, const struct snapshot *snapshot, enum kind kind,
                       const struct object *before, const struct object *after);

/* The zones in which some NodePool can launch a node for the pod within its limits, or in which an
 * empty Node could run it. A pool whose types are not known counts in the zones that its
 * requirements allow. Volumes, other pods and topology spread do not count. supply NULL: no zone is
 * known. */
struct zones supply_zones(const struct supply *supply, const struct snapshot *snapshot,
                          const struct object *pod, struct arena *arena);
/* Whether a Node is in the zone, or some NodePool can launch one there. */
bool supply_reaches(const struct supply *supply, const struct snapshot *snapshot, struct text zone);

/* Why a pod could not run, by NodePool; node_pool empty: the reason concerns the Nodes, or all
 * pools. */
struct supply_reason {
    struct text node_pool, message, nearest;
    struct text fix; /* empty: that of its kind */
    enum solver_reason_kind kind;
    bool selected; /* what the pod selects allows the pool */
};
struct supply_answer {
    enum {
        SUPPLY_THERE,   /* it could run */
        SUPPLY_UNKNOWN, /* what decides is not visible */
        SUPPLY_NOWHERE,
    } kind;
    const struct supply_reason *reasons; /* SUPPLY_NOWHERE */
    size_t reason_count;
    bool no_machine;   /* no machine anywhere takes it */
    size_t term_count; /* terms of the required node affinity; the first SUPPLY_TERMS_MAX count */
};
enum { SUPPLY_TERMS_MAX = 64 };
/* Whether what a workload's pods select and tolerate lets them onto nodes of the pool. */
bool pool_takes(const struct catalog *catalog, const struct pool *pool,
                const struct workload *workload, struct arena *arena);

struct supply_question {
    const struct workload *workload;
    struct pod_scheduling scheduling; /* the workload's, as it was read */
    const struct zones *volumes;      /* for each volume the zones that it is confined to */
    size_t volume_count;
    /* The API server's admission plugin of this name runs: it adds to a Pod the tolerations of the
     * extended resources that it asks for. */
    bool extended_resource_toleration;
};
/* Whether a workload's pods could run at all. Limits of NodePools do not count. supply NULL: it is
 * not known. */
void supply_ask(const struct supply *supply, const struct snapshot *snapshot,
                const struct supply_question *question, struct arena *arena,
                struct supply_answer *answer);

#endif
