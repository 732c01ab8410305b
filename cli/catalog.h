/* The parts of `taffrail catalog`. */
#ifndef TAFFRAIL_CLI_CATALOG_H
#define TAFFRAIL_CLI_CATALOG_H

#include "base/base.h"
#include "solver/solver.h"

struct catalog;
struct error;
struct type_set;

/* Selectors, parsed into a set. */
struct catalog_filter {
    const struct catalog *catalog;
    struct arena *arena;
    struct solver_names *names; /* based on the catalogue's */
    struct solver_requirements set;
    bool leaves_none; /* they contradict each other */
};
/* Adds "key in (a,b)", "key notin (a,b)", "key=a", "key!=a", "key", "!key", "key>7", "key<=65", or
 * several of them with commas between. Keys may be short: "family", "arch". An error is an
 * ERROR_USAGE; a likely slip is a note on stderr. */
bool catalog_filter_add(struct catalog_filter *filter, struct text written,
                        struct error *error) MUST_CHECK;

/* Writes a file of prices for --catalog. */
struct catalog_import {
    const char *file;
    const char *region, *date, *discount; /* NULL: not given */
};
int catalog_import_file(const struct catalog_import *import, struct arena *arena);

/* Prints a table of the types, or each with its amounts and labels; their number goes to stderr. */
void catalog_print_table(const struct catalog *catalog, const struct type_set *types,
                         struct arena *arena);
void catalog_print_details(const struct catalog *catalog, const struct type_set *types,
                           struct arena *arena);
/* {"schema":"taffrail.dev/catalog/v1", ...}; false when memory ran out. */
bool catalog_print_json(const struct catalog *catalog, const struct type_set *types,
                        struct arena *arena, struct error *error) MUST_CHECK;

#endif
