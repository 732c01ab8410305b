/* What policy files become: written by load.c, read by match.c, exception.c and evaluate.c. */
#ifndef TAFFRAIL_POLICY_POLICY_SET_H
#define TAFFRAIL_POLICY_POLICY_SET_H

#include "policy/policy.h"
#include "policy/rail.h"
#include "simulation/cluster.h"

/* Which objects a policy or an exception reaches; what is not given reaches all. */
struct match_rules {
    bool given;                                               /* the key `match` was there */
    struct key_strings namespaces, exclude_namespaces, names; /* globs */
    const struct node *namespace_selector;                    /* metav1.LabelSelector or NULL */
    const struct node *label_selector; /* likewise, of the object's own labels */
    /* Who asks, and for what; of a policy only. */
    struct key_strings exclude_groups;                             /* globs */
    struct key_strings service_accounts, exclude_service_accounts; /* NAMESPACE/NAME, globs */
    struct key_strings operations;
    struct key_kinds kinds;
    bool kinds_given;
};

struct rail_use {
    const struct rail *rail;
    const void *settings;
    enum mode mode;       /* the rail's own, else the policy's */
    int64_t since_unix_s; /* the rail's own, else the policy's; 0: none */
    struct place place;   /* of its name in the file */
};

/* What a policy grants to the documents (kind GuardRailExceptions) of an owner. */
struct grant {
    struct text owner;
    struct key_strings rails;
    struct key_strings namespaces; /* globs; not given: everywhere */
    struct key_strings steps;      /* of overrides */
    int64_t longest_s;             /* of exceptions, from now; 0: any */
    struct place place;
};

struct exception {
    struct text id; /* of one in a document of its own DOCUMENT/ID */
    struct text owner, reason;
    struct key_strings rails;
    struct match_rules match;
    int64_t expires_unix_s;    /* the last second it holds; of a day 23:59:59 UTC */
    struct place place;        /* of the key expires */
    struct place at;           /* of the whole */
    const struct grant *grant; /* of several the one with the least time; NULL: the policy's own */
};

enum step { STEP_SOFTER, STEP_STRICTER, STEP_COUNT };

/* Some namespaces have a rail one mode softer or stricter than the policy says. */
struct override {
    struct text id; /* as of an exception */
    struct text reason;
    struct key_strings rails; /* not given: all of the policy */
    struct match_rules match;
    int step; /* an enum step */
    struct place at;
};

/* What a policy says of the cluster's Karpenter. */
enum { KARPENTER_WORD_COUNT = KARPENTER_GATE_COUNT + 2 };
struct karpenter_words {
    int preference_policy, min_values_policy; /* as their choices */
    bool gates[KARPENTER_GATE_COUNT];
    bool given[KARPENTER_WORD_COUNT]; /* of the gates, then of the two policies */
    struct place places[KARPENTER_WORD_COUNT];
};

/* A custom resource that holds pod templates. */
struct template_step {
    struct text key;
    bool each; /* on to every item of the list that is there */
};
struct template_path {
    const struct template_step *steps;
    size_t count;
    bool of_spec; /* it leads to parts of a pod's spec, not to a template */
};
struct templated_kind {
    struct text group, kind;
    struct text resource;                /* its plural */
    struct key_strings templates, specs; /* the paths as written */
    struct key_strings controllers;      /* service accounts: its Pods are made by them */
    const struct template_path *paths;   /* all of them */
    size_t path_count;
};

/* Who makes objects of one kind for owners of another, besides Kubernetes' own controllers. */
struct trusted_controller {
    struct text account;  /* NAMESPACE/NAME, globs */
    struct text owner;    /* KIND.GROUP as written */
    struct text resource; /* the owners' plural; empty: not said */
    int makes;            /* a choice */
    struct text owner_kind, owner_group;
    enum kind made;
};

/* What a policy says of the time that a review may take. */
struct review_limits {
    int64_t cpu_ms, timeout_s;
    bool cpu_given, timeout_given;
    struct place place; /* of cpuMilliseconds */
};

struct policy {
    struct text name, contact, docs, check; /* all but the name may be empty */
    struct karpenter_words karpenter;
    bool extended_resource_toleration; /* the admission plugin of that name runs */
    struct review_limits limits;
    struct match_rules match;
    const struct rail_use *rails; /* by name */
    size_t rail_count;
    const struct exception *exceptions; /* as written, then those of documents by their names */
    size_t exception_count;
    const struct override *overrides; /* likewise */
    size_t override_count;
    const struct grant *grants; /* as written */
    size_t grant_count;
    const struct templated_kind *templated; /* as written, each kind once */
    size_t templated_count;
    const struct trusted_controller *trusted; /* as written */
    size_t trusted_count;
    struct place place; /* of its name */
    /* Where the rest of it stands (policy_place). */
    struct source *source;
    const struct field *spec;
    bool refused; /* its document has problems: to be known by name only */
};

struct policy_set {
    const struct policy *items; /* by name */
    size_t count;
    struct karpenter_settings karpenter; /* what they say together */
};

/* UNKNOWN: all else matches, and the namespace's labels, which decide, are not visible. */
enum match_result { MATCH_NO, MATCH_YES, MATCH_UNKNOWN };

struct match_subject {
    const struct object *object;
    struct text root_name;             /* of the root owner */
    const struct requester *requester; /* NULL: nobody asks */
    enum operation operation;
    const struct object *namespace; /* the object's, if it is seen; else NULL */
};

/* Whether a service account asks that is among these. */
bool requester_is_account(const struct requester *requester, const struct key_strings *accounts);
bool requester_is_account_of(const struct requester *requester, struct text glob);

enum match_result match_evaluate(const struct match_rules *rules,
                                 const struct match_subject *subject);
/* The same, with the key of match that decided; NULL: all reach it. */
enum match_result match_decide(const struct match_rules *rules, const struct match_subject *subject,
                               const char **key);

/* Of a key under spec, as in "rails.zones.mode"; of one that is not there that of the nearest. */
struct place policy_place(const struct policy *policy, const char *path, struct arena *arena);

/* The exception of this policy that covers the rail's findings on the subject: of several the one
 * that lasts longest. *expired: it held once, and no longer does. *unknown: what is returned (NULL
 * or an expired one) may be wrong, because one that still holds waits for a namespace's labels. */
const struct exception *exception_find(const struct policy *policy, const char *rail,
                                       const struct match_subject *subject, int64_t now_unix_s,
                                       bool *expired, bool *unknown);

/* Whether a rail is on for some object, by its mode or by an override. */
bool policy_may_use(const struct policy *policy, const struct rail_use *use);

/* The other rail as the policy of this call uses it, where it weighs no less for this subject than
 * the one that is judging, whatever overrides and exceptions there are; NULL: it does not. What two
 * rails could say, the other one says. */
const struct rail_use *rail_beside(const struct rail_call *call, const struct rail *other);
/* The rail as the next policy has it that changes this subject by it, in enforce and without an
 * exception. after NULL: the first; NULL: there is none. */
const struct rail_use *rail_applied(const struct rail_call *call, const struct rail *rail,
                                    const struct rail_use *after);

/* The override that applies, NULL: none, and the mode that it leaves the rail. Of several a
 * stricter one wins; two of a kind are one step. *unknown: which applies cannot be told, because
 * one waits for a namespace's labels; *mode is then the strictest that it may be. */
const struct override *override_find(const struct policy *policy, const struct rail_use *use,
                                     const struct match_subject *subject, enum mode *mode,
                                     bool *unknown);

/* policy->docs with {rail} replaced; empty when the policy has none. */
struct text docs_url(const struct policy *policy, const char *rail, struct arena *arena);

#endif
