/* Why a pod fits nowhere: explain.c finds the criteria, explain_nodes.c asks the nodes there are,
 * and reason.c and its kin tell it in words. */
#ifndef TAFFRAIL_SOLVER_EXPLAIN_H
#define TAFFRAIL_SOLVER_EXPLAIN_H

#include "solver/run.h"

/* The reasons up to SOLVER_REASON_PORT are criteria that each leave some options of a pool. */
#define CRITERIA (SOLVER_REASON_PORT + 1)
#define EVERY_CRITERION ((1u << CRITERIA) - 1)
#define TYPO_EDITS 3 /* at most so far from what was meant */

/* One pod against one pool. */
struct question {
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
};
struct reason_list {
    struct solver_reason *items;
    size_t count, capacity;
};

/* In words; set is all the reasons that together exclude the pool, a bit each. */
struct solver_reason reason_tell(struct question *question, enum solver_reason_kind kind,
                                 unsigned set);
/* Rows of the pool that the other reasons of the set leave. */
uint64_t *reason_left(struct question *question, enum solver_reason_kind kind, unsigned set);

/* reason_types.c */
void reason_of_types(struct question *question, struct solver_reason *reason, unsigned set);
void reason_of_conflict(struct question *question, struct solver_reason *reason);
/* Of a pool that can launch nothing, whatever the pod. */
void reason_of_pool(struct question *question, struct solver_reason *reason);

/* Whether types say anything of a key. */
bool reason_type_says(const struct solver_problem *problem, uint32_t key);
/* Takes off the options whose type cannot be what the requirement asks. */
void reason_keep(const struct question *question, const struct solver_requirement *r,
                 uint64_t *options);

/* reason_named.c */
struct wanted_type {
    struct text name;
    size_t option; /* SIZE_MAX: nobody knows it */
};
/* Whether a requirement lists types by name. */
bool reason_names_types(const struct question *question, const struct solver_requirement *r);
/* A pod that does so, and the pool has none of them. */
void reason_of_named(struct question *question, struct solver_reason *reason,
                     const struct solver_requirement *r);
/* The nearest in name among options: of the same family the nearest in size. */
struct text reason_nearest_type(const struct question *question, const struct wanted_type *matching,
                                const uint64_t *options);

/* reason_room.c */
void reason_of_room(struct question *question, struct solver_reason *reason, unsigned set);
void reason_of_limit(struct question *question, struct solver_reason *reason, unsigned set);

/* reason_topology.c */
void reason_of_topology(struct question *question, struct solver_reason *reason, unsigned set);
/* The wanted group that leaves nothing of options; with none alone to blame the first. */
uint32_t reason_group(struct question *question, const uint64_t *options);
/* "its spread over zones (topology.kubernetes.io/zone, maxSkew 1)". */
struct text reason_group_name(const struct question *q, uint32_t number);

/* reason_circle.c */
static inline const struct topology_group *group_at(const struct question *q, uint32_t number)
{
    return &q->problem->groups.items[number];
}
/* Whether the group counts the pod. */
bool reason_matters(const struct question *q, uint32_t group, uint32_t pod);
bool reason_waits(const struct question *q, uint32_t pod);
/* "a needs b, b needs a", when the pods that the question's group selects wait for the pod; else,
 * or when that takes too long to find out, empty. */
struct text reason_circle(const struct question *q);

/* reason_volume.c */
void reason_of_volume(struct question *question, struct solver_reason *reason);
/* False, with message and nearest, when no place holds all volumes of the pod. */
bool reason_volumes_meet(struct question *question, struct solver_reason *reason);

/* explain_nodes.c: why the nodes there are refuse the pod; false when there are none. */
bool reason_of_nodes(struct question *question, struct solver_reason *reason);

/* ---- reason_words.c ---- */

struct texts {
    struct text *items;
    size_t count, capacity;
};
struct text words_key(const struct solver_problem *problem, uint32_t key);
/* Sorted: "a, b or c" with last " or "; of more than a few the first, then how many. */
struct text words_list(struct arena *arena, struct texts *texts, const char *last);
struct text words_values(const struct solver_problem *problem, struct arena *arena, uint32_t key,
                         const uint64_t *values, size_t word_count, const char *last);
/* What a requirement asks, as somebody would say it. */
struct text words_requirement(const struct solver_problem *problem, struct arena *arena,
                              const struct solver_requirement *r);
/* What it asks of zone and capacity type; empty when nothing. */
struct text words_offering(const struct solver_problem *problem, struct arena *arena,
                           const struct solver_requirements *set);
/* "dedicated=gpu:NoSchedule". */
struct text words_taint(const struct solver_problem *problem, struct arena *arena,
                        const struct taint *taint);
/* The same of a toleration that names a key. */
struct text words_toleration(const struct solver_problem *problem, struct arena *arena,
                             const struct toleration *t);
/* cpu in thousandths, memory and storage in bytes, as taffrail has them; what does not come out
 * even is rounded up or down. */
struct text words_quantity(const struct solver_problem *problem, struct arena *arena,
                           uint32_t resource, int64_t quantity, bool up);
/* The pods a group selects: "app=web". */
struct text words_selector(const struct solver_problem *problem, struct arena *arena,
                           const struct topology_group *group);
/* The names of the types of options, each once. */
struct texts words_types(const struct solver_problem *problem, struct arena *arena,
                         const uint64_t *options);
const char *words_type(const struct solver_problem *problem, size_t option);

#endif
