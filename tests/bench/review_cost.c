/* What reviews cost: the CPU time of the thread and the bytes of the arena, judged as a server
 * does, in this process.
 *
 * usage: bench_review_cost [--cluster] [--state PATH]... [--catalog FILE] [--budget MIB] -p
 * POLICY...
 *                          [--mutate] [--repeat N] [BODY...]
 *
 * --cluster shows the rails 1,000 Nodes, 10,000 Pods, 5,000 claims with volumes and 20 NodePools;
 * --state adds the objects of a file or folder. --budget gives every review as much memory, to see
 * what it would do without a limit; else it has what a server gives it. Every -p makes a world of
 * its own, numbered from 0. --answers prints the answers on standard error.
 *
 * Bodies are AdmissionReviews in JSON. Each that is named is judged --repeat times in each world,
 * in one arena that has no end, and the cheapest time counts. Without any, requests are read from
 * standard input: a line "validate|mutate WORLD|* BYTES" and so many bytes; with BYTES 0 the last
 * body is judged again. Each world that is asked answers with a line "WORLD CPU-MICROSECONDS STATUS
 * ALLOWED LIMIT ANSWER-BYTES ARENA-BYTES": ALLOWED is 1 or 0, LIMIT a word, or "-"; behind a body
 * that is named stands its path. A line without a word of its world, "end", closes the answers to a
 * request. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kube/manifest.h"
#include "pin_cluster.h"
#include "server/deadline.h"
#include "server/http.h"
#include "server/server.h"

enum {
    NOW_UNIX_S = 1795230245,
    BODY_BYTES_MAX = 256 << 20,
    PATH_BYTES = 4096,
    WORLDS_MAX = 32,
    CLUSTER_BYTES = 1 << 30,
};

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_review_cost: %s: %s\n", what, why);
    exit(2);
}

/* ---- the cluster ---- */

static void put(void *context, struct text json)
{
    struct manifests *cluster = context;
    struct source *source = ARENA_NEW(cluster->arena, struct source);
    const struct node *root = NULL;
    struct error error = {0};
    source->text = json;
    if (!doc_read_json(source, &doc_limits_review, NULL, cluster->arena, &root, &error) ||
        !object_read(root, NULL, TEXT(""), cluster->arena, LIST_PUSH(cluster->arena, cluster),
                     &error))
        fail("an object of the cluster", error.what);
}

/* ---- worlds ---- */

static struct world *worlds[WORLDS_MAX];
static size_t world_count;
static size_t budget_bytes; /* 0: the server's */
static bool shows_answers;

static void add_world(const char *policy, const char *catalog, const struct manifests *visible)
{
    struct arena *arena = arena_create(1 << 24);
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    struct world_options options = {.policy_paths = &policy,
                                    .policy_path_count = 1,
                                    .catalog_file = catalog,
                                    .listed = visible};
    if (world_count == WORLDS_MAX)
        fail(policy, "too many policies");
    if (!world_load(&options, world_count + 1, NOW_UNIX_S, &worlds[world_count], &errors,
                    &warnings))
        fail(policy, errors.count > 0 ? errors.items[0].what : "is no good");
    world_count++;
    arena_destroy(arena);
}

/* ---- reviews ---- */

struct job {
    const struct world *world;
    enum review_phase phase;
    struct text body;
    struct arena *arena;
    struct text answer;
    struct review_record record;
    struct error error;
    bool answered;
};

static void run_review(void *argument)
{
    struct job *job = argument;
    job->answered = review_answer(job->world, job->phase, job->body, NOW_UNIX_S, job->arena,
                                  &job->answer, &job->record, &job->error);
}

static long long cpu_micros(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t thread_cpu_us(void *context)
{
    (void)context;
    return cpu_micros();
}

static const struct review_clock review_clock = {.cpu_us = thread_cpu_us, .wall_us = thread_cpu_us};

static void begin(struct job *job, struct deadline *deadline)
{
    enum { ANSWER_RESERVE_BYTES = 512 << 10 };
    if (!arena_reserve(job->arena, ANSWER_RESERVE_BYTES))
        fail("arena_reserve", "no memory");
    *deadline = deadline_begin(&review_clock, policy_set_cpu_limit_us(job->world->policies), 0);
    arena_watch(job->arena, &(struct arena_watch){deadline_ask, deadline});
}

static const char *limit_of(const struct job *job, bool within)
{
    if (within && job->answered && job->record.verdict.limit == LIMIT_NONE)
        return "-";
    return limit_name(job->record.verdict.limit);
}

/* One run. */
static long long judge(struct job *job, bool *within)
{
    long long began = cpu_micros();
    *within = arena_guard(job->arena, run_review, job, &job->error);
    return cpu_micros() - began;
}

/* end: what stands behind the line's figures. */
static void print(size_t world, long long micros, const struct job *job, bool within,
                  const char *end)
{
    bool answered = within && job->answered;
    int status = answered ? 200 : within ? 400 : 413;
    if (shows_answers)
        fprintf(stderr, "%.*s\n", answered ? (int)job->answer.size : (int)strlen(job->error.what),
                answered ? job->answer.data : job->error.what);
    printf("%zu %lld %d %d %s %zu %zu%s\n", world, micros, status, answered && job->record.allowed,
           limit_of(job, within), answered ? job->answer.size : 0, arena_used_bytes(job->arena),
           end);
}

/* With a new arena each, as the server gives every body that is not small. */
static void review(size_t world, enum review_phase phase, struct text body)
{
    struct job job = {.world = worlds[world], .phase = phase, .body = body};
    struct deadline deadline;
    bool within;
    long long began = cpu_micros();
    job.arena = arena_create(budget_bytes == 0 ? arena_budget(body.size) : budget_bytes);
    if (job.arena == NULL)
        fail("arena_create", "no memory");
    begin(&job, &deadline);
    (void)judge(&job, &within);
    print(world, cpu_micros() - began, &job, within, "");
    arena_destroy(job.arena);
}

static void review_file(size_t world, enum review_phase phase, const char *path, int repeat)
{
    struct arena *bodies = arena_create(BODY_BYTES_MAX);
    struct job job = {.world = worlds[world],
                      .phase = phase,
                      .arena = arena_create(budget_bytes == 0 ? SIZE_MAX : budget_bytes)};
    char end[PATH_BYTES];
    long long least = 0;
    bool within = false;
    if (bodies == NULL || job.arena == NULL ||
        !file_read(path, BODY_BYTES_MAX / 2, bodies, &job.body, &job.error))
        fail(path, job.error.what);
    for (int i = 0; i < repeat; i++) {
        arena_reset(job.arena);
        long long micros = judge(&job, &within);
        if (i == 0 || micros < least)
            least = micros;
    }
    snprintf(end, sizeof end, " %s", path);
    print(world, least, &job, within, end);
    arena_destroy(job.arena);
    arena_destroy(bodies);
}

static void serve(const char *phase_name, const char *world_name, struct text body)
{
    enum review_phase phase = strcmp(phase_name, "mutate") == 0 ? REVIEW_MUTATE : REVIEW_VALIDATE;
    bool all = strcmp(world_name, "*") == 0;
    size_t only = all ? 0 : strtoul(world_name, NULL, 10);
    for (size_t i = 0; i < world_count; i++)
        if (all || i == only)
            review(i, phase, body);
    puts("end");
    fflush(stdout);
}

static void serve_all(void)
{
    char phase[16];
    char world[16];
    size_t size;
    char *body = NULL;
    struct text last = {0};
    while (scanf("%15s %15s %zu", phase, world, &size) == 3) {
        if (getchar() != '\n')
            fail("standard input", "a line has too many words");
        if (size > 0) {
            free(body);
            body = malloc(size);
            if (body == NULL || fread(body, 1, size, stdin) != size)
                fail("standard input", "ends within a body");
            last = (struct text){body, size};
        }
        serve(phase, world, last);
    }
    free(body);
}

static void show(struct manifests *visible, const char *path)
{
    manifests_read(visible, path, TEXT("default"));
    if (visible->problems.count > 0)
        fail(path, visible->problems.items[0].what);
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create(CLUSTER_BYTES);
    struct manifests visible;
    const char *policies[WORLDS_MAX], *catalog = NULL;
    size_t policy_count = 0;
    enum review_phase phase = REVIEW_VALIDATE;
    int repeat = 1, at = 1;
    manifests_init(&visible, arena);
    for (; at < argc && argv[at][0] == '-'; at++) {
        const char *option = argv[at], *value = at + 1 < argc ? argv[at + 1] : NULL;
        bool takes_value = true;
        if (strcmp(option, "--cluster") == 0) {
            pin_cluster_make(arena, put, &visible);
            pin_cluster_make_team_pools(arena, put, &visible);
            takes_value = false;
        } else if (strcmp(option, "--mutate") == 0) {
            phase = REVIEW_MUTATE;
            takes_value = false;
        } else if (strcmp(option, "--answers") == 0) {
            shows_answers = true;
            takes_value = false;
        } else if (value == NULL) {
            fail(option, "is no option, or has no value");
        } else if (strcmp(option, "--state") == 0) {
            show(&visible, value);
        } else if (strcmp(option, "--catalog") == 0) {
            catalog = value;
        } else if (strcmp(option, "--budget") == 0) {
            budget_bytes = strtoul(value, NULL, 10) << 20;
        } else if (strcmp(option, "--repeat") == 0) {
            repeat = atoi(value) > 0 ? atoi(value) : 1;
        } else if (strcmp(option, "-p") == 0 && policy_count < WORLDS_MAX) {
            policies[policy_count++] = value;
        } else {
            fail(option, "is no option");
        }
        at += takes_value;
    }
    for (size_t i = 0; i < policy_count; i++)
        add_world(policies[i], catalog, &visible);
    if (at == argc)
        serve_all();
    for (; at < argc; at++)
        for (size_t i = 0; i < world_count; i++)
            review_file(i, phase, argv[at], repeat);
    for (size_t i = 0; i < world_count; i++)
        world_destroy(worlds[i]);
    arena_destroy(arena);
    return 0;
}
