/* The spread that zone-spread adds to Pods. */
#include "kube/pod.h"
#include "kube/selector.h"
#include "kube/snapshot.h"
#include "kube/volume.h"
#include "kube/volume_zones.h"
#include "kube/zone.h"
#include "policy/owner.h"
#include "policy/rails/zone_spread.h"
#include "solver/well_known.h"

/* A Deployment tells the pods of its revisions apart by it. */
#define HASH "pod-template-hash"

/* ---- whose pod it is ---- */

/* Its ReplicaSet may not be visible when the Deployment is. */
static const struct object *find_workload(const struct rail_call *call)
{
    const struct object *pod = call->object;
    const struct root_owner root = root_owner_find(call->world, call->subject);
    if (root.object != NULL)
        return root.object;
    return text_is(pod->controller.kind, "ReplicaSet")
               ? snapshot_find(call->world->snapshot, KIND_DEPLOYMENT, pod->namespace,
                               owner_name_without_hash(pod))
               : NULL;
}

/* ---- volumes that leave no choice of a zone ---- */

/* Disks that a pod names itself, without a claim. */
static bool names_disk(const struct workload *workload)
{
    static const char *const sources[] = {"awsElasticBlockStore", "gcePersistentDisk", "azureDisk",
                                          "cinder"};
    const struct node *volumes = node_get(workload->spec->node, "volumes");
    for (size_t i = 0; i < node_count(volumes); i++)
        for (size_t j = 0; j < COUNT_OF(sources); j++)
            if (node_get(node_item(volumes, i), sources[j]) != NULL)
                return true;
    return false;
}

/* What cannot be seen may be one. */
static bool may_have_zonal_volume(const struct rail_call *call, const struct workload *workload)
{
    const struct snapshot *snapshot = call->world->snapshot;
    struct claim_names names;
    if (names_disk(workload))
        return true;
    claim_names_read(workload, call->arena, &names);
    for (size_t i = 0; i < names.count; i++) {
        const struct object *claim =
            snapshot_find(snapshot, KIND_PERSISTENT_VOLUME_CLAIM, call->object->namespace,
                          node_string(names.items[i]->node));
        if (claim == NULL)
            return true;
        struct text name = node_string(node_at(claim->root->node, "spec.volumeName"));
        const struct object *volume =
            snapshot_find(snapshot, KIND_PERSISTENT_VOLUME, TEXT(""), name);
        if (name.size > 0 && (volume == NULL || volume_is_zonal(volume)))
            return true;
    }
    return false;
}

/* ---- the constraint ---- */

static struct node map_without(const struct node *map, const char *key, struct arena *arena)
{
    struct member *members = ARENA_ARRAY(arena, node_count(map), struct member);
    size_t count = 0;
    for (size_t i = 0; i < node_count(map); i++)
        if (!text_is(member_key(&map->members[i]), key))
            members[count++] = map->members[i];
    return node_of_members(members, count);
}

static struct node expressions_without(const struct node *list, const char *key,
                                       struct arena *arena)
{
    struct node *items = ARENA_ARRAY(arena, node_count(list), struct node);
    size_t count = 0;
    for (size_t i = 0; i < node_count(list); i++)
        if (!text_is(node_string(node_get(&list->items[i], "key")), key))
            items[count++] = list->items[i];
    return node_of_items(items, count);
}

/* A key may not stand in the selector and in matchLabelKeys. */
static struct node selector_without_hash(const struct node *selector, struct arena *arena)
{
    struct member *members = ARENA_ARRAY(arena, node_count(selector), struct member);
    for (size_t i = 0; i < node_count(selector); i++) {
        struct member *member = &members[i];
        *member = selector->members[i];
        struct text key = member_key(member);
        if (text_is(key, "matchLabels"))
            member->value = map_without(&member->value, HASH, arena);
        else if (text_is(key, "matchExpressions"))
            member->value = expressions_without(&member->value, HASH, arena);
    }
    return node_of_members(members, node_count(selector));
}

static struct node constraint_of(struct node selector, struct text when_unsatisfiable,
                                 bool has_hash, struct arena *arena)
{
    enum { MEMBERS_MAX = 6 };
    struct member *members = ARENA_ARRAY(arena, MEMBERS_MAX, struct member);
    size_t count = 0;
    members[count++] = member_of(TEXT("maxSkew"), node_of_integer(1, arena));
    members[count++] = member_of(TEXT("topologyKey"), node_of_text(TEXT(LABEL_ZONE)));
    members[count++] = member_of(TEXT("whenUnsatisfiable"), node_of_text(when_unsatisfiable));
    members[count++] = member_of(TEXT("labelSelector"), selector);
    if (has_hash) {
        const struct node *hash = node_keep(arena, node_of_text(TEXT(HASH)));
        members[count++] = member_of(TEXT("matchLabelKeys"), node_of_items(hash, 1));
    }
    members[count++] = member_of(TEXT("nodeTaintsPolicy"), node_of_text(TEXT("Honor")));
    return node_of_members(members, count);
}

void zone_spread_change_pod(struct rail_call *call, const struct zone_spread *settings)
{
    struct arena *arena = call->arena;
    const struct object *pod = call->object;
    struct workload workload;
    struct node selector;
    const struct topology_term *by;
    if (settings->action != SPREAD_DEFAULT || !workload_read(pod, arena, &workload) ||
        node_string(node_get(workload.spec->node, "nodeName")).size > 0)
        return;
    const struct object *owner = find_workload(call);
    if (owner == NULL || !zone_spread_has_replicas(call, owner, settings) ||
        !zone_spread_selector(owner, arena, &selector) || !selector_matches(&selector, pod->labels))
        return;
    /* Beside a constraint of its own that spreads nothing, another with the same key would be
     * refused. */
    if (zone_spread_find(call, &workload, zone_spread_replicas(call, owner), &by) !=
        SPREAD_NOT_AT_ALL)
        return;

    bool waits =
        settings->when_unsatisfiable == DO_NOT_SCHEDULE && !may_have_zonal_volume(call, &workload);
    struct text when_unsatisfiable = waits ? TEXT("DoNotSchedule") : TEXT("ScheduleAnyway");
    bool has_hash = node_get(pod->labels, HASH) != NULL;
    if (has_hash)
        selector = selector_without_hash(&selector, arena);
    struct patch patch = {0};
    patch_append(&patch, arena, field_get(arena, workload.spec, "topologySpreadConstraints"),
                 constraint_of(selector, when_unsatisfiable, has_hash, arena));
    bool ignored = !waits && policy_set_karpenter(call->world->policies)->ignore_preferences;
    propose_change(call,
                   &(struct change){
                       .patch = patch,
                       .added = arena_printf(
                           arena, "a spread over zones (%.*s)%s", TEXT_ARGS(when_unsatisfiable),
                           ignored ? ", which Karpenter ignores: it may buy any zone" : ""),
                   });
}
