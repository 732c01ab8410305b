/* Writes without waiting for a reader. */
#include "base/write_now.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* A terminal waits as its description says, and that of fd belongs to other processes, too: below 0
 * is that there is no own one. */
static int open_terminal_again(int fd)
{
    char path[sizeof "/proc/self/fd/" + 11];
    if (isatty(fd) != 1)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

/* Where the kernel cannot say at once whether it would wait. A terminal is ready when it has room
 * for a part, and would wait with the rest. */
static ssize_t write_when_ready(int fd, const struct iovec *parts, int count)
{
    int terminal = open_terminal_again(fd);
    if (terminal >= 0) {
        ssize_t written = writev(terminal, parts, count);
        int failure = errno;
        close(terminal);
        errno = failure;
        return written;
    }
    struct pollfd out = {.fd = fd, .events = POLLOUT};
    if (poll(&out, 1, 0) != 0)
        return writev(fd, parts, count);
    errno = EAGAIN;
    return -1;
}

static bool is_file(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/* A file may have to wait for the disk, but not for a reader; without waiting it could take a part.
 * In a pipe there may be room when poll looks, and none when another thread was quicker: the kernel
 * is asked first. */
ssize_t write_now(int fd, const struct iovec *parts, int count)
{
    if (is_file(fd))
        return writev(fd, parts, count);
    ssize_t written = pwritev2(fd, parts, count, -1, RWF_NOWAIT);
    return written < 0 && errno != EAGAIN ? write_when_ready(fd, parts, count) : written;
}

/* A terminal lets in one writer at a time. Another one is told that it would have to wait, and not
 * whether it is for the first, which takes a moment, or for a reader. */
static ssize_t wait_for_turn(struct line_output *output, const struct iovec *parts, int count)
{
    enum { TURN_MS = 5, TRIES_LEAST = 8, STUCK_MS = 50 };
    static const struct timespec moment = {.tv_nsec = 100 * 1000L};
    struct pollfd turn = {.fd = output->fd, .events = POLLOUT};
    int64_t end_ms = monotonic_ms() + TURN_MS, left_ms = TURN_MS;
    for (int i = 0; i < TRIES_LEAST || left_ms > 0; i++) {
        bool had_turn = poll(&turn, 1, left_ms > 0 ? (int)left_ms : 0) != 0;
        if (!had_turn && i > 0)
            break;
        if (!had_turn) {
            output->stuck_until_ms = monotonic_ms() + STUCK_MS;
            errno = EAGAIN;
            return -1;
        }
        ssize_t written = write_now(output->fd, parts, count);
        if (written >= 0 || errno != EAGAIN)
            return written;
        nanosleep(&moment, NULL);
        left_ms = end_ms - monotonic_ms();
    }
    errno = EBUSY;
    return -1;
}

static ssize_t write_to_terminal(struct line_output *output, const struct iovec *parts, int count)
{
    pthread_mutex_lock(&output->lock);
    ssize_t written = -1;
    errno = EAGAIN;
    if (monotonic_ms() >= output->stuck_until_ms)
        written = wait_for_turn(output, parts, count);
    int failure = errno;
    pthread_mutex_unlock(&output->lock);
    errno = failure;
    return written;
}

enum line_written line_write_now(struct line_output *output, struct text line)
{
    bool torn = atomic_exchange(&output->torn, false);
    ssize_t end = torn ? 1 : 0, whole = end + (ssize_t)line.size + 1;
    const struct iovec parts[] = {
        {"\n", (size_t)end}, {(void *)(uintptr_t)line.data, line.size}, {"\n", 1}};
    ssize_t written = write_now(output->fd, parts, COUNT_OF(parts));
    if (written < 0 && errno == EAGAIN) {
        bool is_terminal = isatty(output->fd) == 1;
        errno = EAGAIN;
        if (is_terminal)
            written = write_to_terminal(output, parts, COUNT_OF(parts));
    }
    if (written <= 0 ? torn : written > end && written < whole)
        atomic_store(&output->torn, true);
    return written < 0 ? LINE_LOST : written < whole ? LINE_IN_PART : LINE_WHOLE;
}
