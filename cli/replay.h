/* What the files replay*.c share. */
#ifndef TAFFRAIL_CLI_REPLAY_H
#define TAFFRAIL_CLI_REPLAY_H

#include "kube/audit_event.h"
#include "report/compare.h"

/* What became of an event of a log. Only what could be judged otherwise is counted. */
enum replay_outcome {
    REPLAY_JUDGED,
    REPLAY_OTHER_KIND,  /* of a kind that no rail judges, or a question */
    REPLAY_NO_OBJECT,   /* logged without it */
    REPLAY_SUBRESOURCE, /* status, scale, binding, ... */
    REPLAY_DRY_RUN,
    REPLAY_DELETE,
    REPLAY_FAILED,     /* for another reason than our denial */
    REPLAY_PATCH,      /* whose result is not logged */
    REPLAY_OLD_UNSEEN, /* an update, and nobody knows of what */
    REPLAY_LIMIT,      /* it could not be judged within memory */
    REPLAY_OUTCOMES
};

struct replay_options {
    const struct world *before; /* NULL: what was decided then */
    const struct world *after;
    int64_t now_unix_s;
};

/* Judges events one after the other. Its memory is bounded: rows are kept of so many owners, and of
 * the objects that were seen the last ones. */
struct replay;
struct replay *replay_create(const struct replay_options *options) MUST_CHECK; /* NULL: no memory */
void replay_destroy(struct replay *replay);
/* False when the record is no event. */
bool replay_take(struct replay *replay, struct text record);

struct replay_result {
    size_t events; /* that are complete */
    size_t outcomes[REPLAY_OUTCOMES];
    size_t undecided; /* requests of which a rail cannot decide something */
    size_t rows_left_out;
    struct text first, last;           /* when the requests came, RFC 3339; empty: none */
    const struct difference_row *rows; /* live as long as the replay */
    size_t row_count;
};
struct replay_result replay_result(struct replay *replay);

#endif
