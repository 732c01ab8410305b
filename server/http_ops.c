/* The ops port: /livez, /readyz, /metrics. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "server/cluster_status.h"
#include "server/http.h"
#include "server/metric_table.h"
#include "server/reports.h"
#include "server/webhook_manager.h"

/* Plain HTTP for the kubelet and for Prometheus. Every reply closes its connection, and the janitor
 * ends what takes longer than a request may, so nobody can block the probes. */

enum { METRICS_BYTES = 8 << 20 };

struct page {
    unsigned status;
    const char *content_type;
    struct text body;
};

/* A page in progress. */
struct printing {
    struct connection *connection;
    struct arena *arena;
    const char *url, *method;
    bool verbose;
    struct page page;
};

static const char plain[] = "text/plain; charset=utf-8";

/* Alive while it can answer at all: a restart repairs no API server and no policy. */
static void livez(struct printing *printing)
{
    printing->page = (struct page){200, plain, TEXT("ok\n")};
}

void server_set_reload_failure(struct server *server, enum reload_subject subject,
                               const char *failure, int64_t failed_unix_s)
{
    pthread_mutex_lock(&server->failures_mutex);
    char *what = server->failures[subject].what;
    snprintf(what, RELOAD_FAILURE_BYTES, "%s", failure == NULL ? "" : failure);
    server->failures[subject].unix_s = failed_unix_s;
    pthread_mutex_unlock(&server->failures_mutex);
    metrics_set_reload_failing(server->metrics, subject, failure != NULL);
}

static void add_time(struct text_builder *out, time_t unix_s)
{
    struct tm utc;
    char text[32] = "?";
    if (gmtime_r(&unix_s, &utc) != NULL)
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    text_builder_printf(out, "%s", text);
}

static void add_failures(struct server *server, struct text_builder *out)
{
    static const char *const subjects[RELOAD_SUBJECT_COUNT] = {
        [RELOAD_WORLD] = "",
        [RELOAD_CERTIFICATE] = "certificate ",
    };
    for (enum reload_subject subject = 0; subject < RELOAD_SUBJECT_COUNT; subject++) {
        char what[RELOAD_FAILURE_BYTES];
        pthread_mutex_lock(&server->failures_mutex);
        memcpy(what, server->failures[subject].what, sizeof what);
        int64_t unix_s = server->failures[subject].unix_s;
        pthread_mutex_unlock(&server->failures_mutex);
        if (what[0] == '\0')
            continue;
        text_builder_printf(out, "; last %sreload failed ", subjects[subject]);
        add_time(out, unix_s);
        text_builder_add(out, TEXT(": "));
        text_builder_add_line(out, text_of(what));
    }
}

/* Ready with the last good world, even if the last reload failed; and without a first look at the
 * cluster, once the wait for it is over. *why says what it waits for. */
static bool is_ready(const struct server *server, struct arena *arena, struct text *why)
{
    if (atomic_load(&server->draining)) {
        *why = TEXT("draining\n");
        return false;
    }
    if (server->status != NULL && cluster_status_is_waiting(server->status)) {
        *why = TEXT("waiting for a first look at the cluster\n");
        return false;
    }
    return server->webhook_manager_status == NULL ||
           webhook_manager_status_is_ready(server->webhook_manager_status, arena, why);
}

static void readyz(struct printing *printing)
{
    struct page *page = &printing->page;
    struct connection *connection = printing->connection;
    struct server *server = connection->server;
    *page = (struct page){503, plain, TEXT("")};
    if (!is_ready(server, printing->arena, &page->body))
        return;
    const struct world *world = cell_pin(server->world, connection->index);
    uint64_t generation = world->generation;
    int64_t loaded_unix_s = world->loaded_unix_s;
    cell_unpin(server->world, connection->index);
    struct text_builder out = {.arena = printing->arena};
    text_builder_printf(&out, "ok, world %llu loaded ", (unsigned long long)generation);
    add_time(&out, loaded_unix_s);
    add_failures(server, &out);
    if (server->status != NULL)
        cluster_status_add_line(server->status, monotonic_ms(), &out);
    if (server->webhook_manager_status != NULL)
        webhook_manager_status_add_line(server->webhook_manager_status, &out);
    if (server->reports_status != NULL)
        reports_status_add_line(server->reports_status, &out);
    text_builder_add(&out, TEXT("\n"));
    if (server->status != NULL && printing->verbose)
        cluster_status_add_kinds(server->status, monotonic_ms(), &out);
    *page = (struct page){200, plain, text_builder_text(&out)};
}

static void metrics(struct printing *printing)
{
    struct server *server = printing->connection->server;
    size_t body_bytes = 0;
    for (enum lane_name name = LANE_SMALL; name < LANE_COUNT; name++)
        body_bytes += atomic_load(&server->load_limits.lanes[name].body_bytes.used);
    metrics_set_body_bytes_in_flight(server->metrics, body_bytes);
    struct text_builder out = {.arena = printing->arena};
    struct text why;
    text_builder_add(&out, metrics_text(server->metrics, printing->arena));
    metric_one(&out, METRIC_READY, is_ready(server, printing->arena, &why));
    if (server->status != NULL)
        cluster_status_add_metrics(server->status, monotonic_ms(), &out);
    if (server->webhook_manager_status != NULL)
        webhook_manager_status_add_metrics(server->webhook_manager_status, &out);
    if (server->reports_status != NULL)
        reports_status_add_metrics(server->reports_status, &out);
    printing->page =
        (struct page){200, "text/plain; version=0.0.4; charset=utf-8", text_builder_text(&out)};
}

static const struct {
    const char *path;
    void (*print)(struct printing *printing);
} pages[] = {
    {"/livez", livez},
    {"/readyz", readyz},
    {"/metrics", metrics},
};

static void print_page(void *argument)
{
    struct printing *printing = argument;
    if (strcmp(printing->method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(printing->method, MHD_HTTP_METHOD_HEAD) != 0) {
        printing->page = (struct page){405, plain, TEXT("the method must be GET\n")};
        return;
    }
    for (size_t i = 0; i < COUNT_OF(pages); i++)
        if (strcmp(printing->url, pages[i].path) == 0) {
            pages[i].print(printing);
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
        .verbose = MHD_lookup_connection_value_n(mhd, MHD_GET_ARGUMENT_KIND, "verbose",
                                                 strlen("verbose"), NULL, NULL) == MHD_YES,
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
