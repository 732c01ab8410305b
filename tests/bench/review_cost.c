/* What one review costs: the CPU time of the thread and the bytes of the arena, for each body that
 * is named. Bodies are AdmissionReviews in JSON; with "-" their paths are read from standard input,
 * one a line, so that one load of a policy and a cluster serves many. A line is printed for each:
 *
 *   BODY_BYTES CPU_MS ARENA_BYTES ANSWER_BYTES FINDINGS VERDICT PATH
 *
 * VERDICT is allowed, denied, unanswered (no answer was possible) or over (the arena's budget). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/server.h"

enum { NOW_UNIX_S = 1800000000, PATH_BYTES = 4096, BODY_BYTES_MAX = 256 << 20 };

struct settings {
    struct world_options world;
    enum review_phase phase;
    size_t budget_bytes;
    int repeat; /* the cheapest run counts */
};

struct job {
    const struct world *world;
    enum review_phase phase;
    struct text body;
    struct arena *arena;
    struct text answer;
    struct review_record record;
    bool answered;
    struct error error;
};

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "review_cost: %s: %s\n", what, why);
    exit(2);
}

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void run(void *argument)
{
    struct job *job = argument;
    job->answered = review_answer(job->world, job->phase, job->body, NOW_UNIX_S, job->arena,
                                  &job->answer, &job->record, &job->error);
}

static const char *verdict_of(const struct job *job, bool within_budget)
{
    if (!within_budget)
        return "over";
    if (!job->answered)
        return "unanswered";
    return job->record.allowed ? "allowed" : "denied";
}

static void measure(const struct settings *settings, const struct world *world, const char *path)
{
    struct arena *bodies = arena_create(BODY_BYTES_MAX);
    struct arena *arena = arena_create(settings->budget_bytes);
    struct error error = {0};
    struct job job = {.world = world, .phase = settings->phase, .arena = arena};
    if (bodies == NULL || arena == NULL ||
        !file_read(path, BODY_BYTES_MAX / 2, bodies, &job.body, &error))
        fail(path, error.what);
    double least_ms = 0;
    bool within_budget = false;
    for (int i = 0; i < settings->repeat; i++) {
        arena_reset(arena);
        job.answer = TEXT("");
        double start_ms = cpu_ms();
        within_budget = arena_guard(arena, run, &job, &error);
        double spent_ms = cpu_ms() - start_ms;
        if (i == 0 || spent_ms < least_ms)
            least_ms = spent_ms;
    }
    printf("%zu %.3f %zu %zu %zu %s %s\n", job.body.size, least_ms, arena_used_bytes(arena),
           job.answer.size, within_budget ? job.record.verdict.finding_count : 0,
           verdict_of(&job, within_budget), path);
    fflush(stdout);
    arena_destroy(arena);
    arena_destroy(bodies);
}

static void measure_listed(const struct settings *settings, const struct world *world)
{
    char path[PATH_BYTES];
    while (fgets(path, sizeof path, stdin) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        if (path[0] != '\0')
            measure(settings, world, path);
    }
}

static struct world *load(const struct settings *settings)
{
    struct arena *arena = arena_create(16 << 20);
    if (arena == NULL)
        fail("arena", "no memory");
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    struct world *world = NULL;
    if (!world_load(&settings->world, 1, NOW_UNIX_S, &world, &errors, &warnings)) {
        char text[600] = "it does not load";
        if (errors.count > 0)
            error_format(&errors.items[0], text, sizeof text);
        fail("world", text);
    }
    arena_destroy(arena);
    return world;
}

static const char usage[] =
    "usage: bench_review_cost -p POLICY ... [--state DIR] [--catalog FILE] [--mutate]\n"
    "                         [--budget MIB] [--repeat N] BODY|- ...\n";

int main(int argc, char **argv)
{
    enum { POLICIES_MAX = 32 };
    const char *policies[POLICIES_MAX];
    struct settings settings = {.phase = REVIEW_VALIDATE, .budget_bytes = SIZE_MAX, .repeat = 1};
    settings.world.policy_paths = policies;
    int at = 1;
    for (; at < argc && argv[at][0] == '-' && argv[at][1] != '\0'; at++) {
        const char *value = at + 1 < argc ? argv[at + 1] : NULL;
        if (strcmp(argv[at], "--mutate") == 0) {
            settings.phase = REVIEW_MUTATE;
            continue;
        }
        if (value == NULL)
            fail(argv[at], "has no value");
        if (strcmp(argv[at], "-p") == 0 && settings.world.policy_path_count < POLICIES_MAX)
            policies[settings.world.policy_path_count++] = value;
        else if (strcmp(argv[at], "--state") == 0)
            settings.world.state_dir = value;
        else if (strcmp(argv[at], "--catalog") == 0)
            settings.world.catalog_file = value;
        else if (strcmp(argv[at], "--budget") == 0)
            settings.budget_bytes = (size_t)atol(value) << 20;
        else if (strcmp(argv[at], "--repeat") == 0)
            settings.repeat = atoi(value) > 0 ? atoi(value) : 1;
        else
            fail(argv[at], "is no option");
        at++;
    }
    if (settings.world.policy_path_count == 0 || at == argc) {
        fputs(usage, stderr);
        return 2;
    }
    struct world *world = load(&settings);
    for (; at < argc; at++) {
        if (strcmp(argv[at], "-") == 0)
            measure_listed(&settings, world);
        else
            measure(&settings, world, argv[at]);
    }
    world_destroy(world);
    return 0;
}
