/* Private to policy/: the sentence of one finding. */
#ifndef TAFFRAIL_POLICY_MESSAGE_H
#define TAFFRAIL_POLICY_MESSAGE_H

#include "policy/rail.h"

/* `found "zone"; allowed a, b, c, d, e, ... (7)`, and what an expired exception or a namespace
 * whose labels are not visible (empty: none) has to do with it. */
struct text message_finding(const struct draft *draft, const struct finding *finding,
                            struct text unknown_namespace, struct arena *arena);

/* Without control characters, which would forge lines, and at most limit_bytes long. */
struct text message_printable(struct text t, size_t limit_bytes, struct arena *arena);

#endif
