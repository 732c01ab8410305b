/* The table that scripts/catalog writes. */
#ifndef TAFFRAIL_CATALOG_BUILTIN_DATA_H
#define TAFFRAIL_CATALOG_BUILTIN_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CATALOG_UNKNOWN (-1)

struct catalog_device {
    const char *name,
        *manufacturer;          /* name NULL: none; or not known, when there is a manufacturer */
    uint32_t count, memory_mib; /* count 0 of a named GPU: a fraction of one */
};

/* Pods, attachments and memory are before the node's own reserve. */
struct catalog_row {
    const char *name;
    const char
        *architecture; /* NULL: the hardware is not known, and only the fields after it are */
    uint32_t cpu, memory_mib;
    const char *cpu_manufacturer;                         /* NULL: not known */
    const char *hypervisor;                               /* "": bare metal; NULL: not known */
    int32_t encryption_in_transit;                        /* 0, 1 or unknown */
    int32_t network_mbps, ebs_mbps;                       /* 0: none is stated; or unknown */
    int32_t local_nvme_gb;                                /* 0: has none; or unknown */
    uint32_t max_pods, interface_addresses, attach_limit; /* 0: not known */
    bool attach_limit_is_shared;                          /* with network interfaces */
    uint32_t branch_interfaces, efas;
    int64_t usd_micro_per_hour; /* -1: not known */
    struct catalog_device gpu, accelerator;
    uint32_t neuron_cores;
};

/* Sorted by name, bytewise. */
extern const struct catalog_row catalog_rows[];
extern const size_t catalog_row_count;

#endif
