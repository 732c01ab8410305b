/* The inside of the catalogue: builtin.c and read.c fill it, and catalog.c searches it. */
#ifndef TAFFRAIL_CATALOG_BUILD_H
#define TAFFRAIL_CATALOG_BUILD_H

#include "catalog/catalog.h"

/* The labels of a type that this code derives itself. */
enum catalog_label {
    CATALOG_TYPE,
    CATALOG_ARCH,
    CATALOG_OS,
    CATALOG_ZONE,
    CATALOG_CAPACITY_TYPE,
    CATALOG_CATEGORY,
    CATALOG_FAMILY,
    CATALOG_GENERATION,
    CATALOG_SIZE,
    CATALOG_FLEX,
    CATALOG_CPU,
    CATALOG_CPU_MANUFACTURER,
    CATALOG_MEMORY,
    CATALOG_HYPERVISOR,
    CATALOG_ENCRYPTION,
    CATALOG_TENANCY,
    CATALOG_NETWORK_BANDWIDTH,
    CATALOG_EBS_BANDWIDTH,
    CATALOG_LOCAL_NVME,
    CATALOG_GPU_NAME,
    CATALOG_GPU_MANUFACTURER,
    CATALOG_GPU_COUNT,
    CATALOG_GPU_MEMORY,
    CATALOG_ACCELERATOR_NAME,
    CATALOG_ACCELERATOR_MANUFACTURER,
    CATALOG_ACCELERATOR_COUNT,
    CATALOG_KWOK_SIZE,
    CATALOG_KWOK_FAMILY,
    CATALOG_KWOK_CPU,
    CATALOG_KWOK_MEMORY,
    CATALOG_LABEL_COUNT
};

/* Offerings with the same requirements, and the types that have one. */
struct catalog_shape {
    struct solver_requirements requirements;
    struct type_set types;
};

/* The requirements and the price of one offering. */
struct catalog_offer {
    size_t shape;
    int64_t usd_micro_per_hour; /* -1: no price */
    uint32_t reservation_capacity;
};
struct catalog_offers {
    struct catalog_offer *items;
    size_t count, capacity;
};

/* The types by their values of one key. */
struct catalog_key {
    bool defined;         /* some type has a requirement on the key */
    bool single;          /* no type has more than one value */
    struct type_set some; /* types with one of the values below, or with any value */
    struct type_set any;  /* types with an unknown value */
    struct type_set none; /* DoesNotExist */
    struct type_set unsaid;
    struct type_set *values; /* by number */
    uint32_t value_count;
};

struct catalog {
    struct arena *arena;
    struct solver_names *names;
    bool is_builtin;
    struct catalog_prices prices;
    struct instance_type *types;
    size_t count;
    LIST(struct catalog_shape) shapes; /* of a user's catalogue */
    struct catalog_amounts *amounts;   /* by type; NULL: of the built-in one */
    struct catalog_offers *offers;     /* likewise */
    struct catalog_key *keys;
    uint32_t key_count;
    struct text_map values; /* of all keys */
    /* What a pod may have meant by a key (label_key.c), with the names after the domains; empty
     * where there is no domain. */
    struct text *known_keys, *known_names;
    size_t known_count;
};

/* A catalogue of type_count types, zeroed; the caller fills them in order of name. The label keys
 * are interned, each with its enum's number. */
struct catalog *catalog_create(struct arena *arena, size_t type_count, bool is_builtin);
/* For label_key_meant; once all keys are interned. */
void catalog_read_known_keys(struct catalog *catalog);
/* Set a requirement of a type: key In [value], or one of several values; DoesNotExist; or an
 * unknown value. */
void catalog_set(struct catalog *catalog, struct instance_type *type, enum catalog_label label,
                 struct text value);
void catalog_set_number(struct catalog *catalog, struct instance_type *type,
                        enum catalog_label label, uint64_t value);
void catalog_set_list(struct catalog *catalog, struct instance_type *type, enum catalog_label label,
                      const struct text *values, size_t count);
void catalog_set_absent(struct catalog *catalog, struct instance_type *type,
                        enum catalog_label label);
void catalog_set_any(struct catalog *catalog, struct instance_type *type, enum catalog_label label);
/* Reads the type's name, and sets what Karpenter's AWS provider derives from it; false when it is
 * no EC2 name. */
bool catalog_set_name_labels(struct catalog *catalog, struct instance_type *type);

/* The resources of a type in a user's catalogue, by name. */
struct catalog_resources {
    struct text cpu, memory; /* as written */
    uint64_t nvidia, amd, gaudi, neuron;
    bool any_nvidia, any_amd, any_neuron; /* also a share of a device, or its cores */
};
/* Sets the labels that Karpenter's kwok provider derives, and the devices of the type. For an EC2
 * name it also sets those labels of the AWS provider that follow from resources. */
void catalog_set_kwok_labels(struct catalog *catalog, struct instance_type *type,
                             const struct catalog_resources *resources);
/* The amounts of a type from its resources, by the rules of Karpenter's kwok provider. */
void catalog_reckon_kwok(struct catalog_amounts *amounts, struct arena *arena);
/* A type with less than nothing of one resource takes no pod at all. */
void catalog_amounts_settle(struct catalog_amounts *amounts);
/* Adds an offering of the type. */
void catalog_add_offering(struct catalog *catalog, size_t type,
                          const struct solver_requirements *requirements,
                          int64_t usd_micro_per_hour, uint32_t reservation_capacity);
/* The built-in catalogue, for prices of one's own. */
struct catalog *catalog_builtin_create(struct arena *arena);
/* Makes catalog_select fast; call it when all types are there. */
void catalog_index(struct catalog *catalog);

/* The two sides of the one dot in an EC2 name. */
bool catalog_name_split(struct text name, struct text *family, struct text *size);

#endif
