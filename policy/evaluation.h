/* Private to policy/: one object against a world. What the judging (evaluate.c), the changing
 * (mutate.c) and the deciding of what could not be judged (over_limit.c) stand on. */
#ifndef TAFFRAIL_POLICY_EVALUATION_H
#define TAFFRAIL_POLICY_EVALUATION_H

#include "policy/owner.h"
#include "policy/pod_templates.h"
#include "policy/policy_set.h"
#include "policy/record.h"

struct launchable_of {
    const struct object *pool;
    const struct launchable *launchable;
};

/* What rails read of an object (reading.c). */
struct reading {
    const struct object *object;
    const struct node *root; /* of the object as it was read */
    const struct workload *workload;
    const struct node_selection *selection;
    const struct tolerations *tolerations;
    const struct topology_terms *topology;
    const struct claim_names *claims;
    const struct text_map *resources;
    const struct pool *pool;
};

struct evaluation {
    const struct world *world;
    struct subject subject; /* in mutate.c its object is the Pod as it is by now */
    /* The HorizontalPodAutoscaler whose workload the subject is; NULL: it is what was asked about.
     */
    const struct object *autoscaler;
    bool is_told_unseen; /* that the autoscaler's workload is not visible: one rail tells for all */
    int64_t now_unix_s;
    struct arena *arena;
    struct root_owner root;
    struct match_subject match;
    struct hash_seed seed; /* of records */
    /* What it comes to. */
    LIST(struct finding) findings;
    LIST(struct change) changes;
    struct patch patch;  /* of the changes that are applied */
    bool hangs_on_owner; /* something would be otherwise, were the owner seen */
    bool drops_unseen;   /* the server says at load what cannot be seen, and not in each review */
    /* Of the policy at hand. */
    struct views views, old; /* the object, or its pod templates, and those it had before */
    bool controlled;         /* a ReplicaSet or Job of a guarded kind */
    struct {
        bool is_known, is;
    } unchanged; /* subject_is_unchanged */
    /* The last answer of call_is_spared: each finding of a rail asks. */
    struct {
        const struct rail_use *use;
        bool spared;
    } last;
    /* What the NodePools that were asked for can launch (launchable.c). */
    LIST(struct launchable_of) launchables;
    /* What change-impact knows of the subject (rails/change_look.c), without and with the API
     * server's tolerations of extended resources. */
    const struct change_look *change_looks[2];
    struct reading readings[2];
    size_t oldest_reading;
};
/* The match refers to the requester of the subject, which must outlive the evaluation. */
struct evaluation evaluation_begin(const struct world *world, const struct subject *subject,
                                   int64_t now_unix_s, struct arena *arena);
/* What a rail of a policy is given for this subject. */
struct rail_call evaluation_call(struct evaluation *evaluation, const struct policy *policy,
                                 const struct rail_use *use, enum match_result match);
/* The exception for what the rail says; arguments as of exception_find. */
const struct exception *call_exception(const struct rail_call *call, bool *expired, bool *unknown);

/* ---- draft.c, message.c: words ---- */

/* A draft that is shown, as far as its rail left it open: allowed becomes what is shown of it. */
struct draft draft_finish(const struct draft *shared, struct arena *arena);
/* What is wrong, and what an expired exception or a namespace whose labels are not visible (empty:
 * none) has to do with it. */
struct text message_problem(const struct draft *draft, const struct finding *finding,
                            struct text unknown_namespace, struct arena *arena);
/* With what to do behind it, unless that is long. */
struct text message_whole(struct text problem, struct text fix, struct arena *arena);
/* Without control characters, which would forge lines, and at most limit_bytes long. */
struct text message_printable(struct text t, size_t limit_bytes, struct arena *arena);

/* ---- over_limit.c ---- */

/* An object has more pod templates than a policy judges: as of a review that hit a limit.
 * unchanged: an update that leaves all that a rail could deny as it was. */
void decide_templates(struct evaluation *evaluation, const struct policy *policy, bool unchanged);

/* ---- inherited.c ---- */

/* `since` spares the pods of workloads that were there before a rail was switched on; in an audit
 * all that was there before. */
bool call_is_spared(const struct rail_call *call);
/* Whether a finding or a change of the rail may hang on what the owner is called, or how old it is.
 */
bool call_asks_owner(const struct rail_call *call);

/* Objects on their way out, and calls that change no spec, are let through. */
bool subject_is_judged(const struct subject *subject);

/* What a rail that judges scale says of a workload whose template is not seen: that it cannot know,
 * where there are to be more replicas. */
void scale_undecided(const struct rail_call *call, struct record *record);
/* An autoscaler's replicas are needed now, and nobody reads what it is told. */
bool is_scaled_by_controller(const struct subject *subject);

#endif
