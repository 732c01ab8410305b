/* What the rail tolerations says where others would, too. */
#ifndef TAFFRAIL_POLICY_RAILS_TOLERATIONS_H
#define TAFFRAIL_POLICY_RAILS_TOLERATIONS_H

#include "base/base.h"

struct toleration;

/* Whether the rail under these settings finds a toleration of every taint (operator Exists, no key)
 * in what is no DaemonSet's. */
bool tolerations_finds_every(const void *settings, const struct toleration *toleration);

#endif
