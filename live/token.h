/* A bearer token from a file that may change. */
#ifndef TAFFRAIL_LIVE_TOKEN_H
#define TAFFRAIL_LIVE_TOKEN_H

#include <stdbool.h>

struct token {
    const char *file; /* empty: none */
    char *last;       /* the last good one; NULL: none */
    bool said;        /* that the file cannot be read */
};
/* Both may be empty; they must outlive the token. */
void token_init(struct token *token, const char *file, const char *fixed);
void token_free(struct token *token);
/* Reads the file; if that fails, the last good token; NULL: there is none. Valid until the next
 * call. */
const char *token_now(struct token *token);

#endif
