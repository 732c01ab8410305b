/* Writing to somebody who may not read. */
#ifndef TAFFRAIL_BASE_WRITE_NOW_H
#define TAFFRAIL_BASE_WRITE_NOW_H

#include <sys/uio.h>

#include "base/base.h"

/* One call for all parts: up to PIPE_BUF bytes they stay whole in any pipe or file. It never waits
 * for a reader, unless fd is a terminal that the process may not open. Returns how many bytes were
 * taken; below 0 with errno: none, for EAGAIN because it would have to wait. */
ssize_t write_now(int fd, const struct iovec *parts, int count) MUST_CHECK;

#endif
