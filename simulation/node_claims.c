/* Turns the NodeClaims of a round into nodes of the next, and into the answer. */
#include "simulation/node_claims.h"

#include <stdlib.h>
#include <string.h>

#include "kube/to_solver.h"
#include "simulation/cluster.h"
#include "simulation/reserved.h"
#include "solver/well_known.h"

static struct text key_text(const struct solver_names *names, uint32_t key)
{
    struct text text;
    text.data = solver_names_key_text(names, key, &text.size);
    return text;
}

static struct text value_text(const struct solver_names *names, uint32_t key, uint32_t value)
{
    struct text text;
    text.data = solver_names_value_text(names, key, value, &text.size);
    return text;
}

/* The values that a requirement names (of a complement, those that it excludes), sorted. */
static struct text_list named_values(const struct solver_names *names,
                                     const struct solver_requirement *requirement,
                                     struct arena *arena)
{
    struct text_list values = {0};
    for (uint32_t i = 0; i < requirement->word_count * 64; i++)
        if ((requirement->words[i / 64] >> (i % 64) & 1) != 0)
            *LIST_PUSH(arena, &values) = value_text(names, requirement->key, i);
    texts_sort(values.items, values.count);
    return values;
}

/* ---- labels ---- */

struct labels {
    struct solver_label *items;
    size_t count, capacity;
};

static void add_label(struct labels *labels, const char *key, const char *value,
                      struct arena *arena)
{
    if (label_of((struct solver_labels){labels->items, labels->count}, key) == NULL)
        *LIST_PUSH(arena, labels) = (struct solver_label){key, value};
}

static const struct solver_requirement *claim_requirement(const struct cluster *cluster,
                                                          const struct solver_node_claim *claim,
                                                          struct text key)
{
    uint32_t number =
        solver_names_find_key(solver_problem_names(cluster->problem), key.data, key.size);
    return number == SOLVER_NONE ? NULL : solver_requirements_get(claim->requirements, number);
}

static bool allows(const struct cluster *cluster, const struct solver_requirement *requirement,
                   struct text value)
{
    const struct solver_names *names = solver_problem_names(cluster->problem);
    if (requirement == NULL)
        return true;
    uint32_t number = solver_names_find_value(names, requirement->key, value.data, value.size);
    return number == SOLVER_NONE ? requirement->complement
                                 : solver_requirement_has(names, requirement, number);
}

/* Where a type has several values, such as operating systems, takes the first that the claim
 * allows. */
static void add_type_labels(const struct cluster *cluster, const struct solver_node_claim *claim,
                            struct labels *labels)
{
    struct arena *arena = cluster->arena;
    const struct solver_names *names = catalog_names(cluster->catalog);
    const struct instance_type *type =
        catalog_type(cluster->catalog, cluster->types[claim->type].index);
    for (size_t i = 0; i < type->requirements.count; i++) {
        const struct solver_requirement *requirement = &type->requirements.items[i];
        if (solver_requirement_op(requirement) != SOLVER_IN)
            continue;
        struct text key = key_text(names, requirement->key);
        const struct solver_requirement *wanted = claim_requirement(cluster, claim, key);
        struct text_list values = named_values(names, requirement, arena);
        for (size_t j = 0; j < values.count; j++)
            if (allows(cluster, wanted, values.items[j])) /* of several the first is kept */
                add_label(labels, terminated(arena, key), terminated(arena, values.items[j]),
                          arena);
    }
}

/* Karpenter gives a random number to a label that may have any value. */
static const char *any_number(const struct solver_requirement *requirement,
                              const struct text_list *excluded, struct arena *arena)
{
    int64_t number = requirement->has_gte && requirement->gte > 0 ? requirement->gte : 0;
    for (;; number++) {
        struct text text = arena_printf(arena, "%lld", (long long)number);
        bool free = true;
        for (size_t i = 0; free && i < excluded->count; i++)
            free = !text_equal(excluded->items[i], text);
        if (requirement->has_lte && number > requirement->lte)
            return NULL;
        if (free)
            return text.data;
    }
}

/* Adds the labels that the pool and its pods require beyond those of the type. */
static void add_claim_labels(const struct cluster *cluster, const struct solver_node_claim *claim,
                             struct labels *labels)
{
    struct arena *arena = cluster->arena;
    const struct solver_names *names = solver_problem_names(cluster->problem);
    for (size_t i = 0; i < claim->requirements->count; i++) {
        const struct solver_requirement *requirement = &claim->requirements->items[i];
        struct text key = key_text(names, requirement->key);
        struct text_list values = named_values(names, requirement, arena);
        bool concrete = !requirement->complement;
        if (concrete && values.count > 0) {
            add_label(labels, terminated(arena, key), terminated(arena, values.items[0]), arena);
        } else if (!concrete && !solver_is_well_known(key.data, key.size)) {
            const char *number = any_number(requirement, &values, arena);
            if (number != NULL)
                add_label(labels, terminated(arena, key), number, arena);
        }
    }
}

static struct solver_labels claim_labels(const struct cluster *cluster,
                                         const struct solver_node_claim *claim,
                                         const struct cluster_pool *pool, const char *name)
{
    struct arena *arena = cluster->arena;
    struct labels labels = {0};
    add_label(&labels, LABEL_HOSTNAME, name, arena);
    struct text zone = text_of(claim->zone), id = zones_id_of(&cluster->zones, zone);
    add_label(&labels, LABEL_ZONE, terminated(arena, zone), arena);
    if (id.size > 0)
        add_label(&labels, LABEL_ZONE_ID, terminated(arena, id), arena);
    add_label(&labels, LABEL_CAPACITY_TYPE, terminated(arena, text_of(claim->capacity_type)),
              arena);
    add_label(&labels, LABEL_INSTANCE_TYPE,
              terminated(arena, text_of(solver_type_name(cluster->problem, claim->type))), arena);
    add_label(&labels, LABEL_NODE_POOL, pool->name, arena);
    if (claim->reservation[0] != '\0')
        add_label(&labels, SOLVER_RESERVATION_KEY, terminated(arena, text_of(claim->reservation)),
                  arena);
    const char *windows_build = class_settings_windows_build(cluster->types[claim->type].settings);
    if (windows_build != NULL) {
        add_label(&labels, LABEL_OS, "windows", arena);
        add_label(&labels, LABEL_WINDOWS_BUILD, windows_build, arena);
    }
    add_label(&labels, LABEL_REGISTERED, "true", arena);
    add_label(&labels, LABEL_INITIALIZED, "true", arena);
    for (size_t i = 0; i < pool->labels.count; i++)
        add_label(&labels, pool->labels.items[i].key, pool->labels.items[i].value, arena);
    add_type_labels(cluster, claim, &labels);
    add_claim_labels(cluster, claim, &labels);
    return (struct solver_labels){labels.items, labels.count};
}

/* ---- what is said of a claim ---- */

static bool allows_id(const struct cluster *cluster, const struct solver_requirement *wanted,
                      struct text zone)
{
    struct text id = zones_id_of(&cluster->zones, zone);
    return id.size == 0 || allows(cluster, wanted, id);
}

/* The zones in which a remaining type is offered. */
static struct text_list claim_zones(const struct cluster *cluster,
                                    const struct solver_node_claim *claim)
{
    const struct solver_requirement *zone = claim_requirement(cluster, claim, TEXT(LABEL_ZONE));
    const struct solver_requirement *id_wanted =
        claim_requirement(cluster, claim, TEXT(LABEL_ZONE_ID));
    const struct solver_requirement *capacity_type =
        claim_requirement(cluster, claim, TEXT(LABEL_CAPACITY_TYPE));
    const struct solver_requirement *held =
        claim_requirement(cluster, claim, TEXT(SOLVER_RESERVATION_KEY));
    struct text_list zones = {0};
    for (size_t i = 0; i < claim->type_count; i++) {
        const struct solver_instance_type *type = &cluster->types[claim->types[i]].solver;
        for (size_t j = 0; j < type->offering_count; j++) {
            const struct solver_offering *offering = &type->offerings[j];
            struct text zone_name = text_of(offering->zone);
            const char *id = reservation_of(offering);
            bool sold = id == NULL ? offering->available
                                   : held != NULL && allows(cluster, held, text_of(id));
            if (sold && !texts_have(zones.items, zones.count, zone_name) &&
                allows(cluster, zone, zone_name) && allows_id(cluster, id_wanted, zone_name) &&
                allows(cluster, capacity_type, text_of(offering->capacity_type)))
                *LIST_PUSH(cluster->arena, &zones) = zone_name;
        }
    }
    texts_sort(zones.items, zones.count);
    return zones;
}

struct requirement_list {
    struct simulation_requirement *items;
    size_t count, capacity;
};

static void add_bound(struct requirement_list *list, struct text key, enum solver_op op,
                      int64_t bound, struct arena *arena)
{
    struct text *value = ARENA_NEW(arena, struct text);
    *value = arena_printf(arena, "%lld", (long long)bound);
    *LIST_PUSH(arena, list) = (struct simulation_requirement){key, op, value, 1};
}

/* As Karpenter writes requirements into a NodeClaim: bounds are requirements of their own. */
static void add_requirement(struct requirement_list *list, const struct solver_names *names,
                            const struct solver_requirement *requirement, struct arena *arena)
{
    struct text key = arena_text(arena, key_text(names, requirement->key));
    if (text_is(key, LABEL_HOSTNAME))
        return;
    if (requirement->complement && requirement->has_gte)
        add_bound(list, key, SOLVER_GTE, requirement->gte, arena);
    if (requirement->complement && requirement->has_lte)
        add_bound(list, key, SOLVER_LTE, requirement->lte, arena);
    if (requirement->complement && (requirement->has_gte || requirement->has_lte))
        return;
    struct text_list values = named_values(names, requirement, arena);
    *LIST_PUSH(arena, list) = (struct simulation_requirement){
        key, solver_requirement_op(requirement), values.items, values.count};
}

static int compare_requirements(const void *a_pointer, const void *b_pointer)
{
    const struct simulation_requirement *a = a_pointer;
    const struct simulation_requirement *b = b_pointer;
    int order = text_compare(a->key, b->key);
    return order != 0 ? order : (int)a->op - (int)b->op;
}

static void describe_claim(const struct cluster *cluster, const struct solver_node_claim *claim,
                           struct simulation_node *node)
{
    struct arena *arena = cluster->arena;
    struct text_list zones = claim_zones(cluster, claim);
    struct text *types = ARENA_ARRAY(arena, claim->type_count, struct text);
    for (size_t i = 0; i < claim->type_count; i++)
        types[i] = arena_text(arena, text_of(solver_type_name(cluster->problem, claim->types[i])));
    struct requirement_list requirements = {0};
    for (size_t i = 0; i < claim->requirements->count; i++)
        add_requirement(&requirements, solver_problem_names(cluster->problem),
                        &claim->requirements->items[i], arena);
    if (requirements.count > 0)
        qsort(requirements.items, requirements.count, sizeof *requirements.items,
              compare_requirements);
    node->instance_types = types;
    node->instance_type_count = claim->type_count;
    node->zones = zones.items;
    node->zone_count = zones.count;
    node->requirements = requirements.items;
    node->requirement_count = requirements.count;
}

/* Whether spot offerings of the type have on-demand's price. */
static bool has_borrowed_price(const struct cluster *cluster, size_t type)
{
    return catalog_is_builtin(cluster->catalog) &&
           catalog_type(cluster->catalog, type)->spot_usd_micro_per_hour < 0;
}

static bool is_sold_as_spot(const struct solver_instance_type *type, struct text zone)
{
    for (size_t i = 0; i < type->offering_count; i++)
        if (strcmp(type->offerings[i].capacity_type, "spot") == 0 && type->offerings[i].available &&
            text_is(zone, type->offerings[i].zone))
            return true;
    return false;
}

/* AWS' provider buys spot wherever a claim allows it and it is not dearer
 * (docs/reference/karpenter.md 7.2); with a borrowed price it never is. */
static void describe_spot(const struct cluster *cluster, const struct solver_node_claim *claim,
                          struct simulation_node *node)
{
    const struct cluster_type *type = &cluster->types[claim->type];
    const struct solver_requirement *capacity_type =
        claim_requirement(cluster, claim, TEXT(LABEL_CAPACITY_TYPE));
    if (!has_borrowed_price(cluster, type->index))
        return;
    if (text_is(node->capacity_type, "on-demand") && allows(cluster, capacity_type, TEXT("spot")) &&
        is_sold_as_spot(&type->solver, node->zone))
        node->capacity_type = TEXT("spot");
    if (text_is(node->capacity_type, "spot") && node->usd_micro_per_hour >= 0)
        node->price_of = TEXT("on-demand");
}

/* ---- machines ---- */

static void read_amounts(const struct cluster *cluster, size_t type,
                         const struct class_settings *settings, struct state_node *state_node)
{
    struct catalog_amounts amounts =
        catalog_class_amounts(cluster->catalog, type, settings, cluster->arena);
    for (size_t i = 0; i < amounts.count; i++) {
        const struct catalog_amount *amount = &amounts.items[i];
        *LIST_PUSH(cluster->arena, &state_node->capacity) =
            (struct named_amount){amount->resource, amount->capacity};
        *LIST_PUSH(cluster->arena, &state_node->allocatable) =
            (struct named_amount){amount->resource, amount->allocatable};
    }
}

static void read_attach_limit(const struct cluster *cluster, size_t type,
                              struct state_node *state_node)
{
    uint32_t count = catalog_attach_limit(cluster->catalog, type);
    if (count == 0)
        return;
    struct solver_attach_limit *limit = ARENA_NEW(cluster->arena, struct solver_attach_limit);
    *limit = (struct solver_attach_limit){"ebs.csi.aws.com", count};
    state_node->attach_limits = limit;
    state_node->attach_limit_count = 1;
}

static void fill_common(struct state_node *state_node)
{
    struct simulation_node *node = &state_node->simulation;
    node->node_pool = text_of(state_node->pool);
    node->zone = text_of(label_of(state_node->labels, LABEL_ZONE));
    node->capacity_type = text_of(label_of(state_node->labels, LABEL_CAPACITY_TYPE));
    node->instance_type = text_of(label_of(state_node->labels, LABEL_INSTANCE_TYPE));
    node->cpu_milli = named_amount_of(&state_node->allocatable, "cpu");
    node->memory_bytes = named_amount_of(&state_node->allocatable, "memory");
}

struct state_node state_node_of_claim(const struct cluster *cluster,
                                      const struct solver_node_claim *claim, size_t round,
                                      size_t number)
{
    struct arena *arena = cluster->arena;
    const struct cluster_pool *pool = &cluster->pools[claim->pool];
    size_t type = cluster->types[claim->type].index;
    /* No Node has such a name. */
    struct text name = arena_printf(arena, "%s/%06zu/%06zu", pool->name, round, number);
    struct state_node state_node = {
        .name = name.data,
        .node_name = name.data,
        .pool = pool->name,
        .labels = claim_labels(cluster, claim, pool, name.data),
        .taints = pool->taints,
        .initialized = true,
    };
    read_amounts(cluster, type, cluster->types[claim->type].settings, &state_node);
    read_attach_limit(cluster, type, &state_node);
    fill_common(&state_node);
    state_node.simulation.round = round;
    state_node.simulation.usd_micro_per_hour = claim->price_usd_micro;
    if (!cluster->brief)
        describe_claim(cluster, claim, &state_node.simulation);
    describe_spot(cluster, claim, &state_node.simulation);
    return state_node;
}

static void complete_by_type(const struct cluster *cluster, size_t type,
                             struct state_node *state_node)
{
    if (!state_node->attach_limits_known && state_node->pool != NULL)
        read_attach_limit(cluster, type, state_node);
    /* A Node in a file may have no more than its instance type. */
    if (state_node->allocatable.count == 0)
        read_amounts(cluster, type, NULL, state_node);
}

void state_node_describe(const struct cluster *cluster, struct state_node *state_node)
{
    struct simulation_node *node = &state_node->simulation;
    struct text type_name = text_of(label_of(state_node->labels, LABEL_INSTANCE_TYPE));
    size_t type = catalog_find(cluster->catalog, type_name);
    bool known = type_name.size > 0 && type < catalog_count(cluster->catalog);
    if (known)
        complete_by_type(cluster, type, state_node);
    fill_common(state_node);
    node->name = text_of(state_node->node_name);
    node->usd_micro_per_hour = -1;
    if (!known || (text_is(node->capacity_type, "spot") && has_borrowed_price(cluster, type)))
        return;
    struct catalog_offerings offerings =
        catalog_type_offerings(cluster->catalog, type, &cluster->zones, cluster->arena);
    for (size_t i = 0; i < offerings.count; i++)
        if (text_is(node->zone, offerings.items[i].zone) &&
            text_is(node->capacity_type, offerings.items[i].capacity_type))
            node->usd_micro_per_hour = offerings.items[i].price_usd_micro;
}
