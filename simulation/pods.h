/* The pods of a cluster, and the pods that its workloads would make. */
#ifndef TAFFRAIL_SIMULATION_PODS_H
#define TAFFRAIL_SIMULATION_PODS_H

#include "simulation/pod_shape.h"

struct volume_claim;
struct object;
struct scaled_list;
struct snapshot;

enum pod_phase {
    POD_PENDING,
    POD_RUNNING, /* has a node */
    POD_WAITING, /* waits for something else than a node, or is being deleted */
};
struct cluster_pod {
    struct text namespace, name, uid;
    struct text owner; /* "Deployment web" */
    int64_t created_unix_s;
    enum pod_phase phase;
    struct text node_name;
    bool daemon, mirror, leaving;
    bool had_node;
    bool lost_node; /* a drill took its node */
    const struct object
        *object; /* the object it was read from: a Pod, or the workload that makes it */
    const struct object *set;    /* the StatefulSet whose claims it takes; NULL: none */
    struct shape_source *source; /* pods of one workload share it */
    struct pod_shape *shape;     /* and this, too; NULL: not read yet */
    struct volume_claim **claims;
    size_t claim_count;
    bool held_back; /* by a pod that waits, too, and has a claim for one pod alone */
    struct pod_fault fault;
    size_t state_node; /* the index of its node in cluster.state_nodes; NO_NODE: none */
    bool misplaced;    /* Karpenter counts it as placed, on a node where its local volume is not */
    size_t vain_node;  /* bought for it in vain: its index from 1; 0: none was */
    uint32_t number, shape_number; /* in the problem of this round; SOLVER_NONE: not in it */
};
#define NO_NODE SIZE_MAX
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
/* Lists all pods that are not finished, and those that workloads would make, by namespace and
 * name. The workloads in `scaled` have the replicas it says. */
void expand_pods(const struct snapshot *snapshot, struct scaled_list *scaled, struct arena *arena,
                 struct cluster_pods *pods, struct daemons *daemons, struct problems *problems);
/* One workload, or a Pod, and how many of its pods are listed. */
struct expansion_of {
    const struct object *object;
    const struct workload *pods; /* what they are like; NULL: the object says */
    int64_t replicas;            /* below 0: as the object says */
    int64_t most;
};
/* Lists its pods as if none of them ran. Returns how many more there would be. */
int64_t expand_alone(const struct snapshot *snapshot, const struct expansion_of *of,
                     struct arena *arena, struct cluster_pods *pods, struct problems *problems);
/* The same beside the Pods that have a node: lists these, its own that wait, and those that it has
 * yet to make. It may be in the snapshot as it was before. */
int64_t expand_beside(const struct snapshot *snapshot, const struct expansion_of *of,
                      struct arena *arena, struct cluster_pods *pods, struct problems *problems);
/* The node on which kube-scheduler evicts others for the pod; empty: none. */
struct text pod_nominated_node(const struct object *pod);
/* Whether EKS makes a node of its own for the pod. */
bool cluster_pod_is_on_fargate(const struct cluster_pod *pod);
/* A static pod: the kubelet runs it whatever the API server says. */
bool pod_is_mirror(const struct object *pod);

#endif
