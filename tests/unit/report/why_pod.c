/* What is said of a Pod: the verdict, what each NodePool and the Nodes say to it, and what would
 * help. */
#include "simulation/why_pod.h"
#include "report/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog.h"
#include "unit.h"

const char unit_suite[] = "report: why a Pod is where it is";

enum { COLUMNS = 200 };

static struct text said_of(struct why_pod why, bool colour, struct arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct report_style style = {.columns = COLUMNS, .colour = colour};
    struct error error;
    CU_ASSERT_FATAL(out != NULL);
    why.namespace = TEXT("shop");
    why.name = TEXT("web-1");
    CU_ASSERT(report_why_pod_write(0, &why, &style, arena, out, &error));
    fclose(out);
    struct text said = arena_text(arena, text_of(text));
    free(text);
    return said;
}

struct why_case {
    struct why_pod why;
    const char *said; /* behind "Pod shop/web-1 " */
};

static void run_cases(const struct why_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_create(1 << 20);
        struct text said = said_of(cases[i].why, false, arena);
        const struct text begin = TEXT("Pod shop/web-1 ");
        CU_ASSERT_FATAL(text_starts_with(said, begin));
        ASSERT_TEXT(((struct text){said.data + begin.size, said.size - begin.size}), cases[i].said);
        arena_destroy(arena);
    }
}

#define POOLS(...)                                   \
    .pools = (const struct why_pool[]){__VA_ARGS__}, \
    .pool_count = COUNT_OF(((const struct why_pool[]){__VA_ARGS__}))
#define NO_NODES "  Nodes: there are none\n"

static void the_verdict_comes_first(void)
{
    const struct why_case cases[] = {
        {{.state = WHY_POD_DONE}, "has ended, and needs no node.\n"},
        {{.state = WHY_POD_RUNS, .node = TEXT("n1")}, "is on node n1.\n" NO_NODES},
        {{.state = WHY_POD_LEAVING}, "is being deleted.\n" NO_NODES},
        {{.state = WHY_POD_GATED, .waits = TEXT("its gate quota")},
         "waits for its gate quota.\n" NO_NODES},
        {{.state = WHY_POD_PREEMPTS, .waits = TEXT("room on node n1")},
         "waits for room on node n1.\n" NO_NODES},
        {{.fit = WHY_UNDECIDED}, "may fit: what decides cannot be seen.\n" NO_NODES},
        {{.fit = WHY_FITS_NOT}, "fits nowhere.\n" NO_NODES},
        {{.node = TEXT("n1")}, "goes to node n1.\n" NO_NODES},
        {{.node_fit = 1, .node_total = 1, .node_names = {TEXT("n1")}},
         "fits on a node there is.\n  Nodes: the only one takes it: n1\n"},
        {{.fit = WHY_FITS}, "fits.\n" NO_NODES},
        {{.fit = WHY_FITS, .owner = TEXT("Deployment web"), .pending_beside = 1},
         "of Deployment web fits. 1 other is pending, and placed with it.\n" NO_NODES},
        {{.fit = WHY_FITS_NOT, .pending_beside = 2, .fix = TEXT("Ask for less.")},
         "fits nowhere. 2 others are pending, and placed with it.\n" NO_NODES
         "fix: Ask for less.\n"},
    };
    run_cases(cases, COUNT_OF(cases));
}

static void a_pool_says_what_it_buys_or_why_not(void)
{
#define WOULD_FIT "  NodePool p: would fit on m5.large\n"
#define ON_ONE .node_fit = 1, .node_total = 1, .node_names = { TEXT("n1") }
#define FITS .name = TEXT("p"), .fit = WHY_FITS, .instance_type = TEXT("m5.large")
    const struct why_case cases[] = {
        {{POOLS({FITS, .capacity_type = TEXT("spot"), .zone = TEXT("a"),
                 .usd_micro_per_hour = 96000})},
         "waits for a node: NodePool p buys m5.large, spot in a, for $0.0960 an hour.\n"
         "  NodePool p: fits, and buys m5.large, spot in a, for $0.0960 an hour\n" NO_NODES},
        {{POOLS({FITS, .capacity_type = TEXT("spot"), .zone = TEXT("a"),
                 .usd_micro_per_hour = 96000, .price_of = TEXT("on-demand")})},
         "waits for a node: NodePool p buys m5.large, spot in a, for $0.0960 an hour as "
         "on-demand.\n"
         "  NodePool p: fits, and buys m5.large, spot in a, for $0.0960 an hour as "
         "on-demand\n" NO_NODES},
        {{POOLS({FITS, .capacity_type = TEXT("spot"), .usd_micro_per_hour = -1})},
         "waits for a node: NodePool p buys m5.large, spot.\n"
         "  NodePool p: fits, and buys m5.large, spot\n" NO_NODES},
        {{POOLS({FITS, .usd_micro_per_hour = -1})},
         "waits for a node: NodePool p buys m5.large.\n"
         "  NodePool p: fits, and buys m5.large\n" NO_NODES},
        /* Nothing is bought for these. */
        {{.state = WHY_POD_LEAVING, POOLS({FITS, .usd_micro_per_hour = -1})},
         "is being deleted.\n" WOULD_FIT NO_NODES},
        {{.state = WHY_POD_GATED,
          .waits = TEXT("its gate quota"),
          POOLS({FITS, .usd_micro_per_hour = -1})},
         "waits for its gate quota.\n" WOULD_FIT NO_NODES},
        {{.state = WHY_POD_RUNS, .node = TEXT("n1"), POOLS({FITS, .usd_micro_per_hour = -1})},
         "is on node n1.\n" WOULD_FIT NO_NODES},
        {{.node = TEXT("n1"), POOLS({FITS, .usd_micro_per_hour = -1})},
         "goes to node n1.\n" WOULD_FIT NO_NODES},
        {{ON_ONE, POOLS({FITS, .usd_micro_per_hour = -1})},
         "fits on a node there is.\n" WOULD_FIT "  Nodes: the only one takes it: n1\n"},
        /* Another pod goes to the node. */
        {{ON_ONE, .pending_beside = 1, POOLS({FITS, .usd_micro_per_hour = -1})},
         "waits for a node: NodePool p buys m5.large. 1 other is pending, and placed with it.\n"
         "  NodePool p: fits, and buys m5.large\n  Nodes: the only one takes it: n1\n"},
        /* What does not fit stands behind what fits, with what would be nearest. */
        {{.fit = WHY_FITS_NOT,
          POOLS({.name = TEXT("p"),
                 .fit = WHY_FITS_NOT,
                 .message = TEXT("it lacks memory"),
                 .nearest = TEXT("m5.4xlarge")},
                {.name = TEXT("q"), .fit = WHY_UNDECIDED, .message = TEXT("its class is unseen")})},
         "fits nowhere.\n"
         "  NodePool p: it lacks memory\n"
         "      nearest: m5.4xlarge\n"
         "  NodePool q: not decided: its class is unseen\n" NO_NODES},
    };
    run_cases(cases, COUNT_OF(cases));
}

/* The built-in prices are of another region, and of no spot. */
static void whose_prices_they_are_is_told(void)
{
    struct arena *arena = arena_create(256 << 20);
    const struct why_pod why = {
        .catalog = catalog_builtin(arena),
        POOLS({FITS, .capacity_type = TEXT("spot"), .zone = TEXT("eu-west-1a"),
               .usd_micro_per_hour = 96000, .price_of = TEXT("on-demand")},
              {FITS, .zone = TEXT("ap-south-1a"), .usd_micro_per_hour = -1})};
    struct text said = said_of(why, false, arena);
    CU_ASSERT(strstr(said.data, "\n  Prices: on-demand prices of us-east-1 of 2026-07, not of "
                                "eu-west-1 (taffrail catalog import). No price of spot") != NULL);
    struct why_pod other = why;
    other.pools = &why.pools[1];
    other.pool_count = 1;
    CU_ASSERT(strstr(said_of(other, false, arena).data, "Prices") == NULL);
    arena_destroy(arena);
}

static void nodes_are_counted(void)
{
    static const struct simulation_cause causes[] = {
        {.message = TEXT("lack cpu"), .count = 7},
        {.message = TEXT("lack memory"), .count = 6},
        {.message = TEXT("are tainted"), .count = 5},
        {.message = TEXT("are full"), .count = 4},
        {.message = TEXT("go"), .count = 3},
        {.message = TEXT("start"), .count = 2},
        {.message = TEXT("are elsewhere"), .count = 1},
    };
#define NAMES .node_names = { TEXT("a"), TEXT("b"), TEXT("c"), TEXT("d"), TEXT("e") }
    const struct why_case cases[] = {
        {{.fit = WHY_FITS_NOT, .node_total = 1},
         "fits nowhere.\n  Nodes: the only one does not take it\n"},
        {{.fit = WHY_FITS_NOT,
          .node_total = 40,
          .causes = &(const struct simulation_cause){.message = TEXT("the request is lots"),
                                                     .count = 40,
                                                     .of_pod = true},
          .cause_count = 1},
         "fits nowhere.\n  Nodes: none of 40 takes it\n      the request is lots\n"},
        {{.fit = WHY_FITS_NOT, .node_total = 40, .nodes_nearest = TEXT("n9 lacks 1Gi")},
         "fits nowhere.\n  Nodes: none of 40 takes it\n      nearest: n9 lacks 1Gi\n"},
        {{.fit = WHY_UNDECIDED, .node_total = 40, .node_may = 7, NAMES},
         "may fit: what decides cannot be seen.\n  Nodes: 7 of 40 may take it: a, b, c, d, e, "
         "...\n"},
        {{.fit = WHY_UNDECIDED, .node_total = 1, .node_may = 1, NAMES},
         "may fit: what decides cannot be seen.\n  Nodes: 1 of 1 may take it: a\n"},
        {{.node_total = 40, .node_fit = 1, NAMES},
         "fits on a node there is.\n  Nodes: 1 of 40 takes it: a\n"},
        {{.node_total = 40, .node_fit = WHY_NODES_NAMED, NAMES},
         "fits on a node there is.\n  Nodes: 5 of 40 take it: a, b, c, d, e\n"},
        {{.node_total = 40, .node_fit = 7, NAMES},
         "fits on a node there is.\n  Nodes: 7 of 40 take it: a, b, c, d, e, ...\n"},
        {{.fit = WHY_FITS_NOT, .node_total = 28, .causes = causes, .cause_count = 5},
         "fits nowhere.\n  Nodes: none of 28 takes it\n      7 lack cpu\n      6 lack memory\n"
         "      5 are tainted\n      4 are full\n      3 go\n"},
        {{.fit = WHY_FITS_NOT, .node_total = 28, .causes = causes, .cause_count = COUNT_OF(causes)},
         "fits nowhere.\n  Nodes: none of 28 takes it\n      7 lack cpu\n      6 lack memory\n"
         "      5 are tainted\n      4 are full\n      3 go\n      3 for other reasons\n"},
    };
    run_cases(cases, COUNT_OF(cases));
}

/* Green is what fits and what helps, red what does not fit. */
static void colours_say_the_same(void)
{
    const struct why_pod why = {
        .fit = WHY_FITS_NOT,
        .fix = TEXT("Ask for less."),
        POOLS({.name = TEXT("p"), .fit = WHY_FITS_NOT, .message = TEXT("it lacks memory")},
              {.name = TEXT("q"), .instance_type = TEXT("m5.large"), .usd_micro_per_hour = -1})};
    struct arena *arena = arena_create(1 << 20);
    ASSERT_TEXT(said_of(why, true, arena),
                "\033[1mPod shop/web-1 fits nowhere.\n\033[0m"
                "\033[31m  NodePool p: \033[0mit lacks memory\n"
                "\033[32m  NodePool q: \033[0mfits, and buys m5.large\n" NO_NODES
                "\033[32mfix:\033[0m Ask for less.\n");
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"the verdict comes first", the_verdict_comes_first},
    {"a pool says what it buys, or why not", a_pool_says_what_it_buys_or_why_not},
    {"whose prices they are is told", whose_prices_they_are_is_told},
    {"nodes are counted", nodes_are_counted},
    {"colours say the same", colours_say_the_same},
    {NULL, NULL},
};
