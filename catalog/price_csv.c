/* Prices as CSV: AWS' offer file of EC2, which has some lines before its header, or a user's own
 * table. */
#include <ctype.h>
#include <string.h>

#include "catalog/price_list.h"

enum { CELLS_MAX = 256 };

/* One line; quoted cells are slices without their quotes, a doubled quote in them stays doubled. */
struct row {
    struct text cells[CELLS_MAX];
    size_t count;
};
struct csv {
    const char *file;
    struct text text;
    size_t at;
    uint32_t line, next_line; /* of the row, and behind it */
};

static bool ends_cell(char c)
{
    return c == ',' || c == '\r' || c == '\n';
}

static size_t quoted_end(const struct csv *csv, size_t at)
{
    struct text t = csv->text;
    while (at < t.size && (t.data[at] != '"' || (at + 1 < t.size && t.data[at + 1] == '"')))
        at += t.data[at] == '"' ? 2 : 1;
    return at < t.size ? at : t.size;
}

static struct text read_cell(struct csv *csv)
{
    struct text t = csv->text;
    size_t start = csv->at, end;
    if (start < t.size && t.data[start] == '"') {
        end = quoted_end(csv, ++start);
        csv->at = end < t.size ? end + 1 : end;
    } else {
        while (csv->at < t.size && !ends_cell(t.data[csv->at]))
            csv->at++;
        end = csv->at;
    }
    for (size_t i = start; i < end; i++)
        csv->next_line += t.data[i] == '\n';
    while (csv->at < t.size && !ends_cell(t.data[csv->at]))
        csv->at++; /* what follows a closing quote */
    return (struct text){t.data + start, end - start};
}

/* False at the end of the text. */
static bool read_row(struct csv *csv, struct row *row)
{
    struct text t = csv->text;
    row->count = 0;
    csv->line = csv->next_line;
    if (csv->at >= t.size)
        return false;
    for (;;) {
        struct text cell = read_cell(csv);
        if (row->count < CELLS_MAX)
            row->cells[row->count++] = cell;
        if (csv->at >= t.size || t.data[csv->at] != ',')
            break;
        csv->at++;
    }
    while (csv->at < t.size && t.data[csv->at] == '\r')
        csv->at++;
    if (csv->at < t.size && t.data[csv->at] == '\n')
        csv->at++;
    csv->next_line++;
    return true;
}

/* CELLS_MAX: there is none. */
static size_t column_of(const struct row *header, const char *name)
{
    for (size_t i = 0; i < header->count; i++)
        if (text_is(header->cells[i], name))
            return i;
    return CELLS_MAX;
}

static struct text cell_of(const struct row *row, size_t column)
{
    return column < row->count ? row->cells[column] : TEXT("");
}

/* ---- AWS' own ---- */

static void read_offers(struct csv *csv, const struct row *header, struct text region,
                        struct arena *arena, struct price_list *list)
{
    struct row row;
    size_t columns[OFFER_FIELD_COUNT];
    for (size_t i = 0; i < OFFER_FIELD_COUNT; i++)
        columns[i] = column_of(header, offer_names[i].csv);
    size_t term = column_of(header, "TermType"), unit = column_of(header, "Unit");
    size_t amount = column_of(header, "PricePerUnit"), currency = column_of(header, "Currency");
    while (read_row(csv, &row)) {
        struct text fields[OFFER_FIELD_COUNT];
        int64_t usd_micro = 0;
        for (size_t i = 0; i < OFFER_FIELD_COUNT; i++)
            fields[i] = cell_of(&row, columns[i]);
        if (!text_is(cell_of(&row, term), "OnDemand") || !text_is(cell_of(&row, unit), "Hrs") ||
            !text_is(cell_of(&row, currency), "USD") || !offer_is_a_price(fields) ||
            !price_parse(cell_of(&row, amount), &usd_micro))
            continue;
        price_list_add(list, region, fields[OFFER_REGION],
                       &(struct price){.type = fields[OFFER_TYPE], .usd_micro_per_hour = usd_micro},
                       arena);
    }
}

/* ---- a user's ---- */

struct columns {
    size_t type, usd, capacity, region, date;
};

/* "usdperhour" of "USD per hour" and "usd_per_hour". */
static bool is_called(struct text cell, const char *name)
{
    for (size_t i = 0; i < cell.size; i++) {
        char c = cell.data[i];
        if (c == ' ' || c == '_' || c == '-')
            continue;
        if (*name == '\0' || tolower((unsigned char)c) != *name)
            return false;
        name++;
    }
    return *name == '\0';
}

static size_t column_called(const struct row *header, const char *const *names)
{
    for (; *names != NULL; names++)
        for (size_t i = 0; i < header->count; i++)
            if (is_called(header->cells[i], *names))
                return i;
    return CELLS_MAX;
}

/* Without a header the columns are the type, the price, and perhaps the capacity type, the region
 * and the date. */
static struct columns columns_of(const struct row *header, bool *headless)
{
    static const char *const types[] = {"instancetype", "type", "name", NULL};
    static const char *const prices[] = {"usdperhour", "priceperhour", "price", "usd", NULL};
    static const char *const capacities[] = {"capacitytype", "capacity", NULL};
    static const char *const regions[] = {"region", "regioncode", NULL};
    static const char *const dates[] = {"date", "effectivedate", NULL};
    int64_t usd_micro;
    *headless = header->count > 1 && price_parse(header->cells[1], &usd_micro);
    if (*headless)
        return (struct columns){0, 1, 2, 3, 4};
    return (struct columns){column_called(header, types), column_called(header, prices),
                            column_called(header, capacities), column_called(header, regions),
                            column_called(header, dates)};
}

static bool refuse(const struct csv *csv, struct error *error, struct text found, const char *wants)
{
    return error_set(error, ERROR_INPUT, (struct place){csv->file, csv->line, 0},
                     "found \"%.*s\", and wants %s", TEXT_ARGS(found), wants);
}

/* Rows of other regions than the wanted one say nothing of it, not even what is wrong. */
static bool take_row(const struct csv *csv, const struct row *row, const struct columns *columns,
                     struct text region, struct arena *arena, struct price_list *list,
                     struct error *error)
{
    struct price price = {.type = cell_of(row, columns->type)};
    struct text usd = cell_of(row, columns->usd), capacity = cell_of(row, columns->capacity);
    struct text date = cell_of(row, columns->date);
    if (!price_list_wants(list, region, cell_of(row, columns->region), arena))
        return true;
    price.spot = text_is(capacity, "spot");
    if (price.type.size == 0)
        return refuse(csv, error, price.type, "an instance type, such as m5.large");
    if (!price_parse(usd, &price.usd_micro_per_hour))
        return refuse(csv, error, usd, "USD an hour above 0, such as 0.107");
    if (!price.spot && capacity.size > 0 && !text_is(capacity, "on-demand"))
        return refuse(csv, error, capacity, "the capacity type on-demand or spot");
    if (date.size > 0 && !price_is_date(date))
        return refuse(csv, error, date, "a day or a month, such as 2026-11-20 or 2026-11");
    *LIST_PUSH(arena, list) = price;
    if (text_compare(date, list->date) > 0)
        list->date = date;
    return true;
}

static bool read_table(struct csv *csv, const struct row *header, struct text region,
                       struct arena *arena, struct price_list *list, struct error *error)
{
    struct row row;
    bool headless;
    const struct columns columns = columns_of(header, &headless);
    if (columns.type == CELLS_MAX || columns.usd == CELLS_MAX)
        return error_set(error, ERROR_INPUT, (struct place){csv->file, csv->line, 0},
                         "a table of prices has the columns instanceType and usdPerHour, and "
                         "perhaps capacityType, region and date; AWS' offer file has SKU");
    if (headless && !take_row(csv, header, &columns, region, arena, list, error))
        return false;
    while (read_row(csv, &row))
        if ((row.count > 1 || row.cells[0].size > 0) &&
            !take_row(csv, &row, &columns, region, arena, list, error))
            return false;
    return true;
}

bool price_read_csv(const char *file, struct text text, struct text region, struct arena *arena,
                    struct price_list *list, struct error *error)
{
    enum { LINES_BEFORE_HEADER = 16 };
    struct csv csv = {.file = file, .text = text, .next_line = 1};
    struct row first, row;
    if (text_starts_with(text, TEXT("\xEF\xBB\xBF")))
        csv.at = 3;
    if (!read_row(&csv, &first))
        return error_set(error, ERROR_INPUT, (struct place){file, 0, 0}, "is empty");
    if (!text_is(first.cells[0], "FormatVersion") && column_of(&first, "SKU") == CELLS_MAX)
        return read_table(&csv, &first, region, arena, list, error);
    row = first;
    for (int i = 0; i < LINES_BEFORE_HEADER && column_of(&row, "SKU") == CELLS_MAX; i++) {
        if (text_is(row.cells[0], "Publication Date") && row.count > 1)
            list->date =
                row.cells[1].size < 10 ? row.cells[1] : (struct text){row.cells[1].data, 10};
        if (!read_row(&csv, &row))
            break;
    }
    read_offers(&csv, &row, region, arena, list);
    return true;
}
