/* The rail accelerators: pools that were to have none, by a count of 0. */
#include "rail_modes.h"

#define POOL(requirements, more)                                                               \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {limits: {cpu: " \
    "100}, template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, "    \
    "name: a}, requirements: [" requirements "]" more "}}}}"
#define COUNT "karpenter.k8s.aws/instance-gpu-count"
#define SMALL "{key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ['33']}"
#define IS(operator, value) "{key: " COUNT ", operator: " operator", values: [" value "]}"
#define KEEP_OUT                                   \
    "To keep accelerators out, write {key: " COUNT \
    ", operator: DoesNotExist}; to have shares of them, taint the pool."
#define AT "deny spec.template.spec.requirements"
#define UNTAINTED "deny spec.template.spec.taints "

/* Only g6f and gr6f have a count of 0: they have a share of a GPU. Other types without one have no
 * such label. */
static void a_count_of_none_leaves_shares(void)
{
    static const struct rail_case cases[] = {
        {POOL(SMALL ", " IS("In", "'0'"), ""), AT "[1] " COUNT " In 0"},
        {POOL(SMALL ", " IS("Lt", "'1'"), ""), AT "[1] " COUNT " Lt 1"},
        {POOL(IS("Lte", "'0'"), ""), AT "[0] " COUNT " Lte 0"},
        {POOL(SMALL ", {key: eks.amazonaws.com/instance-gpu-count, operator: Lt, values: ['1']}",
              ""),
         AT "[1] eks.amazonaws.com/instance-gpu-count Lt 1"},
        {POOL("{key: " COUNT ", operator: In, values: [0]}, " IS("Lt", "'1'"), ""),
         AT "[1] " COUNT " Lt 1"},
        {POOL(IS("In", "'0'") ", " SMALL, ""), AT "[0] " COUNT " In 0"},
        /* one who taints them knows what they are */
        {POOL(SMALL ", " IS("In", "'0'"), ", taints: [{key: nvidia.com/gpu, effect: NoSchedule}]"),
         ""},
        {POOL(SMALL ", " IS("In", "'0'"),
              ", taints: [{key: nvidia.com/gpu, effect: PreferNoSchedule}]"),
         "deny spec.template.spec.taints[0].effect PreferNoSchedule"},
        /* some are wanted */
        {POOL(IS("In", "'0', '1'"), ""), UNTAINTED},
        {POOL(IS("In", "'1'"), ""), UNTAINTED},
        {POOL(IS("Lt", "'2'"), ""), UNTAINTED},
        {POOL(IS("Lte", "'1'"), ""), UNTAINTED},
        {POOL(IS("Gt", "'0'"), ""), UNTAINTED},
        {POOL("{key: karpenter.k8s.aws/instance-gpu-memory, operator: Gt, values: ['0']}", ""),
         UNTAINTED},
        /* and this is how to want none */
        {POOL(SMALL ", {key: " COUNT ", operator: DoesNotExist}, {key: "
                    "karpenter.k8s.aws/instance-accelerator-count, operator: DoesNotExist}, {key: "
                    "karpenter.k8s.aws/instance-family, operator: In, values: [m5, c5]}",
              ""),
         ""},
    };
    rail_table_run(&(struct rail_table){"accelerators: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words = {
        POOL(SMALL ", " IS("In", "'0'"), ""),
        "The requirement " COUNT " In 0 leaves only types with a share of a GPU. Types without a "
        "GPU do not have this label.",
        KEEP_OUT};
    rail_words_run("accelerators: {}", NULL, &words, 1);
}

const char unit_suite[] = "policy accelerators: none";
const struct unit_test unit_tests[] = {
    {"a count of none leaves shares", a_count_of_none_leaves_shares},
    {NULL, NULL},
};
