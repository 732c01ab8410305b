/* The rail pool-overlap: two NodePools of which a pod cannot tell which one it gets. */
#include <string.h>

#include "catalog/node_class.h"
#include "catalog/zones.h"
#include "kube/placeholder.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/rail.h"
#include "policy/reading.h"
#include "solver/well_known.h"

struct settings {
    struct key_strings ignore_pairs;
};

static const struct key keys[] = {
    {.name = "ignorePairs",
     .type = KEY_GLOBS,
     .offset = offsetof(struct settings, ignore_pairs),
     .summary = "pairs of pools that may overlap, as in default/batch; globs, in either order"},
    {0},
};

static void prepare(void *settings_pointer, const struct rail_loading *loading)
{
    const struct settings *settings = settings_pointer;
    const struct key_strings *pairs = &settings->ignore_pairs;
    for (size_t i = 0; i < pairs->count; i++)
        if (!text_split(pairs->items[i], '/', NULL, NULL))
            loading_warn(loading, pairs->nodes[i],
                         "pool-overlap: \"%.*s\" names one pool, and no pair is ignored; write two "
                         "names, as in default/batch",
                         TEXT_ARGS(pairs->items[i]));
}

static bool is_ignored(const struct settings *settings, struct text a, struct text b)
{
    for (size_t i = 0; i < settings->ignore_pairs.count; i++) {
        struct text first, second;
        if (!text_split(settings->ignore_pairs.items[i], '/', &first, &second))
            continue;
        if ((text_matches_glob(a, first) && text_matches_glob(b, second)) ||
            (text_matches_glob(b, first) && text_matches_glob(a, second)))
            return true;
    }
    return false;
}

/* ---- what Karpenter chooses a pool by ---- */

static int64_t weight_of(const struct pool *pool)
{
    int64_t weight = 0;
    return node_integer(node_at(pool->object->root->node, "spec.weight"), &weight) ? weight : 0;
}

static bool has_taint(const struct taints *taints, const struct taint *taint)
{
    FOR_EACH(one, taints)
        if (text_equal(one->key, taint->key) && text_equal(one->value, taint->value) &&
            text_equal(one->effect, taint->effect))
            return true;
    return false;
}

static bool are_included(const struct taints *some, const struct taints *all)
{
    for (size_t i = 0; i < some->count; i++)
        if (!has_taint(all, &some->items[i]))
            return false;
    return true;
}

static bool takes_pods(const struct pool *pool)
{
    return !pool->object->deleting && !pool_is_static(pool);
}

/* ---- two pools against each other ---- */

struct pair {
    struct rail_call *call;
    const struct pool *pool, *other;
    struct solver_names *names;
    struct solver_requirements ours, theirs, both; /* on labels that Karpenter knows */
    struct text_builder apart;                     /* labels of one's own, on which they differ */
};

static bool is_known(const struct catalog *catalog, struct text key)
{
    key = canonical_key(key);
    return solver_is_well_known(key.data, key.size) || catalog_has_key(catalog, key);
}

static struct solver_requirements known_of(const struct rail_call *call, const struct pool *pool,
                                           struct solver_names *names)
{
    struct arena *arena = call->arena;
    struct solver_requirements set = {0};
    const struct expressions *const lists[] = {&pool->requirements, &pool->labels};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        struct expressions known = {0};
        FOR_EACH(expression, lists[i])
            if (is_known(call->world->catalog, expression->key))
                *LIST_PUSH(arena, &known) = *expression;
        expressions_add(&known, names, &set, arena);
    }
    return set;
}

static void add_all(struct pair *pair, const struct solver_requirements *set)
{
    for (size_t i = 0; i < set->count; i++)
        solver_requirements_add(pair->names, &pair->both, set->items[i], pair->call->arena);
}

/* Those under keys of one's own. */
static void add_own(const struct pair *pair, const struct pool *pool,
                    struct solver_requirements *set)
{
    struct arena *arena = pair->call->arena;
    const struct expressions all = expressions_join(&pool->labels, &pool->requirements, arena);
    FOR_EACH(expression, &all)
        if (!is_known(pair->call->world->catalog, expression->key))
            expression_add(expression, pair->names, set, arena);
}

/* The build of Windows that a pool's nodes run; NULL: not known, or none. */
static const char *windows_build_of(const struct pair *pair, const struct pool *pool)
{
    const struct object *class = pool_node_class(pair->call->world->snapshot, pool);
    const struct class_settings *settings;
    struct error ignored;
    if (class == NULL || !class_settings_read(class, pair->call->arena, &settings, &ignored))
        return NULL;
    return class_settings_windows_build(settings);
}

static void find_apart(struct pair *pair)
{
    struct arena *arena = pair->call->arena;
    struct solver_requirements ours = {0};
    struct solver_requirements theirs = {0};
    add_own(pair, pair->pool, &ours);
    add_own(pair, pair->other, &theirs);
    pair->apart = (struct text_builder){.arena = arena};
    const struct solver_requirements *const sets[] = {&ours, &theirs};
    for (size_t i = 0; i < COUNT_OF(sets); i++)
        FOR_EACH(one, sets[i]) {
            const struct solver_requirement *two = solver_requirements_get(sets[1 - i], one->key);
            /* A key that both have is looked at once. */
            if (two != NULL && (i == 1 || solver_requirement_equal(one, two)))
                continue;
            struct text key;
            key.data = solver_names_key_text(pair->names, one->key, &key.size);
            text_builder_list(&pair->apart, key);
        }
    const char *our_build = windows_build_of(pair, pair->pool);
    const char *their_build = windows_build_of(pair, pair->other);
    if (our_build != NULL && their_build != NULL && strcmp(our_build, their_build) != 0)
        text_builder_list(&pair->apart, TEXT(LABEL_WINDOWS_BUILD));
}

/* ---- the witness ---- */

static bool allows(const struct pair *pair, const struct solver_requirements *set, const char *key,
                   struct text value)
{
    uint32_t number = solver_names_key(pair->names, key, text_of(key).size);
    const struct solver_requirement *requirement = solver_requirements_get(set, number);
    return requirement == NULL ||
           solver_requirement_has(pair->names, requirement,
                                  solver_names_value(pair->names, number, value.data, value.size));
}

static struct text first_allowed(const struct pair *pair, const char *key,
                                 const struct text *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (allows(pair, &pair->both, key, values[i]))
            return values[i];
    return TEXT("");
}

static void add_subnets(const struct pair *pair, const struct pool *pool, struct zones *zones)
{
    const struct node *subnets = pool_subnets(pair->call->world->snapshot, pool);
    FOR_ITEMS(subnet, subnets)
        zones_add(zones, node_string(node_get(subnet, "zone")), pair->call->arena);
}

static const struct text systems[] = {TEXT("linux"), TEXT("windows")};

/* Whether the pool's nodes run the system, which their images decide and not the machines. Of a
 * class that cannot be seen that is Windows only when the pool says so. */
static bool runs(const struct pair *pair, const struct pool *pool,
                 const struct solver_requirements *set, struct text system)
{
    const struct rail_call *call = pair->call;
    const struct object *class = pool_node_class(call->world->snapshot, pool);
    const struct class_settings *settings;
    struct error ignored;
    bool windows = text_is(system, "windows");
    if (class != NULL)
        return !class_settings_read(class, call->arena, &settings, &ignored) ||
               (class_settings_windows_build(settings) != NULL) == windows;
    return !windows || !allows(pair, set, LABEL_OS, systems[0]);
}

static bool has_system(const struct pair *pair)
{
    bool same_class = text_equal(pair->pool->node_class_name, pair->other->node_class_name);
    for (size_t i = 0; i < COUNT_OF(systems); i++)
        if (allows(pair, &pair->both, LABEL_OS, systems[i]) &&
            (same_class || !catalog_is_builtin(pair->call->world->catalog) ||
             (runs(pair, pair->pool, &pair->ours, systems[i]) &&
              runs(pair, pair->other, &pair->theirs, systems[i]))))
            return true;
    return false;
}

/* A zone in which both make nodes. False when there is none; empty when nothing says which. */
static bool find_zone(const struct pair *pair, struct text *zone)
{
    const struct rail_call *call = pair->call;
    struct zones ours = {0};
    struct zones theirs = {0};
    add_subnets(pair, pair->pool, &ours);
    add_subnets(pair, pair->other, &theirs);
    struct zones zones = ours.count == 0 ? theirs : ours;
    bool confined = zones.count > 0;
    if (ours.count > 0 && theirs.count > 0)
        zones = zones_intersect(&ours, &theirs, call->arena);
    if (!confined)
        zones_read(call->world->snapshot, call->world->catalog, ZONE_KEY_NAME, call->arena, &zones);
    /* What the judged pool names, which may not be visible yet; what it rules out is no witness. */
    const struct expressions *requirements = &pair->pool->requirements;
    FOR_EACH(requirement, requirements)
        for (size_t i = 0; !confined && zone_key_of(requirement->key) == ZONE_KEY_NAME &&
                           i < requirement->value_count;
             i++)
            zones_add(&zones, requirement->values[i].text, call->arena);
    *zone = first_allowed(pair, LABEL_ZONE, zones.items, zones.count);
    bool found = zone->size > 0 || !confined;
    if (text_has_placeholder(*zone))
        *zone = TEXT("");
    return found;
}

/* The cheapest type of a set of which a node can be made, then the first by name; the number of
 * types when there is none. */
static size_t find_type(const struct catalog *catalog, const struct type_set *types,
                        struct arena *arena)
{
    size_t best = catalog_count(catalog);
    int64_t least = 0;
    FOR_TYPES(i, types) {
        int64_t price = catalog_type(catalog, i)->usd_micro_per_hour;
        if (price < 0)
            price = INT64_MAX;
        if ((best < catalog_count(catalog) && price >= least) ||
            catalog_type_amounts(catalog, i, arena).count == 0)
            continue;
        best = i;
        least = price;
    }
    return best;
}

/* Weights go from 1 to 100. */
static struct text fix_of(const struct pair *pair, struct arena *arena)
{
    enum { STEP = 10, HIGHEST = 100 };
    long long weight = weight_of(pair->pool);
    bool higher = weight + STEP <= HIGHEST;
    return arena_printf(arena,
                        "Set spec.weight: %lld on the pool that is meant %s, or taint the special "
                        "one.",
                        higher ? weight + STEP : weight - STEP, higher ? "first" : "last");
}

static void report_pair(const struct pair *pair, size_t type, struct text zone,
                        struct text capacity)
{
    struct arena *arena = pair->call->arena;
    struct text a = pair->pool->object->name;
    struct text b = pair->other->object->name;
    struct text apart = text_builder_text(&pair->apart);
    struct text place =
        zone.size == 0 ? TEXT("") : arena_printf(arena, " in %.*s", TEXT_ARGS(zone));
    struct text only =
        apart.size == 0
            ? TEXT("")
            : arena_printf(arena, " Only pods that select %.*s are told apart.", TEXT_ARGS(apart));
    /* Karpenter asks pools of equal weight from the last name to the first. */
    struct text last = text_compare(a, b) > 0 ? a : b;
    report_as(pair->call, apart.size > 0 ? SEVERITY_AUDIT : SEVERITY_RAIL,
              .field = field_at(arena, pair->pool->object->root, "spec.weight"), .found = b,
              .statement = arena_printf(
                  arena,
                  "NodePools %.*s and %.*s overlap: weight and taints are the same, and both may "
                  "launch %.*s, %.*s%.*s.%.*s A small pod that selects nothing gets %.*s, the last "
                  "by name.",
                  TEXT_ARGS(a), TEXT_ARGS(b),
                  TEXT_ARGS(catalog_type(pair->call->world->catalog, type)->name),
                  TEXT_ARGS(capacity), TEXT_ARGS(place), TEXT_ARGS(only), TEXT_ARGS(last)),
              .fault = TEXT("The two NodePools overlap."), .fix = fix_of(pair, arena));
}

/* The pool that is judged: read once, however many it is held against. */
struct ours {
    const struct pool *pool;
    struct solver_names *names; /* NULL: not read yet */
    struct solver_requirements known;
};

static void read_ours(struct rail_call *call, struct ours *ours)
{
    if (ours->names != NULL)
        return;
    ours->names = solver_names_create(call->arena, catalog_names(call->world->catalog));
    ours->known = known_of(call, ours->pool, ours->names);
}

static void judge_pair(struct rail_call *call, const struct ours *ours, const struct pool *other)
{
    static const struct text capacities[] = {TEXT("on-demand"), TEXT("spot"), TEXT("reserved")};
    const struct catalog *catalog = call->world->catalog;
    struct arena *arena = call->arena;
    struct pair pair = {
        .call = call,
        .pool = ours->pool,
        .other = other,
        .names = solver_names_create(arena, ours->names),
        .ours = ours->known,
    };
    pair.theirs = known_of(call, other, pair.names);
    add_all(&pair, &pair.ours);
    add_all(&pair, &pair.theirs);
    if (!solver_requirements_intersect(pair.names, &pair.ours, &pair.theirs, NULL))
        return;
    struct type_set types = catalog_select_launchable(catalog, pair.names, &pair.both, arena);
    size_t type = find_type(catalog, &types, arena);
    struct text zone;
    struct text capacity =
        first_allowed(&pair, LABEL_CAPACITY_TYPE, capacities, COUNT_OF(capacities));
    if (type == catalog_count(catalog) || capacity.size == 0 || !has_system(&pair) ||
        !find_zone(&pair, &zone))
        return;
    find_apart(&pair);
    report_pair(&pair, type, zone, capacity);
}

static void judge(struct rail_call *call)
{
    const struct settings *settings = call->settings;
    const struct snapshot *snapshot = call->world->snapshot;
    const struct catalog *catalog = call->world->catalog;
    const struct pool *pool = call_pool(call);
    struct ours ours = {.pool = pool};
    if (pool == NULL || !takes_pods(pool) || !pool_is_covered_by(catalog, pool))
        return;
    bool is_seen = call_is_seen(call, "spec");
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        const struct pool *other = snapshot_pool(snapshot, i);
        struct text name = other->object->name;
        if (text_equal(name, pool->object->name) || call_leaves_to(call, is_seen, other->object) ||
            !takes_pods(other) || !pool_is_covered_by(catalog, other) ||
            weight_of(other) != weight_of(pool) || !are_included(&pool->taints, &other->taints) ||
            !are_included(&other->taints, &pool->taints) ||
            is_ignored(settings, pool->object->name, name))
            continue;
        read_ours(call, &ours);
        judge_pair(call, &ours, other);
    }
}

const struct rail rail_pool_overlap = {
    .name = "pool-overlap",
    .summary = "pools of which a pod gets the one that was meant",
    .detail =
        "Of the pools that could take a pod Karpenter asks those of the highest weight first, and "
        "among equals it goes by name, from the last to the first: prices are not compared. Two "
        "pools of equal weight and equal taints that may launch the same machine are a choice "
        "nobody made.\n\n"
        "The rail holds the NodePool against each visible one of the same weight and with the "
        "same taints, and looks for an instance type, capacity type, operating system and zone "
        "that both may launch, by requirements, labels and what visible EC2NodeClasses say: their "
        "subnets, and whether their images are of Windows, and of which build. Of two pools that "
        "are judged together the later by name tells. "
        "It names that witness, and the pool that wins; without a witness it is silent. Pools "
        "that differ in labels or requirements of your own (team, purpose) are apart for a pod "
        "that selects one: that is noted for the audit, never warned about or denied. Pools with "
        "replicas take no part.",
    .example = "pool-overlap:\n"
               "  mode: warn\n"
               "  ignorePairs: [default/batch, blue-*/green-*]\n",
    .kinds = KIND_BIT(KIND_NODE_POOL),
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .prepare = prepare,
    .judge = judge,
};
