/* Prices of instance types, as AWS publishes them or as a user writes them down. */
#ifndef TAFFRAIL_CATALOG_PRICE_LIST_H
#define TAFFRAIL_CATALOG_PRICE_LIST_H

#include "base/base.h"

struct price {
    struct text type;
    bool spot; /* else on-demand */
    int64_t usd_micro_per_hour;
    size_t order; /* in the file */
};
struct price_list {
    struct text region, date; /* empty: the file does not say */
    struct price *items;      /* as the file has them */
    size_t count, capacity;
    struct text_list regions; /* all that the file has, each once */
};
/* An offer file of EC2 in JSON or CSV, or a CSV with the columns instanceType and usdPerHour, and
 * perhaps capacityType, region and date. region: which of the file's regions is wanted; empty: the
 * only one. What is not of Linux, on demand, by the hour and in USD is passed over. Slices of the
 * text, which must outlive the list. */
bool price_list_read(const char *file, struct text text, struct text region, struct arena *arena,
                     struct price_list *list, struct error *error) MUST_CHECK;

/* A day or a month: 2026-11-20, 2026-11. */
bool price_is_date(struct text t);

/* ---- the parts ---- */

/* What says of an offer that it is the price of a type: Linux, without licences, on shared hardware
 * or as bare metal, in use. By attribute; an empty value is no objection. */
enum offer_field {
    OFFER_PRODUCT_FAMILY,
    OFFER_TENANCY,
    OFFER_SYSTEM,
    OFFER_SOFTWARE,
    OFFER_CAPACITY,
    OFFER_OPERATION,
    OFFER_MARKET,
    OFFER_TYPE,
    OFFER_REGION,
    OFFER_FIELD_COUNT
};
extern const struct offer_names {
    const char *json, *csv;
} offer_names[OFFER_FIELD_COUNT];
bool offer_is_a_price(const struct text fields[OFFER_FIELD_COUNT]);
/* Notes that the file has the region; whether it is not another one than the wanted one. */
bool price_list_wants(struct price_list *list, struct text wanted_region, struct text region,
                      struct arena *arena);
/* Adds a price of a region that is wanted. */
void price_list_add(struct price_list *list, struct text wanted_region, struct text region,
                    const struct price *price, struct arena *arena);
/* USD with any number of decimals; false when it is none, or nothing. */
bool price_parse(struct text t, int64_t *usd_micro);

bool price_read_json(const char *file, struct text text, struct text region, struct arena *arena,
                     struct price_list *list, struct error *error) MUST_CHECK;
bool price_read_csv(const char *file, struct text text, struct text region, struct arena *arena,
                    struct price_list *list, struct error *error) MUST_CHECK;

#endif
