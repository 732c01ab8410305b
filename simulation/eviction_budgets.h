/* PodDisruptionBudgets: which of them cover a pod, and whether they let one of their pods go
 * (docs/reference/karpenter.md 6.2). */
#ifndef TAFFRAIL_SIMULATION_EVICTION_BUDGETS_H
#define TAFFRAIL_SIMULATION_EVICTION_BUDGETS_H

#include "base/base.h"

struct object;
struct snapshot;

struct eviction_budget {
    const struct object *object; /* the PodDisruptionBudget */
    const struct selector_index *selector;
    bool spares_unready;     /* pods that are not ready may go whatever it allows */
    bool blocks_for_good;    /* its spec lets no pod go, ever */
    bool computed;           /* its status does not say what it allows */
    int64_t allowed;         /* how many of its pods may go now */
    struct headcount *count; /* of the pods it covers, where allowed is computed; else NULL */
    size_t next;             /* of those listed with it, from 1; 0: the last */
    size_t ask;              /* for which it was found last */
};
struct eviction_budgets;
struct eviction_budgets *eviction_budgets_read(const struct snapshot *snapshot,
                                               struct arena *arena);
/* The budgets that cover a pod: how many, and the first two by name. */
struct eviction_cover {
    const struct eviction_budget *budgets[2];
    size_t count;
};
struct eviction_cover eviction_budgets_of(struct eviction_budgets *budgets,
                                          const struct object *pod);
/* Those that keep a pod from being evicted: now, or whatever becomes of the other pods. Of count 0
 * when none does. Of pods that are being deleted or have ended nobody asks. */
enum eviction_block { EVICTION_BLOCKED_NOW, EVICTION_BLOCKED_FOR_GOOD };
struct eviction_cover eviction_budgets_blocking(struct eviction_budgets *budgets,
                                                const struct object *pod,
                                                enum eviction_block block);

#endif
