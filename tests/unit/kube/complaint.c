/* What the API server would refuse of how a pod chooses its node. */
#include "kube/complaint.h"
#include "kube/pod.h"
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

const char unit_suite[] = "kube complaints";
const struct unit_test unit_tests[] = {
    {"the first mistake is told", the_first_mistake_is_told},
    {NULL, NULL},
};
