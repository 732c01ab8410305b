/* labels: threads */
/* A reply over TLS that is larger than what the socket takes. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http.h"
#include "unit.h"

const char unit_suite[] = "server/tls reply";

enum { REPLY_BYTES = 4 << 20, HANGS_AFTER_S = 120 };

struct peer {
    int fd, of_server;
    gnutls_session_t session;
    bool reads;
    size_t received_bytes;
};

static void open_session(gnutls_session_t *session, unsigned flags, int fd)
{
    CU_ASSERT_FATAL(gnutls_init(session, flags | GNUTLS_NO_SIGNAL) == 0);
    CU_ASSERT_FATAL(gnutls_priority_set_direct(*session, "NORMAL:-VERS-ALL:+VERS-TLS1.2:+ANON-ECDH",
                                               NULL) == 0);
    gnutls_transport_set_int(*session, fd);
}

/* Reads, or goes, when the server's socket is full. */
static void *be_client(void *argument)
{
    struct peer *peer = argument;
    if (gnutls_handshake(peer->session) != 0)
        return NULL;
    struct pollfd writable = {.fd = peer->of_server, .events = POLLOUT};
    while (poll(&writable, 1, 0) > 0)
        sched_yield();
    char some[16 << 10];
    ssize_t count = peer->reads ? 1 : 0;
    while (count > 0 && peer->received_bytes < REPLY_BYTES) {
        count = gnutls_record_recv(peer->session, some, sizeof some);
        peer->received_bytes += count > 0 ? (size_t)count : 0;
    }
    shutdown(peer->fd, SHUT_RDWR);
    return NULL;
}

/* What the client has received of a reply that its socket does not take at once. */
static size_t send_much(bool reads)
{
    int fds[2], few = 4096;
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &few, sizeof few);
    gnutls_anon_server_credentials_t of_server;
    gnutls_anon_client_credentials_t of_client;
    gnutls_anon_allocate_server_credentials(&of_server);
    gnutls_anon_allocate_client_credentials(&of_client);
    static struct connection connection; /* AddressSanitizer gives stacks a smaller alignment */
    connection.fd = fds[0];
    struct peer peer = {.fd = fds[1], .of_server = fds[0], .reads = reads};
    open_session(&connection.session, GNUTLS_SERVER, fds[0]);
    open_session(&peer.session, GNUTLS_CLIENT, fds[1]);
    gnutls_credentials_set(connection.session, GNUTLS_CRD_ANON, of_server);
    gnutls_credentials_set(peer.session, GNUTLS_CRD_ANON, of_client);
    pthread_t client;
    CU_ASSERT_FATAL(pthread_create(&client, NULL, be_client, &peer) == 0);
    CU_ASSERT(gnutls_handshake(connection.session) == 0);

    /* As libmicrohttpd's is. */
    CU_ASSERT(fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0);
    char *reply = calloc(1, REPLY_BYTES);
    CU_ASSERT_FATAL(reply != NULL);
    connection_hold_reply(&connection);
    ssize_t size = 0;
    for (ssize_t sent = 1; sent > 0 && size < REPLY_BYTES; size += sent)
        sent = gnutls_record_send(connection.session, reply + size, (size_t)(REPLY_BYTES - size));
    CU_ASSERT_EQUAL(size, REPLY_BYTES);
    alarm(HANGS_AFTER_S);
    connection_send_reply(&connection);
    pthread_join(client, NULL);
    alarm(0);

    free(reply);
    gnutls_deinit(connection.session);
    gnutls_deinit(peer.session);
    gnutls_anon_free_server_credentials(of_server);
    gnutls_anon_free_client_credentials(of_client);
    close(fds[0]);
    close(fds[1]);
    return peer.received_bytes;
}

static void the_rest_is_sent_when_there_is_room(void)
{
    CU_ASSERT_EQUAL(send_much(true), REPLY_BYTES);
}

static void a_client_that_goes_is_not_waited_for(void)
{
    CU_ASSERT_EQUAL(send_much(false), 0);
}

const struct unit_test unit_tests[] = {
    {"the rest is sent when there is room", the_rest_is_sent_when_there_is_room},
    {"a client that goes is not waited for", a_client_that_goes_is_not_waited_for},
    {NULL, NULL},
};
