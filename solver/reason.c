/* The reasons why a pod fits nowhere, collected. */
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

uint64_t *reason_left(struct question *q, enum solver_reason_kind kind, unsigned set)
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

static void tell_taint(struct question *q, struct solver_reason *reason)
{
    struct arena *arena = q->run->arena;
    reason->message = arena_printf(arena, "does not tolerate the taint %.*s",
                                   TEXT_ARGS(words_taint(q->problem, arena, q->taint)))
                          .data;
    /* One that is meant for it and misses. */
    for (size_t i = 0; i < q->shape->tolerations.count; i++) {
        const struct toleration *t = &q->shape->tolerations.items[i];
        if (t->key != q->taint->key)
            continue;
        reason->nearest = arena_printf(arena, "it tolerates %.*s",
                                       TEXT_ARGS(words_toleration(q->problem, arena, t)))
                              .data;
        return;
    }
}

/* "spot in eu-west-1a and eu-west-1b": what some options are offered as. */
static struct text words_offered(struct question *q, const uint64_t *options)
{
    struct arena *arena = q->run->arena;
    struct texts pairs = {0};
    for (size_t i = 0; i < q->problem->offering_shapes.count; i++) {
        const struct offering_shape *shape = &q->problem->offering_shapes.items[i];
        bool some = bits_meet(shape->options, options, q->problem->option_words);
        const uint32_t keys[] = {q->problem->capacity_type_key, q->problem->zone_key};
        struct text pair = TEXT("");
        for (size_t k = 0; k < 2 && some; k++) {
            const struct solver_requirement *r =
                solver_requirements_get(&shape->requirements, keys[k]);
            if (r != NULL)
                pair =
                    arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(pair), pair.size == 0 ? "" : " in ",
                                 TEXT_ARGS(words_values(q->problem, arena, r->key, r->words,
                                                        r->word_count, " or ")));
        }
        if (pair.size > 0)
            *LIST_PUSH(arena, &pairs) = pair;
    }
    return words_list(arena, &pairs, " and ");
}

/* The reservations that would do, were they not full. nameless: whether something reserved names
 * none. */
static struct text full_reservations(struct question *q, const uint64_t *options, bool *nameless)
{
    const struct solver_problem *problem = q->problem;
    *nameless = false;
    if (problem->reserved.count == 0 || q->set == NULL)
        return TEXT("");
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
    if (!bits_any(ids, bits_words(value_count)))
        return TEXT("");
    return words_values(problem, q->run->arena, problem->reservation_key, ids,
                        bits_words(value_count), " and ");
}

static void tell_offering(struct question *q, struct solver_reason *reason, unsigned set)
{
    struct arena *arena = q->run->arena;
    const uint64_t *left = reason_left(q, SOLVER_REASON_OFFERING, set);
    bool nameless = false;
    struct text full = full_reservations(q, left, &nameless);
    if (nameless && full.size == 0) {
        reason->message = "only reserved capacity would do, and what is on offer names no capacity "
                          "reservation (" SOLVER_RESERVATION_KEY ")";
        return;
    }
    if (full.size > 0) {
        reason->message = arena_printf(arena,
                                       "only reserved capacity would do, and no machine is free in "
                                       "the capacity reservations there are: %.*s",
                                       TEXT_ARGS(full))
                              .data;
        return;
    }
    struct text wants =
        q->set == NULL ? TEXT("") : words_offering(q->problem, arena, &q->set->requirements);
    reason->message =
        wants.size > 0
            ? arena_printf(arena, "nothing that would do is on offer with %.*s", TEXT_ARGS(wants))
                  .data
            : "nothing that would do is on offer";
    struct text offered = words_offered(q, left);
    if (offered.size > 0)
        reason->nearest = arena_printf(arena, "on offer: %.*s", TEXT_ARGS(offered)).data;
}

static void tell_port(struct question *q, struct solver_reason *reason)
{
    const struct pool *pool = &q->problem->pools.items[q->pool];
    uint32_t taken = 0;
    for (size_t i = 0; i < pool->daemon_count && taken == 0; i++)
        for (size_t j = 0; j < q->shape->port_count && taken == 0; j++)
            if (host_ports_conflict(pool->daemons[i].ports, pool->daemons[i].port_count,
                                    &q->shape->ports[j], 1))
                taken = q->shape->ports[j].port;
    reason->message =
        arena_printf(q->run->arena, "a DaemonSet takes host port %u on every node of this NodePool",
                     taken)
            .data;
}

/* Which minimum the types that would hold the pod fall short of. */
static void tell_min_values(struct question *q, struct solver_reason *reason)
{
    struct arena *arena = q->run->arena;
    uint64_t *options = reason_left(q, SOLVER_REASON_MIN_VALUES, EVERY_CRITERION);
    const struct solver_requirements *set = &q->run->empty_node_claims[q->pool].set->requirements;
    reason->message = "the NodePool's minValues cannot all be kept";
    for (size_t i = 0; i < set->count; i++) {
        const struct solver_requirement *r = &set->items[i];
        uint32_t count = r->min_values == 0 ? 0 : requirement_count_values(q->problem, r, options);
        if (count >= r->min_values)
            continue;
        reason->message = arena_printf(arena, "the NodePool wants minValues %u of %.*s",
                                       r->min_values, TEXT_ARGS(words_key(q->problem, r->key)))
                              .data;
        reason->nearest =
            arena_printf(arena, "the types that would hold it have %u between them", count).data;
        return;
    }
}

struct solver_reason reason_tell(struct question *q, enum solver_reason_kind kind, unsigned set)
{
    struct solver_reason reason = {.pool = q->pool, .kind = kind, .message = "", .nearest = ""};
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
        tell_port(q, &reason);
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
