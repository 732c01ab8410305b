/* The rail capacity-types: what pods ask for, and what pools may launch. */
#include "rail_modes.h"

#define KEY "karpenter.sh/capacity-type"
#define IN(values) "{key: " KEY ", operator: In, values: [" values "]}"
#define NOT_IN(values) "{key: " KEY ", operator: NotIn, values: [" values "]}"
#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" spec "}}"
#define SELECTS(key, value) "nodeSelector: {" key ": " value "}"
#define REQUIRES(terms)                                                           \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {" \
    "nodeSelectorTerms: [" terms "]}}}"
#define TERM(expressions) "{matchExpressions: [" expressions "]}"
#define PREFERS(expressions)                                                                   \
    "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, " \
    "preference: {matchExpressions: [" expressions "]}}]}}"
#define REQUIRED                                                                 \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." \
    "nodeSelectorTerms"
#define PREFERRED \
    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference"

static void pods_ask_for_what_is_allowed(void)
{
    static const struct rail_case cases[] = {
        {POD(""), ""},
        {POD(SELECTS(KEY, "on-demand")), ""},
        {POD(SELECTS(KEY, "spot")), "deny spec.nodeSelector[" KEY "] spot"},
        {POD(SELECTS("eks.amazonaws.com/capacityType", "SPOT")),
         "deny spec.nodeSelector[eks.amazonaws.com/capacityType] SPOT"},
        {POD(SELECTS("eks.amazonaws.com/capacityType", "ON_DEMAND")), ""},
        {POD(SELECTS("eks.amazonaws.com/capacityType", "CAPACITY_BLOCK")), ""},
        {POD(SELECTS("eks.amazonaws.com/capacityType", "on-demand")),
         "warn spec.nodeSelector[eks.amazonaws.com/capacityType] on-demand"},
        {POD(SELECTS("eks.amazonaws.com/capacityType", "spot")),
         "deny spec.nodeSelector[eks.amazonaws.com/capacityType] spot"},
        {POD(SELECTS("eks.amazonaws.com/capacityType", "RESERVED")),
         "deny spec.nodeSelector[eks.amazonaws.com/capacityType] RESERVED"},
        {POD(SELECTS("example.com/capacity-type", "spot")), ""},
        {POD(REQUIRES(TERM(IN("reserved, spot")))),
         "deny " REQUIRED "[0].matchExpressions[0].values[1] spot"},
        /* each term is a way to a node */
        {POD(REQUIRES(TERM(IN("on-demand")) ", " TERM(IN("spot")))),
         "deny " REQUIRED "[1].matchExpressions[0].values[0] spot"},
        {POD(REQUIRES(TERM(NOT_IN("spot")))), ""},
        {POD(REQUIRES(TERM(NOT_IN("spot, on-demand")))), ""},
        {POD(REQUIRES(TERM(NOT_IN("reserved, on-demand")))),
         "deny " REQUIRED "[0].matchExpressions[0] NotIn"},
        {POD(SELECTS(KEY, "reserved") ", " REQUIRES(TERM(NOT_IN("reserved")))),
         "deny " REQUIRED "[0].matchExpressions[0] NotIn"},
        {POD(REQUIRES(TERM("{key: " KEY ", operator: DoesNotExist}"))),
         "deny " REQUIRED "[0].matchExpressions[0] DoesNotExist"},
        {POD(REQUIRES(TERM("{key: " KEY ", operator: Exists}"))), ""},
        {POD(PREFERS(IN("spot"))), "warn " PREFERRED ".matchExpressions[0].values[0] spot"},
        {POD(PREFERS(NOT_IN("on-demand, reserved"))), ""},
        {"{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {jobTemplate: {spec: "
         "{template: {spec: {" SELECTS(KEY, "spot") "}}}}}}",
         "deny spec.jobTemplate.spec.template.spec.nodeSelector[" KEY "] spot"},
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: "
         "{" SELECTS(KEY, "spot") "}}}}",
         "deny spec.template.spec.nodeSelector[" KEY "] spot"},
    };
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [on-demand, reserved]}", NULL,
                                        cases, COUNT_OF(cases)});
}

#define POOL(labels, requirements)                                                              \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "      \
    "{metadata: {labels: {" labels "}}, spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: " \
    "EC2NodeClass, name: c}, requirements: [" requirements "]}}}}"
#define PROVISIONER(spec)                                                                          \
    "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: {" spec "}" \
    "}"
#define AT "spec.template.spec.requirements"
#define CLASS(name, spec)                                                                       \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: " name "}, spec: " \
    "{" spec "}}"
#define RESERVES CLASS("c", "capacityReservationSelectorTerms: [{id: cr-1}]")

static void pools_launch_what_is_allowed(void)
{
    static const struct rail_case cases[] = {
        {POOL("", ""), "deny " AT " spot"},
        {POOL("", IN("on-demand")), ""},
        {POOL("", IN("on-demand, spot")), "deny " AT "[0].values[1] spot"},
        {POOL("", IN("on-demand, spot") ", " NOT_IN("spot")), ""},
        {POOL("", NOT_IN("spot")), ""},
        {POOL("", NOT_IN("on-demand")), "deny " AT " spot"},
        {POOL("", "{key: " KEY ", operator: Exists}"), "deny " AT " spot"},
        {POOL(KEY ": on-demand", ""), ""},
        {POOL(KEY ": spot", ""), "deny spec.template.metadata.labels[" KEY "] spot"},
        {POOL(KEY ": on-demand", IN("on-demand, spot")), ""},
        {POOL("", IN("reserved")), "deny " AT "[0].values[0] reserved"},
        {PROVISIONER(""), ""},
        {PROVISIONER("requirements: [" IN("spot") "]"), "deny spec.requirements[0].values[0] spot"},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}}", "deny " AT " spot"},
    };
    rail_table_run(
        &(struct rail_table){"capacity-types: {allow: [on-demand]}", NULL, cases, COUNT_OF(cases)});

    static const struct rail_case reserving[] = {
        {POOL("", ""), "deny " AT " reserved"},
        {POOL("", NOT_IN("reserved")), ""},
        /* of EKS Auto Mode, whose NodeClass of that name is not visible */
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
         "{spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: c}, "
         "requirements: []}}}}",
         ""},
    };
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [on-demand, spot]}", RESERVES,
                                        reserving, COUNT_OF(reserving)});
    static const struct rail_case spot_pod = {
        POD(SELECTS("eks.amazonaws.com/capacityType", "SPOT")), ""};
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [spot]}", NULL, &spot_pod, 1});
    static const struct rail_case reserved_pods[] = {
        {POD(SELECTS("eks.amazonaws.com/capacityType", "CAPACITY_BLOCK")), ""},
        {POD(SELECTS("eks.amazonaws.com/capacityType", "SPOT")),
         "deny spec.nodeSelector[eks.amazonaws.com/capacityType] SPOT"},
        {POD(SELECTS("eks.amazonaws.com/capacityType", "ON_DEMAND")),
         "deny spec.nodeSelector[eks.amazonaws.com/capacityType] ON_DEMAND"},
        {POD(SELECTS("eks.amazonaws.com/capacityType", "FREE")),
         "deny spec.nodeSelector[eks.amazonaws.com/capacityType] FREE"},
    };
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [reserved]}", NULL, reserved_pods,
                                        COUNT_OF(reserved_pods)});
    static const struct rail_case spot = {POOL("", ""), "deny " AT " on-demand"};
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [spot]}", NULL, &spot, 1});
    static const struct rail_case open = {POOL("", ""), ""};
    rail_table_run(
        &(struct rail_table){"capacity-types: {allow: [on-demand, spot]}", NULL, &open, 1});
    /* a class that selects no reservations, or another one that does */
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [on-demand, spot]}",
                                        CLASS("c", ""), &open, 1});
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [on-demand, spot]}",
                                        CLASS("c", "capacityReservationSelectorTerms: []"), &open,
                                        1});
    rail_table_run(&(struct rail_table){
        "capacity-types: {allow: [on-demand, spot]}",
        CLASS("other", "capacityReservationSelectorTerms: [{id: cr-1}]"), &open, 1});
    static const struct rail_case old[] = {
        {PROVISIONER(""), "deny spec.requirements on-demand"},
        {PROVISIONER("requirements: [" IN("spot") "]"), ""},
        {PROVISIONER("labels: {" KEY ": spot}"), ""},
    };
    rail_table_run(
        &(struct rail_table){"capacity-types: {allow: [spot]}", NULL, old, COUNT_OF(old)});
}

#define POOL_OF(reference, requirements)                                                       \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: system, labels: "          \
    "{app.kubernetes.io/managed-by: eks}}, spec: {template: {spec: {nodeClassRef: {" reference \
    ", name: c}, requirements: [" requirements "]}}}}"

/* Clouds without spot capacity, and words of other clouds; AWS' own pools, which nobody can edit.
 */
static void who_is_not_meant_is_left_alone(void)
{
    static const struct rail_case cases[] = {
        {POOL_OF("group: karpenter.exoscale.com, kind: ExoscaleNodeClass", ""), ""},
        {POOL_OF("group: karpenter.k8s.linode, kind: LinodeNodeClass", ""), ""},
        {POOL_OF("group: karpenter.k8s.linode, kind: LinodeNodeClass", IN("spot, on-demand")),
         "deny " AT "[0].values[0] spot"},
        {POOL_OF("group: karpenter.azure.com, kind: AKSNodeClass", ""), "deny " AT " spot"},
        {POOL_OF("group: karpenter.k8s.gcp, kind: GCENodeClass", IN("preemptible, on-demand")), ""},
        {POOL_OF("group: karpenter.k8s.aws, kind: EC2NodeClass", IN("preemptible, on-demand")),
         "deny " AT "[0].values[0] preemptible"},
        {POOL_OF("group: eks.amazonaws.com, kind: NodeClass", ""), ""},
        {POD(SELECTS(KEY, "'${CAPACITY}'")), ""},
    };
    rail_table_run(
        &(struct rail_table){"capacity-types: {allow: [on-demand]}", NULL, cases, COUNT_OF(cases)});
    /* what pool-shape says of the same policy */
    static const struct rail_case beside[] = {
        {POOL("", IN("ondemand")), "warn " AT " \ndeny " AT "[0].values[0] ondemand"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {allow: [on-demand]}",
                                        NULL, beside, COUNT_OF(beside)});
}

/* No node is bought for its pods. */
static void daemon_sets_are_warned(void)
{
    static const struct rail_case cases[] = {
        {"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: {spec: "
         "{" SELECTS(KEY, "spot") "}}}}",
         "warn spec.template.spec.nodeSelector[" KEY "] spot"},
    };
    rail_table_run(
        &(struct rail_table){"capacity-types: {allow: [on-demand]}", NULL, cases, COUNT_OF(cases)});
}

/* Karpenter does not read it, and buys what it likes. */
static void the_label_of_node_groups_binds_no_pool(void)
{
#define GROUPS "eks.amazonaws.com/capacityType"
    static const struct rail_case cases[] = {
        {POOL(GROUPS ": ON_DEMAND", ""), "deny " AT " spot"},
        {POOL("", "{key: " GROUPS ", operator: In, values: [ON_DEMAND]}"), "deny " AT " spot"},
        {POOL(GROUPS ": SPOT", IN("on-demand")), ""},
    };
    rail_table_run(
        &(struct rail_table){"capacity-types: {allow: [on-demand]}", NULL, cases, COUNT_OF(cases)});
}

/* No node group has Karpenter's words; a node of one's own may. */
static void the_label_of_node_groups_has_its_own_spelling(void)
{
#define OF_GROUPS(operator, values) "{key: " GROUPS ", operator: " operator", values: [" values "]}"
    static const struct rail_case cases[] = {
        {POD(SELECTS(GROUPS, "reserved")), "warn spec.nodeSelector[" GROUPS "] reserved"},
        {POD(SELECTS(GROUPS, "SPOT")), ""},
        {POD(SELECTS(KEY, "spot")), ""},
        {POD(REQUIRES(TERM(OF_GROUPS("In", "ON_DEMAND, on-demand, spot")))),
         "warn " REQUIRED "[0].matchExpressions[0].values[1] on-demand\nwarn " REQUIRED
         "[0].matchExpressions[0].values[2] spot"},
        {POD(REQUIRES(TERM(IN("spot")) ", " TERM(IN("spot") ", " OF_GROUPS("In", "spot")))),
         "warn " REQUIRED "[1].matchExpressions[1].values[0] spot"},
        {POD(REQUIRES(TERM(OF_GROUPS("NotIn", "spot")))), ""},
        {POD(PREFERS(OF_GROUPS("In", "spot"))),
         "warn " PREFERRED ".matchExpressions[0].values[0] spot"},
        /* what the API server refuses */
        {POD(REQUIRES(TERM(OF_GROUPS("In", "spot, 5")))), ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: p}}", ""},
    };
    rail_table_run(&(struct rail_table){"capacity-types: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {POD(SELECTS(GROUPS, "on-demand")),
         "No managed node group has \"on-demand\": EKS spells it ON_DEMAND.", "Use ON_DEMAND."},
        {POD(SELECTS(GROUPS, "reserved")),
         "No managed node group has \"reserved\": EKS spells it CAPACITY_BLOCK.",
         "Use CAPACITY_BLOCK."},
    };
    rail_words_run("capacity-types: {}", NULL, words, COUNT_OF(words));
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("capacity-types", "allow: [on-demand]", NULL, POOL("", ""));
    rail_modes_run("capacity-types", "allow: [on-demand]", NULL, POD(SELECTS(KEY, "spot")));
    rail_modes_since("capacity-types", "allow: [on-demand]", SELECTS(KEY, "spot"));
}

const char unit_suite[] = "policy capacity-types";
const struct unit_test unit_tests[] = {
    {"pods ask for what is allowed", pods_ask_for_what_is_allowed},
    {"pools launch what is allowed", pools_launch_what_is_allowed},
    {"who is not meant is left alone", who_is_not_meant_is_left_alone},
    {"DaemonSets are warned", daemon_sets_are_warned},
    {"the label of node groups binds no pool", the_label_of_node_groups_binds_no_pool},
    {"the label of node groups has its own spelling",
     the_label_of_node_groups_has_its_own_spelling},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
