/* The rail disruption-budgets: schedules that cannot be read, windows that never open, expiry that
 * does not wait for them. */
#include "policy/rails/budget_windows.h"
#include "rail_modes.h"

#define POOL_OF(version, disruption, template)                                           \
    "{apiVersion: karpenter.sh/" version ", kind: NodePool, metadata: {name: a}, spec: " \
    "{disruption: {" disruption "}, template: {spec: {" template "}}}}"
#define NEVER "expireAfter: Never"
#define POOL(disruption) POOL_OF("v1", disruption, NEVER)
#define BUDGETS(budgets) POOL("budgets: [" budgets "]")
#define BLOCK(schedule, duration) "{nodes: '0', schedule: '" schedule "', duration: " duration "}"
#define OFFICE BLOCK("0 9 * * mon-fri", "8h")
#define AT "spec.disruption.budgets"

static void what_cannot_be_read_is_found(void)
{
    static const struct rail_case cases[] = {
        {POOL(""), ""},
        {BUDGETS(""), ""},
        {BUDGETS("{nodes: 10%}"), ""},
        {BUDGETS("{nodes: '5'}, " OFFICE), ""},
        {BUDGETS(BLOCK("@daily", "10m")), ""},
        {BUDGETS(BLOCK("TZ=Europe/Berlin 0 9 * * *", "8h")),
         "deny " AT "[0].schedule TZ=Europe/Berlin 0 9 * * *"},
        {BUDGETS(BLOCK("0 0 9 * * 1-5", "8h")), "deny " AT "[0].schedule 0 0 9 * * 1-5"},
        {BUDGETS("{nodes: 10%}, " BLOCK("0 9 * * 7", "8h")), "deny " AT "[1].schedule 0 9 * * 7"},
        {BUDGETS(BLOCK("@dailyx", "8h")), "deny " AT "[0].schedule @dailyx"},
        {BUDGETS("{nodes: '0', schedule: 5, duration: 8h}"), "deny " AT "[0].schedule "},
        {BUDGETS(BLOCK("0 9 * * *", "8d")), "deny " AT "[0].duration 8d"},
        {BUDGETS("{nodes: '0', schedule: '0 9 * * *'}"), "deny " AT "[0].duration "},
        {BUDGETS("{nodes: '0', duration: 8h}"), "deny " AT "[0].schedule "},
        {BUDGETS("{nodes: ten}"), "deny " AT "[0].nodes ten"},
        {BUDGETS("{nodes: 110%}"), "deny " AT "[0].nodes 110%"},
        {BUDGETS("{nodes: 5}"), ""},
        {BUDGETS("{}"), ""},
        {BUDGETS("null, 5"), ""},
        {POOL("budgets: 5"), ""},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}}", ""},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
}

#define REASONS(list) "{nodes: '0', reasons: [" list "]}"

static void pools_that_never_let_go_are_found(void)
{
    static const char never_opens[] = "deny " AT " ";
    static const struct rail_case cases[] = {
        {BUDGETS("{nodes: '0'}"), "deny " AT "[0].nodes 0"},
        {BUDGETS("{nodes: 10%}, {nodes: 0%}"), "deny " AT "[1].nodes 0%"},
        {BUDGETS(REASONS("Drifted, Underutilized")), ""},
        {BUDGETS(REASONS("")), ""},
        {BUDGETS(REASONS("Drifted") ", " REASONS("Empty, Underutilized")),
         "deny " AT "[1].nodes 0"},
        /* 30 February never comes, and Karpenter takes the budget to be active */
        {BUDGETS(BLOCK("0 0 30 2 *", "1h")),
         "deny " AT "[0].nodes 0\ndeny " AT "[0].schedule 0 0 30 2 *"},
        {BUDGETS("{nodes: 10%, schedule: '0 0 30 2 *', duration: 1h}"),
         "deny " AT "[0].schedule 0 0 30 2 *"},
        {BUDGETS(BLOCK("@hourly", "1h")), never_opens},
        {BUDGETS(BLOCK("@hourly", "59m")), ""},
        {BUDGETS(BLOCK("@daily", "24h")), never_opens},
        {BUDGETS(BLOCK("* * * * *", "1m")), never_opens},
        {BUDGETS(BLOCK("0 0 * * 1-5", "24h") ", " BLOCK("0 0 * * sat", "48h")), never_opens},
        {BUDGETS(BLOCK("0 0 * * 1-5", "24h") ", " BLOCK("0 0 * * sat", "47h")), ""},
        {BUDGETS(BLOCK("@monthly", "744h")), never_opens},
        {BUDGETS(BLOCK("@monthly", "740h")), ""},
        {BUDGETS(REASONS("Drifted") ", {nodes: '0', schedule: '@daily', duration: 24h, reasons: "
                                    "[Empty, Underutilized]}"),
         never_opens},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
}

static void windows_can_be_required(void)
{
    static const struct rail_case cases[] = {
        {BUDGETS(OFFICE), ""},
        {POOL(""), "deny " AT " "},
        {BUDGETS("{nodes: 10%}"), "deny " AT " "},
        {BUDGETS("{nodes: '1', schedule: '0 9 * * mon-fri', duration: 8h}"), "deny " AT " "},
        {BUDGETS("{nodes: '0', schedule: '@daily', duration: 8h, reasons: [Drifted]}"),
         "deny " AT " "},
        {BUDGETS("{nodes: '0', schedule: '@daily', duration: 8h, reasons: [Drifted]}, " REASONS(
             "Empty, Underutilized")),
         ""},
        {BUDGETS("{nodes: '0'}"), "deny " AT "[0].nodes 0"},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {requireWindow: true}", NULL, cases,
                                        COUNT_OF(cases)});
}

static void the_number_of_nodes_is_bounded(void)
{
    static const struct rail_case cases[] = {
        {POOL(""), ""},
        {BUDGETS("{nodes: 20%}"), ""},
        {BUDGETS("{nodes: 21%}"), "deny " AT "[0].nodes 21%"},
        {BUDGETS("{nodes: 50%}, {nodes: 5%}"), ""},
        {BUDGETS(""), "deny " AT " "},
        {BUDGETS("{nodes: '5'}"), "warn " AT "[0].nodes 5"},
        {BUDGETS("{nodes: '5'}, {nodes: 20%}"), ""},
        {BUDGETS("{nodes: 20%, reasons: [Drifted]}"), "deny " AT "[0].nodes 20%"},
        {BUDGETS("{nodes: 20%, reasons: [Drifted]}, {nodes: 1%, reasons: [Empty, Underutilized]}"),
         ""},
        {BUDGETS(OFFICE), "deny " AT " "},
        {BUDGETS("{nodes: 20%, schedule: '@daily', duration: 1h}, {nodes: 50%}"), "deny " AT " "},
    };
    rail_table_run(
        &(struct rail_table){"disruption-budgets: {maxNodes: 20%}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case numbers[] = {
        {BUDGETS("{nodes: '5'}"), ""},
        {BUDGETS("{nodes: '6'}"), "deny " AT "[0].nodes 6"},
        {BUDGETS("{nodes: 1%}"), "warn " AT "[0].nodes 1%"},
        {POOL(""), "warn " AT " 10%"},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {maxNodes: 5}", NULL, numbers,
                                        COUNT_OF(numbers)});
    /* Without a list there is one budget, of 10 %. */
    static const struct rail_case unwritten = {POOL(""), ""};
    rail_table_run(
        &(struct rail_table){"disruption-budgets: {maxNodes: 10%}", NULL, &unwritten, 1});
    static const struct rail_case above = {POOL(""), "deny " AT " 10%"};
    rail_table_run(&(struct rail_table){"disruption-budgets: {maxNodes: 9%}", NULL, &above, 1});
}

static void policies_are_allowed_by_name(void)
{
    static const struct rail_case cases[] = {
        {POOL("consolidationPolicy: WhenEmpty"), ""},
        {POOL("consolidationPolicy: WhenEmptyOrUnderutilized"),
         "deny spec.disruption.consolidationPolicy WhenEmptyOrUnderutilized"},
        {POOL(""), "deny spec.disruption.consolidationPolicy "},
        {POOL_OF("v1beta1", "consolidationPolicy: WhenUnderutilized, expireAfter: Never", ""),
         "deny spec.disruption.consolidationPolicy WhenUnderutilized"},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {consolidationPolicies: [WhenEmpty]}",
                                        NULL, cases, COUNT_OF(cases)});
    static const struct rail_case old = {
        POOL_OF("v1beta1", "consolidationPolicy: WhenUnderutilized, expireAfter: Never", ""), ""};
    rail_table_run(&(struct rail_table){
        "disruption-budgets: {consolidationPolicies: [WhenEmptyOrUnderutilized]}", NULL, &old, 1});
}

static void expiry_is_held_against_the_windows(void)
{
    static const char warned[] = "warn spec.template.spec.expireAfter ";
    static const struct rail_case cases[] = {
        {POOL_OF("v1", "budgets: [" OFFICE "]", "expireAfter: 720h"),
         "warn spec.template.spec.expireAfter 720h"},
        {POOL_OF("v1", "budgets: [" OFFICE "]", ""), warned},
        {POOL_OF("v1", "budgets: [" OFFICE "]", NEVER), ""},
        {POOL_OF("v1", "budgets: [{nodes: 10%}]", "expireAfter: 720h"), ""},
        /* on v1beta1 it waits; from Thursday 1 January 1970 the next window is Saturday */
        {POOL_OF("v1beta1", "expireAfter: 720h, budgets: [" OFFICE "]", ""), ""},
        {POOL_OF("v1beta1", "expireAfter: 119h, budgets: [" BLOCK("0 0 * * mon", "120h") "]", ""),
         "deny spec.disruption.expireAfter 119h"},
        {POOL_OF("v1beta1", "expireAfter: 120h, budgets: [" BLOCK("0 0 * * mon", "120h") "]", ""),
         ""},
        {POOL_OF("v1beta1", "budgets: [" BLOCK("@yearly", "8000h") "]", ""),
         "deny spec.disruption.expireAfter 720h"},
        {POOL_OF("v1beta1", "expireAfter: Never, budgets: [" BLOCK("@yearly", "8000h") "]", ""),
         ""},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
}

/* Ten minutes after each midnight, and two for each turn: five turns a day. */
static void windows_must_do_for_all_nodes(void)
{
#define TEN_MINUTES BLOCK("10 0 * * *", "23h50m")
#define SATURDAY BLOCK("0 0 * * sat", "24h")
#define OLD(expire, more) \
    POOL_OF("v1beta1", "expireAfter: " expire ", budgets: [" TEN_MINUTES more "]", "")
#define NODE(name)                                             \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name \
    ", labels: {karpenter.sh/nodepool: a}}}\n"
    static const char warned[] = "warn spec.disruption.expireAfter 24h";
    static const char five[] = NODE("n1") NODE("n2") NODE("n3") NODE("n4")
        NODE("n5") "---\n{apiVersion: v1, kind: Node, metadata: {name: other, labels: "
                   "{karpenter.sh/nodepool: "
                   "b}}}\n";
    static const char six[] = NODE("n1") NODE("n2") NODE("n3") NODE("n4") NODE("n5") NODE("n6");
    static const struct rail_case unseen[] = {
        {OLD("24h", ", {nodes: 20%}"), ""},
        {OLD("24h", ", {nodes: 19%}"), warned},
        {OLD("24h", ", {nodes: 50%}, {nodes: 19%}"), warned},
        {OLD("24h", ", {nodes: 19%}, {nodes: 50%}"), warned},
        /* open all weekend; it is the days between that are too short */
        {POOL_OF(
             "v1beta1",
             "expireAfter: 48h, budgets: [{nodes: 9%}, " BLOCK("10 0 * * mon-fri", "23h50m") "]",
             ""),
         "warn spec.disruption.expireAfter 48h"},
        {OLD("48h", ", {nodes: 10%}"), ""},
        {OLD("48h", ", {nodes: 9%}"), "warn spec.disruption.expireAfter 48h"},
        /* closed on Saturdays, too: from Friday 0:10 there is one window of ten minutes in 48
         * hours, and none in 47 h 50 min, though there are two on all other days */
        {OLD("48h", ", " SATURDAY ", {nodes: 20%}"), ""},
        {OLD("48h", ", " SATURDAY ", {nodes: 10%}"), "warn spec.disruption.expireAfter 48h"},
        {OLD("47h50m", ", " SATURDAY ", {nodes: 50%}"), "warn spec.disruption.expireAfter 47h50m"},
        /* of more than two years the windows are not counted */
        {OLD("20000h", ", {nodes: 1%}"), ""},
        {POOL_OF("v1beta1",
                 "expireAfter: 2562047788015215h, budgets: [{nodes: 1%}, " BLOCK("0 1 * * *",
                                                                                 "23h") "]",
                 ""),
         ""},
        /* how many nodes there are is not known; or nothing holds them up */
        {OLD("24h", ", {nodes: '1'}"), ""},
        {OLD("24h", ""), ""},
        {OLD("24h", ", {nodes: '0', reasons: [Empty]}"), ""},
        /* one that comes and goes may be gone in the window */
        {OLD("24h", ", {nodes: 1%, schedule: '0 12 * * *', duration: 1h}"), ""},
        /* v1 does not wait */
        {POOL_OF("v1", "budgets: [" TEN_MINUTES ", {nodes: 1%}]", NEVER), ""},
    };
    static const struct rail_case of_five[] = {
        {OLD("24h", ", {nodes: '1'}"), ""},
        {OLD("24h", ", {nodes: 20%}"), ""},
        {OLD("24h", ", {nodes: 1%}"), ""}, /* which is one node, rounded up */
    };
    static const struct rail_case of_six[] = {
        {OLD("24h", ", {nodes: '1'}"), warned},
        {OLD("24h", ", {nodes: '2'}"), ""},
        {OLD("24h", ", {nodes: 16%}"), warned},
        {OLD("24h", ", {nodes: 17%}"), ""}, /* two of them, rounded up */
    };
    /* a minute a day, which is too short for even one turn */
#define MINUTE(nodes)                                                                              \
    POOL_OF("v1beta1",                                                                             \
            "expireAfter: 24h, budgets: [" BLOCK("1 0 * * *", "23h59m") ", {nodes: '" nodes "'}]", \
            "")
    static const struct rail_case hurried[] = {
        {MINUTE("6"), warned},
        {MINUTE("9223372036854775807"), warned},
    };
    const char *rails = "disruption-budgets: {}";
    rail_table_run(&(struct rail_table){rails, six, hurried, COUNT_OF(hurried)});
    rail_table_run(&(struct rail_table){rails, NULL, unseen, COUNT_OF(unseen)});
    rail_table_run(&(struct rail_table){rails, five, of_five, COUNT_OF(of_five)});
    rail_table_run(&(struct rail_table){rails, six, of_six, COUNT_OF(of_six)});
#undef MINUTE
#undef TEN_MINUTES
#undef SATURDAY
#undef OLD
#undef NODE
}

/* For an hour one minute after the other is closed, a step each; the next hour is open. */
static void who_asks_for_windows_often_has_an_allowance(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct rail_documents documents = rail_table_read(BUDGETS(BLOCK("* */2 * * *", "1m")), arena);
    struct budgets budgets;
    budgets_read(&documents.items[0], 0, arena, &budgets);
    struct window window = {0};
    size_t steps_left = 150;
    CU_ASSERT_EQUAL(window_next_within(&budgets, 0, &steps_left, &window), WINDOW_FOUND);
    ASSERT_INT(window.open_unix_s, 3600);
    ASSERT_INT(window.close_unix_s, 7200);
    ASSERT_INT(steps_left, 150 - 60 - 1);
    CU_ASSERT_EQUAL(window_next_within(&budgets, 7200, &steps_left, &window), WINDOW_FOUND);
    ASSERT_INT(window.open_unix_s, 10800);
    CU_ASSERT_EQUAL(window_next_within(&budgets, 14400, &steps_left, &window), WINDOW_UNKNOWN);
    ASSERT_INT(steps_left, 0);
    CU_ASSERT_EQUAL(window_next(&budgets, 14400, &window), WINDOW_FOUND);
    ASSERT_INT(window.open_unix_s, 18000);
    arena_destroy(arena);
}

/* At 1970-01-01 00:00, a Thursday: the office hours are Thursday and Friday, then Monday. */
static void nodes_that_will_end_outside_are_named(void)
{
    static const char cluster[] =
        "{apiVersion: v1, kind: Node, metadata: {name: node-1, creationTimestamp: "
        "'1970-01-01T00:10:00Z', labels: {karpenter.sh/nodepool: a}}}\n---\n"
        "{apiVersion: v1, kind: Node, metadata: {name: node-2, creationTimestamp: "
        "'1970-01-01T02:00:00Z', labels: {karpenter.sh/nodepool: a}}}\n---\n"
        "{apiVersion: v1, kind: Node, metadata: {name: node-3, creationTimestamp: "
        "'1970-01-01T01:00:00Z', labels: {karpenter.sh/nodepool: b}}}";
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("disruption-budgets: {}", cluster, arena);
    struct rail_documents documents =
        rail_table_read(POOL_OF("v1", "budgets: [" OFFICE "]", "expireAfter: 8h"), arena);
    struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
    ASSERT_TEXT(verdict.findings[0].message,
                "\"8h\" does not wait for a window: nodes are drained when they are that old; "
                "outside the windows, in UTC: node-2 at Thu 1970-01-01 10:00; next windows: Thu "
                "1970-01-01 00:00 to Thu 1970-01-01 09:00, Thu 1970-01-01 17:00 to Fri 1970-01-02 "
                "09:00, Fri 1970-01-02 17:00 to Mon 1970-01-05 09:00 UTC");
    arena_destroy(arena);
    /* which no sum of seconds holds */
    static const struct rail_case endless = {
        POOL_OF("v1", "budgets: [" OFFICE "]", "expireAfter: 2562047788015215h"),
        "warn spec.template.spec.expireAfter 2562047788015215h"};
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", cluster, &endless, 1});
}

static void it_says_how_many_are_too_many(void)
{
    static const char fix[] = "have a budget of at most 20% without a schedule";
    static const struct rail_words rows[] = {
        {BUDGETS("{nodes: 21%}"), "found \"21%\", above the maximum of 20%", fix},
        {BUDGETS("{nodes: 20%, reasons: [Drifted]}"),
         "no budget keeps it to 20% of the nodes at a time, at all times and for all reasons", fix},
        {BUDGETS(""),
         "no budget keeps it to 20% of the nodes at a time, at all times and for all reasons", fix},
        {BUDGETS("{nodes: '5'}"),
         "bounded by a number of nodes, which cannot be compared with the maximum of 20%", fix},
    };
    rail_words_run("disruption-budgets: {maxNodes: 20%}", NULL, rows, COUNT_OF(rows));
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("disruption-budgets", "", NULL, BUDGETS(BLOCK("0 9 * * 7", "8h")));
}

const char unit_suite[] = "policy disruption-budgets";
const struct unit_test unit_tests[] = {
    {"what cannot be read is found", what_cannot_be_read_is_found},
    {"pools that never let go are found", pools_that_never_let_go_are_found},
    {"windows can be required", windows_can_be_required},
    {"the number of nodes is bounded", the_number_of_nodes_is_bounded},
    {"policies are allowed by name", policies_are_allowed_by_name},
    {"windows must do for all nodes", windows_must_do_for_all_nodes},
    {"who asks for windows often has an allowance", who_asks_for_windows_often_has_an_allowance},
    {"expiry is held against the windows", expiry_is_held_against_the_windows},
    {"nodes that will end outside are named", nodes_that_will_end_outside_are_named},
    {"it says how many are too many", it_says_how_many_are_too_many},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
