/* Runs a rail over a table, with the instance types of a user's own catalogue. */
#ifndef TAFFRAIL_RAIL_CATALOG_H
#define TAFFRAIL_RAIL_CATALOG_H

#include "rail_modes.h"

struct catalog;

/* A type with 4 CPUs in the form of the file. resources: further "NAME": "QUANTITY"; offerings:
 * OWN_OFFERING. */
#define OWN_TYPE(name, resources, offerings)                                        \
    "{\"name\": \"" name "\", \"architecture\": \"amd64\", \"operatingSystems\": "  \
    "[\"linux\"], \"resources\": {\"cpu\": \"4\", \"memory\": \"16Gi\", \"pods\": " \
    "\"50\", " resources "}, \"offerings\": [" offerings "]}"
#define OWN_OFFERING(price, capacity, zone)                                                    \
    "{\"Price\": " price ", \"Available\": true, \"Requirements\": ["                          \
    "{\"key\": \"karpenter.sh/capacity-type\", \"operator\": \"In\", \"values\": [\"" capacity \
    "\"]}, {\"key\": \"topology.kubernetes.io/zone\", \"operator\": \"In\", \"values\": "      \
    "[\"" zone "\"]}]}"
#define OWN_TYPES2(a, b) "[" a ", " b "]"
#define OWN_TYPES4(a, b, c, d) "[" a ", " b ", " c ", " d "]"

static inline const struct catalog *rail_catalog(const char *types, struct arena *arena)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->file = "types.json";
    source->text = text_of(types);
    const struct catalog *catalog = NULL;
    struct error error = {0};
    bool good = catalog_read(source, arena, &catalog, &error);
    if (!good)
        fprintf(stderr, "%s\n", error.what);
    CU_ASSERT_TRUE_FATAL(good);
    return catalog;
}

static inline struct world rail_catalog_world(const char *rails, const char *cluster,
                                              const char *types, struct arena *arena)
{
    return rail_table_world_of(rails, cluster, rail_catalog(types, arena), arena);
}

static inline void rail_catalog_run(const struct rail_table *table, const char *types)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_catalog_world(table->rails, table->cluster, types, arena);
    rail_table_run_in(&world, table, arena);
    arena_destroy(arena);
}

static inline void rail_catalog_words_run(const char *rails, const char *cluster, const char *types,
                                          const struct rail_words *rows, size_t count)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_catalog_world(rails, cluster, types, arena);
    rail_words_run_in(&world, rows, count, arena);
    arena_destroy(arena);
}

#endif
