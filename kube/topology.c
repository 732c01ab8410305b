/* Whether a term about other pods also selects the pod itself. */
#include "kube/topology.h"

#include "kube/kind.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/selector.h"
#include "kube/snapshot.h"

static bool lists(const struct node *list, struct text wanted)
{
    for (size_t i = 0; i < node_count(list); i++)
        if (text_equal(node_string(node_item(list, i)), wanted))
            return true;
    return false;
}

enum topology_look topology_term_looks_into(const struct snapshot *snapshot,
                                            const struct node *term, struct text own,
                                            struct text namespace)
{
    static const enum topology_look looks[] = {[NOT_SELECTED] = TOPOLOGY_LOOKS_ELSEWHERE,
                                               [MAY_BE_SELECTED] = TOPOLOGY_MAY_LOOK,
                                               [SELECTED] = TOPOLOGY_LOOKS};
    const struct node *namespaces = node_get(term, "namespaces");
    const struct node *selector = node_get(term, "namespaceSelector");
    if (lists(namespaces, namespace))
        return TOPOLOGY_LOOKS;
    if (!node_is(selector, NODE_MAP))
        return node_count(namespaces) == 0 && text_equal(own, namespace) ? TOPOLOGY_LOOKS
                                                                         : TOPOLOGY_LOOKS_ELSEWHERE;
    const struct object *seen = snapshot_find(snapshot, KIND_NAMESPACE, TEXT(""), namespace);
    return looks[namespace_selected(selector, namespace, seen)];
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

/* What controllers put on the pods of a template. */
static bool is_added_to_pods(enum kind kind, struct text key)
{
    enum { OF_SETS = KIND_BIT(KIND_STATEFUL_SET), OF_DAEMONS = KIND_BIT(KIND_DAEMON_SET) };
    enum { OF_JOBS = KIND_BIT(KIND_JOB) | KIND_BIT(KIND_CRON_JOB) };
    static const struct {
        const char *key;
        kind_set kinds;
    } added[] = {
        {"pod-template-hash", KIND_BIT(KIND_DEPLOYMENT)},
        {"controller-revision-hash", OF_SETS | OF_DAEMONS},
        {"pod-template-generation", OF_DAEMONS},
        {"statefulset.kubernetes.io/pod-name", OF_SETS},
        {"apps.kubernetes.io/pod-index", OF_SETS},
        {"batch.kubernetes.io/job-name", OF_JOBS},
        {"batch.kubernetes.io/controller-uid", OF_JOBS},
        {"batch.kubernetes.io/job-completion-index", OF_JOBS},
        {"job-name", OF_JOBS},
        {"controller-uid", OF_JOBS},
    };
    for (size_t i = 0; i < COUNT_OF(added); i++)
        if (text_is(key, added[i].key))
            return (added[i].kinds & KIND_BIT(kind)) != 0;
    return kind == KIND_CUSTOM; /* whose controllers have labels of their own */
}

bool workload_has_some_label(const struct workload *workload, const struct node *keys)
{
    const struct node *labels = node_get(workload->metadata->node, "labels");
    FOR_ITEMS(key, keys)
        if (workload_is_part(workload) || node_member(labels, node_string(key)) != NULL ||
            is_added_to_pods(workload->object->kind, node_string(key)))
            return true;
    return false;
}

bool topology_term_counts_nothing(const struct workload *workload, const struct topology_term *term)
{
    const struct node *node = term->term->node;
    const struct node *selector = node_get(node, "labelSelector");
    return term->use == TOPOLOGY_SPREAD && node_is(selector, NODE_MAP) &&
           node_count(node_get(selector, "matchLabels")) == 0 &&
           node_count(node_get(selector, "matchExpressions")) == 0 &&
           !workload_has_some_label(workload, node_get(node, "matchLabelKeys"));
}

static enum topology_look looks_at_itself(const struct snapshot *snapshot,
                                          const struct workload *workload,
                                          const struct topology_term *term)
{
    const struct node *labels = node_get(workload->metadata->node, "labels");
    const struct node *node = term->term->node;
    const struct node *selector = node_get(node, "labelSelector");
    const struct node *keys = node_get(node, "matchLabelKeys");
    bool selects = selector_matches(selector, labels);
    bool may_select = selects || (node_is(selector, NODE_MAP) && workload_is_part(workload));
    if (!may_select || topology_term_counts_nothing(workload, term) ||
        shuts_itself_out(node, labels) || own_key_index(workload, keys) != node_count(keys))
        return TOPOLOGY_LOOKS_ELSEWHERE;
    struct text own = workload->object->namespace;
    enum topology_look look = topology_term_looks_into(snapshot, node, own, own);
    return look == TOPOLOGY_LOOKS && !selects ? TOPOLOGY_MAY_LOOK : look;
}

bool topology_term_selects_itself(const struct snapshot *snapshot, const struct workload *workload,
                                  const struct topology_term *term)
{
    return looks_at_itself(snapshot, workload, term) == TOPOLOGY_LOOKS;
}

bool topology_term_may_select_itself(const struct snapshot *snapshot,
                                     const struct workload *workload,
                                     const struct topology_term *term)
{
    return looks_at_itself(snapshot, workload, term) != TOPOLOGY_LOOKS_ELSEWHERE;
}
