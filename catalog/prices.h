/* The built-in types with prices of one's own: a file as `taffrail catalog import` writes it. */
#ifndef TAFFRAIL_CATALOG_PRICES_H
#define TAFFRAIL_CATALOG_PRICES_H

#include "catalog/catalog.h"

#define PRICES_SCHEMA "taffrail.dev/prices/v1"

/* Whether the text is such a file, and no list of types. */
bool prices_are_in(struct text text);
/* Types that the file does not name have no price; names that are not built in are passed over. */
bool prices_read(struct source *source, struct arena *arena, const struct catalog **catalog,
                 struct error *error) MUST_CHECK;

#endif
