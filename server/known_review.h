/* Private to server/: the last reviews that a connection has answered, and their answers.
 *
 * Pods that one controller makes differ in their names and uids alone, and no rail finds anything
 * in those. So a Pod that is like one in which nothing was found is allowed without being read
 * again. All other bytes of the two reviews are the same, and so is the world. */
#ifndef TAFFRAIL_SERVER_KNOWN_REVIEW_H
#define TAFFRAIL_SERVER_KNOWN_REVIEW_H

#include <stdatomic.h>

#include "server/server.h"

/* ---- what may differ ---- */

enum { VARIABLES_MAX = 48 };

/* Bytes of a body: what stands between the quotes of a string, or the end of it. */
struct variable {
    uint32_t at, size;
    enum variable_of {
        /* Each the same wherever it stands. */
        OF_REQUEST_UID,
        OF_NAME,
        OF_TOKEN_VOLUME,
        OF_OTHERS,
    } of;
};

/* In their order in the body. */
struct review_variables {
    size_t count; /* 0: no other review is like it, or it has more than VARIABLES_MAX */
    struct variable items[VARIABLES_MAX];
};

struct review;
/* What the next Pod of the same controller has otherwise: the uid of the request; the uid, the
 * moment and the end of the name that the API server gives to a Pod with a generateName; the
 * moment in its managedFields; and the name of the one volume kube-api-access-XXXXX. Where Pods are
 * changed they have no name yet; of one that has, nothing may differ. */
void review_variables_find(enum review_phase phase, const struct review *review, struct text body,
                           struct review_variables *variables);

/* ---- what is kept ---- */

enum {
    KNOWN_REVIEWS = 4, /* of a connection */
    KNOWN_BODY_BYTES_MAX = 32 << 10,
    KNOWN_BYTES_LIMIT = 8 << 20, /* of all connections together */
    KNOWN_FOR_MS = 10000,        /* so that no verdict outlives much of what the clock decides */
};

struct known_review;
/* Those of a connection; only its thread uses it. All zeros: none. Owns them. */
struct known_reviews {
    struct known_review *items[KNOWN_REVIEWS];
    size_t next; /* the one that is replaced */
};

/* Keeps a review of no findings, no changes and no limit, and its answer. number: of the world that
 * judged it (struct pinned). now_ms: of CLOCK_MONOTONIC. bytes: of all connections. Keeps nothing
 * when there is no memory. */
void known_reviews_add(struct known_reviews *known, atomic_size_t *bytes, enum review_phase phase,
                       uint64_t number, int64_t now_ms, struct text body,
                       const struct review_variables *variables, struct text answer);
/* The answer to a review that is like a known one; empty: none is. It is valid until the next call
 * with the same known. */
struct text known_reviews_answer(struct known_reviews *known, enum review_phase phase,
                                 uint64_t number, int64_t now_ms, struct text body);
void known_reviews_free(struct known_reviews *known, atomic_size_t *bytes);

#endif
