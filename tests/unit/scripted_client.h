/* The client of the API server, in place of live/http.c: its answers are a test's, and the clock
 * goes on when the thread that uses it has nothing to do, and only then. */
#ifndef TAFFRAIL_UNIT_SCRIPTED_CLIENT_H
#define TAFFRAIL_UNIT_SCRIPTED_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "live/client.h"
#include "unit.h"

enum { SCRIPT_REPLIES_MAX = 32, SCRIPT_ASKED_MAX = 256, SCRIPT_CALLS_MAX = 2 };
static const int64_t SCRIPT_BEGINS_MS = 5000000, NEVER_MS = INT64_MAX;

/* The first one that fits a request and is not used up answers it; without any it is 404. */
struct script_reply {
    const char *request; /* "GET /api/v1/...", or the beginning of one and a star */
    unsigned status;     /* 0: no answer, and failure says why */
    const char *body, *failure;
    int64_t retry_after_s;
    int64_t after_ms; /* it takes so long; NEVER_MS: none comes */
    unsigned times;   /* it is used so often; 0: always */
};

struct script_asked {
    char *request, *body;
    int64_t at_ms;
};

struct script_watch {
    bool watched;
    unsigned count; /* how often it began */
    struct watch_settings settings;
    struct event_handler handler;
    char custom[128];           /* "Rollout.argoproj.io rollouts": settings.custom */
    struct watch_report report; /* as client_report gives it */
};

struct script_call {
    bool open;
    int64_t due_ms;
    struct script_reply reply;
    char *body; /* of an answer that script.answer gave */
    void (*answered)(void *context, const struct call_answer *answer);
    void *context;
};

struct client {
    bool open;
};

/* One thread uses it, as the real client, apart from client_wake. A test looks at it while that
 * thread rests, or before and after it runs. */
static struct {
    struct client client;
    struct script_reply replies[SCRIPT_REPLIES_MAX];
    size_t reply_count;
    unsigned used[SCRIPT_REPLIES_MAX];
    /* Instead of the replies, where it says true; the body is freed. */
    bool (*answer)(const struct call_request *request, const char *path, struct script_reply *reply,
                   char **body);
    struct script_asked asked[SCRIPT_ASKED_MAX];
    size_t asked_count;
    struct script_call calls[SCRIPT_CALLS_MAX];
    struct script_watch of[KIND_COUNT];
    char listed_again[256];
    /* The next so many of them fail. */
    unsigned opens_fail, calls_fail, runs_fail, watches_fail;
    /* Called in client_run, on its thread, before it rests; true: something has happened. */
    bool (*turn)(void);
    /* Called at the begin of client_run, on its thread. */
    void (*runs)(int64_t for_ms);

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    _Atomic int64_t now_ms;
    bool ends; /* it is not held any more after the next client_wake */
    bool held; /* the clock goes on when script_pass says so, else by itself */
    bool woken, resting;
    int64_t rests_until_ms;
    atomic_uint wake_count;
} script = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- the clock, in place of base/clock.c ---- */

int64_t monotonic_ms(void)
{
    return atomic_load(&script.now_ms);
}

int64_t monotonic_us(void)
{
    return monotonic_ms() * 1000;
}

int64_t unix_us(void)
{
    return (1795000000000 + monotonic_ms()) * 1000;
}

int64_t thread_cpu_us(void)
{
    return monotonic_us();
}

struct timespec timespec_of_ms(int64_t ms)
{
    return (struct timespec){ms / 1000, ms % 1000 * 1000000};
}

/* ---- for a test ---- */

static inline void script_forget_asked(void)
{
    for (size_t i = 0; i < script.asked_count; i++) {
        free(script.asked[i].request);
        free(script.asked[i].body);
    }
    script.asked_count = 0;
}

static inline void script_end(void)
{
    script_forget_asked();
    for (size_t i = 0; i < SCRIPT_CALLS_MAX; i++)
        free(script.calls[i].body);
    memset(script.calls, 0, sizeof script.calls);
}

static inline void script_begin(void)
{
    script_end();
    script.reply_count = 0;
    memset(script.used, 0, sizeof script.used);
    memset(script.of, 0, sizeof script.of);
    script.listed_again[0] = '\0';
    script.opens_fail = script.calls_fail = script.runs_fail = script.watches_fail = 0;
    script.answer = NULL;
    script.turn = NULL;
    script.runs = NULL;
    script.held = script.ends = script.woken = script.resting = false;
    atomic_store(&script.now_ms, SCRIPT_BEGINS_MS);
    atomic_store(&script.wake_count, 0);
}

static inline void script_reply(struct script_reply reply)
{
    CU_ASSERT_FATAL(script.reply_count < SCRIPT_REPLIES_MAX);
    script.used[script.reply_count] = 0;
    script.replies[script.reply_count++] = reply;
}

/* From here on other replies count. */
static inline void script_new_replies(void)
{
    script.reply_count = 0;
}

static inline bool script_fits(const char *pattern, const char *request)
{
    size_t size = strlen(pattern);
    return size > 0 && pattern[size - 1] == '*' ? strncmp(pattern, request, size - 1) == 0
                                                : strcmp(pattern, request) == 0;
}

/* How many requests fit, of those since they were last forgotten. */
static inline size_t script_count(const char *pattern)
{
    size_t count = 0;
    for (size_t i = 0; i < script.asked_count; i++)
        count += script_fits(pattern, script.asked[i].request);
    return count;
}

/* The last one of them; its texts are empty when there is none. */
static inline struct script_asked script_last(const char *pattern)
{
    static char none[] = "";
    for (size_t i = script.asked_count; i > 0; i--)
        if (script_fits(pattern, script.asked[i - 1].request))
            return script.asked[i - 1];
    return (struct script_asked){none, none, -1};
}

/* Asserts what has been asked for, a line each, and forgets it. */
static inline void script_assert_asked(const char *expected, int line)
{
    static char lines[SCRIPT_ASKED_MAX * 256];
    size_t size = 0;
    lines[0] = '\0';
    for (size_t i = 0; i < script.asked_count; i++)
        size +=
            (size_t)snprintf(lines + size, sizeof lines - size, "%s\n", script.asked[i].request);
    unit_assert_text(text_of(lines), text_of(expected), __FILE__, line);
    script_forget_asked();
}
#define ASSERT_ASKED(expected) script_assert_asked((expected), __LINE__)

/* ---- a thread that uses it ---- */

static inline bool script_rests(void)
{
    return script.resting && !script.woken && monotonic_ms() < script.rests_until_ms;
}

/* Waits until the thread has nothing to do. */
static inline void script_await_rest(void)
{
    pthread_mutex_lock(&script.mutex);
    while (!script_rests())
        pthread_cond_wait(&script.changed, &script.mutex);
    pthread_mutex_unlock(&script.mutex);
}

/* Lets so much time pass, and waits until the thread has nothing to do. */
static inline void script_pass(int64_t ms)
{
    pthread_mutex_lock(&script.mutex);
    int64_t end_ms = monotonic_ms() + ms;
    for (;;) {
        while (!script_rests())
            pthread_cond_wait(&script.changed, &script.mutex);
        bool last = end_ms < script.rests_until_ms;
        atomic_store(&script.now_ms, last ? end_ms : script.rests_until_ms);
        if (last)
            break;
        pthread_cond_broadcast(&script.changed);
    }
    pthread_mutex_unlock(&script.mutex);
}

/* Lets script.turn look again, and waits until the thread has nothing to do. No time passes. */
static inline void script_stir(void)
{
    script_await_rest();
    pthread_mutex_lock(&script.mutex);
    script.rests_until_ms = monotonic_ms();
    pthread_cond_broadcast(&script.changed);
    pthread_mutex_unlock(&script.mutex);
    script_await_rest();
}

/* The thread is going to be ended: once it is woken the clock goes on by itself. */
static inline void script_let_go(void)
{
    pthread_mutex_lock(&script.mutex);
    script.ends = true;
    pthread_mutex_unlock(&script.mutex);
}

static inline void script_rest(int64_t until_ms)
{
    pthread_mutex_lock(&script.mutex);
    script.resting = true;
    script.rests_until_ms = until_ms;
    pthread_cond_broadcast(&script.changed);
    while (script.held && script_rests())
        pthread_cond_wait(&script.changed, &script.mutex);
    script.resting = false;
    if (!script.held && !script.woken && monotonic_ms() < until_ms)
        atomic_store(&script.now_ms, until_ms);
    pthread_mutex_unlock(&script.mutex);
}

/* CUnit counts without a lock, and these run beside the test. */
static inline void script_fail(const char *what, int line)
{
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, line, what);
    abort();
}
#define SCRIPT_REQUIRE(condition) ((condition) ? (void)0 : script_fail(#condition, __LINE__))

/* While there are none, no thread can be started: there is no room for its stack. */
static inline void script_allow_threads(bool any)
{
    static pthread_attr_t usual, too_large;
    static bool known;
    if (!known) {
        SCRIPT_REQUIRE(pthread_getattr_default_np(&usual) == 0 &&
                       pthread_getattr_default_np(&too_large) == 0 &&
                       pthread_attr_setstacksize(&too_large, (size_t)1 << 62) == 0);
        known = true;
    }
    SCRIPT_REQUIRE(pthread_setattr_default_np(any ? &usual : &too_large) == 0);
}

/* What is said where no thread can be started. start: an expression that tries, and fills in error.
 */
#define ASSERT_NO_THREAD(start, error, beginning)                            \
    do {                                                                     \
        script_allow_threads(false);                                         \
        bool started = (start);                                              \
        script_allow_threads(true);                                          \
        CU_ASSERT_FALSE(started);                                            \
        ASSERT_INT((error).kind, ERROR_MEMORY);                              \
        CU_ASSERT(text_starts_with(text_of((error).what), TEXT(beginning))); \
    } while (0)

/* Of the system's clock. */
static inline int64_t real_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- live/client.h ---- */

bool client_open(const struct client_config *config, int64_t (*now_ms)(void),
                 struct client **client, struct error *error)
{
    (void)config;
    if (script.opens_fail > 0) {
        script.opens_fail--;
        return error_set(error, ERROR_INPUT, NOWHERE, "the script opens no client");
    }
    SCRIPT_REQUIRE(!script.client.open);
    SCRIPT_REQUIRE(now_ms == NULL || now_ms == monotonic_ms);
    script.client.open = true;
    *client = &script.client;
    return true;
}

void client_close(struct client *client)
{
    if (client != NULL)
        client->open = false;
}

void client_wake(struct client *client)
{
    SCRIPT_REQUIRE(client->open);
    pthread_mutex_lock(&script.mutex);
    script.woken = true;
    script.held &= !script.ends;
    pthread_cond_broadcast(&script.changed);
    pthread_mutex_unlock(&script.mutex);
    atomic_fetch_add(&script.wake_count, 1);
}

bool client_watch(struct client *client, enum kind kind, const struct watch_settings *settings,
                  const struct event_handler *handler, struct error *error)
{
    struct script_watch *watch = &script.of[kind];
    SCRIPT_REQUIRE(client->open && !watch->watched);
    if (script.watches_fail > 0) {
        script.watches_fail--;
        return error_set(error, ERROR_MEMORY, NOWHERE, "the script watches nothing");
    }
    *watch = (struct script_watch){
        .watched = true, .count = watch->count + 1, .settings = *settings, .handler = *handler};
    watch->report.age_ms = -1;
    if (settings->custom != NULL)
        snprintf(watch->custom, sizeof watch->custom, "%.*s.%.*s %.*s",
                 TEXT_ARGS(settings->custom->kind), TEXT_ARGS(settings->custom->group),
                 TEXT_ARGS(settings->custom->plural));
    return true;
}

void client_unwatch(struct client *client, enum kind kind)
{
    SCRIPT_REQUIRE(client->open);
    script.of[kind].watched = false;
}

void client_list_again(struct client *client, enum kind kind)
{
    size_t size = strlen(script.listed_again);
    SCRIPT_REQUIRE(client->open);
    snprintf(script.listed_again + size, sizeof script.listed_again - size, "%s%s",
             size > 0 ? " " : "", kind_table[kind].plural);
}

bool client_report(const struct client *client, enum kind kind, struct watch_report *report)
{
    SCRIPT_REQUIRE(client->open);
    if (script.of[kind].watched)
        *report = script.of[kind].report;
    return script.of[kind].watched;
}

static inline struct script_reply script_reply_to(const char *request)
{
    for (size_t i = 0; i < script.reply_count; i++) {
        const struct script_reply *reply = &script.replies[i];
        if (script_fits(reply->request, request) &&
            (reply->times == 0 || script.used[i] < reply->times)) {
            script.used[i]++;
            return *reply;
        }
    }
    return (struct script_reply){
        .status = 404, .body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"gone\"}"};
}

bool client_call(struct client *client, const struct call_request *request,
                 void (*answered)(void *context, const struct call_answer *answer), void *context,
                 struct error *error)
{
    static const char *const verbs[] = {
        [CALL_GET] = "GET",     [CALL_CREATE] = "POST",      [CALL_UPDATE] = "PUT",
        [CALL_APPLY] = "PATCH", [CALL_DELETE] = "DELETE",    [CALL_LIST] = "LIST",
        [CALL_SELECT] = "LIST", [CALL_DISCOVER] = "DISCOVER"};
    char path[CALL_PATH_BYTES], line[CALL_PATH_BYTES + 16];
    struct script_call *call = script.calls[0].open ? &script.calls[1] : &script.calls[0];
    SCRIPT_REQUIRE(client->open && !call->open);
    SCRIPT_REQUIRE(script.asked_count < SCRIPT_ASKED_MAX);
    if (!call_path(request, path))
        return error_set(error, ERROR_INPUT, NOWHERE, "a name does not fit");
    snprintf(line, sizeof line, "%s %s", verbs[request->verb], path);
    script.asked[script.asked_count++] =
        (struct script_asked){strdup(line), text_duplicate(request->body), monotonic_ms()};
    if (script.calls_fail > 0) {
        script.calls_fail--;
        return error_set(error, ERROR_MEMORY, NOWHERE, "the script sends nothing");
    }
    *call = (struct script_call){.open = true, .answered = answered, .context = context};
    if (script.answer == NULL || !script.answer(request, path, &call->reply, &call->body)) {
        call->reply = script_reply_to(line);
        call->body = call->reply.body == NULL ? NULL : strdup(call->reply.body);
    }
    call->due_ms =
        call->reply.after_ms == NEVER_MS ? NEVER_MS : monotonic_ms() + call->reply.after_ms;
    return true;
}

void client_drop_calls(struct client *client)
{
    SCRIPT_REQUIRE(client->open);
    for (size_t i = 0; i < SCRIPT_CALLS_MAX; i++) {
        free(script.calls[i].body);
        script.calls[i] = (struct script_call){0};
    }
}

/* What an answer says is gone after the call. */
static inline bool script_deliver(void)
{
    for (size_t i = 0; i < SCRIPT_CALLS_MAX; i++) {
        struct script_call call = script.calls[i];
        if (!call.open || monotonic_ms() < call.due_ms)
            continue;
        struct call_answer answer;
        struct text body = text_of(call.body == NULL ? "" : call.body);
        call_read(call.reply.status, body, call.reply.retry_after_s,
                  call.reply.status == 0 ? call.reply.failure : NULL, &answer);
        script.calls[i] = (struct script_call){0};
        call.answered(call.context, &answer);
        free(call.body);
        return true;
    }
    return false;
}

static inline bool script_takes_wake(void)
{
    pthread_mutex_lock(&script.mutex);
    bool woken = script.woken;
    script.woken = false;
    pthread_mutex_unlock(&script.mutex);
    return woken;
}

bool client_run(struct client *client, int64_t for_ms, struct error *error)
{
    int64_t end_ms = monotonic_ms() + for_ms;
    SCRIPT_REQUIRE(client->open && for_ms >= 0);
    if (script.runs != NULL)
        script.runs(for_ms);
    if (script.runs_fail > 0) {
        script.runs_fail--;
        return error_set(error, ERROR_IO, NOWHERE, "the script does not run");
    }
    for (;;) {
        if (script_takes_wake())
            return true;
        if (script_deliver() || (script.turn != NULL && script.turn()))
            continue;
        if (monotonic_ms() >= end_ms)
            return true;
        int64_t until_ms = end_ms;
        for (size_t i = 0; i < SCRIPT_CALLS_MAX; i++)
            if (script.calls[i].open && script.calls[i].due_ms < until_ms)
                until_ms = script.calls[i].due_ms;
        script_rest(until_ms);
    }
}

#endif
