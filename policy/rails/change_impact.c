/* The rail change-impact: what a change does to the nodes that run, before it is done. */

#include "kube/pool.h"
#include "kube/quantity.h"
#include "kube/snapshot.h"
#include "policy/rail.h"
#include "policy/rails/change_look.h"
#include "policy/reading.h"

#define CONFIRMATION "taffrail.dev/confirm-nodes"

struct settings {
    struct share max_nodes, max_share;
    bool max_nodes_given, max_share_given;
    bool require_confirmation, deny_occupied_delete;
    struct key_strings deletions;
};

static const char *const deletions[] = {"PersistentVolumeClaim", "Namespace", NULL};

static const struct key keys[] = {
    {.name = "maxNodes",
     .type = KEY_SHARE,
     .offset = offsetof(struct settings, max_nodes),
     .given_offset = offsetof(struct settings, max_nodes_given),
     .summary = "the most nodes that one change may replace or delete; absent: any number"},
    {.name = "maxShare",
     .type = KEY_SHARE,
     .offset = offsetof(struct settings, max_share),
     .given_offset = offsetof(struct settings, max_share_given),
     .summary = "the same as a share of the nodes of the NodePool or node class, as in 25%"},
    {.name = "requireConfirmation",
     .type = KEY_BOOL,
     .offset = offsetof(struct settings, require_confirmation),
     .summary = "below these ceilings, too, a change that replaces or deletes nodes is confirmed "
                "first, by the annotation " CONFIRMATION " on the object as it is stored",
     .default_value = "false"},
    {.name = "denyOccupiedDelete",
     .type = KEY_BOOL,
     .offset = offsetof(struct settings, deny_occupied_delete),
     .summary = "what is in use cannot be deleted, confirmed or not: a NodePool whose nodes have "
                "pods that would have to move, a class, a claim",
     .default_value = "false"},
    {.name = "deletions",
     .type = KEY_STRINGS,
     .offset = offsetof(struct settings, deletions),
     .summary = "other kinds whose deletion is judged",
     .choices = deletions,
     .default_value = "[]"},
    {0},
};

/* ---- one change ---- */

struct judging {
    struct rail_call *call;
    const struct settings *settings;
    const struct change_look *look;
    const struct field *field; /* where it is told */
};

/* What goes because of the object. Earlier changes of it count while their nodes wait, so that
 * nobody gets by in small steps; so do nodes that lose their NodePool or their node class, since a
 * new one of its name would replace them. */
static size_t nodes_in_motion(const struct judging *judging)
{
    const struct change_impact *impact = &judging->look->impact;
    size_t nodes = change_impact_nodes(impact) + impact->nodes_kept;
    if (impact->nodes_replaced > 0)
        nodes += impact->nodes_waiting;
    return nodes < impact->nodes_total ? nodes : impact->nodes_total;
}

/* ---- ceilings ---- */

static size_t most_of(struct share share, size_t total)
{
    return share.percent ? total * (size_t)share.amount / 100 : (size_t)share.amount;
}

/* The least that the settings let go. */
static size_t ceiling_of(const struct judging *judging)
{
    const struct settings *settings = judging->settings;
    size_t total = judging->look->impact.nodes_total, least = SIZE_MAX;
    if (settings->max_nodes_given)
        least = most_of(settings->max_nodes, total);
    if (settings->max_share_given && most_of(settings->max_share, total) < least)
        least = most_of(settings->max_share, total);
    return settings->require_confirmation ? 0 : least;
}

/* The number of nodes that the stored object's annotation confirms; 0: none. */
static int64_t confirmed_nodes(const struct judging *judging)
{
    const struct node *root = judging->look->question.before->root->node;
    struct text written = node_text(node_get(node_at(root, "metadata.annotations"), CONFIRMATION));
    struct share share;
    return share_parse(written, &share) && !share.percent ? share.amount : 0;
}

static struct text fix_of_ceiling(const struct judging *judging, size_t nodes)
{
    const struct object *object = judging->look->question.before;
    return arena_printf(judging->call->arena,
                        "If that is meant, run kubectl annotate --overwrite %s %.*s " CONFIRMATION
                        "=%zu and make the change again.",
                        kind_table[object->kind].plural, TEXT_ARGS(object->name), nodes);
}

/* ---- what is told ---- */

static void report_ceiling(const struct judging *judging, size_t nodes, size_t ceiling)
{
    struct arena *arena = judging->call->arena;
    int64_t confirmed = confirmed_nodes(judging);
    struct text_builder statement = {.arena = arena};
    text_builder_add(&statement, judging->look->words.effect);
    if (ceiling == 0)
        text_builder_add(&statement, TEXT(" Such a change has to be confirmed"));
    else
        text_builder_printf(&statement, " A change of more than %zu node%s has to be confirmed",
                            ceiling, ceiling == 1 ? "" : "s");
    if (confirmed > 0)
        text_builder_printf(&statement, ", and " CONFIRMATION " says %lld", (long long)confirmed);
    text_builder_add(&statement, TEXT("."));
    const struct text others[] = {judging->look->words.blocks,
                                  judging->look->afterwards.unschedulable,
                                  judging->look->afterwards.price};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (others[i].size > 0)
            text_builder_printf(&statement, " %.*s", TEXT_ARGS(others[i]));
    report_with(judging->call, .field = judging->field, .found = judging->look->reasons,
                .statement = text_builder_text(&statement), .fix = fix_of_ceiling(judging, nodes));
}

static void warn_below(const struct judging *judging, const char *path, struct text statement)
{
    struct rail_call *call = judging->call;
    if (statement.size > 0)
        report_as(call, SEVERITY_WARN, .field = field_at(call->arena, call->object->root, path),
                  .statement = statement);
}

/* A line for each, since a warning has room for one. */
static void warn(const struct judging *judging)
{
    const struct change_look *look = judging->look;
    bool is_whole = judging->field->parent == NULL;
    report_as(judging->call, SEVERITY_WARN, .field = judging->field, .found = look->reasons,
              .statement = look->words.effect);
    warn_below(judging, is_whole ? "spec" : "spec.disruption", look->words.blocks);
    warn_below(judging, "spec.template", look->afterwards.unschedulable);
    warn_below(judging, "spec.template.spec", look->afterwards.price);
}

static bool is_occupied(const struct change_impact *impact)
{
    return impact->pods_moving > 0 || impact->pods_gone > 0 || impact->nodes_kept > 0 ||
           impact->user_total > 0;
}

static struct text fix_of_occupied(const struct judging *judging)
{
    if (judging->look->owner != NULL)
        return TEXT("Leave metadata.ownerReferences as it is.");
    switch (judging->look->question.before->kind) {
    case KIND_NODE_POOL:
        /* A pool with replicas takes no limit but this one, which counts their successors. */
        return arena_printf(judging->call->arena,
                            "Set its limits to {%s: \"0\"} so that it launches no more, drain its "
                            "nodes one by one, then delete it.",
                            pool_is_static(call_pool(judging->call)) ? "nodes" : "cpu");
    case KIND_PERSISTENT_VOLUME_CLAIM:
        return TEXT("Scale down what mounts it first.");
    default:
        return TEXT("Move what uses it first.");
    }
}

static void report_occupied(const struct judging *judging)
{
    report_with(judging->call, .field = judging->field, .found = judging->look->reasons,
                .statement = judging->look->words.effect, .fix = fix_of_occupied(judging));
}

/* ---- what cannot be seen ---- */

/* Without these nobody knows how many nodes go; what else is missing only takes from what blocks.
 */
static kind_set decisive_unseen(const struct judging *judging)
{
    enum kind kind = judging->look->question.before->kind;
    kind_set by_kind = KIND_BIT(KIND_NODE_CLAIM);
    if ((KINDS_WITH_NODES & KIND_BIT(kind)) == 0)
        by_kind = KIND_BIT(KIND_POD) | KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM);
    else if (kind != KIND_NODE_POOL)
        by_kind |= KIND_BIT(KIND_NODE_POOL);
    return judging->look->impact.unseen & by_kind;
}

static void report_unseen(const struct judging *judging)
{
    struct rail_call *call = judging->call;
    kind_set wanted = decisive_unseen(judging);
    report_as(
        call, SEVERITY_UNDECIDED, .field = judging->field, .found = node_text(judging->field->node),
        .statement =
            arena_printf(call->arena, "What this change does to nodes and pods is not known: %.*s.",
                         TEXT_ARGS(judging->look->words.unseen)),
        .wanted = WANTS_ONE, .fix = advice_to_show(call, wanted, ""));
}

/* ---- the whole ---- */

/* Where it is told. */
static const struct field *field_of(const struct rail_call *call, const struct change_look *look)
{
    const struct field *root = call->object->root;
    if (look->owner != NULL)
        return look->owner;
    bool is_update = call->subject->operation == OPERATION_UPDATE;
    return is_update && node_get(root->node, "spec") != NULL ? field_get(call->arena, root, "spec")
                                                             : root;
}

static void weigh(const struct judging *judging)
{
    const struct change_impact *impact = &judging->look->impact;
    bool is_deletion = judging->look->question.after == NULL;
    size_t nodes = nodes_in_motion(judging), ceiling = ceiling_of(judging);
    if (is_deletion && judging->settings->deny_occupied_delete && is_occupied(impact))
        report_occupied(judging);
    else if (nodes > ceiling && confirmed_nodes(judging) < (int64_t)nodes)
        report_ceiling(judging, nodes, ceiling);
    else if (decisive_unseen(judging) == 0 && change_impact_is_felt(impact))
        warn(judging);
    if (decisive_unseen(judging) != 0)
        report_unseen(judging);
}

static bool asks_for(const void *rail_settings, enum kind kind)
{
    const struct settings *settings = rail_settings;
    if (kind != KIND_PERSISTENT_VOLUME_CLAIM && kind != KIND_NAMESPACE)
        return true;
    for (size_t i = 0; i < settings->deletions.count; i++)
        if (text_is(settings->deletions.items[i], kind_table[kind].name))
            return true;
    return false;
}

/* What is there already is compared with what it becomes, and needs no judgement of its own. */
static bool is_the_old_one(const struct rail_call *call)
{
    return call->subject->operation == OPERATION_UPDATE &&
           (call->subject->old_object == NULL || call->object == call->subject->old_object);
}

static void judge(struct rail_call *call)
{
    const struct subject *subject = call->subject;
    bool is_deletion = subject->operation == OPERATION_DELETE;
    if (is_the_old_one(call) || (is_deletion && requester_cleans_up(&subject->requester)) ||
        !asks_for(call->settings, call->object->kind))
        return;
    const struct change_look *look = call_change_look(call);
    const struct judging judging = {call, call->settings, look, field_of(call, look)};
    if (look->is_known)
        weigh(&judging);
    else if (look->is_too_much)
        report(call, SEVERITY_UNDECIDED, judging.field, TEXT(""),
               "What this change does is not known: the cluster is too large to be looked at.");
}

const struct rail rail_change_impact = {
    .name = "change-impact",
    .summary = "changes that replace many nodes, confirmed before",
    .detail =
        "An edit of a NodePool or of a node class may make all of its nodes drift, and its "
        "deletion takes them all at once, whatever the disruption budgets say. The rail says "
        "before it is done how many nodes go, how many at a time and from when, and which pods "
        "hold that up; of clusters of at most 500 Nodes and 5000 Pods also which pods would fit "
        "nowhere afterwards, and what the nodes cost that are bought instead. It warns; above "
        "maxNodes or maxShare the change is denied as the rail's "
        "mode says, until the stored object carries the annotation " CONFIRMATION " with a number "
        "of nodes that is no less. An annotation that comes with the change itself does not "
        "count. It stays until it is taken off. Nodes that still wait for earlier changes of the "
        "object are added up, a static NodePool that is scaled down (kubectl scale) loses the "
        "nodes above, and a node class that is deleted counts with the nodes of its NodePools, "
        "which a new one of its name would replace.\n"
        "The rail also tells of deletions of StorageClasses and PriorityClasses that are in use "
        "and, where the key deletions names them, of mounted PersistentVolumeClaims and of "
        "Namespaces. The garbage collector and the namespace controller are not held up; so an "
        "update that adds an owner is judged as a deletion, which it becomes when the owner is "
        "gone.\n"
        "Images, security groups and subnets that only the cloud knows may make nodes drift, "
        "too: then the number of nodes is said that may be replaced.",
    .example = "change-impact:\n"
               "  mode: enforce\n"
               "  maxNodes: 10\n"
               "  maxShare: 25%\n"
               "  denyOccupiedDelete: true\n"
               "  deletions: [PersistentVolumeClaim, Namespace]\n",
    .kinds = KINDS_OF_IMPACT,
    .changes_of =
        KINDS_OF_IMPACT & ~(KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) | KIND_BIT(KIND_NAMESPACE)),
    .deletions_of = KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) | KIND_BIT(KIND_NAMESPACE),
    .asks_for = asks_for,
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .judges_scale = true,
    .judge = judge,
};
