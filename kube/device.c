/* GPUs and accelerators that a pod asks for. */
#include "kube/device.h"

#include "kube/pod.h"
#include "kube/quantity.h"
#include "kube/taint.h"

enum device device_of_resource(struct text resource)
{
    static const struct {
        const char *prefix;
        enum device device;
    } domains[] = {
        {"nvidia.com/", DEVICE_NVIDIA},
        {"amd.com/", DEVICE_AMD},
        {"habana.ai/", DEVICE_GAUDI},
        {"aws.amazon.com/neuron", DEVICE_NEURON},
    };
    for (size_t i = 0; i < COUNT_OF(domains); i++)
        if (text_starts_with(resource, text_of(domains[i].prefix)))
            return domains[i].device;
    return DEVICE_COUNT;
}

/* KK pkg/apis/core/v1/helper, IsExtendedResourceName. */
bool resource_is_extended(struct text resource)
{
    return text_split(resource, '/', NULL, NULL) && !text_holds(resource, TEXT("kubernetes.io/")) &&
           !text_starts_with(resource, TEXT("requests."));
}

struct toleration toleration_of_resource(struct text resource)
{
    return (struct toleration){.key = resource, .op = TEXT("Exists"), .effect = TEXT("NoSchedule")};
}

bool is_toleration_of_some(const struct toleration *toleration, const struct text_map *resources)
{
    return text_is(toleration->op, "Exists") && text_is(toleration->effect, "NoSchedule") &&
           resource_is_extended(toleration->key) && text_map_has(resources, toleration->key);
}

#define DEVICE_CLASS_PREFIX "deviceclass.resource.kubernetes.io/"

struct text resource_of_device_class(struct text class, struct arena *arena)
{
    return arena_printf(arena, DEVICE_CLASS_PREFIX "%.*s", TEXT_ARGS(class));
}

struct text resource_device_class(struct text resource)
{
    const struct text prefix = TEXT(DEVICE_CLASS_PREFIX);
    return text_starts_with(resource, prefix)
               ? (struct text){resource.data + prefix.size, resource.size - prefix.size}
               : TEXT("");
}

bool expression_wants_no_devices(const struct expression *expression)
{
    static const char *const ends[] = {"/instance-gpu-count", "/instance-accelerator-count"};
    bool counts = false;
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        counts = counts || text_ends_with(expression->key, text_of(ends[i]));
    if (!counts || !expression->valid || expression->value_count != 1)
        return false;
    struct text value = expression->values[0].text;
    return expression->op == SOLVER_LT
               ? text_is(value, "1")
               : (expression->op == SOLVER_IN || expression->op == SOLVER_LTE) &&
                     text_is(value, "0");
}

static bool is_zero(const struct node *quantity)
{
    int64_t milli = 0;
    return quantity_milli(node_text(quantity), &milli) && milli == 0;
}

static void add_names(const struct node *quantities, bool zero, struct text_map *names,
                      struct arena *arena)
{
    for (size_t i = 0; node_is(quantities, NODE_MAP) && i < node_count(quantities); i++) {
        const struct member *member = &quantities->members[i];
        if (!node_is(&member->value, NODE_NULL) && is_zero(&member->value) == zero)
            (void)text_map_add(names, arena, member_key(member));
    }
}

static void add_of_containers(const struct node *containers, bool zero, struct text_map *names,
                              struct arena *arena)
{
    FOR_ITEMS(item, containers) {
        const struct node *resources = node_get(item, "resources");
        add_names(node_get(resources, "requests"), zero, names, arena);
        add_names(node_get(resources, "limits"), zero, names, arena);
    }
}

static void read_names(const struct workload *workload, bool zero, struct arena *arena,
                       struct text_map *names)
{
    *names = (struct text_map){0};
    add_of_containers(node_get(workload->spec->node, "initContainers"), zero, names, arena);
    add_of_containers(node_get(workload->spec->node, "containers"), zero, names, arena);
}

void resource_names_read(const struct workload *workload, struct arena *arena,
                         struct text_map *names)
{
    read_names(workload, false, arena, names);
}

void resource_zeros_read(const struct workload *workload, struct arena *arena,
                         struct text_map *names)
{
    read_names(workload, true, arena, names);
}

bool workload_claims_devices(const struct workload *workload)
{
    const struct node *claims = node_get(workload->spec->node, "resourceClaims");
    return node_is(claims, NODE_LIST) && node_count(claims) > 0;
}
