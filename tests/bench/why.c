/* What `taffrail why` costs in a live cluster of 1,000 Nodes and 10,000 Pods: the CPU time of an
 * answer, beside that of reading the Pods of the cluster, which every command must.
 *
 * usage: bench_why [REPEAT]
 *
 * A line for each question: its name, the cheapest answer and the cheapest reading of the Pods, in
 * microseconds. tests/contract/why_cost.test holds the one against the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "catalog/catalog.h"
#include "kube/object.h"
#include "live/store.h"
#include "pin_cluster.h"
#include "simulation/why_node.h"
#include "simulation/why_pod.h"

enum { MOST_BYTES = 1 << 30, NOW_UNIX_S = 1795230245 };

struct bench {
    struct arena *texts, *work;
    struct store *store;
    struct text_list pods; /* as they are listed */
    const struct snapshot *snapshot;
    const struct catalog *catalog;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_why: %s\n", what);
    exit(2);
}

/* ---- the cluster ---- */

static void read_one(struct text json, struct arena *arena, struct object *object)
{
    struct source source = {.text = json};
    const struct node *root;
    struct error error;
    if (!doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error) ||
        !object_read(root, NULL, TEXT(""), arena, object, &error))
        fail(error.what);
}

static void put(void *context, struct text json)
{
    struct bench *bench = context;
    struct object object;
    read_one(json, bench->work, &object);
    if (object.kind == KIND_POD)
        *LIST_PUSH(bench->texts, &bench->pods) = json;
    if (!store_put(bench->store, &object))
        fail("no memory");
    arena_reset(bench->work);
}

/* ---- questions ---- */

struct question {
    const char *what;
    const char *namespace, *name;
    enum { OF_A_POD, OF_A_NODE, READING } of;
};

static void ask(const struct bench *bench, const struct question *question)
{
    static const struct simulation_settings settings;
    struct arena *arena = bench->work;
    struct problems problems = {.arena = arena};
    struct why_node node;
    struct why_pod pod;
    struct error error;
    struct text name = text_of(question->name);
    if (question->of == OF_A_POD &&
        !why_pod(bench->snapshot, bench->catalog, &settings, text_of(question->namespace), name,
                 arena, &pod, &problems, &error))
        fail(error.what);
    if (question->of == OF_A_NODE &&
        !why_node(bench->snapshot, ~(kind_set)0, name, NOW_UNIX_S, arena, &node, &error))
        fail(error.what);
    for (size_t i = 0; question->of == READING && i < bench->pods.count; i++) {
        struct object object;
        read_one(bench->pods.items[i], arena, &object);
    }
}

/* Each in turn, so that what else runs here meets them all alike. */
static void ask_all(const struct bench *bench, const struct question *questions, size_t count,
                    long repeat, int64_t *cheapest_us)
{
    for (long i = 0; i < repeat; i++)
        for (size_t j = 0; j < count; j++) {
            int64_t begun_us = thread_cpu_us();
            ask(bench, &questions[j]);
            int64_t cost_us = thread_cpu_us() - begun_us;
            cheapest_us[j] = i == 0 || cost_us < cheapest_us[j] ? cost_us : cheapest_us[j];
            arena_reset(bench->work);
        }
}

int main(int argc, char **argv)
{
    static const struct question questions[] = {
        {"reading", "", "", READING},
        {"running", "team-1", "web-1-7d9-1", OF_A_POD},
        {"pending", "team-0", "set-0-150", OF_A_POD},
        {"node", "", "ip-10-0-0-7", OF_A_NODE},
    };
    long repeat = argc > 1 ? strtol(argv[1], NULL, 10) : 5;
    struct bench bench = {.texts = arena_create(MOST_BYTES),
                          .work = arena_create(MOST_BYTES),
                          .store = store_create()};
    struct store_changes changes;
    if (bench.texts == NULL || bench.work == NULL || bench.store == NULL || repeat < 1)
        fail("no memory, or no number");
    bench.catalog = catalog_builtin(bench.texts);
    pin_cluster_make(bench.texts, put, &bench);
    bench.snapshot = store_version(bench.store, &changes);
    int64_t cheapest_us[COUNT_OF(questions)];
    ask_all(&bench, questions, COUNT_OF(questions), repeat, cheapest_us);
    for (size_t i = 1; i < COUNT_OF(questions); i++)
        printf("%s %lld %lld\n", questions[i].what, (long long)cheapest_us[i],
               (long long)cheapest_us[0]);
    store_release(bench.store, bench.snapshot);
    store_destroy(bench.store);
    arena_destroy(bench.work);
    arena_destroy(bench.texts);
    return 0;
}
