/* Pods of DaemonSets, which several rails let alone: that one owns a Pod anybody can write, and it
 * counts where its controller asks, in an audit, and of a Pod that has its node. */
#include "rail_modes.h"

#define OWNED(spec)                                                                            \
    "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default, ownerReferences: [{"  \
    "apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: true}]}, spec: {" spec \
    "}}"
#define WITH_CPU(cpu) "containers: [{name: m, resources: {requests: {cpu: " cpu "}}}]"

static const char cluster[] =
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: {template: "
    "{metadata: {labels: {intent: web}}, spec: {requirements: []}}}}\n---\n"
    "{apiVersion: v1, kind: Node, metadata: {name: node-1, labels: {intent: web}}, status: "
    "{allocatable: {cpu: 4, memory: 8Gi, pods: 50}}}\n";

static const struct {
    const char *rail,
        *spec; /* of a Pod that it lets alone, or warns of, when it is a DaemonSet's */
    enum action of_daemon_set;
} rails[] = {
    {"accelerators: {mode: enforce}",
     "tolerations: [{key: nvidia.com/gpu, operator: Exists}], " WITH_CPU("1"), ACTION_NONE},
    {"tolerations: {mode: enforce, allow: [team]}",
     "tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}], " WITH_CPU("1"),
     ACTION_NONE},
    {"tolerations: {mode: enforce, allow: [team]}",
     "tolerations: [{operator: Exists}], " WITH_CPU("1"), ACTION_WARN},
    {"node-labels: {mode: enforce}", "nodeSelector: {intent: gpu}, " WITH_CPU("1"), ACTION_WARN},
    {"placeable: {mode: enforce}", WITH_CPU("9000"), ACTION_NONE},
};

static const struct {
    const char *user;
    bool existing;
    const char *old; /* the Pod before; NULL: it is created */
    bool counts;
} requests[] = {
    {"system:serviceaccount:kube-system:daemon-set-controller", false, NULL, true},
    {"system:kube-controller-manager", false, NULL, true},
    {"", true, NULL, true},
    {"jane", false, OWNED("nodeName: node-1"), true},
    {"jane", false, NULL, false},
    {"jane", false, OWNED("schedulingGates: [{name: a}]"), false},
    {"system:serviceaccount:kube-system:replicaset-controller", false, NULL, false},
    {"system:serviceaccount:team:daemon-set-controller", false, NULL, false},
};

static enum action action_of(const struct world *world, const char *object, size_t request,
                             struct arena *arena)
{
    struct rail_documents now = rail_table_read(object, arena);
    struct subject subject = {.operation = OPERATION_CREATE,
                              .object = &now.items[0],
                              .existing = requests[request].existing,
                              .requester = {.name = text_of(requests[request].user)}};
    struct rail_documents before = {0};
    if (requests[request].old != NULL) {
        before = rail_table_read(requests[request].old, arena);
        subject.operation = OPERATION_UPDATE;
        subject.old_object = &before.items[0];
    }
    struct verdict verdict;
    policy_evaluate(world, &subject, 0, arena, &verdict);
    return verdict.action;
}

static void who_says_so(void)
{
    struct arena *arena = arena_create((size_t)128 << 20);
    for (size_t i = 0; i < COUNT_OF(rails); i++) {
        struct world world = rail_table_world(rails[i].rail, cluster, arena);
        struct text object = arena_printf(arena, OWNED("%s"), rails[i].spec);
        for (size_t j = 0; j < COUNT_OF(requests); j++) {
            enum action wanted = requests[j].counts ? rails[i].of_daemon_set : ACTION_DENY;
            enum action action = action_of(&world, object.data, j, arena);
            if (action != wanted)
                fprintf(stderr, "%s by \"%s\", request %zu\n", rails[i].rail, requests[j].user, j);
            ASSERT_INT(action, wanted);
        }
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy pods of DaemonSets";
const struct unit_test unit_tests[] = {
    {"who says so", who_says_so},
    {NULL, NULL},
};
