/* Capacity reservations over the rounds of a simulation. */
#ifndef TAFFRAIL_SIMULATION_RESERVED_H
#define TAFFRAIL_SIMULATION_RESERVED_H

#include "solver/solver.h"

struct cluster;
struct cluster_type;
struct problems;

/* The id of an offering's reservation; NULL: none. */
const char *reservation_of(const struct solver_offering *offering);
/* Counts one instance of it as used. */
void reservation_use(struct cluster *cluster, const char *id);
/* The type with what is left of the reservations after the rounds so far. */
struct solver_instance_type reserved_type(const struct cluster *cluster,
                                          const struct cluster_type *type);
/* Adds reservations that the user counted and that nothing names to problems. */
void reservations_check(const struct cluster *cluster, struct problems *problems);

#endif
