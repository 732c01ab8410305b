/* The instance catalogue: the types, what they have, where they are offered. */
#ifndef TAFFRAIL_CATALOG_CATALOG_H
#define TAFFRAIL_CATALOG_CATALOG_H

#include "catalog/type_set.h"
#include "kube/device.h"
#include "solver/solver.h"

struct catalog;
struct class_settings;
struct expressions;
struct pool;
struct zones;

/* Whose prices the catalogue has. */
struct catalog_prices {
    struct text region, date; /* empty: nobody says */
    struct text file;         /* empty: they are built in */
    bool on_demand;           /* of nothing else */
};
struct instance_type {
    struct text name, family, size, category, architecture; /* architecture: amd64, arm64 */
    uint32_t generation;                                    /* 0: not known */
    uint32_t cpu;                                           /* 0: hardware not known */
    uint64_t memory_mib;
    uint32_t gpu_count;                      /* 0 for a fractional GPU too */
    uint32_t neuron_count;                   /* devices, not their cores */
    bool has_gpu;                            /* carries a GPU, whole or fractional */
    bool has_accelerator;                    /* Neuron, Gaudi */
    device_set devices;                      /* the kinds that can be told apart */
    int64_t usd_micro_per_hour;              /* on-demand; -1: no price */
    int64_t spot_usd_micro_per_hour;         /* of built-in types; -1: no price */
    struct solver_requirements requirements; /* its labels, as Karpenter derives them */
};
/* Whether it carries a GPU or another accelerator. */
bool instance_type_is_accelerated(const struct instance_type *type);

/* The arena holds the memory of a catalogue. */
const struct catalog *catalog_builtin(struct arena *arena);
/* Reads the JSON that Karpenter's kwok provider reads (an array of types with offerings). As there,
 * the field Available is ignored: leave a sold-out offering out of the file. */
bool catalog_read(struct source *source, struct arena *arena, const struct catalog **catalog,
                  struct error *error) MUST_CHECK;
/* The catalogue of --catalog FILE: types, or prices of the built-in types (taffrail.dev/prices/v1);
 * NULL: the built-in one. */
bool catalog_load(const char *file, struct arena *arena, const struct catalog **catalog,
                  struct error *error) MUST_CHECK;
const struct catalog_prices *catalog_prices(const struct catalog *catalog);
/* "on-demand prices of eu-west-1 of 2026-11-20 (prices.json)". */
struct text catalog_prices_title(const struct catalog *catalog, struct arena *arena);
bool catalog_is_builtin(const struct catalog *catalog);
size_t catalog_count(const struct catalog *catalog);
const struct instance_type *catalog_type(const struct catalog *catalog, size_t index);
/* The index of a type, or catalog_count() when no type has that name. */
size_t catalog_find(const struct catalog *catalog, struct text name);
/* The names in which its labels are interned: base a table of your own on it. */
const struct solver_names *catalog_names(const struct catalog *catalog);
/* Whether some type carries this label key. */
bool catalog_has_key(const struct catalog *catalog, struct text key);
bool catalog_has_value(const struct catalog *catalog, struct text key, struct text value);
/* Whether it is a value of any key. */
bool catalog_knows_value(const struct catalog *catalog, struct text value);
/* Whether a requirement on the key may separate types. */
bool catalog_tells_by(const struct catalog *catalog, struct text key);
/* Whether Karpenter's AWS provider puts the label, by its canonical key, on each of its nodes
 * (docs/reference/karpenter.md 1.4). */
bool catalog_is_of_each_machine(struct text key);
/* The types whose requirements intersect the set (docs/reference/karpenter.md 1.3: keys that no
 * type carries are ignored) and, for a user's catalogue, that have an offering for it. names must
 * be based on catalog_names(). */
struct type_set catalog_select(const struct catalog *catalog, const struct solver_names *names,
                               const struct solver_requirements *set, struct arena *arena);
/* The types that Karpenter may launch: none where the requirements leave no value of a label that
 * each of its machines has, such as the architecture, and no type of unknown hardware where its
 * name tells that it does not fit. catalog_select() finds these. */
struct type_set catalog_select_launchable(const struct catalog *catalog,
                                          const struct solver_names *names,
                                          const struct solver_requirements *set,
                                          struct arena *arena);
/* Of the types of unknown hardware those alone of which the name tells that they fit. All of them
 * run Linux. */
struct type_set catalog_select_sure(const struct catalog *catalog, const struct solver_names *names,
                                    const struct solver_requirements *set, struct arena *arena);
/* With the types that may match, of which the built-in catalogue does not know the hardware: where
 * types or families are listed, or only such types are left by name, it may be any; else only the
 * architecture may be, so that no type of a whole category counts for what none is known to have.
 */
struct type_set catalog_select_possible(const struct catalog *catalog,
                                        const struct solver_names *names,
                                        const struct solver_requirements *set, struct arena *arena);

/* The amount of one resource: what a machine of a type has, and what it leaves to pods. cpu in
 * thousandths, all others in units. */
struct catalog_amount {
    const char *resource;
    int64_t capacity, allocatable;
};
struct catalog_amounts {
    struct catalog_amount *items;
    size_t count, capacity;
};
/* By name of resource. Empty when no node can be made of the type: its hardware is not known, or it
 * runs macOS alone. A user's type follows Karpenter's kwok provider. A built-in type follows its
 * AWS provider, with these settings, or with an EC2NodeClass of defaults. */
struct catalog_amounts catalog_type_amounts(const struct catalog *catalog, size_t index,
                                            struct arena *arena);
struct catalog_offerings {
    struct solver_offering *items;
    size_t count, capacity;
};
/* One offering for each zone and capacity type. Built-in types are sold on demand and as spot in
 * all of the zones; spot has on-demand's price unless a file of prices has another. A user's types
 * are sold where the file says, or in all of the zones where it says nothing. If a cluster names no
 * zone, the zones are a to c of the region whose prices these are. */
struct catalog_offerings catalog_type_offerings(const struct catalog *catalog, size_t index,
                                                const struct zones *zones, struct arena *arena);
/* How many EBS volumes a machine of the type attaches besides its root volume, before network
 * interfaces beyond the first take some; 0: not known. */
uint32_t catalog_attach_limit(const struct catalog *catalog, size_t index);
/* The whole type for the solver, with the builder's numbers of resources and the settings of a node
 * class (NULL: usual_settings; a user's types have none). The free machines in the class's capacity
 * reservations are not known here, so their offerings are not available. False when no node can be
 * made of the type. */
bool catalog_solver_type(const struct catalog *catalog, size_t index, const struct zones *zones,
                         const struct class_settings *settings, struct solver_builder *builder,
                         struct arena *arena, struct solver_instance_type *type) MUST_CHECK;

/* The types that fit both sets of expressions; second may be NULL. */
struct type_set expressions_select(const struct catalog *catalog, const struct expressions *first,
                                   const struct expressions *second, struct arena *arena);
/* The same as catalog_select_sure and catalog_select_possible have them. */
struct type_set expressions_select_sure(const struct catalog *catalog,
                                        const struct expressions *first,
                                        const struct expressions *second, struct arena *arena);
struct type_set expressions_select_possible(const struct catalog *catalog,
                                            const struct expressions *first,
                                            const struct expressions *second, struct arena *arena);
/* False for a pool of another cloud under the built-in catalogue, which describes EC2. */
bool pool_is_covered_by(const struct catalog *catalog, const struct pool *pool);

/* "m5.large" gives m5, large, m and 5; false for a name without this form. Families such as
 * "u-6tb1", "trn1n", "mac2-m2pro" are known (docs/reference/karpenter.md 1.4). */
bool instance_name_parse(struct text name, struct text *family, struct text *size,
                         struct text *category, uint32_t *generation);
/* The same of "m5", without a size. */
bool instance_family_parse(struct text family, struct text *category, uint32_t *generation);

#endif
