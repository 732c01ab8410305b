/* Notices when a file may have changed. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/reload.h"

/* Folders are watched, not files: a file that is replaced by a rename takes its watch with it, and
 * a mounted ConfigMap changes only by a rename of the link `..data`. IN_MODIFY is not used: a file
 * is read when its writer has closed it. */
enum {
    EVENTS = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_DELETE_SELF |
             IN_MOVE_SELF | IN_ATTRIB,
    LINKS_MAX = 40, /* the kernel's own limit */
    DEPTH_MAX = 16, /* the same as for reading a folder's documents */
};

/* False when memory ran out. */
static bool note_folder(struct watch *watch, int descriptor)
{
    size_t i = 0;
    while (i < watch->count && watch->folders[i].descriptor != descriptor)
        i++;
    if (i == watch->capacity) {
        size_t capacity = watch->capacity == 0 ? 16 : 2 * watch->capacity;
        struct watched *folders = realloc(watch->folders, capacity * sizeof *folders);
        if (folders == NULL)
            return false;
        watch->folders = folders;
        watch->capacity = capacity;
    }
    if (i == watch->count)
        watch->count++;
    watch->folders[i] = (struct watched){descriptor, watch->round};
    return true;
}

/* The kernel gives a watched folder the same descriptor again. */
static void watch_folder(struct watch *watch, const char *path)
{
    int descriptor = inotify_add_watch(watch->fd, path, EVENTS | IN_ONLYDIR);
    /* The parent folder shows that something is gone. */
    bool gone = descriptor < 0 && (errno == ENOENT || errno == ENOTDIR);
    if (!gone && (descriptor < 0 || !note_folder(watch, descriptor)))
        watch->complete = false;
}

static void forget_others(struct watch *watch)
{
    size_t kept = 0;
    for (size_t i = 0; i < watch->count; i++) {
        if (watch->folders[i].round == watch->round)
            watch->folders[kept++] = watch->folders[i];
        else
            inotify_rm_watch(watch->fd, watch->folders[i].descriptor); /* the folder may be gone */
    }
    watch->count = kept;
}

static bool join(char *joined, const char *folder, const char *name, const char *rest)
{
    const char *slash = folder[0] == '\0' || strcmp(folder, "/") == 0 ? "" : "/";
    int size = snprintf(joined, PATH_MAX, "%s%s%s%s%s", folder, slash, name,
                        rest[0] == '\0' ? "" : "/", rest);
    return size > 0 && size < PATH_MAX;
}

static void watch_way(struct watch *watch, const char *path, unsigned links);

/* Goes on through the link's target. */
static void follow(struct watch *watch, const char *link, const char *folder, const char *rest,
                   unsigned links)
{
    char target[PATH_MAX], path[PATH_MAX];
    ssize_t size = readlink(link, target, sizeof target - 1);
    if (size <= 0 || links >= LINKS_MAX)
        return;
    target[size] = '\0';
    if (join(path, target[0] == '/' ? "" : folder, target, rest))
        watch_way(watch, path, links + 1);
}

/* Watches the folder of the path's last part, and of every link on the way. If the path ends
 * before, watches its last existing folder. */
static void watch_way(struct watch *watch, const char *path, unsigned links)
{
    char folder[PATH_MAX] = "", part[PATH_MAX];
    if (path[0] == '/')
        folder[0] = '/';
    for (const char *rest = path + strspn(path, "/"); *rest != '\0';) {
        size_t size = strcspn(rest, "/");
        char name[NAME_MAX + 1];
        struct stat status;
        if (size > NAME_MAX)
            return;
        memcpy(name, rest, size);
        name[size] = '\0';
        rest += size + strspn(rest + size, "/");
        if (!join(part, folder, name, ""))
            return;
        bool there = lstat(part, &status) == 0;
        bool is_link = there && S_ISLNK(status.st_mode);
        if (!there || is_link || *rest == '\0')
            watch_folder(watch, folder[0] == '\0' ? "." : folder);
        if (is_link)
            follow(watch, part, folder, rest, links);
        if (!there || is_link)
            return;
        memcpy(folder, part, strlen(part) + 1);
    }
}

static void watch_tree(struct watch *watch, const char *path, unsigned depth)
{
    watch_folder(watch, path);
    DIR *folder = depth < DEPTH_MAX ? opendir(path) : NULL;
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char below[PATH_MAX];
        struct stat status;
        if (entry->d_name[0] == '.' || entry->d_type == DT_REG ||
            !join(below, path, entry->d_name, "") || lstat(below, &status) != 0)
            continue;
        if (S_ISLNK(status.st_mode))
            watch_way(watch, below, 0);
        if (stat(below, &status) == 0 && S_ISDIR(status.st_mode))
            watch_tree(watch, below, depth + 1);
    }
    closedir(folder);
}

void watch_open(struct watch *watch)
{
    *watch = (struct watch){.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
}

void watch_close(struct watch *watch)
{
    if (watch->fd >= 0)
        close(watch->fd);
    free(watch->folders);
    *watch = (struct watch){.fd = -1};
}

/* Uses the same inotify again: closing one may take the kernel a second. */
void watch_arm(struct watch *watch, struct path_set paths)
{
    watch->complete = watch->fd >= 0;
    watch->round++;
    for (size_t i = 0; watch->fd >= 0 && i < paths.count; i++) {
        watch_way(watch, paths.items[i], 0);
        if (path_is_folder(paths.items[i]))
            watch_tree(watch, paths.items[i], 0);
    }
    forget_others(watch);
    if (!watch->complete && !watch->said)
        log_line(LOG_WARN, "reload", NULL, NULL,
                 "not every folder can be watched: is one not readable, or is "
                 "fs.inotify.max_user_watches or max_user_instances used up? Changes are found by "
                 "looking again every few seconds");
    watch->said = !watch->complete;
}

/* The end of a watch is no change: its cause was reported before. */
static bool tells_a_change(const char *events, size_t size)
{
    for (size_t at = 0; at < size;) {
        struct inotify_event event;
        memcpy(&event, events + at, sizeof event);
        if ((event.mask & ~(uint32_t)IN_IGNORED) != 0)
            return true;
        at += sizeof event + event.len;
    }
    return false;
}

bool watch_drain(struct watch *watch)
{
    char events[4096];
    bool any = false;
    while (watch->fd >= 0) {
        ssize_t size = read(watch->fd, events, sizeof events);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            break;
        any |= tells_a_change(events, (size_t)size);
    }
    return any;
}
