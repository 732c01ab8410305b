/* Finds what uses a StorageClass, a PriorityClass or a PersistentVolumeClaim, and what is in a
 * Namespace. */
#include "kube/claim_binding.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/snapshot.h"
#include "simulation/change_internal.h"

static void add_user(const struct impact_reading *reading, const struct object *user)
{
    struct change_impact *impact = reading->impact;
    if (impact->users == NULL)
        impact->users = ARENA_ARRAY(reading->arena, IMPACT_USERS_KEPT, const struct object *);
    if (impact->user_count < IMPACT_USERS_KEPT)
        impact->users[impact->user_count++] = user;
    impact->user_total++;
}

/* The fields that differ, of those that count. */
static void compare_fields(const struct impact_reading *reading, const char *const *fields,
                           size_t count)
{
    const struct change_question *question = reading->question;
    for (size_t i = 0; i < count; i++)
        if (!node_equal(node_get(question->before->root->node, fields[i]),
                        node_get(question->after->root->node, fields[i])))
            impact_add_reason(reading, arena_printf(reading->arena, "change: %s", fields[i]));
}

/* False: an update that changes nothing of what matters. */
static bool has_reason(const struct impact_reading *reading, const char *const *fields,
                       size_t count)
{
    if (reading->question->after == NULL)
        impact_add_reason(reading, TEXT("deletion"));
    else
        compare_fields(reading, fields, count);
    return reading->impact->reason_total > 0;
}

/* ---- StorageClass ---- */

/* The API server refuses to change most of them: such a class is deleted and made anew. */
static const char *const class_fields[] = {
    "provisioner",       "parameters",   "reclaimPolicy",       "volumeBindingMode",
    "allowedTopologies", "mountOptions", "allowVolumeExpansion"};

static bool names_class(const struct impact_reading *reading, const struct claim *claim)
{
    const struct object *class = reading->question->before;
    if (claim->class_named)
        return text_equal(claim->class_name, class->name);
    const struct object *by_default = claim_class(reading->question->snapshot, claim);
    return !claim->bound && by_default != NULL && text_equal(by_default->name, class->name);
}

static void find_claims(const struct impact_reading *reading)
{
    const struct snapshot *snapshot = reading->question->snapshot;
    impact_need(reading, KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM));
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_PERSISTENT_VOLUME_CLAIM); i++) {
        const struct object *object = snapshot_object(snapshot, KIND_PERSISTENT_VOLUME_CLAIM, i);
        struct claim claim;
        claim_read(object->root, reading->arena, &claim);
        if (!names_class(reading, &claim))
            continue;
        add_user(reading, object);
        reading->impact->users_stuck += reading->question->after == NULL && !claim.bound;
    }
}

/* Workloads that make claims of the class for replicas to come. */
static void find_claim_templates(const struct impact_reading *reading)
{
    const struct snapshot *snapshot = reading->question->snapshot;
    impact_need(reading, KIND_BIT(KIND_STATEFUL_SET));
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_STATEFUL_SET); i++) {
        const struct object *set = snapshot_object(snapshot, KIND_STATEFUL_SET, i);
        struct workload workload;
        struct claims claims = {0};
        bool makes = false;
        if (!workload_read(set, reading->arena, &workload))
            continue;
        claim_templates_read(&workload, reading->arena, &claims);
        FOR_EACH(claim, &claims)
            makes |= claim->class_named && names_class(reading, claim);
        if (makes)
            add_user(reading, set);
    }
}

static void read_storage_class(const struct impact_reading *reading)
{
    if (!has_reason(reading, class_fields, COUNT_OF(class_fields)))
        return;
    find_claims(reading);
    find_claim_templates(reading);
}

/* ---- PriorityClass ---- */

/* Running pods keep the number that they were admitted with. */
static const char *const priority_fields[] = {"value", "preemptionPolicy"};

static void read_priority_class(const struct impact_reading *reading)
{
    const struct snapshot *snapshot = reading->question->snapshot;
    if (!has_reason(reading, priority_fields, COUNT_OF(priority_fields)))
        return;
    impact_need(reading, KIND_BIT(KIND_POD));
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_POD); i++) {
        const struct object *pod = snapshot_object(snapshot, KIND_POD, i);
        struct text class = node_string(node_at(pod->root->node, "spec.priorityClassName"));
        if (text_equal(class, reading->question->before->name) && !pod_is_done(pod)) {
            add_user(reading, pod);
            reading->impact->users_stuck += reading->question->after == NULL;
        }
    }
}

/* ---- PersistentVolumeClaim ---- */

/* Whether the volume of the claim goes with it. */
static void note_data(const struct impact_reading *reading, const struct object *claim)
{
    struct claim_binding binding;
    impact_need(reading, KIND_BIT(KIND_PERSISTENT_VOLUME));
    claim_binding_of(reading->question->snapshot, claim, reading->arena, &binding);
    const struct node *policy =
        binding.volume == NULL
            ? NULL
            : node_at(binding.volume->root->node, "spec.persistentVolumeReclaimPolicy");
    reading->impact->data_lost |= text_is(node_string(policy), "Delete");
}

static bool mounts(const struct object *pod, const struct object *claim)
{
    FOR_ITEMS(volume, node_at(pod->root->node, "spec.volumes"))
        if (text_equal(node_string(node_at(volume, "persistentVolumeClaim.claimName")),
                       claim->name))
            return true;
    return false;
}

/* The pod of whose ephemeral volume the claim is; NULL: it was made by itself. */
static const struct object *pod_of_claim(const struct snapshot *snapshot,
                                         const struct object *claim)
{
    if (!text_is(claim->controller.kind, "Pod"))
        return NULL;
    return snapshot_find(snapshot, KIND_POD, claim->namespace, claim->controller.name);
}

static void read_claim(const struct impact_reading *reading)
{
    const struct snapshot *snapshot = reading->question->snapshot;
    const struct object *claim = reading->question->before;
    if (reading->question->after != NULL)
        return;
    impact_need(reading, KIND_BIT(KIND_POD));
    const struct object *owner = pod_of_claim(snapshot, claim);
    if (owner != NULL && !pod_is_done(owner))
        add_user(reading, owner);
    for (size_t i = 0; i < snapshot_claiming_pod_count(snapshot); i++) {
        const struct object *pod = snapshot_claiming_pod(snapshot, i);
        if (pod != owner && text_equal(pod->namespace, claim->namespace) && !pod_is_done(pod) &&
            mounts(pod, claim))
            add_user(reading, pod);
    }
    if (reading->impact->user_total == 0)
        return;
    impact_add_reason(reading, TEXT("deletion"));
    note_data(reading, claim);
}

/* ---- Namespace ---- */

static void read_namespace(const struct impact_reading *reading)
{
    const struct snapshot *snapshot = reading->question->snapshot;
    struct text namespace = reading->question->before->name;
    if (reading->question->after != NULL)
        return;
    impact_need(reading, KIND_BIT(KIND_POD) | KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM));
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_POD); i++) {
        const struct object *pod = snapshot_object(snapshot, KIND_POD, i);
        if (text_equal(pod->namespace, namespace) && !pod_is_done(pod))
            add_user(reading, pod);
    }
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_PERSISTENT_VOLUME_CLAIM); i++) {
        const struct object *claim = snapshot_object(snapshot, KIND_PERSISTENT_VOLUME_CLAIM, i);
        if (!text_equal(claim->namespace, namespace))
            continue;
        add_user(reading, claim);
        note_data(reading, claim);
    }
    if (reading->impact->user_total > 0)
        impact_add_reason(reading, TEXT("deletion"));
}

/* ---- all of them ---- */

void impact_read_users(const struct impact_reading *reading)
{
    static void (*const readers[KIND_COUNT])(const struct impact_reading *) = {
        [KIND_STORAGE_CLASS] = read_storage_class,
        [KIND_PRIORITY_CLASS] = read_priority_class,
        [KIND_PERSISTENT_VOLUME_CLAIM] = read_claim,
        [KIND_NAMESPACE] = read_namespace,
    };
    readers[reading->question->before->kind](reading);
}
