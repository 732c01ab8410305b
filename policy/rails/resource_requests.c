/* The rail resource-requests: containers say what they need. */
#include "policy/rails/resource_requests.h"

#include "kube/container.h"
#include "kube/limit_range.h"
#include "kube/pod.h"
#include "policy/reading.h"

/* A floor or a ceiling of one resource. */
struct bound {
    int64_t milli;
    bool given;
    struct text text; /* as the policy writes it */
};

enum { BOUND_CPU, BOUND_MEMORY, BOUND_COUNT };
static const char *const bound_resources[BOUND_COUNT] = {"cpu", "memory"};

struct settings {
    struct key_strings require;
    struct bound min[BOUND_COUNT], max[BOUND_COUNT];
    bool memory_limit_equals_request;
};

#define BOUND(list, index, key, words)                                                   \
    {                                                                                    \
        .name = (key), .type = KEY_QUANTITY,                                             \
        .offset = offsetof(struct settings, list[index].milli),                          \
        .given_offset = offsetof(struct settings, list[index].given), .summary = (words) \
    }

static const struct key min_keys[] = {
    BOUND(min, BOUND_CPU, "cpu", "CPU of a container, at least, as in 5m"),
    BOUND(min, BOUND_MEMORY, "memory", "memory of a container, at least, as in 8Mi"),
    {0},
};

static const struct key max_keys[] = {
    BOUND(max, BOUND_CPU, "cpu", "CPU of a container, at most"),
    BOUND(max, BOUND_MEMORY, "memory", "memory of a container, at most, as in 64Gi"),
    {0},
};

static const struct key keys[] = {
    {.name = "require",
     .type = KEY_STRINGS,
     .offset = offsetof(struct settings, require),
     .summary = "the resources that every container must request",
     .default_value = "[cpu, memory]"},
    {.name = "min",
     .type = KEY_MAP,
     .summary = "the least that a container may request which requests something",
     .children = min_keys},
    {.name = "max",
     .type = KEY_MAP,
     .summary = "the most that a container may request, or have as a limit",
     .children = max_keys},
    {.name = "memoryLimitEqualsRequest",
     .type = KEY_BOOL,
     .offset = offsetof(struct settings, memory_limit_equals_request),
     .summary = "every container has a memory limit, and it is what the container requests",
     .default_value = "false"},
    {0},
};

/* Resources without a domain are Kubernetes' own: one that it does not have, nothing requests. */
static void warn_of_unknown(const struct key_strings *require, const struct rail_loading *loading)
{
    const struct text own[] = {TEXT("cpu"), TEXT("memory"), TEXT("ephemeral-storage")};
    for (size_t i = 0; i < require->count; i++) {
        struct text name = require->items[i];
        if (text_split(name, '/', NULL, NULL) || text_starts_with(name, TEXT("hugepages-")) ||
            texts_have(own, COUNT_OF(own),
                       name)) /* as those of the default are, which stand nowhere */
            continue;
        size_t nearest = text_nearest(name, own, COUNT_OF(own), TYPO_EDITS);
        struct text hint = TEXT("");
        if (nearest < COUNT_OF(own))
            hint =
                arena_printf(loading->arena, "; did you mean \"%.*s\"?", TEXT_ARGS(own[nearest]));
        loading_warn(loading, require->nodes[i],
                     "resource-requests: Kubernetes has no resource \"%.*s\", so every container "
                     "will be a finding%.*s",
                     TEXT_ARGS(name), TEXT_ARGS(hint));
    }
}

/* What a floor above the ceiling leaves: nothing. */
static void warn_of_no_room(const struct settings *settings, const struct node *min,
                            const struct rail_loading *loading)
{
    for (size_t i = 0; i < BOUND_COUNT; i++)
        if (settings->min[i].given && settings->max[i].given &&
            settings->min[i].milli > settings->max[i].milli)
            loading_warn(loading, node_get(min, bound_resources[i]),
                         "resource-requests: min.%s is above max.%s, so every container that "
                         "requests it will be a finding",
                         bound_resources[i], bound_resources[i]);
}

static void prepare(void *settings_pointer, const struct rail_loading *loading)
{
    struct settings *settings = settings_pointer;
    const struct node *min = node_get(loading->rail_node, "min");
    const struct node *max = node_get(loading->rail_node, "max");
    for (size_t i = 0; i < BOUND_COUNT; i++) {
        settings->min[i].text = node_text(node_get(min, bound_resources[i]));
        settings->max[i].text = node_text(node_get(max, bound_resources[i]));
    }
    warn_of_no_room(settings, min, loading);
    warn_of_unknown(&settings->require, loading);
}

/* ---- judging one container ---- */

struct amounts {
    struct amount request, limit;
};

struct check {
    struct rail_call *call;
    const struct settings *settings;
    const struct workload *workload;
    const struct container *container; /* NULL: the pod as a whole */
    struct limit_defaults *defaults;
    size_t running; /* how many containers run beside each other */
    struct amounts pod[BOUND_COUNT], own[BOUND_COUNT]; /* of the pod, and of the container */
};

static void read_amounts(const struct check *check, const struct field *of, struct text resource,
                         struct amounts *amounts)
{
    container_amounts(check->call->world->snapshot, check->workload, of, resource,
                      check->call->arena, check->defaults, &amounts->request, &amounts->limit);
}

static void read_bounded(const struct check *check, const struct field *of,
                         struct amounts amounts[BOUND_COUNT])
{
    for (size_t i = 0; i < BOUND_COUNT; i++)
        read_amounts(check, of, text_of(bound_resources[i]), &amounts[i]);
}

/* Of the container, or of the pod as a whole. */
static struct amounts amounts_of(const struct check *check, bool of_pod, struct text resource)
{
    struct amounts amounts;
    for (size_t i = 0; i < BOUND_COUNT; i++)
        if (text_is(resource, bound_resources[i]))
            return of_pod ? check->pod[i] : check->own[i];
    read_amounts(check, of_pod ? check->workload->spec : check->container->field, resource,
                 &amounts);
    return amounts;
}

/* container "app", or the pod */
static struct text who(const struct check *check)
{
    const struct container *container = check->container;
    if (container == NULL)
        return TEXT("the pod");
    return arena_printf(check->call->arena, "%scontainer \"%.*s\"", container->init ? "init " : "",
                        TEXT_ARGS(container->name));
}

static bool is_some(const struct amount *amount)
{
    return amount->milli > 0; /* what is no quantity has none */
}

/* Written, and told as a slip of the pen. */
static bool is_unreadable(const struct amount *amount)
{
    return amount->given && !amount->valid;
}

/* Whether the pod as a whole requests it, for all of its containers. */
static bool pod_requests(const struct check *check, struct text resource)
{
    const struct amounts amounts = amounts_of(check, true, resource);
    return is_some(&amounts.request);
}

/* An init container that is no sidecar runs in what the others request, before they begin. */
static bool ends_before_others(const struct container *container)
{
    return container->init && !container_is_sidecar(container->field->node);
}

static void judge_required(const struct check *check, struct text resource)
{
    struct arena *arena = check->call->arena;
    const struct amount request = amounts_of(check, false, resource).request;
    if (ends_before_others(check->container) || is_some(&request) || is_unreadable(&request) ||
        pod_requests(check, resource))
        return;
    /* The API server has applied LimitRanges to a Pod already; its template will get them later. */
    bool may_get_it = check->call->object->kind != KIND_POD &&
                      !world_sees_in(check->call->world, KIND_BIT(KIND_LIMIT_RANGE),
                                     check->call->object->namespace);
    report_found(check->call, may_get_it ? SEVERITY_UNDECIDED : SEVERITY_RAIL, request.field,
                 request.written ? request.text : TEXT(""),
                 arena_printf(arena, "Set resources.requests.%.*s to what the container needs.",
                              TEXT_ARGS(resource)),
                 may_get_it
                     ? "The %.*s request of %.*s is missing, and LimitRanges that may add it "
                       "cannot be seen."
                     : "The %.*s request of %.*s is missing, so nodes are chosen as if it "
                       "needed none.",
                 TEXT_ARGS(resource), TEXT_ARGS(who(check)));
}

/* " (by LimitRange NAME)" of an amount that nobody wrote. */
static struct text origin_of(const struct amount *amount, struct arena *arena)
{
    if (amount->limit_range == NULL)
        return TEXT("");
    return arena_printf(arena, " (by LimitRange %.*s)", TEXT_ARGS(amount->limit_range->name));
}

/* A request that nobody could mean buys a place where there is none. One of 0 is none, and a slip
 * of the pen is told as that. */
static void judge_floor(const struct check *check, const struct amount *request,
                        struct text resource, const struct bound *min)
{
    struct arena *arena = check->call->arena;
    if (!min->given || !is_some(request) || request->milli >= min->milli ||
        resource_is_slip(request))
        return;
    report_found(check->call, SEVERITY_RAIL, request->field, request->text,
                 arena_printf(arena, "Request what it needs, at least %.*s.", TEXT_ARGS(min->text)),
                 "The %.*s request of %.*s is %.*s%.*s, below the floor of %.*s.",
                 TEXT_ARGS(resource), TEXT_ARGS(who(check)), TEXT_ARGS(request->text),
                 TEXT_ARGS(origin_of(request, arena)), TEXT_ARGS(min->text));
}

/* What the pod requests as a whole, which is never less than a container, stands for all. */
static void judge_floors(const struct check *check)
{
    bool of_pod = check->container == NULL;
    if (!of_pod && ends_before_others(check->container))
        return;
    for (size_t i = 0; i < BOUND_COUNT; i++) {
        const struct amount *request = of_pod ? &check->pod[i].request : &check->own[i].request;
        if (of_pod || !is_some(&check->pod[i].request))
            judge_floor(check, request, text_of(bound_resources[i]), &check->settings->min[i]);
    }
}

static void judge_ceiling(const struct check *check, const struct amount *amount, const char *what,
                          struct text resource, const struct bound *max)
{
    struct arena *arena = check->call->arena;
    if (amount->milli <= max->milli)
        return;
    report_found(check->call, SEVERITY_RAIL, amount->field, amount->text,
                 arena_printf(arena, "Ask for at most %.*s, or split the work over more pods.",
                              TEXT_ARGS(max->text)),
                 "The %.*s %s of %.*s is %.*s%.*s, above the ceiling of %.*s.", TEXT_ARGS(resource),
                 what, TEXT_ARGS(who(check)), TEXT_ARGS(amount->text),
                 TEXT_ARGS(origin_of(amount, arena)), TEXT_ARGS(max->text));
}

/* A container that says no limit may have all that the pod has. */
static void judge_pod_ceiling(const struct check *check, const struct amount *amount,
                              const char *what, struct text resource, const struct bound *max)
{
    struct arena *arena = check->call->arena;
    int64_t most_milli;
    if (__builtin_mul_overflow(max->milli, (int64_t)check->running, &most_milli) ||
        amount->milli <= most_milli)
        return;
    report_found(check->call, SEVERITY_RAIL, amount->field, amount->text,
                 arena_printf(arena,
                              "Ask for at most %.*s for each container, or split the work over "
                              "more pods.",
                              TEXT_ARGS(max->text)),
                 "The %.*s %s of the pod is %.*s, above the ceiling of %.*s for %s%zu container%s.",
                 TEXT_ARGS(resource), what, TEXT_ARGS(amount->text), TEXT_ARGS(max->text),
                 check->running == 1 ? "its " : "each of its ", check->running,
                 check->running == 1 ? "" : "s");
}

static void judge_ceilings(const struct check *check)
{
    bool of_pod = check->container == NULL;
    void (*judge_one)(const struct check *, const struct amount *, const char *, struct text,
                      const struct bound *) = of_pod ? judge_pod_ceiling : judge_ceiling;
    for (size_t i = 0; i < BOUND_COUNT; i++) {
        const struct bound *max = &check->settings->max[i];
        struct text resource = text_of(bound_resources[i]);
        if (!max->given)
            continue;
        const struct amounts *own = of_pod ? &check->pod[i] : &check->own[i];
        /* A request that only repeats the limit, or the same LimitRange, is one finding. */
        if (own->request.written || !own->limit.given)
            judge_one(check, &own->request, "request", resource, max);
        judge_one(check, &own->limit, "limit", resource, max);
    }
}

/* Of two that can be read. The larger is kept: what is asked for is not taken away. */
static struct text fix_of_difference(const struct amount *request, const struct amount *limit,
                                     struct arena *arena)
{
    if (limit->given)
        return arena_printf(arena, "Set resources.requests.memory to %.*s, too.",
                            TEXT_ARGS(limit->text));
    if (request->given)
        return arena_printf(arena, "Set resources.limits.memory to %.*s.",
                            TEXT_ARGS(request->text));
    return TEXT("Set resources.requests.memory and resources.limits.memory to the same quantity.");
}

static void judge_memory_limit(const struct check *check)
{
    const struct amount *request = &check->own[BOUND_MEMORY].request;
    const struct amount *limit = &check->own[BOUND_MEMORY].limit;
    const struct amounts *pod = &check->pod[BOUND_MEMORY];
    if (is_unreadable(request) || is_unreadable(limit))
        return;
    if (request->given && limit->given && request->milli == limit->milli)
        return;
    /* A container that says nothing, for a limit makes a request, lives within the pod's. */
    if (!request->given && is_some(&pod->limit) && pod->request.milli == pod->limit.milli)
        return;
    struct text fix = fix_of_difference(request, limit, check->call->arena);
    if (limit->given)
        report_with(check->call, .field = limit->field, .found = limit->text,
                    .statement = arena_printf(
                        check->call->arena,
                        "The memory limit of %.*s is %.*s, and its request is %.*s.",
                        TEXT_ARGS(who(check)), TEXT_ARGS(limit->text), TEXT_ARGS(request->text)),
                    .fault = TEXT("The memory limit is not the request."),
                    .extent = limit->milli - request->milli, .fix = fix);
    else
        report_found(check->call, SEVERITY_RAIL, limit->field, limit->text, fix,
                     "The memory limit of %.*s is missing, so it may take what others need.",
                     TEXT_ARGS(who(check)));
}

static void judge(struct rail_call *call)
{
    const struct settings *settings = call->settings;
    struct workload workload;
    if (!call_workload(call, &workload))
        return;
    struct containers containers;
    struct limit_defaults defaults = {0};
    containers_read(&workload, call->arena, &containers);
    const struct bound *most_cpu = &settings->max[BOUND_CPU];
    int64_t most_cpu_milli = most_cpu->given ? most_cpu->milli : INT64_MAX;
    struct check check = {
        .call = call, .settings = settings, .workload = &workload, .defaults = &defaults};
    read_bounded(&check, workload.spec, check.pod);
    judge_floors(&check);
    if (node_get(workload.spec->node, "resources") != NULL) {
        FOR_EACH(container, &containers)
            check.running += ends_before_others(container) ? 0 : 1;
        if (check.running > 0)
            judge_ceilings(&check);
    }
    FOR_EACH(container, &containers) {
        check.container = container;
        read_bounded(&check, container->field, check.own);
        resource_slips_judge(call, container->field, most_cpu_milli);
        for (size_t j = 0; j < settings->require.count; j++)
            judge_required(&check, settings->require.items[j]);
        judge_floors(&check);
        judge_ceilings(&check);
        if (settings->memory_limit_equals_request)
            judge_memory_limit(&check);
    }
    resource_volumes_judge(call, &workload, &containers, &defaults);
}

const struct rail rail_resource_requests = {
    .name = "resource-requests",
    .summary = "what containers must request, and how much they may",
    .detail =
        "Nodes are bought for what pods request. A container that requests nothing is placed as "
        "if it needed nothing and starves its neighbours; one that requests more than any node "
        "has waits for ever. The rail reads containers and initContainers, sidecars too, of "
        "pods, of pod templates, and of pods that are resized in place. An init container that "
        "ends before the others begin runs in what they request, and need request nothing.\n\n"
        "Judged is what the API server would store: a request that is missing is the limit, or "
        "what a visible LimitRange of the namespace fills in (defaultRequest, default, max, "
        "min). A request of 0 is none. What the pod requests as a whole (spec.resources) "
        "satisfies require for each of its containers.\n\n"
        "max is a ceiling for requests and limits alike, of each container; the pod as a whole "
        "may have as much for each container and sidecar. min is a floor: a request of 1m and 1Mi "
        "meets require and buys no room. It is for containers, sidecars and the pod as a whole. "
        "With require: [] only min, max "
        "and memoryLimitEqualsRequest are judged. A quantity that Kubernetes cannot read is a "
        "finding; so is one that it reads otherwise than it is meant: memory or ephemeral-storage "
        "of 512m, which is half a byte, or of 512, which is 512 bytes; and a million CPUs, which "
        "is 1M. Less than a megabyte with a unit, as in 64Ki, is warned of, and so are ten CPUs "
        "and "
        "more in thousandths beside next to no memory, as in 10240m beside 512Mi.\n\n"
        "It is also warned of a volume in memory (emptyDir with medium Memory) whose sizeLimit is "
        "above the memory limits of the containers that mount it: what they write there counts as "
        "their memory.",
    .example = "resource-requests:\n"
               "  mode: enforce\n"
               "  require: [cpu, memory]\n"
               "  min: {cpu: 5m, memory: 8Mi}\n"
               "  max: {cpu: 16, memory: 64Gi}\n"
               "  memoryLimitEqualsRequest: true\n",
    .kinds = KINDS_WORKLOADS,
    .sources = KIND_BIT(KIND_LIMIT_RANGE),
    .sources_of = KINDS_WORKLOADS,
    .judges_resize = true,
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .prepare = prepare,
    .judge = judge,
};
