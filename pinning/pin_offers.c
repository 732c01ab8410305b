/* Where the solver could place the pods of each StatefulSet. */
#include "pinning/pin_offers.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "kube/object.h"
#include "kube/selector.h"
#include "kube/topology.h"
#include "simulation/pod_shape.h"

/* ---- asking ---- */

bool set_makes_claims(const struct object *set)
{
    return node_count(node_at(set->root->node, "spec.volumeClaimTemplates")) > 0;
}

static struct zones zones_of(struct solver_strings names, struct arena *arena)
{
    struct zones zones = {0};
    for (size_t i = 0; i < names.count; i++)
        zones_add(&zones, arena_text(arena, text_of(names.items[i])), arena);
    return zones;
}

void pin_offer_ask(const struct snapshot *snapshot, const struct solver_problem *problem,
                   struct solver_run *run, const struct object *set, struct arena *arena,
                   struct arena *passing, struct pin_offer *offer)
{
    struct shape_source source = {.namespace = set->namespace};
    struct pod_shape shape;
    struct solver_zones answer;
    *offer = (struct pin_offer){.namespace = arena_text(arena, set->namespace),
                                .name = arena_text(arena, set->name),
                                .is_broken = true};
    if (!workload_read(set, passing, &source.workload))
        return;
    pod_shape_read(snapshot, &source, passing, &shape);
    if (shape.fault.message.size > 0)
        return;
    struct solver_shape asked = shape.solver;
    asked.requests = named_amounts_find(&shape.requests, problem, passing);
    const struct solver_question question = {.shape = &asked};
    if (!solver_query_zones(run, &question, passing, &answer, NULL))
        return;
    offer->is_broken = false;
    offer->others_matter = answer.others_matter;
    offer->zones = zones_of(answer.all, arena);
    offer->of_pools = zones_of(answer.of_pools, arena);
    offer->by_room = zones_of(answer.by_room, arena);
}

static struct zones zones_copy(const struct zones *zones, struct arena *arena)
{
    struct zones copy = {0};
    for (size_t i = 0; i < zones->count; i++)
        zones_add(&copy, arena_text(arena, zones->items[i]), arena);
    return copy;
}

void pin_offer_copy(const struct pin_offer *from, struct arena *arena, struct pin_offer *offer)
{
    *offer = *from;
    offer->namespace = arena_text(arena, from->namespace);
    offer->name = arena_text(arena, from->name);
    offer->zones = zones_copy(&from->zones, arena);
    offer->of_pools = zones_copy(&from->of_pools, arena);
    offer->by_room = zones_copy(&from->by_room, arena);
}

/* ---- what can change an offer ---- */

bool pin_offer_minds_room(const struct pin_offer *offer, struct text zone)
{
    return zones_have(&offer->by_room, zone);
}

/* Where a NodePool can launch a machine, Nodes do not matter. */
bool pin_offer_minds_machine(const struct pin_offer *offer, struct text zone)
{
    return !offer->is_broken &&
           (offer->others_matter || (zone.size > 0 && !zones_have(&offer->of_pools, zone)));
}

/* Whether a term may count a pod of that namespace and these labels. A selector that is missing
 * counts more than it selects, and who is in other namespaces is left to the solver. */
static bool term_minds(const struct topology_term *term, struct text own_namespace,
                       struct text namespace, const struct node *labels)
{
    const struct node *node = term->term->node;
    const struct node *selector = node_get(node, "labelSelector");
    bool elsewhere =
        node_get(node, "namespaces") != NULL || node_get(node, "namespaceSelector") != NULL;
    return (elsewhere || text_equal(own_namespace, namespace)) &&
           (!node_is(selector, NODE_MAP) || selector_matches(selector, labels));
}

static bool any_term_minds(const struct workload *workload, struct text own_namespace,
                           struct text namespace, const struct node *labels, bool only_anti,
                           struct arena *passing)
{
    struct topology_terms terms;
    topology_terms_read(workload, passing, &terms);
    for (size_t i = 0; i < terms.count; i++)
        if ((!only_anti || terms.items[i].use == TOPOLOGY_ANTI_AFFINITY) &&
            term_minds(&terms.items[i], own_namespace, namespace, labels))
            return true;
    return false;
}

bool pin_offer_minds_pod(const struct pin_offer *offer, const struct object *set,
                         const struct object *pod, struct arena *passing)
{
    struct workload asked;
    struct workload other;
    if (offer->is_broken)
        return false;
    if (!workload_read(set, passing, &asked) || !workload_read(pod, passing, &other))
        return true;
    bool keeps_away = node_at(other.spec->node, "affinity.podAntiAffinity") != NULL;
    return (offer->others_matter &&
            any_term_minds(&asked, set->namespace, pod->namespace, pod->labels, false, passing)) ||
           (keeps_away && any_term_minds(&other, pod->namespace, set->namespace,
                                         node_get(asked.metadata->node, "labels"), true, passing));
}

/* ---- holding and finding ---- */

void pin_offers_hold(const struct pin_offers *offers)
{
    struct pin_offers *counted = (struct pin_offers *)(uintptr_t)offers;
    if (counted != NULL && counted->arena != NULL)
        atomic_fetch_add_explicit(&counted->holds, 1, memory_order_relaxed);
}

void pin_offers_release(const struct pin_offers *offers)
{
    struct pin_offers *counted = (struct pin_offers *)(uintptr_t)offers;
    if (counted != NULL && counted->arena != NULL &&
        atomic_fetch_sub_explicit(&counted->holds, 1, memory_order_acq_rel) == 1) {
        arena_destroy(counted->arena);
        free(counted);
    }
}

size_t pin_offers_index(const struct pin_offers *offers, const struct object *set)
{
    size_t low = 0;
    size_t high = offers == NULL ? 0 : offers->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pin_offer *offer = &offers->items[middle];
        int order = text_compare(offer->namespace, set->namespace);
        if (order == 0)
            order = text_compare(offer->name, set->name);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return PIN_NO_OFFER;
}

const struct zones *pin_offers_find(const struct pin_offers *offers, const struct object *set)
{
    size_t index = set == NULL ? PIN_NO_OFFER : pin_offers_index(offers, set);
    return index == PIN_NO_OFFER || offers->items[index].zones.count == 0
               ? NULL
               : &offers->items[index].zones;
}
