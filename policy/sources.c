/* Which of the kinds that rails look for their answers in (struct rail, sources) have no object. */
#include "kube/snapshot.h"
#include "policy/policy_set.h"

kind_set rail_unseen_sources(const struct rail *rail, enum kind judged, const struct world *world)
{
    kind_set unseen = 0;
    if (rail->sources_of != 0 && (rail->sources_of & KIND_BIT(judged)) == 0)
        return 0;
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        if ((rail->sources & KIND_BIT(kind)) != 0 && snapshot_count(world->snapshot, kind) == 0)
            unseen |= KIND_BIT(kind);
    return unseen;
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
    return text_builder_text(&all);
}
