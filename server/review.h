/* Private to server/: a review as it was read, and its answer. */
#ifndef TAFFRAIL_SERVER_REVIEW_H
#define TAFFRAIL_SERVER_REVIEW_H

#include "server/server.h"

/* ---- in: review_read.c ---- */

struct review {
    struct text uid, name; /* of the request; a name from generateName is empty for /mutate */
    struct subject subject;
    struct object object, old_object;
    struct text managed_fields; /* of the last of both that has them, as written; empty: none */
    /* Why the review was not read as a whole; then the objects have only their heads. */
    enum review_limit limit;
    struct error obstacle; /* with LIMIT_SHAPE: what there is too much of */
};

const char *operation_name(enum operation operation); /* "CREATE", ... */
/* Reads the body in as much detail as the limits of the arena allow, down to names. False when it
 * is no review, when not even the names can be read, or when the caller's time is over
 * (review->limit). */
bool review_read(struct text body, struct arena *arena, struct review *review,
                 struct error *error) MUST_CHECK;
/* What a person is told about a limit that a review of that size reached. */
struct shortfall review_shortfall(const struct world *world, const struct review *review,
                                  enum review_limit limit, struct text body, struct arena *arena);

/* ---- out: answer.c ---- */

enum { ANSWER_BYTES_MAX = 64 << 10 };

/* Prints the answer to a review; the phase is judging or changing. False when the changes do not
 * fit into an answer: then none is made. */
bool answer_print(enum review_phase phase, const struct review *review,
                  const struct verdict *verdict, int64_t now_unix_s, struct arena *arena,
                  struct text *answer) MUST_CHECK;

#endif
