/* An audit for a person who reads it once a month: namespaces and objects, the worst first;
 * undecided findings; counts by rail. */
#include <string.h>

#include "report/audit.h"

enum { DOUBTS_SHOWN = 20, LABEL_WIDTH = 8, INDENT = LABEL_WIDTH + 6 };

struct palette {
    const char *bold, *dim, *red, *yellow, *blue, *green, *plain;
};
static const struct palette colours = {"\033[1m",  "\033[2m",  "\033[31m", "\033[33m",
                                       "\033[34m", "\033[32m", "\033[0m"};
static const struct palette no_colours = {"", "", "", "", "", "", ""};

struct printing {
    const struct palette *palette;
    size_t columns; /* 0: lines are as long as they are */
    struct arena *arena;
    FILE *out;
};

static const char *colour_of(const struct palette *palette, enum audit_outcome outcome)
{
    const char *const all[AUDIT_OUTCOMES] = {palette->red, palette->yellow, palette->blue,
                                             palette->green, palette->dim};
    return all[outcome];
}

static void put_finding(const struct printing *printing, const struct finding *finding)
{
    const struct palette *palette = printing->palette;
    fprintf(printing->out, "    %s%-*s%s  %s", colour_of(palette, audit_outcome_of(finding)),
            LABEL_WIDTH, action_name(finding->action), palette->plain, finding->rail);
    if (finding->path.size > 0)
        put_printf(printing->out, "  %.*s", TEXT_ARGS(finding->path));
    fprintf(printing->out, ": ");
    size_t at = INDENT + strlen(finding->rail) + strlen(": ") +
                (finding->path.size > 0 ? 2 + code_points(finding->path) : 0);
    put_wrapped(finding->problem, at, INDENT, printing->columns, printing->out);
    struct note notes[AUDIT_NOTES];
    size_t count = audit_notes(finding, notes, printing->arena);
    for (size_t i = 0; i < count; i++) {
        fprintf(printing->out, "    %*s  %s%s:%s ", LABEL_WIDTH, "", palette->dim, notes[i].label,
                palette->plain);
        put_note(&notes[i], INDENT, printing->columns, printing->out);
    }
}

static void put_object(const struct printing *printing, const struct audit_row *row)
{
    const struct object *object = row->object;
    const struct owner *owner = &object->controller;
    struct text name = object_display_name(object, printing->arena);
    fprintf(printing->out, "  %s", printing->palette->bold);
    put_printable(object->kind_name, printing->out);
    fputc(' ', printing->out);
    put_printable(name, printing->out);
    fputs(printing->palette->plain, printing->out);
    if (row->more > 0)
        fprintf(printing->out, " and %zu more", row->more);
    if (owner->name.size > 0) {
        fputs(row->more > 0 ? " of " : ", of ", printing->out);
        put_printable(owner->kind, printing->out);
        fputc(' ', printing->out);
        put_printable(owner->name, printing->out);
    }
    fputc('\n', printing->out);
}

static void put_namespace(const struct printing *printing, const struct audit_namespace *space)
{
    bool any = false;
    for (size_t i = 0; i < space->row_count; i++)
        any |= space->rows[i].finding_count > 0;
    if (!any)
        return;
    struct text counts = audit_counts_text(&space->counts, printing->arena);
    fputs(printing->palette->bold, printing->out);
    if (space->name.size > 0) {
        fputs("namespace ", printing->out);
        put_printable(space->name, printing->out);
    } else {
        fputs("the cluster", printing->out);
    }
    fprintf(printing->out, "%s: %.*s\n", printing->palette->plain, TEXT_ARGS(counts));
    for (size_t i = 0; i < space->row_count; i++) {
        const struct audit_row *row = &space->rows[i];
        if (row->finding_count > 0)
            put_object(printing, row);
        /* What several rows share is printed once, below the last of them. */
        bool last = i + 1 == space->row_count || !row[1].repeats;
        for (size_t j = 0; last && j < row->finding_count; j++)
            put_finding(printing, row->findings[j]);
    }
    fputc('\n', printing->out);
}

static void put_doubts(const struct printing *printing, const struct audit_view *view)
{
    if (view->doubt_count == 0)
        return;
    fprintf(printing->out, "%snot decided%s\n", printing->palette->bold, printing->palette->plain);
    size_t shown = view->doubt_count < DOUBTS_SHOWN ? view->doubt_count : DOUBTS_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const struct audit_doubt *doubt = &view->doubts[i];
        struct text title = object_title(doubt->object, printing->arena);
        fprintf(printing->out, "  %s: ", doubt->finding->rail);
        put_wrapped(doubt->finding->problem, 2 + strlen(doubt->finding->rail) + 2, 4,
                    printing->columns, printing->out);
        put_printf(printing->out, "    of %.*s %.*s", TEXT_ARGS(doubt->object->kind_name),
                   TEXT_ARGS(title));
        if (doubt->more > 0)
            fprintf(printing->out, " and %zu more", doubt->more);
        fputc('\n', printing->out);
    }
    if (view->doubt_count > shown)
        fprintf(printing->out, "  and %zu more reasons; -o json has them all\n",
                view->doubt_count - shown);
    fputc('\n', printing->out);
}

/* Behind the counts where it fits, else below. */
static void put_whom_to_ask(const struct printing *printing, const struct audit_rail *rail,
                            int rail_width)
{
    enum { COUNTS_WIDTH = 45, LABELS_WIDTH = 15 };
    size_t width =
        (size_t)rail_width + COUNTS_WIDTH + LABELS_WIDTH + rail->docs.size + rail->contact.size;
    const char *gap = printing->columns > 0 && width > printing->columns ? "\n    " : "  ";
    if (rail->docs.size > 0)
        fprintf(printing->out, "%sdocs: %.*s", gap, TEXT_ARGS(rail->docs));
    if (rail->contact.size > 0)
        fprintf(printing->out, "%sask: %.*s", gap, TEXT_ARGS(rail->contact));
}

static void put_rails(const struct printing *printing, const struct audit_view *view)
{
    static const char *const heads[AUDIT_OUTCOMES] = {"DENIED", "WARNED", "AUDITED", "EXCEPTED",
                                                      "UNDECIDED"};
    int width = (int)strlen("RAIL");
    for (size_t i = 0; i < view->rail_count; i++)
        if ((int)strlen(view->rails[i].name) > width)
            width = (int)strlen(view->rails[i].name);
    if (view->rail_count == 0)
        return;
    fprintf(printing->out, "%-*s", width, "RAIL");
    for (size_t i = 0; i < AUDIT_OUTCOMES; i++)
        fprintf(printing->out, "  %s", heads[i]);
    fputc('\n', printing->out);
    for (size_t i = 0; i < view->rail_count; i++) {
        const struct audit_rail *rail = &view->rails[i];
        fprintf(printing->out, "%-*s", width, rail->name);
        for (size_t j = 0; j < AUDIT_OUTCOMES; j++)
            fprintf(printing->out, "  %*zu", (int)strlen(heads[j]), rail->counts.of[j]);
        put_whom_to_ask(printing, rail, width);
        fputc('\n', printing->out);
    }
    fputc('\n', printing->out);
}

bool report_audit_text(const struct report *report, const struct report_style *style,
                       struct arena *arena, FILE *out, struct error *error)
{
    (void)error;
    const struct printing printing = {style->colour ? &colours : &no_colours, style->columns, arena,
                                      out};
    const struct audit_view view = audit_view(report, arena);
    for (size_t i = 0; i < view.namespace_count; i++)
        put_namespace(&printing, &view.namespaces[i]);
    put_doubts(&printing, &view);
    put_rails(&printing, &view);
    put_summary(report, out);
    if (view.counts.of[AUDIT_DENIED] > 0)
        fputs("What is denied here runs on; it would be refused if it were created now.\n", out);
    return true;
}
