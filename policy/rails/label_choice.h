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
};

struct label_choice {
    struct rail_call *call;
    const char *what;     /* "zone" */
    const char *key;      /* the label as it should be written */
    struct allowed allow; /* at least one */
    bool (*is_key)(struct text key);
    enum label_choice_answer (*answer)(const struct label_choice *choice, struct text key,
                                       struct text value);
    /* Why a node with an allowed value alone is never bought; NULL: nothing speaks against it. May
     * itself be NULL. */
    const char *(*idle)(const struct label_choice *choice, struct text key, struct text value);
};

bool label_choice_lists(const struct label_choice *choice, struct text value);
/* Each value that a selector or a required term names must be allowed, and each term must leave an
 * allowed one; what is preferred is warned of. */
void label_choice_judge_workload(const struct label_choice *choice);
/* Values named by labels and requirements must be allowed; so must those of reach (NULL: all there
 * are is not known) that these leave, when none is named. */
void label_choice_judge_pool(const struct label_choice *choice, const struct pool *pool,
                             const struct zones *reach);
/* Says that a value is not allowed, or, CHOICE_UNKNOWN, that it cannot be told. */
void label_choice_report(const struct label_choice *choice, enum label_choice_answer answer,
                         enum severity severity, const struct field *field, struct text value);

#endif
