/* Why a pod is where it is: what each NodePool and each Node says, the nearest first. */
#include "simulation/why_pod.h"

#include "simulation_fixture.h"

const char unit_suite[] = "simulation why a pod";

#define POOL_OF(name, more, taints, requirements)                                             \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {" more  \
    "template: {spec: {" taints "requirements: [{key: karpenter.sh/capacity-type, operator: " \
    "In, values: [on-demand]}" requirements "]}}}}"
#define ONLY_SMALL ", {key: node.kubernetes.io/instance-type, operator: In, values: [small]}"
#define ONLY_LARGE ", {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}"
#define AWS "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, "
#define TAINTED "taints: [{key: dedicated, value: gpu, effect: NoSchedule}], "
#define NOT_READY(name)                                                                     \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name                  \
    "}, spec: {template: {spec: {requirements: []}}}, status: {conditions: [{type: Ready, " \
    "status: 'False', reason: UnhealthyDependents}]}}"
#define NOT_READY_FOR(name, why)                                                            \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name                  \
    "}, spec: {template: {spec: {requirements: []}}}, status: {conditions: [{type: Ready, " \
    "status: 'False'" why "}]}}"
#define IN_B                                                \
    ", allowedTopologies: [{matchLabelExpressions: [{key: " \
    "topology.kubernetes.io/zone, values: [b]}]}]"
#define OF_AGENT \
    ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: log, controller: true}]"
#define OF_FIELD(key, name)                                                         \
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {" \
    "nodeSelectorTerms: [{matchFields: [{key: " key ", operator: In, values: [" name "]}]}]}}}"
#define ON(node) ", nodeName: " node
#define BESIDE(app)                                                                 \
    ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{" \
    "topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: " app "}}}]}}"

#define ZONE_OF(app)                                                                \
    ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{" \
    "topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: " app "}}}]}}"

#define OF_NODE(name)                                                                      \
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {"        \
    "nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [" name \
    "]}]}]}}}"

#define OF_TERMS(a, b)                                                              \
    ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {" \
    "nodeSelectorTerms: [" a ", " b "]}}}"
#define MATCH_FIELDS "Karpenter does not look at pods whose node affinity has matchFields"
#define DEVICES "asks for devices by resourceClaims, which the provisioner does not place"
#define ONE_POD "claim shop/d1 is for one pod alone (ReadWriteOncePod), and pod old has it"
#define EMPTY_TERMS                                                                       \
    "every nodeSelectorTerm of its node affinity is empty, and an empty term selects no " \
    "node"

#define SIDECAR_WITH_PORT                                                           \
    "{name: proxy, restartPolicy: Always, ports: [{containerPort: 7000, hostPort: " \
    "7000}]}"
#define UNSEEN_PORT                                                                     \
    "host port 7000 is taken on the node where Karpenter, which looks at no sidecar's " \
    "ports, expects the pod: it buys no other"

struct why_case {
    const char *name;
    const char *documents[MOST_DOCUMENTS];
    const char *lines;
};

static const char *word_of(enum why_fit fit)
{
    return fit == WHY_FITS ? "fits" : fit == WHY_FITS_NOT ? "nowhere" : "undecided";
}

/* One line each: the pod, its pools, the Nodes, why some refuse it, the fix. */
static struct text lines_of(struct arena *arena, const struct why_pod *why)
{
    static const char *const states[] = {"",          " on",      " gated", " leaving",
                                         " preempts", " fargate", " done"};
    struct text_builder out = {.arena = arena};
    text_builder_printf(&out, "%s%s%s%.*s\n", word_of(why->fit), states[why->state],
                        why->node.size > 0 ? " " : "", TEXT_ARGS(why->node));
    for (size_t i = 0; i < why->pool_count; i++) {
        const struct why_pool *pool = &why->pools[i];
        if (pool->fit == WHY_FITS)
            text_builder_printf(&out, "%.*s: %.*s in %.*s for %lld\n", TEXT_ARGS(pool->name),
                                TEXT_ARGS(pool->instance_type), TEXT_ARGS(pool->zone),
                                (long long)pool->usd_micro_per_hour);
        else
            text_builder_printf(&out, "%.*s: %s: %.*s\n", TEXT_ARGS(pool->name),
                                pool->kind == NULL ? "undecided" : pool->kind,
                                TEXT_ARGS(pool->message));
    }
    text_builder_printf(&out, "nodes %zu/%zu\n", why->node_fit, why->node_total);
    for (size_t i = 0; i < why->cause_count; i++)
        text_builder_printf(&out, "%zu %s: %.*s\n", why->causes[i].count, why->causes[i].kind,
                            TEXT_ARGS(why->causes[i].message));
    if (why->fix.size > 0)
        text_builder_printf(&out, "fix: %.*s\n", TEXT_ARGS(why->fix));
    return text_builder_text(&out);
}

static bool ask(struct fixture *fixture, const struct catalog *catalog,
                const char *const *documents, const char *pod, struct why_pod *why,
                struct error *error)
{
    size_t count = 0;
    while (count < MOST_DOCUMENTS && documents[count] != NULL)
        count++;
    const struct snapshot *snapshot = fixture_snapshot(fixture, documents, count);
    const struct simulation_settings settings = {0};
    return why_pod(snapshot, catalog, &settings, TEXT("shop"), text_of(pod), fixture->arena, why,
                   &fixture->problems, error);
}

/* Asked is the pod "one". */
static void check_with(bool builtin, const struct why_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct why_pod why;
        struct error error = {0};
        const struct catalog *catalog =
            builtin ? catalog_builtin(fixture.arena) : fixture_catalog(&fixture);
        CU_ASSERT_FATAL(ask(&fixture, catalog, cases[i].documents, "one", &why, &error));
        struct text lines = lines_of(fixture.arena, &why);
        if (!text_is(lines, cases[i].lines))
            fprintf(stderr, "%s:\n", cases[i].name);
        ASSERT_TEXT(lines, cases[i].lines);
        arena_destroy(fixture.arena);
    }
}
#define CHECK(cases) check_with(false, (cases), COUNT_OF(cases))

static void every_pool_and_node_is_told(void)
{
    static const struct why_case cases[] = {
        {"a Node and a pool",
         {POOL, NODE("n1", "a", "4"), POD("one", "1", "")},
         "fits\ndefault: small in a for 100000\nnodes 1/1\n"},
        {"of two Nodes one is full",
         {POOL, NODE("n1", "a", "1"), NODE("n2", "a", "4"), POD("one", "2", "")},
         "fits\ndefault: large in a for 400000\nnodes 1/2\n1 resources: lacks cpu\n"},
        {"nothing is large enough",
         {POOL, NODE("n1", "a", "1"), NODE("n2", "a", "4"), POD("one", "9", "")},
         "nowhere\ndefault: resources: needs 9 cpu\nnodes 0/2\n2 resources: lack cpu\n"
         "fix: NodePool default: ask for less\n"},
        {"an empty term selects no Node and no pool",
         {POOL, NODE("n1", "a", "4"), POD("one", "1", OF_TERMS("{}", "{matchExpressions: []}"))},
         "nowhere\ndefault: requirement: " EMPTY_TERMS "\nnodes 0/1\n1 requirement: " EMPTY_TERMS
         "\nfix: write matchExpressions into a nodeSelectorTerm, or remove the required node "
         "affinity\n"},
        {"a port of a sidecar that Karpenter does not see taken",
         {POOL, NODE("n1", "a", "4"),
          POD("old", "1", ON("n1") ", initContainers: [" SIDECAR_WITH_PORT "]"),
          POD("one", "1", ", initContainers: [" SIDECAR_WITH_PORT "]")},
         "nowhere\ndefault: port: " UNSEEN_PORT "\nnodes 0/1\n1 port: " UNSEEN_PORT
         "\nfix: NodePool default: use another host port than 7000\n"},
        {"and that is free on another Node",
         {POOL, NODE("n1", "a", "4"), NODE("n2", "a", "4"),
          POD("old", "1", ON("n1") ", initContainers: [" SIDECAR_WITH_PORT "]"),
          POD("one", "1", ", initContainers: [" SIDECAR_WITH_PORT "]")},
         "fits\ndefault: small in a for 100000\nnodes 1/2\n1 port: has host port 7000 taken\n"},
        {"devices that a Node may have",
         {POOL, NODE("n1", "a", "1"), NODE("n2", "a", "4"),
          POD("one", "2", ", resourceClaims: [{name: gpu}]")},
         "undecided\ndefault: devices: " DEVICES "\nnodes 0/2\n1 undecided: must have the devices "
         "that the pod claims, which are not looked "
         "at\n1 resources: lacks cpu\n"},
        {"and no Node has room for all else",
         {POOL, NODE("n1", "a", "1"), POD("one", "2", ", resourceClaims: [{name: gpu}]")},
         "nowhere\ndefault: devices: " DEVICES "\nnodes 0/1\n1 resources: lacks cpu\n"
         "fix: NodePool default: ask for devices as extended resources\n"},
        {"a claim of one pod that another has",
         {POOL, CLASS("gp3", "WaitForFirstConsumer", ""), NODE("n1", "a", "4"),
          CLAIM("d1", "{accessModes: [ReadWriteOncePod], storageClassName: gp3}"),
          POD("old", "1", ON("n1") MOUNTS("d1")), POD("one", "1", MOUNTS("d1"))},
         "nowhere\ndefault: volume: " ONE_POD "\nnodes 0/1\n1 volume: " ONE_POD
         "\nfix: give it a claim of its own\n"},
        {"pages that no type has",
         {POOL, POD("one", "1, hugepages-2Mi: 2Gi", "")},
         "nowhere\ndefault: resources: needs 2Gi hugepages-2Mi\nnodes 0/0\n"
         "fix: NodePool default: do not ask for hugepages-2Mi, or add Nodes that have it\n"},
        {"there is nothing",
         {POD("one", "1", "")},
         "nowhere\nnodes 0/0\nfix: make a NodePool that takes it\n"},
    };
    CHECK(cases);
}

/* What the pool lacks comes before what keeps the pod out on purpose; a pool that only is not ready
 * before all. */
static void the_nearest_pool_comes_first(void)
{
    static const struct why_case cases[] = {
        {"room before taints",
         {POOL_OF("gpu", "", TAINTED, ""), POOL_OF("tiny", "", "", ONLY_SMALL),
          POD("one", "3", "")},
         "nowhere\ntiny: resources: needs 3 cpu\n"
         "gpu: taint: does not tolerate the taint dedicated=gpu:NoSchedule\nnodes 0/0\n"
         "fix: NodePool tiny: ask for less, or allow larger instance types\n"},
        {"the one that fits before all",
         {POOL_OF("a-gpu", "", TAINTED, ""), POOL_OF("b", "", "", ""), POD("one", "3", "")},
         "fits\nb: large in a for 400000\n"
         "a-gpu: taint: does not tolerate the taint dedicated=gpu:NoSchedule\nnodes 0/0\n"},
        {"a taint alone",
         {POOL_OF("gpu", "", TAINTED, ""), POD("one", "3", "")},
         "nowhere\ngpu: taint: does not tolerate the taint dedicated=gpu:NoSchedule\nnodes 0/0\n"
         "fix: NodePool gpu: tolerate dedicated=gpu:NoSchedule\n"},
        {"two taints",
         {POOL_OF(
              "gpu", "",
              "taints: [{key: a, value: '1', effect: NoSchedule}, {key: c, effect: NoSchedule}, "
              "{key: b, effect: NoExecute}], ",
              ""),
          POD("one", "3", ", tolerations: [{key: c, operator: Exists}]")},
         "nowhere\ngpu: taint: does not tolerate the taints a=1:NoSchedule and b:NoExecute\nnodes "
         "0/0\nfix: NodePool gpu: tolerate a=1:NoSchedule and b:NoExecute\n"},
        {"not ready",
         {POOL_OF("tiny", "", "", ONLY_SMALL), NOT_READY("z"), POD("one", "3", "")},
         "nowhere\nz: not-ready: it is not ready: UnhealthyDependents\n"
         "tiny: resources: needs 3 cpu\nnodes 0/0\nfix: NodePool z: make it ready\n"},
        {"a limit",
         {POOL_OF("full", "limits: {cpu: 1}, ", "", ""), POD("one", "1", "")},
         "nowhere\nfull: limit: the NodePool's limit of 1 cpu is too small for any type it may "
         "use\n"
         "nodes 0/0\nfix: NodePool full: raise its limit of 1 cpu\n"},
        {"not ready, with a message",
         {NOT_READY_FOR("z", ", message: no subnets"), POD("one", "1", "")},
         "nowhere\nz: not-ready: it is not ready: no subnets\nnodes 0/0\n"
         "fix: NodePool z: make it ready\n"},
        {"not ready, without a word",
         {NOT_READY_FOR("z", ""), POD("one", "1", "")},
         "nowhere\nz: not-ready: it is not ready\nnodes 0/0\nfix: NodePool z: make it ready\n"},
        {"not ready, and not for it",
         {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: z}, spec: {template: "
          "{spec: {" TAINTED "requirements: []}}}, status: {conditions: [{type: Ready, status: "
          "'False'}]}}",
          POD("one", "1", "")},
         "nowhere\nz: requirement: what the pod asks for, or does not tolerate, keeps it out\n"
         "nodes 0/0\n"},
        {"of a fixed size",
         {POOL_OF("z", "replicas: 3, ", "", ""), POD("one", "1", "")},
         "nowhere\nz: not-ready: it keeps a fixed number of nodes (spec.replicas), and buys none "
         "for pods\nnodes 0/0\n"},
        {"being deleted",
         {POOL_OF("z, deletionTimestamp: '2026-01-01T00:00:00Z'", "", "", ""), POD("one", "1", "")},
         "nowhere\nz: not-ready: it is being deleted\nnodes 0/0\n"},
        {"types that the catalogue has not",
         {POOL_OF("z", "", "",
                  ", {key: node.kubernetes.io/instance-type, operator: In, values: "
                  "[c9.large]}"),
          POOL_OF("a", "", TAINTED, ""), POD("one", "1", "")},
         "nowhere\nz: requirement: no instance type has node.kubernetes.io/instance-type c9.large, "
         "as "
         "the NodePool requires\n"
         "a: taint: does not tolerate the taint dedicated=gpu:NoSchedule\nnodes 0/0\n"
         "fix: NodePool z: mend its requirements, which no instance type meets\n"},
        {"requirements that cannot be understood",
         {POOL_OF("z", "", "", ", {key: a, operator: Near, values: [b]}"), POD("one", "1", "")},
         "nowhere\nz: not-ready: it is left out: spec.template.spec.requirements[1].operator is "
         "\"Near\"; it must be In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte\nnodes 0/0\n"
         "fix: NodePool z: mend it\n"},
        {"a weight that the API server refuses",
         {POOL_OF("z", "weight: 0, ", "", ""), POD("one", "1", "")},
         "nowhere\nz: not-ready: it is left out: spec.weight is 0; it must be a whole number from "
         "1 "
         "to 100\nnodes 0/0\nfix: NodePool z: mend it\n"},
        {"mended it would not take the pod either",
         {POOL_OF("z", "weight: 0, ", TAINTED, ""), POOL_OF("tiny", "", "", ONLY_SMALL),
          POD("one", "3", "")},
         "nowhere\ntiny: resources: needs 3 cpu\n"
         "z: requirement: it is left out: spec.weight is 0; it must be a whole number from 1 to "
         "100; besides, what the pod asks for, or does not tolerate, keeps it out\nnodes 0/0\n"
         "fix: NodePool tiny: ask for less, or allow larger instance types\n"},
        {"what rules the pod out whatever the pool, where none is ready",
         {NOT_READY("w"), POOL_OF("z", "weight: 0, ", "", ""), POD("one", "1", MOUNTS("absent"))},
         "nowhere\nw: volume: claim shop/absent is not in the cluster\n"
         "z: volume: claim shop/absent is not in the cluster\nnodes 0/0\n"},
        {"two reasons in one",
         {POOL_OF("z", "", "", ""), CLASS("gp3", "WaitForFirstConsumer", IN_B),
          CLAIM("d1", "{storageClassName: gp3}"),
          POD("one", "1", MOUNTS("d1") ", nodeSelector: {topology.kubernetes.io/zone: c}")},
         "nowhere\nz: requirement: asks for topology.kubernetes.io/zone c; claim shop/d1 can be in "
         "b "
         "only\nnodes 0/0\n"
         "fix: NodePool z: ask for what it has, or let it have what is asked for and let it have "
         "nodes where the volume is\n"},
        {"by name where nothing else tells them apart",
         {POOL_OF("b", "", TAINTED, ""), POOL_OF("a", "", TAINTED, ""), POOL_OF("d", "", "", ""),
          POOL_OF("c", "", "", ""), POOL_OF("e", "", TAINTED, ""), POD("one", "3", "")},
         "fits\nc: large in a for 400000\nd: large in a for 400000\n"
         "a: taint: does not tolerate the taint dedicated=gpu:NoSchedule\n"
         "b: taint: does not tolerate the taint dedicated=gpu:NoSchedule\n"
         "e: taint: does not tolerate the taint dedicated=gpu:NoSchedule\nnodes 0/0\n"},
        {"several reasons that only together rule it out",
         {POOL, POD("one", "3", ", nodeSelector: {node.kubernetes.io/instance-type: small}")},
         "nowhere\ndefault: requirement: asks for node.kubernetes.io/instance-type small; needs 3 "
         "cpu\nnodes 0/0\nfix: NodePool default: ask for what it has, or let it have what is asked "
         "for and ask for less, or allow larger instance types\n"},
        {"a limit before room",
         {POOL_OF("full", "limits: {cpu: 1}, ", "", ""), POOL_OF("a-tiny", "", "", ONLY_SMALL),
          POD("one", "3", "")},
         "nowhere\nfull: limit: the NodePool's limit of 1 cpu is too small for any type it may "
         "use\n"
         "a-tiny: resources: needs 3 cpu\n"
         "nodes 0/0\nfix: NodePool full: raise its limit of 1 cpu\n"},
    };
    CHECK(cases);
}

/* What is sold differs from zone to zone. */
static void a_pool_is_as_far_as_the_farthest_of_its_reasons(void)
{
    static const char catalog_text[] = "[" FIXTURE_TYPE(
        "small", "2", "4Gi",
        FIXTURE_OFFERING("a", "on-demand",
                         "0.1")) ", " FIXTURE_TYPE("large", "8", "32Gi",
                                                   FIXTURE_OFFERING("b", "on-demand", "0.4")) "]";
    static const struct {
        const char *documents[MOST_DOCUMENTS];
        const char *lines, *nearest; /* of the pool told last */
    } cases[] = {
        {{POOL_OF("a-zonal", "", "", ""), POOL_OF("b-tiny", "", "", ONLY_SMALL),
          CLAIM("d1", "{volumeName: v1, storageClassName: gp3}"), VOLUME("v1", IN_ZONES("[a]")),
          POD("one", "3", MOUNTS("d1"))},
         "nowhere\nb-tiny: resources: needs 3 cpu\n"
         "a-zonal: volume: needs 3 cpu; claim shop/d1 can be in a only\nnodes 0/0\n"
         "fix: NodePool b-tiny: ask for less, or allow larger instance types\n",
         "small, the only type it may use, has room for 1.9 cpu; the NodePool reaches a and b"},
        {{POOL_OF("a-zonal", "", "", ""), CLAIM("d1", "{volumeName: v1, storageClassName: gp3}"),
          VOLUME("v1", ", nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
                       "node.kubernetes.io/instance-type, operator: In, values: [small]}]}]}}"),
          POD("one", "3", MOUNTS("d1"))},
         "nowhere\na-zonal: volume: needs 3 cpu; claim shop/d1 can be in "
         "node.kubernetes.io/instance-type small only\nnodes 0/0\n"
         "fix: NodePool a-zonal: ask for less, or allow larger instance types and let it have "
         "nodes "
         "where the volume is\n",
         "small, the only type it may use, has room for 1.9 cpu"},
        {{POOL_OF("a-zonal", "", "", ""), NODE("n1", "a", "1"), POD("web", "1", ON("n1")),
          POD("one", "3", ZONE_OF("web"))},
         "nowhere\na-zonal: topology: needs 3 cpu; its affinity over zones "
         "(topology.kubernetes.io/zone) would need a, where no type has room for it\nnodes 0/1\n"
         "1 resources: lacks cpu\n"
         "fix: NodePool a-zonal: ask for less, or allow larger instance types and loosen the "
         "constraint, or make room where it allows the pod\n",
         "small, the only type it may use, has room for 1.9 cpu; matching pods: a 1"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct source *source = ARENA_NEW(fixture.arena, struct source);
        const struct catalog *catalog = NULL;
        const struct simulation_settings settings = {0};
        struct why_pod why;
        struct error error = {0};
        size_t count = 0;
        while (count < MOST_DOCUMENTS && cases[i].documents[count] != NULL)
            count++;
        source->text = TEXT(catalog_text);
        CU_ASSERT_FATAL(catalog_read(source, fixture.arena, &catalog, &error));
        CU_ASSERT_FATAL(why_pod(fixture_snapshot(&fixture, cases[i].documents, count), catalog,
                                &settings, TEXT("shop"), TEXT("one"), fixture.arena, &why,
                                &fixture.problems, &error));
        ASSERT_TEXT(lines_of(fixture.arena, &why), cases[i].lines);
        ASSERT_TEXT(why.pools[why.pool_count - 1].nearest, cases[i].nearest);
        arena_destroy(fixture.arena);
    }
}

static void too_many_ways_are_an_error(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct text_builder terms = {.arena = fixture.arena};
    for (int i = 0; i < 65; i++)
        text_builder_printf(&terms,
                            "%s{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, "
                            "values: [h%d]}]}",
                            i == 0 ? "" : ", ", i);
#define OF_MANY_TERMS(name) VOLUME(name, ", nodeAffinity: {required: {nodeSelectorTerms: [%.*s]}}")
    struct text list = text_builder_text(&terms);
    const char *documents[MOST_DOCUMENTS] = {
        POOL,
        CLAIM("d1", "{volumeName: v1, storageClassName: gp3}"),
        CLAIM("d2", "{volumeName: v2, storageClassName: gp3}"),
        arena_printf(fixture.arena, OF_MANY_TERMS("v1"), TEXT_ARGS(list)).data,
        arena_printf(fixture.arena, OF_MANY_TERMS("v2"), TEXT_ARGS(list)).data,
        POD("one", "1",
            ", volumes: [{name: a, persistentVolumeClaim: {claimName: d1}}, {name: b, "
            "persistentVolumeClaim: {claimName: d2}}]"),
    };
    struct why_pod why;
    struct error error = {0};
    CU_ASSERT_FALSE(ask(&fixture, fixture_catalog(&fixture), documents, "one", &why, &error));
    ASSERT_TEXT(text_of(error.what),
                "the volumes of one pod can be combined in more than 4096 ways");
    arena_destroy(fixture.arena);
}

/* What the user can do is on the node, or to the claim (docs/reference/karpenter.md 4.2). */
static void a_local_volume_is_on_its_node(void)
{
#define HOST(cpu, more)                                                                         \
    "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}, " \
    "spec: {" more "}, status: {allocatable: {cpu: " cpu ", memory: 8Gi, pods: 110}}}"
#define LOCAL_CLAIM CLAIM("d1", "{volumeName: v1, storageClassName: local}")
#define LOCAL                                                                                    \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1}, spec: {capacity: {storage: " \
    "1Gi}, local: {path: /d}, nodeAffinity: {required: {nodeSelectorTerms: "                     \
    "[{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]}}}}"
#define ELSEWHERE "default: volume: claim shop/d1 can be in kubernetes.io/hostname n1 only\n"
    static const struct why_case cases[] = {
        {"which has room",
         {POOL, HOST("4", ""), NODE("n2", "a", "4"), LOCAL, LOCAL_CLAIM,
          POD("one", "2", MOUNTS("d1"))},
         "fits\n" ELSEWHERE "nodes 1/2\n1 volume: is not where its volumes are\n"},
        {"which is full",
         {POOL, HOST("1", ""), NODE("n2", "a", "4"), LOCAL, LOCAL_CLAIM,
          POD("one", "2", MOUNTS("d1"))},
         "nowhere\n" ELSEWHERE "nodes 0/2\n1 volume: is not where its volumes are\n"
         "1 resources: lacks cpu\n"
         "fix: make room on the node that has its volume: no NodePool buys that node\n"},
        {"which it does not tolerate",
         {POOL, HOST("4", "taints: [{key: a, effect: NoSchedule}]"), LOCAL, LOCAL_CLAIM,
          POD("one", "2", MOUNTS("d1"))},
         "nowhere\n" ELSEWHERE "nodes 0/1\n1 taint: has the taint a:NoSchedule\n"
         "fix: let the node that has its volume take it: no NodePool buys that node\n"},
        {"which is gone",
         {POOL, NODE("n2", "a", "4"), LOCAL, LOCAL_CLAIM, POD("one", "2", MOUNTS("d1"))},
         "nowhere\n" ELSEWHERE "nodes 0/1\n1 volume: is not where its volumes are\n"
         "fix: make claim shop/d1 anew, if its data may go: no node that is there has its "
         "volume\n"},
        {"which is gone, and which no claim has yet",
         {POOL, NODE("n2", "a", "4"),
          "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, "
          "provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}",
          "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v1}, spec: {capacity: "
          "{storage: 1Gi}, storageClassName: local, accessModes: [ReadWriteOnce], local: {path: "
          "/d}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: "
          "kubernetes.io/hostname, operator: In, values: [n1]}]}]}}}}",
          CLAIM("d1", "{storageClassName: local, accessModes: [ReadWriteOnce]}"),
          POD("one", "2", MOUNTS("d1"))},
         "nowhere\n" ELSEWHERE "nodes 0/1\n1 volume: is not where its volumes are\n"
         "fix: make a volume for claim shop/d1 on a node that is there\n"},
        {"which is going",
         {POOL,
          "{apiVersion: v1, kind: Node, metadata: {name: n1, deletionTimestamp: "
          "'2026-01-01T00:00:00Z', labels: {kubernetes.io/hostname: n1}}, status: {allocatable: "
          "{cpu: 4, memory: 8Gi, pods: 110}}}",
          LOCAL, LOCAL_CLAIM, POD("one", "2", MOUNTS("d1"))},
         "nowhere\n" ELSEWHERE "nodes 0/0\n"
         "fix: make claim shop/d1 anew, if its data may go: no node that is there has its "
         "volume\n"},
        {"beside one that any node can have",
         {POOL, CLASS("gp3", "WaitForFirstConsumer", ""), CLAIM("d2", "{storageClassName: gp3}"),
          LOCAL, LOCAL_CLAIM,
          POD("one", "2",
              ", volumes: [{name: a, persistentVolumeClaim: {claimName: d2}}, {name: b, "
              "persistentVolumeClaim: {claimName: d1}}]")},
         "nowhere\n" ELSEWHERE "nodes 0/0\n"
         "fix: make claim shop/d1 anew, if its data may go: no node that is there has its "
         "volume\n"},
    };
    check_with(false, cases, COUNT_OF(cases));
}

static void a_pod_that_runs_is_looked_at_anew(void)
{
    static const struct why_case cases[] = {
        {"its own Node takes it, without itself",
         {POOL, NODE("n1", "a", "2"), NODE("n2", "a", "1"), POD("one", "2", ON("n1"))},
         "fits on n1\ndefault: large in a for 400000\nnodes 1/2\n1 resources: lacks cpu\n"},
        {"it runs where it would not be put",
         {POOL_OF("gpu", "", TAINTED, ""), NODE("n1", "a", "1"), POD("one", "2", ON("n1"))},
         "fits on n1\ngpu: taint: does not tolerate the taint dedicated=gpu:NoSchedule\n"
         "nodes 0/1\n1 resources: lacks cpu\n"},
        {"a DaemonSet's pod waits for room on its own Node",
         {POOL, NODE("n1", "a", "1"), NODE("n2", "a", "4"),
          "{apiVersion: v1, kind: Pod, metadata: {name: one, ownerReferences: [{apiVersion: "
          "apps/v1, "
          "kind: DaemonSet, name: log, controller: true}]}, spec: " POD_SPEC("2",
                                                                             OF_NODE("n1")) "}"},
         "nowhere\ndefault: requirement: nothing is bought for a DaemonSet's pod; this one is for "
         "node n1\n"
         "nodes 0/2\n1 resources: lacks cpu\n1 requirement: lacks kubernetes.io/hostname n1\n"
         "fix: make room on its node: with a priorityClassName above theirs it pushes other pods "
         "off\n"},
        {"one that is leaving, and has no Node",
         {POOL, "{apiVersion: v1, kind: Pod, metadata: {name: one, deletionTimestamp: "
                "'2026-01-01T00:00:00Z'}, spec: " POD_SPEC("1", "") "}"},
         "fits leaving\ndefault: small in a for 100000\nnodes 0/0\n"},
        {"one that is done",
         {POOL, "{apiVersion: v1, kind: Pod, metadata: {name: one}, spec: " POD_SPEC(
                    "1", ON("n1")) ", "
                                   "status: {phase: Succeeded}}"},
         "fits done n1\nnodes 0/0\n"},
        {"a DaemonSet's pod by another field",
         {POOL, NODE("n1", "a", "4"),
          "{apiVersion: v1, kind: Pod, metadata: {name: one" OF_AGENT
          "}, spec: " POD_SPEC("2", OF_FIELD("metadata.uid", "n1")) "}"},
         "nowhere\ndefault: requirement: " MATCH_FIELDS "\nnodes 0/1\n"
         "1 requirement: lacks kubernetes.io/hostname that its matchFields allow\n"},
        {"a pod for one Node",
         {POOL, NODE("n1", "a", "4"), NODE("n2", "a", "4"), POD("one", "2", OF_NODE("n2"))},
         "fits\ndefault: requirement: " MATCH_FIELDS
         "\nnodes 1/2\n1 requirement: lacks kubernetes.io/hostname n2\n"},
        {"and for one that is not there",
         {POOL, NODE("n1", "a", "4"), POD("one", "2", OF_NODE("n2"))},
         "nowhere\ndefault: requirement: " MATCH_FIELDS
         "\nnodes 0/1\n1 requirement: lacks kubernetes.io/hostname that its matchFields allow\n"},
        {"a claim for one pod, of which an older one has no use",
         {POOL, CLASS("gp3", "WaitForFirstConsumer", ""),
          CLAIM("d1", "{accessModes: [ReadWriteOncePod], storageClassName: gp3}"),
          POD("large", "100", MOUNTS("d1")), POD("one", "1", MOUNTS("d1"))},
         "fits\ndefault: small in a for 100000\nnodes 0/0\n"},
        {"a claim whose class an annotation names",
         {POOL, CLASS("gp3", "WaitForFirstConsumer", ""),
          "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: d1, annotations: "
          "{volume.beta.kubernetes.io/storage-class: gp3}}, spec: {}}",
          POD("one", "2", MOUNTS("d1"))},
         "nowhere\ndefault: volume: Karpenter does not read the annotation "
         "volume.beta.kubernetes.io/storage-class of claim shop/d1, so it leaves its pods alone\n"
         "nodes 0/0\nfix: NodePool default: write spec.storageClassName into the claim\n"},
        {"a DaemonSet's pod whose claim is not there",
         {POOL, NODE("n1", "a", "4"),
          "{apiVersion: v1, kind: Pod, metadata: {name: one" OF_AGENT
          "}, spec: " POD_SPEC("2", OF_NODE("n1") MOUNTS("absent")) "}"},
         "nowhere\ndefault: requirement: nothing is bought for a DaemonSet's pod; this one is for "
         "node n1\nnodes 0/1\n1 volume: claim shop/absent is not in the cluster\n"},
        {"a DaemonSet's pod whose claim is there",
         {POOL, NODE("n1", "a", "4"), CLAIM("d1", "{volumeName: v1, storageClassName: gp3}"),
          VOLUME("v1", IN_ZONES("[a]")),
          "{apiVersion: v1, kind: Pod, metadata: {name: one" OF_AGENT
          "}, spec: " POD_SPEC("2", OF_NODE("n1") MOUNTS("d1")) "}"},
         "fits\ndefault: requirement: nothing is bought for a DaemonSet's pod; this one is for "
         "node n1\nnodes 1/1\n"},
        {"a DaemonSet's pod that cannot be understood",
         {POOL, NODE("n1", "a", "4"),
          "{apiVersion: v1, kind: Pod, metadata: {name: one" OF_AGENT
          "}, spec: " POD_SPEC("lots", OF_NODE("n1")) "}"},
         "nowhere\ndefault: requirement: nothing is bought for a DaemonSet's pod; this one is for "
         "node n1\nnodes 0/1\n"
         "1 requirement: the request of cpu is \"lots\", which is no quantity of 0 or more\n"},
        {"a DaemonSet's pod has room, whatever is pending beside it",
         {POOL, NODE("n1", "a", "4"), POD("other", "1", ""),
          "{apiVersion: v1, kind: Pod, metadata: {name: one" OF_AGENT
          "}, spec: " POD_SPEC("2", OF_NODE("n1")) "}"},
         "fits\ndefault: requirement: nothing is bought for a DaemonSet's pod; this one is for "
         "node n1\nnodes 1/1\n"},
        {"a claim is not there, and one of the Nodes is leaving",
         {POOL, NODE("n1", "a", "4"),
          "{apiVersion: v1, kind: Node, metadata: {name: n2, deletionTimestamp: "
          "'2026-01-01T00:00:00Z'}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}",
          POD("one", "1", MOUNTS("absent"))},
         "nowhere\ndefault: volume: claim shop/absent is not in the cluster\nnodes 0/1\n"
         "1 volume: claim shop/absent is not in the cluster\n"},
        {"a Node that is leaving takes nothing",
         {NODE("n1", "a", "4"),
          "{apiVersion: v1, kind: Node, metadata: {name: n2, deletionTimestamp: "
          "'2026-01-01T00:00:00Z'}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}}",
          POD("one", "1", "")},
         "fits\nnodes 1/1\n"},
        {"it waits for its gate",
         {POOL, POD("one", "1", ", schedulingGates: [{name: example.com/ready}]")},
         "fits gated\ndefault: small in a for 100000\nnodes 0/0\n"},
        {"Fargate makes a node for it, though nothing here would do",
         {POOL, "{apiVersion: v1, kind: Pod, metadata: {name: one, labels: "
                "{eks.amazonaws.com/fargate-profile: fp}}, spec: " POD_SPEC("9", "") "}"},
         "fits fargate\ndefault: resources: needs 9 cpu\nnodes 0/0\n"},
        {"kube-scheduler makes room for it, though nothing would do as it is",
         {POOL, NODE("n1", "a", "9"), POD("old", "8", ON("n1")),
          "{apiVersion: v1, kind: Pod, metadata: {name: one}, spec: " POD_SPEC(
              "9", "") ", status: {nominatedNodeName: n1}}"},
         "fits preempts\ndefault: resources: needs 9 cpu\nnodes 0/1\n1 resources: lacks cpu\n"},
    };
    CHECK(cases);
}

#define APART "claim shop/d1 can be in a only, claim shop/d2 in b: no place holds all of them"
#define NONE_LEFT "of the volumes that suit claim shop/d2 none is left"
#define STATIC                                                                       \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: static}, " \
    "provisioner: kubernetes.io/no-provisioner, volumeBindingMode: WaitForFirstConsumer}"

/* Karpenter places all that is pending together. */
static void what_is_pending_counts(void)
{
    static const struct why_case cases[] = {
        {"another takes the limit",
         {POOL_OF("full", "limits: {cpu: 2}, ", "", ONLY_SMALL), POD("big", "1.8", ""),
          POD("one", "1.7", "")},
         "nowhere\nfull: limit: the NodePool's limit of 2 cpu is used up\nnodes 0/0\n"
         "fix: NodePool full: raise its limit of 2 cpu\n"},
        {"others take the Nodes",
         {NODE("n1", "a", "2"), NODE("n2", "a", "1"), POD("big", "1.8", ""), POD("one", "1.7", "")},
         "nowhere\nnodes 0/2\n2 resources: lack cpu\nfix: make a NodePool that takes it\n"},
        {"another takes the volume",
         {POOL, NODE("n1", "a", "1"), STATIC, VOLUME("v1", ", storageClassName: static"),
          CLAIM("d1", "{storageClassName: static}"), CLAIM("d2", "{storageClassName: static}"),
          POD("big", "2", MOUNTS("d1")), POD("one", "1.5", MOUNTS("d2"))},
         "nowhere\ndefault: volume: " NONE_LEFT "\nnodes 0/1\n1 volume: " NONE_LEFT "\n"},
        {"others take its volumes to two zones",
         {POOL, CLASS("gp3", "WaitForFirstConsumer", ""), CLAIM("d1", "{storageClassName: gp3}"),
          CLAIM("d2", "{storageClassName: gp3}"),
          POD("a", "2", MOUNTS("d1") ", nodeSelector: {topology.kubernetes.io/zone: a}"),
          POD("b", "2", MOUNTS("d2") ", nodeSelector: {topology.kubernetes.io/zone: b}"),
          POD("one", "0.5",
              ", volumes: [{name: a, persistentVolumeClaim: {claimName: d1}}, {name: b, "
              "persistentVolumeClaim: {claimName: d2}}], nodeSelector: "
              "{topology.kubernetes.io/zone: c}")},
         "nowhere\ndefault: volume: " APART "\nnodes 0/0\nfix: NodePool default: "
         "mount volumes that one place holds\n"},
        {"others take the Nodes, and the NodePool is left out",
         {POOL_OF("broken", "", "", ", {key: a, operator: Near}"), NODE("n1", "a", "2"),
          POD("big", "1.8", ""), POD("one", "1.7", "")},
         "nowhere\nbroken: not-ready: it is left out: spec.template.spec.requirements[1].operator "
         "is \"Near\"; it must be In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte\nnodes 0/1\n"
         "1 resources: lacks cpu\nfix: NodePool broken: mend it\n"},
        {"another brings it along",
         {POOL, POD("web", "1", ""), POD("one", "0.5", BESIDE("web"))},
         "fits\ndefault: small in a for 100000\nnodes 0/0\n"},
        {"others that nobody understands, or that wait elsewhere, take nothing",
         {POOL_OF("full", "limits: {cpu: 2}, ", "", ONLY_SMALL),
          POD("lost", "1.8", MOUNTS("absent")),
          "{apiVersion: v1, kind: Pod, metadata: {name: one, namespace: bank}, spec: " POD_SPEC(
              "9", "") "}",
          POD("one", "1.7", "")},
         "fits\nfull: small in a for 100000\nnodes 0/0\n"},
        {"with others it comes to the first of two NodePools",
         {POOL_OF("b", "", "", ""), POOL_OF("a", "", TAINTED, ""), POD("web", "1", ""),
          POD("one", "5", "")},
         "fits\nb: large in a for 400000\n"
         "a: taint: does not tolerate the taint dedicated=gpu:NoSchedule\nnodes 0/0\n"},
        {"its friend does not exist",
         {POOL, POD("one", "0.5", BESIDE("web"))},
         "nowhere\ndefault: topology: its affinity over nodes (kubernetes.io/hostname) selects no "
         "pod that runs (app=web)\nnodes 0/0\n"
         "fix: NodePool default: loosen the constraint, or make room where it allows the pod\n"},
    };
    CHECK(cases);
}

static void more_volumes_than_a_type_attaches(void)
{
    enum { MOUNTED = 40 };
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    struct text_builder claims = {.arena = fixture.arena};
    struct text_builder mounts = {.arena = fixture.arena};
    for (int i = 0; i < MOUNTED; i++) {
        text_builder_printf(&claims,
                            "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: "
                            "d%d}, spec: {storageClassName: gp3}}\n",
                            i);
        text_builder_printf(&mounts, "%s{name: v%d, persistentVolumeClaim: {claimName: d%d}}",
                            i > 0 ? ", " : "", i, i);
    }
    const char *documents[MOST_DOCUMENTS] = {
        POOL_OF("z", "", AWS, ONLY_LARGE),
        CLASS("gp3", "WaitForFirstConsumer", ""),
        text_builder_text(&claims).data,
        arena_printf(fixture.arena,
                     "{apiVersion: v1, kind: Pod, metadata: {name: one}, spec: {containers: "
                     "[{name: c}], volumes: [%.*s]}}",
                     TEXT_ARGS(text_builder_text(&mounts)))
            .data,
    };
    struct why_pod why;
    struct error error = {0};
    CU_ASSERT_FATAL(ask(&fixture, catalog_builtin(fixture.arena), documents, "one", &why, &error));
    ASSERT_TEXT(
        lines_of(fixture.arena, &why),
        "nowhere\nz: volume: attaches 40 volumes of driver ebs.csi.aws.com\nnodes 0/0\nfix: "
        "NodePool z: mount fewer volumes, or allow instance types that attach more\n");
    arena_destroy(fixture.arena);
}

static void a_pod_that_is_not_there_is_told_with_what_was_meant(void)
{
    static const struct {
        const char *document, *wanted, *what;
    } cases[] = {
        {POD("web", "1", ""), "wbe", "there is no Pod shop/wbe; did you mean web?"},
        {POD("web", "1", ""), "other", "there is no Pod shop/other"},
        {WORKLOAD("Deployment", "web", "replicas: 2, selector: {}", "1", ""), "web",
         "there is no Pod shop/web; did you mean one of web-0, web-1?"},
        {POOL, "web", "there is no Pod shop/web"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: bank}, spec: {}}", "p",
         "there is no Pod shop/p; there is one in namespace bank"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const char *documents[MOST_DOCUMENTS] = {cases[i].document};
        struct why_pod why;
        struct error error = {0};
        CU_ASSERT_FALSE(
            ask(&fixture, fixture_catalog(&fixture), documents, cases[i].wanted, &why, &error));
        ASSERT_TEXT(text_of(error.what), cases[i].what);
        arena_destroy(fixture.arena);
    }
}

/* The built-in table has the types of AWS, some of them by name alone. */
static void types_of_another_cloud_are_not_known(void)
{
    static const char *const documents[] = {
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: azure}, spec: {template: "
        "{spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}, "
        "requirements: []}}}}",
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: flex}, spec: {template: "
        "{spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, "
        "requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: "
        "[g2]}]}}}}",
        POD("one", "1", "")};
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, COUNT_OF(documents));
    const struct simulation_settings settings = {0};
    struct why_pod why;
    struct error error = {0};
    CU_ASSERT_FATAL(why_pod(snapshot, catalog_builtin(fixture.arena), &settings, TEXT("shop"),
                            TEXT("one"), fixture.arena, &why, &fixture.problems, &error));
    ASSERT_TEXT(lines_of(fixture.arena, &why),
                "undecided\nazure: undecided: its instance types are not in the catalogue; "
                "--catalog FILE gives them\n"
                "flex: undecided: the catalogue does not know the hardware of g2.2xlarge, "
                "g2.8xlarge\nnodes 0/0\n");
    arena_destroy(fixture.arena);
}

#define AZURE(name)                                                                               \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: {template: " \
    "{spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}, "           \
    "requirements: []}}}}"
#define UNKNOWN                                                                     \
    "undecided: its instance types are not in the catalogue; --catalog FILE gives " \
    "them\n"

#define UNKNOWN_HARDWARE \
    ", {key: node.kubernetes.io/instance-type, operator: In, values: [m8g-flex.large]}"
#define TERM_OF_LABEL(key, value) \
    "{matchExpressions: [{key: " key ", operator: In, values: [" value "]}]}"
#define FIX_LABEL(pool) \
    "fix: NodePool " pool ": ask for what it has, or let it have what is asked for\n"

/* The built-in table has the types of AWS alone. */
static void what_is_not_known_is_between(void)
{
    static const struct why_case cases[] = {
        {"what is not known is between",
         {AZURE("a"), POOL_OF("b", "", AWS TAINTED, ""), AZURE("c"), POD("one", "3", "")},
         "undecided\na: " UNKNOWN "c: " UNKNOWN
         "b: taint: does not tolerate the taint dedicated=gpu:NoSchedule\nnodes 0/0\n"},
        {"others take what would do, and of the rest nobody knows",
         {POOL_OF("z", "limits: {cpu: 2}, ", AWS, ONLY_LARGE), AZURE("a"), POD("aa", "1500m", ""),
          POD("one", "1500m", "")},
         "undecided\na: " UNKNOWN
         "z: limit: the NodePool's limit of 2 cpu is used up\nnodes 0/0\n"},
        {"others take the volume, and of no pool it matters what nobody knows",
         {AZURE("a"), NODE("n1", "a", "8"), STATIC, VOLUME("v1", ", storageClassName: static"),
          CLAIM("d1", "{storageClassName: static}"), CLAIM("d2", "{storageClassName: static}"),
          POD("big", "2", MOUNTS("d1")), POD("one", "1.5", MOUNTS("d2"))},
         "nowhere\na: volume: " NONE_LEFT "\nnodes 0/1\n1 volume: " NONE_LEFT "\n"},
        {"a device that types of other NodePools have",
         {POOL_OF("z", "", AWS, ONLY_LARGE), POD("one", "1, nvidia.com/gpu: 1", "")},
         "nowhere\nz: resources: needs 1 nvidia.com/gpu\nnodes 0/0\n"
         "fix: NodePool z: allow instance types that have nvidia.com/gpu\n"},
        {"and that no type has so many of",
         {POOL_OF("z", "", AWS, ""), POD("one", "1, nvidia.com/gpu: 99", "")},
         "nowhere\nz: resources: needs 99 nvidia.com/gpu\nnodes 0/0\n"
         "fix: NodePool z: ask for less\n"},
        {"disks that the node class has not",
         {POOL_OF("z", "", AWS, ONLY_LARGE),
          "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: a}, spec: "
          "{role: r}}",
          POD("one", "1, ephemeral-storage: 500Gi", "")},
         "nowhere\nz: resources: needs 500Gi ephemeral-storage\nnodes 0/0\n"
         "fix: NodePool z: ask for less, or give its nodes a larger disk (volumeSize of the "
         "EC2NodeClass)\n"},
        {"what is not known before what is ruled out",
         {AZURE("a"), POOL_OF("b", "", AWS TAINTED, ""), POD("one", "3", "")},
         "undecided\na: " UNKNOWN
         "b: taint: does not tolerate the taint dedicated=gpu:NoSchedule\nnodes 0/0\n"},
        {"a label of its cloud's own may be there without a requirement, another is not",
         {AZURE("a"), POD("one", "1",
                          ", nodeSelector: {karpenter.azure.com/sku-family: D, "
                          "kubernetes.azure.com/mode: user}")},
         "undecided\na: " UNKNOWN "nodes 0/0\n"},
        {"nor is a label that is no cloud's",
         {AZURE("a"),
          POD("one", "1",
              ", nodeSelector: {karpenter.azure.com/sku-family: D, karpenter.k8s.gcp/a: b}")},
         "nowhere\na: requirement: asks for karpenter.k8s.gcp/a b\nnodes 0/0\n" FIX_LABEL("a")},
        {"unknown hardware: a label that each of its nodes has",
         {POOL_OF("z", "", "nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: a}, ",
                  UNKNOWN_HARDWARE),
          POD("one", "1", ", nodeSelector: {eks.amazonaws.com/compute-type: auto}")},
         "undecided\nz: undecided: the catalogue does not know the hardware of "
         "m8g-flex.large\nnodes 0/0\n"},
        {"nor is one without a domain",
         {AZURE("a"), POD("one", "1", ", nodeSelector: {team: a}")},
         "nowhere\na: requirement: asks for team a\nnodes 0/0\n" FIX_LABEL("a")},
        {"a resource that nobody knows, of a pod that is not to be placed yet",
         {AZURE("a"), POD("one", "1, google.com/tpu: 4", ", schedulingGates: [{name: queue}]")},
         "undecided gated\na: " UNKNOWN "nodes 0/0\n"},
        {"unknown hardware: a taint",
         {POOL_OF("z", "", AWS TAINTED, UNKNOWN_HARDWARE), POD("one", "1", "")},
         "nowhere\nz: taint: does not tolerate the taint dedicated=gpu:NoSchedule\nnodes 0/0\n"
         "fix: NodePool z: tolerate dedicated=gpu:NoSchedule\n"},
        {"unknown hardware: a label",
         {POOL_OF("z", "", AWS, UNKNOWN_HARDWARE), POD("one", "1", ", nodeSelector: {team: a}")},
         "nowhere\nz: requirement: asks for team a\nnodes 0/0\n" FIX_LABEL("z")},
        {"unknown hardware: neither of the terms",
         {POOL_OF("z", "", AWS, UNKNOWN_HARDWARE),
          POD("one", "1", OF_TERMS(TERM_OF_LABEL("team", "a"), TERM_OF_LABEL("team", "b")))},
         "nowhere\nz: requirement: asks for team b\nnodes 0/0\n" FIX_LABEL("z")},
        {"unknown hardware: one of the terms suits it",
         {POOL_OF("z", "", AWS, UNKNOWN_HARDWARE),
          POD("one", "1",
              OF_TERMS(TERM_OF_LABEL("team", "a"), TERM_OF_LABEL("kubernetes.io/os", "linux")))},
         "undecided\nz: undecided: the catalogue does not know the hardware of "
         "m8g-flex.large\nnodes 0/0\n"},
        {"unknown hardware: where the volume is",
         {POOL_OF("z", "", AWS,
                  UNKNOWN_HARDWARE
                  ", {key: topology.kubernetes.io/zone, operator: In, values: [b]}"),
          CLAIM("d1", "{volumeName: v1, storageClassName: gp3}"), VOLUME("v1", IN_ZONES("[a]")),
          POD("one", "1", MOUNTS("d1"))},
         "nowhere\nz: volume: claim shop/d1 can be in a only\nnodes 0/0\n"
         "fix: NodePool z: let it have nodes where the volume is\n"},
        {"unknown hardware: the volume may be there",
         {POOL_OF("z", "", AWS,
                  UNKNOWN_HARDWARE
                  ", {key: topology.kubernetes.io/zone, operator: In, values: [a]}"),
          CLAIM("d1", "{volumeName: v1, storageClassName: gp3}"), VOLUME("v1", IN_ZONES("[a]")),
          POD("one", "1", MOUNTS("d1"))},
         "undecided\nz: undecided: the catalogue does not know the hardware of "
         "m8g-flex.large\nnodes 0/0\n"},
        {"unknown hardware: the name tells that there is no such device",
         {POOL_OF("z", "", AWS, UNKNOWN_HARDWARE), POD("one", "1, nvidia.com/gpu: 1", "")},
         "nowhere\nz: resources: no type of this NodePool has nvidia.com/gpu: it may launch "
         "m8g-flex.large\nnodes 0/0\n"},
        {"unknown hardware: none of a device is none",
         {POOL_OF("z", "", AWS, UNKNOWN_HARDWARE), POD("one", "1, nvidia.com/gpu: 0", "")},
         "undecided\nz: undecided: the catalogue does not know the hardware of "
         "m8g-flex.large\nnodes 0/0\n"},
        {"unknown hardware: of two devices one is asked for",
         {POOL_OF("z", "", AWS, UNKNOWN_HARDWARE),
          POD("one", "1, nvidia.com/gpu: 1, aws.amazon.com/neuron: 0", "")},
         "nowhere\nz: resources: no type of this NodePool has nvidia.com/gpu: it may launch "
         "m8g-flex.large\nnodes 0/0\n"},
        {"a node class of which nobody says whose it is",
         {POOL_OF("a", "", "nodeClassRef: {kind: CloudNodeClass, name: a}, ", ""),
          POD("one", "1", ", nodeSelector: {kubernetes.azure.com/mode: user}")},
         "undecided\na: " UNKNOWN "nodes 0/0\n"},
        {"unknown hardware: of another family",
         {POOL_OF("z", "", AWS, UNKNOWN_HARDWARE),
          POD("one", "1", ", nodeSelector: {karpenter.k8s.aws/instance-family: m5}")},
         "nowhere\nz: requirement: no type of this NodePool is what the pod asks for: it may "
         "launch "
         "m8g-flex.large\nnodes 0/0\n"},
        {"unknown hardware beside a type that is known",
         {POOL_OF("z", "", AWS,
                  ", {key: node.kubernetes.io/instance-type, operator: In, values: "
                  "[m8g-flex.large, m5.large]}"),
          POD("one", "1", ", nodeSelector: {node.kubernetes.io/instance-type: m8g-flex.large}")},
         "undecided\nz: undecided: the catalogue does not know the hardware of "
         "m8g-flex.large\nnodes 0/0\n"},
        {"a claim that is not there rules the pod out, whatever the NodePool launches",
         {POOL_OF("z", "", AWS,
                  ", {key: node.kubernetes.io/instance-type, operator: In, values: [g2.2xlarge]}"),
          AZURE("a"), POD("one", "1", MOUNTS("absent"))},
         "nowhere\na: volume: claim shop/absent is not in the cluster\n"
         "z: volume: claim shop/absent is not in the cluster\nnodes 0/0\n"},
    };
    check_with(true, cases, COUNT_OF(cases));
}

const struct unit_test unit_tests[] = {
    {"what is not known is between", what_is_not_known_is_between},
    {"types of another cloud are not known", types_of_another_cloud_are_not_known},
    {"every pool and Node is told", every_pool_and_node_is_told},
    {"the nearest pool comes first", the_nearest_pool_comes_first},
    {"a pool is as far as the farthest of its reasons",
     a_pool_is_as_far_as_the_farthest_of_its_reasons},
    {"too many ways are an error", too_many_ways_are_an_error},
    {"a local volume is on its node", a_local_volume_is_on_its_node},
    {"a pod that runs is looked at anew", a_pod_that_runs_is_looked_at_anew},
    {"what is pending counts", what_is_pending_counts},
    {"more volumes than a type attaches", more_volumes_than_a_type_attaches},
    {"a pod that is not there is told with what was meant",
     a_pod_that_is_not_there_is_told_with_what_was_meant},
    {NULL, NULL},
};
