/* Capacity reservations over the rounds: what is left of each. */
#include "simulation/reserved.h"

#include <string.h>

#include "catalog/catalog.h"
#include "kube/to_solver.h"
#include "simulation/cluster.h"
#include "simulation/drill.h"

const char *reservation_of(const struct solver_offering *offering)
{
    for (size_t i = 0; i < offering->more.count; i++) {
        const struct solver_expression *more = &offering->more.items[i];
        if (strcmp(more->key, SOLVER_RESERVATION_KEY) == 0 && more->op == SOLVER_IN &&
            more->value_count > 0)
            return more->values[0];
    }
    return NULL;
}

static bool is_reserved(const struct solver_offering *offering)
{
    return strcmp(offering->capacity_type, "reserved") == 0;
}

static const struct reservation_count *find_count(const struct cluster *cluster, const char *id)
{
    for (size_t i = 0; id != NULL && i < cluster->reserved.count; i++)
        if (strcmp(cluster->reserved.items[i].id, id) == 0)
            return &cluster->reserved.items[i];
    return NULL;
}

static struct used_reservation *find_used(const struct cluster *cluster, const char *id)
{
    for (size_t i = 0; id != NULL && i < cluster->used.count; i++)
        if (strcmp(cluster->used.items[i].id, id) == 0)
            return &cluster->used.items[i];
    return NULL;
}

void reservation_use(struct cluster *cluster, const char *id)
{
    struct used_reservation *used = find_used(cluster, id);
    if (used == NULL) {
        used = LIST_PUSH(cluster->arena, &cluster->used);
        *used = (struct used_reservation){.id = terminated(cluster->arena, text_of(id))};
    }
    used->count++;
}

/* The offering with what is left of its reservation. */
static struct solver_offering offering_left(const struct cluster *cluster,
                                            const struct cluster_type *type,
                                            const struct solver_offering *offering)
{
    struct solver_offering left = *offering;
    const char *id = reservation_of(offering);
    const struct reservation_count *count = find_count(cluster, id);
    const struct used_reservation *used = find_used(cluster, id);
    if (count != NULL)
        left.reservation_capacity = count->state_nodes;
    if (used != NULL)
        left.reservation_capacity -=
            used->count < left.reservation_capacity ? used->count : left.reservation_capacity;
    if (cluster->reserved.uncounted && left.reservation_capacity == 0)
        left.reservation_capacity = 1;
    /* A full reservation stays on offer, and holds up the pods that only it would suit. Of one
     * that nobody counted it is not known whether it is full. */
    if (catalog_is_builtin(cluster->catalog))
        left.available = count != NULL || cluster->reserved.uncounted;
    if (drill_takes_offering(cluster, type, offering))
        left.available = false;
    return left;
}

struct solver_instance_type reserved_type(const struct cluster *cluster,
                                          const struct cluster_type *type)
{
    const struct solver_instance_type *whole = &type->solver;
    struct solver_instance_type left = *whole;
    size_t reserved = 0, count = 0;
    for (size_t i = 0; i < whole->offering_count; i++)
        reserved += is_reserved(&whole->offerings[i]) ? 1 : 0;
    if (reserved == 0)
        return left;
    struct solver_offering *offerings =
        ARENA_ARRAY(cluster->arena, whole->offering_count, struct solver_offering);
    for (size_t i = 0; i < whole->offering_count; i++) {
        const struct solver_offering *offering = &whole->offerings[i];
        if (!is_reserved(offering))
            offerings[count++] = *offering;
        else if (!cluster->reserved.off)
            offerings[count++] = offering_left(cluster, type, offering);
    }
    left.offerings = offerings;
    left.offering_count = count;
    return left;
}

static bool is_named(const struct cluster *cluster, const char *id)
{
    for (size_t i = 0; i < cluster->type_count; i++) {
        const struct solver_instance_type *type = &cluster->types[i].solver;
        for (size_t j = 0; j < type->offering_count; j++) {
            const char *named = reservation_of(&type->offerings[j]);
            if (named != NULL && strcmp(named, id) == 0)
                return true;
        }
    }
    return false;
}

void reservations_check(const struct cluster *cluster, struct problems *problems)
{
    for (size_t i = 0; i < cluster->reserved.count; i++)
        if (!is_named(cluster, cluster->reserved.items[i].id))
            problems_add(problems, ERROR_INPUT, NOWHERE,
                         "capacity reservation %s is not known: no EC2NodeClass of a NodePool has "
                         "it in status.capacityReservations, and no offering of the catalogue "
                         "names it",
                         cluster->reserved.items[i].id);
}
