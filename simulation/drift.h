/* Which NodeClaims the edit of a NodePool or of a node class makes drift, so that Karpenter
 * replaces their nodes (docs/reference/karpenter.md 6.7 to 6.10). Pure: a snapshot and two objects
 * in, a judgement of each NodeClaim out. */
#ifndef TAFFRAIL_SIMULATION_DRIFT_H
#define TAFFRAIL_SIMULATION_DRIFT_H

#include "base/base.h"

struct object;
struct snapshot;

enum drift_verdict {
    DRIFT_NONE,    /* fits, and goes on fitting */
    DRIFT_NEWLY,   /* the edit makes it drift */
    DRIFT_ALREADY, /* drifted before, and stays so as far as can be known */
    DRIFT_UNDONE,  /* drifted before, and fits after the edit */
    DRIFT_UNKNOWN, /* fitted before; what only the cloud knows decides whether it still does */
    DRIFT_VERDICTS
};
struct drift_claim {
    const struct object *claim;
    enum drift_verdict verdict;
    /* Karpenter's word ("NodePoolDrifted"): why it drifts or may drift; of DRIFT_UNDONE, why it
     * did. Empty: none. */
    struct text reason;
    /* The first field of the edit that is to blame ("spec.template.metadata.labels"); empty: none.
     */
    struct text path;
};
struct drift {
    LIST(struct drift_claim) claims; /* by name; without those that are being deleted */
    size_t counts[DRIFT_VERDICTS];
    /* Fields that the edit changes and that can make nodes drift, in Karpenter's order. */
    struct text_list paths;
    /* The hashes in the cluster are of another version, or are not those of the objects: NodeClaims
     * with the hash of the object before the edit are taken to follow it. */
    bool by_fields;
};
/* What a change of before into after does; both of one kind, one name. Without before (NULL) the
 * object is made anew, as by one who deletes and creates. False: Karpenter makes no nodes of such
 * an object, or it is of an old version. */
bool drift_of_edit(const struct snapshot *snapshot, const struct object *before,
                   const struct object *after, struct arena *arena, struct drift *drift);
/* The field of its NodePool for which a NodeClaim has drifted, for Karpenter's reason
 * ("NodePoolDrifted"); empty: it cannot be known. */
struct text drift_path(const struct object *pool, const struct object *claim, struct text reason,
                       struct arena *arena);

#endif
