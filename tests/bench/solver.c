/* Measures one solve. Each run is a process, so that its peak of memory is its own.
 * scripts/bench-solver runs it and explains the columns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "solver_mix.h"
#include "solver_warm.h"

static const uint64_t seed = 42;

static const char usage[] =
    "usage: bench_solver mix COUNT|FILE [optimize]   Karpenter's own benchmark mix\n"
    "       bench_solver warm [optimize]             one more pod of each workload of a big "
    "cluster\n"
    "prints: pods shapes build_s solve_s cpu_s nodes unplaced usd_per_hour arena_mib peak_mib\n";

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The most memory the process ever had. */
static double peak_mib(void)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "VmHWM: %ld kB", &kib) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return (double)kib / 1024;
}

static int fail(const struct error *error)
{
    char line[1024];
    error_format(error, line, sizeof line);
    fprintf(stderr, "bench_solver: %s\n", line);
    return 1;
}

static int64_t plan_usd_micro(const struct solver_plan *plan)
{
    int64_t sum = 0;
    for (size_t i = 0; i < plan->claim_count; i++)
        if (plan->claims[i].price_usd_micro > 0)
            sum += plan->claims[i].price_usd_micro;
    return sum;
}

/* When a problem was begun, and what the arena held then. */
struct start {
    double at;
    size_t used_bytes;
};

static struct start begin(const struct arena *arena)
{
    return (struct start){seconds(CLOCK_MONOTONIC), arena_used_bytes(arena)};
}

static void solve_and_print(const struct solver_problem *problem, size_t shape_count,
                            struct start start, struct arena *arena)
{
    double built = seconds(CLOCK_MONOTONIC);
    double cpu_built = seconds(CLOCK_PROCESS_CPUTIME_ID);
    const struct solver_plan *plan = solver_solve(solver_run_create(problem, arena));
    double solved = seconds(CLOCK_MONOTONIC);
    double cpu_solved = seconds(CLOCK_PROCESS_CPUTIME_ID);
    printf("%zu %zu %.6f %.6f %.6f %zu %zu %.3f %.1f %.1f\n", plan->placement_count, shape_count,
           built - start.at, solved - built, cpu_solved - cpu_built, plan->claim_count,
           plan->unschedulable_count, (double)plan_usd_micro(plan) / 1e6,
           (double)(arena_used_bytes(arena) - start.used_bytes) / (1 << 20), peak_mib());
}

static int measure_mix(const char *what, const struct solver_settings *settings,
                       struct arena *arena)
{
    struct mix mix = {0};
    struct error error;
    int64_t count;
    if (text_to_int64(text_of(what), &count) && count > 0)
        mix_make(&mix, (size_t)count, seed, arena);
    else if (!mix_read(&mix, what, arena, &error))
        return fail(&error);
    const struct solver_problem *problem;
    size_t shape_count;
    struct start start = begin(arena);
    if (!mix_build(&mix, settings, arena, &problem, &shape_count, &error))
        return fail(&error);
    solve_and_print(problem, shape_count, start, arena);
    return 0;
}

static int measure_warm(const struct solver_settings *settings, struct arena *arena)
{
    struct warm warm;
    struct error error;
    struct start start = begin(arena);
    if (!warm_build(settings, arena, &warm, &error))
        return fail(&error);
    solve_and_print(warm.problem, WARM_WORKLOADS, start, arena);
    return 0;
}

int main(int argc, char **argv)
{
    struct solver_settings settings = {0};
    if (argc > 2 && strcmp(argv[argc - 1], "optimize") == 0) {
        settings.optimize = (struct solver_optimize){true, true, true, true, true};
        argc--;
    }
    struct arena *arena = arena_create((size_t)64 << 30);
    int status = 2;
    if (argc == 3 && strcmp(argv[1], "mix") == 0)
        status = measure_mix(argv[2], &settings, arena);
    else if (argc == 2 && strcmp(argv[1], "warm") == 0)
        status = measure_warm(&settings, arena);
    else
        fputs(usage, stderr);
    arena_destroy(arena);
    return status;
}
