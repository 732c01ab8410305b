/* What another policy changes: who is newly denied, freed, newly warned, by rail and namespace. Of
 * what is there (audit --compare) or of what was asked for (replay). */
#ifndef TAFFRAIL_REPORT_COMPARE_H
#define TAFFRAIL_REPORT_COMPARE_H

#include "report/report.h"

/* In the order in which they are told. */
enum difference {
    DIFFERENCE_DENIED,  /* it is denied, and was not */
    DIFFERENCE_FREED,   /* it was denied, and is not */
    DIFFERENCE_WARNED,  /* it is warned of, and was audited at most */
    DIFFERENCE_AUDITED, /* it is audited, and was not found */
    DIFFERENCE_CLEARED, /* it was warned of or audited, and is neither */
    DIFFERENCE_SAME,
    DIFFERENCES = DIFFERENCE_SAME,
};
/* What becomes of one rail's finding. */
enum difference difference_of(enum action before, enum action after);

/* An owner and a rail that judges it otherwise. */
struct difference_row {
    enum difference difference;
    const char *rail;
    struct text namespace, kind, name; /* of the owner; the namespace may be empty */
    struct text user;                  /* who asked; of what is there empty */
    enum action before, after;
    bool denied_before, denied_after; /* the owner, or the requests, by any rail */
    size_t count;                     /* objects of the owner, or requests */
    /* Of the worst finding: under the new policy, or what is gone under the old one. */
    struct text policy, path, problem;
    struct text exception; /* "EX-12, until 2027-03-31", which frees it; empty: none */
};
/* Says of each row whether its owner is denied by any: denied_before, denied_after. */
void difference_rows_mark_owners(struct difference_row *rows, size_t count);
/* Drops the rows without a difference, and sorts the others. Returns their number. */
size_t difference_rows_finish(struct difference_row *rows, size_t count);

struct comparison_count {
    const char *key, *words; /* of JSON, and of text, before the number: "dry runs" */
    size_t count;
};
struct comparison {
    const char *schema;        /* of the JSON */
    const char *unit;          /* "object", "request" */
    struct text before, after; /* what is compared, for people */
    struct text first, last;   /* when the requests came; empty: of no time */
    const struct difference_row *rows;
    size_t row_count;
    size_t judged;
    const struct comparison_count *counts; /* of what was not judged, and why */
    size_t count_count;
    const struct problems *errors;
};

/* "text", "json"; ends with NULL. */
extern const char *const report_comparison_format_names[];
/* As report_write. */
bool report_comparison_write(int format, const struct comparison *comparison,
                             const struct report_style *style, struct arena *arena, FILE *out,
                             struct error *error) MUST_CHECK;
/* Owners with a row of this difference; each is counted once. The rows are sorted. */
size_t comparison_owners(const struct comparison *comparison, enum difference difference,
                         struct arena *arena);

#endif
