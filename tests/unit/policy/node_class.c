/* The rail node-class: disks, the metadata service, families of images, tags, pods to a node. */
#include "rail_catalog.h"

#define CLASS_OF(version, spec)                                                                   \
    "{apiVersion: karpenter.k8s.aws/" version ", kind: EC2NodeClass, metadata: {name: c}, spec: " \
    "{" spec "}}"
#define CLASS(spec) CLASS_OF("v1", spec)
#define AL2023 "amiSelectorTerms: [{alias: al2023@v20250116}]"
#define BOTTLEROCKET "amiSelectorTerms: [{alias: bottlerocket@v1.32.0}]"
#define MAPPINGS(list) ", blockDeviceMappings: [" list "]"
#define VOLUME(device, ebs) "{deviceName: " device ", ebs: {" ebs "}}"
#define GOOD(device) VOLUME(device, "volumeSize: 100Gi, encrypted: true")
#define OWN "amiSelectorTerms: [{id: ami-1}]"
#define ROOT(device) "{deviceName: " device ", rootVolume: true, ebs: {encrypted: true}}"
#define AT "spec.blockDeviceMappings"

static void volumes_are_encrypted(void)
{
    static const struct rail_case cases[] = {
        /* Karpenter's own layout is encrypted */
        {CLASS(AL2023), ""},
        {CLASS(AL2023 MAPPINGS("")), ""},
        {CLASS(AL2023 MAPPINGS(GOOD("/dev/xvda"))), ""},
        {CLASS(AL2023 MAPPINGS(VOLUME("/dev/xvda", "volumeSize: 100Gi"))),
         "deny " AT "[0].ebs.encrypted "},
        {CLASS(AL2023 MAPPINGS(VOLUME("/dev/xvda", "encrypted: false"))),
         "deny " AT "[0].ebs.encrypted false"},
        {CLASS(AL2023 MAPPINGS(GOOD("/dev/xvda") ", " VOLUME("/dev/sdf", ""))),
         "deny " AT "[1].ebs.encrypted "},
        {CLASS(AL2023 MAPPINGS(GOOD("/dev/sdf"))), "deny " AT " "},
        /* what an alias names starts from its own root, whatever an entry says */
        {CLASS(AL2023 MAPPINGS(ROOT("/dev/x"))), "deny " AT " "},
        {CLASS("amiFamily: AL2023" MAPPINGS(ROOT("/dev/x"))), "deny " AT " "},
        /* the root of a custom image may have any name, and stand anywhere, if it says so */
        {CLASS("amiFamily: Custom" MAPPINGS(GOOD("/dev/xvdb") ", " ROOT("/dev/x"))), ""},
        {CLASS("amiFamily: Custom, " OWN MAPPINGS(ROOT("/dev/x"))), ""},
        {CLASS("amiFamily: Custom, " OWN MAPPINGS("{deviceName: /dev/x, rootVolume: false, ebs: "
                                                  "{encrypted: true}}")),
         "undecided " AT " "},
        {CLASS("amiFamily: Custom, " OWN MAPPINGS(GOOD("/dev/xvda"))), "undecided " AT " "},
        {CLASS(AL2023 MAPPINGS(GOOD("/dev/sdf") ", " GOOD("/dev/xvda"))), ""},
        {CLASS(AL2023 MAPPINGS(VOLUME("/dev/xvda", "encrypted: 'true'"))),
         "deny " AT "[0].ebs.encrypted true"},
        /* an entry without ebs fails in Karpenter */
        {CLASS(AL2023 MAPPINGS(GOOD("/dev/xvda") ", {deviceName: /dev/sdb}")),
         "deny " AT "[1].ebs "},
        {CLASS(AL2023 MAPPINGS("{deviceName: /dev/xvda, ebs: null}")), "deny " AT "[0].ebs "},
        {CLASS(AL2023 MAPPINGS(GOOD("/dev/xvda") ", {}")), "deny " AT "[1].ebs "},
        {CLASS(AL2023 MAPPINGS(VOLUME("/dev/sdf", ""))),
         "deny " AT " \ndeny " AT "[0].ebs.encrypted "},
        /* of a custom image nobody knows */
        {CLASS("amiFamily: Custom"), "undecided " AT " "},
        {CLASS("amiFamily: Custom" MAPPINGS(GOOD("/dev/x"))), "undecided " AT " "},
        {CLASS("amiSelectorTerms: [{id: ami-1}]"), ""},
        {CLASS_OF("v1beta1", "amiFamily: AL2023"), ""},
        {CLASS("blockDeviceMappings: 5"), ""},
        {CLASS("blockDeviceMappings: [null, 5, {deviceName: 7, ebs: 5}]"), ""},
        {"{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}}", ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case open[] = {
        {CLASS(AL2023 MAPPINGS(VOLUME("/dev/xvda", ""))), ""},
        {CLASS(AL2023 MAPPINGS("{deviceName: /dev/xvda}")), "deny " AT "[0].ebs "},
    };
    rail_table_run(
        &(struct rail_table){"node-class: {requireEncryption: false}", NULL, open, COUNT_OF(open)});
}

/* By the AWS provider's own table of families (docs of EC2NodeClass, blockDeviceMappings). */
static void each_family_has_its_root(void)
{
    static const struct {
        const char *of, *root, *other;
    } rows[] = {
        {"amiFamily: AL2023", "/dev/xvda", "/dev/sda1"},
        {"amiFamily: Ubuntu", "/dev/sda1", "/dev/xvda"},
        {"amiFamily: Windows2019", "/dev/sda1", "/dev/xvda"},
        {"amiFamily: Windows2022", "/dev/sda1", "/dev/xvda"},
        {"amiFamily: Windows2025", "/dev/sda1", "/dev/xvda"},
        {"amiSelectorTerms: [{alias: al2023@latest}]", "/dev/xvda", "/dev/sda1"},
        {"amiSelectorTerms: [{alias: windows2019@latest}]", "/dev/sda1", "/dev/xvda"},
        {"amiSelectorTerms: [{alias: windows2022@latest}]", "/dev/sda1", "/dev/xvda"},
        {"amiSelectorTerms: [{alias: windows2025@latest}]", "/dev/sda1", "/dev/xvda"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char good[512], bad[512], none[256];
        const char *object = CLASS("%s" MAPPINGS(VOLUME("%s", "volumeSize: 4Gi, encrypted: true")));
        snprintf(good, sizeof good, object, rows[i].of, rows[i].root);
        snprintf(bad, sizeof bad, object, rows[i].of, rows[i].other);
        snprintf(none, sizeof none, CLASS("%s"), rows[i].of);
        const struct rail_case cases[] = {{good, ""}, {bad, "deny " AT " "}, {none, ""}};
        rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
    }
    static const struct rail_case al2[] = {
        {CLASS("amiFamily: AL2" MAPPINGS(GOOD("/dev/xvda"))), "warn spec.amiFamily AL2"},
        {CLASS("amiSelectorTerms: [{alias: al2@v20250116}]" MAPPINGS(GOOD("/dev/sda1"))),
         "warn spec.amiSelectorTerms[0].alias al2@v20250116\ndeny " AT " "},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, al2, COUNT_OF(al2)});
    static const struct rail_case unknown[] = {
        {CLASS("amiFamily: Flatcar" MAPPINGS(GOOD("/dev/x"))), ""},
        {CLASS("amiSelectorTerms: [{alias: flatcar@latest}]" MAPPINGS(GOOD("/dev/x"))), ""},
        {CLASS("amiSelectorTerms: [{alias: al2023}]" MAPPINGS(GOOD("/dev/x"))), ""},
        {CLASS("amiSelectorTerms: [{id: ami-1}, {alias: al2023@latest}]" MAPPINGS(GOOD("/dev/x"))),
         "deny " AT " "},
        /* amiFamily says how a Custom image starts, and the alias which image it is */
        {CLASS("amiFamily: Custom, amiSelectorTerms: [{alias: al2023@latest}]" MAPPINGS(
             GOOD("/dev/xvda"))),
         ""},
        {CLASS("amiFamily: Custom, amiSelectorTerms: [{alias: al2023@latest}]" MAPPINGS(
             GOOD("/dev/x"))),
         "deny " AT " "},
        {CLASS("amiFamily: null, amiSelectorTerms: [{alias: al2023@latest}]" MAPPINGS(
             GOOD("/dev/x"))),
         "deny " AT " "},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, unknown, COUNT_OF(unknown)});
    /* images of one's own may start from any device: Ubuntu is run as AL2 */
    static const struct rail_case own[] = {
        {CLASS("amiFamily: AL2023, " OWN), ""},
        {CLASS("amiFamily: AL2023, " OWN MAPPINGS(GOOD("/dev/xvda"))), ""},
        {CLASS("amiFamily: AL2023, " OWN MAPPINGS(ROOT("/dev/sda1"))), ""},
        {CLASS("amiFamily: AL2023, " OWN MAPPINGS(GOOD("/dev/sda1"))), "undecided " AT " "},
        {CLASS_OF("v1beta1", "amiFamily: Ubuntu, " OWN MAPPINGS(GOOD("/dev/sda1"))), ""},
        {CLASS_OF("v1beta1", "amiFamily: AL2023, " OWN MAPPINGS(GOOD("/dev/sdf"))),
         "undecided " AT " "},
        {CLASS_OF("v1beta1", "amiFamily: AL2023, amiSelectorTerms: []" MAPPINGS(GOOD("/dev/sdf"))),
         "deny " AT " "},
        {CLASS(OWN MAPPINGS(GOOD("/dev/sdf"))), ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, own, COUNT_OF(own)});
    static const struct rail_case open[] = {
        {CLASS("amiFamily: Custom"), ""},
        {CLASS(AL2023 MAPPINGS(GOOD("/dev/sdf"))), ""},
        {CLASS(BOTTLEROCKET MAPPINGS(GOOD("/dev/xvda"))), "deny " AT "[0].deviceName /dev/xvda"},
    };
    rail_table_run(
        &(struct rail_table){"node-class: {requireEncryption: false}", NULL, open, COUNT_OF(open)});
}

static void bottlerocket_keeps_its_data_apart(void)
{
    static const char found[] = "deny " AT "[0].deviceName /dev/xvda";
    static const char left_out[] = "deny " AT " ", unseen[] = "undecided " AT " ";
    static const struct rail_case cases[] = {
        {CLASS(BOTTLEROCKET), ""},
        {CLASS(BOTTLEROCKET MAPPINGS(GOOD("/dev/xvda"))), found},
        {CLASS("amiFamily: Bottlerocket" MAPPINGS(GOOD("/dev/xvda"))), found},
        {CLASS(BOTTLEROCKET MAPPINGS(GOOD("/dev/xvda") ", " GOOD("/dev/xvdb"))), ""},
        {CLASS(BOTTLEROCKET MAPPINGS(VOLUME("/dev/xvda", "volumeSize: 4Gi, encrypted: true"))),
         left_out},
        {CLASS(BOTTLEROCKET MAPPINGS(VOLUME("/dev/xvda", "volumeSize: 8Gi, encrypted: true"))),
         left_out},
        {CLASS(BOTTLEROCKET MAPPINGS(VOLUME("/dev/xvda", "volumeSize: 9Gi, encrypted: true"))),
         found},
        {CLASS(BOTTLEROCKET MAPPINGS(VOLUME("/dev/xvda", "volumeSize: 8193Mi, encrypted: true"))),
         found},
        {CLASS(BOTTLEROCKET MAPPINGS(VOLUME("/dev/xvda", "volumeSize: 100, encrypted: true"))),
         left_out},
        {CLASS(BOTTLEROCKET MAPPINGS(VOLUME("/dev/xvda", "volumeSize: much, encrypted: true"))),
         left_out},
        {CLASS(BOTTLEROCKET MAPPINGS(VOLUME("/dev/xvda", "encrypted: true"))), left_out},
        {CLASS("amiFamily: Bottlerocket" MAPPINGS(VOLUME("/dev/xvda", "encrypted: true"))),
         left_out},
        {CLASS(BOTTLEROCKET MAPPINGS(GOOD("/dev/xvdb"))), left_out},
        {CLASS(BOTTLEROCKET MAPPINGS(GOOD("/dev/sdf"))), "deny " AT " \ndeny " AT " "},
        {CLASS("amiFamily: Bottlerocket, " OWN MAPPINGS(VOLUME("/dev/xvda", "encrypted: true"))),
         unseen},
        {CLASS("amiFamily: Bottlerocket, " OWN MAPPINGS(ROOT("/dev/xvdb"))), unseen},
        {CLASS("amiFamily: Bottlerocket, " OWN MAPPINGS(GOOD("/dev/xvda") ", " GOOD("/dev/xvdb"))),
         ""},
        {CLASS("amiFamily: Bottlerocket, " OWN MAPPINGS(GOOD("/dev/xvda"))), found},
        {CLASS(BOTTLEROCKET MAPPINGS(GOOD("/dev/xvdb") ", " GOOD("/dev/xvda"))), ""},
        {CLASS(BOTTLEROCKET MAPPINGS(GOOD("/dev/xvdc") ", " GOOD("/dev/xvda"))),
         "deny " AT "[1].deviceName /dev/xvda"},
        {CLASS(AL2023 MAPPINGS(GOOD("/dev/xvda"))), ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
}

/* The API server refuses it: nothing is missing in what is not there. */
static void block_devices_that_are_no_list(void)
{
    static const struct rail_case map = {
        CLASS("amiFamily: AL2023, amiSelectorTerms: [{alias: al2023@latest}], "
              "blockDeviceMappings: {deviceName: /dev/xvda}"),
        ""};
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, &map, 1});
}

#define OPTIONS(options) CLASS(AL2023 ", metadataOptions: {" options "}")
#define TOKENS "spec.metadataOptions.httpTokens "
#define HOPS "spec.metadataOptions.httpPutResponseHopLimit "

static void the_metadata_service_is_version_2(void)
{
    static const struct rail_case cases[] = {
        {OPTIONS(""), ""},
        {OPTIONS("httpTokens: required"), ""},
        {OPTIONS("httpTokens: optional"), "deny " TOKENS "optional"},
        {OPTIONS("httpTokens: optional, httpEndpoint: disabled, httpPutResponseHopLimit: 9"), ""},
        {OPTIONS("httpPutResponseHopLimit: 1"), ""},
        {OPTIONS("httpPutResponseHopLimit: 2"), "deny " HOPS "2"},
        {CLASS_OF("v1beta1", "amiFamily: AL2023"), "deny " HOPS ""},
        {CLASS_OF("v1beta1", "amiFamily: AL2023, metadataOptions: {httpPutResponseHopLimit: 1}"),
         ""},
    };
    rail_table_run(
        &(struct rail_table){"node-class: {maxHopLimit: 1}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case defaults[] = {
        {OPTIONS("httpTokens: optional"), "deny " TOKENS "optional"},
        {OPTIONS("httpPutResponseHopLimit: 1"), ""},
        {OPTIONS("httpPutResponseHopLimit: 2"), "warn " HOPS "2"},
        {OPTIONS("httpPutResponseHopLimit: 2, httpEndpoint: disabled"), ""},
        {CLASS_OF("v1beta1", "amiFamily: AL2023"), ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, defaults, COUNT_OF(defaults)});
    static const struct rail_case open = {OPTIONS("httpTokens: optional"), ""};
    rail_table_run(&(struct rail_table){"node-class: {requireImdsv2: false}", NULL, &open, 1});
    static const struct rail_case two[] = {
        {OPTIONS("httpPutResponseHopLimit: 2"), ""},
        {OPTIONS("httpPutResponseHopLimit: 3, httpTokens: optional"),
         "deny " HOPS "3\ndeny " TOKENS "optional"},
        {CLASS_OF("v1beta1", "amiFamily: AL2023"), ""},
        {CLASS_OF("v1beta1", "amiFamily: AL2023, metadataOptions: {httpPutResponseHopLimit: 3}"),
         "deny " HOPS "3"},
        /* what is no number the API server refuses; Karpenter's own holds until then */
        {OPTIONS("httpPutResponseHopLimit: '3'"), ""},
        {OPTIONS("httpEndpoint: enabled, httpPutResponseHopLimit: 3"), "deny " HOPS "3"},
        {OPTIONS("httpEndpoint: disabled, httpPutResponseHopLimit: 3"), ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {maxHopLimit: 2}", NULL, two, COUNT_OF(two)});
}

static void families_and_tags_are_as_required(void)
{
    static const struct rail_case cases[] = {
        {CLASS(AL2023 ", tags: {team: a, cost-center: '7'}"), ""},
        {CLASS(AL2023 ", tags: {team: a, cost-center: ''}"), "deny spec.tags.cost-center "},
        {CLASS(AL2023), "deny spec.tags.cost-center \ndeny spec.tags.team "},
        {CLASS("amiFamily: AL2, tags: {team: a, cost-center: b}"), "deny spec.amiFamily AL2"},
        {CLASS(BOTTLEROCKET ", tags: {team: a, cost-center: b}"),
         "deny spec.amiSelectorTerms[0].alias bottlerocket@v1.32.0"},
        {CLASS("amiSelectorTerms: [{id: ami-1}], tags: {team: a, cost-center: b}"), ""},
        {CLASS(AL2023 ", tags: {team: a, cost-center: 7}"), "deny spec.tags.cost-center "},
        {CLASS(AL2023 ", tags: {Team: a, cost-center: b}"), "deny spec.tags.team "},
        {CLASS(AL2023 ", tags: [team, cost-center]"),
         "deny spec.tags.cost-center \ndeny spec.tags.team "},
    };
    rail_table_run(&(struct rail_table){
        "node-class: {amiFamilies: [AL2023], requireTags: [team, cost-center]}", NULL, cases,
        COUNT_OF(cases)});
}

#define POOL(class, values)                                                                        \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p-" class                      \
        "}, spec: {template: "                                                                     \
        "{spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: " class        \
        "}, requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [" values \
        "]}]}}}}"
#define MAX_PODS(number) CLASS(AL2023 ", kubelet: {maxPods: " number "}")

/* By the tables of the EKS AMI m5.large has addresses for 29 pods, m5.xlarge for 58. */
static void pods_have_addresses(void)
{
    static const struct rail_case cases[] = {
        {CLASS(AL2023), ""},
        {MAX_PODS("29"), ""},
        {MAX_PODS("30"), "warn spec.kubelet.maxPods 30"},
        {MAX_PODS("59"), "warn spec.kubelet.maxPods 59"},
        {MAX_PODS("'59'"), "warn spec.kubelet.maxPods 59"}, /* an expression */
    };
    rail_table_run(&(struct rail_table){
        "node-class: {}", POOL("c", "m5.large, m5.xlarge") "\n---\n" POOL("d", "t3.nano"), cases,
        COUNT_OF(cases)});
    /* a NodeClass of EKS Auto Mode may have the same name; so may a class have another */
    static const struct rail_case others = {MAX_PODS("59"), ""};
    rail_table_run(&(struct rail_table){
        "node-class: {}",
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {template: "
        "{spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: c}, requirements: "
        "[{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]}}}}"
        "\n---\n" POOL("d", "t3.nano"),
        &others, 1});
    /* by the same tables 58 on a1.2xlarge */
    static const struct rail_case first[] = {{MAX_PODS("58"), ""},
                                             {MAX_PODS("59"), "warn spec.kubelet.maxPods 59"}};
    rail_table_run(&(struct rail_table){"node-class: {}", POOL("c", "a1.2xlarge"), first, 2});
    /* of all pools of the class */
    static const struct rail_case both = {MAX_PODS("30"), "warn spec.kubelet.maxPods 30"};
    rail_table_run(&(struct rail_table){
        "node-class: {}",
        POOL("c", "m5.xlarge") "\n---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: "
                               "{name: q}, spec: {template: {metadata: {labels: "
                               "{node.kubernetes.io/instance-type: m5.large}}, spec: "
                               "{nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, "
                               "name: c}, requirements: []}}}}",
        &both, 1});
    static const struct rail_case unseen = {MAX_PODS("250"), ""};
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, &unseen, 1});
}

/* A catalogue of one's own says how many pods its types hold, whatever their addresses. */
static void of_a_catalogue_of_ones_own(void)
{
    static const struct rail_case cases[] = {{MAX_PODS("110"), ""}};
    rail_catalog_run(
        &(struct rail_table){"node-class: {}", POOL("c", "m5.large"), cases, COUNT_OF(cases)},
        "[" OWN_TYPE("m5.large", "\"ephemeral-storage\": \"20Gi\"",
                     OWN_OFFERING("0.1", "spot", "a")) "]");
}

static void it_says_how_many_types_have_fewer_addresses(void)
{
#define OF_ITS_PODS(which, types) \
    "maxPods is 60, and " which ", unless the network plugin assigns prefixes: " types "."
    static const struct {
        const char *types, *message;
    } rows[] = {
        {POOL("c", "m5.large"),
         OF_ITS_PODS("the one instance type of its NodePools has fewer addresses", "m5.large")},
        {POOL("c", "m5.large, m5.4xlarge"),
         OF_ITS_PODS("1 of the 2 instance types of its NodePools has fewer addresses", "m5.large")},
        {POOL("c", "m5.large, m5.xlarge"),
         OF_ITS_PODS("2 of the 2 instance types of its NodePools have fewer addresses",
                     "m5.large, m5.xlarge")},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        rail_words_run("node-class: {}", rows[i].types,
                       &(struct rail_words){MAX_PODS("60"), rows[i].message,
                                            "Remove maxPods, which leaves each type what it has "
                                            "addresses for, or turn prefix delegation on."},
                       1);
}

static void it_says_what_to_change(void)
{
    static const struct rail_words rows[] = {
        {CLASS(AL2023 ", tags: {team: ''}"),
         "The tag team is empty. Machines and volumes are made without it.",
         "Add team to spec.tags."},
        {CLASS(AL2023), "The tag team is missing. Machines and volumes are made without it.",
         "Add team to spec.tags."},
        {CLASS(AL2023 ", tags: {team: a}" MAPPINGS(GOOD("/dev/sdf"))),
         "No entry is for the root device /dev/xvda. It is as the image has it, not encrypted.",
         "Add {deviceName: /dev/xvda, ebs: {encrypted: true, volumeSize: 20Gi, volumeType: gp3}}."},
        {CLASS(BOTTLEROCKET ", tags: {team: a}" MAPPINGS(VOLUME("/dev/xvda", "encrypted: true"))),
         "No entry is for the data device /dev/xvdb. It is as the image has it, not encrypted.",
         "Add {deviceName: /dev/xvdb, ebs: {encrypted: true, volumeSize: 20Gi, volumeType: gp3}}."},
        {CLASS("amiFamily: Bottlerocket, " OWN
               ", tags: {team: a}" MAPPINGS(VOLUME("/dev/xvda", "encrypted: true"))),
         "No entry is for the data device /dev/xvdb. Whether images of your own have it encrypted "
         "cannot be seen.",
         "Add {deviceName: /dev/xvdb, ebs: {encrypted: true, volumeSize: 20Gi, volumeType: gp3}}."},
        {CLASS(AL2023 ", tags: {team: a}" MAPPINGS(GOOD("/dev/xvda") ", {deviceName: /dev/sdb}")),
         "The entry has no ebs. Karpenter fails on it, and launches no node of the class.",
         "Add ebs: {encrypted: true, volumeSize: 20Gi, volumeType: gp3}."},
        {CLASS(BOTTLEROCKET
               ", tags: {team: a}" MAPPINGS("{deviceName: /dev/xvda}, " GOOD("/dev/xvdb"))),
         "The entry has no ebs. Karpenter fails on it, and launches no node of the class.",
         "Add ebs: {encrypted: true, volumeSize: 6Gi, volumeType: gp3}."},
        /* a rootVolume would be read as the size that pods have */
        {CLASS(BOTTLEROCKET ", tags: {team: a}" MAPPINGS(GOOD("/dev/xvdb"))),
         "No entry is for the root device /dev/xvda. It is as the image has it, not encrypted.",
         "Add {deviceName: /dev/xvda, ebs: {encrypted: true, volumeSize: 6Gi, volumeType: gp3}}."},
        {CLASS("amiSelectorTerms: [{alias: windows2022@latest}], tags: {team: a}" MAPPINGS(
             GOOD("/dev/sdf"))),
         "No entry is for the root device /dev/sda1. It is as the image has it, not encrypted.",
         "Add {deviceName: /dev/sda1, ebs: {encrypted: true, volumeSize: 50Gi, volumeType: gp3}}."},
        {CLASS("amiFamily: AL2023, " OWN ", tags: {team: a}" MAPPINGS(GOOD("/dev/sda1"))),
         "The root device of images of your own cannot be seen, and no entry says that it is "
         "theirs.",
         "List their root device with rootVolume: true and ebs.encrypted: true."},
        {CLASS(AL2023 ", tags: {team: a}" MAPPINGS(VOLUME("/dev/xvda", "encrypted: false"))),
         "The volume /dev/xvda is not encrypted.", "Set encrypted: true."},
        {CLASS_OF("v1beta1", "amiFamily: AL2023, amiSelectorTerms: [{id: a}], tags: {team: a}"),
         "The metadata service answers over 2 hops by default, above the maximum of 1.",
         "Set it to 1, and give pods their rights by Pod Identity or IRSA."},
        {CLASS(AL2023 ", tags: {team: a}, metadataOptions: {httpPutResponseHopLimit: 3}"),
         "The metadata service answers over 3 hops, above the maximum of 1.",
         "Set it to 1, and give pods their rights by Pod Identity or IRSA."},
    };
    rail_words_run("node-class: {maxHopLimit: 1, requireTags: [team]}", NULL, rows, COUNT_OF(rows));
}

#define SCRIPT(family, script) CLASS("amiFamily: " family ", userData: \"" script "\"")
#define BOOTSTRAP "/etc/eks/bootstrap.sh"

/* Karpenter calls it on AL2 itself, and on AL2023 it fails. */
static void user_data_leaves_the_start_to_karpenter(void)
{
    static const char al2[] = "warn spec.amiFamily AL2";
    static const char twice[] = "warn spec.amiFamily AL2\nwarn spec.userData " BOOTSTRAP;
    static const struct rail_case cases[] = {
        {SCRIPT("AL2", "#!/bin/bash\\n" BOOTSTRAP " main"), twice},
        {SCRIPT("AL2", BOOTSTRAP " main"), twice},
        {SCRIPT("AL2", "set -e && sudo " BOOTSTRAP " main\\nexit"), twice},
        {SCRIPT("AL2", "#!/bin/bash\\necho hello"), al2},
        {SCRIPT("AL2", "  bash " BOOTSTRAP " main"), twice},
        {SCRIPT("AL2", "# " BOOTSTRAP " main"), al2},
        {SCRIPT("AL2", "  # sudo " BOOTSTRAP " main"), al2},
        {SCRIPT("AL2", "sed -i s/a/b/ " BOOTSTRAP), al2},
        {SCRIPT("AL2023", BOOTSTRAP " main"), "warn spec.userData " BOOTSTRAP},
        {CLASS("amiSelectorTerms: [{alias: al2023@v1}], userData: " BOOTSTRAP),
         "warn spec.userData " BOOTSTRAP},
        {SCRIPT("Ubuntu", BOOTSTRAP " main"), ""},
        {CLASS("amiFamily: AL2023, userData: 5"), ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case custom = {SCRIPT("Custom", BOOTSTRAP " main"), ""};
    rail_table_run(
        &(struct rail_table){"node-class: {requireEncryption: false}", NULL, &custom, 1});
}

static void placeholders_are_told_of_once(void)
{
    static const struct rail_case cases[] = {
        {CLASS(AL2023 ", role: \"nodes-${CLUSTER}\", subnetSelectorTerms: [{tags: {a: <<B>>}}]"),
         "undecided spec.role nodes-${CLUSTER}"},
        {CLASS(AL2023 ", subnetSelectorTerms: [{id: a}, {tags: {a: <<B>>}}]"),
         "undecided spec.subnetSelectorTerms[1].tags.a <<B>>"},
        {CLASS(AL2023 ", role: \"{{ .Values.role }}\""), "undecided spec.role {{ .Values.role }}"},
        /* what a shell fills in, and a tag */
        {CLASS(AL2023 ", userData: \"echo ${HOME}\", tags: {a: \"${A}\"}"), ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
}

static void it_warns_in_sentences(void)
{
    static const struct rail_words rows[] = {
        {CLASS("amiFamily: AL2"),
         "Amazon Linux 2 has no images for Kubernetes 1.33 and later, and the last are of November "
         "2025.",
         "Use images of AL2023 or Bottlerocket."},
        {OPTIONS("httpPutResponseHopLimit: 2"),
         "With httpPutResponseHopLimit: 2 pods reach the metadata service, which gives them the "
         "credentials of the node.",
         "Set it to 1, and give pods their rights by Pod Identity or IRSA."},
        {CLASS(AL2023 ", role: <<ROLE>>"),
         "\"<<ROLE>>\" holds a placeholder. The class is judged without such values.",
         "Fill it in first, as envsubst or a chart does, and check the result."},
        {SCRIPT("AL2023", BOOTSTRAP " main"),
         "userData calls bootstrap.sh, which fails on images of AL2023.",
         "Remove the call of bootstrap.sh from userData. Karpenter adds what nodeadm reads."},
    };
    rail_words_run("node-class: {}", NULL, rows, COUNT_OF(rows));
}

/* A tool that applies fixes writes it in the field's place. */
static void the_fix_of_imdsv1_can_be_applied(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("node-class: {}", NULL, arena);
    struct rail_documents documents = rail_table_read(OPTIONS("httpTokens: optional"), arena);
    struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
    ASSERT_TEXT(verdict.findings[0].replacement, "required");
    arena_destroy(arena);
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("node-class", "", NULL, OPTIONS("httpTokens: optional"));
}

const char unit_suite[] = "policy node-class";
const struct unit_test unit_tests[] = {
    {"volumes are encrypted", volumes_are_encrypted},
    {"Bottlerocket keeps its data apart", bottlerocket_keeps_its_data_apart},
    {"the metadata service is version 2", the_metadata_service_is_version_2},
    {"families and tags are as required", families_and_tags_are_as_required},
    {"pods have addresses", pods_have_addresses},
    {"of a catalogue of one's own", of_a_catalogue_of_ones_own},
    {"it says how many types have fewer addresses", it_says_how_many_types_have_fewer_addresses},
    {"each family has its root", each_family_has_its_root},
    {"block devices that are no list", block_devices_that_are_no_list},
    {"it says what to change", it_says_what_to_change},
    {"user data leaves the start to Karpenter", user_data_leaves_the_start_to_karpenter},
    {"placeholders are told of once", placeholders_are_told_of_once},
    {"it warns in sentences", it_warns_in_sentences},
    {"the fix of IMDSv1 can be applied", the_fix_of_imdsv1_can_be_applied},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
