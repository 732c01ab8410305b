/* labels: threads */
/* A simulated day of a cluster whose API server fails in every way: after each fault the store
 * must hold the objects of the cluster, and no more memory than before. TAFFRAIL_SEED=N repeats
 * a day. */
#include <malloc.h>
#include <time.h>

#include "client_fixture.h"
#include "truth.h"

const char unit_suite[] = "client simulation";

enum {
    TICK_MS = 250,
    HOUR_MS = 3600000,
    QUIET_MS = 900000, /* of each hour; longer than a kind is left alone */
    NAMES = 40,
    STREAMS = 3,
};

static const enum kind kinds[STREAMS] = {KIND_POD, KIND_NODE, KIND_NODE_POOL};

/* ---- chance ---- */

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % below;
}

static bool chance(uint32_t in_100000)
{
    return draw(100000) < in_100000;
}

/* ---- a connection to the cluster ---- */

struct stream {
    struct watcher *watcher;
    enum kind kind;
    bool open, watch, stalled;
    uint64_t revision;
    int64_t end_ms, bookmark_ms;
    char *body; /* of a list or a refusal; NULL: a watch */
    size_t requests;
};

static struct truth *truth;
static struct store *store;
static struct stream streams[STREAMS];
static int64_t now_ms;
static bool faults;
static size_t fault_count;

static bool fault(uint32_t in_100000)
{
    bool happens = faults && chance(in_100000);
    fault_count += happens;
    return happens;
}

static void close_stream(struct stream *stream)
{
    stream->open = false;
    free(stream->body);
    stream->body = NULL;
}

static void end_stream(struct stream *stream, const char *failure, int64_t retry_after_s)
{
    close_stream(stream);
    watcher_end(stream->watcher, now_ms, failure, retry_after_s);
}

static void deliver(struct stream *stream, const char *bytes, size_t size)
{
    while (size > 0 && stream->open) {
        size_t part = 1 + draw(chance(50000) ? 30 : 5000);
        part = part < size ? part : size;
        /* A piece has an end of its own, beyond which nobody may read. */
        char *piece = malloc(part);
        CU_ASSERT_PTR_NOT_NULL_FATAL(piece);
        memcpy(piece, bytes, part);
        if (!watcher_bytes(stream->watcher, now_ms, (struct text){piece, part}))
            close_stream(stream);
        free(piece);
        bytes += part;
        size -= part;
    }
}

static void deliver_text(struct stream *stream, const char *text)
{
    deliver(stream, text, strlen(text));
}

static void refuse_with(struct stream *stream, unsigned status)
{
    watcher_head(stream->watcher, now_ms, status);
    if (chance(50000)) {
        char *text = truth_status(status, "Some", "as the script wants");
        deliver_text(stream, text);
        free(text);
    } else {
        deliver_text(stream, "<html>no</html>");
    }
    if (stream->open)
        end_stream(stream, NULL, chance(50000) ? draw(5) : 0);
}

static void open_stream(struct stream *stream, const char *path)
{
    static const unsigned refusals[] = {429, 500, 502, 503, 504, 401, 410, 400, 403, 404};
    stream->requests++;
    stream->open = true;
    stream->watch = strstr(path, "watch=1") != NULL;
    stream->stalled = fault(2000);
    if (stream->stalled)
        return;
    if (fault(5000)) {
        end_stream(stream, "connection refused", 0);
        return;
    }
    if (fault(8000)) {
        refuse_with(stream, refusals[draw(sizeof refusals / sizeof refusals[0])]);
        return;
    }
    watcher_head(stream->watcher, now_ms, 200);
    if (fault(3000)) {
        deliver_text(stream, "<html>welcome</html>");
        if (stream->open)
            end_stream(stream, NULL, 0);
        return;
    }
    if (stream->watch) {
        const char *from = strstr(path, "&resourceVersion=") + strlen("&resourceVersion=");
        unsigned seconds = 0;
        CU_ASSERT_FATAL(sscanf(strstr(path, "timeoutSeconds="), "timeoutSeconds=%u", &seconds) ==
                        1);
        stream->revision = strtoull(from, NULL, 10);
        stream->end_ms = now_ms + (int64_t)seconds * 1000;
        stream->bookmark_ms = now_ms + 60000;
        return;
    }
    char token[64] = "";
    const char *next = strstr(path, "continue=");
    unsigned long long revision, offset;
    if (next != NULL) {
        CU_ASSERT_FATAL(sscanf(next, "continue=%llu%%2B%llu%%2F%%3D", &revision, &offset) == 2);
        snprintf(token, sizeof token, "%llu+%llu/=", revision, offset);
    }
    unsigned status;
    size_t limit = strstr(path, "limit=") == NULL ? 0 : 7;
    stream->body = truth_list(truth, stream->kind, limit, token, &status);
    watcher_head(stream->watcher, now_ms, status);
}

static void lie(struct stream *stream)
{
    static const char *const lies[] = {
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"99999999999\"}}}",
        "{\"type\":\"UNHEARD\",\"object\":{}}",
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}",
        "<html>timeout</html>",
        "]]]]",
        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"3\"}}}",
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500,\"message\":\"etcd\"}}",
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Gone\"}}",
        "{\"type\":\"ERROR\",\"object\":null}",
    };
    deliver_text(stream, lies[draw(sizeof lies / sizeof lies[0])]);
}

static void work_watch(struct stream *stream)
{
    uint64_t before = stream->revision;
    char *event;
    while (stream->open && (event = truth_event(truth, stream->kind, &stream->revision)) != NULL) {
        size_t size = strlen(event);
        bool broken = fault(500);
        deliver(stream, event, broken ? draw((uint32_t)size) : size);
        free(event);
        if (stream->open && broken)
            end_stream(stream, chance(50000) ? "connection reset" : NULL, 0);
    }
    if (stream->open && now_ms >= stream->bookmark_ms) {
        stream->bookmark_ms = now_ms + 60000;
        event = truth_bookmark(truth, stream->kind);
        deliver_text(stream, event);
        free(event);
        stream->revision = truth_revision(truth);
    }
    if (stream->open && fault(200))
        stream->revision = before; /* what was told comes again */
    if (stream->open && fault(200))
        lie(stream);
    if (stream->open && fault(100))
        stream->stalled = true;
    if (stream->open && (now_ms >= stream->end_ms || fault(300)))
        end_stream(stream, chance(50000) && faults ? "connection reset" : NULL, 0);
}

static void work(struct stream *stream)
{
    struct watch_step step;
    for (watcher_next(stream->watcher, now_ms, &step); step.kind != WATCH_WAIT;
         watcher_next(stream->watcher, now_ms, &step)) {
        close_stream(stream);
        if (step.kind == WATCH_SEND)
            open_stream(stream, step.path);
    }
    if (!stream->open || stream->stalled)
        return;
    if (stream->watch) {
        work_watch(stream);
        return;
    }
    char *body = stream->body;
    stream->body = NULL;
    size_t size = strlen(body);
    bool broken = fault(5000);
    deliver(stream, body, broken ? draw((uint32_t)size) : size);
    free(body);
    if (stream->open)
        end_stream(stream, broken ? "connection reset" : NULL, 0);
}

/* ---- a day ---- */

static void change_something(void)
{
    char name[16];
    enum kind kind = kinds[draw(STREAMS)];
    const char *namespace = kind_table[kind].namespaced ? (chance(50000) ? "shop" : "bank") : "";
    snprintf(name, sizeof name, "o-%u", draw(NAMES));
    if (chance(40000))
        (void)truth_remove(truth, kind, namespace, name);
    else
        truth_put(truth, kind, namespace, name, draw(chance(10000) ? 20000 : 300));
}

/* Of an empty cluster, so that two hours can be compared. */
static void remove_all(void)
{
    for (size_t i = 0; i < STREAMS; i++)
        for (unsigned j = 0; j < NAMES; j++) {
            char name[16];
            snprintf(name, sizeof name, "o-%u", j);
            static const char *const namespaces[] = {"shop", "bank", ""};
            for (size_t k = 0; k < 3; k++)
                (void)truth_remove(truth, kinds[i], namespaces[k], name);
        }
}

static void compare(const char *when)
{
    struct store_changes changes;
    const struct snapshot *snapshot = store_version(store, &changes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(snapshot);
    for (size_t i = 0; i < STREAMS; i++) {
        struct watch_report report;
        char *expected = truth_lines(truth, kinds[i]);
        char *actual = snapshot_lines(snapshot, kinds[i]);
        bool same = strcmp(expected, actual) == 0;
        if (!same)
            fprintf(stderr, "%s, %s:\nexpected\n%sactual\n%s", when, kind_table[kinds[i]].name,
                    expected, actual);
        CU_ASSERT(same);
        watcher_report(streams[i].watcher, now_ms, &report);
        CU_ASSERT(report.synced && !report.degraded);
        CU_ASSERT(report.age_ms <= 121000); /* a bookmark a minute, late by a new watch */
        CU_ASSERT(watcher_used_bytes(streams[i].watcher) < 300000);
        free(expected);
        free(actual);
    }
    store_release(store, snapshot);
}

static void a_day_of_faults_ends_in_the_truth(void)
{
    const char *given = getenv("TAFFRAIL_SEED");
    random_state = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("TAFFRAIL_SEED=%llu ", (unsigned long long)random_state);
    fflush(stdout);
    log_set_level(LOG_ERROR);
    truth = truth_create();
    store = store_create();
    struct event_handler handler = store_handler(store);
    struct watch_settings settings = {.page_objects = 7, .seed = random_state};
    for (size_t i = 0; i < STREAMS; i++)
        streams[i] = (struct stream){.watcher = watcher_create(kinds[i], &settings, &handler),
                                     .kind = kinds[i]};
    size_t early_bytes = 0, late_bytes = 0, most_objects = 0;
    for (int hour = 0; hour < 24; hour++) {
        int64_t begun_ms = now_ms = (int64_t)hour * HOUR_MS;
        for (; now_ms < begun_ms + HOUR_MS; now_ms += TICK_MS) {
            faults = now_ms < begun_ms + HOUR_MS - QUIET_MS;
            bool emptied = !faults && (hour == 11 || hour == 23);
            if (emptied)
                remove_all();
            else if (chance(faults ? 5000 : 1000) && now_ms < begun_ms + HOUR_MS - 5000)
                change_something();
            if (chance(100))
                truth_compact(truth);
            for (size_t i = 0; i < STREAMS; i++)
                work(&streams[i]);
        }
        char when[32];
        snprintf(when, sizeof when, "hour %d", hour);
        compare(when);
        truth_compact(truth);
        size_t objects = store_count(store, KIND_POD);
        most_objects = objects > most_objects ? objects : most_objects;
        late_bytes = mallinfo2().uordblks;
        early_bytes = hour == 11 ? late_bytes : early_bytes;
    }
    ASSERT_INT(store_count(store, KIND_POD) + store_count(store, KIND_NODE), 0);
    size_t requests = 0;
    struct watch_report report = {0}, total = {0};
    for (size_t i = 0; i < STREAMS; i++) {
        requests += streams[i].requests;
        watcher_report(streams[i].watcher, now_ms, &report);
        total.lists += report.lists;
        total.events += report.events;
        total.failures += report.failures;
        close_stream(&streams[i]);
        watcher_destroy(streams[i].watcher);
    }
    printf("%zu faults, %zu requests, %llu lists, %llu events, %llu failures, "
           "%zu then %zu bytes ",
           fault_count, requests, (unsigned long long)total.lists, (unsigned long long)total.events,
           (unsigned long long)total.failures, early_bytes, late_bytes);
    CU_ASSERT(fault_count > 1000 && total.lists > 100 && total.events > 4000);
    CU_ASSERT(most_objects > 20);
    CU_ASSERT(late_bytes < early_bytes + 200000); /* buffers that may be kept */
    store_destroy(store);
    truth_destroy(truth);
}

const struct unit_test unit_tests[] = {
    {"a day of faults ends in the truth", a_day_of_faults_ends_in_the_truth},
    {NULL, NULL},
};
