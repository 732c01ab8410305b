/* Nodes that placeable cannot see: those of node groups, of Fargate, of EKS Auto Mode's own pools.
 */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/device.h"
#include "kube/label.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/rails/placeable.h"
#include "solver/well_known.h"

/* ---- labels that nobody visible offers ---- */

/* One of Fargate is for the pod it was made for alone. */
static bool some_node_is_of_no_pool(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++) {
        const struct node *labels = snapshot_object(snapshot, KIND_NODE, i)->labels;
        if (node_get(labels, LABEL_NODE_POOL) == NULL &&
            !text_is(node_string(node_get(labels, LABEL_COMPUTE_TYPE)), "fargate"))
            return true;
    }
    return false;
}

static bool is_positive(const struct expression *expression)
{
    return expression->valid && !solver_op_is_negative(expression->op);
}

static bool is_well_known(const struct placing *placing, struct text key)
{
    struct text canonical = canonical_key(key);
    return solver_is_well_known(canonical.data, canonical.size) ||
           catalog_has_key(placing->call->world->catalog, canonical);
}

static bool is_offered(const struct placing *placing, const struct expression *expression,
                       bool *by_pool)
{
    struct label_offers offers;
    label_offers_read(placing->call->world->snapshot, expression->key, placing->call->arena,
                      &offers);
    *by_pool = offers.from_pool;
    if (expression->op != SOLVER_IN || offers.any_value)
        return label_offers_some(&offers);
    for (size_t i = 0; i < expression->value_count; i++)
        if (label_offers_have(&offers, expression->values[i].text))
            return true;
    return false;
}

/* Whether it keeps a pod on nodes that come from elsewhere, of which none is visible. */
static bool is_elsewhere(const struct placing *placing, const struct expression *expression)
{
    const struct snapshot *snapshot = placing->call->world->snapshot;
    struct text key = expression->key;
    bool by_pool = false;
    if (text_is(key, LABEL_NODE_POOL))
        return expression->op == SOLVER_DOES_NOT_EXIST && !some_node_is_of_no_pool(snapshot);
    return is_positive(expression) && !is_well_known(placing, key) &&
           (placing->nodes_unseen || label_is_put_by_others(key)) &&
           !is_offered(placing, expression, &by_pool);
}

static const struct expression *find_elsewhere(const struct placing *placing,
                                               const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (is_elsewhere(placing, expression))
            return expression;
    return NULL;
}

const struct expression *placeable_elsewhere(const struct placing *placing)
{
    const struct node_selection *selection = placing->selection;
    const struct expression *found = find_elsewhere(placing, &selection->selector);
    for (size_t i = 0; i < selection->required.count && found == NULL; i++)
        found = find_elsewhere(placing, &selection->required.items[i].expressions);
    return found;
}

static bool is_unoffered(const struct placing *placing, const struct expression *expression)
{
    bool by_pool = false;
    return is_positive(expression) &&
           (text_is(expression->key, LABEL_NODE_POOL) ||
            !is_well_known(placing, expression->key)) &&
           !is_offered(placing, expression, &by_pool);
}

static bool some_is_unoffered(const struct placing *placing, const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (is_unoffered(placing, expression))
            return true;
    return false;
}

bool placeable_labels_tell(const struct placing *placing)
{
    const struct node_terms *required = &placing->selection->required;
    if (rail_settings(placing->call, &rail_node_labels) == NULL)
        return false;
    if (some_is_unoffered(placing, &placing->selection->selector))
        return true;
    FOR_EACH(term, required)
        if (!some_is_unoffered(placing, &term->expressions))
            return false;
    return required->count > 0;
}

void placeable_report_elsewhere(const struct placing *placing, const struct expression *elsewhere)
{
    struct text key = elsewhere->key;
    struct text statement =
        TEXT("It keeps off the nodes of NodePools, and no other Node is visible.");
    if (!text_is(key, LABEL_NODE_POOL))
        statement =
            arena_printf(placing->call->arena,
                         "It asks for nodes with the label %.*s, and none is visible that has it.",
                         TEXT_ARGS(key));
    report_found(placing->call, SEVERITY_UNDECIDED, elsewhere->field, key,
                 advice_to_show(placing->call, KIND_BIT(KIND_NODE),
                                "; those of a node group at zero cannot be seen"),
                 "%.*s", TEXT_ARGS(statement));
}

/* ---- pods for the NodePools that are visible ---- */

static bool binds_to_pools(const struct placing *placing, const struct expression *expression)
{
    struct text key = canonical_key(expression->key);
    bool by_pool = false;
    if (!is_positive(expression))
        return false;
    if (text_starts_with(key, TEXT("karpenter.")))
        return true;
    return !is_well_known(placing, key) && is_offered(placing, expression, &by_pool) && by_pool;
}

static bool some_binds_to_pools(const struct placing *placing,
                                const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (binds_to_pools(placing, expression))
            return true;
    return false;
}

static bool names_its_taint(const struct placing *placing, const struct pool *pool)
{
    for (size_t i = 0; i < placing->tolerations.count; i++) {
        const struct tolerations one = {.items = &placing->tolerations.items[i], .count = 1};
        FOR_EACH(taint, &pool->taints)
            if (one.items->key.size > 0 && taint_is_hard(taint) && tolerations_cover(&one, taint))
                return true;
    }
    return false;
}

bool placeable_is_for_pools(const struct placing *placing)
{
    const struct snapshot *snapshot = placing->call->world->snapshot;
    const struct node_selection *selection = placing->selection;
    if (some_binds_to_pools(placing, &selection->selector))
        return true;
    for (size_t i = 0; i < selection->required.count; i++)
        if (some_binds_to_pools(placing, &selection->required.items[i].expressions))
            return true;
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++)
        if (names_its_taint(placing, snapshot_pool(snapshot, i)))
            return true;
    return false;
}

/* ---- EKS Auto Mode's own NodePools ---- */

/* Of a live cluster all NodePools are seen; files show those that people write. */
static bool lacks_the_built_in(const struct world *world)
{
    bool auto_mode = false;
    for (size_t i = 0; i < snapshot_pool_count(world->snapshot); i++) {
        const struct pool *pool = snapshot_pool(world->snapshot, i);
        if (text_is(pool->object->name, "general-purpose"))
            return false;
        auto_mode = auto_mode || pool_is_of_auto_mode(pool);
    }
    return auto_mode && !world->of_cluster;
}

/* What the types of general-purpose are, which has no taint. */
static struct expressions built_in_requirements(struct arena *arena)
{
    static struct expression_value categories[] = {
        {.text = TEXT("c")}, {.text = TEXT("m")}, {.text = TEXT("r")}};
    static struct expression_value generation[] = {{.text = TEXT("4")}};
    static struct expression_value architecture[] = {{.text = TEXT("amd64")}};
    static const struct expression requirements[] = {
        {.key = TEXT("karpenter.k8s.aws/instance-category"),
         .op = SOLVER_IN,
         .valid = true,
         .values = categories,
         .value_count = COUNT_OF(categories)},
        {.key = TEXT("karpenter.k8s.aws/instance-generation"),
         .op = SOLVER_GT,
         .valid = true,
         .values = generation,
         .value_count = COUNT_OF(generation)},
        {.key = TEXT(LABEL_ARCH),
         .op = SOLVER_IN,
         .valid = true,
         .values = architecture,
         .value_count = COUNT_OF(architecture)},
    };
    struct expressions all = {.items =
                                  ARENA_ARRAY(arena, COUNT_OF(requirements), struct expression),
                              .count = COUNT_OF(requirements)};
    memcpy(all.items, requirements, sizeof requirements);
    return all;
}

static bool asks_for_devices(const struct workload *workload, struct arena *arena)
{
    struct text_map names = {0};
    resource_names_read(workload, arena, &names);
    for (size_t i = 0; i < names.count; i++)
        if (device_of_resource(names.items[i].key) != DEVICE_COUNT)
            return true;
    return false;
}

static bool suit_the_built_in(const struct placing *placing, const struct expressions *expressions)
{
    struct rail_call *call = placing->call;
    FOR_EACH(expression, expressions)
        if (is_positive(expression) && !is_well_known(placing, expression->key))
            return false;
    const struct expressions built_in = built_in_requirements(call->arena);
    struct type_set types =
        expressions_select_possible(call->world->catalog, &built_in, expressions, call->arena);
    return !type_set_is_empty(&types);
}

bool placeable_may_be_built_in(const struct placing *placing)
{
    const struct node_selection *selection = placing->selection;
    if (!lacks_the_built_in(placing->call->world) ||
        asks_for_devices(&placing->workload, placing->call->arena))
        return false;
    if (selection->required.count == 0)
        return suit_the_built_in(placing, &selection->selector);
    for (size_t i = 0; i < selection->required.count; i++) {
        const struct expressions both = expressions_join(
            &selection->selector, &selection->required.items[i].expressions, placing->call->arena);
        if (suit_the_built_in(placing, &both))
            return true;
    }
    return false;
}

/* ---- templates ---- */

static bool have_template(const struct placing *placing, const struct expressions *expressions)
{
    const struct catalog *catalog = placing->call->world->catalog;
    FOR_EACH(expression, expressions)
        for (size_t i = 0; i < expression->value_count; i++)
            if (label_value_is_template(catalog, expression_canonical_key(expression),
                                        expression->values[i].text))
                return true;
    return false;
}

bool placeable_is_template(const struct placing *placing)
{
    const struct node_selection *selection = placing->selection;
    if (have_template(placing, &selection->selector))
        return true;
    for (size_t i = 0; i < selection->required.count; i++)
        if (have_template(placing, &selection->required.items[i].expressions))
            return true;
    return false;
}
