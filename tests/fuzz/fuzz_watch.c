/* What an API server answers, read by the state machine of a kind: a byte that names the kind and
 * the settings, then answers with a NUL between them ("404" before the body is its status, "lost"
 * and "dead" how it ends). No crash, no leak; however the bytes are cut, the same is told, and an
 * event says of its object what the JSON reader says. */
/* reads: live/scan.c live/watch_read.c live/watch.c live/transform_choice.c */
#include <stdio.h>
#include <string.h>

#include "base/doc_internal.h"
#include "fuzz.h"
#include "kube/object.h"
#include "live/stored.h"
#include "live/watch.h"

enum {
    ARENA_BYTES = 64 << 20,
    OBJECT_BYTES_MAX = 1500,
    INPUT_BYTES_MAX = 16 << 10,
    STEPS_MAX = 200,
    SMALL_PAGE_OBJECTS = 4,
    SMALL_PAGE_BYTES = 600,
    TAKEN_MAX = 2, /* by a store that is full then */
};

static const enum kind kinds[] = {KIND_POD, KIND_NODE, KIND_NODE_POOL, KIND_PERSISTENT_VOLUME_CLAIM,
                                  KIND_OWNER_FIRST};
static const struct custom_kind rollout = {
    .group = TEXT("argoproj.io"), .kind = TEXT("Rollout"), .plural = TEXT("rollouts")};

static struct arena *arena;

struct setting {
    enum kind kind;
    bool whole, small_pages, full_soon;
};

static struct setting setting_of(uint8_t byte)
{
    return (struct setting){
        .kind = kinds[(byte & 0x1F) % COUNT_OF(kinds)],
        .whole = (byte & 0x80) != 0,
        .small_pages = (byte & 0x40) != 0,
        .full_soon = (byte & 0x20) != 0,
    };
}

/* ---- what is told, as one number ---- */

struct told {
    uint64_t hash;
    size_t calls;
    size_t room; /* objects that the store still takes */
};

static void mix(struct told *told, struct text t)
{
    for (size_t i = 0; i < t.size; i++)
        told->hash = (told->hash ^ (unsigned char)t.data[i]) * UINT64_C(1099511628211);
    told->hash = (told->hash ^ t.size) * UINT64_C(1099511628211);
}

static void mix_object(struct told *told, char what, const struct object *object)
{
    REQUIRE(object->name.size > 0);
    mix(told, (struct text){&what, 1});
    mix(told, object->namespace);
    mix(told, object->name);
    told->calls++;
}

static bool list_begin(void *context, enum kind kind)
{
    (void)kind;
    mix(context, TEXT("begin"));
    return true;
}

static bool list_end(void *context, enum kind kind)
{
    (void)kind;
    mix(context, TEXT("end"));
    return true;
}

static bool put(void *context, const struct object *object)
{
    struct told *told = context;
    mix_object(told, 'p', object);
    mix(told, node_json(object->root->node, arena));
    told->room -= told->room > 0;
    return told->room > 0;
}

static bool put_unreadable(void *context, const struct object *object, const char *why)
{
    REQUIRE(why[0] != '\0');
    mix_object(context, 'u', object);
    return true;
}

static bool remove_object(void *context, const struct object *object)
{
    mix_object(context, 'r', object);
    return true;
}

static void say(void *context, enum kind kind, enum log_level level, const char *message)
{
    (void)kind, (void)level;
    REQUIRE(message[0] != '\0');
    mix(context, text_of(message));
}

/* ---- the answers, in pieces ---- */

struct ending {
    const char *word;
    unsigned status; /* 0: nothing came */
    const char *failure;
    int64_t retry_after_s;
    bool is_silent; /* it never ends */
};

static const struct ending *take_ending(struct text *answer)
{
    static const struct ending endings[] = {
        {.word = "400", .status = 400},
        {.word = "401", .status = 401},
        {.word = "403", .status = 403},
        {.word = "404", .status = 404},
        {.word = "410", .status = 410},
        {.word = "422", .status = 422},
        {.word = "429", .status = 429, .retry_after_s = 5},
        {.word = "500", .status = 500},
        {.word = "503", .status = 503, .retry_after_s = 1000000},
        {.word = "none", .failure = "no route to host"},
        {.word = "lost", .status = 200, .failure = "connection reset"},
        {.word = "dead", .status = 200, .is_silent = true},
        {.word = "", .status = 200},
    };
    const struct ending *ending = endings;
    while (!text_starts_with(*answer, text_of(ending->word)))
        ending++;
    size_t size = strlen(ending->word);
    *answer = (struct text){answer->data + size, answer->size - size};
    return ending;
}

/* Nothing comes until the connection is given up; the watcher is asked in between, too. */
static int64_t wait_in_vain(struct watcher *watcher, int64_t now_ms)
{
    struct watch_step step;
    watcher_next(watcher, now_ms, &step);
    if (step.kind != WATCH_WAIT || step.until_ms <= now_ms)
        return now_ms;
    int64_t until_ms = step.until_ms;
    watcher_next(watcher, until_ms - (until_ms - now_ms) / 4, &step);
    watcher_next(watcher, until_ms, &step);
    return until_ms;
}

static void answer_all(struct watcher *watcher, struct text answers, size_t piece)
{
    struct watch_step step;
    int64_t now_ms = 1;
    for (int i = 0; i < STEPS_MAX && answers.size > 0; i++) {
        watcher_next(watcher, now_ms, &step);
        if (step.kind == WATCH_WAIT)
            now_ms = step.until_ms > now_ms ? step.until_ms : now_ms + 1;
        if (step.kind != WATCH_SEND)
            continue;
        REQUIRE(step.path[0] == '/');
        struct text answer = answers, rest = TEXT("");
        text_split(answers, '\0', &answer, &rest);
        answers = rest;
        const struct ending *ending = take_ending(&answer);
        bool goes_on = true;
        if (ending->status != 0)
            watcher_head(watcher, now_ms, ending->status);
        for (size_t at = 0; goes_on && at < answer.size; at += piece)
            goes_on =
                watcher_bytes(watcher, now_ms,
                              (struct text){answer.data + at,
                                            answer.size - at < piece ? answer.size - at : piece});
        /* At once, or after a while. */
        now_ms += answer.size % 2 == 0 ? 10 : 2000;
        if (goes_on && ending->is_silent)
            now_ms = wait_in_vain(watcher, now_ms);
        else if (goes_on)
            watcher_end(watcher, now_ms, ending->failure, ending->retry_after_s);
    }
}

static struct told tell(struct setting setting, struct text answers, size_t piece)
{
    struct told told = {.room = setting.full_soon ? TAKEN_MAX : SIZE_MAX};
    const struct event_handler handler = {.context = &told,
                                          .list_begin = list_begin,
                                          .list_end = list_end,
                                          .put = put,
                                          .put_unreadable = put_unreadable,
                                          .remove = remove_object,
                                          .say = say};
    const struct watch_settings settings = {
        .object_bytes_max = OBJECT_BYTES_MAX,
        .whole = setting.whole,
        .custom = setting.kind == KIND_OWNER_FIRST ? &rollout : NULL,
        .page_objects = setting.small_pages ? SMALL_PAGE_OBJECTS : 0,
        .page_bytes_max = setting.small_pages ? SMALL_PAGE_BYTES : 0,
    };
    struct watch_report report;
    arena_reset(arena);
    struct watcher *watcher = watcher_create(setting.kind, &settings, &handler);
    REQUIRE(watcher != NULL);
    answer_all(watcher, answers, piece);
    watcher_report(watcher, 1, &report);
    mix(&told, text_of(report.problem));
    REQUIRE(watcher_used_bytes(watcher) > 0);
    watcher_destroy(watcher);
    return told;
}

/* ---- one event by two readers ---- */

/* NULL: it has no such member. */
static const struct node *without_managed_fields(const struct node *object)
{
    const struct patch_op remove = {.op = PATCH_REMOVE, .path = TEXT("/metadata/managedFields")};
    struct error error;
    if (node_at(object, "metadata.managedFields") == NULL)
        return object;
    return doc_patch(object, &remove, 1, arena, &object, &error) ? object : NULL;
}

struct comparing {
    struct text body;
    struct arena *of_event;
};

static void compare_event(void *argument)
{
    const struct comparing *comparing = argument;
    const struct object_reader reader = {
        .kind = KIND_POD, .version = "v1", .whole = true, .arena = comparing->of_event};
    struct watch_event event;
    struct error error;
    enum read_result result = watch_event_read(&reader, comparing->body, false, &event, &error);
    REQUIRE(result == READ_DONE || error.what[0] != '\0');
    const struct node *root = fuzz_tree(comparing->body, &doc_limits_manifest, arena);
    const struct node *object = node_get(root, "object");
    bool has_object = event.type == EVENT_PUT || event.type == EVENT_REMOVE;
    if (result != READ_DONE || !has_object || object == NULL)
        return;
    REQUIRE(text_equal(event.object.name, node_string(node_at(object, "metadata.name"))));
    REQUIRE(text_equal(event.resource_version,
                       node_string(node_at(object, "metadata.resourceVersion"))));
    if (node_get(object, "kind") != NULL && node_get(object, "apiVersion") != NULL)
        REQUIRE(node_equal(event.object.root->node, without_managed_fields(object)));
}

/* Each value of a stream ends where the walk over it says. */
static void compare_events(struct text stream, struct arena *of_event)
{
    struct value_scan scan = {0};
    size_t used = 0;
    while (stream.size > 0 && value_scan(&scan, stream, &used) == SCAN_WHOLE) {
        struct error error;
        struct text body = {stream.data, used};
        while (body.data[0] != '{')
            body = (struct text){body.data + 1, body.size - 1};
        REQUIRE(json_value_end(body.data, stream.data + stream.size) == stream.data + used);
        struct comparing comparing = {body, of_event};
        arena_reset(arena);
        arena_reset(of_event);
        REQUIRE(arena_guard(arena, compare_event, &comparing, &error) || error.kind == ERROR_LIMIT);
        stream = (struct text){stream.data + used, stream.size - used};
    }
}

/* ---- the other answers ---- */

static void read_others(struct text body, struct arena *of_event)
{
    struct api_versions versions;
    struct watch_event event;
    struct list_head head;
    struct error error;
    if (api_versions_read(body, of_event, &versions, &error))
        for (size_t i = 0; i < versions.count; i++)
            REQUIRE(versions.items[i][0] != '\0' && strchr(versions.items[i], '/') == NULL);
    arena_reset(of_event);
    (void)!status_read(body, of_event, &event);
    arena_reset(of_event);
    if (list_head_read(body, of_event, &head, &error))
        REQUIRE(head.resource_version.size > 0);
    arena_reset(of_event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena *of_event;
    if (size == 0 || size > INPUT_BYTES_MAX)
        return 0;
    if (arena == NULL) {
        arena = arena_create(ARENA_BYTES);
        of_event = arena_create(ARENA_BYTES);
    }
    REQUIRE(arena != NULL && of_event != NULL);
    struct setting setting = setting_of(data[0]);
    struct text answers = {(const char *)data + 1, size - 1};
    struct told whole = tell(setting, answers, size);
    struct told bytes = tell(setting, answers, 1);
    struct told parts = tell(setting, answers, 7);
    REQUIRE(whole.hash == bytes.hash && whole.calls == bytes.calls);
    REQUIRE(whole.hash == parts.hash && whole.calls == parts.calls);
    for (struct text answer, rest = answers; rest.size > 0;) {
        struct text next = TEXT("");
        answer = rest;
        text_split(rest, '\0', &answer, &next);
        compare_events(answer, of_event);
        read_others(answer, of_event);
        rest = next;
    }
    return 0;
}
