/* Where and how a type is offered, and the whole type for the solver. */
#include <stdlib.h>
#include <string.h>

#include "catalog/build.h"
#include "catalog/node_class.h"
#include "kube/zone.h"
#include "solver/well_known.h"

/* The solver's form of a type: strings instead of numbers, and one place for each offering. */

struct strings {
    const char **items;
    size_t count, capacity;
};
struct expression_list {
    struct solver_expression *items;
    size_t count, capacity;
};

static int compare_strings(const void *a_pointer, const void *b_pointer)
{
    const char *const *a = a_pointer, *const *b = b_pointer;
    return strcmp(*a, *b);
}

static void sort(struct strings *strings)
{
    if (strings->count > 1)
        qsort(strings->items, strings->count, sizeof *strings->items, compare_strings);
}

static struct strings one_string(struct arena *arena, const char *string)
{
    struct strings strings = {0};
    *LIST_PUSH(arena, &strings) = string;
    return strings;
}

static void add_expression(struct expression_list *list, struct arena *arena, const char *key,
                           enum solver_op op, struct strings values)
{
    *LIST_PUSH(arena, list) = (struct solver_expression){
        .key = key, .op = op, .values = values.items, .value_count = values.count};
}

/* The zones by name. */
static struct strings zone_names(const struct catalog *catalog, const struct zones *zones,
                                 struct arena *arena)
{
    struct text region =
        catalog->prices.region.size > 0 ? catalog->prices.region : TEXT("us-east-1");
    struct strings names = {0};
    for (size_t i = 0; i < zones->count; i++)
        *LIST_PUSH(arena, &names) = arena_text(arena, zones->items[i]).data;
    for (char letter = 'a'; zones->count == 0 && catalog->is_builtin && letter <= 'c'; letter++)
        *LIST_PUSH(arena, &names) = arena_printf(arena, "%.*s%c", TEXT_ARGS(region), letter).data;
    sort(&names);
    return names;
}

/* ---- offerings ---- */

static void add_offering(struct catalog_offerings *offerings, struct arena *arena, const char *zone,
                         const char *capacity_type, int64_t price_usd_micro)
{
    *LIST_PUSH(arena, offerings) = (struct solver_offering){
        .zone = zone,
        .capacity_type = capacity_type,
        .price_usd_micro = price_usd_micro,
        .available = true,
    };
}

/* ---- capacity reservations of a node class ---- */

static const char *const reservation_keys[] = {
    SOLVER_RESERVATION_KEY,
    "karpenter.k8s.aws/capacity-reservation-type",
    "karpenter.k8s.aws/capacity-reservation-interruptible",
};
enum { RESERVATION_KEYS = COUNT_OF(reservation_keys) };

static void reservation_values(const struct class_reservation *reservation,
                               const char *values[RESERVATION_KEYS])
{
    values[0] = reservation->id;
    values[1] = reservation->kind;
    values[2] = reservation->interruptible ? "true" : "false";
}

static bool is_of_type(const struct class_reservation *reservation,
                       const struct instance_type *type)
{
    return text_is(type->name, reservation->type);
}

static bool is_reserved(const struct class_settings *settings, const struct instance_type *type)
{
    for (size_t i = 0; settings != NULL && i < settings->reservation_count; i++)
        if (is_of_type(&settings->reservations[i], type))
            return true;
    return false;
}

/* What a reserved machine has besides its zone, or (NULL) what other machines must not have. */
static void add_reservation(struct expression_list *list, const struct class_reservation *of,
                            struct arena *arena)
{
    const char **values = ARENA_ARRAY(arena, RESERVATION_KEYS, const char *);
    if (of != NULL)
        reservation_values(of, values);
    for (size_t i = 0; i < RESERVATION_KEYS; i++)
        add_expression(list, arena, reservation_keys[i],
                       of != NULL ? SOLVER_IN : SOLVER_DOES_NOT_EXIST,
                       (struct strings){&values[i], of != NULL ? 1 : 0, 1});
}

static void add_zone_id(struct expression_list *list, const struct zones *zones, const char *zone,
                        struct arena *arena)
{
    struct text id = zones_id_of(zones, text_of(zone));
    if (id.size > 0)
        add_expression(list, arena, LABEL_ZONE_ID, SOLVER_IN,
                       one_string(arena, arena_text(arena, id).data));
}

/* What the AWS provider offers of a type to NodePools of a class with these settings. */
static struct catalog_offerings builtin_offerings(const struct catalog *catalog, size_t index,
                                                  const struct zones *zones,
                                                  const struct class_settings *settings,
                                                  struct arena *arena)
{
    const struct instance_type *type = &catalog->types[index];
    struct strings names = zone_names(catalog, zones, arena);
    struct catalog_offerings offerings = {0};
    int64_t spot = type->spot_usd_micro_per_hour < 0 ? type->usd_micro_per_hour
                                                     : type->spot_usd_micro_per_hour;
    for (size_t i = 0; i < names.count; i++) {
        struct expression_list more = {0};
        if (is_reserved(settings, type))
            add_reservation(&more, NULL, arena);
        add_zone_id(&more, zones, names.items[i], arena);
        add_offering(&offerings, arena, names.items[i], "on-demand", type->usd_micro_per_hour);
        add_offering(&offerings, arena, names.items[i], "spot", spot);
        for (size_t j = offerings.count - 2; j < offerings.count; j++)
            offerings.items[j].more = (struct solver_expressions){more.items, more.count};
    }
    for (size_t i = 0; settings != NULL && i < settings->reservation_count; i++) {
        const struct class_reservation *reservation = &settings->reservations[i];
        struct expression_list more = {0};
        if (!is_of_type(reservation, type))
            continue;
        add_reservation(&more, reservation, arena);
        add_zone_id(&more, zones, reservation->zone, arena);
        add_offering(&offerings, arena, reservation->zone, "reserved", 0); /* it is paid for */
        struct solver_offering *added = &offerings.items[offerings.count - 1];
        added->more = (struct solver_expressions){more.items, more.count};
        added->available = false;
        added->list_price_usd_micro = type->usd_micro_per_hour < 0 ? 0 : type->usd_micro_per_hour;
    }
    return offerings;
}

static const char *value_text(const struct solver_names *names, uint32_t key, uint32_t value,
                              struct arena *arena)
{
    struct text text;
    text.data = solver_names_value_text(names, key, value, &text.size);
    return arena_text(arena, text).data;
}

/* The values in a requirement's set, by name; for a complement, the excluded ones. */
static struct strings set_values(const struct solver_names *names,
                                 const struct solver_requirement *r, struct arena *arena)
{
    struct strings values = {0};
    for (uint32_t word = 0; word < r->word_count; word++)
        for (uint64_t rest = r->words[word]; rest != 0; rest &= rest - 1) {
            uint32_t value = word * 64 + (uint32_t)__builtin_ctzll(rest);
            *LIST_PUSH(arena, &values) = value_text(names, r->key, value, arena);
        }
    sort(&values);
    return values;
}

/* The possible values of an offering for one key: those it lists, or else those of the other
 * offerings that it does not exclude. */
static struct strings choices(const struct solver_names *names,
                              const struct solver_requirements *offered, enum catalog_label label,
                              const struct strings *others, struct arena *arena)
{
    const struct solver_requirement *r = solver_requirements_get(offered, (uint32_t)label);
    if (r == NULL)
        return *others;
    if (!r->complement)
        return set_values(names, r, arena);
    struct strings values = {0};
    for (size_t i = 0; i < others->count; i++) {
        const char *other = others->items[i];
        uint32_t value = solver_names_find_value(names, r->key, other, strlen(other));
        if (value == SOLVER_NONE || solver_requirement_has(names, r, value))
            *LIST_PUSH(arena, &values) = other;
    }
    return values;
}

/* The requirements of a set besides the zone and the capacity type. */
static struct solver_expressions without_places(const struct solver_names *names,
                                                const struct solver_requirements *set,
                                                struct arena *arena);

static struct catalog_offerings user_offerings(const struct catalog *catalog, size_t index,
                                               const struct strings *zones, struct arena *arena)
{
    const char *nowhere = "", *on_demand = "on-demand";
    const struct strings no_zone = {&nowhere, 1, 1}, no_capacity_type = {&on_demand, 1, 1};
    const struct catalog_offers *offers = &catalog->offers[index];
    struct catalog_offerings offerings = {0};
    for (size_t i = 0; i < offers->count; i++) {
        const struct catalog_offer *offer = &offers->items[i];
        const struct solver_requirements *asked = &catalog->shapes.items[offer->shape].requirements;
        struct strings in = choices(catalog->names, asked, CATALOG_ZONE,
                                    zones->count > 0 ? zones : &no_zone, arena);
        struct strings as =
            choices(catalog->names, asked, CATALOG_CAPACITY_TYPE, &no_capacity_type, arena);
        struct solver_expressions more = without_places(catalog->names, asked, arena);
        for (size_t j = 0; j < in.count * as.count; j++) {
            add_offering(&offerings, arena, in.items[j / as.count], as.items[j % as.count],
                         offer->usd_micro_per_hour);
            struct solver_offering *added = &offerings.items[offerings.count - 1];
            added->more = more;
            if (strcmp(added->capacity_type, "reserved") == 0)
                added->reservation_capacity = offer->reservation_capacity;
        }
    }
    return offerings;
}

struct catalog_offerings catalog_type_offerings(const struct catalog *catalog, size_t index,
                                                const struct zones *zones, struct arena *arena)
{
    struct strings names = zone_names(catalog, zones, arena);
    return catalog->is_builtin ? builtin_offerings(catalog, index, zones, NULL, arena)
                               : user_offerings(catalog, index, &names, arena);
}

/* ---- requirements ---- */

static void add_bound(struct expression_list *list, struct arena *arena, const char *key,
                      enum solver_op op, int64_t bound)
{
    const char *digits = arena_printf(arena, "%lld", (long long)bound).data;
    add_expression(list, arena, key, op, one_string(arena, digits));
}

static void add_requirement(struct expression_list *list, const struct solver_names *names,
                            const struct solver_requirement *r, struct arena *arena)
{
    struct text key_text;
    key_text.data = solver_names_key_text(names, r->key, &key_text.size);
    const char *key = arena_text(arena, key_text).data;
    bool bounded = r->has_gte || r->has_lte;
    struct strings values = set_values(names, r, arena);
    if (!bounded || values.count > 0)
        add_expression(list, arena, key, solver_requirement_op(r), values);
    if (r->has_gte)
        add_bound(list, arena, key, SOLVER_GTE, r->gte);
    if (r->has_lte)
        add_bound(list, arena, key, SOLVER_LTE, r->lte);
}

static struct solver_expressions without_places(const struct solver_names *names,
                                                const struct solver_requirements *set,
                                                struct arena *arena)
{
    struct expression_list list = {0};
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].key != CATALOG_ZONE && set->items[i].key != CATALOG_CAPACITY_TYPE)
            add_requirement(&list, names, &set->items[i], arena);
    return (struct solver_expressions){.items = list.items, .count = list.count};
}

/* NULL when the name of the zone has another form. */
static const char *region_of(const char *zone, struct arena *arena)
{
    struct text region = zone_region(text_of(zone));
    return region.size == 0 ? NULL : arena_text(arena, region).data;
}

static struct strings regions_of(const struct strings *zones, struct arena *arena)
{
    struct strings regions = {0};
    for (size_t i = 0; i < zones->count; i++) {
        const char *region = region_of(zones->items[i], arena);
        if (region == NULL)
            return (struct strings){0};
        /* Zones are in order of name, and so are their regions. */
        if (regions.count == 0 || strcmp(regions.items[regions.count - 1], region) != 0)
            *LIST_PUSH(arena, &regions) = region;
    }
    return regions;
}

/* Amazon's images run one system; of a class that is not visible it may be either. */
static void add_system(struct expression_list *list, const struct instance_type *type,
                       const struct class_settings *settings, struct arena *arena)
{
    const struct strings none = {0};
    const char *windows_build = settings->windows_build;
    if (settings->any_system)
        return;
    if (windows_build == NULL) {
        add_expression(list, arena, LABEL_OS, SOLVER_IN, one_string(arena, "linux"));
        add_expression(list, arena, LABEL_WINDOWS_BUILD, SOLVER_DOES_NOT_EXIST, none);
        return;
    }
    bool runs = text_is(type->architecture, "amd64");
    add_expression(list, arena, LABEL_OS, runs ? SOLVER_IN : SOLVER_DOES_NOT_EXIST,
                   runs ? one_string(arena, "windows") : none);
    add_expression(list, arena, LABEL_WINDOWS_BUILD, SOLVER_IN, one_string(arena, windows_build));
}

/* The values that reserved machines of the type can have. */
static void add_reservation_keys(struct expression_list *list, const struct instance_type *type,
                                 const struct class_settings *settings, struct arena *arena)
{
    struct strings values[RESERVATION_KEYS] = {0};
    for (size_t i = 0; settings != NULL && i < settings->reservation_count; i++) {
        const char *own[RESERVATION_KEYS];
        if (!is_of_type(&settings->reservations[i], type))
            continue;
        reservation_values(&settings->reservations[i], own);
        for (size_t j = 0; j < RESERVATION_KEYS; j++)
            *LIST_PUSH(arena, &values[j]) = own[j];
    }
    for (size_t i = 0; i < RESERVATION_KEYS; i++)
        add_expression(list, arena, reservation_keys[i],
                       values[i].count > 0 ? SOLVER_IN : SOLVER_DOES_NOT_EXIST, values[i]);
}

/* The ids that are known. */
static struct strings zone_ids(const struct zones *zones, struct arena *arena)
{
    struct strings ids = {0};
    for (size_t i = 0; zones->ids != NULL && i < zones->count; i++)
        if (zones->ids[i].size > 0)
            *LIST_PUSH(arena, &ids) = arena_text(arena, zones->ids[i]).data;
    sort(&ids);
    return ids;
}

/* What the AWS provider adds to the type of the catalogue. */
static void add_builtin_places(struct expression_list *list, const struct catalog *catalog,
                               const struct instance_type *type,
                               const struct class_settings *settings, const struct zones *zones,
                               struct arena *arena)
{
    struct strings names = zone_names(catalog, zones, arena), ids = zone_ids(zones, arena);
    struct strings capacity_types = one_string(arena, "on-demand");
    *LIST_PUSH(arena, &capacity_types) = "spot";
    if (is_reserved(settings, type))
        *LIST_PUSH(arena, &capacity_types) = "reserved";
    struct strings regions = regions_of(&names, arena);
    add_expression(list, arena, LABEL_ZONE, SOLVER_IN, names);
    if (ids.count > 0)
        add_expression(list, arena, LABEL_ZONE_ID, SOLVER_IN, ids);
    add_expression(list, arena, LABEL_CAPACITY_TYPE, SOLVER_IN, capacity_types);
    if (regions.count > 0)
        add_expression(list, arena, LABEL_REGION, SOLVER_IN, regions);
    add_reservation_keys(list, type, settings, arena);
    add_system(list, type, settings == NULL ? &usual_settings : settings, arena);
}

/* ---- the whole type ---- */

static struct solver_amounts numbered(const struct catalog_amounts *amounts, bool allocatable,
                                      struct solver_builder *builder, struct arena *arena)
{
    struct solver_amount *items = ARENA_ARRAY(arena, amounts->count, struct solver_amount);
    for (size_t i = 0; i < amounts->count; i++) {
        const struct catalog_amount *amount = &amounts->items[i];
        items[i].resource = solver_builder_resource(builder, amount->resource);
        items[i].quantity = allocatable ? amount->allocatable : amount->capacity;
    }
    return (struct solver_amounts){.items = items, .count = amounts->count};
}

bool catalog_solver_type(const struct catalog *catalog, size_t index, const struct zones *zones,
                         const struct class_settings *settings, struct solver_builder *builder,
                         struct arena *arena, struct solver_instance_type *type)
{
    struct catalog_amounts amounts = catalog_class_amounts(catalog, index, settings, arena);
    *type = (struct solver_instance_type){0};
    if (amounts.count == 0)
        return false;
    const struct instance_type *known = &catalog->types[index];
    struct expression_list requirements = {0};
    bool one_system = catalog->is_builtin && (settings == NULL || !settings->any_system);
    for (size_t i = 0; i < known->requirements.count; i++)
        if (!one_system || known->requirements.items[i].key != CATALOG_OS)
            add_requirement(&requirements, catalog->names, &known->requirements.items[i], arena);
    if (catalog->is_builtin)
        add_builtin_places(&requirements, catalog, known, settings, zones, arena);
    struct catalog_offerings offerings =
        catalog->is_builtin ? builtin_offerings(catalog, index, zones, settings, arena)
                            : catalog_type_offerings(catalog, index, zones, arena);
    struct solver_attach_limit *limit = ARENA_NEW(arena, struct solver_attach_limit);
    limit->driver = "ebs.csi.aws.com";
    limit->count = catalog_attach_limit(catalog, index);
    *type = (struct solver_instance_type){
        .name = arena_text(arena, known->name).data,
        .requirements = {.items = requirements.items, .count = requirements.count},
        .capacity = numbered(&amounts, false, builder, arena),
        .allocatable = numbered(&amounts, true, builder, arena),
        .attach_limits = limit->count > 0 ? limit : NULL,
        .attach_limit_count = limit->count > 0 ? 1 : 0,
        .offerings = offerings.items,
        .offering_count = offerings.count,
    };
    return true;
}
