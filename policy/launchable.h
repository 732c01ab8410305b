/* The instance types that a NodePool can launch, by its requirements and labels. */
#ifndef TAFFRAIL_POLICY_LAUNCHABLE_H
#define TAFFRAIL_POLICY_LAUNCHABLE_H

#include "catalog/catalog.h"
#include "kube/pool.h"
#include "policy/rail.h"

struct launchable {
    bool covered; /* the catalogue has the pool's types; else none is known */
    struct type_set types;
    size_t count;
};
/* Looked up once an evaluation, however many rails ask. */
const struct launchable *pool_launchable(const struct rail_call *call, const struct pool *pool);

/* One requirement, and the types of the catalogue that it leaves. */
struct expressions requirement_of(const char *key, enum solver_op op, const struct text *values,
                                  size_t value_count, struct arena *arena);
struct type_set requirement_select(const struct catalog *catalog, const char *key,
                                   enum solver_op op, const struct text *values, size_t value_count,
                                   struct arena *arena);

#endif
