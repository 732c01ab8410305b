/* Waits for an owner that is not seen yet. */
#include <string.h>

#include "base/clock.h"
#include "server/http.h"

/* A controller makes a Pod within milliseconds of its ReplicaSet, and a watch is behind by as much.
 * So a verdict that needs an unseen owner waits for a world that shows it. Meanwhile it holds no
 * world. */

enum {
    AWAIT_MS_MAX = 1000,
    AWAIT_PARTS = 2,   /* the wait is one such part of the caller's time */
    WAITING_PARTS = 4, /* one such part of a lane's reviews may wait; the others can work */
    NAME_BYTES_MAX = 256,
};

int64_t await_until_ms(const struct request *request, int64_t now_ms)
{
    int64_t until_ms = now_ms + AWAIT_MS_MAX;
    int64_t part_ms = request->arrived_ms + request->timeout_us / AWAIT_PARTS / 1000;
    return request->timeout_us != 0 && part_ms < until_ms ? part_ms : until_ms;
}

/* An owner in memory of its own: its names belong to the world. */
struct sought {
    struct awaited_owner owner;
    char bytes[3][NAME_BYTES_MAX];
};

static bool keep_text(struct text *text, char bytes[static NAME_BYTES_MAX])
{
    if (text->size > NAME_BYTES_MAX)
        return false;
    if (text->size > 0)
        memcpy(bytes, text->data, text->size);
    text->data = bytes;
    return true;
}

static bool seek(const struct awaited_owner *owner, struct sought *sought)
{
    sought->owner = *owner;
    return keep_text(&sought->owner.namespace, sought->bytes[0]) &&
           keep_text(&sought->owner.name, sought->bytes[1]) &&
           keep_text(&sought->owner.uid, sought->bytes[2]);
}

static void wait_for(struct connection *connection, const struct sought *sought, int64_t until_ms,
                     struct pinned *pinned)
{
    for (;;) {
        unpin_world(connection);
        bool changed =
            cell_await(connection->server->world, pinned->number, until_ms - monotonic_ms());
        pin_world(connection, pinned);
        if (!changed || world_has_owner(pinned->world, &sought->owner))
            return;
    }
}

bool await_owner(struct connection *connection, const struct awaited_owner *owner, int64_t until_ms,
                 struct pinned *pinned)
{
    struct server *server = connection->server;
    struct sought sought;
    if (owner->kind == KIND_UNKNOWN || !pinned->world->live || monotonic_ms() >= until_ms ||
        !seek(owner, &sought))
        return false;
    atomic_uint *awaiting = &server->awaiting[lane_for(connection->request.body_limit)];
    unsigned most = (unsigned)(lane_of(connection)->reviews.limit / WAITING_PARTS);
    bool enters = atomic_fetch_add(awaiting, 1) < (most > 0 ? most : 1);
    if (enters)
        wait_for(connection, &sought, until_ms, pinned);
    atomic_fetch_sub(awaiting, 1);
    return enters;
}

void pin_world(struct connection *connection, struct pinned *pinned)
{
    struct cell *cell = connection->server->world;
    pinned->number = cell_count(cell);
    pinned->world = cell_pin(cell, connection->index);
}

void unpin_world(struct connection *connection)
{
    cell_unpin(connection->server->world, connection->index);
}
