/* The parts of reload.c: fingerprints of files, a watch for changes, and what became unreadable. */
#ifndef TAFFRAIL_SERVER_RELOAD_H
#define TAFFRAIL_SERVER_RELOAD_H

#include "server/server.h"

/* Files, and folders with every document below them. */
struct path_set {
    const char *const *items;
    size_t count;
};

/* ---- fingerprint ---- */

struct fingerprint {
    unsigned char bytes[32];
};

/* Of names, inodes, sizes and times: it differs when something may have changed. */
bool fingerprint_stamps(struct path_set paths, struct fingerprint *stamps,
                        struct error *error) MUST_CHECK;
/* Of names and bytes: it differs when something has changed. An unreadable file or folder is part
 * of it. False only when memory ran out. */
bool fingerprint_content(struct path_set paths, struct fingerprint *content,
                         struct error *error) MUST_CHECK;
bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b);

/* ---- watch ---- */

struct watched {
    int descriptor;
    unsigned round; /* the last round that wanted it */
};

struct watch {
    int fd;        /* inotify's; -1: none */
    bool complete; /* false: something is not watched, and needs polling */
    bool said;     /* that it is not complete */
    unsigned round;
    struct watched *folders;
    size_t count, capacity;
};

void watch_open(struct watch *watch);
void watch_close(struct watch *watch);

/* Replaces the watches: every folder that holds one of the paths or, for a folder, is below it, and
 * every folder that holds a symbolic link on the way. A missing path is noticed when it appears. */
void watch_arm(struct watch *watch, struct path_set paths);
/* Takes all events; false when there were none. */
bool watch_drain(struct watch *watch);

/* ---- holes ---- */

/* Adds the holes of the next world's state in which something of the world in force (NULL: nothing)
 * may have vanished: of each file that had fewer of them, or an object that is nowhere now. Of such
 * a file those that were there before are left out, unless there are no others. */
void holes_add_new(const struct world *in_force, const struct world *next,
                   struct problems *problems);

#endif
