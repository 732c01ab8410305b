/* The output of `taffrail catalog`. */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "catalog/catalog.h"
#include "cli/catalog.h"
#include "report/report.h"

enum { CELL_BYTES = 96 };

enum column {
    COLUMN_NAME,
    COLUMN_ARCH,
    COLUMN_CPU,
    COLUMN_MEMORY,
    COLUMN_DEVICES,
    COLUMN_GENERATION,
    COLUMN_PRICE,
    COLUMN_COUNT
};

static const struct {
    const char *title;
    bool right; /* numbers are aligned */
} columns[COLUMN_COUNT] = {
    {"NAME", false}, {"ARCH", false},      {"CPU", true},   {"GIB", true},
    {"GPUS", false}, {"GENERATION", true}, {"USD/H", true},
};

struct row {
    char cells[COLUMN_COUNT][CELL_BYTES];
};

/* The only value of a type's label; empty when there is none, or more than one. */
static struct text label_value(const struct catalog *catalog, const struct instance_type *type,
                               const char *key_text)
{
    const struct solver_names *names = catalog_names(catalog);
    uint32_t key = solver_names_find_key(names, key_text, strlen(key_text));
    const struct solver_requirement *r =
        key == SOLVER_NONE ? NULL : solver_requirements_get(&type->requirements, key);
    struct text found = {0};
    if (r == NULL || solver_requirement_op(r) != SOLVER_IN)
        return found;
    for (uint32_t value = 0; value < solver_names_value_count(names, key); value++)
        if (solver_requirement_has(names, r, value))
            found.data = solver_names_value_text(names, key, value, &found.size);
    return found;
}

/* Four decimals, so that the points are aligned. */
static void format_price(int64_t usd_micro, char *cell, size_t size)
{
    int64_t rounded = (usd_micro + 50) / 100;
    snprintf(cell, size, "%lld.%04lld", (long long)(rounded / 10000), (long long)(rounded % 10000));
}

static void format_memory(uint64_t memory_mib, char *cell, size_t size)
{
    if (memory_mib % 1024 == 0)
        snprintf(cell, size, "%llu", (unsigned long long)(memory_mib / 1024));
    else
        snprintf(cell, size, "%.2f", (double)memory_mib / 1024);
}

/* "4 t4", "<1 l4" for a part of one, "16 trainium". */
static void format_devices(const struct catalog *catalog, const struct instance_type *type,
                           char *cell, size_t size)
{
    const char *prefix = type->has_gpu ? "karpenter.k8s.aws/instance-gpu-"
                                       : "karpenter.k8s.aws/instance-accelerator-";
    char key[64];
    snprintf(key, sizeof key, "%sname", prefix);
    struct text name = label_value(catalog, type, key);
    snprintf(key, sizeof key, "%scount", prefix);
    struct text count = label_value(catalog, type, key);
    if (!instance_type_is_accelerated(type))
        snprintf(cell, size, "-");
    else if (type->has_gpu && type->gpu_count > 0)
        snprintf(cell, size, "%u %.*s", type->gpu_count, TEXT_ARGS(name));
    else if (text_is(count, "0"))
        snprintf(cell, size, "<1 %.*s", TEXT_ARGS(name));
    else if (count.size > 0)
        snprintf(cell, size, "%.*s %.*s", TEXT_ARGS(count), TEXT_ARGS(name));
    else
        snprintf(cell, size, "?");
}

static void format_row(const struct catalog *catalog, const struct instance_type *type,
                       struct row *row)
{
    bool known = type->cpu > 0;
    snprintf(row->cells[COLUMN_NAME], CELL_BYTES, "%.*s", TEXT_ARGS(type->name));
    snprintf(row->cells[COLUMN_ARCH], CELL_BYTES, "%s", "?");
    if (type->architecture.size > 0)
        snprintf(row->cells[COLUMN_ARCH], CELL_BYTES, "%.*s", TEXT_ARGS(type->architecture));
    snprintf(row->cells[COLUMN_CPU], CELL_BYTES, "%s", "?");
    snprintf(row->cells[COLUMN_MEMORY], CELL_BYTES, "%s", "?");
    if (known) {
        snprintf(row->cells[COLUMN_CPU], CELL_BYTES, "%u", type->cpu);
        format_memory(type->memory_mib, row->cells[COLUMN_MEMORY], CELL_BYTES);
    }
    format_devices(catalog, type, row->cells[COLUMN_DEVICES], CELL_BYTES);
    snprintf(row->cells[COLUMN_GENERATION], CELL_BYTES, "%s", "-");
    if (type->generation > 0)
        snprintf(row->cells[COLUMN_GENERATION], CELL_BYTES, "%u", type->generation);
    snprintf(row->cells[COLUMN_PRICE], CELL_BYTES, "%s", "-");
    if (type->usd_micro_per_hour >= 0)
        format_price(type->usd_micro_per_hour, row->cells[COLUMN_PRICE], CELL_BYTES);
}

static void print_row(const struct row *row, const size_t *widths)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        int width = (int)widths[i];
        bool last = i + 1 == COLUMN_COUNT;
        if (columns[i].right)
            printf("%*s%s", width, row->cells[i], last ? "\n" : "  ");
        else
            printf("%-*s%s", width, row->cells[i], last ? "\n" : "  ");
    }
}

void catalog_print_table(const struct catalog *catalog, const struct type_set *types,
                         struct arena *arena)
{
    struct row row = {0};
    size_t widths[COLUMN_COUNT] = {0}, count = type_set_count(types);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        widths[i] = strlen(columns[i].title);
    FOR_TYPES(type, types) {
        format_row(catalog, catalog_type(catalog, type), &row);
        for (size_t i = 0; i < COLUMN_COUNT; i++)
            if (strlen(row.cells[i]) > widths[i])
                widths[i] = strlen(row.cells[i]);
    }
    if (count > 0) {
        for (size_t i = 0; i < COLUMN_COUNT; i++)
            snprintf(row.cells[i], CELL_BYTES, "%s", columns[i].title);
        print_row(&row, widths);
    }
    FOR_TYPES(type, types) {
        format_row(catalog, catalog_type(catalog, type), &row);
        print_row(&row, widths);
    }
    fprintf(stderr, "%zu of %zu instance types\n", count, catalog_count(catalog));
    fprintf(stderr, "USD/H: %.*s\n", TEXT_ARGS(catalog_prices_title(catalog, arena)));
}

/* "1930m" of cpu, "6903Mi" of what is counted in bytes, "29" of the rest. */
static void format_quantity(const char *resource, int64_t quantity, char *cell, size_t size)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti"};
    bool bytes = strcmp(resource, "memory") == 0 || strcmp(resource, "ephemeral-storage") == 0 ||
                 strncmp(resource, "hugepages-", strlen("hugepages-")) == 0;
    size_t unit = 0;
    if (strcmp(resource, "cpu") == 0 && quantity % 1000 != 0) {
        snprintf(cell, size, "%lldm", (long long)quantity);
        return;
    }
    if (strcmp(resource, "cpu") == 0)
        quantity /= 1000;
    for (; bytes && quantity > 0 && quantity % 1024 == 0 && unit + 1 < COUNT_OF(units); unit++)
        quantity /= 1024;
    snprintf(cell, size, "%lld%s", (long long)quantity, units[unit]);
}

static void print_amounts(const struct catalog *catalog, size_t type, struct arena *arena)
{
    struct catalog_amounts amounts = catalog_type_amounts(catalog, type, arena);
    uint32_t volumes = catalog_attach_limit(catalog, type);
    for (size_t i = 0; i < amounts.count; i++) {
        const struct catalog_amount *amount = &amounts.items[i];
        char cell[CELL_BYTES];
        format_quantity(amount->resource, amount->allocatable, cell, sizeof cell);
        printf("%s%s %s%s", i == 0 ? "  leaves to pods: " : ", ", amount->resource, cell,
               i + 1 == amounts.count ? "\n" : "");
    }
    if (volumes > 0)
        printf("  attaches at most %u EBS volumes beside its root volume\n", volumes);
}

static void print_labels(const struct catalog *catalog, const struct instance_type *type)
{
    const struct solver_names *names = catalog_names(catalog);
    for (size_t i = 0; i < type->requirements.count; i++) {
        const struct solver_requirement *r = &type->requirements.items[i];
        enum solver_op op = solver_requirement_op(r);
        if (op == SOLVER_DOES_NOT_EXIST)
            continue;
        size_t size = 0;
        const char *text = solver_names_key_text(names, r->key, &size);
        printf("  %.*s:", (int)size, text);
        const char *separator = " ";
        for (uint32_t value = 0; op == SOLVER_IN && value < solver_names_value_count(names, r->key);
             value++)
            if (solver_requirement_has(names, r, value)) {
                text = solver_names_value_text(names, r->key, value, &size);
                printf("%s%.*s", separator, size > 0 ? (int)size : 2, size > 0 ? text : "\"\"");
                separator = ", ";
            }
        printf("%s\n", op == SOLVER_IN ? "" : " (not known which)");
    }
}

void catalog_print_details(const struct catalog *catalog, const struct type_set *types,
                           struct arena *arena)
{
    bool first = true;
    FOR_TYPES(i, types) {
        const struct instance_type *type = catalog_type(catalog, i);
        struct row row = {0};
        format_row(catalog, type, &row);
        printf("%s%s\n", first ? "" : "\n", row.cells[COLUMN_NAME]);
        first = false;
        if (type->cpu == 0)
            printf("  its hardware is not known; these labels follow from its name\n");
        else
            printf("  %s CPU%s, %s GiB, %s\n", row.cells[COLUMN_CPU], type->cpu == 1 ? "" : "s",
                   row.cells[COLUMN_MEMORY], row.cells[COLUMN_ARCH]);
        if (instance_type_is_accelerated(type))
            printf("  accelerators: %s\n", row.cells[COLUMN_DEVICES]);
        if (type->usd_micro_per_hour >= 0)
            printf("  %s USD an hour (%.*s)\n", row.cells[COLUMN_PRICE],
                   TEXT_ARGS(catalog_prices_title(catalog, arena)));
        print_amounts(catalog, i, arena);
        print_labels(catalog, type);
    }
}

static struct json_object *values_json(const struct solver_names *names,
                                       const struct solver_requirement *r)
{
    if (solver_requirement_op(r) != SOLVER_IN)
        return NULL;
    struct json_object *values = json_object_new_array();
    for (uint32_t value = 0; value < solver_names_value_count(names, r->key); value++)
        if (solver_requirement_has(names, r, value)) {
            struct text text;
            text.data = solver_names_value_text(names, r->key, value, &text.size);
            json_object_array_add(values, json_of_text(text));
        }
    return values;
}

/* null means that a label's value is unknown. */
static struct json_object *labels_json(const struct catalog *catalog,
                                       const struct instance_type *type)
{
    const struct solver_names *names = catalog_names(catalog);
    struct json_object *labels = json_object_new_object();
    for (size_t i = 0; i < type->requirements.count; i++) {
        const struct solver_requirement *r = &type->requirements.items[i];
        if (solver_requirement_op(r) == SOLVER_DOES_NOT_EXIST)
            continue;
        char key[320];
        size_t size = 0;
        const char *text = solver_names_key_text(names, r->key, &size);
        snprintf(key, sizeof key, "%.*s", (int)size, text);
        json_object_object_add(labels, key, values_json(names, r));
    }
    return labels;
}

static struct json_object *text_or_null(struct text t)
{
    return t.size > 0 ? json_of_text(t) : NULL;
}

static struct json_object *quantity_json(const char *resource, int64_t quantity)
{
    char cell[CELL_BYTES];
    format_quantity(resource, quantity, cell, sizeof cell);
    return json_object_new_string(cell);
}

static struct json_object *amounts_json(const struct catalog_amounts *amounts, bool allocatable)
{
    if (amounts->count == 0)
        return NULL;
    struct json_object *map = json_object_new_object();
    for (size_t i = 0; i < amounts->count; i++) {
        const struct catalog_amount *amount = &amounts->items[i];
        int64_t quantity = allocatable ? amount->allocatable : amount->capacity;
        json_object_object_add(map, amount->resource, quantity_json(amount->resource, quantity));
    }
    return map;
}

static struct json_object *type_json(const struct catalog *catalog, size_t index,
                                     const struct catalog_amounts *amounts)
{
    const struct instance_type *type = catalog_type(catalog, index);
    uint32_t volumes = catalog_attach_limit(catalog, index);
    struct json_object *map = json_object_new_object();
    bool known = type->cpu > 0;
    json_object_object_add(map, "name", json_of_text(type->name));
    json_object_object_add(map, "architecture", text_or_null(type->architecture));
    json_object_object_add(map, "cpu", known ? json_object_new_int64(type->cpu) : NULL);
    json_object_object_add(map, "memoryMiB",
                           known ? json_object_new_int64((int64_t)type->memory_mib) : NULL);
    json_object_object_add(map, "gpus", known ? json_object_new_int64(type->gpu_count) : NULL);
    json_object_object_add(map, "hasGpu", json_object_new_boolean(type->has_gpu));
    json_object_object_add(map, "hasAccelerator", json_object_new_boolean(type->has_accelerator));
    json_object_object_add(map, "category", text_or_null(type->category));
    json_object_object_add(map, "family", text_or_null(type->family));
    json_object_object_add(map, "generation",
                           type->generation > 0 ? json_object_new_int64(type->generation) : NULL);
    json_object_object_add(map, "size", text_or_null(type->size));
    json_add_usd(map, "usdPerHour", type->usd_micro_per_hour);
    json_object_object_add(map, "capacity", amounts_json(amounts, false));
    json_object_object_add(map, "allocatable", amounts_json(amounts, true));
    json_object_object_add(map, "ebsVolumes", volumes > 0 ? json_object_new_int64(volumes) : NULL);
    json_object_object_add(map, "labels", labels_json(catalog, type));
    return map;
}

bool catalog_print_json(const struct catalog *catalog, const struct type_set *types,
                        struct arena *arena, struct error *error)
{
    /* Before there is an object of json-c: no arena call may follow. */
    size_t count = catalog_count(catalog);
    struct catalog_amounts *amounts = ARENA_ARRAY(arena, count, struct catalog_amounts);
    FOR_TYPES(i, types)
        amounts[i] = catalog_type_amounts(catalog, i, arena);
    struct json_object *root = json_object_new_object(), *list = json_object_new_array();
    json_object_object_add(root, "schema", json_object_new_string("taffrail.dev/catalog/v1"));
    json_object_object_add(root, "prices", json_of_prices(catalog));
    json_object_object_add(root, "types", list);
    FOR_TYPES(i, types)
        json_object_array_add(list, type_json(catalog, i, &amounts[i]));
    json_object_object_add(root, "count", json_object_new_int64((int64_t)type_set_count(types)));
    json_object_object_add(root, "total", json_object_new_int64((int64_t)count));
    struct text printed;
    if (!json_print(root, true, arena, &printed, error))
        return false;
    printf("%.*s\n", TEXT_ARGS(printed));
    return true;
}
