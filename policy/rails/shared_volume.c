/* The rail shared-volume: several pods on a volume that attaches to one node. */
#include "policy/rails/shared_volume.h"

#include "kube/autoscaler.h"
#include "kube/pod.h"
#include "kube/snapshot.h"
#include "kube/topology.h"
#include "kube/volume.h"
#include "policy/rail.h"
#include "policy/reading.h"
#include "solver/well_known.h"

static const struct key keys[] = {{0}};

/* ---- how many pods there are at once ---- */

enum crowd {
    CROWD_ONE,
    CROWD_UPDATE,   /* two while it is updated */
    CROWD_REPLICAS, /* several */
    CROWD_DAEMON,   /* one on every node */
};

static int64_t pods_of_job(const struct object *object, const char *parallelism,
                           const char *completions)
{
    int64_t at_once = node_int32(object->root->node, parallelism, 1);
    int64_t in_all = node_int32(object->root->node, completions, at_once);
    return in_all < at_once ? in_all : at_once;
}

/* An update of one replica starts another one first, unless it is told not to. */
static bool updates_by_surge(const struct object *deployment)
{
    const struct node *root = deployment->root->node;
    struct text surge = node_text(node_at(root, "spec.strategy.rollingUpdate.maxSurge"));
    return !text_is(node_string(node_at(root, "spec.strategy.type")), "Recreate") &&
           !text_is(surge, "0") && !text_is(surge, "0%");
}

static enum crowd crowd_of(const struct snapshot *snapshot, const struct object *object)
{
    int64_t replicas = 1;
    switch (object->kind) {
    case KIND_DAEMON_SET:
        return CROWD_DAEMON;
    case KIND_JOB:
        replicas = pods_of_job(object, "spec.parallelism", "spec.completions");
        break;
    case KIND_CRON_JOB:
        replicas = pods_of_job(object, "spec.jobTemplate.spec.parallelism",
                               "spec.jobTemplate.spec.completions");
        break;
    default:
        replicas = replicas_read(snapshot, object).most;
        break;
    }
    if (replicas > 1)
        return CROWD_REPLICAS;
    bool updates = replicas == 1 && object->kind == KIND_DEPLOYMENT && updates_by_surge(object);
    return updates ? CROWD_UPDATE : CROWD_ONE;
}

/* ---- what keeps them on one node ---- */

static struct text host_named(const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (expression->valid && expression->op == SOLVER_IN && expression->value_count == 1 &&
            text_is(expression->key, LABEL_HOSTNAME))
            return expression->values[0].text;
    return TEXT("");
}

static bool names_one_host(const struct rail_call *call, const struct workload *workload)
{
    const struct node_selection *selection = call_selection(call, workload);
    if (host_named(&selection->selector).size > 0)
        return true;
    struct text host = TEXT("");
    for (size_t i = 0; i < selection->required.count; i++) {
        struct text named = host_named(&selection->required.items[i].expressions);
        if (named.size == 0 || (i > 0 && !text_equal(named, host)))
            return false;
        host = named;
    }
    return selection->required.count > 0;
}

static bool keeps_on_one_node(const struct rail_call *call, const struct workload *workload)
{
    if (node_string(node_get(workload->spec->node, "nodeName")).size > 0 ||
        names_one_host(call, workload))
        return true;
    const struct topology_terms *terms = call_topology(call, workload);
    FOR_EACH(term, terms)
        if (term->use == TOPOLOGY_AFFINITY && term->required &&
            text_is(node_string(term->key->node), LABEL_HOSTNAME) &&
            topology_term_may_select_itself(call->world->snapshot, workload, term))
            return true;
    return false;
}

/* ---- which claims one node holds for itself ---- */

/* Local disks keep their pods on their node by themselves. */
static bool is_shared_volume(const struct object *volume)
{
    static const char *const sources[] = {"nfs",       "cephfs",   "azureFile",
                                          "glusterfs", "hostPath", "local"};
    const struct node *spec = node_get(volume->root->node, "spec");
    for (size_t i = 0; i < COUNT_OF(sources); i++)
        if (node_get(spec, sources[i]) != NULL)
            return true;
    return driver_is_shared(node_string(node_at(spec, "csi.driver")));
}

static bool has_mode(const struct node *modes, const char *mode)
{
    FOR_ITEMS(item, modes)
        if (text_is(node_string(item), mode))
            return true;
    return false;
}

bool claim_is_for_one_node(const struct snapshot *snapshot, const struct object *object,
                           struct arena *arena)
{
    const struct node *modes = node_at(object->root->node, "spec.accessModes");
    if (!has_mode(modes, "ReadWriteOnce") || has_mode(modes, "ReadWriteMany") ||
        has_mode(modes, "ReadOnlyMany"))
        return false;
    struct text volume_name = node_string(node_at(object->root->node, "spec.volumeName"));
    const struct object *volume =
        snapshot_find(snapshot, KIND_PERSISTENT_VOLUME, TEXT(""), volume_name);
    if (volume != NULL)
        return !is_shared_volume(volume);
    struct claim claim;
    struct storage_class class;
    claim_read(object->root, arena, &claim);
    const struct object *of_claim = claim_class(snapshot, &claim);
    return of_claim == NULL || !storage_class_read(of_claim, arena, &class) ||
           !driver_is_shared(class.provisioner);
}

/* ---- what is said ---- */

struct check {
    struct rail_call *call;
    const struct workload *workload;
    enum crowd crowd;
};

/* Not how many: a mistake stays the same when there are more. */
static struct text who_mounts(const struct check *check)
{
    switch (check->crowd) {
    case CROWD_DAEMON:
        return TEXT("A pod on every node mounts");
    case CROWD_UPDATE:
        return TEXT("An update starts the new pod before the old one ends, and both mount");
    default:
        return TEXT("Several pods mount");
    }
}

/* No disk that one node attaches can be had as ReadWriteMany. */
#define SHARED_CLAIM "a ReadWriteMany claim of a shared file system (EFS, FSx, NFS)"

static struct text fix_of(const struct check *check)
{
    if (check->crowd == CROWD_UPDATE)
        return TEXT("Set spec.strategy to {type: Recreate}.");
    if (check->crowd == CROWD_DAEMON)
        return TEXT("Use " SHARED_CLAIM ", or give the pod of each node a volume of its "
                    "own: ephemeral (volumes[].ephemeral), or of the node (hostPath).");
    enum kind kind = check->call->object->kind;
    if (kind == KIND_STATEFUL_SET)
        return TEXT("Give each replica a claim of its own under volumeClaimTemplates, or "
                    "use " SHARED_CLAIM ".");
    if (kind == KIND_JOB || kind == KIND_CRON_JOB)
        return TEXT("Use " SHARED_CLAIM ", a volume of its own for each pod (ephemeral), "
                    "or a required podAffinity of the pods to themselves by " LABEL_HOSTNAME ".");
    return TEXT("Use " SHARED_CLAIM ", a StatefulSet with volumeClaimTemplates, or a "
                "required podAffinity of the pods to themselves by " LABEL_HOSTNAME ".");
}

static void judge_claim(const struct check *check, const struct field *field)
{
    struct rail_call *call = check->call;
    struct text name = node_string(field->node);
    bool updates = check->crowd == CROWD_UPDATE;
    const struct object *claim = snapshot_find(call->world->snapshot, KIND_PERSISTENT_VOLUME_CLAIM,
                                               call->object->namespace, name);
    if (claim == NULL && !updates)
        report_found(call, SEVERITY_UNDECIDED, field, name,
                     advice_to_show_one(call, KIND_PERSISTENT_VOLUME_CLAIM, "the claim"),
                     "%.*s claim \"%.*s\", which is not visible. ReadWriteOnce would keep it to "
                     "one node.",
                     TEXT_ARGS(who_mounts(check)), TEXT_ARGS(name));
    if (claim != NULL && claim_is_for_one_node(call->world->snapshot, claim, call->arena))
        report_found(call, updates ? SEVERITY_WARN : SEVERITY_RAIL, field, name, fix_of(check),
                     "%.*s claim \"%.*s\" (ReadWriteOnce), which only one node can attach. On "
                     "another node a pod waits for ever (Multi-Attach).",
                     TEXT_ARGS(who_mounts(check)), TEXT_ARGS(name));
}

/* The volumes that a StatefulSet's templates take the place of, by name. */
static struct text_map replaced_volumes(const struct rail_call *call)
{
    const struct node *templates = node_at(call->object->root->node, "spec.volumeClaimTemplates");
    struct text_map names = {0};
    FOR_ITEMS(template, templates)
        (void)text_map_add(&names, call->arena, node_string(node_at(template, "metadata.name")));
    return names;
}

static void judge(struct rail_call *call)
{
    struct workload workload;
    struct check check = {.call = call, .workload = &workload};
    check.crowd = crowd_of(call->world->snapshot, call->object);
    /* How a workload is updated has nothing to do with its scale. */
    if (check.crowd == CROWD_ONE ||
        (check.crowd == CROWD_UPDATE && subject_is_scale(call->subject)) ||
        !call_workload(call, &workload))
        return;
    const struct claim_names *names = call_claims(call, &workload);
    if (names->count == 0 || keeps_on_one_node(call, &workload))
        return;
    struct text_map replaced = replaced_volumes(call);
    struct text_map judged = {0};
    for (size_t i = 0; i < names->count; i++) {
        const struct field *claim = names->items[i];
        struct text volume = node_string(node_get(claim->parent->parent->node, "name"));
        if (text_map_add(&judged, call->arena, node_string(claim->node)) &&
            !text_map_has(&replaced, volume))
            judge_claim(&check, claim);
    }
}

const struct rail rail_shared_volume = {
    .name = "shared-volume",
    .summary = "no disk for several pods that only one node can hold",
    .detail =
        "A volume of ReadWriteOnce is attached to one node. Pods that mount it on another node "
        "wait for ever, with Multi-Attach in their events; it often begins months later, when a "
        "node is replaced. The rail finds workloads of several replicas (a Job's parallelism, a "
        "DaemonSet) whose template mounts one such claim, and nothing keeps the pods on one node: "
        "no nodeName, no host named by nodeSelector or node affinity, no required podAffinity of "
        "the pods to themselves by kubernetes.io/hostname (where its namespaceSelector asks for "
        "labels of a Namespace that is not visible, it is taken to be to themselves).\n\n"
        "A workload with a visible HorizontalPodAutoscaler counts with its maxReplicas. Replicas "
        "that are set by /scale (kubectl scale) are judged at the workload that is seen. "
        "What autoscalers and other controllers of kube-system set is audited, never denied.\n\n"
        "A Deployment of one replica whose update starts the new pod first is a warning, in every "
        "mode; strategy Recreate or maxSurge 0 is right for it. Never found are ReadWriteOncePod, "
        "file systems that many nodes mount whatever the mode (EFS, FSx, NFS, CephFS), local "
        "disks, claims of volumeClaimTemplates and ephemeral volumes. A claim that is not visible "
        "cannot be decided.",
    .example = "shared-volume:\n"
               "  mode: enforce\n",
    .kinds = KINDS_WORKLOADS & ~KIND_BIT(KIND_POD) & ~KIND_BIT(KIND_POD_TEMPLATE) &
             ~KIND_BIT(KIND_CUSTOM),
    .sources = KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM),
    .sources_of = KINDS_WORKLOADS,
    .judges_scale = true,
    .only_warns = true,
    .keys = keys,
    .judge = judge,
};
