/* Workflow commands: GitHub turns each into an annotation at its line of the change. */
#include <string.h>

#include "report/format.h"

/* A line break would end the command; in a property, a colon or a comma would end the property. */
static void put_escaped(struct text t, bool property, FILE *out)
{
    const char *special = property ? "%\r\n:," : "%\r\n";
    for (size_t i = 0; i < t.size; i++) {
        char c = t.data[i];
        if (c != '\0' && strchr(special, c) != NULL)
            fprintf(out, "%%%02X", (unsigned)c);
        else
            fputc(c, out);
    }
}

/* A command's properties. */
struct command {
    const char *name, *file;
    struct region region; /* line 0: the whole file */
    struct text title;
};

static void put_number(const char *name, uint32_t number, FILE *out)
{
    if (number > 0)
        fprintf(out, "%s=%u,", name, number);
}

static void put_command(const struct command *command, struct text message, FILE *out)
{
    const struct region *region = &command->region;
    fprintf(out, "::%s ", command->name);
    if (command->file != NULL) {
        fputs("file=", out);
        put_escaped(text_of(short_path(command->file)), true, out);
        fputc(',', out);
    }
    put_number("line", region->line, out);
    put_number("col", region->column, out);
    /* An end column refers to the same line. */
    put_number("endColumn", region->end_line == region->line ? region->end_column : 0, out);
    fputs("title=", out);
    put_escaped(command->title, true, out);
    fputs("::", out);
    put_escaped(message, false, out);
    fputc('\n', out);
}

static const char *const command_names[] = {
    [ACTION_NONE] = "notice",  [ACTION_EXCEPTED] = "notice", [ACTION_AUDIT] = "notice",
    [ACTION_WARN] = "warning", [ACTION_DENY] = "error",
};

bool report_github(const struct report *report, const struct report_style *style,
                   struct arena *arena, FILE *out, struct error *error)
{
    (void)style;
    (void)error;
    size_t count;
    struct located_finding *located = locate_findings(report, arena, &count);
    count = findings_say_once(located, count, arena);
    for (size_t i = 0; i < count; i++) {
        const struct finding *finding = located[i].finding;
        struct text name = object_title(located[i].object, arena);
        struct command command = {
            .name = command_names[finding->action],
            .file = located[i].place.file,
            .region = finding_region(&located[i], arena),
            .title = arena_printf(arena, "%s: %.*s %.*s", finding->rail,
                                  TEXT_ARGS(located[i].object->kind_name), TEXT_ARGS(name)),
        };
        struct text more = finding_more(&located[i], arena);
        put_command(&command,
                    arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(finding_advice(finding, arena)),
                                 more.size > 0 ? "\n" : "", TEXT_ARGS(more)),
                    out);
    }
    const struct located_error *errors = locate_errors(report, arena, &count);
    for (size_t i = 0; i < count; i++) {
        struct command command = {
            .name = "error",
            .file = errors[i].place.file,
            .region = {.line = errors[i].place.line, .column = errors[i].place.column},
            .title = TEXT("not readable"),
        };
        put_command(&command, errors[i].message, out);
    }
    put_summary(report, out);
    return true;
}
