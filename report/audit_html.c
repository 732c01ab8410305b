/* An audit as a page without other files: counts by rail, then namespaces, the worst first. */
#include "report/audit.h"

static const char page_start[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>taffrail audit</title>\n"
    "<style>\n"
    ":root{color-scheme:light dark;--page:#fff;--ink:#1f2328;--dim:#57606a;--line:#d0d7de;"
    "--head:#f3f5f7;--denied:#a40e26;--warned:#7d4e00;--audited:#0550ae;--excepted:#116329}\n"
    "@media (prefers-color-scheme: dark){:root{--page:#0d1117;--ink:#e6edf3;--dim:#9da7b3;"
    "--line:#30363d;--head:#171d25;--denied:#ff8f88;--warned:#e3b341;--audited:#79c0ff;"
    "--excepted:#7ee787}}\n"
    "body{margin:0 auto;padding:1.5rem;max-width:80rem;background:var(--page);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",Arial,sans-serif}\n"
    "h1{font-size:1.5rem;margin:0 0 .5rem}h2{font-size:1.15rem;margin:1.5rem 0 .3rem}"
    "p{margin:.2rem 0}\n"
    "table{border-collapse:collapse;width:100%;margin:0 0 1rem}\n"
    "th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;"
    "border-bottom:1px solid var(--line);overflow-wrap:anywhere}\n"
    "thead th{background:var(--head);color:var(--dim);font-weight:600;white-space:nowrap}\n"
    "tbody th{font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\n"
    "td.w,th.w{white-space:nowrap}code{font:.9em ui-monospace,\"Liberation Mono\",monospace}\n"
    "summary{cursor:pointer;font-size:1.15rem;font-weight:600;padding:.4rem 0}"
    "summary span{font-size:.95rem;font-weight:400;color:var(--dim)}\n"
    ".denied{color:var(--denied);font-weight:600}.warned{color:var(--warned);font-weight:600}"
    ".audited{color:var(--audited)}.excepted{color:var(--excepted)}.dim{color:var(--dim)}"
    ".scroll{overflow-x:auto}\n"
    "</style>\n</head>\n<body>\n<main>\n<h1>What runs and breaks a rail</h1>\n";

static void put_link(struct text address, const char *words, FILE *out)
{
    /* Docs are free text: only an address becomes a link. */
    if (text_starts_with(address, TEXT("https://")) || text_starts_with(address, TEXT("http://"))) {
        fputs("<a", out);
        put_xml_attribute("href", address, out);
        fprintf(out, ">%s</a>", words);
    } else {
        put_xml(address, out);
    }
}

static void put_rails(const struct audit_view *view, FILE *out)
{
    if (view->rail_count == 0)
        return;
    fputs(
        "<h2>By rail</h2>\n<div class=\"scroll\">\n<table>\n<thead><tr><th scope=\"col\">Rail</th>",
        out);
    for (size_t i = 0; i < AUDIT_OUTCOMES; i++)
        fprintf(out, "<th scope=\"col\" class=\"n\">%s</th>", audit_outcome_names[i]);
    fputs("<th scope=\"col\">Docs</th><th scope=\"col\">Ask</th></tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < view->rail_count; i++) {
        const struct audit_rail *rail = &view->rails[i];
        fprintf(out, "<tr><th scope=\"row\">%s</th>", rail->name);
        for (size_t j = 0; j < AUDIT_OUTCOMES; j++)
            fprintf(out, "<td class=\"n%s\">%zu</td>", rail->counts.of[j] == 0 ? " dim" : "",
                    rail->counts.of[j]);
        fputs("<td>", out);
        put_link(rail->docs, "docs", out);
        fputs("</td><td>", out);
        put_xml(rail->contact, out);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody>\n</table>\n</div>\n", out);
}

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
        fputs("<br><span class=\"dim\">of ", out);
        put_xml(owner->kind, out);
        fputc(' ', out);
        put_xml(owner->name, out);
        fputs("</span>", out);
    }
}

static void put_finding(const struct finding *finding, struct arena *arena, FILE *out)
{
    const char *outcome = audit_outcome_names[audit_outcome_of(finding)];
    fprintf(out, "<td class=\"w %s\">%s</td><td class=\"w\">%s</td><td>", outcome, outcome,
            finding->rail);
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

static void put_namespace(const struct audit_namespace *space, struct arena *arena, FILE *out)
{
    size_t decided = 0;
    for (size_t i = 0; i < space->row_count; i++)
        decided += space->rows[i].finding_count;
    if (decided == 0)
        return;
    fputs("<details open>\n<summary>", out);
    put_xml(space->name.size > 0 ? space->name : TEXT("the cluster"), out);
    fputs(" <span>", out);
    put_xml(audit_counts_text(&space->counts, arena), out);
    fputs("</span></summary>\n<div class=\"scroll\">\n<table>\n<thead><tr>"
          "<th scope=\"col\">Object</th><th scope=\"col\">Action</th><th scope=\"col\">Rail</th>"
          "<th scope=\"col\">What is wrong</th></tr></thead>\n",
          out);
    for (size_t i = 0; i < space->row_count; i++) {
        const struct audit_row *row = &space->rows[i];
        if (row->finding_count == 0)
            continue;
        if (!row->repeats)
            fprintf(out, "<tbody>\n<tr><th scope=\"rowgroup\" rowspan=\"%zu\">",
                    row->finding_count);
        put_object(row, arena, out);
        /* What several rows share is printed once, beside all of them. */
        if (i + 1 < space->row_count && row[1].repeats) {
            fputs("<br>", out);
            continue;
        }
        fputs("</th>", out);
        for (size_t j = 0; j < row->finding_count; j++) {
            if (j > 0)
                fputs("<tr>", out);
            put_finding(row->findings[j], arena, out);
        }
        fputs("</tbody>\n", out);
    }
    fputs("</table>\n</div>\n</details>\n", out);
}

static void put_doubts(const struct audit_view *view, struct arena *arena, FILE *out)
{
    if (view->doubt_count == 0)
        return;
    fputs("<h2>Not decided</h2>\n<div class=\"scroll\">\n<table>\n<thead><tr>"
          "<th scope=\"col\">Rail</th><th scope=\"col\">Why</th><th scope=\"col\">Of</th>"
          "</tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < view->doubt_count; i++) {
        const struct audit_doubt *doubt = &view->doubts[i];
        fprintf(out, "<tr><th scope=\"row\" class=\"w\">%s</th><td>", doubt->finding->rail);
        put_xml(doubt->finding->problem, out);
        fputs("</td><td>", out);
        put_xml(doubt->object->kind_name, out);
        fputc(' ', out);
        put_xml(object_title(doubt->object, arena), out);
        if (doubt->more > 0)
            fprintf(out, " and %zu more", doubt->more);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody>\n</table>\n</div>\n", out);
}

static void put_errors(const struct report *report, struct arena *arena, FILE *out)
{
    size_t count;
    const struct located_error *errors = locate_errors(report, arena, &count);
    if (count == 0)
        return;
    fputs("<h2 class=\"denied\">Not complete: this could not be read</h2>\n<ul>\n", out);
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

bool report_audit_html(const struct report *report, const struct report_style *style,
                       struct arena *arena, FILE *out, struct error *error)
{
    (void)style, (void)error;
    const struct audit_view view = audit_view(report, arena);
    fputs(page_start, out);
    fputs("<p>", out);
    put_summary(report, out);
    fputs("</p>\n", out);
    if (view.counts.of[AUDIT_DENIED] > 0)
        fputs(
            "<p class=\"dim\">What is denied here runs on; it would be refused if it were created "
            "now.</p>\n",
            out);
    put_errors(report, arena, out);
    put_rails(&view, out);
    for (size_t i = 0; i < view.namespace_count; i++)
        put_namespace(&view.namespaces[i], arena, out);
    put_doubts(&view, arena, out);
    fputs("</main>\n</body>\n</html>\n", out);
    return true;
}
