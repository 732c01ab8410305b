/* The rail pool-overlap: pools that a pod cannot tell apart, and the witness. */
#include "rail_catalog.h"

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
#define LABELLED(name, labels, requirements) POOL_OF(name, "unseen", "", labels, requirements)
#define FOUND "deny spec.weight default"
#define AND(document, more) document "\n---\n" more

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
        {POOL("new", "replicas: null, ", ""), FOUND},
        /* a label of the template is as good as a requirement */
        {LABELLED("new", AWS "family: m5", ""), FOUND},
        {LABELLED("new", AWS "family: r5", ""), ""},
        {LABELLED("new", "topology.kubernetes.io/zone: z-b", ""), FOUND},
        {LABELLED("new", "topology.kubernetes.io/zone: z-c", ""), ""},
        /* one that is going takes no pods */
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: new, deletionTimestamp: "
         "'2026-01-01T00:00:00Z'}, spec: {}}",
         ""},
        /* itself, as it was */
        {POOL("default", "", ""), ""},
        /* another cloud's */
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: new}, spec: {template: "
         "{spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}}}}}",
         ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", cluster, cases, COUNT_OF(cases)});
    /* pools that no pod could get by mistake: going, of fixed size, of another cloud */
    static const char others[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: gone, deletionTimestamp: "
        "'2026-01-01T00:00:00Z'}, spec: {}}\n---\n" AND(
            POOL("fixed", "replicas: 3, ", ""),
            "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: "
            "{name: azure}, spec: {template: {spec: {nodeClassRef: {group: karpenter.azure.com, "
            "kind: AKSNodeClass, name: a}}}}}");
    static const struct rail_case none = {POOL("new", "", ""), ""};
    rail_table_run(&(struct rail_table){"pool-overlap: {}", others, &none, 1});
    /* Karpenter makes no node of a Mac. */
    static const struct rail_case macs[] = {
        {POOL("new", "", FAMILY("mac2")), ""},
        {POOL("new", "", FAMILY("mac2, m5")), FOUND},
    };
    rail_table_run(
        &(struct rail_table){"pool-overlap: {}", POOL("default", "", ""), macs, COUNT_OF(macs)});
}

static void weights_keep_pools_apart(void)
{
    static const char cluster[] = POOL("default", "weight: 10, ", "");
    static const struct rail_case cases[] = {
        {POOL("new", "weight: 10, ", ""), FOUND},
        {POOL("new", "weight: 9, ", ""), ""},
        {POOL("new", "weight: 11, ", ""), ""},
        {POOL("new", "", ""), ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", cluster, cases, COUNT_OF(cases)});
}

/* Each alone leaves something; together they leave nothing. */
static void what_only_one_may_launch_is_no_witness(void)
{
    static const char cluster[] =
        POOL("default", "", NOT_IN("karpenter.sh/capacity-type", "spot, reserved"));
    static const struct rail_case cases[] = {
        {POOL("new", "", NOT_IN("karpenter.sh/capacity-type", "on-demand")), ""},
        {POOL("new", "", NOT_IN("karpenter.sh/capacity-type", "spot")), FOUND},
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
        {TAINTED("new", TAINT("b", "NoExecute") ", " TAINT("c", "NoSchedule")), ""},
        {TAINTED("new", TAINT("b", "NoExecute") ", {key: a, value: y, effect: NoSchedule}"), ""},
        {TAINTED("new", TAINT("b", "NoExecute") ", {key: a, effect: NoSchedule}"), ""},
        {TAINTED("new", TAINT("b", "NoExecute") ", " TAINT("a", "NoSchedule") ", " TAINT(
                            "c", "NoExecute")),
         ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", cluster, cases, COUNT_OF(cases)});
}

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
        {POOL("new", "", NOT_IN("topology.kubernetes.io/zone", "z-a")), ""},
        {POOL_OF("new", "in-a", "", "", ZONE("z-a, z-b")), FOUND},
        {POOL_OF("new", "in-a", "", "", ZONE("z-b")), ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", cluster, cases, COUNT_OF(cases)});
    /* The class of the judged pool alone tells of its subnets. */
    static const char unseen[] = CLASS("in-a", "z-a") "\n---\n" OF_CLASS("default", "unseen");
    static const struct rail_case against_unseen[] = {
        {OF_CLASS("new", "in-a"), FOUND},
        {POOL_OF("new", "in-a", "", "", NOT_IN("topology.kubernetes.io/zone", "z-a")), ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", unseen, against_unseen, 2});
    /* Of two zones they share one; a Node elsewhere makes no other. */
    static const char two[] =
        AND(AND("{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: in-ab}, "
                "status: "
                "{subnets: [{id: s, zone: z-a}, {id: t, zone: z-b}]}}",
                CLASS("in-b", "z-b")),
            AND("{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: "
                "{topology.kubernetes.io/zone: z-c}}}",
                OF_CLASS("default", "in-ab")));
    static const struct rail_case against_two[] = {
        {OF_CLASS("new", "in-b"), FOUND},
        {OF_CLASS("new", "in-ab"), FOUND},
        {POOL_OF("new", "in-ab", "", "", NOT_IN("topology.kubernetes.io/zone", "z-a")), FOUND},
        {POOL_OF("new", "in-b", "", "", NOT_IN("topology.kubernetes.io/zone", "z-b")), ""},
    };
    rail_table_run(
        &(struct rail_table){"pool-overlap: {}", two, against_two, COUNT_OF(against_two)});
}

#define IMAGES(name, alias)                                                         \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: " name \
    "}, spec: {amiSelectorTerms: [{alias: " alias "}]}}"
#define AUTOMATIC(name, class)                                                                    \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {template: " \
    "{spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: " class "}}}}}"
#define OF_WINDOWS(name, class) POOL_OF(name, class, "", "", IN("kubernetes.io/os", "windows"))

static void images_keep_pools_apart(void)
{
    static const char linux_cluster[] =
        AND(IMAGES("linux", "al2023@latest"),
            AND(IMAGES("windows", "windows2022@latest"), OF_CLASS("default", "linux")));
    static const struct rail_case against_linux[] = {
        {OF_CLASS("new", "linux"), FOUND},  {OF_CLASS("new", "windows"), ""},
        {OF_WINDOWS("new", "windows"), ""}, {OF_CLASS("new", "unseen"), FOUND},
        {OF_WINDOWS("new", "unseen"), ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", linux_cluster, against_linux,
                                        COUNT_OF(against_linux)});
    static const char windows_cluster[] =
        AND(IMAGES("windows", "windows2022@latest"),
            AND(IMAGES("more", "windows2022@latest"), OF_CLASS("default", "windows")));
    static const struct rail_case against_windows[] = {
        {OF_WINDOWS("new", "more"), FOUND},
        {OF_WINDOWS("new", "unseen"), FOUND},
        {OF_CLASS("new", "unseen"), ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", windows_cluster, against_windows,
                                        COUNT_OF(against_windows)});
    /* Pods tell builds of Windows apart by a label that Karpenter gives. */
    static const char builds_cluster[] =
        AND(IMAGES("windows", "windows2022@latest"),
            AND(IMAGES("older", "windows2019@latest"), OF_CLASS("default", "windows")));
    static const struct rail_case against_builds = {OF_WINDOWS("new", "older"),
                                                    "audit spec.weight default"};
    rail_table_run(&(struct rail_table){"pool-overlap: {}", builds_cluster, &against_builds, 1});
    /* which build the other has is not seen */
    static const char unseen_build[] =
        AND(IMAGES("older", "windows2019@latest"), OF_WINDOWS("default", "unseen"));
    static const struct rail_case against_unseen_build = {OF_WINDOWS("new", "older"), FOUND};
    rail_table_run(
        &(struct rail_table){"pool-overlap: {}", unseen_build, &against_unseen_build, 1});
    static const char unseen_cluster[] = OF_CLASS("default", "unseen");
    static const struct rail_case against_unseen[] = {
        {OF_WINDOWS("new", "unseen"), FOUND}, /* of the same class */
        {OF_WINDOWS("new", "unseen-too"), ""},
        {OF_CLASS("new", "unseen-too"), FOUND},
        {LABELLED("new", "kubernetes.io/os: windows", ""), FOUND},
        {POOL_OF("new", "unseen-too", "", "kubernetes.io/os: windows", ""), ""},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", unseen_cluster, against_unseen,
                                        COUNT_OF(against_unseen)});
    /* A class that nobody can read may run either. */
    static const char broken_cluster[] = AND(
        IMAGES("linux", "al2023@latest"),
        AND("{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: broken}, "
            "spec: {amiSelectorTerms: [{alias: windows2022@latest}], kubelet: {maxPods: many}}}",
            OF_CLASS("default", "linux")));
    static const struct rail_case against_broken = {OF_CLASS("new", "broken"), FOUND};
    rail_table_run(&(struct rail_table){"pool-overlap: {}", broken_cluster, &against_broken, 1});
    /* A NodeClass of EKS runs Linux, whatever an EC2NodeClass of its name does. */
    static const char automatic_cluster[] =
        IMAGES("windows", "windows2022@latest") "\n---\n" AUTOMATIC("default", "usual");
    static const struct rail_case against_automatic = {AUTOMATIC("new", "windows"), FOUND};
    rail_table_run(
        &(struct rail_table){"pool-overlap: {}", automatic_cluster, &against_automatic, 1});
}

#define SOLD(price) OWN_OFFERING(price, "on-demand", "a")

/* Types of one's own: of equal price the first by name; none without a price while one has some. */
static void the_machines_may_be_ones_own(void)
{
    static const char types[] =
        OWN_TYPES4(OWN_TYPE("c-4x-amd64-linux", "\"x\": \"1\"", SOLD("0.3")),
                   OWN_TYPE("m-4x-amd64-linux", "\"x\": \"1\"", SOLD("0.2")),
                   OWN_TYPE("p-4x-amd64-linux", "\"x\": \"1\"", SOLD("0.2")),
                   OWN_TYPE("a-4x-amd64-linux", "\"x\": \"1\"", OWN_OFFERING("0.1", "spot", "a")));
    static const char cluster[] = POOL("default", "", "");
#define KWOK(values) IN("karpenter.kwok.sh/instance-family", values)
    static const struct rail_case cases[] = {
        {POOL("new", "", KWOK("c")), FOUND},
        /* another cloud's machines, as the file has them */
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: new}, spec: {template: "
         "{spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}}}}}",
         FOUND},
    };
    rail_catalog_run(&(struct rail_table){"pool-overlap: {}", cluster, cases, COUNT_OF(cases)},
                     types);
    static const struct rail_case families[] = {
        {POOL("new", "", KWOK("c")), ""},
        {POOL("new", "", KWOK("c, m")), FOUND},
    };
    rail_catalog_run(
        &(struct rail_table){"pool-overlap: {}", POOL("default", "", KWOK("m, p")), families, 2},
        types);
    static const char fix[] = "Set spec.weight: 10 on the pool that is meant first, or taint the "
                              "special one.";
    static const struct rail_words words[] = {
        {POOL("a", "", ""),
         "NodePools a and default overlap: weight and taints are the same, and both may launch "
         "m-4x-amd64-linux, on-demand in a. A small pod that selects nothing gets default, the "
         "last by name.",
         fix},
        {POOL("a", "", KWOK("a, c")),
         "NodePools a and default overlap: weight and taints are the same, and both may launch "
         "c-4x-amd64-linux, on-demand in a. A small pod that selects nothing gets default, the "
         "last by name.",
         fix},
    };
    rail_catalog_words_run("pool-overlap: {}", cluster, types, words, COUNT_OF(words));
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
    /* A pair is two: what overlaps with one of them besides is found. */
    static const char two[] = POOL("default", "", "") "\n---\n" POOL("special", "", "");
    static const struct rail_case besides[] = {
        {POOL("batch", "", ""), "deny spec.weight special"},
        {POOL("new", "", ""), FOUND "\ndeny spec.weight special"},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {ignorePairs: [batch/default]}", two,
                                        besides, COUNT_OF(besides)});
    rail_table_run(&(struct rail_table){"pool-overlap: {ignorePairs: [default/batch]}", two,
                                        besides, COUNT_OF(besides)});
}

/* Of pools that are visible as they are judged the later by name tells; on UPDATE, whoever is
 * judged. */
static void a_pair_is_told_of_once(void)
{
    static const char all[] =
        POOL("a", "", "") "\n---\n" POOL("b", "", "") "\n---\n" POOL("c", "weight: 2, ", "");
    static const struct rail_case cases[] = {
        {POOL("a", "", ""), ""},
        {POOL("b", "", ""), "deny spec.weight a"},
        {POOL("a", "limits: {cpu: 9}, ", ""), "deny spec.weight b"},
        {POOL("a", "weight: 2, ", ""), "deny spec.weight c"},
    };
    rail_table_run(&(struct rail_table){"pool-overlap: {}", all, cases, COUNT_OF(cases)});
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("pool-overlap: {}", all, arena);
    struct rail_documents old = rail_table_read(POOL("a", "", ""), arena);
    struct rail_documents new = rail_table_read(POOL("a", "limits: {cpu: 9}, ", ""), arena);
    struct subject subject = {
        .operation = OPERATION_UPDATE, .object = &new.items[0], .old_object = &old.items[0]};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
    CU_ASSERT_TRUE(verdict.findings[0].pre_existing);
    arena_destroy(arena);
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
    ASSERT_TEXT(verdict.findings[0].message,
                "NodePools batch and default overlap: weight and taints are the same, and both may "
                "launch m5.xlarge, spot in z-b. A small pod that selects nothing gets default, the "
                "last by name. Set spec.weight: 10 on the pool that is meant first, or taint the "
                "special one.");
    arena_destroy(arena);
}

static void it_says_who_wins(void)
{
    static const char fix[] = "Set spec.weight: 10 on the pool that is meant first, or taint the "
                              "special one.";
    static const struct rail_words rows[] = {
        /* no zone is visible but those that the judged pool names */
        {POOL("a", "", FAMILY("m5") ", " IN(AWS "size", "large") ", " ZONE("z-d, z-e")),
         "NodePools a and default overlap: weight and taints are the same, and both may launch "
         "m5.large, on-demand in z-d. A small pod that selects nothing gets default, the last by "
         "name.",
         fix},
        {POOL("z", "", FAMILY("m5") ", " IN(AWS "size", "large") ", " CAPACITY("reserved")),
         "NodePools z and default overlap: weight and taints are the same, and both may launch "
         "m5.large, reserved. A small pod that selects nothing gets z, the last by name.",
         fix},
        /* a zone that is to be filled in is not named */
        {POOL("a", "", FAMILY("m5") ", " IN(AWS "size", "large") ", " ZONE("'${AZ}'")),
         "NodePools a and default overlap: weight and taints are the same, and both may launch "
         "m5.large, on-demand. A small pod that selects nothing gets default, the last by name.",
         fix},
        {POOL_OF("z", "unseen", "", "team: a, stage: b", FAMILY("m5") ", " IN(AWS "size", "large")),
         "NodePools z and default overlap: weight and taints are the same, and both may launch "
         "m5.large, on-demand. Only pods that select team, stage are told apart. A small pod that "
         "selects nothing gets z, the last by name.",
         fix},
    };
    rail_words_run("pool-overlap: {}", POOL("default", "", ""), rows, COUNT_OF(rows));
    /* A weight is 100 at most. */
    static const struct rail_words heavy[] = {
        {POOL("z", "weight: 91, ", FAMILY("m5") ", " IN(AWS "size", "large")),
         "NodePools z and default overlap: weight and taints are the same, and both may launch "
         "m5.large, on-demand. A small pod that selects nothing gets z, the last by name.",
         "Set spec.weight: 81 on the pool that is meant last, or taint the special one."},
    };
    rail_words_run("pool-overlap: {}", POOL("default", "weight: 91, ", ""), heavy, 1);
    const struct rail_words light[] = {
        {POOL("z", "weight: 90, ", FAMILY("m5") ", " IN(AWS "size", "large")), heavy[0].problem,
         "Set spec.weight: 100 on the pool that is meant first, or taint the special one."},
    };
    rail_words_run("pool-overlap: {}", POOL("default", "weight: 90, ", ""), light, 1);
    /* The cheapest type that both may launch, the first of its family by name, too; a label on
     * which they differ is named once. */
    static const struct rail_words apart[] = {
        {POOL_OF("a", "unseen", "", "team: a",
                 FAMILY("m5") ", " IN(AWS "size", "large, xlarge") ", " ZONE("z-d")),
         "NodePools a and default overlap: weight and taints are the same, and both may launch "
         "m5.large, on-demand in z-d. Only pods that select team are told apart. A small pod that "
         "selects nothing gets default, the last by name.",
         fix},
    };
    rail_words_run("pool-overlap: {}", POOL_OF("default", "unseen", "", "team: b", ""), apart, 1);
    /* On which side it stands is all the same; a zone by its id names none. */
#define LARGE FAMILY("m5") ", " IN(AWS "size", "large")
    static const struct rail_words theirs[] = {
        {POOL("z", "", LARGE),
         "NodePools z and default overlap: weight and taints are the same, and both may launch "
         "m5.large, on-demand. Only pods that select team are told apart. A small pod that selects "
         "nothing gets z, the last by name.",
         fix},
        {POOL_OF("z", "unseen", "", "team: a, stage: a", LARGE),
         "NodePools z and default overlap: weight and taints are the same, and both may launch "
         "m5.large, on-demand. Only pods that select team, stage are told apart. A small pod that "
         "selects nothing gets z, the last by name.",
         fix},
        {POOL_OF("z", "unseen", "", "stage: a", LARGE),
         "NodePools z and default overlap: weight and taints are the same, and both may launch "
         "m5.large, on-demand. Only pods that select stage, team are told apart. A small pod that "
         "selects nothing gets z, the last by name.",
         fix},
        {POOL_OF("z", "unseen", "", "team: b",
                 LARGE ", " IN("topology.k8s.aws/zone-id", "use1-az1")),
         "NodePools z and default overlap: weight and taints are the same, and both may launch "
         "m5.large, on-demand. A small pod that selects nothing gets z, the last by name.",
         fix},
    };
    rail_words_run("pool-overlap: {}", POOL_OF("default", "unseen", "", "team: b", ""), theirs,
                   COUNT_OF(theirs));
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("pool-overlap", "", POOL("default", "", ""), POOL("new", "", ""));
}

/* Objects of files to be applied tell, and not those of the cluster. */
static void what_changes_tells_before_what_is_there(void)
{
    static const struct {
        enum object_origin first, second, judged;
        const char *findings;
    } rows[] = {
        {ORIGIN_STATE, ORIGIN_STATE, ORIGIN_STATE, ""},
        {ORIGIN_CHANGE, ORIGIN_STATE, ORIGIN_CHANGE, "deny spec.weight b"},
        {ORIGIN_CHANGE, ORIGIN_CHANGE, ORIGIN_CHANGE, ""},
        /* the one that is there is another than the one that comes */
        {ORIGIN_CHANGE, ORIGIN_STATE, ORIGIN_STATE, "deny spec.weight b"},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world world = rail_table_world("pool-overlap: {}", NULL, arena);
        struct snapshot_builder *builder = snapshot_builder_create(arena);
        struct object a = *rail_table_read(POOL("a", "", ""), arena).items;
        struct object b = *rail_table_read(POOL("b", "", ""), arena).items;
        struct object judged =
            *rail_table_read(i == 3 ? POOL("a", "limits: {cpu: 9}, ", "") : POOL("a", "", ""),
                             arena)
                 .items;
        a.origin = rows[i].first;
        b.origin = rows[i].second;
        judged.origin = rows[i].judged;
        snapshot_put(builder, &a);
        snapshot_put(builder, &b);
        world.snapshot = snapshot_build(builder);
        struct text findings = rail_table_findings(&world, &judged, arena);
        if (!text_is(findings, rows[i].findings))
            fprintf(stderr, "row %zu\n", i);
        ASSERT_TEXT(findings, rows[i].findings);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy pool-overlap";
const struct unit_test unit_tests[] = {
    {"a witness makes an overlap", a_witness_makes_an_overlap},
    {"weights keep pools apart", weights_keep_pools_apart},
    {"what only one may launch is no witness", what_only_one_may_launch_is_no_witness},
    {"taints keep pools apart", taints_keep_pools_apart},
    {"what a pod must select is noted", what_a_pod_must_select_is_noted},
    {"subnets keep pools apart", subnets_keep_pools_apart},
    {"images keep pools apart", images_keep_pools_apart},
    {"the machines may be one's own", the_machines_may_be_ones_own},
    {"a pair is told of once", a_pair_is_told_of_once},
    {"pairs can be ignored", pairs_can_be_ignored},
    {"the witness is named", the_witness_is_named},
    {"it says who wins", it_says_who_wins},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {"what changes tells before what is there", what_changes_tells_before_what_is_there},
    {NULL, NULL},
};
