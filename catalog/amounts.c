/* What a node of an instance type has, and what it leaves to pods. */
#include <stdlib.h>
#include <string.h>

#include "catalog/build.h"
#include "catalog/builtin_data.h"
#include "catalog/node_class.h"

/* The amounts of a built-in type are those that Karpenter's AWS provider computes before it has
 * seen a node of the type, for an EC2NodeClass with these settings. */

enum {
    VM_OVERHEAD_PER_MILLE = 75, /* of memory: Karpenter's setting vmMemoryOverheadPercent */
    ARM64_RESERVED_MIB = 64,    /* contiguous memory that Graviton's kernel keeps */
    KUBELET_MIB = 255,
    KUBELET_MIB_PER_POD = 11,
    KUBELET_STORAGE_GIB = 1,
    EVICTION_MIB = 100,
    EVICTION_STORAGE_PERCENT = 10,
    PODS_WITHOUT_LIMIT = 110,
};

static int64_t kubelet_cpu_milli(int64_t cpu_milli)
{
    static const struct {
        int64_t from_milli, to_milli, per_myriad;
    } shares[] = {{0, 1000, 600}, {1000, 2000, 100}, {2000, 4000, 50}, {4000, INT64_MAX, 25}};
    int64_t reserved = 0;
    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        int64_t to = cpu_milli < shares[i].to_milli ? cpu_milli : shares[i].to_milli;
        if (to > shares[i].from_milli)
            reserved += (to - shares[i].from_milli) * shares[i].per_myriad / 10000;
    }
    return reserved;
}

static int64_t memory_capacity_mib(const struct catalog_row *row)
{
    bool arm64 = strcmp(row->architecture, "arm64") == 0;
    int64_t mib = (int64_t)row->memory_mib - (arm64 ? ARM64_RESERVED_MIB : 0);
    return mib - (mib * VM_OVERHEAD_PER_MILLE + 999) / 1000;
}

static int64_t devices(const struct catalog_device *device, const char *manufacturer)
{
    bool its = device->manufacturer != NULL && strcmp(device->manufacturer, manufacturer) == 0;
    return its ? device->count : 0;
}

static int64_t pod_count(const struct catalog_row *row, const struct class_settings *settings)
{
    int64_t count = settings->max_pods >= 0           ? settings->max_pods
                    : settings->interfaces_limit_pods ? row->max_pods
                                                      : PODS_WITHOUT_LIMIT;
    int64_t by_core = settings->pods_per_core * row->cpu;
    return settings->pods_per_core > 0 && by_core < count ? by_core : count;
}

static int64_t storage_bytes(const struct catalog_row *row, const struct class_settings *settings)
{
    const int64_t gigabyte = 1000000000;
    return settings->instance_store && row->local_nvme_gb > 0 ? row->local_nvme_gb * gigabyte
                                                              : settings->root_bytes;
}

/* The provider's own arithmetic, to the byte. */
static int64_t part_of(int64_t whole, double percent)
{
    double part = (double)whole / 100 * percent;
    int64_t below = (int64_t)part;
    return (double)below < part ? below + 1 : below;
}

static int64_t evicted_below(const struct eviction *eviction, int64_t whole, int64_t usual)
{
    if (!eviction->given)
        return usual;
    return eviction->percent_milli > 0 ? part_of(whole, (double)eviction->percent_milli / 1000)
                                       : eviction->bytes;
}

/* The amount that pods cannot use. */
static int64_t kept_back(const struct class_settings *settings, size_t resource, int64_t usual)
{
    int64_t kubelet = settings->kube_reserved[resource];
    return (kubelet >= 0 ? kubelet : usual) + settings->system_reserved[resource];
}

static void add(struct catalog_amounts *amounts, const char *resource, int64_t capacity,
                int64_t reserved, struct arena *arena)
{
    if (capacity > 0)
        *LIST_PUSH(arena, amounts) = (struct catalog_amount){
            .resource = resource,
            .capacity = capacity,
            .allocatable = capacity - reserved,
        };
}

static struct catalog_amounts reckon(const struct catalog_row *row,
                                     const struct class_settings *settings, struct arena *arena)
{
    const int64_t mib = 1 << 20, gib = 1 << 30, pods = pod_count(row, settings);
    int64_t cpu_milli = (int64_t)row->cpu * 1000;
    int64_t memory = memory_capacity_mib(row) * mib, storage = storage_bytes(row, settings);
    int64_t addressed = settings->memory_by_interfaces ? row->max_pods : pods;
    int64_t kubelet_memory = (KUBELET_MIB + KUBELET_MIB_PER_POD * addressed) * mib;
    int64_t memory_kept = kept_back(settings, RESERVED_MEMORY, kubelet_memory) +
                          evicted_below(&settings->memory, memory, EVICTION_MIB * mib);
    int64_t storage_kept =
        kept_back(settings, RESERVED_STORAGE, KUBELET_STORAGE_GIB * gib) +
        evicted_below(&settings->storage, storage, part_of(storage, EVICTION_STORAGE_PERCENT));
    struct catalog_amounts amounts = {0};
    add(&amounts, "amd.com/gpu", devices(&row->gpu, "amd"), 0, arena);
    add(&amounts, "aws.amazon.com/neuron", devices(&row->accelerator, "aws"), 0, arena);
    add(&amounts, "aws.amazon.com/neuroncore", row->neuron_cores, 0, arena);
    add(&amounts, "cpu", cpu_milli, kept_back(settings, RESERVED_CPU, kubelet_cpu_milli(cpu_milli)),
        arena);
    add(&amounts, "ephemeral-storage", storage, storage_kept, arena);
    add(&amounts, "habana.ai/gaudi", devices(&row->gpu, "habana"), 0, arena);
    add(&amounts, "memory", memory, memory_kept, arena);
    add(&amounts, "nvidia.com/gpu", devices(&row->gpu, "nvidia"), 0, arena);
    add(&amounts, "pods", pods, 0, arena);
    if (settings->windows_build != NULL && strcmp(row->architecture, "amd64") == 0)
        add(&amounts, "vpc.amazonaws.com/PrivateIPv4Address", (int64_t)row->interface_addresses - 1,
            0, arena);
    add(&amounts, "vpc.amazonaws.com/efa", row->efas, 0, arena);
    add(&amounts, "vpc.amazonaws.com/pod-eni", row->branch_interfaces, 0, arena);
    catalog_amounts_settle(&amounts);
    return amounts;
}

struct catalog_amounts catalog_class_amounts(const struct catalog *catalog, size_t index,
                                             const struct class_settings *settings,
                                             struct arena *arena)
{
    if (!catalog->is_builtin)
        return catalog->amounts[index];
    const struct catalog_row *row = &catalog_rows[index];
    bool makes_nodes = row->architecture != NULL && strncmp(row->name, "mac", 3) != 0;
    return makes_nodes ? reckon(row, settings == NULL ? &usual_settings : settings, arena)
                       : (struct catalog_amounts){0};
}

struct catalog_amounts catalog_type_amounts(const struct catalog *catalog, size_t index,
                                            struct arena *arena)
{
    return catalog_class_amounts(catalog, index, NULL, arena);
}

static int compare_row(const void *name_pointer, const void *row_pointer)
{
    const struct text *name = name_pointer;
    const struct catalog_row *row = row_pointer;
    return text_compare(*name, text_of(row->name));
}

/* A user's type is the EC2 type of its name. */
uint32_t catalog_attach_limit(const struct catalog *catalog, size_t index)
{
    const struct catalog_row *row = bsearch(&catalog->types[index].name, catalog_rows,
                                            catalog_row_count, sizeof *catalog_rows, compare_row);
    return row != NULL && row->attach_limit > 1 ? row->attach_limit - 1 : 0;
}
