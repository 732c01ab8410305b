/* What rails leave undecided for want of objects: which kinds they name as unseen, and how they are
 * to be shown, where files are judged, where a cluster has none, and where it may not be listed. */
#include "rail_modes.h"

#define POD(spec) \
    "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {" spec "}}\n"
#define OF(kind) KIND_BIT(KIND_##kind)
#define CLAIM(keys) "containers: [{name: m}], resourceClaims: [{name: g, " keys "}]"
#define BUFFER(spec)                                                                       \
    "{apiVersion: autoscaling.x-k8s.io/v1beta1, kind: CapacityBuffer, metadata: {name: b," \
    " namespace: default}, spec: {" spec "}}\n"
#define TEMPLATE_OF_CLAIM                                                                          \
    "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t, namespace:" \
    " default}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: "          \
    "c}}]}}}}\n"
#define POOLS_OF_CLUSTER \
    "Create a NodePool, or add a Node", "Let Taffrail list the NodePools and Nodes of the cluster"

struct undecided {
    const char *rails, *beside, *object;
    kind_set wanted, unseen;
    const char *of_files, *of_cluster, *of_unlisted;
    const char *otherwise;
};

static const struct undecided rows[] = {
    {"placeable: {}", NULL, POD("containers: [{name: m}]"), OF(NODE_POOL) | OF(NODE),
     OF(NODE_POOL) | OF(NODE),
     "Create a NodePool, or add a Node. If --state leaves out some, add their files",
     POOLS_OF_CLUSTER, "."},
    {"node-labels: {}", NULL, POD("nodeSelector: {team: a}"), OF(NODE_POOL) | OF(NODE),
     OF(NODE_POOL) | OF(NODE), "Make the NodePools and Nodes visible (--state DIR)",
     POOLS_OF_CLUSTER, ", or name the label under node-labels.allow."},
    {"node-labels: {}", NULL, POD("nodeSelector: {kubernetes.io/hostname: a}"), OF(NODE),
     OF(NODE_POOL) | OF(NODE), "Make the Nodes visible (--state DIR)", "Add a Node",
     "Let Taffrail list the Nodes of the cluster", "."},
    {"topology-keys: {}", NULL,
     POD("topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable:"
         " DoNotSchedule, labelSelector: {}}]"),
     OF(NODE_POOL), OF(NODE_POOL), "Make the NodePools visible (--state DIR)", "Create a NodePool",
     "Let Taffrail list the NodePools of the cluster", ", or use an allowed key."},
    {"accelerators: {}", NULL,
     POD("containers: [{name: m, resources: {limits: {nvidia.com/gpu: 1}}}]"), OF(NODE_POOL),
     OF(NODE_POOL), "Make the NodePools visible (--state DIR)", "Create a NodePool",
     "Let Taffrail list the NodePools of the cluster", "."},
    {"volume-binding: {}", NULL,
     "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: default}, spec:"
     " {storageClassName: fast}}\n",
     OF(STORAGE_CLASS), OF(STORAGE_CLASS), "Make the StorageClasses visible (--state DIR)",
     "Create a StorageClass", "Let Taffrail list the StorageClasses of the cluster", "."},
    {"shared-volume: {}", NULL,
     "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: default}, spec:"
     " {replicas: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec:"
     " {containers: [{name: m}], volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}}}}\n",
     OF(PERSISTENT_VOLUME_CLAIM), OF(PERSISTENT_VOLUME_CLAIM),
     "Make the claim visible: name its file with -f, or use --state DIR",
     "Create the claim, or name one that there is",
     "Let Taffrail list the PersistentVolumeClaims of the cluster", "."},
    {"pod-disruption-budgets: {}", NULL,
     "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: b, namespace: default},"
     " spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}}\n",
     OF(STATEFUL_SET), 0, "Check it together with its workload (-f), or use --state DIR",
     "Create its workload first, or correct the selector",
     "Let Taffrail list the StatefulSets of the cluster", "."},
    {"cost: {warnAbove: 1}", NULL, POD("containers: [{name: m}]"), OF(NODE_POOL), OF(NODE_POOL),
     "Make the NodePools visible (--state DIR)", "Create a NodePool",
     "Let Taffrail list the NodePools of the cluster", "."},
    {"daemon-fit: {}", NULL,
     "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, namespace: default}, spec:"
     " {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers:"
     " [{name: m}]}}}}\n",
     OF(POD) | OF(NODE), OF(POD) | OF(NODE), "Make the Pods and Nodes visible (--state DIR)",
     "Add a Node", "Let Taffrail list the Pods and Nodes of the cluster", "."},
    {"capacity-buffer: {}", NULL, BUFFER("podTemplateRef: {name: t}"), OF(POD_TEMPLATE), 0,
     "Make it visible: name its file with -f, or use --state DIR",
     "Create it, or name one that there is", "Let Taffrail list the PodTemplates of the cluster",
     "."},
    {"capacity-buffer: {}", NULL, BUFFER("scalableRef: {kind: Deployment, name: d}"),
     OF(DEPLOYMENT), 0, "Make it visible: name its file with -f, or use --state DIR",
     "Create it, or name one that there is", "Let Taffrail list the Deployments of the cluster",
     "."},
    {"resource-claims: {}", NULL, TEMPLATE_OF_CLAIM, OF(DEVICE_CLASS), OF(DEVICE_CLASS),
     "Make the DeviceClasses visible (--state DIR)", "Create a DeviceClass",
     "Let Taffrail list the DeviceClasses of the cluster", "."},
    {"resource-claims: {}", TEMPLATE_OF_CLAIM, POD(CLAIM("resourceClaimTemplateName: t")),
     OF(RESOURCE_SLICE), OF(RESOURCE_SLICE) | OF(NODE),
     "Make the Nodes and ResourceSlices visible (--state DIR)",
     "Install the driver of the devices, which publishes ResourceSlices",
     "Let Taffrail list the ResourceSlices of the cluster", "."},
    {"resource-claims: {}", NULL, POD(CLAIM("resourceClaimTemplateName: t")),
     OF(RESOURCE_CLAIM_TEMPLATE), 0, "Make it visible: name its file with -f, or use --state DIR",
     NULL, "Let Taffrail list the ResourceClaimTemplates of the cluster", "."},
};

static void expect(const struct undecided *row, const struct world *world, const char *advice,
                   struct arena *arena)
{
    struct rail_documents documents = rail_table_read(row->object, arena);
    const struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(world, &subject, 0, arena, &verdict);
    CU_ASSERT_TRUE_FATAL(verdict.finding_count > 0);
    const struct finding *finding = &verdict.findings[0];
    CU_ASSERT_TRUE(finding->undecided);
    CU_ASSERT_EQUAL(finding->unseen, row->unseen);
    ASSERT_TEXT(finding->fix, arena_printf(arena, "%s%s", advice, row->otherwise).data);
}

static void advice(void)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct world world = rail_table_world(rows[i].rails, rows[i].beside, arena);
        expect(&rows[i], &world, rows[i].of_files, arena);
        world.of_cluster = true;
        if (rows[i].of_cluster != NULL)
            expect(&rows[i], &world, rows[i].of_cluster, arena);
        world.unseen = rows[i].wanted;
        expect(&rows[i], &world, rows[i].of_unlisted, arena);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "policy: advice to see more";
const struct unit_test unit_tests[] = {
    {"by rail", advice},
    {NULL, NULL},
};
