/* Which connections are closed when few places are left: a table as it might be, without a server.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "server/http.h"
#include "unit.h"

const char unit_suite[] = "server/room";

enum { LIMIT = 8, TIMEOUT_MS = 15000 };

static struct server server;
static struct connection items[LIMIT + LIMIT];

/* "a h300": of address a, in its handshake for 300 ms. i: idle; r: its request arrives; j: it is
 * judged; x: leaving; in capitals: its request is large. "": nobody. */
static void take_place(struct connection *connection, const char *said)
{
    *connection = (struct connection){.server = &server, .fd = -1};
    if (said[0] == '\0')
        return;
    int64_t age_ms = strtoll(said + 3, NULL, 10), since_ms = monotonic_ms() - age_ms;
    char does = (char)tolower(said[2]);
    connection->open = true;
    connection->source = (unsigned char)said[0];
    atomic_store(&connection->established, does != 'h');
    atomic_store(&connection->large, does != said[2]);
    connection->ended = does == 'x';
    connection_set_idle(connection, since_ms);
    if (does == 'h' || does == 'r')
        connection_set_deadline(connection, since_ms);
    if (does == 'j')
        connection_set_judging(connection);
}

static void fill(enum door door, const char *const said[LIMIT])
{
    memset(items, 0, sizeof items);
    server.connections = (struct connections){
        .items = items, .first = {0, LIMIT, LIMIT + LIMIT}, .request_timeout_ms = TIMEOUT_MS};
    pthread_mutex_init(&server.connections.mutex, NULL);
    for (size_t i = 0; i < LIMIT; i++) {
        struct connection *connection = &items[server.connections.first[door] + i];
        take_place(connection, said[i] != NULL ? said[i] : "");
        server.connections.open_count[door] += connection->open;
    }
}

/* "0e, 3i": the first was ended, of the fourth only the input. */
static struct text ended(enum door door, struct arena *arena)
{
    struct text_list names = {0};
    for (size_t i = 0; i < LIMIT; i++) {
        const struct connection *connection = &items[server.connections.first[door] + i];
        if (connection->open && (connection->ended || connection->input_ended))
            *LIST_PUSH(arena, &names) =
                arena_printf(arena, "%zu%c", i, connection->ended ? 'e' : 'i');
    }
    return texts_join(names.items, names.count, names.count, arena);
}

/* A quarter of eight places and one more are to be free, or about to be. */
static void who_makes_no_progress_goes(void)
{
    static const struct {
        const char *said[LIMIT];
        const char *ended;
        unsigned free_count;
    } cases[] = {
        {{"a h9000", "a i9000", "a r9000", "a i9000", "a h9000"}, "", 3},
        {{"a i9000", "b h300", "a r9000", "c j", "c j", "c j"}, "1e", 2},
        {{"a i100", "b h400", "b h300", "c h500", "c j", "c j"}, "1e", 2}, /* b has more */
        {{"a i100", "b h600", "c h300", "c j", "c j", "c j"}, "1e", 2},
        /* a handshake has a quarter of a second, all others one second */
        {{"a i2000", "b h20", "c j", "c j", "c j", "c j"}, "0i", 2},
        {{"a i100", "b h20", "c r100", "c j", "c j", "c j"}, "", 2},
        /* an address that is in a quarter of the table with handshakes has no such time */
        {{"a i2000", "b h10", "b h30", "b h20", "c j", "c j"}, "2e", 2},
        {{"a i2000", "b h10", "b h30", "d h20", "c j", "c j"}, "0i", 2},
        /* of an idle one what it has sent is still read; of another nothing is whole */
        {{"a r3000", "a i2000", "c j", "c j", "c j", "c j"}, "0e", 2},
        {{"a r2000", "a i3000", "c j", "c j", "c j", "c j"}, "1i", 2},
        {{"a i2000", "a R3000", "c j", "c j", "c j", "c j"}, "1e", 2},
        /* who is judged stays, however long */
        {{"c j9000", "c j9000", "c j9000", "c j9000", "c j9000", "c j9000"}, "", 2},
        /* those of the address with most go, also where the others of it are young */
        {{"a i5000", "b i2000", "b i10", "c j", "d j", "e j"}, "1i", 2},
        {{"a i5000", "b i2000", "d i10", "c j", "d j", "e j"}, "0i", 2},
        /* who has gone is none of them any more */
        {{"a i3000", "a i2500", "b i4000", "c j", "d j", "e j", "f j"}, "0i, 2i", 1},
        {{"a i3000", "a i2500", "b i2000", "c j", "d j", "e j", "f j"}, "0i, 1i", 1},
        {{"a i3000", "a i2500", "b i4000", "b i3500", "d j", "e j", "f j", "g j"}, "0i, 2i, 3i", 0},
        /* where hardly a place is left, nobody is too young; those who are judged do not count */
        {{"a i100", "b i60", "b i80", "b r70", "c j", "c j", "c j", "c j"}, "2i", 0},
        {{"a i60", "b r100", "b i80", "c j", "c r90", "c j", "c j", "c j"}, "1e", 0},
        {{"a h20", "b h20", "c j", "c j", "d i10", "e j", "f j", "g j"}, "4i", 0},
        {{"a i2000", "b i80", "b i90", "c j", "c j", "c j", "c j", "c j"}, "0i, 2i", 0},
        {{"c j", "c j", "c j", "c j", "c j", "c j", "c j", "c j"}, "", 0},
        /* those that leave are counted */
        {{"a i3000", "a x", "c j", "c j", "d j", "e j"}, "1e", 2},
        {{"a i3000", "a x", "c j", "c j", "d j", "e j", "f j"}, "0i, 1e", 1},
    };
    struct arena *arena = arena_create(1 << 20);
    for (enum door door = DOOR_WEBHOOK; door < DOOR_COUNT; door++)
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            fill(door, cases[i].said);
            ASSERT_INT(connections_keep_room(&server.connections, door), cases[i].free_count);
            ASSERT_TEXT(ended(door, arena), cases[i].ended);
            /* Nobody of the other door goes. */
            ASSERT_INT(ended(door == DOOR_OPS ? DOOR_WEBHOOK : DOOR_OPS, arena).size, 0);
            pthread_mutex_destroy(&server.connections.mutex);
        }
    arena_destroy(arena);
}

/* The memory for large requests is given back by the one that arrives slowest. */
static void the_slowest_large_request_goes(void)
{
    static const struct {
        const char *said[LIMIT]; /* the first one asks */
        const char *ended;
    } cases[] = {
        {{"a R9000"}, ""},
        {{"a R9000", "a R2000", "a R3000", "a R2500"}, "2e"},
        {{"a R10", "a R100"}, ""},
        {{"a R10", "a r9000", "a i9000", "a J9000", "a X9000", "a R1100"}, "4e, 5e"},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fill(DOOR_WEBHOOK, cases[i].said);
        connections_end_slowest_but(&items[0]);
        ASSERT_TEXT(ended(DOOR_WEBHOOK, arena), cases[i].ended);
        pthread_mutex_destroy(&server.connections.mutex);
    }
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"who makes no progress goes", who_makes_no_progress_goes},
    {"the slowest large request goes", the_slowest_large_request_goes},
    {NULL, NULL},
};
