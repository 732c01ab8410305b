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
    struct change_refusal *refusal;
};

static void add(const struct checking *checking, const struct error *wrong)
{
    const struct object *object = checking->after;
    if (checking->refusal->first.size == 0)
        checking->refusal->first = arena_text(checking->arena, text_of(wrong->what));
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

/* A field that the change leaves out may stay as it is, since others may have set it: nothing is
 * known of it then. */
struct fixed_field {
    enum kind kind;
    const char *path;
    enum node_kind value;
    const char *otherwise; /* what is stored where it is absent; NULL: nobody knows */
    const char *names[4];  /* of a string, as name_check() takes them */
};
static const struct fixed_field fixed_fields[] = {
    {KIND_NODE_POOL, "spec.template.spec.nodeClassRef.group", NODE_STRING, NULL, {NULL}},
    {KIND_NODE_POOL, "spec.template.spec.nodeClassRef.kind", NODE_STRING, NULL, {NULL}},
    {KIND_STORAGE_CLASS, "provisioner", NODE_STRING, NULL, {NULL}},
    {KIND_STORAGE_CLASS, "reclaimPolicy", NODE_STRING, "Delete", {"Delete", "Retain", ""}},
    {KIND_STORAGE_CLASS,
     "volumeBindingMode",
     NODE_STRING,
     "Immediate",
     {"Immediate", "WaitForFirstConsumer"}},
    {KIND_PRIORITY_CLASS, "value", NODE_NUMBER, "0", {NULL}},
    {KIND_PRIORITY_CLASS,
     "preemptionPolicy",
     NODE_STRING,
     "PreemptLowerPriority",
     {"PreemptLowerPriority", "Never"}},
};

static const char parameters[] = "parameters"; /* of a StorageClass, which do not change, too */

static bool is_of_system(const struct object *object)
{
    return object->kind == KIND_PRIORITY_CLASS && text_starts_with(object->name, TEXT("system-"));
}

/* One that the change leaves as it is stored is not asked about. */
static bool is_kept(const struct checking *checking, const struct node *before,
                    const struct node *after)
{
    return checking->before != NULL && node_equal(before, after);
}

static const struct node *stored_at(const struct checking *checking, const char *path)
{
    return checking->before == NULL ? NULL : node_at(checking->before->root->node, path);
}

static void check_value(const struct checking *checking, const struct fixed_field *fixed,
                        struct complaint *complaint)
{
    enum { MOST_OF_USERS = 1000000000 };
    struct arena *arena = checking->arena;
    const struct field *after = field_at(arena, checking->after->root, fixed->path);
    bool new_of_system = checking->before == NULL && is_of_system(checking->after);
    if (is_kept(checking, stored_at(checking, fixed->path), after->node))
        return;
    kind_check(after, fixed->value, arena, complaint);
    if (fixed->value == NODE_STRING)
        name_check(after, fixed->names, arena, complaint);
    else
        priority_check(after, new_of_system ? INT32_MAX : MOST_OF_USERS, arena, complaint);
}

static void check_parameter_values(const struct checking *checking, struct complaint *complaint)
{
    struct arena *arena = checking->arena;
    const struct node *before = stored_at(checking, parameters);
    const struct field *after = field_get(arena, checking->after->root, parameters);
    kind_check(after, NODE_MAP, arena, complaint);
    for (size_t i = 0; node_is(after->node, NODE_MAP) && i < node_count(after->node); i++) {
        const struct member *member = &after->node->members[i];
        struct text key = member_key(member);
        if (!is_kept(checking, node_member(before, key), &member->value))
            kind_check(field_member(arena, after, key), NODE_STRING, arena, complaint);
    }
}

/* A value that is written wrong is no other value, and making the object anew mends nothing. */
static bool values_are_right(const struct checking *checking)
{
    struct complaint complaint = {0};
    struct error wrong;
    for (size_t i = 0; i < COUNT_OF(fixed_fields); i++)
        if (fixed_fields[i].kind == checking->after->kind)
            check_value(checking, &fixed_fields[i], &complaint);
    if (checking->after->kind == KIND_STORAGE_CLASS)
        check_parameter_values(checking, &complaint);
    if (complaint_is_none(&complaint, checking->after, checking->arena, &wrong))
        return true;
    checking->refusal->may_be_made_anew = false;
    add(checking, &wrong);
    return false;
}

/* ---- what cannot change ---- */

static bool differs(const struct fixed_field *fixed, const struct node *before,
                    const struct node *after)
{
    if (!node_is_given(after))
        return false;
    if (!node_is_given(before))
        return fixed->otherwise != NULL && !text_is(node_text(after), fixed->otherwise);
    return !node_equal(before, after);
}

/* A NodePool takes its nodes along, so another one is made; the nodes of the old one go when pods
 * have moved. A class of Kubernetes' own has one value only. */
static const char *instead(const struct object *object)
{
    return object->kind == KIND_NODE_POOL ? "make a NodePool of another name"
           : is_of_system(object)         ? "make a PriorityClass of another name"
                                          : "delete it and create it again";
}

static void refuse(const struct checking *checking, const struct field *field, const char *what)
{
    struct arena *arena = checking->arena;
    struct error wrong;
    (void)error_set(&wrong, ERROR_INPUT, object_place(checking->after, field, arena), "%.*s %s; %s",
                    TEXT_ARGS(field_path(arena, field)), what, instead(checking->after));
    add(checking, &wrong);
}

static void check_fixed(const struct checking *checking, const struct fixed_field *fixed)
{
    const struct field *after = field_at(checking->arena, checking->after->root, fixed->path);
    const struct node *before = stored_at(checking, fixed->path);
    if (!differs(fixed, before, after->node))
        return;
    refuse(checking, after,
           arena_printf(
               checking->arena, "is %.*s and cannot change from %.*s",
               TEXT_ARGS(node_text(after->node)),
               TEXT_ARGS(node_is_given(before) ? node_text(before) : text_of(fixed->otherwise)))
               .data);
}

/* Parameters that are left out may stay, too. */
static void check_parameters(const struct checking *checking)
{
    const struct node *before = stored_at(checking, parameters);
    const struct field *after = field_get(checking->arena, checking->after->root, parameters);
    for (size_t i = 0; node_is(after->node, NODE_MAP) && i < node_count(after->node); i++) {
        const struct member *member = &after->node->members[i];
        struct text key = member_key(member);
        if (node_equal(node_member(before, key), &member->value))
            continue;
        refuse(checking, field_member(checking->arena, after, key), "cannot change");
        return;
    }
}

static void check_replicas(const struct checking *checking)
{
    const char *path = "spec.replicas";
    const struct field *after = field_at(checking->arena, checking->after->root, path);
    if (node_is_given(after->node) && !node_is_given(stored_at(checking, path)))
        refuse(checking, after, "cannot be added to a NodePool");
}

static void check_changes(const struct checking *checking)
{
    enum kind kind = checking->after->kind;
    for (size_t i = 0; i < COUNT_OF(fixed_fields); i++)
        if (fixed_fields[i].kind == kind)
            check_fixed(checking, &fixed_fields[i]);
    if (kind == KIND_NODE_POOL)
        check_replicas(checking);
    if (kind == KIND_STORAGE_CLASS)
        check_parameters(checking);
}

struct change_refusal change_check(const struct object *before, const struct object *after,
                                   struct arena *arena, struct problems *problems)
{
    bool of_pool = after->kind == KIND_NODE_POOL;
    struct change_refusal refusal = {.may_be_made_anew = !of_pool && !is_of_system(after)};
    const struct checking checking = {before, after, arena, problems, &refusal};
    if (of_pool)
        check_pool(&checking);
    if (of_pool && (object_is_v1beta1(after) || (before != NULL && object_is_v1beta1(before))))
        return refusal;
    if (values_are_right(&checking) && before != NULL)
        check_changes(&checking);
    return refusal;
}
