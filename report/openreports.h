/* Findings as reports of openreports.io/v1alpha1, and of the older wgpolicyk8s.io/v1alpha2. */
#ifndef TAFFRAIL_REPORT_OPENREPORTS_H
#define TAFFRAIL_REPORT_OPENREPORTS_H

#include "report/report.h"

/* The newer one first. */
enum report_api { REPORT_API_OPENREPORTS, REPORT_API_WGPOLICY, REPORT_API_COUNT };

/* Every report has this name and this label, by which its writer knows it as its own. */
#define REPORT_NAME "taffrail"
#define REPORT_OWNER_LABEL "app.kubernetes.io/managed-by"
/* An annotation: how many results found no place in the report. */
#define REPORT_LEFT_OUT "taffrail.dev/left-out"

/* A finding as a result. What it points to is in the arena or in the finding. object NULL: it is
 * about the whole cluster. */
struct node report_result(const struct object *object, const struct finding *finding,
                          struct text message, struct arena *arena);
/* Path, message, fix and exception. */
struct text report_result_message(const struct finding *finding, struct arena *arena);

/* What is found in a namespace, or, with an empty name, in objects without one. */
struct report_space {
    struct text namespace;
    const struct node *results;
    size_t result_count, left_out;
    struct audit_counts counts; /* with those left out */
};
struct node report_node(enum report_api api, const struct report_space *space, struct arena *arena);
/* Whether both reports say the same, whoever owns them. */
bool report_is_same(const struct node *a, const struct node *b);

#endif
