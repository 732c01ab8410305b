/* labels: threads */
/* A review waits for an owner that is not seen yet: who waits, until when, and what it then sees.
 */
#include <sched.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cluster_fixture.h"
#include "server/http.h"

const char unit_suite[] = "server/await";

enum { LONG_MS = 30000, LARGE_BYTES = 1 << 20, NAME_BYTES = 256 };

static struct fixture cluster;
static const struct snapshot *empty, *showing; /* without the owner, and with it */
static struct server server;
static struct connection connection;
static struct pinned pinned;

/* ---- worlds ---- */

/* A name in a world that is gone is another text. */
struct named_world {
    struct world world;
    char name[NAME_BYTES + 1];
    bool *gone;
};

static void forget_name(void *destroyed)
{
    struct named_world *named = destroyed;
    memset(named->name, '?', sizeof named->name);
    if (named->gone != NULL)
        *named->gone = true;
    free(named);
}

static struct named_world *publish(const struct snapshot *snapshot, bool live)
{
    struct named_world *named = calloc(1, sizeof *named);
    CU_ASSERT_PTR_NOT_NULL_FATAL(named);
    named->world = (struct world){.snapshot = snapshot, .live = live};
    cell_publish(server.world, named, forget_name);
    return named;
}

static void open_worlds(size_t reviews, size_t body_limit, bool live)
{
    static const char *const documents[] = {
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, uid: u-1}, spec: {}}"};
    const struct lane_limits of_lane = {.body_bytes = 1, .reviews = reviews, .arena_bytes = 1};
    struct lane_limits limits[LANE_COUNT] = {{0}};
    limits[body_limit > SMALL_BODY_BYTES ? LANE_LARGE : LANE_SMALL] = of_lane;
    cluster.arena = arena_create(1 << 20);
    empty = fixture_snapshot(&cluster, documents, 0);
    showing = fixture_snapshot(&cluster, documents, COUNT_OF(documents));
    memset(&server, 0, sizeof server);
    server.world = cell_create(1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(server.world);
    load_limits_start(&server.load_limits, limits);
    connection = (struct connection){.server = &server, .request = {.body_limit = body_limit}};
    (void)publish(empty, live);
    pin_world(&connection, &pinned);
}

static void close_worlds(void)
{
    unpin_world(&connection);
    cell_destroy(server.world);
    arena_destroy(cluster.arena);
}

static struct awaited_owner owner_named(struct text name)
{
    return (struct awaited_owner){
        .kind = KIND_REPLICA_SET, .namespace = TEXT("shop"), .name = name, .uid = TEXT("u-1")};
}

/* ---- tests ---- */

/* A second, and half of the caller's time at most, counted from the arrival. */
static void the_wait_is_a_part_of_the_callers_time(void)
{
    static const struct {
        int64_t arrived_ms, timeout_us, now_ms, until_ms;
    } cases[] = {
        {5000, 0, 5000, 6000}, /* who gives no time has all of it */
        {5000, 0, 9000, 10000},        {5000, 10000000, 5000, 6000}, {5000, 10000000, 8999, 9999},
        {5000, 10000000, 9001, 10000}, {5000, 1000000, 5000, 5500},  {5000, 1000000, 5400, 5500},
        {5000, 1000000, 5600, 5500}, /* over already */
        {5000, 2000000, 5000, 6000},   {5000, 1999999, 5000, 5999},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct request request = {.arrived_ms = cases[i].arrived_ms,
                                        .timeout_us = cases[i].timeout_us};
        ASSERT_INT(await_until_ms(&request, cases[i].now_ms), cases[i].until_ms);
    }
}

static void who_has_nothing_to_wait_for_does_not_wait(void)
{
    static char long_name[NAME_BYTES + 1];
    memset(long_name, 'n', sizeof long_name);
    const struct text longest = {long_name, NAME_BYTES}, too_long = {long_name, NAME_BYTES + 1};
    const struct {
        bool live;
        struct awaited_owner owner;
        int64_t for_ms;
        bool waits;
    } cases[] = {
        {true, owner_named(TEXT("web-1")), LONG_MS, true},
        {true, {.kind = KIND_UNKNOWN}, LONG_MS, false},
        {false, owner_named(TEXT("web-1")), LONG_MS, false}, /* files show no more in a moment */
        {true, owner_named(TEXT("web-1")), 0, false},
        {true, owner_named(TEXT("web-1")), -1, false},
        {true, {KIND_REPLICA_SET, longest, longest, longest}, 20, true},
        {true, {KIND_REPLICA_SET, too_long, TEXT("a"), TEXT("b")}, LONG_MS, false},
        {true, {KIND_REPLICA_SET, TEXT("a"), too_long, TEXT("b")}, LONG_MS, false},
        {true, {KIND_REPLICA_SET, TEXT("a"), TEXT("b"), too_long}, LONG_MS, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        open_worlds(4, 1000, cases[i].live);
        const struct world *before = pinned.world;
        (void)publish(showing, true);
        int64_t began_ms = monotonic_ms(), until_ms = began_ms + cases[i].for_ms;
        bool waits = await_owner(&connection, &cases[i].owner, until_ms, &pinned);
        ASSERT_INT(waits, cases[i].waits);
        CU_ASSERT(monotonic_ms() - began_ms < LONG_MS);
        /* Who has waited looks at the world as it is now, the others at theirs. */
        CU_ASSERT_EQUAL(pinned.world == before, !cases[i].waits);
        ASSERT_INT(atomic_load(&server.awaiting[LANE_SMALL]), 0);
        close_worlds();
    }
}

/* The rest can work. One may wait where there are few. */
static void a_quarter_of_a_lane_may_wait(void)
{
    static const struct {
        size_t reviews, body_limit;
        unsigned others; /* that wait already */
        bool waits;
    } cases[] = {
        {8, 1000, 0, true},         {8, 1000, 1, true},        {8, 1000, 2, false},
        {8, 1000, 7, false},        {16, 1000, 3, true},       {16, 1000, 4, false},
        {7, 1000, 1, false},        {3, 1000, 0, true},        {3, 1000, 1, false},
        {1, 1000, 0, true},         {1, 1000, 1, false},       {8, LARGE_BYTES, 1, true},
        {8, LARGE_BYTES, 2, false}, {1, LARGE_BYTES, 0, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct awaited_owner owner = owner_named(TEXT("web-1"));
        bool large = cases[i].body_limit == LARGE_BYTES;
        atomic_uint *waiting = &server.awaiting[large ? LANE_LARGE : LANE_SMALL];
        open_worlds(cases[i].reviews, cases[i].body_limit, true);
        atomic_store(waiting, cases[i].others);
        (void)publish(showing, true);
        ASSERT_INT(await_owner(&connection, &owner, monotonic_ms() + LONG_MS, &pinned),
                   cases[i].waits);
        ASSERT_INT(atomic_load(waiting), cases[i].others);
        ASSERT_INT(atomic_load(&server.awaiting[large ? LANE_SMALL : LANE_LARGE]), 0);
        close_worlds();
    }
}

static void the_wait_ends_with_its_time(void)
{
    const struct awaited_owner owner = owner_named(TEXT("web-1"));
    open_worlds(4, 1000, true);
    int64_t until_ms = monotonic_ms() + 30;
    CU_ASSERT(await_owner(&connection, &owner, until_ms, &pinned));
    CU_ASSERT(monotonic_ms() >= until_ms);
    CU_ASSERT(!world_has_owner(pinned.world, &owner));
    close_worlds();
}

struct waiter {
    struct awaited_owner owner;
    bool waited;
};

static void *wait_for_owner(void *argument)
{
    struct waiter *waiter = argument;
    waiter->waited = await_owner(&connection, &waiter->owner, monotonic_ms() + LONG_MS, &pinned);
    return NULL;
}

/* The name is known from a world that is gone when the owner comes. */
static void worlds_come_and_go_until_one_shows_the_owner(void)
{
    bool gone = false;
    pthread_t thread;
    open_worlds(4, 1000, true);
    struct named_world *first = publish(empty, true);
    unpin_world(&connection);
    pin_world(&connection, &pinned);
    const uint64_t before = pinned.number;
    first->gone = &gone;
    memcpy(first->name, "web-1", sizeof "web-1");
    struct waiter waiter = {.owner = owner_named(text_of(first->name))};
    pthread_create(&thread, NULL, wait_for_owner, &waiter);
    while (atomic_load(&server.awaiting[LANE_SMALL]) == 0)
        sched_yield();
    while (!gone) {
        (void)publish(empty, true);
        sched_yield();
    }
    uint64_t shown = cell_count(server.world) + 1;
    (void)publish(showing, true);
    pthread_join(thread, NULL);
    CU_ASSERT(waiter.waited);
    /* The number is read before the world, which may come between the two. */
    CU_ASSERT(pinned.number > before && pinned.number <= shown);
    const struct awaited_owner owner = owner_named(TEXT("web-1"));
    CU_ASSERT(world_has_owner(pinned.world, &owner));
    close_worlds();
}

const struct unit_test unit_tests[] = {
    {"the wait is a part of the caller's time", the_wait_is_a_part_of_the_callers_time},
    {"who has nothing to wait for does not wait", who_has_nothing_to_wait_for_does_not_wait},
    {"a quarter of a lane may wait", a_quarter_of_a_lane_may_wait},
    {"the wait ends with its time", the_wait_ends_with_its_time},
    {"worlds come and go until one shows the owner", worlds_come_and_go_until_one_shows_the_owner},
    {NULL, NULL},
};
