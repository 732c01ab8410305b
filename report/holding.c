/* What holds for objects: a line a rail, with the file and line that each part of it comes from. */
#include "report/holding.h"

#include <string.h>

#include "report/format.h"
#include "report/tree.h"

static const char *const mode_names[] = {"off", "audit", "warn", "enforce"};
static const char *const step_names[] = {[STEP_SOFTER] = "softer", [STEP_STRICTER] = "stricter"};

/* What becomes of a finding, as a word of modes. */
static const char *state_of(const struct rail_holding *rail)
{
    static const char *const names[] = {[ACTION_NONE] = "off",
                                        [ACTION_EXCEPTED] = "excepted",
                                        [ACTION_AUDIT] = "audit",
                                        [ACTION_WARN] = "warn",
                                        [ACTION_DENY] = "enforce"};
    return rail->unknown ? "undecided" : names[rail->action];
}

/* Where the mode is written; of one that nobody wrote the rail's name. */
static struct place mode_place(const struct policy *policy, const struct rail_holding *rail,
                               struct arena *arena)
{
    if (rail->mode_source == MODE_OF_RAIL)
        return policy_place(
            policy, arena_printf(arena, "rails.%s.mode", rail->use->rail->name).data, arena);
    if (rail->mode_source == MODE_OF_POLICY)
        return policy_place(policy, "mode", arena);
    return rail->use->place;
}

static struct place since_place(const struct policy *policy, const struct rail_use *use,
                                struct arena *arena)
{
    const struct text path = arena_printf(arena, "rails.%s.since", use->rail->name);
    const struct field *own = field_at(arena, policy->spec, path.data);
    return policy_place(policy, own->node != NULL ? path.data : "since", arena);
}

static struct place match_place(const struct policy_holding *holding, struct arena *arena)
{
    struct text path = arena_printf(arena, "match.%s", holding->key);
    return policy_place(holding->policy, path.data, arena);
}

/* ---- text ---- */

struct printing {
    struct arena *arena;
    FILE *out;
    const char *bold, *plain;
};

static struct text place_text(struct place place, struct arena *arena)
{
    return arena_printf(arena, "%s:%u", short_path(place.file), place.line);
}

static void add_mode(struct text_builder *words, const struct policy *policy,
                     const struct rail_holding *rail)
{
    struct arena *arena = words->arena;
    struct text place = place_text(mode_place(policy, rail, arena), arena);
    const char *mode = mode_names[rail->use->mode];
    switch (rail->mode_source) {
    case MODE_OF_RAIL:
        text_builder_printf(words, "%.*s says %s", TEXT_ARGS(place), mode);
        break;
    case MODE_OF_POLICY:
        text_builder_printf(words, "%.*s says %s for all rails", TEXT_ARGS(place), mode);
        break;
    case MODE_OF_WARN_RAIL:
        text_builder_printf(words, "it only warns, and %.*s says nothing else", TEXT_ARGS(place));
        break;
    case MODE_BY_DEFAULT:
        text_builder_printf(words, "%.*s says no mode, which is %s", TEXT_ARGS(place), mode);
        break;
    }
}

static void add_override(struct text_builder *words, const struct override *override)
{
    struct arena *arena = words->arena;
    text_builder_printf(words, "; override %.*s (%.*s) makes it one step %s",
                        TEXT_ARGS(override->id), TEXT_ARGS(place_text(override->at, arena)),
                        step_names[override->step]);
    if (override->reason.size > 0)
        text_builder_printf(words, ": %.*s", TEXT_ARGS(override->reason));
}

static void add_since(struct text_builder *words, const struct policy *policy,
                      const struct rail_holding *rail)
{
    struct arena *arena = words->arena;
    struct text day = message_day(rail->use->since_unix_s, arena);
    struct text place = place_text(since_place(policy, rail->use, arena), arena);
    text_builder_printf(words, "; what is older than %.*s (%.*s) is warned, and %s", TEXT_ARGS(day),
                        TEXT_ARGS(place), rail->since_spares ? "this is older" : "this is not");
}

static void add_exception(struct text_builder *words, const struct rail_holding *rail)
{
    struct arena *arena = words->arena;
    const struct exception *exception = rail->exception;
    text_builder_printf(words, "; exception %.*s (%.*s)", TEXT_ARGS(exception->id),
                        TEXT_ARGS(place_text(exception->at, arena)));
    if (exception->owner.size > 0)
        text_builder_printf(words, " of %.*s", TEXT_ARGS(exception->owner));
    text_builder_printf(words, rail->exception_expired ? " ended on %.*s" : " lifts it until %.*s",
                        TEXT_ARGS(message_day(exception->expires_unix_s, arena)));
    if (exception->reason.size > 0)
        text_builder_printf(words, ": %.*s", TEXT_ARGS(exception->reason));
}

static struct text rail_words(const struct policy *policy, const struct rail_holding *rail,
                              struct arena *arena)
{
    struct text_builder words = {.arena = arena};
    add_mode(&words, policy, rail);
    if (rail->override != NULL)
        add_override(&words, rail->override);
    if (rail->audited_only)
        text_builder_printf(&words, "; its controller makes it, so it is audited at most");
    if (rail->use->since_unix_s != 0 && rail->mode == MODE_ENFORCE)
        add_since(&words, policy, rail);
    if (rail->exception != NULL)
        add_exception(&words, rail);
    if (rail->unknown)
        text_builder_printf(&words, "; more hangs on the labels of the namespace, which are not "
                                    "visible (--state)");
    return text_builder_text(&words);
}

static void put_policy(const struct printing *printing, const struct policy_holding *holding,
                       int width)
{
    struct arena *arena = printing->arena;
    const struct policy *policy = holding->policy;
    fprintf(printing->out, "  policy %s", printing->bold);
    put_printable(policy->name, printing->out);
    fputs(printing->plain, printing->out);
    put_printf(printing->out, " (%.*s)", TEXT_ARGS(place_text(policy->place, arena)));
    if (holding->match != MATCH_YES)
        put_printf(printing->out, " %s: match.%s (%.*s)",
                   holding->match == MATCH_NO ? "is not for it"
                                              : "may be for it, by labels that are not visible",
                   holding->key, TEXT_ARGS(place_text(match_place(holding, arena), arena)));
    else if (holding->rail_count == 0)
        fprintf(printing->out, " has no rail for such objects");
    fputc('\n', printing->out);
    for (size_t i = 0; i < holding->rail_count; i++) {
        const struct rail_holding *rail = &holding->rails[i];
        fprintf(printing->out, "    %-*s  %s%-9s%s  ", width, rail->use->rail->name, printing->bold,
                state_of(rail), printing->plain);
        put_printable(rail_words(policy, rail, arena), printing->out);
        fputc('\n', printing->out);
    }
}

static void put_object(const struct printing *printing, const struct object_holding *holding)
{
    const struct object *object = holding->object;
    int width = 0;
    for (size_t i = 0; i < holding->policy_count; i++)
        for (size_t j = 0; j < holding->policies[i].rail_count; j++) {
            int size = (int)strlen(holding->policies[i].rails[j].use->rail->name);
            width = size > width ? size : width;
        }
    struct text title = object_title(object, printing->arena);
    fprintf(printing->out, "%s", printing->bold);
    put_printf(printing->out, "%.*s %.*s", TEXT_ARGS(object->kind_name), TEXT_ARGS(title));
    fputs(printing->plain, printing->out);
    if (!text_equal(holding->root_name, object->name) && holding->root_name.size > 0) {
        fputs(", which matches by its owner's name ", printing->out);
        put_printable(holding->root_name, printing->out);
    }
    fputc('\n', printing->out);
    for (size_t i = 0; i < holding->policy_count; i++)
        put_policy(printing, &holding->policies[i], width);
}

static void write_text(const struct object_holding *holdings, size_t count,
                       const struct report_style *style, struct arena *arena, FILE *out)
{
    const struct printing printing = {arena, out, style->colour ? "\033[1m" : "",
                                      style->colour ? "\033[0m" : ""};
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            fputc('\n', out);
        put_object(&printing, &holdings[i]);
    }
}

/* ---- JSON ---- */

static void put_part(struct tree_list *parts, struct tree_map *part, struct place place)
{
    tree_put_place(part, &place);
    tree_add(parts, tree_map_node(part));
}

static struct tree_map begin_part(const char *name, struct arena *arena)
{
    struct tree_map part = {.arena = arena};
    tree_put_string(&part, "part", name);
    return part;
}

static void put_exception_part(struct tree_list *parts, const struct rail_holding *rail)
{
    const struct exception *exception = rail->exception;
    struct tree_map part = begin_part("exception", parts->arena);
    tree_put_text(&part, "id", exception->id);
    tree_put_text(&part, "owner", exception->owner);
    tree_put_text(&part, "reason", exception->reason);
    tree_put_text(&part, "expires", message_day(exception->expires_unix_s, parts->arena));
    tree_put(&part, "expired", node_of_bool(rail->exception_expired));
    put_part(parts, &part, exception->at);
}

/* In the order in which they apply. */
static struct node parts_of(const struct policy *policy, const struct rail_holding *rail,
                            struct arena *arena)
{
    struct tree_list parts = {.arena = arena};
    struct tree_map mode = begin_part("mode", arena);
    tree_put_string(&mode, "mode", mode_names[rail->use->mode]);
    tree_put(
        &mode, "written",
        node_of_bool(rail->mode_source == MODE_OF_RAIL || rail->mode_source == MODE_OF_POLICY));
    put_part(&parts, &mode, mode_place(policy, rail, arena));
    if (rail->override != NULL) {
        struct tree_map part = begin_part("override", arena);
        tree_put_text(&part, "id", rail->override->id);
        tree_put_text(&part, "reason", rail->override->reason);
        tree_put_string(&part, "step", step_names[rail->override->step]);
        tree_put_string(&part, "mode", mode_names[rail->mode]);
        put_part(&parts, &part, rail->override->at);
    }
    if (rail->use->since_unix_s != 0) {
        struct tree_map part = begin_part("since", arena);
        tree_put_text(&part, "since", message_day(rail->use->since_unix_s, arena));
        tree_put(&part, "spares", node_of_bool(rail->since_spares));
        put_part(&parts, &part, since_place(policy, rail->use, arena));
    }
    if (rail->exception != NULL)
        put_exception_part(&parts, rail);
    return tree_list_node(&parts);
}

static struct node rail_node(const struct policy *policy, const struct rail_holding *rail,
                             struct arena *arena)
{
    struct tree_map map = {.arena = arena};
    tree_put_string(&map, "rail", rail->use->rail->name);
    tree_put_string(&map, "action", rail->unknown ? "warn" : action_name(rail->action));
    tree_put(&map, "undecided", node_of_bool(rail->unknown));
    tree_put(&map, "controlled", node_of_bool(rail->audited_only));
    tree_put(&map, "parts", parts_of(policy, rail, arena));
    return tree_map_node(&map);
}

static struct node policy_node(const struct policy_holding *holding, struct arena *arena)
{
    static const char *const matches[] = {
        [MATCH_NO] = "no", [MATCH_YES] = "yes", [MATCH_UNKNOWN] = "unknown"};
    struct tree_map map = {.arena = arena};
    struct tree_list rails = {.arena = arena};
    tree_put_text(&map, "policy", holding->policy->name);
    tree_put_place(&map, &holding->policy->place);
    tree_put_string(&map, "matches", matches[holding->match]);
    if (holding->match != MATCH_YES) {
        struct tree_map because = {.arena = arena};
        struct place place = match_place(holding, arena);
        tree_put_text(&because, "key", arena_printf(arena, "spec.match.%s", holding->key));
        tree_put_place(&because, &place);
        tree_put(&map, "because", tree_map_node(&because));
    }
    for (size_t i = 0; i < holding->rail_count; i++)
        tree_add(&rails, rail_node(holding->policy, &holding->rails[i], arena));
    tree_put(&map, "rails", tree_list_node(&rails));
    tree_put_count(&map, "otherRails", holding->other_rails);
    return tree_map_node(&map);
}

static struct node object_node(const struct object_holding *holding, struct arena *arena)
{
    struct tree_map map = {.arena = arena};
    struct tree_list policies = {.arena = arena};
    const struct object *object = holding->object;
    tree_put_text(&map, "apiVersion", object->api_version);
    tree_put_text(&map, "kind", object->kind_name);
    tree_put_text(&map, "namespace", object->namespace);
    tree_put_text(&map, "name", object_display_name(object, arena));
    tree_put_text(&map, "matchedName", holding->root_name);
    for (size_t i = 0; i < holding->policy_count; i++)
        tree_add(&policies, policy_node(&holding->policies[i], arena));
    tree_put(&map, "policies", tree_list_node(&policies));
    return tree_map_node(&map);
}

static bool write_json(const struct object_holding *holdings, size_t count,
                       const struct problems *errors, struct arena *arena, FILE *out,
                       struct error *error)
{
    struct tree_map root = {.arena = arena};
    struct tree_list objects = {.arena = arena};
    for (size_t i = 0; i < count; i++)
        tree_add(&objects, object_node(&holdings[i], arena));
    tree_put_string(&root, "schema", "taffrail.dev/policy-explain/v1");
    tree_put(&root, "objects", tree_list_node(&objects));
    tree_put(&root, "errors", tree_errors(errors, arena));
    const struct node node = tree_map_node(&root);
    return tree_write(&node, arena, out, error);
}

/* ---- formats ---- */

const char *const report_holding_format_names[] = {"text", "json", NULL};

bool report_holding_write(int format, const struct object_holding *holdings, size_t count,
                          const struct problems *errors, const struct report_style *style,
                          struct arena *arena, FILE *out, struct error *error)
{
    if (format == 1)
        return write_json(holdings, count, errors, arena, out, error);
    write_text(holdings, count, style, arena, out);
    return true;
}
