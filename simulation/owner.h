/* From workloads to pods: who owns a pod, and how many more a workload would make. */
#ifndef TAFFRAIL_SIMULATION_OWNER_H
#define TAFFRAIL_SIMULATION_OWNER_H

#include "kube/kind.h"

struct daemons;
struct object;
struct snapshot;

/* Of one workload, beyond what a cluster can hold. */
#define MOST_PODS 150000

/* An object as snapshot_object counts it. */
struct ancestor {
    enum kind kind;
    size_t index;
};
/* The controllers above an object, as far as they are visible, the nearest first. */
struct lineage {
    struct ancestor *items;
    size_t count, capacity;
    struct text root;         /* "Deployment web", whether visible or not; empty: nobody owns it */
    const struct object *set; /* the StatefulSet among them; NULL: none */
};
void lineage_find(const struct snapshot *snapshot, const struct object *object, struct arena *arena,
                  struct lineage *lineage);

/* What is there of a workload's pods. */
struct tally {
    int64_t active, succeeded; /* active: neither done nor leaving */
    const struct object *newest;
};
/* A DaemonSet whose pods are like the newest (NULL: none is there). */
void daemon_add(const struct object *object, const struct object *newest, struct arena *arena,
                struct daemons *daemons);
/* The pods a workload would make: so many, with the first numbers that are free. */
struct demand {
    int64_t pods;
    int64_t first, last;
    bool last_known; /* numbers end at last */
};
/* False when it makes none, or another workload above it does. */
bool demand_of(const struct snapshot *snapshot, const struct object *object,
               const struct tally *tally, struct demand *demand);

#endif
