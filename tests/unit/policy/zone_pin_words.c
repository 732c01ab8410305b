/* The rail zone-pin: what it says of what it adds, why a pod gets no more, and which pods can never
 * start. */
#include "rail_table.h"
#include "zone_pin_cluster.h"

struct words_case {
    const char *pod, *added;
};

static void run_in(const char *rails, bool stale, const struct words_case *cases, size_t count)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(rails, pin_cluster, arena);
    world.volumes_are_stale = stale;
    for (size_t i = 0; i < count; i++) {
        struct rail_documents documents = rail_table_read(cases[i].pod, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_mutate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_EQUAL_FATAL(verdict.change_count, 1);
        if (!text_is(verdict.changes[0].added, cases[i].added))
            fprintf(stderr, "%s\n", cases[i].pod);
        ASSERT_TEXT(verdict.changes[0].added, cases[i].added);
    }
    arena_destroy(arena);
}

static void run(const char *rails, const struct words_case *cases, size_t count)
{
    run_in(rails, false, cases, count);
}

#define NOBODY ": no Node is there, and no NodePool makes one"
#define NOT_EACH ": not each has a Node, or a NodePool that makes one"
#define SHRINKS ": a selector would shrink what its spread counts"
#define SELECTS ": it selects a zone itself"
#define SEVERAL ": more than one zone is possible"
#define NO_SET ": no StatefulSet of several replicas owns it"
#define ITS_ZONE ": it has a zone constraint of its own"
#define ITS_WISHES ": it has preferences or alternatives of its own"

static void of_bound_volumes(void)
{
    static const struct words_case cases[] = {
        {POD("", VOLUMES(MOUNT("one"))), "a node selection by zone a (volume)"},
        {POD("", VOLUMES(MOUNT("both"))), "a node selection by zone a,b (volume)"},
        {POD(", annotations: {taffrail.dev/zone: a}", VOLUMES(MOUNT("one"))),
         "a node selection by zone a (volume)"},
        /* wishes stand beside a selector, and a zone that its affinity wants is no selector's */
        {POD("", VOLUMES(MOUNT("one")) AFFINITY(PREFERS_ARM)),
         "a node selection by zone a (volume)"},
        {POD("", VOLUMES(MOUNT("one")) AFFINITY(NODE_TERMS(ARM ", " ARM))),
         "a node selection by zone a (volume)"},
        {POD("", VOLUMES(MOUNT("one")) AFFINITY(NODE_TERMS("{matchExpressions: [{key: " ZONE
                                                           ", operator: In, values: [a, b]}]}"))),
         "a node selection by zone a (volume)"},
        {POD("", VOLUMES(MOUNT("far"))), "a note of zone d (volume)" NOBODY},
        {POD("", VOLUMES(MOUNT("edge"))), "a note of zone a,d (volume)" NOT_EACH},
        {POD("", VOLUMES(MOUNT("far")) SPREAD(ZONE)), "a note of zone d (volume)" NOBODY},
        {POD("", VOLUMES(MOUNT("one")) SPREAD(ZONE) AFFINITY(
                     "podAntiAffinity: {" REQUIRED ": [{topologyKey: kubernetes.io/hostname}]}")),
         "a note of zone a (volume)" SHRINKS},
        {POD("", VOLUMES(MOUNT("one")) SPREAD(ZONE)), "a note of zone a (volume)" SHRINKS},
        {POD("", VOLUMES(MOUNT("both")) SPREAD("kubernetes.io/hostname")),
         "a note of zone a,b (volume)" SHRINKS},
        {POD("", VOLUMES(MOUNT("one")) ", nodeSelector: {" ZONE ": b}"),
         "a note of zone a (volume)" SELECTS},
        {POD("", VOLUMES(MOUNT("one")) ", nodeSelector: {arch: arm, "
                                       "failure-domain.beta.kubernetes.io/zone: a}"),
         "a note of zone a (volume)" SELECTS},
        {POD("", VOLUMES(MOUNT("both")) ", nodeSelector: {topology.k8s.aws/zone-id: euw1-az1}"),
         "a note of zone a,b (volume)" SELECTS},
    };
    static const struct words_case annotated[] = {
        {POD("", VOLUMES(MOUNT("one"))), "a note of zone a (volume)"},
        {POD("", VOLUMES(MOUNT("one")) SPREAD(ZONE)), "a note of zone a (volume)"},
    };
    static const struct words_case stale[] = {
        {POD("", VOLUMES(MOUNT("one"))),
         "a note of zone a (volume): volumes are seen as they were over a minute ago"},
        {WEB(""), "a preference for zone c (solver)"},
    };
    run("zone-pin: {}", cases, COUNT_OF(cases));
    run("zone-pin: {bound: annotate}", annotated, COUNT_OF(annotated));
    run_in("zone-pin: {}", true, stale, COUNT_OF(stale));
}

static void of_new_volumes(void)
{
#define ANTI(use, term) AFFINITY("podAntiAffinity: {" use ": [" term "]}")
#define EPHEMERAL(class) \
    VOLUMES("{name: e, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: " class "}}}}")
    static const struct words_case cases[] = {
        {WEB(""), "a preference for zone c (solver)"},
        {WEB(SPREAD("kubernetes.io/hostname")), "a preference for zone c (solver)"},
        {WEB(AFFINITY(NODE_TERMS(ARM))), "a preference for zone c (solver)"},
        {WEB(ANTI(REQUIRED, "{topologyKey: kubernetes.io/hostname, labelSelector: {}}")),
         "a preference for zone c (solver)"},
        {OWNED("duo", "0", "", ""), "a preference for zone c (storage-class)"},
        {POD("", VOLUMES(MOUNT("new-d"))), "a note of zone d (storage-class)" NOBODY},
        /* of no set, or of one replica */
        {POD("", VOLUMES(MOUNT("new-c"))), "a note of zone c (storage-class)" NO_SET},
        {POD("", VOLUMES(MOUNT("chosen"))), "a note of zone b (selected-node)" NO_SET},
        {POD("", VOLUMES(MOUNT("reserved"))), "a note of zone a (volume)" NO_SET},
        {OWNED("solo", "0", "", ""), "a note of zone c (storage-class)" NO_SET},
        {POD("", VOLUMES(MOUNT("reserved-two"))), "a note of zone a,b (solver)" SEVERAL},
        /* a zone that it wants, wherever it says so */
        {WEB(SPREAD(ZONE)), "a note of zone c (solver)" ITS_ZONE},
        {WEB(SPREAD("topology.k8s.aws/zone-id")), "a note of zone c (solver)" ITS_ZONE},
        {WEB(", topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname}, "
             "{topologyKey: " ZONE "}]"),
         "a note of zone c (solver)" ITS_ZONE},
        {WEB(SPREAD("kubernetes.io/hostname")
                 ANTI(REQUIRED, "{topologyKey: kubernetes.io/hostname}, {topologyKey: " ZONE "}")),
         "a note of zone c (solver)" ITS_ZONE},
        {WEB(", nodeSelector: {" ZONE ": b}"), "a note of zone b (solver)" ITS_ZONE},
        {WEB(AFFINITY(NODE_TERMS("{matchExpressions: [{key: kubernetes.io/arch, operator: Exists}, "
                                 "{key: " ZONE ", operator: NotIn, values: [a, c]}]}"))),
         "a note of zone b (solver)" ITS_ZONE},
        {WEB(AFFINITY(
             NODE_TERMS("{matchExpressions: [{key: " ZONE ", operator: In, values: [c]}]}, " ARM))),
         "a note of zone c (solver)" ITS_ZONE},
        {WEB(ANTI(REQUIRED, "{topologyKey: " ZONE ", labelSelector: {}}")),
         "a note of zone c (solver)" ITS_ZONE},
        {WEB(AFFINITY(FOLLOW("db"))), "a note of zone a,b,c (solver)" ITS_ZONE},
        {WEB(AFFINITY("podAffinity: {" REQUIRED ": [{topologyKey: kubernetes.io/hostname,"
                      " labelSelector: {matchLabels: {app: db}}}]}")),
         "a note of zone a,b,c (solver)" SEVERAL},
        /* what Karpenter would give up before ours */
        {WEB(AFFINITY(PREFERS_ARM)), "a note of zone c (solver)" ITS_WISHES},
        {WEB(ANTI(PREFERRED,
                  "{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname}}")),
         "a note of zone c (solver)" ITS_WISHES},
        {WEB(AFFINITY("podAffinity: {" PREFERRED
                      ": [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname}}, "
                      "{weight: 2, podAffinityTerm: {topologyKey: kubernetes.io/hostname}}]}, "
                      "podAntiAffinity: {" REQUIRED ": [{topologyKey: kubernetes.io/hostname}]}")),
         "a note of zone c (solver)" ITS_WISHES},
        {WEB(AFFINITY("podAntiAffinity: {" REQUIRED
                      ": [{topologyKey: kubernetes.io/hostname}], " PREFERRED
                      ": [{weight: 1, podAffinityTerm: {topologyKey: "
                      "kubernetes.io/hostname}}]}")),
         "a note of zone c (solver)" ITS_WISHES},
        {WEB(AFFINITY(NODE_TERMS(ARM ", " ARM))), "a note of zone c (solver)" ITS_WISHES},
        /* a choice that is nobody's to make */
        {POD("", EPHEMERAL("wait")), "a note of zone a,b,c (solver)"},
        {POD("", EPHEMERAL("in-c")), "a note of zone c (storage-class)"},
    };
    static const struct words_case required[] = {
        {WEB(""), "a node selection by zone c (solver)"},
        {WEB(SPREAD("kubernetes.io/hostname")), "a note of zone c (solver)" SHRINKS},
        {WEB(AFFINITY(PREFERS_ARM)), "a note of zone c (solver)" ITS_WISHES},
        /* a volume that a claim names can still become another's */
        {OWNED("duo", "1", "", ""), "a preference for zone a (volume)"},
        {POD("", EPHEMERAL("wait")), "a note of zone a,b,c (solver)"},
    };
    static const struct words_case stale[] = {
        {WEB(""), "a note of zone c (solver): volumes are seen as they were over a minute ago"},
        {OWNED("duo", "1", "", ""), "a preference for zone a (volume)"},
    };
    static const struct words_case annotated[] = {
        {WEB(""), "a note of zone c (solver)"},
        {WEB(SPREAD(ZONE)), "a note of zone c (solver)"},
        {OWNED("duo", "1", "", ""), "a note of zone a (volume)"},
    };
    static const struct words_case ignored[] = {
        {WEB(""), "a preference for zone c (solver): Karpenter ignores it, and may buy another"},
        {WEB(SPREAD(ZONE)), "a note of zone c (solver)" ITS_ZONE},
        {POD("", VOLUMES(MOUNT("one"))), "a node selection by zone a (volume)"},
    };
    run("zone-pin: {}", cases, COUNT_OF(cases));
    run("zone-pin: {unbound: require}", required, COUNT_OF(required));
    run_in("zone-pin: {unbound: require}", true, stale, COUNT_OF(stale));
    run("zone-pin: {unbound: annotate}", annotated, COUNT_OF(annotated));
    run("zone-pin: {}}, karpenter: {preferencePolicy: Ignore", ignored, COUNT_OF(ignored));
}

static void of_followers(void)
{
    static const struct words_case cases[] = {
        {POD("", "affinity: {" FOLLOW("db") "}"), "a preference for zone c (volume)"},
        {POD("", "affinity: {" FOLLOW("twin") "}"), "a note of zone a,b (volume)" SEVERAL},
        {POD("", "affinity: {" FOLLOW("db") "}" SPREAD(ZONE)),
         "a note of zone c (volume)" ITS_ZONE},
        {POD("", "affinity: {" FOLLOW("db") "}, nodeSelector: {" ZONE ": c}"),
         "a note of zone c (volume)" ITS_ZONE},
        {POD("", "affinity: {" FOLLOW("db") ", " PREFERS_ARM "}"),
         "a note of zone c (volume)" ITS_WISHES},
        {POD("", "affinity: {" FOLLOW("db") ", " NODE_TERMS(ARM ", " ARM) "}"),
         "a note of zone c (volume)" ITS_WISHES},
    };
    static const struct words_case required[] = {
        {POD("", "affinity: {" FOLLOW("db") "}"), "a node selection by zone c (volume)"},
        {POD("", "affinity: {" FOLLOW("twin") "}"), "a note of zone a,b (volume)" SEVERAL},
        {POD("", "affinity: {" FOLLOW("db") "}" SPREAD("kubernetes.io/hostname")),
         "a note of zone c (volume)" SHRINKS},
    };
    run("zone-pin: {}", cases, COUNT_OF(cases));
    run("zone-pin: {unbound: require}", required, COUNT_OF(required));
}

/* ---- pods that can never start ---- */

#define APART VOLUMES(MOUNT("one") ", " MOUNT("two"))
#define APART_FOUND "warn spec.volumes one in a, two in b"

static void volumes_apart_are_found(void)
{
    static const struct rail_case cases[] = {
        {POD("", APART), APART_FOUND},
        {POD("", VOLUMES(MOUNT("both") ", " MOUNT("new-c"))),
         "warn spec.volumes both in a or b, new-c in c"},
        {POD("", VOLUMES(MOUNT("new") ", " MOUNT("one") ", " MOUNT("db") ", " MOUNT("two"))),
         "warn spec.volumes one in a, db in c, two in b"},
        {POD("", VOLUMES(MOUNT("one") ", " MOUNT("chosen"))), ""},
        {POD("", VOLUMES(MOUNT("one") ", " MOUNT("both"))), ""},
        {POD("", VOLUMES(MOUNT("one"))), ""},
        /* who comes to its node by other ways */
        {POD(OWNED_BY("DaemonSet"), APART), ""},
        {POD(OWNED_BY("Node"), APART), ""},
        {POD(MIRROR, APART), ""},
        {POD(FARGATE_PROFILE, APART), ""},
        {POD("", APART ", nodeName: n1"), ""},
        {POD("", APART ", schedulerName: mine"), ""},
        {POD("", APART COMPUTE_TYPE("fargate")), ""},
        {POD(OWNED_BY("Job"), APART), APART_FOUND},
    };
    rail_table_run(&(struct rail_table){"zone-pin: {}", pin_cluster, cases, COUNT_OF(cases)});
    static const struct rail_words words = {
        POD("", APART),
        "The pod can never start. Its volumes have no zone in common: one in a, two in b.",
        "Move the data of one into the zone of the other, or mount them in different pods."};
    rail_words_run("zone-pin: {bound: off, unbound: off}", pin_cluster, &words, 1);
}

#define ONE VOLUMES(MOUNT("one"))   /* in a */
#define BOTH VOLUMES(MOUNT("both")) /* in a or b */
#define CHOOSES(zone) ", nodeSelector: {kubernetes.io/os: linux, " ZONE ": " zone "}"
#define BY(key, op, values) \
    "{matchExpressions: [{key: " key ", operator: " op ", values: [" values "]}]}"
#define REQUIRES(terms) AFFINITY(NODE_TERMS(terms))
#define SELECTOR "warn spec.nodeSelector[" ZONE "] "
#define TERM "warn spec.affinity.nodeAffinity." REQUIRED ".nodeSelectorTerms[0].matchExpressions[0]"

static void who_selects_another_zone_than_its_volume_is_found(void)
{
    static const struct rail_case cases[] = {
        {POD("", ONE CHOOSES("a")), ""},
        {POD("", ONE CHOOSES("b")), SELECTOR "b"},
        {POD("", ONE ", nodeSelector: {failure-domain.beta.kubernetes.io/zone: b}"),
         "warn spec.nodeSelector[failure-domain.beta.kubernetes.io/zone] b"},
        {POD("", BOTH CHOOSES("b")), ""},
        {POD("", BOTH CHOOSES("c")), SELECTOR "c"},
        {POD("", VOLUMES(MOUNT("new") ", " MOUNT("one")) CHOOSES("c")), SELECTOR "c"},
        {POD("", ONE REQUIRES(BY(ZONE, "In", "b, a"))), ""},
        {POD("", ONE REQUIRES(BY(ZONE, "In", "b, c"))), TERM " b"},
        {POD("", ONE REQUIRES(BY(ZONE, "In", "c"))), TERM ".values[0] c"},
        {POD("", ONE REQUIRES(BY(ZONE, "NotIn", "b"))), ""},
        {POD("", ONE REQUIRES(BY(ZONE, "NotIn", "a"))), TERM ".values[0] a"},
        {POD("", ONE REQUIRES(BY(ZONE, "NotIn", "b, a"))), TERM " b"},
        {POD("", ONE REQUIRES(BY(ZONE, "Exists", ""))), ""},
        {POD("", ONE REQUIRES(BY(ZONE, "in", "b"))), ""}, /* which the API server refuses */
        {POD("", ONE REQUIRES(BY("team", "In", "b"))), ""},
        {POD("", ONE REQUIRES(BY("topology.k8s.aws/zone-id", "In", "b"))), ""},
        /* a way that is left, and one that is none */
        {POD("", ONE REQUIRES(BY(ZONE, "In", "b") ", " BY("team", "In", "b"))), ""},
        {POD("", ONE REQUIRES(BY("team", "In", "b") ", " BY(ZONE, "In", "b"))), ""},
        {POD("", ONE REQUIRES(BY(ZONE, "In", "c") ", " BY(ZONE, "In", "b"))), TERM ".values[0] c"},
        {POD("", ONE CHOOSES("b") REQUIRES(BY(ZONE, "In", "a"))), SELECTOR "b"},
        /* a disk that is nowhere yet goes where the pod does; and one is enough to say */
        {POD("", VOLUMES(MOUNT("new")) CHOOSES("b")), ""},
        {POD("", VOLUMES(MOUNT("reserved")) CHOOSES("b")), ""},
        {POD("", "containers: []" CHOOSES("b")), ""},
        {POD("", APART CHOOSES("c")), APART_FOUND},
        {POD("", ONE CHOOSES("b") ", schedulerName: mine"), ""},
    };
    rail_table_run(&(struct rail_table){"zone-pin: {}", pin_cluster, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {POD("", ONE CHOOSES("b")),
         "The pod can never start. It selects zone b, and its volumes are elsewhere: one in a.",
         "Use a, where the volumes are."},
        {POD("", BOTH CHOOSES("c")),
         "The pod can never start. It selects zone c, and its volumes are elsewhere: both in a or "
         "b.",
         "Leave the zone out, because the volumes decide it."},
        {POD("", ONE REQUIRES(BY(ZONE, "In", "b, c"))),
         "The pod can never start. It selects zone b or c, and its volumes are elsewhere: one in "
         "a.",
         "Leave the zone out, because the volumes decide it."},
        {POD("", ONE REQUIRES(BY(ZONE, "NotIn", "a"))),
         "The pod can never start. It keeps out of zone a, and its volumes are there: one in a.",
         "Leave the zone out, because the volumes decide it."},
    };
    rail_words_run("zone-pin: {}", pin_cluster, words, COUNT_OF(words));
}

/* Where objects of a kind cannot be seen, one of them may say another zone. */
static void what_is_not_seen_is_not_found(void)
{
    static const struct {
        enum kind unseen;
        const char *findings;
    } rows[] = {
        {KIND_UNKNOWN, APART_FOUND},
        {KIND_PERSISTENT_VOLUME_CLAIM, ""},
        {KIND_PERSISTENT_VOLUME, ""},
        {KIND_STORAGE_CLASS, ""},
        {KIND_NODE, ""},
        {KIND_STATEFUL_SET, APART_FOUND},
        {KIND_NODE_POOL, APART_FOUND},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        struct world world = rail_table_world("zone-pin: {}", pin_cluster, arena);
        world.unseen = KIND_BIT(rows[i].unseen);
        struct rail_documents documents = rail_table_read(POD("", APART), arena);
        ASSERT_TEXT(rail_table_findings(&world, &documents.items[0], arena), rows[i].findings);
        arena_destroy(arena);
    }
}

/* Volumes do not change later, and who labels a pod need not hear of them again. */
static void only_new_pods_are_judged(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("zone-pin: {}", pin_cluster, arena);
    struct rail_documents old = rail_table_read(POD("", APART), arena);
    struct rail_documents new = rail_table_read(POD(", labels: {a: b}", APART), arena);
    const struct object *const before[] = {&old.items[0], NULL};
    for (size_t i = 0; i < COUNT_OF(before); i++) {
        struct subject subject = {
            .operation = OPERATION_UPDATE, .object = &new.items[0], .old_object = before[i]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.finding_count, 0);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy zone-pin words";
const struct unit_test unit_tests[] = {
    {"of bound volumes", of_bound_volumes},
    {"of new volumes", of_new_volumes},
    {"of followers", of_followers},
    {"volumes apart are found", volumes_apart_are_found},
    {"who selects another zone than its volume is found",
     who_selects_another_zone_than_its_volume_is_found},
    {"what is not seen is not found", what_is_not_seen_is_not_found},
    {"only new pods are judged", only_new_pods_are_judged},
    {NULL, NULL},
};
