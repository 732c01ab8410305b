/* Findings as text. */
#include <string.h>

#include "report/format.h"

/* Escape sequences, or empty without colour. */
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

/* At most this many bytes of the line on either side of the offset: all JSON may be on one line. */
static struct text line_around(struct text text, uint32_t offset, size_t most)
{
    size_t at = offset < text.size ? offset : text.size;
    size_t start = at, end = at;
    while (start > 0 && at - start < most && text.data[start - 1] != '\n')
        start--;
    while (end < text.size && end - at < most && text.data[end] != '\n' && text.data[end] != '\r')
        end++;
    return (struct text){text.data + start, end - start};
}

static bool starts_code_point(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

size_t code_points(struct text t)
{
    size_t count = 0;
    for (size_t i = 0; i < t.size; i++)
        count += starts_code_point(t.data[i]);
    return count;
}

void put_printable(struct text t, FILE *out)
{
    for (size_t i = 0; i < t.size; i++)
        fputc((unsigned char)t.data[i] < 0x20 || t.data[i] == 0x7f ? ' ' : t.data[i], out);
}

/* The line, and a caret under the value. A long line (JSON may be one line) is cut around the
 * value. */
static void put_snippet(const struct finding *finding, struct text source, struct place place,
                        const struct palette *palette, FILE *out)
{
    enum { BEFORE = 60, WIDTH = 110 };
    uint32_t offset = field_offset(finding->field);
    struct text line = line_around(source, offset, WIDTH + 1);
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
    size_t written = scalar_written(source, node).size;
    size_t marked = written > 0 && written <= after.size ? written : 1;
    fprintf(out, "\n%s       |%s %*s%s^", palette->dim, palette->plain, (int)code_points(before),
            "", colour_of(palette, finding));
    for (size_t i = 1; i < marked; i++)
        if (starts_code_point(after.data[i]))
            fputc('~', out);
    fprintf(out, "%s\n", palette->plain);
}

static void put_finding(const struct located_finding *located, const struct palette *palette,
                        struct arena *arena, FILE *out)
{
    const struct finding *finding = located->finding;
    struct place place = located->place;
    struct text title = object_title(located->object, arena);
    fprintf(out, "%s%s:%u:%u:%s %s%s%s %s  %.*s %.*s\n", palette->bold, place.file, place.line,
            place.column, palette->plain, colour_of(palette, finding), finding_label(finding),
            palette->plain, finding->rail, TEXT_ARGS(located->object->kind_name), TEXT_ARGS(title));
    put_snippet(finding, located->object->source->text, place, palette, out);
    fprintf(out, "  %.*s\n", TEXT_ARGS(finding->problem));
    struct note notes[MOST_NOTES];
    size_t count = finding_notes(finding, notes, arena);
    for (size_t i = 0; i < count; i++) {
        bool is_fix = strcmp(notes[i].label, "fix") == 0;
        fprintf(out, "  %s%s:%s %.*s\n", is_fix ? palette->green : palette->dim, notes[i].label,
                palette->plain, TEXT_ARGS(notes[i].text));
    }
    fputc('\n', out);
}

bool report_text(const struct report *report, const struct report_style *style, struct arena *arena,
                 FILE *out, struct error *error)
{
    (void)error;
    const struct palette *palette = style->colour ? &colours : &no_colours;
    size_t count;
    const struct located_finding *located = locate_findings(report, arena, &count);
    for (size_t i = 0; i < count; i++)
        put_finding(&located[i], palette, arena, out);
    put_summary(report, out);
    return true;
}
