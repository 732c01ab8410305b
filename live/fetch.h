/* A document at an address of the web, for what -f names. */
#ifndef TAFFRAIL_LIVE_FETCH_H
#define TAFFRAIL_LIVE_FETCH_H

#include "base/base.h"

/* Whether it begins with http:// or https://. */
bool is_web_address(const char *path);
/* No credentials are sent. Redirections are followed, from https to https only, and a server that
 * fails (5xx) is asked twice more, as kubectl does. *error is ERROR_IO. */
bool web_fetch(const char *address, size_t limit_bytes, struct arena *arena, struct text *body,
               struct error *error) MUST_CHECK;

#endif
