/* Pods that tolerate every taint, and so those of accelerators, but ask for none. */
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/policy_set.h"
#include "policy/rails/accelerators_pod.h"
#include "policy/rails/tolerations.h"
#include "policy/reading.h"
#include "simulation/supply.h"
#include "simulation/ways.h"
#include "solver/well_known.h"

static bool takes(const struct expression *expression, struct text value)
{
    bool names_it = expression_names(expression, value);
    return expression->op == SOLVER_EXISTS || (expression->op == SOLVER_IN && names_it) ||
           (expression->op == SOLVER_NOT_IN && !names_it);
}

/* Nodes with accelerators have these labels as well, and run Linux as a rule. Of hosts that a pod
 * avoids a NodePool makes others. */
static bool tells_nodes_apart(const struct expression *expression)
{
    struct text key = expression_canonical_key(expression);
    if (text_is(key, LABEL_OS))
        return !takes(expression, TEXT("linux"));
    if (TEXT_IS_ONE_OF(key, LABEL_REGISTERED, LABEL_INITIALIZED))
        return !takes(expression, TEXT("true"));
    if (text_is(key, LABEL_HOSTNAME) && expression->op == SOLVER_NOT_IN)
        return false;
    if (TEXT_IS_ONE_OF(key, LABEL_HOSTNAME, LABEL_NODE_POOL, LABEL_CAPACITY_TYPE,
                       LABEL_INSTANCE_TYPE, LABEL_ZONE, LABEL_REGION))
        return expression->op != SOLVER_EXISTS;
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

/* The pool of accelerators that serves the pod best, or not; NULL: none lets it in. */
static const struct pool *find_pool(const struct accelerators_pod *pod, enum service *best)
{
    const struct snapshot *snapshot = pod->call->world->snapshot;
    const struct pool *found = NULL;
    *best = SERVES_NOT;
    for (size_t i = 0; i < snapshot_pool_count(snapshot) && *best != SERVES; i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        if (pool->object->deleting || !pool_has_taint(pod->settings, pool) ||
            accelerators_count_closing(pod, pool) > 0)
            continue;
        enum service service = accelerators_service(pod, pool);
        if (found == NULL || service > *best) {
            *best = service;
            found = pool;
        }
    }
    return found;
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

/* some: whether one is visible. */
static bool may_come_to_a_node(const struct accelerators_pod *pod, const struct workload *workload,
                               bool *some)
{
    const struct rail_call *call = pod->call;
    const struct snapshot *snapshot = call->world->snapshot;
    struct ways *ways = NULL;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++) {
        const struct object *node = snapshot_object(snapshot, KIND_NODE, i);
        if (node->deleting || !node_has_taint(pod->settings, node))
            continue;
        *some = true;
        if (ways == NULL)
            ways =
                ways_read(workload, &pod->tolerations, snapshot, call->world->catalog, call->arena);
        if (ways_lead_to(ways, node))
            return true;
    }
    return false;
}

/* A toleration without a key is of every taint, and so of those of accelerators. */
static bool is_of_every_taint(const struct toleration *toleration)
{
    return toleration->key.size == 0 && text_is(toleration->op, "Exists") &&
           accelerators_opens_a_door(toleration);
}

/* One of NoExecute alone leaves NoSchedule, their usual effect, as it is. */
static bool is_of_no_execute(const struct toleration *toleration)
{
    return text_is(toleration->effect, "NoExecute");
}

/* How many effects it is of, as they count: NoSchedule is the usual one. */
static int width_of(const struct toleration *toleration)
{
    enum { NO_EXECUTE = 1, NO_SCHEDULE, ALL };
    if (toleration->effect.size == 0)
        return ALL;
    return is_of_no_execute(toleration) ? NO_EXECUTE : NO_SCHEDULE;
}

/* The widest that the other rail (NULL: none) does not find, the first of equals; NULL: there is
 * none. */
static const struct toleration *find_every(const struct tolerations *tolerations,
                                           const struct rail_use *beside)
{
    const struct toleration *found = NULL;
    FOR_EACH(toleration, tolerations) {
        if (!is_of_every_taint(toleration) ||
            (beside != NULL && tolerations_finds_every(beside->settings, toleration)))
            continue;
        if (found == NULL || width_of(toleration) > width_of(found))
            found = toleration;
    }
    return found;
}

/* Whether the other rail finds one of the old object, too: then it has nothing new to say, whatever
 * nodes an update of the pod opens. */
static bool was_found(const struct rail_call *call, const struct rail_use *beside)
{
    const struct object *old = call->subject->old_object;
    struct workload before, after;
    struct tolerations tolerations = {0};
    if (old == NULL || !workload_read(old, call->arena, &before) ||
        !workload_read(call->subject->object, call->arena, &after) ||
        node_equal(before.spec->node, after.spec->node))
        return false;
    tolerations_read(&before, call->arena, &tolerations);
    FOR_EACH(toleration, &tolerations)
        if (is_of_every_taint(toleration) && tolerations_finds_every(beside->settings, toleration))
            return true;
    return false;
}

static void report_toleration(const struct accelerators_pod *pod,
                              const struct toleration *toleration, enum severity severity,
                              const char *way_out, const char *consequence)
{
    struct rail_call *call = pod->call;
    const struct accelerators *settings = pod->settings;
    struct text resource = accelerators_name_of(settings->resources.items[0], call->arena);
    struct arena *arena = call->arena;
    const struct field *field = field_get(arena, toleration->field, "operator");
    report_as(call, severity, .field = field, .found = node_text(field->node),
              .statement = arena_printf(
                  arena,
                  "The pod tolerates every %.*s%staint, also those of nodes with accelerators such "
                  "as %.*s, but asks for no accelerator.%s",
                  TEXT_ARGS(toleration->effect), toleration->effect.size > 0 ? " " : "",
                  TEXT_ARGS(settings->taints.items[0]), consequence),
              .fault = arena_printf(arena, "The pod tolerates every taint (%.*s).",
                                    TEXT_ARGS(toleration->effect)),
              .fix = arena_printf(arena,
                                  "Name the keys of the taints that the pod must tolerate, %sor "
                                  "ask for %.*s under resources.limits of a container.",
                                  way_out, TEXT_ARGS(resource)));
}

static void report_terms(const struct accelerators_pod *pod, const struct toleration *toleration)
{
    struct arena *arena = pod->call->arena;
    report_toleration(
        pod, toleration, SEVERITY_RAIL,
        arena_printf(arena, "write at most %d nodeSelectorTerms, ", SUPPLY_TERMS_MAX).data,
        arena_printf(arena,
                     " None of the first %d of its %zu nodeSelectorTerms leads to such nodes. No "
                     "more are looked at.",
                     SUPPLY_TERMS_MAX, pod->selection->required.count)
            .data);
}

/* A pod that chooses nodes may have chosen others, and few have taints of NoExecute alone: then one
 * of accelerators must be visible that it fits. */
static void judge_toleration(const struct accelerators_pod *pod, const struct workload *workload,
                             const struct toleration *toleration)
{
    enum service service = SERVES;
    bool some_node = false;
    bool is_narrow = is_of_no_execute(toleration) || chooses_nodes(pod->selection);
    const struct pool *pool = is_narrow ? find_pool(pod, &service) : NULL;
    struct text name = pool == NULL ? TEXT("") : pool->object->name;
    if (service == SERVES || may_come_to_a_node(pod, workload, &some_node))
        report_toleration(pod, toleration, SEVERITY_RAIL, "", TAKES_A_PLACE);
    else if ((some_node && pod->selection->required.count > SUPPLY_TERMS_MAX) ||
             (pool != NULL && accelerators_has_more_terms(pod)))
        report_terms(pod, toleration);
    else if (service == MAY_SERVE)
        report_toleration(pod, toleration, SEVERITY_UNDECIDED, "",
                          arena_printf(pod->call->arena,
                                       " Nodes of %.*s are kept for pods that do, and whether they "
                                       "have the labels that it selects is not known.",
                                       TEXT_ARGS(name))
                              .data);
}

/* A pod with a nodeName, as kubectl debug makes it, gets there without. */
void accelerators_judge_every_taint(struct accelerators_pod *pod, const struct workload *workload)
{
    const struct rail_call *call = pod->call;
    if (find_every(&pod->tolerations, NULL) == NULL ||
        node_string(node_get(workload->spec->node, "nodeName")).size > 0)
        return;
    const struct rail_use *beside = rail_beside(call, &rail_tolerations);
    if (beside != NULL && was_found(call, beside))
        beside = NULL;
    const struct toleration *toleration = find_every(&pod->tolerations, beside);
    if (toleration == NULL)
        return;
    pod->selection = call_selection(call, workload);
    judge_toleration(pod, workload, toleration);
}
