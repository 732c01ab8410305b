/* Connections, and their deadlines. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "server/http.h"

/* libmicrohttpd's own timeout is only for inactivity: a byte now and then keeps a request alive for
 * ever. (And with poll, a thread may spin through the last second of it.) So the table keeps a
 * deadline for each connection, and the janitor shuts down the socket of late ones; the
 * connection's thread then sees the end of its input. */

enum {
    IDLE_TIMEOUT_MS =
        120 * 1000, /* longer than the 90 s of Go's clients, docs/reference/admission.md 1.7 */
    HANDSHAKE_TIMEOUT_MS = 3 * 1000, /* those of API servers take milliseconds */
    TICK_MS_MAX = 1000,
};

/* A thread that reads DEADLINE_IDLE here also sees the quiet_since_ms that was stored before it. */
static int64_t deadline_of(const struct connection *connection)
{
    return atomic_load_explicit(&connection->deadline_ms, memory_order_acquire);
}

void connection_set_deadline(struct connection *connection, int64_t now_ms)
{
    atomic_store_explicit(&connection->deadline_ms,
                          now_ms + connection->server->connections.request_timeout_ms,
                          memory_order_relaxed);
}

void connection_set_judging(struct connection *connection)
{
    atomic_store_explicit(&connection->deadline_ms, DEADLINE_NEVER, memory_order_relaxed);
}

void connection_set_idle(struct connection *connection, int64_t since_ms)
{
    atomic_store_explicit(&connection->quiet_since_ms, since_ms, memory_order_relaxed);
    atomic_store_explicit(&connection->deadline_ms, DEADLINE_IDLE, memory_order_release);
}

static int64_t quiet_since(const struct connection *connection)
{
    return atomic_load_explicit(&connection->quiet_since_ms, memory_order_relaxed);
}

/* The fd is still the connection's own: it is closed only after connection_close, which takes the
 * mutex that is held here. */
void connection_end_input(struct connection *connection)
{
    shutdown(connection->fd, SHUT_RD);
    connection->input_ended = true;
}

void connection_end(struct connection *connection)
{
    shutdown(connection->fd, SHUT_RDWR);
    connection->ended = true;
}

bool connection_is_idle(const struct connection *connection)
{
    return connection->open && !connection->input_ended && deadline_of(connection) == DEADLINE_IDLE;
}

bool connection_is_judged(const struct connection *connection)
{
    return deadline_of(connection) == DEADLINE_NEVER;
}

int64_t connection_since(const struct connection *connection)
{
    int64_t deadline = deadline_of(connection);
    bool at_a_request = deadline != DEADLINE_IDLE &&
                        atomic_load_explicit(&connection->established, memory_order_acquire);
    return at_a_request ? deadline - connection->server->connections.request_timeout_ms
                        : quiet_since(connection);
}

/* ---- the janitor ---- */

/* Ends late connections; returns how many of them had a request. */
static unsigned end_late(struct connections *connections)
{
    unsigned late = 0;
    int64_t now = monotonic_ms();
    for (unsigned i = 0; i < connections->first[DOOR_COUNT]; i++) {
        struct connection *connection = &connections->items[i];
        if (connection_is_idle(connection)) {
            if (now - quiet_since(connection) >= connections->idle_timeout_ms)
                connection_end_input(connection);
            continue;
        }
        int64_t deadline = deadline_of(connection);
        if (connection->open && !connection->ended && deadline != DEADLINE_IDLE &&
            now >= deadline) {
            connection_end(connection);
            late++;
        }
    }
    return late;
}

static void wait_changed(struct connections *connections, int64_t until_ms)
{
    struct timespec until = timespec_of_ms(until_ms);
    pthread_cond_timedwait(&connections->changed, &connections->mutex, &until);
}

static void *janitor(void *argument)
{
    struct connections *connections = argument;
    int64_t tick_ms = connections->request_timeout_ms / 4;
    if (tick_ms > TICK_MS_MAX)
        tick_ms = TICK_MS_MAX;
    pthread_mutex_lock(&connections->mutex);
    int64_t next_ms = monotonic_ms() + tick_ms;
    while (!connections->stopping) {
        if (monotonic_ms() < next_ms) {
            wait_changed(connections, next_ms);
            continue;
        }
        next_ms += tick_ms;
        unsigned late = end_late(connections);
        for (enum door door = DOOR_WEBHOOK; door < DOOR_COUNT; door++)
            connections_keep_room(connections, door);
        spare_arenas_trim(&connections->items->server->spare_arenas);
        if (late == 0)
            continue;
        pthread_mutex_unlock(&connections->mutex);
        log_line(
            LOG_INFO, "server", NULL, NULL,
            "connections closed: %u; no handshake within %lld ms, or no complete request within "
            "%lld ms",
            late, (long long)connections->handshake_timeout_ms,
            (long long)connections->request_timeout_ms);
        for (unsigned i = 0; i < late; i++)
            metrics_count_refusal(connections->metrics, REFUSED_MALFORMED);
        pthread_mutex_lock(&connections->mutex);
    }
    pthread_mutex_unlock(&connections->mutex);
    return NULL;
}

/* ---- the table ---- */

static bool start_janitor(struct connections *connections)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0)
        return false;
    bool made = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(&connections->changed, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    if (!made)
        return false;
    pthread_mutex_init(&connections->mutex, NULL);
    connections->running = pthread_create(&connections->janitor, NULL, janitor, connections) == 0;
    if (!connections->running) {
        pthread_mutex_destroy(&connections->mutex);
        pthread_cond_destroy(&connections->changed);
    }
    return connections->running;
}

bool connections_start(struct connections *connections, struct server *server,
                       unsigned webhook_limit, int64_t request_timeout_ms, struct metrics *metrics,
                       struct error *error)
{
    unsigned count = webhook_limit + OPS_CONNECTION_LIMIT;
    *connections = (struct connections){
        .first = {0, webhook_limit, count},
        .request_timeout_ms = request_timeout_ms,
        .handshake_timeout_ms =
            request_timeout_ms < HANDSHAKE_TIMEOUT_MS ? request_timeout_ms : HANDSHAKE_TIMEOUT_MS,
        .idle_timeout_ms = IDLE_TIMEOUT_MS,
        .metrics = metrics,
        .items = aligned_alloc(alignof(struct connection), count * sizeof(struct connection)),
    };
    if (connections->items == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory for %u connections", count);
    memset(connections->items, 0, count * sizeof(struct connection));
    for (unsigned i = 0; i < count; i++) {
        connections->items[i].server = server;
        connections->items[i].index = i;
    }
    if (!start_janitor(connections))
        return error_set(error, ERROR_MEMORY, NOWHERE,
                         "the thread that ends late requests cannot be started");
    return true;
}

void connections_stop(struct connections *connections)
{
    if (connections->running) {
        pthread_mutex_lock(&connections->mutex);
        connections->stopping = true;
        pthread_cond_broadcast(&connections->changed);
        pthread_mutex_unlock(&connections->mutex);
        pthread_join(connections->janitor, NULL);
        pthread_mutex_destroy(&connections->mutex);
        pthread_cond_destroy(&connections->changed);
    }
    free(connections->items);
}

int64_t connection_note_arrival(struct connection *connection)
{
    if (deadline_of(connection) == DEADLINE_IDLE)
        connection_set_deadline(connection, monotonic_ms());
    return deadline_of(connection) - connection->server->connections.request_timeout_ms;
}

/* On the webhook port, a handshake comes first. */
static void begin(struct connection *connection, enum door door)
{
    const struct connections *connections = &connection->server->connections;
    int64_t now = monotonic_ms();
    struct sockaddr_storage peer = {0};
    socklen_t size = sizeof peer;
    connection->open = true;
    connection->session = NULL;
    connection->uncorked = false;
    connection->input_ended = connection->ended = false;
    if (getpeername(connection->fd, (struct sockaddr *)&peer, &size) == 0)
        connection->source = connection_source((struct sockaddr *)&peer);
    atomic_store_explicit(&connection->quiet_since_ms, now, memory_order_relaxed);
    atomic_store_explicit(&connection->established, door == DOOR_OPS, memory_order_relaxed);
    atomic_store_explicit(&connection->deadline_ms,
                          now + (door == DOOR_OPS ? connections->request_timeout_ms
                                                  : connections->handshake_timeout_ms),
                          memory_order_relaxed);
}

struct connection *connection_open(struct connections *connections, enum door door, int fd)
{
    struct connection *connection = NULL;
    pthread_mutex_lock(&connections->mutex);
    for (unsigned i = connections->first[door]; i < connections->first[door + 1]; i++) {
        if (connections->items[i].open)
            continue;
        connection = &connections->items[i];
        connection->fd = fd;
        begin(connection, door);
        connections->open_count[door]++;
        break;
    }
    pthread_mutex_unlock(&connections->mutex);
    return connection;
}

void connection_end_request(struct connection *connection)
{
    turn_return(connection);
    return_shares(connection);
    connection->request = (struct request){0};
    atomic_store_explicit(&connection->large, false, memory_order_relaxed);
}

void connection_close(struct connections *connections, struct connection *connection)
{
    connection_end_request(connection);
    known_reviews_free(&connection->known, &connection->server->known_bytes);
    enum door door = connection->index < connections->first[DOOR_OPS] ? DOOR_WEBHOOK : DOOR_OPS;
    pthread_mutex_lock(&connections->mutex);
    connection->open = false;
    connections->open_count[door]--;
    pthread_cond_broadcast(&connections->changed);
    pthread_mutex_unlock(&connections->mutex);
}

unsigned connections_drain(struct connections *connections, int64_t deadline_ms)
{
    pthread_mutex_lock(&connections->mutex);
    while (connections->open_count[DOOR_WEBHOOK] > 0) {
        int64_t now = monotonic_ms(), wake_ms = deadline_ms;
        if (now >= deadline_ms)
            break;
        for (unsigned i = 0; i < connections->first[DOOR_OPS]; i++) {
            struct connection *connection = &connections->items[i];
            if (!connection_is_idle(connection))
                continue;
            int64_t settled_ms = quiet_since(connection) + SETTLED_MS;
            if (now >= settled_ms)
                connection_end_input(connection);
            else if (settled_ms < wake_ms)
                wake_ms = settled_ms;
        }
        /* A connection may become idle without a signal. */
        if (wake_ms > now + SETTLED_MS)
            wake_ms = now + SETTLED_MS;
        wait_changed(connections, wake_ms);
    }
    unsigned left = connections->open_count[DOOR_WEBHOOK];
    pthread_mutex_unlock(&connections->mutex);
    return left;
}
