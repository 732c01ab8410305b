/* The rail pool-shape: NodePools that are not what they look like. */
#include "policy/rails/pool_shape.h"

#include "kube/label.h"
#include "kube/placeholder.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/time.h"
#include "policy/policy_set.h"
#include "policy/rails/capacity_spot.h"
#include "policy/rails/crd_shape.h"
#include "policy/rails/duration_fault.h"
#include "policy/rails/requirement_fault.h"
#include "policy/reading.h"

/* ---- fields ---- */

/* Names of other versions, and of other kinds. */
static const struct moved_field moved[] = {
    {"kubelet", "Move it to the EC2NodeClass, as spec.kubelet."},
    {"ttlSecondsUntilExpired", "Write spec.template.spec.expireAfter, such as 720h."},
    {"ttlSecondsAfterEmpty", "Write spec.disruption.consolidationPolicy: WhenEmpty, and "
                             "consolidateAfter beside it."},
    {"consolidation", "Write spec.disruption.consolidationPolicy: WhenEmptyOrUnderutilized."},
    {"providerRef", "Write spec.template.spec.nodeClassRef."},
    {"provider", "Write spec.template.spec.nodeClassRef, and an EC2NodeClass."},
    {"apiVersion", "Instead write group: "},
    {"apiGroup", "Rename it to group."},
    {"group", "Write apiVersion: karpenter.k8s.aws/v1beta1 instead."},
    {0},
};

static const struct crd_shape_words words_v1 = {SHAPE_DROPPED("A NodePool of v1"), .moved = moved};
static const struct crd_shape_words words_v1beta1 = {SHAPE_DROPPED("A NodePool of v1beta1"),
                                                     .moved = moved};

/* A Provisioner under the newer name. */
static void report_version(struct rail_call *call, struct text version)
{
    struct arena *arena = call->arena;
    const struct field *field = field_get(arena, call->object->root, "apiVersion");
    report_with(call, .field = field, .found = node_string(field->node),
                .statement = arena_printf(arena,
                                          "karpenter.sh/%.*s has no NodePools. Its pools are "
                                          "Provisioners.",
                                          TEXT_ARGS(version)),
                .fix = TEXT("Write apiVersion: karpenter.sh/v1, and the fields of v1."),
                .replacement = TEXT("karpenter.sh/v1"));
}

static void judge_fields(struct rail_call *call, const struct pool *pool)
{
    struct text version = TEXT("");
    text_split(pool->object->api_version, '/', NULL, &version);
    bool old = text_is(version, "v1beta1");
    bool never = text_starts_with(version, TEXT("v1alpha"));
    if (!old && !never && !text_is(version, "v1"))
        return;
    if (never)
        report_version(call, version);
    crd_shape_judge_names(call, old ? &crd_shape_node_pool_v1beta1 : &crd_shape_node_pool_v1,
                          call->object->root, old ? &words_v1beta1 : &words_v1);
}

/* ---- a node class that is not named whole ---- */

static bool asks_of_auto_mode(const struct pool *pool)
{
    FOR_EACH(requirement, &pool->requirements)
        if (label_is_in_domain(requirement->key, TEXT("eks.amazonaws.com")))
            return true;
    return text_is(pool->node_class_kind, "NodeClass");
}

/* Empty: the kind is nobody's that is known. */
static struct text group_meant(const struct pool *pool)
{
    struct text kind = pool->node_class_kind;
    if (pool->node_class_group.size > 0)
        return pool->node_class_group;
    if (asks_of_auto_mode(pool))
        return TEXT("eks.amazonaws.com");
    return kind.size == 0 || text_is(kind, "EC2NodeClass") ? TEXT("karpenter.k8s.aws") : TEXT("");
}

/* Of v1 the API server wants group, kind and name. An apiVersion is found by judge_fields. */
static void judge_reference(struct rail_call *call, const struct pool *pool)
{
    struct arena *arena = call->arena;
    const struct field *reference =
        field_at(arena, pool->object->root, "spec.template.spec.nodeClassRef");
    if (!text_is(pool->object->api_version, "karpenter.sh/v1") ||
        !node_is(reference->node, NODE_MAP) ||
        node_is_given(node_get(reference->node, "apiVersion")) ||
        node_is_given(node_get(reference->node, "apiGroup")))
        return;
    struct text group = group_meant(pool);
    const struct {
        const char *name;
        struct text meant;
    } parts[] = {{"group", group}, {"kind", node_class_kind_of(group)}, {"name", {0}}};
    struct text_list missing = {0}, to_add = {0};
    bool known = true;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (node_string(node_get(reference->node, parts[i].name)).size > 0)
            continue;
        struct text meant = parts[i].meant.size > 0 ? parts[i].meant : TEXT("...");
        known &= parts[i].meant.size > 0;
        *LIST_PUSH(arena, &missing) = arena_printf(arena, "no %s", parts[i].name);
        *LIST_PUSH(arena, &to_add) =
            arena_printf(arena, "%s: %.*s", parts[i].name, TEXT_ARGS(meant));
    }
    if (missing.count == 0)
        return;
    report(call, SEVERITY_RAIL, reference,
           arena_printf(arena, "Add to %.*s: {%.*s}%s.", TEXT_ARGS(field_path(arena, reference)),
                        TEXT_ARGS(texts_join(to_add.items, to_add.count, SIZE_MAX, arena)),
                        known ? "" : ", as the node class has it"),
           "The nodeClassRef has %.*s, so the API server refuses the pool.",
           TEXT_ARGS(texts_and(missing.items, missing.count, SIZE_MAX, arena)));
}

/* ---- an EC2NodeClass that is not there ---- */

static struct text nearest_class(const struct snapshot *snapshot, struct text name,
                                 struct arena *arena)
{
    size_t count = snapshot_count(snapshot, KIND_EC2_NODE_CLASS);
    struct text *names = ARENA_ARRAY(arena, count, struct text);
    for (size_t i = 0; i < count; i++)
        names[i] = snapshot_object(snapshot, KIND_EC2_NODE_CLASS, i)->name;
    /* Where there is but one, it is meant, or else nothing is. */
    size_t nearest = count == 1 ? 0 : text_nearest(name, names, count, TYPO_EDITS);
    return nearest < count ? names[nearest] : TEXT("");
}

static void judge_class(struct rail_call *call, const struct pool *pool)
{
    const struct snapshot *snapshot = call->world->snapshot;
    struct arena *arena = call->arena;
    struct text name = pool->node_class_name;
    /* Where none is visible the classes may be in other hands. */
    if (name.size == 0 || !text_is(pool->node_class_group, "karpenter.k8s.aws") ||
        !text_is(pool->node_class_kind, "EC2NodeClass") ||
        !world_sees(call->world, KIND_BIT(KIND_EC2_NODE_CLASS)) ||
        snapshot_count(snapshot, KIND_EC2_NODE_CLASS) == 0 ||
        pool_node_class(snapshot, pool) != NULL)
        return;
    struct text near = nearest_class(snapshot, name, arena);
    report(call, SEVERITY_WARN,
           field_at(arena, pool->object->root, "spec.template.spec.nodeClassRef.name"),
           near.size > 0 ? arena_printf(arena, "Name %.*s, or add an EC2NodeClass %.*s.",
                                        TEXT_ARGS(near), TEXT_ARGS(name))
                         : TEXT("Name an EC2NodeClass that exists, or add one of this name."),
           "No visible EC2NodeClass is named \"%.*s\". Karpenter does not use the pool until there "
           "is one.",
           TEXT_ARGS(name));
}

/* ---- taints: the API server leaves these to Karpenter ---- */

static void judge_taint_value(struct rail_call *call, const struct taint *taint)
{
    /* Karpenter wants of a value what it wants of a key. */
    if (taint->value.size == 0 || label_key_is_valid(taint->value) ||
        text_has_placeholder(taint->value))
        return;
    report(call, SEVERITY_RAIL, field_get(call->arena, taint->field, "value"),
           TEXT("Write at most 63 letters, digits, '-', '_' and '.'."),
           "\"%.*s\" cannot be the value of a taint" NEVER_USED, TEXT_ARGS(taint->value));
}

static void judge_twice(struct rail_call *call, const struct taint *taint, struct text_map *seen)
{
    struct arena *arena = call->arena;
    struct text name =
        arena_printf(arena, "%.*s:%.*s", TEXT_ARGS(taint->key), TEXT_ARGS(taint->effect));
    if (text_map_add(seen, arena, name))
        return;
    report_found(
        call, SEVERITY_RAIL, taint->field, taint->key, TEXT("Remove one of them."),
        "The taint %.*s with the effect %.*s stands twice in taints and startupTaints" NEVER_USED,
        TEXT_ARGS(taint->key), TEXT_ARGS(taint->effect));
}

static void judge_taints_of(struct rail_call *call, const struct taints *taints,
                            struct text_map *seen)
{
    FOR_EACH(taint, taints) {
        requirement_judge_key(call, field_get(call->arena, taint->field, "key"), taint->key,
                              "taint", &requirements_of_pool);
        judge_taint_value(call, taint);
        judge_twice(call, taint, seen);
    }
}

static void judge_taints(struct rail_call *call, const struct pool *pool)
{
    struct text_map seen = {0};
    judge_taints_of(call, &pool->taints, &seen);
    judge_taints_of(call, &pool->startup_taints, &seen);
}

/* ---- durations that are too long for Karpenter ---- */

/* Karpenter counts in nanoseconds, which fill 63 bits after 292 years. */
static void judge_duration(struct rail_call *call, const struct field *field, const char *fix)
{
    enum { LONGEST_H = 2562047 };
    static const int64_t longest_s = INT64_MAX / 1000000000;
    struct text found = node_string(field->node);
    int64_t seconds = 0;
    if (!node_is_given(field->node) || duration_is_malformed(field) ||
        text_has_placeholder(found) || (duration_parse(found, &seconds) && seconds <= longest_s))
        return;
    report(call, SEVERITY_RAIL, field, text_of(fix),
           "Karpenter cannot read \"%.*s\". The longest duration is %dh.", TEXT_ARGS(found),
           LONGEST_H);
}

static void judge_durations(struct rail_call *call)
{
    static const struct {
        const char *path, *fix;
    } places[] = {
        {"spec.disruption.consolidateAfter", "Write Never, if that is meant."},
        {"spec.disruption.expireAfter", "Write a duration such as 720h."},
        {"spec.template.spec.expireAfter", "Write a duration such as 720h."},
        {"spec.template.spec.terminationGracePeriod", "Remove it, if a drain may take any time."},
    };
    struct arena *arena = call->arena;
    const struct field *root = call->object->root;
    for (size_t i = 0; i < COUNT_OF(places); i++)
        judge_duration(call, field_at(arena, root, places[i].path), places[i].fix);

    FOR_FIELDS(budget, arena, field_at(arena, root, "spec.disruption.budgets"))
        judge_duration(call, field_get(arena, budget, "duration"),
                       "Remove schedule and duration, if the budget is to hold always.");
}

/* ---- values that are still to be filled in ---- */

static void judge_placeholders(struct rail_call *call)
{
    struct arena *arena = call->arena;
    static const char *const but[] = {NULL};
    const struct field *found =
        field_placeholder(arena, field_get(arena, call->object->root, "spec"), but);
    if (found != NULL)
        report(call, SEVERITY_UNDECIDED, found,
               TEXT("Fill it in first, as envsubst or a chart does, and check the result."),
               "\"%.*s\" holds a placeholder. The pool is judged without such values.",
               TEXT_ARGS(node_string(found->node)));
}

/* ---- the rail ---- */

static void judge_replicas(struct rail_call *call, const struct pool *pool)
{
    const struct field *replicas = field_at(call->arena, pool->object->root, "spec.replicas");
    if (!policy_set_karpenter(call->world->policies)->no_static_capacity || !pool_is_static(pool))
        return;
    report(call, SEVERITY_RAIL, replicas,
           TEXT("Remove replicas, so that nodes are bought for the pods there are, or switch "
                "the gate on."),
           "Karpenter's feature gate StaticCapacity is off, so a pool with replicas: %.*s launches "
           "no node, for no pod.",
           TEXT_ARGS(node_text(replicas->node)));
}

bool pool_shape_tells_of_capacity(const struct rail_call *call)
{
    const struct policy *policy = call->policy;
    for (size_t i = 0; i < policy->rail_count; i++)
        if (policy->rails[i].rail == &rail_capacity_types)
            return false;
    return true;
}

/* What an open pool buys is the least that nobody chose: the fix for that names a type. */
static void judge_capacity(struct rail_call *call, const struct pool *pool)
{
    if (pool_shape_tells_of_capacity(call))
        capacity_judge_spot(
            call, pool,
            &(struct spot_rules){
                .on_demand = true,
                .tells_unasked = !pool_shape_is_open(call->world->catalog, pool, call->arena),
                .unasked = SEVERITY_AUDIT,
            });
}

static void judge(struct rail_call *call)
{
    const struct pool *pool = call_pool(call);
    if (pool == NULL)
        return;
    judge_fields(call, pool);
    judge_reference(call, pool);
    judge_replicas(call, pool);
    pool_shape_judge_values(call, pool);
    pool_shape_judge_keys(call, pool);
    judge_class(call, pool);
    judge_taints(call, pool);
    judge_durations(call);
    pool_shape_judge_types(call, pool);
    judge_capacity(call, pool);
    judge_placeholders(call);
}

static const struct key keys[] = {{0}};

const struct rail rail_pool_shape = {
    .name = "pool-shape",
    .summary = "NodePools that are what they look like",
    .detail =
        "The API server drops fields that it does not know, and says so only to those who ask. A "
        "NodePool with its requirements, taints or labels directly under spec loses them, and is "
        "open to every pod and every machine. The rail finds fields that a NodePool of its "
        "version does not have, and says where they belong: what is left over from a Provisioner "
        "or from v1beta1, too. Of a name that means nothing to it the rail only warns, since a "
        "newer Karpenter may know it. A nodeClassRef of v1 without group, kind or name, as v1beta1 "
        "allows it, is found with what is missing.\n\n"
        "It finds what the API server takes and Karpenter then refuses, so that the pool is never "
        "used: labels and requirements of Karpenter's own domains, requirements without an "
        "operator or with too few values, keys and values that no label or taint can have, "
        "capacity types that do not exist, the same taint twice, durations beyond 292 years; and, "
        "where the policy says that Karpenter's gate StaticCapacity is off, replicas. Of a pool "
        "whose EC2NodeClass is not there, while others are visible, it warns.\n\n"
        "It warns of a requirement whose key is nearly a well-known one (node.kubernetes.io/arch, "
        "a bare zone; eks.amazonaws.com/instance-category on a pool of an EC2NodeClass): Karpenter "
        "takes it for a label of the pool's own, and it narrows nothing. Labels of the template "
        "may be meant so, and are left alone.\n\n"
        "It finds a pool whose requirements leave no instance type, with the requirements that "
        "rule each other out, or the value that was meant (x86_64 is amd64; 64 GiB of "
        "instance-memory are 65536, in MiB; 0 GPUs are the operator DoesNotExist; a region is no "
        "zone); where only the built-in catalogue does not know a name, or the hardware of a type "
        "that may fit, that is a warning, since catalogues age. It finds requirements and labels "
        "that leave no zone or no capacity type, too. minValues that the types left cannot meet "
        "are found as well, and warned "
        "of where at least half of them are there; with minValuesPolicy: BestEffort in the policy "
        "they do no harm. And it finds a pool that may launch any machine, accelerators and bare "
        "metal among them: without any requirement that is a finding, with requirements on "
        "architecture, zone and capacity type alone a warning. It warns of a pool that leaves both "
        "architectures, as v1 has no default, unless the images of a visible EC2NodeClass decide; "
        "and of NotIn with values that no type has. A pool that is left one type, which it does "
        "not name, is noted. Unless the policy names capacity-types, it warns of a pool that buys "
        "spot nodes of fewer than 15 types, as that rail does, and notes one that buys them "
        "unasked. Of a placeholder such "
        "as ${ZONE} it says once that it is there, and "
        "judges the rest.",
    .example = "pool-shape:\n"
               "  mode: enforce\n",
    .kinds = KIND_BIT(KIND_NODE_POOL),
    .keys = keys,
    .judge = judge,
};
