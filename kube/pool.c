/* Reads NodePools and Provisioners. */
#include "kube/pool.h"

#include "kube/object.h"
#include "kube/snapshot.h"

/* The paths of what rails read in a pool. v1 and v1beta1 NodePools agree on these. */
struct pool_paths {
    const char *requirements, *labels, *taints, *startup_taints, *limits, *node_class;
};
static const struct pool_paths node_pool_paths = {
    "spec.template.spec.requirements",
    "spec.template.metadata.labels",
    "spec.template.spec.taints",
    "spec.template.spec.startupTaints",
    "spec.limits",
    "spec.template.spec.nodeClassRef",
};
static const struct pool_paths provisioner_paths = {
    "spec.requirements",  "spec.labels",           "spec.taints",
    "spec.startupTaints", "spec.limits.resources", "spec.providerRef",
};

static struct text node_class_label(const struct pool *pool, struct arena *arena)
{
    struct text group = pool->node_class_group, kind = pool->node_class_kind;
    if (group.size == 0 || kind.size == 0 || pool->node_class_name.size == 0)
        return TEXT("");
    char *label = ARENA_ARRAY(arena, group.size + 1 + kind.size + 1, char);
    memcpy(label, group.data, group.size);
    label[group.size] = '/';
    for (size_t i = 0; i < kind.size; i++) {
        char c = kind.data[i];
        label[group.size + 1 + i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return (struct text){label, group.size + 1 + kind.size};
}

/* The API group that a key of a provider tells; empty: it tells none but Amazon's, or none at all.
 */
static struct text group_of_key(struct text key)
{
    static const char *const groups[] = {"karpenter.azure.com", "karpenter.k8s.gcp",
                                         "karpenter-ibm.sh", "karpenter.k8s.alibabacloud"};
    struct text domain = TEXT("");
    text_split(key, '/', &domain, NULL);
    return text_is_one_of(domain, groups, COUNT_OF(groups)) ? domain : TEXT("");
}

static const struct {
    const char *kind, *group;
} classes[] = {
    {"AKSNodeClass", "karpenter.azure.com"}, {"GCENodeClass", "karpenter.k8s.gcp"},
    {"IBMNodeClass", "karpenter-ibm.sh"},    {"ECSNodeClass", "karpenter.k8s.alibabacloud"},
    {"KWOKNodeClass", "karpenter.kwok.sh"},  {"EC2NodeClass", "karpenter.k8s.aws"},
    {"NodeClass", "eks.amazonaws.com"},
};
enum { AMAZONS = 2 }; /* the last */

/* Empty: one of Amazon's, or of nobody that is known. */
static struct text group_of_kind(struct text kind)
{
    for (size_t i = 0; i < COUNT_OF(classes) - AMAZONS; i++)
        if (text_is(kind, classes[i].kind))
            return text_of(classes[i].group);
    return TEXT("");
}

struct text node_class_kind_of(struct text group)
{
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        if (text_is(group, classes[i].group))
            return text_of(classes[i].kind);
    return TEXT("");
}

/* Providers use the group of their node classes, and some their cloud's domain, too. */
struct label_domains pool_label_domains(const struct pool *pool, struct arena *arena)
{
    struct label_domains domains = {0};
    if (pool->node_class_group.size > 0)
        *LIST_PUSH(arena, &domains) = arena_text(arena, pool->node_class_group).data;
    *LIST_PUSH(arena, &domains) = "kubernetes.azure.com";
    *LIST_PUSH(arena, &domains) = "cloud.google.com";
    return domains;
}

bool label_domains_have(const struct label_domains *domains, struct text key)
{
    struct text domain = TEXT("");
    text_split(key, '/', &domain, NULL);
    FOR_EACH(of_cloud, domains)
        if (text_is(domain, *of_cloud))
            return true;
    return false;
}

/* v1 has a group, v1beta1 and v1alpha5 an apiVersion; apiGroup is what other references have. Where
 * none is written, the kind tells, then the keys that the pool requires. */
static struct text node_class_group(const struct node *reference, const struct pool *pool)
{
    struct text group = node_string(node_get(reference, "group"));
    if (group.size == 0)
        text_split(node_string(node_get(reference, "apiVersion")), '/', &group, NULL);
    if (group.size == 0)
        group = node_string(node_get(reference, "apiGroup"));
    if (group.size == 0)
        group = group_of_kind(pool->node_class_kind);
    for (size_t i = 0; i < pool->requirements.count && group.size == 0; i++)
        group = group_of_key(pool->requirements.items[i].key);
    return group;
}

bool pool_read(const struct object *object, struct arena *arena, struct pool *pool)
{
    const struct pool_paths *paths;
    if (object->kind == KIND_NODE_POOL)
        paths = &node_pool_paths;
    else if (object->kind == KIND_PROVISIONER)
        paths = &provisioner_paths;
    else
        return false;
    *pool = (struct pool){
        .object = object,
        .requirements_field = field_at(arena, object->root, paths->requirements),
        .labels_field = field_at(arena, object->root, paths->labels),
        .taints_field = field_at(arena, object->root, paths->taints),
        .limits_field = field_at(arena, object->root, paths->limits),
    };
    expressions_add_list(&pool->requirements, pool->requirements_field, arena);
    expressions_add_labels(&pool->labels, pool->labels_field, arena);
    taints_read(pool->taints_field, arena, &pool->taints);
    taints_read(field_at(arena, object->root, paths->startup_taints), arena, &pool->startup_taints);

    const struct node *reference = node_at(object->root->node, paths->node_class);
    pool->node_class_kind = node_string(node_get(reference, "kind"));
    pool->node_class_name = node_string(node_get(reference, "name"));
    pool->node_class_group = node_class_group(reference, pool);
    pool->node_class_label = node_class_label(pool, arena);
    return true;
}

bool pool_is_of_auto_mode(const struct pool *pool)
{
    return text_is(pool->node_class_group, "eks.amazonaws.com");
}

bool pool_is_built_in(const struct pool *pool)
{
    const struct node *labels = node_at(pool->object->root->node, "metadata.labels");
    /* Copies of them keep the label. */
    return pool_is_of_auto_mode(pool) &&
           TEXT_IS_ONE_OF(pool->object->name, "general-purpose", "system") &&
           text_is(node_string(node_get(labels, "app.kubernetes.io/managed-by")), "eks");
}

bool pool_is_static(const struct pool *pool)
{
    return node_is(node_at(pool->object->root->node, "spec.replicas"), NODE_NUMBER);
}

bool pool_makes_nodes(const struct pool *pool)
{
    const struct object *object = pool->object;
    return !object->deleting && !pool_is_static(pool) &&
           (object_condition(object, "Ready") == NULL || object_condition_holds(object, "Ready"));
}

const struct object *pool_node_class(const struct snapshot *snapshot, const struct pool *pool)
{
    if (!text_is(pool->node_class_kind, "EC2NodeClass"))
        return NULL;
    return snapshot_find(snapshot, KIND_EC2_NODE_CLASS, TEXT(""), pool->node_class_name);
}

bool node_class_is_named(struct text group, struct text kind, struct text name,
                         const struct object *node_class)
{
    return text_equal(name, node_class->name) && text_equal(kind, node_class->kind_name) &&
           (group.size == 0 || text_equal(group, group_of(node_class->api_version)));
}
