/* `taffrail impact`: what changes of objects do to nodes and pods, printed. */
#ifndef TAFFRAIL_REPORT_IMPACT_H
#define TAFFRAIL_REPORT_IMPACT_H

#include "report/report.h"
#include "simulation/change_impact.h"

enum impact_operation { IMPACT_CREATE, IMPACT_UPDATE, IMPACT_DELETE };

/* What one object of the change does, as if it came alone. */
struct impact_entry {
    enum impact_operation operation;
    const struct object *object; /* as it is given; of a deletion as it is stored, if it is */
    struct text refusal;         /* what the API server refuses of it, a sentence; empty: nothing */
    struct text nothing; /* why nothing is known of it, or comes of it; empty: the rest is */
    struct change_impact impact;
    struct impact_words words;
    bool planned; /* what is needed afterwards is known: */
    struct impact_plan plan;
    const struct finding *const *findings; /* of the rail change-impact: denials, warnings */
    size_t finding_count;
};
struct impact_report {
    const struct impact_entry *entries;
    size_t count;
    size_t skipped;        /* objects of kinds whose changes are not looked at */
    size_t fragments;      /* parts of objects, which are passed over, too */
    size_t nodes_together; /* nodes that go, each once, however many of the changes take it */
    size_t errors;         /* what could not be read, or not be understood */
    bool denied;           /* a ceiling of an enforced policy is passed */
    const struct catalog *catalog; /* whose prices these are */
    int64_t now_unix_s;
};

/* "text", "json" (taffrail.dev/impact/v1), "markdown" for a comment; ends with NULL. */
extern const char *const report_impact_format_names[];
/* As report_write. */
bool report_impact_write(int format, const struct impact_report *report,
                         const struct report_style *style, struct arena *arena, FILE *out,
                         struct error *error) MUST_CHECK;

#endif
