/* Runs the state machines over HTTP, all on one thread. HTTP/1.1, a connection a kind: one that is
 * dead takes no other kind with it. */
#include "kube/client/http.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kube/client/watch.h"

enum { CONFIG_BYTES = 16 << 20, CONNECT_S = 10, RUN_MAX_MS = 1000000 };

struct transfer {
    struct exchange exchange;
    struct client *client;
    enum kind kind;
    struct watcher *watcher;
    CURL *easy;
    struct curl_slist *headers;
    bool active, head_told;
    char failure[CURL_ERROR_SIZE];
};

static int64_t system_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- opening ---- */

static void copy_config(void *context)
{
    struct client *client = context;
    struct client_config *c = &client->config;
    struct text *texts[] = {&c->server,           &c->namespace,       &c->ca_file,  &c->ca_pem,
                            &c->certificate_file, &c->certificate_pem, &c->key_file, &c->key_pem,
                            &c->token_file,       &c->token,           &c->username, &c->password,
                            &c->tls_server_name,  &c->proxy_url};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        *texts[i] = arena_text(client->arena, *texts[i]);
    client->base = c->server.data;
}

/* libcurl takes files; what a kubeconfig holds itself becomes one that has no name. */
static bool open_pem(struct client *client, size_t slot, struct text file, struct text pem,
                     const char **path, struct error *error)
{
    *path = file.size > 0 ? file.data : NULL;
    if (*path != NULL || pem.size == 0)
        return true;
    int fd = client->pem_fds[slot] = memfd_create("pem", MFD_CLOEXEC);
    if (fd < 0 || write(fd, pem.data, pem.size) != (ssize_t)pem.size)
        return error_set(error, ERROR_IO, NOWHERE, "a certificate cannot be put into memory");
    *path = arena_printf(client->arena, "/proc/self/fd/%d", fd).data;
    return true;
}

/* The URL has the name that the certificate must have; the connection goes to the server. */
static bool rename_server(struct client *client, CURLU *url, const char *host, const char *port,
                          struct error *error)
{
    char *renamed = NULL;
    struct text to = arena_printf(client->arena, "::%s:%s", host, port);
    client->connect_to = curl_slist_append(NULL, to.data);
    bool done =
        client->connect_to != NULL &&
        curl_url_set(url, CURLUPART_HOST, client->config.tls_server_name.data, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_URL, &renamed, 0) == CURLUE_OK;
    if (done) {
        struct text base = text_of(renamed);
        while (text_ends_with(base, TEXT("/")))
            base.size--;
        client->base = arena_text(client->arena, base).data;
    }
    curl_free(renamed);
    return done || error_set(error, ERROR_INPUT, NOWHERE, "tls-server-name is no host name");
}

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
           strncmp(host, "127.", 4) == 0;
}

static bool check_server(struct client *client, struct error *error)
{
    const struct client_config *config = &client->config;
    CURLU *url = curl_url();
    char *host = NULL, *port = NULL, *scheme = NULL;
    bool done = url != NULL &&
                curl_url_set(url, CURLUPART_URL, config->server.data, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK;
    bool secret =
        config->token.size > 0 || config->token_file.size > 0 || config->password.size > 0;
    if (!done)
        error_set(error, ERROR_INPUT, NOWHERE, "\"%.200s\" is no address of an API server",
                  config->server.data);
    else if (strcmp(scheme, "https") != 0 && secret && !is_loopback(host))
        done =
            error_set(error, ERROR_INPUT, NOWHERE,
                      "%.200s: a token or password is sent over https only", config->server.data);
    else if (config->tls_server_name.size > 0)
        done = rename_server(client, url, host, port, error);
    curl_free(host);
    curl_free(port);
    curl_free(scheme);
    curl_url_cleanup(url);
    return done;
}

bool client_open(const struct client_config *config, int64_t (*now_ms)(void),
                 struct client **result, struct error *error)
{
    struct client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "memory ran out");
    client->config = *config;
    client->now_ms = now_ms == NULL ? system_now_ms : now_ms;
    memset(client->pem_fds, -1, sizeof client->pem_fds);
    client->arena = arena_create(CONFIG_BYTES);
    bool done = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && client->arena != NULL &&
                (client->multi = curl_multi_init()) != NULL;
    if (!done)
        error_set(error, ERROR_MEMORY, NOWHERE, "memory ran out");
    const struct client_config *own = &client->config;
    done = done && arena_guard(client->arena, copy_config, client, error) &&
           check_server(client, error) &&
           open_pem(client, 0, own->ca_file, own->ca_pem, &client->ca_path, error) &&
           open_pem(client, 1, own->certificate_file, own->certificate_pem,
                    &client->certificate_path, error) &&
           open_pem(client, 2, own->key_file, own->key_pem, &client->key_path, error);
    if (!done) {
        client_close(client);
        return false;
    }
    token_init(&client->token, own->token_file.data, own->token.data);
    if (own->insecure)
        log_line(LOG_WARN, "client", NULL, NULL,
                 "insecure-skip-tls-verify: nobody checks that this is the API server");
    *result = client;
    return true;
}

void client_close(struct client *client)
{
    if (client == NULL)
        return;
    for (size_t kind = 0; kind < KIND_COUNT; kind++) {
        struct transfer *transfer = client->transfers[kind];
        if (transfer == NULL)
            continue;
        if (transfer->active)
            curl_multi_remove_handle(client->multi, transfer->easy);
        curl_easy_cleanup(transfer->easy);
        curl_slist_free_all(transfer->headers);
        watcher_destroy(transfer->watcher);
        free(transfer);
    }
    calls_drop(client);
    if (client->multi != NULL)
        curl_multi_cleanup(client->multi);
    curl_slist_free_all(client->connect_to);
    for (size_t i = 0; i < 3; i++)
        if (client->pem_fds[i] >= 0)
            close(client->pem_fds[i]);
    token_free(&client->token);
    arena_destroy(client->arena);
    free(client);
}

bool client_watch(struct client *client, enum kind kind, const struct watch_settings *settings,
                  const struct watch_sink *sink, struct error *error)
{
    if (client->transfers[kind] != NULL)
        return error_set(error, ERROR_USAGE, NOWHERE, "%s are watched already",
                         kind_table[kind].plural);
    struct transfer *transfer = calloc(1, sizeof *transfer);
    if (transfer != NULL)
        *transfer = (struct transfer){.client = client,
                                      .kind = kind,
                                      .watcher = watcher_create(kind, settings, sink),
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

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    tell_head(transfer);
    struct text bytes = {data, size * count};
    bool go_on = watcher_bytes(transfer->watcher, transfer->client->now_ms(), bytes);
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

static bool add_headers(struct client *client, struct curl_slist **headers)
{
    const char *token = token_now(&client->token);
    bool done = http_add_header(headers, "Accept: application/json");
    if (token == NULL || !done)
        return done;
    char *header = NULL;
    done = asprintf(&header, "Authorization: Bearer %s", token) >= 0 &&
           http_add_header(headers, header);
    free(header);
    return done;
}

/* Options that are not there, or memory that runs out, show as a request that fails. */
bool http_prepare(struct client *client, CURL *easy, const char *path, struct curl_slist **headers)
{
    const struct client_config *config = &client->config;
    char *url = NULL;
    curl_easy_reset(easy);
    if (!add_headers(client, headers) || asprintf(&url, "%s%s", client->base, path) < 0)
        return false;
    bool done = curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
                curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
    free(url);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "taffrail/" TAFFRAIL_VERSION);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, config->insecure ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, config->insecure ? 0L : 2L);
    if (client->ca_path != NULL)
        done &= curl_easy_setopt(easy, CURLOPT_CAINFO, client->ca_path) == CURLE_OK;
    if (client->certificate_path != NULL)
        done &= curl_easy_setopt(easy, CURLOPT_SSLCERT, client->certificate_path) == CURLE_OK;
    if (client->key_path != NULL)
        done &= curl_easy_setopt(easy, CURLOPT_SSLKEY, client->key_path) == CURLE_OK;
    if (client->connect_to != NULL)
        curl_easy_setopt(easy, CURLOPT_CONNECT_TO, client->connect_to);
    if (config->proxy_url.size > 0)
        done &= curl_easy_setopt(easy, CURLOPT_PROXY, config->proxy_url.data) == CURLE_OK;
    if (config->username.size > 0) {
        done &= curl_easy_setopt(easy, CURLOPT_USERNAME, config->username.data) == CURLE_OK &&
                curl_easy_setopt(easy, CURLOPT_PASSWORD, config->password.data) == CURLE_OK;
    }
    return done;
}

static bool write_options(struct transfer *transfer, const struct watch_step *step)
{
    CURL *easy = transfer->easy;
    curl_slist_free_all(transfer->headers);
    transfer->headers = NULL;
    if (!http_prepare(transfer->client, easy, step->path, &transfer->headers))
        return false;
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer->exchange);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->failure);
    /* A compressed watch can be one of several gzip members, which libcurl does not follow. */
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers) == CURLE_OK &&
           (step->stream || curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip") == CURLE_OK);
}

static void send_request(struct transfer *transfer, const struct watch_step *step)
{
    struct client *client = transfer->client;
    transfer->head_told = false;
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

/* Until when this kind has nothing to do by itself. */
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

bool client_run(struct client *client, int64_t for_ms, struct error *error)
{
    int64_t end_ms = client->now_ms() + (for_ms < RUN_MAX_MS ? for_ms : RUN_MAX_MS);
    for (;;) {
        int running;
        CURLMcode code = curl_multi_perform(client->multi, &running);
        take_finished(client);
        int64_t until_ms = end_ms;
        for (size_t kind = 0; kind < KIND_COUNT; kind++) {
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
