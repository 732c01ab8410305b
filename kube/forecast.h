/* The forecast inside: a cluster read once into what the solver asks for (expand.c and owner.c the
 * pods, pod_requests.c and pod_shape.c what they want, forecast_check.c what is wrong with them,
 * volume_zones.c and claims.c where their volumes are, node_view.c the machines, problem.c the
 * whole; convert.c what they share), a problem built of it for every round (problem_build.c), what
 * a round buys (bought.c), and the rounds (forecast.c). */
#ifndef TAFFRAIL_KUBE_FORECAST_H
#define TAFFRAIL_KUBE_FORECAST_H

#include "kube/kube.h"

struct texts {
    struct text *items;
    size_t count, capacity;
};

/* ---- the words of the solver (convert.c) ---- */

/* A terminated copy, as the solver wants its strings. */
const char *terminated(struct arena *arena, struct text t);
struct solver_labels labels_of(const struct node *map, struct arena *arena);
/* The value of a label, or NULL. */
const char *label_of(struct solver_labels labels, const char *key);
/* And one more, unless they have its key. */
struct solver_labels labels_with(struct solver_labels labels, const char *key, const char *value,
                                 struct arena *arena);
/* False when one cannot be understood. */
bool expressions_convert(const struct expressions *expressions, struct arena *arena,
                         struct solver_expressions *converted);
struct solver_expressions expressions_with(struct solver_expressions expressions,
                                           struct solver_expression more, struct arena *arena);
struct solver_taints taints_convert(const struct taints *taints, struct arena *arena);
const struct solver_toleration *tolerations_convert(const struct workload *workload,
                                                    struct arena *arena, size_t *count);

/* ---- what is wrong with an object (forecast_check.c) ---- */

struct complaint {
    const struct field *field; /* NULL: nothing is wrong */
    struct text message;       /* its path, what was found there, and what is allowed */
};
struct place object_place(const struct object *object, const struct field *field,
                          struct arena *arena);
/* A whole number of 32 bits, when it is there. */
void count_check(const struct field *field, int64_t least, struct arena *arena,
                 struct complaint *complaint);
/* "\"lots\", which is no quantity of 0 or more"; most: the largest there may be. */
struct text quantity_complaint(struct text quantity, const char *most, struct arena *arena);
void pool_requirements_check(const struct pool *pool, struct arena *arena,
                             struct complaint *complaint);
/* Where a PersistentVolume can be attached. */
void volume_check(const struct object *volume, struct arena *arena, struct complaint *complaint);
/* How a pod chooses its node. */
void pod_check(const struct workload *workload, struct arena *arena, struct complaint *complaint);

/* ---- quantities by name of resource ---- */

/* cpu in thousandths, all others in units. */
struct named_amount {
    const char *resource;
    int64_t quantity;
};
struct named_amounts {
    struct named_amount *items;
    size_t count, capacity;
};
/* 0 when it is not there. */
int64_t named_amount_of(const struct named_amounts *amounts, const char *resource);
/* A map of quantities as a machine or a limit of the object has them; false with *error naming the
 * first that is none. */
bool named_amounts_read(const struct object *object, const struct field *map, struct arena *arena,
                        struct named_amounts *amounts, struct error *error) MUST_CHECK;
struct solver_amounts named_amounts_number(const struct named_amounts *amounts,
                                           struct solver_builder *builder, struct arena *arena);
/* By the numbers of a problem that is built; SOLVER_NONE: nothing in it has the resource. */
struct solver_amounts named_amounts_find(const struct named_amounts *amounts,
                                         const struct solver_problem *problem, struct arena *arena);

/* What the whole pod requests, as the API server would store it and kube-scheduler counts it: what
 * its containers need while they run or, if that is more, while they start; or what the pod itself
 * says; and its overhead. Pods not yet stored take the defaults of LimitRanges. */
bool pod_requests_read(const struct snapshot *snapshot, const struct workload *workload,
                       struct arena *arena, struct named_amounts *requests,
                       struct error *error) MUST_CHECK;

/* ---- what the solver sees of a pod ---- */

/* Why Karpenter would leave a pod out; message.size 0: it would not. */
struct pod_fault {
    enum solver_reason_kind kind;
    struct text message;
    bool later;         /* came about in the rounds */
    bool broken;        /* the pod cannot be understood: no part of the plan */
    struct place place; /* of what is broken */
};
struct pod_shape {
    struct solver_shape solver; /* without requests and volumes */
    struct named_amounts requests;
    struct pod_fault fault;
    /* Why Karpenter buys nothing for it; kube-scheduler may find it a node that is there. */
    struct pod_fault nodes_only;
    bool read, reported;
    bool added;      /* to the builder of this round, without volumes */
    uint32_t number; /* there */
};
struct shape_source {
    struct text namespace;
    struct workload workload;
    /* Whose required node affinity counts; NULL: its own. */
    const struct workload *affinity_of;
    struct solver_labels more_labels; /* that a controller adds */
};
void pod_shape_read(const struct snapshot *snapshot, const struct shape_source *source,
                    struct arena *arena, struct pod_shape *shape);
/* Only what others notice of a pod that runs: what it takes, and whom it keeps away. */
void running_shape_read(const struct snapshot *snapshot, const struct shape_source *source,
                        struct arena *arena, struct pod_shape *shape);

/* ---- volumes ---- */

/* A PersistentVolume a claim may get. */
struct volume_choice {
    const struct object *volume;
    bool taken;
    int64_t capacity_milli;
    struct solver_volume places;
};
/* Of a volume nobody has claimed; false when it cannot be understood. */
bool volume_choice_read(const struct snapshot *snapshot, const struct object *volume,
                        struct arena *arena, struct volume_choice *choice);
/* Whether a claim of that name, spec and class can be bound to it. */
bool volume_suits(const struct volume_choice *choice, struct text namespace, struct text name,
                  const struct node *spec, struct text class_name);
/* A claim some pod mounts, or will. */
struct claim_state {
    struct text namespace, name;
    const char *id;     /* namespace/name */
    const char *driver; /* NULL: attaches nothing that is counted */
    struct pod_fault fault;
    struct solver_volume places; /* now */
    bool waits;                  /* binds where its first pod lands */
    bool zonal;                  /* what is made for it lives in a zone */
    struct solver_volume made;   /* where its class makes volumes */
    bool can_be_made;
    struct volume_choice **choices; /* volumes there are for it, the smallest first */
    size_t choice_count;
    size_t bound_in; /* the round in which it was; 0: before */
};
struct claims_book;
struct claims_book *claims_book_create(const struct snapshot *snapshot, struct arena *arena);
/* The zones that a volume, or all volumes and classes, name, added to those of the cluster. */
void volume_add_zones(const struct snapshot *snapshot, const struct object *volume,
                      struct arena *arena, struct zones *zones);
void claims_add_zones(const struct snapshot *snapshot, struct arena *arena, struct zones *zones);
/* The claim of that name, made by the template (a PersistentVolumeClaim less its name) when it is
 * not there; template may be NULL. */
struct claim_state *claims_book_get(struct claims_book *book, struct text namespace,
                                    struct text name, const struct field *template);
/* Makes up again where claims that wait can go, since volumes were taken. */
void claims_book_refresh(struct claims_book *book);
/* Whether a claim that is bound can be attached to a node of these labels, or one that waits can be
 * bound there. */
bool claim_fits(const struct claim_state *claim, struct solver_labels labels);
/* Binds a claim that waits where its pod landed. */
void claim_bind(struct claim_state *claim, struct solver_labels labels, struct arena *arena);

/* ---- pods ---- */

enum pod_phase {
    POD_PENDING,
    POD_RUNNING, /* has its node */
    POD_WAITING, /* for something else than a node, or for the end */
};
struct cluster_pod {
    struct text namespace, name, uid;
    struct text owner; /* "Deployment web" */
    int64_t created_unix_s;
    enum pod_phase phase;
    struct text node_name;
    bool daemon, mirror, leaving;
    bool had_node;
    const struct object *object; /* what it was read from: a Pod, or the workload that makes it */
    const struct object *set;    /* the StatefulSet whose claims it takes; NULL: none */
    struct shape_source *source; /* pods of one workload share it */
    struct pod_shape *shape;     /* and this */
    struct claim_state **claims;
    size_t claim_count;
    struct pod_fault fault;
    size_t machine;                /* where it runs, in cluster.machines; NO_MACHINE */
    uint32_t number, shape_number; /* in the problem of this round; SOLVER_NONE: not in it */
};
#define NO_MACHINE SIZE_MAX
struct cluster_pods {
    struct cluster_pod *items;
    size_t count, capacity;
};
struct daemon {
    const struct object *object;
    struct shape_source source;
    struct workload template;
    struct pod_shape shape;
};
struct daemons {
    struct daemon *items;
    size_t count, capacity;
};
/* Every pod that is not done, and those that workloads would make, by namespace and name. */
void expand_pods(const struct snapshot *snapshot, struct arena *arena, struct cluster_pods *pods,
                 struct daemons *daemons, struct problems *problems);

/* ---- machines: Nodes, NodeClaims without one, and what was bought in a round ---- */

struct machine {
    const char *name;      /* as Karpenter orders them: of its NodeClaim until it is registered */
    const char *node_name; /* as pods name it */
    const char *pool;      /* NULL: of none */
    struct solver_labels labels;
    struct solver_taints taints;
    struct named_amounts capacity, allocatable;
    const struct solver_attach_limit *attach_limits;
    size_t attach_limit_count;
    bool attach_limits_known; /* its drivers have said what they attach */
    bool initialized;
    bool leaving;                  /* it is being deleted: only pods that stay on it matter */
    uint32_t number;               /* in the problem of this round */
    struct forecast_node forecast; /* of what was bought */
};
struct machines {
    struct machine *items;
    size_t count, capacity;
};
/* What a machine is read from: a Node, its NodeClaim, or both. */
struct machine_source {
    const struct object *node, *claim; /* one may be NULL */
};
struct machine_sources {
    struct machine_source *items; /* by name, those with a Node first */
    size_t count, capacity;
};
void machine_sources_find(const struct snapshot *snapshot, struct arena *arena,
                          struct machine_sources *sources, struct problems *problems);
/* The kubelet runs it whatever the API server says. */
bool pod_is_mirror(const struct object *pod);
/* Whether a pod is placed elsewhere when its Node goes: not one of a DaemonSet, a mirror pod or one
 * that must not be disturbed; of those that are going themselves only a StatefulSet's, which come
 * back under the same name. */
bool pod_moves(const struct object *pod);
/* The machine, unless it is not there yet: adds it to machines. */
void machine_add(const struct snapshot *snapshot, const struct machine_source *source,
                 struct arena *arena, struct machines *machines, struct problems *problems);
/* Nodes and NodeClaims, by name; what cannot be understood is added to problems. */
void machines_read(const struct snapshot *snapshot, struct arena *arena, struct machines *machines,
                   struct problems *problems);

/* ---- the whole ---- */

struct cluster_pool {
    const struct pool *pool;
    const char *name;
    uint32_t weight;
    struct solver_expressions requirements;
    struct solver_labels labels;
    struct solver_taints taints;
    struct named_amounts limits;
    bool offers_nothing; /* its types are not in the catalogue */
    /* What its node class makes of the types; NULL: what is usual. Equal ones are one. */
    const struct class_settings *settings;
};
struct cluster_type {
    size_t index;                          /* in the catalogue */
    const struct class_settings *settings; /* of the pools that have it */
    struct solver_type solver;
};
/* How many machines of a capacity reservation the rounds have used. */
struct used_reservation {
    const char *id;
    uint32_t count;
};
struct used_reservations {
    struct used_reservation *items;
    size_t count, capacity;
};
struct cluster {
    struct arena *arena;
    const struct snapshot *snapshot;
    const struct catalog *catalog;
    struct zones zones;
    struct cluster_pool *pools;
    size_t pool_count;
    struct machines machines;
    struct cluster_pods pods;
    struct daemons daemons;
    struct claims_book *claims;
    struct cluster_type *types; /* as the problem numbers them; each with every kind of settings */
    size_t type_count;
    struct reserved_capacity reserved;
    struct used_reservations used;
    const struct solver_problem *problem; /* of the last round; NULL: none yet */
};
/* Every zone that something visible names. */
void cluster_zones_read(const struct snapshot *snapshot, const struct catalog *catalog,
                        struct arena *arena, struct zones *zones);
/* What may be bought and what is there: zones, pools, machines. */
void cluster_read_supply(const struct snapshot *snapshot, const struct catalog *catalog,
                         struct arena *arena, struct cluster *cluster, struct problems *problems);
/* Adds types, pools and machines. */
bool cluster_add_supply(struct cluster *cluster, struct solver_builder *builder,
                        struct error *error) MUST_CHECK;
/* What the DaemonSets' pods ask, and the DaemonSets for the solver. */
void cluster_read_daemons(struct cluster *cluster, struct problems *problems);
bool cluster_add_daemons(struct cluster *cluster, struct solver_builder *builder,
                         struct error *error) MUST_CHECK;
/* A machine as the solver wants it; pool: whether its NodePool is in the problem. */
struct solver_node machine_convert(const struct machine *machine, bool of_pool,
                                   struct solver_builder *builder, struct arena *arena);
/* The labels of a namespace, whose object may not be visible. */
struct solver_labels namespace_labels(const struct snapshot *snapshot, struct text name,
                                      struct arena *arena);
/* The machine of that name in machines that are sorted; NO_MACHINE. */
size_t machine_find(const struct machines *machines, struct text node_name);
/* The whole, with pods. What cannot be understood is added to problems and left out. */
void cluster_read(const struct snapshot *snapshot, const struct catalog *catalog,
                  struct arena *arena, struct cluster *cluster, struct problems *problems);
/* The problem as things stand. A pod the solver refuses gets a fault. */
bool cluster_problem(struct cluster *cluster, const struct solver_settings *settings,
                     struct error *error) MUST_CHECK;

#endif
