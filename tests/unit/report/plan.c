/* Plans as text and JSON, and how a plan names and rounds things. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_fixture.h"
#include "report/plan.h"
#include "unit.h"

const char unit_suite[] = "report: plans";

static const struct simulation_reason two_reasons[] = {
    {TEXT("default"), "resources", TEXT("asks for 96 cpu; the largest type has 63.77"),
     TEXT("m5.16xlarge: 32.23 cpu short"), TEXT(""), NULL, 0},
    {TEXT(""), "devices", TEXT("asks for devices through resourceClaims"), TEXT(""), TEXT(""), NULL,
     0},
};

/* A Node that takes one pod and one that takes none; two equal nodes to buy, and one without a
 * price; three pods of one workload that fit nowhere, one of them for fewer reasons. */
static struct simulation cluster(void)
{
    struct draft draft = {0};
    struct simulation_node *node = add_node(&draft, "node-b", "a-1", "m5.xlarge", 192000);
    put_on(node, add_pod(&draft, "shop", "Deployment web", "web-old", true));
    put_on(node, add_pod(&draft, "shop", "Deployment web", "web-0", false));
    node = add_node(&draft, "node-c", "a-2", "m5.xlarge", 192000);
    put_on(node, add_pod(&draft, "shop", "Deployment web", "web-older", true));
    for (size_t i = 0; i < 2; i++) {
        node = add_node(&draft, "", "a-1", "m5.large", 107000);
        for (size_t j = 0; j < 3; j++)
            put_on(node, add_pod(&draft, "shop", "Deployment web",
                                 arena_printf(arena, "web-%zu", 9 - 3 * i - j).data, false));
        put_on(node, add_pod(&draft, "shop-b", "Job sum", i == 0 ? "sum-x" : "sum-y", false));
    }
    node = add_node(&draft, "", "a-2", "new.large", -1);
    put_on(node, add_pod(&draft, "shop", "StatefulSet db", "db-0", false));
    add_unschedulable(&draft, add_pod(&draft, "ml", "Deployment train", "train-0", false),
                      two_reasons, 2);
    add_unschedulable(&draft, add_pod(&draft, "ml", "Deployment train", "train-1", false),
                      two_reasons, 1);
    add_unschedulable(&draft, add_pod(&draft, "ml", "Deployment train", "train-2", false),
                      two_reasons, 2);
    return finish(&draft);
}

static struct text written(const char *format, const struct simulation *simulation,
                           const struct simulation *compat)
{
    int number = 0;
    while (strcmp(report_plan_format_names[number], format) != 0)
        number++;
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    struct report_style style = {.colour = false};
    struct error error;
    CU_ASSERT(report_plan_write(number, simulation, compat, &style, arena, out, &error));
    fclose(out);
    struct text copy = arena_text(arena, (struct text){bytes, size});
    free(bytes);
    return copy;
}

/* ---- text ---- */

static void text_tells_all(void)
{
    struct simulation simulation = cluster();
    ASSERT_TEXT(written("text", &simulation, NULL),
                "13 pods are pending: 1 fits on 1 existing node, 9 fit on 3 new nodes, 3 fit\n"
                "nowhere.\n"
                "New nodes cost $0.2140 an hour, $156.22 a month, without 1 of no known price.\n"
                "\n"
                "TO BUY\n"
                "  NODES  TYPE       ZONE  CAPACITY   $/H EACH  CPU  MEM\n"
                "NodePool default\n"
                "    2 x  m5.large   a-1   on-demand    0.1070  50%  25%\n"
                "      shop/web x3, shop-b/sum\n"
                "    1 x  new.large  a-2   on-demand         ?  13%   6%\n"
                "      shop/db\n"
                "\n"
                "ON EXISTING NODES\n"
                "  NODE    TYPE       ZONE  CPU  MEM\n"
                "  node-b  m5.xlarge  a-1   25%  13%\n"
                "      shop/web\n"
                "\n"
                "FIT NOWHERE\n"
                "  ml/train-0 and 1 more (Deployment train)\n"
                "    NodePool default: resources\n"
                "      asks for 96 cpu; the largest type has 63.77\n"
                "      nearest: m5.16xlarge: 32.23 cpu short\n"
                "    any node: devices\n"
                "      asks for devices through resourceClaims\n"
                "  ml/train-1 (Deployment train)\n"
                "    NodePool default: resources\n"
                "      asks for 96 cpu; the largest type has 63.77\n"
                "      nearest: m5.16xlarge: 32.23 cpu short\n");
}

static void what_later_rounds_place_is_apart(void)
{
    struct simulation simulation = cluster();
    struct simulation_unschedulable *items =
        ARENA_ARRAY(arena, simulation.unschedulable_count, struct simulation_unschedulable);
    memcpy(items, simulation.unschedulable, simulation.unschedulable_count * sizeof *items);
    items[2].later_round = 3;
    simulation.unschedulable = items;
    struct text page = written("text", &simulation, NULL);
    const char *nowhere = strstr(page.data, "FIT NOWHERE\n  ml/train-0 (Deployment train)\n");
    const char *later = strstr(page.data, "NOT YET PLACED\n  ml/train-2 (Deployment train)\n");
    CU_ASSERT(nowhere != NULL && later != NULL && later > nowhere);
    CU_ASSERT_PTR_NOT_NULL(strstr(written("svg", &simulation, NULL).data, "Not yet placed"));
    CU_ASSERT_PTR_NOT_NULL(strstr(written("html", &simulation, NULL).data, "Not yet placed"));
    simulation = cluster();
    CU_ASSERT_PTR_NULL(strstr(written("text", &simulation, NULL).data, "NOT YET PLACED"));
}

static void no_line_is_too_long(void)
{
    struct draft draft = {0};
    struct simulation_node *node = add_node(&draft, "ip-10-0-0-35.eu-west-1.compute.internal",
                                            "eu-west-1a", "m5d.24xlarge", 1);
    struct simulation_node *bought = add_node(&draft, "", "eu-west-1a", "m5d.24xlarge", 1);
    for (int i = 0; i < 40; i++) {
        struct text name = arena_printf(arena, "workload-of-some-length-%d", i);
        put_on(i % 2 ? node : bought, add_pod(&draft, "shop", name.data, name.data, false));
    }
    struct simulation_reason reason = {TEXT("default"), "requirement", {0}, {0}, {0}, NULL, 0};
    struct text_builder words = {.arena = arena};
    for (int i = 0; i < 30; i++)
        text_builder_printf(&words, "%sword-%d", i == 0 ? "" : " ", i);
    reason.message = reason.nearest = text_builder_text(&words);
    add_unschedulable(&draft, add_pod(&draft, "shop", "lone", "lone", false), &reason, 1);
    struct simulation simulation = finish(&draft);
    struct simulation compat = simulation;
    compat.usd_micro_per_hour = 123456789;
    struct text rest = written("text", &simulation, &compat);
    size_t lines = 0;
    for (struct text line; text_split(rest, '\n', &line, &rest); lines++)
        CU_ASSERT(code_points(line) <= 80);
    CU_ASSERT(lines > 40);
}

static void savings_are_told(void)
{
    static const struct {
        int64_t now_micro, before_micro;
        size_t now_unschedulable;
        const char *line;
        size_t now_unpriced, before_unpriced; /* of 4 and 5 claims */
    } cases[] = {
        {750000, 1000000, 2,
         "Karpenter's own choices cost $1.0000 an hour; this plan saves $0.2500 (25.0%), 1 fewer "
         "node.",
         0, 0},
        {1000000, 1000000, 1,
         "Karpenter's own choices cost $1.0000 an hour; this plan places 1 pod more and costs the "
         "same, 1 fewer node.",
         0, 0},
        {3000, 2000, 0,
         "Karpenter's own choices cost $0.0020 an hour; this plan places 2 pods more and costs "
         "$0.0010 more, 1 fewer node.",
         0, 0},
        {1000, 2000, 3,
         "Karpenter's own choices cost $0.0020 an hour; this plan places 1 pod fewer and saves "
         "$0.0010, 1 fewer node.",
         0, 0},
        {3000, 0, 2,
         "Karpenter's own choices cost $0.0000 an hour; this plan costs $0.0030 (0.0%) more, 1 "
         "fewer node.",
         0, 0},
        {750000, 1000000, 2,
         "Karpenter's own choices cost $1.0000 an hour; this plan costs $0.7500 an hour without 1 "
         "node of no known price, 1 fewer node.",
         1, 0},
        {750000, 1000000, 1,
         "Karpenter's own choices cost $1.0000 an hour without 2 nodes of no known price; this "
         "plan "
         "places 1 pod more and costs $0.7500 an hour, 1 fewer node.",
         0, 2},
        {0, 0, 2,
         "Karpenter's own choices are of no known price; this plan is of no known price, 1 fewer "
         "node.",
         4, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct simulation now = {.usd_micro_per_hour = cases[i].now_micro,
                                 .pod_count = 3,
                                 .unschedulable_count = cases[i].now_unschedulable,
                                 .claim_count = 4,
                                 .unpriced_count = cases[i].now_unpriced};
        struct simulation before = {.usd_micro_per_hour = cases[i].before_micro,
                                    .pod_count = 3,
                                    .unschedulable_count = 2,
                                    .claim_count = 5,
                                    .unpriced_count = cases[i].before_unpriced};
        const struct plan plan = {.simulation = &now, .compat = &before, .pending_count = 3};
        const struct plan nothing = {.simulation = &now, .compat = &before};
        ASSERT_TEXT(plan_saving(&plan, arena), cases[i].line);
        ASSERT_TEXT(plan_saving(&nothing, arena), "");
    }
}

static void headlines_are_grammatical(void)
{
    static const struct {
        struct plan plan;
        size_t claims, unschedulable, undecided;
        const char *line;
    } cases[] = {
        {{0}, 0, 0, 0, "No pod is pending: there is nothing to buy."},
        {{.pending_count = 1}, 0, 1, 0, "1 pod is pending: 1 fits nowhere."},
        {{.pending_count = 1, .on_claim_count = 1},
         1,
         0,
         0,
         "1 pod is pending: 1 fits on 1 new node."},
        {{.pending_count = 5, .on_node_count = 3, .taking_count = 2},
         0,
         2,
         0,
         "5 pods are pending: 3 fit on 2 existing nodes, 2 fit nowhere."},
        {{.pending_count = 3, .later_count = 1},
         0,
         3,
         0,
         "3 pods are pending: 2 fit nowhere, 1 is not yet placed."},
        {{.pending_count = 2, .later_count = 2},
         0,
         2,
         0,
         "2 pods are pending: 2 are not yet placed."},
        {{.pending_count = 1}, 0, 0, 1, "1 pod is pending: 1 is not decided."},
        {{.pending_count = 4, .later_count = 1},
         0,
         2,
         2,
         "4 pods are pending: 1 fits nowhere, 1 is not yet placed, 2 are not decided."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct simulation simulation = {.claim_count = cases[i].claims,
                                        .unschedulable_count = cases[i].unschedulable,
                                        .undecided_count = cases[i].undecided};
        struct plan plan = cases[i].plan;
        plan.simulation = &simulation;
        ASSERT_TEXT(plan_headline(&plan, arena), cases[i].line);
    }
    const struct simulation incomplete = {.incomplete = true};
    const struct plan nothing = {.simulation = &incomplete};
    ASSERT_TEXT(plan_headline(&nothing, arena),
                "Of what could be understood no pod is pending; the errors name the rest.");
    const struct plan some = {
        .simulation = &incomplete, .pending_count = 1, .on_node_count = 1, .taking_count = 1};
    ASSERT_TEXT(plan_headline(&some, arena),
                "1 pod is pending: 1 fits on 1 existing node. What could not be understood is left "
                "out.");
    static const struct text claims[] = {TEXT("a"), TEXT("b"), TEXT("c"), TEXT("d"), TEXT("e")};
    static const char *const unlaunched[] = {
        [1] = " NodeClaim a is not launched yet, and its room is not counted: Karpenter buys "
              "nothing until it is.",
        [2] = " NodeClaims a and b are not launched yet, and their room is not counted: Karpenter "
              "buys nothing until they are.",
        [5] = " NodeClaims a, b, c and 2 more are not launched yet, and their room is not counted: "
              "Karpenter buys nothing until they are.",
    };
    for (size_t i = 0; i < COUNT_OF(unlaunched); i++) {
        const struct simulation waits = {.unlaunched = claims, .unlaunched_count = i};
        const struct plan plan = {.simulation = &waits, .pending_count = 1, .on_claim_count = 1};
        if (unlaunched[i] != NULL)
            ASSERT_TEXT(
                plan_headline(&plan, arena),
                arena_printf(arena, "1 pod is pending: 1 fits new node.%s", unlaunched[i]).data);
    }
}

static void numbers_are_rounded(void)
{
    ASSERT_TEXT(plan_usd(0, arena), "0.0000");
    ASSERT_TEXT(plan_usd(107000, arena), "0.1070");
    ASSERT_TEXT(plan_usd(49, arena), "0.0000");
    ASSERT_TEXT(plan_usd(50, arena), "0.0001");
    ASSERT_TEXT(plan_usd(999950, arena), "1.0000");
    ASSERT_TEXT(plan_usd(9999999, arena), "10.0000");
    ASSERT_TEXT(plan_usd(10004999, arena), "10.00");
    ASSERT_TEXT(plan_usd(1234567895000, arena), "1,234,567.90");
    ASSERT_TEXT(plan_price(-1, arena), "?");
    ASSERT_TEXT(plan_percent(-1, arena), "-");
    ASSERT_TEXT(plan_cpu(2000, arena), "2");
    ASSERT_TEXT(plan_cpu(1930, arena), "1.93");
    ASSERT_TEXT(plan_gib((int64_t)7 << 29, arena), "3.50");
}

static void names_are_as_short_as_they_may_be(void)
{
    struct draft draft = {0};
    add_pod(&draft, "a", "Deployment web", "web-0", false);
    add_pod(&draft, "a", "StatefulSet web", "web-1", false);
    add_pod(&draft, "a", "Deployment api", "api-0", false);
    add_pod(&draft, "a", "lonely", "lonely", true);
    add_pod(&draft, "a", "Deployment api", "api-1", true);
    struct simulation simulation = finish(&draft);
    struct plan plan;
    plan_read(&simulation, NULL, arena, &plan);
    static const char *const labels[] = {"api", "lonely", "Deployment web", "StatefulSet web"};
    static const size_t ranks[] = {0, 3, 1, 2};
    ASSERT_INT(plan.workload_count, 4);
    for (size_t i = 0; i < 4 && i < plan.workload_count; i++) {
        ASSERT_TEXT(plan.workloads[i].label, labels[i]);
        ASSERT_INT(plan.workloads[i].rank, ranks[i]);
    }
    add_pod(&draft, "b", "Deployment web", "web-0", false);
    simulation = finish(&draft);
    plan_read(&simulation, NULL, arena, &plan);
    ASSERT_TEXT(plan.workloads[0].label, "a/api");
    ASSERT_TEXT(plan.workloads[2].label, "a/Deployment web");
    ASSERT_TEXT(plan.workloads[4].label, "b/web");
}

/* ---- JSON ---- */

static const struct node *read_json(struct text json)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = json;
    const struct node *root = NULL;
    struct error error;
    CU_ASSERT_FATAL(doc_read_json(source, &doc_limits_manifest, NULL, arena, &root, &error));
    return root;
}

/* The strings of a list, with blanks between. */
static struct text joined(const struct node *list)
{
    struct text_builder all = {.arena = arena};
    for (size_t i = 0; i < node_count(list); i++)
        text_builder_printf(&all, "%s%.*s", i == 0 ? "" : " ",
                            TEXT_ARGS(node_string(node_item(list, i))));
    return text_builder_text(&all);
}

static void json_is_the_contract(void)
{
    struct simulation simulation = cluster();
    struct simulation_node *claim = (struct simulation_node *)&simulation.nodes[2];
    static const struct text types[] = {{"m5.large", 8}, {"c5.large", 8}};
    static const struct text zones[] = {{"a-1", 3}, {"a-2", 3}};
    static const struct simulation_requirement requirements[] = {
        {TEXT("example.com/gone"), SOLVER_DOES_NOT_EXIST, NULL, 0},
        {TEXT("topology.kubernetes.io/zone"), SOLVER_IN, zones, 2},
    };
    claim->instance_types = types;
    claim->instance_type_count = 2;
    claim->zones = zones;
    claim->zone_count = 2;
    claim->requirements = requirements;
    claim->requirement_count = 2;
    const struct node *root = read_json(written("json", &simulation, NULL));
    ASSERT_TEXT(node_string(node_get(root, "schema")), "taffrail.dev/plan/v1");
    ASSERT_TEXT(node_text(node_get(root, "usdPerHour")), "0.214");
    ASSERT_TEXT(node_text(node_get(root, "rounds")), "2");
    CU_ASSERT_PTR_NULL(node_get(root, "optimize"));

    const struct node *existing = node_get(root, "existing");
    ASSERT_INT(node_count(existing), 1);
    ASSERT_TEXT(node_string(node_get(node_item(existing, 0), "node")), "node-b");
    ASSERT_TEXT(joined(node_get(node_item(existing, 0), "pods")), "shop/web-0");

    const struct node *claims = node_get(root, "claims");
    ASSERT_INT(node_count(claims), 3);
    const struct node *first = node_item(claims, 0);
    ASSERT_TEXT(node_string(node_get(first, "nodePool")), "default");
    ASSERT_TEXT(node_string(node_get(first, "zone")), "a-1");
    ASSERT_TEXT(node_string(node_get(first, "capacityType")), "on-demand");
    ASSERT_TEXT(node_string(node_get(first, "instanceType")), "m5.large");
    ASSERT_TEXT(joined(node_get(first, "instanceTypes")), "c5.large m5.large");
    ASSERT_TEXT(joined(node_get(first, "zones")), "a-1 a-2");
    ASSERT_TEXT(node_text(node_get(first, "usdPerHour")), "0.107");
    /* By the whole name: "shop-b/..." stands before "shop/...". */
    ASSERT_TEXT(joined(node_get(first, "pods")), "shop-b/sum-x shop/web-7 shop/web-8 shop/web-9");
    const struct node *gone = node_item(node_get(first, "requirements"), 0);
    ASSERT_TEXT(node_string(node_get(gone, "key")), "example.com/gone");
    ASSERT_TEXT(node_string(node_get(gone, "operator")), "DoesNotExist");
    CU_ASSERT(node_is(node_get(gone, "values"), NODE_LIST));
    ASSERT_TEXT(joined(node_get(node_item(node_get(first, "requirements"), 1), "values")),
                "a-1 a-2");
    CU_ASSERT(node_is(node_get(node_item(claims, 2), "usdPerHour"), NODE_NULL));

    const struct node *unschedulable = node_get(root, "unschedulable");
    ASSERT_INT(node_count(unschedulable), 3);
    const struct node *pod = node_item(unschedulable, 0);
    ASSERT_TEXT(node_string(node_get(pod, "pod")), "ml/train-0");
    const struct node *reasons = node_get(pod, "reasons");
    ASSERT_INT(node_count(reasons), 2);
    const struct node *reason = node_item(reasons, 0);
    ASSERT_TEXT(node_string(node_get(reason, "nodePool")), "default");
    ASSERT_TEXT(node_string(node_get(reason, "kind")), "resources");
    ASSERT_TEXT(node_string(node_get(reason, "message")),
                "asks for 96 cpu; the largest type has 63.77");
    ASSERT_TEXT(node_string(node_get(reason, "nearest")), "m5.16xlarge: 32.23 cpu short");
    CU_ASSERT(node_is(node_get(node_item(reasons, 1), "nodePool"), NODE_NULL));
    ASSERT_TEXT(node_string(node_get(node_item(reasons, 1), "nearest")), "");
}

static void json_says_what_is_saved(void)
{
    static const struct {
        int64_t before_micro;
        size_t unpriced_before, unpriced_now;
        const char *saved, *percent, *usd, *usd_before;
    } cases[] = {
        {428000, 0, 0, "0.214", "50.0", "0.214", "0.428"},
        {107000, 0, 0, "-0.107", "-100.0", "0.214", "0.107"},
        {214001, 0, 0, "0.000001", "0.0", "0.214", "0.214001"},
        /* What a node without a price costs may be more than all that is saved. */
        {428000, 0, 1, "null", "null", "0.214", "0.428"},
        {428000, 1, 0, "null", "null", "0.214", "0.428"},
        {0, 4, 0, "null", "null", "0.214", "null"},
        {428000, 0, 3, "null", "null", "null", "0.428"},
    };
    struct simulation simulation = cluster();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct simulation compat = simulation;
        simulation.unpriced_count = cases[i].unpriced_now;
        compat.usd_micro_per_hour = cases[i].before_micro;
        compat.unpriced_count = cases[i].unpriced_before;
        compat.claim_count++;
        const struct node *root = read_json(written("json", &simulation, &compat));
        const struct node *saved = node_get(root, "optimize");
        ASSERT_TEXT(node_json(node_get(root, "usdPerHour"), arena), cases[i].usd);
        ASSERT_TEXT(node_json(node_get(saved, "usdPerHour"), arena), cases[i].usd);
        ASSERT_TEXT(node_json(node_get(saved, "compatUsdPerHour"), arena), cases[i].usd_before);
        ASSERT_TEXT(node_json(node_get(saved, "savedUsdPerHour"), arena), cases[i].saved);
        ASSERT_TEXT(node_json(node_get(saved, "savedPercent"), arena), cases[i].percent);
        ASSERT_TEXT(node_text(node_get(saved, "compatClaims")), "4");
        ASSERT_TEXT(node_text(node_get(saved, "unschedulable")), "3");
    }
}

/* What somebody named so that a page would run it. */
static void names_are_only_text(void)
{
    static const char hostile[] = "<script>alert(1)</script>&\"'\x01";
    struct draft draft = {0};
    struct simulation_node *node = add_node(&draft, hostile, hostile, hostile, 1);
    put_on(node, add_pod(&draft, hostile, hostile, hostile, false));
    put_on(add_node(&draft, "", hostile, hostile, 1),
           add_pod(&draft, hostile, hostile, hostile, false));
    draft.nodes.items[0].node_pool = draft.nodes.items[1].node_pool = text_of(hostile);
    draft.nodes.items[0].capacity_type = draft.nodes.items[1].capacity_type = text_of(hostile);
    struct simulation_reason reason = {
        text_of(hostile), "taint", text_of(hostile), text_of(hostile), text_of(hostile), NULL, 0};
    add_unschedulable(&draft, add_pod(&draft, hostile, hostile, hostile, false), &reason, 1);
    struct simulation simulation = finish(&draft);
    static const char *const formats[] = {"svg", "html", "text"};
    for (size_t i = 0; i < 3; i++) {
        struct text page = written(formats[i], &simulation, NULL);
        CU_ASSERT_PTR_NULL(memchr(page.data, '\x01', page.size));
        if (i < 2) {
            CU_ASSERT_PTR_NULL(strstr(page.data, "<script>alert"));
            CU_ASSERT_PTR_NOT_NULL(strstr(page.data, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;"));
        }
    }
}

static void odd_numbers_are_drawn(void)
{
    struct draft draft = {0};
    struct simulation_node *node = add_node(&draft, "", "", "", -1);
    node->cpu_milli = 0;
    node->memory_bytes = 0;
    for (int i = 0; i < 2; i++)
        put_on(node, add_pod(&draft, "shop", "Deployment web", "web", false));
    draft.pods.items[0].cpu_milli = draft.pods.items[1].cpu_milli = INT64_MAX;
    node = add_node(&draft, "", "a", "m5.large", INT64_MAX);
    node->cpu_milli = 1;
    put_on(node, 0);
    struct simulation simulation = finish(&draft);
    static const char *const formats[] = {"svg", "html", "text", "json"};
    for (size_t i = 0; i < 4; i++) {
        struct text page = written(formats[i], &simulation, NULL);
        CU_ASSERT_PTR_NULL(strstr(page.data, "nan"));
        CU_ASSERT_PTR_NULL(strstr(page.data, "inf"));
    }
    struct plan plan;
    plan_read(&simulation, NULL, arena, &plan);
    CU_ASSERT(plan.nodes.items[0].cpu_milli == INT64_MAX);
    struct simulation nothing = {0};
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT(written(formats[i], &nothing, NULL).size > 0);
}

TEST(text_tells_all)
TEST(what_later_rounds_place_is_apart)
TEST(no_line_is_too_long)
TEST(savings_are_told)
TEST(headlines_are_grammatical)
TEST(numbers_are_rounded)
TEST(names_are_as_short_as_they_may_be)
TEST(json_is_the_contract)
TEST(json_says_what_is_saved)
TEST(names_are_only_text)
TEST(odd_numbers_are_drawn)

const struct unit_test unit_tests[] = {
    {"text tells all", in_arena_text_tells_all},
    {"what later rounds place is apart", in_arena_what_later_rounds_place_is_apart},
    {"no line is too long", in_arena_no_line_is_too_long},
    {"savings are told", in_arena_savings_are_told},
    {"headlines are grammatical", in_arena_headlines_are_grammatical},
    {"numbers are rounded", in_arena_numbers_are_rounded},
    {"names are as short as they may be", in_arena_names_are_as_short_as_they_may_be},
    {"JSON is the contract", in_arena_json_is_the_contract},
    {"JSON says what is saved", in_arena_json_says_what_is_saved},
    {"names are only text", in_arena_names_are_only_text},
    {"odd numbers are drawn", in_arena_odd_numbers_are_drawn},
    {NULL, NULL},
};
