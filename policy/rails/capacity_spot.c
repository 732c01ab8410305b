/* The rail capacity-types: pools that buy spot nodes, by how few ways, or unasked. */
#include "policy/rails/capacity_spot.h"

#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/launchable.h"
#include "solver/well_known.h"

/* Karpenter replaces spot by spot only among so many types: karpenter.md 6.5. */
enum { TYPES_ENOUGH = 15 };

static bool is_about(const struct expression *expression)
{
    return expression->valid && text_is(expression_canonical_key(expression), LABEL_CAPACITY_TYPE);
}

static bool leaves(const struct expressions *expressions, struct text capacity_type)
{
    FOR_EACH(expression, expressions) {
        bool named = is_about(expression) && expression_names(expression, capacity_type);
        if (is_about(expression) && expression->op != SOLVER_EXISTS &&
            !(expression->op == SOLVER_IN && named) && !(expression->op == SOLVER_NOT_IN && !named))
            return false;
    }
    return true;
}

static bool sells(const struct pool *pool, struct text capacity_type)
{
    return leaves(&pool->requirements, capacity_type) && leaves(&pool->labels, capacity_type);
}

static bool is_said(const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (is_about(expression) && expression->op != SOLVER_EXISTS)
            return true;
    return false;
}

bool capacity_is_unasked(const struct pool *pool)
{
    return !is_said(&pool->requirements) && !is_said(&pool->labels);
}

/* ---- unasked ---- */

static void report_unasked(struct rail_call *call, const struct pool *pool, enum severity severity)
{
    struct text path = field_path(call->arena, pool->requirements_field);
    report(call, severity, pool->requirements_field,
           arena_printf(call->arena,
                        "Add to %.*s: [{key: " LABEL_CAPACITY_TYPE ", operator: In, values: "
                        "[on-demand]}], or [spot, on-demand] where spot is meant.",
                        TEXT_ARGS(path)),
           "No requirement names a capacity type, so Karpenter buys spot nodes first. EC2 takes "
           "them back at two minutes' notice.");
}

/* ---- of few types ---- */

/* Whether each has accelerators: there are few of a kind. */
static bool are_accelerated(const struct rail_call *call, const struct type_set *types)
{
    const struct catalog *catalog = call->world->catalog;
    FOR_TYPES(i, types) {
        const struct instance_type *type = catalog_type(catalog, i);
        if (!instance_type_is_accelerated(type))
            return false;
    }
    return true;
}

static void judge_few(struct rail_call *call, const struct pool *pool,
                      const struct launchable *launchable)
{
    bool accelerated = are_accelerated(call, &launchable->types);
    if (launchable->count >= TYPES_ENOUGH || pool_is_static(pool) ||
        (accelerated && sells(pool, TEXT("on-demand"))))
        return;
    report_as(call, SEVERITY_WARN, .field = pool->requirements_field, .found = TEXT("spot"),
              .statement = arena_printf(
                  call->arena,
                  "The pool buys spot nodes of only %zu instance type%s. With fewer than %d, "
                  "interruptions are likelier, and Karpenter replaces no spot node by a cheaper "
                  "one.",
                  launchable->count, launchable->count == 1 ? "" : "s", TYPES_ENOUGH),
              .fix = accelerated
                         ? TEXT("Allow further types with such accelerators, or on-demand beside "
                                "spot.")
                         : arena_printf(call->arena,
                                        "Allow at least %d instance types, of several families "
                                        "and sizes.",
                                        TYPES_ENOUGH));
}

/* ---- alone ---- */

static const struct taint *first_hard(const struct taints *taints)
{
    FOR_EACH(taint, taints)
        if (taint_is_hard(taint))
            return taint;
    return NULL;
}

static bool has_taint(const struct taints *taints, const struct taint *wanted)
{
    FOR_EACH(taint, taints)
        if (text_equal(taint->key, wanted->key) && text_equal(taint->value, wanted->value) &&
            text_equal(taint->effect, wanted->effect))
            return true;
    return false;
}

/* Whether pods that tolerate the taints of ours may run on on-demand nodes of the other pool. */
static bool falls_back_on(const struct pool *ours, const struct pool *other)
{
    if (text_equal(ours->object->name, other->object->name) || !sells(other, TEXT("on-demand")))
        return false;
    FOR_EACH(taint, &other->taints)
        if (taint_is_hard(taint) && !has_taint(&ours->taints, taint))
            return false;
    return true;
}

/* Where no other pool is visible, nobody can say. */
static bool may_have_fallback(const struct rail_call *call, const struct pool *pool)
{
    const struct snapshot *snapshot = call->world->snapshot;
    size_t others = 0;
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *other = snapshot_pool(snapshot, i);
        if (falls_back_on(pool, other))
            return true;
        others += !text_equal(other->object->name, pool->object->name);
    }
    return others == 0;
}

/* Without a taint any pod may come, and may go elsewhere as well. */
static void judge_alone(struct rail_call *call, const struct pool *pool)
{
    const struct taint *taint = first_hard(&pool->taints);
    if (taint == NULL || sells(pool, TEXT("on-demand")) ||
        !world_sees(call->world, KIND_BIT(KIND_NODE_POOL)) || may_have_fallback(call, pool))
        return;
    report_as(call, SEVERITY_AUDIT, .field = pool->requirements_field, .found = TEXT("spot"),
              .statement = arena_printf(
                  call->arena,
                  "The pool buys spot nodes alone, and no visible NodePool for its taint %.*s buys "
                  "on-demand. Its pods wait while there is no spot capacity.",
                  TEXT_ARGS(taint->key)),
              .fix = TEXT("Allow on-demand beside spot, or add a NodePool of on-demand nodes with "
                          "the same taint."));
}

/* ---- the whole ---- */

void capacity_judge_spot(struct rail_call *call, const struct pool *pool,
                         const struct spot_rules *rules)
{
    const struct launchable *launchable = pool_launchable(call, pool);
    if (!launchable->covered || launchable->count == 0 || pool->node_class_name.size == 0 ||
        pool_is_built_in(pool) || !sells(pool, TEXT("spot")))
        return;
    if (capacity_is_unasked(pool)) {
        if (rules->tells_unasked)
            report_unasked(call, pool, rules->unasked);
        return;
    }
    judge_few(call, pool, launchable);
    if (rules->on_demand)
        judge_alone(call, pool);
}
