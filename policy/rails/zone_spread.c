/* The rail zone-spread: replicas are spread over zones. */
#include "policy/rails/zone_spread.h"

#include "catalog/label.h"
#include "kube/label.h"
#include "kube/pod.h"
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

static bool names_zones(const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (expression->op == SOLVER_IN && is_zone(expression->key))
            return true;
    return false;
}

/* By its nodeSelector, or by every alternative of its affinity. */
static bool chooses_zones(const struct rail_call *call, const struct workload *workload)
{
    const struct node_selection *selection = call_selection(call, workload);
    if (names_zones(&selection->selector))
        return true;
    for (size_t i = 0; i < selection->required.count; i++)
        if (!names_zones(&selection->required.items[i].expressions))
            return false;
    return selection->required.count > 0;
}

enum spreading zone_spread_find(const struct rail_call *call, const struct workload *workload,
                                const struct field **at)
{
    struct arena *arena = call->arena;
    enum spreading spreading = SPREAD_NOT_AT_ALL;
    struct topology_terms terms;
    if (chooses_zones(call, workload))
        return SPREAD_EXEMPT;
    topology_terms_read(workload, arena, &terms);
    FOR_EACH(term, &terms) {
        if (!is_zone(node_string(term->key->node)))
            continue;
        if (term->use == TOPOLOGY_AFFINITY) {
            if (term->required)
                return SPREAD_EXEMPT;
            continue;
        }
        bool counts = topology_term_selects_itself(workload, term);
        if (counts && term->required) {
            spreading = SPREAD_OVER_ZONES;
        } else if (counts && (spreading == SPREAD_NOT_AT_ALL || spreading == SPREAD_MISSES)) {
            spreading = SPREAD_PREFERRED;
            *at = term->use == TOPOLOGY_SPREAD ? field_get(arena, term->term, "whenUnsatisfiable")
                                               : term->term;
        } else if (spreading == SPREAD_NOT_AT_ALL && term->use == TOPOLOGY_SPREAD) {
            spreading = SPREAD_MISSES;
            *at = field_get(arena, term->term, "labelSelector");
        }
    }
    return spreading;
}

/* ---- the workload ---- */

bool zone_spread_has_replicas(const struct object *object, const struct zone_spread *settings)
{
    /* Where nothing is said it is one, and minReplicas is two at least. */
    int64_t replicas;
    return node_integer(node_at(object->root->node, "spec.replicas"), &replicas) &&
           replicas >= settings->min_replicas;
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

/* A preference that Karpenter does not look at spreads over the nodes that are there, no more. */
static const char *useful_word(const struct rail_call *call, const struct zone_spread *settings)
{
    bool ignored = policy_set_karpenter(call->world->policies)->ignore_preferences;
    return ignored || settings->when_unsatisfiable == DO_NOT_SCHEDULE ? "DoNotSchedule"
                                                                      : "ScheduleAnyway";
}

static void report_missing(struct rail_call *call, const struct zone_spread *settings,
                           const struct workload *workload)
{
    struct arena *arena = call->arena;
    report_with(
        call, .field = field_get(arena, workload->spec, "topologySpreadConstraints"),
        .statement = TEXT("nothing spreads the replicas over zones: they may all be in one"),
        .fix = arena_printf(arena,
                            "add {maxSkew: 1, topologyKey: " LABEL_ZONE ", whenUnsatisfiable: "
                            "%s, labelSelector: ...}, which selects labels of the pod template",
                            useful_word(call, settings)));
}

/* A spread, or an anti-affinity to itself, whose key was meant to be the zone's and is no label of
 * any NodePool. */
static const struct field *misspelt_key(const struct rail_call *call,
                                        const struct workload *workload)
{
    const struct world *world = call->world;
    struct topology_terms terms;
    topology_terms_read(workload, call->arena, &terms);
    FOR_EACH(term, &terms) {
        struct text key = node_string(term->key->node);
        bool spreads =
            term->use == TOPOLOGY_SPREAD ||
            (term->use == TOPOLOGY_ANTI_AFFINITY && topology_term_selects_itself(workload, term));
        if (spreads && text_is(label_key_meant(world->catalog, key), LABEL_ZONE) &&
            !some_pool_produces(world->snapshot, key))
            return term->key;
    }
    return NULL;
}

static void report_misspelt(struct rail_call *call, const struct field *key)
{
    struct text found = node_string(key->node);
    report_with(call, .field = key, .found = found,
                .statement = arena_printf(call->arena,
                                          "the spread is by \"%.*s\", which is no label "
                                          "of zones: the replicas may all be in one",
                                          TEXT_ARGS(found)),
                .meant = TEXT(LABEL_ZONE));
}

static void report_preferred(struct rail_call *call, const struct field *at)
{
    bool anyway = text_is(node_string(at->node), "ScheduleAnyway");
    report_as(call, SEVERITY_WARN, .field = at, .found = anyway ? TEXT("ScheduleAnyway") : TEXT(""),
              .statement = TEXT("the spread over zones is only preferred, and Karpenter, which "
                                "ignores preferences here, may buy every node in one zone"),
              .fix = anyway ? TEXT("Use DoNotSchedule, with which a pod waits when its "
                                   "zone has no room.")
                            : TEXT("add a topologySpreadConstraint over zones with "
                                   "whenUnsatisfiable: DoNotSchedule"),
              .replacement = anyway ? TEXT("DoNotSchedule") : TEXT(""));
}

static void judge(struct rail_call *call)
{
    const struct zone_spread *settings = call->settings;
    struct workload workload;
    const struct field *at = NULL;
    if (settings->action != SPREAD_REQUIRE || !zone_spread_has_replicas(call->object, settings) ||
        !workload_read(call->object, call->arena, &workload))
        return;
    switch (zone_spread_find(call, &workload, &at)) {
    case SPREAD_OVER_ZONES:
    case SPREAD_EXEMPT:
        break;
    case SPREAD_PREFERRED:
        if (policy_set_karpenter(call->world->policies)->ignore_preferences)
            report_preferred(call, at);
        break;
    case SPREAD_MISSES:
        report(call, SEVERITY_RAIL, at, TEXT("select labels of the pod template"),
               "the spread over zones does not select the pod's "
               "own labels, so its replicas do not count");
        break;
    case SPREAD_NOT_AT_ALL:
        at = misspelt_key(call, &workload);
        if (at != NULL)
            report_misspelt(call, at);
        else
            report_missing(call, settings, &workload);
        break;
    }
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
        "is keyed by zone and selects the workload's own pods. Let alone are those that choose "
        "their zones themselves (nodeSelector, or every required nodeSelectorTerm), and those "
        "that must be in the zone of other pods (required podAffinity keyed by zone). A key such "
        "as \"zone\" spreads nothing; then the fix is the right key.\n\n"
        "Replicas that are set by /scale (kubectl scale) are judged at the workload that is seen. "
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
