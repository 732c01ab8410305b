/* Which objects of a cluster are reported, and which findings of each. */
#include "cli/audit.h"
#include "kube/pod.h"
#include "kube/snapshot.h"

enum {
    LONGEST_CHAIN = 8, /* of owners */
    SCRATCH_BYTES = 256 << 20,
};

/* A mistake in an owner's template: the objects made of the template have it, too. */
struct told {
    const char *rail;
    struct text policy, found, path; /* path: finding_identity() */
    enum action action;              /* the worst that it reports */
};
struct told_list {
    struct told *items;
    size_t count, capacity;
};

struct item {
    const struct object *object;
    const struct item *owner; /* NULL: none is there */
    bool judged, left_out;
    struct told_list told; /* its own */
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

/* ---- objects that no longer count ---- */

static bool is_ended_job(const struct object *object)
{
    static const char *const ends[] = {"Complete", "Failed"};
    for (size_t i = 0; object->kind == KIND_JOB && i < COUNT_OF(ends); i++)
        if (text_is(node_string(node_get(object_condition(object, ends[i]), "status")), "True"))
            return true;
    return false;
}

/* An old revision for a rollback: nothing of it runs. */
static bool is_empty_revision(const struct object *object)
{
    int64_t replicas = 1;
    return object->kind == KIND_REPLICA_SET && object->controller.name.size > 0 &&
           node_integer(node_at(object->root->node, "spec.replicas"), &replicas) && replicas == 0;
}

static bool is_left_out(const struct object *object)
{
    return object->deleting || (object->kind == KIND_POD && pod_is_done(object)) ||
           is_ended_job(object) || is_empty_revision(object);
}

/* ---- judging ---- */

static bool is_told(const struct item *owner, const struct finding *finding, struct text path)
{
    for (int i = 0; owner != NULL && i < LONGEST_CHAIN; i++, owner = owner->owner)
        for (size_t j = 0; j < owner->told.count; j++) {
            const struct told *told = &owner->told.items[j];
            /* A template's field has the same end as the Pod's: ".spec.template" and
             * ".spec.nodeSelector". */
            if (told->action >= finding->action && text_equal(told->found, finding->found) &&
                text_ends_with(told->path, path) && text_equal(told->policy, finding->policy) &&
                text_equal(text_of(told->rail), text_of(finding->rail)))
                return true;
        }
    return false;
}

struct judging {
    const struct audit *audit;
    const struct item *item;
    struct arena *arena;
    struct verdict verdict;
    size_t new_count; /* findings that no owner has */
};

static void evaluate(void *argument)
{
    struct judging *judging = argument;
    const struct subject subject = {
        .operation = OPERATION_CREATE, .object = judging->item->object, .existing = true};
    struct verdict *verdict = &judging->verdict;
    policy_evaluate(judging->audit->world, &subject, judging->audit->now_unix_s, judging->arena,
                    verdict);
    for (size_t i = 0; i < verdict->finding_count; i++)
        judging->new_count += !is_told(judging->item->owner, &verdict->findings[i],
                                       finding_identity(&verdict->findings[i], judging->arena));
}

/* An object of a controller is not denied itself, whatever its pods would be. */
static bool is_made(const struct object *object)
{
    return (object->kind == KIND_REPLICA_SET || object->kind == KIND_JOB) &&
           object->controller.name.size > 0;
}

/* An object that makes others passes all of its mistakes on to them. */
static void take_verdict(const struct audit *audit, struct item *item,
                         const struct verdict *verdict)
{
    struct arena *arena = audit->arena;
    struct finding *findings = ARENA_ARRAY(arena, verdict->finding_count, struct finding);
    size_t count = 0;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const struct finding *finding = &verdict->findings[i];
        struct text path = finding_identity(finding, arena);
        if (is_told(item->owner, finding, path))
            continue;
        findings[count++] = *finding;
        if (finding->action > item->verdict.action && !finding->undecided)
            item->verdict.action = finding->action;
        if (item->object->kind != KIND_POD)
            *LIST_PUSH(arena, &item->told) =
                (struct told){finding->rail, finding->policy, finding->found, path,
                              is_made(item->object) ? ACTION_DENY : finding->action};
    }
    item->verdict.findings = findings;
    item->verdict.finding_count = count;
}

/* Most objects have no findings of their own: their memory is used again. */
static void judge(const struct audit *audit, struct item *item)
{
    struct judging judging = {audit, item, audit->scratch, {0}, 0};
    struct error error;
    arena_reset(audit->scratch);
    if (!arena_guard(audit->scratch, evaluate, &judging, &error)) {
        struct text name = object_display_name(item->object, audit->arena);
        problems_add(audit->problems, error.kind, NOWHERE, "%.*s %.*s in %.*s cannot be judged: %s",
                     TEXT_ARGS(item->object->kind_name), TEXT_ARGS(name),
                     TEXT_ARGS(item->object->namespace), error.what);
        return;
    }
    if (judging.new_count == 0)
        return;
    judging.arena = audit->arena;
    evaluate(&judging);
    take_verdict(audit, item, &judging.verdict);
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
        at->owner = owner;
        at = owner;
    }
    while (length > 0) {
        struct item *at = chain[--length];
        at->left_out = is_left_out(at->object);
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
                 int64_t now_unix_s, struct arena *arena, struct report *report,
                 struct problems *problems)
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
        judge_with_owners(&audit, item);
        if (!item->left_out)
            entries[report->entry_count++] = (struct report_entry){item->object, item->verdict};
    }
    report_say_once(entries, report->entry_count, arena);
    report->entries = entries;
    arena_destroy(audit.scratch);
}
