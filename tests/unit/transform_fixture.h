/* With TAFFRAIL_TEST_KEPT in the environment, the clusters of tests have objects as a live cluster
 * stores them, and the expected results must stay the same. Except with "all", this leaves out
 * workloads whose pod templates are not stored, for tests of their pods. */
#ifndef TAFFRAIL_TESTS_KEPT_FIXTURE_H
#define TAFFRAIL_TESTS_KEPT_FIXTURE_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "live/stored.h"
#include "unit.h"

/* Stored objects have no text, and their problems have no place in it. */
static inline bool objects_are_kept(void)
{
    return getenv("TAFFRAIL_TEST_KEPT") != NULL;
}

/* The object that each was made from. Its name is in struct object. */
static struct kept_pair {
    const struct object *whole, *kept;
} kept_pairs[256];
static size_t kept_pair_count;

static inline void say_not_kept(struct arena *arena, const struct object *object, const char *path,
                                const struct node *whole, const struct node *kept)
{
    for (size_t i = 0; node_is(whole, NODE_MAP) && i < node_count(whole); i++) {
        struct text key = member_key(&whole->members[i]);
        const struct node *same = node_member(kept, key);
        struct text below = arena_printf(arena, "%s.%.*s", path, TEXT_ARGS(key));
        if (same == NULL &&
            !TEXT_IS_ONE_OF(below, ".apiVersion", ".kind", ".metadata.name", ".metadata.namespace"))
            fprintf(stderr, "not kept of %.*s: %s\n", TEXT_ARGS(object->kind_name), below.data + 1);
        else if (same != NULL)
            say_not_kept(arena, object, below.data, &whole->members[i].value, same);
    }
    for (size_t i = 0; node_is(whole, NODE_LIST) && node_count(whole) == node_count(kept) &&
                       i < node_count(whole);
         i++)
        say_not_kept(arena, object, path, node_item(whole, i), node_item(kept, i));
}

/* When a test fails only with stored objects, a rail reads one of these fields: add it to
 * live/transform_fields.c. */
static inline void say_what_is_not_kept(struct arena *arena)
{
    for (size_t i = 0; i < kept_pair_count; i++)
        say_not_kept(arena, kept_pairs[i].whole, "", kept_pairs[i].whole->root->node,
                     kept_pairs[i].kept->root->node);
    if (kept_pair_count > 0)
        fprintf(stderr, "what a rail reads of these wants its line in live/transform_fields.c\n");
}

/* The object, or its stored form, until the program ends. Some tests have threads. */
static inline const struct object *kept_or_whole(const struct object *object)
{
    static const kind_set without_template = KIND_BIT(KIND_REPLICATION_CONTROLLER);
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static struct shared_trees trees;
    static struct stored *all;
    bool all_kinds = objects_are_kept() && strcmp(getenv("TAFFRAIL_TEST_KEPT"), "all") == 0;
    if (!objects_are_kept() || (!all_kinds && (KIND_BIT(object->kind) & without_template) != 0))
        return object;
    pthread_mutex_lock(&one_at_a_time);
    struct stored *kept = stored_create(object, &trees);
    CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
    kept->next = all;
    all = kept;
    if (kept_pair_count < COUNT_OF(kept_pairs))
        kept_pairs[kept_pair_count++] = (struct kept_pair){object, &kept->object};
    pthread_mutex_unlock(&one_at_a_time);
    return &kept->object;
}

#endif
