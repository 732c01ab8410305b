/* What a plan says of a drill. */
#include <stdio.h>
#include <stdlib.h>

#include "plan_fixture.h"
#include "report/plan.h"
#include "simulation/drill.h"
#include "unit.h"

const char unit_suite[] = "report: drills";

static struct plan plan_of(struct drilled *drilled)
{
    struct simulation *simulation = ARENA_NEW(arena, struct simulation);
    *simulation = (struct simulation){.drilled = drilled};
    struct plan plan;
    plan_read(simulation, NULL, arena, &plan);
    return plan;
}

static void what_is_assumed_is_said_first(void)
{
    static struct text zones[] = {TEXT("a"), TEXT("b")}, pool = TEXT("spot"),
                       sold_out[] = {TEXT("m5"), TEXT("c5.large"), TEXT("spot")};
    static const struct drilled_workload web[] = {
        {KIND_DEPLOYMENT, TEXT("shop"), TEXT("web"), 3, 40},
        {KIND_STATEFUL_SET, TEXT("shop"), TEXT("db"), 3, 3},
    };
    static const struct {
        struct drilled drilled;
        struct drill drill;
        const char *title;
    } cases[] = {
        {{0}, {.zones = {zones, 1, 1}}, "Drill: zone a is lost."},
        {{0}, {.zones = {zones, 2, 2}}, "Drill: zones a and b are lost."},
        {{0},
         {.pools = {&pool, 1, 1}, .sold_out = {sold_out, 3, 3}},
         "Drill: NodePool spot is deleted; m5, c5.large and spot are sold out."},
        {{.workloads = web, .workload_count = 2},
         {.sold_out = {sold_out, 1, 1}},
         "Drill: m5 is sold out; Deployment shop/web has 40 replicas, not 3; StatefulSet shop/db "
         "has 3 replicas."},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct drilled drilled = cases[i].drilled;
        drilled.drill = &cases[i].drill;
        struct plan plan = plan_of(&drilled);
        ASSERT_TEXT(plan_drill_title(&plan, arena), cases[i].title);
    }
    struct plan plan = plan_of(NULL);
    ASSERT_TEXT(plan_drill_title(&plan, arena), "");
    ASSERT_TEXT(plan_drill_effect(&plan, arena), "");
    ASSERT_TEXT(plan_drill_causes(&plan, arena), "");
    ASSERT_INT(plan_drill_disks(&plan, arena).count, 0);
}

static void what_it_did_is_counted(void)
{
    static const struct drill drill;
    static struct text gone[] = {TEXT("shop/a"), TEXT("shop/b")};
    static const struct simulation nothing,
        some = {.claim_count = 2, .usd_micro_per_hour = 214000, .unschedulable_count = 1},
        cheaper = {.claim_count = 2, .usd_micro_per_hour = 107000, .unpriced_count = 1},
        unpriced = {.claim_count = 2, .unpriced_count = 2, .unschedulable_count = 1};
    static const struct {
        struct drilled drilled;
        const char *effect;
    } cases[] = {
        {{0}, ""},
        {{.without = &nothing}, "Without the drill nothing would be bought."},
        {{.without = &cheaper},
         "Without the drill 2 nodes would be bought for $0.1070 an hour, without 1 of no known "
         "price."},
        {{.without = &unpriced},
         "Without the drill 2 nodes of no known price would be bought, and 1 pod would fit "
         "nowhere."},
        {{.node_count = 1, .usd_micro_per_hour = 107000, .moved_count = 1},
         "1 node is lost, $0.1070 an hour: 1 pod needs another place."},
        {{.node_count = 3,
          .usd_micro_per_hour = 214000,
          .unpriced_count = 1,
          .moved_count = 5,
          .gone = {gone, 2, 2},
          .without = &some},
         "3 nodes are lost, $0.2140 an hour, 1 of no known price: 5 pods need another place, and 2 "
         "are gone for good, since no controller makes them again. Without the drill 2 nodes would "
         "be bought for $0.2140 an hour, and 1 pod would fit nowhere."},
        {{.node_count = 1, .unpriced_count = 1, .gone = {gone, 1, 1}},
         "1 node is lost, 1 of no known price: 0 pods need another place, and 1 is gone for good, "
         "since no controller makes it again."},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct drilled drilled = cases[i].drilled;
        drilled.drill = &drill;
        struct plan plan = plan_of(&drilled);
        ASSERT_TEXT(plan_drill_effect(&plan, arena), cases[i].effect);
    }
}

static void of_many_stranded_pods_some_are_named(void)
{
    enum { COUNT = 25, LINES = 21 };
    struct draft draft = {0};
    struct drilled_disk disks[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        disks[i] = (struct drilled_disk){
            add_pod(&draft, "shop", "StatefulSet db", arena_printf(arena, "db-%zu", i).data, false),
            TEXT("shop/data"), TEXT("a or b")};
    static const struct drill drill;
    struct drilled drilled = {.drill = &drill, .disks = disks, .disk_count = COUNT};
    struct simulation simulation = finish(&draft);
    simulation.drilled = &drilled;
    struct plan plan;
    plan_read(&simulation, NULL, arena, &plan);
    struct text_list lines = plan_drill_disks(&plan, arena);
    CU_ASSERT_FATAL(lines.count == LINES);
    ASSERT_TEXT(lines.items[0], "shop/db-0: claim shop/data is in a or b");
    ASSERT_TEXT(lines.items[LINES - 1], "and 5 more");
}

TEST(what_is_assumed_is_said_first)
TEST(what_it_did_is_counted)
TEST(of_many_stranded_pods_some_are_named)

const struct unit_test unit_tests[] = {
    {"what is assumed is said first", in_arena_what_is_assumed_is_said_first},
    {"what it did is counted", in_arena_what_it_did_is_counted},
    {"of many stranded pods some are named", in_arena_of_many_stranded_pods_some_are_named},
    {NULL, NULL},
};
