/* How many connections the open files of this process are enough for. */
#ifndef TAFFRAIL_SERVER_OPEN_FILES_H
#define TAFFRAIL_SERVER_OPEN_FILES_H

#include <stddef.h>

enum {
    CONNECTIONS_MOST = 512,
    CONNECTIONS_LEAST = 8, /* also where the files are too few for them */
    /* Each connection is an open file. The others: the ops port's connections, the watches of the
     * cluster, listeners, log, trail, and what is read. */
    OTHER_FILES = 160,
};

/* Takes as many open files as the process may have (its hard limit), and returns how many these
 * are; SIZE_MAX: no limit. */
size_t open_files_take(void);
/* The connections of the webhook that may be open together: CONNECTIONS_LEAST to CONNECTIONS_MOST.
 * At the limit of open files libmicrohttpd asks for the next connection again and again, which
 * takes a whole core. At this limit the server closes a connection that is idle, or the new one. */
unsigned connections_within(size_t open_files);

#endif
