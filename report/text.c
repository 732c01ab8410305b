#include "report/report.h"

/* Escape sequences, or nothing where they would not be shown. */
struct palette {
    const char *bold, *dim, *red, *yellow, *blue, *green, *plain;
};
static const struct palette colours = {"\033[1m",  "\033[2m",  "\033[31m", "\033[33m",
                                       "\033[34m", "\033[32m", "\033[0m"};
static const struct palette no_colours = {"", "", "", "", "", "", ""};

static const char *colour_of(const struct palette *palette, const struct finding *finding)
{
    switch (finding->action) {
    case ACTION_DENY:
        return palette->red;
    case ACTION_WARN:
        return palette->yellow;
    case ACTION_AUDIT:
        return palette->blue;
    case ACTION_EXCEPTED:
        return palette->green;
    case ACTION_NONE:
        break;
    }
    return palette->plain;
}

static struct text line_of(struct text text, uint32_t offset)
{
    size_t start = offset < text.size ? offset : text.size;
    while (start > 0 && text.data[start - 1] != '\n')
        start--;
    size_t end = start;
    while (end < text.size && text.data[end] != '\n' && text.data[end] != '\r')
        end++;
    return (struct text){text.data + start, end - start};
}

static bool starts_code_point(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t code_points(struct text t)
{
    size_t count = 0;
    for (size_t i = 0; i < t.size; i++)
        count += starts_code_point(t.data[i]);
    return count;
}

/* A terminal obeys what it prints: control characters become blanks, tabs too so that the caret
 * stands right. */
static void put_printable(struct text t, FILE *out)
{
    for (size_t i = 0; i < t.size; i++)
        fputc((unsigned char)t.data[i] < 0x20 || t.data[i] == 0x7f ? ' ' : t.data[i], out);
}

/* The line, and below it a caret under the value. A long line (JSON comes on one) is cut to what
 * lies around the value. */
static void put_snippet(const struct finding *finding, struct text source, struct place place,
                        const struct palette *palette, FILE *out)
{
    enum { BEFORE = 60, WIDTH = 110 };
    uint32_t offset = field_offset(finding->field);
    struct text line = line_of(source, offset);
    size_t at = (size_t)(source.data + offset - line.data);
    if (at > line.size)
        return;
    size_t from = at > BEFORE && line.size > WIDTH ? at - BEFORE : 0;
    while (from > 0 && !starts_code_point(line.data[from]))
        from--;
    struct text before = {line.data + from, at - from};
    size_t rest = line.size - at;
    struct text after = {line.data + at, rest > WIDTH - BEFORE ? WIDTH - BEFORE : rest};
    while (after.size > 0 && after.size < rest && !starts_code_point(after.data[after.size]))
        after.size--;

    fprintf(out, "%s%6u |%s ", palette->dim, place.line, palette->plain);
    put_printable(before, out);
    put_printable(after, out);
    const struct node *node = finding->field->node;
    bool scalar = node_is(node, NODE_STRING) || node_is(node, NODE_NUMBER);
    size_t marked = scalar && node->size > 0 && node->size <= after.size ? node->size : 1;
    fprintf(out, "\n%s       |%s %*s%s^", palette->dim, palette->plain, (int)code_points(before),
            "", colour_of(palette, finding));
    for (size_t i = 1; i < marked; i++)
        if (starts_code_point(after.data[i]))
            fputc('~', out);
    fprintf(out, "%s\n", palette->plain);
}

static const char *label_of(const struct finding *finding)
{
    if (finding->undecided)
        return "undecided";
    return action_name(finding->action);
}

static void put_note(const char *label, struct text note, const char *colour,
                     const struct palette *palette, FILE *out)
{
    if (note.size > 0)
        fprintf(out, "  %s%s:%s %.*s\n", colour, label, palette->plain, TEXT_ARGS(note));
}

static void put_finding(const struct object *object, const struct finding *finding,
                        const struct palette *palette, struct arena *arena, FILE *out)
{
    struct place place = source_place(object->source, arena, field_offset(finding->field));
    struct text name = object_display_name(object, arena);
    fprintf(out, "%s%s:%u:%u:%s %s%s%s %s  %.*s ", palette->bold, place.file, place.line,
            place.column, palette->plain, colour_of(palette, finding), label_of(finding),
            palette->plain, finding->rail, TEXT_ARGS(object->kind_name));
    if (object->namespace.size > 0)
        fprintf(out, "%.*s/", TEXT_ARGS(object->namespace));
    put_printable(name, out);
    fputc('\n', out);
    put_snippet(finding, object->source->text, place, palette, out);
    fprintf(out, "  %.*s\n", TEXT_ARGS(finding->message));
    put_note("fix", finding->fix, palette->green, palette, out);
    put_note("field", finding->path, palette->dim, palette, out);
    if (finding->exception.data != NULL && !finding->exception_expired)
        put_note("exception", finding->exception, palette->dim, palette, out);
    put_note("docs", finding->docs, palette->dim, palette, out);
    put_note("ask", finding->contact, palette->dim, palette, out);
    fputc('\n', out);
}

static void put_summary(const struct report *report, FILE *out)
{
    struct report_summary summary = report_summarize(report);
    const struct {
        size_t count;
        const char *what;
    } counts[] = {
        {summary.denied, "denied"},       {summary.warned, "warned"},
        {summary.audited, "audited"},     {summary.excepted, "excepted"},
        {summary.undecided, "undecided"}, {summary.skipped, "skipped"},
    };
    fprintf(out, "%zu object%s checked", summary.objects, summary.objects == 1 ? "" : "s");
    bool any = false;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i].count == 0)
            continue;
        fprintf(out, "%s%zu %s", any ? ", " : ": ", counts[i].count, counts[i].what);
        any = true;
    }
    if (summary.errors > 0)
        fprintf(out, "%s%zu error%s", any ? ", " : ": ", summary.errors,
                summary.errors == 1 ? "" : "s");
    else if (!any)
        fputs(", nothing found", out);
    fputc('\n', out);
}

void report_text(const struct report *report, bool colour, struct arena *arena, FILE *out)
{
    const struct palette *palette = colour ? &colours : &no_colours;
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct report_entry *entry = &report->entries[i];
        for (size_t j = 0; j < entry->verdict.finding_count; j++)
            put_finding(entry->object, &entry->verdict.findings[j], palette, arena, out);
    }
    put_summary(report, out);
}
