/* Lists the existing pods, and those that workloads would make. */
#include "simulation/pods.h"

#include <stdlib.h>
#include <string.h>

#include "kube/complaint.h"
#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "simulation/owner.h"
#include "simulation/scaling.h"

/* Kinds whose controllers make pods, in the order in which names are given: pods of a StatefulSet
 * have fixed names. */
static const enum kind makers[] = {KIND_STATEFUL_SET,           KIND_DEPLOYMENT, KIND_REPLICA_SET,
                                   KIND_REPLICATION_CONTROLLER, KIND_JOB,        KIND_CRON_JOB};

struct expansion {
    const struct snapshot *snapshot;
    struct arena *arena;
    struct cluster_pods *pods;
    struct daemons *daemons;
    struct problems *problems;
    struct tally *tallies[KIND_COUNT]; /* of each object of a kind that makes pods */
    bool alone;                        /* Pods of the snapshot do not count */
    const struct workload *like;       /* all pods that are made; NULL: as their workload says */
    const struct object *latest;       /* the Pod that was added last */
    struct lineage lineage;            /* its */
};

/* ---- Pods that are there ---- */

struct text pod_nominated_node(const struct object *pod)
{
    return node_string(node_at(pod->root->node, "status.nominatedNodeName"));
}

bool cluster_pod_is_on_fargate(const struct cluster_pod *pod)
{
    const struct workload *workload = &pod->source->workload;
    return pod_is_on_fargate(node_get(workload->metadata->node, "labels"), workload->spec->node);
}

/* Karpenter buys nothing for pods that wait (docs/reference/karpenter.md 2.1). */
static enum pod_phase phase_of(const struct cluster_pod *pod, const struct node *spec)
{
    if (pod->node_name.size > 0)
        return POD_RUNNING;
    bool gated = node_count(node_get(spec, "schedulingGates")) > 0;
    bool waits = gated || pod->daemon || pod->mirror || pod->leaving ||
                 pod_nominated_node(pod->object).size > 0 || cluster_pod_is_on_fargate(pod);
    return waits ? POD_WAITING : POD_PENDING;
}

bool pod_is_mirror(const struct object *object)
{
    const struct node *annotations = node_at(object->root->node, "metadata.annotations");
    return node_get(annotations, "kubernetes.io/config.mirror") != NULL ||
           text_is(object->controller.kind, "Node");
}

/* Objects with only a generateName get a number. */
static struct text name_of(const struct expansion *expansion, const struct object *object,
                           size_t *number)
{
    if (object->name.size > 0)
        return object->name;
    struct text name;
    do
        name = arena_printf(expansion->arena, "%.*s%zu", TEXT_ARGS(object->generate_name),
                            (*number)++);
    while (snapshot_find(expansion->snapshot, object->kind, object->namespace, name) != NULL);
    return name;
}

static void count_pod(struct expansion *expansion, const struct lineage *lineage,
                      const struct object *object, bool done)
{
    for (size_t i = 0; i < lineage->count; i++) {
        struct tally *tallies = expansion->tallies[lineage->items[i].kind];
        if (tallies == NULL)
            continue;
        struct tally *tally = &tallies[lineage->items[i].index];
        bool succeeded =
            text_is(node_string(node_at(object->root->node, "status.phase")), "Succeeded");
        tally->succeeded += succeeded ? 1 : 0;
        tally->active += done || object->deleting ? 0 : 1;
        if (tally->scaled != NULL && !done && !object->deleting)
            *LIST_PUSH(expansion->arena, &tally->scaled->pods) = expansion->pods->count;
        if (!done &&
            (tally->newest == NULL || object->created_unix_s > tally->newest->created_unix_s))
            tally->newest = object;
    }
}

/* A lineage comes from no other field. */
static bool have_one_lineage(const struct object *a, const struct object *b)
{
    const struct owner *of_a = &a->controller, *of_b = &b->controller;
    return text_equal(a->namespace, b->namespace) && text_equal(of_a->name, of_b->name) &&
           text_equal(of_a->uid, of_b->uid) && text_equal(of_a->kind, of_b->kind) &&
           text_equal(of_a->api_version, of_b->api_version) &&
           text_equal(node_string(node_get(a->labels, "pod-template-hash")),
                      node_string(node_get(b->labels, "pod-template-hash")));
}

/* Pods of one owner stand together. */
static const struct lineage *lineage_of_pod(struct expansion *expansion, const struct object *pod)
{
    if (expansion->latest == NULL || !have_one_lineage(expansion->latest, pod))
        lineage_find(expansion->snapshot, pod, expansion->arena, &expansion->lineage);
    expansion->latest = pod;
    return &expansion->lineage;
}

static struct shape_source *source_of(const struct expansion *expansion,
                                      const struct object *object)
{
    struct shape_source *source = ARENA_NEW(expansion->arena, struct shape_source);
    source->namespace = object->namespace;
    if (expansion->like != NULL && object->kind != KIND_POD)
        source->workload = *expansion->like;
    else
        (void)workload_read(object, expansion->arena, &source->workload);
    return source;
}

static void add_pod(struct expansion *expansion, const struct object *object, size_t *number)
{
    const struct lineage *lineage = lineage_of_pod(expansion, object);
    bool done = pod_is_done(object);
    count_pod(expansion, lineage, object, done);
    if (done)
        return;
    struct cluster_pod pod = {
        .namespace = object->namespace,
        .name = name_of(expansion, object, number),
        .uid = object->uid,
        .owner = lineage->root,
        /* A Pod that was never stored is younger than all stored ones. */
        .created_unix_s = object->created_unix_s > 0 ? object->created_unix_s : INT64_MAX,
        .node_name = node_string(node_at(object->root->node, "spec.nodeName")),
        .daemon = object_is_of_daemon_set(object),
        .mirror = pod_is_mirror(object),
        .leaving = object->deleting,
        .object = object,
        .set = lineage->set,
        .source = source_of(expansion, object),
        .state_node = NO_NODE,
    };
    if (pod.owner.size == 0)
        pod.owner = pod.name;
    if (pod.uid.size == 0)
        pod.uid = arena_printf(expansion->arena, "%.*s/%.*s", TEXT_ARGS(pod.namespace),
                               TEXT_ARGS(pod.name));
    pod.phase = phase_of(&pod, node_get(object->root->node, "spec"));
    pod.had_node = pod.phase == POD_RUNNING;
    *LIST_PUSH(expansion->arena, expansion->pods) = pod;
}

/* ---- pods that a workload would make ---- */

static void add_label(struct shape_source *source, const char *key, struct text value,
                      struct arena *arena)
{
    source->more_labels = labels_with(source->more_labels, key, terminated(arena, value), arena);
}

/* New pods of a Deployment are like its newest ones. */
static struct text template_hash(const struct tally *tally)
{
    static const struct text none_yet = {"new", 3};
    if (tally->newest == NULL)
        return none_yet;
    struct text hash = node_string(node_get(tally->newest->labels, "pod-template-hash"));
    return hash.size > 0 ? hash : none_yet;
}

static struct cluster_pod template_pod(struct expansion *expansion, const struct object *object,
                                       const struct tally *tally, struct text name)
{
    struct arena *arena = expansion->arena;
    struct shape_source *source = source_of(expansion, object);
    if (object->kind == KIND_DEPLOYMENT)
        add_label(source, "pod-template-hash", template_hash(tally), arena);
    if (object->kind == KIND_JOB || object->kind == KIND_CRON_JOB) {
        add_label(source, "job-name", name, arena);
        add_label(source, "batch.kubernetes.io/job-name", name, arena);
    }
    struct lineage lineage;
    lineage_find(expansion->snapshot, object, arena, &lineage);
    struct text own =
        arena_printf(arena, "%s %.*s", kind_table[object->kind].name, TEXT_ARGS(name));
    struct cluster_pod pod = {
        .namespace = object->namespace,
        .owner = lineage.root.size > 0 ? lineage.root : own,
        .created_unix_s = INT64_MAX,
        .object = object,
        .set = object->kind == KIND_STATEFUL_SET ? object : NULL,
        .source = source,
        .shape = ARENA_NEW(arena, struct pod_shape),
        .state_node = NO_NODE,
    };
    pod.phase = cluster_pod_is_on_fargate(&pod) ? POD_WAITING : POD_PENDING;
    return pod;
}

/* Workloads of one name and different kinds would give their pods the same names. */
static struct text pod_prefix(const struct expansion *expansion, const struct object *object,
                              struct text name)
{
    for (size_t i = 0; i < COUNT_OF(makers) && makers[i] != object->kind; i++)
        if (snapshot_find(expansion->snapshot, makers[i], object->namespace, name) != NULL)
            return arena_printf(expansion->arena, "%.*s-%s", TEXT_ARGS(name),
                                kind_table[object->kind].plural);
    return name;
}

static void make_pods(struct expansion *expansion, const struct object *object,
                      const struct tally *tally, struct text name, const struct demand *demand)
{
    struct arena *arena = expansion->arena;
    struct cluster_pod like = template_pod(expansion, object, tally, name);
    struct text prefix = pod_prefix(expansion, object, name);
    int64_t missing = demand->pods;
    for (int64_t i = demand->first; missing > 0; i++) {
        if (demand->last_known && i > demand->last)
            break;
        struct text pod_name = arena_printf(arena, "%.*s-%lld", TEXT_ARGS(prefix), (long long)i);
        const struct object *there = expansion->alone ? NULL
                                                      : snapshot_find(expansion->snapshot, KIND_POD,
                                                                      object->namespace, pod_name);
        if (there != NULL && (object->kind != KIND_STATEFUL_SET || !pod_is_done(there)))
            continue;
        struct cluster_pod *pod = LIST_PUSH(arena, expansion->pods);
        *pod = like;
        pod->name = pod_name;
        /* Zero-padded, so that the tenth comes after the ninth. */
        pod->uid = arena_printf(arena, "%.*s/%.*s-%010lld", TEXT_ARGS(object->namespace),
                                TEXT_ARGS(prefix), (long long)i);
        missing--;
    }
}

/* The fields that say how many pods a workload makes. */
static const char *const count_paths[KIND_COUNT][3] = {
    [KIND_DEPLOYMENT] = {"spec.replicas"},
    [KIND_REPLICA_SET] = {"spec.replicas"},
    [KIND_REPLICATION_CONTROLLER] = {"spec.replicas"},
    [KIND_STATEFUL_SET] = {"spec.replicas", "spec.ordinals.start"},
    [KIND_JOB] = {"spec.parallelism", "spec.completions"},
    [KIND_CRON_JOB] = {"spec.jobTemplate.spec.parallelism", "spec.jobTemplate.spec.completions"},
};

static void leave_out(const struct expansion *expansion, const struct object *object,
                      const struct field *field, struct text name, struct text why)
{
    problems_add(expansion->problems, ERROR_INPUT, object_place(object, field, expansion->arena),
                 "%s %.*s/%.*s is left out: %.*s", kind_table[object->kind].name,
                 TEXT_ARGS(object->namespace), TEXT_ARGS(name), TEXT_ARGS(why));
}

static bool check_counts(const struct expansion *expansion, const struct object *object)
{
    struct arena *arena = expansion->arena;
    struct complaint wrong = {0};
    for (const char *const *path = count_paths[object->kind]; *path != NULL; path++)
        count_check(field_at(arena, object->root, *path), 0, arena, &wrong);
    if (wrong.field != NULL)
        leave_out(expansion, object, wrong.field, object_display_name(object, arena),
                  wrong.message);
    return wrong.field == NULL;
}

static void expand_workload(struct expansion *expansion, const struct object *object,
                            const struct tally *tally, size_t *number)
{
    struct demand demand;
    struct arena *arena = expansion->arena;
    if (object->deleting || !check_counts(expansion, object) ||
        !demand_of(expansion->snapshot, object, tally, &demand))
        return;
    struct text name = name_of(expansion, object, number);
    if (demand.pods > MOST_PODS) {
        leave_out(
            expansion, object, field_at(arena, object->root, count_paths[object->kind][0]), name,
            arena_printf(arena, "it asks for %lld pods; at most %d of one workload are forecast",
                         (long long)demand.pods, MOST_PODS));
        return;
    }
    make_pods(expansion, object, tally, name, &demand);
}

/* ---- DaemonSets: no pods, but room that every node keeps ---- */

void daemon_add(const struct object *object, const struct object *newest, struct arena *arena,
                struct daemons *daemons)
{
    if (object->deleting)
        return;
    struct daemon *daemon = LIST_PUSH(arena, daemons);
    daemon->object = object;
    (void)workload_read(object, arena, &daemon->template);
    daemon->source.namespace = object->namespace;
    (void)workload_read(newest != NULL ? newest : object, arena, &daemon->source.workload);
}

/* ---- workloads that a drill scales ---- */

static void take_scaled(struct expansion *expansion, struct scaled_list *scaled)
{
    for (size_t i = 0; i < scaled->count; i++) {
        const struct ancestor *at = &scaled->items[i].at;
        expansion->tallies[at->kind][at->index].scaled = &scaled->items[i];
    }
}

/* Leaves out the pods that go when their workload has fewer replicas. */
static void drop_surplus(const struct expansion *expansion, const struct scaled_list *scaled)
{
    struct cluster_pods *pods = expansion->pods;
    bool *goes = ARENA_ARRAY(expansion->arena, pods->count, bool);
    for (size_t i = 0; i < scaled->count; i++) {
        const struct scaled *workload = &scaled->items[i];
        struct tally *tally = &expansion->tallies[workload->at.kind][workload->at.index];
        scaled_choose(workload, pods, expansion->arena, goes);
        FOR_EACH(pod, &workload->pods)
            tally->active -= goes[*pod] ? 1 : 0;
    }
    size_t count = 0;
    for (size_t i = 0; i < pods->count; i++)
        if (!goes[i])
            pods->items[count++] = pods->items[i];
    pods->count = count;
}

/* ---- all ---- */

static int compare_pods(const void *a_pointer, const void *b_pointer)
{
    const struct cluster_pod *a = a_pointer;
    const struct cluster_pod *b = b_pointer;
    int order = text_compare(a->namespace, b->namespace);
    return order != 0 ? order : text_compare(a->name, b->name);
}

/* Those that are there come by name, and are large to move: only the others are sorted, and merged
 * from the end. */
static void sort_pods(struct cluster_pods *pods, struct arena *arena)
{
    struct cluster_pod *items = pods->items;
    size_t there = pods->count > 0 ? 1 : 0;
    while (there < pods->count && compare_pods(&items[there - 1], &items[there]) <= 0)
        there++;
    size_t made_count = pods->count - there;
    if (made_count == 0)
        return;
    struct cluster_pod *made = ARENA_ARRAY(arena, made_count, struct cluster_pod);
    memcpy(made, items + there, made_count * sizeof *made);
    qsort(made, made_count, sizeof *made, compare_pods);
    for (size_t i = pods->count; made_count > 0; i--)
        items[i - 1] = there > 0 && compare_pods(&items[there - 1], &made[made_count - 1]) > 0
                           ? items[--there]
                           : made[--made_count];
}

void expand_pods(const struct snapshot *snapshot, struct scaled_list *scaled, struct arena *arena,
                 struct cluster_pods *pods, struct daemons *daemons, struct problems *problems)
{
    struct expansion expansion = {.snapshot = snapshot,
                                  .arena = arena,
                                  .pods = pods,
                                  .daemons = daemons,
                                  .problems = problems};
    for (size_t i = 0; i < COUNT_OF(makers); i++)
        expansion.tallies[makers[i]] =
            ARENA_ARRAY(arena, snapshot_count(snapshot, makers[i]), struct tally);
    expansion.tallies[KIND_DAEMON_SET] =
        ARENA_ARRAY(arena, snapshot_count(snapshot, KIND_DAEMON_SET), struct tally);

    /* Workloads lack few pods: with room for these the list is not moved. */
    pods->capacity = snapshot_count(snapshot, KIND_POD) * 5 / 4;
    pods->items = ARENA_ARRAY(arena, pods->capacity, struct cluster_pod);
    take_scaled(&expansion, scaled);
    size_t number = 0;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_POD); i++)
        add_pod(&expansion, snapshot_object(snapshot, KIND_POD, i), &number);
    if (scaled->count > 0)
        drop_surplus(&expansion, scaled);
    for (size_t i = 0; i < COUNT_OF(makers); i++) {
        number = 0;
        for (size_t j = 0; j < snapshot_count(snapshot, makers[i]); j++)
            expand_workload(&expansion, snapshot_object(snapshot, makers[i], j),
                            &expansion.tallies[makers[i]][j], &number);
    }
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_DAEMON_SET); i++)
        daemon_add(snapshot_object(snapshot, KIND_DAEMON_SET, i),
                   expansion.tallies[KIND_DAEMON_SET][i].newest, arena, daemons);
    sort_pods(pods, arena);
}

int64_t expand_alone(const struct snapshot *snapshot, const struct expansion_of *of,
                     struct arena *arena, struct cluster_pods *pods, struct problems *problems)
{
    struct expansion expansion = {.snapshot = snapshot,
                                  .arena = arena,
                                  .pods = pods,
                                  .problems = problems,
                                  .alone = true,
                                  .like = of->pods};
    const struct tally none = {0};
    size_t number = 0;
    struct demand demand;
    if (of->object->kind == KIND_POD) {
        add_pod(&expansion, of->object, &number);
        return 0;
    }
    if (!check_counts(&expansion, of->object) || !demand_alone(of->object, of->replicas, &demand))
        return 0;
    int64_t left_out = demand.pods > of->most ? demand.pods - of->most : 0;
    demand.pods -= left_out;
    make_pods(&expansion, of->object, &none, name_of(&expansion, of->object, &number), &demand);
    return left_out;
}

/* A Pod in the snapshot; other workloads' Pods that wait for a node are not looked at. */
static void add_pod_beside(struct expansion *expansion, const struct object *pod,
                           const struct tally *own, size_t *number)
{
    int64_t before = own->active;
    size_t count = expansion->pods->count;
    add_pod(expansion, pod, number);
    if (expansion->pods->count > count && own->active == before &&
        expansion->pods->items[count].phase != POD_RUNNING)
        expansion->pods->count = count;
}

int64_t expand_beside(const struct snapshot *snapshot, const struct expansion_of *of,
                      struct arena *arena, struct cluster_pods *pods, struct problems *problems)
{
    struct expansion expansion = {
        .snapshot = snapshot, .arena = arena, .pods = pods, .problems = problems, .like = of->pods};
    const struct object *object = of->object;
    size_t index = snapshot_index(snapshot, object->kind, object->namespace, object->name);
    struct tally *tallies =
        ARENA_ARRAY(arena, snapshot_count(snapshot, object->kind) + 1, struct tally);
    struct tally *own = &tallies[index];
    struct scaled scaled = {.object = object, .replicas = of->replicas};
    struct demand demand;
    size_t number = 0;
    int64_t left_out = 0;
    expansion.tallies[object->kind] = tallies;
    own->scaled = of->replicas < 0 ? NULL : &scaled;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_POD); i++)
        if (object->kind != KIND_POD || i != index)
            add_pod_beside(&expansion, snapshot_object(snapshot, KIND_POD, i), own, &number);
    if (object->kind == KIND_POD) {
        add_pod(&expansion, object, &number);
    } else if (check_counts(&expansion, object) && demand_of(snapshot, object, own, &demand)) {
        left_out = demand.pods > of->most ? demand.pods - of->most : 0;
        demand.pods -= left_out;
        make_pods(&expansion, object, own, name_of(&expansion, object, &number), &demand);
    }
    if (pods->count > 0)
        qsort(pods->items, pods->count, sizeof *pods->items, compare_pods);
    return left_out;
}
