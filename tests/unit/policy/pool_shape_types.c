/* The rail pool-shape: pools open to all machines, and pools that can launch none. */
#include "pool_shape_pools.h"
#include "rail_catalog.h"

#define AUTOMATIC(requirements)                                                                \
    HEAD "{template: {spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: " \
         "a}, requirements: [" requirements "]}}}}"

#define ARM64 IN("kubernetes.io/arch", "arm64")

static void pools_open_to_all_are_found(void)
{
    static const char open[] = "deny " AT " ";
    static const char nearly[] = "warn " AT " ";
    static const struct rail_case cases[] = {
        {POOL(""), open},
        {HEAD "{template: {spec: {" CLASS "}}}}", open},
        {HEAD "null}", open},
        {POOL(IN("kubernetes.io/arch", "amd64")), nearly},
        {POOL4(IN("kubernetes.io/arch", "amd64"), IN("karpenter.sh/capacity-type", "spot"),
               IN("topology.kubernetes.io/"
                  "zone",
                  "eu-west-1a"),
               IN("team", "a")),
         nearly},
        {POOL(IN("beta.kubernetes.io/arch", "amd64")), nearly},
        {POOL(IN("kubernetes.io/os", "linux")), nearly},
        {POOL(IN("topology.kubernetes.io/region", "eu-west-1")), nearly},
        {POOL(IN("topology.k8s.aws/zone-id", "euw1-az1")), nearly},
        {POOL_WITH("", "metadata: {labels: {kubernetes.io/arch: amd64}}, ", ""), open},
        /* one that cannot be read says nothing of the machines */
        {POOL("{key: " AWS "family, operator: NotIn, values: []}"),
         "warn " AT " \nwarn " AT "[0].values "},
        {POOL2("{key: " AWS "generation, operator: Gt, values: ['4']}", ARM64), ""},
        {AUTOMATIC(IN("eks.amazonaws.com/instance-category", "c") ", " ARM64), ""},
        {POOL(IN("beta.kubernetes.io/instance-type", "m5.large")), ""},
        {LABELS("a: b"), ""},
        {POOL_WITH("", "metadata: {labels: {" AWS "family: m5}}, ", ""), ""},
        /* another cloud's machines are in no catalogue of ours */
        {HEAD "{template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: "
              "AKSNodeClass, name: a}, requirements: []}}}}",
         ""},
        {AUTOMATIC(""), open},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
}

static void pools_that_launch_nothing_are_found(void)
{
    static const struct rail_case cases[] = {
        /* a family is no category, and the rail knows where it belongs */
        {POOL(IN(AWS "category", "c5, m5")), "deny " AT "[0].values c5, m5"},
        {POOL2(IN(AWS "category", "c5, m"), ARM64), "warn " AT "[0].values[0] c5"},
        {POOL(IN(AWS "family", "c7id")), "warn " AT "[0].values[0] c7id"},
        {POOL(IN("node.kubernetes.io/instance-type", "trn1-32xl")),
         "warn " AT "[0].values[0] trn1-32xl"},
        {POOL2(IN(AWS "family", "m5"), IN("kubernetes.io/arch", "arm64")),
         "deny " AT "[1] kubernetes.io/arch In arm64"},
        {POOL2(IN(AWS "family", "m5"), "{key: " AWS "cpu, operator: Gt, values: ['1000']}"),
         "deny " AT "[1] " AWS "cpu Gt 1000"},
        {POOL_WITH("", "metadata: {labels: {" AWS "family: m5}}, ",
                   IN("kubernetes.io/arch", "arm64")),
         "deny spec.template.metadata.labels[" AWS "family] " AWS "family In m5"},
        /* each two of these leave some: m5 has 8 vCPUs in one size, and metal in another */
        {POOL3(IN(AWS "family", "m5, c5"), IN(AWS "size", "large, metal"),
               "{key: " AWS "cpu, operator: Gt, values: ['2']}, {key: " AWS
               "cpu, operator: Lt, values: ['96']}"),
         "deny " AT " "},
        {POOL3(IN(AWS "family", "m5"), IN("karpenter.sh/capacity-type", "spot"), IN("a", "b")), ""},
        /* what is wrong beside it, or says nothing of the machines, is not blamed */
        {POOL2("5, " IN(AWS "family", "m5"), ARM64),
         "deny " AT "[0] \ndeny " AT "[2] kubernetes.io/arch In arm64"},
        {POOL5(IN("topology.kubernetes.io/zone", "z-a"), IN("karpenter.sh/capacity-type", "spot"),
               IN("team", "a"), IN(AWS "family", "m5"), ARM64),
         "deny " AT "[4] kubernetes.io/arch In arm64"},
        {POOL3("{key: " AWS "family, operator: NotIn, values: [m99]}", IN(AWS "family", "m5"),
               ARM64),
         "deny " AT "[2] kubernetes.io/arch In arm64"},
        /* what nobody knows goes before what rules each other out */
        {POOL2(IN(AWS "family", "m99"), ARM64), "warn " AT "[0].values[0] m99"},
        {POOL2(ARM64, IN(AWS "family", "m99")), "warn " AT "[1].values[0] m99"},
        {LABELS(AWS "family: m99"), "warn " LABELS_AT "[" AWS "family] m99"},
        {POOL_WITH("",
                   "metadata: {labels: {team: null, " AWS "family: m5, kubernetes.io/arch: "
                   "arm64}}, ",
                   ""),
         "deny " LABELS_AT "[kubernetes.io/arch] kubernetes.io/arch In arm64"},
        {POOL("{key: " AWS "family, operator: DoesNotExist}"),
         "deny " AT "[0] " AWS "family DoesNotExist"},
        {POOL4(CMR, "{key: " AWS "tenancy, operator: In, values: [host]}", IN(AWS "family", "m5"),
               ARM64),
         "deny " AT "[1].values[0] host"},
        /* the catalogue knows these by name alone */
        {POOL2(IN(AWS "family", "c7g-flex"), ARM64),
         "warn " AT " c7g-flex.2xlarge, c7g-flex.4xlarge, c7g-flex.8xlarge, c7g-flex.large, "
         "c7g-flex.medium, ... (6)"},
        {POOL2(IN(AWS "family", "m5, g2"), ARM64), "warn " AT " g2.2xlarge, g2.8xlarge"},
        {POOL2(IN("node.kubernetes.io/instance-type", "c7i.32xlarge"),
               IN("kubernetes.io/arch", "amd64")),
         "warn " AT " c7i.32xlarge"},
        /* their names are enough to rule them out */
        {POOL2(IN(AWS "family", "c7i"), ARM64), "deny " AT "[1] kubernetes.io/arch In arm64"},
        {POOL2(IN(AWS "family", "c7g-flex"), IN(AWS "size", "metal")),
         "deny " AT "[1] " AWS "size In metal"},
        {POOL3(IN(AWS "family", "c7g-flex"), ARM64, IN(AWS "size", "metal")),
         "deny " AT "[2] " AWS "size In metal"},
        {POOL2(IN(AWS "category", "c"), "{key: " AWS "cpu, operator: Gt, values: ['1000']}"),
         "deny " AT "[1] " AWS "cpu Gt 1000"},
        /* requirements that contradict each other fit none of them */
        {POOL3(IN(AWS "category", "m"), IN("kubernetes.io/arch", "amd64"), ARM64),
         "deny " AT "[2] kubernetes.io/arch In arm64"},
        {POOL3(IN(AWS "category", "m"), IN("kubernetes.io/os", "linux"),
               IN("kubernetes.io/os", "windows")),
         "deny " AT "[2] kubernetes.io/os In windows"},
        {POOL2(IN(AWS "family", "c7g-flex"), "{key: kubernetes.io/os, operator: DoesNotExist}"),
         "deny " AT "[1] kubernetes.io/os DoesNotExist"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
}

static void a_label_of_every_node_needs_a_value(void)
{
#define ZONE "topology.kubernetes.io/zone"
#define WANTS_OF(key, op, values) "{key: " key ", operator: " op ", values: [" values "]}"
#define LABELLED(labels, requirement) \
    POOL_WITH("", "metadata: {labels: {" labels "}}, ", CMR ", " requirement)
    static const struct rail_case cases[] = {
        {POOL2(CMR, IN(ZONE, "a, b")), ""},
        {POOL2(CMR, "{key: " ZONE ", operator: Exists}"), ""},
        {POOL2(CMR, "{key: " ZONE ", operator: DoesNotExist}"),
         "deny " AT "[1] " ZONE " DoesNotExist"},
        {POOL2(CMR, "{key: karpenter.sh/capacity-type, operator: DoesNotExist}"),
         "deny " AT "[1] karpenter.sh/capacity-type DoesNotExist"},
        {POOL3(CMR, IN(ZONE, "a"), IN(ZONE, "b")), "deny " AT "[2] " ZONE " In b"},
        {POOL3(CMR, IN(ZONE, "a, b"), IN(ZONE, "b")), ""},
        {POOL3(CMR, IN(ZONE, "a"), WANTS_OF(ZONE, "NotIn", "a")),
         "deny " AT "[2] " ZONE " NotIn a\nwarn " AT "[2].values[0] a"},
        {POOL3(CMR, IN("failure-domain.beta.kubernetes.io/zone", "a"), IN(ZONE, "b")),
         "deny " AT "[2] " ZONE " In b"},
        /* no two of them rule each other out */
        {POOL4(CMR, IN(ZONE, "a, b"), IN(ZONE, "b, c"), IN(ZONE, "c, a")),
         "deny " AT "[3] " ZONE " In c, a"},
        {LABELLED(ZONE ": c", IN(ZONE, "a, b")), "deny " LABELS_AT "[" ZONE "] " ZONE " In c"},
        {LABELLED(ZONE ": b", IN(ZONE, "a, b")), ""},
        {LABELLED(ZONE ": c", IN(ZONE, "'${ZONE}'")), "undecided " AT "[1].values[0] ${ZONE}"},
        /* what the API server refuses rules out no value */
        {POOL3(CMR, IN(ZONE, ""), IN(ZONE, "a")), "deny " AT "[1] " ZONE},
        {POOL4(CMR, WANTS_OF(ZONE, "Is", "b"), IN(ZONE, "a"), IN(ZONE, "b")),
         "deny " AT "[1] " ZONE "\ndeny " AT "[3] " ZONE " In b"},
        /* told of alone */
        {POOL3(ARM64, IN(AWS "family", "m5"), "{key: " ZONE ", operator: DoesNotExist}"),
         "deny " AT "[1] " AWS "family In m5"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {LABELLED(ZONE ": c", IN(ZONE, "a, b")),
         "No node fits topology.kubernetes.io/zone In c beside topology.kubernetes.io/zone In a, "
         "b. The pool can launch no node.",
         "Change one of them."},
        {POOL2(CMR, "{key: " ZONE ", operator: DoesNotExist}"),
         "No node fits topology.kubernetes.io/zone DoesNotExist. The pool can launch no node.",
         "Change it."},
        {POOL4(CMR, IN(ZONE, "a, b"), IN(ZONE, "b, c"), IN(ZONE, "c, a")),
         "No node fits topology.kubernetes.io/zone In c, a beside the other requirements of this "
         "key. The pool can launch no node.",
         "Change one of them."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, words, COUNT_OF(words));
}

static void it_says_what_is_left(void)
{
    static const struct rail_words rows[] = {
        /* of the built-in catalogue all arm64 types but the Macs; g5g has GPUs */
        {POOL(IN("kubernetes.io/arch", "arm64")),
         "No requirement says which machines the pool is for. It may launch any of 396 instance "
         "types, 6 with accelerators and 50 of bare metal among them.",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-category, "
         "operator: In, values: [c, m, r]}]."},
        {POOL(IN(AWS "category", "m5.large")),
         "No instance type has \"m5.large\" as karpenter.k8s.aws/instance-category. The pool can "
         "launch no node.",
         "Use the key node.kubernetes.io/instance-type for this value."},
        {POOL(IN(AWS "category", "xlarge")),
         "No instance type has \"xlarge\" as karpenter.k8s.aws/instance-category. The pool can "
         "launch no node.",
         "Use the key karpenter.k8s.aws/instance-size for this value."},
        {POOL(IN(AWS "family", "c")),
         "No instance type has \"c\" as karpenter.k8s.aws/instance-family. The pool can launch no "
         "node.",
         "Use the key karpenter.k8s.aws/instance-category for this value."},
        {POOL(IN(AWS "size", "12xlarg")),
         "No known instance type has \"12xlarg\" as karpenter.k8s.aws/instance-size. The pool can "
         "launch no node.",
         "Write 12xlarge."},
        {POOL(IN(AWS "size", "enormous")),
         "No known instance type has \"enormous\" as karpenter.k8s.aws/instance-size. The pool can "
         "launch no node.",
         "Check the name."},
        {POOL("{key: " AWS "cpu, operator: Gt, values: ['100000']}"),
         "No instance type fits karpenter.k8s.aws/instance-cpu Gt 100000. The pool can launch no "
         "node.",
         "Change it."},
        {POOL2(IN(AWS "family", "m5, c5, r5, m6i"), IN("kubernetes.io/arch", "arm64")),
         "No instance type fits kubernetes.io/arch In arm64 beside "
         "karpenter.k8s.aws/instance-family In m5, c5, r5 and 1 more. The pool can launch no node.",
         "Change one of the two."},
        {AUTOMATIC(ARM64),
         "No requirement says which machines the pool is for. It may launch any of 396 instance "
         "types, 6 with accelerators and 50 of bare metal among them.",
         "Add to spec.template.spec.requirements: [{key: eks.amazonaws.com/instance-category, "
         "operator: In, values: [c, m, r]}]."},
        {POOL(IN(AWS "size", "12xlar")),
         "No known instance type has \"12xlar\" as karpenter.k8s.aws/instance-size. The pool can "
         "launch no node.",
         "Write 12xlarge."},
        {POOL(IN(AWS "size", "12xla")),
         "No known instance type has \"12xla\" as karpenter.k8s.aws/instance-size. The pool can "
         "launch no node.",
         "Check the name."},
        {POOL2(IN(AWS "family", "m5, c5, r5"), ARM64),
         "No instance type fits kubernetes.io/arch In arm64 beside "
         "karpenter.k8s.aws/instance-family In m5, c5, r5. The pool can launch no node.",
         "Change one of the two."},
        /* m5.large has 2 vCPUs, m5.metal 96 */
        {POOL3(IN(AWS "family", "m5"), IN(AWS "size", "large, metal"),
               "{key: " AWS "cpu, operator: Gt, values: ['2']}, {key: " AWS
               "cpu, operator: Lt, values: ['96']}"),
         "No instance type fits these requirements together. The pool can launch no node.",
         "Remove one of the requirements."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, rows, COUNT_OF(rows));
}

/* Of a catalogue of one's own there is no newer one: what it does not know, nobody sells. */
static void the_machines_may_be_ones_own(void)
{
#define SOLD OWN_OFFERING("0.1", "on-demand", "a")
    static const char types[] =
        OWN_TYPES4(OWN_TYPE("inf2.xlarge", "\"aws.amazon.com/neuroncore\": 2", SOLD),
                   OWN_TYPE("g5.xlarge", "\"nvidia.com/gpu\": 1", SOLD),
                   OWN_TYPE("m5.metal", "\"x\": 1", SOLD), OWN_TYPE("m5.large", "\"x\": 1", SOLD));
    static const struct rail_case cases[] = {
        {POOL(""), "deny " AT " "},
        {POOL(IN(AWS "family", "m5")), ""},
        {POOL(IN(AWS "family", "c7id")), "deny " AT "[0].values[0] c7id"},
        /* what the file does not offer */
        {POOL(IN("karpenter.sh/capacity-type", "spot")),
         "deny " AT "[0] karpenter.sh/capacity-type In spot"},
        {POOL(IN("topology.kubernetes.io/zone", "b")),
         "deny " AT "[0] topology.kubernetes.io/zone In b"},
        {POOL3(IN(AWS "family", "g5"), IN(AWS "size", "large"),
               "{key: " AWS "cpu, operator: NotIn}"),
         "deny " AT "[1] " AWS "size In large\nwarn " AT "[2].values "},
        {HEAD "{template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, "
              "name: a}, requirements: []}}}}",
         "deny " AT " "},
    };
    rail_catalog_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL,
                                          cases, COUNT_OF(cases)},
                     types);
    static const struct rail_words words[] = {
        {POOL(""),
         "No requirement says which machines the pool is for. It may launch any of 4 instance "
         "types, 2 with accelerators and 1 of bare metal among them.",
         "Add a requirement on the machines it is for."},
        {POOL(IN(AWS "family", "m6")),
         "No instance type has \"m6\" as karpenter.k8s.aws/instance-family. The pool can launch no "
         "node.",
         "Write m5."},
        {POOL(IN(AWS "size", "g5.xlarge")),
         "No instance type has \"g5.xlarge\" as karpenter.k8s.aws/instance-size. The pool can "
         "launch no node.",
         "Use the key node.kubernetes.io/instance-type for this value."},
    };
    rail_catalog_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, types, words,
                           COUNT_OF(words));
    /* with names and families that EC2 has none of */
    static const char others[] = OWN_TYPES2(OWN_TYPE("c-4x-amd64-linux", "\"x\": 1", SOLD),
                                            OWN_TYPE("m-4x-amd64-linux", "\"x\": 1", SOLD));
    static const struct rail_words others_words[] = {
        {POOL(IN("karpenter.kwok.sh/instance-family", "memory")),
         "No instance type has \"memory\" as karpenter.kwok.sh/instance-family. The pool can "
         "launch no node.",
         "Check the name."},
        {POOL(IN("karpenter.kwok.sh/instance-family", "m-4x-amd64-linux")),
         "No instance type has \"m-4x-amd64-linux\" as karpenter.kwok.sh/instance-family. The pool "
         "can launch no node.",
         "Use the key node.kubernetes.io/instance-type for this value."},
    };
    rail_catalog_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, others,
                           others_words, COUNT_OF(others_words));
}

#define IMAGES(terms)                                                                              \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: a}, spec: {role: r, " \
    "amiSelectorTerms: [" terms "]}}"

/* v1 has no default; an image that is built for one architecture fails on the other. */
static void an_architecture_is_chosen(void)
{
    static const char both[] = "warn " AT " ";
    static const struct rail_case cases[] = {
        {POOL(IN(AWS "category", "c, m, r")), both},
        {POOL(IN(AWS "family", "m5, m6g")), both},
        {POOL(IN(AWS "family", "m5, m6i")), ""},
        {POOL(IN(AWS "family", "m7g, m6g")), ""},
        {POOL2(IN(AWS "family", "m5, m6g"), IN("kubernetes.io/arch", "amd64, arm64")), ""},
        {POOL_WITH("", "metadata: {labels: {kubernetes.io/arch: amd64}}, ",
                   IN(AWS "family", "m5, m6g")),
         ""},
        {POOL2(IN(AWS "category", "c"), IN("kubernetes.io/os", "windows")), ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
    /* Images that somebody chose have an architecture; two of them may have both. */
    static const struct rail_case found = {POOL(IN(AWS "category", "c")), "warn " AT " "};
    static const struct rail_case silent = {POOL(IN(AWS "category", "c")), ""};
    static const char alias[] = IMAGES("{alias: al2023@latest}");
    static const char one[] = IMAGES("{id: ami-1}");
    static const char two[] = IMAGES("{id: ami-1}, {id: ami-2}");
    static const char tagged[] = IMAGES("{tags: {team: a}}");
    rail_table_run(
        &(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", alias, &found, 1});
    rail_table_run(
        &(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", two, &found, 1});
    rail_table_run(
        &(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", one, &silent, 1});
    rail_table_run(
        &(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", tagged, &silent, 1});
    static const struct rail_words words[] = {
        {POOL(IN(AWS "family", "m5, m6g")),
         "No requirement names kubernetes.io/arch, so the pool launches amd64 and arm64 nodes. An "
         "image that is built for one fails on the other.",
         "Add to spec.template.spec.requirements: [{key: kubernetes.io/arch, operator: In, values: "
         "[amd64]}], or both values where all images are built for both."},
        {POOL(""),
         "No requirement says which machines the pool is for. It may launch any of 1432 instance "
         "types, 99 with accelerators and 158 of bare metal among them.",
         "Add to spec.template.spec.requirements: [{key: karpenter.k8s.aws/instance-category, "
         "operator: In, values: [c, m, r]}, {key: kubernetes.io/arch, operator: In, values: "
         "[amd64]}]."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, words, COUNT_OF(words));
    /* instance-types speaks of an architecture that it does not allow. */
    static const struct rail_case arm = {
        POOL(IN(AWS "family", "m5, m6g")),
        "deny " AT " m5.12xlarge, m5.16xlarge, m5.24xlarge, m5.2xlarge, m5.4xlarge, ... (9)"};
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}, "
                                        "instance-types: {allow: {architectures: [arm64]}}",
                                        NULL, &arm, 1});
}

/* Beside others that types have they do no harm; what they are meant to be is of their category. */
static void what_no_type_has_comes_to_nothing(void)
{
    /* newer than the catalogue */
    static const struct rail_case newer = {POOL(IN(AWS "family", "m5, z99zz")), ""};
    rail_table_run(
        &(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, &newer, 1});
    static const struct rail_words words[] = {
        {POOL(IN(AWS "family", "p4, p5")),
         "No known instance type has \"p4\" as karpenter.k8s.aws/instance-family, so nothing comes "
         "of it.",
         "Remove it, or write p4d."},
        {POOL(IN(AWS "family", "p4, p4d")),
         "No known instance type has \"p4\" as karpenter.k8s.aws/instance-family, so nothing comes "
         "of it.",
         "Remove it."},
        {POOL(IN(AWS "family", "m7i, r7gn, m7gn")),
         "No known instance type has r7gn, m7gn as karpenter.k8s.aws/instance-family, so nothing "
         "comes of it.",
         "Remove them, or write r7g, m7g."},
        {POOL(IN(AWS "family", "p4")),
         "No known instance type has \"p4\" as karpenter.k8s.aws/instance-family. The pool can "
         "launch no node.",
         "Write p4d."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, words, COUNT_OF(words));
}

static void one_type_is_noted(void)
{
    static const struct rail_case cases[] = {
        {POOL2(IN(AWS "family", "m5"), IN(AWS "size", "2xlarge")), "audit " AT " m5.2xlarge"},
        {POOL2(IN(AWS "family", "m5, m6i"), IN(AWS "size", "2xlarge")), ""},
        {POOL3(IN(AWS "family", "m5"), IN(AWS "size", "2xlarge"),
               "{key: karpenter.sh/capacity-type, operator: Exists}"),
         "audit " AT " m5.2xlarge"},
        {POOL3(IN(AWS "family", "m5"), IN(AWS "size", "2xlarge"),
               IN("karpenter.sh/capacity-type", "on-demand")),
         "audit " AT " m5.2xlarge"},
        /* of accelerators there is no choice */
        {POOL2(IN(AWS "family", "g5"), IN(AWS "size", "2xlarge")), ""},
        /* named, it is wanted; and of some there is no other */
        {POOL(IN("node.kubernetes.io/instance-type", "m5.2xlarge")), ""},
        {POOL2(IN(AWS "family", "p5"), IN(AWS "size", "48xlarge")), ""},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words words = {
        POOL2(IN(AWS "family", "m5"), IN(AWS "size", "2xlarge")),
        "The requirements leave only one instance type, m5.2xlarge. When a zone has no more of it, "
        "pods of the pool stay Pending.",
        "Allow others like it, such as m5a.2xlarge, m5ad.2xlarge or m5d.2xlarge."};
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, &words, 1);
}

/* A type of somebody's own catalogue with an accelerator is wanted for it. */
static void one_type_of_a_users_catalogue(void)
{
#define SOLD_IN_A OWN_OFFERING("0.1", "on-demand", "a")
#define BUT(values) \
    POOL("{key: node.kubernetes.io/instance-type, operator: NotIn, values: [" values "]}")
    static const char types[] = "[" OWN_TYPE("plain", "\"x\": 1", SOLD_IN_A) ", " OWN_TYPE(
        "pgpu", "\"nvidia.com/gpu\": \"1\"", SOLD_IN_A) ", " OWN_TYPE("pother", "\"x\": 1",
                                                                      SOLD_IN_A) "]";
    static const struct rail_case cases[] = {
        {BUT("pgpu, pother"), "audit " AT " plain"},
        {BUT("plain, pother"), ""},
    };
    rail_catalog_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL,
                                          cases, COUNT_OF(cases)},
                     types);
}

#define KEPT_OUT(key, values) "{key: " key ", operator: NotIn, values: [" values "]}"

static void what_no_type_has_is_not_kept_out(void)
{
    static const struct rail_case cases[] = {
        {POOL2(CMR, KEPT_OUT(AWS "category", "gpu, fpga")), "warn " AT "[1].values gpu, fpga"},
        {POOL2(CMR, KEPT_OUT(AWS "category", "g, gpu")), "warn " AT "[1].values[1] gpu"},
        {POOL2(CMR, KEPT_OUT(AWS "category", "t2")), "warn " AT "[1].values[0] t2"},
        {POOL2(CMR, KEPT_OUT(AWS "size", "t2")), "warn " AT "[1].values[0] t2"},
        {POOL2(CMR, KEPT_OUT(AWS "category", "g, p")), ""},
        /* a family of tomorrow, or of yesterday */
        {POOL2(CMR, KEPT_OUT(AWS "family", "m99")), ""},
        {POOL2(CMR, KEPT_OUT("team", "gpu")), ""},
        {POOL2(CMR, KEPT_OUT(AWS "category", "\"${CATEGORY}\"")),
         "undecided " AT "[1].values[0] ${CATEGORY}"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {POOL2(CMR, KEPT_OUT(AWS "category", "gpu, fpga")),
         "NotIn gpu, fpga keeps nothing out, because no instance type has them as "
         "karpenter.k8s.aws/instance-category.",
         "Write [g, p, f]."},
        {POOL2(CMR, KEPT_OUT(AWS "size", "t2")),
         "NotIn t2 keeps nothing out, because no instance type has it as "
         "karpenter.k8s.aws/instance-size.",
         "Use the key karpenter.k8s.aws/instance-family."},
        {POOL2(CMR, KEPT_OUT(AWS "category", "gpu, accelerated, fpga")),
         "NotIn gpu, accelerated, fpga keeps nothing out, because no instance type has them as "
         "karpenter.k8s.aws/instance-category.",
         "Write [g, p, f]."},
        /* of several keys none is meant */
        {POOL2(CMR, KEPT_OUT(AWS "size", "t2, t2.nano")),
         "NotIn t2, t2.nano keeps nothing out, because no instance type has them as "
         "karpenter.k8s.aws/instance-size.",
         "Keep each out under the key that has it."},
        {POOL2(CMR, KEPT_OUT(AWS "category", "old")),
         "NotIn old keeps nothing out, because no instance type has it as "
         "karpenter.k8s.aws/instance-category.",
         "Write the letters that families begin with, such as g and p."},
    };
    rail_words_run("pool-shape: {}, capacity-types: {mode: off}", NULL, words, COUNT_OF(words));
}

/* A template for envsubst or sed: what stands in it is judged, once what is filled in is not. */
static void placeholders_are_told_of_once(void)
{
    static const struct rail_case cases[] = {
        {POOL2(IN("node.kubernetes.io/instance-type", "\"${TYPE}\""),
               IN("topology.kubernetes.io/zone", "<<AZ>>")),
         "undecided " AT "[0].values[0] ${TYPE}"},
        {POOL_WITH("", "metadata: {labels: {a: \"{{ .Values.a }}\"}}, ", CMR),
         "undecided " LABELS_AT ".a {{ .Values.a }}"},
        {TAINTS("taints: [{key: team, value: \"${TEAM}\", effect: NoSchedule}]"),
         "undecided spec.template.spec.taints[0].value ${TEAM}"},
        {TAINTS("taints: [{key: \"${TEAM}\", effect: NoSchedule}]"),
         "undecided spec.template.spec.taints[0].key ${TEAM}"},
        {POOL2(IN("\"${KEY}\"", "a"), IN(AWS "family", "m5")), "undecided " AT "[0].key ${KEY}"},
        {POOL2("{key: " AWS "family, operator: NotIn, values: [\"${FAMILY}\"]}",
               IN(AWS "family", "m5")),
         "undecided " AT "[0].values[0] ${FAMILY}"},
        {POOL2(IN("karpenter.sh/capacity-type", "\"$(CAPACITY)\""), IN(AWS "family", "m5")),
         "undecided " AT "[0].values[0] $(CAPACITY)"},
        {POOL2(IN("karpenter.sh/capacity-type", "\"$CAPACITY\""), IN(AWS "family", "m5")),
         "deny " AT "[0].values[0] $CAPACITY\ndeny " AT "[0].values[0] $CAPACITY"},
    };
    rail_table_run(&(struct rail_table){"pool-shape: {}, capacity-types: {mode: off}", NULL, cases,
                                        COUNT_OF(cases)});
}

const char unit_suite[] = "policy pool-shape: machines";
const struct unit_test unit_tests[] = {
    {"pools open to all are found", pools_open_to_all_are_found},
    {"pools that launch nothing are found", pools_that_launch_nothing_are_found},
    {"a label of every node needs a value", a_label_of_every_node_needs_a_value},
    {"it says what is left", it_says_what_is_left},
    {"an architecture is chosen", an_architecture_is_chosen},
    {"what no type has comes to nothing", what_no_type_has_comes_to_nothing},
    {"one type is noted", one_type_is_noted},
    {"one type of a user's catalogue", one_type_of_a_users_catalogue},
    {"what no type has is not kept out", what_no_type_has_is_not_kept_out},
    {"placeholders are told of once", placeholders_are_told_of_once},
    {"the machines may be one's own", the_machines_may_be_ones_own},
    {NULL, NULL},
};
