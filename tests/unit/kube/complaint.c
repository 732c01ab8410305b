/* What the API server would refuse of how a pod chooses its node, and of a NodePool. */
#include "kube/complaint.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "object_fixture.h"

#define AFFINITY(expression)                                                     \
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " \
    "{nodeSelectorTerms: [{matchExpressions: [" expression "]}]}}}"
#define EXPRESSION                                                               \
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." \
    "nodeSelectorTerms[0].matchExpressions[0]"
#define SPREAD(more)                                                                             \
    "topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: " \
    "DoNotSchedule, maxSkew: 1, " more "}]"
#define TOLERATES(more) "tolerations: [{key: team, operator: " more "}]"
#define OF_TOLERATION "spec.tolerations[0].value"
#define OF_SPREAD "spec.topologySpreadConstraints[0]"

static void the_first_mistake_is_told(void)
{
    static const struct {
        const char *spec, *message; /* empty: nothing is wrong */
    } cases[] = {
        {"nodeSelector: null", ""},
        {"nodeSelector: {a: b}", ""},
        {"nodeSelector: a", "spec.nodeSelector is \"a\"; it must be a map of strings"},
        {"nodeSelector: {a: {b: c}}", "spec.nodeSelector.a is a map; it must be a string"},
        {"nodeSelector: {a: [b]}", "spec.nodeSelector.a is a list; it must be a string"},
        {AFFINITY("{key: cpus, operator: Gt, values: ['7']}"), ""},
        {AFFINITY("{key: cpus, operator: Gt, values: [many]}"),
         EXPRESSION ".values[0] is \"many\"; it must be a whole number in quotes, and the only "
                    "value of Gt"},
        {AFFINITY("{key: cpus, operator: Gt, values: ['7', '8']}"),
         EXPRESSION ".values is a list; it must be a whole number in quotes, and the only value of "
                    "Gt"},
        {TOLERATES("Gt, value: '-10'"), ""},
        {TOLERATES("Lt, value: '0'"), ""},
        {TOLERATES("Gt, value: '01'"), OF_TOLERATION " is \"01\"; it must be a whole number in "
                                                     "quotes, without a leading zero or a plus"},
        {TOLERATES("Lt, value: '+1'"), OF_TOLERATION " is \"+1\"; it must be a whole number in "
                                                     "quotes, without a leading zero or a plus"},
        {TOLERATES("Gt, value: much"), OF_TOLERATION " is \"much\"; it must be a whole number in "
                                                     "quotes, without a leading zero or a plus"},
        {TOLERATES("Gt"), OF_TOLERATION " is missing; it must be a whole number in quotes, without "
                                        "a leading zero or a plus"},
        /* a word to them */
        {TOLERATES("Equal, value: '01'"), ""},
        {TOLERATES("Exists"), ""},
        {SPREAD("minDomains: 2147483647"), ""},
        {SPREAD("minDomains: 2147483648"),
         OF_SPREAD ".minDomains is 2147483648; it must be a whole number from 1 to 2147483647"},
        {SPREAD("minDomains: 0"),
         OF_SPREAD ".minDomains is 0; it must be a whole number from 1 to 2147483647"},
        {SPREAD("nodeTaintsPolicy: ''"), ""},
        {SPREAD("nodeTaintsPolicy: 7"),
         OF_SPREAD ".nodeTaintsPolicy is 7; it must be Honor or Ignore"},
        {SPREAD("labelSelector: {matchLabels: [a]}"),
         OF_SPREAD ".labelSelector.matchLabels is a list; it must be a map of strings"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        struct workload workload;
        struct complaint complaint = {0};
        struct text pod = arena_printf(
            arena, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {%s}}", cases[i].spec);
        CU_ASSERT_FATAL(workload_read(fixture_object(arena, pod.data, "shop"), arena, &workload));
        const struct pod_scheduling scheduling = pod_scheduling_read(&workload, arena);
        pod_check(&workload, &scheduling, arena, &complaint);
        ASSERT_TEXT(complaint.message, cases[i].message);
        arena_destroy(arena);
    }
}

static void of_a_node_pool_too(void)
{
    static const char in_time[] = "hours, minutes and seconds such as 720h or 1h30m";
    static const struct {
        const char *spec, *template, *path, *found, *allowed; /* path empty: nothing is wrong */
    } cases[] = {
        {"", "", "", "", ""},
        {"weight: 100", "expireAfter: Never, terminationGracePeriod: 1h30m", "", "", ""},
        {"disruption: {consolidateAfter: 0s, consolidationPolicy: Balanced}",
         "taints: [{key: a, effect: PreferNoSchedule}]", "", "", ""},
        {"replicas: 3, limits: {nodes: 4}", "", "", "", ""},
        {"weight: 0", "", "spec.weight", "0", "a whole number from 1 to 100"},
        {"weight: '7'", "", "spec.weight", "\"7\"", "a whole number from 1 to 100"},
        {"replicas: 3, weight: 1", "", "spec.weight", "1", "absent beside spec.replicas"},
        {"replicas: 3, limits: {cpu: 4}", "", "spec.limits.cpu", "4",
         "absent beside spec.replicas, which leaves only a limit of nodes"},
        {"replicas: -1", "", "spec.replicas", "-1", "a whole number from 0 to 9223372036854775807"},
        {"disruption: {consolidateAfter: 30}", "", "spec.disruption.consolidateAfter", "30",
         "hours, minutes and seconds such as 720h or 1h30m, or Never"},
        {"disruption: {consolidationPolicy: WhenUnderutilized}", "",
         "spec.disruption.consolidationPolicy", "\"WhenUnderutilized\"",
         "WhenEmpty, WhenEmptyOrUnderutilized or Balanced"},
        {"", "expireAfter: 30d", "spec.template.spec.expireAfter", "\"30d\"",
         "hours, minutes and seconds such as 720h or 1h30m, or Never"},
        {"", "expireAfter: ''", "spec.template.spec.expireAfter", "\"\"",
         "hours, minutes and seconds such as 720h or 1h30m, or Never"},
        {"", "terminationGracePeriod: Never", "spec.template.spec.terminationGracePeriod",
         "\"Never\"", in_time},
        {"", "taints: [{key: a, effect: NoScedule}]", "spec.template.spec.taints[0].effect",
         "\"NoScedule\"", "NoSchedule, PreferNoSchedule or NoExecute"},
        {"", "startupTaints: [{key: a}]", "spec.template.spec.startupTaints[0].effect", "missing",
         "NoSchedule, PreferNoSchedule or NoExecute"},
        {"", "taints: [{effect: NoSchedule}]", "spec.template.spec.taints[0].key", "missing",
         "the key of a taint"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        struct pool pool;
        struct complaint complaint = {0};
        struct text document = arena_printf(
            arena,
            "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p}, spec: {template: "
            "{spec: {%s}}%s%s}}",
            cases[i].template, cases[i].spec[0] == '\0' ? "" : ", ", cases[i].spec);
        struct text message = cases[i].path[0] == '\0'
                                  ? TEXT("")
                                  : arena_printf(arena, "%s is %s; it must be %s", cases[i].path,
                                                 cases[i].found, cases[i].allowed);
        CU_ASSERT_FATAL(pool_read(fixture_object(arena, document.data, ""), arena, &pool));
        pool_check(&pool, arena, &complaint);
        ASSERT_TEXT(complaint.message, message.data);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "kube complaints";
const struct unit_test unit_tests[] = {
    {"the first mistake is told", the_first_mistake_is_told},
    {"of a NodePool, too", of_a_node_pool_too},
    {NULL, NULL},
};
