/* Versions of a watched cluster. A version shares with the one before the lists of unchanged kinds,
 * and the facts computed from them. Objects have no reference count. What a version has and the
 * next has not hangs on the version, and is freed once neither it nor any before it is held. */
#include <stdlib.h>
#include <string.h>

#include "live/store_internal.h"

/* ---- memory ---- */

static void free_blocks(struct list_block *block)
{
    while (block != NULL) {
        struct list_block *next = block->next;
        free(block);
        block = next;
    }
}

static void free_leftover(struct store *store, struct leftover *leftover)
{
    for (struct stored *kept = leftover->objects; kept != NULL;) {
        struct stored *next = kept->next;
        stored_destroy(kept, &store->trees);
        kept = next;
    }
    free_blocks(leftover->blocks);
    for (size_t i = 0; i < PART_COUNT; i++)
        arena_destroy(leftover->parts[i]);
}

bool versions_begin(struct store *store)
{
    store->first = store->last = calloc(1, sizeof *store->last);
    return store->last != NULL;
}

void versions_destroy(struct store *store)
{
    struct version *last = store->last;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        free(last->kinds[i]);
        free(last->unreadable[i]);
    }
    for (size_t i = 0; i < PICK_COUNT; i++)
        free(last->picks[i]);
    for (size_t i = 0; i < PART_COUNT; i++)
        arena_destroy(last->parts[i]);
    for (struct version *version = store->first; version != NULL;) {
        struct version *next = version->next;
        free_leftover(store, &version->leftover);
        free(version);
        version = next;
    }
}

static void free_unheld(struct store *store)
{
    while (store->first != store->last && store->first->holds == 0) {
        struct version *gone = store->first;
        store->first = gone->next;
        free_leftover(store, &gone->leftover);
        free(gone);
    }
}

void store_release(struct store *store, const struct snapshot *snapshot)
{
    struct version *version = store->first;
    while (&version->snapshot != snapshot)
        version = version->next;
    version->holds--;
    free_unheld(store);
}

/* ---- changes ---- */

struct changes {
    const struct store_change *items; /* by namespace and name */
    size_t count;
};

typedef const struct object *object_function(const struct stored *kept);

static const struct object *readable_of(const struct stored *kept)
{
    return kept == NULL || kept->unreadable ? NULL : &kept->object;
}

static const struct object *unreadable_of(const struct stored *kept)
{
    return kept == NULL || !kept->unreadable ? NULL : &kept->object;
}

static int compare_changes(const void *a_pointer, const void *b_pointer)
{
    const struct store_change *a = a_pointer;
    const struct store_change *b = b_pointer;
    return compare_objects(a->after != NULL ? a->after : a->before,
                           b->after != NULL ? b->after : b->before);
}

static bool widen(struct store_change **changes, size_t capacity)
{
    struct store_change *wider = realloc(*changes, capacity * sizeof *wider);
    if (wider != NULL)
        *changes = wider;
    return wider != NULL;
}

static bool make_room(struct store *store)
{
    if (store->change_count <= store->change_capacity)
        return true;
    size_t capacity = 2 * store->change_count;
    if (!widen(&store->changes, capacity) || !widen(&store->injuries, capacity))
        return false;
    store->change_capacity = capacity;
    return true;
}

/* The changes of the objects that object_of returns; of_kind: the part of each kind. Returns their
 * number. */
static size_t collect_changes(struct store *store, object_function *object_of,
                              struct store_change *changes,
                              struct changes of_kind[static KIND_COUNT])
{
    size_t count = 0;
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        const struct entries *entries = &store->kinds[kind];
        size_t begin = count;
        for (size_t i = 0; i < entries->touched_count; i++) {
            const struct entry *entry = entries->touched[i];
            const struct store_change change = {(enum kind)kind, object_of(entry->version),
                                                object_of(entry->now)};
            if (change.before != change.after)
                changes[count++] = change;
        }
        of_kind[kind] = (struct changes){changes + begin, count - begin};
        if (count > begin)
            qsort(changes + begin, count - begin, sizeof *changes, compare_changes);
    }
    return count;
}

/* The differences from the last version, by kind. */
struct difference {
    struct changes readable[KIND_COUNT], unreadable[KIND_COUNT];
};

/* ---- the next version ---- */

typedef bool takes_function(const struct object *object);

static bool takes_all(const struct object *object)
{
    (void)object;
    return true;
}

static bool is_affected(const struct changes *changes, takes_function *takes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct store_change *change = &changes->items[i];
        if ((change->before != NULL && takes(change->before)) ||
            (change->after != NULL && takes(change->after)))
            return true;
    }
    return false;
}

static size_t append(struct list_block *block, size_t count, const struct object *const *items,
                     size_t item_count)
{
    if (item_count > 0)
        memcpy(&block->items[count], items, item_count * sizeof(*items));
    return count + item_count;
}

/* The list with the changes applied, of the objects that object_of returns. False: malloc failed.
 */
static bool merge(struct object_list old, const struct changes *changes, takes_function *takes,
                  struct list_block **block, struct object_list *list)
{
    struct list_block *merged =
        malloc(sizeof *merged + (old.count + changes->count) * sizeof(struct object *));
    if (merged == NULL)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < changes->count; i++) {
        const struct store_change *change = &changes->items[i];
        const struct object *named = change->after != NULL ? change->after : change->before;
        size_t at = object_list_search(old, named->namespace, named->name);
        count = append(merged, count, old.items, at);
        if (change->after != NULL && takes(change->after))
            merged->items[count++] = change->after;
        at += at < old.count && old.items[at] == change->before ? 1 : 0;
        old = (struct object_list){old.items + at, old.count - at};
    }
    count = append(merged, count, old.items, old.count);
    merged->next = NULL;
    *block = merged;
    *list = (struct object_list){merged->items, count};
    return true;
}

struct part_making {
    struct snapshot *snapshot;
    struct arena *arena;
    void (*read)(struct snapshot *snapshot, struct arena *arena);
};
static const struct {
    enum kind kind;
    void (*read)(struct snapshot *snapshot, struct arena *arena);
} parts[PART_COUNT] = {
    [PART_POOLS] = {KIND_NODE_POOL, snapshot_read_pools},
    [PART_NODE_ZONES] = {KIND_NODE, snapshot_read_node_zones},
    [PART_NODE_LABELS] = {KIND_NODE, snapshot_read_node_labels},
    [PART_AUTOSCALERS] = {KIND_HORIZONTAL_POD_AUTOSCALER, snapshot_read_autoscalers},
};

static void make_part_body(void *context)
{
    const struct part_making *making = context;
    making->read(making->snapshot, making->arena);
}

static bool make_part(struct version *version, size_t part)
{
    struct arena *arena = arena_create(SIZE_MAX);
    struct part_making making = {&version->snapshot, arena, parts[part].read};
    struct error error;
    version->parts[part] = arena;
    return arena != NULL && arena_guard(arena, make_part_body, &making, &error);
}

/* Frees what next has and last has not. */
static void discard(struct version *next, const struct version *last)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (next->kinds[i] != last->kinds[i])
            free(next->kinds[i]);
        if (next->unreadable[i] != last->unreadable[i])
            free(next->unreadable[i]);
    }
    for (size_t i = 0; i < PICK_COUNT; i++)
        if (next->picks[i] != last->picks[i])
            free(next->picks[i]);
    for (size_t i = 0; i < PART_COUNT; i++)
        if (next->parts[i] != last->parts[i])
            arena_destroy(next->parts[i]);
    free(next);
}

/* False: malloc failed. */
static bool fill_kinds(struct changes of_kind[static KIND_COUNT],
                       struct list_block *blocks[static KIND_COUNT],
                       struct object_list lists[static KIND_COUNT])
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (of_kind[i].count > 0 && !merge(lists[i], &of_kind[i], takes_all, &blocks[i], &lists[i]))
            return false;
    return true;
}

static bool fill(struct version *next, struct difference *difference)
{
    struct snapshot *snapshot = &next->snapshot;
    struct changes *of_kind = difference->readable;
    if (!fill_kinds(of_kind, next->kinds, snapshot->kinds) ||
        !fill_kinds(difference->unreadable, next->unreadable, snapshot->unreadable))
        return false;
    for (size_t i = 0; i < PICK_COUNT; i++) {
        const struct pick *pick = &snapshot_picks[i];
        if (is_affected(&of_kind[pick->kind], pick->takes) &&
            !merge(snapshot->picks[i], &of_kind[pick->kind], pick->takes, &next->picks[i],
                   &snapshot->picks[i]))
            return false;
    }
    for (size_t i = 0; i < PART_COUNT; i++)
        if (of_kind[parts[i].kind].count > 0 && !make_part(next, i))
            return false;
    return true;
}

/* NULL: malloc failed. */
static struct version *make_next(const struct version *last, struct difference *difference)
{
    struct version *next = malloc(sizeof *next);
    if (next == NULL)
        return NULL;
    *next = *last;
    next->holds = 0;
    if (!fill(next, difference)) {
        discard(next, last);
        return NULL;
    }
    return next;
}

/* ---- a new version ---- */

static void leave_block(struct leftover *leftover, struct list_block *old, struct list_block *new)
{
    if (old == new || old == NULL)
        return;
    old->next = leftover->blocks;
    leftover->blocks = old;
}

/* The objects of the entries become those of the last version. */
static void settle_entries(struct leftover *leftover, struct entries *entries)
{
    for (size_t i = 0; i < entries->touched_count; i++) {
        struct entry *entry = entries->touched[i];
        entry->touched = false;
        if (entry->version != entry->now && entry->version != NULL) {
            entry->version->next = leftover->objects;
            leftover->objects = entry->version;
        }
        entry->version = entry->now;
        if (entry->now == NULL)
            entry_forget(entries, entry);
    }
    entries->touched_count = 0;
}

static void step_to(struct store *store, struct version *next)
{
    struct version *last = store->last;
    struct leftover *leftover = &last->leftover;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        leave_block(leftover, last->kinds[i], next->kinds[i]);
        leave_block(leftover, last->unreadable[i], next->unreadable[i]);
        settle_entries(leftover, &store->kinds[i]);
    }
    for (size_t i = 0; i < PICK_COUNT; i++)
        leave_block(leftover, last->picks[i], next->picks[i]);
    for (size_t i = 0; i < PART_COUNT; i++)
        if (last->parts[i] != next->parts[i])
            leftover->parts[i] = last->parts[i];
    last->next = next;
    store->last = next;
    store->change_count = 0;
}

const struct snapshot *store_version(struct store *store, struct store_changes *changes)
{
    struct difference difference;
    free_unheld(store);
    *changes = (struct store_changes){0};
    if (store->change_count > 0) {
        if (!make_room(store))
            return NULL;
        size_t count = collect_changes(store, readable_of, store->changes, difference.readable);
        collect_changes(store, unreadable_of, store->injuries, difference.unreadable);
        struct version *next = make_next(store->last, &difference);
        if (next == NULL)
            return NULL;
        *changes = (struct store_changes){store->changes, count};
        step_to(store, next);
    } else {
        for (size_t i = 0; i < KIND_COUNT; i++)
            settle_entries(&store->last->leftover,
                           &store->kinds[i]); /* objects that came and went since then */
    }
    store->last->holds++;
    return &store->last->snapshot;
}
