#include <stdio.h>
#include <string.h>

#include "server/http.h"

/* The ops port: plain HTTP for the kubelet and for Prometheus. Every reply closes its connection,
 * and the janitor ends what takes longer than a request may, so that nobody can keep the probes
 * out. */

enum { METRICS_BYTES = 8 << 20 };

struct page {
    unsigned status;
    const char *content_type;
    struct text body;
};

static const char plain[] = "text/plain; charset=utf-8";

/* Alive while it can answer at all: restarting it mends no API server and no policy. */
static void livez(struct connection *connection, struct arena *arena, struct page *page)
{
    (void)connection, (void)arena;
    *page = (struct page){200, plain, TEXT("ok\n")};
}

static void readyz(struct connection *connection, struct arena *arena, struct page *page)
{
    struct server *server = connection->server;
    if (atomic_load(&server->draining)) {
        *page = (struct page){503, plain, TEXT("draining\n")};
        return;
    }
    const struct world *world = cell_pin(server->world, connection->index);
    uint64_t generation = world->generation;
    int64_t loaded_unix_s = world->loaded_unix_s;
    cell_unpin(server->world, connection->index);
    *page = (struct page){200, plain,
                          arena_printf(arena, "ok\nworld generation %llu, loaded at %lld\n",
                                       (unsigned long long)generation, (long long)loaded_unix_s)};
}

static void metrics(struct connection *connection, struct arena *arena, struct page *page)
{
    *page = (struct page){200, "text/plain; version=0.0.4; charset=utf-8",
                          metrics_text(connection->server->metrics, arena)};
}

static const struct {
    const char *path;
    void (*print)(struct connection *connection, struct arena *arena, struct page *page);
} pages[] = {
    {"/livez", livez},
    {"/readyz", readyz},
    {"/metrics", metrics},
};

struct printing {
    struct connection *connection;
    struct arena *arena;
    const char *url, *method;
    struct page page;
};

static void print_page(void *argument)
{
    struct printing *printing = argument;
    if (strcmp(printing->method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(printing->method, MHD_HTTP_METHOD_HEAD) != 0) {
        printing->page = (struct page){405, plain, TEXT("the method must be GET\n")};
        return;
    }
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(printing->url, pages[i].path) == 0) {
            pages[i].print(printing->connection, printing->arena, &printing->page);
            return;
        }
    printing->page =
        (struct page){404, plain, TEXT("there are three paths: /livez, /readyz and /metrics\n")};
}

static enum MHD_Result reply(struct MHD_Connection *mhd, const struct page *page)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        page->body.size, (void *)page->body.data, MHD_RESPMEM_MUST_COPY);
    if (response == NULL)
        return MHD_NO;
    enum MHD_Result result =
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, page->content_type);
    if (result == MHD_YES)
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (result == MHD_YES && page->status == 405)
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (result == MHD_YES)
        result = MHD_queue_response(mhd, page->status, response);
    MHD_destroy_response(response);
    return result;
}

enum MHD_Result ops_handle(void *closure, struct MHD_Connection *mhd, const char *url,
                           const char *method, const char *version, const char *upload_data,
                           size_t *upload_data_size, void **context)
{
    (void)closure, (void)version, (void)upload_data, (void)upload_data_size, (void)context;
    struct printing printing = {
        .connection =
            MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context,
        .arena = arena_create(METRICS_BYTES),
        .url = url,
        .method = method,
    };
    struct error error;
    enum MHD_Result result = MHD_NO;
    if (printing.connection != NULL && printing.arena != NULL) {
        if (!arena_guard(printing.arena, print_page, &printing, &error))
            printing.page = (struct page){500, plain, text_of(error.what)};
        result = reply(mhd, &printing.page);
    }
    arena_destroy(printing.arena);
    return result;
}
