/* A small cluster made from bytes, its problem, and the checks of every plan. */
#ifndef TAFFRAIL_FUZZ_SOLVER_CASE_H
#define TAFFRAIL_FUZZ_SOLVER_CASE_H

#include "base/base.h"
#include "fuzz.h"
#include "solver/solver.h"

#define ZONE "topology.kubernetes.io/zone"
#define CAPACITY_TYPE "karpenter.sh/capacity-type"
#define HOSTNAME "kubernetes.io/hostname"
#define INSTANCE_TYPE "node.kubernetes.io/instance-type"

/* The resources of every case; the builder numbers them alike. */
enum { CASE_GPU = SOLVER_FIXED_RESOURCES, CASE_DISK, CASE_RESOURCES };
/* Stands for a type, a shape or a node that a problem does not have, and must refuse. */
#define CASE_UNKNOWN (SOLVER_NONE - 1)

struct case_namespace {
    const char *name;
    struct solver_labels labels;
};
/* A question beside those that a seed draws. */
struct case_question {
    uint32_t shape;
    bool mounts; /* its volumes have claims */
    bool beyond_limits, reserved_fallback;
    bool starved; /* its arena is too small at first */
    /* It asks for none, or for one, of a resource that nothing has. */
    bool none_of_unknown, one_of_unknown;
};
/* Indices in shapes, nodes and types stand where a problem has their numbers. */
struct solver_case {
    struct solver_settings settings;
    struct solver_instance_type *types;
    struct solver_pool *pools;
    struct solver_node *nodes;
    struct case_namespace *namespaces;
    struct solver_shape *shapes;
    bool *only_asked; /* by shape: only a question has it */
    uint32_t *daemons;
    struct solver_pod *pods;
    struct case_question *questions;
    size_t type_count, pool_count, node_count, namespace_count, shape_count, daemon_count,
        pod_count, question_count;
    size_t patience; /* of a second plan: so many times it is asked before it is over; 0: none */
    bool stocked;    /* a second problem is built over a stock */
    bool odd_types;  /* a type may say something else than its offerings do */
};

/* Any bytes make a case; quantities may be absurd, names given twice, lists empty. */
struct solver_case *case_make(const uint8_t *data, size_t size, struct arena *arena);

/* A list of objects as a builder took it. */
struct taken {
    uint32_t *numbers; /* by index in the case; SOLVER_NONE: refused, or of something refused */
    uint32_t *indices; /* by number */
    uint32_t count;
};
struct built {
    const struct solver_case *input;
    const struct solver_problem *problem;
    struct taken types, pools, nodes, shapes, pods;
};

/* Adds every list from its end when backwards, and, with before given, only what was taken then.
 * Every refusal must have its reason. False: no problem came of it. */
bool case_build(const struct solver_case *input, bool backwards, const struct built *before,
                struct arena *arena, struct built *built);

/* The same over a stock of what is sold, with what was taken before. */
const struct solver_problem *case_build_over(const struct solver_case *input,
                                             const struct built *before, struct arena *arena);

/* Aborts unless the plan keeps every hard rule. */
void plan_check(const struct built *built, const struct solver_plan *plan, struct arena *arena);
/* Whether a pod may fit nowhere without a reason: a pool launches what the problem does not have.
 */
bool reasons_may_lack(const struct built *built);
/* Aborts unless they are in order, and tell something. */
void reasons_check(const struct built *built, struct solver_reasons told, struct arena *arena);

/* What is bought, without its pods; a plan as lines of text, by name of pod. */
void claim_text(const struct solver_problem *problem, const struct solver_node_claim *claim,
                struct text_builder *text);
struct text plan_text(const struct solver_problem *problem, const struct solver_plan *plan,
                      struct arena *arena);
/* Aborts, saying both, when they differ. */
void require_same(const char *found, const char *wanted);

/* Aborts when a question drawn by the seed is answered differently than a problem built so would
 * answer it; run: of a problem that was not solved. */
void check_question(struct solver_run *run, const struct built *built, uint64_t seed,
                    struct arena *arena);

/* The same of a question of the case, with all that may be asked of it. */
void check_case_question(struct solver_run *run, const struct built *built,
                         const struct case_question *asked, struct arena *arena);

/* Whether a label list meets the expressions, as kube-scheduler reads them. */
bool labels_meet(const struct solver_labels *labels, const struct solver_expressions *expressions);
const char *label_value(const struct solver_labels *labels, const char *key); /* NULL: none */

#endif
