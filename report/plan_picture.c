/* The content of a plan's picture, and the place of its parts. */
#include "report/plan_picture.h"

#include "simulation/simulation.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_WIDTH = 1200, ZONE_GAP = 12 };

static const struct picture_frame frames[] = {
    [PLAN_SVG_ALONE] = {24, 760, MOST_WIDTH, 6},
    [PLAN_SVG_WIDE] = {0, 760, MOST_WIDTH, 6},
    [PLAN_SVG_NARROW] = {0, 356, 356, 1}, /* a phone of 390 with the page's margins */
};

/* Up to so many nodes each has a box; above, equal ones are one, and where that leaves more boxes
 * than can be read, larger groups are. */
enum { EACH_A_BOX = 40, MOST_BOXES = 60 };

static const struct {
    size_t most_boxes;
    struct picture_detail detail;
} details[] = {
    {60,
     {.least_width = 150,
      .most_width = 230,
      .gap = 10,
      .font = 11,
      .header_height = 32,
      .footer_height = 16,
      .least_body = 26,
      .most_body = 170,
      .labels = true}},
    {200,
     {.least_width = 88,
      .most_width = 120,
      .gap = 7,
      .font = 8.5,
      .header_height = 25,
      .footer_height = 0,
      .least_body = 18,
      .most_body = 90,
      .labels = false}},
    {SIZE_MAX,
     {.least_width = 54,
      .most_width = 74,
      .gap = 5,
      .font = 6,
      .header_height = 17,
      .footer_height = 0,
      .least_body = 10,
      .most_body = 46,
      .labels = false}},
};

/* ---- text ---- */

static size_t code_point_size(struct text t, size_t at)
{
    size_t size = 1;
    while (at + size < t.size && ((unsigned char)t.data[at + size] & 0xc0) == 0x80)
        size++;
    return size;
}

/* The widths of a wide font, in ems, so that any font fits. */
static double em_width(char first)
{
    if ((unsigned char)first >= 0x80)
        return 1.1;
    switch (first) {
    case 'm':
    case 'w':
    case 'M':
    case 'W':
    case '%':
    case '@':
        return 0.98;
    case 'i':
    case 'j':
    case 'l':
    case '.':
    case ',':
    case ':':
    case '-':
    case ' ':
    case '/':
        return 0.38;
    default:
        return first >= 'A' && first <= 'Z' ? 0.72 : 0.64;
    }
}

double picture_text_width(struct text t, double font)
{
    double ems = 0;
    for (size_t i = 0; i < t.size; i += code_point_size(t, i))
        ems += em_width(t.data[i]);
    return ems * font;
}

struct text picture_fit(struct text t, double width, double font, struct arena *arena)
{
    if (picture_text_width(t, font) <= width)
        return t;
    double used = font; /* the ellipsis */
    size_t end = 0;
    while (end < t.size) {
        used += em_width(t.data[end]) * font;
        if (used > width)
            break;
        end += code_point_size(t, end);
    }
    return end == 0 ? TEXT("") : arena_printf(arena, "%.*s\u2026", (int)end, t.data);
}

/* ---- zones ---- */

static int compare_zones(const void *a_pointer, const void *b_pointer)
{
    struct text a = ((const struct picture_zone *)a_pointer)->name;
    struct text b = ((const struct picture_zone *)b_pointer)->name;
    if ((a.size == 0) != (b.size == 0))
        return a.size == 0 ? 1 : -1;
    return text_compare(a, b);
}

static struct picture_zone *zone_of(struct picture *picture, struct text name)
{
    size_t at = 0;
    while (at < picture->zone_count && !text_equal(picture->zones[at].name, name))
        at++;
    if (at == picture->zone_count)
        picture->zones[picture->zone_count++].name = name;
    return &picture->zones[at];
}

/* The nodes of each zone, in order. */
static void read_zones(struct picture *picture, const struct plan_nodes *nodes, struct arena *arena)
{
    picture->zones = ARENA_ARRAY(arena, nodes->count, struct picture_zone);
    for (size_t i = 0; i < nodes->count; i++)
        zone_of(picture, nodes->items[i].node->zone)->box_count++;
    if (picture->zone_count > 0)
        qsort(picture->zones, picture->zone_count, sizeof *picture->zones, compare_zones);
    for (size_t i = 0; i < picture->zone_count; i++) {
        struct picture_zone *zone = &picture->zones[i];
        zone->boxes = ARENA_ARRAY(arena, zone->box_count, struct picture_box);
        zone->box_count = 0;
    }
    for (size_t i = 0; i < nodes->count; i++) {
        const struct plan_node *node = &nodes->items[i];
        struct picture_zone *zone = zone_of(picture, node->node->zone);
        zone->boxes[zone->box_count++].node = node;
        zone->node_count += node->count;
        zone->bought_count += node->bought ? node->count : 0;
        if (node->bought)
            zone->usd_micro_per_hour =
                plan_add(zone->usd_micro_per_hour, plan_node_usd_micro(node));
    }
}

static int64_t cpu_of_each(const struct plan_node *node)
{
    return node->grouped ? node->room_cpu_milli / (int64_t)node->count : node->room_cpu_milli;
}

/* The height grows with the root of the size, so that small nodes stay visible beside large ones.
 */
static void size_boxes(struct picture *picture, const struct plan_nodes *nodes)
{
    const struct picture_detail *detail = picture->detail;
    int64_t largest = 1;
    for (size_t i = 0; i < nodes->count; i++)
        if (cpu_of_each(&nodes->items[i]) > largest)
            largest = cpu_of_each(&nodes->items[i]);
    for (size_t i = 0; i < picture->zone_count; i++) {
        for (size_t j = 0; j < picture->zones[i].box_count; j++) {
            struct picture_box *box = &picture->zones[i].boxes[j];
            int64_t cpu_milli = cpu_of_each(box->node);
            double root = cpu_milli <= 0 ? 0 : sqrt((double)cpu_milli / (double)largest);
            double height = detail->most_body * root;
            box->body_height = height < detail->least_body ? detail->least_body : height;
        }
    }
}

/* The columns of boxes in a zone; the same in each zone, so that widths can be compared. */
static void choose_widths(struct picture *picture)
{
    const struct picture_detail *detail = picture->detail;
    const struct picture_frame *frame = &picture->frame;
    size_t zones =
        picture->zone_count < frame->zones_a_band ? picture->zone_count : frame->zones_a_band;
    size_t most = 1;
    for (size_t i = 0; i < picture->zone_count; i++)
        most = picture->zones[i].box_count > most ? picture->zones[i].box_count : most;
    picture->width = frame->least_width;
    if (zones == 0)
        return;
    double spare = (double)(zones - 1) * ZONE_GAP + 2 * frame->margin;
    double wanted =
        (double)most * (detail->most_width + detail->gap) - detail->gap + 2 * PICTURE_ZONE_PADDING;
    double page = wanted * (double)zones + spare;
    page = page > frame->most_width ? frame->most_width : page;
    picture->width = page < frame->least_width ? frame->least_width : page;
    double zone_width = (picture->width - spare) / (double)zones;
    double inner = zone_width - 2 * PICTURE_ZONE_PADDING;
    double columns = floor((inner + detail->gap) / (detail->least_width + detail->gap));
    columns = columns < 1 ? 1 : columns > (double)most ? (double)most : columns;
    double box_width = (inner - (columns - 1) * detail->gap) / columns;
    picture->box_width = box_width > detail->most_width ? detail->most_width : box_width;
    for (size_t i = 0; i < picture->zone_count; i++)
        picture->zones[i].width = zone_width;
}

static struct plan_nodes choose_nodes(const struct plan *plan, struct arena *arena)
{
    enum plan_merge merge = plan->nodes.count <= EACH_A_BOX ? PLAN_EACH : PLAN_EQUAL;
    struct plan_nodes nodes = plan_nodes_all(plan, merge, arena);
    while (nodes.count > MOST_BOXES && merge < PLAN_BY_POOL)
        nodes = plan_nodes_all(plan, ++merge, arena);
    return nodes;
}

void picture_arrange(const struct plan *plan, enum plan_svg_place place, struct arena *arena,
                     struct picture *picture)
{
    *picture = (struct picture){.frame = frames[place]};
    struct plan_nodes nodes = choose_nodes(plan, arena);
    size_t level = 0;
    while (details[level].most_boxes < nodes.count)
        level++;
    picture->detail = &details[level].detail;
    read_zones(picture, &nodes, arena);
    size_boxes(picture, &nodes);
    choose_widths(picture);
}

bool picture_has_groups(const struct picture *picture)
{
    for (size_t i = 0; i < picture->zone_count; i++)
        for (size_t j = 0; j < picture->zones[i].box_count; j++)
            if (picture->zones[i].boxes[j].node->grouped)
                return true;
    return false;
}

double picture_box_height(const struct picture *picture, const struct picture_box *box)
{
    return picture->detail->header_height + box->body_height + picture->detail->footer_height;
}

/* Each box goes below the shortest column. Returns the height of the zone. */
static double place_boxes(const struct picture *picture, struct picture_zone *zone)
{
    enum { MOST_COLUMNS = MOST_WIDTH / 40 };
    const struct picture_detail *detail = picture->detail;
    double inner = zone->width - 2 * PICTURE_ZONE_PADDING;
    double step = picture->box_width + detail->gap;
    size_t columns = (size_t)((inner + detail->gap + 0.01) / step);
    columns = columns < 1 ? 1 : columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
    double ends[MOST_COLUMNS] = {0};
    double height = 0;
    for (size_t i = 0; i < zone->box_count; i++) {
        struct picture_box *box = &zone->boxes[i];
        size_t column = 0;
        for (size_t j = 1; j < columns; j++)
            if (ends[j] < ends[column])
                column = j;
        box->x = zone->x + PICTURE_ZONE_PADDING + (double)column * step;
        box->y = zone->y + PICTURE_ZONE_HEADER + ends[column];
        ends[column] += picture_box_height(picture, box) + detail->gap;
        height = ends[column] > height ? ends[column] : height;
    }
    return PICTURE_ZONE_HEADER + height - detail->gap + PICTURE_ZONE_PADDING;
}

void picture_place(struct picture *picture, double top)
{
    picture->bottom = top;
    for (size_t first = 0; first < picture->zone_count; first += picture->frame.zones_a_band) {
        double band_top = first == 0 ? top : picture->bottom + ZONE_GAP;
        size_t end = first + picture->frame.zones_a_band;
        end = end < picture->zone_count ? end : picture->zone_count;
        double tallest = 0;
        for (size_t i = first; i < end; i++) {
            struct picture_zone *zone = &picture->zones[i];
            zone->x = picture->frame.margin + (double)(i - first) * (zone->width + ZONE_GAP);
            zone->y = band_top;
            zone->height = place_boxes(picture, zone);
            tallest = zone->height > tallest ? zone->height : tallest;
        }
        for (size_t i = first; i < end; i++)
            picture->zones[i].height = tallest;
        picture->bottom = band_top + tallest;
    }
}
