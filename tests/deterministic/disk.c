/* The system calls about files that the program makes (--wrap), on files in memory. Other paths and
 * descriptors are the system's. */
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "chance.h"
#include "memory.h"
#include "threads.h"

enum {
    FILES_MAX = 8,
    OPEN_MAX = 64,
    FIRST_FD = 1 << 20, /* beyond the system's */
    NAME_BYTES = 32,
    DISK_ERROR_IN_MILLION = 200000,
};

struct file {
    char name[NAME_BYTES]; /* empty: none */
    char *content;
    size_t size;
    uint64_t inode;
    int64_t changed_us;
};
struct folder {
    struct file files[FILES_MAX];
    int64_t changed_us;
    uint64_t changes;
};

enum open_sort { OPEN_NOTHING, OPEN_FILE, OPEN_FOLDER, OPEN_SIGN, OPEN_WATCH };
struct open_file {
    enum open_sort sort;
    int replica;
    char *content; /* as it was when it was opened */
    size_t size, offset, listed;
    uint64_t count;        /* of a sign */
    uint64_t seen_changes; /* of a watch */
    bool watches;
    struct thread *waits;
};

static struct folder folders[REPLICAS_MAX];
static struct open_file open_files[OPEN_MAX];
static uint64_t inodes = 100;
static int64_t fails_until_us[REPLICAS_MAX], output_fails_until_us[REPLICAS_MAX];
static uint64_t lines[REPLICAS_MAX];

/* ---- files ---- */

const char *disk_path(int replica, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "/sim/%d%s%s", replica, *name == '\0' ? "" : "/", name);
    return path;
}

static struct file *find(int replica, const char *name)
{
    struct file *files = folders[replica].files;
    for (size_t i = 0; i < FILES_MAX; i++)
        if (strcmp(files[i].name, name) == 0)
            return &files[i];
    return NULL;
}

/* Who watches is told a moment later. */
static void tell_watchers(int replica)
{
    folders[replica].changed_us = world_now_us();
    folders[replica].changes++;
    for (size_t i = 0; i < OPEN_MAX; i++)
        if (open_files[i].sort == OPEN_WATCH && open_files[i].replica == replica &&
            open_files[i].waits != NULL)
            thread_wake_at(open_files[i].waits, world_now_us() + MS);
}

static struct file *file_for(int replica, const char *name)
{
    struct file *file = find(replica, name);
    if (file == NULL)
        file = find(replica, "");
    if (file == NULL)
        abort();
    snprintf(file->name, sizeof file->name, "%s", name);
    return file;
}

void disk_overwrite(int replica, const char *name, const char *content)
{
    struct file *file = file_for(replica, name);
    world_free(file->content);
    file->size = strlen(content);
    file->content = world_alloc(file->size + 1);
    memcpy(file->content, content, file->size);
    if (file->inode == 0)
        file->inode = inodes++;
    file->changed_us = world_now_us();
    tell_watchers(replica);
}

void disk_put(int replica, const char *name, const char *content)
{
    file_for(replica, name)->inode = inodes++;
    disk_overwrite(replica, name, content);
}

void disk_remove(int replica, const char *name)
{
    struct file *file = find(replica, name);
    if (file == NULL || *name == '\0')
        return;
    world_free(file->content);
    *file = (struct file){.name = ""};
    tell_watchers(replica);
}

void disk_fail(int replica, int64_t until_us)
{
    fails_until_us[replica] = until_us;
}

void output_fail(int replica, int64_t until_us)
{
    output_fails_until_us[replica] = until_us;
}

uint64_t output_lines(int replica)
{
    return lines[replica];
}

static bool fails(int replica)
{
    return world_now_us() < fails_until_us[replica] && chance_draw(1000000) < DISK_ERROR_IN_MILLION;
}

/* ---- paths ---- */

struct place {
    bool ours;
    int replica; /* WORLD: /sim itself */
    const char *name;
};

static struct place place_of(const char *path)
{
    static const char root[] = "/sim";
    struct place place = {.replica = WORLD, .name = ""};
    size_t size = sizeof root - 1;
    if (strncmp(path, root, size) != 0 || (path[size] != '\0' && path[size] != '/'))
        return place;
    place.ours = true;
    if (path[size] == '\0' || path[size + 1] == '\0')
        return place;
    place.replica = path[size + 1] - '0';
    place.name = path[size + 2] == '/' ? path + size + 3 : "";
    return place;
}

static int no_such_file(void)
{
    errno = ENOENT;
    return -1;
}

static int examine(const struct place *place, struct stat *status)
{
    const struct file *file = NULL;
    *status = (struct stat){.st_dev = 7, .st_mode = S_IFDIR | 0755, .st_nlink = 1};
    if (place->replica == WORLD)
        return 0;
    status->st_ino = 10 + (ino_t)place->replica;
    int64_t changed_us = folders[place->replica].changed_us;
    if (*place->name != '\0') {
        file = find(place->replica, place->name);
        if (file == NULL)
            return no_such_file();
        status->st_mode = S_IFREG | 0644;
        status->st_ino = file->inode;
        status->st_size = (off_t)file->size;
        changed_us = file->changed_us;
    }
    status->st_mtim = (struct timespec){changed_us / SECOND, changed_us % SECOND * 1000};
    status->st_ctim = status->st_mtim;
    return 0;
}

int __real_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status)
{
    struct place place = place_of(path);
    return place.ours ? examine(&place, status) : __real_stat(path, status);
}

int __real_lstat(const char *path, struct stat *status);
int __wrap_lstat(const char *path, struct stat *status);
int __wrap_lstat(const char *path, struct stat *status)
{
    struct place place = place_of(path);
    return place.ours ? examine(&place, status) : __real_lstat(path, status);
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
    struct stat status;
    struct place place = place_of(path);
    return place.ours ? examine(&place, &status) : __real_access(path, mode);
}

/* ---- descriptors ---- */

static struct open_file *open_file_of(int fd)
{
    return fd >= FIRST_FD && fd < FIRST_FD + OPEN_MAX ? &open_files[fd - FIRST_FD] : NULL;
}

static int open_one(enum open_sort sort, int replica)
{
    for (int i = 0; i < OPEN_MAX; i++)
        if (open_files[i].sort == OPEN_NOTHING) {
            open_files[i] = (struct open_file){.sort = sort, .replica = replica};
            return FIRST_FD + i;
        }
    errno = EMFILE;
    return -1;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    struct place place = place_of(path);
    struct stat status;
    if (!place.ours)
        return __real_open(path, flags, 0644);
    if (examine(&place, &status) != 0)
        return -1;
    if (place.replica == WORLD || fails(place.replica)) {
        errno = EIO;
        return -1;
    }
    int fd = open_one(S_ISDIR(status.st_mode) ? OPEN_FOLDER : OPEN_FILE, place.replica);
    struct open_file *file = open_file_of(fd);
    if (file == NULL || file->sort == OPEN_FOLDER)
        return fd;
    const struct file *on_disk = find(place.replica, place.name);
    file->size = on_disk->size;
    file->content = world_alloc(file->size + 1);
    memcpy(file->content, on_disk->content, file->size);
    return fd;
}

int __real_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status);
int __wrap_fstat(int fd, struct stat *status)
{
    const struct open_file *file = open_file_of(fd);
    if (fd == STDOUT_FILENO) { /* as a container has it */
        *status = (struct stat){.st_mode = S_IFIFO | 0600};
        return 0;
    }
    if (file == NULL)
        return __real_fstat(fd, status);
    *status = (struct stat){.st_mode = file->sort == OPEN_FILE ? S_IFREG | 0644 : S_IFDIR | 0755,
                            .st_size = (off_t)file->size};
    return 0;
}

static ssize_t would_block(void)
{
    errno = EAGAIN;
    return -1;
}

static ssize_t read_sign(struct open_file *sign, void *buffer)
{
    if (sign->count == 0)
        return would_block();
    memcpy(buffer, &sign->count, sizeof sign->count);
    sign->count = 0;
    return sizeof sign->count;
}

static ssize_t read_watch(struct open_file *watch, void *buffer)
{
    const struct inotify_event event = {.wd = 1, .mask = IN_MOVED_TO};
    if (!watch->watches || watch->seen_changes == folders[watch->replica].changes)
        return would_block();
    watch->seen_changes = folders[watch->replica].changes;
    memcpy(buffer, &event, sizeof event);
    return sizeof event;
}

static ssize_t read_file(struct open_file *file, void *buffer, size_t size)
{
    if (file->sort == OPEN_FOLDER || fails(file->replica)) {
        errno = file->sort == OPEN_FOLDER ? EISDIR : EIO;
        return -1;
    }
    size_t left = file->size - file->offset;
    size_t part = size < left ? size : left;
    if (part > 1 && chance_draw(4) == 0)
        part = 1 + chance_draw(part);
    memcpy(buffer, file->content + file->offset, part);
    file->offset += part;
    return (ssize_t)part;
}

ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
    struct open_file *file = open_file_of(fd);
    if (file == NULL)
        return __real_read(fd, buffer, size);
    switch (file->sort) {
    case OPEN_SIGN:
        return read_sign(file, buffer);
    case OPEN_WATCH:
        return read_watch(file, buffer);
    default:
        return read_file(file, buffer, size);
    }
}

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    struct open_file *sign = open_file_of(fd);
    if (sign == NULL)
        return __real_write(fd, bytes, size);
    sign->count++;
    if (sign->waits != NULL)
        thread_wake_at(sign->waits, world_now_us());
    return (ssize_t)size;
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    struct open_file *file = open_file_of(fd);
    if (file == NULL)
        return fd >= FIRST_FD ? 0 : __real_close(fd);
    world_free(file->content);
    *file = (struct open_file){.sort = OPEN_NOTHING};
    return 0;
}

void disk_drop(int replica)
{
    for (int i = 0; i < OPEN_MAX; i++)
        if (open_files[i].sort != OPEN_NOTHING && open_files[i].replica == replica)
            __wrap_close(FIRST_FD + i);
}

/* ---- folders ---- */

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
    struct place place = place_of(path);
    if (!place.ours)
        return __real_opendir(path);
    no_such_file(); /* no folder is given to the program */
    return NULL;
}

/* ---- signs and watches ---- */

int __wrap_eventfd(unsigned count, int flags);
int __wrap_eventfd(unsigned count, int flags)
{
    (void)count, (void)flags;
    return open_one(OPEN_SIGN, thread_replica());
}

int __wrap_inotify_init1(int flags);
int __wrap_inotify_init1(int flags)
{
    (void)flags;
    if (chance_draw(4) == 0) { /* the limit of instances is reached: it has to look by itself */
        errno = EMFILE;
        return -1;
    }
    return open_one(OPEN_WATCH, thread_replica());
}

int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask);
int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    struct open_file *watch = open_file_of(fd);
    struct place place = place_of(path);
    (void)mask;
    if (watch == NULL || !place.ours)
        return no_such_file();
    if (place.replica == watch->replica && !watch->watches) {
        watch->watches = true;
        watch->seen_changes = folders[watch->replica].changes;
    }
    return 1;
}

int __wrap_inotify_rm_watch(int fd, int descriptor);
int __wrap_inotify_rm_watch(int fd, int descriptor)
{
    (void)fd, (void)descriptor;
    return 0;
}

static bool is_readable(const struct open_file *file)
{
    return (file->sort == OPEN_SIGN && file->count > 0) ||
           (file->sort == OPEN_WATCH && file->watches &&
            file->seen_changes != folders[file->replica].changes);
}

static int find_readable(struct pollfd *signs, nfds_t count)
{
    int readable = 0;
    for (nfds_t i = 0; i < count; i++) {
        const struct open_file *file = open_file_of(signs[i].fd);
        signs[i].revents = file != NULL && is_readable(file) ? POLLIN : 0;
        readable += signs[i].revents != 0;
    }
    return readable;
}

static void wait_at(const struct pollfd *signs, nfds_t count, struct thread *thread)
{
    for (nfds_t i = 0; i < count; i++) {
        struct open_file *file = open_file_of(signs[i].fd);
        if (file != NULL)
            file->waits = thread;
    }
}

int __wrap_poll(struct pollfd *signs, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *signs, nfds_t count, int timeout_ms)
{
    int64_t until_us = world_now_us() + timeout_ms * MS;
    if (count == 1 && signs[0].fd == STDOUT_FILENO) /* the trail asks whether anybody reads */
        return world_now_us() >= output_fails_until_us[thread_replica()] || chance_draw(2) == 0;
    for (;;) {
        int readable = find_readable(signs, count);
        if (readable > 0 || world_now_us() >= until_us)
            return readable;
        wait_at(signs, count, thread_current());
        thread_sleep_until(until_us);
        wait_at(signs, count, NULL);
    }
}

/* A run is the same where it is started on a terminal. */
int __wrap_isatty(int fd);
int __wrap_isatty(int fd)
{
    (void)fd;
    return 0;
}

/* Standard output takes a line, or nothing: it is a pipe whose reader is stuck, or a full disk. */
static ssize_t take_output(const struct iovec *parts, int count, int failure)
{
    size_t size = 0;
    if (world_now_us() < output_fails_until_us[thread_replica()]) {
        errno = failure;
        return -1;
    }
    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    lines[thread_replica()]++;
    return (ssize_t)size;
}

ssize_t __wrap_writev(int fd, const struct iovec *parts, int count);
ssize_t __wrap_writev(int fd, const struct iovec *parts, int count)
{
    (void)fd; /* the one use is standard output */
    return take_output(parts, count, ENOSPC);
}

ssize_t __wrap_pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags);
ssize_t __wrap_pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    static const int failures[] = {EAGAIN, ENOSPC, EOPNOTSUPP};
    (void)fd, (void)offset, (void)flags;
    return take_output(parts, count, failures[chance_draw(sizeof failures / sizeof *failures)]);
}
