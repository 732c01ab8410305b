/* What the nodes of a plan cost, by whom, and why pods fit nowhere. */
#include "plan_fixture.h"
#include "report/plan.h"

#include "unit.h"

const char unit_suite[] = "report: the costs of a plan";

static void costs_are_divided_by_what_pods_take(void)
{
    struct draft draft = {0};
    struct simulation_node *node = add_node(&draft, "", "a", "m5.large", 1000);
    put_on(node, add_pod(&draft, "shop", "web", "web-0", false));
    put_on(node, add_pod(&draft, "shop", "api", "api-0", false));
    put_on(node, add_pod(&draft, "data", "db", "db-0", false));
    draft.pods.items[2].cpu_milli = (int64_t)2 * CPU_MILLI; /* half of what is taken */
    struct simulation_node *other = add_node(&draft, "", "b", "m5.large", -1);
    other->node_pool = TEXT("gpu");
    put_on(other, add_pod(&draft, "data", "db", "db-1", false));
    put_on(add_node(&draft, "", "b", "m5.large", 500), add_pod(&draft, "idle", "i", "i-0", false));
    draft.pods.items[4].cpu_milli = draft.pods.items[4].memory_bytes = 0;
    put_on(add_node(&draft, "", "b", "m5.large", 500),
           add_pod(&draft, "shop", "web", "w-1", false));
    struct simulation simulation = finish(&draft);
    struct plan plan;
    plan_read(&simulation, NULL, arena, &plan);

    struct plan_costs pools = plan_costs_by_pool(&plan, arena);
    ASSERT_INT(pools.count, 2);
    ASSERT_TEXT(pools.items[0].name, "default");
    ASSERT_INT(pools.items[0].usd_micro_per_hour, 2000);
    ASSERT_INT(pools.items[0].node_count, 3);
    ASSERT_INT(pools.items[0].pod_count, 5);
    ASSERT_INT(pools.items[1].unpriced_count, 1);

    static const struct {
        const char *name;
        int64_t usd_micro;
        size_t nodes, pods, unpriced;
    } wanted[] = {{"shop", 1000, 2, 3, 0}, {"data", 500, 2, 2, 1}, {"idle", 500, 1, 1, 0}};
    struct plan_costs namespaces = plan_costs_by_namespace(&plan, arena);
    ASSERT_INT(namespaces.count, COUNT_OF(wanted));
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        const struct plan_cost_row *row = &namespaces.items[i];
        ASSERT_TEXT(row->name, wanted[i].name);
        ASSERT_INT(row->usd_micro_per_hour, wanted[i].usd_micro);
        ASSERT_INT(row->node_count, wanted[i].nodes);
        ASSERT_INT(row->pod_count, wanted[i].pods);
        ASSERT_INT(row->unpriced_count, wanted[i].unpriced);
    }
}

/* A pod counts once for each cause, however many NodePools give it. */
static void causes_count_pods_once(void)
{
    struct draft draft = {0};
    struct simulation_reason big[] = {
        {TEXT("a"), "resources", TEXT("too big"), {0}, {0}, NULL, 0},
        {TEXT("b"), "resources", TEXT("too big"), {0}, {0}, NULL, 0},
        {TEXT("c"), "taint", TEXT("not tolerated"), {0}, {0}, NULL, 0}};
    for (int i = 0; i < 3; i++)
        add_unschedulable(&draft, add_pod(&draft, "ml", "vast", "vast", false), big, 3);
    add_unschedulable(&draft, add_pod(&draft, "shop", "web", "web", false), &big[2], 1);
    struct simulation simulation = finish(&draft);
    struct plan plan;
    plan_read(&simulation, NULL, arena, &plan);
    struct plan_causes causes = plan_causes(&plan.misfits[PLAN_NOWHERE], arena);
    ASSERT_INT(causes.count, 2);
    ASSERT_TEXT(text_of(causes.items[0].kind), "taint");
    ASSERT_INT(causes.items[0].pod_count, 4);
    ASSERT_INT(causes.items[0].workload_count, 2);
    ASSERT_TEXT(text_of(causes.items[1].kind), "resources");
    ASSERT_INT(causes.items[1].pod_count, 3);
}

/* Every kind of reason is explained. */
static void every_cause_has_a_meaning(void)
{
    for (enum solver_reason_kind kind = 0; kind < SOLVER_REASON_COUNT; kind++) {
        struct draft draft = {0};
        struct simulation_reason reason = {
            TEXT("a"), solver_reason_name(kind), TEXT("x"), {0}, {0}, NULL, 0};
        add_unschedulable(&draft, add_pod(&draft, "ml", "vast", "vast", false), &reason, 1);
        struct simulation simulation = finish(&draft);
        struct plan plan;
        plan_read(&simulation, NULL, arena, &plan);
        struct plan_causes causes = plan_causes(&plan.misfits[PLAN_NOWHERE], arena);
        CU_ASSERT(causes.items[0].meaning[0] != '\0');
    }
}

TEST(costs_are_divided_by_what_pods_take)
TEST(causes_count_pods_once)
TEST(every_cause_has_a_meaning)

const struct unit_test unit_tests[] = {
    {"costs are divided by what pods take", in_arena_costs_are_divided_by_what_pods_take},
    {"causes count pods once", in_arena_causes_count_pods_once},
    {"every cause has a meaning", in_arena_every_cause_has_a_meaning},
    {NULL, NULL},
};
