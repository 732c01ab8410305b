/* What accelerators says of updates that need more devices than the workload has. */
#include "kube/rollout.h"
#include "policy/rails/accelerators.h"

/* Of a few pods a quarter is one more and none fewer: the new one has to find devices while the old
 * one still has its own. Who wrote numbers has weighed that, and of a shared device there is a part
 * to be had. */
void accelerators_judge_update(struct rail_call *call, const struct accelerators *settings,
                               const struct workload *workload, struct text resource)
{
    struct arena *arena = call->arena;
    const struct object *object = call->object;
    const struct field *at;
    struct rollout rollout;
    int64_t replicas = node_int32(object->root->node, "spec.replicas", 1);
    bool is_whole = texts_have(settings->resources.items, settings->resources.count, resource);
    if (!is_whole || replicas < 1 || !rollout_read(object, replicas, &rollout) || rollout.chosen ||
        rollout.unavailable > 0)
        return;
    int64_t more = accelerators_asked(workload, resource, arena, &at) * rollout.surge;
    if (more == 0)
        return;
    report_found(
        call, SEVERITY_WARN, field_at(arena, object->root, "spec.strategy"), TEXT(""),
        replicas == 1
            ? TEXT("Set spec.strategy to {type: Recreate} where that is too much: the pod then "
                   "stops for the time of an update.")
            : TEXT("Set spec.strategy to {type: RollingUpdate, rollingUpdate: {maxSurge: 0, "
                   "maxUnavailable: 1}} where that is too much."),
        "An update starts a new pod before it ends an old one (maxSurge 25%%), so it needs %lld "
        "more %.*s, and waits while no node has them.",
        (long long)more, TEXT_ARGS(resource));
}
