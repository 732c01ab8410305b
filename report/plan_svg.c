/* A plan as a picture: zones as columns, nodes as boxes, pods as blocks. Attributes have the light
 * colours; the style sheet, which some readers ignore, has the dark ones. */
#include <string.h>

#include "report/plan_picture.h"
#include "simulation/simulation.h"

static const char style_sheet[] =
    "<style>\n"
    ".tf-page{fill:#fff}.tf-zone{fill:#f3f5f7}.tf-box{fill:#fff}.tf-ink{fill:#1f2328}"
    ".tf-dim{fill:#57606a}.tf-bad{fill:#a40e26}.tf-new-ink{fill:#0550ae}"
    ".tf-old{stroke:#57606a}.tf-new{stroke:#0550ae}.tf-room{fill:#e7eaee}\n"
    "@media (prefers-color-scheme: dark){"
    ".tf-page{fill:#0d1117}.tf-zone{fill:#171d25}.tf-box{fill:#0d1117}.tf-ink{fill:#e6edf3}"
    ".tf-dim{fill:#9da7b3}.tf-bad{fill:#ff8f88}.tf-new-ink{fill:#79b8ff}"
    ".tf-old{stroke:#8b949e}.tf-new{stroke:#58a6ff}.tf-room{fill:#262d37}}\n"
    "</style>\n";

/* ---- heading ---- */

/* Prints words on several lines; returns the place of the next line. */
static double put_lines(const struct drawing *drawing, double x, double y, double font,
                        enum picture_ink ink, struct text words)
{
    double width = drawing->picture.width - drawing->picture.frame.margin - x;
    double line_height = font * 1.4;
    while (words.size > 0) {
        /* The longest start that ends before a blank and fits; one word at least. */
        size_t end = words.size;
        while (end > 0 && picture_text_width((struct text){words.data, end}, font) > width) {
            end--;
            while (end > 0 && words.data[end] != ' ')
                end--;
        }
        if (end == 0) {
            struct text word = words;
            text_split(words, ' ', &word, NULL);
            end = word.size;
        }
        struct text line = picture_fit((struct text){words.data, end}, width, font, drawing->arena);
        drawing_text(drawing, x, y, font, ink, "", line);
        y += line_height;
        end += end < words.size;
        words = (struct text){words.data + end, words.size - end};
    }
    return y;
}

static double put_heading(const struct drawing *drawing)
{
    const struct plan *plan = drawing->plan;
    struct arena *arena = drawing->arena;
    double y = drawing->picture.frame.margin + 14;
    struct text headline = plan_headline(plan, arena);
    drawing_text(drawing, drawing->picture.frame.margin, y, 18, PICTURE_INK, drawing_bold,
                 TEXT("What the provisioner would buy"));
    y = put_lines(drawing, drawing->picture.frame.margin, y + 24, 14, PICTURE_INK, headline);
    y = put_lines(drawing, drawing->picture.frame.margin, y, 14, PICTURE_INK,
                  plan_cost(plan, arena));
    return put_lines(drawing, drawing->picture.frame.margin, y, 14, PICTURE_INK,
                     plan_saving(plan, arena));
}

/* ---- legend ---- */

struct legend {
    const struct drawing *drawing;
    double x, y;
};
enum { SWATCH = 12, LEGEND_FONT = 11, LEGEND_LINE = 19 };

/* Starts a new line when the item does not fit. Returns the place of its swatch. */
static double legend_item(struct legend *legend, struct text label)
{
    const struct drawing *drawing = legend->drawing;
    double most = drawing->picture.width - 2 * drawing->picture.frame.margin;
    struct text shown = picture_fit(label, most - SWATCH - 6, LEGEND_FONT, drawing->arena);
    double width = SWATCH + 6 + picture_text_width(shown, LEGEND_FONT);
    if (legend->x > drawing->picture.frame.margin &&
        legend->x + width > drawing->picture.frame.margin + most) {
        legend->x = drawing->picture.frame.margin;
        legend->y += LEGEND_LINE;
    }
    double x = legend->x;
    drawing_text(drawing, x + SWATCH + 6, legend->y + SWATCH - 2, LEGEND_FONT, PICTURE_INK, "",
                 shown);
    legend->x += width + 14;
    return x;
}

static void put_swatch(const struct drawing *drawing, double x, double y,
                       const struct plan_workload *workload, const char *more)
{
    if (drawing->out == NULL)
        return;
    fprintf(drawing->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"2\"%s", x, y,
            SWATCH, SWATCH, more);
    drawing_fill(drawing, workload);
    fputs("/>\n", drawing->out);
}

static const struct plan_workload *workload_of_rank(const struct plan *plan, size_t rank)
{
    size_t at = 0;
    while (plan->workloads[at].rank != rank)
        at++;
    return &plan->workloads[at];
}

static double put_legend(const struct drawing *drawing, double y)
{
    const struct plan *plan = drawing->plan;
    struct arena *arena = drawing->arena;
    struct legend legend = {drawing, drawing->picture.frame.margin, y};
    size_t others = 0;
    for (size_t i = 0; i < plan->workload_count; i++)
        others += plan->workloads[i].rank >= PICTURE_RANKS ? plan->workloads[i].pod_count : 0;
    for (size_t rank = 0; rank < plan->workload_count && rank <= PICTURE_RANKS; rank++) {
        const struct plan_workload *workload = workload_of_rank(plan, rank);
        struct text label = rank == PICTURE_RANKS
                                ? arena_printf(arena, "others (%zu)", others)
                                : arena_printf(arena, "%.*s (%zu)", TEXT_ARGS(workload->label),
                                               workload->pod_count);
        double x = legend_item(&legend, label);
        put_swatch(drawing, x, legend.y, workload, "");
    }
    if (plan->nodes.count == 0)
        return plan->workload_count == 0 ? y : legend.y + LEGEND_LINE;
    legend.x = drawing->picture.frame.margin;
    legend.y += plan->workload_count == 0 ? 0 : LEGEND_LINE + 2;
    if (plan->simulation->claim_count < plan->nodes.count) {
        double x = legend_item(&legend, TEXT("existing node"));
        drawing_frame(drawing, false, x, legend.y, SWATCH, SWATCH);
    }
    if (plan->simulation->claim_count > 0) {
        double x = legend_item(&legend, TEXT("new node"));
        drawing_frame(drawing, true, x, legend.y, SWATCH, SWATCH);
    }
    if (plan->pending_count < plan->simulation->pod_count) {
        double x = legend_item(&legend, TEXT("pod that was there before"));
        put_swatch(drawing, x, legend.y, workload_of_rank(plan, 0), " fill-opacity=\"0.35\"");
    }
    static const char note[] =
        "A node's height is the root of its cpu; a block is what a pod takes "
        "of the node's cpu or memory, whichever is more.";
    static const char group_note[] =
        "Nodes of one NodePool and zone are one box, with the pods of all of them, where there "
        "are too many to be shown each.";
    y = legend.y + LEGEND_LINE + SWATCH - 2;
    y = put_lines(drawing, drawing->picture.frame.margin, y, LEGEND_FONT, PICTURE_DIM, TEXT(note));
    if (picture_has_groups(&drawing->picture))
        y = put_lines(drawing, drawing->picture.frame.margin, y, LEGEND_FONT, PICTURE_DIM,
                      TEXT(group_note));
    return y - 4;
}

/* ---- pods that fit nowhere ---- */

static double put_misfits(const struct drawing *drawing, const struct plan_misfits *misfits,
                          double y)
{
    enum { MOST_MISFITS = 20 };
    const struct plan *plan = drawing->plan;
    struct arena *arena = drawing->arena;
    if (misfits->count == 0)
        return y;
    y += 32;
    drawing_text(drawing, drawing->picture.frame.margin, y, 14, PICTURE_BAD, drawing_bold,
                 text_of(misfits->title));
    y += 20;
    size_t shown = 0;
    for (; shown < misfits->count && shown < MOST_MISFITS; shown++) {
        const struct plan_misfit *misfit = &misfits->items[shown];
        y = put_lines(drawing, drawing->picture.frame.margin, y, 12, PICTURE_INK,
                      plan_misfit_title(plan, misfit, arena));
        for (size_t i = 0; i < misfit->first->reason_count; i++) {
            const struct simulation_reason *reason = &misfit->first->reasons[i];
            struct text_builder words = {.arena = arena};
            text_builder_printf(&words, "%.*s, %s: %.*s",
                                TEXT_ARGS(plan_reason_pool(reason, arena)), reason->kind,
                                TEXT_ARGS(reason->message));
            if (reason->nearest.size > 0)
                text_builder_printf(&words, " (nearest: %.*s)", TEXT_ARGS(reason->nearest));
            y = put_lines(drawing, drawing->picture.frame.margin + 16, y, 11, PICTURE_DIM,
                          text_builder_text(&words));
        }
        y += 4;
    }
    if (shown < misfits->count)
        y = put_lines(drawing, drawing->picture.frame.margin, y, 12, PICTURE_DIM,
                      arena_printf(arena, "and %zu more kinds of pods", misfits->count - shown));
    return y;
}

/* ---- the picture ---- */

/* Prints everything; returns the height. */
static double put_page(struct drawing *drawing)
{
    double y = drawing->place == PLAN_SVG_ALONE ? put_heading(drawing) : PICTURE_ZONE_PADDING;
    y = put_legend(drawing, y);
    picture_place(&drawing->picture, y);
    for (size_t i = 0; drawing->out != NULL && i < drawing->picture.zone_count; i++)
        drawing_zone(drawing, &drawing->picture.zones[i]);
    y = drawing->picture.bottom;
    for (size_t i = 0; drawing->place == PLAN_SVG_ALONE && i < PLAN_MISFITS; i++)
        y = put_misfits(drawing, &drawing->plan->misfits[i], y);
    return y + drawing->picture.frame.margin;
}

void plan_svg_put(const struct plan *plan, enum plan_svg_place place, struct arena *arena,
                  FILE *out)
{
    bool standalone = place == PLAN_SVG_ALONE;
    struct drawing drawing = {.plan = plan, .arena = arena, .place = place};
    picture_arrange(plan, place, arena, &drawing.picture);
    double width = drawing.picture.width;
    double height = put_page(&drawing);
    drawing.out = out;
    struct text headline = plan_headline(plan, arena);
    if (standalone)
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" role=\"img\" font-family=\"system-ui, -apple-system, "
            "'Segoe UI', 'Liberation Sans', Arial, sans-serif\"%s",
            width, height, width, height,
            place == PLAN_SVG_WIDE     ? " class=\"wide\""
            : place == PLAN_SVG_NARROW ? " class=\"narrow\""
                                       : "");
    put_xml_attribute("aria-label", headline, out);
    fputs(">\n", out);
    if (standalone) {
        fputs("<title>", out);
        put_xml(headline, out);
        fputs("</title>\n", out);
    }
    fputs(style_sheet, out);
    drawing_stripes(&drawing);
    fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\" class=\"tf-page\"/>\n", out);
    put_page(&drawing);
    fputs("</svg>\n", out);
}

bool plan_svg(const struct plan *plan, const struct report_style *style, struct arena *arena,
              FILE *out, struct error *error)
{
    (void)style;
    (void)error;
    plan_svg_put(plan, PLAN_SVG_ALONE, arena, out);
    return true;
}
