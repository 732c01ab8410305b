/* A server whose engine does what the body of a request says, and an HTTPS client, for the tests of
 * server/. */
#ifndef TAFFRAIL_UNIT_SERVER_FIXTURE_H
#define TAFFRAIL_UNIT_SERVER_FIXTURE_H

#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/server.h"
#include "unit.h"

/* ---- an engine that does what the body says ---- */

enum { LONG_ANSWER_BYTES = 12 << 20 /* more than a socket keeps */ };

static pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static unsigned waiting; /* reviews that wait at the gate */
static bool gate_open;

static inline void wait_at_gate(void)
{
    pthread_mutex_lock(&gate_mutex);
    waiting++;
    pthread_cond_broadcast(&gate_changed);
    while (!gate_open)
        pthread_cond_wait(&gate_changed, &gate_mutex);
    waiting--;
    pthread_mutex_unlock(&gate_mutex);
}

static inline void open_gate(void)
{
    pthread_mutex_lock(&gate_mutex);
    gate_open = true;
    pthread_cond_broadcast(&gate_changed);
    pthread_mutex_unlock(&gate_mutex);
}

/* Reviews of the body "slow" wait from now on. */
static inline void close_gate(void)
{
    pthread_mutex_lock(&gate_mutex);
    gate_open = false;
    pthread_mutex_unlock(&gate_mutex);
}

static inline void await_at_gate(unsigned count)
{
    pthread_mutex_lock(&gate_mutex);
    while (waiting < count)
        pthread_cond_wait(&gate_changed, &gate_mutex);
    pthread_mutex_unlock(&gate_mutex);
}

static const struct finding one_finding = {
    .rail = "topology-keys",
    .action = ACTION_DENY,
    .path = {"spec.x", 6},
    .found = {"zone", 4},
    .policy = {"p", 1},
};

/* Work that takes no memory and does not end by itself. */
static inline void spin(void *arena)
{
    for (;;)
        arena_tick(arena, 1);
}

bool review_answer(const struct world *world, enum review_phase phase, struct text body,
                   int64_t now_unix_s, struct arena *arena, struct text *answer,
                   struct review_record *record, struct error *error)
{
    (void)now_unix_s;
    *record = (struct review_record){
        .uid = body,
        .operation = TEXT("CREATE"),
        .kind = TEXT("Pod"),
        .allowed = true,
    };
    if (text_is(body, "bad"))
        return error_set(error, ERROR_INPUT, NOWHERE, "the body\nis bad");
    if (text_is(body, "greedy"))
        for (;;)
            arena_alloc(arena, 1 << 20);
    if (text_is(body, "slow"))
        wait_at_gate();
    if (text_is(body, "endless") && !arena_guard(arena, spin, arena, error)) {
        record->verdict.limit = limit_of_arena(arena);
        return false;
    }
    if (text_starts_with(body, TEXT("long"))) {
        *answer = (struct text){arena_alloc(arena, LONG_ANSWER_BYTES), LONG_ANSWER_BYTES};
        return true;
    }
    if (text_starts_with(body, TEXT("finding"))) {
        record->verdict =
            (struct verdict){.action = ACTION_DENY, .findings = &one_finding, .finding_count = 1};
        record->allowed = false;
    }
    unsigned sum = 0;
    for (size_t i = 0; i < body.size; i++)
        sum = sum * 31 + (unsigned char)body.data[i];
    *answer = arena_printf(arena, "{\"phase\":%d,\"size\":%zu,\"sum\":%u,\"generation\":%llu}",
                           (int)phase, body.size, sum, (unsigned long long)world->generation);
    return true;
}

static inline struct text expected_answer(char *buffer, size_t buffer_size, int phase,
                                          struct text body)
{
    unsigned sum = 0;
    for (size_t i = 0; i < body.size; i++)
        sum = sum * 31 + (unsigned char)body.data[i];
    snprintf(buffer, buffer_size, "{\"phase\":%d,\"size\":%zu,\"sum\":%u,\"generation\":7}", phase,
             body.size, sum);
    return text_of(buffer);
}

/* ---- a server ---- */

struct fixture {
    struct arena *arena;
    struct cert_pair ca;
    struct publisher *publisher;
    struct cell *cell; /* the publisher's */
    struct metrics *metrics;
    struct server *server;
    uint16_t port, ops_port; /* kept for clients that outlive the server */
    struct server_options options;
};

static inline struct fixture start(struct server_options options)
{
    static const struct world world = {.generation = 7, .loaded_unix_s = 1794000000};
    static const char *const addresses[] = {"127.0.0.1"};
    const struct cert_names names = {NULL, 0, addresses, 1};
    struct fixture fixture = {.arena = arena_create(1 << 20), .metrics = metrics_create()};
    struct error error = {0};
    CU_ASSERT_FATAL(cert_issue_ca(time(NULL), fixture.arena, &fixture.ca, &error));
    CU_ASSERT_FATAL(cert_issue_leaf(&fixture.ca, &names, time(NULL), fixture.arena,
                                    &options.certificate, &error));
    options.listen = "127.0.0.1:0";
    options.ops_listen = "127.0.0.1:0";
    options.metrics = fixture.metrics;
    fixture.options = options;
    fixture.publisher = publisher_create(server_slot_count(&options));
    fixture.cell = publisher_cell(fixture.publisher);
    cell_publish(fixture.cell, (void *)&world, NULL);
    if (!server_open(&options, fixture.cell, &fixture.server, &error) ||
        !server_start(fixture.server, &error)) {
        fprintf(stderr, "%s\n", error.what);
        CU_FAIL_FATAL("server_start");
    }
    fixture.port = server_port(fixture.server);
    fixture.ops_port = server_ops_port(fixture.server);
    return fixture;
}

static inline void clean_up(struct fixture *fixture)
{
    publisher_destroy(fixture->publisher);
    metrics_destroy(fixture->metrics);
    arena_destroy(fixture->arena);
}

static inline void stop(struct fixture *fixture)
{
    server_drain(fixture->server, 0, 5000);
    clean_up(fixture);
}

/* ---- a client ---- */

struct client {
    int fd;
    gnutls_session_t session; /* NULL: plain */
    gnutls_certificate_credentials_t credentials;
};

static inline int connect_to(uint16_t port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct timeval limit = {20, 0};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static inline void client_hang_up(struct client *client)
{
    if (client->session != NULL)
        gnutls_deinit(client->session);
    if (client->credentials != NULL)
        gnutls_certificate_free_credentials(client->credentials);
    if (client->fd >= 0)
        close(client->fd);
    *client = (struct client){.fd = -1};
}

static inline bool client_connect(const struct fixture *fixture, const char *priority,
                                  struct client *client)
{
    gnutls_datum_t ca = {(unsigned char *)fixture->ca.certificate.data,
                         (unsigned)fixture->ca.certificate.size};
    *client = (struct client){.fd = connect_to(fixture->port)};
    if (client->fd < 0)
        return false;
    gnutls_certificate_allocate_credentials(&client->credentials);
    gnutls_certificate_set_x509_trust_mem(client->credentials, &ca, GNUTLS_X509_FMT_PEM);
    gnutls_init(&client->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL);
    gnutls_priority_set_direct(client->session, priority, NULL);
    gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE, client->credentials);
    gnutls_session_set_verify_cert(client->session, "127.0.0.1", 0);
    gnutls_transport_set_int(client->session, client->fd);
    int code;
    do
        code = gnutls_handshake(client->session);
    while (code == GNUTLS_E_INTERRUPTED);
    if (code == 0)
        return true;
    client_hang_up(client);
    return false;
}

static inline struct client open_client(const struct fixture *fixture)
{
    struct client client;
    if (!client_connect(fixture, "NORMAL", &client))
        CU_FAIL_FATAL("no connection");
    return client;
}

static inline bool client_send(struct client *client, const void *bytes, size_t size)
{
    for (const char *next = bytes; size > 0;) {
        ssize_t count = client->session != NULL ? gnutls_record_send(client->session, next, size)
                                                : send(client->fd, next, size, MSG_NOSIGNAL);
        if (count == GNUTLS_E_AGAIN || count == GNUTLS_E_INTERRUPTED)
            continue;
        if (count <= 0)
            return false;
        next += count;
        size -= (size_t)count;
    }
    return true;
}

static inline bool client_print(struct client *client, const char *text)
{
    return client_send(client, text, strlen(text));
}

static inline ssize_t client_read(struct client *client, char *buffer, size_t size)
{
    if (client->session == NULL)
        return recv(client->fd, buffer, size, 0);
    for (;;) {
        ssize_t count = gnutls_record_recv(client->session, buffer, size);
        if (count != GNUTLS_E_AGAIN && count != GNUTLS_E_INTERRUPTED)
            return count;
        /* The socket's receive timeout has passed. */
        if (count == GNUTLS_E_AGAIN && gnutls_record_check_pending(client->session) == 0)
            return -1;
    }
}

struct reply {
    int status;      /* 0: no reply, or not a whole one */
    char head[2048]; /* with its empty line */
    char body[65536];
    size_t body_size;
    bool closes; /* has Connection: close */
};

/* Reads one reply up to its Content-Length, and no byte more. */
static inline struct reply client_receive(struct client *client)
{
    static _Thread_local struct reply reply;
    memset(&reply, 0, sizeof reply);
    size_t head_size = 0;
    char *end = NULL;
    while (end == NULL && head_size < sizeof reply.head - 1) {
        if (client_read(client, reply.head + head_size, 1) != 1)
            return reply;
        reply.head[++head_size] = '\0';
        end = strstr(reply.head, "\r\n\r\n");
    }
    const char *length = strcasestr(reply.head, "\r\ncontent-length: ");
    if (end == NULL || length == NULL)
        return reply;
    size_t wanted = strtoul(length + 18, NULL, 10);
    if (wanted >= sizeof reply.body)
        return reply;
    while (reply.body_size < wanted) {
        ssize_t count = client_read(client, reply.body + reply.body_size, wanted - reply.body_size);
        if (count <= 0)
            return reply;
        reply.body_size += (size_t)count;
    }
    reply.status = atoi(reply.head + strlen("HTTP/1.1 "));
    reply.closes = strcasestr(reply.head, "\r\nconnection: close") != NULL;
    return reply;
}

static inline bool send_post(struct client *client, const char *path, struct text body)
{
    char head[256];
    snprintf(head, sizeof head,
             "POST %s HTTP/1.1\r\nHost: taffrail.svc:443\r\nContent-Type: application/json\r\n"
             "Content-Length: %zu\r\n\r\n",
             path, body.size);
    return client_print(client, head) && client_send(client, body.data, body.size);
}

static inline struct reply post(struct client *client, const char *path, struct text body)
{
    if (!send_post(client, path, body)) {
        struct reply none = {0};
        return none;
    }
    return client_receive(client);
}

/* True when the server closes within limit_ms. Meanwhile sends one of bytes every gap_ms, as long
 * as there are some. */
static inline bool closes_within(struct client *client, const char *bytes, int gap_ms,
                                 int64_t limit_ms)
{
    int64_t end = monotonic_ms() + limit_ms;
    while (monotonic_ms() < end) {
        struct pollfd input = {.fd = client->fd, .events = POLLIN};
        if (poll(&input, 1, gap_ms) > 0) {
            char byte;
            if (client_read(client, &byte, 1) <= 0)
                return true;
        } else if (*bytes != '\0') {
            if (!client_send(client, bytes, 1))
                return true;
            bytes++;
        }
    }
    return false;
}

static inline void assert_good_request(const struct fixture *fixture)
{
    char expected[128];
    struct client client = open_client(fixture);
    struct reply reply = post(&client, "/validate", TEXT("good"));
    ASSERT_INT(reply.status, 200);
    ASSERT_TEXT(expected_answer(expected, sizeof expected, REVIEW_VALIDATE, TEXT("good")),
                reply.body);
    client_hang_up(&client);
}

static inline struct reply get(const struct fixture *fixture, const char *path)
{
    char request[128];
    struct client client = {.fd = connect_to(fixture->ops_port)};
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    CU_ASSERT(client_print(&client, request));
    struct reply reply = client_receive(&client);
    client_hang_up(&client);
    return reply;
}

/* The value of a series in /metrics; -1: absent. */
static inline double metric(const struct fixture *fixture, const char *series)
{
    char line[256];
    struct reply reply = get(fixture, "/metrics");
    snprintf(line, sizeof line, "\n%s ", series);
    const char *found = strstr(reply.body, line);
    return found == NULL ? -1 : strtod(found + strlen(line), NULL);
}

#endif
