/* policy: decides. Policy files in, findings out; no I/O after loading, no clock, no log. */
#ifndef TAFFRAIL_POLICY_POLICY_H
#define TAFFRAIL_POLICY_POLICY_H

#include "kube/object.h"

struct catalog;
struct karpenter_settings;
struct snapshot;

/* ---- what comes out ---- */

/* In order of strictness. */
enum action { ACTION_NONE, ACTION_EXCEPTED, ACTION_AUDIT, ACTION_WARN, ACTION_DENY };
const char *action_name(enum action action); /* "none", "excepted", "audit", "warn", "deny" */

struct finding {
    const char *rail;
    enum action action;
    bool undecided;    /* the rail could not see what it needs; action is ACTION_WARN */
    kind_set unseen;   /* undecided, since no object of these kinds is visible */
    bool quiet;        /* undecided under audit: nobody is warned who asks the server */
    bool pre_existing; /* the old object had it too; audited */
    bool spared; /* it would be denied, were it or its owner not older than the policy's `since` */
    const struct field *field;
    struct text path;  /* of field, printed, without control characters; message and fix too */
    struct text found; /* the value; empty when something is missing */
    const struct text *allowed; /* at most five, nearest first */
    size_t allowed_count, allowed_total;
    struct text problem;       /* what is wrong and what follows from it: sentences, one line */
    struct text fix;           /* what to do, a sentence; may be empty */
    struct text message;       /* problem and fix; problem alone where the fix is long */
    struct text replacement;   /* the value that mends it in the field's place; may be empty */
    struct text policy;        /* its metadata.name */
    struct text docs, contact; /* of the policy; may be empty */
    struct text check;         /* how the policy says to check before a push; may be empty */
    struct text override;      /* the id of the one that moved the rail's mode; data NULL: none */
    struct text exception;     /* the id when excepted, or of an expired one; data NULL: none */
    bool exception_expired;
    int64_t exception_expires_unix_s; /* 0: no exception */
    size_t more;                      /* it stands for so many that are not listed; 0: for itself */
};

/* What becomes of a change that a rail wants, by the rail's mode. */
enum change_outcome {
    OUTCOME_EXCEPTED, /* an exception stops it */
    OUTCOME_FAILED,   /* it cannot be made, which is a mistake of ours */
    OUTCOME_AUDITED,
    OUTCOME_WARNED, /* a person is told what would be added */
    OUTCOME_APPLIED,
    OUTCOME_COUNT
};
const char *outcome_name(enum change_outcome outcome); /* "excepted", "failed", "audited", ... */

/* What a rail changes of a Pod: all of the patch is made, or nothing. A rail says patch and added;
 * texts and nodes live in the arena of its call or longer. */
struct change {
    const char *rail;
    enum change_outcome outcome;
    struct text added;  /* goes on after "added" and "would add": "a toleration of amd.com/gpu" */
    struct text policy; /* its metadata.name */
    struct text exception; /* the id when excepted, or of an expired one; data NULL: none */
    struct patch patch;    /* of the Pod as the changes before have left it */
};

/* An owner that is named and is not in the snapshot: what is watched may be a moment behind. */
struct awaited_owner {
    enum kind kind; /* KIND_UNKNOWN: none */
    struct text namespace, name, uid;
};

/* What ended an evaluation before its end. */
enum review_limit {
    LIMIT_NONE,
    LIMIT_MEMORY,
    LIMIT_SHAPE,       /* depth, or the number of values */
    LIMIT_CPU,         /* the time of the processor that a review may take */
    LIMIT_TIMEOUT,     /* the time of its caller */
    LIMIT_CLIENT_GONE, /* nobody waits for the answer */
    LIMIT_COUNT
};
const char *limit_name(enum review_limit limit); /* "none", "memory", "shape", "cpu", ... */
/* Why the last guard of an arena ended early; what its watch says is an enum review_limit. */
enum review_limit limit_of_arena(const struct arena *arena);

struct verdict {
    enum review_limit limit; /* the findings are those up to there */
    enum action action;      /* the strictest of all findings, undecided ones aside */
    const struct finding *findings;
    size_t finding_count;
    const struct change *changes; /* by policy, then rail, as they are applied */
    size_t change_count;
    struct patch patch; /* of the changes that are applied, in order */
    /* The verdict hangs on an owner that may be seen in a moment; until then it is a new one. */
    struct awaited_owner awaited;
    bool is_controlled; /* match and exceptions asked for its controller's name, not for its own */
};

/* ---- what goes in ---- */

struct requester {
    struct text name;
    const struct text *groups;
    size_t group_count;
};

/* kube-system's service accounts, the controller manager, the scheduler, nodes: nobody reads what
 * they are warned of. */
bool requester_is_controller(const struct requester *requester);
/* The garbage collector and the namespace controller: they delete what goes with something else. */
bool requester_cleans_up(const struct requester *requester);

enum operation { OPERATION_CREATE, OPERATION_UPDATE, OPERATION_DELETE, OPERATION_CONNECT };

/* What is judged: an object, on UPDATE with what it was before, on DELETE as it is stored. */
struct subject {
    enum operation operation;
    const struct object *object, *old_object; /* old_object NULL unless UPDATE */
    bool orphans; /* a DELETE that leaves what the object owns (propagationPolicy: Orphan) */
    struct text subresource;
    enum kind resource_kind; /* whose subresource it is; KIND_UNKNOWN: of none that rails judge */
    /* The workload that is scaled is not seen, or not its pod template: object has its name and its
     * replicas. */
    bool template_unseen;
    struct requester requester;
    bool dry_run;
    /* It is there already, as an audit finds it: judged as if it were created now, but nobody asks.
     * Its owners count, and `since` spares all that is older. */
    bool existing;
};

struct world;
/* A request for the subresource scale brings a Scale, which says how many replicas a workload or a
 * static NodePool is to have. What is judged is that object as the snapshot shows it, with so many
 * replicas, and before with as many as the old Scale says. Of other requests the subject stays as
 * it is. */
void subject_of_scale(const struct world *world, struct arena *arena, struct subject *subject);
bool subject_is_scale(const struct subject *subject);
/* A HorizontalPodAutoscaler that comes or changes is judged like a Scale, too: the workload with as
 * many replicas as it may get, and before with as many as it might have had. Returns the
 * autoscaler, or NULL: the subject stays as it is. */
const struct object *subject_of_autoscaler(const struct world *world, struct arena *arena,
                                           struct subject *subject);

struct policy_set;
struct supply;

/* All that a decision stands on, consistent with each other and immutable. */
/* custom_kind_id of what KIND_OWNER_FIRST and those after it are; 0: nothing that is seen. */
struct seen_owners {
    uint64_t ids[OWNER_KINDS_MAX];
};

struct world {
    const struct policy_set *policies;
    const struct snapshot *snapshot;
    const struct catalog *catalog;
    const struct supply *supply; /* where pods could run at all; NULL: nobody asks */
    bool volumes_are_stale;      /* claims or volumes are as they were more than 60 s ago */
    kind_set unseen; /* may be there and cannot be seen: not to find one of them means nothing */
    bool blind;      /* there is no cluster, and no files that show one */
    bool of_cluster; /* what is there was read from a cluster, and not from files */
    bool live;       /* a cluster is watched: what is not there may be in a moment */
    struct seen_owners owners; /* the kinds of custom owners that are seen */
    int64_t cpu_limit_us;      /* of a review, as the policies say; 0: none */
    uint64_t generation;
    int64_t loaded_unix_s;
};
/* Whether these kinds could be listed; single objects may be there and unreadable all the same. */
static inline bool world_lists(const struct world *world, kind_set kinds)
{
    return (world->unseen & kinds) == 0;
}
/* Whether all that is there of these kinds is in the snapshot: in that namespace, and everywhere of
 * those that have none. */
bool world_sees_in(const struct world *world, kind_set kinds, struct text namespace);
/* Of kinds without a namespace. */
static inline bool world_sees(const struct world *world, kind_set kinds)
{
    return world_sees_in(world, kinds, TEXT(""));
}

bool world_has_owner(const struct world *world, const struct awaited_owner *awaited);

/* ---- loading ---- */

/* The policy files that PATH names: a file itself; of a folder every .yaml, .yml and .json in it,
 * but none named cases.yaml and none in a folder named tests (docs/guides/policy-tests.md). */
void policy_find_files(const char *path, struct arena *arena, struct path_list *files,
                       struct problems *problems);
/* Whether a ConfigMap that is mounted as such a folder has a policy file under this key. */
bool policy_key_is_read(struct text key);
/* A policy file that was read from somewhere else, which its name says. It must outlive the
 * policies. */
struct policy_text {
    const char *name;
    struct text text;
};
struct policy_sources {
    const char *const *paths; /* files and folders */
    size_t path_count;
    const struct policy_text *texts;
    size_t text_count;
};
/* Reads them in order. Every problem of every file is added to errors (then false) or warnings
 * (values that select nothing, names the catalogue does not know). Memory is the arena's. */
bool policy_load_all(const struct policy_sources *sources, const struct catalog *catalog,
                     struct arena *arena, const struct policy_set **policies,
                     struct problems *errors, struct problems *warnings) MUST_CHECK;
/* The same of files and folders alone. */
bool policy_load(const char *const *paths, size_t path_count, const struct catalog *catalog,
                 struct arena *arena, const struct policy_set **policies, struct problems *errors,
                 struct problems *warnings) MUST_CHECK;
size_t policy_set_count(const struct policy_set *policies);
struct rail;
/* Whether a policy switches this rail on. */
bool policy_set_uses(const struct policy_set *policies, const struct rail *rail);
/* Whether a policy switches this rail on and asks it to judge such requests for the kind. */
bool policy_set_judges(const struct policy_set *policies, const struct rail *rail, enum kind kind,
                       enum operation operation);
/* The kinds of which a rail that a policy switches on judges what is there, or new. */
kind_set policy_set_judged_kinds(const struct policy_set *policies);
/* Whether a rail that a policy switches on asks where pods could run at all (world.supply). */
bool policy_set_asks_supply(const struct policy_set *policies);
/* Whether one asks it what workloads add. */
bool policy_set_plans(const struct policy_set *policies);
/* Whether a rail, as a policy sets it, changes pods. */
bool policy_set_changes_pods(const struct policy_set *policies);
/* The time of the processor that one review may take: the least that a policy says. */
int64_t policy_set_cpu_limit_us(const struct policy_set *policies);
/* What the webhook configurations are to say; 0: no policy says it. */
int64_t policy_set_timeout_s(const struct policy_set *policies);
/* Of a caller's timeout, what is kept to answer in time. */
int64_t review_margin_us(int64_t timeout_us);
/* What the policies say of the cluster's Karpenter. */
const struct karpenter_settings *policy_set_karpenter(const struct policy_set *policies);
/* Whether a policy says where this object, of KIND_UNKNOWN, holds pod templates: then it is judged.
 */
bool policy_set_has_templates(const struct policy_set *policies, const struct object *object);
/* The custom resources whose pod templates some rail judges, each once. */
struct custom_resource {
    struct text group, plural;
};
struct custom_resources {
    struct custom_resource *items;
    size_t count, capacity;
};
void policy_set_custom_resources(const struct policy_set *policies, struct arena *arena,
                                 struct custom_resources *resources);
/* The custom resources of whose controllers a policy trusts one, each once. */
struct custom_kinds {
    struct custom_kind *items;
    size_t count, capacity;
};
void policy_set_owner_kinds(const struct policy_set *policies, struct arena *arena,
                            struct custom_kinds *kinds);
/* The kinds of owners of which `since` believes what references say, since they cannot be seen:
 * Kubernetes' own, and custom ones that are not among the seen; joined by commas, empty when there
 * are none, or no rail that is on has a `since`. */
struct text policy_set_believed(const struct policy_set *policies, kind_set unseen,
                                const struct seen_owners *seen, struct arena *arena);
/* A warning of what the rails that are on look among and, of the empty kinds, find nothing of: "the
 * rails see no NodePool (node-labels, placeable), ...: what depends on them is not decided, and no
 * review says so"; empty: nothing is missing. */
struct text policy_set_unseen_sources(const struct policy_set *policies, kind_set empty,
                                      struct arena *arena);
/* Refuses exceptions that last longer from now on than the policy grants their document's owner;
 * false when there is one. What is good once stays good. */
bool policy_refuse_long(const struct policy_set *policies, int64_t now_unix_s, struct arena *arena,
                        struct problems *errors) MUST_CHECK;
/* Warns of exceptions that no longer hold. */
void policy_warn_expired(const struct policy_set *policies, int64_t now_unix_s,
                         struct problems *warnings);

/* ---- deciding ---- */

/* Every finding of every policy that selects the object, sorted by field path, then rail. The
 * verdict lives in the arena. */
void policy_evaluate(const struct world *world, const struct subject *subject, int64_t now_unix_s,
                     struct arena *arena, struct verdict *verdict);

/* As policy_evaluate, under a guard of the arena: what it ends leaves the findings so far, with
 * verdict->limit. The arena's reserve is not opened. Findings with unseen kinds are left out. */
void policy_evaluate_within(const struct world *world, const struct subject *subject,
                            int64_t now_unix_s, struct arena *arena, struct verdict *verdict);

/* What the limit means, and how to get below it, for people. */
struct shortfall {
    enum review_limit limit;
    struct text message, fix;
    bool unchanged; /* an update that leaves all that a rail could deny as it was */
};
/* Whether a rail that denies reads the labels and annotations of the object itself. */
bool guards_metadata(enum kind kind);
/* Whether that is so, of objects that were read as a whole. */
bool subject_is_unchanged(const struct subject *subject);
/* Decides what could not be judged to its end. It is denied where a rail in enforce guards such
 * objects and no exception is known; it is never denied when it is deleted, when its status is
 * written, when the guarded fields stay as they are, when `since` spares it, or when a controller
 * makes it of what is judged itself. The finding that says so comes after the others. Of the object
 * no more than its head need be known. */
void policy_decide_limit(const struct world *world, const struct subject *subject,
                         int64_t now_unix_s, const struct shortfall *shortfall, struct arena *arena,
                         struct verdict *verdict);

/* The finding's path with names in place of list indices, which tells the same mistake of an object
 * and of what is made of its template: ".spec.template.spec.containers[app].resources" ends with
 * ".spec.containers[app].resources". */
struct text finding_identity(const struct finding *finding, struct arena *arena);

/* What the rails change: Pods, when they are created, and nothing else. The findings stay empty.
 * The changes have been tried, one change upon the other, and the result is a Pod. */
void policy_mutate(const struct world *world, const struct subject *subject, int64_t now_unix_s,
                   struct arena *arena, struct verdict *verdict);

/* ---- messages ---- */

/* The day in UTC, as in 2027-03-31. */
struct text message_day(int64_t unix_s, struct arena *arena);

/* What the person is told who is denied (the message of the Status), many lines; the first is
 * complete by itself. Empty when nothing denies. */
struct text message_denial(const struct subject *subject, const struct verdict *verdict,
                           struct arena *arena);
/* At most 120 characters, no control characters: "[rail] path: found ...". */
struct text message_warning(const struct finding *finding, int64_t now_unix_s, struct arena *arena);
/* "[rail] added ...", "[rail] would add ...", under the same limits. */
struct text message_change(const struct change *change, struct arena *arena);
/* "added ...", "would add ...", as the audit log has it. */
struct text message_change_audit(const struct change *change, struct arena *arena);

/* ---- rails ---- */

size_t rail_count(void);
const struct rail *rail_at(size_t index);       /* by name */
const struct rail *rail_find(struct text name); /* NULL: none */
/* The page `taffrail explain RAIL` prints. */
struct text rail_explain(const struct rail *rail, struct arena *arena);
/* The page `taffrail explain policy` prints: the keys of a policy file. */
struct text policy_explain(struct arena *arena);
/* `taffrail explain exceptions`: those of a document of kind GuardRailExceptions, and how policies
 * and such documents come together. */
struct text exceptions_explain(struct arena *arena);
const char *rail_name(const struct rail *rail);
const char *rail_summary(const struct rail *rail);
kind_set rail_kinds(const struct rail *rail);
/* Whether the rail judges such a request for an object of the kind. */
bool rail_judges(const struct rail *rail, enum kind kind, enum operation operation);
bool some_rail_judges(enum kind kind, enum operation operation);
bool rail_judges_resize(const struct rail *rail); /* pods/resize beside Pods */
bool rail_judges_scale(const struct rail *rail);  /* the subresource scale of its kinds */
bool rail_changes_pods(const struct rail *rail);  /* when they are created */
const char *rail_detail(const struct rail *rail); /* paragraphs */

#endif
