/* Measures a live cluster: 10,000 Pods, 1,000 Nodes, 5,000 claims and volumes, as an API server
 * sends them. Prints memory, and times of changes and versions.
 *
 * usage: bench_live [--events]
 *
 * --events: only the events of a tenth of that are put, and the last line is how many they were. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kube/object.h"
#include "live/store.h"
#include "live/stored.h"

enum {
    PODS = 10000,
    NODES = 1000,
    CLAIMS = 5000,
    REPLICA_SETS = 2500,
    REPLICAS = 20,
    ROUNDS = 2000
};

/* ---- objects, with the fields nobody reads ---- */

#define UID(kind) "\"uid\":\"" kind "%07zu-6f1c-4a6e-9d0b-3c2f5e8a7b61\","
#define CREATED "\"creationTimestamp\":\"2026-11-02T10:00:00Z\",\"resourceVersion\":\"%zu\","
#define MANAGED                                                                                    \
    "\"managedFields\":[{\"manager\":\"kube-controller-manager\",\"operation\":\"Update\","        \
    "\"apiVersion\":\"v1\",\"time\":\"2026-11-02T10:00:00Z\",\"fieldsType\":\"FieldsV1\","         \
    "\"fieldsV1\":{\"f:metadata\":{\"f:generateName\":{},\"f:labels\":{\".\":{},\"f:app\":{},"     \
    "\"f:pod-template-hash\":{}},\"f:ownerReferences\":{\".\":{},\"k:{\\\"uid\\\":\\\"x\\\"}\":{}" \
    "}},\"f:spec\":{\"f:containers\":{\"k:{\\\"name\\\":\\\"main\\\"}\":{\".\":{},\"f:env\":{},"   \
    "\"f:image\":{},\"f:ports\":{},\"f:resources\":{}}},\"f:dnsPolicy\":{},"                       \
    "\"f:restartPolicy\":{}}}},{\"manager\":\"kubelet\",\"operation\":\"Update\",\"apiVersion\":"  \
    "\"v1\",\"time\":\"2026-11-02T10:00:09Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{"          \
    "\"f:status\":{\"f:conditions\":{\"k:{\\\"type\\\":\\\"Ready\\\"}\":{}},\"f:phase\":{}}},"     \
    "\"subresource\":\"status\"}]"
#define CONDITION(type)                                                                           \
    "{\"type\":\"" type "\",\"status\":\"True\",\"observedGeneration\":1,\"lastProbeTime\":null," \
    "\"lastTransitionTime\":\"2026-11-02T10:00:09Z\"}"
#define CONTAINER(name)                                                                            \
    "{\"name\":\"" name                                                                            \
    "\",\"image\":\"registry.example.com/team/app:1.42.0\",\"args\":[\"serve\","                   \
    "\"--port=8080\"],\"env\":[{\"name\":\"LOG_LEVEL\",\"value\":\"info\"},{\"name\":\"POD_"       \
    "NAME\","                                                                                      \
    "\"valueFrom\":{\"fieldRef\":{\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.name\"}}},{"      \
    "\"name\":\"DATABASE_URL\",\"valueFrom\":{\"secretKeyRef\":{\"key\":\"url\",\"name\":"         \
    "\"database\"}}}],\"ports\":[{\"containerPort\":8080,\"name\":\"http\",\"protocol\":\"TCP\"}]" \
    ","                                                                                            \
    "\"livenessProbe\":{\"httpGet\":{\"path\":\"/live\",\"port\":\"http\",\"scheme\":\"HTTP\"},"   \
    "\"failureThreshold\":3,\"periodSeconds\":10,\"successThreshold\":1,\"timeoutSeconds\":1},"    \
    "\"readinessProbe\":{\"httpGet\":{\"path\":\"/ready\",\"port\":\"http\",\"scheme\":\"HTTP\"}," \
    "\"failureThreshold\":3,\"periodSeconds\":10,\"successThreshold\":1,\"timeoutSeconds\":1},"    \
    "\"resources\":{\"requests\":{\"cpu\":\"250m\",\"memory\":\"512Mi\"},\"limits\":{\"memory\":"  \
    "\"512Mi\"}},\"securityContext\":{\"allowPrivilegeEscalation\":false,\"capabilities\":{"       \
    "\"drop\":[\"ALL\"]}},\"terminationMessagePath\":\"/dev/termination-log\","                    \
    "\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"IfNotPresent\",\"volumeMounts\":" \
    "["                                                                                            \
    "{\"mountPath\":\"/data\",\"name\":\"data\"},{\"mountPath\":"                                  \
    "\"/var/run/secrets/kubernetes.io/serviceaccount\",\"name\":\"kube-api-access\",\"readOnly\":" \
    "true}]}"
#define CONTAINER_STATUS(name)                                                                     \
    "{\"name\":\"" name "\",\"ready\":true,\"restartCount\":0,\"started\":true,\"image\":"         \
    "\"registry.example.com/team/app:1.42.0\",\"imageID\":\"registry.example.com/team/app@sha256:" \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\",\"containerID\":"          \
    "\"containerd://0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\","           \
    "\"state\":{\"running\":{\"startedAt\":\"2026-11-02T10:00:09Z\"}},\"lastState\":{},"           \
    "\"allocatedResources\":{\"cpu\":\"250m\",\"memory\":\"512Mi\"},\"resources\":{\"requests\":{" \
    "\"cpu\":\"250m\",\"memory\":\"512Mi\"},\"limits\":{\"memory\":\"512Mi\"}}}"
#define TOLERATION(key)                        \
    "{\"effect\":\"NoExecute\",\"key\":\"" key \
    "\",\"operator\":\"Exists\",\"tolerationSeconds\":300}"

/* The first half mount a claim. */
static struct text pod_json(struct arena *arena, size_t number, size_t version)
{
    size_t group = number / REPLICAS;
    struct text claim =
        number < CLAIMS
            ? arena_printf(arena,
                           "{\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":"
                           "\"data-web-%zu-%zu\"}}",
                           group, number % REPLICAS)
            : TEXT("{\"name\":\"data\",\"emptyDir\":{}}");
    struct text head = arena_printf(
        arena,
        "{\"metadata\":{\"name\":\"web-%zu-%zu\",\"generateName\":\"web-%zu-\",\"namespace\":"
        "\"team-%zu\"," UID("a") CREATED
        "\"labels\":{\"app.kubernetes.io/name\":\"web-%zu\",\"app.kubernetes.io/instance\":"
        "\"web-%zu\",\"app.kubernetes.io/version\":\"1.42.0\",\"team\":\"team-%zu\","
        "\"pod-template-hash\":\"7d9f8c6b5%zu\"},\"annotations\":{\"prometheus.io/scrape\":"
        "\"true\",\"checksum/config\":"
        "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\",\"revision\":"
        "\"%zu\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"%s\",\"name\":"
        "\"web-%zu\"," UID("b") "\"controller\":true,\"blockOwnerDeletion\":true}]," MANAGED "},",
        group, number % REPLICAS, group, group % 50, number, version, group, group, group % 50,
        group % 10, version, number < CLAIMS ? "StatefulSet" : "ReplicaSet", group, group);
    return arena_printf(
        arena,
        "%.*s\"spec\":{\"containers\":[" CONTAINER("main") "," CONTAINER(
            "proxy") "],\"dnsPolicy\":\"ClusterFirst\",\"nodeName\":\"ip-10-0-%zu-%zu.eu-west-1."
                     "compute.internal\",\"restartPolicy\":\"Always\",\"schedulerName\":"
                     "\"default-scheduler\",\"serviceAccountName\":\"app\",\"enableServiceLinks\":"
                     "true,\"preemptionPolicy\":\"PreemptLowerPriority\",\"priority\":0,"
                     "\"tolerations\":[" TOLERATION("node.kubernetes.io/not-ready") "," TOLERATION(
                         "node.kubernetes.io/unreachable") "],\"topologySpreadConstraints\":[{"
                                                           "\"maxSkew\":1,\"topologyKey\":"
                                                           "\"topology.kubernetes.io/zone\","
                                                           "\"whenUnsatisfiable\":"
                                                           "\"ScheduleAnyway\","
                                                           "\"labelSelector\":{\"matchLabels\":{"
                                                           "\"app.kubernetes.io/name\":"
                                                           "\"web-%zu\"}}}],\"volumes\":[%.*s,{"
                                                           "\"name\":\"kube-api-access-%05zu\","
                                                           "\"projected\":{\"defaultMode\":420}}]},"
                                                           "\"status\":{\"phase\":\"Running\","
                                                           "\"qosClass\":\"Burstable\",\"hostIP\":"
                                                           "\"10.0.0.1\","
                                                           "\"podIP\":\"10.1.0.1\",\"startTime\":"
                                                           "\"2026-11-02T10:00:00Z\","
                                                           "\"conditions\":[" CONDITION(
                                                               "PodReadyTo"
                                                               "StartConta"
                                                               "iners") "," CONDITION("Initialized") "," CONDITION("Ready") "," CONDITION("ContainersReady") "," CONDITION("PodScheduled") "],"
                                                                                                                                                                                           "\"containerStatuses"
                                                                                                                                                                                           "\":"
                                                                                                                                                                                           "[" CONTAINER_STATUS("main") "," CONTAINER_STATUS(
                                                                                                                                                                                               "proxy") "]}}",
        TEXT_ARGS(head), number % NODES / 250, number % 250, group, TEXT_ARGS(claim), number);
}

static struct text node_document(struct arena *arena, size_t number, size_t version)
{
    struct text images = TEXT("");
    for (int i = 0; i < 20; i++)
        images = arena_printf(arena,
                              "%.*s%s{\"names\":[\"registry.example.com/team/app-%d@sha256:"
                              "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"],"
                              "\"sizeBytes\":123456789}",
                              TEXT_ARGS(images), i == 0 ? "" : ",", i);
    return arena_printf(
        arena,
        "{\"metadata\":{\"name\":\"ip-10-0-%zu-%zu.eu-west-1.compute.internal\"," UID("c") CREATED
        "\"labels\":{\"beta.kubernetes.io/arch\":\"amd64\",\"beta.kubernetes.io/instance-type\":"
        "\"m5.4xlarge\",\"beta.kubernetes.io/os\":\"linux\",\"failure-domain.beta.kubernetes.io/"
        "region\":\"eu-west-1\",\"failure-domain.beta.kubernetes.io/zone\":\"eu-west-1%c\","
        "\"k8s.io/cloud-provider-aws\":\"0123456789abcdef0123456789abcdef\","
        "\"karpenter.k8s.aws/instance-category\":\"m\",\"karpenter.k8s.aws/instance-cpu\":\"16\","
        "\"karpenter.k8s.aws/instance-cpu-manufacturer\":\"intel\","
        "\"karpenter.k8s.aws/instance-ebs-bandwidth\":\"4750\","
        "\"karpenter.k8s.aws/instance-encryption-in-transit-supported\":\"false\","
        "\"karpenter.k8s.aws/instance-family\":\"m5\",\"karpenter.k8s.aws/instance-generation\":"
        "\"5\",\"karpenter.k8s.aws/instance-hypervisor\":\"nitro\","
        "\"karpenter.k8s.aws/instance-memory\":\"65536\",\"karpenter.k8s.aws/instance-size\":"
        "\"4xlarge\",\"karpenter.sh/capacity-type\":\"on-demand\",\"karpenter.sh/initialized\":"
        "\"true\",\"karpenter.sh/nodepool\":\"general\",\"karpenter.sh/registered\":\"true\","
        "\"kubernetes.io/arch\":\"amd64\",\"kubernetes.io/hostname\":\"ip-10-0-%zu-%zu.eu-west-1."
        "compute.internal\",\"kubernetes.io/os\":\"linux\",\"node.kubernetes.io/instance-type\":"
        "\"m5.4xlarge\",\"topology.ebs.csi.aws.com/zone\":\"eu-west-1%c\","
        "\"topology.k8s.aws/zone-id\":\"euw1-az%zu\",\"topology.kubernetes.io/region\":"
        "\"eu-west-1\",\"topology.kubernetes.io/zone\":\"eu-west-1%c\"}," MANAGED
        "},\"spec\":{\"providerID\":\"aws:///eu-west-1a/i-%017zu\"},\"status\":{\"capacity\":{"
        "\"cpu\":\"16\",\"ephemeral-storage\":\"83873772Ki\",\"hugepages-1Gi\":\"0\","
        "\"hugepages-2Mi\":\"0\",\"memory\":\"64028052Ki\",\"pods\":\"234\"},\"allocatable\":{"
        "\"cpu\":\"15890m\",\"ephemeral-storage\":\"76224326324\",\"hugepages-1Gi\":\"0\","
        "\"hugepages-2Mi\":\"0\",\"memory\":\"61011348Ki\",\"pods\":\"234\"},\"conditions\":"
        "[" CONDITION("MemoryPressure") "," CONDITION("DiskPressure") "," CONDITION(
            "PIDPressure") "," CONDITION("Ready") "],\"nodeInfo\":{\"kernelVersion\":\"6.1.0\","
                                                  "\"osImage\":\"Linux\"},"
                                                  "\"images\":[%.*s]}}",
        number / 250, number % 250, number, version, (char)('a' + number % 3), number / 250,
        number % 250, (char)('a' + number % 3), number % 3, (char)('a' + number % 3), number,
        TEXT_ARGS(images));
}

static struct text claim_json(struct arena *arena, size_t number, size_t version)
{
    return arena_printf(
        arena,
        "{\"metadata\":{\"name\":\"data-web-%zu-%zu\",\"namespace\":\"team-%zu\"," UID("d") CREATED
        "\"labels\":{\"app.kubernetes.io/name\":\"web-%zu\"},\"annotations\":{"
        "\"pv.kubernetes.io/bind-completed\":\"yes\",\"pv.kubernetes.io/bound-by-controller\":"
        "\"yes\",\"volume.beta.kubernetes.io/storage-provisioner\":\"ebs.csi.aws.com\","
        "\"volume.kubernetes.io/selected-node\":\"ip-10-0-%zu-%zu.eu-west-1.compute.internal\","
        "\"volume.kubernetes.io/storage-provisioner\":\"ebs.csi.aws.com\"},\"finalizers\":["
        "\"kubernetes.io/pvc-protection\"]," MANAGED
        "},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":"
        "\"20Gi\"}},\"storageClassName\":\"gp3\",\"volumeMode\":\"Filesystem\",\"volumeName\":"
        "\"pvc-d%07zu-6f1c-4a6e-9d0b-3c2f5e8a7b61\"},\"status\":{\"accessModes\":["
        "\"ReadWriteOnce\"],\"capacity\":{\"storage\":\"20Gi\"},\"phase\":\"Bound\"}}",
        number / REPLICAS, number % REPLICAS, number / REPLICAS % 50, number, version,
        number / REPLICAS, number % NODES / 250, number % 250, number);
}

static struct text volume_json(struct arena *arena, size_t number, size_t version)
{
    return arena_printf(
        arena,
        "{\"metadata\":{\"name\":\"pvc-d%07zu-6f1c-4a6e-9d0b-3c2f5e8a7b61\"," UID("e") CREATED
        "\"annotations\":{\"pv.kubernetes.io/provisioned-by\":\"ebs.csi.aws.com\"},"
        "\"finalizers\":[\"external-provisioner.volume.kubernetes.io/finalizer\","
        "\"kubernetes.io/pv-protection\"]," MANAGED
        "},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"capacity\":{\"storage\":\"20Gi\"},"
        "\"claimRef\":{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"name\":"
        "\"data-web-%zu-%zu\",\"namespace\":\"team-%zu\",\"resourceVersion\":\"1\"," UID(
            "d") "\"x\":null},\"csi\":{\"driver\":\"ebs.csi.aws.com\",\"fsType\":\"ext4\","
                 "\"volumeAttributes\":{\"storage.kubernetes.io/csiProvisionerIdentity\":\"1\"},"
                 "\"volumeHandle\":\"vol-%017zu\"},\"nodeAffinity\":{\"required\":{"
                 "\"nodeSelectorTerms\":[{"
                 "\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/"
                 "zone\",\"operator\":\"In\","
                 "\"values\":[\"eu-west-1%c\"]}]}]}},\"persistentVolumeReclaimPolicy\":\"Delete\","
                 "\"storageClassName\":\"gp3\",\"volumeMode\":\"Filesystem\"},\"status\":{"
                 "\"phase\":"
                 "\"Bound\"}}",
        number, number, version, number / REPLICAS, number % REPLICAS, number / REPLICAS % 50,
        number, number, (char)('a' + number % 3));
}

/* Deployments keep ten old ReplicaSets. */
static struct text replica_set_json(struct arena *arena, size_t number, size_t version)
{
    size_t group = number / 10;
    return arena_printf(
        arena,
        "{\"metadata\":{\"name\":\"web-%zu-7d9f8c%zu\",\"namespace\":\"team-%zu\"," UID("f") CREATED
        "\"labels\":{\"app.kubernetes.io/name\":\"web-%zu\",\"pod-template-hash\":\"7d9f8c%zu\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":"
        "\"web-%zu\"," UID(
            "g") "\"controller\":true,\"blockOwnerDeletion\":true}]," MANAGED
                 "},\"spec\":{\"replicas\":0,\"selector\":{\"matchLabels\":{\"app.kubernetes.io/"
                 "name\":"
                 "\"web-%zu\",\"pod-template-hash\":\"7d9f8c%zu\"}},\"template\":{\"metadata\":{"
                 "\"labels\":{"
                 "\"app.kubernetes.io/"
                 "name\":\"web-%zu\",\"pod-template-hash\":\"7d9f8c%zu\"}},\"spec\":{"
                 "\"containers\":[" CONTAINER("main") "," CONTAINER(
                     "proxy") "]}}},\"status\":{\"replicas\":0}}",
        group, number % 10, group % 50, number, version, group, number % 10, group, group, group,
        number % 10, group, number % 10);
}

static const struct {
    enum kind kind;
    const char *api_version;
    size_t count;
    struct text (*json)(struct arena *arena, size_t number, size_t version);
} made[] = {
    {KIND_POD, "v1", PODS, pod_json},
    {KIND_NODE, "v1", NODES, node_document},
    {KIND_PERSISTENT_VOLUME_CLAIM, "v1", CLAIMS, claim_json},
    {KIND_PERSISTENT_VOLUME, "v1", CLAIMS, volume_json},
    {KIND_REPLICA_SET, "apps/v1", REPLICA_SETS, replica_set_json},
};
enum { MADE = sizeof made / sizeof *made };

/* ---- measuring ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t resident_kib(void)
{
    size_t total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%zu %zu", &total, &resident) != 2)
        abort();
    fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static size_t read_object(size_t which, size_t number, size_t version, struct arena *arena,
                          struct object *object)
{
    struct source source = {.text = made[which].json(arena, number, version)};
    const struct doc_choice choice = transform_choice(made[which].kind);
    struct doc_limits limits = doc_limits_review;
    limits.choice = &choice;
    const struct node *root = NULL;
    struct error error = {0};
    if (!doc_read_json(&source, &limits, NULL, arena, &root, &error))
        abort();
    struct member members[] = {
        member_of(TEXT("apiVersion"), node_of_text(text_of(made[which].api_version))),
        member_of(TEXT("kind"), node_of_text(text_of(kind_table[made[which].kind].name))),
        member_of(TEXT("metadata"), *node_get(root, "metadata")),
        member_of(TEXT("spec"), *node_get(root, "spec")),
        member_of(TEXT("status"), node_get(root, "status") == NULL ? node_of_members(NULL, 0)
                                                                   : *node_get(root, "status"))};
    struct member *copy = ARENA_ARRAY(arena, 5, struct member);
    memcpy(copy, members, sizeof members);
    if (!object_read(node_keep(arena, node_of_members(copy, 5)), NULL, TEXT(""), arena, object,
                     &error))
        abort();
    return source.text.size;
}

static size_t put(struct store *store, size_t which, size_t number, size_t version,
                  struct arena *arena)
{
    struct object object;
    arena_reset(arena);
    size_t size = read_object(which, number, version, arena, &object);
    if (!store_put(store, &object))
        abort();
    return size;
}

static const struct snapshot *step(struct store *store, const struct snapshot *before)
{
    struct store_changes changes;
    const struct snapshot *snapshot = store_version(store, &changes);
    if (snapshot == NULL)
        abort();
    if (before != NULL)
        store_release(store, before);
    return snapshot;
}

/* Of a Pod as it is put to be another one. */
static void relabel(struct object *object, size_t number, struct arena *arena)
{
    object->uid = arena_printf(arena, "%zu", number);
}

/* Versions of so many changes each. */
static void measure_versions(struct store *store, const struct snapshot **last, size_t changes,
                             struct arena *arena)
{
    static double puts[ROUNDS], versions[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        struct object objects[100];
        arena_reset(arena);
        for (size_t j = 0; j < changes; j++) {
            read_object(0, (i * 37 + j * 101) % PODS, i, arena, &objects[j]);
            relabel(&objects[j], i, arena);
        }
        double begin = seconds();
        for (size_t j = 0; j < changes; j++)
            if (!store_put(store, &objects[j]))
                abort();
        double middle = seconds();
        *last = step(store, *last);
        puts[i] = (middle - begin) / (double)changes;
        versions[i] = seconds() - middle;
    }
    qsort(puts, ROUNDS, sizeof *puts, compare_times);
    qsort(versions, ROUNDS, sizeof *versions, compare_times);
    double all = puts[ROUNDS / 2] * (double)changes + versions[ROUNDS / 2];
    printf("%3zu changes: put %.1f us each, version %.0f us (p50) %.0f us (p99), %.0f events/s\n",
           changes, puts[ROUNDS / 2] * 1e6, versions[ROUNDS / 2] * 1e6,
           versions[ROUNDS * 99 / 100] * 1e6, (double)changes / all);
}

int main(int argc, char **argv)
{
    bool only_events = argc == 2 && strcmp(argv[1], "--events") == 0;
    size_t events = 0, part = only_events ? 10 : 1;
    struct arena *arena = arena_create((size_t)64 << 20);
    struct store *store = store_create();
    if (arena == NULL || store == NULL)
        abort();
    put(store, 0, 0, 0, arena); /* what is there before counts as none */
    const struct snapshot *last = step(store, NULL);
    malloc_trim(0);
    size_t before_kib = resident_kib(), json_bytes = 0, stored_bytes = 0;
    for (size_t which = 0; which < MADE; which++) {
        size_t size = 0;
        for (size_t i = 0; i < made[which].count / part; i++, events++)
            size += put(store, which, i, 1, arena);
        size_t kept = store_bytes(store, made[which].kind);
        printf("%-22s %5zu of %5zu bytes, kept %5zu\n", kind_table[made[which].kind].name,
               made[which].count, size / made[which].count, kept / made[which].count);
        json_bytes += size;
        stored_bytes += kept;
    }
    last = step(store, last);
    printf("JSON %.1f MiB, kept %.1f MiB, resident %.1f MiB more\n", (double)json_bytes / 1048576,
           (double)stored_bytes / 1048576, (double)(resident_kib() - before_kib) / 1024);

    double begin = seconds();
    for (size_t i = 0; i < PODS / part; i++, events++)
        put(store, 0, i, 2, arena);
    double all = seconds() - begin;
    printf("status that nobody reads: %.1f us an event with its JSON, %s\n", all / PODS * 1e6,
           store_has_changed(store) ? "A CHANGE" : "no change");
    if (only_events) {
        printf("%zu\n", events);
    } else {
        measure_versions(store, &last, 1, arena);
        measure_versions(store, &last, 5, arena);
        measure_versions(store, &last, 100, arena);
        printf("after that %.1f MiB more\n", (double)(resident_kib() - before_kib) / 1024);
    }
    store_release(store, last);
    store_destroy(store);
    arena_destroy(arena);
    return 0;
}
