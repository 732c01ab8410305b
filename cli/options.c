/* Reads the options of commands, by one table each. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MOST_OPTIONS = 32, LONG_ONLY = 256 };

int usage_error(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "taffrail %s: ", command);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\ntry: taffrail %s --help\n", command);
    va_end(args);
    return EXIT_USAGE;
}

static void print_help(const struct option_spec *table, const char *usage, const char *notes)
{
    printf("usage: taffrail %s\n\noptions:\n", usage);
    for (const struct option_spec *spec = table; spec->name != NULL; spec++) {
        char left[64];
        char letter[8] = "    ";
        if (spec->letter != 0)
            snprintf(letter, sizeof letter, "-%c, ", spec->letter);
        bool maybe = spec->kind == OPTION_MAYBE;
        snprintf(left, sizeof left, "%s--%s%s%s%s", letter, spec->name,
                 spec->argument == NULL ? ""
                 : maybe                ? "[="
                                        : " ",
                 spec->argument == NULL ? "" : spec->argument, maybe ? "]" : "");
        printf("  %-30s %s\n", left, spec->help);
    }
    printf("  %-30s %s\n", "-h, --help", "show this");
    if (notes != NULL)
        printf("\n%s", notes);
}

/* For getopt: the letters, and the long names with the index of their row. */
struct getopt_tables {
    char letters[MOST_OPTIONS * 2 + 4];
    struct option names[MOST_OPTIONS + 2];
};

static void build_tables(const struct option_spec *table, struct getopt_tables *tables)
{
    char *letter = tables->letters;
    *letter++ = ':'; /* distinguishes a missing argument from an unknown option */
    *letter++ = 'h';
    int count = 0;
    for (; count < MOST_OPTIONS && table[count].name != NULL; count++) {
        int has_argument = table[count].kind == OPTION_FLAG    ? no_argument
                           : table[count].kind == OPTION_MAYBE ? optional_argument
                                                               : required_argument;
        tables->names[count] =
            (struct option){table[count].name, has_argument, NULL, LONG_ONLY + count};
        if (table[count].letter == 0)
            continue;
        *letter++ = table[count].letter;
        if (has_argument == required_argument)
            *letter++ = ':';
    }
    tables->names[count] = (struct option){"help", no_argument, NULL, 'h'};
    *letter = '\0';
}

static int row_of(const struct option_spec *table, int found)
{
    if (found >= LONG_ONLY)
        return found - LONG_ONLY;
    int row = 0;
    while (table[row].name != NULL && table[row].letter != found)
        row++;
    return row;
}

/* The items of all lists, until options_free. */
static const char **list_memory[MOST_OPTIONS + 1];
static size_t list_memory_count;

bool string_list_has(const struct string_list *list, const char *item)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], item) == 0)
            return true;
    return false;
}

void options_free(void)
{
    while (list_memory_count > 0)
        free((void *)list_memory[--list_memory_count]);
}

static void list_add(struct string_list *list, const char *item, int argc)
{
    if (list->items == NULL) {
        list->items = (const char **)calloc((size_t)argc + 1, sizeof *list->items);
        if (list->items == NULL || list_memory_count > MOST_OPTIONS) {
            fprintf(stderr, "taffrail: no memory to read the command line\n");
            exit(EXIT_USAGE);
        }
        list_memory[list_memory_count++] = list->items;
    }
    list->items[list->count++] = item;
}

struct text strings_joined(const struct string_list *list, struct arena *arena)
{
    struct text_builder joined = {.arena = arena};
    for (size_t i = 0; i < list->count; i++)
        text_builder_list(&joined, text_of(list->items[i]));
    return text_builder_text(&joined);
}

static bool take_choice(const char *command, const struct option_spec *spec, const char *value)
{
    size_t count = 0;
    for (; spec->choices[count] != NULL; count++)
        if (strcmp(spec->choices[count], value) == 0) {
            *(int *)spec->target = (int)count;
            return true;
        }
    fprintf(stderr, "taffrail %s: --%s is \"%s\"; allowed are ", command, spec->name, value);
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s%s", i == 0 ? "" : ", ", spec->choices[i]);
    fprintf(stderr, "\n");
    return false;
}

static bool take(const char *command, const struct option_spec *spec, const char *value, int argc)
{
    switch (spec->kind) {
    case OPTION_FLAG:
        *(bool *)spec->target = true;
        return true;
    case OPTION_STRING:
        *(const char **)spec->target = value;
        return true;
    case OPTION_MAYBE:
        *(const char **)spec->target = value == NULL ? "" : value;
        return true;
    case OPTION_LIST:
        list_add(spec->target, value, argc);
        return true;
    case OPTION_CHOICE:
        return take_choice(command, spec, value);
    }
    return false;
}

static void say_unknown(const char *command, const struct option_spec *table, const char *written)
{
    enum { TYPO_EDITS = 3 };
    struct text names[MOST_OPTIONS];
    size_t count = 0;
    for (; count < MOST_OPTIONS && table[count].name != NULL; count++)
        names[count] = text_of(table[count].name);
    struct text name = text_of(written);
    while (name.size > 0 && name.data[0] == '-') {
        name.data++;
        name.size--;
    }
    text_split(name, '=', &name, NULL);
    size_t nearest = text_nearest(name, names, count, TYPO_EDITS);
    if (nearest < count)
        usage_error(command, "there is no option %s; did you mean --%s?", written,
                    table[nearest].name);
    else
        usage_error(command, "there is no option %s", written);
}

enum options_result options_read(int argc, char **argv, const struct option_spec *table,
                                 const char *usage, const char *notes, struct string_list *operands)
{
    struct getopt_tables tables = {0};
    build_tables(table, &tables);
    opterr = 0;
    optind = 0;
    for (;;) {
        int found = getopt_long(argc, argv, tables.letters, tables.names, NULL);
        if (found == -1)
            break;
        if (found == 'h') {
            print_help(table, usage, notes);
            return OPTIONS_HELPED;
        }
        if (found == ':') {
            usage_error(argv[0], "option %s wants a value", argv[optind - 1]);
            return OPTIONS_WRONG;
        }
        if (found == '?') {
            say_unknown(argv[0], table, argv[optind - 1]);
            return OPTIONS_WRONG;
        }
        if (!take(argv[0], &table[row_of(table, found)], optarg, argc))
            return OPTIONS_WRONG;
    }
    for (int i = optind; i < argc; i++)
        list_add(operands, argv[i], argc);
    return OPTIONS_READ;
}

int options_exit_code(enum options_result result)
{
    return result == OPTIONS_WRONG ? EXIT_USAGE : EXIT_CLEAN;
}
