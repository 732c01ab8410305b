/* The built-in catalogue: types from the generated table. */
#include "catalog/build.h"
#include "catalog/builtin_data.h"
#include "catalog/catalog.h"

static void set_or_absent(struct catalog *catalog, struct instance_type *type,
                          enum catalog_label label, int32_t figure)
{
    if (figure > 0)
        catalog_set_number(catalog, type, label, (uint64_t)figure);
    else if (figure != CATALOG_UNKNOWN)
        catalog_set_absent(catalog, type, label);
}

static device_set device_of_manufacturer(const char *manufacturer)
{
    static const char *const manufacturers[DEVICE_COUNT] = {
        [DEVICE_NVIDIA] = "nvidia",
        [DEVICE_AMD] = "amd",
        [DEVICE_GAUDI] = "habana",
        [DEVICE_NEURON] = "aws",
    };
    for (int i = 0; i < DEVICE_COUNT; i++)
        if (text_is(text_of(manufacturer), manufacturers[i]))
            return DEVICE_BIT(i);
    return 0;
}

static void set_gpu_labels(struct catalog *catalog, struct instance_type *type,
                           const struct catalog_device *gpu)
{
    if (gpu->name == NULL) {
        catalog_set_absent(catalog, type, CATALOG_GPU_NAME);
        catalog_set_absent(catalog, type, CATALOG_GPU_MANUFACTURER);
        catalog_set_absent(catalog, type, CATALOG_GPU_COUNT);
        catalog_set_absent(catalog, type, CATALOG_GPU_MEMORY);
        return;
    }
    type->has_gpu = true;
    type->gpu_count = gpu->count;
    /* EC2 lists Gaudi as a GPU, and so does Karpenter. */
    type->has_accelerator = text_is(text_of(gpu->manufacturer), "habana");
    type->devices |= device_of_manufacturer(gpu->manufacturer);
    catalog_set(catalog, type, CATALOG_GPU_NAME, text_of(gpu->name));
    catalog_set(catalog, type, CATALOG_GPU_MANUFACTURER, text_of(gpu->manufacturer));
    catalog_set_number(catalog, type, CATALOG_GPU_COUNT, gpu->count);
    catalog_set_number(catalog, type, CATALOG_GPU_MEMORY, gpu->memory_mib);
}

static void set_accelerator_labels(struct catalog *catalog, struct instance_type *type,
                                   const struct catalog_device *accelerator)
{
    if (accelerator->count == 0) {
        catalog_set_absent(catalog, type, CATALOG_ACCELERATOR_NAME);
        catalog_set_absent(catalog, type, CATALOG_ACCELERATOR_MANUFACTURER);
        catalog_set_absent(catalog, type, CATALOG_ACCELERATOR_COUNT);
        return;
    }
    type->has_accelerator = true;
    type->devices |= device_of_manufacturer(accelerator->manufacturer);
    if (accelerator->name != NULL)
        catalog_set(catalog, type, CATALOG_ACCELERATOR_NAME, text_of(accelerator->name));
    else
        catalog_set_any(catalog, type, CATALOG_ACCELERATOR_NAME);
    catalog_set(catalog, type, CATALOG_ACCELERATOR_MANUFACTURER,
                text_of(accelerator->manufacturer));
    catalog_set_number(catalog, type, CATALOG_ACCELERATOR_COUNT, accelerator->count);
    type->neuron_count = accelerator->count;
}

/* Mac instances run macOS alone: no node can be made of one, and Karpenter does not list them. */
static void set_platform_labels(struct catalog *catalog, struct instance_type *type)
{
    static const struct text systems[] = {{"linux", 5}, {"windows", 7}};
    if (text_starts_with(type->name, TEXT("mac"))) {
        catalog_set_absent(catalog, type, CATALOG_ARCH);
        catalog_set_absent(catalog, type, CATALOG_OS);
        return;
    }
    catalog_set(catalog, type, CATALOG_ARCH, type->architecture);
    bool runs_windows = text_is(type->architecture, "amd64");
    catalog_set_list(catalog, type, CATALOG_OS, systems, runs_windows ? 2 : 1);
}

static void set_hardware_labels(struct catalog *catalog, struct instance_type *type,
                                const struct catalog_row *row)
{
    static const struct text tenancies[] = {{"default", 7}, {"dedicated", 9}};
    set_platform_labels(catalog, type);
    catalog_set_number(catalog, type, CATALOG_CPU, row->cpu);
    catalog_set_number(catalog, type, CATALOG_MEMORY, row->memory_mib);
    if (row->cpu_manufacturer != NULL)
        catalog_set(catalog, type, CATALOG_CPU_MANUFACTURER, text_of(row->cpu_manufacturer));
    if (row->hypervisor != NULL)
        catalog_set(catalog, type, CATALOG_HYPERVISOR, text_of(row->hypervisor));
    if (row->encryption_in_transit != CATALOG_UNKNOWN)
        catalog_set(catalog, type, CATALOG_ENCRYPTION,
                    text_of(row->encryption_in_transit != 0 ? "true" : "false"));
    catalog_set_list(catalog, type, CATALOG_TENANCY, tenancies, 2);
    set_or_absent(catalog, type, CATALOG_NETWORK_BANDWIDTH, row->network_mbps);
    set_or_absent(catalog, type, CATALOG_EBS_BANDWIDTH, row->ebs_mbps);
    set_or_absent(catalog, type, CATALOG_LOCAL_NVME, row->local_nvme_gb);
    set_gpu_labels(catalog, type, &row->gpu);
    set_accelerator_labels(catalog, type, &row->accelerator);
}

/* If a type's hardware is not known, its category still names its purpose. */
static void guess_devices(struct instance_type *type)
{
    static const struct {
        const char *category;
        bool has_gpu, has_accelerator;
        enum device device;
    } made_for[] = {
        {"g", true, false, DEVICE_NVIDIA},   {"gr", true, false, DEVICE_NVIDIA},
        {"p", true, false, DEVICE_NVIDIA},   {"inf", false, true, DEVICE_NEURON},
        {"trn", false, true, DEVICE_NEURON},
    };
    for (size_t i = 0; i < COUNT_OF(made_for); i++)
        if (text_is(type->category, made_for[i].category)) {
            type->has_gpu = made_for[i].has_gpu;
            type->has_accelerator = made_for[i].has_accelerator;
            type->devices = DEVICE_BIT(made_for[i].device);
        }
}

/* A growing list leaves its old copy in the arena, so most types would need twice the memory. */
static void reserve_labels(struct catalog *catalog, struct instance_type *type)
{
    enum { LABELS_OF_AWS = CATALOG_KWOK_SIZE };
    type->requirements.items =
        ARENA_ARRAY(catalog->arena, LABELS_OF_AWS, struct solver_requirement);
    type->requirements.capacity = LABELS_OF_AWS;
}

static void fill(struct catalog *catalog, struct instance_type *type, const struct catalog_row *row)
{
    type->name = text_of(row->name);
    type->architecture = text_of(row->architecture);
    type->cpu = row->cpu;
    type->memory_mib = row->memory_mib;
    type->usd_micro_per_hour = row->usd_micro_per_hour;
    type->spot_usd_micro_per_hour = -1;
    reserve_labels(catalog, type);
    catalog_set(catalog, type, CATALOG_TYPE, type->name);
    (void)catalog_set_name_labels(catalog, type);
    if (row->architecture != NULL)
        set_hardware_labels(catalog, type, row);
    else
        guess_devices(type);
}

struct catalog *catalog_builtin_create(struct arena *arena)
{
    struct catalog *catalog = catalog_create(arena, catalog_row_count, true);
    catalog->prices = (struct catalog_prices){TEXT("us-east-1"), TEXT("2026-07"), TEXT(""), true};
    for (size_t i = 0; i < catalog_row_count; i++)
        fill(catalog, &catalog->types[i], &catalog_rows[i]);
    catalog_index(catalog);
    return catalog;
}

const struct catalog *catalog_builtin(struct arena *arena)
{
    return catalog_builtin_create(arena);
}
