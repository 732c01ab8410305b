/* Which of the kinds that rails look for their answers in (struct rail, sources) have no object,
 * and how they are shown. */
#include "kube/snapshot.h"
#include "policy/policy_set.h"

kind_set kinds_without_object(const struct world *world, kind_set kinds)
{
    kind_set without = 0;
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        if ((kinds & KIND_BIT(kind)) != 0 && snapshot_count(world->snapshot, kind) == 0)
            without |= KIND_BIT(kind);
    return without;
}

kind_set rail_unseen_sources(const struct rail *rail, enum kind judged, const struct world *world)
{
    bool asked = rail->sources_of == 0 || (rail->sources_of & KIND_BIT(judged)) != 0;
    return asked ? kinds_without_object(world, rail->sources) : 0;
}

static struct text rails_that_look(const struct policy_set *policies, enum kind kind,
                                   struct arena *arena)
{
    struct text_builder names = {.arena = arena};
    for (size_t i = 0; i < rail_count(); i++) {
        const struct rail *rail = rail_at(i);
        if ((rail->sources & KIND_BIT(kind)) != 0 && policy_set_uses(policies, rail))
            text_builder_list(&names, text_of(rail->name));
    }
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
    struct text missing = text_builder_text(&all);
    return missing.size == 0 ? missing
                             : arena_printf(arena,
                                            "the rails see %.*s: what depends on them is not "
                                            "decided, and no review says so",
                                            TEXT_ARGS(missing));
}

/* ---- advice ---- */

/* What a cluster lacks of which all is seen. */
static struct text advice_to_create(kind_set kinds, struct arena *arena)
{
    if (kinds == (KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE)))
        return TEXT("Create a NodePool, or add a Node");
    if ((kinds & KIND_BIT(KIND_RESOURCE_SLICE)) != 0)
        return TEXT("Install the driver of the devices, which publishes ResourceSlices");
    if ((kinds & KIND_BIT(KIND_NODE)) != 0)
        return TEXT("Add a Node");
    enum kind first = KIND_UNKNOWN + 1;
    while (first + 1 < KIND_COUNT && (kinds & KIND_BIT(first)) == 0)
        first++;
    return arena_printf(arena, "Create a %s", kind_table[first].name);
}

struct text advice_to_show(const struct rail_call *call, kind_set kinds, const char *otherwise)
{
    const struct world *world = call->world;
    struct arena *arena = call->arena;
    kind_set unlisted = kinds & world->unseen;
    struct text names = kinds_in_words(unlisted == 0 ? kinds : unlisted, arena);
    struct text advice = advice_to_create(kinds, arena);
    if (!world->of_cluster)
        advice = arena_printf(arena, "Make the %.*s visible (--state DIR)", TEXT_ARGS(names));
    else if (unlisted != 0)
        advice = arena_printf(arena, "Let Taffrail list the %.*s of the cluster", TEXT_ARGS(names));
    return arena_printf(arena, "%.*s%s.", TEXT_ARGS(advice), otherwise);
}

struct text advice_to_show_one(const struct rail_call *call, enum kind kind, const char *it)
{
    const struct world *world = call->world;
    if (!world->of_cluster)
        return arena_printf(call->arena,
                            "Make %s visible: name its file with -f, or use --state DIR.", it);
    return world_lists(world, KIND_BIT(kind))
               ? arena_printf(call->arena, "Create %s, or name one that there is.", it)
               : advice_to_show(call, KIND_BIT(kind), "");
}
