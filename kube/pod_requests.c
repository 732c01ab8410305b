#include <string.h>

#include "kube/forecast.h"
#include "kube/quantity.h"

/* What 64 bits hold. */
#define MOST_THOUSANDTHS "9.2P"
#define MOST_UNITS "9.2E"

/* Everything is summed in thousandths and rounded up once, at the end. */
struct sum {
    struct text resource;
    int64_t milli;
};
struct sums {
    struct sum *items;
    size_t count, capacity;
};

static struct sum *find(const struct sums *sums, struct text resource)
{
    for (size_t i = 0; i < sums->count; i++)
        if (text_equal(sums->items[i].resource, resource))
            return &sums->items[i];
    return NULL;
}

static struct sum *find_or_add(struct sums *sums, struct text resource, struct arena *arena)
{
    struct sum *sum = find(sums, resource);
    if (sum == NULL) {
        sum = LIST_PUSH(arena, sums);
        sum->resource = resource;
    }
    return sum;
}

static int64_t add_up(int64_t a, int64_t b)
{
    int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}

static void add_all(struct sums *sums, const struct sums *more, struct arena *arena)
{
    for (size_t i = 0; i < more->count; i++) {
        struct sum *sum = find_or_add(sums, more->items[i].resource, arena);
        sum->milli = add_up(sum->milli, more->items[i].milli);
    }
}

static void take_greater(struct sums *sums, const struct sums *other, struct arena *arena)
{
    for (size_t i = 0; i < other->count; i++) {
        struct sum *sum = find_or_add(sums, other->items[i].resource, arena);
        if (other->items[i].milli > sum->milli)
            sum->milli = other->items[i].milli;
    }
}

/* ---- reading ---- */

struct pod {
    const struct snapshot *snapshot;
    const struct workload *workload;
    const struct node *status;       /* NULL: a template's pod */
    struct resource_names defaulted; /* what LimitRanges of the namespace say something about */
    struct arena *arena;
};

static struct place place_in(const struct object *object, const struct node *node,
                             struct arena *arena)
{
    return object->source == NULL ? NOWHERE : source_place(object->source, arena, node->offset);
}

/* A quantity that stands in the object. */
static bool read_quantity(const struct pod *pod, const struct object *object, struct text resource,
                          const struct node *quantity, const char *what, int64_t *milli,
                          struct error *error)
{
    if (quantity_milli(node_text(quantity), milli) && *milli >= 0)
        return true;
    return error_set(
        error, ERROR_INPUT, place_in(object, quantity, pod->arena), "%s %.*s is %.*s", what,
        TEXT_ARGS(resource),
        TEXT_ARGS(quantity_complaint(node_text(quantity), MOST_THOUSANDTHS, pod->arena)));
}

/* The entries of a map of quantities that sums does not have yet. */
static bool add_missing(const struct pod *pod, struct sums *sums, const struct node *map,
                        const char *what, struct error *error)
{
    for (size_t i = 0; node_is(map, NODE_MAP) && i < node_count(map); i++) {
        const struct member *member = &map->members[i];
        struct text resource = {member->key, member->key_size};
        int64_t milli = 0;
        if (node_is(&member->value, NODE_NULL) || find(sums, resource) != NULL)
            continue;
        if (!read_quantity(pod, pod->workload->object, resource, &member->value, what, &milli,
                           error))
            return false;
        find_or_add(sums, resource, pod->arena)->milli = milli;
    }
    return true;
}

static void add_name(struct resource_names *names, struct text name, struct arena *arena)
{
    for (size_t i = 0; i < names->count; i++)
        if (text_equal(names->items[i], name))
            return;
    *LIST_PUSH(arena, names) = name;
}

static void find_defaulted(struct pod *pod)
{
    static const char *const sources[] = {"defaultRequest", "default", "max", "min"};
    const struct snapshot *snapshot = pod->snapshot;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_LIMIT_RANGE); i++) {
        const struct object *range = snapshot_object(snapshot, KIND_LIMIT_RANGE, i);
        if (!text_equal(range->namespace, pod->workload->object->namespace))
            continue;
        const struct node *limits = node_at(range->root->node, "spec.limits");
        for (size_t j = 0; node_is(limits, NODE_LIST) && j < node_count(limits); j++)
            for (size_t k = 0; k < COUNT_OF(sources); k++) {
                const struct node *map = node_get(node_item(limits, j), sources[k]);
                for (size_t m = 0; node_is(map, NODE_MAP) && m < node_count(map); m++)
                    add_name(&pod->defaulted,
                             (struct text){map->members[m].key, map->members[m].key_size},
                             pod->arena);
            }
    }
}

static bool add_limit_ranges(const struct pod *pod, struct sums *sums, struct error *error)
{
    for (size_t i = 0; i < pod->defaulted.count; i++) {
        struct text resource = pod->defaulted.items[i];
        const struct object *range = NULL;
        int64_t milli = 0;
        if (find(sums, resource) != NULL)
            continue;
        const struct node *quantity =
            default_request(pod->snapshot, pod->workload->object->namespace, resource, &range);
        if (quantity == NULL)
            continue;
        if (!read_quantity(pod, range, resource, quantity, "the LimitRange's default for", &milli,
                           error))
            return false;
        find_or_add(sums, resource, pod->arena)->milli = milli;
    }
    return true;
}

/* ---- a resize under way: the greater of what was asked for and what is held ---- */

static bool resize_is_infeasible(const struct object *pod)
{
    const struct node *pending = object_condition(pod, "PodResizePending");
    return text_is(node_string(node_get(pending, "reason")), "Infeasible");
}

static const struct node *status_of(const struct pod *pod, const char *list, struct text name)
{
    const struct node *statuses = node_get(pod->status, list);
    for (size_t i = 0; i < node_count(statuses); i++) {
        const struct node *status = node_item(statuses, i);
        if (text_equal(node_string(node_get(status, "name")), name))
            return status;
    }
    return NULL;
}

static bool take_status(const struct pod *pod, const struct node *container, struct sums *sums,
                        struct error *error)
{
    struct text name = node_string(node_get(container, "name"));
    const struct node *status = status_of(pod, "containerStatuses", name);
    if (status == NULL)
        status = status_of(pod, "initContainerStatuses", name);
    if (!node_is(node_get(status, "resources"), NODE_MAP))
        return true;
    if (resize_is_infeasible(pod->workload->object))
        *sums = (struct sums){0};
    const struct node *held[] = {node_at(status, "resources.requests"),
                                 node_get(status, "allocatedResources")};
    for (size_t i = 0; i < COUNT_OF(held); i++) {
        struct sums holds = {0};
        if (!add_missing(pod, &holds, held[i], "the status of", error))
            return false;
        take_greater(sums, &holds, pod->arena);
    }
    return true;
}

/* ---- containers ---- */

static bool read_container(const struct pod *pod, const struct node *container, bool runs_on,
                           struct sums *sums, struct error *error)
{
    *sums = (struct sums){0};
    const struct node *resources = node_get(container, "resources");
    if (!add_missing(pod, sums, node_get(resources, "requests"), "the request of", error) ||
        !add_missing(pod, sums, node_get(resources, "limits"), "the limit of", error) ||
        !add_limit_ranges(pod, sums, error))
        return false;
    return pod->status == NULL || !runs_on || take_status(pod, container, sums, error);
}

static bool is_sidecar(const struct node *container)
{
    return text_is(node_string(node_get(container, "restartPolicy")), "Always");
}

/* An init container runs beside the sidecars that were started before it. */
static bool add_init_containers(const struct pod *pod, struct sums *total, struct error *error)
{
    const struct node *list = node_get(pod->workload->spec->node, "initContainers");
    struct sums sidecars = {0};
    struct sums starting = {0};
    for (size_t i = 0; node_is(list, NODE_LIST) && i < node_count(list); i++) {
        const struct node *container = node_item(list, i);
        struct sums sums;
        if (!read_container(pod, container, is_sidecar(container), &sums, error))
            return false;
        if (is_sidecar(container)) {
            add_all(total, &sums, pod->arena);
            add_all(&sidecars, &sums, pod->arena);
            take_greater(&starting, &sidecars, pod->arena);
        } else {
            add_all(&sums, &sidecars, pod->arena);
            take_greater(&starting, &sums, pod->arena);
        }
    }
    take_greater(total, &starting, pod->arena);
    return true;
}

static bool add_containers(const struct pod *pod, struct sums *total, struct error *error)
{
    const struct node *list = node_get(pod->workload->spec->node, "containers");
    for (size_t i = 0; node_is(list, NODE_LIST) && i < node_count(list); i++) {
        struct sums sums;
        if (!read_container(pod, node_item(list, i), true, &sums, error))
            return false;
        add_all(total, &sums, pod->arena);
    }
    return add_init_containers(pod, total, error);
}

/* ---- the pod as a whole ---- */

static bool is_pod_level(struct text resource)
{
    return text_is(resource, "cpu") || text_is(resource, "memory") ||
           text_starts_with(resource, TEXT("hugepages-"));
}

/* A limit stands in for a request that neither the pod nor its containers make. */
static bool take_pod_level(const struct pod *pod, struct sums *total, struct error *error)
{
    const struct node *resources = node_get(pod->workload->spec->node, "resources");
    struct sums requests = {0};
    struct sums limits = {0};
    if (!add_missing(pod, &requests, node_get(resources, "requests"), "the pod's request of",
                     error) ||
        !add_missing(pod, &limits, node_get(resources, "limits"), "the pod's limit of", error))
        return false;
    for (size_t i = 0; i < limits.count; i++) {
        const struct sum *limit = &limits.items[i];
        bool huge = text_starts_with(limit->resource, TEXT("hugepages-"));
        if (find(&requests, limit->resource) == NULL &&
            (huge || find(total, limit->resource) == NULL))
            find_or_add(&requests, limit->resource, pod->arena)->milli = limit->milli;
    }
    for (size_t i = 0; i < requests.count; i++)
        if (is_pod_level(requests.items[i].resource))
            find_or_add(total, requests.items[i].resource, pod->arena)->milli =
                requests.items[i].milli;
    return true;
}

static int64_t in_units(const struct sum *sum)
{
    if (text_is(sum->resource, "cpu"))
        return sum->milli;
    return sum->milli / 1000 + (sum->milli % 1000 > 0 ? 1 : 0);
}

bool pod_requests_read(const struct snapshot *snapshot, const struct workload *workload,
                       struct arena *arena, struct named_amounts *requests, struct error *error)
{
    const struct object *object = workload->object;
    struct pod pod = {.snapshot = snapshot, .workload = workload, .arena = arena};
    if (object->kind == KIND_POD)
        pod.status = node_get(object->root->node, "status");
    if (object->kind != KIND_POD || object->uid.size == 0)
        find_defaulted(&pod);
    struct sums total = {0};
    struct sums overhead = {0};
    if (!add_containers(&pod, &total, error) || !take_pod_level(&pod, &total, error) ||
        !add_missing(&pod, &overhead, node_get(workload->spec->node, "overhead"), "the overhead of",
                     error))
        return false;
    add_all(&total, &overhead, arena);
    for (size_t i = 0; i < total.count; i++)
        if (total.items[i].milli == INT64_MAX)
            return error_set(error, ERROR_INPUT, place_in(object, workload->spec->node, arena),
                             "the pod's requests of %.*s together are too large: they may be "
                             "%s at most",
                             TEXT_ARGS(total.items[i].resource), MOST_THOUSANDTHS);
    *requests = (struct named_amounts){0};
    for (size_t i = 0; i < total.count; i++)
        if (total.items[i].milli > 0)
            *LIST_PUSH(arena, requests) = (struct named_amount){
                terminated(arena, total.items[i].resource), in_units(&total.items[i])};
    return true;
}

/* ---- what machines have and pools may spend ---- */

/* Rounded down, since less than a whole is no use to a pod. */
static bool parse_capacity(struct text resource, struct text t, int64_t *quantity)
{
    int64_t milli = 0;
    if (text_is(resource, "cpu"))
        return quantity_milli(t, quantity) && *quantity >= 0;
    if (!quantity_milli(t, &milli))
        return quantity_scaled(t, 0, quantity) && *quantity >= 0;
    *quantity = milli / 1000;
    return milli >= 0;
}

static struct named_amount *find_amount(const struct named_amounts *amounts, struct text resource)
{
    for (size_t i = 0; i < amounts->count; i++)
        if (text_is(resource, amounts->items[i].resource))
            return &amounts->items[i];
    return NULL;
}

bool named_amounts_read(const struct object *object, const struct field *map, struct arena *arena,
                        struct named_amounts *amounts, struct error *error)
{
    *amounts = (struct named_amounts){0};
    for (size_t i = 0; node_is(map->node, NODE_MAP) && i < node_count(map->node); i++) {
        const struct member *member = &map->node->members[i];
        struct text resource = {member->key, member->key_size};
        struct text text = node_text(&member->value);
        int64_t quantity = 0;
        if (node_is(&member->value, NODE_NULL))
            continue;
        if (!parse_capacity(resource, text, &quantity)) {
            const struct field *field = field_member(arena, map, resource);
            const char *most = text_is(resource, "cpu") ? MOST_THOUSANDTHS : MOST_UNITS;
            return error_set(error, ERROR_INPUT, object_place(object, field, arena), "%.*s is %.*s",
                             TEXT_ARGS(field_path(arena, field)),
                             TEXT_ARGS(quantity_complaint(text, most, arena)));
        }
        /* Of a key that stands twice the last counts. */
        struct named_amount *amount = find_amount(amounts, resource);
        if (amount == NULL)
            amount = LIST_PUSH(arena, amounts);
        *amount = (struct named_amount){terminated(arena, resource), quantity};
    }
    return true;
}

int64_t named_amount_of(const struct named_amounts *amounts, const char *resource)
{
    for (size_t i = 0; i < amounts->count; i++)
        if (strcmp(amounts->items[i].resource, resource) == 0)
            return amounts->items[i].quantity;
    return 0;
}

struct solver_amounts named_amounts_number(const struct named_amounts *amounts,
                                           struct solver_builder *builder, struct arena *arena)
{
    struct solver_amount *items = ARENA_ARRAY(arena, amounts->count, struct solver_amount);
    for (size_t i = 0; i < amounts->count; i++)
        items[i] =
            (struct solver_amount){solver_builder_resource(builder, amounts->items[i].resource),
                                   amounts->items[i].quantity};
    return (struct solver_amounts){items, amounts->count};
}

struct solver_amounts named_amounts_find(const struct named_amounts *amounts,
                                         const struct solver_problem *problem, struct arena *arena)
{
    struct solver_amount *items = ARENA_ARRAY(arena, amounts->count, struct solver_amount);
    for (size_t i = 0; i < amounts->count; i++)
        items[i] = (struct solver_amount){
            .resource = solver_problem_resource(problem, amounts->items[i].resource),
            .quantity = amounts->items[i].quantity,
        };
    return (struct solver_amounts){items, amounts->count};
}
