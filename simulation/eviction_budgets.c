/* Finds the PodDisruptionBudgets of pods, and computes what they allow where no status says it.
 *
 * A namespace may have as many budgets as workloads. So each is listed under one value that it
 * wants of a label, the rarest, and a pod is compared with those that are listed under its values.
 */
#include "simulation/eviction_budgets.h"

#include "kube/object.h"
#include "kube/pod.h"
#include "kube/quantity.h"
#include "kube/selector.h"
#include "kube/snapshot.h"
#include "kube/taint.h"
#include "simulation/owner.h"
#include "simulation/pods.h"

struct namespace_budgets {
    struct text_map by_value; /* the first budget that wants the value of some label, from 1 */
    size_t others;            /* the first that wants no value */
    bool computes;            /* of some the status does not say what they allow */
};
struct eviction_budgets {
    struct arena *arena;
    struct eviction_budget *items; /* in the order of the snapshot */
    size_t count;
    struct text_map numbers; /* of the namespaces, from 1 */
    LIST(struct namespace_budgets) namespaces;
    size_t asks; /* how often they were compared with a pod */
};

/* The pods that a budget covers, as the disruption controller counts them. */
struct headcount {
    int64_t healthy, expected;
    bool uncountable;            /* some controller has no replicas */
    struct text_map controllers; /* that were counted */
};

/* ---- the index ---- */

static const struct node *wanted_labels(const struct eviction_budget *budget)
{
    const struct node *labels = node_at(budget->object->root->node, "spec.selector.matchLabels");
    return node_is(labels, NODE_MAP) ? labels : NULL;
}

/* The value that the fewest budgets of the namespace want; NULL: it wants none. */
static const struct member *rarest_value(const struct eviction_budget *budget,
                                         const struct text_map *uses)
{
    const struct node *labels = wanted_labels(budget);
    const struct member *rarest = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < node_count(labels); i++) {
        const struct member *member = &labels->members[i];
        size_t count = text_map_get(uses, node_string(&member->value), 0);
        if (count < least) {
            rarest = member;
            least = count;
        }
    }
    return rarest;
}

/* Lists the budgets first .. last - 1, which are those of one namespace. */
static void list_namespace(struct eviction_budgets *budgets, size_t first, size_t last,
                           struct arena *arena)
{
    struct text_map uses = {0};
    for (size_t i = first; i < last; i++) {
        const struct node *labels = wanted_labels(&budgets->items[i]);
        for (size_t j = 0; j < node_count(labels); j++)
            (void)text_map_add(&uses, arena, node_string(&labels->members[j].value));
    }
    struct namespace_budgets *listed = LIST_PUSH(arena, &budgets->namespaces);
    *text_map_at(&budgets->numbers, arena, budgets->items[first].object->namespace) =
        budgets->namespaces.count;
    for (size_t i = last; i-- > first;) {
        struct eviction_budget *budget = &budgets->items[i];
        const struct member *rarest = rarest_value(budget, &uses);
        size_t *head = rarest == NULL
                           ? &listed->others
                           : text_map_at(&listed->by_value, arena, node_string(&rarest->value));
        budget->next = *head;
        *head = i + 1;
        listed->computes |= budget->computed;
    }
}

static struct namespace_budgets *listed_in(const struct eviction_budgets *budgets,
                                           struct text namespace)
{
    size_t number = text_map_get(&budgets->numbers, namespace, 0);
    return number == 0 ? NULL : &budgets->namespaces.items[number - 1];
}

/* ---- which cover a pod ---- */

/* What is done with each. */
typedef void on_cover(struct eviction_budget *budget, const struct object *pod, void *context);

static void compare_listed(struct eviction_budgets *budgets, size_t first, const struct object *pod,
                           on_cover *found, void *context)
{
    for (size_t i = first; i != 0; i = budgets->items[i - 1].next) {
        struct eviction_budget *budget = &budgets->items[i - 1];
        arena_tick(budgets->arena, 1); /* all budgets of a namespace may want one value */
        /* Two labels of a pod may have the same value. */
        if (budget->ask == budgets->asks || !selector_index_matches(budget->selector, pod->labels))
            continue;
        budget->ask = budgets->asks;
        found(budget, pod, context);
    }
}

static void find_covering(struct eviction_budgets *budgets, const struct namespace_budgets *listed,
                          const struct object *pod, on_cover *found, void *context)
{
    budgets->asks++;
    compare_listed(budgets, listed->others, pod, found, context);
    for (size_t i = 0; i < node_count(pod->labels); i++) {
        struct text value = node_string(&pod->labels->members[i].value);
        compare_listed(budgets, text_map_get(&listed->by_value, value, 0), pod, found, context);
    }
}

/* Budgets of a namespace stand in the order of their names. */
static void take_cover(struct eviction_budget *budget, const struct object *pod, void *context)
{
    struct eviction_cover *cover = context;
    const struct eviction_budget *late = budget;
    (void)pod;
    for (size_t i = 0; i < COUNT_OF(cover->budgets); i++) {
        const struct eviction_budget *here = cover->budgets[i];
        if (here != NULL && here < late)
            continue;
        cover->budgets[i] = late;
        late = here;
        if (late == NULL)
            break;
    }
    cover->count++;
}

struct eviction_cover eviction_budgets_of(struct eviction_budgets *budgets,
                                          const struct object *pod)
{
    struct eviction_cover cover = {0};
    const struct namespace_budgets *listed = listed_in(budgets, pod->namespace);
    if (listed != NULL)
        find_covering(budgets, listed, pod, take_cover, &cover);
    return cover;
}

/* ---- which keep a pod where it is ---- */

/* Such a pod stays on the node until that is gone. */
static bool tolerates_disruption(const struct object *pod, struct arena *arena)
{
    static const struct taint disrupted = {.key = {TAINT_DISRUPTED, sizeof TAINT_DISRUPTED - 1},
                                           .effect = {"NoSchedule", sizeof "NoSchedule" - 1}};
    struct workload workload;
    struct tolerations tolerations;
    struct arena_mark mark = arena_mark(arena);
    bool tolerates = false;
    if (node_at(pod->root->node, "spec.tolerations") == NULL)
        return false;
    if (workload_read(pod, arena, &workload)) {
        tolerations_read(&workload, arena, &tolerations);
        tolerates = tolerations_cover(&tolerations, &disrupted);
    }
    arena_rewind(arena, mark);
    return tolerates;
}

static bool is_unready(const struct object *pod)
{
    return text_is(node_string(node_get(object_condition(pod, "Ready"), "status")), "False");
}

/* Whether nobody would evict the pod, so that no budget is asked. */
static bool is_left_alone(const struct object *pod, struct arena *arena)
{
    return pod_is_mirror(pod) || tolerates_disruption(pod, arena);
}

/* What spares a pod is asked last: few budgets block. */
struct eviction_cover eviction_budgets_blocking(struct eviction_budgets *budgets,
                                                const struct object *pod, enum eviction_block block)
{
    static const struct eviction_cover none = {.count = 0};
    struct eviction_cover cover = eviction_budgets_of(budgets, pod);
    const struct eviction_budget *budget = cover.budgets[0];
    if (cover.count == 0)
        return none;
    if (cover.count == 1 &&
        (block == EVICTION_BLOCKED_FOR_GOOD ? !budget->blocks_for_good : budget->allowed > 0))
        return none;
    if (cover.count == 1 && budget->spares_unready && is_unready(pod))
        return none;
    return is_left_alone(pod, budgets->arena) ? none : cover;
}

/* ---- what a budget allows, as the disruption controller computes it ---- */

/* One without a Ready condition, as in a file, is healthy where it runs. */
static bool is_healthy(const struct object *pod)
{
    struct text ready = node_string(node_get(object_condition(pod, "Ready"), "status"));
    struct text node = node_string(node_at(pod->root->node, "spec.nodeName"));
    return !pod->deleting && !pod_is_done(pod) && node.size > 0 &&
           (ready.size == 0 || text_is(ready, "True"));
}

/* Replicas of the controllers of a pod, from the nearest up; -1: none that is seen says them. */
static int64_t replicas_above(const struct snapshot *snapshot, const struct lineage *lineage)
{
    int64_t replicas = -1;
    for (size_t i = 0; i < lineage->count; i++) {
        const struct ancestor *ancestor = &lineage->items[i];
        const struct object *object = snapshot_object(snapshot, ancestor->kind, ancestor->index);
        if ((KINDS_SCALED & KIND_BIT(ancestor->kind)) == 0)
            continue;
        replicas = node_int32(object->root->node, "spec.replicas", 1);
    }
    return replicas;
}

struct counting {
    const struct snapshot *snapshot;
    struct arena *arena;
};

/* Each controller counts once; of those that nobody sees, each pod. */
static void count_expected(struct headcount *count, const struct object *pod,
                           const struct counting *counting)
{
    struct lineage lineage;
    if (pod->controller.name.size == 0)
        return;
    lineage_find(counting->snapshot, pod, counting->arena, &lineage);
    int64_t replicas = replicas_above(counting->snapshot, &lineage);
    count->uncountable |= TEXT_IS_ONE_OF(pod->controller.kind, "Job", "DaemonSet");
    if (replicas < 0)
        count->expected++;
    else if (text_map_add(&count->controllers, counting->arena, lineage.root))
        count->expected += replicas;
}

static void count_pod(struct eviction_budget *budget, const struct object *pod, void *context)
{
    if (budget->count == NULL)
        return;
    budget->count->healthy += is_healthy(pod);
    count_expected(budget->count, pod, context);
}

/* Only a minAvailable that is a number asks for no replicas. What cannot be read, and a share of
 * pods that nobody can count, allow nothing. */
static int64_t compute_allowed(const struct eviction_budget *budget)
{
    const struct headcount *count = budget->count;
    const struct node *spec = node_get(budget->object->root->node, "spec");
    const struct node *most = node_get(spec, "maxUnavailable");
    const struct node *least = node_get(spec, "minAvailable");
    bool has_most = node_is_given(most);
    struct share share = {0};
    if (!share_parse(node_text(has_most ? most : least), &share))
        return 0;
    bool plain = !has_most && !share.percent;
    if (!plain && (count->uncountable || count->expected == 0))
        return 0;
    int64_t amount = share_amount(share, count->expected);
    int64_t kept = has_most ? count->expected - amount : amount;
    int64_t allowed = count->healthy - (kept > 0 ? kept : 0);
    return allowed > 0 ? allowed : 0;
}

static void compute(struct eviction_budgets *budgets, const struct snapshot *snapshot,
                    struct arena *arena)
{
    struct counting counting = {snapshot, arena};
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_POD); i++) {
        const struct object *pod = snapshot_object(snapshot, KIND_POD, i);
        const struct namespace_budgets *listed = listed_in(budgets, pod->namespace);
        if (listed != NULL && listed->computes)
            find_covering(budgets, listed, pod, count_pod, &counting);
    }
    for (size_t i = 0; i < budgets->count; i++) {
        struct eviction_budget *budget = &budgets->items[i];
        if (budget->computed)
            budget->allowed = compute_allowed(budget);
    }
}

/* ---- the whole ---- */

/* The three spellings that Karpenter compares with: a minAvailable of all replicas that is a number
 * is none of them. */
static bool blocks_for_good(const struct node *spec)
{
    const struct node *most = node_get(spec, "maxUnavailable");
    return TEXT_IS_ONE_OF(node_text(most), "0", "0%") ||
           text_is(node_text(node_get(spec, "minAvailable")), "100%");
}

static struct eviction_budget read_budget(const struct object *object, struct arena *arena)
{
    const struct node *root = object->root->node;
    struct eviction_budget budget = {
        .object = object,
        .selector = selector_index_make(node_at(root, "spec.selector"), arena),
        .spares_unready =
            text_is(node_string(node_at(root, "spec.unhealthyPodEvictionPolicy")), "AlwaysAllow"),
        .blocks_for_good = blocks_for_good(node_get(root, "spec")),
    };
    budget.computed = !node_integer(node_at(root, "status.disruptionsAllowed"), &budget.allowed);
    if (budget.computed)
        budget.count = ARENA_NEW(arena, struct headcount);
    return budget;
}

struct eviction_budgets *eviction_budgets_read(const struct snapshot *snapshot, struct arena *arena)
{
    struct eviction_budgets *budgets = ARENA_NEW(arena, struct eviction_budgets);
    bool computes = false;
    budgets->arena = arena;
    budgets->count = snapshot_count(snapshot, KIND_POD_DISRUPTION_BUDGET);
    budgets->items = ARENA_ARRAY(arena, budgets->count, struct eviction_budget);
    for (size_t i = 0; i < budgets->count; i++) {
        budgets->items[i] =
            read_budget(snapshot_object(snapshot, KIND_POD_DISRUPTION_BUDGET, i), arena);
        computes |= budgets->items[i].computed;
    }
    for (size_t first = 0, last = 0; first < budgets->count; first = last) {
        struct text namespace = budgets->items[first].object->namespace;
        while (last < budgets->count &&
               text_equal(budgets->items[last].object->namespace, namespace))
            last++;
        list_namespace(budgets, first, last, arena);
    }
    if (computes)
        compute(budgets, snapshot, arena);
    return budgets;
}
