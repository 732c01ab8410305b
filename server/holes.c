/* What a new world cannot read of the state, and the one in force could. */
#include "kube/object.h"
#include "kube/snapshot.h"
#include "server/reload.h"

/* The holes of a world by file. */
static struct text_map count_holes(const struct problems *holes, struct arena *arena)
{
    struct text_map counts = {0};
    FOR_EACH(hole, holes)
        ++*text_map_at(&counts, arena, text_of(hole->place.file));
    return counts;
}

/* Adds the files with holes of which an object is nowhere now. */
static void add_losers(const struct snapshot *before, const struct snapshot *now, enum kind kind,
                       const struct text_map *holes, struct arena *arena, struct text_map *files)
{
    for (size_t i = 0; i < snapshot_count(before, kind); i++) {
        const struct object *object = snapshot_object(before, kind, i);
        struct text file = text_of(object->source == NULL ? "" : object->source->file);
        if (text_map_has(holes, file) &&
            snapshot_find(now, kind, object->namespace, object->name) == NULL)
            text_map_add(files, arena, file);
    }
}

static struct text words_of(const struct error *hole, struct arena *arena)
{
    char line[1024];
    error_format(hole, line, sizeof line);
    return arena_text(arena, text_of(line));
}

/* The files with more holes than before, and those that lost an object. */
static struct text_map find_suspects(const struct world *in_force, const struct world *next,
                                     struct arena *arena)
{
    struct text_map suspects = {0};
    struct text_map now = count_holes(world_holes(next), arena), before = {0};
    if (in_force != NULL)
        before = count_holes(world_holes(in_force), arena);
    FOR_EACH(file, &now)
        if (file->value > text_map_get(&before, file->key, 0))
            text_map_add(&suspects, arena, file->key);
    if (in_force != NULL && now.count > 0)
        for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
            add_losers(in_force->snapshot, next->snapshot, kind, &now, arena, &suspects);
    return suspects;
}

void holes_add_new(const struct world *in_force, const struct world *next,
                   struct problems *problems)
{
    struct arena *arena = problems->arena;
    struct text_map suspects = find_suspects(in_force, next, arena), known = {0}, told = {0};
    if (in_force != NULL && suspects.count > 0)
        FOR_EACH(hole, world_holes(in_force))
            text_map_add(&known, arena, words_of(hole, arena));
    FOR_EACH(hole, world_holes(next)) {
        struct text file = text_of(hole->place.file);
        if (text_map_has(&suspects, file) && !text_map_has(&known, words_of(hole, arena))) {
            problems_add_error(problems, hole);
            text_map_add(&told, arena, file);
        }
    }
    FOR_EACH(hole, world_holes(next)) {
        struct text file = text_of(hole->place.file);
        if (text_map_has(&suspects, file) && !text_map_has(&told, file))
            problems_add_error(problems, hole);
    }
}
