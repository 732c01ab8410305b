/* The rail disruption-budgets: expiry that does not wait for the windows that budgets leave, and on
 * v1beta1 windows that are too few or too short for it. Time begins on Thursday 1970-01-01. */
#include "rail_modes.h"

#define POOL_OF(version, disruption, template)                                           \
    "{apiVersion: karpenter.sh/" version ", kind: NodePool, metadata: {name: a}, spec: " \
    "{disruption: {" disruption "}, template: {spec: {" template "}}}}"
#define NEVER "expireAfter: Never"
#define BLOCK(schedule, duration) "{nodes: '0', schedule: '" schedule "', duration: " duration "}"
/* a budget that is always active, and holds nothing up */
#define ALWAYS ", {nodes: 100%}"
#define OFFICE BLOCK("0 9 * * mon-fri", "8h")
#define WEEKEND BLOCK("0 17 * * fri", "71h")
/* All is blocked for the first hour of each year, drift alone for the rest of it, one minute after
 * the other. */
#define SLOW                                                                                  \
    "{nodes: '0', schedule: '* * * 1-12 *', duration: 1m, reasons: [Drifted]}, {nodes: '0', " \
    "schedule: '@yearly', duration: 1h, reasons: [Empty, Underutilized]}"
/* At every time something may go. */
#define BY_TURNS                                                                         \
    "{nodes: '0', schedule: '0 0 * * *', duration: 8h, reasons: [Empty]}, {nodes: '0', " \
    "schedule: '0 12 * * *', duration: 8h, reasons: [Drifted, Underutilized]}"

static void expiry_is_held_against_the_windows(void)
{
    static const char warned[] = "warn spec.template.spec.expireAfter ";
    /* Of these a budget that is always active would want a turn, for which there is no time. */
    static const char unbounded[] = "warn spec.disruption.budgets ";
    static const struct rail_case cases[] = {
        {POOL_OF("v1", "budgets: [" OFFICE ALWAYS "]", "expireAfter: 720h"),
         "warn spec.template.spec.expireAfter 720h"},
        {POOL_OF("v1", "budgets: [" OFFICE ALWAYS "]", ""), warned},
        {POOL_OF("v1", "budgets: [" OFFICE ALWAYS "]", NEVER), ""},
        {POOL_OF("v1", "budgets: [{nodes: 10%}]", "expireAfter: 720h"), ""},
        /* on v1beta1 it waits; from Thursday 1 January 1970 the next window is Saturday */
        {POOL_OF("v1beta1", "expireAfter: 720h, budgets: [" OFFICE ALWAYS "]", ""), ""},
        {POOL_OF("v1beta1", "expireAfter: 119h, budgets: [" BLOCK("0 0 * * mon", "120h") ALWAYS "]",
                 ""),
         "deny spec.disruption.expireAfter 119h"},
        {POOL_OF("v1beta1", "expireAfter: 120h, budgets: [" BLOCK("0 0 * * mon", "120h") "]", ""),
         unbounded},
        {POOL_OF("v1beta1", "budgets: [" BLOCK("@yearly", "8000h") ALWAYS "]", ""),
         "deny spec.disruption.expireAfter 720h"},
        {POOL_OF("v1beta1", "expireAfter: Never, budgets: [" BLOCK("@yearly", "8000h") ALWAYS "]",
                 ""),
         ""},
        /* what is null is missing */
        {POOL_OF("v1", "budgets: [" OFFICE ALWAYS "]", "expireAfter: null"), warned},
        {POOL_OF("v1beta1", "expireAfter: null, budgets: [" BLOCK("@yearly", "8000h") ALWAYS "]",
                 ""),
         "deny spec.disruption.expireAfter 720h"},
        /* what is no duration is the rail node-rotation's */
        {POOL_OF("v1", "budgets: [" OFFICE ALWAYS "]", "expireAfter: 30d"), ""},
        {POOL_OF("v1", "budgets: [" OFFICE ALWAYS "]", "expireAfter: 720"), ""},
        /* each API has it at a place of its own */
        {POOL_OF("v1", "expireAfter: 720h, budgets: [" OFFICE ALWAYS "]", NEVER), ""},
        {POOL_OF("v1beta1", "expireAfter: Never, budgets: [" BLOCK("@yearly", "8000h") ALWAYS "]",
                 "expireAfter: 24h"),
         ""},
        /* the longest time without a window comes at the weekend: from Friday at 9 to Monday at 17
         */
        {POOL_OF("v1beta1", "expireAfter: 79h, budgets: [" OFFICE ", " WEEKEND ALWAYS "]", ""),
         "deny spec.disruption.expireAfter 79h"},
        {POOL_OF("v1beta1", "expireAfter: 80h, budgets: [" OFFICE ", " WEEKEND "]", ""), unbounded},
        /* what is left of the night tells not how long one is */
        {POOL_OF("v1beta1", "expireAfter: 19h, budgets: [" BLOCK("0 12 * * *", "20h") ALWAYS "]",
                 ""),
         "deny spec.disruption.expireAfter 19h"},
        {POOL_OF("v1beta1", "expireAfter: 20h, budgets: [" BLOCK("0 12 * * *", "20h") "]", ""),
         unbounded},
        /* on v1 there is nothing to wait for */
        {POOL_OF("v1", "budgets: [" BLOCK("0 0 * * mon", "120h") ALWAYS "]", "expireAfter: 24h"),
         "warn spec.template.spec.expireAfter 24h"},
        /* thirty days, where nothing is said */
        {POOL_OF("v1beta1", "budgets: [" BLOCK("@yearly", "720h") "]", ""), unbounded},
        {POOL_OF("v1beta1", "budgets: [" BLOCK("@yearly", "720h1m") ALWAYS "]", ""),
         "deny spec.disruption.expireAfter 720h"},
        /* what never closes for all reasons at once lets expired nodes go */
        {POOL_OF("v1beta1", "expireAfter: 1h, budgets: [" BY_TURNS ALWAYS "]", ""), ""},
        /* too many changes to see when the window closes */
        {POOL_OF("v1beta1", "expireAfter: 1h, budgets: [" SLOW ALWAYS "]", ""), ""},
        {POOL_OF("v1", "budgets: [" SLOW ALWAYS "]", "expireAfter: 1h"),
         "warn spec.template.spec.expireAfter 1h"},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
    /* where the policy wants nodes to expire, it is noted */
    static const struct rail_case wanted = {
        POOL_OF("v1", "budgets: [" OFFICE ALWAYS "]", "expireAfter: 720h"),
        "audit spec.template.spec.expireAfter 720h"};
    rail_table_run(
        &(struct rail_table){"disruption-budgets: {}, node-rotation: {}", NULL, &wanted, 1});
    /* unless they all go at a time that the windows keep out */
    static const struct rail_case outside = {
        POOL_OF("v1", "budgets: [" OFFICE ALWAYS "]", "expireAfter: 720h"),
        "warn spec.template.spec.expireAfter 720h"};
    rail_table_run(
        &(struct rail_table){"disruption-budgets: {}, node-rotation: {}",
                             "{apiVersion: v1, kind: Node, metadata: {name: n1, creationTimestamp: "
                             "'2026-11-01T12:00:00Z', labels: {karpenter.sh/nodepool: a}}}",
                             &outside, 1});
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
        {OLD("24h", ", {nodes: '50'}, {nodes: 19%}"), warned},
        {OLD("24h", ", {nodes: 19%}, {nodes: '50'}"), warned},
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
        {OLD("24h", ""), "warn spec.disruption.budgets "},
        {OLD("24h", ", {nodes: '0', reasons: [Empty]}, {nodes: 50%}"), ""},
        /* windows that do not close, or of which that is not known */
        {POOL_OF("v1beta1", "expireAfter: 1h, budgets: [" BY_TURNS ", {nodes: 1%}]", ""), ""},
        {POOL_OF("v1beta1", "expireAfter: 1h, budgets: [" SLOW ", {nodes: 1%}]", ""), ""},
        /* closed in every other hour, a minute after the other: the first three hundred windows
         * have to do */
        {POOL_OF("v1beta1",
                 "expireAfter: 4h, budgets: [" BLOCK("* */2 * * *", "1m") ", {nodes: 1%}]", ""),
         "warn spec.disruption.expireAfter 4h"},
        {POOL_OF("v1beta1",
                 "expireAfter: 4h, budgets: [" BLOCK("* */2 * * *", "1m") ", {nodes: 2%}]", ""),
         ""},
        /* one that comes and goes may be gone in the window */
        {OLD("24h", ", {nodes: 1%, schedule: '0 12 * * *', duration: 1h}"),
         "warn spec.disruption.budgets "},
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
        rail_table_read(POOL_OF("v1", "budgets: [" OFFICE ALWAYS "]", "expireAfter: 8h"), arena);
    struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
    ASSERT_TEXT(verdict.findings[0].message,
                "Expiry does not wait for a window. Nodes are drained at 8h. Outside the windows, "
                "in UTC: node-2 at Thu 1970-01-01 10:00. Next windows: Thu 1970-01-01 00:00 to Thu "
                "1970-01-01 09:00, Thu 1970-01-01 17:00 to Fri 1970-01-02 09:00, Fri 1970-01-02 "
                "17:00 to Mon 1970-01-05 09:00 UTC. Keep what is drained safe with "
                "PodDisruptionBudgets, which hold until a terminationGracePeriod is over.");
    arena_destroy(arena);
    /* which no sum of seconds holds */
    static const struct rail_case endless = {
        POOL_OF("v1", "budgets: [" OFFICE ALWAYS "]", "expireAfter: 2562047788015215h"),
        "warn spec.template.spec.expireAfter 2562047788015215h"};
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", cluster, &endless, 1});
}

#define DRAINED_AT "Expiry does not wait for a window. Nodes are drained at "
#define AT_EIGHT                                                                               \
    "Next windows: Thu 1970-01-01 08:00 to Fri 1970-01-02 00:00, Fri 1970-01-02 08:00 to Sat " \
    "1970-01-03 00:00, Sat 1970-01-03 08:00 to Sun 1970-01-04 00:00 UTC."
#define NODE(name, created)                                                                    \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", creationTimestamp: " created \
    ", labels: {karpenter.sh/nodepool: a}}}\n"

/* The nodes are a day old at most, and closed are the hours to eight. */
static void the_hour_at_which_a_node_ends_counts(void)
{
    static const char fix[] = "Keep what is drained safe with PodDisruptionBudgets, which hold "
                              "until a terminationGracePeriod is over.";
    static const char night[] =
        POOL_OF("v1", "budgets: [" BLOCK("@daily", "8h") ALWAYS "]", "expireAfter: 24h");
    static const struct {
        const char *cluster;
        struct rail_words words;
    } rows[] = {
        /* it is being drained now; it ends when the window opens; nobody knows when */
        {NODE("now", "1969-12-31T00:00:00Z") NODE("at-eight", "1969-12-31T08:00:00Z")
             NODE("new", "null"),
         {night, DRAINED_AT "24h. " AT_EIGHT, fix}},
        {NODE("last", "1969-12-31T07:59:59Z") NODE("soon", "1969-12-31T00:00:01Z")
             NODE("mid", "1969-12-31T04:30:00Z"),
         {night,
          DRAINED_AT "24h. Outside the windows, in UTC: soon at Thu 1970-01-01 00:00, mid at Thu "
                     "1970-01-01 04:30, last at Thu 1970-01-01 07:59. " AT_EIGHT,
          fix}},
        /* thirty days, where nothing is said */
        {NODE("old", "1969-12-31T01:00:00Z") NODE("day", "1969-12-31T09:00:00Z"),
         {POOL_OF("v1", "budgets: [" BLOCK("@daily", "8h") ALWAYS "]", ""),
          DRAINED_AT
          "720h, the default. Outside the windows, in UTC: old at Fri 1970-01-30 01:00. " AT_EIGHT,
          fix}},
        /* windows that do not close, or of which that is not known */
        {NULL,
         {POOL_OF("v1", "budgets: [" BY_TURNS ALWAYS "]", "expireAfter: 24h"),
          DRAINED_AT "24h. Next windows: Thu 1970-01-01 00:00 onwards UTC.", fix}},
        {NULL,
         {POOL_OF("v1", "budgets: [" SLOW ALWAYS "]", "expireAfter: 24h"), DRAINED_AT "24h.", fix}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        rail_words_run("disruption-budgets: {}", rows[i].cluster, &rows[i].words, 1);
}

static void it_says_how_long_no_window_opens(void)
{
    static const char fix[] = "Open windows more often, or let nodes live longer.";
    static const struct rail_words rows[] = {
        {POOL_OF("v1beta1", "expireAfter: 8h, budgets: [" BLOCK("0 9 * * *", "8h30m") ALWAYS "]",
                 ""),
         "expireAfter is 8h, and no window is open for up to 8 h 30 min. Nodes cannot be replaced "
         "that soon. Next windows: Thu 1970-01-01 00:00 to Thu 1970-01-01 09:00, Thu 1970-01-01 "
         "17:30 to Fri 1970-01-02 09:00, Fri 1970-01-02 17:30 to Sat 1970-01-03 09:00 UTC.",
         fix},
        {POOL_OF("v1beta1", "expireAfter: 30m, budgets: [" BLOCK("20 * * * *", "40m") ALWAYS "]",
                 ""),
         "expireAfter is 30m, and no window is open for up to 40 min. Nodes cannot be replaced "
         "that soon. Next windows: Thu 1970-01-01 00:00 to Thu 1970-01-01 00:20, Thu 1970-01-01 "
         "01:00 to Thu 1970-01-01 01:20, Thu 1970-01-01 02:00 to Thu 1970-01-01 02:20 UTC.",
         fix},
    };
    rail_words_run("disruption-budgets: {}", NULL, rows, COUNT_OF(rows));
}

const char unit_suite[] = "policy disruption-budgets: expiry";
const struct unit_test unit_tests[] = {
    {"expiry is held against the windows", expiry_is_held_against_the_windows},
    {"windows must do for all nodes", windows_must_do_for_all_nodes},
    {"nodes that will end outside are named", nodes_that_will_end_outside_are_named},
    {"the hour at which a node ends counts", the_hour_at_which_a_node_ends_counts},
    {"it says how long no window opens", it_says_how_long_no_window_opens},
    {NULL, NULL},
};
