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
                       const struct text_map *holes, struct arena *arena, struct text_map *losers)
{
    for (size_t i = 0; i < snapshot_count(before, kind); i++) {
        const struct object *object = snapshot_object(before, kind, i);
        struct text file = text_of(object->source == NULL ? "" : object->source->file);
        if (text_map_has(holes, file) &&
            snapshot_find(now, kind, object->namespace, object->name) == NULL)
            text_map_add(losers, arena, file);
    }
}

void holes_add_new(const struct world *in_force, const struct world *next,
                   struct problems *problems)
{
    static const struct problems none = {0};
    const struct problems *holes = world_holes(next);
    struct arena *arena = problems->arena;
    struct text_map now = count_holes(holes, arena), losers = {0};
    struct text_map before = count_holes(in_force == NULL ? &none : world_holes(in_force), arena);
    if (now.count > 0 && in_force != NULL)
        for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
            add_losers(in_force->snapshot, next->snapshot, kind, &now, arena, &losers);
    FOR_EACH(hole, holes) {
        struct text file = text_of(hole->place.file);
        if (text_map_get(&now, file, 0) > text_map_get(&before, file, 0) ||
            text_map_has(&losers, file))
            problems_add_error(problems, hole);
    }
}
