/* The rail capacity-types: on-demand, spot and reserved capacity where each is wanted. */
#include "catalog/catalog.h"
#include "kube/label.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/zone.h"
#include "policy/policy_set.h"
#include "policy/rails/capacity_spot.h"
#include "policy/rails/label_choice.h"
#include "policy/reading.h"
#include "solver/well_known.h"

/* Managed node groups of EKS have a label and a spelling of their own. */
#define NODE_GROUP_CAPACITY "eks.amazonaws.com/capacityType"

struct settings {
    struct key_strings allow;
};

static const struct key keys[] = {
    {.name = "allow",
     .type = KEY_STRINGS,
     .offset = offsetof(struct settings, allow),
     .summary = "the capacity types that may be used",
     .default_value = "[on-demand, spot, reserved]",
     .choices = (const char *const[]){"on-demand", "spot", "reserved", NULL},
     .minimum = 1},
    {0},
};

static bool is_key(struct text key)
{
    return text_is(key, LABEL_CAPACITY_TYPE) || text_is(key, NODE_GROUP_CAPACITY);
}

/* What a NodePool calls its nodes in the spelling of node groups does not tell Karpenter which to
 * buy. */
static bool is_key_of_pools(struct text key)
{
    return text_is(key, LABEL_CAPACITY_TYPE);
}

static const struct {
    const char *meant, *of_node_groups;
} names[] = {
    {"on-demand", "ON_DEMAND"},
    {"spot", "SPOT"},
    {"reserved", "CAPACITY_BLOCK"},
};

static bool is_capacity_type(struct text value)
{
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (text_is(value, names[i].meant))
            return true;
    return false;
}

/* What is no capacity type pool-shape says of pools; other clouds may have further ones. */
static bool is_for_others(const struct label_choice *choice, struct text value)
{
    const struct rail_call *call = choice->call;
    const struct pool *pool = call_pool(call);
    return !label_value_is_valid(value) || (pool != NULL && !is_capacity_type(value) &&
                                            (!pool_is_covered_by(call->world->catalog, pool) ||
                                             rail_beside(call, &rail_pool_shape) != NULL));
}

static enum label_choice_answer answer(const struct label_choice *choice, struct text key,
                                       struct text value)
{
    struct text meant = value;
    if (text_is(key, NODE_GROUP_CAPACITY))
        for (size_t i = 0; i < COUNT_OF(names); i++)
            if (text_is(value, names[i].of_node_groups))
                meant = text_of(names[i].meant);
    if (is_for_others(choice, value))
        return CHOICE_PASSED;
    return label_choice_lists(choice, meant) ? CHOICE_ALLOWED : CHOICE_OUTSIDE;
}

static struct text spell(struct text key, struct text value)
{
    for (size_t i = 0; text_is(key, NODE_GROUP_CAPACITY) && i < COUNT_OF(names); i++)
        if (text_is(value, names[i].meant))
            return text_of(names[i].of_node_groups);
    return value;
}

/* A word that is none may be a misspelling of one that is allowed. */
static void describe(const struct label_choice *choice, const struct choice_values *values,
                     struct draft *draft)
{
    if (values->outside.count > 1 || !text_is(values->key, LABEL_CAPACITY_TYPE) ||
        is_capacity_type(draft->found))
        return;
    draft->statement =
        arena_printf(choice->call->arena, "\"%.*s\" is no capacity type, and no node has it.",
                     TEXT_ARGS(draft->found));
    draft->typo_edits = TYPO_EDITS;
}

/* Node groups that are not Karpenter's may have a reservation all the same. */
static const char *idle(const struct label_choice *choice, struct text key, struct text value)
{
    bool none = policy_set_karpenter(choice->call->world->policies)->no_reserved_capacity;
    return none && text_is(key, LABEL_CAPACITY_TYPE) && text_is(value, "reserved")
               ? "Karpenter buys no reserved capacity: its feature gate ReservedCapacity is off"
               : NULL;
}

static void weigh(const void *settings_pointer, const struct karpenter_settings *karpenter,
                  struct place place, struct problems *warnings)
{
    const struct settings *settings = settings_pointer;
    bool alone = true;
    for (size_t i = 0; i < settings->allow.count; i++)
        alone = alone && text_is(settings->allow.items[i], "reserved");
    if (alone && karpenter->no_reserved_capacity)
        problems_add(warnings, ERROR_POLICY, place,
                     "capacity-types allows reserved capacity alone, and Karpenter buys none "
                     "(featureGates.ReservedCapacity: false): no NodePool can buy anything then");
}

/* ---- as node groups spell it ---- */

/* A node of one's own may have the label in any spelling: that is at most a warning. What is not
 * allowed in any spelling is told already. */
static void judge_spelling(const struct label_choice *choice, const struct expressions *expressions,
                           enum severity severity)
{
    FOR_EACH(expression, expressions) {
        if (!expression->valid || expression->op != SOLVER_IN ||
            !text_is(expression->key, NODE_GROUP_CAPACITY))
            continue;
        for (size_t i = 0; i < expression->value_count; i++) {
            const struct expression_value *value = &expression->values[i];
            struct text spelt = spell(expression->key, value->text);
            if (text_equal(spelt, value->text) || !label_choice_lists(choice, value->text))
                continue;
            report_as(choice->call, severity,
                      .field = expression_value_field(value, choice->call->arena),
                      .found = value->text,
                      .statement = arena_printf(choice->call->arena,
                                                "No managed node group has \"%.*s\": EKS spells it "
                                                "%.*s.",
                                                TEXT_ARGS(value->text), TEXT_ARGS(spelt)),
                      .meant = spelt);
        }
    }
}

static void judge_workload(const struct label_choice *choice)
{
    struct workload workload;
    label_choice_judge_workload(choice);
    if (!call_workload(choice->call, &workload))
        return;
    const struct node_selection *selection = call_selection(choice->call, &workload);
    judge_spelling(choice, &selection->selector, SEVERITY_WARN);
    for (size_t i = 0; i < selection->required.count; i++)
        judge_spelling(choice, &selection->required.items[i].expressions, SEVERITY_WARN);
    for (size_t i = 0; i < selection->preferred.count; i++)
        judge_spelling(choice, &selection->preferred.items[i].expressions,
                       severity_of_preference(choice->call));
}

/* ---- what pools sell ---- */

static bool selects_reservations(const struct rail_call *call, const struct pool *pool)
{
    const struct object *class = pool_node_class(call->world->snapshot, pool);
    return class != NULL &&
           node_count(node_at(class->root->node, "spec.capacityReservationSelectorTerms")) > 0;
}

/* Clouds that sell no spot capacity, as their providers say: karpenter.md 7.5. */
static bool has_spot(const struct pool *pool)
{
    return !TEXT_IS_ONE_OF(pool->node_class_group, "karpenter.exoscale.com",
                           "karpenter.k8s.linode");
}

/* What a pool that does not name the key may buy; a Provisioner that did not was given on-demand.
 */
static struct zones what_is_for_sale(const struct rail_call *call, const struct pool *pool)
{
    struct arena *arena = call->arena;
    struct zones types = {0};
    zones_add(&types, TEXT("on-demand"), arena);
    if (call->object->kind == KIND_PROVISIONER)
        return types;
    if (has_spot(pool))
        zones_add(&types, TEXT("spot"), arena);
    bool reserves = !policy_set_karpenter(call->world->policies)->no_reserved_capacity;
    if (reserves && selects_reservations(call, pool))
        zones_add(&types, TEXT("reserved"), arena);
    return types;
}

static void judge(struct rail_call *call)
{
    const struct settings *settings = call->settings;
    struct label_choice choice = {
        .call = call,
        .what = "capacity type",
        .title = "Capacity type",
        .key = LABEL_CAPACITY_TYPE,
        .before = "",
        .after = " nodes",
        .allow = ALLOWED_LIST(&settings->allow),
        .is_key = is_key,
        .answer = answer,
        .spell = spell,
        .describe = describe,
        .idle = idle,
    };
    const struct pool *pool = call_pool(call);
    if (pool == NULL) {
        judge_workload(&choice);
        return;
    }
    choice.is_key = is_key_of_pools;
    if (pool_is_built_in(pool))
        return;
    struct zones for_sale = what_is_for_sale(call, pool);
    label_choice_judge_pool(&choice, pool, &(struct pool_reach){.values = &for_sale});
    if (zones_have(&for_sale, TEXT("spot")) && label_choice_lists(&choice, TEXT("spot")))
        capacity_judge_spot(call, pool,
                            &(struct spot_rules){
                                .on_demand = label_choice_lists(&choice, TEXT("on-demand")),
                                .tells_unasked = settings->allow.nodes == NULL,
                                .unasked = SEVERITY_WARN,
                            });
}

const struct rail rail_capacity_types = {
    .name = "capacity-types",
    .summary = "on-demand, spot or reserved capacity as allowed",
    .detail =
        "A spot node can be taken away at two minutes' notice; an on-demand node costs several "
        "times as much. Which may be used is often a question of the team or of the stage.\n\n"
        "On a workload the rail reads " LABEL_CAPACITY_TYPE " (and " NODE_GROUP_CAPACITY
        " of managed node groups) in nodeSelector and node affinity: each value that is named "
        "must be allowed, and each required term must leave an allowed one. Preferred terms warn, "
        "and so do DaemonSets, for which no node is bought. Node groups have ON_DEMAND, SPOT and "
        "CAPACITY_BLOCK: Karpenter's word for an allowed one is warned of there, since no node "
        "group has it. "
        "A pod that selects nothing is fine: the NodePools confine it.\n\n"
        "On a NodePool every capacity type that labels and requirements leave must be allowed. "
        "One that does not name the key may launch on-demand and spot, and reserved capacity when "
        "its visible EC2NodeClass selects reservations. A Provisioner that does not name the key "
        "launches on-demand alone, and so do pools of Exoscale and Linode, which sell no spot "
        "capacity. The built-in pools of EKS Auto Mode are passed over. Where the policy says that "
        "Karpenter's gate ReservedCapacity is "
        "off, reserved alone is warned of: nothing is bought.\n\n"
        "Where spot is allowed, the rail warns of an EC2 pool that may buy it of fewer than 15 "
        "instance types: interruptions are likelier then, and Karpenter replaces no spot node by a "
        "cheaper one. It notes a tainted pool of spot alone where other NodePools are visible, and "
        "none of them that is without a taint, or has only taints of that pool, buys on-demand. "
        "With nothing under allow it finds values that are no capacity "
        "types, and warns of a pool that names none, because Karpenter then buys spot first.",
    .example = "capacity-types:\n"
               "  mode: enforce\n"
               "  allow: [on-demand, reserved]\n",
    .kinds = KINDS_WORKLOADS | KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_PROVISIONER),
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .weigh = weigh,
    .judge = judge,
};
