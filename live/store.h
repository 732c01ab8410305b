/* A cluster that changes: objects put in and taken out one by one, and versions of them, each a
 * snapshot. Versions share what did not change between them; of an object only the fields are kept
 * that rails and solver read (transform_fields.c has the table). */
#ifndef TAFFRAIL_LIVE_LIVE_H
#define TAFFRAIL_LIVE_LIVE_H

#include "kube/kind.h"

struct object;
struct snapshot;

struct store;

/* One thread at a time uses a live and everything below, except for the snapshots themselves, which
 * any thread may read while they are held. */
struct store *store_create(void) MUST_CHECK; /* NULL: malloc failed */
/* After all who read its snapshots are done; NULL is fine. */
void store_destroy(struct store *store);

/* So much its objects may take from now on: of kinds that have namespaces three quarters, since
 * anybody can make them, and when they are no claims half. One for which there is no room is known
 * by its name, as one that cannot be read, and where there is no room for names the kind misses
 * objects. Without a call there is no limit. */
void store_limit(struct store *store, size_t bytes);

/* Keeps a copy, in memory of its own, of what is read of the object; it replaces one of the same
 * kind, namespace and name. When what is kept is the same as before nothing has changed. False:
 * malloc failed, and the object stays as it was. */
bool store_put(struct store *store, const struct object *object) MUST_CHECK;
/* That it is there and cannot be read: nothing is known of it but its name, until it is put again.
 */
bool store_put_unreadable(struct store *store, enum kind kind, struct text namespace,
                          struct text name) MUST_CHECK;
/* What is not there need not be removed. */
bool store_remove(struct store *store, enum kind kind, struct text namespace,
                  struct text name) MUST_CHECK;
/* A list of a kind: each of its objects is put, then it ends, and what was there before it began
 * and was not put since is gone. One that begins again has no end of its own. */
void store_list_begin(struct store *store, enum kind kind);
bool store_list_end(struct store *store, enum kind kind) MUST_CHECK;

/* What is there now, whether or not it is in a version yet. */
size_t store_count(const struct store *store, enum kind kind);
/* Of them, those that cannot be read. */
size_t store_unreadable_count(const struct store *store, enum kind kind);
bool live_is_unreadable(const struct store *store, enum kind kind, struct text namespace,
                        struct text name);
/* Whether some were not kept, or not even their names, since its last list began. */
bool store_lacks(const struct store *store, enum kind kind);
bool store_misses(const struct store *store, enum kind kind);
/* Whether a list of what it lacks would find much more room. */
bool live_has_room(const struct store *store);
/* That its objects take. What several kinds have alike is there once, and is the first one's. */
size_t store_bytes(const struct store *store, enum kind kind);

/* One object that is not as it was: before NULL, it came; after NULL, it went, or can no longer be
 * read. Both live at least as long as the snapshots they are in. */
struct store_change {
    enum kind kind;
    const struct object *before, *after;
};
struct store_changes {
    const struct store_change *items; /* by kind, namespace and name; each object once */
    size_t count;
};

/* Whether anything differs from the last version. */
bool live_has_changed(const struct store *store);
/* The objects as they are now, held once; *changes is what differs from the version before, valid
 * until the next call. NULL: malloc failed, and the version before stays the last; what has changed
 * since it is in the next one. */
const struct snapshot *store_version(struct store *store, struct store_changes *changes) MUST_CHECK;
/* Versions may be held and released in any order, by the thread that uses the store. What later
 * versions gave up is freed once no version that is as old as it is held. */
void store_hold(struct store *store, const struct snapshot *snapshot);
void store_release(struct store *store, const struct snapshot *snapshot);

#endif
