/* What the parts of the client that speak HTTP share. */
#ifndef TAFFRAIL_LIVE_HTTP_H
#define TAFFRAIL_LIVE_HTTP_H

#include <curl/curl.h>
#include <stdatomic.h>

#include "live/client.h"
#include "live/endpoint.h"

struct transfer; /* of a kind that is watched */
struct call;     /* one request and its answer */

/* What an easy handle points to: whose it is. */
struct exchange {
    bool is_call;
};

struct client {
    struct endpoint endpoint;
    int64_t look_at_ms; /* when it may have changed */
    int64_t (*now_ms)(void);
    CURLM *multi;
    struct transfer *transfers[KIND_COUNT]; /* NULL: not watched */
    struct call *calls;                     /* that are on their way */
    atomic_bool woken;
};

#define HTTP_ACCEPT_JSON "Accept: application/json"
/* What every request has: where to, who asks, how the other side is known. *headers gets what is
 * accepted and the token. False: memory ran out, or libcurl cannot do it. */
bool http_prepare(struct client *client, CURL *easy, const char *path, const char *accept,
                  struct curl_slist **headers);
bool http_add_header(struct curl_slist **headers, const char *header);

void calls_finish(struct call *call, CURLcode code);
void calls_drop(struct client *client); /* no answer follows */

#endif
