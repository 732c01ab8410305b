/* What rails read alike of the object at hand, remembered for the evaluation. */
#include "policy/reading.h"

#include "kube/device.h"
#include "kube/snapshot.h"
#include "policy/evaluation.h"

/* The one of the object, empty when it has none yet. An UPDATE has two objects in turn; those of a
 * custom resource with many templates are read again. */
static struct reading *reading_of(const struct rail_call *call)
{
    struct evaluation *evaluation = call->evaluation;
    const struct object *object = call->object;
    for (size_t i = 0; i < COUNT_OF(evaluation->readings); i++) {
        struct reading *reading = &evaluation->readings[i];
        if (reading->object == object && reading->root == object->root->node)
            return reading;
    }
    struct reading *oldest = &evaluation->readings[evaluation->oldest_reading];
    evaluation->oldest_reading = (evaluation->oldest_reading + 1) % COUNT_OF(evaluation->readings);
    *oldest = (struct reading){.object = object, .root = object->root->node};
    return oldest;
}

bool call_workload(const struct rail_call *call, struct workload *workload)
{
    struct reading *reading = reading_of(call);
    if (reading->workload == NULL) {
        if (!workload_read(call->object, call->arena, workload))
            return false;
        struct workload *kept = ARENA_NEW(call->arena, struct workload);
        *kept = *workload;
        reading->workload = kept;
    }
    *workload = *reading->workload;
    return true;
}

struct tolerations call_tolerations(const struct rail_call *call, const struct workload *workload)
{
    struct reading *reading = reading_of(call);
    if (reading->tolerations == NULL) {
        struct tolerations *tolerations = ARENA_NEW(call->arena, struct tolerations);
        tolerations_read(workload, call->arena, tolerations);
        tolerations->capacity = tolerations->count; /* whoever adds to it gets a list of his own */
        reading->tolerations = tolerations;
    }
    return *reading->tolerations;
}

const struct text_map *call_resources(const struct rail_call *call, const struct workload *workload)
{
    struct reading *reading = reading_of(call);
    if (reading->resources == NULL) {
        struct text_map *names = ARENA_NEW(call->arena, struct text_map);
        resource_names_read(workload, call->arena, names);
        reading->resources = names;
    }
    return reading->resources;
}

const struct node_selection *call_selection(const struct rail_call *call,
                                            const struct workload *workload)
{
    struct reading *reading = reading_of(call);
    if (reading->selection == NULL) {
        struct node_selection *selection = ARENA_NEW(call->arena, struct node_selection);
        node_selection_read(workload, call->arena, selection);
        reading->selection = selection;
    }
    return reading->selection;
}

const struct topology_terms *call_topology(const struct rail_call *call,
                                           const struct workload *workload)
{
    struct reading *reading = reading_of(call);
    if (reading->topology == NULL) {
        struct topology_terms *terms = ARENA_NEW(call->arena, struct topology_terms);
        topology_terms_read(workload, call->arena, terms);
        reading->topology = terms;
    }
    return reading->topology;
}

const struct claim_names *call_claims(const struct rail_call *call, const struct workload *workload)
{
    struct reading *reading = reading_of(call);
    if (reading->claims == NULL) {
        struct claim_names *names = ARENA_NEW(call->arena, struct claim_names);
        claim_names_read(workload, call->arena, names);
        reading->claims = names;
    }
    return reading->claims;
}

const struct pool *call_pool(const struct rail_call *call)
{
    struct reading *reading = reading_of(call);
    if (reading->pool == NULL) {
        struct pool *pool = ARENA_NEW(call->arena, struct pool);
        if (!pool_read(call->object, call->arena, pool))
            return NULL;
        reading->pool = pool;
    }
    return reading->pool;
}

bool call_is_seen(const struct rail_call *call, const char *path)
{
    const struct object *own = call->object;
    if (call->subject->operation == OPERATION_UPDATE)
        return false;
    const struct object *seen =
        snapshot_find(call->world->snapshot, own->kind, own->namespace, own->name);
    /* Of objects of one name that -f names the last counts, and tells for them. */
    bool stands_for = seen != NULL && seen->origin == ORIGIN_CHANGE && own->origin == ORIGIN_CHANGE;
    return stands_for || (seen != NULL && node_equal(node_at(seen->root->node, path),
                                                     node_at(own->root->node, path)));
}
