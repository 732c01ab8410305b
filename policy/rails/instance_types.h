/* The parts of the rail instance-types: what it says of workloads and of NodePools. */
#ifndef TAFFRAIL_POLICY_RAILS_INSTANCE_TYPES_H
#define TAFFRAIL_POLICY_RAILS_INSTANCE_TYPES_H

#include "policy/rails/instance_list.h"

struct expression_value;

void instance_judge_workload(struct rail_call *call, const struct instance_list *list);
void instance_judge_pool(struct rail_call *call, const struct instance_list *list);

/* Findings at a value: outside the list; not in the catalogue, though its name would pass. */
void instance_report_outside(struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, const struct expression_value *value,
                             enum severity severity);
void instance_report_unknown(struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, const struct expression_value *value);

#endif
