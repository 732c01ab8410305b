/* What zone pins cost with 10,000 pods, 1,000 nodes, 100 StatefulSets and 5,000 claims
 * (pin_cluster.c). "warm": from an event to the offers of the next version, in CPU time of the
 * thread, and memory. "review": what the rail adds to a review of a pod by /mutate, in CPU time of
 * the thread. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "pin_cluster.h"
#include "pinning/warm.h"
#include "server/server.h"

static int compare_numbers(const void *a_pointer, const void *b_pointer)
{
    double a = *(const double *)a_pointer;
    double b = *(const double *)b_pointer;
    return a < b ? -1 : a > b;
}

static double cpu_micros(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double rss_mib(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;
    if (file == NULL || fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return (double)pages * 4096 / (1 << 20);
}

static void fail(const char *what, const struct error *error)
{
    fprintf(stderr, "bench_pin: %s: %s\n", what, error == NULL ? "" : error->what);
    exit(1);
}

static void read_object(struct text json, struct arena *arena, struct object *object)
{
    struct source source = {.text = json};
    const struct node *root = NULL;
    struct error error = {0};
    if (!doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error) ||
        !object_read(root, NULL, TEXT(""), arena, object, &error))
        fail(json.data, &error);
}

/* ---- warm ---- */

struct putting {
    struct store *store;
    struct arena *arena;
};

static void put(void *context, struct text json)
{
    const struct putting *putting = context;
    struct object object;
    read_object(json, putting->arena, &object);
    if (!store_put(putting->store, &object))
        fail("store_put", NULL);
}

/* Of a cluster too large to be kept in one arena beside what is measured. */
static void put_and_forget(void *context, struct text json)
{
    struct store *store = context;
    struct arena *arena = arena_create(1 << 24);
    put(&(struct putting){store, arena}, json);
    arena_destroy(arena);
}

struct bench {
    struct store *store;
    struct warm *warm;
    const struct catalog *catalog;
    const struct snapshot *snapshot;
    const struct pin_offers *offers;
    struct arena *arena; /* of one event */
};

/* The next version and its offers; those before are given back. */
static void publish(struct bench *bench)
{
    struct store_changes changes;
    const struct snapshot *snapshot = store_version(bench->store, &changes);
    const struct pin_offers *offers = warm_next(
        bench->warm, snapshot, bench->snapshot == NULL ? NULL : &changes, bench->catalog, NULL);
    if (offers == NULL)
        fail("warm_next", NULL);
    if (bench->snapshot != NULL)
        store_release(bench->store, bench->snapshot);
    pin_offers_release(bench->offers);
    bench->snapshot = snapshot;
    bench->offers = offers;
}

/* One event of its kind, the i-th. */
static void pod_that_asks_nothing(struct bench *bench, size_t i)
{
    struct object pod;
    read_object(pin_deployment_pod(bench->arena, i / 2 % PIN_DEPLOYMENTS, 100, i / 2 % PIN_NODES,
                                   TEXT(""), PIN_SETS),
                bench->arena, &pod);
    if (i % 2 == 0 ? !store_put(bench->store, &pod)
                   : !store_remove(bench->store, KIND_POD, pod.namespace, pod.name))
        fail("live", NULL);
}

/* Every other one on the node it was on; the sets count them. */
static void pod_of_a_set(struct bench *bench, size_t i)
{
    size_t set = 2 + i / 2 % (PIN_SETS - 2);
    struct object pod;
    read_object(pin_set_pod(bench->arena, set, 3, i % 2 == 0 ? PIN_NODES : set * 37 + 21),
                bench->arena, &pod);
    if (!store_put(bench->store, &pod))
        fail("live", NULL);
}

static void node_cordoned(struct bench *bench, size_t i)
{
    struct object node;
    read_object(pin_node(bench->arena, i / 2 % PIN_NODES, i % 2 == 0), bench->arena, &node);
    if (!store_put(bench->store, &node))
        fail("live", NULL);
}

static void claim_bound(struct bench *bench, size_t i)
{
    struct object claim;
    read_object(pin_set_claim(bench->arena, 0, 100 + i / 2 % 100, i % 2 == 0), bench->arena,
                &claim);
    if (!store_put(bench->store, &claim))
        fail("live", NULL);
}

typedef void (*event_maker)(struct bench *bench, size_t i);

static void print_times(const char *what, double *micros, size_t count)
{
    qsort(micros, count, sizeof *micros, compare_numbers);
    printf("%-34s %8zu %10.0f %10.0f %10.0f\n", what, count, micros[count / 2],
           micros[count * 99 / 100], micros[count - 1]);
}

static void time_events(struct bench *bench, const char *what, event_maker event)
{
    enum { COUNT = 300 };
    static double micros[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        event(bench, i);
        arena_reset(bench->arena);
        double before = cpu_micros();
        publish(bench);
        micros[i] = cpu_micros() - before;
        (void)warm_tidy(bench->warm, bench->snapshot);
    }
    print_times(what, micros, COUNT);
}

/* Events that come evenly, rate a second of CPU time: how long until each is in a version. */
static void time_stream(struct bench *bench, const event_maker *events, size_t event_count,
                        double rate, const char *what)
{
    enum { COUNT = 20000 };
    static double delays[COUNT];
    double began = cpu_micros();
    size_t batches = 0;
    for (size_t done = 0; done < COUNT; batches++) {
        double begins = cpu_micros();
        size_t come = (size_t)((begins - began) / 1e6 * rate) + 1;
        size_t first = done;
        if (come <= done) { /* a millisecond is gathered */
            while (cpu_micros() < begins + 1000)
                ;
            continue;
        }
        for (; done < come && done < COUNT; done++) {
            events[done % event_count](bench, done / event_count);
            arena_reset(bench->arena);
        }
        publish(bench);
        double now = cpu_micros();
        for (size_t i = first; i < done; i++)
            delays[i] = now - (began + (double)i / rate * 1e6);
    }
    print_times(what, delays, COUNT);
    printf("%-34s %.0f a second, %zu versions\n", "", COUNT / ((cpu_micros() - began) / 1e6),
           batches);
}

static void bench_warm(void)
{
    struct arena *arena = arena_create((size_t)1 << 30);
    struct bench bench = {
        .store = store_create(), .warm = warm_create(), .arena = arena_create(1 << 24)};
    bench.catalog = catalog_builtin(arena);
    mallopt(M_MMAP_THRESHOLD, 64 << 10); /* as the server does: what is freed goes back */
    double at_first = rss_mib();
    struct arena *texts = arena_create((size_t)1 << 30);
    pin_cluster_make(texts, put_and_forget, bench.store);
    arena_destroy(texts);
    double with_live = rss_mib();
    double before = cpu_micros();
    publish(&bench);
    double micros = cpu_micros() - before;
    double with_warm = rss_mib();
    size_t bytes = 0;
    for (int kind = 0; kind < KIND_COUNT; kind++)
        bytes += store_bytes(bench.store, (enum kind)kind);
    printf("objects %.1f MiB, %.1f MiB resident; the first version takes %.0f us and %.1f MiB more "
           "(its problem %.1f MiB)\n",
           (double)bytes / (1 << 20), with_live - at_first, micros, with_warm - with_live,
           (double)warm_bytes(bench.warm) / (1 << 20));
    printf("%-34s %8s %10s %10s %10s\n", "microseconds of CPU until offered", "events", "median",
           "p99", "longest");
    time_events(&bench, "a pod that asks nothing", pod_that_asks_nothing);
    time_events(&bench, "a pod of a set", pod_of_a_set);
    time_events(&bench, "a node is cordoned", node_cordoned);
    time_events(&bench, "a claim is bound", claim_bound);
    static const event_maker quiet[] = {pod_that_asks_nothing};
    static const event_maker mixed[] = {pod_that_asks_nothing, pod_of_a_set, claim_bound,
                                        pod_that_asks_nothing};
    time_stream(&bench, quiet, 1, 5000, "5,000 a second: pods, asking nothing");
    time_stream(&bench, mixed, 4, 5000, "5,000 a second: a quarter of sets");
    printf("%.1f MiB resident at the end\n", rss_mib() - at_first);
}

/* ---- review ---- */

/* A world's policies, of one text. */
static const struct policy_set *read_policy(const char *rails, const struct catalog *catalog,
                                            struct arena *arena)
{
    char path[] = "/tmp/taffrail-bench-XXXXXX.yaml";
    int descriptor = mkstemps(path, 5);
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    const struct policy_set *policies = NULL;
    const char *paths[] = {path};
    if (descriptor < 0)
        fail("mkstemps", NULL);
    dprintf(descriptor,
            "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\nmetadata: {name: bench}\n"
            "spec:\n  mode: enforce\n  rails:\n%s",
            rails);
    close(descriptor);
    bool good = policy_load(paths, 1, catalog, arena, &policies, &errors, &warnings);
    unlink(path);
    if (!good)
        fail("policy_load", NULL);
    return policies;
}

enum { PODS_OF_A_KIND = 200, ASKED_EACH = 3 };

/* The i-th pod of a kind that is to be admitted. */
static struct text bound_pod(struct arena *arena, size_t i)
{
    return pin_set_pod(arena, 8 + 4 * (i % 20), i / 20, PIN_NODES);
}

static struct text pod_of_20(struct arena *arena, size_t i)
{
    return pin_set_pod(arena, PIN_HALF_SMALL, 10 + i % 10, PIN_NODES);
}

static struct text pod_of_200(struct arena *arena, size_t i)
{
    return pin_set_pod(arena, PIN_HALF_LARGE, 100 + i % 100, PIN_NODES);
}

static struct text follower(struct arena *arena, size_t i)
{
    return pin_deployment_pod(arena, i, 200, PIN_NODES, TEXT(""), 8 + i % 90);
}

static struct text deployment_pod(struct arena *arena, size_t i)
{
    return pin_deployment_pod(arena, i / 50 * 50, 200 + i, PIN_NODES, TEXT("shared"), PIN_SETS);
}

static struct text plain_pod(struct arena *arena, size_t i)
{
    return pin_deployment_pod(arena, i, 200, PIN_NODES, TEXT(""), PIN_SETS);
}

static double time_review(const struct world *world, struct text body, struct arena *arena,
                          size_t *patched)
{
    struct text answer;
    struct review_record record;
    struct error error = {0};
    double before = cpu_micros();
    if (!review_answer(world, REVIEW_MUTATE, body, 1795230245, arena, &answer, &record, &error))
        fail("review_answer", &error);
    double micros = cpu_micros() - before;
    *patched += strstr(answer.data, "\"patch\"") != NULL;
    arena_reset(arena);
    return micros;
}

static double median_review(const struct world *world, struct text body, struct arena *arena,
                            size_t *patched)
{
    double micros[ASKED_EACH];
    for (size_t i = 0; i < ASKED_EACH; i++)
        micros[i] = time_review(world, body, arena, patched);
    qsort(micros, ASKED_EACH, sizeof *micros, compare_numbers);
    return micros[ASKED_EACH / 2];
}

static void time_pods(const char *what, struct text (*make)(struct arena *arena, size_t i),
                      const struct world *with, const struct world *without)
{
    static double added[PODS_OF_A_KIND], all[PODS_OF_A_KIND];
    struct arena *bodies = arena_create(1 << 26);
    struct arena *arena = arena_create(1 << 26);
    size_t patched = 0;
    size_t patched_without = 0;
    for (size_t i = 0; i < PODS_OF_A_KIND; i++) {
        struct text pod = make(bodies, i);
        struct text body = arena_printf(
            bodies,
            "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{"
            "\"uid\":\"u\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},"
            "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},"
            "\"operation\":\"CREATE\",\"userInfo\":{\"username\":"
            "\"system:serviceaccount:kube-system:statefulset-controller\"},\"object\":%.*s}}",
            TEXT_ARGS(pod));
        double off = median_review(without, body, arena, &patched_without);
        all[i] = median_review(with, body, arena, &patched);
        added[i] = all[i] - off;
    }
    arena_destroy(bodies);
    arena_destroy(arena);
    qsort(added, PODS_OF_A_KIND, sizeof *added, compare_numbers);
    qsort(all, PODS_OF_A_KIND, sizeof *all, compare_numbers);
    printf("%-34s %8d %8zu %10.1f %10.1f %10.1f\n", what, PODS_OF_A_KIND, patched / ASKED_EACH,
           all[PODS_OF_A_KIND / 2], added[PODS_OF_A_KIND / 2], added[PODS_OF_A_KIND * 99 / 100]);
}

static void bench_review(void)
{
    struct arena *arena = arena_create((size_t)1 << 30);
    struct bench bench = {.store = store_create(), .warm = warm_create(), .arena = arena};
    bench.catalog = catalog_builtin(arena);
    struct arena *texts = arena_create((size_t)1 << 30);
    pin_cluster_make(texts, put_and_forget, bench.store);
    arena_destroy(texts);
    publish(&bench);
    struct world without = {
        .snapshot = bench.snapshot, .catalog = bench.catalog, .offers = bench.offers};
    struct world with = without;
    without.policies = read_policy("    topology-keys: {}\n", bench.catalog, arena);
    with.policies = read_policy("    topology-keys: {}\n    zone-pin: {}\n", bench.catalog, arena);
    printf("%-34s %8s %8s %10s %10s %10s\n", "microseconds of CPU, /mutate", "pods", "patched",
           "review", "added", "added p99");
    time_pods("a set's pod, claims bound", bound_pod, &with, &without);
    time_pods("unbound, of a set of 20", pod_of_20, &with, &without);
    time_pods("unbound, of a set of 200", pod_of_200, &with, &without);
    time_pods("a follower", follower, &with, &without);
    time_pods("a Deployment's pod, claim unbound", deployment_pod, &with, &without);
    time_pods("a pod without volumes", plain_pod, &with, &without);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "warm") == 0)
        bench_warm();
    else if (argc == 2 && strcmp(argv[1], "review") == 0)
        bench_review();
    else {
        fprintf(stderr, "usage: bench_pin warm|review\n");
        return 2;
    }
    return 0;
}
