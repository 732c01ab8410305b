#include "server/lookout.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/snapshot.h"
#include "pinning/places.h"
#include "pinning/warm.h"

enum {
    /* So long the first look waits for kinds that fail, and /readyz for the first look. */
    FIRST_LOOK_MS = 10 * 1000,
    GATHER_MS = 1,
    TICK_MS = 1000,
    PLACES_PAUSE = 20, /* times as long as places take to make they are left as they are */
    VOLUMES_STALE_MS = 60 * 1000,
    LACK_MS = 60 * 1000, /* between lists of what there was no room for */
    /* A watch is quiet when nothing changes; the API server's bookmarks come about each minute. */
    QUIET_WATCH_MS = 90 * 1000,
};

/* What a view stands on, until it is given back. */
struct shown {
    struct view view;
    struct lookout *lookout;
    struct shown *next;
};

/* Custom owners, watched as one of the kinds that are kept for them. */
struct owner_slot {
    uint64_t id;    /* 0: none */
    char name[128]; /* "Rollout.argoproj.io", for people */
};

struct lookout {
    struct lookout_options options;
    struct owner_slot owners[OWNER_KINDS_MAX];
    uint64_t owners_generation; /* of the rules that name them */
    int64_t followed_ms;        /* when they were last changed */
    uint64_t belief_generation; /* of the rules of which it was said who is believed */
    struct live *live;
    struct watch_sink keep;      /* what fills the live */
    struct warm *warm;           /* NULL: nobody wants offers */
    const struct places *places; /* of the last view; NULL: nobody asks */
    uint64_t places_generation;  /* of the rules whose catalogue they were made with */
    bool places_are_old;         /* something they stand on has changed since */
    int64_t places_made_ms, places_took_ms;
    const struct snapshot *shown; /* the last one that was published */
    struct rules *rules;          /* that the last view was made with, and holds; NULL: none */
    struct sight sight;           /* the last one published */
    bool resting;                 /* the next thing that is told wakes */
    bool due;                     /* a view must be made though no object has changed */
    bool visible;
    int64_t started_ms;
    int64_t gather_until_ms; /* 0: nothing has come */
    int64_t published_ms;    /* when the last view was */
    int64_t took_ms;         /* to make and publish it */
    int64_t told_ms;         /* when the board was written */
    int64_t filled_ms;       /* when what is lacking was last listed */
    uint64_t view_count;
    pthread_mutex_t gone_mutex;
    struct shown *gone; /* given back by any thread; released by the one that uses the live */
};

/* Those that a cluster without Karpenter does not have. */
#define KINDS_OPTIONAL \
    (KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE_CLAIM) | KIND_BIT(KIND_EC2_NODE_CLASS))
#define KINDS_VOLUMES (KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) | KIND_BIT(KIND_PERSISTENT_VOLUME))

kind_set lookout_kinds(void)
{
    return (KINDS_WORKLOADS & ~KIND_BIT(KIND_CUSTOM)) | KINDS_OPTIONAL | KINDS_VOLUMES |
           KIND_BIT(KIND_NODE) | KIND_BIT(KIND_NAMESPACE) | KIND_BIT(KIND_STORAGE_CLASS) |
           KIND_BIT(KIND_CSI_NODE) | KIND_BIT(KIND_POD_DISRUPTION_BUDGET) |
           KIND_BIT(KIND_LIMIT_RANGE);
}

/* With the custom owners of the rules in force. */
static kind_set kinds_of(const struct lookout *lookout)
{
    kind_set kinds = lookout_kinds();
    for (size_t i = 0; i < OWNER_KINDS_MAX; i++)
        if (lookout->owners[i].id != 0)
            kinds |= KIND_BIT(KIND_OWNER_FIRST + i);
    return kinds;
}

static const char *plural_of(const struct lookout *lookout, enum kind kind)
{
    return kind_is_custom_owner(kind) ? lookout->owners[kind - KIND_OWNER_FIRST].name
                                      : kind_table[kind].plural;
}

static bool is_in(kind_set kinds, enum kind kind)
{
    return (kinds & KIND_BIT(kind)) != 0;
}

/* ---- views that are given back ---- */

static void give_back(struct view *view)
{
    struct shown *shown = (struct shown *)view;
    struct lookout *lookout = shown->lookout;
    pthread_mutex_lock(&lookout->gone_mutex);
    shown->next = lookout->gone;
    lookout->gone = shown;
    pthread_mutex_unlock(&lookout->gone_mutex);
}

static void free_shown(struct shown *shown)
{
    live_release(shown->lookout->live, shown->view.snapshot);
    pin_offers_release(shown->view.offers);
    places_release(shown->view.places);
    free(shown);
}

static void free_gone(struct lookout *lookout)
{
    pthread_mutex_lock(&lookout->gone_mutex);
    struct shown *gone = lookout->gone;
    lookout->gone = NULL;
    pthread_mutex_unlock(&lookout->gone_mutex);
    while (gone != NULL) {
        struct shown *next = gone->next;
        free_shown(gone);
        gone = next;
    }
}

/* ---- a view ---- */

/* Without them a pod can go wherever a pool or a Node is for it. What is warm is dropped when
 * nobody wants it: then it has not seen all changes, and its catalogue goes with its rules. */
static const struct pin_offers *make_offers(struct lookout *lookout, const struct rules *rules,
                                            const struct snapshot *snapshot,
                                            const struct live_changes *changes)
{
    const struct rail *pin = rail_find(TEXT("zone-pin"));
    if (rules == NULL || !policy_set_uses(rules->world->policies, pin)) {
        warm_destroy(lookout->warm);
        lookout->warm = NULL;
        return NULL;
    }
    if (lookout->warm == NULL) {
        lookout->warm = warm_create();
        changes = NULL;
    }
    return lookout->warm == NULL
               ? NULL
               : warm_next(lookout->warm, snapshot, changes, rules->world->catalog,
                           policy_set_karpenter(rules->world->policies));
}

static bool change_pools(const struct live_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (is_in(KINDS_OPTIONAL & ~KIND_BIT(KIND_NODE_CLAIM), changes->items[i].kind))
            return true;
    return false;
}

static bool places_are_due(const struct lookout *lookout, int64_t now_ms)
{
    int64_t pause_ms = PLACES_PAUSE * lookout->places_took_ms;
    return lookout->places_are_old &&
           now_ms - lookout->places_made_ms >= (pause_ms > TICK_MS ? pause_ms : TICK_MS);
}

/* Most changes leave them as they are; what comes of Nodes and volumes, now and then, waits a
 * while: to look at every instance type takes longer than all the rest of a view. */
static const struct places *make_places(struct lookout *lookout, const struct rules *rules,
                                        const struct snapshot *snapshot,
                                        const struct live_changes *changes)
{
    const struct rail *placeable = rail_find(TEXT("placeable"));
    bool wanted = rules != NULL && policy_set_uses(rules->world->policies, placeable);
    int64_t now_ms = lookout->options.now_ms();
    lookout->places_are_old |= wanted && places_mind(changes);
    bool stays = wanted && lookout->places_generation == rules->world->generation &&
                 !change_pools(changes) && !places_are_due(lookout, now_ms);
    if (!stays) {
        places_release(lookout->places);
        lookout->places = wanted ? places_make(snapshot, rules->world->catalog,
                                               policy_set_karpenter(rules->world->policies))
                                 : NULL;
        lookout->places_generation = wanted ? rules->world->generation : 0;
        lookout->places_are_old = false;
        lookout->places_made_ms = lookout->options.now_ms();
        lookout->places_took_ms = lookout->places_made_ms - now_ms;
    }
    return places_hold(lookout->places);
}

/* False: memory ran out, and it must be tried again. */
static bool publish_view(struct lookout *lookout, struct rules *rules, const struct sight *sight)
{
    struct live_changes changes;
    struct shown *shown = malloc(sizeof *shown);
    const struct snapshot *version = shown == NULL ? NULL : live_version(lookout->live, &changes);
    if (version == NULL) {
        free(shown);
        return false;
    }
    *shown = (struct shown){
        .view = {.snapshot = version, .rules = rules, .give_back = give_back},
        .lookout = lookout,
    };
    shown->view.offers = make_offers(lookout, rules, version, &changes);
    shown->view.places = make_places(lookout, rules, version, &changes);
    if (!publisher_set_view(lookout->options.publisher, &shown->view, sight)) {
        free_shown(shown);
        return false;
    }
    lookout->rules = rules;
    lookout->shown = version;
    lookout->sight = *sight;
    lookout->view_count++;
    return true;
}

/* ---- what is told ---- */

static void wake(struct lookout *lookout)
{
    if (lookout->resting && lookout->options.wake != NULL)
        lookout->options.wake(lookout->options.context);
    lookout->resting = false;
}

static bool begin_list(void *context, enum kind kind)
{
    struct lookout *lookout = context;
    return lookout->keep.list_begin(lookout->keep.context, kind);
}

static bool end_list(void *context, enum kind kind)
{
    struct lookout *lookout = context;
    wake(lookout);
    malloc_trim(0); /* what the list took goes back to the system */
    return lookout->keep.list_end(lookout->keep.context, kind);
}

/* What cannot be read is said when that begins, and when it is over. */
static void say_reading(const struct lookout *lookout, const struct object *object, const char *why)
{
    char name[800];
    bool custom = kind_is_custom_owner(object->kind);
    snprintf(name, sizeof name, "%s %.*s%s%.*s",
             custom ? plural_of(lookout, object->kind) : kind_table[object->kind].name,
             TEXT_ARGS(object->namespace), object->namespace.size > 0 ? "/" : "",
             TEXT_ARGS(object->name));
    if (why != NULL)
        log_line(LOG_WARN, "cluster", name, why,
                 "cannot be read: what depends on it is not decided; the others of its kind are "
                 "seen");
    else
        log_line(LOG_INFO, "cluster", name, NULL, "can be read now");
}

static bool is_unreadable(const struct lookout *lookout, const struct object *object)
{
    return live_unreadable_count(lookout->live, object->kind) > 0 &&
           live_is_unreadable(lookout->live, object->kind, object->namespace, object->name);
}

static bool put(void *context, const struct object *object)
{
    struct lookout *lookout = context;
    wake(lookout);
    bool was = is_unreadable(lookout, object), lacked = live_lacks(lookout->live, object->kind);
    if (!lookout->keep.put(lookout->keep.context, object))
        return false;
    if (!lacked && live_lacks(lookout->live, object->kind))
        log_line(LOG_WARN, "cluster", plural_of(lookout, object->kind), NULL,
                 "there is no memory for all of them: what depends on the others is not decided; "
                 "raise the limit of memory");
    else if (was && !lacked)
        say_reading(lookout, object, NULL);
    return true;
}

static bool put_unreadable(void *context, const struct object *object, const char *why)
{
    struct lookout *lookout = context;
    wake(lookout);
    if (!is_unreadable(lookout, object))
        say_reading(lookout, object, why);
    return live_put_unreadable(lookout->live, object->kind, object->namespace, object->name);
}

static bool remove_object(void *context, const struct object *object)
{
    struct lookout *lookout = context;
    wake(lookout);
    return lookout->keep.remove(lookout->keep.context, object);
}

static void say(void *context, enum kind kind, enum log_level level, const char *message)
{
    struct lookout *lookout = context;
    wake(lookout);
    if (level == LOG_WARN)
        log_line(level, "cluster", plural_of(lookout, kind), message,
                 "cannot be listed or watched now; what is known of them stays, and they are asked "
                 "for again");
    else
        log_line(level, "cluster", plural_of(lookout, kind), NULL, "%s", message);
}

struct watch_sink lookout_sink(struct lookout *lookout)
{
    return (struct watch_sink){.context = lookout,
                               .list_begin = begin_list,
                               .list_end = end_list,
                               .put = put,
                               .put_unreadable = put_unreadable,
                               .remove = remove_object,
                               .say = say};
}

/* ---- what can be seen ---- */

/* A kind that is not there has no objects; one that may not be read may have any. */
static bool is_unseen(enum kind kind, const struct watch_report *report)
{
    bool missing = report->refused_status == 404 && is_in(KINDS_OPTIONAL, kind);
    return !report->synced && !missing;
}

static bool is_stale(const struct watch_report *report)
{
    return !report->synced ||
           report->age_ms > (report->watching ? QUIET_WATCH_MS : VOLUMES_STALE_MS);
}

/* It will not soon be otherwise. */
static bool is_settled(const struct watch_report *report)
{
    return report->synced || report->degraded;
}

/* What may no longer be listed is not seen: of owners that are gone nobody would hear. */
static struct seen_owners see_owners(const struct lookout *lookout,
                                     const struct watch_report reports[KIND_COUNT])
{
    struct seen_owners seen = {{0}};
    for (size_t i = 0; lookout->visible && i < OWNER_KINDS_MAX; i++) {
        enum kind kind = (enum kind)(KIND_OWNER_FIRST + i);
        if (reports[kind].synced && !reports[kind].degraded && !live_misses(lookout->live, kind))
            seen.ids[i] = lookout->owners[i].id;
    }
    return seen;
}

static struct sight see(const struct lookout *lookout,
                        const struct watch_report reports[KIND_COUNT])
{
    struct sight sight = {.owners = see_owners(lookout, reports)};
    for (enum kind kind = 0; kind < KIND_OWNER_FIRST; kind++) {
        if (is_in(lookout_kinds(), kind) && (!lookout->visible || is_unseen(kind, &reports[kind])))
            sight.unseen |= KIND_BIT(kind);
        if (live_misses(lookout->live, kind))
            sight.unseen |= KIND_BIT(kind);
        if (is_in(KINDS_VOLUMES, kind) && is_stale(&reports[kind]))
            sight.volumes_are_stale = true;
    }
    return sight;
}

/* Some of its objects came in a first list, and the rest may or may not come. True: no view can be
 * made of it. What a list that broke off has brought is dropped; the next begins anew. */
static bool is_half_listed(struct lookout *lookout, enum kind kind,
                           const struct watch_report *report)
{
    if (report->synced || live_count(lookout->live, kind) == 0)
        return false;
    if (report->listing)
        return true;
    live_list_begin(lookout->live, kind);
    return !live_list_end(lookout->live, kind);
}

static bool is_whole(struct lookout *lookout, const struct watch_report reports[KIND_COUNT])
{
    bool whole = true;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (is_in(lookout_kinds(), kind) && is_half_listed(lookout, kind, &reports[kind]))
            whole = false;
    return whole;
}

static bool is_ready_to_look(const struct lookout *lookout, int64_t now_ms,
                             const struct watch_report reports[KIND_COUNT])
{
    bool some = false, all = true;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        if (!is_in(kinds_of(lookout), kind))
            continue;
        some |= reports[kind].synced;
        all &= is_settled(&reports[kind]);
    }
    return some && (all || now_ms - lookout->started_ms >= FIRST_LOOK_MS);
}

/* ---- custom owners ---- */

static bool is_named(const struct custom_kinds *kinds, uint64_t id)
{
    for (size_t i = 0; i < kinds->count; i++)
        if (custom_kind_id(kinds->items[i].group, kinds->items[i].kind) == id)
            return true;
    return false;
}

/* The one that has the id; NULL: none. */
static struct owner_slot *slot_of(struct lookout *lookout, uint64_t id)
{
    for (size_t i = 0; i < OWNER_KINDS_MAX; i++)
        if (lookout->owners[i].id == id)
            return &lookout->owners[i];
    return NULL;
}

static enum kind kind_of_slot(const struct lookout *lookout, const struct owner_slot *slot)
{
    return (enum kind)(KIND_OWNER_FIRST + (slot - lookout->owners));
}

/* False: memory ran out. */
static bool leave(struct lookout *lookout, struct owner_slot *slot)
{
    const struct lookout_options *options = &lookout->options;
    enum kind kind = kind_of_slot(lookout, slot);
    bool done = options->watch_owners(options->context, kind, NULL);
    live_list_begin(lookout->live, kind);
    if (!done || !live_list_end(lookout->live, kind))
        return false;
    *slot = (struct owner_slot){.id = 0};
    return true;
}

/* Beyond as many as there are kinds kept for them they are not seen, and so believed. False: memory
 * ran out. */
static bool begin(struct lookout *lookout, const struct custom_kind *custom)
{
    const struct lookout_options *options = &lookout->options;
    uint64_t id = custom_kind_id(custom->group, custom->kind);
    struct owner_slot *slot = slot_of(lookout, 0);
    if (slot_of(lookout, id) != NULL || slot == NULL)
        return true;
    if (!options->watch_owners(options->context, kind_of_slot(lookout, slot), custom))
        return false;
    slot->id = id;
    snprintf(slot->name, sizeof slot->name, "%.*s.%.*s", TEXT_ARGS(custom->kind),
             TEXT_ARGS(custom->group));
    return true;
}

/* False: memory ran out. */
static bool follow(struct lookout *lookout, const struct custom_kinds *kinds)
{
    bool done = true;
    for (size_t i = 0; i < OWNER_KINDS_MAX; i++)
        if (lookout->owners[i].id != 0 && !is_named(kinds, lookout->owners[i].id))
            done &= leave(lookout, &lookout->owners[i]);
    for (size_t i = 0; i < kinds->count; i++)
        done &= begin(lookout, &kinds->items[i]);
    return done;
}

struct following {
    struct lookout *lookout;
    const struct policy_set *policies;
    struct arena *arena;
    bool done;
};

static void follow_body(void *context)
{
    struct following *following = context;
    struct custom_kinds kinds;
    policy_set_owner_kinds(following->policies, following->arena, &kinds);
    following->done = follow(following->lookout, &kinds);
}

void lookout_follow(struct lookout *lookout)
{
    enum { NAMES_BYTES = 1 << 20 };
    struct publisher *publisher = lookout->options.publisher;
    struct rules *rules = publisher_hold_rules(publisher);
    bool changed = rules != NULL && rules->world->generation != lookout->owners_generation;
    struct arena *arena = changed ? arena_create(NAMES_BYTES) : NULL;
    if (arena != NULL) {
        struct following following = {lookout, rules->world->policies, arena, false};
        struct error error;
        if (arena_guard(arena, follow_body, &following, &error) && following.done) {
            lookout->owners_generation = rules->world->generation;
            lookout->followed_ms = lookout->options.now_ms();
        }
        arena_destroy(arena);
    }
    publisher_release_rules(publisher, rules);
}

/* ---- steps ---- */

/* The names of the first that cannot be read, by the last view. */
static void name_unreadable(const struct lookout *lookout, enum kind kind,
                            struct kind_status *status)
{
    enum { NAMED_MAX = 5 };
    size_t size = 0, count = snapshot_unreadable_count(lookout->shown, kind);
    for (size_t i = 0; i < count && i < NAMED_MAX && size < sizeof status->unreadable; i++) {
        const struct object *object = snapshot_unreadable(lookout->shown, kind, i);
        int written = snprintf(status->unreadable + size, sizeof status->unreadable - size,
                               "%s%.*s%s%.*s", i == 0 ? "" : ", ", TEXT_ARGS(object->namespace),
                               object->namespace.size > 0 ? "/" : "", TEXT_ARGS(object->name));
        size += written > 0 ? (size_t)written : 0;
    }
    if (count > NAMED_MAX && size < sizeof status->unreadable)
        snprintf(status->unreadable + size, sizeof status->unreadable - size, ", ...");
}

static struct kind_status status_of(const struct lookout *lookout, enum kind kind,
                                    const struct watch_report *report)
{
    struct kind_status status = {.report = *report,
                                 .object_count = live_count(lookout->live, kind),
                                 .bytes = live_bytes(lookout->live, kind),
                                 .unreadable_count = live_unreadable_count(lookout->live, kind),
                                 .lacks = live_lacks(lookout->live, kind)};
    if (lookout->shown != NULL)
        name_unreadable(lookout, kind, &status);
    if (kind_is_custom_owner(kind))
        snprintf(status.custom, sizeof status.custom, "%s", plural_of(lookout, kind));
    return status;
}

/* What there was no room for comes by another list, once there is. */
static void list_what_lacks(struct lookout *lookout, int64_t now_ms)
{
    if (lookout->options.list_again == NULL || now_ms - lookout->filled_ms < LACK_MS)
        return;
    lookout->filled_ms = now_ms;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (live_lacks(lookout->live, kind) && live_has_room(lookout->live))
            lookout->options.list_again(lookout->options.context, kind);
}

static void tell_board(struct lookout *lookout, int64_t now_ms,
                       const struct watch_report reports[KIND_COUNT])
{
    struct cluster_status status = {
        .at_ms = now_ms,
        .kinds = kinds_of(lookout),
        .unseen = lookout->sight.unseen,
        .waiting = !lookout->visible && now_ms - lookout->started_ms < FIRST_LOOK_MS,
        .visible = lookout->visible,
        .volumes_are_stale = lookout->sight.volumes_are_stale,
        .view_count = lookout->view_count,
    };
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (is_in(status.kinds, kind))
            status.of[kind] = status_of(lookout, kind, &reports[kind]);
    board_set(lookout->options.board, &status);
    lookout->told_ms = now_ms;
}

/* Once the custom owners that rules name have been asked for. */
static bool is_belief_due(const struct lookout *lookout, const struct rules *rules, int64_t now_ms,
                          const struct watch_report reports[KIND_COUNT])
{
    bool settled = true;
    for (enum kind kind = KIND_OWNER_FIRST; kind <= KIND_OWNER_LAST; kind++)
        settled &= !is_in(kinds_of(lookout), kind) || is_settled(&reports[kind]);
    return lookout->visible && rules != NULL &&
           rules->world->generation == lookout->owners_generation &&
           lookout->belief_generation != lookout->owners_generation &&
           (settled || now_ms - lookout->followed_ms >= FIRST_LOOK_MS);
}

/* Of owners that cannot be seen `since` knows no more than what somebody wrote. */
static void log_belief(struct lookout *lookout, const struct rules *rules)
{
    enum { BELIEF_BYTES = 1 << 20 };
    struct arena *arena = arena_create(BELIEF_BYTES);
    if (arena == NULL)
        return;
    lookout->belief_generation = rules->world->generation;
    struct text kinds = policy_set_believed(rules->world->policies, lookout->sight.unseen,
                                            &lookout->sight.owners, arena);
    if (kinds.size > 0)
        log_line(LOG_WARN, "cluster", NULL, NULL,
                 "`since` rests on what authors write of owners that cannot be seen (%.*s): what "
                 "their controllers make counts as old",
                 TEXT_ARGS(kinds));
    arena_destroy(arena);
}

static void log_first_look(const struct lookout *lookout, int64_t now_ms)
{
    size_t count = 0;
    int64_t took_ms = now_ms - lookout->started_ms;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        count += live_count(lookout->live, kind);
        if (is_in(lookout->sight.unseen, kind))
            log_line(LOG_WARN, "cluster", kind_table[kind].plural, NULL,
                     "cannot be seen: what depends on them is not decided");
    }
    log_line(LOG_INFO, "cluster", NULL, NULL, "the cluster is visible: %zu objects in %lld.%03d s",
             count, (long long)took_ms / 1000, (int)(took_ms % 1000));
}

static void log_sight(const struct sight *before, const struct sight *now)
{
    if (now->volumes_are_stale && !before->volumes_are_stale)
        log_line(LOG_WARN, "cluster", NULL, NULL,
                 "claims or volumes are older than %d s: zone-pin requires no zone until they are "
                 "current again",
                 VOLUMES_STALE_MS / 1000);
    if (!now->volumes_are_stale && before->volumes_are_stale)
        log_line(LOG_INFO, "cluster", NULL, NULL, "claims and volumes are current");
}

static bool is_time_for_a_view(struct lookout *lookout, bool whole, int64_t now_ms)
{
    if (!lookout->visible || !whole || !live_has_changed(lookout->live)) {
        lookout->gather_until_ms = 0;
        return lookout->due && lookout->visible && whole;
    }
    if (lookout->gather_until_ms == 0)
        lookout->gather_until_ms =
            now_ms + (lookout->took_ms > GATHER_MS ? lookout->took_ms : GATHER_MS);
    return lookout->due || now_ms >= lookout->gather_until_ms;
}

/* False: memory ran out. */
static bool step(struct lookout *lookout, struct rules *rules, int64_t now_ms,
                 const struct watch_report reports[KIND_COUNT])
{
    bool whole = is_whole(lookout, reports);
    bool first = whole && !lookout->visible && is_ready_to_look(lookout, now_ms, reports);
    lookout->visible |= first;
    struct sight before = lookout->sight, sight = see(lookout, reports);
    lookout->due |= first || rules != lookout->rules; /* their catalogue makes other offers */
    lookout->due |= places_are_due(lookout, now_ms);
    /* Which they are belongs to the view that has them. */
    lookout->due |= memcmp(&sight.owners, &before.owners, sizeof before.owners) != 0;
    if (is_time_for_a_view(lookout, whole, now_ms)) {
        lookout->due = true;
        if (!publish_view(lookout, rules, &sight))
            return false;
        lookout->due = false;
        lookout->gather_until_ms = 0;
        lookout->published_ms = lookout->options.now_ms();
        lookout->took_ms = lookout->published_ms - now_ms;
    } else if (sight.unseen != before.unseen ||
               sight.volumes_are_stale != before.volumes_are_stale) {
        sight.owners = before.owners;
        if (!publisher_set_view(lookout->options.publisher, NULL, &sight))
            return false;
        lookout->sight = sight;
    }
    if (first)
        log_first_look(lookout, now_ms);
    else if (lookout->visible)
        log_sight(&before, &sight);
    if (is_belief_due(lookout, rules, now_ms, reports))
        log_belief(lookout, rules);
    return true;
}

int64_t lookout_step(struct lookout *lookout, const struct watch_report reports[KIND_COUNT])
{
    int64_t now_ms = lookout->options.now_ms();
    struct publisher *publisher = lookout->options.publisher;
    free_gone(lookout);
    struct rules *rules = publisher_hold_rules(publisher);
    bool visible = lookout->visible;
    bool done = step(lookout, rules, now_ms, reports);
    /* Behind a view that is published, and not while more is likely to come. */
    if (lookout->warm != NULL && lookout->gather_until_ms == 0 &&
        now_ms - lookout->published_ms >= TICK_MS)
        warm_tidy(lookout->warm, lookout->shown);
    publisher_release_rules(publisher, rules);
    list_what_lacks(lookout, now_ms);
    if (visible != lookout->visible || now_ms - lookout->told_ms >= TICK_MS)
        tell_board(lookout, now_ms, reports);
    lookout->resting = lookout->gather_until_ms == 0;
    int64_t wait_ms = lookout->gather_until_ms - lookout->options.now_ms();
    return !done || lookout->resting || wait_ms > TICK_MS ? TICK_MS : wait_ms > 0 ? wait_ms : 0;
}

/* ---- beginning and end ---- */

struct lookout *lookout_create(const struct lookout_options *options)
{
    struct lookout *lookout = calloc(1, sizeof *lookout);
    if (lookout == NULL)
        return NULL;
    lookout->options = *options;
    lookout->started_ms = lookout->told_ms = lookout->filled_ms = options->now_ms();
    lookout->resting = true;
    pthread_mutex_init(&lookout->gone_mutex, NULL);
    lookout->live = live_create();
    if (lookout->live == NULL) {
        lookout_destroy(lookout);
        return NULL;
    }
    lookout->keep = live_sink(lookout->live);
    if (options->view_bytes_max > 0)
        live_limit(lookout->live, options->view_bytes_max);
    return lookout;
}

bool lookout_begin(struct lookout *lookout)
{
    const struct sight nothing = {.unseen = lookout_kinds(), .volumes_are_stale = true};
    const struct watch_report reports[KIND_COUNT] = {0};
    tell_board(lookout, lookout->started_ms, reports);
    return publish_view(lookout, NULL, &nothing);
}

void lookout_destroy(struct lookout *lookout)
{
    if (lookout == NULL)
        return;
    free_gone(lookout);
    places_release(lookout->places);
    warm_destroy(lookout->warm);
    live_destroy(lookout->live);
    pthread_mutex_destroy(&lookout->gone_mutex);
    free(lookout);
}
