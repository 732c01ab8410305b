/* What the files http*.c share: the table of connections, and the callbacks MHD is given. */
#ifndef TAFFRAIL_SERVER_HTTP_H
#define TAFFRAIL_SERVER_HTTP_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "server/admission.h"
#include "server/server.h"

/* ---- connections ---- */

enum door { DOOR_WEBHOOK, DOOR_OPS, DOOR_COUNT };

enum {
    OPS_CONNECTION_LIMIT = 32,
    SETTLED_MS = 1000,  /* idle for so long: no request is on its way */
    SOURCE_COUNT = 256, /* addresses are told apart by so many numbers */
};

/* Values of a deadline that are no time. */
#define DEADLINE_IDLE 0          /* no request has begun */
#define DEADLINE_NEVER INT64_MAX /* the request is being judged */

enum route { ROUTE_NONE, ROUTE_VALIDATE, ROUTE_MUTATE };

/* The request a connection is at; touched by its thread only. */
struct request {
    enum route route;
    bool begun;                          /* its header was looked at */
    bool has_turn;                       /* to take bytes off the network */
    const struct refusal_reply *refusal; /* sent once the body has been read and thrown away */
    size_t body_size, body_limit;
    int64_t arrived_ms;
    int64_t timeout_us;             /* what the caller has; 0: it does not say */
    int64_t wait_ms;                /* how long it may still wait for its share */
    size_t body_bytes, arena_bytes; /* its shares */
};

/* Arenas that wait for the next review of any connection. The last used is taken first: it is
 * still in the processor's caches. */
struct spare_arenas {
    pthread_mutex_t mutex;
    struct arena **items;
    size_t count, limit;
    size_t unused_count; /* not taken since the last spare_arenas_trim */
    char apart[64];      /* no other counter is in the cache lines of these */
};

/* A slot of the table. libmicrohttpd serves each connection in a thread of its own; two threads
 * that write to neighbours must not share a cache line. */
struct connection {
    alignas(64) struct server *server;
    unsigned index; /* of the slot, also in the cell of the world */
    /* When the janitor ends it: ms of CLOCK_MONOTONIC, or one of the values above. */
    atomic_int_fast64_t deadline_ms;
    atomic_int_fast64_t quiet_since_ms; /* when it was opened, or last became idle */
    atomic_bool established;            /* its handshake is done */
    atomic_bool large;                  /* it is at a request of that lane */

    /* Of the connection's thread, between open and close. */
    struct request request;
    char *body;
    struct arena *arena;

    /* Guarded by the table's mutex. */
    bool open;
    bool input_ended, ended; /* its socket was shut, for reading or altogether */
    int fd;
    unsigned char source; /* where it comes from, below SOURCE_COUNT */
};

struct connections {
    struct connection *items; /* those of the webhook, then those of the ops port */
    unsigned first[DOOR_COUNT + 1];
    unsigned open_count[DOOR_COUNT];
    int64_t request_timeout_ms, handshake_timeout_ms, idle_timeout_ms;
    struct metrics *metrics;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a connection closed, or the janitor is to stop */
    pthread_t janitor;
    bool running, stopping;
};

/* Makes the table and starts the janitor, which ends what is late. */
bool connections_start(struct connections *connections, struct server *server,
                       unsigned webhook_limit, int64_t request_timeout_ms, struct metrics *metrics,
                       struct error *error) MUST_CHECK;
/* After the daemons have stopped. */
void connections_stop(struct connections *connections);

/* False when the table has no room for one more. Near the limit those that lead nowhere are closed
 * (http_room.c). */
bool connections_admit(struct connections *connections, enum door door);
/* With the mutex held: ends what may go, until enough places are free or about to be. Returns how
 * many are free now. */
unsigned connections_keep_room(struct connections *connections, enum door door);
/* Ends the large request that is on its way for longest, if any other is for long. */
void connections_end_slowest_but(const struct connection *asking);
unsigned char connection_source(const struct sockaddr *address);
struct connection *connection_open(struct connections *connections, enum door door, int fd);
void connection_end_request(struct connection *connection);
void connection_close(struct connections *connections, struct connection *connection);
/* Within the time a request has, counted from now, something must have been done. */
void connection_set_deadline(struct connection *connection, int64_t now_ms);
/* On an idle connection a request begins. Returns when that was. */
int64_t connection_note_arrival(struct connection *connection);
void connection_set_judging(struct connection *connection);
bool connection_is_judged(const struct connection *connection);
bool connection_is_idle(const struct connection *connection);
/* When it was opened, became idle, or began a request, whichever it is at. */
int64_t connection_since(const struct connection *connection);
/* With the table's mutex held. What has arrived is still read and answered, or nothing is. */
void connection_end_input(struct connection *connection);
void connection_end(struct connection *connection);
void connection_set_idle(struct connection *connection, int64_t since_ms);
/* Has the deadline follow what arrives: bytes on an idle connection begin a request. Without a
 * connection, since the table was full after all, the session ends at once. */
void connection_watch_tls(struct connection *connection, gnutls_session_t session);

/* Waits until no webhook connection is open or the time has come, and closes those that stay idle.
 * Returns how many are left. */
unsigned connections_drain(struct connections *connections, int64_t deadline_ms);

/* ---- the server ---- */

enum { RELOAD_FAILURE_BYTES = 1024 };

/* A certificate as GnuTLS wants it. */
struct identity {
    gnutls_pcert_st *chain;
    unsigned chain_count;
    gnutls_privkey_t key;
};

struct server {
    struct connections connections;
    struct cell *world;
    struct metrics *metrics;
    struct cluster_status *status; /* NULL: no live cluster */
    struct webhook_manager_status
        *webhook_manager_status; /* NULL: the certificate is from no Secret */
    struct admission admission;
    struct spare_arenas spare_arenas;
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

/* The value of `timeout` in a target's query; 0 when there is none above zero. */
int64_t target_timeout_us(struct text target);

/* ---- what a request may use of what all share ---- */

/* What the arena of a review may take, by the size of its body. */
size_t arena_budget(size_t body_bytes);
/* How long a request may wait in all for its shares. */
int64_t wait_limit_ms(int64_t timeout_us);
bool request_is_late(const struct request *request, int64_t now_us);
/* Large bodies come in one at a time and piece by piece, however many send them: waits for this
 * connection's turn, if it is at one. */
void turn_take(struct connection *connection);
void turn_return(struct connection *connection);
/* That of the request's body. */
struct lane *lane_of(const struct connection *connection);
/* Room for so many bytes of the body; waits for it. */
bool share_body(struct connection *connection, size_t needed) MUST_CHECK;
bool spare_arenas_start(struct spare_arenas *spare, size_t limit) MUST_CHECK; /* malloc may fail */
void spare_arenas_stop(struct spare_arenas *spare);
/* Frees one, if not all were in use at once since the last call. */
void spare_arenas_trim(struct spare_arenas *spare);
/* False when malloc fails. */
bool open_arena(struct connection *connection) MUST_CHECK;
/* Waits until the review may begin; false when it may not, and when its caller would be gone. */
bool review_enter(struct connection *connection, int64_t now_us) MUST_CHECK;
void review_leave(struct connection *connection);
/* All shares of a request that is over, with the memory they stand for. */
void return_shares(struct connection *connection);

/* ---- the world a review is judged in ---- */

struct pinned {
    const struct world *world;
    uint64_t number; /* of the world in its cell, or of one before */
};
void pin_world(struct connection *connection, struct pinned *pinned);
void unpin_world(struct connection *connection);

/* Until when a review may wait for an owner. */
/* Whether the other end of a TCP connection has ended it, or its half of it. That this end reads no
 * more does not count. */
bool peer_is_gone(int fd);
int64_t await_until_ms(const struct request *request, int64_t now_ms);
/* Waits for a world that shows the owner which a verdict hangs on, and pins it in place of the one
 * that is pinned. True: the review is to be judged anew, also when the time is over. False: nobody
 * waits, and what was judged stands. */
bool await_owner(struct connection *connection, const struct awaited_owner *owner, int64_t until_ms,
                 struct pinned *pinned) MUST_CHECK;

/* MHD_AccessHandlerCallback of the ops port. */
enum MHD_Result ops_handle(void *closure, struct MHD_Connection *mhd, const char *url,
                           const char *method, const char *version, const char *upload_data,
                           size_t *upload_data_size, void **context);

#endif
