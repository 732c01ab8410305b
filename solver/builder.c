/* Builds a problem: checks and numbers what is added. */
#include <string.h>

#include "solver/problem.h"
#include "solver/well_known.h"

static const char *const fixed_resources[SOLVER_FIXED_RESOURCES] = {
    [SOLVER_CPU] = "cpu",
    [SOLVER_MEMORY] = "memory",
    [SOLVER_PODS] = "pods",
    [SOLVER_NODES] = "nodes",
};

struct solver_builder *solver_builder_create(struct arena *arena)
{
    struct solver_builder *builder = ARENA_NEW(arena, struct solver_builder);
    struct solver_problem *problem = ARENA_NEW(arena, struct solver_problem);
    builder->problem = problem;
    builder->scratch.arena = arena;
    static const struct solver_problem nothing;
    problem_over(problem, &nothing, arena);
    for (size_t i = 0; i < SOLVER_FIXED_RESOURCES; i++)
        intern_string(&problem->resources, fixed_resources[i], NULL);
#define KEY(name) solver_names_key(problem->names, (name), sizeof(name) - 1)
    problem->hostname_key = KEY(LABEL_HOSTNAME);
    problem->zone_key = KEY(LABEL_ZONE);
    problem->capacity_type_key = KEY(LABEL_CAPACITY_TYPE);
    problem->reservation_key = KEY(SOLVER_RESERVATION_KEY);
#undef KEY
    /* A problem over this one, or a query, may name well-known keys later. */
    for (size_t i = 0; solver_well_known_key(i) != NULL; i++) {
        const char *key = solver_well_known_key(i);
        solver_names_key(problem->names, key, strlen(key));
    }
    return builder;
}

uint32_t solver_builder_resource(struct solver_builder *builder, const char *name)
{
    return intern_string(&builder->problem->resources, name, NULL);
}

/* ---- checks ---- */

bool amounts_check(const struct solver_problem *problem, struct solver_amounts amounts,
                   const char *what, const char *name, struct error *error)
{
    for (size_t i = 0; i < amounts.count; i++) {
        uint32_t resource = amounts.items[i].resource;
        if (resource >= intern_count(&problem->resources))
            return error_set(error, ERROR_INPUT, NOWHERE, "%s %s: there is no resource %u", what,
                             name, resource);
        if (amounts.items[i].quantity < 0)
            return error_set(error, ERROR_INPUT, NOWHERE,
                             "%s %s: %s is negative (%lld); a quantity is 0 or more", what, name,
                             intern_text(&problem->resources, resource),
                             (long long)amounts.items[i].quantity);
        for (size_t j = 0; j < i; j++)
            if (amounts.items[j].resource == resource)
                return error_set(error, ERROR_INPUT, NOWHERE, "%s %s: %s is given twice", what,
                                 name, intern_text(&problem->resources, resource));
    }
    return true;
}

/* The number of a name that must be new. */
static bool name_add(struct intern *table, const char *name, const char *what, uint32_t *number,
                     struct error *error)
{
    bool added = false;
    *number = intern_string(table, name, &added);
    return added || error_set(error, ERROR_INPUT, NOWHERE, "%s %s is given twice", what, name);
}

/* ---- copies ---- */

static struct solver_amounts amounts_copy(struct solver_problem *problem,
                                          struct solver_amounts amounts)
{
    struct solver_amount *items = ARENA_ARRAY(problem->arena, amounts.count, struct solver_amount);
    if (amounts.count > 0)
        memcpy(items, amounts.items, amounts.count * sizeof *items);
    return (struct solver_amounts){items, amounts.count};
}

static struct taint_list taints_copy(struct solver_problem *problem, struct solver_taints taints)
{
    struct taint *items = ARENA_ARRAY(problem->arena, taints.count, struct taint);
    for (size_t i = 0; i < taints.count; i++) {
        items[i] = (struct taint){
            .key = intern_string(&problem->words, taints.items[i].key, NULL),
            .value = intern_string(&problem->words, taints.items[i].value, NULL),
            .effect = taints.items[i].effect,
        };
        items[i].is_number =
            text_to_canonical_int64(text_of(taints.items[i].value), &items[i].number);
    }
    return (struct taint_list){items, taints.count};
}

static const struct attach_limit *limits_copy(struct solver_problem *problem,
                                              const struct solver_attach_limit *limits,
                                              size_t count)
{
    struct attach_limit *items = ARENA_ARRAY(problem->arena, count, struct attach_limit);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct attach_limit){intern_string(&problem->drivers, limits[i].driver, NULL),
                                         limits[i].count};
    return items;
}

static struct solver_requirements labels_make(struct solver_problem *problem,
                                              struct solver_labels labels)
{
    struct solver_requirements set = requirements_for(problem, labels.count);
    for (size_t i = 0; i < labels.count; i++) {
        const char *value = labels.items[i].value;
        const struct solver_expression expression = {labels.items[i].key, SOLVER_IN, &value, 1, 0};
        struct solver_requirement requirement = requirement_make(problem, &expression);
        if (requirement.key != problem->hostname_key)
            solver_requirements_add(problem->names, &set, requirement, problem->arena);
    }
    return set;
}

/* ---- what may be bought ---- */

static const struct solver_offering *offerings_copy(struct solver_problem *problem,
                                                    const struct solver_offering *given,
                                                    size_t count)
{
    struct solver_offering *items = ARENA_ARRAY(problem->arena, count, struct solver_offering);
    for (size_t i = 0; i < count; i++) {
        items[i] = given[i];
        items[i].zone =
            intern_text(&problem->words, intern_string(&problem->words, given[i].zone, NULL));
        items[i].capacity_type = intern_text(
            &problem->words, intern_string(&problem->words, given[i].capacity_type, NULL));
        if (given[i].allocatable != NULL) {
            struct solver_amounts *copy = ARENA_NEW(problem->arena, struct solver_amounts);
            *copy = amounts_copy(problem, *given[i].allocatable);
            items[i].allocatable = copy;
        }
        if (given[i].more.count > 0) {
            struct solver_expression *more =
                ARENA_ARRAY(problem->arena, given[i].more.count, struct solver_expression);
            memcpy(more, given[i].more.items, given[i].more.count * sizeof *more);
            for (size_t j = 0; j < given[i].more.count; j++) {
                const char **values =
                    ARENA_ARRAY(problem->arena, more[j].value_count, const char *);
                for (size_t k = 0; k < more[j].value_count; k++)
                    values[k] = arena_text(problem->arena, text_of(more[j].values[k])).data;
                more[j].values = values;
                more[j].key = arena_text(problem->arena, text_of(more[j].key)).data;
            }
            items[i].more.items = more;
        }
    }
    return items;
}

bool solver_add_type(struct solver_builder *builder, const struct solver_instance_type *given,
                     uint32_t *number, struct error *error)
{
    struct solver_problem *problem = builder->problem;
    if (!amounts_check(problem, given->capacity, "instance type", given->name, error) ||
        !amounts_check(problem, given->allocatable, "instance type", given->name, error))
        return false;
    for (size_t i = 0; i < given->offering_count; i++)
        if (given->offerings[i].allocatable != NULL &&
            !amounts_check(problem, *given->offerings[i].allocatable, "instance type", given->name,
                           error))
            return false;
    const char *id = given->name;
    if (given->node_class != NULL)
        id = arena_printf(problem->arena, "%s of %s", given->name, given->node_class).data;
    if (!name_add(&problem->type_ids, id, "instance type", number, error))
        return false;
    struct instance_type type = {
        .name = arena_text(problem->arena, text_of(given->name)).data,
        .requirements = term_make(problem, given->requirements).requirements,
        .capacity = amounts_copy(problem, given->capacity),
        .allocatable = amounts_copy(problem, given->allocatable),
        .attach_limits = limits_copy(problem, given->attach_limits, given->attach_limit_count),
        .attach_limit_count = given->attach_limit_count,
        .source = offerings_copy(problem, given->offerings, given->offering_count),
        .source_count = given->offering_count,
    };
    *LIST_PUSH(problem->arena, &problem->types) = type;
    return true;
}

static const char *const *domains_copy(struct solver_problem *problem,
                                       const struct solver_pool *given)
{
    const char **copy = ARENA_ARRAY(problem->arena, given->label_domain_count, const char *);
    for (size_t i = 0; i < given->label_domain_count; i++)
        copy[i] = intern_text(&problem->words,
                              intern_string(&problem->words, given->label_domains[i], NULL));
    return copy;
}

bool solver_add_pool(struct solver_builder *builder, const struct solver_pool *given,
                     uint32_t *number, struct error *error)
{
    struct solver_problem *problem = builder->problem;
    if (!amounts_check(problem, given->limits, "NodePool", given->name, error) ||
        !name_add(&problem->pool_ids, given->name, "NodePool", number, error))
        return false;
    struct pool pool = {
        .name = intern_text(&problem->pool_ids, *number),
        .weight = given->weight,
        .requirements = term_make(problem, given->requirements).requirements,
        .taints = taints_copy(problem, given->taints),
        .limit_amounts = amounts_copy(problem, given->limits),
        .all_types = given->types == NULL,
        .unlisted_types = given->unlisted_types,
        .label_domains = domains_copy(problem, given),
        .label_domain_count = given->label_domain_count,
        .type_count = given->type_count,
    };
    struct solver_label own = {LABEL_NODE_POOL, given->name};
    struct solver_requirements labels[] = {
        labels_make(problem, given->labels),
        labels_make(problem, (struct solver_labels){&own, 1}),
    };
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < labels[i].count; j++)
            solver_requirements_add(problem->names, &pool.requirements, labels[i].items[j],
                                    problem->arena);
    if (given->types != NULL) {
        uint32_t *types = ARENA_ARRAY(problem->arena, given->type_count, uint32_t);
        memcpy(types, given->types, given->type_count * sizeof *types);
        pool.types = types;
    }
    *LIST_PUSH(problem->arena, &problem->pools) = pool;
    return true;
}

/* ---- what is there ---- */

static bool read_node(struct solver_problem *problem, const struct solver_node *given,
                      struct state_node *node, struct error *error)
{
    uint32_t pool = SOLVER_NONE;
    if (given->pool != NULL)
        pool = intern_find(&problem->pool_ids, given->pool, strlen(given->pool));
    if (given->pool != NULL && pool == SOLVER_NONE)
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "Node %s is of NodePool %s, which is not there", given->name, given->pool);
    if (!amounts_check(problem, given->capacity, "Node", given->name, error) ||
        !amounts_check(problem, given->allocatable, "Node", given->name, error))
        return false;
    const char *hostname = given->name;
    struct label_pair *raw = ARENA_ARRAY(problem->arena, given->labels.count, struct label_pair);
    for (size_t i = 0; i < given->labels.count; i++) {
        struct solver_label label = given->labels.items[i];
        if (strcmp(label.key, LABEL_HOSTNAME) == 0)
            hostname = label.value;
        raw[i].key = solver_names_key(problem->names, label.key, strlen(label.key));
        raw[i].value =
            solver_names_value(problem->names, raw[i].key, label.value, strlen(label.value));
    }
    *node = (struct state_node){
        .pool = pool,
        .initialized = given->initialized,
        .to_come = given->to_come,
        .leaving = given->leaving,
        .labels = labels_make(problem, given->labels),
        .raw = {raw, given->labels.count},
        .hostname =
            solver_names_value(problem->names, problem->hostname_key, hostname, strlen(hostname)),
        .taints = taints_copy(problem, given->taints),
        .capacity = amounts_copy(problem, given->capacity),
        .allocatable = amounts_copy(problem, given->allocatable),
        .attach_limits = limits_copy(problem, given->attach_limits, given->attach_limit_count),
        .attach_limit_count = given->attach_limit_count,
    };
    return true;
}

bool solver_add_node(struct solver_builder *builder, const struct solver_node *given,
                     uint32_t *number, struct error *error)
{
    struct solver_problem *problem = builder->problem;
    struct state_node node;
    if (!read_node(problem, given, &node, error))
        return false;
    if (!name_add(&problem->node_ids, given->name, "Node", number, error))
        return false;
    node.name = intern_text(&problem->node_ids, *number);
    *LIST_PUSH(problem->arena, &problem->nodes) = node;
    return true;
}

bool solver_add_namespace(struct solver_builder *builder, const char *name,
                          struct solver_labels labels, struct error *error)
{
    (void)error;
    struct solver_problem *problem = builder->problem;
    uint32_t number = intern_string(&problem->namespaces, name, NULL);
    while (problem->namespace_labels.count <= number)
        (void)LIST_PUSH(problem->arena, &problem->namespace_labels);
    problem->namespace_labels.items[number] = label_list_make(problem, labels);
    return true;
}

bool solver_add_shape(struct solver_builder *builder, const struct solver_shape *shape,
                      uint32_t *number, struct error *error)
{
    return amounts_check(builder->problem, shape->requests, "a pod of namespace", shape->namespace,
                         error) &&
           shape_add(builder, shape, number, error);
}

bool solver_add_daemon(struct solver_builder *builder, uint32_t shape, struct error *error)
{
    struct solver_problem *problem = builder->problem;
    if (shape >= problem->shapes.count)
        return error_set(error, ERROR_INPUT, NOWHERE, "a daemon is of shape %u, which is not there",
                         shape);
    *LIST_PUSH(problem->arena, &problem->daemons) = shape;
    return true;
}

struct mount mount_make(struct solver_problem *problem, const struct solver_mount *given)
{
    return (struct mount){
        intern_string(&problem->volume_claims, given->claim, NULL),
        given->driver == NULL ? SOLVER_NONE : intern_string(&problem->drivers, given->driver, NULL),
        given->binds};
}

bool solver_add_pod(struct solver_builder *builder, const struct solver_pod *given,
                    uint32_t *number, struct error *error)
{
    struct solver_problem *problem = builder->problem;
    if (given->shape >= problem->shapes.count)
        return error_set(error, ERROR_INPUT, NOWHERE, "Pod %s is of shape %u, which is not there",
                         given->name, given->shape);
    if (given->node != SOLVER_NONE && given->node >= problem->nodes.count)
        return error_set(error, ERROR_INPUT, NOWHERE, "Pod %s is on node %u, which is not there",
                         given->name, given->node);
    if (given->mount_count != 0 &&
        given->mount_count != problem->shapes.items[given->shape].volume_count)
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "Pod %s has %zu mounts and its shape %zu volumes", given->name,
                         given->mount_count, problem->shapes.items[given->shape].volume_count);
    if (!name_add(&problem->pod_ids, given->name, "Pod", number, error))
        return false;
    struct mount *mounts = ARENA_ARRAY(problem->arena, given->mount_count, struct mount);
    for (size_t i = 0; i < given->mount_count; i++)
        mounts[i] = mount_make(problem, &given->mounts[i]);
    *LIST_PUSH(problem->arena, &problem->pods) = (struct pod){
        .uid = given->uid == NULL ? "" : arena_text(problem->arena, text_of(given->uid)).data,
        .created_unix_s = given->created_unix_s,
        .shape = given->shape,
        .node = given->node,
        .daemon = given->daemon,
        .leaving = given->leaving,
        .mounts = mounts,
        .mount_count = given->mount_count,
    };
    return true;
}
