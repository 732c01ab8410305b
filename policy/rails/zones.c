/* The rail zones: nodes, pods and disks inside a list of zones. */
#include "catalog/catalog.h"
#include "kube/label.h"
#include "kube/pool.h"
#include "kube/volume.h"
#include "kube/zone.h"
#include "policy/policy_set.h"
#include "policy/rails/label_choice.h"
#include "policy/reading.h"
#include "solver/well_known.h"

struct settings {
    struct key_strings allow;
};

static const struct key keys[] = {
    {.name = "allow",
     .type = KEY_GLOBS,
     .offset = offsetof(struct settings, allow),
     .summary = "the zones that may be used, by name: eu-west-1a, or all of a region: eu-west-1*",
     .minimum = 1},
    {0},
};

static bool is_key(struct text key)
{
    return zone_key_of(key) != ZONE_KEY_NONE;
}

/* What is no value of a label is a placeholder, or is refused. */
static enum label_choice_answer answer(const struct label_choice *choice, struct text key,
                                       struct text value)
{
    if (value.size == 0 || !label_value_is_valid(value))
        return CHOICE_PASSED;
    if (label_choice_lists(choice, value))
        return CHOICE_ALLOWED;
    if (zone_key_of(key) != ZONE_KEY_ID)
        return CHOICE_OUTSIDE;
    struct text zone = zone_of_id(choice->call->world->snapshot, value);
    if (zone.size == 0)
        return CHOICE_UNKNOWN;
    return label_choice_lists(choice, zone) ? CHOICE_ALLOWED : CHOICE_OUTSIDE;
}

/* Ids are an account's own. */
static struct text spell(struct text key, struct text value)
{
    return zone_key_of(key) == ZONE_KEY_ID ? TEXT("") : value;
}

/* ---- other regions and clouds ---- */

/* "us-east-1" of "us-east-1a", "us-central1" of "us-central1-a", "westeurope" of "westeurope-1";
 * empty when it cannot be told. */
static struct text region_of(struct text zone)
{
    enum { SHORTEST = 6 };
    struct text region = zone_region(zone);
    if (region.size == 0 && zone.size > SHORTEST + 1 && zone.data[zone.size - 2] == '-')
        region = (struct text){zone.data, zone.size - 2};
    return region;
}

/* The regions of the zones, each once; empty when that of one cannot be told, or there are many. */
static struct zones regions_of(const struct text *zones, size_t count, struct arena *arena)
{
    enum { MOST = 20 };
    struct zones regions = {0};
    for (size_t i = 0; i < count; i++) {
        struct text region = region_of(zones[i]);
        if (region.size == 0 || regions.count > MOST)
            return (struct zones){0};
        zones_add(&regions, region, arena);
    }
    return regions;
}

static struct text whom_to_ask(const struct rail_call *call)
{
    return call->policy->contact.size > 0 ? call->policy->contact : TEXT("the owner of the policy");
}

/* A zone of another region is not one that is to be replaced: no node comes up in the new one. */
static void describe(const struct label_choice *choice, const struct choice_values *values,
                     struct draft *draft)
{
    enum { SHOWN = 5 };
    const struct text_list *told = &values->outside;
    struct arena *arena = choice->call->arena;
    if (zone_key_of(values->key) == ZONE_KEY_ID)
        return;
    struct zones here = regions_of(choice->allow.items, choice->allow.count, arena);
    struct zones there = regions_of(told->items, told->count, arena);
    if (values->inside.count > 0 || here.count == 0 || there.count == 0 ||
        zones_intersect(&here, &there, arena).count > 0)
        return;
    struct text allowed = texts_and(here.items, here.count, SHOWN, arena);
    struct text named = texts_and(there.items, there.count, SHOWN, arena);
    draft->statement = arena_printf(
        arena, "Zone%s %.*s %s in region %.*s, and the zones allowed are in %.*s.",
        told->count == 1 ? "" : "s", TEXT_ARGS(texts_and(told->items, told->count, SHOWN, arena)),
        told->count == 1 ? "is" : "are", TEXT_ARGS(named), TEXT_ARGS(allowed));
    draft->fix = arena_printf(
        arena, "Name zones of %.*s if the cluster is there, else ask %.*s to allow %.*s.",
        TEXT_ARGS(allowed), TEXT_ARGS(whom_to_ask(choice->call)), TEXT_ARGS(named));
}

/* ---- pools ---- */

/* The zones in which the pool's node class has subnets; false when that is not visible. */
static bool read_subnets(const struct rail_call *call, const struct pool *pool, struct zones *zones)
{
    const struct node *subnets = pool_subnets(call->world->snapshot, pool);
    FOR_ITEMS(subnet, subnets)
        zones_add(zones, node_string(node_get(subnet, "zone")), call->arena);
    return zones->count > 0;
}

static bool names_zone(const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (expression->valid && expression->op == SOLVER_IN && is_key(expression->key))
            return true;
    return false;
}

/* Whether what the pool names says where its nodes are, or a list of AWS' zones has to do with
 * them. Without a node class it is refused. */
static bool may_be_open(const struct label_choice *choice, const struct pool *pool)
{
    if (names_zone(&pool->requirements) || names_zone(&pool->labels))
        return true;
    if (pool->node_class_name.size == 0)
        return false;
    for (size_t i = 0; i < choice->allow.count; i++) {
        struct text zone = choice->allow.items[i];
        struct text region = zone_region(zone);
        /* All of the region: a pool is in one. */
        if (text_is(zone, "*") ||
            (region.size > 0 && region.size + 1 == zone.size && text_ends_with(zone, TEXT("*"))))
            return false;
        if (region.size == 0)
            return true;
    }
    return pool_is_covered_by(choice->call->world->catalog, pool);
}

static void judge_pool(const struct label_choice *choice, const struct pool *pool)
{
    struct arena *arena = choice->call->arena;
    struct zones subnets = {0};
    bool seen = read_subnets(choice->call, pool, &subnets);
    if (pool_is_built_in(pool) || (!seen && !may_be_open(choice, pool)))
        return;
    struct text kind = pool->node_class_kind.size > 0 ? pool->node_class_kind : TEXT("node class");
    struct text class =
        arena_printf(arena, "%.*s %.*s", TEXT_ARGS(kind), TEXT_ARGS(pool->node_class_name));
    label_choice_judge_pool(
        choice, pool,
        &(struct pool_reach){
            .values = seen ? &subnets : NULL,
            .unknown = arena_printf(arena,
                                    "No requirement lists the zones to use, so the subnets of "
                                    "%.*s decide in which zones nodes come up.",
                                    TEXT_ARGS(class)),
            .dead_end =
                arena_printf(arena, "Select subnets of allowed zones in %.*s.", TEXT_ARGS(class)),
        });
}

/* ---- storage classes ---- */

static struct text without_spaces(struct text t)
{
    while (text_starts_with(t, TEXT(" ")))
        t = (struct text){t.data + 1, t.size - 1};
    while (text_ends_with(t, TEXT(" ")))
        t.size--;
    return t;
}

/* The in-tree drivers have parameters: zone, or a list of zones. */
static void judge_parameter(const struct label_choice *choice, const char *path)
{
    const struct field *field = field_at(choice->call->arena, choice->call->object->root, path);
    struct choice_values values = {.key = TEXT(LABEL_ZONE), .field = field};
    struct text rest = node_string(field->node);
    while (rest.size > 0) {
        struct text value = rest;
        struct text after = TEXT("");
        text_split(rest, ',', &value, &after);
        label_choice_take(choice, &values, without_spaces(value), 0);
        rest = after;
    }
    label_choice_report(choice, &values, SEVERITY_RAIL);
}

static void judge_storage_class(const struct label_choice *choice,
                                const struct storage_class *class)
{
    FOR_EACH(topology, &class->topologies) {
        struct choice_values values = {.key = node_string(topology->key->node),
                                       .field = topology->values};
        for (size_t j = 0; is_key(values.key) && j < node_count(topology->values->node); j++)
            label_choice_take(choice, &values, node_string(node_item(topology->values->node, j)),
                              j + 1);
        label_choice_report(choice, &values, SEVERITY_RAIL);
    }
    judge_parameter(choice, "parameters.zone");
    judge_parameter(choice, "parameters.zones");
}

static void prepare(void *settings_pointer, const struct rail_loading *loading)
{
    const struct settings *settings = settings_pointer;
    if (settings->allow.count == 0)
        loading_warn(loading, loading->rail_node,
                     "zones: allow names no zone, so nothing is found; name the zones that may be "
                     "used, as in [eu-west-1a, eu-west-1b]");
}

static void judge(struct rail_call *call)
{
    const struct settings *settings = call->settings;
    struct arena *arena = call->arena;
    struct label_choice choice = {
        .call = call,
        .what = "zone",
        .title = "Zone",
        .key = LABEL_ZONE,
        .before = "nodes in ",
        .after = "",
        .allow = ALLOWED_LIST(&settings->allow),
        .is_key = is_key,
        .answer = answer,
        .spell = spell,
        .describe = describe,
    };
    const struct pool *pool = call_pool(call);
    struct storage_class class;
    if (settings->allow.count == 0)
        return;
    if (pool != NULL) {
        judge_pool(&choice, pool);
    } else if (storage_class_read(call->object, arena, &class)) {
        judge_storage_class(&choice, &class);
    } else {
        label_choice_judge_workload(&choice);
    }
}

const struct rail rail_zones = {
    .name = "zones",
    .summary = "nodes, pods and disks inside a list of zones",
    .detail =
        "Traffic between zones costs money, some zones sell few instance types, and data may have "
        "to stay where it is. The rail keeps a cluster inside the zones of allow, whatever "
        "spelling of the zone label is used: the old ones, those of CSI drivers, and the zone id, "
        "which a visible EC2NodeClass translates by its status.subnets.\n\n"
        "On a workload, each zone that the nodeSelector or a required node affinity term names "
        "must be allowed, and each term must leave an allowed one; preferred terms warn, and so "
        "do DaemonSets, for which no node is bought. On a "
        "NodePool, each zone that its requirements and labels name must be allowed; one that "
        "names none is open to all of them, unless its visible EC2NodeClass has subnets in "
        "allowed zones alone. On a StorageClass, each zone of allowedTopologies, and of the "
        "parameters zone and zones. A list has one finding, which says so where its zones are "
        "those of another region or cloud.\n\n"
        "allow takes globs: eu-west-1* is every zone of the region, and a pool that names none is "
        "then fine. Pools of another cloud that name no zone are passed over where all zones of "
        "allow are named as AWS names them, and so are the built-in pools of EKS Auto Mode, which "
        "nobody can edit. With nothing under allow, or *, the rail finds nothing.",
    .example = "zones:\n"
               "  mode: enforce\n"
               "  allow: [eu-west-1a, eu-west-1b]\n",
    .kinds = KINDS_WORKLOADS | KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_STORAGE_CLASS),
    .sources = KIND_BIT(KIND_EC2_NODE_CLASS),
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .prepare = prepare,
    .judge = judge,
};
