/* StorageClasses, PersistentVolumeClaims and templates of claims. */
#ifndef TAFFRAIL_KUBE_VOLUME_H
#define TAFFRAIL_KUBE_VOLUME_H

#include "base/base.h"

struct object;
struct snapshot;
struct workload;

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
/* Whether the class binds a claim only when a pod mounts it. */
bool storage_class_waits(const struct object *class);
bool storage_class_read(const struct object *object, struct arena *arena,
                        struct storage_class *class);
/* Whether all its disks are in one zone, which allowedTopologies or the parameters of an in-tree
 * provisioner name. */
bool storage_class_names_one_zone(const struct storage_class *class);
/* Whether the class makes Azure's zone-redundant disks, which attach in every zone. */
bool storage_class_is_zone_redundant(const struct storage_class *class);
/* Whether it makes Google's regional disks, and names the two zones that each of them is in. */
bool storage_class_is_in_all_its_zones(const struct storage_class *class);
/* Whether it makes Azure's unmanaged disks, blobs of a storage account: they are in no zone. */
bool storage_class_is_unmanaged(const struct storage_class *class);
/* File systems: nodes of every zone mount their volumes, many at once, whatever the access mode of
 * the claim. */
bool driver_is_shared(struct text driver);

/* It is older than spec.storageClassName and wins over it. */
#define CLAIM_CLASS_ANNOTATION "volume.beta.kubernetes.io/storage-class"

/* A PersistentVolumeClaim, or a template of one. */
struct claim {
    const struct field *root;        /* the node with metadata and spec */
    const struct field *class_field; /* the field that names its class, or would */
    struct text class_name;          /* empty but named: the claim wants no class */
    bool class_named;
    bool bound; /* it names its volume */
};
struct claims {
    struct claim *items;
    size_t count, capacity;
};
/* root: the node with metadata and spec. */
void claim_read(const struct field *root, struct arena *arena, struct claim *claim);
/* The class of a claim, by name or by default; NULL when it is not visible. */
const struct object *claim_class(const struct snapshot *snapshot, const struct claim *claim);
/* The claims that a workload makes: volumeClaimTemplates and ephemeral volumes. */
void claim_templates_read(const struct workload *workload, struct arena *arena,
                          struct claims *claims);
/* The template from which a StatefulSet (NULL: none) makes the claim with this name for its pod;
 * NULL: it makes none. */
const struct field *set_claim_template(const struct object *set, struct text pod_name,
                                       struct text claim, struct arena *arena);
/* The claimName fields of the claims that the workload mounts. */
struct claim_names {
    const struct field **items;
    size_t count, capacity;
};
void claim_names_read(const struct workload *workload, struct arena *arena,
                      struct claim_names *names);

#endif
