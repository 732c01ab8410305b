/* What reload.c is built of: what files contain, and when to look again. */
#ifndef TAFFRAIL_SERVER_RELOAD_H
#define TAFFRAIL_SERVER_RELOAD_H

#include "base/base.h"

/* Files, and folders with every document below them. */
struct path_set {
    const char *const *items;
    size_t count;
};

/* ---- fingerprint ---- */

struct fingerprint {
    unsigned char bytes[32];
};

/* Of names, inodes, sizes and times: differs when something may have changed. */
bool fingerprint_stamps(struct path_set paths, struct fingerprint *stamps,
                        struct error *error) MUST_CHECK;
/* Of names and bytes: differs when something has. That a file or folder cannot be read is part of
 * it. False only when memory ran out. */
bool fingerprint_content(struct path_set paths, struct fingerprint *content,
                         struct error *error) MUST_CHECK;
bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b);

/* ---- watch ---- */

struct watched {
    int descriptor;
    unsigned round; /* the last one that wanted it */
};

struct watch {
    int fd;        /* of inotify; -1: none */
    bool complete; /* false: something is not watched, and only looking again will tell */
    bool said;     /* that it is not complete */
    unsigned round;
    struct watched *folders;
    size_t count, capacity;
};

void watch_open(struct watch *watch);
void watch_close(struct watch *watch);

/* Watches, instead of what was watched before: every folder that holds one of the paths or, for a
 * folder, lies below it, and every folder that holds a symbolic link on the way. What is not there
 * yet is noticed when it appears. */
void watch_arm(struct watch *watch, struct path_set paths);
/* Takes all events; false when there were none. */
bool watch_drain(struct watch *watch);

#endif
