/* Which objects of a cluster are reported, and which findings of each. */
#include "cli/audit.h"
#include "kube/snapshot.h"
#include "policy/existing.h"

enum {
    LONGEST_CHAIN = 8, /* of owners */
    SCRATCH_BYTES = 256 << 20,
};

struct item {
    const struct object *object;
    struct existing existing;
    bool judged, left_out;
    struct verdict verdict;
};

struct audit {
    const struct world *world;
    int64_t now_unix_s;
    struct arena *arena, *scratch;
    struct problems *problems;
    struct item *items;
    size_t count;
    size_t first[KIND_COUNT]; /* of the kind's items; customs are of KIND_UNKNOWN */
};

/* ---- owners ---- */

static struct item *find_custom(const struct audit *audit, const struct object *object)
{
    const struct owner *owner = &object->controller;
    for (size_t i = audit->first[KIND_UNKNOWN]; i < audit->count; i++) {
        const struct object *custom = audit->items[i].object;
        if (text_equal(custom->name, owner->name) &&
            text_equal(custom->namespace, object->namespace) &&
            text_equal(custom->kind_name, owner->kind) &&
            text_equal(custom->api_version, owner->api_version))
            return &audit->items[i];
    }
    return NULL;
}

static struct item *find_owner(const struct audit *audit, const struct object *object)
{
    const struct owner *owner = &object->controller;
    if (owner->name.size == 0)
        return NULL;
    enum kind kind = kind_of(owner->api_version, owner->kind);
    struct item *found = NULL;
    if (kind == KIND_UNKNOWN) {
        found = find_custom(audit, object);
    } else {
        const struct snapshot *snapshot = audit->world->snapshot;
        size_t index =
            snapshot_index(snapshot, kind,
                           kind_table[kind].namespaced ? object->namespace : TEXT(""), owner->name);
        if (index < snapshot_count(snapshot, kind))
            found = &audit->items[audit->first[kind] + index];
    }
    return found != NULL && uids_agree(found->object->uid, owner->uid) ? found : NULL;
}

/* ---- judging ---- */

struct judging {
    const struct audit *audit;
    const struct item *item;
    struct verdict verdict;
};

static void judge_in_scratch(void *argument)
{
    struct judging *judging = argument;
    const struct audit *audit = judging->audit;
    const struct item *item = judging->item;
    judging->verdict = existing_judge(audit->world, item->object, item->existing.owner,
                                      audit->now_unix_s, audit->scratch);
}

/* Most objects have no findings of their own: their memory is used again. */
static void judge(const struct audit *audit, struct item *item)
{
    struct judging judging = {audit, item, {0}};
    struct error error;
    arena_reset(audit->scratch);
    if (!arena_guard(audit->scratch, judge_in_scratch, &judging, &error)) {
        struct text name = object_display_name(item->object, audit->arena);
        problems_add(audit->problems, error.kind, NOWHERE, "%.*s %.*s in %.*s cannot be judged: %s",
                     TEXT_ARGS(item->object->kind_name), TEXT_ARGS(name),
                     TEXT_ARGS(item->object->namespace), error.what);
        return;
    }
    if (judging.verdict.finding_count == 0)
        return;
    item->verdict = existing_judge(audit->world, item->object, item->existing.owner,
                                   audit->now_unix_s, audit->arena);
    if (item->object->kind != KIND_POD)
        existing_tell(&item->existing, item->object, &item->verdict, audit->arena);
}

/* Judges the owners first. Chains have a maximum length, because they may be circles. */
static void judge_with_owners(const struct audit *audit, struct item *item)
{
    struct item *chain[LONGEST_CHAIN];
    size_t length = 0;
    for (struct item *at = item; at != NULL && !at->judged && length < LONGEST_CHAIN;) {
        at->judged = true;
        chain[length++] = at;
        struct item *owner = find_owner(audit, at->object);
        at->existing.owner = owner == NULL ? NULL : &owner->existing;
        at = owner;
    }
    while (length > 0) {
        struct item *at = chain[--length];
        at->left_out = existing_is_left_out(at->object);
        if (!at->left_out || at->object->kind != KIND_POD)
            judge(audit, at);
    }
}

static void list_items(struct audit *audit, const struct object *const *custom, size_t custom_count)
{
    const struct snapshot *snapshot = audit->world->snapshot;
    size_t count = custom_count, next = 0;
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        count += snapshot_count(snapshot, kind);
    audit->items = ARENA_ARRAY(audit->arena, count, struct item);
    audit->count = count;
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++) {
        audit->first[kind] = next;
        for (size_t i = 0; i < snapshot_count(snapshot, kind); i++)
            audit->items[next++].object = snapshot_object(snapshot, kind, i);
    }
    audit->first[KIND_UNKNOWN] = next;
    for (size_t i = 0; i < custom_count; i++)
        audit->items[next++].object = custom[i];
}

void audit_judge(const struct world *world, const struct object *const *custom, size_t custom_count,
                 struct text namespace, int64_t now_unix_s, struct arena *arena,
                 struct report *report, struct problems *problems)
{
    struct audit audit = {
        .world = world,
        .now_unix_s = now_unix_s,
        .arena = arena,
        .scratch = arena_create(SCRATCH_BYTES),
        .problems = problems,
    };
    if (audit.scratch == NULL) {
        problems_add(problems, ERROR_MEMORY, NOWHERE, "no memory to judge anything");
        return;
    }
    list_items(&audit, custom, custom_count);
    struct report_entry *entries = ARENA_ARRAY(arena, audit.count, struct report_entry);
    for (size_t i = 0; i < audit.count; i++) {
        struct item *item = &audit.items[i];
        if (namespace.size > 0 && !text_equal(item->object->namespace, namespace))
            continue;
        judge_with_owners(&audit, item);
        if (!item->left_out)
            entries[report->entry_count++] = (struct report_entry){item->object, item->verdict};
    }
    report->entries = entries;
    arena_destroy(audit.scratch);
}
