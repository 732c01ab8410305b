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

size_t nearest_find(const struct text *items, size_t count, struct text wanted,
                    size_t nearest[NEAREST_MAX])
{
    /* What is farther is as good as anything. */
    enum { FARTHEST = 64 };
    size_t distances[NEAREST_MAX] = {0};
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        bool full = found == NEAREST_MAX;
        if (full && (wanted.size == 0 || distances[found - 1] == 0))
            break;
        size_t limit = full ? distances[found - 1] - 1 : FARTHEST;
        size_t distance = wanted.size == 0 ? 0 : text_distance(items[i], wanted, limit);
        if (full && distance > limit)
            continue;
        size_t place = full ? found - 1 : found++;
        for (; place > 0 && distances[place - 1] > distance; place--) {
            distances[place] = distances[place - 1];
            nearest[place] = nearest[place - 1];
        }
        distances[place] = distance;
        nearest[place] = i;
    }
    return found;
}

enum { TYPO_EDITS = 2 };

void advise_typo(struct draft *draft, struct arena *arena)
{
    if (draft->allowed_count == 0 || text_is_glob(draft->allowed[0]) ||
        text_distance(draft->allowed[0], draft->found, TYPO_EDITS) > TYPO_EDITS)
        return;
    draft->fix = arena_printf(arena, "replace with %.*s", TEXT_ARGS(draft->allowed[0]));
    draft->replacement = draft->allowed[0];
}

void advise_typo_of_key(struct draft *draft, struct arena *arena)
{
    advise_typo(draft, arena);
    draft->replacement = TEXT("");
}

struct draft draft_finish(const struct draft *shared, struct arena *arena)
{
    struct draft draft = *shared;
    size_t nearest[NEAREST_MAX];
    draft.allowed_count =
        nearest_find(shared->allowed, shared->allowed_count, shared->nearest_to, nearest);
    struct text *shown = ARENA_ARRAY(arena, draft.allowed_count, struct text);
    for (size_t i = 0; i < draft.allowed_count; i++)
        shown[i] = shared->allowed[nearest[i]];
    draft.allowed = shown;
    if (draft.advise != NULL)
        draft.advise(&draft, arena);
    return draft;
}
