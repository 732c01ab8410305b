/* Runs a rail that changes pods over a table: each row is a pod and its changes. The changed pod is
 * asked again and must not change a second time. */
#ifndef TAFFRAIL_CHANGE_TABLE_H
#define TAFFRAIL_CHANGE_TABLE_H

#include "dump.h"
#include "rail_table.h"

struct change_case {
    const char *object; /* YAML */
    /* One line a change: OUTCOME ADDITION; then one line an operation of the patch: OP PATH
     * VALUE. */
    const char *changes;
};

struct change_table {
    const char *rails;   /* YAML, under spec.rails of the policy, whose mode is enforce */
    const char *cluster; /* YAML documents that are visible; NULL: none */
    const char *user;    /* the user of the request; NULL: a person */
    const struct change_case *cases;
    size_t case_count;
};

/* All rails in one policy. */
#define CONTROLLER "system:kube-controller-manager"

static inline struct text change_table_text(const struct verdict *verdict, struct arena *arena)
{
    struct text_builder lines = {.arena = arena};
    for (size_t i = 0; i < verdict->change_count; i++)
        text_builder_printf(&lines, "%s%s %.*s", lines.size == 0 ? "" : "\n",
                            outcome_name(verdict->changes[i].outcome),
                            TEXT_ARGS(verdict->changes[i].added));
    for (size_t i = 0; i < verdict->patch.count; i++)
        text_builder_printf(&lines, "\n%s %.*s %.*s", patch_verb_name(verdict->patch.items[i].op),
                            TEXT_ARGS(verdict->patch.items[i].path),
                            TEXT_ARGS(dump(arena, verdict->patch.items[i].value)));
    return text_builder_text(&lines);
}

/* The API server asks again when another webhook has changed the pod after us. */
static inline void change_table_ask_again(const struct world *world, const struct subject *subject,
                                          const struct verdict *verdict, struct arena *arena)
{
    const struct node *root = NULL;
    struct object *changed = ARENA_NEW(arena, struct object);
    struct error error = {0};
    CU_ASSERT_FATAL(doc_patch(subject->object->root->node, verdict->patch.items,
                              verdict->patch.count, arena, &root, &error));
    CU_ASSERT_FATAL(object_read(root, NULL, TEXT("default"), arena, changed, &error));
    struct subject again = *subject;
    struct verdict second;
    again.object = changed;
    policy_mutate(world, &again, 0, arena, &second);
    ASSERT_INT(second.change_count, 0);
}

static inline void change_table_run(const struct change_table *table)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(table->rails, table->cluster, arena);
    for (size_t i = 0; i < table->case_count; i++) {
        const struct change_case *row = &table->cases[i];
        struct rail_documents documents = rail_table_read(row->object, arena);
        CU_ASSERT_EQUAL_FATAL(documents.count, 1);
        struct subject subject = {.operation = OPERATION_CREATE,
                                  .object = &documents.items[0],
                                  .requester = {.name = text_of(table->user)}};
        struct verdict verdict;
        policy_mutate(&world, &subject, 0, arena, &verdict);
        struct text changes = change_table_text(&verdict, arena);
        if (!text_is(changes, row->changes))
            fprintf(stderr, "%s\n", row->object);
        ASSERT_TEXT(changes, row->changes);
        change_table_ask_again(&world, &subject, &verdict, arena);
    }
    arena_destroy(arena);
}

#endif
