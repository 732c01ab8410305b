/* The rail resource-requests: quantities that Kubernetes reads otherwise than they are meant. */
#include "rail_modes.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" spec "}}"
#define CONTAINER(resources) POD("containers: [{name: app, resources: {" resources "}}]")
#define AT "spec.containers[0].resources."

static void what_nobody_means_is_found(void)
{
    static const struct rail_case cases[] = {
        {CONTAINER("requests: {cpu: 1, memory: 512m}"), "deny " AT "requests.memory 512m"},
        {CONTAINER("requests: {cpu: 1, memory: '512'}"), "deny " AT "requests.memory 512"},
        {CONTAINER("requests: {cpu: 1, memory: 512}"), "deny " AT "requests.memory 512"},
        {CONTAINER("requests: {cpu: 1, memory: 1}"), "deny " AT "requests.memory 1"},
        {CONTAINER("requests: {cpu: 1, memory: 0.5}"), "deny " AT "requests.memory 0.5"},
        {CONTAINER("requests: {cpu: 1, memory: 128Mi}, limits: {memory: 256m}"),
         "deny " AT "limits.memory 256m"},
        {CONTAINER("limits: {cpu: 1, memory: 256m}"), "deny " AT "limits.memory 256m"},
        {CONTAINER("requests: {cpu: 1, memory: 1Gi, ephemeral-storage: 100m}, limits: "
                   "{ephemeral-storage: 999999}"),
         "deny " AT "limits.ephemeral-storage 999999\n"
         "deny " AT "requests.ephemeral-storage 100m"},
        {POD("containers: [{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}], initContainers: "
             "[{name: b, resources: {limits: {cpu: 1, memory: 5m}}}]"),
         "deny spec.initContainers[0].resources.limits.memory 5m"},
        /* with a unit it may be meant */
        {CONTAINER("requests: {cpu: 1, memory: 64Ki}"), "warn " AT "requests.memory 64Ki"},
        {CONTAINER("requests: {cpu: 1, memory: 999k}"), "warn " AT "requests.memory 999k"},
        {CONTAINER("requests: {cpu: 1, memory: '1e3'}"), "warn " AT "requests.memory 1e3"},
        {CONTAINER("requests: {cpu: 1, memory: 1M, ephemeral-storage: 1Mi}"), ""},
        {CONTAINER("requests: {cpu: 1, memory: '1000000'}"), ""},
        /* as autoscalers write it: a fraction of a byte, but many bytes before it */
        {CONTAINER("requests: {cpu: 1, memory: 3758096384m}"), ""},
        {CONTAINER("requests: {cpu: 1, memory: 999999999m}"),
         "deny " AT "requests.memory 999999999m"},
        {CONTAINER("requests: {cpu: 1, memory: 1000000000m}"), ""},
        /* other resources are counted, not weighed */
        {CONTAINER("requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: 1}"), ""},
        {CONTAINER("requests: {cpu: 1m, memory: 1Gi}"), ""},
        {CONTAINER("requests: {cpu: 500M, memory: 1Gi}"), "deny " AT "requests.cpu 500M"},
        {CONTAINER("requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 500Mi}"),
         "deny " AT "limits.cpu 500Mi"},
        {CONTAINER("requests: {cpu: 1000000, memory: 1Gi}"), "deny " AT "requests.cpu 1000000"},
        {CONTAINER("requests: {cpu: 999999, memory: 1Gi}"), ""},
    };
    rail_table_run(&(struct rail_table){"resource-requests: {}", NULL, cases, COUNT_OF(cases)});
    /* once is enough */
    static const struct rail_case above[] = {
        {CONTAINER("requests: {cpu: 500M, memory: 1Gi}"), "deny " AT "requests.cpu 500M"},
    };
    rail_table_run(&(struct rail_table){"resource-requests: {max: {cpu: 4}}", NULL, above, 1});
    static const struct rail_case resized[] = {
        {CONTAINER("requests: {memory: 512m}"), "deny " AT "requests.memory 512m"}};
    rail_table_run(&(struct rail_table){"resource-requests: {require: []}", NULL, resized, 1});
}

static void it_says_what_was_meant(void)
{
#define MEMORY(quantity) CONTAINER("requests: {cpu: 1, memory: " quantity "}")
    static const struct rail_words rows[] = {
        {MEMORY("512m"), "found \"512m\", less than one byte: m is a thousandth", "write 512Mi"},
        {MEMORY("5m"), "found \"5m\", less than one byte: m is a thousandth", "write 5Mi"},
        {MEMORY("1"), "found \"1\", which is 1 byte: no container runs in that",
         "give it a unit, as in 1Mi"},
        {MEMORY("1500m"), "found \"1500m\", which is 1 byte: no container runs in that",
         "write 1500Mi"},
        {MEMORY("99999m"), "found \"99999m\", which is 99 bytes: no container runs in that",
         "write 99999Mi"},
        {MEMORY("100000m"), "found \"100000m\", which is 100 bytes: no container runs in that",
         "give it a unit, as in 512Mi"},
        {MEMORY("0.5"), "found \"0.5\", less than one byte", "give it a unit, as in 512Mi"},
        {MEMORY("256"), "found \"256\", which is 256 bytes: no container runs in that",
         "give it a unit, as in 256Mi"},
        {MEMORY("262144"), "found \"262144\", which is 262144 bytes: no container runs in that",
         "give it a unit, as in 512Mi"},
        {MEMORY("64Ki"), "found \"64Ki\", which is 65536 bytes: no container runs in that",
         "give it a unit, as in 512Mi"},
        {CONTAINER("requests: {cpu: 500M, memory: 1Gi}"),
         "found \"500M\", more CPUs than any machine has: M is a million", "write 500m"},
        {CONTAINER("requests: {cpu: 5M, memory: 1Gi}"),
         "found \"5M\", more CPUs than any machine has: M is a million", "write 5m"},
        {CONTAINER("requests: {cpu: 500Mi, memory: 1Gi}"),
         "found \"500Mi\", more CPUs than any machine has",
         "write a number of CPUs, as in 250m or 2"},
        {CONTAINER("requests: {cpu: '1e9', memory: 1Gi}"),
         "found \"1e9\", more CPUs than any machine has",
         "write a number of CPUs, as in 250m or 2"},
    };
    rail_words_run("resource-requests: {}", NULL, rows, COUNT_OF(rows));
}

const char unit_suite[] = "policy resource-requests: slips";
const struct unit_test unit_tests[] = {
    {"what nobody means is found", what_nobody_means_is_found},
    {"it says what was meant", it_says_what_was_meant},
    {NULL, NULL},
};
