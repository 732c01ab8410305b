/* The settings of an EC2NodeClass that change the built-in types of its NodePools. */
#ifndef TAFFRAIL_CATALOG_NODE_CLASS_H
#define TAFFRAIL_CATALOG_NODE_CLASS_H

#include "catalog/catalog.h"

struct catalog;
struct object;

struct catalog_amounts catalog_class_amounts(const struct catalog *catalog, size_t index,
                                             const struct class_settings *settings,
                                             struct arena *arena);
/* The settings of an EC2NodeClass (NULL: not visible) that change machines of the built-in types:
 * its image family, kubelet settings, root volume and capacity reservations. NULL when there is
 * none. False with *error when a value is invalid. */
bool class_settings_read(const struct object *node_class, struct arena *arena,
                         const struct class_settings **settings, struct error *error) MUST_CHECK;
bool class_settings_equal(const struct class_settings *a, const struct class_settings *b);
/* Which of the built-in types an EC2NodeClass can launch. */
struct class_types {
    bool but_a1;     /* AL2023 does not run on them */
    bool nitro_only; /* for its connectionTracking */
};
struct class_types class_types_read(const struct object *node_class);
bool class_types_have(struct class_types types, const struct instance_type *type,
                      const struct catalog *catalog);
/* NULL: nodes run Linux. */
const char *class_settings_windows_build(const struct class_settings *settings);
/* What a kubelet reserves. */
enum { RESERVED_CPU, RESERVED_MEMORY, RESERVED_STORAGE, RESERVED_RESOURCES };

/* A threshold of evictionHard: an amount, or a part of the machine's amount. */
struct eviction {
    bool given;
    int64_t bytes;
    int64_t percent_milli; /* instead; 0: bytes */
};
struct class_reservation {
    const char *id, *zone, *type, *kind;
    bool interruptible;
};
struct class_settings {
    int64_t max_pods, pods_per_core; /* -1: not set; 0 pods a core: no limit */
    bool interfaces_limit_pods;      /* otherwise 110 may run */
    bool memory_by_interfaces; /* the kubelet's memory is for as many pods as have addresses */
    int64_t kube_reserved[RESERVED_RESOURCES]; /* cpu in thousandths, bytes; -1: the default */
    int64_t system_reserved[RESERVED_RESOURCES];
    struct eviction memory, storage;
    int64_t root_bytes;
    bool instance_store;       /* RAID0: local disks hold what pods write */
    const char *windows_build; /* NULL: Linux */
    bool any_system;           /* its image is not known: Linux or Windows */
    const struct class_reservation *reservations;
    size_t reservation_count;
    const char *signature; /* equal settings have equal ones */
};
/* For an EC2NodeClass of defaults; EKS Auto Mode's, whose nodes have 80 GiB, or the local disks;
 * for a class that is not visible, whose disks may be of any size; and for such a class where the
 * disks of the defaults are assumed. */
extern const struct class_settings usual_settings, auto_mode_settings, unseen_settings,
    assumed_settings;

#endif
