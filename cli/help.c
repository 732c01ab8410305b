/* Prints what a command's --help says, as wide as the terminal. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { MOST_COLUMNS = 100, LEFT_COLUMNS = 31, NARROW = 60, NARROW_LEFT = 8 };

static size_t code_point_count(struct text t)
{
    size_t count = 0;
    for (size_t i = 0; i < t.size; i++)
        count += ((unsigned char)t.data[i] & 0xc0) != 0x80;
    return count;
}

/* Prints words from column `at` on, later lines from `indent` on. Returns where it ended. */
static size_t put_words(struct text words, size_t at, size_t indent, size_t columns)
{
    bool first = at == indent;
    while (words.size > 0) {
        struct text word = words;
        if (!text_split(words, ' ', &word, &words))
            words = TEXT("");
        if (word.size == 0)
            continue;
        size_t width = code_point_count(word);
        if (!first && at + 1 + width > columns) {
            printf("\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        printf("%.*s", TEXT_ARGS(word));
        at += width;
        first = false;
    }
    return at;
}

void help_put_notes(const char *notes, size_t columns)
{
    struct text rest = text_of(notes), line;
    size_t at = 0;
    while (rest.size > 0) {
        if (!text_split(rest, '\n', &line, &rest)) {
            line = rest;
            rest = TEXT("");
        }
        if (line.size == 0 || line.data[0] == ' ' || line.data[0] == '#') {
            printf("%s%.*s\n", at > 0 ? "\n" : "", TEXT_ARGS(line));
            at = 0;
        } else {
            if (at > 0 && text_starts_with(line, TEXT("--"))) { /* what an option does is its own */
                putchar('\n');
                at = 0;
            }
            at = put_words(line, at, 0, columns);
        }
    }
    if (at > 0)
        putchar('\n');
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
    put_words(text_of(spec->help), left + 2, left + 2, columns);
    putchar('\n');
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
