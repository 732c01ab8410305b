/* Workloads whose replicas no constraint can spread: something else decides where they run. */
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/selector.h"
#include "kube/snapshot.h"
#include "kube/volume.h"
#include "kube/volume_zones.h"
#include "kube/zone.h"
#include "policy/rails/label_filter.h"
#include "policy/rails/shared_volume.h"
#include "policy/rails/zone_spread.h"
#include "policy/reading.h"
#include "solver/well_known.h"

/* ---- places that the pods name ---- */

static bool is_host(const struct expression *expression)
{
    return expression->op == SOLVER_IN && text_is(expression->key, LABEL_HOSTNAME);
}

static bool names_hosts(const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (is_host(expression))
            return true;
    return false;
}

static void add_zones(struct label_filter *filter, const struct expressions *expressions,
                      enum zone_key key, struct arena *arena)
{
    FOR_EACH(expression, expressions)
        if (zone_key_of(expression->key) == key)
            label_filter_add(filter, expression, arena);
}

/* The one zone that both leave, by name or by id; empty: there may be several, or it is any. */
static struct text only_zone(const struct expressions *selector, const struct expressions *term,
                             enum zone_key key, struct arena *arena)
{
    struct label_filter filter = {0};
    struct text zone = TEXT("");
    size_t count = 0;
    add_zones(&filter, selector, key, arena);
    add_zones(&filter, term, key, arena);
    for (size_t i = 0; i < filter.named.count; i++)
        if (label_filter_passes(&filter, filter.named.items[i].key)) {
            zone = filter.named.items[i].key;
            count++;
        }
    return count == 1 ? zone : TEXT("");
}

/* What all alternatives so far leave. */
struct places {
    struct text zones[ZONE_KEY_ID + 1]; /* the one zone, by name and by id */
    struct text_map hosts;
};

static void add_hosts(struct places *places, const struct expressions *expressions,
                      struct arena *arena)
{
    FOR_EACH(expression, expressions)
        for (size_t i = 0; is_host(expression) && i < expression->value_count; i++)
            (void)text_map_add(&places->hosts, arena, expression->values[i].text);
}

/* Whether one more alternative leaves no choice of zones, and none beside those so far. */
static bool adds_no_zone(const struct rail_call *call, struct places *places,
                         const struct expressions *selector, const struct expressions *term)
{
    enum zone_key key = ZONE_KEY_NAME;
    struct text zone = only_zone(selector, term, key, call->arena);
    if (zone.size == 0) {
        key = ZONE_KEY_ID;
        zone = only_zone(selector, term, key, call->arena);
    }
    if (zone.size == 0) {
        add_hosts(places, term, call->arena);
        return names_hosts(selector) || names_hosts(term);
    }
    if (places->zones[key].size > 0 && !text_equal(places->zones[key], zone))
        return false;
    places->zones[key] = zone;
    return true;
}

/* Pods select it by its label, which need not be the Node's name. A Node that is written by hand
 * may be without. */
static struct text host_of(const struct object *node)
{
    struct text host = node_string(node_get(node->labels, LABEL_HOSTNAME));
    return host.size > 0 ? host : node->name;
}

/* As far as the Nodes are seen. */
static bool some_is_in_another_zone(const struct rail_call *call, const struct text_map *hosts,
                                    struct text zone)
{
    const struct snapshot *snapshot = call->world->snapshot;
    size_t count = hosts->count == 0 ? 0 : snapshot_count(snapshot, KIND_NODE);
    arena_tick(call->arena, count);
    for (size_t i = 0; i < count; i++) {
        const struct object *node = snapshot_object(snapshot, KIND_NODE, i);
        struct text its = node_zone(node);
        if (its.size > 0 && !text_equal(its, zone) && text_map_has(hosts, host_of(node)))
            return true;
    }
    return false;
}

/* Whether what one alternative says by name is not what another says by id, or by a host. */
static bool tell_zones_apart(const struct rail_call *call, const struct places *places)
{
    struct text name = places->zones[ZONE_KEY_NAME], id = places->zones[ZONE_KEY_ID];
    struct text of_id = id.size > 0 ? zone_of_id(call->world->snapshot, id) : TEXT("");
    if (name.size > 0 && of_id.size > 0 && !text_equal(name, of_id))
        return true;
    struct text zone = name.size > 0 ? name : of_id;
    return zone.size > 0 && some_is_in_another_zone(call, &places->hosts, zone);
}

/* Of a nodeSelector, which may have very many labels, and goes with each alternative. */
static struct expressions about_places(const struct expressions *selector, struct arena *arena)
{
    struct expressions some = {0};
    FOR_EACH(expression, selector)
        if (is_host(expression) || zone_key_of(expression->key) != ZONE_KEY_NONE)
            *LIST_PUSH(arena, &some) = *expression;
    return some;
}

bool zone_spread_chooses_places(const struct rail_call *call, const struct workload *workload)
{
    static const struct expressions none;
    const struct node_selection *selection = call_selection(call, workload);
    struct expressions selector = about_places(&selection->selector, call->arena);
    struct places places = {0};
    if (adds_no_zone(call, &places, &selector, &none))
        return true;
    FOR_EACH(term, &selection->required)
        if (!adds_no_zone(call, &places, &selector, &term->expressions))
            return false;
    return selection->required.count > 0 && !tell_zones_apart(call, &places);
}

/* ---- pods that they follow ---- */

/* Whether they are about the machine, or keep some nodes out. */
static bool leaves_all_zones(const struct expressions *expressions)
{
    FOR_EACH(expression, expressions) {
        struct text key = expression_canonical_key(expression);
        bool of_machine = text_is(key, LABEL_ARCH) || text_is(key, LABEL_OS);
        if (zone_key_of(key) != ZONE_KEY_NONE || text_is(key, LABEL_HOSTNAME) ||
            (!of_machine && !solver_op_is_negative(expression->op)))
            return false;
    }
    return true;
}

static bool is_in_all_zones(const struct workload *daemon, struct arena *arena)
{
    struct node_selection selection;
    node_selection_read(daemon, arena, &selection);
    bool open = selection.required.count == 0;
    FOR_EACH(term, &selection.required)
        open |= leaves_all_zones(&term->expressions);
    return open && leaves_all_zones(&selection.selector);
}

/* There may be very many terms, and DaemonSets: what is read of each is given back. */
static bool selects_everywhere(const struct rail_call *call, const struct node *term,
                               const struct object *object)
{
    struct arena_mark mark = arena_mark(call->arena);
    struct workload daemon;
    bool everywhere = topology_term_looks_into(call->world->snapshot, term, call->object->namespace,
                                               object->namespace) == TOPOLOGY_LOOKS &&
                      workload_read(object, call->arena, &daemon) &&
                      selector_matches(node_get(term, "labelSelector"),
                                       node_get(daemon.metadata->node, "labels")) &&
                      is_in_all_zones(&daemon, call->arena);
    arena_rewind(call->arena, mark);
    return everywhere;
}

/* Whether the pods that the term selects are seen to be those of a DaemonSet that runs wherever
 * nodes are: beside them is everywhere. Keys that the pods do not have are ignored. */
static bool selects_daemons(const struct rail_call *call, const struct workload *workload,
                            const struct topology_term *term)
{
    const struct snapshot *snapshot = call->world->snapshot;
    const struct node *node = term->term->node;
    if (workload_has_some_label(workload, node_get(node, "matchLabelKeys")) ||
        workload_has_some_label(workload, node_get(node, "mismatchLabelKeys")))
        return false;
    arena_tick(call->arena, snapshot_count(snapshot, KIND_DAEMON_SET));
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_DAEMON_SET); i++)
        if (selects_everywhere(call, node, snapshot_object(snapshot, KIND_DAEMON_SET, i)))
            return true;
    return false;
}

/* A required affinity by zone or by host. */
bool zone_spread_follows_pods(const struct rail_call *call, const struct workload *workload,
                              const struct topology_term *term)
{
    struct text key = node_string(term->key->node);
    return term->use == TOPOLOGY_AFFINITY && term->required &&
           (zone_key_of(key) != ZONE_KEY_NONE || text_is(key, LABEL_HOSTNAME)) &&
           topology_term_own_key(workload, term, call->arena) == NULL &&
           !selects_daemons(call, workload, term);
}

/* ---- volumes and devices that the replicas share ---- */

static bool is_in_one_zone(const struct rail_call *call, const struct claim *claim)
{
    struct storage_class class;
    const struct object *object = claim_class(call->world->snapshot, claim);
    return object != NULL && storage_class_read(object, call->arena, &class) &&
           storage_class_names_one_zone(&class);
}

static bool holds(const struct rail_call *call, const struct object *object)
{
    const struct snapshot *snapshot = call->world->snapshot;
    struct claim claim;
    claim_read(object->root, call->arena, &claim);
    const struct object *volume =
        snapshot_find(snapshot, KIND_PERSISTENT_VOLUME, TEXT(""),
                      node_string(node_at(object->root->node, "spec.volumeName")));
    if (volume != NULL)
        return volume_is_zonal(volume);
    return claim_is_for_one_node(snapshot, object, call->arena) || is_in_one_zone(call, &claim);
}

/* Of a claim that is not visible nothing is known: it may be of a file system. */
static bool has_volume_of_one_zone(const struct rail_call *call, const struct workload *workload)
{
    struct claims templates;
    claim_templates_read(workload, call->arena, &templates);
    FOR_EACH(template, &templates)
        if (is_in_one_zone(call, template))
            return true;
    const struct claim_names *names = call_claims(call, workload);
    for (size_t i = 0; i < names->count; i++) {
        const struct object *claim =
            snapshot_find(call->world->snapshot, KIND_PERSISTENT_VOLUME_CLAIM,
                          call->object->namespace, node_string(names->items[i]->node));
        if (claim != NULL && holds(call, claim))
            return true;
    }
    return false;
}

/* Devices of one claim are near each other: in a node, or in a rack. */
static bool shares_device(const struct workload *workload)
{
    FOR_ITEMS(claim, node_get(workload->spec->node, "resourceClaims"))
        if (node_string(node_get(claim, "resourceClaimName")).size > 0)
            return true;
    return false;
}

/* ---- nodes that zones do not tell apart ---- */

/* EKS Hybrid Nodes run outside AWS and have no zone. others: whether it also takes other nodes. */
static bool names_hybrid_nodes(const struct expressions *expressions, bool others)
{
    FOR_EACH(expression, expressions)
        if (expression->op == SOLVER_IN && text_is(expression->key, LABEL_COMPUTE_TYPE) &&
            expression_names(expression, TEXT("hybrid")) &&
            (others || expression->value_count == 1))
            return true;
    return false;
}

static bool some_term_names_hybrid_nodes(const struct node_terms *terms)
{
    FOR_EACH(term, terms)
        if (names_hybrid_nodes(&term->expressions, true))
            return true;
    return false;
}

static bool is_for_no_other_nodes(const struct node_selection *selection)
{
    if (names_hybrid_nodes(&selection->selector, false))
        return true;
    FOR_EACH(term, &selection->required)
        if (!names_hybrid_nodes(&term->expressions, false))
            return false;
    return selection->required.count > 0;
}

/* Nodes that are seen, and none of them hybrid, tell that there is none. */
static bool may_have_hybrid_nodes(const struct world *world)
{
    const struct text_map *types = snapshot_node_values(world->snapshot, TEXT(LABEL_COMPUTE_TYPE));
    return snapshot_count(world->snapshot, KIND_NODE) == 0 ||
           !world_sees(world, KIND_BIT(KIND_NODE)) ||
           (types != NULL && text_map_has(types, TEXT("hybrid")));
}

/* A spread would draw what may also run elsewhere away from them, where there are any. */
static bool is_for_hybrid_nodes(const struct rail_call *call, const struct workload *workload)
{
    const struct node_selection *selection = call_selection(call, workload);
    if (is_for_no_other_nodes(selection))
        return true;
    return (some_term_names_hybrid_nodes(&selection->required) ||
            some_term_names_hybrid_nodes(&selection->preferred)) &&
           may_have_hybrid_nodes(call->world);
}

/* Images that are never pulled are where somebody has put them: on a cluster of one machine. A pod
 * that pulls one of its images has a registry, and zones. */
static bool has_local_images(const struct node *containers)
{
    FOR_ITEMS(container, containers)
        if (!text_is(node_string(node_get(container, "imagePullPolicy")), "Never"))
            return false;
    return node_count(containers) > 0;
}

/* "pause" of "registry.k8s.io/pause:3.10", also "pause-amd64", "mirrored-pause". */
static bool is_pause(struct text image)
{
    static const char *const names[] = {"pause",         "pause-amd64", "pause-arm64",
                                        "pause-arm",     "pause-s390x", "pause-ppc64le",
                                        "mirrored-pause"};
    struct text name = image;
    (void)text_split(name, '@', &name, NULL);
    (void)text_split_last(name, '/', NULL, &name);
    (void)text_split(name, ':', &name, NULL);
    return text_is_one_of(name, names, COUNT_OF(names));
}

/* Pods that only hold room for others, which a priority class puts before them: overprovisioning.
 */
static bool is_placeholder(const struct node *spec, const struct node *containers)
{
    FOR_ITEMS(container, containers)
        if (!is_pause(node_string(node_get(container, "image"))))
            return false;
    return node_count(containers) > 0 && node_is_given(node_get(spec, "priorityClassName"));
}

bool zone_spread_is_held(const struct rail_call *call, const struct workload *workload)
{
    const struct node *spec = workload->spec->node;
    const struct node *containers = node_get(spec, "containers");
    return node_string(node_get(spec, "nodeName")).size > 0 ||
           pod_is_on_fargate(node_get(workload->metadata->node, "labels"), spec) ||
           has_local_images(containers) || is_placeholder(spec, containers) ||
           shares_device(workload) || is_for_hybrid_nodes(call, workload) ||
           has_volume_of_one_zone(call, workload);
}
