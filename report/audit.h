/* Private to report/: what the formats of audits share. */
#ifndef TAFFRAIL_REPORT_AUDIT_H
#define TAFFRAIL_REPORT_AUDIT_H

#include "report/format.h"

/* By namespace and object, the worst first. */
report_writer report_audit_text;
/* Reports of openreports.io/v1alpha1 in a List: one for each namespace, and one for objects in
 * none. */
report_writer report_audit_openreports;
/* One page without other files. */
report_writer report_audit_html;

/* An object with a finding. */
struct audit_row {
    const struct object *object;
    const struct finding **findings; /* decided ones, the worst first */
    size_t finding_count;
    size_t more;  /* objects of the same controller with the same findings */
    bool repeats; /* it has the same findings as the row before it */
    struct audit_counts counts;
};
struct audit_namespace {
    struct text name; /* empty: objects in no namespace */
    struct audit_row *rows;
    size_t row_count;
    struct audit_counts counts; /* of every object */
};
struct audit_rail {
    const char *name;
    struct text docs, contact; /* of a policy that names them; may be empty */
    struct audit_counts counts;
};
/* What could not be decided, and for how many objects. */
struct audit_doubt {
    const struct finding *finding;
    const struct object *object; /* the first */
    size_t more;
};
struct audit_view {
    struct audit_namespace *namespaces; /* the worst first, then by name */
    size_t namespace_count;
    struct audit_rail *rails; /* that found something, by name */
    size_t rail_count;
    struct audit_doubt *doubts; /* the most frequent first */
    size_t doubt_count;
    struct audit_counts counts;
    struct audit_counts objects; /* how many objects have such a finding */
};
struct audit_view audit_view(const struct report *report, struct arena *arena);

/* The notes besides the message that are not about the rail as a whole: the fix, and why it is not
 * denied. */
enum { AUDIT_NOTES = 4 };
size_t audit_notes(const struct finding *finding, struct note notes[AUDIT_NOTES],
                   struct arena *arena);
/* "2 denied, 1 warned"; "nothing found". */
struct text audit_counts_text(const struct audit_counts *counts, struct arena *arena);

#endif
