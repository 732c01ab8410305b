/* Sets of requirements, at most one a key. */
#include <string.h>

#include "base/base.h"
#include "solver/solver.h"

/* The index of the key, or where it would be inserted. */
static size_t position_of(const struct solver_requirements *set, uint32_t key)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->items[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void solver_requirements_add(const struct solver_names *names, struct solver_requirements *set,
                             struct solver_requirement requirement, struct arena *arena)
{
    size_t position = position_of(set, requirement.key);
    if (position < set->count && set->items[position].key == requirement.key) {
        set->items[position] =
            solver_requirement_intersect(names, &requirement, &set->items[position], arena);
        return;
    }
    (void)LIST_PUSH(arena, set);
    memmove(&set->items[position + 1], &set->items[position],
            (set->count - 1 - position) * sizeof *set->items);
    set->items[position] = requirement;
}

const struct solver_requirement *solver_requirements_get(const struct solver_requirements *set,
                                                         uint32_t key)
{
    size_t position = position_of(set, key);
    return position < set->count && set->items[position].key == key ? &set->items[position] : NULL;
}

static bool clash(uint32_t key, uint32_t *conflict)
{
    if (conflict != NULL)
        *conflict = key;
    return false;
}

bool solver_requirements_intersect(const struct solver_names *names,
                                   const struct solver_requirements *a,
                                   const struct solver_requirements *b, uint32_t *conflict)
{
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        const struct solver_requirement *x = &a->items[i], *y = &b->items[j];
        if (x->key == y->key && !solver_requirement_intersects(names, x, y) &&
            !(solver_requirement_is_negative(x) && solver_requirement_is_negative(y)))
            return clash(x->key, conflict);
        i += x->key <= y->key;
        j += y->key <= x->key;
    }
    return true;
}

bool solver_requirements_compatible(const struct solver_names *names,
                                    const struct solver_requirements *r,
                                    const struct solver_requirements *incoming,
                                    bool (*allow_undefined)(const char *key, size_t size),
                                    uint32_t *conflict)
{
    for (size_t i = 0; i < incoming->count; i++) {
        const struct solver_requirement *wanted = &incoming->items[i];
        if (solver_requirements_get(r, wanted->key) != NULL ||
            solver_requirement_is_negative(wanted))
            continue;
        size_t size = 0;
        const char *key = solver_names_key_text(names, wanted->key, &size);
        if (allow_undefined == NULL || !allow_undefined(key, size))
            return clash(wanted->key, conflict);
    }
    return solver_requirements_intersect(names, r, incoming, conflict);
}
