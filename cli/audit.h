/* What the files audit*.c share. */
#ifndef TAFFRAIL_CLI_AUDIT_H
#define TAFFRAIL_CLI_AUDIT_H

#include "report/compare.h"
#include "report/report.h"

/* ---- judging existing objects ---- */

/* Makes an entry for each object that is not being deleted or done. A mistake in an owner's
 * template is reported for the owner, not for the objects made of it. custom are the objects of
 * KIND_UNKNOWN in whose pod templates the policies look. Objects that cannot be judged are added to
 * *problems. Where a namespace is given, only its objects have entries. */
void audit_judge(const struct world *world, const struct object *const *custom, size_t custom_count,
                 struct text namespace, int64_t now_unix_s, struct arena *arena,
                 struct report *report, struct problems *problems);

/* ---- the same objects under two sets of policies ---- */

struct audit_side {
    struct world *world;
    struct report report;
};
/* Fills in the rows, by owner and rail, and how many objects were judged. What is undecided on a
 * side is no difference: *undecided says of how many owners and rails. */
void audit_compare(const struct audit_side *before, const struct audit_side *after,
                   struct arena *arena, struct comparison *comparison, size_t *undecided);

#endif
