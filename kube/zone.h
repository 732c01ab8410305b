/* Zones: the labels that name them, and sets of them. */
#ifndef TAFFRAIL_KUBE_ZONE_H
#define TAFFRAIL_KUBE_ZONE_H

#include "base/base.h"

struct object;
struct pool;
struct snapshot;

enum zone_key { ZONE_KEY_NONE, ZONE_KEY_NAME, ZONE_KEY_ID };
/* Whether a label key names a node's zone: the well-known keys, their aliases, CSI drivers' own. */
enum zone_key zone_key_of(struct text key);

struct zones {
    struct text *items; /* by name, each once */
    size_t count, capacity;
    /* For the zones that a cluster names. */
    bool complete;  /* nodes can be in no other zone */
    bool from_node; /* a Node names a zone */
    /* One for each zone, empty where it is not known; NULL: zones_read_ids was not called. */
    const struct text *ids;
};
void zones_add(struct zones *zones, struct text zone, struct arena *arena); /* empty: not added */
bool zones_have(const struct zones *zones, struct text zone);
struct zones zones_intersect(const struct zones *a, const struct zones *b, struct arena *arena);
/* The zone of a Node, by its label or the label's old spelling; empty when it has none. */
struct text node_zone(const struct object *node);
/* The zone with this id, from the subnets of a visible EC2NodeClass; empty when none names it. */
struct text zone_of_id(const struct snapshot *snapshot, struct text id);
/* Reads the id of each zone from there; an account has one for each. Call it when all zones are
 * there. The ids live in the arena. */
void zones_read_ids(const struct snapshot *snapshot, struct arena *arena, struct zones *zones);
/* Empty: not known. */
struct text zones_id_of(const struct zones *zones, struct text zone);
/* The list of subnets in the status of the pool's node class; NULL when there is none. */
const struct node *pool_subnets(const struct snapshot *snapshot, const struct pool *pool);
/* "us-east-1" of "us-east-1a", "us-west-2" of the local zone "us-west-2-lax-1a"; empty when the
 * name has another form. */
struct text zone_region(struct text zone);

#endif
