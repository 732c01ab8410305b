/* The rail node-class: disks, the metadata service, families of images, tags, pods to a node. */
#include "rail_modes.h"

#define CLASS_OF(version, spec)                                                                   \
    "{apiVersion: karpenter.k8s.aws/" version ", kind: EC2NodeClass, metadata: {name: c}, spec: " \
    "{" spec "}}"
#define CLASS(spec) CLASS_OF("v1", spec)
#define AL2023 "amiSelectorTerms: [{alias: al2023@v20250116}]"
#define BOTTLEROCKET "amiSelectorTerms: [{alias: bottlerocket@v1.32.0}]"
#define MAPPINGS(list) ", blockDeviceMappings: [" list "]"
#define VOLUME(device, ebs) "{deviceName: " device ", ebs: {" ebs "}}"
#define GOOD(device) VOLUME(device, "volumeSize: 100Gi, encrypted: true")
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
        {CLASS(AL2023 MAPPINGS("{deviceName: /dev/x, rootVolume: true, ebs: {encrypted: true}}")),
         ""},
        {CLASS("amiFamily: Windows2022" MAPPINGS(GOOD("/dev/sda1"))), ""},
        {CLASS("amiFamily: Windows2022" MAPPINGS(GOOD("/dev/xvda"))), "deny " AT " "},
        /* of a custom image nobody knows */
        {CLASS("amiFamily: Custom"), "undecided " AT " "},
        {CLASS("amiFamily: Custom" MAPPINGS(GOOD("/dev/x"))), ""},
        {CLASS("amiSelectorTerms: [{id: ami-1}]"), ""},
        {CLASS_OF("v1beta1", "amiFamily: AL2"), ""},
        {CLASS("blockDeviceMappings: 5"), ""},
        {CLASS("blockDeviceMappings: [null, 5, {deviceName: 7, ebs: 5}]"), ""},
        {"{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}}", ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case open = {CLASS(AL2023 MAPPINGS(VOLUME("/dev/xvda", ""))), ""};
    rail_table_run(&(struct rail_table){"node-class: {requireEncryption: false}", NULL, &open, 1});
}

static void bottlerocket_keeps_its_data_apart(void)
{
    static const char found[] = "deny " AT "[0].deviceName /dev/xvda";
    static const struct rail_case cases[] = {
        {CLASS(BOTTLEROCKET), ""},
        {CLASS(BOTTLEROCKET MAPPINGS(GOOD("/dev/xvda"))), found},
        {CLASS("amiFamily: Bottlerocket" MAPPINGS(GOOD("/dev/xvda"))), found},
        {CLASS(BOTTLEROCKET MAPPINGS(GOOD("/dev/xvda") ", " GOOD("/dev/xvdb"))), ""},
        {CLASS(BOTTLEROCKET MAPPINGS(VOLUME("/dev/xvda", "volumeSize: 4Gi, encrypted: true"))), ""},
        {CLASS(BOTTLEROCKET MAPPINGS(VOLUME("/dev/xvda", "volumeSize: 8Gi, encrypted: true"))), ""},
        {CLASS(BOTTLEROCKET MAPPINGS(VOLUME("/dev/xvda", "volumeSize: 9Gi, encrypted: true"))),
         found},
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
        {CLASS_OF("v1beta1", "amiFamily: AL2"), "deny " HOPS ""},
        {CLASS_OF("v1beta1", "amiFamily: AL2, metadataOptions: {httpPutResponseHopLimit: 1}"), ""},
    };
    rail_table_run(
        &(struct rail_table){"node-class: {maxHopLimit: 1}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case defaults[] = {
        {OPTIONS("httpTokens: optional"), "deny " TOKENS "optional"},
        {OPTIONS("httpPutResponseHopLimit: 64"), ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, defaults, COUNT_OF(defaults)});
    static const struct rail_case open = {OPTIONS("httpTokens: optional"), ""};
    rail_table_run(&(struct rail_table){"node-class: {requireImdsv2: false}", NULL, &open, 1});
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
        {MAX_PODS("'59'"), ""},
    };
    rail_table_run(&(struct rail_table){
        "node-class: {}", POOL("c", "m5.large, m5.xlarge") "\n---\n" POOL("d", "t3.nano"), cases,
        COUNT_OF(cases)});
    static const struct rail_case unseen = {MAX_PODS("250"), ""};
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, &unseen, 1});
}

#define KUBELET(settings) CLASS(AL2023 ", kubelet: {" settings "}")
#define IN_KUBELET "deny spec.kubelet."

/* As Karpenter judges it when the API server has taken it: tests/conformance/pools.py asks both. */
static void kubelet_settings_can_be_used(void)
{
    static const struct rail_case cases[] = {
        {KUBELET("maxPods: 58, podsPerCore: 0, cpuCFSQuota: true, clusterDNS: [10.0.0.1], "
                 "topologyManagerPolicy: best-effort"),
         ""},
        {KUBELET("maxPods: 'vcpus * 10', kubeReserved: {cpu: 'vcpus * 10'}, systemReserved: null"),
         ""},
        {KUBELET("evictionHard: {memory.available: 5%, nodefs.available: 500Mi}"), ""},
        {KUBELET(
             "evictionSoft: {pid.available: 0%}, evictionSoftGracePeriod: {pid.available: 1.5m}"),
         ""},
        {KUBELET("imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80"), ""},
        {CLASS_OF("v1beta1", "amiSelectorTerms: [{id: ami-1}], kubelet: {maxPod: 58}"), ""},
        {KUBELET("maxPod: 58"), IN_KUBELET "maxPod maxPod"},
        {KUBELET("somethingNew: 58"), "warn spec.kubelet.somethingNew somethingNew"},
        {KUBELET("registerWithTaints: []"), IN_KUBELET "registerWithTaints "},
        {KUBELET("maxPods: -1"), IN_KUBELET "maxPods -1"},
        {KUBELET("podsPerCore: '2'"), IN_KUBELET "podsPerCore 2"},
        {KUBELET("cpuCFSQuota: 'true'"), IN_KUBELET "cpuCFSQuota true"},
        {KUBELET("clusterDNS: 10.0.0.1"), IN_KUBELET "clusterDNS 10.0.0.1"},
        {KUBELET("clusterDNS: [true]"), IN_KUBELET "clusterDNS "},
        {KUBELET("kubeReserved: {cpu: 1}"), IN_KUBELET "kubeReserved "},
        {KUBELET("kubeReserved: {cpu: '-1'}"), IN_KUBELET "kubeReserved.cpu -1"},
        {KUBELET("systemReserved: {gpu: '1'}"), IN_KUBELET "systemReserved.gpu gpu"},
        {KUBELET("evictionHard: {nodefs.free: 5%}"), "deny spec.kubelet.evictionHard[nodefs.free] "
                                                     "nodefs.free"},
        {KUBELET("evictionHard: {pid.available: 101%}"),
         "deny spec.kubelet.evictionHard[pid.available] 101%"},
        {KUBELET("evictionMinimumReclaim: {pid.available: -5}"),
         IN_KUBELET "evictionMinimumReclaim "},
        {KUBELET("evictionMinimumReclaim: {pid.available: '-5'}"),
         "deny spec.kubelet.evictionMinimumReclaim[pid.available] -5"},
        {KUBELET("evictionSoft: {pid.available: 5%}"),
         "deny spec.kubelet.evictionSoft[pid.available] 5%"},
        {KUBELET("evictionSoftGracePeriod: {pid.available: 1m}"),
         "deny spec.kubelet.evictionSoftGracePeriod[pid.available] 1m"},
        {KUBELET(
             "evictionSoft: {pid.available: 5%}, evictionSoftGracePeriod: {pid.available: '1'}"),
         "deny spec.kubelet.evictionSoftGracePeriod[pid.available] 1"},
        {KUBELET("evictionSoft: {pid.available: 5%}, evictionSoftGracePeriod: {pid.available: "
                 "1m30}"),
         "deny spec.kubelet.evictionSoftGracePeriod[pid.available] 1m30"},
        {KUBELET("evictionSoft: {pid.available: 5%}, evictionSoftGracePeriod: {pid.available: "
                 "1m30s}"),
         ""},
        {KUBELET("evictionHard: {pid.available: 5%, nodefs.free: 5%, memory.available: 1 GB}"),
         "deny spec.kubelet.evictionHard[memory.available] 1 GB\n"
         "deny spec.kubelet.evictionHard[nodefs.free] nodefs.free"},
        {KUBELET("imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 80"),
         IN_KUBELET "imageGCHighThresholdPercent 80"},
        {KUBELET("imageGCHighThresholdPercent: 100, podsPerCore: 2147483647"), ""},
        {KUBELET("podsPerCore: 2147483648"), IN_KUBELET "podsPerCore 2147483648"},
        /* what Karpenter hands on unread */
        {KUBELET("allowedUnsafeSysctls: [], cgroupRoot: /, containerLogMaxFiles: 3, "
                 "cpuManagerPolicy: static, defaultPodSysctls: {}, enableDebugFlagsHandler: true, "
                 "eventBurst: 9, fileCheckFrequency: 9s, imageMaximumGCAge: 9h, "
                 "kernelMemcgNotification: true, kubeAPIBurst: 9, maxOpenFiles: 9, "
                 "memoryManagerPolicy: None, nodeStatusMaxImages: 9, podPidsLimit: 9, "
                 "protectKernelDefaults: true, registryPullQPS: 9, serializeImagePulls: false, "
                 "shutdownGracePeriod: 9s, singleProcessOOMKill: true, staticPodPath: /p, "
                 "tlsMinVersion: VersionTLS13, topologyManagerScope: pod, volumePluginDir: /p"),
         ""},
        {KUBELET("imageGCHighThresholdPercent: 101"), IN_KUBELET "imageGCHighThresholdPercent 101"},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {KUBELET("maxPod: 58"),
         "found \"maxPod\", which is no setting of a kubelet: Karpenter refuses the EC2NodeClass "
         "and launches no node of it",
         "did you mean maxPods?"},
        {KUBELET("evictionSoft: {pid.available: 5%}"),
         "pid.available is not in evictionSoftGracePeriod: Karpenter refuses the EC2NodeClass and "
         "launches no node of it",
         "add pid.available to evictionSoftGracePeriod"},
        {KUBELET("podsPerCore: '2'"),
         "found a string where a whole number from 0 is wanted: Karpenter refuses the "
         "EC2NodeClass and launches no node of it",
         "write a whole number from 0"},
        {KUBELET("kubeReserved: ['cpu=100m']"),
         "found a list where a map of strings is wanted: Karpenter refuses the EC2NodeClass and "
         "launches no node of it",
         "write a map of strings"},
    };
    rail_words_run("node-class: {}", NULL, words, COUNT_OF(words));
}

static void it_says_what_to_change(void)
{
    static const struct rail_words rows[] = {
        {CLASS(AL2023 ", tags: {team: ''}"),
         "the tag \"team\" is empty: machines and volumes are made without it",
         "add team to spec.tags"},
        {CLASS(AL2023), "the tag \"team\" is missing: machines and volumes are made without it",
         "add team to spec.tags"},
        {CLASS(AL2023 ", tags: {team: a}" MAPPINGS(GOOD("/dev/sdf"))),
         "no entry for the root device /dev/xvda: it is as the image has it, not encrypted",
         "add {deviceName: /dev/xvda, rootVolume: true, ebs: {encrypted: true, ...}}"},
        {CLASS(AL2023 ", tags: {team: a}" MAPPINGS(VOLUME("/dev/xvda", "encrypted: false"))),
         "the volume /dev/xvda is not encrypted", "set encrypted: true"},
        {CLASS_OF("v1beta1", "amiFamily: AL2023, amiSelectorTerms: [{id: a}], tags: {team: a}"),
         "missing, which means 2 hops, above the maximum of 1",
         "set it to 1, and give pods their rights by Pod Identity or IRSA"},
        {CLASS(AL2023 ", tags: {team: a}, metadataOptions: {httpPutResponseHopLimit: 3}"),
         "found 3 hops, above the maximum of 1",
         "set it to 1, and give pods their rights by Pod Identity or IRSA"},
    };
    rail_words_run("node-class: {maxHopLimit: 1, requireTags: [team]}", NULL, rows, COUNT_OF(rows));
}

static void unknown_kubelet_settings_cost_little(void)
{
    enum { SETTINGS = 250, BYTES_EACH = 2048 };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("node-class: {}", NULL, arena);
    struct text_builder settings = {.arena = arena};
    for (size_t i = 0; i < SETTINGS; i++)
        text_builder_printf(&settings, "%ssomething%zu: 1", i == 0 ? "" : ", ", i);
    struct text object = arena_printf(arena, CLASS(AL2023 ", kubelet: {%.*s}"),
                                      TEXT_ARGS(text_builder_text(&settings)));
    struct rail_documents documents = rail_table_read(object.data, arena);
    struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    size_t before = arena_used_bytes(arena);
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    ASSERT_INT(verdict.finding_count, SETTINGS);
    size_t each = (arena_used_bytes(arena) - before) / SETTINGS;
    CU_ASSERT(each < BYTES_EACH);
    if (each >= BYTES_EACH)
        fprintf(stderr, "%zu bytes for each\n", each);
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
    {"block devices that are no list", block_devices_that_are_no_list},
    {"kubelet settings can be used", kubelet_settings_can_be_used},
    {"unknown kubelet settings cost little", unknown_kubelet_settings_cost_little},
    {"it says what to change", it_says_what_to_change},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
