#include <stdlib.h>
#include <string.h>

#include "kube/catalog.h"

/* A type as the solver takes it: strings instead of numbers, and offerings each of one place. */

#define ZONE "topology.kubernetes.io/zone"
#define REGION "topology.kubernetes.io/region"
#define CAPACITY_TYPE "karpenter.sh/capacity-type"
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

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

/* The zones by name. */
static struct strings zone_names(const struct catalog *catalog, const struct zones *zones,
                                 struct arena *arena)
{
    static const char *const priced[] = {"us-east-1a", "us-east-1b", "us-east-1c"};
    struct strings names = {0};
    for (size_t i = 0; i < zones->count; i++)
        *LIST_PUSH(arena, &names) = arena_text(arena, zones->items[i]).data;
    for (size_t i = 0; zones->count == 0 && catalog->is_builtin && i < COUNT_OF(priced); i++)
        *LIST_PUSH(arena, &names) = priced[i];
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

static struct catalog_offerings builtin_offerings(const struct instance_type *type,
                                                  const struct strings *zones, struct arena *arena)
{
    struct catalog_offerings offerings = {0};
    for (size_t i = 0; i < zones->count; i++) {
        add_offering(&offerings, arena, zones->items[i], "on-demand", type->usd_micro_per_hour);
        add_offering(&offerings, arena, zones->items[i], "spot", -1);
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

/* The values that a requirement's set holds, by name: those excluded, of a complement. */
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

/* What an offering can be of one key: the values it lists, or else those of the others that it
 * does not rule out. */
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

static struct solver_expressions expressions_of(const struct solver_names *names,
                                                const struct solver_requirements *set,
                                                bool with_places, struct arena *arena);

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
        struct solver_expressions more = expressions_of(catalog->names, asked, false, arena);
        for (size_t j = 0; j < in.count * as.count; j++) {
            add_offering(&offerings, arena, in.items[j / as.count], as.items[j % as.count],
                         offer->usd_micro_per_hour);
            offerings.items[offerings.count - 1].more = more;
        }
    }
    return offerings;
}

struct catalog_offerings catalog_type_offerings(const struct catalog *catalog, size_t index,
                                                const struct zones *zones, struct arena *arena)
{
    struct strings names = zone_names(catalog, zones, arena);
    return catalog->is_builtin ? builtin_offerings(&catalog->types[index], &names, arena)
                               : user_offerings(catalog, index, &names, arena);
}

/* ---- requirements ---- */

static void add_expression(struct expression_list *list, struct arena *arena, const char *key,
                           enum solver_op op, struct strings values)
{
    *LIST_PUSH(arena, list) = (struct solver_expression){
        .key = key, .op = op, .values = values.items, .value_count = values.count};
}

static struct strings one_string(struct arena *arena, const char *string)
{
    struct strings strings = {0};
    *LIST_PUSH(arena, &strings) = string;
    return strings;
}

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

/* Places are the zone and the capacity type. */
static void add_requirements(struct expression_list *list, const struct solver_names *names,
                             const struct solver_requirements *set, bool with_places,
                             struct arena *arena)
{
    for (size_t i = 0; i < set->count; i++) {
        uint32_t key = set->items[i].key;
        if (with_places || (key != CATALOG_ZONE && key != CATALOG_CAPACITY_TYPE))
            add_requirement(list, names, &set->items[i], arena);
    }
}

static struct solver_expressions expressions_of(const struct solver_names *names,
                                                const struct solver_requirements *set,
                                                bool with_places, struct arena *arena)
{
    struct expression_list list = {0};
    add_requirements(&list, names, set, with_places, arena);
    return (struct solver_expressions){.items = list.items, .count = list.count};
}

/* "us-east-1" of "us-east-1a", "us-west-2" of the local zone "us-west-2-lax-1a"; NULL when the name
 * has another form. */
static const char *region_of(const char *zone, struct arena *arena)
{
    size_t size = strcspn(zone, "0123456789");
    size_t digits = strspn(zone + size, "0123456789");
    if (size < 2 || zone[size - 1] != '-' || digits == 0 || zone[size + digits] == '\0')
        return NULL;
    return arena_text(arena, (struct text){zone, size + digits}).data;
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

/* What the AWS provider says of a type beside what the catalogue does. */
static void add_builtin_places(struct expression_list *list, const struct strings *zones,
                               struct arena *arena)
{
    static const char *const not_reserved[] = {
        "karpenter.k8s.aws/capacity-reservation-id",
        "karpenter.k8s.aws/capacity-reservation-type",
        "karpenter.k8s.aws/capacity-reservation-interruptible",
    };
    struct strings capacity_types = one_string(arena, "on-demand");
    *LIST_PUSH(arena, &capacity_types) = "spot";
    struct strings regions = regions_of(zones, arena);
    add_expression(list, arena, ZONE, SOLVER_IN, *zones);
    add_expression(list, arena, CAPACITY_TYPE, SOLVER_IN, capacity_types);
    if (regions.count > 0)
        add_expression(list, arena, REGION, SOLVER_IN, regions);
    for (size_t i = 0; i < COUNT_OF(not_reserved); i++)
        add_expression(list, arena, not_reserved[i], SOLVER_DOES_NOT_EXIST, (struct strings){0});
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
                         struct solver_builder *builder, struct arena *arena,
                         struct solver_type *type)
{
    struct catalog_amounts amounts = catalog_type_amounts(catalog, index, arena);
    *type = (struct solver_type){0};
    if (amounts.count == 0)
        return false;
    const struct instance_type *known = &catalog->types[index];
    struct expression_list requirements = {0};
    add_requirements(&requirements, catalog->names, &known->requirements, true, arena);
    if (catalog->is_builtin) {
        struct strings names = zone_names(catalog, zones, arena);
        add_builtin_places(&requirements, &names, arena);
    }
    struct catalog_offerings offerings = catalog_type_offerings(catalog, index, zones, arena);
    struct solver_attach_limit *limit = ARENA_NEW(arena, struct solver_attach_limit);
    limit->driver = "ebs.csi.aws.com";
    limit->count = catalog_attach_limit(catalog, index);
    *type = (struct solver_type){
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
