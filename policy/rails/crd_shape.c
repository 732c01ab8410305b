/* Holds objects against the fields that their APIs have. */
#include "policy/rails/crd_shape.h"

enum { SHAPE_FIELDS_MAX = 160 };

const struct crd_shape *crd_shape_field(const struct crd_shape *shape, struct text name)
{
    size_t first = 0;
    size_t end = shape->field_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = text_compare(name, shape->fields[middle].name);
        if (order == 0)
            return &shape->fields[middle];
        if (order < 0)
            end = middle;
        else
            first = middle + 1;
    }
    return NULL;
}

const struct crd_shape *crd_shape_at(const struct crd_shape *shape, const char *path)
{
    struct text rest = text_of(path), name;
    while (text_split(rest, '.', &name, &rest))
        shape = crd_shape_field(shape, name);
    return crd_shape_field(shape, rest);
}

/* ---- values ---- */

bool crd_shape_fits(const struct crd_shape *shape, const struct node *node)
{
    static const enum node_kind kinds[] = {
        [SHAPE_STRING] = NODE_STRING,  [SHAPE_BOOLEAN] = NODE_BOOL, [SHAPE_STRING_LIST] = NODE_LIST,
        [SHAPE_STRING_MAP] = NODE_MAP, [SHAPE_LIST] = NODE_LIST,    [SHAPE_MAP] = NODE_MAP,
    };
    int64_t number;
    if (shape->type == SHAPE_ANY)
        return true;
    if (shape->type == SHAPE_INTEGER)
        return node_integer(node, &number);
    if (!node_is(node, kinds[shape->type]))
        return false;
    bool of_strings = shape->type == SHAPE_STRING_LIST || shape->type == SHAPE_STRING_MAP;
    for (size_t i = 0; of_strings && i < node_count(node); i++) {
        const struct node *value =
            node_is(node, NODE_MAP) ? &node->members[i].value : node_item(node, i);
        if (!node_is(value, NODE_STRING) && !node_is(value, NODE_NULL))
            return false;
    }
    return true;
}

bool crd_shape_has_choice(const struct crd_shape *shape, struct text value)
{
    return texts_have(shape->choices, shape->choice_count, value);
}

void crd_shape_judge_quotes(struct rail_call *call, const struct field *field)
{
    struct text found = node_text(field->node);
    if (node_is(field->node, NODE_NUMBER))
        report(call, SEVERITY_RAIL, field,
               arena_printf(call->arena, "Put it in quotes: \"%.*s\".", TEXT_ARGS(found)),
               "The API server takes %.*s as a string, and %.*s is a number.",
               TEXT_ARGS(field->key), TEXT_ARGS(found));
}

/* ---- names ---- */

struct names {
    struct rail_call *call;
    const struct crd_shape *root;
    const struct crd_shape_words *words;
};

/* Many things have a field of such a name: it does not tell where it belongs. */
static bool is_of_anything(struct text name)
{
    return TEXT_IS_ONE_OF(name, "enabled", "id", "kind", "name");
}

/* The path of a map below that has a field of that name, lists aside; empty when none has. */
static struct text home_of(const struct crd_shape *shape, struct text name, struct arena *arena)
{
    for (size_t i = 0; i < shape->field_count; i++) {
        const struct crd_shape *map = &shape->fields[i];
        if (map->type != SHAPE_MAP)
            continue;
        if (crd_shape_field(map, name) != NULL)
            return map->name;
        struct text home = home_of(map, name, arena);
        if (home.size > 0)
            return arena_printf(arena, "%.*s.%.*s", TEXT_ARGS(map->name), TEXT_ARGS(home));
    }
    return TEXT("");
}

/* The fields of a shape that a name of some length may be a misspelling of: few of a hundred. */
struct candidates {
    bool found;
    size_t name_size;
    size_t count;
    struct text fields[SHAPE_FIELDS_MAX];
};

static void find_candidates(struct candidates *candidates, const struct crd_shape *shape,
                            size_t name_size)
{
    if (candidates->found && candidates->name_size == name_size)
        return;
    candidates->found = true;
    candidates->name_size = name_size;
    candidates->count = 0;
    for (size_t i = 0; i < shape->field_count && candidates->count < SHAPE_FIELDS_MAX; i++) {
        struct text field = shape->fields[i].name;
        size_t difference =
            field.size > name_size ? field.size - name_size : name_size - field.size;
        if (shape->fields[i].type != SHAPE_OWNED && difference <= TYPO_EDITS)
            candidates->fields[candidates->count++] = field;
    }
}

/* The field of the shape that is meant; empty when none is near. */
static struct text near_field(const struct candidates *candidates, struct text name)
{
    size_t nearest = text_nearest(name, candidates->fields, candidates->count, TYPO_EDITS);
    return nearest < candidates->count ? candidates->fields[nearest] : TEXT("");
}

static struct text fix_of_moved(struct text fix, const struct node *value, struct arena *arena)
{
    struct text group = TEXT("karpenter.k8s.aws");
    if (!text_ends_with(fix, TEXT(" ")))
        return fix;
    text_split(node_string(value), '/', &group, NULL);
    return arena_printf(arena, "%.*s%.*s.", TEXT_ARGS(fix), TEXT_ARGS(group));
}

/* What to do about a name that is unknown; empty when nothing tells what was meant. */
static struct text fix_of(const struct names *names, const struct candidates *candidates,
                          const struct member *member)
{
    struct arena *arena = names->call->arena;
    struct text name = member_key(member);
    struct text near = near_field(candidates, name);
    if (near.size > 0)
        return arena_printf(arena, "Rename it to %.*s.", TEXT_ARGS(near));
    struct text home = is_of_anything(name) ? TEXT("") : home_of(names->root, name, arena);
    if (home.size > 0)
        return arena_printf(arena, "Move it to %.*s.%.*s.", TEXT_ARGS(home), TEXT_ARGS(name));
    const struct moved_field *moved = names->words->moved;
    for (; moved != NULL && moved->name != NULL; moved++)
        if (text_is(name, moved->name))
            return fix_of_moved(text_of(moved->fix), &member->value, arena);
    return TEXT("");
}

/* A copy in the arena, with the fields above it: the walk has them on its stack. */
static const struct field *keep(struct arena *arena, const struct field *field)
{
    if (field == NULL)
        return NULL;
    struct field *kept = ARENA_NEW(arena, struct field);
    *kept = *field;
    kept->parent = keep(arena, field->parent);
    return kept;
}

static void report_unknown(const struct names *names, const struct candidates *candidates,
                           const struct field *kept_map, size_t index)
{
    const struct crd_shape_words *words = names->words;
    const struct member *member = &kept_map->node->members[index];
    struct text name = member_key(member);
    struct text fix = fix_of(names, candidates, member);
    bool may_exist = fix.size == 0;
    report_found(names->call, may_exist ? SEVERITY_WARN : SEVERITY_RAIL,
                 field_child(names->call->arena, kept_map, NODE_MAP, index), name,
                 may_exist ? TEXT("Remove it.") : fix, "%s \"%.*s\" here%s. %s", words->lacks,
                 TEXT_ARGS(name), may_exist ? ", unless your Karpenter is newer" : "",
                 words->effect);
}

static void judge_names(const struct names *names, const struct crd_shape *shape,
                        const struct field *map)
{
    struct candidates candidates;
    const struct field *kept = NULL;
    candidates.found = false;
    for (size_t i = 0; i < node_count(map->node); i++) {
        const struct member *member = &map->node->members[i];
        struct text name = member_key(member);
        bool counts = !names->words->null_is_nothing || node_is_given(&member->value);
        if (!counts || crd_shape_field(shape, name) != NULL)
            continue;
        if (kept == NULL)
            kept = keep(names->call->arena, map);
        find_candidates(&candidates, shape, name.size);
        report_unknown(names, &candidates, kept, i);
    }
}

static void judge_below(const struct names *names, const struct crd_shape *shape,
                        const struct field *field);

static void judge_map(const struct names *names, const struct crd_shape *shape,
                      const struct field *map)
{
    if (!node_is(map->node, NODE_MAP) || node_count(map->node) == 0)
        return;
    judge_names(names, shape, map);
    for (size_t i = 0; i < shape->field_count; i++) {
        const struct crd_shape *below = &shape->fields[i];
        if (below->fields != NULL)
            judge_below(names, below,
                        &(struct field){.parent = map,
                                        .key = below->name,
                                        .node = node_member(map->node, below->name)});
    }
}

/* A map, or each of a list of maps. */
static void judge_below(const struct names *names, const struct crd_shape *shape,
                        const struct field *field)
{
    bool list = shape->type == SHAPE_LIST && node_is(field->node, NODE_LIST);
    if (shape->type == SHAPE_MAP)
        judge_map(names, shape, field);
    for (size_t i = 0; list && i < node_count(field->node); i++)
        judge_map(names, shape,
                  &(struct field){.parent = field, .index = i, .node = node_item(field->node, i)});
}

void crd_shape_judge_names(struct rail_call *call, const struct crd_shape *shape,
                           const struct field *map, const struct crd_shape_words *words)
{
    judge_map(&(struct names){call, shape, words}, shape, map);
}
