/* The rail accelerators: GPU and accelerator nodes are for the pods that use them. */
#include "policy/rails/accelerators.h"

#include <ctype.h>

#include "catalog/catalog.h"

static const struct key keys[] = {
    {.name = "resources",
     .type = KEY_GLOBS,
     .offset = offsetof(struct accelerators, resources),
     .summary = "the resources by which pods ask for accelerators, as globs",
     .default_value = "[nvidia.com/gpu, amd.com/gpu, aws.amazon.com/neuron,"
                      " aws.amazon.com/neuroncore, habana.ai/gaudi, nvidia.com/gpu*,"
                      " nvidia.com/mig-*, nvidia.com/GRID*, nvidia.com/NVIDIA*, amd.com/gpu*,"
                      " amd.com/*px_*, aws.amazon.com/neuron*, \"*/vgpu*\"]",
     .minimum = 1},
    {.name = "taints",
     .type = KEY_STRINGS,
     .offset = offsetof(struct accelerators, taints),
     .summary = "the taint keys of nodes with accelerators; by default the resources that are not "
                "patterns",
     .minimum = 1},
    {.name = "runtimeClasses",
     .type = KEY_GLOBS,
     .offset = offsetof(struct accelerators, runtime_classes),
     .summary = "the runtime classes that give containers the GPUs which NVIDIA_VISIBLE_DEVICES "
                "names, as globs",
     .default_value = "[nvidia, nvidia-*]"},
    {.name = "requireLimits",
     .type = KEY_ENUM,
     .offset = offsetof(struct accelerators, require_limits),
     .summary = "what must stand under spec.limits of a NodePool made for accelerators: anything, "
                "the accelerators themselves, or nothing",
     .default_value = "any",
     .choices = (const char *const[]){"any", "accelerator", "off", NULL}},
    {.name = "addToleration",
     .type = KEY_BOOL,
     .offset = offsetof(struct accelerators, add_toleration),
     .summary = "add to a Pod that asks for an accelerator the toleration of its taint, as the API "
                "server's ExtendedResourceToleration does",
     .default_value = "false"},
    {0},
};

bool accelerators_is_resource(const struct accelerators *settings, struct text name)
{
    return texts_match(settings->resources.items, settings->resources.count, name);
}

struct text accelerators_name_of(struct text resource, struct arena *arena)
{
    if (!text_is_glob(resource))
        return resource;
    return arena_printf(arena, "a resource that %.*s matches", TEXT_ARGS(resource));
}

bool accelerators_is_taint(const struct accelerators *settings, struct text key)
{
    return texts_have(settings->taints.items, settings->taints.count, key);
}

/* ---- a key that was meant to be another ---- */

/* The next letter or digit, in lower case; 0: there is none. */
static char next_letter(struct text t, size_t *at)
{
    while (*at < t.size && !isalnum((unsigned char)t.data[*at]))
        (*at)++;
    return *at < t.size ? (char)tolower((unsigned char)t.data[(*at)++]) : '\0';
}

/* Whether the letters and digits are those of first and second, with an 's' more at most. */
static bool has_letters_of(struct text key, struct text first, struct text second)
{
    const struct text parts[] = {first, second};
    size_t at = 0;
    char last = '\0';
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        size_t part_at = 0;
        for (char letter; (letter = next_letter(parts[i], &part_at)) != '\0'; last = letter)
            if (next_letter(key, &at) != letter)
                return false;
    }
    char more = next_letter(key, &at);
    if (more == 's' && last != 's')
        more = next_letter(key, &at);
    return last != '\0' && more == '\0';
}

/* "nvidia/gpu", "nvidia-gpu", "NVIDIA.com/GPU" and "nvidia-gpus" are variants of "nvidia.com/gpu":
 * the domain's first word, or all of it, then the name, however they are joined. */
static bool is_variant(struct text key, struct text taint)
{
    struct text domain;
    struct text name;
    if (!text_split(taint, '/', &domain, &name))
        return false;
    text_split(domain, '.', &domain, NULL);
    return has_letters_of(key, taint, TEXT("")) || has_letters_of(key, domain, name);
}

struct text accelerators_taint_meant(const struct accelerators *settings, struct text key)
{
    enum { LETTERS_AN_EDIT = 4 };
    if (accelerators_is_taint(settings, key))
        return TEXT("");
    /* Short keys are near to each other without being meant. */
    size_t edits = key.size / LETTERS_AN_EDIT;
    size_t nearest = text_nearest(key, settings->taints.items, settings->taints.count,
                                  edits < TYPO_EDITS ? edits : TYPO_EDITS);
    for (size_t i = 0; i < settings->taints.count && nearest == settings->taints.count; i++)
        if (is_variant(key, settings->taints.items[i]))
            nearest = i;
    return nearest < settings->taints.count ? settings->taints.items[nearest] : TEXT("");
}

/* ---- loading ---- */

static void prepare(void *settings_pointer, const struct rail_loading *loading)
{
    struct accelerators *settings = settings_pointer;
    const struct catalog *catalog = loading->catalog;
    struct arena *arena = loading->arena;
    settings->catalog = catalog;
    settings->carriers = type_set_create(catalog, arena);
    for (int device = 0; device < DEVICE_COUNT; device++)
        settings->carriers_of[device] = type_set_create(catalog, arena);
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        const struct instance_type *type = catalog_type(catalog, i);
        if (instance_type_is_accelerated(type))
            type_set_add(&settings->carriers, i);
        for (int device = 0; device < DEVICE_COUNT; device++)
            if ((type->devices & DEVICE_BIT(device)) != 0)
                type_set_add(&settings->carriers_of[device], i);
    }
    if (settings->taints.given)
        return;
    settings->taints.items = ARENA_ARRAY(arena, settings->resources.count, struct text);
    for (size_t i = 0; i < settings->resources.count; i++)
        if (!text_is_glob(settings->resources.items[i]))
            settings->taints.items[settings->taints.count++] = settings->resources.items[i];
    if (settings->taints.count == 0)
        loading_warn(loading, loading->rail_node,
                     "accelerators: every one of resources is a pattern, so no taint key is known: "
                     "give taints");
}

static void judge(struct rail_call *call)
{
    if (call->object->kind == KIND_NODE_POOL)
        accelerators_judge_pool(call, call->settings);
    else
        accelerators_judge_workload(call, call->settings);
}

static void change(struct rail_call *call)
{
    accelerators_change_pod(call, call->settings);
}

static bool may_change(const void *settings_pointer)
{
    const struct accelerators *settings = settings_pointer;
    return settings->add_toleration;
}

const struct rail rail_accelerators = {
    .name = "accelerators",
    .summary = "accelerator nodes: tainted, limited, asked for",
    .detail =
        "A NodePool is made for accelerators when every type it can launch carries one, or when a "
        "requirement asks for one: a gpu or accelerator key with In, Exists or Gt, or an In value "
        "of type, family or category whose types all carry one. A fraction of a GPU counts. Such "
        "a pool must have a taint with the effect NoSchedule or NoExecute (startupTaints are gone "
        "once a node is up, PreferNoSchedule keeps nobody out), a taint's key must not be a "
        "misspelling of one of taints, and there must be a limit. A NodePool with replicas is "
        "limited by them. A pool that may launch accelerators beside other types, and names none "
        "of them, is warned about. Types without a GPU do not have the label instance-gpu-count: "
        "with 0 as its value only those with a share of one are left, and the finding says how to "
        "keep GPUs out.\n\n"
        "A pod that tolerates one of the taints must ask for one of the resources, in a "
        "container, an init container or through resourceClaims; DaemonSets, pods of "
        "kube-system of the priority classes system-cluster-critical and system-node-critical, "
        "templates whose resource is a placeholder, and the templates of Spark, which adds the "
        "resources later, need not. resourceClaims that no container uses ask for nothing; one "
        "that "
        "a container uses counts as asking, because claims are not read here. A toleration with "
        "operator Exists and no key, of NoSchedule or of every effect, is one of all the taints. "
        "Of a pod with a nodeName it opens nothing more. Where a pod chooses its nodes, it is "
        "found "
        "when a visible NodePool or Node with one of the taints fits; where that hangs on what the "
        "catalogue does not know of a pool's types, each of which runs Linux, the rail cannot "
        "decide. To ask for Linux, for an arch, for hosts other than some, or for a label to be "
        "there that every node of Karpenter has, is no choice of nodes.\n\n"
        "A container of a runtime class such as nvidia has all the GPUs that "
        "NVIDIA_VISIBLE_DEVICES names, whether it asks for one or not. In a pod that asks for "
        "none, that variable is a finding, unless it is void, none or empty. What an image sets "
        "by itself cannot be seen.\n\n"
        "A Pod or template that asks for accelerators must tolerate the taints of some visible "
        "NodePool that could serve it: its types carry what is asked for, and its labels fit the "
        "pod's node selection. A visible Node that has as much as is asked for, which the pod "
        "selects and whose taints it tolerates, serves it as well. With no NodePool visible the "
        "rail cannot decide; of a Pod it says so. "
        "Both are judged as if the API server's ExtendedResourceToleration had run, which EKS and "
        "GKE switch on: it tolerates the taint NoSchedule whose key is the resource. With "
        "spec.extendedResourceToleration: false they are judged as written. Of a template with a "
        "runtimeClassName it cannot be decided, since the RuntimeClass may add tolerations to its "
        "Pods. Of a pod's "
        "nodeSelectorTerms the first 64 are looked at: where none of them leads to a NodePool or "
        "Node and there are more, that is found.\n\n"
        "A DaemonSet that selects nodes with accelerators, by their types or by the labels that "
        "their makers set, and tolerates none of the taints, is warned of: it never starts on the "
        "nodes that it is for.\n\n"
        "A workload whose replicas together ask for fewer GPUs than the smallest type that they "
        "select has is warned of: the others are paid for and stay idle.\n\n"
        "A Deployment of up to three replicas that leaves spec.strategy to Kubernetes starts a new "
        "pod "
        "before it ends an old one: the rail warns that an update then needs the accelerators of "
        "one pod more.\n\n"
        "With addToleration a Pod that asks for a resource, and does not tolerate the taint of the "
        "same name whatever its value and effect, is given a toleration of it (operator Exists) "
        "when it is created; for a part of a device, such as MIG, also that of the device. "
        "Templates stay as they are. What it adds counts as there when the Pod is judged.\n\n"
        "Where pool-limits, pool-shape or tolerations says the same under the same policy (a limit "
        "that is missing, a pool open to all types, a toleration of every taint), they say it "
        "alone.\n\n"
        "Pools of other clouds are judged by their requirements' keys alone, unless the catalogue "
        "is your own (--catalog). Whether such a pool serves a pod that selects labels of its "
        "cloud "
        "which it does not name, the rail cannot decide.",
    .example = "accelerators:\n"
               "  mode: enforce\n"
               "  taints: [nvidia.com/gpu, aws.amazon.com/neuron]\n"
               "  requireLimits: accelerator\n"
               "  addToleration: true\n",
    .kinds = KINDS_WORKLOADS | KIND_BIT(KIND_NODE_POOL),
    .sources = KIND_BIT(KIND_NODE_POOL),
    .sources_of = KINDS_WORKLOADS,
    .keys = keys,
    .settings_size = sizeof(struct accelerators),
    .prepare = prepare,
    .judge = judge,
    .change = change,
    .may_change = may_change,
};
