/* Which NodeClaim is whose Node, and what the two say of it together. */
#ifndef TAFFRAIL_SIMULATION_CLAIM_OF_NODE_H
#define TAFFRAIL_SIMULATION_CLAIM_OF_NODE_H

#include "base/base.h"

struct object;
struct snapshot;

struct claim_of_node {
    const struct object *claim;
    const struct object *node; /* NULL: nobody asked for the claim of its Node yet */
    struct text key;           /* the name of its Node or, if it has none yet, its providerID */
    bool names_node;
};
struct claims_of_nodes {
    struct claim_of_node *items; /* in the order of the snapshot */
    size_t count;
    struct claim_of_node **by_key; /* of equal keys, in the order of the snapshot */
};
struct claims_of_nodes claims_of_nodes_read(const struct snapshot *snapshot, struct arena *arena);
/* Of several the first; NULL: the Node has none. */
const struct object *claim_of_node(const struct claims_of_nodes *claims, const struct object *node);
/* Whether Karpenter has made the Node. In files NodeClaims may be left out: the label tells then.
 */
bool node_is_managed(const struct claims_of_nodes *claims, const struct object *node,
                     const struct object *claim);
/* Whether its machine is on its way out: no pod is left on it. */
bool claim_is_terminating(const struct object *claim);
/* Whether the NodeClaim, of a Node without one the Node, is being deleted, or Karpenter has begun
 * to replace it (docs/reference/karpenter.md 2.1). One of the two may be NULL. */
bool node_is_leaving(const struct claims_of_nodes *claims, const struct object *node,
                     const struct object *claim);

#endif
