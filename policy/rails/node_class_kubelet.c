/* spec.kubelet of an EC2NodeClass: the API server takes any map, and Karpenter launches no node
 * while it does not like what is in it. */
#include "base/duration.h"
#include "kube/placeholder.h"
#include "kube/quantity.h"
#include "policy/rails/crd_shape.h"
#include "policy/rails/node_class.h"

#define NEVER_USED ". Karpenter refuses the EC2NodeClass and launches no node of it."
#define FROM_1_15 \
    "Karpenter before 1.15 drops %s, and from 1.15 on Karpenter refuses the EC2NodeClass."
#define GATED                                                                             \
    "counts as an expression. Karpenter refuses the EC2NodeClass while its feature gate " \
    "NodeClassCEL is off, as by default."

/* ---- what maps hold ---- */

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

/* As Go reads one, and none below zero: "1h30m", "1.5s", "0". */
static bool is_go_duration(struct text t)
{
    struct duration_part part;
    if (text_starts_with(t, TEXT("+")))
        t = (struct text){t.data + 1, t.size - 1};
    if (t.size == 0 || text_is(t, "0"))
        return t.size > 0;
    while (t.size > 0)
        if (!duration_take(&t, &part))
            return false;
    return true;
}

/* Karpenter only asks that it is not below zero: it may be an expression. */
static bool is_reservation(struct text t)
{
    return !text_starts_with(t, TEXT("-"));
}

/* Of a text that may be one; of a placeholder something else is said. */
static bool is_expression(struct text t)
{
    int64_t milli = 0;
    return !quantity_milli(t, &milli) && !quantity_is_vast(t) && !text_has_placeholder(t);
}

static const struct text signals[] = {TEXT("memory.available"),   TEXT("nodefs.available"),
                                      TEXT("nodefs.inodesFree"),  TEXT("imagefs.available"),
                                      TEXT("imagefs.inodesFree"), TEXT("pid.available")};
static const struct text reservable[] = {TEXT("cpu"), TEXT("memory"), TEXT("ephemeral-storage"),
                                         TEXT("pid")};

/* The keys of a map, and what the value of each must be. */
struct entries {
    const char *key; /* what each is */
    const struct text *keys;
    size_t key_count;
    bool (*is_value)(struct text value);
    bool may_be_expression;
    const char *fix;
};
#define EVICTION .key = "eviction signal", .keys = signals, .key_count = COUNT_OF(signals)
static const struct entries thresholds = {
    EVICTION, .is_value = is_threshold,
    .fix = "Write a percentage or a quantity, such as 5% or 500Mi."};
static const struct entries grace_periods = {EVICTION, .is_value = is_go_duration,
                                             .fix = "Write a duration, such as 1m30s."};
static const struct entries reservations = {.key = "resource that a kubelet reserves",
                                            .keys = reservable,
                                            .key_count = COUNT_OF(reservable),
                                            .is_value = is_reservation,
                                            .may_be_expression = true,
                                            .fix = "Write a quantity, 0 or more."};

static void judge_entry(struct rail_call *call, const struct entries *entries,
                        const struct field *field)
{
    struct arena *arena = call->arena;
    struct text key = field->key;
    struct text value = node_string(field->node);
    if (!texts_have(entries->keys, entries->key_count, key))
        report_with(
            call, .field = field, .found = key,
            .statement =
                arena_printf(arena, "\"%.*s\" is no %s" NEVER_USED, TEXT_ARGS(key), entries->key),
            .allowed = ALLOWED_TEXTS(entries->keys, entries->key_count),
            .fix = arena_printf(arena, "Use %.*s.",
                                TEXT_ARGS(texts_or(entries->keys, entries->key_count, arena))));
    if (!entries->is_value(value))
        report(call, SEVERITY_RAIL, field, text_of(entries->fix),
               "\"%.*s\" is no value of it" NEVER_USED, TEXT_ARGS(value));
    else if (entries->may_be_expression && is_expression(value))
        report(call, SEVERITY_WARN, field,
               TEXT("Write a quantity, such as 500Mi, or turn NodeClassCEL on."),
               "\"%.*s\" is no quantity, and " GATED, TEXT_ARGS(value));
}

/* ---- one setting ---- */

/* The settings that Karpenter looks into, and what it wants beyond their types. */
static const struct setting {
    const char *name;
    const struct entries *entries; /* of a map */
    int64_t maximum;               /* of a number; 0: any */
    bool may_be_expression;
    bool not_mapped; /* looked into, and handed on as all others are */
} settings[] = {
    {.name = "clusterDNS"},
    {.name = "cpuCFSQuota"},
    {.name = "evictionHard", .entries = &thresholds},
    {.name = "evictionMaxPodGracePeriod"},
    {.name = "evictionMinimumReclaim", .entries = &thresholds, .not_mapped = true},
    {.name = "evictionSoft", .entries = &thresholds},
    {.name = "evictionSoftGracePeriod", .entries = &grace_periods},
    {.name = "imageGCHighThresholdPercent", .maximum = 100},
    {.name = "imageGCLowThresholdPercent", .maximum = 100},
    {.name = "kubeReserved", .entries = &reservations},
    {.name = "maxPods", .may_be_expression = true},
    {.name = "podsPerCore"},
    {.name = "systemReserved", .entries = &reservations},
};

static const char *wanted(const struct setting *setting, const struct crd_shape *shape)
{
    switch (shape->type) {
    case SHAPE_BOOLEAN:
        return "true or false";
    case SHAPE_STRING_LIST:
        return "a list of strings";
    case SHAPE_STRING_MAP:
        return "a map of strings";
    default:
        return setting->maximum == 0 ? "a whole number from 0" : "a whole number from 0 to 100";
    }
}

static void judge_setting(struct rail_call *call, const struct setting *setting,
                          const struct field *field)
{
    struct arena *arena = call->arena;
    const struct node *node = field->node;
    const struct crd_shape *shape = crd_shape_field(&crd_shape_kubelet, text_of(setting->name));
    int64_t most = setting->maximum == 0 ? INT32_MAX : setting->maximum;
    int64_t number = 0;
    bool expression = setting->may_be_expression && node_is(node, NODE_STRING);
    struct text fix = arena_printf(arena, "Write %s.", wanted(setting, shape));
    if (!crd_shape_fits(shape, node) && !expression)
        report(call, SEVERITY_RAIL, field, fix, "%s is %s where %s is wanted" NEVER_USED,
               setting->name, node_kind_name(node->kind), wanted(setting, shape));
    else if (expression && !text_has_placeholder(node_string(node)))
        report(call, SEVERITY_WARN, field,
               TEXT("Write a whole number without quotes, or turn NodeClassCEL on."),
               "%s is the string \"%.*s\", and " GATED, setting->name,
               TEXT_ARGS(node_string(node)));
    else if (node_integer(node, &number) && (number < 0 || number > most))
        report(call, SEVERITY_RAIL, field, fix, "%s cannot be %lld" NEVER_USED, setting->name,
               (long long)number);
    else if (setting->entries != NULL)
        FOR_MEMBERS(entry, arena, field)
            judge_entry(call, setting->entries, entry);
}

/* ---- settings beside each other ---- */

/* Each signal of one needs its like in the other. */
static void judge_pair(struct rail_call *call, const struct field *kubelet, const char *one,
                       const char *other)
{
    struct arena *arena = call->arena;
    const struct field *map = field_get(arena, kubelet, one);
    const struct node *partners = node_get(kubelet->node, other);
    FOR_MEMBERS(signal, arena, map)
        if (node_member(partners, signal->key) == NULL)
            report(call, SEVERITY_RAIL, signal,
                   arena_printf(arena, "Add %.*s to %s.", TEXT_ARGS(signal->key), other),
                   "\"%.*s\" is not in %s" NEVER_USED, TEXT_ARGS(signal->key), other);
}

static void judge_collection(struct rail_call *call, const struct field *kubelet)
{
    const struct field *high = field_get(call->arena, kubelet, "imageGCHighThresholdPercent");
    int64_t from = 0;
    int64_t to = 0;
    if (node_integer(high->node, &from) &&
        node_integer(node_get(kubelet->node, "imageGCLowThresholdPercent"), &to) && from <= to)
        report(call, SEVERITY_RAIL, high,
               TEXT("Write a higher one, or a lower imageGCLowThresholdPercent."),
               "imageGCHighThresholdPercent %lld is not above imageGCLowThresholdPercent "
               "%lld" NEVER_USED,
               (long long)from, (long long)to);
}

/* ---- what a family of images takes ---- */

/* Of other families a kubelet gets the settings as they are: docs/reference/karpenter.md 5.8. */
static bool takes_mapped_alone(struct text family)
{
    return TEXT_IS_ONE_OF(family, "AL2", "Bottlerocket", "Windows2019", "Windows2022",
                          "Windows2025");
}

static bool is_mapped(struct text name)
{
    for (size_t i = 0; i < COUNT_OF(settings); i++)
        if (text_is(name, settings[i].name))
            return !settings[i].not_mapped;
    return false;
}

static void judge_for_family(struct rail_call *call, const struct field *kubelet)
{
    struct arena *arena = call->arena;
    struct text family;
    node_class_family(call->object, arena, &family);
    if (!takes_mapped_alone(family))
        return;
    FOR_MEMBERS(setting, arena, kubelet) {
        const struct crd_shape *shape = crd_shape_field(&crd_shape_kubelet, setting->key);
        if (shape != NULL && shape->type != SHAPE_OWNED && node_is_given(setting->node) &&
            !is_mapped(setting->key))
            report(call, SEVERITY_RAIL, setting, TEXT("Remove it, or set it in userData."),
                   "On images of %.*s %.*s does not reach the kubelet" NEVER_USED,
                   TEXT_ARGS(family), TEXT_ARGS(setting->key));
    }
    const struct field *density = field_get(arena, kubelet, "podsPerCore");
    if (text_is(family, "Bottlerocket") && node_is_given(density->node))
        report(call, SEVERITY_WARN, density, TEXT("Remove it, or write maxPods."),
               "Bottlerocket has no podsPerCore: " FROM_1_15, "it");
    const struct field *servers = field_get(arena, kubelet, "clusterDNS");
    if (node_is(servers->node, NODE_LIST) && node_count(servers->node) > 1)
        report(call, SEVERITY_WARN, servers, TEXT("Leave the first alone."),
               "Images of %.*s take one address: " FROM_1_15, TEXT_ARGS(family), "the others");
}

/* ---- the whole ---- */

static const struct crd_shape_words words = {
    .lacks = "A kubelet has no setting",
    .effect = "Karpenter refuses the EC2NodeClass and launches no node of it.",
    .null_is_nothing = true,
};

void node_class_judge_kubelet(struct rail_call *call)
{
    struct arena *arena = call->arena;
    const struct field *kubelet = field_at(arena, call->object->root, "spec.kubelet");
    if (object_is_v1beta1(call->object))
        return; /* it has no such field */
    crd_shape_judge_names(call, &crd_shape_kubelet, kubelet, &words);
    for (size_t i = 0; i < COUNT_OF(settings); i++) {
        const struct field *field = field_get(arena, kubelet, settings[i].name);
        if (node_is_given(field->node))
            judge_setting(call, &settings[i], field);
    }
    const struct field *taints = field_get(arena, kubelet, "registerWithTaints");
    if (node_is_given(taints->node))
        report(call, SEVERITY_RAIL, taints, TEXT("Remove it, and name taints in the NodePools."),
               "Karpenter sets registerWithTaints itself, so that nodes come up with their "
               "taints" NEVER_USED);
    judge_pair(call, kubelet, "evictionSoft", "evictionSoftGracePeriod");
    judge_pair(call, kubelet, "evictionSoftGracePeriod", "evictionSoft");
    judge_collection(call, kubelet);
    judge_for_family(call, kubelet);
}
