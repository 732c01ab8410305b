#include "server/lookout.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "kube/live.h"
#include "kube/places.h"
#include "kube/warm.h"

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

struct lookout {
    struct lookout_options options;
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
static void say_reading(const struct object *object, const char *why)
{
    char name[600];
    snprintf(name, sizeof name, "%s %.*s%s%.*s", kind_table[object->kind].name,
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
        log_line(LOG_WARN, "cluster", kind_table[object->kind].plural, NULL,
                 "there is no memory for all of them: what depends on the others is not decided; "
                 "raise the limit of memory");
    else if (was && !lacked)
        say_reading(object, NULL);
    return true;
}

static bool put_unreadable(void *context, const struct object *object, const char *why)
{
    struct lookout *lookout = context;
    wake(lookout);
    if (!is_unreadable(lookout, object))
        say_reading(object, why);
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
    wake(context);
    if (level == LOG_WARN)
        log_line(level, "cluster", kind_table[kind].plural, message,
                 "cannot be listed or watched now; what is known of them stays, and they are asked "
                 "for again");
    else
        log_line(level, "cluster", kind_table[kind].plural, NULL, "%s", message);
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

static struct sight see(const struct lookout *lookout,
                        const struct watch_report reports[KIND_COUNT])
{
    struct sight sight = {0};
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
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
        if (!is_in(lookout_kinds(), kind))
            continue;
        some |= reports[kind].synced;
        all &= reports[kind].synced || reports[kind].degraded;
    }
    return some && (all || now_ms - lookout->started_ms >= FIRST_LOOK_MS);
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
        .kinds = lookout_kinds(),
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

/* Of owners that cannot be seen `since` knows no more than what somebody wrote. */
static void log_belief(const struct lookout *lookout, const struct rules *rules)
{
    enum { BELIEF_BYTES = 64 << 10 };
    struct arena *arena = rules == NULL ? NULL : arena_create(BELIEF_BYTES);
    if (arena == NULL)
        return;
    struct text kinds =
        policy_set_believed(rules->world->policies, lookout->sight.unseen, false, arena);
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
        if (!publisher_set_view(lookout->options.publisher, NULL, &sight))
            return false;
        lookout->sight = sight;
    }
    if (first) {
        log_first_look(lookout, now_ms);
        log_belief(lookout, rules);
    } else if (lookout->visible) {
        log_sight(&before, &sight);
    }
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
