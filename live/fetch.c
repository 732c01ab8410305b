/* Gets a document over HTTP, whole or not at all. */
#include "live/fetch.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/version.h"
#include "live/proxy.h"

enum { REDIRECTIONS_MAX = 10, ATTEMPTS = 3, PAUSE_MS = 500, CONNECT_S = 10, WHOLE_S = 60 };
enum { SCRATCH_BYTES = 16 << 20 };

struct fetch {
    const char *address; /* as it was given */
    size_t limit_bytes;
    struct arena *scratch; /* its own, so that nothing unwinds while the handle is open */
    struct error *error;
    CURL *easy;
    /* Of the last answer. */
    char *bytes;
    size_t size;
    bool is_too_large;
    long status;
};

bool is_web_address(const char *path)
{
    return strncmp(path, "http://", 7) == 0 || strncmp(path, "https://", 8) == 0;
}

static bool fail(const struct fetch *fetch, const char *what)
{
    return error_set(fetch->error, ERROR_IO, (struct place){fetch->address, 0, 0},
                     "cannot be fetched: %s", what);
}

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    struct fetch *fetch = context;
    size_t bytes = size * count;
    fetch->is_too_large = fetch->size + bytes > fetch->limit_bytes;
    char *longer = fetch->is_too_large ? NULL : realloc(fetch->bytes, fetch->size + bytes + 1);
    if (longer == NULL)
        return bytes + 1; /* any other number aborts, also for no bytes */
    fetch->bytes = longer;
    if (bytes > 0)
        memcpy(fetch->bytes + fetch->size, data, bytes);
    fetch->size += bytes;
    return bytes;
}

/* The proxy of an address; each redirection may have another. */
static bool set_proxy(const struct fetch *fetch, const char *address)
{
    const struct proxy_environment environment = proxy_environment_now();
    CURLU *url = curl_url();
    char *host = NULL, *port = NULL, *scheme = NULL;
    struct text proxy = TEXT("");
    bool done = url != NULL && curl_url_set(url, CURLUPART_URL, address, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK;
    if (!done)
        fail(fetch, "it is no address of the web");
    else
        done = proxy_for(&environment, scheme, host, port, fetch->scratch, &proxy, fetch->error);
    curl_free(host);
    curl_free(port);
    curl_free(scheme);
    curl_url_cleanup(url);
    return done && curl_easy_setopt(fetch->easy, CURLOPT_PROXY, proxy.data) == CURLE_OK &&
           curl_easy_setopt(fetch->easy, CURLOPT_NOPROXY, "") == CURLE_OK;
}

static bool ask(struct fetch *fetch, const char *address)
{
    bool stays_safe = strncmp(fetch->address, "https://", 8) == 0;
    CURL *easy = fetch->easy;
    fetch->size = 0;
    curl_easy_reset(easy);
    if (!set_proxy(fetch, address))
        return false;
    curl_easy_setopt(easy, CURLOPT_USERAGENT, taffrail_user_agent);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)WHOLE_S);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    if (curl_easy_setopt(easy, CURLOPT_URL, address) != CURLE_OK ||
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, stays_safe ? "https" : "http,https") !=
            CURLE_OK)
        return fail(fetch, "memory ran out");
    CURLcode code = curl_easy_perform(easy);
    if (fetch->is_too_large)
        return fail(fetch, "it is too large");
    if (code == CURLE_UNSUPPORTED_PROTOCOL && stays_safe)
        return fail(fetch, "it is redirected from https to something else");
    if (code != CURLE_OK)
        return fail(fetch, curl_easy_strerror(code));
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &fetch->status);
    return true;
}

/* The answer at the end of all redirections. */
static bool follow(struct fetch *fetch)
{
    const char *address = fetch->address;
    for (int i = 0; i <= REDIRECTIONS_MAX; i++) {
        char *next = NULL;
        if (!ask(fetch, address))
            return false;
        curl_easy_getinfo(fetch->easy, CURLINFO_REDIRECT_URL, &next);
        if (next == NULL)
            return true;
        address = arena_text(fetch->scratch, text_of(next)).data;
    }
    return fail(fetch, "it is redirected again and again");
}

static bool fetch_whole(struct fetch *fetch)
{
    const struct timespec pause = timespec_of_ms(PAUSE_MS);
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
        if (!follow(fetch))
            return false;
        if (fetch->status < 500)
            break;
        if (attempt < ATTEMPTS)
            nanosleep(&pause, NULL);
    }
    if (fetch->status == 200)
        return true;
    char what[64];
    snprintf(what, sizeof what, "the server answers %ld", fetch->status);
    return fail(fetch, what);
}

bool web_fetch(const char *address, size_t limit_bytes, struct arena *arena, struct text *body,
               struct error *error)
{
    struct fetch fetch = {
        .address = address,
        .limit_bytes = limit_bytes,
        .scratch = arena_create(SCRATCH_BYTES),
        .error = error,
        .easy = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_easy_init() : NULL,
    };
    bool ready = fetch.easy != NULL && fetch.scratch != NULL;
    bool done = ready ? fetch_whole(&fetch) : fail(&fetch, "memory ran out");
    curl_easy_cleanup(fetch.easy);
    arena_destroy(fetch.scratch);
    if (done)
        *body = arena_text(arena, (struct text){fetch.bytes, fetch.size});
    free(fetch.bytes);
    return done;
}
