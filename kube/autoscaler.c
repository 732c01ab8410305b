/* HorizontalPodAutoscalers by the workload that they scale. A workload's own number is what the
 * autoscaler has made of it last; how many it may have are the autoscaler's bounds. */
#include "kube/autoscaler.h"

#include <stdlib.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/snapshot_internal.h"

/* ---- by target ---- */

static int compare_targets(const struct autoscaled *a, const struct autoscaled *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return compare_names(a->namespace, a->name, b->namespace, b->name);
}

static int compare_entries(const void *a_pointer, const void *b_pointer)
{
    const struct autoscaled *a = a_pointer;
    const struct autoscaled *b = b_pointer;
    int order = compare_targets(a, b);
    return order != 0 ? order : compare_objects(a->autoscaler, b->autoscaler);
}

/* An autoscaler finds its target in the group that it names: in extensions, which is gone, none. */
static bool read_target(const struct object *autoscaler, struct autoscaled *target)
{
    const struct node *reference = node_at(autoscaler->root->node, "spec.scaleTargetRef");
    struct text api_version = node_string(node_get(reference, "apiVersion"));
    *target = (struct autoscaled){
        .kind = kind_of(api_version, node_string(node_get(reference, "kind"))),
        .namespace = autoscaler->namespace,
        .name = node_string(node_get(reference, "name")),
        .autoscaler = autoscaler,
    };
    return !autoscaler->deleting && target->kind != KIND_UNKNOWN && target->name.size > 0 &&
           text_is(group_of(api_version), kind_table[target->kind].group);
}

void snapshot_read_autoscalers(struct snapshot *snapshot, struct arena *arena)
{
    struct object_list autoscalers = snapshot->kinds[KIND_HORIZONTAL_POD_AUTOSCALER];
    struct autoscaled *items = ARENA_ARRAY(arena, autoscalers.count, struct autoscaled);
    size_t count = 0;
    for (size_t i = 0; i < autoscalers.count; i++)
        count += read_target(autoscalers.items[i], &items[count]) ? 1 : 0;
    if (count > 0)
        qsort(items, count, sizeof *items, compare_entries);
    snapshot->autoscaled = items;
    snapshot->autoscaled_count = count;
}

/* The index of the first of that target, or where it would be. */
static size_t first_of(const struct snapshot *snapshot, const struct autoscaled *wanted)
{
    size_t low = 0;
    size_t high = snapshot->autoscaled_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_targets(&snapshot->autoscaled[middle], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct object *autoscaler_of(const struct snapshot *snapshot, const struct object *workload)
{
    const struct autoscaled wanted = {
        .kind = workload->kind, .namespace = workload->namespace, .name = workload->name};
    size_t low = first_of(snapshot, &wanted);
    const struct autoscaled *first = &snapshot->autoscaled[low];
    if (low == snapshot->autoscaled_count || compare_targets(first, &wanted) != 0)
        return NULL;
    bool more = low + 1 < snapshot->autoscaled_count && compare_targets(first + 1, &wanted) == 0;
    return more ? NULL : first->autoscaler; /* of two neither acts */
}

/* ---- bounds ---- */

bool autoscaler_target_read(const struct object *autoscaler, struct autoscaler_target *target)
{
    struct autoscaled read;
    const struct node *spec = node_get(autoscaler->root->node, "spec");
    if (!read_target(autoscaler, &read))
        return false;
    *target = (struct autoscaler_target){read.kind, read.namespace, read.name,
                                         node_int32(spec, "minReplicas", 1),
                                         node_int32(spec, "maxReplicas", -1)};
    return target->most >= target->least;
}

bool autoscaler_acts(const struct autoscaler_target *target, int64_t replicas)
{
    return replicas != 0 || target->least == 0; /* docs/reference/admission.md 9 */
}

bool autoscaler_is_alone(const struct snapshot *snapshot, const struct object *autoscaler,
                         const struct object *workload)
{
    const struct autoscaled wanted = {
        .kind = workload->kind, .namespace = workload->namespace, .name = workload->name};
    for (size_t i = first_of(snapshot, &wanted);
         i < snapshot->autoscaled_count && compare_targets(&snapshot->autoscaled[i], &wanted) == 0;
         i++)
        if (!text_equal(snapshot->autoscaled[i].autoscaler->name, autoscaler->name))
            return false;
    return true;
}

struct replicas replicas_read(const struct snapshot *snapshot, const struct object *workload)
{
    const struct node *root = workload->root->node;
    bool said = node_is(node_at(root, "spec.replicas"), NODE_NUMBER);
    int64_t own = node_int32(root, "spec.replicas", said ? 0 : 1);
    const struct object *autoscaler =
        workload->replicas_told ? NULL : autoscaler_of(snapshot, workload);
    struct autoscaler_target target;
    if (autoscaler == NULL || !autoscaler_target_read(autoscaler, &target) ||
        !autoscaler_acts(&target, own))
        return (struct replicas){own, own, said, NULL};
    return (struct replicas){target.least, target.most, true, autoscaler};
}
