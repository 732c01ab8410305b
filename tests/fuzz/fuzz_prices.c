/* Price files and catalogues: AWS' offer files in JSON and CSV, tables of prices, the files that
 * `catalog import` writes, and the types of Karpenter's kwok provider. No crash, no leak; each
 * price is above 0 and of a type, each type of a catalogue has a name and is found by it. */
/* reads: catalog/price_csv.c catalog/price_list.c catalog/price_offers.c catalog/prices.c
 * catalog/read.c catalog/kwok.c */
#include <string.h>

#include "catalog/catalog.h"
#include "catalog/price_list.h"
#include "catalog/prices.h"
#include "catalog/zones.h"
#include "fuzz.h"

enum { ARENA_BYTES = 256 << 20 };

static struct arena *arena;

static void read_list(struct text text, struct text region)
{
    struct price_list list;
    struct error error = {0};
    if (!price_list_read("prices", text, region, arena, &list, &error)) {
        REQUIRE(error.kind == ERROR_INPUT && error.what[0] != '\0');
        return;
    }
    REQUIRE(list.count > 0);
    REQUIRE(region.size == 0 || text_equal(list.region, region));
    for (size_t i = 0; i < list.count; i++) {
        REQUIRE(list.items[i].usd_micro_per_hour > 0 && list.items[i].type.size > 0);
        REQUIRE(list.items[i].type.data >= text.data &&
                list.items[i].type.data + list.items[i].type.size <= text.data + text.size);
    }
}

static void look_at_type(const struct catalog *catalog, size_t index)
{
    const struct instance_type *type = catalog_type(catalog, index);
    REQUIRE(type->name.size > 0);
    REQUIRE(catalog_find(catalog, type->name) == index);
    struct catalog_amounts amounts = catalog_type_amounts(catalog, index, arena);
    for (size_t i = 0; i < amounts.count; i++)
        REQUIRE(amounts.items[i].allocatable <= amounts.items[i].capacity);
}

static void read_catalog(struct text text)
{
    /* Half of the types come from no file. */
    struct source source = {.text = text};
    if (prices_are_in(text) || text.size % 2 == 0)
        source.file = "catalog.json";
    const struct catalog *catalog = NULL;
    struct error error = {0};
    bool is_prices = prices_are_in(text);
    if (!(is_prices ? prices_read : catalog_read)(&source, arena, &catalog, &error)) {
        REQUIRE(error.kind != ERROR_NONE && error.what[0] != '\0');
        return;
    }
    REQUIRE(catalog_prices_title(catalog, arena).size > 0);
    for (size_t i = 0; i < catalog_count(catalog) && !is_prices; i++)
        look_at_type(catalog, i);
}

static void read_all(void *argument)
{
    const struct text *text = argument;
    read_list(*text, TEXT(""));
    read_list(*text, TEXT("eu-west-1"));
    read_catalog(*text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text(&arena, ARENA_BYTES, read_all, data, size);
}
