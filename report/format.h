/* Private to report/: what the formats share. */
#ifndef TAFFRAIL_REPORT_FORMAT_H
#define TAFFRAIL_REPORT_FORMAT_H

#include "base/wrap.h"
#include "report/report.h"

typedef bool report_writer(const struct report *report, const struct report_style *style,
                           struct arena *arena, FILE *out, struct error *error);
/* For a person: each finding with its place, the line and a caret; a summary at the end. */
report_writer report_text;
report_writer report_json;   /* taffrail.dev/findings/v1 */
report_writer report_junit;  /* JUnit XML: a testsuite a file, a testcase an object */
report_writer report_sarif;  /* SARIF 2.1.0 */
report_writer report_github; /* workflow commands, which become annotations */

/* ---- findings and errors, ready to print ---- */

/* Everything that needs the arena is done before a format holds json-c. File names and messages are
 * valid UTF-8. */
struct located_finding {
    const struct object *object;
    const struct finding *finding;
    struct place place;
    size_t more; /* like it, which findings_say_once left out */
};
struct located_finding *locate_findings(const struct report *report, struct arena *arena,
                                        size_t *count);
/* Whether both are undecided for one reason: nothing of the same kinds is visible. */
bool unseen_alike(const struct finding *a, const struct finding *b);
/* For people: of those that are undecided for one reason the first stays. Returns how many are left
 * of all. */
size_t findings_say_once(struct located_finding *located, size_t count, struct arena *arena);
/* "2 more are like it: no NodePool is visible."; empty: there are none. */
struct text finding_more(const struct located_finding *located, struct arena *arena);
struct located_error {
    const char *path; /* as the system knows the file; NULL: none */
    struct place place;
    struct text message;
};
const struct located_error *locate_errors(const struct report *report, struct arena *arena,
                                          size_t *count);

const char *finding_label(const struct finding *finding); /* "deny", ..., "undecided" */
/* "web/shop", or "gpu" without a namespace; no control characters. */
struct text object_title(const struct object *object, struct arena *arena);

/* What keeps a pod where it is: "pod shop/db-0 of StatefulSet db: PodDisruptionBudget db". */
struct text block_text(const struct object *pod, struct text owner, struct text by,
                       struct arena *arena);

struct note {
    const char *label;
    struct text text;
};
enum { MOST_NOTES = 6 };
/* The notes besides the message: fix, field, exception, docs, ask. */
size_t finding_notes(const struct finding *finding, struct note notes[MOST_NOTES],
                     struct arena *arena);
/* "EX-12, until 2027-03-31"; empty without an exception. */
struct text finding_exception(const struct finding *finding, struct arena *arena);
/* The message, and a line for each note. */
struct text finding_advice(const struct finding *finding, struct arena *arena);
/* "3 objects checked: 1 denied, 2 skipped" and a newline. */
void put_summary(const struct report *report, FILE *out);

/* A note's text, behind its label, on lines that begin at `indent`; what is to be pasted stays in
 * one. Ends the line. columns: as of put_wrapped. */
void put_note(const struct note *note, size_t indent, size_t columns, FILE *out);

/* The columns of what put_wrapped() fills: those of the terminal within reason, 80 without one. */
size_t page_columns(const struct report_style *style);

/* ---- values as the file has them ---- */

/* A scalar as the file has it, with its quotes. Empty when that is unknown: a block scalar, an
 * alias, a value behind an anchor or a tag, text folded over lines. */
struct text scalar_written(struct text source, const struct node *node);
/* The same scalar with another value: with the same quotes, or those that the value needs. */
struct text scalar_rewritten(struct text written, struct text value, struct arena *arena);

/* Lines from 1; columns from 1 in UTF-16 code units, as editors and SARIF count them; the end
 * column is after the last one. end_line 0: the end is unknown. */
struct region {
    uint32_t line, column, end_line, end_column;
};
struct region finding_region(const struct located_finding *located, struct arena *arena);
/* Without a leading "./", which pipelines that compare paths do not expect. */
const char *short_path(const char *path);

/* ---- XML ---- */

/* Escaped for XML 1.0; HTML reads it in the same way. */
void put_xml(struct text t, FILE *out);
/* A blank, name="value". */
void put_xml_attribute(const char *name, struct text value, FILE *out);

/* ---- json-c ---- */

/* Prints the value on many lines, and frees it. */
bool json_write(struct json_object *value, struct arena *arena, FILE *out,
                struct error *error) MUST_CHECK;
void json_add_text(struct json_object *map, const char *key, struct text value);
void json_add_string(struct json_object *map, const char *key, const char *value);
/* Empty is null. */
void json_add_text_or_null(struct json_object *map, const char *key, struct text value);
void json_add_count(struct json_object *map, const char *key, size_t count);
void json_add_texts(struct json_object *map, const char *key, const struct text *items,
                    size_t count);
/* "2026-11-29T05:00:00Z"; empty: there is no such year. */
struct text time_rfc3339(int64_t unix_s, struct arena *arena);
/* Micro-dollars as a number of dollars, with all its digits. */
struct json_object *json_of_usd(int64_t usd_micro);

#endif
