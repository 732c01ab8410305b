/* The rail pod-disruption-budgets: those that never let a pod go, and two on one pod. */
#include "rail_modes.h"

#define BUDGET(name, app, more)                                                              \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: " name "}, spec: {" \
    "selector: {matchLabels: {app: " app "}}, " more "}}"
#define WORKLOAD_AS(kind, meta, app, replicas)                                                \
    "---\n{apiVersion: apps/v1, kind: " kind ", metadata: {name: " meta "}, spec: {" replicas \
    "template: {metadata: {labels: {app: " app "}}}}}\n"
#define WORKLOAD(kind, app, replicas) WORKLOAD_AS(kind, app, app, replicas)
#define SELECTS_AS(name, selector)                                                           \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: " name "}, spec: {" \
    "selector: " selector ", maxUnavailable: 1}}\n"
#define SELECTS(selector) SELECTS_AS("new", selector)
#define LEAST "spec.minAvailable "
#define MOST "spec.maxUnavailable "

#define JOB(name, namespace)                                        \
    "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: " name \
    ", namespace: " namespace "}, spec: {template: {metadata: {labels: {app: job}}}}}\n"
#define OTHER_POD(meta) "---\n{apiVersion: v1, kind: Pod, metadata: {" meta "}}\n"

#define FEWER \
    "Write minAvailable instead, less than the number of these pods, or select none of them."

#define NEITHER \
    "The budget says neither minAvailable nor maxUnavailable, so it never allows a disruption."

#define ONE WORKLOAD("Deployment", "one", "replicas: 1, ")
#define TWO WORKLOAD("StatefulSet", "two", "replicas: 2, ")
#define THREE WORKLOAD("Deployment", "three", "replicas: 3, ")
#define NONE WORKLOAD("Deployment", "none", "replicas: 0, ")
#define OF_THREE WORKLOAD_AS("ReplicaSet", "three-abc" OWNED, "three", "replicas: 3, ")
#define OWNED                                                                           \
    ", ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: three, uid: u, " \
    "controller: true}]"
#define FAR WORKLOAD_AS("Deployment", "far, namespace: other", "far", "")

static const char cluster[] = ONE TWO THREE NONE OF_THREE FAR JOB("job", "default");

static void budgets_that_never_let_a_pod_go(void)
{
    static const struct rail_case cases[] = {
        {BUDGET("a", "three", "maxUnavailable: 1"), ""},
        {BUDGET("a", "three", "maxUnavailable: 0"), "deny " MOST "0"},
        {BUDGET("a", "three", "maxUnavailable: 0%"), "deny " MOST "0%"},
        {BUDGET("a", "three", "maxUnavailable: 1%"), ""}, /* rounded up to one */
        {BUDGET("a", "three", "minAvailable: 100%"), "deny " LEAST "100%"},
        {BUDGET("a", "three", "minAvailable: 2"), ""},
        {BUDGET("a", "three", "minAvailable: 3"), "deny " LEAST "3"},
        {BUDGET("a", "three", "minAvailable: 4"), "deny " LEAST "4"},
        {BUDGET("a", "three", "minAvailable: 66%"), ""},
        {BUDGET("a", "three", "minAvailable: 67%"), "deny " LEAST "67%"},
        {BUDGET("a", "one", "minAvailable: 1"), "deny " LEAST "1"},
        {BUDGET("a", "one", "minAvailable: 1%"), "deny " LEAST "1%"},
        {BUDGET("a", "one", "minAvailable: 0"), ""},
        {BUDGET("a", "two", "minAvailable: 1"), ""},
        {BUDGET("a", "two", "minAvailable: 50%"), ""},
        {BUDGET("a", "two", "minAvailable: 51%"), "deny " LEAST "51%"},
        {BUDGET("a", "none", "minAvailable: 1"), ""},
        {BUDGET("a", "elsewhere", "minAvailable: 1"), ""},
        {BUDGET("a", "far", "minAvailable: 1"), ""}, /* in another namespace */
        {BUDGET("a", "job", "minAvailable: 1"), ""},
        {BUDGET("a", "job", "maxUnavailable: 1"), "deny " MOST "1"},
        {BUDGET("a", "job", "minAvailable: 50%"), "deny " LEAST "50%"},
        {BUDGET("a", "three", "minAvailable: 99%"), "deny " LEAST "99%"},
        {BUDGET("a", "one", "minAvailable: 0%"), ""},
        {BUDGET("a", "none", "minAvailable: 50%"), ""},
        {BUDGET("a", "none", "minAvailable: 100%"), "deny " LEAST "100%"},
        {BUDGET("a", "job", "minAvailable: 0"), ""},
        {BUDGET("a", "job", "minAvailable: 0%"), "deny " LEAST "0%"},
        {BUDGET("a", "job", "maxUnavailable: some"), ""},
        {BUDGET("a", "job", "maxUnavailable: [1]"), ""},
        /* none may go, and nothing could be reckoned anyway */
        {BUDGET("a", "job", "maxUnavailable: 0"), "deny " MOST "0"},
        {BUDGET("a", "job", "minAvailable: 100%"), "deny " LEAST "100%"},
        /* what the API server refuses, read as it stands */
        {BUDGET("a", "three", "maxUnavailable: -1"), "deny " MOST "-1"},
        {BUDGET("a", "three", "maxUnavailable: '-1%'"), "deny " MOST "-1%"},
        {BUDGET("a", "three", "maxUnavailable: 200%"), ""},
        {BUDGET("a", "three", "maxUnavailable: '%'"), ""},
        {BUDGET("a", "three", "maxUnavailable: ''"), ""},
        {BUDGET("a", "three", "minAvailable: -1"), ""},
        {BUDGET("a", "three", "minAvailable: '-1%'"), ""},
        {BUDGET("a", "three", "minAvailable: 200%"), "deny " LEAST "200%"},
        {BUDGET("a", "three", "minAvailable: [1]"), ""},
        {BUDGET("a", "three", "minAvailable: many"), ""},
        /* with neither the controller expects no pods */
        {BUDGET("a", "three", ""), "deny " MOST},
        {BUDGET("a", "three", "minAvailable: null, maxUnavailable: null"), "deny " MOST},
        {BUDGET("a", "three", "minAvailible: 1"), "deny " MOST},
        {BUDGET("a", "elsewhere", ""), "deny " MOST},
        {BUDGET("a", "three", "minAvailable: null, maxUnavailable: 1"), ""},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: "
         "{maxUnavailable: 0}}",
         "warn spec.selector "}, /* selects nothing */
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {}}",
         "warn spec.selector "},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: "
         "{selector: {}, minAvailable: 6}}",
         "deny " LEAST "6"},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: "
         "{selector: {}, minAvailable: 5}}",
         ""},
    };
    rail_table_run(
        &(struct rail_table){"pod-disruption-budgets: {}", cluster, cases, COUNT_OF(cases)});
}

static void shares_of_many(void)
{
    static const char many[] = WORKLOAD("Deployment", "hundred", "replicas: 100, ")
        WORKLOAD("Deployment", "endless", "replicas: 9223372036854775807, ")
            WORKLOAD("StatefulSet", "endless", "replicas: 9223372036854775807, ")
                WORKLOAD("Deployment", "less", "replicas: -9223372036854775808, ")
                    WORKLOAD("StatefulSet", "less", "replicas: -9223372036854775808, ");
    static const struct rail_case cases[] = {
        {BUDGET("a", "hundred", "minAvailable: 99"), ""},
        {BUDGET("a", "hundred", "minAvailable: 99%"), ""},
        {BUDGET("a", "hundred", "minAvailable: 100"), "deny " LEAST "100"},
        /* more than the API server takes */
        {BUDGET("a", "endless", "minAvailable: 100"), ""},
        {BUDGET("a", "endless", "minAvailable: 99%"), ""},
        {BUDGET("a", "less", "minAvailable: 1"), ""},
        {BUDGET("a", "less", "minAvailable: 99%"), ""},
    };
    rail_table_run(
        &(struct rail_table){"pod-disruption-budgets: {}", many, cases, COUNT_OF(cases)});
}

static void jobs_of_other_namespaces(void)
{
    static const struct rail_case cases[] = {{BUDGET("a", "job", "maxUnavailable: 1"), ""}};
    rail_table_run(&(struct rail_table){"pod-disruption-budgets: {}", JOB("a", "other"), cases,
                                        COUNT_OF(cases)});
}

/* What has no subresource scale: the disruption controller cannot reckon, and allows nothing. */
static void nobody_says_how_many_pods_there_are(void)
{
#define CRON(name, more)                                                                  \
    "---\n{apiVersion: batch/v1, kind: CronJob, metadata: {name: " name "}, spec: {" more \
    "jobTemplate: {spec: {template: {metadata: {labels: {app: " name "}}}}}}}\n"
    static const char uncounted[] =
        WORKLOAD("DaemonSet", "agent", "") WORKLOAD("Deployment", "mixed", "replicas: 1, ")
            WORKLOAD_AS("DaemonSet", "beside", "mixed", "") CRON("cron", "suspend: false, ")
                CRON("idle", "suspend: true, ")
                    WORKLOAD_AS("DaemonSet", "far, namespace: other", "away", "")
                        WORKLOAD("Deployment", "job", "replicas: 1, ") JOB("j", "default");
    static const struct rail_case cases[] = {
        {BUDGET("a", "agent", "maxUnavailable: 1"), "deny " MOST "1"},
        {BUDGET("a", "agent", "maxUnavailable: 100%"), "deny " MOST "100%"},
        {BUDGET("a", "agent", "minAvailable: 50%"), "deny " LEAST "50%"},
        {BUDGET("a", "agent", "minAvailable: 1"), ""},
        {BUDGET("a", "agent", "maxUnavailable: 0"), "deny " MOST "0"},
        {BUDGET("a", "agent", "minAvailable: 100%"), "deny " LEAST "100%"},
        {BUDGET("a", "cron", "maxUnavailable: 1"), "deny " MOST "1"},
        {BUDGET("a", "cron", "minAvailable: 1%"), "deny " LEAST "1%"},
        {BUDGET("a", "cron", "minAvailable: 1"), ""},
        {BUDGET("a", "idle", "maxUnavailable: 1"), ""},
        {BUDGET("a", "away", "maxUnavailable: 1"), ""},
        /* the pods of the DaemonSet may be enough */
        {BUDGET("a", "mixed", "minAvailable: 1"), ""},
        {BUDGET("a", "mixed", "minAvailable: 51%"), "deny " LEAST "51%"},
        /* those of the Job are there for a while */
        {BUDGET("a", "job", "minAvailable: 1"), "deny " LEAST "1"},
        {BUDGET("a", "job", "minAvailable: 51%"), "deny " LEAST "51%"},
        {BUDGET("a", "job", "maxUnavailable: 1"), "deny " MOST "1"},
    };
    rail_table_run(
        &(struct rail_table){"pod-disruption-budgets: {}", uncounted, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {BUDGET("a", "agent", "maxUnavailable: 1"),
         "DaemonSet agent says no number of replicas, so the budget never allows a disruption.",
         FEWER},
        {BUDGET("a", "cron", "minAvailable: 50%"),
         "CronJob cron says no number of replicas, so the budget never allows a disruption.",
         "Write minAvailable as a number, less than that of these pods, or select none of them."},
        {BUDGET("a", "agent", "maxUnavailable: 0"),
         "With maxUnavailable 0 no pod may ever be evicted, so their nodes are never replaced.",
         "Write minAvailable instead, less than the number of these pods."},
        {BUDGET("a", "job", "minAvailable: 100%"),
         "With minAvailable 100% no pod may ever be evicted, so their nodes are never replaced.",
         "Write minAvailable as a number, less than that of these pods."},
        {BUDGET("a", "job", "minAvailable: 1"),
         "1 must stay and Deployment job has 1, so none may be evicted while no pods of Job j run.",
         "Run 2 replicas or more, or set minAvailable lower."},
        {BUDGET("a", "agent", ""), NEITHER,
         "Write minAvailable as a number, less than that of these pods."},
    };
    rail_words_run("pod-disruption-budgets: {}", uncounted, words, COUNT_OF(words));
    static const struct rail_case shared[] = {
        {BUDGET("a", "agent", "minAvailable: 0"), "deny spec.selector all"},
        {BUDGET("a", "cron", "minAvailable: 0"), "deny spec.selector all"},
    };
    rail_table_run(&(struct rail_table){"pod-disruption-budgets: {}",
                                        WORKLOAD("DaemonSet", "agent", "")
                                            CRON("cron", "") "---\n" SELECTS_AS("all", "{}"),
                                        shared, COUNT_OF(shared)});
}

/* They are healthy as others are, and no replicas of which a share is reckoned. */
static void pods_without_a_controller(void)
{
#define LABELLED(name, app, more) OTHER_POD("name: " name ", labels: {app: " app "}" more)
#define OF_KIND(api, kind)                                                        \
    ", ownerReferences: [{apiVersion: " api ", kind: " kind ", name: o, uid: u, " \
    "controller: true}]"
#define DONE                                                                                 \
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: done, labels: {app: bare}}, status: " \
    "{phase: Succeeded}}\n"
    static const char bare[] =
        THREE ONE LABELLED("x", "bare", "") LABELLED("w", "two", "") LABELLED("z", "two", "")
            LABELLED("one", "one", "") LABELLED("far", "bare", ", namespace: o")
                DONE LABELLED("going", "bare", ", deletionTimestamp: '2026-01-01T00:00:00Z'")
                    LABELLED("rs", "two", OF_KIND("apps/v1", "ReplicaSet"))
                        LABELLED("s", "some", "")
                            LABELLED("t", "some", OF_KIND("argoproj.io/v1", "Rollout"));
    static const struct rail_case cases[] = {
        {BUDGET("a", "bare", "maxUnavailable: 1"), "deny " MOST "1"},
        {BUDGET("a", "bare", "minAvailable: 50%"), "deny " LEAST "50%"},
        {BUDGET("a", "bare", "minAvailable: 1"), "deny " LEAST "1"},
        {BUDGET("a", "bare", "minAvailable: 0"), ""},
        {BUDGET("a", "two", "minAvailable: 1"), ""},
        {BUDGET("a", "two", "minAvailable: 2"), "deny " LEAST "2"},
        {BUDGET("a", "two", "maxUnavailable: 50%"), "deny " MOST "50%"},
        /* beside a workload */
        {BUDGET("a", "one", "minAvailable: 1"), ""},
        {BUDGET("a", "one", "minAvailable: 2"), "deny " LEAST "2"},
        {BUDGET("a", "one", "maxUnavailable: 1"), ""},
        /* how many replicas a custom resource says is not known */
        {BUDGET("a", "some", "maxUnavailable: 1"), ""},
        {BUDGET("a", "some", "minAvailable: 1"), ""},
    };
    static const struct rail_case unseen[] = {
        {BUDGET("a", "bare", "maxUnavailable: 1"), "undecided " MOST "1"},
        {BUDGET("a", "bare", "minAvailable: 50%"), "undecided " LEAST "50%"},
        {BUDGET("a", "bare", "minAvailable: 0"), ""},
    };
    static const struct rail_case number = {BUDGET("a", "bare", "minAvailable: 1"), ""};
    static const struct rail_words words[] = {
        {BUDGET("a", "bare", "maxUnavailable: 1"),
         "Pod x has no controller that says a number of replicas. With such pods alone the budget "
         "never allows a disruption.",
         FEWER},
        {BUDGET("a", "bare", "maxUnavailable: 0"),
         "With maxUnavailable 0 no pod may ever be evicted, so their nodes are never replaced.",
         "Write minAvailable instead, less than the number of these pods."},
        {BUDGET("a", "two", "minAvailable: 100%"),
         "With minAvailable 100% no pod may ever be evicted, so their nodes are never replaced.",
         "Write minAvailable as a number, less than that of these pods."},
        {BUDGET("a", "bare", "minAvailable: 101%"),
         "101% is more than 100%, so the API server refuses this budget.",
         "Write minAvailable as a number, less than that of these pods."},
        {BUDGET("a", "one", "maxUnavailable: 0"),
         "With maxUnavailable 0 no pod may ever be evicted, so their nodes are never replaced.",
         "Set maxUnavailable: 1, and run two replicas or more where one must always run."},
        {BUDGET("a", "bare", ""), NEITHER,
         "Write minAvailable as a number, less than that of these pods."},
        {BUDGET("a", "one", ""), NEITHER,
         "Set maxUnavailable: 1, and run two replicas or more where one must always run."},
        {BUDGET("a", "bare", "minAvailable: 1"),
         "1 must stay and there is 1, Pod x, so none may ever be evicted.",
         "Delete the budget, or run the pods by a Deployment of 2 replicas or more."},
        {BUDGET("a", "two", "minAvailable: 3"),
         "3 must stay and there are 2, Pod w among them, so none may ever be evicted.",
         "Delete the budget, or run the pods by a Deployment of 4 replicas or more."},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("pod-disruption-budgets: {}", bare, arena);
    world.of_cluster = true;
    rail_table_run_in(&world, &(struct rail_table){NULL, NULL, cases, COUNT_OF(cases)}, arena);
    rail_words_run_in(&world, words, COUNT_OF(words), arena);
    /* Of one of these kinds there may be others. */
    const struct rail_table of_unseen = {NULL, NULL, unseen, COUNT_OF(unseen)};
    world.unseen = KIND_BIT(KIND_POD);
    rail_table_run_in(&world, &of_unseen, arena);
    world.unseen = KIND_BIT(KIND_STATEFUL_SET);
    rail_table_run_in(&world, &of_unseen, arena);
    world.unseen = 0;
    world.of_cluster = false; /* a file may be missing */
    rail_table_run_in(&world, &of_unseen, arena);
    rail_table_run_in(&world, &(struct rail_table){NULL, NULL, &number, 1}, arena);
    arena_destroy(arena);
}

static void two_budgets_on_one_pod(void)
{
#define LOOSE OTHER_POD("name: loose, labels: {app: loose, tier: x}")
#define ALL "---\n" BUDGET("all", "three", "maxUnavailable: 1") "\n"
#define UNBORN "---\n" BUDGET("unborn", "later", "maxUnavailable: 1") "\n"
#define TIERS "---\n" SELECTS_AS("tiers", "{matchLabels: {tier: x}}")
    static const char with_others[] = THREE ALL UNBORN LOOSE TIERS;
    static const struct rail_case cases[] = {
        {BUDGET("new", "three", "maxUnavailable: 1"), "deny spec.selector all"},
        {BUDGET("all", "three", "maxUnavailable: 1"), ""}, /* itself */
        {BUDGET("new", "later", "maxUnavailable: 1"), "deny spec.selector unborn"},
        {BUDGET("new", "loose", "minAvailable: 0"), "deny spec.selector tiers"},
        {BUDGET("new", "loose", "maxUnavailable: 1"),
         "undecided " MOST "1\ndeny spec.selector tiers"},
        {BUDGET("new", "other", "maxUnavailable: 1"), ""},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: new, namespace: "
         "other}, spec: {selector: {matchLabels: {app: three}}, maxUnavailable: 1}}",
         ""},
        /* all but one pod, and all: the loose one has two, whichever way */
        {SELECTS("{matchExpressions: [{key: app, operator: NotIn, values: [three]}]}"),
         "undecided " MOST "1\ndeny spec.selector tiers"},
        {SELECTS("{}"), "deny spec.selector all"},
        {SELECTS("{matchExpressions: [{key: app, operator: In, values: [nobody]}]}"), ""},
    };
    rail_table_run(
        &(struct rail_table){"pod-disruption-budgets: {}", with_others, cases, COUNT_OF(cases)});
}

/* What was there before is a value in its field, of pods among which are those of now. */
static void a_selector_that_selects_more_is_new(void)
{
#define OF(selector, more)                                                           \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: " \
    "{selector: " selector ", " more "}}"
#define NEVER "minAvailable: 100%"
#define APP(value) "{matchLabels: {app: " value "}}"
    static const struct {
        const char *old, *object;
        enum action action;
    } cases[] = {
        {OF(APP("a"), NEVER), OF(APP("a"), NEVER), ACTION_AUDIT},
        {OF(APP("a"), NEVER), OF(APP("b"), NEVER), ACTION_DENY},
        {OF(APP("a"), NEVER), OF("{}", NEVER), ACTION_DENY},
        {OF(APP("a"), NEVER),
         OF("{matchExpressions: [{key: app, operator: NotIn, values: [x]}]}", NEVER), ACTION_DENY},
        {OF("null", NEVER), OF(APP("a"), NEVER), ACTION_DENY},
        /* fewer pods, and the same ones */
        {OF("{}", NEVER), OF(APP("a"), NEVER), ACTION_AUDIT},
        {OF(APP("a"), NEVER), OF("{matchLabels: {tier: b, app: a}}", NEVER), ACTION_AUDIT},
        {OF("{matchLabels: {tier: b, app: a}}", NEVER), OF(APP("a"), NEVER), ACTION_DENY},
        {OF(APP("a"), NEVER),
         OF("{matchExpressions: [{key: app, operator: In, values: [a]}]}", NEVER), ACTION_AUDIT},
        {OF(APP("a"), NEVER),
         OF("{matchExpressions: [{key: app, operator: In, values: [a, b]}]}", NEVER), ACTION_DENY},
        {OF("{matchExpressions: [{key: app, operator: Exists}]}", NEVER),
         OF("{matchExpressions: [{key: tier, operator: Exists}, {key: app, operator: Exists}]}",
            NEVER),
         ACTION_AUDIT},
        {OF(APP("a"), "maxUnavailable: 0"), OF(APP("b"), "maxUnavailable: 0"), ACTION_DENY},
        /* of the workloads there are */
        {OF(APP("one"), "minAvailable: 1"), OF(APP("one"), "minAvailable: 1"), ACTION_AUDIT},
        {OF(APP("three"), "minAvailable: 1"), OF(APP("one"), "minAvailable: 1"), ACTION_DENY},
        {OF(APP("job"), "maxUnavailable: 1"), OF("{}", "maxUnavailable: 1"), ACTION_DENY},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("pod-disruption-budgets: {}", cluster, arena);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct rail_documents old = rail_table_read(cases[i].old, arena);
        struct rail_documents now = rail_table_read(cases[i].object, arena);
        const struct subject subject = {
            .operation = OPERATION_UPDATE, .object = now.items, .old_object = old.items};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.finding_count, 1);
        ASSERT_INT(verdict.action, cases[i].action);
    }
    arena_destroy(arena);
}

static void two_budgets_of_pods_to_come(void)
{
#define ANY_OF "{matchExpressions: [{key: app, operator: In, values: [a, b]}]}"
    static const struct {
        const char *visible, *object, *findings;
    } cases[] = {
        {SELECTS_AS("old", "{}"), SELECTS("{}"), "deny spec.selector old"},
        {SELECTS_AS("old", ANY_OF), SELECTS(ANY_OF), "deny spec.selector old"},
        {SELECTS_AS("old", "{matchLabels: {a: b, c: d}}"), SELECTS("{matchLabels: {c: d, a: b}}"),
         "deny spec.selector old"},
        {SELECTS_AS("old", "{matchLabels: {a: b, c: d}}"), SELECTS("{matchLabels: {a: b}}"), ""},
        /* no selector selects nothing, twice */
        {SELECTS_AS("old", "null"), SELECTS("{}"), ""},
        {SELECTS_AS("old", "{}"), SELECTS("null"), "warn spec.selector "},
        {SELECTS_AS("old", "null"), SELECTS("null"), "warn spec.selector "},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: old, "
         "deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {selector: " ANY_OF "}}",
         SELECTS(ANY_OF), ""},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: old, namespace: "
         "other}, spec: {selector: " ANY_OF "}}",
         SELECTS(ANY_OF), ""},
        /* a pod of both, elsewhere */
        {SELECTS_AS("old", "{matchLabels: {c: d}}")
             OTHER_POD("name: p, namespace: other, labels: {a: b, c: d}"),
         SELECTS("{matchLabels: {a: b}}"), ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        rail_table_run(&(struct rail_table){"pod-disruption-budgets: {}", cases[i].visible,
                                            &(struct rail_case){cases[i].object, cases[i].findings},
                                            1});
}

#define LEAVE_ONE \
    "Write maxUnavailable: 1 instead, and run two replicas or more where one must always run."

/* Of budgets that are all visible, each tells of those before it by name; a new one of all. */
static void many_budgets_are_told_once_each(void)
{
#define SAME(name) SELECTS_AS(name, "{matchLabels: {app: a}}")
    static const char four[] =
        SAME("d") "---\n" SAME("b") "---\n" SAME("a") "---\n" SAME("c") "---\n" SAME("f")
            WORKLOAD("Deployment", "web", "replicas: 2, ");
    static const struct rail_case cases[] = {
        {SAME("a"), ""},
        {SAME("b"), "deny spec.selector a"},
        {SAME("c"), "deny spec.selector a"},
        {SAME("d"), "deny spec.selector a"},
        {SAME("e"), "deny spec.selector a"},
        /* one that is visible, and is changed */
        {SELECTS_AS("a", "{matchLabels: {app: web}}"), ""},
        {SELECTS_AS("a", "{matchExpressions: [{key: app, operator: In, values: [a]}]}"), ""},
    };
    rail_table_run(
        &(struct rail_table){"pod-disruption-budgets: {}", four, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {SAME("b"),
         "PodDisruptionBudgets b and a select the same pods. Kubernetes evicts no pod that two "
         "budgets cover.",
         "Delete one."},
        {SAME("d"),
         "PodDisruptionBudgets d, a, b and c select the same pods. Kubernetes evicts no pod that "
         "two budgets cover.",
         "Delete all but one."},
        {SAME("e"),
         "PodDisruptionBudgets e, a, b, c and 2 more select the same pods. Kubernetes evicts no "
         "pod that two budgets cover.",
         "Delete all but one."},
        {SELECTS_AS("x", "null"), "Without a selector this budget covers no pod.",
         "Set spec.selector to the labels of its pods, or delete the budget."},
        {SELECTS_AS("web", "null"), "Without a selector this budget covers no pod.",
         "Set spec.selector: {matchLabels: {app: web}}."},
        {BUDGET("over", "web", "minAvailable: 150%"),
         "150% is more than 100%, so the API server refuses this budget.", LEAVE_ONE},
    };
    rail_words_run("pod-disruption-budgets: {}", four, words, COUNT_OF(words));
    /* Changed, it is told whatever its name is. */
    static const struct rail_case changed[] = {{SAME("a"), "deny spec.selector z"}};
    rail_table_run(&(struct rail_table){"pod-disruption-budgets: {}",
                                        SELECTS_AS("a", "{}") "---\n" SAME("z"), changed, 1});
}

static void pods_of_every_controller_count(void)
{
    static const struct {
        const char *version, *kind;
        bool counts; /* says how many pods it has */
    } controllers[] = {
        {"apps/v1", "Deployment", true}, {"apps/v1", "StatefulSet", true},
        {"apps/v1", "ReplicaSet", true}, {"v1", "ReplicationController", true},
        {"batch/v1", "Job", false},
    };
    for (size_t i = 0; i < COUNT_OF(controllers); i++) {
        char visible[1024];
        /* Between two that it does not select. */
        snprintf(visible, sizeof visible,
                 "{apiVersion: %1$s, kind: %2$s, metadata: {name: a}, spec: {template: {metadata: "
                 "{labels: {app: a}}}}}\n---\n{apiVersion: %1$s, kind: %2$s, metadata: {name: b}, "
                 "spec: {replicas: 3, template: {metadata: {labels: {app: b}}}}}\n---\n"
                 "{apiVersion: %1$s, kind: %2$s, metadata: {name: c}, spec: {template: {metadata: "
                 "{labels: {app: c}}}}}\n---\n" BUDGET("other", "b", "maxUnavailable: 1"),
                 controllers[i].version, controllers[i].kind);
        const struct rail_case cases[] = {
            {BUDGET("new", "b", "minAvailable: 3"),
             controllers[i].counts ? "deny " LEAST "3\ndeny spec.selector other"
                                   : "deny spec.selector other"},
            {BUDGET("new", "b", "maxUnavailable: 2"),
             controllers[i].counts ? "deny spec.selector other"
                                   : "deny " MOST "2\ndeny spec.selector other"},
        };
        rail_table_run(
            &(struct rail_table){"pod-disruption-budgets: {}", visible, cases, COUNT_OF(cases)});
    }
}

static void whose_pods_they_are(void)
{
    static const struct rail_words three[] = {
        {BUDGET("b", "web", "minAvailable: 6"),
         "6 must stay and Deployment web and 2 more have 6, so none may ever be evicted.",
         LEAVE_ONE},
        {BUDGET("b", "web", "minAvailable: 90%"),
         "6 must stay and Deployment web and 2 more have 6, so none may ever be evicted.",
         LEAVE_ONE},
        {BUDGET("b", "db", "minAvailable: 2"),
         "2 must stay and StatefulSet db has 2, so none may ever be evicted.", LEAVE_ONE},
    };
    rail_words_run("pod-disruption-budgets: {}",
                   WORKLOAD("ReplicaSet", "web", "replicas: 2, ")
                       WORKLOAD("StatefulSet", "web", "replicas: 1, ")
                           WORKLOAD("Deployment", "web", "replicas: 3, ")
                               WORKLOAD("StatefulSet", "db", "replicas: 2, "),
                   three, COUNT_OF(three));
    static const struct rail_words jobs[] = {{BUDGET("b", "job", "maxUnavailable: 1"),
                                              "Job first says no number of replicas, so the budget "
                                              "never allows a disruption.",
                                              FEWER}};
    rail_words_run("pod-disruption-budgets: {}",
                   JOB("first", "default") JOB("second", "default") JOB("a", "other"), jobs, 1);
    static const struct rail_words shared[] = {
        {BUDGET("b", "job", "minAvailable: 1"),
         "PodDisruptionBudgets b and old select the pods of Job first. Kubernetes evicts no pod "
         "that two budgets cover.",
         "Delete one."}};
    rail_words_run("pod-disruption-budgets: {}",
                   SELECTS_AS("old", "{}") JOB("first", "default")
                       WORKLOAD("StatefulSet", "web", "replicas: 3, "),
                   shared, 1);
}

static void what_is_not_visible_is_not_decided(void)
{
    static const struct rail_case cases[] = {
        {BUDGET("a", "one", "minAvailable: 1"), "undecided " LEAST "1"},
        {BUDGET("a", "one", "minAvailable: 50%"), "undecided " LEAST "50%"},
        {BUDGET("a", "one", "minAvailable: 99%"), "undecided " LEAST "99%"},
        {BUDGET("a", "one", "minAvailable: 0"), ""},
        {BUDGET("a", "one", "maxUnavailable: 0"), "deny " MOST "0"},
        {BUDGET("a", "one", "maxUnavailable: 1"), ""},
    };
    rail_table_run(
        &(struct rail_table){"pod-disruption-budgets: {}", NULL, cases, COUNT_OF(cases)});
    /* Of a live cluster one kind may be hidden, and what it selects be of that. */
    static const enum kind hidden[] = {KIND_DEPLOYMENT, KIND_STATEFUL_SET, KIND_REPLICA_SET,
                                       KIND_REPLICATION_CONTROLLER};
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world =
        rail_table_world("pod-disruption-budgets: {}", WORKLOAD("Deployment", "three", ""), arena);
    struct rail_documents documents =
        rail_table_read(BUDGET("a", "elsewhere", "minAvailable: 1"), arena);
    ASSERT_TEXT(rail_table_findings(&world, &documents.items[0], arena), "");
    for (size_t i = 0; i < COUNT_OF(hidden); i++) {
        world.unseen = KIND_BIT(hidden[i]);
        ASSERT_TEXT(rail_table_findings(&world, &documents.items[0], arena),
                    "undecided " LEAST "1");
    }
    world.unseen = KIND_BIT(KIND_NODE);
    ASSERT_TEXT(rail_table_findings(&world, &documents.items[0], arena), "");
    arena_destroy(arena);
}

#define BOTH(more)                                                                              \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {selector: " \
    "{matchExpressions: [{key: app, operator: In, values: [scaled, fixed]}]}, " more "}}"

/* An autoscaler's workload: the file says no number, and what the API server stores does. */
static void replicas_may_be_left_to_an_autoscaler(void)
{
    static const char unsaid[] =
        WORKLOAD("Deployment", "scaled", "") WORKLOAD("Deployment", "fixed", "replicas: 3, ")
            WORKLOAD("Deployment", "left", "replicas: null, ");
    static const struct rail_case cases[] = {
        {BUDGET("a", "scaled", "minAvailable: 1"), "undecided " LEAST "1"},
        {BUDGET("a", "scaled", "minAvailable: 2"), "undecided " LEAST "2"},
        {BUDGET("a", "scaled", "minAvailable: 50%"), "undecided " LEAST "50%"},
        {BUDGET("a", "left", "minAvailable: 1"), "undecided " LEAST "1"},
        {BOTH("minAvailable: 4"), "undecided " LEAST "4"},
        {BOTH("minAvailable: 76%"), "undecided " LEAST "76%"},
        /* with one it would do, too */
        {BOTH("minAvailable: 3"), ""},
        {BOTH("minAvailable: 75%"), ""},
        {BUDGET("a", "fixed", "minAvailable: 3"), "deny " LEAST "3"},
        /* none of any number may go */
        {BUDGET("a", "scaled", "minAvailable: 100%"), "deny " LEAST "100%"},
        {BUDGET("a", "scaled", "minAvailable: 200%"), "deny " LEAST "200%"},
        {BUDGET("a", "scaled", "maxUnavailable: 0"), "deny " MOST "0"},
        {BUDGET("a", "scaled", "maxUnavailable: 1"), ""},
        {BUDGET("a", "scaled", "minAvailable: 0"), ""},
    };
    rail_table_run(
        &(struct rail_table){"pod-disruption-budgets: {}", unsaid, cases, COUNT_OF(cases)});
#define NOT_SAID(workload, count)                                             \
    workload " does not say how many replicas it has. With fewer than " count \
             " none may ever be evicted."
#define KEEP(count)                                \
    "Have its autoscaler keep " count " at least " \
    "(minReplicas), or write maxUnavailable: 1 instead."
    static const struct rail_words words[] = {
        {BUDGET("a", "scaled", "minAvailable: 1"), NOT_SAID("Deployment scaled", "2"), KEEP("2")},
        {BUDGET("a", "scaled", "minAvailable: 2"), NOT_SAID("Deployment scaled", "3"), KEEP("3")},
        {BUDGET("a", "scaled", "minAvailable: 1%"), NOT_SAID("Deployment scaled", "2"), KEEP("2")},
        {BUDGET("a", "scaled", "minAvailable: 50%"), NOT_SAID("Deployment scaled", "2"), KEEP("2")},
        {BUDGET("a", "scaled", "minAvailable: 51%"), NOT_SAID("Deployment scaled", "3"), KEEP("3")},
        {BUDGET("a", "scaled", "minAvailable: 99%"), NOT_SAID("Deployment scaled", "100"),
         KEEP("100")},
        /* beside three others */
        {BOTH("minAvailable: 4"), NOT_SAID("Deployment scaled", "2"), KEEP("2")},
        {BOTH("minAvailable: 90%"), NOT_SAID("Deployment scaled", "7"), KEEP("7")},
        /* more than the API server takes */
        {BUDGET("a", "scaled", "minAvailable: 9223372036854775807"),
         NOT_SAID("Deployment scaled", "2147483648"), KEEP("2147483648")},
    };
    rail_words_run("pod-disruption-budgets: {}", unsaid, words, COUNT_OF(words));
    /* Of two the first is named. */
    static const struct rail_words two = {BUDGET("a", "web", "minAvailable: 2"),
                                          NOT_SAID("Deployment web", "2"), KEEP("2")};
    rail_words_run("pod-disruption-budgets: {}",
                   WORKLOAD("Deployment", "web", "") WORKLOAD("StatefulSet", "web", ""), &two, 1);
    /* Beside a Job maxUnavailable is no way out. */
    static const struct rail_words beside_a_job = {BUDGET("a", "job", "minAvailable: 2"),
                                                   NOT_SAID("Deployment job", "3"),
                                                   "Have its autoscaler keep 3 at least "
                                                   "(minReplicas)."};
    rail_words_run("pod-disruption-budgets: {}",
                   WORKLOAD("Deployment", "job", "") JOB("j", "default"), &beside_a_job, 1);
}

/* Of two workloads that are scaled the first is named; where all may go there is nobody to keep. */
static void two_autoscalers_of_one_budget(void)
{
#define SCALED_AS(name, app, least)                                                           \
    WORKLOAD_AS("Deployment", name, app, "replicas: 2, ")                                     \
    "---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: " name \
    "}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: " name "}, "     \
    "minReplicas: " least ", maxReplicas: 6}}\n"
#define SCALED(name, least) SCALED_AS(name, "web", least)
    static const struct rail_case cases[] = {
        {BUDGET("a", "web", "minAvailable: 3"), ""},
        {BUDGET("a", "web", "minAvailable: 4"), "warn " LEAST "4"},
    };
    rail_table_run(&(struct rail_table){"pod-disruption-budgets: {}",
                                        SCALED("one", "2") SCALED("two", "2"), cases,
                                        COUNT_OF(cases)});
    static const struct rail_words beside_a_job = {
        BUDGET("a", "job", "minAvailable: 2"),
        "HorizontalPodAutoscaler job may leave 2 pods of Deployment job, and then none may be "
        "evicted.",
        "Set its minReplicas to 3 at least."};
    rail_words_run("pod-disruption-budgets: {}", SCALED_AS("job", "job", "2") JOB("j", "default"),
                   &beside_a_job, 1);
    static const struct rail_case asleep[] = {{BUDGET("a", "web", "minAvailable: 1"), ""}};
    rail_table_run(&(struct rail_table){"pod-disruption-budgets: {}", SCALED("one", "0"), asleep,
                                        COUNT_OF(asleep)});
    /* no selector that the API server takes */
    static const struct rail_case others[] = {
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {selector: "
         "[app], maxUnavailable: 0}}",
         ""}};
    rail_table_run(
        &(struct rail_table){"pod-disruption-budgets: {}", NULL, others, COUNT_OF(others)});
}

const char unit_suite[] = "policy pod-disruption-budgets";
const struct unit_test unit_tests[] = {
    {"budgets that never let a pod go", budgets_that_never_let_a_pod_go},
    {"shares of many", shares_of_many},
    {"jobs of other namespaces", jobs_of_other_namespaces},
    {"nobody says how many pods there are", nobody_says_how_many_pods_there_are},
    {"pods without a controller", pods_without_a_controller},
    {"two budgets on one pod", two_budgets_on_one_pod},
    {"a selector that selects more is new", a_selector_that_selects_more_is_new},
    {"two budgets of pods to come", two_budgets_of_pods_to_come},
    {"many budgets are told once each", many_budgets_are_told_once_each},
    {"pods of every controller count", pods_of_every_controller_count},
    {"whose pods they are", whose_pods_they_are},
    {"what is not visible is not decided", what_is_not_visible_is_not_decided},
    {"replicas may be left to an autoscaler", replicas_may_be_left_to_an_autoscaler},
    {"two autoscalers of one budget", two_autoscalers_of_one_budget},
    {NULL, NULL},
};
