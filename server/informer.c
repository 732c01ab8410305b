/* Stores a cluster, and publishes views of it. */
#include "server/informer.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/snapshot.h"
#include "simulation/supply.h"

enum {
    /* How long the first look waits for kinds that fail, and /readyz for the first look. */
    FIRST_LOOK_MS = 10 * 1000,
    GATHER_MS = 1,
    TICK_MS = 1000,
    /* The pause after a supply: this many times as long as it took to make, and at least the time
     * below. */
    SUPPLY_PAUSE = 2,
    SUPPLY_PAUSE_MS = 50,
    VOLUMES_STALE_MS = 60 * 1000,
    LACK_MS = 60 * 1000,     /* between lists of objects without room */
    LOST_MS = 5 * 60 * 1000, /* after so long what was seen of a kind is no basis for a denial */
    /* A watch is quiet when nothing changes; the API server's bookmarks come about each minute. */
    QUIET_WATCH_MS = 90 * 1000,
    VOLUMES_QUIET_MS = 75 * 1000, /* later than a bookmark, and before they are stale */
};

/* The memory of a view, until it is given back. */
struct published_view {
    struct cluster_view view;
    struct informer *informer;
    struct published_view *next;
};

/* Custom owners, watched as one of the kinds that are reserved for them. */
struct owner_slot {
    uint64_t id;    /* 0: none */
    char name[128]; /* "Rollout.argoproj.io", for people */
};

struct informer {
    struct informer_options options;
    struct owner_slot owners[OWNER_KINDS_MAX];
    uint64_t owners_generation; /* of the rules that name them */
    int64_t followed_ms;        /* when the owners were last changed */
    uint64_t belief_generation; /* of the rules for which the log said which owners are believed */
    struct store *store;
    struct event_handler keep;   /* the handler that fills the store */
    const struct supply *supply; /* of the last view; NULL: nothing needs it */
    uint64_t supply_generation;  /* of the rules whose catalogue it uses; 0: none */
    bool supply_is_old;          /* something it depends on has changed since */
    int64_t supply_made_ms, supply_took_ms;
    const struct snapshot *shown;  /* the last published one */
    struct loaded_policies *rules; /* the rules of the last view, held; NULL: none */
    struct visibility visibility;  /* the last published one */
    bool resting;                  /* the next event wakes */
    bool due;                      /* a view must be made even if no object has changed */
    bool visible;
    int64_t started_ms;
    int64_t gather_until_ms; /* 0: no event has come */
    int64_t published_ms;    /* when the last view was published */
    int64_t took_ms;         /* the time to make and publish it */
    int64_t told_ms;         /* when the status was written */
    int64_t filled_ms;       /* when missing objects were last listed */
    uint64_t view_count;
    pthread_mutex_t gone_mutex;
    struct published_view
        *gone; /* given back by any thread; released by the one that uses the store */
};

#define KINDS_VOLUMES (KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) | KIND_BIT(KIND_PERSISTENT_VOLUME))

static bool is_in(kind_set kinds, enum kind kind)
{
    return (kinds & KIND_BIT(kind)) != 0;
}

kind_set informer_kinds(void)
{
    return (KINDS_WORKLOADS & ~KIND_BIT(KIND_CUSTOM)) | KINDS_OPTIONAL | KINDS_VOLUMES |
           KIND_BIT(KIND_NODE) | KIND_BIT(KIND_NAMESPACE) | KIND_BIT(KIND_STORAGE_CLASS) |
           KIND_BIT(KIND_CSI_NODE) | KIND_BIT(KIND_POD_DISRUPTION_BUDGET) |
           KIND_BIT(KIND_LIMIT_RANGE) | KIND_BIT(KIND_POD_TEMPLATE) |
           KIND_BIT(KIND_HORIZONTAL_POD_AUTOSCALER) | KIND_BIT(KIND_PRIORITY_CLASS);
}

int64_t informer_quiet_ms(enum kind kind)
{
    return is_in(KINDS_VOLUMES, kind) ? VOLUMES_QUIET_MS : 0;
}

/* Including the custom owners of the rules in force. */
static kind_set kinds_of(const struct informer *informer)
{
    kind_set kinds = informer_kinds();
    for (size_t i = 0; i < OWNER_KINDS_MAX; i++)
        if (informer->owners[i].id != 0)
            kinds |= KIND_BIT(KIND_OWNER_FIRST + i);
    return kinds;
}

static const char *plural_of(const struct informer *informer, enum kind kind)
{
    return kind_is_custom_owner(kind) ? informer->owners[kind - KIND_OWNER_FIRST].name
                                      : kind_table[kind].plural;
}

/* ---- views that are given back ---- */

static void give_back(struct cluster_view *view)
{
    struct published_view *shown = (struct published_view *)view;
    struct informer *informer = shown->informer;
    pthread_mutex_lock(&informer->gone_mutex);
    shown->next = informer->gone;
    informer->gone = shown;
    pthread_mutex_unlock(&informer->gone_mutex);
}

static void free_shown(struct published_view *shown)
{
    store_release(shown->informer->store, shown->view.snapshot);
    supply_release(shown->view.supply);
    free(shown);
}

static void free_gone(struct informer *informer)
{
    pthread_mutex_lock(&informer->gone_mutex);
    struct published_view *gone = informer->gone;
    informer->gone = NULL;
    pthread_mutex_unlock(&informer->gone_mutex);
    while (gone != NULL) {
        struct published_view *next = gone->next;
        free_shown(gone);
        gone = next;
    }
}

/* ---- a view ---- */

static bool changes_mind(const struct supply *supply, const struct snapshot *snapshot,
                         const struct store_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct store_change *change = &changes->items[i];
        if (supply == NULL ||
            supply_depends_on(supply, snapshot, change->kind, change->before, change->after))
            return true;
    }
    return false;
}

static int64_t supply_due_ms(const struct informer *informer)
{
    int64_t pause_ms = SUPPLY_PAUSE * informer->supply_took_ms;
    return informer->supply_made_ms + (pause_ms > SUPPLY_PAUSE_MS ? pause_ms : SUPPLY_PAUSE_MS);
}

static bool supply_is_due(const struct informer *informer, int64_t now_ms)
{
    return informer->supply_is_old && now_ms >= supply_due_ms(informer);
}

/* Most changes leave it as it is. While Nodes change all the time it is made only now and then:
 * looking at every instance type takes longer than the rest of a view. */
static const struct supply *make_supply(struct informer *informer,
                                        const struct loaded_policies *rules,
                                        const struct snapshot *snapshot,
                                        const struct store_changes *changes)
{
    bool wanted = rules != NULL && policy_set_asks_supply(rules->world->policies);
    int64_t now_ms = informer->options.now_ms();
    informer->supply_is_old |= wanted && changes_mind(informer->supply, snapshot, changes);
    bool stays = wanted && informer->supply_generation == rules->world->generation &&
                 !supply_is_due(informer, now_ms);
    if (!stays) {
        supply_release(informer->supply);
        informer->supply = wanted ? supply_create(snapshot, rules->world->catalog,
                                                  policy_set_karpenter(rules->world->policies),
                                                  policy_set_plans(rules->world->policies))
                                  : NULL;
        informer->supply_generation = wanted ? rules->world->generation : 0;
        informer->supply_is_old = false;
        informer->supply_made_ms = informer->options.now_ms();
        informer->supply_took_ms = informer->supply_made_ms - now_ms;
    }
    return supply_hold(informer->supply);
}

/* False: memory ran out; try again. */
static bool publish_view(struct informer *informer, struct loaded_policies *rules,
                         const struct visibility *visibility)
{
    struct store_changes changes;
    struct published_view *shown = malloc(sizeof *shown);
    const struct snapshot *version =
        shown == NULL ? NULL : store_version(informer->store, &changes);
    if (version == NULL) {
        free(shown);
        return false;
    }
    *shown = (struct published_view){
        .view = {.snapshot = version, .rules = rules, .give_back = give_back},
        .informer = informer,
    };
    shown->view.supply = make_supply(informer, rules, version, &changes);
    if (!publisher_set_view(informer->options.publisher, &shown->view, visibility)) {
        free_shown(shown);
        return false;
    }
    informer->rules = rules;
    informer->shown = version;
    informer->visibility = *visibility;
    informer->view_count++;
    return true;
}

/* ---- events ---- */

static void wake(struct informer *informer)
{
    if (informer->resting && informer->options.wake != NULL)
        informer->options.wake(informer->options.context);
    informer->resting = false;
}

static bool begin_list(void *context, enum kind kind)
{
    struct informer *informer = context;
    return informer->keep.list_begin(informer->keep.context, kind);
}

static bool end_list(void *context, enum kind kind)
{
    struct informer *informer = context;
    wake(informer);
    malloc_trim(0); /* gives the list's memory back to the system */
    return informer->keep.list_end(informer->keep.context, kind);
}

/* Logs when something becomes unreadable, and when it is readable again. */
static void say_reading(const struct informer *informer, const struct object *object,
                        const char *why)
{
    char name[800];
    bool custom = kind_is_custom_owner(object->kind);
    snprintf(name, sizeof name, "%s %.*s%s%.*s",
             custom ? plural_of(informer, object->kind) : kind_table[object->kind].name,
             TEXT_ARGS(object->namespace), object->namespace.size > 0 ? "/" : "",
             TEXT_ARGS(object->name));
    if (why != NULL)
        log_line(LOG_WARN, "cluster", name, why,
                 "cannot be read: what depends on it is not decided; the others of its kind are "
                 "seen");
    else
        log_line(LOG_INFO, "cluster", name, NULL, "can be read now");
}

static bool is_unreadable(const struct informer *informer, const struct object *object)
{
    return store_unreadable_count(informer->store, object->kind) > 0 &&
           store_is_unreadable(informer->store, object->kind, object->namespace, object->name);
}

static bool put(void *context, const struct object *object)
{
    struct informer *informer = context;
    wake(informer);
    bool was = is_unreadable(informer, object), lacked = store_lacks(informer->store, object->kind);
    if (!informer->keep.put(informer->keep.context, object))
        return false;
    if (!lacked && store_lacks(informer->store, object->kind))
        log_line(LOG_WARN, "cluster", plural_of(informer, object->kind), NULL,
                 "there is no memory for all of them: what depends on the others is not decided; "
                 "raise the limit of memory");
    else if (was && !lacked)
        say_reading(informer, object, NULL);
    return true;
}

static bool put_unreadable(void *context, const struct object *object, const char *why)
{
    struct informer *informer = context;
    wake(informer);
    if (!is_unreadable(informer, object))
        say_reading(informer, object, why);
    return store_put_unreadable(informer->store, object->kind, object->namespace, object->name);
}

static bool remove_object(void *context, const struct object *object)
{
    struct informer *informer = context;
    wake(informer);
    return informer->keep.remove(informer->keep.context, object);
}

static void say(void *context, enum kind kind, enum log_level level, const char *message)
{
    struct informer *informer = context;
    wake(informer);
    if (level == LOG_WARN)
        log_line(level, "cluster", plural_of(informer, kind), message,
                 "cannot be listed or watched now; what is known of them stays, and they are asked "
                 "for again");
    else
        log_line(level, "cluster", plural_of(informer, kind), NULL, "%s", message);
}

struct event_handler informer_handler(struct informer *informer)
{
    return (struct event_handler){.context = informer,
                                  .list_begin = begin_list,
                                  .list_end = end_list,
                                  .put = put,
                                  .put_unreadable = put_unreadable,
                                  .remove = remove_object,
                                  .say = say};
}

/* ---- visibility ---- */

/* It was listed, and has been refused for long. */
static bool is_lost(const struct watch_report *report)
{
    return report->synced && report->degraded && report->age_ms > LOST_MS;
}

/* A kind that does not exist has no objects; one that may not be read may have any. */
static bool is_missing(enum kind kind, const struct watch_report *report)
{
    return report->refused_status == 404 && is_in(KINDS_OPTIONAL, kind);
}

static bool is_unseen(enum kind kind, const struct watch_report *report)
{
    return (is_lost(report) || !report->synced) && !is_missing(kind, report);
}

static bool is_stale(const struct watch_report *report)
{
    return !report->synced ||
           report->age_ms > (report->watching ? QUIET_WATCH_MS : VOLUMES_STALE_MS);
}

/* The state will not change soon. */
static bool is_settled(const struct watch_report *report)
{
    return report->synced || report->degraded;
}

/* A kind that may no longer be listed is not seen, because nobody would notice that an owner is
 * gone. */
static struct seen_owners see_owners(const struct informer *informer,
                                     const struct watch_report reports[KIND_COUNT])
{
    struct seen_owners seen = {{0}};
    for (size_t i = 0; informer->visible && i < OWNER_KINDS_MAX; i++) {
        enum kind kind = (enum kind)(KIND_OWNER_FIRST + i);
        if (reports[kind].synced && !reports[kind].degraded && !store_misses(informer->store, kind))
            seen.ids[i] = informer->owners[i].id;
    }
    return seen;
}

static struct visibility see(const struct informer *informer,
                             const struct watch_report reports[KIND_COUNT])
{
    struct visibility visibility = {.owners = see_owners(informer, reports)};
    for (enum kind kind = 0; kind < KIND_OWNER_FIRST; kind++) {
        if (is_in(informer_kinds(), kind) &&
            (!informer->visible || is_unseen(kind, &reports[kind])))
            visibility.unseen |= KIND_BIT(kind);
        if (store_misses(informer->store, kind))
            visibility.unseen |= KIND_BIT(kind);
        if (is_in(KINDS_VOLUMES, kind) && is_stale(&reports[kind]))
            visibility.volumes_are_stale = true;
    }
    return visibility;
}

/* Some of its objects came in a first list, and the rest may or may not come. True: no view can be
 * made. Objects of a list that broke off are dropped, and those of a kind that is lost; the next
 * list begins anew. */
static bool is_half_listed(struct informer *informer, enum kind kind,
                           const struct watch_report *report)
{
    bool known = report->synced && !is_lost(report);
    if (known || store_count(informer->store, kind) == 0)
        return false;
    if (report->listing)
        return true;
    store_list_begin(informer->store, kind);
    return !store_list_end(informer->store, kind);
}

static bool is_whole(struct informer *informer, const struct watch_report reports[KIND_COUNT])
{
    bool whole = true;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (is_in(informer_kinds(), kind) && is_half_listed(informer, kind, &reports[kind]))
            whole = false;
    return whole;
}

static bool is_ready_to_look(const struct informer *informer, int64_t now_ms,
                             const struct watch_report reports[KIND_COUNT])
{
    bool some = false, all = true;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        if (!is_in(kinds_of(informer), kind))
            continue;
        some |= reports[kind].synced;
        all &= is_settled(&reports[kind]);
    }
    return some && (all || now_ms - informer->started_ms >= FIRST_LOOK_MS);
}

/* ---- custom owners ---- */

static bool is_named(const struct custom_kinds *kinds, uint64_t id)
{
    for (size_t i = 0; i < kinds->count; i++)
        if (custom_kind_id(kinds->items[i].group, kinds->items[i].kind) == id)
            return true;
    return false;
}

/* The slot with the id; NULL: none. */
static struct owner_slot *slot_of(struct informer *informer, uint64_t id)
{
    for (size_t i = 0; i < OWNER_KINDS_MAX; i++)
        if (informer->owners[i].id == id)
            return &informer->owners[i];
    return NULL;
}

static enum kind kind_of_slot(const struct informer *informer, const struct owner_slot *slot)
{
    return (enum kind)(KIND_OWNER_FIRST + (slot - informer->owners));
}

/* False: memory ran out. */
static bool leave(struct informer *informer, struct owner_slot *slot)
{
    const struct informer_options *options = &informer->options;
    enum kind kind = kind_of_slot(informer, slot);
    bool done = options->watch_owners(options->context, kind, NULL);
    store_list_begin(informer->store, kind);
    if (!done || !store_list_end(informer->store, kind))
        return false;
    *slot = (struct owner_slot){.id = 0};
    return true;
}

/* Without a free kind the owners are not seen, and so believed. False: memory ran out. */
static bool begin(struct informer *informer, const struct custom_kind *custom)
{
    const struct informer_options *options = &informer->options;
    uint64_t id = custom_kind_id(custom->group, custom->kind);
    struct owner_slot *slot = slot_of(informer, 0);
    if (slot_of(informer, id) != NULL || slot == NULL)
        return true;
    if (!options->watch_owners(options->context, kind_of_slot(informer, slot), custom))
        return false;
    slot->id = id;
    snprintf(slot->name, sizeof slot->name, "%.*s.%.*s", TEXT_ARGS(custom->kind),
             TEXT_ARGS(custom->group));
    return true;
}

/* False: memory ran out. */
static bool follow(struct informer *informer, const struct custom_kinds *kinds)
{
    bool done = true;
    for (size_t i = 0; i < OWNER_KINDS_MAX; i++)
        if (informer->owners[i].id != 0 && !is_named(kinds, informer->owners[i].id))
            done &= leave(informer, &informer->owners[i]);
    for (size_t i = 0; i < kinds->count; i++)
        done &= begin(informer, &kinds->items[i]);
    return done;
}

struct following {
    struct informer *informer;
    const struct policy_set *policies;
    struct arena *arena;
    bool done;
};

static void follow_body(void *context)
{
    struct following *following = context;
    struct custom_kinds kinds;
    policy_set_owner_kinds(following->policies, following->arena, &kinds);
    following->done = follow(following->informer, &kinds);
}

void informer_follow(struct informer *informer)
{
    enum { NAMES_BYTES = 1 << 20 };
    struct publisher *publisher = informer->options.publisher;
    struct loaded_policies *rules = publisher_hold_policies(publisher);
    bool changed = rules != NULL && rules->world->generation != informer->owners_generation;
    struct arena *arena = changed ? arena_create(NAMES_BYTES) : NULL;
    if (arena != NULL) {
        struct following following = {informer, rules->world->policies, arena, false};
        struct error error;
        if (arena_guard(arena, follow_body, &following, &error) && following.done) {
            informer->owners_generation = rules->world->generation;
            informer->followed_ms = informer->options.now_ms();
        }
        arena_destroy(arena);
    }
    publisher_release_policies(publisher, rules);
}

/* ---- steps ---- */

/* The names of the first unreadable objects, in the last view. */
static void name_unreadable(const struct informer *informer, enum kind kind,
                            struct kind_report *report)
{
    enum { NAMED_MAX = 5 };
    size_t size = 0, count = snapshot_unreadable_count(informer->shown, kind);
    for (size_t i = 0; i < count && i < NAMED_MAX && size < sizeof report->unreadable; i++) {
        const struct object *object = snapshot_unreadable(informer->shown, kind, i);
        int written = snprintf(report->unreadable + size, sizeof report->unreadable - size,
                               "%s%.*s%s%.*s", i == 0 ? "" : ", ", TEXT_ARGS(object->namespace),
                               object->namespace.size > 0 ? "/" : "", TEXT_ARGS(object->name));
        size += written > 0 ? (size_t)written : 0;
    }
    if (count > NAMED_MAX && size < sizeof report->unreadable)
        snprintf(report->unreadable + size, sizeof report->unreadable - size, ", ...");
}

static struct kind_report report_of(const struct informer *informer, enum kind kind,
                                    const struct watch_report *watch)
{
    struct kind_report report = {.report = *watch,
                                 .object_count = store_count(informer->store, kind),
                                 .bytes = store_bytes(informer->store, kind),
                                 .unreadable_count = store_unreadable_count(informer->store, kind),
                                 .lacks = store_lacks(informer->store, kind)};
    if (is_missing(kind, watch) && is_lost(watch))
        report.report.age_ms = -1; /* what is not there cannot be old */
    if (informer->shown != NULL)
        name_unreadable(informer, kind, &report);
    if (kind_is_custom_owner(kind))
        snprintf(report.custom, sizeof report.custom, "%s", plural_of(informer, kind));
    return report;
}

/* Objects without room come by another list, once there is room. */
static void list_what_lacks(struct informer *informer, int64_t now_ms)
{
    if (informer->options.list_again == NULL || now_ms - informer->filled_ms < LACK_MS)
        return;
    informer->filled_ms = now_ms;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (store_lacks(informer->store, kind) && store_has_room(informer->store))
            informer->options.list_again(informer->options.context, kind);
}

static void tell_status(struct informer *informer, int64_t now_ms,
                        const struct watch_report reports[KIND_COUNT])
{
    struct cluster_report report = {
        .at_ms = now_ms,
        .kinds = kinds_of(informer),
        .unseen = informer->visibility.unseen,
        .waiting = !informer->visible && now_ms - informer->started_ms < FIRST_LOOK_MS,
        .visible = informer->visible,
        .volumes_are_stale = informer->visibility.volumes_are_stale,
        .view_count = informer->view_count,
    };
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (is_in(report.kinds, kind))
            report.of[kind] = report_of(informer, kind, &reports[kind]);
    cluster_status_set(informer->options.status, &report);
    informer->told_ms = now_ms;
}

/* True once the custom owners of the rules have been listed or refused. */
static bool is_belief_due(const struct informer *informer, const struct loaded_policies *rules,
                          int64_t now_ms, const struct watch_report reports[KIND_COUNT])
{
    bool settled = true;
    for (enum kind kind = KIND_OWNER_FIRST; kind <= KIND_OWNER_LAST; kind++)
        settled &= !is_in(kinds_of(informer), kind) || is_settled(&reports[kind]);
    return informer->visible && rules != NULL &&
           rules->world->generation == informer->owners_generation &&
           informer->belief_generation != informer->owners_generation &&
           (settled || now_ms - informer->followed_ms >= FIRST_LOOK_MS);
}

/* Rails that find nothing to look in leave undecided what hangs on it. */
static void log_sources(const struct informer *informer, const struct loaded_policies *rules,
                        struct arena *arena)
{
    kind_set empty = 0;
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        if (store_count(informer->store, kind) == 0)
            empty |= KIND_BIT(kind);
    struct text missing = policy_set_unseen_sources(rules->world->policies, empty, arena);
    if (missing.size > 0)
        log_line(LOG_WARN, "cluster", NULL, NULL, "%.*s", TEXT_ARGS(missing));
}

/* For owners that cannot be seen, `since` knows only what somebody wrote. */
static void log_belief(struct informer *informer, const struct loaded_policies *rules)
{
    enum { BELIEF_BYTES = 1 << 20 };
    struct arena *arena = arena_create(BELIEF_BYTES);
    if (arena == NULL)
        return;
    informer->belief_generation = rules->world->generation;
    struct text kinds = policy_set_believed(rules->world->policies, informer->visibility.unseen,
                                            &informer->visibility.owners, arena);
    if (kinds.size > 0)
        log_line(LOG_WARN, "cluster", NULL, NULL,
                 "`since` rests on what authors write of owners that cannot be seen (%.*s): what "
                 "their controllers make counts as old",
                 TEXT_ARGS(kinds));
    log_sources(informer, rules, arena);
    arena_destroy(arena);
}

static void log_first_look(const struct informer *informer, int64_t now_ms)
{
    size_t count = 0;
    int64_t took_ms = now_ms - informer->started_ms;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        count += store_count(informer->store, kind);
        if (is_in(informer->visibility.unseen, kind))
            log_line(LOG_WARN, "cluster", kind_table[kind].plural, NULL,
                     "cannot be seen: what depends on them is not decided");
    }
    log_line(LOG_INFO, "cluster", NULL, NULL, "the cluster is visible: %zu objects in %lld.%03d s",
             count, (long long)took_ms / 1000, (int)(took_ms % 1000));
}

static void log_visibility(const struct visibility *before, const struct visibility *now,
                           const struct watch_report reports[KIND_COUNT])
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (is_in(now->unseen & ~before->unseen, kind) && is_lost(&reports[kind]))
            log_line(LOG_WARN, "cluster", kind_table[kind].plural, reports[kind].problem,
                     "can no longer be seen: what depends on them is not decided");
    if (now->volumes_are_stale && !before->volumes_are_stale)
        log_line(LOG_WARN, "cluster", NULL, NULL,
                 "claims or volumes are older than %d s: zone-pin requires no zone until they are "
                 "current again",
                 VOLUMES_STALE_MS / 1000);
    if (!now->volumes_are_stale && before->volumes_are_stale)
        log_line(LOG_INFO, "cluster", NULL, NULL, "claims and volumes are current");
}

static bool is_time_for_a_view(struct informer *informer, bool whole, int64_t now_ms)
{
    if (!informer->visible || !whole || !store_has_changed(informer->store)) {
        informer->gather_until_ms = 0;
        return informer->due && informer->visible && whole;
    }
    if (informer->gather_until_ms == 0)
        informer->gather_until_ms =
            now_ms + (informer->took_ms > GATHER_MS ? informer->took_ms : GATHER_MS);
    return informer->due || now_ms >= informer->gather_until_ms;
}

/* False: memory ran out. */
static bool step(struct informer *informer, struct loaded_policies *rules, int64_t now_ms,
                 const struct watch_report reports[KIND_COUNT])
{
    bool whole = is_whole(informer, reports);
    bool first = whole && !informer->visible && is_ready_to_look(informer, now_ms, reports);
    informer->visible |= first;
    struct visibility before = informer->visibility, visibility = see(informer, reports);
    informer->due |= first || rules != informer->rules; /* their catalogue makes another supply */
    informer->due |= supply_is_due(informer, now_ms);
    /* The view has the set of custom owners, so a change of the set needs a new view. */
    informer->due |= memcmp(&visibility.owners, &before.owners, sizeof before.owners) != 0;
    if (is_time_for_a_view(informer, whole, now_ms)) {
        informer->due = true;
        if (!publish_view(informer, rules, &visibility))
            return false;
        informer->due = false;
        informer->gather_until_ms = 0;
        informer->published_ms = informer->options.now_ms();
        informer->took_ms = informer->published_ms - now_ms;
    } else if (visibility.unseen != before.unseen ||
               visibility.volumes_are_stale != before.volumes_are_stale) {
        visibility.owners = before.owners;
        if (!publisher_set_view(informer->options.publisher, NULL, &visibility))
            return false;
        informer->visibility = visibility;
    }
    if (first)
        log_first_look(informer, now_ms);
    else if (informer->visible)
        log_visibility(&before, &visibility, reports);
    if (is_belief_due(informer, rules, now_ms, reports))
        log_belief(informer, rules);
    return true;
}

/* The time until there is something to do. A supply that was due and failed is tried again at a
 * tick. */
static int64_t wait_ms(const struct informer *informer, int64_t stepped_ms)
{
    int64_t wait_ms =
        informer->resting ? TICK_MS : informer->gather_until_ms - informer->options.now_ms();
    int64_t supply_ms = supply_due_ms(informer) - stepped_ms;
    if (informer->supply_is_old && supply_ms > 0 && supply_ms < wait_ms)
        wait_ms = supply_ms;
    return wait_ms > TICK_MS ? TICK_MS : wait_ms > 0 ? wait_ms : 0;
}

int64_t informer_step(struct informer *informer, const struct watch_report reports[KIND_COUNT])
{
    int64_t now_ms = informer->options.now_ms();
    struct publisher *publisher = informer->options.publisher;
    free_gone(informer);
    struct loaded_policies *rules = publisher_hold_policies(publisher);
    bool visible = informer->visible;
    bool done = step(informer, rules, now_ms, reports);
    publisher_release_policies(publisher, rules);
    list_what_lacks(informer, now_ms);
    if (visible != informer->visible || now_ms - informer->told_ms >= TICK_MS)
        tell_status(informer, now_ms, reports);
    informer->resting = informer->gather_until_ms == 0;
    return done ? wait_ms(informer, now_ms) : TICK_MS;
}

/* ---- start and end ---- */

struct informer *informer_create(const struct informer_options *options)
{
    struct informer *informer = calloc(1, sizeof *informer);
    if (informer == NULL)
        return NULL;
    informer->options = *options;
    informer->started_ms = informer->told_ms = informer->filled_ms = options->now_ms();
    informer->resting = true;
    pthread_mutex_init(&informer->gone_mutex, NULL);
    informer->store = store_create();
    if (informer->store == NULL) {
        informer_destroy(informer);
        return NULL;
    }
    informer->keep = store_handler(informer->store);
    if (options->view_bytes_max > 0)
        store_limit(informer->store, options->view_bytes_max);
    return informer;
}

bool informer_begin(struct informer *informer)
{
    const struct visibility nothing = {.unseen = informer_kinds(), .volumes_are_stale = true};
    const struct watch_report reports[KIND_COUNT] = {0};
    tell_status(informer, informer->started_ms, reports);
    return publish_view(informer, NULL, &nothing);
}

void informer_destroy(struct informer *informer)
{
    if (informer == NULL)
        return;
    free_gone(informer);
    supply_release(informer->supply);
    store_destroy(informer->store);
    pthread_mutex_destroy(&informer->gone_mutex);
    free(informer);
}
