/* Measures zone pins with 10,000 pods, 1,000 nodes, 100 StatefulSets and 5,000 claims
 * (pin_cluster.c): CPU time of the thread, and memory. "supply": making it, which happens when
 * NodePools, Nodes or DaemonSets change, and questions to it. "review": what the rail adds to a
 * review of a pod by /mutate. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "live/store.h"
#include "pin_cluster.h"
#include "server/server.h"
#include "simulation/supply.h"

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

/* ---- the cluster ---- */

/* In an arena of its own: the cluster is too large for one beside what is measured. */
static void put(void *context, struct text json)
{
    struct store *store = context;
    struct arena *arena = arena_create(1 << 24);
    struct object object;
    read_object(json, arena, &object);
    if (!store_put(store, &object))
        fail("store_put", NULL);
    arena_destroy(arena);
}

struct bench {
    struct store *store;
    const struct catalog *catalog;
    const struct snapshot *snapshot;
    const struct supply *supply;
};

static struct bench open_bench(struct arena *arena)
{
    struct bench bench = {.store = store_create(), .catalog = catalog_builtin(arena)};
    struct store_changes changes;
    struct arena *texts = arena_create((size_t)1 << 30);
    pin_cluster_make(texts, put, bench.store);
    arena_destroy(texts);
    bench.snapshot = store_version(bench.store, &changes);
    return bench;
}

static const struct supply *make_supply(const struct bench *bench)
{
    const struct supply *supply = supply_create(bench->snapshot, bench->catalog, NULL, false);
    if (supply == NULL)
        fail("supply_create", NULL);
    return supply;
}

/* ---- supply ---- */

static void print_times(const char *what, double *micros, size_t count)
{
    qsort(micros, count, sizeof *micros, compare_numbers);
    printf("%-34s %8zu %10.1f %10.1f %10.1f\n", what, count, micros[count / 2],
           micros[count * 99 / 100], micros[count - 1]);
}

enum { SUPPLIES = 20, QUESTIONS = 2000 };

static void time_making(struct bench *bench)
{
    static double micros[SUPPLIES];
    for (size_t i = 0; i < SUPPLIES; i++) {
        supply_release(bench->supply);
        double before = cpu_micros();
        bench->supply = make_supply(bench);
        micros[i] = cpu_micros() - before;
    }
    print_times("made", micros, SUPPLIES);
}

/* Of so many shapes, in turn. */
static void time_questions(const struct bench *bench, size_t shapes, const char *what)
{
    static double micros[QUESTIONS];
    struct arena *arena = arena_create(1 << 24);
    for (size_t i = 0; i < QUESTIONS; i++) {
        struct object pod;
        struct text json = arena_printf(
            arena,
            "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":"
            "\"n\"},\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{"
            "\"cpu\":\"%zum\",\"memory\":\"1Gi\"}}}]}}",
            100 + i % shapes);
        read_object(json, arena, &pod);
        double before = cpu_micros();
        struct zones zones = supply_zones(bench->supply, bench->snapshot, &pod, arena);
        micros[i] = cpu_micros() - before;
        if (zones.count == 0)
            fail("supply_zones", NULL);
        arena_reset(arena);
    }
    print_times(what, micros, QUESTIONS);
    arena_destroy(arena);
}

static void bench_supply(void)
{
    struct arena *arena = arena_create((size_t)1 << 30);
    mallopt(M_MMAP_THRESHOLD, 64 << 10); /* as the server does: what is freed goes back */
    double at_first = rss_mib();
    struct bench bench = open_bench(arena);
    double with_live = rss_mib();
    bench.supply = make_supply(&bench);
    double with_supply = rss_mib();
    printf("the cluster %.1f MiB resident, the supply %.1f MiB more (%.1f MiB of them used)\n",
           with_live - at_first, with_supply - with_live,
           (double)supply_bytes(bench.supply) / (1 << 20));
    printf("%-34s %8s %10s %10s %10s\n", "microseconds of CPU", "", "median", "p99", "longest");
    time_making(&bench);
    time_questions(&bench, 10, "asked, ten shapes of pods");
    time_questions(&bench, QUESTIONS, "asked, each pod of another shape");
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
    struct bench bench = open_bench(arena);
    struct world without = {.snapshot = bench.snapshot, .catalog = bench.catalog};
    struct world with = without;
    with.supply = make_supply(&bench);
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
    if (argc == 2 && strcmp(argv[1], "supply") == 0)
        bench_supply();
    else if (argc == 2 && strcmp(argv[1], "review") == 0)
        bench_review();
    else {
        fprintf(stderr, "usage: bench_pin supply|review\n");
        return 2;
    }
    return 0;
}
