/* `taffrail catalog`: instance types, shown and filtered. */
#include "cli/catalog.h"

#include <stdio.h>
#include <string.h>

#include "catalog/catalog.h"
#include "cli/cli.h"

enum { FORMAT_TEXT, FORMAT_JSON };
static const char *const format_names[] = {"text", "json", NULL};

struct catalog_options {
    struct catalog_import import;
    const char *catalog_file;
    int format;
    struct string_list operands; /* the action first */
};

static const char usage[] = "catalog show NAME...\n"
                            "       taffrail catalog filter EXPRESSION... [OPTIONS]\n"
                            "       taffrail catalog import FILE [--region REGION] [OPTIONS]";
static const char notes[] =
    "show prints instance types with what a machine leaves to pods and all their labels; filter\n"
    "those that meet every EXPRESSION:\n"
    "  family=m5   family!=m5   'size in (large,xlarge)'   'size notin (metal)'\n"
    "  gpu-name    '!gpu-name'  'cpu>7'   'memory<65536' (MiB)   'generation>=6'\n"
    "A key is a label's full name, or what follows karpenter.k8s.aws/instance-, kubernetes.io/,\n"
    "topology.kubernetes.io/ or karpenter.sh/. The built-in catalogue has the types of EC2 with\n"
    "on-demand prices of us-east-1, July 2026. --catalog takes types in the form that Karpenter's\n"
    "kwok provider reads, or prices for the built-in types as import writes them.\n"
    "import reads AWS' offer file of EC2 (JSON or CSV, of one region or with --region), or a CSV "
    "with\n"
    "the columns instanceType and usdPerHour, and perhaps capacityType (on-demand, spot), region "
    "and\n"
    "date, and writes prices to standard output:\n"
    "  taffrail catalog import ec2.json --discount 12 > prices.json\n"
    "  taffrail plan --state DIR --catalog prices.json\n";

static void say_unknown_type(const struct catalog *catalog, const char *name, struct arena *arena)
{
    enum { TYPO_EDITS = 4 };
    size_t count = catalog_count(catalog);
    struct text *names = ARENA_ARRAY(arena, count, struct text);
    for (size_t i = 0; i < count; i++)
        names[i] = catalog_type(catalog, i)->name;
    size_t nearest = text_nearest(text_of(name), names, count, TYPO_EDITS);
    if (nearest < count)
        fprintf(stderr,
                "error: there is no instance type \"%s\" in the catalogue; the nearest is %.*s\n",
                name, TEXT_ARGS(names[nearest]));
    else
        fprintf(stderr,
                "error: there is no instance type \"%s\" in the catalogue; `taffrail catalog "
                "filter type` lists those there are\n",
                name);
}

static int print(const struct catalog_options *options, const struct catalog *catalog,
                 const struct type_set *types, bool details, struct arena *arena)
{
    struct error error;
    if (options->format == FORMAT_JSON) {
        if (!catalog_print_json(catalog, types, arena, &error))
            return print_error(&error);
    } else if (details) {
        catalog_print_details(catalog, types, arena);
    } else {
        catalog_print_table(catalog, types, arena);
    }
    return EXIT_CLEAN;
}

static int show(const struct catalog_options *options, const struct catalog *catalog,
                struct arena *arena)
{
    struct type_set types = type_set_create(catalog, arena);
    int worst = EXIT_CLEAN;
    for (size_t i = 1; i < options->operands.count; i++) {
        const char *name = options->operands.items[i];
        size_t index = catalog_find(catalog, text_of(name));
        if (index < catalog_count(catalog)) {
            type_set_add(&types, index);
        } else {
            say_unknown_type(catalog, name, arena);
            worst = EXIT_USAGE;
        }
    }
    int printed = print(options, catalog, &types, true, arena);
    return printed > worst ? printed : worst;
}

static int filter(const struct catalog_options *options, const struct catalog *catalog,
                  struct arena *arena)
{
    struct catalog_filter wanted = {
        .catalog = catalog,
        .arena = arena,
        .names = solver_names_create(arena, catalog_names(catalog)),
    };
    for (size_t i = 1; i < options->operands.count; i++) {
        struct error error;
        if (!catalog_filter_add(&wanted, text_of(options->operands.items[i]), &error))
            return usage_error("catalog filter", "%s", error.what);
    }
    struct type_set types = wanted.leaves_none
                                ? type_set_create(catalog, arena)
                                : catalog_select(catalog, wanted.names, &wanted.set, arena);
    return print(options, catalog, &types, false, arena);
}

static int run(struct arena *arena, void *argument)
{
    const struct catalog_options *options = argument;
    const struct catalog *catalog;
    struct error error;
    if (strcmp(options->operands.items[0], "import") == 0)
        return catalog_import_file(&options->import, arena);
    if (!catalog_load(options->catalog_file, arena, &catalog, &error))
        return print_error(&error);
    bool showing = strcmp(options->operands.items[0], "show") == 0;
    return showing ? show(options, catalog, arena) : filter(options, catalog, arena);
}

static int check_operands(const struct string_list *operands)
{
    if (operands->count == 0)
        return usage_error("catalog", "say what to do: show or filter, or import");
    const char *action = operands->items[0];
    bool imports = strcmp(action, "import") == 0;
    if (strcmp(action, "show") != 0 && strcmp(action, "filter") != 0 && !imports)
        return usage_error("catalog", "there is no \"%s\"; allowed are show and filter, and import",
                           action);
    if (imports && operands->count != 2)
        return usage_error("catalog", "import wants one file of prices");
    if (operands->count == 1 && strcmp(action, "show") == 0)
        return usage_error("catalog", "show wants the names of instance types, such as m5.large");
    if (operands->count == 1)
        return usage_error("catalog", "filter wants an expression, such as family=m5");
    return EXIT_CLEAN;
}

int command_catalog(int argc, char **argv)
{
    struct catalog_options options = {.format = FORMAT_TEXT};
    const struct option_spec table[] = {
        OPTION_CATALOG(&options.catalog_file),
        {'o', "output", OPTION_CHOICE, &options.format, "text|json", "how to print (text)",
         format_names},
        {0, "region", OPTION_STRING, &options.import.region, "REGION",
         "import: whose prices, where a file has those of many or does not say", NULL},
        {0, "date", OPTION_STRING, &options.import.date, "DATE",
         "import: of which day or month they are, where a file does not say", NULL},
        {0, "discount", OPTION_STRING, &options.import.discount, "PERCENT",
         "import: what is taken off each price", NULL},
        {0},
    };
    enum options_result result = options_read(argc, argv, table, usage, notes, &options.operands);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    int wrong = check_operands(&options.operands);
    if (options.operands.count == 2)
        options.import.file = options.operands.items[1];
    return wrong != EXIT_CLEAN ? wrong : run_in_arena(run, &options);
}
