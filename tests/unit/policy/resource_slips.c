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
        /* ten CPUs beside next to no memory; whoever counts in whole CPUs means them */
        {CONTAINER("requests: {cpu: 10240m, memory: 512Mi}"), "warn " AT "requests.cpu 10240m"},
        {CONTAINER("requests: {cpu: 10000m, memory: 1279Mi}"), "warn " AT "requests.cpu 10000m"},
        {CONTAINER("requests: {cpu: 10000m, memory: 1280Mi}"), ""},
        {CONTAINER("requests: {cpu: 9990m, memory: 16Mi}"), ""},
        {CONTAINER("requests: {cpu: 10241m, memory: 512Mi}"), ""},
        {CONTAINER("requests: {cpu: 10, memory: 512Mi}"), ""},
        {CONTAINER("requests: {cpu: 10240m}, limits: {memory: 512Mi}"), ""},
    };
    rail_table_run(&(struct rail_table){"resource-requests: {}", NULL, cases, COUNT_OF(cases)});
    /* once is enough */
    static const struct rail_case above[] = {
        {CONTAINER("requests: {cpu: 500M, memory: 1Gi}"), "deny " AT "requests.cpu 500M"},
        {CONTAINER("requests: {cpu: 10240m, memory: 1Gi}"), "deny " AT "requests.cpu 10240m"},
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
        {MEMORY("512m"), "\"512m\" is less than one byte. The unit m is a thousandth.",
         "Write 512Mi."},
        {MEMORY("5m"), "\"5m\" is less than one byte. The unit m is a thousandth.", "Write 5Mi."},
        {MEMORY("1"), "\"1\" is 1 byte, and no container runs in that.", "Write 1Gi."},
        {MEMORY("1500m"), "\"1500m\" is 1 byte, and no container runs in that.", "Write 1500Mi."},
        {MEMORY("99999m"), "\"99999m\" is 99 bytes, and no container runs in that.",
         "Write 99999Mi."},
        {MEMORY("100000m"), "\"100000m\" is 100 bytes, and no container runs in that.",
         "Write megabytes or more, as in 512Mi."},
        {MEMORY("1.5m"), "\"1.5m\" is less than one byte.",
         "Write megabytes or more, as in 512Mi."},
        {MEMORY("0.5"), "\"0.5\" is less than one byte.", "Write megabytes or more, as in 512Mi."},
        {MEMORY("256"), "\"256\" is 256 bytes, and no container runs in that.", "Write 256Mi."},
        {MEMORY("262144"), "\"262144\" is 262144 bytes, and no container runs in that.",
         "Give it a unit, as in 512Mi."},
        {MEMORY("64Ki"), "\"64Ki\" is 65536 bytes, and no container runs in that.",
         "Write megabytes or more, as in 512Mi."},
        {CONTAINER("requests: {cpu: 500M, memory: 1Gi}"),
         "\"500M\" is more CPUs than any machine has. The unit M is a million.", "Write 500m."},
        {CONTAINER("requests: {cpu: 5M, memory: 1Gi}"),
         "\"5M\" is more CPUs than any machine has. The unit M is a million.", "Write 5m."},
        {CONTAINER("requests: {cpu: 500Mi, memory: 1Gi}"),
         "\"500Mi\" is more CPUs than any machine has.",
         "Write a number of CPUs, as in 250m or 2."},
        {CONTAINER("requests: {cpu: '1e9', memory: 1Gi}"),
         "\"1e9\" is more CPUs than any machine has.", "Write a number of CPUs, as in 250m or 2."},
        {CONTAINER("requests: {cpu: 10240m, memory: 512Mi}"),
         "\"10240m\" is 10.24 CPUs, beside only 512Mi of memory.", "Write 1024m if that is meant."},
    };
    rail_words_run("resource-requests: {}", NULL, rows, COUNT_OF(rows));
}

#define IN_MEMORY(size) "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: " size "}}]"
#define MOUNTS(memory) \
    "volumeMounts: [{name: shm}, {name: shm}], resources: {limits: {memory: " memory "}}"
#define SIZE_LIMIT "spec.volumes[0].emptyDir.sizeLimit "

static void volumes_in_memory_are_held_to_the_limits(void)
{
    static const struct rail_case cases[] = {
        {POD(IN_MEMORY("8Gi") ", containers: [{name: a, " MOUNTS("4Gi") "}]"),
         "warn " SIZE_LIMIT "8Gi"},
        {POD(IN_MEMORY("4Gi") ", containers: [{name: a, " MOUNTS("4Gi") "}]"), ""},
        /* each container that mounts it may fill its part */
        {POD(IN_MEMORY("8Gi") ", containers: [{name: a, " MOUNTS("4Gi") "}, {name: b, " MOUNTS(
             "4Gi") "}]"),
         ""},
        {POD(IN_MEMORY("9Gi") ", containers: [{name: a, " MOUNTS("4Gi") "}, {name: b, " MOUNTS(
             "4Gi") "}]"),
         "warn " SIZE_LIMIT "9Gi"},
        /* the pod's limit is above theirs */
        {POD("resources: {limits: {memory: 6Gi}}, " IN_MEMORY(
             "8Gi") ", containers: [{name: a, volumeMounts: [{name: shm}]}]"),
         "warn " SIZE_LIMIT "8Gi"},
        /* without a limit there are no bounds; a volume that is not mounted, or is on disk */
        {POD(IN_MEMORY("8Gi") ", containers: [{name: a, volumeMounts: [{name: shm}]}, {name: "
                              "b, " MOUNTS("4Gi") "}]"),
         ""},
        {POD(IN_MEMORY("8Gi") ", containers: [{name: a, resources: {limits: {memory: 4Gi}}}]"), ""},
        {POD("volumes: [{name: shm, emptyDir: {sizeLimit: 8Gi}}], containers: [{name: a, " MOUNTS(
             "4Gi") "}]"),
         ""},
        /* one on disk beside one in memory */
        {POD("volumes: [{name: disk, emptyDir: {sizeLimit: 20Gi}}, {name: shm, emptyDir: {medium: "
             "Memory, sizeLimit: 8Gi}}], containers: [{name: a, volumeMounts: [{name: disk}, "
             "{name: "
             "shm}], resources: {limits: {memory: 4Gi}}}]"),
         "warn spec.volumes[1].emptyDir.sizeLimit 8Gi"},
        {POD(IN_MEMORY("x") ", containers: [{name: a, " MOUNTS("4Gi") "}]"), ""},
        {POD(IN_MEMORY("8Gi") ", containers: [{name: a, " MOUNTS("x") "}]"),
         "deny spec.containers[0].resources.limits.memory x"},
    };
    rail_table_run(
        &(struct rail_table){"resource-requests: {require: []}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {POD(IN_MEMORY("8Gi") ", containers: [{name: a, " MOUNTS("1500M") "}]"),
         "This emptyDir may hold 8Gi in memory, but its containers are limited to 1500M. What they "
         "write there counts as their memory, and they are killed above it.",
         "Set sizeLimit below 1500M, or raise limits.memory."},
    };
    rail_words_run("resource-requests: {require: []}", NULL, words, COUNT_OF(words));
}

const char unit_suite[] = "policy resource-requests: slips";
const struct unit_test unit_tests[] = {
    {"what nobody means is found", what_nobody_means_is_found},
    {"it says what was meant", it_says_what_was_meant},
    {"volumes in memory are held to the limits", volumes_in_memory_are_held_to_the_limits},
    {NULL, NULL},
};
