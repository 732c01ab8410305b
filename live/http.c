/* Runs the state machines over HTTP, all on one thread. HTTP/1.1, a connection a kind, so a dead
 * connection affects no other kind. */
#include "live/http.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/version.h"
#include "live/watch.h"

enum {
    CONNECT_S = 10,
    RUN_MAX_MS = 1000000,
    LOOK_MS = 5000, /* how often to check the kubeconfig */
};

struct transfer {
    struct exchange exchange;
    struct client *client;
    enum kind kind;
    struct watcher *watcher;
    CURL *easy;
    struct curl_slist *headers;
    bool active, head_told;
    bool paused; /* until there is memory for its bytes */
    char failure[CURL_ERROR_SIZE];
};

/* ---- opening ---- */

bool client_open(const struct client_config *config, int64_t (*now_ms)(void),
                 struct client **result, struct error *error)
{
    struct client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "memory ran out");
    client->now_ms = now_ms == NULL ? monotonic_ms : now_ms;
    client->multi = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_multi_init() : NULL;
    if (client->multi == NULL) {
        free(client);
        return error_set(error, ERROR_MEMORY, NOWHERE, "memory ran out");
    }
    if (!endpoint_open(config, &client->endpoint, error)) {
        client_close(client);
        return false;
    }
    client->look_at_ms = client->now_ms() + LOOK_MS;
    if (config->insecure)
        log_line(LOG_WARN, "client", NULL, NULL,
                 "insecure-skip-tls-verify: nobody checks that this is the API server");
    *result = client;
    return true;
}

void client_close(struct client *client)
{
    if (client == NULL)
        return;
    for (size_t kind = 0; kind < KIND_COUNT; kind++)
        client_unwatch(client, (enum kind)kind);
    client_drop_calls(client);
    if (client->multi != NULL)
        curl_multi_cleanup(client->multi);
    endpoint_close(&client->endpoint);
    free(client);
}

bool client_watch(struct client *client, enum kind kind, const struct watch_settings *settings,
                  const struct event_handler *handler, struct error *error)
{
    if (client->transfers[kind] != NULL)
        return error_set(error, ERROR_USAGE, NOWHERE, "%s are watched already",
                         kind_table[kind].plural);
    struct transfer *transfer = calloc(1, sizeof *transfer);
    if (transfer != NULL)
        *transfer = (struct transfer){.client = client,
                                      .kind = kind,
                                      .watcher = watcher_create(kind, settings, handler),
                                      .easy = curl_easy_init()};
    if (transfer == NULL || transfer->watcher == NULL || transfer->easy == NULL) {
        if (transfer != NULL) {
            watcher_destroy(transfer->watcher);
            curl_easy_cleanup(transfer->easy);
        }
        free(transfer);
        return error_set(error, ERROR_MEMORY, NOWHERE, "memory ran out");
    }
    client->transfers[kind] = transfer;
    return true;
}

void client_unwatch(struct client *client, enum kind kind)
{
    struct transfer *transfer = client->transfers[kind];
    if (transfer == NULL)
        return;
    if (transfer->active)
        curl_multi_remove_handle(client->multi, transfer->easy);
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    watcher_destroy(transfer->watcher);
    free(transfer);
    client->transfers[kind] = NULL;
}

/* ---- one request ---- */

static void tell_head(struct transfer *transfer)
{
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    if (transfer->head_told || status < 200)
        return;
    transfer->head_told = true;
    watcher_head(transfer->watcher, transfer->client->now_ms(), (unsigned)status);
}

/* A quiet watch sends its head, and no byte of a body for a minute. */
static size_t take_header(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    tell_head(context);
    return size * count;
}

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    tell_head(transfer);
    struct text bytes = {data, size * count};
    bool go_on = watcher_bytes(transfer->watcher, transfer->client->now_ms(), bytes);
    transfer->paused = go_on && watcher_waits(transfer->watcher) &&
                       curl_easy_pause(transfer->easy, CURLPAUSE_RECV) == CURLE_OK;
    return go_on ? bytes.size : bytes.size + 1; /* any other number aborts, also for no bytes */
}

bool http_add_header(struct curl_slist **headers, const char *header)
{
    struct curl_slist *longer = curl_slist_append(*headers, header);
    if (longer == NULL)
        return false;
    *headers = longer;
    return true;
}

/* Of config.impersonation, a line each. */
static bool add_lines(struct curl_slist **headers, struct text lines)
{
    for (bool more = lines.size > 0; more;) {
        struct text line = lines;
        more = text_split(lines, '\n', &line, &lines);
        char *header = text_duplicate(line);
        bool done = header != NULL && http_add_header(headers, header);
        free(header);
        if (!done)
            return false;
    }
    return true;
}

static bool add_headers(struct client *client, const char *accept, struct curl_slist **headers)
{
    const char *token = token_now(&client->endpoint.token);
    bool done = http_add_header(headers, accept) &&
                add_lines(headers, client->endpoint.config.impersonation);
    if (token == NULL || !done)
        return done;
    char *header = NULL;
    done = asprintf(&header, "Authorization: Bearer %s", token) >= 0 &&
           http_add_header(headers, header);
    free(header);
    return done;
}

/* A missing option, or lack of memory, shows as a request that fails. */
bool http_prepare(struct client *client, CURL *easy, const char *path, const char *accept,
                  struct curl_slist **headers)
{
    const struct endpoint *endpoint = &client->endpoint;
    const struct client_config *config = &endpoint->config;
    char *url = NULL;
    curl_easy_reset(easy);
    if (!add_headers(client, accept, headers) || asprintf(&url, "%s%s", endpoint->base, path) < 0)
        return false;
    bool done = curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
                curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
    free(url);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, taffrail_user_agent);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, config->insecure ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, config->insecure ? 0L : 2L);
    /* A given CA must be the only one: libcurl would add the system's. */
    if (endpoint->ca_path != NULL)
        done &= curl_easy_setopt(easy, CURLOPT_CAINFO, endpoint->ca_path) == CURLE_OK &&
                curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075700
    /* Each connection reads the file again: libcurl would keep what it has read for a day. */
    curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
    if (endpoint->certificate_path != NULL)
        done &= curl_easy_setopt(easy, CURLOPT_SSLCERT, endpoint->certificate_path) == CURLE_OK;
    if (endpoint->key_path != NULL)
        done &= curl_easy_setopt(easy, CURLOPT_SSLKEY, endpoint->key_path) == CURLE_OK;
    if (endpoint->connect_to != NULL)
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, endpoint->connect_to);
    /* Set even when there is none, so that libcurl does not read the environment by other rules. */
    done &= curl_easy_setopt(easy, CURLOPT_PROXY, endpoint->proxy) == CURLE_OK &&
            curl_easy_setopt(easy, CURLOPT_NOPROXY, "") == CURLE_OK;
    if (config->username.size > 0) {
        done &= curl_easy_setopt(easy, CURLOPT_USERNAME, config->username.data) == CURLE_OK &&
                curl_easy_setopt(easy, CURLOPT_PASSWORD, config->password.data) == CURLE_OK;
    }
    return done;
}

static const char *accept_of(const struct watch_step *step)
{
    if (!step->metadata)
        return HTTP_ACCEPT_JSON;
    return step->stream ? HTTP_ACCEPT_PARTIAL("PartialObjectMetadata")
                        : HTTP_ACCEPT_PARTIAL("PartialObjectMetadataList");
}

static bool write_options(struct transfer *transfer, const struct watch_step *step)
{
    CURL *easy = transfer->easy;
    curl_slist_free_all(transfer->headers);
    transfer->headers = NULL;
    if (!http_prepare(transfer->client, easy, step->path, accept_of(step), &transfer->headers))
        return false;
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    /* Those of a proxy are not the API server's. */
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer->exchange);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->failure);
    /* A compressed watch can be several gzip members, which libcurl does not support. */
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers) == CURLE_OK &&
           (step->stream || curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip") == CURLE_OK);
}

static void send_request(struct transfer *transfer, const struct watch_step *step)
{
    struct client *client = transfer->client;
    transfer->head_told = transfer->paused = false;
    transfer->failure[0] = '\0';
    transfer->active = write_options(transfer, step) &&
                       curl_multi_add_handle(client->multi, transfer->easy) == CURLM_OK;
    if (!transfer->active)
        watcher_end(transfer->watcher, client->now_ms(), "the request could not be made", 0);
}

static void finish(struct transfer *transfer, CURLcode code)
{
    struct client *client = transfer->client;
    tell_head(transfer);
    curl_off_t retry_after_s = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    curl_multi_remove_handle(client->multi, transfer->easy);
    transfer->active = false;
    const char *failure = NULL;
    if (code != CURLE_OK)
        failure = transfer->failure[0] != '\0' ? transfer->failure : curl_easy_strerror(code);
    watcher_end(transfer->watcher, client->now_ms(), failure, (int64_t)retry_after_s);
}

/* ---- all of them ---- */

/* A paused request goes on when others have released memory. */
static void go_on(struct transfer *transfer)
{
    if (transfer->active && transfer->paused && !watcher_waits(transfer->watcher)) {
        transfer->paused = false;
        curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
    }
}

/* The time until which this kind has nothing to do. */
static int64_t step_on(struct transfer *transfer)
{
    struct client *client = transfer->client;
    for (;;) {
        struct watch_step step;
        watcher_next(transfer->watcher, client->now_ms(), &step);
        if (step.kind == WATCH_WAIT)
            return step.until_ms;
        if (step.kind == WATCH_SEND) {
            send_request(transfer, &step);
        } else if (transfer->active) {
            curl_multi_remove_handle(client->multi, transfer->easy);
            transfer->active = false;
        }
    }
}

static void take_finished(struct client *client)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(client->multi, &left)) != NULL;) {
        struct exchange *exchange = NULL;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE ||
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange) != CURLE_OK)
            continue;
        if (exchange->is_call)
            calls_finish((struct call *)exchange, code);
        else
            finish((struct transfer *)exchange, code);
    }
}

/* The credentials may have changed: new requests use the new ones, and watches are asked for again.
 */
static void look_at_config(struct client *client)
{
    int64_t now_ms = client->now_ms();
    if (now_ms < client->look_at_ms || client->calls != NULL)
        return;
    client->look_at_ms = now_ms + LOOK_MS;
    if (!endpoint_renew(&client->endpoint))
        return;
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        struct transfer *transfer = client->transfers[kind];
        if (transfer == NULL || !transfer->active)
            continue;
        curl_multi_remove_handle(client->multi, transfer->easy);
        transfer->active = false;
        watcher_ask_again(transfer->watcher, now_ms);
    }
}

void client_list_again(struct client *client, enum kind kind)
{
    struct transfer *transfer = client->transfers[kind];
    struct watch_report report;
    if (transfer == NULL)
        return;
    watcher_report(transfer->watcher, client->now_ms(), &report);
    if (transfer->active && report.watching) {
        curl_multi_remove_handle(client->multi, transfer->easy);
        transfer->active = false;
        watcher_list_again(transfer->watcher, client->now_ms());
    }
}

bool client_run(struct client *client, int64_t for_ms, struct error *error)
{
    look_at_config(client);
    int64_t end_ms = client->now_ms() + (for_ms < RUN_MAX_MS ? for_ms : RUN_MAX_MS);
    for (;;) {
        int running;
        CURLMcode code = curl_multi_perform(client->multi, &running);
        take_finished(client);
        int64_t until_ms = end_ms;
        for (size_t kind = 0; kind < KIND_COUNT; kind++) {
            if (client->transfers[kind] != NULL)
                go_on(client->transfers[kind]);
            int64_t step_ms =
                client->transfers[kind] == NULL ? end_ms : step_on(client->transfers[kind]);
            until_ms = step_ms < until_ms ? step_ms : until_ms;
        }
        int64_t wait_ms = until_ms - client->now_ms();
        if (atomic_exchange(&client->woken, false) || client->now_ms() >= end_ms)
            return true;
        if (code == CURLM_OK)
            code = curl_multi_poll(client->multi, NULL, 0, wait_ms > 0 ? (int)wait_ms : 0, NULL);
        if (code != CURLM_OK)
            return error_set(error, ERROR_IO, NOWHERE, "%s", curl_multi_strerror(code));
    }
}

void client_wake(struct client *client)
{
    atomic_store(&client->woken, true);
    curl_multi_wakeup(client->multi);
}

bool client_report(const struct client *client, enum kind kind, struct watch_report *report)
{
    if (client->transfers[kind] == NULL)
        return false;
    watcher_report(client->transfers[kind]->watcher, client->now_ms(), report);
    return true;
}
