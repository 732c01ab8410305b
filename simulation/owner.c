/* Finds the owners of a pod, and how many more pods a workload makes. */
#include "simulation/owner.h"

#include "kube/object.h"
#include "kube/snapshot.h"
#include "simulation/scaling.h"

/* ---- who owns what ---- */

static bool find_owner(const struct snapshot *snapshot, struct text namespace,
                       const struct owner *owner, struct ancestor *ancestor)
{
    ancestor->kind = kind_of(owner->api_version, owner->kind);
    if (ancestor->kind == KIND_UNKNOWN || !kind_table[ancestor->kind].namespaced)
        return false;
    ancestor->index = snapshot_index(snapshot, ancestor->kind, namespace, owner->name);
    const struct object *found = snapshot_object(snapshot, ancestor->kind, ancestor->index);
    return found != NULL && uids_agree(found->uid, owner->uid);
}

/* Where an owner is not visible, its name tells the owner above: a Deployment names its ReplicaSets
 * NAME-HASH and labels them and their pods with the hash; a CronJob names its Jobs NAME-MINUTES. */
static bool find_above(const struct snapshot *snapshot, const struct object *object,
                       const struct owner *owner, struct text *above, enum kind *kind,
                       struct ancestor *ancestor)
{
    struct text name, rest;
    if (!text_split_last(owner->name, '-', &name, &rest))
        return false;
    struct text hash = node_string(node_get(object->labels, "pod-template-hash"));
    if (text_is(owner->kind, "ReplicaSet") && hash.size > 0 && text_equal(hash, rest))
        *kind = KIND_DEPLOYMENT;
    else if (text_is(owner->kind, "Job") && text_is_digits(rest) &&
             snapshot_find(snapshot, KIND_CRON_JOB, object->namespace, name) != NULL)
        *kind = KIND_CRON_JOB;
    else
        return false;
    *above = name;
    ancestor->kind = *kind;
    ancestor->index = snapshot_index(snapshot, *kind, object->namespace, name);
    return ancestor->index < snapshot_count(snapshot, *kind);
}

void lineage_find(const struct snapshot *snapshot, const struct object *object, struct arena *arena,
                  struct lineage *lineage)
{
    enum { LONGEST = 8 };
    *lineage = (struct lineage){0};
    const struct object *current = object;
    for (int i = 0; i < LONGEST && current->controller.name.size > 0; i++) {
        const struct owner *owner = &current->controller;
        struct ancestor ancestor;
        struct text name = owner->name;
        enum kind kind = kind_by_name(owner->kind);
        bool visible = find_owner(snapshot, object->namespace, owner, &ancestor);
        if (!visible)
            visible = find_above(snapshot, current, owner, &name, &kind, &ancestor);
        struct text kind_name = kind == KIND_UNKNOWN ? owner->kind : text_of(kind_table[kind].name);
        lineage->root = arena_printf(arena, "%.*s %.*s", TEXT_ARGS(kind_name), TEXT_ARGS(name));
        if (!visible)
            break;
        *LIST_PUSH(arena, lineage) = ancestor;
        current = snapshot_object(snapshot, ancestor.kind, ancestor.index);
        if (ancestor.kind == KIND_STATEFUL_SET)
            lineage->set = current;
    }
}

/* ---- how many pods ---- */

static bool is_suspended(const struct object *object)
{
    return node_true(node_at(object->root->node, "spec.suspend"));
}

/* At most parallelism, and at most the completions that are left. */
static int64_t job_pods(const struct node *spec, int64_t succeeded)
{
    int64_t parallelism = node_int32(spec, "parallelism", 1);
    bool counted = node_is(node_get(spec, "completions"), NODE_NUMBER) ||
                   !node_is(node_get(spec, "parallelism"), NODE_NUMBER);
    int64_t left = node_int32(spec, "completions", 1) - succeeded;
    if (counted && left < parallelism)
        return left > 0 ? left : 0;
    return parallelism;
}

static bool job_is_over(const struct object *job)
{
    return object_condition_holds(job, "Complete") || object_condition_holds(job, "Failed");
}

static int64_t job_demand(const struct object *job, const struct tally *tally)
{
    const struct node *root = job->root->node;
    int64_t succeeded = node_int32(root, "status.succeeded", 0);
    if (tally->succeeded > succeeded)
        succeeded = tally->succeeded;
    if (is_suspended(job) || job_is_over(job))
        return 0;
    return job_pods(node_get(root, "spec"), succeeded) - tally->active;
}

static bool owns_a_running_job(const struct snapshot *snapshot, const struct object *cron_job)
{
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_JOB); i++) {
        const struct object *job = snapshot_object(snapshot, KIND_JOB, i);
        struct ancestor ancestor;
        if (job->controller.name.size > 0 && !job->deleting && !job_is_over(job) &&
            find_owner(snapshot, job->namespace, &job->controller, &ancestor) &&
            snapshot_object(snapshot, ancestor.kind, ancestor.index) == cron_job)
            return true;
    }
    return false;
}

static int64_t cron_job_demand(const struct snapshot *snapshot, const struct object *cron_job,
                               const struct tally *tally)
{
    const struct node *root = cron_job->root->node;
    if (is_suspended(cron_job) || owns_a_running_job(snapshot, cron_job))
        return 0;
    return job_pods(node_at(root, "spec.jobTemplate.spec"), 0) - tally->active;
}

static int64_t replicas_of(const struct node *root, const struct tally *tally)
{
    return tally->scaled != NULL ? tally->scaled->replicas : node_int32(root, "spec.replicas", 1);
}

bool demand_of(const struct snapshot *snapshot, const struct object *object,
               const struct tally *tally, struct demand *demand)
{
    const struct node *root = object->root->node;
    struct ancestor above;
    *demand = (struct demand){0};
    switch (object->kind) {
    case KIND_REPLICA_SET:
        if (object->controller.name.size > 0 &&
            find_owner(snapshot, object->namespace, &object->controller, &above))
            return false;
        demand->pods = replicas_of(root, tally) - tally->active;
        break;
    case KIND_DEPLOYMENT:
    case KIND_REPLICATION_CONTROLLER:
        demand->pods = replicas_of(root, tally) - tally->active;
        break;
    case KIND_STATEFUL_SET:
        demand->pods = replicas_of(root, tally);
        demand->first = node_int32(root, "spec.ordinals.start", 0);
        demand->last = demand->first + demand->pods - 1;
        demand->last_known = true;
        break;
    case KIND_JOB:
        demand->pods = job_demand(object, tally);
        break;
    case KIND_CRON_JOB:
        demand->pods = cron_job_demand(snapshot, object, tally);
        break;
    default:
        return false;
    }
    return demand->pods > 0;
}

bool demand_alone(const struct object *object, int64_t replicas, struct demand *demand)
{
    const struct node *root = object->root->node;
    const char *job = object->kind == KIND_JOB ? "spec" : "spec.jobTemplate.spec";
    *demand = (struct demand){0};
    if (object->kind != KIND_JOB && object->kind != KIND_CRON_JOB)
        demand->pods = replicas < 0 ? node_int32(root, "spec.replicas", 1) : replicas;
    else if (!is_suspended(object))
        demand->pods = job_pods(node_at(root, job), 0);
    return demand->pods > 0;
}
