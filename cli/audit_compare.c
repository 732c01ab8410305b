/* `taffrail audit --compare`: what is there, judged by two sets of policies, owner by owner. */
#include <stdlib.h>
#include <string.h>

#include "cli/audit.h"
#include "policy/owner.h"
#include "report/format.h"

/* One finding, of the owner it is to be told of. */
struct told_of {
    const char *rail;
    struct text namespace, kind, name;
    bool after; /* it is of the new policies */
    bool undecided;
    enum action action; /* of what is undecided none */
    const struct finding *finding;
    const struct object *object;
};
struct told_list {
    struct told_of *items;
    size_t count, capacity;
};

/* The workload at the end of the chain of owners, as far as it is seen. */
static struct told_of owner_of(const struct world *world, const struct object *object,
                               struct arena *arena)
{
    const struct subject subject = {
        .operation = OPERATION_CREATE, .object = object, .existing = true};
    const struct root_owner root = root_owner_find(world, &subject);
    return (struct told_of){.namespace = object->namespace,
                            .kind = root.kind,
                            .name = root.object == object ? object_display_name(object, arena)
                                                          : root.name,
                            .object = object};
}

static void add_side(struct told_list *list, const struct report *report, const struct world *world,
                     bool after, struct arena *arena)
{
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct report_entry *entry = &report->entries[i];
        if (entry->verdict.finding_count == 0)
            continue;
        struct told_of told = owner_of(world, entry->object, arena);
        told.after = after;
        for (size_t j = 0; j < entry->verdict.finding_count; j++) {
            const struct finding *finding = &entry->verdict.findings[j];
            told.rail = finding->rail;
            told.undecided = finding->undecided;
            told.action = finding->undecided ? ACTION_NONE : finding->action;
            told.finding = finding;
            *LIST_PUSH(arena, list) = told;
        }
    }
}

static int compare_keys(const struct told_of *a, const struct told_of *b)
{
    int order = strcmp(a->rail, b->rail);
    if (order == 0)
        order = text_compare(a->namespace, b->namespace);
    if (order == 0)
        order = text_compare(a->kind, b->kind);
    return order != 0 ? order : text_compare(a->name, b->name);
}

/* Of one owner and rail the old findings first, and of each side those of an object together. */
static int compare_told(const void *a_pointer, const void *b_pointer)
{
    const struct told_of *a = a_pointer;
    const struct told_of *b = b_pointer;
    int order = compare_keys(a, b);
    if (order == 0)
        order = a->after - b->after;
    return order != 0 ? order : (a->object > b->object) - (a->object < b->object);
}

/* The findings of one owner and rail. What is undecided on a side may be anything there. */
static struct difference_row compare_one(const struct told_of *told, size_t count,
                                         struct arena *arena, bool *undecided)
{
    const struct told_of *worst[2] = {NULL, NULL};
    size_t objects[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        bool after = told[i].after;
        if (worst[after] == NULL || told[i].action > worst[after]->action)
            worst[after] = &told[i];
        objects[after] +=
            i == 0 || told[i - 1].after != after || told[i - 1].object != told[i].object;
    }
    struct difference_row row = {
        .rail = told->rail,
        .namespace = told->namespace,
        .kind = told->kind,
        .name = told->name,
        .before = worst[0] == NULL ? ACTION_NONE : worst[0]->action,
        .after = worst[1] == NULL ? ACTION_NONE : worst[1]->action,
    };
    *undecided =
        (worst[0] != NULL && worst[0]->undecided) || (worst[1] != NULL && worst[1]->undecided);
    row.difference = *undecided ? DIFFERENCE_SAME : difference_of(row.before, row.after);
    bool lost = row.difference == DIFFERENCE_FREED || row.difference == DIFFERENCE_CLEARED;
    const struct finding *finding = worst[!lost] == NULL ? NULL : worst[!lost]->finding;
    row.count = objects[!lost];
    if (finding != NULL) {
        row.policy = finding->policy;
        row.path = finding->path;
        row.problem = finding->problem;
    }
    if (row.after == ACTION_EXCEPTED)
        row.exception = finding_exception(worst[1]->finding, arena);
    return row;
}

void audit_compare(const struct audit_side *before, const struct audit_side *after,
                   struct arena *arena, struct comparison *comparison, size_t *undecided)
{
    struct told_list list = {0};
    add_side(&list, &before->report, before->world, false, arena);
    add_side(&list, &after->report, after->world, true, arena);
    if (list.count > 1)
        qsort(list.items, list.count, sizeof *list.items, compare_told);
    struct difference_row *rows = ARENA_ARRAY(arena, list.count, struct difference_row);
    size_t row_count = 0;
    *undecided = 0;
    for (size_t i = 0, next = 0; i < list.count; i = next) {
        while (next < list.count && compare_keys(&list.items[i], &list.items[next]) == 0)
            next++;
        bool one_undecided = false;
        rows[row_count++] = compare_one(&list.items[i], next - i, arena, &one_undecided);
        *undecided += one_undecided;
    }
    difference_rows_mark_owners(rows, row_count);
    comparison->rows = rows;
    comparison->row_count = difference_rows_finish(rows, row_count);
    comparison->judged = after->report.entry_count;
}
