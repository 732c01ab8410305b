/* Price lists: AWS' offer files, tables of a user, and files of imported prices. */
#include "catalog/prices.h"
#include "catalog/price_list.h"
#include "catalog_fixture.h"

/* "m5.large=96000 m5.large(spot)=40000", then " of REGION" and " at DATE" where the file says. */
static struct text list_text(const struct price_list *list)
{
    struct text_builder out = {.arena = arena};
    FOR_EACH(price, list)
        text_builder_printf(&out, "%s%.*s%s=%lld", out.size > 0 ? " " : "", TEXT_ARGS(price->type),
                            price->spot ? "(spot)" : "", (long long)price->usd_micro_per_hour);
    if (list->region.size > 0)
        text_builder_printf(&out, " of %.*s", TEXT_ARGS(list->region));
    if (list->date.size > 0)
        text_builder_printf(&out, " at %.*s", TEXT_ARGS(list->date));
    return text_builder_text(&out);
}

struct list_case {
    const char *text, *read; /* the list, or what the error says */
    uint32_t line;           /* of the error; 0: of the whole file, or there is none */
};

static void read_lists(const char *region, const struct list_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct price_list list;
        struct error error = {0};
        fresh();
        bool read =
            price_list_read("file", text_of(cases[i].text), text_of(region), arena, &list, &error);
        struct text found = read ? list_text(&list) : text_of(error.what);
        if (!text_starts_with(found, text_of(cases[i].read)))
            fprintf(stderr, "%s\n  gives %.*s\n", cases[i].text, TEXT_ARGS(found));
        CU_ASSERT_TRUE(text_starts_with(found, text_of(cases[i].read)));
        ASSERT_INT(read ? 0 : error.place.line, cases[i].line);
    }
}

static void a_user_writes_a_table(void)
{
    static const struct list_case cases[] = {
        {"instanceType,usdPerHour\nm5.large,0.096\n", "m5.large=96000", 0},
        {"\xEF\xBB\xBFinstanceType,usdPerHour\nm5.large,0.096", "m5.large=96000", 0},
        {"Instance type;\n", "a table of prices has the columns", 1},
        {"Instance_Type,USD per hour,capacity-type,region,date\nm5.large,0.04,spot,eu-west-1,"
         "2026-11-02\nm5.large,0.1,on-demand,eu-west-1,2026-11-01\n",
         "m5.large(spot)=40000 m5.large=100000 of eu-west-1 at 2026-11-02", 0},
        /* longer words are other columns */
        {"type of machine,type,price list,price\nbig,m5.large,A,0.1\n", "m5.large=100000", 0},
        {"instanceType,currency\nm5.large,USD\n", "a table of prices has the columns", 1},
        {"type,price\r\n\r\nm5.large,0.1\r\n", "m5.large=100000", 0},
        {"type,price\nm5.large\n", "found \"\", and wants USD an hour", 2},
        {"type,price\n,0.1\n", "found \"\", and wants an instance type", 2},
        {"type,price\nm5.large,0\n", "found \"0\", and wants USD an hour", 2},
        {"type,price,capacity\nm5.large,0.1,reserved\n",
         "found \"reserved\", and wants the capacity type", 2},
        /* without a header */
        {"m5.large,0.096,spot\n", "m5.large(spot)=96000", 0},
        {",0.096\n", "found \"\", and wants an instance type", 1},
        {"m5.large,0.0942,on-demand,eu-west-1,2026-11-20\nm5.large,0.0391,spot,eu-west-1,2026-11-"
         "20\n",
         "m5.large=94200 m5.large(spot)=39100 of eu-west-1 at 2026-11-20", 0},
        {"m5.large,0.1,,eu-west-1\nm5.large,0.1,,us-east-1\n", "has the prices of 2 regions", 0},
        {"m5.large,0.1,,,november\n", "found \"november\", and wants a day or a month", 1},
        /* a date, or nothing */
        {"type,price,date\nm5.large,0.1,\nm5.large,0.2,2026-11\n",
         "m5.large=100000 m5.large=200000 at 2026-11", 0},
        {"type,price,date\nm5.large,0.1,2026-99-99\n",
         "found \"2026-99-99\", and wants a day or a month", 2},
        {"type,price,date\nm5.large,0.1,2026-13\n", "found \"2026-13\", and wants a day", 2},
        {"type,price,date\nm5.large,0.1,2026-11-20T00:00:00Z\n",
         "found \"2026-11-20T00:00:00Z\", and wants a day", 2},
        /* quotes: within them a comma is none, and a line may end */
        {"\"type\",\"note\",\"price\"\n\"m5.large\",\"a, \"\"b\"\"\nc\",\"0.1\"\n\"m5.x\",,x",
         "found \"x\", and wants USD an hour", 4},
        {"type,price\nm5.large,\"0.1\"", "m5.large=100000", 0},
        {"type,price\nm5.large,\"0.1", "m5.large=100000", 0},
        {"type,price\nm5.large,\"", "found \"\", and wants USD", 2},
        {"type,price,note\nm5.large,0.1,", "m5.large=100000", 0},
        {"", "is empty", 0},
    };
    read_lists("", cases, COUNT_OF(cases));

    /* Of the region that is wanted and of those that name none; what else there is says nothing. */
#define TWO_REGIONS(more)                                                \
    "type,price,capacity,region,date\nm5.large,0.1,,us-east-1,2025-01\n" \
    "m5.large,0.04,spot,,2024-12\n" more
    static const struct list_case of_region[] = {
        {TWO_REGIONS("m5.large,0.2,,eu-west-1,2026-11\n"),
         "m5.large=100000 m5.large(spot)=40000 of us-east-1 at 2025-01", 0},
        {TWO_REGIONS("m5.large,0.2,,eu-west-1,soon\n,0.2,,eu-west-1,\nm5.large,-,,eu-west-1,\n"
                     "m5.large,0.2,reserved,eu-west-1,\n"),
         "m5.large=100000 m5.large(spot)=40000 of us-east-1 at 2025-01", 0},
        {TWO_REGIONS("m5.large,0.2,,us-east-1,soon\n"), "found \"soon\", and wants a day", 4},
        {TWO_REGIONS("m5.large,0.2,,,soon\n"), "found \"soon\", and wants a day", 4},
        {"type,price,region\nm5.large,-,eu-west-1\n",
         "has no prices of us-east-1, but of eu-west-1", 0},
    };
    read_lists("us-east-1", of_region, COUNT_OF(of_region));

    /* Cells behind the 256th are not looked at. */
    fresh();
    struct text_builder wide = {.arena = arena};
    text_builder_add(&wide, TEXT("type,price"));
    for (int i = 0; i < 300; i++)
        text_builder_add(&wide, TEXT(",region"));
    text_builder_add(&wide, TEXT("\nm5.large,0.1"));
    for (int i = 0; i < 300; i++)
        text_builder_add(&wide, TEXT(",x"));
    struct price_list list;
    struct error error = {0};
    CU_ASSERT_TRUE(
        price_list_read("file", text_builder_text(&wide), TEXT(""), arena, &list, &error));
    ASSERT_TEXT(list_text(&list), "m5.large=100000 of x");
}

#define CSV_HEADER                                                                         \
    "SKU,TermType,Unit,PricePerUnit,Currency,Product Family,Tenancy,Operating System,Pre " \
    "Installed S/W,CapacityStatus,operation,MarketOption,Instance Type,Region Code\n"
#define CSV_OFFER(unit, usd, currency, system, operation, type)                       \
    "S,OnDemand," unit "," usd "," currency ",Compute Instance,Shared," system ",NA," \
    "Used," operation ",OnDemand," type ",eu-west-1\n"

/* docs/reference/karpenter.md 7.4. */
static void aws_writes_csv(void)
{
    static const struct list_case cases[] = {
        {CSV_HEADER CSV_OFFER("Hrs", "0.1", "USD", "Linux", "RunInstances", "m5.large"),
         "m5.large=100000 of eu-west-1", 0},
        {"FormatVersion,v1.0\nPublication Date,2026-11-20T00:00:00Z\n" CSV_HEADER CSV_OFFER(
             "Hrs", "0.1", "USD", "Linux", "", "m5.large"),
         "m5.large=100000 of eu-west-1 at 2026-11-20", 0},
        {"FormatVersion,v1.0\nPublication Date,2026-11\n" CSV_HEADER CSV_OFFER(
             "Hrs", "0.1", "USD", "Linux", "", "m5.large"),
         "m5.large=100000 of eu-west-1 at 2026-11", 0},
        {"FormatVersion,v1.0\nPublication Date\n" CSV_HEADER CSV_OFFER("Hrs", "0.1", "USD", "Linux",
                                                                       "", "m5.large"),
         "m5.large=100000 of eu-west-1", 0},
        {CSV_HEADER CSV_OFFER("Hrs", "0.1", "USD", "Linux", "RunInstances:0002", "m5.large"),
         "has no on-demand price", 0},
        {CSV_HEADER CSV_OFFER("Hrs", "0.1", "USD", "Windows", "RunInstances", "m5.large"),
         "has no on-demand price", 0},
        {CSV_HEADER CSV_OFFER("Hrs", "0.1", "CNY", "Linux", "RunInstances", "m5.large"),
         "has no on-demand price", 0},
        {CSV_HEADER CSV_OFFER("Hrs", "0", "USD", "Linux", "RunInstances", "m5.large"),
         "has no on-demand price", 0},
        {CSV_HEADER CSV_OFFER("Hrs", "", "USD", "Linux", "RunInstances", "m5.large"),
         "has no on-demand price", 0},
        {CSV_HEADER CSV_OFFER("Quantity", "0.1", "USD", "Linux", "RunInstances", "m5.large"),
         "has no on-demand price", 0},
        {CSV_HEADER CSV_OFFER("Hrs", "0.1", "USD", "Linux", "RunInstances", ""),
         "has no on-demand price", 0},
        /* a header that never comes */
        {"FormatVersion,v1.0\n", "has no on-demand price", 0},
        {"FormatVersion,v1.0\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n" CSV_HEADER CSV_OFFER(
             "Hrs", "0.1", "USD", "Linux", "RunInstances", "m5.large"),
         "has no on-demand price", 0},
    };
    read_lists("", cases, COUNT_OF(cases));
}

#define PRODUCT(sku, more)                                                                   \
    "{" sku "\"productFamily\":\"Compute Instance\",\"attributes\":{\"tenancy\":\"Shared\"," \
    "\"operatingSystem\":\"Linux\",\"instanceType\":\"m5.large\",\"regionCode\":\"eu-west-"  \
    "1\"" more "}}"
#define OFFERS(product, terms) \
    "{\"products\":{\"S\":" product "},\"terms\":{\"OnDemand\":{\"S\":" terms "}}"
#define TERMS(unit, usd)                                                                \
    "{\"S.T\":{\"priceDimensions\":{\"S.T.D\":{\"unit\":\"" unit "\",\"pricePerUnit\":" \
    "{\"USD\":\"" usd "\"}}}}}"

static void aws_writes_json(void)
{
    static const struct list_case cases[] = {
        {OFFERS(PRODUCT("\"sku\":\"S\",", ""),
                TERMS("Hrs", "0.1")) ",\"publicationDate\":\"2026-11-20T00:00:00Z\"}",
         "m5.large=100000 of eu-west-1 at 2026-11-20", 0},
        {OFFERS(PRODUCT("\"sku\":\"S\",", ""),
                TERMS("Hrs", "0.1")) ",\"publicationDate\":\"2026\"}",
         "m5.large=100000 of eu-west-1 at 2026", 0},
        {OFFERS(PRODUCT("\"sku\":\"S\",", ",\"preInstalledSw\":\"SQL Std\""),
                TERMS("Hrs", "0.1")) "}",
         "has no on-demand price", 0},
        {OFFERS(PRODUCT("", ""), TERMS("Hrs", "0.1")) "}", "has no on-demand price", 0},
        {OFFERS(PRODUCT("\"sku\":\"S\",", ""), TERMS("Hrs", "0")) "}", "has no on-demand price", 0},
        {OFFERS(PRODUCT("\"sku\":\"S\",", ""), TERMS("Quantity", "0.1")) "}",
         "has no on-demand price", 0},
        {OFFERS(PRODUCT("\"sku\":\"S\",", ""), "{}") "}", "has no on-demand price", 0},
        {"{\"products\":7,\"terms\":{\"OnDemand\":{\"S\":" TERMS("Hrs", "0.1") "}}}",
         "has no on-demand price", 0},
        {"{\"products\":{}}", "is no offer file of EC2", 0},
        {"{\"products\":{},\"terms\":{\"OnDemand\":{\"S\" 7}}}", "ends in the middle of its terms",
         0},
        {"{\"products\":{},\"terms\":{\"OnDemand\":{\"S\":{\"a", "ends in the middle of its terms",
         0},
    };
    read_lists("", cases, COUNT_OF(cases));
}

#define PRICES(items) "{\"schema\":\"taffrail.dev/prices/v1\",\"prices\":[" items "]}"

static void imported_prices_are_read(void)
{
    static const struct {
        const char *text, *error; /* NULL: read, with m5.large at 0.1 */
    } cases[] = {
        {PRICES("{\"instanceType\":\"m5.large\",\"capacityType\":\"on-demand\","
                "\"usdPerHour\":0.1}"),
         NULL},
        {PRICES("{\"instanceType\":\"m5.large\",\"capacityType\":\"on-demand\",\"usdPerHour\":0.1}"
                ",{\"instanceType\":\"x9.new\",\"capacityType\":\"spot\",\"usdPerHour\":0}"),
         NULL},
        {PRICES("{\"capacityType\":\"spot\",\"usdPerHour\":0.1}"),
         "wants instanceType and capacityType"},
        {PRICES("{\"instanceType\":\"m5.large\",\"capacityType\":\"reserved\","
                "\"usdPerHour\":0.1}"),
         "wants instanceType and capacityType"},
        {PRICES("{\"instanceType\":\"m5.large\",\"capacityType\":\"spot\"}"), "wants usdPerHour"},
        {PRICES("{\"instanceType\":\"m5.large\",\"capacityType\":\"spot\",\"usdPerHour\":\"0.1\"}"),
         "wants usdPerHour"},
        {PRICES("{\"instanceType\":\"m5.large\",\"capacityType\":\"spot\",\"usdPerHour\":-1}"),
         "wants usdPerHour"},
        {PRICES("{\"instanceType\":\"m5.large\",\"capacityType\":\"spot\",\"usdPerHour\":1e40}"),
         "wants usdPerHour"},
        {"{\"schema\":\"taffrail.dev/prices/v1\",\"prices\":{}}", "wants schema and prices"},
        {"{\"schema\":\"taffrail.dev/prices/v2\",\"prices\":[]}", "wants schema and prices"},
        {"{\"schema\":", "not JSON"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error error = {0};
        fresh();
        struct source *source = ARENA_NEW(arena, struct source);
        source->file = "prices.json";
        source->text = text_of(cases[i].text);
        bool read = prices_read(source, arena, &catalog, &error);
        CU_ASSERT_EQUAL(read, cases[i].error == NULL);
        if (read)
            ASSERT_INT(catalog_type(catalog, index_of("m5.large"))->usd_micro_per_hour, 100000);
        else if (strstr(error.what, cases[i].error) == NULL)
            ASSERT_TEXT(text_of(error.what), cases[i].error);
    }
}

const char unit_suite[] = "catalog prices";
const struct unit_test unit_tests[] = {
    {"a user writes a table", a_user_writes_a_table},
    {"AWS writes CSV", aws_writes_csv},
    {"AWS writes JSON", aws_writes_json},
    {"imported prices are read", imported_prices_are_read},
    {NULL, NULL},
};
