/* A cluster as a folder of files. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "kube/manifest.h"
#include "kube/object.h"
#include "kube/snapshot.h"

bool state_dir_read(const char *path, struct arena *arena, struct snapshot_builder *builder,
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
    manifests_read(&manifests, path, TEXT("default"));
    for (size_t i = 0; i < manifests.count; i++)
        snapshot_put(builder, &manifests.items[i]);
    for (size_t i = 0; i < manifests.problems.count; i++)
        problems_add_error(problems, &manifests.problems.items[i]);
    return true;
}
