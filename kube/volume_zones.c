/* The zones of a volume: from its node affinity, its labels, its class. */
#include "kube/volume_zones.h"
#include "kube/expression.h"

#include <string.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "kube/volume.h"
#include "kube/zone.h"
#include "solver/well_known.h"

struct terms {
    struct solver_expressions *items;
    size_t count, capacity;
};
struct expression_list {
    struct solver_expression *items;
    size_t count, capacity;
};

/* ---- the zone keys of drivers, as Karpenter and nodes spell them ---- */

/* Replaces zone ids by names when every one of them is known; otherwise they stay. */
static bool name_zones(const struct snapshot *snapshot, struct solver_expression *expression,
                       struct arena *arena)
{
    const char **names = ARENA_ARRAY(arena, expression->value_count, const char *);
    for (size_t i = 0; i < expression->value_count; i++) {
        struct text zone = zone_of_id(snapshot, text_of(expression->values[i]));
        if (zone.size == 0)
            return false;
        names[i] = terminated(arena, zone);
    }
    expression->values = names;
    return true;
}

/* Azure's driver writes "" for a disk without a zone. */
static bool says_no_zone(const struct solver_expression *expression)
{
    if (expression->op != SOLVER_IN)
        return false;
    for (size_t i = 0; i < expression->value_count; i++)
        if (expression->values[i][0] == '\0')
            return true;
    return false;
}

static void add_expression(const struct snapshot *snapshot, struct solver_expression expression,
                           struct arena *arena, struct expression_list *expressions)
{
    enum zone_key means = zone_key_of(text_of(expression.key));
    bool has_values = expression.op == SOLVER_IN || expression.op == SOLVER_NOT_IN;
    if (means != ZONE_KEY_NONE && says_no_zone(&expression))
        return;
    if (means == ZONE_KEY_NAME ||
        (means == ZONE_KEY_ID && has_values && name_zones(snapshot, &expression, arena)))
        expression.key = LABEL_ZONE;
    *LIST_PUSH(arena, expressions) = expression;
}

/* ---- the terms of a PersistentVolume ---- */

static const char *const zone_labels[] = {LABEL_ZONE, "failure-domain.beta.kubernetes.io/zone"};

static bool is_local(const struct node *volume_spec)
{
    return node_is(node_get(volume_spec, "local"), NODE_MAP) ||
           node_is(node_get(volume_spec, "hostPath"), NODE_MAP);
}

/* A zone label "a__b" means both zones. kube-scheduler checks these labels besides the affinity. */
static void add_zone_labels(const struct snapshot *snapshot, const struct object *volume,
                            struct arena *arena, struct expression_list *expressions)
{
    for (size_t i = 0; i < COUNT_OF(zone_labels); i++) {
        struct text rest = node_string(node_get(volume->labels, zone_labels[i]));
        if (rest.size == 0)
            continue;
        const char **values = ARENA_ARRAY(arena, rest.size, const char *);
        size_t count = 0;
        for (;;) {
            const char *end = memmem(rest.data, rest.size, "__", 2);
            size_t size = end == NULL ? rest.size : (size_t)(end - rest.data);
            values[count++] = terminated(arena, (struct text){rest.data, size});
            if (end == NULL)
                break;
            rest = (struct text){end + 2, rest.size - size - 2};
        }
        add_expression(
            snapshot,
            (struct solver_expression){
                .key = LABEL_ZONE, .op = SOLVER_IN, .values = values, .value_count = count},
            arena, expressions);
    }
}

static bool read_affinity_term(const struct snapshot *snapshot, const struct object *volume,
                               const struct field *term, struct arena *arena, struct terms *terms)
{
    struct expression_list expressions = {0};
    struct expressions read = {0};
    struct solver_expressions converted;
    expressions_add_list(&read, field_get(arena, term, "matchExpressions"), arena);
    if (read.count == 0)
        return true;
    if (!expressions_convert(&read, arena, &converted))
        return false;
    for (size_t i = 0; i < converted.count; i++)
        add_expression(snapshot, converted.items[i], arena, &expressions);
    add_zone_labels(snapshot, volume, arena, &expressions);
    *LIST_PUSH(arena, terms) = (struct solver_expressions){expressions.items, expressions.count};
    return true;
}

bool terms_are_few(const struct node *terms, const char *key)
{
    enum { MOST = 256 };
    size_t count = node_count(terms);
    FOR_ITEMS(term, terms) {
        const struct node *list = node_get(term, key);
        FOR_ITEMS(expression, list)
            count += node_count(node_get(expression, "values"));
    }
    return count <= MOST;
}

bool volume_terms_read(const struct snapshot *snapshot, const struct object *volume,
                       struct arena *arena, struct solver_volume *result)
{
    struct terms terms = {0};
    const struct field *list =
        field_at(arena, volume->root, "spec.nodeAffinity.required.nodeSelectorTerms");
    if (!terms_are_few(list->node, "matchExpressions"))
        return false;
    FOR_FIELDS(item, arena, list)
        if (!read_affinity_term(snapshot, volume, item, arena, &terms))
            return false;
    if (terms.count == 0) {
        struct expression_list expressions = {0};
        add_zone_labels(snapshot, volume, arena, &expressions);
        if (expressions.count > 0)
            *LIST_PUSH(arena, &terms) =
                (struct solver_expressions){expressions.items, expressions.count};
    }
    *result = (struct solver_volume){terms.items, terms.count,
                                     is_local(node_get(volume->root->node, "spec"))};
    return true;
}

/* ---- the zones of a volume ---- */

/* False when the term says none by the operator In. */
static bool add_term(const struct solver_expressions *term, struct arena *arena,
                     struct zones *zones)
{
    struct zones of_term = {0};
    bool named = false;
    for (size_t i = 0; i < term->count; i++) {
        const struct solver_expression *expression = &term->items[i];
        if (strcmp(expression->key, LABEL_ZONE) != 0 || expression->op != SOLVER_IN)
            continue;
        struct zones values = {0};
        for (size_t j = 0; j < expression->value_count; j++)
            zones_add(&values, text_of(expression->values[j]), arena);
        of_term = named ? zones_intersect(&of_term, &values, arena) : values;
        named = true;
    }
    for (size_t i = 0; i < of_term.count; i++)
        zones_add(zones, of_term.items[i], arena);
    return named;
}

bool volume_terms_add_zones(const struct solver_volume *terms, struct arena *arena,
                            struct zones *zones)
{
    for (size_t i = 0; i < terms->alternative_count; i++)
        if (!add_term(&terms->alternatives[i], arena, zones))
            return false;
    return terms->alternative_count > 0;
}

static bool is_same_zone(struct text value, struct text *zone)
{
    if (zone->size == 0)
        *zone = value;
    return value.size > 0 && text_equal(value, *zone);
}

bool volume_is_in_one_zone(const struct object *volume, struct text *zone)
{
    const struct node *terms =
        node_at(volume->root->node, "spec.nodeAffinity.required.nodeSelectorTerms");
    *zone = TEXT("");
    if (!node_is(terms, NODE_LIST) || node_count(terms) != 1)
        return false;
    const struct node *list = node_get(node_item(terms, 0), "matchExpressions");
    FOR_ITEMS(item, list) {
        const struct node *values = node_get(item, "values");
        struct text key = node_string(node_get(item, "key"));
        enum zone_key means = zone_key_of(key);
        if (key.size == 0 || means == ZONE_KEY_ID ||
            !text_is(node_string(node_get(item, "operator")), "In") ||
            !node_is(values, NODE_LIST) || node_count(values) != 1 ||
            !node_is(node_item(values, 0), NODE_STRING) ||
            (means == ZONE_KEY_NAME && !is_same_zone(node_string(node_item(values, 0)), zone)))
            return false;
    }
    for (size_t i = 0; zone->size > 0 && i < COUNT_OF(zone_labels); i++) {
        struct text label = node_string(node_get(volume->labels, zone_labels[i]));
        if (label.size > 0 && !text_equal(label, *zone))
            return false;
    }
    return zone->size > 0;
}

/* Any other key restricts a volume to a zone, or to nodes, which are in one. */
static bool leaves_zones_open(struct text key)
{
    static const char *const keys[] = {LABEL_REGION, "failure-domain.beta.kubernetes.io/region",
                                       LABEL_OS, LABEL_ARCH};
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (text_is(key, keys[i]))
            return true;
    return false;
}

/* Whether one of the terms allows nodes of all zones; that of a local volume names its node. */
static bool can_be_anywhere(const struct solver_volume *terms)
{
    if (terms->local)
        return terms->alternative_count == 0;
    for (size_t i = 0; i < terms->alternative_count; i++) {
        const struct solver_expressions *term = &terms->alternatives[i];
        bool open = true;
        for (size_t j = 0; open && j < term->count; j++)
            open = leaves_zones_open(text_of(term->items[j].key));
        if (open)
            return true;
    }
    return terms->alternative_count == 0;
}

enum volume_zones volume_zones_read(const struct snapshot *snapshot, const struct object *volume,
                                    struct arena *arena, struct zones *zones)
{
    struct text zone;
    struct solver_volume terms;
    if (volume_is_in_one_zone(volume, &zone)) {
        if (zones->capacity == 0)
            *zones = (struct zones){.items = ARENA_NEW(arena, struct text), .capacity = 1};
        zones_add(zones, zone, arena);
        return VOLUME_IN_ZONES;
    }
    if (!volume_terms_read(snapshot, volume, arena, &terms))
        return VOLUME_UNKNOWN;
    if (volume_terms_add_zones(&terms, arena, zones))
        return VOLUME_IN_ZONES;
    return can_be_anywhere(&terms) ? VOLUME_ANYWHERE : VOLUME_UNKNOWN;
}

bool volume_is_zonal(const struct object *volume)
{
    for (size_t i = 0; i < node_count(volume->labels); i++) {
        const struct member *label = &volume->labels->members[i];
        if (zone_key_of(member_key(label)) != ZONE_KEY_NONE)
            return true;
    }
    const struct node *terms =
        node_at(volume->root->node, "spec.nodeAffinity.required.nodeSelectorTerms");
    for (size_t i = 0; i < node_count(terms); i++) {
        const struct node *expressions = node_get(node_item(terms, i), "matchExpressions");
        for (size_t j = 0; j < node_count(expressions); j++)
            if (!leaves_zones_open(node_string(node_get(node_item(expressions, j), "key"))))
                return true;
    }
    return false;
}

/* ---- where a StorageClass makes volumes ---- */

void class_terms_read(const struct snapshot *snapshot, const struct storage_class *class,
                      struct arena *arena, struct solver_volume *result)
{
    struct terms terms = {0};
    for (size_t term = 0; term < class->term_count; term++) {
        struct expression_list expressions = {0};
        bool empty = true;
        for (size_t i = 0; i < class->topologies.count; i++) {
            const struct topology_choice *choice = &class->topologies.items[i];
            const struct node *list = choice->values->node;
            if (choice->term != term || !node_is(list, NODE_LIST))
                continue;
            const char **values = ARENA_ARRAY(arena, node_count(list), const char *);
            for (size_t j = 0; j < node_count(list); j++)
                values[j] = terminated(arena, node_string(node_item(list, j)));
            empty = false;
            add_expression(
                snapshot,
                (struct solver_expression){.key = terminated(arena, node_string(choice->key->node)),
                                           .op = SOLVER_IN,
                                           .values = values,
                                           .value_count = node_count(list)},
                arena, &expressions);
        }
        if (!empty)
            *LIST_PUSH(arena, &terms) =
                (struct solver_expressions){expressions.items, expressions.count};
    }
    *result = (struct solver_volume){.alternatives = terms.items, .alternative_count = terms.count};
}

struct solver_volume volume_of_zone(const char *zone, struct arena *arena)
{
    const char **value = ARENA_NEW(arena, const char *);
    *value = zone;
    struct solver_expression *expression = ARENA_NEW(arena, struct solver_expression);
    *expression = (struct solver_expression){
        .key = LABEL_ZONE, .op = SOLVER_IN, .values = value, .value_count = 1};
    struct solver_expressions *term = ARENA_NEW(arena, struct solver_expressions);
    *term = (struct solver_expressions){expression, 1};
    return (struct solver_volume){.alternatives = term, .alternative_count = 1};
}

/* ---- the term of a claim's future volume ---- */

static bool has_mode(const struct node *claim_spec, const char *mode)
{
    FOR_ITEMS(item, node_get(claim_spec, "accessModes"))
        if (text_is(node_string(item), mode))
            return true;
    return false;
}

bool made_volume_is_everywhere(const struct storage_class *class, const struct node *claim_spec)
{
    return has_mode(claim_spec, "ReadWriteMany") || driver_is_shared(class->provisioner) ||
           storage_class_is_zone_redundant(class);
}

bool claim_is_of_one_pod(const struct node *claim_spec)
{
    return has_mode(claim_spec, "ReadWriteOncePod");
}

struct text claim_selected_zone(const struct snapshot *snapshot, const struct node *claim)
{
    const struct node *annotations = node_at(claim, "metadata.annotations");
    struct text name = node_string(node_get(annotations, "volume.kubernetes.io/selected-node"));
    const struct object *node =
        name.size == 0 ? NULL : snapshot_find(snapshot, KIND_NODE, TEXT(""), name);
    return node == NULL ? TEXT("") : node_zone(node);
}

/* ---- whether a volume can be attached to a node ---- */

static bool names(const struct solver_expression *expression, const char *value)
{
    for (size_t i = 0; i < expression->value_count; i++)
        if (strcmp(expression->values[i], value) == 0)
            return true;
    return false;
}

static bool compares(const struct solver_expression *expression, const char *value)
{
    int64_t wanted = 0;
    int64_t found = 0;
    /* The reader takes no other expressions of Gt and Lt than those with one number. */
    if (!text_to_int64(text_of(expression->values[0]), &wanted) ||
        !text_to_int64(text_of(value), &found))
        return false;
    return expression->op == SOLVER_GT ? found > wanted : found < wanted;
}

/* A node's labels may also be spelt as an alias. */
static const char *label_by_meaning(struct solver_labels labels, const char *key)
{
    const char *value = label_of(labels, key);
    for (size_t i = 0; value == NULL && i < labels.count; i++) {
        size_t label_size = strlen(labels.items[i].key);
        size_t key_size = strlen(key);
        const char *label = solver_canonical_key(labels.items[i].key, &label_size);
        const char *canonical = solver_canonical_key(key, &key_size);
        if (label_size == key_size && memcmp(label, canonical, key_size) == 0)
            value = labels.items[i].value;
    }
    return value;
}

static bool expression_fits(const struct solver_expression *expression, struct solver_labels labels)
{
    const char *value = label_by_meaning(labels, expression->key);
    switch (expression->op) {
    case SOLVER_IN:
        return value != NULL && names(expression, value);
    case SOLVER_NOT_IN:
        return value == NULL || !names(expression, value);
    case SOLVER_EXISTS:
        return value != NULL;
    case SOLVER_DOES_NOT_EXIST:
        return value == NULL;
    default:
        return value != NULL && compares(expression, value);
    }
}

bool volume_terms_fit(const struct solver_volume *terms, struct solver_labels labels)
{
    for (size_t i = 0; i < terms->alternative_count; i++) {
        const struct solver_expressions *term = &terms->alternatives[i];
        bool fits = true;
        for (size_t j = 0; fits && j < term->count; j++)
            fits = expression_fits(&term->items[j], labels);
        if (fits)
            return true;
    }
    return terms->alternative_count == 0;
}

/* ---- the zones that volumes name ---- */

static void add_zones(struct zones *zones, const struct solver_volume *terms, struct arena *arena)
{
    for (size_t i = 0; i < terms->alternative_count; i++)
        for (size_t j = 0; j < terms->alternatives[i].count; j++) {
            const struct solver_expression *expression = &terms->alternatives[i].items[j];
            if (expression->op == SOLVER_IN && strcmp(expression->key, LABEL_ZONE) == 0)
                for (size_t k = 0; k < expression->value_count; k++)
                    zones_add(zones, text_of(expression->values[k]), arena);
        }
}

void volume_add_zones(const struct snapshot *snapshot, const struct object *volume,
                      struct arena *arena, struct zones *zones)
{
    struct text zone;
    struct solver_volume terms;
    if (volume_is_in_one_zone(volume, &zone))
        zones_add(zones, zone, arena);
    else if (volume_terms_read(snapshot, volume, arena, &terms))
        add_zones(zones, &terms, arena);
}

void claims_add_zones(const struct snapshot *snapshot, struct arena *arena, struct zones *zones)
{
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_PERSISTENT_VOLUME); i++)
        volume_add_zones(snapshot, snapshot_object(snapshot, KIND_PERSISTENT_VOLUME, i), arena,
                         zones);
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_STORAGE_CLASS); i++) {
        struct storage_class class;
        const struct object *object = snapshot_object(snapshot, KIND_STORAGE_CLASS, i);
        if (!terms_are_few(node_get(object->root->node, "allowedTopologies"),
                           "matchLabelExpressions") ||
            !storage_class_read(object, arena, &class))
            continue;
        struct solver_volume terms;
        class_terms_read(snapshot, &class, arena, &terms);
        add_zones(zones, &terms, arena);
    }
}
