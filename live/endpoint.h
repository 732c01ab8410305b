/* The address of the API server, in libcurl's form; renewed when the kubeconfig it came from
 * changes. */
#ifndef TAFFRAIL_LIVE_ENDPOINT_H
#define TAFFRAIL_LIVE_ENDPOINT_H

#include <curl/curl.h>

#include "live/client.h"
#include "live/token.h"

enum { ENDPOINT_PEMS = 3 };

struct endpoint {
    struct arena *arena; /* for everything that config points to */
    struct client_config config;
    const char *base;              /* scheme, name and port of URLs */
    struct curl_slist *connect_to; /* the address for the name in the URL, if it differs */
    const char *proxy;             /* in libcurl's form; empty: none */
    int pem_fds[ENDPOINT_PEMS];
    const char *ca_path, *certificate_path, *key_path; /* NULL: none */
    struct token token;
    uint64_t stamp; /* of the kubeconfig's files, before they were last read again; 0: never */
};

/* *config is copied. */
bool endpoint_open(const struct client_config *config, struct endpoint *endpoint,
                   struct error *error) MUST_CHECK;
void endpoint_close(struct endpoint *endpoint);
/* True: the kubeconfig has changed, and its new content is in force. If it is invalid, or for
 * another server, it is logged, and the last good one stays. */
bool endpoint_renew(struct endpoint *endpoint);

#endif
