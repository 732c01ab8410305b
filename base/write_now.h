/* Writing to somebody who may not read. */
#ifndef TAFFRAIL_BASE_WRITE_NOW_H
#define TAFFRAIL_BASE_WRITE_NOW_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/uio.h>

#include "base/base.h"

/* One call for all parts: up to PIPE_BUF bytes they stay whole in any pipe or file. It never waits
 * for a reader, unless fd is a terminal that the process may not open. Returns how many bytes were
 * taken; below 0 with errno: none, for EAGAIN because it would have to wait. */
ssize_t write_now(int fd, const struct iovec *parts, int count) MUST_CHECK;

/* Where several threads write lines. Only who waits for a turn on a terminal takes the lock. */
struct line_output {
    int fd;
    _Atomic bool torn; /* it has a part of a line, and not its end */
    pthread_mutex_t lock;
    int64_t stuck_until_ms; /* a terminal without room is not waited for */
};
#define LINE_OUTPUT(fd)                           \
    {                                             \
        (fd), false, PTHREAD_MUTEX_INITIALIZER, 0 \
    }
enum line_written {
    LINE_WHOLE,
    LINE_IN_PART, /* or only the end of the one before */
    LINE_LOST,    /* errno says why; EBUSY: others write to the terminal all the time */
};
/* The line, without its end, as write_now writes it. What was taken in part gets its end before the
 * next line, so that one line is torn and not two. Where others write to the same terminal it waits
 * for its turn, some milliseconds; where that is in vain, the next lines do not wait. */
enum line_written line_write_now(struct line_output *output, struct text line) MUST_CHECK;

#endif
