/* The built-in types with prices of one's own: a file as `taffrail catalog import` writes it. */
#include "catalog/prices.h"

#include "catalog/build.h"
#include "kube/quantity.h"

bool prices_are_in(struct text text)
{
    return text_opens_with(text, "{");
}

static bool refuse(struct source *source, struct arena *arena, const struct node *at,
                   const char *wants, struct error *error)
{
    return error_set(error, ERROR_INPUT, source_place(source, arena, at->offset),
                     "a file of prices (" PRICES_SCHEMA ") wants %s here", wants);
}

static bool take_price(struct source *source, struct arena *arena, struct catalog *catalog,
                       const struct node *price, struct error *error)
{
    struct text type = node_string(node_get(price, "instanceType"));
    struct text capacity = node_string(node_get(price, "capacityType"));
    const struct node *usd = node_get(price, "usdPerHour");
    int64_t usd_micro = 0;
    if (type.size == 0 || !TEXT_IS_ONE_OF(capacity, "on-demand", "spot"))
        return refuse(source, arena, price, "instanceType and capacityType: on-demand or spot",
                      error);
    if (!node_is(usd, NODE_NUMBER) || !quantity_scaled(node_text(usd), 6, &usd_micro) ||
        usd_micro < 0)
        return refuse(source, arena, usd == NULL ? price : usd, "usdPerHour, 0 or more", error);
    size_t index = catalog_find(catalog, type);
    if (index == catalog_count(catalog))
        return true;
    struct instance_type *found = &catalog->types[index];
    catalog->prices.on_demand &= !text_is(capacity, "spot");
    *(text_is(capacity, "spot") ? &found->spot_usd_micro_per_hour : &found->usd_micro_per_hour) =
        usd_micro;
    return true;
}

bool prices_read(struct source *source, struct arena *arena, const struct catalog **catalog,
                 struct error *error)
{
    const struct node *root;
    if (!doc_read_json(source, &doc_limits_manifest, NULL, arena, &root, error))
        return false;
    const struct node *prices = node_get(root, "prices");
    if (!text_is(node_string(node_get(root, "schema")), PRICES_SCHEMA) ||
        !node_is(prices, NODE_LIST))
        return refuse(source, arena, root, "schema and prices", error);
    struct catalog *priced = catalog_builtin_create(arena);
    priced->prices.region = arena_text(arena, node_string(node_get(root, "region")));
    priced->prices.date = arena_text(arena, node_string(node_get(root, "date")));
    priced->prices.file = arena_text(arena, text_of(source->file));
    for (size_t i = 0; i < priced->count; i++)
        priced->types[i].usd_micro_per_hour = -1;
    FOR_ITEMS(price, prices)
        if (!take_price(source, arena, priced, price, error))
            return false;
    *catalog = priced;
    return true;
}

const struct catalog_prices *catalog_prices(const struct catalog *catalog)
{
    return &catalog->prices;
}

struct text catalog_prices_title(const struct catalog *catalog, struct arena *arena)
{
    const struct catalog_prices *prices = &catalog->prices;
    struct text_builder title = {.arena = arena};
    text_builder_printf(&title, "%sprices", prices->on_demand ? "on-demand " : "");
    if (prices->region.size > 0)
        text_builder_printf(&title, " of %.*s", TEXT_ARGS(prices->region));
    if (prices->date.size > 0)
        text_builder_printf(&title, " of %.*s", TEXT_ARGS(prices->date));
    if (prices->file.size > 0)
        text_builder_printf(&title, "%s %.*s", prices->region.size > 0 ? "," : " as in",
                            TEXT_ARGS(prices->file));
    return text_builder_text(&title);
}
