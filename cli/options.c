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

/* What --help does instead of printing, where something else wants the description. */
static struct {
    void (*describe)(const struct description *description, void *context);
    void *context;
} describing;

void options_describe(const struct command *command,
                      void (*describe)(const struct description *description, void *context),
                      void *context)
{
    char help[] = "--help";
    char *argv[] = {(char *)command->name, help, NULL};
    describing.describe = describe;
    describing.context = context;
    command->run(2, argv);
    describing.describe = NULL;
}

static void describe_or_print(const struct description *description)
{
    if (describing.describe != NULL)
        describing.describe(description, describing.context);
    else
        help_print(description);
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

size_t string_list_count(const struct string_list *list, const char *item)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], item) == 0)
            count++;
    return count;
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

/* Options that begin so, and how many there are. */
static size_t name_beginning(const struct option_spec *table, struct text name, char *list,
                             size_t size)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; name.size > 0 && table[i].name != NULL && at < size; i++)
        if (text_starts_with(text_of(table[i].name), name))
            at += (size_t)snprintf(list + at, size - at, "%s--%s", count++ > 0 ? " or " : "",
                                   table[i].name);
    return count;
}

/* A whole name behind one hyphen, as programs in Go take it; NULL: there is none. */
static const char *name_behind_one_hyphen(char **argv, const struct option_spec *table)
{
    for (char **word = argv + 1; *word != NULL; word++) {
        struct text written = text_of(*word);
        text_split(written, '=', &written, NULL);
        for (const struct option_spec *spec = table; spec->name != NULL; spec++)
            if (written.size > 2 && written.data[0] == '-' &&
                text_is((struct text){written.data + 1, written.size - 1}, spec->name))
                return spec->name;
    }
    return NULL;
}

static void say_unknown_letter(char **argv, const struct option_spec *table, int letter)
{
    const char *command = argv[0];
    const char *name = name_behind_one_hyphen(argv, table);
    if (name != NULL) {
        usage_error(command, "there is no option -%s; did you mean --%s?", name, name);
        return;
    }
    for (const struct option_spec *spec = table; spec->name != NULL; spec++)
        if (spec->letter != 0 && (spec->letter ^ letter) == ('a' ^ 'A')) {
            usage_error(command, "there is no option -%c; did you mean -%c, --%s?", letter,
                        spec->letter, spec->name);
            return;
        }
    usage_error(command, "there is no option -%c", letter);
}

static void say_unknown_name(const char *command, const struct option_spec *table, struct text name)
{
    struct text names[MOST_OPTIONS];
    char beginning[256];
    size_t count = 0;
    for (; count < MOST_OPTIONS && table[count].name != NULL; count++)
        names[count] = text_of(table[count].name);
    size_t nearest = text_meant(name, names, count);
    if (name_beginning(table, name, beginning, sizeof beginning) > 1)
        usage_error(command, "--%.*s may be %s: write more of it", TEXT_ARGS(name), beginning);
    else if (nearest < count)
        usage_error(command, "there is no option --%.*s; did you mean --%s?", TEXT_ARGS(name),
                    table[nearest].name);
    else
        usage_error(command, "there is no option --%.*s", TEXT_ARGS(name));
}

/* What getopt_long does not take: `letter` is one, or 0 for a name, or the row of a flag that was
 * given a value. */
static void say_unknown(char **argv, const struct option_spec *table, int letter,
                        const char *written)
{
    const char *command = argv[0];
    struct text name = text_of(written);
    while (name.size > 0 && name.data[0] == '-') {
        name.data++;
        name.size--;
    }
    text_split(name, '=', &name, NULL);
    if (letter >= LONG_ONLY)
        usage_error(command, "--%s takes no value", table[letter - LONG_ONLY].name);
    else if (letter == 'h')
        usage_error(command, "--help takes no value");
    else if (letter != 0)
        say_unknown_letter(argv, table, letter);
    else
        say_unknown_name(command, table, name);
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
            describe_or_print(&(struct description){argv[0], usage, notes, table});
            return OPTIONS_HELPED;
        }
        if (found == ':') {
            usage_error(argv[0], "option %s wants a value", argv[optind - 1]);
            return OPTIONS_WRONG;
        }
        if (found == '?') {
            say_unknown(argv, table, optopt, argv[optind - 1]);
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
