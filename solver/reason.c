/* Makes the reasons why a NodePool does not take a pod: which sentence, with which operands. */
#include "solver/explain.h"

#include <string.h>

static const char *const reason_names[SOLVER_REASON_COUNT] = {
    [SOLVER_REASON_TAINT] = "taint",           [SOLVER_REASON_REQUIREMENT] = "requirement",
    [SOLVER_REASON_RESOURCES] = "resources",   [SOLVER_REASON_OFFERING] = "offering",
    [SOLVER_REASON_TOPOLOGY] = "topology",     [SOLVER_REASON_VOLUME] = "volume",
    [SOLVER_REASON_LIMIT] = "limit",           [SOLVER_REASON_PORT] = "port",
    [SOLVER_REASON_MIN_VALUES] = "min-values", [SOLVER_REASON_DEVICES] = "devices",
};

const char *solver_reason_name(enum solver_reason_kind kind)
{
    return reason_names[kind];
}

uint64_t *reason_left(struct explanation *q, enum solver_reason_kind kind, unsigned set)
{
    uint64_t *options = ARENA_ARRAY(q->run->arena, q->problem->option_words, uint64_t);
    for (size_t w = 0; w < q->problem->option_words; w++) {
        options[w] = q->problem->pools.items[q->pool].options[w];
        for (size_t i = 0; i < CRITERIA; i++)
            if (i != kind && (set >> i & 1) != 0)
                options[w] &= q->options[i][w];
    }
    return options;
}

static void tell_taint(struct explanation *q, struct solver_reason *reason)
{
    const struct taint_list taints = q->problem->pools.items[q->pool].taints;
    struct sayings missing = {0};
    for (size_t i = 0; i < taints.count; i++) {
        const struct taint_list one = {&taints.items[i], 1};
        if (!taints_tolerated(one, &q->shape->tolerations, q->relaxation->prefer, NULL))
            *LIST_PUSH(q->run->arena, &missing) = SAY(q, IT, operand_taint(q, one.items));
    }
    reason->message = missing.count > 1 ? SAY(q, TAINTS, operand_sayings(&missing))
                                        : SAY(q, TAINT, operand_taint(q, q->taint));
    /* A toleration of the same key that does not match. */
    for (size_t i = 0; i < q->shape->tolerations.count; i++) {
        const struct toleration *t = &q->shape->tolerations.items[i];
        if (t->key != q->taint->key)
            continue;
        reason->nearest = SAY(q, TOLERATES, operand_toleration(q, t));
        return;
    }
}

/* Whether an offering has what the set requires of the label. */
static bool suits(const struct explanation *q, const struct offering_shape *shape,
                  const struct solver_requirements *set, uint32_t key)
{
    const struct solver_requirement *has = solver_requirements_get(&shape->requirements, key);
    const struct solver_requirement *wanted = solver_requirements_get(set, key);
    return has == NULL || wanted == NULL ||
           solver_requirement_intersects(q->problem->names, has, wanted);
}

/* Whether it has what the set requires besides a zone and a capacity type. */
static bool suits_further(const struct explanation *q, const struct offering_shape *shape)
{
    for (size_t i = 0; i < shape->requirements.count; i++) {
        uint32_t key = shape->requirements.items[i].key;
        if (key != q->problem->zone_key && key != q->problem->capacity_type_key &&
            !suits(q, shape, &q->set->requirements, key))
            return false;
    }
    return true;
}

/* "spot in eu-west-1a or eu-west-1b": capacity types and zones of some options. */
static struct sayings offered(const struct explanation *q, const uint64_t *options)
{
    struct sayings pairs = {0};
    for (size_t i = 0; i < q->problem->offering_shapes.count; i++) {
        const struct offering_shape *shape = &q->problem->offering_shapes.items[i];
        const uint32_t keys[] = {q->problem->capacity_type_key, q->problem->zone_key};
        struct solver_operand values[2];
        size_t count = 0;
        if (!bits_meet(shape->options, options, q->problem->option_words) ||
            !suits_further(q, shape))
            continue;
        for (size_t k = 0; k < 2; k++) {
            const struct solver_requirement *r =
                solver_requirements_get(&shape->requirements, keys[k]);
            if (r != NULL)
                values[count++] = operand_values(q, r->key, r->words, r->word_count);
        }
        if (count > 0)
            *LIST_PUSH(q->run->arena, &pairs) = reason_say(
                q, count == 2 ? SOLVER_SAYS_OFFERED_IN : SOLVER_SAYS_OFFERED, values, count);
    }
    return pairs;
}

/* The full reservations that would suit. nameless: whether a reserved offering names none. */
static struct solver_operand full_reservations(struct explanation *q, const uint64_t *options,
                                               bool *nameless)
{
    const struct solver_problem *problem = q->problem;
    *nameless = false;
    if (problem->reserved.count == 0)
        return operand_texts(&(struct text_list){0});
    const bool *allowed = node_requirements_offerings(q->run, q->set);
    size_t value_count = solver_names_value_count(problem->names, problem->reservation_key);
    uint64_t *ids = ARENA_ARRAY(q->run->arena, bits_words(value_count), uint64_t);
    for (size_t i = 0; i < problem->reserved.count; i++) {
        const struct reserved_offering *one = &problem->reserved.items[i];
        if (!bits_has(options, one->option) || !allowed[one->offering->shape])
            continue;
        if (one->offering->reservation == SOLVER_NONE)
            *nameless = true;
        else
            bits_add(ids, problem->reservations.items[one->offering->reservation].value);
    }
    return operand_values(q, problem->reservation_key, ids, bits_words(value_count));
}

/* Whether an offering in a zone and of a capacity type that the set allows has another value of the
 * label. */
static bool excludes_offering(const struct explanation *q, const struct solver_requirements *set,
                              uint32_t key)
{
    const struct solver_problem *problem = q->problem;
    for (size_t i = 0; i < problem->offering_shapes.count; i++) {
        const struct offering_shape *shape = &problem->offering_shapes.items[i];
        if (suits(q, shape, set, problem->zone_key) &&
            suits(q, shape, set, problem->capacity_type_key) && !suits(q, shape, set, key))
            return true;
    }
    return false;
}

/* The set's requirements on zone, capacity type, and what else offerings there do not have. */
struct solver_operand operand_offering(const struct explanation *q,
                                       const struct solver_requirements *set)
{
    const uint32_t keys[] = {q->problem->zone_key, q->problem->capacity_type_key};
    const struct solver_requirement **asked =
        ARENA_ARRAY(q->run->arena, set->count, const struct solver_requirement *);
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const struct solver_requirement *r = solver_requirements_get(set, keys[i]);
        if (r != NULL)
            asked[count++] = r;
    }
    for (size_t i = 0; i < set->count; i++)
        if (excludes_offering(q, set, set->items[i].key))
            asked[count++] = &set->items[i];
    return operand_asked(q, asked, count);
}

/* Without a set no offering is looked for: the requirements leave nothing by themselves. */
static void tell_offering(struct explanation *q, struct solver_reason *reason, unsigned set)
{
    const uint64_t *left = reason_left(q, SOLVER_REASON_OFFERING, set);
    bool nameless = false;
    if (q->not_tried) {
        const char *pool = q->problem->pools.items[q->waits].name;
        reason->message = SAY(q, WAITS_FOR_RESERVATION, operand_name(text_of(pool)));
        return;
    }
    struct solver_operand full = full_reservations(q, left, &nameless);
    if (full.texts.count > 0) {
        reason->message = SAY(q, RESERVATIONS_FULL, full);
        return;
    }
    if (nameless) {
        reason->message = SAY_ONLY(NO_RESERVATION_ID);
        return;
    }
    struct solver_operand wants = operand_offering(q, &q->set->requirements);
    reason->message =
        wants.asked.count > 0 ? SAY(q, NOT_OFFERED_WITH, wants) : SAY_ONLY(NOT_OFFERED);
    struct sayings pairs = offered(q, left);
    if (pairs.count > 0)
        reason->nearest = SAY(q, ON_OFFER, operand_sayings(&pairs));
}

/* Removes the options on which a DaemonSet takes the port; whether there are any. */
static bool drop_those_with(const struct explanation *q, const struct host_port *port,
                            uint64_t *options)
{
    const struct pool *pool = &q->problem->pools.items[q->pool];
    bool any = false;
    for (size_t i = 0; i < pool->daemon_count; i++) {
        const struct daemon_overhead_group *group = &pool->daemons[i];
        if (!host_ports_conflict(group->ports, group->port_count, port, 1))
            continue;
        any |= bits_meet(options, group->options, q->problem->option_words);
        for (size_t w = 0; w < q->problem->option_words; w++)
            options[w] &= ~group->options[w];
    }
    return any;
}

/* The number of the one port of the pod that is taken on all of the options; their count: none. */
static size_t taken_on_all(const struct explanation *q, const uint64_t *options)
{
    size_t words = q->problem->option_words;
    uint64_t *left = ARENA_ARRAY(q->run->arena, words, uint64_t);
    for (size_t i = 0; i < q->shape->port_count; i++) {
        memcpy(left, options, words * sizeof *left);
        if (drop_those_with(q, &q->shape->ports[i], left) && !bits_any(left, words))
            return i;
    }
    return q->shape->port_count;
}

static void tell_port(struct explanation *q, struct solver_reason *reason, unsigned set)
{
    uint64_t *left = reason_left(q, SOLVER_REASON_PORT, set);
    size_t count = q->shape->port_count, one = taken_on_all(q, left);
    struct text_list ports = {0}; /* of which one is taken on each */
    for (size_t i = 0; i < count; i++) {
        const struct host_port *port = &q->shape->ports[i];
        if (one == count ? drop_those_with(q, port, left) : i == one)
            *LIST_PUSH(q->run->arena, &ports) =
                arena_printf(q->run->arena, "%u", (unsigned)port->port);
    }
    struct solver_operand taken = operand_texts(&ports);
    reason->message =
        set == 1u << SOLVER_REASON_PORT ? SAY(q, PORT, taken) : SAY(q, PORT_OF_TYPES, taken);
}

/* Which minValues the types that hold the pod do not reach. */
static void tell_min_values(struct explanation *q, struct solver_reason *reason)
{
    uint64_t *options = reason_left(q, SOLVER_REASON_MIN_VALUES, EVERY_CRITERION);
    const struct solver_requirements *set = &q->run->empty_node_claims[q->pool].set->requirements;
    reason->message = SAY_ONLY(MIN_VALUES);
    for (size_t i = 0; i < set->count; i++) {
        const struct solver_requirement *r = &set->items[i];
        uint32_t count = r->min_values == 0 ? 0 : requirement_count_values(q->problem, r, options);
        if (count >= r->min_values)
            continue;
        reason->message = SAY(q, MIN_VALUES_OF, operand_number(r->min_values),
                              operand_name(key_text(q->problem, r->key)));
        reason->nearest = SAY(q, VALUES_REACHED, operand_number(count));
        return;
    }
}

struct solver_reason reason_tell(struct explanation *q, enum solver_reason_kind kind, unsigned set)
{
    struct solver_reason reason = {.pool = q->pool, .kind = kind};
    switch (kind) {
    case SOLVER_REASON_TAINT:
        tell_taint(q, &reason);
        break;
    case SOLVER_REASON_REQUIREMENT:
        if (q->set != NULL)
            reason_of_types(q, &reason, set);
        else
            reason_of_conflict(q, &reason);
        break;
    case SOLVER_REASON_RESOURCES:
        reason_of_room(q, &reason, set);
        break;
    case SOLVER_REASON_OFFERING:
        tell_offering(q, &reason, set);
        break;
    case SOLVER_REASON_TOPOLOGY:
        reason_of_topology(q, &reason, set);
        break;
    case SOLVER_REASON_VOLUME:
        reason_of_volume(q, &reason);
        break;
    case SOLVER_REASON_LIMIT:
        reason_of_limit(q, &reason, set);
        break;
    case SOLVER_REASON_PORT:
        tell_port(q, &reason, set);
        break;
    case SOLVER_REASON_MIN_VALUES:
        tell_min_values(q, &reason);
        break;
    case SOLVER_REASON_DEVICES:
    case SOLVER_REASON_COUNT:
        break;
    }
    return reason;
}
