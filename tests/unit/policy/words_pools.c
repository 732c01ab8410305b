/* What the rails on NodePools and their classes say: the sentence and the fix. */
#include "rail_modes.h"

#define POOL_OF(version, disruption, template)                                            \
    "{apiVersion: karpenter.sh/" version                                                  \
    ", kind: NodePool, metadata: {name: a}, spec: {disruption: "                          \
    "{" disruption "}, template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: " \
    "EC2NodeClass, name: c}, requirements: []" template "}}}}\n"
#define BUDGETS(budgets) POOL_OF("v1", "budgets: [" budgets "]", ", expireAfter: Never")
#define BLOCK(schedule, duration) "{nodes: '0', schedule: '" schedule "', duration: " duration "}"
#define NODE(name, created)                                                                     \
    "---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", creationTimestamp: '" created \
    "', labels: {karpenter.sh/nodepool: a}}}\n"

#define HOURS                                                                                    \
    "Add to spec.disruption.budgets the hours in which they must stay, in UTC: [{nodes: \"0\", " \
    "schedule: \"0 9 * * mon-fri\", duration: 8h}"

static void budgets(void)
{
    static const struct rail_words rows[] = {
        {BUDGETS("{nodes: 'many'}"), "\"many\" is neither a number of nodes nor a percentage.",
         "Write a number or a percentage in quotes, such as \"5\" or \"10%\"."},
        {BUDGETS("{nodes: '0', schedule: '0 9 * *', duration: 8h}"),
         "Karpenter cannot read the schedule \"0 9 * *\" (it has 4 fields, and must have five: "
         "minute, hour, day of month, month, day of week). It then disrupts no node of the pool, "
         "for any reason.",
         "Write five fields in UTC, such as \"0 9 * * mon-fri\"."},
        {BUDGETS("{nodes: '0', schedule: '0 9 * * *', duration: long}"), "\"long\" is no duration.",
         "Write hours and minutes, such as 8h or 1h30m."},
        {BUDGETS("{nodes: '0', schedule: '0 9 * * *'}"),
         "The budget has a schedule and no duration, so it never ends.",
         "Say how long it lasts, such as duration: 8h."},
        {BUDGETS("{nodes: '0', duration: 8h}"),
         "The budget has a duration and no schedule. Karpenter cannot read it, and disrupts no "
         "node of the pool.",
         "Say when it begins, in UTC, such as schedule: \"0 9 * * mon-fri\"."},
        {BUDGETS("{nodes: '0'}"),
         "A budget of \"0\" holds at all times and for all reasons. Nodes are never consolidated, "
         "and drifted ones never replaced.",
         "Give the budget a schedule and a duration, or the reasons it is for."},
        {BUDGETS("{nodes: '0', reasons: [Drifted]}, {nodes: '0', reasons: [Empty]}, "
                 "{nodes: 0%, reasons: [Underutilized]}"),
         "Budgets of 0 nodes hold at all times, and together they are for all reasons. Nodes are "
         "never consolidated, and drifted ones never replaced.",
         "Give spec.disruption.budgets[2] a schedule and a duration, or nodes: \"1\" or more."},
        /* each reason has two: one of them alone would change nothing */
        {BUDGETS("{nodes: '0', reasons: [Drifted]}, {nodes: '0', reasons: [Drifted]}, "
                 "{nodes: '0', reasons: [Empty, Underutilized]}, {nodes: '0', reasons: [Empty, "
                 "Underutilized]}"),
         "Budgets of 0 nodes hold at all times, and together they are for all reasons. Nodes are "
         "never consolidated, and drifted ones never replaced.",
         "Let no budget of 0 nodes for Underutilized hold at all times: give "
         "spec.disruption.budgets[2] and spec.disruption.budgets[3] a schedule and a duration, or "
         "nodes: \"1\" or more."},
        {BUDGETS("{nodes: '0', reasons: [Drifted]}, {nodes: '0', reasons: [Drifted]}, "
                 "{nodes: '0', reasons: [Empty, Underutilized]}"),
         "Budgets of 0 nodes hold at all times, and together they are for all reasons. Nodes are "
         "never consolidated, and drifted ones never replaced.",
         "Give spec.disruption.budgets[2] a schedule and a duration, or nodes: \"1\" or more."},
        {BUDGETS("{nodes: '0', reasons: [Drifted]}, {nodes: '0'}"),
         "A budget of \"0\" holds at all times and for all reasons. Nodes are never consolidated, "
         "and drifted ones never replaced.",
         "Give spec.disruption.budgets[1] a schedule and a duration, or nodes: \"1\" or more."},
        {BUDGETS(BLOCK("0 0 * * *", "24h")),
         "The budgets of 0 nodes cover all of the time. No window ever opens in which a node may "
         "be replaced.",
         "Shorten a duration, or name fewer days."},
        {BUDGETS("{nodes: 10%}"),
         "No budget keeps disruption inside windows. Nodes may be replaced at any hour.",
         HOURS "]."},
        /* blocked by the hour, but not for every reason */
        {BUDGETS("{nodes: '0', schedule: '0 9 * * *', duration: 8h, reasons: [Empty]}, "
                 "{nodes: 10%}"),
         "No budget keeps disruption inside windows. Nodes may be replaced at any hour.",
         HOURS "]."},
        {POOL_OF("v1", "", ""),
         "No budget keeps disruption inside windows. Nodes may be replaced at any hour.",
         HOURS ", {nodes: \"10%\"}]."},
        /* for ever, but not for every reason */
        {BUDGETS("{nodes: '0', reasons: [Empty, Drifted]}, {nodes: 10%}"),
         "No budget keeps disruption inside windows. Nodes may be replaced at any hour.",
         HOURS "]."},
    };
    rail_words_run("disruption-budgets: {requireWindow: true, consolidationPolicies: "
                   "[WhenEmptyOrUnderutilized]}",
                   NULL, rows, COUNT_OF(rows));
    static const struct rail_words policies[] = {
        {POOL_OF("v1", "consolidationPolicy: Always", ", expireAfter: Never"),
         "consolidationPolicy Always is not allowed here.", "Set it to WhenEmpty."},
        {POOL_OF("v1", "", ""),
         "Without consolidationPolicy it is WhenEmptyOrUnderutilized, which is not allowed here.",
         "Set it to WhenEmpty."},
        {POOL_OF("v1beta1", "consolidationPolicy: WhenUnderutilized", ""),
         "consolidationPolicy WhenUnderutilized is not allowed here.",
         "Set it to WhenEmpty with consolidateAfter: 30s."},
    };
    rail_words_run("disruption-budgets: {consolidationPolicies: [WhenEmpty]}", NULL, policies,
                   COUNT_OF(policies));
    static const struct rail_words most[] = {
        {BUDGETS("{nodes: '6'}"), "The budget of 6 is above the maximum of 5.",
         "Set nodes: \"5\"."},
        {BUDGETS("{nodes: 10%}"), "A budget in percent cannot be compared with the maximum of 5.",
         "Add {nodes: \"5\"}, a budget without a schedule."},
        {BUDGETS("{nodes: '5', reasons: [Empty]}"),
         "No budget keeps disruption to 5 nodes at a time, at all times and for all reasons.",
         "Add {nodes: \"5\"}, a budget without a schedule."},
    };
    rail_words_run("disruption-budgets: {maxNodes: 5}", NULL, most, COUNT_OF(most));
}

#define TOO_SOON(which, takes)                                                                     \
    "In 24h the windows may be open for no more than 10 min. To replace " which ", takes " takes   \
    " at the least (2 min each time), so nodes grow older and older. Next windows: "               \
    "Thu 1970-01-01 00:00 to Thu 1970-01-01 00:10, Fri 1970-01-02 00:00 to Fri 1970-01-02 00:10, " \
    "Sat "                                                                                         \
    "1970-01-03 00:00 to Sat 1970-01-03 00:10 UTC."

static void expiry_too_soon(void)
{
    /* Ten minutes are open each day. */
    static const char pool[] =
        POOL_OF("v1beta1",
                "expireAfter: 24h, budgets: [" BLOCK("10 0 * * *", "23h50m") ", {nodes: %s}]", "");
    static const struct {
        const char *nodes;
        size_t node_count;
        const char *statement;
    } cases[] = {
        {"1%", 0, TOO_SOON("all nodes, 1% at a time", "3 h 20 min")},
        {"10%", 0, TOO_SOON("all nodes, 10% at a time", "20 min")},
        {"'1'", 6, TOO_SOON("all 6 nodes, 1 at a time", "12 min")},
        {"'1'", 30, TOO_SOON("all 30 nodes, 1 at a time", "1 h")},
        {"7%", 30, TOO_SOON("all 30 nodes, 7% at a time", "20 min")},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char object[512], cluster[8192] = "";
        size_t size = 0;
        snprintf(object, sizeof object, pool, cases[i].nodes);
        for (size_t j = 0; j < cases[i].node_count; j++)
            size += (size_t)snprintf(cluster + size, sizeof cluster - size,
                                     "---\n{apiVersion: v1, kind: Node, metadata: {name: node-%zu, "
                                     "labels: {karpenter.sh/nodepool: a}}}\n",
                                     j);
        rail_words_run(
            "disruption-budgets: {}", cluster,
            &(struct rail_words){
                object, cases[i].statement,
                "Open windows for longer, let more nodes go at a time, or let them live longer."},
            1);
    }
}

/* Time begins on Thursday 1970-01-01 here; office hours are closed to disruption. */
#define OFFICE BLOCK("0 9 * * mon-fri", "8h")

static void expiry(void)
{
    static const struct rail_words rows[] = {
        {BUDGETS("{nodes: '5', schedule: '0 0 30 2 *', duration: 8h}"),
         "The schedule \"0 0 30 2 *\" names a day that never comes. Karpenter takes such a budget "
         "to be active always.",
         "Name a day that comes, or remove schedule and duration."},
        {POOL_OF("v1", "budgets: [" OFFICE ", {nodes: 100%}]", ""),
         "Expiry does not wait for a window. Nodes are drained at 720h, the default. Next windows: "
         "Thu 1970-01-01 00:00 to Thu 1970-01-01 09:00, Thu 1970-01-01 17:00 to Fri 1970-01-02 "
         "09:00, Fri 1970-01-02 17:00 to Mon 1970-01-05 09:00 UTC.",
         "Keep what is drained safe with PodDisruptionBudgets, which hold until a "
         "terminationGracePeriod is over."},
        {POOL_OF("v1", "budgets: [" OFFICE ", {nodes: 100%}]", ", expireAfter: 24h"),
         "Expiry does not wait for a window. Nodes are drained at 24h. Next windows: Thu "
         "1970-01-01 00:00 to Thu 1970-01-01 09:00, Thu 1970-01-01 17:00 to Fri 1970-01-02 09:00, "
         "Fri 1970-01-02 17:00 to Mon 1970-01-05 09:00 UTC.",
         "Keep what is drained safe with PodDisruptionBudgets, which hold until a "
         "terminationGracePeriod is over."},
        {POOL_OF("v1beta1",
                 "consolidationPolicy: WhenUnderutilized, expireAfter: 4h, budgets: [" OFFICE
                 ", {nodes: 100%}]",
                 ""),
         "expireAfter is 4h, and no window is open for up to 8 h. Nodes cannot be replaced that "
         "soon. Next windows: Thu 1970-01-01 00:00 to Thu 1970-01-01 09:00, Thu 1970-01-01 17:00 "
         "to Fri 1970-01-02 09:00, Fri 1970-01-02 17:00 to Mon 1970-01-05 09:00 UTC.",
         "Open windows more often, or let nodes live longer."},
        {POOL_OF("v1beta1", "budgets: [" BLOCK("0 0 1 * *", "721h") ", {nodes: 100%}]", ""),
         "expireAfter is 720h, and no window is open for up to 1441 h. Nodes cannot be replaced "
         "that soon. Next windows: Sat 1970-01-31 01:00 to Sun 1970-02-01 00:00, Tue 1970-03-31 "
         "01:00 to Wed 1970-04-01 00:00, Sun 1970-05-31 01:00 to Mon 1970-06-01 00:00 UTC.",
         "Open windows more often, or let nodes live longer."},
    };
    rail_words_run("disruption-budgets: {}", NULL, rows, COUNT_OF(rows));
    /* Nodes end a day after they were made: on Friday at 10 and 12, at 8 (open), or long ago. */
    static const struct rail_words two[] = {
        {POOL_OF("v1", "budgets: [" OFFICE ", {nodes: 100%}]", ", expireAfter: 24h"),
         "Expiry does not wait for a window. Nodes are drained at 24h. Outside the windows, in "
         "UTC: early at Fri 1970-01-02 10:00, late at Fri 1970-01-02 12:00. Next windows: Thu "
         "1970-01-01 00:00 to Thu 1970-01-01 09:00, Thu 1970-01-01 17:00 to Fri 1970-01-02 09:00, "
         "Fri 1970-01-02 17:00 to Mon 1970-01-05 09:00 UTC.",
         "Keep what is drained safe with PodDisruptionBudgets, which hold until a "
         "terminationGracePeriod is over."}};
    rail_words_run(
        "disruption-budgets: {}",
        NODE("late", "1970-01-01T12:00:00Z") NODE("early", "1970-01-01T10:00:00Z")
            NODE("open", "1970-01-01T08:00:00Z") NODE(
                "old",
                "1969-01-01T10:00:00Z") "---\n{apiVersion: v1, kind: Node, metadata: {name: other, "
                                        "creationTimestamp: '1970-01-01T10:00:00Z', labels: "
                                        "{karpenter.sh/nodepool: b}}}\n",
        two, 1);
    static const struct rail_words four[] = {
        {POOL_OF("v1", "budgets: [" OFFICE ", {nodes: 100%}]", ", expireAfter: 24h"),
         "Expiry does not wait for a window. Nodes are drained at 24h. Outside the windows, in "
         "UTC: b at Fri 1970-01-02 10:00, c at Fri 1970-01-02 10:00, d at Fri 1970-01-02 10:00 and "
         "1 more. Next windows: Thu 1970-01-01 00:00 to Thu 1970-01-01 09:00, Thu 1970-01-01 17:00 "
         "to Fri 1970-01-02 09:00, Fri 1970-01-02 17:00 to Mon 1970-01-05 09:00 UTC.",
         "Keep what is drained safe with PodDisruptionBudgets, which hold until a "
         "terminationGracePeriod is over."}};
    rail_words_run("disruption-budgets: {}",
                   NODE("d", "1970-01-01T10:00:00Z") NODE("c", "1970-01-01T10:00:00Z")
                       NODE("b", "1970-01-01T10:00:00Z") NODE("a", "1970-01-01T12:00:00Z"),
                   four, 1);
}

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" spec "}}"
#define CAPACITY "karpenter.sh/capacity-type"
#define REQUIRES(expressions)                                                        \
    POD("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
        "{nodeSelectorTerms: [{matchExpressions: [" expressions "]}]}}}")
#define POOL(requirements)                                                                        \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: " \
    "{nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}, requirements: "      \
    "[" requirements "]}}}}\n"

static void capacity(void)
{
    static const struct rail_words rows[] = {
        {POD("nodeSelector: {" CAPACITY ": spot}"), "Capacity type spot is not allowed here.",
         "Use on-demand, or leave the choice to the NodePools."},
        {POD("nodeSelector: {eks.amazonaws.com/capacityType: CAPACITY_BLOCK}"),
         "Capacity type CAPACITY_BLOCK is not allowed here.",
         "Use ON_DEMAND, or leave the choice to the NodePools."},
        {REQUIRES("{key: " CAPACITY ", operator: NotIn, values: [on-demand]}"),
         "This rules out every allowed capacity type: on-demand.",
         "Remove the requirement on karpenter.sh/capacity-type."},
        {POOL(""),
         "No requirement lists the capacity types to use, so the pool may launch spot nodes, which "
         "are not "
         "allowed here.",
         "Add to spec.template.spec.requirements: [{key: karpenter.sh/capacity-type, operator: In, "
         "values: [on-demand]}]."},
        {POOL("{key: " CAPACITY ", operator: In, values: [spot, on-demand]}"),
         "Capacity type spot is not allowed here.", "Remove spot; on-demand stays."},
    };
    rail_words_run("capacity-types: {allow: [on-demand]}", NULL, rows, COUNT_OF(rows));
    static const struct rail_words two[] = {
        {POD("nodeSelector: {" CAPACITY ": on-demand}"),
         "Capacity type on-demand is not allowed here.",
         "Use spot or reserved, or leave the choice to the NodePools."},
        {POOL("{key: " CAPACITY ", operator: NotIn, values: [spot]}"),
         "No requirement lists the capacity types to use, so the pool may launch on-demand nodes, "
         "which are "
         "not allowed here.",
         "Add to spec.template.spec.requirements: [{key: karpenter.sh/capacity-type, operator: In, "
         "values: [spot, reserved]}]."},
    };
    rail_words_run("capacity-types: {allow: [spot, reserved]}", NULL, two, COUNT_OF(two));
    static const struct rail_words idle[] = {
        {POOL("{key: " CAPACITY ", operator: In, values: [reserved]}"),
         "No node is bought for \"reserved\" alone, because Karpenter buys no reserved capacity: "
         "its "
         "feature gate ReservedCapacity is off.",
         "Add another capacity type beside it."},
    };
    rail_words_run("capacity-types: {allow: [spot, reserved]}}, karpenter: {featureGates: "
                   "{ReservedCapacity: false}",
                   NULL, idle, COUNT_OF(idle));
}

#define CLASS(version, spec)                                                                      \
    "{apiVersion: karpenter.k8s.aws/" version ", kind: EC2NodeClass, metadata: {name: c}, spec: " \
    "{" spec "}}\n"

static void classes(void)
{
    static const struct rail_words rows[] = {
        {CLASS("v1", "amiFamily: AL2"), "Images of AL2 are not allowed here.",
         "Use images of AL2023 or Bottlerocket."},
        {CLASS("v1", "amiSelectorTerms: [{alias: windows2022@latest}]"),
         "Images of Windows2022 are not allowed here.", "Use images of AL2023 or Bottlerocket."},
        {CLASS("v1", "amiSelectorTerms: [{alias: al2023@latest}], metadataOptions: {httpTokens: "
                     "optional}"),
         "With httpTokens: optional IMDSv1 answers. Whoever makes a pod fetch an address gets the "
         "node's credentials.",
         "Use required."},
        {CLASS("v1", "amiSelectorTerms: [{alias: al2023@latest}], kubelet: {maxPods: 30}"),
         "maxPods is 30, and 1 of the 2 instance types of its NodePools has fewer addresses, "
         "unless the network plugin assigns prefixes: m5.large.",
         "Remove maxPods, which leaves each type what it has addresses for, or turn prefix "
         "delegation on."},
    };
    rail_words_run(
        "node-class: {amiFamilies: [AL2023, Bottlerocket], requireEncryption: false}",
        POOL(
            "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge]}"),
        rows, COUNT_OF(rows));
}

static void volumes(void)
{
#define VOLUME(device, ebs) "{deviceName: " device ", ebs: {" ebs "}}"
#define BOTTLEROCKET "amiSelectorTerms: [{alias: bottlerocket@latest}], blockDeviceMappings: "
    static const struct rail_words rows[] = {
        {CLASS("v1",
               BOTTLEROCKET "[" VOLUME("/dev/xvda", "encrypted: true, volumeSize: 100Gi") "]"),
         "On Bottlerocket /dev/xvda holds the system alone. Images, logs and emptyDir live on "
         "/dev/xvdb, which stays as small as the image has it.",
         "Add an entry for /dev/xvdb with this size, and leave 6Gi to /dev/xvda."},
        {CLASS("v1", "amiFamily: AL2023, blockDeviceMappings: [" VOLUME("/dev/xvda",
                                                                        "volumeSize: 100Gi") "]"),
         "The volume /dev/xvda is encrypted only where the account encrypts all of them.",
         "Set encrypted: true."},
        {CLASS("v1", "amiFamily: AL2023, blockDeviceMappings: [" VOLUME("/dev/xvda",
                                                                        "encrypted: null") "]"),
         "The volume /dev/xvda is encrypted only where the account encrypts all of them.",
         "Set encrypted: true."},
        {CLASS("v1", "amiFamily: AL2023, blockDeviceMappings: [" VOLUME("/dev/xvda",
                                                                        "encrypted: false") "]"),
         "The volume /dev/xvda is not encrypted.", "Set encrypted: true."},
        {CLASS("v1", "amiFamily: Custom"),
         "With a Custom image the volumes are as the image has them, which cannot be seen.",
         "List its root device with rootVolume: true and ebs.encrypted: true."},
    };
    rail_words_run("node-class: {}", NULL, rows, COUNT_OF(rows));
}

const char unit_suite[] = "policy words: pools";
const struct unit_test unit_tests[] = {
    {"budgets", budgets},   {"expiry", expiry},   {"expiry too soon", expiry_too_soon},
    {"capacity", capacity}, {"classes", classes}, {"volumes", volumes},
    {NULL, NULL},
};
