/* `taffrail catalog import`: prices of one's own region, with one's own discount, for --catalog. */
#include <stdio.h>
#include <stdlib.h>

#include "catalog/price_list.h"
#include "catalog/prices.h"
#include "cli/catalog.h"
#include "cli/cli.h"
#include "kube/quantity.h"

enum { WHOLE_PPM = 1000000, PERCENT_PLACES = 4 };
static const size_t limit_bytes = (size_t)900
                                  << 20; /* the offer file of a region has some hundred */

static int compare_prices(const void *a_pointer, const void *b_pointer)
{
    const struct price *a = a_pointer, *b = b_pointer;
    int order = text_compare(a->type, b->type);
    if (order == 0)
        order = (int)a->spot - (int)b->spot;
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

static bool is_again(const struct price *price, const struct price *next)
{
    return text_equal(price->type, next->type) && price->spot == next->spot;
}

static bool read_discount(const char *written, int64_t *ppm)
{
    struct text t = text_of(written);
    *ppm = 0;
    if (t.size > 0 && t.data[t.size - 1] == '%')
        t.size--;
    return written == NULL ||
           (quantity_scaled(t, PERCENT_PLACES, ppm) && *ppm >= 0 && *ppm < WHOLE_PPM);
}

static void add_price(struct text_builder *out, const struct price *price, int64_t discount_ppm)
{
    int64_t kept = WHOLE_PPM - discount_ppm;
    int64_t micro = price->usd_micro_per_hour / WHOLE_PPM * kept +
                    price->usd_micro_per_hour % WHOLE_PPM * kept / WHOLE_PPM;
    text_builder_add(out, out->data[out->size - 1] == '[' ? TEXT("\n  {") : TEXT(",\n  {"));
    json_write_member(out, "instanceType", price->type);
    json_write_member(out, "capacityType", price->spot ? TEXT("spot") : TEXT("on-demand"));
    json_write_key(out, "usdPerHour");
    text_builder_printf(out, "%lld.%06lld}", (long long)(micro / 1000000),
                        (long long)(micro % 1000000));
}

static struct text price_file(const struct catalog_import *import, const struct price_list *list,
                              int64_t discount_ppm, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    text_builder_add(&out, TEXT("{"));
    json_write_member(&out, "schema", TEXT(PRICES_SCHEMA));
    json_write_member(&out, "region", list->region);
    json_write_member(&out, "date", import->date != NULL ? text_of(import->date) : list->date);
    if (discount_ppm > 0)
        json_write_member(&out, "discount",
                          arena_printf(arena, "%g %%", (double)discount_ppm / 10000));
    json_write_key(&out, "prices");
    text_builder_add(&out, TEXT("["));
    for (size_t i = 0; i < list->count; i++)
        if (i + 1 == list->count || !is_again(&list->items[i], &list->items[i + 1]))
            add_price(&out, &list->items[i], discount_ppm);
    text_builder_add(&out, TEXT("\n]}\n"));
    return text_builder_text(&out);
}

static void say_what_is_priced(const struct price_list *list, struct arena *arena)
{
    const struct catalog *catalog = catalog_builtin(arena);
    size_t known = 0, others = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].spot ||
            (i > 0 && text_equal(list->items[i - 1].type, list->items[i].type)))
            continue;
        bool found = catalog_find(catalog, list->items[i].type) < catalog_count(catalog);
        known += found;
        others += !found;
    }
    fprintf(stderr, "%zu of %zu instance types %s an on-demand price", known,
            catalog_count(catalog), known == 1 ? "has" : "have");
    if (others > 0)
        fprintf(stderr, "; %zu type%s of the file %s not in the catalogue", others,
                plural_s(others), others == 1 ? "is" : "are");
    fputc('\n', stderr);
}

int catalog_import_file(const struct catalog_import *import, struct arena *arena)
{
    struct text text, region = text_of(import->region);
    struct price_list list;
    struct error error;
    int64_t discount_ppm;
    if (!read_discount(import->discount, &discount_ppm))
        return usage_error("catalog import",
                           "--discount is \"%s\"; it wants percent, from 0 to below 100",
                           import->discount);
    if (import->date != NULL && !price_is_date(text_of(import->date)))
        return usage_error("catalog import",
                           "--date is \"%s\"; it wants a day or a month, such as 2026-11-20 or "
                           "2026-11",
                           import->date);
    if (!file_read(import->file, limit_bytes, arena, &text, &error) ||
        !price_list_read(import->file, text, region, arena, &list, &error))
        return print_error(&error);
    if (list.region.size == 0)
        return usage_error("catalog import",
                           "%s does not say of which region its prices are: name it with --region",
                           import->file);
    /* Stable, so that the last of equal ones stands. */
    for (size_t i = 0; i < list.count; i++)
        list.items[i].order = i;
    qsort(list.items, list.count, sizeof *list.items, compare_prices);
    struct text printed = price_file(import, &list, discount_ppm, arena);
    fwrite(printed.data, 1, printed.size, stdout);
    say_what_is_priced(&list, arena);
    return EXIT_CLEAN;
}
