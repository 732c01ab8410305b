/* Private to server/: a review as it was read, and what is said to it. */
#ifndef TAFFRAIL_SERVER_REVIEW_H
#define TAFFRAIL_SERVER_REVIEW_H

#include "server/server.h"

/* ---- in: review_read.c ---- */

struct review {
    struct text uid;
    struct subject subject;
    struct object object, old_object;
    /* Why it was not read as a whole; then the objects are no more than their heads. */
    enum review_limit limit;
    struct error obstacle; /* of LIMIT_SHAPE: what there is too much of */
};

const char *operation_name(enum operation operation); /* "CREATE", ... */
/* The body in as much detail as the limits of the arena allow, down to names. False when it is no
 * review, when not even those can be read, or when the time of the caller is over (review->limit).
 */
bool review_read(struct text body, struct arena *arena, struct review *review,
                 struct error *error) MUST_CHECK;
/* What a person is told of a limit that a review of that size came to. */
struct shortfall review_shortfall(const struct world *world, const struct review *review,
                                  enum review_limit limit, struct text body, struct arena *arena);

/* ---- out: answer.c ---- */

enum { ANSWER_BYTES_MAX = 64 << 10 };

/* What a review is answered by now; the phase tells judging from changing. False when the changes
 * have no place in an answer: then none is made. */
bool answer_print(enum review_phase phase, const struct review *review,
                  const struct verdict *verdict, int64_t now_unix_s, struct arena *arena,
                  struct text *answer) MUST_CHECK;

#endif
