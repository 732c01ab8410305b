/* The controllers that a policy trusts besides Kubernetes' own, as spec.trustedControllers names
 * them. What their references are worth is decided in owner.c. */
#include "kube/label.h"
#include "policy/document.h"
#include "policy/pod_templates.h"

static const char *const made_kinds[] = {"Pod",         "ReplicaSet", "ReplicationController",
                                         "StatefulSet", "DaemonSet",  "Deployment",
                                         "Job",         "CronJob",    NULL};

const struct key trusted_controller_keys[] = {
    {.name = "account",
     .type = KEY_STRING,
     .offset = offsetof(struct trusted_controller, account),
     .summary = "its service account, as in argo-rollouts/argo-rollouts; each part a glob",
     .maximum = 507,
     .required = true},
    {.name = "owner",
     .type = KEY_STRING,
     .offset = offsetof(struct trusted_controller, owner),
     .summary = "the kind and the API group of what it makes them for, as in Rollout.argoproj.io",
     .maximum = 317,
     .required = true},
    {.name = "resource",
     .type = KEY_STRING,
     .offset = offsetof(struct trusted_controller, resource),
     .summary = "the plural of the owner, by which it is watched; absent: the kind in lower case "
                "and an s, as in rollouts",
     .maximum = 63},
    {.name = "makes",
     .type = KEY_ENUM,
     .offset = offsetof(struct trusted_controller, makes),
     .summary = "the kind of what it makes",
     .choices = made_kinds,
     .required = true},
    {0},
};

/* A kind alone is one of Kubernetes' own. */
static bool read_owner(struct trusted_controller *item)
{
    enum kind known = kind_by_name(item->owner);
    if (known != KIND_UNKNOWN) {
        item->owner_kind = item->owner;
        item->owner_group = text_of(kind_table[known].group);
        return true;
    }
    return text_split(item->owner, '.', &item->owner_kind, &item->owner_group) &&
           kind_name_is_valid(item->owner_kind) && domain_is_valid(item->owner_group);
}

bool trusted_controllers_check(const struct schema *schema, const struct field *spec,
                               struct trusted_controller *items, size_t count)
{
    struct arena *arena = schema->arena;
    const struct field *list = field_get(arena, spec, "trustedControllers");
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const struct field *item = field_item(arena, list, i);
        if (items[i].account.size > 0)
            good = schema_check_account(schema, field_get(arena, item, "account")) && good;
        if (items[i].owner.size > 0 && !read_owner(&items[i]))
            good = schema_refuse(schema, field_get(arena, item, "owner"),
                                 TEXT("KIND.GROUP, without a version"),
                                 TEXT(", such as Rollout.argoproj.io"));
        good = resource_check(schema, item, items[i].resource) && good;
        items[i].made = kind_by_name(text_of(made_kinds[items[i].makes]));
    }
    return good;
}
