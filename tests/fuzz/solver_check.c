/* Checks a plan: every pod is placed once, and no node holds more than it can. */
#include "solver_check.h"

#include <string.h>

wide amount_of(const struct solver_amounts *amounts, uint32_t resource)
{
    for (size_t i = 0; i < amounts->count; i++)
        if (amounts->items[i].resource == resource)
            return amounts->items[i].quantity;
    return 0;
}

/* The requests of all pods on a machine. */
static wide requested(const struct machine *machine, uint32_t resource)
{
    wide sum = 0;
    for (size_t i = 0; i < machine->resident_count; i++)
        sum += amount_of(&machine->residents[i].shape->requests, resource) +
               (resource == SOLVER_PODS ? 1 : 0);
    return sum;
}

static bool holds(const struct machine *machine, const struct solver_amounts *allocatable)
{
    for (uint32_t i = 0; i < CASE_RESOURCES; i++)
        if (requested(machine, i) > amount_of(allocatable, i))
            return false;
    return true;
}

/* ---- where the pods are ---- */

static struct resident *add_resident(struct machine *machine)
{
    return &machine->residents[machine->resident_count++];
}

static void find_zones(const struct checking *checking, struct machine *machine)
{
    static const char *const zones[] = {"z1", "z2", "z3", "z4"};
    enum { ZONES = sizeof zones / sizeof zones[0] };
    machine->zones = ARENA_ARRAY(checking->arena, ZONES, const char *);
    for (size_t i = 0; i < ZONES; i++) {
        const char *label = machine->node ? label_value(&machine->node->labels, ZONE) : NULL;
        const struct solver_expression expression = {
            .key = ZONE, .op = SOLVER_IN, .values = &zones[i], .value_count = 1};
        struct solver_requirement zone;
        bool there = label != NULL && strcmp(label, zones[i]) == 0;
        if (machine->claim != NULL && requirement_of(checking, &expression, &zone)) {
            const struct solver_requirement *left =
                solver_requirements_get(machine->claim->requirements, zone.key);
            there = left == NULL || solver_requirement_intersects(checking->names, left, &zone);
        }
        if (there)
            machine->zones[machine->zone_count++] = zones[i];
    }
}

static void make_machines(struct checking *checking)
{
    const struct built *built = checking->built;
    const struct solver_case *input = checking->input;
    size_t node_count = built->nodes.count;
    checking->machine_count = node_count + checking->plan->claim_count;
    checking->machines = ARENA_ARRAY(checking->arena, checking->machine_count, struct machine);
    for (size_t i = 0; i < checking->machine_count; i++) {
        struct machine *machine = &checking->machines[i];
        machine->residents = ARENA_ARRAY(checking->arena, built->pods.count, struct resident);
        if (i < node_count) {
            machine->node = &input->nodes[built->nodes.indices[i]];
            machine->taints = machine->node->taints;
        } else {
            machine->claim = &checking->plan->claims[i - node_count];
            REQUIRE(machine->claim->pool < built->pools.count);
            machine->pool = &input->pools[built->pools.indices[machine->claim->pool]];
            machine->taints = machine->pool->taints;
        }
        find_zones(checking, machine);
    }
}

static bool listed(const struct solver_node_claim *claim, uint32_t pod)
{
    size_t times = 0;
    for (size_t i = 0; i < claim->pod_count; i++)
        times += claim->pods[i] == pod;
    return times == 1;
}

static void check_place(struct checking *checking, const struct solver_placement *place,
                        const struct solver_pod *pod)
{
    size_t node_count = checking->built->nodes.count, at = place->index;
    const struct solver_shape *shape = &checking->input->shapes[pod->shape];
    if (place->kind == SOLVER_ON_NODE_CLAIM) {
        REQUIRE(at < checking->plan->claim_count);
        REQUIRE(listed(&checking->plan->claims[at], place->pod));
        at += node_count;
    } else {
        REQUIRE(place->kind == SOLVER_ON_NODE && at < node_count);
    }
    struct machine *machine = &checking->machines[at];
    *add_resident(machine) = (struct resident){pod, shape, true};
    machine->new_count++;
    REQUIRE(!shape->needs_devices && !(machine->node != NULL && machine->node->leaving));
}

static bool is_local(const struct solver_shape *shape)
{
    for (size_t i = 0; i < shape->volume_count; i++)
        if (shape->volumes[i].local)
            return true;
    return false;
}

/* What a claim is bought for in vain fits nowhere. */
static void check_misplaced(const struct checking *checking, const struct solver_node_claim *claim)
{
    const struct solver_plan *plan = checking->plan;
    for (size_t i = 0; i < claim->misplaced_count; i++) {
        bool found = false;
        REQUIRE(i == 0 || claim->misplaced[i - 1] < claim->misplaced[i]);
        for (size_t j = 0; j < plan->placement_count; j++)
            found |=
                plan->placements[j].pod == claim->misplaced[i] && plan->placements[j].misplaced;
        REQUIRE(found);
    }
}

/* Every pending pod has a place, or is counted as having none. */
static void place_pods(struct checking *checking)
{
    const struct solver_plan *plan = checking->plan;
    const struct taken *taken = &checking->built->pods;
    size_t pending = 0, unplaced = 0, claimed = 0;
    for (uint32_t number = 0; number < taken->count; number++) {
        const struct solver_pod *pod = &checking->input->pods[taken->indices[number]];
        if (pod->node != SOLVER_NONE) {
            uint32_t node = checking->built->nodes.numbers[pod->node];
            *add_resident(&checking->machines[node]) =
                (struct resident){pod, &checking->input->shapes[pod->shape], false};
            continue;
        }
        REQUIRE(pending < plan->placement_count && plan->placements[pending].pod == number);
        const struct solver_placement *place = &plan->placements[pending++];
        REQUIRE(!place->misplaced || (place->kind == SOLVER_UNSCHEDULABLE &&
                                      is_local(&checking->input->shapes[pod->shape])));
        if (place->kind == SOLVER_UNSCHEDULABLE)
            unplaced++;
        else
            check_place(checking, place, pod);
    }
    REQUIRE(pending == plan->placement_count && unplaced == plan->unschedulable_count);
    for (size_t i = 0; i < plan->claim_count; i++) {
        claimed += plan->claims[i].pod_count;
        check_misplaced(checking, &plan->claims[i]);
    }
    size_t on_claims = 0;
    for (size_t i = taken->count ? checking->built->nodes.count : 0; i < checking->machine_count;
         i++)
        on_claims += checking->machines[i].new_count;
    REQUIRE(claimed == on_claims);
}

/* ---- claims ---- */

bool requirement_of(const struct checking *checking, const struct solver_expression *expression,
                    struct solver_requirement *requirement)
{
    const struct solver_names *names = checking->names;
    uint32_t key = solver_names_find_key(names, expression->key, strlen(expression->key));
    uint32_t *values = ARENA_ARRAY(checking->arena, expression->value_count, uint32_t);
    if (key == SOLVER_NONE)
        return false;
    for (size_t i = 0; i < expression->value_count; i++) {
        const char *value = expression->values[i];
        values[i] = solver_names_find_value(names, key, value, strlen(value));
        if (values[i] == SOLVER_NONE)
            return false;
    }
    *requirement = solver_requirement_make(names, key, expression->op, values,
                                           expression->value_count, 0, checking->arena);
    return true;
}

bool claim_keeps(const struct checking *checking, const struct machine *machine,
                 const struct solver_expression *expression)
{
    struct solver_requirement wanted;
    if (strcmp(expression->key, HOSTNAME) == 0) /* a machine to come has a name of its own */
        return expression->op == SOLVER_NOT_IN || expression->op == SOLVER_EXISTS;
    if (!requirement_of(checking, expression, &wanted))
        return expression->op == SOLVER_NOT_IN || expression->op == SOLVER_DOES_NOT_EXIST;
    const struct solver_requirement *left =
        solver_requirements_get(machine->claim->requirements, wanted.key);
    if (left == NULL)
        return false;
    struct solver_requirement both =
        solver_requirement_intersect(checking->names, left, &wanted, checking->arena);
    return solver_requirement_equal(&both, left);
}

static bool claim_meets(const struct checking *checking, const struct machine *machine,
                        const struct solver_expression *expression)
{
    struct solver_requirement other;
    if (!requirement_of(checking, expression, &other))
        return false;
    const struct solver_requirement *left =
        solver_requirements_get(machine->claim->requirements, other.key);
    return left == NULL || solver_requirement_intersects(checking->names, left, &other);
}

static bool must_be_reserved(const struct checking *checking, const struct machine *machine)
{
    static const char *const reserved = "reserved";
    const struct solver_expression only_reserved = {
        .key = CAPACITY_TYPE, .op = SOLVER_IN, .values = &reserved, .value_count = 1};
    return claim_keeps(checking, machine, &only_reserved);
}

/* Karpenter narrows a NodeClaim that holds a reservation to it at the end, and asks of the
 * offerings alone what they are: a type may say that it is never reserved, and sell what is of any
 * kind. */
static bool is_asked_of_offerings(const struct checking *checking, const struct machine *machine,
                                  const char *key)
{
    return (strcmp(key, CAPACITY_TYPE) == 0 || strcmp(key, SOLVER_RESERVATION_KEY) == 0) &&
           must_be_reserved(checking, machine);
}

static const char *reservation_of(const struct solver_offering *offering)
{
    bool names = offering->more.count > 0 &&
                 strcmp(offering->more.items[0].key, SOLVER_RESERVATION_KEY) == 0;
    return names && strcmp(offering->capacity_type, "reserved") == 0
               ? offering->more.items[0].values[0]
               : NULL;
}

/* Reserved, and nothing is free. */
static bool is_full(const struct solver_offering *offering)
{
    return strcmp(offering->capacity_type, "reserved") == 0 &&
           (reservation_of(offering) == NULL || offering->reservation_capacity == 0);
}

/* The offering can be bought for the claim, and holds its pods. */
static bool offering_suits(const struct checking *checking, const struct machine *machine,
                           const struct solver_instance_type *type,
                           const struct solver_offering *offering)
{
    const struct solver_expression zone = {
        .key = ZONE, .op = SOLVER_IN, .values = &offering->zone, .value_count = 1};
    const struct solver_expression capacity_type = {.key = CAPACITY_TYPE,
                                                    .op = SOLVER_IN,
                                                    .values = &offering->capacity_type,
                                                    .value_count = 1};
    /* "" is any. */
    if (!offering->available || is_full(offering) ||
        (offering->zone[0] != '\0' && !claim_meets(checking, machine, &zone)) ||
        (offering->capacity_type[0] != '\0' && !claim_meets(checking, machine, &capacity_type)))
        return false;
    for (size_t i = 0; i < offering->more.count; i++)
        if (!claim_meets(checking, machine, &offering->more.items[i]))
            return false;
    return holds(machine,
                 offering->allocatable == NULL ? &type->allocatable : offering->allocatable);
}

/* What is dearer comes later: by its price, then by its list price. */
struct cost {
    uint64_t price;
    int64_t list_price;
};
static const struct cost dearest = {UINT64_MAX, INT64_MAX};

static uint64_t price_order(int64_t usd_micro)
{
    return usd_micro < 0 ? UINT64_MAX : (uint64_t)usd_micro;
}

static struct cost cost_of(const struct solver_offering *offering)
{
    return (struct cost){price_order(offering->price_usd_micro), offering->list_price_usd_micro};
}

static int compare_costs(struct cost a, struct cost b)
{
    if (a.price != b.price)
        return a.price < b.price ? -1 : 1;
    return a.list_price < b.list_price ? -1 : a.list_price > b.list_price;
}

/* Some offering of a listed type does. The cost of the cheapest one. */
static struct cost check_type(const struct checking *checking, const struct machine *machine,
                              uint32_t number, bool *named)
{
    const struct solver_node_claim *claim = machine->claim;
    REQUIRE(number < checking->built->types.count);
    uint32_t index = checking->built->types.indices[number];
    const struct solver_instance_type *type = &checking->input->types[index];
    struct cost best = dearest;
    bool suits = false;
    for (size_t i = 0; i < type->offering_count; i++) {
        const struct solver_offering *offering = &type->offerings[i];
        if (!offering_suits(checking, machine, type, offering))
            continue;
        suits = true;
        if (compare_costs(cost_of(offering), best) < 0)
            best = cost_of(offering);
        if (number == claim->type && strcmp(offering->zone, claim->zone) == 0 &&
            strcmp(offering->capacity_type, claim->capacity_type) == 0 &&
            offering->price_usd_micro == claim->price_usd_micro)
            *named = true;
    }
    REQUIRE(suits);
    for (size_t i = 0; i < type->requirements.count; i++) {
        const struct solver_expression *says = &type->requirements.items[i];
        REQUIRE(claim_meets(checking, machine, says) ||
                is_asked_of_offerings(checking, machine, says->key));
    }
    bool of_pool = machine->pool->types == NULL;
    for (size_t i = 0; !of_pool && i < machine->pool->type_count; i++)
        of_pool = machine->pool->types[i] == index;
    REQUIRE(of_pool);
    return best;
}

static bool has_own_allocatable(const struct solver_case *input)
{
    for (size_t i = 0; i < input->type_count; i++)
        for (size_t j = 0; j < input->types[i].offering_count; j++)
            if (input->types[i].offerings[j].allocatable != NULL)
                return true;
    return false;
}

void check_claim(const struct checking *checking, const struct machine *machine)
{
    const struct solver_node_claim *claim = machine->claim;
    struct cost before = {0, INT64_MIN}, cheapest = dearest;
    uint64_t paid = price_order(claim->price_usd_micro);
    bool named = false, ordered = !has_own_allocatable(checking->input);
    REQUIRE(claim->type_count > 0 && claim->pod_count + claim->misplaced_count > 0);
    for (size_t i = 0; i < claim->type_count; i++) {
        struct cost cost = check_type(checking, machine, claim->types[i], &named);
        const char *name = solver_type_name(checking->built->problem, claim->types[i]);
        int order = compare_costs(cost, before);
        REQUIRE(!ordered || order >= 0);
        REQUIRE(!ordered || i == 0 || order > 0 ||
                strcmp(name, solver_type_name(checking->built->problem, claim->types[i - 1])) > 0);
        before = cost;
        if (compare_costs(cost, cheapest) < 0)
            cheapest = cost;
    }
    /* What looks cheaper may have no room for daemons. */
    REQUIRE(named && (paid == cheapest.price ||
                      (checking->input->daemon_count > 0 && paid > cheapest.price)));
    for (size_t i = 1; i < claim->pod_count; i++)
        REQUIRE(claim->pods[i - 1] < claim->pods[i]);
    for (uint32_t i = 0; i < CASE_RESOURCES; i++)
        REQUIRE(claim->requests[i] >= requested(machine, i));
    for (size_t i = 0; i < machine->pool->requirements.count; i++) {
        const struct solver_expression *expression = &machine->pool->requirements.items[i];
        REQUIRE(claim_keeps(checking, machine, expression));
        if (!checking->input->settings.best_effort_min_values &&
            strcmp(expression->key, INSTANCE_TYPE) == 0)
            REQUIRE(claim->type_count >= expression->min_values);
    }
}

/* A claim that must be reserved keeps a machine in each reservation it may come from; none is kept
 * twice. In a simulation of a disruption Karpenter goes on without one, also where nothing else is
 * sold. */
static void check_reservation(const struct checking *checking,
                              const struct solver_offering *offering)
{
    const char *id = reservation_of(offering);
    const struct solver_expression from_it = {
        .key = SOLVER_RESERVATION_KEY, .op = SOLVER_IN, .values = &id, .value_count = 1};
    size_t kept = 0;
    for (size_t i = 0; id != NULL && i < checking->machine_count; i++)
        kept += checking->machines[i].claim != NULL &&
                must_be_reserved(checking, &checking->machines[i]) &&
                claim_meets(checking, &checking->machines[i], &from_it);
    REQUIRE(kept <= offering->reservation_capacity || id == NULL ||
            checking->input->settings.reserved_fallback);
}

void check_reservations(const struct checking *checking)
{
    for (size_t i = 0; i < checking->built->types.count; i++) {
        const struct solver_instance_type *type =
            &checking->input->types[checking->built->types.indices[i]];
        for (size_t j = 0; j < type->offering_count; j++)
            check_reservation(checking, &type->offerings[j]);
    }
}

/* What the pools' machines have together is within the limits, as far as they are limited. */
void check_limits(const struct checking *checking)
{
    const struct solver_case *input = checking->input;
    for (uint32_t pool = 0; pool < checking->built->pools.count; pool++) {
        const struct solver_pool *of = &input->pools[checking->built->pools.indices[pool]];
        for (size_t i = 0; i < of->limits.count; i++) {
            uint32_t resource = of->limits.items[i].resource;
            wide used = 0, bought = 0, claims = 0;
            if (of->limits.items[i].quantity == INT64_MAX) /* the solver's word for none */
                continue;
            for (size_t j = 0; j < checking->machine_count; j++) {
                const struct machine *machine = &checking->machines[j];
                if (machine->claim != NULL && machine->pool == of) {
                    uint32_t type = checking->built->types.indices[machine->claim->type];
                    bought += amount_of(&input->types[type].capacity, resource);
                    claims++;
                } else if (machine->node != NULL && !machine->node->leaving &&
                           machine->node->pool != NULL &&
                           strcmp(machine->node->pool, of->name) == 0) {
                    used += resource == SOLVER_NODES
                                ? 1
                                : amount_of(&machine->node->capacity, resource);
                }
            }
            if (resource == SOLVER_NODES) /* claims of one round do not count */
                REQUIRE(claims == 0 || used < of->limits.items[i].quantity);
            else
                REQUIRE(claims == 0 || used + bought <= of->limits.items[i].quantity);
        }
    }
}

void plan_check(const struct built *built, const struct solver_plan *plan, struct arena *arena)
{
    struct checking checking = {.built = built,
                                .input = built->input,
                                .plan = plan,
                                .names = solver_problem_names(built->problem),
                                .arena = arena};
    make_machines(&checking);
    place_pods(&checking);
    for (size_t i = 0; i < checking.machine_count; i++) {
        const struct machine *machine = &checking.machines[i];
        if (machine->claim != NULL)
            check_claim(&checking, machine);
        else
            REQUIRE(machine->new_count == 0 || holds(machine, &machine->node->allocatable));
        check_rules(&checking, machine);
    }
    check_limits(&checking);
    check_reservations(&checking);
    check_topology(&checking);
}
