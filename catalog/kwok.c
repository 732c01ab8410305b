/* Labels and amounts, derived as Karpenter's kwok provider derives them. */
#include <stdlib.h>
#include <string.h>

#include "catalog/build.h"
#include "catalog/catalog.h"
#include "kube/quantity.h"

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_ec2_size(struct text size)
{
    static const char *const sizes[] = {"nano", "micro", "small", "medium", "large", "metal"};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        if (text_is(size, sizes[i]))
            return true;
    size_t digits = text_leading_digits(size);
    return text_is((struct text){size.data + digits, size.size - digits}, "xlarge");
}

/* This provider reads names in another way than the AWS provider: an EC2 size after a plain word
 * and a dot, else the number of CPUs. */
static struct text kwok_size(struct text name, struct text cpu)
{
    struct text before, after;
    if (!text_split(name, '.', &before, &after) || before.size == 0 || !is_ec2_size(after))
        return cpu;
    for (size_t i = 0; i < before.size; i++)
        if (!is_word_byte(before.data[i]))
            return cpu;
    return after;
}

/* The part before the first dot or dash, else the first letter. */
static struct text kwok_family(struct text name)
{
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] == '.' || name.data[i] == '-')
            return (struct text){name.data, i};
    return (struct text){name.data, 1};
}

static uint32_t to_count(uint64_t count)
{
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static void set_devices(struct instance_type *type, const struct catalog_resources *resources)
{
    type->gpu_count = to_count(resources->nvidia + resources->amd + resources->gaudi);
    type->neuron_count = to_count(resources->neuron);
    type->has_gpu = type->gpu_count > 0 || resources->any_nvidia || resources->any_amd;
    type->has_accelerator = resources->neuron > 0 || resources->any_neuron || resources->gaudi > 0;
    type->devices =
        (resources->any_nvidia ? DEVICE_BIT(DEVICE_NVIDIA) : 0) |
        (resources->any_amd ? DEVICE_BIT(DEVICE_AMD) : 0) |
        (resources->gaudi > 0 ? DEVICE_BIT(DEVICE_GAUDI) : 0) |
        (resources->neuron > 0 || resources->any_neuron ? DEVICE_BIT(DEVICE_NEURON) : 0);
}

static void set_gpu_labels(struct catalog *catalog, struct instance_type *type,
                           const struct catalog_resources *resources)
{
    if (!type->has_gpu) {
        catalog_set_absent(catalog, type, CATALOG_GPU_NAME);
        catalog_set_absent(catalog, type, CATALOG_GPU_MANUFACTURER);
        catalog_set_absent(catalog, type, CATALOG_GPU_COUNT);
        catalog_set_absent(catalog, type, CATALOG_GPU_MEMORY);
        return;
    }
    const char *manufacturer = resources->any_nvidia ? "nvidia"
                               : resources->any_amd  ? "amd"
                                                     : "habana";
    catalog_set_any(catalog, type, CATALOG_GPU_NAME);
    catalog_set(catalog, type, CATALOG_GPU_MANUFACTURER, text_of(manufacturer));
    catalog_set_number(catalog, type, CATALOG_GPU_COUNT, type->gpu_count);
    catalog_set_any(catalog, type, CATALOG_GPU_MEMORY);
}

static void set_accelerator_labels(struct catalog *catalog, struct instance_type *type,
                                   const struct catalog_resources *resources)
{
    if (resources->neuron == 0 && !resources->any_neuron) {
        catalog_set_absent(catalog, type, CATALOG_ACCELERATOR_NAME);
        catalog_set_absent(catalog, type, CATALOG_ACCELERATOR_MANUFACTURER);
        catalog_set_absent(catalog, type, CATALOG_ACCELERATOR_COUNT);
        return;
    }
    catalog_set_any(catalog, type, CATALOG_ACCELERATOR_NAME);
    catalog_set(catalog, type, CATALOG_ACCELERATOR_MANUFACTURER, TEXT("aws"));
    if (resources->neuron > 0)
        catalog_set_number(catalog, type, CATALOG_ACCELERATOR_COUNT, resources->neuron);
    else
        catalog_set_any(catalog, type, CATALOG_ACCELERATOR_COUNT);
}

void catalog_set_kwok_labels(struct catalog *catalog, struct instance_type *type,
                             const struct catalog_resources *resources)
{
    struct text cpu = quantity_canonical(resources->cpu, catalog->arena);
    catalog_set(catalog, type, CATALOG_KWOK_SIZE, kwok_size(type->name, cpu));
    catalog_set(catalog, type, CATALOG_KWOK_FAMILY, kwok_family(type->name));
    catalog_set(catalog, type, CATALOG_KWOK_CPU, cpu);
    catalog_set(catalog, type, CATALOG_KWOK_MEMORY,
                quantity_canonical(resources->memory, catalog->arena));
    set_devices(type, resources);
    if (!catalog_set_name_labels(catalog, type))
        return;
    catalog_set_number(catalog, type, CATALOG_CPU, type->cpu);
    catalog_set_number(catalog, type, CATALOG_MEMORY, type->memory_mib);
    set_gpu_labels(catalog, type, resources);
    set_accelerator_labels(catalog, type, resources);
}

static int compare_amounts(const void *a_pointer, const void *b_pointer)
{
    const struct catalog_amount *a = a_pointer, *b = b_pointer;
    return strcmp(a->resource, b->resource);
}

static struct catalog_amount *find_amount(struct catalog_amounts *amounts, const char *resource)
{
    for (size_t i = 0; i < amounts->count; i++)
        if (strcmp(amounts->items[i].resource, resource) == 0)
            return &amounts->items[i];
    return NULL;
}

static void reserve(struct catalog_amounts *amounts, const char *resource, int64_t quantity)
{
    struct catalog_amount *amount = find_amount(amounts, resource);
    if (amount != NULL)
        amount->allocatable -= quantity;
}

/* Huge pages are taken from memory, down to nothing. */
static void reserve_huge_pages(struct catalog_amounts *amounts)
{
    struct catalog_amount *memory = find_amount(amounts, "memory");
    for (size_t i = 0; memory != NULL && i < amounts->count; i++) {
        if (!text_starts_with(text_of(amounts->items[i].resource), TEXT("hugepages-")))
            continue;
        int64_t left = memory->allocatable - amounts->items[i].capacity;
        memory->allocatable = left > 0 ? left : 0;
    }
}

void catalog_amounts_settle(struct catalog_amounts *amounts)
{
    bool overdrawn = false;
    for (size_t i = 0; i < amounts->count; i++)
        overdrawn = overdrawn || amounts->items[i].allocatable < 0;
    for (size_t i = 0; overdrawn && i < amounts->count; i++)
        amounts->items[i].allocatable = 0;
}

void catalog_reckon_kwok(struct catalog_amounts *amounts, struct arena *arena)
{
    enum { PODS = 110, CPU_MILLI = 100, MEMORY_BYTES = 10 << 20 };
    if (find_amount(amounts, "pods") == NULL)
        *LIST_PUSH(arena, amounts) = (struct catalog_amount){.resource = "pods", .capacity = PODS};
    qsort(amounts->items, amounts->count, sizeof *amounts->items, compare_amounts);
    for (size_t i = 0; i < amounts->count; i++)
        amounts->items[i].allocatable = amounts->items[i].capacity;
    reserve(amounts, "cpu", CPU_MILLI);
    reserve(amounts, "memory", MEMORY_BYTES);
    reserve_huge_pages(amounts);
    catalog_amounts_settle(amounts);
}
