/* The HTTPS server: TLS, listeners, start and stop. */
#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/http.h"
#include "server/open_files.h"

enum {
    BODY_LIMIT_BYTES = 40 << 20,
    BYTES_IN_FLIGHT_LIMIT = 256 << 20,
    REVIEWS_A_CORE = 4,
    REVIEW_LIMIT_LEAST = 16,
    LARGE_BLOCK_BYTES = 64 << 10, /* more than a body or a TLS record usually has */
    HEAPS_A_CORE = 8,
    HEAPS_MAX = 64,
    REQUEST_TIMEOUT_S = 15,
    /* libmicrohttpd counts a connection a little longer than the table does. */
    CONNECTION_MARGIN = 16,
    CONNECTION_MEMORY_BYTES = 16 << 10, /* caps the header; more makes each request slower */
    STACK_BYTES = 512 << 10,
    BACKLOG = 1024,
};

/* No client since 2012 needs the rest of GnuTLS's NORMAL: TLS 1.1, CBC, SHA-1, and a key that is
 * encrypted with the certificate's own. */
static const char priorities[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA"
    ":-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:-MAC-ALL:+AEAD"
    ":-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:-SIGN-DSA-SHA1";

static unsigned connection_limit(const struct server_options *options)
{
    return options->connection_limit == 0 ? CONNECTIONS_MOST : options->connection_limit;
}

unsigned server_slot_count(const struct server_options *options)
{
    return connection_limit(options) + OPS_CONNECTION_LIMIT;
}

/* ---- the certificate ---- */

static void identity_destroy(void *destroyed)
{
    struct identity *identity = destroyed;
    if (identity == NULL)
        return;
    for (unsigned i = 0; i < identity->chain_count; i++)
        gnutls_pcert_deinit(&identity->chain[i]);
    if (identity->key != NULL)
        gnutls_privkey_deinit(identity->key);
    free(identity->chain);
    free(identity);
}

static int identity_read(struct identity *identity, const struct cert_pair *pair)
{
    enum { CHAIN_MAX = 16 };
    gnutls_datum_t certificate = {(unsigned char *)pair->certificate.data,
                                  (unsigned)pair->certificate.size};
    gnutls_datum_t key = {(unsigned char *)pair->key.data, (unsigned)pair->key.size};
    unsigned count = CHAIN_MAX;
    identity->chain = calloc(CHAIN_MAX, sizeof *identity->chain);
    if (identity->chain == NULL)
        return GNUTLS_E_MEMORY_ERROR;
    int code = gnutls_pcert_list_import_x509_raw(identity->chain, &count, &certificate,
                                                 GNUTLS_X509_FMT_PEM, 0);
    if (code < 0)
        return code;
    identity->chain_count = count;
    code = gnutls_privkey_init(&identity->key);
    return code < 0
               ? code
               : gnutls_privkey_import_x509_raw(identity->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
}

bool server_set_certificate(struct server *server, const struct cert_pair *pair,
                            struct error *error)
{
    int64_t not_after_unix_s;
    if (!cert_check(pair, time(NULL), &not_after_unix_s, error))
        return false;
    struct identity *identity = calloc(1, sizeof *identity);
    int code = identity == NULL ? GNUTLS_E_MEMORY_ERROR : identity_read(identity, pair);
    if (code < 0) {
        identity_destroy(identity);
        return error_set(error, code == GNUTLS_E_MEMORY_ERROR ? ERROR_MEMORY : ERROR_TLS, NOWHERE,
                         "the certificate and key cannot be used: %s", gnutls_strerror(code));
    }
    cell_publish(server->identities, identity, identity_destroy);
    metrics_set_certificate(server->metrics, not_after_unix_s);
    return true;
}

/* GnuTLS calls this in every handshake. The transport pointer is set by connection_watch_tls. The
 * certificate is pinned until the connection closes, for a handshake of any length. */
static int give_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
                            int authority_count, const gnutls_pk_algorithm_t *algorithms,
                            int algorithm_count, gnutls_pcert_st **chain, unsigned *chain_count,
                            gnutls_privkey_t *key)
{
    (void)authorities, (void)authority_count, (void)algorithms, (void)algorithm_count;
    gnutls_transport_ptr_t receive, send;
    gnutls_transport_get_ptr2(session, &receive, &send);
    const struct connection *connection = receive;
    if (connection == NULL)
        return -1;
    const struct identity *identity = cell_pin(connection->server->identities, connection->index);
    *chain = identity->chain;
    *chain_count = identity->chain_count;
    *key = identity->key;
    return 0;
}

/* ---- listening ---- */

static bool bad_address(const char *address, struct error *error)
{
    return error_set(error, ERROR_USAGE, NOWHERE,
                     "\"%s\" is no address to listen on; write ADDR:PORT with a numeric address, "
                     "such as 0.0.0.0:8443 or [::]:8443",
                     address);
}

/* One that takes connections of both kinds, unless the kernel has no IPv6. */
static int family_of_any_address(void)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    return fd < 0 && errno == EAFNOSUPPORT ? AF_INET : AF_INET6;
}

/* "ADDR:PORT", "[ADDR]:PORT"; no ADDR is any. */
static bool resolve(const char *address, struct addrinfo **found, struct error *error)
{
    struct text host, port, whole = text_of(address);
    char host_text[64];
    int64_t number;
    if (!text_split_last(whole, ':', &host, &port) || !text_to_int64(port, &number) || number < 0 ||
        number > UINT16_MAX || port.data[0] == '+')
        return bad_address(address, error);
    if (text_starts_with(host, TEXT("[")) && text_ends_with(host, TEXT("]")))
        host = (struct text){host.data + 1, host.size - 2};
    else if (text_split(host, ':', NULL, NULL))
        return bad_address(address, error);
    if (host.size >= sizeof host_text)
        return bad_address(address, error);
    snprintf(host_text, sizeof host_text, "%.*s", TEXT_ARGS(host));
    struct addrinfo hints = {
        .ai_family = host.size == 0 ? family_of_any_address() : AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
    };
    if (getaddrinfo(host.size == 0 ? NULL : host_text, port.data, &hints, found) != 0)
        return bad_address(address, error);
    return true;
}

static bool bind_and_listen(int fd, const struct addrinfo *to)
{
    int on = 1, off = 0;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
        return false;
    if (to->ai_family == AF_INET6 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0)
        return false;
    return bind(fd, to->ai_addr, to->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0;
}

static uint16_t bound_port(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } bound = {.v6 = {0}};
    socklen_t size = sizeof bound;
    if (getsockname(fd, &bound.any, &size) != 0)
        return 0;
    return ntohs(bound.any.sa_family == AF_INET6 ? bound.v6.sin6_port : bound.v4.sin_port);
}

static bool listen_at(struct server *server, enum door door, const char *address,
                      struct error *error)
{
    struct addrinfo *to;
    if (!resolve(address, &to, error))
        return false;
    int fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool listening = fd >= 0 && bind_and_listen(fd, to);
    int failure = errno;
    freeaddrinfo(to);
    server->listeners[door] = fd;
    if (!listening)
        return error_set(error, ERROR_IO, NOWHERE, "cannot listen on %s: %s", address,
                         strerror(failure));
    server->ports[door] = bound_port(fd);
    return true;
}

/* ---- the daemons ---- */

static void log_library(void *closure, const char *format, va_list args) PRINTF_LIKE(2, 0);
static void log_library(void *closure, const char *format, va_list args)
{
    (void)closure;
    char message[512];
    int size = vsnprintf(message, sizeof message, format, args);
    if (size < 0)
        return;
    message[strcspn(message, "\n")] = '\0';
    log_line(LOG_INFO, "libmicrohttpd", NULL, NULL, "%s", message);
}

static enum MHD_Result admit_webhook(void *closure, const struct sockaddr *address, socklen_t size)
{
    (void)address, (void)size;
    struct server *server = closure;
    return connections_admit(&server->connections, DOOR_WEBHOOK) ? MHD_YES : MHD_NO;
}

static enum MHD_Result admit_ops(void *closure, const struct sockaddr *address, socklen_t size)
{
    (void)address, (void)size;
    struct server *server = closure;
    return connections_admit(&server->connections, DOOR_OPS) ? MHD_YES : MHD_NO;
}

static void track(struct server *server, enum door door, struct MHD_Connection *mhd, void **context,
                  enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*context != NULL)
            connection_close(&server->connections, *context);
        *context = NULL;
        return;
    }
    int fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    *context = connection_open(&server->connections, door, fd);
}

static void track_webhook(void *closure, struct MHD_Connection *mhd, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct server *server = closure;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED && *context != NULL)
        cell_unpin(server->identities, ((struct connection *)*context)->index);
    track(server, DOOR_WEBHOOK, mhd, context, what);
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        connection_watch_tls(
            *context,
            MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session);
}

static void track_ops(void *closure, struct MHD_Connection *mhd, void **context,
                      enum MHD_ConnectionNotificationCode what)
{
    track(closure, DOOR_OPS, mhd, context, what);
}

/* No MHD_OPTION_CONNECTION_TIMEOUT: the janitor keeps the times. */
static bool start_webhook(struct server *server, struct error *error)
{
    unsigned limit = server->connections.first[DOOR_OPS] + CONNECTION_MARGIN;
    server->daemons[DOOR_WEBHOOK] = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
            MHD_USE_TLS | MHD_USE_ITC | MHD_USE_ERROR_LOG,
        0, admit_webhook, server, request_handle, server, MHD_OPTION_EXTERNAL_LOGGER, log_library,
        NULL, MHD_OPTION_LISTEN_SOCKET, server->listeners[DOOR_WEBHOOK],
        MHD_OPTION_HTTPS_CERT_CALLBACK, give_certificate, MHD_OPTION_HTTPS_PRIORITIES, priorities,
        MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY_BYTES,
        MHD_OPTION_URI_LOG_CALLBACK, request_begin, server, MHD_OPTION_NOTIFY_COMPLETED,
        request_end, server, MHD_OPTION_NOTIFY_CONNECTION, track_webhook, server, MHD_OPTION_END);
    if (server->daemons[DOOR_WEBHOOK] == NULL)
        return error_set(error, ERROR_IO, NOWHERE, "the HTTPS server cannot be started");
    return true;
}

static bool start_ops(struct server *server, struct error *error)
{
    server->daemons[DOOR_OPS] = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0,
        admit_ops, server, ops_handle, server, MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL,
        MHD_OPTION_LISTEN_SOCKET, server->listeners[DOOR_OPS], MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(OPS_CONNECTION_LIMIT + CONNECTION_MARGIN), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY_BYTES, MHD_OPTION_NOTIFY_CONNECTION, track_ops, server,
        MHD_OPTION_END);
    if (server->daemons[DOOR_OPS] == NULL)
        return error_set(error, ERROR_IO, NOWHERE, "the ops HTTP server cannot be started");
    return true;
}

/* ---- start and stop ---- */

static long core_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count;
}

/* By default, malloc keeps large blocks once one was freed, in each of its heaps, and has many
 * heaps on many cores. The memory of one hostile or busy minute would stay with the process. With
 * few heaps threads wait for each other, because GnuTLS takes two large blocks for each record. */
static void bound_heaps(void)
{
    long heaps = core_count() * HEAPS_A_CORE;
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
    mallopt(M_ARENA_MAX, heaps < HEAPS_MAX ? (int)heaps : HEAPS_MAX);
}

/* More reviews than cores only share the cores; the limit is for their memory. */
static size_t review_limit(const struct server_options *options)
{
    if (options->review_limit != 0)
        return options->review_limit;
    long cores = core_count();
    return cores * REVIEWS_A_CORE > REVIEW_LIMIT_LEAST ? (size_t)cores * REVIEWS_A_CORE
                                                       : REVIEW_LIMIT_LEAST;
}

/* Half for bodies, half for arenas. Every possible connection has room for a small body, so nobody
 * waits there. Every small review that may run at the same time has room for its arena. Large ones
 * have half of the cores. */
static void divide(size_t bytes, size_t reviews, struct lane_limits limits[LANE_COUNT])
{
    size_t small_arenas = reviews * arena_budget(SMALL_BODY_BYTES);
    size_t half_of_cores = core_count() < 4 ? 1 : (size_t)core_count() / 2;
    limits[LANE_SMALL] = (struct lane_limits){
        .body_bytes = bytes / 8,
        .reviews = reviews,
        .arena_bytes = small_arenas < bytes / 4 ? small_arenas : bytes / 4,
        .turns = SIZE_MAX,
    };
    limits[LANE_LARGE] = (struct lane_limits){
        .body_bytes = bytes / 2 - limits[LANE_SMALL].body_bytes,
        .reviews = half_of_cores,
        .arena_bytes = bytes / 2 - limits[LANE_SMALL].arena_bytes,
        .turns = half_of_cores,
    };
}

/* An allowed body must not be larger than the bytes for all. */
static bool start_admission(struct server *server, const struct server_options *options,
                            struct error *error)
{
    size_t bytes = options->bytes_in_flight_limit == 0 ? BYTES_IN_FLIGHT_LIMIT
                                                       : options->bytes_in_flight_limit;
    size_t largest = arena_budget(server->body_limit_bytes);
    if (largest < server->body_limit_bytes)
        largest = server->body_limit_bytes;
    if (bytes / 4 < largest)
        return error_set(error, ERROR_USAGE, NOWHERE,
                         "%zu bytes in flight are too few for bodies of %zu bytes; allow %zu",
                         bytes, server->body_limit_bytes, 4 * largest);
    struct lane_limits limits[LANE_COUNT];
    divide(bytes, review_limit(options), limits);
    load_limits_start(&server->load_limits, limits);
    if (!spare_arenas_start(&server->spare_arenas, review_limit(options)))
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory for the arenas of reviews");
    return true;
}

/* Closes whatever was opened or started. */
void server_close(struct server *server)
{
    if (server == NULL)
        return;
    for (enum door door = DOOR_WEBHOOK; door < DOOR_COUNT; door++)
        if (server->daemons[door] != NULL)
            MHD_stop_daemon(server->daemons[door]); /* closes the listener, unless quiesced */
        else if (server->listeners[door] >= 0)
            close(server->listeners[door]);
    connections_stop(&server->connections);
    spare_arenas_stop(&server->spare_arenas);
    cell_destroy(server->identities);
    pthread_mutex_destroy(&server->failures_mutex);
    free(server);
}

static bool make_identities(struct server *server, const struct server_options *options,
                            struct error *error)
{
    server->identities = cell_create(connection_limit(options));
    if (server->identities == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory for certificates");
    return server_set_certificate(server, &options->certificate, error);
}

bool server_open(const struct server_options *options, struct cell *world, struct server **server,
                 struct error *error)
{
    bound_heaps();
    struct server *made = calloc(1, sizeof *made);
    if (made == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory to start the server");
    made->world = world;
    made->metrics = options->metrics;
    made->status = options->status;
    made->webhook_manager_status = options->webhook_manager_status;
    made->reports_status = options->reports_status;
    pthread_mutex_init(&made->failures_mutex, NULL);
    made->listeners[DOOR_WEBHOOK] = made->listeners[DOOR_OPS] = -1;
    made->body_limit_bytes =
        options->body_limit_bytes == 0 ? BODY_LIMIT_BYTES : options->body_limit_bytes;
    made->connection_limit = connection_limit(options);
    made->request_timeout_s =
        options->request_timeout_s == 0 ? REQUEST_TIMEOUT_S : options->request_timeout_s;
    if (!make_identities(made, options, error) || !start_admission(made, options, error) ||
        !listen_at(made, DOOR_WEBHOOK, options->listen, error) ||
        (options->ops_listen != NULL && !listen_at(made, DOOR_OPS, options->ops_listen, error))) {
        server_close(made);
        return false;
    }
    *server = made;
    return true;
}

bool server_start(struct server *server, struct error *error)
{
    return connections_start(&server->connections, server, server->connection_limit,
                             1000 * (int64_t)server->request_timeout_s, server->metrics, error) &&
           start_webhook(server, error) &&
           (server->listeners[DOOR_OPS] < 0 || start_ops(server, error));
}

uint16_t server_port(const struct server *server)
{
    return server->ports[DOOR_WEBHOOK];
}

uint16_t server_ops_port(const struct server *server)
{
    return server->ports[DOOR_OPS];
}

/* Serves clients that the kernel has accepted, then nobody else. */
static void stop_accepting(struct server *server, int64_t deadline_ms)
{
    int listener = MHD_quiesce_daemon(server->daemons[DOOR_WEBHOOK]);
    if (listener < 0)
        return;
    while (monotonic_ms() < deadline_ms) {
        struct sockaddr_storage address;
        socklen_t size = sizeof address;
        int fd = accept4(listener, (struct sockaddr *)&address, &size, SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0)
            break;
        MHD_add_connection(server->daemons[DOOR_WEBHOOK], fd, (struct sockaddr *)&address, size);
    }
    /* Closed at the end, because the daemon's thread may still use the number. */
    shutdown(listener, SHUT_RDWR);
}

static void sleep_until(int64_t until_ms)
{
    struct timespec until = timespec_of_ms(until_ms);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* MHD_stop_daemon lets a handler finish but does not send its reply, and never sends `Connection:
 * close` by itself. */
void server_drain(struct server *server, int64_t settle_ms, int64_t deadline_ms)
{
    int64_t now = monotonic_ms();
    int64_t end_ms = now + deadline_ms;
    int listener = server->listeners[DOOR_WEBHOOK];
    atomic_store(&server->draining, true);
    sleep_until(settle_ms < deadline_ms ? now + settle_ms : end_ms);
    stop_accepting(server, end_ms);
    unsigned left = connections_drain(&server->connections, end_ms);
    if (left > 0)
        log_line(LOG_WARN, "server", NULL, NULL,
                 "connections closed before their requests were answered: %u; draining took longer "
                 "than %lld ms",
                 left, (long long)deadline_ms);
    server_close(server);
    close(listener);
}
