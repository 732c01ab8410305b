/* The parts of the rail zone-spread: what it says of workloads, and what it adds to pods. */
#ifndef TAFFRAIL_POLICY_RAILS_ZONE_SPREAD_H
#define TAFFRAIL_POLICY_RAILS_ZONE_SPREAD_H

#include "policy/rail.h"

struct topology_term;
struct workload;

enum spread_action { SPREAD_REQUIRE, SPREAD_DEFAULT };
enum unsatisfiable { SCHEDULE_ANYWAY, DO_NOT_SCHEDULE };

struct zone_spread {
    int64_t min_replicas;
    int action, when_unsatisfiable;
};

enum spreading {
    SPREAD_OVER_ZONES,
    SPREAD_PREFERRED,  /* over zones, where that costs nothing: ScheduleAnyway, preferred terms */
    SPREAD_EXEMPT,     /* it is held to a zone, or to where other pods are */
    SPREAD_MISSES,     /* a zone-keyed constraint does not select the pod itself */
    SPREAD_EACH_ALONE, /* one selects each pod alone */
    SPREAD_TOO_WIDE,   /* one lets all replicas be in one zone */
    SPREAD_NOT_AT_ALL,
};
/* *by: the term that decides, where it is a preference or a constraint that spreads nothing. */
enum spreading zone_spread_find(const struct rail_call *call, const struct workload *workload,
                                int64_t replicas, const struct topology_term **by);
/* How many replicas the workload may come to have. */
int64_t zone_spread_replicas(const struct rail_call *call, const struct object *object);
/* Whether it is a workload that this policy wants spread. */
bool zone_spread_has_replicas(const struct rail_call *call, const struct object *object,
                              const struct zone_spread *settings);
/* The labels that the workload's replicas are known by, as a metav1.LabelSelector; false when it
 * names none. */
bool zone_spread_selector(const struct object *owner, struct arena *arena, struct node *selector);

/* Whether its replicas have no choice of zones: their volume, device or node is in one. */
bool zone_spread_is_held(const struct rail_call *call, const struct workload *workload);
/* Whether its pods choose one zone, or their hosts: by their nodeSelector, or by every alternative
 * of their affinity. */
bool zone_spread_chooses_places(const struct rail_call *call, const struct workload *workload);
/* Whether the term has them run where other pods do. */
bool zone_spread_follows_pods(const struct rail_call *call, const struct workload *workload,
                              const struct topology_term *term);
/* The value of topologySpreadConstraints that spreads the workload over zones. */
struct text zone_spread_constraints(const struct rail_call *call, const char *when_unsatisfiable);
/* Judges a required anti-affinity by zone that lets fewer pods run than there are. */
void zone_spread_judge_crowd(struct rail_call *call, const struct workload *workload);

void zone_spread_change_pod(struct rail_call *call, const struct zone_spread *settings);

#endif
