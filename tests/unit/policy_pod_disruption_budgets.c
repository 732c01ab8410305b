/* The rail pod-disruption-budgets: those that never let a pod go, and two on one pod. */
#include "rail_table.h"

#define BUDGET(name, app, more)                                                              \
    "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: " name "}, spec: {" \
    "selector: {matchLabels: {app: " app "}}, " more "}}"
#define WORKLOAD(kind, app, replicas)                                                        \
    "---\n{apiVersion: apps/v1, kind: " kind ", metadata: {name: " app "}, spec: {" replicas \
    "template: {metadata: {labels: {app: " app "}}}}}\n"
#define LEAST "spec.minAvailable "
#define MOST "spec.maxUnavailable "

static const char cluster[] = WORKLOAD("Deployment", "one", "")
    WORKLOAD("Deployment", "three", "replicas: 3, ") WORKLOAD("StatefulSet", "two", "replicas: 2, ")
        WORKLOAD("Deployment", "none",
                 "replicas: 0, ") "---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: "
                                  "three-abc, ownerReferences: "
                                  "[{apiVersion: apps/v1, kind: Deployment, name: three, uid: u, "
                                  "controller: true}]}, spec: "
                                  "{replicas: 3, template: {metadata: {labels: {app: three}}}}}\n"
                                  "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: job}, "
                                  "spec: {template: {metadata: "
                                  "{labels: {app: job}}}}}\n"
                                  "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: "
                                  "far, namespace: other}, spec: "
                                  "{template: {metadata: {labels: {app: far}}}}}\n";

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
        {BUDGET("a", "two", "minAvailable: 51%"), "deny " LEAST "51%"},
        {BUDGET("a", "none", "minAvailable: 1"), ""},
        {BUDGET("a", "elsewhere", "minAvailable: 1"), ""},
        {BUDGET("a", "far", "minAvailable: 1"), ""}, /* in another namespace */
        {BUDGET("a", "job", "minAvailable: 1"), ""},
        {BUDGET("a", "job", "maxUnavailable: 1"), "deny " MOST "1"},
        {BUDGET("a", "job", "minAvailable: 50%"), "deny " LEAST "50%"},
        {BUDGET("a", "three", "minAvailable: [1]"), ""},
        {BUDGET("a", "three", "minAvailable: many"), ""},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: "
         "{maxUnavailable: 0}}",
         ""}, /* selects nothing */
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

static void two_budgets_on_one_pod(void)
{
    static const char with_others[] =
        WORKLOAD("Deployment", "three", "replicas: 3, ") "---\n" BUDGET(
            "all", "three",
            "maxUnavailable: 1") "\n---\n" BUDGET("unborn", "later",
                                                  "maxUnavailable: 1") "\n---\n{apiVersion: v1, "
                                                                       "kind: Pod, metadata: "
                                                                       "{name: loose, labels: "
                                                                       "{app: loose, tier: x}}}"
                                                                       "\n---\n{apiVersion: "
                                                                       "policy/v1, kind: "
                                                                       "PodDisruptionBudget, "
                                                                       "metadata: {name: tiers}, "
                                                                       "spec: "
                                                                       "{selector: {matchLabels: "
                                                                       "{tier: x}}, "
                                                                       "maxUnavailable: 1}}\n";
    static const struct rail_case cases[] = {
        {BUDGET("new", "three", "maxUnavailable: 1"), "deny spec.selector all"},
        {BUDGET("all", "three", "maxUnavailable: 1"), ""}, /* itself */
        {BUDGET("new", "later", "maxUnavailable: 1"), "deny spec.selector unborn"},
        {BUDGET("new", "loose", "maxUnavailable: 1"), "deny spec.selector tiers"},
        {BUDGET("new", "other", "maxUnavailable: 1"), ""},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: new, namespace: "
         "other}, spec: {selector: {matchLabels: {app: three}}, maxUnavailable: 1}}",
         ""},
    };
    rail_table_run(
        &(struct rail_table){"pod-disruption-budgets: {}", with_others, cases, COUNT_OF(cases)});
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
                                   : "undecided " LEAST "3\ndeny spec.selector other"},
            {BUDGET("new", "b", "maxUnavailable: 2"),
             controllers[i].counts ? "deny spec.selector other"
                                   : "deny " MOST "2\ndeny spec.selector other"},
        };
        rail_table_run(
            &(struct rail_table){"pod-disruption-budgets: {}", visible, cases, COUNT_OF(cases)});
    }
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
}

const char unit_suite[] = "policy pod-disruption-budgets";
const struct unit_test unit_tests[] = {
    {"budgets that never let a pod go", budgets_that_never_let_a_pod_go},
    {"two budgets on one pod", two_budgets_on_one_pod},
    {"pods of every controller count", pods_of_every_controller_count},
    {"what is not visible is not decided", what_is_not_visible_is_not_decided},
    {NULL, NULL},
};
