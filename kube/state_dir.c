/* A cluster as a folder of files. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "kube/manifest.h"
#include "kube/object.h"
#include "kube/snapshot.h"

static bool add_folder(const char *path, struct arena *arena, struct snapshot_builder *builder,
                       struct problems *problems, struct error *error)
{
    struct place place = {path, 0, 0};
    struct stat status;
    if (stat(path, &status) != 0)
        return error_set(error, ERROR_IO, place, "cannot read the state folder: %s",
                         strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return error_set(error, ERROR_IO, place,
                         "--state wants a folder of manifests, and this is none");
    struct manifests manifests;
    manifests_init(&manifests, arena);
    manifests.allow_empty = true;
    manifests.origin = ORIGIN_STATE;
    manifests_read(&manifests, path, TEXT("default"));
    for (size_t i = 0; i < manifests.count; i++)
        snapshot_put(builder, &manifests.items[i]);
    for (size_t i = 0; i < manifests.problems.count; i++)
        problems_add_error(problems, &manifests.problems.items[i]);
    for (size_t i = 0; i < manifests.warnings.count; i++)
        problems_add_error(problems, &manifests.warnings.items[i]);
    return true;
}

bool state_load(const char *dir, const struct manifests *change, struct arena *arena,
                const struct snapshot **snapshot, struct problems *problems, struct error *error)
{
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    for (size_t i = 0; change != NULL && i < change->fragments.count; i++)
        snapshot_put(builder, &change->fragments.items[i]);
    if (dir != NULL && !add_folder(dir, arena, builder, problems, error))
        return false;
    for (size_t i = 0; change != NULL && i < change->count; i++)
        if (change->items[i].kind != KIND_UNKNOWN)
            snapshot_put(builder, &change->items[i]);
    *snapshot = snapshot_build(builder);
    return true;
}
