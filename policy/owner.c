#include "policy/owner.h"

#include "policy/pod_templates.h"
#include "policy/rail.h"

bool requester_is_controller(const struct requester *requester)
{
    static const char *const prefixes[] = {
        "system:serviceaccount:kube-system:",
        "system:kube-",
        "system:node:",
    };
    for (size_t i = 0; i < COUNT_OF(prefixes); i++)
        if (text_starts_with(requester->name, text_of(prefixes[i])))
            return true;
    return false;
}

static bool makes_daemon_pods(const struct requester *requester)
{
    return text_is(requester->name, "system:serviceaccount:kube-system:daemon-set-controller") ||
           text_is(requester->name, "system:kube-controller-manager");
}

bool is_of_daemon_set(const struct subject *subject, const struct object *object)
{
    const struct object *old = subject->old_object;
    if (object->kind != KIND_POD || !object_is_of_daemon_set(object))
        return object->kind == KIND_DAEMON_SET;
    return subject->existing || makes_daemon_pods(&subject->requester) ||
           (old != NULL && node_string(node_at(old->root->node, "spec.nodeName")).size > 0);
}

static const struct object *find_owner(const struct snapshot *snapshot, struct text namespace,
                                       const struct owner *owner)
{
    enum kind kind = kind_of(owner->api_version, owner->kind);
    if (kind == KIND_UNKNOWN)
        return NULL;
    const struct object *found = snapshot_find(
        snapshot, kind, kind_table[kind].namespaced ? namespace : TEXT(""), owner->name);
    bool other_uid = found != NULL && found->uid.size > 0 && owner->uid.size > 0 &&
                     !text_equal(found->uid, owner->uid);
    return other_uid ? NULL : found;
}

/* A Deployment names its ReplicaSets NAME-HASH and labels them and their pods with the hash: that
 * gives its name away even when the ReplicaSet is not visible. */
static struct text name_without_hash(const struct object *object, struct text owner_name)
{
    struct text hash = node_string(node_get(object->labels, "pod-template-hash"));
    struct text before;
    struct text after;
    if (hash.size > 0 && text_split_last(owner_name, '-', &before, &after) &&
        text_equal(after, hash))
        return before;
    return owner_name;
}

/* Whether a policy says that the owner is a custom resource whose Pods this service account makes.
 */
static bool makes_for(const struct policy_set *policies, const struct owner *owner,
                      const struct requester *requester)
{
    for (size_t i = 0; i < policies->count; i++) {
        const struct templated_kind *kind =
            templated_kind_find(&policies->items[i], owner->api_version, owner->kind);
        if (kind != NULL && requester_is_account(requester, &kind->controllers))
            return true;
    }
    return false;
}

struct root_owner root_owner_find(const struct world *world, const struct subject *subject)
{
    enum { LONGEST_CHAIN = 8 };
    const struct object *object = subject->object;
    struct root_owner root = {.name = object->name.size > 0 ? object->name : object->generate_name,
                              .object = object};
    if (object->controller.name.size == 0 ||
        !(subject->existing || requester_is_controller(&subject->requester) ||
          makes_for(world->policies, &object->controller, &subject->requester)))
        return root;

    root.named = true;
    const struct object *current = object;
    for (int i = 0; i < LONGEST_CHAIN && current->controller.name.size > 0; i++) {
        const struct owner *owner = &current->controller;
        const struct object *found = find_owner(world->snapshot, object->namespace, owner);
        root.object = found;
        if (found == NULL) {
            root.name = text_is(owner->kind, "ReplicaSet") ? name_without_hash(current, owner->name)
                                                           : owner->name;
            break;
        }
        root.name = found->name;
        current = found;
    }
    return root;
}
