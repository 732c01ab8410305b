/* The rail zone-pin: what a Pod gets, by its volumes and by what it says itself. */
#include <string.h>

#include "dump.h"
#include "rail_table.h"

#define ZONE "topology.kubernetes.io/zone"

#define VOLUME(name, zones)                                                                     \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {nodeAffinity:" \
    " {required: {nodeSelectorTerms: [{matchExpressions: [{key: " ZONE                          \
    ", operator: In, values: [" zones "]}]}]}}}}\n---\n"
#define CLAIM(name, meta, spec)                                                       \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name meta "}, " \
    "spec: {accessModes: [ReadWriteOnce], " spec "}}\n---\n"
#define BOUND(name) \
    CLAIM(name, ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}", "volumeName: v-" name)
#define SET(name, replicas, class)                                                            \
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: " name ", uid: u-" name        \
    "}, spec: {replicas: " replicas ", volumeClaimTemplates: [{metadata: {name: data}, spec:" \
    " {storageClassName: " class "}}]}}\n---\n"
#define CLASS(name, rest)                                                        \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name \
    "}, provisioner: ebs.csi.aws.com" rest "}\n---\n"
#define WAITS ", volumeBindingMode: WaitForFirstConsumer"

/* b is a zone of a Node, a and c are a pool's; no one makes anything in d. */
static const char cluster[] = CLASS("wait", WAITS) CLASS("early", "") CLASS(
    "in-c", WAITS ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE ", values: [c]}]}]")
    VOLUME("v-one", "a") VOLUME("v-two", "b") VOLUME("v-both", "a, b") VOLUME("v-far", "d") VOLUME(
        "v-db", "c") VOLUME("v-data-web-0", "a") VOLUME("v-data-web-1", "b") BOUND("one")
        BOUND("two") BOUND("both") BOUND("far") BOUND("db") BOUND("data-web-0") BOUND(
            "data-web-1") CLAIM("reserved", "", "volumeName: v-one") CLAIM("data-duo-1", "",
                                                                           "volumeName: v-one")
            CLAIM("new", "", "storageClassName: wait") CLAIM(
                "new-c", "", "storageClassName: in-c") CLAIM("early", "", "storageClassName: early")
                CLAIM("chosen", ", annotations: {volume.kubernetes.io/selected-node: n1}",
                      "storageClassName: wait") SET("web",
                                                    "3", "wait") SET("solo", "1", "in-c")
                    SET("duo", "2",
                        "in-c") "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {" ZONE
                                ": b}}}\n---\n"
                                "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: "
                                "default}, spec: {template:"
                                " {spec: {requirements: [{key: " ZONE
                                ", operator: In, values: [a, b, c]}]}}}}\n---\n"
                                "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: "
                                "reserved}, spec: {template:"
                                " {spec: {taints: [{key: team, effect: NoSchedule}], "
                                "requirements: [{key: " ZONE
                                ", operator: In, values: [e]}]}}}}\n---\n"
                                "{apiVersion: v1, kind: Pod, metadata: {name: db-0, labels: {app: "
                                "db}}, spec: {volumes:"
                                " [{name: data, persistentVolumeClaim: {claimName: "
                                "db}}]}}\n---\n" BOUND("p-e")
                                    VOLUME("v-p-e", "a") "{apiVersion: v1, kind: Pod, metadata: "
                                                         "{name: old-0, labels: "
                                                         "{app: old}}, spec: {volumes:"
                                                         " [{name: data, persistentVolumeClaim: "
                                                         "{claimName: two}}]}, "
                                                         "status: {phase: Succeeded}}\n";

#define POD(meta, spec) "{apiVersion: v1, kind: Pod, metadata: {name: p" meta "}, spec: {" spec "}}"
#define MOUNT(claim) "{name: " claim ", persistentVolumeClaim: {claimName: " claim "}}"
#define VOLUMES(list) "volumes: [" list "]"
#define OWNED(set, ordinal, meta, spec)                                                   \
    "{apiVersion: v1, kind: Pod, metadata: {name: " set "-" ordinal ", ownerReferences: " \
    "[{apiVersion: apps/v1, kind: StatefulSet, name: " set ", uid: u-" set                \
    ", controller: true}]" meta "}, spec: {" VOLUMES(                                     \
        "{name: data, persistentVolumeClaim: {claimName: data-" set "-" ordinal "}}") spec "}}"
#define WEB(spec) OWNED("web", "2", "", spec)
#define SPREAD(key)                                                                   \
    ", topologySpreadConstraints: [{topologyKey: " key ", maxSkew: 1, minDomains: 3," \
    " whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"
#define AFFINITY(rest) ", affinity: {" rest "}"
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define NODE_TERMS(terms) "nodeAffinity: {" REQUIRED ": {nodeSelectorTerms: [" terms "]}}"
#define ARM "{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}"
#define FOLLOW(app)                                                                                \
    "podAffinity: {" REQUIRED ": [{topologyKey: " ZONE ", labelSelector: {matchLabels: {app: " app \
    "}}}]}"

struct pin_case {
    const char *pod, *result;
};

static void add_part(struct text_builder *line, const char *name, const struct node *node)
{
    if (node == NULL)
        return;
    text_builder_printf(line, "%s%s", line->size == 0 ? "" : " ", name);
    if (node_is(node, NODE_STRING))
        text_builder_add(line, node_string(node));
    else
        text_builder_add(line, dump(line->arena, node));
}

/* The pod's note, and what selects its zone, short. */
static struct text summary(const struct node *pod, struct arena *arena)
{
    struct text_builder line = {.arena = arena};
    const struct node *notes = node_at(pod, "metadata.annotations");
    const struct node *affinity = node_at(pod, "spec.affinity.nodeAffinity");
    const struct node *required = node_at(affinity, REQUIRED ".nodeSelectorTerms");
    const struct node *preferred = node_get(affinity, PREFERRED);
    add_part(&line, "", node_get(notes, "taffrail.dev/zone"));
    add_part(&line, "by ", node_get(notes, "taffrail.dev/zone-source"));
    add_part(&line, "selects ", node_get(node_at(pod, "spec.nodeSelector"), ZONE));
    for (size_t i = 0; i < node_count(required); i++) {
        const struct node *list = node_get(node_item(required, i), "matchExpressions");
        for (size_t j = 0; j < node_count(list); j++)
            if (text_is(node_string(node_get(node_item(list, j), "key")), ZONE))
                add_part(&line, "requires ", node_get(node_item(list, j), "values"));
    }
    for (size_t i = 0; i < node_count(preferred); i++)
        add_part(&line, "prefers ", node_item(preferred, i));
    return text_builder_text(&line);
}

static const struct node *mutated(const struct world *world, const struct object *pod,
                                  struct arena *arena, size_t *amendments)
{
    struct subject subject = {.operation = OPERATION_CREATE, .object = pod};
    struct verdict verdict;
    const struct node *root = NULL;
    struct error error;
    policy_mutate(world, &subject, 0, arena, &verdict);
    *amendments = verdict.amendment_count;
    for (size_t i = 0; i < verdict.amendment_count; i++)
        CU_ASSERT_EQUAL(verdict.amendments[i].outcome, OUTCOME_APPLIED);
    CU_ASSERT_TRUE_FATAL(
        doc_patch(pod->root->node, verdict.changes, verdict.change_count, arena, &root, &error));
    return root;
}

static void run_in(const char *rails, bool stale, const struct pin_case *cases, size_t count)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(rails, cluster, arena);
    world.volumes_are_stale = stale;
    for (size_t i = 0; i < count; i++) {
        struct rail_documents documents = rail_table_read(cases[i].pod, arena);
        const struct object *pod = &documents.items[0];
        size_t amendments = 0;
        const struct node *after = mutated(&world, pod, arena, &amendments);
        struct text line = summary(after, arena);
        if (!text_is(line, cases[i].result))
            fprintf(stderr, "%s\n", cases[i].pod);
        ASSERT_TEXT(line, cases[i].result);
        /* asked again it finds nothing to do */
        struct object changed;
        CU_ASSERT_TRUE_FATAL(
            object_read(after, pod->source, TEXT("default"), arena, &changed, NULL));
        size_t again = 0;
        (void)mutated(&world, &changed, arena, &again);
        ASSERT_INT(again, 0);
    }
    arena_destroy(arena);
}

static void run(const char *rails, const struct pin_case *cases, size_t count)
{
    run_in(rails, false, cases, count);
}

#define TERM(zone)                                            \
    "{\"preference\":{\"matchExpressions\":[{\"key\":\"" ZONE \
    "\",\"operator\":\"In\",\"values\":[\"" zone "\"]}]},\"weight\":100}"

static void bound_volumes(void)
{
    static const struct pin_case cases[] = {
        {POD("", VOLUMES(MOUNT("one"))), "a by volume selects a"},
        {POD(", annotations: {a: b}", VOLUMES(MOUNT("one")) ", nodeSelector: {a: b}"),
         "a by volume selects a"},
        {POD(", annotations: null", VOLUMES(MOUNT("one")) ", nodeSelector: null"),
         "a by volume selects a"},
        {POD("", VOLUMES(MOUNT("two") ", " MOUNT("new"))), "b by volume selects b"},
        {POD("", VOLUMES(MOUNT("one") ", " MOUNT("both"))), "a by volume selects a"},
        {POD("", VOLUMES(MOUNT("one") ", " MOUNT("absent"))), "a by volume selects a"},
        /* terms of the affinity go with the selector */
        {POD("", VOLUMES(MOUNT("one")) AFFINITY(NODE_TERMS(ARM ", " ARM))),
         "a by volume selects a"},
        /* more than one zone: in every term, or in one of its own */
        {POD("", VOLUMES(MOUNT("both"))), "a,b by volume requires [\"a\",\"b\"]"},
        {POD("", VOLUMES(MOUNT("both")) ", affinity: {}"), "a,b by volume requires [\"a\",\"b\"]"},
        {POD("", VOLUMES(MOUNT("both")) AFFINITY(NODE_TERMS(ARM ", " ARM))),
         "a,b by volume requires [\"a\",\"b\"] requires [\"a\",\"b\"]"},
        {POD("", VOLUMES(MOUNT("both"))
                     AFFINITY(NODE_TERMS("{matchFields: [{key: metadata.name, operator: In,"
                                         " values: [n1]}]}, {}"))),
         "a,b by volume requires [\"a\",\"b\"]"},
        /* a selector would shrink the domains that a spread counts */
        {POD("", VOLUMES(MOUNT("one")) SPREAD(ZONE)), "a by volume"},
        {POD("", VOLUMES(MOUNT("both")) SPREAD("kubernetes.io/hostname")), "a,b by volume"},
        /* its own word stands */
        {POD("", VOLUMES(MOUNT("one")) ", nodeSelector: {" ZONE ": b}"), "a by volume selects b"},
        {POD(", annotations: {taffrail.dev/zone: x}", VOLUMES(MOUNT("one"))), "x selects a"},
        /* no node can be there */
        {POD("", VOLUMES(MOUNT("far"))), "d by volume"},
        /* another replica, or this one before, has preferred a zone: that stays, and stays alone */
        {POD(", annotations: {taffrail.dev/zone: a, taffrail.dev/zone-source: solver}",
             VOLUMES(MOUNT("two")) AFFINITY("nodeAffinity: {" PREFERRED ": [" TERM("a") "]}")),
         "a by solver prefers " TERM("a")},
        {POD(", annotations: {taffrail.dev/zone: c}",
             VOLUMES(MOUNT("two")) AFFINITY("nodeAffinity: {" PREFERRED ": [" TERM("a") "]}")),
         "c selects b prefers " TERM("a")},
        /* named and not yet bound, and of no set */
        {POD("", VOLUMES(MOUNT("reserved"))), "a by volume"},
    };
    static const struct pin_case annotated[] = {
        {POD("", VOLUMES(MOUNT("one"))), "a by volume"},
        {POD("", VOLUMES(MOUNT("both"))), "a,b by volume"},
    };
    static const struct pin_case untouched[] = {
        {POD("", VOLUMES(MOUNT("one"))), ""},
        {WEB(""), "c by solver prefers " TERM("c")},
    };
    run("zone-pin: {}", cases, COUNT_OF(cases));
    run("zone-pin: {bound: annotate}", annotated, COUNT_OF(annotated));
    run("zone-pin: {bound: off}", untouched, COUNT_OF(untouched));
}

static void unbound_volumes(void)
{
    static const struct pin_case cases[] = {
        /* web-0 is in a, web-1 in b */
        {WEB(""), "c by solver prefers " TERM("c")},
        {WEB(SPREAD("kubernetes.io/hostname")), "c by solver prefers " TERM("c")},
        {WEB(AFFINITY(NODE_TERMS(ARM))), "c by solver prefers " TERM("c")},
        {WEB(", tolerations: [{key: team, operator: Exists}]"), "c by solver prefers " TERM("c")},
        /* wishes of its own */
        {WEB(AFFINITY(NODE_TERMS(ARM ", " ARM))), "c by solver"},
        {WEB(SPREAD(ZONE)), "c by solver"},
        {WEB(", nodeSelector: {" ZONE ": b}"), "b by solver selects b"},
        {WEB(AFFINITY(NODE_TERMS("{matchExpressions: [{key: " ZONE ", operator: NotIn, values:"
                                 " [a, c]}]}"))),
         "b by solver requires [\"a\",\"c\"]"},
        {WEB(AFFINITY("podAntiAffinity: {" REQUIRED ": [{topologyKey: " ZONE
                      ", labelSelector: {}}]}")),
         "c by solver"},
        {WEB(AFFINITY("podAntiAffinity: {" PREFERRED
                      ": [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname,"
                      " labelSelector: {}}}]}")),
         "c by solver"},
        {WEB(AFFINITY("nodeAffinity: {" PREFERRED ": [{weight: 5, preference: " ARM "}]}")),
         "c by solver prefers {\"weight\":5,\"preference\":{\"matchExpressions\":[{\"key\":"
         "\"kubernetes.io/arch\",\"operator\":\"In\",\"values\":[\"arm64\"]}]}}"},
        {WEB(AFFINITY(FOLLOW("db"))), "c by solver"},
        /* a set of one is none to balance */
        {OWNED("duo", "0", "", ""), "c by storage-class prefers " TERM("c")},
        {OWNED("solo", "0", "", ""), "c by storage-class"},
        /* named and not yet bound: at most a preference */
        {OWNED("duo", "1", "", ""), "a by volume prefers " TERM("a")},
        {OWNED("web", "99999999999999999999", "", ""), ""},
        {OWNED("web", "9223372036854775807", "", ""), ""},
        {POD("", VOLUMES(MOUNT("new-c"))), "c by storage-class"},
        {POD("", VOLUMES(MOUNT("chosen"))), "b by selected-node"},
        /* nothing is known */
        {POD("", VOLUMES(MOUNT("early"))), ""},
        {POD("", VOLUMES(MOUNT("absent"))), ""},
        {POD("", VOLUMES(MOUNT("new") ", " MOUNT("absent"))), ""},
        {OWNED("gone", "0", "", ""), ""},
        /* ephemeral ones: candidates */
        {POD("", VOLUMES("{name: e, ephemeral: {volumeClaimTemplate: {spec: {storageClassName:"
                         " wait}}}}")),
         "a,b,c by solver"},
        {POD("", VOLUMES("{name: e, ephemeral: {volumeClaimTemplate: {spec: {storageClassName:"
                         " in-c}}}}")),
         "c by storage-class"},
        /* p-e is the name that the claim of this pod's e will have, and not that claim */
        {POD("", VOLUMES("{name: e, ephemeral: {volumeClaimTemplate: {spec: {storageClassName:"
                         " wait}}}}") ", nodeSelector: {" ZONE ": b}"),
         "b by solver selects b"},
        {POD("", VOLUMES(MOUNT("new") ", {name: e, ephemeral: {volumeClaimTemplate: {spec:"
                                      " {storageClassName: in-c}}}}")),
         "c by storage-class"},
    };
    static const struct pin_case required[] = {
        {WEB(""), "c by solver selects c"},
        {WEB(SPREAD("kubernetes.io/hostname")), "c by solver"},
        {WEB(SPREAD(ZONE)), "c by solver"},
        {OWNED("duo", "1", "", ""), "a by volume prefers " TERM("a")},
    };
    static const struct pin_case annotated[] = {{WEB(""), "c by solver"}};
    static const struct pin_case untouched[] = {
        {WEB(""), ""},
        {POD("", VOLUMES(MOUNT("one"))), "a by volume selects a"},
        {POD("", VOLUMES("{name: e, ephemeral: {volumeClaimTemplate: {spec: {storageClassName:"
                         " wait}}}}")),
         ""},
    };
    run("zone-pin: {}", cases, COUNT_OF(cases));
    run("zone-pin: {unbound: require}", required, COUNT_OF(required));
    run("zone-pin: {unbound: annotate}", annotated, COUNT_OF(annotated));
    run("zone-pin: {unbound: off}", untouched, COUNT_OF(untouched));
}

static void a_note_alone_says_why(void)
{
    static const struct pin_case cases[] = {
        {POD("", VOLUMES(MOUNT("one"))), "a node selection by zone a (volume)"},
        {WEB(""), "a preference for zone c (solver)"},
        {POD("", VOLUMES(MOUNT("far"))),
         "a note of zone d (volume): no Node is there, and no NodePool makes one"},
        {POD("", VOLUMES(MOUNT("one")) SPREAD(ZONE)),
         "a note of zone a (volume): a selector would shrink what its spread counts"},
        {POD("", VOLUMES(MOUNT("one")) ", nodeSelector: {" ZONE ": b}"),
         "a note of zone a (volume): it selects a zone itself"},
        {POD("", VOLUMES(MOUNT("new-c"))),
         "a note of zone c (storage-class): no StatefulSet of several replicas owns it"},
        {WEB(SPREAD(ZONE)), "a note of zone c (solver): it has a zone constraint of its own"},
        {WEB(AFFINITY("nodeAffinity: {" PREFERRED ": [{weight: 5, preference: " ARM "}]}")),
         "a note of zone c (solver): it has preferences or alternatives of its own"},
        {POD("", VOLUMES("{name: e, ephemeral: {volumeClaimTemplate: {spec: {storageClassName:"
                         " wait}}}}")),
         "a note of zone a,b,c (solver)"},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("zone-pin: {}", cluster, arena);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct rail_documents documents = rail_table_read(cases[i].pod, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_mutate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_EQUAL_FATAL(verdict.amendment_count, 1);
        ASSERT_TEXT(verdict.amendments[0].added, cases[i].result);
    }
    arena_destroy(arena);
}

static void nothing_is_required_by_an_old_snapshot(void)
{
    static const struct pin_case cases[] = {
        {POD("", VOLUMES(MOUNT("one"))), "a by volume"},
        {WEB(""), "c by solver prefers " TERM("c")},
    };
    run_in("zone-pin: {}", true, cases, COUNT_OF(cases));
}

static void followers(void)
{
    static const struct pin_case cases[] = {
        {POD("", "affinity: {" FOLLOW("db") "}"), "c by volume prefers " TERM("c")},
        {POD("", "affinity: {" FOLLOW("db") ", " NODE_TERMS(ARM) "}"),
         "c by volume prefers " TERM("c")},
        {POD("", "affinity: {" FOLLOW("db") ", " NODE_TERMS(ARM ", " ARM) "}"), "c by volume"},
        {POD("", "affinity: {" FOLLOW("db") "}" SPREAD(ZONE)), "c by volume"},
        /* no one to follow, or no bound volume, or one that is done */
        {POD("", "affinity: {" FOLLOW("web") "}"), ""},
        {POD("", "affinity: {" FOLLOW("old") "}"), ""},
        {POD(", namespace: elsewhere", "affinity: {" FOLLOW("db") "}"), ""},
        {POD("", "affinity: {podAffinity: {" REQUIRED
                 ": [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels:"
                 " {app: db}}}]}}"),
         ""},
        {POD("", "affinity: {podAntiAffinity: {" REQUIRED ": [{topologyKey: " ZONE
                 ", labelSelector: {matchLabels: {app: db}}}]}}"),
         ""},
        /* in all namespaces, or in this one */
        {POD(", namespace: elsewhere",
             "affinity: {podAffinity: {" REQUIRED ": [{topologyKey: " ZONE
             ", namespaces: [default], labelSelector: {matchLabels: {app: db}}}]}}"),
         "c by volume prefers " TERM("c")},
        {POD(", namespace: elsewhere",
             "affinity: {podAffinity: {" REQUIRED ": [{topologyKey: " ZONE
             ", namespaceSelector: {}, labelSelector: {matchLabels: {app: db}}}]}}"),
         "c by volume prefers " TERM("c")},
        {POD(", labels: {v: '2'}",
             "affinity: {podAffinity: {" REQUIRED ": [{topologyKey: " ZONE
             ", matchLabelKeys: [v], labelSelector: {matchLabels: {app: db}}}]}}"),
         ""},
        {POD(", labels: {app: db}",
             "affinity: {podAffinity: {" REQUIRED ": [{topologyKey: " ZONE
             ", mismatchLabelKeys: [app], labelSelector: {matchLabels: {app: db}}}]}}"),
         ""},
    };
    static const struct pin_case required[] = {
        {POD("", "affinity: {" FOLLOW("db") "}"), "c by volume selects c"},
    };
    run("zone-pin: {}", cases, COUNT_OF(cases));
    run("zone-pin: {unbound: require}", required, COUNT_OF(required));
}

static void who_is_left_alone(void)
{
#define DAEMON                                                                                 \
    ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: " \
    "true}]"
    static const struct pin_case cases[] = {
        {POD("", VOLUMES("{name: a, emptyDir: {}}")), ""},
        {POD(DAEMON, VOLUMES(MOUNT("one"))), ""},
        {POD(", annotations: {kubernetes.io/config.mirror: x}", VOLUMES(MOUNT("one"))), ""},
        {POD("", VOLUMES(MOUNT("one")) ", nodeName: n1"), ""},
        {POD("", VOLUMES(MOUNT("one")) ", schedulerName: mine"), ""},
        {POD("", VOLUMES(MOUNT("one")) ", schedulerName: default-scheduler"),
         "a by volume selects a"},
        {POD(", labels: {eks.amazonaws.com/fargate-profile: f}", VOLUMES(MOUNT("one"))), ""},
        {POD("", VOLUMES(MOUNT("one")) ", nodeSelector: {eks.amazonaws.com/compute-type:"
                                       " fargate}"),
         ""},
        {POD("", "volumes: {a: b}"), ""},
        {POD("", "volumes: [5, null, {persistentVolumeClaim: 5}, {ephemeral: []}]"), ""},
    };
    run("zone-pin: {}", cases, COUNT_OF(cases));
}

static void volumes_apart_are_found(void)
{
    static const struct rail_case cases[] = {
        {POD("", VOLUMES(MOUNT("one") ", " MOUNT("two"))), "warn spec.volumes one in a, two in b"},
        {POD("", VOLUMES(MOUNT("both") ", " MOUNT("new-c"))),
         "warn spec.volumes both in a or b, new-c in c"},
        {POD("", VOLUMES(MOUNT("one") ", " MOUNT("chosen"))), ""},
        {POD("", VOLUMES(MOUNT("one") ", " MOUNT("both"))), ""},
        {POD("", VOLUMES(MOUNT("one"))), ""},
    };
    static const struct pin_case unchanged[] = {
        {POD("", VOLUMES(MOUNT("one") ", " MOUNT("two"))), ""},
    };
    rail_table_run(&(struct rail_table){"zone-pin: {}", cluster, cases, COUNT_OF(cases)});
    run("zone-pin: {}", unchanged, COUNT_OF(unchanged));
}

const char unit_suite[] = "policy zone-pin";
const struct unit_test unit_tests[] = {
    {"bound volumes", bound_volumes},
    {"unbound volumes", unbound_volumes},
    {"a note alone says why", a_note_alone_says_why},
    {"nothing is required by an old snapshot", nothing_is_required_by_an_old_snapshot},
    {"followers", followers},
    {"who is left alone", who_is_left_alone},
    {"volumes apart are found", volumes_apart_are_found},
    {NULL, NULL},
};
