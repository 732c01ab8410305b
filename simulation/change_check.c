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
};
static const struct fixed_field fixed_fields[] = {
    {KIND_NODE_POOL, "spec.template.spec.nodeClassRef.group", NODE_STRING, NULL},
    {KIND_NODE_POOL, "spec.template.spec.nodeClassRef.kind", NODE_STRING, NULL},
    {KIND_STORAGE_CLASS, "provisioner", NODE_STRING, NULL},
    {KIND_STORAGE_CLASS, "reclaimPolicy", NODE_STRING, "Delete"},
    {KIND_STORAGE_CLASS, "volumeBindingMode", NODE_STRING, "Immediate"},
    {KIND_PRIORITY_CLASS, "value", NODE_NUMBER, "0"},
    {KIND_PRIORITY_CLASS, "preemptionPolicy", NODE_STRING, "PreemptLowerPriority"},
};

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

/* A value of another kind is no other value: it is written wrong. */
static bool is_of_kind(const struct checking *checking, const struct field *field,
                       enum node_kind kind)
{
    struct complaint complaint = {0};
    struct error wrong;
    kind_check(field, kind, checking->arena, &complaint);
    if (complaint_is_none(&complaint, checking->after, checking->arena, &wrong))
        return true;
    checking->refusal->may_be_made_anew = false;
    add(checking, &wrong);
    return false;
}

static void check_fixed(const struct checking *checking, const struct fixed_field *fixed)
{
    const struct field *after = field_at(checking->arena, checking->after->root, fixed->path);
    const struct node *before = node_at(checking->before->root->node, fixed->path);
    if (!is_of_kind(checking, after, fixed->value) || !differs(fixed, before, after->node))
        return;
    refuse(checking, after,
           arena_printf(
               checking->arena, "is %.*s and cannot change from %.*s",
               TEXT_ARGS(node_text(after->node)),
               TEXT_ARGS(node_is_given(before) ? node_text(before) : text_of(fixed->otherwise)))
               .data);
}

/* Of a StorageClass; parameters that are left out may stay, too. */
static void check_parameters(const struct checking *checking)
{
    const char *path = "parameters";
    const struct node *before = node_get(checking->before->root->node, path);
    const struct field *after = field_get(checking->arena, checking->after->root, path);
    for (size_t i = 0; node_is(after->node, NODE_MAP) && i < node_count(after->node); i++) {
        const struct member *member = &after->node->members[i];
        struct text key = member_key(member);
        if (node_equal(node_member(before, key), &member->value))
            continue;
        const struct field *field = field_member(checking->arena, after, key);
        if (is_of_kind(checking, field, NODE_STRING))
            refuse(checking, field, "cannot change");
        return;
    }
}

static void check_replicas(const struct checking *checking)
{
    const char *path = "spec.replicas";
    const struct field *after = field_at(checking->arena, checking->after->root, path);
    if (node_is_given(after->node) && !node_is_given(node_at(checking->before->root->node, path)))
        refuse(checking, after, "cannot be added to a NodePool");
}

struct change_refusal change_check(const struct object *before, const struct object *after,
                                   struct arena *arena, struct problems *problems)
{
    struct change_refusal refusal = {.may_be_made_anew = after->kind != KIND_NODE_POOL};
    const struct checking checking = {before, after, arena, problems, &refusal};
    bool of_pool = after->kind == KIND_NODE_POOL;
    if (of_pool)
        check_pool(&checking);
    if (before == NULL || (of_pool && (object_is_v1beta1(before) || object_is_v1beta1(after))))
        return refusal;
    for (size_t i = 0; i < COUNT_OF(fixed_fields); i++)
        if (fixed_fields[i].kind == after->kind)
            check_fixed(&checking, &fixed_fields[i]);
    if (of_pool)
        check_replicas(&checking);
    if (after->kind == KIND_STORAGE_CLASS)
        check_parameters(&checking);
    return refusal;
}
