/* A cluster that changes: objects put in and taken out one by one, and versions of them, each a
 * snapshot. Versions share what did not change between them; of an object only the fields are kept
 * that rails and solver read (kept_fields.c has the table). */
#ifndef TAFFRAIL_LIVE_LIVE_H
#define TAFFRAIL_LIVE_LIVE_H

#include "kube/kind.h"

struct object;
struct snapshot;

struct live;

/* One thread at a time uses a live and everything below, except for the snapshots themselves, which
 * any thread may read while they are held. */
struct live *live_create(void) MUST_CHECK; /* NULL: malloc failed */
/* After all who read its snapshots are done; NULL is fine. */
void live_destroy(struct live *live);

/* So much its objects may take from now on: of kinds that have namespaces three quarters, since
 * anybody can make them, and when they are no claims half. One for which there is no room is known
 * by its name, as one that cannot be read, and where there is no room for names the kind misses
 * objects. Without a call there is no limit. */
void live_limit(struct live *live, size_t bytes);

/* Keeps a copy, in memory of its own, of what is read of the object; it replaces one of the same
 * kind, namespace and name. When what is kept is the same as before nothing has changed. False:
 * malloc failed, and the object stays as it was. */
bool live_put(struct live *live, const struct object *object) MUST_CHECK;
/* That it is there and cannot be read: nothing is known of it but its name, until it is put again.
 */
bool live_put_unreadable(struct live *live, enum kind kind, struct text namespace,
                         struct text name) MUST_CHECK;
/* What is not there need not be removed. */
bool live_remove(struct live *live, enum kind kind, struct text namespace,
                 struct text name) MUST_CHECK;
/* A list of a kind: each of its objects is put, then it ends, and what was there before it began
 * and was not put since is gone. One that begins again has no end of its own. */
void live_list_begin(struct live *live, enum kind kind);
bool live_list_end(struct live *live, enum kind kind) MUST_CHECK;

/* What is there now, whether or not it is in a version yet. */
size_t live_count(const struct live *live, enum kind kind);
/* Of them, those that cannot be read. */
size_t live_unreadable_count(const struct live *live, enum kind kind);
bool live_is_unreadable(const struct live *live, enum kind kind, struct text namespace,
                        struct text name);
/* Whether some were not kept, or not even their names, since its last list began. */
bool live_lacks(const struct live *live, enum kind kind);
bool live_misses(const struct live *live, enum kind kind);
/* Whether a list of what it lacks would find much more room. */
bool live_has_room(const struct live *live);
/* That its objects take. What several kinds have alike is there once, and is the first one's. */
size_t live_bytes(const struct live *live, enum kind kind);

/* One object that is not as it was: before NULL, it came; after NULL, it went, or can no longer be
 * read. Both live at least as long as the snapshots they are in. */
struct live_change {
    enum kind kind;
    const struct object *before, *after;
};
struct live_changes {
    const struct live_change *items; /* by kind, namespace and name; each object once */
    size_t count;
};

/* Whether anything differs from the last version. */
bool live_has_changed(const struct live *live);
/* The objects as they are now, held once; *changes is what differs from the version before, valid
 * until the next call. NULL: malloc failed, and the version before stays the last; what has changed
 * since it is in the next one. */
const struct snapshot *live_version(struct live *live, struct live_changes *changes) MUST_CHECK;
/* Versions may be held and released in any order, by the thread that uses the live. What later
 * versions gave up is freed once no version that is as old as it is held. */
void live_hold(struct live *live, const struct snapshot *snapshot);
void live_release(struct live *live, const struct snapshot *snapshot);

#endif
