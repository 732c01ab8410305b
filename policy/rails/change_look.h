/* Private to policy/: what a change does to nodes and pods, found out once a review. */
#ifndef TAFFRAIL_POLICY_RAILS_CHANGE_LOOK_H
#define TAFFRAIL_POLICY_RAILS_CHANGE_LOOK_H

#include "policy/rail.h"
#include "simulation/change_impact.h"

struct change_look {
    struct change_question question;
    const struct field *owner; /* an ownerReference that an update adds: the question is then of the
                                  deletion that it may become; NULL: none */
    bool is_known;             /* what the change does; else nothing below holds */
    bool is_too_much;          /* the cluster is too large to be looked at */
    struct change_impact impact; /* its numbers; the lists are empty */
    struct text reasons;
    struct impact_words words;
    struct impact_plan_words afterwards; /* empty: it is not planned */
};
/* Of the subject that the call is about. Memory is the call's. */
const struct change_look *call_change_look(const struct rail_call *call);

#endif
