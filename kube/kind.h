/* The kinds of objects that Taffrail knows, and sets of them. */
#ifndef TAFFRAIL_KUBE_KIND_H
#define TAFFRAIL_KUBE_KIND_H

#include "base/base.h"

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
    KIND_AUTO_NODE_CLASS, /* of EKS Auto Mode */
    KIND_AKS_NODE_CLASS,
    KIND_GCE_NODE_CLASS,
    KIND_NODE_OVERLAY,
    KIND_CAPACITY_BUFFER,
    KIND_POD_TEMPLATE,
    KIND_HORIZONTAL_POD_AUTOSCALER,
    KIND_PRIORITY_CLASS,
    KIND_DEVICE_CLASS,
    KIND_RESOURCE_CLAIM,
    KIND_RESOURCE_CLAIM_TEMPLATE,
    KIND_RESOURCE_SLICE,
    /* Custom resources that own judged objects. The policies in force say which they are. Only
     * their metadata is known, and no kind name leads to them. */
    KIND_OWNER_FIRST,
    KIND_OWNER_LAST = KIND_OWNER_FIRST + 7,
    KIND_COUNT,
    /* For the rails that judge it: a pod template inside a custom resource that a policy names.
     * Such an object is made for one judgement: no snapshot and no manifest has one. */
    KIND_CUSTOM = KIND_COUNT
};

struct kind_info {
    const char *name, *group, *plural;
    const char *pod_template; /* path of the pod template; "" for a Pod; NULL: not a workload */
    bool namespaced;
};
extern const struct kind_info kind_table[KIND_COUNT];
/* KIND_UNKNOWN for what is not in the table. */
enum kind kind_of(struct text api_version, struct text kind);
enum kind kind_by_name(struct text name);                          /* "Deployment"; KIND_UNKNOWN */
enum kind kind_of_resource(struct text group, struct text plural); /* "apps", "deployments" */

/* A custom resource, by its names. */
struct custom_kind {
    struct text group, kind, plural;
};
enum { OWNER_KINDS_MAX = KIND_OWNER_LAST - KIND_OWNER_FIRST + 1 };
/* Identifies a kind of owners; never 0. */
uint64_t custom_kind_id(struct text group, struct text kind);
static inline bool kind_is_custom_owner(enum kind kind)
{
    return kind >= KIND_OWNER_FIRST && kind <= KIND_OWNER_LAST;
}
/* "apps" of "apps/v1", empty for "v1". */
struct text group_of(struct text api_version);

/* A set of kinds: bit 1 << KIND_X. */
typedef uint64_t kind_set;
struct text kinds_in_words(kind_set kinds, struct arena *arena); /* "NodePools and Nodes" */
#define KIND_BIT(kind) ((kind_set)1 << (kind))
#define KINDS_WORKLOADS                                                            \
    (KIND_BIT(KIND_POD) | KIND_BIT(KIND_DEPLOYMENT) | KIND_BIT(KIND_REPLICA_SET) | \
     KIND_BIT(KIND_REPLICATION_CONTROLLER) | KIND_BIT(KIND_STATEFUL_SET) |         \
     KIND_BIT(KIND_DAEMON_SET) | KIND_BIT(KIND_JOB) | KIND_BIT(KIND_CRON_JOB) |    \
     KIND_BIT(KIND_POD_TEMPLATE) | KIND_BIT(KIND_CUSTOM))

/* Kinds that a cluster may not have: those of Karpenter, of other operators, and those that
 * Kubernetes has had since a late version. */
#define KINDS_OPTIONAL                                                                            \
    (KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE_CLAIM) | KIND_BIT(KIND_EC2_NODE_CLASS) |       \
     KIND_BIT(KIND_NODE_OVERLAY) | KIND_BIT(KIND_CAPACITY_BUFFER) | KIND_BIT(KIND_DEVICE_CLASS) | \
     KIND_BIT(KIND_RESOURCE_CLAIM) | KIND_BIT(KIND_RESOURCE_CLAIM_TEMPLATE) |                     \
     KIND_BIT(KIND_RESOURCE_SLICE))

/* Workloads whose subresource scale sets their replicas. */
#define KINDS_SCALED                                          \
    (KIND_BIT(KIND_DEPLOYMENT) | KIND_BIT(KIND_REPLICA_SET) | \
     KIND_BIT(KIND_REPLICATION_CONTROLLER) | KIND_BIT(KIND_STATEFUL_SET))
/* All kinds that have it: of a static NodePool it sets how many nodes there are. */
#define KINDS_WITH_SCALE (KINDS_SCALED | KIND_BIT(KIND_NODE_POOL))

#endif
