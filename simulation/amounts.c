/* Quantities by name of resource, and what a pod requests. */
#include "simulation/amounts.h"

#include <string.h>

#include "kube/complaint.h"
#include "kube/container.h"
#include "kube/limit_range.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/quantity.h"
#include "kube/to_solver.h"

/* The most that 64 bits hold. */
#define MOST_THOUSANDTHS "9.2P"
#define MOST_UNITS "9.2E"

/* Sums are in thousandths and rounded up once, at the end. */
struct sum {
    int64_t milli;
    bool there;
};
/* Sums by resource number: a pod may name very many resources, in very many containers. */
struct sums {
    LIST(struct sum) of;  /* by number */
    LIST(size_t) numbers; /* numbers of the resources that are present, in order */
};

static struct sum *find(const struct sums *sums, size_t number)
{
    return number < sums->of.count && sums->of.items[number].there ? &sums->of.items[number] : NULL;
}

static struct sum *find_or_add(struct sums *sums, size_t number, struct arena *arena)
{
    while (sums->of.count <= number)
        (void)LIST_PUSH(arena, &sums->of);
    struct sum *sum = &sums->of.items[number];
    if (!sum->there)
        *LIST_PUSH(arena, &sums->numbers) = number;
    sum->there = true;
    return sum;
}

static void clear(struct sums *sums)
{
    for (size_t i = 0; i < sums->numbers.count; i++)
        sums->of.items[sums->numbers.items[i]] = (struct sum){0};
    sums->numbers.count = 0;
}

static int64_t milli_of(const struct sums *sums, size_t number)
{
    const struct sum *sum = find(sums, number);
    return sum == NULL ? 0 : sum->milli;
}

static int64_t add_up(int64_t a, int64_t b)
{
    int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}

static void add_all(struct sums *sums, const struct sums *more, struct arena *arena)
{
    for (size_t i = 0; i < more->numbers.count; i++) {
        struct sum *sum = find_or_add(sums, more->numbers.items[i], arena);
        sum->milli = add_up(sum->milli, milli_of(more, more->numbers.items[i]));
    }
}

static void take_greater(struct sums *sums, size_t number, int64_t milli, struct arena *arena)
{
    struct sum *sum = find_or_add(sums, number, arena);
    if (milli > sum->milli)
        sum->milli = milli;
}

static void take_all_greater(struct sums *sums, const struct sums *other, struct arena *arena)
{
    for (size_t i = 0; i < other->numbers.count; i++)
        take_greater(sums, other->numbers.items[i], milli_of(other, other->numbers.items[i]),
                     arena);
}

/* ---- reading ---- */

/* A default request of a LimitRange of the namespace. */
enum { NOT_READ = -1 };
struct given {
    struct limit_default by;
    size_t number; /* of the resource */
    int64_t milli; /* NOT_READ: not needed yet */
};

struct pod {
    const struct snapshot *snapshot;
    const struct workload *workload;
    const struct node *status; /* NULL: the pod comes from a template */
    bool resize_is_infeasible;
    bool is_as_written;        /* containers are read without LimitRanges and status */
    struct text_map resources; /* by their numbers, from 1 */
    LIST(struct given) given;
    struct text_map statuses[2]; /* of containers and of init containers, from 1, by name */
    struct sums held;            /* resources that the current container holds, by its status */
    struct arena *arena;
};

static size_t number_of(struct pod *pod, struct text resource)
{
    size_t *number = text_map_at(&pod->resources, pod->arena, resource);
    if (*number == 0)
        *number = pod->resources.count;
    return *number - 1;
}

static struct place place_in(const struct object *object, const struct node *node,
                             struct arena *arena)
{
    return object->source == NULL ? NOWHERE : source_place(object->source, arena, node->offset);
}

/* Reads a quantity of the object. */
static bool read_quantity(const struct pod *pod, const struct object *object, struct text resource,
                          const struct node *quantity, const char *what, int64_t *milli,
                          struct error *error)
{
    if (quantity_milli(node_text(quantity), milli) && *milli >= 0)
        return true;
    return error_set(
        error, quantity_is_vast(node_text(quantity)) ? ERROR_LIMIT : ERROR_INPUT,
        place_in(object, quantity, pod->arena), "%s %.*s is %.*s", what, TEXT_ARGS(resource),
        TEXT_ARGS(quantity_complaint(node_text(quantity), MOST_THOUSANDTHS, pod->arena)));
}

/* Adds the entries of a map of quantities that sums does not have yet. */
static bool add_missing(struct pod *pod, struct sums *sums, const struct node *map,
                        const char *what, struct error *error)
{
    for (size_t i = 0; node_is(map, NODE_MAP) && i < node_count(map); i++) {
        const struct member *member = &map->members[i];
        struct text resource = member_key(member);
        int64_t milli = 0;
        if (node_is(&member->value, NODE_NULL))
            continue;
        size_t number = number_of(pod, resource);
        if (find(sums, number) != NULL)
            continue;
        if (!read_quantity(pod, pod->workload->object, resource, &member->value, what, &milli,
                           error))
            return false;
        find_or_add(sums, number, pod->arena)->milli = milli;
    }
    return true;
}

/* Reads the defaults; a container takes those of resources that it does not name. */
static void read_given(struct pod *pod)
{
    struct limit_defaults defaults;
    limit_defaults_read(pod->snapshot, pod->workload->object->namespace, pod->arena, &defaults);
    FOR_EACH(by, &defaults)
        *LIST_PUSH(pod->arena, &pod->given) =
            (struct given){*by, number_of(pod, by->resource), NOT_READ};
}

static bool add_limit_ranges(struct pod *pod, struct sums *sums, struct error *error)
{
    arena_tick(pod->arena, pod->given.count);
    for (size_t i = 0; i < pod->given.count; i++) {
        struct given *given = &pod->given.items[i];
        if (find(sums, given->number) != NULL)
            continue;
        if (given->milli == NOT_READ &&
            !read_quantity(pod, given->by.request_by, given->by.resource, given->by.request,
                           "the LimitRange's default for", &given->milli, error))
            return false;
        find_or_add(sums, given->number, pod->arena)->milli = given->milli;
    }
    return true;
}

/* ---- a resize under way: the greater of what was asked for and what is held ---- */

static const char *const status_lists[] = {"containerStatuses", "initContainerStatuses"};

static void read_statuses(struct pod *pod)
{
    pod->status = node_get(pod->workload->object->root->node, "status");
    const struct node *pending = object_condition(pod->workload->object, "PodResizePending");
    pod->resize_is_infeasible = text_is(node_string(node_get(pending, "reason")), "Infeasible");
    for (size_t i = 0; i < COUNT_OF(status_lists); i++) {
        const struct node *list = node_get(pod->status, status_lists[i]);
        for (size_t j = node_count(list); node_is(list, NODE_LIST) && j-- > 0;) {
            struct text name = node_string(node_get(node_item(list, j), "name"));
            *text_map_at(&pod->statuses[i], pod->arena, name) = j + 1;
        }
    }
}

static const struct node *status_of(const struct pod *pod, struct text name)
{
    for (size_t i = 0; i < COUNT_OF(status_lists); i++) {
        size_t number = text_map_get(&pod->statuses[i], name, 0);
        if (number > 0)
            return node_item(node_get(pod->status, status_lists[i]), number - 1);
    }
    return NULL;
}

static bool take_status(struct pod *pod, const struct node *container, struct sums *sums,
                        struct error *error)
{
    const struct node *status = status_of(pod, node_string(node_get(container, "name")));
    if (!node_is(node_get(status, "resources"), NODE_MAP))
        return true;
    if (pod->resize_is_infeasible)
        clear(sums);
    const struct node *held[] = {node_at(status, "resources.requests"),
                                 node_get(status, "allocatedResources")};
    for (size_t i = 0; i < COUNT_OF(held); i++) {
        clear(&pod->held);
        if (!add_missing(pod, &pod->held, held[i], "the status of", error))
            return false;
        take_all_greater(sums, &pod->held, pod->arena);
    }
    return true;
}

/* ---- containers ---- */

static bool read_container(struct pod *pod, const struct node *container, bool runs_on,
                           struct sums *sums, struct error *error)
{
    clear(sums);
    const struct node *resources = node_get(container, "resources");
    if (!add_missing(pod, sums, node_get(resources, "requests"), "the request of", error) ||
        !add_missing(pod, sums, node_get(resources, "limits"), "the limit of", error))
        return false;
    if (pod->is_as_written)
        return true;
    if (!add_limit_ranges(pod, sums, error))
        return false;
    return pod->status == NULL || !runs_on || take_status(pod, container, sums, error);
}

/* An init container runs beside the sidecars that were started before it. The pod needs at least
 * all sidecars started so far, and an init container can only raise resources that it names. */
static bool add_init_containers(struct pod *pod, struct sums *total, struct error *error)
{
    const struct node *list = node_get(pod->workload->spec->node, "initContainers");
    struct sums sums = {0};
    struct sums sidecars = {0};
    struct sums starting = {0};
    FOR_ITEMS(container, list) {
        bool stays = container_is_sidecar(container);
        if (!read_container(pod, container, stays, &sums, error))
            return false;
        if (stays) {
            add_all(total, &sums, pod->arena);
            add_all(&sidecars, &sums, pod->arena);
        }
        for (size_t j = 0; j < sums.numbers.count; j++) {
            size_t number = sums.numbers.items[j];
            int64_t beside = milli_of(&sidecars, number);
            take_greater(&starting, number,
                         stays ? beside : add_up(milli_of(&sums, number), beside), pod->arena);
        }
    }
    take_all_greater(total, &starting, pod->arena);
    return true;
}

static bool add_containers(struct pod *pod, struct sums *total, struct error *error)
{
    const struct node *list = node_get(pod->workload->spec->node, "containers");
    struct sums sums = {0};
    FOR_ITEMS(item, list) {
        if (!read_container(pod, item, true, &sums, error))
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

static struct text name_of(const struct pod *pod, size_t number)
{
    return pod->resources.items[number].key;
}

static bool is_huge(const struct pod *pod, size_t number)
{
    return text_starts_with(name_of(pod, number), TEXT("hugepages-"));
}

/* A pod with limits gets the requests that it leaves out when it is decoded, before LimitRanges
 * change its containers: what these request, and where they do not, its limits
 * (docs/reference/karpenter.md 2.1). Pages are never overcommitted: their limit is the request. */
static void add_pod_defaults(struct pod *pod, const struct sums *limits, struct sums *requests)
{
    struct sums written = {0};
    struct error none; /* all of these quantities have been read before */
    if (limits->numbers.count == 0)
        return;
    pod->is_as_written = true;
    (void)add_containers(pod, &written, &none);
    pod->is_as_written = false;
    for (size_t i = 0; i < written.numbers.count; i++) {
        size_t number = written.numbers.items[i];
        if (find(requests, number) == NULL && !is_huge(pod, number))
            find_or_add(requests, number, pod->arena)->milli = milli_of(&written, number);
    }
    for (size_t i = 0; i < limits->numbers.count; i++) {
        size_t number = limits->numbers.items[i];
        if (find(requests, number) == NULL)
            find_or_add(requests, number, pod->arena)->milli = milli_of(limits, number);
    }
}

static bool take_pod_level(struct pod *pod, struct sums *total, struct error *error)
{
    const struct node *resources = node_get(pod->workload->spec->node, "resources");
    struct sums requests = {0};
    struct sums limits = {0};
    if (!add_missing(pod, &requests, node_get(resources, "requests"), "the pod's request of",
                     error) ||
        !add_missing(pod, &limits, node_get(resources, "limits"), "the pod's limit of", error))
        return false;
    add_pod_defaults(pod, &limits, &requests);
    for (size_t i = 0; i < requests.numbers.count; i++) {
        size_t number = requests.numbers.items[i];
        if (is_pod_level(name_of(pod, number)))
            find_or_add(total, number, pod->arena)->milli = milli_of(&requests, number);
    }
    return true;
}

static int64_t in_units(struct text resource, int64_t milli)
{
    if (text_is(resource, "cpu"))
        return milli;
    return milli / 1000 + (milli % 1000 > 0 ? 1 : 0);
}

bool pod_requests_read(const struct snapshot *snapshot, const struct workload *workload,
                       struct arena *arena, struct named_amounts *requests, struct error *error)
{
    const struct object *object = workload->object;
    struct pod pod = {.snapshot = snapshot, .workload = workload, .arena = arena};
    if (object->kind == KIND_POD)
        read_statuses(&pod);
    if (object->kind != KIND_POD || object->uid.size == 0)
        read_given(&pod);
    struct sums total = {0};
    struct sums overhead = {0};
    if (!add_containers(&pod, &total, error) || !take_pod_level(&pod, &total, error) ||
        !add_missing(&pod, &overhead, node_get(workload->spec->node, "overhead"), "the overhead of",
                     error))
        return false;
    add_all(&total, &overhead, arena);
    *requests = (struct named_amounts){0};
    for (size_t i = 0; i < total.numbers.count; i++) {
        struct text resource = name_of(&pod, total.numbers.items[i]);
        int64_t milli = milli_of(&total, total.numbers.items[i]);
        if (milli == INT64_MAX) {
            *requests = (struct named_amounts){0};
            return error_set(error, ERROR_LIMIT, place_in(object, workload->spec->node, arena),
                             "the pod's requests of %.*s together are too large: they may be "
                             "%s at most",
                             TEXT_ARGS(resource), MOST_THOUSANDTHS);
        }
        if (milli > 0)
            *LIST_PUSH(arena, requests) =
                (struct named_amount){terminated(arena, resource), in_units(resource, milli)};
    }
    return true;
}

/* ---- what machines have and pools may spend ---- */

/* Rounded down: a pod cannot use a fraction of a unit. */
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

bool named_amounts_read(const struct object *object, const struct field *map, struct arena *arena,
                        struct named_amounts *amounts, struct error *error)
{
    *amounts = (struct named_amounts){0};
    for (size_t i = 0; node_is(map->node, NODE_MAP) && i < node_count(map->node); i++) {
        const struct member *member = &map->node->members[i];
        struct text resource = member_key(member);
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
        /* The reader of documents keeps one of two equal keys. */
        *LIST_PUSH(arena, amounts) = (struct named_amount){terminated(arena, resource), quantity};
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
