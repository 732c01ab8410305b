/* Makes room in the table of connections: which connection is closed when few places are left.
 *
 * A client that opens connections without progress must not keep the others out. Handshakes that do
 * not finish go first, then connections that are idle or whose request does not arrive. Of these go
 * those of the address with most of them, oldest first. API servers have few addresses and
 * attackers maybe more. But an API server finishes its handshakes and its requests in milliseconds,
 * so its connections are never old. Where hardly a place is left, young ones go too: a stream of
 * new connections would hold every place. There is no limit for an address, because pods and the
 * API server may share one, of a node or a load balancer. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "server/http.h"

enum {
    SPARE_PART = 4,           /* one such part of the places must be free, or about to be */
    SCARCE_PART = 16,         /* hardly a place is left: young connections go too */
    HANDSHAKE_GRACE_MS = 250, /* the time a handshake always gets */
    HOG_PART = 4, /* an address with this part of the table in handshakes gets no such time */
    LEAVE_NS = 1000000,
};

unsigned char connection_source(const struct sockaddr *address)
{
    /* For IPv6, the network: a host may use any address in it. */
    const unsigned char *bytes = NULL;
    size_t size = 0;
    if (address->sa_family == AF_INET) {
        bytes = (const void *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
        size = sizeof(struct in_addr);
    } else if (address->sa_family == AF_INET6) {
        const struct in6_addr *v6 =
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        bool mapped = IN6_IS_ADDR_V4MAPPED(v6);
        bytes = v6->s6_addr + (mapped ? 12 : 0);
        size = mapped ? 4 : 8;
    }
    uint32_t hash = 2166136261; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 16777619;
    return (unsigned char)(hash ^ hash >> 8 ^ hash >> 16 ^ hash >> 24);
}

/* ---- who is closed ---- */

enum standing {
    STAYS,
    UNFINISHED, /* its handshake is unfinished */
    LINGERS,    /* idle, or its request arrives */
    STANDING_COUNT
};

static bool is_unfinished(const struct connection *connection)
{
    return !atomic_load_explicit(&connection->established, memory_order_acquire);
}

static bool is_leaving(const struct connection *connection)
{
    return connection->input_ended || connection->ended;
}

static enum standing standing_of(const struct connection *connection)
{
    if (!connection->open || is_leaving(connection) || connection_is_judged(connection))
        return STAYS;
    return is_unfinished(connection) ? UNFINISHED : LINGERS;
}

struct census {
    unsigned limit, leaving;
    unsigned counts[STANDING_COUNT][SOURCE_COUNT]; /* by standing, at any age */
};

static void take_census(const struct connections *connections, enum door door,
                        struct census *census)
{
    *census = (struct census){
        .limit = connections->first[door + 1] - connections->first[door],
    };
    for (unsigned i = connections->first[door]; i < connections->first[door + 1]; i++) {
        const struct connection *connection = &connections->items[i];
        census->leaving += connection->open && is_leaving(connection);
        census->counts[standing_of(connection)][connection->source]++;
    }
}

struct candidate {
    struct connection *connection;
    enum standing standing;
    unsigned of_source; /* how many connections of its address have its standing */
    int64_t since_ms;
};

static bool goes_before(const struct candidate *a, const struct candidate *b)
{
    if (b->connection == NULL || a->standing != b->standing)
        return b->connection == NULL || a->standing < b->standing;
    if (a->of_source != b->of_source)
        return a->of_source > b->of_source;
    return a->since_ms < b->since_ms;
}

static bool is_young(const struct candidate *candidate, const struct census *census,
                     unsigned free_soon, int64_t now_ms)
{
    int64_t grace_ms = SETTLED_MS;
    if (candidate->standing == UNFINISHED)
        grace_ms = candidate->of_source > census->limit / HOG_PART ? 0 : HANDSHAKE_GRACE_MS;
    else if (free_soon <= census->limit / SCARCE_PART)
        grace_ms = 0;
    return now_ms - candidate->since_ms < grace_ms;
}

static struct candidate first_to_go(const struct connections *connections, enum door door,
                                    const struct census *census, unsigned free_soon)
{
    struct candidate first = {0};
    int64_t now_ms = monotonic_ms();
    for (unsigned i = connections->first[door]; i < connections->first[door + 1]; i++) {
        struct candidate next = {.connection = &connections->items[i]};
        next.standing = standing_of(next.connection);
        if (next.standing == STAYS)
            continue;
        next.of_source = census->counts[next.standing][next.connection->source];
        next.since_ms = connection_since(next.connection);
        if (is_young(&next, census, free_soon, now_ms))
            continue;
        if (goes_before(&next, &first))
            first = next;
    }
    return first;
}

/* An idle connection still gets answers to what it has sent; the others have sent nothing whole. */
static void end(struct candidate *candidate)
{
    if (candidate->standing == LINGERS && connection_is_idle(candidate->connection))
        connection_end_input(candidate->connection);
    else
        connection_end(candidate->connection);
}

unsigned connections_keep_room(struct connections *connections, enum door door)
{
    struct census census;
    unsigned limit = connections->first[door + 1] - connections->first[door];
    unsigned free_count = limit - connections->open_count[door];
    if (free_count > limit / SPARE_PART)
        return free_count;
    take_census(connections, door, &census);
    for (; free_count + census.leaving <= limit / SPARE_PART; census.leaving++) {
        struct candidate first =
            first_to_go(connections, door, &census, free_count + census.leaving);
        if (first.connection == NULL)
            break;
        census.counts[first.standing][first.connection->source]--;
        end(&first);
    }
    return free_count;
}

/* ---- who is admitted ---- */

/* libmicrohttpd asks this in the thread that accepts. The same thread frees ended connections,
 * after this returns. So waiting here for a free place would never end; but a moment lets the
 * threads of those connections end. */
bool connections_admit(struct connections *connections, enum door door)
{
    static const struct timespec moment = {.tv_nsec = LEAVE_NS};
    unsigned limit = connections->first[door + 1] - connections->first[door];
    pthread_mutex_lock(&connections->mutex);
    unsigned free_count = connections_keep_room(connections, door);
    pthread_mutex_unlock(&connections->mutex);
    if (free_count <= limit / SCARCE_PART)
        nanosleep(&moment, NULL);
    if (free_count > 0)
        return true;
    metrics_count_refusal(connections->metrics, REFUSED_OVERLOAD);
    log_line(LOG_WARN, "server", NULL, NULL, "all %u connections are in use; a client was refused",
             limit);
    return false;
}

/* ---- memory that a slow client holds ---- */

void connections_end_slowest_but(const struct connection *asking)
{
    struct connections *connections = &asking->server->connections;
    struct connection *slowest = NULL;
    int64_t before_ms = monotonic_ms() - SETTLED_MS, since_ms = INT64_MAX;
    pthread_mutex_lock(&connections->mutex);
    for (unsigned i = 0; i < connections->first[DOOR_OPS]; i++) {
        struct connection *connection = &connections->items[i];
        if (connection == asking || !connection->open || is_leaving(connection) ||
            connection_is_judged(connection) ||
            !atomic_load_explicit(&connection->large, memory_order_relaxed))
            continue;
        int64_t since = connection_since(connection);
        if (since <= before_ms && since < since_ms) {
            slowest = connection;
            since_ms = since;
        }
    }
    if (slowest != NULL)
        connection_end(slowest);
    pthread_mutex_unlock(&connections->mutex);
}
