/* The rail topology-keys: topologyKeys that nodes carry. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/label.h"
#include "kube/placeholder.h"
#include "kube/pod.h"
#include "kube/selector.h"
#include "kube/snapshot.h"
#include "kube/topology.h"
#include "policy/reading.h"
#include "solver/well_known.h"

struct settings {
    struct key_strings allow;
    bool from_node_pools, self_match;
};

static const struct key keys[] = {
    {.name = "allow",
     .type = KEY_STRINGS,
     .offset = offsetof(struct settings, allow),
     .summary = "the keys that pods may spread and group by",
     .default_value = "[" LABEL_ZONE ", " LABEL_HOSTNAME ", " LABEL_REGION ", " LABEL_CAPACITY_TYPE
                      ", " LABEL_ARCH ", " LABEL_OS ", " LABEL_INSTANCE_TYPE "]"},
    {.name = "fromNodePools",
     .type = KEY_BOOL,
     .offset = offsetof(struct settings, from_node_pools),
     .summary = "also allow what visible NodePools put on their nodes: the keys of their labels "
                "and requirements, and the labels of instance types",
     .default_value = "true"},
    {.name = "selfMatch",
     .type = KEY_BOOL,
     .offset = offsetof(struct settings, self_match),
     .summary = "a spread's labelSelector must select the pod itself",
     .default_value = "false"},
    {0},
};

/* Karpenter labels its nodes with this and with LABEL_NODE_POOL, but makes no places of either. */
#define LABEL_NODE_CLASS "karpenter.k8s.aws/ec2nodeclass"

static bool is_accepted(const struct world *world, const struct settings *settings, struct text key)
{
    return texts_have(settings->allow.items, settings->allow.count, key) ||
           (settings->from_node_pools && !label_is_of_every_place(key) &&
            (some_pool_produces(world->snapshot, key) || catalog_has_key(world->catalog, key)));
}

/* What comes of a key that no node has. kube-scheduler lets an anti-affinity pass there. */
static const char *consequence(const struct topology_term *term)
{
    return term->required && term->use != TOPOLOGY_ANTI_AFFINITY ? "these pods would stay Pending"
                                                                 : "this rule has no effect";
}

/* A key of somebody's own, or one that Karpenter does not know as a place: what speaks against it,
 * as far as can be seen. */
static void explain_foreign_key(const struct rail_call *call, const struct topology_term *term,
                                struct draft *draft)
{
    const struct world *world = call->world;
    struct text key = draft->found;
    bool on_nodes = snapshot_node_values(world->snapshot, key) != NULL;
    bool no_pools = snapshot_pool_count(world->snapshot) == 0;
    bool sees_all = world_sees(world, KIND_BIT(KIND_NODE) | KIND_BIT(KIND_NODE_POOL));
    bool of_pool = text_is(key, LABEL_NODE_POOL), of_class = text_is(key, LABEL_NODE_CLASS);
    struct text why;
    if (of_pool || of_class) {
        if (on_nodes || !sees_all || no_pools)
            draft->severity = SEVERITY_WARN;
        why = arena_printf(call->arena,
                           "Karpenter does not spread or group pods by %s: it knows the label "
                           "%.*s of existing nodes alone.",
                           of_pool ? "NodePool" : "EC2NodeClass", TEXT_ARGS(key));
        draft->fix = TEXT("Give each NodePool a label of your own under "
                          "spec.template.metadata.labels and use that, or use an allowed key.");
    } else if (on_nodes) {
        draft->severity = SEVERITY_WARN;
        why = arena_printf(call->arena,
                           "Only existing Nodes have the label \"%.*s\". A new node will not have "
                           "it.",
                           TEXT_ARGS(key));
        draft->fix = TEXT("Add the label to a NodePool, under spec.template.metadata.labels.");
    } else if (no_pools) {
        draft->severity = SEVERITY_UNDECIDED;
        why = arena_printf(call->arena,
                           "No NodePool is visible that could give nodes the label \"%.*s\".",
                           TEXT_ARGS(key));
        draft->fix = advice_to_show(call, KIND_BIT(KIND_NODE_POOL), ", or use an allowed key");
    } else if (!sees_all) {
        draft->severity = SEVERITY_UNDECIDED;
        why = arena_printf(call->arena, "Nodes cannot be seen, and may have the label \"%.*s\".",
                           TEXT_ARGS(key));
        draft->fix = advice_to_show(call, KIND_BIT(KIND_NODE) | KIND_BIT(KIND_NODE_POOL),
                                    ", or use an allowed key");
    } else {
        why = arena_printf(call->arena, "No NodePool gives its nodes the label \"%.*s\", so %s.",
                           TEXT_ARGS(key), consequence(term));
        draft->fix = TEXT("Use an allowed key, or add the label to a NodePool under "
                          "spec.template.metadata.labels.");
    }
    draft->statement = why;
}

/* Where the policy has no key that is as good. */
static struct text use_an_allowed_key(const struct settings *settings, struct arena *arena)
{
    if (settings->allow.count == 0)
        return TEXT("Remove it: the policy allows no key.");
    return arena_printf(arena, "Use a key that the policy allows%s %.*s.",
                        settings->allow.count == 1 ? ":" : ", such as",
                        TEXT_ARGS(settings->allow.items[0]));
}

static void judge_key(struct rail_call *call, const struct settings *settings,
                      const struct topology_term *term)
{
    const struct world *world = call->world;
    struct arena *arena = call->arena;
    struct text key = node_string(term->key->node);
    if (key.size == 0 || is_accepted(world, settings, key) || text_has_placeholder(key))
        return;

    struct text meant =
        label_is_of_every_place(key) ? TEXT("") : label_key_meant(world->catalog, key);
    bool ignored = !term->required && policy_set_karpenter(world->policies)->ignore_preferences;
    struct draft draft = {
        .severity = ignored ? SEVERITY_WARN : SEVERITY_RAIL,
        .field = term->key,
        .found = key,
        .allowed = ALLOWED_LIST(&settings->allow),
        .nearest_to = meant,
    };
    if (meant.size > 0) {
        draft.statement = arena_printf(arena, "Nodes have no label \"%.*s\", so %s.",
                                       TEXT_ARGS(key), consequence(term));
        if (is_accepted(world, settings, meant))
            draft.meant = meant;
        else
            draft.fix = use_an_allowed_key(settings, arena);
    } else if (label_is_of_every_place(key) || !settings->from_node_pools) {
        draft.statement =
            arena_printf(arena, "The policy does not allow the key %.*s here.", TEXT_ARGS(key));
        draft.fix = use_an_allowed_key(settings, arena);
    } else {
        explain_foreign_key(call, term, &draft);
    }
    report_draft(call, &draft);
}

static void judge_self_match(struct rail_call *call, const struct workload *workload,
                             const struct topology_term *term)
{
    struct arena *arena = call->arena;
    const struct field *selector = field_get(arena, term->term, "labelSelector");
    const struct node *labels = node_get(workload->metadata->node, "labels");
    bool missing = !node_is_given(selector->node);
    bool empty = topology_term_counts_nothing(workload, term);
    /* Controllers of custom resources put labels of their own on the pods, as ray.io/group. */
    bool labels_known = workload->object->kind != KIND_CUSTOM && !workload_is_part(workload);
    bool selects = !empty && selector_matches(selector->node, labels);
    if (selects || (!missing && !empty && !labels_known))
        return;
    report_with(call, .field = selector,
                .statement = missing ? TEXT("The spread has no labelSelector, so it counts no pod.")
                             : empty
                                 ? TEXT("The spread's labelSelector is empty, and with that "
                                        "kube-scheduler counts no pod.")
                                 : TEXT("The spread's labelSelector does not select the pod's own "
                                        "labels, so its replicas do not count."),
                .fix = TEXT("Select labels of the pod template."));
}

static void judge(struct rail_call *call)
{
    const struct settings *settings = call->settings;
    struct workload workload;
    if (!call_workload(call, &workload))
        return;
    const struct topology_terms *terms = call_topology(call, &workload);
    FOR_EACH(term, terms) {
        judge_key(call, settings, term);
        if (settings->self_match && term->use == TOPOLOGY_SPREAD &&
            node_is(term->term->node, NODE_MAP))
            judge_self_match(call, &workload, term);
    }
}

const struct rail rail_topology_keys = {
    .name = "topology-keys",
    .summary = "topology keys that new nodes really carry",
    .detail =
        "A topologyKey names a node label. A key that no node carries leaves a pod pending for "
        "ever (DoNotSchedule, required affinity) or does nothing (ScheduleAnyway, preferred "
        "terms, anti-affinity). The rail reads topologySpreadConstraints, podAffinity and "
        "podAntiAffinity, required and preferred.\n\n"
        "Beta and CSI spellings of the zone and its kin, bare words such as \"zone\" or "
        "\"hostname\", and well-known keys misspelt by a letter or two are always findings, with "
        "the right key as the fix, unless a visible NodePool produces that very label. Any other "
        "key outside allow is a finding when NodePools are visible and neither they nor the "
        "instance types produce it; with no NodePool visible the rail cannot decide and only "
        "warns. A key that only existing Nodes carry is a warning; where the policy says that "
        "Karpenter ignores preferences, so is every wrong key of ScheduleAnyway and of preferred "
        "terms.\n\n"
        "Karpenter labels its nodes with their NodePool (karpenter.sh/nodepool) and EC2NodeClass, "
        "but makes no places of these labels: they are findings, too, and warnings where a Node "
        "carries them, or where Nodes and NodePools cannot all be seen.",
    .example = "topology-keys:\n"
               "  mode: enforce\n"
               "  allow: [" LABEL_ZONE ", " LABEL_HOSTNAME "]\n"
               "  selfMatch: true\n",
    .kinds = KINDS_WORKLOADS,
    .sources = KIND_BIT(KIND_NODE_POOL),
    .sources_of = KINDS_WORKLOADS,
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .judge = judge,
};
