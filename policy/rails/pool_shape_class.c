/* The EC2NodeClass that a NodePool names, and that is not there. */
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/rails/pool_shape.h"

static struct text nearest_class(const struct snapshot *snapshot, struct text name,
                                 struct arena *arena)
{
    size_t count = snapshot_count(snapshot, KIND_EC2_NODE_CLASS);
    struct text *names = ARENA_ARRAY(arena, count, struct text);
    for (size_t i = 0; i < count; i++)
        names[i] = snapshot_object(snapshot, KIND_EC2_NODE_CLASS, i)->name;
    /* Where there is but one, it is meant, or else nothing is. */
    size_t nearest = count == 1 ? 0 : text_nearest(name, names, count, TYPO_EDITS);
    return nearest < count ? names[nearest] : TEXT("");
}

void pool_shape_judge_class(struct rail_call *call, const struct pool *pool)
{
    const struct snapshot *snapshot = call->world->snapshot;
    struct arena *arena = call->arena;
    struct text name = pool->node_class_name;
    /* Where none is visible the classes may be in other hands. */
    if (name.size == 0 || !text_is(pool->node_class_group, "karpenter.k8s.aws") ||
        !text_is(pool->node_class_kind, "EC2NodeClass") ||
        !world_sees(call->world, KIND_BIT(KIND_EC2_NODE_CLASS)) ||
        snapshot_count(snapshot, KIND_EC2_NODE_CLASS) == 0 ||
        pool_node_class(snapshot, pool) != NULL)
        return;
    struct text near = nearest_class(snapshot, name, arena);
    report(call, SEVERITY_WARN,
           field_at(arena, pool->object->root, "spec.template.spec.nodeClassRef.name"),
           near.size > 0 ? arena_printf(arena, "did you mean %.*s?", TEXT_ARGS(near))
                         : TEXT("name an EC2NodeClass that is there, or add one of that name"),
           "found \"%.*s\", the name of no visible EC2NodeClass: until there is one, Karpenter "
           "does not use the pool",
           TEXT_ARGS(name));
}
