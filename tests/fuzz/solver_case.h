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

struct case_namespace {
    const char *name;
    struct solver_labels labels;
};
/* Indices in shapes, nodes and types stand where a problem has their numbers. */
struct solver_case {
    struct solver_settings settings;
    const struct solver_instance_type *types;
    const struct solver_pool *pools;
    const struct solver_node *nodes;
    const struct case_namespace *namespaces;
    const struct solver_shape *shapes;
    const uint32_t *daemons;
    const struct solver_pod *pods;
    size_t type_count, pool_count, node_count, namespace_count, shape_count, daemon_count,
        pod_count;
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

/* Aborts unless the plan keeps every hard rule. */
void plan_check(const struct built *built, const struct solver_plan *plan, struct arena *arena);

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

/* Whether a label list meets the expressions, as kube-scheduler reads them. */
bool labels_meet(const struct solver_labels *labels, const struct solver_expressions *expressions);
const char *label_value(const struct solver_labels *labels, const char *key); /* NULL: none */

#endif
