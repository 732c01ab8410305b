/* Reads logs with zlib, which takes plain files, gzip, and several gzip streams in one file, as
 * exports write them. */
#include "cli/log_file.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ---- finding ---- */

static int compare_entries(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

struct search {
    struct arena *arena;
    struct path_list *files;
    struct problems *problems;
    struct text_map seen; /* device and inode of each file */
    const FTSENT *entry;
};

/* A file is read once, though a link leads to it, too. */
static void add_file(struct search *search, const char *path)
{
    const struct stat *status = search->entry->fts_statp;
    const uint64_t id[] = {(uint64_t)status->st_dev, (uint64_t)status->st_ino};
    struct text key = {(const char *)id, sizeof id};
    if (text_map_add(&search->seen, search->arena, arena_text(search->arena, key)))
        *LIST_PUSH(search->arena, search->files) = path;
}

/* A link that leads back to a folder around it ends here. */
static void take_entry(void *argument)
{
    struct search *search = argument;
    const FTSENT *entry = search->entry;
    struct place place = {arena_text(search->arena, text_of(entry->fts_path)).data, 0, 0};
    switch (entry->fts_info) {
    case FTS_F:
        add_file(search, place.file);
        break;
    case FTS_DNR:
        problems_add(search->problems, ERROR_IO, place, "the folder cannot be listed: %s",
                     strerror(entry->fts_errno));
        break;
    case FTS_ERR:
    case FTS_NS:
        problems_add(search->problems, ERROR_IO, place, "cannot be read: %s",
                     strerror(entry->fts_errno));
        break;
    case FTS_SLNONE:
        problems_add(search->problems, ERROR_IO, place,
                     "cannot be read: it is a link to what is not there");
        break;
    case FTS_DEFAULT:
        problems_add(search->problems, ERROR_IO, place,
                     "is neither a file nor a folder, so it is not read");
        break;
    default: /* a folder, before or after what is in it */
        break;
    }
}

/* The guard keeps the walk open over an arena that is full. */
void log_files_find(const char *path, struct arena *arena, struct path_list *files,
                    struct problems *problems)
{
    if (!path_is_folder(path)) {
        *LIST_PUSH(arena, files) = path;
        return;
    }
    char *name = strdup(path);
    char *const paths[] = {name, NULL};
    FTS *walk = name == NULL ? NULL : fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, compare_entries);
    struct search search = {.arena = arena, .files = files, .problems = problems};
    struct error error = {0};
    bool good = walk != NULL;
    while (good && (search.entry = fts_read(walk)) != NULL)
        good = arena_guard(arena, take_entry, &search, &error);
    if (walk != NULL)
        fts_close(walk);
    free(name);
    if (!good)
        problems_add(problems, ERROR_IO, (struct place){path, 0, 0},
                     "the folder cannot be listed: %s",
                     error.what[0] == '\0' ? strerror(errno) : error.what);
}

/* ---- reading ---- */

static gzFile open_file(const char *path)
{
    if (strcmp(path, "-") != 0)
        return gzopen(path, "rb");
    int copy = dup(STDIN_FILENO);
    gzFile file = copy < 0 ? NULL : gzdopen(copy, "rb");
    if (copy >= 0 && file == NULL)
        close(copy);
    return file;
}

/* What ended the reading; Z_OK: the end of the file. */
static bool explain_end(gzFile file, const char *path, struct error *error)
{
    int code = Z_OK;
    const char *why = gzerror(file, &code);
    struct place place = {path_as_shown(path), 0, 0};
    if (code == Z_OK || code == Z_STREAM_END)
        return true;
    if (code == Z_BUF_ERROR)
        return error_set(error, ERROR_INPUT, place,
                         "it ends in the middle of its gzip data; what it holds up to there is "
                         "judged");
    if (code == Z_ERRNO)
        return error_set(error, ERROR_IO, place, "it cannot be read: %s", strerror(errno));
    return error_set(error, ERROR_INPUT, place,
                     "its gzip data is damaged (%s); what it holds up to there is judged", why);
}

bool log_file_read(const char *path, bool (*take)(void *context, const char *bytes, size_t size),
                   void *context, struct error *error)
{
    enum { CHUNK_BYTES = 256 << 10 };
    struct place place = {path_as_shown(path), 0, 0};
    errno = 0;
    gzFile file = open_file(path);
    if (file == NULL)
        return error_set(error, ERROR_IO, place, "it cannot be opened: %s",
                         errno == 0 ? "no memory" : strerror(errno));
    char *chunk = malloc(CHUNK_BYTES);
    bool taken = chunk != NULL && gzbuffer(file, CHUNK_BYTES) == 0;
    int size = 1;
    while (taken && size > 0) {
        size = gzread(file, chunk, CHUNK_BYTES);
        if (size > 0)
            taken = take(context, chunk, (size_t)size);
    }
    bool good = taken ? explain_end(file, path, error)
                      : error_set(error, ERROR_MEMORY, place, "no memory to read it");
    free(chunk);
    gzclose(file);
    return good;
}
