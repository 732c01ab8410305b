/* Requirements on labels that the API server or Karpenter refuses: of NodePools, whose labels and
 * taints are held to the same, and of NodeOverlays. */
#ifndef TAFFRAIL_POLICY_RAILS_REQUIREMENT_FAULT_H
#define TAFFRAIL_POLICY_RAILS_REQUIREMENT_FAULT_H

#include "kube/expression.h"
#include "policy/rail.h"

struct catalog;

#define NEVER_USED ". Karpenter refuses the pool and never uses it."

/* Whose requirement it is, as its messages say. */
struct requirement_owner {
    const char *must_not, *refused; /* a beginning and an end of a sentence */
    bool is_overlay;                /* which may name NodePools, and rules something out by NotIn */
};
extern const struct requirement_owner requirements_of_pool, requirements_of_overlay;

/* Each says what is wrong, and returns whether it is taken. */
bool requirement_judge(struct rail_call *call, const struct expression *expression,
                       const struct requirement_owner *owner);
/* A key that no label or taint can have; what: which of the two. */
bool requirement_judge_key(struct rail_call *call, const struct field *field, struct text key,
                           const char *what, const struct requirement_owner *owner);
/* A key that is Karpenter's own. */
bool requirement_judge_restricted(struct rail_call *call, const struct field *field,
                                  struct text key, const struct requirement_owner *owner);
bool requirement_judge_value(struct rail_call *call, const struct expression_value *of,
                             const struct requirement_owner *owner);

/* Values of a key whose values are all known. Karpenter refuses a requirement where it knows none
 * of a key that it looks at itself (if_refused), and finds no machine by another one (if_none;
 * NULL: that is not said). A label it takes as it is. */
bool requirement_judge_closed(struct rail_call *call, const struct expression *expression,
                              const char *if_refused, const char *if_none);
/* Whether its key is such a one, and whether none of its values is then known. */
bool requirement_is_closed(const struct expression *expression);
bool requirement_knows_none(const struct catalog *catalog, const struct expression *expression);

#endif
