/* The rail zones: nodes, pods and disks inside a list of zones. */
#include "kube/pool.h"
#include "kube/volume.h"
#include "kube/zone.h"
#include "policy/rails/label_choice.h"
#include "policy/reading.h"
#include "solver/well_known.h"

struct settings {
    struct key_strings allow;
};

static const struct key keys[] = {
    {.name = "allow",
     .type = KEY_STRINGS,
     .offset = offsetof(struct settings, allow),
     .summary = "the zones that may be used, by name, as in eu-west-1a",
     .minimum = 1},
    {0},
};

static bool is_key(struct text key)
{
    return zone_key_of(key) != ZONE_KEY_NONE;
}

static enum label_choice_answer answer(const struct label_choice *choice, struct text key,
                                       struct text value)
{
    if (label_choice_lists(choice, value))
        return CHOICE_ALLOWED;
    if (zone_key_of(key) != ZONE_KEY_ID)
        return CHOICE_OUTSIDE;
    struct text zone = zone_of_id(choice->call->world->snapshot, value);
    if (zone.size == 0)
        return CHOICE_UNKNOWN;
    return label_choice_lists(choice, zone) ? CHOICE_ALLOWED : CHOICE_OUTSIDE;
}

/* ---- pools ---- */

/* The zones in which the pool's node class has subnets; false when that is not visible. */
static bool read_reach(const struct rail_call *call, const struct pool *pool, struct zones *reach)
{
    const struct node *subnets = pool_subnets(call->world->snapshot, pool);
    FOR_ITEMS(subnet, subnets)
        zones_add(reach, node_string(node_get(subnet, "zone")), call->arena);
    return reach->count > 0;
}

/* ---- storage classes ---- */

static void judge_value(const struct label_choice *choice, const struct field *field,
                        struct text key, struct text value)
{
    enum label_choice_answer found = choice->answer(choice, key, value);
    if (value.size > 0 && found != CHOICE_ALLOWED)
        label_choice_report(choice, found, SEVERITY_RAIL, field, value);
}

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
    struct arena *arena = choice->call->arena;
    const struct field *field = field_at(arena, choice->call->object->root, path);
    struct text rest = node_string(field->node);
    while (rest.size > 0) {
        struct text value = rest;
        struct text after = TEXT("");
        text_split(rest, ',', &value, &after);
        judge_value(choice, field, TEXT(LABEL_ZONE), without_spaces(value));
        rest = after;
    }
}

static void judge_storage_class(const struct label_choice *choice,
                                const struct storage_class *class)
{
    struct arena *arena = choice->call->arena;
    FOR_EACH(topology, &class->topologies) {
        struct text key = node_string(topology->key->node);
        for (size_t j = 0; is_key(key) && j < node_count(topology->values->node); j++) {
            const struct field *value = field_item(arena, topology->values, j);
            judge_value(choice, value, key, node_string(value->node));
        }
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
        .key = LABEL_ZONE,
        .allow = ALLOWED_LIST(&settings->allow),
        .is_key = is_key,
        .answer = answer,
    };
    const struct pool *pool = call_pool(call);
    struct storage_class class;
    if (settings->allow.count == 0)
        return;
    if (pool != NULL) {
        struct zones reach = {0};
        bool seen = read_reach(call, pool, &reach);
        label_choice_judge_pool(&choice, pool, seen ? &reach : NULL);
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
        "must be allowed, and each term must leave an allowed one; preferred terms warn. On a "
        "NodePool, each zone that its requirements and labels name must be allowed; one that "
        "names none is open to all of them, unless its visible EC2NodeClass has subnets in "
        "allowed zones alone. On a StorageClass, each zone of allowedTopologies, and of the "
        "parameters zone and zones. With nothing under allow the rail finds nothing.",
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
