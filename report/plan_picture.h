/* Private to report/: a plan's picture: the place of its parts and how they are drawn. All lengths
 * are pixels. */
#ifndef TAFFRAIL_REPORT_PLAN_PICTURE_H
#define TAFFRAIL_REPORT_PLAN_PICTURE_H

#include "report/plan.h"

/* How much a box shows, by the number of boxes. */
struct picture_detail {
    double least_width, most_width;                 /* of a box */
    double gap, font, header_height, footer_height; /* footer 0: none */
    double least_body, most_body;                   /* height by size */
    bool labels;                                    /* on blocks */
};

struct picture_box {
    const struct plan_node *node;
    double x, y, body_height;
};

struct picture_zone {
    struct text name; /* empty: without a zone */
    struct picture_box *boxes;
    size_t box_count;
    size_t node_count, bought_count;
    int64_t usd_micro_per_hour; /* of nodes to buy */
    double x, y, width, height;
};

/* Where a picture is shown. */
struct picture_frame {
    double margin, least_width, most_width;
    size_t zones_a_band; /* beside each other */
};

struct picture {
    struct picture_frame frame;
    const struct picture_detail *detail;
    struct picture_zone *zones; /* by name, the empty one last */
    size_t zone_count;
    double box_width, width;
    double bottom; /* the lower edge of the zones */
};

enum {
    PICTURE_ZONE_PADDING = 10,
    PICTURE_ZONE_HEADER = 40,
};

/* The largest width of a text, in any font. */
double picture_text_width(struct text t, double font);
/* The start of t that surely fits the width, with an ellipsis when it is cut. */
struct text picture_fit(struct text t, double width, double font, struct arena *arena);

/* Chooses the columns for the zones; `width` is known. */
void picture_arrange(const struct plan *plan, enum plan_svg_place place, struct arena *arena,
                     struct picture *picture);
/* Places the zones below `top`. */
void picture_place(struct picture *picture, double top);
/* Whether a box stands for nodes that differ. */
bool picture_has_groups(const struct picture *picture);
double picture_box_height(const struct picture *picture, const struct picture_box *box);

/* ---- drawing ---- */

struct drawing {
    const struct plan *plan;
    struct picture picture;
    struct arena *arena;
    FILE *out;                       /* NULL: the page is only measured */
    const struct plan_share *others; /* in the box being drawn; NULL: none */
    enum plan_svg_place place;       /* alone it has a heading and the pods that fit nowhere */
};
enum picture_ink { PICTURE_INK, PICTURE_DIM, PICTURE_BAD, PICTURE_NEW };
/* Workloads with a colour, or a striped colour, of their own. */
enum { PICTURE_RANKS = 14 };

extern const char drawing_bold[];
/* `more`: attributes, each with a blank before it. */
void drawing_text(const struct drawing *drawing, double x, double y, double font,
                  enum picture_ink ink, const char *more, struct text text);
/* Writes the colour attribute of a workload. */
void drawing_fill(const struct drawing *drawing, const struct plan_workload *workload);
/* Writes the definitions that drawing_fill refers to. */
void drawing_stripes(const struct drawing *drawing);
void drawing_frame(const struct drawing *drawing, bool bought, double x, double y, double width,
                   double height);
void drawing_zone(const struct drawing *drawing, const struct picture_zone *zone);

#endif
