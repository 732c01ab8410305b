/* Draws the parts of a plan's picture: nodes as boxes, their pods as blocks in them. */
#include <string.h>

#include "report/plan_picture.h"
#include "simulation/simulation.h"

/* Okabe and Ito's colours, which colour-blind people can tell apart, without black; after these,
 * the same with stripes. `ink` is readable on the colour. */
static const struct {
    const char *fill, *ink;
} colours[] = {
    {"#E69F00", "#000"}, {"#56B4E9", "#000"}, {"#009E73", "#000"}, {"#F0E442", "#000"},
    {"#0072B2", "#fff"}, {"#D55E00", "#000"}, {"#CC79A7", "#000"},
};
enum { COLOUR_COUNT = COUNT_OF(colours) };
_Static_assert((int)COLOUR_COUNT == PICTURE_RANKS / 2, "a colour for each rank, twice");
static const char other_fill[] = "#8c959f";

/* ---- parts ---- */

/* The colour is for readers without a style sheet. */
static const struct {
    const char *class, *fill;
} inks[] = {
    [PICTURE_INK] = {"tf-ink", "#1f2328"},
    [PICTURE_DIM] = {"tf-dim", "#57606a"},
    [PICTURE_BAD] = {"tf-bad", "#a40e26"},
    [PICTURE_NEW] = {"tf-new-ink", "#0550ae"},
};

void drawing_text(const struct drawing *drawing, double x, double y, double font,
                  enum picture_ink ink, const char *more, struct text text)
{
    if (drawing->out == NULL)
        return;
    fprintf(drawing->out,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" class=\"%s\" fill=\"%s\"%s>", x, y,
            font, inks[ink].class, inks[ink].fill, more);
    put_xml(text, drawing->out);
    fputs("</text>\n", drawing->out);
}

static void put_title(const struct drawing *drawing, struct text title)
{
    fputs("<title>", drawing->out);
    put_xml(title, drawing->out);
    fputs("</title>", drawing->out);
}

const char drawing_bold[] = " font-weight=\"600\"";
static const char right[] = " text-anchor=\"end\"";

/* Two pictures of one page have each their own definitions: a browser does not take those of one
 * that is not shown. */
static char pattern_letter(const struct drawing *drawing)
{
    return drawing->place == PLAN_SVG_NARROW ? 'n' : 'w';
}

void drawing_fill(const struct drawing *drawing, const struct plan_workload *workload)
{
    FILE *out = drawing->out;
    if (workload->rank < COLOUR_COUNT)
        fprintf(out, " fill=\"%s\"", colours[workload->rank].fill);
    else if (workload->rank < PICTURE_RANKS)
        fprintf(out, " fill=\"url(#tf-%c-%zu)\"", pattern_letter(drawing),
                workload->rank - COLOUR_COUNT);
    else
        fprintf(out, " fill=\"%s\"", other_fill);
}

void drawing_stripes(const struct drawing *drawing)
{
    fputs("<defs>", drawing->out);
    for (size_t i = 0; i < COLOUR_COUNT && i + COLOUR_COUNT < drawing->plan->workload_count; i++)
        fprintf(drawing->out,
                "<pattern id=\"tf-%c-%zu\" width=\"6\" height=\"6\" "
                "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
                "<rect width=\"6\" height=\"6\" fill=\"%s\"/>"
                "<rect width=\"2\" height=\"6\" fill=\"%s\" fill-opacity=\"0.55\"/></pattern>",
                pattern_letter(drawing), i, colours[i].fill, colours[i].ink);
    fputs("</defs>\n", drawing->out);
}

/* ---- pods in a box ---- */

struct strip {
    const struct plan_share *share;
    double x, y, width, height;
};

enum { LEAST_CELL = 3 };

/* The number of rows that makes the cells about square. */
static size_t cell_rows(const struct strip *strip)
{
    double count = (double)strip->share->pod_count;
    size_t rows = 1;
    while ((double)((rows + 1) * (rows + 1)) * strip->width <= count * strip->height &&
           strip->height / (double)(rows + 1) >= LEAST_CELL)
        rows++;
    return rows;
}

/* The cells [first, end) of a strip, row by row, as one path. */
static void put_cells(const struct drawing *drawing, const struct strip *strip, size_t first,
                      size_t end, bool pending)
{
    if (first == end)
        return;
    FILE *out = drawing->out;
    size_t count = strip->share->pod_count;
    size_t rows = cell_rows(strip);
    size_t columns = (count + rows - 1) / rows;
    double width = strip->width / (double)columns;
    double height = strip->height / (double)rows;
    fputs("<path", out);
    drawing_fill(drawing, &drawing->plan->workloads[strip->share->workload]);
    fprintf(out, "%s d=\"", pending ? "" : " fill-opacity=\"0.35\"");
    if (width < LEAST_CELL) { /* too small to see */
        double total = (double)count;
        fprintf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", strip->x + strip->width * (double)first / total,
                strip->y, strip->width * (double)(end - first) / total, strip->height,
                strip->width * (double)(end - first) / total);
        first = end;
    }
    for (size_t i = first; i < end; i++) {
        size_t row = i / columns;
        fprintf(out, "M%.1f %.1fh%.1fv%.1fh-%.1fz", strip->x + (double)(i % columns) * width,
                strip->y + (double)row * height, width - 0.8, height - 0.8, width - 0.8);
    }
    fputs("\"/>", out);
}

static struct text strip_title(const struct drawing *drawing, const struct plan_share *share)
{
    struct arena *arena = drawing->arena;
    const struct plan_workload *workload = &drawing->plan->workloads[share->workload];
    struct text_builder title = {.arena = arena};
    if (share == drawing->others)
        text_builder_add(&title, TEXT("other workloads"));
    else
        text_builder_printf(&title, "%.*s in %.*s", TEXT_ARGS(workload->name),
                            TEXT_ARGS(workload->namespace));
    text_builder_printf(&title, ": %zu pod%s, %.*s cpu, %.*s GiB", share->pod_count,
                        share->pod_count == 1 ? "" : "s",
                        TEXT_ARGS(plan_cpu(share->cpu_milli, arena)),
                        TEXT_ARGS(plan_gib(share->memory_bytes, arena)));
    if (share->pending_count < share->pod_count)
        text_builder_printf(&title, "; %zu of them new here", share->pending_count);
    return text_builder_text(&title);
}

/* In the first row of cells. */
static void put_strip_label(const struct drawing *drawing, const struct strip *strip)
{
    struct arena *arena = drawing->arena;
    const struct plan_workload *workload = &drawing->plan->workloads[strip->share->workload];
    double font = drawing->picture.detail->font - 1;
    double height = strip->height / (double)cell_rows(strip);
    if (!drawing->picture.detail->labels || height < font + 2)
        return;
    struct text label = strip->share == drawing->others ? TEXT("others") : workload->label;
    if (strip->share->pod_count > 1)
        label = arena_printf(arena, "%.*s x%zu", TEXT_ARGS(label), strip->share->pod_count);
    fprintf(drawing->out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\"", strip->x + 4,
            strip->y + height / 2 + font * 0.36, font);
    /* The page shows through a faded block, and its own ink is best on it. Otherwise the name has a
     * rim of the colour, over gaps and stripes. */
    bool faded = strip->share->pending_count == 0 || workload->rank >= PICTURE_RANKS;
    size_t colour = workload->rank % COLOUR_COUNT;
    if (faded)
        fprintf(drawing->out, " class=\"%s\" fill=\"%s\">", inks[PICTURE_INK].class,
                inks[PICTURE_INK].fill);
    else
        fprintf(drawing->out,
                " fill=\"%s\" stroke=\"%s\" stroke-width=\"3\" paint-order=\"stroke\">",
                colours[colour].ink, colours[colour].fill);
    put_xml(picture_fit(label, strip->width - 8, font, arena), drawing->out);
    fputs("</text>", drawing->out);
}

static void put_strip(const struct drawing *drawing, const struct strip *strip)
{
    const struct plan_share *share = strip->share;
    fputs("<g>", drawing->out);
    put_title(drawing, strip_title(drawing, share));
    put_cells(drawing, strip, 0, share->pending_count, true);
    put_cells(drawing, strip, share->pending_count, share->pod_count, false);
    put_strip_label(drawing, strip);
    fputs("</g>\n", drawing->out);
}

/* The shares that are drawn. Of a group, which has many, workloads without a colour of their own
 * are one, the last: *others. */
static size_t shown_shares(const struct drawing *drawing, const struct plan_node *node,
                           struct plan_share *shown, struct plan_share **others)
{
    size_t count = 0;
    struct plan_share rest = {0};
    for (size_t i = 0; i < node->share_count; i++) {
        const struct plan_share *share = &node->shares[i];
        if (!node->grouped || drawing->plan->workloads[share->workload].rank < PICTURE_RANKS) {
            shown[count++] = *share;
            continue;
        }
        rest.workload = share->workload;
        rest.pod_count += share->pod_count;
        rest.pending_count += share->pending_count;
        rest.cpu_milli = plan_add(rest.cpu_milli, share->cpu_milli);
        rest.memory_bytes = plan_add(rest.memory_bytes, share->memory_bytes);
    }
    *others = rest.pod_count > 0 ? &shown[count] : NULL;
    if (rest.pod_count > 0)
        shown[count++] = rest;
    return count;
}

/* A strip for each workload, with its pods as cells; the free part is below. */
static void put_pods(struct drawing drawing, const struct picture_box *box, double x, double y,
                     double width, double height)
{
    const double least = drawing.picture.detail->labels ? 4 : 2;
    const struct plan_node *node = box->node;
    struct plan_share *shares =
        ARENA_ARRAY(drawing.arena, node->share_count + 1, struct plan_share);
    struct plan_share *others;
    size_t count = shown_shares(&drawing, node, shares, &others);
    drawing.others = others;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double wanted = plan_share_of_node(&shares[i], node) * height;
        sum += wanted < least ? least : wanted;
    }
    double scale = sum > height ? height / sum : 1;
    for (size_t i = 0; i < count; i++) {
        double wanted = plan_share_of_node(&shares[i], node) * height;
        struct strip strip = {&shares[i], x, y, width, (wanted < least ? least : wanted) * scale};
        put_strip(&drawing, &strip);
        y += strip.height;
    }
}

/* ---- boxes ---- */

static struct text box_title(const struct drawing *drawing, const struct plan_node *node)
{
    struct arena *arena = drawing->arena;
    const struct simulation_node *from = node->node;
    struct text_builder title = {.arena = arena};
    if (node->bought)
        text_builder_printf(&title, "%zu new node%s", node->count, node->count == 1 ? "" : "s");
    else if (node->grouped)
        text_builder_printf(&title, "%zu nodes", node->count);
    else if (node->count > 1)
        text_builder_printf(&title, "%.*s and %zu more", TEXT_ARGS(from->name), node->count - 1);
    else
        text_builder_add(&title, from->name);
    if (node->type_count > 1)
        text_builder_printf(&title, "\n%zu instance types, %.*s", node->type_count,
                            TEXT_ARGS(from->zone));
    else
        text_builder_printf(&title, "\n%.*s, %.*s, %.*s", TEXT_ARGS(from->instance_type),
                            TEXT_ARGS(from->zone), TEXT_ARGS(from->capacity_type));
    if (from->node_pool.size > 0)
        text_builder_printf(&title, ", NodePool %.*s", TEXT_ARGS(from->node_pool));
    if (node->usd_micro_per_hour >= 0)
        text_builder_printf(&title, "\n$%.*s an hour%s",
                            TEXT_ARGS(plan_price(node->usd_micro_per_hour, arena)),
                            node->mixed_prices ? " in all"
                            : node->count > 1  ? " each"
                                               : "");
    text_builder_printf(&title, "\ncpu %.*s of %.*s (%.*s), memory %.*s of %.*s GiB (%.*s)",
                        TEXT_ARGS(plan_cpu(node->cpu_milli, arena)),
                        TEXT_ARGS(plan_cpu(node->room_cpu_milli, arena)),
                        TEXT_ARGS(plan_percent(node->cpu_percent, arena)),
                        TEXT_ARGS(plan_gib(node->memory_bytes, arena)),
                        TEXT_ARGS(plan_gib(node->room_memory_bytes, arena)),
                        TEXT_ARGS(plan_percent(node->memory_percent, arena)));
    if (from->instance_type_count > 1 && !node->grouped)
        text_builder_printf(&title, "\n%zu instance types could hold its pods",
                            from->instance_type_count);
    return text_builder_text(&title);
}

void drawing_frame(const struct drawing *drawing, bool bought, double x, double y, double width,
                   double height)
{
    if (drawing->out == NULL)
        return;
    fprintf(drawing->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"3\" fill=\"#fff\" "
            "stroke=\"%s\" stroke-width=\"%s\" class=\"tf-box %s\"%s/>\n",
            x, y, width, height, bought ? "#0550ae" : "#57606a", bought ? "1.6" : "1.2",
            bought ? "tf-new" : "tf-old", bought ? " stroke-dasharray=\"5 3\"" : "");
}

/* Type and price, and below them the name or the capacity type. */
static void put_header(const struct drawing *drawing, const struct picture_box *box, double width)
{
    const struct picture_detail *detail = drawing->picture.detail;
    struct arena *arena = drawing->arena;
    const struct plan_node *node = box->node;
    const struct simulation_node *from = node->node;
    double font = detail->font;
    double padding = font * 0.5;
    double first = box->y + font * 1.25;
    double second = first + font * 1.2;
    double inner = width - 2 * padding;
    struct text price =
        node->usd_micro_per_hour < 0
            ? TEXT("")
            : arena_printf(arena, "$%.*s", TEXT_ARGS(plan_price(node->usd_micro_per_hour, arena)));
    struct text type = from->instance_type.size > 0 ? from->instance_type : from->name;
    if (node->type_count > 1)
        type = arena_printf(arena, "%zu nodes, %zu types", node->count, node->type_count);
    else if (node->count > 1)
        type = arena_printf(arena, "%zu \u00d7 %.*s", node->count, TEXT_ARGS(type));
    struct text kind = from->capacity_type.size > 0 ? from->capacity_type : TEXT("-");
    if (node->type_count > 1 && from->node_pool.size > 0)
        kind = from->node_pool;
    else if (from->node_pool.size > 0)
        kind = arena_printf(arena, "%.*s, %.*s", TEXT_ARGS(kind), TEXT_ARGS(from->node_pool));
    struct text below = node->bought || node->count > 1 ? kind : from->name;
    /* If both do not fit, the price goes to the second line. */
    double price_width = picture_text_width(price, font);
    bool apart = picture_text_width(type, font) * 1.08 + price_width + font > inner;
    double type_width = apart ? inner : inner - price_width - font;
    double below_width = apart ? inner - price_width - font : inner;
    drawing_text(drawing, box->x + padding, first, font, node->bought ? PICTURE_NEW : PICTURE_INK,
                 drawing_bold, picture_fit(type, type_width / 1.08, font, arena));
    drawing_text(drawing, box->x + width - padding, apart ? second : first, font, PICTURE_INK,
                 right, price);
    /* A few letters of a name say nothing. */
    enum { LEAST_SHOWN = 8 };
    struct text shown = picture_fit(below, below_width, font * 0.92, arena);
    if (shown.size == below.size || shown.size > LEAST_SHOWN)
        drawing_text(drawing, box->x + padding, second, font * 0.92, PICTURE_DIM, "", shown);
}

static void put_box(const struct drawing *drawing, const struct picture_box *box)
{
    enum { STACK = 3 }; /* the offset of the second box behind the first */
    const struct picture *picture = &drawing->picture;
    const struct picture_detail *detail = picture->detail;
    double height = picture_box_height(picture, box);
    double width = picture->box_width;
    const struct plan_node *node = box->node;
    fputs("<g>", drawing->out);
    put_title(drawing, box_title(drawing, node));
    if (node->count > 1) {
        width -= STACK;
        height -= STACK;
        drawing_frame(drawing, node->bought, box->x + STACK, box->y + STACK, width, height);
    }
    drawing_frame(drawing, node->bought, box->x, box->y, width, height);
    put_header(drawing, box, width);
    double inset = detail->labels ? 5 : 3;
    double body = height - detail->header_height - detail->footer_height - inset;
    double room_height = detail->footer_height > 0 ? body + inset : body;
    double top = box->y + detail->header_height;
    fprintf(drawing->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#e7eaee\" "
            "class=\"tf-room\"/>\n",
            box->x + inset, top, width - 2 * inset, room_height);
    put_pods(*drawing, box, box->x + inset, top, width - 2 * inset, room_height);
    if (detail->footer_height > 0)
        drawing_text(drawing, box->x + inset, top + room_height + detail->font * 1.1,
                     detail->font * 0.9, PICTURE_DIM, "",
                     arena_printf(drawing->arena, "cpu %.*s  memory %.*s",
                                  TEXT_ARGS(plan_percent(node->cpu_percent, drawing->arena)),
                                  TEXT_ARGS(plan_percent(node->memory_percent, drawing->arena))));
    fputs("</g>\n", drawing->out);
}

void drawing_zone(const struct drawing *drawing, const struct picture_zone *zone)
{
    struct arena *arena = drawing->arena;
    double left = zone->x + PICTURE_ZONE_PADDING;
    double inner = zone->width - 2 * PICTURE_ZONE_PADDING;
    fprintf(drawing->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"6\" fill=\"#f3f5f7\" "
            "class=\"tf-zone\"/>\n",
            zone->x, zone->y, zone->width, zone->height);
    struct text name = zone->name.size > 0 ? zone->name : TEXT("no zone");
    drawing_text(drawing, left, zone->y + 17, 13, PICTURE_INK, drawing_bold,
                 picture_fit(name, inner / 1.08, 13, arena));
    struct text_builder counts = {.arena = arena};
    bool all_new = zone->bought_count == zone->node_count;
    text_builder_printf(&counts, "%zu %snode%s", zone->node_count, all_new ? "new " : "",
                        zone->node_count == 1 ? "" : "s");
    if (zone->bought_count > 0 && !all_new)
        text_builder_printf(&counts, ", %zu new", zone->bought_count);
    if (zone->usd_micro_per_hour > 0)
        text_builder_printf(&counts, ": $%.*s/h",
                            TEXT_ARGS(plan_usd(zone->usd_micro_per_hour, arena)));
    drawing_text(drawing, left, zone->y + 32, 11, PICTURE_DIM, "",
                 picture_fit(text_builder_text(&counts), inner, 11, arena));
    for (size_t i = 0; i < zone->box_count; i++)
        put_box(drawing, &zone->boxes[i]);
}
