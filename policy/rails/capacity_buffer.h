/* The pods that a CapacityBuffer holds room for, for rails that look at buffers. */
#ifndef TAFFRAIL_POLICY_RAILS_CAPACITY_BUFFER_H
#define TAFFRAIL_POLICY_RAILS_CAPACITY_BUFFER_H

#include "kube/pod.h"
#include "policy/rail.h"

struct buffer_room {
    struct workload pods;
    const struct field *from; /* that says how many */
    int64_t count;
};
/* False: it is for no pod, or its pods are not seen. */
bool buffer_room_read(const struct rail_call *call, const struct object *buffer,
                      struct buffer_room *room);

#endif
