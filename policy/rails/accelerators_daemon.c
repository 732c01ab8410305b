/* What accelerators says of DaemonSets: those for nodes with accelerators must get onto them. */
#include "catalog/catalog.h"
#include "kube/pod.h"
#include "kube/taint.h"
#include "policy/rails/accelerators.h"
#include "policy/rails/instance_list.h"
#include "policy/reading.h"

/* The labels of nodes with accelerators, as their makers' plugins and the clouds set them. */
static enum device device_of_label(struct text key)
{
    static const struct {
        const char *glob;
        enum device device;
    } labels[] = {
        {"nvidia.com/gpu*", DEVICE_NVIDIA},
        {"nvidia.com/mig*", DEVICE_NVIDIA},
        {"feature.node.kubernetes.io/pci-10de*", DEVICE_NVIDIA},
        {"feature.node.kubernetes.io/pci-0300_10de*", DEVICE_NVIDIA},
        {"feature.node.kubernetes.io/pci-0302_10de*", DEVICE_NVIDIA},
        {"karpenter.k8s.aws/instance-gpu-*", DEVICE_NVIDIA},
        {"eks.amazonaws.com/instance-gpu-*", DEVICE_NVIDIA},
        {"k8s.amazonaws.com/accelerator", DEVICE_NVIDIA},
        {"cloud.google.com/gke-accelerator", DEVICE_NVIDIA},
        {"amd.com/gpu*", DEVICE_AMD},
        {"karpenter.k8s.aws/instance-accelerator-*", DEVICE_NEURON},
        {"eks.amazonaws.com/instance-accelerator-*", DEVICE_NEURON},
    };
    for (size_t i = 0; i < COUNT_OF(labels); i++)
        if (text_matches_glob(key, text_of(labels[i].glob)))
            return labels[i].device;
    return DEVICE_COUNT;
}

/* Of the types that an In names, what some of them carry. HyperPod's types begin with "ml.". */
static device_set devices_of_types(const struct accelerators *settings,
                                   const struct expression *expression)
{
    const struct catalog *catalog = settings->catalog;
    device_set devices = 0;
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct instance_type *type = catalog_type(catalog, i);
        if (type->devices != 0 && expression_names(expression, type->name))
            devices |= type->devices;
    }
    return devices;
}

static device_set devices_of(const struct accelerators *settings,
                             const struct expressions *expressions)
{
    device_set devices = 0;
    FOR_EACH(expression, expressions) {
        bool selects = expression->op == SOLVER_IN || expression->op == SOLVER_EXISTS ||
                       expression->op == SOLVER_GT || expression->op == SOLVER_GTE;
        if (!expression->valid || !selects || expression_names(expression, TEXT("false")))
            continue;
        enum device device = device_of_label(expression->key);
        if (device != DEVICE_COUNT)
            devices |= DEVICE_BIT(device);
        else if (expression->op == SOLVER_IN && dimension_of(expression->key) == DIMENSION_TYPE)
            devices |= devices_of_types(settings, expression);
    }
    return devices;
}

static device_set devices_selected(const struct accelerators *settings,
                                   const struct node_selection *selection)
{
    device_set devices = devices_of(settings, &selection->selector);
    for (size_t i = 0; i < selection->required.count; i++)
        devices |= devices_of(settings, &selection->required.items[i].expressions);
    return devices;
}

/* Whoever tolerates a key of their own may have tainted the nodes with it. These taints are no
 * accelerators'. */
static bool is_of_every_node(struct text key)
{
    return text_starts_with(key, TEXT("node.kubernetes.io/")) ||
           text_starts_with(key, TEXT("node-role.kubernetes.io/")) ||
           TEXT_IS_ONE_OF(key, "CriticalAddonsOnly", "aws.amazon.com/efa", "vpc.amazonaws.com/efa");
}

static bool tolerates_own_taint(const struct tolerations *tolerations)
{
    FOR_EACH(toleration, tolerations)
        if (!text_is(toleration->effect, "PreferNoSchedule") && !is_of_every_node(toleration->key))
            return true;
    return false;
}

void accelerators_judge_daemon_set(struct rail_call *call, const struct accelerators *settings,
                                   const struct workload *workload,
                                   const struct tolerations *tolerations)
{
    struct arena *arena = call->arena;
    device_set devices = devices_selected(settings, call_selection(call, workload));
    if (devices == 0 || tolerates_own_taint(tolerations))
        return;
    struct text_builder yaml = {.arena = arena};
    struct text first = TEXT("");
    for (size_t i = 0; i < settings->taints.count; i++) {
        struct text taint = settings->taints.items[i];
        if ((devices & DEVICE_BIT(device_of_resource(taint))) == 0)
            continue;
        if (first.size == 0)
            first = taint;
        text_builder_list(&yaml,
                          arena_printf(arena, "{key: %.*s, operator: Exists, effect: NoSchedule}",
                                       TEXT_ARGS(taint)));
    }
    if (first.size == 0)
        return;
    const struct field *field = field_get(arena, workload->spec, "tolerations");
    report_found(call, SEVERITY_WARN, field, first,
                 arena_printf(arena, "Add to %.*s: [%.*s].", TEXT_ARGS(field_path(arena, field)),
                              TEXT_ARGS(text_builder_text(&yaml))),
                 "This DaemonSet selects nodes with accelerators but does not tolerate their taint "
                 "%.*s, so it never starts there.",
                 TEXT_ARGS(first));
}
