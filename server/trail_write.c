/* A line of the audit trail goes to standard output. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "server/server.h"

static const char stuck[] = "standard output takes nothing more: its reader is stuck";

/* Where the kernel cannot say at once whether it would wait. */
static ssize_t write_when_ready(const struct iovec *parts, int count)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (poll(&out, 1, 0) != 0)
        return writev(STDOUT_FILENO, parts, count);
    errno = EAGAIN;
    return -1;
}

static bool is_file(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/* One call for the line and its newline: up to PIPE_BUF bytes it stays whole in any pipe or file. A
 * pipe without a reader must not stop the reviews: there may be room when poll looks, and none when
 * another thread was quicker. A file may have to wait for the disk, but not for a reader. */
const char *trail_write(struct text line)
{
    struct iovec parts[] = {{(void *)line.data, line.size}, {"\n", 1}};
    ssize_t written = pwritev2(STDOUT_FILENO, parts, 2, -1, RWF_NOWAIT);
    if (written < 0 && (errno != EAGAIN || is_file(STDOUT_FILENO)))
        written = write_when_ready(parts, 2);
    if (written == (ssize_t)(line.size + 1))
        return NULL;
    if (written >= 0)
        return "written in part";
    return errno == EAGAIN ? stuck : strerror(errno);
}
