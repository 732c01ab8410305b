/* The rail disruption-opt-out: where a pod may keep its node, for how long, and what does nothing.
 */
#include "rail_modes.h"

#define OPT_OUT "karpenter.sh/do-not-disrupt"
#define POD_IN(where, annotations)                                      \
    "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: " where \
    ", annotations: {" annotations "}}, spec: {}}"
#define FIELD "metadata.annotations[" OPT_OUT "] "

static void nobody_is_granted_it_by_default(void)
{
    static const struct rail_case cases[] = {
        {POD_IN("web", ""), ""},
        {POD_IN("web", OPT_OUT ": 'true'"), "deny " FIELD "true"},
        {POD_IN("web", OPT_OUT ": 1h"), "deny " FIELD "1h"},
        {POD_IN("web", OPT_OUT ": 'false'"), ""},
        {POD_IN("web", OPT_OUT ": 'yes'"), "warn " FIELD "yes"},
        {POD_IN("web", OPT_OUT ": true"), ""}, /* the API server refuses it */
        {POD_IN("web", "karpenter.sh/do-not-evict: 'true'"),
         "deny metadata.annotations[karpenter.sh/do-not-evict] karpenter.sh/do-not-evict"},
        {POD_IN("web", "karpenter.sh/do-not-consolidate: 'true'"),
         "deny metadata.annotations[karpenter.sh/do-not-consolidate] "
         "karpenter.sh/do-not-consolidate"},
        {POD_IN("web", "karpenter.sh/do-not-evict: 'false'"), ""},
        {POD_IN("web", "karpenter.sh/do-not-consolidate: 'false'"), ""},
        /* all that stands there is judged */
        {POD_IN("web", "karpenter.sh/do-not-evict: 'true', karpenter.sh/do-not-consolidate: "
                       "'true', " OPT_OUT ": 'true'"),
         "deny metadata.annotations[karpenter.sh/do-not-consolidate] "
         "karpenter.sh/do-not-consolidate\n"
         "deny metadata.annotations[karpenter.sh/do-not-disrupt] true\n"
         "deny metadata.annotations[karpenter.sh/do-not-evict] karpenter.sh/do-not-evict"},
        {POD_IN("web", "karpenter.sh/do-not-evict: 'false', karpenter.sh/do-not-consolidate: "
                       "'true', " OPT_OUT ": 'false'"),
         "deny metadata.annotations[karpenter.sh/do-not-consolidate] "
         "karpenter.sh/do-not-consolidate"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {" OPT_OUT ": 'true'}}}",
         "warn metadata.labels[" OPT_OUT "] true"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {" OPT_OUT ": 'false'}}}", ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {do-not-disrupt: 'true'}}}", ""},
    };
    rail_table_run(&(struct rail_table){"disruption-opt-out: {}", NULL, cases, COUNT_OF(cases)});
}

static void namespaces_and_a_while_can_be_granted(void)
{
    static const struct rail_case cases[] = {
        {POD_IN("batch-ml", OPT_OUT ": 'true'"), ""},
        {POD_IN("batch-ml", OPT_OUT ": 100h"), ""},
        {POD_IN("web", OPT_OUT ": 'true'"), "deny " FIELD "true"},
        {POD_IN("web", OPT_OUT ": 12h"), ""},
        {POD_IN("web", OPT_OUT ": 11h59m60s"), ""},
        {POD_IN("web", OPT_OUT ": 12h1s"), "deny " FIELD "12h1s"},
        {POD_IN("batch-ml", OPT_OUT ": 'yes'"), "warn " FIELD "yes"},
        /* the whole name counts */
        {POD_IN("my-batch-ml", OPT_OUT ": 'true'"), "deny " FIELD "true"},
        {POD_IN("ml", OPT_OUT ": 'true'"), ""},
        {POD_IN("batch-ml", "karpenter.sh/do-not-evict: 'true'"),
         "deny metadata.annotations[karpenter.sh/do-not-evict] karpenter.sh/do-not-evict"},
    };
    rail_table_run(
        &(struct rail_table){"disruption-opt-out: {allowNamespaces: [ml, batch-*], maxDuration: "
                             "12h}",
                             NULL, cases, COUNT_OF(cases)});
}

/* Karpenter reads what Go's time.ParseDuration does, and wants it above 0. */
static void durations_are_read_as_karpenter_does(void)
{
    static const struct rail_case cases[] = {
        {POD_IN("web", OPT_OUT ": 2h"), ""},
        {POD_IN("web", OPT_OUT ": 2.5h"), "deny " FIELD "2.5h"},
        {POD_IN("web", OPT_OUT ": 1.5h"), ""},
        {POD_IN("web", OPT_OUT ": 1.999h"), ""},
        {POD_IN("web", OPT_OUT ": 2.001h"), "deny " FIELD "2.001h"},
        {POD_IN("web", OPT_OUT ": .5h90.m"), ""},
        {POD_IN("web", OPT_OUT ": .5h91.m"), "deny " FIELD ".5h91.m"},
        {POD_IN("web", OPT_OUT ": 1.7h18m"), ""}, /* not a breath longer than two hours */
        {POD_IN("web", OPT_OUT ": 1.7h18m0.001s"), "deny " FIELD "1.7h18m0.001s"},
        {POD_IN("web", OPT_OUT ": 120m"), ""},
        {POD_IN("web", OPT_OUT ": 121m"), "deny " FIELD "121m"},
        {POD_IN("web", OPT_OUT ": 7200s"), ""},
        {POD_IN("web", OPT_OUT ": 7201s"), "deny " FIELD "7201s"},
        {POD_IN("web", OPT_OUT ": +3h"), "deny " FIELD "+3h"},
        {POD_IN("web", OPT_OUT ": 7199000ms"), ""},
        {POD_IN("web", OPT_OUT ": 7201000ms"), "deny " FIELD "7201000ms"},
        {POD_IN("web", OPT_OUT ": 7199000000us"), ""},
        {POD_IN("web", OPT_OUT ": 7201000000us"), "deny " FIELD "7201000000us"},
        {POD_IN("web", OPT_OUT ": 7201000000\xc2\xb5s"), "deny " FIELD "7201000000\xc2\xb5s"},
        {POD_IN("web", OPT_OUT ": 7201000000\xce\xbcs"), "deny " FIELD "7201000000\xce\xbcs"},
        {POD_IN("web", OPT_OUT ": 7201000000000ns"), "deny " FIELD "7201000000000ns"},
        {POD_IN("web", OPT_OUT ": 2562047h"), "deny " FIELD "2562047h"},
        /* these do nothing */
        {POD_IN("web", OPT_OUT ": 2562048h"), "warn " FIELD "2562048h"},
        {POD_IN("web", OPT_OUT ": 0s"), "warn " FIELD "0s"},
        {POD_IN("web", OPT_OUT ": '0'"), "warn " FIELD "0"},
        {POD_IN("web", OPT_OUT ": '3'"), "warn " FIELD "3"},
        {POD_IN("web", OPT_OUT ": -3h"), "warn " FIELD "-3h"},
        {POD_IN("web", OPT_OUT ": ++3h"), "warn " FIELD "++3h"},
        {POD_IN("web", OPT_OUT ": 1d"), "warn " FIELD "1d"},
        {POD_IN("web", OPT_OUT ": 3h1"), "warn " FIELD "3h1"},
        {POD_IN("web", OPT_OUT ": 3hm"), "warn " FIELD "3hm"},
        {POD_IN("web", OPT_OUT ": .h"), "warn " FIELD ".h"},
        {POD_IN("web", OPT_OUT ": 3.0.1h"), "warn " FIELD "3.0.1h"},
        {POD_IN("web", OPT_OUT ": '3 h'"), "warn " FIELD "3 h"},
        {POD_IN("web", OPT_OUT ": 3H"), "warn " FIELD "3H"},
        {POD_IN("web", OPT_OUT ": 'True'"), "warn " FIELD "True"},
        {POD_IN("web", OPT_OUT ": ''"), "warn " FIELD},
    };
    rail_table_run(&(struct rail_table){"disruption-opt-out: {maxDuration: 2h}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words second = {
        POD_IN("web", OPT_OUT ": 2s"),
        "The pod keeps its node from being replaced for 2s. At most 1s is granted here.",
        "Set it to \"1s\" or less, with Karpenter 1.12 or newer, or remove it."};
    rail_words_run("disruption-opt-out: {maxDuration: 1s}", NULL, &second, 1);
    static const struct rail_words never = {
        POD_IN("web", OPT_OUT ": 2s"),
        "The pod keeps its node from being replaced for 2s. That is not granted here.",
        "Remove it; a PodDisruptionBudget keeps enough replicas while nodes are replaced."};
    rail_words_run("disruption-opt-out: {}", NULL, &never, 1);
}

static void every_kind_of_workload(void)
{
#define TEMPLATE "{metadata: {annotations: {" OPT_OUT ": 'true'}}}"
#define OF(api, kind, spec) \
    "{apiVersion: " api ", kind: " kind ", metadata: {name: a}, spec: " spec "}"
    static const char found[] = "deny spec.template." FIELD "true";
    static const struct rail_case cases[] = {
        {OF("apps/v1", "Deployment", "{template: " TEMPLATE "}"), found},
        {OF("apps/v1", "ReplicaSet", "{template: " TEMPLATE "}"), found},
        {OF("v1", "ReplicationController", "{template: " TEMPLATE "}"), found},
        {OF("apps/v1", "StatefulSet", "{template: " TEMPLATE "}"), found},
        {OF("apps/v1", "DaemonSet", "{template: " TEMPLATE "}"), found},
        {OF("batch/v1", "Job", "{template: " TEMPLATE "}"), found},
        {OF("batch/v1", "CronJob", "{jobTemplate: {spec: {template: " TEMPLATE "}}}"),
         "deny spec.jobTemplate.spec.template." FIELD "true"},
        /* not on the pods */
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, annotations: {" OPT_OUT
         ": 'true'}}}",
         "warn " FIELD "true"},
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, annotations: {" OPT_OUT
         ": 'false'}}}",
         ""},
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, annotations: {" OPT_OUT
         ": 1h}}, spec: {template: " TEMPLATE "}}",
         "warn " FIELD "1h\ndeny spec.template." FIELD "true"},
        /* labels of the pods count as such, and those of the workload are nobody's */
        {OF("apps/v1", "Deployment", "{template: {metadata: {labels: {" OPT_OUT ": 'true'}}}}"),
         "warn spec.template.metadata.labels[" OPT_OUT "] true"},
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, labels: {" OPT_OUT
         ": 'true'}}}",
         ""},
        /* which was read on nodes and pods alone */
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, annotations: "
         "{karpenter.sh/do-not-evict: 'true'}}}",
         ""},
    };
    rail_table_run(&(struct rail_table){"disruption-opt-out: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words cron_job = {
        "{apiVersion: batch/v1, kind: CronJob, metadata: {name: c, annotations: {" OPT_OUT
        ": 'true'}}, spec: {}}",
        "karpenter.sh/do-not-disrupt does nothing on a CronJob, since Karpenter reads it on pods.",
        "Remove it, or, where it is granted, put it under "
        "spec.jobTemplate.spec.template.metadata.annotations."};
    rail_words_run("disruption-opt-out: {}", NULL, &cron_job, 1);
}

static void it_says_what_else_would_do(void)
{
#define OWNED_BY(kind)                                                                          \
    "{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {" OPT_OUT                    \
    ": 'true'}, ownerReferences: [{apiVersion: batch/v1, kind: " kind ", name: o, controller: " \
    "true, uid: u}]}}"
    static const char statement[] =
        "The pod keeps its node from being replaced while it runs. That is not granted here.";
    static const char replicas[] =
        "Remove it; a PodDisruptionBudget keeps enough replicas while nodes are replaced.";
    static const char job[] = "Remove it, if the Job may begin again; else ask for its namespace "
                              "to be added to allowNamespaces.";
    static const struct rail_words rows[] = {
        {OF("apps/v1", "StatefulSet", "{template: " TEMPLATE "}"), statement, replicas},
        {OF("batch/v1", "Job", "{template: " TEMPLATE "}"), statement, job},
        {OF("batch/v1", "CronJob", "{jobTemplate: {spec: {template: " TEMPLATE "}}}"), statement,
         job},
        {OWNED_BY("Job"), statement, job},
        {OWNED_BY("ReplicaSet"), statement, replicas},
        {OF("apps/v1", "Deployment", "{template: {metadata: {labels: {" OPT_OUT ": 'true'}}}}"),
         "karpenter.sh/do-not-disrupt does nothing as a label, since Karpenter reads it as an "
         "annotation.",
         "Remove it, or, where it is granted, put it under spec.template.metadata.annotations."},
    };
    rail_words_run("disruption-opt-out: {}", NULL, rows, COUNT_OF(rows));
    /* what ends in time is no matter */
#define ENDING(seconds)                                                                 \
    "{activeDeadlineSeconds: " seconds ", template: {metadata: {annotations: {" OPT_OUT \
    ": 'true'}}}}"
    static const char at_job[] = "deny spec.template." FIELD "true";
    static const struct rail_case ending[] = {
        {OF("batch/v1", "Job", ENDING("43200")), ""},
        {OF("batch/v1", "Job", ENDING("43201")), at_job},
        {OF("batch/v1", "Job", ENDING("null")), at_job},
        {OF("batch/v1", "Job", ENDING("'60'")), at_job},
        {OF("batch/v1", "CronJob", "{jobTemplate: {spec: " ENDING("60") "}}"), ""},
        {OF("apps/v1", "Deployment", ENDING("60")), at_job},
        {OF("apps/v1", "StatefulSet",
            "{template: {metadata: {annotations: {" OPT_OUT
            ": 'true'}}, spec: {activeDeadlineSeconds: 60}}}"),
         ""},
    };
    rail_table_run(&(struct rail_table){"disruption-opt-out: {maxDuration: 12h}", NULL, ending,
                                        COUNT_OF(ending)});
    static const struct rail_words a_while = {
        OF("batch/v1", "Job", "{template: " TEMPLATE "}"),
        "The pod keeps its node from being replaced while it runs. At most 12h is granted here.",
        "Set the Job's activeDeadlineSeconds to 43200 or less, or set it to \"12h\" with Karpenter "
        "1.12 or newer."};
    rail_words_run("disruption-opt-out: {maxDuration: 12h}", NULL, &a_while, 1);
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("disruption-opt-out", "", NULL, POD_IN("web", OPT_OUT ": 'true'"));
}

/* Of a Pod whose Job cannot be seen nobody knows the deadline; the Job has been judged. */
static void a_job_that_is_not_seen_may_end(void)
{
    static const struct {
        const char *rails, *kind;
        enum action action;
    } rows[] = {
        {"disruption-opt-out: {maxDuration: 2h}", "Job", ACTION_WARN},
        {"disruption-opt-out: {maxDuration: 2h}", "ReplicaSet", ACTION_DENY},
        {"disruption-opt-out: {}", "Job", ACTION_DENY},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world world = rail_table_world(rows[i].rails, NULL, arena);
        bool of_job = strcmp(rows[i].kind, "Job") == 0;
        struct rail_documents documents = rail_table_read(
            of_job ? OWNED_BY("Job")
                   : "{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {" OPT_OUT
                     ": 'true'}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: "
                     "o, controller: true, uid: u}]}}",
            arena);
        const struct subject subject = {
            .operation = OPERATION_CREATE,
            .object = documents.items,
            .requester = {.name = TEXT("system:kube-controller-manager")}};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        if (verdict.action != rows[i].action)
            fprintf(stderr, "row %zu\n", i);
        ASSERT_INT(verdict.action, rows[i].action);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy disruption-opt-out";
const struct unit_test unit_tests[] = {
    {"nobody is granted it by default", nobody_is_granted_it_by_default},
    {"namespaces and a while can be granted", namespaces_and_a_while_can_be_granted},
    {"durations are read as Karpenter does", durations_are_read_as_karpenter_does},
    {"every kind of workload", every_kind_of_workload},
    {"it says what else would do", it_says_what_else_would_do},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {"a Job that is not seen may end", a_job_that_is_not_seen_may_end},
    {NULL, NULL},
};
