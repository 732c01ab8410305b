/* Finds the workloads that a drill scales, and which of their pods go when there are fewer. */
#include "simulation/scaling.h"

#include <stdlib.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "simulation/pods.h"

/* ---- which workloads ---- */

struct search {
    const struct snapshot *snapshot;
    const struct drill *drill;
    struct arena *arena;
    struct problems *problems;
};

static struct text title_of(const struct search *search, const struct drill_scale *scale)
{
    return arena_printf(search->arena, "%s %.*s%s%.*s", kind_table[scale->kind].name,
                        TEXT_ARGS(scale->namespace), scale->namespace.size > 0 ? "/" : "",
                        TEXT_ARGS(scale->name));
}

/* Adds a problem and returns NULL. */
static const struct object *refuse(const struct search *search, const struct drill_scale *scale,
                                   struct text why)
{
    problems_add(search->problems, ERROR_USAGE, NOWHERE, "%.*s cannot be scaled: %.*s",
                 TEXT_ARGS(title_of(search, scale)), TEXT_ARGS(why));
    return NULL;
}

/* The namespaces that have a workload of that kind and name. */
static struct text_list namespaces_with(const struct search *search,
                                        const struct drill_scale *scale)
{
    struct text_list namespaces = {0};
    for (size_t i = 0; i < snapshot_count(search->snapshot, scale->kind); i++) {
        const struct object *object = snapshot_object(search->snapshot, scale->kind, i);
        if (text_equal(object->name, scale->name))
            *LIST_PUSH(search->arena, &namespaces) = object->namespace;
    }
    return namespaces;
}

/* Where no namespace is said and only one has a workload of that name, it is meant. */
static const struct object *find(const struct search *search, const struct drill_scale *scale)
{
    enum { MOST_NAMED = 5 };
    struct text_list namespaces = namespaces_with(search, scale);
    struct text meant = scale->namespace;
    if (meant.size == 0)
        meant = namespaces.count == 1 ? namespaces.items[0] : search->drill->namespace;
    if (texts_have(namespaces.items, namespaces.count, meant))
        return snapshot_find(search->snapshot, scale->kind, meant, scale->name);
    if (namespaces.count == 0)
        return refuse(search, scale, TEXT("there is no such workload"));
    return refuse(search, scale,
                  arena_printf(search->arena, "there is one in %.*s; write KIND/NAMESPACE/NAME=N",
                               TEXT_ARGS(texts_and(namespaces.items, namespaces.count, MOST_NAMED,
                                                   search->arena))));
}

static const struct object *check(const struct search *search, const struct drill_scale *scale,
                                  const struct object *object, const struct scaled_list *before)
{
    struct lineage lineage;
    if (object == NULL)
        return NULL;
    for (size_t i = 0; i < before->count; i++)
        if (before->items[i].object == object)
            return refuse(search, scale, TEXT("it is named twice"));
    lineage_find(search->snapshot, object, search->arena, &lineage);
    if (lineage.count > 0)
        return refuse(search, scale,
                      arena_printf(search->arena, "%.*s sets its replicas; scale that",
                                   TEXT_ARGS(lineage.root)));
    return object;
}

struct scaled_list scaled_find(const struct snapshot *snapshot, const struct drill *drill,
                               struct arena *arena, struct problems *problems)
{
    struct scaled_list list = {0};
    if (drill == NULL)
        return list;
    const struct search search = {snapshot, drill, arena, problems};
    list.items = ARENA_ARRAY(arena, drill->scales.count, struct scaled);
    for (size_t i = 0; i < drill->scales.count; i++) {
        const struct drill_scale *scale = &drill->scales.items[i];
        const struct object *object = check(&search, scale, find(&search, scale), &list);
        if (object == NULL)
            continue;
        size_t index = snapshot_index(snapshot, object->kind, object->namespace, object->name);
        list.items[list.count++] = (struct scaled){
            .object = object,
            .at = {object->kind, index},
            .before = node_int32(object->root->node, "spec.replicas", 1),
            .replicas = scale->replicas,
        };
    }
    return list;
}

/* ---- which pods go ---- */

/* The cost that a pod says its deletion has: the cheapest goes first. */
static int64_t deletion_cost(const struct cluster_pod *pod)
{
    int64_t cost = 0;
    struct text written =
        object_annotation(pod->object, "controller.kubernetes.io/pod-deletion-cost");
    return text_to_int64(written, &cost) ? cost : 0;
}

/* In the order in which a ReplicaSet's controller deletes them, as far as a plan knows it: those
 * without a node, the cheapest, the youngest. */
static int compare_leavers(const void *a_pointer, const void *b_pointer)
{
    const struct cluster_pod *a = *(const struct cluster_pod *const *)a_pointer;
    const struct cluster_pod *b = *(const struct cluster_pod *const *)b_pointer;
    if (a->had_node != b->had_node)
        return a->had_node ? 1 : -1;
    int64_t a_cost = deletion_cost(a), b_cost = deletion_cost(b);
    if (a_cost != b_cost)
        return a_cost < b_cost ? -1 : 1;
    if (a->created_unix_s != b->created_unix_s)
        return a->created_unix_s > b->created_unix_s ? -1 : 1;
    return text_compare(a->name, b->name);
}

/* A StatefulSet has the ordinals from its start on: those beyond go. */
static bool is_beyond(const struct cluster_pod *pod, int64_t first, int64_t replicas)
{
    struct text rest;
    int64_t ordinal = 0;
    return text_split_last(pod->name, '-', NULL, &rest) && text_is_digits(rest) &&
           text_to_int64(rest, &ordinal) && ordinal - first >= replicas;
}

void scaled_choose(const struct scaled *scaled, const struct cluster_pods *pods,
                   struct arena *arena, bool *goes)
{
    size_t count = scaled->pods.count;
    if (scaled->at.kind == KIND_STATEFUL_SET) {
        int64_t first = node_int32(scaled->object->root->node, "spec.ordinals.start", 0);
        for (size_t i = 0; i < count; i++)
            if (is_beyond(&pods->items[scaled->pods.items[i]], first, scaled->replicas))
                goes[scaled->pods.items[i]] = true;
        return;
    }
    if (count <= (size_t)scaled->replicas)
        return;
    const struct cluster_pod **sorted = ARENA_ARRAY(arena, count, const struct cluster_pod *);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &pods->items[scaled->pods.items[i]];
    qsort(sorted, count, sizeof(const struct cluster_pod *), compare_leavers);
    for (size_t i = 0; i < count - (size_t)scaled->replicas; i++)
        goes[sorted[i] - pods->items] = true;
}
