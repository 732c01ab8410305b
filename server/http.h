/* What the files http*.c share: the table of connections, and the callbacks for libmicrohttpd. */
#ifndef TAFFRAIL_SERVER_HTTP_H
#define TAFFRAIL_SERVER_HTTP_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "server/known_review.h"
#include "server/load_limits.h"
#include "server/server.h"

/* ---- connections ---- */

enum door { DOOR_WEBHOOK, DOOR_OPS, DOOR_COUNT };

enum {
    OPS_CONNECTION_LIMIT = 32,
    SETTLED_MS = 1000,  /* idle this long: no request is on its way */
    SOURCE_COUNT = 256, /* addresses are mapped to this many numbers */
};

/* Special values of a deadline. */
#define DEADLINE_IDLE 0          /* no request has begun */
#define DEADLINE_NEVER INT64_MAX /* the request is being judged */

enum route { ROUTE_NONE, ROUTE_VALIDATE, ROUTE_MUTATE };

/* The current request of a connection; only its thread uses it. */
struct request {
    enum route route;
    bool begun;                          /* the header was read */
    bool has_turn;                       /* the turn to read from the network */
    const struct refusal_reply *refusal; /* sent once the body has been read and dropped */
    size_t body_size, body_limit;
    int64_t arrived_ms;
    int64_t timeout_us;             /* the caller's time; 0: not given */
    int64_t wait_ms;                /* how long it may still wait for its shares */
    size_t body_bytes, arena_bytes; /* its shares */
};

/* Arenas for the next review of any connection. The last used one goes first: it is still in the
 * processor's caches. */
struct spare_arenas {
    pthread_mutex_t mutex;
    struct arena **items;
    size_t count, limit;
    size_t unused_count; /* not taken since the last spare_arenas_trim */
    char apart[64];      /* keeps other counters off these cache lines */
};

/* A slot of the table. libmicrohttpd serves each connection in its own thread; two threads that
 * write to neighbours must not share a cache line. */
struct connection {
    alignas(64) struct server *server;
    unsigned index; /* of the slot, also in the cell of the world */
    /* When the janitor ends it: ms of CLOCK_MONOTONIC, or one of the values above. */
    atomic_int_fast64_t deadline_ms;
    atomic_int_fast64_t quiet_since_ms; /* when it was opened, or last became idle */
    atomic_bool established;            /* the handshake is done */
    atomic_bool large;                  /* its request is in the large lane */

    /* Used by the connection's thread, between open and close. */
    struct request request;
    struct known_reviews known;
    char *body;
    struct arena *arena;
    gnutls_session_t session; /* NULL on the ops port */
    bool uncorked;            /* the socket: it sends what it gets at once */

    /* Guarded by the table's mutex. */
    bool open;
    bool input_ended, ended; /* its socket was shut down, for reading or altogether */
    int fd;
    unsigned char source; /* the number of its address, below SOURCE_COUNT */
};

struct connections {
    struct connection *items; /* the webhook's, then the ops port's */
    unsigned first[DOOR_COUNT + 1];
    unsigned open_count[DOOR_COUNT];
    int64_t request_timeout_ms, handshake_timeout_ms, idle_timeout_ms;
    struct metrics *metrics;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a connection closed, or the janitor must stop */
    pthread_t janitor;
    bool running, stopping;
};

/* Makes the table and starts the janitor, which ends late connections. */
bool connections_start(struct connections *connections, struct server *server,
                       unsigned webhook_limit, int64_t request_timeout_ms, struct metrics *metrics,
                       struct error *error) MUST_CHECK;
/* Call it after the daemons have stopped. */
void connections_stop(struct connections *connections);

/* False when the table is full. Near the limit it closes connections without progress
 * (http_room.c). */
bool connections_admit(struct connections *connections, enum door door);
/* With the mutex held: ends connections without progress until enough places are free or soon will
 * be. Returns how many are free now. */
unsigned connections_keep_room(struct connections *connections, enum door door);
/* Ends the large request that has been arriving longest, if one other than asking takes too long.
 */
void connections_end_slowest_but(const struct connection *asking);
unsigned char connection_source(const struct sockaddr *address);
struct connection *connection_open(struct connections *connections, enum door door, int fd);
void connection_end_request(struct connection *connection);
void connection_close(struct connections *connections, struct connection *connection);
/* Sets the deadline to now plus the time of a request. */
void connection_set_deadline(struct connection *connection, int64_t now_ms);
/* An idle connection begins a request. Returns when. */
int64_t connection_note_arrival(struct connection *connection);
void connection_set_judging(struct connection *connection);
bool connection_is_judged(const struct connection *connection);
bool connection_is_idle(const struct connection *connection);
/* When the connection was opened, became idle, or began its request; the last of these. */
int64_t connection_since(const struct connection *connection);
/* With the table's mutex held. What has arrived is still read and answered. */
void connection_end_input(struct connection *connection);
void connection_end(struct connection *connection);
void connection_set_idle(struct connection *connection, int64_t since_ms);
/* Makes the deadline follow the bytes: bytes on an idle connection begin a request. Without a
 * connection, because the table was full, the session ends at once. */
void connection_watch_tls(struct connection *connection, gnutls_session_t session);
/* From here until it is sent, the parts of a reply are gathered. */
void connection_hold_reply(struct connection *connection);
/* Sends a reply that was held, if there is one. A failure ends the connection. */
void connection_send_reply(struct connection *connection);

/* Waits until no webhook connection is open or the deadline has come, and closes those that stay
 * idle. Returns how many are left. */
unsigned connections_drain(struct connections *connections, int64_t deadline_ms);

/* ---- the server ---- */

enum { RELOAD_FAILURE_BYTES = 1024 };

/* A certificate in GnuTLS' form. */
struct identity {
    gnutls_pcert_st *chain;
    unsigned chain_count;
    gnutls_privkey_t key;
};

struct server {
    struct connections connections;
    struct cell *world;
    struct metrics *metrics;
    struct cluster_status *status; /* NULL: no watched cluster */
    struct webhook_manager_status
        *webhook_manager_status;           /* NULL: the certificate does not come from a Secret */
    struct reports_status *reports_status; /* NULL: no reports are written */
    struct load_limits load_limits;
    struct spare_arenas spare_arenas;
    atomic_size_t known_bytes; /* of the known reviews of all connections */
    size_t body_limit_bytes;
    unsigned connection_limit, request_timeout_s;
    struct cell *identities; /* a handshake pins the one it uses, in the connection's slot */
    atomic_bool draining;
    atomic_uint awaiting[LANE_COUNT]; /* reviews that wait for an owner */
    pthread_mutex_t failures_mutex;
    struct {
        char what[RELOAD_FAILURE_BYTES]; /* empty: none */
        int64_t unix_s;
    } failures[RELOAD_SUBJECT_COUNT];
    struct MHD_Daemon *daemons[DOOR_COUNT];
    int listeners[DOOR_COUNT]; /* -1: none */
    uint16_t ports[DOOR_COUNT];
};

/* Callbacks of the webhook's daemon: MHD_OPTION_URI_LOG_CALLBACK, MHD_AccessHandlerCallback and
 * MHD_OPTION_NOTIFY_COMPLETED. Their closure is the server. */
void *request_begin(void *closure, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result request_handle(void *closure, struct MHD_Connection *mhd, const char *url,
                               const char *method, const char *version, const char *upload_data,
                               size_t *upload_data_size, void **context);
void request_end(void *closure, struct MHD_Connection *mhd, void **context,
                 enum MHD_RequestTerminationCode how);

/* The value of `timeout` in a target's query; 0 when it is absent or not above zero. */
int64_t target_timeout_us(struct text target);

/* ---- shares of a request ---- */

/* The budget of a review's arena, by the size of its body. */
size_t arena_budget(size_t body_bytes);
/* How long a request may wait in total for its shares. */
int64_t wait_limit_ms(int64_t timeout_us);
bool request_is_late(const struct request *request, int64_t now_us);
/* Large bodies are read one at a time, piece by piece: waits for this connection's turn, if it
 * needs one. */
void turn_take(struct connection *connection);
void turn_return(struct connection *connection);
/* The lane for the request's body. */
struct lane *lane_of(const struct connection *connection);
/* Takes a share of needed bytes for the body; waits for it. */
bool share_body(struct connection *connection, size_t needed) MUST_CHECK;
bool spare_arenas_start(struct spare_arenas *spare, size_t limit) MUST_CHECK; /* malloc may fail */
void spare_arenas_stop(struct spare_arenas *spare);
/* Frees one, if not all were in use at once since the last call. */
void spare_arenas_trim(struct spare_arenas *spare);
/* False when malloc fails. */
bool open_arena(struct connection *connection) MUST_CHECK;
/* Waits until the review may begin; false when it may not, or when its caller would be gone. */
bool review_enter(struct connection *connection, int64_t now_us) MUST_CHECK;
void review_leave(struct connection *connection);
/* Returns all shares of a finished request, and their memory. */
void return_shares(struct connection *connection);

/* ---- the world of a review ---- */

struct pinned {
    const struct world *world;
    uint64_t number; /* of the world in its cell, or of an earlier one */
};
void pin_world(struct connection *connection, struct pinned *pinned);
void unpin_world(struct connection *connection);

/* Whether the other end of a TCP connection has closed it, or its half of it. This end's own
 * shutdown for reading does not count. */
bool peer_is_gone(int fd);
/* Until when a review may wait for an owner. */
int64_t await_until_ms(const struct request *request, int64_t now_ms);
/* Waits for a world that shows the owner that a verdict needs, and pins it instead of the current
 * one. True: judge the review again, also when the time is over. False: no wait happened, and the
 * verdict stands. */
bool await_owner(struct connection *connection, const struct awaited_owner *owner, int64_t until_ms,
                 struct pinned *pinned) MUST_CHECK;

/* MHD_AccessHandlerCallback of the ops port. */
enum MHD_Result ops_handle(void *closure, struct MHD_Connection *mhd, const char *url,
                           const char *method, const char *version, const char *upload_data,
                           size_t *upload_data_size, void **context);

#endif
