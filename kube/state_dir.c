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

static void add_objects(const struct manifests *manifests, struct snapshot_builder *builder)
{
    for (size_t i = 0; manifests != NULL && i < manifests->count; i++)
        if (manifests->items[i].kind != KIND_UNKNOWN)
            snapshot_put(builder, &manifests->items[i]);
}

bool state_load(const char *dir, const struct manifests *listed, const struct manifests *change,
                struct arena *arena, const struct snapshot **snapshot, struct problems *problems,
                struct error *error)
{
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    for (size_t i = 0; change != NULL && i < change->fragments.count; i++)
        snapshot_put(builder, &change->fragments.items[i]);
    if (dir != NULL && !add_folder(dir, arena, builder, problems, error))
        return false;
    add_objects(listed, builder);
    add_objects(change, builder);
    *snapshot = snapshot_build(builder);
    return true;
}
