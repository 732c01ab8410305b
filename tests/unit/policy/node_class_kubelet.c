/* The rail node-class on spec.kubelet: what Karpenter refuses when the API server has taken it. */
#include "rail_modes.h"

#define CLASS_OF(version, spec)                                                                   \
    "{apiVersion: karpenter.k8s.aws/" version ", kind: EC2NodeClass, metadata: {name: c}, spec: " \
    "{" spec "}}"
#define CLASS(spec) CLASS_OF("v1", spec)
#define AL2023 "amiSelectorTerms: [{alias: al2023@v20250116}]"
#define BOTTLEROCKET "amiSelectorTerms: [{alias: bottlerocket@v1.32.0}]"
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
         "warn spec.kubelet.kubeReserved.cpu vcpus * 10\nwarn spec.kubelet.maxPods vcpus * 10"},
        {KUBELET("maxPods: '110', kubeReserved: {memory: 500MB, cpu: 70m}"),
         "warn spec.kubelet.kubeReserved.memory 500MB\nwarn spec.kubelet.maxPods 110"},
        {KUBELET("maxPods: '${PODS}', systemReserved: {cpu: '${CPU}', pid: 99999E}"),
         "undecided spec.kubelet.maxPods ${PODS}"},
        {KUBELET("systemReserved: {cpu: null}"), "warn spec.kubelet.systemReserved.cpu "},
        {KUBELET("evictionHard: {memory.available: 5%, nodefs.available: 500Mi}"), ""},
        {KUBELET(
             "evictionSoft: {pid.available: 0%}, evictionSoftGracePeriod: {pid.available: 1.5m}"),
         ""},
        {KUBELET("imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80"), ""},
        {CLASS_OF("v1beta1", "amiSelectorTerms: [{id: ami-1}], kubelet: {maxPod: 58}"), ""},
        {KUBELET("maxPod: 58"), IN_KUBELET "maxPod maxPod"},
        {KUBELET("somethingNew: 58"), "warn spec.kubelet.somethingNew somethingNew"},
        {KUBELET("registerWithTaints: []"), IN_KUBELET "registerWithTaints "},
        {KUBELET("registerWithTaints: null, maxPod: null"), ""},
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
        /* what Karpenter hands on unread: the rest of KubeletConfiguration, of Kubernetes 1.37 */
        {KUBELET(
             "address: 7, allowedUnsafeSysctls: 7, authentication: 7, "
             "authorization: 7, cgroupDriver: 7, cgroupRoot: 7, "
             "cgroupsPerQOS: 7, clusterDomain: 7, configMapAndSecretChangeDetectionStrategy: 7, "
             "containerLogMaxFiles: 7, containerLogMaxSize: 7, containerLogMaxWorkers: 7, "
             "containerLogMonitorInterval: 7, containerRuntimeEndpoint: 7, contentType: 7, "
             "cpuCFSQuotaPeriod: 7, cpuManagerPolicy: 7, cpuManagerPolicyOptions: 7, "
             "cpuManagerReconcilePeriod: 7, crashLoopBackOff: 7, defaultPodSysctls: 7, "
             "enableContentionProfiling: 7, enableControllerAttachDetach: 7, "
             "enableDebugFlagsHandler: 7, "
             "enableDebuggingHandlers: 7, enableProfilingHandler: 7, enableServer: 7, "
             "enableSystemLogHandler: 7, enableSystemLogQuery: 7, enforceNodeAllocatable: 7, "
             "eventBurst: 7, eventRecordQPS: 7, evictionPressureTransitionPeriod: 7, "
             "failCgroupV1: 7, failSwapOn: 7, featureGates: 7, "
             "fileCheckFrequency: 7, hairpinMode: 7, healthzBindAddress: 7, "
             "healthzPort: 7, httpCheckFrequency: 7, imageMaximumGCAge: 7, "
             "imageMinimumGCAge: 7, imagePullCredentialsVerificationPolicy: 7, "
             "imageServiceEndpoint: 7, "
             "iptablesDropBit: 7, iptablesMasqueradeBit: 7, kernelMemcgNotification: 7, "
             "kubeAPIBurst: 7, kubeAPIQPS: 7, kubeReservedCgroup: 7, "
             "kubeletCgroups: 7, localStorageCapacityIsolation: 7, logging: 7, "
             "makeIPTablesUtilChains: 7, maxOpenFiles: 7, maxParallelImagePulls: 7, "
             "memoryManagerPolicy: 7, memoryReservationPolicy: 7, memorySwap: 7, "
             "memoryThrottlingFactor: 7, mergeDefaultEvictionSettings: 7, "
             "nodeLeaseDurationSeconds: 7, "
             "nodeStatusMaxImages: 7, nodeStatusReportFrequency: 7, nodeStatusUpdateFrequency: 7, "
             "oomScoreAdj: 7, podCIDR: 7, podLogsDir: 7, "
             "podPidsLimit: 7, port: 7, preloadedImagesVerificationAllowlist: 7, "
             "protectKernelDefaults: 7, providerID: 7, qosReserved: 7, "
             "readOnlyPort: 7, registerNode: 7, registryBurst: 7, "
             "registryPullQPS: 7, reservedMemory: 7, reservedSystemCPUs: 7, "
             "resolvConf: 7, rotateCertificates: 7, runOnce: 7, "
             "runtimeRequestTimeout: 7, seccompDefault: 7, serializeImagePulls: 7, "
             "serverTLSBootstrap: 7, showHiddenMetricsForVersion: 7, shutdownGracePeriod: 7, "
             "shutdownGracePeriodByPodPriority: 7, shutdownGracePeriodCriticalPods: 7, "
             "singleProcessOOMKill: 7, "
             "staticPodPath: 7, staticPodURL: 7, staticPodURLHeader: 7, "
             "streamingConnectionIdleTimeout: 7, syncFrequency: 7, systemCgroups: 7, "
             "systemReservedCgroup: 7, tlsCertFile: 7, tlsCipherSuites: 7, "
             "tlsCurvePreferences: 7, tlsMinVersion: 7, tlsPrivateKeyFile: 7, "
             "topologyManagerPolicy: 7, topologyManagerPolicyOptions: 7, topologyManagerScope: 7, "
             "tracing: 7, userNamespaces: 7, volumePluginDir: 7, "
             "volumeStatsAggPeriod: 7, apiVersion: 7, kind: 7"),
         ""},
        {KUBELET("imageGCHighThresholdPercent: 101"), IN_KUBELET "imageGCHighThresholdPercent 101"},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
}

/* AL2023 hands all on, and what becomes of a Custom image is its own. */
static void families_take_what_they_can(void)
{
#define EACH "clusterDNS: [10.0.0.1, 10.0.0.2], cpuCFSQuotaPeriod: 100ms, podsPerCore: 4"
#define OF(images) CLASS(images ", kubelet: {" EACH "}")
#define TWO_ARE_SAID                      \
    "warn spec.kubelet.clusterDNS \ndeny" \
    " spec.kubelet.cpuCFSQuotaPeriod 100ms"
    static const struct rail_case cases[] = {
        {OF("amiFamily: AL2023"), ""},
        {OF(AL2023), ""},
        {OF("amiFamily: Custom, amiSelectorTerms: [{alias: bottlerocket@v1}]"), ""},
        {OF("amiSelectorTerms: [{id: ami-1}]"), ""},
        {OF("amiSelectorTerms: [{alias: al2@v1}]"),
         "warn spec.amiSelectorTerms[0].alias al2@v1\n" TWO_ARE_SAID},
        {OF("amiFamily: Windows2019"), TWO_ARE_SAID},
        {OF("amiFamily: Windows2022"), TWO_ARE_SAID},
        {OF("amiFamily: Windows2025"), TWO_ARE_SAID},
        {OF(BOTTLEROCKET), TWO_ARE_SAID "\nwarn spec.kubelet.podsPerCore 4"},
        {OF("amiFamily: Bottlerocket, amiSelectorTerms: [{id: ami-1}]"),
         TWO_ARE_SAID "\nwarn spec.kubelet.podsPerCore 4"},
        /* what Karpenter knows itself it hands on */
        {CLASS(BOTTLEROCKET
               ", kubelet: {clusterDNS: [10.0.0.1], cpuCFSQuota: true, evictionHard: "
               "{pid.available: 5%}, evictionMaxPodGracePeriod: 9, evictionSoft: {pid.available: "
               "9%}, evictionSoftGracePeriod: {pid.available: 1m}, imageGCHighThresholdPercent: "
               "85, imageGCLowThresholdPercent: 80, kubeReserved: {cpu: 70m}, maxPods: 58, "
               "systemReserved: {cpu: 70m}, podsPerCore: null, logging: null}"),
         ""},
        {CLASS(BOTTLEROCKET ", kubelet: {evictionMinimumReclaim: {pid.available: '5'}}"),
         IN_KUBELET "evictionMinimumReclaim "},
        /* said once */
        {CLASS(BOTTLEROCKET ", kubelet: {registerWithTaints: [], maxPod: 9}"),
         IN_KUBELET "maxPod maxPod\n" IN_KUBELET "registerWithTaints "},
        {CLASS(BOTTLEROCKET ", kubelet: {clusterDNS: 10.0.0.1}"), IN_KUBELET "clusterDNS 10.0.0.1"},
        {CLASS_OF("v1beta1", "amiFamily: Bottlerocket, kubelet: {" EACH "}"), ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {requireEncryption: false}", NULL, cases,
                                        COUNT_OF(cases)});
}

#define REFUSED ". Karpenter refuses the EC2NodeClass and launches no node of it."

/* Of each setting Karpenter looks into: what it may be, and what is said of anything else. */
static void settings_have_their_shapes(void)
{
    static const struct {
        const char *name, *good, *bad, *kind, *shape;
    } rows[] = {
        {"clusterDNS", "[10.0.0.1, null]", "[5]", "a list", "a list of strings"},
        {"clusterDNS", "[]", "{a: b}", "a map", "a list of strings"},
        {"cpuCFSQuota", "false", "1", "a number", "true or false"},
        {"evictionHard", "{}", "[a]", "a list", "a map of strings"},
        {"evictionHard", "{pid.available: 5%}", "5%", "a string", "a map of strings"},
        {"evictionMaxPodGracePeriod", "0", "60s", "a string", "a whole number from 0"},
        {"evictionMinimumReclaim", "{pid.available: '5'}", "{pid.available: 5}", "a map",
         "a map of strings"},
        {"evictionSoft", "{}", "7", "a number", "a map of strings"},
        {"evictionSoftGracePeriod", "{}", "60s", "a string", "a map of strings"},
        {"imageGCHighThresholdPercent", "85", "85%", "a string", "a whole number from 0 to 100"},
        {"imageGCLowThresholdPercent", "80", "true", "a boolean", "a whole number from 0 to 100"},
        {"kubeReserved", "{cpu: 100m}", "cpu=100m", "a string", "a map of strings"},
        {"maxPods", "58", "[58]", "a list", "a whole number from 0"},
        {"maxPods", "0", "5.5", "a number", "a whole number from 0"},
        {"podsPerCore", "0", "vcpus", "a string", "a whole number from 0"},
        {"systemReserved", "{memory: 1Gi}", "[memory]", "a list", "a map of strings"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char good[512], none[512], bad[512], found[256], fix[128];
        const char *object = KUBELET("%s: %s");
        snprintf(good, sizeof good, object, rows[i].name, rows[i].good);
        snprintf(none, sizeof none, object, rows[i].name, "null");
        snprintf(bad, sizeof bad, object, rows[i].name, rows[i].bad);
        snprintf(found, sizeof found, "%s is %s where %s is wanted" REFUSED, rows[i].name,
                 rows[i].kind, rows[i].shape);
        snprintf(fix, sizeof fix, "Write %s.", rows[i].shape);
        const struct rail_case cases[] = {{good, ""}, {none, ""}};
        rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
        rail_words_run("node-class: {}", NULL, &(struct rail_words){bad, found, fix}, 1);
    }
}

/* As time.ParseDuration and resource.ParseQuantity read them. */
static void values_can_be_read(void)
{
    static const struct {
        const char *value;
        bool threshold, duration;
        const char *reserved; /* NULL: it can be, "warn": as an expression */
    } rows[] = {
        {"0", true, true, NULL},           {"5", true, false, NULL},
        {"-5", false, false, "deny"},      {"0%", true, false, "warn"},
        {"100%", true, false, "warn"},     {"100.5%", false, false, "warn"},
        {"101%", false, false, "warn"},    {"-1%", false, false, "deny"},
        {"%", false, false, "warn"},       {"5 %", false, false, "warn"},
        {"x%", false, false, "warn"},      {"", false, false, "warn"},
        {"500Mi", true, false, NULL},      {"1.5Gi", true, false, NULL},
        {"99999E", true, false, NULL},     {"many", false, false, "warn"},
        {"1h30m", false, true, "warn"},    {"1h30m5s", false, true, "warn"},
        {"9ns", false, true, "warn"},      {"9us", false, true, "warn"},
        {"9\u00b5s", false, true, "warn"}, {"9\u03bcs", false, true, "warn"},
        {"9ms", false, true, "warn"},      {"9s", false, true, "warn"},
        {"9m", true, true, NULL},          {"1.5h", false, true, "warn"},
        {"1.h", false, true, "warn"},      {".5h", false, true, "warn"},
        {".h", false, false, "warn"},      {"1.5.5h", false, false, "warn"},
        {"+1h", false, true, "warn"},      {"-1h", false, false, "deny"},
        {"+", false, false, "warn"},       {"h", false, false, "warn"},
        {"1h30", false, false, "warn"},    {"1d", false, false, "warn"},
        {"1hm", false, false, "warn"},     {"1h 30m", false, false, "warn"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char threshold[512], duration[512], reserved[512], found[3][128];
        snprintf(threshold, sizeof threshold, KUBELET("evictionHard: {pid.available: '%s'}"),
                 rows[i].value);
        snprintf(duration, sizeof duration,
                 KUBELET("evictionSoft: {pid.available: '1'}, evictionSoftGracePeriod: "
                         "{pid.available: '%s'}"),
                 rows[i].value);
        snprintf(reserved, sizeof reserved, KUBELET("kubeReserved: {cpu: '%s'}"), rows[i].value);
        snprintf(found[0], sizeof found[0], "deny spec.kubelet.evictionHard[pid.available] %s",
                 rows[i].value);
        snprintf(found[1], sizeof found[1],
                 "deny spec.kubelet.evictionSoftGracePeriod[pid.available] %s", rows[i].value);
        if (rows[i].reserved != NULL)
            snprintf(found[2], sizeof found[2], "%s spec.kubelet.kubeReserved.cpu %s",
                     rows[i].reserved, rows[i].value);
        const struct rail_case cases[] = {{threshold, rows[i].threshold ? "" : found[0]},
                                          {duration, rows[i].duration ? "" : found[1]},
                                          {reserved, rows[i].reserved == NULL ? "" : found[2]}};
        rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
    }
}

static void maps_have_their_keys(void)
{
    static const char *const maps[] = {"evictionHard", "evictionMinimumReclaim", "kubeReserved",
                                       "systemReserved"};
    for (size_t i = 0; i < COUNT_OF(maps); i++) {
        const bool reserved = i >= 2;
        char object[512], other[512], found[256];
        snprintf(object, sizeof object,
                 reserved ? KUBELET("%s: {cpu: '1', memory: '1', ephemeral-storage: '1', pid: '1'}")
                          : KUBELET("%s: {memory.available: '1', nodefs.available: '1', "
                                    "nodefs.inodesFree: '1', imagefs.available: '1', "
                                    "imagefs.inodesFree: '1', pid.available: '1'}"),
                 maps[i]);
        /* what belongs under the others */
        snprintf(other, sizeof other, KUBELET("%s: {%s: '1'}"), maps[i],
                 reserved ? "pid.available" : "pid");
        snprintf(found, sizeof found,
                 reserved ? "deny spec.kubelet.%s[pid.available] pid.available"
                          : "deny spec.kubelet.%s.pid pid",
                 maps[i]);
        const struct rail_case cases[] = {{object, ""}, {other, found}};
        rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
    }
    static const struct rail_case soft = {
        KUBELET("evictionSoft: {memory.available: '1', nodefs.available: '1', nodefs.inodesFree: "
                "'1', imagefs.available: '1', imagefs.inodesFree: '1', pid.available: '1'}, "
                "evictionSoftGracePeriod: {memory.available: 1s, nodefs.available: 1s, "
                "nodefs.inodesFree: 1s, imagefs.available: 1s, imagefs.inodesFree: 1s, "
                "pid.available: 1s}"),
        ""};
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, &soft, 1});
}

/* Which settings need each other. */
static void settings_go_together(void)
{
    static const struct rail_case cases[] = {
        {KUBELET("imageGCHighThresholdPercent: 81, imageGCLowThresholdPercent: 80"), ""},
        {KUBELET("imageGCHighThresholdPercent: 79, imageGCLowThresholdPercent: 80"),
         IN_KUBELET "imageGCHighThresholdPercent 79"},
        {KUBELET("imageGCHighThresholdPercent: 0"), ""},
        {KUBELET("imageGCLowThresholdPercent: 100"), ""},
        {KUBELET("imageGCHighThresholdPercent: 0, imageGCLowThresholdPercent: '80'"),
         IN_KUBELET "imageGCLowThresholdPercent 80"},
        /* each signal that lacks its partner, on either side */
        {KUBELET("evictionSoft: {pid.available: '1', nodefs.available: '1'}, "
                 "evictionSoftGracePeriod: {pid.available: 1s, memory.available: 1s}"),
         "deny spec.kubelet.evictionSoft[nodefs.available] 1\n"
         "deny spec.kubelet.evictionSoftGracePeriod[memory.available] 1s"},
        {KUBELET("evictionSoft: {pid.available: '1'}, evictionSoftGracePeriod: null"),
         "deny spec.kubelet.evictionSoft[pid.available] 1"},
        {KUBELET("evictionSoft: [], evictionSoftGracePeriod: {pid.available: 1s}"),
         IN_KUBELET "evictionSoft \n"
                    "deny spec.kubelet.evictionSoftGracePeriod[pid.available] 1s"},
        {CLASS(AL2023 ", kubelet: [maxPods]"), ""},
        {CLASS(AL2023 ", kubelet: null"), ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
}

/* Those that people set are those that people misspell. */
static void what_was_meant_is_named(void)
{
    static const char *const names[] = {"clusterDNS",
                                        "cpuCFSQuota",
                                        "evictionHard",
                                        "evictionMaxPodGracePeriod",
                                        "evictionMinimumReclaim",
                                        "evictionSoft",
                                        "evictionSoftGracePeriod",
                                        "imageGCHighThresholdPercent",
                                        "imageGCLowThresholdPercent",
                                        "kubeReserved",
                                        "maxPods",
                                        "podsPerCore",
                                        "systemReserved",
                                        "featureGates",
                                        "topologyManagerPolicy"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        char object[256], found[256], fix[128];
        snprintf(object, sizeof object, KUBELET("%sx: 1"), names[i]);
        snprintf(found, sizeof found, "A kubelet has no setting \"%sx\" here" REFUSED, names[i]);
        snprintf(fix, sizeof fix, "Rename it to %s.", names[i]);
        rail_words_run("node-class: {}", NULL, &(struct rail_words){object, found, fix}, 1);
    }
}

static void it_says_what_karpenter_refuses(void)
{
    static const struct rail_words rows[] = {
        {KUBELET("maxPod: 58"),
         "A kubelet has no setting \"maxPod\" here. Karpenter refuses the EC2NodeClass and "
         "launches no node of it.",
         "Rename it to maxPods."},
        {KUBELET("maxPoddy: 58"),
         "A kubelet has no setting \"maxPoddy\" here. Karpenter refuses the EC2NodeClass and "
         "launches no node of it.",
         "Rename it to maxPods."},
        /* three letters away from maxPods it may be something new */
        {KUBELET("maxPodded: 58"),
         "A kubelet has no setting \"maxPodded\" here, unless your Karpenter is newer. Karpenter "
         "refuses the EC2NodeClass and launches no node of it.",
         "Remove it."},
        {KUBELET("registerWithTaints: []"),
         "Karpenter sets registerWithTaints itself, so that nodes come up with their taints. "
         "Karpenter refuses the EC2NodeClass and launches no node of it.",
         "Remove it, and name taints in the NodePools."},
        {KUBELET("maxPods: -1"),
         "maxPods cannot be -1. Karpenter refuses the EC2NodeClass and launches no node of it.",
         "Write a whole number from 0."},
        {KUBELET("imageGCLowThresholdPercent: 101"),
         "imageGCLowThresholdPercent cannot be 101. Karpenter refuses the EC2NodeClass and "
         "launches no node of it.",
         "Write a whole number from 0 to 100."},
        {KUBELET("evictionHard: {pid: '5'}"),
         "\"pid\" is no eviction signal. Karpenter refuses the EC2NodeClass and launches no node "
         "of it.",
         "Use memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, "
         "imagefs.inodesFree or pid.available."},
        {KUBELET("kubeReserved: {gpu: '1'}"),
         "\"gpu\" is no resource that a kubelet reserves. Karpenter refuses the EC2NodeClass and "
         "launches no node of it.",
         "Use cpu, memory, ephemeral-storage or pid."},
        {KUBELET("evictionHard: {pid.available: many}"),
         "\"many\" is no value of it. Karpenter refuses the EC2NodeClass and launches no node of "
         "it.",
         "Write a percentage or a quantity, such as 5% or 500Mi."},
        {KUBELET("evictionMinimumReclaim: {pid.available: many}"),
         "\"many\" is no value of it. Karpenter refuses the EC2NodeClass and launches no node of "
         "it.",
         "Write a percentage or a quantity, such as 5% or 500Mi."},
        {KUBELET("evictionSoft: {pid.available: '1'}, evictionSoftGracePeriod: {pid.available: "
                 "soon}"),
         "\"soon\" is no value of it. Karpenter refuses the EC2NodeClass and launches no node of "
         "it.",
         "Write a duration, such as 1m30s."},
        {KUBELET("systemReserved: {cpu: '-1'}"),
         "\"-1\" is no value of it. Karpenter refuses the EC2NodeClass and launches no node of it.",
         "Write a quantity, 0 or more."},
        {KUBELET("evictionSoft: {pid.available: 5%}"),
         "\"pid.available\" is not in evictionSoftGracePeriod. Karpenter refuses the EC2NodeClass "
         "and launches no node of it.",
         "Add pid.available to evictionSoftGracePeriod."},
        {KUBELET("evictionSoftGracePeriod: {pid.available: 1s}"),
         "\"pid.available\" is not in evictionSoft. Karpenter refuses the EC2NodeClass and "
         "launches no node of it.",
         "Add pid.available to evictionSoft."},
        {CLASS(BOTTLEROCKET ", kubelet: {topologyManagerPolicy: best-effort}"),
         "On images of Bottlerocket topologyManagerPolicy does not reach the kubelet. Karpenter "
         "refuses the EC2NodeClass and launches no node of it.",
         "Remove it, or set it in userData."},
        {CLASS(BOTTLEROCKET ", kubelet: {podsPerCore: 4}"),
         "Bottlerocket has no podsPerCore: Karpenter before 1.15 drops it, and from 1.15 on "
         "Karpenter refuses the EC2NodeClass.",
         "Remove it, or write maxPods."},
        {CLASS("amiFamily: Windows2022, kubelet: {clusterDNS: [10.0.0.1, 10.0.0.2]}"),
         "Images of Windows2022 take one address: Karpenter before 1.15 drops the others, and from "
         "1.15 on Karpenter refuses the EC2NodeClass.",
         "Leave the first alone."},
        {KUBELET("kubeReserved: {memory: 500MB}"),
         "\"500MB\" is no quantity, and counts as an expression. Karpenter refuses the "
         "EC2NodeClass "
         "while its feature gate NodeClassCEL is off, as by default.",
         "Write a quantity, such as 500Mi, or turn NodeClassCEL on."},
        {KUBELET("maxPods: '110'"),
         "maxPods is the string \"110\", and counts as an expression. Karpenter refuses the "
         "EC2NodeClass while its feature gate NodeClassCEL is off, as by default.",
         "Write a whole number without quotes, or turn NodeClassCEL on."},
        {KUBELET("imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 85"),
         "imageGCHighThresholdPercent 80 is not above imageGCLowThresholdPercent 85. Karpenter "
         "refuses the EC2NodeClass and launches no node of it.",
         "Write a higher one, or a lower imageGCLowThresholdPercent."},
    };
    rail_words_run("node-class: {}", NULL, rows, COUNT_OF(rows));
}

static void unknown_kubelet_settings_cost_little(void)
{
    enum { SETTINGS = 250, SHOWN = 50, BYTES_EACH = 2048 };
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
    ASSERT_INT(verdict.finding_count, SHOWN + 1);
    ASSERT_INT(verdict.findings[SHOWN].more, SETTINGS - SHOWN);
    size_t each = (arena_used_bytes(arena) - before) / SETTINGS;
    CU_ASSERT(each < BYTES_EACH);
    if (each >= BYTES_EACH)
        fprintf(stderr, "%zu bytes for each\n", each);
    arena_destroy(arena);
}

const char unit_suite[] = "policy node-class, the kubelet";
const struct unit_test unit_tests[] = {
    {"kubelet settings can be used", kubelet_settings_can_be_used},
    {"families take what they can", families_take_what_they_can},
    {"settings have their shapes", settings_have_their_shapes},
    {"values can be read", values_can_be_read},
    {"maps have their keys", maps_have_their_keys},
    {"settings go together", settings_go_together},
    {"what was meant is named", what_was_meant_is_named},
    {"it says what Karpenter refuses", it_says_what_karpenter_refuses},
    {"unknown kubelet settings cost little", unknown_kubelet_settings_cost_little},
    {NULL, NULL},
};
