/* Where the solver could place the pods of each StatefulSet, kept up with a cluster that changes:
 * from one version to the next only what a change can have moved is asked again. */
#ifndef TAFFRAIL_PINNING_WARM_H
#define TAFFRAIL_PINNING_WARM_H

#include "live/store.h"
#include "pinning/pin.h"

struct catalog;
struct karpenter_settings;
struct pin_offers;
struct snapshot;

struct warm;

struct warm *warm_create(void) MUST_CHECK; /* NULL: malloc failed */
void warm_destroy(struct warm *warm);      /* the offers it made stay; NULL is fine */

/* The offers of a snapshot, held once (pin_offers_release). changes: what differs from the snapshot
 * given before, NULL when nothing is known of that; with another catalogue or other settings
 * (NULL: as Karpenter by itself) everything is made anew, too. Neither snapshot nor changes are
 * touched after it returned; the catalogue has to outlive the next call. NULL: the solver refuses
 * the cluster (a name that stands twice), or memory ran out; the next call begins from nothing. */
const struct pin_offers *warm_next(struct warm *warm, const struct snapshot *snapshot,
                                   const struct store_changes *changes,
                                   const struct catalog *catalog,
                                   const struct karpenter_settings *settings);
/* To be called when nothing else is to be done: makes anew what has grown from step to step, so
 * that the next step is short. The snapshot is the one given last. False: there was nothing to do.
 */
bool warm_tidy(struct warm *warm, const struct snapshot *snapshot);
/* The memory of the problem, for those who measure. */
size_t warm_bytes(const struct warm *warm);

#endif
