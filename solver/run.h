/* The inside of a run: its NodeClaims, and which tries have failed. Karpenter tries every pod
 * against every node and NodeClaim. Here pods of a shape share failures: within a run room only
 * shrinks and requirements only narrow, so a node that refused one pod of a shape refuses all,
 * unless topology was the reason. */
#ifndef TAFFRAIL_SOLVER_RUN_H
#define TAFFRAIL_SOLVER_RUN_H

#include "solver/problem.h"

/* A set of numbers that grows. */
struct wide_bits {
    uint64_t *words;
    size_t word_count;
};
void wide_bits_add(struct arena *arena, struct wide_bits *bits, size_t number);
void wide_bits_remove(struct wide_bits *bits, size_t number);
static inline uint64_t wide_bits_word(const struct wide_bits *bits, size_t word)
{
    return word < bits->word_count ? bits->words[word] : 0;
}

/* ---- requirement sets of NodeClaims: equal ones are one ---- */

struct node_requirements {
    uint32_t number;
    struct solver_requirements requirements;
    const uint64_t *options;       /* that suit it and can be had; NULL: not asked yet */
    const bool *allowed_offerings; /* by offering shape; NULL: not asked yet */
    bool priced;
    int64_t price; /* of the cheapest of options, when priced; INT64_MAX: none */
    bool has_min_values;
};
struct transition { /* the result of adding a term to a set */
    uint64_t from, what;
    const struct node_requirements *to; /* NULL: they contradict each other */
    bool used;
};
struct node_requirements_table {
    LIST(struct node_requirements *) sets;
    struct intern fingerprints;
    struct fingerprint scratch;
    struct transition *transitions;
    size_t transition_count, transition_slots;
};
struct solver_run;
const struct node_requirements *node_requirements_of(
    struct solver_run *run, const struct solver_requirements *requirements);
/* The set with a term added; number tells terms apart. NULL when it is not compatible
 * (docs/reference/karpenter.md 2.5; keys that are well known may be undefined). */
const struct node_requirements *node_requirements_add(struct solver_run *run,
                                                      const struct node_requirements *set,
                                                      const struct term *term, uint32_t number);
/* The set with a requirement more. NULL as above. */
const struct node_requirements *node_requirements_with(
    struct solver_run *run, const struct node_requirements *set,
    const struct solver_requirement *requirement);
/* The set with a key limited to the values of domains. NULL as above. */
const struct node_requirements *node_requirements_narrow(struct solver_run *run,
                                                         const struct node_requirements *set,
                                                         uint32_t key, const uint64_t *domains,
                                                         size_t word_count);
/* The set with a key limited to one value. NULL as above. */
const struct node_requirements *node_requirements_in(struct solver_run *run,
                                                     const struct node_requirements *set,
                                                     uint32_t key, size_t value);
const uint64_t *node_requirements_options(struct solver_run *run,
                                          const struct node_requirements *set);
/* The set with every minValues lowered to what the options reach; NULL where one is not reached and
 * may not be relaxed (docs/reference/karpenter.md 1.6). */
const struct node_requirements *node_requirements_min_values(struct solver_run *run,
                                                             const struct node_requirements *set,
                                                             const uint64_t *options, bool relax);

/* How many different values the options have for the requirement's key, of those it allows. */
uint32_t requirement_count_values(const struct solver_problem *problem,
                                  const struct solver_requirement *r, const uint64_t *options);

/* ---- NodeClaims ---- */

struct node_claim {
    uint32_t pool;
    const struct node_requirements *set;
    uint64_t *options;  /* that can hold its pods */
    int64_t *requests;  /* of its pods, by resource */
    int64_t *most;      /* by resource: the largest room of an option */
    uint32_t *roomiest; /* by resource: the option that has it; SOLVER_NONE */
    uint32_t pod_count, first_pod, last_pod;
    struct host_port_list ports;
    LIST(struct mount) mounts;
    int64_t *charged; /* by resource: taken off the pool's limits for it */
    uint64_t *held;   /* reservations that hold an instance for it, bits; NULL: none */
};

/* NodeClaims with as many pods. */
struct node_claim_rank {
    struct wide_bits claims;
    size_t first_word; /* of NodeClaims: those before it are 0 */
    size_t count;
    LIST(uint32_t) arrivals; /* in order; some have left for the next rank */
};

/* ---- strategies ---- */

/* How a run chooses where Karpenter and kube-scheduler accept several placements
 * (docs/reference/karpenter.md 10). All false: as Karpenter chooses. */
struct strategy {
    bool joint_zones, spread_in_one, exact_limits, best_fit, cheapest;
    bool by_price;   /* a pod goes where it adds least to the price, also on a new NodeClaim */
    bool sound;      /* follows kube-scheduler where Karpenter accepts more */
    bool look_ahead; /* a domain is chosen only where an option fits */
    uint64_t seed;   /* not 0: ties between domains, and between pods, are drawn by it */
    bool any_order;  /* with a seed: between any pods, not only equal ones */
    const struct old_plan *old; /* a plan of which a part, drawn by the seed, is kept; NULL */
};

/* ---- state ---- */

struct topology_group_state {
    int32_t *counts; /* as in the group; of a hostname group nodes, then NodeClaims */
    size_t count_size;
    size_t occupied;
    bool dormant;  /* a late group that no pod has used yet: it counts nothing */
    size_t owners; /* of an inverse group: pods that run and have the term */
    struct wide_bits nodes,
        claims; /* hostname groups: those with a count, nodes by their index in node_order */
};

/* A group that a relaxation has to satisfy, with the domains it allows now. */
struct matching_topology {
    uint32_t group;
    bool self;         /* the pod counts itself */
    bool starts;       /* may be the first pod of an affinity */
    bool whole;        /* of whole_groups: it leaves the choice of a domain to the others */
    bool pick_one;     /* takes one domain: a spread, or the first pod of an affinity */
    bool anywhere;     /* hostname affinity without a pod to join yet */
    uint64_t *domains; /* that it allows; hostname: NULL */
    size_t word_count;
};
struct relaxation_state {
    bool ready;
    struct matching_topology *matching;
    size_t matching_count;
    uint64_t *turned_away_nodes;         /* for good, by index in node_order */
    struct wide_bits turned_away_claims; /* NodeClaims, for good */
    size_t first_word;                   /* of turned_away_claims: all words before it are full */
};

struct solver_run {
    const struct solver_problem *problem;
    struct arena *arena;
    struct strategy strategy;
    uint64_t **start_domains; /* by group, with joint_zones: where the first pod of an affinity may
                                 go; NULL: anywhere */
    int64_t *room;            /* [node][resource] */
    struct host_port_list *node_ports;
    struct {
        struct mount *items;
        size_t count, capacity;
    } * node_mounts;
    int64_t **limits;         /* of pools, by resource: what is left */
    uint64_t **limit_options; /* of pools: options within the limits; made anew when they change */
    bool *limit_options_fresh;
    struct node_requirements_table sets;
    struct node_claim *empty_node_claims; /* by pool: a NodeClaim without pods */
    LIST(struct node_claim) node_claims;
    LIST(struct node_claim_rank) ranks; /* by how many pods are on a NodeClaim */
    LIST(uint32_t)
    order;            /* of the NodeClaims, as in Karpenter; up to NODE_CLAIM_ORDER_MAX of them */
    bool order_fresh; /* nothing was placed since it was sorted */
    struct wide_bits **claims_of;  /* [topology key][value] */
    struct wide_bits *claims_open; /* [topology key]: NodeClaims without a value */
    struct topology_group_state *groups;
    struct relaxation_state *relaxations;
    uint64_t *shape_failed_at; /* by shape: the version at which it failed */
    /* By volume claim, for sound strategies; NULL: no two pods share one. */
    bool *volume_claim_shared;
    uint32_t *volume_claim_zones; /* where it will be; SOLVER_NONE: not decided yet */
    bool *postponed;              /* by shape: not in this pass; NULL: none */
    uint32_t *reservations_free;  /* by reservation: instances that no NodeClaim holds */
    /* The last try waits for a reservation or a host port: the pod gives up no preference and tries
     * no later pool. */
    bool deferred;
    size_t steps;     /* that the arena's watch does not know of yet */
    uint64_t version; /* how often something was placed, or expected somewhere, from 1 */
    struct solver_placement *placements; /* by pod */
    struct waiting *waiting;             /* reason_cycle.c; NULL: not needed yet */
    LIST(uint32_t) placed; /* pods in the order they were placed; for sound strategies */
    uint32_t *placed_as;   /* by pod: the index of its relaxation; for sound strategies */
    uint32_t *next_pod;    /* of the same NodeClaim */
    uint64_t *scratch_fits, *scratch_options, *scratch_domains, *scratch_held;
    size_t scratch_domain_words;
    int64_t *scratch_total;
    struct solver_plan plan;
    struct query_state *query_state; /* query.h; NULL: no query yet */
    bool beyond_limits;              /* the query ignores the limits of NodePools */
    bool reserved_fallback;          /* the query buys without reserved capacity */
    bool asked;          /* a query about one pod is under way: pending pods do not count */
    bool ignores_local;  /* where a local volume is plays no part: so Karpenter sees it */
    uint64_t *misplaced; /* by pod, as in a placement; NULL: none is */
};

/* ---- topology.c ---- */

/* Updates the domains that the groups of a relaxation allow. False when one allows none.
 * *in_the_way (may be NULL): that group. */
bool topology_match(struct solver_run *run, const struct shape *shape,
                    const struct relaxation *relaxation, uint32_t *in_the_way);
/* Whether a pod can be added to a host. */
enum can_add {
    CAN_ADD,
    NOT_NOW,
    NEVER,
    DEFERRED, /* the pod waits until it is known which reservations are left */
};
enum can_add topology_host(const struct solver_run *run, const struct relaxation_state *state,
                           uint32_t host, uint32_t *in_the_way);
/* The set narrowed to the domains that the groups allow; NULL: none. fits (NULL: any): a strategy
 * that looks ahead takes only domains that offer one of these options. */
const struct node_requirements *topology_narrow(struct solver_run *run,
                                                const struct relaxation_state *state,
                                                const struct node_requirements *set,
                                                const uint64_t *fits, uint32_t *in_the_way);
bool topology_allows_node(const struct solver_run *run, const struct relaxation_state *state,
                          const struct state_node *node, uint32_t *in_the_way);
/* Counts a pod of the shape that was placed on node or on claim (the other is SOLVER_NONE). */
void topology_record(struct solver_run *run, const struct shape *shape, uint32_t node,
                     uint32_t claim);

/* ---- shared_volumes.c ---- */

void shared_volumes_make(struct solver_run *run);
/* Whether the volume claims that the pod shares allow a zone. */
bool shared_volumes_allow(const struct solver_run *run, const struct pod *pod, uint32_t zone);
/* The set narrowed to the one zone of the pod's shared volume claims; NULL: there is none. */
const struct node_requirements *shared_volumes_narrow(struct solver_run *run, const struct pod *pod,
                                                      const struct node_requirements *set,
                                                      const uint64_t *fits);
void shared_volumes_record(struct solver_run *run, const struct pod *pod, uint32_t zone);

/* ---- reserved.c ---- */

/* Finds the reservations that a NodeClaim would hold with this set and these options; they are in
 * scratch_held. */
enum can_add reserved_try(struct solver_run *run, const struct node_claim *claim,
                          const struct node_requirements *set, const uint64_t *options);
/* Lets the NodeClaim hold these instead of those it held before. */
void reserved_hold(struct solver_run *run, struct node_claim *claim, const uint64_t *held);
/* The NodeClaim's set, limited to the reservations it holds. */
const struct node_requirements *reserved_finish(struct solver_run *run,
                                                const struct node_claim *claim);

/* ---- go_sort.c, node_claim_order.c ---- */

/* Up to so many NodeClaims Karpenter's order is followed exactly. */
#define NODE_CLAIM_ORDER_MAX 512
/* Sorts an order of NodeClaims by pods, equals as Go's sort.Slice leaves them. */
void node_claims_sort(const struct node_claim *claims, uint32_t *order, size_t count);
/* Updates the order: a NodeClaim has one pod more, perhaps its first. */
void node_claim_enter(struct solver_run *run, uint32_t number);
/* Calls visit for each NodeClaim that may take the pod, in order, until it returns true; returns
 * whether it did. */
bool each_node_claim(struct solver_run *run, const struct relaxation *relaxation,
                     bool (*visit)(struct solver_run *run, uint32_t claim, void *argument),
                     void *argument);

/* ---- node_claim.c, price.c, place.c, place_by_price.c ---- */

struct candidate {
    const struct node_requirements *set;
    const uint64_t *options; /* scratch */
    const uint64_t *held;    /* reservations it would hold; scratch */
};
/* Whether a NodeClaim, which may be a hypothetical one, takes a pod, and what it would be then. */
enum can_add node_claim_can_add(struct solver_run *run, const struct node_claim *claim,
                                uint32_t host, uint32_t pod, const struct relaxation *relaxation,
                                bool relax_min_values, struct candidate *candidate);
/* Finds the options with room for the total; false when there is none. */
bool options_with_room(const struct solver_problem *problem, const struct pool *pool,
                       const int64_t *total, const uint64_t *options, uint64_t *fits);
/* Removes the options whose daemons use a host port of the shape. */
void drop_taken_ports(const struct solver_problem *problem, const struct pool *pool,
                      const struct shape *shape, uint64_t *options);
/* Whether the type of an option attaches count volumes of a driver. */
bool option_attaches(const struct solver_problem *problem, size_t option, uint32_t driver,
                     size_t count);
/* How many volumes of a driver are attached with the additional mounts. */
size_t mounts_count(const struct mount *there, size_t there_count, const struct mount *more,
                    size_t more_count, uint32_t driver);
/* The options of the pool that its limits still allow; NULL: no node may be added. */
const uint64_t *pool_limit_options(struct solver_run *run, uint32_t number);
struct priced_type {
    uint32_t type;
    int64_t price; /* in micro-dollars; INT64_MAX: none */
    const struct offering *offering;
};
/* The cheapest offering of each option that the set allows, by price, then name; returns their
 * number. */
size_t price_options(struct solver_run *run, const struct node_requirements *set,
                     const uint64_t *options, struct priced_type *priced);
/* The price of the cheapest of options, or of all options of a set, in micro-dollars; INT64_MAX:
 * none has a price. */
int64_t options_price(struct solver_run *run, const struct node_requirements *set,
                      const uint64_t *options);
int64_t node_requirements_price(struct solver_run *run, const struct node_requirements *set);
/* The option that is bought for the NodeClaim, and its offering: the cheapest, ties by name. NULL:
 * none. */
const struct offering *node_claim_cheapest(struct solver_run *run,
                                           const struct node_requirements *set,
                                           const uint64_t *options, size_t *option);
/* By offering shape: whether the set allows it. */
const bool *node_requirements_offerings(struct solver_run *run,
                                        const struct node_requirements *set);
/* In micro-dollars an hour; INT64_MAX: no price, or no offering. */
int64_t option_price(struct solver_run *run, const struct node_requirements *set, size_t option);
/* Updates most and roomiest of a NodeClaim. */
void node_claim_measure(const struct solver_run *run, struct node_claim *claim);
/* Places a pod where it adds least to the price: on an open NodeClaim or on a new one. */
bool place_by_price(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation);
/* Tries a new NodeClaim for the pod; *pool is its NodePool. */
bool try_opening(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation,
                 uint32_t *pool, struct candidate *candidate);
/* Tries to add the pod to an open NodeClaim; remembers one that never takes it. */
bool try_joining(struct solver_run *run, uint32_t claim, uint32_t pod,
                 const struct relaxation *relaxation, struct candidate *candidate);
/* Adds the pod to an open NodeClaim; false when none takes it. */
bool add_to_inflight_node(struct solver_run *run, uint32_t pod,
                          const struct relaxation *relaxation);
/* Opens a NodeClaim for a pod, or adds a pod to one. */
void node_claim_open(struct solver_run *run, uint32_t pool, uint32_t pod,
                     const struct candidate *candidate);
void node_claim_add(struct solver_run *run, uint32_t pod_number, uint32_t number,
                    const struct candidate *candidate);
/* Whether a label is missing among these that the wanted need. compatible() does not see it where a
 * NotIn of the same key stands beside: the requirement that both make is NotIn. Nor does Karpenter,
 * so that only a sound strategy asks; for others the answer is no. */
bool misses_label(const struct solver_run *run, const struct solver_requirements *labels,
                  const struct solver_requirements *wanted);
/* Whether a node takes a pod, as things stand. */
bool node_has_room(const struct solver_run *run, uint32_t node, const struct shape *shape);
bool node_attaches(const struct solver_run *run, uint32_t node, const struct pod *pod);
bool node_suits_volumes(const struct solver_run *run, const struct state_node *node,
                        const struct shape *shape);
/* The host port of the pod that is taken on a Node or open NodeClaim which does for all else, where
 * Karpenter does not see that it is: it buys no other. NULL: none. */
const struct host_port *held_by_port(struct solver_run *run, uint32_t pod,
                                     const struct relaxation *relaxation);
/* Defers a pod of the plan where there is one. Karpenter goes on to expect it there, so that no
 * other is expected. */
bool waits_for_port(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation);
/* Tries a new NodeClaim of a pool that starts with these requirements. */
enum can_add try_pool(struct solver_run *run, uint32_t pool, const struct node_requirements *set,
                      uint32_t pod, const struct relaxation *relaxation,
                      struct candidate *candidate);
/* Adds the pod to this node, if it takes it; the relaxation's groups must be up to date. */
bool add_to_this_node(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation,
                      uint32_t node);
/* Whether a node takes the pod; the relaxation's groups must be up to date. */
bool some_node_takes(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation);
/* Adds the pod to the first node that takes it. */
bool add_to_existing_node(struct solver_run *run, uint32_t pod,
                          const struct relaxation *relaxation);
/* Adds the pod to an open NodeClaim or to a new one, as one relaxation that has its groups. */
bool add_to_node_claim(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation);
/* Places a pod of the queue as one relaxation of its shape; false when it fits nowhere now. */
bool try_relaxation(struct solver_run *run, uint32_t pod, const struct relaxation *relaxation);

/* Notes as which relaxation of its shape a pod is tried. */
static inline void note_relaxation(struct solver_run *run, uint32_t pod, size_t index)
{
    if (run->placed_as != NULL)
        run->placed_as[pod] = (uint32_t)index;
}

/* ---- local_volumes.c ---- */

/* Places a pod whose local volumes name hosts: on a node of them, or else on a NodeClaim that
 * Karpenter buys for it all the same, where it cannot run. False: on neither. */
bool place_with_local_volumes(struct solver_run *run, uint32_t pod);
/* Whether Karpenter counts the pod as placed where it cannot run. */
bool is_misplaced(const struct solver_run *run, uint32_t pod);

/* ---- run.c, plan.c ---- */

struct solver_run *run_create(const struct solver_problem *problem, struct strategy strategy,
                              struct arena *arena);
/* Places the pods that are not placed yet, in the order of the queue, as far as they fit. */
void place_queue(struct solver_run *run);
void plan_finish(struct solver_run *run);
/* A NodeClaim of the answer to a query: it is in no list, and its pods have no numbers. */
struct solver_node_claim plan_claim(struct solver_run *run, const struct node_claim *claim);

#endif
