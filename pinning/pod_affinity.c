/* The zones of pods that a pod must be in one zone with, by its required podAffinity and their
 * bound volumes. */
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/selector.h"
#include "kube/snapshot.h"
#include "kube/topology.h"
#include "pinning/pin.h"

/* A required podAffinityTerm of one pod. */
struct affinity {
    const struct snapshot *snapshot;
    const struct object *pod;
    const struct node *term;
    const struct node *selector;
};

bool pin_is_zone_affinity(const struct topology_term *term)
{
    return term->use == TOPOLOGY_AFFINITY && term->required &&
           zone_key_of(node_string(term->key->node)) == ZONE_KEY_NAME;
}

/* ---- whether it selects a pod ---- */

/* The API server adds matchLabelKeys to the selector later. A key that the pod does not have does
 * not count. */
static bool keys_match(const struct affinity *affinity, const char *list, bool same,
                       const struct object *other)
{
    const struct node *keys = node_get(affinity->term, list);
    FOR_ITEMS(item, keys) {
        struct text key = node_string(item);
        const struct node *own = node_member(affinity->pod->labels, key);
        const struct node *its = node_member(other->labels, key);
        if (own == NULL)
            continue;
        bool equal = its != NULL && text_equal(node_string(own), node_string(its));
        if (equal != same)
            return false;
    }
    return true;
}

static bool selects(const struct affinity *affinity, const struct object *other)
{
    return selector_matches(affinity->selector, other->labels) &&
           keys_match(affinity, "matchLabelKeys", true, other) &&
           keys_match(affinity, "mismatchLabelKeys", false, other) && !other->deleting &&
           !pod_is_done(other);
}

/* ---- where the pods are that it selects ---- */

static void add_bound_zones(const struct snapshot *snapshot, const struct object *pod,
                            struct arena *arena, struct zones *zones)
{
    const struct node *volumes = node_at(pod->root->node, "spec.volumes");
    struct zones of_pod = {0};
    bool any = false;
    FOR_ITEMS(item, volumes) {
        struct claim_zones claim;
        struct text name = node_string(node_at(item, "persistentVolumeClaim.claimName"));
        const struct object *object =
            snapshot_find(snapshot, KIND_PERSISTENT_VOLUME_CLAIM, pod->namespace, name);
        if (object == NULL || node_string(node_at(object->root->node, "spec.volumeName")).size == 0)
            continue;
        claim_zones_read(snapshot, pod->namespace, name, NULL, arena, &claim);
        if (claim.hold != CLAIM_BOUND)
            continue;
        of_pod = any ? zones_intersect(&of_pod, &claim.zones, arena) : claim.zones;
        any = true;
    }
    for (size_t i = 0; i < of_pod.count; i++)
        zones_add(zones, of_pod.items[i], arena);
}

/* The end of the pods in the namespace of the one at begin; the list is sorted by namespace. */
static size_t end_of_namespace(const struct snapshot *snapshot, size_t begin)
{
    struct text namespace = snapshot_claiming_pod(snapshot, begin)->namespace;
    size_t end = snapshot_claiming_pod_count(snapshot);
    while (begin + 1 < end) {
        size_t middle = begin + (end - begin) / 2;
        if (text_equal(snapshot_claiming_pod(snapshot, middle)->namespace, namespace))
            begin = middle;
        else
            end = middle;
    }
    return end;
}

/* None where a pod may count and is not known to: the pod may have to be in its zone. */
static struct zones affinity_zones(const struct affinity *affinity, struct arena *arena)
{
    const struct snapshot *snapshot = affinity->snapshot;
    struct zones zones = {0};
    for (size_t begin = 0, end; begin < snapshot_claiming_pod_count(snapshot); begin = end) {
        end = end_of_namespace(snapshot, begin);
        enum topology_look look =
            topology_term_looks_into(snapshot, affinity->term, affinity->pod->namespace,
                                     snapshot_claiming_pod(snapshot, begin)->namespace);
        for (size_t i = begin; look != TOPOLOGY_LOOKS_ELSEWHERE && i < end; i++) {
            if (!selects(affinity, snapshot_claiming_pod(snapshot, i)))
                continue;
            if (look == TOPOLOGY_MAY_LOOK)
                return (struct zones){0};
            add_bound_zones(snapshot, snapshot_claiming_pod(snapshot, i), arena, &zones);
        }
    }
    return zones;
}

bool pin_by_affinity(const struct snapshot *snapshot, const struct object *pod, struct arena *arena,
                     struct zones *zones)
{
    enum { MOST_TERMS = 8 }; /* each looks at all pods with claims */
    struct workload workload;
    struct topology_terms terms;
    bool follows = false;
    size_t looks = 0;
    *zones = (struct zones){0};
    if (!workload_read(pod, arena, &workload))
        return false;
    topology_terms_read(&workload, arena, &terms);
    for (size_t i = 0; i < terms.count; i++) {
        if (!pin_is_zone_affinity(&terms.items[i]))
            continue;
        if (++looks > MOST_TERMS) {
            zones->count = 0;
            return false;
        }
        const struct node *term = terms.items[i].term->node;
        const struct affinity affinity = {
            .snapshot = snapshot,
            .pod = pod,
            .term = term,
            .selector = node_get(term, "labelSelector"),
        };
        struct zones found = affinity_zones(&affinity, arena);
        if (found.count == 0)
            continue;
        *zones = follows ? zones_intersect(zones, &found, arena) : found;
        follows = true;
    }
    return zones->count > 0;
}
