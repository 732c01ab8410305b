/* The parts of the rail accelerators: what it says of NodePools and of pods, and what
 * it adds to pods. */
#ifndef TAFFRAIL_POLICY_RAILS_ACCELERATORS_H
#define TAFFRAIL_POLICY_RAILS_ACCELERATORS_H

#include "catalog/type_set.h"
#include "kube/device.h"
#include "policy/launchable.h"

struct catalog;
struct node_selection;
struct pool;
struct tolerations;
struct workload;

enum require_limits { LIMITS_ANY, LIMITS_ACCELERATOR, LIMITS_OFF };

struct accelerators {
    struct key_strings resources, taints, runtime_classes;
    int require_limits;
    bool add_toleration;
    /* Derived: the instance types that carry one. */
    const struct catalog *catalog;
    struct type_set carriers, carriers_of[DEVICE_COUNT];
};

bool accelerators_is_resource(const struct accelerators *settings, struct text name);
/* The resource, or "a resource that nvidia.com/mig-* matches": where only a name will do. */
struct text accelerators_name_of(struct text resource, struct arena *arena);
bool accelerators_is_taint(const struct accelerators *settings, struct text key);
/* The taint key that was meant; empty when key is one, or near to none. */
struct text accelerators_taint_meant(const struct accelerators *settings, struct text key);

/* What a pool is for: types without accelerators alone, with and without, accelerators. */
enum purpose { FOR_ANYTHING, FOR_BOTH, FOR_ACCELERATORS, PURPOSE_UNKNOWN };

struct pool_purpose {
    enum purpose purpose;
    const struct launchable *launchable;
    struct type_set carried; /* those of launchable that carry one */
    size_t carried_count;
    device_set devices; /* of carried */
};
struct pool_purpose accelerators_find_purpose(const struct rail_call *call,
                                              const struct pool *pool);

void accelerators_judge_pool(struct rail_call *call, const struct accelerators *settings);
void accelerators_judge_workload(struct rail_call *call, const struct accelerators *settings);
/* GPUs that a pod which asks for none has from its container runtime. */
void accelerators_judge_runtime(struct rail_call *call, const struct accelerators *settings,
                                const struct workload *workload);
/* Whether all replicas together leave GPUs unused on any node that they select; that is said. */
bool accelerators_judge_idle(struct rail_call *call, const struct accelerators *settings,
                             const struct workload *workload,
                             const struct node_selection *selection);
/* How many of a resource one pod asks for; first is where its first container does, NULL: none. */
int64_t accelerators_asked(const struct workload *workload, struct text resource,
                           struct arena *arena, const struct field **first);
/* An update of a few pods that needs one pod's devices more. */
void accelerators_judge_update(struct rail_call *call, const struct accelerators *settings,
                               const struct workload *workload, struct text resource);
/* DaemonSets for nodes with accelerators that tolerate none of their taints. */
void accelerators_judge_daemon_set(struct rail_call *call, const struct accelerators *settings,
                                   const struct workload *workload,
                                   const struct tolerations *tolerations);
/* With addToleration, adds those that a Pod asking for these resources is given when it is created;
 * their field is NULL. Nobody asks for dozens of accelerators: what is beyond gets none. */
void accelerators_add_tolerations(const struct accelerators *settings, const struct text_map *names,
                                  struct tolerations *tolerations, struct arena *arena);
/* The same for another rail: what accelerators of all policies gives the Pod. */
void accelerators_foresee_tolerations(const struct rail_call *call, const struct text_map *names,
                                      struct tolerations *tolerations);
/* Adds those that the API server's ExtendedResourceToleration adds, unless the policy says that it
 * does not run. */
void accelerators_assume_tolerations(const struct rail_call *call, const struct text_map *names,
                                     struct tolerations *tolerations);
void accelerators_change_pod(struct rail_call *call, const struct accelerators *settings);

#endif
