/* A request, from its first byte to its reply. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "server/deadline.h"
#include "server/http.h"

/* The API server sends one kind of request (docs/reference/admission.md 1.7). A request that
 * libmicrohttpd might read differently from a proxy before it is refused in the first callback. The
 * connection is closed, so that no byte of it is taken for a second request. */

enum {
    DISCARD_FACTOR = 4, /* bodies up to this many times the limit are read, to answer properly */
};

struct refusal_reply {
    unsigned status;
    enum refusal counted;
    const char *text;
};

static const struct refusal_reply no_such_path = {
    404, REFUSED_MALFORMED, "there are two paths: POST /validate and POST /mutate"};
static const struct refusal_reply wrong_method = {405, REFUSED_MALFORMED,
                                                  "the method must be POST"};
static const struct refusal_reply transfer_encoding = {
    400, REFUSED_MALFORMED, "Transfer-Encoding is not taken; send Content-Length"};
static const struct refusal_reply no_length = {411, REFUSED_MALFORMED, "send Content-Length"};
static const struct refusal_reply bad_length = {400, REFUSED_MALFORMED,
                                                "there must be one Content-Length, of digits"};
static const struct refusal_reply bad_header = {400, REFUSED_MALFORMED,
                                                "a header's name ends with a blank"};
static const struct refusal_reply not_one_host = {400, REFUSED_MALFORMED, "there must be one Host"};
static const struct refusal_reply wrong_type = {415, REFUSED_MALFORMED,
                                                "Content-Type must be application/json"};
static const struct refusal_reply too_large = {413, REFUSED_TOO_LARGE,
                                               "the body is larger than this server reads"};
static const struct refusal_reply overloaded = {429, REFUSED_OVERLOAD,
                                                "too much is in flight; try again in a second"};
static const struct refusal_reply late = {429, REFUSED_OVERLOAD,
                                          "no time is left of the timeout in the query"};
static const struct refusal_reply starved = {503, REFUSED_TIMEOUT,
                                             "the time of the caller was over before the review "
                                             "was judged"};
static const struct refusal_reply no_memory = {503, REFUSED_OVERLOAD,
                                               "no memory for a body of this size"};

/* ---- replies ---- */

static enum MHD_Result reply(struct connection *connection, struct MHD_Connection *mhd,
                             unsigned status, const char *content_type, struct text body,
                             enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(body.size, (void *)body.data, mode);
    if (response == NULL)
        return MHD_NO;
    enum MHD_Result result =
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    if (result == MHD_YES && status == 405)
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "POST");
    if (result == MHD_YES && status == 429)
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (result == MHD_YES && atomic_load(&connection->server->draining))
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (result == MHD_YES)
        result = MHD_queue_response(mhd, status, response);
    if (result == MHD_YES)
        connection_hold_reply(connection);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result reply_text(struct connection *connection, struct MHD_Connection *mhd,
                                  unsigned status, const char *what)
{
    char line[sizeof((struct error *)0)->what + 1];
    size_t size = 0;
    for (; size < sizeof line - 1 && what[size] != '\0'; size++)
        line[size] = (unsigned char)what[size] < 0x20 || what[size] == 0x7F ? ' ' : what[size];
    line[size++] = '\n';
    return reply(connection, mhd, status, "text/plain; charset=utf-8", (struct text){line, size},
                 MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result refuse(struct connection *connection, struct MHD_Connection *mhd,
                              const struct refusal_reply *refusal)
{
    const struct lane *lane = lane_of(connection);
    metrics_count_refusal(connection->server->metrics, refusal->counted);
    if (refusal->status == 429)
        log_line(LOG_WARN, "server", NULL, NULL,
                 "a request got status 429: %s; in flight are, of %s ones, %zu of %zu reviews, %zu "
                 "of %zu bytes of bodies, %zu of %zu bytes of arenas",
                 refusal->text, lane->name, atomic_load(&lane->reviews.used), lane->reviews.limit,
                 atomic_load(&lane->body_bytes.used), lane->body_bytes.limit,
                 atomic_load(&lane->arena_bytes.used), lane->arena_bytes.limit);
    return reply_text(connection, mhd, refusal->status, refusal->text);
}

/* ---- the header ---- */

static const struct {
    const char *path;
    enum route route;
} routes[] = {
    {"/validate", ROUTE_VALIDATE},
    {"/mutate", ROUTE_MUTATE},
};

/* The target as it was sent, before it is decoded: the path must be exactly ours. */
void *request_begin(void *closure, const char *uri, struct MHD_Connection *mhd)
{
    (void)closure;
    struct connection *connection =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (connection == NULL)
        return NULL;
    struct text target = text_of(uri), path = target;
    text_split(target, '?', &path, NULL);
    int64_t timeout_us = target_timeout_us(target);
    if (timeout_us > 0)
        metrics_set_timeout(connection->server->metrics, timeout_us);
    connection->request = (struct request){
        .timeout_us = timeout_us,
        .wait_ms = wait_limit_ms(timeout_us),
    };
    for (size_t i = 0; i < COUNT_OF(routes); i++)
        if (text_is(path, routes[i].path))
            connection->request.route = routes[i].route;
    return connection;
}

struct header {
    unsigned lengths, hosts, types;
    bool transfer_encoding, blank_in_name, expect;
    struct text length, type;
};

static bool named(struct text name, struct text wanted)
{
    return name.size == wanted.size && strncasecmp(name.data, wanted.data, wanted.size) == 0;
}

static enum MHD_Result read_field(void *closure, enum MHD_ValueKind kind, const char *key,
                                  size_t key_size, const char *value, size_t value_size)
{
    (void)kind;
    struct header *header = closure;
    struct text name = {key, key_size}, content = {value, value_size};
    if (named(name, TEXT("content-length"))) {
        header->lengths++;
        header->length = content;
    } else if (named(name, TEXT("content-type"))) {
        header->types++;
        header->type = content;
    } else if (named(name, TEXT("host"))) {
        header->hosts++;
    } else if (named(name, TEXT("transfer-encoding"))) {
        header->transfer_encoding = true;
    } else if (named(name, TEXT("expect"))) {
        header->expect = true;
    } else if (key_size == 0 || memchr(key, ' ', key_size) != NULL ||
               memchr(key, '\t', key_size) != NULL) {
        header->blank_in_name = true;
    }
    return MHD_YES;
}

/* A number beyond 63 bits becomes SIZE_MAX: over any limit. */
static bool read_length(struct text digits, size_t *length)
{
    if (digits.size == 0)
        return false;
    *length = 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9')
            return false;
        size_t digit = (size_t)(digits.data[i] - '0');
        *length = *length > (PTRDIFF_MAX - digit) / 10 ? SIZE_MAX : *length * 10 + digit;
        if (*length == SIZE_MAX)
            return true;
    }
    return true;
}

static bool is_json(struct text media_type)
{
    struct text type = TEXT("application/json");
    if (media_type.size < type.size || strncasecmp(media_type.data, type.data, type.size) != 0)
        return false;
    return media_type.size == type.size || strchr("; \t", media_type.data[type.size]) != NULL;
}

/* Why the text after this header cannot be trusted to be its body; NULL: it can. */
static const struct refusal_reply *check_framing(const struct header *header, size_t *length)
{
    if (header->blank_in_name)
        return &bad_header;
    if (header->transfer_encoding)
        return &transfer_encoding;
    if (header->lengths == 0)
        return &no_length;
    if (header->lengths > 1 || !read_length(header->length, length))
        return &bad_length;
    return header->hosts == 1 ? NULL : &not_one_host;
}

static const struct refusal_reply *check_request(const struct connection *connection,
                                                 const struct header *header, size_t length)
{
    if (connection->request.route == ROUTE_NONE)
        return &no_such_path;
    if (header->types != 1 || !is_json(header->type))
        return &wrong_type;
    return length > connection->server->body_limit_bytes ? &too_large : NULL;
}

static const struct refusal_reply *reserve_body(struct connection *connection, size_t size)
{
    if (!share_body(connection, size == 0 ? 0 : 1))
        return &overloaded;
    if (size == 0)
        return NULL;
    connection->body = malloc(size);
    return connection->body == NULL ? &no_memory : NULL;
}

static enum MHD_Result read_header(struct connection *connection, struct MHD_Connection *mhd,
                                   const char *method)
{
    struct header header = {0};
    size_t length = 0;
    connection->request.begun = true;
    connection->request.arrived_ms = connection_note_arrival(connection);
    if (strcmp(method, MHD_HTTP_METHOD_POST) != 0)
        return refuse(connection, mhd,
                      connection->request.route == ROUTE_NONE ? &no_such_path : &wrong_method);
    MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, read_field, &header);
    const struct refusal_reply *refusal = check_framing(&header, &length);
    if (refusal != NULL)
        return refuse(connection, mhd, refusal);
    connection->request.body_limit = length;
    atomic_store_explicit(&connection->large, lane_for(length) == LANE_LARGE, memory_order_relaxed);
    refusal = check_request(connection, &header, length);
    if (refusal == NULL)
        refusal = reserve_body(connection, length);
    if (refusal == NULL)
        return MHD_YES;
    /* A reply before the body is read closes the connection with a reset, which may overtake the
     * reply. So the body is read, unless it is very large or the client waits for a go-ahead first.
     */
    if (header.expect || length / DISCARD_FACTOR > connection->server->body_limit_bytes)
        return refuse(connection, mhd, refusal);
    connection->request.refusal = refusal;
    return MHD_YES;
}

/* ---- the body and the answer ---- */

static bool take_body(struct connection *connection, const char *bytes, size_t size)
{
    struct request *request = &connection->request;
    if (request->refusal != NULL)
        return true;
    if (size > request->body_limit - request->body_size)
        return false;
    if (!share_body(connection, request->body_size + size)) {
        /* The rest is read and dropped, so that the reply arrives. */
        request->refusal = &overloaded;
        return_shares(connection);
        return true;
    }
    memcpy(connection->body + request->body_size, bytes, size);
    request->body_size += size;
    return true;
}

struct job {
    const struct world *world;
    enum review_phase phase;
    struct text body;
    int64_t now_unix_ms;
    struct arena *arena;
    struct review_clock clock;
    struct deadline deadline;
    struct text answer, line;
    struct review_record record;
    bool answered;
    struct error error;
};

static void run_review(void *argument)
{
    struct job *job = argument;
    job->answered = review_answer(job->world, job->phase, job->body, job->now_unix_ms / 1000,
                                  job->arena, &job->answer, &job->record, &job->error);
}

static void run_trail(void *argument)
{
    struct job *job = argument;
    job->line = trail_line(&job->record, job->now_unix_ms, job->arena);
}

static void write_trail(struct job *job)
{
    struct error error = {0};
    const char *failure = error.what;
    const struct verdict *verdict = &job->record.verdict;
    if (verdict->finding_count == 0 && verdict->change_count == 0 && verdict->limit == LIMIT_NONE)
        return;
    if (arena_guard(job->arena, run_trail, job, &error))
        failure = trail_write(job->line);
    if (failure != NULL)
        log_line(LOG_ERROR, "trail", NULL, failure, "a line of the trail is lost");
}

/* ---- the deadline ---- */

static int64_t cpu_us(void *context)
{
    (void)context;
    return thread_cpu_us();
}

static int64_t wall_us(void *context)
{
    (void)context;
    return monotonic_us();
}

bool peer_is_gone(int fd)
{
    /* poll cannot distinguish a socket that this server has shut for reading from one that the peer
     * closed. */
    struct tcp_info state;
    socklen_t size = sizeof state;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &state, &size) == 0 &&
           state.tcpi_state != TCP_ESTABLISHED;
}

/* The API server closes the connection when its own caller has gone. */
static bool client_is_gone(void *context)
{
    const struct connection *connection = context;
    return peer_is_gone(connection->fd);
}

static void watch(struct connection *connection, struct job *job)
{
    const struct request *request = &connection->request;
    job->clock = (struct review_clock){cpu_us, wall_us, client_is_gone, connection};
    job->deadline =
        deadline_begin(&job->clock, job->world->cpu_limit_us,
                       deadline_of_request(request->arrived_ms * 1000, request->timeout_us));
    arena_watch(job->arena, &(struct arena_watch){deadline_ask, &job->deadline});
}

static void judge_in_world(struct connection *connection, struct job *job,
                           const struct world *world)
{
    struct error guard_error = {0};
    job->world = world;
    job->now_unix_ms = unix_us() / 1000;
    arena_reset(job->arena);
    watch(connection, job);
    if (!arena_guard(job->arena, run_review, job, &guard_error)) {
        job->answered = false;
        job->error = guard_error;
    }
    arena_watch(job->arena, NULL);
}

static void judge(struct connection *connection, int64_t began_us, struct job *job)
{
    struct server *server = connection->server;
    struct pinned pinned;
    int64_t until_ms = await_until_ms(&connection->request, began_us / 1000);
    metrics_set_in_flight(server->metrics, 1);
    pin_world(connection, &pinned);
    do
        judge_in_world(connection, job, pinned.world);
    while (job->answered &&
           await_owner(connection, &job->record.verdict.awaited, until_ms, &pinned));
    int64_t ended_us = monotonic_us();
    if (job->answered) {
        metrics_count_review(server->metrics, job->phase, &job->record,
                             (uint64_t)(ended_us - began_us), job->body.size);
        write_trail(job);
        if (job->record.variables != NULL)
            known_reviews_add(&connection->known, &server->known_bytes, job->phase, pinned.number,
                              ended_us / 1000, job->body, job->record.variables, job->answer);
    }
    unpin_world(connection);
    metrics_set_in_flight(server->metrics, -1);
}

/* Whether the review is like a known one; then job->answer is its answer, and it is counted. It
 * takes less than a microsecond and no memory, so it waits for no turn. */
static bool answer_if_known(struct connection *connection, int64_t began_us, struct job *job)
{
    struct server *server = connection->server;
    job->answer = known_reviews_answer(&connection->known, job->phase, cell_count(server->world),
                                       began_us / 1000, job->body);
    if (job->answer.size == 0)
        return false;
    job->record = (struct review_record){.operation = TEXT("CREATE"), .kind = TEXT("Pod")};
    metrics_count_review(server->metrics, job->phase, &job->record,
                         (uint64_t)(monotonic_us() - began_us), job->body.size);
    metrics_count_known_review(server->metrics);
    return true;
}

/* Why there was no review; NULL: there was one. */
static const struct refusal_reply *review_in_turn(struct connection *connection, int64_t began_us,
                                                  struct job *job)
{
    const struct refusal_reply *refusal = NULL;
    if (!review_enter(connection, began_us))
        return &overloaded;
    if (open_arena(connection)) {
        job->arena = connection->arena;
        judge(connection, began_us, job);
    } else {
        refusal = &no_memory;
    }
    review_leave(connection);
    return refusal;
}

/* Why there is no answer: because of the client, or because of this server. */
static enum MHD_Result reply_error(struct connection *connection, struct MHD_Connection *mhd,
                                   const struct error *error)
{
    unsigned status = 400;
    enum refusal counted = REFUSED_MALFORMED;
    if (error->kind == ERROR_LIMIT) {
        status = 413;
        counted = REFUSED_TOO_LARGE;
    } else if (error->kind == ERROR_MEMORY) {
        status = 500;
        counted = REFUSED_OVERLOAD;
    }
    metrics_count_refusal(connection->server->metrics, counted);
    log_line(LOG_WARN, "server", NULL, error->what, "a request got status %u", status);
    return reply_text(connection, mhd, status, error->what);
}

static enum MHD_Result reply_unanswered(struct connection *connection, struct MHD_Connection *mhd,
                                        const struct job *job)
{
    struct metrics *metrics = connection->server->metrics;
    switch (job->record.verdict.limit) {
    case LIMIT_CLIENT_GONE:
        metrics_count_limit(metrics, &job->record.verdict);
        metrics_count_refusal(metrics, REFUSED_CLIENT_GONE);
        return MHD_NO;
    case LIMIT_TIMEOUT:
        metrics_count_limit(metrics, &job->record.verdict);
        return refuse(connection, mhd, &starved);
    default:
        return reply_error(connection, mhd, &job->error);
    }
}

static enum MHD_Result answer(struct connection *connection, struct MHD_Connection *mhd)
{
    struct request *request = &connection->request;
    if (request->refusal != NULL)
        return refuse(connection, mhd, request->refusal);
    struct job job = {
        .phase = request->route == ROUTE_MUTATE ? REVIEW_MUTATE : REVIEW_VALIDATE,
        .body = {connection->body, request->body_size},
    };
    int64_t began_us = monotonic_us();
    if (request_is_late(request, began_us))
        return refuse(connection, mhd, &late);
    if (answer_if_known(connection, began_us, &job)) {
        connection_set_deadline(connection, began_us / 1000);
        return reply(connection, mhd, 200, "application/json", job.answer, MHD_RESPMEM_MUST_COPY);
    }
    connection_set_judging(connection);
    const struct refusal_reply *refusal = review_in_turn(connection, began_us, &job);
    connection_set_deadline(connection, monotonic_ms());
    if (refusal != NULL)
        return refuse(connection, mhd, refusal);
    if (!job.answered)
        return reply_unanswered(connection, mhd, &job);
    return reply(connection, mhd, 200, "application/json", job.answer, MHD_RESPMEM_MUST_COPY);
}

enum MHD_Result request_handle(void *closure, struct MHD_Connection *mhd, const char *url,
                               const char *method, const char *version, const char *upload_data,
                               size_t *upload_data_size, void **context)
{
    (void)closure, (void)url, (void)version;
    struct connection *connection = *context;
    if (connection == NULL)
        return MHD_NO;
    turn_return(connection);
    if (!connection->request.begun)
        return read_header(connection, mhd, method);
    if (*upload_data_size == 0) {
        enum MHD_Result answered = answer(connection, mhd);
        return_shares(connection); /* a slow reader holds only its answer */
        return answered;
    }
    bool taken = take_body(connection, upload_data, *upload_data_size);
    *upload_data_size = 0;
    return taken ? MHD_YES : MHD_NO;
}

void request_end(void *closure, struct MHD_Connection *mhd, void **context,
                 enum MHD_RequestTerminationCode how)
{
    (void)closure, (void)mhd, (void)how;
    struct connection *connection = *context;
    if (connection == NULL)
        return;
    connection_end_request(connection);
    connection_send_reply(connection);
    connection_set_idle(connection, monotonic_ms());
}
