/* Reads certificates from a folder, or makes them there. */
#include "certs/certs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PEM_FILE_BYTES_MAX = 1 << 20 };

/* The content of a folder, as far as it matters here. */
struct listing {
    bool missing, empty;
    bool has_certificate, has_key;
};

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
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
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

/* The file is complete before it appears under its name, and never replaces an existing one. If two
 * programs fill one folder at once, the second fails at its first file. */
static bool write_file(int folder, const char *path, const char *name, mode_t mode,
                       struct text bytes, struct error *error)
{
    char draft[64];
    snprintf(draft, sizeof draft, ".%s.%ld", name, (long)getpid());
    int fd = openat(folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    bool written = fd >= 0 && write_bytes(fd, bytes);
    int failure = errno;
    if (fd >= 0 && close(fd) != 0 && written) {
        written = false;
        failure = errno;
    }
    if (written && renameat2(folder, draft, folder, name, RENAME_NOREPLACE) != 0) {
        written = false;
        failure = errno;
    }
    if (written)
        return true;
    if (fd >= 0)
        unlinkat(folder, draft, 0);
    return error_set(error, ERROR_IO, (struct place){path, 0, 0}, "%s cannot be written: %s", name,
                     strerror(failure));
}

static bool fill_folder(const char *path, const struct cert_pair *ca, const struct cert_pair *leaf,
                        struct error *error)
{
    struct place place = {path, 0, 0};
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return error_set(error, ERROR_IO, place, "the folder for certificates cannot be made: %s",
                         strerror(errno));
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return error_set(error, ERROR_IO, place, "the folder for certificates cannot be opened: %s",
                         strerror(errno));
    bool done = write_file(folder, path, "ca.crt", 0644, ca->certificate, error) &&
                write_file(folder, path, "tls.key", 0600, leaf->key, error) &&
                write_file(folder, path, "tls.crt", 0644, leaf->certificate, error);
    if (done && fsync(folder) != 0)
        done =
            error_set(error, ERROR_IO, place, "the folder cannot be written: %s", strerror(errno));
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
