/* A cluster as a folder of files. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "kube/manifest.h"
#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/snapshot_internal.h"

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
    manifests.problems = *problems; /* there may be many: none is copied */
    manifests_read(&manifests, path, TEXT("default"));
    *problems = manifests.problems;
    for (size_t i = 0; i < manifests.count; i++)
        snapshot_put(builder, &manifests.items[i]);
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

static struct place place_of(const struct object *object, struct arena *arena)
{
    return source_place(object->source, arena, field_offset(object->root));
}

/* Of an object that the folder has twice, with different specs, one is taken. A few are told. */
static void tell_twice(const struct snapshot *snapshot, struct arena *arena,
                       struct problems *problems)
{
    enum { MOST_TOLD = 10 };
    size_t told = 0;
    FOR_EACH(object, &snapshot->twice) {
        const struct object *before = *object;
        const struct object *taken =
            snapshot_find(snapshot, before->kind, before->namespace, before->name);
        if (before->origin != ORIGIN_STATE || taken->origin != ORIGIN_STATE ||
            node_equal(node_get(before->root->node, "spec"), node_get(taken->root->node, "spec")))
            continue;
        struct place place = place_of(taken, arena);
        if (told++ < MOST_TOLD)
            problems_add(problems, ERROR_TWICE, place_of(before, arena),
                         "%.*s %.*s%s%.*s stands again at %s:%u, with another spec, which is the "
                         "one that counts",
                         TEXT_ARGS(before->kind_name), TEXT_ARGS(before->namespace),
                         before->namespace.size > 0 ? "/" : "", TEXT_ARGS(before->name), place.file,
                         place.line);
    }
    if (told > MOST_TOLD)
        problems_add(problems, ERROR_TWICE, NOWHERE, "%zu more object%s of the state stand%s twice",
                     told - MOST_TOLD, plural_s(told - MOST_TOLD),
                     told - MOST_TOLD == 1 ? "s" : "");
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
    tell_twice(*snapshot, arena, problems);
    return true;
}
