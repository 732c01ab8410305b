/* Bodies from the network, through the engine: no crash, an answer or a reason, and an answer that
 * has the review's uid and denies exactly when a finding does. Changes can be applied, and a
 * changed object is not changed again. What files say is judged alike, and so is what is there
 * already. With little memory or time the same holds, and what is denied with enough of both is not
 * let in. The same where nothing of a cluster can be seen. */
/* reads: server/review.c server/review_read.c server/answer.c server/patch.c server/known_review.c
 * policy/evaluate.c policy/mutate.c policy/over_limit.c */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "server/known_review.h"
#include "server/review.h"

enum { ARENA_BYTES = 64 << 20, NOW_UNIX_S = 1800000000 };

static const char policy_text[] =
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRails\n"
    "metadata: {name: p}\n"
    "spec:\n"
    "  mode: enforce\n"
    "  since: 2026-01-01\n"
    "  match: {namespaceSelector: {matchLabels: {tier: prod}}, excludeNamespaces: [a]}\n"
    "  rails:\n"
    "    topology-keys: {selfMatch: true}\n"
    "    instance-types: {allow: {families: [m5], minGeneration: 5}, deny: {sizes: [metal]}}\n"
    "    accelerators: {requireLimits: accelerator, addToleration: true}\n"
    "    tolerations: {}\n"
    "    zone-spread: {action: default, whenUnsatisfiable: DoNotSchedule}\n"
    "    volume-binding: {}\n"
    "    zone-pin: {}\n"
    "    resource-requests: {require: [cpu], max: {cpu: 16}, memoryLimitEqualsRequest: true}\n"
    "    capacity-types: {allow: [on-demand]}\n"
    "    node-labels: {}\n"
    "    zones: {allow: [z1]}\n"
    "    pool-limits: {require: [cpu], max: {cpu: 10, nodes: 5}, maxTotal: {memory: 1Ti}}\n"
    "    pool-shape: {}\n"
    "    pool-overlap: {ignorePairs: [g/x*]}\n"
    "    node-rotation: {maxExpireAfter: 336h, requireTerminationGracePeriod: true}\n"
    "    disruption-budgets: {requireWindow: true, maxNodes: 20%}\n"
    "    node-class: {amiFamilies: [AL2023], maxHopLimit: 1, requireTags: [team]}\n"
    "  exceptions:\n"
    "    - {id: E1, rails: [topology-keys, instance-types, accelerators, zone-spread],\n"
    "       match: {names: ['ex-*']}, expires: 2099-01-01}\n"
    "    - {id: E2, rails: [topology-keys, instance-types, accelerators],\n"
    "       match: {names: ['old-*']}, expires: 2026-02-01}\n"
    "    - {id: E3, rails: [topology-keys], match: {namespaceSelector: {matchLabels: {a: b}}},\n"
    "       expires: 2099-01-01}\n"
    "    - {id: E5, rails: [tolerations], match: {names: ['tol-*']}, expires: 2099-01-01}\n"
    "  overrides:\n"
    "    - {id: O1, match: {namespaces: [soft]}, step: softer}\n"
    "---\n"
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRails\n"
    "metadata: {name: q}\n"
    "spec:\n"
    "  mode: warn\n"
    "  podTemplates:\n"
    "    - {group: ray.io, kind: RayCluster, paths: ['spec.w[*].template'], podSpecs: [spec.d, "
    "h],\n"
    "       controllers: [r/k]}\n"
    "  rails:\n"
    "    topology-keys: {}\n"
    "    instance-types: {max: {cpu: 16}}\n"
    "    accelerators: {mode: enforce, taints: [gpu], addToleration: true}\n"
    "    tolerations: {}\n"
    "    zone-spread: {}\n"
    "    volume-binding: {zonalProvisioners: [disk]}\n"
    "    zone-pin: {mode: enforce, unbound: require}\n"
    "    resource-requests: {}\n"
    "  exceptions:\n"
    "    - {id: E4, rails: [topology-keys, accelerators],\n"
    "       match: {namespaceSelector: {matchLabels: {a: b}}}, expires: 2099-01-01}\n"
    "---\n"
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRails\n"
    "metadata: {name: r}\n"
    "spec:\n"
    "  mode: enforce\n"
    "  rails:\n"
    "    change-impact: {maxNodes: 1, maxShare: 50%, denyOccupiedDelete: true,\n"
    "      deletions: [PersistentVolumeClaim, Namespace]}\n"
    "    capacity-buffer: {maxReplicas: 5}\n"
    "    node-overlay: {}\n"
    "    instance-types: {allow: {families: [g4dn, g5]}}\n"
    "    resource-claims: {max: {gpu: 2}}\n"
    "    daemon-fit: {mode: enforce, maxLost: 1, warnAbove: 1}\n"
    "    cost: {warnAbove: 1, max: {'*': 500}}\n"
    "    pod-disruption-budgets: {}\n"
    "    shared-volume: {}\n"
    "    placeable: {}\n"
    "    capacity-types: {allow: [spot, on-demand]}\n"
    "    disruption-opt-out: {}\n"
    "    scheduler-bypass: {nodeClaimAccounts: [karpenter/*]}\n"
    "---\n"
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRails\n"
    "metadata: {name: s}\n"
    "spec:\n"
    "  mode: audit\n"
    "  rails:\n"
    "    instance-types: {mode: off, allow: {families: [m5]}}\n"
    "    accelerators: {mode: off, addToleration: true}\n"
    "    zone-spread: {action: default}\n"
    "    node-labels: {allow: {karpenter.k8s.aws/instance-category: [c]}}\n"
    "    node-overlay: {}\n"
    "    placeable: {}\n";

/* What the rails look up for an object: namespaces, a pool, nodes, classes, claims, a volume. */
/* clang-format off */
#define HASHES "karpenter.sh/nodepool-hash: '1', karpenter.sh/nodepool-hash-version: v3"
#define CLAIM_OF_NODE(name) \
    "---\n" \
    "apiVersion: karpenter.sh/v1\n" \
    "kind: NodeClaim\n" \
    "metadata: {name: " name ", labels: {karpenter.sh/nodepool: g, topology.kubernetes.io/zone: z1},\n" \
    "  annotations: {" HASHES ", karpenter.k8s.aws/ec2nodeclass-hash: '1',\n" \
    "    karpenter.k8s.aws/ec2nodeclass-hash-version: v4}}\n" \
    "spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}}\n" \
    "status: {nodeName: " name ", conditions: [{type: Initialized, status: 'True'}]}\n"
#define CLAIMS CLAIM_OF_NODE("n1") CLAIM_OF_NODE("n2") CLAIM_OF_NODE("n3")
#define EPHEMERAL(class) \
    "{name: " class ", ephemeral: {volumeClaimTemplate: {spec: {storageClassName: " class "}}}}"
#define REPLICA_SET(name, created, spec) \
    "---\n" \
    "apiVersion: apps/v1\n" \
    "kind: ReplicaSet\n" \
    "metadata: {name: " name ", namespace: web, uid: u-" name ", creationTimestamp: '" created "',\n" \
    "  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: d, uid: u-d, controller: true}]}\n" \
    "spec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}},\n" \
    "  spec: {" spec "containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}\n"
/* Of d: one from before `since`, one like it, and one that asks for more. */
#define REPLICA_SETS \
    REPLICA_SET("d-0", "2025-06-01T00:00:00Z", "") \
    REPLICA_SET("d-1", "2026-06-01T00:00:00Z", "") \
    REPLICA_SET("d-2", "2026-07-01T00:00:00Z", \
                "nodeSelector: {zone: z1}, tolerations: [{operator: Exists}], " \
                "volumes: [" EPHEMERAL("s") ", " EPHEMERAL("none") "], ")
/* clang-format on */
static const char state_text[] =
    "apiVersion: v1\n"
    "kind: Namespace\n"
    "metadata: {name: web, labels: {tier: prod}}\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: Namespace\n"
    "metadata: {name: soft, labels: {tier: prod, a: b}}\n"
    "---\n"
    "apiVersion: karpenter.sh/v1\n"
    "kind: NodePool\n"
    "metadata: {name: g, annotations: {" HASHES "}}\n"
    "spec:\n"
    "  disruption: {budgets: [{nodes: 10%}, {nodes: '0', schedule: '0 9 * * 1', duration: 8h}]}\n"
    "  template:\n"
    "    spec:\n"
    "      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}\n"
    "      taints: [{key: nvidia.com/gpu, effect: NoSchedule}]\n"
    "      requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [g]}]\n"
    "---\n"
    "apiVersion: storage.k8s.io/v1\n"
    "kind: StorageClass\n"
    "metadata: {name: s}\n"
    "provisioner: ebs.csi.aws.com\n"
    "volumeBindingMode: Immediate\n"
    "---\n"
    "apiVersion: storage.k8s.io/v1\n"
    "kind: StorageClass\n"
    "metadata: {name: t, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}\n"
    "provisioner: disk\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: PersistentVolumeClaim\n"
    "metadata: {name: c, namespace: web}\n"
    "spec: {storageClassName: s, resources: {requests: {storage: 1Gi}}}\n"
    "---\n"
    "apiVersion: storage.k8s.io/v1\n"
    "kind: StorageClass\n"
    "metadata: {name: w}\n"
    "provisioner: ebs.csi.aws.com\n"
    "volumeBindingMode: WaitForFirstConsumer\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: PersistentVolumeClaim\n"
    "metadata: {name: data-db-1, namespace: web}\n"
    "spec: {storageClassName: w, resources: {requests: {storage: 1Gi}}}\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: PersistentVolumeClaim\n"
    "metadata: {name: data-db-0, namespace: web,\n"
    "  annotations: {pv.kubernetes.io/bind-completed: 'yes'}}\n"
    "spec: {storageClassName: w, volumeName: v, resources: {requests: {storage: 1Gi}}}\n"
    "status: {phase: Bound}\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: PersistentVolume\n"
    "metadata: {name: v}\n"
    "spec:\n"
    "  capacity: {storage: 1Gi}\n"
    "  csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}\n"
    "  claimRef: {namespace: web, name: data-db-0}\n"
    "  nodeAffinity:\n"
    "    required:\n"
    "      nodeSelectorTerms:\n"
    "        - matchExpressions:\n"
    "            - {key: topology.kubernetes.io/zone, operator: In, values: [z1]}\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: Node\n"
    "metadata: {name: n1, labels: {topology.kubernetes.io/zone: z1, karpenter.sh/nodepool: g,\n"
    "  node.kubernetes.io/instance-type: g5.xlarge}}\n"
    "status: {allocatable: {cpu: 4, memory: 16Gi, pods: 58}}\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: Node\n"
    "metadata: {name: n2, labels: {topology.kubernetes.io/zone: z2}}\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: ReplicationController\n"
    "metadata: {name: r, namespace: web}\n"
    "spec: {replicas: 2, selector: {a: b}}\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: ReplicationController\n"
    "metadata: {name: ex-r, namespace: web}\n"
    "spec: {replicas: 2, selector: {a: c}}\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: LimitRange\n"
    "metadata: {name: l, namespace: web}\n"
    "spec: {limits: [{type: Container, defaultRequest: {cpu: 100m}, max: {memory: 1Gi}}]}\n"
    "---\n"
    "apiVersion: karpenter.k8s.aws/v1\n"
    "kind: EC2NodeClass\n"
    "metadata: {name: d}\n"
    "spec: {role: r, amiSelectorTerms: [{alias: al2023@v1}]}\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: Pod\n"
    "metadata: {name: p, namespace: web, labels: {app: a},\n"
    "  annotations: {karpenter.sh/do-not-disrupt: 'true'}}\n"
    "spec: {nodeName: n1, priorityClassName: high, containers: [{name: c}],\n"
    "  volumes: [{name: d, persistentVolumeClaim: {claimName: c}}]}\n"
    "status: {phase: Running}\n"
    "---\n"
    "apiVersion: policy/v1\n"
    "kind: PodDisruptionBudget\n"
    "metadata: {name: b, namespace: web}\n"
    "spec: {maxUnavailable: 0, selector: {matchLabels: {app: a}}}\n"
    "---\n"
    "apiVersion: scheduling.k8s.io/v1\n"
    "kind: PriorityClass\n"
    "metadata: {name: high}\n"
    "value: 5\n"
    "---\n"
    "apiVersion: apps/v1\n"
    "kind: Deployment\n"
    "metadata: {name: e, namespace: web}\n"
    "spec: {replicas: 1, selector: {matchLabels: {app: e}},\n"
    "  template: {metadata: {labels: {app: e}},\n"
    "  spec: {nodeSelector: {zone: z1}, containers: [{name: c, resources: {requests: {cpu: "
    "1}}}]}}}\n"
    "---\n"
    "apiVersion: apps/v1\n"
    "kind: Deployment\n"
    "metadata: {name: d, namespace: web, uid: u-d, creationTimestamp: '2025-01-01T00:00:00Z'}\n"
    "status: {replicas: 3, updatedReplicas: 3}\n"
    "spec: {replicas: 3, selector: {matchLabels: {app: a}},\n"
    "  template: {metadata: {labels: {app: a}},\n"
    "  spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}\n"
    "---\n"
    "apiVersion: apps/v1\n"
    "kind: StatefulSet\n"
    "metadata: {name: db, namespace: web}\n"
    "spec: {replicas: 3, serviceName: db, selector: {matchLabels: {app: db}},\n"
    "  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: w,\n"
    "    resources: {requests: {storage: 1Gi}}}}],\n"
    "  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: a}]}}}\n"
    "---\n"
    "apiVersion: autoscaling/v2\n"
    "kind: HorizontalPodAutoscaler\n"
    "metadata: {name: h, namespace: web}\n"
    "spec: {maxReplicas: 7, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}\n"
    "---\n"
    "apiVersion: apps/v1\n"
    "kind: DaemonSet\n"
    "metadata: {name: a, namespace: web}\n"
    "spec: {selector: {matchLabels: {app: e}}, template: {metadata: {labels: {app: e}},\n"
    "  spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}\n"
    "---\n"
    "apiVersion: karpenter.sh/v1alpha1\n"
    "kind: NodeOverlay\n"
    "metadata: {name: o}\n"
    "spec: {weight: 1, price: '0.1', requirements: [{key: node.kubernetes.io/instance-type,\n"
    "  operator: In, values: [g5.xlarge]}]}\n"
    "---\n"
    "apiVersion: resource.k8s.io/v1\n"
    "kind: DeviceClass\n"
    "metadata: {name: gpu}\n"
    "spec: {selectors: [{cel: {expression: device.driver == 'gpu'}}]}\n"
    "---\n"
    "apiVersion: resource.k8s.io/v1\n"
    "kind: ResourceClaimTemplate\n"
    "metadata: {name: t, namespace: web}\n"
    "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}\n"
    "---\n"
    "apiVersion: resource.k8s.io/v1\n"
    "kind: ResourceSlice\n"
    "metadata: {name: s}\n"
    "spec: {driver: gpu, nodeName: n1,\n"
    "  pool: {name: n1, generation: 1, resourceSliceCount: 1}}\n" CLAIMS REPLICA_SETS;

static struct world *world, *blind; /* blind: it sees no cluster */
static struct arena *arena;

static struct world *load(const char *policy, const char *state)
{
    struct world *loaded = NULL;
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    const struct world_options options = {
        .policy_paths = &policy, .policy_path_count = 1, .state_dir = state};
    REQUIRE(world_load(&options, 1, NOW_UNIX_S, &loaded, &errors, &warnings));
    return loaded;
}

static void begin(void)
{
    arena = arena_create(ARENA_BYTES);
    REQUIRE(arena != NULL);
    const char *path = fuzz_path("policy.yaml");
    const char *state = arena_printf(arena, "%s/state", fuzz_folder()).data;
    const char *state_file = arena_printf(arena, "%s/state.yaml", state).data;
    REQUIRE(mkdir(state, 0700) == 0);
    fuzz_write(path, policy_text, strlen(policy_text));
    fuzz_write(state_file, state_text, strlen(state_text));
    world = load(path, state);
    blind = load(path, NULL);
    unlink(state_file);
    rmdir(state);
}

struct job {
    const struct world *world;
    struct text body;
    enum review_phase phase;
    bool denied_create; /* with enough memory and time */
    struct arena *tight;
};

static void check_answer(struct text answer, const struct review_record *record)
{
    const struct node *response =
        node_get(fuzz_tree(answer, &doc_limits_review, arena), "response");
    REQUIRE(text_equal(node_string(node_get(response, "uid")), record->uid));
    REQUIRE(node_true(node_get(response, "allowed")) == record->allowed);
    REQUIRE(record->allowed == (record->verdict.action != ACTION_DENY));
    REQUIRE((node_get(response, "status") == NULL) == record->allowed);
}

static size_t applied(const struct verdict *verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < verdict->change_count; i++)
        count += verdict->changes[i].outcome == OUTCOME_APPLIED;
    return count;
}

/* The patches apply to the object of the review, and the result asks for no other. What the engine
 * passes over may be so wrong that the whole is no JSON. */
static void check_changes(const struct job *job, const struct verdict *verdict)
{
    const struct node *request =
        node_get(fuzz_tree(job->body, &doc_limits_review, arena), "request");
    const struct node *changed = node_get(request, "object");
    struct object object;
    struct verdict again;
    struct error error;
    if (changed == NULL)
        return;
    for (size_t i = 0; i < verdict->change_count; i++) {
        const struct patch *patch = &verdict->changes[i].patch;
        if (verdict->changes[i].outcome == OUTCOME_APPLIED)
            REQUIRE(doc_patch(changed, patch->items, patch->count, arena, &changed, &error));
    }
    REQUIRE(object_read(changed, NULL, node_string(node_get(request, "namespace")), arena, &object,
                        &error));
    const struct subject subject = {
        .operation = OPERATION_CREATE,
        .object = &object,
        .requester = {.name = node_string(node_at(request, "userInfo.username"))},
    };
    policy_mutate(job->world, &subject, NOW_UNIX_S, arena, &again);
    REQUIRE(applied(&again) == 0);
}

/* A Pod that differs in its variables alone is judged like the first one, so its answer may be
 * known. */
static void check_known(const struct job *job, struct text answer,
                        const struct review_variables *variables)
{
    struct known_reviews known = {0};
    atomic_size_t bytes = 0;
    char *other = ARENA_ARRAY(arena, job->body.size, char);
    memcpy(other, job->body.data, job->body.size);
    for (size_t i = 0; i < variables->count; i++)
        for (size_t k = 0; k < variables->items[i].size; k++)
            other[variables->items[i].at + k] =
                (char)('a' + (variables->items[i].of == OF_OTHERS ? i + k : k) % 26);
    struct text judged;
    struct review_record record;
    struct error error;
    struct text body = {other, job->body.size};
    bool is_judged =
        review_answer(job->world, job->phase, body, NOW_UNIX_S, arena, &judged, &record, &error);
    REQUIRE(is_judged);
    if (record.verdict.limit != LIMIT_NONE)
        return;
    known_reviews_add(&known, &bytes, job->phase, 1, 0, job->body, variables, answer);
    struct text told = known_reviews_answer(&known, job->phase, 1, 0, body);
    REQUIRE(told.size > 0 && text_equal(told, judged));
    known_reviews_free(&known, &bytes);
    REQUIRE(bytes == 0);
}

static void look_at(const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const struct finding *finding = &verdict->findings[i];
        REQUIRE(finding->message.size > 0 && finding->path.size <= 512);
        (void)finding_identity(finding, arena);
    }
}

/* As `check` and an audit judge. The server leaves out what is undecided for want of a whole kind.
 */
static void judge_again(const struct job *job, const struct verdict *verdict)
{
    struct review review = {0};
    struct subject *subject = &review.subject;
    struct verdict again;
    struct error error;
    REQUIRE(review_read(job->body, arena, &review, &error));
    if (subject->object == NULL)
        return;
    subject_of_scale(job->world, arena, subject);
    policy_evaluate(job->world, subject, NOW_UNIX_S, arena, &again);
    REQUIRE(again.action == verdict->action && again.finding_count >= verdict->finding_count);
    look_at(&again);
    if (subject->subresource.size > 0)
        return;
    subject->existing = true;
    subject->operation = OPERATION_CREATE;
    subject->old_object = NULL;
    policy_evaluate(job->world, subject, NOW_UNIX_S, arena, &again);
    look_at(&again);
}

static void run(void *argument)
{
    struct job *job = argument;
    struct text answer;
    struct review_record record;
    struct error error = {0};
    if (!review_answer(job->world, job->phase, job->body, NOW_UNIX_S, arena, &answer, &record,
                       &error)) {
        REQUIRE(error.kind != ERROR_NONE && strlen(error.what) > 0);
        return;
    }
    check_answer(answer, &record);
    if (record.variables != NULL)
        check_known(job, answer, record.variables);
    const struct node *request =
        node_get(fuzz_tree(job->body, &doc_limits_review, arena), "request");
    job->denied_create =
        !record.allowed && text_is(node_string(node_get(request, "operation")), "CREATE");
    if (applied(&record.verdict) > 0)
        check_changes(job, &record.verdict);
    if (job->phase == REVIEW_VALIDATE && record.verdict.limit == LIMIT_NONE)
        judge_again(job, &record.verdict);
    (void)trail_line(&record, (int64_t)NOW_UNIX_S * 1000, arena);
}

/* ---- little memory, or little time ---- */

/* left: of the budget, the rest is taken before. times: so often the clock is asked until the time
 * is over; 0: it never is. */
struct tightness {
    size_t budget_kib, left_kib, reserve_kib;
    enum review_limit reason;
    int times;
};
enum { MIB = 1024, USUAL_RESERVE = 512 }; /* in KiB */
static const struct tightness tightnesses[] = {
    {48, 8, USUAL_RESERVE, LIMIT_NONE, 0},
    {48, 48, USUAL_RESERVE, LIMIT_NONE, 0},
    {MIB, 96, USUAL_RESERVE, LIMIT_NONE, 0},
    {3 * MIB / 2, 256, USUAL_RESERVE, LIMIT_NONE, 0},
    {48, 48, 2, LIMIT_NONE, 0},
    {MIB, 96, 16, LIMIT_NONE, 0},
    {MIB, MIB, USUAL_RESERVE, LIMIT_CPU, 1},
    {MIB, MIB, USUAL_RESERVE, LIMIT_TIMEOUT, 1},
    {MIB, MIB, USUAL_RESERVE, LIMIT_TIMEOUT, 3},
    {MIB, MIB, USUAL_RESERVE, LIMIT_CLIENT_GONE, 1},
};

struct clock {
    const struct tightness *tightness;
    int asked;
};

static int ask_clock(void *context)
{
    struct clock *clock = context;
    return ++clock->asked == clock->tightness->times ? (int)clock->tightness->reason : LIMIT_NONE;
}

static void run_limited(void *argument)
{
    const struct job *job = argument;
    struct text answer;
    struct review_record record;
    struct error error = {0};
    if (!review_answer(job->world, job->phase, job->body, NOW_UNIX_S, job->tight, &answer, &record,
                       &error)) {
        REQUIRE(error.kind != ERROR_NONE && strlen(error.what) > 0);
        return;
    }
    arena_reset(arena);
    check_answer(answer, &record);
    REQUIRE(!job->denied_create || !record.allowed);
}

static void try_limited(struct job *job, size_t index)
{
    static struct arena *arenas[COUNT_OF(tightnesses)];
    const struct tightness *tightness = &tightnesses[index];
    struct clock clock = {.tightness = tightness};
    struct error error;
    if (arenas[index] == NULL) {
        arenas[index] = arena_create(tightness->budget_kib << 10);
        REQUIRE(arenas[index] != NULL &&
                arena_reserve(arenas[index], tightness->reserve_kib << 10));
    }
    job->tight = arenas[index];
    arena_reset(job->tight);
    if (tightness->left_kib < tightness->budget_kib)
        (void)arena_alloc(job->tight, (tightness->budget_kib - tightness->left_kib) << 10);
    arena_watch(job->tight, &(struct arena_watch){ask_clock, &clock});
    REQUIRE(arena_guard(job->tight, run_limited, job, &error) || error.kind == ERROR_LIMIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (world == NULL)
        begin();
    for (int phase = REVIEW_VALIDATE; phase <= REVIEW_MUTATE; phase++) {
        struct job job = {
            .world = blind, .body = {(const char *)data, size}, .phase = (enum review_phase)phase};
        fuzz_guarded(arena, run, &job);
        job.world = world;
        job.denied_create = false;
        fuzz_guarded(arena, run, &job);
        for (size_t i = 0; i < COUNT_OF(tightnesses); i++)
            try_limited(&job, i);
    }
    return 0;
}
