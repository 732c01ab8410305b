/* Finds pods that wait for each other in a cycle of affinities: a needs a node with b, b one with
 * c, c one with a. */
#include <string.h>

#include "solver/explain.h"

bool reason_matters(const struct explanation *q, uint32_t group_number, uint32_t pod)
{
    const struct solver_problem *problem = q->problem;
    const struct shape *shape = &problem->shapes.items[problem->pods.items[pod].shape];
    const struct topology_group *group = group_at(q, group_number);
    if (!group->inverse)
        return topology_group_selects(problem, group,
                                      &problem->label_classes.items[shape->label_class]);
    for (size_t i = 0; i < shape->inverse_group_count; i++)
        if (shape->inverse_groups[i] == group_number)
            return true;
    return false;
}

bool reason_waits(const struct explanation *q, uint32_t pod)
{
    return q->problem->pods.items[pod].node == SOLVER_NONE &&
           q->run->placements[pod].kind == SOLVER_UNSCHEDULABLE;
}

/* ---- which pods wait for which ---- */

/* How many pairs of shapes all questions to a run may look at. */
#define STEPS_MAX ((size_t)100 * 1000 * 1000)

struct selected { /* the unplaced shapes that a group selects */
    const uint32_t *shapes;
    size_t count;
    bool known;
};
/* Shared by the questions to a run, whose placements no longer change. */
struct waiting {
    uint32_t *pods;            /* by shape: its first unplaced pod; SOLVER_NONE: none */
    struct selected *selected; /* by group */
    uint32_t *before; /* by shape, of one search: the shape that needs it; SOLVER_NONE: none */
    uint32_t *queue;  /* of one search */
    size_t steps;
};

static struct waiting *waiting_of(const struct explanation *q)
{
    const struct solver_problem *problem = q->problem;
    if (q->run->waiting != NULL)
        return q->run->waiting;
    struct arena *arena = q->run->arena;
    struct waiting *waiting = ARENA_NEW(arena, struct waiting);
    waiting->pods = ARENA_ARRAY(arena, problem->shapes.count, uint32_t);
    waiting->before = ARENA_ARRAY(arena, problem->shapes.count, uint32_t);
    waiting->queue = ARENA_ARRAY(arena, problem->shapes.count, uint32_t);
    waiting->selected = ARENA_ARRAY(arena, problem->groups.count, struct selected);
    memset(waiting->pods, 0xff, problem->shapes.count * sizeof *waiting->pods);
    for (uint32_t pod = 0; pod < problem->pods.count; pod++) {
        uint32_t *first = &waiting->pods[problem->pods.items[pod].shape];
        if (*first == SOLVER_NONE && reason_waits(q, pod))
            *first = pod;
    }
    q->run->waiting = waiting;
    return waiting;
}

static const struct selected *selected_by(const struct explanation *q, struct waiting *waiting,
                                          uint32_t group)
{
    struct selected *selected = &waiting->selected[group];
    if (selected->known)
        return selected;
    LIST(uint32_t) shapes = {0};
    for (uint32_t shape = 0; shape < q->problem->shapes.count; shape++)
        if (waiting->pods[shape] != SOLVER_NONE && reason_matters(q, group, waiting->pods[shape]))
            *LIST_PUSH(q->run->arena, &shapes) = shape;
    waiting->steps += q->problem->shapes.count;
    *selected = (struct selected){shapes.items, shapes.count, true};
    return selected;
}

/* ---- the shortest cycle ---- */

/* A breadth-first search from the shape in question. */
struct search {
    const struct explanation *q;
    struct waiting *waiting;
    uint32_t own;
    size_t count; /* of the queue */
};

/* Adds the shapes that the group selects to the queue; true when the shape in question is one of
 * them. */
static bool follow(struct search *search, uint32_t from, uint32_t group)
{
    struct waiting *waiting = search->waiting;
    const struct selected *selected = selected_by(search->q, waiting, group);
    waiting->steps += selected->count;
    for (size_t i = 0; i < selected->count; i++) {
        uint32_t to = selected->shapes[i];
        if (to == search->own && from != search->own)
            return true;
        if (to == search->own || waiting->before[to] != SOLVER_NONE)
            continue;
        waiting->before[to] = from;
        waiting->queue[search->count++] = to;
    }
    return false;
}

/* The same for each affinity of the shape. */
static bool follow_all(struct search *search, uint32_t from)
{
    const struct shape *shape = &search->q->problem->shapes.items[from];
    const struct relaxation *last = &shape->relaxations[shape->relaxation_count - 1];
    for (size_t i = 0; i < last->group_count; i++)
        if (group_at(search->q, last->groups[i])->kind == TOPOLOGY_POD_AFFINITY &&
            follow(search, from, last->groups[i]))
            return true;
    return false;
}

/* The last shape of the shortest cycle; SOLVER_NONE: there is none, or STEPS_MAX is reached. */
static uint32_t find_last(struct search *search)
{
    struct waiting *waiting = search->waiting;
    memset(waiting->before, 0xff, search->q->problem->shapes.count * sizeof *waiting->before);
    follow(search, search->own, search->q->group);
    for (size_t at = 0; at < search->count && waiting->steps < STEPS_MAX; at++)
        if (follow_all(search, waiting->queue[at]))
            return waiting->queue[at];
    return SOLVER_NONE;
}

/* ---- the reason ---- */

#define NAMED_MAX                                                                  \
    6 /* of larger cycles the first pods and the last are named; never all but one \
       */

static struct solver_saying say_step(const struct search *search, uint32_t from, uint32_t to)
{
    const struct solver_problem *problem = search->q->problem;
    const uint32_t *pods = search->waiting->pods;
    return SAY(search->q, POD_NEEDS_POD,
               operand_name(text_of(solver_pod_name(problem, pods[from]))),
               operand_name(text_of(solver_pod_name(problem, pods[to]))));
}

static struct solver_saying say_circle(const struct search *search, uint32_t last)
{
    struct arena *arena = search->q->run->arena;
    const uint32_t *before = search->waiting->before;
    size_t count = 1; /* shapes in the cycle */
    for (uint32_t shape = last; shape != search->own; shape = before[shape])
        count++;
    uint32_t *circle = ARENA_ARRAY(arena, count, uint32_t);
    size_t at = count;
    for (uint32_t shape = last; shape != search->own; shape = before[shape])
        circle[--at] = shape;
    circle[0] = search->own;

    size_t named = count <= NAMED_MAX + 1 ? count - 1 : NAMED_MAX - 2; /* steps before the last */
    struct sayings steps = {0};
    for (size_t i = 0; i < named; i++)
        *LIST_PUSH(arena, &steps) = say_step(search, circle[i], circle[i + 1]);
    if (named < count - 1)
        *LIST_PUSH(arena, &steps) =
            SAY(search->q, AND_SO_ON, operand_number((int64_t)(count - 2 - named)));
    *LIST_PUSH(arena, &steps) = say_step(search, last, search->own);
    return SAY(search->q, ALL, operand_sayings(&steps));
}

bool reason_circle(const struct explanation *q, struct solver_saying *saying)
{
    struct search search = {.q = q, .waiting = waiting_of(q), .own = q->shape->number};
    search.waiting->pods[search.own] = (uint32_t)(q->pod - q->problem->pods.items);
    uint32_t last = find_last(&search);
    if (last != SOLVER_NONE)
        *saying = say_circle(&search, last);
    return last != SOLVER_NONE;
}
