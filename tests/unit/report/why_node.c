/* What is said of a Node: the verdict, and what holds it. It is Sunday 2026-11-22 09:00 UTC. */
#include "simulation/why_node.h"
#include "report/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/object.h"
#include "unit.h"

const char unit_suite[] = "report: why a Node is there";

enum { NOW = 1795338000, DAY_S = 86400, COLUMNS = 120 };
enum { AS_TEXT, AS_JSON };

/* What is said, without its indents. */
static struct text said_of(const struct why_node *why, int format, struct arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct report_style style = {.columns = COLUMNS};
    struct error error;
    CU_ASSERT_FATAL(out != NULL);
    CU_ASSERT(report_why_node_write(format, why, NOW, &style, arena, out, &error));
    fclose(out);
    struct text_builder said = {.arena = arena};
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
        at += strspn(at, " ");
        text_builder_printf(&said, "%.*s\n", (int)strcspn(at, "\n"), at);
    }
    free(text);
    return text_builder_text(&said);
}

struct why_case {
    struct why_node why;
    struct disruption_node node;
    struct disruption_pool pool;
    const char *said;
};

/* pool_object: NULL when the NodePool is not there. */
static void run_case(const struct why_case *test, const struct object *pool_object, int format)
{
    struct arena *arena = arena_create(1 << 20);
    struct disruption_node node = test->node;
    struct disruption_pool pool = test->pool;
    struct why_node why = test->why;
    pool.object = pool_object;
    why.name = TEXT("n1");
    why.forecast =
        (struct disruption){.nodes = &node, .node_count = 1, .pools = &pool, .pool_count = 1};
    struct text said = said_of(&why, format, arena);
    if (format == AS_TEXT) {
        ASSERT_TEXT(said, test->said);
    } else {
        CU_ASSERT(strstr(said.data, test->said) != NULL);
    }
    arena_destroy(arena);
}

static const struct object general;

static void run_cases(const struct why_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        run_case(&cases[i], &general, AS_TEXT);
}

#define FREE                                                                                \
    {                                                                                       \
        .allowed = BUDGETS_UNLIMITED, .windows = WINDOW_FOUND, .window = { NOW, INT64_MAX } \
    }
#define UNKNOWN .consolidation = WHY_CONSOLIDATION_UNKNOWN
#define DRIFTED .drifted = true, .wanted = true, .drift = TEXT("NodePoolDrifted"), UNKNOWN

static void the_verdict_comes_first(void)
{
    static const struct why_case cases[] = {
        {{UNKNOWN, .pool = TEXT("general"), .instance_type = TEXT("m5.large"), .zone = TEXT("a")},
         {0},
         FREE,
         "Node n1 of NodePool general (m5.large, a) stays.\nit is empty\n"},
        {{DRIFTED},
         {0},
         FREE,
         "Node n1 may go now.\nit is empty\nit has drifted (NodePoolDrifted)\n"},
        {{DRIFTED, .drift_path = TEXT("spec.template.spec.taints"), .drifted_unix_s = NOW - DAY_S},
         {.blocked = true, .block_total = 2},
         FREE,
         "Node n1 is to go, and 2 things block it.\nit is empty\nit has drifted (NodePoolDrifted, "
         "by spec.template.spec.taints), since Sat 2026-11-21 09:00 UTC\nblocked: 2 more\n"},
        {{.drifted = true, .wanted = true, .drifted_unix_s = NOW - DAY_S, UNKNOWN},
         {0},
         FREE,
         "Node n1 may go now.\nit is empty\nit has drifted, since Sat 2026-11-21 09:00 UTC\n"},
        {{DRIFTED},
         {.leaving = true},
         FREE,
         "Node n1 is going already.\nit is empty\nit has drifted (NodePoolDrifted)\n"},
        {{UNKNOWN, .expires = true, .expires_unix_s = NOW},
         {.blocked = true},
         FREE,
         "Node n1 has expired and goes, whatever blocks it.\nit is empty\n"
         "it expired on Sun 2026-11-22 09:00 UTC, whatever blocks it\n"},
        {{UNKNOWN, .expires = true, .expires_unix_s = NOW + 1},
         {0},
         FREE,
         "Node n1 stays.\nit is empty\nit expires on Sun 2026-11-22 09:00 UTC, whatever blocks "
         "it\n"},
        {{UNKNOWN},
         {.pool = 1},
         FREE,
         "Node n1 is none of Karpenter's, which leaves it alone.\nit is empty\n"},
    };
    run_cases(cases, COUNT_OF(cases));
}

#define WAITING(budgets)                                                                 \
    "Node n1 is to go, and waits for the budgets of its NodePool.\nit is empty\nit has " \
    "drifted (NodePoolDrifted)\n" budgets "\n"

static void budgets_say_how_many_and_when(void)
{
    static const struct why_case cases[] = {
        {{DRIFTED},
         {0},
         {.unreadable = true},
         WAITING("a budget of its NodePool cannot be read, so none of its nodes goes")},
        {{DRIFTED},
         {0},
         {.windows = WINDOW_NEVER},
         WAITING("the budgets of its NodePool never let a node go")},
        {{DRIFTED},
         {0},
         {.windows = WINDOW_FOUND, .window = {NOW + DAY_S, INT64_MAX}},
         WAITING("the budgets of its NodePool let no node go before Mon 2026-11-23 09:00 UTC")},
        {{DRIFTED},
         {0},
         {.windows = WINDOW_FOUND, .window = {NOW, INT64_MAX}},
         WAITING("the budgets of its NodePool let no node go now")},
        {{DRIFTED},
         {0},
         {.windows = WINDOW_UNKNOWN, .allowed = 1, .disrupted = 1},
         WAITING("the budgets of its NodePool let 1 node go at once, and 1 is going or not ready")},
        {{DRIFTED},
         {0},
         {.windows = WINDOW_FOUND, .window = {NOW, INT64_MAX}, .allowed = 3, .disrupted = 2},
         "Node n1 may go now.\nit is empty\nit has drifted (NodePoolDrifted)\nthe budgets of its "
         "NodePool let 3 nodes go at once, and 2 are going or not ready\n"},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void of_a_pool_that_is_not_there_no_budget_is_told(void)
{
    static const struct disruption_block block = {.kind = BLOCK_NO_POOL};
    run_case(&(struct why_case){{DRIFTED},
                                {.blocked = true,
                                 .blocks = (struct disruption_block *)&block,
                                 .block_count = 1,
                                 .block_total = 1},
                                {.windows = WINDOW_UNKNOWN},
                                "Node n1 is to go, and 1 thing blocks it.\nit is empty\nit has "
                                "drifted (NodePoolDrifted)\nblocked: its NodePool is not there\n"},
             NULL, AS_TEXT);
}

/* A terminationGracePeriod lets drift begin beside pods that block what else there is. */
static void what_blocks_consolidation_only_says_so(void)
{
    static const struct object pod = {.namespace = {"shop", 4}, .name = {"db-0", 4}};
    struct disruption_block block = {
        .kind = BLOCK_POD_OPTS_OUT, .pod = &pod, .until_unix_s = INT64_MAX};
    run_case(
        &(struct why_case){
            {DRIFTED},
            {.waits = true, .grace_s = DAY_S, .blocks = &block, .block_count = 1, .block_total = 1},
            FREE,
            "Node n1 may go now.\nit is empty\nit has drifted "
            "(NodePoolDrifted)\nblocked: pod shop/db-0: "
            "karpenter.sh/do-not-disrupt, which blocks consolidation only: its "
            "terminationGracePeriod lets\ndrift begin\n"},
        &general, AS_TEXT);
}

static void the_next_window_is_one_in_which_it_may_go(void)
{
    static const struct why_case cases[] = {
        {{DRIFTED}, {0}, FREE, "\"nextWindow\": \"2026-11-22T09:00:00Z\""},
        {{DRIFTED},
         {0},
         {.windows = WINDOW_FOUND, .window = {NOW, INT64_MAX}},
         "\"nextWindow\": null"},
        {{DRIFTED},
         {0},
         {.windows = WINDOW_FOUND, .window = {NOW, INT64_MAX}, .allowed = 2, .disrupted = 2},
         "\"nextWindow\": null"},
        {{DRIFTED},
         {0},
         {.windows = WINDOW_FOUND, .window = {NOW + DAY_S, INT64_MAX}},
         "\"nextWindow\": \"2026-11-23T09:00:00Z\""},
        {{.drifted = true, .wanted = true, UNKNOWN}, {0}, FREE, "\"drifted\": \"\""},
        {{UNKNOWN}, {0}, FREE, "\"drifted\": null"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        run_case(&cases[i], &general, AS_JSON);
}

static void consolidation_is_told(void)
{
    static const struct {
        enum why_consolidation consolidation;
        const char *after;
        size_t moving;
        const char *said;
    } cases[] = {
        {WHY_CONSOLIDATABLE, "30s", 0, "it is empty for long enough: Karpenter removes it"},
        {WHY_CONSOLIDATABLE, "30s", 1,
         "Karpenter removes or replaces it if its pods fit elsewhere for less"},
        {WHY_CONSOLIDATION_OFF, "Never", 0, "its NodePool consolidates no nodes"},
        {WHY_CONSOLIDATED_WHEN_EMPTY, "30s", 1,
         "its NodePool consolidates empty nodes only (consolidationPolicy: WhenEmpty)"},
        {WHY_CONSOLIDATION_WAITS, "1h30m", 0,
         "it is not consolidated before consolidateAfter (1h30m) has passed since a pod came or "
         "went"},
        {WHY_CONSOLIDATION_WAITS, "0s", 0, "Karpenter has not found it consolidatable yet"},
        {WHY_CONSOLIDATION_WAITS, "", 0, "Karpenter has not found it consolidatable yet"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char said[256];
        snprintf(said, sizeof said, "Node n1 stays.\n%s\n%s\n",
                 cases[i].moving > 0 ? "it is there for 1 pod: 1 of shop/Deployment web"
                                     : "it is empty",
                 cases[i].said);
        static const struct why_node_owner owner = {TEXT("shop"), TEXT("Deployment web"), 1};
        run_cases(&(struct why_case){.why = {.consolidation = cases[i].consolidation,
                                             .consolidate_after = text_of(cases[i].after),
                                             .pod_count = cases[i].moving,
                                             .moving_count = cases[i].moving,
                                             .owners = &owner,
                                             .owner_count = cases[i].moving},
                                     .pool = FREE,
                                     .said = said},
                  1);
    }
}

static void pods_are_told_by_owner(void)
{
    static const struct why_node_owner owners[] = {
        {TEXT("a"), TEXT("Deployment a"), 5},
        {TEXT("b"), TEXT("b"), 4},
        {TEXT("c"), TEXT("c"), 3},
        {TEXT("d"), TEXT("d"), 2},
        {TEXT("e"), TEXT("e"), 1},
    };
    static const struct why_case cases[] = {
        {{UNKNOWN, .pod_count = 17, .moving_count = 15, .owners = owners, .owner_count = 5},
         {0},
         FREE,
         "Node n1 stays.\nit is there for 15 pods: 5 of a/Deployment a, 4 of b/b, 3 of c/c, 2 of "
         "d/d, 1 of others; 2 pods of DaemonSets or of\nthe node itself go with it\n"},
        {{UNKNOWN, .pod_count = 1},
         {0},
         FREE,
         "Node n1 stays.\nit is empty; 1 pod of DaemonSets or of the node itself goes with it\n"},
    };
    run_cases(cases, COUNT_OF(cases));
}

const struct unit_test unit_tests[] = {
    {"the verdict comes first", the_verdict_comes_first},
    {"budgets say how many, and when", budgets_say_how_many_and_when},
    {"of a NodePool that is not there no budget is told",
     of_a_pool_that_is_not_there_no_budget_is_told},
    {"what blocks consolidation only says so", what_blocks_consolidation_only_says_so},
    {"the next window is one in which it may go", the_next_window_is_one_in_which_it_may_go},
    {"consolidation is told", consolidation_is_told},
    {"pods are told by owner", pods_are_told_by_owner},
    {NULL, NULL},
};
