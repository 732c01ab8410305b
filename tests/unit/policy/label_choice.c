/* A node label of which some values alone are allowed, as capacity-types and zones have it: which
 * values are judged, where a term rules out all of them, what is said. */
#include "rail_modes.h"

#define KEY "karpenter.sh/capacity-type"
#define GROUPS "eks.amazonaws.com/capacityType"
#define ZONE "topology.kubernetes.io/zone"
#define ZONE_ID "topology.k8s.aws/zone-id"
#define OF(key, operator, values) "{key: " key ", operator: " operator", values: [" values "]}"
#define IN(values) OF(KEY, "In", values)
#define NOT_IN(values) OF(KEY, "NotIn", values)
#define NO_VALUE "{key: " KEY ", operator: DoesNotExist}"
#define TEAM "{key: team, operator: Exists}"
#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" spec "}}"
#define SELECTS(key, value) "nodeSelector: {" key ": " value "}"
#define TERM(expressions) "{matchExpressions: [" expressions "]}"
#define REQUIRES(terms)                                                           \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {" \
    "nodeSelectorTerms: [" terms "]}}}"
#define ONE_TERM(expressions) POD(REQUIRES(TERM(expressions)))
#define PREFERS(first, second)                                                         \
    POD("affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [" \
        "{weight: 1, preference: " TERM(first) "}, {weight: 1, preference: " TERM(second) "}]}}")
#define REQUIRED                                                                 \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." \
    "nodeSelectorTerms"
#define AT(term, expression) REQUIRED "[" term "].matchExpressions[" expression "]"
#define PREFERRED(term)                                                                \
    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[" term \
    "].preference.matchExpressions[0].values[0]"

static void every_value_is_judged(void)
{
    static const struct rail_case cases[] = {
        {ONE_TERM(IN("spot, on-demand, reserved")), "deny " AT("0", "0") ".values spot, reserved"},
        {ONE_TERM(TEAM ", " IN("spot")), "deny " AT("0", "1") ".values[0] spot"},
        {ONE_TERM(IN("spot") ", " TEAM ", " IN("reserved")),
         "deny " AT("0", "0") ".values[0] spot\ndeny " AT("0", "2") ".values[0] reserved"},
        {POD(REQUIRES(TERM(IN("spot")) ", " TERM(TEAM) ", " TERM(IN("reserved")))),
         "deny " AT("0", "0") ".values[0] spot\ndeny " AT("2", "0") ".values[0] reserved"},
        {POD("nodeSelector: {team: a, " GROUPS ": SPOT, " KEY ": reserved}"),
         "deny spec.nodeSelector[" GROUPS "] SPOT\ndeny spec.nodeSelector[" KEY "] reserved"},
        {PREFERS(IN("on-demand"), IN("spot")), "warn " PREFERRED("1") " spot"},
        {PREFERS(IN("spot"), IN("reserved")),
         "warn " PREFERRED("0") " spot\nwarn " PREFERRED("1") " reserved"},
        {PREFERS(TEAM, NOT_IN("on-demand")), ""},
        /* what the API server refuses */
        {ONE_TERM(OF(KEY, "Is", "spot")), ""},
        {ONE_TERM(IN("")), ""},
        {ONE_TERM(IN("spot, 5")), ""},
        {POD(SELECTS(KEY, "5")), ""},
        {POD(SELECTS(KEY, "[spot]")), ""},
    };
    rail_table_run(
        &(struct rail_table){"capacity-types: {allow: [on-demand]}", NULL, cases, COUNT_OF(cases)});
}

static void a_term_must_leave_an_allowed_value(void)
{
    static const struct rail_case cases[] = {
        {ONE_TERM(TEAM), ""},
        {ONE_TERM(NOT_IN("on-demand") ", " TEAM), "deny " AT("0", "0") " NotIn"},
        {ONE_TERM(TEAM ", " NOT_IN("on-demand")), "deny " AT("0", "1") " NotIn"},
        {POD(REQUIRES(TERM(TEAM) ", " TERM(NOT_IN("on-demand")) ", " TERM(NO_VALUE))),
         "deny " AT("1", "0") " NotIn\ndeny " AT("2", "0") " DoesNotExist"},
        /* no capacity type is a number */
        {ONE_TERM(OF(KEY, "Gt", "'1'")), "deny " AT("0", "0") " Gt"},
        {ONE_TERM(OF(KEY, "Lt", "'1'")), "deny " AT("0", "0") " Lt"},
        /* said once: where a value is named, or at the last that has to do with it */
        {ONE_TERM(NOT_IN("on-demand") ", " NO_VALUE), "deny " AT("0", "1") " DoesNotExist"},
        {ONE_TERM(IN("spot") ", " NOT_IN("on-demand")), "deny " AT("0", "0") ".values[0] spot"},
        {POD(SELECTS(KEY, "spot") ", " REQUIRES(TERM(NOT_IN("on-demand")))),
         "deny spec.nodeSelector[" KEY "] spot"},
        {POD(REQUIRES(TERM(IN("spot")) ", " TERM(NOT_IN("on-demand")))),
         "deny " AT("0", "0") ".values[0] spot\ndeny " AT("1", "0") " NotIn"},
        /* what the API server refuses rules out nothing */
        {ONE_TERM(OF(KEY, "Is", "spot")), ""},
        {ONE_TERM(OF(KEY, "Is", "spot") ", " NOT_IN("spot")), ""},
        {ONE_TERM(OF(KEY, "Is", "spot") ", " NOT_IN("on-demand")), "deny " AT("0", "1") " NotIn"},
        /* another spelling has other values */
        {ONE_TERM(OF(GROUPS, "NotIn", "on-demand")), ""},
    };
    rail_table_run(
        &(struct rail_table){"capacity-types: {allow: [on-demand]}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case either[] = {
        {ONE_TERM(NOT_IN("spot")), ""},
        {ONE_TERM(NOT_IN("on-demand")), ""},
        {ONE_TERM(NOT_IN("reserved")), ""},
        {ONE_TERM(NOT_IN("spot") ", " NOT_IN("on-demand")), "deny " AT("0", "1") " NotIn"},
        {ONE_TERM(IN("spot") ", " NOT_IN("spot")), "deny " AT("0", "1") " NotIn"},
        {ONE_TERM(IN("on-demand, spot") ", " NOT_IN("spot")), ""},
        {POD(SELECTS(KEY, "spot") ", " REQUIRES(TERM(NOT_IN("spot")))),
         "deny " AT("0", "0") " NotIn"},
        {POD(SELECTS(KEY, "spot") ", " REQUIRES(TERM(NOT_IN("on-demand")))), ""},
        {POD(SELECTS(KEY, "spot") ", " REQUIRES(TERM(IN("on-demand")))),
         "deny " AT("0", "0") " In"},
        {POD(SELECTS(KEY, "spot") ", " REQUIRES(TERM(TEAM))), ""},
    };
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [on-demand, spot]}", NULL, either,
                                        COUNT_OF(either)});
#define GROUPS_THERE "{key: " GROUPS ", operator: Exists}"
    /* node groups have a label of their own, which other nodes lack */
    static const struct rail_case of_groups[] = {
        {ONE_TERM(GROUPS_THERE ", " OF(GROUPS, "NotIn", "ON_DEMAND")),
         "deny " AT("0", "1") " NotIn"},
        {ONE_TERM(OF(GROUPS, "NotIn", "ON_DEMAND") ", " GROUPS_THERE),
         "deny " AT("0", "1") " Exists"},
        {ONE_TERM(OF(GROUPS, "NotIn", "ON_DEMAND")), ""},
        {ONE_TERM(GROUPS_THERE), ""},
        {ONE_TERM(GROUPS_THERE ", " OF(GROUPS, "NotIn", "SPOT")), ""},
        {ONE_TERM(GROUPS_THERE ", " OF(GROUPS, "In", "on-demand")),
         "warn " AT("0", "1") ".values[0] on-demand"},
        {ONE_TERM("{key: " GROUPS ", operator: DoesNotExist}"), ""},
        /* it is this label that must be there, and what the API server refuses asks for none */
        {ONE_TERM(TEAM ", " OF(GROUPS, "NotIn", "ON_DEMAND")), ""},
        {ONE_TERM(OF(GROUPS, "Exists", "5") ", " OF(GROUPS, "NotIn", "ON_DEMAND")), ""},
    };
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [on-demand]}", NULL, of_groups,
                                        COUNT_OF(of_groups)});
    /* which ids the allowed zones have nobody knows */
    static const struct rail_case by_id[] = {
        {ONE_TERM("{key: " ZONE_ID ", operator: Exists}, " OF(ZONE_ID, "NotIn", "euw1-az1")), ""},
    };
    rail_table_run(&(struct rail_table){"zones: {allow: [eu-west-1a]}", NULL, by_id, 1});
}

#define POOL(labels, requirements)                                                              \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "      \
    "{metadata: {labels: {" labels "}}, spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: " \
    "EC2NodeClass, name: c}, requirements: [" requirements "]}}}}"
#define OF_POOL "spec.template.spec.requirements"
#define LABEL "spec.template.metadata.labels"

static void what_a_pool_names_is_judged(void)
{
    static const struct rail_case cases[] = {
        {POOL("", IN("spot, on-demand, reserved")), "deny " OF_POOL "[0].values spot, reserved"},
        {POOL("", TEAM ", " IN("spot")), "deny " OF_POOL "[1].values[0] spot"},
        {POOL("team: a", TEAM ", " NOT_IN("reserved") ", " IN("on-demand")), ""},
        {POOL("", IN("spot, on-demand") ", " IN("spot, reserved")),
         "deny " OF_POOL "[0].values[0] spot\ndeny " OF_POOL "[1].values[0] spot"},
        {POOL(KEY ": spot", IN("on-demand, spot")),
         "deny " LABEL "[" KEY "] spot\ndeny " OF_POOL "[0].values[1] spot"},
        /* which leaves nothing to buy */
        {POOL("", IN("spot") ", " NOT_IN("spot")), ""},
        {POOL(KEY ": on-demand", IN("spot")), ""},
        /* what the API server refuses names nothing */
        {POOL("", OF(KEY, "Is", "on-demand")), "deny " OF_POOL " spot"},
        {POOL("", IN("on-demand, 5")), "deny " OF_POOL " spot"},
        {POOL("", OF(KEY, "Is", "on-demand") ", " NOT_IN("spot")), ""},
        {POOL("", NO_VALUE), ""},
    };
    rail_table_run(
        &(struct rail_table){"capacity-types: {allow: [on-demand]}", NULL, cases, COUNT_OF(cases)});
}

/* A zone's id may be that of any zone, where no class tells. */
static void what_cannot_be_told_is_not_denied(void)
{
    static const char subnets[] =
        "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, status: "
        "{subnets: [{id: s1, zone: eu-west-1a, zoneID: euw1-az1}, {id: s2, zone: eu-west-1c, "
        "zoneID: euw1-az3}]}}";
    static const struct rail_case cases[] = {
        {POOL("", OF(ZONE_ID, "In", "euw1-az1, euw1-az2, euw1-az3")),
         "undecided " OF_POOL "[0].values[1] euw1-az2\ndeny " OF_POOL "[0].values[2] euw1-az3"},
        {POOL("", OF(ZONE_ID, "In", "euw1-az2")), "undecided " OF_POOL "[0].values[0] euw1-az2"},
        {ONE_TERM(OF(ZONE_ID, "In", "euw1-az2, euw1-az3")),
         "undecided " AT("0", "0") ".values[0] euw1-az2\ndeny " AT("0", "0") ".values[1] euw1-az3"},
        {PREFERS(OF(ZONE_ID, "In", "euw1-az2"), OF(ZONE_ID, "In", "euw1-az3")),
         "undecided " PREFERRED("0") " euw1-az2\nwarn " PREFERRED("1") " euw1-az3"},
        /* said once */
        {ONE_TERM(OF(ZONE_ID, "In", "euw1-az2") ", " OF(ZONE, "NotIn", "eu-west-1a")),
         "undecided " AT("0", "0") ".values[0] euw1-az2"},
    };
    rail_table_run(
        &(struct rail_table){"zones: {allow: [eu-west-1a]}", subnets, cases, COUNT_OF(cases)});
}

static void what_is_bought_alone_must_be_for_sale(void)
{
    static const char off[] = "capacity-types: {}}, karpenter: {featureGates: {ReservedCapacity: "
                              "false}";
    static const struct rail_case cases[] = {
        {POD(SELECTS(KEY, "on-demand")), ""},
        {POD(SELECTS(KEY, "spot")), ""},
        {POD(SELECTS(KEY, "reserved")), "warn spec.nodeSelector[" KEY "] reserved"},
        {POD(SELECTS(GROUPS, "CAPACITY_BLOCK")), ""},
        {ONE_TERM(TEAM ", " IN("reserved")), "warn " AT("0", "1") ".values[0] reserved"},
        {POOL(KEY ": reserved", ""), "warn " LABEL "[" KEY "] reserved"},
        {POOL("", IN("spot")), ""},
    };
    rail_table_run(&(struct rail_table){off, NULL, cases, COUNT_OF(cases)});
    static const struct rail_case preferred[] = {
        {PREFERS(IN("reserved"), IN("on-demand")), "warn " PREFERRED("0") " reserved"}};
    rail_table_run(&(struct rail_table){off, NULL, preferred, 1});
    /* a preference that Karpenter does not look at */
    static const struct rail_case noted[] = {
        {PREFERS(IN("reserved"), IN("on-demand")), "audit " PREFERRED("0") " reserved"},
        {PREFERS(IN("on-demand"), IN("spot")), "audit " PREFERRED("1") " spot"},
        {POD(SELECTS(KEY, "reserved")), "warn spec.nodeSelector[" KEY "] reserved"},
        {POD(SELECTS(KEY, "spot")), "deny spec.nodeSelector[" KEY "] spot"},
    };
    rail_table_run(&(struct rail_table){
        "capacity-types: {allow: [on-demand, reserved]}}, karpenter: {preferencePolicy: Ignore, "
        "featureGates: {ReservedCapacity: false}",
        NULL, noted, COUNT_OF(noted)});
}

static void it_says_what_would_do(void)
{
    static const struct rail_words rows[] = {
        /* what is nearest comes first */
        {POD(SELECTS(KEY, "sport")), "\"sport\" is no capacity type, and no node has it.",
         "Use spot."},
        {POD(SELECTS(KEY, "ondemand")), "\"ondemand\" is no capacity type, and no node has it.",
         "Use on-demand."},
        {POOL("", IN("sport")), "\"sport\" is no capacity type, and no node has it.", "Use spot."},
        {ONE_TERM(NO_VALUE), "This rules out every allowed capacity type: on-demand and spot.",
         "Remove the requirement on " KEY "."},
        {ONE_TERM(OF(GROUPS, "In", "SPOT") ", " NOT_IN("on-demand, spot")),
         "This rules out every allowed capacity type: on-demand and spot.",
         "Remove the requirement on " KEY "."},
    };
    rail_words_run("capacity-types: {allow: [on-demand, spot]}", NULL, rows, COUNT_OF(rows));
#define CLASS_IN(zone)                                                                       \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}, provisioner: " \
    "ebs.csi.aws.com, parameters: {zone: " zone "}}"
    static const struct rail_words zones[] = {
        {CLASS_IN("b"), "Zone b is not allowed here.", "Use z."},
        {"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: {spec: "
         "{" SELECTS(ZONE, "b") "}}}}",
         "Zone b is not allowed here.", "Use z, or leave the choice to the NodePools."},
        {ONE_TERM(OF("failure-domain.beta.kubernetes.io/zone", "NotIn", "z")),
         "This rules out every allowed zone: z.",
         "Remove the requirement on failure-domain.beta.kubernetes.io/zone."},
        /* five are named without a count */
        {POOL("", ""),
         "No requirement lists the zones to use, so the pool may launch nodes in a, b, c, d and e, "
         "which are "
         "not allowed here.",
         "Add to " OF_POOL ": [{key: " ZONE ", operator: In, values: [z]}]."},
        {POOL("", OF(ZONE, "NotIn", "a, b, c, d")),
         "No requirement lists the zones to use, so the pool may launch nodes in e, which is not "
         "allowed "
         "here.",
         "Add to " OF_POOL ": [{key: " ZONE ", operator: In, values: [z]}]."},
    };
    rail_words_run("zones: {allow: [z]}",
                   "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, "
                   "status: {subnets: [{zone: a}, {zone: b}, {zone: c}, {zone: d}, {zone: e}, "
                   "{zone: z}]}}",
                   zones, COUNT_OF(zones));
}

static void daemon_sets_are_warned_of_what_rules_out_all(void)
{
#define OF_KIND(kind, expressions)                                                               \
    "{apiVersion: apps/v1, kind: " kind ", metadata: {name: a}, spec: {selector: {}, template: " \
    "{metadata: {}, spec: {" REQUIRES(TERM(expressions)) "}}}}"
    static const struct rail_case cases[] = {
        {OF_KIND("Deployment", NOT_IN("on-demand, spot")),
         "deny spec.template." AT("0", "0") " NotIn"},
        {OF_KIND("DaemonSet", NOT_IN("on-demand, spot")),
         "warn spec.template." AT("0", "0") " NotIn"},
    };
    rail_table_run(&(struct rail_table){"capacity-types: {allow: [on-demand, spot]}", NULL, cases,
                                        COUNT_OF(cases)});
}

/* Of very many the first are put into words. */
static void very_many_are_counted(void)
{
    enum { TERMS = 80, LISTED = 50 };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("capacity-types: {allow: [on-demand]}", NULL, arena);
    struct text_builder terms = {.arena = arena};
    for (size_t i = 0; i < TERMS; i++)
        text_builder_printf(&terms, "%s" TERM(IN("spot")), i == 0 ? "" : ", ");
    struct rail_documents documents = rail_table_read(
        arena_printf(arena, POD(REQUIRES("%s")), text_builder_text(&terms).data).data, arena);
    const struct subject subject = {.operation = OPERATION_CREATE, .object = documents.items};
    struct verdict verdict;
    policy_evaluate(&world, &subject, 0, arena, &verdict);
    ASSERT_INT(verdict.finding_count, LISTED + 1);
    ASSERT_INT(verdict.findings[LISTED].more, TERMS - LISTED);
    arena_destroy(arena);
}

const char unit_suite[] = "policy choice";
const struct unit_test unit_tests[] = {
    {"every value is judged", every_value_is_judged},
    {"a term must leave an allowed value", a_term_must_leave_an_allowed_value},
    {"what a pool names is judged", what_a_pool_names_is_judged},
    {"what cannot be told is not denied", what_cannot_be_told_is_not_denied},
    {"what is bought alone must be for sale", what_is_bought_alone_must_be_for_sale},
    {"it says what would do", it_says_what_would_do},
    {"DaemonSets are warned of what rules out all", daemon_sets_are_warned_of_what_rules_out_all},
    {"very many are counted", very_many_are_counted},
    {NULL, NULL},
};
