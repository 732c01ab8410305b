/* Reads a user's catalogue, in the JSON of Karpenter's kwok provider. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalog/build.h"
#include "catalog/catalog.h"
#include "catalog/prices.h"
#include "kube/quantity.h"

/* The JSON of Karpenter's kwok provider (docs/reference/karpenter.md 9). Go's encoding/json decodes
 * it there: it finds a field in any case of its name, and reads null as absent. */

struct listed_type {
    const struct node *node;
    struct text name;
    size_t index; /* in the file */
};

struct reader {
    struct catalog *catalog;
    struct source *source;
    struct arena *arena;
    struct error *error;
    struct listed_type current; /* for messages */
};

static bool refuse(struct reader *reader, const struct node *at, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* "instance type 3 (m5.large): what" */
static bool refuse(struct reader *reader, const struct node *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct text what = arena_vprintf(reader->arena, format, args);
    va_end(args);
    struct text name = reader->current.name;
    return error_set(
        reader->error, ERROR_INPUT, source_place(reader->source, reader->arena, at->offset),
        "instance type %zu%s%.*s%s: %.*s", reader->current.index + 1, name.size > 0 ? " (" : "",
        TEXT_ARGS(name), name.size > 0 ? ")" : "", TEXT_ARGS(what));
}

static bool refuse_kind(struct reader *reader, const struct node *found, const char *field,
                        const char *allowed)
{
    return refuse(reader, found, "%s is %s; it must be %s", field,
                  node_kind_name((enum node_kind)found->kind), allowed);
}

static const struct node *find_member(const struct node *map, const char *key)
{
    const struct node *found = node_get(map, key);
    for (size_t i = 0; found == NULL && i < node_count(map); i++) {
        const struct member *member = &map->members[i];
        if (member->key_size == strlen(key) && strncasecmp(member->key, key, strlen(key)) == 0)
            found = &member->value;
    }
    return node_is(found, NODE_NULL) ? NULL : found;
}

static bool find_needed(struct reader *reader, const struct node *map, const char *key,
                        enum node_kind kind, const struct node **found)
{
    *found = find_member(map, key);
    if (*found == NULL)
        return refuse(reader, map, "it has no %s, which must be %s", key, node_kind_name(kind));
    if (!node_is(*found, kind))
        return refuse_kind(reader, *found, key, node_kind_name(kind));
    return true;
}

/* A list that is NULL has no strings. */
static bool read_strings(struct reader *reader, const struct node *list, const char *field,
                         struct text **texts)
{
    *texts = ARENA_ARRAY(reader->arena, node_count(list), struct text);
    for (size_t i = 0; i < node_count(list); i++) {
        if (!node_is(node_item(list, i), NODE_STRING))
            return refuse_kind(reader, node_item(list, i), field, "a list of strings");
        (*texts)[i] = node_string(node_item(list, i));
    }
    return true;
}

/* Kubernetes also accepts a number without quotes as a quantity. */
static bool read_quantity(struct reader *reader, const struct member *member, int64_t *milli)
{
    const struct node *node = &member->value;
    int key_size = (int)member->key_size;
    if (!node_is(node, NODE_STRING) && !node_is(node, NODE_NUMBER))
        return refuse(reader, node, "resources.%.*s is %s; it must be a quantity such as \"16Gi\"",
                      key_size, member->key, node_kind_name((enum node_kind)node->kind));
    if (quantity_is_vast(node_text(node)))
        return refuse(reader, node,
                      "resources.%.*s is \"%.*s\", which is too large: it may be "
                      "9.2P at most",
                      key_size, member->key, TEXT_ARGS(node_text(node)));
    if (!quantity_milli(node_text(node), milli) || *milli < 0)
        return refuse(reader, node,
                      "resources.%.*s is \"%.*s\"; it must be a quantity such as \"4\", \"3500m\" "
                      "or \"16Gi\"",
                      key_size, member->key, TEXT_ARGS(node_text(node)));
    return true;
}

static void read_device(struct text name, uint64_t count, struct catalog_resources *resources)
{
    if (count == 0)
        return;
    if (text_is(name, "nvidia.com/gpu"))
        resources->nvidia = count;
    else if (text_is(name, "amd.com/gpu"))
        resources->amd = count;
    else if (text_is(name, "habana.ai/gaudi"))
        resources->gaudi = count;
    else if (text_is(name, "aws.amazon.com/neuron"))
        resources->neuron = count;
    resources->any_nvidia |= text_starts_with(name, TEXT("nvidia.com/"));
    resources->any_amd |= text_starts_with(name, TEXT("amd.com/"));
    resources->any_neuron |= text_starts_with(name, TEXT("aws.amazon.com/neuron"));
}

static void add_amount(struct reader *reader, const struct instance_type *type, struct text name,
                       int64_t milli)
{
    size_t index = (size_t)(type - reader->catalog->types);
    struct catalog_amount *amount = LIST_PUSH(reader->arena, &reader->catalog->amounts[index]);
    amount->resource = arena_text(reader->arena, name).data;
    amount->capacity = text_is(name, "cpu") ? milli : milli / 1000;
}

static bool read_resources(struct reader *reader, const struct node *map,
                           struct instance_type *type, struct catalog_resources *resources)
{
    for (size_t i = 0; i < node_count(map); i++) {
        const struct member *member = &map->members[i];
        struct text name = member_key(member);
        int64_t milli = 0;
        if (!read_quantity(reader, member, &milli))
            return false;
        uint64_t whole = ((uint64_t)milli + 999) / 1000;
        if (text_is(name, "cpu")) {
            resources->cpu = node_text(&member->value);
            type->cpu = whole < UINT32_MAX ? (uint32_t)whole : UINT32_MAX;
        } else if (text_is(name, "memory")) {
            resources->memory = node_text(&member->value);
            type->memory_mib = (uint64_t)milli / 1000 / 1048576;
        }
        read_device(name, whole, resources);
        add_amount(reader, type, name, milli);
    }
    catalog_reckon_kwok(&reader->catalog->amounts[type - reader->catalog->types], reader->arena);
    if (type->cpu == 0 || type->memory_mib == 0)
        return refuse(reader, map, "resources has no %s; both cpu and memory must be above 0",
                      type->cpu == 0 ? "cpu" : "memory");
    return true;
}

static bool read_offering_requirement(struct reader *reader, const struct node *node,
                                      struct solver_requirements *requirements)
{
    const struct node *key_node, *op_node;
    if (!find_needed(reader, node, "key", NODE_STRING, &key_node) ||
        !find_needed(reader, node, "operator", NODE_STRING, &op_node))
        return false;
    struct text key_text = node_string(key_node), op_text = node_string(op_node);
    enum solver_op op = SOLVER_IN;
    if (!solver_op_parse(op_text.data, op_text.size, &op))
        return refuse(reader, op_node,
                      "an offering's operator is \"%.*s\"; it must be In, NotIn, Exists, "
                      "DoesNotExist, Gt or Lt",
                      TEXT_ARGS(op_text));
    const struct node *list = find_member(node, "values");
    struct text *texts;
    if (list != NULL && !node_is(list, NODE_LIST))
        return refuse_kind(reader, list, "an offering's values", "a list of strings");
    if (!read_strings(reader, list, "an offering's value", &texts))
        return false;
    size_t count = node_count(list);
    int64_t number = 0;
    if (op >= SOLVER_GT && (count != 1 || !text_to_int64(texts[0], &number)))
        return refuse(reader, list != NULL ? list : node,
                      "an offering's %s takes one value, a whole number", solver_op_name(op));
    struct solver_names *names = reader->catalog->names;
    key_text.data = solver_canonical_key(key_text.data, &key_text.size);
    uint32_t key = solver_names_key(names, key_text.data, key_text.size);
    uint32_t *values = ARENA_ARRAY(reader->arena, count, uint32_t);
    for (size_t i = 0; i < count; i++)
        values[i] = solver_names_value(names, key, texts[i].data, texts[i].size);
    struct solver_requirement requirement =
        solver_requirement_make(names, key, op, values, count, 0, reader->arena);
    solver_requirements_add(names, requirements, requirement, reader->arena);
    return true;
}

static bool read_price(struct reader *reader, const struct node *offering, int64_t *usd_micro)
{
    const struct node *price = find_member(offering, "price");
    *usd_micro = -1;
    if (price == NULL)
        return true;
    if (!node_is(price, NODE_NUMBER))
        return refuse_kind(reader, price, "an offering's price", "a number, in USD an hour");
    if (!quantity_scaled(node_text(price), 6, usd_micro) || *usd_micro < 0)
        return refuse(reader, price,
                      "an offering's price is %.*s; it must be USD an hour, 0 or more",
                      TEXT_ARGS(node_text(price)));
    return true;
}

static bool read_reservation_capacity(struct reader *reader, const struct node *offering,
                                      uint32_t *capacity)
{
    const struct node *node = find_member(offering, "reservationCapacity");
    int64_t count = 0;
    *capacity = 0;
    if (node == NULL)
        return true;
    if (!node_is(node, NODE_NUMBER))
        return refuse_kind(reader, node, "an offering's ReservationCapacity", "a whole number");
    if (!node_integer(node, &count) || count < 0 || count > INT32_MAX)
        return refuse(reader, node,
                      "an offering's ReservationCapacity is %.*s; it must be a whole number of "
                      "machines, 0 or more",
                      TEXT_ARGS(node_text(node)));
    *capacity = (uint32_t)count;
    return true;
}

/* Adds an offering's requirement on zone or capacity type to the type's own. */
static void collect(struct reader *reader, const struct solver_requirements *requirements,
                    enum catalog_label label, struct solver_requirement *all)
{
    const struct solver_requirement *r = solver_requirements_get(requirements, (uint32_t)label);
    if (r == NULL || r->complement)
        return;
    uint32_t word_count = r->word_count > all->word_count ? r->word_count : all->word_count;
    uint64_t *words = ARENA_ARRAY(reader->arena, word_count, uint64_t);
    for (uint32_t i = 0; i < word_count; i++)
        words[i] =
            (i < r->word_count ? r->words[i] : 0) | (i < all->word_count ? all->words[i] : 0);
    all->words = words;
    all->word_count = word_count;
}

static bool sells_on_demand(const struct reader *reader,
                            const struct solver_requirements *requirements)
{
    const struct solver_requirement *r =
        solver_requirements_get(requirements, CATALOG_CAPACITY_TYPE);
    uint32_t on_demand = solver_names_find_value(reader->catalog->names, CATALOG_CAPACITY_TYPE,
                                                 "on-demand", strlen("on-demand"));
    return r == NULL || (on_demand != SOLVER_NONE &&
                         solver_requirement_has(reader->catalog->names, r, on_demand));
}

static bool read_offering(struct reader *reader, const struct node *offering,
                          struct solver_requirements *requirements, int64_t *usd_micro)
{
    if (!node_is(offering, NODE_MAP))
        return refuse_kind(reader, offering, "an offering", "a map");
    if (!read_price(reader, offering, usd_micro))
        return false;
    const struct node *list = find_member(offering, "requirements");
    if (list != NULL && !node_is(list, NODE_LIST))
        return refuse_kind(reader, list, "an offering's requirements", "a list of maps");
    for (size_t i = 0; i < node_count(list); i++) {
        const struct node *requirement = node_item(list, i);
        if (!node_is(requirement, NODE_MAP))
            return refuse_kind(reader, requirement, "an offering's requirement", "a map");
        if (!read_offering_requirement(reader, requirement, requirements))
            return false;
    }
    return true;
}

static bool read_offerings(struct reader *reader, const struct node *list,
                           struct instance_type *type)
{
    struct catalog *catalog = reader->catalog;
    struct solver_requirement zones = {.key = CATALOG_ZONE};
    struct solver_requirement capacity_types = {.key = CATALOG_CAPACITY_TYPE};
    type->usd_micro_per_hour = -1;
    for (size_t i = 0; i < node_count(list); i++) {
        struct solver_requirements requirements = {0};
        int64_t usd_micro = 0;
        uint32_t machines = 0;
        if (!read_offering(reader, node_item(list, i), &requirements, &usd_micro) ||
            !read_reservation_capacity(reader, node_item(list, i), &machines))
            return false;
        catalog_add_offering(catalog, (size_t)(type - catalog->types), &requirements, usd_micro,
                             machines);
        collect(reader, &requirements, CATALOG_ZONE, &zones);
        collect(reader, &requirements, CATALOG_CAPACITY_TYPE, &capacity_types);
        bool cheaper = type->usd_micro_per_hour < 0 || usd_micro < type->usd_micro_per_hour;
        if (usd_micro >= 0 && cheaper && sells_on_demand(reader, &requirements))
            type->usd_micro_per_hour = usd_micro;
    }
    solver_requirements_add(catalog->names, &type->requirements, zones, reader->arena);
    solver_requirements_add(catalog->names, &type->requirements, capacity_types, reader->arena);
    return true;
}

static bool read_type(struct reader *reader, struct instance_type *type)
{
    const struct node *node = reader->current.node, *architecture, *systems, *resources, *offerings;
    if (!find_needed(reader, node, "architecture", NODE_STRING, &architecture) ||
        !find_needed(reader, node, "operatingSystems", NODE_LIST, &systems) ||
        !find_needed(reader, node, "resources", NODE_MAP, &resources) ||
        !find_needed(reader, node, "offerings", NODE_LIST, &offerings))
        return false;
    struct catalog *catalog = reader->catalog;
    struct catalog_resources found = {0};
    struct text *system_texts;
    if (!read_strings(reader, systems, "operatingSystems", &system_texts) ||
        !read_resources(reader, resources, type, &found))
        return false;
    type->name = arena_text(reader->arena, reader->current.name);
    type->architecture = arena_text(reader->arena, node_string(architecture));
    catalog_set(catalog, type, CATALOG_TYPE, type->name);
    catalog_set(catalog, type, CATALOG_ARCH, type->architecture);
    catalog_set_list(catalog, type, CATALOG_OS, system_texts, node_count(systems));
    catalog_set_kwok_labels(catalog, type, &found);
    return read_offerings(reader, offerings, type);
}

static int compare_listed(const void *a_pointer, const void *b_pointer)
{
    const struct listed_type *a = a_pointer, *b = b_pointer;
    int order = text_compare(a->name, b->name);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/* The types of the file by name. */
static bool list_types(struct reader *reader, const struct node *root, struct listed_type **listed)
{
    size_t count = node_count(root);
    *listed = ARENA_ARRAY(reader->arena, count, struct listed_type);
    for (size_t i = 0; i < count; i++) {
        const struct node *node = node_item(root, i), *name;
        reader->current = (struct listed_type){.node = node, .index = i};
        if (!node_is(node, NODE_MAP))
            return refuse_kind(reader, node, "it", "a map");
        if (!find_needed(reader, node, "name", NODE_STRING, &name))
            return false;
        reader->current.name = node_string(name);
        if (reader->current.name.size == 0)
            return refuse(reader, name, "its name is empty");
        (*listed)[i] = reader->current;
    }
    qsort(*listed, count, sizeof **listed, compare_listed);
    for (size_t i = 1; i < count; i++) {
        struct listed_type *before = &(*listed)[i - 1];
        if (!text_equal(before->name, (*listed)[i].name))
            continue;
        reader->current = (*listed)[i];
        return refuse(reader, reader->current.node,
                      "type %zu has this name already; names must differ", before->index + 1);
    }
    return true;
}

bool catalog_read(struct source *source, struct arena *arena, const struct catalog **catalog,
                  struct error *error)
{
    const struct node *root;
    if (!doc_read_json(source, &doc_limits_manifest, NULL, arena, &root, error))
        return false;
    struct place top = source_place(source, arena, root->offset);
    if (!node_is(root, NODE_LIST))
        return error_set(error, ERROR_INPUT, top,
                         "the catalogue is %s; it must be a list of instance types, as Karpenter's "
                         "kwok provider reads it",
                         node_kind_name((enum node_kind)root->kind));
    size_t count = node_count(root);
    if (count == 0)
        return error_set(error, ERROR_INPUT, top, "the catalogue has no instance types");
    struct reader reader = {.source = source, .arena = arena, .error = error};
    struct listed_type *listed;
    if (!list_types(&reader, root, &listed))
        return false;
    reader.catalog = catalog_create(arena, count, false);
    for (size_t i = 0; i < count; i++) {
        reader.current = listed[i];
        if (!read_type(&reader, &reader.catalog->types[i]))
            return false;
    }
    catalog_index(reader.catalog);
    if (source->file != NULL)
        reader.catalog->prices.file = arena_text(arena, text_of(source->file));
    *catalog = reader.catalog;
    return true;
}

bool catalog_load(const char *file, struct arena *arena, const struct catalog **catalog,
                  struct error *error)
{
    if (file == NULL) {
        *catalog = catalog_builtin(arena);
        return true;
    }
    struct source *source = ARENA_NEW(arena, struct source);
    source->file = file;
    if (!file_read(file, doc_limits_manifest.bytes, arena, &source->text, error))
        return false;
    return prices_are_in(source->text) ? prices_read(source, arena, catalog, error)
                                       : catalog_read(source, arena, catalog, error);
}
