/* labels: threads */
/* Documents of the web, from a server in this program: whole, or not at all and with the reason. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/fetch.h"
#include "unit.h"

const char unit_suite[] = "fetch";

/* ---- the server ---- */

enum { ATTEMPTS = 3, LIMIT_BYTES = 20 };

/* Of a path. location: after a slash on this server. first: answers that come before it. */
static const struct page {
    const char *path, *status, *location, *body;
    int length; /* that is told; 0: the body's */
    int first_failures;
} pages[] = {
    {"/good", "200 OK", NULL, "kind: Pod", 0, 0},
    {"/empty", "200 OK", NULL, "", 0, 0},
    {"/moved", "302 Found", "/moved-again", "this is not it", 0, 0},
    {"/moved-again", "301 Moved Permanently", "/good", "", 0, 0},
    {"/round", "302 Found", "/round", "", 0, 0},
    {"/elsewhere", "302 Found", "ftp://127.0.0.1/good", "", 0, 0},
    {"/missing", "404 Not Found", NULL, "no such page", 0, 0},
    {"/broken", "503 Service Unavailable", NULL, "", 0, 0},
    {"/recovers", "200 OK", NULL, "kind: Node", 0, ATTEMPTS - 1},
    {"/large", "200 OK", NULL, "more than twenty bytes", 0, 0},
    {"/just-small-enough", "200 OK", NULL, "exactly twenty bytes", 0, 0},
    {"/cut", "200 OK", NULL, "kind: ", 15, 0},
};

static int listener;
static unsigned port;
static pthread_t thread;
static atomic_int asked[COUNT_OF(pages)];

static void answer(int connection, const char *request)
{
    char head[512], path[64] = "";
    size_t i = 0;
    sscanf(request, "GET %63s", path);
    while (i < COUNT_OF(pages) && strcmp(pages[i].path, path) != 0)
        i++;
    if (i == COUNT_OF(pages))
        return;
    const struct page *page = &pages[i];
    bool fails = atomic_fetch_add(&asked[i], 1) < page->first_failures;
    size_t length = fails ? 0 : page->length > 0 ? (size_t)page->length : strlen(page->body);
    int size =
        snprintf(head, sizeof head, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n",
                 fails ? "500 Internal Server Error" : page->status, length);
    if (page->location != NULL)
        size +=
            snprintf(head + size, sizeof head - (size_t)size, "Location: %s\r\n", page->location);
    size += snprintf(head + size, sizeof head - (size_t)size, "\r\n%s", fails ? "" : page->body);
    (void)!send(connection, head, (size_t)size, MSG_NOSIGNAL);
}

static void *serve(void *context)
{
    (void)context;
    for (int connection; (connection = accept(listener, NULL, NULL)) >= 0;) {
        char request[2048];
        size_t size = 0;
        request[0] = '\0';
        for (ssize_t count = 1; count > 0 && strstr(request, "\r\n\r\n") == NULL;) {
            count = recv(connection, request + size, sizeof request - 1 - size, 0);
            size += count > 0 ? (size_t)count : 0;
            request[size] = '\0';
        }
        answer(connection, request);
        close(connection);
    }
    return NULL;
}

static void begin(void)
{
    static const char *const proxies[] = {"HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    for (size_t i = 0; i < COUNT_OF(proxies); i++)
        unsetenv(proxies[i]);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_FATAL(listener >= 0 && bind(listener, (void *)&address, size) == 0 &&
                    listen(listener, 8) == 0);
    CU_ASSERT_FATAL(getsockname(listener, (void *)&address, &size) == 0);
    port = ntohs(address.sin_port);
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, serve, NULL) == 0);
}

static void end(void)
{
    shutdown(listener, SHUT_RDWR); /* which ends accept() */
    CU_ASSERT_FATAL(pthread_join(thread, NULL) == 0);
    close(listener);
}

static int times_asked(const char *path)
{
    for (size_t i = 0; i < COUNT_OF(pages); i++)
        if (strcmp(pages[i].path, path) == 0)
            return atomic_load(&asked[i]);
    return -1;
}

/* ---- the tests ---- */

static void documents_are_whole_or_have_a_reason(void)
{
    static const struct {
        const char *path, *body; /* NULL: there is none */
        const char *error;
        int asked; /* how often */
    } cases[] = {
        {"/good", "kind: Pod", NULL, 1},
        {"/empty", "", NULL, 1},
        {"/moved", "kind: Pod", NULL, 1},
        {"/round", NULL, "it is redirected again and again", 11},
        {"/elsewhere", NULL, "cannot be fetched: ", 1},
        {"/missing", NULL, "the server answers 404", 1},
        {"/broken", NULL, "the server answers 503", ATTEMPTS},
        {"/recovers", "kind: Node", NULL, ATTEMPTS},
        {"/large", NULL, "it is too large", 1},
        {"/just-small-enough", "exactly twenty bytes", NULL, 1},
        {"/cut", NULL, "cannot be fetched: ", 1},
    };
    struct arena *arena = arena_create(1 << 20);
    begin();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *address =
            arena_printf(arena, "http://127.0.0.1:%u%s", port, cases[i].path).data;
        struct text body = TEXT("untouched");
        struct error error = {0};
        CU_ASSERT(is_web_address(address));
        bool fetched = web_fetch(address, LIMIT_BYTES, arena, &body, &error);
        CU_ASSERT_EQUAL(fetched, cases[i].body != NULL);
        if (cases[i].body != NULL) {
            ASSERT_TEXT(body, cases[i].body);
        } else {
            ASSERT_INT(error.kind, ERROR_IO);
            ASSERT_TEXT(text_of(error.place.file), address);
            CU_ASSERT(strstr(error.what, cases[i].error) != NULL);
            ASSERT_TEXT(body, "untouched");
        }
        ASSERT_INT(times_asked(cases[i].path), cases[i].asked);
    }
    end();
    arena_destroy(arena);
}

static void where_nobody_answers_is_told(void)
{
    static const char *const wrong[] = {"http://", "http://a:port/"};
    struct arena *arena = arena_create(1 << 20);
    struct text body;
    struct error error = {0};
    begin();
    end(); /* so that nobody listens at the port */
    const char *address = arena_printf(arena, "http://127.0.0.1:%u/good", port).data;
    CU_ASSERT(!web_fetch(address, LIMIT_BYTES, arena, &body, &error));
    ASSERT_INT(error.kind, ERROR_IO);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        CU_ASSERT(!web_fetch(wrong[i], LIMIT_BYTES, arena, &body, &error));
        CU_ASSERT(strstr(error.what, "it is no address of the web") != NULL);
    }
    CU_ASSERT(!is_web_address("http.yaml") && !is_web_address("ftp://a"));
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"documents are whole, or have a reason", documents_are_whole_or_have_a_reason},
    {"where nobody answers is told", where_nobody_answers_is_told},
    {NULL, NULL},
};
