/* A problem inside: what the builder gathers and solver_build makes ready to be asked. Everything
 * is numbered; what is numbered is found by number in an array. */
#ifndef TAFFRAIL_SOLVER_PROBLEM_H
#define TAFFRAIL_SOLVER_PROBLEM_H

#include "base/base.h"
#include "solver/bits.h"
#include "solver/intern.h"
#include "solver/solver.h"

/* ---- parts of pods, pools and nodes ---- */

/* A set of requirements with what it says of kubernetes.io/hostname apart, since every machine has
 * a hostname of its own, also one that is yet to be bought. */
struct term {
    struct solver_requirements requirements;
    const struct solver_requirement *hostname; /* NULL: nothing */
};

struct taint {
    uint32_t key, value; /* words */
    enum solver_effect effect;
};
struct taint_list {
    const struct taint *items;
    size_t count;
};
struct toleration {
    uint32_t key; /* a word; SOLVER_NONE: every key */
    uint32_t value;
    bool exists, any_effect;
    enum solver_effect effect;
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
};
struct host_port_list {
    struct host_port *items;
    size_t count, capacity;
};
bool host_ports_conflict(const struct host_port *a, size_t a_count, const struct host_port *b,
                         size_t b_count);

/* Selectors over the labels of pods. */
struct selector_item {
    uint32_t key;
    enum solver_op op;
    const uint32_t *values;
    size_t value_count;
};
struct selector {
    bool nothing;
    bool absent; /* selects nothing, but of pods that run Karpenter counts all
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

/* Pods that selectors cannot tell apart. */
struct label_class {
    uint32_t namespace;
    struct label_list labels;
    /* Groups that count such a pod, and inverse ones it has to keep away from. */
    LIST(uint32_t) counted_by, kept_away_by;
    LIST(uint32_t) listed_by; /* without a selector: they count it where it runs, not when placed */
};

/* ---- topology groups (docs/reference/karpenter.md 3) ---- */

enum topology_type { TOPOLOGY_SPREAD, TOPOLOGY_POD_AFFINITY, TOPOLOGY_POD_ANTI_AFFINITY };
struct topology_group {
    enum topology_type kind;
    bool inverse;  /* of the pods that have the term, not of those it selects */
    bool hostname; /* domains are hosts: nodes by number, then NodeClaims */
    uint32_t key;
    int32_t max_skew, min_domains;
    uint32_t selector;
    const uint64_t *namespaces;  /* bits */
    size_t namespace_count;      /* that the bits are about */
    uint32_t namespace_selector; /* SOLVER_NONE: none */
    /* Spread only: the nodes that count (docs/reference/karpenter.md 3.3). */
    const struct term *filter_terms;                  /* OR */
    size_t filter_term_count;                         /* 0: all */
    const struct toleration_list *filter_tolerations; /* NULL: taints do not matter */
    bool filter_prefers;                              /* PreferNoSchedule is tolerated, too */
    const uint64_t *filter_nodes;                     /* bits; NULL: all */
    const uint64_t
        *pool_domains; /* bits, count_size of them: what pools can make; hostname: NULL */
    /* What the cluster holds: -1 for a value that is no domain. Indexed by the key's values, or by
     * node. */
    int32_t *counts;
    size_t count_size;
    size_t occupied; /* domains with a count above 0 */
    /* Inverse: pods that have the term. One that nobody has keeps nobody away. */
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

/* A shape after some steps of relaxation (docs/reference/karpenter.md 2.7). */
struct relaxation {
    uint32_t number;        /* over all shapes */
    struct term full;       /* with the heaviest preference */
    struct term strict;     /* without */
    bool prefer;            /* tolerates PreferNoSchedule */
    const uint32_t *groups; /* it has to satisfy, inverse ones of others not among them */
    size_t group_count;
    size_t required_from; /* the required terms left begin here */
};

struct shape {
    uint32_t number, label_class, namespace;
    struct solver_amounts amounts;
    const int64_t *requests;     /* by resource, the pod itself counted */
    struct term selector;        /* nodeSelector alone */
    const struct term *required; /* nodeSelector and a term of its own, each; none: NULL */
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
    /* The combinations of the volumes' alternatives (docs/reference/karpenter.md 4.1); none: no
     * volume says anything. */
    const struct term *volumes;
    size_t volume_alternative_count;
    uint32_t first_volume_term; /* number of the first of them, over all shapes */
    bool needs_devices, pending;
    const struct relaxation *relaxations;
    size_t relaxation_count;
    const uint32_t *inverse_groups; /* of its own required anti-affinity */
    size_t inverse_group_count;
};

struct mount {
    uint32_t volume_claim, driver; /* driver SOLVER_NONE: not counted */
    bool binds;                    /* is nowhere yet */
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

/* ---- machines ---- */

struct attach_limit {
    uint32_t driver, count;
};
struct offering {
    uint32_t shape; /* of offerings */
    const char *zone, *capacity_type;
    int64_t price_usd_micro;
    bool available;
    bool launchable;      /* available, and not of a reservation that is full */
    uint32_t reservation; /* SOLVER_NONE: of none */
    uint32_t reservation_capacity;
    int64_t list_price_usd_micro;
};
/* Below 0: a is cheaper than b. */
static inline int compare_offering_prices(const struct offering *a, const struct offering *b)
{
    int64_t a_price = a->price_usd_micro, b_price = b->price_usd_micro;
    if (a_price != b_price)
        return b_price < 0 || (a_price >= 0 && a_price < b_price) ? -1 : 1;
    int64_t a_list = a->list_price_usd_micro, b_list = b->list_price_usd_micro;
    return a_list < b_list ? -1 : a_list > b_list;
}
struct reservation {
    uint32_t value; /* its id, of the reservation key */
    uint32_t free;  /* machines */
};
/* An offering of capacity type reserved that is available. */
struct reserved_offering {
    uint32_t option;
    const struct offering *offering;
};
/* Offerings that ask the same, and the options that have one. */
struct offering_shape {
    struct solver_requirements requirements;
    uint64_t *options; /* with one that is available */
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
    const struct offering *offering;
};
/* A type with one of its allocatables: offerings may have their own
 * (docs/reference/karpenter.md 2.5). */
struct instance_type_option {
    uint32_t type;
    struct solver_amounts allocatable;
    struct offering *offerings;
    size_t offering_count;
};
/* Which options' types say what about one key. */
struct key_index {
    bool defined;
    const uint64_t *unsaid;  /* nothing */
    const uint64_t *absent;  /* DoesNotExist */
    const uint64_t *open;    /* some value, not known which */
    uint64_t *const *values; /* by value; NULL: none */
    size_t value_count;
};

/* DaemonSet pods that the same options of a pool must leave room for
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
    bool all_types;
    /* Ready: */
    const uint64_t *all_options; /* of its types */
    const uint64_t *options;     /* that it can launch at all */
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
    bool leaving;                      /* nothing fits, and only its pods make it a domain */
    struct solver_requirements labels; /* canonical keys, hostname not among them */
    struct label_list raw;             /* as written: topology keys are not canonical */
    uint32_t hostname;                 /* a value */
    struct taint_list taints;
    struct solver_amounts capacity, allocatable;
    const struct attach_limit *attach_limits;
    size_t attach_limit_count;
    /* Ready: */
    const int64_t *room; /* by resource: free, daemons that are to come taken off */
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
    struct solver_names *names;     /* of nodes, types, pools: what requirements are over */
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
    /* Ready: */
    uint32_t resource_count;
    const bool *well_known; /* by key: undefined is fine (docs/reference/karpenter.md 1.3) */
    uint32_t key_count;
    LIST(struct instance_type_option) options;
    size_t option_words;
    const int64_t *capacity; /* [resource][option] */
    const struct key_index *key_index;
    LIST(struct offering_shape) offering_shapes;
    const struct priced_offering *offering_order; /* that can be launched, the cheapest first */
    size_t offering_order_count;
    LIST(struct reservation) reservations;
    LIST(struct reserved_offering) reserved;
    LIST(struct topology_group) groups;
    LIST(uint32_t) inverse_groups;
    const uint32_t *pool_order; /* by weight, then name, both descending */
    const uint32_t *node_order; /* initialized first, then by name */
    const uint32_t *node_rank;  /* by node: where it stands in node_order */
    size_t node_words;
    /* By key, then node: the value of its label as written, and of the canonical key; SOLVER_NONE.
     * NULL: no node has the key. */
    const uint32_t *const *written_values, *const *label_values;
    uint32_t label_key_count;
    LIST(struct tainted) node_taints;
    /* Those that run: pods of node i are from node_starts[i] to node_starts[i + 1]; of label class
     * i the nodes, of pods that are not leaving. */
    const size_t *node_starts, *class_starts;
    const uint32_t *node_pods, *class_nodes;
    size_t started_class_count;
    /* By group: asked only by pods that gave up a required term or tolerate PreferNoSchedule. To
     * Karpenter that is another group, which counts what runs and what is placed from then on. */
    const bool *late_groups;
    const uint32_t *queue; /* pending pods in the order they are tried */
    size_t queue_count;
    uint32_t relaxation_count, volume_term_count;
    uint32_t topology_key_count; /* keys some group is over, hostname not among them */
    const uint32_t *topology_keys;
    const uint32_t *topology_index; /* by key; SOLVER_NONE */
    /* [topology key][value]: nodes (in node_order) of that value; NULL: none */
    uint64_t *const *const *nodes_of;
};

/* ---- making it: one file a subject ---- */

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
/* None yet, with room for so many. */
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
/* Rows whose type may be what the set asks. */
void instance_types_select(const struct solver_problem *problem,
                           const struct solver_requirements *set, uint64_t *options);
/* Rows that have an offering, available now, for the set. */
void offerings_select(const struct solver_problem *problem, const struct solver_requirements *set,
                      uint64_t *options);
/* reserved.c */
/* The reservations that the offerings of the options name. */
void reservations_make(struct solver_problem *problem);
/* pool.c */
void pools_make(struct solver_problem *problem);
/* state_node.c */
/* Which pods run where. */
void pods_index(struct solver_problem *problem);
/* Order and labels, and what is free on each. */
void nodes_index(struct solver_problem *problem);
/* Takes the nodes off (bits by number) whose labels, or name, are not what the term asks. */
void nodes_keep(const struct solver_problem *problem, const struct term *term, uint64_t *nodes);
/* Takes those off whose taints are not tolerated. */
void nodes_keep_tolerated(const struct solver_problem *problem,
                          const struct toleration_list *tolerations, bool prefer, uint64_t *nodes);
/* Takes those off whose value of a topology key is none of the domains. */
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
/* relaxation.c */
/* The relaxations of every pending shape, and the inverse groups. */
void relaxations_make(struct solver_builder *builder);
void inverse_groups_make(struct solver_builder *builder, struct shape *shape);
/* The relaxations of a shape one after another, their numbers left to the caller. */
struct relaxation_steps;
struct relaxation_steps *relaxation_steps(struct solver_builder *builder,
                                          const struct shape *shape);
bool relaxation_next(struct relaxation_steps *steps, struct relaxation *relaxation);
size_t relaxations_most(const struct shape *shape);
/* As only what is required of a shape would have it, with its required terms from one on. */
struct relaxation relaxation_of_required(struct solver_builder *builder, const struct shape *shape,
                                         size_t required_from);
/* topology_group.c */
bool topology_group_selects(const struct solver_problem *problem,
                            const struct topology_group *group, const struct label_class *class);
/* Inverse groups keep pods of the class away. */
void class_kept_away(struct solver_problem *problem, struct label_class *class);
/* What is left of a shape's preferences when a spread is asked (docs/reference/karpenter.md 2.7).
 */
struct topology_node_filter {
    size_t required_from;
    bool prefer;
};
/* The groups a shape's spreads and affinities make, and its inverse ones. */
uint32_t topology_group_of_spread(struct solver_builder *builder, const struct shape *shape,
                                  const struct spread *spread,
                                  const struct topology_node_filter *filter);
uint32_t topology_group_of_affinity(struct solver_builder *builder, const struct shape *shape,
                                    const struct pod_affinity *affinity, bool inverse);
/* What the cluster holds of each group, and which of them label classes meet. */
void topology_groups_count(struct solver_problem *problem);
/* Of one group, what the cluster holds. */
void topology_group_count(struct solver_problem *problem, struct topology_group *group);
static inline bool topology_group_counts_node(const struct topology_group *group, uint32_t node)
{
    return group->filter_nodes == NULL || bits_has(group->filter_nodes, node);
}

/* Whether anything is to be chosen otherwise than Karpenter does. */
static inline bool settings_optimize(const struct solver_settings *settings)
{
    const struct solver_optimize *wanted = &settings->optimize;
    return wanted->joint_zones || wanted->spread_in_one || wanted->exact_limits ||
           wanted->best_fit || wanted->cheapest;
}

/* Sums that stop at the ends of their range instead of wrapping round. */
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

/* By resource; the vector is as long as there are resources. */
int64_t *amounts_vector(const struct solver_problem *problem, struct solver_amounts amounts);
/* r compatible with incoming, keys that are well known excused or (strict) not
 * (docs/reference/karpenter.md 1.3). */
bool compatible(const struct solver_problem *problem, const struct solver_requirements *r,
                const struct solver_requirements *incoming, bool strict, uint32_t *conflict);
/* Whether a machine of this name, or one yet to be bought, may be what hostname asks. */
bool hostname_allows(const struct solver_problem *problem,
                     const struct solver_requirement *hostname, uint32_t value);
bool hostname_allows_new(const struct solver_requirement *hostname);
/* The value a node has for a canonical key; SOLVER_NONE. */
uint32_t state_node_value(const struct state_node *node, uint32_t key);

#endif
