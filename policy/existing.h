/* What is there already, judged: a mistake in an owner's template is said of the owner, and not
 * again of each object that was made of it. */
#ifndef TAFFRAIL_POLICY_EXISTING_H
#define TAFFRAIL_POLICY_EXISTING_H

#include "policy/policy.h"

/* A mistake in an owner's template: the objects made of the template have it, too. */
struct told {
    const char *rail;
    struct text policy, found, path; /* path: finding_identity() */
    enum action action;              /* the worst that it reports */
};

/* What is kept of an object for those that are made of it. */
struct existing {
    const struct existing *owner; /* NULL: none is there */
    struct told_list {
        struct told *items;
        size_t count, capacity;
    } told; /* its own */
};

/* Old revisions and what is ended or being deleted do not count. */
bool existing_is_left_out(const struct object *object);
/* Judges an object whose owners were judged. The verdict has the findings that no owner has told.
 * Call it under a guard of the arena, which holds the findings. */
struct verdict existing_judge(const struct world *world, const struct object *object,
                              const struct existing *owner, int64_t now_unix_s,
                              struct arena *arena);
/* Keeps the findings of its verdict for what is made of the object; the arena gets copies. */
void existing_tell(struct existing *existing, const struct object *object,
                   const struct verdict *verdict, struct arena *arena);

#endif
