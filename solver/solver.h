/* The solver: Karpenter's requirement algebra and its scheduling simulation. Pure: no I/O, no
 * globals, no clock. Memory comes from the caller's arena (base/base.h), except for plans that
 * solver_solve only compares. It follows the rules of Karpenter's scheduler in
 * docs/reference/karpenter.md. */
#ifndef TAFFRAIL_SOLVER_SOLVER_H
#define TAFFRAIL_SOLVER_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* ---- names: label keys and values interned to small numbers ---- */

/* A table of keys and, for each key, its values, both numbered from 0 in order of arrival. A table
 * over another one looks there first and adds only what is new; its numbers continue those of the
 * lower table. The lower table is shared and read-only from then on, the upper one belongs to one
 * request. */
struct solver_names;

#define SOLVER_NONE UINT32_MAX

struct solver_names *solver_names_create(struct arena *arena, const struct solver_names *below);
/* The number of a key or value, added when new. */
uint32_t solver_names_key(struct solver_names *names, const char *data, size_t size);
uint32_t solver_names_value(struct solver_names *names, uint32_t key, const char *data,
                            size_t size);
/* As above without adding: SOLVER_NONE when not there. */
uint32_t solver_names_find_key(const struct solver_names *names, const char *data, size_t size);
uint32_t solver_names_find_value(const struct solver_names *names, uint32_t key, const char *data,
                                 size_t size);
uint32_t solver_names_key_count(const struct solver_names *names);
uint32_t solver_names_value_count(const struct solver_names *names, uint32_t key);
/* Not terminated slices owned by the table. */
const char *solver_names_key_text(const struct solver_names *names, uint32_t key, size_t *size);
const char *solver_names_value_text(const struct solver_names *names, uint32_t key, uint32_t value,
                                    size_t *size);

/* Whether a value's text is a whole decimal number, as Go's Atoi reads one. *number is that number;
 * 0 for other text, and the nearest int64 for a number out of range. */
bool solver_names_value_number(const struct solver_names *names, uint32_t key, uint32_t value,
                               int64_t *number);

/* The canonical spelling of a label key (docs/reference/karpenter.md 1.4: the beta labels, the EBS
 * CSI zone, and EKS Auto Mode's eks.amazonaws.com/instance-*, which mean what
 * karpenter.k8s.aws/instance-* does). Returns data and leaves *size alone when there is no other.
 * Every requirement is made on canonical keys; topology keys are not. */
const char *solver_canonical_key(const char *data, size_t *size);
/* Karpenter's and its AWS provider's well-known keys (docs/reference/karpenter.md 1.4). */
bool solver_is_well_known(const char *data, size_t size);

/* ---- requirements ---- */

enum solver_op {
    SOLVER_IN,
    SOLVER_NOT_IN,
    SOLVER_EXISTS,
    SOLVER_DOES_NOT_EXIST,
    SOLVER_GT,
    SOLVER_LT,
    SOLVER_GTE, /* NodePools only */
    SOLVER_LTE, /* NodePools only */
};
#define SOLVER_OP_COUNT 8
/* "In", "NotIn", ...; SOLVER_NONE cast when the text is no operator. */
const char *solver_op_name(enum solver_op op);
bool solver_op_parse(const char *data, size_t size, enum solver_op *op);
/* It is also met where the key is not there. */
static inline bool solver_op_is_negative(enum solver_op op)
{
    return op == SOLVER_NOT_IN || op == SOLVER_DOES_NOT_EXIST;
}

/* The values that one key may have (docs/reference/karpenter.md 1.1): a set, or with complement all
 * values outside a set, within integer bounds. The set has a bit for each value number of
 * solver_names; words beyond word_count are 0. */
struct solver_requirement {
    uint32_t key;
    bool complement, has_gte, has_lte;
    bool needs_label; /* one of its expressions, such as Exists, is met only where the key is there
                       */
    int64_t gte, lte;
    uint32_t min_values; /* 0: none */
    uint32_t word_count;
    const uint64_t *words;
};

/* Values are value numbers of this key. Gt, Lt, Gte and Lte read the first one's text as an
 * integer. */
struct solver_requirement solver_requirement_make(const struct solver_names *names, uint32_t key,
                                                  enum solver_op op, const uint32_t *values,
                                                  size_t value_count, uint32_t min_values,
                                                  struct arena *arena);
/* docs/reference/karpenter.md 1.2. Both of the same key. */
struct solver_requirement solver_requirement_intersect(const struct solver_names *names,
                                                       const struct solver_requirement *a,
                                                       const struct solver_requirement *b,
                                                       struct arena *arena);
bool solver_requirement_has(const struct solver_names *names, const struct solver_requirement *r,
                            uint32_t value);
/* Karpenter's fast check: two complements always intersect, bounds permitting. */
bool solver_requirement_intersects(const struct solver_names *names,
                                   const struct solver_requirement *a,
                                   const struct solver_requirement *b);
/* The operator that follows from the values: NotIn, Exists, In or DoesNotExist. */
enum solver_op solver_requirement_op(const struct solver_requirement *r);
bool solver_requirement_is_negative(const struct solver_requirement *r);
bool solver_requirement_equal(const struct solver_requirement *a,
                              const struct solver_requirement *b);

/* ---- requirement sets ---- */

/* At most one requirement a key, sorted by key. Zero-initialise. */
struct solver_requirements {
    struct solver_requirement *items;
    size_t count, capacity;
};

/* Intersects with the requirement of the same key, if there is one (docs/reference/karpenter.md
 * 1.3). */
void solver_requirements_add(const struct solver_names *names, struct solver_requirements *set,
                             struct solver_requirement requirement, struct arena *arena);
/* NULL when the key is not constrained, which reads as Exists. */
const struct solver_requirement *solver_requirements_get(const struct solver_requirements *set,
                                                         uint32_t key);
/* docs/reference/karpenter.md 1.3 (b). *conflict (may be NULL) is the first key without a common
 * value. */
bool solver_requirements_intersect(const struct solver_names *names,
                                   const struct solver_requirements *a,
                                   const struct solver_requirements *b, uint32_t *conflict);
/* docs/reference/karpenter.md 1.3. Asymmetric: a key that r does not define is compatible only when
 * incoming has NotIn or DoesNotExist for it, or allow_undefined (NULL: no key) is true for it. */
bool solver_requirements_compatible(const struct solver_names *names,
                                    const struct solver_requirements *r,
                                    const struct solver_requirements *incoming,
                                    bool (*allow_undefined)(const char *key, size_t size),
                                    uint32_t *conflict);

/* ---- a problem: a cluster, what may be bought for it, and pods ---- */

/* Strings are terminated and the caller's: the builder copies what it keeps. An absent list has
 * count 0. Quantities are whole numbers in whatever unit the caller uses for that resource
 * everywhere (taffrail: cpu in thousandths, all others in units). */

enum { SOLVER_CPU, SOLVER_MEMORY, SOLVER_PODS, SOLVER_NODES, SOLVER_FIXED_RESOURCES };

struct solver_amount {
    uint32_t resource; /* as solver_builder_resource numbers it, or a fixed one */
    int64_t quantity;
};
struct solver_amounts {
    const struct solver_amount *items; /* each resource at most once */
    size_t count;
};

/* One requirement as written. Gt, Lt, Gte and Lte have one value, a whole number. */
struct solver_expression {
    const char *key;
    enum solver_op op;
    const char *const *values;
    size_t value_count;
    uint32_t min_values; /* 0: none */
};
struct solver_expressions { /* all must hold */
    const struct solver_expression *items;
    size_t count;
};
struct solver_label {
    const char *key, *value;
};
struct solver_labels {
    const struct solver_label *items;
    size_t count;
};
/* A metav1.LabelSelector: matchLabels are In expressions of one value. */
struct solver_selector {
    enum {
        SOLVER_SELECTOR_ABSENT, /* selects nothing (but see docs/reference/karpenter.md 3.3) */
        SOLVER_SELECTOR_GIVEN,  /* without expressions: everything */
        SOLVER_SELECTOR_INVALID /* selects nothing */
    } kind;
    struct solver_expressions expressions;
};

enum solver_effect { SOLVER_NO_SCHEDULE, SOLVER_PREFER_NO_SCHEDULE, SOLVER_NO_EXECUTE };
struct solver_taint {
    const char *key, *value;
    enum solver_effect effect;
};
struct solver_taints {
    const struct solver_taint *items;
    size_t count;
};
struct solver_toleration {
    const char *key; /* "": every key, with exists */
    bool exists;     /* operator Exists */
    bool gt, lt;     /* operators Gt and Lt, of integers; else Equal */
    const char *value;
    bool any_effect;
    enum solver_effect effect;
};

struct solver_host_port {
    const char *ip, *protocol; /* "", "0.0.0.0" and "::" are every address; "" is TCP */
    uint32_t port;
    bool unseen; /* a sidecar's: Karpenter does not see it (docs/reference/karpenter.md 2.4) */
};
/* How many volumes of a CSI driver a machine attaches. */
struct solver_attach_limit {
    const char *driver;
    uint32_t count;
};

/* The label by which an offering names its capacity reservation. */
#define SOLVER_RESERVATION_KEY "karpenter.k8s.aws/capacity-reservation-id"

/* Zone, capacity type and price of a type. */
struct solver_offering {
    const char *zone, *capacity_type;
    struct solver_expressions more; /* further requirements; mostly none */
    int64_t price_usd_micro;        /* an hour; -1: no price, comes after all that have one */
    bool available;
    /* For capacity type reserved: how many instances are free in the reservation that more names
     * (SOLVER_RESERVATION_KEY In [id]). Of several offerings of one id the least counts. */
    uint32_t reservation_capacity;
    /* The price of such an instance without a reservation: of offerings at one price the one with
     * the lower list price comes first. 0: not known. */
    int64_t list_price_usd_micro;
    const struct solver_amounts *allocatable; /* instead of the type's; NULL: the type's */
};
struct solver_instance_type {
    const char *name;
    /* Distinguishes types of one name: a node class whose settings change a type makes another type
     * of it. Pools then list their types. NULL: none. */
    const char *node_class;
    struct solver_expressions requirements; /* its labels, zones and capacity types among them */
    struct solver_amounts capacity, allocatable;
    const struct solver_attach_limit *attach_limits;
    size_t attach_limit_count;
    const struct solver_offering *offerings;
    size_t offering_count;
};

/* A NodePool that is ready (docs/reference/karpenter.md 2.1); static ones are left out by the
 * caller. */
struct solver_pool {
    const char *name;
    uint32_t weight; /* 0: none given */
    struct solver_expressions requirements;
    struct solver_labels labels; /* labels of its nodes; karpenter.sh/nodepool is added */
    struct solver_taints taints; /* without startup taints: they are removed before pods come */
    struct solver_amounts limits;
    /* The types its class offers, as the builder numbers them; NULL: all. */
    const uint32_t *types;
    size_t type_count;
    /* It may launch types that the problem does not have. Where it has none in the problem, its
     * reasons are those that hold whatever the type. */
    bool unlisted_types;
    /* Domains ("karpenter.azure.com") of labels that such types may have without a requirement. */
    const char *const *label_domains;
    size_t label_domain_count;
};

/* A Node, or a NodeClaim that is to become one. */
struct solver_node {
    const char *name; /* unique */
    const char *pool; /* NULL: not Karpenter's, or of no pool of the problem */
    struct solver_labels labels;
    struct solver_taints taints; /* those that count (docs/reference/karpenter.md 2.4) */
    struct solver_amounts capacity, allocatable;
    const struct solver_attach_limit *attach_limits;
    size_t attach_limit_count;
    bool initialized;
    bool to_come; /* bought by the simulation: no reason names it */
    bool leaving; /* being deleted: takes no pod; pods that stay on it count for topology */
};

struct solver_preferred_term {
    int32_t weight;
    struct solver_expressions expressions;
};
struct solver_spread {
    const char *key;
    int32_t max_skew, min_domains; /* min_domains 0: none */
    bool hard;                     /* DoNotSchedule */
    bool ignore_node_affinity;     /* nodeAffinityPolicy Ignore; the default is Honor */
    bool honor_node_taints;        /* nodeTaintsPolicy Honor; the default is Ignore */
    struct solver_selector selector;
    const char *const *match_label_keys;
    size_t match_label_key_count;
};
struct solver_pod_affinity {
    bool anti, required;
    int32_t weight; /* of a preferred term */
    const char *key;
    struct solver_selector selector;
    /* docs/reference/karpenter.md 3.8; neither: the pod's own. */
    const char *const *namespaces;
    size_t namespace_count;
    struct solver_selector namespace_selector; /* ABSENT: none */
};

/* Where a volume can be attached (docs/reference/karpenter.md 4.1): the terms of its node affinity,
 * or of its class's allowedTopologies. The solver combines the terms of a pod's volumes. */
struct solver_volume {
    const struct solver_expressions *alternatives; /* OR; count 0: anywhere */
    size_t alternative_count;
    bool local; /* on a node's own disk: Karpenter does not look at its hostnames */
};

/* What the scheduler looks at in a pod, without its name. Pods of one shape are solved together. */
struct solver_shape {
    const char *namespace;
    struct solver_labels labels;
    struct solver_amounts requests; /* of the whole pod; one of SOLVER_PODS is added */
    struct solver_labels node_selector;
    const struct solver_expressions *required; /* alternatives, in order */
    size_t required_count;
    const struct solver_preferred_term *preferred;
    size_t preferred_count;
    const struct solver_toleration *tolerations;
    size_t toleration_count;
    const struct solver_spread *spreads;
    size_t spread_count;
    const struct solver_pod_affinity *affinities;
    size_t affinity_count;
    const struct solver_host_port *host_ports;
    size_t host_port_count;
    /* One that can be attached anywhere has no alternatives. */
    const struct solver_volume *volumes;
    size_t volume_count;
    bool needs_devices; /* resourceClaims: not placed (docs/reference/karpenter.md 2.10) */
};

/* The PersistentVolumeClaim of one volume of the shape, for one pod: two pods with the same claim
 * attach one volume. */
struct solver_mount {
    const char *claim;  /* namespace/name */
    const char *driver; /* NULL: attaches nothing that is counted */
    bool binds; /* is not bound yet: it will be in the zone of the first pod that mounts it */
};
struct solver_pod {
    const char *name; /* namespace/name */
    const char *uid;
    int64_t created_unix_s;
    uint32_t shape;
    uint32_t node; /* as the builder numbers it; SOLVER_NONE: pending */
    bool daemon;   /* of a DaemonSet: counts towards its node's daemon headroom */
    bool leaving;  /* being deleted: takes room, but does not count for topology */
    const struct solver_mount *mounts; /* as many as the shape has volumes, or none */
    size_t mount_count;
};

/* Builds a problem. Every add returns the number of what was added, from 0, or false with *error
 * (ERROR_INPUT: a negative or overflowing quantity, a duplicate name, an unknown number; it names
 * the object). Everything lives in the arena. */
struct solver_builder;
struct solver_problem;
struct error;

struct solver_builder *solver_builder_create(struct arena *arena);
/* The number of a resource by its Kubernetes name ("cpu", "nvidia.com/gpu"). */
uint32_t solver_builder_resource(struct solver_builder *builder, const char *name);
bool solver_add_type(struct solver_builder *builder, const struct solver_instance_type *type,
                     uint32_t *number, struct error *error);
bool solver_add_pool(struct solver_builder *builder, const struct solver_pool *pool,
                     uint32_t *number, struct error *error);
bool solver_add_node(struct solver_builder *builder, const struct solver_node *node,
                     uint32_t *number, struct error *error);
/* For namespaceSelectors. */
bool solver_add_namespace(struct solver_builder *builder, const char *name,
                          struct solver_labels labels, struct error *error);
/* The number of the shape; equal shapes have one number. */
bool solver_add_shape(struct solver_builder *builder, const struct solver_shape *shape,
                      uint32_t *number, struct error *error);
/* A DaemonSet's pod: every node that suits it must leave room for it. */
bool solver_add_daemon(struct solver_builder *builder, uint32_t shape, struct error *error);
bool solver_add_pod(struct solver_builder *builder, const struct solver_pod *pod, uint32_t *number,
                    struct error *error);

struct solver_settings {
    bool ignore_preferences;     /* PREFERENCE_POLICY=Ignore */
    bool best_effort_min_values; /* MIN_VALUES_POLICY=BestEffort */
    /* A NodeClaim without reserved capacity is bought on demand or as spot, as in Karpenter's
     * simulations of a disruption; else its pod waits for a later round
     * (docs/reference/karpenter.md 2.9). */
    bool reserved_fallback;
    /* Improvements: choices among the placements that Karpenter and kube-scheduler accept
     * (docs/reference/karpenter.md 10). All false: as Karpenter chooses. */
    struct solver_optimize {
        bool joint_zones; /* an affinity group goes where its volumes are */
        bool
            spread_in_one; /* zone-anti-affine replicas in one pass: a NodeClaim commits its zone */
        bool exact_limits; /* a pool's limit counts what is bought, not the largest type left */
        bool best_fit;     /* the fullest NodeClaim first, not the emptiest */
        bool cheapest;     /* the cheapest plan among pools of equal weight */
    } optimize;
    /* Asked while a better plan is looked for: once it returns true, the best plan so far is the
     * plan. NULL: all tries are made, so that equal input has equal plans. */
    struct solver_patience {
        bool (*is_over)(void *context);
        void *context;
    } patience;
};
/* Consumes the builder. The problem is immutable and may be read by any thread. */
bool solver_build(struct solver_builder *builder, const struct solver_settings *settings,
                  const struct solver_problem **problem, struct error *error);

/* What many problems have in common: types, pools and daemons. Consumes the builder, which has no
 * node and no pod. The stock is immutable, too. */
bool solver_build_stock(struct solver_builder *builder, const struct solver_settings *settings,
                        const struct solver_problem **stock, struct error *error);
/* Builds a problem over a stock, which must outlive it: nodes, namespaces, shapes and pods are
 * added, and shapes request resources that the stock names (solver_problem_resource). The settings
 * are the stock's. */
struct solver_builder *solver_builder_over(const struct solver_problem *stock, struct arena *arena);

/* ---- a run: the state of one thread that asks a problem ---- */

struct solver_run;
/* The run and its answers live in the arena. The problem must outlive the run. */
struct solver_run *solver_run_create(const struct solver_problem *problem, struct arena *arena);

enum solver_placement_kind { SOLVER_UNSCHEDULABLE, SOLVER_ON_NODE, SOLVER_ON_NODE_CLAIM };
struct solver_placement {
    uint32_t pod;
    enum solver_placement_kind kind;
    uint32_t index; /* of the node, or of the plan's NodeClaim */
    /* Karpenter counts it as placed, on a node where its local volume is not. */
    bool misplaced;
};
/* A node to buy. */
struct solver_node_claim {
    uint32_t pool;
    const struct solver_requirements *requirements; /* in the problem's names */
    const uint32_t *types; /* types that can hold its pods, by price, then name */
    size_t type_count;
    const uint32_t *pods; /* by number */
    size_t pod_count;
    const uint32_t
        *misplaced; /* those that Karpenter buys it for, too, and that cannot run on it */
    size_t misplaced_count;
    const int64_t *requests; /* by resource, the least of daemons among them */
    /* The cheapest offering left; ties by type, zone and capacity type. */
    uint32_t type;
    const char *zone, *capacity_type;
    const char *reservation; /* the id of that offering's capacity reservation; "": none */
    int64_t price_usd_micro; /* -1: no price */
};
struct solver_plan {
    const struct solver_placement *placements; /* of every pending pod, by number */
    size_t placement_count;
    const struct solver_node_claim *claims;
    size_t claim_count;
    size_t unschedulable_count;
    bool cut_short; /* patience ran out before all tries for a better plan were made */
};
/* One round of Karpenter's scheduler over all pending pods (docs/reference/karpenter.md 2). */
const struct solver_plan *solver_solve(struct solver_run *run);

/* Why one pod fits nowhere, after solver_solve: by pool, the smallest set of reasons that excludes
 * the pool. */
enum solver_reason_kind {
    SOLVER_REASON_TAINT,
    SOLVER_REASON_REQUIREMENT,
    SOLVER_REASON_RESOURCES,
    SOLVER_REASON_OFFERING,
    SOLVER_REASON_TOPOLOGY,
    SOLVER_REASON_VOLUME,
    SOLVER_REASON_LIMIT,
    SOLVER_REASON_PORT,
    SOLVER_REASON_MIN_VALUES,
    SOLVER_REASON_DEVICES,
    SOLVER_REASON_COUNT
};
/* "taint", "requirement", ... */
const char *solver_reason_name(enum solver_reason_kind kind);
struct solver_reasons {
    const struct solver_reason
        *items; /* solver/reason.h; first those without a pool, then by pool and kind */
    size_t count;
};
struct solver_reasons solver_explain(struct solver_run *run, uint32_t pod);

/* ---- questions about one pod, to a run that was not solved ---- */

/* One more pod, alone: pending pods of the problem do not count. A shape that the problem does not
 * have costs some microseconds more. */
struct solver_question {
    const struct solver_shape *shape;  /* resources as the builder numbered them; SOLVER_NONE: one
                                          that nothing has */
    const struct solver_mount *mounts; /* as many as the shape has volumes, or none */
    size_t mount_count;
    bool beyond_limits;     /* ignores the limits of NodePools */
    bool reserved_fallback; /* as that of the settings, where they do not say so */
    bool explain;           /* with the reasons, if it fits nowhere */
};
struct solver_answer {
    enum solver_placement_kind kind;
    uint32_t node;                         /* SOLVER_ON_NODE */
    const struct solver_node_claim *claim; /* SOLVER_ON_NODE_CLAIM: what would be bought for it */
    const struct solver_names *names;      /* of the NodeClaim's requirements */
    struct solver_reasons reasons;         /* SOLVER_UNSCHEDULABLE, when they were asked for */
};
/* Where the pod would be placed. The run is unchanged afterwards; the answer, and all memory of the
 * query, is in the arena given. False with *error (ERROR_INPUT, ERROR_LIMIT) when the question is
 * invalid. One thread at a time asks a run. Equal questions have equal answers. */
bool solver_query(struct solver_run *run, const struct solver_question *question,
                  struct arena *arena, struct solver_answer *answer, struct error *error);
/* Everywhere the pod could be placed, and what keeps it from the rest. */
struct solver_outlook {
    /* By pool: what it would buy for the pod; NULL: nothing. */
    const struct solver_node_claim *const *claims;
    const bool *nodes;             /* by node: it takes the pod */
    struct solver_reasons reasons; /* of the pools and Nodes that do not */
};
bool solver_query_outlook(struct solver_run *run, const struct solver_question *question,
                          struct arena *arena, struct solver_outlook *outlook, struct error *error);
/* The zones in which the pod could run, by name: some NodePool can launch a type there that holds
 * it, or a Node there has room. Preferences do not count. */
struct solver_strings {
    const char *const *items;
    size_t count;
};
bool solver_query_zones(struct solver_run *run, const struct solver_question *question,
                        struct arena *arena, struct solver_strings *zones, struct error *error);

/* What a problem holds, by number. */
uint32_t solver_pool_count(const struct solver_problem *problem);
const char *solver_pool_name(const struct solver_problem *problem, uint32_t pool);
const char *solver_type_name(const struct solver_problem *problem, uint32_t type);
const char *solver_node_name(const struct solver_problem *problem, uint32_t node);
const char *solver_pod_name(const struct solver_problem *problem, uint32_t pod);
/* SOLVER_NONE: nothing in the problem has or asks for it. */
uint32_t solver_problem_resource(const struct solver_problem *problem, const char *name);
uint32_t solver_resource_count(const struct solver_problem *problem);
const char *solver_resource_name(const struct solver_problem *problem, uint32_t resource);
const struct solver_names *solver_problem_names(const struct solver_problem *problem);

#endif
