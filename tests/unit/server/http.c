/* labels: threads */
/* HTTPS connections, TLS versions, and the ops port. */
#include "server_fixture.h"

static void posts_are_answered_on_one_connection(void)
{
    static const size_t sizes[] = {0, 1, 5973, 16384, 16385, 20571, 300000, 4, 1 << 20, 5973};
    struct fixture fixture = start((struct server_options){0});
    struct client client = open_client(&fixture);
    char *body = malloc(1 << 20);
    for (size_t i = 0; i < 1 << 20; i++)
        body[i] = (char)('a' + i * 7 % 26);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char expected[128];
        struct text text = {body, sizes[i]};
        bool mutates = i % 2 == 1;
        struct reply reply = post(&client, mutates ? "/mutate?timeout=10s" : "/validate", text);
        ASSERT_INT(reply.status, 200);
        ASSERT_TEXT(expected_answer(expected, sizeof expected, mutates, text), reply.body);
        CU_ASSERT(strcasestr(reply.head, "\r\ncontent-type: application/json\r\n") != NULL);
        CU_ASSERT(!reply.closes);
    }
    free(body);
    client_hang_up(&client);
    stop(&fixture);
}

static void only_modern_tls_is_spoken(void)
{
    static const struct {
        const char *priority;
        bool served;
    } cases[] = {
        {"NORMAL:-VERS-ALL:+VERS-TLS1.3", true},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2", true},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.1", false},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.0", false},
    };
    struct fixture fixture = start((struct server_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client client;
        bool opened = client_connect(&fixture, cases[i].priority, &client);
        ASSERT_INT(opened, cases[i].served);
        if (!opened)
            continue;
        ASSERT_INT(post(&client, "/validate", TEXT("x")).status, 200);
        client_hang_up(&client);
    }
    stop(&fixture);
}

static void what_cannot_be_judged_gets_a_reason(void)
{
    struct fixture fixture = start((struct server_options){.body_limit_bytes = 1000});
    struct client client = open_client(&fixture);
    struct reply reply = post(&client, "/validate", TEXT("bad"));
    ASSERT_INT(reply.status, 400);
    ASSERT_TEXT(text_of(reply.body), "the body is bad\n");
    reply = post(&client, "/validate", TEXT("greedy"));
    ASSERT_INT(reply.status, 413);
    CU_ASSERT(reply.body_size > 10 && reply.body[reply.body_size - 1] == '\n');
    CU_ASSERT(!reply.closes);
    static char large[1001];
    memset(large, 'x', sizeof large);
    reply = post(&client, "/validate", (struct text){large, 1001});
    ASSERT_INT(reply.status, 413);
    reply = post(&client, "/validate", (struct text){large, 1000});
    ASSERT_INT(reply.status, 200);
    ASSERT_INT(metric(&fixture, "taffrail_requests_refused_total{reason=\"malformed\"}"), 1);
    ASSERT_INT(metric(&fixture, "taffrail_requests_refused_total{reason=\"too_large\"}"), 2);
    client_hang_up(&client);
    stop(&fixture);
}

static void expecting_clients_are_told_before_the_body(void)
{
    struct fixture fixture = start((struct server_options){.body_limit_bytes = 1000});
    static const struct {
        const char *length;
        int status;
    } cases[] = {{"4", 100}, {"1001", 413}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client client = open_client(&fixture);
        char head[256], first[13] = "";
        snprintf(head, sizeof head,
                 "POST /validate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                 "Expect: 100-continue\r\nContent-Length: %s\r\n\r\n",
                 cases[i].length);
        CU_ASSERT(client_print(&client, head));
        for (size_t size = 0; size < 12; size++)
            CU_ASSERT_FATAL(client_read(&client, first + size, 1) == 1);
        ASSERT_INT(atoi(first + strlen("HTTP/1.1 ")), cases[i].status);
        if (cases[i].status == 100) {
            char rest[13];
            for (size_t size = 0; size < strlen(" Continue\r\n\r\n"); size++)
                CU_ASSERT_FATAL(client_read(&client, rest, 1) == 1);
            CU_ASSERT(client_print(&client, "body"));
            ASSERT_INT(client_receive(&client).status, 200);
        }
        client_hang_up(&client);
    }
    stop(&fixture);
}

static void ops_port_tells_how_it_goes(void)
{
    struct fixture fixture = start((struct server_options){0});
    assert_good_request(&fixture);
    static const struct {
        const char *path;
        int status;
        const char *body; /* its beginning */
    } cases[] = {
        {"/livez", 200, "ok\n"},
        {"/readyz", 200, "ok, world 7 loaded 2026-11-06T21:20:00Z\n"},
        {"/metrics", 200, "# HELP taffrail_reviews_total "},
        {"/", 404, "there are three paths"},
        {"/livez/", 404, "there are three paths"},
        {"/validate", 404, "there are three paths"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reply reply = get(&fixture, cases[i].path);
        ASSERT_INT(reply.status, cases[i].status);
        CU_ASSERT(text_starts_with(text_of(reply.body), text_of(cases[i].body)));
        CU_ASSERT(reply.closes);
    }
    ASSERT_INT(metric(&fixture, "taffrail_reviews_total{phase=\"validate\",operation=\"CREATE\","
                                "kind=\"Pod\",verdict=\"none\"}"),
               1);
    ASSERT_INT(metric(&fixture, "taffrail_request_body_bytes_total"), 4);
    ASSERT_INT(metric(&fixture, "taffrail_reviews_in_flight"), 0);
    CU_ASSERT(metric(&fixture, "taffrail_certificate_not_after_timestamp_seconds") >
              (double)time(NULL));
    stop(&fixture);
}

static void a_failed_reload_is_one_line_of_readyz(void)
{
    struct fixture fixture = start((struct server_options){0});
    static const char ready[] = "ok, world 7 loaded 2026-11-06T21:20:00Z";
    static const struct {
        const char *world, *certificate, *line;
    } cases[] = {
        {"a.yaml:1:2: no\n\x7f\x1brail~", NULL,
         "; last reload failed 2026-11-06T21:20:01Z: a.yaml:1:2: no   rail~\n"},
        {"x", "no key",
         "; last reload failed 2026-11-06T21:20:01Z: x; last certificate reload "
         "failed 2026-11-06T21:20:02Z: no key\n"},
        {NULL, NULL, "\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512];
        server_set_reload_failure(fixture.server, RELOAD_WORLD, cases[i].world, 1794000001);
        server_set_reload_failure(fixture.server, RELOAD_CERTIFICATE, cases[i].certificate,
                                  1794000002);
        snprintf(line, sizeof line, "%s%s", ready, cases[i].line);
        ASSERT_TEXT(text_of(get(&fixture, "/readyz").body), line);
        ASSERT_INT(metric(&fixture, "taffrail_reload_failing{what=\"world\"}"),
                   cases[i].world != NULL);
        ASSERT_INT(metric(&fixture, "taffrail_reload_failing{what=\"certificate\"}"),
                   cases[i].certificate != NULL);
    }
    stop(&fixture);
}

/* What libmicrohttpd has to say of a client that speaks no TLS is in the log, a line of its own. */
static void the_library_speaks_in_the_log(void)
{
    struct fixture fixture = start((struct server_options){0});
    char path[] = "/tmp/taffrail-log-XXXXXX";
    int writer = mkstemp(path), standard_error = dup(STDERR_FILENO);
    FILE *log = fopen(path, "r");
    CU_ASSERT_FATAL(writer >= 0 && log != NULL);
    unlink(path);
    dup2(writer, STDERR_FILENO);
    close(writer);
    struct client client = {.fd = connect_to(fixture.port)};
    CU_ASSERT(client_print(&client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    char line[1024] = "";
    for (const int64_t end = monotonic_ms() + 10000;
         strstr(line, "libmicrohttpd") == NULL && monotonic_ms() < end;) {
        if (fgets(line, sizeof line, log) == NULL)
            clearerr(log);
    }
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    CU_ASSERT(strstr(line, "\"component\":\"libmicrohttpd\"}\n") != NULL);
    CU_ASSERT(strstr(line, "\"level\":\"info\"") != NULL);
    CU_ASSERT(strstr(line, "\"msg\":\"\"") == NULL);
    client_hang_up(&client);
    fclose(log);
    stop(&fixture);
}

static void addresses_are_checked(void)
{
    static const struct {
        const char *listen;
        enum error_kind kind; /* ERROR_NONE: it works */
    } cases[] = {
        {"127.0.0.1:0", ERROR_NONE},
        {"[::1]:0", ERROR_NONE},
        {":0", ERROR_NONE},
        {"0.0.0.0:0", ERROR_NONE},
        {"127.0.0.1", ERROR_USAGE},
        {"", ERROR_USAGE},
        {"127.0.0.1:", ERROR_USAGE},
        {"127.0.0.1:65536", ERROR_USAGE},
        {"127.0.0.1:-1", ERROR_USAGE},
        {"127.0.0.1:+80", ERROR_USAGE},
        {"::1:8443", ERROR_USAGE},
        {"localhost:0", ERROR_USAGE},
        {"127.0.0.1:http", ERROR_USAGE},
        {"192.0.2.1:0", ERROR_IO},
    };
    struct fixture fixture = start((struct server_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct server_options options = fixture.options;
        struct error error = {0};
        struct server *server = NULL;
        options.listen = cases[i].listen;
        options.ops_listen = NULL;
        bool started =
            server_open(&options, fixture.cell, &server, &error) && server_start(server, &error);
        ASSERT_INT(error.kind, cases[i].kind);
        ASSERT_INT(started, cases[i].kind == ERROR_NONE);
        if (started) {
            CU_ASSERT(server_port(server) != 0);
            ASSERT_INT(server_ops_port(server), 0);
            server_drain(server, 0, 1000);
        }
    }
    /* A port that is taken. */
    char taken[32];
    struct server_options options = fixture.options;
    struct error error = {0};
    struct server *server = NULL;
    snprintf(taken, sizeof taken, "127.0.0.1:%u", fixture.port);
    options.ops_listen = taken;
    CU_ASSERT(!server_open(&options, fixture.cell, &server, &error));
    ASSERT_INT(error.kind, ERROR_IO);
    CU_ASSERT(strstr(error.what, taken) != NULL);
    stop(&fixture);
}

static void certificate_that_cannot_serve_is_refused(void)
{
    struct fixture fixture = start((struct server_options){0});
    struct server_options options = fixture.options;
    struct error error = {0};
    struct server *server = NULL;
    options.certificate.key = fixture.ca.key;
    CU_ASSERT(!server_open(&options, fixture.cell, &server, &error));
    ASSERT_INT(error.kind, ERROR_TLS);
    stop(&fixture);
}

const char unit_suite[] = "server/http";
const struct unit_test unit_tests[] = {
    {"posts are answered on one connection", posts_are_answered_on_one_connection},
    {"only modern TLS is spoken", only_modern_tls_is_spoken},
    {"what cannot be judged gets a reason", what_cannot_be_judged_gets_a_reason},
    {"expecting clients are told before the body", expecting_clients_are_told_before_the_body},
    {"the ops port tells how it goes", ops_port_tells_how_it_goes},
    {"a failed reload is one line of readyz", a_failed_reload_is_one_line_of_readyz},
    {"the library speaks in the log", the_library_speaks_in_the_log},
    {"addresses are checked", addresses_are_checked},
    {"a certificate that cannot serve is refused", certificate_that_cannot_serve_is_refused},
    {NULL, NULL},
};
