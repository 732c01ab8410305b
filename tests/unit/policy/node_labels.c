/* The rail node-labels: what nobody offers, what was meant, and what a team may select. */
#include "rail_modes.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " spec "}"
#define SELECTS(labels) POD("{nodeSelector: {" labels "}}")
#define NODE_AFFINITY(terms)                                                          \
    POD("{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
        "{nodeSelectorTerms: [" terms "]}}}}")
#define PREFERS(expression)                                                            \
    POD("{affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: " \
        "[{weight: 1, preference: {matchExpressions: [" expression "]}}]}}}")
#define TERM(expressions) "{matchExpressions: [" expressions "]}"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define WISH(weight, intent) "{weight: " weight ", preference: " TERM(IN("intent", intent)) "}"

#define EXPRESSION_OF(index)                                                     \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." \
    "nodeSelectorTerms[0].matchExpressions[" index "]"
#define EXPRESSION EXPRESSION_OF("0")
#define SECOND                                                                   \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." \
    "nodeSelectorTerms[1].matchExpressions[0]"
#define PREFERENCE                                                                              \
    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference." \
    "matchExpressions[0]"

#define POOL(name, labels, requirements)                                                       \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: "    \
    "{template: {metadata: {labels: {" labels "}}, spec: {nodeClassRef: {group: karpenter.k8s" \
    ".aws, kind: EC2NodeClass, name: d}, requirements: [" requirements "]}}}}\n"
#define NODE(name, labels) \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {" labels "}}}\n"
#define AT(label) "spec.nodeSelector[" label "] "

static const char cluster[] =
    "apiVersion: karpenter.sh/v1\n"
    "kind: NodePool\n"
    "metadata: {name: general}\n"
    "spec: {template: {metadata: {labels: {example.com/team: web}}, spec: {\n"
    "  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default},\n"
    "  requirements: [{key: intent, operator: In, values: [apps, batch]},\n"
    "    {key: example.com/any, operator: Exists},\n"
    "    {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a, eu-west-1b]}]}}}\n"
    "---\n"
    "{apiVersion: v1, kind: Node, metadata: {name: ip-1, labels: {example.com/rack: r1,\n"
    "  kubernetes.io/arch: s390x, kubernetes.io/hostname: ip-1}}}\n";

static void labels_are_looked_up(void)
{
    static const struct rail_case cases[] = {
        {POD("{}"), ""},
        {SELECTS("example.com/team: web"), ""},
        {SELECTS("intent: batch"), ""},
        {SELECTS("example.com/any: what"), ""},
        {SELECTS("example.com/rack: r1"), ""},
        {SELECTS("karpenter.sh/nodepool: general"), ""},
        {SELECTS("karpenter.k8s.aws/ec2nodeclass: default"), ""},
        {SELECTS("example.com/team: wbe"), "deny spec.nodeSelector[example.com/team] wbe"},
        {SELECTS("intent: gpu"), "deny spec.nodeSelector.intent gpu"},
        {SELECTS("example.com/rack: r2"), "deny spec.nodeSelector[example.com/rack] r2"},
        {SELECTS("example.com/shelf: a"),
         "deny spec.nodeSelector[example.com/shelf] example.com/shelf"},
        {SELECTS("karpenter.sh/nodepool: gpu"),
         "deny spec.nodeSelector[karpenter.sh/nodepool] gpu"},
        {SELECTS("karpenter.k8s.aws/ec2nodeclass: other"),
         "deny spec.nodeSelector[karpenter.k8s.aws/ec2nodeclass] other"},
        /* others put these on nodes */
        {SELECTS("eks.amazonaws.com/nodegroup: blue"),
         "undecided spec.nodeSelector[eks.amazonaws.com/nodegroup] eks.amazonaws.com/nodegroup"},
        /* what is not there cannot be unwanted */
        {NODE_AFFINITY(TERM("{key: example.com/shelf, operator: DoesNotExist}")), ""},
        {NODE_AFFINITY(TERM("{key: example.com/shelf, operator: NotIn, values: [a]}")), ""},
        {NODE_AFFINITY(TERM("{key: example.com/shelf, operator: Gt, values: ['1']}")),
         "deny " EXPRESSION ".key example.com/shelf"},
        {NODE_AFFINITY(TERM("{key: example.com/shelf, operator: Exists}")),
         "deny " EXPRESSION ".key example.com/shelf"},
        {NODE_AFFINITY(TERM("{key: intent, operator: Exists}")), ""},
        /* one value of several: it only misleads */
        {NODE_AFFINITY(TERM(IN("intent", "apps, gpu"))), "warn " EXPRESSION ".values[1] gpu"},
        {NODE_AFFINITY(TERM(IN("intent", "gpu"))), "deny " EXPRESSION ".values[0] gpu"},
        /* one alternative of two */
        {NODE_AFFINITY(TERM(IN("intent", "gpu")) ", " TERM(IN("intent", "apps"))),
         "warn " EXPRESSION ".values[0] gpu"},
        {NODE_AFFINITY(TERM(IN("intent", "gpu")) ", " TERM(IN("intent", "ml"))),
         "deny " EXPRESSION ".values[0] gpu\ndeny " SECOND ".values[0] ml"},
        {PREFERS(IN("intent", "gpu")), "warn " PREFERENCE ".values[0] gpu"},
        /* malformed: not this rail's business */
        {POD("{nodeSelector: [a], affinity: {nodeAffinity: 5}}"), ""},
        {SELECTS("example.com/team: 5"), ""},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", cluster, cases, COUNT_OF(cases)});
}

static void well_known_labels_have_well_known_values(void)
{
#define ARCH "spec.nodeSelector[kubernetes.io/arch] "
#define ZONE "spec.nodeSelector[topology.kubernetes.io/zone] "
#define HOST "spec.nodeSelector[kubernetes.io/hostname] "
    static const struct rail_case cases[] = {
        {SELECTS("kubernetes.io/arch: arm64"), ""},
        {SELECTS("kubernetes.io/arch: s390x"), ""}, /* a Node is */
        {SELECTS("kubernetes.io/arch: x86_64"), "deny " ARCH "x86_64"},
        {SELECTS("kubernetes.io/os: Linux"), "deny spec.nodeSelector[kubernetes.io/os] Linux"},
        {SELECTS("karpenter.sh/capacity-type: ondemand"),
         "deny spec.nodeSelector[karpenter.sh/capacity-type] ondemand"},
        {SELECTS("topology.kubernetes.io/zone: eu-west-1a"), ""},
        {SELECTS("topology.kubernetes.io/zone: eu-west-1c"), "deny " ZONE "eu-west-1c"},
        {SELECTS("topology.kubernetes.io/region: eu-west-1"), ""},
        {SELECTS("topology.kubernetes.io/region: us-east-1"),
         "warn spec.nodeSelector[topology.kubernetes.io/region] us-east-1"},
        {SELECTS("kubernetes.io/hostname: ip-1"), ""},
        {SELECTS("kubernetes.io/hostname: ip-2"), "deny " HOST "ip-2"},
        {SELECTS("karpenter.k8s.aws/instance-cpu: '3'"),
         "warn spec.nodeSelector[karpenter.k8s.aws/instance-cpu] 3"},
        /* EKS Auto Mode's own names are no old ones */
        {SELECTS("eks.amazonaws.com/instance-family: m5"), ""},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", cluster, cases, COUNT_OF(cases)});
}

static void keys_that_were_meant_otherwise(void)
{
    static const struct rail_case cases[] = {
        {SELECTS("node.kubernetes.io/arch: arm64"),
         "deny spec.nodeSelector[node.kubernetes.io/arch] node.kubernetes.io/arch"},
        {SELECTS("zone: eu-west-1a"), "deny spec.nodeSelector.zone zone"},
        {SELECTS("instance-type: m5.large"), "deny spec.nodeSelector.instance-type instance-type"},
        {SELECTS("karpenter.sh/provisioner-name: default"),
         "deny spec.nodeSelector[karpenter.sh/provisioner-name] karpenter.sh/provisioner-name"},
        {SELECTS("topology.kubernetes.io/zones: eu-west-1a"),
         "deny spec.nodeSelector[topology.kubernetes.io/zones] topology.kubernetes.io/zones"},
        {SELECTS("karpenter.sh/instance-family: m5"),
         "deny spec.nodeSelector[karpenter.sh/instance-family] karpenter.sh/instance-family"},
        /* still understood */
        {SELECTS("beta.kubernetes.io/arch: arm64"),
         "warn spec.nodeSelector[beta.kubernetes.io/arch] beta.kubernetes.io/arch"},
        {SELECTS("beta.kubernetes.io/instance-type: m5.large"),
         "warn spec.nodeSelector[beta.kubernetes.io/instance-type] "
         "beta.kubernetes.io/instance-type"},
        /* a label of somebody's own */
        {SELECTS("node-restriction.kubernetes.io/zone: a"),
         "deny spec.nodeSelector[node-restriction.kubernetes.io/zone] "
         "node-restriction.kubernetes.io/zone"},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", cluster, cases, COUNT_OF(cases)});
    /* anybody may give nodes such labels: while they are not seen, nobody knows */
    static const struct rail_case unseen[] = {
        {SELECTS("node.kubernetes.io/arch: arm64"),
         "undecided spec.nodeSelector[node.kubernetes.io/arch] node.kubernetes.io/arch"},
        {SELECTS("zone: eu-west-1a"), "undecided spec.nodeSelector.zone zone"},
        {SELECTS("karpenter.sh/instance-family: m5"),
         "undecided spec.nodeSelector[karpenter.sh/instance-family] karpenter.sh/instance-family"},
        {SELECTS("beta.kubernetes.io/arch: arm64"),
         "warn spec.nodeSelector[beta.kubernetes.io/arch] beta.kubernetes.io/arch"},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", NULL, unseen, COUNT_OF(unseen)});
    /* but where the NodePools are, what only Karpenter could give them */
    static const struct rail_case without_nodes[] = {
        {SELECTS("zone: eu-west-1a"), "undecided spec.nodeSelector.zone zone"},
        {SELECTS("karpenter.sh/instance-family: m5"),
         "deny spec.nodeSelector[karpenter.sh/instance-family] karpenter.sh/instance-family"},
        {SELECTS("karpenter.sh/controller: 'true'"),
         "undecided spec.nodeSelector[karpenter.sh/controller] karpenter.sh/controller"},
        {SELECTS("karpenter.sh/nodepool: b"), "deny spec.nodeSelector[karpenter.sh/nodepool] b"},
        {SELECTS("team: web"), "undecided spec.nodeSelector.team team"},
        {SELECTS("rack: r2"), "undecided spec.nodeSelector.rack r2"},
        {SELECTS("rack: r1"), ""},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", POOL("a", "rack: r1", ""), without_nodes,
                                        COUNT_OF(without_nodes)});
}

static void values_in_the_wrong_place(void)
{
#define CATEGORY "karpenter.k8s.aws/instance-category"
#define FAMILY "karpenter.k8s.aws/instance-family"
#define TYPE "node.kubernetes.io/instance-type"
    static const struct rail_case cases[] = {
        {SELECTS(CATEGORY ": m"), ""},
        {SELECTS(CATEGORY ": m5"), "deny spec.nodeSelector[" CATEGORY "] m5"},
        {SELECTS(FAMILY ": m5.large"), "deny spec.nodeSelector[" FAMILY "] m5.large"},
        {SELECTS(FAMILY ": m"), "deny spec.nodeSelector[" FAMILY "] m"},
        {SELECTS(FAMILY ": c7id"), "warn spec.nodeSelector[" FAMILY "] c7id"},
        {SELECTS(TYPE ": trn1.32xlarge"), ""},
        {SELECTS(TYPE ": trn1-32xl"), "deny spec.nodeSelector[" TYPE "] trn1-32xl"},
        /* HyperPod's nodes say so, whatever the catalogue's have beside it */
        {SELECTS(TYPE ": ml.g5.8xlarge"), ""},
        {SELECTS(TYPE ": ml.g5.8xlarge, kubernetes.io/arch: arm64"), ""},
        {SELECTS(TYPE ": ml.g55.8xlarge"), "warn spec.nodeSelector[" TYPE "] ml.g55.8xlarge"},
        /* filled in before it is applied */
        {SELECTS(TYPE ": '${TYPE}'"), ""},
        {SELECTS(TYPE ": INSTANCE_TYPE"), ""},
        {SELECTS("kubernetes.io/arch: ARCH"), ""},
        {SELECTS("kubernetes.io/arch: ARM64"), "deny spec.nodeSelector[kubernetes.io/arch] ARM64"},
        {SELECTS("karpenter.sh/capacity-type: ON_DEMAND"),
         "deny spec.nodeSelector[karpenter.sh/capacity-type] ON_DEMAND"},
        {NODE_AFFINITY(TERM(IN(FAMILY, "'{{ .Values.family }}', m5.large"))), ""},
        {SELECTS(TYPE ": m99.large"), "warn spec.nodeSelector[" TYPE "] m99.large"},
        /* another cloud's: with no NodePool visible nobody knows */
        {SELECTS(TYPE ": e2-standard-4"), "warn spec.nodeSelector[" TYPE "] e2-standard-4"},
        {SELECTS(TYPE ": Standard_D4s_v5"), "warn spec.nodeSelector[" TYPE "] Standard_D4s_v5"},
        /* each of them exists, both together do not: g6f has a share of a GPU */
        {NODE_AFFINITY(TERM(IN(FAMILY, "g6f") ", {key: karpenter.k8s.aws/instance-gpu-count, "
                                              "operator: Gt, values: ['0']}")),
         "warn spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
         "nodeSelectorTerms[0] "},
        {NODE_AFFINITY(TERM(IN(FAMILY, "g6") ", {key: karpenter.k8s.aws/instance-gpu-count, "
                                             "operator: Gt, values: ['0']}")),
         ""},
        {SELECTS(FAMILY ": m5, kubernetes.io/arch: arm64"), "warn spec.nodeSelector "},
        /* what the catalogue knows by name alone may have any architecture */
        {SELECTS(FAMILY ": m8g-flex, kubernetes.io/arch: arm64"), ""},
        /* whatever stands before them, and with one of them under each field */
        {SELECTS("topology.kubernetes.io/zone: a, " FAMILY ": m5, kubernetes.io/arch: arm64"),
         "warn spec.nodeSelector "},
        {POD("{nodeSelector: {kubernetes.io/arch: arm64}, affinity: {nodeAffinity: "
             "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
             "[" TERM(IN(FAMILY, "m5")) "]}}}}"),
         "warn spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
         "nodeSelectorTerms[0] "},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", NULL, cases, COUNT_OF(cases)});
}

static void what_is_not_visible_is_not_decided(void)
{
    static const struct rail_case cases[] = {
        {SELECTS("intent: apps"), "undecided spec.nodeSelector.intent intent"},
        {SELECTS("karpenter.sh/nodepool: general"),
         "undecided spec.nodeSelector[karpenter.sh/nodepool] karpenter.sh/nodepool"},
        {SELECTS("kubernetes.io/hostname: ip-1"),
         "undecided spec.nodeSelector[kubernetes.io/hostname] ip-1"},
        {SELECTS("topology.kubernetes.io/zone: eu-west-1c"), ""},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", NULL, cases, COUNT_OF(cases)});
}

static void of_another_cloud_only_its_pools_tell(void)
{
    static const char azure[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: azure}, spec: {template: "
        "{spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: d}, "
        "requirements: []}}}}\n" NODE("one", "");
    static const struct rail_case cases[] = {
        {SELECTS("karpenter.azure.com/sku-family: D"), ""},
        {SELECTS("karpenter.sh/no-such-label: x"),
         "deny spec.nodeSelector[karpenter.sh/no-such-label] karpenter.sh/no-such-label"},
        {SELECTS("karpenter.k8s.aws/no-such-label: x"),
         "deny spec.nodeSelector[karpenter.k8s.aws/no-such-label] "
         "karpenter.k8s.aws/no-such-label"},
        {SELECTS("node.kubernetes.io/instance-type: Standard_D4s_v5"), ""},
        {SELECTS("intent: apps"), "deny spec.nodeSelector.intent intent"},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", azure, cases, COUNT_OF(cases)});
}

static void a_team_selects_what_it_is_granted(void)
{
    static const struct rail_case cases[] = {
        {SELECTS("karpenter.sh/nodepool: general"), ""},
        {SELECTS("karpenter.sh/nodepool: team-web-1"), ""}, /* granted counts as offered */
        {SELECTS("karpenter.sh/nodepool: gpu"),
         "deny spec.nodeSelector[karpenter.sh/nodepool] gpu"},
        {SELECTS("example.com/disk: nvme"), ""},
        {NODE_AFFINITY(TERM(IN("karpenter.sh/nodepool", "gpu")) ", " TERM(IN("intent", "apps"))),
         "deny " EXPRESSION ".values[0] gpu"},
        {PREFERS(IN("karpenter.sh/nodepool", "gpu")), "warn " PREFERENCE ".values[0] gpu"},
        /* who keeps away from a pool does not select it */
        {NODE_AFFINITY(TERM("{key: karpenter.sh/nodepool, operator: NotIn, values: [gpu]}")), ""},
        {NODE_AFFINITY(TERM("{key: karpenter.sh/nodepool, operator: Exists}")), ""},
        {NODE_AFFINITY(TERM(IN("karpenter.sh/nodepool", "general, gpu, spare"))),
         "deny " EXPRESSION ".values[1] gpu\ndeny " EXPRESSION ".values[2] spare"},
        /* a term that is not granted is not excused by one that is */
        {NODE_AFFINITY(TERM(IN("karpenter.sh/nodepool", "general")) ", " TERM(
             IN("karpenter.sh/nodepool", "gpu"))),
         "deny " SECOND ".values[0] gpu"},
        /* by either name of a label */
        {SELECTS("beta.kubernetes.io/arch: arm64"),
         "deny spec.nodeSelector[beta.kubernetes.io/arch] arm64"},
    };
    rail_table_run(
        &(struct rail_table){"node-labels: {allow: {karpenter.sh/nodepool: [general, team-web-*], "
                             "example.com/disk: ['*'], kubernetes.io/arch: [amd64]}}",
                             cluster, cases, COUNT_OF(cases)});
}

/* One of many is named that is no word of a template. */
static void a_name_that_is_none_yet_is_no_example(void)
{
    static const struct rail_words words[] = {
        {SELECTS("karpenter.sh/nodepool: zzzzzzzz"),
         "There is no NodePool zzzzzzzz, so these pods "
         "would stay Pending.",
         "Select one of 4 NodePools, such as batch, or create NodePool zzzzzzzz first."},
    };
    rail_words_run("node-labels: {}",
                   POOL("'${CLUSTER}-default'", "", "") POOL("batch", "", "")
                       POOL("general", "", "") POOL("web", "", ""),
                   words, COUNT_OF(words));
    static const struct rail_words none[] = {
        {SELECTS("karpenter.sh/nodepool: zzzzzzzz"),
         "There is no NodePool zzzzzzzz, so these pods "
         "would stay Pending.",
         "Select one of 4 NodePools, such as ${A}, or create NodePool zzzzzzzz first."},
    };
    rail_words_run("node-labels: {}",
                   POOL("'${A}'", "", "") POOL("'${B}'", "", "") POOL("'${C}'", "", "")
                       POOL("'${D}'", "", ""),
                   none, COUNT_OF(none));
}

#define ABOUT(key, operator, values) "{key: " key ", operator: " operator", values: [" values "]}"
#define NOT_IN(key, values) ABOUT(key, "NotIn", values)
#define THERE(key) "{key: " key ", operator: Exists}"
#define BY_NAME "karpenter.sh/nodepool"

/* Values that are filled in later excuse no others, and what the API server sends has none. */
static void placeholders_beside_what_is_granted(void)
{
    static const char rails[] =
        "node-labels: {allow: {karpenter.sh/nodepool: [general], team: [shared]}}";
    static const char pools[] =
        POOL("general", "team: shared", "") POOL("payments", "team: payments", "");
    static const struct rail_case of_files[] = {
        {NODE_AFFINITY(TERM(IN(BY_NAME, "payments, POOL"))),
         "deny " EXPRESSION ".values[0] payments"},
        {NODE_AFFINITY(TERM(IN("team", "'${TEAM}', payments"))),
         "deny " EXPRESSION ".values[1] payments"},
        {NODE_AFFINITY(TERM(IN(BY_NAME, "general, POOL"))), ""},
        {NODE_AFFINITY(TERM(IN(BY_NAME, "general, POOL") ", " NOT_IN(BY_NAME, "general"))), ""},
        /* it may become the only other one */
        {NODE_AFFINITY(TERM(NOT_IN(BY_NAME, "general, POOL"))), ""},
        {SELECTS(BY_NAME ": POOL"), ""},
        {SELECTS("kubernetes.io/arch: ARCH"), ""},
    };
    rail_table_run(&(struct rail_table){rails, pools, of_files, COUNT_OF(of_files)});
    static const struct rail_case sent[] = {
        {NODE_AFFINITY(TERM(IN(BY_NAME, "payments, POOL"))),
         "deny " EXPRESSION ".values[0] payments\ndeny " EXPRESSION ".values[1] POOL"},
        {NODE_AFFINITY(TERM(IN(BY_NAME, "general, POOL"))), "deny " EXPRESSION ".values[1] POOL"},
        {NODE_AFFINITY(TERM(NOT_IN(BY_NAME, "general, POOL"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(IN(BY_NAME, "general, a b"))), "deny " EXPRESSION ".values[1] a b"},
        /* it selects no node, and does not pass for one */
        {SELECTS("kubernetes.io/arch: ARCH"), ""},
        {SELECTS("kubernetes.io/arch: a b"), ""},
        {NODE_AFFINITY(TERM(NOT_IN(BY_NAME, "general, a b"))), "deny " EXPRESSION " NotIn"},
    };
    rail_table_run_sent(&(struct rail_table){rails, pools, sent, COUNT_OF(sent)});
}

/* What is left of a granted label must hold a granted value: the pools of others are reached by
 * what is ruled out, too. */
static void requirements_must_leave_what_is_granted(void)
{
    static const char rails[] = "node-labels: {allow: {karpenter.sh/nodepool: [general], team: "
                                "[shared], tier: ['1', '2'], rack: ['r-*'], kubernetes.io/arch: "
                                "[amd64], shelf: [], disk: [nvme]}}";
    static const char pools[] = POOL("general", "team: shared, tier: '1', rack: r-1, disk: nvme",
                                     "") POOL("payments", "team: payments, tier: '5', rack: x", "");
    static const struct rail_case cases[] = {
        {NODE_AFFINITY(TERM(NOT_IN(BY_NAME, "general"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN("team", "shared"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN("team", "shared") ", " THERE("team"))),
         "deny " EXPRESSION_OF("1") " Exists"},
        {NODE_AFFINITY(TERM(THERE("team") ", " NOT_IN("team", "other, shared"))),
         "deny " EXPRESSION_OF("1") " NotIn"},
        {NODE_AFFINITY(TERM(ABOUT("tier", "Gt", "'2'"))), "deny " EXPRESSION " Gt"},
        {NODE_AFFINITY(TERM(ABOUT("rack", "Gt", "'2'"))), "deny " EXPRESSION " Gt"},
        {NODE_AFFINITY(TERM(NOT_IN("kubernetes.io/arch", "amd64"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN("beta.kubernetes.io/arch", "amd64"))),
         "deny " EXPRESSION " NotIn"},
        {PREFERS(NOT_IN("team", "shared")), "warn " PREFERENCE " NotIn"},
        /* with the nodeSelector, which leaves another one of those */
        {"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeSelector: {tier: '1'}, "
         "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
         "{nodeSelectorTerms: [" TERM(NOT_IN("tier", "'1'")) "]}}}}}",
         "deny " EXPRESSION " NotIn"},
        /* such an alternative reaches nobody, so another excuses it */
        {POD("{nodeSelector: {tier: '1'}, affinity: {nodeAffinity: "
             "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
             "[" TERM(NOT_IN("tier", "'1'")) ", " TERM(IN("tier", "'1'")) "]}}}}"),
         "warn " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(IN("team", "shared") ", " NOT_IN("team", "shared")) ", " TERM(
             IN("team", "shared"))),
         "warn " EXPRESSION_OF("1") " NotIn"},
        {NODE_AFFINITY(TERM(IN("team", "shared") ", " NOT_IN("team", "shared"))),
         "deny " EXPRESSION_OF("1") " NotIn"},
        {PREFERS(IN("team", "shared") ", " NOT_IN("team", "shared")),
         "warn spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
         "preference.matchExpressions[1] NotIn"},
        /* each alternative for itself */
        {NODE_AFFINITY(TERM(IN("team", "shared")) ", " TERM(NOT_IN("team", "shared"))),
         "deny " SECOND " NotIn"},
        /* a value that is named tells it */
        {NODE_AFFINITY(TERM(IN("team", "payments") ", " NOT_IN("team", "shared"))),
         "deny " EXPRESSION ".values[0] payments"},
        /* a granted value is left */
        {NODE_AFFINITY(TERM(NOT_IN(BY_NAME, "payments"))), ""},
        {NODE_AFFINITY(TERM(THERE(BY_NAME))), ""},
        {NODE_AFFINITY(TERM(NOT_IN("tier", "'1'"))), ""},
        {NODE_AFFINITY(TERM(ABOUT("tier", "Lt", "'2'"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN("rack", "r-1"))), ""},
        {NODE_AFFINITY(TERM(IN("rack", "r-1, r-2") ", " NOT_IN("rack", "r-1"))), ""},
        /* no value is selected */
        {NODE_AFFINITY(TERM("{key: " BY_NAME ", operator: DoesNotExist}")), ""},
        {NODE_AFFINITY(TERM("{key: team, operator: DoesNotExist}")), ""},
        /* a pool has nodes without the label */
        {NODE_AFFINITY(TERM(NOT_IN("disk", "nvme"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN("disk", "nvme") ", " THERE("disk"))),
         "deny " EXPRESSION_OF("1") " Exists"},
        /* none is granted */
        {NODE_AFFINITY(TERM(THERE("shelf"))), ""},
    };
    rail_table_run(&(struct rail_table){rails, pools, cases, COUNT_OF(cases)});
    /* whom else it reaches is not to be seen, or nobody */
    static const struct rail_case alone[] = {
        {NODE_AFFINITY(TERM(NOT_IN(BY_NAME, "general"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN("team", "shared"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN("team", "shared") ", " THERE("team"))),
         "deny " EXPRESSION_OF("1") " Exists"},
    };
    rail_table_run(
        &(struct rail_table){rails, POOL("general", "team: shared", ""), alone, COUNT_OF(alone)});
    rail_table_run(&(struct rail_table){rails, NULL, alone, COUNT_OF(alone)});
    rail_table_run_unseen(&(struct rail_table){rails, pools, alone, COUNT_OF(alone)},
                          KIND_BIT(KIND_NODE_POOL));
    static const struct rail_case open[] = {
        {NODE_AFFINITY(TERM(NOT_IN("team", "shared"))), "deny " EXPRESSION " NotIn"}};
    rail_table_run(&(struct rail_table){rails, POOL("general", "", "{key: team, operator: Exists}"),
                                        open, COUNT_OF(open)});
    static const struct rail_words words[] = {
        {NODE_AFFINITY(TERM(NOT_IN("team", "shared"))),
         "This rules out every value of team that is granted here: shared.",
         "Remove the requirements on team. For nodes without the label, require DoesNotExist of it "
         "and nothing else."},
        {NODE_AFFINITY(TERM(NOT_IN("kubernetes.io/arch", "amd64"))),
         "This rules out every value of kubernetes.io/arch that is granted here: amd64.",
         "Remove the requirements on kubernetes.io/arch."},
        /* what rules it out is the nodeSelector, too */
        {POD("{nodeSelector: {tier: '1'}, affinity: {nodeAffinity: "
             "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
             "[" TERM(NOT_IN("tier", "'1'")) "]}}}}"),
         "Beside the nodeSelector this leaves no value of tier.",
         "Remove the requirements on tier from the affinity."},
        {POD("{nodeSelector: {tier: '1'}, affinity: {nodeAffinity: "
             "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
             "[" TERM(NOT_IN("tier", "'1', '2'")) "]}}}}"),
         "This rules out every value of tier that is granted here: 1 and 2.",
         "Remove the requirements on tier. For nodes without the label, require DoesNotExist of it "
         "and nothing else."},
    };
    rail_words_run(rails, pools, words, COUNT_OF(words));
}

/* Where all nodes are seen, a granted value that none of them has does not excuse the others. */
static void a_granted_value_must_be_there(void)
{
    static const char rails[] = "node-labels: {allow: {karpenter.sh/nodepool: [general, gone], "
                                "team: [shared, gone], rack: ['r-*'], any: [a], tier: [gone], "
                                "kubernetes.io/hostname: [one, gone], "
                                "node.kubernetes.io/windows-build: [10.0.17763], "
                                "eks.amazonaws.com/nodegroup: [a, b]}}";
    static const char pools[] =
        POOL("general", "team: shared, rack: r-1", "{key: any, operator: Exists}")
            POOL("payments", "team: payments, rack: x, any: b, tier: x", "")
                NODE("one", "eks.amazonaws.com/nodegroup: c, kubernetes.io/hostname: one")
                    NODE("two", "kubernetes.io/hostname: two, "
                                "node.kubernetes.io/windows-build: 10.0.20348");
    static const struct rail_case cases[] = {
        {NODE_AFFINITY(TERM(NOT_IN("team", "shared"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(THERE("team") ", " NOT_IN("team", "shared"))),
         "deny " EXPRESSION_OF("1") " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(BY_NAME, "general"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN("rack", "r-1"))), "deny " EXPRESSION " NotIn"},
        /* one is there, or is named */
        {NODE_AFFINITY(TERM(THERE("team"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN(BY_NAME, "payments"))), ""},
        {NODE_AFFINITY(TERM(IN("team", "gone"))), ""},
        {NODE_AFFINITY(TERM(IN(BY_NAME, "gone, general") ", " NOT_IN(BY_NAME, "general"))), ""},
        /* no other is reached */
        {NODE_AFFINITY(TERM(THERE("team") ", " NOT_IN("team", "shared, payments"))), ""},
        /* any value may be there, or come */
        {NODE_AFFINITY(TERM(NOT_IN("any", "b"))), ""},
        {NODE_AFFINITY(TERM(THERE("eks.amazonaws.com/nodegroup"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN("kubernetes.io/hostname", "one"))), ""},
        {NODE_AFFINITY(TERM(THERE("node.kubernetes.io/windows-build"))), ""},
        /* what cannot be read is about nothing */
        {NODE_AFFINITY(TERM(THERE("tier"))), "deny " EXPRESSION " Exists"},
        {NODE_AFFINITY(TERM("{key: tier, operator: In, values: []}")), ""},
    };
    rail_table_run(&(struct rail_table){rails, pools, cases, COUNT_OF(cases)});
    static const struct rail_case unseen[] = {
        {NODE_AFFINITY(TERM(THERE("team") ", " NOT_IN("team", "shared"))), ""}};
    rail_table_run_unseen(&(struct rail_table){rails, pools, unseen, COUNT_OF(unseen)},
                          KIND_BIT(KIND_NODE));
    static const struct rail_case pools_unseen[] = {
        {NODE_AFFINITY(TERM(THERE("team") ", " NOT_IN("team", "shared"))), ""},
        {NODE_AFFINITY(TERM(THERE(BY_NAME) ", " NOT_IN(BY_NAME, "general"))), ""},
    };
    rail_table_run_unseen(&(struct rail_table){rails, pools, pools_unseen, COUNT_OF(pools_unseen)},
                          KIND_BIT(KIND_NODE_POOL));
    static const struct rail_words words[] = {
        {NODE_AFFINITY(TERM(NOT_IN("team", "shared"))),
         "Of the values of team that nodes have, this leaves none that is granted here, only "
         "payments.",
         "Require In of team, with shared or gone, in place of what is required of it."},
    };
    rail_words_run(rails, pools, words, COUNT_OF(words));
    static const char many[] =
        POOL("a", "", IN("tier", "t1, t2, t3, t4, t5, t6, t7")) NODE("one", "");
    static const struct rail_words others[] = {
        {NODE_AFFINITY(TERM(THERE("tier"))),
         "Of the values of tier that nodes have, this leaves none that is granted here, only t1, "
         "t2, t3, t4, t5 and 2 more.",
         "Require In of tier, with gone, in place of what is required of it."},
    };
    rail_words_run(rails, many, others, COUNT_OF(others));
}

/* With a label that every node has, or every node of EC2, NotIn reaches those of others. */
static void labels_that_every_node_has(void)
{
#define AWS "karpenter.k8s.aws/instance-"
#define AUTO "eks.amazonaws.com/instance-"
#define ZONE_ID "topology.k8s.aws/zone-id"
#define POOL_OF(name, group, kind)                                                          \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: " \
    "{template: {spec: {nodeClassRef: {group: " group ", kind: " kind ", name: d}, "        \
    "requirements: []}}}}\n"
#define AUTO_POOL POOL_OF("auto", "eks.amazonaws.com", "NodeClass")
#define DELETED_POOL                                                                      \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: going, "         \
    "deletionTimestamp: '2026-11-01T00:00:00Z'}, spec: {template: {spec: {nodeClassRef: " \
    "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: []}}}}\n"
    static const char rails[] =
        "node-labels: {allow: {kubernetes.io/hostname: [n1], " ZONE_ID ": [use1-az1], " AWS
        "family: [m5], " AWS "category: [m], " AWS "size: [large], " AWS "cpu-manufacturer: "
        "[intel], " AWS "generation: ['5'], " AWS "cpu: ['4'], " AWS "memory: ['8192'], " AWS
        "local-nvme: ['300'], " AWS "tenancy: [default]}}";
    static const struct rail_case cases[] = {
        {NODE_AFFINITY(TERM(NOT_IN("kubernetes.io/hostname", "n1"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(ZONE_ID, "use1-az1"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "family", "m5"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "category", "m"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "size", "large"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "cpu-manufacturer", "intel"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "generation", "'5'"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "cpu", "'4'"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "memory", "'8192'"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "tenancy", "default"))), "deny " EXPRESSION " NotIn"},
        /* some machines are without; EKS Auto Mode's names are on its own nodes alone */
        {NODE_AFFINITY(TERM(NOT_IN(AWS "local-nvme", "'300'"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN(AUTO "family", "m5"))), ""},
    };
    rail_table_run(&(struct rail_table){rails, POOL("a", "", ""), cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {NODE_AFFINITY(TERM(NOT_IN(AWS "cpu-manufacturer", "intel"))),
         "This rules out every value of " AWS "cpu-manufacturer that is granted here: intel.",
         "Remove the requirements on " AWS "cpu-manufacturer."},
    };
    rail_words_run(rails, POOL("a", "", ""), words, COUNT_OF(words));
    static const struct rail_case of_auto_mode[] = {
        {NODE_AFFINITY(TERM(NOT_IN(AUTO "family", "m5"))), "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(AUTO "cpu-manufacturer", "intel"))),
         "deny " EXPRESSION " NotIn"},
        {NODE_AFFINITY(TERM(NOT_IN(AUTO "tenancy", "default"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "family", "m5"))), ""},
    };
    rail_table_run(&(struct rail_table){rails, AUTO_POOL, of_auto_mode, COUNT_OF(of_auto_mode)});
    /* no machine of others is bought, or nodes without the label are */
    static const struct rail_case types[] = {
        {NODE_AFFINITY(TERM(NOT_IN(AWS "family", "m5"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "category", "m"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "cpu-manufacturer", "intel"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "generation", "'5'"))), ""},
    };
    static const char *const none[] = {
        NULL,
        POOL("a", "", IN(AWS "family", "m5")),
        POOL("a", "", IN(AWS "family", "m5") ", " NOT_IN(AWS "cpu-manufacturer", "amd")),
        POOL("a", "", "") POOL_OF("azure", "karpenter.azure.com", "AKSNodeClass"),
        POOL("a", "", "") AUTO_POOL,
        POOL("a", "", IN(AWS "family", "m5") ", " NOT_IN(AWS "cpu-manufacturer", "amd"))
            DELETED_POOL,
    };
    for (size_t i = 0; i < COUNT_OF(none); i++)
        rail_table_run(&(struct rail_table){rails, none[i], types, COUNT_OF(types)});
    /* what a NodePool leaves open is judged by what it may buy */
    static const struct rail_case open[] = {
        {NODE_AFFINITY(TERM(NOT_IN(AWS "cpu-manufacturer", "intel"))), "deny " EXPRESSION " NotIn"},
    };
    rail_table_run(&(struct rail_table){
        rails, POOL("a", "", "{key: " AWS "cpu-manufacturer, operator: Exists}"), open, 1});
    /* who made the CPUs is not known of any type of the family */
    static const struct rail_case unknown[] = {
        {NODE_AFFINITY(TERM(NOT_IN(AWS "cpu-manufacturer", "intel"))), ""},
        {NODE_AFFINITY(TERM(NOT_IN(AWS "family", "m5"))), "deny " EXPRESSION " NotIn"},
    };
    rail_table_run(&(struct rail_table){rails, POOL("a", "", IN(AWS "family", "g2")), unknown,
                                        COUNT_OF(unknown)});
    /* of one it is, so of all of its family */
    rail_table_run(&(struct rail_table){rails, POOL("a", "", IN(AWS "family", "u-24tb1")), unknown,
                                        COUNT_OF(unknown)});
#undef AWS
}

/* The old object and the new one; or terms of Pods. */
struct updated {
    const char *cluster, *old, *object;
    enum action action;
};

/* Returns what judging it takes of memory. */
static size_t updated_run_whole(const char *rails, const struct updated *updated)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(rails, updated->cluster, arena);
    struct rail_documents read[] = {rail_table_read(updated->old, arena),
                                    rail_table_read(updated->object, arena)};
    const struct subject subject = {
        .operation = OPERATION_UPDATE, .object = read[1].items, .old_object = read[0].items};
    struct verdict verdict;
    size_t before = arena_used_bytes(arena);
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    size_t bytes = arena_used_bytes(arena) - before;
    if (verdict.action != updated->action)
        fprintf(stderr, "%s\n  to %s\n", updated->old, updated->object);
    ASSERT_INT(verdict.action, updated->action);
    arena_destroy(arena);
    return bytes;
}

static size_t updated_run(const char *rails, const struct updated *terms)
{
    struct arena *arena = arena_create((size_t)16 << 20);
    const struct updated updated = {
        terms->cluster, arena_printf(arena, NODE_AFFINITY("%s"), terms->old).data,
        arena_printf(arena, NODE_AFFINITY("%s"), terms->object).data, terms->action};
    size_t bytes = updated_run_whole(rails, &updated);
    arena_destroy(arena);
    return bytes;
}

/* Whoever reaches more of what is not granted than before is not excused by that. */
static void what_an_update_reaches_is_new(void)
{
    static const char seen[] =
        POOL("a", "team: a", "") POOL("b", "team: b", "") POOL("c", "team: c", "");
#define ALL(values) TERM(THERE("team") ", " NOT_IN("team", values))
    static const struct updated cases[] = {
        {seen, ALL("a, b, c"), TERM(NOT_IN("team", "a")), ACTION_DENY},
        {seen, TERM(NOT_IN("team", "a, b")), TERM(NOT_IN("team", "a")), ACTION_DENY},
        {seen, TERM(NOT_IN("team", "a")), TERM(NOT_IN("team", "a")), ACTION_AUDIT},
        {seen, TERM(NOT_IN("team", "a")), TERM(NOT_IN("team", "a, b")), ACTION_AUDIT},
        /* one term reaches what two did; no node has d */
        {seen, TERM(NOT_IN("team", "a, b")) ", " TERM(NOT_IN("team", "a, c")),
         TERM(NOT_IN("team", "a")), ACTION_AUDIT},
        {seen, TERM(NOT_IN("team", "a, d")), TERM(NOT_IN("team", "a")), ACTION_AUDIT},
        /* a value that is named is no matter of what was reached */
        {seen, TERM(NOT_IN("team", "a")), TERM(NOT_IN("team", "a") ", " IN("tier", "'2'")),
         ACTION_DENY},
        /* a NodePool leaves it open what is reached */
        {POOL("a", "", THERE("team")), ALL("a, b"), ALL("a"), ACTION_DENY},
        {POOL("a", "", THERE("team")), ALL("a"), ALL("a"), ACTION_AUDIT},
        /* of another label */
        {seen, TERM(ABOUT("tier", "Gt", "'1'")), TERM(NOT_IN("team", "a")), ACTION_DENY},
        /* nobody knows what is reached */
        {NULL, TERM(IN("team", "a") ", " NOT_IN("team", "a")),
         TERM(THERE("team") ", " NOT_IN("team", "a")), ACTION_DENY},
        {NULL, TERM(IN("team", "a") ", " NOT_IN("team", "a")),
         TERM(IN("team", "a") ", " NOT_IN("team", "a")), ACTION_AUDIT},
        {NULL, ALL("a"), ALL("a"), ACTION_AUDIT},
        {NULL, ALL("a, b"), ALL("a"), ACTION_DENY},
        {NULL, ALL("a"), ALL("a, b"), ACTION_AUDIT},
        {NULL, ALL("a, b"), ALL("b, a"), ACTION_AUDIT},
        {NULL, ALL("a, b"), TERM(NOT_IN("team", "a, b") ", " THERE("team")), ACTION_AUDIT},
        {NULL, ALL("a"), ALL("a") ", " ALL("a, b"), ACTION_AUDIT},
        {NULL, ALL("a, b") ", " ALL("a, c"), ALL("a"), ACTION_DENY},
        {NULL, TERM(ABOUT("tier", "Gt", "'3'")), TERM(ABOUT("tier", "Gt", "'4'")), ACTION_AUDIT},
        {NULL, TERM(ABOUT("tier", "Gt", "'4'")), TERM(ABOUT("tier", "Gt", "'3'")), ACTION_DENY},
        {NULL, TERM(ABOUT("tier", "Gt", "'3'")), TERM(THERE("tier") ", " NOT_IN("tier", "'1'")),
         ACTION_DENY},
        {NULL, TERM(THERE("tier") ", " NOT_IN("tier", "'1'")), TERM(ABOUT("tier", "Gt", "'3'")),
         ACTION_AUDIT},
    };
    static const char rails[] = "node-labels: {allow: {team: [a], tier: ['1']}}";
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        (void)updated_run(rails, &cases[i]);
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
#define BOTH(required, preferred) \
    POD("{affinity: {nodeAffinity: {" REQUIRED required "]}, " PREFERRED preferred "}]}}}")
#define NOT_A TERM(NOT_IN("team", "a"))
#define IS_A TERM(IN("team", "a"))
    /* what a term reached excuses no preference, nor the other way round */
    static const struct updated places[] = {
        {seen, BOTH(NOT_A, NOT_A), BOTH(NOT_A, NOT_A), ACTION_AUDIT},
        {seen, BOTH(NOT_A, IS_A), BOTH(NOT_A, NOT_A), ACTION_WARN},
        {seen, BOTH(IS_A, NOT_A), BOTH(NOT_A, NOT_A), ACTION_DENY},
    };
    for (size_t i = 0; i < COUNT_OF(places); i++)
        (void)updated_run_whole(rails, &places[i]);
#undef ALL
}

/* There may be thousands of nodes, and many terms that reach each of them. */
static void an_update_beside_many_nodes_takes_little(void)
{
    enum { NODES = 4000, TERMS = 20, MOST_BYTES = 512 << 10 };
    struct arena *arena = arena_create((size_t)16 << 20);
    struct text_builder nodes = {.arena = arena}, terms = {.arena = arena};
    text_builder_printf(&nodes, "%s", POOL("a", "", ""));
    for (int i = 0; i < NODES; i++)
        text_builder_printf(&nodes, NODE("n%d", "kubernetes.io/hostname: ip-10-0-0-%d.internal"), i,
                            i);
    for (int i = 0; i < TERMS; i++)
        text_builder_printf(&terms, "%s" TERM(NOT_IN("kubernetes.io/hostname", "good, x%d")),
                            i == 0 ? "" : ", ", i);
    const struct updated updated = {text_builder_text(&nodes).data, text_builder_text(&terms).data,
                                    text_builder_text(&terms).data, ACTION_AUDIT};
    size_t bytes = updated_run("node-labels: {allow: {kubernetes.io/hostname: [good]}}", &updated);
    if (bytes > MOST_BYTES)
        fprintf(stderr, "%zu bytes\n", bytes);
    CU_ASSERT_TRUE(bytes <= MOST_BYTES);
    arena_destroy(arena);
}

static void every_kind_of_workload(void)
{
#define LABELLED "{spec: {nodeSelector: {intent: gpu}}}"
#define OF(api, kind, spec) \
    "{apiVersion: " api ", kind: " kind ", metadata: {name: a}, spec: " spec "}"
    static const char found[] = "deny spec.template.spec.nodeSelector.intent gpu";
    static const struct rail_case cases[] = {
        {OF("apps/v1", "Deployment", "{template: " LABELLED "}"), found},
        {OF("apps/v1", "ReplicaSet", "{template: " LABELLED "}"), found},
        {OF("v1", "ReplicationController", "{template: " LABELLED "}"), found},
        {OF("apps/v1", "StatefulSet", "{template: " LABELLED "}"), found},
        {OF("batch/v1", "Job", "{template: " LABELLED "}"), found},
        {OF("batch/v1", "CronJob", "{jobTemplate: {spec: {template: " LABELLED "}}}"),
         "deny spec.jobTemplate.spec.template.spec.nodeSelector.intent gpu"},
        /* no node is bought for these */
        {OF("apps/v1", "DaemonSet", "{template: " LABELLED "}"),
         "warn spec.template.spec.nodeSelector.intent gpu"},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", cluster, cases, COUNT_OF(cases)});
}

/* What a NodePool or a Node carries under a name that usually means another is that label. */
static void whoever_has_the_label_offers_it(void)
{
    static const char pools[] = POOL("a", "zone: left, beta.kubernetes.io/arch: amd64", "")
        POOL("b", "", "{key: rack, operator: Exists}, {key: gone, operator: DoesNotExist}")
            NODE("one", "eks.amazonaws.com/nodegroup: blue, rack: r1")
                NODE("two", "eks.amazonaws.com/nodegroup: red, alpha.eksctl.io/zone: x");
    static const struct rail_case cases[] = {
        {SELECTS("zone: left"), ""},
        {SELECTS("zone: right"), "deny spec.nodeSelector.zone right"},
        {SELECTS("beta.kubernetes.io/arch: amd64"), ""},
        {SELECTS("beta.kubernetes.io/os: linux"),
         "warn " AT("beta.kubernetes.io/os") "beta.kubernetes.io/os"},
        {SELECTS("rack: r9"), ""},
        {SELECTS("gone: x"), "deny spec.nodeSelector.gone gone"},
        /* others may yet add nodes with other values */
        {SELECTS("eks.amazonaws.com/nodegroup: blue"), ""},
        {SELECTS("eks.amazonaws.com/nodegroup: red"), ""},
        {SELECTS("eks.amazonaws.com/nodegroup: green"),
         "undecided " AT("eks.amazonaws.com/nodegroup") "green"},
        {NODE_AFFINITY(TERM(IN("eks.amazonaws.com/nodegroup", "green, blue"))),
         "undecided " EXPRESSION ".values[0] green"},
        {NODE_AFFINITY(TERM("{key: eks.amazonaws.com/nodegroup, operator: Exists}")), ""},
        {NODE_AFFINITY(TERM("{key: eks.amazonaws.com/compute, operator: NotIn, values: [a]}")), ""},
        /* who keeps away from a zone means one, and does not */
        {NODE_AFFINITY(TERM("{key: region, operator: NotIn, values: [eu-west-1]}")),
         "deny " EXPRESSION ".key region"},
        {NODE_AFFINITY(TERM("{key: region, operator: DoesNotExist}")),
         "deny " EXPRESSION ".key region"},
        /* what cannot be read the API server refuses */
        {NODE_AFFINITY(TERM("{key: shelf, operator: Is, values: [a]}")), ""},
        {NODE_AFFINITY(TERM("{key: shelf, operator: In}")), ""},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", pools, cases, COUNT_OF(cases)});
    static const struct rail_case of_pool[] = {{SELECTS("eks.amazonaws.com/nodegroup: green"),
                                                "deny " AT("eks.amazonaws.com/nodegroup") "green"}};
    rail_table_run(&(struct rail_table){
        "node-labels: {}", POOL("a", "eks.amazonaws.com/nodegroup: blue", "") NODE("one", ""),
        of_pool, 1});
}

/* Terms are alternatives: while one of them may come true, the others only mislead. */
static void one_way_to_a_node_is_enough(void)
{
#define UNDECIDED TERM(IN("eks.amazonaws.com/nodegroup", "blue"))
#define IMPOSSIBLE TERM(IN("intent", "gpu"))
#define MISSPELT TERM(IN("beta.kubernetes.io/arch", "amd64"))
#define FAMILY "karpenter.k8s.aws/instance-family"
#define ARM64 "kubernetes.io/arch: arm64"
    static const struct rail_case cases[] = {
        {NODE_AFFINITY(IMPOSSIBLE ", " UNDECIDED),
         "warn " EXPRESSION ".values[0] gpu\nundecided " SECOND ".key eks.amazonaws.com/nodegroup"},
        {NODE_AFFINITY(UNDECIDED ", " IMPOSSIBLE),
         "undecided " EXPRESSION ".key eks.amazonaws.com/nodegroup\nwarn " SECOND ".values[0] gpu"},
        {NODE_AFFINITY(IMPOSSIBLE ", " MISSPELT),
         "warn " EXPRESSION ".values[0] gpu\nwarn " SECOND ".key beta.kubernetes.io/arch"},
        {NODE_AFFINITY(TERM(IN("intent", "gpu") ", " IN("rack", "r9"))),
         "deny " EXPRESSION ".values[0] gpu\ndeny spec.affinity.nodeAffinity."
         "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1]."
         "key rack"},
        /* the selector is no alternative */
        {POD("{nodeSelector: {intent: gpu}, affinity: {nodeAffinity: "
             "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
             "[" TERM(IN("intent", "apps")) "]}}}}"),
         "deny spec.nodeSelector.intent gpu"},
        /* a term that names no type adds nothing to what the selector leaves of them */
        {POD("{nodeSelector: {" ARM64 ", " FAMILY ": m5}, affinity: {nodeAffinity: "
             "{requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
             "[" TERM(IN("intent", "apps")) ", " TERM("{key: " FAMILY
                                                      ", operator: Is, values: [m5]}") "]}}}}"),
         "warn spec.nodeSelector "},
        /* one preference after the other, and what is wrong with a second label */
        {POD("{affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
             "[" WISH("1", "apps") ", " WISH("2", "gpu") ", " WISH("3", "ml") "]}}}"),
         "warn spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[1]."
         "preference.matchExpressions[0].values[0] gpu\n"
         "warn spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[2]."
         "preference.matchExpressions[0].values[0] ml"},
        {PREFERS(IN("intent", "apps") ", " IN("intent", "gpu")),
         "warn spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
         "preference.matchExpressions[1].values[0] gpu"},
        /* a preference stands by itself: what the selector leaves is the selector's matter */
        {PREFERS(IN(FAMILY, "m5") ", " IN("kubernetes.io/arch", "arm64")),
         "warn spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
         "preference "},
    };
    rail_table_run(&(struct rail_table){"node-labels: {}", cluster, cases, COUNT_OF(cases)});
}

/* No node is bought for a DaemonSet: it runs on those that are there. */
static void a_daemon_set_is_warned(void)
{
#define DAEMON_SET(spec) OF("apps/v1", "DaemonSet", "{template: {spec: " spec "}}")
#define DAEMON_TERMS                                                                           \
    "spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." \
    "nodeSelectorTerms"
    static const struct rail_case cases[] = {
        {DAEMON_SET("{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                    "{nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, "
                    "operator: NotIn, values: [ip-1]}]}]}}}}"),
         ""},
        {DAEMON_SET("{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                    "{nodeSelectorTerms: [" IMPOSSIBLE "]}}}}"),
         "warn " DAEMON_TERMS "[0].matchExpressions[0].values[0] gpu"},
        {DAEMON_SET("{nodeSelector: {example.com/shelf: a}}"),
         "warn spec.template.spec.nodeSelector[example.com/shelf] example.com/shelf"},
        /* what a team may not use it may not use with a DaemonSet either */
        {DAEMON_SET("{nodeSelector: {karpenter.sh/nodepool: gpu}}"),
         "deny spec.template.spec.nodeSelector[karpenter.sh/nodepool] gpu"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, ownerReferences: [{apiVersion: apps/v1, "
         "kind: DaemonSet, name: d, uid: u, controller: true}]}, spec: {nodeSelector: {intent: "
         "gpu}}}",
         "deny spec.nodeSelector.intent gpu"}, /* as anybody can write it: policy_daemon_pods.c */
    };
    rail_table_run(&(struct rail_table){"node-labels: {allow: {karpenter.sh/nodepool: [general]}}",
                                        cluster, cases, COUNT_OF(cases)});
}

/* What Karpenter ignores is noted, what cannot be seen stays so, and what is forbidden weighs no
 * more than the rest of a wish. */
static void wishes_that_karpenter_ignores(void)
{
    static const struct rail_case cases[] = {
        {PREFERS(IN("intent", "gpu")), "audit " PREFERENCE ".values[0] gpu"},
        {PREFERS(IN("karpenter.sh/nodepool", "gpu")), "audit " PREFERENCE ".values[0] gpu"},
        {PREFERS(IN("beta.kubernetes.io/arch", "amd64")),
         "audit " PREFERENCE ".key beta.kubernetes.io/arch"},
        {PREFERS(IN("eks.amazonaws.com/nodegroup", "blue")),
         "undecided " PREFERENCE ".key eks.amazonaws.com/nodegroup"},
    };
    rail_table_run(&(struct rail_table){
        "node-labels: {allow: {karpenter.sh/nodepool: [general]}}}, karpenter: {preferencePolicy: "
        "Ignore",
        cluster, cases, COUNT_OF(cases)});
}

const char unit_suite[] = "policy node-labels";
const struct unit_test unit_tests[] = {
    {"labels are looked up", labels_are_looked_up},
    {"well-known labels have well-known values", well_known_labels_have_well_known_values},
    {"keys that were meant otherwise", keys_that_were_meant_otherwise},
    {"values in the wrong place", values_in_the_wrong_place},
    {"what is not visible is not decided", what_is_not_visible_is_not_decided},
    {"of another cloud only its pools tell", of_another_cloud_only_its_pools_tell},
    {"a team selects what it is granted", a_team_selects_what_it_is_granted},
    {"a name that is none yet is no example", a_name_that_is_none_yet_is_no_example},
    {"placeholders beside what is granted", placeholders_beside_what_is_granted},
    {"requirements must leave what is granted", requirements_must_leave_what_is_granted},
    {"a granted value must be there", a_granted_value_must_be_there},
    {"labels that every node has", labels_that_every_node_has},
    {"what an update reaches is new", what_an_update_reaches_is_new},
    {"an update beside many nodes takes little", an_update_beside_many_nodes_takes_little},
    {"every kind of workload", every_kind_of_workload},
    {"whoever has the label offers it", whoever_has_the_label_offers_it},
    {"one way to a node is enough", one_way_to_a_node_is_enough},
    {"a DaemonSet is warned", a_daemon_set_is_warned},
    {"wishes that Karpenter ignores", wishes_that_karpenter_ignores},
    {NULL, NULL},
};
