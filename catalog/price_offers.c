/* AWS' offer file of EC2 in JSON: some hundred megabytes, so it is walked, and no tree is made. */
#include "catalog/price_list.h"

static struct text string_at(struct text map, const char *key)
{
    return json_plain_string(json_find(map, key));
}

/* The first member of a map. */
static struct text first_member(struct text map)
{
    struct json_walk walk;
    struct text key, value;
    return json_walk_begin(&walk, map) && json_walk_next(&walk, &key, &value) ? value : TEXT("");
}

/* ---- products: which SKU is which type ---- */

struct sku {
    struct text sku, type, region;
};
struct skus {
    LIST(struct sku) items;
    struct text_map numbers; /* of a SKU, from 1 */
};

static void take_product(struct text product, struct skus *skus, struct arena *arena)
{
    struct text attributes = json_find(product, "attributes");
    struct text fields[OFFER_FIELD_COUNT];
    for (size_t i = 0; i < OFFER_FIELD_COUNT; i++)
        fields[i] =
            string_at(i == OFFER_PRODUCT_FAMILY ? product : attributes, offer_names[i].json);
    struct text sku = string_at(product, "sku");
    if (sku.size == 0 || !offer_is_a_price(fields))
        return;
    *LIST_PUSH(arena, &skus->items) = (struct sku){sku, fields[OFFER_TYPE], fields[OFFER_REGION]};
    *text_map_at(&skus->numbers, arena, sku) = skus->items.count;
}

static void read_products(struct text products, struct skus *skus, struct arena *arena)
{
    struct json_walk walk;
    struct text key, product;
    if (!json_walk_begin(&walk, products))
        return;
    while (json_walk_next(&walk, &key, &product))
        take_product(product, skus, arena);
}

/* ---- terms: what a SKU costs ---- */

static void take_term(struct text key, struct text terms, const struct skus *skus,
                      struct text region, struct price_list *list, struct arena *arena)
{
    size_t number = text_map_get(&skus->numbers, key, 0);
    struct text dimension = first_member(json_find(first_member(terms), "priceDimensions"));
    struct text usd = string_at(json_find(dimension, "pricePerUnit"), "USD");
    int64_t usd_micro = 0;
    if (number == 0 || !text_is(string_at(dimension, "unit"), "Hrs") ||
        !price_parse(usd, &usd_micro))
        return;
    const struct sku *found = &skus->items.items[number - 1];
    price_list_add(list, region, found->region,
                   &(struct price){.type = found->type, .usd_micro_per_hour = usd_micro}, arena);
}

static bool say_what_it_is(const char *file, struct text text, struct error *error)
{
    struct place place = {file, 0, 0};
    struct text offers = json_find(text, "offers"), regions = json_find(text, "regions");
    struct text ec2 = json_find(offers, "AmazonEC2");
    struct text url = string_at(ec2, "currentRegionIndexUrl");
    if (url.size > 0)
        return error_set(error, ERROR_INPUT, place,
                         "is the list of AWS' offers, without prices: fetch what its "
                         "currentRegionIndexUrl of AmazonEC2 names, %.*s, and there the file of "
                         "your region",
                         TEXT_ARGS(url));
    url = string_at(first_member(regions), "currentVersionUrl");
    if (url.size > 0)
        return error_set(error, ERROR_INPUT, place,
                         "is the list of EC2's regions, without prices: fetch what the "
                         "currentVersionUrl of your region names, such as %.*s",
                         TEXT_ARGS(url));
    return error_set(error, ERROR_INPUT, place,
                     "is no offer file of EC2: it wants products and terms.OnDemand");
}

bool price_read_json(const char *file, struct text text, struct text region, struct arena *arena,
                     struct price_list *list, struct error *error)
{
    struct skus skus = {0};
    struct json_walk walk;
    struct text key, terms;
    struct text products = json_find(text, "products");
    struct text on_demand = json_find_start(json_find_start(text, "terms"), "OnDemand");
    if (products.size == 0 || !json_walk_begin(&walk, on_demand))
        return say_what_it_is(file, text, error);
    read_products(products, &skus, arena);
    while (json_walk_next(&walk, &key, &terms))
        take_term(key, terms, &skus, region, list, arena);
    if (!walk.ended)
        return error_set(error, ERROR_INPUT, (struct place){file, 0, 0},
                         "ends in the middle of its terms: fetch it again");
    struct text published = string_at(text, "publicationDate");
    list->date = (struct text){published.data, published.size < 10 ? published.size : 10};
    return true;
}
