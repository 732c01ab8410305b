/* Private to policy/: what the judging (evaluate.c) and the changing (mutate.c) of an object stand
 * on. */
#ifndef TAFFRAIL_POLICY_EVALUATION_H
#define TAFFRAIL_POLICY_EVALUATION_H

#include "policy/owner.h"
#include "policy/policy_set.h"
#include "policy/record.h"

/* One evaluation: what stays the same for all policies and rails. */
struct evaluation {
    const struct world *world;
    const struct subject *subject;
    int64_t now_unix_s;
    struct arena *arena;
    struct root_owner root;
    struct passing *passing; /* what was said last of the root's age */
    struct match_subject match;
};
/* The match refers to the requester of the subject, which must outlive the evaluation. */
struct evaluation evaluation_begin(const struct world *world, const struct subject *subject,
                                   int64_t now_unix_s, struct arena *arena);
/* What a policy makes of one of its rails for this subject. */
struct ruling {
    const struct policy *policy;
    struct rail_use use;             /* its mode as an override leaves it */
    const struct override *override; /* NULL: none applies */
    bool match_unknown; /* for want of a namespace's labels it may be that none of this applies */
};
struct ruling evaluation_rule(const struct evaluation *evaluation, const struct policy *policy,
                              const struct rail_use *use, enum match_result match);

/* ---- passing.c ---- */

struct passing *passing_create(struct arena *arena);
/* `since` spares the pods of workloads that were there before a rail was switched on; in an audit
 * all that was there before. */
bool evaluation_spares(const struct evaluation *evaluation, const struct rail_use *use);
/* Whether a finding or a change of the rail may hang on what the owner is called, or how old it is.
 */
bool evaluation_asks_owner(const struct ruling *ruling);

/* Objects on their way out, and calls that change no spec, are let through. */
bool subject_is_judged(const struct subject *subject);

struct proposals {
    struct proposal *items;
    size_t count, capacity;
};

/* What a rail that judges scale says of a workload whose template is not seen: that it cannot know,
 * where there are to be more replicas. */
void scale_undecided(const struct evaluation *evaluation, struct record *record);
/* An autoscaler's replicas are needed now, and nobody reads what it is told. */
bool is_scaled_by_controller(const struct subject *subject);

/* The judgement a rail is given is the first member, so that judgement_report and
 * judgement_propose find where it goes. */
struct hearing {
    struct judgement judgement;
    struct record *record; /* of what it finds; NULL: it is asked for changes */
    struct proposals proposals;
};

#endif
