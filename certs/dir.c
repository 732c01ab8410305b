/* Reads certificates from a folder, or makes them there. */
#include "certs/certs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PEM_FILE_BYTES_MAX = 1 << 20 };

/* The content of a folder, as far as it matters here. */
struct listing {
    bool missing, empty;
    bool has_certificate, has_key;
};

/* A file is written under its draft's name: ".tls.key." and eight digits of chance. What a process
 * that was killed left of these is nothing, and another process may be about to use them. */
enum { DRAFT_BYTES = 32 };

static bool is_draft(const char *name)
{
    static const char *const names[] = {".ca.crt.", ".tls.key.", ".tls.crt."};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        size_t size = strlen(names[i]);
        if (strncmp(name, names[i], size) == 0)
            return strlen(name) == size + 8 && strspn(name + size, "0123456789abcdef") == 8;
    }
    return false;
}

static bool list_folder(const char *path, struct listing *listing, struct error *error)
{
    *listing = (struct listing){.empty = true};
    struct place place = {path, 0, 0};
    DIR *folder = opendir(path);
    if (folder == NULL && errno == ENOENT) {
        listing->missing = true;
        return true;
    }
    if (folder == NULL)
        return error_set(error, ERROR_IO, place, "the folder for certificates cannot be read: %s",
                         strerror(errno));
    errno = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            is_draft(entry->d_name))
            continue;
        listing->empty = false;
        listing->has_certificate |= strcmp(entry->d_name, "tls.crt") == 0;
        listing->has_key |= strcmp(entry->d_name, "tls.key") == 0;
    }
    int failure = errno;
    closedir(folder);
    if (failure != 0)
        return error_set(error, ERROR_IO, place, "the folder for certificates cannot be read: %s",
                         strerror(failure));
    return true;
}

static bool write_bytes(int fd, struct text bytes)
{
    while (bytes.size > 0) {
        ssize_t count = write(fd, bytes.data, bytes.size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        bytes.data += count;
        bytes.size -= (size_t)count;
    }
    return fsync(fd) == 0;
}

struct new_file {
    const char *name;
    mode_t mode;
    struct text bytes;
    char draft[DRAFT_BYTES]; /* empty: there is none */
    bool placed;             /* under its name */
};

static bool write_draft(int folder, struct new_file *file)
{
    uint32_t chance;
    if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance)
        return false;
    char draft[DRAFT_BYTES];
    snprintf(draft, sizeof draft, ".%s.%08x", file->name, chance);
    int fd =
        openat(folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file->mode);
    if (fd < 0)
        return false;
    memcpy(file->draft, draft, sizeof draft);
    bool written = write_bytes(fd, file->bytes);
    int failure = errno;
    if (close(fd) != 0)
        return false;
    errno = failure;
    return written;
}

/* Never replaces an existing file: if two programs fill one folder at once, the second fails at its
 * first one. */
static bool place(int folder, struct new_file *file)
{
    file->placed = renameat2(folder, file->draft, folder, file->name, RENAME_NOREPLACE) == 0;
    return file->placed;
}

static void take_back(int folder, const struct new_file *file)
{
    if (file->draft[0] != '\0')
        unlinkat(folder, file->placed ? file->name : file->draft, 0);
}

/* All are complete before the first one appears under its name; when it fails, none of them is left
 * there, so that the folder is as empty as it was. */
static bool write_files(int folder, const char *path, struct new_file *files, size_t count,
                        struct error *error)
{
    struct place where = {path, 0, 0};
    const char *failed = NULL;
    for (size_t i = 0; i < count && failed == NULL; i++)
        failed = write_draft(folder, &files[i]) ? NULL : files[i].name;
    for (size_t i = 0; i < count && failed == NULL; i++)
        failed = place(folder, &files[i]) ? NULL : files[i].name;
    if (failed == NULL && fsync(folder) != 0)
        failed = "the folder";
    if (failed == NULL)
        return true;
    int failure = errno;
    for (size_t i = 0; i < count; i++)
        take_back(folder, &files[i]);
    return error_set(error, ERROR_IO, where, "%s cannot be written: %s", failed, strerror(failure));
}

static bool fill_folder(const char *path, const struct cert_pair *ca, const struct cert_pair *leaf,
                        struct error *error)
{
    struct place place = {path, 0, 0};
    struct new_file files[] = {
        {.name = "ca.crt", .mode = 0644, .bytes = ca->certificate},
        {.name = "tls.key", .mode = 0600, .bytes = leaf->key},
        {.name = "tls.crt", .mode = 0644, .bytes = leaf->certificate},
    };
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return error_set(error, ERROR_IO, place, "the folder for certificates cannot be made: %s",
                         strerror(errno));
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return error_set(error, ERROR_IO, place, "the folder for certificates cannot be opened: %s",
                         strerror(errno));
    bool done = write_files(folder, path, files, COUNT_OF(files), error);
    close(folder);
    return done;
}

static bool read_pair(const char *path, int64_t now_unix_s, struct arena *arena,
                      struct cert_pair *leaf, struct error *error)
{
    struct text certificate_path = arena_printf(arena, "%s/tls.crt", path);
    struct text key_path = arena_printf(arena, "%s/tls.key", path);
    int64_t not_after_unix_s;
    if (!file_read(certificate_path.data, PEM_FILE_BYTES_MAX, arena, &leaf->certificate, error) ||
        !file_read(key_path.data, PEM_FILE_BYTES_MAX, arena, &leaf->key, error))
        return false;
    if (cert_check(leaf, now_unix_s, &not_after_unix_s, error))
        return true;
    if (error != NULL)
        error->place.file = certificate_path.data;
    return false;
}

bool certs_open_dir(const char *path, const struct cert_names *names, int64_t now_unix_s,
                    struct arena *arena, struct cert_pair *leaf, bool *made, struct error *error)
{
    struct listing listing;
    *made = false;
    if (!list_folder(path, &listing, error))
        return false;
    if (!listing.missing && !listing.empty) {
        if (listing.has_certificate && listing.has_key)
            return read_pair(path, now_unix_s, arena, leaf, error);
        return error_set(error, ERROR_TLS, (struct place){path, 0, 0},
                         "holds files, but no %s; give a folder with tls.crt and tls.key, or an "
                         "empty one to have them made",
                         listing.has_certificate ? "tls.key"
                         : listing.has_key       ? "tls.crt"
                                                 : "tls.crt and tls.key");
    }
    struct cert_pair ca;
    if (!cert_issue_ca(now_unix_s, arena, &ca, error) ||
        !cert_issue_leaf(&ca, names, now_unix_s, arena, leaf, error) ||
        !fill_folder(path, &ca, leaf, error))
        return false;
    *made = true;
    return true;
}
