/* The rail disruption-budgets: schedules that cannot be read, windows that never open, too many
 * nodes at a time. */
#include "rail_modes.h"

#define POOL_OF(version, disruption, template)                                           \
    "{apiVersion: karpenter.sh/" version ", kind: NodePool, metadata: {name: a}, spec: " \
    "{disruption: {" disruption "}, template: {spec: {" template "}}}}"
#define NEVER "expireAfter: Never"
#define POOL(disruption) POOL_OF("v1", disruption, NEVER)
#define STATIC(disruption) POOL_OF("v1", disruption "}, replicas: 5, limits: {nodes: 6", NEVER)
#define BUDGETS(budgets) POOL("budgets: [" budgets "]")
#define WHEN_EMPTY(budgets) POOL("consolidationPolicy: WhenEmpty, budgets: [" budgets "]")
#define NOT_CONSOLIDATED(budgets) POOL("consolidateAfter: Never, budgets: [" budgets "]")
/* with a budget that is always active, and of which nothing is said: no number is as large */
#define BOUNDED(budgets) BUDGETS(budgets ", {nodes: '1'}")
#define BLOCK(schedule, duration) "{nodes: '0', schedule: '" schedule "', duration: " duration "}"
#define OFFICE BLOCK("0 9 * * mon-fri", "8h")
#define AT "spec.disruption.budgets"

static void what_cannot_be_read_is_found(void)
{
    static const struct rail_case cases[] = {
        {POOL(""), ""},
        {BUDGETS(""), "warn " AT " "},
        {BOUNDED("{nodes: 10%}"), ""},
        {BUDGETS("{nodes: '5'}, " OFFICE), ""},
        {BOUNDED(BLOCK("@daily", "10m")), ""},
        {BOUNDED(BLOCK("TZ=Europe/Berlin 0 9 * * *", "8h")),
         "deny " AT "[0].schedule TZ=Europe/Berlin 0 9 * * *"},
        {BOUNDED(BLOCK("0 0 9 * * 1-5", "8h")), "deny " AT "[0].schedule 0 0 9 * * 1-5"},
        {BOUNDED("{nodes: 10%}, " BLOCK("0 9 * * 7", "8h")), "deny " AT "[1].schedule 0 9 * * 7"},
        {BOUNDED(BLOCK("@dailyx", "8h")), "deny " AT "[0].schedule @dailyx"},
        {BOUNDED("{nodes: '0', schedule: 5, duration: 8h}"), "deny " AT "[0].schedule "},
        {BOUNDED(BLOCK("0 9 * * *", "8d")), "deny " AT "[0].duration 8d"},
        {BOUNDED("{nodes: '0', schedule: '0 9 * * *'}"), "deny " AT "[0].duration "},
        /* one of no time is never active */
        {BOUNDED(BLOCK("0 9 * * *", "0h")), "deny " AT "[0].duration 0h"},
        {BOUNDED("{nodes: '5', schedule: '@daily', duration: 0h0m0s}"),
         "deny " AT "[0].duration 0h0m0s"},
        {BUDGETS(BLOCK("0 9 * * *", "0h")), "deny " AT "[0].duration 0h"},
        {BOUNDED(BLOCK("0 9 * * *", "0h1m")), ""},
        {BOUNDED(BLOCK("0 9 * * 7", "0h")), "deny " AT "[0].schedule 0 9 * * 7"},
        {BOUNDED("{nodes: 1%, schedule: '0 0 30 2 *', duration: 0h}"),
         "deny " AT "[0].schedule 0 0 30 2 *"},
        {BOUNDED("{nodes: '0', duration: 0h}"), "deny " AT "[0].schedule "},
        {BOUNDED("{nodes: '0', duration: 8h}"), "deny " AT "[0].schedule "},
        {BOUNDED("{nodes: ten}"), "deny " AT "[0].nodes ten"},
        {BOUNDED("{nodes: 110%}"), "deny " AT "[0].nodes 110%"},
        {BUDGETS("{nodes: 5}"), "deny " AT "[0].nodes 5"},
        {BOUNDED("{}"), ""},
        {BUDGETS("null, 5"), ""},
        /* what a chart leaves empty is not there: no schedule, and 10 % of the nodes */
        {BOUNDED("{nodes: null, schedule: null, duration: null}"), ""},
        {BOUNDED("{nodes: '0', schedule: null, duration: 8h}"), "deny " AT "[0].schedule "},
        {BOUNDED("{nodes: '0', schedule: '@daily', duration: null}"), "deny " AT "[0].duration "},
        /* all that is wrong is said at once */
        {BOUNDED("{nodes: ten, schedule: '0 9 * * 7', duration: 8d}"),
         "deny " AT "[0].duration 8d\ndeny " AT "[0].nodes ten\ndeny " AT "[0].schedule 0 9 * * 7"},
        {BOUNDED("{nodes: ten}, {nodes: 5%}, {nodes: -1}"),
         "deny " AT "[0].nodes ten\ndeny " AT "[2].nodes -1"},
        /* whether it blocks for ever is asked when all can be read */
        {BOUNDED("{nodes: '0'}, {nodes: ten}"), "deny " AT "[1].nodes ten"},
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
        {BOUNDED("{nodes: '0'}"), "deny " AT "[0].nodes 0"},
        {BOUNDED("{nodes: 10%}, {nodes: 0%}"), "deny " AT "[1].nodes 0%"},
        {BOUNDED(REASONS("Drifted, Underutilized")), ""},
        {BOUNDED(REASONS("")), "deny " AT "[0].reasons "},
        {BOUNDED("{nodes: '0', reasons: null}"), "deny " AT "[0].nodes 0"},
        {BOUNDED(REASONS("Drifted, Underutilized, Empty")), "deny " AT "[0].nodes 0"},
        {BOUNDED(REASONS("Drifted, Empty")), ""},
        {BOUNDED(REASONS("Empty, Underutilized")), ""},
        {BOUNDED(REASONS("Drifted") ", " REASONS("Drifted, Empty")), ""},
        {BOUNDED(REASONS("Empty") ", " REASONS("Drifted, Underutilized")),
         "deny " AT "[1].nodes 0"},
        {BOUNDED(REASONS("Underutilized") ", " REASONS("Drifted") ", " REASONS("Empty")),
         "deny " AT "[2].nodes 0"},
        {BOUNDED(REASONS("Underutilized") ", {nodes: '1', reasons: [Drifted]}, " REASONS("Empty")),
         ""},
        /* said once, at the budget that makes it complete */
        {BOUNDED("{nodes: '0'}, {nodes: 0%}"), "deny " AT "[0].nodes 0"},
        {BOUNDED("{nodes: '0'}, " OFFICE), "deny " AT "[0].nodes 0"},
        {BOUNDED(OFFICE ", {nodes: '0'}"), "deny " AT "[1].nodes 0"},
        /* a budget of one node lets one go */
        {BOUNDED("{nodes: '1'}"), ""},
        {BOUNDED("{nodes: 1%}"), ""},
        {BOUNDED(REASONS("Drifted") ", " REASONS("Empty, Underutilized")),
         "deny " AT "[1].nodes 0"},
        /* 30 February never comes, and Karpenter takes the budget to be active */
        {BOUNDED(BLOCK("0 0 30 2 *", "1h")),
         "deny " AT "[0].nodes 0\ndeny " AT "[0].schedule 0 0 30 2 *"},
        {BOUNDED("{nodes: 10%, schedule: '0 0 30 2 *', duration: 1h}"),
         "deny " AT "[0].schedule 0 0 30 2 *"},
        {BOUNDED(BLOCK("@hourly", "1h")), never_opens},
        {BOUNDED(BLOCK("@hourly", "59m")), ""},
        {BOUNDED(BLOCK("@daily", "24h")), never_opens},
        {BOUNDED(BLOCK("* * * * *", "1m")), never_opens},
        {BOUNDED(BLOCK("0 0 * * 1-5", "24h") ", " BLOCK("0 0 * * sat", "48h")), never_opens},
        {BOUNDED(BLOCK("0 0 * * 1-5", "24h") ", " BLOCK("0 0 * * sat", "47h")), ""},
        {BOUNDED(BLOCK("@monthly", "744h")), never_opens},
        {BOUNDED(BLOCK("@monthly", "740h")), ""},
        {BOUNDED(REASONS("Drifted") ", {nodes: '0', schedule: '* * * * *', duration: 1m, reasons: "
                                    "[Empty, Underutilized]}"),
         never_opens},
        {BOUNDED(REASONS("Drifted") ", {nodes: '0', schedule: '@daily', duration: 24h, reasons: "
                                    "[Empty, Underutilized]}"),
         never_opens},
        /* for what the pool has no reason nothing goes */
        {WHEN_EMPTY(REASONS("Drifted, Empty")), "deny " AT "[0].nodes 0"},
        {WHEN_EMPTY(REASONS("Drifted, Underutilized")), ""},
        {WHEN_EMPTY(REASONS("Drifted") ", " REASONS("Underutilized") ", " REASONS("Empty")),
         "deny " AT "[2].nodes 0"},
        {WHEN_EMPTY(REASONS("Drifted") ", " REASONS("Underutilized") ", {nodes: '1'}"), ""},
        {WHEN_EMPTY("{nodes: '0', schedule: '@daily', duration: 24h, reasons: [Empty, Drifted]}"),
         never_opens},
        {NOT_CONSOLIDATED(REASONS("Drifted")), "deny " AT "[0].nodes 0"},
        {NOT_CONSOLIDATED(REASONS("Empty, Underutilized") ", {nodes: '1', reasons: [Drifted]}"),
         ""},
        {STATIC("budgets: [" REASONS("Drifted") "]"), "deny " AT "[0].nodes 0"},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {WHEN_EMPTY(REASONS("Underutilized") ", " REASONS("Empty") ", " REASONS("Drifted")),
         "Budgets of 0 nodes hold at all times, and together they are for all reasons that this "
         "pool has (Empty, Drifted). Nodes are never consolidated, and drifted ones never "
         "replaced.",
         "Give spec.disruption.budgets[1] a schedule and a duration, or nodes: \"1\" or more."},
        {WHEN_EMPTY(REASONS("Empty, Drifted")),
         "A budget of \"0\" holds at all times and for all reasons that this pool has (Empty, "
         "Drifted). Nodes are never consolidated, and drifted ones never replaced.",
         "Give spec.disruption.budgets[0] a schedule and a duration, or nodes: \"1\" or more."},
        {WHEN_EMPTY("{nodes: '0'}"),
         "A budget of \"0\" holds at all times and for all reasons. Nodes are never consolidated, "
         "and drifted ones never replaced.",
         "Give the budget a schedule and a duration, or the reasons it is for."},
    };
    rail_words_run("disruption-budgets: {}", NULL, words, COUNT_OF(words));
}

static void windows_can_be_required(void)
{
    static const struct rail_case cases[] = {
        {BOUNDED(OFFICE), ""},
        {POOL(""), "deny " AT " "},
        {BOUNDED("{nodes: 10%}"), "deny " AT " "},
        {BOUNDED(BLOCK("0 9 * * *", "0h")), "deny " AT " \ndeny " AT "[0].duration 0h"},
        {BOUNDED(BLOCK("0 9 * * *", "0h") ", " OFFICE), "deny " AT "[0].duration 0h"},
        {BOUNDED("{nodes: '1', schedule: '0 9 * * mon-fri', duration: 8h}"), "deny " AT " "},
        {BOUNDED("{nodes: '0', schedule: '@daily', duration: 8h, reasons: [Drifted]}"),
         "deny " AT " "},
        {BOUNDED("{nodes: '0', schedule: '@daily', duration: 8h, reasons: [Drifted]}, " REASONS(
             "Empty, Underutilized")),
         ""},
        {BOUNDED(REASONS("Empty, Underutilized") ", {nodes: '0', schedule: '@daily', duration: 8h, "
                                                 "reasons: [Drifted]}"),
         ""},
        {BOUNDED("{nodes: '0', schedule: '@daily', duration: 8h, reasons: [Drifted, Empty]}, "
                 "{nodes: '0', schedule: '@daily', duration: 2h, reasons: [Underutilized]}"),
         ""},
        {BOUNDED("{nodes: '0', schedule: '@daily', duration: 8h, reasons: [Drifted, Empty]}, "
                 "{nodes: '1', reasons: [Underutilized]}"),
         "deny " AT " "},
        {BOUNDED("{nodes: '0'}"), "deny " AT "[0].nodes 0"},
        {WHEN_EMPTY("{nodes: '0', schedule: '@daily', duration: 8h, reasons: [Drifted, Empty]}, "
                    "{nodes: '1'}"),
         ""},
        {WHEN_EMPTY("{nodes: '0', schedule: '@daily', duration: 8h, reasons: [Drifted]}, {nodes: "
                    "'1'}"),
         "deny " AT " "},
        {NOT_CONSOLIDATED("{nodes: '0', schedule: '@daily', duration: 8h, reasons: [Drifted]}, "
                          "{nodes: '1'}"),
         ""},
        /* with windows, expiry is held against them as ever */
        {POOL_OF("v1", "budgets: [" OFFICE ", {nodes: 100%}]", "expireAfter: 720h"),
         "warn spec.template.spec.expireAfter 720h"},
        {POOL_OF("v1", "budgets: [{nodes: 10%}]", "expireAfter: 720h"), "deny " AT " "},
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
        {BUDGETS("{nodes: 50%}, {nodes: 5%}"), "warn " AT "[0] 50%"},
        {BUDGETS(""), "deny " AT " "},
        {BUDGETS("{nodes: '5'}"), "warn " AT "[0].nodes 5"},
        {BUDGETS("{nodes: '5'}, {nodes: 20%}"), ""},
        {BUDGETS("{nodes: 20%, reasons: [Drifted]}"), "deny " AT "[0].nodes 20%"},
        {BUDGETS("{nodes: 20%, reasons: [Drifted]}, {nodes: 1%, reasons: [Empty, Underutilized]}"),
         ""},
        {BUDGETS(OFFICE), "deny " AT " "},
        {BUDGETS("{nodes: 20%, schedule: '@daily', duration: 1h}, {nodes: 50%}"), "deny " AT " "},
        {BUDGETS("{nodes: 20%, schedule: '@daily', duration: 1h}"), "deny " AT " "},
        /* each reason is asked about */
        {BUDGETS("{nodes: 20%, reasons: [Empty, Drifted]}"), "deny " AT "[0].nodes 20%"},
        {BUDGETS("{nodes: 20%, reasons: [Empty, Underutilized]}"), "deny " AT "[0].nodes 20%"},
        {BUDGETS("{nodes: 20%, reasons: [Drifted, Underutilized]}"), "deny " AT "[0].nodes 20%"},
        {BUDGETS("{nodes: 1%, reasons: [Drifted]}, {nodes: 2%, reasons: [Empty]}, {nodes: 3%, "
                 "reasons: [Underutilized]}"),
         ""},
        /* but for those that the pool does not have */
        {WHEN_EMPTY("{nodes: 20%, reasons: [Empty, Drifted]}"), ""},
        {WHEN_EMPTY("{nodes: 20%, reasons: [Drifted, Underutilized]}"), "deny " AT "[0].nodes 20%"},
        {NOT_CONSOLIDATED("{nodes: 20%, reasons: [Drifted]}"), ""},
        /* none is as good as few, in either unit */
        {BUDGETS(REASONS("Drifted") ", {nodes: 20%, reasons: [Empty, Underutilized]}"), ""},
        /* what cannot be compared is warned of, what has no bound at all is denied */
        {BUDGETS("{nodes: '5'}, {nodes: 30%}"), "warn " AT " "},
        {BUDGETS("{nodes: 30%}, {nodes: '5'}"), "warn " AT " "},
        {BUDGETS("{nodes: '5', reasons: [Drifted]}"), "deny " AT "[0].nodes 5"},
        {BUDGETS("{nodes: '5', reasons: [Drifted]}, {nodes: 20%, reasons: [Empty, "
                 "Underutilized]}"),
         "warn " AT " "},
        {BUDGETS("{nodes: 20%, reasons: [Drifted]}, {nodes: '5', reasons: [Empty, "
                 "Underutilized]}"),
         "warn " AT " "},
        {BUDGETS("{nodes: '5', reasons: [Drifted]}, {nodes: 30%, reasons: [Empty, "
                 "Underutilized]}"),
         "deny " AT " "},
        /* one that is never active bounds nothing, and keeps nothing from being judged */
        {BUDGETS("{nodes: 100%}, " BLOCK("0 9 * * *", "0h")),
         "deny " AT "[0].nodes 100%\ndeny " AT "[1].duration 0h"},
        {BUDGETS(BLOCK("0 9 * * *", "0m") ", {nodes: 20%}"), "deny " AT "[0].duration 0m"},
        {BUDGETS("{nodes: 100%}, {nodes: 5%, reasons: []}"),
         "deny " AT "[0].nodes 100%\ndeny " AT "[1].reasons "},
        /* and what cannot be read, or never lets go, is not asked how many */
        {BUDGETS("{nodes: ten}"), "deny " AT "[0].nodes ten"},
        {BUDGETS("{nodes: '0'}"), "deny " AT "[0].nodes 0"},
    };
    rail_table_run(
        &(struct rail_table){"disruption-budgets: {maxNodes: 20%}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case numbers[] = {
        {BUDGETS("{nodes: '5'}"), ""},
        {BUDGETS("{nodes: '6'}"), "deny " AT "[0].nodes 6"},
        {BUDGETS("{nodes: 1%}"), "warn " AT "[0].nodes 1%"},
        {BUDGETS("{nodes: null}"), "warn " AT "[0].nodes 10%"},
        {BUDGETS("{nodes: 0%, reasons: [Drifted]}, {nodes: '4', reasons: [Empty, Underutilized]}"),
         ""},
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

/* The default of 10 % goes with the first budget that is written. */
static void some_budget_is_always_active(void)
{
#define UNBOUNDED "warn " AT " "
    static const struct rail_case cases[] = {
        {POOL(""), ""},
        {POOL("budgets: null"), ""},
        {BUDGETS(""), UNBOUNDED},
        {BUDGETS(OFFICE), UNBOUNDED},
        {BUDGETS(OFFICE ", {nodes: 10%}"), ""},
        {BUDGETS("{nodes: 100%}, " OFFICE), ""},
        /* by night two reasons have none, or one; that of empty nodes alone may go without */
        {BUDGETS(OFFICE ", {nodes: 10%, reasons: [Drifted]}"), UNBOUNDED},
        {BUDGETS(OFFICE ", {nodes: 10%, reasons: [Drifted, Empty]}"), UNBOUNDED},
        {BUDGETS(OFFICE ", {nodes: 10%, reasons: [Underutilized, Empty]}"), UNBOUNDED},
        {BUDGETS(OFFICE ", {nodes: 10%, reasons: [Drifted, Underutilized]}"), ""},
        {BUDGETS("{nodes: 10%, reasons: [Drifted]}, {nodes: '5', reasons: [Underutilized]}"), ""},
        {BUDGETS("{nodes: 10%, reasons: [Underutilized]}"), UNBOUNDED},
        {BUDGETS("{nodes: 10%, reasons: [Underutilized, Unhealthy]}, {nodes: 10%, reasons: "
                 "[Drifted], schedule: '0 9 * * *', duration: 8h}"),
         UNBOUNDED},
        /* nor does one that the pool does not have want any */
        {WHEN_EMPTY(OFFICE ", {nodes: 10%, reasons: [Drifted, Empty]}"), ""},
        {WHEN_EMPTY(OFFICE ", {nodes: 10%, reasons: [Underutilized, Empty]}"), UNBOUNDED},
        {NOT_CONSOLIDATED("{nodes: 10%, reasons: [Drifted]}"), ""},
        {BUDGETS("{nodes: '2', schedule: '0 9 * * *', duration: 8h}"), UNBOUNDED},
        {BUDGETS("{nodes: '0', schedule: '0 9 * * *', duration: 8h, reasons: [Empty]}"), UNBOUNDED},
        /* by day and by night, and an hour too few */
        {BUDGETS(BLOCK("0 9 * * *", "8h") ", {nodes: 20%, schedule: '0 17 * * *', duration: 16h}"),
         ""},
        {BUDGETS(BLOCK("0 9 * * *", "8h") ", {nodes: 20%, schedule: '0 17 * * *', duration: 15h}"),
         UNBOUNDED},
        /* of what cannot be read, or never lets go, that is not said as well */
        {BUDGETS(BLOCK("0 9 * * 7", "8h")), "deny " AT "[0].schedule 0 9 * * 7"},
        {BUDGETS("{nodes: 10%, schedule: '0 0 30 2 *', duration: 1h}"),
         "deny " AT "[0].schedule 0 0 30 2 *"},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case bounded[] = {{BUDGETS(OFFICE), "deny " AT " "}};
    rail_table_run(&(struct rail_table){"disruption-budgets: {maxNodes: 20%}", NULL, bounded, 1});
    static const char fix[] = "Add {nodes: \"10%\"}, which is always active.";
    static const struct rail_words words[] = {
        {BUDGETS(""),
         "With an empty list all nodes of the pool may be disrupted at once. The default of 10% "
         "counts only where no budgets are written.",
         fix},
        {BUDGETS(OFFICE),
         "At times no budget is active, and all nodes of the pool may be disrupted at once. The "
         "default of 10% counts only where no budgets are written.",
         fix},
        {BUDGETS(OFFICE ", {nodes: 50%, reasons: [Drifted, Empty]}"),
         "At times no budget is active for the reason Underutilized. Then all such nodes may be "
         "disrupted at once.",
         "Add {nodes: \"50%\", reasons: [Underutilized]}, which is always active."},
        /* as many as another lets go, or that one would be idle */
        {BUDGETS("{nodes: 30%, schedule: '0 9 * * *', duration: 8h}"),
         "At times no budget is active, and all nodes of the pool may be disrupted at once. The "
         "default of 10% counts only where no budgets are written.",
         "Add {nodes: \"30%\"}, which is always active."},
    };
    rail_words_run("disruption-budgets: {}", NULL, words, COUNT_OF(words));
}

#define SATURDAY ", schedule: '0 0 * * sat', duration: 24h"

/* Karpenter takes the smallest of those that are active and for the reason. */
static void the_smallest_budget_counts(void)
{
    static const struct rail_case cases[] = {
        {BUDGETS("{nodes: 33%" SATURDAY "}, {nodes: 10%}"), "warn " AT "[0] 33%"},
        {BUDGETS("{nodes: 10%}, {nodes: 33%" SATURDAY "}"), "warn " AT "[1] 33%"},
        {BUDGETS("{nodes: 10%" SATURDAY "}, {nodes: 33%}"), ""},
        {BUDGETS("{nodes: 10%}, {nodes: 10%" SATURDAY "}"), ""},
        /* how many nodes a share is depends on the pool */
        {BUDGETS("{nodes: '2'}, {nodes: 33%}"), ""},
        {BUDGETS("{nodes: '2'}, {nodes: 99%}"), ""},
        {BUDGETS("{nodes: '2'}, {nodes: 100%}"), "warn " AT "[1] 100%"},
        {BUDGETS("{nodes: 100%}, {nodes: 100%}"), ""},
        {BUDGETS("{nodes: '2'}, {nodes: '3'}"), "warn " AT "[1] 3"},
        {BUDGETS(OFFICE ", {nodes: 100%}"), ""},
        /* of the same hours, and of fewer */
        {BUDGETS("{nodes: '1'" SATURDAY "}, {nodes: '3'" SATURDAY "}, {nodes: '9'}"),
         "warn " AT "[1] 3"},
        {BUDGETS("{nodes: '1', schedule: '0 0 * * sat', duration: 23h}, {nodes: '3'" SATURDAY
                 "}, {nodes: '9'}"),
         ""},
        {BUDGETS("{nodes: '1', schedule: '0 0 * * sun', duration: 24h}, {nodes: '3'" SATURDAY
                 "}, {nodes: '9'}"),
         ""},
        /* for each of its reasons */
        {BUDGETS("{nodes: 100%, reasons: [Empty]}, {nodes: 10%}"), "warn " AT "[0] 100%"},
        {BUDGETS("{nodes: 20%, reasons: [Empty]}, {nodes: 10%, reasons: [Drifted]}, {nodes: 30%}"),
         ""},
        {BUDGETS("{nodes: 20%, reasons: [Empty, Underutilized]}, {nodes: 10%, reasons: [Drifted]}, "
                 "{nodes: 30%, reasons: [Drifted, Empty]}"),
         "warn " AT "[2] 30%"},
        {BUDGETS(REASONS("Drifted") ", {nodes: 10%, reasons: [Drifted]}, {nodes: 20%}"),
         "warn " AT "[1] 10%"},
        /* one without reasons is for the repair of nodes, too */
        {BUDGETS("{nodes: 10%, reasons: [Underutilized, Empty, Drifted]}, {nodes: 20%}"), ""},
        {BUDGETS("{nodes: 10%, reasons: [Underutilized, Empty, Drifted]}, {nodes: 5%, reasons: "
                 "[Unhealthy]}, {nodes: 20%}"),
         "warn " AT "[2] 20%"},
        {BUDGETS("{nodes: 20%, reasons: [Unhealthy]}, {nodes: 10%}"), "warn " AT "[0] 20%"},
        {BUDGETS("{nodes: 10%, reasons: [Unhealthy]}, {nodes: 20%}"), ""},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
#define IDLE(own, other)                                                                     \
    "The budget of " own " has no effect. Karpenter takes the smallest that is active, and " \
    "that of " other " is active whenever it is."
    static const struct rail_words words[] = {
        {BUDGETS("{nodes: 33%" SATURDAY "}, {nodes: 10%}"), IDLE("33%", "10%"),
         "Remove it, or give the budget of 10% the other hours as schedule and duration."},
        {BUDGETS("{nodes: 100%, reasons: [Empty]}, {nodes: 10%}"), IDLE("100%", "10%"),
         "Remove it, or limit the budget of 10% to reasons: [Underutilized, Drifted]."},
        {BUDGETS("{nodes: 33%, reasons: [Drifted]" SATURDAY "}, {nodes: 10%}"), IDLE("33%", "10%"),
         "Remove it, or split the budget of 10%: at all times for [Underutilized, Empty], and for "
         "[Drifted] with a schedule of the other hours."},
        {BUDGETS("{nodes: '3'}, {nodes: '2'}"), IDLE("3", "2"), "Remove it."},
        {BUDGETS("{nodes: 20%, reasons: [Unhealthy]}, {nodes: 10%}"), IDLE("20%", "10%"),
         "Remove it, or limit the budget of 10% to reasons: [Underutilized, Empty, Drifted]."},
        {BUDGETS("{nodes: 20%, reasons: [Unhealthy]" SATURDAY "}, {nodes: 10%}"),
         IDLE("20%", "10%"),
         "Remove it, or split the budget of 10%: at all times for [Underutilized, Empty, Drifted], "
         "and for [Unhealthy] with a schedule of the other hours."},
        /* no advice adds the reason Unhealthy */
        {BUDGETS("{nodes: '3', reasons: [Underutilized, Empty, Drifted]}, {nodes: '2'}"),
         IDLE("3", "2"), "Remove it."},
    };
    rail_words_run("disruption-budgets: {}", NULL, words, COUNT_OF(words));
    /* in place of the smaller one, which the policy wants, it may not count */
    static const struct rail_words bounded[] = {
        {BUDGETS("{nodes: 5%}, {nodes: 50%, reasons: [Empty]}"), IDLE("50%", "5%"), "Remove it."},
        {BUDGETS("{nodes: 5%}, {nodes: 50%, schedule: '@daily', duration: 8h}"), IDLE("50%", "5%"),
         "Remove it."},
        {BUDGETS("{nodes: 5%}, {nodes: 8%, schedule: '@daily', duration: 8h}"), IDLE("8%", "5%"),
         "Remove it."},
        {BUDGETS("{nodes: 5%}, {nodes: 10%, reasons: [Empty]}"), IDLE("10%", "5%"),
         "Remove it, or limit the budget of 5% to reasons: [Underutilized, Drifted]."},
        {BUDGETS("{nodes: '5', reasons: [Empty]}, {nodes: '2'}, {nodes: 10%}"), IDLE("5", "2"),
         "Remove it."},
    };
    rail_words_run("disruption-budgets: {maxNodes: 10%}", NULL, bounded, COUNT_OF(bounded));
    static const struct rail_words windows[] = {
        {BUDGETS("{nodes: '0'" SATURDAY "}, {nodes: '3', reasons: [Empty]" SATURDAY
                 "}, {nodes: '9'}"),
         IDLE("3", "0"), "Remove it."},
        {BUDGETS("{nodes: '2', reasons: [Empty]}, {nodes: '1'}, " OFFICE), IDLE("2", "1"),
         "Remove it, or limit the budget of 1 to reasons: [Underutilized, Drifted]."},
    };
    rail_words_run("disruption-budgets: {requireWindow: true}", NULL, windows, COUNT_OF(windows));
}

#define HALF_EMPTY(policy)                                                                       \
    "consolidationPolicy WhenEmpty keeps half-empty nodes, and is not allowed here. " policy " " \
    "evicts their pods."

/* Advice is in the words of the object's API version, and keeps to what pods may ask for. */
static void policies_are_advised_in_words_of_the_version(void)
{
#define OLD_POOL(disruption) POOL_OF("v1beta1", disruption ", expireAfter: Never", "")
    static const struct rail_words moving[] = {
        {POOL("consolidationPolicy: WhenEmpty"), HALF_EMPTY("WhenEmptyOrUnderutilized"),
         "Set it to WhenEmptyOrUnderutilized, and give pods that must stay "
         "karpenter.sh/do-not-disrupt: \"true\", or ask for an exception."},
        {OLD_POOL("consolidationPolicy: WhenEmpty, consolidateAfter: 30s"),
         HALF_EMPTY("WhenUnderutilized"),
         "Set it to WhenUnderutilized and remove consolidateAfter, and give pods that must stay "
         "karpenter.sh/do-not-disrupt: \"true\", or ask for an exception."},
    };
    rail_words_run(
        "disruption-budgets: {consolidationPolicies: [WhenEmptyOrUnderutilized, Balanced]}", NULL,
        moving, COUNT_OF(moving));
    static const struct rail_words bounded[] = {
        {POOL("consolidationPolicy: WhenEmpty"), HALF_EMPTY("WhenEmptyOrUnderutilized"),
         "Set it to WhenEmptyOrUnderutilized, and give pods that must stay "
         "karpenter.sh/do-not-disrupt: \"24h\" (Karpenter 1.12 or newer), or ask for an "
         "exception."},
        {OLD_POOL("consolidationPolicy: WhenEmpty"), HALF_EMPTY("WhenUnderutilized"),
         "Set it to WhenUnderutilized, or ask for an exception."},
    };
    rail_words_run("disruption-budgets: {consolidationPolicies: [WhenEmptyOrUnderutilized]}"
                   ", disruption-opt-out: {maxDuration: 24h}",
                   NULL, bounded, COUNT_OF(bounded));
    static const struct rail_words refused[] = {
        {POOL("consolidationPolicy: WhenEmpty"), HALF_EMPTY("Balanced"),
         "Set it to Balanced, or ask for an exception."},
        {OLD_POOL("consolidationPolicy: WhenEmpty, consolidateAfter: 30s"),
         "consolidationPolicy WhenEmpty is not allowed here.",
         "Convert the pool to v1 (taffrail convert), which has the policies that are allowed."},
    };
    rail_words_run("disruption-budgets: {consolidationPolicies: [Balanced]}"
                   ", disruption-opt-out: {}",
                   NULL, refused, COUNT_OF(refused));
    static const struct rail_words resting[] = {
        {POOL("consolidationPolicy: Balanced"), "consolidationPolicy Balanced is not allowed here.",
         "Set it to WhenEmpty."},
        {OLD_POOL("consolidationPolicy: WhenUnderutilized"),
         "consolidationPolicy WhenUnderutilized is not allowed here.",
         "Set it to WhenEmpty with consolidateAfter: 30s."},
        {POOL_OF("v1beta1", "expireAfter: Never", ""),
         "Without consolidationPolicy it is WhenUnderutilized, which is not allowed here.",
         "Set it to WhenEmpty with consolidateAfter: 30s."},
    };
    rail_words_run("disruption-budgets: {consolidationPolicies: [WhenEmpty]}", NULL, resting,
                   COUNT_OF(resting));
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
        {POOL("consolidationPolicy: null"), "deny spec.disruption.consolidationPolicy "},
        /* a fixed number of nodes is never consolidated; what is no policy is none there as well */
        {STATIC(""), ""},
        {STATIC("consolidationPolicy: Balanced"), ""},
        {STATIC("consolidationPolicy: Never"), "deny spec.disruption.consolidationPolicy Never"},
        /* beside budgets that cannot be read, too */
        {POOL("consolidationPolicy: Balanced, budgets: [{nodes: ten}]"),
         "deny " AT "[0].nodes ten\ndeny spec.disruption.consolidationPolicy Balanced"},
    };
    rail_table_run(&(struct rail_table){"disruption-budgets: {consolidationPolicies: [WhenEmpty]}",
                                        NULL, cases, COUNT_OF(cases)});
    static const struct rail_case either[] = {
        {POOL("consolidationPolicy: WhenEmptyOrUnderutilized"), ""},
        {POOL("consolidationPolicy: Balanced"), ""},
        {POOL(""), ""},
        {POOL_OF("v1beta1", "consolidationPolicy: WhenUnderutilized, expireAfter: Never", ""), ""},
        {POOL_OF("v1beta1", "expireAfter: Never", ""), ""},
        {POOL("consolidationPolicy: WhenEmpty"),
         "deny spec.disruption.consolidationPolicy WhenEmpty"},
    };
    rail_table_run(&(struct rail_table){
        "disruption-budgets: {consolidationPolicies: [Balanced, WhenEmptyOrUnderutilized]}", NULL,
        either, COUNT_OF(either)});
}

static void it_says_how_many_are_too_many(void)
{
    static const char fix[] = "Add {nodes: \"20%\"}, a budget without a schedule.";
    static const char larger[] =
        "Add {nodes: \"20%\"}, a budget without a schedule, and remove what is larger.";
    static const struct rail_words rows[] = {
        {BUDGETS("{nodes: 21%}"), "The budget of 21% is above the maximum of 20%.",
         "Set nodes: \"20%\"."},
        {BUDGETS("{nodes: 20%, reasons: [Drifted]}"),
         "No budget keeps disruption to 20% of the nodes at a time, at all times and for all "
         "reasons.",
         fix},
        {BUDGETS(""),
         "No budget keeps disruption to 20% of the nodes at a time, at all times and for all "
         "reasons.",
         fix},
        {BUDGETS("{nodes: '5'}"),
         "A budget in numbers of nodes cannot be compared with the maximum of 20%.", fix},
        {BUDGETS("{nodes: 30%}, {nodes: '5'}"),
         "A budget in numbers of nodes cannot be compared with the maximum of 20%.", larger},
        {BUDGETS("{nodes: '5', reasons: [Drifted]}"),
         "No budget keeps disruption to 20% of the nodes at a time, at all times and for all "
         "reasons.",
         fix},
        {BUDGETS("{nodes: 30%}, {nodes: 40%}"),
         "No budget keeps disruption to 20% of the nodes at a time, at all times and for all "
         "reasons.",
         larger},
        {BUDGETS("{nodes: 20%, schedule: '@daily', duration: 1h}"),
         "No budget keeps disruption to 20% of the nodes at a time, at all times and for all "
         "reasons.",
         fix},
    };
    rail_words_run("disruption-budgets: {maxNodes: 20%}", NULL, rows, COUNT_OF(rows));
    /* where nothing is written there is one budget */
    static const struct rail_words unwritten = {
        POOL(""), "The budget of 10% is above the maximum of 5%.",
        "Add {nodes: \"5%\"}, a budget without a schedule."};
    rail_words_run("disruption-budgets: {maxNodes: 5%}", NULL, &unwritten, 1);
    static const struct rail_words policies[] = {
        {POOL("consolidationPolicy: WhenEmpty"), HALF_EMPTY("Balanced"),
         "Set it to Balanced, and give pods that must stay karpenter.sh/do-not-disrupt: "
         "\"true\", or ask for an exception."},
        {POOL("consolidationPolicy: X"), "consolidationPolicy X is not allowed here.",
         "Set it to Balanced."},
    };
    rail_words_run(
        "disruption-budgets: {consolidationPolicies: [Balanced, WhenEmptyOrUnderutilized]}", NULL,
        policies, COUNT_OF(policies));
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
    {"some budget is always active", some_budget_is_always_active},
    {"the smallest budget counts", the_smallest_budget_counts},
    {"policies are allowed by name", policies_are_allowed_by_name},
    {"policies are advised in words of the version", policies_are_advised_in_words_of_the_version},
    {"it says how many are too many", it_says_how_many_are_too_many},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
