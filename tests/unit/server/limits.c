/* labels: threads */
/* Limits of connections: slow, silent and idle clients. */
#include "server/http.h"
#include "server_fixture.h"

static void drips_are_ended(void)
{
    static const char head[] =
        "POST /validate HTTP/1.1\r\nHost: x\r\nX-Filler: "
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const char body_head[] = "POST /validate HTTP/1.1\r\nHost: x\r\n"
                                    "Content-Type: application/json\r\nContent-Length: 400\r\n\r\n";
    enum { GAP_MS = 50, LIMIT_MS = 12000 };
    struct fixture fixture = start((struct server_options){.request_timeout_s = 1});
    const int64_t began = monotonic_ms();
    struct client client = open_client(&fixture);
    CU_ASSERT(closes_within(&client, head, GAP_MS, LIMIT_MS));
    CU_ASSERT(monotonic_ms() - began >= 1000);
    client_hang_up(&client);

    client = open_client(&fixture);
    CU_ASSERT(client_print(&client, body_head));
    CU_ASSERT(closes_within(&client, head, GAP_MS, LIMIT_MS));
    client_hang_up(&client);

    /* The second request of a connection, after one that was fine. */
    client = open_client(&fixture);
    ASSERT_INT(post(&client, "/validate", TEXT("good")).status, 200);
    CU_ASSERT(closes_within(&client, head, GAP_MS, LIMIT_MS));
    client_hang_up(&client);

    /* A client that never begins its handshake, or never ends it. */
    client = (struct client){.fd = connect_to(fixture.port)};
    CU_ASSERT(closes_within(&client, "", GAP_MS, LIMIT_MS));
    client_hang_up(&client);
    client = (struct client){.fd = connect_to(fixture.port)};
    CU_ASSERT(closes_within(&client, "\x16\x03\x01\x02\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01",
                            GAP_MS, LIMIT_MS));
    client_hang_up(&client);
    CU_ASSERT(metric(&fixture, "taffrail_requests_refused_total{reason=\"malformed\"}") >= 4);
    assert_good_request(&fixture);
    stop(&fixture);
}

static void idle_connections_are_kept(void)
{
    struct fixture fixture = start((struct server_options){.request_timeout_s = 1});
    struct client unused = open_client(&fixture), used = open_client(&fixture);
    ASSERT_INT(post(&used, "/validate", TEXT("x")).status, 200);
    /* Longer than a request may take: neither waits for one that has begun. TLS 1.3's session
     * tickets may arrive, so what is read is thrown away. */
    CU_ASSERT(!closes_within(&used, "", 100, 2600));
    ASSERT_INT(post(&used, "/validate", TEXT("x")).status, 200);
    ASSERT_INT(post(&unused, "/validate", TEXT("x")).status, 200);
    client_hang_up(&used);
    client_hang_up(&unused);
    stop(&fixture);
}

/* A server whose connections are all in use, and were busy less than a second ago when one more
 * came: whether that one was let in. On a slow machine a connection may be idle for longer before
 * the last one is open; then it begins anew. */
static bool fill_table(struct fixture *fixture, struct client *clients, unsigned limit)
{
    for (;;) {
        *fixture = start((struct server_options){.connection_limit = limit});
        const int64_t began = monotonic_ms();
        for (unsigned i = 0; i < limit; i++) {
            clients[i] = open_client(fixture);
            ASSERT_INT(post(&clients[i], "/validate", TEXT("x")).status, 200);
        }
        struct client more;
        const int64_t asked = monotonic_ms();
        bool admitted = client_connect(fixture, "NORMAL", &more);
        CU_ASSERT(monotonic_ms() - asked < 5000); /* not left hanging */
        if (!admitted || monotonic_ms() - began < 1000)
            return admitted;
        client_hang_up(&more);
        for (unsigned i = 0; i < limit; i++)
            client_hang_up(&clients[i]);
        stop(fixture);
    }
}

static void full_table_lets_in_who_is_not_idle(void)
{
    enum { LIMIT = 4 };
    struct fixture fixture;
    struct client clients[LIMIT], more;
    CU_ASSERT_FALSE_FATAL(fill_table(&fixture, clients, LIMIT));
    ASSERT_INT(metric(&fixture, "taffrail_requests_refused_total{reason=\"overload\"}"), 1);
    /* The others stay busy; the first becomes the one that is idle for the longest time. */
    bool admitted = false;
    for (int64_t end = monotonic_ms() + 10000; !admitted && monotonic_ms() < end;) {
        for (size_t i = 1; i < LIMIT; i++)
            ASSERT_INT(post(&clients[i], "/validate", TEXT("x")).status, 200);
        admitted = client_connect(&fixture, "NORMAL", &more);
    }
    CU_ASSERT_FATAL(admitted);
    ASSERT_INT(post(&more, "/validate", TEXT("x")).status, 200);
    for (size_t i = 1; i < LIMIT; i++)
        ASSERT_INT(post(&clients[i], "/validate", TEXT("x")).status, 200);
    CU_ASSERT(closes_within(&clients[0], "", 10, 10000));
    client_hang_up(&more);
    for (size_t i = 0; i < LIMIT; i++)
        client_hang_up(&clients[i]);
    stop(&fixture);
}

/* Clients that connect and say nothing, not even a handshake. */
static void silent_clients_make_room(void)
{
    enum { LIMIT = 8 };
    struct fixture fixture = start((struct server_options){.connection_limit = LIMIT});
    struct client silent[LIMIT], good;
    for (size_t i = 0; i < LIMIT; i++)
        silent[i] = (struct client){.fd = connect_to(fixture.port)};
    bool admitted = false;
    for (const int64_t end = monotonic_ms() + 10000; !admitted && monotonic_ms() < end;)
        admitted = client_connect(&fixture, "NORMAL", &good);
    CU_ASSERT_FATAL(admitted); /* long before their requests are late */
    ASSERT_INT(post(&good, "/validate", TEXT("x")).status, 200);
    CU_ASSERT(closes_within(&silent[0], "", 10, 10000));
    client_hang_up(&good);
    for (size_t i = 0; i < LIMIT; i++)
        client_hang_up(&silent[i]);
    stop(&fixture);
}

/* Those who have proved themselves stay, while others come and lead nowhere. */
static void unfinished_handshakes_go_before_idle_connections(void)
{
    enum { LIMIT = 32, KEPT = 8, SILENT = 100 };
    struct fixture fixture = start((struct server_options){.connection_limit = LIMIT});
    struct client kept[KEPT], silent[SILENT];
    for (size_t i = 0; i < KEPT; i++) {
        kept[i] = open_client(&fixture);
        ASSERT_INT(post(&kept[i], "/validate", TEXT("x")).status, 200);
    }
    CU_ASSERT(!closes_within(&kept[0], "", 10, 1500)); /* from now on it might go */
    for (size_t i = 0; i < SILENT; i++)
        silent[i] = (struct client){.fd = connect_to(fixture.port)};
    for (size_t i = 0; i < KEPT; i++) {
        assert_good_request(&fixture); /* on a connection of its own */
        ASSERT_INT(post(&kept[i], "/validate", TEXT("x")).status, 200);
    }
    CU_ASSERT(closes_within(&silent[0], "", 10, 10000));
    for (size_t i = 0; i < SILENT; i++)
        client_hang_up(&silent[i]);
    for (size_t i = 0; i < KEPT; i++)
        client_hang_up(&kept[i]);
    stop(&fixture);
}

/* In a table of which much is free, too. */
static void handshakes_have_three_seconds(void)
{
    struct fixture fixture = start((struct server_options){0});
    struct client silent = {.fd = connect_to(fixture.port)};
    const int64_t began = monotonic_ms();
    CU_ASSERT(closes_within(&silent, "\x16\x03\x01\x02", 100, 10000));
    CU_ASSERT(monotonic_ms() - began >= 2900);
    client_hang_up(&silent);
    assert_good_request(&fixture);
    stop(&fixture);
}

/* A request that does not come to its end makes room as idle connections do, but not in its first
 * second while a place is free; one that is judged stays. */
static void slow_requests_make_room(void)
{
    enum { LIMIT = 8, SLOW = 5 }; /* a place is left */
    static const char head[] = "POST /validate HTTP/1.1\r\nHost: x\r\n"
                               "Content-Type: application/json\r\nContent-Length: 4\r\n\r\n";
    struct fixture fixture = start((struct server_options){.connection_limit = LIMIT});
    struct client slow[SLOW], judged = open_client(&fixture), good;
    close_gate();
    CU_ASSERT(client_print(&judged, head) && client_print(&judged, "slow"));
    await_at_gate(1);
    const int64_t began = monotonic_ms();
    for (size_t i = 0; i < SLOW; i++) {
        slow[i] = open_client(&fixture);
        /* Once it is answered, the server has ended the handshake, too: who has not goes first. */
        ASSERT_INT(post(&slow[i], "/validate", TEXT("x")).status, 200);
        CU_ASSERT(client_print(&slow[i], head));
    }
    bool admitted = false;
    while (!admitted && monotonic_ms() < began + 10000)
        admitted = client_connect(&fixture, "NORMAL", &good);
    CU_ASSERT_FATAL(admitted);
    ASSERT_INT(post(&good, "/validate", TEXT("x")).status, 200);
    CU_ASSERT(closes_within(&slow[0], "", 10, 10000));
    CU_ASSERT(monotonic_ms() - began >= 900);
    open_gate();
    ASSERT_INT(client_receive(&judged).status, 200);
    client_hang_up(&good);
    client_hang_up(&judged);
    for (size_t i = 0; i < SLOW; i++)
        client_hang_up(&slow[i]);
    stop(&fixture);
}

/* An address is told from others, an IPv6 network from others, and IPv4 written as IPv6 is IPv4. */
static void sources_are_told_apart(void)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"::ffff:10.0.0.1", "::ffff:10.0.0.1", true},
        {"::ffff:10.0.0.1", "::ffff:10.0.0.2", false},
        {"2001:db8::1", "2001:db8::2", true},
        {"2001:db8::1", "2001:db8:0:1::1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sockaddr_in6 a = {.sin6_family = AF_INET6}, b = a;
        CU_ASSERT(inet_pton(AF_INET6, cases[i].a, &a.sin6_addr) == 1 &&
                  inet_pton(AF_INET6, cases[i].b, &b.sin6_addr) == 1);
        bool same =
            connection_source((struct sockaddr *)&a) == connection_source((struct sockaddr *)&b);
        ASSERT_INT(same, cases[i].same);
    }
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    CU_ASSERT(inet_pton(AF_INET, "10.0.0.1", &v4.sin_addr) == 1 &&
              inet_pton(AF_INET6, "::ffff:10.0.0.1", &v6.sin6_addr) == 1);
    ASSERT_INT(connection_source((struct sockaddr *)&v4),
               connection_source((struct sockaddr *)&v6));
}

static void await_count(const struct fixture *fixture, const char *series)
{
    const int64_t end = monotonic_ms() + 20000;
    while (metric(fixture, series) < 1 && monotonic_ms() < end)
        sched_yield();
    ASSERT_INT(metric(fixture, series), 1);
}

static void a_review_ends_with_its_caller(void)
{
    struct fixture fixture = start((struct server_options){0});
    struct client late = open_client(&fixture), gone = open_client(&fixture);
    const int64_t began_ms = monotonic_ms();
    struct reply reply = post(&late, "/validate?timeout=1s", TEXT("endless"));
    ASSERT_INT(reply.status, 503);
    CU_ASSERT(monotonic_ms() - began_ms >= 500);
    ASSERT_INT(metric(&fixture, "taffrail_requests_refused_total{reason=\"timeout\"}"), 1);
    ASSERT_INT(metric(&fixture, "taffrail_review_limits_total{limit=\"timeout\",verdict=\"none\"}"),
               1);
    ASSERT_INT(post(&late, "/validate", TEXT("x")).status, 200);

    /* Without a timeout it would never end. */
    CU_ASSERT(send_post(&gone, "/validate", TEXT("endless")));
    client_hang_up(&gone);
    await_count(&fixture, "taffrail_requests_refused_total{reason=\"client_gone\"}");
    ASSERT_INT(
        metric(&fixture, "taffrail_review_limits_total{limit=\"client_gone\",verdict=\"none\"}"),
        1);
    client_hang_up(&late);
    stop(&fixture);
}

/* ---- who is gone ---- */

static void stay(int ours, int theirs)
{
    (void)ours, (void)theirs;
}

/* As the janitor does to an idle connection, on which a request may have come meanwhile. */
static void read_no_more(int ours, int theirs)
{
    (void)theirs;
    shutdown(ours, SHUT_RD);
}

static void write_no_more(int ours, int theirs)
{
    (void)ours;
    shutdown(theirs, SHUT_WR);
}

static void hang_up(int ours, int theirs)
{
    (void)ours;
    close(theirs);
}

static void reset(int ours, int theirs)
{
    const struct linger at_once = {.l_onoff = 1};
    (void)setsockopt(theirs, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    hang_up(ours, theirs);
}

static bool gone_within(int fd, int64_t limit_ms)
{
    const int64_t end = monotonic_ms() + limit_ms;
    while (!peer_is_gone(fd) && monotonic_ms() < end)
        sched_yield();
    return peer_is_gone(fd);
}

static void a_peer_is_gone_that_ended_the_connection(void)
{
    static const struct {
        void (*happens)(int ours, int theirs);
        bool gone, keeps; /* its end open */
    } cases[] = {
        {stay, false, true},    {read_no_more, false, true}, {write_no_more, true, true},
        {hang_up, true, false}, {reset, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof address;
        int listener = socket(AF_INET, SOCK_STREAM, 0);
        CU_ASSERT_FATAL(bind(listener, (struct sockaddr *)&address, size) == 0 &&
                        listen(listener, 1) == 0 &&
                        getsockname(listener, (struct sockaddr *)&address, &size) == 0);
        int theirs = connect_to(ntohs(address.sin_port));
        int ours = accept(listener, NULL, NULL);
        CU_ASSERT_FATAL(theirs >= 0 && ours >= 0);
        cases[i].happens(ours, theirs);
        ASSERT_INT(gone_within(ours, cases[i].gone ? 20000 : 100), cases[i].gone);
        if (cases[i].keeps)
            close(theirs);
        close(ours);
        close(listener);
    }
    CU_ASSERT_FALSE(peer_is_gone(-1));
}

const char unit_suite[] = "server/limits";
const struct unit_test unit_tests[] = {
    {"drips are ended", drips_are_ended},
    {"idle connections are kept", idle_connections_are_kept},
    {"a full table lets in who is not idle", full_table_lets_in_who_is_not_idle},
    {"silent clients make room", silent_clients_make_room},
    {"unfinished handshakes go before idle connections",
     unfinished_handshakes_go_before_idle_connections},
    {"handshakes have three seconds", handshakes_have_three_seconds},
    {"slow requests make room", slow_requests_make_room},
    {"a review ends with its caller", a_review_ends_with_its_caller},
    {"a peer is gone that ended the connection", a_peer_is_gone_that_ended_the_connection},
    {"sources are told apart", sources_are_told_apart},
    {NULL, NULL},
};
