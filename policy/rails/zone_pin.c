/* The rail zone-pin: pods go to the zone of their volumes. */
#include "policy/rails/zone_pin.h"

#include "kube/topology.h"
#include "pinning/pin.h"
#include "policy/rails/scheduler_bypass.h"
#include "simulation/pods.h"
#include "solver/well_known.h"

#define NOTE_ZONE "taffrail.dev/zone"
#define NOTE_SOURCE "taffrail.dev/zone-source"
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

/* In order of strength; bound has no "prefer", since that would claim less than is true. */
enum strength { PIN_OFF, PIN_ANNOTATE, PIN_PREFER, PIN_REQUIRE };
static const char *const bound_choices[] = {"off", "annotate", "require", NULL};
static const char *const unbound_choices[] = {"off", "annotate", "prefer", "require", NULL};

struct settings {
    int bound, unbound;
};

static const struct key keys[] = {
    {.name = "bound",
     .type = KEY_ENUM,
     .offset = offsetof(struct settings, bound),
     .summary = "what a pod gets whose volume has a zone",
     .default_value = "require",
     .choices = bound_choices},
    {.name = "unbound",
     .type = KEY_ENUM,
     .offset = offsetof(struct settings, unbound),
     .summary = "what a pod gets whose volume will be made where it runs",
     .default_value = "prefer",
     .choices = unbound_choices},
    {0},
};

/* ---- pods that are left alone ---- */

static bool is_left_alone(const struct world *world, const struct object *pod)
{
    const struct node *spec = node_get(pod->root->node, "spec");
    struct text scheduler = node_string(node_get(spec, "schedulerName"));
    return !pin_may_apply(pod) || object_is_of_daemon_set(pod) || pod_is_mirror(pod) ||
           node_string(node_get(spec, "nodeName")).size > 0 ||
           (scheduler.size > 0 && !text_is(scheduler, "default-scheduler") &&
            !scheduler_is_named(world, scheduler)) ||
           pod_is_on_fargate(pod->labels, spec);
}

/* ---- what the pod says itself ---- */

struct constraints {
    struct node_selection selection;
    bool spreads;      /* by topologySpreadConstraints */
    bool selects_zone; /* in its nodeSelector */
    bool by_zone;      /* in whatever way, the affinity that it follows aside */
    bool prefers;      /* anything */
};

static bool names_zone(const struct expressions *expressions)
{
    for (size_t i = 0; i < expressions->count; i++)
        if (zone_key_of(expressions->items[i].key) != ZONE_KEY_NONE)
            return true;
    return false;
}

static struct constraints constraints_read(const struct object *pod, bool follows,
                                           struct arena *arena)
{
    struct constraints result = {0};
    struct workload workload;
    struct topology_terms topology;
    if (!workload_read(pod, arena, &workload))
        return result;
    node_selection_read(&workload, arena, &result.selection);
    topology_terms_read(&workload, arena, &topology);
    result.selects_zone = names_zone(&result.selection.selector);
    result.by_zone = result.selects_zone;
    result.prefers = result.selection.preferred.count > 0;
    for (size_t i = 0; i < result.selection.required.count; i++)
        result.by_zone =
            result.by_zone || names_zone(&result.selection.required.items[i].expressions);
    FOR_EACH(term, &topology) {
        bool spread = term->use == TOPOLOGY_SPREAD;
        result.spreads = result.spreads || spread;
        result.prefers = result.prefers || (!spread && !term->required);
        result.by_zone =
            result.by_zone || (zone_key_of(node_string(term->key->node)) != ZONE_KEY_NONE &&
                               !(follows && pin_is_zone_affinity(term)));
    }
    return result;
}

/* ---- how strongly ---- */

static enum strength strength_of(const struct settings *settings, const struct pin *pin)
{
    static const enum strength of_bound[] = {PIN_OFF, PIN_ANNOTATE, PIN_REQUIRE};
    enum strength unbound = (enum strength)settings->unbound;
    switch (pin->kind) {
    case PIN_BOUND:
        return of_bound[settings->bound];
    case PIN_UNBOUND:
        return unbound;
    case PIN_RESERVED:
        return unbound > PIN_PREFER ? PIN_PREFER : unbound;
    case PIN_CANDIDATES:
        return unbound > PIN_ANNOTATE ? PIN_ANNOTATE : unbound;
    default:
        return PIN_OFF;
    }
}

/* What says where volumes are; and what a choice of a zone stands on beside it. */
#define KINDS_OF_ZONES                                                           \
    (KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) | KIND_BIT(KIND_PERSISTENT_VOLUME) | \
     KIND_BIT(KIND_STORAGE_CLASS) | KIND_BIT(KIND_NODE))
#define KINDS_OF_CHOICE                                                            \
    (KIND_BIT(KIND_POD) | KIND_BIT(KIND_STATEFUL_SET) | KIND_BIT(KIND_NODE_POOL) | \
     KIND_BIT(KIND_EC2_NODE_CLASS))

/* A zone is never a guess. */
static bool sees_enough(const struct world *world, const struct object *pod, const struct pin *pin)
{
    return world_lists(world, KINDS_OF_ZONES) &&
           (pin->kind == PIN_BOUND || world_sees_in(world, KINDS_OF_CHOICE, pod->namespace));
}

/* Why the pod gets a note alone; NULL: it gets more. Karpenter takes only the heaviest preference,
 * as hard, and gives up the pod's other wishes before it: a pod that has any keeps its own. A
 * selector shrinks the domains that a spread counts. */
static const char *hindrance_of(enum strength strength, const struct pin *pin,
                                const struct constraints *constraints)
{
    if (!pin->reachable)
        return pin->zones.count > 1 ? "not each has a Node, or a NodePool that makes one"
                                    : "no Node is there, and no NodePool makes one";
    if (strength == PIN_REQUIRE && constraints->spreads)
        return "a selector would shrink what its spread counts";
    if (pin->kind == PIN_BOUND)
        return constraints->selects_zone ? "it selects a zone itself" : NULL;
    if (!pin->chosen && (pin->follows || !constraints->by_zone))
        return "more than one zone is possible";
    if (!pin->of_replicas && !pin->follows)
        return "no StatefulSet of several replicas owns it";
    if (constraints->by_zone)
        return "it has a zone constraint of its own";
    if (constraints->prefers || constraints->selection.required.count > 1)
        return "it has preferences or alternatives of its own";
    return NULL;
}

/* ---- the changes ---- */

static struct node list_of_one(struct node item, struct arena *arena)
{
    return node_of_items(node_keep(arena, item), 1);
}

static struct node map_of_one(const char *key, struct node value, struct arena *arena)
{
    struct member *member = ARENA_NEW(arena, struct member);
    *member = member_of(text_of(key), value);
    return node_of_members(member, 1);
}

/* {key: topology.kubernetes.io/zone, operator: In, values: [...]} */
static struct node expression_of(const struct zones *zones, struct arena *arena)
{
    struct node *values = ARENA_ARRAY(arena, zones->count, struct node);
    struct member *members = ARENA_ARRAY(arena, 3, struct member);
    for (size_t i = 0; i < zones->count; i++)
        values[i] = node_of_text(zones->items[i]);
    members[0] = member_of(TEXT("key"), node_of_text(TEXT(LABEL_ZONE)));
    members[1] = member_of(TEXT("operator"), node_of_text(TEXT("In")));
    members[2] = member_of(TEXT("values"), node_of_items(values, zones->count));
    return node_of_members(members, 3);
}

static struct node term_of(const struct zones *zones, struct arena *arena)
{
    return map_of_one("matchExpressions", list_of_one(expression_of(zones, arena), arena), arena);
}

static bool has_item(const struct node *list, const struct node *item)
{
    for (size_t i = 0; i < node_count(list); i++)
        if (node_equal(node_item(list, i), item))
            return true;
    return false;
}

/* Terms are alternatives: it has to stand in each. One that is empty selects no node, and must not
 * begin to. */
static void require_in_terms(struct patch *patch, const struct node_terms *terms,
                             const struct zones *zones, struct arena *arena)
{
    struct node expression = expression_of(zones, arena);
    for (size_t i = 0; i < terms->count; i++) {
        const struct field *term = terms->items[i].field;
        const struct field *list = field_get(arena, term, "matchExpressions");
        if (!node_term_is_empty(&terms->items[i]) && !has_item(list->node, &expression))
            patch_append(patch, arena, list, expression);
    }
}

static void require(struct patch *patch, const struct object *pod,
                    const struct constraints *constraints, const struct zones *zones,
                    struct arena *arena)
{
    if (zones->count == 1)
        patch_set(patch, arena, field_at(arena, pod->root, "spec.nodeSelector"), TEXT(LABEL_ZONE),
                  node_of_text(zones->items[0]));
    else if (constraints->selection.required.count > 0)
        require_in_terms(patch, &constraints->selection.required, zones, arena);
    else
        patch_append(
            patch, arena,
            field_at(arena, pod->root, "spec.affinity.nodeAffinity." REQUIRED ".nodeSelectorTerms"),
            term_of(zones, arena));
}

static struct node preference_of(const struct zones *zones, struct arena *arena)
{
    enum { MOST_WEIGHT = 100 };
    struct member *members = ARENA_ARRAY(arena, 2, struct member);
    members[0] = member_of(TEXT("preference"), term_of(zones, arena));
    members[1] = member_of(TEXT("weight"), node_of_integer(MOST_WEIGHT, arena));
    return node_of_members(members, 2);
}

static void prefer(struct patch *patch, const struct object *pod, const struct zones *zones,
                   struct arena *arena)
{
    patch_append(patch, arena, field_at(arena, pod->root, "spec.affinity.nodeAffinity." PREFERRED),
                 preference_of(zones, arena));
}

/* Whether it has the preference that its note tells: then another replica has preferred that zone,
 * or this one when it knew less, and what is known by now must not be added to it. */
static bool prefers_noted_zone(const struct object *pod, struct arena *arena)
{
    struct text zone = object_annotation(pod, NOTE_ZONE);
    struct zones noted = {0};
    zones_add(&noted, zone, arena);
    struct node preference = preference_of(&noted, arena);
    return has_item(node_at(pod->root->node, "spec.affinity.nodeAffinity." PREFERRED), &preference);
}

static struct text zone_list(const struct zones *zones, struct arena *arena)
{
    struct text_builder list = {.arena = arena};
    for (size_t i = 0; i < zones->count; i++)
        text_builder_printf(&list, "%s%.*s", i == 0 ? "" : ",", TEXT_ARGS(zones->items[i]));
    return text_builder_text(&list);
}

/* A pod that has the note keeps it: it was made when less, or more, was known. */
static void annotate(struct patch *patch, const struct object *pod, const struct pin *pin,
                     struct arena *arena)
{
    const struct field *notes = field_at(arena, pod->root, "metadata.annotations");
    if (node_get(notes->node, NOTE_ZONE) != NULL)
        return;
    patch_set(patch, arena, notes, TEXT(NOTE_ZONE), node_of_text(zone_list(&pin->zones, arena)));
    patch_set(patch, arena, notes, TEXT(NOTE_SOURCE),
              node_of_text(text_of(pin_source_name(pin->source))));
}

/* ---- the rail ---- */

static struct text words(const struct rail_call *call, const struct pin *pin, enum strength done,
                         const char *hindrance)
{
    struct arena *arena = call->arena;
    static const char *const what[] = {
        [PIN_ANNOTATE] = "a note of",
        [PIN_PREFER] = "a preference for",
        [PIN_REQUIRE] = "a node selection by",
    };
    bool ignored = policy_set_karpenter(call->world->policies)->ignore_preferences;
    if (done == PIN_PREFER && ignored)
        hindrance = "Karpenter ignores it, and may buy another";
    bool says_why = done != PIN_REQUIRE && hindrance != NULL;
    return arena_printf(arena, "%s zone %.*s (%s)%s%s", what[done],
                        TEXT_ARGS(zone_list(&pin->zones, arena)), pin_source_name(pin->source),
                        says_why ? ": " : "", says_why ? hindrance : "");
}

static void change(struct rail_call *call)
{
    const struct settings *settings = call->settings;
    const struct world *world = call->world;
    struct arena *arena = call->arena;
    const struct object *pod = call->object;
    struct pin pin;
    if (is_left_alone(call->world, pod) || prefers_noted_zone(pod, arena))
        return;
    pin_read(world->snapshot, world->supply, pod, arena, &pin);
    enum strength strength = sees_enough(world, pod, &pin) ? strength_of(settings, &pin) : PIN_OFF;
    const char *hindrance = NULL;
    if (strength == PIN_REQUIRE && world->volumes_are_stale) {
        strength = PIN_ANNOTATE;
        hindrance = "volumes are seen as they were over a minute ago";
    }
    if (strength == PIN_OFF)
        return;
    struct constraints constraints = constraints_read(pod, pin.follows, arena);
    struct patch patch = {0};
    annotate(&patch, pod, &pin, arena);
    size_t notes = patch.count;
    if (strength > PIN_ANNOTATE)
        hindrance = hindrance_of(strength, &pin, &constraints);
    if (hindrance == NULL && strength == PIN_REQUIRE)
        require(&patch, pod, &constraints, &pin.zones, arena);
    else if (hindrance == NULL && strength == PIN_PREFER)
        prefer(&patch, pod, &pin.zones, arena);
    enum strength done = patch.count > notes ? strength : PIN_ANNOTATE;
    if (patch.count > 0)
        propose_change(
            call, &(struct change){.patch = patch, .added = words(call, &pin, done, hindrance)});
}

/* "off" is the first choice of both. */
static bool may_change(const void *settings_pointer)
{
    const struct settings *settings = settings_pointer;
    return settings->bound != PIN_OFF || settings->unbound != PIN_OFF;
}

static void weigh(const void *settings_pointer, const struct karpenter_settings *karpenter,
                  struct place place, struct problems *warnings)
{
    const struct settings *settings = settings_pointer;
    if (settings->unbound == PIN_PREFER && karpenter->ignore_preferences)
        problems_add(warnings, ERROR_POLICY, place,
                     "zone-pin prefers a zone for new disks (unbound: prefer), and Karpenter "
                     "ignores that (preferencePolicy: Ignore): kube-scheduler follows it where a "
                     "node has room, and a node that is bought may be in any zone; unbound: "
                     "require keeps the balance");
}

static void judge(struct rail_call *call)
{
    struct arena *arena = call->arena;
    const struct object *pod = call->object;
    struct text volumes;
    if (call->subject->operation != OPERATION_CREATE || is_left_alone(call->world, pod) ||
        !world_lists(call->world, KINDS_OF_ZONES))
        return;
    if (!pin_is_impossible(call->world->snapshot, pod, arena, &volumes)) {
        zone_pin_judge_selection(call);
        return;
    }
    report_found(call, SEVERITY_WARN, field_at(arena, pod->root, "spec.volumes"), volumes,
                 TEXT("Move the data of one into the zone of the other, or mount them in "
                      "different pods."),
                 "The pod can never start. Its volumes have no zone in common: %.*s.",
                 TEXT_ARGS(volumes));
}

const struct rail rail_zone_pin = {
    .name = "zone-pin",
    .summary = "pods go where their disks are; new disks are balanced",
    .detail =
        "A pod whose volumes are bound can only run in their zone. kube-scheduler and Karpenter "
        "know that; the rail writes it down, as a nodeSelector, for whoever does not, and as an "
        "annotation for people. Volumes that several zones reach give a node affinity. A pod "
        "with topologySpreadConstraints is only annotated: a selector would shrink the domains "
        "that they count.\n\n"
        "Where the volume of a StatefulSet's pod will be made, chance decides; here the rail "
        "chooses, so that the replicas are balanced over the zones in which nodes for the pod can "
        "come up, counting the volumes there are. It adds a preference, which Karpenter gives up "
        "when the zone has no capacity, or from the start where its preference policy is Ignore "
        "(unbound: require keeps the balance and lets the pod wait), and only to a pod with no "
        "wishes of its own about zones and no preferences: all "
        "others are annotated. A pod without volumes that must be in one zone with a pod that "
        "has a bound one gets the same.\n\n"
        "taffrail.dev/zone is the zone, or a list of those that are left where none was chosen; "
        "taffrail.dev/zone-source says what told it: volume, selected-node, storage-class or "
        "solver. Pods of DaemonSets, mirror pods, pods with a nodeName, of another scheduler or "
        "on Fargate are left alone, and so are pods whose volumes are in no zone or in one that "
        "cannot be seen. Found, as warnings, are volumes that have no zone in common, and "
        "pods that select another zone than that of their bound volumes: they can never start.",
    .example = "zone-pin:\n"
               "  mode: enforce\n"
               "  bound: annotate\n"
               "  unbound: prefer\n",
    .kinds = KIND_BIT(KIND_POD),
    .asks_supply = true,
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .weigh = weigh,
    .judge = judge,
    .change = change,
    .may_change = may_change,
};
