/* From workloads to pods: the owners of a pod, and how many more pods a workload would make. */
#ifndef TAFFRAIL_SIMULATION_OWNER_H
#define TAFFRAIL_SIMULATION_OWNER_H

#include "kube/kind.h"

struct daemons;
struct object;
struct scaled;
struct snapshot;

/* The most pods of one workload: more than a cluster can hold. */
#define MOST_PODS 150000

/* An object, by kind and index in the snapshot. */
struct ancestor {
    enum kind kind;
    size_t index;
};
/* The visible controllers above an object, the nearest first. */
struct lineage {
    struct ancestor *items;
    size_t count, capacity;
    struct text root;         /* "Deployment web", whether visible or not; empty: no owner */
    const struct object *set; /* the StatefulSet among the owners; NULL: none */
};
void lineage_find(const struct snapshot *snapshot, const struct object *object, struct arena *arena,
                  struct lineage *lineage);

/* The existing pods of a workload. */
struct tally {
    int64_t active, succeeded; /* active: neither finished nor being deleted */
    const struct object *newest;
    struct scaled *scaled; /* whose replicas a drill sets; NULL: they are as the object says */
};
/* A DaemonSet; its new pods are like the newest one (NULL: it has none). */
void daemon_add(const struct object *object, const struct object *newest, struct arena *arena,
                struct daemons *daemons);
/* The pods that a workload would make: how many, and with which ordinals. */
struct demand {
    int64_t pods;
    int64_t first, last;
    bool last_known; /* last is the last ordinal */
};
/* False when it makes none, or another workload above it does. */
bool demand_of(const struct snapshot *snapshot, const struct object *object,
               const struct tally *tally, struct demand *demand);
/* The same as if none of its pods ran, with so many replicas (below 0: as the object says). */
bool demand_alone(const struct object *object, int64_t replicas, struct demand *demand);

#endif
