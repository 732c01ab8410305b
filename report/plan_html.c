/* A plan as a page: the picture, and the same in tables, for people who cannot see it or want to
 * search it. */
#include "report/plan.h"
#include "simulation/simulation.h"

static const char page_start[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>taffrail plan</title>\n"
    "<style>\n"
    ":root{color-scheme:light dark;--page:#fff;--ink:#1f2328;--dim:#57606a;--line:#d0d7de;"
    "--head:#f3f5f7;--bad:#a40e26}\n"
    "@media (prefers-color-scheme: dark){:root{--page:#0d1117;--ink:#e6edf3;--dim:#9da7b3;"
    "--line:#30363d;--head:#171d25;--bad:#ff8f88}}\n"
    "body{margin:0 auto;padding:1.5rem;max-width:75rem;background:var(--page);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",Arial,sans-serif}\n"
    "h1{font-size:1.5rem;margin:0 0 .5rem}p{margin:.2rem 0}figure{margin:1rem -1.5rem 2rem}"
    "svg{display:block;max-width:100%;height:auto}\n"
    "table{border-collapse:collapse;width:100%;margin:0 0 2rem}\n"
    "caption{text-align:left;font-size:1.15rem;font-weight:600;padding:.4rem 0}\n"
    "th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;"
    "border-bottom:1px solid var(--line);overflow-wrap:anywhere}\n"
    "thead th{background:var(--head);color:var(--dim);font-weight:600;white-space:nowrap}\n"
    "tbody th{font-weight:600}\n"
    "td.w{white-space:nowrap}"
    "td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    ".bad{color:var(--bad)}.dim{color:var(--dim)}.scroll{overflow-x:auto}\n"
    "</style>\n</head>\n<body>\n<main>\n";

enum column_kind { PROSE, WORD, NUMBER }; /* prose may break into lines */
static const char *const classes[] = {
    [PROSE] = "", [WORD] = " class=\"w\"", [NUMBER] = " class=\"n\""};
struct column {
    const char *title;
    enum column_kind kind;
};

static void start_table(const char *caption, const struct column *columns, FILE *out)
{
    fprintf(out, "<div class=\"scroll\">\n<table>\n<caption>%s</caption>\n<thead><tr>", caption);
    for (size_t i = 0; columns[i].title != NULL; i++)
        fprintf(out, "<th scope=\"col\"%s>%s</th>", classes[columns[i].kind], columns[i].title);
    fputs("</tr></thead>\n<tbody>\n", out);
}

static void end_table(FILE *out)
{
    fputs("</tbody>\n</table>\n</div>\n", out);
}

static void put_cells(const struct text *cells, const struct column *columns, FILE *out)
{
    fputs("<tr>", out);
    for (size_t i = 0; columns[i].title != NULL; i++) {
        const char *element = i == 0 ? "th" : "td";
        fprintf(out, "<%s%s%s>", element, i == 0 ? " scope=\"row\"" : "", classes[columns[i].kind]);
        put_xml(cells[i], out);
        fprintf(out, "</%s>", element);
    }
    fputs("</tr>\n", out);
}

/* "or one of 17 types" is enough about the others. */
static struct text types_text(const struct simulation_node *node, struct arena *arena)
{
    if (node->instance_type_count < 2)
        return node->instance_type;
    return arena_printf(arena, "%.*s (or %zu others)", TEXT_ARGS(node->instance_type),
                        node->instance_type_count - 1);
}

static void put_bought(const struct plan *plan, struct arena *arena, FILE *out)
{
    static const struct column columns[] = {{"Nodes", NUMBER},    {"NodePool", WORD},
                                            {"Type", WORD},       {"Zone", WORD},
                                            {"Capacity", WORD},   {"$/h each", NUMBER},
                                            {"CPU", NUMBER},      {"Memory", NUMBER},
                                            {"Pods each", PROSE}, {0}};
    struct plan_nodes nodes = plan_nodes_bought(plan, arena);
    if (nodes.count == 0)
        return;
    start_table("New nodes", columns, out);
    for (size_t i = 0; i < nodes.count; i++) {
        const struct plan_node *node = &nodes.items[i];
        const struct simulation_node *from = node->node;
        const struct text cells[] = {
            arena_printf(arena, "%zu", node->count),
            from->node_pool,
            types_text(from, arena),
            from->zone,
            from->capacity_type,
            plan_price(from->usd_micro_per_hour, arena),
            plan_percent(node->cpu_percent, arena),
            plan_percent(node->memory_percent, arena),
            plan_pods_text(plan, node, ' ', arena),
        };
        put_cells(cells, columns, out);
    }
    end_table(out);
}

static void put_taking(const struct plan *plan, struct arena *arena, FILE *out)
{
    static const struct column columns[] = {{"Node", PROSE},
                                            {"Type", WORD},
                                            {"Zone", WORD},
                                            {"CPU", NUMBER},
                                            {"Memory", NUMBER},
                                            {"Pods it takes", PROSE},
                                            {0}};
    struct plan_nodes nodes = plan_nodes_taking(plan, arena);
    if (nodes.count == 0)
        return;
    start_table("Existing nodes that take pods", columns, out);
    for (size_t i = 0; i < nodes.count; i++) {
        const struct plan_node *node = &nodes.items[i];
        const struct text cells[] = {
            node->node->name,
            node->node->instance_type,
            node->node->zone,
            plan_percent(node->cpu_percent, arena),
            plan_percent(node->memory_percent, arena),
            plan_pods_text(plan, node, ' ', arena),
        };
        put_cells(cells, columns, out);
    }
    end_table(out);
}

static void put_misfits(const struct plan *plan, const struct plan_misfits *misfits,
                        struct arena *arena, FILE *out)
{
    static const struct column columns[] = {
        {"Pods", PROSE}, {"Where", WORD}, {"Because", PROSE}, {"Nearest miss", PROSE}, {0}};
    if (misfits->count == 0)
        return;
    start_table(misfits->title, columns, out);
    for (size_t i = 0; i < misfits->count; i++) {
        const struct plan_misfit *misfit = &misfits->items[i];
        size_t rows = misfit->first->reason_count;
        fprintf(out, "<tr><th scope=\"rowgroup\" rowspan=\"%zu\">", rows > 0 ? rows : 1);
        put_xml(plan_misfit_title(plan, misfit, arena), out);
        fputs("</th>", out);
        for (size_t j = 0; j < rows; j++) {
            const struct simulation_reason *reason = &misfit->first->reasons[j];
            fputs(j == 0 ? "<td class=\"w\">" : "<tr><td class=\"w\">", out);
            put_xml(plan_reason_pool(reason, arena), out);
            fputs("</td><td><span class=\"bad\">", out);
            put_xml(text_of(reason->kind), out);
            fputs(":</span> ", out);
            put_xml(reason->message, out);
            fputs("</td><td>", out);
            put_xml(reason->nearest, out);
            fputs("</td></tr>\n", out);
        }
        if (rows == 0)
            fputs("<td></td><td></td><td></td></tr>\n", out);
    }
    end_table(out);
}

bool plan_html(const struct plan *plan, const struct report_style *style, struct arena *arena,
               FILE *out, struct error *error)
{
    (void)style;
    (void)error;
    fputs(page_start, out);
    fputs("<h1>What the provisioner would buy</h1>\n", out);
    const struct text lines[] = {plan_headline(plan, arena), plan_cost(plan, arena),
                                 plan_saving(plan, arena)};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        if (lines[i].size == 0)
            continue;
        fputs("<p>", out);
        put_xml(lines[i], out);
        fputs("</p>\n", out);
    }
    if (plan->nodes.count > 0) {
        fputs("<figure class=\"scroll\">\n", out);
        plan_svg_put(plan, false, arena, out);
        fputs("</figure>\n", out);
    }
    put_bought(plan, arena, out);
    put_taking(plan, arena, out);
    for (size_t i = 0; i < PLAN_MISFITS; i++)
        put_misfits(plan, &plan->misfits[i], arena, out);
    fputs("<p class=\"dim\">CPU and memory are what the pods ask for, of what the node has for "
          "them. A month has 730 hours.</p>\n</main>\n</body>\n</html>\n",
          out);
    return true;
}
