/* Exceptions: loaded, and found for an object. */
#include <stdlib.h>

#include "policy/document.h"

/* ---- loading ---- */

static int compare_ids(const void *a_pointer, const void *b_pointer)
{
    const struct text *a = *(const struct text *const *)a_pointer;
    const struct text *b = *(const struct text *const *)b_pointer;
    int order = text_compare(*a, *b);
    return order != 0 ? order : (a > b) - (a < b);
}

bool ids_check(const struct schema *schema, const struct field *list, const struct text *ids,
               size_t count, const char *what)
{
    const struct text **sorted =
        (const struct text **)ARENA_ARRAY(schema->arena, count, const struct text *);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &ids[i];
    if (count > 1)
        qsort((void *)sorted, count, sizeof *sorted, compare_ids);
    bool good = true;
    for (size_t i = 1; i < count; i++) {
        if (sorted[i]->data == NULL || !text_equal(*sorted[i], *sorted[i - 1]))
            continue;
        const struct field *item = field_item(schema->arena, list, (size_t)(sorted[i] - ids));
        const struct field *id = field_get(schema->arena, item, "id");
        good = schema_problem(schema, id, id->node->offset,
                              "found %.*s, which another %s of this document has already",
                              TEXT_ARGS(schema_found(schema, id->node)), what);
    }
    return good;
}

struct rails_named rails_of_spec(const struct schema *schema, const struct field *spec)
{
    const struct node *map = node_get(spec->node, "rails");
    size_t count = node_is(map, NODE_MAP) ? node_count(map) : 0;
    struct text *names = ARENA_ARRAY(schema->arena, count, struct text);
    for (size_t i = 0; i < count; i++)
        names[i] = member_key(&map->members[i]);
    return (struct rails_named){names, count, TEXT("this policy")};
}

bool rails_check(const struct schema *schema, const struct rails_named *named,
                 const struct field *item, const struct key_strings *rails)
{
    struct arena *arena = schema->arena;
    const struct field *list = field_get(arena, item, "rails");
    bool good = true;
    for (size_t i = 0; i < rails->count; i++) {
        struct text rail = rails->items[i];
        if (rail.size == 0 || texts_have(named->names, named->count, rail))
            continue; /* an empty one is refused already */
        struct text near = schema_nearest(arena, rail, named->names, named->count);
        struct text all =
            named->count == 0 ? TEXT("none") : schema_join(arena, named->names, named->count);
        good = schema_problem(schema, field_item(arena, list, i), rails->nodes[i]->offset,
                              "found \"%.*s\", which is no rail of %.*s%.*s%s it has: %.*s",
                              TEXT_ARGS(schema_printable(arena, rail)), TEXT_ARGS(named->whose),
                              TEXT_ARGS(near), near.size > 0 ? "" : ";", TEXT_ARGS(all));
    }
    return good;
}

bool exceptions_read(const struct schema *schema, const struct field *spec,
                     struct exception *exceptions, size_t count)
{
    struct arena *arena = schema->arena;
    const struct field *list = field_get(arena, spec, "exceptions");
    struct text *ids = ARENA_ARRAY(arena, count, struct text);
    for (size_t i = 0; i < count; i++) {
        const struct field *item = field_item(arena, list, i);
        ids[i] = exceptions[i].id;
        exceptions[i].at = source_place(schema->source, arena, field_offset(item));
        exceptions[i].place =
            source_place(schema->source, arena, field_offset(field_get(arena, item, "expires")));
    }
    return ids_check(schema, list, ids, count, "exception");
}

void policy_warn_expired(const struct policy_set *policies, int64_t now_unix_s,
                         struct problems *warnings)
{
    FOR_EACH(policy, policies) {
        for (size_t j = 0; j < policy->exception_count; j++) {
            const struct exception *exception = &policy->exceptions[j];
            if (exception->expires_unix_s < now_unix_s)
                problems_add(warnings, ERROR_POLICY, exception->place,
                             "the exception %.*s of the policy \"%.*s\" has expired: renew it, or "
                             "take it out",
                             TEXT_ARGS(exception->id), TEXT_ARGS(policy->name));
        }
    }
}

bool policy_refuse_long(const struct policy_set *policies, int64_t now_unix_s, struct arena *arena,
                        struct problems *errors)
{
    size_t errors_before = errors->count;
    FOR_EACH(policy, policies) {
        for (size_t j = 0; j < policy->exception_count; j++) {
            const struct exception *exception = &policy->exceptions[j];
            const struct grant *grant = exception->grant;
            if (grant == NULL || grant->longest_s == 0 ||
                exception->expires_unix_s - now_unix_s <= grant->longest_s)
                continue;
            struct text last = message_day(now_unix_s + grant->longest_s, arena);
            problems_add(errors, ERROR_POLICY, exception->place,
                         "the exception %.*s ends later than the policy \"%.*s\" grants \"%.*s\" "
                         "(maxDuration of %s:%u:%u): as of today on %.*s at the latest",
                         TEXT_ARGS(exception->id), TEXT_ARGS(policy->name),
                         TEXT_ARGS(schema_printable(arena, grant->owner)), grant->place.file,
                         grant->place.line, grant->place.column, TEXT_ARGS(last));
        }
    }
    return errors->count == errors_before;
}

/* ---- deciding ---- */

static bool covers_rail(const struct exception *exception, const char *rail)
{
    for (size_t i = 0; i < exception->rails.count; i++)
        if (text_is(exception->rails.items[i], rail))
            return true;
    return false;
}

const struct exception *exception_find(const struct policy *policy, const char *rail,
                                       const struct match_subject *subject, int64_t now_unix_s,
                                       bool *expired, bool *unknown)
{
    const struct exception *best = NULL;
    int64_t best_expires_unix_s = INT64_MIN;
    bool unknown_holds = false;
    for (size_t i = 0; i < policy->exception_count; i++) {
        const struct exception *exception = &policy->exceptions[i];
        if (!covers_rail(exception, rail))
            continue;
        enum match_result match = match_evaluate(&exception->match, subject);
        if (match == MATCH_UNKNOWN && exception->expires_unix_s >= now_unix_s)
            unknown_holds = true;
        if (match == MATCH_YES && exception->expires_unix_s > best_expires_unix_s) {
            best = exception;
            best_expires_unix_s = exception->expires_unix_s;
        }
    }
    *expired = best != NULL && best_expires_unix_s < now_unix_s;
    *unknown = unknown_holds && (best == NULL || *expired);
    return best;
}
