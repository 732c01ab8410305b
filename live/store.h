/* The objects of a watched cluster, put and removed one by one, and versions of them, each a
 * snapshot. Versions share what did not change between them. Only the fields that rails and solver
 * read are stored (transform_fields.c has the table). */
#ifndef TAFFRAIL_LIVE_STORE_H
#define TAFFRAIL_LIVE_STORE_H

#include "kube/kind.h"

struct object;
struct snapshot;

struct store;

/* One thread at a time uses a store and everything below. Only snapshots may be read by any thread,
 * while they are held. */
struct store *store_create(void) MUST_CHECK; /* NULL: malloc failed */
/* Call it when nobody reads its snapshots any more; NULL is fine. */
void store_destroy(struct store *store);

/* Limits the memory of the objects from now on. Kinds with namespaces get three quarters, because
 * anybody can make such objects, and kinds that are not claims get half. An object without room is
 * known by name only, like an unreadable one; without room for names the kind misses objects.
 * Without a call there is no limit. */
void store_limit(struct store *store, size_t bytes);

/* Stores a copy of the fields that are read of the object, in memory of its own. It replaces an
 * object of the same kind, namespace and name. If the stored fields are equal, nothing has changed.
 * False: malloc failed, and the object stays as it was. */
bool store_put(struct store *store, const struct object *object) MUST_CHECK;
/* The object exists and is unreadable: only its name is known, until it is put again. */
bool store_put_unreadable(struct store *store, enum kind kind, struct text namespace,
                          struct text name) MUST_CHECK;
/* Does nothing when the object is absent. */
bool store_remove(struct store *store, enum kind kind, struct text namespace,
                  struct text name) MUST_CHECK;
/* A list of a kind: each of its objects is put, then it ends. Objects that were there before it
 * began and were not put since are then gone. A list that begins again has no end of its own. */
void store_list_begin(struct store *store, enum kind kind);
bool store_list_end(struct store *store, enum kind kind) MUST_CHECK;

/* The number of objects now, even if they are in no version yet. */
size_t store_count(const struct store *store, enum kind kind);
/* The number of unreadable ones among them. */
size_t store_unreadable_count(const struct store *store, enum kind kind);
bool store_is_unreadable(const struct store *store, enum kind kind, struct text namespace,
                         struct text name);
/* Whether objects, or even their names, found no room: in the kind's last list that ended, or since
 * then. */
bool store_lacks(const struct store *store, enum kind kind);
bool store_misses(const struct store *store, enum kind kind);
/* Whether a new list of the missing objects would find much more room. */
bool store_has_room(const struct store *store);
/* The memory of its objects. A part that several kinds share counts for the first one. */
size_t store_bytes(const struct store *store, enum kind kind);

/* One changed object. before NULL: it is new; after NULL: it is gone, or unreadable now. Both live
 * at least as long as the snapshots they are in. */
struct store_change {
    enum kind kind;
    const struct object *before, *after;
};
struct store_changes {
    const struct store_change *items; /* by kind, namespace and name; each object once */
    size_t count;
};

/* Whether anything differs from the last version. */
bool store_has_changed(const struct store *store);
/* The objects as they are now, held once. *changes are the differences from the version before,
 * valid until the next call. NULL: malloc failed, and the version before stays the last; the next
 * version has all changes since then. */
const struct snapshot *store_version(struct store *store, struct store_changes *changes) MUST_CHECK;
/* The thread that uses the store may hold and release versions in any order. What later versions
 * gave up is freed once no version of that age or older is held. */
void store_release(struct store *store, const struct snapshot *snapshot);

#endif
