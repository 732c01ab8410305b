#include "catalog/catalog.h"
#include "catalog/label.h"
#include "catalog/zones.h"
#include "kube/expression.h"
#include "kube/snapshot.h"
#include "policy/rails/node_labels.h"
#include "solver/well_known.h"

#define FAMILY "karpenter.k8s.aws/instance-family"
#define CATEGORY "karpenter.k8s.aws/instance-category"

/* ---- labels with few values, the same everywhere ---- */

static bool judge_closed(struct label_inquiry *check, const struct expression_value *value,
                         struct text key)
{
    const struct text *values;
    size_t count = label_values_all(key, &values);
    if (count == 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (text_equal(value->text, values[i]))
            return true;
    struct label_note *note = label_note(
        check, SEVERITY_RAIL, expression_value_field(value, check->call->arena), value->text);
    label_note_allow(note, values, count, "use one of the allowed values");
    struct arena *arena = check->call->arena;
    struct text meant = label_value_meant(check->settings->catalog, key, value->text, arena);
    if (meant.size > 0) {
        note->draft.fix = arena_printf(arena, "replace with %.*s", TEXT_ARGS(meant));
        note->draft.replacement = meant;
        note->draft.advise = NULL;
    }
    return true;
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

static void judge_zone(struct label_inquiry *check, const struct expression_value *value,
                       enum zone_key key)
{
    struct arena *arena = check->call->arena;
    const struct zones *zones = zones_of_cluster(check, key);
    if ((!zones->complete && !zones->from_node) || zones_have(zones, value->text))
        return;
    struct label_note *note =
        label_note(check, zones->complete ? SEVERITY_RAIL : SEVERITY_WARN,
                   expression_value_field(value, check->call->arena), value->text);
    note->draft.statement = arena_printf(
        arena, "found \"%.*s\", a zone that no visible Node, NodePool or EC2NodeClass names",
        TEXT_ARGS(value->text));
    label_note_allow(note, zones->items, zones->count, "name a zone of this cluster");
}

/* A zone's name begins with its region's. */
static void judge_region(struct label_inquiry *check, const struct expression_value *value)
{
    const struct zones *zones = zones_of_cluster(check, ZONE_KEY_NAME);
    if (zones->count == 0 || !zones->complete)
        return;
    for (size_t i = 0; i < zones->count; i++)
        if (text_starts_with(zones->items[i], value->text))
            return;
    struct label_note *note = label_note(
        check, SEVERITY_WARN, expression_value_field(value, check->call->arena), value->text);
    note->draft.statement = arena_printf(
        check->call->arena, "found \"%.*s\"; the zones of this cluster (%.*s, ...) are not there",
        TEXT_ARGS(value->text), TEXT_ARGS(zones->items[0]));
    note->draft.fix = TEXT("name the region of this cluster, or leave the label out");
}

static bool some_node_carries(const struct snapshot *snapshot, struct text key, struct text value)
{
    const struct text_map *values = snapshot_node_values(snapshot, key);
    return values != NULL && text_map_has(values, value);
}

/* Karpenter buys no node for a host's name. */
static void judge_host(struct label_inquiry *check, const struct expression_value *value)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    struct arena *arena = check->call->arena;
    if (snapshot_find(snapshot, KIND_NODE, TEXT(""), value->text) != NULL ||
        some_node_carries(snapshot, TEXT(LABEL_HOSTNAME), value->text))
        return;
    bool unseen = snapshot_count(snapshot, KIND_NODE) == 0 ||
                  !world_sees(check->call->world, KIND_BIT(KIND_NODE));
    struct label_note *note =
        label_note(check, unseen ? SEVERITY_UNDECIDED : SEVERITY_RAIL,
                   expression_value_field(value, check->call->arena), value->text);
    if (unseen) {
        note->draft.statement =
            arena_printf(arena, "found \"%.*s\", the name of one node; no Node is visible",
                         TEXT_ARGS(value->text));
        note->draft.fix = TEXT("make the Nodes visible (--state DIR)");
    } else {
        note->draft.statement =
            arena_printf(arena, "found \"%.*s\", a node that is not there; none is bought by name",
                         TEXT_ARGS(value->text));
        note->draft.fix = TEXT("select nodes by what they are, not by name");
    }
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
    return check->pools_visible || (begins_with_family(check->settings->catalog, value) &&
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
    draft->fix = arena_printf(arena, "did you mean %.*s?", TEXT_ARGS(meant));
    draft->replacement = meant;
}

static void judge_catalog_value(struct label_inquiry *check, const struct expression_value *value,
                                struct text key, bool some)
{
    const struct catalog *catalog = check->settings->catalog;
    struct arena *arena = check->call->arena;
    if (catalog_has_value(catalog, key, value->text))
        return;
    const char *other_key = right_key(catalog, key, value->text);
    bool certain = other_key != NULL || !catalog_is_builtin(catalog) ||
                   text_starts_with(value->text, TEXT("ml.")) ||
                   is_malformed(check, key, value->text);
    struct label_note *note =
        label_note(check, certain && !some ? SEVERITY_RAIL : SEVERITY_WARN,
                   expression_value_field(value, check->call->arena), value->text);
    note->draft.statement =
        certain ? arena_printf(arena, "found \"%.*s\", which no node has as %.*s",
                               TEXT_ARGS(value->text), TEXT_ARGS(key))
                : arena_printf(arena, "found \"%.*s\", which the catalogue does not know",
                               TEXT_ARGS(value->text));
    if (other_key != NULL) {
        note->draft.fix = arena_printf(arena, "name it under %s", other_key);
        return;
    }
    struct label_meant *label = ARENA_NEW(arena, struct label_meant);
    *label = (struct label_meant){catalog, key};
    note->draft.fix = TEXT("check the name: taffrail catalog show");
    note->draft.advise = advise_meant;
    note->draft.adviser = label;
}

/* ---- the whole ---- */

static void judge_value(struct label_inquiry *check, const struct expression_value *value,
                        struct text key, bool some)
{
    if (judge_closed(check, value, key))
        return;
    if (text_is(key, LABEL_ZONE))
        judge_zone(check, value, ZONE_KEY_NAME);
    else if (text_is(key, "topology.k8s.aws/zone-id"))
        judge_zone(check, value, ZONE_KEY_ID);
    else if (text_is(key, LABEL_REGION))
        judge_region(check, value);
    else if (text_is(key, LABEL_HOSTNAME))
        judge_host(check, value);
    else if (catalog_has_key(check->settings->catalog, key) && !check->other_cloud)
        judge_catalog_value(check, value, key, some);
}

void label_judge_known_values(struct label_inquiry *check, const struct expression *expression,
                              struct text key)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    bool some = false;
    for (size_t i = 0; i < expression->value_count; i++)
        some = some || catalog_has_value(check->settings->catalog, key, expression->values[i].text);
    for (size_t i = 0; i < expression->value_count; i++) {
        const struct expression_value *value = &expression->values[i];
        size_t count = check->notes.count;
        judge_value(check, value, key, some);
        if (check->notes.count > count && some_node_carries(snapshot, key, value->text)) {
            check->notes.count = count;
            check->by_node = true;
        }
    }
}
