/* The fields of NodePools and EC2NodeClasses, as the CRDs of karpenter-provider-aws v1.15.0 have them
 * (those of v1beta1 as v1.0.8), and the settings of a kubelet, as k8s.io/kubelet v0.37.0.
 * Made by scripts/shapes; do not edit. */
/* clang-format off */
#include "policy/rails/shape.h"

#define TEXT_OF(string) {string, sizeof string - 1}
#define FIELD(of_type, field) .name = TEXT_OF(field), .type = SHAPE_##of_type
#define FIELDS(...) .fields = (const struct shape[]){__VA_ARGS__, {0}}
#define CHOICES(...) \
    .choices = (const struct text[]){__VA_ARGS__}, \
    .choice_count = sizeof((const struct text[]){__VA_ARGS__}) / sizeof(struct text)

const struct shape shape_node_pool_v1 = {.type = SHAPE_MAP, FIELDS(
    {FIELD(STRING, "apiVersion")},
    {FIELD(STRING, "kind")},
    {FIELD(MAP, "metadata")},
    {FIELD(MAP, "spec"), FIELDS(
        {FIELD(MAP, "disruption"), FIELDS(
            {FIELD(LIST, "budgets"), FIELDS(
                {FIELD(STRING, "duration")},
                {FIELD(STRING, "nodes")},
                {FIELD(STRING_LIST, "reasons"), CHOICES(TEXT_OF("Drifted"), TEXT_OF("Empty"), TEXT_OF("Underutilized"), TEXT_OF("Unhealthy"))},
                {FIELD(STRING, "schedule")}
            )},
            {FIELD(STRING, "consolidateAfter")},
            {FIELD(STRING, "consolidationPolicy"), CHOICES(TEXT_OF("WhenEmptyOrUnderutilized"), TEXT_OF("WhenEmpty"), TEXT_OF("Balanced"))}
        )},
        {FIELD(MAP, "limits")},
        {FIELD(INTEGER, "replicas")},
        {FIELD(MAP, "template"), FIELDS(
            {FIELD(MAP, "metadata"), FIELDS(
                {FIELD(STRING_MAP, "annotations")},
                {FIELD(STRING_MAP, "labels")}
            )},
            {FIELD(MAP, "spec"), FIELDS(
                {FIELD(STRING, "expireAfter")},
                {FIELD(MAP, "nodeClassRef"), FIELDS(
                    {FIELD(STRING, "group")},
                    {FIELD(STRING, "kind")},
                    {FIELD(STRING, "name")}
                )},
                {FIELD(LIST, "requirements"), FIELDS(
                    {FIELD(STRING, "key")},
                    {FIELD(INTEGER, "minValues")},
                    {FIELD(STRING, "operator"), CHOICES(TEXT_OF("DoesNotExist"), TEXT_OF("Exists"), TEXT_OF("Gt"), TEXT_OF("In"), TEXT_OF("Lt"), TEXT_OF("NotIn"), TEXT_OF("Gte"), TEXT_OF("Lte"))},
                    {FIELD(STRING_LIST, "values")}
                )},
                {FIELD(LIST, "startupTaints"), FIELDS(
                    {FIELD(STRING, "effect"), CHOICES(TEXT_OF("NoExecute"), TEXT_OF("NoSchedule"), TEXT_OF("PreferNoSchedule"))},
                    {FIELD(STRING, "key")},
                    {FIELD(STRING, "timeAdded")},
                    {FIELD(STRING, "value")}
                )},
                {FIELD(LIST, "taints"), FIELDS(
                    {FIELD(STRING, "effect"), CHOICES(TEXT_OF("NoExecute"), TEXT_OF("NoSchedule"), TEXT_OF("PreferNoSchedule"))},
                    {FIELD(STRING, "key")},
                    {FIELD(STRING, "timeAdded")},
                    {FIELD(STRING, "value")}
                )},
                {FIELD(STRING, "terminationGracePeriod")}
            )}
        )},
        {FIELD(INTEGER, "weight")}
    )},
    {FIELD(MAP, "status")}
)};

const struct shape shape_node_pool_v1beta1 = {.type = SHAPE_MAP, FIELDS(
    {FIELD(STRING, "apiVersion")},
    {FIELD(STRING, "kind")},
    {FIELD(MAP, "metadata")},
    {FIELD(MAP, "spec"), FIELDS(
        {FIELD(MAP, "disruption"), FIELDS(
            {FIELD(LIST, "budgets"), FIELDS(
                {FIELD(STRING, "duration")},
                {FIELD(STRING, "nodes")},
                {FIELD(STRING, "schedule")}
            )},
            {FIELD(STRING, "consolidateAfter")},
            {FIELD(STRING, "consolidationPolicy"), CHOICES(TEXT_OF("WhenUnderutilized"), TEXT_OF("WhenEmpty"))},
            {FIELD(STRING, "expireAfter")}
        )},
        {FIELD(MAP, "limits")},
        {FIELD(MAP, "template"), FIELDS(
            {FIELD(MAP, "metadata"), FIELDS(
                {FIELD(STRING_MAP, "annotations")},
                {FIELD(STRING_MAP, "labels")}
            )},
            {FIELD(MAP, "spec"), FIELDS(
                {FIELD(MAP, "kubelet"), FIELDS(
                    {FIELD(STRING_LIST, "clusterDNS")},
                    {FIELD(BOOLEAN, "cpuCFSQuota")},
                    {FIELD(STRING_MAP, "evictionHard")},
                    {FIELD(INTEGER, "evictionMaxPodGracePeriod")},
                    {FIELD(STRING_MAP, "evictionSoft")},
                    {FIELD(STRING_MAP, "evictionSoftGracePeriod")},
                    {FIELD(INTEGER, "imageGCHighThresholdPercent")},
                    {FIELD(INTEGER, "imageGCLowThresholdPercent")},
                    {FIELD(STRING_MAP, "kubeReserved")},
                    {FIELD(INTEGER, "maxPods")},
                    {FIELD(INTEGER, "podsPerCore")},
                    {FIELD(STRING_MAP, "systemReserved")}
                )},
                {FIELD(MAP, "nodeClassRef"), FIELDS(
                    {FIELD(STRING, "apiVersion")},
                    {FIELD(STRING, "kind")},
                    {FIELD(STRING, "name")}
                )},
                {FIELD(LIST, "requirements"), FIELDS(
                    {FIELD(STRING, "key")},
                    {FIELD(INTEGER, "minValues")},
                    {FIELD(STRING, "operator"), CHOICES(TEXT_OF("DoesNotExist"), TEXT_OF("Exists"), TEXT_OF("Gt"), TEXT_OF("In"), TEXT_OF("Lt"), TEXT_OF("NotIn"))},
                    {FIELD(STRING_LIST, "values")}
                )},
                {FIELD(MAP, "resources"), FIELDS(
                    {FIELD(MAP, "requests")}
                )},
                {FIELD(LIST, "startupTaints"), FIELDS(
                    {FIELD(STRING, "effect"), CHOICES(TEXT_OF("NoExecute"), TEXT_OF("NoSchedule"), TEXT_OF("PreferNoSchedule"))},
                    {FIELD(STRING, "key")},
                    {FIELD(STRING, "timeAdded")},
                    {FIELD(STRING, "value")}
                )},
                {FIELD(LIST, "taints"), FIELDS(
                    {FIELD(STRING, "effect"), CHOICES(TEXT_OF("NoExecute"), TEXT_OF("NoSchedule"), TEXT_OF("PreferNoSchedule"))},
                    {FIELD(STRING, "key")},
                    {FIELD(STRING, "timeAdded")},
                    {FIELD(STRING, "value")}
                )}
            )}
        )},
        {FIELD(INTEGER, "weight")}
    )},
    {FIELD(MAP, "status")}
)};

const struct shape shape_ec2_node_class_v1 = {.type = SHAPE_MAP, FIELDS(
    {FIELD(STRING, "apiVersion")},
    {FIELD(STRING, "kind")},
    {FIELD(MAP, "metadata")},
    {FIELD(MAP, "spec"), FIELDS(
        {FIELD(STRING, "amiFamily"), CHOICES(TEXT_OF("AL2"), TEXT_OF("AL2023"), TEXT_OF("Bottlerocket"), TEXT_OF("Custom"), TEXT_OF("Windows2019"), TEXT_OF("Windows2022"), TEXT_OF("Windows2025"))},
        {FIELD(LIST, "amiSelectorTerms"), FIELDS(
            {FIELD(STRING, "alias")},
            {FIELD(STRING, "id")},
            {FIELD(STRING, "name")},
            {FIELD(STRING, "owner")},
            {FIELD(STRING, "ssmParameter")},
            {FIELD(STRING_MAP, "tags")}
        )},
        {FIELD(BOOLEAN, "associatePublicIPAddress")},
        {FIELD(LIST, "blockDeviceMappings"), FIELDS(
            {FIELD(STRING, "deviceName")},
            {FIELD(MAP, "ebs"), FIELDS(
                {FIELD(BOOLEAN, "deleteOnTermination")},
                {FIELD(BOOLEAN, "encrypted")},
                {FIELD(INTEGER, "iops")},
                {FIELD(STRING, "kmsKeyID")},
                {FIELD(STRING, "snapshotID")},
                {FIELD(INTEGER, "throughput")},
                {FIELD(INTEGER, "volumeInitializationRate")},
                {FIELD(STRING, "volumeSize")},
                {FIELD(STRING, "volumeType"), CHOICES(TEXT_OF("gp2"), TEXT_OF("gp3"), TEXT_OF("io1"), TEXT_OF("io2"), TEXT_OF("sc1"), TEXT_OF("st1"), TEXT_OF("standard"))}
            )},
            {FIELD(BOOLEAN, "rootVolume")}
        )},
        {FIELD(LIST, "capacityReservationSelectorTerms"), FIELDS(
            {FIELD(STRING, "id")},
            {FIELD(STRING, "instanceMatchCriteria"), CHOICES(TEXT_OF("open"), TEXT_OF("targeted"))},
            {FIELD(STRING, "ownerID")},
            {FIELD(STRING_MAP, "tags")}
        )},
        {FIELD(MAP, "connectionTracking"), FIELDS(
            {FIELD(INTEGER, "tcpEstablishedTimeout")},
            {FIELD(INTEGER, "udpStreamTimeout")},
            {FIELD(INTEGER, "udpTimeout")}
        )},
        {FIELD(STRING, "context")},
        {FIELD(MAP, "cpuOptions"), FIELDS(
            {FIELD(STRING, "nestedVirtualization"), CHOICES(TEXT_OF("disabled"), TEXT_OF("enabled"))}
        )},
        {FIELD(BOOLEAN, "detailedMonitoring")},
        {FIELD(MAP, "enclaveOptions"), FIELDS(
            {FIELD(BOOLEAN, "enabled")}
        )},
        {FIELD(STRING, "instanceProfile")},
        {FIELD(STRING, "instanceStorePolicy"), CHOICES(TEXT_OF("RAID0"))},
        {FIELD(INTEGER, "ipPrefixCount")},
        {FIELD(ANY, "kubelet")},
        {FIELD(MAP, "metadataOptions"), FIELDS(
            {FIELD(STRING, "httpEndpoint"), CHOICES(TEXT_OF("enabled"), TEXT_OF("disabled"))},
            {FIELD(STRING, "httpProtocolIPv6"), CHOICES(TEXT_OF("disabled"), TEXT_OF("enabled"))},
            {FIELD(INTEGER, "httpPutResponseHopLimit")},
            {FIELD(STRING, "httpTokens"), CHOICES(TEXT_OF("required"), TEXT_OF("optional"))}
        )},
        {FIELD(LIST, "networkInterfaces"), FIELDS(
            {FIELD(INTEGER, "deviceIndex")},
            {FIELD(STRING, "interfaceType"), CHOICES(TEXT_OF("efa-only"), TEXT_OF("interface"))},
            {FIELD(INTEGER, "networkCardIndex")}
        )},
        {FIELD(MAP, "placementGroupSelector"), FIELDS(
            {FIELD(STRING, "id")},
            {FIELD(STRING, "name")}
        )},
        {FIELD(STRING, "role")},
        {FIELD(LIST, "securityGroupSelectorTerms"), FIELDS(
            {FIELD(STRING, "id")},
            {FIELD(STRING, "name")},
            {FIELD(STRING_MAP, "tags")}
        )},
        {FIELD(LIST, "subnetSelectorTerms"), FIELDS(
            {FIELD(STRING, "id")},
            {FIELD(STRING_MAP, "tags")}
        )},
        {FIELD(STRING_MAP, "tags")},
        {FIELD(STRING, "userData")}
    )},
    {FIELD(MAP, "status")}
)};

const struct shape shape_kubelet = {.type = SHAPE_MAP, FIELDS(
    {FIELD(STRING, "address")},
    {FIELD(STRING_LIST, "allowedUnsafeSysctls")},
    {FIELD(STRING, "apiVersion")},
    {FIELD(ANY, "authentication")},
    {FIELD(ANY, "authorization")},
    {FIELD(STRING, "cgroupDriver")},
    {FIELD(STRING, "cgroupRoot")},
    {FIELD(BOOLEAN, "cgroupsPerQOS")},
    {FIELD(STRING_LIST, "clusterDNS")},
    {FIELD(STRING, "clusterDomain")},
    {FIELD(ANY, "configMapAndSecretChangeDetectionStrategy")},
    {FIELD(INTEGER, "containerLogMaxFiles")},
    {FIELD(STRING, "containerLogMaxSize")},
    {FIELD(INTEGER, "containerLogMaxWorkers")},
    {FIELD(ANY, "containerLogMonitorInterval")},
    {FIELD(STRING, "containerRuntimeEndpoint")},
    {FIELD(STRING, "contentType")},
    {FIELD(BOOLEAN, "cpuCFSQuota")},
    {FIELD(ANY, "cpuCFSQuotaPeriod")},
    {FIELD(STRING, "cpuManagerPolicy")},
    {FIELD(STRING_MAP, "cpuManagerPolicyOptions")},
    {FIELD(ANY, "cpuManagerReconcilePeriod")},
    {FIELD(ANY, "crashLoopBackOff")},
    {FIELD(STRING_MAP, "defaultPodSysctls")},
    {FIELD(BOOLEAN, "enableContentionProfiling")},
    {FIELD(BOOLEAN, "enableControllerAttachDetach")},
    {FIELD(BOOLEAN, "enableDebugFlagsHandler")},
    {FIELD(BOOLEAN, "enableDebuggingHandlers")},
    {FIELD(BOOLEAN, "enableProfilingHandler")},
    {FIELD(BOOLEAN, "enableServer")},
    {FIELD(BOOLEAN, "enableSystemLogHandler")},
    {FIELD(BOOLEAN, "enableSystemLogQuery")},
    {FIELD(STRING_LIST, "enforceNodeAllocatable")},
    {FIELD(INTEGER, "eventBurst")},
    {FIELD(INTEGER, "eventRecordQPS")},
    {FIELD(STRING_MAP, "evictionHard")},
    {FIELD(INTEGER, "evictionMaxPodGracePeriod")},
    {FIELD(STRING_MAP, "evictionMinimumReclaim")},
    {FIELD(ANY, "evictionPressureTransitionPeriod")},
    {FIELD(STRING_MAP, "evictionSoft")},
    {FIELD(STRING_MAP, "evictionSoftGracePeriod")},
    {FIELD(BOOLEAN, "failCgroupV1")},
    {FIELD(BOOLEAN, "failSwapOn")},
    {FIELD(ANY, "featureGates")},
    {FIELD(ANY, "fileCheckFrequency")},
    {FIELD(STRING, "hairpinMode")},
    {FIELD(STRING, "healthzBindAddress")},
    {FIELD(INTEGER, "healthzPort")},
    {FIELD(ANY, "httpCheckFrequency")},
    {FIELD(INTEGER, "imageGCHighThresholdPercent")},
    {FIELD(INTEGER, "imageGCLowThresholdPercent")},
    {FIELD(ANY, "imageMaximumGCAge")},
    {FIELD(ANY, "imageMinimumGCAge")},
    {FIELD(ANY, "imagePullCredentialsVerificationPolicy")},
    {FIELD(STRING, "imageServiceEndpoint")},
    {FIELD(INTEGER, "iptablesDropBit")},
    {FIELD(INTEGER, "iptablesMasqueradeBit")},
    {FIELD(BOOLEAN, "kernelMemcgNotification")},
    {FIELD(STRING, "kind")},
    {FIELD(INTEGER, "kubeAPIBurst")},
    {FIELD(INTEGER, "kubeAPIQPS")},
    {FIELD(STRING_MAP, "kubeReserved")},
    {FIELD(STRING, "kubeReservedCgroup")},
    {FIELD(STRING, "kubeletCgroups")},
    {FIELD(BOOLEAN, "localStorageCapacityIsolation")},
    {FIELD(ANY, "logging")},
    {FIELD(BOOLEAN, "makeIPTablesUtilChains")},
    {FIELD(INTEGER, "maxOpenFiles")},
    {FIELD(INTEGER, "maxParallelImagePulls")},
    {FIELD(INTEGER, "maxPods")},
    {FIELD(STRING, "memoryManagerPolicy")},
    {FIELD(ANY, "memoryReservationPolicy")},
    {FIELD(ANY, "memorySwap")},
    {FIELD(ANY, "memoryThrottlingFactor")},
    {FIELD(BOOLEAN, "mergeDefaultEvictionSettings")},
    {FIELD(INTEGER, "nodeLeaseDurationSeconds")},
    {FIELD(INTEGER, "nodeStatusMaxImages")},
    {FIELD(ANY, "nodeStatusReportFrequency")},
    {FIELD(ANY, "nodeStatusUpdateFrequency")},
    {FIELD(INTEGER, "oomScoreAdj")},
    {FIELD(STRING, "podCIDR")},
    {FIELD(STRING, "podLogsDir")},
    {FIELD(INTEGER, "podPidsLimit")},
    {FIELD(INTEGER, "podsPerCore")},
    {FIELD(INTEGER, "port")},
    {FIELD(STRING_LIST, "preloadedImagesVerificationAllowlist")},
    {FIELD(BOOLEAN, "protectKernelDefaults")},
    {FIELD(STRING, "providerID")},
    {FIELD(STRING_MAP, "qosReserved")},
    {FIELD(INTEGER, "readOnlyPort")},
    {FIELD(BOOLEAN, "registerNode")},
    {FIELD(OWNED, "registerWithTaints")},
    {FIELD(INTEGER, "registryBurst")},
    {FIELD(INTEGER, "registryPullQPS")},
    {FIELD(ANY, "reservedMemory")},
    {FIELD(STRING, "reservedSystemCPUs")},
    {FIELD(STRING, "resolvConf")},
    {FIELD(BOOLEAN, "rotateCertificates")},
    {FIELD(BOOLEAN, "runOnce")},
    {FIELD(ANY, "runtimeRequestTimeout")},
    {FIELD(BOOLEAN, "seccompDefault")},
    {FIELD(BOOLEAN, "serializeImagePulls")},
    {FIELD(BOOLEAN, "serverTLSBootstrap")},
    {FIELD(STRING, "showHiddenMetricsForVersion")},
    {FIELD(ANY, "shutdownGracePeriod")},
    {FIELD(ANY, "shutdownGracePeriodByPodPriority")},
    {FIELD(ANY, "shutdownGracePeriodCriticalPods")},
    {FIELD(BOOLEAN, "singleProcessOOMKill")},
    {FIELD(STRING, "staticPodPath")},
    {FIELD(STRING, "staticPodURL")},
    {FIELD(ANY, "staticPodURLHeader")},
    {FIELD(ANY, "streamingConnectionIdleTimeout")},
    {FIELD(ANY, "syncFrequency")},
    {FIELD(STRING, "systemCgroups")},
    {FIELD(STRING_MAP, "systemReserved")},
    {FIELD(STRING, "systemReservedCgroup")},
    {FIELD(STRING, "tlsCertFile")},
    {FIELD(STRING_LIST, "tlsCipherSuites")},
    {FIELD(ANY, "tlsCurvePreferences")},
    {FIELD(STRING, "tlsMinVersion")},
    {FIELD(STRING, "tlsPrivateKeyFile")},
    {FIELD(STRING, "topologyManagerPolicy")},
    {FIELD(STRING_MAP, "topologyManagerPolicyOptions")},
    {FIELD(STRING, "topologyManagerScope")},
    {FIELD(ANY, "tracing")},
    {FIELD(ANY, "userNamespaces")},
    {FIELD(STRING, "volumePluginDir")},
    {FIELD(ANY, "volumeStatsAggPeriod")}
)};
