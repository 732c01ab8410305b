/* The rail pool-overlap: pools that a pod cannot tell apart, and the witness. */
#include "rail_modes.h"

#define POOL_OF(name, class, more, labels, requirements)                                     \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {" more \
    "template: {metadata: {labels: {" labels "}}, spec: {nodeClassRef: {group: "             \
    "karpenter.k8s.aws, kind: EC2NodeClass, name: " class "}, requirements: [" requirements  \
                                                          "]}}}}"
#define POOL(name, more, requirements) POOL_OF(name, "unseen", more, "", requirements)
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define NOT_IN(key, values) "{key: " key ", operator: NotIn, values: [" values "]}"
#define AWS "karpenter.k8s.aws/instance-"
#define FAMILY(values) IN(AWS "family", values)
#define CAPACITY(values) IN("karpenter.sh/capacity-type", values)
#define ZONE(values) IN("topology.kubernetes.io/zone", values)
#define FOUND "deny spec.weight default"

/* Against one pool of m5 and c5, on-demand, in zones a and b. */
static void a_witness_makes_an_overlap(void)
{
    static const char cluster[] =
        POOL("default", "", FAMILY("m5, c5") ", " CAPACITY("on-demand") ", " ZONE("z-a, z-b"));
    static const struct rail_case cases[] = {
        {POOL("new", "", FAMILY("m5, r5")), FOUND},
        {POOL("new", "", ""), FOUND},
        {POOL("new", "weight: 0, ", ""), FOUND},
        {POOL("new", "weight: 10, ", ""), ""},
        {POOL("new", "", FAMILY("r5")), ""},
        {POOL("new", "", NOT_IN(AWS "family", "m5, c5")), ""},
        {POOL("new", "", CAPACITY("spot")), ""},
        {POOL("new", "", CAPACITY("spot, on-demand")), FOUND},
        {POOL("new", "", ZONE("z-c")), ""},
        {POOL("new", "", ZONE("z-b, z-c")), FOUND},
        {POOL("new", "", IN("failure-domain.beta.kubernetes.io/zone", "z-c")), ""},
        {POOL("new", "", IN("kubernetes.io/arch", "arm64")), ""},
        {POOL("new", "", "{key: " AWS "cpu, operator: Gt, values: ['1000']}"), ""},
        {POOL("new", "", IN("kubernetes.io/os", "windows")), FOUND},
        {POOL("new", "replicas: 3, ", ""), ""},
        /* itself, as it was */
        {POOL("default", "", ""), ""},
        /* another cloud's */
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: new}, spec: {template: "
         "{spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}}}}}",
         ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", cluster, cases, COUNT_OF(cases)});
}

#define TAINTED(name, taints)                                                                     \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {template: " \
    "{spec: {taints: [" taints "]}}}}"
#define TAINT(key, effect) "{key: " key ", value: x, effect: " effect "}"

static void taints_keep_pools_apart(void)
{
    static const char cluster[] =
        TAINTED("default", TAINT("a", "NoSchedule") ", " TAINT("b", "NoExecute"));
    static const struct rail_case cases[] = {
        {TAINTED("new", TAINT("b", "NoExecute") ", " TAINT("a", "NoSchedule")), FOUND},
        {TAINTED("new", TAINT("a", "NoSchedule")), ""},
        {TAINTED("new", ""), ""},
        {TAINTED("new", TAINT("b", "NoExecute") ", " TAINT("a", "PreferNoSchedule")), ""},
        {TAINTED("new", TAINT("b", "NoExecute") ", " TAINT("a", "NoSchedule") ", " TAINT(
                            "c", "NoExecute")),
         ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", cluster, cases, COUNT_OF(cases)});
}

#define LABELLED(name, labels, requirements) POOL_OF(name, "unseen", "", labels, requirements)

static void what_a_pod_must_select_is_noted(void)
{
    static const char noted[] = "audit spec.weight default";
    static const char cluster[] = LABELLED("default", "team: a", "");
    static const struct rail_case cases[] = {
        {LABELLED("new", "team: a", ""), FOUND},
        {LABELLED("new", "", IN("team", "a")), FOUND},
        {LABELLED("new", "team: b", ""), noted},
        {LABELLED("new", "", ""), noted},
        {LABELLED("new", "team: a, stage: b", ""), noted},
        {LABELLED("new", "", IN("team", "a, b")), noted},
        {LABELLED("new", "team: b", FAMILY("m99")), ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", cluster, cases, COUNT_OF(cases)});
}

#define CLASS(name, zone)                                                           \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: " name \
    "}, status: {subnets: [{id: s, zone: " zone "}]}}"
#define OF_CLASS(name, class) POOL_OF(name, class, "", "", "")

static void subnets_keep_pools_apart(void)
{
    static const char cluster[] =
        CLASS("in-a", "z-a") "\n---\n" CLASS("in-b", "z-b") "\n---\n" OF_CLASS("default", "in-a");
    static const struct rail_case cases[] = {
        {OF_CLASS("new", "in-a"), FOUND},
        {OF_CLASS("new", "in-b"), ""},
        {OF_CLASS("new", "unseen"), FOUND},
        {POOL("new", "", ZONE("z-b")), ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", cluster, cases, COUNT_OF(cases)});
}

#define IMAGES(name, alias)                                                         \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: " name \
    "}, spec: {amiSelectorTerms: [{alias: " alias "}]}}"
#define OF_WINDOWS(name, class) POOL_OF(name, class, "", "", IN("kubernetes.io/os", "windows"))

static void images_keep_pools_apart(void)
{
    static const char linux_cluster[] = IMAGES("linux", "al2023@latest") "\n---\n" IMAGES(
        "windows", "windows2022@latest") "\n---\n" OF_CLASS("default", "linux");
    static const struct rail_case against_linux[] = {
        {OF_CLASS("new", "linux"), FOUND},  {OF_CLASS("new", "windows"), ""},
        {OF_WINDOWS("new", "windows"), ""}, {OF_CLASS("new", "unseen"), FOUND},
        {OF_WINDOWS("new", "unseen"), ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", linux_cluster, against_linux,
                                        COUNT_OF(against_linux)});
    static const char windows_cluster[] = IMAGES("windows", "windows2022@latest") "\n---\n" IMAGES(
        "more", "windows2022@latest") "\n---\n" OF_CLASS("default", "windows");
    static const struct rail_case against_windows[] = {
        {OF_WINDOWS("new", "more"), FOUND},
        {OF_WINDOWS("new", "unseen"), FOUND},
        {OF_CLASS("new", "unseen"), ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", windows_cluster, against_windows,
                                        COUNT_OF(against_windows)});
    static const char unseen_cluster[] = OF_CLASS("default", "unseen");
    static const struct rail_case against_unseen[] = {
        {OF_WINDOWS("new", "unseen"), FOUND}, /* of the same class */
        {OF_WINDOWS("new", "unseen-too"), ""},
        {OF_CLASS("new", "unseen-too"), FOUND},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", unseen_cluster, against_unseen,
                                        COUNT_OF(against_unseen)});
}

static void pairs_can_be_ignored(void)
{
    static const char cluster[] = POOL("default", "", "");
    static const struct rail_case cases[] = {
        {POOL("batch", "", ""), ""},
        {POOL("green-2", "", ""), ""},
        {POOL("new", "", ""), FOUND},
    };
    rail_table_run(&(struct rail_table){
        "pool-overlap: {ignorePairs: [lonely, batch/default, default/green-*]}", cluster, cases,
        COUNT_OF(cases)});
}

static void the_witness_is_named(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(
        "pool-overlap: {}", POOL("default", "", FAMILY("m5") ", " ZONE("z-b, z-c")), arena);
    struct rail_documents documents = rail_table_read(
        POOL("batch", "",
             IN(AWS "size", "4xlarge, xlarge") ", " CAPACITY("spot") ", " ZONE("z-a, z-b")),
        arena);
    struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
    ASSERT_TEXT(
        verdict.findings[0].message,
        "overlaps NodePool \"default\": weight and taints are the same, and both may launch "
        "m5.xlarge, spot in z-b; a small pod that selects nothing gets \"default\", the "
        "last by name");
    arena_destroy(arena);
}

static void it_says_who_wins(void)
{
    static const char fix[] =
        "give the pool that is meant first a higher weight, the special one a taint, or both "
        "requirements that rule each other out";
    static const struct rail_words rows[] = {
        /* no zone is visible but those that the judged pool names */
        {POOL("a", "", FAMILY("m5") ", " IN(AWS "size", "large") ", " ZONE("z-d, z-e")),
         "overlaps NodePool \"default\": weight and taints are the same, and both may launch "
         "m5.large, on-demand in z-d; a small pod that selects nothing gets \"default\", the last "
         "by name",
         fix},
        {POOL("z", "", FAMILY("m5") ", " IN(AWS "size", "large") ", " CAPACITY("reserved")),
         "overlaps NodePool \"default\": weight and taints are the same, and both may launch "
         "m5.large, reserved; a small pod that selects nothing gets \"z\", the last by name",
         fix},
        {POOL_OF("z", "unseen", "", "team: a, stage: b", FAMILY("m5") ", " IN(AWS "size", "large")),
         "overlaps NodePool \"default\": weight and taints are the same, and both may launch "
         "m5.large, on-demand; only pods that select team, stage are told apart, and a small pod "
         "that selects nothing gets \"z\", the last by name",
         fix},
    };
    rail_words_run("pool-overlap: {}", POOL("default", "", ""), rows, COUNT_OF(rows));
    /* The cheapest type that both may launch, the first of its family by name, too; a label on
     * which they differ is named once. */
    static const struct rail_words apart[] = {
        {POOL_OF("a", "unseen", "", "team: a",
                 FAMILY("m5") ", " IN(AWS "size", "large, xlarge") ", " ZONE("z-d")),
         "overlaps NodePool \"default\": weight and taints are the same, and both may launch "
         "m5.large, on-demand in z-d; only pods that select team are told apart, and a small pod "
         "that selects nothing gets \"default\", the last by name",
         fix},
    };
    rail_words_run("pool-overlap: {}", POOL_OF("default", "unseen", "", "team: b", ""), apart, 1);
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("pool-overlap", "", POOL("default", "", ""), POOL("new", "", ""));
}

const char unit_suite[] = "policy pool-overlap";
const struct unit_test unit_tests[] = {
    {"a witness makes an overlap", a_witness_makes_an_overlap},
    {"taints keep pools apart", taints_keep_pools_apart},
    {"what a pod must select is noted", what_a_pod_must_select_is_noted},
    {"subnets keep pools apart", subnets_keep_pools_apart},
    {"images keep pools apart", images_keep_pools_apart},
    {"pairs can be ignored", pairs_can_be_ignored},
    {"the witness is named", the_witness_is_named},
    {"it says who wins", it_says_who_wins},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
