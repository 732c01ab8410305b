/* labels: threads */
/* Limits of concurrent reviews and of the bytes they hold. */
#include "server_fixture.h"

#include <sched.h>
#include <stdatomic.h>

#include "server/http.h"

enum { LONG_MS = 30000 };

/* ---- the caller's time ---- */

static void timeouts_are_go_durations(void)
{
    static const struct {
        const char *target;
        int64_t micros;
    } cases[] = {
        {"/validate?timeout=10s", 10000000},
        {"/validate?timeout=1m0s", 60000000},
        {"/validate?timeout=1.5s", 1500000},
        {"/validate?timeout=1h1m1.25s", 3661250000},
        {"/validate?timeout=300ms", 300000},
        {"/validate?timeout=.5ms", 500},
        {"/validate?timeout=7us", 7},
        {"/validate?timeout=2000ns", 2},
        {"/validate?timeout=1.s", 1000000},
        {"/validate?a=b&timeout=2s&timeout=3s", 2000000},
        {"/validate?timeout=999999999999999999999h", 86400000000},
        {"/validate", 0},
        {"", 0},
        {"/timeout=1s", 0},
        {"/validate?", 0},
        {"/validate?timeout", 0},
        {"/validate?timeout=", 0},
        {"/validate?timeout=&timeout=3s", 0},
        {"/validate?xtimeout=3s", 0},
        {"/validate?timeout=0", 0},
        {"/validate?timeout=0s", 0},
        {"/validate?timeout=10", 0},
        {"/validate?timeout=s", 0},
        {"/validate?timeout=.s", 0},
        {"/validate?timeout=1.2.3s", 0},
        {"/validate?timeout=-1s", 0},
        {"/validate?timeout=1s-", 0},
        {"/validate?timeout=1s5", 0},
        {"/validate?timeout=1e3s", 0},
        {"/validate?timeout=nan", 0},
        {"/validate?timeout=1%73", 0},
        {"/validate?timeout=1d", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (target_timeout_us(text_of(cases[i].target)) != cases[i].micros) {
            fprintf(stderr, "%s\n", cases[i].target);
            ASSERT_INT(target_timeout_us(text_of(cases[i].target)), cases[i].micros);
        }
    ASSERT_INT(wait_limit_ms(0), 500);
    ASSERT_INT(wait_limit_ms(10000000), 500);
    ASSERT_INT(wait_limit_ms(2000000), 500);
    ASSERT_INT(wait_limit_ms(1000000), 250);
    ASSERT_INT(wait_limit_ms(7), 0);
}

/* ---- allowances ---- */

struct taking {
    struct allowance *allowance;
    size_t amount;
    int64_t wait_ms;
    bool taken;
    pthread_t thread;
};

static void *take(void *argument)
{
    struct taking *taking = argument;
    taking->taken = allowance_take(taking->allowance, taking->amount, &taking->wait_ms);
    return NULL;
}

/* Returns when so many wait. */
static void await_waiting(struct allowance *allowance, unsigned count)
{
    const int64_t end = monotonic_ms() + LONG_MS;
    while (atomic_load(&allowance->waiting) != count) {
        CU_ASSERT_FATAL(monotonic_ms() < end);
        sched_yield();
    }
}

static void start_taking(struct taking *taking)
{
    unsigned waiting_before = atomic_load(&taking->allowance->waiting);
    pthread_create(&taking->thread, NULL, take, taking);
    await_waiting(taking->allowance, waiting_before + 1);
}

static void allowance_is_not_exceeded(void)
{
    struct allowance allowance;
    int64_t wait_ms = 0;
    allowance_start(&allowance, 10);
    CU_ASSERT(allowance_take(&allowance, 4, &wait_ms));
    CU_ASSERT(allowance_take(&allowance, 6, &wait_ms));
    CU_ASSERT(allowance_take(&allowance, 0, &wait_ms));
    CU_ASSERT(!allowance_take(&allowance, 1, &wait_ms));
    CU_ASSERT(!allowance_take(&allowance, SIZE_MAX, &wait_ms));
    allowance_return(&allowance, 4);
    CU_ASSERT(!allowance_take(&allowance, 5, &wait_ms));
    CU_ASSERT(allowance_take(&allowance, 3, &wait_ms));
    ASSERT_INT(atomic_load(&allowance.used), 9);
    /* More than there will ever be is not waited for. */
    wait_ms = LONG_MS;
    CU_ASSERT(!allowance_take(&allowance, 11, &wait_ms));
    ASSERT_INT(wait_ms, LONG_MS);
}

static void waiting_ends(void)
{
    struct allowance allowance;
    int64_t wait_ms = 0;
    allowance_start(&allowance, 1);
    CU_ASSERT_FATAL(allowance_take(&allowance, 1, &wait_ms));
    const int64_t began = monotonic_ms();
    wait_ms = 40;
    CU_ASSERT(!allowance_take(&allowance, 1, &wait_ms));
    CU_ASSERT(monotonic_ms() - began >= 40);
    CU_ASSERT(wait_ms <= 0);
    ASSERT_INT(atomic_load(&allowance.waiting), 0);
    ASSERT_INT(atomic_load(&allowance.used), 1);
}

static void return_wakes_in_order(void)
{
    struct allowance allowance;
    int64_t wait_ms = 0;
    allowance_start(&allowance, 10);
    CU_ASSERT_FATAL(allowance_take(&allowance, 10, &wait_ms));
    struct taking large = {&allowance, 8, LONG_MS, false, 0};
    struct taking small = {&allowance, 2, LONG_MS, false, 0};
    start_taking(&large);
    start_taking(&small);
    allowance_return(&allowance, 3);
    await_waiting(&allowance, 2); /* small would fit, but it is not its turn */
    ASSERT_INT(atomic_load(&allowance.used), 7);
    allowance_return(&allowance, 7);
    pthread_join(large.thread, NULL);
    pthread_join(small.thread, NULL);
    CU_ASSERT(large.taken && small.taken);
    CU_ASSERT(small.wait_ms <= LONG_MS && small.wait_ms > 0);
    ASSERT_INT(atomic_load(&allowance.used), 10);
}

static void who_gives_up_lets_the_next_try(void)
{
    struct allowance allowance;
    int64_t wait_ms = 0;
    allowance_start(&allowance, 10);
    CU_ASSERT_FATAL(allowance_take(&allowance, 7, &wait_ms));
    struct taking large = {&allowance, 8, 1500, false, 0};
    struct taking small = {&allowance, 3, LONG_MS, false, 0};
    start_taking(&large);
    /* What is free already when it comes, is taken past those who wait. */
    CU_ASSERT(allowance_take(&allowance, 3, &wait_ms));
    start_taking(&small);
    allowance_return(&allowance, 3);
    pthread_join(large.thread, NULL);
    pthread_join(small.thread, NULL);
    CU_ASSERT(!large.taken);
    CU_ASSERT(small.taken);
    CU_ASSERT(small.wait_ms > LONG_MS / 2);
}

enum { CROWD = 8, CROWD_ROUNDS = 3000, CROWD_LIMIT = 12 };

struct crowd {
    struct allowance allowance;
    atomic_uint held, exceeded, refused;
};

/* Amounts of 1 to 5 that follow from the thread's own count. */
static void *crowd_member(void *argument)
{
    struct crowd *crowd = argument;
    for (unsigned round = 0; round < CROWD_ROUNDS; round++) {
        unsigned amount = 1 + round % 5;
        int64_t wait_ms = LONG_MS;
        if (!allowance_take(&crowd->allowance, amount, &wait_ms)) {
            atomic_fetch_add(&crowd->refused, 1);
            continue;
        }
        if (atomic_fetch_add(&crowd->held, amount) + amount > CROWD_LIMIT)
            atomic_fetch_add(&crowd->exceeded, 1);
        sched_yield();
        atomic_fetch_sub(&crowd->held, amount);
        allowance_return(&crowd->allowance, amount);
    }
    return NULL;
}

static void no_wake_up_is_lost_in_a_crowd(void)
{
    struct crowd crowd = {0};
    pthread_t threads[CROWD];
    allowance_start(&crowd.allowance, CROWD_LIMIT);
    const int64_t began = monotonic_ms();
    for (size_t i = 0; i < CROWD; i++)
        pthread_create(&threads[i], NULL, crowd_member, &crowd);
    for (size_t i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    ASSERT_INT(atomic_load(&crowd.exceeded), 0);
    ASSERT_INT(atomic_load(&crowd.refused), 0);
    ASSERT_INT(atomic_load(&crowd.allowance.used), 0);
    CU_ASSERT(monotonic_ms() - began < LONG_MS); /* nobody slept through its time */
}

static void review_takes_both_or_none(void)
{
    static const struct lane_limits limits[LANE_COUNT] = {
        [LANE_SMALL] = {.body_bytes = 1, .reviews = 2, .arena_bytes = 100},
        [LANE_LARGE] = {.body_bytes = 1, .reviews = 1, .arena_bytes = 100},
    };
    struct load_limits load_limits;
    int64_t wait_ms = 0;
    load_limits_start(&load_limits, limits);
    struct lane *small = &load_limits.lanes[LANE_SMALL], *large = &load_limits.lanes[LANE_LARGE];
    CU_ASSERT(lane_enter(small, 60, &wait_ms));
    CU_ASSERT(!lane_enter(small, 60, &wait_ms));
    ASSERT_INT(atomic_load(&small->reviews.used), 1);
    CU_ASSERT(lane_enter(small, 40, &wait_ms));
    CU_ASSERT(!lane_enter(small, 0, &wait_ms));
    lane_leave(small, 60, 10);
    ASSERT_INT(atomic_load(&small->reviews.used), 1);
    ASSERT_INT(atomic_load(&small->arena_bytes.used), 50);
    /* What one lane has not, the other has still. */
    CU_ASSERT(lane_enter(large, 100, &wait_ms));
    CU_ASSERT(!lane_enter(large, 0, &wait_ms));
    CU_ASSERT(lane_enter(small, 50, &wait_ms));
    ASSERT_INT(lane_for(64 << 10), LANE_SMALL);
    ASSERT_INT(lane_for((64 << 10) + 1), LANE_LARGE);
}

/* ---- over HTTP ---- */

struct posting {
    const struct fixture *fixture;
    const char *body;
    int status;
};

static void *post_one(void *argument)
{
    struct posting *posting = argument;
    struct client client = open_client(posting->fixture);
    posting->status = post(&client, "/validate?timeout=30s", text_of(posting->body)).status;
    client_hang_up(&client);
    return NULL;
}

static struct lane *lane_in(const struct fixture *fixture, enum lane_name name)
{
    return &fixture->server->load_limits.lanes[name];
}

static void assert_nothing_is_held(const struct fixture *fixture)
{
    /* The reply may arrive before the thread that sent it is done. */
    for (enum lane_name name = LANE_SMALL; name < LANE_COUNT; name++) {
        struct lane *lane = lane_in(fixture, name);
        const struct allowance *all[] = {&lane->reviews, &lane->body_bytes, &lane->arena_bytes,
                                         &lane->turns};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            const int64_t end = monotonic_ms() + 10000;
            while (atomic_load(&all[i]->used) != 0 && monotonic_ms() < end)
                sched_yield();
            ASSERT_INT(atomic_load(&all[i]->used), 0);
        }
    }
}

static void assert_overload(const struct reply *reply)
{
    ASSERT_INT(reply->status, 429);
    CU_ASSERT(strcasestr(reply->head, "\r\nretry-after: 1\r\n") != NULL);
    CU_ASSERT(!reply->closes);
}

static void reviews_beyond_the_limit_wait_and_are_refused(void)
{
    struct fixture fixture = start((struct server_options){.review_limit = 1});
    struct posting slow = {&fixture, "slow", 0}, next = {&fixture, "next", 0};
    pthread_t slow_thread, next_thread;
    close_gate();
    pthread_create(&slow_thread, NULL, post_one, &slow);
    await_at_gate(1);

    struct client client = open_client(&fixture);
    int64_t began = monotonic_ms();
    struct reply reply = post(&client, "/validate?timeout=10s", TEXT("x"));
    assert_overload(&reply);
    CU_ASSERT(monotonic_ms() - began >= 500 && monotonic_ms() - began < 5000);
    began = monotonic_ms();
    reply = post(&client, "/mutate?timeout=400ms", TEXT("x"));
    assert_overload(&reply);
    CU_ASSERT(monotonic_ms() - began >= 100 && monotonic_ms() - began < 5000);
    ASSERT_INT(metric(&fixture, "taffrail_requests_refused_total{reason=\"overload\"}"), 2);

    pthread_create(&next_thread, NULL, post_one, &next);
    await_waiting(&lane_in(&fixture, LANE_SMALL)->reviews, 1);
    open_gate();
    pthread_join(slow_thread, NULL);
    pthread_join(next_thread, NULL);
    ASSERT_INT(slow.status, 200);
    ASSERT_INT(next.status, 200);
    ASSERT_INT(post(&client, "/validate", TEXT("x")).status, 200);
    client_hang_up(&client);
    assert_nothing_is_held(&fixture);
    stop(&fixture);
}

static void review_after_its_callers_time_is_refused(void)
{
    static const char head[] = "POST /validate?timeout=60ms HTTP/1.1\r\nHost: x\r\n"
                               "Content-Type: application/json\r\nContent-Length: 1\r\n\r\n";
    struct fixture fixture = start((struct server_options){0});
    struct client client = open_client(&fixture);
    CU_ASSERT(client_print(&client, head));
    const int64_t began = monotonic_ms();
    CU_ASSERT(!closes_within(&client, "", 10, 90));
    CU_ASSERT(monotonic_ms() - began >= 60);
    CU_ASSERT(client_print(&client, "x"));
    struct reply reply = client_receive(&client);
    assert_overload(&reply);
    ASSERT_TEXT(text_of(reply.body), "no time is left of the timeout in the query\n");
    ASSERT_INT(post(&client, "/validate?timeout=60s", TEXT("x")).status, 200);
    client_hang_up(&client);
    assert_nothing_is_held(&fixture);
    stop(&fixture);
}

static const char megabyte_head[] = "POST /validate HTTP/1.1\r\nHost: x\r\n"
                                    "Content-Type: application/json\r\n"
                                    "Content-Length: 1048576\r\n\r\n";
enum { MEGABYTE = 1 << 20 };

/* Returns when that much is taken for bodies. */
static void await_body_bytes(const struct fixture *fixture, size_t least)
{
    const int64_t end = monotonic_ms() + LONG_MS;
    while (atomic_load(&lane_in(fixture, LANE_LARGE)->body_bytes.used) < least) {
        CU_ASSERT_FATAL(monotonic_ms() < end);
        sched_yield();
    }
}

static void body_is_counted_as_it_arrives(void)
{
    static const char bytes[MEGABYTE];
    struct fixture fixture = start((struct server_options){.body_limit_bytes = MEGABYTE});
    const struct allowance *allowance = &lane_in(&fixture, LANE_LARGE)->body_bytes;
    struct client client = open_client(&fixture);
    CU_ASSERT(client_print(&client, megabyte_head));
    await_body_bytes(&fixture, 1);
    CU_ASSERT(atomic_load(&allowance->used) <= 128 << 10);
    CU_ASSERT(metric(&fixture, "taffrail_body_bytes_in_flight") > 0);
    CU_ASSERT(client_send(&client, bytes, MEGABYTE / 2));
    await_body_bytes(&fixture, MEGABYTE / 2);
    CU_ASSERT(atomic_load(&allowance->used) <= MEGABYTE / 2 + (128 << 10));
    CU_ASSERT(client_send(&client, bytes, MEGABYTE / 2));
    ASSERT_INT(client_receive(&client).status, 200);
    assert_nothing_is_held(&fixture);
    /* A client that goes away gives back what it held. */
    CU_ASSERT(client_print(&client, megabyte_head));
    CU_ASSERT(client_send(&client, bytes, MEGABYTE / 2));
    await_body_bytes(&fixture, MEGABYTE / 2);
    client_hang_up(&client);
    assert_nothing_is_held(&fixture);
    ASSERT_INT(metric(&fixture, "taffrail_body_bytes_in_flight"), 0);
    stop(&fixture);
}

static void bodies_beyond_the_limit_are_refused(void)
{
    static const char bytes[MEGABYTE];
    struct fixture fixture = start((struct server_options){.body_limit_bytes = MEGABYTE});
    struct allowance *allowance = &lane_in(&fixture, LANE_LARGE)->body_bytes;
    struct client client = open_client(&fixture), other = open_client(&fixture);
    int64_t wait_ms = 0;

    /* The test takes what other bodies would; a small one does not need it. */
    CU_ASSERT_FATAL(allowance_take(allowance, allowance->limit, &wait_ms));
    struct reply reply = post(&other, "/validate", (struct text){bytes, (64 << 10) + 1});
    assert_overload(&reply);
    ASSERT_INT(post(&other, "/validate", (struct text){bytes, 64 << 10}).status, 200);
    allowance_return(allowance, allowance->limit);

    /* The rest is gone while a body arrives: it is read to its end, and refused. */
    CU_ASSERT(client_print(&client, megabyte_head));
    await_body_bytes(&fixture, 1);
    size_t rest = allowance->limit - atomic_load(&allowance->used);
    CU_ASSERT_FATAL(allowance_take(allowance, rest, &wait_ms));
    CU_ASSERT(client_send(&client, bytes, MEGABYTE));
    reply = client_receive(&client);
    assert_overload(&reply);
    /* What it had is free again. */
    ASSERT_INT(post(&other, "/validate", TEXT("x")).status, 200);
    allowance_return(allowance, rest);
    ASSERT_INT(post(&client, "/validate", (struct text){bytes, MEGABYTE}).status, 200);
    client_hang_up(&client);
    client_hang_up(&other);
    assert_nothing_is_held(&fixture);
    stop(&fixture);
}

/* As slow as no API server is: it goes when somebody else needs what it holds, and not before. */
static void slow_body_goes_when_others_need_its_bytes(void)
{
    static const char bytes[MEGABYTE];
    struct fixture fixture = start((struct server_options){.body_limit_bytes = MEGABYTE});
    struct allowance *allowance = &lane_in(&fixture, LANE_LARGE)->body_bytes;
    struct client slow = open_client(&fixture), other = open_client(&fixture);
    CU_ASSERT(client_print(&slow, megabyte_head));
    CU_ASSERT(client_send(&slow, bytes, MEGABYTE / 2));
    await_body_bytes(&fixture, MEGABYTE / 2);
    CU_ASSERT(!closes_within(&slow, "", 10, 1500));
    int64_t wait_ms = 0;
    size_t rest = allowance->limit - atomic_load(&allowance->used);
    CU_ASSERT_FATAL(allowance_take(allowance, rest, &wait_ms));
    ASSERT_INT(post(&other, "/validate", (struct text){bytes, MEGABYTE / 4}).status, 200);
    CU_ASSERT(closes_within(&slow, "", 10, 10000));
    allowance_return(allowance, rest);
    client_hang_up(&slow);
    client_hang_up(&other);
    assert_nothing_is_held(&fixture);
    stop(&fixture);
}

static void arenas_beyond_the_limit_are_refused(void)
{
    static const char bytes[MEGABYTE];
    struct fixture fixture = start((struct server_options){0});
    struct allowance *allowance = &lane_in(&fixture, LANE_SMALL)->arena_bytes;
    struct client client = open_client(&fixture);
    int64_t wait_ms = 0;
    CU_ASSERT_FATAL(allowance_take(allowance, allowance->limit, &wait_ms));
    struct reply reply = post(&client, "/validate?timeout=200ms", TEXT("x"));
    assert_overload(&reply);
    ASSERT_INT(post(&client, "/validate", (struct text){bytes, MEGABYTE}).status, 200);
    allowance_return(allowance, allowance->limit);
    ASSERT_INT(post(&client, "/validate", TEXT("x")).status, 200);
    /* One that takes all it may is no burden to those after it. */
    for (int i = 0; i < 3; i++)
        ASSERT_INT(post(&client, "/validate", TEXT("greedy")).status, 413);
    ASSERT_INT(post(&client, "/validate", TEXT("x")).status, 200);
    client_hang_up(&client);
    assert_nothing_is_held(&fixture);
    /* All connections together cannot take more than this, whatever they send. */
    size_t most = 0;
    for (enum lane_name name = LANE_SMALL; name < LANE_COUNT; name++)
        most +=
            lane_in(&fixture, name)->arena_bytes.limit + lane_in(&fixture, name)->body_bytes.limit;
    CU_ASSERT(most <= 256 << 20);
    /* A connection that may be there has room for a small body, and a small review for its arena.
     */
    CU_ASSERT(lane_in(&fixture, LANE_SMALL)->body_bytes.limit >= (size_t)512 * (64 << 10));
    CU_ASSERT(allowance->limit >= 16 * arena_budget(64 << 10));
    CU_ASSERT(arena_budget(0) <= 2 << 20);
    CU_ASSERT(arena_budget(16 << 20) <= 64 << 20);
    CU_ASSERT(arena_budget(SIZE_MAX) <= 64 << 20);
    stop(&fixture);
}

static void slow_readers_hold_nothing(void)
{
    enum { READERS = 3 };
    static char bytes[MEGABYTE] = "long";
    struct fixture fixture = start((struct server_options){0});
    struct client readers[READERS];
    for (size_t i = 0; i < READERS; i++) {
        readers[i] = open_client(&fixture);
        CU_ASSERT(client_print(&readers[i], megabyte_head));
        CU_ASSERT(client_send(&readers[i], bytes, MEGABYTE));
    }
    while (metric(&fixture, "taffrail_request_body_bytes_total") < READERS * MEGABYTE)
        sched_yield();
    assert_nothing_is_held(&fixture);
    for (size_t i = 0; i < READERS; i++)
        client_hang_up(&readers[i]);
    stop(&fixture);
}

static void limits_that_nothing_fits_are_refused(void)
{
    struct server *server = NULL;
    struct error error = {0};
    struct fixture fixture = start((struct server_options){0});
    fixture.options.bytes_in_flight_limit = 32 << 20;
    CU_ASSERT(!server_open(&fixture.options, fixture.cell, &server, &error));
    ASSERT_INT(error.kind, ERROR_USAGE);
    ASSERT_TEXT(text_of(error.what), "33554432 bytes in flight are too few for bodies of 41943040 "
                                     "bytes; allow 268435456");
    stop(&fixture);
}

const char unit_suite[] = "server/admission";
const struct unit_test unit_tests[] = {
    {"timeouts are Go durations", timeouts_are_go_durations},
    {"an allowance is not exceeded", allowance_is_not_exceeded},
    {"waiting ends", waiting_ends},
    {"a return wakes in order", return_wakes_in_order},
    {"who gives up lets the next try", who_gives_up_lets_the_next_try},
    {"no wake-up is lost in a crowd", no_wake_up_is_lost_in_a_crowd},
    {"a review takes both or none", review_takes_both_or_none},
    {"reviews beyond the limit wait and are refused",
     reviews_beyond_the_limit_wait_and_are_refused},
    {"a review after its caller's time is refused", review_after_its_callers_time_is_refused},
    {"a body is counted as it arrives", body_is_counted_as_it_arrives},
    {"bodies beyond the limit are refused", bodies_beyond_the_limit_are_refused},
    {"a slow body goes when others need its bytes", slow_body_goes_when_others_need_its_bytes},
    {"arenas beyond the limit are refused", arenas_beyond_the_limit_are_refused},
    {"slow readers hold nothing", slow_readers_hold_nothing},
    {"limits that nothing fits are refused", limits_that_nothing_fits_are_refused},
    {NULL, NULL},
};
