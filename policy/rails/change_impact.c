/* The rail change-impact: what a change does to the nodes that run, before it is done. */
#include "simulation/change_impact.h"

#include "kube/quantity.h"
#include "kube/snapshot.h"
#include "policy/rail.h"

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
    struct change_question question;
    struct change_impact impact;
    struct impact_words words;
    struct text found;         /* the reasons */
    const struct field *field; /* where it is told */
    const struct field *owner; /* an ownerReference that an update adds; NULL: none */
};

/* What goes because of the object. Earlier changes of it count while their nodes wait, so that
 * nobody gets by in small steps; so do nodes that lose their NodePool or their node class, since a
 * new one of its name would replace them. */
static size_t nodes_in_motion(const struct judging *judging)
{
    const struct change_impact *impact = &judging->impact;
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
    size_t total = judging->impact.nodes_total, least = SIZE_MAX;
    if (settings->max_nodes_given)
        least = most_of(settings->max_nodes, total);
    if (settings->max_share_given && most_of(settings->max_share, total) < least)
        least = most_of(settings->max_share, total);
    return settings->require_confirmation ? 0 : least;
}

/* The number of nodes that the stored object's annotation confirms; 0: none. */
static int64_t confirmed_nodes(const struct judging *judging)
{
    const struct node *root = judging->question.before->root->node;
    struct text written = node_text(node_get(node_at(root, "metadata.annotations"), CONFIRMATION));
    struct share share;
    return share_parse(written, &share) && !share.percent ? share.amount : 0;
}

static struct text fix_of_ceiling(const struct judging *judging, size_t nodes)
{
    const struct object *object = judging->question.before;
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
    text_builder_add(&statement, judging->words.effect);
    if (ceiling == 0)
        text_builder_add(&statement, TEXT(" Such a change has to be confirmed"));
    else
        text_builder_printf(&statement, " A change of more than %zu node%s has to be confirmed",
                            ceiling, ceiling == 1 ? "" : "s");
    if (confirmed > 0)
        text_builder_printf(&statement, ", and " CONFIRMATION " says %lld", (long long)confirmed);
    text_builder_add(&statement, TEXT("."));
    if (judging->words.blocks.size > 0)
        text_builder_printf(&statement, " %.*s", TEXT_ARGS(judging->words.blocks));
    report_with(judging->call, .field = judging->field, .found = judging->found,
                .statement = text_builder_text(&statement), .fix = fix_of_ceiling(judging, nodes));
}

/* Two lines, since a warning has room for one. */
static void warn(const struct judging *judging)
{
    struct rail_call *call = judging->call;
    report_as(call, SEVERITY_WARN, .field = judging->field, .found = judging->found,
              .statement = judging->words.effect);
    if (judging->words.blocks.size == 0)
        return;
    const char *below = judging->field->parent == NULL ? "spec" : "disruption";
    report_as(call, SEVERITY_WARN, .field = field_get(call->arena, judging->field, below),
              .statement = judging->words.blocks);
}

static bool is_occupied(const struct change_impact *impact)
{
    return impact->pods_moving > 0 || impact->nodes_kept > 0 || impact->user_total > 0;
}

static struct text fix_of_occupied(const struct judging *judging)
{
    if (judging->owner != NULL)
        return TEXT("Leave metadata.ownerReferences as it is.");
    switch (judging->question.before->kind) {
    case KIND_NODE_POOL:
        return TEXT("Set its limits to {cpu: \"0\"} so that it launches no more, drain its nodes "
                    "one by one, then delete it.");
    case KIND_PERSISTENT_VOLUME_CLAIM:
        return TEXT("Scale down what mounts it first.");
    default:
        return TEXT("Move what uses it first.");
    }
}

static void report_occupied(const struct judging *judging)
{
    report_with(judging->call, .field = judging->field, .found = judging->found,
                .statement = judging->words.effect, .fix = fix_of_occupied(judging));
}

/* ---- what cannot be seen ---- */

/* Without these nobody knows how many nodes go; what else is missing only takes from what blocks.
 */
static kind_set decisive_unseen(const struct judging *judging)
{
    enum kind kind = judging->question.before->kind;
    kind_set by_kind = KIND_BIT(KIND_NODE_CLAIM);
    if ((KINDS_WITH_NODES & KIND_BIT(kind)) == 0)
        by_kind = KIND_BIT(KIND_POD) | KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM);
    else if (kind != KIND_NODE_POOL)
        by_kind |= KIND_BIT(KIND_NODE_POOL);
    return judging->impact.unseen & by_kind;
}

static void report_unseen(const struct judging *judging)
{
    struct rail_call *call = judging->call;
    kind_set wanted = decisive_unseen(judging);
    report_as(
        call, SEVERITY_UNDECIDED, .field = judging->field, .found = node_text(judging->field->node),
        .statement =
            arena_printf(call->arena, "What this change does to nodes and pods is not known: %.*s.",
                         TEXT_ARGS(judging->words.unseen)),
        .wanted = WANTS_ONE, .fix = advice_to_show(call, wanted, ""));
}

/* ---- the whole ---- */

static void weigh(const struct judging *judging)
{
    const struct change_impact *impact = &judging->impact;
    bool is_deletion = judging->question.after == NULL;
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

/* ---- an owner that is added ---- */

static bool has_owner(const struct node *owners, struct text uid)
{
    for (size_t i = 0; i < node_count(owners); i++)
        if (text_equal(node_text(node_get(node_item(owners, i), "uid")), uid))
            return true;
    return false;
}

static const struct field *added_owner(const struct judging *judging)
{
    static const char path[] = "metadata.ownerReferences";
    const struct node *before = node_at(judging->question.before->root->node, path);
    const struct field *after = field_at(judging->call->arena, judging->question.after->root, path);
    for (size_t i = 0; i < node_count(after->node); i++)
        if (!has_owner(before, node_text(node_get(node_item(after->node, i), "uid"))))
            return field_item(judging->call->arena, after, i);
    return NULL;
}

/* The garbage collector deletes what has lost its owners, and the webhook is not asked then. */
static void judge_as_deletion(struct judging *judging)
{
    judging->question.after = NULL;
    judging->field = judging->owner;
}

static void tell_of_owner(struct judging *judging)
{
    const struct node *owner = judging->owner->node;
    judging->words.effect = arena_printf(
        judging->call->arena,
        "This change adds the owner %.*s %.*s: when that is gone, the garbage collector deletes "
        "this %s and asks nobody. %.*s",
        TEXT_ARGS(node_text(node_get(owner, "kind"))),
        TEXT_ARGS(node_text(node_get(owner, "name"))),
        kind_table[judging->question.before->kind].name, TEXT_ARGS(judging->words.effect));
}

static kind_set seen_by(const struct world *world)
{
    return world->blind ? 0 : ~world->unseen;
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

/* ---- in memory of its own: a cluster is larger than what a review may take ---- */

enum {
    IMPACT_BYTES = 128 << 20,
    TEXT_BYTES = 1024, /* as long as what is told of a finding */
    MOST_NODES = 5000,
};
struct texts {
    char effect[TEXT_BYTES], blocks[TEXT_BYTES], unseen[TEXT_BYTES], found[TEXT_BYTES];
};
struct look {
    struct judging *judging;
    struct arena *arena;
    struct texts *texts;
    bool known;
};

static struct text keep(struct text t, char *buffer)
{
    size_t size = t.size < TEXT_BYTES ? t.size : TEXT_BYTES;
    while (size < t.size && size > 0 && ((unsigned char)t.data[size] & 0xc0) == 0x80)
        size--; /* between code points */
    memcpy(buffer, t.data, size);
    return (struct text){buffer, size};
}

static void look_guarded(void *argument)
{
    struct look *look = argument;
    struct judging *judging = look->judging;
    struct change_impact *impact = &judging->impact;
    if (!change_impact(&judging->question, look->arena, impact))
        return;
    struct impact_words words = change_impact_words(&judging->question, impact, look->arena);
    struct text found = texts_join(impact->reasons.items, impact->reasons.count,
                                   impact->reasons.count, look->arena);
    judging->words.effect = keep(words.effect, look->texts->effect);
    judging->words.blocks = keep(words.blocks, look->texts->blocks);
    judging->words.unseen = keep(words.unseen, look->texts->unseen);
    judging->found = keep(found, look->texts->found);
    look->known = true;
}

/* Of the impact the numbers stay, and the words. It takes no memory of the call while it holds its
 * own: the call may be stopped where it allocates. False: nothing is known of such a change, or,
 * with *too_much, it could not be looked at. */
static bool look_at(struct judging *judging, bool *too_much)
{
    struct rail_call *call = judging->call;
    struct look look = {.judging = judging, .texts = ARENA_NEW(call->arena, struct texts)};
    struct error error;
    look.arena = arena_create(IMPACT_BYTES);
    *too_much = look.arena == NULL;
    if (look.arena == NULL)
        return false;
    arena_watch_as(look.arena, call->arena);
    *too_much = !arena_guard(look.arena, look_guarded, &look, &error);
    arena_destroy(look.arena);
    arena_tick(call->arena, SIZE_MAX); /* what stopped it may stop the call */
    return !*too_much && look.known;
}

static void judge(struct rail_call *call)
{
    const struct subject *subject = call->subject;
    bool is_deletion = subject->operation == OPERATION_DELETE, too_much = false;
    struct judging judging = {
        .call = call,
        .settings = call->settings,
        .question =
            {
                .snapshot = call->world->snapshot,
                .seen = seen_by(call->world),
                .now_unix_s = call->now_unix_s,
                .before = is_deletion ? subject->object : subject->old_object,
                .after = is_deletion ? NULL : subject->object,
                .orphans = subject->orphans,
                .most_nodes = MOST_NODES,
            },
        .field = call->object->root,
    };
    if (is_the_old_one(call) || (is_deletion && requester_cleans_up(&subject->requester)) ||
        !asks_for(call->settings, call->object->kind))
        return;
    if (!is_deletion && node_get(judging.field->node, "spec") != NULL)
        judging.field = field_get(call->arena, judging.field, "spec");
    judging.owner = is_deletion ? NULL : added_owner(&judging);
    if (judging.owner != NULL)
        judge_as_deletion(&judging);
    if (look_at(&judging, &too_much)) {
        if (judging.owner != NULL)
            tell_of_owner(&judging);
        weigh(&judging);
    } else if (too_much)
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
        "hold that up. It warns; above maxNodes or maxShare the change is denied as the rail's "
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
