/* Folders of YAML and JSON files, in order of name. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ignore.h"

/* A folder that a link leads to, and the rules that apply there. */
struct linked_folder {
    const char *path;
    struct ignore_path parts;
    struct ignore_rules rules;
};
struct walk {
    struct arena *arena;
    struct path_list *files;
    struct problems *problems;
    struct folder_filter *filter;
    struct ignore_rules rules;
    struct ignore_path parts; /* of the current path, from the folder of the walk on */
    struct text_map entered;  /* device and inode of each folder */
    LIST(struct linked_folder) links;
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

/* Links to folders are followed once all other folders have been read: a folder is read once, and
 * by its own name where it has one in the walk. So a link that leads back ends here. */
static bool enter(struct walk *walk, const struct stat *status)
{
    const uint64_t id[] = {(uint64_t)status->st_dev, (uint64_t)status->st_ino};
    struct text key = {(const char *)id, sizeof id};
    return !text_map_has(&walk->entered, key) &&
           text_map_add(&walk->entered, walk->arena, arena_text(walk->arena, key));
}

static void read_ignore_file(struct walk *walk, const char *path)
{
    enum { LIMIT_BYTES = 1 << 20 };
    struct text lines;
    struct error error;
    const char *name = walk->filter == NULL ? NULL : walk->filter->file_name;
    if (name == NULL)
        return;
    const char *file = arena_printf(walk->arena, "%s/%s", path, name).data;
    if (access(file, F_OK) != 0)
        return;
    if (file_read(file, LIMIT_BYTES, walk->arena, &lines, &error))
        ignore_add_lines(&walk->rules, lines, walk->parts.count);
    else
        problems_add_error(walk->problems, &error);
}

static void queue_link(struct walk *walk, const char *path)
{
    struct linked_folder link = {.path = path, .rules = {.arena = walk->arena}};
    for (size_t i = 0; i < walk->parts.count; i++)
        *LIST_PUSH(walk->arena, &link.parts) = walk->parts.items[i];
    for (size_t i = 0; i < walk->rules.count; i++)
        *LIST_PUSH(walk->arena, &link.rules) = walk->rules.items[i];
    *LIST_PUSH(walk->arena, &walk->links) = link;
}

static void walk_folder(struct walk *walk, const char *path, const struct stat *status);

static void take_file(struct walk *walk, const char *path, const struct stat *status)
{
    if (!is_document(path))
        return;
    if (S_ISREG(status->st_mode))
        *LIST_PUSH(walk->arena, walk->files) = path;
    else
        problems_add(walk->problems, ERROR_IO, (struct place){path, 0, 0},
                     "is neither a file nor a folder, so it is not read");
}

static void walk_entry(struct walk *walk, const char *path)
{
    struct stat status, own;
    bool there = stat(path, &status) == 0;
    int reason = errno;
    bool is_link = lstat(path, &own) == 0 && S_ISLNK(own.st_mode);
    bool is_folder = there && S_ISDIR(status.st_mode);
    if (ignore_leaves_out(&walk->rules, &walk->parts, is_folder))
        walk->filter->ignored += is_folder || is_document(path);
    else if (!there)
        problems_add(walk->problems, ERROR_IO, (struct place){path, 0, 0}, "cannot be read: %s%s",
                     strerror(reason), is_link ? " (it is a link)" : "");
    else if (!is_folder)
        take_file(walk, path, &status);
    else if (is_link)
        queue_link(walk, path);
    else
        walk_folder(walk, path, &status);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static void walk_folder(struct walk *walk, const char *path, const struct stat *status)
{
    enum { DEPTH_MAX = 64 };
    size_t rule_count = walk->rules.count;
    if (walk->parts.count > DEPTH_MAX) {
        problems_add(walk->problems, ERROR_LIMIT, (struct place){path, 0, 0},
                     "folders are nested more than %d deep", DEPTH_MAX);
        return;
    }
    struct listing listing = {.arena = walk->arena, .path = path};
    struct error error;
    if (!enter(walk, status))
        return;
    if (!list(&listing, &error)) {
        problems_add_error(walk->problems, &error);
        return;
    }
    read_ignore_file(walk, path);
    for (size_t i = 0; i < listing.count; i++) {
        *LIST_PUSH(walk->arena, &walk->parts) = last_part(listing.paths[i]);
        walk_entry(walk, listing.paths[i]);
        walk->parts.count--;
    }
    walk->rules.count = rule_count;
}

static void walk_path(struct walk *walk, const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        walk_folder(walk, path, &status);
    else
        problems_add(walk->problems, ERROR_IO, (struct place){path, 0, 0}, "cannot be read: %s",
                     strerror(errno));
}

bool path_is_folder(const char *path)
{
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

void folder_find_documents(const char *path, struct folder_filter *filter, struct arena *arena,
                           struct path_list *files, struct problems *problems)
{
    struct text trimmed = text_of(path);
    while (trimmed.size > 1 && trimmed.data[trimmed.size - 1] == '/')
        trimmed.size--;
    struct walk walk = {.arena = arena,
                        .files = files,
                        .problems = problems,
                        .filter = filter,
                        .rules = {.arena = arena}};
    for (size_t i = 0; filter != NULL && i < filter->line_count; i++)
        ignore_add_line(&walk.rules, text_of(filter->lines[i]), 0);
    walk_path(&walk, arena_text(arena, trimmed).data);
    for (size_t i = 0; i < walk.links.count; i++) {
        walk.parts = walk.links.items[i].parts;
        walk.rules = walk.links.items[i].rules;
        walk_path(&walk, walk.links.items[i].path);
    }
}
