/* spec.kubelet of an EC2NodeClass: the API server takes any map, and Karpenter launches no node
 * while it does not like what is in it. */
#include "kube/quantity.h"
#include "policy/rails/node_class.h"

#define NEVER_USED ": Karpenter refuses the EC2NodeClass and launches no node of it"

enum shape { SHAPE_TEXT_LIST, SHAPE_BOOL, SHAPE_COUNT, SHAPE_PERCENT, SHAPE_TEXT_MAP };
enum meaning { MEANING_NONE, MEANING_THRESHOLD, MEANING_DURATION, MEANING_RESERVED };

/* The settings that Karpenter looks into. */
static const struct setting {
    const char *name;
    enum shape shape;
    enum meaning meaning; /* of a map's keys and values */
} settings[] = {
    {"clusterDNS", SHAPE_TEXT_LIST, MEANING_NONE},
    {"cpuCFSQuota", SHAPE_BOOL, MEANING_NONE},
    {"evictionHard", SHAPE_TEXT_MAP, MEANING_THRESHOLD},
    {"evictionMaxPodGracePeriod", SHAPE_COUNT, MEANING_NONE},
    {"evictionMinimumReclaim", SHAPE_TEXT_MAP, MEANING_THRESHOLD},
    {"evictionSoft", SHAPE_TEXT_MAP, MEANING_THRESHOLD},
    {"evictionSoftGracePeriod", SHAPE_TEXT_MAP, MEANING_DURATION},
    {"imageGCHighThresholdPercent", SHAPE_PERCENT, MEANING_NONE},
    {"imageGCLowThresholdPercent", SHAPE_PERCENT, MEANING_NONE},
    {"kubeReserved", SHAPE_TEXT_MAP, MEANING_RESERVED},
    {"maxPods", SHAPE_COUNT, MEANING_NONE},
    {"podsPerCore", SHAPE_COUNT, MEANING_NONE},
    {"systemReserved", SHAPE_TEXT_MAP, MEANING_RESERVED},
};

/* All that a kubelet of Kubernetes 1.37 has: first those above. */
static const struct text known[] = {TEXT("clusterDNS"),
                                    TEXT("cpuCFSQuota"),
                                    TEXT("evictionHard"),
                                    TEXT("evictionMaxPodGracePeriod"),
                                    TEXT("evictionMinimumReclaim"),
                                    TEXT("evictionSoft"),
                                    TEXT("evictionSoftGracePeriod"),
                                    TEXT("imageGCHighThresholdPercent"),
                                    TEXT("imageGCLowThresholdPercent"),
                                    TEXT("kubeReserved"),
                                    TEXT("maxPods"),
                                    TEXT("podsPerCore"),
                                    TEXT("systemReserved"),
                                    TEXT("address"),
                                    TEXT("allowedUnsafeSysctls"),
                                    TEXT("apiVersion"),
                                    TEXT("authentication"),
                                    TEXT("authorization"),
                                    TEXT("cgroupDriver"),
                                    TEXT("cgroupRoot"),
                                    TEXT("cgroupsPerQOS"),
                                    TEXT("clusterDomain"),
                                    TEXT("configMapAndSecretChangeDetectionStrategy"),
                                    TEXT("containerLogMaxFiles"),
                                    TEXT("containerLogMaxSize"),
                                    TEXT("containerLogMaxWorkers"),
                                    TEXT("containerLogMonitorInterval"),
                                    TEXT("containerRuntimeEndpoint"),
                                    TEXT("contentType"),
                                    TEXT("cpuCFSQuotaPeriod"),
                                    TEXT("cpuManagerPolicy"),
                                    TEXT("cpuManagerPolicyOptions"),
                                    TEXT("cpuManagerReconcilePeriod"),
                                    TEXT("crashLoopBackOff"),
                                    TEXT("defaultPodSysctls"),
                                    TEXT("enableContentionProfiling"),
                                    TEXT("enableControllerAttachDetach"),
                                    TEXT("enableDebugFlagsHandler"),
                                    TEXT("enableDebuggingHandlers"),
                                    TEXT("enableProfilingHandler"),
                                    TEXT("enableServer"),
                                    TEXT("enableSystemLogHandler"),
                                    TEXT("enableSystemLogQuery"),
                                    TEXT("enforceNodeAllocatable"),
                                    TEXT("eventBurst"),
                                    TEXT("eventRecordQPS"),
                                    TEXT("evictionPressureTransitionPeriod"),
                                    TEXT("failCgroupV1"),
                                    TEXT("failSwapOn"),
                                    TEXT("featureGates"),
                                    TEXT("fileCheckFrequency"),
                                    TEXT("hairpinMode"),
                                    TEXT("healthzBindAddress"),
                                    TEXT("healthzPort"),
                                    TEXT("httpCheckFrequency"),
                                    TEXT("imageMaximumGCAge"),
                                    TEXT("imageMinimumGCAge"),
                                    TEXT("imagePullCredentialsVerificationPolicy"),
                                    TEXT("imageServiceEndpoint"),
                                    TEXT("iptablesDropBit"),
                                    TEXT("iptablesMasqueradeBit"),
                                    TEXT("kernelMemcgNotification"),
                                    TEXT("kind"),
                                    TEXT("kubeAPIBurst"),
                                    TEXT("kubeAPIQPS"),
                                    TEXT("kubeReservedCgroup"),
                                    TEXT("kubeletCgroups"),
                                    TEXT("localStorageCapacityIsolation"),
                                    TEXT("logging"),
                                    TEXT("makeIPTablesUtilChains"),
                                    TEXT("maxOpenFiles"),
                                    TEXT("maxParallelImagePulls"),
                                    TEXT("memoryManagerPolicy"),
                                    TEXT("memoryReservationPolicy"),
                                    TEXT("memorySwap"),
                                    TEXT("memoryThrottlingFactor"),
                                    TEXT("mergeDefaultEvictionSettings"),
                                    TEXT("nodeLeaseDurationSeconds"),
                                    TEXT("nodeStatusMaxImages"),
                                    TEXT("nodeStatusReportFrequency"),
                                    TEXT("nodeStatusUpdateFrequency"),
                                    TEXT("oomScoreAdj"),
                                    TEXT("podCIDR"),
                                    TEXT("podLogsDir"),
                                    TEXT("podPidsLimit"),
                                    TEXT("port"),
                                    TEXT("preloadedImagesVerificationAllowlist"),
                                    TEXT("protectKernelDefaults"),
                                    TEXT("providerID"),
                                    TEXT("qosReserved"),
                                    TEXT("readOnlyPort"),
                                    TEXT("registerNode"),
                                    TEXT("registryBurst"),
                                    TEXT("registryPullQPS"),
                                    TEXT("reservedMemory"),
                                    TEXT("reservedSystemCPUs"),
                                    TEXT("resolvConf"),
                                    TEXT("rotateCertificates"),
                                    TEXT("runOnce"),
                                    TEXT("runtimeRequestTimeout"),
                                    TEXT("seccompDefault"),
                                    TEXT("serializeImagePulls"),
                                    TEXT("serverTLSBootstrap"),
                                    TEXT("showHiddenMetricsForVersion"),
                                    TEXT("shutdownGracePeriod"),
                                    TEXT("shutdownGracePeriodByPodPriority"),
                                    TEXT("shutdownGracePeriodCriticalPods"),
                                    TEXT("singleProcessOOMKill"),
                                    TEXT("staticPodPath"),
                                    TEXT("staticPodURL"),
                                    TEXT("staticPodURLHeader"),
                                    TEXT("streamingConnectionIdleTimeout"),
                                    TEXT("syncFrequency"),
                                    TEXT("systemCgroups"),
                                    TEXT("systemReservedCgroup"),
                                    TEXT("tlsCertFile"),
                                    TEXT("tlsCipherSuites"),
                                    TEXT("tlsCurvePreferences"),
                                    TEXT("tlsMinVersion"),
                                    TEXT("tlsPrivateKeyFile"),
                                    TEXT("topologyManagerPolicy"),
                                    TEXT("topologyManagerPolicyOptions"),
                                    TEXT("topologyManagerScope"),
                                    TEXT("tracing"),
                                    TEXT("userNamespaces"),
                                    TEXT("volumePluginDir"),
                                    TEXT("volumeStatsAggPeriod")};

static const struct text signals[] = {TEXT("memory.available"),   TEXT("nodefs.available"),
                                      TEXT("nodefs.inodesFree"),  TEXT("imagefs.available"),
                                      TEXT("imagefs.inodesFree"), TEXT("pid.available")};
static const struct text reservable[] = {TEXT("cpu"), TEXT("memory"), TEXT("ephemeral-storage"),
                                         TEXT("pid")};

static void report(struct judgement *judgement, const struct field *field, struct text statement,
                   struct text fix)
{
    judgement_report(judgement, &(struct draft){
                                    .field = field,
                                    .found = node_text(field->node),
                                    .statement = statement,
                                    .fix = fix,
                                });
}

/* ---- one setting ---- */

static bool has_shape(const struct node *node, const struct setting *setting)
{
    int64_t number = 0;
    switch (setting->shape) {
    case SHAPE_BOOL:
        return node_is(node, NODE_BOOL);
    case SHAPE_COUNT:
    case SHAPE_PERCENT: /* maxPods may be an expression, which is a string */
        return node_integer(node, &number) ||
               (node_is(node, NODE_STRING) && text_is(text_of(setting->name), "maxPods"));
    case SHAPE_TEXT_LIST:
    case SHAPE_TEXT_MAP:
        break;
    }
    bool map = setting->shape == SHAPE_TEXT_MAP;
    if (!node_is(node, map ? NODE_MAP : NODE_LIST))
        return false;
    for (size_t i = 0; i < node_count(node); i++) {
        const struct node *child = map ? &node->members[i].value : node_item(node, i);
        if (!node_is(child, NODE_STRING) && !node_is(child, NODE_NULL))
            return false;
    }
    return true;
}

static const char *shape_text(enum shape shape)
{
    static const char *const texts[] = {
        [SHAPE_TEXT_LIST] = "a list of strings", [SHAPE_BOOL] = "true or false",
        [SHAPE_COUNT] = "a whole number from 0", [SHAPE_PERCENT] = "a whole number from 0 to 100",
        [SHAPE_TEXT_MAP] = "a map of strings",
    };
    return texts[shape];
}

static void judge_number(struct judgement *judgement, const struct setting *setting,
                         const struct field *field)
{
    int64_t number = 0;
    int64_t most = setting->shape == SHAPE_PERCENT ? 100 : INT32_MAX;
    if (!node_integer(field->node, &number) || (number >= 0 && number <= most))
        return;
    report(judgement, field,
           arena_printf(judgement->arena, "found %lld" NEVER_USED, (long long)number),
           arena_printf(judgement->arena, "write %s", shape_text(setting->shape)));
}

/* "5%" or a quantity, neither below zero. */
static bool is_threshold(struct text t)
{
    int64_t milli = 0;
    struct text number = t;
    if (text_ends_with(t, TEXT("%"))) {
        enum { ALL_MILLI = 100 * 1000 };
        number.size--;
        return quantity_milli(number, &milli) && milli >= 0 && milli <= ALL_MILLI;
    }
    return quantity_is_vast(t) || (quantity_milli(t, &milli) && milli >= 0);
}

/* How long the unit is that it begins with; 0: none. */
static size_t unit_size(struct text t)
{
    static const struct text units[] = {TEXT("ns"), TEXT("us"), TEXT("\u00b5s"), TEXT("\u03bcs"),
                                        TEXT("ms"), TEXT("s"),  TEXT("m"),       TEXT("h")};
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (text_starts_with(t, units[i]))
            return units[i].size;
    return 0;
}

/* As Go reads one, and none below zero: "1h30m", "1.5s", "0". */
static bool is_go_duration(struct text t)
{
    if (text_starts_with(t, TEXT("+")))
        t = (struct text){t.data + 1, t.size - 1};
    if (t.size == 0 || text_is(t, "0"))
        return t.size > 0;
    while (t.size > 0) {
        size_t digits = 0;
        size_t i = 0;
        bool point = false;
        for (;
             i < t.size && ((t.data[i] >= '0' && t.data[i] <= '9') || (t.data[i] == '.' && !point));
             i++) {
            point = point || t.data[i] == '.';
            digits += t.data[i] != '.';
        }
        struct text rest = {t.data + i, t.size - i};
        size_t unit = unit_size(rest);
        if (digits == 0 || unit == 0)
            return false;
        t = (struct text){rest.data + unit, rest.size - unit};
    }
    return true;
}

/* Of a reservation Karpenter only asks that it is not below zero: it may be an expression. */
static bool is_value(enum meaning meaning, struct text value)
{
    if (meaning == MEANING_RESERVED)
        return !text_starts_with(value, TEXT("-"));
    return meaning == MEANING_THRESHOLD ? is_threshold(value) : is_go_duration(value);
}

static void judge_entry(struct judgement *judgement, const struct setting *setting,
                        const struct field *field, struct text key)
{
    static const char *const wanted[] = {
        [MEANING_THRESHOLD] = "write a percentage or a quantity, as in 5% or 500Mi",
        [MEANING_DURATION] = "write a duration, as in 1m30s",
        [MEANING_RESERVED] = "write a quantity, 0 or more",
    };
    struct arena *arena = judgement->arena;
    bool reserved = setting->meaning == MEANING_RESERVED;
    const struct text *keys = reserved ? reservable : signals;
    size_t count = reserved ? COUNT_OF(reservable) : COUNT_OF(signals);
    struct text value = node_string(field->node);
    if (text_nearest(key, keys, count, 0) == count)
        judgement_report(judgement,
                         &(struct draft){
                             .field = field,
                             .found = key,
                             .statement = arena_printf(
                                 arena, "found \"%.*s\", which is no %s" NEVER_USED, TEXT_ARGS(key),
                                 reserved ? "resource that a kubelet reserves" : "eviction signal"),
                             .allowed = keys,
                             .allowed_count = count,
                             .fix = TEXT("use one of the allowed names"),
                         });
    if (!is_value(setting->meaning, value))
        report(judgement, field, arena_printf(arena, "found \"%.*s\"" NEVER_USED, TEXT_ARGS(value)),
               text_of(wanted[setting->meaning]));
}

static void judge_setting(struct judgement *judgement, const struct setting *setting,
                          const struct field *field)
{
    struct arena *arena = judgement->arena;
    const struct node *node = field->node;
    if (!has_shape(node, setting)) {
        report(judgement, field,
               arena_printf(arena, "found %s where %s is wanted" NEVER_USED,
                            node_kind_name(node->kind), shape_text(setting->shape)),
               arena_printf(arena, "write %s", shape_text(setting->shape)));
        return;
    }
    judge_number(judgement, setting, field);
    for (size_t i = 0; setting->shape == SHAPE_TEXT_MAP && i < node_count(node); i++) {
        struct text key = {node->members[i].key, node->members[i].key_size};
        judge_entry(judgement, setting, field_member(arena, field, key), key);
    }
}

/* ---- settings beside each other ---- */

/* Each signal of one needs its like in the other. */
static void judge_pair(struct judgement *judgement, const struct field *kubelet, const char *one,
                       const char *other)
{
    struct arena *arena = judgement->arena;
    const struct field *map = field_get(arena, kubelet, one);
    const struct node *partners = node_get(kubelet->node, other);
    for (size_t i = 0; node_is(map->node, NODE_MAP) && i < node_count(map->node); i++) {
        struct text key = {map->node->members[i].key, map->node->members[i].key_size};
        if (node_member(partners, key) == NULL)
            report(judgement, field_member(arena, map, key),
                   arena_printf(arena, "%.*s is not in %s" NEVER_USED, TEXT_ARGS(key), other),
                   arena_printf(arena, "add %.*s to %s", TEXT_ARGS(key), other));
    }
}

static void judge_collection(struct judgement *judgement, const struct field *kubelet)
{
    const struct field *high = field_get(judgement->arena, kubelet, "imageGCHighThresholdPercent");
    int64_t from = 0;
    int64_t to = 0;
    if (node_integer(high->node, &from) &&
        node_integer(node_get(kubelet->node, "imageGCLowThresholdPercent"), &to) && from <= to)
        report(judgement, high,
               arena_printf(
                   judgement->arena,
                   "found %lld, which is not above imageGCLowThresholdPercent, %lld" NEVER_USED,
                   (long long)from, (long long)to),
               TEXT("write a higher one, or a lower imageGCLowThresholdPercent"));
}

/* ---- names ---- */

static const struct setting *setting_named(struct text name)
{
    for (size_t i = 0; i < COUNT_OF(settings); i++)
        if (text_is(name, settings[i].name))
            return &settings[i];
    return NULL;
}

static void judge_other(struct judgement *judgement, const struct field *kubelet, struct text name)
{
    enum { TYPO_EDITS = 2 };
    struct arena *arena = judgement->arena;
    size_t nearest = text_nearest(name, known, COUNT_OF(known), TYPO_EDITS);
    bool meant = nearest < COUNT_OF(known);
    if (meant && text_equal(name, known[nearest]))
        return;
    /* A Karpenter newer than these tables may know it. */
    enum severity severity = meant ? SEVERITY_RAIL : SEVERITY_WARN;
    if (judgement_counts(judgement, severity))
        return;
    judgement_say(
        judgement,
        &(struct draft){
            .severity = severity,
            .field = field_member(arena, kubelet, name),
            .found = name,
            .statement =
                arena_printf(arena, "found \"%.*s\", which is no setting of a kubelet%s" NEVER_USED,
                             TEXT_ARGS(name), meant ? "" : ", as far as is known here"),
            .fix = meant ? arena_printf(arena, "did you mean %.*s?", TEXT_ARGS(known[nearest]))
                         : TEXT("remove it"),
        });
}

void node_class_judge_kubelet(struct judgement *judgement)
{
    struct arena *arena = judgement->arena;
    const struct field *kubelet = field_at(arena, judgement->object->root, "spec.kubelet");
    const struct node *node = kubelet->node;
    if (node_class_is_v1beta1(judgement->object))
        return; /* it has no such field */
    for (size_t i = 0; node_is(node, NODE_MAP) && i < node_count(node); i++) {
        struct text name = {node->members[i].key, node->members[i].key_size};
        const struct setting *setting = setting_named(name);
        if (!node_is_given(&node->members[i].value))
            continue;
        if (text_is(name, "registerWithTaints"))
            report(
                judgement, field_member(arena, kubelet, name),
                TEXT(
                    "Karpenter sets it itself, so that nodes come up with their taints" NEVER_USED),
                TEXT("remove it, and name taints in the NodePools"));
        else if (setting != NULL)
            judge_setting(judgement, setting, field_member(arena, kubelet, name));
        else
            judge_other(judgement, kubelet, name);
    }
    judge_pair(judgement, kubelet, "evictionSoft", "evictionSoftGracePeriod");
    judge_pair(judgement, kubelet, "evictionSoftGracePeriod", "evictionSoft");
    judge_collection(judgement, kubelet);
}
