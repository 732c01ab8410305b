/* Why a pod fits nowhere: explain.c finds the criteria, explain_nodes.c asks the existing nodes,
 * and reason.c and reason_*.c make the reasons. */
#ifndef TAFFRAIL_SOLVER_EXPLAIN_H
#define TAFFRAIL_SOLVER_EXPLAIN_H

#include "solver/reason.h"
#include "solver/run.h"

/* The reasons up to SOLVER_REASON_PORT are criteria that each leave some options of a pool. */
#define CRITERIA (SOLVER_REASON_PORT + 1)
#define EVERY_CRITERION ((1u << CRITERIA) - 1)
#define TYPO_EDITS 3 /* at most so far from what was meant */

/* One pod against one pool. */
struct explanation {
    struct solver_run *run;
    const struct solver_problem *problem;
    const struct pod *pod;
    const struct shape *shape;
    uint32_t pool;
    const struct relaxation *relaxation;
    uint64_t *options[CRITERIA]; /* what each criterion alone leaves */
    /* What was in the way. */
    const struct taint *taint;
    const struct node_requirements
        *set;          /* of the pool, with what the pod requires; NULL: they clash */
    uint32_t conflict; /* the key, when they do */
    uint32_t group;    /* of topology; SOLVER_NONE */
    uint32_t led;      /* the volume claim that is where the pod cannot be; SOLVER_NONE */
    uint32_t driver;   /* types do not attach as many volumes of it; SOLVER_NONE */
    uint32_t waits;    /* the NodePool for whose full reservations it waits; SOLVER_NONE */
    bool not_tried;    /* the pool, because the pod waits */
    const struct fitting *fitting; /* NULL: it fits nowhere */
    /* Of all pools: whether some type holds the pod alone, once types_asked. */
    bool types_asked, some_type_holds;
};
/* Where a pod fits, by bits: these need no reason. */
struct fitting {
    const uint64_t *pools, *nodes;
};
struct solver_reasons explain_misfits(struct solver_run *run, uint32_t pod,
                                      const struct fitting *fitting);
struct reason_list {
    struct solver_reason *items;
    size_t count, capacity;
};

/* Makes the reason of a kind. set: the reasons that together exclude the pool, a bit each. */
struct solver_reason reason_tell(struct explanation *q, enum solver_reason_kind kind, unsigned set);
/* Options of the pool that the other reasons of the set leave. */
uint64_t *reason_left(struct explanation *q, enum solver_reason_kind kind, unsigned set);

/* ---- reason_say.c: sayings and their operands, in memory of their own ---- */

struct sayings {
    struct solver_saying *items;
    size_t count, capacity;
};
struct solver_saying reason_say(const struct explanation *q, enum solver_says says,
                                const struct solver_operand *operands, size_t count);
#define SAY(q, what, ...)                                                             \
    reason_say((q), SOLVER_SAYS_##what, (const struct solver_operand[]){__VA_ARGS__}, \
               COUNT_OF(((const struct solver_operand[]){__VA_ARGS__})))
#define SAY_ONLY(what) ((struct solver_saying){.says = SOLVER_SAYS_##what})

struct solver_operand operand_name(struct text name);
struct solver_operand operand_number(int64_t number);
/* Of a resource; up: what does not come out even is rounded up. */
struct solver_operand operand_quantity(const struct explanation *q, size_t resource, int64_t amount,
                                       bool up);
struct solver_operand operand_texts(const struct text_list *texts);
struct solver_operand operand_values(const struct explanation *q, uint32_t key,
                                     const uint64_t *values, size_t word_count);
/* What requirements ask. */
struct solver_operand operand_asked(const struct explanation *q,
                                    const struct solver_requirement *const *items, size_t count);
struct solver_operand operand_requirement(const struct explanation *q,
                                          const struct solver_requirement *r);
/* What a set asks of zone and capacity type. */
struct solver_operand operand_offering(const struct explanation *q,
                                       const struct solver_requirements *set);
struct solver_operand operand_taint(const struct explanation *q, const struct taint *taint);
struct solver_operand operand_toleration(const struct explanation *q, const struct toleration *t);
/* A topology group, and the pods it selects. */
struct solver_operand operand_group(const struct explanation *q, uint32_t number);
struct solver_operand operand_selector(const struct explanation *q, uint32_t number);
struct solver_operand operand_sayings(const struct sayings *sayings);
struct text key_text(const struct solver_problem *problem, uint32_t key);
struct text value_text(const struct solver_problem *problem, uint32_t key, size_t value);
static inline const char *option_type_name(const struct solver_problem *problem, size_t option)
{
    return problem->types.items[problem->options.items[option].type].name;
}
/* The names of the types of options, each once. */
struct text_list option_type_names(const struct explanation *q, const uint64_t *options);

/* ---- reason_types.c ---- */

void reason_of_types(struct explanation *q, struct solver_reason *reason, unsigned set);
void reason_of_conflict(struct explanation *q, struct solver_reason *reason);
/* Of a pool that can launch nothing, whatever the pod. */
void reason_of_pool(struct explanation *q, struct solver_reason *reason);

/* ---- reason_room.c ---- */

void reason_of_room(struct explanation *q, struct solver_reason *reason, unsigned set);
void reason_of_limit(struct explanation *q, struct solver_reason *reason, unsigned set);

/* ---- reason_topology.c ---- */

void reason_of_topology(struct explanation *q, struct solver_reason *reason, unsigned set);
/* The matching group that leaves nothing of options; with none alone to blame the first. */
uint32_t reason_group(struct explanation *q, const uint64_t *options);

/* ---- reason_circle.c ---- */

static inline const struct topology_group *group_at(const struct explanation *q, uint32_t number)
{
    return &q->problem->groups.items[number];
}
/* Whether the group counts the pod. */
bool reason_matters(const struct explanation *q, uint32_t group, uint32_t pod);
bool reason_waits(const struct explanation *q, uint32_t pod);
/* "a needs b, b needs a", when the pods that the group in the way selects wait for the pod. False:
 * they do not, or that takes too long to find out. */
bool reason_circle(const struct explanation *q, struct solver_saying *saying);

/* ---- reason_volume.c ---- */

void reason_of_volume(struct explanation *q, struct solver_reason *reason);
/* False, with the message, when no place holds all volumes of the pod. */
bool reason_volumes_meet(struct explanation *q, struct solver_reason *reason);

/* The share of what is asked for that is not there; of what is not asked for, the amount. */
static inline double lacking_share(int64_t asked, int64_t room)
{
    return ((double)asked - (double)room) / (asked > 0 ? (double)asked : 1);
}

/* explain_nodes.c: why the nodes there are refuse the pod; false when there are none. */
bool reason_of_nodes(struct explanation *q, struct solver_reason *reason);

#endif
