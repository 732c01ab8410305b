/* The address of the API server, for libcurl. */
#include "live/endpoint.h"

#include "live/exec_credential.h"
#include "live/proxy.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFIG_BYTES = 16 << 20 };

static const size_t texts[] = {
    offsetof(struct client_config, server),
    offsetof(struct client_config, namespace),
    offsetof(struct client_config, ca_file),
    offsetof(struct client_config, ca_pem),
    offsetof(struct client_config, certificate_file),
    offsetof(struct client_config, certificate_pem),
    offsetof(struct client_config, key_file),
    offsetof(struct client_config, key_pem),
    offsetof(struct client_config, token_file),
    offsetof(struct client_config, token),
    offsetof(struct client_config, username),
    offsetof(struct client_config, password),
    offsetof(struct client_config, tls_server_name),
    offsetof(struct client_config, proxy_url),
    offsetof(struct client_config, impersonation),
    offsetof(struct client_config, origin),
    offsetof(struct client_config, kubeconfig),
    offsetof(struct client_config, context),
};

static struct text *text_in(struct client_config *config, size_t offset)
{
    return (struct text *)(void *)((char *)config + offset);
}

static bool same_config(struct client_config *a, struct client_config *b)
{
    bool same = a->insecure == b->insecure;
    for (size_t i = 0; same && i < COUNT_OF(texts); i++)
        same = text_equal(*text_in(a, texts[i]), *text_in(b, texts[i]));
    return same;
}

static void copy_config(void *context)
{
    struct endpoint *endpoint = context;
    struct client_config *c = &endpoint->config;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct text *text = text_in(c, texts[i]);
        *text = arena_text(endpoint->arena, *text);
    }
    endpoint->base = c->server.data;
}

/* libcurl wants files; data inside a kubeconfig goes to a file without a name. */
static bool open_pem(struct endpoint *endpoint, size_t slot, struct text file, struct text pem,
                     const char **path, struct error *error)
{
    *path = file.size > 0 ? file.data : NULL;
    if (*path != NULL || pem.size == 0)
        return true;
    int fd = endpoint->pem_fds[slot] = memfd_create("pem", MFD_CLOEXEC);
    if (fd < 0 || write(fd, pem.data, pem.size) != (ssize_t)pem.size)
        return error_set(error, ERROR_IO, NOWHERE, "a certificate cannot be put into memory");
    *path = arena_printf(endpoint->arena, "/proc/self/fd/%d", fd).data;
    return true;
}

/* The URL has the name of the certificate; the connection goes to the server's address. */
static bool rename_server(struct endpoint *endpoint, CURLU *url, const char *host, const char *port,
                          struct error *error)
{
    char *renamed = NULL;
    struct text to = arena_printf(endpoint->arena, "::%s:%s", host, port);
    endpoint->connect_to = curl_slist_append(NULL, to.data);
    bool done =
        endpoint->connect_to != NULL &&
        curl_url_set(url, CURLUPART_HOST, endpoint->config.tls_server_name.data, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_URL, &renamed, 0) == CURLUE_OK;
    if (done) {
        struct text base = text_of(renamed);
        while (text_ends_with(base, TEXT("/")))
            base.size--;
        endpoint->base = arena_text(endpoint->arena, base).data;
    }
    curl_free(renamed);
    return done || error_set(error, ERROR_INPUT, NOWHERE, "tls-server-name is no host name");
}

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
           strncmp(host, "127.", 4) == 0;
}

/* The kubeconfig's, else what the environment says. */
static bool find_proxy(struct endpoint *endpoint, const char *scheme, const char *host,
                       const char *port, struct error *error)
{
    const struct proxy_environment environment = proxy_environment_now();
    struct text named = endpoint->config.proxy_url, proxy = TEXT("");
    bool found = named.size > 0
                     ? proxy_named(named, endpoint->arena, &proxy, error)
                     : proxy_for(&environment, scheme, host, port, endpoint->arena, &proxy, error);
    endpoint->proxy = proxy.data;
    return found;
}

static bool check_server(struct endpoint *endpoint, struct error *error)
{
    const struct client_config *config = &endpoint->config;
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
    else
        done =
            find_proxy(endpoint, scheme, host, port, error) &&
            (config->tls_server_name.size == 0 || rename_server(endpoint, url, host, port, error));
    curl_free(host);
    curl_free(port);
    curl_free(scheme);
    curl_url_cleanup(url);
    return done;
}

/* A number that differs when a file of the list may have changed. */
static uint64_t stamp_of(struct text paths)
{
    uint64_t stamp = 1469598103934665603U; /* FNV-1a, of what stat says of each */
    struct text rest = paths;
    for (bool more = rest.size > 0; more;) {
        struct text path = rest;
        more = text_split(rest, ':', &path, &rest);
        char *name = text_duplicate(path);
        struct stat status = {0};
        if (name == NULL || stat(name, &status) != 0)
            status = (struct stat){0};
        free(name);
        const uint64_t parts[] = {(uint64_t)status.st_ino, (uint64_t)status.st_size,
                                  (uint64_t)status.st_mtim.tv_sec,
                                  (uint64_t)status.st_mtim.tv_nsec};
        for (size_t i = 0; i < COUNT_OF(parts); i++)
            stamp = (stamp ^ parts[i]) * 1099511628211U;
    }
    return stamp;
}

bool endpoint_open(const struct client_config *config, struct endpoint *endpoint,
                   struct error *error)
{
    *endpoint = (struct endpoint){0};
    if (config->exec != NULL)
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "%s gets its credentials from a program (exec: %s), and a server runs no "
                         "other program: use a token, a tokenFile or a client certificate, or in "
                         "a cluster --in-cluster",
                         config->origin.data, config->exec->arguments[0]);
    *endpoint = (struct endpoint){.config = *config};
    memset(endpoint->pem_fds, -1, sizeof endpoint->pem_fds);
    endpoint->arena = arena_create(CONFIG_BYTES);
    if (endpoint->arena == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "memory ran out");
    const struct client_config *own = &endpoint->config;
    bool done = arena_guard(endpoint->arena, copy_config, endpoint, error) &&
                check_server(endpoint, error) &&
                open_pem(endpoint, 0, own->ca_file, own->ca_pem, &endpoint->ca_path, error) &&
                open_pem(endpoint, 1, own->certificate_file, own->certificate_pem,
                         &endpoint->certificate_path, error) &&
                open_pem(endpoint, 2, own->key_file, own->key_pem, &endpoint->key_path, error);
    if (!done) {
        endpoint_close(endpoint);
        return false;
    }
    token_init(&endpoint->token, own->token_file.data, own->token.data);
    return true;
}

void endpoint_close(struct endpoint *endpoint)
{
    curl_slist_free_all(endpoint->connect_to);
    for (size_t i = 0; endpoint->arena != NULL && i < ENDPOINT_PEMS; i++)
        if (endpoint->pem_fds[i] >= 0)
            close(endpoint->pem_fds[i]);
    token_free(&endpoint->token);
    arena_destroy(endpoint->arena);
    *endpoint = (struct endpoint){0};
}

/* ---- when it changes ---- */

struct renewal {
    const struct client_config *config;
    struct arena *arena;
    struct client_config read;
    struct error error;
    bool done;
};

static void read_again(void *context)
{
    struct renewal *renewal = context;
    const struct client_config *config = renewal->config;
    renewal->done = client_config_kubeconfig(config->kubeconfig.data,
                                             config->context.size > 0 ? config->context.data : NULL,
                                             renewal->arena, &renewal->read, &renewal->error);
}

static bool take_over(struct endpoint *endpoint, struct renewal *renewal)
{
    struct endpoint next;
    if (!text_equal(renewal->read.server, endpoint->config.server))
        return error_set(&renewal->error, ERROR_INPUT, NOWHERE,
                         "it names another API server, %.200s, which takes a restart",
                         renewal->read.server.data);
    /* The new unnamed files exist before the old ones close, so no connection with the old files is
     * taken for one with the new files. */
    if (!endpoint_open(&renewal->read, &next, &renewal->error))
        return false;
    endpoint_close(endpoint);
    *endpoint = next;
    return true;
}

bool endpoint_renew(struct endpoint *endpoint)
{
    uint64_t stamp = stamp_of(endpoint->config.kubeconfig);
    if (endpoint->config.kubeconfig.size == 0 || stamp == endpoint->stamp)
        return false;
    struct renewal renewal = {.config = &endpoint->config, .arena = arena_create(CONFIG_BYTES)};
    bool renewed = false;
    if (renewal.arena == NULL)
        return false;
    bool read = arena_guard(renewal.arena, read_again, &renewal, &renewal.error) && renewal.done;
    bool same = read && same_config(&renewal.read, &endpoint->config);
    if (read && !same)
        renewed = take_over(endpoint, &renewal);
    endpoint->stamp = stamp;
    if (renewed)
        log_line(LOG_INFO, "client", endpoint->config.kubeconfig.data, NULL,
                 "the kubeconfig was read again");
    else if (!same)
        log_line(LOG_ERROR, "client", endpoint->config.kubeconfig.data, renewal.error.what,
                 "the kubeconfig has changed and is no good; the last good one stays in force");
    arena_destroy(renewal.arena);
    return renewed;
}
