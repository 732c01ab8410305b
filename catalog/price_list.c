/* Which offers of a price list are the price of an instance type, as Karpenter's AWS provider
 * chooses them (docs/reference/karpenter.md 7.4). */
#include "catalog/price_list.h"

#include <stdio.h>

#include "kube/quantity.h"
#include "kube/time.h"

const struct offer_names offer_names[OFFER_FIELD_COUNT] = {
    [OFFER_PRODUCT_FAMILY] = {"productFamily", "Product Family"},
    [OFFER_TENANCY] = {"tenancy", "Tenancy"},
    [OFFER_SYSTEM] = {"operatingSystem", "Operating System"},
    [OFFER_SOFTWARE] = {"preInstalledSw", "Pre Installed S/W"},
    [OFFER_CAPACITY] = {"capacitystatus", "CapacityStatus"},
    [OFFER_OPERATION] = {"operation", "operation"},
    [OFFER_MARKET] = {"marketoption", "MarketOption"},
    [OFFER_TYPE] = {"instanceType", "Instance Type"},
    [OFFER_REGION] = {"regionCode", "Region Code"},
};

static bool is_or_empty(struct text t, const char *wanted)
{
    return t.size == 0 || text_is(t, wanted);
}

bool offer_is_a_price(const struct text fields[OFFER_FIELD_COUNT])
{
    bool shared = text_is(fields[OFFER_PRODUCT_FAMILY], "Compute Instance") &&
                  text_is(fields[OFFER_TENANCY], "Shared");
    bool metal = text_is(fields[OFFER_PRODUCT_FAMILY], "Compute Instance (bare metal)") &&
                 text_is(fields[OFFER_TENANCY], "Dedicated");
    return (shared || metal) && text_is(fields[OFFER_SYSTEM], "Linux") &&
           is_or_empty(fields[OFFER_SOFTWARE], "NA") &&
           is_or_empty(fields[OFFER_CAPACITY], "Used") &&
           is_or_empty(fields[OFFER_OPERATION], "RunInstances") &&
           is_or_empty(fields[OFFER_MARKET], "OnDemand") && fields[OFFER_TYPE].size > 0;
}

bool price_list_wants(struct price_list *list, struct text wanted_region, struct text region,
                      struct arena *arena)
{
    if (region.size > 0 && !texts_have(list->regions.items, list->regions.count, region))
        *LIST_PUSH(arena, &list->regions) = region;
    return wanted_region.size == 0 || region.size == 0 || text_equal(wanted_region, region);
}

void price_list_add(struct price_list *list, struct text wanted_region, struct text region,
                    const struct price *price, struct arena *arena)
{
    if (price_list_wants(list, wanted_region, region, arena))
        *LIST_PUSH(arena, list) = *price;
}

bool price_parse(struct text t, int64_t *usd_micro)
{
    return t.size > 0 && quantity_scaled(t, 6, usd_micro) && *usd_micro > 0;
}

bool price_is_date(struct text t)
{
    enum { MONTH_BYTES = sizeof "2026-11" - 1, DAY_BYTES = sizeof "2026-11-20" - 1 };
    char day[DAY_BYTES + 1];
    int64_t unix_s = 0;
    snprintf(day, sizeof day, "%.*s%s", TEXT_ARGS(t), t.size == MONTH_BYTES ? "-01" : "");
    return (t.size == MONTH_BYTES || t.size == DAY_BYTES) && time_parse(text_of(day), &unix_s);
}

static bool choose_region(const char *file, struct text wanted, struct arena *arena,
                          struct price_list *list, struct error *error)
{
    struct place place = {file, 0, 0};
    struct text all = texts_join(list->regions.items, list->regions.count, 5, arena);
    if (wanted.size == 0 && list->regions.count > 1)
        return error_set(error, ERROR_INPUT, place,
                         "has the prices of %zu regions (%.*s); name one with --region",
                         list->regions.count, TEXT_ARGS(all));
    if (wanted.size > 0 && list->regions.count > 0 &&
        !texts_have(list->regions.items, list->regions.count, wanted))
        return error_set(error, ERROR_INPUT, place, "has no prices of %.*s, but of %.*s",
                         TEXT_ARGS(wanted), TEXT_ARGS(all));
    list->region = wanted.size > 0            ? wanted
                   : list->regions.count == 1 ? list->regions.items[0]
                                              : TEXT("");
    return true;
}

bool price_list_read(const char *file, struct text text, struct text region, struct arena *arena,
                     struct price_list *list, struct error *error)
{
    *list = (struct price_list){0};
    bool is_json = text_opens_with(text, "{[");
    if (!(is_json ? price_read_json : price_read_csv)(file, text, region, arena, list, error) ||
        !choose_region(file, region, arena, list, error))
        return false;
    if (list->count == 0)
        return error_set(error, ERROR_INPUT, (struct place){file, 0, 0},
                         "has no on-demand price in USD of an EC2 instance type that runs Linux");
    return true;
}
