/* The zones a cluster names. */
#ifndef TAFFRAIL_CATALOG_ZONES_H
#define TAFFRAIL_CATALOG_ZONES_H

#include "kube/zone.h"

struct catalog;
struct snapshot;

/* The zones that a cluster names: on Nodes, in NodePools, in the status of EC2NodeClasses, in the
 * user's catalogue. */
void zones_read(const struct snapshot *snapshot, const struct catalog *catalog, enum zone_key key,
                struct arena *arena, struct zones *zones);

#endif
