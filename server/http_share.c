#include <stdlib.h>

#include "server/http.h"

/* Memory of requests in flight is bounded over all connections: of bodies as they are read, and of
 * arenas while reviews are judged. What a connection keeps for its next request is small. */

enum {
    KEPT_BODY_BYTES = 64 << 10,
    KEPT_ARENA_BYTES = 128 << 10,
    /* A review of the API server's takes four times its body; the largest are hostile. */
    ARENA_BASE_BYTES = 1 << 20,
    ARENA_FACTOR = 16,
    ARENA_BYTES_MAX = 64 << 20,
    BODY_STEP_BYTES = 64 << 10,
    WAIT_MS_MAX = 500,
    WAIT_PARTS = 4, /* of the caller's time, one may be waited */
};

int64_t wait_limit_ms(int64_t timeout_us)
{
    int64_t part_ms = timeout_us / WAIT_PARTS / 1000;
    return timeout_us == 0 || part_ms > WAIT_MS_MAX ? WAIT_MS_MAX : part_ms;
}

static int64_t left_us(const struct request *request, int64_t now_us)
{
    return request->arrived_ms * 1000 + request->timeout_us - now_us;
}

bool request_is_late(const struct request *request, int64_t now_us)
{
    return request->timeout_us != 0 && left_us(request, now_us) <= 0;
}

/* Bytes are counted as they arrive, a step ahead: memory that was never written to is not in use,
 * and a client that announces much and sends little must not keep the others out. */
bool share_body(struct connection *connection, size_t needed)
{
    struct request *request = &connection->request;
    if (needed <= request->body_bytes)
        return true;
    size_t wanted = request->body_limit - needed < BODY_STEP_BYTES ? request->body_limit
                                                                   : needed + BODY_STEP_BYTES;
    if (!allowance_take(&connection->server->admission.body_bytes, wanted - request->body_bytes,
                        &request->wait_ms))
        return false;
    request->body_bytes = wanted;
    return true;
}

size_t arena_budget(size_t body_bytes)
{
    size_t kept_or_larger = body_bytes < KEPT_BODY_BYTES ? KEPT_BODY_BYTES : body_bytes;
    if (kept_or_larger > (ARENA_BYTES_MAX - ARENA_BASE_BYTES) / ARENA_FACTOR)
        return ARENA_BYTES_MAX;
    return ARENA_BASE_BYTES + ARENA_FACTOR * kept_or_larger;
}

static void free_arena(struct connection *connection)
{
    arena_destroy(connection->arena);
    connection->arena = NULL;
}

/* The arena that a connection keeps has the budget of a small body. */
bool open_arena(struct connection *connection)
{
    size_t body_size = connection->request.body_size;
    if (body_size > KEPT_BODY_BYTES)
        free_arena(connection);
    if (connection->arena == NULL)
        connection->arena = arena_create(arena_budget(body_size));
    return connection->arena != NULL;
}

bool review_enter(struct connection *connection, int64_t now_us)
{
    struct request *request = &connection->request;
    int64_t left_ms = left_us(request, now_us) / 1000;
    if (request->timeout_us != 0 && request->wait_ms > left_ms)
        request->wait_ms = left_ms;
    return admission_enter(&connection->server->admission, arena_budget(request->body_size),
                           &request->wait_ms);
}

void review_leave(struct connection *connection)
{
    struct request *request = &connection->request;
    request->arena_bytes = arena_used_bytes(connection->arena);
    admission_leave(&connection->server->admission, arena_budget(request->body_size),
                    request->arena_bytes);
}

static void trim(struct connection *connection)
{
    if (connection->body_capacity > KEPT_BODY_BYTES) {
        free(connection->body);
        connection->body = NULL;
        connection->body_capacity = 0;
    }
    if (connection->arena == NULL)
        return;
    if (connection->request.body_size > KEPT_BODY_BYTES ||
        arena_used_bytes(connection->arena) > KEPT_ARENA_BYTES)
        free_arena(connection);
    else
        arena_reset(connection->arena);
}

void return_shares(struct connection *connection)
{
    struct request *request = &connection->request;
    struct admission *admission = &connection->server->admission;
    trim(connection);
    if (request->body_bytes != 0)
        allowance_return(&admission->body_bytes, request->body_bytes);
    if (request->arena_bytes != 0)
        allowance_return(&admission->arena_bytes, request->arena_bytes);
    request->body_bytes = request->arena_bytes = 0;
}
