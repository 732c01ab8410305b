/* What a workload adds: the nodes that Karpenter would buy for it, as a plan has them. */
#ifndef TAFFRAIL_SIMULATION_ADDED_H
#define TAFFRAIL_SIMULATION_ADDED_H

#include "base/base.h"

struct object;
struct snapshot;
struct supply;
struct workload;

struct added_question {
    const struct object *workload; /* a Pod, a Job, a CronJob, or of KINDS_SCALED */
    int64_t replicas;              /* below 0: as many as it says */
    const struct workload *pods;   /* what so many pods are like; NULL: the workload says */
    bool extended_resource_toleration;
};
enum { ADDED_REGION_BYTES = 32 };
struct added {
    int64_t pods;          /* that were planned */
    int64_t pods_left_out; /* more than are planned while a request waits: it costs more */
    size_t unplaced_count; /* of those that were planned */
    size_t node_count, unpriced_count; /* nodes that are bought; of them those without a price */
    int64_t usd_micro_per_hour;        /* of those with one */
    bool asks_for_devices;             /* by resourceClaims, for which nothing is planned */
    bool lacks_types;   /* the instance types of a NodePool are not in the catalogue */
    bool spot_unpriced; /* some are spot, at the price of on-demand: spot's is not known */
    char
        elsewhere[ADDED_REGION_BYTES]; /* a region of theirs that the prices are not of; "": none */
};
enum added_kind {
    ADDED_KNOWN,
    ADDED_UNKNOWN,  /* there is no NodePool to buy from, or what is there is too much */
    ADDED_TOO_MUCH, /* its rules are more than are planned while a request waits */
};
/* Plans the workload alone, as if no Node and no other pod were there. Takes memory of its own. */
enum added_kind supply_plan_alone(const struct supply *supply, const struct snapshot *snapshot,
                                  const struct added_question *question,
                                  struct added *added) MUST_CHECK;
/* Plans what is missing of the workload beside the Nodes and the Pods that run there, where these
 * are not too many to be read while a request waits. */
enum added_kind supply_plan_beside(const struct supply *supply, const struct snapshot *snapshot,
                                   const struct added_question *question,
                                   struct added *added) MUST_CHECK;

#endif
