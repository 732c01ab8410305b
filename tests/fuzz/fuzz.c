/* Shared by all fuzz targets. */
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 4 };

void fuzz_guarded(struct arena *arena, void (*read)(void *), void *argument)
{
    struct error error;
    REQUIRE(arena != NULL);
    arena_reset(arena);
    REQUIRE(arena_guard(arena, read, argument, &error) || error.kind == ERROR_LIMIT);
}

int fuzz_text(struct arena **arena, size_t budget_bytes, void (*read)(void *), const uint8_t *data,
              size_t size)
{
    struct text text = {(const char *)data, size};
    if (*arena == NULL)
        *arena = arena_create(budget_bytes);
    fuzz_guarded(*arena, read, &text);
    return 0;
}

const struct node *fuzz_tree(struct text json, const struct doc_limits *limits, struct arena *arena)
{
    struct source *source = ARENA_NEW(arena, struct source);
    const struct node *root = NULL;
    struct error error;
    source->text = json;
    return doc_read_json(source, limits, NULL, arena, &root, &error) ? root : NULL;
}

/* ---- files ---- */

static char folder[64];
static char files[FILES_MAX][sizeof folder + 32];
static size_t file_count;

static void remove_files(void)
{
    for (size_t i = 0; i < file_count; i++)
        unlink(files[i]);
    rmdir(folder);
}

const char *fuzz_folder(void)
{
    if (folder[0] != '\0')
        return folder;
    snprintf(folder, sizeof folder, "%s/taffrail-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    REQUIRE(mkdtemp(folder) != NULL && atexit(remove_files) == 0);
    return folder;
}

const char *fuzz_path(const char *name)
{
    REQUIRE(file_count < FILES_MAX && strlen(name) < 30);
    snprintf(files[file_count], sizeof files[0], "%s/%s", fuzz_folder(), name);
    return files[file_count++];
}

void fuzz_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "we");
    REQUIRE(file != NULL);
    REQUIRE(size == 0 || fwrite(bytes, 1, size, file) == size);
    REQUIRE(fclose(file) == 0);
}
