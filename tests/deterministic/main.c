/* Runs seeds, several at a time; prints what happened, and shrinks what failed. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "outcome.h"

enum { JOBS_MAX = 64 };

static const char usage[] =
    "usage: simulate [--seeds N] [--seed S] [--minutes M] [--rounds N] [--jobs N]\n"
    "                [--without DEED,...] [--only DEED:NUMBER,...] [--twice] [--no-shrink]\n"
    "                [--verbose]\n";

struct job {
    int process; /* 0: none */
    struct run run;
    struct outcome *outcome;
};

struct simulation {
    uint64_t seed, seeds;
    double minutes; /* 0: no limit */
    struct run run;
    unsigned jobs_max;
    bool twice, shrinks;
    struct job jobs[JOBS_MAX];
    uint64_t runs, failures;
    struct outcome sum;
    struct timespec began;
};

static double seconds_since(const struct timespec *began)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - began->tv_sec) + (double)(now.tv_nsec - began->tv_nsec) / 1e9;
}

/* ---- options ---- */

static enum deed deed_named(const char *name, size_t size)
{
    for (enum deed deed = 0; deed < DEED_COUNT; deed++)
        if (strlen(deed_names[deed]) == size && memcmp(deed_names[deed], name, size) == 0)
            return deed;
    fprintf(stderr, "simulate: there is no deed \"%.*s\"\n", (int)size, name);
    exit(2);
}

static void read_without(const char *list, struct chance_plan *chance)
{
    for (const char *end; *list != '\0'; list = *end == '\0' ? end : end + 1) {
        end = list + strcspn(list, ",");
        chance->without[deed_named(list, (size_t)(end - list))] = true;
    }
}

static void read_only(const char *list, struct chance_plan *chance)
{
    struct done_deed *only = world_alloc((strlen(list) + 1) * sizeof *only);
    chance->only = only;
    for (const char *end; *list != '\0'; list = *end == '\0' ? end : end + 1) {
        const char *colon = list + strcspn(list, ":");
        end = list + strcspn(list, ",");
        only[chance->only_count++] =
            (struct done_deed){.deed = deed_named(list, (size_t)(colon - list)),
                               .number = (uint32_t)strtoul(colon + 1, NULL, 10)};
    }
}

static void read_options(int argc, char **argv, struct simulation *simulation)
{
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 's'},
        {"minutes", required_argument, NULL, 'm'},
        {"rounds", required_argument, NULL, 'r'},
        {"jobs", required_argument, NULL, 'j'},
        {"without", required_argument, NULL, 'w'},
        {"only", required_argument, NULL, 'o'},
        {"twice", no_argument, NULL, 't'},
        {"no-shrink", no_argument, NULL, 'k'},
        {"verbose", no_argument, NULL, 'v'},
        {0},
    };
    for (int letter; (letter = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (letter) {
        case 'n':
            simulation->seeds = strtoull(optarg, NULL, 10);
            break;
        case 's':
            simulation->seed = strtoull(optarg, NULL, 10);
            break;
        case 'm':
            simulation->minutes = strtod(optarg, NULL);
            break;
        case 'r':
            simulation->run.rounds = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'j':
            simulation->jobs_max = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'w':
            read_without(optarg, &simulation->run.chance);
            break;
        case 'o':
            read_only(optarg, &simulation->run.chance);
            break;
        case 't':
            simulation->twice = true;
            break;
        case 'k':
            simulation->shrinks = false;
            break;
        case 'v':
            simulation->run.speaks = true;
            break;
        default:
            fputs(usage, stderr);
            exit(2);
        }
    }
    if (optind < argc || simulation->jobs_max == 0 || simulation->jobs_max > JOBS_MAX) {
        fputs(usage, stderr);
        exit(2);
    }
}

/* ---- runs ---- */

static void sum_up(struct outcome *sum, const struct outcome *outcome)
{
    const uint64_t *from = &outcome->events;
    uint64_t *to = &sum->events;
    /* Counters only, one after the other. */
    size_t count =
        (offsetof(struct outcome, done_count) - offsetof(struct outcome, events)) / sizeof *from;
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

static void tell_failure(struct simulation *simulation, const struct job *job)
{
    const struct outcome *outcome = job->outcome;
    simulation->failures++;
    printf("FAILED  seed %" PRIu64 " after %.6f s and %" PRIu64 " events: %s\n",
           job->run.chance.seed, (double)outcome->at_us / 1e6, outcome->events, outcome->problem);
    if (simulation->shrinks && job->run.chance.only == NULL)
        shrink(&job->run, outcome);
    fflush(stdout);
}

static void check_same(struct simulation *simulation, const struct job *job)
{
    static struct outcome *again;
    int status;
    if (again == NULL)
        again =
            mmap(NULL, sizeof *again, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    waitpid(run_begin(&job->run, again), &status, 0);
    run_end(status, again);
    if (again->trace == job->outcome->trace && again->events == job->outcome->events)
        return;
    simulation->failures++;
    printf("FAILED  seed %" PRIu64 " is not the same twice: %" PRIu64 " and %" PRIu64 " events\n",
           job->run.chance.seed, job->outcome->events, again->events);
}

static void wait_for_one(struct simulation *simulation)
{
    int status, process = waitpid(-1, &status, 0);
    for (unsigned i = 0; i < simulation->jobs_max; i++) {
        struct job *job = &simulation->jobs[i];
        if (job->process != process)
            continue;
        job->process = 0;
        run_end(status, job->outcome);
        simulation->runs++;
        sum_up(&simulation->sum, job->outcome);
        if (job->outcome->sort != 0)
            tell_failure(simulation, job);
        else if (simulation->twice)
            check_same(simulation, job);
    }
}

static struct job *free_job(struct simulation *simulation)
{
    for (;;) {
        for (unsigned i = 0; i < simulation->jobs_max; i++)
            if (simulation->jobs[i].process == 0)
                return &simulation->jobs[i];
        wait_for_one(simulation);
    }
}

static bool goes_on(const struct simulation *simulation, uint64_t begun)
{
    bool in_time =
        simulation->minutes == 0 || seconds_since(&simulation->began) < 60 * simulation->minutes;
    return in_time &&
           (simulation->seeds == 0 ? simulation->minutes != 0 : begun < simulation->seeds);
}

static void run_all(struct simulation *simulation)
{
    for (uint64_t begun = 0; goes_on(simulation, begun); begun++) {
        struct job *job = free_job(simulation);
        job->run = simulation->run;
        job->run.chance.seed = simulation->seed + begun;
        job->process = run_begin(&job->run, job->outcome);
    }
    for (unsigned i = 0; i < simulation->jobs_max; i++)
        while (simulation->jobs[i].process != 0)
            wait_for_one(simulation);
}

/* ---- the end ---- */

static void print_sum(const struct simulation *simulation)
{
    const struct outcome *sum = &simulation->sum;
    double seconds = seconds_since(&simulation->began);
    printf("seeds %" PRIu64 " to %" PRIu64 ": %" PRIu64
           " events in %.1f s (%.0f a second), %" PRIu64 " turns of threads\n",
           simulation->seed, simulation->seed + simulation->runs - 1, sum->events, seconds,
           (double)sum->events / seconds, sum->turns);
    printf("reviews: %" PRIu64 " denied, %" PRIu64 " allowed, %" PRIu64 " pinned, %" PRIu64
           " refused; %" PRIu64 " clients turned away\n",
           sum->answers.denied, sum->answers.allowed, sum->answers.pinned, sum->answers.refused,
           sum->doors.turned_away);
    printf("/readyz: %" PRIu64 " ready, %" PRIu64 " not; %" PRIu64 " handshakes; %" PRIu64
           " lives of replicas, %" PRIu64 " killed; %" PRIu64 " writes of the leader\n",
           sum->answers.ready, sum->answers.not_ready, sum->answers.handshakes, sum->lives,
           sum->kills, sum->writes);
    printf("deeds:");
    for (enum deed deed = 0; deed < DEED_COUNT; deed++)
        printf(" %s %" PRIu64, deed_names[deed], sum->deeds[deed]);
    printf("\n%" PRIu64 " runs, %" PRIu64 " failed\n", simulation->runs, simulation->failures);
}

int main(int argc, char **argv)
{
    static struct simulation simulation = {
        .seed = 1, .seeds = 0, .run = {.rounds = 2}, .jobs_max = 1, .shrinks = true};
    read_options(argc, argv, &simulation);
    if (simulation.seeds == 0 && simulation.minutes == 0)
        simulation.seeds = 1;
    clock_gettime(CLOCK_MONOTONIC, &simulation.began);
    for (unsigned i = 0; i < simulation.jobs_max; i++) {
        simulation.jobs[i].outcome = mmap(NULL, sizeof(struct outcome), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (simulation.jobs[i].outcome == MAP_FAILED)
            abort();
    }
    run_all(&simulation);
    print_sum(&simulation);
    return simulation.failures == 0 ? 0 : 1;
}
