/* Memory of requests in flight. */
#include <stdlib.h>
#include <string.h>

#include "server/http.h"

/* All connections together have a limit for the memory of requests: of bodies as they are read, and
 * of arenas during reviews. An idle connection has none of it. Few connections are at a review at
 * the same time, so they all share the spare arenas. */

enum {
    KEPT_ARENA_BYTES = 512 << 10,
    /* A review from the API server takes four times its body; the largest are hostile. */
    ARENA_BASE_BYTES = 1 << 20,
    ARENA_FACTOR = 16,
    ARENA_BYTES_MAX = 64 << 20,
    ANSWER_RESERVE_BYTES = 512 << 10, /* the largest answer, and the memory to make it */
    BODY_STEP_BYTES = 64 << 10,
    WAIT_MS_MAX = 500,
    TURN_MS_MAX = 1000, /* at most, even if the others wait */
    WAIT_PARTS = 4,     /* the wait is one such part of the caller's time */
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

struct lane *lane_of(const struct connection *connection)
{
    return &connection->server->load_limits.lanes[lane_for(connection->request.body_limit)];
}

/* A large body that takes long is not the API server's, or arrives too late for it. It is ended
 * when others wait for bytes. */
static bool take_body_bytes(struct connection *connection, size_t amount)
{
    struct lane *lane = lane_of(connection);
    int64_t no_wait_ms = 0;
    if (allowance_take(&lane->body_bytes, amount, &no_wait_ms))
        return true;
    if (lane_for(connection->request.body_limit) == LANE_LARGE)
        connections_end_slowest_but(connection);
    return allowance_take(&lane->body_bytes, amount, &connection->request.wait_ms);
}

void turn_take(struct connection *connection)
{
    struct request *request = &connection->request;
    int64_t wait_ms = TURN_MS_MAX;
    if (!request->has_turn && atomic_load_explicit(&connection->large, memory_order_relaxed))
        request->has_turn = allowance_take(&lane_of(connection)->turns, 1, &wait_ms);
}

void turn_return(struct connection *connection)
{
    if (connection->request.has_turn)
        allowance_return(&lane_of(connection)->turns, 1);
    connection->request.has_turn = false;
}

/* Bytes are counted as they arrive, a step ahead. Memory that was never written to is not in use,
 * and a client that announces much and sends little must not keep the others out. */
bool share_body(struct connection *connection, size_t needed)
{
    struct request *request = &connection->request;
    if (needed <= request->body_bytes)
        return true;
    size_t wanted = request->body_limit - needed < BODY_STEP_BYTES ? request->body_limit
                                                                   : needed + BODY_STEP_BYTES;
    if (!take_body_bytes(connection, wanted - request->body_bytes))
        return false;
    request->body_bytes = wanted;
    return true;
}

size_t arena_budget(size_t body_bytes)
{
    size_t small_or_larger = body_bytes < SMALL_BODY_BYTES ? SMALL_BODY_BYTES : body_bytes;
    if (small_or_larger > (ARENA_BYTES_MAX - ARENA_BASE_BYTES) / ARENA_FACTOR)
        return ARENA_BYTES_MAX;
    return ARENA_BASE_BYTES + ARENA_FACTOR * small_or_larger;
}

/* ---- arenas ---- */

bool spare_arenas_start(struct spare_arenas *spare, size_t limit)
{
    pthread_mutex_init(&spare->mutex, NULL);
    spare->items = calloc(limit, sizeof *spare->items);
    spare->limit = limit;
    return spare->items != NULL;
}

void spare_arenas_stop(struct spare_arenas *spare)
{
    for (size_t i = 0; i < spare->count; i++)
        arena_destroy(spare->items[i]);
    free(spare->items);
    pthread_mutex_destroy(&spare->mutex);
}

void spare_arenas_trim(struct spare_arenas *spare)
{
    struct arena *unused = NULL;
    pthread_mutex_lock(&spare->mutex);
    if (spare->unused_count > 0) {
        unused = spare->items[0];
        memmove(spare->items, spare->items + 1, --spare->count * sizeof *spare->items);
    }
    spare->unused_count = spare->count;
    pthread_mutex_unlock(&spare->mutex);
    arena_destroy(unused);
}

static struct arena *take_spare(struct spare_arenas *spare)
{
    pthread_mutex_lock(&spare->mutex);
    struct arena *arena = spare->count == 0 ? NULL : spare->items[--spare->count];
    if (spare->unused_count > spare->count)
        spare->unused_count = spare->count;
    pthread_mutex_unlock(&spare->mutex);
    return arena;
}

static void keep_spare(struct spare_arenas *spare, struct arena *arena)
{
    arena_reset(arena);
    pthread_mutex_lock(&spare->mutex);
    bool kept = spare->count < spare->limit;
    if (kept)
        spare->items[spare->count++] = arena;
    pthread_mutex_unlock(&spare->mutex);
    if (!kept)
        arena_destroy(arena);
}

static struct arena *new_arena(size_t budget_bytes)
{
    struct arena *arena = arena_create(budget_bytes);
    if (arena != NULL && arena_reserve(arena, ANSWER_RESERVE_BYTES))
        return arena;
    arena_destroy(arena);
    return NULL;
}

/* Arenas for small bodies all have the same budget, so that each fits the next review. */
bool open_arena(struct connection *connection)
{
    size_t body_size = connection->request.body_size;
    if (body_size <= SMALL_BODY_BYTES)
        connection->arena = take_spare(&connection->server->spare_arenas);
    if (connection->arena == NULL)
        connection->arena = new_arena(arena_budget(body_size));
    return connection->arena != NULL;
}

static void close_arena(struct connection *connection)
{
    struct arena *arena = connection->arena;
    connection->arena = NULL;
    if (arena == NULL)
        return;
    if (connection->request.body_size > SMALL_BODY_BYTES ||
        arena_used_bytes(arena) > KEPT_ARENA_BYTES)
        arena_destroy(arena);
    else
        keep_spare(&connection->server->spare_arenas, arena);
}

/* ---- shares ---- */

bool review_enter(struct connection *connection, int64_t now_us)
{
    struct request *request = &connection->request;
    int64_t left_ms = left_us(request, now_us) / 1000;
    if (request->timeout_us != 0 && request->wait_ms > left_ms)
        request->wait_ms = left_ms;
    return lane_enter(lane_of(connection), arena_budget(request->body_size), &request->wait_ms);
}

void review_leave(struct connection *connection)
{
    struct request *request = &connection->request;
    size_t budget = arena_budget(request->body_size);
    size_t used = connection->arena == NULL ? 0 : arena_used_bytes(connection->arena);
    request->arena_bytes =
        used < budget ? used : budget; /* the reserve is not part of the shares */
    lane_leave(lane_of(connection), budget, request->arena_bytes);
}

void return_shares(struct connection *connection)
{
    struct request *request = &connection->request;
    struct lane *lane = lane_of(connection);
    free(connection->body);
    connection->body = NULL;
    close_arena(connection);
    if (request->body_bytes != 0)
        allowance_return(&lane->body_bytes, request->body_bytes);
    if (request->arena_bytes != 0)
        allowance_return(&lane->arena_bytes, request->arena_bytes);
    request->body_bytes = request->arena_bytes = 0;
}
