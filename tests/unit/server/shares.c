/* labels: threads */
/* The shares of one request: bytes of its body, its arena, its turn, and how long it waits for
 * them. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "server/http.h"
#include "unit.h"

const char unit_suite[] = "server/shares";

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

enum { PLENTY = 64 << 20 };

static struct server server;
static struct connection connections[2];
static size_t connection_count;

static void start(size_t body_bytes, size_t reviews, size_t arena_bytes)
{
    const struct lane_limits of_lane = {
        .body_bytes = body_bytes, .reviews = reviews, .arena_bytes = arena_bytes, .turns = 1};
    memset(&server, 0, sizeof server);
    connection_count = 0;
    load_limits_start(&server.load_limits,
                      (const struct lane_limits[LANE_COUNT]){of_lane, of_lane});
    CU_ASSERT_FATAL(spare_arenas_start(&server.spare_arenas, 2));
}

static void stop(void)
{
    spare_arenas_stop(&server.spare_arenas);
}

/* One of the static ones: they are aligned to a cache line, which the stack of GCC's
 * AddressSanitizer is not. */
static struct connection *request_of(size_t body_limit)
{
    CU_ASSERT_FATAL(connection_count < COUNT_OF(connections));
    struct connection *connection = &connections[connection_count++];
    *connection =
        (struct connection){.server = &server, .fd = -1, .request = {.body_limit = body_limit}};
    return connection;
}

#define USED(connection, what) atomic_load(&lane_of(connection)->what.used)

/* A step ahead of what has come, and never more than is announced. */
static void a_body_is_counted_in_steps(void)
{
    static const struct {
        size_t body_limit, needed, counted;
    } cases[] = {
        {1000, 1, 1000},
        {1000, 1000, 1000},
        {0, 0, 0},
        {64 * KIB, 1, 64 * KIB},
        {64 * KIB + 1, 1, 64 * KIB + 1},
        {64 * KIB + 2, 1, 64 * KIB + 1},
        {MIB, 1, 64 * KIB + 1},
        {MIB, 512 * KIB, 576 * KIB},
        {MIB, MIB - 64 * KIB, MIB},
        {MIB, MIB - 64 * KIB + 1, MIB},
        {MIB, MIB, MIB},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        start(PLENTY, 1, PLENTY);
        struct connection *connection = request_of(cases[i].body_limit);
        CU_ASSERT(share_body(connection, cases[i].needed));
        ASSERT_INT(connection->request.body_bytes, cases[i].counted);
        ASSERT_INT(USED(connection, body_bytes), cases[i].counted);
        CU_ASSERT(share_body(connection, cases[i].counted)); /* is counted already */
        ASSERT_INT(USED(connection, body_bytes), cases[i].counted);
        return_shares(connection);
        ASSERT_INT(connection->request.body_bytes, 0);
        ASSERT_INT(USED(connection, body_bytes), 0);
        stop();
    }
}

static void a_body_without_room_keeps_what_it_has(void)
{
    start(100 * KIB, 1, PLENTY);
    struct connection *connection = request_of(60 * KIB), *other = request_of(60 * KIB);
    CU_ASSERT(share_body(connection, 1));
    CU_ASSERT_FALSE(share_body(other, 1));
    ASSERT_INT(other->request.body_bytes, 0);
    ASSERT_INT(USED(connection, body_bytes), 60 * KIB);
    return_shares(other); /* which has nothing to return */
    ASSERT_INT(USED(connection, body_bytes), 60 * KIB);
    return_shares(connection);
    CU_ASSERT(share_body(other, 1));
    return_shares(other);
    stop();
}

static void a_budget_grows_with_the_body(void)
{
    static const struct {
        size_t body_bytes, budget_bytes;
    } cases[] = {
        {0, 2 * MIB},
        {1, 2 * MIB},
        {64 * KIB, 2 * MIB}, /* all small ones fit into each other's */
        {64 * KIB + 1, 2 * MIB + 16},
        {MIB, 17 * MIB},
        {4032 * KIB - 1, 64 * MIB - 16},
        {4032 * KIB, 64 * MIB},
        {4032 * KIB + 1, 64 * MIB},
        {SIZE_MAX, 64 * MIB},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        ASSERT_INT(arena_budget(cases[i].body_bytes), cases[i].budget_bytes);
}

static void who_gives_no_time_is_never_late(void)
{
    static const struct {
        int64_t timeout_us, now_us; /* it arrived at 5 ms */
        bool late;
    } cases[] = {
        {0, INT64_MAX / 2, false}, {1000, 5000, false}, {1000, 5999, false},
        {1000, 6000, true},        {1000, 6001, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct request request = {.arrived_ms = 5, .timeout_us = cases[i].timeout_us};
        ASSERT_INT(request_is_late(&request, cases[i].now_us), cases[i].late);
    }
}

/* In a lane that is full: it waits for its share, and no longer than its caller does. */
static void a_review_waits_no_longer_than_its_caller(void)
{
    static const struct {
        int64_t timeout_us, now_us, wait_ms, least_ms; /* it arrived at 0 */
    } cases[] = {
        {0, 0, 0, 0},
        {0, 0, 40, 40},
        {1000000, 0, 40, 40},
        {1000000, 970000, 5000, 30}, /* of 30 ms that are left */
        {1000000, 1000000, 5000, 0},
        {1000000, 2000000, 5000, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        start(PLENTY, 1, PLENTY);
        struct connection *connection = request_of(1000), *other = request_of(1000);
        CU_ASSERT(review_enter(other, 0));
        connection->request.timeout_us = cases[i].timeout_us;
        connection->request.wait_ms = cases[i].wait_ms;
        int64_t began_ms = monotonic_ms();
        CU_ASSERT_FALSE(review_enter(connection, cases[i].now_us));
        int64_t took_ms = monotonic_ms() - began_ms;
        CU_ASSERT(took_ms >= cases[i].least_ms && took_ms < 5000);
        CU_ASSERT(connection->request.wait_ms <= 0);
        review_leave(other);
        CU_ASSERT(review_enter(connection, cases[i].now_us)); /* what is free is not waited for */
        review_leave(connection);
        stop();
    }
}

/* Until an answer is sent it stands in the arena, and that is counted; the rest is free before. */
static void an_answer_is_counted_until_it_is_sent(void)
{
    static const struct {
        size_t taken_bytes; /* of the arena */
        bool has_arena;
    } cases[] = {{0, true}, {1000, true}, {300 * KIB, true}, {0, false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        start(PLENTY, 1, PLENTY);
        struct connection *connection = request_of(1000);
        CU_ASSERT(review_enter(connection, 0));
        ASSERT_INT(USED(connection, reviews), 1);
        ASSERT_INT(USED(connection, arena_bytes), arena_budget(1000));
        size_t counted = 0;
        if (cases[i].has_arena) {
            CU_ASSERT_FATAL(open_arena(connection));
            (void)arena_alloc(connection->arena, cases[i].taken_bytes + 1);
            counted = arena_used_bytes(connection->arena);
            CU_ASSERT(counted > cases[i].taken_bytes);
        }
        review_leave(connection);
        ASSERT_INT(USED(connection, reviews), 0);
        ASSERT_INT(USED(connection, arena_bytes), counted);
        return_shares(connection);
        ASSERT_INT(USED(connection, arena_bytes), 0);
        ASSERT_INT(connection->request.arena_bytes, 0);
        stop();
    }
}

static void take_more(void *argument)
{
    struct arena *arena = argument;
    for (;;)
        (void)arena_alloc(arena, MIB);
}

/* The memory for the answer of who has come to the limit is beside the shares. */
static void the_reserve_is_not_counted(void)
{
    start(PLENTY, 1, PLENTY);
    struct connection *connection = request_of(1000);
    struct error error;
    CU_ASSERT(review_enter(connection, 0));
    CU_ASSERT_FATAL(open_arena(connection));
    struct arena *arena = connection->arena;
    (void)arena_alloc(arena, arena_budget(1000) - 64 * KIB);
    CU_ASSERT_FALSE(arena_guard(arena, take_more, arena, &error));
    arena_open_reserve(arena);
    (void)arena_alloc(arena, 256 * KIB);
    CU_ASSERT(arena_used_bytes(arena) > arena_budget(1000));
    review_leave(connection);
    ASSERT_INT(USED(connection, arena_bytes), arena_budget(1000));
    return_shares(connection);
    ASSERT_INT(USED(connection, arena_bytes), 0);
    stop();
}

static void a_large_request_has_one_turn(void)
{
    static const struct {
        bool large;
        size_t turns;
    } cases[] = {{false, 0}, {true, 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        start(PLENTY, 1, PLENTY);
        struct connection *connection = request_of(cases[i].large ? MIB : KIB);
        atomic_store(&connection->large, cases[i].large);
        for (int times = 0; times < 2; times++) {
            turn_take(connection);
            ASSERT_INT(connection->request.has_turn, cases[i].large);
            ASSERT_INT(USED(connection, turns), cases[i].turns);
        }
        for (int times = 0; times < 2; times++) {
            turn_return(connection);
            ASSERT_INT(connection->request.has_turn, false);
            ASSERT_INT(USED(connection, turns), 0);
        }
        stop();
    }
}

/* Who holds the turn may be slow: after a second another goes on without one. */
static void a_turn_is_not_waited_for_for_ever(void)
{
    start(PLENTY, 1, PLENTY);
    struct connection *slow = request_of(MIB), *other = request_of(MIB);
    atomic_store(&slow->large, true);
    atomic_store(&other->large, true);
    turn_take(slow);
    int64_t began_ms = monotonic_ms();
    turn_take(other);
    CU_ASSERT(monotonic_ms() - began_ms >= 1000);
    CU_ASSERT_FALSE(other->request.has_turn);
    turn_return(other); /* which returns none */
    ASSERT_INT(USED(slow, turns), 1);
    turn_return(slow);
    stop();
}

const struct unit_test unit_tests[] = {
    {"a body is counted in steps", a_body_is_counted_in_steps},
    {"a body without room keeps what it has", a_body_without_room_keeps_what_it_has},
    {"a budget grows with the body", a_budget_grows_with_the_body},
    {"who gives no time is never late", who_gives_no_time_is_never_late},
    {"a review waits no longer than its caller", a_review_waits_no_longer_than_its_caller},
    {"an answer is counted until it is sent", an_answer_is_counted_until_it_is_sent},
    {"the reserve is not counted", the_reserve_is_not_counted},
    {"a large request has one turn", a_large_request_has_one_turn},
    {"a turn is not waited for for ever", a_turn_is_not_waited_for_for_ever},
    {NULL, NULL},
};
