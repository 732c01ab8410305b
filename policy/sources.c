/* What a rail looks for its answers in. While not one object of such a kind is visible, what it
 * leaves undecided is undecided for every object alike: that is said once, not of each. */
#include "kube/snapshot.h"
#include "policy/policy_set.h"

static const struct {
    const struct rail *rail;
    kind_set kinds;
    kind_set judged; /* of these objects */
} sources[] = {
    {&rail_accelerators, KIND_BIT(KIND_NODE_POOL), KINDS_WORKLOADS},
    {&rail_node_labels, KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE), KINDS_WORKLOADS},
    {&rail_placeable, KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE), KINDS_WORKLOADS},
    {&rail_resource_requests, KIND_BIT(KIND_LIMIT_RANGE), KINDS_WORKLOADS},
    {&rail_shared_volume, KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM), KINDS_WORKLOADS},
    {&rail_topology_keys, KIND_BIT(KIND_NODE_POOL), KINDS_WORKLOADS},
    {&rail_volume_binding, KIND_BIT(KIND_STORAGE_CLASS), ~(kind_set)0},
    {&rail_zones, KIND_BIT(KIND_EC2_NODE_CLASS), ~(kind_set)0},
};

static kind_set sources_of(const struct rail *rail, enum kind judged)
{
    for (size_t i = 0; i < COUNT_OF(sources); i++)
        if (sources[i].rail == rail && (sources[i].judged & KIND_BIT(judged)) != 0)
            return sources[i].kinds;
    return 0;
}

kind_set rail_unseen_sources(const struct rail *rail, enum kind judged, const struct world *world)
{
    kind_set kinds = sources_of(rail, judged), unseen = 0;
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        if ((kinds & KIND_BIT(kind)) != 0 && snapshot_count(world->snapshot, kind) == 0)
            unseen |= KIND_BIT(kind);
    return unseen;
}

static struct text rails_that_look(const struct policy_set *policies, enum kind kind,
                                   struct arena *arena)
{
    struct text_builder names = {.arena = arena};
    for (size_t i = 0; i < COUNT_OF(sources); i++)
        if ((sources[i].kinds & KIND_BIT(kind)) != 0 && policy_set_uses(policies, sources[i].rail))
            text_builder_list(&names, text_of(sources[i].rail->name));
    return text_builder_text(&names);
}

struct text policy_set_unseen_sources(const struct policy_set *policies, kind_set empty,
                                      struct arena *arena)
{
    struct text_builder all = {.arena = arena};
    /* To have no LimitRange and no claim is usual. */
    empty &= ~(KIND_BIT(KIND_LIMIT_RANGE) | KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM));
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++) {
        struct text names =
            (empty & KIND_BIT(kind)) != 0 ? rails_that_look(policies, kind, arena) : TEXT("");
        if (names.size > 0)
            text_builder_list(
                &all, arena_printf(arena, "no %s (%.*s)", kind_table[kind].name, TEXT_ARGS(names)));
    }
    return text_builder_text(&all);
}
