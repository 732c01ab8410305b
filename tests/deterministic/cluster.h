/* The objects that are watched: what the API server has of each kind, and how it came to that. */
#ifndef TAFFRAIL_DETERMINISTIC_CLUSTER_H
#define TAFFRAIL_DETERMINISTIC_CLUSTER_H

#include "bytes.h"
#include "kube/kind.h"

struct snapshot;

enum { CLUSTER_NAMES = 24, CLUSTER_ZONES = 3 };

/* Makes the first objects of the kinds. */
void cluster_begin(kind_set kinds);
/* Changes an object. */
void cluster_change(uint64_t chance);
/* Forgets the history: what is older than now has expired. */
void cluster_compact(void);
uint64_t cluster_revision(void);
/* The zone of the volume of the i-th claim; -1: it cannot be known. */
int cluster_zone_of_claim(unsigned i);
/* The namespace of the i-th object of a kind with namespaces. */
const char *cluster_namespace(unsigned i);

/* A page of a list, or a Status. limit 0: all. Returns the HTTP status. */
unsigned cluster_list(enum kind kind, size_t limit, const char *continue_token, struct bytes *out);
/* Whether a watch from the revision cannot begin. */
bool cluster_has_expired(enum kind kind, uint64_t revision);
/* Writes the next event after *revision, which moves on. False: there is none yet. */
bool cluster_event(enum kind kind, uint64_t *revision, struct bytes *out);
void cluster_bookmark(enum kind kind, struct bytes *out);
void cluster_status(unsigned code, const char *reason, const char *message, struct bytes *out);
/* Called at each change of a kind. */
void cluster_listen(void (*hear)(enum kind kind));

/* Where the snapshot differs from the objects; empty: nowhere. Only of what has not changed since
 * the time. */
bool cluster_compare(const struct snapshot *snapshot, kind_set kinds, int64_t unchanged_since_us,
                     char *where, size_t where_bytes);

#endif
