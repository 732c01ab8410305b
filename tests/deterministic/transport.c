/* client_* of live/client.h: each answer is a queue of parts that are due at some time, and every
 * part may be late, cut, or never come. */
#include "transport.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "chance.h"
#include "check.h"
#include "cluster.h"
#include "live/client.h"
#include "live/watch.h"
#include "singles.h"
#include "threads.h"

enum {
    CLIENTS_MAX = 4 * REPLICAS_MAX,
    TICK_US = 1000000,                /* of the API server: bookmarks, ends of watches */
    BOOKMARK_BEFORE_END_US = 2000000, /* as the API server's cache does it */
    CALL_MS = 10000,
};

enum part_sort { PART_HEAD, PART_BYTES, PART_END };
struct part {
    enum part_sort sort;
    int64_t due_us;
    unsigned status;     /* of the head */
    size_t size;         /* of bytes */
    const char *failure; /* of an end; NULL: it is complete */
    int64_t retry_after_s;
};

/* A request and its answer. */
struct stream {
    bool open, watch, stalled;
    uint64_t revision; /* told so far, of a watch */
    int64_t end_us, bookmark_us, last_due_us;
    bool is_last;       /* the bookmark before the end was sent */
    struct bytes bytes; /* those of the parts, from taken on */
    size_t taken;
    struct part *parts;
    size_t first, count, capacity;
};

struct transfer {
    struct watcher *watcher; /* NULL: the kind is not watched */
    int64_t until_us;        /* it has nothing to do until then */
    struct stream stream;
};

struct call {
    struct call *next;
    struct client *client; /* NULL: nobody waits any more */
    unsigned pending;      /* what will still happen to it */
    int replica;
    enum call_verb verb;
    enum resource resource;
    struct bytes body, reply;
    unsigned status;
    int64_t retry_after_s;
    const char *failure;
    bool answered_now, is_lost;
    void (*answered)(void *context, const struct call_answer *answer);
    void *context;
};

struct client {
    int replica;
    bool used;
    atomic_bool woken;
    struct thread *thread; /* that waits in client_run */
    struct transfer transfers[KIND_COUNT];
    struct call *calls;
};

static struct client clients[CLIENTS_MAX];
static int64_t slow_until_us, outage_until_us;
static struct {
    unsigned status;
    int64_t until_us;
} forbidden[KIND_COUNT];
static struct {
    int64_t late_until_us, until_us;
} cuts[REPLICAS_MAX];

static bool is_cut_off(int replica)
{
    return world_now_us() >= cuts[replica].late_until_us && world_now_us() < cuts[replica].until_us;
}

static int64_t latency_us(void)
{
    if (world_now_us() < slow_until_us)
        return chance_long_tail(10 * SECOND);
    return 200 + chance_long_tail(chance_draw(100) == 0 ? 300 * MS : 5 * MS);
}

/* ---- answers ---- */

static void wake_client_at(struct client *client, int64_t at_us)
{
    if (client->thread != NULL)
        thread_wake_at(client->thread, at_us);
}

static void add_part(struct client *client, struct stream *stream, struct part part)
{
    if (stream->first == stream->count)
        stream->first = stream->count = 0;
    if (stream->count == stream->capacity) {
        stream->capacity = stream->capacity == 0 ? 16 : 2 * stream->capacity;
        stream->parts = world_realloc(stream->parts, stream->capacity * sizeof *stream->parts);
    }
    part.due_us = world_now_us() + latency_us();
    if (part.due_us < stream->last_due_us)
        part.due_us = stream->last_due_us;
    stream->last_due_us = part.due_us;
    stream->parts[stream->count++] = part;
    wake_client_at(client, part.due_us);
}

static void add_head(struct client *client, struct stream *stream, unsigned status)
{
    add_part(client, stream, (struct part){.sort = PART_HEAD, .status = status});
}

static void add_end(struct client *client, struct stream *stream, const char *failure,
                    int64_t retry_after_s)
{
    add_part(client, stream,
             (struct part){.sort = PART_END, .failure = failure, .retry_after_s = retry_after_s});
}

/* What was written to stream->bytes since from; it may break off. False: it did. */
static bool add_bytes(struct client *client, struct stream *stream, size_t from, uint32_t cut)
{
    size_t size = stream->bytes.size - from;
    bool broken = chance_of(DEED_CUT, cut);
    if (broken)
        size = chance_of_deed(DEED_CUT, size + 1);
    stream->bytes.size = from + size;
    if (size > 0)
        add_part(client, stream, (struct part){.sort = PART_BYTES, .size = size});
    if (broken)
        add_end(client, stream, chance_of_deed(DEED_CUT, 2) == 0 ? NULL : "connection reset", 0);
    return !broken;
}

static void close_stream(struct stream *stream)
{
    stream->open = false;
    stream->bytes.size = stream->taken = stream->first = stream->count = 0;
    stream->last_due_us = 0;
}

static void add_text(struct client *client, struct stream *stream, const char *text)
{
    size_t from = stream->bytes.size;
    bytes_add(&stream->bytes, text, strlen(text));
    add_bytes(client, stream, from, 0);
}

static void refuse(struct client *client, struct stream *stream, unsigned status)
{
    add_head(client, stream, status);
    size_t from = stream->bytes.size;
    if (chance_draw(2) == 0)
        cluster_status(status, "Some", "as chance wants", &stream->bytes);
    else
        bytes_printf(&stream->bytes, "<html>no</html>");
    add_bytes(client, stream, from, 0);
    add_end(client, stream, NULL, chance_draw(2) == 0 ? 0 : (int64_t)chance_draw(5));
}

/* ---- watches ---- */

static void lie(struct client *client, struct stream *stream)
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
    add_text(client, stream, lies[chance_of_deed(DEED_GARBAGE, COUNT_OF(lies))]);
}

static bool is_ending(const struct stream *stream)
{
    return stream->count > stream->first && stream->parts[stream->count - 1].sort == PART_END;
}

/* Whatever is new for an open watch. */
static void pump(struct client *client, enum kind kind)
{
    struct stream *stream = &client->transfers[kind].stream;
    uint64_t before = stream->revision;
    if (!stream->open || !stream->watch || stream->stalled || is_ending(stream))
        return;
    size_t from = stream->bytes.size;
    while (cluster_event(kind, &stream->revision, &stream->bytes)) {
        if (!add_bytes(client, stream, from, 300))
            return;
        from = stream->bytes.size;
    }
    if (stream->revision != before && chance_of(DEED_REPEAT, 300))
        stream->revision = before; /* what was told comes again */
    if (chance_of(DEED_GARBAGE, 100))
        lie(client, stream);
    else if (chance_of(DEED_STALL, 100))
        stream->stalled = true;
}

static void hear(enum kind kind)
{
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (clients[i].used)
            pump(&clients[i], kind);
}

static void tick_stream(struct client *client, enum kind kind)
{
    struct stream *stream = &client->transfers[kind].stream;
    int64_t now_us = world_now_us();
    if (!stream->open || !stream->watch || stream->stalled || is_ending(stream))
        return;
    pump(client, kind);
    if (is_ending(stream))
        return;
    if (now_us >= stream->end_us) {
        add_end(client, stream, NULL, 0);
    } else if (now_us >= stream->bookmark_us ||
               (now_us >= stream->end_us - BOOKMARK_BEFORE_END_US && !stream->is_last)) {
        size_t from = stream->bytes.size;
        stream->is_last = now_us >= stream->end_us - BOOKMARK_BEFORE_END_US;
        stream->bookmark_us = now_us + 60 * SECOND;
        cluster_bookmark(kind, &stream->bytes);
        stream->revision = cluster_revision();
        add_bytes(client, stream, from, 300);
    }
}

static void tick(void *context)
{
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        for (enum kind kind = 0; clients[i].used && kind < KIND_COUNT; kind++)
            tick_stream(&clients[i], kind);
    world_at(world_now_us() + TICK_US, tick, context);
}

void transport_begin(void)
{
    cluster_listen(hear);
    tick(NULL);
}

void transport_compact(void)
{
    cluster_compact();
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        for (enum kind kind = 0; clients[i].used && kind < KIND_COUNT; kind++)
            if (!clients[i].transfers[kind].stream.stalled)
                clients[i].transfers[kind].stream.revision = cluster_revision();
}

/* ---- requests ---- */

static uint64_t number_after(const char *path, const char *word)
{
    const char *found = strstr(path, word);
    return found == NULL ? 0 : strtoull(found + strlen(word), NULL, 10);
}

static bool is_of_first_version(enum kind kind, const char *path)
{
    char prefix[200];
    const char *group = kind_table[kind].group;
    snprintf(prefix, sizeof prefix, "/%s%s%s/%s/%s?", *group == '\0' ? "api" : "apis/", group, "",
             kind_versions(kind)[0], kind_table[kind].plural);
    return strncmp(path, prefix, strlen(prefix) - 1) == 0;
}

static void begin_watch(struct client *client, enum kind kind, const char *path)
{
    struct stream *stream = &client->transfers[kind].stream;
    stream->revision = number_after(path, "&resourceVersion=");
    stream->end_us = world_now_us() + (int64_t)number_after(path, "timeoutSeconds=") * SECOND;
    stream->bookmark_us = world_now_us() + 60 * SECOND;
    stream->is_last = false;
    if (!cluster_has_expired(kind, stream->revision)) {
        add_head(client, stream, 200);
        pump(client, kind);
        return;
    }
    bool in_stream = chance_draw(2) == 0;
    add_head(client, stream, in_stream ? 200 : 410);
    size_t from = stream->bytes.size;
    bytes_printf(&stream->bytes, "%s", in_stream ? "{\"type\":\"ERROR\",\"object\":" : "");
    cluster_status(410, "Expired", "too old resource version", &stream->bytes);
    bytes_printf(&stream->bytes, "%s", in_stream ? "}\n" : "");
    add_bytes(client, stream, from, 0);
    add_end(client, stream, NULL, 0);
}

static void answer_list(struct client *client, enum kind kind, const char *path)
{
    struct stream *stream = &client->transfers[kind].stream;
    char token[64] = "";
    uint64_t when, from;
    const char *next = strstr(path, "continue=");
    if (next != NULL && sscanf(next, "continue=%" SCNu64 "%%2B%" SCNu64, &when, &from) == 2)
        snprintf(token, sizeof token, "%" PRIu64 "+%" PRIu64, when, from);
    uint64_t limit = number_after(path, "limit=");
    /* A page of the program's 500 would hold everything. */
    struct bytes body = {0};
    unsigned status = cluster_list(kind, limit == 0 ? 0 : 7, token, &body);
    add_head(client, stream, status);
    size_t begin = stream->bytes.size;
    bytes_add(&stream->bytes, body.data, body.size);
    bytes_free(&body);
    if (add_bytes(client, stream, begin, 3000))
        add_end(client, stream, NULL, 0);
}

static void open_stream(struct client *client, enum kind kind, const char *path)
{
    static const unsigned refusals[] = {429, 500, 502, 503, 504, 401, 410, 400, 403, 404};
    struct stream *stream = &client->transfers[kind].stream;
    world_event(kind);
    close_stream(stream);
    stream->open = true;
    stream->watch = strstr(path, "watch=1") != NULL;
    stream->stalled = false;
    if (world_now_us() < outage_until_us) {
        stream->stalled = chance_draw(2) == 0;
        if (!stream->stalled)
            add_end(client, stream, "connection refused", 0);
    } else if (world_now_us() < forbidden[kind].until_us) {
        refuse(client, stream, forbidden[kind].status);
    } else if (!is_of_first_version(kind, path)) {
        refuse(client, stream, 404);
    } else if (chance_of(DEED_STALL, 2000)) {
        stream->stalled = true;
    } else if (chance_of(DEED_CUT, 5000)) {
        add_end(client, stream, "connection refused", 0);
    } else if (chance_of(DEED_REFUSE, 8000)) {
        refuse(client, stream, refusals[chance_of_deed(DEED_REFUSE, COUNT_OF(refusals))]);
    } else if (chance_of(DEED_GARBAGE, 3000)) {
        add_head(client, stream, 200);
        add_text(client, stream, "<html>welcome</html>");
        add_end(client, stream, NULL, 0);
    } else if (stream->watch) {
        begin_watch(client, kind, path);
    } else {
        answer_list(client, kind, path);
    }
}

/* ---- deliveries ---- */

static void take_bytes(struct transfer *transfer, int64_t now_ms, size_t size)
{
    struct stream *stream = &transfer->stream;
    while (size > 0 && stream->open) {
        size_t piece = chance_draw(3) != 0 ? size : 1 + chance_draw(size < 30 ? size : 30);
        const char *bytes = stream->bytes.data + stream->taken;
#ifdef __SANITIZE_ADDRESS__
        /* A piece has an end of its own, beyond which nobody may read. */
        char *copy = memcpy(world_alloc(piece), bytes, piece);
#else
        const char *copy = bytes;
#endif
        world_event(piece);
        stream->taken += piece;
        size -= piece;
        bool go_on = watcher_bytes(transfer->watcher, now_ms, (struct text){copy, piece});
#ifdef __SANITIZE_ADDRESS__
        world_free(copy);
#endif
        if (!go_on)
            close_stream(stream);
    }
    if (stream->open && stream->taken == stream->bytes.size)
        stream->taken = stream->bytes.size = 0;
}

static void take_part(struct transfer *transfer, int64_t now_ms, const struct part *part)
{
    switch (part->sort) {
    case PART_HEAD:
        world_event(part->status);
        watcher_head(transfer->watcher, now_ms, part->status);
        break;
    case PART_BYTES:
        take_bytes(transfer, now_ms, part->size);
        break;
    case PART_END:
        world_event(0);
        close_stream(&transfer->stream);
        watcher_end(transfer->watcher, now_ms, part->failure, part->retry_after_s);
        break;
    }
}

/* True: something arrived. */
static bool take_due(struct transfer *transfer)
{
    struct stream *stream = &transfer->stream;
    bool any = false;
    while (stream->open && stream->first < stream->count &&
           stream->parts[stream->first].due_us <= world_now_us() &&
           !watcher_waits(transfer->watcher)) {
        struct part part = stream->parts[stream->first++];
        take_part(transfer, world_now_us() / MS, &part);
        any = true;
    }
    return any;
}

static void step_on(struct client *client, enum kind kind)
{
    struct transfer *transfer = &client->transfers[kind];
    struct watch_step step;
    watcher_next(transfer->watcher, world_now_us() / MS, &step);
    for (; step.kind != WATCH_WAIT; watcher_next(transfer->watcher, world_now_us() / MS, &step)) {
        close_stream(&transfer->stream);
        if (step.kind == WATCH_SEND)
            open_stream(client, kind, step.path);
    }
    transfer->until_us = step.until_ms >= NEVER / MS ? NEVER : step.until_ms * MS;
}

/* Until when this kind has nothing to do. */
static int64_t work(struct client *client, enum kind kind)
{
    struct transfer *transfer = &client->transfers[kind];
    const struct stream *stream = &transfer->stream;
    if (take_due(transfer) || transfer->until_us <= world_now_us())
        step_on(client, kind);
    int64_t until_us = transfer->until_us;
    if (stream->open && stream->first < stream->count &&
        stream->parts[stream->first].due_us < until_us)
        until_us = stream->parts[stream->first].due_us;
    if (until_us <= world_now_us()) /* its bytes wait for memory */
        until_us = world_now_us() + MS;
    return until_us;
}

/* ---- single requests ---- */

static void release_call(struct call *call)
{
    if (call->pending > 0 || call->client != NULL)
        return;
    bytes_free(&call->body);
    bytes_free(&call->reply);
    world_free(call);
}

/* The answer is there, or the time is over; whichever comes first counts. */
static void settle_call(struct call *call, const char *failure)
{
    if (call->client != NULL && !call->answered_now) {
        call->answered_now = true;
        call->failure = failure;
        wake_client_at(call->client, world_now_us());
    }
    call->pending--;
    release_call(call);
}

static void answer_call(void *context)
{
    settle_call(context, NULL);
}

static void give_up_call(void *context)
{
    settle_call(context, "Timeout was reached");
}

static void reach_server(void *context)
{
    static const unsigned refusals[] = {429, 500, 503, 401, 403};
    struct call *call = context;
    if (chance_of(DEED_REFUSE, 8000)) {
        call->status = refusals[chance_of_deed(DEED_REFUSE, COUNT_OF(refusals))];
        call->retry_after_s = (int64_t)chance_of_deed(DEED_REFUSE, 3);
        cluster_status(call->status, "Some", "as chance wants", &call->reply);
    } else {
        call->status =
            singles_answer(call->replica, call->verb, call->resource,
                           (struct text){call->body.data, call->body.size}, &call->reply);
    }
    if (call->is_lost) {
        call->pending--;
        release_call(call);
    } else {
        int64_t at_us = world_now_us() + latency_us();
        int64_t late_until_us = cuts[call->replica].late_until_us;
        world_at(at_us < late_until_us ? late_until_us : at_us, answer_call, call);
    }
}

bool client_call(struct client *client, const struct call_request *request,
                 void (*answered)(void *context, const struct call_answer *answer), void *context,
                 struct error *error)
{
    if (chance_of(DEED_LOSE_CALL, 500))
        return error_set(error, ERROR_CLUSTER, NOWHERE, "the request could not be made");
    singles_check(client->replica, request);
    struct call *call = world_alloc(sizeof *call);
    *call = (struct call){.client = client,
                          .next = client->calls,
                          .replica = client->replica,
                          .verb = request->verb,
                          .resource = request->resource,
                          .answered = answered,
                          .context = context,
                          .pending = 1};
    client->calls = call;
    world_event(100 + request->resource);
    if (request->body.size > 0)
        bytes_add(&call->body, request->body.data, request->body.size);
    int64_t limit_us = (request->limit_ms > 0 ? request->limit_ms : CALL_MS) * MS;
    world_at(world_now_us() + limit_us, give_up_call, call);
    bool lost = world_now_us() < outage_until_us || chance_of(DEED_LOSE_CALL, 4000);
    if (is_cut_off(client->replica) || (lost && chance_draw(2) == 0))
        return true;
    call->is_lost = lost; /* it arrives, and its answer does not */
    call->pending++;
    world_at(world_now_us() + latency_us(), reach_server, call);
    return true;
}

/* The first call that was answered, out of the list; NULL: none was. */
static struct call *take_answered(struct client *client)
{
    for (struct call **at = &client->calls; *at != NULL; at = &(*at)->next)
        if ((*at)->answered_now) {
            struct call *call = *at;
            *at = call->next;
            return call;
        }
    return NULL;
}

static void tell_answers(struct client *client)
{
    struct call *call;
    while ((call = take_answered(client)) != NULL) {
        struct call_answer answer;
        unsigned status = call->failure == NULL ? call->status : 0;
        call_read(status, (struct text){call->reply.data, call->reply.size}, call->retry_after_s,
                  call->failure, &answer);
        world_event(200 + status);
        call->client = NULL;
        call->answered(call->context, &answer);
        release_call(call);
    }
}

/* ---- live/client.h ---- */

bool client_open(const struct client_config *config, int64_t (*now_ms)(void),
                 struct client **result, struct error *error)
{
    (void)config, (void)now_ms;
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        if (clients[i].used)
            continue;
        clients[i].used = true;
        clients[i].replica = thread_replica();
        *result = &clients[i];
        return true;
    }
    return error_set(error, ERROR_MEMORY, NOWHERE, "memory ran out");
}

static void free_stream(struct stream *stream)
{
    bytes_free(&stream->bytes);
    world_free(stream->parts);
}

void client_drop_calls(struct client *client)
{
    for (struct call *call = client->calls, *next; call != NULL; call = next) {
        next = call->next;
        call->client = NULL;
        release_call(call);
    }
    client->calls = NULL;
}

static void forget_client(struct client *client)
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        free_stream(&client->transfers[kind].stream);
    client_drop_calls(client);
    memset(client, 0, sizeof *client);
}

void client_close(struct client *client)
{
    if (client == NULL)
        return;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        client_unwatch(client, kind);
    forget_client(client);
}

bool client_watch(struct client *client, enum kind kind, const struct watch_settings *settings,
                  const struct event_handler *handler, struct error *error)
{
    struct transfer *transfer = &client->transfers[kind];
    struct watch_settings own = *settings;
    transfer->watcher = watcher_create(kind, &own, handler);
    transfer->until_us = 0;
    return transfer->watcher != NULL || error_set(error, ERROR_MEMORY, NOWHERE, "memory ran out");
}

void client_unwatch(struct client *client, enum kind kind)
{
    struct transfer *transfer = &client->transfers[kind];
    if (transfer->watcher == NULL)
        return;
    watcher_destroy(transfer->watcher);
    free_stream(&transfer->stream);
    *transfer = (struct transfer){0};
}

bool client_run(struct client *client, int64_t for_ms, struct error *error)
{
    (void)error;
    int64_t end_us = world_now_us() + for_ms * MS;
    for (;;) {
        int64_t until_us = end_us;
        tell_answers(client);
        for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
            int64_t kind_us = client->transfers[kind].watcher == NULL ? end_us : work(client, kind);
            until_us = kind_us < until_us ? kind_us : until_us;
        }
        if (atomic_exchange(&client->woken, false) || world_now_us() >= end_us)
            return true;
        client->thread = thread_current();
        thread_sleep_until(until_us);
        client->thread = NULL;
    }
}

void client_wake(struct client *client)
{
    atomic_store(&client->woken, true);
    wake_client_at(client, world_now_us());
}

void client_list_again(struct client *client, enum kind kind)
{
    struct transfer *transfer = &client->transfers[kind];
    struct watch_report report;
    if (transfer->watcher == NULL)
        return;
    watcher_report(transfer->watcher, world_now_us() / MS, &report);
    if (transfer->stream.open && report.watching) {
        close_stream(&transfer->stream);
        watcher_list_again(transfer->watcher, world_now_us() / MS);
        transfer->until_us = 0;
    }
}

bool client_report(const struct client *client, enum kind kind, struct watch_report *report)
{
    if (client->transfers[kind].watcher == NULL)
        return false;
    watcher_report(client->transfers[kind].watcher, world_now_us() / MS, report);
    return true;
}

/* ---- what happens to the network ---- */

void transport_drop(int replica)
{
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        if (clients[i].used && clients[i].replica == replica)
            forget_client(&clients[i]);
}

void transport_slow(int64_t until_us)
{
    slow_until_us = until_us;
}

void transport_outage(int64_t until_us)
{
    outage_until_us = until_us;
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        for (enum kind kind = 0; clients[i].used && kind < KIND_COUNT; kind++) {
            struct stream *stream = &clients[i].transfers[kind].stream;
            if (!stream->open || is_ending(stream))
                continue;
            stream->stalled = chance_draw(2) == 0;
            if (!stream->stalled)
                add_end(&clients[i], stream, "connection reset", 0);
        }
}

void transport_cut_off(int replica, int64_t late_until_us, int64_t until_us)
{
    cuts[replica].late_until_us = late_until_us;
    cuts[replica].until_us = until_us;
}

void transport_forbid(enum kind kind, unsigned status, int64_t until_us)
{
    forbidden[kind].status = status;
    forbidden[kind].until_us = until_us;
}

void transport_mend(void)
{
    slow_until_us = outage_until_us = 0;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        forbidden[kind].until_us = 0;
    for (int replica = 0; replica < REPLICAS_MAX; replica++)
        transport_cut_off(replica, 0, 0);
}
