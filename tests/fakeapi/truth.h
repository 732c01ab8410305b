/* What a cluster holds and how it came to that: objects, each change a revision, as lists and
 * watches of an API server show them. For tests: it aborts when memory runs out. */
#ifndef TAFFRAIL_FAKEAPI_TRUTH_H
#define TAFFRAIL_FAKEAPI_TRUTH_H

#include "kube/kind.h"

struct snapshot;

struct truth;
struct truth *truth_create(void);
void truth_destroy(struct truth *truth);
/* Puts an object of so many bytes of ballast; namespace "" for kinds without. */
void truth_put(struct truth *truth, enum kind kind, const char *namespace, const char *name,
               size_t ballast_bytes);
/* Puts an object as it is written, in JSON; "@" in it stands for its resource version. */
void truth_put_json(struct truth *truth, enum kind kind, const char *namespace, const char *name,
                    const char *json);
bool truth_remove(struct truth *truth, enum kind kind, const char *namespace, const char *name);
/* Forgets how it came to the present state: what is older than now has expired. */
void truth_compact(struct truth *truth);
uint64_t truth_revision(const struct truth *truth);
size_t truth_count(const struct truth *truth, enum kind kind);

/* A page of a list, or the Status of a refusal. limit 0: all. The caller frees it. */
char *truth_list(const struct truth *truth, enum kind kind, size_t limit,
                 const char *continue_token, unsigned *status);
/* The next event after *revision, which moves on; NULL when there is none yet, and a Status as an
 * ERROR event when the revision has expired. The caller frees it. */
char *truth_event(const struct truth *truth, enum kind kind, uint64_t *revision);
/* Every object as an ADDED event: how a watch without a version begins. */
char *truth_beginning(const struct truth *truth, enum kind kind);
char *truth_bookmark(const struct truth *truth, enum kind kind);
char *truth_status(unsigned code, const char *reason, const char *message);
/* "namespace/name resourceVersion" of each object, a line each, sorted. The caller frees it. */
char *truth_lines(const struct truth *truth, enum kind kind);
/* The same of a snapshot, which knows it by a label. */
char *snapshot_lines(const struct snapshot *snapshot, enum kind kind);

#endif
