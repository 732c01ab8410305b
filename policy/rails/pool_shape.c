/* The rail pool-shape: NodePools that are not what they look like. */
#include "policy/rails/pool_shape.h"

/* ---- the fields there are, as the CRDs of the two versions have them ---- */

enum { FIELDS_MAX = 12 };
struct place_of_fields {
    const char *path;                  /* a part that ends in [] is a list */
    const char *names[FIELDS_MAX + 1]; /* ends with NULL */
};

static const struct place_of_fields v1[] = {
    {"", {"apiVersion", "kind", "metadata", "spec", "status"}},
    {"spec", {"disruption", "limits", "replicas", "template", "weight"}},
    {"spec.disruption", {"budgets", "consolidateAfter", "consolidationPolicy"}},
    {"spec.disruption.budgets[]", {"duration", "nodes", "reasons", "schedule"}},
    {"spec.template", {"metadata", "spec"}},
    {"spec.template.metadata", {"annotations", "labels"}},
    {"spec.template.spec",
     {"expireAfter", "nodeClassRef", "requirements", "startupTaints", "taints",
      "terminationGracePeriod"}},
    {"spec.template.spec.nodeClassRef", {"group", "kind", "name"}},
    {"spec.template.spec.requirements[]", {"key", "minValues", "operator", "values"}},
    {"spec.template.spec.taints[]", {"effect", "key", "timeAdded", "value"}},
    {"spec.template.spec.startupTaints[]", {"effect", "key", "timeAdded", "value"}},
    {0},
};
static const struct place_of_fields v1beta1[] = {
    {"", {"apiVersion", "kind", "metadata", "spec", "status"}},
    {"spec", {"disruption", "limits", "template", "weight"}},
    {"spec.disruption", {"budgets", "consolidateAfter", "consolidationPolicy", "expireAfter"}},
    {"spec.disruption.budgets[]", {"duration", "nodes", "schedule"}},
    {"spec.template", {"metadata", "spec"}},
    {"spec.template.metadata", {"annotations", "labels"}},
    {"spec.template.spec",
     {"kubelet", "nodeClassRef", "requirements", "resources", "startupTaints", "taints"}},
    {"spec.template.spec.kubelet",
     {"clusterDNS", "cpuCFSQuota", "evictionHard", "evictionMaxPodGracePeriod", "evictionSoft",
      "evictionSoftGracePeriod", "imageGCHighThresholdPercent", "imageGCLowThresholdPercent",
      "kubeReserved", "maxPods", "podsPerCore", "systemReserved"}},
    {"spec.template.spec.resources", {"requests"}},
    {"spec.template.spec.nodeClassRef", {"apiVersion", "kind", "name"}},
    {"spec.template.spec.requirements[]", {"key", "minValues", "operator", "values"}},
    {"spec.template.spec.taints[]", {"effect", "key", "timeAdded", "value"}},
    {"spec.template.spec.startupTaints[]", {"effect", "key", "timeAdded", "value"}},
    {0},
};

/* Names of other versions, and of other kinds. */
static const struct {
    const char *name, *fix;
} elsewhere[] = {
    {"kubelet", "move it to the EC2NodeClass, as spec.kubelet"},
    {"ttlSecondsUntilExpired", "write spec.template.spec.expireAfter, as in 720h"},
    {"ttlSecondsAfterEmpty", "write spec.disruption.consolidationPolicy: WhenEmpty, and "
                             "consolidateAfter beside it"},
    {"consolidation", "write spec.disruption.consolidationPolicy: WhenEmptyOrUnderutilized"},
    {"providerRef", "write spec.template.spec.nodeClassRef"},
    {"provider", "write spec.template.spec.nodeClassRef, and an EC2NodeClass"},
    {"apiVersion", "write group, as in karpenter.k8s.aws"},
    {"group", "write apiVersion, as in karpenter.k8s.aws/v1beta1"},
};

struct inspection {
    struct judgement *judgement;
    const struct place_of_fields *places;
    const char *version;
};

static bool has_name(const struct place_of_fields *place, struct text name)
{
    for (size_t i = 0; place->names[i] != NULL; i++)
        if (text_is(name, place->names[i]))
            return true;
    return false;
}

/* Where a field of that name does stand; items of lists are not meant. */
static const char *home_of(const struct inspection *inspection, struct text name)
{
    for (const struct place_of_fields *place = inspection->places + 1; place->path != NULL; place++)
        if (!text_ends_with(text_of(place->path), TEXT("[]")) && has_name(place, name) &&
            !text_ends_with(text_of(place->path), TEXT("nodeClassRef")))
            return place->path;
    return NULL;
}

/* Empty when nothing tells what was meant. */
static struct text fix_of(const struct inspection *inspection, const struct place_of_fields *place,
                          struct text name)
{
    enum { TYPO_EDITS = 2 };
    struct arena *arena = inspection->judgement->arena;
    struct text names[FIELDS_MAX];
    size_t count = 0;
    while (place->names[count] != NULL) {
        names[count] = text_of(place->names[count]);
        count++;
    }
    size_t nearest = text_nearest(name, names, count, TYPO_EDITS);
    if (nearest < count)
        return arena_printf(arena, "did you mean %.*s?", TEXT_ARGS(names[nearest]));
    const char *home = home_of(inspection, name);
    if (home != NULL)
        return arena_printf(arena, "move it to %s.%.*s", home, TEXT_ARGS(name));
    for (size_t i = 0; i < COUNT_OF(elsewhere); i++)
        if (text_is(name, elsewhere[i].name))
            return text_of(elsewhere[i].fix);
    return TEXT("");
}

static void judge_map(const struct inspection *inspection, const struct place_of_fields *place,
                      const struct field *map)
{
    struct arena *arena = inspection->judgement->arena;
    for (size_t i = 0; node_is(map->node, NODE_MAP) && i < node_count(map->node); i++) {
        struct text name = {map->node->members[i].key, map->node->members[i].key_size};
        if (has_name(place, name))
            continue;
        struct text fix = fix_of(inspection, place, name);
        /* A Karpenter newer than these tables may know it. */
        bool may_exist = fix.size == 0;
        judgement_report(
            inspection->judgement,
            &(struct draft){
                .severity = may_exist ? SEVERITY_WARN : SEVERITY_RAIL,
                .field = field_member(arena, map, name),
                .found = name,
                .statement = arena_printf(
                    arena,
                    "found \"%.*s\" where a NodePool of %s has no such field%s: the API server "
                    "drops it silently",
                    TEXT_ARGS(name), inspection->version,
                    may_exist ? ", unless your Karpenter is newer than what is known here" : ""),
                .fix = may_exist ? TEXT("remove it") : fix,
            });
    }
}

static void judge_place(const struct inspection *inspection, const struct place_of_fields *place)
{
    struct arena *arena = inspection->judgement->arena;
    const struct field *root = inspection->judgement->object->root;
    struct text path = text_of(place->path);
    bool of_list = text_ends_with(path, TEXT("[]"));
    if (of_list)
        path.size -= 2;
    const struct field *field =
        path.size == 0 ? root : field_at(arena, root, arena_text(arena, path).data);
    if (!of_list)
        judge_map(inspection, place, field);
    for (size_t i = 0; of_list && node_is(field->node, NODE_LIST) && i < node_count(field->node);
         i++)
        judge_map(inspection, place, field_item(arena, field, i));
}

/* A Provisioner under the newer name. */
static void report_version(struct judgement *judgement, struct text version)
{
    struct arena *arena = judgement->arena;
    const struct field *field = field_get(arena, judgement->object->root, "apiVersion");
    judgement_report(judgement, &(struct draft){
                                    .field = field,
                                    .found = node_string(field->node),
                                    .statement = arena_printf(arena,
                                                              "found NodePool of %.*s, which has "
                                                              "none: its pools are Provisioners",
                                                              TEXT_ARGS(version)),
                                    .fix = TEXT("write karpenter.sh/v1, and the fields of v1"),
                                    .replacement = TEXT("karpenter.sh/v1"),
                                });
}

void pool_shape_judge_fields(struct judgement *judgement, const struct pool *pool)
{
    struct text version = TEXT("");
    text_split(pool->object->api_version, '/', NULL, &version);
    bool old = text_is(version, "v1beta1");
    bool never = text_starts_with(version, TEXT("v1alpha"));
    if (!old && !never && !text_is(version, "v1"))
        return;
    if (never)
        report_version(judgement, version);
    struct inspection inspection = {judgement, old ? v1beta1 : v1, old ? "v1beta1" : "v1"};
    for (const struct place_of_fields *place = inspection.places; place->path != NULL; place++)
        judge_place(&inspection, place);
}

/* ---- the rail ---- */

static void judge_replicas(struct judgement *judgement, const struct pool *pool)
{
    const struct field *replicas = field_at(judgement->arena, pool->object->root, "spec.replicas");
    if (!policy_set_karpenter(judgement->world->policies)->no_static_capacity ||
        !pool_is_static(pool))
        return;
    judgement_report(
        judgement,
        &(struct draft){
            .field = replicas,
            .found = node_text(replicas->node),
            .statement = arena_printf(judgement->arena,
                                      "found %.*s, but Karpenter's feature gate StaticCapacity is "
                                      "off: the pool launches no node, for no pod",
                                      TEXT_ARGS(node_text(replicas->node))),
            .fix = TEXT("remove it, so that nodes are bought for the pods there are, or switch "
                        "the gate on"),
        });
}

static void judge(struct judgement *judgement, const void *settings)
{
    (void)settings;
    struct pool pool;
    if (!pool_read(judgement->object, judgement->arena, &pool))
        return;
    pool_shape_judge_fields(judgement, &pool);
    judge_replicas(judgement, &pool);
    pool_shape_judge_values(judgement, &pool);
    pool_shape_judge_keys(judgement, &pool);
    pool_shape_judge_names(judgement, &pool);
    pool_shape_judge_types(judgement, &pool);
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
        "or "
        "from v1beta1, too. Of a name that means nothing to it the rail only warns, since a newer "
        "Karpenter may know it.\n\n"
        "It finds what the API server takes and Karpenter then refuses, so that the pool is never "
        "used: labels and requirements of Karpenter's own domains, requirements without an "
        "operator or with too few values, keys and values that no label or taint can have, "
        "capacity types that do not exist, the same taint twice, durations beyond 292 years; and, "
        "where the policy says that Karpenter's gate StaticCapacity is off, replicas.\n\n"
        "It warns of a requirement whose key is nearly a well-known one (node.kubernetes.io/arch, "
        "a bare zone; eks.amazonaws.com/instance-category on a pool of an EC2NodeClass): Karpenter "
        "takes it for a label of the pool's own, and it narrows nothing. Labels of the template "
        "may be meant so, and are left alone.\n\n"
        "It finds a pool whose requirements leave no instance type, with the requirements that "
        "rule each other out; where only the built-in catalogue does not know a name, that is a "
        "warning, since catalogues age. And it finds a pool that may launch any machine, "
        "accelerators and bare metal among them: without any requirement that is a finding, with "
        "requirements on architecture, zone and capacity type alone a warning.",
    .example = "pool-shape:\n"
               "  mode: enforce\n",
    .kinds = KIND_BIT(KIND_NODE_POOL),
    .keys = keys,
    .judge = judge,
};
