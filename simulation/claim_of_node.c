/* Finds the NodeClaim of a Node by the name of the Node, or by its providerID; and what the two say
 * of it together. */
#include "simulation/claim_of_node.h"

#include <stdlib.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/taint.h"
#include "solver/well_known.h"

/* ---- which is whose ---- */

static int compare_keys(const struct claim_of_node *a, bool names_node, struct text key)
{
    if (a->names_node != names_node)
        return a->names_node ? -1 : 1;
    return text_compare(a->key, key);
}

static int compare_claims(const void *a_pointer, const void *b_pointer)
{
    const struct claim_of_node *a = *(struct claim_of_node *const *)a_pointer;
    const struct claim_of_node *b = *(struct claim_of_node *const *)b_pointer;
    int order = compare_keys(a, b->names_node, b->key);
    return order != 0 ? order : (a > b) - (a < b);
}

struct claims_of_nodes claims_of_nodes_read(const struct snapshot *snapshot, struct arena *arena)
{
    struct claims_of_nodes claims = {.count = snapshot_count(snapshot, KIND_NODE_CLAIM)};
    claims.items = ARENA_ARRAY(arena, claims.count, struct claim_of_node);
    claims.by_key = ARENA_ARRAY(arena, claims.count, struct claim_of_node *);
    for (size_t i = 0; i < claims.count; i++) {
        const struct object *claim = snapshot_object(snapshot, KIND_NODE_CLAIM, i);
        const struct node *status = node_get(claim->root->node, "status");
        struct text node_name = node_string(node_get(status, "nodeName"));
        bool names_node = node_name.size > 0;
        claims.items[i] = (struct claim_of_node){
            .claim = claim,
            .key = names_node ? node_name : node_string(node_get(status, "providerID")),
            .names_node = names_node,
        };
        claims.by_key[i] = &claims.items[i];
    }
    if (claims.count > 1)
        qsort(claims.by_key, claims.count, sizeof *claims.by_key, compare_claims);
    return claims;
}

static struct claim_of_node *find_claim(const struct claims_of_nodes *claims, bool names_node,
                                        struct text key)
{
    size_t low = 0;
    size_t high = key.size == 0 ? 0 : claims->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(claims->by_key[middle], names_node, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return key.size > 0 && low < claims->count &&
                   compare_keys(claims->by_key[low], names_node, key) == 0
               ? claims->by_key[low]
               : NULL;
}

const struct object *claim_of_node(const struct claims_of_nodes *claims, const struct object *node)
{
    struct claim_of_node *by_name = find_claim(claims, true, node->name);
    struct claim_of_node *by_id =
        find_claim(claims, false, node_string(node_at(node->root->node, "spec.providerID")));
    struct claim_of_node *first =
        by_name == NULL || (by_id != NULL && by_id < by_name) ? by_id : by_name;
    if (first == NULL)
        return NULL;
    first->node = node;
    return first->claim;
}

/* ---- what they say ---- */

bool node_is_managed(const struct claims_of_nodes *claims, const struct object *node,
                     const struct object *claim)
{
    return claim != NULL || (claims->count == 0 && node_get(node->labels, LABEL_NODE_POOL) != NULL);
}

bool claim_is_terminating(const struct object *claim)
{
    return object_condition_holds(claim, "InstanceTerminating");
}

/* Karpenter taints a Node before it makes its successors. It takes the taint off when it gives that
 * up, and never touches the Nodes of others. */
static bool is_being_replaced(const struct object *node)
{
    FOR_ITEMS(taint, node_at(node->root->node, "spec.taints"))
        if (text_is(node_string(node_get(taint, "key")), TAINT_DISRUPTED) &&
            text_is(node_string(node_get(taint, "effect")), "NoSchedule"))
            return true;
    return false;
}

bool node_is_leaving(const struct claims_of_nodes *claims, const struct object *node,
                     const struct object *claim)
{
    if ((claim != NULL ? claim : node)->deleting || claim_is_terminating(claim))
        return true;
    return node != NULL && node_is_managed(claims, node, claim) && is_being_replaced(node);
}
