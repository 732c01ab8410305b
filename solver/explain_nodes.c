/* Why the existing Nodes refuse a pod. */
#include <string.h>

#include "solver/explain.h"

struct causes {
    struct solver_cause *items;
    size_t count, capacity;
};

static struct solver_cause cause_make(enum solver_reason_kind kind, struct solver_saying saying)
{
    return (struct solver_cause){kind, saying, 1};
}

/* ---- one node ---- */

static bool suits(const struct explanation *q, const struct state_node *node,
                  const struct term *term)
{
    return hostname_allows(q->problem, term->hostname, node->hostname) &&
           compatible(q->problem, &node->labels, &term->requirements, true, NULL);
}

/* nodeSelector, with one of the required terms. */
static bool suits_required(const struct explanation *q, const struct state_node *node)
{
    for (size_t i = 0; i < q->shape->required_count; i++)
        if (suits(q, node, &q->shape->required[i]))
            return true;
    return q->shape->required_count == 0 && suits(q, node, &q->shape->selector);
}

static struct solver_saying say_labels(struct explanation *q, const struct state_node *node)
{
    const struct solver_problem *problem = q->problem;
    const struct shape *shape = q->shape;
    const struct term *term = shape->required_count > 0 ? &shape->required[0] : &shape->selector;
    const struct solver_requirement *lacks = NULL;
    if (shape->required_count < 2 && !hostname_allows(problem, term->hostname, node->hostname))
        lacks = term->hostname;
    for (size_t i = 0; i < term->requirements.count && shape->required_count < 2; i++) {
        struct solver_requirement copy = term->requirements.items[i];
        const struct solver_requirements one = {&copy, 1, 1};
        if (compatible(problem, &node->labels, &one, true, NULL))
            continue;
        lacks = &term->requirements.items[i];
        if (solver_requirement_op(&copy) == SOLVER_NOT_IN && !copy.has_gte && !copy.has_lte) {
            copy.complement = false; /* the node has a value that the pod excludes */
            return SAY(q, NODE_HAS, operand_requirement(q, &copy));
        }
        if (solver_requirement_op(&copy) == SOLVER_DOES_NOT_EXIST)
            return SAY(q, NODE_HAS_LABEL, operand_name(key_text(problem, copy.key)));
        break;
    }
    return lacks == NULL ? SAY_ONLY(NODE_LACKS_REQUIRED)
                         : SAY(q, NODE_LACKS, operand_requirement(q, lacks));
}

/* The resource of which the node lacks the largest share; SOLVER_NONE: none. */
static uint32_t lacking(const struct explanation *q, size_t number, double *share)
{
    const int64_t *room = &q->run->room[number * q->problem->resource_count];
    uint32_t resource = SOLVER_NONE;
    for (uint32_t r = 0; r < q->problem->resource_count; r++) {
        double lacks = lacking_share(q->shape->requests[r], room[r]);
        if (q->shape->requests[r] > room[r] && (resource == SOLVER_NONE || lacks > *share)) {
            resource = r;
            *share = lacks;
        }
    }
    return resource;
}

/* The pod's host port that is taken on the node; 0: none. */
static uint32_t taken_port(const struct explanation *q, size_t number)
{
    for (size_t i = 0; i < q->shape->port_count; i++)
        if (host_ports_conflict(q->run->node_ports[number].items, q->run->node_ports[number].count,
                                &q->shape->ports[i], 1))
            return q->shape->ports[i].port;
    return 0;
}

/* Causes that a developer can change least come first. */
static struct solver_cause cause_of(struct explanation *q, size_t number, bool matching,
                                    uint32_t group)
{
    const struct solver_problem *problem = q->problem;
    const struct state_node *node = &problem->nodes.items[number];
    const struct shape *shape = q->shape;
    const struct taint *taint = NULL;
    double share = 0;
    if (!taints_tolerated(node->taints, &shape->tolerations, q->relaxation->prefer, &taint))
        return cause_make(SOLVER_REASON_TAINT, SAY(q, NODE_HAS_TAINT, operand_taint(q, taint)));
    if (!suits_required(q, node))
        return cause_make(SOLVER_REASON_REQUIREMENT, say_labels(q, node));
    if (!node_suits_volumes(q->run, node, shape))
        return cause_make(SOLVER_REASON_VOLUME, SAY_ONLY(NODE_ELSEWHERE));
    uint32_t resource = lacking(q, number, &share);
    if (resource == SOLVER_PODS)
        return cause_make(SOLVER_REASON_RESOURCES, SAY_ONLY(NODE_LACKS_POD_ROOM));
    if (resource != SOLVER_NONE)
        return cause_make(
            SOLVER_REASON_RESOURCES,
            SAY(q, NODE_LACKS, operand_name(text_of(solver_resource_name(problem, resource)))));
    uint32_t port = taken_port(q, number);
    if (port != 0)
        return cause_make(SOLVER_REASON_PORT, SAY(q, NODE_HAS_PORT, operand_number(port)));
    if (!node_attaches(q->run, (uint32_t)number, q->pod))
        return cause_make(SOLVER_REASON_VOLUME, SAY_ONLY(NODE_ATTACHES_NO_MORE));
    const struct relaxation_state *state = &q->run->relaxations[q->relaxation->number];
    if (!matching || topology_host(q->run, state, (uint32_t)number, &group) != CAN_ADD ||
        !topology_allows_node(q->run, state, node, &group))
        return cause_make(SOLVER_REASON_TOPOLOGY, SAY(q, NODE_RULED_OUT, operand_group(q, group)));
    return cause_make(SOLVER_REASON_REQUIREMENT, SAY_ONLY(NODE_SUITS_NOT_ALL));
}

/* ---- all nodes ---- */

/* Nodes that the simulation has bought are not reported. */
static bool refuses(const struct explanation *q, size_t number)
{
    const struct state_node *node = &q->problem->nodes.items[number];
    bool fits = q->fitting != NULL && bits_has(q->fitting->nodes, number);
    return !node->leaving && !node->to_come && !fits;
}

static void tell_nearest_node(struct explanation *q, struct solver_reason *reason, size_t number)
{
    double share = 0;
    uint32_t resource = lacking(q, number, &share);
    int64_t room = q->run->room[number * q->problem->resource_count + resource];
    if (room > 0)
        reason->nearest = SAY(q, NODE_HAS_LEFT,
                              operand_name(text_of(solver_node_name(q->problem, (uint32_t)number))),
                              operand_quantity(q, resource, room, false),
                              operand_quantity(q, resource, q->shape->requests[resource], true));
}

bool reason_of_nodes(struct explanation *q, struct solver_reason *reason)
{
    struct causes causes = {0};
    size_t nearest = SIZE_MAX;
    double least = 0;
    uint32_t group = SOLVER_NONE;
    if (q->shape->relaxation_count == 0)
        return false;
    q->relaxation = &q->shape->relaxations[q->shape->relaxation_count - 1];
    bool matching = topology_match(q->run, q->shape, q->relaxation, &group);
    for (size_t i = 0; i < q->problem->nodes.count; i++) {
        if (!refuses(q, i))
            continue;
        struct solver_cause cause = cause_of(q, i, matching, group);
        *LIST_PUSH(q->run->arena, &causes) = cause;
        double share = 0;
        if (cause.kind != SOLVER_REASON_RESOURCES)
            continue;
        (void)lacking(q, i, &share);
        if ((nearest == SIZE_MAX || share < least ||
             (share <= least && strcmp(q->problem->nodes.items[i].name,
                                       q->problem->nodes.items[nearest].name) < 0))) {
            nearest = i;
            least = share;
        }
    }
    if (causes.count == 0)
        return false;
    reason->causes = causes.items;
    reason->cause_count = causes.count;
    if (nearest != SIZE_MAX)
        tell_nearest_node(q, reason, nearest);
    return true;
}
