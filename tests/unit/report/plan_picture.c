/* The layout of a plan drawn as a picture. */
#include "report/plan_picture.h"
#include "plan_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

const char unit_suite[] = "report: the picture of a plan";

struct edges {
    double left, top, right, bottom;
};

static bool apart(struct edges a, struct edges b)
{
    return a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
}

static bool within(struct edges inner, struct edges outer)
{
    return inner.left >= outer.left && inner.top >= outer.top && inner.right <= outer.right &&
           inner.bottom <= outer.bottom;
}

static struct edges box_edges(const struct picture *picture, const struct picture_box *box)
{
    return (struct edges){box->x, box->y, box->x + picture->box_width,
                          box->y + picture_box_height(picture, box)};
}

/* Boxes lie in their zones, zones on the page, and none on another. Returns how many nodes are
 * shown. */
static size_t check_picture(const struct picture *picture)
{
    enum { ROUNDING = 1 };
    size_t nodes = 0;
    struct edges page = {0, 0, picture->width + ROUNDING, picture->bottom + ROUNDING};
    for (size_t i = 0; i < picture->zone_count; i++) {
        const struct picture_zone *zone = &picture->zones[i];
        struct edges edges = {zone->x, zone->y, zone->x + zone->width + ROUNDING,
                              zone->y + zone->height};
        CU_ASSERT(within(edges, page));
        for (size_t j = 0; j < i; j++) {
            const struct picture_zone *other = &picture->zones[j];
            CU_ASSERT(apart(edges, (struct edges){other->x, other->y, other->x + other->width,
                                                  other->y + other->height}));
        }
        size_t bad = 0;
        for (size_t j = 0; j < zone->box_count; j++) {
            struct edges box = box_edges(picture, &zone->boxes[j]);
            bad += !within(box, edges);
            for (size_t k = 0; k < j; k++)
                bad += !apart(box, box_edges(picture, &zone->boxes[k]));
            nodes += zone->boxes[j].node->count;
        }
        ASSERT_INT(bad, 0);
    }
    return nodes;
}

/* Nodes of many sizes, all different where not equal is asked for. */
static struct simulation many(size_t node_count, size_t zone_count, bool equal)
{
    struct draft draft = {0};
    for (size_t i = 0; i < node_count; i++) {
        bool bought = !equal && i >= node_count / 2;
        struct simulation_node *node =
            add_node(&draft, bought ? "" : arena_printf(arena, "node-%zu", i).data,
                     arena_printf(arena, "zone-%zu", i % zone_count).data, "m5.large",
                     equal ? 96000 : (int64_t)i);
        node->cpu_milli = equal ? 4000 : (int64_t)(i * 7919 % 192) * 1000;
        put_on(node, add_pod(&draft, "shop", "Deployment web", "web", false));
    }
    return finish(&draft);
}

static void nothing_overflows(void)
{
    static const size_t node_counts[] = {1, 2, 12, 41, 60, 61, 201, 500, 2000};
    static const size_t zone_counts[] = {1, 3, 6, 7, 20};
    for (size_t i = 0; i < sizeof node_counts / sizeof node_counts[0]; i++)
        for (size_t j = 0; j < sizeof zone_counts / sizeof zone_counts[0]; j++) {
            struct simulation simulation = many(node_counts[i], zone_counts[j], false);
            struct plan plan;
            plan_read(&simulation, NULL, arena, &plan);
            struct picture picture;
            picture_arrange(&plan, PLAN_SVG_ALONE, arena, &picture);
            picture_place(&picture, 100);
            ASSERT_INT(check_picture(&picture), node_counts[i]);
            CU_ASSERT(picture.width <= 1200);
            picture_arrange(&plan, PLAN_SVG_NARROW, arena, &picture);
            picture_place(&picture, 100);
            ASSERT_INT(check_picture(&picture), node_counts[i]);
            CU_ASSERT(picture.width <= 358);
        }
}

static void nodes_alike_are_one_box(void)
{
    struct simulation simulation = many(300, 3, true);
    struct plan plan;
    plan_read(&simulation, NULL, arena, &plan);
    struct picture picture;
    picture_arrange(&plan, PLAN_SVG_ALONE, arena, &picture);
    ASSERT_INT(picture.zone_count, 3);
    for (size_t i = 0; i < picture.zone_count; i++) {
        ASSERT_INT(picture.zones[i].box_count, 1);
        ASSERT_INT(picture.zones[i].boxes[0].node->count, 100);
    }
}

/* Whatever is shown of two nodes and differs keeps them apart. */
static void nodes_that_differ_are_two_boxes(void)
{
    enum difference { NONE, ZONE, TYPE, CAPACITY, POOL, PRICE, SIZE, PENDING, WORKLOAD, COUNT };
    for (int difference = NONE; difference < COUNT; difference++) {
        struct draft draft = {0};
        for (int i = 0; i < 2; i++) {
            bool other = i == 1;
            struct simulation_node *node =
                add_node(&draft, "node", other && difference == ZONE ? "b" : "a",
                         other && difference == TYPE ? "m6.large" : "m5.large",
                         other && difference == PRICE ? 2 : 1);
            if (other && difference == CAPACITY)
                node->capacity_type = TEXT("spot");
            if (other && difference == POOL)
                node->node_pool = TEXT("gpu");
            if (other && difference == SIZE)
                node->memory_bytes++;
            const char *workload = other && difference == WORKLOAD ? "Deployment api" : "Job web";
            bool running = other && difference == PENDING;
            put_on(node, add_pod(&draft, "shop", workload, "pod", running));
        }
        struct simulation simulation = finish(&draft);
        struct plan plan;
        plan_read(&simulation, NULL, arena, &plan);
        ASSERT_INT(plan_nodes_all(&plan, PLAN_EQUAL, arena).count, difference == NONE ? 1 : 2);
        ASSERT_INT(plan_nodes_all(&plan, PLAN_EACH, arena).count, 2);
    }
}

/* Twelve nodes of two types in two zones, each with other pods. */
static struct simulation crowd(struct draft *draft)
{
    for (int i = 0; i < 12; i++) {
        struct simulation_node *node =
            add_node(draft, arena_printf(arena, "node-%d", i).data, i < 6 ? "a" : "b",
                     i % 2 ? "m5.large" : "r5.large", i % 2 ? 100 : 300);
        for (int j = 0; j <= i % 3; j++) {
            struct text name = arena_printf(arena, "app-%d", j);
            put_on(node, add_pod(draft, "shop", name.data, name.data, j > 0));
        }
    }
    return finish(draft);
}

static void groups_hold_the_pods_of_all(void)
{
    struct draft draft = {0};
    struct simulation simulation = crowd(&draft);
    struct plan plan;
    plan_read(&simulation, NULL, arena, &plan);
    struct plan_nodes types = plan_nodes_all(&plan, PLAN_BY_TYPE, arena);
    ASSERT_INT(types.count, 4);
    struct plan_nodes pools = plan_nodes_all(&plan, PLAN_BY_POOL, arena);
    ASSERT_INT(pools.count, 2);
    const struct plan_node *group = &pools.items[0];
    ASSERT_INT(group->count, 6);
    CU_ASSERT(group->grouped && group->mixed_prices);
    ASSERT_INT(group->type_count, 2);
    ASSERT_INT(plan_node_usd_micro(group), 1200);
    ASSERT_INT(plan_node_usd_micro(&types.items[0]), 3 * types.items[0].usd_micro_per_hour);
    ASSERT_INT(group->share_count, 3);
    ASSERT_INT(group->shares[0].pod_count, 6);
    ASSERT_INT(group->shares[0].pending_count, 6);
    ASSERT_INT(group->shares[2].pod_count, 2);
    ASSERT_INT(group->cpu_milli, 12 * CPU_MILLI);
    ASSERT_INT(group->before_cpu_milli, 6 * CPU_MILLI);
    ASSERT_INT(group->room_cpu_milli, 6 * 4000);
    ASSERT_INT(group->cpu_percent, 25);
    ASSERT_INT(group->before_cpu_percent, 13);
    struct plan_nodes members;
    pools = plan_nodes_by_pool(&plan, &members, arena);
    ASSERT_INT(pools.count, 1);
    ASSERT_INT(members.count, 12);
    CU_ASSERT(members.items[0].cpu_percent >= members.items[11].cpu_percent);
}

/* However many workloads there are on a node, and whatever they ask for. */
static void blocks_stay_in_their_box(void)
{
    for (int64_t ask_milli = 0; ask_milli < 200000; ask_milli += 100000) {
        struct draft draft = {0};
        struct simulation_node *node = add_node(&draft, "node", "a", "m5.large", 1);
        for (int i = 0; i < 90; i++) {
            struct text name = arena_printf(arena, "pod-%d", i);
            put_on(node, add_pod(&draft, "shop", name.data, name.data, false));
            draft.pods.items[i].cpu_milli = ask_milli;
        }
        struct simulation simulation = finish(&draft);
        struct plan plan;
        plan_read(&simulation, NULL, arena, &plan);
        char *svg = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&svg, &size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        plan_svg_put(&plan, PLAN_SVG_WIDE, arena, out);
        fclose(out);
        const char *zone = strstr(svg, "class=\"tf-zone\"");
        const char *frame = zone == NULL ? NULL : strstr(zone, "rx=\"3\"");
        CU_ASSERT_PTR_NOT_NULL_FATAL(frame);
        double top = 0;
        double height = 0;
        while (frame > svg && *frame != '<')
            frame--;
        CU_ASSERT_FATAL(sscanf(frame, "<rect x=\"%*f\" y=\"%lf\" width=\"%*f\" height=\"%lf\"",
                               &top, &height) == 2);
        int blocks = 0;
        for (const char *path = strstr(frame, " d=\"M"); path != NULL;
             path = strstr(path + 1, " d=\"M"), blocks++) {
            double y = 0;
            double block_height = 0;
            CU_ASSERT_FATAL(sscanf(path, " d=\"M%*f %lfh%*fv%lf", &y, &block_height) == 2);
            CU_ASSERT(y >= top && y + block_height <= top + height);
        }
        ASSERT_INT(blocks, 90);
        free(svg);
    }
}

static void larger_nodes_are_larger_boxes(void)
{
    struct draft draft = {0};
    static const int64_t cpus[] = {2000, 8000, 32000, 64000};
    for (size_t i = 0; i < 4; i++)
        add_node(&draft, "", "", "m5.large", 1)->cpu_milli = cpus[i];
    struct simulation simulation = finish(&draft);
    struct plan plan;
    plan_read(&simulation, NULL, arena, &plan);
    struct picture picture;
    picture_arrange(&plan, PLAN_SVG_ALONE, arena, &picture);
    const struct picture_box *boxes = picture.zones[0].boxes;
    for (size_t i = 1; i < 4; i++)
        CU_ASSERT(boxes[i].body_height < boxes[i - 1].body_height);
    CU_ASSERT_DOUBLE_EQUAL(boxes[0].body_height, 2 * boxes[2].body_height * 1.4142, 0.1);
}

static void text_is_cut_to_fit(void)
{
    ASSERT_TEXT(picture_fit(TEXT("m5.large"), 1000, 11, arena), "m5.large");
    ASSERT_TEXT(picture_fit(TEXT("m5.large"), 5, 11, arena), "");
    struct text cut = picture_fit(TEXT("ééééééééé"), 60, 10, arena);
    CU_ASSERT(text_ends_with(cut, TEXT("é…")));
    CU_ASSERT(picture_text_width(cut, 10) <= 61);
}

TEST(nothing_overflows)
TEST(nodes_alike_are_one_box)
TEST(nodes_that_differ_are_two_boxes)
TEST(groups_hold_the_pods_of_all)
TEST(blocks_stay_in_their_box)
TEST(larger_nodes_are_larger_boxes)
TEST(text_is_cut_to_fit)

const struct unit_test unit_tests[] = {
    {"nothing overflows", in_arena_nothing_overflows},
    {"nodes alike are one box", in_arena_nodes_alike_are_one_box},
    {"nodes that differ are two boxes", in_arena_nodes_that_differ_are_two_boxes},
    {"groups hold the pods of all", in_arena_groups_hold_the_pods_of_all},
    {"blocks stay in their box", in_arena_blocks_stay_in_their_box},
    {"larger nodes are larger boxes", in_arena_larger_nodes_are_larger_boxes},
    {"text is cut to fit", in_arena_text_is_cut_to_fit},
    {NULL, NULL},
};
