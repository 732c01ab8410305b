/* Why a pod of the solver's fixture is placed nowhere, in words. */
#ifndef TAFFRAIL_UNIT_SOLVER_REASONS_H
#define TAFFRAIL_UNIT_SOLVER_REASONS_H

#include "solver_fixture.h"

/* "kind: message; nearest" a reason, one a line; those of no pool last. */
static inline const char *told(size_t pod)
{
    EXPECT_INT(world.pods.items[pod].place.kind, SOLVER_UNSCHEDULABLE);
    struct reasons_words reasons =
        reasons_tell(solver_explain(world.run, world.pods.items[pod].number), world.arena);
    struct text_builder out = {.arena = world.arena};
    for (size_t i = 0; reasons.count > 0 && i < 2 * reasons.count; i++) {
        const struct reason_words *reason = &reasons.items[i % reasons.count];
        if ((reason->pool == SOLVER_NONE) != (i >= reasons.count))
            continue;
        text_builder_printf(&out, "%s%s: %s%s%s", out.size == 0 ? "" : "\n",
                            solver_reason_name(reason->kind), reason->message,
                            *reason->nearest == '\0' ? "" : "; ", reason->nearest);
    }
    return reasons.count == 0 ? "" : text_builder_text(&out).data;
}

#endif
