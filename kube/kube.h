/* kube: what Kubernetes objects are. Typed views over the tree, the instance catalogue, and a
 * cluster as a snapshot. Pure but for state_dir.c and manifest.c, which read files. */
#ifndef TAFFRAIL_KUBE_H
#define TAFFRAIL_KUBE_H

#include "base/base.h"
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
enum kind kind_by_name(struct text name); /* "Deployment"; KIND_UNKNOWN */

/* A set of kinds: bit 1 << KIND_X. */
typedef uint32_t kind_set;
#define KIND_BIT(kind) ((kind_set)1 << (kind))
#define KINDS_WORKLOADS                                                            \
    (KIND_BIT(KIND_POD) | KIND_BIT(KIND_DEPLOYMENT) | KIND_BIT(KIND_REPLICA_SET) | \
     KIND_BIT(KIND_REPLICATION_CONTROLLER) | KIND_BIT(KIND_STATEFUL_SET) |         \
     KIND_BIT(KIND_DAEMON_SET) | KIND_BIT(KIND_JOB) | KIND_BIT(KIND_CRON_JOB) |    \
     KIND_BIT(KIND_CUSTOM))

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

struct expression_value {
    struct text text;
    const struct field *field;
};
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
struct resource_names {
    struct text *items;
    size_t count, capacity;
};
void resource_names_read(const struct workload *workload, struct arena *arena,
                         struct resource_names *names);
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

/* Adds an expression to a set: canonical key, names interned in names. Invalid ones are left out.
 */
void expression_add(const struct expression *expression, struct solver_names *names,
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
/* Whether its nodes carry a label of that key, as its labels and requirements say. */
bool pool_produces(const struct pool *pool, struct text key);

/* ---- the instance catalogue ---- */

/* Who makes the accelerators of a type; a resource tells it by its domain. */
enum device { DEVICE_NVIDIA, DEVICE_AMD, DEVICE_GAUDI, DEVICE_NEURON, DEVICE_COUNT };
/* A set of them: bit 1 << DEVICE_X. */
typedef uint32_t device_set;
#define DEVICE_BIT(device) ((device_set)1 << (device))
/* Of "nvidia.com/mig-1g.5gb" or "aws.amazon.com/neuroncore"; DEVICE_COUNT for any other. */
enum device device_of_resource(struct text resource);

struct instance_type {
    struct text name, family, size, category, architecture; /* architecture: amd64, arm64 */
    uint32_t generation;                                    /* 0: not known */
    uint32_t cpu;                                           /* 0: hardware not known */
    uint64_t memory_mib;
    uint32_t gpu_count;                      /* 0 for a fractional GPU too */
    bool has_gpu;                            /* carries a GPU, whole or fractional */
    bool has_accelerator;                    /* Neuron, Gaudi */
    device_set devices;                      /* of the kinds we can tell apart */
    int64_t usd_micro_per_hour;              /* on-demand; -1: no price */
    struct solver_requirements requirements; /* its labels, as Karpenter derives them */
};

/* A set of types, a bit each, in the catalogue's order (by name). */
struct type_set {
    uint64_t *words;
    size_t word_count;
};

struct catalog;
struct zones;

/* Memory of a catalogue is the arena's. */
const struct catalog *catalog_builtin(struct arena *arena);
/* The JSON that Karpenter's kwok provider reads (an array of types with offerings). As there, every
 * offering can be had, whatever its Available says: one that is sold out is left out of the file.
 */
bool catalog_read(struct source *source, struct arena *arena, const struct catalog **catalog,
                  struct error *error) MUST_CHECK;
bool catalog_is_builtin(const struct catalog *catalog);
size_t catalog_count(const struct catalog *catalog);
const struct instance_type *catalog_type(const struct catalog *catalog, size_t index);
/* The index of a type, or catalog_count() when there is none of that name. */
size_t catalog_find(const struct catalog *catalog, struct text name);
/* The names its labels are interned in: put a table of your own over it. */
const struct solver_names *catalog_names(const struct catalog *catalog);
/* Whether some type carries this label key. */
bool catalog_has_key(const struct catalog *catalog, struct text key);
/* The types whose requirements intersect the set (Karpenter semantics 1.3: keys no type carries are
 * ignored) and, for a user's catalogue, that have an offering for it. names must lie over
 * catalog_names(). */
struct type_set catalog_select(const struct catalog *catalog, const struct solver_names *names,
                               const struct solver_requirements *set, struct arena *arena);

/* Of one resource what a machine of a type has, and what it leaves to pods: cpu in thousandths, all
 * others in units. */
struct catalog_amount {
    const char *resource;
    int64_t capacity, allocatable;
};
struct catalog_amounts {
    struct catalog_amount *items;
    size_t count, capacity;
};
/* By name of resource. Empty when no node can be made of the type: its hardware is not known, or it
 * runs macOS alone. Of a user's type as Karpenter's kwok provider reckons, of a built-in one as its
 * AWS provider does for an EC2NodeClass that leaves all to its defaults, or has these settings. */
struct catalog_amounts catalog_type_amounts(const struct catalog *catalog, size_t index,
                                            struct arena *arena);
struct class_settings;
struct catalog_amounts catalog_class_amounts(const struct catalog *catalog, size_t index,
                                             const struct class_settings *settings,
                                             struct arena *arena);
/* What an EC2NodeClass (NULL: not visible) says that makes other machines of the built-in types:
 * its image family, kubelet settings, root volume and capacity reservations. NULL when nothing
 * does. False with *error when a value of it cannot be understood. */
bool class_settings_read(const struct object *node_class, struct arena *arena,
                         const struct class_settings **settings, struct error *error) MUST_CHECK;
bool class_settings_equal(const struct class_settings *a, const struct class_settings *b);
/* NULL: nodes run Linux. */
const char *class_settings_windows_build(const struct class_settings *settings);
struct catalog_offerings {
    struct solver_offering *items;
    size_t count, capacity;
};
/* Each of one zone and one capacity type. Built-in types are sold on demand and as spot, which has
 * no price, in all of the zones; a user's, where their file says, or in all of the zones where it
 * says nothing. Where a cluster names no zone these are us-east-1a to c, whose prices the built-in
 * ones are. */
struct catalog_offerings catalog_type_offerings(const struct catalog *catalog, size_t index,
                                                const struct zones *zones, struct arena *arena);
/* How many EBS volumes a machine of the type attaches beside its root volume, before network
 * interfaces beyond the first take some; 0: not known. */
uint32_t catalog_attach_limit(const struct catalog *catalog, size_t index);
/* The whole type for the solver, in the builder's numbers of resources, with the settings of a node
 * class (NULL: the usual ones; a user's types have none). How many machines are free in the class's
 * capacity reservations is not known here: their offerings are not available. False when no node
 * can be made of the type. */
bool catalog_solver_type(const struct catalog *catalog, size_t index, const struct zones *zones,
                         const struct class_settings *settings, struct solver_builder *builder,
                         struct arena *arena, struct solver_type *type) MUST_CHECK;

/* The types that fit both sets of expressions; second may be NULL. */
struct type_set expressions_select(const struct catalog *catalog, const struct expressions *first,
                                   const struct expressions *second, struct arena *arena);
/* False for a pool of another cloud under the built-in catalogue, which describes EC2. */
bool pool_is_covered_by(const struct catalog *catalog, const struct pool *pool);

struct type_set type_set_create(const struct catalog *catalog, struct arena *arena); /* empty */
void type_set_add(struct type_set *set, size_t index);
bool type_set_has(const struct type_set *set, size_t index);
size_t type_set_count(const struct type_set *set);
bool type_set_intersects(const struct type_set *a, const struct type_set *b);
/* a without b; a and b. */
struct type_set type_set_minus(const struct type_set *a, const struct type_set *b,
                               struct arena *arena);
struct type_set type_set_and(const struct type_set *a, const struct type_set *b,
                             struct arena *arena);
/* "a, b, c, d, e, ... (17)": names of at most five types of a set, then the number of all. */
struct text type_set_text(const struct catalog *catalog, const struct type_set *set,
                          struct arena *arena);

/* "m5.large" gives m5, large, m and 5; a name that has not this form gives false. Families such as
 * "u-6tb1", "trn1n", "mac2-m2pro" are known (Karpenter semantics 1.4). */
bool instance_name_parse(struct text name, struct text *family, struct text *size,
                         struct text *category, uint32_t *generation);

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

/* ---- label keys ---- */

/* The well-known key that somebody meant who wrote this one: by an old or a CSI driver's spelling,
 * without its domain or under another one, or within two edits. Empty when the key is well-known
 * itself, or none is near. */
struct text label_key_meant(const struct catalog *catalog, struct text key);
/* Whether it can be the key of a label, or of a taint: a name as a value has it, but never empty,
 * perhaps after a domain and '/'. */
bool label_key_is_valid(struct text key);
/* Whether a node can carry it: at most 63 letters, digits, '-', '_' and '.'. */
bool label_value_is_valid(struct text value);
/* What nodes carry under a key, as far as NodePools say it and Nodes show it. */
struct label_offers {
    bool any_value; /* a NodePool leaves the value open */
    bool from_pool, from_node;
    struct text *items; /* the values, each once */
    size_t count, capacity;
};
void label_offers_read(const struct snapshot *snapshot, struct text key, struct arena *arena,
                       struct label_offers *offers);

/* ---- defaults: what the API server fills in before it stores ---- */

/* The string at a path of dotted keys, or what the API server puts there; empty when neither is. */
struct text default_string(const struct object *object, const char *path);
/* The StorageClass of a claim that names none; NULL when no visible one is the default. */
const struct object *default_storage_class(const struct snapshot *snapshot);
/* What the namespace's LimitRanges give a container that has no limit, or no request and no limit,
 * of a resource; NULL: nothing. *limit_range is the one that does. */
const struct node *default_limit(const struct snapshot *snapshot, struct text namespace,
                                 struct text resource, const struct object **limit_range);
const struct node *default_request(const struct snapshot *snapshot, struct text namespace,
                                   struct text resource, const struct object **limit_range);

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
 * request that is missing is the limit, then a LimitRange's. */
void container_amounts(const struct snapshot *snapshot, const struct workload *workload,
                       const struct field *container, struct text resource, struct arena *arena,
                       struct amount *request, struct amount *limit);

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

/* ---- Karpenter's own settings, as far as they change what it buys ---- */

enum karpenter_gate {
#define GATE(name, summary) KARPENTER_##name,
#include "kube/karpenter_gates.def"
#undef GATE
    KARPENTER_GATE_COUNT
};
/* By enum karpenter_gate; the choices of the policies, the first is the default. All as Karpenter's
 * own options name them. */
extern const char *const karpenter_gates[KARPENTER_GATE_COUNT + 1]; /* ends with NULL */
extern const char *const karpenter_preference_policies[];
extern const char *const karpenter_min_values_policies[];
enum { KARPENTER_IGNORE_PREFERENCES = 1, KARPENTER_BEST_EFFORT_MIN_VALUES = 1 };

/* All false: as Karpenter by itself. */
struct karpenter_settings {
    bool ignore_preferences;     /* PREFERENCE_POLICY=Ignore */
    bool best_effort_min_values; /* MIN_VALUES_POLICY=BestEffort */
    bool no_reserved_capacity;   /* ReservedCapacity=false */
    bool no_static_capacity;     /* StaticCapacity=false is said, not only the default */
    bool node_overlays;          /* NodeOverlay=true */
};
bool karpenter_settings_equal(const struct karpenter_settings *a,
                              const struct karpenter_settings *b);
struct solver_settings karpenter_solver_settings(const struct karpenter_settings *settings);

/* ---- forecasts: what the provisioner would buy for the pending pods ---- */

/* Karpenter's ReservedCapacity. An EC2NodeClass names its capacity reservations, but not how many
 * machines are free in them: one that is not counted here is left out. A count wins over what a
 * user's catalogue says. */
struct reservation_count {
    const char *id;
    uint32_t machines;
};
struct reserved_capacity {
    bool off;
    bool uncounted; /* it is asked what could be, whatever is free now: each has a machine */
    const struct reservation_count *items;
    size_t count;
};
struct forecast_settings {
    struct solver_settings solver;
    struct reserved_capacity reserved;
    size_t max_rounds; /* 0: until nothing changes */
};
/* A pod of the cluster that is not done, or one a workload would make. */
struct forecast_pod {
    struct text namespace, name;
    struct text workload; /* "Deployment web" of its root owner; its own name when it has none */
    int64_t cpu_milli, memory_bytes; /* what it requests */
    bool running;                    /* had its node before */
};
struct forecast_requirement {
    struct text key;
    enum solver_op op;
    const struct text *values; /* sorted */
    size_t value_count;
};
/* A Node of the cluster, or a machine to buy. */
struct forecast_node {
    struct text name;                               /* of a claim: empty */
    struct text node_pool;                          /* empty: of none */
    struct text zone, capacity_type, instance_type; /* of a claim: its cheapest offering's */
    int64_t cpu_milli, memory_bytes;                /* allocatable; of a claim, of that type */
    int64_t usd_micro_per_hour;                     /* -1: not known */
    const size_t *pods;                             /* of forecast.pods, by namespace and name */
    size_t pod_count;
    /* Of claims only. */
    size_t round;                      /* from 1; 0: a Node */
    const struct text *instance_types; /* that can hold its pods, by price, then name */
    size_t instance_type_count;
    const struct text *zones; /* all that remain, sorted */
    size_t zone_count;
    const struct forecast_requirement *requirements; /* by key */
    size_t requirement_count;
};
/* Why a pod fits nowhere. */
struct forecast_reason {
    struct text node_pool; /* empty: whatever pool it were */
    const char *kind;      /* solver_reason_name() */
    struct text message, nearest;
};
struct forecast_unschedulable {
    size_t pod;
    const struct forecast_reason *reasons;
    size_t reason_count;
    size_t later_round; /* in which it has a place, had max_rounds allowed for it; 0: none */
};
struct forecast {
    const struct forecast_pod *pods;
    size_t pod_count;
    const struct forecast_node *nodes; /* Nodes by name, then claims by round, pool and type */
    size_t node_count, claim_count;    /* claims are the last of the nodes */
    const struct forecast_unschedulable *unschedulable; /* by namespace and name of the pod */
    size_t unschedulable_count;
    size_t round_count;
    int64_t usd_micro_per_hour; /* of the claims */
    bool incomplete;            /* something is left out that could not be understood */
};
/* Solves round after round: claims become nodes, volumes bind where their first pod lands, until
 * nothing changes (Karpenter semantics 2). Workloads without pods of their own are expanded as the
 * controllers would. What cannot be understood is added to *problems and left out. False with
 * *error when together the rest makes no sense: quantities that overflow, a name that stands twice.
 */
bool forecast_run(const struct snapshot *snapshot, const struct catalog *catalog,
                  const struct forecast_settings *settings, struct arena *arena,
                  struct forecast *forecast, struct problems *problems,
                  struct error *error) MUST_CHECK;

#endif
