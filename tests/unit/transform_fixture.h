/* With TAFFRAIL_TEST_KEPT in the environment the clusters of tests are made of objects as a live
 * cluster keeps them: what the tests expect must not change. Unless it is "all" this leaves out
 * workloads whose pod templates are not kept, for tests of what becomes of their pods. */
#ifndef TAFFRAIL_TESTS_KEPT_FIXTURE_H
#define TAFFRAIL_TESTS_KEPT_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "live/stored.h"
#include "unit.h"

/* Then they have no text, and what is wrong with them no place in it. */
static inline bool objects_are_kept(void)
{
    return getenv("TAFFRAIL_TEST_KEPT") != NULL;
}

/* The object, or what is kept of it, until the program ends. */
static inline const struct object *kept_or_whole(const struct object *object)
{
    static const kind_set without_template = KIND_BIT(KIND_REPLICATION_CONTROLLER);
    static struct shared_trees trees;
    static struct stored *all;
    bool all_kinds = objects_are_kept() && strcmp(getenv("TAFFRAIL_TEST_KEPT"), "all") == 0;
    if (!objects_are_kept() || (!all_kinds && (KIND_BIT(object->kind) & without_template) != 0))
        return object;
    struct stored *kept = stored_create(object, &trees);
    CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
    kept->next = all;
    all = kept;
    return &kept->object;
}

#endif
