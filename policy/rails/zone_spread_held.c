/* Workloads whose replicas no constraint can spread: something else decides where they run. */
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/volume.h"
#include "kube/volume_zones.h"
#include "policy/rails/shared_volume.h"
#include "policy/rails/zone_spread.h"
#include "policy/reading.h"

/* ---- volumes and devices that the replicas share ---- */

static bool is_in_one_zone(const struct rail_call *call, const struct claim *claim)
{
    struct storage_class class;
    const struct object *object = claim_class(call->world->snapshot, claim);
    return object != NULL && storage_class_read(object, call->arena, &class) &&
           storage_class_names_one_zone(&class);
}

static bool holds(const struct rail_call *call, const struct object *object)
{
    const struct snapshot *snapshot = call->world->snapshot;
    struct claim claim;
    claim_read(object->root, call->arena, &claim);
    const struct object *volume =
        snapshot_find(snapshot, KIND_PERSISTENT_VOLUME, TEXT(""),
                      node_string(node_at(object->root->node, "spec.volumeName")));
    if (volume != NULL)
        return volume_is_zonal(volume);
    return claim_is_for_one_node(snapshot, object, call->arena) || is_in_one_zone(call, &claim);
}

/* Of a claim that is not visible nothing is known: it may be of a file system. */
static bool has_volume_of_one_zone(const struct rail_call *call, const struct workload *workload)
{
    struct claims templates;
    claim_templates_read(workload, call->arena, &templates);
    FOR_EACH(template, &templates)
        if (is_in_one_zone(call, template))
            return true;
    const struct claim_names *names = call_claims(call, workload);
    for (size_t i = 0; i < names->count; i++) {
        const struct object *claim =
            snapshot_find(call->world->snapshot, KIND_PERSISTENT_VOLUME_CLAIM,
                          call->object->namespace, node_string(names->items[i]->node));
        if (claim != NULL && holds(call, claim))
            return true;
    }
    return false;
}

/* Devices of one claim are near each other: in a node, or in a rack. */
static bool shares_device(const struct workload *workload)
{
    FOR_ITEMS(claim, node_get(workload->spec->node, "resourceClaims"))
        if (node_string(node_get(claim, "resourceClaimName")).size > 0)
            return true;
    return false;
}

/* ---- nodes that zones do not tell apart ---- */

/* EKS Hybrid Nodes run outside AWS and have no zone. */
static bool names_hybrid_nodes(const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (expression->op == SOLVER_IN && text_is(expression->key, LABEL_COMPUTE_TYPE) &&
            expression_names(expression, TEXT("hybrid")))
            return true;
    return false;
}

static bool some_term_names_hybrid_nodes(const struct node_terms *terms)
{
    FOR_EACH(term, terms)
        if (names_hybrid_nodes(&term->expressions))
            return true;
    return false;
}

static bool is_for_hybrid_nodes(const struct rail_call *call, const struct workload *workload)
{
    const struct node_selection *selection = call_selection(call, workload);
    return names_hybrid_nodes(&selection->selector) ||
           some_term_names_hybrid_nodes(&selection->required) ||
           some_term_names_hybrid_nodes(&selection->preferred);
}

/* An image that is never pulled is where somebody has put it: on a cluster of one machine. */
static bool has_local_image(const struct workload *workload)
{
    FOR_ITEMS(container, node_get(workload->spec->node, "containers"))
        if (text_is(node_string(node_get(container, "imagePullPolicy")), "Never"))
            return true;
    return false;
}

/* Pods that only hold room for others, which a priority class puts before them: overprovisioning.
 */
static bool is_placeholder(const struct workload *workload)
{
    const struct node *containers = node_get(workload->spec->node, "containers");
    FOR_ITEMS(container, containers)
        if (!text_holds(node_string(node_get(container, "image")), TEXT("pause")))
            return false;
    return node_count(containers) > 0 &&
           node_is_given(node_get(workload->spec->node, "priorityClassName"));
}

bool zone_spread_is_held(const struct rail_call *call, const struct workload *workload)
{
    const struct node *spec = workload->spec->node;
    return node_string(node_get(spec, "nodeName")).size > 0 ||
           pod_is_on_fargate(node_get(workload->metadata->node, "labels"), spec) ||
           has_local_image(workload) || is_placeholder(workload) || shares_device(workload) ||
           is_for_hybrid_nodes(call, workload) || has_volume_of_one_zone(call, workload);
}
