/* Numbers that differ when what they stand for does, but for a chance of one in 2^64. */
#ifndef TAFFRAIL_PINNING_STANDING_MARK_H
#define TAFFRAIL_PINNING_STANDING_MARK_H

#include "base/base.h"

struct daemon;
struct machine;

/* All but what it attaches. */
uint64_t mark_of_machine(const struct machine *machine);
uint64_t mark_of_daemon(const struct daemon *daemon);

#endif
