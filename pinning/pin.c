/* The pin of a pod: the zones that its volumes allow, and the zone that is chosen for it. */
#include "pinning/pin.h"

#include "kube/label.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/topology.h"
#include "kube/volume.h"
#include "simulation/supply.h"
#include "solver/well_known.h"

/* One volume of the pod. */
struct mount {
    struct text volume, claim; /* claim empty: ephemeral */
    bool of_set;               /* a template of its StatefulSet makes the claim */
    struct claim_zones zones;
};
struct pin_reader {
    const struct snapshot *snapshot;
    const struct object *pod;
    const struct supply *supply;
    struct arena *arena;
    struct pin_set set;
    LIST(struct mount) mounts;
};

/* ---- its volumes ---- */

/* No node attaches so many volumes, and to look at each takes longer than the API server waits. */
static bool mounts_too_many(const struct node *volumes)
{
    enum { MOST_MOUNTS = 256 };
    size_t count = 0;
    FOR_ITEMS(item, volumes)
        count +=
            node_get(item, "persistentVolumeClaim") != NULL || node_get(item, "ephemeral") != NULL;
    return count > MOST_MOUNTS;
}

/* Returns false when there are too many. */
static bool read_mounts(struct pin_reader *reader)
{
    struct arena *arena = reader->arena;
    const struct field *volumes = field_at(arena, reader->pod->root, "spec.volumes");
    if (mounts_too_many(volumes->node))
        return false;
    FOR_FIELDS(volume, arena, volumes) {
        struct text claim = node_string(node_at(volume->node, "persistentVolumeClaim.claimName"));
        bool ephemeral = node_is(node_at(volume->node, "ephemeral.volumeClaimTemplate"), NODE_MAP);
        struct mount mount = {.volume = node_string(node_get(volume->node, "name")),
                              .claim = claim};
        if (claim.size > 0) {
            const struct field *template =
                set_claim_template(reader->set.set, reader->pod->name, claim, arena);
            mount.of_set = template != NULL;
            claim_zones_read(reader->snapshot, reader->pod->namespace, claim, template, arena,
                             &mount.zones);
        } else if (ephemeral) {
            ephemeral_zones_read(reader->snapshot,
                                 field_at(arena, volume, "ephemeral.volumeClaimTemplate"), arena,
                                 &mount.zones);
        }
        if ((claim.size > 0 || ephemeral) && mount.zones.hold != CLAIM_ANYWHERE)
            *LIST_PUSH(arena, &reader->mounts) = mount;
    }
    return true;
}

/* The zones common to the claims with at least this hold; false: these allow all zones. */
static bool common_zones(const struct pin_reader *reader, enum claim_hold least,
                         struct zones *zones)
{
    bool confined = false;
    *zones = (struct zones){0};
    for (size_t i = 0; i < reader->mounts.count; i++) {
        const struct claim_zones *claim = &reader->mounts.items[i].zones;
        if (claim->any_zone || claim->hold < least)
            continue;
        *zones = confined ? zones_intersect(zones, &claim->zones, reader->arena) : claim->zones;
        confined = true;
    }
    return confined;
}

static bool any_held(const struct pin_reader *reader, enum claim_hold hold)
{
    for (size_t i = 0; i < reader->mounts.count; i++)
        if (reader->mounts.items[i].zones.hold == hold)
            return true;
    return false;
}

static struct text list_of(const struct zones *zones, struct arena *arena)
{
    struct text_builder list = {.arena = arena};
    for (size_t i = 0; i < zones->count; i++)
        text_builder_printf(&list, "%s%.*s", i == 0 ? "" : " or ", TEXT_ARGS(zones->items[i]));
    return zones->count == 0 ? TEXT("no zone") : text_builder_text(&list);
}

static struct text describe(const struct pin_reader *reader)
{
    struct text_builder list = {.arena = reader->arena};
    for (size_t i = 0; i < reader->mounts.count; i++) {
        const struct mount *mount = &reader->mounts.items[i];
        if (!mount->zones.any_zone)
            text_builder_printf(&list, "%s%.*s in %.*s", list.size == 0 ? "" : ", ",
                                TEXT_ARGS(mount->volume),
                                TEXT_ARGS(list_of(&mount->zones.zones, reader->arena)));
    }
    return text_builder_text(&list);
}

/* ---- the choice ---- */

static void choose(struct pin *pin, struct text zone, enum pin_source source, struct arena *arena)
{
    pin->zones = (struct zones){0};
    zones_add(&pin->zones, zone, arena);
    pin->source = source;
    pin->chosen = true;
}

/* The zone of the node that kube-scheduler has chosen, if the other volumes can be there. */
static struct text selected_zone(const struct pin_reader *reader, const struct zones *possible,
                                 bool confined)
{
    for (size_t i = 0; i < reader->mounts.count; i++) {
        struct text zone = reader->mounts.items[i].zones.selected;
        if (zone.size > 0 && (!confined || zones_have(possible, zone)))
            return zone;
    }
    return TEXT("");
}

/* An unbound claim that other pods may use, too: all of them must get the same zone. */
static const struct mount *shared_claim(const struct pin_reader *reader)
{
    const struct mount *first = NULL;
    for (size_t i = 0; i < reader->mounts.count; i++) {
        const struct mount *mount = &reader->mounts.items[i];
        if (mount->zones.hold == CLAIM_UNBOUND && !mount->of_set &&
            (first == NULL || text_compare(mount->claim, first->claim) < 0))
            first = mount;
    }
    return first;
}

static struct text choose_candidate(const struct pin_reader *reader, const struct zones *candidates)
{
    const struct mount *shared = shared_claim(reader);
    if (shared == NULL)
        return pin_zone_of_ordinal(reader->snapshot, &reader->set, candidates, reader->arena);
    struct text identity = arena_printf(
        reader->arena, "%.*s/%.*s", TEXT_ARGS(reader->pod->namespace), TEXT_ARGS(shared->claim));
    return candidates->items[pin_rotation(identity, candidates)];
}

static enum pin_source source_of_unbound(const struct pin_reader *reader)
{
    for (size_t i = 0; i < reader->mounts.count; i++)
        if (!reader->mounts.items[i].zones.any_zone &&
            reader->mounts.items[i].zones.source == PIN_FROM_VOLUME)
            return PIN_FROM_VOLUME;
    return PIN_FROM_STORAGE_CLASS;
}

/* Whether other pods decide in which zones this one can be, which is not known here: it has a
 * required podAffinity, or is spread over something else than zones and hosts. */
static bool others_decide(const struct pin_reader *reader)
{
    struct workload workload;
    struct topology_terms terms;
    if (!workload_read(reader->pod, reader->arena, &workload))
        return true;
    topology_terms_read(&workload, reader->arena, &terms);
    for (size_t i = 0; i < terms.count; i++) {
        const struct topology_term *term = &terms.items[i];
        struct text key = node_string(term->key->node);
        bool of_place = text_is(key, LABEL_HOSTNAME) || zone_key_of(key) != ZONE_KEY_NONE;
        if (term->required && (term->use == TOPOLOGY_AFFINITY || !of_place))
            return true;
    }
    return false;
}

static void pin_unbound(const struct pin_reader *reader, struct pin *pin)
{
    struct zones possible;
    bool confined = common_zones(reader, CLAIM_NARROWS, &possible);
    struct text selected = selected_zone(reader, &possible, confined);
    if (selected.size > 0) {
        choose(pin, selected, PIN_FROM_SELECTED_NODE, reader->arena);
        return;
    }
    if (confined && possible.count == 1) {
        choose(pin, possible.items[0], source_of_unbound(reader), reader->arena);
        return;
    }
    struct zones candidates =
        supply_zones(reader->supply, reader->snapshot, reader->pod, reader->arena);
    if (confined)
        candidates = zones_intersect(&possible, &candidates, reader->arena);
    pin->source = PIN_FROM_SOLVER;
    pin->zones = candidates;
    if (candidates.count == 0) {
        pin->kind = confined ? PIN_CANDIDATES : PIN_NONE;
        pin->source = PIN_FROM_STORAGE_CLASS;
        pin->zones = possible;
    } else if (pin->kind == PIN_UNBOUND && !others_decide(reader)) {
        choose(pin, choose_candidate(reader, &candidates), PIN_FROM_SOLVER, reader->arena);
    }
}

static void pin_follower(const struct pin_reader *reader, struct pin *pin)
{
    if (!pin_by_affinity(reader->snapshot, reader->pod, reader->arena, &pin->zones))
        return;
    pin->kind = PIN_UNBOUND;
    pin->follows = true;
    pin->source = PIN_FROM_VOLUME;
    pin->chosen = pin->zones.count == 1;
}

static void pin_volumes(const struct pin_reader *reader, struct pin *pin)
{
    struct zones zones;
    if (common_zones(reader, CLAIM_NARROWS, &zones) && zones.count == 0) {
        pin->kind = PIN_IMPOSSIBLE;
    } else if (any_held(reader, CLAIM_BOUND)) {
        pin->kind = PIN_BOUND;
        pin->source = PIN_FROM_VOLUME;
        pin->zones = zones;
        pin->chosen = zones.count == 1;
    } else if (!any_held(reader, CLAIM_UNKNOWN)) {
        pin->kind = any_held(reader, CLAIM_RESERVED)  ? PIN_RESERVED
                    : any_held(reader, CLAIM_UNBOUND) ? PIN_UNBOUND
                                                      : PIN_CANDIDATES;
        pin_unbound(reader, pin);
    }
}

/* ---- the pod ---- */

bool pin_may_apply(const struct object *pod)
{
    const struct node *spec = node_get(pod->root->node, "spec");
    const struct node *volumes = node_get(spec, "volumes");
    FOR_ITEMS(item, volumes)
        if (node_get(item, "persistentVolumeClaim") != NULL || node_get(item, "ephemeral") != NULL)
            return true;
    return node_count(node_at(
               spec, "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution")) > 0;
}

void pin_read(const struct snapshot *snapshot, const struct supply *supply,
              const struct object *pod, struct arena *arena, struct pin *pin)
{
    struct pin_reader reader = {.snapshot = snapshot,
                                .pod = pod,
                                .supply = supply,
                                .arena = arena,
                                .set = pin_set_of(snapshot, pod)};
    *pin = (struct pin){.kind = PIN_NONE};
    if (!read_mounts(&reader))
        return;
    if (reader.mounts.count == 0)
        pin_follower(&reader, pin);
    else
        pin_volumes(&reader, pin);
    pin->of_replicas = reader.set.set != NULL && reader.set.replicas >= 2;
    pin->reachable = pin->kind != PIN_NONE && pin->kind != PIN_IMPOSSIBLE;
    /* A volume may name a zone that is no valid label value: with it, the API server refuses the
     * pod. */
    for (size_t i = 0; pin->reachable && i < pin->zones.count; i++)
        pin->reachable = label_value_is_valid(pin->zones.items[i]) &&
                         supply_reaches(supply, snapshot, pin->zones.items[i]);
}

bool pin_is_impossible(const struct snapshot *snapshot, const struct object *pod,
                       struct arena *arena, struct text *volumes)
{
    struct pin_reader reader = {
        .snapshot = snapshot, .pod = pod, .arena = arena, .set = pin_set_of(snapshot, pod)};
    struct zones zones;
    if (!read_mounts(&reader) || !common_zones(&reader, CLAIM_NARROWS, &zones) || zones.count > 0)
        return false;
    *volumes = describe(&reader);
    return true;
}

bool pin_bound_zones(const struct snapshot *snapshot, const struct object *pod, struct arena *arena,
                     struct zones *zones, struct text *volumes)
{
    struct pin_reader reader = {
        .snapshot = snapshot, .pod = pod, .arena = arena, .set = pin_set_of(snapshot, pod)};
    if (!read_mounts(&reader) || !common_zones(&reader, CLAIM_BOUND, zones) || zones->count == 0)
        return false;
    *volumes = describe(&reader);
    return true;
}
