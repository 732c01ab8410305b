/* Prints what a command's --help says, as wide as the terminal. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/wrap.h"
#include "cli/cli.h"

enum { MOST_COLUMNS = 100, LEFT_COLUMNS = 31, NARROW = 60, NARROW_LEFT = 8 };

/* Such a line is printed as it is: an empty one, one that is set in, a comment. */
static bool stands_alone(struct text line)
{
    return line.size == 0 || line.data[0] == ' ' || line.data[0] == '#';
}

static void end_paragraph(struct text *paragraph, size_t columns)
{
    if (paragraph->size > 0)
        put_wrapped(*paragraph, 0, 0, columns, stdout);
    *paragraph = TEXT("");
}

void help_put_notes(const char *notes, size_t columns)
{
    struct text rest = text_of(notes), paragraph = TEXT(""), line;
    while (rest.size > 0) {
        if (!text_split(rest, '\n', &line, &rest)) {
            line = rest;
            rest = TEXT("");
        }
        /* What an option does is a paragraph of its own. */
        if (stands_alone(line) || text_starts_with(line, TEXT("--")))
            end_paragraph(&paragraph, columns);
        if (stands_alone(line))
            printf("%.*s\n", TEXT_ARGS(line));
        else if (paragraph.size == 0)
            paragraph = line;
        else
            paragraph.size = (size_t)(line.data + line.size - paragraph.data);
    }
    end_paragraph(&paragraph, columns);
}

static void put_option(const struct option_spec *spec, size_t columns)
{
    size_t left = columns < NARROW ? NARROW_LEFT : LEFT_COLUMNS;
    char names[80];
    char letter[8] = "    ";
    if (spec->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", spec->letter);
    bool maybe = spec->kind == OPTION_MAYBE;
    snprintf(names, sizeof names, "  %s--%s%s%s%s", letter, spec->name,
             spec->argument == NULL ? ""
             : maybe                ? "[="
                                    : " ",
             spec->argument == NULL ? "" : spec->argument, maybe ? "]" : "");
    size_t at = (size_t)printf("%s", names);
    if (at + 2 > left)
        printf("\n%*s", (int)left + 2, "");
    else
        printf("%*s", (int)(left + 2 - at), "");
    put_wrapped(text_of(spec->help), left + 2, left + 2, columns, stdout);
}

void help_print(const struct description *description)
{
    static const struct option_spec help = {'h',  "help",      OPTION_FLAG, NULL,
                                            NULL, "show this", NULL};
    size_t columns = terminal_columns(STDOUT_FILENO);
    if (columns == 0)
        columns = TERMINAL_COLUMNS;
    if (columns > MOST_COLUMNS)
        columns = MOST_COLUMNS;
    printf("usage: taffrail %s\n\n", description->usage);
    if (description->notes != NULL)
        help_put_notes(description->notes, columns);
    printf("%soptions:\n", description->notes != NULL ? "\n" : "");
    for (const struct option_spec *spec = description->options; spec->name != NULL; spec++)
        put_option(spec, columns);
    put_option(&help, columns);
    printf("\nexamples:\n%s", help_examples(description->command));
}
