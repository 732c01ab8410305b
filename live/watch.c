/* Lists a kind, then watches it from there. Every failure ends in one of three: watch again from
 * the same version, list again, or leave the kind alone for a while. */
#include "live/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/watch_buffer.h"

enum {
    BACK_OFF_MIN_MS = 800,
    BACK_OFF_MAX_MS = 30000,
    BACK_OFF_DOUBLINGS = 6,
    FORBIDDEN_MS = 300000,
    MISSING_MS = 30000, /* a missing path costs little, and may be there later */
    REFUSALS_SOON = 6,  /* in a row; then the kind is left alone for some time */
    RETRY_AFTER_MAX_S = 300,
    WATCH_SHORT_MS = 1000, /* after a shorter watch the next one waits */
    WATCH_GOOD_MS = 120000,
    WATCH_MIN_S = 300, /* the time the server is asked for; at most twice as long */
    RESUMES_MAX = 8,   /* failures in a row; then the kind is listed again */
    PAGES_MAX = 100000,
    REFUSAL_BYTES = 1 << 16, /* of an answer other than 200 */
    HEAD_BYTES = 1 << 16,    /* of a list without its items */
    ENDLESS = 16,            /* an object that is this many times too large never ends */
    PAGE_ROOM = 4, /* a page this many times below the maximum lets the next one be longer */
};
#define ARENA_BYTES ((size_t)32 << 20) /* of one object's stored fields */
#define WHOLE_ARENA_BYTES ((size_t)256 << 20)

enum failure { RESUME, RELIST };

/* A custom kind of owners: its names, and what is known of its group. */
struct custom {
    struct custom_kind kind;
    char *names;                  /* the memory of its texts */
    struct api_versions versions; /* empty: ask the server */
};

struct watcher {
    enum kind kind;
    struct custom custom; /* without a kind: none */
    size_t version;       /* index of the version in use */
    struct watch_settings settings;
    struct event_handler handler;
    struct arena *arena;
    uint64_t random;

    bool watching; /* or listing */
    bool in_flight;
    int64_t start_at_ms, sent_at_ms, last_byte_ms;
    unsigned status;
    bool told;   /* this watch sent an event or a bookmark */
    bool renews; /* it lists because the watch before was quiet, and nothing has failed */
    unsigned failures_in_row, refusals_in_row;
    bool whole_list; /* without pages: a page expired before the next */
    size_t page_count, page_objects, page_bytes;
    bool begun; /* list_begin was called */
    char resource_version[VERSION_BYTES], list_version[VERSION_BYTES];
    char *continue_token; /* NULL: the first page */
    char path[PATH_BYTES];

    struct value_scan scan; /* of a watch */
    struct list_scan list_scan;
    struct watch_buffer buffer; /* an event or an item in progress; of a refusal, its body */
    struct watch_buffer head;   /* of a list, all but its items */
    size_t object_bytes;        /* received bytes of the object */
    bool cut;                   /* only the beginning is held */

    bool synced, degraded, troubled;
    unsigned refused_status;
    bool trouble_of_watch;
    int64_t current_at_ms;
    uint64_t lists, events, failures;
    char problem[200];
};

static bool is_custom(const struct watcher *watcher)
{
    return watcher->custom.names != NULL;
}

/* NULL: there are no more. */
static const char *version_at(const struct watcher *watcher, size_t index)
{
    const struct api_versions *found = &watcher->custom.versions;
    if (!is_custom(watcher))
        return kind_versions(watcher->kind)[index];
    return index < found->count ? found->items[index] : NULL;
}

static bool is_asking_for_versions(const struct watcher *watcher)
{
    return is_custom(watcher) && watcher->custom.versions.count == 0;
}

/* Copies it into memory of its own. False: malloc failed. */
static bool keep_custom(struct custom *custom, const struct custom_kind *kind)
{
    struct text *own[] = {&custom->kind.group, &custom->kind.kind, &custom->kind.plural};
    custom->kind = *kind;
    custom->names = malloc(kind->group.size + kind->kind.size + kind->plural.size + 1);
    if (custom->names == NULL)
        return false;
    char *at = custom->names;
    for (size_t i = 0; i < COUNT_OF(own); at += own[i++]->size) {
        memcpy(at, own[i]->data, own[i]->size);
        own[i]->data = at;
    }
    return true;
}

struct watcher *watcher_create(enum kind kind, const struct watch_settings *settings,
                               const struct event_handler *handler)
{
    struct watcher *watcher = calloc(1, sizeof *watcher);
    if (watcher == NULL)
        return NULL;
    *watcher = (struct watcher){.kind = kind, .settings = *settings, .handler = *handler};
    struct watch_settings *own = &watcher->settings;
    if (own->page_objects == 0)
        own->page_objects = 500;
    if (own->page_bytes_max == 0)
        own->page_bytes_max = (size_t)64 << 20;
    if (own->object_bytes_max == 0)
        own->object_bytes_max = (size_t)16 << 20;
    if (own->list_idle_ms == 0)
        own->list_idle_ms = 30000;
    if (own->watch_idle_ms == 0)
        own->watch_idle_ms = 180000;
    if (own->watch_quiet_ms == 0)
        own->watch_quiet_ms = 180000;
    watcher->page_objects = own->page_objects;
    watcher->buffer.budget = own->budget;
    /* Kinds with the same seed do not move in step. */
    watcher->random = own->seed ^ ((uint64_t)kind << 32) ^ UINT64_C(0x9E3779B97F4A7C15);
    watcher->arena = arena_create(own->whole ? WHOLE_ARENA_BYTES : ARENA_BYTES);
    if (watcher->arena == NULL ||
        (own->custom != NULL && !keep_custom(&watcher->custom, own->custom))) {
        watcher_destroy(watcher);
        return NULL;
    }
    own->custom = NULL; /* the copy is used */
    return watcher;
}

void watcher_destroy(struct watcher *watcher)
{
    if (watcher == NULL)
        return;
    arena_destroy(watcher->arena);
    free(watcher->continue_token);
    free(watcher->custom.names);
    watch_buffer_free(&watcher->buffer);
    watch_buffer_free(&watcher->head);
    free(watcher);
}

/* splitmix64 */
static uint64_t draw(struct watcher *watcher)
{
    uint64_t z = watcher->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* From half to one and a half of it: clients that fail together do not come back together. */
static int64_t jitter(struct watcher *watcher, int64_t ms)
{
    return ms / 2 + (int64_t)(draw(watcher) % (uint64_t)ms);
}

static int64_t back_off_ms(struct watcher *watcher)
{
    unsigned doublings = watcher->failures_in_row > 0 ? watcher->failures_in_row - 1 : 0;
    if (doublings > BACK_OFF_DOUBLINGS)
        doublings = BACK_OFF_DOUBLINGS;
    int64_t ms = (int64_t)BACK_OFF_MIN_MS << doublings;
    return jitter(watcher, ms > BACK_OFF_MAX_MS ? BACK_OFF_MAX_MS : ms);
}

/* ---- held bytes ---- */

/* Holds only the allowed bytes of an object that is too large. */
static bool keep_bytes(struct watcher *watcher, struct text bytes)
{
    watcher->object_bytes += bytes.size;
    size_t room = watcher->settings.object_bytes_max - watcher->buffer.size;
    watcher->cut |= bytes.size > room;
    if (bytes.size > room)
        bytes.size = room;
    return watch_buffer_add(&watcher->buffer, bytes);
}

static void drop_object(struct watcher *watcher)
{
    watch_buffer_drop(&watcher->buffer);
    watcher->cut = false;
    watcher->object_bytes = 0;
    arena_reset(watcher->arena);
}

static void drop_bytes(struct watcher *watcher)
{
    drop_object(watcher);
    watch_buffer_drop(&watcher->head);
    watcher->page_bytes = 0;
    watcher->scan = (struct value_scan){0};
    watcher->list_scan = (struct list_scan){0};
}

static struct object_reader reader_of(const struct watcher *watcher)
{
    return (struct object_reader){.kind = watcher->kind,
                                  .custom = is_custom(watcher) ? &watcher->custom.kind : NULL,
                                  .version = version_at(watcher, watcher->version),
                                  .whole = watcher->settings.whole,
                                  .arena = watcher->arena};
}

size_t watcher_used_bytes(const struct watcher *watcher)
{
    return sizeof *watcher + watcher->buffer.capacity + watcher->head.capacity +
           arena_used_bytes(watcher->arena) +
           (watcher->continue_token == NULL ? 0 : strlen(watcher->continue_token) + 1);
}

static void forget_pages(struct watcher *watcher)
{
    free(watcher->continue_token);
    watcher->continue_token = NULL;
    watcher->page_count = 0;
    watcher->begun = false;
}

/* ---- failure and recovery ---- */

static void say(struct watcher *watcher, enum log_level level, const char *message)
{
    if (watcher->handler.say != NULL)
        watcher->handler.say(watcher->handler.context, watcher->kind, level, message);
}

static void note_problem(struct watcher *watcher, const char *what)
{
    snprintf(watcher->problem, sizeof watcher->problem, "%s", what);
    watcher->failures++;
    watcher->failures_in_row++;
    watcher->renews = false;
}

static void stop(struct watcher *watcher)
{
    watcher->in_flight = false;
    drop_bytes(watcher);
}

static void start_over(struct watcher *watcher)
{
    watcher->watching = false;
    forget_pages(watcher);
}

/* what may be in the arena. */
static void fail(struct watcher *watcher, int64_t now_ms, enum failure failure,
                 int64_t retry_after_s, const char *what)
{
    note_problem(watcher, what);
    if (!watcher->troubled) {
        watcher->troubled = true;
        watcher->trouble_of_watch = watcher->watching;
        say(watcher, LOG_WARN, watcher->problem);
    }
    if (!watcher->watching || failure == RELIST || watcher->failures_in_row % RESUMES_MAX == 0)
        start_over(watcher);
    stop(watcher);
    if (retry_after_s > RETRY_AFTER_MAX_S)
        retry_after_s = RETRY_AFTER_MAX_S;
    int64_t wait_ms = back_off_ms(watcher);
    watcher->start_at_ms = now_ms + wait_ms + (retry_after_s > 0 ? retry_after_s * 1000 : 0);
}

void watcher_list_again(struct watcher *watcher, int64_t now_ms)
{
    start_over(watcher);
    stop(watcher);
    watcher->start_at_ms = now_ms;
}

void watcher_ask_again(struct watcher *watcher, int64_t now_ms)
{
    if (!watcher->watching)
        start_over(watcher);
    stop(watcher);
    watcher->start_at_ms = now_ms;
}

/* Normal operation: the requested version is too old. */
static void expire(struct watcher *watcher, int64_t now_ms)
{
    watcher->whole_list = !watcher->watching && watcher->continue_token != NULL;
    watcher->failures++;
    watcher->failures_in_row++;
    watcher->renews = false;
    start_over(watcher);
    stop(watcher);
    watcher->start_at_ms = now_ms + back_off_ms(watcher);
}

/* The kind may not be read, or does not exist. The other kinds go on. */
static void degrade(struct watcher *watcher, int64_t now_ms, const char *what)
{
    note_problem(watcher, what);
    if (!watcher->degraded)
        say(watcher, LOG_WARN, watcher->problem);
    watcher->degraded = true;
    watcher->refused_status = watcher->status;
    watcher->version = 0;
    watcher->custom.versions.count = 0;
    start_over(watcher);
    stop(watcher);
    bool soon = watcher->refusals_in_row < REFUSALS_SOON;
    int64_t rest_ms = watcher->status == 404 ? MISSING_MS : FORBIDDEN_MS;
    watcher->start_at_ms = now_ms + (soon ? back_off_ms(watcher) : jitter(watcher, rest_ms));
    if (!soon)
        watcher->failures_in_row = 0;
}

/* An API server that has just started refuses what it allows a moment later, once it knows the
 * roles. So the first refusal of a kind that was readable does not count. */
static void take_denial(struct watcher *watcher, int64_t now_ms, const char *what)
{
    watcher->refusals_in_row++;
    if (watcher->synced && !watcher->degraded && watcher->refusals_in_row < REFUSALS_SOON)
        fail(watcher, now_ms, RESUME, 0, what);
    else
        degrade(watcher, now_ms, what);
}

static void recover(struct watcher *watcher)
{
    watcher->problem[0] = '\0';
    if (watcher->troubled)
        say(watcher, LOG_INFO, "all is well again");
    watcher->troubled = false;
}

static void take_success_of_watch(struct watcher *watcher)
{
    watcher->trouble_of_watch = false;
    watcher->failures_in_row = 0;
    watcher->refusals_in_row = 0;
    recover(watcher);
}

/* Without a change, an API server sends bookmarks only if etcd tells it of its progress. And a new
 * cluster sends nothing for a version that it has not reached. So after a long silence the kind is
 * listed. */
static void renew(struct watcher *watcher)
{
    start_over(watcher);
    watcher->renews = true;
}

/* ---- answers ---- */

static void finish_list(struct watcher *watcher, int64_t now_ms)
{
    memcpy(watcher->resource_version, watcher->list_version, VERSION_BYTES);
    forget_pages(watcher);
    watcher->lists++;
    watcher->watching = true;
    watcher->renews = false;
    watcher->whole_list = false;
    watcher->synced = true;
    watcher->current_at_ms = now_ms;
    watcher->start_at_ms = now_ms;
    if (watcher->degraded)
        say(watcher, LOG_INFO, "can be read now");
    watcher->degraded = false;
    watcher->refused_status = 0;
    watcher->refusals_in_row = 0;
    /* If each watch fails, a successful list between them does not end the back-off. */
    if (!watcher->trouble_of_watch)
        recover(watcher);
}

/* Stores the token of the next page; false when there is none, or it cannot be stored. */
static bool turn_page(struct watcher *watcher, struct text token)
{
    bool stuck = watcher->continue_token != NULL && text_is(token, watcher->continue_token);
    char *copy =
        token.size > PATH_BYTES / 4 || stuck || memchr(token.data, '\0', token.size) != NULL
            ? NULL
            : text_duplicate(token);
    free(watcher->continue_token);
    watcher->continue_token = copy;
    return copy != NULL && ++watcher->page_count < PAGES_MAX;
}

/* False: the object could not be stored. */
static bool tell(struct watcher *watcher, enum read_result result, const struct object *object,
                 const struct error *error)
{
    const struct event_handler *handler = &watcher->handler;
    return result == READ_UNREADABLE
               ? handler->put_unreadable(handler->context, object, error->what)
               : handler->put(handler->context, object);
}

/* False: the list is over. */
static bool begin_list(struct watcher *watcher, int64_t now_ms)
{
    const struct event_handler *handler = &watcher->handler;
    if (!watcher->begun && !handler->list_begin(handler->context, watcher->kind)) {
        fail(watcher, now_ms, RELIST, 0, "the list could not be begun: memory ran out");
        return false;
    }
    watcher->begun = true;
    return true;
}

/* False: the list is over. */
static bool take_item(struct watcher *watcher, int64_t now_ms)
{
    struct object object;
    struct error error;
    const struct object_reader reader = reader_of(watcher);
    enum read_result result =
        list_item_read(&reader, watch_buffer_text(&watcher->head),
                       watch_buffer_text(&watcher->buffer), watcher->cut, &object, &error);
    if (result == READ_FAILED) {
        fail(watcher, now_ms, RELIST, 0, error.what);
        return false;
    }
    if (!begin_list(watcher, now_ms))
        return false;
    if (!tell(watcher, result, &object, &error)) {
        fail(watcher, now_ms, RELIST, 0, "a listed object could not be kept: memory ran out");
        return false;
    }
    drop_object(watcher);
    return true;
}

static void halve_page(struct watcher *watcher)
{
    if (watcher->page_objects > 1)
        watcher->page_objects /= 2;
}

/* The next page is shorter when this one was large, because the API server holds a page as a whole,
 * and longer when it was small. A large page is read to its end all the same: its objects have been
 * passed on one by one, and to ask for it again would pass them on twice. */
static void fit_page(struct watcher *watcher)
{
    size_t bytes_max = watcher->settings.page_bytes_max;
    if (watcher->whole_list)
        return;
    if (watcher->page_bytes > bytes_max)
        halve_page(watcher);
    else if (watcher->page_bytes < bytes_max / PAGE_ROOM &&
             watcher->page_objects * 2 <= watcher->settings.page_objects)
        watcher->page_objects *= 2;
}

/* All items of the page have been passed on. */
static void take_page(struct watcher *watcher, int64_t now_ms)
{
    struct list_head head = {0};
    struct error error = {0};
    const struct event_handler *handler = &watcher->handler;
    if (!watcher->list_scan.ended ||
        !list_head_read(watch_buffer_text(&watcher->head), watcher->arena, &head, &error)) {
        fail(watcher, now_ms, RELIST, 0,
             watcher->list_scan.ended ? error.what : "the list ended before its end");
        return;
    }
    bool first = watcher->continue_token == NULL;
    /* The version is the first page's; objects of later pages may only come twice. */
    if (first && !version_keep(watcher->list_version, head.resource_version)) {
        fail(watcher, now_ms, RELIST, 0, "the list's resourceVersion is too long");
        return;
    }
    if (!begin_list(watcher, now_ms))
        return;
    bool last = head.continue_token.size == 0;
    if (!last && !turn_page(watcher, head.continue_token)) {
        fail(watcher, now_ms, RELIST, 0, "the list has no end");
        return;
    }
    if (last && !handler->list_end(handler->context, watcher->kind)) {
        fail(watcher, now_ms, RELIST, 0, "a listed object could not be kept: memory ran out");
        return;
    }
    fit_page(watcher);
    stop(watcher);
    watcher->start_at_ms = now_ms;
    if (last)
        finish_list(watcher, now_ms);
}

static void take_versions(struct watcher *watcher, int64_t now_ms)
{
    struct error error = {0};
    bool whole = !watcher->cut;
    if (!whole || !api_versions_read(watch_buffer_text(&watcher->buffer), watcher->arena,
                                     &watcher->custom.versions, &error)) {
        fail(watcher, now_ms, RELIST, 0, whole ? error.what : "the answer is too long");
        return;
    }
    stop(watcher);
    watcher->start_at_ms = now_ms;
}

/* False: the watch is over. */
static bool take_event(struct watcher *watcher, int64_t now_ms)
{
    struct watch_event event = {0};
    struct error error = {0};
    const struct event_handler *handler = &watcher->handler;
    const struct object_reader reader = reader_of(watcher);
    enum read_result result = watch_event_read(&reader, watch_buffer_text(&watcher->buffer),
                                               watcher->cut, &event, &error);
    if (result == READ_FAILED) {
        fail(watcher, now_ms, RELIST, 0, error.what);
        return false;
    }
    if (event.type == EVENT_ERROR) {
        if (event.expired) {
            expire(watcher, now_ms);
            return false;
        }
        struct text what = arena_printf(watcher->arena, "the watch broke off: %lld %.*s",
                                        (long long)event.code, TEXT_ARGS(event.message));
        fail(watcher, now_ms, event.too_new ? RELIST : RESUME, 0, what.data);
        return false;
    }
    int order = version_order(event.resource_version, text_of(watcher->resource_version));
    if (order < 0 || (order == 0 && event.type != EVENT_BOOKMARK)) {
        fail(watcher, now_ms, RELIST, 0, "the watch went back in time");
        return false;
    }
    bool kept = true;
    if (event.type == EVENT_PUT)
        kept = tell(watcher, result, &event.object, &error);
    else if (event.type == EVENT_REMOVE)
        kept = handler->remove(handler->context, &event.object);
    if (!kept || !version_keep(watcher->resource_version, event.resource_version)) {
        fail(watcher, now_ms, RELIST, 0, "an event could not be kept");
        return false;
    }
    watcher->events += event.type != EVENT_BOOKMARK;
    watcher->told = true;
    watcher->current_at_ms = now_ms;
    take_success_of_watch(watcher);
    drop_bytes(watcher);
    return true;
}

/* An answer other than 200. */
static void take_refusal(struct watcher *watcher, int64_t now_ms, int64_t retry_after_s)
{
    unsigned status = watcher->status;
    struct watch_event said = {0};
    bool is_status = status_read(watch_buffer_text(&watcher->buffer), watcher->arena, &said);
    char what[sizeof watcher->problem];
    if (is_status)
        snprintf(what, sizeof what, "answered %u: %.*s", status, TEXT_ARGS(said.message));
    else
        snprintf(what, sizeof what, "answered %u, with no Status", status);
    if (status == 410 || (is_status && said.expired)) {
        expire(watcher, now_ms);
    } else if (status == 404 && !watcher->watching &&
               version_at(watcher, watcher->version + 1) != NULL) {
        watcher->version++;
        start_over(watcher);
        stop(watcher);
        watcher->start_at_ms = now_ms;
    } else if (status == 403 || status == 404) {
        take_denial(watcher, now_ms, what);
    } else {
        /* A new cluster has other accounts, and its versions start again. */
        bool wrong = status == 400 || status == 401 || status == 422 || (is_status && said.too_new);
        fail(watcher, now_ms, wrong ? RELIST : RESUME, retry_after_s, what);
    }
}

static void end_watch(struct watcher *watcher, int64_t now_ms)
{
    int64_t lived_ms = now_ms - watcher->sent_at_ms;
    if (watcher->buffer.size > 0) {
        fail(watcher, now_ms, RESUME, 0, "the watch ended within an event");
    } else if (!watcher->told && lived_ms < WATCH_SHORT_MS) {
        fail(watcher, now_ms, RESUME, 0, "the watch ended at once");
    } else {
        if (!watcher->told && now_ms - watcher->current_at_ms >= watcher->settings.watch_quiet_ms)
            renew(watcher);
        stop(watcher);
        take_success_of_watch(watcher);
        watcher->start_at_ms = lived_ms < WATCH_SHORT_MS ? now_ms + back_off_ms(watcher) : now_ms;
    }
}

/* ---- called by the client ---- */

void watcher_head(struct watcher *watcher, int64_t now_ms, unsigned status)
{
    watcher->status = status;
    watcher->last_byte_ms = now_ms;
}

/* False: the answer is over. */
static bool take_object_bytes(struct watcher *watcher, int64_t now_ms, struct text bytes)
{
    const char *problem = NULL;
    if (watcher->object_bytes / ENDLESS > watcher->settings.object_bytes_max)
        problem = "an object has no end";
    else if (!keep_bytes(watcher, bytes))
        problem = "memory ran out";
    if (problem != NULL)
        fail(watcher, now_ms, RELIST, 0, problem);
    return problem == NULL;
}

static bool take_stream(struct watcher *watcher, int64_t now_ms, struct text bytes)
{
    while (bytes.size > 0) {
        size_t used = 0;
        enum value_scan_result result = value_scan(&watcher->scan, bytes, &used);
        if (result == SCAN_BAD) {
            fail(watcher, now_ms, RELIST, 0, "the watch brings something that is no event");
            return false;
        }
        /* White space between events is not held, nor counted. */
        struct text held = {bytes.data, used};
        while (watcher->object_bytes == 0 && held.size > 0 && held.data[0] != '{')
            held = (struct text){held.data + 1, held.size - 1};
        if (held.size > 0 && !take_object_bytes(watcher, now_ms, held))
            return false;
        if (result == SCAN_WHOLE && !take_event(watcher, now_ms))
            return false;
        bytes = (struct text){bytes.data + used, bytes.size - used};
    }
    return true;
}

static bool take_part(struct watcher *watcher, int64_t now_ms, enum list_part part,
                      struct text bytes)
{
    bool of_item = part == LIST_ITEM || part == LIST_ITEM_END, of_head = part == LIST_HEAD;
    if (part == LIST_BAD || (of_head && watcher->head.size + bytes.size > HEAD_BYTES) ||
        (of_head && !watch_buffer_add(&watcher->head, bytes))) {
        fail(watcher, now_ms, RELIST, 0, "the answer is no list of objects");
        return false;
    }
    if (of_item && !take_object_bytes(watcher, now_ms, bytes))
        return false;
    return part != LIST_ITEM_END || take_item(watcher, now_ms);
}

static bool take_list(struct watcher *watcher, int64_t now_ms, struct text bytes)
{
    watcher->page_bytes += bytes.size;
    while (bytes.size > 0) {
        size_t used = bytes.size;
        enum list_part part = list_scan(&watcher->list_scan, bytes, &used);
        if (!take_part(watcher, now_ms, part, (struct text){bytes.data, used}))
            return false;
        bytes = (struct text){bytes.data + used, bytes.size - used};
    }
    return true;
}

bool watcher_waits(struct watcher *watcher)
{
    return watcher->in_flight && watch_buffer_waits(&watcher->buffer);
}

bool watcher_bytes(struct watcher *watcher, int64_t now_ms, struct text bytes)
{
    if (!watcher->in_flight)
        return false;
    watcher->last_byte_ms = now_ms;
    if (watcher->status != 200 || is_asking_for_versions(watcher)) {
        size_t room = REFUSAL_BYTES - watcher->buffer.size;
        watcher->cut |= bytes.size > room;
        if (bytes.size > room)
            bytes.size = room;
        /* A refusal without its body is still a refusal. */
        watcher->cut |= !watch_buffer_add(&watcher->buffer, bytes);
        return true;
    }
    return watcher->watching ? take_stream(watcher, now_ms, bytes)
                             : take_list(watcher, now_ms, bytes);
}

void watcher_end(struct watcher *watcher, int64_t now_ms, const char *failure,
                 int64_t retry_after_s)
{
    if (!watcher->in_flight)
        return;
    if (watcher->status != 0 && watcher->status != 200)
        take_refusal(watcher, now_ms, retry_after_s);
    else if (failure != NULL || watcher->status == 0) {
        /* An API server aborts a request that takes longer than a minute. */
        if (!watcher->watching && watcher->page_bytes > 0)
            halve_page(watcher);
        fail(watcher, now_ms, RESUME, retry_after_s, failure != NULL ? failure : "no answer");
    } else if (is_asking_for_versions(watcher))
        take_versions(watcher, now_ms);
    else if (watcher->watching)
        end_watch(watcher, now_ms);
    else
        take_page(watcher, now_ms);
}

static void write_path(struct watcher *watcher)
{
    const struct custom_kind *custom = &watcher->custom.kind;
    struct list_request request = {.group = text_of(kind_table[watcher->kind].group),
                                   .plural = text_of(kind_table[watcher->kind].plural),
                                   .version = version_at(watcher, watcher->version)};
    if (is_asking_for_versions(watcher)) {
        group_request_write(custom->group, watcher->path);
        return;
    }
    if (is_custom(watcher)) {
        request.group = custom->group;
        request.plural = custom->plural;
    }
    if (watcher->watching) {
        request.watch_version = watcher->resource_version;
        request.timeout_s = WATCH_MIN_S + (unsigned)(draw(watcher) % WATCH_MIN_S);
    } else if (!watcher->whole_list) {
        request.limit = watcher->page_objects;
        request.continue_token = watcher->continue_token;
    }
    list_request_write(&request, watcher->path);
}

void watcher_next(struct watcher *watcher, int64_t now_ms, struct watch_step *step)
{
    const struct watch_settings *settings = &watcher->settings;
    bool quiet =
        watcher->watching && watcher->status == 200 && !watcher->told && watcher->buffer.size == 0;
    int64_t idle_ms = quiet               ? settings->watch_quiet_ms
                      : watcher->watching ? settings->watch_idle_ms
                                          : settings->list_idle_ms;
    *step = (struct watch_step){.kind = WATCH_WAIT,
                                .stream = watcher->watching,
                                .metadata = is_custom(watcher) && !is_asking_for_versions(watcher)};
    if (watcher_waits(watcher))
        watcher->last_byte_ms = now_ms;
    if (watcher->in_flight) {
        step->until_ms = watcher->last_byte_ms + idle_ms;
        if (now_ms >= step->until_ms) {
            step->kind = WATCH_CUT;
            if (quiet) {
                renew(watcher);
                stop(watcher);
                take_success_of_watch(watcher);
                watcher->start_at_ms = now_ms;
            } else {
                fail(watcher, now_ms, watcher->told ? RESUME : RELIST, 0,
                     "the connection is dead: nothing came for too long");
            }
        } else if (watcher->watching && watcher->failures_in_row > 0 &&
                   now_ms - watcher->sent_at_ms >= WATCH_GOOD_MS) {
            watcher->failures_in_row = 0;
        }
    } else if (now_ms < watcher->start_at_ms) {
        step->until_ms = watcher->start_at_ms;
    } else {
        write_path(watcher);
        step->kind = WATCH_SEND;
        step->path = watcher->path;
        watcher->in_flight = true;
        watcher->sent_at_ms = watcher->last_byte_ms = now_ms;
        watcher->status = 0;
        watcher->told = false;
    }
}

void watcher_report(const struct watcher *watcher, int64_t now_ms, struct watch_report *report)
{
    *report = (struct watch_report){
        .synced = watcher->synced,
        .degraded = watcher->degraded,
        .refused_status = watcher->refused_status,
        .listing = !watcher->watching && watcher->begun,
        .watching = watcher->in_flight &&
                    (watcher->renews || (watcher->watching && watcher->status == 200)),
        .age_ms = -1,
        .lists = watcher->lists,
        .events = watcher->events,
        .failures = watcher->failures};
    if (watcher->synced)
        report->age_ms = now_ms - watcher->current_at_ms;
    memcpy(report->problem, watcher->problem, sizeof report->problem);
}
