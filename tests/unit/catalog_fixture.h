/* The catalogue of a test: the built-in one or its own. */
#ifndef TAFFRAIL_TESTS_CATALOG_FIXTURE_H
#define TAFFRAIL_TESTS_CATALOG_FIXTURE_H

#include <stdio.h>

#include "catalog/catalog.h"
#include "unit.h"

static struct arena *arena;
static const struct catalog *catalog;

static inline void fresh(void)
{
    arena_destroy(arena);
    arena = arena_create((size_t)512 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
}

static inline void builtin(void)
{
    fresh();
    catalog = catalog_builtin(arena);
}

static inline bool read_catalog(const char *json, struct error *error)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->file = "types.json";
    source->text = arena_text(arena, text_of(json));
    return catalog_read(source, arena, &catalog, error);
}

static inline void user(const char *json)
{
    fresh();
    struct error error = {0};
    if (!read_catalog(json, &error))
        fprintf(stderr, "%s\n", error.what);
    CU_ASSERT_FATAL(error.kind == ERROR_NONE);
}

static inline size_t index_of(const char *name)
{
    size_t index = catalog_find(catalog, text_of(name));
    if (index == catalog_count(catalog))
        fprintf(stderr, "no type %s\n", name);
    CU_ASSERT_FATAL(index < catalog_count(catalog));
    return index;
}

#endif
