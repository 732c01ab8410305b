/* report: findings and plans for people and machines. */
#ifndef TAFFRAIL_REPORT_REPORT_H
#define TAFFRAIL_REPORT_REPORT_H

#include <stdio.h>

#include "policy/policy.h"

struct catalog;
struct simulation;

struct json_object;

/* One judged object. */
struct report_entry {
    const struct object *object;
    struct verdict verdict;
};

/* The results of `taffrail check`. */
struct report {
    const struct report_entry *entries;
    size_t entry_count;
    size_t skipped;                /* objects of unknown kinds */
    size_t skipped_files;          /* files without an object */
    size_t ignored;                /* files and folders that an ignore line leaves out */
    size_t fragments, bound_pods;  /* objects that are none to judge */
    const struct problems *errors; /* files and documents that could not be read */
};

/* "NodePool and no Node", after "no". */
struct text unseen_kinds(kind_set kinds, struct arena *arena);

/* Findings by action. An undecided one counts as undecided only. */
struct report_summary {
    size_t objects, skipped, denied, warned, audited, excepted, undecided, errors;
    size_t skipped_files, ignored, fragments, bound_pods; /* all but ignored are in skipped, too */
};
struct report_summary report_summarize(const struct report *report);

/* What a page says of the run that it is of. */
struct report_about {
    struct text cluster;  /* "folder state", "context prod, https://..." */
    struct text policies; /* the paths they were read from; empty: none */
    int64_t at_unix_s;
};
struct report_style {
    bool colour;                      /* escape sequences, for a terminal */
    size_t columns;                   /* of the terminal; 0: lines are as long as they are */
    bool warnings_fail;               /* a warning counts as a failure (--fail-on warn) */
    const struct report_about *about; /* for pages; NULL: nobody says */
};

/* "text", "json", ...: a format's number is an index; ends with NULL. */
extern const char *const report_format_names[];
/* False when memory ran out. The owner of out checks at the end that it took every byte. */
bool report_write(int format, const struct report *report, const struct report_style *style,
                  struct arena *arena, FILE *out, struct error *error) MUST_CHECK;
/* Whether the report contains the errors; otherwise the caller prints them on standard error. */
bool report_holds_errors(int format);

/* ---- audits: objects that break a rail ---- */

/* The outcomes of findings; each has a column. */
enum audit_outcome {
    AUDIT_DENIED,
    AUDIT_WARNED,
    AUDIT_AUDITED,
    AUDIT_EXCEPTED,
    AUDIT_UNDECIDED,
    AUDIT_OUTCOMES
};
extern const char *const audit_outcome_names[AUDIT_OUTCOMES]; /* "denied", ... */
enum audit_outcome audit_outcome_of(const struct finding *finding);
struct audit_counts {
    size_t of[AUDIT_OUTCOMES];
};

/* "text", "json", "sarif", "openreports", "html"; ends with NULL. */
extern const char *const report_audit_format_names[];
/* As report_write; the text is grouped by namespace and object, the worst first. An object without
 * a source has no place in a file. */
bool report_audit_write(int format, const struct report *report, const struct report_style *style,
                        struct arena *arena, FILE *out, struct error *error) MUST_CHECK;
bool report_audit_holds_errors(int format);

/* ---- plans: what the provisioner would buy ---- */

/* "text", "json", "svg", "html"; ends with NULL. */
extern const char *const report_plan_format_names[];
/* compat: Karpenter's own plan, when the simulation was optimized; else NULL. False when memory ran
 * out. The owner of out checks at the end that it took every byte. */
bool report_plan_write(int format, const struct simulation *simulation,
                       const struct simulation *compat, const struct report_style *style,
                       struct arena *arena, FILE *out, struct error *error) MUST_CHECK;

/* ---- the JSON Schema (draft 7) of policy files ---- */

struct node policy_schema(struct arena *arena);

/* ---- building JSON with json-c ---- */

/* The arena's copy of a printed json-c value, on one line or, with pretty, on many. Frees the
 * value, also when it fails: json-c may not be held across an arena call. */
bool json_print(struct json_object *value, bool pretty, struct arena *arena, struct text *printed,
                struct error *error) MUST_CHECK;
struct json_object *json_of_text(struct text t); /* JSON null when t.data is NULL */
/* For a tree that was read under limits, or made here: its depth is bounded. */
struct json_object *json_of_node(const struct node *node);
/* Whose prices they are: {"region", "date", "file"}, null where nobody says. */
struct json_object *json_of_prices(const struct catalog *catalog);
/* Micro-dollars as a number of dollars, with all its digits; null below 0 (no price). */
void json_add_usd(struct json_object *map, const char *key, int64_t usd_micro);

#endif
