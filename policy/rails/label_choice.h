/* A node label of which a policy allows some values alone: what capacity-types and zones share. */
#ifndef TAFFRAIL_POLICY_RAILS_LABEL_CHOICE_H
#define TAFFRAIL_POLICY_RAILS_LABEL_CHOICE_H

#include "policy/rail.h"

struct pool;
struct zones;

enum label_choice_answer {
    CHOICE_ALLOWED,
    CHOICE_OUTSIDE,
    CHOICE_UNKNOWN, /* cannot be told from what is visible */
    CHOICE_PASSED,  /* not for this list to say */
};

/* The values of one list, or one value, by what was answered. */
struct choice_values {
    struct text key;
    const struct field *field; /* the list, or the value's own field */
    struct text_list inside, outside, unknown;
    size_t first_outside,
        first_unknown; /* positions in the list, from 1; 0: field is the value's */
};

struct label_choice {
    struct rail_call *call;
    const char *what, *title;   /* "zone", "Zone" */
    const char *key;            /* the label as it should be written */
    const char *before, *after; /* what the pool launches: "nodes in " X "", or "" X " nodes" */
    struct allowed allow;       /* at least one; globs */
    bool (*is_key)(struct text key);
    enum label_choice_answer (*answer)(const struct label_choice *choice, struct text key,
                                       struct text value);
    /* Those below may be NULL. */
    /* An allowed value as the key spells it; empty: the key cannot say it. */
    struct text (*spell)(struct text key, struct text value);
    /* What is said of values outside, and the fix, where the usual words do not fit. */
    void (*describe)(const struct label_choice *choice, const struct choice_values *values,
                     struct draft *draft);
    /* Why a node with an allowed value alone is never bought; NULL: nothing speaks against it. */
    const char *(*idle)(const struct label_choice *choice, struct text key, struct text value);
};

bool label_choice_lists(const struct label_choice *choice, struct text value);
/* Answers for one more value of the list; position as in choice_values. */
void label_choice_take(const struct label_choice *choice, struct choice_values *values,
                       struct text value, size_t position);
/* Says what is outside, and, undecided, what cannot be told; each once. */
void label_choice_report(const struct label_choice *choice, const struct choice_values *values,
                         enum severity severity);
/* Each value that a selector or a required term names must be allowed, and each term must leave an
 * allowed one; what is preferred is warned of. No node is bought for a DaemonSet: it is warned,
 * too.
 */
void label_choice_judge_workload(const struct label_choice *choice);

/* What a pool may launch that names no value. */
struct pool_reach {
    const struct zones *values; /* NULL: all there are is not known */
    struct text unknown;        /* the statement then */
    struct text dead_end;       /* the fix where no value is allowed; empty: the usual one */
};
/* Values named by labels and requirements must be allowed; so must those of reach that these leave,
 * when none is named. */
void label_choice_judge_pool(const struct label_choice *choice, const struct pool *pool,
                             const struct pool_reach *reach);

#endif
