/* The rail disruption-opt-out: where a pod may keep its node, for how long, and what does nothing.
 */
#include "rail_table.h"

#define OPT_OUT "karpenter.sh/do-not-disrupt"
#define POD_IN(namespace, annotations)                                                        \
    "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: " namespace ", annotations: " \
                                                                            "{" annotations   \
                                                                            "}}, spec: {}}"
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
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {" OPT_OUT ": 'true'}}}", ""},
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
        {POD_IN("batch-ml", "karpenter.sh/do-not-evict: 'true'"),
         "deny metadata.annotations[karpenter.sh/do-not-evict] karpenter.sh/do-not-evict"},
    };
    rail_table_run(
        &(struct rail_table){"disruption-opt-out: {allowNamespaces: [batch-*], maxDuration: 12h}",
                             NULL, cases, COUNT_OF(cases)});
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
    };
    rail_table_run(&(struct rail_table){"disruption-opt-out: {}", NULL, cases, COUNT_OF(cases)});
}

const char unit_suite[] = "policy disruption-opt-out";
const struct unit_test unit_tests[] = {
    {"nobody is granted it by default", nobody_is_granted_it_by_default},
    {"namespaces and a while can be granted", namespaces_and_a_while_can_be_granted},
    {"every kind of workload", every_kind_of_workload},
    {NULL, NULL},
};
