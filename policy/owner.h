/* Whose object it is: the owner at the end of the controller references that count. An
 * ownerReference is what its author wrote; the table of who makes what says when it counts. */
#ifndef TAFFRAIL_POLICY_OWNER_H
#define TAFFRAIL_POLICY_OWNER_H

#include "policy/policy.h"

struct root_owner {
    struct text kind, name; /* the object's own when nothing owns it */
    bool named;             /* the object's own controller reference counts */
    bool believed;          /* its kind cannot be seen: it is what the reference says, and old */
    const struct object *object; /* NULL: not seen */
    /* The ReplicaSet or Job that made a Pod, when it is not the root, and what it was made for
     * (NULL: that cannot be seen). */
    const struct object *maker, *above;
    /* Where the chain ended: an owner that is not seen, and may be in a moment. */
    struct awaited_owner awaited;
};

/* The first reference counts when the asking account makes this kind for that one. Above it a step
 * counts when some controller makes the kind for the other, and the owner is seen with that uid.
 * The first that does not count ends the chain. Of what is there already nobody knows who asked:
 * there all count, for controllers let go of what is not theirs. */
struct root_owner root_owner_find(const struct world *world, const struct subject *subject);

/* Whether a controller makes the object, of which people are told where they can mend it:
 * Kubernetes' own make ReplicaSets and Jobs, others what policies trust them with, as a
 * LeaderWorkerSet's makes StatefulSets and a RayJob's a RayCluster. Nothing but workloads: of a
 * NodePool nobody judges again what its author says that somebody made. judged_as: KIND_CUSTOM for
 * a custom resource. */
bool object_is_controlled(const struct world *world, const struct subject *subject,
                          const struct root_owner *root, enum kind judged_as);

/* The Deployment that named the ReplicaSet which owns the object, as far as names tell: of a
 * ReplicaSet's name without the hash. Not to be trusted. */
struct text owner_name_without_hash(const struct object *object);

#endif
