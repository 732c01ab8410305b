/* Objects from files: manifests, and a cluster as a folder. */
#ifndef TAFFRAIL_KUBE_MANIFEST_H
#define TAFFRAIL_KUBE_MANIFEST_H

#include "base/base.h"

struct object;
struct snapshot;

/* The content of a file, folder or stream. */
struct manifests {
    struct arena *arena;
    struct object *items;
    size_t count, capacity;
    bool keep_unknown; /* set before reading: unknown kinds are items, too, of KIND_UNKNOWN */
    size_t skipped;    /* of kinds that are not in the table */
    struct problems problems; /* what could not be read */
};
void manifests_init(struct manifests *manifests, struct arena *arena);
/* path: a file, a folder (recursively .yaml, .yml, .json, in order of name) or "-". Documents,
 * Lists, AdmissionReviews and the output of kubectl get are unfolded. */
void manifests_read(struct manifests *manifests, const char *path, struct text default_namespace);

/* A cluster as a folder of files (NULL: none), with the objects of a change (NULL: none) beside it,
 * which win. False with *error only when the folder cannot be read; problems inside it are in
 * *problems. */
bool state_load(const char *dir, const struct manifests *change, struct arena *arena,
                const struct snapshot **snapshot, struct problems *problems,
                struct error *error) MUST_CHECK;

#endif
