/* What the HTTP parts of the client share. */
#ifndef TAFFRAIL_LIVE_HTTP_H
#define TAFFRAIL_LIVE_HTTP_H

#include <curl/curl.h>
#include <stdatomic.h>

#include "live/client.h"
#include "live/endpoint.h"

struct transfer; /* of a kind that is watched */
struct call;     /* one request and its answer */

/* The owner of an easy handle. */
struct exchange {
    bool is_call;
};

struct client {
    struct endpoint endpoint;
    int64_t look_at_ms; /* when to check the kubeconfig again */
    int64_t (*now_ms)(void);
    CURLM *multi;
    struct transfer *transfers[KIND_COUNT]; /* NULL: not watched */
    struct call *calls;                     /* open requests */
    atomic_bool woken;
};

#define HTTP_ACCEPT_JSON "Accept: application/json"
/* The server sends whole objects when it cannot do otherwise; the rest of them is not read. */
#define HTTP_ACCEPT_PARTIAL(kind) \
    HTTP_ACCEPT_JSON ";as=" kind ";g=meta.k8s.io;v=v1,application/json"
/* Sets what every request has: URL, credentials, the CA. *headers gets the accepted types and the
 * token. False: memory ran out, or libcurl cannot do it. */
bool http_prepare(struct client *client, CURL *easy, const char *path, const char *accept,
                  struct curl_slist **headers);
bool http_add_header(struct curl_slist **headers, const char *header);

void calls_finish(struct call *call, CURLcode code);

#endif
