/* Objects from files: manifests, and a cluster as a folder. */
#ifndef TAFFRAIL_KUBE_MANIFEST_H
#define TAFFRAIL_KUBE_MANIFEST_H

#include "kube/object.h"

struct snapshot;

/* A Helm chart whose templates were not read: they become manifests only when it is rendered. */
struct chart {
    struct text folder;
    size_t templates;
};

/* The content of a file, folder or stream. */
struct manifests {
    struct arena *arena;
    struct object *items;
    size_t count, capacity;
    /* Set before reading. */
    enum object_origin origin; /* of each object */
    bool keep_unknown;         /* unknown kinds are items, too, of KIND_UNKNOWN */
    bool strict_files;         /* a file that holds no object is an error */
    bool allow_empty;          /* a path that holds no object is none */
    const char *const *ignore; /* of every folder that is read, in the syntax of base/ignore.h */
    size_t ignore_count;
    /* What is not among the items. */
    LIST(struct object) fragments; /* workloads that a caller took out: parts of objects */
    size_t skipped;                /* objects of kinds that are not in the table */
    size_t skipped_files;          /* without an object; chart templates among them */
    size_t ignored;                /* files and folders that an ignore line leaves out */
    LIST(struct chart) charts;
    struct problems problems; /* what could not be read */
    struct problems warnings; /* what could, and is not as it was meant */
};
void manifests_init(struct manifests *manifests, struct arena *arena);
/* path: a file, a folder (recursively .yaml, .yml, .json, in order of name, less what a
 * .taffrailignore in it leaves out) or "-". Documents, Lists, AdmissionReviews and the output of
 * kubectl get are unfolded. In what helm template writes to standard input an object has the place
 * that its `# Source:` line names. */
void manifests_read(struct manifests *manifests, const char *path, struct text default_namespace);
/* The same of a text that was read from somewhere else, which name says. */
void manifests_read_from(struct manifests *manifests, const char *name, struct text text,
                         struct text default_namespace);

/* A cluster as a folder of files (NULL: none) or as objects that were listed (NULL: none), with the
 * objects of a change (NULL: none) beside it, which win; fragments win over nothing. False with
 * *error only when the folder cannot be read; problems inside it are in *problems. */
bool state_load(const char *dir, const struct manifests *listed, const struct manifests *change,
                struct arena *arena, const struct snapshot **snapshot, struct problems *problems,
                struct error *error) MUST_CHECK;

#endif
