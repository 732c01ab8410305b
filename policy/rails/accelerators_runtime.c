/* GPUs that nobody asked for: NVIDIA's container runtime gives a container the devices that its
 * environment names, and the scheduler does not know of them. */
#include "kube/pod.h"
#include "policy/rails/accelerators.h"

#define DEVICES_VARIABLE "NVIDIA_VISIBLE_DEVICES"

struct check {
    struct rail_call *call;
    struct text fix;
};

static bool is_gpu_runtime(const struct accelerators *settings, struct text runtime_class)
{
    return runtime_class.size > 0 && texts_match(settings->runtime_classes.items,
                                                 settings->runtime_classes.count, runtime_class);
}

/* The words with which the runtime gives no device; empty is as not written. */
static bool names_no_device(struct text value)
{
    return value.size == 0 || text_is(value, "void") || text_is(value, "none");
}

/* Of several variables of one name the last counts. */
static const struct field *devices_variable(const struct field *container, struct arena *arena)
{
    const struct field *list = field_get(arena, container, "env");
    for (size_t i = node_is(list->node, NODE_LIST) ? node_count(list->node) : 0; i > 0; i--)
        if (text_is(node_string(node_get(node_item(list->node, i - 1), "name")), DEVICES_VARIABLE))
            return field_item(arena, list, i - 1);
    return NULL;
}

static void judge_container(const struct check *check, const struct field *container)
{
    struct arena *arena = check->call->arena;
    const struct field *variable = devices_variable(container, arena);
    if (variable == NULL)
        return;
    const struct field *value = field_get(arena, variable, "value");
    const struct field *from = field_get(arena, variable, "valueFrom");
    struct draft draft = {
        .field = value,
        .found = node_string(value->node),
        .statement = TEXT("This container takes GPUs by " DEVICES_VARIABLE
                          " without asking for them. The scheduler gives them to other pods, too."),
        .fix = check->fix,
    };
    if (node_is(from->node, NODE_MAP)) {
        draft.severity = SEVERITY_UNDECIDED;
        draft.field = from;
        draft.statement = TEXT("Whether this container takes a GPU by " DEVICES_VARIABLE
                               " cannot be seen. It asks for none.");
    } else if (names_no_device(draft.found)) {
        return;
    }
    report_draft(check->call, &draft);
}

void accelerators_judge_runtime(struct rail_call *call, const struct accelerators *settings,
                                const struct workload *workload)
{
    static const char *const lists[] = {"containers", "initContainers", "ephemeralContainers"};
    struct arena *arena = call->arena;
    struct text runtime_class = node_string(node_get(workload->spec->node, "runtimeClassName"));
    if (!is_gpu_runtime(settings, runtime_class) || workload_claims_devices(workload))
        return;
    /* Removed, the variable would have the value of the image, which is "all" in those of CUDA. */
    const struct check check = {
        .call = call,
        .fix = arena_printf(
            arena,
            "Ask for %.*s under resources.limits of the container, or set " DEVICES_VARIABLE
            " to void.",
            TEXT_ARGS(accelerators_name_of(settings->resources.items[0], arena))),
    };
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        FOR_FIELDS(container, arena, field_get(arena, workload->spec, lists[i]))
            judge_container(&check, container);
}
