/* What accelerators says of GPUs that a workload has bought and does not ask for. */
#include "catalog/catalog.h"
#include "kube/container.h"
#include "kube/pod.h"
#include "policy/rails/accelerators.h"

#define GPU "nvidia.com/gpu"

int64_t accelerators_asked(const struct workload *workload, struct text resource,
                           struct arena *arena, const struct field **first)
{
    const char *name = arena_printf(arena, "%.*s", TEXT_ARGS(resource)).data;
    static const int64_t gpu_milli = 1000, most_milli = 1000000;
    int64_t milli = 0;
    const struct field *containers = field_get(arena, workload->spec, "containers");
    *first = NULL;
    for (size_t i = 0; i < node_count(containers->node); i++) {
        const struct field *resources =
            field_get(arena, field_item(arena, containers, i), "resources");
        struct amount limit;
        amount_read(field_get(arena, field_get(arena, resources, "limits"), name), &limit);
        if (!limit.valid || limit.milli == 0)
            continue;
        if (*first == NULL)
            *first = limit.field;
        milli += limit.milli < most_milli ? limit.milli : most_milli;
    }
    return milli / gpu_milli;
}

/* The type with the fewest GPUs; the size of the catalogue when there is none, or one has not a
 * whole GPU of this kind. */
static size_t least_of(const struct catalog *catalog, const struct type_set *types)
{
    size_t least = catalog_count(catalog);
    FOR_TYPES(i, types) {
        const struct instance_type *type = catalog_type(catalog, i);
        if (type->gpu_count == 0 ||
            (type->devices & DEVICE_BIT(device_of_resource(TEXT(GPU)))) == 0)
            return catalog_count(catalog);
        if (least == catalog_count(catalog) ||
            type->gpu_count < catalog_type(catalog, least)->gpu_count)
            least = i;
    }
    return least;
}

/* Pods of a kind that has replicas: one Pod, or one Job, may be one of many. */
bool accelerators_judge_idle(struct rail_call *call, const struct accelerators *settings,
                             const struct workload *workload,
                             const struct node_selection *selection)
{
    struct arena *arena = call->arena;
    const struct catalog *catalog = settings->catalog;
    const struct field *field;
    int64_t replicas = node_int32(call->object->root->node, "spec.replicas", 1);
    int64_t asked = accelerators_asked(workload, TEXT(GPU), arena, &field);
    if ((KIND_BIT(call->object->kind) & KINDS_SCALED) == 0 || asked == 0 || replicas < 1 ||
        selection->required.count > 1)
        return false;
    const struct expressions *term =
        selection->required.count == 1 ? &selection->required.items[0].expressions : NULL;
    struct type_set types = expressions_select(catalog, &selection->selector, term, arena);
    size_t least = least_of(catalog, &types);
    if (least == catalog_count(catalog))
        return false;
    const struct instance_type *type = catalog_type(catalog, least);
    int64_t gpus = type->gpu_count, wanted = asked * replicas;
    if (wanted >= gpus)
        return false;
    bool one = gpus - wanted == 1;
    struct text subject = type->name;
    if (type_set_count(&types) > 1)
        subject = arena_printf(arena, "Each selected type, such as %.*s,", TEXT_ARGS(type->name));
    struct text fix =
        arena_printf(arena, "Select a type with fewer GPUs, or ask for all %lld.", (long long)gpus);
    report(call, SEVERITY_WARN, field, fix,
           "%.*s has %lld GPUs, and all replicas together ask for %lld. The other%s idle unless "
           "other pods use %s.",
           TEXT_ARGS(subject), (long long)gpus, (long long)wanted, one ? " stays" : "s stay",
           one ? "it" : "them");
    return true;
}
