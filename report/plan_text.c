/* A plan as text. */
#include <string.h>

#include "report/plan.h"
#include "simulation/simulation.h"

enum { MOST_COLUMNS = 7, GAP = 2 };

struct palette {
    const char *bold, *dim, *red, *green, *plain;
};
static const struct palette colours = {"\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[0m"};
static const struct palette no_colours = {"", "", "", "", ""};

struct page {
    const struct plan *plan;
    const struct palette *palette;
    size_t columns;
    struct arena *arena;
    FILE *out;
};

/* ---- lines ---- */

static void put_blanks(size_t count, FILE *out)
{
    fprintf(out, "%*s", (int)count, "");
}

static void put_heading(const struct page *page, const char *heading)
{
    fprintf(page->out, "\n%s%s%s\n", page->palette->bold, heading, page->palette->plain);
}

/* ---- tables ---- */

struct column {
    const char *title;
    bool right; /* numbers are aligned */
};
struct row {
    struct text pool; /* printed above the first of its rows; may be empty */
    struct text cells[MOST_COLUMNS];
    struct text pods; /* printed below */
};
struct table {
    const struct column *columns; /* ends with a NULL title */
    struct row *rows;
    size_t row_count;
};

static void put_cell(struct text cell, size_t width, bool right, bool last, FILE *out)
{
    size_t own = code_points(cell);
    size_t blanks = width > own ? width - own : 0;
    if (right)
        put_blanks(blanks, out);
    put_printable(cell, out);
    if (!right && !last)
        put_blanks(blanks, out);
}

static void put_row(const struct table *table, const struct text *cells, const size_t *widths,
                    FILE *out)
{
    for (size_t i = 0; table->columns[i].title != NULL; i++) {
        put_blanks(GAP, out);
        put_cell(cells[i], widths[i], table->columns[i].right, table->columns[i + 1].title == NULL,
                 out);
    }
}

static void put_table(const struct page *page, const struct table *table)
{
    enum { PODS_INDENT = 6 };
    size_t widths[MOST_COLUMNS] = {0};
    struct text titles[MOST_COLUMNS] = {0};
    for (size_t i = 0; table->columns[i].title != NULL; i++) {
        titles[i] = text_of(table->columns[i].title);
        widths[i] = titles[i].size;
        for (size_t j = 0; j < table->row_count; j++) {
            size_t own = code_points(table->rows[j].cells[i]);
            widths[i] = own > widths[i] ? own : widths[i];
        }
    }
    FILE *out = page->out;
    fputs(page->palette->dim, out);
    put_row(table, titles, widths, out);
    fprintf(out, "%s\n", page->palette->plain);
    for (size_t i = 0; i < table->row_count; i++) {
        const struct row *row = &table->rows[i];
        if (row->pool.size > 0 && (i == 0 || !text_equal(row->pool, row[-1].pool))) {
            fputs("NodePool ", out);
            put_printable(row->pool, out);
            fputc('\n', out);
        }
        put_row(table, row->cells, widths, out);
        fputc('\n', out);
        if (row->pods.size == 0)
            continue;
        put_blanks(PODS_INDENT, out);
        put_wrapped(row->pods, PODS_INDENT, PODS_INDENT, page->columns, out);
    }
}

static struct text or_dash(struct text t)
{
    return t.size > 0 ? t : TEXT("-");
}

static struct row bought_row(const struct plan_node *node, struct arena *arena)
{
    const struct simulation_node *from = node->node;
    return (struct row){
        .pool = from->node_pool,
        .cells = {arena_printf(arena, "%zu x", node->count), or_dash(from->instance_type),
                  or_dash(from->zone), or_dash(from->capacity_type),
                  plan_price(from->usd_micro_per_hour, arena),
                  plan_percent(node->cpu_percent, arena),
                  plan_percent(node->memory_percent, arena)},
    };
}

static struct row taking_row(const struct plan_node *node, struct arena *arena)
{
    const struct simulation_node *from = node->node;
    return (struct row){
        .cells = {from->name, or_dash(from->instance_type), or_dash(from->zone),
                  plan_percent(node->cpu_percent, arena),
                  plan_percent(node->memory_percent, arena)},
    };
}

static void put_nodes(const struct page *page, const char *heading, struct plan_nodes nodes,
                      const struct column *columns,
                      struct row (*row_of)(const struct plan_node *node, struct arena *arena))
{
    if (nodes.count == 0)
        return;
    struct table table = {columns, ARENA_ARRAY(page->arena, nodes.count, struct row), nodes.count};
    for (size_t i = 0; i < nodes.count; i++) {
        table.rows[i] = row_of(&nodes.items[i], page->arena);
        table.rows[i].pods = plan_pods_text(page->plan, &nodes.items[i], GLUE, page->arena);
    }
    put_heading(page, heading);
    put_table(page, &table);
}

static const struct column bought_columns[] = {
    {"NODES", true},    {"TYPE", false}, {"ZONE", false}, {"CAPACITY", false},
    {"$/H EACH", true}, {"CPU", true},   {"MEM", true},   {0}};
static const struct column taking_columns[] = {{"NODE", false}, {"TYPE", false}, {"ZONE", false},
                                               {"CPU", true},   {"MEM", true},   {0}};

/* ---- pods that fit nowhere ---- */

static void put_reason(const struct page *page, const struct simulation_reason *reason)
{
    enum { INDENT = 6 };
    struct text pool = plan_reason_pool(reason, page->arena);
    put_blanks(4, page->out);
    put_printable(pool, page->out);
    fprintf(page->out, ": %s%s%s\n", page->palette->red, reason->kind, page->palette->plain);
    put_blanks(INDENT, page->out);
    put_wrapped(reason->message, INDENT, INDENT, page->columns, page->out);
    if (reason->nearest.size == 0)
        return;
    put_blanks(INDENT, page->out);
    fprintf(page->out, "%snearest:%s ", page->palette->green, page->palette->plain);
    put_wrapped(reason->nearest, INDENT + strlen("nearest: "), INDENT, page->columns, page->out);
}

static void put_misfits(const struct page *page, const char *heading,
                        const struct plan_misfits *misfits)
{
    if (misfits->count == 0)
        return;
    put_heading(page, heading);
    for (size_t i = 0; i < misfits->count; i++) {
        const struct plan_misfit *misfit = &misfits->items[i];
        fprintf(page->out, "  %s", page->palette->bold);
        put_printable(plan_misfit_title(page->plan, misfit, page->arena), page->out);
        fprintf(page->out, "%s\n", page->palette->plain);
        for (size_t j = 0; j < misfit->first->reason_count; j++)
            put_reason(page, &misfit->first->reasons[j]);
    }
}

static void put_disks(const struct page *page)
{
    enum { INDENT = 2 * GAP };
    struct text_list lines = plan_drill_disks(page->plan, page->arena);
    if (lines.count == 0)
        return;
    put_heading(page, "STRANDED BY THEIR DISKS");
    for (size_t i = 0; i < lines.count; i++) {
        put_blanks(GAP, page->out);
        put_wrapped(lines.items[i], GAP, INDENT, page->columns, page->out);
    }
}

bool plan_text(const struct plan *plan, const struct report_style *style, struct arena *arena,
               FILE *out, struct error *error)
{
    (void)error;
    const struct page page = {plan, style->colour ? &colours : &no_colours, page_columns(style),
                              arena, out};
    const struct text lines[] = {plan_drill_title(plan, arena), plan_drill_effect(plan, arena),
                                 plan_headline(plan, arena),    plan_drill_causes(plan, arena),
                                 plan_cost(plan, arena),        plan_saving(plan, arena)};
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        if (lines[i].size > 0)
            put_wrapped(lines[i], 0, 0, page.columns, out);
    put_nodes(&page, "TO BUY", plan_nodes_bought(plan, arena), bought_columns, bought_row);
    put_nodes(&page, "ON EXISTING NODES", plan_nodes_taking(plan, arena), taking_columns,
              taking_row);
    put_disks(&page);
    put_misfits(&page, "FIT NOWHERE", &plan->misfits[PLAN_NOWHERE]);
    put_misfits(&page, "NOT DECIDED", &plan->misfits[PLAN_UNDECIDED]);
    put_misfits(&page, "NOT YET PLACED", &plan->misfits[PLAN_LATER]);
    return true;
}
