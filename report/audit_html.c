/* An audit as a page: the verdict, counts by rail, then namespaces with their objects folded, the
 * worst first. */
#include "report/audit.h"
#include "report/page.h"

/* More are folded at first. */
enum { OBJECTS_OPEN = 12, NAMESPACES_OPEN = 40, SAME_SHOWN = 200 };

static void put_link(struct text address, struct text words, FILE *out)
{
    /* Docs are free text: only an address becomes a link. */
    if (text_starts_with(address, TEXT("https://")) || text_starts_with(address, TEXT("http://"))) {
        fputs("<a", out);
        put_xml_attribute("href", address, out);
        fputs(" rel=\"noreferrer\">", out);
        put_xml(words, out);
        fputs("</a>", out);
    } else {
        put_xml(words, out);
    }
}

/* ---- the head ---- */

static struct text objects_text(size_t count, const char *verb, const char *verbs,
                                struct arena *arena)
{
    return arena_printf(arena, "%zu object%s %s", count, count == 1 ? "" : "s",
                        count == 1 ? verb : verbs);
}

static void put_verdict(const struct report *report, const struct audit_view *view,
                        struct arena *arena, FILE *out)
{
    const struct audit_counts *objects = &view->objects;
    if (report->errors->count > 0)
        page_verdict(PAGE_BAD, TEXT("Not complete: not everything could be read."), out);
    if (objects->of[AUDIT_DENIED] > 0)
        page_verdict(PAGE_BAD,
                     arena_printf(arena, "%.*s be refused if created now.",
                                  TEXT_ARGS(objects_text(objects->of[AUDIT_DENIED], "would",
                                                         "would", arena))),
                     out);
    else if (objects->of[AUDIT_WARNED] > 0)
        page_verdict(
            PAGE_WARNED,
            arena_printf(arena, "Nothing would be refused; %.*s warned about.",
                         TEXT_ARGS(objects_text(objects->of[AUDIT_WARNED], "is", "are", arena))),
            out);
    else if (objects->of[AUDIT_AUDITED] > 0)
        page_verdict(PAGE_WARNED,
                     arena_printf(arena, "Nothing would be refused; %.*s a rail in audit mode.",
                                  TEXT_ARGS(objects_text(objects->of[AUDIT_AUDITED], "breaks",
                                                         "break", arena))),
                     out);
    else if (view->counts.of[AUDIT_UNDECIDED] > 0)
        page_verdict(PAGE_WARNED, TEXT("Nothing found; not everything could be decided."), out);
    else if (report->errors->count == 0)
        page_verdict(PAGE_GOOD, TEXT("Nothing breaks a rail."), out);
    if (objects->of[AUDIT_DENIED] > 0)
        page_paragraph(
            "dim",
            TEXT("They keep running. They are refused the next time they are created, or "
                 "changed in a way that adds to what is wrong."),
            out);
}

static void put_counts(const struct report *report, const struct audit_view *view,
                       struct arena *arena, FILE *out)
{
    struct page_number numbers[AUDIT_OUTCOMES + 1];
    numbers[0] =
        (struct page_number){arena_printf(arena, "%zu", report->entry_count),
                             report->entry_count == 1 ? "object checked" : "objects checked", ""};
    for (size_t i = 0; i < AUDIT_OUTCOMES; i++) {
        size_t count = view->counts.of[i];
        numbers[i + 1] =
            (struct page_number){count == 0 ? TEXT("") : arena_printf(arena, "%zu", count),
                                 audit_outcome_names[i], audit_outcome_names[i]};
    }
    page_numbers(numbers, COUNT_OF(numbers), out);
}

static void put_facts(const struct report *report, const struct report_style *style,
                      struct arena *arena, FILE *out)
{
    struct page_fact facts[PAGE_ABOUT_FACTS + 1];
    size_t count = page_about(style->about, facts, arena);
    struct report_summary summary = report_summarize(report);
    if (summary.skipped > 0)
        facts[count++] = (struct page_fact){
            "Skipped", arena_printf(arena, "%zu of kinds that no policy judges", summary.skipped)};
    page_facts(facts, count, out);
}

static void put_errors(const struct report *report, struct arena *arena, FILE *out)
{
    size_t count;
    const struct located_error *errors = locate_errors(report, arena, &count);
    if (count == 0)
        return;
    fputs("<h2 class=\"denied\">What could not be read</h2>\n<ul>\n", out);
    for (size_t i = 0; i < count; i++) {
        fputs("<li>", out);
        if (errors[i].place.file != NULL) {
            put_xml(text_of(errors[i].place.file), out);
            fprintf(out, ":%u: ", errors[i].place.line);
        }
        put_xml(errors[i].message, out);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

static void put_rails(const struct audit_view *view, FILE *out)
{
    /* Outcomes that do not occur have no column. */
    struct page_column columns[AUDIT_OUTCOMES + 3] = {{"Rail", PAGE_WORD}};
    enum audit_outcome outcomes[AUDIT_OUTCOMES];
    size_t count = 0;
    for (size_t i = 0; i < AUDIT_OUTCOMES; i++)
        if (view->counts.of[i] > 0) {
            outcomes[count++] = (enum audit_outcome)i;
            columns[count] = (struct page_column){audit_outcome_names[i], PAGE_NUMBER};
        }
    columns[count + 1] = (struct page_column){"Ask", PAGE_NOTE};
    if (view->rail_count == 0)
        return;
    fputs("<section id=\"part-1\">\n", out);
    page_table_start("By rail", columns, out);
    for (size_t i = 0; i < view->rail_count; i++) {
        const struct audit_rail *rail = &view->rails[i];
        fputs("<tr><th scope=\"row\" class=\"w\">", out);
        put_link(rail->docs, text_of(rail->name), out);
        fputs("</th>", out);
        for (size_t j = 0; j < count; j++) {
            size_t found = rail->counts.of[outcomes[j]];
            page_cell_start(&columns[j + 1],
                            found == 0 ? "zero dim" : audit_outcome_names[outcomes[j]], out);
            fprintf(out, "%zu</td>", found);
        }
        page_cell_start(&columns[count + 1], "", out);
        put_xml(rail->contact, out);
        fputs("</td></tr>\n", out);
    }
    page_table_end(out);
    fputs("</section>\n", out);
}

/* ---- objects ---- */

static const struct page_column finding_columns[] = {{"Action", PAGE_WORD},
                                                     {"Rail", PAGE_WORD},
                                                     {"Policy", PAGE_NOTE},
                                                     {"What is wrong", PAGE_PROSE},
                                                     {0}};

static void put_object(const struct audit_row *row, struct arena *arena, FILE *out)
{
    const struct owner *owner = &row->object->controller;
    put_xml(row->object->kind_name, out);
    fputs(" <b>", out);
    put_xml(object_display_name(row->object, arena), out);
    fputs("</b>", out);
    if (row->more > 0)
        fprintf(out, " and %zu more", row->more);
    if (owner->name.size > 0) {
        fputs(" <small>of ", out);
        put_xml(owner->kind, out);
        fputc(' ', out);
        put_xml(owner->name, out);
        fputs("</small>", out);
    }
}

static void put_finding(const struct finding *finding, struct arena *arena, FILE *out)
{
    const char *outcome = audit_outcome_names[audit_outcome_of(finding)];
    fprintf(out, "<tr><th scope=\"row\" class=\"w %s\">%s</th><td class=\"w\">%s</td>", outcome,
            outcome, finding->rail);
    page_cell_start(&finding_columns[2], "", out);
    put_xml(finding->policy, out);
    fputs("</td><td>", out);
    if (finding->path.size > 0) {
        fputs("<code>", out);
        put_xml(finding->path, out);
        fputs("</code><br>", out);
    }
    put_xml(finding->problem, out);
    struct note notes[AUDIT_NOTES];
    size_t count = audit_notes(finding, notes, arena);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "<br><span class=\"dim\">%s:</span> ", notes[i].label);
        put_xml(notes[i].text, out);
    }
    fputs("</td></tr>\n", out);
}

/* The rails that an object breaks, each once: they are what a folded object says of itself. */
static void put_rail_names(const struct audit_row *row, FILE *out)
{
    fputs(" <small>", out);
    for (size_t i = 0, shown = 0; i < row->finding_count; i++) {
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again |= row->findings[j]->rail == row->findings[i]->rail;
        if (!again)
            fprintf(out, "%s%s", shown++ > 0 ? ", " : "", row->findings[i]->rail);
    }
    fputs("</small>", out);
}

static void put_item_start(const struct audit_row *row, size_t more, bool open, struct arena *arena,
                           FILE *out)
{
    enum audit_outcome worst = AUDIT_OUTCOMES;
    fputs("<details class=\"item", out);
    for (size_t i = AUDIT_OUTCOMES; i-- > 0;)
        if (row->counts.of[i] > 0) {
            fprintf(out, " %s-in", audit_outcome_names[i]);
            worst = (enum audit_outcome)i;
        }
    fprintf(out, "\"%s>\n<summary>", open ? " open" : "");
    put_object(row, arena, out);
    if (more > 0)
        fprintf(out, " and %zu other%s", more, more == 1 ? "" : "s");
    fprintf(out, " <span class=\"count %s\">", audit_outcome_names[worst]);
    put_xml(audit_counts_text(&row->counts, arena), out);
    fputs("</span>", out);
    put_rail_names(row, out);
    fputs("</summary>\n", out);
}

/* Rows with the same findings, folded into one. */
static void put_rows(const struct audit_row *rows, size_t count, bool open, struct arena *arena,
                     FILE *out)
{
    put_item_start(&rows[0], count - 1, open, arena, out);
    if (count > 1) {
        fputs("<ul class=\"objects\">\n", out);
        size_t shown = count <= SAME_SHOWN ? count : SAME_SHOWN;
        for (size_t i = 0; i < shown; i++) {
            fputs("<li>", out);
            put_object(&rows[i], arena, out);
            fputs("</li>\n", out);
        }
        if (shown < count)
            fprintf(out, "<li>and %zu more; -o json has them all</li>\n", count - shown);
        fputs("</ul>\n", out);
    }
    page_table_start(NULL, finding_columns, out);
    for (size_t i = 0; i < rows[0].finding_count; i++)
        put_finding(rows[0].findings[i], arena, out);
    page_table_end(out);
    fputs("</details>\n", out);
}

/* The number of rows from here that have the same findings. */
static size_t same_count(const struct audit_namespace *space, size_t from)
{
    size_t end = from + 1;
    while (end < space->row_count && space->rows[end].repeats)
        end++;
    return end - from;
}

static size_t item_count(const struct audit_namespace *space)
{
    size_t count = 0;
    for (size_t i = 0; i < space->row_count; i += same_count(space, i))
        count += space->rows[i].finding_count > 0;
    return count;
}

static struct text namespace_title(const struct audit_namespace *space)
{
    return space->name.size > 0 ? space->name : TEXT("the cluster");
}

/* `part`: of the page; its jump has the same. */
static void put_namespace(const struct audit_view *view, const struct audit_namespace *space,
                          size_t part, struct arena *arena, FILE *out)
{
    size_t items = item_count(space);
    if (items == 0)
        return;
    fprintf(out, "<details class=\"group\" id=\"part-%zu\"%s", part,
            view->namespace_count <= NAMESPACES_OPEN ? " open" : "");
    put_xml_attribute("data-name", namespace_title(space), out);
    fputs(">\n<summary>", out);
    put_xml(namespace_title(space), out);
    fputs(" <small>", out);
    put_xml(audit_counts_text(&space->counts, arena), out);
    fputs("</small></summary>\n", out);
    for (size_t i = 0; i < space->row_count; i += same_count(space, i))
        if (space->rows[i].finding_count > 0)
            put_rows(&space->rows[i], same_count(space, i), items <= OBJECTS_OPEN, arena, out);
    fputs("</details>\n", out);
}

static void put_doubts(const struct audit_view *view, size_t part, struct arena *arena, FILE *out)
{
    static const struct page_column columns[] = {
        {"Rail", PAGE_WORD}, {"Why", PAGE_PROSE}, {"Of", PAGE_PROSE}, {0}};
    if (view->doubt_count == 0)
        return;
    fprintf(out, "<section id=\"part-%zu\">\n", part);
    page_table_start("Not decided", columns, out);
    for (size_t i = 0; i < view->doubt_count; i++) {
        const struct audit_doubt *doubt = &view->doubts[i];
        struct text_builder of = {.arena = arena};
        text_builder_add(&of, doubt->object->kind_name);
        text_builder_add(&of, TEXT(" "));
        text_builder_add(&of, object_title(doubt->object, arena));
        if (doubt->more > 0)
            text_builder_printf(&of, " and %zu more", doubt->more);
        const struct text cells[] = {text_of(doubt->finding->rail), doubt->finding->problem,
                                     text_builder_text(&of)};
        page_table_row(cells, columns, out);
    }
    page_table_end(out);
    fputs("</section>\n", out);
}

/* ---- the page ---- */

/* Parts: 1 is the rails, then the namespaces, then what is not decided. */
static void put_jumps(const struct audit_view *view, struct arena *arena, FILE *out)
{
    struct page_jump *jumps = ARENA_ARRAY(arena, view->namespace_count + 2, struct page_jump);
    size_t count = 0;
    if (view->rail_count > 0)
        jumps[count++] = (struct page_jump){
            TEXT("By rail"),
            arena_printf(arena, "%zu rail%s", view->rail_count, view->rail_count == 1 ? "" : "s"),
            1};
    for (size_t i = 0; i < view->namespace_count; i++)
        if (item_count(&view->namespaces[i]) > 0)
            jumps[count++] =
                (struct page_jump){namespace_title(&view->namespaces[i]),
                                   audit_counts_text(&view->namespaces[i].counts, arena), i + 2};
    if (view->doubt_count > 0)
        jumps[count++] = (struct page_jump){TEXT("Not decided"),
                                            arena_printf(arena, "%zu reason%s", view->doubt_count,
                                                         view->doubt_count == 1 ? "" : "s"),
                                            view->namespace_count + 2};
    page_jumps(jumps, count, out);
}

bool report_audit_html(const struct report *report, const struct report_style *style,
                       struct arena *arena, FILE *out, struct error *error)
{
    /* As put_item_start writes them: what an object has, among others. */
    static const char *const choices[] = {"denied", "warned", "audited", "excepted", NULL};
    (void)error;
    const struct audit_view view = audit_view(report, arena);
    page_start("audit", out);
    fputs("<h1>Audit: what runs and breaks a rail</h1>\n", out);
    put_verdict(report, &view, arena, out);
    put_counts(report, &view, arena, out);
    put_facts(report, style, arena, out);
    put_errors(report, arena, out);
    put_jumps(&view, arena, out);
    put_rails(&view, out);
    if (view.namespace_count > 0)
        page_filter("namespace, name, rail, policy", choices, out);
    for (size_t i = 0; i < view.namespace_count; i++)
        put_namespace(&view, &view.namespaces[i], i + 2, arena, out);
    put_doubts(&view, view.namespace_count + 2, arena, out);
    page_end(out);
    return true;
}
