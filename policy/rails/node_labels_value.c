/* What node-labels says of values. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "catalog/zones.h"
#include "kube/expression.h"
#include "kube/snapshot.h"
#include "policy/rails/instance_list.h"
#include "policy/rails/node_labels.h"
#include "solver/well_known.h"

#define FAMILY "karpenter.k8s.aws/instance-family"
#define CATEGORY "karpenter.k8s.aws/instance-category"

/* A requirement whose key is well-known. */
struct asked {
    const struct expression *expression;
    struct text key; /* canonical */
    uint32_t number; /* of the key in the catalogue, SOLVER_NONE: it has none */
    bool some;       /* a value of it is one that the catalogue knows */
};

/* ---- labels with few values, the same everywhere ---- */

static void word_closed(struct label_inquiry *check, const struct label_note *note,
                        struct draft *draft)
{
    struct text key = expression_canonical_key(note->expression);
    const struct text *values;
    size_t count = label_values_all(key, &values);
    struct arena *arena = check->call->arena;
    draft->statement = arena_printf(arena, "No node has %.*s=%.*s%s", TEXT_ARGS(key),
                                    TEXT_ARGS(draft->found), label_consequence(check, note));
    draft->fix =
        arena_printf(arena, "Use %.*s.", TEXT_ARGS(label_choices(values, count, "values", arena)));
    label_allow(draft, values, count);
    draft->meant = label_value_meant(check->settings->catalog, key, note->value->text, arena);
}

static void word_other_architecture(struct label_inquiry *check, const struct label_note *note,
                                    struct draft *draft)
{
    draft->statement =
        arena_printf(check->call->arena, "No Node is visible that has the architecture %.*s.",
                     TEXT_ARGS(note->value->text));
    draft->fix = advice_to_show(check->call, KIND_BIT(KIND_NODE), ", or use amd64 or arm64");
}

static void judge_closed(struct label_inquiry *check, const struct asked *asked,
                         const struct expression_value *value)
{
    const struct text *values;
    size_t count = label_values_all(asked->key, &values);
    if (texts_have(values, count, value->text))
        return;
    bool other = text_is(asked->key, LABEL_ARCH) && label_value_is_architecture(value->text);
    if (other && asked->some) /* images are built for many */
        return;
    if (other && check->nodes_unseen && !text_is(value->text, "arm"))
        label_note(check, SEVERITY_UNDECIDED, asked->expression, value, word_other_architecture);
    else
        label_note(check, asked->some ? SEVERITY_WARN : SEVERITY_RAIL, asked->expression, value,
                   word_closed)
            ->some = asked->some;
}

/* ---- what only this cluster knows ---- */

static const struct zones *zones_of_cluster(struct label_inquiry *check, enum zone_key key)
{
    const struct world *world = check->call->world;
    if (!check->zones_are_read[key])
        zones_read(world->snapshot, world->catalog, key, check->call->arena, &check->zones[key]);
    check->zones_are_read[key] = true;
    return &check->zones[key];
}

static void word_zone(struct label_inquiry *check, const struct label_note *note,
                      struct draft *draft)
{
    const struct zones *zones = zones_of_cluster(check, zone_key_of(note->expression->key));
    struct arena *arena = check->call->arena;
    draft->statement =
        zones->complete
            ? arena_printf(arena, "This cluster has no zone %.*s%s", TEXT_ARGS(draft->found),
                           label_consequence(check, note))
            : arena_printf(arena, "No visible Node is in zone %.*s.", TEXT_ARGS(draft->found));
    draft->fix = arena_printf(arena, "Use %.*s.",
                              TEXT_ARGS(label_choices(zones->items, zones->count, "zones", arena)));
    label_allow(draft, zones->items, zones->count);
}

static void judge_zone(struct label_inquiry *check, const struct asked *asked,
                       const struct expression_value *value)
{
    const struct zones *zones = zones_of_cluster(check, zone_key_of(asked->key));
    if ((zones->complete || zones->from_node) && !zones_have(zones, value->text))
        label_note(check, zones->complete ? SEVERITY_RAIL : SEVERITY_WARN, asked->expression, value,
                   word_zone);
}

static void word_region(struct label_inquiry *check, const struct label_note *note,
                        struct draft *draft)
{
    const struct zones *zones = zones_of_cluster(check, ZONE_KEY_NAME);
    draft->statement = arena_printf(
        check->call->arena, "The zones of this cluster, such as %.*s, are not in region %.*s.",
        TEXT_ARGS(zones->items[0]), TEXT_ARGS(note->value->text));
    draft->fix = TEXT("Name the region of this cluster, or remove the label.");
}

/* A zone's name begins with its region's. */
static void judge_region(struct label_inquiry *check, const struct asked *asked,
                         const struct expression_value *value)
{
    const struct zones *zones = zones_of_cluster(check, ZONE_KEY_NAME);
    if (zones->count == 0 || !zones->complete)
        return;
    for (size_t i = 0; i < zones->count; i++)
        if (text_starts_with(zones->items[i], value->text))
            return;
    label_note(check, SEVERITY_WARN, asked->expression, value, word_region);
}

static bool some_node_carries(const struct snapshot *snapshot, struct text key, struct text value)
{
    const struct text_map *values = snapshot_node_values(snapshot, key);
    return values != NULL && text_map_has(values, value);
}

static void word_unseen_host(struct label_inquiry *check, const struct label_note *note,
                             struct draft *draft)
{
    draft->statement = arena_printf(check->call->arena,
                                    "No Node is visible, so whether one has the name %.*s is not "
                                    "known.",
                                    TEXT_ARGS(note->value->text));
    draft->fix = advice_to_show(check->call, KIND_BIT(KIND_NODE), "");
}

static void word_host(struct label_inquiry *check, const struct label_note *note,
                      struct draft *draft)
{
    draft->statement =
        arena_printf(check->call->arena, "There is no node %.*s, and Karpenter buys none by name%s",
                     TEXT_ARGS(note->value->text), label_consequence(check, note));
    draft->fix = TEXT("Select nodes by what they are, such as their zone, not by name.");
}

/* Karpenter buys no node for a host's name. */
static void judge_host(struct label_inquiry *check, const struct asked *asked,
                       const struct expression_value *value)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    if (snapshot_find(snapshot, KIND_NODE, TEXT(""), value->text) != NULL ||
        some_node_carries(snapshot, TEXT(LABEL_HOSTNAME), value->text))
        return;
    if (snapshot_count(snapshot, KIND_NODE) == 0 ||
        !world_sees(check->call->world, KIND_BIT(KIND_NODE)))
        label_note(check, SEVERITY_UNDECIDED, asked->expression, value, word_unseen_host);
    else
        label_note(check, SEVERITY_RAIL, asked->expression, value, word_host);
}

/* ---- what the catalogue knows ---- */

static bool has_digit(struct text t)
{
    for (size_t i = 0; i < t.size; i++)
        if (t.data[i] >= '0' && t.data[i] <= '9')
            return true;
    return false;
}

/* The label that a value belongs under: a family given as a category, a type as a family. */
static const char *right_key(const struct catalog *catalog, struct text key, struct text value)
{
    static const char *const related[] = {CATEGORY, FAMILY, LABEL_INSTANCE_TYPE};
    bool is_related = false;
    for (size_t i = 0; i < COUNT_OF(related); i++)
        is_related = is_related || text_is(key, related[i]);
    for (size_t i = 0; is_related && i < COUNT_OF(related); i++)
        if (catalog_has_value(catalog, text_of(related[i]), value))
            return related[i];
    return NULL;
}

/* "trn1-32xl": a family EC2 has, and no dot; other clouds' names have dashes, too. */
static bool begins_with_family(const struct catalog *catalog, struct text value)
{
    struct text family = value;
    text_split(value, '-', &family, NULL);
    return catalog_has_value(catalog, TEXT(FAMILY), family);
}

/* A catalogue holds a thousand types: of more values than anybody writes each counts as near one.
 */
static bool is_near_a_type(struct label_inquiry *check, struct text key, struct text value)
{
    enum { LOOKED_UP_MAX = 500 };
    return ++check->looked_up > LOOKED_UP_MAX ||
           label_value_meant(check->settings->catalog, key, value, check->call->arena).size > 0;
}

/* Whether a value can never be right, however new the catalogue. */
static bool is_malformed(struct label_inquiry *check, struct text key, struct text value)
{
    struct text family, size, category;
    uint32_t generation;
    if (text_is(key, CATEGORY))
        return has_digit(value);
    if (text_is(key, FAMILY))
        return text_split(value, '.', NULL, NULL);
    if (!text_is(key, LABEL_INSTANCE_TYPE) ||
        instance_name_parse(value, &family, &size, &category, &generation))
        return false;
    return label_sees_own_cloud(check) || (begins_with_family(check->settings->catalog, value) &&
                                           is_near_a_type(check, key, value));
}

/* The label whose value was meant to be another. */
struct label_meant {
    const struct catalog *catalog;
    struct text key;
};

static void advise_meant(struct draft *draft, struct arena *arena)
{
    const struct label_meant *label = draft->adviser;
    struct text meant = label_value_meant(label->catalog, label->key, draft->found, arena);
    if (meant.size == 0)
        return;
    draft->fix = arena_printf(arena, "Use %.*s if that is meant.", TEXT_ARGS(meant));
    draft->replacement = meant;
}

/* No other catalogue would know it either. */
static bool is_certain(struct label_inquiry *check, struct text key, struct text value)
{
    const struct catalog *catalog = check->settings->catalog;
    return !catalog_is_builtin(catalog) || right_key(catalog, key, value) != NULL ||
           is_malformed(check, key, value);
}

static void word_catalog_value(struct label_inquiry *check, const struct label_note *note,
                               struct draft *draft)
{
    struct arena *arena = check->call->arena;
    const struct catalog *catalog = check->settings->catalog;
    struct text key = expression_canonical_key(note->expression);
    struct text value = note->value->text;
    bool certain = note->severity == SEVERITY_RAIL || (note->some && is_certain(check, key, value));
    draft->statement =
        certain ? arena_printf(arena, "No node has %.*s=%.*s%s", TEXT_ARGS(key), TEXT_ARGS(value),
                               label_consequence(check, note))
                : arena_printf(arena, "The catalogue has no instance type with %.*s=%.*s.",
                               TEXT_ARGS(key), TEXT_ARGS(value));
    const char *other_key = right_key(catalog, key, value);
    if (other_key != NULL) {
        draft->fix = arena_printf(arena, "Write %s: %.*s.", other_key, TEXT_ARGS(value));
        return;
    }
    struct label_meant *label = ARENA_NEW(arena, struct label_meant);
    *label = (struct label_meant){catalog, key};
    draft->fix = TEXT(CHECK_NAME_IN_CATALOG);
    draft->advise = advise_meant;
    draft->adviser = label;
}

static bool is_in_catalog(const struct label_inquiry *check, const struct asked *asked,
                          struct text value)
{
    return asked->number != SOLVER_NONE &&
           solver_names_find_value(catalog_names(check->settings->catalog), asked->number,
                                   value.data, value.size) != SOLVER_NONE;
}

/* SageMaker HyperPod's nodes have their type as ml.g5.8xlarge. */
static bool is_of_hyperpod(const struct label_inquiry *check, const struct asked *asked,
                           struct text value)
{
    return text_is(asked->key, LABEL_INSTANCE_TYPE) && text_starts_with(value, TEXT("ml.")) &&
           is_in_catalog(check, asked, (struct text){value.data + 3, value.size - 3});
}

static void judge_catalog_value(struct label_inquiry *check, const struct asked *asked,
                                const struct expression_value *value)
{
    if (is_in_catalog(check, asked, value->text))
        return;
    if (is_of_hyperpod(check, asked, value->text)) {
        check->by_node = true;
        return;
    }
    bool impossible = !asked->some && is_certain(check, asked->key, value->text);
    label_note(check, impossible ? SEVERITY_RAIL : SEVERITY_WARN, asked->expression, value,
               word_catalog_value)
        ->some = asked->some;
}

/* ---- the whole ---- */

typedef void judge_value(struct label_inquiry *check, const struct asked *asked,
                         const struct expression_value *value);

/* NULL: no value of the key is wrong. */
static judge_value *judge_of(struct label_inquiry *check, struct text key)
{
    const struct text *all;
    if (label_values_all(key, &all) > 0)
        return judge_closed;
    if (text_is(key, LABEL_ZONE) || text_is(key, LABEL_ZONE_ID))
        return judge_zone;
    if (text_is(key, LABEL_REGION))
        return judge_region;
    if (text_is(key, LABEL_HOSTNAME))
        return judge_host;
    bool known = catalog_has_key(check->settings->catalog, key) &&
                 !(check->types_told && dimension_of(key) != DIMENSION_COUNT) &&
                 !label_sees_other_cloud(check);
    return known ? judge_catalog_value : NULL;
}

static bool is_possible(const struct label_inquiry *check, const struct asked *asked,
                        struct text value)
{
    const struct text *all;
    size_t count = label_values_all(asked->key, &all);
    return texts_have(all, count, value) || is_in_catalog(check, asked, value);
}

void label_judge_known_values(struct label_inquiry *check, const struct expression *expression)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    struct asked asked = {.expression = expression, .key = expression_canonical_key(expression)};
    judge_value *judge = judge_of(check, asked.key);
    if (judge == NULL)
        return;
    asked.number = solver_names_find_key(catalog_names(check->settings->catalog), asked.key.data,
                                         asked.key.size);
    for (size_t i = 0; !asked.some && i < expression->value_count; i++)
        asked.some = is_possible(check, &asked, expression->values[i].text);
    for (size_t i = 0; i < expression->value_count; i++) {
        const struct expression_value *value = &expression->values[i];
        size_t count = check->notes.count;
        judge(check, &asked, value);
        if (check->notes.count > count && some_node_carries(snapshot, asked.key, value->text)) {
            check->notes.count = count;
            check->by_node = true;
        }
    }
}
