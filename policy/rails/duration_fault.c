/* Words for durations that are none. */
#include "policy/rails/duration_fault.h"

#include "base/duration.h"
#include "kube/placeholder.h"

struct text duration_text(int64_t seconds, struct arena *arena)
{
    enum { HOUR_S = 3600, MINUTE_S = 60 };
    if (seconds % HOUR_S == 0)
        return arena_printf(arena, "%lldh", (long long)(seconds / HOUR_S));
    if (seconds % MINUTE_S == 0)
        return arena_printf(arena, "%lldm", (long long)(seconds / MINUTE_S));
    return arena_printf(arena, "%llds", (long long)seconds);
}

/* "30d": Go, which reads durations, has no days. */
static bool is_in_days(struct text t, int64_t *hours)
{
    enum { MOST_DAYS = 100000, DAY_H = 24 };
    if (!text_ends_with(t, TEXT("d")) || !text_to_int64((struct text){t.data, t.size - 1}, hours) ||
        *hours <= 0 || *hours > MOST_DAYS)
        return false;
    *hours *= DAY_H;
    return true;
}

struct draft duration_fault(const struct field *field, struct arena *arena)
{
    struct text found = node_text(field->node);
    int64_t number = 0;
    struct draft draft = {.field = field, .found = found};
    if (text_to_int64(found, &number) && number > 0) {
        /* A number without a unit was meant as seconds: a Provisioner has those. */
        draft.statement = arena_printf(arena, "The number %.*s has no unit.", TEXT_ARGS(found));
        draft.fix = arena_printf(arena, "Write %.*s, if seconds are meant.",
                                 TEXT_ARGS(duration_text(number, arena)));
        return draft;
    }
    draft.statement = arena_printf(arena, "\"%.*s\" is no duration.", TEXT_ARGS(found));
    draft.fix = TEXT("Write hours, minutes and seconds, such as 336h or 1h30m.");
    if (is_in_days(found, &number)) {
        draft.replacement = arena_printf(arena, "%lldh", (long long)number);
        draft.fix = arena_printf(arena, "Write %.*s.", TEXT_ARGS(draft.replacement));
    }
    return draft;
}

bool duration_is_malformed(const struct field *field)
{
    struct text found = node_string(field->node);
    return node_is_given(field->node) && !duration_is_whole(found) && !text_has_placeholder(found);
}
