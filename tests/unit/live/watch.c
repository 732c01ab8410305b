/* labels: threads */
/* The state machine of one kind: its requests, and how it handles answers of every sort. */
#include "client_fixture.h"

const char unit_suite[] = "client watch";

static struct watcher *watcher;
static struct watch_step step;
static int64_t now_ms;

static void start(enum kind kind, uint64_t seed)
{
    struct watch_settings settings = {.page_objects = 2, .object_bytes_max = 4096, .seed = seed};
    told[0] = '\0';
    said = 0;
    refuse = false;
    now_ms = 1000000;
    watcher = watcher_create(kind, &settings, &telling);
    CU_ASSERT_PTR_NOT_NULL_FATAL(watcher);
}

/* How long it waits before it asks, in milliseconds. */
static int64_t next_request(void)
{
    int64_t asked_ms = now_ms;
    for (watcher_next(watcher, now_ms, &step); step.kind == WATCH_WAIT;
         watcher_next(watcher, now_ms, &step))
        now_ms = step.until_ms;
    ASSERT_INT(step.kind, WATCH_SEND);
    return now_ms - asked_ms;
}

static bool deliver(const char *body, size_t piece)
{
    for (size_t size = strlen(body); size > 0;) {
        size_t part = size < piece ? size : piece;
        if (!watcher_bytes(watcher, now_ms, (struct text){body, part}))
            return false;
        body += part;
        size -= part;
    }
    return true;
}

static void answer(unsigned status, const char *body)
{
    next_request();
    watcher_head(watcher, now_ms, status);
    if (deliver(body, 7))
        watcher_end(watcher, now_ms, NULL, 0);
}

#define PODS(rv, next, items)                                                             \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" rv \
    "\",\"continue\":\"" next "\"},\"items\":[" items "]}"
#define POD(name, rv)                                                                       \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"shop\",\"resourceVersion\":\"" rv \
    "\",\"labels\":{\"a\":\"}\\\"{\"}}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define TYPED(name, rv)                                                      \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name \
    "\",\"namespace\":\"shop\",\"resourceVersion\":\"" rv "\",\"labels\":{\"a\":\"}\\\"]\\\\\"}}}"
#define BOOKMARK(rv)                                                                        \
    EVENT("BOOKMARK",                                                                       \
          "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" rv \
          "\"}}")
#define STATUS(code, reason, text)                                                          \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"" text \
    "\",\"reason\":\"" reason "\",\"code\":" code "}"

/* A list of nothing at version 100, and a watch that has begun. */
static void start_watching(void)
{
    start(KIND_POD, 1);
    answer(200, PODS("100", "", ""));
    ASSERT_TOLD("begin end");
    next_request();
    watcher_head(watcher, now_ms, 200);
}

static bool lists(void)
{
    return strstr(step.path, "watch=1") == NULL;
}

static bool watches_from(const char *version)
{
    const char *from = strstr(step.path, "&resourceVersion=");
    return strstr(step.path, "watch=1") != NULL && from != NULL &&
           strcmp(from + strlen("&resourceVersion="), version) == 0;
}

/* ---- custom owners, of which metadata is read ---- */

#define GROUP(versions)                                                                    \
    "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",\"name\":\"argoproj.io\",\"versions\":[" \
    "{\"groupVersion\":\"argoproj.io/v1alpha1\",\"version\":\"v1alpha1\"}" versions        \
    "],\"preferredVersion\":{\"groupVersion\":\"argoproj.io/v1\",\"version\":\"v1\"}}"
#define PARTIAL(name, rv)                                               \
    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/" \
    "v1\",\"metadata\":{\"name\":"                                      \
    "\"" name "\",\"namespace\":\"shop\",\"uid\":\"u1\",\"resourceVersion\":\"" rv "\"}}"
#define PARTIALS(rv, items)                                                                    \
    "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{" \
    "\"resourceVersion\":\"" rv "\"},\"items\":[" items "]}"

static void start_custom(void)
{
    const struct custom_kind rollouts = {TEXT("argoproj.io"), TEXT("Rollout"), TEXT("rollouts")};
    struct watch_settings settings = {.page_objects = 2, .custom = &rollouts};
    told[0] = '\0';
    said = 0;
    now_ms = 1000000;
    watcher = watcher_create(KIND_OWNER_FIRST, &settings, &telling);
    CU_ASSERT_PTR_NOT_NULL_FATAL(watcher);
}

static bool keep_type(void *context, const struct object *object)
{
    (void)context;
    ASSERT_INT(object->kind, KIND_OWNER_FIRST);
    ASSERT_TEXT(object->api_version, "argoproj.io/v1alpha1");
    ASSERT_TEXT(object->kind_name, "Rollout");
    ASSERT_TEXT(object->namespace, "shop");
    ASSERT_TEXT(object->uid, "u1");
    return tell("put", object);
}

static void custom_owners_are_asked_for_by_their_metadata(void)
{
    start_custom();
    next_request();
    ASSERT_TEXT(text_of(step.path), "/apis/argoproj.io");
    CU_ASSERT(!step.stream && !step.metadata);
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(deliver(GROUP(""), 7));
    watcher_end(watcher, now_ms, NULL, 0);
    /* not in the version that the group prefers, and so in the next */
    ASSERT_INT(next_request(), 0);
    ASSERT_TEXT(text_of(step.path), "/apis/argoproj.io/v1/rollouts?limit=2");
    CU_ASSERT(step.metadata);
    watcher_head(watcher, now_ms, 404);
    watcher_end(watcher, now_ms, NULL, 0);
    ASSERT_INT(next_request(), 0);
    ASSERT_TEXT(text_of(step.path), "/apis/argoproj.io/v1alpha1/rollouts?limit=2");
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(deliver(PARTIALS("100", PARTIAL("a", "7")), 7));
    watcher_end(watcher, now_ms, NULL, 0);
    ASSERT_TOLD("begin put a end");
    next_request();
    CU_ASSERT(watches_from("100") && step.stream && step.metadata);
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(deliver(EVENT("ADDED", PARTIAL("b", "101")), 7));
    CU_ASSERT(deliver(EVENT("DELETED", PARTIAL("a", "102")), 7));
    ASSERT_TOLD("put b remove a");
    /* of another kind it takes nothing */
    CU_ASSERT(!deliver(EVENT("ADDED", TYPED("c", "103")), 7));
    ASSERT_TOLD("");
    ASSERT_INT(said, 1);
    watcher_destroy(watcher);
}

static void custom_owners_keep_their_names(void)
{
    start_custom();
    struct event_handler handler = telling;
    struct watch_settings settings = {0};
    char group[] = "argoproj.io", kind[] = "Rollout", plural[] = "rollouts";
    const struct custom_kind rollouts = {text_of(group), text_of(kind), text_of(plural)};
    watcher_destroy(watcher);
    handler.put = keep_type;
    settings.custom = &rollouts;
    watcher = watcher_create(KIND_OWNER_FIRST, &settings, &handler);
    memset(group, 'x', sizeof group - 1); /* whose they were has gone on */
    memset(kind, 'x', sizeof kind - 1);
    memset(plural, 'x', sizeof plural - 1);
    answer(200, "{\"kind\":\"APIGroup\",\"versions\":[{\"version\":\"v1alpha1\"}]}");
    answer(200, PARTIALS("100", PARTIAL("a", "7")));
    ASSERT_TOLD("begin put a end");
    watcher_destroy(watcher);
}

/* What it is asks for is asked anew when it is not there, or may not be read. */
static void custom_owners_that_cannot_be_listed(void)
{
    static const struct {
        const char *group, *list;
        unsigned group_status, list_status;
    } rows[] = {
        {STATUS("404", "NotFound", "no"), NULL, 404, 0},
        {GROUP(""), STATUS("403", "Forbidden", "no"), 200, 403},
        {"{\"kind\":\"APIGroup\",\"versions\":[{\"version\":\"v1\"}]}",
         STATUS("404", "NotFound", "no"), 200, 404},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct watch_report report;
        start_custom();
        answer(rows[i].group_status, rows[i].group);
        if (rows[i].list != NULL)
            answer(rows[i].list_status, rows[i].list);
        watcher_report(watcher, now_ms, &report);
        CU_ASSERT(report.degraded && !report.synced);
        ASSERT_INT(report.refused_status, rows[i].list != NULL ? rows[i].list_status : 404);
        CU_ASSERT(next_request() > 0);
        ASSERT_TEXT(text_of(step.path), "/apis/argoproj.io");
        watcher_destroy(watcher);
    }
}

static void a_group_that_is_none(void)
{
    static const char *const bodies[] = {
        "[]",
        "{}",
        "{\"versions\":[{\"version\":\"../v1\"}]}",
        "<html>",
        "{\"preferredVersion\":{\"version\":7},\"versions\":null}",
    };
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        start_custom();
        answer(200, bodies[i]);
        ASSERT_INT(said, 1);
        CU_ASSERT(next_request() > 0);
        ASSERT_TEXT(text_of(step.path), "/apis/argoproj.io");
        watcher_destroy(watcher);
    }
}

static void a_list_is_read_by_pages(void)
{
    start(KIND_POD, 1);
    ASSERT_INT(next_request(), 0);
    ASSERT_TEXT(text_of(step.path), "/api/v1/pods?limit=2");
    CU_ASSERT(!step.stream);
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(deliver(PODS("100", "a+b/=", POD("a", "7") "," POD("b", "8")), 7));
    ASSERT_TOLD("begin put a put b"); /* one by one, as they come */
    watcher_end(watcher, now_ms, NULL, 0);
    ASSERT_TOLD("");
    ASSERT_INT(next_request(), 0);
    ASSERT_TEXT(text_of(step.path), "/api/v1/pods?limit=2&continue=a%2Bb%2F%3D");
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(deliver(PODS("100", "", POD("c", "9")), 7));
    watcher_end(watcher, now_ms, NULL, 0);
    ASSERT_TOLD("put c end");
    ASSERT_INT(next_request(), 0);
    CU_ASSERT(watches_from("100") && step.stream);
    CU_ASSERT_PTR_NOT_NULL(strstr(step.path, "&allowWatchBookmarks=true&timeoutSeconds="));
    watcher_destroy(watcher);
}

static void events_do_not_care_how_bytes_are_cut(void)
{
    static const char *const streams[] = {
        EVENT("ADDED", TYPED("a", "101")) EVENT("MODIFIED", TYPED("b", "102"))
            EVENT("DELETED", TYPED("a", "103")) BOOKMARK("110"),
        /* Without a line's end, and spread over lines. */
        "{\"type\":\"ADDED\",\n\"object\":" TYPED("a", "101") "}{\"type\":\"ADDED\",\"object\":" //
        TYPED("b", "102") "}\r\n\n {\"object\":" TYPED(
            "a", "103") ",\"type\":\"DELETED\"}" BOOKMARK("110"),
    };
    for (size_t i = 0; i < 2; i++)
        for (size_t piece = 1; piece <= strlen(streams[i]); piece++) {
            start_watching();
            CU_ASSERT(deliver(streams[i], piece));
            ASSERT_TOLD("put a put b remove a");
            now_ms += 5000;
            watcher_end(watcher, now_ms, NULL, 0);
            ASSERT_INT(next_request(), 0);
            CU_ASSERT(watches_from("110"));
            ASSERT_INT(said, 0);
            watcher_destroy(watcher);
        }
}

/* What ends a watch, and whether it goes on from where it was. */
static void what_ends_a_watch(void)
{
    static const struct {
        const char *body, *failure;
        bool relists;
        unsigned warnings;
    } cases[] = {
        {EVENT("ERROR", STATUS("410", "Expired", "too old resource version")), NULL, true, 0},
        {EVENT("ERROR", STATUS("410", "Gone", "gone")), NULL, true, 0},
        {EVENT("ERROR", STATUS("500", "InternalError", "etcd")), NULL, false, 1},
        {EVENT("ERROR", STATUS("504", "Timeout", "Too large resource version: 9")), NULL, true, 1},
        {EVENT("ERROR", "{}"), NULL, false, 1},
        {"", "connection reset", false, 1},
        {"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Po", "connection reset", false, 1},
        {"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Po", NULL, false, 1},
        {"", NULL, false, 1},
        {"<html>502</html>", NULL, true, 1},
        {EVENT("ADDED", TYPED("a", "")), NULL, true, 1},
        {EVENT("ADDED", TYPED("", "101")), NULL, true, 1},
        {EVENT("ADDED", "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\","
                        "\"resourceVersion\":\"101\"}}"),
         NULL, true, 1},
        {EVENT("ADDED", "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\","
                        "\"namespace\":\"shop\",\"resourceVersion\":\"101\"}}"),
         NULL, true, 1},
        {EVENT("ADDED", TYPED("a", "99")), NULL, true, 1},
        {EVENT("ADDED", TYPED("a", "100")), NULL, true, 1},
        {BOOKMARK("99"), NULL, true, 1},
        {EVENT("CHANGED", TYPED("a", "101")), NULL, true, 1},
        {EVENT("ADDED", "[]"), NULL, true, 1},
        {"{\"type\":\"ADDED\" \"object\"}", NULL, true, 1},
        {"{\"type\":\"ADDED\",\"type\":\"ADDED\",\"object\":" TYPED("a", "101") "}", NULL, true, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start_watching();
        if (deliver(cases[i].body, 7))
            watcher_end(watcher, now_ms, cases[i].failure, 0);
        ASSERT_TOLD("");
        int64_t waited_ms = next_request();
        CU_ASSERT(waited_ms >= 400 && waited_ms <= 1200); /* 800 ms and its jitter */
        ASSERT_INT(cases[i].relists, lists());
        CU_ASSERT(cases[i].relists || watches_from("100"));
        ASSERT_INT(said, cases[i].warnings);
        watcher_destroy(watcher);
    }
}

static void refusals_of_a_watch(void)
{
    static const struct {
        unsigned status;
        const char *body;
        int64_t retry_after_s, least_ms, most_ms;
        bool relists;
    } cases[] = {
        {410, STATUS("410", "Expired", "too old"), 0, 400, 1200, true},
        {410, "<html>", 0, 400, 1200, true},
        {429, STATUS("429", "TooManyRequests", "later"), 7, 7400, 8200, false},
        {500, STATUS("500", "InternalError", "etcd"), 0, 400, 1200, false},
        {503, "<html>no backend</html>", 0, 400, 1200, false},
        {401, STATUS("401", "Unauthorized", "Unauthorized"), 0, 400, 1200, true},
        {504, STATUS("504", "Timeout", "Too large resource version: 7"), 1, 1400, 2200, true},
        {504, "gateway", 0, 400, 1200, false},
        {400, STATUS("400", "BadRequest", "invalid resource version"), 0, 400, 1200, true},
        {403, STATUS("403", "Forbidden", "pods is forbidden"), 0, 400, 1200, false},
        {404, "404 page not found\n", 0, 400, 1200, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(KIND_POD, 1);
        answer(200, PODS("100", "", ""));
        next_request();
        watcher_head(watcher, now_ms, cases[i].status);
        CU_ASSERT(deliver(cases[i].body, 7));
        watcher_end(watcher, now_ms, NULL, cases[i].retry_after_s);
        int64_t waited_ms = next_request();
        CU_ASSERT(waited_ms >= cases[i].least_ms && waited_ms <= cases[i].most_ms);
        ASSERT_INT(cases[i].relists, lists());
        CU_ASSERT(cases[i].relists || watches_from("100"));
        watcher_destroy(watcher);
    }
}

static void lists_that_are_none_are_asked_for_again(void)
{
    static const struct {
        unsigned status;
        const char *body;
    } cases[] = {
        {200, ""},
        {200, "<html></html>"},
        {200, STATUS("500", "InternalError", "under 200")},
        {200, PODS("", "", "")},
        {200, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"}}"},
        {200, PODS("100", "", POD("", "7"))},
        {200, PODS("100", "", "7")},
        {200, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":["},
        {500, "<html></html>"},
        {429, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(KIND_POD, 1);
        answer(cases[i].status, cases[i].body);
        ASSERT_TOLD("");
        CU_ASSERT(next_request() >= 400);
        ASSERT_TEXT(text_of(step.path), "/api/v1/pods?limit=2");
        ASSERT_INT(said, 1);
        struct watch_report report;
        watcher_report(watcher, now_ms, &report);
        CU_ASSERT(!report.synced && report.age_ms == -1 && report.problem[0] != '\0');
        watcher_destroy(watcher);
    }
}

static void a_page_that_expired_is_followed_by_a_list_in_one(void)
{
    start(KIND_POD, 1);
    answer(200, PODS("100", "next", POD("a", "7")));
    answer(410, STATUS("410", "Expired", "The provided continue parameter is too old"));
    CU_ASSERT(next_request() >= 400);
    ASSERT_TEXT(text_of(step.path), "/api/v1/pods");
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(deliver(PODS("105", "", POD("b", "8")), 7));
    watcher_end(watcher, now_ms, NULL, 0);
    ASSERT_TOLD("begin put a begin put b end");
    next_request();
    CU_ASSERT(watches_from("105"));
    watcher_destroy(watcher);
}

static void a_list_without_end_is_given_up(void)
{
    start(KIND_POD, 1);
    answer(200, PODS("100", "same", POD("a", "7")));
    answer(200, PODS("100", "same", POD("a", "7")));
    CU_ASSERT(next_request() >= 400);
    ASSERT_TEXT(text_of(step.path), "/api/v1/pods?limit=2");
    watcher_destroy(watcher);
}

static void what_is_asked_again_has_not_failed(void)
{
    struct watch_report report;
    start_watching();
    CU_ASSERT(deliver(EVENT("ADDED", TYPED("a", "101")), 7));
    CU_ASSERT(deliver("{\"type\":\"ADD", 7));
    watcher_ask_again(watcher, now_ms);
    CU_ASSERT(!watcher_bytes(watcher, now_ms, TEXT("ED\"")));
    ASSERT_INT(next_request(), 0);
    CU_ASSERT(watches_from("101"));
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(deliver(EVENT("ADDED", TYPED("b", "102")), 7));
    ASSERT_TOLD("put a put b");
    watcher_report(watcher, now_ms, &report);
    CU_ASSERT(report.synced && report.failures == 0 && report.problem[0] == '\0');
    ASSERT_INT(said, 0);
    watcher_destroy(watcher);
    /* In the middle of a list. */
    start(KIND_POD, 1);
    answer(200, PODS("100", "next", POD("a", "7")));
    next_request();
    watcher_ask_again(watcher, now_ms);
    ASSERT_INT(next_request(), 0);
    ASSERT_TEXT(text_of(step.path), "/api/v1/pods?limit=2");
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(deliver(PODS("100", "", POD("b", "8")), 7));
    watcher_end(watcher, now_ms, NULL, 0);
    ASSERT_TOLD("begin put a begin put b end");
    watcher_report(watcher, now_ms, &report);
    CU_ASSERT(report.synced && report.failures == 0);
    ASSERT_INT(said, 0);
    watcher_destroy(watcher);
}

static void a_dead_connection_is_cut(void)
{
    start_watching();
    now_ms += 1000;
    CU_ASSERT(deliver(EVENT("ADDED", TYPED("a", "101")), 50));
    watcher_next(watcher, now_ms, &step);
    ASSERT_INT(step.kind, WATCH_WAIT);
    ASSERT_INT(step.until_ms - now_ms, 180000);
    now_ms += 179999;
    watcher_next(watcher, now_ms, &step);
    ASSERT_INT(step.kind, WATCH_WAIT);
    struct watch_report report;
    watcher_report(watcher, now_ms, &report);
    ASSERT_INT(report.age_ms, 179999);
    watcher_next(watcher, ++now_ms, &step);
    ASSERT_INT(step.kind, WATCH_CUT);
    CU_ASSERT(!watcher_bytes(watcher, now_ms, TEXT(" ")));
    next_request();
    CU_ASSERT(watches_from("101"));
    watcher_head(watcher, now_ms, 200);
    /* A list that hangs, too. */
    CU_ASSERT(!deliver(EVENT("ERROR", STATUS("410", "Gone", "")), 7));
    next_request();
    CU_ASSERT(lists());
    now_ms += 30000;
    watcher_next(watcher, now_ms, &step);
    ASSERT_INT(step.kind, WATCH_CUT);
    watcher_destroy(watcher);
}

/* So a real API server answers for a version that it has yet to reach, as one that was made anew:
 * 200, and not a word, not even a bookmark. */
static void a_watch_that_says_nothing_is_followed_by_a_list(void)
{
    start_watching();
    now_ms += 180000;
    watcher_next(watcher, now_ms, &step);
    ASSERT_INT(step.kind, WATCH_CUT);
    next_request();
    CU_ASSERT(lists());
    watcher_destroy(watcher);

    start_watching();
    for (int minute = 1; minute <= 3; minute++) {
        now_ms += 60000;
        watcher_end(watcher, now_ms, NULL, 0);
        ASSERT_INT(next_request(), 0);
        ASSERT_INT(lists(), minute == 3);
        watcher_head(watcher, now_ms, 200);
    }
    watcher_destroy(watcher);
}

static bool is_watching(void)
{
    struct watch_report report;
    watcher_report(watcher, now_ms, &report);
    return report.watching;
}

/* So is one of a kind that does not change, where etcd tells nothing of its progress: no failure,
 * and no gap. */
static void a_quiet_watch_is_no_dead_one(void)
{
    static const struct {
        int64_t quiet_ms, after_ms;
        const char *brings;
        bool dead;
    } cases[] = {
        {0, 180000, "", false},
        {75000, 75000, "", false},
        {75000, 180000, BOOKMARK("101"), true},
        {75000, 180000, "{\"type\":", true}, /* the rest never comes */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct watch_settings settings = {.page_objects = 2,
                                                .watch_quiet_ms = cases[i].quiet_ms};
        start(KIND_POD, 1);
        watcher_destroy(watcher);
        watcher = watcher_create(KIND_POD, &settings, &telling);
        CU_ASSERT_PTR_NOT_NULL_FATAL(watcher);
        answer(200, PODS("100", "", ""));
        next_request();
        CU_ASSERT(!is_watching());
        watcher_head(watcher, now_ms, 200);
        CU_ASSERT(is_watching());
        CU_ASSERT(deliver(cases[i].brings, 7));
        watcher_next(watcher, now_ms, &step);
        ASSERT_INT(step.kind, WATCH_WAIT);
        ASSERT_INT(step.until_ms - now_ms, cases[i].after_ms);
        now_ms = step.until_ms;
        watcher_next(watcher, now_ms, &step);
        ASSERT_INT(step.kind, WATCH_CUT);
        ASSERT_INT(next_request() == 0, !cases[i].dead);
        ASSERT_INT(said, cases[i].dead);
        ASSERT_INT(is_watching(), !cases[i].dead);
        if (!cases[i].dead) {
            CU_ASSERT(lists());
            watcher_head(watcher, now_ms, 200);
            CU_ASSERT(deliver(PODS("200", "next", POD("a", "7")), 7));
            watcher_end(watcher, now_ms, NULL, 0);
            next_request();
            CU_ASSERT(is_watching());
            watcher_end(watcher, now_ms, "connection reset", 0);
            next_request();
            CU_ASSERT(lists() && !is_watching());
        }
        watcher_destroy(watcher);
    }
}

/* How long it waited before it asked and was refused. */
static int64_t refused_after(void)
{
    int64_t waited_ms = next_request();
    watcher_head(watcher, now_ms, 403);
    CU_ASSERT(deliver(STATUS("403", "Forbidden", "pods is forbidden"), 7));
    watcher_end(watcher, now_ms, NULL, 0);
    return waited_ms;
}

/* An API server that has just started knows no roles for a moment. */
static void a_kind_is_left_alone_that_is_refused_again_and_again(void)
{
    start(KIND_POD, 1);
    struct watch_report report;
    for (int i = 0; i < 9; i++) {
        int64_t waited_ms = refused_after();
        CU_ASSERT(i < 6 ? waited_ms <= 45000 : waited_ms >= 150000 && waited_ms <= 450000);
        watcher_report(watcher, now_ms, &report);
        CU_ASSERT(report.degraded);
        ASSERT_TEXT(text_of(report.problem), "answered 403: pods is forbidden");
        ASSERT_INT(said, 1);
    }
    next_request();
    watcher_end(watcher, now_ms, "connection reset", 0);
    ASSERT_INT(said, 2);
    CU_ASSERT(refused_after() <= 1200);
    answer(200, PODS("100", "", ""));
    watcher_report(watcher, now_ms, &report);
    CU_ASSERT(!report.degraded && report.synced && report.problem[0] == '\0');
    ASSERT_INT(said, 2);
    watcher_destroy(watcher);
}

/* Its definition may come at any time. */
static void a_kind_that_is_missing_is_asked_for_each_half_minute(void)
{
    start(KIND_POD, 1);
    for (int i = 0; i < 30; i++) {
        int64_t waited_ms = next_request();
        CU_ASSERT(waited_ms <= 45000 && (i <= 6 || waited_ms >= 15000));
        watcher_head(watcher, now_ms, 404);
        watcher_end(watcher, now_ms, NULL, 0);
    }
    ASSERT_INT(said, 1);
    answer(200, PODS("100", "", ""));
    next_request();
    watcher_end(watcher, now_ms, "connection reset", 0);
    CU_ASSERT(next_request() <= 1200);
    watcher_destroy(watcher);
}

static void what_could_be_read_is_not_given_up_at_once(void)
{
    struct watch_report report;
    start(KIND_POD, 1);
    answer(200, PODS("100", "", ""));
    for (int i = 1; i <= 6; i++) {
        CU_ASSERT(refused_after() <= 45000);
        CU_ASSERT(watches_from("100"));
        watcher_report(watcher, now_ms, &report);
        CU_ASSERT(report.degraded == (i == 6));
    }
    CU_ASSERT(next_request() >= 150000);
    CU_ASSERT(lists());
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(deliver(PODS("200", "", ""), 7));
    watcher_end(watcher, now_ms, NULL, 0);
    refused_after();
    CU_ASSERT(watches_from("200"));
    watcher_report(watcher, now_ms, &report);
    CU_ASSERT(!report.degraded);
    CU_ASSERT(next_request() <= 1200);
    CU_ASSERT(watches_from("200"));
    watcher_destroy(watcher);
}

static void versions_are_tried_in_order(void)
{
    static const char *const paths[] = {"/apis/karpenter.sh/v1/nodepools?limit=2",
                                        "/apis/karpenter.sh/v1beta1/nodepools?limit=2"};
    start(KIND_NODE_POOL, 1);
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT(next_request() < 1);
        ASSERT_TEXT(text_of(step.path), paths[i]);
        watcher_head(watcher, now_ms, 404);
        watcher_end(watcher, now_ms, NULL, 0);
        ASSERT_INT(said, i);
    }
    CU_ASSERT(next_request() <= 1200);
    ASSERT_TEXT(text_of(step.path), paths[0]);
    watcher_destroy(watcher);
}

static void back_off_grows_and_differs(void)
{
    uint64_t sums[3];
    for (uint64_t seed = 0; seed < 3; seed++) {
        start(KIND_POD, seed);
        sums[seed] = 0;
        for (int i = 0; i < 12; i++) {
            next_request();
            watcher_end(watcher, now_ms, "connection refused", 0);
            int64_t waited_ms = next_request();
            int64_t centre_ms = i < 6 ? INT64_C(800) << (2 * i < 6 ? 2 * i : 6) : 30000;
            if (centre_ms > 30000)
                centre_ms = 30000;
            CU_ASSERT(waited_ms >= centre_ms / 2 && waited_ms <= centre_ms * 3 / 2);
            sums[seed] = sums[seed] * 31 + (uint64_t)waited_ms;
            watcher_end(watcher, now_ms, "connection refused", 0);
        }
        ASSERT_INT(said, 1); /* once, though it failed 24 times */
        watcher_destroy(watcher);
    }
    CU_ASSERT(sums[0] != sums[1] && sums[1] != sums[2]);
}

/* A server whose every watch has expired is not stormed with lists. */
static void expiry_after_expiry_backs_off(void)
{
    start(KIND_POD, 1);
    int64_t begun_ms = now_ms;
    for (int i = 0; i < 10; i++) {
        answer(200, PODS("100", "", ""));
        answer(410, STATUS("410", "Expired", "too old"));
    }
    next_request();
    CU_ASSERT(now_ms - begun_ms > 60000);
    watcher_destroy(watcher);
}

static void memory_that_runs_out_in_the_sink_means_a_list(void)
{
    start_watching();
    refuse = true;
    CU_ASSERT(!deliver(EVENT("ADDED", TYPED("a", "101")), 7));
    refuse = false;
    next_request();
    CU_ASSERT(lists());
    watcher_destroy(watcher);
}

/* As much as one chunk, of nothing but this byte. False: no more is wanted. */
static bool deliver_run(char byte, size_t count)
{
    char part[1024];
    memset(part, byte, sizeof part);
    bool on = true;
    for (; on && count > 0; count -= count < sizeof part ? count : sizeof part)
        on = watcher_bytes(watcher, now_ms,
                           (struct text){part, count < sizeof part ? count : sizeof part});
    return on;
}

enum { TOO_MANY_BYTES = 10000 };
#define LARGE_BEGIN(name, rv)                                                \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name \
    "\",\"namespace\":\"shop\",\"resourceVersion\":\"" rv                    \
    "\",\"annotations\":{\"a\":\"}<\",\"b\":\""

/* Only its beginning is held, and the watch goes on behind it. */
static void an_event_that_is_too_large_costs_itself(void)
{
    start_watching();
    CU_ASSERT(deliver("{\"type\":\"ADDED\",\"object\":" LARGE_BEGIN("a", "101"), 7));
    CU_ASSERT(deliver_run('x', TOO_MANY_BYTES));
    CU_ASSERT(watcher_used_bytes(watcher) < 200000);
    ASSERT_TOLD("");
    CU_ASSERT(deliver("\"}}}}" EVENT("ADDED", TYPED("b", "102")), 7));
    ASSERT_TOLD("unreadable a put b");
    ASSERT_TEXT(text_of(told_why), "it is larger than the allowed 4071 bytes");
    CU_ASSERT(deliver("{\"type\":\"DELETED\",\"object\":" LARGE_BEGIN("a", "103"), 7));
    CU_ASSERT(deliver_run('x', TOO_MANY_BYTES));
    CU_ASSERT(deliver("\"}}}}", 7));
    ASSERT_TOLD("remove a");
    watcher_end(watcher, now_ms + 5000, NULL, 0);
    next_request();
    CU_ASSERT(watches_from("103"));
    ASSERT_INT(said, 0);
    watcher_destroy(watcher);
}

/* One of which nobody can say what it is called, and one without an end. */
static void a_large_event_without_a_name_means_a_list(void)
{
    start_watching();
    CU_ASSERT(deliver("{\"type\":\"ADDED\",\"object\":{\"spec\":\"", 7));
    CU_ASSERT(deliver_run('x', TOO_MANY_BYTES));
    CU_ASSERT(!deliver("\",\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}}", 7));
    next_request();
    CU_ASSERT(lists());
    watcher_destroy(watcher);
    start_watching();
    CU_ASSERT(deliver("{\"type\":\"", 50));
    CU_ASSERT(!deliver_run('x', (size_t)20 * 4096));
    CU_ASSERT(watcher_used_bytes(watcher) < 200000);
    next_request();
    CU_ASSERT(lists());
    watcher_destroy(watcher);
}

/* An object, and how it is told. */
#define META(name, more) \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"shop\",\"resourceVersion\":\"101\"" more
static void one_object_that_cannot_be_read_costs_itself(void)
{
    enum { DEPTH = 1000, COUNT = 280000 };
    static const struct {
        const char *begin, *piece, *end, *told;
        size_t pieces;
    } cases[] = {
        /* What nobody looks at may be as deep and wide as it likes. */
        {META("a", ",\"managedFields\":["), "[", "", "put", DEPTH},
        {META("a", "},\"spec\":{\"containers\":[{\"name\":\"c\",\"env\":["), "{\"name\":\"E\"},",
         "{}]}]}}", "put", COUNT},
        {META("a", ",\"annotations\":{"), "\"x\":\"<\",", "\"y\":1}}}", "put", COUNT},
        /* What is looked at may not. */
        {META("a", "},\"spec\":{\"affinity\":"), "{\"x\":", "", "unreadable", DEPTH},
        {META("a", "},\"spec\":{\"tolerations\":["), "{},", "{}]}}", "unreadable", COUNT},
        {META("a", ",\"labels\":[]}}"), "", "", "unreadable", 0},
        {META("a", ",\"labels\":{\"x\":1,\"x\":2}}}"), "", "", "unreadable", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t piece_bytes = strlen(cases[i].piece);
        struct watch_settings settings = {.page_objects = 2};
        char expected[100], *object = calloc(1, 4096 + cases[i].pieces * (piece_bytes + 2));
        char *at = stpcpy(object, cases[i].begin);
        for (size_t j = 0; j < cases[i].pieces; j++)
            at = stpcpy(at, cases[i].piece);
        for (size_t j = 0; cases[i].pieces == DEPTH && j < DEPTH; j++)
            at = stpcpy(at, cases[i].piece[0] == '[' ? "]" : j == 0 ? "1}" : "}");
        strcpy(at, cases[i].pieces != DEPTH   ? cases[i].end
                   : cases[i].piece[0] == '[' ? "]}}"
                                              : "}}");

        start(KIND_POD, 1);
        watcher_destroy(watcher);
        watcher = watcher_create(KIND_POD, &settings, &telling);
        next_request();
        watcher_head(watcher, now_ms, 200);
        CU_ASSERT(deliver("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},"
                          "\"items\":[" POD("b", "1") ",",
                          100));
        CU_ASSERT(deliver(object, 1000));
        CU_ASSERT(deliver("," POD("c", "1") "]}", 100));
        watcher_end(watcher, now_ms, NULL, 0);
        snprintf(expected, sizeof expected, "begin put b %s a put c end", cases[i].told);
        ASSERT_TOLD(expected);

        next_request();
        watcher_head(watcher, now_ms, 200);
        CU_ASSERT(deliver("{\"type\":\"MODIFIED\",\"object\":", 100));
        CU_ASSERT(deliver(object, 1000));
        CU_ASSERT(deliver("}\n" EVENT("DELETED", TYPED("b", "102")), 100));
        snprintf(expected, sizeof expected, "%s a remove b", cases[i].told);
        ASSERT_TOLD(expected);
        ASSERT_INT(said, 0);
        watcher_destroy(watcher);
        free(object);
    }
}

/* Who wants objects whole wants no managedFields either, and everything else counts. */
static void whole_objects_have_no_managed_fields(void)
{
    const struct watch_settings settings = {.whole = true};
    char deep[600] = "";
    memset(deep, '[', 200);
    memset(deep + 200, ']', 200);
    start(KIND_POD, 1);
    watcher_destroy(watcher);
    watcher = watcher_create(KIND_POD, &settings, &telling);
    next_request();
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(
        deliver("{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" META(
                    "a", ",\"managedFields\":"),
                100));
    CU_ASSERT(deliver(deep, 100));
    CU_ASSERT(deliver("}}," META("b", "},\"spec\":{\"x\":"), 100));
    CU_ASSERT(deliver(deep, 100));
    CU_ASSERT(deliver("}}]}", 100));
    watcher_end(watcher, now_ms, NULL, 0);
    ASSERT_TOLD("begin put a unreadable b end");
    watcher_destroy(watcher);
}

/* ---- pages that are too large ---- */

static void start_pages(size_t objects)
{
    const struct watch_settings settings = {.page_objects = objects,
                                            .page_bytes_max = TOO_MANY_BYTES};
    start(KIND_POD, 1);
    watcher_destroy(watcher);
    watcher = watcher_create(KIND_POD, &settings, &telling);
}

static void ask_page(const char *path)
{
    CU_ASSERT(next_request() < 1);
    ASSERT_TEXT(text_of(step.path), path);
    watcher_head(watcher, now_ms, 200);
}

#define PAGE(next, items)                                                                \
    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"9\",\"continue\":\"" next \
    "\"},\"items\":[" items

/* The page of a list, with as many more bytes as make it too large, and what follows. */
static void answer_page(const char *begin, bool is_large, const char *end)
{
    CU_ASSERT(deliver(begin, 7));
    CU_ASSERT(!is_large || deliver_run(' ', TOO_MANY_BYTES));
    CU_ASSERT(deliver(end, 7));
    watcher_end(watcher, now_ms, NULL, 0);
}

/* It is read to its end, so that no object is passed on twice, and none that has gone since then
 * stays. Then pages halve, down to one object, and get longer when they are small again. */
static void a_page_that_is_too_large_makes_the_next_one_shorter(void)
{
    start_pages(5);
    ask_page("/api/v1/pods?limit=5");
    answer_page(PAGE("v", POD("a", "1")), true, "," POD("b", "1") "]}");
    ASSERT_TOLD("begin put a put b");
    struct watch_report report;
    watcher_report(watcher, now_ms, &report);
    CU_ASSERT(report.listing && report.failures == 0);
    ask_page("/api/v1/pods?limit=2&continue=v");
    answer_page(PAGE("w", POD("c", "1")), true, "]}");
    ask_page("/api/v1/pods?limit=1&continue=w");
    answer_page(PAGE("x", POD("d", "1")), true, "]}");
    ask_page("/api/v1/pods?limit=1&continue=x");
    answer_page(PAGE("y", POD("e", "1")), false, "]}");
    ask_page("/api/v1/pods?limit=2&continue=y");
    answer_page(PAGE("z", POD("f", "1")), false, "]}");
    ask_page("/api/v1/pods?limit=4&continue=z");
    answer_page(PAGE("", POD("g", "1")), true, "]}");
    ASSERT_TOLD("put c put d put e put f put g end");
    ASSERT_INT(said, 0);
    next_request();
    CU_ASSERT(watches_from("9"));
    /* The next list begins with pages of the length that the last one came to. */
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(!deliver(EVENT("ERROR", STATUS("410", "Gone", "")), 7));
    next_request();
    ASSERT_TEXT(text_of(step.path), "/api/v1/pods?limit=2");
    watcher_destroy(watcher);
}

/* A list in one page says nothing of how long pages may be. */
static void a_large_list_in_one_leaves_pages_as_long_as_they_are(void)
{
    start_pages(4);
    ask_page("/api/v1/pods?limit=4");
    answer_page(PAGE("x", POD("a", "1")), false, "]}");
    answer(410, STATUS("410", "Expired", "The provided continue parameter is too old"));
    next_request();
    ASSERT_TEXT(text_of(step.path), "/api/v1/pods");
    watcher_head(watcher, now_ms, 200);
    answer_page(PAGE("", POD("b", "1")), true, "]}");
    next_request();
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(!deliver(EVENT("ERROR", STATUS("410", "Gone", "")), 7));
    next_request();
    ASSERT_TEXT(text_of(step.path), "/api/v1/pods?limit=4");
    watcher_destroy(watcher);
}

/* As an API server does that has no time for it. */
static void a_page_that_breaks_off_is_asked_for_in_halves(void)
{
    start_pages(4);
    ask_page("/api/v1/pods?limit=4");
    CU_ASSERT(deliver(PAGE("x", POD("a", "1") ","), 7));
    watcher_end(watcher, now_ms, "transfer closed with outstanding read data remaining", 0);
    next_request();
    ASSERT_TEXT(text_of(step.path), "/api/v1/pods?limit=2");
    watcher_end(watcher, now_ms, "connection refused", 0);
    next_request();
    ASSERT_TEXT(text_of(step.path), "/api/v1/pods?limit=2");
    /* That is another list, which replaces what the first one brought. */
    watcher_head(watcher, now_ms, 200);
    CU_ASSERT(deliver(PAGE("", POD("a", "1") "]}"), 7));
    ASSERT_TOLD("begin put a begin put a");
    watcher_destroy(watcher);
}

/* ---- memory that kinds share ---- */

/* Who came first goes on; the other waits until it is done. */
static void kinds_wait_for_each_other(void)
{
    enum { LARGE = 200000 };
    struct watch_budget budget = {.limit_bytes = (size_t)2 * LARGE};
    const struct watch_settings settings = {.budget = &budget};
    struct watcher *both[2];
    start(KIND_POD, 1);
    watcher_destroy(watcher);
    for (size_t i = 0; i < 2; i++) {
        both[i] = watcher = watcher_create(KIND_POD, &settings, &telling);
        next_request();
        watcher_head(watcher, now_ms, 200);
        CU_ASSERT(deliver(PAGE("", META("a", ",\"x\":\"")), 7));
        CU_ASSERT(deliver_run('<', LARGE));
        CU_ASSERT(!watcher_waits(both[0]));
    }
    CU_ASSERT(watcher_waits(both[1]));
    CU_ASSERT(budget.used_bytes > budget.limit_bytes);
    for (int i = 0; i < 10; i++) { /* however long that takes, it is not dead */
        now_ms += 29000;
        CU_ASSERT(watcher_bytes(both[0], now_ms, TEXT("<")));
        watcher_next(both[1], now_ms, &step);
        ASSERT_INT(step.kind, WATCH_WAIT);
    }
    watcher = both[0];
    CU_ASSERT(deliver("\"}}", 7));
    CU_ASSERT(!watcher_waits(both[1]) && !watcher_waits(both[0]));
    ASSERT_TOLD("begin put a");
    watcher = both[1];
    CU_ASSERT(deliver("\"}}]}", 7));
    ASSERT_INT(budget.used_bytes, 0);
    for (size_t i = 0; i < 2; i++)
        watcher_destroy(both[i]);
    /* One that goes for good lets go of what it held. */
    CU_ASSERT_PTR_NULL(budget.senior);
}

const struct unit_test unit_tests[] = {
    {"custom owners are asked for by their metadata",
     custom_owners_are_asked_for_by_their_metadata},
    {"custom owners keep their names", custom_owners_keep_their_names},
    {"custom owners that cannot be listed", custom_owners_that_cannot_be_listed},
    {"a group that is none", a_group_that_is_none},
    {"a list is read by pages", a_list_is_read_by_pages},
    {"events do not care how bytes are cut", events_do_not_care_how_bytes_are_cut},
    {"what ends a watch", what_ends_a_watch},
    {"refusals of a watch", refusals_of_a_watch},
    {"lists that are none are asked for again", lists_that_are_none_are_asked_for_again},
    {"a page that expired is followed by a list in one",
     a_page_that_expired_is_followed_by_a_list_in_one},
    {"a list without end is given up", a_list_without_end_is_given_up},
    {"what is asked again has not failed", what_is_asked_again_has_not_failed},
    {"a dead connection is cut", a_dead_connection_is_cut},
    {"a watch that says nothing is followed by a list",
     a_watch_that_says_nothing_is_followed_by_a_list},
    {"a quiet watch is no dead one", a_quiet_watch_is_no_dead_one},
    {"a kind is left alone that is refused again and again",
     a_kind_is_left_alone_that_is_refused_again_and_again},
    {"a kind that is missing is asked for each half minute",
     a_kind_that_is_missing_is_asked_for_each_half_minute},
    {"what could be read is not given up at once", what_could_be_read_is_not_given_up_at_once},
    {"versions are tried in order", versions_are_tried_in_order},
    {"back-off grows and differs", back_off_grows_and_differs},
    {"expiry after expiry backs off", expiry_after_expiry_backs_off},
    {"memory that runs out in the handler means a list",
     memory_that_runs_out_in_the_sink_means_a_list},
    {"an event that is too large costs itself", an_event_that_is_too_large_costs_itself},
    {"a large event without a name means a list", a_large_event_without_a_name_means_a_list},
    {"one object that cannot be read costs itself", one_object_that_cannot_be_read_costs_itself},
    {"whole objects have no managed fields", whole_objects_have_no_managed_fields},
    {"a page that is too large makes the next one shorter",
     a_page_that_is_too_large_makes_the_next_one_shorter},
    {"a large list in one leaves pages as long as they are",
     a_large_list_in_one_leaves_pages_as_long_as_they_are},
    {"a page that breaks off is asked for in halves",
     a_page_that_breaks_off_is_asked_for_in_halves},
    {"kinds wait for each other", kinds_wait_for_each_other},
    {NULL, NULL},
};
