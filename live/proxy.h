/* Which proxy a request goes through, by the rules of Go's net/http, which kubectl follows. */
#ifndef TAFFRAIL_LIVE_PROXY_H
#define TAFFRAIL_LIVE_PROXY_H

#include "base/base.h"

/* What the environment says; NULL: nothing. */
struct proxy_environment {
    const char *http, *https, *except;
};
/* $HTTP_PROXY, $HTTPS_PROXY and $NO_PROXY, or else their names in small letters. */
struct proxy_environment proxy_environment_now(void);

/* The proxy for this address, in libcurl's form; empty: none. Of the environment localhost and what
 * loops back needs none. host may be an IPv6 address in brackets. False: it is no proxy that is
 * known. */
bool proxy_for(const struct proxy_environment *environment, const char *scheme, const char *host,
               const char *port, struct arena *arena, struct text *proxy,
               struct error *error) MUST_CHECK;
/* A proxy that a kubeconfig names, in libcurl's form. */
bool proxy_named(struct text url, struct arena *arena, struct text *proxy,
                 struct error *error) MUST_CHECK;

#endif
