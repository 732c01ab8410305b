/* What a change of an object does to nodes and to pods, before it is done
 * (docs/reference/karpenter.md 6). Pure: a snapshot, two objects and a time in. */
#ifndef TAFFRAIL_SIMULATION_CHANGE_IMPACT_H
#define TAFFRAIL_SIMULATION_CHANGE_IMPACT_H

#include "simulation/disruption.h"
#include "simulation/drift.h"

struct catalog;
struct simulation;
struct simulation_settings;

struct change_question {
    const struct snapshot *snapshot; /* what is stored; of the object itself before counts */
    kind_set seen;                   /* kinds of which the snapshot has every object */
    int64_t now_unix_s;
    const struct object *before; /* as it is stored */
    const struct object *after;  /* NULL: it is deleted */
    bool orphans;                /* a deletion leaves what the object owns (--cascade=orphan) */
    size_t most_nodes; /* of no more what blocks is looked at, and their pods; 0: of all */
    /* A plan asks of so many nodes whether they could go by themselves, a plan each; where more are
     * in doubt, or of 0, it does not say which stay. */
    size_t most_alone;
    const struct object *const *beside; /* node classes that are made with the change */
    size_t beside_count;
};

/* Of these Karpenter makes nodes. */
#define KINDS_WITH_NODES                                                                         \
    (KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_EC2_NODE_CLASS) | KIND_BIT(KIND_AUTO_NODE_CLASS) | \
     KIND_BIT(KIND_AKS_NODE_CLASS) | KIND_BIT(KIND_GCE_NODE_CLASS))
/* The kinds whose changes are understood. */
#define KINDS_OF_IMPACT                                                                \
    (KINDS_WITH_NODES | KIND_BIT(KIND_STORAGE_CLASS) | KIND_BIT(KIND_PRIORITY_CLASS) | \
     KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) | KIND_BIT(KIND_NAMESPACE))

/* Lists are bounded; beside each is how many there are in all. */
enum { IMPACT_REASONS_KEPT = 8, IMPACT_BLOCKS_KEPT = 20, IMPACT_USERS_KEPT = 20 };

/* What keeps a node from going, or holds up its drain. */
struct impact_block {
    const struct object *node; /* a Node, or a NodeClaim without one */
    const struct object *pod;  /* NULL: the node itself */
    struct text by;            /* "PodDisruptionBudget web" */
    struct text owner;         /* of the pod: "Deployment web"; empty: none */
};
struct change_impact {
    /* Nodes. Those of a NodePool, or of all NodePools of a node class, that are not leaving. */
    size_t nodes_total;
    size_t nodes_replaced; /* that the change makes drift: each goes when budgets and pods let it */
    size_t nodes_deleted;  /* that go with the object, or that a NodePool of a fixed size gives up;
                              no successor first. Such a NodePool replaces what it keeps. */
    size_t nodes_waiting;  /* to be replaced already, for earlier changes of the object */
    size_t nodes_spared;   /* that were to be replaced, and stay now */
    size_t nodes_unknown;  /* only the cloud knows whether they fit */
    size_t nodes_kept;     /* they stay, but their NodePools launch nothing any more */
    struct text_list pools; /* NodePools in question, by name */
    bool at_least; /* more than most_nodes go: what is said of pods and blocks is of the first */

    /* "drift: spec.template.metadata.labels", "deletion", "scale-down: spec.replicas". */
    struct text_list reasons;
    size_t reason_total;

    /* How fast. All of it is about nodes_replaced and nodes_deleted. */
    enum window_answer windows; /* WINDOW_NEVER: budgets never let one go */
    struct window window;       /* in which nodes may go: the one that is open, or the next */
    bool opens_again;
    struct window next;  /* the one after window */
    size_t at_once;      /* how many can begin in window, at its opening or now */
    size_t at_once_most; /* once successors are up, which percentages count, too */

    /* What blocks, by node. */
    struct impact_block *blocks;
    size_t block_count, block_total;
    size_t pods_blocking; /* of block_total */
    size_t nodes_blocked; /* they do not begin */
    size_t nodes_held;    /* they begin, and their drain waits for a pod */
    size_t pods_moving;   /* pods on the nodes that want another place */
    size_t pods_gone;     /* pods on them that no controller makes again */

    /* What uses a StorageClass, a PriorityClass, a PersistentVolumeClaim or what is in a Namespace:
     * Pods and PersistentVolumeClaims, by namespace and name. */
    const struct object **users;
    size_t user_count, user_total;
    size_t users_stuck; /* of them, that cannot go on: claims that wait for a volume of the class */
    bool data_lost;     /* volumes go with it */

    /* Kinds that would be needed and are not seen as a whole: what they would add is missing. */
    kind_set unseen;
    struct drift drift; /* of an update; empty else */
    /* Of the nodes that drift, or that are all deleted. Which ones a NodePool of a fixed size gives
     * up nobody knows, unless it keeps none. */
    struct disruption forecast;
};
/* False: what the change does is not known (another kind, an old version), and *impact is empty. */
bool change_impact(const struct change_question *question, struct arena *arena,
                   struct change_impact *impact);
struct change_refusal {
    struct text first; /* empty: nothing is refused */
    /* Made anew it would be accepted: only fields that do not change are refused. */
    bool may_be_made_anew;
};
/* Adds what the API server refuses of an object that is made (before NULL) or changed to problems,
 * as far as it is known (change_check.c). At the door nobody asks: the API server has refused it by
 * then. */
struct change_refusal change_check(const struct object *before, const struct object *after,
                                   struct arena *arena, struct problems *problems);
/* Whether it does something: else nothing need be said. */
bool change_impact_is_felt(const struct change_impact *impact);
/* Nodes that the change sets in motion: those replaced or deleted. */
static inline size_t change_impact_nodes(const struct change_impact *impact)
{
    return impact->nodes_replaced + impact->nodes_deleted;
}

/* ---- in words, the same at the door and on the command line (change_words.c) ---- */

struct impact_words {
    struct text effect; /* "This change replaces 37 of 40 nodes, at most 4 at a time, from ..." */
    struct text blocks; /* "2 pods of team-a block it: ..."; empty: nothing blocks */
    struct text
        unseen; /* "not all of these can be seen: NodeClaim"; empty: all that is needed is */
};
struct impact_plan;
/* plan NULL: none is made. */
struct impact_words change_impact_words(const struct change_question *question,
                                        const struct change_impact *impact,
                                        const struct impact_plan *plan, struct arena *arena);

/* ---- what the pods need afterwards (change_plan.c): as costly as a plan ---- */

struct impact_plan {
    /* Of the nodes that go, but for those that are leaving already; -1: the price of some, or which
     * they are, is not known. */
    int64_t usd_micro_per_hour_before;
    int64_t usd_micro_per_hour_after; /* of what is bought instead; -1: likewise */
    struct text_list unschedulable;   /* "namespace/name" of pods that fit nowhere afterwards, and
                                         have a place now or would get one; all of them */
    struct text_list undecided; /* of pods of which it is not decided afterwards whether they fit */
    /* Of pods on the nodes that go and that no controller makes again; in none of the lists above,
     * since nobody looks for a place for them afterwards. */
    struct text_list gone;
    /* Of the nodes that are replaced, those that Karpenter does not begin with as things are: their
     * pods fit nowhere else, or nothing can be launched for them. */
    struct text_list staying; /* by name, as disruption_node_name() */
    size_t staying_count; /* fewer than these where a NodePool of a fixed size gives up some first,
                             nobody knows which */
    bool in_doubt; /* pods keep some of these, or some may stay for pods, but are too many to ask */
    bool of_leaving;       /* of such pods some are on nodes that are leaving, and may keep any */
    struct text stopped;   /* why a NodePool launches nothing: a sentence; empty: none is known */
    bool from_template;    /* of a NodePool of a fixed size, what is bought is the cloud's choice */
    bool bought_undecided; /* pods that may need a node: with the change, or without it */
    const struct simulation *simulation; /* the plan afterwards, with its drill; may be NULL */
};
/* In words, the same at the door and on the command line; empty where there is nothing to say. */
struct impact_plan_words {
    struct text unschedulable; /* "2 pods would fit nowhere afterwards: ..." and what stays */
    struct text price;         /* "The nodes that go cost $1.2000 an hour, ..." */
};
struct impact_plan_words change_plan_words(const struct change_impact *impact,
                                           const struct impact_plan *plan, struct arena *arena);
/* False with *error: the cluster is invalid. A change that takes no node has an empty plan. */
bool change_impact_plan(const struct change_question *question, const struct change_impact *impact,
                        const struct catalog *catalog, const struct simulation_settings *settings,
                        struct arena *arena, struct impact_plan *plan, struct problems *problems,
                        struct error *error) MUST_CHECK;

#endif
