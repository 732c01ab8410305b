/* The rail change-impact: updates and deletions, ceilings, confirmations, who asks. */
#include "rail_table.h"

#define HASHES                                              \
    "karpenter.sh/nodepool-hash: \"6821555240594823858\", " \
    "karpenter.sh/nodepool-hash-version: v3"
#define POOL_OF(annotations, metadata, labels, spec)                                        \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general, annotations: " \
    "{" HASHES annotations "}" metadata "}, spec: {" spec "template: {metadata: {" labels   \
    "}, spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}}"
#define POOL POOL_OF("", "", "", "")
#define TEAM "labels: {team: a}"
#define EDITED POOL_OF("", "", TEAM, "")
#define CONFIRMED(number) ", taffrail.dev/confirm-nodes: \"" number "\""
#define LEAVING ", deletionTimestamp: '2026-01-01T00:00:00Z'"
#define NODE(name)                                                               \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: " name \
    ", annotations: {" HASHES                                                    \
    "}, labels: {karpenter.sh/nodepool: general}}, status: {nodeName: " name     \
    "}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: " name               \
    ", labels: {karpenter.sh/nodepool: general, karpenter.sh/initialized: 'true'}}}\n"
#define POD(name, node, more)                                                                  \
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: " name more "}, spec: {nodeName: " node \
    "}, status: {phase: Running}}\n"
#define KEPT ", annotations: {karpenter.sh/do-not-disrupt: 'true'}"
#define NODE_CLASS(metadata)                                                                     \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: default, " metadata \
    "}, spec: {role: nodes}}"
#define FOUR POOL "\n" NODE("n1") NODE("n2") NODE("n3") NODE("n4")

struct change_case {
    const char *name, *rails, *cluster;
    const char *old, *object; /* old NULL: object is deleted */
    const char *findings;     /* "ACTION PATH MESSAGE" of each, a line each */
    const char *user;         /* NULL: jane */
    const char *subresource;
    kind_set unseen;
    bool orphans;
};

static const struct object *read_object(const char *yaml, struct arena *arena)
{
    if (yaml == NULL)
        return NULL;
    struct rail_documents documents = rail_table_read(yaml, arena);
    return documents.items;
}

static struct text findings_of(const struct change_case *test, struct arena *arena)
{
    struct world world =
        rail_table_world_of(test->rails, test->cluster, catalog_builtin(arena), arena);
    world.unseen = test->unseen;
    struct subject subject = {
        .operation = test->old == NULL ? OPERATION_DELETE : OPERATION_UPDATE,
        .object = read_object(test->object, arena),
        .old_object = read_object(test->old, arena),
        .subresource = text_of(test->subresource == NULL ? "" : test->subresource),
        .resource_kind = KIND_NODE_POOL,
        .requester = {.name = text_of(test->user == NULL ? "jane" : test->user)},
        .orphans = test->orphans,
    };
    struct verdict verdict;
    subject_of_scale(&world, arena, &subject);
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    struct text_builder lines = {.arena = arena};
    for (size_t i = 0; i < verdict.finding_count; i++) {
        const struct finding *finding = &verdict.findings[i];
        text_builder_printf(&lines, "%s%s %.*s %.*s", i == 0 ? "" : "\n",
                            finding->undecided ? "undecided" : action_name(finding->action),
                            TEXT_ARGS(finding->path), TEXT_ARGS(finding->message));
    }
    return text_builder_text(&lines);
}

static void run(const struct change_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_create(256 << 20);
        struct text findings = findings_of(&cases[i], arena);
        if (!text_is(findings, cases[i].findings))
            fprintf(stderr, "in \"%s\":\n", cases[i].name);
        ASSERT_TEXT(findings, cases[i].findings);
        arena_destroy(arena);
    }
}
#define RUN(cases) run(cases, sizeof cases / sizeof cases[0])

#define REPLACES "This change replaces 4 of 4 nodes, at most 1 at a time, from now on."
#define DELETES \
    "This deletes 4 of 4 nodes at once, before new ones are there, whatever the budgets say."
#define CONFIRM(number)                                                      \
    " If that is meant, run kubectl annotate --overwrite nodepools general " \
    "taffrail.dev/confirm-nodes=" number " and make the change again."

#define GONE "1 pod is gone for good, since no controller makes it again: default/web."

static void what_changes_is_told(void)
{
    static const struct change_case cases[] = {
        {.name = "an edit that replaces nodes",
         .rails = "change-impact: {}",
         .cluster = FOUR,
         .old = POOL,
         .object = EDITED,
         .findings = "warn spec " REPLACES},
        {.name = "who blocks is a line of its own",
         .rails = "change-impact: {}",
         .cluster = FOUR POD("web", "n1", KEPT),
         .old = POOL,
         .object = EDITED,
         .findings =
             "warn spec " REPLACES "\nwarn spec.disruption 1 pod of default blocks it: default/web "
             "(karpenter.sh/do-not-disrupt)."},
        {.name = "so is who is gone for good",
         .rails = "change-impact: {}",
         .cluster = FOUR POD("web", "n1", ""),
         .old = POOL,
         .object = EDITED,
         .findings = "warn spec " REPLACES "\nwarn spec.template " GONE},
        {.name = "one that replaces none",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = FOUR,
         .old = POOL,
         .object = POOL_OF("", "", "", "weight: 7, limits: {cpu: '1'}, "),
         .findings = ""},
        {.name = "one that changes nothing",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = FOUR,
         .old = POOL,
         .object = POOL,
         .findings = ""},
        {.name = "one that only keeps nodes",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = FOUR,
         .old = EDITED,
         .object = POOL,
         .findings = ""},
        {.name = "the status",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = FOUR,
         .old = POOL,
         .object = EDITED,
         .subresource = "status",
         .findings = ""},
        {.name = "of a NodePool that is being deleted",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = FOUR,
         .old = POOL_OF("", LEAVING, "", ""),
         .object = POOL_OF("", LEAVING, TEAM, ""),
         .findings = ""},
        {.name = "a deletion",
         .rails = "change-impact: {}",
         .cluster = FOUR,
         .object = POOL,
         .findings = "warn  " DELETES},
        {.name = "a deletion of what is being deleted",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = FOUR,
         .object = POOL_OF("", LEAVING, "", ""),
         .findings = ""},
        {.name = "a deletion that leaves the nodes",
         .rails = "change-impact: {maxNodes: 4}",
         .cluster = FOUR,
         .object = POOL,
         .orphans = true,
         .findings = "warn  4 nodes stay without their NodePool: Karpenter no longer replaces or "
                     "consolidates them."},
        {.name = "one that leaves more than the ceiling",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .object = POOL,
         .orphans = true,
         .findings =
             "deny  4 nodes stay without their NodePool: Karpenter no longer replaces or "
             "consolidates them. A change of more than 3 nodes has to be confirmed." CONFIRM("4")},
    };
    RUN(cases);
}

static void ceilings_deny_until_it_is_confirmed(void)
{
    static const struct change_case cases[] = {
        {.name = "at the ceiling",
         .rails = "change-impact: {maxNodes: 4}",
         .cluster = FOUR,
         .old = POOL,
         .object = EDITED,
         .findings = "warn spec " REPLACES},
        {.name = "above it",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL,
         .object = EDITED,
         .findings = "deny spec " REPLACES
                     " A change of more than 3 nodes has to be confirmed." CONFIRM("4")},
        {.name = "a share",
         .rails = "change-impact: {maxShare: 50%}",
         .cluster = FOUR,
         .old = POOL,
         .object = EDITED,
         .findings = "deny spec " REPLACES
                     " A change of more than 2 nodes has to be confirmed." CONFIRM("4")},
        {.name = "the lower of two",
         .rails = "change-impact: {maxShare: 75%, maxNodes: 1}",
         .cluster = FOUR,
         .old = POOL,
         .object = EDITED,
         .findings = "deny spec " REPLACES
                     " A change of more than 1 node has to be confirmed." CONFIRM("4")},
        {.name = "confirmed by the stored object",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL_OF(CONFIRMED("4"), "", "", ""),
         .object = POOL_OF(CONFIRMED("4"), "", TEAM, ""),
         .findings = "warn spec " REPLACES},
        {.name = "confirmed by the change itself",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL,
         .object = POOL_OF(CONFIRMED("4"), "", TEAM, ""),
         .findings = "deny spec " REPLACES
                     " A change of more than 3 nodes has to be confirmed." CONFIRM("4")},
        {.name = "the annotation alone is no change",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL,
         .object = POOL_OF(CONFIRMED("4"), "", "", ""),
         .findings = ""},
        {.name = "a number that is too low",
         .rails = "change-impact: {maxNodes: 2}",
         .cluster = FOUR,
         .old = POOL_OF(CONFIRMED("3"), "", "", ""),
         .object = POOL_OF(CONFIRMED("3"), "", TEAM, ""),
         .findings = "deny spec " REPLACES " A change of more than 2 nodes has to be confirmed, "
                     "and taffrail.dev/confirm-nodes says 3." CONFIRM("4")},
        {.name = "no number",
         .rails = "change-impact: {maxNodes: 2}",
         .cluster = FOUR,
         .old = POOL_OF(CONFIRMED("100%"), "", "", ""),
         .object = POOL_OF(CONFIRMED("100%"), "", TEAM, ""),
         .findings = "deny spec " REPLACES
                     " A change of more than 2 nodes has to be confirmed." CONFIRM("4")},
        {.name = "before any",
         .rails = "change-impact: {requireConfirmation: true}",
         .cluster = FOUR,
         .old = POOL,
         .object = EDITED,
         .findings = "deny spec " REPLACES " Such a change has to be confirmed." CONFIRM("4")},
        {.name = "a deletion above the ceiling",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .object = POOL,
         .findings =
             "deny  " DELETES " A change of more than 3 nodes has to be confirmed." CONFIRM("4")},
        {.name = "a deletion that is confirmed",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .object = POOL_OF(CONFIRMED("4"), "", "", ""),
         .findings = "warn  " DELETES},
        {.name = "a deletion of the node class, which may come back another",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .object = NODE_CLASS(""),
         .findings = "deny  NodePool general launches no more nodes; the 4 that run stay, "
                     "without successors. A change of more than 3 nodes has to be confirmed. "
                     "If that is "
                     "meant, run kubectl annotate --overwrite ec2nodeclasses default "
                     "taffrail.dev/confirm-nodes=4 and make the change again."},
        {.name = "one that is confirmed",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .object = NODE_CLASS("annotations: {taffrail.dev/confirm-nodes: '4'}"),
         .findings = "warn  NodePool general launches no more nodes; the 4 that run stay, "
                     "without successors."},
        {.name = "by the garbage collector",
         .rails = "change-impact: {maxNodes: 0, denyOccupiedDelete: true}",
         .cluster = FOUR,
         .object = POOL,
         .user = "system:serviceaccount:kube-system:generic-garbage-collector",
         .findings = ""},
        {.name = "by the namespace controller",
         .rails = "change-impact: {maxNodes: 0, denyOccupiedDelete: true}",
         .cluster = FOUR,
         .object = POOL,
         .user = "system:serviceaccount:kube-system:namespace-controller",
         .findings = ""},
        {.name = "an edit by an account of kube-system is one of a person",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL,
         .object = EDITED,
         .user = "system:serviceaccount:kube-system:flux",
         .findings = "deny spec " REPLACES
                     " A change of more than 3 nodes has to be confirmed." CONFIRM("4")},
        {.name = "what blocks is told with the denial",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR POD("web", "n1", KEPT),
         .old = POOL,
         .object = EDITED,
         .findings =
             "deny spec " REPLACES
             " A change of more than 3 nodes has to be confirmed. 1 pod of default blocks it: "
             "default/web (karpenter.sh/do-not-disrupt)." CONFIRM("4")},
        {.name = "so is who is gone for good",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR POD("web", "n1", ""),
         .old = POOL,
         .object = EDITED,
         .findings = "deny spec " REPLACES
                     " A change of more than 3 nodes has to be confirmed. " GONE CONFIRM("4")},
    };
    RUN(cases);
}

/* One edit after the other, each below the ceiling: nodes that wait are added up. */
static void small_steps_are_added_up(void)
{
#define ZONES(values)                                                                            \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general, annotations: "      \
    "{" HASHES                                                                                   \
    "}}, spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, " \
    "name: default}, requirements: [{key: zone, operator: In, values: " values "}]}}}}"
#define IN_ZONE(name, zone)                                                      \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: " name \
    ", annotations: {" HASHES "}, labels: {karpenter.sh/nodepool: general, zone: " zone "}}}\n"
#define IN_ZONES POOL "\n" IN_ZONE("n1", "a") IN_ZONE("n2", "b") IN_ZONE("n3", "c")
    static const struct change_case cases[] = {
        {.name = "the first",
         .rails = "change-impact: {maxNodes: 1}",
         .cluster = IN_ZONES,
         .old = ZONES("[a, b, c]"),
         .object = ZONES("[b, c]"),
         .findings = "warn spec This change replaces 1 of 3 nodes, all of them blocked as things "
                     "are.\nwarn spec.disruption 1 node cannot go: n1 (its Node has not come "
                     "yet)."},
        {.name = "the second, while the first still waits",
         .rails = "change-impact: {maxNodes: 1}",
         .cluster = IN_ZONES,
         .old = ZONES("[b, c]"),
         .object = ZONES("[c]"),
         .findings =
             "deny spec This change replaces 1 of 3 nodes, all of them blocked as things "
             "are. 1 more waits to be replaced after earlier changes. A change of more than 1 node "
             "has to be confirmed. 1 node cannot go: n2 (its Node has not come yet)." CONFIRM("2")},
    };
    RUN(cases);
}

/* kubectl scale nodepool: what comes is a Scale, without the annotations of what it scales. */
static void a_static_pool_may_be_scaled(void)
{
#define NODES NODE("n1") NODE("n2") NODE("n3") NODE("n4")
#define STATIC(annotations) POOL_OF(annotations, "", "", "replicas: 4, ") "\n" NODES
#define SCALE(replicas) \
    "{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: general}, spec: {" replicas "}}"
#define SCALED_TO(replicas, of) \
    .old = SCALE("replicas: 4"), .object = SCALE(replicas), .subresource = (of)
#define UNSEEN_CLAIMS "NodeClaims cannot all be seen. Make the NodeClaims visible (--state DIR)."
#define GIVES_UP \
    "This deletes 3 of 4 nodes at once, before new ones are there, whatever the budgets say."
    static const struct change_case cases[] = {
        {.name = "down, above the ceiling",
         .rails = "change-impact: {maxNodes: 2}",
         .cluster = STATIC(""),
         SCALED_TO("replicas: 1", "scale"),
         .findings = "deny spec " GIVES_UP
                     " A change of more than 2 nodes has to be confirmed." CONFIRM("3")},
        {.name = "to none at all",
         .rails = "change-impact: {maxNodes: 4}",
         .cluster = STATIC(""),
         SCALED_TO("", "scale"),
         .findings =
             "warn spec This deletes 4 of 4 nodes at once, before new ones are there, whatever "
             "the budgets say."},
        {.name = "confirmed by the NodePool as it is stored",
         .rails = "change-impact: {maxNodes: 2}",
         .cluster = STATIC(CONFIRMED("3")),
         SCALED_TO("replicas: 1", "scale"),
         .findings = "warn spec " GIVES_UP},
        {.name = "up",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = STATIC(""),
         SCALED_TO("replicas: 9", "scale"),
         .findings = ""},
        {.name = "of a NodePool that is not seen yet",
         .rails = "change-impact: {maxNodes: 2}",
         .cluster = NODES,
         SCALED_TO("replicas: 1", "scale"),
         .findings = "deny spec " GIVES_UP
                     " A change of more than 2 nodes has to be confirmed." CONFIRM("3")},
        {.name = "by an account of kube-system, which is no autoscaler of nodes",
         .rails = "change-impact: {maxNodes: 2}",
         .cluster = STATIC(""),
         SCALED_TO("replicas: 1", "scale"),
         .user = "system:serviceaccount:kube-system:flux",
         .findings = "deny spec " GIVES_UP
                     " A change of more than 2 nodes has to be confirmed." CONFIRM("3")},
        {.name = "of what nobody can see",
         .rails = "change-impact: {maxNodes: 2}",
         .cluster = POOL,
         SCALED_TO("replicas: 1", "scale"),
         .unseen = KIND_BIT(KIND_NODE_CLAIM),
         .findings =
             "undecided spec What this change does to nodes and pods is not known: " UNSEEN_CLAIMS},
        {.name = "rails that say nothing of a scale",
         .rails = "pool-limits: {require: [cpu]}, pool-shape: {}",
         .cluster = STATIC(""),
         SCALED_TO("replicas: 1", "scale"),
         .findings = ""},
    };
    RUN(cases);
}

/* Only a whole number confirms. */
static void numbers_that_confirm(void)
{
    static const struct {
        const char *written;
        bool confirms;
    } rows[] = {
        {"4", true},         {"004", true},      {"5", true},     {"9223372036854775807", true},
        {"3", false},        {"", false},        {" 4", false},   {"4 ", false},
        {"+4", false},       {"-4", false},      {"4.0", false},  {"0x10", false},
        {"4e3", false},      {"4,0", false},     {"100%", false}, {"9223372036854775808", false},
        {"4\\u0000", false}, {"\\u0664", false}, {"all", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena *arena = arena_create(256 << 20);
        struct text old = arena_printf(arena,
                                       "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: "
                                       "{name: general, annotations: {" HASHES
                                       ", taffrail.dev/confirm-nodes: \"%s\"}}, spec: {template: "
                                       "{spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: "
                                       "EC2NodeClass, name: default}}}}}",
                                       rows[i].written);
        const struct change_case test = {
            .rails = "change-impact: {maxNodes: 3}", .cluster = FOUR, .object = old.data};
        bool denied = text_starts_with(findings_of(&test, arena), TEXT("deny"));
        if (denied == rows[i].confirms)
            fprintf(stderr, "\"%s\":\n", rows[i].written);
        ASSERT_INT(denied, !rows[i].confirms);
        arena_destroy(arena);
    }
}

/* What comes along with a change does not make it smaller. */
/* The server has the old object of each update; without it nothing can be compared. */
static void an_update_without_an_old_object_says_nothing(void)
{
    struct arena *arena = arena_create(256 << 20);
    struct world world = rail_table_world("change-impact: {maxNodes: 0}", FOUR, arena);
    const struct subject subject = {.operation = OPERATION_UPDATE,
                                    .object = rail_table_read(EDITED, arena).items};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    ASSERT_INT(verdict.finding_count, 0);
    arena_destroy(arena);
}

static void ways_around(void)
{
#define BUDGETS(budgets) "disruption: {budgets: [" budgets "]}, "
#define OF_CLASS(name)                                                                      \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general, annotations: " \
    "{" HASHES "}}, spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, "     \
    "kind: EC2NodeClass, name: " name "}}}}}"
#define ABOVE " A change of more than 3 nodes has to be confirmed." CONFIRM("4")
    static const struct change_case cases[] = {
        {.name = "a budget of none in the same change",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL,
         .object = POOL_OF("", "", TEAM, BUDGETS("{nodes: '0'}")),
         .findings =
             "deny spec This change replaces 4 of 4 nodes, but budgets never let one go." ABOVE},
        {.name = "budgets that contradict each other",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL,
         .object =
             POOL_OF("", "", TEAM, BUDGETS("{nodes: 100%}, {nodes: '0', reasons: [Drifted]}")),
         .findings =
             "deny spec This change replaces 4 of 4 nodes, but budgets never let one go." ABOVE},
        {.name = "a schedule with a time zone, which nobody reads",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL,
         .object = POOL_OF("", "", TEAM,
                           BUDGETS("{nodes: '0', schedule: 'TZ=Europe/Berlin 0 9 * * *', "
                                   "duration: 8h}")),
         .findings =
             "deny spec This change replaces 4 of 4 nodes, but budgets never let one go." ABOVE},
        {.name = "another node class",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL,
         .object = OF_CLASS("other"),
         .findings = "deny spec " REPLACES ABOVE},
        {.name = "a hash and a version of it, written by hand",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL,
         .object = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general, "
                   "annotations: {karpenter.sh/nodepool-hash: '1', "
                   "karpenter.sh/nodepool-hash-version: v9}}, spec: {template: {metadata: "
                   "{" TEAM "}, spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: "
                   "EC2NodeClass, name: default}}}}}",
         .findings = "deny spec " REPLACES ABOVE},
        {.name = "a finalizer and an owner that come with it",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL,
         .object = POOL_OF("",
                           ", finalizers: [orphan], ownerReferences: [{apiVersion: v1, kind: "
                           "Node, name: n1, uid: u, controller: true}]",
                           TEAM, ""),
         .findings =
             "deny metadata.ownerReferences[0] This change adds the owner Node n1: when that is "
             "gone, the garbage collector deletes this NodePool and asks nobody. " DELETES ABOVE},
        {.name = "fewer nodes of a static NodePool along with a label",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = STATIC(""),
         .old = POOL_OF("", "", "", "replicas: 4, "),
         .object = POOL_OF("", "", TEAM, "replicas: 3, "),
         .findings =
             "deny spec This change replaces 3 of 4 nodes, at most 1 at a time, from now on. It "
             "deletes 1 of 4 nodes at once, before new ones are there, whatever the budgets "
             "say." ABOVE},
    };
    RUN(cases);
}

#define CLASS \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: p}"
#define CLAIM                                                                      \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: " \
    "{storageClassName: fast}}"
#define MOUNTING                                                                           \
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {volumes: [{name: data, " \
    "persistentVolumeClaim: {claimName: data}}]}}\n"

#define OF_SET                                                                        \
    ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, " \
    "controller: true}]"
#define OWNER(uid) \
    ", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: " uid "}]"
#define GOES                                                                                       \
    "This change adds the owner ConfigMap gone: when that is gone, the garbage collector deletes " \
    "this NodePool and asks nobody. "

static void what_is_in_use_may_be_kept(void)
{
    static const struct change_case cases[] = {
        {.name = "an occupied NodePool, whatever is confirmed",
         .rails = "change-impact: {denyOccupiedDelete: true}",
         .cluster = FOUR POD("web", "n1", OF_SET),
         .object = POOL_OF(CONFIRMED("4"), "", "", ""),
         .findings = "deny  " DELETES
                     " 1 pod needs another place. Set its limits to {cpu: \"0\"} so that it "
                     "launches no more, drain its nodes one by one, then delete it."},
        {.name = "an occupied NodePool with replicas, which takes a limit on nodes alone",
         .rails = "change-impact: {denyOccupiedDelete: true}",
         .cluster = STATIC("") POD("web", "n1", OF_SET),
         .object = POOL_OF("", "", "", "replicas: 4, "),
         .findings = "deny  " DELETES
                     " 1 pod needs another place. Set its limits to {nodes: \"0\"} so that it "
                     "launches no more, drain its nodes one by one, then delete it."},
        {.name = "an owner that is added to one",
         .rails = "change-impact: {denyOccupiedDelete: true}",
         .cluster = FOUR POD("web", "n1", OF_SET),
         .old = POOL,
         .object = POOL_OF("", OWNER("a"), "", ""),
         .findings = "deny metadata.ownerReferences[0] " GOES DELETES
                     " 1 pod needs another place. Leave metadata.ownerReferences as it is."},
        {.name = "one whose only pod nobody makes again",
         .rails = "change-impact: {denyOccupiedDelete: true}",
         .cluster = FOUR POD("web", "n1", ""),
         .object = POOL,
         .findings = "deny  " DELETES
                     " 1 pod is gone for good, since no controller makes it again. Set its limits "
                     "to {cpu: \"0\"} so that it launches no more, drain its nodes one by one, "
                     "then delete it."},
        {.name = "one whose nodes are empty",
         .rails = "change-impact: {denyOccupiedDelete: true}",
         .cluster = FOUR,
         .object = POOL,
         .findings = "warn  " DELETES},
        {.name = "a StorageClass",
         .rails = "change-impact: {denyOccupiedDelete: true}",
         .cluster = CLASS "\n---\n" CLAIM,
         .object = CLASS,
         .findings = "deny  1 object uses this StorageClass: 1 PersistentVolumeClaim waits for a "
                     "volume that nobody makes any more. Move what uses it first."},
        {.name = "a claim, which nobody has asked about",
         .rails = "change-impact: {denyOccupiedDelete: true}",
         .cluster = CLAIM "\n" MOUNTING,
         .object = CLAIM,
         .findings = ""},
        {.name = "a claim",
         .rails = "change-impact: {denyOccupiedDelete: true, deletions: [PersistentVolumeClaim]}",
         .cluster = CLAIM "\n" MOUNTING,
         .object = CLAIM,
         .findings =
             "deny  1 Pod mounts this PersistentVolumeClaim: it goes with the last of them. "
             "Scale down what mounts it first."},
        {.name = "a Namespace",
         .rails = "change-impact: {deletions: [Namespace]}",
         .cluster = CLAIM "\n" MOUNTING,
         .object = "{apiVersion: v1, kind: Namespace, metadata: {name: default}}",
         .findings = "warn  2 Pods and PersistentVolumeClaims go with this Namespace."},
    };
    RUN(cases);
}

static void what_cannot_be_seen_never_denies(void)
{
    static const struct change_case cases[] = {
        {.name = "NodeClaims",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = POOL,
         .old = POOL,
         .object = EDITED,
         .unseen = KIND_BIT(KIND_NODE_CLAIM),
         .findings =
             "undecided spec What this change does to nodes and pods is not known: " UNSEEN_CLAIMS},
        {.name = "NodeClaims, and a change that is nothing to nodes",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = POOL,
         .old = POOL,
         .object = POOL_OF("", "", "", "weight: 7, "),
         .unseen = KIND_BIT(KIND_NODE_CLAIM),
         .findings = ""},
        {.name = "what is seen is enough to deny",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL,
         .object = EDITED,
         .unseen = KIND_BIT(KIND_NODE_CLAIM),
         .findings =
             "deny spec " REPLACES " A change of more than 3 nodes has to be confirmed." CONFIRM(
                 "4") "\nundecided spec What this change does to nodes and pods is not "
                      "known: " UNSEEN_CLAIMS},
        {.name = "Pods, which decide nothing here",
         .rails = "change-impact: {}",
         .cluster = FOUR,
         .old = POOL,
         .object = EDITED,
         .unseen = KIND_BIT(KIND_POD),
         .findings = "warn spec " REPLACES},
    };
    RUN(cases);
}

#define MACHINE_LABELS(type)                                                        \
    ", labels: {karpenter.sh/nodepool: general, karpenter.sh/initialized: 'true', " \
    "disk: fast, node.kubernetes.io/instance-type: " type                           \
    ", karpenter.sh/capacity-type: on-demand, topology.kubernetes.io/zone: us-east-1a}"
#define MACHINE(name, type)                                                      \
    "---\n{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: " name \
    ", annotations: {" HASHES "}" MACHINE_LABELS(                                \
        type) "}, status: {nodeName: " name                                      \
              "}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: " name     \
              MACHINE_LABELS(                                                    \
                  type) "}, status: {allocatable: {cpu: '2', memory: 6Gi, pods: '29'}}}\n"
#define OWNED_POD(name, node, more)                                                           \
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: " name ", ownerReferences: "           \
    "[{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u, controller: true}]}, spec: " \
    "{nodeName: " node more ", containers: [{name: a, resources: {requests: {cpu: '1'}}}]}, " \
    "status: {phase: Running}}\n"
/* Prices of spot are not known. */
#define BUYS_TYPES(labels, types)                                                            \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general, annotations: "  \
    "{" HASHES "}}, spec: {template: {metadata: {" labels "}, spec: {nodeClassRef: {group: " \
    "karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [{key: "           \
    "karpenter.sh/capacity-type, operator: In, values: [on-demand]}, {key: "                 \
    "node.kubernetes.io/instance-type, operator: In, values: [" types "]}]}}}}"
#define BUYS(labels) BUYS_TYPES(labels, "m5.large, m5.xlarge")
#define ONE_MACHINE BUYS("") "\n" MACHINE("n1", "m5.large") OWNED_POD("web-1", "n1", "")
#define FAST ", nodeSelector: {disk: fast}"

static void an_owner_that_is_added_may_delete(void)
{
    static const struct change_case cases[] = {
        {.name = "it is told",
         .rails = "change-impact: {}",
         .cluster = FOUR,
         .old = POOL,
         .object = POOL_OF("", OWNER("a"), "", ""),
         .findings = "warn metadata.ownerReferences[0] " GOES DELETES},
        {.name = "the ceiling holds",
         .rails = "change-impact: {maxNodes: 3}",
         .cluster = FOUR,
         .old = POOL_OF("", OWNER("a"), "", ""),
         .object = POOL_OF("", OWNER("b"), "", ""),
         .findings = "deny metadata.ownerReferences[0] " GOES DELETES
                     " A change of more than 3 nodes has to be confirmed." CONFIRM("4")},
        {.name = "of an old version nothing is known",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = FOUR,
         .old = "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: general}, "
                "spec: {}}",
         .object = "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: "
                   "general" OWNER("a") "}, spec: {}}",
         .findings = ""},
        {.name = "it was there",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = FOUR,
         .old = POOL_OF("", OWNER("a"), "", ""),
         .object = POOL_OF("", OWNER("a"), "", "weight: 7, "),
         .findings = ""},
        {.name = "it goes",
         .rails = "change-impact: {maxNodes: 0}",
         .cluster = FOUR,
         .old = POOL_OF("", OWNER("a"), "", ""),
         .object = POOL,
         .findings = ""},
    };
    RUN(cases);
}

#define REPLACES_ONE "This change replaces 1 of 1 node, all at once, from now on."

static void what_the_pods_need_is_planned(void)
{
    static const struct change_case cases[] = {
        {.name = "what is bought instead",
         .rails = "change-impact: {}",
         .cluster = ONE_MACHINE,
         .old = BUYS(""),
         .object = BUYS(TEAM),
         .findings = "warn spec " REPLACES_ONE "\nwarn spec.template.spec The nodes that go cost "
                     "$0.0960 an hour, those bought instead $0.0960."},
        {.name = "a pod that fits nowhere",
         .rails = "change-impact: {}",
         .cluster = ONE_MACHINE OWNED_POD("fast-1", "n1", FAST),
         .old = BUYS(""),
         .object = BUYS(TEAM),
         .findings = "warn spec " REPLACES_ONE
                     "\nwarn spec.template 1 pod would fit nowhere afterwards: default/fast-1. "
                     "Karpenter does not begin with a node whose pods fit nowhere."
                     "\nwarn spec.template.spec The nodes that go cost $0.0960 an hour, those "
                     "bought instead $0.0960."},
        {.name = "what is bought instead has no price",
         .rails = "change-impact: {}",
         .cluster = ONE_MACHINE,
         .old = BUYS(""),
         .object = BUYS_TYPES(TEAM, "dl2q.24xlarge"),
         .findings = "warn spec " REPLACES_ONE},
        {.name = "Nodes that are not seen",
         .rails = "change-impact: {}",
         .cluster = ONE_MACHINE OWNED_POD("fast-1", "n1", FAST),
         .old = BUYS(""),
         .object = BUYS(TEAM),
         .unseen = KIND_BIT(KIND_NODE),
         .findings = "warn spec " REPLACES_ONE},
    };
    RUN(cases);
}

static void add_name(struct text_builder *text, size_t ascii, size_t others)
{
    for (size_t i = 0; i < ascii; i++)
        text_builder_add(text, TEXT("x"));
    for (size_t i = 0; i < others; i++)
        text_builder_add(text, TEXT("\xc3\xa9"));
}

/* Of what is longer than a finding the beginning is told, up to the end of a character. */
static void long_names_are_cut_between_characters(void)
{
#define FITS_NOWHERE "1 pod would fit nowhere afterwards: default/"
    enum { MOST = 1024 };
    struct arena *arena = arena_create(256 << 20);
    for (size_t ascii = 0; ascii <= 2; ascii++) {
        struct text_builder cluster = {.arena = arena}, told = {.arena = arena};
        text_builder_add(&cluster,
                         TEXT(ONE_MACHINE "---\n{apiVersion: v1, kind: Pod, metadata: {name: "));
        add_name(&cluster, ascii, 600);
        text_builder_add(&cluster, TEXT(", ownerReferences: [{apiVersion: apps/v1, kind: "
                                        "ReplicaSet, name: web, uid: u, controller: true}]}, spec: "
                                        "{nodeName: n1" FAST ", containers: [{name: a}]}, status: "
                                        "{phase: Running}}\n"));
        text_builder_add(&told, TEXT("warn spec.template " FITS_NOWHERE));
        add_name(&told, ascii, (MOST - (sizeof FITS_NOWHERE - 1) - ascii) / 2);
        text_builder_add(&told, TEXT("\nwarn spec.template.spec "));
        const struct change_case test = {
            .rails = "change-impact: {}",
            .cluster = text_builder_text(&cluster).data,
            .old = BUYS(""),
            .object = BUYS(TEAM),
        };
        CU_ASSERT_TRUE(text_holds(findings_of(&test, arena), text_builder_text(&told)));
    }
    arena_destroy(arena);
}

/* So many Nodes beside them that a plan would hold the request up. */
static void a_large_cluster_is_not_planned(void)
{
    struct arena *arena = arena_create(256 << 20);
    for (size_t nodes = 500; nodes <= 501; nodes++) {
        struct text_builder cluster = {.arena = arena};
        text_builder_add(&cluster, TEXT(ONE_MACHINE));
        for (size_t i = 1; i < nodes; i++)
            text_builder_printf(
                &cluster, "---\n{apiVersion: v1, kind: Node, metadata: {name: other-%zu}}\n", i);
        const struct change_case test = {
            .rails = "change-impact: {}",
            .cluster = text_builder_text(&cluster).data,
            .old = BUYS(""),
            .object = BUYS(TEAM),
        };
        bool is_planned = text_holds(findings_of(&test, arena), TEXT("an hour"));
        CU_ASSERT_EQUAL(is_planned, nodes == 500);
    }
    arena_destroy(arena);
}

/* Rules of others' pods that are so long that a plan of them would hold the request up: the rest is
 * told. */
static void a_plan_has_a_share_of_the_review(void)
{
    enum { PODS = 500, TERMS = 20 };
    struct arena *arena = arena_create(256 << 20);
    struct text_builder cluster = {.arena = arena};
    text_builder_add(&cluster, TEXT(ONE_MACHINE));
    for (size_t i = 0; i < PODS; i++) {
        text_builder_printf(&cluster,
                            "---\n{apiVersion: v1, kind: Pod, metadata: {name: long-%zu}, spec: "
                            "{affinity: {podAntiAffinity: "
                            "{requiredDuringSchedulingIgnoredDuringExecution: [",
                            i);
        for (size_t j = 0; j < TERMS; j++)
            text_builder_printf(&cluster,
                                "{topologyKey: kubernetes.io/hostname, labelSelector: "
                                "{matchExpressions: [{key: k%zu-%zu, operator: Exists}]}}, ",
                                i, j);
        text_builder_add(&cluster, TEXT("]}}, containers: [{name: a}]}}\n"));
    }
    const struct change_case test = {
        .rails = "change-impact: {}",
        .cluster = text_builder_text(&cluster).data,
        .old = BUYS(""),
        .object = BUYS(TEAM),
    };
    ASSERT_TEXT(findings_of(&test, arena), "warn spec " REPLACES_ONE);
    arena_destroy(arena);
}

const char unit_suite[] = "policy change-impact";
const struct unit_test unit_tests[] = {
    {"what changes is told", what_changes_is_told},
    {"ceilings deny until it is confirmed", ceilings_deny_until_it_is_confirmed},
    {"small steps are added up", small_steps_are_added_up},
    {"a static pool may be scaled", a_static_pool_may_be_scaled},
    {"numbers that confirm", numbers_that_confirm},
    {"ways around", ways_around},
    {"what is in use may be kept", what_is_in_use_may_be_kept},
    {"what cannot be seen never denies", what_cannot_be_seen_never_denies},
    {"an owner that is added may delete", an_owner_that_is_added_may_delete},
    {"what the pods need is planned", what_the_pods_need_is_planned},
    {"long names are cut between characters", long_names_are_cut_between_characters},
    {"a large cluster is not planned", a_large_cluster_is_not_planned},
    {"a plan has a share of the review", a_plan_has_a_share_of_the_review},
    {"an update without an old object says nothing", an_update_without_an_old_object_says_nothing},
    {NULL, NULL},
};
