/* What would happen to Nodes that are to be replaced or deleted: how many go at once and when, and
 * what keeps the others (docs/reference/karpenter.md 6.1, 6.2, 6.6). */
#ifndef TAFFRAIL_SIMULATION_DISRUPTION_H
#define TAFFRAIL_SIMULATION_DISRUPTION_H

#include "kube/budget_windows.h"
#include "kube/kind.h"

struct object;
struct snapshot;

enum disruption_verb {
    DISRUPTION_REPLACE, /* when budgets and pods allow it, a successor first */
    DISRUPTION_DELETE,  /* as with their NodePool: all at once, no successor first */
};
struct disruption_question {
    const struct snapshot *snapshot;
    kind_set seen; /* kinds of which the snapshot has every object */
    int64_t now_unix_s;
    enum disruption_verb verb;
    unsigned reason;           /* of a replacement: one REASON_X */
    const struct object *pool; /* a NodePool as it will be, instead of the one stored; NULL: none */
    const struct object *const *nodes; /* Nodes or NodeClaims, each once */
    size_t node_count;
    /* No more blocks are kept, half of them of nodes themselves; 0: DISRUPTION_BLOCKS_KEPT of each
     * node. */
    size_t most_blocks;
};

enum disruption_block_kind {
    /* Of the node. Only the first that holds is told, as no other matters before. */
    BLOCK_NOT_KARPENTERS,  /* it has no label karpenter.sh/nodepool */
    BLOCK_NO_NODE,         /* a NodeClaim whose Node has not come */
    BLOCK_LEAVING,         /* it is being deleted, or is being replaced already */
    BLOCK_NOT_INITIALIZED, /* its start has not ended */
    BLOCK_NODE_OPTS_OUT,   /* karpenter.sh/do-not-disrupt: "true" on the Node */
    BLOCK_NO_POOL,         /* its NodePool is not there */
    /* Of its pods. */
    BLOCK_POD_OPTS_OUT,    /* karpenter.sh/do-not-disrupt on a pod */
    BLOCK_BUDGET,          /* a PodDisruptionBudget that allows no eviction now */
    BLOCK_SEVERAL_BUDGETS, /* a pod of two PodDisruptionBudgets, which is never evicted */
};
struct disruption_block {
    enum disruption_block_kind kind;
    const struct object *pod;        /* NULL: the node itself */
    struct text owner;               /* of the pod, at the root: "Deployment web"; empty: none */
    const struct object *budgets[2]; /* PodDisruptionBudgets, the first two */
    size_t budget_count;
    bool computed;        /* the budget's status does not say how many may go: it was computed */
    int64_t until_unix_s; /* the opt-out ends by itself; INT64_MAX: it does not */
};
enum { DISRUPTION_BLOCKS_KEPT = 8 }; /* of a node */
struct disruption_node {
    const struct object *node, *claim; /* one of them may be NULL */
    size_t pool;                       /* index in pools; pool_count: it is of none */
    int64_t grace_s; /* terminationGracePeriod of the NodeClaim; -1: it has none, or is not seen */
    /* A replacement: it does not begin before the blocks are gone. Where the NodeClaim has a
     * terminationGracePeriod, pods block no drift. */
    bool blocked;
    bool blocks_itself; /* the first of its blocks is of the node, not of a pod */
    bool leaving;       /* it is being deleted, or is being replaced already */
    /* A drain waits for the pods of blocks, for grace_s at most, and for ever without it. */
    bool waits;
    struct disruption_block *blocks; /* the first, by namespace and name of the pod */
    size_t block_count, block_total; /* kept here; in all */
    size_t moving; /* pods on it that want another place: none of a DaemonSet, no static one */
    size_t gone;   /* pods on it, not among those, that no controller makes again */
};
struct disruption_pool {
    struct text name;
    const struct object *object; /* NULL: it is not there */
    size_t asked;                /* of the nodes in question */
    size_t blocked, leaving;     /* of those; what is leaving is blocked, too */
    size_t counted;              /* the initialized ones, of which budgets take percentages */
    size_t disrupted;            /* that use up budgets now: leaving or not ready */
    bool unreadable;             /* a budget that Karpenter cannot read: nothing is disrupted */
    int64_t allowed;             /* by the budgets now, for the reason; BUDGETS_UNLIMITED */
    size_t at_once;              /* how many can begin now */
    size_t at_once_later;        /* once successors are up, which percentages count, too */
    enum window_answer windows;  /* whether there is one, now or later */
    struct window window;        /* in which nodes may go: the one that is open, or the next */
    size_t at_once_in_window;    /* when the window opens, if nothing is under way then */
    bool opens_again;
    struct window next; /* the one after window */
};
struct disruption {
    struct disruption_node *nodes; /* as asked */
    size_t node_count;
    struct disruption_pool *pools; /* of the nodes in question, by name */
    size_t pool_count;
    size_t blocked, waiting; /* nodes */
    size_t at_once;          /* of all pools together */
    bool opens;              /* some window is open, or opens at: */
    int64_t opens_unix_s;    /* the first of all pools; now_unix_s: it is open */
    /* Kinds that would be needed and are not seen as a whole: what they would add is missing. */
    kind_set unseen;
};
/* Costs O(n log n) of Nodes, NodeClaims, Pods and PodDisruptionBudgets. */
void disruption_forecast(const struct disruption_question *question, struct arena *arena,
                         struct disruption *disruption);
/* Whether a pod is gone for good with its node, since no controller makes it again. */
bool disruption_ends_pod(const struct object *pod);
/* Of its Node; of a NodeClaim without one, its own. */
struct text disruption_node_name(const struct disruption_node *node);
/* What blocks, without the pod: "PodDisruptionBudget web", "its annotation ...". */
struct text disruption_block_text(const struct disruption_block *block, struct arena *arena);

#endif
