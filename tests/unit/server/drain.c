/* labels: threads */
/* Ending a server while requests are in flight. */
#include "server_fixture.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>

struct draining {
    struct fixture *fixture;
    int64_t settle_ms, deadline_ms, took_ms;
};

static void *drain(void *argument)
{
    struct draining *draining = argument;
    int64_t began = monotonic_ms();
    server_drain(draining->fixture->server, draining->settle_ms, draining->deadline_ms);
    draining->took_ms = monotonic_ms() - began;
    return NULL;
}

static void *post_slow(void *argument)
{
    struct client client = open_client(argument);
    struct reply *reply = malloc(sizeof *reply);
    *reply = post(&client, "/validate", TEXT("slow"));
    client_hang_up(&client);
    return reply;
}

static void drain_answers_what_is_in_flight(void)
{
    enum { SLOW = 3 };
    struct fixture fixture = start((struct server_options){0});
    struct draining draining = {&fixture, 1500, 30000, 0};
    struct client idle = open_client(&fixture), unused = open_client(&fixture);
    ASSERT_INT(post(&idle, "/validate", TEXT("x")).status, 200);
    pthread_t slow[SLOW], drainer;
    close_gate();
    for (size_t i = 0; i < SLOW; i++)
        pthread_create(&slow[i], NULL, post_slow, &fixture);
    await_at_gate(SLOW);
    ASSERT_INT(metric(&fixture, "taffrail_reviews_in_flight"), SLOW);
    pthread_create(&drainer, NULL, drain, &draining);

    /* While the news spreads, everybody is still answered, and asked to go. */
    struct reply ready;
    do
        ready = get(&fixture, "/readyz");
    while (ready.status == 200);
    ASSERT_INT(ready.status, 503);
    ASSERT_TEXT(text_of(ready.body), "draining\n");
    struct client late = open_client(&fixture);
    struct reply reply = post(&late, "/validate", TEXT("x"));
    ASSERT_INT(reply.status, 200);
    CU_ASSERT(reply.closes);
    client_hang_up(&late);

    /* Then nobody is let in, and idle connections are closed, though reviews are in flight. */
    CU_ASSERT(closes_within(&idle, "", 10, 20000));
    CU_ASSERT(closes_within(&unused, "", 10, 20000));
    ASSERT_INT(connect_to(fixture.port), -1);
    ASSERT_INT(errno, ECONNREFUSED);
    open_gate();
    for (size_t i = 0; i < SLOW; i++) {
        struct reply *answered = NULL;
        pthread_join(slow[i], (void **)&answered);
        ASSERT_INT(answered->status, 200);
        CU_ASSERT(answered->closes);
        free(answered);
    }
    pthread_join(drainer, NULL);
    CU_ASSERT(draining.took_ms >= 1500 && draining.took_ms < 20000);
    client_hang_up(&idle);
    client_hang_up(&unused);
    clean_up(&fixture);
}

static void drain_ends_at_its_deadline(void)
{
    struct fixture fixture = start((struct server_options){0});
    struct draining draining = {&fixture, 10000, 700, 0};
    /* A request that never ends keeps its connection busy. */
    struct client client = open_client(&fixture);
    CU_ASSERT(client_print(&client, "POST /validate HTTP/1.1\r\n"));
    drain(&draining);
    CU_ASSERT(draining.took_ms >= 700 && draining.took_ms < draining.settle_ms);
    client_hang_up(&client);
    clean_up(&fixture);
}

enum { LOAD_CLIENTS = 6, LOAD_ROUNDS = 5 };

struct load {
    const struct fixture *fixture;
    atomic_uint answered, lost;
};

/* Posts for as long as somebody listens. A request that was sent and not answered is lost. */
static void *post_until_refused(void *argument)
{
    struct load *load = argument;
    struct client client = {.fd = -1};
    while (client.fd >= 0 || client_connect(load->fixture, "NORMAL", &client)) {
        struct reply reply = post(&client, "/validate", TEXT("load"));
        atomic_fetch_add(reply.status == 200 ? &load->answered : &load->lost, 1);
        if (reply.status != 200 || reply.closes)
            client_hang_up(&client);
    }
    return NULL;
}

static void drain_under_load_loses_nothing(void)
{
    for (int round = 0; round < LOAD_ROUNDS; round++) {
        struct fixture fixture = start((struct server_options){0});
        struct load load = {.fixture = &fixture};
        pthread_t clients[LOAD_CLIENTS];
        for (size_t i = 0; i < LOAD_CLIENTS; i++)
            pthread_create(&clients[i], NULL, post_until_refused, &load);
        while (atomic_load(&load.answered) < 300)
            sched_yield();
        struct draining draining = {&fixture, 100, 20000, 0};
        drain(&draining);
        for (size_t i = 0; i < LOAD_CLIENTS; i++)
            pthread_join(clients[i], NULL);
        ASSERT_INT(atomic_load(&load.lost), 0);
        CU_ASSERT(draining.took_ms < 10000);
        clean_up(&fixture);
    }
}

const char unit_suite[] = "server/drain";
const struct unit_test unit_tests[] = {
    {"a drain answers what is in flight", drain_answers_what_is_in_flight},
    {"a drain ends at its deadline", drain_ends_at_its_deadline},
    {"a drain under load loses nothing", drain_under_load_loses_nothing},
    {NULL, NULL},
};
