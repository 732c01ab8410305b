/* The manual pages, from the tables and notes of --help, in troff's man macros. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cli/cli.h"

static void put_escaped(struct text t, bool line_start, FILE *out)
{
    for (size_t i = 0; i < t.size; i++) {
        char c = t.data[i];
        if (line_start && i == 0 && (c == '.' || c == '\''))
            fputs("\\&", out);
        if (c == '\\')
            fputs("\\e", out);
        else if (c == '-')
            fputs("\\-", out);
        else
            fputc(c, out);
    }
}

static void put(const char *text, FILE *out)
{
    put_escaped(text_of(text), false, out);
}

static struct text next_line(struct text *rest)
{
    struct text line;
    if (!text_split(*rest, '\n', &line, rest)) {
        line = *rest;
        *rest = TEXT("");
    }
    return line;
}

/* Lines that begin with a blank or a # stay as they are; the others are filled. */
static void put_notes(const char *notes, FILE *out)
{
    struct text rest = text_of(notes);
    bool verbatim = false, first = true;
    while (rest.size > 0) {
        struct text line = next_line(&rest);
        bool as_it_is = line.size > 0 && (line.data[0] == ' ' || line.data[0] == '#');
        if (as_it_is != verbatim)
            fprintf(out, "%s%s", as_it_is ? "" : ".fi\n", first ? "" : ".PP\n");
        if (as_it_is && !verbatim)
            fputs(".nf\n", out);
        verbatim = as_it_is;
        first = first && line.size == 0;
        put_escaped(line, true, out);
        fputs(line.size > 0 ? "\n" : "", out);
    }
    if (verbatim)
        fputs(".fi\n", out);
}

static void put_option(const struct option_spec *spec, FILE *out)
{
    fputs(".TP\n", out);
    if (spec->letter != 0)
        fprintf(out, "\\fB\\-%c\\fR, ", spec->letter);
    fputs("\\fB\\-\\-", out);
    put(spec->name, out);
    fputs("\\fR", out);
    if (spec->argument != NULL) {
        fputs(spec->kind == OPTION_MAYBE ? "[=\\fI" : " \\fI", out);
        put(spec->argument, out);
        fputs(spec->kind == OPTION_MAYBE ? "\\fR]" : "\\fR", out);
    }
    fputc('\n', out);
    put_escaped(text_of(spec->help), true, out);
    fputc('\n', out);
}

static void put_start(const char *title, const char *name, const char *summary, FILE *out)
{
    fprintf(out, ".TH %s 1 \"\" \"taffrail %s\" \"Taffrail\"\n.SH NAME\n", title, taffrail_version);
    put(name, out);
    fputs(" \\- ", out);
    put(summary, out);
    fputs("\n", out);
}

static const char exit_status[] =
    ".SH EXIT STATUS\n"
    ".TP\n0\nclean\n"
    ".TP\n1\nfindings at or above \\fB\\-\\-fail\\-on\\fR; of plan, pods that fit nowhere\n"
    ".TP\n2\na usage, policy or input error; what could be read is reported\n"
    ".TP\n3\nthe cluster cannot be reached\n";

static const char environment[] =
    ".SH ENVIRONMENT\n"
    ".TP\n\\fBKUBECONFIG\\fR\nfiles with clusters, separated by colons, as kubectl reads them\n"
    ".TP\n\\fBHTTPS_PROXY\\fR, \\fBHTTP_PROXY\\fR, \\fBNO_PROXY\\fR\nproxies, as kubectl uses "
    "them\n"
    ".TP\n\\fBNO_COLOR\\fR\nwhen it is set and not empty, nothing is coloured\n"
    ".TP\n\\fBCLICOLOR_FORCE\\fR\nwhen it is set and neither empty nor 0, output is coloured "
    "though it goes to no terminal\n"
    ".TP\n\\fBTERM\\fR\ndumb: no colours and no progress line\n"
    ".TP\n\\fBCOLUMNS\\fR\nhow wide the terminal is; otherwise it is asked\n";

struct page {
    const struct command *command;
    FILE *out;
};

static void put_page(const struct description *description, void *context)
{
    const struct page *page = context;
    FILE *out = page->out;
    char name[64], title[64];
    snprintf(name, sizeof name, "taffrail-%s", page->command->name);
    snprintf(title, sizeof title, "%s", name);
    for (char *c = title; *c != '\0'; c++)
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    put_start(title, name, page->command->summary, out);
    fputs(".SH SYNOPSIS\n.nf\n", out);
    struct text usage = text_of(description->usage);
    for (bool first = true; usage.size > 0; first = false) {
        struct text line = next_line(&usage);
        while (line.size > 0 && line.data[0] == ' ')
            line = (struct text){line.data + 1, line.size - 1};
        fputs(first ? "taffrail " : "", out);
        put_escaped(line, false, out);
        fputc('\n', out);
    }
    fputs(".fi\n", out);
    if (description->notes != NULL) {
        fputs(".SH DESCRIPTION\n", out);
        put_notes(description->notes, out);
    }
    fputs(".SH OPTIONS\n", out);
    for (const struct option_spec *spec = description->options; spec->name != NULL; spec++)
        put_option(spec, out);
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow the same in short\n", out);
    fputs(".SH EXAMPLES\n", out);
    put_notes(help_examples(page->command->name), out);
    fputs(exit_status, out);
    fputs(".SH SEE ALSO\n.BR taffrail (1)\n", out);
}

static void put_overview(FILE *out)
{
    put_start("TAFFRAIL", "taffrail",
              "guards the rails of compute and placement in a Kubernetes cluster", out);
    fputs(
        ".SH SYNOPSIS\n.B taffrail\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n"
        "An admission webhook that keeps compute inside the guard rails which a platform team has "
        "written down, and the tools around it. As \\fBkubectl taffrail\\fR it is a plugin of "
        "kubectl.\n.SH COMMANDS\n",
        out);
    for (const struct command *command = commands; command->name != NULL; command++) {
        fprintf(out, ".TP\n.BR taffrail\\-%s (1)\n", command->name);
        put(command->summary, out);
        fputc('\n', out);
    }
    fputs(exit_status, out);
    fputs(environment, out);
    fputs(".SH SEE ALSO\n", out);
    for (const struct command *command = commands; command->name != NULL; command++)
        fprintf(out, ".BR taffrail\\-%s (1)%s\n", command->name,
                command[1].name == NULL ? "" : ",");
}

static FILE *open_page(const char *folder, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s.1", folder, name) >= (int)sizeof path)
        errno = ENAMETOOLONG;
    else {
        FILE *out = fopen(path, "w");
        if (out != NULL)
            return out;
    }
    fprintf(stderr, "taffrail: %s/%s.1: %s\n", folder, name, strerror(errno));
    return NULL;
}

/* Ends a page; false when it could not be written. */
static bool close_page(FILE *out)
{
    bool failed = ferror(out) != 0;
    return fclose(out) == 0 && !failed;
}

int manual_write(const char *folder)
{
    struct page page = {.out = open_page(folder, "taffrail")};
    if (page.out == NULL)
        return EXIT_USAGE;
    put_overview(page.out);
    bool written = close_page(page.out);
    for (page.command = commands; written && page.command->name != NULL; page.command++) {
        char name[64];
        snprintf(name, sizeof name, "taffrail-%s", page.command->name);
        page.out = open_page(folder, name);
        if (page.out == NULL)
            return EXIT_USAGE;
        options_describe(page.command, put_page, &page);
        written = close_page(page.out);
    }
    return written ? EXIT_CLEAN : EXIT_USAGE;
}
