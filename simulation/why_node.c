/* Gathers why a Node is still there. */
#include "simulation/why_node.h"

#include <stdlib.h>

#include "kube/object.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/time.h"
#include "simulation/claim_of_node.h"
#include "simulation/drift.h"
#include "simulation/owner.h"
#include "simulation/pods.h"
#include "solver/well_known.h"

struct looking {
    const struct snapshot *snapshot;
    struct arena *arena;
    const struct object *asked;        /* the Node, or a NodeClaim without one */
    const struct object *node, *claim; /* one of them may be NULL */
    const struct pool *pool;           /* NULL: not there */
    int64_t now_unix_s;
    struct why_node *why;
};

/* ---- which Node ---- */

static const struct object *claim_by_node(const struct looking *looking)
{
    const struct claims_of_nodes claims = claims_of_nodes_read(looking->snapshot, looking->arena);
    return claim_of_node(&claims, looking->node);
}

static bool find(struct looking *looking, struct text name, struct error *error)
{
    enum { TYPO_EDITS = 3 };
    const struct snapshot *snapshot = looking->snapshot;
    looking->node = snapshot_find(snapshot, KIND_NODE, TEXT(""), name);
    looking->claim = snapshot_find(snapshot, KIND_NODE_CLAIM, TEXT(""), name);
    struct text node_name =
        looking->claim == NULL
            ? TEXT("")
            : node_string(node_at(looking->claim->root->node, "status.nodeName"));
    if (looking->node == NULL && node_name.size > 0)
        looking->node = snapshot_find(snapshot, KIND_NODE, TEXT(""), node_name);
    if (looking->node != NULL)
        looking->claim = claim_by_node(looking);
    looking->asked = looking->node != NULL ? looking->node : looking->claim;
    if (looking->asked != NULL)
        return true;
    size_t count = snapshot_count(snapshot, KIND_NODE);
    struct text *names = ARENA_ARRAY(looking->arena, count, struct text);
    for (size_t i = 0; i < count; i++)
        names[i] = snapshot_object(snapshot, KIND_NODE, i)->name;
    size_t nearest = text_nearest(name, names, count, TYPO_EDITS);
    if (nearest < count)
        return error_set(error, ERROR_INPUT, NOWHERE, "there is no Node %.*s; did you mean %.*s?",
                         TEXT_ARGS(name), TEXT_ARGS(names[nearest]));
    return error_set(error, ERROR_INPUT, NOWHERE, "there is no Node %.*s", TEXT_ARGS(name));
}

static struct text label(const struct looking *looking, const char *key)
{
    struct text value =
        looking->node == NULL ? TEXT("") : node_string(node_get(looking->node->labels, key));
    return value.size > 0 || looking->claim == NULL
               ? value
               : node_string(node_get(looking->claim->labels, key));
}

static void read_place(struct looking *looking)
{
    struct why_node *why = looking->why;
    const struct object *first = looking->claim != NULL ? looking->claim : looking->asked;
    why->name = looking->asked->name;
    why->claim = looking->claim == NULL ? TEXT("") : looking->claim->name;
    why->pool = label(looking, LABEL_NODE_POOL);
    why->instance_type = label(looking, LABEL_INSTANCE_TYPE);
    why->zone = label(looking, LABEL_ZONE);
    why->capacity_type = label(looking, LABEL_CAPACITY_TYPE);
    why->created_unix_s = first->created_unix_s;
    looking->pool = snapshot_pool_named(looking->snapshot, why->pool);
}

/* ---- what runs on it ---- */

static int compare_owners(const void *a_pointer, const void *b_pointer)
{
    const struct why_node_owner *a = a_pointer, *b = b_pointer;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    int order = text_compare(a->namespace, b->namespace);
    return order != 0 ? order : text_compare(a->owner, b->owner);
}

/* Pods are by namespace, so an owner's are near each other. */
static void count_owners(struct looking *looking)
{
    struct why_node *why = looking->why;
    LIST(struct why_node_owner) owners = {0};
    for (size_t i = 0; i < why->pod_count; i++) {
        const struct why_node_pod *pod = &why->pods[i];
        struct why_node_owner *of = NULL;
        for (size_t j = owners.count; pod->moves && of == NULL && j > 0; j--) {
            if (!text_equal(owners.items[j - 1].namespace, pod->namespace))
                break;
            if (text_equal(owners.items[j - 1].owner, pod->owner))
                of = &owners.items[j - 1];
        }
        if (pod->moves && of == NULL) {
            of = LIST_PUSH(looking->arena, &owners);
            *of = (struct why_node_owner){pod->namespace, pod->owner, 0};
        }
        if (of != NULL)
            of->count++;
    }
    if (owners.count > 1)
        qsort(owners.items, owners.count, sizeof *owners.items, compare_owners);
    why->owners = owners.items;
    why->owner_count = owners.count;
}

static void read_pods(struct looking *looking)
{
    struct why_node *why = looking->why;
    LIST(struct why_node_pod) pods = {0};
    for (size_t i = 0; i < snapshot_count(looking->snapshot, KIND_POD); i++) {
        const struct object *pod = snapshot_object(looking->snapshot, KIND_POD, i);
        if (!text_equal(node_string(node_at(pod->root->node, "spec.nodeName")), why->name) ||
            pod_is_done(pod))
            continue;
        struct lineage lineage;
        lineage_find(looking->snapshot, pod, looking->arena, &lineage);
        *LIST_PUSH(looking->arena, &pods) = (struct why_node_pod){
            .namespace = pod->namespace,
            .name = pod->name,
            .owner = lineage.root.size > 0 ? lineage.root : pod->name,
            .moves = !object_is_of_daemon_set(pod) && !pod_is_mirror(pod),
        };
        why->moving_count += pods.items[pods.count - 1].moves;
    }
    why->pods = pods.items;
    why->pod_count = pods.count;
    count_owners(looking);
}

/* ---- whether it is to go ---- */

static void read_drift(struct looking *looking)
{
    struct why_node *why = looking->why;
    if (!object_condition_holds(looking->claim, "Drifted"))
        return;
    const struct node *drifted = object_condition(looking->claim, "Drifted");
    why->drifted = true;
    why->drift = node_string(node_get(drifted, "reason"));
    if (looking->pool != NULL)
        why->drift_path =
            drift_path(looking->pool->object, looking->claim, why->drift, looking->arena);
    if (!time_parse(node_string(node_get(drifted, "lastTransitionTime")), &why->drifted_unix_s))
        why->drifted_unix_s = 0;
}

static void read_expiry(struct looking *looking)
{
    struct why_node *why = looking->why;
    int64_t after_s = 0;
    if (looking->claim == NULL || looking->claim->created_unix_s == 0 ||
        !duration_parse(node_string(node_at(looking->claim->root->node, "spec.expireAfter")),
                        &after_s))
        return;
    why->expires =
        !__builtin_add_overflow(looking->claim->created_unix_s, after_s, &why->expires_unix_s);
}

static enum why_consolidation consolidation_of(const struct looking *looking)
{
    const struct why_node *why = looking->why;
    if (looking->pool == NULL || looking->claim == NULL)
        return WHY_CONSOLIDATION_UNKNOWN;
    const struct node *disruption = node_at(looking->pool->object->root->node, "spec.disruption");
    if (text_is(why->consolidate_after, "Never") || pool_is_static(looking->pool))
        return WHY_CONSOLIDATION_OFF;
    if (why->moving_count > 0 &&
        text_is(node_string(node_get(disruption, "consolidationPolicy")), "WhenEmpty"))
        return WHY_CONSOLIDATED_WHEN_EMPTY;
    return object_condition_holds(looking->claim, "Consolidatable") ? WHY_CONSOLIDATABLE
                                                                    : WHY_CONSOLIDATION_WAITS;
}

static void read_intent(struct looking *looking)
{
    struct why_node *why = looking->why;
    read_drift(looking);
    read_expiry(looking);
    if (looking->pool != NULL)
        why->consolidate_after = node_string(
            node_at(looking->pool->object->root->node, "spec.disruption.consolidateAfter"));
    why->consolidation = consolidation_of(looking);
    why->reason = why->drifted             ? REASON_DRIFTED
                  : why->moving_count == 0 ? REASON_EMPTY
                                           : REASON_UNDERUTILIZED;
    why->wanted = why->drifted || why->consolidation == WHY_CONSOLIDATABLE;
}

bool why_node(const struct snapshot *snapshot, kind_set seen, struct text name, int64_t now_unix_s,
              struct arena *arena, struct why_node *why, struct error *error)
{
    struct looking looking = {
        .snapshot = snapshot, .arena = arena, .now_unix_s = now_unix_s, .why = why};
    *why = (struct why_node){0};
    if (!find(&looking, name, error))
        return false;
    read_place(&looking);
    read_pods(&looking);
    read_intent(&looking);
    const struct disruption_question question = {
        .snapshot = snapshot,
        .seen = seen,
        .now_unix_s = now_unix_s,
        .verb = DISRUPTION_REPLACE,
        .reason = why->reason,
        .nodes = &looking.asked,
        .node_count = 1,
    };
    disruption_forecast(&question, arena, &why->forecast);
    return true;
}
