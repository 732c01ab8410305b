/* Folders of YAML and JSON files, in order of name. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"

struct walk {
    struct arena *arena;
    struct path_list *files;
    struct problems *problems;
};

/* A mounted ConfigMap shows each file once by its name, and again in folders that begin with "..".
 */
static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int compare_entries(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

struct listing {
    struct arena *arena;
    const char *path;
    struct dirent **entries;
    size_t count;
    const char **paths;
};

static void copy_paths(void *context)
{
    struct listing *listing = context;
    listing->paths = (const char **)ARENA_ARRAY(listing->arena, listing->count, const char *);
    for (size_t i = 0; i < listing->count; i++)
        listing->paths[i] =
            arena_printf(listing->arena, "%s/%s", listing->path, listing->entries[i]->d_name).data;
}

/* Lists one folder, by name. */
static bool list(struct listing *listing, struct error *error)
{
    int count = scandir(listing->path, &listing->entries, is_visible, compare_entries);
    if (count < 0)
        return error_set(error, ERROR_IO, (struct place){listing->path, 0, 0},
                         "the folder cannot be listed: %s", strerror(errno));
    listing->count = (size_t)count;
    bool copied = arena_guard(listing->arena, copy_paths, listing, error);
    for (size_t i = 0; i < listing->count; i++)
        free(listing->entries[i]);
    free((void *)listing->entries);
    return copied;
}

static bool is_document(const char *path)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    for (size_t i = 0; i < COUNT_OF(endings); i++)
        if (text_ends_with(text_of(path), text_of(endings[i])))
            return true;
    return false;
}

static void walk_folder(struct walk *walk, const char *path, unsigned depth);

static void walk_entry(struct walk *walk, const char *path, unsigned depth)
{
    struct stat status;
    if (stat(path, &status) != 0)
        problems_add(walk->problems, ERROR_IO, (struct place){path, 0, 0}, "cannot be read: %s",
                     strerror(errno));
    else if (S_ISDIR(status.st_mode))
        walk_folder(walk, path, depth);
    else if (is_document(path))
        *LIST_PUSH(walk->arena, walk->files) = path;
}

static void walk_folder(struct walk *walk, const char *path, unsigned depth)
{
    enum { DEPTH_MAX = 16 };
    if (depth > DEPTH_MAX) {
        problems_add(walk->problems, ERROR_LIMIT, (struct place){path, 0, 0},
                     "folders are nested more than %d deep, or a link leads back", DEPTH_MAX);
        return;
    }
    struct listing listing = {.arena = walk->arena, .path = path};
    struct error error;
    if (!list(&listing, &error)) {
        problems_add_error(walk->problems, &error);
        return;
    }
    for (size_t i = 0; i < listing.count; i++)
        walk_entry(walk, listing.paths[i], depth + 1);
}

bool path_is_folder(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

void folder_find_documents(const char *path, struct arena *arena, struct path_list *files,
                           struct problems *problems)
{
    struct text trimmed = text_of(path);
    while (trimmed.size > 1 && trimmed.data[trimmed.size - 1] == '/')
        trimmed.size--;
    struct walk walk = {arena, files, problems};
    walk_folder(&walk, arena_text(arena, trimmed).data, 0);
}
