/* What the code takes from the GNU C library and macOS' own lacks, included before everything there
 * (CMakeLists.txt). Only what the commands need that are built without TAFFRAIL_SERVE. */
#ifndef TAFFRAIL_SCRIPTS_PACKAGING_HOMEBREW_INCLUDE_MACOS_H
#define TAFFRAIL_SCRIPTS_PACKAGING_HOMEBREW_INCLUDE_MACOS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define st_mtim st_mtimespec
#define st_ctim st_ctimespec

static inline char *strchrnul(const char *s, int c)
{
    const char *found = strchr(s, c);
    return (char *)(found != NULL ? found : s + strlen(s));
}

static inline void *memrchr(const void *s, int c, size_t size)
{
    const unsigned char *bytes = s;
    while (size > 0)
        if (bytes[--size] == (unsigned char)c)
            return (void *)(bytes + size);
    return NULL;
}

/* The context comes before the function there, and is the function's first argument. */
struct macos_order {
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
};

static inline int macos_compare(void *order, const void *a, const void *b)
{
    const struct macos_order *by = order;
    return by->compare(a, b, by->context);
}

static inline void macos_qsort_r(void *items, size_t count, size_t size,
                                 int (*compare)(const void *a, const void *b, void *context),
                                 void *context)
{
    struct macos_order order = {compare, context};
    qsort_r(items, count, size, &order, macos_compare);
}
#define qsort_r macos_qsort_r

#define GRND_NONBLOCK 0
static inline ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    (void)flags;
    return getentropy(buffer, size) == 0 ? (ssize_t)size : -1;
}

static inline void explicit_bzero(void *buffer, size_t size)
{
    memset_s(buffer, size, 0, size);
}

#define RENAME_NOREPLACE RENAME_EXCL
#define renameat2 renameatx_np

static inline int pipe2(int ends[2], int flags)
{
    if (pipe(ends) != 0)
        return -1;
    for (int i = 0; i < 2; i++)
        if (flags == O_CLOEXEC && fcntl(ends[i], F_SETFD, FD_CLOEXEC) != 0)
            return -1;
    return 0;
}

/* There is no file that exists in memory alone: a kubeconfig must name its certificates. */
#define MFD_CLOEXEC 1U
static inline int memfd_create(const char *name, unsigned flags)
{
    (void)name;
    (void)flags;
    errno = ENOTSUP;
    return -1;
}

/* Whether a write would wait, poll says there. */
#define RWF_NOWAIT 0
static inline ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset,
                               int flags)
{
    (void)fd, (void)parts, (void)count, (void)offset, (void)flags;
    errno = ENOTSUP;
    return -1;
}

/* Only a server waits so. */
#define pthread_condattr_setclock(attributes, clock) ((void)(attributes), (void)(clock))

#endif
