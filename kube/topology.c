/* Whether a term about other pods also selects the pod itself. */
#include "kube/topology.h"

#include "kube/kind.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/selector.h"

static bool lists(const struct node *list, struct text wanted)
{
    for (size_t i = 0; i < node_count(list); i++)
        if (text_equal(node_string(node_item(list, i)), wanted))
            return true;
    return false;
}

#define NAME_OF_NAMESPACE "kubernetes.io/metadata.name"

/* Whether a selector of namespaces asks for nothing but their names, which each has as a label. */
static bool asks_names_alone(const struct node *selector)
{
    const struct node *labels = node_get(selector, "matchLabels");
    for (size_t i = 0; node_is(labels, NODE_MAP) && i < node_count(labels); i++)
        if (!text_is(member_key(&labels->members[i]), NAME_OF_NAMESPACE))
            return false;
    FOR_ITEMS(expression, node_get(selector, "matchExpressions"))
        if (!text_is(node_string(node_get(expression, "key")), NAME_OF_NAMESPACE))
            return false;
    return true;
}

enum topology_look topology_term_looks_into(const struct node *term, struct text own,
                                            struct text namespace)
{
    const struct node *namespaces = node_get(term, "namespaces");
    const struct node *selector = node_get(term, "namespaceSelector");
    if (lists(namespaces, namespace))
        return TOPOLOGY_LOOKS;
    if (!node_is(selector, NODE_MAP))
        return node_count(namespaces) == 0 && text_equal(own, namespace) ? TOPOLOGY_LOOKS
                                                                         : TOPOLOGY_LOOKS_ELSEWHERE;
    if (!asks_names_alone(selector))
        return TOPOLOGY_MAY_LOOK;
    struct member name = member_of(TEXT(NAME_OF_NAMESPACE), node_of_text(namespace));
    struct node labels = node_of_members(&name, 1);
    return selector_matches(selector, &labels) ? TOPOLOGY_LOOKS : TOPOLOGY_LOOKS_ELSEWHERE;
}

static bool shuts_itself_out(const struct node *term, const struct node *labels)
{
    const struct node *keys_of_others = node_get(term, "mismatchLabelKeys");
    for (size_t i = 0; i < node_count(keys_of_others); i++)
        if (node_member(labels, node_string(node_item(keys_of_others, i))) != NULL)
            return true;
    return false;
}

/* The labels that tell the pods of a StatefulSet apart. */
static bool is_own_key(const struct workload *workload, struct text key)
{
    return workload->object->kind == KIND_STATEFUL_SET &&
           (text_is(key, "statefulset.kubernetes.io/pod-name") ||
            text_is(key, "apps.kubernetes.io/pod-index"));
}

static size_t own_key_index(const struct workload *workload, const struct node *keys)
{
    size_t index = 0;
    while (index < node_count(keys) && !is_own_key(workload, node_string(node_item(keys, index))))
        index++;
    return index;
}

const struct field *topology_term_own_key(const struct workload *workload,
                                          const struct topology_term *term, struct arena *arena)
{
    const struct node *keys = node_get(term->term->node, "matchLabelKeys");
    size_t index = own_key_index(workload, keys);
    return index == node_count(keys)
               ? NULL
               : field_item(arena, field_get(arena, term->term, "matchLabelKeys"), index);
}

bool workload_is_part(const struct workload *workload)
{
    static const kind_set selecting = KIND_BIT(KIND_DEPLOYMENT) | KIND_BIT(KIND_REPLICA_SET) |
                                      KIND_BIT(KIND_REPLICATION_CONTROLLER) |
                                      KIND_BIT(KIND_STATEFUL_SET) | KIND_BIT(KIND_DAEMON_SET);
    return (KIND_BIT(workload->object->kind) & selecting) != 0 &&
           node_count(node_get(workload->metadata->node, "labels")) == 0;
}

bool topology_term_selects_itself(const struct workload *workload, const struct topology_term *term)
{
    const struct node *labels = node_get(workload->metadata->node, "labels");
    const struct node *node = term->term->node;
    const struct node *selector = node_get(node, "labelSelector");
    const struct node *keys = node_get(node, "matchLabelKeys");
    struct text own = workload->object->namespace;
    bool may_select = node_is(selector, NODE_MAP) && workload_is_part(workload);
    return (may_select || selector_matches(selector, labels)) &&
           topology_term_looks_into(node, own, own) != TOPOLOGY_LOOKS_ELSEWHERE &&
           !shuts_itself_out(node, labels) && own_key_index(workload, keys) == node_count(keys);
}
