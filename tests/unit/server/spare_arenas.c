/* labels: threads */
/* Arenas that are kept for the next requests. */
#include <stdlib.h>

#include "server/http.h"
#include "unit.h"

enum { LIMIT = 3, CONNECTIONS = 5, SMALL_BYTES = 1000 };

/* Connections of one server that has no sockets. */
struct fixture {
    struct server *server;
    struct connection *connections;
};

static struct fixture start(void)
{
    struct fixture fixture = {
        .server = calloc(1, sizeof(struct server)),
        .connections = aligned_alloc(64, CONNECTIONS * sizeof(struct connection)),
    };
    CU_ASSERT_FATAL(fixture.server != NULL && fixture.connections != NULL);
    CU_ASSERT_FATAL(spare_arenas_start(&fixture.server->spare_arenas, LIMIT));
    for (size_t i = 0; i < CONNECTIONS; i++)
        fixture.connections[i] = (struct connection){.server = fixture.server};
    return fixture;
}

static void stop(struct fixture *fixture)
{
    spare_arenas_stop(&fixture->server->spare_arenas);
    free(fixture->connections);
    free(fixture->server);
}

static struct arena *open_for(struct connection *connection, size_t body_bytes)
{
    connection->request.body_size = body_bytes;
    CU_ASSERT_FATAL(open_arena(connection));
    return connection->arena;
}

static size_t spare_count(const struct fixture *fixture)
{
    return fixture->server->spare_arenas.count;
}

/* So many reviews at once, and all of them answered. */
static void review(struct fixture *fixture, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)open_for(&fixture->connections[i], SMALL_BYTES);
    for (size_t i = 0; i < count; i++)
        return_shares(&fixture->connections[i]);
}

static void the_last_used_is_taken_first(void)
{
    struct fixture fixture = start();
    struct connection *connections = fixture.connections;
    struct arena *first = open_for(&connections[0], SMALL_BYTES);
    struct arena *second = open_for(&connections[1], SMALL_BYTES);
    CU_ASSERT(first != second);
    (void)arena_alloc(first, 100);
    return_shares(&connections[1]);
    return_shares(&connections[0]);
    CU_ASSERT_PTR_NULL(connections[0].arena);
    CU_ASSERT_PTR_EQUAL(open_for(&connections[2], SMALL_BYTES), first);
    ASSERT_INT(arena_used_bytes(first), 0);
    CU_ASSERT_PTR_EQUAL(open_for(&connections[3], SMALL_BYTES), second);
    return_shares(&connections[2]);
    return_shares(&connections[3]);
    stop(&fixture);
}

static void no_more_are_kept_than_the_limit(void)
{
    struct fixture fixture = start();
    review(&fixture, CONNECTIONS);
    ASSERT_INT(spare_count(&fixture), LIMIT);
    stop(&fixture);
}

static void large_ones_are_not_kept(void)
{
    struct fixture fixture = start();
    struct connection *connection = &fixture.connections[0];
    review(&fixture, 1);
    ASSERT_INT(spare_count(&fixture), 1);
    /* Another budget: it must neither get a kept one nor be kept. */
    (void)open_for(connection, 1 << 20);
    ASSERT_INT(spare_count(&fixture), 1);
    return_shares(connection);
    ASSERT_INT(spare_count(&fixture), 1);
    /* A small body that took much. */
    (void)open_for(connection, SMALL_BYTES);
    (void)arena_alloc(connection->arena, 1 << 20);
    return_shares(connection);
    ASSERT_INT(spare_count(&fixture), 0);
    stop(&fixture);
}

static void those_that_nobody_takes_are_freed(void)
{
    struct fixture fixture = start();
    struct spare_arenas *spare = &fixture.server->spare_arenas;
    review(&fixture, 3);
    spare_arenas_trim(spare); /* from here on it counts */
    ASSERT_INT(spare_count(&fixture), 3);
    for (int i = 0; i < 5; i++) {
        review(&fixture, 2);
        spare_arenas_trim(spare);
        ASSERT_INT(spare_count(&fixture), 2);
    }
    for (int i = 0; i < 5; i++)
        spare_arenas_trim(spare);
    ASSERT_INT(spare_count(&fixture), 0);
    review(&fixture, 1);
    ASSERT_INT(spare_count(&fixture), 1);
    stop(&fixture);
}

const char unit_suite[] = "server/spare arenas";
const struct unit_test unit_tests[] = {
    {"the last used is taken first", the_last_used_is_taken_first},
    {"no more are kept than the limit", no_more_are_kept_than_the_limit},
    {"large ones are not kept", large_ones_are_not_kept},
    {"those that nobody takes are freed", those_that_nobody_takes_are_freed},
    {NULL, NULL},
};
