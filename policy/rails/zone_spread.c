/* The rail zone-spread: replicas are spread over zones. */
#include "policy/rails/zone_spread.h"

#include "catalog/label.h"
#include "kube/autoscaler.h"
#include "kube/label.h"
#include "kube/pod.h"
#include "kube/selector.h"
#include "kube/topology.h"
#include "kube/zone.h"
#include "policy/reading.h"
#include "solver/well_known.h"

static const struct key keys[] = {
    {.name = "minReplicas",
     .type = KEY_INTEGER,
     .offset = offsetof(struct zone_spread, min_replicas),
     .summary = "workloads with fewer replicas are left alone",
     .default_value = "2",
     .minimum = 2,
     .maximum = 100000},
    {.name = "action",
     .type = KEY_ENUM,
     .offset = offsetof(struct zone_spread, action),
     .summary = "require: a workload that is not spread is a finding; default: its Pods are given "
                "a spread when they are created",
     .default_value = "require",
     .choices = (const char *const[]){"require", "default", NULL}},
    {.name = "whenUnsatisfiable",
     .type = KEY_ENUM,
     .offset = offsetof(struct zone_spread, when_unsatisfiable),
     .summary = "of the spread that is added; a Pod with a bound zonal volume gets ScheduleAnyway "
                "all the same",
     .default_value = "ScheduleAnyway",
     .choices = (const char *const[]){"ScheduleAnyway", "DoNotSchedule", NULL}},
    {0},
};

static bool is_zone(struct text key)
{
    return zone_key_of(key) != ZONE_KEY_NONE;
}

/* ---- what spreads ---- */

static bool counts_each_alone(const struct rail_call *call, const struct workload *workload,
                              const struct topology_term *term)
{
    return topology_term_own_key(workload, term, call->arena) != NULL;
}

/* A skew of as many as there are lets them all be in one zone while another has none. */
static bool skews_as_far(const struct topology_term *term, int64_t replicas)
{
    int64_t skew;
    return term->use == TOPOLOGY_SPREAD &&
           node_integer(node_get(term->term->node, "maxSkew"), &skew) && skew >= replicas;
}

/* One that is only preferred is a preference for less in any case. */
static bool is_too_wide(const struct topology_term *term, int64_t replicas)
{
    return term->required && skews_as_far(term, replicas);
}

/* What a term that is keyed by zone does for the replicas. */
static enum spreading spreading_of(const struct rail_call *call, const struct workload *workload,
                                   const struct topology_term *term, int64_t replicas)
{
    if (topology_term_may_select_itself(call->world->snapshot, workload, term))
        return !term->required               ? SPREAD_PREFERRED
               : is_too_wide(term, replicas) ? SPREAD_TOO_WIDE
                                             : SPREAD_OVER_ZONES;
    if (term->use != TOPOLOGY_SPREAD)
        return SPREAD_NOT_AT_ALL;
    return counts_each_alone(call, workload, term) ? SPREAD_EACH_ALONE : SPREAD_MISSES;
}

enum spreading zone_spread_find(const struct rail_call *call, const struct workload *workload,
                                int64_t replicas, const struct topology_term **by)
{
    enum spreading spreading = SPREAD_NOT_AT_ALL;
    if (zone_spread_chooses_places(call, workload))
        return SPREAD_EXEMPT;
    const struct topology_terms *terms = call_topology(call, workload);
    FOR_EACH(term, terms) {
        struct text key = node_string(term->key->node);
        if (zone_spread_follows_pods(call, workload, term))
            return SPREAD_EXEMPT;
        if (!is_zone(key) || term->use == TOPOLOGY_AFFINITY)
            continue;
        enum spreading one = spreading_of(call, workload, term, replicas);
        bool is_better = one <= SPREAD_PREFERRED ? one < spreading : spreading == SPREAD_NOT_AT_ALL;
        if (!is_better)
            continue;
        spreading = one;
        *by = term;
    }
    return spreading;
}

/* ---- the workload ---- */

int64_t zone_spread_replicas(const struct rail_call *call, const struct object *object)
{
    return replicas_read(call->world->snapshot, object).most;
}

bool zone_spread_has_replicas(const struct rail_call *call, const struct object *object,
                              const struct zone_spread *settings)
{
    return zone_spread_replicas(call, object) >= settings->min_replicas;
}

/* A ReplicationController's selector is the labels themselves; where there is none, they are the
 * template's. */
bool zone_spread_selector(const struct object *owner, struct arena *arena, struct node *selector)
{
    const struct node *written = node_at(owner->root->node, "spec.selector");
    const struct node *labels = node_count(written) > 0
                                    ? written
                                    : node_at(owner->root->node, "spec.template.metadata.labels");
    if (node_count(labels) == 0)
        return false;
    if (labels == written && owner->kind != KIND_REPLICATION_CONTROLLER) {
        *selector = *written;
        return true;
    }
    struct member *member = ARENA_NEW(arena, struct member);
    *member = member_of(TEXT("matchLabels"), *labels);
    *selector = node_of_members(member, 1);
    return true;
}

/* ---- what is said ---- */

/* A preference that Karpenter does not look at spreads over the nodes that are there, no more. */
static const char *useful_word(const struct rail_call *call, const struct zone_spread *settings)
{
    bool ignored = policy_set_karpenter(call->world->policies)->ignore_preferences;
    return ignored || settings->when_unsatisfiable == DO_NOT_SCHEDULE ? "DoNotSchedule"
                                                                      : "ScheduleAnyway";
}

/* The selector of the workload on one line; empty when it names none, as a part of one may. */
static struct text selector_line(const struct rail_call *call)
{
    struct node selector;
    return zone_spread_selector(call->object, call->arena, &selector)
               ? node_yaml_line(&selector, call->arena)
               : TEXT("");
}

static struct text fix_of_selector(const struct rail_call *call)
{
    struct text selector = selector_line(call);
    return selector.size == 0
               ? TEXT("Select labels of the pod template.")
               : arena_printf(call->arena, "Set labelSelector: %.*s.", TEXT_ARGS(selector));
}

static bool selector_misses(const struct workload *workload, const struct topology_term *term)
{
    const struct node *selector = node_get(term->term->node, "labelSelector");
    return topology_term_counts_nothing(workload, term) ||
           (!(workload_is_part(workload) && node_is(selector, NODE_MAP)) &&
            !selector_matches(selector, node_get(workload->metadata->node, "labels")));
}

static void add_step(struct text_builder *fix, struct text step)
{
    text_builder_printf(fix, "%s%.*s", fix->size > 0 ? " " : "", TEXT_ARGS(step));
}

/* All that keeps a constraint from spreading the replicas; empty: nothing does but its key. */
static struct text fix_of_constraint(const struct rail_call *call, const struct workload *workload,
                                     const struct topology_term *term, int64_t replicas)
{
    struct text_builder fix = {.arena = call->arena};
    if (selector_misses(workload, term))
        add_step(&fix, fix_of_selector(call));
    if (counts_each_alone(call, workload, term))
        add_step(&fix, TEXT("Remove matchLabelKeys."));
    if (is_too_wide(term, replicas))
        add_step(&fix, TEXT("Set maxSkew: 1."));
    return text_builder_text(&fix);
}

struct text zone_spread_constraints(const struct rail_call *call, const char *when_unsatisfiable)
{
    return arena_printf(call->arena,
                        "[{maxSkew: 1, topologyKey: " LABEL_ZONE
                        ", whenUnsatisfiable: %s, labelSelector: %.*s}]",
                        when_unsatisfiable, TEXT_ARGS(selector_line(call)));
}

static struct text fix_of_missing(const struct rail_call *call, const char *when_unsatisfiable)
{
    return arena_printf(call->arena, "Add to spec.template.spec.topologySpreadConstraints: %.*s.",
                        TEXT_ARGS(zone_spread_constraints(call, when_unsatisfiable)));
}

/* What has no labels can have no spread, and the API server takes no such workload. */
static void report_missing(struct rail_call *call, const struct zone_spread *settings,
                           const struct workload *workload)
{
    if (selector_line(call).size == 0)
        return;
    report_with(call, .field = field_get(call->arena, workload->spec, "topologySpreadConstraints"),
                .statement =
                    TEXT("Nothing spreads the replicas over zones, so they may all be in one."),
                .fix = fix_of_missing(call, useful_word(call, settings)));
}

/* A spread, or an anti-affinity to itself, whose key was meant to be the zone's and is no label of
 * any NodePool. */
static bool find_misspelt(const struct rail_call *call, const struct workload *workload,
                          struct topology_term *found)
{
    const struct world *world = call->world;
    const struct topology_terms *terms = call_topology(call, workload);
    FOR_EACH(term, terms) {
        struct text key = node_string(term->key->node);
        bool spreads = term->use == TOPOLOGY_SPREAD ||
                       (term->use == TOPOLOGY_ANTI_AFFINITY &&
                        topology_term_may_select_itself(call->world->snapshot, workload, term));
        if (spreads && text_is(label_key_meant(world->catalog, key), LABEL_ZONE) &&
            !some_pool_produces(world->snapshot, key)) {
            *found = *term;
            return true;
        }
    }
    return false;
}

/* With the right key alone, a spread may still spread nothing. */
static void report_misspelt(struct rail_call *call, const struct workload *workload,
                            const struct topology_term *term, int64_t replicas)
{
    struct text key = node_string(term->key->node);
    struct text more = fix_of_constraint(call, workload, term, replicas);
    report_with(call, .field = term->key, .found = key,
                .statement = arena_printf(call->arena,
                                          "\"%.*s\" is no label of zones, so this spreads nothing "
                                          "over them.",
                                          TEXT_ARGS(key)),
                .fix = arena_printf(call->arena, "Use topologyKey: " LABEL_ZONE ".%s%.*s",
                                    more.size > 0 ? " " : "", TEXT_ARGS(more)),
                .replacement = more.size > 0 ? TEXT("") : TEXT(LABEL_ZONE));
}

/* A preferred anti-affinity that is made a required one would let no more replicas run than there
 * are zones. */
static void report_preferred(struct rail_call *call, const struct topology_term *by,
                             int64_t replicas)
{
    bool anyway = by->use == TOPOLOGY_SPREAD;
    bool wide = skews_as_far(by, replicas);
    report_as(call, SEVERITY_WARN,
              .field = anyway ? field_get(call->arena, by->term, "whenUnsatisfiable") : by->term,
              .found = anyway ? TEXT("ScheduleAnyway") : TEXT(""),
              .statement =
                  TEXT("Karpenter ignores preferences here, so it may buy every node in one zone."),
              .fix = anyway ? arena_printf(call->arena,
                                           "Set %swhenUnsatisfiable: DoNotSchedule, with which a "
                                           "pod waits when its zone has no room.",
                                           wide ? "maxSkew: 1 and " : "")
                            : fix_of_missing(call, "DoNotSchedule"),
              .replacement = anyway && !wide ? TEXT("DoNotSchedule") : TEXT(""));
}

static void report_misses(struct rail_call *call, const struct workload *workload,
                          const struct topology_term *by, int64_t replicas)
{
    report(call, SEVERITY_RAIL, field_get(call->arena, by->term, "labelSelector"),
           fix_of_constraint(call, workload, by, replicas), "%s",
           topology_term_counts_nothing(workload, by)
               ? "The spread over zones has an empty labelSelector, and with that kube-scheduler "
                 "counts no pod."
               : "The spread over zones does not select the pod's own labels, so its replicas do "
                 "not count.");
}

static void report_each_alone(struct rail_call *call, const struct workload *workload,
                              const struct topology_term *by, int64_t replicas)
{
    const struct field *key = topology_term_own_key(workload, by, call->arena);
    struct text name = node_string(key->node);
    report_with(call, .field = key, .found = name,
                .statement = arena_printf(call->arena,
                                          "Each replica has its own %.*s, so this spread counts "
                                          "each alone and may leave all in one zone.",
                                          TEXT_ARGS(name)),
                .fix = fix_of_constraint(call, workload, by, replicas));
}

static void report_too_wide(struct rail_call *call, const struct topology_term *by,
                            int64_t replicas)
{
    const struct field *skew = field_get(call->arena, by->term, "maxSkew");
    report_with(call, .field = skew, .found = node_text(skew->node),
                .statement = arena_printf(call->arena,
                                          "A skew of %.*s lets all %lld replicas run in one zone.",
                                          TEXT_ARGS(node_text(skew->node)), (long long)replicas),
                .fault = TEXT("The skew lets all replicas run in one zone."),
                .fix = TEXT("Set maxSkew: 1."), .replacement = TEXT("1"));
}

static void judge_spreading(struct rail_call *call, const struct workload *workload)
{
    const struct zone_spread *settings = call->settings;
    int64_t replicas = zone_spread_replicas(call, call->object);
    const struct topology_term *by = NULL;
    struct topology_term misspelt;
    switch (zone_spread_find(call, workload, replicas, &by)) {
    case SPREAD_OVER_ZONES:
    case SPREAD_EXEMPT:
        break;
    case SPREAD_PREFERRED:
        if (policy_set_karpenter(call->world->policies)->ignore_preferences)
            report_preferred(call, by, replicas);
        break;
    case SPREAD_MISSES:
        report_misses(call, workload, by, replicas);
        break;
    case SPREAD_EACH_ALONE:
        report_each_alone(call, workload, by, replicas);
        break;
    case SPREAD_TOO_WIDE:
        report_too_wide(call, by, replicas);
        break;
    case SPREAD_NOT_AT_ALL:
        if (find_misspelt(call, workload, &misspelt))
            report_misspelt(call, workload, &misspelt, replicas);
        else
            report_missing(call, settings, workload);
        break;
    }
}

static void judge(struct rail_call *call)
{
    const struct zone_spread *settings = call->settings;
    struct workload workload;
    if (settings->action != SPREAD_REQUIRE ||
        !zone_spread_has_replicas(call, call->object, settings) || !call_workload(call, &workload))
        return;
    if (!zone_spread_is_held(call, &workload))
        judge_spreading(call, &workload);
    zone_spread_judge_crowd(call, &workload);
}

static void weigh(const void *settings_pointer, const struct karpenter_settings *karpenter,
                  struct place place, struct problems *warnings)
{
    const struct zone_spread *settings = settings_pointer;
    if (settings->action == SPREAD_DEFAULT && settings->when_unsatisfiable == SCHEDULE_ANYWAY &&
        karpenter->ignore_preferences)
        problems_add(warnings, ERROR_POLICY, place,
                     "zone-spread adds ScheduleAnyway to pods, and Karpenter ignores that "
                     "(preferencePolicy: Ignore): it may buy every node in one zone; "
                     "whenUnsatisfiable: DoNotSchedule holds it to the spread");
}

static void change(struct rail_call *call)
{
    const void *settings = call->settings;
    zone_spread_change_pod(call, settings);
}

static bool may_change(const void *settings_pointer)
{
    const struct zone_spread *settings = settings_pointer;
    return settings->action == SPREAD_DEFAULT;
}

const struct rail rail_zone_spread = {
    .name = "zone-spread",
    .summary = "replicas spread over zones",
    .detail =
        "A zone can fail, and replicas that nothing keeps apart may all be in it. A workload is "
        "spread when a topologySpreadConstraint or a podAntiAffinity term, required or preferred, "
        "is keyed by zone and selects the workload's own pods. A term whose namespaceSelector asks "
        "for labels of a Namespace that is not visible counts as one that selects them. A "
        "constraint with DoNotSchedule whose maxSkew is not below the number of replicas spreads "
        "nothing; nor "
        "does one whose matchLabelKeys have a label that each pod of a StatefulSet has of its "
        "own (statefulset.kubernetes.io/pod-name, apps.kubernetes.io/pod-index). Let alone are "
        "those that choose one zone, or their hosts, themselves (nodeName, nodeSelector, or "
        "every "
        "required nodeSelectorTerm; of several zones all replicas may still be in one, so where "
        "a term names a zone, or its id, all terms must be of that zone as far as it is seen; "
        "hosts alone may be in several), and those "
        "that must be where other pods are (required podAffinity keyed by zone or host; beside the "
        "pods of a visible DaemonSet that is in all zones is everywhere). So are "
        "those whose volume or device is in one place: a claim "
        "that one node attaches, a bound volume of one zone, a StorageClass of one zone, a "
        "ResourceClaim that all replicas share. And those for nodes that zones do not tell apart: "
        "Fargate (its scheduler, its compute type, or the label that names a profile), EKS Hybrid "
        "Nodes (where they are only preferred, while such a Node may be there), and pods that pull "
        "no image (imagePullPolicy Never in every container); and containers of an image named "
        "pause with a priority class, which only hold room for other pods. A key such "
        "as \"zone\" spreads nothing; then the fix is the right key.\n\n"
        "A required podAntiAffinity keyed by zone lets one replica run in each zone. Where the "
        "zones of the cluster are known, and the term is known to select the workload's own pods, "
        "more replicas than zones are a finding. With as many, "
        "an update that starts a new pod before an old one ends does not finish: that is a "
        "warning.\n\n"
        "A workload with a visible HorizontalPodAutoscaler counts with its maxReplicas. Replicas "
        "that are set by /scale (kubectl scale) are judged at the workload that is seen. "
        "What autoscalers and other controllers of kube-system set is audited, never denied; of "
        "one elsewhere, such as KEDA's, name the account under match.excludeServiceAccounts.\n\n"
        "With action default nothing is found. Instead each Pod of such a workload, when it is "
        "created, is given a constraint: maxSkew 1, nodeTaintsPolicy Honor, the selector of the "
        "workload, and for the pods of a Deployment matchLabelKeys with pod-template-hash, so that "
        "a rollout counts only its own pods. The workload must be visible. Templates stay as they "
        "are. The scheduler's own default constraints do not apply to a pod that has any.\n\n"
        "DoNotSchedule leaves a pod pending when its zone has no room. A Pod with a volume that "
        "is bound in a zone, or cannot be seen, has no other zone to go to: it always gets "
        "ScheduleAnyway.\n\n"
        "Where the policy says that Karpenter ignores preferences (spec.karpenter), a workload "
        "with ScheduleAnyway or a preferred term alone is warned of: kube-scheduler spreads it "
        "over the nodes there are, and Karpenter buys them in any zone.",
    .example = "zone-spread:\n"
               "  mode: enforce\n"
               "  action: default\n"
               "  minReplicas: 3\n",
    .kinds = KIND_BIT(KIND_DEPLOYMENT) | KIND_BIT(KIND_REPLICA_SET) |
             KIND_BIT(KIND_REPLICATION_CONTROLLER) | KIND_BIT(KIND_STATEFUL_SET),
    .judges_scale = true,
    .keys = keys,
    .settings_size = sizeof(struct zone_spread),
    .weigh = weigh,
    .judge = judge,
    .change = change,
    .may_change = may_change,
};
