/* What the files audit*.c share. */
#ifndef TAFFRAIL_CLI_AUDIT_H
#define TAFFRAIL_CLI_AUDIT_H

#include "kube/manifest.h"
#include "live/client.h"
#include "report/report.h"

/* ---- a live cluster, listed once ---- */

struct audit_cluster {
    struct manifests objects; /* whole, but for what only the API server reads */
    kind_set unseen;          /* may be there, and could not be listed */
};
/* Lists these kinds and those that rails look up. What is missing of the judged kinds is added to
 * the problems of cluster->objects, of others to *warnings. False with *error (ERROR_CLUSTER) when
 * nothing could be listed within timeout_ms. The objects live in the arena. */
bool audit_list(const struct client_config *config, kind_set judged, int64_t timeout_ms,
                struct arena *arena, struct audit_cluster *cluster, struct problems *warnings,
                struct error *error) MUST_CHECK;

/* ---- judging what is there ---- */

/* An entry for each object but those that are going or done. What an owner's template has wrong is
 * said of the owner, not of what is made of it. custom are the objects of KIND_UNKNOWN in whose pod
 * templates the policies look. What cannot be judged is added to *problems. */
void audit_judge(const struct world *world, const struct object *const *custom, size_t custom_count,
                 int64_t now_unix_s, struct arena *arena, struct report *report,
                 struct problems *problems);

#endif
