/* The inside of a problem: the builder collects it, solver_build prepares it for runs. Everything
 * has a number, which is its index in an array. */
#ifndef TAFFRAIL_SOLVER_PROBLEM_H
#define TAFFRAIL_SOLVER_PROBLEM_H

#include "base/base.h"
#include "solver/bits.h"
#include "solver/intern.h"
#include "solver/solver.h"

/* ---- parts of pods, pools and nodes ---- */

/* A set of requirements, with the one on kubernetes.io/hostname apart: every node has a hostname of
 * its own, also one that is not bought yet. */
struct term {
    struct solver_requirements requirements;
    const struct solver_requirement *hostname; /* NULL: none */
};

struct taint {
    uint32_t key, value; /* words */
    enum solver_effect effect;
    bool is_number; /* the value */
    int64_t number;
};
struct taint_list {
    const struct taint *items;
    size_t count;
};
struct toleration {
    uint32_t key; /* a word; SOLVER_NONE: every key */
    uint32_t value;
    bool exists, gt, lt, any_effect;
    enum solver_effect effect;
    bool is_number; /* the value */
    int64_t number;
};
struct toleration_list {
    uint32_t number; /* equal lists have equal numbers */
    const struct toleration *items;
    size_t count;
};
/* prefer: PreferNoSchedule counts as tolerated (docs/reference/karpenter.md 2.7, step 6). */
bool taints_tolerated(struct taint_list taints, const struct toleration_list *tolerations,
                      bool prefer, const struct taint **in_the_way);

struct host_port {
    uint32_t ip, protocol, port; /* ip, protocol: words; ip SOLVER_NONE: every address */
    bool unseen;                 /* by Karpenter */
    uint32_t expected;           /* not 0: it is free, but Karpenter expects this pod (counted from
                                    1) to take it */
};
struct host_port_list {
    struct host_port *items;
    size_t count, capacity;
};
bool host_ports_conflict(const struct host_port *a, size_t a_count, const struct host_port *b,
                         size_t b_count);
/* The one of b, a pod's, that is taken, where Karpenter sees no conflict; NULL: there is none, or
 * it does. */
const struct host_port *host_ports_conflict_unseen(const struct host_port_list *a,
                                                   const struct host_port *b, size_t b_count,
                                                   uint32_t pod);

/* Selectors of pod labels. */
struct selector_item {
    uint32_t key;
    enum solver_op op;
    const uint32_t *values;
    size_t value_count;
};
struct selector {
    bool nothing;
    bool absent; /* selects nothing, but Karpenter counts all running pods
                    (docs/reference/karpenter.md 3.3) */
    const struct selector_item *items;
    size_t count;
};
/* Labels of a pod or namespace: pairs sorted by key. */
struct label_pair {
    uint32_t key, value;
};
struct label_list {
    const struct label_pair *items;
    size_t count;
};
bool selector_selects(const struct selector *selector, struct label_list labels);

/* Pods with equal labels and namespace: no selector distinguishes them. */
struct label_class {
    uint32_t namespace;
    struct label_list labels;
    /* The groups that count such a pod, and the inverse groups that keep it away. */
    LIST(uint32_t) counted_by, kept_away_by;
    LIST(uint32_t)
    listed_by; /* groups without a selector: they count it when it runs, not when it is placed */
};

/* ---- topology groups (docs/reference/karpenter.md 3) ---- */

enum topology_type { TOPOLOGY_SPREAD, TOPOLOGY_POD_AFFINITY, TOPOLOGY_POD_ANTI_AFFINITY };
struct topology_group {
    enum topology_type kind;
    bool inverse;  /* counts the pods that have the term, not those it selects */
    bool hostname; /* domains are hosts: nodes by number, then NodeClaims */
    uint32_t key;
    int32_t max_skew, min_domains;
    uint32_t selector;
    const uint64_t *namespaces;  /* bits */
    size_t namespace_count;      /* how many namespaces the bits cover */
    uint32_t namespace_selector; /* SOLVER_NONE: none */
    /* Affinity only: groups that have to select the pod as well (whole_groups). */
    const uint32_t *also;
    size_t also_count;
    /* Spread only: which nodes count (docs/reference/karpenter.md 3.3). */
    const struct term *filter_terms;                  /* OR */
    size_t filter_term_count;                         /* 0: all */
    const struct toleration_list *filter_tolerations; /* NULL: taints do not matter */
    bool filter_prefers;                              /* PreferNoSchedule counts as tolerated */
    const uint64_t *filter_nodes;                     /* bits; NULL: all */
    /* Pods that run in the cluster, by value of the key, or by node; -1: the value is no domain. */
    int32_t *counts;
    size_t count_size;
    size_t occupied; /* domains with a count above 0 */
    /* Inverse: pods that have the term. Without such pods the group keeps no pod away. */
    size_t running_owners, pending_owners;
};

/* ---- shapes ---- */

struct spread {
    uint32_t key, selector;
    int32_t max_skew, min_domains;
    bool hard, honor_affinity, honor_taints;
};
struct pod_affinity {
    bool anti, required;
    int32_t weight;
    uint32_t key, selector;
    const uint32_t *namespaces; /* named */
    size_t namespace_count;
    uint32_t namespace_selector; /* SOLVER_NONE: none */
};
struct preferred_term {
    int32_t weight;
    struct term term;
};

/* A shape with some of its preferences given up (docs/reference/karpenter.md 2.7). */
struct relaxation {
    uint32_t number;        /* over all shapes */
    struct term full;       /* with the preference of the highest weight */
    struct term strict;     /* without preferences */
    bool prefer;            /* tolerates PreferNoSchedule */
    const uint32_t *groups; /* groups it has to satisfy, without inverse groups of others */
    size_t group_count;
    /* Groups as kube-scheduler has them. Of its hard spreads, over the nodes of all required terms,
     * also those that were given up: kube-scheduler does not know that they were. Of its several
     * required affinities, each of the pods that all of them select (docs/reference/karpenter.md
     * 3.5). */
    const uint32_t *whole_groups;
    size_t whole_group_count;
    size_t required_from; /* index of the first required term that is left */
};

struct shape {
    uint32_t number, label_class, namespace;
    struct solver_amounts amounts;
    const int64_t *requests; /* by resource, the pod itself counted */
    struct term selector;    /* nodeSelector alone */
    const struct term
        *required; /* nodeSelector combined with one required term, each; none: NULL */
    size_t required_count;
    const struct preferred_term *preferred;
    size_t preferred_count;
    struct toleration_list tolerations;
    const struct spread *spreads;
    size_t spread_count;
    const struct pod_affinity *affinities;
    size_t affinity_count;
    const struct host_port *ports;
    size_t port_count;
    size_t volume_count;
    const struct term *const *volume_terms; /* of each volume */
    const size_t *volume_term_counts;
    /* The combinations of the volumes' alternatives (docs/reference/karpenter.md 4.1); none: the
     * volumes can be anywhere. */
    const struct term *volumes;
    size_t volume_alternative_count;
    uint32_t first_volume_term; /* number of the first of them, over all shapes */
    /* It runs only on hosts that its local volumes name, and at which Karpenter does not look. */
    bool local_hosts;
    bool needs_devices, pending;
    const struct relaxation *relaxations;
    size_t relaxation_count;
    const uint32_t *inverse_groups; /* of its own required anti-affinity */
    size_t inverse_group_count;
};

struct mount {
    uint32_t volume_claim, driver; /* driver SOLVER_NONE: not counted */
    bool binds;                    /* is not bound yet */
};
struct pod {
    const char *uid;
    int64_t created_unix_s;
    uint32_t shape;
    uint32_t node; /* SOLVER_NONE: pending */
    bool daemon, leaving;
    const struct mount *mounts;
    size_t mount_count;
};

/* ---- instance types, pools, nodes ---- */

struct attach_limit {
    uint32_t driver, count;
};
struct offering {
    uint32_t shape; /* of offerings */
    const char *zone, *capacity_type;
    int64_t price_usd_micro;
    bool available;
    bool launchable;      /* available, and its reservation, if any, is not full */
    uint32_t reservation; /* SOLVER_NONE: of none */
    uint32_t reservation_capacity;
    int64_t list_price_usd_micro;
    size_t order; /* if launchable: its place in the problem's offering_order */
};
struct reservation {
    uint32_t value; /* its id, of the reservation key */
    uint32_t free;  /* machines */
};
/* An offering of capacity type reserved that is available. */
struct reserved_offering {
    uint32_t option;
    const struct offering *offering;
};
/* Offerings with equal requirements, and the options that have one. */
struct offering_shape {
    struct solver_requirements requirements;
    uint64_t *options; /* options with an available one */
};
struct instance_type {
    const char *name;
    struct solver_requirements requirements;
    struct solver_amounts capacity, allocatable;
    const struct attach_limit *attach_limits;
    size_t attach_limit_count;
    const struct solver_offering *source; /* copies, until the options are made */
    size_t source_count;
};
struct priced_offering {
    uint32_t option, shape;
    struct offering *offering;
};
/* A type with one of its allocatables: offerings may have their own
 * (docs/reference/karpenter.md 2.5). */
struct instance_type_option {
    uint32_t type;
    struct solver_amounts allocatable;
    struct offering *offerings;
    size_t offering_count;
};
/* By key: which options have which value. */
struct key_index {
    bool defined;
    const uint64_t *unsaid;  /* types without a requirement on the key */
    const uint64_t *absent;  /* DoesNotExist */
    const uint64_t *open;    /* any value, as with Exists */
    uint64_t *const *values; /* by value; NULL: none */
    size_t value_count;
};

/* The DaemonSet pods that options of a pool run, for options that run the same ones
 * (docs/reference/karpenter.md 2.6). */
struct daemon_overhead_group {
    const uint64_t *options;
    const int64_t *overhead;
    const struct host_port *ports;
    size_t port_count;
};
struct pool {
    const char *name;
    uint32_t weight;
    struct solver_requirements requirements; /* labels and the pool's own name among them */
    struct taint_list taints;
    struct solver_amounts limit_amounts;
    const uint32_t *types;
    size_t type_count;
    bool all_types, unlisted_types;
    const char *const *label_domains;
    size_t label_domain_count;
    /* Ready: */
    const uint64_t *all_options; /* of its types */
    const uint64_t *options;     /* options that it can launch */
    bool has_limits;
    const int64_t *limits; /* by resource: what is left; INT64_MAX: no limit */
    const struct daemon_overhead_group *daemons;
    size_t daemon_count;
    const int64_t *room; /* [resource][option]: allocatable less its daemons */
};
struct state_node { /* a node of the cluster */
    const char *name;
    uint32_t pool;
    bool initialized, to_come;
    bool leaving;                      /* takes no pod; its domain counts only through its pods */
    struct solver_requirements labels; /* canonical keys, hostname not among them */
    struct label_list raw;             /* as written: topology keys are not canonical */
    uint32_t hostname;                 /* a value */
    struct taint_list taints;
    struct solver_amounts capacity, allocatable;
    const struct attach_limit *attach_limits;
    size_t attach_limit_count;
    /* Ready: */
    const int64_t *room; /* by resource: what is free, less daemons that do not run yet */
    struct host_port_list ports;
    LIST(struct mount) mounts;
};

struct tainted { /* nodes with the same taints: bits */
    struct taint_list taints;
    uint64_t *nodes;
};

/* ---- the whole ---- */

struct solver_problem {
    struct arena *arena;
    struct solver_names *names;     /* keys and values of requirements: of nodes, types, pools */
    struct solver_names *pod_names; /* labels of pods and namespaces */
    struct solver_settings settings;
    uint32_t hostname_key, zone_key, capacity_type_key, reservation_key;
    struct intern words, resources, namespaces, volume_claims, drivers;
    struct intern pod_ids, type_ids, pool_ids, node_ids; /* by name */
    struct intern shape_fingerprints, class_fingerprints, selector_fingerprints,
        toleration_fingerprints, group_fingerprints;
    LIST(struct instance_type) types;
    LIST(struct pool) pools;
    LIST(struct state_node) nodes;
    LIST(struct pod) pods;
    LIST(struct shape) shapes;
    LIST(uint32_t) daemons; /* shapes */
    LIST(struct label_class) label_classes;
    LIST(struct selector) selectors;
    LIST(struct label_list) namespace_labels; /* by namespace */
    bool stocked;                             /* types, pools and daemons are ready */
    /* Ready: */
    uint32_t resource_count;
    const bool *well_known; /* by key: undefined is fine (docs/reference/karpenter.md 1.3) */
    uint32_t key_count;
    LIST(struct instance_type_option) options;
    size_t option_words;
    const int64_t *capacity; /* [resource][option] */
    const struct key_index *key_index;
    LIST(struct offering_shape) offering_shapes;
    const struct priced_offering *offering_order; /* launchable offerings, the cheapest first */
    size_t offering_order_count;
    LIST(struct reservation) reservations;
    LIST(struct reserved_offering) reserved;
    LIST(struct topology_group) groups;
    LIST(uint32_t) inverse_groups;
    const uint32_t *pool_order; /* by weight, then name, both descending */
    const uint32_t *node_order; /* initialized first, then by name */
    const uint32_t *node_rank;  /* by node: its index in node_order */
    size_t node_words;
    /* By key, then node: the value of the label as written, and of the canonical key; SOLVER_NONE:
     * none. NULL: no node has the key. */
    const uint32_t *const *written_values, *const *label_values;
    uint32_t label_key_count;
    LIST(struct tainted) node_taints;
    /* Running pods: those of node i are from node_starts[i] to node_starts[i + 1]. Likewise by
     * label class: the nodes of its pods, without pods that are being deleted. */
    const size_t *node_starts, *class_starts;
    const uint32_t *node_pods, *class_nodes;
    size_t started_class_count;
    /* By group: used only by pods that gave up a required term or tolerate PreferNoSchedule. In
     * Karpenter this is a new group: it counts the running pods, and pods that are placed after it
     * was made. */
    const bool *late_groups;
    const uint32_t *queue; /* pending pods in the order they are tried */
    size_t queue_count;
    uint32_t relaxation_count, volume_term_count;
    uint32_t topology_key_count; /* keys of groups, without hostname */
    const uint32_t *topology_keys;
    const uint32_t *topology_index; /* by key; SOLVER_NONE */
    /* [topology key][value]: nodes (in node_order) of that value; NULL: none */
    uint64_t *const *const *nodes_of;
};

/* ---- the files that make it ---- */

struct solver_builder {
    struct solver_problem *problem;
    struct fingerprint scratch;
};
/* A problem with the lists of another one, on tables of its own over that one's. */
void problem_over(struct solver_problem *problem, const struct solver_problem *below,
                  struct arena *arena);
/* builder.c */
bool amounts_check(const struct solver_problem *problem, struct solver_amounts amounts,
                   const char *what, const char *name, struct error *error);
struct mount mount_make(struct solver_problem *problem, const struct solver_mount *given);
/* shape.c */
struct solver_requirement requirement_make(struct solver_problem *problem,
                                           const struct solver_expression *expression);
/* An empty set with room for count requirements. */
struct solver_requirements requirements_for(struct solver_problem *problem, size_t count);
struct term term_make(struct solver_problem *problem, struct solver_expressions expressions);
void term_add(struct solver_problem *problem, struct term *term, const struct term *more);
bool shape_add(struct solver_builder *builder, const struct solver_shape *given, uint32_t *number,
               struct error *error);
/* selector.c */
uint32_t selector_add(struct solver_builder *builder, const struct solver_selector *given,
                      struct label_list own, const char *const *match_label_keys,
                      size_t match_label_key_count);
uint32_t label_class_add(struct solver_builder *builder, uint32_t namespace,
                         struct solver_labels labels);
struct label_list label_list_make(struct solver_problem *problem, struct solver_labels labels);
/* instance_types.c */
void instance_types_make(struct solver_problem *problem);
/* Selects the options whose type meets the set. */
void instance_types_select(const struct solver_problem *problem,
                           const struct solver_requirements *set, uint64_t *options);
/* Selects the options that have an available offering for the set. */
void offerings_select(const struct solver_problem *problem, const struct solver_requirements *set,
                      uint64_t *options);
/* reserved.c */
/* The reservations that the offerings of the options name. */
void reservations_make(struct solver_problem *problem);
/* pool.c */
void pools_make(struct solver_problem *problem);
/* What the nodes leave of the pools' limits. */
void pools_limit(struct solver_problem *problem);
/* state_node.c */
/* Indexes running pods by node and label class. */
void pods_index(struct solver_problem *problem);
/* Indexes nodes by order and labels, and computes what is free on each. */
void nodes_index(struct solver_problem *problem);
/* Removes the nodes (bits by number) whose labels or name do not meet the term. */
void nodes_keep(const struct solver_problem *problem, const struct term *term, uint64_t *nodes);
/* Removes the nodes whose taints are not tolerated. */
void nodes_keep_tolerated(const struct solver_problem *problem,
                          const struct toleration_list *tolerations, bool prefer, uint64_t *nodes);
/* Removes the nodes whose value of a topology key is none of the domains. */
void nodes_keep_domains(const struct solver_problem *problem, uint32_t key, const uint64_t *domains,
                        size_t word_count, uint64_t *nodes);
/* By node; NULL: none has the key. */
static inline const uint32_t *written_values(const struct solver_problem *problem, uint32_t key)
{
    return key < problem->label_key_count ? problem->written_values[key] : NULL;
}
static inline const uint32_t *label_values(const struct solver_problem *problem, uint32_t key)
{
    return key < problem->label_key_count ? problem->label_values[key] : NULL;
}
/* preferences.c */
/* The relaxations of every pending shape, and the inverse groups. */
void relaxations_make(struct solver_builder *builder);
void inverse_groups_make(struct solver_builder *builder, struct shape *shape);
/* Makes the relaxations of a shape one after another; the caller numbers them. */
struct relaxation_steps;
struct relaxation_steps *relaxation_steps(struct solver_builder *builder,
                                          const struct shape *shape);
bool relaxation_next(struct relaxation_steps *steps, struct relaxation *relaxation);
size_t relaxations_most(const struct shape *shape);
/* The relaxation without any preference, with the required terms from required_from on. */
struct relaxation relaxation_of_required(struct solver_builder *builder, const struct shape *shape,
                                         size_t required_from);
/* topology_group.c */
bool topology_group_selects(const struct solver_problem *problem,
                            const struct topology_group *group, const struct label_class *class);
/* Finds the inverse groups that keep pods of the class away. */
void class_kept_away(struct solver_problem *problem, struct label_class *class);
/* Which nodes a spread counts depends on the preferences that are left (docs/reference/karpenter.md
 * 2.7). */
struct topology_node_filter {
    size_t required_from;
    bool prefer;
};
/* Makes the group of a spread or an affinity, or finds an equal one. */
uint32_t topology_group_of_spread(struct solver_builder *builder, const struct shape *shape,
                                  const struct spread *spread,
                                  const struct topology_node_filter *filter);
uint32_t topology_group_of_affinity(struct solver_builder *builder, const struct shape *shape,
                                    const struct pod_affinity *affinity, bool inverse);
/* The group of an affinity that counts only the pods that some other groups select, too. */
uint32_t topology_group_of_joint_affinity(struct solver_builder *builder, const struct shape *shape,
                                          const struct pod_affinity *affinity, const uint32_t *also,
                                          size_t also_count);
/* Counts the running pods in all groups, and links label classes with their groups. */
void topology_groups_count(struct solver_problem *problem);
/* Counts the running pods in one group. */
void topology_group_count(struct solver_problem *problem, struct topology_group *group);
static inline bool topology_group_counts_node(const struct topology_group *group, uint32_t node)
{
    return group->filter_nodes == NULL || bits_has(group->filter_nodes, node);
}

/* Whether any improvement of --optimize is on. */
static inline bool settings_optimize(const struct solver_settings *settings)
{
    const struct solver_optimize *wanted = &settings->optimize;
    return wanted->joint_zones || wanted->spread_in_one || wanted->exact_limits ||
           wanted->best_fit || wanted->cheapest;
}

/* Sums that saturate instead of overflowing. */
static inline int64_t add_capped(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : a > 0 ? INT64_MAX : INT64_MIN;
}
static inline int64_t subtract_capped(int64_t a, int64_t b)
{
    int64_t difference;
    return !__builtin_sub_overflow(a, b, &difference) ? difference : a > 0 ? INT64_MAX : INT64_MIN;
}

/* The amounts as a vector by resource number. */
int64_t *amounts_vector(const struct solver_problem *problem, struct solver_amounts amounts);
/* Whether r is compatible with incoming (docs/reference/karpenter.md 1.3). Without strict,
 * well-known keys may be undefined in r. */
bool compatible(const struct solver_problem *problem, const struct solver_requirements *r,
                const struct solver_requirements *incoming, bool strict, uint32_t *conflict);
/* Whether a node of this name, or a new node, meets the hostname requirement. */
bool hostname_allows(const struct solver_problem *problem,
                     const struct solver_requirement *hostname, uint32_t value);
bool hostname_allows_new(const struct solver_requirement *hostname);
/* The value a node has for a canonical key; SOLVER_NONE. */
uint32_t state_node_value(const struct state_node *node, uint32_t key);

#endif
