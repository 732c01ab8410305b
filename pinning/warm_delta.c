#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/volume_zones.h"
#include "pinning/warm_step.h"
#include "simulation/claims.h"

/* ---- pods ---- */

static const struct node *status_part(const struct object *pod, const char *name)
{
    return node_get(node_get(pod->root->node, "status"), name);
}

/* Whether nobody who looks at pods that run can tell them apart. */
static bool is_same_pod(const struct object *a, const struct object *b)
{
    static const char *const parts[] = {"conditions", "containerStatuses", "initContainerStatuses"};
    if (a == NULL || b == NULL)
        return a == b;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (!nodes_equal(status_part(a, parts[i]), status_part(b, parts[i])))
            return false;
    return a->deleting == b->deleting && a->created_unix_s == b->created_unix_s &&
           pod_is_done(a) == pod_is_done(b) && text_equal(a->uid, b->uid) &&
           text_equal(a->controller.kind, b->controller.kind) &&
           text_equal(a->controller.name, b->controller.name) &&
           nodes_equal(a->labels, b->labels) &&
           nodes_equal(node_at(a->root->node, "metadata.annotations"),
                       node_at(b->root->node, "metadata.annotations")) &&
           nodes_equal(node_get(a->root->node, "spec"), node_get(b->root->node, "spec"));
}

/* A pod came to a machine, went or changed: which sets care? */
static void mind_pod(struct step *step, const struct object *pod,
                     const struct stood_machine *machine)
{
    bool keeps_away = node_at(pod->root->node, "spec.affinity.podAntiAffinity") != NULL;
    for (size_t i = 0; i < offer_count(step); i++) {
        const struct pin_offer *offer = &step->warm->offers->items[i];
        if (step->minds[i])
            continue;
        step->minds[i] = machine->zone_unclear || pin_offer_minds_room(offer, machine->zone);
        if (step->minds[i] || !(keeps_away || offer->others_matter))
            continue;
        const struct object *set =
            snapshot_find(step->snapshot, KIND_STATEFUL_SET, offer->namespace, offer->name);
        step->minds[i] = set != NULL && pin_offer_minds_pod(offer, set, pod, step->warm->passing);
    }
}

static void note_pod(struct step *step, const struct store_change *change)
{
    struct warm *warm = step->warm;
    const struct object *sides[] = {change->before, change->after};
    bool known = false;
    if (is_same_pod(change->before, change->after))
        return;
    for (size_t i = 0; i < 2; i++) {
        const struct object *pod = sides[i];
        if (pod == NULL)
            continue;
        step->daemons_changed |= object_is_of_daemon_set(pod);
        const struct stood_machine *machine =
            pod_stands(pod)
                ? standing_machine(&warm->standing,
                                   node_string(node_at(pod->root->node, "spec.nodeName")))
                : NULL;
        if (machine == NULL)
            continue;
        known = true;
        mind_pod(step, pod, machine);
    }
    const struct object *pod = change->after != NULL ? change->after : change->before;
    if (known)
        *LIST_PUSH(warm->pending, &warm->delta.pods) = (struct pod_name){
            arena_text(warm->pending, pod->namespace), arena_text(warm->pending, pod->name)};
}

/* ---- zones and machines ---- */

/* Zones that nothing names any more, or that something names for the first time. */
static void note_zones(struct step *step, const struct zones *zones, bool of_before)
{
    const struct zones *still =
        of_before ? snapshot_node_zones(step->snapshot) : &step->warm->standing.zones;
    for (size_t i = 0; i < zones->count; i++)
        step->zones_may_differ |= !zones_have(still, zones->items[i]);
}

static void note_volume(struct step *step, const struct store_change *change)
{
    const struct object *sides[] = {change->before, change->after};
    for (size_t i = 0; i < 2; i++) {
        struct zones zones = {0};
        if (sides[i] != NULL)
            volume_add_zones(step->snapshot, sides[i], step->warm->passing, &zones);
        note_zones(step, &zones, i == 0);
    }
}

static void note_node(struct step *step, const struct store_change *change)
{
    const struct object *sides[] = {change->before, change->after};
    const struct object *node = change->after != NULL ? change->after : change->before;
    struct warm *warm = step->warm;
    *LIST_PUSH(warm->pending, &warm->delta.nodes) = arena_text(warm->pending, node->name);
    step->machines_changed = true;
    for (size_t i = 0; i < 2; i++) {
        struct zones zones = {0};
        for (size_t j = 0; sides[i] != NULL && j < node_count(sides[i]->labels); j++) {
            const struct member *label = &sides[i]->labels->members[j];
            if (zone_key_of((struct text){label->key, label->key_size}) == ZONE_KEY_NAME)
                zones_add(&zones, node_string(&label->value), warm->passing);
        }
        note_zones(step, &zones, i == 0);
    }
}

static void note_claim(struct step *step, const struct store_change *change)
{
    struct warm *warm = step->warm;
    const struct object *claim = change->after != NULL ? change->after : change->before;
    *LIST_PUSH(warm->pending, &warm->delta.claims) = arena_text(warm->pending, claim->name);
    step->machines_changed = true;
}

/* ---- all ---- */

static void note_namespace(struct step *step, const struct store_change *change)
{
    struct warm *warm = step->warm;
    const struct object *namespace = change->after != NULL ? change->after : change->before;
    if (!standing_knows_namespace(&warm->standing, namespace->name) ||
        (change->before != NULL && change->after != NULL &&
         nodes_equal(change->before->labels, change->after->labels)))
        return;
    *LIST_PUSH(warm->pending, &warm->delta.namespaces) = arena_text(warm->pending, namespace->name);
    step->namespaces_changed = step->all_sets = true;
}

/* No offer depends on claims, attach limits, budgets, or workloads of other kinds. */
static void note_change(struct step *step, const struct store_change *change)
{
    switch (change->kind) {
    case KIND_POD:
        note_pod(step, change);
        break;
    case KIND_NODE:
        note_node(step, change);
        break;
    case KIND_NODE_CLAIM:
        note_claim(step, change);
        break;
    case KIND_NAMESPACE:
        note_namespace(step, change);
        break;
    case KIND_STATEFUL_SET:
        step->sets_changed = true;
        break;
    case KIND_DAEMON_SET:
        step->daemons_changed = true;
        break;
    case KIND_PERSISTENT_VOLUME:
        note_volume(step, change);
        break;
    case KIND_STORAGE_CLASS:
        step->zones_may_differ = true;
        break;
    case KIND_NODE_POOL:
    case KIND_EC2_NODE_CLASS:
    case KIND_LIMIT_RANGE:
        step->anew = true;
        break;
    default:
        break;
    }
}

void note_changes(struct step *step)
{
    struct warm *warm = step->warm;
    step->minds = ARENA_ARRAY(warm->passing, offer_count(step), bool);
    for (size_t i = 0; i < step->changes->count && !step->anew; i++)
        note_change(step, &step->changes->items[i]);
    if (step->anew)
        return;
    step->anew = (step->zones_may_differ &&
                  !standing_zones_agree(&warm->standing, step->snapshot, warm->passing)) ||
                 (step->daemons_changed &&
                  !standing_daemons_agree(&warm->standing, step->snapshot, warm->passing));
}

void mind_effect(struct step *step, const struct standing_effect *effect)
{
    struct warm *warm = step->warm;
    step->all_sets |= effect->limits_differ;
    for (size_t i = 0; i < effect->machines.count && !step->all_sets; i++) {
        const struct stood_machine *machine = &effect->machines.items[i];
        for (size_t j = 0; j < offer_count(step); j++) {
            const struct pin_offer *offer = &warm->offers->items[j];
            step->minds[j] |=
                machine->zone_unclear || pin_offer_minds_machine(offer, machine->zone);
        }
    }
    for (size_t i = 0; i < effect->arrived.count && !step->all_sets; i++) {
        const struct object *pod = effect->arrived.items[i];
        const struct stood_machine *machine = standing_machine(
            &warm->standing, node_string(node_at(pod->root->node, "spec.nodeName")));
        if (machine != NULL)
            mind_pod(step, pod, machine);
    }
}
