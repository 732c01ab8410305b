/* labels: threads */
/* Requests as no API server sends them: which are refused, with what status and words. */
#include "server_fixture.h"

#include <sched.h>

#include "server/http.h"

#define BODY_LIMIT ((size_t)1000)

#define HEAD(line, fields) line " HTTP/1.1\r\nHost: x\r\n" fields "\r\n"
#define JSON "Content-Type: application/json\r\n"
#define ONE "Content-Length: 1\r\n"
#define NO_PATH "there are two paths: POST /validate and POST /mutate\n"
#define NO_TYPE "Content-Type must be application/json\n"
#define NO_LENGTH "there must be one Content-Length, of digits\n"

static void odd_requests_are_refused(void)
{
    static const struct {
        const char *sent;
        int status;
        const char *said; /* NULL: whatever it is */
    } cases[] = {
        {HEAD("POST /validate", JSON ONE) "x", 200, NULL},
        {HEAD("POST /mutate?timeout=10s", JSON ONE) "x", 200, NULL},
        {HEAD("POST /validate?a=/mutate", JSON ONE) "x", 200, NULL},
        {HEAD("POST /", JSON ONE) "x", 404, NO_PATH},
        {HEAD("POST /validate/", JSON ONE) "x", 404, NO_PATH},
        {HEAD("POST /Validate", JSON ONE) "x", 404, NO_PATH},
        {HEAD("POST /%76alidate", JSON ONE) "x", 404, NO_PATH},
        {HEAD("POST /validate/mutate", JSON ONE) "x", 404, NO_PATH},
        {HEAD("GET /validate", ""), 405, "the method must be POST\n"},
        {HEAD("PUT /mutate", JSON ONE) "x", 405, "the method must be POST\n"},
        {HEAD("GET /", ""), 404, NO_PATH},
        {HEAD("POST /validate", JSON), 411, "send Content-Length\n"},
        {HEAD("POST /validate", JSON ONE ONE) "x", 400, NULL},
        {HEAD("POST /validate", JSON "Content-Length: +1\r\n") "x", 400, NULL},
        {HEAD("POST /validate", JSON "Content-Length: 1x\r\n") "x", 400, NULL},
        {HEAD("POST /validate", JSON "Content-Length: 0x1\r\n") "x", 400, NULL},
        {HEAD("POST /validate", JSON "Transfer-Encoding: chunked\r\n") "1\r\nx\r\n0\r\n\r\n", 400,
         "Transfer-Encoding is not taken; send Content-Length\n"},
        {HEAD("POST /validate", JSON ONE "Transfer-Encoding: identity\r\n") "x", 400, NULL},
        {HEAD("POST /validate", JSON ONE "Host: y\r\n") "x", 400, "there must be one Host\n"},
        {"POST /validate HTTP/1.0\r\n" JSON ONE "\r\nx", 400, "there must be one Host\n"},
        {HEAD("POST /validate", JSON ONE "X y: z\r\n") "x", 400, NULL},
        {HEAD("POST /validate", ONE) "x", 415, NO_TYPE},
        {HEAD("POST /validate", ONE "Content-Type: text/plain\r\n") "x", 415, NO_TYPE},
        {HEAD("POST /validate", ONE "Content-Type: application/jso\r\n") "x", 415, NO_TYPE},
        {HEAD("POST /validate", ONE "Content-Type: application/jsonx\r\n") "x", 415, NO_TYPE},
        {HEAD("POST /validate", ONE "Content-Type: application/json-seq\r\n") "x", 415, NO_TYPE},
        {HEAD("POST /validate", JSON JSON ONE) "x", 415, NO_TYPE},
        {HEAD("POST /validate", ONE "Content-Type: application/json; charset=utf-8\r\n") "x", 200,
         NULL},
        {HEAD("POST /validate", ONE "Content-Type: application/json;x\r\n") "x", 200, NULL},
        {HEAD("POST /validate", ONE "content-type: APPLICATION/JSON\r\n") "x", 200, NULL},
        {HEAD("POST /validate", JSON "CONTENT-LENGTH: 01\r\n") "x", 200, NULL},
    };
    struct fixture fixture = start((struct server_options){.body_limit_bytes = BODY_LIMIT});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client client = open_client(&fixture);
        CU_ASSERT(client_print(&client, cases[i].sent));
        struct reply reply = client_receive(&client);
        if (reply.status != cases[i].status)
            fprintf(stderr, "%s\n", cases[i].sent);
        ASSERT_INT(reply.status, cases[i].status);
        if (cases[i].said != NULL)
            ASSERT_TEXT(text_of(reply.body), cases[i].said);
        CU_ASSERT_EQUAL(strcasestr(reply.head, "\r\nallow: POST\r\n") != NULL,
                        cases[i].status == 405);
        CU_ASSERT_PTR_NULL(strcasestr(reply.head, "\r\nretry-after:"));
        client_hang_up(&client);
    }
    stop(&fixture);
}

/* A body that is too large is read all the same, so that the reply arrives, and the connection
 * stays; one that is much too large is not. */
static void too_large_bodies_are_read_up_to_four_times_the_limit(void)
{
    static const struct {
        size_t size;
        int status;
        bool read; /* to its end */
    } cases[] = {
        {BODY_LIMIT, 200, true},         {BODY_LIMIT + 1, 413, true},
        {4 * BODY_LIMIT + 3, 413, true}, {4 * BODY_LIMIT + 4, 413, false},
        {40 * BODY_LIMIT, 413, false},
    };
    static char body[40 * BODY_LIMIT];
    memset(body, 'x', sizeof body);
    struct fixture fixture = start((struct server_options){.body_limit_bytes = BODY_LIMIT});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client client = open_client(&fixture);
        char head[256];
        snprintf(head, sizeof head, HEAD("POST /validate", JSON "Content-Length: %zu\r\n"),
                 cases[i].size);
        CU_ASSERT(client_print(&client, head));
        if (cases[i].read)
            CU_ASSERT(client_send(&client, body, cases[i].size));
        struct reply reply = client_receive(&client);
        ASSERT_INT(reply.status, cases[i].status);
        if (cases[i].status == 413)
            ASSERT_TEXT(text_of(reply.body), "the body is larger than this server reads\n");
        if (cases[i].read)
            ASSERT_INT(post(&client, "/validate", TEXT("x")).status, 200);
        else
            CU_ASSERT(closes_within(&client, "", 10, 10000));
        client_hang_up(&client);
    }
    ASSERT_INT(metric(&fixture, "taffrail_requests_refused_total{reason=\"too_large\"}"), 4);
    stop(&fixture);
}

/* Before its body has come: in its lane, and among those that may be ended for others. */
static void a_request_is_large_by_its_announced_length(void)
{
    static const struct {
        size_t announced;
        enum lane_name lane;
    } cases[] = {{SMALL_BODY_BYTES, LANE_SMALL}, {SMALL_BODY_BYTES + 1, LANE_LARGE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture = start((struct server_options){0});
        struct client client = open_client(&fixture);
        struct lane *lanes = fixture.server->load_limits.lanes;
        char head[256];
        snprintf(head, sizeof head, HEAD("POST /validate", JSON "Content-Length: %zu\r\n"),
                 cases[i].announced);
        CU_ASSERT(client_print(&client, head));
        const int64_t end_ms = monotonic_ms() + 20000;
        while (atomic_load(&lanes[cases[i].lane].body_bytes.used) == 0 && monotonic_ms() < end_ms)
            sched_yield();
        CU_ASSERT(atomic_load(&lanes[cases[i].lane].body_bytes.used) > 0);
        ASSERT_INT(atomic_load(&fixture.server->connections.items[0].large),
                   cases[i].lane == LANE_LARGE);
        client_hang_up(&client);
        stop(&fixture);
    }
}

/* More than a socket keeps, at a client that reads in its own time: it arrives whole. */
static void a_long_answer_arrives_whole(void)
{
    static char buffer[64 << 10], body[1 << 20] = "long"; /* its size gives it memory enough */
    struct fixture fixture = start((struct server_options){0});
    struct client client = open_client(&fixture);
    CU_ASSERT(send_post(&client, "/validate", (struct text){body, sizeof body}));
    size_t head_size = 0, total = 0;
    char head[1024] = "";
    while (strstr(head, "\r\n\r\n") == NULL && head_size < sizeof head - 1)
        CU_ASSERT_FATAL(client_read(&client, head + head_size++, 1) == 1);
    while (total < LONG_ANSWER_BYTES) {
        ssize_t count = client_read(&client, buffer, sizeof buffer);
        if (count <= 0)
            break;
        total += (size_t)count;
    }
    ASSERT_INT(total, LONG_ANSWER_BYTES);
    ASSERT_INT(post(&client, "/validate", TEXT("x")).status, 200);
    client_hang_up(&client);
    stop(&fixture);
}

const char unit_suite[] = "server/requests";
const struct unit_test unit_tests[] = {
    {"odd requests are refused", odd_requests_are_refused},
    {"too large bodies are read up to four times the limit",
     too_large_bodies_are_read_up_to_four_times_the_limit},
    {"a request is large by its announced length", a_request_is_large_by_its_announced_length},
    {"a long answer arrives whole", a_long_answer_arrives_whole},
    {NULL, NULL},
};
