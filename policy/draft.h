/* Private to policy/: a draft that is shown, as far as its rail left it open. */
#ifndef TAFFRAIL_POLICY_DRAFT_H
#define TAFFRAIL_POLICY_DRAFT_H

#include "policy/rail.h"

/* allowed becomes what is shown of it. */
struct draft draft_finish(const struct draft *shared, struct arena *arena);

#endif
