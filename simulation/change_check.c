/* What the API server refuses of a change: values that it does not take, and fields that do not
 * change (docs/reference/karpenter.md 5.1, docs/reference/admission.md 7). */
#include "kube/complaint.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "simulation/amounts.h"
#include "simulation/change_impact.h"

struct checking {
    const struct object *before, *after;
    struct arena *arena;
    struct problems *problems;
    struct text *first;
};

static void add(const struct checking *checking, const struct error *wrong)
{
    const struct object *object = checking->after;
    if (checking->first->size == 0)
        *checking->first = arena_text(checking->arena, text_of(wrong->what));
    problems_add(checking->problems, wrong->kind, wrong->place,
                 "the API server refuses %.*s %.*s: %s", TEXT_ARGS(object->kind_name),
                 TEXT_ARGS(object->name), wrong->what);
}

/* ---- values ---- */

static void check_pool(const struct checking *checking)
{
    struct arena *arena = checking->arena;
    struct pool pool;
    struct complaint complaint = {0};
    struct named_amounts limits;
    struct error wrong;
    if (!pool_read(checking->after, arena, &pool))
        return;
    pool_check(&pool, arena, &complaint);
    if (!complaint_is_none(&complaint, checking->after, arena, &wrong))
        add(checking, &wrong);
    if (!named_amounts_read(checking->after, pool.limits_field, arena, &limits, &wrong))
        add(checking, &wrong);
}

/* ---- fields that do not change ---- */

struct fixed_field {
    enum kind kind;
    const char *path;
    const char *otherwise; /* what counts where it is absent; NULL: nothing */
    bool is_required;      /* absent on one side it is a mistake of another kind */
};
static const struct fixed_field fixed_fields[] = {
    {KIND_NODE_POOL, "spec.template.spec.nodeClassRef.group", NULL, true},
    {KIND_NODE_POOL, "spec.template.spec.nodeClassRef.kind", NULL, true},
    {KIND_STORAGE_CLASS, "provisioner", NULL, true},
    {KIND_STORAGE_CLASS, "parameters", NULL, false},
    {KIND_STORAGE_CLASS, "reclaimPolicy", "Delete", false},
    {KIND_STORAGE_CLASS, "volumeBindingMode", "Immediate", false},
    {KIND_PRIORITY_CLASS, "value", "0", false},
    {KIND_PRIORITY_CLASS, "preemptionPolicy", "PreemptLowerPriority", false},
};

static bool is_empty(const struct node *node)
{
    return !node_is_given(node) || (node_is(node, NODE_MAP) && node_count(node) == 0);
}

static bool differs(const struct fixed_field *fixed, const struct node *before,
                    const struct node *after)
{
    if (is_empty(before) || is_empty(after)) {
        const struct node *given = is_empty(before) ? after : before;
        bool both = is_empty(before) && is_empty(after);
        bool same =
            both || (fixed->otherwise != NULL && text_is(node_text(given), fixed->otherwise));
        return !same && !fixed->is_required;
    }
    return !node_equal(before, after);
}

static struct text value_text(const struct node *node, const char *otherwise)
{
    return node_is_given(node) ? node_text(node) : text_of(otherwise == NULL ? "" : otherwise);
}

/* A NodePool takes its nodes along, so another one is made; the nodes of the old one go when pods
 * have moved. */
static const char *instead(enum kind kind)
{
    return kind == KIND_NODE_POOL ? "make a NodePool of another name"
                                  : "delete it and create it again";
}

static void refuse(const struct checking *checking, const struct field *field, const char *what)
{
    struct arena *arena = checking->arena;
    struct error wrong;
    (void)error_set(&wrong, ERROR_INPUT, object_place(checking->after, field, arena), "%.*s %s; %s",
                    TEXT_ARGS(field_path(arena, field)), what, instead(checking->after->kind));
    add(checking, &wrong);
}

static void check_fixed(const struct checking *checking, const struct fixed_field *fixed)
{
    const struct field *after = field_at(checking->arena, checking->after->root, fixed->path);
    const struct node *before = node_at(checking->before->root->node, fixed->path);
    if (!differs(fixed, before, after->node))
        return;
    bool is_map = node_is(before, NODE_MAP) || node_is(after->node, NODE_MAP);
    refuse(checking, after,
           is_map ? "cannot change"
                  : arena_printf(checking->arena, "is %.*s and cannot change from %.*s",
                                 TEXT_ARGS(value_text(after->node, fixed->otherwise)),
                                 TEXT_ARGS(value_text(before, fixed->otherwise)))
                        .data);
}

static void check_replicas(const struct checking *checking)
{
    const char *path = "spec.replicas";
    bool before = node_is_given(node_at(checking->before->root->node, path));
    const struct field *after = field_at(checking->arena, checking->after->root, path);
    if (before != node_is_given(after->node))
        refuse(checking, after,
               before ? "cannot be taken away from a NodePool" : "cannot be added to a NodePool");
}

struct text change_check(const struct object *before, const struct object *after,
                         struct arena *arena, struct problems *problems)
{
    struct text first = {0};
    const struct checking checking = {before, after, arena, problems, &first};
    bool of_pool = after->kind == KIND_NODE_POOL;
    if (of_pool)
        check_pool(&checking);
    if (before == NULL || (of_pool && (object_is_v1beta1(before) || object_is_v1beta1(after))))
        return first;
    for (size_t i = 0; i < COUNT_OF(fixed_fields); i++)
        if (fixed_fields[i].kind == after->kind)
            check_fixed(&checking, &fixed_fields[i]);
    if (of_pool)
        check_replicas(&checking);
    return first;
}
