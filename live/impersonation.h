/* Who a request is to be judged as, if that is somebody else than its credentials say. */
#ifndef TAFFRAIL_LIVE_IMPERSONATION_H
#define TAFFRAIL_LIVE_IMPERSONATION_H

#include "base/base.h"

struct impersonation {
    struct text user, uid;
    const struct text *groups;
    size_t group_count;
    const struct node *extra; /* as as-user-extra of a kubeconfig: lists of texts by key; or NULL */
};
/* The headers of a request, a line each; empty when nobody is named. False when there are groups,
 * a uid or extra without a user, or a value that no header can have. */
bool impersonation_headers(const struct impersonation *who, struct arena *arena,
                           struct text *headers, struct error *error) MUST_CHECK;

#endif
