/* Whose object it is: the owner at the end of the controller references. */
#ifndef TAFFRAIL_POLICY_OWNER_H
#define TAFFRAIL_POLICY_OWNER_H

#include "policy/policy.h"

struct root_owner {
    struct text name;            /* the object's own when nothing owns it */
    bool named;                  /* a controller reference that counts was there */
    const struct object *object; /* NULL: the named owner is not in the snapshot */
};

/* References count only when a kube-system controller asks, or the one that a policy names for the
 * owner's kind, so that nobody borrows an owner by writing one down. Of what is there already
 * nobody knows any more who asked: there they count, for controllers let go of what is not theirs.
 */
struct root_owner root_owner_find(const struct world *world, const struct subject *subject);

#endif
