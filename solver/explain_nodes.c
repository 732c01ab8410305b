/* Why the Nodes that are there refuse a pod. */
#include <stdlib.h>
#include <string.h>

#include "solver/explain.h"

#define CAUSES_SHOWN 3

/* Why some of the nodes refuse the pod. */
struct cause {
    enum solver_reason_kind kind;
    struct text one, many; /* "lacks cpu", "lack cpu" */
    size_t count;
};
struct causes {
    struct cause *items;
    size_t count, capacity;
};

static struct cause cause_make(struct question *q, enum solver_reason_kind kind, const char *one,
                               const char *many, struct text what)
{
    struct arena *arena = q->run->arena;
    return (struct cause){kind, arena_printf(arena, "%s %.*s", one, TEXT_ARGS(what)),
                          arena_printf(arena, "%s %.*s", many, TEXT_ARGS(what)), 1};
}

static struct cause cause_of_taint(struct question *q, const struct taint *taint)
{
    return cause_make(q, SOLVER_REASON_TAINT, "has", "have",
                      arena_printf(q->run->arena, "the taint %.*s",
                                   TEXT_ARGS(words_taint(q->problem, q->run->arena, taint))));
}

/* ---- what a node says ---- */

static bool suits(const struct question *q, const struct state_node *node, const struct term *term)
{
    return hostname_allows(q->problem, term->hostname, node->hostname) &&
           compatible(q->problem, &node->labels, &term->requirements, true, NULL);
}

/* nodeSelector, with one of the required terms. */
static bool suits_required(const struct question *q, const struct state_node *node)
{
    for (size_t i = 0; i < q->shape->required_count; i++)
        if (suits(q, node, &q->shape->required[i]))
            return true;
    return q->shape->required_count == 0 && suits(q, node, &q->shape->selector);
}

static struct cause cause_of_labels(struct question *q, const struct state_node *node)
{
    const struct solver_problem *problem = q->problem;
    const struct shape *shape = q->shape;
    const struct term *term = shape->required_count > 0 ? &shape->required[0] : &shape->selector;
    struct text wants = TEXT("what it requires");
    if (shape->required_count < 2 && !hostname_allows(problem, term->hostname, node->hostname))
        wants = words_requirement(problem, q->run->arena, term->hostname);
    for (size_t i = 0; i < term->requirements.count && shape->required_count < 2; i++) {
        struct solver_requirement copy = term->requirements.items[i];
        const struct solver_requirements one = {&copy, 1, 1};
        if (compatible(problem, &node->labels, &one, true, NULL))
            continue;
        wants = words_requirement(problem, q->run->arena, &copy);
        if (solver_requirement_op(&copy) == SOLVER_NOT_IN && !copy.has_gte && !copy.has_lte) {
            copy.complement = false; /* it has one that the pod does not want */
            return cause_make(q, SOLVER_REASON_REQUIREMENT, "has", "have",
                              words_requirement(problem, q->run->arena, &copy));
        }
        if (solver_requirement_op(&copy) == SOLVER_DOES_NOT_EXIST)
            return cause_make(q, SOLVER_REASON_REQUIREMENT, "has", "have",
                              arena_printf(q->run->arena, "a label %.*s",
                                           TEXT_ARGS(words_key(problem, copy.key))));
        break;
    }
    return cause_make(q, SOLVER_REASON_REQUIREMENT, "lacks", "lack", wants);
}

/* The resource a node lacks most of, for what it is; SOLVER_NONE. */
static uint32_t lacking(const struct question *q, size_t number, double *share)
{
    const int64_t *room = &q->run->room[number * q->problem->resource_count];
    uint32_t resource = SOLVER_NONE;
    for (uint32_t r = 0; r < q->problem->resource_count; r++) {
        double matching = (double)q->shape->requests[r];
        double lacks = (matching - (double)room[r]) / (matching + 1);
        if (q->shape->requests[r] > room[r] && (resource == SOLVER_NONE || lacks > *share)) {
            resource = r;
            *share = lacks;
        }
    }
    return resource;
}

/* The port of the pod that a node has taken; 0: none. */
static uint32_t taken_port(const struct question *q, size_t number)
{
    for (size_t i = 0; i < q->shape->port_count; i++)
        if (host_ports_conflict(q->run->node_ports[number].items, q->run->node_ports[number].count,
                                &q->shape->ports[i], 1))
            return q->shape->ports[i].port;
    return 0;
}

/* What a developer can change least comes first. */
static struct cause cause_of(struct question *q, size_t number, bool matching, uint32_t group)
{
    const struct solver_problem *problem = q->problem;
    const struct state_node *node = &problem->nodes.items[number];
    const struct shape *shape = q->shape;
    struct arena *arena = q->run->arena;
    const struct taint *taint = NULL;
    double share = 0;
    if (!taints_tolerated(node->taints, &shape->tolerations, q->relaxation->prefer, &taint))
        return cause_of_taint(q, taint);
    if (!suits_required(q, node))
        return cause_of_labels(q, node);
    if (!node_suits_volumes(problem, node, shape))
        return cause_make(q, SOLVER_REASON_VOLUME, "is", "are", TEXT("not where its volumes are"));
    uint32_t resource = lacking(q, number, &share);
    if (resource != SOLVER_NONE)
        return cause_make(q, SOLVER_REASON_RESOURCES, "lacks", "lack",
                          resource == SOLVER_PODS
                              ? TEXT("room for a further pod")
                              : arena_printf(arena, "%s", solver_resource_name(problem, resource)));
    uint32_t port = taken_port(q, number);
    if (port != 0)
        return cause_make(q, SOLVER_REASON_PORT, "has", "have",
                          arena_printf(arena, "host port %u taken", port));
    if (!node_attaches(q->run, (uint32_t)number, q->pod))
        return cause_make(q, SOLVER_REASON_VOLUME, "attaches", "attach", TEXT("no more volumes"));
    const struct relaxation_state *state = &q->run->relaxations[q->relaxation->number];
    if (!matching || topology_host(q->run, state, (uint32_t)number, &group) != CAN_ADD ||
        !topology_allows_node(q->run, state, node, &group))
        return cause_make(q, SOLVER_REASON_TOPOLOGY, "is ruled out by", "are ruled out by",
                          reason_group_name(q, group));
    return cause_make(q, SOLVER_REASON_REQUIREMENT, "does not", "do not",
                      TEXT("suit all of its requirements together"));
}

/* ---- all nodes ---- */

static void count_cause(struct question *q, struct causes *causes, struct cause cause)
{
    for (size_t i = 0; i < causes->count; i++)
        if (text_equal(causes->items[i].one, cause.one)) {
            causes->items[i].count++;
            return;
        }
    *LIST_PUSH(q->run->arena, causes) = cause;
}

static int compare_causes(const void *a_pointer, const void *b_pointer)
{
    const struct cause *a = a_pointer, *b = b_pointer;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return text_compare(a->one, b->one);
}

/* One that is to come is no developer's yet. */
static bool is_there(const struct question *q, size_t number)
{
    const struct state_node *node = &q->problem->nodes.items[number];
    return !node->leaving && !node->to_come;
}

static void tell_nearest_node(struct question *q, struct solver_reason *reason, size_t number)
{
    double share = 0;
    uint32_t resource = lacking(q, number, &share);
    struct arena *arena = q->run->arena;
    int64_t room = q->run->room[number * q->problem->resource_count + resource];
    if (room <= 0)
        return;
    struct text has = words_quantity(q->problem, arena, resource, room, false);
    struct text needs =
        words_quantity(q->problem, arena, resource, q->shape->requests[resource], true);
    reason->nearest = arena_printf(arena, "%s has %.*s left; it needs %.*s",
                                   solver_node_name(q->problem, (uint32_t)number), TEXT_ARGS(has),
                                   TEXT_ARGS(needs))
                          .data;
}

static struct text words_causes(struct question *q, struct causes *causes, size_t total)
{
    struct arena *arena = q->run->arena;
    struct cause *items = causes->items;
    if (causes->count > 1)
        qsort(items, causes->count, sizeof *items, compare_causes);
    if (causes->count == 1 && total == 2)
        return arena_printf(arena, "both nodes %.*s", TEXT_ARGS(items->many));
    if (causes->count == 1)
        return total == 1
                   ? arena_printf(arena, "the only node %.*s", TEXT_ARGS(items->one))
                   : arena_printf(arena, "all %zu nodes %.*s", total, TEXT_ARGS(items->many));
    struct text words = arena_printf(arena, "of %zu nodes", total);
    size_t rest = total;
    for (size_t i = 0; i < causes->count && i < CAUSES_SHOWN; i++) {
        words = arena_printf(arena, "%.*s%s %zu %.*s", TEXT_ARGS(words), i == 0 ? "" : ",",
                             items[i].count,
                             TEXT_ARGS(items[i].count == 1 ? items[i].one : items[i].many));
        rest -= items[i].count;
    }
    if (rest > 0)
        words = arena_printf(arena, "%.*s, %zu more for other reasons", TEXT_ARGS(words), rest);
    return words;
}

bool reason_of_nodes(struct question *q, struct solver_reason *reason)
{
    struct causes causes = {0};
    size_t total = 0, nearest = SIZE_MAX;
    double least = 0;
    uint32_t group = SOLVER_NONE;
    if (q->shape->relaxation_count == 0)
        return false;
    q->relaxation = &q->shape->relaxations[q->shape->relaxation_count - 1];
    bool matching = topology_match(q->run, q->shape, q->relaxation, &group);
    for (size_t i = 0; i < q->problem->nodes.count; i++) {
        if (!is_there(q, i))
            continue;
        struct cause cause = cause_of(q, i, matching, group);
        count_cause(q, &causes, cause);
        total++;
        double share = 0;
        if (cause.kind == SOLVER_REASON_RESOURCES && lacking(q, i, &share) != SOLVER_NONE &&
            (nearest == SIZE_MAX || share < least ||
             (share <= least && strcmp(q->problem->nodes.items[i].name,
                                       q->problem->nodes.items[nearest].name) < 0))) {
            nearest = i;
            least = share;
        }
    }
    if (total == 0)
        return false;
    reason->pool = SOLVER_NONE;
    reason->message = words_causes(q, &causes, total).data;
    reason->kind = causes.items[0].kind;
    if (nearest != SIZE_MAX)
        tell_nearest_node(q, reason, nearest);
    return true;
}
