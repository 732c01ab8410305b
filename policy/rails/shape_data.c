/* The fields of NodePools and EC2NodeClasses, as the CRDs of karpenter-provider-aws v1.15.0 have them
 * (those of v1beta1 as v1.0.8), and the settings of a kubelet, as k8s.io/kubelet v0.37.0.
 * Made by scripts/shapes; do not edit. */
/* clang-format off */
#include "policy/rails/shape.h"

#define FIELD(of_type, field) .name = field, .type = SHAPE_##of_type
#define FIELDS(...) .fields = (const struct shape[]){__VA_ARGS__, {0}}
#define VALUE(string) {string, sizeof string - 1}
#define CHOICES(...) \
    .choices = (const struct text[]){__VA_ARGS__}, \
    .choice_count = sizeof((const struct text[]){__VA_ARGS__}) / sizeof(struct text)

const struct shape shape_node_pool_v1 = {FIELD(MAP, NULL), FIELDS(
    {FIELD(STRING, "apiVersion")},
    {FIELD(STRING, "kind")},
    {FIELD(MAP, "metadata")},
    {FIELD(MAP, "spec"), FIELDS(
        {FIELD(MAP, "disruption"), FIELDS(
            {FIELD(LIST, "budgets"), FIELDS(
                {FIELD(STRING, "duration")},
                {FIELD(STRING, "nodes")},
                {FIELD(STRING_LIST, "reasons"), CHOICES(VALUE("Drifted"), VALUE("Empty"), VALUE("Underutilized"), VALUE("Unhealthy"))},
                {FIELD(STRING, "schedule")}
            )},
            {FIELD(STRING, "consolidateAfter")},
            {FIELD(STRING, "consolidationPolicy"), CHOICES(VALUE("WhenEmptyOrUnderutilized"), VALUE("WhenEmpty"), VALUE("Balanced"))}
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
                    {FIELD(STRING, "operator"), CHOICES(VALUE("DoesNotExist"), VALUE("Exists"), VALUE("Gt"), VALUE("In"), VALUE("Lt"), VALUE("NotIn"), VALUE("Gte"), VALUE("Lte"))},
                    {FIELD(STRING_LIST, "values")}
                )},
                {FIELD(LIST, "startupTaints"), FIELDS(
                    {FIELD(STRING, "effect"), CHOICES(VALUE("NoExecute"), VALUE("NoSchedule"), VALUE("PreferNoSchedule"))},
                    {FIELD(STRING, "key")},
                    {FIELD(STRING, "timeAdded")},
                    {FIELD(STRING, "value")}
                )},
                {FIELD(LIST, "taints"), FIELDS(
                    {FIELD(STRING, "effect"), CHOICES(VALUE("NoExecute"), VALUE("NoSchedule"), VALUE("PreferNoSchedule"))},
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

const struct shape shape_node_pool_v1beta1 = {FIELD(MAP, NULL), FIELDS(
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
            {FIELD(STRING, "consolidationPolicy"), CHOICES(VALUE("WhenUnderutilized"), VALUE("WhenEmpty"))},
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
                    {FIELD(STRING, "operator"), CHOICES(VALUE("DoesNotExist"), VALUE("Exists"), VALUE("Gt"), VALUE("In"), VALUE("Lt"), VALUE("NotIn"))},
                    {FIELD(STRING_LIST, "values")}
                )},
                {FIELD(MAP, "resources"), FIELDS(
                    {FIELD(MAP, "requests")}
                )},
                {FIELD(LIST, "startupTaints"), FIELDS(
                    {FIELD(STRING, "effect"), CHOICES(VALUE("NoExecute"), VALUE("NoSchedule"), VALUE("PreferNoSchedule"))},
                    {FIELD(STRING, "key")},
                    {FIELD(STRING, "timeAdded")},
                    {FIELD(STRING, "value")}
                )},
                {FIELD(LIST, "taints"), FIELDS(
                    {FIELD(STRING, "effect"), CHOICES(VALUE("NoExecute"), VALUE("NoSchedule"), VALUE("PreferNoSchedule"))},
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

const struct shape shape_ec2_node_class_v1 = {FIELD(MAP, NULL), FIELDS(
    {FIELD(STRING, "apiVersion")},
    {FIELD(STRING, "kind")},
    {FIELD(MAP, "metadata")},
    {FIELD(MAP, "spec"), FIELDS(
        {FIELD(STRING, "amiFamily"), CHOICES(VALUE("AL2"), VALUE("AL2023"), VALUE("Bottlerocket"), VALUE("Custom"), VALUE("Windows2019"), VALUE("Windows2022"), VALUE("Windows2025"))},
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
                {FIELD(STRING, "volumeType"), CHOICES(VALUE("gp2"), VALUE("gp3"), VALUE("io1"), VALUE("io2"), VALUE("sc1"), VALUE("st1"), VALUE("standard"))}
            )},
            {FIELD(BOOLEAN, "rootVolume")}
        )},
        {FIELD(LIST, "capacityReservationSelectorTerms"), FIELDS(
            {FIELD(STRING, "id")},
            {FIELD(STRING, "instanceMatchCriteria"), CHOICES(VALUE("open"), VALUE("targeted"))},
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
            {FIELD(STRING, "nestedVirtualization"), CHOICES(VALUE("disabled"), VALUE("enabled"))}
        )},
        {FIELD(BOOLEAN, "detailedMonitoring")},
        {FIELD(MAP, "enclaveOptions"), FIELDS(
            {FIELD(BOOLEAN, "enabled")}
        )},
        {FIELD(STRING, "instanceProfile")},
        {FIELD(STRING, "instanceStorePolicy"), CHOICES(VALUE("RAID0"))},
        {FIELD(INTEGER, "ipPrefixCount")},
        {FIELD(ANY, "kubelet")},
        {FIELD(MAP, "metadataOptions"), FIELDS(
            {FIELD(STRING, "httpEndpoint"), CHOICES(VALUE("enabled"), VALUE("disabled"))},
            {FIELD(STRING, "httpProtocolIPv6"), CHOICES(VALUE("disabled"), VALUE("enabled"))},
            {FIELD(INTEGER, "httpPutResponseHopLimit")},
            {FIELD(STRING, "httpTokens"), CHOICES(VALUE("required"), VALUE("optional"))}
        )},
        {FIELD(LIST, "networkInterfaces"), FIELDS(
            {FIELD(INTEGER, "deviceIndex")},
            {FIELD(STRING, "interfaceType"), CHOICES(VALUE("efa-only"), VALUE("interface"))},
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

const struct shape shape_kubelet = {FIELD(MAP, NULL), FIELDS(
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
