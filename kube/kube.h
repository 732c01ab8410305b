/* kube: what Kubernetes objects are. Typed views over the tree, and a cluster as a snapshot; with
 * it come the instance catalogue (instance_types.h) and what Karpenter would do (karpenter.h). Pure
 * but for state_dir.c and manifest.c, which read files. */
#ifndef TAFFRAIL_KUBE_H
#define TAFFRAIL_KUBE_H

#include "base/base.h"
#include "kube/instance_types.h"
#include "kube/karpenter.h"
#include "solver/solver.h"

/* ---- kinds ---- */

enum kind {
    KIND_UNKNOWN,
    KIND_POD,
    KIND_DEPLOYMENT,
    KIND_REPLICA_SET,
    KIND_REPLICATION_CONTROLLER,
    KIND_STATEFUL_SET,
    KIND_DAEMON_SET,
    KIND_JOB,
    KIND_CRON_JOB,
    KIND_NODE_POOL,
    KIND_PROVISIONER,
    KIND_EC2_NODE_CLASS,
    KIND_NODE,
    KIND_NAMESPACE,
    KIND_STORAGE_CLASS,
    KIND_PERSISTENT_VOLUME_CLAIM,
    KIND_PERSISTENT_VOLUME,
    KIND_POD_DISRUPTION_BUDGET,
    KIND_LIMIT_RANGE,
    KIND_NODE_CLAIM,
    KIND_CSI_NODE,
    KIND_AWS_NODE_TEMPLATE,
    /* Custom resources that own what is judged: which they are the policies in force say. Only
     * their metadata is known, and no name leads to them. */
    KIND_OWNER_FIRST,
    KIND_OWNER_LAST = KIND_OWNER_FIRST + 7,
    KIND_COUNT,
    /* A pod template inside a custom resource that a policy names, to the rails that judge it. Such
     * an object is made for a judgement alone: no snapshot and no manifest has one. */
    KIND_CUSTOM = KIND_COUNT
};

struct kind_info {
    const char *name, *group, *plural;
    const char *pod_template; /* path of the pod template; "" for a Pod; NULL: not a workload */
    bool namespaced;
};
extern const struct kind_info kind_table[KIND_COUNT];
/* KIND_UNKNOWN for what the table does not have. */
enum kind kind_of(struct text api_version, struct text kind);
enum kind kind_by_name(struct text name);                          /* "Deployment"; KIND_UNKNOWN */
enum kind kind_of_resource(struct text group, struct text plural); /* "apps", "deployments" */

/* A custom resource, by its names. */
struct custom_kind {
    struct text group, kind, plural;
};
enum { OWNER_KINDS_MAX = KIND_OWNER_LAST - KIND_OWNER_FIRST + 1 };
/* Tells kinds of owners apart; never 0. */
uint64_t custom_kind_id(struct text group, struct text kind);
static inline bool kind_is_custom_owner(enum kind kind)
{
    return kind >= KIND_OWNER_FIRST && kind <= KIND_OWNER_LAST;
}
/* "apps" of "apps/v1", and nothing of "v1". */
struct text group_of(struct text api_version);

/* A set of kinds: bit 1 << KIND_X. */
typedef uint32_t kind_set;
#define KIND_BIT(kind) ((kind_set)1 << (kind))
#define KINDS_WORKLOADS                                                            \
    (KIND_BIT(KIND_POD) | KIND_BIT(KIND_DEPLOYMENT) | KIND_BIT(KIND_REPLICA_SET) | \
     KIND_BIT(KIND_REPLICATION_CONTROLLER) | KIND_BIT(KIND_STATEFUL_SET) |         \
     KIND_BIT(KIND_DAEMON_SET) | KIND_BIT(KIND_JOB) | KIND_BIT(KIND_CRON_JOB) |    \
     KIND_BIT(KIND_CUSTOM))

/* Those whose subresource scale sets their replicas. */
#define KINDS_SCALED                                          \
    (KIND_BIT(KIND_DEPLOYMENT) | KIND_BIT(KIND_REPLICA_SET) | \
     KIND_BIT(KIND_REPLICATION_CONTROLLER) | KIND_BIT(KIND_STATEFUL_SET))

/* ---- objects ---- */

struct owner {
    struct text api_version, kind, name, uid;
};

/* Where metadata and spec of a pod lie inside a custom resource. */
struct pod_template {
    const struct field *metadata, *spec;
};

struct object {
    enum kind kind;
    struct text api_version, kind_name;
    struct text namespace; /* empty for cluster-scoped kinds */
    struct text name, generate_name, uid;
    struct owner controller; /* the ownerReference with controller: true; name empty: none */
    int64_t created_unix_s;  /* 0: not said */
    bool deleting;
    const struct node *labels; /* may be NULL */
    const struct field *root;
    struct source *source;               /* what it was read from; may be NULL */
    const struct pod_template *template; /* of KIND_CUSTOM, else NULL */
};

/* Reads the metadata every object has. False when root is no object: no apiVersion or kind, or
 * metadata of wrong types. An object of a namespaced kind without a namespace gets
 * default_namespace. */
bool object_read(const struct node *root, struct source *source, struct text default_namespace,
                 struct arena *arena, struct object *object, struct error *error) MUST_CHECK;
/* "web", or "web-*" for an object that only has a generateName. */
struct text object_display_name(const struct object *object, struct arena *arena);
/* A DaemonSet, or a Pod of one. */
bool object_is_of_daemon_set(const struct object *object);
/* The condition of that type in its status; NULL: none. */
const struct node *object_condition(const struct object *object, const char *type);
/* Whether they can be one object's: what comes out of files has none, then the name has to do. */
bool uids_agree(struct text a, struct text b);
/* RFC 3339 time, or a date (its first second, UTC). */
bool time_parse(struct text t, int64_t *unix_s) MUST_CHECK;

/* Hours, minutes and seconds, as Karpenter writes them: "720h", "1h30m", "0s". */
bool duration_parse(struct text t, int64_t *seconds) MUST_CHECK;

/* ---- schedules ---- */

/* A bit for each minute, hour, ... that fires. */
struct cron {
    uint64_t minutes, hours, days_of_month, months, days_of_week;
};
/* As Karpenter reads the schedule of a budget: five fields, or a name such as @daily, in UTC. False
 * with *fault, which says what is wrong with it. */
bool cron_parse(struct text schedule, struct arena *arena, struct cron *cron,
                struct text *fault) MUST_CHECK;
/* The first time after after_unix_s; false when there is none within five years. */
bool cron_next(const struct cron *cron, int64_t after_unix_s, int64_t *unix_s) MUST_CHECK;

/* ---- pods and their templates ---- */

/* Whether its containers have ended for good. */
bool pod_is_done(const struct object *pod);

/* The part of a workload that becomes a Pod. */
struct workload {
    const struct object *object;
    const struct field *metadata, *spec; /* of the pod or its template; nodes may be absent */
};
/* False when the object is not a workload. */
bool workload_read(const struct object *object, struct arena *arena, struct workload *workload);

/* Lists of values may be long: their fields are made for those that are spoken of. */
struct expression_value {
    struct text text;
    const struct field *within; /* the list in which it stands, or its own */
    size_t position;            /* in the list, from 1; 0: within is its own field */
};
const struct field *expression_value_field(const struct expression_value *value,
                                           struct arena *arena);
/* One requirement as somebody wrote it: a matchExpression, a nodeSelector entry, a label. */
struct expression {
    const struct field *field;
    struct text key; /* as written, not canonical */
    enum solver_op op;
    bool valid; /* false: no key, an unknown operator, or values of a wrong type */
    struct expression_value *values;
    size_t value_count;
    uint32_t min_values;
};
struct expressions {
    struct expression *items;
    size_t count, capacity;
};
/* Whether the value is among its values. */
bool expression_names(const struct expression *expression, struct text value);
/* Whether it asks for types with 0 GPUs or accelerators. Types without any have no such label: only
 * those with a share of one do. */
bool expression_wants_no_devices(const struct expression *expression);
struct node_term {
    const struct field *field;
    struct expressions expressions;
};
struct node_terms {
    struct node_term *items;
    size_t count, capacity;
};
/* How a pod chooses nodes. Required terms are alternatives (OR); the selector goes with each. */
struct node_selection {
    const struct field *selector_field;
    struct expressions selector;
    struct node_terms required, preferred;
};
void node_selection_read(const struct workload *workload, struct arena *arena,
                         struct node_selection *selection);
/* Whether EKS runs it on Fargate, on a node of its own: as its webhook marks pods when they are
 * created, or as the pod asks. labels are the pod's, NULL: none. */
bool pod_is_on_fargate(const struct node *labels, const struct node *spec);

/* Where a pod names a topologyKey. */
enum topology_use { TOPOLOGY_SPREAD, TOPOLOGY_AFFINITY, TOPOLOGY_ANTI_AFFINITY };
struct topology_term {
    enum topology_use use;
    bool required;            /* or preferred, ScheduleAnyway */
    const struct field *term; /* the constraint or podAffinityTerm */
    const struct field *key;  /* its topologyKey */
};
struct topology_terms {
    struct topology_term *items;
    size_t count, capacity;
};
void topology_terms_read(const struct workload *workload, struct arena *arena,
                         struct topology_terms *terms);
/* Whether it can only be a part, as a Kustomize patch is: no API server takes a Deployment and the
 * like whose template has no labels. */
bool workload_is_part(const struct workload *workload);
/* Whether the term's selector, namespaces and label keys take in the workload's own pods. Of a part
 * the labels are not known: there any selector does. */
bool topology_term_selects_itself(const struct workload *workload,
                                  const struct topology_term *term);

/* The resources, each once, that containers and initContainers ask for, under requests or limits,
 * with a quantity above 0 (one that does not parse counts). */
void resource_names_read(const struct workload *workload, struct arena *arena,
                         struct text_map *names);
/* Whether it asks for devices through resourceClaims. */
bool workload_claims_devices(const struct workload *workload);

/* ---- taints and what tolerates them ---- */

struct taint {
    const struct field *field;
    struct text key, value, effect;
};
struct taints {
    struct taint *items;
    size_t count, capacity;
};
void taints_read(const struct field *list, struct arena *arena, struct taints *taints);
/* NoSchedule or NoExecute: PreferNoSchedule lets every pod in. */
bool taint_is_hard(const struct taint *taint);

struct toleration {
    const struct field *field;
    struct text key, op, value, effect;
};
struct tolerations {
    struct toleration *items;
    size_t count, capacity;
};
void tolerations_read(const struct workload *workload, struct arena *arena,
                      struct tolerations *tolerations);
bool toleration_covers(const struct toleration *toleration, const struct taint *taint);
bool tolerations_cover(const struct tolerations *tolerations, const struct taint *taint);

/* Whether a metav1.LabelSelector selects these labels (NULL: none). A NULL selector selects
 * nothing, an empty one everything; one that is malformed nothing. */
bool selector_matches(const struct node *selector, const struct node *labels);
/* The same for a selector that is held against many objects. Keeps to the selector and the arena.
 */
struct selector_index;
const struct selector_index *selector_index_make(const struct node *selector, struct arena *arena);
bool selector_index_matches(const struct selector_index *index, const struct node *labels);

/* Adds an expression to a set: canonical key, names interned in names. Invalid ones are left out.
 */
void expression_add(const struct expression *expression, struct solver_names *names,
                    struct solver_requirements *set, struct arena *arena);
void expressions_add(const struct expressions *expressions, struct solver_names *names,
                     struct solver_requirements *set, struct arena *arena);

/* ---- pools ---- */

/* A NodePool, v1 or v1beta1 (the parts rails read stand in the same place), or a Provisioner. */
struct pool {
    const struct object *object;
    const struct field *requirements_field;
    struct expressions requirements;
    const struct field *labels_field;
    struct expressions labels; /* spec.template.metadata.labels, as In */
    const struct field *taints_field;
    struct taints taints, startup_taints;
    const struct field *limits_field;
    struct text node_class_group, node_class_kind, node_class_name;
};
bool pool_read(const struct object *object, struct arena *arena, struct pool *pool);
/* Whether Karpenter makes nodes of it for pods that wait: not when its status says that it is not
 * ready, when it is going, or when it has a fixed number of nodes. */
bool pool_makes_nodes(const struct pool *pool);
/* Whether it keeps a fixed number of nodes. */
bool pool_is_static(const struct pool *pool);
/* Whether it is EKS Auto Mode that makes its nodes; they carry LABEL_COMPUTE_TYPE "auto". */
bool pool_is_of_auto_mode(const struct pool *pool);
#define LABEL_COMPUTE_TYPE "eks.amazonaws.com/compute-type"
/* Whether its nodes carry a label of that key, as its labels and requirements say. */
bool pool_produces(const struct pool *pool, struct text key);
bool some_pool_produces(const struct snapshot *snapshot, struct text key);

/* ---- quantities ---- */

/* A Kubernetes quantity in thousandths ("100m" is 100, "1Ki" is 1024000), rounded up; false when it
 * is none, or does not fit. */
bool quantity_milli(struct text t, int64_t *milli) MUST_CHECK;

/* A number of nodes or pods, or a percentage of them: "5", "10%". */
struct share {
    int64_t amount;
    bool percent;
};
/* False when it is neither, is negative, or above 100 %. */
bool share_parse(struct text t, struct share *share) MUST_CHECK;

/* ---- a cluster ---- */

/* Objects by kind; immutable once built. */
struct snapshot;
struct snapshot_builder;
/* All memory, and the objects put in, live in the arena or outlive it. */
struct snapshot_builder *snapshot_builder_create(struct arena *arena);
/* The last object of one kind, namespace and name stands. */
void snapshot_put(struct snapshot_builder *builder, const struct object *object);
const struct snapshot *snapshot_build(struct snapshot_builder *builder);
/* NULL when not there. */
const struct object *snapshot_find(const struct snapshot *snapshot, enum kind kind,
                                   struct text namespace, struct text name);
/* Its index among those of its kind; snapshot_count() when not there. */
size_t snapshot_index(const struct snapshot *snapshot, enum kind kind, struct text namespace,
                      struct text name);
size_t snapshot_count(const struct snapshot *snapshot, enum kind kind);
const struct object *snapshot_object(const struct snapshot *snapshot, enum kind kind,
                                     size_t index); /* by namespace, then name */
/* Objects that are there and could not be read; of each only kind, namespace and name are known,
 * and none of the functions above finds it. */
size_t snapshot_unreadable_count(const struct snapshot *snapshot, enum kind kind);
const struct object *snapshot_unreadable(const struct snapshot *snapshot, enum kind kind,
                                         size_t index); /* by namespace, then name */
bool snapshot_is_unreadable(const struct snapshot *snapshot, enum kind kind, struct text namespace,
                            struct text name);
/* Whether there is none of them in the namespace, or none at all when the kind has no namespaces.
 */
bool snapshot_reads_all(const struct snapshot *snapshot, enum kind kind, struct text namespace);
/* The NodePools, read once. */
size_t snapshot_pool_count(const struct snapshot *snapshot);
const struct pool *snapshot_pool(const struct snapshot *snapshot, size_t index);
/* The PersistentVolumes nobody has claimed, and the zones its Nodes are in: found once. */
size_t snapshot_free_volume_count(const struct snapshot *snapshot);
const struct object *snapshot_free_volume(const struct snapshot *snapshot, size_t index);
/* The Pods that mount a PersistentVolumeClaim, by namespace, then name. */
size_t snapshot_claiming_pod_count(const struct snapshot *snapshot);
const struct object *snapshot_claiming_pod(const struct snapshot *snapshot, size_t index);
const struct zones *snapshot_node_zones(const struct snapshot *snapshot);
/* The values that Nodes carry under a label, each once; NULL: no Node carries it. */
const struct text_map *snapshot_node_values(const struct snapshot *snapshot, struct text key);
/* The labels that Nodes carry, in no order that means anything. */
size_t snapshot_node_label_count(const struct snapshot *snapshot);
struct text snapshot_node_label(const struct snapshot *snapshot, size_t index,
                                const struct text_map **values);

/* ---- label keys ---- */

/* The well-known key that somebody meant who wrote this one: by an old or a CSI driver's spelling,
 * without its domain or under another one, or within two edits. Empty when the key is well-known
 * itself, or none is near. */
struct text label_key_meant(const struct catalog *catalog, struct text key);
/* The number of all values that a node can have under the key, with *values; 0: not all are known.
 */
size_t label_values_all(struct text key, const struct text **values);
/* The value of a well-known key (canonical) that somebody meant who wrote this one, which is none:
 * in another case, by another word, or nearest by edits. Empty when none is near. */
struct text label_value_meant(const struct catalog *catalog, struct text key, struct text value,
                              struct arena *arena);
/* Whether it is of a domain whose labels a cloud, an operator or an administrator puts on nodes,
 * and NodePools need not. */
bool label_is_put_by_others(struct text key);
/* Whether it can be the key of a label, or of a taint: a name as a value has it, but never empty,
 * perhaps after a domain and '/'. */
bool label_key_is_valid(struct text key);
/* Whether a node can carry it: at most 63 letters, digits, '-', '_' and '.'. */
bool label_value_is_valid(struct text value);
/* Whether it is a domain in lower case, as before the '/' of a key: labels of letters, digits and
 * '-', with dots between them. One label does. */
bool domain_is_valid(struct text domain);
/* What nodes carry under a key, as far as NodePools say it and Nodes show it. */
struct label_offers {
    bool any_value; /* a NodePool leaves the value open */
    bool from_pool, from_node;
    struct text *items; /* the values, each once */
    size_t count, capacity;
    struct text_map values; /* the same */
};
void label_offers_read(const struct snapshot *snapshot, struct text key, struct arena *arena,
                       struct label_offers *offers);

/* ---- defaults: what the API server fills in before it stores ---- */

/* The string at a path of dotted keys, or what the API server puts there; empty when neither is. */
struct text default_string(const struct object *object, const char *path);
/* The StorageClass of a claim that names none; NULL when no visible one is the default. */
const struct object *default_storage_class(const struct snapshot *snapshot);
/* What the LimitRanges of a namespace give a container that has no limit, or no request and no
 * limit, of a resource. */
struct limit_default {
    struct text resource;
    const struct node *request, *limit;         /* NULL: nothing */
    const struct object *request_by, *limit_by; /* the LimitRange that does */
};
struct limit_defaults {
    struct limit_default *items; /* in the order in which they are said */
    size_t count, capacity;
    struct text_map numbers; /* of the resources, from 1 */
    bool read;
};
void limit_defaults_read(const struct snapshot *snapshot, struct text namespace,
                         struct arena *arena, struct limit_defaults *defaults);
const struct limit_default *limit_defaults_find(const struct limit_defaults *defaults,
                                                struct text resource); /* NULL: none */

/* ---- containers and their resources ---- */

struct container {
    const struct field *field;
    struct text name;
    bool init; /* a sidecar is one too */
};
struct containers {
    struct container *items;
    size_t count, capacity;
};
/* containers, then initContainers; ephemeral containers have no resources. */
void containers_read(const struct workload *workload, struct arena *arena,
                     struct containers *containers);

/* A request or a limit of one resource. */
struct amount {
    const struct field *field;        /* where it stands, or would stand */
    bool written;                     /* there */
    bool given;                       /* there, or by a default */
    bool valid;                       /* a quantity, and none below zero */
    struct text text;                 /* as written */
    int64_t milli;                    /* INT64_MAX also for what is larger */
    const struct object *limit_range; /* whose default it is; NULL: no one's */
};
/* What stands at a field, without defaults. */
void amount_read(const struct field *field, struct amount *amount);
/* Of a container (or of a pod's spec, which takes no defaults) as the API server would store it: a
 * request that is missing is the limit, then a LimitRange's. Zero-initialise the defaults: they are
 * read when they are first needed. */
void container_amounts(const struct snapshot *snapshot, const struct workload *workload,
                       const struct field *container, struct text resource, struct arena *arena,
                       struct limit_defaults *defaults, struct amount *request,
                       struct amount *limit);

/* ---- zones and volumes ---- */

enum zone_key { ZONE_KEY_NONE, ZONE_KEY_NAME, ZONE_KEY_ID };
/* Whether a label key says a node's zone: the well-known keys, their aliases, CSI drivers' own. */
enum zone_key zone_key_of(struct text key);

struct zones {
    struct text *items; /* by name, each once */
    size_t count, capacity;
    /* Of those a cluster names. */
    bool complete;  /* nodes will come up in no other */
    bool from_node; /* a Node names one */
};
void zones_add(struct zones *zones, struct text zone, struct arena *arena); /* empty: not added */
bool zones_have(const struct zones *zones, struct text zone);
struct zones zones_intersect(const struct zones *a, const struct zones *b, struct arena *arena);
/* The zones a cluster names: on Nodes, in NodePools, in the status of EC2NodeClasses, in the user's
 * catalogue. */
void zones_read(const struct snapshot *snapshot, const struct catalog *catalog, enum zone_key key,
                struct arena *arena, struct zones *zones);
/* Adds those that NodePools, EC2NodeClasses and the user's catalogue name; whether nodes are made
 * in no other. */
bool zones_add_makeable(const struct snapshot *snapshot, const struct catalog *catalog,
                        enum zone_key key, struct arena *arena, struct zones *zones);
/* Of a Node, by its label or the label's old spelling; empty when it has none. */
struct text node_zone(const struct object *node);
/* The zone with this id, as the subnets of a visible EC2NodeClass tell; empty when none does. */
struct text zone_of_id(const struct snapshot *snapshot, struct text id);
/* The list of subnets that the pool's node class has found; NULL when it tells of none. */
const struct node *pool_subnets(const struct snapshot *snapshot, const struct pool *pool);

/* One expression of allowedTopologies. */
struct topology_choice {
    size_t term; /* terms are alternatives */
    const struct field *key;
    const struct field *values; /* a list of strings, if it is well-formed */
};
struct topology_choices {
    struct topology_choice *items;
    size_t count, capacity;
};
struct storage_class {
    const struct object *object;
    struct text provisioner;
    const struct field *binding_mode; /* the node may be absent */
    bool waits;                       /* for the first pod */
    size_t term_count;
    struct topology_choices topologies;
};
bool storage_class_read(const struct object *object, struct arena *arena,
                        struct storage_class *class);
/* Azure's zone-redundant disks attach in every zone. */
bool storage_class_is_zone_redundant(const struct storage_class *class);

/* A PersistentVolumeClaim, or a template of one. */
struct claim {
    const struct field *root;        /* where metadata and spec lie */
    const struct field *class_field; /* where it names its class, or would */
    struct text class_name;          /* empty, though named: it wants none */
    bool class_named;
    bool bound; /* it names its volume */
};
struct claims {
    struct claim *items;
    size_t count, capacity;
};
/* root: where metadata and spec lie. */
void claim_read(const struct field *root, struct arena *arena, struct claim *claim);
/* The class a claim uses, by name or by default; NULL when it is not visible. */
const struct object *claim_class(const struct snapshot *snapshot, const struct claim *claim);
/* The claims a workload brings along: volumeClaimTemplates and ephemeral volumes. */
void claim_templates_read(const struct workload *workload, struct arena *arena,
                          struct claims *claims);
/* The template of which a StatefulSet (NULL: none) makes a claim of this name for its pod; NULL: it
 * makes none. */
const struct field *set_claim_template(const struct object *set, struct text pod_name,
                                       struct text claim, struct arena *arena);
/* The claimName fields of the claims it mounts. */
struct claim_names {
    const struct field **items;
    size_t count, capacity;
};
void claim_names_read(const struct workload *workload, struct arena *arena,
                      struct claim_names *names);

/* ---- manifests: objects out of files ---- */

/* What a file, folder or stream held. */
struct manifests {
    struct arena *arena;
    struct object *items;
    size_t count, capacity;
    bool keep_unknown;        /* set before reading: those are items, too, of KIND_UNKNOWN */
    size_t skipped;           /* of kinds the table does not know */
    struct problems problems; /* what could not be read; the rest was */
};
void manifests_init(struct manifests *manifests, struct arena *arena);
/* path: a file, a folder (recursively .yaml, .yml, .json, in order of name) or "-". Documents,
 * Lists, AdmissionReviews and the output of kubectl get are unfolded. */
void manifests_read(struct manifests *manifests, const char *path, struct text default_namespace);

/* A cluster as a folder of files. False with *error only when the folder cannot be read; problems
 * inside it are in *problems. */
bool state_dir_read(const char *path, struct arena *arena, struct snapshot_builder *builder,
                    struct problems *problems, struct error *error) MUST_CHECK;

#endif
