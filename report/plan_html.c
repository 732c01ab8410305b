/* A plan as a page: whether every pod fits, why some fit nowhere, the picture, and the same in
 * tables, for people who cannot see it or want to search it. */
#include <string.h>

#include "report/page.h"
#include "report/plan.h"
#include "simulation/simulation.h"

/* More are folded at first. */
enum { MISFITS_OPEN = 8 };

/* The parts of the page that one can jump to. */
enum part {
    NO_PART,
    NOWHERE_PART,
    UNDECIDED_PART,
    PICTURE_PART,
    BOUGHT_PART,
    COSTS_PART,
    EXISTING_PART,
    LATER_PART,
    DISKS_PART
};

static void start_part(enum part part, const char *title, FILE *out)
{
    fprintf(out, "<section id=\"part-%d\">\n<h2>%s</h2>\n", (int)part, title);
}

static void end_part(FILE *out)
{
    fputs("</section>\n", out);
}

static struct text count_text(size_t count, struct arena *arena)
{
    return arena_printf(arena, "%zu", count);
}

static struct text count_or_none(size_t count, struct arena *arena)
{
    return count == 0 ? TEXT("") : count_text(count, arena);
}

/* ---- the head ---- */

static size_t nowhere_count(const struct plan *plan)
{
    return plan->simulation->unschedulable_count - plan->later_count;
}

static void put_verdict(const struct plan *plan, struct arena *arena, FILE *out)
{
    size_t nowhere = nowhere_count(plan);
    if (plan->simulation->incomplete)
        page_verdict(PAGE_BAD, TEXT("Not complete: what could not be understood is left out."),
                     out);
    if (nowhere > 0)
        page_verdict(PAGE_BAD,
                     arena_printf(arena, "%zu of %zu pending pods fit%s nowhere.", nowhere,
                                  plan->pending_count, nowhere == 1 ? "s" : ""),
                     out);
    else if (plan->simulation->undecided_count > 0)
        page_verdict(PAGE_WARNED,
                     arena_printf(arena, "Of %zu of %zu pending pods it is not decided whether %s.",
                                  plan->simulation->undecided_count, plan->pending_count,
                                  plan->simulation->undecided_count == 1 ? "it fits" : "they fit"),
                     out);
    else if (plan->later_count > 0)
        page_verdict(PAGE_WARNED,
                     arena_printf(arena, "%zu of %zu pending pods %s not yet placed.",
                                  plan->later_count, plan->pending_count,
                                  plan->later_count == 1 ? "is" : "are"),
                     out);
    else if (plan->pending_count > 0)
        page_verdict(PAGE_GOOD,
                     plan->pending_count == 1
                         ? TEXT("The pending pod fits.")
                         : arena_printf(arena, "All %zu pending pods fit.", plan->pending_count),
                     out);
    else if (!plan->simulation->incomplete)
        page_verdict(PAGE_GOOD, TEXT("No pod is pending: there is nothing to buy."), out);
}

static void put_numbers(const struct plan *plan, struct arena *arena, FILE *out)
{
    const struct simulation *simulation = plan->simulation;
    bool priced = simulation->claim_count > simulation->unpriced_count;
    struct text hour = plan_usd(simulation->usd_micro_per_hour, arena);
    struct text month = plan_usd_a_month(simulation->usd_micro_per_hour, arena);
    const struct page_number numbers[] = {
        {count_text(plan->pending_count, arena),
         plan->pending_count == 1 ? "pod pending" : "pods pending", NULL},
        {count_or_none(nowhere_count(plan), arena),
         nowhere_count(plan) == 1 ? "fits nowhere" : "fit nowhere", "bad"},
        {count_or_none(simulation->undecided_count, arena), "not decided", "warned"},
        {count_or_none(plan->later_count, arena), "not yet placed", "warned"},
        {count_or_none(plan->on_node_count, arena), "on existing nodes", NULL},
        {count_or_none(plan->on_claim_count, arena), "on new nodes", NULL},
        {count_or_none(simulation->claim_count, arena),
         simulation->claim_count == 1 ? "new node" : "new nodes", NULL},
        {priced ? arena_printf(arena, "$%.*s", TEXT_ARGS(hour)) : TEXT(""), "an hour", NULL},
        {priced ? arena_printf(arena, "$%.*s", TEXT_ARGS(month)) : TEXT(""), "a month", NULL},
    };
    page_numbers(numbers, COUNT_OF(numbers), out);
}

static void put_jumps(const struct plan *plan, struct arena *arena, FILE *out)
{
    size_t existing = plan->nodes.count - plan->simulation->claim_count;
    struct text_list disks = plan_drill_disks(plan, arena);
    const struct {
        bool there;
        enum part part;
        struct text title, note;
    } parts[] = {
        {plan->misfits[PLAN_NOWHERE].count > 0, NOWHERE_PART, TEXT("What fits nowhere, and why"),
         count_text(nowhere_count(plan), arena)},
        {plan->misfits[PLAN_UNDECIDED].count > 0, UNDECIDED_PART, TEXT("Not decided"),
         count_text(plan->simulation->undecided_count, arena)},
        {disks.count > 0, DISKS_PART, TEXT("Stranded by their disks"),
         count_text(disks.count, arena)},
        {plan->nodes.count > 0, PICTURE_PART, TEXT("Picture"), TEXT("")},
        {plan->simulation->claim_count > 0, BOUGHT_PART, TEXT("New nodes"),
         count_text(plan->simulation->claim_count, arena)},
        {plan->simulation->claim_count > 0, COSTS_PART, TEXT("Cost by NodePool and namespace"),
         TEXT("")},
        {existing > 0, EXISTING_PART, TEXT("Existing nodes"), count_text(existing, arena)},
        {plan->misfits[PLAN_LATER].count > 0, LATER_PART, TEXT("Not yet placed"),
         count_text(plan->later_count, arena)},
    };
    struct page_jump jumps[COUNT_OF(parts)];
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (parts[i].there)
            jumps[count++] =
                (struct page_jump){parts[i].title, parts[i].note, (size_t)parts[i].part};
    page_jumps(jumps, count, out);
}

/* ---- pods that fit nowhere ---- */

static void put_causes(const struct plan_causes *causes, struct arena *arena, FILE *out)
{
    static const struct page_column columns[] = {{"Cause", PAGE_WORD},
                                                 {"Pods", PAGE_NUMBER},
                                                 {"Workloads", PAGE_NUMBER},
                                                 {"What it means", PAGE_PROSE},
                                                 {0}};
    page_table_start(NULL, columns, out);
    for (size_t i = 0; i < causes->count; i++) {
        const struct plan_cause *cause = &causes->items[i];
        const struct text cells[] = {text_of(cause->kind), count_text(cause->pod_count, arena),
                                     count_text(cause->workload_count, arena),
                                     text_of(cause->meaning)};
        page_table_row(cells, columns, out);
    }
    page_table_end(out);
}

static bool has_kind_before(const struct simulation_reason *reasons, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(reasons[i].kind, reasons[at].kind) == 0)
            return true;
    return false;
}

static void put_misfit(const struct plan *plan, const struct plan_misfit *misfit, bool open,
                       struct arena *arena, FILE *out)
{
    static const struct page_column columns[] = {
        {"Where", PAGE_NOTE}, {"Because", PAGE_PROSE}, {"Nearest miss", PAGE_NOTE}, {0}};
    const struct simulation_reason *reasons = misfit->first->reasons;
    size_t count = misfit->first->reason_count;
    fputs("<details class=\"item", out);
    for (size_t i = 0; i < count; i++)
        if (!has_kind_before(reasons, i))
            fprintf(out, " %s-in", reasons[i].kind);
    fprintf(out, "\"%s>\n<summary><b>", open ? " open" : "");
    put_xml(plan_misfit_title(plan, misfit, arena), out);
    fputs("</b> <small>", out);
    for (size_t i = 0, shown = 0; i < count; i++)
        if (!has_kind_before(reasons, i))
            fprintf(out, "%s%s", shown++ > 0 ? ", " : "", reasons[i].kind);
    fputs("</small></summary>\n", out);
    page_table_start(NULL, columns, out);
    for (size_t i = 0; i < count; i++) {
        fputs("<tr><th scope=\"row\">", out);
        put_xml(plan_reason_pool(&reasons[i], arena), out);
        fputs("</th><td><span class=\"bad\">", out);
        put_xml(text_of(reasons[i].kind), out);
        fputs(":</span> ", out);
        put_xml(reasons[i].message, out);
        fputs("</td>", out);
        page_cell_start(&columns[2], "", out);
        put_xml(reasons[i].nearest, out);
        fputs("</td></tr>\n", out);
    }
    page_table_end(out);
    fputs("</details>\n", out);
}

static void put_misfits(const struct plan *plan, int kind, struct arena *arena, FILE *out)
{
    static const enum part parts[PLAN_MISFITS] = {[PLAN_NOWHERE] = NOWHERE_PART,
                                                  [PLAN_UNDECIDED] = UNDECIDED_PART,
                                                  [PLAN_LATER] = LATER_PART};
    const struct plan_misfits *misfits = &plan->misfits[kind];
    if (misfits->count == 0)
        return;
    bool nowhere = kind == PLAN_NOWHERE;
    bool few = misfits->count <= MISFITS_OPEN;
    struct plan_causes causes = plan_causes(misfits, arena);
    start_part(parts[kind], misfits->title, out);
    put_causes(&causes, arena, out);
    if (nowhere && !few) {
        const char **kinds = ARENA_ARRAY(arena, causes.count + 1, const char *);
        for (size_t i = 0; i < causes.count; i++)
            kinds[i] = causes.items[i].kind;
        page_filter("pods, NodePool, reason", kinds, out);
    }
    for (size_t i = 0; i < misfits->count; i++)
        put_misfit(plan, &misfits->items[i], few, arena, out);
    end_part(out);
}

/* ---- pods that their disks strand in a drill ---- */

static void put_disks(const struct plan *plan, struct arena *arena, FILE *out)
{
    struct text_list lines = plan_drill_disks(plan, arena);
    if (lines.count == 0)
        return;
    start_part(DISKS_PART, "Stranded by their disks", out);
    fputs("<ul>\n", out);
    for (size_t i = 0; i < lines.count; i++) {
        fputs("<li>", out);
        put_xml(lines.items[i], out);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
    end_part(out);
}

/* ---- nodes ---- */

/* "or one of 17 types" is enough about the others. */
static struct text types_text(const struct simulation_node *node, struct arena *arena)
{
    if (node->instance_type_count < 2)
        return node->instance_type;
    size_t others = node->instance_type_count - 1;
    return arena_printf(arena, "%.*s (or %zu other%s)", TEXT_ARGS(node->instance_type), others,
                        others == 1 ? "" : "s");
}

static void put_bought(const struct plan *plan, struct arena *arena, FILE *out)
{
    static const struct page_column columns[] = {
        {"Nodes", PAGE_NUMBER},   {"NodePool", PAGE_NOTE},
        {"Type", PAGE_NOTE},      {"Zone", PAGE_WORD},
        {"Capacity", PAGE_WORD},  {"$/h each", PAGE_NUMBER},
        {"CPU", PAGE_NUMBER},     {"Memory", PAGE_NUMBER},
        {"Pods each", PAGE_NOTE}, {0}};
    struct plan_nodes nodes = plan_nodes_bought(plan, arena);
    if (nodes.count == 0)
        return;
    start_part(BOUGHT_PART, "New nodes", out);
    page_table_start(NULL, columns, out);
    for (size_t i = 0; i < nodes.count; i++) {
        const struct plan_node *node = &nodes.items[i];
        const struct simulation_node *from = node->node;
        const struct text cells[] = {
            arena_printf(arena, "%zu \u00d7", node->count),
            from->node_pool,
            types_text(from, arena),
            from->zone,
            from->capacity_type,
            plan_price(from->usd_micro_per_hour, arena),
            plan_percent(node->cpu_percent, arena),
            plan_percent(node->memory_percent, arena),
            plan_pods_text(plan, node, ' ', arena),
        };
        page_table_row(cells, columns, out);
    }
    page_table_end(out);
    end_part(out);
}

static void put_costs(const char *caption, const char *name, const struct plan_costs *costs,
                      struct arena *arena, FILE *out)
{
    const struct page_column columns[] = {{name, PAGE_NOTE},        {"Nodes", PAGE_NUMBER},
                                          {"Pods", PAGE_NUMBER},    {"$/h", PAGE_NUMBER},
                                          {"$/month", PAGE_NUMBER}, {0}};
    page_table_start(caption, columns, out);
    for (size_t i = 0; i < costs->count; i++) {
        const struct plan_cost_row *row = &costs->items[i];
        bool known = row->unpriced_count < row->node_count;
        const char *more = known && row->unpriced_count > 0 ? " + ?" : "";
        struct text hour = plan_price(known ? row->usd_micro_per_hour : -1, arena);
        struct text month = known ? plan_usd_a_month(row->usd_micro_per_hour, arena) : TEXT("?");
        const struct text cells[] = {
            row->name,
            count_text(row->node_count, arena),
            count_text(row->pod_count, arena),
            arena_printf(arena, "%.*s%s", TEXT_ARGS(hour), more),
            arena_printf(arena, "%.*s%s", TEXT_ARGS(month), more),
        };
        page_table_row(cells, columns, out);
    }
    page_table_end(out);
}

static void put_all_costs(const struct plan *plan, struct arena *arena, FILE *out)
{
    if (plan->simulation->claim_count == 0)
        return;
    struct plan_costs pools = plan_costs_by_pool(plan, arena);
    struct plan_costs namespaces = plan_costs_by_namespace(plan, arena);
    start_part(COSTS_PART, "Cost of the new nodes", out);
    put_costs("By NodePool", "NodePool", &pools, arena, out);
    put_costs("By namespace", "Namespace", &namespaces, arena, out);
    page_paragraph("dim",
                   TEXT("A node's price is divided among the pods on it by what they ask for, room "
                        "to spare included."),
                   out);
    end_part(out);
}

/* "43%, then 61%" with a bar: what is used, and what comes to it. */
static void put_use(const struct page_column *column, int before, int after, FILE *out)
{
    enum { WHOLE = 100 };
    page_cell_start(column, "", out);
    if (after < 0) {
        fputs("-</td>", out);
        return;
    }
    fprintf(out, "<span class=\"bar\" style=\"--a:%d%%;--b:%d%%\"></span> %d%%",
            before < WHOLE ? before : WHOLE, after < WHOLE ? after : WHOLE, before);
    if (after != before)
        fprintf(out, " \u2192 %d%%", after);
    fputs("</td>", out);
}

static void put_members(const struct plan *plan, const struct plan_node *nodes, size_t count,
                        struct arena *arena, FILE *out)
{
    static const struct page_column columns[] = {{"Node", PAGE_NOTE},     {"Type", PAGE_WORD},
                                                 {"Zone", PAGE_WORD},     {"CPU", PAGE_NUMBER},
                                                 {"Memory", PAGE_NUMBER}, {"Pods", PAGE_NUMBER},
                                                 {"It takes", PAGE_NOTE}, {0}};
    page_table_start(NULL, columns, out);
    for (size_t i = 0; i < count; i++) {
        const struct plan_node *node = &nodes[i];
        fputs("<tr><th scope=\"row\" class=\"note\">", out);
        put_xml(node->node->name, out);
        fputs("</th>", out);
        const struct text words[] = {node->node->instance_type, node->node->zone};
        for (size_t j = 0; j < COUNT_OF(words); j++) {
            page_cell_start(&columns[j + 1], "", out);
            put_xml(words[j], out);
            fputs("</td>", out);
        }
        put_use(&columns[3], node->before_cpu_percent, node->cpu_percent, out);
        put_use(&columns[4], node->before_memory_percent, node->memory_percent, out);
        page_cell_start(&columns[5], "", out);
        fprintf(out, "%zu</td>", node->node->pod_count);
        page_cell_start(&columns[6], "", out);
        put_xml(plan_pods_text(plan, node, ' ', arena), out);
        fputs("</td></tr>\n", out);
    }
    page_table_end(out);
}

/* The pools, and their nodes folded below each. */
static void put_existing(const struct plan *plan, struct arena *arena, FILE *out)
{
    struct plan_nodes members;
    struct plan_nodes pools = plan_nodes_by_pool(plan, &members, arena);
    if (members.count == 0)
        return;
    start_part(EXISTING_PART, "Existing nodes", out);
    page_paragraph("dim",
                   TEXT("What pods ask for, of what a node has for them: now, and with the pending "
                        "pods. DaemonSets' pods count."),
                   out);
    const struct plan_node *next = members.items;
    for (size_t i = 0; i < pools.count; i++) {
        const struct plan_node *pool = &pools.items[i];
        struct text name = pool->node->node_pool;
        fputs("<details class=\"pool\">\n<summary><b>", out);
        put_xml(name.size > 0 ? name : TEXT("no NodePool"), out);
        fprintf(out, "</b> <small>%zu node%s, cpu %d%%", pool->count, pool->count == 1 ? "" : "s",
                pool->before_cpu_percent);
        if (pool->cpu_percent != pool->before_cpu_percent)
            fprintf(out, " \u2192 %d%%", pool->cpu_percent);
        fprintf(out, ", memory %d%%", pool->before_memory_percent);
        if (pool->memory_percent != pool->before_memory_percent)
            fprintf(out, " \u2192 %d%%", pool->memory_percent);
        if (pool->pending_count > 0)
            fprintf(out, ", takes %zu pod%s", pool->pending_count,
                    pool->pending_count == 1 ? "" : "s");
        fputs("</small></summary>\n", out);
        put_members(plan, next, pool->count, arena, out);
        fputs("</details>\n", out);
        next += pool->count;
    }
    end_part(out);
}

static void put_picture(const struct plan *plan, struct arena *arena, FILE *out)
{
    if (plan->nodes.count == 0)
        return;
    start_part(PICTURE_PART, "Picture", out);
    fputs("<figure>\n", out);
    plan_svg_put(plan, PLAN_SVG_WIDE, arena, out);
    plan_svg_put(plan, PLAN_SVG_NARROW, arena, out);
    fputs("</figure>\n", out);
    end_part(out);
}

bool plan_html(const struct plan *plan, const struct report_style *style, struct arena *arena,
               FILE *out, struct error *error)
{
    (void)error;
    struct page_fact facts[PAGE_ABOUT_FACTS];
    size_t fact_count = page_about(style->about, facts, arena);
    page_start("plan", out);
    fputs("<h1>Plan: what the provisioner would buy</h1>\n", out);
    page_paragraph("", plan_drill_title(plan, arena), out);
    put_verdict(plan, arena, out);
    put_numbers(plan, arena, out);
    page_paragraph("", plan_drill_effect(plan, arena), out);
    page_paragraph("", plan_drill_causes(plan, arena), out);
    page_paragraph("", plan_cost(plan, arena), out);
    page_paragraph("", plan_saving(plan, arena), out);
    page_facts(facts, fact_count, out);
    put_jumps(plan, arena, out);
    put_misfits(plan, PLAN_NOWHERE, arena, out);
    put_misfits(plan, PLAN_UNDECIDED, arena, out);
    put_disks(plan, arena, out);
    put_picture(plan, arena, out);
    put_bought(plan, arena, out);
    put_all_costs(plan, arena, out);
    put_existing(plan, arena, out);
    put_misfits(plan, PLAN_LATER, arena, out);
    fputs("<p class=\"dim\">CPU and memory are what the pods ask for, of what the node has for "
          "them. A month has 730 hours.</p>\n",
          out);
    page_end(out);
    return true;
}
