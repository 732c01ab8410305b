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
                              "found %.*s, which another %s of this policy has already",
                              TEXT_ARGS(schema_found(schema, id->node)), what);
    }
    return good;
}

bool rails_check(const struct schema *schema, const struct field *spec, const struct field *item,
                 const struct key_strings *rails)
{
    struct arena *arena = schema->arena;
    const struct node *map = node_get(spec->node, "rails");
    size_t used_count = node_is(map, NODE_MAP) ? node_count(map) : 0;
    struct text *used = ARENA_ARRAY(arena, used_count, struct text);
    for (size_t i = 0; i < used_count; i++)
        used[i] = member_key(&map->members[i]);
    const struct field *list = field_get(arena, item, "rails");
    bool good = true;
    for (size_t i = 0; i < rails->count; i++) {
        bool found = rails->items[i].size == 0; /* refused already */
        for (size_t j = 0; !found && j < used_count; j++)
            found = text_equal(rails->items[i], used[j]);
        if (found)
            continue;
        struct text near = schema_nearest(arena, rails->items[i], used, used_count);
        struct text all = used_count == 0 ? TEXT("none") : schema_join(arena, used, used_count);
        good = schema_problem(schema, field_item(arena, list, i), rails->nodes[i]->offset,
                              "found \"%.*s\", which is no rail of this policy%.*s%s it has: %.*s",
                              TEXT_ARGS(schema_printable(arena, rails->items[i])), TEXT_ARGS(near),
                              near.size > 0 ? "" : ";", TEXT_ARGS(all));
    }
    return good;
}

bool exceptions_check(const struct schema *schema, const struct field *spec,
                      struct exception *exceptions, size_t count)
{
    struct arena *arena = schema->arena;
    const struct field *list = field_get(arena, spec, "exceptions");
    struct text *ids = ARENA_ARRAY(arena, count, struct text);
    for (size_t i = 0; i < count; i++)
        ids[i] = exceptions[i].id;
    bool good = ids_check(schema, list, ids, count, "exception");
    for (size_t i = 0; i < count; i++) {
        const struct field *item = field_item(arena, list, i);
        exceptions[i].place =
            source_place(schema->source, arena, field_offset(field_get(arena, item, "expires")));
        good = rails_check(schema, spec, item, &exceptions[i].rails) && good;
    }
    return good;
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
