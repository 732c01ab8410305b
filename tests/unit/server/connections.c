/* labels: threads */
/* The table of connections: places, deadlines, and who ends when. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "log_fixture.h"
#include "server/http.h"

const char unit_suite[] = "server/connections";

enum { LONG_MS = 20000 };

static struct server server;
static struct connections *table = &server.connections;

static void start(unsigned limit, int64_t request_timeout_ms)
{
    const struct lane_limits of_lane = {1, 1, 1, 1};
    struct error error;
    memset(&server, 0, sizeof server);
    server.metrics = metrics_create();
    load_limits_start(&server.load_limits,
                      (const struct lane_limits[LANE_COUNT]){of_lane, of_lane});
    CU_ASSERT_FATAL(spare_arenas_start(&server.spare_arenas, 1));
    CU_ASSERT_FATAL(
        connections_start(table, &server, limit, request_timeout_ms, server.metrics, &error));
}

static void stop(void)
{
    connections_stop(table);
    spare_arenas_stop(&server.spare_arenas);
    metrics_destroy(server.metrics);
}

/* In the table's lock, as all that other threads look at. */
static bool is(struct connection *connection, bool (*what)(struct connection *connection))
{
    pthread_mutex_lock(&table->mutex);
    bool it_is = what(connection);
    pthread_mutex_unlock(&table->mutex);
    return it_is;
}

static bool input_ended(struct connection *connection)
{
    return connection->input_ended;
}

static bool ended(struct connection *connection)
{
    return connection->ended;
}

static bool comes_true(struct connection *connection, bool (*what)(struct connection *connection))
{
    const int64_t end_ms = monotonic_ms() + LONG_MS;
    while (!is(connection, what) && monotonic_ms() < end_ms)
        sched_yield();
    return is(connection, what);
}

static struct connection *open_at(enum door door)
{
    struct connection *connection = connection_open(table, door, -1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(connection);
    return connection;
}

/* ---- places ---- */

static void each_door_has_its_places(void)
{
    enum { LIMIT = 2 };
    struct connection *opened[LIMIT + OPS_CONNECTION_LIMIT];
    start(LIMIT, 60000);
    for (unsigned i = 0; i < COUNT_OF(opened); i++) {
        opened[i] = open_at(i < LIMIT ? DOOR_WEBHOOK : DOOR_OPS);
        ASSERT_INT(opened[i]->index, i);
        CU_ASSERT(opened[i]->open && opened[i]->server == &server);
    }
    CU_ASSERT_PTR_NULL(connection_open(table, DOOR_WEBHOOK, -1));
    CU_ASSERT_PTR_NULL(connection_open(table, DOOR_OPS, -1));
    ASSERT_INT(table->open_count[DOOR_WEBHOOK], LIMIT);
    ASSERT_INT(table->open_count[DOOR_OPS], OPS_CONNECTION_LIMIT);
    connection_close(table, opened[LIMIT]);
    ASSERT_INT(table->open_count[DOOR_WEBHOOK], LIMIT);
    ASSERT_INT(table->open_count[DOOR_OPS], OPS_CONNECTION_LIMIT - 1);
    connection_close(table, opened[LIMIT - 1]);
    ASSERT_INT(table->open_count[DOOR_WEBHOOK], LIMIT - 1);
    CU_ASSERT_FALSE(opened[LIMIT - 1]->open);
    /* A place that is free again is as new. */
    opened[LIMIT - 1]->input_ended = opened[LIMIT - 1]->ended = true;
    opened[LIMIT - 1]->uncorked = true;
    struct connection *again = open_at(DOOR_WEBHOOK);
    CU_ASSERT_PTR_EQUAL(again, opened[LIMIT - 1]);
    CU_ASSERT_FALSE(again->input_ended || again->ended || again->uncorked);
    CU_ASSERT_PTR_NULL(again->session);
    stop();
}

/* What was of one request is not of the next one. */
static void a_request_leaves_nothing(void)
{
    start(1, 60000);
    struct connection *connection = open_at(DOOR_WEBHOOK);
    connection->request = (struct request){.begun = true, .body_limit = 7, .timeout_us = 9};
    connection->body = malloc(7);
    atomic_store(&connection->large, true);
    connection_end_request(connection);
    CU_ASSERT_FALSE(connection->request.begun);
    ASSERT_INT(connection->request.body_limit, 0);
    ASSERT_INT(connection->request.timeout_us, 0);
    CU_ASSERT_FALSE(atomic_load(&connection->large));
    CU_ASSERT_PTR_NULL(connection->body);
    stop();
}

/* ---- times ---- */

static void a_handshake_has_three_seconds_at_most(void)
{
    static const struct {
        enum door door;
        int64_t request_timeout_ms, has_ms;
        bool established;
    } cases[] = {
        {DOOR_WEBHOOK, 15000, 3000, false}, {DOOR_WEBHOOK, 3000, 3000, false},
        {DOOR_WEBHOOK, 1000, 1000, false},  {DOOR_OPS, 15000, 15000, true},
        {DOOR_OPS, 1000, 1000, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        start(1, cases[i].request_timeout_ms);
        int64_t before_ms = monotonic_ms();
        struct connection *connection = open_at(cases[i].door);
        int64_t after_ms = monotonic_ms(), has_ms = cases[i].has_ms;
        int64_t deadline_ms = atomic_load(&connection->deadline_ms);
        CU_ASSERT(deadline_ms >= before_ms + has_ms && deadline_ms <= after_ms + has_ms);
        int64_t quiet_ms = atomic_load(&connection->quiet_since_ms);
        CU_ASSERT(quiet_ms >= before_ms && quiet_ms <= after_ms);
        ASSERT_INT(atomic_load(&connection->established), cases[i].established);
        ASSERT_INT(table->idle_timeout_ms, 120000);
        stop();
    }
}

static void a_connection_does_something_since(void)
{
    enum { TIMEOUT_MS = 60000 };
    const int64_t now_ms = monotonic_ms();
    start(1, TIMEOUT_MS);
    struct connection *connection = open_at(DOOR_WEBHOOK);
    int64_t opened_ms = atomic_load(&connection->quiet_since_ms);
    connection_set_deadline(connection, now_ms - 500); /* in its handshake, still */
    ASSERT_INT(connection_since(connection), opened_ms);
    CU_ASSERT_FALSE(connection_is_idle(connection));

    atomic_store(&connection->established, true);
    ASSERT_INT(connection_since(connection), now_ms - 500);
    connection_set_idle(connection, now_ms - 300);
    ASSERT_INT(connection_since(connection), now_ms - 300);
    CU_ASSERT(connection_is_idle(connection) && !connection_is_judged(connection));
    connection->input_ended = true;
    CU_ASSERT_FALSE(connection_is_idle(connection));
    connection->input_ended = false;
    connection->open = false;
    CU_ASSERT_FALSE(connection_is_idle(connection));
    connection->open = true;

    int64_t before_ms = monotonic_ms(), began_ms = connection_note_arrival(connection);
    CU_ASSERT(began_ms >= before_ms && began_ms <= monotonic_ms());
    ASSERT_INT(atomic_load(&connection->deadline_ms), began_ms + TIMEOUT_MS);
    CU_ASSERT_FALSE(connection_is_idle(connection));
    connection_set_deadline(connection, now_ms - 700);
    ASSERT_INT(connection_note_arrival(connection), now_ms - 700); /* of the same request */
    connection_set_judging(connection);
    CU_ASSERT(connection_is_judged(connection) && !connection_is_idle(connection));
    stop();
}

static bool counts(const char *reason, unsigned count)
{
    char line[128];
    struct arena *arena = arena_create(8 << 20);
    snprintf(line, sizeof line, "taffrail_requests_refused_total{reason=\"%s\"} %u\n", reason,
             count);
    bool found = strstr(metrics_text(server.metrics, arena).data, line) != NULL;
    arena_destroy(arena);
    return found;
}

/* Of an idle one what it has sent is still answered. Who is judged has all the time. */
static void late_ones_are_ended(void)
{
    enum { TIMEOUT_MS = 200, IDLE_MS = 300 };
    int idle_ends[2], late_ends[2];
    char byte;
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, idle_ends) == 0 &&
                    socketpair(AF_UNIX, SOCK_STREAM, 0, late_ends) == 0);
    start(4, TIMEOUT_MS);
    pthread_mutex_lock(&table->mutex);
    table->idle_timeout_ms = IDLE_MS;
    pthread_mutex_unlock(&table->mutex);
    struct connection *idle = connection_open(table, DOOR_WEBHOOK, idle_ends[0]);
    struct connection *judged = open_at(DOOR_WEBHOOK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(idle);
    connection_set_judging(judged);
    const int64_t since_ms = monotonic_ms();
    connection_set_idle(idle, since_ms);
    CU_ASSERT(comes_true(idle, input_ended));
    CU_ASSERT(monotonic_ms() - since_ms >= IDLE_MS);
    CU_ASSERT_FALSE(is(idle, ended));
    ASSERT_INT(recv(idle_ends[0], &byte, 1, MSG_DONTWAIT), 0);
    ASSERT_INT(send(idle_ends[0], "x", 1, MSG_NOSIGNAL), 1);
    CU_ASSERT(counts("malformed", 0));

    struct connection *late = connection_open(table, DOOR_WEBHOOK, late_ends[0]);
    CU_ASSERT_PTR_NOT_NULL_FATAL(late);
    connection_set_deadline(late, monotonic_ms());
    CU_ASSERT(comes_true(late, ended));
    ASSERT_INT(send(late_ends[0], "x", 1, MSG_NOSIGNAL), -1);
    const int64_t end_ms = monotonic_ms() + LONG_MS;
    while (!counts("malformed", 1) && monotonic_ms() < end_ms)
        sched_yield();
    CU_ASSERT(counts("malformed", 1));
    CU_ASSERT_FALSE(is(judged, ended) || is(judged, input_ended));
    stop();
    for (size_t i = 0; i < 2; i++) {
        close(idle_ends[i]);
        close(late_ends[i]);
    }
}

/* ---- the end ---- */

static void a_drain_says_how_many_are_left(void)
{
    enum doing { NOTHING, ON_OPS, JUDGED, IDLE_FOR_LONG, IDLE_SOON };
    static const struct {
        enum doing doing;
        int64_t for_ms;
        unsigned left;
        bool input_ended;
    } cases[] = {
        {NOTHING, -1, 0, false},      {NOTHING, LONG_MS, 0, false}, {ON_OPS, LONG_MS, 0, false},
        {JUDGED, 40, 1, false},       {JUDGED, 0, 1, false},        {IDLE_FOR_LONG, 1000, 1, true},
        {IDLE_FOR_LONG, 0, 1, false}, {IDLE_SOON, 40, 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        start(2, 60000);
        struct connection *connection = &table->items[0];
        enum doing doing = cases[i].doing;
        if (doing != NOTHING)
            connection = open_at(doing == ON_OPS ? DOOR_OPS : DOOR_WEBHOOK);
        if (doing == JUDGED)
            connection_set_judging(connection);
        const int64_t began_ms = monotonic_ms();
        if (doing == IDLE_FOR_LONG || doing == IDLE_SOON) /* soon it is so; not yet */
            connection_set_idle(connection,
                                began_ms + (doing == IDLE_SOON ? LONG_MS : -SETTLED_MS));
        ASSERT_INT(connections_drain(table, began_ms + cases[i].for_ms), cases[i].left);
        CU_ASSERT(cases[i].left == 0 || monotonic_ms() >= began_ms + cases[i].for_ms);
        CU_ASSERT(cases[i].left > 0 || monotonic_ms() < began_ms + LONG_MS);
        ASSERT_INT(is(connection, input_ended), cases[i].input_ended);
        CU_ASSERT_FALSE(is(connection, ended));
        stop();
    }
}

static void *close_it(void *argument)
{
    connection_close(table, argument);
    return NULL;
}

static void a_drain_ends_when_the_last_has_gone(void)
{
    pthread_t thread;
    start(2, 60000);
    struct connection *connection = open_at(DOOR_WEBHOOK);
    connection_set_judging(connection);
    const int64_t began_ms = monotonic_ms();
    pthread_create(&thread, NULL, close_it, connection);
    ASSERT_INT(connections_drain(table, began_ms + LONG_MS), 0);
    CU_ASSERT(monotonic_ms() < began_ms + LONG_MS);
    pthread_join(thread, NULL);
    stop();
}

/* ---- who is let in ---- */

static void a_full_table_lets_nobody_in(void)
{
    start(2, 60000);
    CU_ASSERT(connections_admit(table, DOOR_WEBHOOK));
    connection_set_judging(open_at(DOOR_WEBHOOK));
    CU_ASSERT(connections_admit(table, DOOR_WEBHOOK));
    connection_set_judging(open_at(DOOR_WEBHOOK));
    CU_ASSERT(counts("overload", 0));
    struct listening listening = listen_to_log();
    CU_ASSERT_FALSE(connections_admit(table, DOOR_WEBHOOK));
    struct text log = heard(&listening);
    ASSERT_HEARD(log, "all 2 connections are in use; a client was refused", 1);
    CU_ASSERT(counts("overload", 1));
    CU_ASSERT(connections_admit(table, DOOR_OPS));
    stop();
}

const struct unit_test unit_tests[] = {
    {"each door has its places", each_door_has_its_places},
    {"a request leaves nothing", a_request_leaves_nothing},
    {"a handshake has three seconds at most", a_handshake_has_three_seconds_at_most},
    {"a connection does something since", a_connection_does_something_since},
    {"late ones are ended", late_ones_are_ended},
    {"a drain says how many are left", a_drain_says_how_many_are_left},
    {"a drain ends when the last has gone", a_drain_ends_when_the_last_has_gone},
    {"a full table lets nobody in", a_full_table_lets_nobody_in},
    {NULL, NULL},
};
