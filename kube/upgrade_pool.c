/* Converts Provisioners and v1beta1 NodePools to NodePools v1. */
#include "kube/label.h"
#include "kube/object.h"
#include "kube/time.h"
#include "kube/upgrade.h"
#include "solver/well_known.h"

struct nodes {
    struct node *items;
    size_t count, capacity;
};

/* ---- the node class ---- */

/* Of providers other than AWS the requirements tell, whose keys have the group for a domain. */
static const struct {
    const char *group, *kind;
} node_classes[] = {
    {"karpenter.azure.com", "AKSNodeClass"},
    {"karpenter-ibm.sh", "IBMNodeClass"},
    {"karpenter.k8s.aws", "EC2NodeClass"},
};
enum { OF_AWS = COUNT_OF(node_classes) - 1 };

static size_t provider_of(const struct node *reference, const struct node *requirements)
{
    struct text kind = node_string(node_get(reference, "kind"));
    for (size_t i = 0; i < OF_AWS; i++) {
        struct text group = text_of(node_classes[i].group);
        if (text_is(kind, node_classes[i].kind))
            return i;
        for (size_t j = 0; kind.size == 0 && j < node_count(requirements); j++)
            if (label_is_in_domain(node_string(node_get(node_item(requirements, j), "key")), group))
                return i;
    }
    return OF_AWS;
}

static void put_class_ref(const struct node *reference, struct text name,
                          const struct node *requirements, struct arena *arena,
                          struct upgrade *upgrade, struct members *spec)
{
    size_t provider = provider_of(reference, requirements);
    struct text group = node_string(node_get(reference, "group"));
    struct text kind = node_string(node_get(reference, "kind"));
    struct members written = {0};
    if (group.size == 0)
        group = node_string(node_get(reference, "apiGroup"));
    if (group.size == 0)
        text_split(node_string(node_get(reference, "apiVersion")), '/', &group, NULL);
    if (group.size == 0)
        group = text_of(node_classes[provider].group);
    if (kind.size == 0 || text_is(kind, "AWSNodeTemplate"))
        kind = text_of(node_classes[provider].kind);
    members_put_text(&written, arena, "group", group);
    members_put_text(&written, arena, "kind", kind);
    if (name.size > 0)
        members_put_text(&written, arena, "name", name);
    else
        upgrade_note(upgrade, arena,
                     "name the node class in spec.template.spec.nodeClassRef.name: v1 wants it");
    members_put_map(spec, arena, "nodeClassRef", &written);
}

static void move_kubelet(const struct node *kubelet, struct text class_name, struct arena *arena,
                         struct upgrade *upgrade)
{
    struct members kept = {0};
    for (size_t i = 0; node_is(kubelet, NODE_MAP) && i < node_count(kubelet); i++) {
        const struct member *member = &kubelet->members[i];
        /* A field of v1alpha5; containerd is its only value, and v1 has no such field. */
        if (!text_is(member_key(member), "containerRuntime"))
            *LIST_PUSH(arena, &kept) = *member;
    }
    upgrade->class_name = class_name;
    if (kept.count == 0)
        return;
    struct node *written = ARENA_NEW(arena, struct node);
    *written = node_of_members(kept.items, kept.count);
    upgrade->kubelet = written;
    upgrade_note(upgrade, arena, "in EC2NodeClass %.*s write spec.kubelet: %.*s",
                 TEXT_ARGS(class_name), TEXT_ARGS(node_yaml_line(written, arena)));
}

/* ---- labels, annotations and requirements ---- */

/* Labels without those that v1 refuses. */
static void put_labels(const struct node *old, struct arena *arena, struct upgrade *upgrade,
                       struct members *metadata)
{
    struct members kept = {0};
    for (size_t i = 0; node_is(old, NODE_MAP) && i < node_count(old); i++) {
        struct text key = member_key(&old->members[i]);
        if (label_is_restricted(key))
            upgrade_note(upgrade, arena,
                         "the label %.*s is left out: v1 refuses it; use one of your own domain",
                         TEXT_ARGS(key));
        else
            *LIST_PUSH(arena, &kept) = old->members[i];
    }
    members_put_map(metadata, arena, "labels", &kept);
}

/* Karpenter's own annotations under the names that they have now; of two that have one name now,
 * the first. */
static void put_annotations(const struct node *old, struct arena *arena, struct members *metadata)
{
    struct members kept = {0};
    struct text_map names = {0};
    for (size_t i = 0; node_is(old, NODE_MAP) && i < node_count(old); i++) {
        const struct member *member = &old->members[i];
        bool renamed = TEXT_IS_ONE_OF(member_key(member), "karpenter.sh/do-not-evict",
                                      "karpenter.sh/do-not-consolidate");
        struct text name = renamed ? TEXT("karpenter.sh/do-not-disrupt") : member_key(member);
        if (text_map_add(&names, arena, name))
            *LIST_PUSH(arena, &kept) = member_of(name, member->value);
    }
    members_put_map(metadata, arena, "annotations", &kept);
}

static void put_metadata(const struct upgrade_places *places, struct arena *arena,
                         struct upgrade *upgrade, struct members *template)
{
    struct members metadata = {0};
    put_labels(upgrade_gather(places, "labels", arena, upgrade), arena, upgrade, &metadata);
    put_annotations(upgrade_gather(places, "annotations", arena, upgrade), arena, &metadata);
    members_put_map(template, arena, "metadata", &metadata);
}

/* The requirements that v1 takes. */
static struct nodes kept_requirements(const struct node *old, struct arena *arena,
                                      struct upgrade *upgrade)
{
    struct nodes list = {0};
    for (size_t i = 0; node_is(old, NODE_LIST) && i < node_count(old); i++) {
        const struct node *item = node_item(old, i);
        struct text key = node_string(node_get(item, "key"));
        if (text_is(key, "karpenter.sh/provisioner-name"))
            upgrade_note(upgrade, arena,
                         "the requirement on karpenter.sh/provisioner-name is left out: nodes are "
                         "labelled karpenter.sh/nodepool with the pool's name");
        else if (label_is_restricted(key))
            upgrade_note(upgrade, arena, "the requirement on %.*s is left out: v1 refuses it",
                         TEXT_ARGS(key));
        else
            *LIST_PUSH(arena, &list) = *item;
        if (!node_is_given(node_get(item, "operator")))
            upgrade_note(upgrade, arena, "the requirement on %.*s has no operator: say which",
                         TEXT_ARGS(key));
    }
    return list;
}

/* ---- what both kinds have ---- */

/* At most as long as nodes are to live. */
static void put_expiry(struct text old, struct text most, struct arena *arena,
                       struct upgrade *upgrade, struct members *spec)
{
    int64_t old_s = 0;
    int64_t most_s = 0;
    struct text written = old;
    if (duration_parse(most, &most_s) &&
        (text_is(old, "Never") || (duration_parse(old, &old_s) && old_s > most_s))) {
        written = most;
        upgrade_note(upgrade, arena,
                     "expireAfter is %.*s, the most that node-rotation allows here; it was %.*s",
                     TEXT_ARGS(most), TEXT_ARGS(old));
    }
    members_put_text(spec, arena, "expireAfter", written);
    if (!text_is(written, "Never"))
        upgrade_note(
            upgrade, arena,
            "v1 drains a node that is %.*s old at once: expiry no longer waits for budgets",
            TEXT_ARGS(written));
}

/* Those of a Provisioner stand one level lower than those of a NodePool. */
static const struct node *new_limits(const struct node *old, bool of_provisioner,
                                     struct arena *arena, struct upgrade *upgrade)
{
    const struct node *limits = node_get(old, "limits");
    const struct node *resources = node_get(limits, "resources");
    bool lower = node_is(resources, NODE_MAP);
    if (node_is_given(limits) && lower != of_provisioner)
        upgrade_note(upgrade, arena,
                     "%s stood where the API server drops it, and is written to spec.limits",
                     lower ? "spec.limits.resources" : "spec.limits");
    return lower ? resources : limits;
}

/* A pool on its way to v1. */
struct pool_parts {
    const struct upgrade_places *places;
    struct nodes requirements;
    const struct node *reference;
    struct text class_name;
};

/* Taints without what only a toleration has. */
static const struct node *kept_taints(const struct node *old, const char *name, struct arena *arena,
                                      struct upgrade *upgrade)
{
    static const char *const fields[] = {"key", "value", "effect", "timeAdded", NULL};
    struct nodes list = {0};
    if (!node_is(old, NODE_LIST))
        return old;
    for (size_t i = 0; i < node_count(old); i++) {
        const struct node *item = node_item(old, i);
        struct members kept = {0};
        for (size_t j = 0; node_is(item, NODE_MAP) && j < node_count(item); j++)
            if (text_is_one_of(member_key(&item->members[j]), fields, COUNT_OF(fields) - 1))
                *LIST_PUSH(arena, &kept) = item->members[j];
        upgrade_leave_out(item, arena_printf(arena, "%s[%zu]", name, i).data, fields, "a taint",
                          arena, upgrade);
        *LIST_PUSH(arena, &list) =
            node_is(item, NODE_MAP) ? node_of_members(kept.items, kept.count) : *item;
    }
    return node_keep(arena, node_of_items(list.items, list.count));
}

static void put_template_spec(const struct pool_parts *parts, struct arena *arena,
                              struct upgrade *upgrade, struct members *inside)
{
    static const char *const taints[] = {"taints", "startupTaints"};
    const struct node *requirements =
        node_keep(arena, node_of_items(parts->requirements.items, parts->requirements.count));
    for (size_t i = 0; i < COUNT_OF(taints); i++)
        members_put(inside, arena, taints[i],
                    kept_taints(upgrade_gather(parts->places, taints[i], arena, upgrade), taints[i],
                                arena, upgrade));
    members_put(inside, arena, "requirements", requirements);
    put_class_ref(parts->reference, parts->class_name, requirements, arena, upgrade, inside);
}

/* ---- NodePool v1beta1 ---- */

static void put_disruption(const struct node *old, struct arena *arena, struct members *spec)
{
    struct members disruption = {0};
    struct text policy = node_string(node_get(old, "consolidationPolicy"));
    if (!node_is(old, NODE_MAP))
        return;
    if (policy.size == 0 || text_is(policy, "WhenUnderutilized"))
        policy = TEXT("WhenEmptyOrUnderutilized");
    members_put_text(&disruption, arena, "consolidationPolicy", policy);
    const struct node *after = node_get(old, "consolidateAfter");
    members_put_text(&disruption, arena, "consolidateAfter",
                     after == NULL ? TEXT("0s") : node_text(after));
    members_put(&disruption, arena, "budgets", node_get(old, "budgets"));
    members_put_map(spec, arena, "disruption", &disruption);
}

/* Where v1beta1 has it; else where v1 has it, or where it has no place at all. */
static struct text old_expiry(const struct upgrade_places *places, struct arena *arena,
                              struct upgrade *upgrade)
{
    const struct node *expires = node_at(places->spec, "disruption.expireAfter");
    return node_text(
        node_is_given(expires) ? expires : upgrade_gather(places, "expireAfter", arena, upgrade));
}

/* Says what is not taken along. What is gathered from a place that is none stands here, too. */
static void leave_out_of_pool(const struct node *old, struct arena *arena, struct upgrade *upgrade)
{
#define GATHERED                                                                         \
    "requirements", "taints", "startupTaints", "nodeClassRef", "expireAfter", "kubelet", \
        "terminationGracePeriod", "labels", "annotations"
    static const char *const of_spec[] = {"template", "disruption", "limits",
                                          "weight",   GATHERED,     NULL};
    static const char *const of_template[] = {"metadata", "spec", GATHERED, NULL};
    static const char *const of_template_spec[] = {"resources", GATHERED, NULL};
#undef GATHERED
    upgrade_leave_out(old, "spec", of_spec, "a NodePool", arena, upgrade);
    upgrade_leave_out(node_get(old, "template"), "spec.template", of_template, "a NodePool", arena,
                      upgrade);
    upgrade_leave_out(node_at(old, "template.spec"), "spec.template.spec", of_template_spec,
                      "a NodePool", arena, upgrade);
    if (node_at(old, "template.spec.resources") != NULL)
        upgrade_note(upgrade, arena,
                     "spec.template.spec.resources is left out: v1 has no such field");
}

void upgrade_pool(const struct object *object, struct text most, struct arena *arena,
                  struct upgrade *upgrade)
{
    const struct node *old = node_get(object->root->node, "spec");
    const struct upgrade_places places = {old, {"template.spec", "template", ""}, "spec"};
    const struct upgrade_places of_metadata = {
        old, {"template.metadata", "template.spec", "template", ""}, "metadata"};
    struct pool_parts parts = {.places = &places};
    struct members spec = {0};
    struct members template = {0};
    struct members inside = {0};
    parts.reference = upgrade_gather(&places, "nodeClassRef", arena, upgrade);
    parts.class_name = node_string(node_get(parts.reference, "name"));
    parts.requirements =
        kept_requirements(upgrade_gather(&places, "requirements", arena, upgrade), arena, upgrade);
    put_metadata(&of_metadata, arena, upgrade, &template);
    put_template_spec(&parts, arena, upgrade, &inside);
    struct text expires = old_expiry(&places, arena, upgrade);
    if (expires.size > 0)
        put_expiry(expires, most, arena, upgrade, &inside);
    members_put(&inside, arena, "terminationGracePeriod",
                upgrade_gather(&places, "terminationGracePeriod", arena, upgrade));
    members_put_map(&template, arena, "spec", &inside);
    members_put_map(&spec, arena, "template", &template);
    put_disruption(node_get(old, "disruption"), arena, &spec);
    members_put(&spec, arena, "limits", new_limits(old, false, arena, upgrade));
    members_put(&spec, arena, "weight", node_get(old, "weight"));
    move_kubelet(upgrade_gather(&places, "kubelet", arena, upgrade), parts.class_name, arena,
                 upgrade);
    leave_out_of_pool(old, arena, upgrade);
    upgrade->wanted = TEXT(POOL_VERSION);
    upgrade_add(object, POOL_VERSION, "NodePool", &spec, arena, upgrade);
}

/* ---- Provisioner ---- */

static bool mentions(const struct node *requirements, const struct node *labels, const char *key)
{
    for (size_t i = 0; i < node_count(requirements); i++)
        if (text_is(node_string(node_get(node_item(requirements, i), "key")), key))
            return true;
    return node_get(labels, key) != NULL;
}

static void add_requirement(struct nodes *list, struct arena *arena, const char *key,
                            const char *op, const struct text *values, size_t value_count)
{
    struct node *items = ARENA_ARRAY(arena, value_count, struct node);
    struct members requirement = {0};
    for (size_t i = 0; i < value_count; i++)
        items[i] = node_of_text(values[i]);
    members_put_text(&requirement, arena, "key", text_of(key));
    members_put_text(&requirement, arena, "operator", text_of(op));
    members_put(&requirement, arena, "values", node_keep(arena, node_of_items(items, value_count)));
    *LIST_PUSH(arena, list) = node_of_members(requirement.items, requirement.count);
}

/* The defaults that v1alpha5 added to a Provisioner. */
static void add_old_defaults(const struct node *requirements, const struct node *labels,
                             struct arena *arena, struct nodes *list)
{
    static const struct {
        const char *key;
        struct text value;
    } plain[] = {
        {LABEL_OS, TEXT("linux")},
        {LABEL_ARCH, TEXT("amd64")},
        {LABEL_CAPACITY_TYPE, TEXT("on-demand")},
    };
    static const char *const of_types[] = {
        LABEL_INSTANCE_TYPE,
        "karpenter.k8s.aws/instance-family",
        "karpenter.k8s.aws/instance-category",
        "karpenter.k8s.aws/instance-generation",
    };
    static const struct text categories[] = {TEXT("c"), TEXT("m"), TEXT("r")};
    static const struct text generation = TEXT("2");
    bool chooses_types = false;
    for (size_t i = 0; i < COUNT_OF(plain); i++)
        if (!mentions(requirements, labels, plain[i].key))
            add_requirement(list, arena, plain[i].key, "In", &plain[i].value, 1);
    for (size_t i = 0; i < COUNT_OF(of_types); i++)
        chooses_types = chooses_types || mentions(requirements, labels, of_types[i]);
    if (chooses_types)
        return;
    add_requirement(list, arena, of_types[2], "In", categories, COUNT_OF(categories));
    add_requirement(list, arena, of_types[3], "Gt", &generation, 1);
}

/* As a duration; whole hours as people write them. */
static struct text seconds_text(const struct node *seconds, struct arena *arena)
{
    enum { HOUR_S = 3600 };
    int64_t seconds_s = 0;
    if (text_to_int64(node_text(seconds), &seconds_s) && seconds_s > 0 && seconds_s % HOUR_S == 0)
        return arena_printf(arena, "%lldh", (long long)(seconds_s / HOUR_S));
    return arena_printf(arena, "%.*ss", TEXT_ARGS(node_text(seconds)));
}

static void put_old_disruption(const struct node *old, struct arena *arena, struct members *spec)
{
    struct members disruption = {0};
    const struct node *empty_s = node_get(old, "ttlSecondsAfterEmpty");
    bool consolidates = node_true(node_at(old, "consolidation.enabled"));
    struct text after = TEXT("Never");
    if (consolidates)
        after = TEXT("0s");
    else if (empty_s != NULL)
        after = seconds_text(empty_s, arena);
    members_put_text(&disruption, arena, "consolidationPolicy",
                     consolidates ? TEXT("WhenEmptyOrUnderutilized") : TEXT("WhenEmpty"));
    members_put_text(&disruption, arena, "consolidateAfter", after);
    members_put_map(spec, arena, "disruption", &disruption);
}

/* The node template that it names, else the class that is made of its provider. */
static struct text provisioner_class(const struct object *object, const struct node *old,
                                     struct arena *arena, struct upgrade *upgrade)
{
    struct text name = node_string(node_at(old, "providerRef.name"));
    if (name.size == 0 && object->name.size > 0 && !node_is(node_get(old, "provider"), NODE_MAP))
        upgrade_note(
            upgrade, arena,
            "put the name of the EC2NodeClass in spec.template.spec.nodeClassRef.name: the "
            "Provisioner names no AWSNodeTemplate");
    return name.size > 0 ? name : object->name;
}

static void add_provider(const struct object *object, const struct node *provider,
                         struct arena *arena, struct upgrade *upgrade)
{
    struct members spec = {0};
    if (!node_is(provider, NODE_MAP))
        return;
    upgrade_node_class(provider, arena, upgrade, &spec);
    upgrade_add(object, CLASS_VERSION, "EC2NodeClass", &spec, arena, upgrade);
}

void upgrade_provisioner(const struct object *object, struct text most, struct arena *arena,
                         struct upgrade *upgrade)
{
    static const char *const known[] = {"annotations",
                                        "consolidation",
                                        "kubeletConfiguration",
                                        "labels",
                                        "limits",
                                        "provider",
                                        "providerRef",
                                        "requirements",
                                        "taints",
                                        "startupTaints",
                                        "ttlSecondsAfterEmpty",
                                        "ttlSecondsUntilExpired",
                                        "weight",
                                        NULL};
    const struct node *old = node_get(object->root->node, "spec");
    const struct upgrade_places places = {old, {""}, "spec"};
    const struct node *expires_s = node_get(old, "ttlSecondsUntilExpired");
    const struct node *requirements = node_get(old, "requirements");
    struct pool_parts parts = {.places = &places, .reference = node_get(old, "providerRef")};
    struct members spec = {0};
    struct members template = {0};
    struct members inside = {0};
    parts.requirements = kept_requirements(requirements, arena, upgrade);
    add_old_defaults(requirements, node_get(old, "labels"), arena, &parts.requirements);
    parts.class_name = provisioner_class(object, old, arena, upgrade);
    put_metadata(&places, arena, upgrade, &template);
    put_template_spec(&parts, arena, upgrade, &inside);
    put_expiry(expires_s == NULL ? TEXT("Never") : seconds_text(expires_s, arena), most, arena,
               upgrade, &inside);
    members_put_map(&template, arena, "spec", &inside);
    members_put_map(&spec, arena, "template", &template);
    put_old_disruption(old, arena, &spec);
    members_put(&spec, arena, "limits", new_limits(old, true, arena, upgrade));
    members_put(&spec, arena, "weight", node_get(old, "weight"));
    move_kubelet(node_get(old, "kubeletConfiguration"), parts.class_name, arena, upgrade);
    upgrade_leave_out(old, "spec", known, "a Provisioner", arena, upgrade);
    upgrade->wanted = TEXT("NodePool of " POOL_VERSION);
    upgrade_add(object, POOL_VERSION, "NodePool", &spec, arena, upgrade);
    add_provider(object, node_get(old, "provider"), arena, upgrade);
}
