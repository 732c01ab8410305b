/* The parts of the rail zone-pin: what it adds (zone_pin.c), and pods that select another zone than
 * their volumes'. */
#ifndef TAFFRAIL_POLICY_RAILS_ZONE_PIN_H
#define TAFFRAIL_POLICY_RAILS_ZONE_PIN_H

#include "policy/rail.h"

/* Of a Pod whose volumes can be seen. */
void zone_pin_judge_selection(struct rail_call *call);

#endif
