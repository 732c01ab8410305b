/* What of an EC2NodeClass makes nodes drift beside the fields that are hashed
 * (docs/reference/karpenter.md 6.9, 6.10). */
#ifndef TAFFRAIL_SIMULATION_DRIFT_CLASS_H
#define TAFFRAIL_SIMULATION_DRIFT_CLASS_H

#include "base/base.h"

struct object;
struct snapshot;

/* Whether a NodeClaim drifts; of what only the cloud knows it is a perhaps. */
enum drift_answer { DRIFT_NO, DRIFT_PERHAPS, DRIFT_YES };
struct drift_cause {
    enum drift_answer holds;
    struct text reason, path;
};

/* What the CA bundle of the cluster adds to the hashes of all its EC2NodeClasses. */
struct class_secret {
    bool known;
    uint64_t value;
};
/* Before (NULL: none) is the class as it is. Not known: no class shows it, or classes disagree. */
struct class_secret class_secret_find(const struct snapshot *snapshot, const struct object *before,
                                      struct arena *arena);

/* The lists by which a class selects images, security groups, subnets and reservations. */
enum { CLASS_SELECTIONS = 4 };
struct class_selections {
    const struct node *before[CLASS_SELECTIONS], *after[CLASS_SELECTIONS];
    bool changed[CLASS_SELECTIONS];
};
void class_selections_read(struct class_selections *selections, const struct object *before,
                           const struct object *after);
/* The path of a list that an edit changes; empty: it does not. */
struct text class_selections_path(const struct class_selections *selections, size_t index);
struct drift_cause class_selections_cause(const struct class_selections *selections,
                                          const struct object *claim);
/* Whether the edit changes what Karpenter's reason is about. */
bool class_selections_decide(const struct class_selections *selections, struct text reason);

#endif
