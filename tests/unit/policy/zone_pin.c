/* The rail zone-pin: what a Pod gets, by its volumes and by what it says itself. */
#include "dump.h"
#include "rail_table.h"
#include "zone_pin_cluster.h"

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
                                  struct arena *arena, size_t *changes)
{
    struct subject subject = {.operation = OPERATION_CREATE, .object = pod};
    struct verdict verdict;
    const struct node *root = NULL;
    struct error error;
    policy_mutate(world, &subject, 0, arena, &verdict);
    *changes = verdict.change_count;
    for (size_t i = 0; i < verdict.change_count; i++)
        CU_ASSERT_EQUAL(verdict.changes[i].outcome, OUTCOME_APPLIED);
    CU_ASSERT_TRUE_FATAL(
        doc_patch(pod->root->node, verdict.patch.items, verdict.patch.count, arena, &root, &error));
    return root;
}

static void run_in(const char *rails, bool stale, const struct pin_case *cases, size_t count)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(rails, pin_cluster, arena);
    world.volumes_are_stale = stale;
    for (size_t i = 0; i < count; i++) {
        struct rail_documents documents = rail_table_read(cases[i].pod, arena);
        const struct object *pod = &documents.items[0];
        size_t changes = 0;
        const struct node *after = mutated(&world, pod, arena, &changes);
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
        /* no node is selected by an empty term, and none is to be; what stands there is enough */
        {POD("", VOLUMES(MOUNT("both")) AFFINITY(NODE_TERMS("{matchExpressions: []}, " ARM))),
         "a,b by volume requires [\"a\",\"b\"]"},
        {POD("", VOLUMES(MOUNT("both")) AFFINITY(NODE_TERMS(
                     "{matchExpressions: [{key: " ZONE ", operator: In, values: [a, b]}]}, " ARM))),
         "a,b by volume requires [\"a\",\"b\"] requires [\"a\",\"b\"]"},
        {POD("", VOLUMES(MOUNT("both")) AFFINITY(NODE_TERMS("{matchExpressions: [{key: " ZONE
                                                            ", operator: In, values: [b]}]}"))),
         "a,b by volume requires [\"b\"] requires [\"a\",\"b\"]"},
        /* a selector would shrink the domains that a spread counts */
        {POD("", VOLUMES(MOUNT("one")) SPREAD(ZONE)), "a by volume"},
        {POD("", VOLUMES(MOUNT("both")) SPREAD("kubernetes.io/hostname")), "a,b by volume"},
        /* its own word stands */
        {POD("", VOLUMES(MOUNT("one")) ", nodeSelector: {" ZONE ": b}"), "a by volume selects b"},
        {POD(", annotations: {taffrail.dev/zone: x}", VOLUMES(MOUNT("one"))), "x selects a"},
        /* no node can be there */
        {POD("", VOLUMES(MOUNT("far"))), "d by volume"},
        {POD("", VOLUMES(MOUNT("edge"))), "a,d by volume"},
        /* another replica, or this one before, has preferred a zone: that stays, and stays alone */
        {POD(", annotations: {taffrail.dev/zone: a, taffrail.dev/zone-source: solver}",
             VOLUMES(MOUNT("two")) AFFINITY("nodeAffinity: {" PREFERRED ": [" TERM("a") "]}")),
         "a by solver prefers " TERM("a")},
        {POD(", annotations: {taffrail.dev/zone: c}",
             VOLUMES(MOUNT("two")) AFFINITY("nodeAffinity: {" PREFERRED ": [" TERM("a") "]}")),
         "c selects b prefers " TERM("a")},
        /* named and not yet bound, and of no set */
        {POD("", VOLUMES(MOUNT("reserved"))), "a by volume"},
        {POD("", VOLUMES(MOUNT("reserved-two"))), "a,b by solver"},
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
        /* Karpenter gives up a soft spread after the preferences of nodes, so it takes no harm */
        {WEB(", topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, maxSkew: 1, "
             "whenUnsatisfiable: ScheduleAnyway}]"),
         "c by solver prefers " TERM("c")},
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
        /* other pods decide: no zone is chosen */
        {WEB(AFFINITY(FOLLOW("db"))), "a,b,c by solver"},
        {WEB(AFFINITY("podAffinity: {" REQUIRED ": [{topologyKey: kubernetes.io/hostname,"
                      " labelSelector: {matchLabels: {app: db}}}]}")),
         "a,b,c by solver"},
        {WEB(", topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable:"
             " DoNotSchedule, labelSelector: {}}]"),
         "a,b,c by solver"},
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
#define BESIDE(labels) "{topologyKey: " ZONE ", labelSelector: {matchLabels: {" labels "}}}"
    static const struct pin_case cases[] = {
        {POD("", "affinity: {" FOLLOW("db") "}"), "c by volume prefers " TERM("c")},
        {POD("", "affinity: {" FOLLOW("db") ", " NODE_TERMS(ARM) "}"),
         "c by volume prefers " TERM("c")},
        {POD("", "affinity: {" FOLLOW("db") ", " NODE_TERMS(ARM ", " ARM) "}"), "c by volume"},
        {POD("", "affinity: {" FOLLOW("db") "}" SPREAD(ZONE)), "c by volume"},
        /* no one to follow, or no bound volume, or one that is done */
        {POD("", "affinity: {" FOLLOW("web") "}"), ""},
        /* two zones are no choice to make, and two pods in two zones none at all */
        {POD("", "affinity: {" FOLLOW("twin") "}"), "a,b by volume"},
        {POD("", "affinity: {podAffinity: {" REQUIRED
                 ": [" BESIDE("side: left") ", " BESIDE("app: twin") "]}}"),
         "a by volume prefers " TERM("a")},
        {POD("", "affinity: {podAffinity: {" REQUIRED
                 ": [" BESIDE("side: left") ", " BESIDE("side: right") "]}}"),
         ""},
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
        {POD("", "affinity: {" FOLLOW("twin") "}"), "a,b by volume"},
    };
    run("zone-pin: {}", cases, COUNT_OF(cases));
    run("zone-pin: {unbound: require}", required, COUNT_OF(required));
}

static void who_is_left_alone(void)
{
    static const struct pin_case cases[] = {
        {POD("", VOLUMES("{name: a, emptyDir: {}}")), ""},
        {POD(OWNED_BY("DaemonSet"), VOLUMES(MOUNT("one"))), ""},
        {POD(OWNED_BY("Node"), VOLUMES(MOUNT("one"))), ""},
        {POD(OWNED_BY("Job"), VOLUMES(MOUNT("one"))), "a by volume selects a"},
        {POD(MIRROR, VOLUMES(MOUNT("one"))), ""},
        {POD("", VOLUMES(MOUNT("one")) ", nodeName: n1"), ""},
        {POD("", VOLUMES(MOUNT("one")) ", nodeName: ''"), "a by volume selects a"},
        {POD("", VOLUMES(MOUNT("one")) ", schedulerName: ''"), "a by volume selects a"},
        {POD("", VOLUMES(MOUNT("one")) ", schedulerName: mine"), ""},
        {POD("", VOLUMES(MOUNT("one")) ", schedulerName: default-scheduler"),
         "a by volume selects a"},
        {POD(FARGATE_PROFILE, VOLUMES(MOUNT("one"))), ""},
        {POD("", VOLUMES(MOUNT("one")) COMPUTE_TYPE("fargate")), ""},
        {POD("", VOLUMES(MOUNT("one")) COMPUTE_TYPE("ec2")), "a by volume selects a"},
        {POD("", "volumes: {a: b}"), ""},
        {POD("", "volumes: [5, null, {persistentVolumeClaim: 5}, {ephemeral: []}]"), ""},
    };
    run("zone-pin: {}", cases, COUNT_OF(cases));
    /* a scheduler that the policies know of follows node selections as kube-scheduler does */
    static const struct pin_case named[] = {
        {POD("", VOLUMES(MOUNT("one")) ", schedulerName: mine"), "a by volume selects a"},
        {POD("", VOLUMES(MOUNT("one")) ", schedulerName: yours"), ""},
        {POD("", VOLUMES(MOUNT("one")) ", schedulerName: fargate-scheduler"), ""},
    };
    run("zone-pin: {}, scheduler-bypass: {schedulers: [mine, fargate-scheduler]}", named,
        COUNT_OF(named));
}

static void only_what_changes_pods_needs_a_webhook(void)
{
    static const struct {
        const char *rails;
        bool changes;
    } rows[] = {
        {"zone-pin: {}", true},
        {"zone-pin: {bound: off}", true},
        {"zone-pin: {unbound: off}", true},
        {"zone-pin: {bound: annotate, unbound: off}", true},
        {"zone-pin: {bound: off, unbound: annotate}", true},
        {"zone-pin: {bound: off, unbound: off}", false},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        ASSERT_INT(policy_set_changes_pods(rail_table_world(rows[i].rails, NULL, arena).policies),
                   rows[i].changes);
    arena_destroy(arena);
}

const char unit_suite[] = "policy zone-pin";
const struct unit_test unit_tests[] = {
    {"bound volumes", bound_volumes},
    {"unbound volumes", unbound_volumes},
    {"nothing is required by an old snapshot", nothing_is_required_by_an_old_snapshot},
    {"followers", followers},
    {"who is left alone", who_is_left_alone},
    {"only what changes pods needs a webhook", only_what_changes_pods_needs_a_webhook},
    {NULL, NULL},
};
