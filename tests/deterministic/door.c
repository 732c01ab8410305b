/* libmicrohttpd and the sockets, as server/http*.c uses them: a thread a connection. */
#include "door.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "answers.h"
#include "chance.h"
#include "check.h"
#include "server/http.h"
#include "threads.h"

enum {
    FIRST_SOCKET = 2 << 20, /* beyond the system's, and beyond those of disk.c */
    CONNECTIONS_MAX = 256,
    PATIENCE_S = 20,
};

struct MHD_Daemon {
    bool used;
    int replica;
    enum door door;
    bool quiesced, stopping;
    unsigned open;
    MHD_AcceptPolicyCallback admit;
    void *admit_closure;
    MHD_AccessHandlerCallback handle;
    void *handle_closure;
    void *(*begin)(void *closure, const char *uri, struct MHD_Connection *mhd);
    void *begin_closure;
    MHD_RequestCompletedCallback completed;
    void *completed_closure;
    MHD_NotifyConnectionCallback notify;
    void *notify_closure;
    gnutls_certificate_retrieve_function2 *certificate;
};

struct MHD_Response {
    unsigned holders;
    bool closes;
    struct bytes body;
};

struct session {
    gnutls_transport_ptr_t receive, send;
    gnutls_pull_func pull;
    gnutls_handshake_hook_func hook;
};

struct MHD_Connection {
    bool used;
    struct MHD_Daemon *daemon;
    int fd;
    bool input_ended, ended, client_left;
    struct session session;
    void *context; /* the table's connection */
    union MHD_ConnectionInfo info;
    struct MHD_Response *response;
    unsigned status;
    char length[24];
    uint32_t address;
    size_t waiting_bytes; /* in the socket */
};

static struct MHD_Daemon daemons[REPLICAS_MAX][DOOR_COUNT];
static struct MHD_Connection connections[CONNECTIONS_MAX];
struct door_counts door_counts;

/* ---- daemons ---- */

struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback admit,
                                    void *admit_closure, MHD_AccessHandlerCallback handle,
                                    void *handle_closure, ...)
{
    enum door door = (flags & MHD_USE_TLS) != 0 ? DOOR_WEBHOOK : DOOR_OPS;
    struct MHD_Daemon *daemon = &daemons[thread_replica()][door];
    (void)port;
    *daemon = (struct MHD_Daemon){.used = true,
                                  .replica = thread_replica(),
                                  .door = door,
                                  .admit = admit,
                                  .admit_closure = admit_closure,
                                  .handle = handle,
                                  .handle_closure = handle_closure};
    va_list options;
    va_start(options, handle_closure);
    for (;;) {
        enum MHD_OPTION option = (enum MHD_OPTION)va_arg(options, int);
        if (option == MHD_OPTION_END)
            break;
        switch (option) {
        case MHD_OPTION_EXTERNAL_LOGGER:
            (void)va_arg(options, void *), (void)va_arg(options, void *);
            break;
        case MHD_OPTION_LISTEN_SOCKET:
        case MHD_OPTION_CONNECTION_LIMIT:
            (void)va_arg(options, int);
            break;
        case MHD_OPTION_HTTPS_CERT_CALLBACK:
            daemon->certificate = va_arg(options, gnutls_certificate_retrieve_function2 *);
            break;
        case MHD_OPTION_HTTPS_PRIORITIES:
            (void)va_arg(options, const char *);
            break;
        case MHD_OPTION_THREAD_STACK_SIZE:
        case MHD_OPTION_CONNECTION_MEMORY_LIMIT:
            (void)va_arg(options, size_t);
            break;
        case MHD_OPTION_URI_LOG_CALLBACK:
            daemon->begin =
                va_arg(options, void *(*)(void *, const char *, struct MHD_Connection *));
            daemon->begin_closure = va_arg(options, void *);
            break;
        case MHD_OPTION_NOTIFY_COMPLETED:
            daemon->completed = va_arg(options, MHD_RequestCompletedCallback);
            daemon->completed_closure = va_arg(options, void *);
            break;
        case MHD_OPTION_NOTIFY_CONNECTION:
            daemon->notify = va_arg(options, MHD_NotifyConnectionCallback);
            daemon->notify_closure = va_arg(options, void *);
            break;
        default:
            check_failed("an option of libmicrohttpd that is not simulated: %d", (int)option);
        }
    }
    va_end(options);
    return daemon;
}

MHD_socket MHD_quiesce_daemon(struct MHD_Daemon *daemon)
{
    daemon->quiesced = true;
    return FIRST_SOCKET;
}

enum MHD_Result MHD_add_connection(struct MHD_Daemon *daemon, MHD_socket fd,
                                   const struct sockaddr *address, socklen_t size)
{
    (void)daemon, (void)fd, (void)address, (void)size;
    return MHD_NO;
}

void MHD_stop_daemon(struct MHD_Daemon *daemon)
{
    daemon->stopping = true;
    while (daemon->open > 0)
        thread_sleep_until(world_now_us() + MS);
    daemon->used = false;
}

void door_drop(int replica)
{
    for (enum door door = DOOR_WEBHOOK; door < DOOR_COUNT; door++)
        daemons[replica][door].used = false;
    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        if (connections[i].used && connections[i].daemon->replica == replica)
            connections[i].used = false;
}

bool door_is_open(int replica)
{
    return daemons[replica][DOOR_WEBHOOK].used && !daemons[replica][DOOR_WEBHOOK].quiesced;
}

/* ---- responses ---- */

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *buffer,
                                                     enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = world_alloc(sizeof *response);
    (void)mode;
    response->holders = 1;
    bytes_add(&response->body, buffer, size);
    return response;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *response, const char *header,
                                        const char *content)
{
    response->closes |=
        strcmp(header, MHD_HTTP_HEADER_CONNECTION) == 0 && strcmp(content, "close") == 0;
    return MHD_YES;
}

void MHD_destroy_response(struct MHD_Response *response)
{
    if (--response->holders > 0)
        return;
    bytes_free(&response->body);
    world_free(response);
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *mhd, unsigned status,
                                   struct MHD_Response *response)
{
    mhd->status = status;
    mhd->response = response;
    response->holders++;
    return MHD_YES;
}

/* ---- connections ---- */

const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *mhd,
                                                        enum MHD_ConnectionInfoType sort, ...)
{
    switch (sort) {
    case MHD_CONNECTION_INFO_CONNECTION_FD:
        mhd->info.connect_fd = mhd->fd;
        break;
    case MHD_CONNECTION_INFO_GNUTLS_SESSION:
        mhd->info.tls_session = &mhd->session;
        break;
    default:
        mhd->info.socket_context = mhd->context;
    }
    return &mhd->info;
}

int MHD_get_connection_values_n(struct MHD_Connection *mhd, enum MHD_ValueKind kind,
                                MHD_KeyValueIteratorN take, void *closure)
{
    const char *const fields[][2] = {{"Host", "taffrail.ns.svc:443"},
                                     {"Content-Type", "application/json"},
                                     {"Content-Length", mhd->length}};
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        take(closure, kind, fields[i][0], strlen(fields[i][0]), fields[i][1], strlen(fields[i][1]));
    return (int)COUNT_OF(fields);
}

enum MHD_Result MHD_lookup_connection_value_n(struct MHD_Connection *mhd, enum MHD_ValueKind kind,
                                              const char *key, size_t key_size, const char **value,
                                              size_t *value_size)
{
    (void)mhd, (void)kind, (void)key, (void)key_size, (void)value, (void)value_size;
    return MHD_NO;
}

static struct session *session_of(gnutls_session_t session)
{
    return (struct session *)(void *)session;
}

void __wrap_gnutls_transport_get_ptr2(gnutls_session_t session, gnutls_transport_ptr_t *receive,
                                      gnutls_transport_ptr_t *send);
void __wrap_gnutls_transport_get_ptr2(gnutls_session_t session, gnutls_transport_ptr_t *receive,
                                      gnutls_transport_ptr_t *send)
{
    *receive = session_of(session)->receive;
    *send = session_of(session)->send;
}

void __wrap_gnutls_transport_set_ptr2(gnutls_session_t session, gnutls_transport_ptr_t receive,
                                      gnutls_transport_ptr_t send);
void __wrap_gnutls_transport_set_ptr2(gnutls_session_t session, gnutls_transport_ptr_t receive,
                                      gnutls_transport_ptr_t send)
{
    session_of(session)->receive = receive;
    session_of(session)->send = send;
}

void __wrap_gnutls_transport_set_pull_function(gnutls_session_t session, gnutls_pull_func pull);
void __wrap_gnutls_transport_set_pull_function(gnutls_session_t session, gnutls_pull_func pull)
{
    session_of(session)->pull = pull;
}

void __wrap_gnutls_handshake_set_hook_function(gnutls_session_t session, unsigned message, int when,
                                               gnutls_handshake_hook_func hook);
void __wrap_gnutls_handshake_set_hook_function(gnutls_session_t session, unsigned message, int when,
                                               gnutls_handshake_hook_func hook)
{
    (void)message, (void)when;
    session_of(session)->hook = hook;
}

void __wrap_gnutls_record_cork(gnutls_session_t session);
void __wrap_gnutls_record_cork(gnutls_session_t session)
{
    (void)session;
}

int __wrap_gnutls_record_uncork(gnutls_session_t session, unsigned flags);
int __wrap_gnutls_record_uncork(gnutls_session_t session, unsigned flags)
{
    (void)session, (void)flags;
    return 1;
}

/* ---- sockets ---- */

static struct MHD_Connection *connection_of(int fd)
{
    return fd > FIRST_SOCKET ? &connections[fd - FIRST_SOCKET - 1] : NULL;
}

int __wrap_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol)
{
    (void)family, (void)type, (void)protocol;
    return FIRST_SOCKET;
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
    (void)fd, (void)level, (void)name, (void)value, (void)size;
    return 0;
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size)
{
    (void)fd, (void)address, (void)size;
    return 0;
}

int __wrap_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog)
{
    (void)fd, (void)backlog;
    return 0;
}

int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *size);
int __wrap_getsockname(int fd, struct sockaddr *address, socklen_t *size)
{
    (void)fd;
    memset(address, 0, *size);
    return 0;
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    (void)fd, (void)address, (void)size, (void)flags;
    errno = EAGAIN;
    return -1;
}

int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *size);
int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *size)
{
    const struct sockaddr_in peer = {.sin_family = AF_INET,
                                     .sin_addr = {connection_of(fd)->address}};
    memcpy(address, &peer, sizeof peer < *size ? sizeof peer : *size);
    return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
    struct tcp_info *state = value;
    (void)level;
    if (name != TCP_INFO) { /* TCP_CORK */
        memset(value, 0, *size);
        return 0;
    }
    state->tcpi_state = connection_of(fd)->client_left ? TCP_CLOSE_WAIT : TCP_ESTABLISHED;
    return 0;
}

int __wrap_shutdown(int fd, int how);
int __wrap_shutdown(int fd, int how)
{
    struct MHD_Connection *mhd = connection_of(fd);
    if (mhd == NULL)
        return 0;
    mhd->input_ended = true;
    mhd->ended |= how == SHUT_RDWR;
    return 0;
}

ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags)
{
    struct MHD_Connection *mhd = connection_of(fd);
    (void)data, (void)flags;
    if (mhd->input_ended || mhd->client_left)
        return 0;
    return (ssize_t)(mhd->waiting_bytes < size ? mhd->waiting_bytes : size);
}

/* ---- a visit ---- */

/* The other end sends bytes after a while. False: the connection is over. */
static bool receive(struct MHD_Connection *mhd, size_t bytes, int64_t after_us)
{
    char buffer[1];
    int64_t until_us = world_now_us() + after_us;
    while (world_now_us() < until_us && !mhd->input_ended && !mhd->daemon->stopping)
        thread_sleep_until(world_now_us() + 200 * MS < until_us ? world_now_us() + 200 * MS
                                                                : until_us);
    if (mhd->input_ended || mhd->daemon->stopping)
        return false;
    mhd->waiting_bytes = bytes < sizeof buffer ? bytes : sizeof buffer;
    if (mhd->session.pull == NULL || bytes == 0)
        return true;
    return mhd->session.pull(mhd->session.receive, buffer, sizeof buffer) > 0;
}

static bool shake_hands(struct MHD_Connection *mhd, const struct visit *visit)
{
    gnutls_pcert_st *chain = NULL;
    gnutls_privkey_t key = NULL;
    unsigned count = 0;
    gnutls_session_t session = (gnutls_session_t)(void *)&mhd->session;
    if (!receive(mhd, 1, visit->slow ? chance_long_tail(5 * SECOND) : 300) ||
        mhd->daemon->certificate(session, NULL, 0, NULL, 0, &chain, &count, &key) != 0)
        return false;
    answers_check_certificate(visit->replica, (const char *)chain[0].cert.data);
    return receive(mhd, 1, 300) && mhd->session.hook(session, 0, 0, 1, NULL) == 0;
}

static bool send_body(struct MHD_Connection *mhd, const struct visit *visit, const char *path,
                      const struct bytes *body, void **context)
{
    struct MHD_Daemon *daemon = mhd->daemon;
    for (size_t sent = 0; sent < body->size && mhd->response == NULL;) {
        size_t piece = body->size - sent < 16384 ? body->size - sent : 16384;
        if (!receive(mhd, piece, visit->slow ? chance_long_tail(8 * SECOND) : 100))
            return false;
        size_t left = piece;
        world_event(piece);
        if (daemon->handle(daemon->handle_closure, mhd, path, "POST", "HTTP/1.1", body->data + sent,
                           &left, context) != MHD_YES)
            return false;
        sent += piece - left;
    }
    return true;
}

/* One request; false: the connection is over. */
static bool request(struct MHD_Connection *mhd, const struct visit *visit)
{
    struct MHD_Daemon *daemon = mhd->daemon;
    struct question question;
    size_t none = 0;
    answers_ask(visit->asked, &question);
    snprintf(mhd->length, sizeof mhd->length, "%zu", question.body.size);
    bool going = receive(mhd, 1, visit->slow ? chance_long_tail(3 * SECOND) : 200);
    if (going) {
        door_counts.asked[visit->asked]++;
        world_event(300 + visit->asked);
        void *context = daemon->begin(daemon->begin_closure, question.target, mhd);
        going = daemon->handle(daemon->handle_closure, mhd, question.path, "POST", "HTTP/1.1", NULL,
                               &none, &context) == MHD_YES &&
                send_body(mhd, visit, question.path, &question.body, &context);
        mhd->client_left = going && visit->leaves;
        if (going && mhd->response == NULL)
            going = daemon->handle(daemon->handle_closure, mhd, question.path, "POST", "HTTP/1.1",
                                   NULL, &none, &context) == MHD_YES;
        if (mhd->response != NULL) {
            answers_judge(visit->replica, &question, mhd->status, &mhd->response->body);
            going = going && !mhd->response->closes;
            MHD_destroy_response(mhd->response);
            mhd->response = NULL;
        }
        daemon->completed(daemon->completed_closure, mhd, &context,
                          MHD_REQUEST_TERMINATED_COMPLETED_OK);
    }
    bytes_free(&question.body);
    return going && !mhd->client_left;
}

static void review(struct MHD_Connection *mhd, const struct visit *visit)
{
    if (!shake_hands(mhd, visit))
        return;
    for (unsigned i = 0; i < visit->requests; i++)
        if (!request(mhd, visit) ||
            (i + 1 < visit->requests && !receive(mhd, 0, chance_long_tail(3 * SECOND))))
            return;
}

static void probe(struct MHD_Connection *mhd, int replica)
{
    struct MHD_Daemon *daemon = mhd->daemon;
    size_t none = 0;
    void *context = NULL;
    world_event(400);
    if (daemon->handle(daemon->handle_closure, mhd, "/readyz", "GET", "HTTP/1.1", NULL, &none,
                       &context) != MHD_YES ||
        mhd->response == NULL)
        return;
    answers_judge_ready(replica, mhd->status, &mhd->response->body);
    MHD_destroy_response(mhd->response);
    mhd->response = NULL;
}

static struct MHD_Connection *free_connection(void)
{
    for (size_t i = 0; i < CONNECTIONS_MAX; i++)
        if (!connections[i].used) {
            connections[i] = (struct MHD_Connection){.used = true, .fd = FIRST_SOCKET + 1 + (int)i};
            return &connections[i];
        }
    return NULL;
}

struct errand {
    struct visit visit;
    enum door door;
};

static void be_served(struct MHD_Connection *mhd, const struct errand *errand)
{
    struct MHD_Daemon *daemon = mhd->daemon;
    daemon->notify(daemon->notify_closure, mhd, &mhd->context, MHD_CONNECTION_NOTIFY_STARTED);
    if (errand->door == DOOR_OPS)
        probe(mhd, errand->visit.replica);
    else if (mhd->context != NULL)
        review(mhd, &errand->visit);
    daemon->notify(daemon->notify_closure, mhd, &mhd->context, MHD_CONNECTION_NOTIFY_CLOSED);
}

static void *come(void *context)
{
    struct errand *errand = context;
    struct MHD_Daemon *daemon = &daemons[errand->visit.replica][errand->door];
    static const struct sockaddr nobody;
    if (!daemon->used || daemon->quiesced || daemon->stopping) {
        door_counts.turned_away++;
        world_free(errand);
        return NULL;
    }
    daemon->open++; /* its thread asks, and ends before the daemon does */
    bool welcome = daemon->admit(daemon->admit_closure, &nobody, sizeof nobody) == MHD_YES;
    struct MHD_Connection *mhd = welcome ? free_connection() : NULL;
    if (mhd != NULL) {
        mhd->daemon = daemon;
        mhd->address = 1 + (uint32_t)chance_draw(3);
        be_served(mhd, errand);
        mhd->used = false;
    } else {
        door_counts.turned_away++;
    }
    daemon->open--;
    world_free(errand);
    return NULL;
}

static void set_out(const struct errand *errand)
{
    struct errand *own = world_alloc(sizeof *own);
    *own = *errand;
    if (thread_start(errand->visit.replica, "a connection", come, own) == NULL)
        world_free(own);
}

void door_visit(const struct visit *visit)
{
    set_out(&(struct errand){*visit, DOOR_WEBHOOK});
}

void door_probe(int replica)
{
    set_out(&(struct errand){{.replica = replica}, DOOR_OPS});
}
