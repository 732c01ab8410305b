/* What policies say of Karpenter's own settings, and what rails then say. */
#include <string.h>

#include "change_table.h"

/* Rails of a policy that says this of Karpenter. */
#define UNDER(settings, rails) rails "}, karpenter: {" settings
#define IGNORE "preferencePolicy: Ignore"
#define NO_RESERVED "featureGates: {ReservedCapacity: false}"

#define ZONE "topology.kubernetes.io/zone"
#define CAPACITY "karpenter.sh/capacity-type"
#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {" spec "}}"
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define PREFERS(key, values)                                                                   \
    "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, " \
    "preference: {matchExpressions: [" IN(key, values) "]}}]}}"
#define REQUIRES(key, values)                                                    \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
    "{nodeSelectorTerms: [{matchExpressions: [" IN(key, values) "]}]}}}"
#define PREFERRED_AT                                                                 \
    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]." \
    "preference.matchExpressions[0].values[0]"
#define REQUIRED_AT                                                              \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." \
    "nodeSelectorTerms[0].matchExpressions[0].values[0]"
#define POOL(spec, requirements)                                                                \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {" spec           \
    "template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: d}, " \
    "requirements: [" requirements "]}}}}"

#define NODE "\n---\n{apiVersion: v1, kind: Node, metadata: {name: node-1}}\n"

static void run(const char *rails, const char *cluster, const struct rail_case *cases, size_t count)
{
    rail_table_run(&(struct rail_table){rails, cluster, cases, count});
}

/* ---- preferencePolicy ---- */

static void a_preference_that_karpenter_ignores_is_noted(void)
{
    static const struct rail_case zones[] = {
        {POD(PREFERS(ZONE, "b")), "audit " PREFERRED_AT " b"},
        {POD(REQUIRES(ZONE, "b")), "deny " REQUIRED_AT " b"},
    };
    static const struct rail_case types[] = {
        {POD(PREFERS("karpenter.k8s.aws/instance-family", "c5")), "audit " PREFERRED_AT " c5"},
        {POD(REQUIRES("karpenter.k8s.aws/instance-family", "c5")), "deny " REQUIRED_AT " c5"},
    };
    static const struct rail_case labels[] = {
        {POD(PREFERS("zone", "b")),
         "audit spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0]."
         "preference.matchExpressions[0].key zone"},
        {POD("nodeSelector: {zone: b}"), "deny spec.nodeSelector.zone zone"},
        /* of a size that no type has: as a wish it is not even worth a warning */
        {POD(PREFERS("karpenter.k8s.aws/instance-cpu", "'3'")), "audit " PREFERRED_AT " 3"},
        {POD("nodeSelector: {karpenter.k8s.aws/instance-cpu: '3'}"),
         "warn spec.nodeSelector[karpenter.k8s.aws/instance-cpu] 3"},
    };
    static const struct rail_case respected[] = {
        {POD(PREFERS(ZONE, "b")), "warn " PREFERRED_AT " b"},
    };
    run(UNDER(IGNORE, "zones: {allow: [a]}"), NULL, zones, COUNT_OF(zones));
    run(UNDER(IGNORE, "instance-types: {allow: {families: [m5]}}"), NULL, types, COUNT_OF(types));
    run(UNDER(IGNORE, "node-labels: {}"), POOL("", "") NODE, labels, COUNT_OF(labels));
    run(UNDER("preferencePolicy: Respect", "zones: {allow: [a]}"), NULL, respected,
        COUNT_OF(respected));
}

static void a_wrong_key_that_karpenter_ignores_is_warned_of(void)
{
#define SPREAD(when)                                                                  \
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, labelSelector: {}, " \
    "whenUnsatisfiable: " when "}]"
    static const struct rail_case cases[] = {
        {POD(SPREAD("ScheduleAnyway")), "warn spec.topologySpreadConstraints[0].topologyKey zone"},
        {POD(SPREAD("DoNotSchedule")), "deny spec.topologySpreadConstraints[0].topologyKey zone"},
    };
    run(UNDER(IGNORE, "topology-keys: {}"), NULL, cases, COUNT_OF(cases));
#undef SPREAD
}

#define WEB(spec)                                                                                  \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3, "          \
    "selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {" spec \
    "}}}}"
#define OVER_ZONES(labels, when)                                                       \
    "{maxSkew: 1, topologyKey: " ZONE ", labelSelector: {matchLabels: {" labels "}}, " \
    "whenUnsatisfiable: " when "}"
#define SPREADS(constraints) "topologySpreadConstraints: [" constraints "]"
#define ANTI(use, term) "affinity: {podAntiAffinity: {" use "DuringExecution: [" term "]}}"
#define TERM "{topologyKey: " ZONE ", labelSelector: {matchLabels: {app: web}}}"

static void a_spread_that_is_only_preferred_buys_no_zones(void)
{
    static const char anyway[] = "warn spec.template.spec.topologySpreadConstraints[0]."
                                 "whenUnsatisfiable ScheduleAnyway";
    static const struct rail_case ignored[] = {
        {WEB(SPREADS(OVER_ZONES("app: web", "ScheduleAnyway"))), anyway},
        {WEB(ANTI("preferredDuringSchedulingIgnored", "{weight: 1, podAffinityTerm: " TERM "}")),
         "warn spec.template.spec.affinity.podAntiAffinity."
         "preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm "},
        /* one that holds is enough, in either order */
        {WEB(SPREADS(OVER_ZONES("app: web", "DoNotSchedule"))), ""},
        {WEB(SPREADS(OVER_ZONES("app: web", "ScheduleAnyway") ", " OVER_ZONES("app: web",
                                                                              "DoNotSchedule"))),
         ""},
        {WEB(SPREADS(OVER_ZONES("app: web", "DoNotSchedule") ", " OVER_ZONES("app: web",
                                                                             "ScheduleAnyway"))),
         ""},
        {WEB(ANTI("requiredDuringSchedulingIgnored", TERM)), ""},
        /* one that misses is no spread at all, and does not hide one that is preferred */
        {WEB(SPREADS(OVER_ZONES("app: api", "DoNotSchedule"))),
         "deny spec.template.spec.topologySpreadConstraints[0].labelSelector "},
        {WEB(SPREADS(OVER_ZONES("app: web", "ScheduleAnyway") ", " OVER_ZONES("app: api",
                                                                              "DoNotSchedule"))),
         anyway},
        {WEB(""), "deny spec.template.spec.topologySpreadConstraints "},
        /* where it goes is settled otherwise */
        {WEB("nodeSelector: {" ZONE ": a}, " SPREADS(OVER_ZONES("app: web", "ScheduleAnyway"))),
         ""},
    };
    static const struct rail_case respected[] = {
        {WEB(SPREADS(OVER_ZONES("app: web", "ScheduleAnyway"))), ""},
        {WEB(ANTI("preferredDuringSchedulingIgnored", "{weight: 1, podAffinityTerm: " TERM "}")),
         ""},
    };
    run(UNDER(IGNORE, "zone-spread: {}"), NULL, ignored, COUNT_OF(ignored));
    run("zone-spread: {}", NULL, respected, COUNT_OF(respected));
}

/* ---- gates ---- */

static void reserved_capacity_is_not_bought_without_its_gate(void)
{
    static const char reserves[] =
        "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: d}, spec: "
        "{capacityReservationSelectorTerms: [{id: cr-1}]}}";
    static const struct rail_case off[] = {
        {POD("nodeSelector: {" CAPACITY ": reserved}"),
         "warn spec.nodeSelector[" CAPACITY "] reserved"},
        {POD(REQUIRES(CAPACITY, "reserved")), "warn " REQUIRED_AT " reserved"},
        {POD(REQUIRES(CAPACITY, "reserved, on-demand")), ""},
        {POD(PREFERS(CAPACITY, "reserved")), "warn " PREFERRED_AT " reserved"},
        /* a node group's reservation is not Karpenter's */
        {POD("nodeSelector: {eks.amazonaws.com/capacityType: CAPACITY_BLOCK}"), ""},
        {POOL("", IN(CAPACITY, "reserved")),
         "warn spec.template.spec.requirements[0].values[0] reserved"},
        {POOL("", IN(CAPACITY, "reserved, on-demand")), ""},
    };
    static const struct rail_case on[] = {
        {POD("nodeSelector: {" CAPACITY ": reserved}"), ""},
        {POOL("", IN(CAPACITY, "reserved")), ""},
    };
    /* not allowed is all that need be said */
    static const struct rail_case open_off[] = {
        {POOL("", ""), ""},
        {POOL("", IN(CAPACITY, "reserved")),
         "deny spec.template.spec.requirements[0].values[0] reserved"},
    };
    static const struct rail_case open_on[] = {
        {POOL("", ""), "deny spec.template.spec.requirements reserved"}};
    run(UNDER(NO_RESERVED, "capacity-types: {}"), NULL, off, COUNT_OF(off));
    run(UNDER("featureGates: {ReservedCapacity: true}", "capacity-types: {}"), NULL, on,
        COUNT_OF(on));
    run("capacity-types: {}", NULL, on, COUNT_OF(on));
    run(UNDER(NO_RESERVED, "capacity-types: {allow: [on-demand, spot]}"), reserves, open_off,
        COUNT_OF(open_off));
    run("capacity-types: {allow: [on-demand, spot]}", reserves, open_on, COUNT_OF(open_on));
}

static void replicas_are_nothing_without_their_gate(void)
{
#define M5 IN("karpenter.k8s.aws/instance-family", "m5")
    static const struct rail_case off[] = {{POOL("replicas: 3, ", M5), "deny spec.replicas 3"},
                                           {POOL("", M5), ""}};
    static const struct rail_case other[] = {{POOL("replicas: 3, ", M5), ""}};
    run(UNDER("featureGates: {StaticCapacity: false}",
              "pool-shape: {}, capacity-types: {mode: off}"),
        NULL, off, COUNT_OF(off));
    run(UNDER("featureGates: {StaticCapacity: true}",
              "pool-shape: {}, capacity-types: {mode: off}"),
        NULL, other, COUNT_OF(other));
    run("pool-shape: {}, capacity-types: {mode: off}", NULL, other,
        COUNT_OF(other)); /* who says nothing may have it on */
}

/* ---- what could run a pod ---- */

#define ASKS(requests) "containers: [{name: m, resources: {requests: {" requests "}}}]"
#define OF_POOL ", nodeSelector: {karpenter.sh/nodepool: p}"
#define PLACEABLE "placeable: {mode: enforce}"

static void placeable_knows_what_karpenter_buys(void)
{
    static const char reserved_pool[] =
        POOL("", M5 ", " IN(CAPACITY, "reserved")) "\n---\n"
                                                   "{apiVersion: karpenter.k8s.aws/v1, kind: "
                                                   "EC2NodeClass, metadata: {name: d}, spec: {}, "
                                                   "status: {capacityReservations: [{id: cr-1, "
                                                   "instanceType: m5.large, availabilityZone: "
                                                   "eu-west-1a, state: active, reservationType: "
                                                   "default, instanceMatchCriteria: open, "
                                                   "ownerID: '1'}]}}";
    static const char many_types[] =
        POOL("", "{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, r5], "
                 "minValues: 2}");
    static const char static_pool[] = POOL("replicas: 3, ", M5);
    static const struct rail_case fits[] = {{POD(ASKS("cpu: 1") OF_POOL), ""}};
    static const struct rail_case never[] = {{POD(ASKS("cpu: 1") OF_POOL), "deny spec "}};
    static const struct rail_case one_family[] = {
        {POD(ASKS("cpu: 1") ", nodeSelector: {karpenter.k8s.aws/instance-family: r5}"),
         "deny spec "}};
    static const struct rail_case one_will_do[] = {
        {POD(ASKS("cpu: 1") ", nodeSelector: {karpenter.k8s.aws/instance-family: r5}"), ""}};
    static const struct rail_case fuse[] = {
        {POD(ASKS("cpu: 1, example.com/fuse: 1") OF_POOL), "deny spec "},
        {POD(ASKS("cpu: 1000") OF_POOL), "deny spec "}};
    static const struct rail_case overlaid[] = {
        {POD(ASKS("cpu: 1, example.com/fuse: 1") OF_POOL), ""},
        {POD(ASKS("cpu: 1000") OF_POOL), "deny spec "}};
    run(UNDER(NO_RESERVED, PLACEABLE), reserved_pool, never, 1);
    run(PLACEABLE, reserved_pool, fits, 1); /* how many are free, nobody says */
    run(PLACEABLE, many_types, one_family, 1);
    run(UNDER("minValuesPolicy: Strict", PLACEABLE), many_types, one_family, 1);
    run(UNDER("minValuesPolicy: BestEffort", PLACEABLE), many_types, one_will_do, 1);
    run(PLACEABLE, static_pool, fits, 1);
    run(UNDER("featureGates: {StaticCapacity: false}", PLACEABLE), static_pool, never, 1);
    run(PLACEABLE, POOL("", M5), fuse, 2);
    run(UNDER("featureGates: {NodeOverlay: true}", PLACEABLE), POOL("", M5), overlaid, 2);
}

/* ---- what is added to pods ---- */

static void an_added_spread_says_that_karpenter_ignores_it(void)
{
#define POD_OF_WEB                                                                              \
    "{apiVersion: v1, kind: Pod, metadata: {name: web-0, labels: {app: web}, ownerReferences: " \
    "[{apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true}]}, spec: {}}"
    static const char owner[] =
        "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {replicas: 3, "
        "selector: {matchLabels: {app: web}}}}";
    static const struct {
        const char *rails, *added;
    } cases[] = {
        {UNDER(IGNORE, "zone-spread: {action: default}"),
         "a spread over zones (ScheduleAnyway), which Karpenter ignores: it may buy any zone"},
        {UNDER(IGNORE, "zone-spread: {action: default, whenUnsatisfiable: DoNotSchedule}"),
         "a spread over zones (DoNotSchedule)"},
        {"zone-spread: {action: default}", "a spread over zones (ScheduleAnyway)"},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct world world = rail_table_world(cases[i].rails, owner, arena);
        struct rail_documents pod = rail_table_read(POD_OF_WEB, arena);
        struct subject subject = {.operation = OPERATION_CREATE,
                                  .object = &pod.items[0],
                                  .requester = {.name = TEXT(CONTROLLER)}};
        struct verdict verdict;
        policy_mutate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.change_count, 1);
        ASSERT_TEXT(verdict.changes[0].added, cases[i].added);
        struct text warning = message_change(&verdict.changes[0], arena);
        CU_ASSERT(warning.size <= 120 && text_ends_with(warning, text_of(cases[i].added)));
    }
    arena_destroy(arena);
}

/* ---- policies together ---- */

struct said {
    const char *karpenter, *rails;
};

/* Reads each as a policy; what is wrong and what is warned of, as lines. */
static struct text settled(const struct said *said, size_t count, const struct catalog *catalog,
                           struct arena *arena, struct policy_set *set)
{
    static const char *const names[] = {"first", "second", "third"};
    struct policy *policies = ARENA_ARRAY(arena, count, struct policy);
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    for (size_t i = 0; i < count; i++)
        policies[i] = rail_table_read_policy(
            arena_printf(arena,
                         "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\n"
                         "metadata: {name: %s}\nspec:\n  karpenter: {%s}\n  rails: {%s}\n",
                         names[i], said[i].karpenter, said[i].rails),
            catalog, arena);
    *set = (struct policy_set){.items = policies, .count = count};
    karpenter_settle(set, &errors, &warnings);
    struct text_builder lines = {.arena = arena};
    for (size_t i = 0; i < errors.count; i++)
        text_builder_printf(&lines, "%u:%u %s\n", errors.items[i].place.line,
                            errors.items[i].place.column, errors.items[i].what);
    for (size_t i = 0; i < warnings.count; i++)
        text_builder_printf(&lines, "%u:%u warning: %s\n", warnings.items[i].place.line,
                            warnings.items[i].place.column, warnings.items[i].what);
    return text_builder_text(&lines);
}

static void one_cluster_is_set_one_way(void)
{
    static const struct {
        struct said said[3];
        const char *problems; /* each contains it; "": none */
    } cases[] = {
        {{{"", ""}, {IGNORE, ""}, {"", ""}}, ""},
        {{{IGNORE, ""}, {IGNORE, ""}, {"preferencePolicy: Ignore, minValuesPolicy: Strict", ""}},
         ""},
        {{{IGNORE, ""}, {"", ""}, {"preferencePolicy: Respect", ""}},
         "5:33 spec.karpenter.preferencePolicy: found Respect, but the policy \"first\" says "
         "Ignore at policy.yaml:5:33"},
        {{{"minValuesPolicy: Strict", ""}, {"minValuesPolicy: BestEffort", ""}, {"", ""}},
         "5:32 spec.karpenter.minValuesPolicy: found BestEffort, but the policy \"first\" says "
         "Strict"},
        {{{"", ""},
          {"featureGates: {NodeRepair: yes}", ""},
          {"featureGates: {NodeRepair: no}", ""}},
         "5:42 spec.karpenter.featureGates.NodeRepair: found false, but the policy \"second\" says "
         "true"},
        {{{IGNORE, "zone-pin: {}, zone-spread: {action: default}"}, {"", ""}, {"", ""}},
         "6:11 warning: zone-pin prefers a zone for ne"},
        {{{"", "zone-spread: {action: default}"}, {IGNORE, ""}, {"", ""}},
         "6:11 warning: zone-spread adds ScheduleAnyway to pods, and Karpenter ignores that "
         "(preferencePolicy: Ignore): it may buy every node in one zone; whenUnsatisfiable: "
         "DoNotSchedule holds it to the spread"},
        {{{"", "zone-spread: {action: default, mode: 'off'}"}, {IGNORE, ""}, {"", ""}}, ""},
        {{{IGNORE, "zone-spread: {}, zone-pin: {unbound: require}"}, {"", ""}, {"", ""}}, ""},
        {{{IGNORE, "zone-spread: {action: default, whenUnsatisfiable: DoNotSchedule}"},
          {"", "zone-pin: {unbound: annotate}"},
          {"", ""}},
         ""},
        {{{NO_RESERVED, "capacity-types: {allow: [reserved]}"}, {"", ""}, {"", ""}},
         "6:11 warning: capacity-types allows reserved capacity alone, and Karpenter buys none "
         "(featureGates.ReservedCapacity: false): no NodePool can buy anything then"},
        {{{NO_RESERVED, "capacity-types: {allow: [reserved, spot]}"}, {"", ""}, {"", ""}}, ""},
        {{{NO_RESERVED, "capacity-types: {allow: [spot, reserved]}"}, {"", ""}, {"", ""}}, ""},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    const struct catalog *catalog = catalog_builtin(arena);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct policy_set set;
        struct text problems = settled(cases[i].said, 3, catalog, arena, &set);
        bool good = cases[i].problems[0] == '\0'
                        ? problems.size == 0
                        : strstr(arena_text(arena, problems).data, cases[i].problems) != NULL;
        if (!good)
            fprintf(stderr, "case %zu: %.*s\n", i, TEXT_ARGS(problems));
        CU_ASSERT(good);
    }
    arena_destroy(arena);
}

static void settings_are_what_some_policy_says(void)
{
    static const struct said said[] = {
        {"preferencePolicy: Ignore, featureGates: {ReservedCapacity: false}", ""},
        {"minValuesPolicy: BestEffort, featureGates: {NodeOverlay: true, StaticCapacity: false}",
         ""},
    };
    static const struct said defaults[] = {
        {"preferencePolicy: Respect, minValuesPolicy: Strict, featureGates: {CapacityBuffer: "
         "false, NodeOverlay: false, NodeRepair: true, PodDeletionCostManagement: true, "
         "ReservedCapacity: true, SpotToSpotConsolidation: true, StaticCapacity: true, "
         "TerminateFirstDrift: true, TerminateFirstRepair: true}",
         ""},
    };
    static const struct karpenter_settings all = {true, true, true, true, true}, none;
    struct arena *arena = arena_create((size_t)64 << 20);
    const struct catalog *catalog = catalog_builtin(arena);
    struct policy_set set;
    ASSERT_INT(settled(said, 2, catalog, arena, &set).size, 0);
    CU_ASSERT(memcmp(policy_set_karpenter(&set), &all, sizeof all) == 0);
    ASSERT_INT(settled(defaults, 1, catalog, arena, &set).size, 0);
    CU_ASSERT(memcmp(policy_set_karpenter(&set), &none, sizeof none) == 0);
    arena_destroy(arena);
}

const char unit_suite[] = "policy karpenter";
const struct unit_test unit_tests[] = {
    {"a preference that Karpenter ignores is noted", a_preference_that_karpenter_ignores_is_noted},
    {"a wrong key that Karpenter ignores is warned of",
     a_wrong_key_that_karpenter_ignores_is_warned_of},
    {"a spread that is only preferred buys no zones",
     a_spread_that_is_only_preferred_buys_no_zones},
    {"reserved capacity is not bought without its gate",
     reserved_capacity_is_not_bought_without_its_gate},
    {"replicas are nothing without their gate", replicas_are_nothing_without_their_gate},
    {"placeable knows what Karpenter buys", placeable_knows_what_karpenter_buys},
    {"an added spread says that Karpenter ignores it",
     an_added_spread_says_that_karpenter_ignores_it},
    {"one cluster is set one way", one_cluster_is_set_one_way},
    {"settings are what some policy says", settings_are_what_some_policy_says},
    {NULL, NULL},
};
