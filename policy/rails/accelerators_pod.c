/* What accelerators says of workloads. */
#include "catalog/catalog.h"
#include "kube/label.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/policy_set.h"
#include "policy/rails/accelerators.h"
#include "policy/rails/tolerations.h"
#include "policy/reading.h"
#include "simulation/ways.h"
#include "solver/well_known.h"

/* ---- the pools that could serve a pod ---- */

/* A pod, and the pools that could serve it. */
struct check {
    struct rail_call *call;
    const struct accelerators *settings;
    const struct node_selection *selection;
    struct tolerations tolerations;
    device_set wanted;
    struct {
        const struct pool **items;
        size_t count, capacity;
    } closed;             /* could serve it, but for a taint */
    bool closed_is_known; /* of one of them that it carries what is wanted */
};

static void add_label(struct solver_names *names, struct solver_requirements *set, struct text key,
                      struct text text, struct arena *arena)
{
    struct expression_value value = {.text = text};
    const struct expression label = {
        .key = key,
        .op = SOLVER_IN,
        .valid = true,
        .values = &value,
        .value_count = 1,
    };
    expression_add(&label, names, set, arena);
}

static bool some_type_carries(const struct check *check, struct type_set types)
{
    for (int device = 0; device < DEVICE_COUNT; device++)
        if ((check->wanted & DEVICE_BIT(device)) != 0)
            types = type_set_and(&types, &check->settings->carriers_of[device], check->call->arena);
    return !type_set_is_empty(&types);
}

/* The labels that each of the pool's nodes has besides those of its template. */
static void add_own_labels(const struct pool *pool, struct solver_names *names,
                           struct solver_requirements *set, struct arena *arena)
{
    struct pool_label labels[POOL_OWN_LABELS_MAX];
    size_t count = pool_own_labels(pool, labels);
    for (size_t i = 0; i < count; i++)
        add_label(names, set, labels[i].key, labels[i].value, arena);
    add_label(names, set, TEXT(LABEL_REGISTERED), TEXT("true"), arena);
    add_label(names, set, TEXT(LABEL_INITIALIZED), TEXT("true"), arena);
    add_label(names, set, TEXT(LABEL_HOSTNAME), TEXT("hostname-placeholder"), arena);
}

/* docs/reference/karpenter.md 1.3 and 2.5: the pool's labels, with those of each of its nodes, must
 * fit the pod's selection, and some type that fits both must carry what is wanted. term may be
 * NULL. */
static bool could_serve(const struct check *check, const struct pool *pool,
                        const struct node_term *term)
{
    struct arena *arena = check->call->arena;
    const struct catalog *catalog = check->settings->catalog;
    struct solver_names *names = solver_names_create(arena, catalog_names(catalog));
    struct solver_requirements pool_set = {0};
    struct solver_requirements pod_set = {0};
    expressions_add(&pool->requirements, names, &pool_set, arena);
    expressions_add(&pool->labels, names, &pool_set, arena);
    add_own_labels(pool, names, &pool_set, arena);
    expressions_add(&check->selection->selector, names, &pod_set, arena);
    if (term != NULL)
        expressions_add(&term->expressions, names, &pod_set, arena);
    if (!solver_requirements_compatible(names, &pool_set, &pod_set, solver_is_well_known, NULL))
        return false;
    if (!pool_is_covered_by(catalog, pool))
        return true;
    for (size_t i = 0; i < pod_set.count; i++)
        solver_requirements_add(names, &pool_set, pod_set.items[i], arena);
    return some_type_carries(check, catalog_select_launchable(catalog, names, &pool_set, arena));
}

/* Terms that are looked at: a pod asks every NodePool by each. */
enum { TERMS_MAX = 64 };

static bool could_serve_some_term(const struct check *check, const struct pool *pool)
{
    const struct node_terms *terms = &check->selection->required;
    if (terms->count == 0)
        return could_serve(check, pool, NULL);
    for (size_t i = 0; i < terms->count && i < TERMS_MAX; i++)
        if (could_serve(check, pool, &terms->items[i]))
            return true;
    return false;
}

static bool is_closed_by(const struct check *check, const struct taint *taint)
{
    return taint_is_hard(taint) && !tolerations_cover(&check->tolerations, taint);
}

static size_t count_closing(const struct check *check, const struct pool *pool)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->taints.count; i++)
        if (is_closed_by(check, &pool->taints.items[i]))
            count++;
    return count;
}

/* ---- tolerating without asking ---- */

/* Tolerating PreferNoSchedule opens no door that was closed. */
static bool opens_a_door(const struct toleration *toleration)
{
    return !text_is(toleration->effect, "PreferNoSchedule");
}

static bool uses_a_claim(const struct node *containers)
{
    FOR_ITEMS(container, containers)
        FOR_ITEMS(claim, node_at(container, "resources.claims"))
            if (node_string(node_get(claim, "name")).size > 0)
                return true;
    return false;
}

/* Whether a container asks through resourceClaims. Claims are not read here: which device one is
 * for is not known, but kube-scheduler holds a pod until its claims exist and are allocated. A
 * claim that no container uses gives none of them a device. */
static bool asks_by_claim(const struct workload *workload)
{
    return workload_claims_devices(workload) &&
           (uses_a_claim(node_get(workload->spec->node, "containers")) ||
            uses_a_claim(node_get(workload->spec->node, "initContainers")));
}

/* No resource is called so: an operator fills it in. */
static bool asks_for_a_placeholder(const struct text_map *names)
{
    static const char *const native[] = {"cpu", "memory", "ephemeral-storage", "storage"};
    for (size_t i = 0; i < names->count; i++) {
        struct text name = names->items[i].key;
        if (!text_is_one_of(name, native, COUNT_OF(native)) &&
            !text_starts_with(name, TEXT("hugepages-")) && !text_split(name, '/', NULL, NULL))
            return true;
    }
    return false;
}

/* Spark makes its pods of a template, whose container it looks for by name, and adds the
 * accelerators that its own settings ask for. */
static bool is_completed_by_spark(const struct workload *workload)
{
    if (text_is(workload->object->kind_name, "SparkApplication") ||
        text_is(workload->object->kind_name, "ScheduledSparkApplication"))
        return true;
    FOR_ITEMS(container, node_get(workload->spec->node, "containers"))
        if (TEXT_IS_ONE_OF(node_string(node_get(container, "name")), "spark-kubernetes-driver",
                           "spark-kubernetes-executor"))
            return true;
    return false;
}

/* The cluster's own controllers run also where all nodes have accelerators. Elsewhere anybody could
 * write the priority class. */
static bool is_critical(const struct workload *workload)
{
    return text_is(workload->object->namespace, "kube-system") &&
           TEXT_IS_ONE_OF(node_string(node_get(workload->spec->node, "priorityClassName")),
                          "system-cluster-critical", "system-node-critical");
}

/* A template may be completed later; a Pod has what it asks for, so that nobody takes a place by
 * what a template is called. */
static bool may_tolerate_without_asking(const struct workload *workload,
                                        const struct text_map *names)
{
    bool is_template = workload->object->kind != KIND_POD;
    return is_critical(workload) ||
           (is_template && (asks_for_a_placeholder(names) || is_completed_by_spark(workload)));
}

#define TAKES_A_PLACE " It takes a place on a node that is kept for pods that do."

static void report_toleration(struct rail_call *call, const struct workload *workload,
                              const struct toleration *toleration, struct text fix)
{
    const struct field *field = field_get(call->arena, toleration->field, "key");
    struct text key = toleration->key;
    if (workload_claims_devices(workload))
        report_found(call, SEVERITY_RAIL, field, key, fix,
                     "The pod tolerates %.*s and names resourceClaims, but no container uses "
                     "one." TAKES_A_PLACE,
                     TEXT_ARGS(key));
    else
        report_found(call, SEVERITY_RAIL, field, key, fix,
                     "The pod tolerates %.*s but asks for no accelerator." TAKES_A_PLACE,
                     TEXT_ARGS(key));
}

static bool takes_true(const struct expression *expression)
{
    bool names_it = expression_names(expression, TEXT("true"));
    return expression->op == SOLVER_EXISTS || (expression->op == SOLVER_IN && names_it) ||
           (expression->op == SOLVER_NOT_IN && !names_it);
}

/* Nodes with accelerators have these labels as well, and run Linux as a rule. */
static bool tells_nodes_apart(const struct expression *expression)
{
    struct text key = expression_canonical_key(expression);
    if (text_is(key, LABEL_OS))
        return expression_names(expression, TEXT("windows"));
    if (text_is(key, LABEL_HOSTNAME))
        return expression->op != SOLVER_EXISTS;
    if (TEXT_IS_ONE_OF(key, LABEL_REGISTERED, LABEL_INITIALIZED))
        return !takes_true(expression);
    return !text_is(key, LABEL_ARCH);
}

static bool tell_nodes_apart(const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (tells_nodes_apart(expression))
            return true;
    return false;
}

static bool chooses_nodes(const struct node_selection *selection)
{
    if (tell_nodes_apart(&selection->selector))
        return true;
    FOR_EACH(term, &selection->required)
        if (node_term_node(term).size == 0 && !tell_nodes_apart(&term->expressions))
            return false;
    return selection->required.count > 0;
}

/* No node that a NodePool makes later has such a name. */
static bool names_each_node(const struct node_selection *selection)
{
    FOR_EACH(term, &selection->required)
        if (node_term_node(term).size == 0)
            return false;
    return selection->required.count > 0;
}

static bool closes_accelerators(const struct accelerators *settings, const struct taint *taint)
{
    return taint_is_hard(taint) && accelerators_is_taint(settings, taint->key);
}

static bool pool_has_taint(const struct accelerators *settings, const struct pool *pool)
{
    FOR_EACH(taint, &pool->taints)
        if (closes_accelerators(settings, taint))
            return true;
    return false;
}

static bool may_come_by_a_pool(const struct check *check)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    if (names_each_node(check->selection))
        return false;
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        if (!pool->object->deleting && pool_has_taint(check->settings, pool) &&
            count_closing(check, pool) == 0 && could_serve_some_term(check, pool))
            return true;
    }
    return false;
}

static bool node_has_taint(const struct accelerators *settings, const struct object *node)
{
    FOR_ITEMS(item, node_at(node->root->node, "spec.taints")) {
        const struct taint taint = {.key = node_string(node_get(item, "key")),
                                    .effect = node_string(node_get(item, "effect"))};
        if (closes_accelerators(settings, &taint))
            return true;
    }
    return false;
}

static bool may_come_to_a_node(const struct check *check, const struct workload *workload)
{
    const struct rail_call *call = check->call;
    const struct snapshot *snapshot = call->world->snapshot;
    struct ways *ways = NULL;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++) {
        const struct object *node = snapshot_object(snapshot, KIND_NODE, i);
        if (node->deleting || !node_has_taint(check->settings, node))
            continue;
        if (ways == NULL)
            ways = ways_read(workload, snapshot, call->world->catalog, call->arena);
        if (ways_lead_to(ways, node))
            return true;
    }
    return false;
}

/* A pod that chooses nodes may have chosen others: then one of accelerators must be visible that it
 * fits. */
static bool may_come_to_accelerators(const struct check *check, const struct workload *workload)
{
    return !chooses_nodes(check->selection) || may_come_by_a_pool(check) ||
           may_come_to_a_node(check, workload);
}

/* A toleration without a key is of every taint, and so of those of accelerators. One of NoExecute
 * alone leaves NoSchedule, their usual effect, as it is. */
static bool is_of_every_taint(const struct toleration *toleration)
{
    return toleration->key.size == 0 && text_is(toleration->op, "Exists") &&
           !text_is(toleration->effect, "NoExecute") && opens_a_door(toleration);
}

static bool some_is_of_every_taint(const struct tolerations *tolerations)
{
    FOR_EACH(toleration, tolerations)
        if (is_of_every_taint(toleration))
            return true;
    return false;
}

/* A pod with a nodeName, as kubectl debug makes it, gets there without. */
static void judge_every_taint(struct check *check, const struct workload *workload)
{
    struct rail_call *call = check->call;
    const struct accelerators *settings = check->settings;
    if (!some_is_of_every_taint(&check->tolerations) ||
        node_string(node_get(workload->spec->node, "nodeName")).size > 0)
        return;
    const struct rail_use *beside = rail_beside(call, &rail_tolerations);
    FOR_EACH(toleration, &check->tolerations) {
        if (!is_of_every_taint(toleration) ||
            (beside != NULL && tolerations_finds_every(beside->settings, toleration)))
            continue;
        check->selection = call_selection(call, workload);
        if (!may_come_to_accelerators(check, workload))
            return;
        struct text resource = accelerators_name_of(settings->resources.items[0], call->arena);
        report(call, SEVERITY_RAIL, field_get(call->arena, toleration->field, "operator"),
               arena_printf(call->arena,
                            "Name the keys of the taints that the pod must tolerate, or ask for "
                            "%.*s under resources.limits of a container.",
                            TEXT_ARGS(resource)),
               "The pod tolerates every %.*s%staint, also those of nodes with accelerators such as "
               "%.*s, but asks for no accelerator." TAKES_A_PLACE,
               TEXT_ARGS(toleration->effect), toleration->effect.size > 0 ? " " : "",
               TEXT_ARGS(settings->taints.items[0]));
        return;
    }
}

static void judge_tolerations(struct check *check, const struct workload *workload)
{
    struct rail_call *call = check->call;
    struct arena *arena = call->arena;
    const struct accelerators *settings = check->settings;
    struct text_map told = {0};
    judge_every_taint(check, workload);
    FOR_EACH(toleration, &check->tolerations) {
        if (!accelerators_is_taint(settings, toleration->key) || !opens_a_door(toleration) ||
            !text_map_add(&told, arena, toleration->key))
            continue;
        struct text resource = accelerators_is_resource(settings, toleration->key)
                                   ? toleration->key
                                   : accelerators_name_of(settings->resources.items[0], arena);
        report_toleration(call, workload, toleration,
                          arena_printf(arena,
                                       "Remove the toleration, or ask for %.*s under "
                                       "resources.limits of a container.",
                                       TEXT_ARGS(resource)));
    }
}

/* ---- asking without tolerating ---- */

/* True when a pool that could serve it is open to it. */
static bool find_pool(struct check *check)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        if (pool->object->deleting || !could_serve_some_term(check, pool))
            continue;
        if (count_closing(check, pool) == 0)
            return true;
        *LIST_PUSH(check->call->arena, &check->closed) = pool;
        if (pool_is_covered_by(check->settings->catalog, pool))
            check->closed_is_known = true;
    }
    return false;
}

/* "gpu (nvidia.com/gpu=true:NoSchedule), ml (...)": the taints that close each. */
static struct text closed_text(const struct check *check)
{
    enum { SHOWN = 5 };
    struct text_builder text = {.arena = check->call->arena};
    for (size_t i = 0; i < check->closed.count && i < SHOWN; i++) {
        const struct pool *pool = check->closed.items[i];
        text_builder_printf(&text, "%s%.*s (", i == 0 ? "" : ", ", TEXT_ARGS(pool->object->name));
        size_t count = 0;
        FOR_EACH(taint, &pool->taints)
            if (is_closed_by(check, taint))
                text_builder_printf(&text, "%s%.*s%s%.*s:%.*s", count++ == 0 ? "" : ", ",
                                    TEXT_ARGS(taint->key), taint->value.size > 0 ? "=" : "",
                                    TEXT_ARGS(taint->value), TEXT_ARGS(taint->effect));
        text_builder_add(&text, TEXT(")"));
    }
    if (check->closed.count > SHOWN)
        text_builder_printf(&text, ", ... (%zu)", check->closed.count);
    return text_builder_text(&text);
}

/* What opens the pool that lacks least. */
static struct text tolerations_to_add(const struct check *check)
{
    const struct pool *pool = check->closed.items[0];
    for (size_t i = 1; i < check->closed.count; i++)
        if (count_closing(check, check->closed.items[i]) < count_closing(check, pool))
            pool = check->closed.items[i];
    struct text_builder yaml = {.arena = check->call->arena};
    FOR_EACH(taint, &pool->taints) {
        if (is_closed_by(check, taint))
            text_builder_printf(&yaml, "%s{key: %.*s, operator: Exists, effect: %.*s}",
                                yaml.size == 0 ? "" : ", ", TEXT_ARGS(taint->key),
                                TEXT_ARGS(taint->effect));
    }
    return text_builder_text(&yaml);
}

static bool tolerates_everything(const struct tolerations *tolerations)
{
    FOR_EACH(toleration, tolerations)
        if (toleration->key.size == 0 && toleration->effect.size == 0 &&
            text_is(toleration->op, "Exists"))
            return true;
    return false;
}

static void judge_pools(struct check *check, const struct field *field, struct text asked)
{
    struct rail_call *call = check->call;
    struct arena *arena = call->arena;
    if (tolerates_everything(&check->tolerations) || find_pool(check))
        return;
    if (check->closed.count > 0)
        report_found(
            call,
            check->closed_is_known && world_sees(call->world, KIND_BIT(KIND_NODE_POOL))
                ? SEVERITY_RAIL
                : SEVERITY_UNDECIDED,
            field, asked,
            arena_printf(arena, "Add to %.*s: [%.*s].", TEXT_ARGS(field_path(arena, field)),
                         TEXT_ARGS(tolerations_to_add(check))),
            "The pod asks for %.*s but does not tolerate the taints of the NodePools that could "
            "serve it: %.*s.",
            TEXT_ARGS(asked), TEXT_ARGS(closed_text(check)));
    else if (snapshot_pool_count(call->world->snapshot) == 0 && call->object->kind == KIND_POD)
        report_found(call, SEVERITY_UNDECIDED, field, asked,
                     advice_to_show(call, KIND_BIT(KIND_NODE_POOL), ""),
                     "Whether the pod tolerates the taints of nodes with %.*s is not known, since "
                     "no NodePool is visible.",
                     TEXT_ARGS(asked));
    else if (snapshot_pool_count(call->world->snapshot) > 0 &&
             check->selection->required.count > TERMS_MAX)
        report_found(call, SEVERITY_RAIL, field, asked,
                     arena_printf(arena, "Write at most %d nodeSelectorTerms.", TERMS_MAX),
                     "No NodePool serves this pod, which asks for %.*s, by the first %d of its %zu "
                     "nodeSelectorTerms. No more are looked at.",
                     TEXT_ARGS(asked), TERMS_MAX, check->selection->required.count);
}

/* The devices asked for by name; of a resource that tells none (the bit of DEVICE_COUNT) every type
 * may have it. */
static device_set devices_asked(const struct accelerators *settings, const struct text_map *names,
                                struct text *first)
{
    device_set devices = 0;
    *first = TEXT("");
    for (size_t i = 0; i < names->count; i++) {
        struct text name = names->items[i].key;
        if (!accelerators_is_resource(settings, name))
            continue;
        if (first->size == 0)
            *first = name;
        devices |= DEVICE_BIT(device_of_resource(name));
    }
    return devices;
}

void accelerators_judge_workload(struct rail_call *call, const struct accelerators *settings)
{
    struct arena *arena = call->arena;
    struct workload workload;
    bool is_daemon_set = call->object->kind == KIND_DAEMON_SET;
    if ((!is_daemon_set && is_of_daemon_set(call)) || !call_workload(call, &workload) ||
        node_count(node_get(workload.spec->node, "containers")) == 0)
        return;
    struct check check = {.call = call, .settings = settings};
    check.tolerations = call_tolerations(call, &workload);
    const struct text_map names = *call_resources(call, &workload);
    struct text asked;
    check.wanted = devices_asked(settings, &names, &asked);
    accelerators_assume_tolerations(call, &names, &check.tolerations);
    if (is_daemon_set) {
        accelerators_judge_daemon_set(call, settings, &workload, &check.tolerations);
        return;
    }
    if (asked.size == 0) {
        if (!asks_by_claim(&workload) && !may_tolerate_without_asking(&workload, &names))
            judge_tolerations(&check, &workload);
        accelerators_judge_runtime(call, settings, &workload);
        return;
    }
    if (node_string(node_get(workload.spec->node, "nodeName")).size > 0)
        return;
    accelerators_add_tolerations(settings, &names, &check.tolerations, arena);
    check.selection = call_selection(call, &workload);
    judge_pools(&check, field_get(arena, workload.spec, "tolerations"), asked);
    if (!accelerators_judge_idle(call, settings, &workload, check.selection))
        accelerators_judge_update(call, settings, &workload, asked);
}
