/* Reads Nodes and NodeClaims as the nodes of the problem. */
#include "simulation/state_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "kube/complaint.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "simulation/claim_of_node.h"
#include "solver/well_known.h"

#define UNREGISTERED "karpenter.sh/unregistered"
#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"

/* A Node, its NodeClaim, or both. */
struct pair {
    const struct object *node, *claim; /* one may be NULL */
    const struct object *named;        /* the Node, if there is one */
    bool leaving;
    const struct object *says; /* the one whose labels and taints count */
    const struct node *node_root;
    bool initialized;
};

/* ---- taints ---- */

static bool has_taint(const struct node *taints, const char *key)
{
    FOR_ITEMS(item, taints)
        if (text_is(node_string(node_get(item, "key")), key))
            return true;
    return false;
}

/* Taints that a node loses while it starts (docs/reference/karpenter.md 2.4). */
static bool is_ephemeral(const struct taint *taint)
{
    static const struct {
        const char *key, *effect; /* effect NULL: any */
    } known[] = {
        {"node.kubernetes.io/not-ready", "NoSchedule"},
        {"node.kubernetes.io/not-ready", "NoExecute"},
        {"node.kubernetes.io/unreachable", "NoSchedule"},
        {"node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule"},
        {UNREGISTERED, "NoExecute"},
    };
    if (text_starts_with(taint->key, TEXT("readiness.k8s.io/")))
        return true;
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (text_is(taint->key, known[i].key) && text_is(taint->effect, known[i].effect))
            return true;
    return false;
}

static bool contains(const struct taints *taints, const struct taint *wanted)
{
    for (size_t i = 0; i < taints->count; i++)
        if (text_equal(taints->items[i].key, wanted->key) &&
            text_equal(taints->items[i].effect, wanted->effect))
            return true;
    return false;
}

static void startup_taints_read(const struct snapshot *snapshot, const struct pair *pair,
                                struct arena *arena, struct taints *taints)
{
    *taints = (struct taints){0};
    if (pair->claim != NULL) {
        taints_read(field_at(arena, pair->claim->root, "spec.startupTaints"), arena, taints);
        return;
    }
    const struct pool *pool =
        snapshot_pool_named(snapshot, node_string(node_get(pair->says->labels, LABEL_NODE_POOL)));
    if (pool != NULL)
        *taints = pool->startup_taints;
}

static struct solver_taints taints_of(const struct snapshot *snapshot, const struct pair *pair,
                                      struct arena *arena)
{
    struct taints all = {0};
    struct taints kept = {0};
    struct taints startup = {0};
    taints_read(field_at(arena, pair->says->root, "spec.taints"), arena, &all);
    if (!pair->initialized)
        startup_taints_read(snapshot, pair, arena, &startup);
    for (size_t i = 0; i < all.count; i++) {
        bool passes = !pair->initialized &&
                      (is_ephemeral(&all.items[i]) || contains(&startup, &all.items[i]));
        if (!passes)
            *LIST_PUSH(arena, &kept) = all.items[i];
    }
    /* A controller adds the taint of a cordoned node. */
    const struct node *spec = node_get(pair->node_root, "spec");
    if (node_true(node_get(spec, "unschedulable")) &&
        !has_taint(node_get(spec, "taints"), UNSCHEDULABLE))
        *LIST_PUSH(arena, &kept) =
            (struct taint){.key = TEXT(UNSCHEDULABLE), .effect = TEXT("NoSchedule")};
    return taints_convert(&kept, arena);
}

/* ---- what it has ---- */

static void fill_in(struct named_amounts *amounts, const struct named_amounts *other,
                    struct arena *arena)
{
    for (size_t i = 0; i < other->count; i++) {
        struct named_amount *found = NULL;
        for (size_t j = 0; j < amounts->count && found == NULL; j++)
            if (strcmp(amounts->items[j].resource, other->items[i].resource) == 0)
                found = &amounts->items[j];
        if (found == NULL)
            *LIST_PUSH(arena, amounts) = other->items[i];
        else if (found->quantity == 0)
            found->quantity = other->items[i].quantity;
    }
}

/* Until a node is initialized, its NodeClaim has its resources. */
static bool amounts_read(const struct pair *pair, const char *path, struct arena *arena,
                         struct named_amounts *amounts, struct error *error)
{
    struct named_amounts claimed = {0};
    *amounts = (struct named_amounts){0};
    if (pair->node != NULL &&
        !named_amounts_read(pair->node, field_at(arena, pair->node->root, path), arena, amounts,
                            error))
        return false;
    if (pair->claim == NULL || (pair->node != NULL && pair->initialized))
        return true;
    if (!named_amounts_read(pair->claim, field_at(arena, pair->claim->root, path), arena, &claimed,
                            error))
        return false;
    fill_in(amounts, &claimed, arena);
    return true;
}

/* A driver without a count attaches any number of volumes (docs/reference/karpenter.md 2.4). */
static void read_attach_limits(const struct snapshot *snapshot, struct text node_name,
                               struct arena *arena, struct state_node *state_node)
{
    const struct object *object = snapshot_find(snapshot, KIND_CSI_NODE, TEXT(""), node_name);
    if (object == NULL)
        return;
    const struct node *drivers = node_at(object->root->node, "spec.drivers");
    size_t most = node_is(drivers, NODE_LIST) ? node_count(drivers) : 0;
    struct solver_attach_limit *limits = ARENA_ARRAY(arena, most, struct solver_attach_limit);
    for (size_t i = 0; i < most; i++) {
        const struct node *driver = node_item(drivers, i);
        int64_t count = 0;
        if (!node_integer(node_at(driver, "allocatable.count"), &count))
            continue;
        count = count < 0 ? 0 : count;
        limits[state_node->attach_limit_count++] =
            (struct solver_attach_limit){terminated(arena, node_string(node_get(driver, "name"))),
                                         count < INT32_MAX ? (uint32_t)count : INT32_MAX};
    }
    state_node->attach_limits = limits;
    state_node->attach_limits_known = true;
}

/* ---- a node ---- */

/* By which Karpenter orders nodes. A NodeClaim may have the name of another's Node. */
static struct text name_of(const struct snapshot *snapshot, const struct pair *pair)
{
    bool is_taken = pair->says != pair->named &&
                    snapshot_find(snapshot, KIND_NODE, TEXT(""), pair->says->name) != NULL;
    return is_taken ? pair->named->name : pair->says->name;
}

/* Decides whether the node is still starting. Without a NodeClaim, what a file leaves out counts as
 * healthy. */
static void judge_readiness(struct pair *pair)
{
    const struct node *labels = node_at(pair->node_root, "metadata.labels");
    bool registered = text_is(node_string(node_get(labels, LABEL_REGISTERED)), "true");
    pair->initialized = text_is(node_string(node_get(labels, LABEL_INITIALIZED)), "true");
    if (pair->claim != NULL) {
        pair->says = registered ? pair->named : pair->claim;
        return;
    }
    bool starting =
        node_get(labels, LABEL_NODE_POOL) != NULL &&
        (registered || has_taint(node_at(pair->node_root, "spec.taints"), UNREGISTERED));
    pair->says = pair->named;
    pair->initialized = pair->initialized || !starting;
}

static bool read_state_node(const struct snapshot *snapshot, struct pair *pair, struct arena *arena,
                            struct state_node *state_node, struct error *error)
{
    judge_readiness(pair);
    const struct object *named = pair->named;
    *state_node = (struct state_node){.name = terminated(arena, name_of(snapshot, pair)),
                                      .node_name = terminated(arena, named->name),
                                      .taints = taints_of(snapshot, pair, arena),
                                      .initialized = pair->initialized};
    state_node->labels =
        labels_with(labels_of(pair->says->labels, arena), LABEL_HOSTNAME, state_node->name, arena);
    state_node->pool = label_of(state_node->labels, LABEL_NODE_POOL);
    if (pair->node != NULL)
        read_attach_limits(snapshot, pair->node->name, arena, state_node);
    if (!amounts_read(pair, "status.capacity", arena, &state_node->capacity, error) ||
        !amounts_read(pair, "status.allocatable", arena, &state_node->allocatable, error))
        return false;
    /* Older Nodes, and Nodes written by hand, may have only one of the two. */
    if (state_node->allocatable.count == 0)
        state_node->allocatable = state_node->capacity;
    if (state_node->capacity.count == 0)
        state_node->capacity = state_node->allocatable;
    return true;
}

static int compare_state_nodes(const void *a_pointer, const void *b_pointer)
{
    const struct state_node *a = a_pointer;
    const struct state_node *b = b_pointer;
    return strcmp(a->node_name, b->node_name);
}

static struct pair pair_of_node(const struct claims_of_nodes *claims, const struct object *node)
{
    const struct object *claim = claim_of_node(claims, node);
    return (struct pair){.node = node,
                         .claim = claim,
                         .named = node,
                         .node_root = node->root->node,
                         .leaving = node_is_leaving(claims, node, claim)};
}

static struct pair pair_of_claim(const struct claims_of_nodes *claims, const struct object *claim)
{
    return (struct pair){
        .claim = claim, .named = claim, .leaving = node_is_leaving(claims, NULL, claim)};
}

static bool is_launched(const struct object *claim)
{
    return node_string(node_at(claim->root->node, "status.providerID")).size > 0;
}

/* Adds the node, unless it does not exist yet. */
static void state_node_add(const struct snapshot *snapshot, struct pair pair, struct arena *arena,
                           struct state_nodes *state_nodes, struct problems *problems)
{
    struct state_node state_node;
    struct error wrong = {0};
    bool read = read_state_node(snapshot, &pair, arena, &state_node, &wrong);
    state_node.leaving = pair.leaving;
    if (!read && !state_node.leaving)
        problems_add(problems, wrong.kind, wrong.place, "%s %s is left out: %s",
                     kind_table[pair.named->kind].name, state_node.node_name, wrong.what);
    /* A node that is leaving counts when its Node exists. */
    bool there = state_node.leaving
                     ? pair.node != NULL
                     : read && (pair.node != NULL || state_node.allocatable.count > 0);
    if (there)
        *LIST_PUSH(arena, state_nodes) = state_node;
    else if (read && !state_node.leaving && !is_launched(pair.claim))
        *LIST_PUSH(arena, &state_nodes->unlaunched) = pair.claim->name;
}

static void report_foreign_claim(const struct object *claim, struct arena *arena,
                                 struct problems *problems)
{
    problems_add(problems, ERROR_INPUT,
                 object_place(claim, field_at(arena, claim->root, "metadata.name"), arena),
                 "NodeClaim %.*s is left out: a Node has its name, and neither "
                 "status.nodeName nor status.providerID says that it is its own",
                 TEXT_ARGS(claim->name));
}

void state_nodes_read(const struct snapshot *snapshot, struct arena *arena,
                      struct state_nodes *state_nodes, struct problems *problems)
{
    struct claims_of_nodes claims = claims_of_nodes_read(snapshot, arena);
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++) {
        const struct object *node = snapshot_object(snapshot, KIND_NODE, i);
        state_node_add(snapshot, pair_of_node(&claims, node), arena, state_nodes, problems);
    }
    for (size_t i = 0; i < claims.count; i++) {
        const struct object *claim = claims.items[i].claim;
        if (claims.items[i].node != NULL)
            continue;
        if (snapshot_find(snapshot, KIND_NODE, TEXT(""), claim->name) != NULL)
            report_foreign_claim(claim, arena, problems);
        else
            state_node_add(snapshot, pair_of_claim(&claims, claim), arena, state_nodes, problems);
    }
    if (state_nodes->count > 0)
        qsort(state_nodes->items, state_nodes->count, sizeof *state_nodes->items,
              compare_state_nodes);
}
