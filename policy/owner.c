/* Whose object it is. */
#include "policy/owner.h"

#include "kube/snapshot.h"
#include "policy/pod_templates.h"
#include "policy/rail.h"

/* ---- who asks ---- */

#define KUBE_SYSTEM_ACCOUNT "system:serviceaccount:kube-system:"
/* Runs all of them under its own name when they have no accounts. */
#define CONTROLLER_MANAGER "system:kube-controller-manager"

bool requester_is_controller(const struct requester *requester)
{
    static const char *const prefixes[] = {KUBE_SYSTEM_ACCOUNT, "system:kube-", "system:node:"};
    for (size_t i = 0; i < COUNT_OF(prefixes); i++)
        if (text_starts_with(requester->name, text_of(prefixes[i])))
            return true;
    return false;
}

bool requester_cleans_up(const struct requester *requester)
{
    return TEXT_IS_ONE_OF(requester->name, CONTROLLER_MANAGER,
                          KUBE_SYSTEM_ACCOUNT "generic-garbage-collector",
                          KUBE_SYSTEM_ACCOUNT "namespace-controller");
}

/* ---- who makes what ---- */

/* Kubernetes' own controllers. */
static const struct maker {
    const char *account; /* of kube-system */
    enum kind owner, made;
} makers[] = {
    {"deployment-controller", KIND_DEPLOYMENT, KIND_REPLICA_SET},
    {"cronjob-controller", KIND_CRON_JOB, KIND_JOB},
    {"replicaset-controller", KIND_REPLICA_SET, KIND_POD},
    {"replication-controller", KIND_REPLICATION_CONTROLLER, KIND_POD},
    {"statefulset-controller", KIND_STATEFUL_SET, KIND_POD},
    {"daemon-set-controller", KIND_DAEMON_SET, KIND_POD},
    {"job-controller", KIND_JOB, KIND_POD},
};

static bool asks_as(const struct requester *requester, const struct maker *maker)
{
    const struct text prefix = TEXT(KUBE_SYSTEM_ACCOUNT);
    if (text_is(requester->name, CONTROLLER_MANAGER))
        return true;
    if (!text_starts_with(requester->name, prefix))
        return false;
    struct text account = {requester->name.data + prefix.size, requester->name.size - prefix.size};
    return text_is(account, maker->account);
}

bool is_of_daemon_set(const struct rail_call *call)
{
    const struct subject *subject = call->subject;
    const struct object *object = call->object;
    const struct object *old = subject->old_object;
    if (object->kind != KIND_POD || !object_is_of_daemon_set(object))
        return object->kind == KIND_DAEMON_SET;
    bool asked = false;
    for (size_t i = 0; i < COUNT_OF(makers); i++)
        asked |= makers[i].owner == KIND_DAEMON_SET && asks_as(&subject->requester, &makers[i]);
    return subject->existing || asked ||
           (old != NULL && node_string(node_at(old->root->node, "spec.nodeName")).size > 0);
}

/* Kubernetes' own kinds under an older name of their group, too. */
static bool is_trusted_owner(const struct trusted_controller *trusted, const struct owner *owner)
{
    enum kind known = kind_of(owner->api_version, owner->kind);
    struct text group =
        known == KIND_UNKNOWN ? group_of(owner->api_version) : text_of(kind_table[known].group);
    return text_equal(trusted->owner_kind, owner->kind) && text_equal(trusted->owner_group, group);
}

/* Whether the requester (NULL: anybody) makes such objects for the owner, as a policy says. What
 * the controllers of a custom resource make for it are Pods, other workloads, and other custom
 * resources. */
static bool policy_lets_make(const struct policy *policy, const struct requester *requester,
                             const struct owner *owner, enum kind made)
{
    for (size_t i = 0; i < policy->trusted_count; i++) {
        const struct trusted_controller *trusted = &policy->trusted[i];
        if (trusted->made == made && is_trusted_owner(trusted, owner) &&
            (requester == NULL || requester_is_account_of(requester, trusted->account)))
            return true;
    }
    const struct templated_kind *kind =
        templated_kind_find(policy, owner->api_version, owner->kind);
    if (kind == NULL || (made != KIND_UNKNOWN && (KIND_BIT(made) & KINDS_WORKLOADS) == 0))
        return false;
    return requester == NULL ? kind->controllers.count > 0
                             : requester_is_account(requester, &kind->controllers);
}

/* Whether the requester (NULL: anybody) makes objects of this kind for the owner. */
static bool makes(const struct policy_set *policies, const struct requester *requester,
                  const struct owner *owner, enum kind made)
{
    enum kind owner_kind = kind_of(owner->api_version, owner->kind);
    for (size_t i = 0; i < COUNT_OF(makers); i++)
        if (makers[i].owner == owner_kind && makers[i].made == made &&
            (requester == NULL || asks_as(requester, &makers[i])))
            return true;
    for (size_t i = 0; i < policies->count; i++)
        if (policy_lets_make(&policies->items[i], requester, owner, made))
            return true;
    return false;
}

/* ---- owners that are seen ---- */

static size_t slot_of(const struct seen_owners *seen, struct text group, struct text kind)
{
    uint64_t id = custom_kind_id(group, kind);
    size_t slot = 0;
    while (slot < OWNER_KINDS_MAX && seen->ids[slot] != id)
        slot++;
    return slot;
}

/* KIND_UNKNOWN: of its kind none are seen. */
static enum kind kind_of_owner(const struct world *world, const struct owner *owner)
{
    enum kind kind = kind_of(owner->api_version, owner->kind);
    if (kind != KIND_UNKNOWN)
        return kind;
    size_t slot = slot_of(&world->owners, group_of(owner->api_version), owner->kind);
    return slot == OWNER_KINDS_MAX ? KIND_UNKNOWN : (enum kind)(KIND_OWNER_FIRST + slot);
}

static bool can_see(const struct world *world, enum kind kind)
{
    return kind != KIND_UNKNOWN && !world->blind && world_lists(world, KIND_BIT(kind));
}

static struct awaited_owner as_awaited(enum kind kind, struct text namespace,
                                       const struct owner *owner)
{
    return (struct awaited_owner){
        .kind = kind,
        .namespace = kind_table[kind].namespaced ? namespace : TEXT(""),
        .name = owner->name,
        .uid = owner->uid,
    };
}

static const struct object *find_owner(const struct snapshot *snapshot,
                                       const struct awaited_owner *owner)
{
    if (owner->kind == KIND_UNKNOWN)
        return NULL;
    const struct object *found =
        snapshot_find(snapshot, owner->kind, owner->namespace, owner->name);
    if (found == NULL && kind_is_custom_owner(owner->kind)) /* some have no namespace */
        found = snapshot_find(snapshot, owner->kind, TEXT(""), owner->name);
    return found != NULL && uids_agree(found->uid, owner->uid) ? found : NULL;
}

bool world_has_owner(const struct world *world, const struct awaited_owner *awaited)
{
    return find_owner(world->snapshot, awaited) != NULL;
}

/* A Deployment names its ReplicaSets NAME-HASH and labels them and their pods with the hash. */
struct text owner_name_without_hash(const struct object *object)
{
    struct text hash = node_string(node_get(object->labels, "pod-template-hash"));
    struct text name = object->controller.name;
    struct text before, after;
    bool has_hash = text_is(object->controller.kind, "ReplicaSet") && hash.size > 0 &&
                    text_split_last(name, '-', &before, &after) && text_equal(after, hash);
    return has_hash ? before : name;
}

/* ---- the chain ---- */

static void believe(struct root_owner *root, const struct object *object)
{
    root->object = NULL;
    root->believed = true;
    root->name = owner_name_without_hash(object);
    root->kind = text_equal(root->name, object->controller.name) ? object->controller.kind
                                                                 : TEXT("Deployment");
}

static void climb(struct root_owner *root, const struct object *object,
                  const struct object *current, const struct object *found)
{
    bool passes_on = found->kind == KIND_REPLICA_SET || found->kind == KIND_JOB;
    root->object = found;
    root->kind = found->kind_name;
    root->name = found->name;
    if (current == object && object->kind == KIND_POD && passes_on)
        root->maker = found;
    else if (current == root->maker)
        root->above = found;
}

struct root_owner root_owner_find(const struct world *world, const struct subject *subject)
{
    enum { LONGEST_CHAIN = 8 };
    const struct object *object = subject->object;
    struct root_owner root = {.kind = object->kind_name,
                              .name = object->name.size > 0 ? object->name : object->generate_name,
                              .object = object};
    if (object->controller.name.size == 0 ||
        !(subject->existing ||
          makes(world->policies, &subject->requester, &object->controller, object->kind)))
        return root;

    root.named = true;
    const struct object *current = object;
    for (int i = 0; i < LONGEST_CHAIN && current->controller.name.size > 0; i++) {
        const struct owner *owner = &current->controller;
        enum kind made = kind_is_custom_owner(current->kind) ? KIND_UNKNOWN : current->kind;
        if (i > 0 && !subject->existing && !makes(world->policies, NULL, owner, made))
            break;
        enum kind kind = kind_of_owner(world, owner);
        const struct awaited_owner wanted = as_awaited(kind, object->namespace, owner);
        const struct object *found = find_owner(world->snapshot, &wanted);
        if (found != NULL) {
            climb(&root, object, current, found);
            current = found;
            continue;
        }
        if (subject->existing || !can_see(world, kind)) {
            believe(&root, current);
            break;
        }
        if (!snapshot_is_unreadable(world->snapshot, kind, wanted.namespace, wanted.name))
            root.awaited = wanted;
        if (i == 0) {
            root.object = NULL;
            root.kind = owner->kind;
            root.name = owner->name;
        }
        break;
    }
    if (root.maker == root.object)
        root.maker = NULL;
    return root;
}

/* What is there already is believed as far as such things are made at all. */
static bool may_be_made(const struct policy_set *policies, const struct object *object)
{
    const struct owner *owner = &object->controller;
    if (makes(policies, NULL, owner, object->kind))
        return true;
    for (size_t i = 0; i < policies->count; i++)
        if (templated_kind_find(&policies->items[i], owner->api_version, owner->kind) != NULL)
            return true;
    return false;
}

bool object_is_controlled(const struct world *world, const struct subject *subject,
                          const struct root_owner *root, enum kind judged_as)
{
    const struct object *object = subject->object;
    if (!root->named || object->kind == KIND_POD || (KIND_BIT(judged_as) & KINDS_WORKLOADS) == 0)
        return false;
    return !subject->existing || may_be_made(world->policies, object);
}

/* ---- what is believed ---- */

static bool asks_for_age(const struct policy_set *policies)
{
    FOR_EACH(policy, policies)
        for (size_t i = 0; i < policy->rail_count; i++)
            if (policy->rails[i].since_unix_s != 0 && policy_may_use(policy, &policy->rails[i]))
                return true;
    return false;
}

/* Names that are in the table may be another group's, too. */
static bool is_custom(struct text group, struct text kind)
{
    enum kind known = kind_by_name(kind);
    return known == KIND_UNKNOWN || !text_is(group, kind_table[known].group);
}

/* A plural that one policy says is that of all that say none. */
static void add_owner_kind(struct custom_kinds *kinds, const struct custom_kind *kind,
                           struct arena *arena)
{
    for (size_t i = 0; i < kinds->count; i++) {
        struct custom_kind *item = &kinds->items[i];
        if (!text_equal(item->group, kind->group) || !text_equal(item->kind, kind->kind))
            continue;
        if (item->plural.size == 0)
            item->plural = kind->plural;
        return;
    }
    *LIST_PUSH(arena, kinds) = *kind;
}

static void add_owner_kinds(const struct policy *policy, struct arena *arena,
                            struct custom_kinds *kinds)
{
    for (size_t i = 0; i < policy->trusted_count; i++) {
        const struct trusted_controller *item = &policy->trusted[i];
        const struct custom_kind kind = {item->owner_group, item->owner_kind, item->resource};
        if (is_custom(kind.group, kind.kind))
            add_owner_kind(kinds, &kind, arena);
    }
    for (size_t i = 0; i < policy->templated_count; i++) {
        const struct templated_kind *item = &policy->templated[i];
        const struct custom_kind kind = {item->group, item->kind, item->resource};
        if (item->controllers.count > 0)
            add_owner_kind(kinds, &kind, arena);
    }
}

void policy_set_owner_kinds(const struct policy_set *policies, struct arena *arena,
                            struct custom_kinds *kinds)
{
    *kinds = (struct custom_kinds){0};
    for (size_t i = 0; i < policies->count; i++)
        add_owner_kinds(&policies->items[i], arena, kinds);
    for (size_t i = 0; i < kinds->count; i++)
        if (kinds->items[i].plural.size == 0)
            kinds->items[i].plural = usual_resource(kinds->items[i].kind, arena);
}

struct text policy_set_believed(const struct policy_set *policies, kind_set unseen,
                                const struct seen_owners *seen, struct arena *arena)
{
    struct text_list names = {0};
    struct custom_kinds custom;
    if (!asks_for_age(policies))
        return TEXT("");
    for (size_t i = 0; i < COUNT_OF(makers); i++)
        if ((unseen & KIND_BIT(makers[i].owner)) != 0)
            *LIST_PUSH(arena, &names) = text_of(kind_table[makers[i].owner].name);
    policy_set_owner_kinds(policies, arena, &custom);
    FOR_EACH(kind, &custom)
        if (slot_of(seen, kind->group, kind->kind) == OWNER_KINDS_MAX)
            *LIST_PUSH(arena, &names) =
                arena_printf(arena, "%.*s.%.*s", TEXT_ARGS(kind->kind), TEXT_ARGS(kind->group));
    return texts_join(names.items, names.count, SIZE_MAX, arena);
}
