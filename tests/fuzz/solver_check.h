/* The inside of the check of a plan: where every pod is, and the rules by subject. */
#ifndef TAFFRAIL_FUZZ_SOLVER_CHECK_H
#define TAFFRAIL_FUZZ_SOLVER_CHECK_H

#include "solver_case.h"

struct resident {
    const struct solver_pod *pod;
    const struct solver_shape *shape;
    bool is_new; /* placed by the plan */
};
/* A node or a claim with all pods on it. */
struct machine {
    const struct solver_node *node;
    const struct solver_node_claim *claim;
    const struct solver_pool *pool; /* of a claim */
    struct solver_taints taints;
    struct resident *residents;
    size_t resident_count, new_count;
    const char **zones; /* it is in, or may still come up in; none known: count 0 */
    size_t zone_count;
};
struct checking {
    const struct built *built;
    const struct solver_case *input;
    const struct solver_plan *plan;
    const struct solver_names *names;
    struct arena *arena;
    struct machine *machines; /* nodes by number, then claims */
    size_t machine_count;
};

typedef __int128 wide; /* sums of absurd quantities fit */
wide amount_of(const struct solver_amounts *amounts, uint32_t resource);

/* The expression in the problem's names; false when the problem does not know a word of it. */
bool requirement_of(const struct checking *checking, const struct solver_expression *expression,
                    struct solver_requirement *requirement);
/* What the claim may still be is all within the expression. */
bool claim_keeps(const struct checking *checking, const struct machine *machine,
                 const struct solver_expression *expression);

void check_claim(const struct checking *checking, const struct machine *machine);
void check_limits(const struct checking *checking);
void check_reservations(const struct checking *checking);
/* Of pods on a machine: taints, selectors, volumes, ports. */
void check_rules(const struct checking *checking, const struct machine *machine);
/* Between pods. */
void check_topology(const struct checking *checking);

#endif
