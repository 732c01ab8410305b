/* What the files audit*.c share. */
#ifndef TAFFRAIL_CLI_AUDIT_H
#define TAFFRAIL_CLI_AUDIT_H

#include "kube/manifest.h"
#include "live/client.h"
#include "report/report.h"

/* ---- a cluster, listed once ---- */

struct audit_cluster {
    struct manifests objects; /* whole, except what only the API server reads */
    kind_set unseen;          /* kinds that may have objects and could not be listed */
};
/* Lists these kinds and those that rails look up. Missing judged kinds are added to the problems of
 * cluster->objects, other missing kinds to *warnings. False with *error (ERROR_CLUSTER) when
 * nothing could be listed within timeout_ms. The objects live in the arena. */
bool audit_list(const struct client_config *config, kind_set judged, int64_t timeout_ms,
                struct arena *arena, struct audit_cluster *cluster, struct problems *warnings,
                struct error *error) MUST_CHECK;

/* ---- judging existing objects ---- */

/* Makes an entry for each object that is not being deleted or done. A mistake in an owner's
 * template is reported for the owner, not for the objects made of it. custom are the objects of
 * KIND_UNKNOWN in whose pod templates the policies look. Objects that cannot be judged are added to
 * *problems. */
void audit_judge(const struct world *world, const struct object *const *custom, size_t custom_count,
                 int64_t now_unix_s, struct arena *arena, struct report *report,
                 struct problems *problems);

#endif
