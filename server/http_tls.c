/* What passes between GnuTLS and the socket of a connection: bytes in, replies out. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "server/http.h"

/* ---- incoming bytes ---- */

/* GnuTLS's pull function; its transport pointer is the connection. */
static ssize_t pull(gnutls_transport_ptr_t transport, void *data, size_t size)
{
    struct connection *connection = transport;
    if (connection == NULL)
        return 0;
    turn_take(connection);
    ssize_t count = recv(connection->fd, data, size, 0);
    int failure = errno;
    if (count > 0)
        connection_note_arrival(connection);
    else
        turn_return(connection);
    errno = failure;
    return count;
}

/* A connection may stay idle after its handshake: Go's transport dials ahead of need. */
static int handshake_finished(gnutls_session_t session, unsigned message, unsigned when,
                              unsigned incoming, const gnutls_datum_t *bytes)
{
    (void)message, (void)when, (void)bytes;
    if (incoming == 0)
        return 0;
    gnutls_transport_ptr_t receive, send;
    gnutls_transport_get_ptr2(session, &receive, &send);
    struct connection *connection = receive;
    /* In this order: a thread that sees it established also sees that it is idle. */
    connection_set_idle(connection, monotonic_ms());
    atomic_store_explicit(&connection->established, true, memory_order_release);
    return 0;
}

void connection_watch_tls(struct connection *connection, gnutls_session_t session)
{
    gnutls_transport_ptr_t receive, send;
    gnutls_transport_get_ptr2(session, &receive, &send);
    gnutls_transport_set_ptr2(session, connection, send);
    gnutls_transport_set_pull_function(session, pull);
    gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_FINISHED, GNUTLS_HOOK_POST,
                                       handshake_finished);
    if (connection != NULL)
        connection->session = session;
}

/* ---- replies ---- */

/* libmicrohttpd writes a reply in two parts, header and body. Held back until both are there, they
 * are one record and one packet. */
void connection_hold_reply(struct connection *connection)
{
    if (connection->session != NULL)
        gnutls_record_cork(connection->session);
}

/* For two such parts libmicrohttpd corks the socket, once, and after each reply makes a call that
 * lets go what is in it. The reply comes after that call. */
static void uncork_socket(struct connection *connection)
{
    int corked = 0, off = 0;
    socklen_t size = sizeof corked;
    if (connection->uncorked ||
        getsockopt(connection->fd, IPPROTO_TCP, TCP_CORK, &corked, &size) != 0 || corked == 0)
        return;
    connection->uncorked = setsockopt(connection->fd, IPPROTO_TCP, TCP_CORK, &off, sizeof off) == 0;
}

/* The janitor ends the wait for a client that does not read. */
void connection_send_reply(struct connection *connection)
{
    if (connection->session == NULL)
        return;
    uncork_socket(connection);
    struct pollfd writable = {.fd = connection->fd, .events = POLLOUT};
    int sent = gnutls_record_uncork(connection->session, 0);
    while (sent == GNUTLS_E_AGAIN || sent == GNUTLS_E_INTERRUPTED) {
        poll(&writable, 1, -1);
        sent = gnutls_record_uncork(connection->session, 0);
    }
    if (sent < 0)
        shutdown(connection->fd, SHUT_RDWR); /* nobody must wait for the rest of it */
}
