/* Cases of `taffrail test`: the findings that a policy must have for a manifest, read by tables of
 * keys. */
#ifndef TAFFRAIL_CLI_TEST_CASE_H
#define TAFFRAIL_CLI_TEST_CASE_H

#include "policy/rail.h"

/* An empty text, and a value that is not given, is not compared. */
struct expected_finding {
    struct text rail, policy, kind, name, field, exception, override;
    const struct node *found; /* a string, "" for an absent field; NULL: not compared */
    struct key_strings allowed;
    struct text message, fix; /* a part of it */
    int action;               /* of expected_actions */
    int64_t line, column;     /* 0: not given */
    bool undecided, pre_existing;
    bool action_given, undecided_given, pre_existing_given;
};
extern const char *const expected_actions[]; /* ends with NULL; action_name() of an enum action */

struct expected_change {
    struct text rail, policy, exception;
    struct text added; /* a part of it */
    int outcome;       /* an enum change_outcome */
    bool outcome_given;
};

struct test_case {
    struct text name, policy, manifest, old, catalog;
    struct key_strings policies; /* instead of policy */
    const struct node
        *state; /* a folder; null: no cluster is visible; NULL: "state", if it exists */
    struct text user;
    struct key_strings groups;
    int64_t now_unix_s;     /* 0: now */
    struct text load_warns; /* a part of a warning about the policy */
    bool deleted;
    bool allowed, allowed_given;
    struct key_maps findings; /* struct expected_finding */
    struct key_maps changes;  /* struct expected_change */
    bool changes_given;
    const struct node *after; /* paths of the first object, and their values after the change */
    struct key_strings change_warnings;
    struct place place; /* of the case in its file */
};
struct test_cases {
    struct test_case *items;
    size_t count, capacity;
};

/* Adds the cases of a file, a list or several documents of lists. Errors are added to problems, and
 * a case with errors is left out. */
void test_cases_read(const char *file, struct arena *arena, struct test_cases *cases,
                     struct problems *problems);
/* The keys of a case, and of its expectations, as `taffrail test --help` prints them. */
struct text test_case_keys(struct arena *arena);

#endif
