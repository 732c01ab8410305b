/* What rails say: drafts, made of a few words, and finished when it is certain that they are shown.
 */
#include "policy/evaluation.h"

#include <stdarg.h>

bool report_counts(struct rail_call *call, enum severity severity)
{
    return record_counts(call->record, severity);
}

void report_say(struct rail_call *call, const struct draft *draft)
{
    record_add(call->record, draft);
}

void report_draft(struct rail_call *call, const struct draft *draft)
{
    if (!record_counts(call->record, draft->severity))
        record_add(call->record, draft);
}

void report_printf(struct rail_call *call, enum severity severity, const struct field *field,
                   struct text found, struct text fix, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct draft draft = {
        .severity = severity,
        .field = field,
        .found = found,
        .statement = arena_vprintf(call->arena, format, args),
        .fix = fix,
    };
    va_end(args);
    report_say(call, &draft);
}

/* ---- what is allowed ---- */

static size_t by_spelling(struct text allowed, struct text found, size_t limit, const void *about)
{
    (void)about;
    return text_distance(allowed, found, limit);
}

struct text_list nearest_allowed(const struct allowed *allowed, struct text wanted,
                                 struct arena *arena)
{
    /* What is farther is as good as anything. */
    enum { NEAREST_MAX = 5, FARTHEST = 64 };
    nearness *distance_of = allowed->nearness == NULL ? by_spelling : allowed->nearness;
    size_t distances[NEAREST_MAX] = {0};
    struct text_list nearest = {.items = ARENA_ARRAY(arena, NEAREST_MAX, struct text)};
    for (size_t i = 0; i < allowed->count; i++) {
        bool full = nearest.count == NEAREST_MAX;
        if (full && (wanted.size == 0 || distances[NEAREST_MAX - 1] == 0))
            break;
        size_t limit = full ? distances[NEAREST_MAX - 1] - 1 : FARTHEST;
        size_t distance =
            wanted.size == 0 ? 0 : distance_of(allowed->items[i], wanted, limit, allowed->about);
        if (full && distance > limit)
            continue;
        size_t place = full ? NEAREST_MAX - 1 : nearest.count++;
        for (; place > 0 && distances[place - 1] > distance; place--) {
            distances[place] = distances[place - 1];
            nearest.items[place] = nearest.items[place - 1];
        }
        distances[place] = distance;
        nearest.items[place] = allowed->items[i];
    }
    return nearest;
}

/* ---- what was meant ---- */

static bool nearest_is_meant(const struct draft *draft)
{
    const struct text *nearest = draft->allowed.items;
    return draft->typo_edits > 0 && draft->allowed.count > 0 && !text_is_glob(*nearest) &&
           text_distance(*nearest, draft->found, draft->typo_edits) <= draft->typo_edits;
}

static void mend(struct draft *draft, struct arena *arena)
{
    if (draft->meant.size == 0 && nearest_is_meant(draft))
        draft->meant = draft->allowed.items[0];
    if (draft->meant.size == 0)
        return;
    draft->fix = arena_printf(arena, "Use %.*s.", TEXT_ARGS(draft->meant));
    if (!draft->in_key)
        draft->replacement = draft->meant;
}

struct draft draft_finish(const struct draft *shared, struct arena *arena)
{
    struct draft draft = *shared;
    struct text_list nearest = nearest_allowed(&shared->allowed, shared->nearest_to, arena);
    draft.allowed.items = nearest.items;
    draft.allowed.count = nearest.count;
    mend(&draft, arena);
    if (draft.advise != NULL)
        draft.advise(&draft, arena);
    return draft;
}
