/* The rail pool-limits: how much a NodePool may buy. */
#include "policy/rails/pool_limits.h"

#include "kube/placeholder.h"
#include "kube/pool.h"
#include "kube/quantity.h"
#include "kube/snapshot.h"
#include "policy/reading.h"

struct settings {
    struct key_strings require;
    struct key_quantities max, max_total;
};

static const struct key keys[] = {
    {.name = "require",
     .type = KEY_STRINGS,
     .offset = offsetof(struct settings, require),
     .summary = "the resources that every pool must limit; by default any one will do that each of "
                "its nodes counts against"},
    {.name = "max",
     .type = KEY_QUANTITIES,
     .offset = offsetof(struct settings, max),
     .summary = "the highest limit of one pool, for each resource, as in {cpu: 1000, nodes: 100}"},
    {.name = "maxTotal",
     .type = KEY_QUANTITIES,
     .offset = offsetof(struct settings, max_total),
     .summary = "what the limits of all visible pools may come to, for each resource"},
    {0},
};

/* ---- one limit ---- */

struct limit {
    const struct field *field; /* where it stands, or would stand */
    struct text written;
    bool given, valid;
    int64_t milli; /* 0 unless valid */
};

static struct limit limit_at(const struct field *field)
{
    struct limit limit = {
        .field = field, .given = node_is_given(field->node), .written = node_text(field->node)};
    limit.valid = quantity_milli(limit.written, &limit.milli);
    if (!limit.valid && quantity_is_vast(limit.written)) {
        limit.valid = true;
        limit.milli = INT64_MAX;
    }
    return limit;
}

/* Of nodes a pool of a fixed size has as many as that, or as its limit leaves it. */
static struct limit limit_of(const struct pool *pool, struct text resource, struct arena *arena)
{
    struct limit limit = limit_at(field_member(arena, pool->limits_field, resource));
    if (!text_is(resource, "nodes") || !pool_is_static(pool))
        return limit;
    struct limit size = limit_at(field_at(arena, pool->object->root, "spec.replicas"));
    return limit.valid && limit.milli < size.milli ? limit : size;
}

static bool is_size(const struct limit *limit)
{
    return text_is(limit->field->key, "replicas");
}

/* "The limit 2k is", "51 nodes are" */
static struct text limit_text(const struct limit *limit, struct arena *arena)
{
    return arena_printf(arena, is_size(limit) ? "%.*s nodes are" : "The limit %.*s is",
                        TEXT_ARGS(limit->written));
}

static bool is_plain(struct text resource)
{
    return !TEXT_IS_ONE_OF(resource, "memory", "ephemeral-storage") &&
           !text_starts_with(resource, TEXT("hugepages-"));
}

/* A sum above 0 as people write it: bytes in the largest binary unit that leaves no rest. */
static struct text amount_text(struct text resource, int64_t milli, struct arena *arena)
{
    enum { THOUSAND = 1000, STEP = 1024 };
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    if (milli == INT64_MAX) /* what cannot be counted */
        return TEXT("more than 9P");
    if (milli % THOUSAND != 0)
        return arena_printf(arena, "%lldm", (long long)milli);
    int64_t whole = milli / THOUSAND;
    size_t unit = 0;
    while (!is_plain(resource) && unit + 1 < COUNT_OF(units) && whole % STEP == 0) {
        whole /= STEP;
        unit++;
    }
    return arena_printf(arena, "%lld%s", (long long)whole, units[unit]);
}

/* ---- what the policy leaves to a pool ---- */

static const struct key_quantity *listed(const struct key_quantities *quantities, struct text name)
{
    FOR_EACH(quantity, quantities)
        if (text_equal(quantity->name, name))
            return quantity;
    return NULL;
}

/* The limits of the other pools, summed, and said: "batch 500, default 400". */
struct others {
    struct rail_call *call;
    struct text resource;
    int64_t milli;
    size_t count;
    struct text_builder names;
};

static void add_other(struct others *others, const struct pool *pool)
{
    enum { SHOWN = 5 };
    const struct object *judged = others->call->object;
    struct arena *arena = others->call->arena;
    bool is_it = pool->object->kind == judged->kind && text_equal(pool->object->name, judged->name);
    struct limit limit = limit_of(pool, others->resource, arena);
    if (is_it || pool->object->deleting || limit.milli <= 0)
        return;
    if (__builtin_add_overflow(others->milli, limit.milli, &others->milli))
        others->milli = INT64_MAX;
    if (others->count < SHOWN)
        text_builder_printf(&others->names, "%s%.*s %.*s", others->count == 0 ? "" : ", ",
                            TEXT_ARGS(pool->object->name), TEXT_ARGS(limit.written));
    others->count++;
    if (others->count == SHOWN + 1)
        text_builder_add(&others->names, TEXT(", ..."));
}

static struct others others_of(struct rail_call *call, struct text resource)
{
    const struct snapshot *snapshot = call->world->snapshot;
    struct others others = {.call = call, .resource = resource, .names = {.arena = call->arena}};
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++)
        add_other(&others, snapshot_pool(snapshot, i));
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_PROVISIONER); i++) {
        struct pool pool;
        if (pool_read(snapshot_object(snapshot, KIND_PROVISIONER, i), call->arena, &pool))
            add_other(&others, &pool);
    }
    return others;
}

/* What the other pools leave of the budget for all; INT64_MAX: there is none. */
static int64_t left_of_budget(struct rail_call *call, const struct settings *settings,
                              struct text resource)
{
    const struct key_quantity *budget = listed(&settings->max_total, resource);
    return budget == NULL ? INT64_MAX : budget->milli - others_of(call, resource).milli;
}

int64_t pool_limits_most_milli(struct rail_call *call, struct text resource)
{
    const struct settings *settings = call->settings;
    const struct key_quantity *max = listed(&settings->max, resource);
    int64_t left = left_of_budget(call, settings, resource);
    return max == NULL || left < max->milli ? left : max->milli;
}

/* The same, said; empty where nothing is said, or nothing left. */
static struct text most_text(struct rail_call *call, const struct settings *settings,
                             struct text resource)
{
    const struct key_quantity *max = listed(&settings->max, resource);
    int64_t most = pool_limits_most_milli(call, resource);
    if (max != NULL && most == max->milli)
        return max->written;
    return most <= 0 || most == INT64_MAX ? TEXT("") : amount_text(resource, most, call->arena);
}

/* ---- a limit that must be there ---- */

#define OTHERS_FIRST "Lower the limits of the other pools first: they take the whole budget."

/* "{cpu: 1000, memory: 4Ti}", of what the pool can buy; empty when none of it bounds every node. */
static struct text ceilings_text(struct rail_call *call, const struct settings *settings,
                                 const struct pool_supply *supply)
{
    const struct key_quantities *max = &settings->max;
    struct text_builder builder = {.arena = call->arena};
    bool bound = false;
    for (size_t i = 0; i < max->count; i++) {
        if (pool_limits_carriers(supply, max->items[i].name, call->arena) == CARRIED_BY_NONE)
            continue;
        bound = bound || pool_limits_binds(supply, max->items[i].name, call->arena);
        struct text most = most_text(call, settings, max->items[i].name);
        text_builder_printf(&builder, "%s%.*s: %.*s", builder.size == 0 ? "{" : ", ",
                            TEXT_ARGS(max->items[i].name), TEXT_ARGS(most));
    }
    text_builder_add(&builder, TEXT("}"));
    return bound ? text_builder_text(&builder) : TEXT("");
}

/* "memory, nodes": what a limit is asked for on, beside what has a ceiling of its own; and whether
 * with these alone the pool would be taken for one that has limits. */
static struct text asked_text(const struct rail_call *call, const struct settings *settings,
                              const struct pool_supply *supply, bool *enough)
{
    size_t required = settings->require.count;
    struct text_builder builder = {.arena = call->arena};
    *enough = false;
    for (size_t i = 0; i < required + settings->max_total.count; i++) {
        struct text name = i < required ? settings->require.items[i]
                                        : settings->max_total.items[i - required].name;
        bool told = listed(&settings->max, name) != NULL;
        for (size_t j = 0; j < required && i >= required; j++)
            told = told || text_equal(settings->require.items[j], name);
        if (told || !pool_limits_can_buy(supply, name, call->arena))
            continue;
        *enough = *enough || i < required || pool_limits_binds(supply, name, call->arena);
        text_builder_list(&builder, name);
    }
    return text_builder_text(&builder);
}

static struct text fix_of_none(struct rail_call *call, const struct settings *settings,
                               const struct pool *pool, const struct pool_supply *supply)
{
    struct arena *arena = call->arena;
    struct text path = field_path(arena, pool->limits_field);
    FOR_EACH(budget, &settings->max_total)
        if (left_of_budget(call, settings, budget->name) <= 0)
            return TEXT(OTHERS_FIRST);
    struct text ceilings = ceilings_text(call, settings, supply);
    bool enough;
    struct text asked = asked_text(call, settings, supply, &enough);
    if (ceilings.size > 0)
        return arena_printf(arena, "Set %.*s to %.*s or less%s%.*s.", TEXT_ARGS(path),
                            TEXT_ARGS(ceilings), asked.size > 0 ? ", and a limit on " : "",
                            TEXT_ARGS(asked));
    if (!enough) /* nodes are counted by v1 alone */
        asked = text_is(pool->object->api_version, "karpenter.sh/v1") ? TEXT("cpu, memory or nodes")
                                                                      : TEXT("cpu or memory");
    return arena_printf(arena, "Set %.*s, by %.*s.", TEXT_ARGS(path), TEXT_ARGS(asked));
}

/* False when it has none that bounds it; then that is said. */
static bool judge_any(struct rail_call *call, const struct settings *settings,
                      const struct pool *pool, const struct pool_supply *supply)
{
    enum { SHOWN = 10 };
    struct text_builder loose = {.arena = call->arena};
    size_t loose_count = 0;
    FOR_MEMBERS(limit, call->arena, pool->limits_field) {
        if (!node_is_given(limit->node))
            continue;
        if (settings->require.count > 0 || pool_limits_binds(supply, limit->key, call->arena))
            return true;
        if (loose_count++ < SHOWN)
            text_builder_list(&loose, limit->key);
    }
    if (loose_count > SHOWN)
        text_builder_printf(&loose, " and %zu more", loose_count - SHOWN);
    struct text found = text_builder_text(&loose);
    struct text fix = fix_of_none(call, settings, pool, supply);
    if (found.size > 0)
        report_found(call, SEVERITY_RAIL, pool->limits_field, found, fix,
                     "Only %.*s has a limit, and the pool can buy any number of nodes without it.",
                     TEXT_ARGS(found));
    else
        report_found(call, SEVERITY_RAIL, pool->limits_field, found, fix,
                     "No limit bounds how many nodes the pool buys.");
    return false;
}

static void report_missing(struct rail_call *call, const struct settings *settings,
                           const struct pool *pool, struct text resource)
{
    struct arena *arena = call->arena;
    const struct field *field = field_member(arena, pool->limits_field, resource);
    struct text most = most_text(call, settings, resource);
    struct text fix = arena_printf(arena, "Add %.*s to %.*s.", TEXT_ARGS(resource),
                                   TEXT_ARGS(field_path(arena, pool->limits_field)));
    if (most.size > 0)
        fix = arena_printf(arena, "Set a limit of at most %.*s.", TEXT_ARGS(most));
    else if (left_of_budget(call, settings, resource) <= 0)
        fix = TEXT(OTHERS_FIRST);
    report(call, SEVERITY_RAIL, field, fix, "The pool has no limit on %.*s.", TEXT_ARGS(resource));
}

/* ---- limits that are too high ---- */

/* Of a limit that is also above what is left of the budget for all pools, it is said here. */
static void report_above(struct rail_call *call, const struct settings *settings,
                         const struct limit *limit, const struct key_quantity *max)
{
    struct arena *arena = call->arena;
    int64_t left = left_of_budget(call, settings, max->name);
    struct text most = max->written;
    if (left > 0 && left < max->milli)
        most = amount_text(max->name, left, arena);
    else if (is_size(limit)) /* a whole number, and no quantity */
        most = amount_text(max->name, max->milli, arena);
    struct text beside = TEXT("");
    if (left > 0 && left < limit->milli)
        beside = arena_printf(
            arena, " for one pool, and above the %.*s that are left for it of the budget for all",
            TEXT_ARGS(amount_text(max->name, left, arena)));
    struct text statement = arena_printf(arena, "%.*s above the ceiling of %.*s%.*s.",
                                         TEXT_ARGS(limit_text(limit, arena)),
                                         TEXT_ARGS(max->written), TEXT_ARGS(beside));
    report_with(call, .field = limit->field, .found = limit->written, .statement = statement,
                .fault = TEXT("It is above the ceiling."), .extent = limit->milli,
                .fix = arena_printf(arena, "Set it to at most %.*s.", TEXT_ARGS(most)),
                .replacement = most);
}

static void judge_max(struct rail_call *call, const struct settings *settings,
                      const struct pool *pool, const struct pool_supply *supply)
{
    FOR_EACH(max, &settings->max) {
        struct limit limit = limit_of(pool, max->name, call->arena);
        if (limit.given && limit.milli > max->milli)
            report_above(call, settings, &limit, max);
        else if (!limit.given && pool_limits_can_buy(supply, max->name, call->arena))
            report_missing(call, settings, pool, max->name);
    }
}

static void judge_sum(struct rail_call *call, const struct settings *settings,
                      const struct pool *pool, const struct key_quantity *budget)
{
    struct arena *arena = call->arena;
    struct limit limit = limit_of(pool, budget->name, arena);
    struct others others = others_of(call, budget->name);
    int64_t total = 0;
    if (limit.milli <= 0)
        return;
    if (__builtin_add_overflow(others.milli, limit.milli, &total))
        total = INT64_MAX;
    if (total <= budget->milli)
        return;
    int64_t left = budget->milli - others.milli;
    const struct key_quantity *max = listed(&settings->max, budget->name);
    if (max != NULL && limit.milli > max->milli && left > 0) /* report_above has said it */
        return;
    struct text fix = left > 0 ? arena_printf(arena, "Set it to at most %.*s, or lower the others.",
                                              TEXT_ARGS(amount_text(budget->name, left, arena)))
                               : TEXT(OTHERS_FIRST);
    struct text statement =
        others.count == 0
            ? arena_printf(arena, "%.*s above the budget of %.*s for all pools.",
                           TEXT_ARGS(limit_text(&limit, arena)), TEXT_ARGS(budget->written))
            : arena_printf(arena,
                           "With %.*s the limits on %.*s come to %.*s, above the budget of %.*s "
                           "for all pools.",
                           TEXT_ARGS(text_builder_text(&others.names)), TEXT_ARGS(budget->name),
                           TEXT_ARGS(amount_text(budget->name, total, arena)),
                           TEXT_ARGS(budget->written));
    report_with(call, .field = limit.field, .found = limit.written, .statement = statement,
                .fault = TEXT("All limits come to more than the budget."), .extent = limit.milli,
                .fix = fix);
}

static void judge_total(struct rail_call *call, const struct settings *settings,
                        const struct pool *pool, const struct pool_supply *supply,
                        const struct key_quantity *budget)
{
    if (limit_of(pool, budget->name, call->arena).given)
        judge_sum(call, settings, pool, budget);
    else if (listed(&settings->max, budget->name) == NULL &&
             pool_limits_can_buy(supply, budget->name, call->arena))
        report_missing(call, settings, pool, budget->name);
}

/* ---- the whole ---- */

static void judge_quantity(struct rail_call *call, const struct pool *pool,
                           const struct field *field)
{
    struct arena *arena = call->arena;
    struct limit limit = limit_at(field);
    bool of_provisioner = text_is(field->key, "resources") && node_is(field->node, NODE_MAP);
    if (!limit.given || limit.valid || text_has_placeholder(limit.written))
        return;
    struct text fix =
        of_provisioner
            ? arena_printf(arena, "Move what is in it to %.*s: only a Provisioner has it.",
                           TEXT_ARGS(field_path(arena, pool->limits_field)))
            : TEXT("Write a number with a unit, as in 100, 512Gi or 4Ti.");
    if (limit.written.size > 0)
        report(call, SEVERITY_RAIL, limit.field, fix,
               "\"%.*s\" is no quantity, so the API server refuses the pool.",
               TEXT_ARGS(limit.written));
    else
        report(call, SEVERITY_RAIL, limit.field, fix,
               "This is no quantity, so the API server refuses the pool.");
}

/* A pool of fixed size is its own limit. */
static bool judge_static(struct rail_call *call, const struct settings *settings,
                         const struct pool *pool)
{
    if (!pool_is_static(pool))
        return false;
    const struct key_quantity *max = listed(&settings->max, TEXT("nodes"));
    const struct key_quantity *budget = listed(&settings->max_total, TEXT("nodes"));
    struct limit size = limit_of(pool, TEXT("nodes"), call->arena);
    if (max != NULL && size.milli > max->milli)
        report_above(call, settings, &size, max);
    if (budget != NULL)
        judge_sum(call, settings, pool, budget);
    return true;
}

bool pool_limits_asks_for(const struct rail_call *call, const void *settings_pointer,
                          const struct pool *pool, struct text resource)
{
    const struct settings *settings = settings_pointer;
    struct pool_supply supply = pool_limits_supply(call, pool);
    bool binds = settings->require.count > 0;
    FOR_MEMBERS(limit, call->arena, pool->limits_field)
        binds = binds ||
                (node_is_given(limit->node) && pool_limits_binds(&supply, limit->key, call->arena));
    bool asked = texts_have(settings->require.items, settings->require.count, resource) ||
                 listed(&settings->max, resource) != NULL ||
                 listed(&settings->max_total, resource) != NULL;
    return binds && asked && !limit_of(pool, resource, call->arena).given &&
           pool_limits_can_buy(&supply, resource, call->arena);
}

static void judge(struct rail_call *call)
{
    const struct settings *settings = call->settings;
    const struct pool *pool = call_pool(call);
    if (pool == NULL || pool_is_built_in(pool))
        return;
    FOR_MEMBERS(limit, call->arena, pool->limits_field)
        judge_quantity(call, pool, limit);
    if (judge_static(call, settings, pool))
        return;
    struct pool_supply supply = pool_limits_supply(call, pool);
    if (!judge_any(call, settings, pool, &supply))
        return;
    for (size_t i = 0; i < settings->require.count; i++) {
        struct text resource = settings->require.items[i];
        bool told = listed(&settings->max, resource) != NULL ||
                    listed(&settings->max_total, resource) != NULL;
        if (!told && !limit_of(pool, resource, call->arena).given &&
            pool_limits_can_buy(&supply, resource, call->arena))
            report_missing(call, settings, pool, resource);
    }
    judge_max(call, settings, pool, &supply);
    for (size_t i = 0; i < settings->max_total.count; i++)
        judge_total(call, settings, pool, &supply, &settings->max_total.items[i]);
    pool_limits_judge_reach(call, pool, &supply);
}

const struct rail rail_pool_limits = {
    .name = "pool-limits",
    .summary = "a ceiling on what a NodePool may buy",
    .detail =
        "Karpenter buys nodes as long as pods wait and spec.limits allows. A pool without limits "
        "turns a runaway job, or a wrong number of replicas, into a bill. The rail finds pools "
        "without any limit, or without one on a resource of require; limits above max; and limits "
        "that together, over the visible NodePools and Provisioners, come to more than maxTotal. "
        "A pool that has no limit on such a resource adds nothing to that sum: it is a finding "
        "itself. No limit is asked for on accelerators that no type of the pool carries.\n\n"
        "With require left out, one limit is enough, if every node counts against it: cpu, "
        "memory, nodes, or an accelerator that all types of the pool carry. A limit on "
        "nvidia.com/gpu alone leaves a pool of many families free to buy nodes without GPUs. "
        "Karpenter checks limits before it buys, by what its nodes hold at that moment, and nodes "
        "are counted only once they are there: one batch can go over limits.nodes.\n\n"
        "A limit that is below what the smallest type has that the pool may launch (memory: 1000 "
        "for 1000Gi; cpu: 64 for a pool of 96 CPUs a node) lets it buy nothing, and is warned of. "
        "0 is how a pool is switched off; less than 0 is a finding.\n\n"
        "A pool with replicas has a fixed size and needs no limit; max and maxTotal on nodes hold "
        "for that size, also where kubectl scale sets it, or for limits.nodes where it is less. "
        "The "
        "pools that EKS Auto Mode brings along cannot be changed, and are passed over. "
        "The limits of a Provisioner are spec.limits.resources.",
    .example = "pool-limits:\n"
               "  mode: enforce\n"
               "  require: [cpu, memory]\n"
               "  max: {cpu: 1000, memory: 4Ti, nvidia.com/gpu: 32}\n"
               "  maxTotal: {cpu: 4000}\n",
    .kinds = KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_PROVISIONER),
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .judges_scale = true,
    .judge = judge,
};
