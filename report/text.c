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

enum { INDENT = 2 };
struct printing {
    const struct palette *palette;
    size_t columns; /* 0: lines are as long as they are */
    FILE *out;
};

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

/* ---- the line of a finding ---- */

/* A part of a line around an offset of it. */
struct excerpt {
    struct text before, after;
    bool cut_before, cut_after; /* more of the line is there */
};

/* So many code points of the line before the offset, at most. */
static struct text before_offset(struct text source, size_t at, size_t most)
{
    size_t start = at;
    for (; most > 0 && start > 0 && source.data[start - 1] != '\n'; most--) {
        start--;
        while (start > 0 && !starts_code_point(source.data[start]))
            start--;
    }
    return (struct text){source.data + start, at - start};
}

static struct text after_offset(struct text source, size_t at, size_t most)
{
    size_t end = at;
    for (; most > 0 && end < source.size && source.data[end] != '\n' && source.data[end] != '\r';
         most--) {
        end++;
        while (end < source.size && !starts_code_point(source.data[end]))
            end++;
    }
    return (struct text){source.data + at, end - at};
}

static bool line_goes_on(struct text source, size_t end)
{
    return end < source.size && source.data[end] != '\n' && source.data[end] != '\r';
}

/* Of a line that is too long (JSON may be one line) more is shown behind the offset than before it,
 * unless there is less. */
static struct excerpt excerpt_around(struct text source, size_t at, size_t columns)
{
    struct excerpt excerpt = {.after = after_offset(source, at, columns)};
    size_t behind = code_points(excerpt.after);
    size_t most_before = columns * 2 / 5;
    if (columns - behind > most_before)
        most_before = columns - behind;
    excerpt.before = before_offset(source, at, most_before);
    size_t start = at - excerpt.before.size;
    excerpt.after = after_offset(source, at, columns - code_points(excerpt.before));
    excerpt.cut_before = start > 0 && source.data[start - 1] != '\n';
    excerpt.cut_after = line_goes_on(source, at + excerpt.after.size);
    /* The ellipsis takes the place of one. */
    if (excerpt.cut_before)
        excerpt.before = before_offset(source, at, code_points(excerpt.before) - 1);
    if (excerpt.cut_after)
        excerpt.after = after_offset(source, at, code_points(excerpt.after) - 1);
    return excerpt;
}

/* The line, and a caret under the value. */
static void put_snippet(const struct finding *finding, struct text source, struct place place,
                        const struct printing *printing)
{
    enum { MARGIN = 9, LEAST_COLUMNS = 30, MOST_COLUMNS = 110 };
    static const char ellipsis[] = "\u2026";
    const struct palette *palette = printing->palette;
    FILE *out = printing->out;
    size_t at = field_offset(finding->field);
    if (at > source.size)
        return;
    size_t columns = printing->columns;
    columns = columns == 0 || columns > MOST_COLUMNS + MARGIN ? MOST_COLUMNS
              : columns < LEAST_COLUMNS + MARGIN              ? LEAST_COLUMNS
                                                              : columns - MARGIN;
    struct excerpt excerpt = excerpt_around(source, at, columns);
    fprintf(out, "%s%6u |%s %s", palette->dim, place.line, palette->plain,
            excerpt.cut_before ? ellipsis : "");
    put_printable(excerpt.before, out);
    put_printable(excerpt.after, out);
    const struct node *node = finding->field->node;
    size_t written = scalar_written(source, node).size;
    size_t marked = written > excerpt.after.size ? excerpt.after.size : written > 0 ? written : 1;
    fprintf(out, "%s\n%s       |%s %*s%s^", excerpt.cut_after ? ellipsis : "", palette->dim,
            palette->plain, (int)(code_points(excerpt.before) + excerpt.cut_before), "",
            colour_of(palette, finding));
    for (size_t i = 1; i < marked; i++)
        if (starts_code_point(excerpt.after.data[i]))
            fputc('~', out);
    fprintf(out, "%s\n", palette->plain);
}

size_t page_columns(const struct report_style *style)
{
    enum { USUAL = 80, MOST = 120 };
    if (style->columns == 0)
        return USUAL;
    return style->columns < MOST ? style->columns : MOST;
}

void put_note(const struct note *note, size_t indent, size_t columns, FILE *out)
{
    if (text_holds(note->text, TEXT("{")))
        columns = 0;
    put_wrapped(note->text, indent + strlen(note->label) + strlen(": "), indent, columns, out);
}

static void put_finding(const struct located_finding *located, const struct printing *printing,
                        struct arena *arena)
{
    const struct palette *palette = printing->palette;
    FILE *out = printing->out;
    const struct finding *finding = located->finding;
    struct place place = located->place;
    struct text title = object_title(located->object, arena);
    fputs(palette->bold, out);
    put_printf(out, "%s:%u:%u:", place.file, place.line, place.column);
    fprintf(out, "%s %s%s%s %s  ", palette->plain, colour_of(palette, finding),
            finding_label(finding), palette->plain, finding->rail);
    put_printf(out, "%.*s %.*s", TEXT_ARGS(located->object->kind_name), TEXT_ARGS(title));
    fputc('\n', out);
    put_snippet(finding, located->object->source->text, place, printing);
    fputs("  ", out);
    put_wrapped(finding->problem, INDENT, INDENT, printing->columns, out);
    if (located->more > 0) {
        fputs("  ", out);
        put_wrapped(finding_more(located, arena), INDENT, INDENT, printing->columns, out);
    }
    struct note notes[MOST_NOTES];
    size_t count = finding_notes(finding, notes, arena);
    for (size_t i = 0; i < count; i++) {
        bool is_fix = strcmp(notes[i].label, "fix") == 0;
        fprintf(out, "  %s%s:%s ", is_fix ? palette->green : palette->dim, notes[i].label,
                palette->plain);
        put_note(&notes[i], INDENT, printing->columns, out);
    }
    fputc('\n', out);
}

bool report_text(const struct report *report, const struct report_style *style, struct arena *arena,
                 FILE *out, struct error *error)
{
    (void)error;
    const struct printing printing = {style->colour ? &colours : &no_colours, style->columns, out};
    size_t count;
    struct located_finding *located = locate_findings(report, arena, &count);
    count = findings_say_once(located, count, arena);
    for (size_t i = 0; i < count; i++)
        put_finding(&located[i], &printing, arena);
    put_summary(report, out);
    return true;
}
