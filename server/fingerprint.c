/* Fingerprints of files and folders, to notice a change. */
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/reload.h"

enum { NAMES_BUDGET_BYTES = 256 << 20 };

/* The names are collected first: under the arena's guard no descriptor may be open. */
struct finding_files {
    struct arena *arena;
    struct path_set paths;
    struct path_list files;
    struct problems problems;
};

static void find_files(void *argument)
{
    struct finding_files *finding = argument;
    for (size_t i = 0; i < finding->paths.count; i++) {
        const char *path = finding->paths.items[i];
        /* A folder, too: its time shows that something in it went and came back. */
        *LIST_PUSH(finding->arena, &finding->files) = path;
        if (path_is_folder(path))
            folder_find_documents(path, NULL, finding->arena, &finding->files, &finding->problems);
    }
}

static void add(gnutls_hash_hd_t hash, const void *bytes, size_t size)
{
    gnutls_hash(hash, bytes, size);
}

static void add_text(gnutls_hash_hd_t hash, const char *text)
{
    add(hash, text, strlen(text) + 1);
}

/* Two changes within one tick of the kernel's clock have the same time. But a replaced file has
 * another inode, and a file written in place another change time. */
static void add_stamp(gnutls_hash_hd_t hash, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        add_text(hash, strerror(errno));
        return;
    }
    const uint64_t stamp[] = {
        (uint64_t)status.st_dev,          (uint64_t)status.st_ino,
        (uint64_t)status.st_size,         (uint64_t)status.st_mtim.tv_sec,
        (uint64_t)status.st_mtim.tv_nsec, (uint64_t)status.st_ctim.tv_sec,
        (uint64_t)status.st_ctim.tv_nsec, (uint64_t)status.st_mode,
    };
    add(hash, stamp, sizeof stamp);
}

static void add_content(gnutls_hash_hd_t hash, const char *path)
{
    unsigned char buffer[16 << 10];
    uint64_t size = 0;
    ssize_t count = -1;
    /* Does not wait for a special file, such as a pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        while ((count = read(fd, buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR)) {
            size_t taken = count > 0 ? (size_t)count : 0;
            add(hash, buffer, taken);
            size += taken;
        }
    }
    if (count < 0)
        add_text(hash, strerror(errno));
    if (fd >= 0)
        close(fd);
    add(hash, &size, sizeof size);
}

static bool fingerprint(struct path_set paths, void (*add_file)(gnutls_hash_hd_t, const char *),
                        struct fingerprint *print, struct error *error)
{
    _Static_assert(sizeof print->bytes == 32, "the size of a SHA-256");
    struct finding_files finding = {.arena = arena_create(NAMES_BUDGET_BYTES), .paths = paths};
    finding.problems.arena = finding.arena;
    gnutls_hash_hd_t hash;
    if (finding.arena == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory for the names of files");
    if (!arena_guard(finding.arena, find_files, &finding, error)) {
        arena_destroy(finding.arena);
        return false;
    }
    int code = gnutls_hash_init(&hash, GNUTLS_DIG_SHA256);
    if (code < 0) {
        arena_destroy(finding.arena);
        return error_set(error, ERROR_MEMORY, NOWHERE, "files cannot be compared: %s",
                         gnutls_strerror(code));
    }
    for (size_t i = 0; i < finding.files.count; i++) {
        add_text(hash, finding.files.items[i]);
        add_file(hash, finding.files.items[i]);
    }
    for (size_t i = 0; i < finding.problems.count; i++)
        add_text(hash, finding.problems.items[i].what);
    gnutls_hash_deinit(hash, print->bytes);
    arena_destroy(finding.arena);
    return true;
}

bool fingerprint_stamps(struct path_set paths, struct fingerprint *stamps, struct error *error)
{
    return fingerprint(paths, add_stamp, stamps, error);
}

bool fingerprint_content(struct path_set paths, struct fingerprint *content, struct error *error)
{
    return fingerprint(paths, add_content, content, error);
}

bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}
