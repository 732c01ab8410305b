/* The parts of the rail volume-binding. */
#ifndef TAFFRAIL_POLICY_RAILS_VOLUME_BINDING_H
#define TAFFRAIL_POLICY_RAILS_VOLUME_BINDING_H

#include "policy/rail.h"

struct claim;

/* What a person has written into a claim, or into a template of one, where Kubernetes chooses: a
 * node, a volume. */
void volume_binding_judge_by_hand(struct rail_call *call, const struct claim *claim);
/* A PersistentVolume of a zonal disk that does not say in which zone it is. */
void volume_binding_judge_static(struct rail_call *call, const struct key_strings *provisioners);

#endif
