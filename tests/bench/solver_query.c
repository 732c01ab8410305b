/* Measures one query to a prepared run, by kind of question. Prints one line each: the kind,
 * median, 99th percentile and longest in microseconds, and the answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "solver_warm.h"

enum { QUESTIONS = 20000 };

#define ZONE "topology.kubernetes.io/zone"
#define HOSTNAME "kubernetes.io/hostname"

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* ---- what is asked ---- */

struct scratch {
    struct solver_label labels[2];
    struct solver_expression expressions[4];
    struct solver_expressions terms[4];
    struct solver_spread spreads[2];
    struct solver_pod_affinity affinity;
    struct solver_amount requests[2];
    struct solver_volume volume;
    struct solver_mount mount;
    char app[32], claim[32];
    const char *app_value;
};

/* With a label that nobody had. */
static void name_anew(struct scratch *s, struct solver_shape *shape, uint32_t number)
{
    snprintf(s->app, sizeof s->app, "new-%u", number);
    s->app_value = s->app;
    s->labels[0] = (struct solver_label){"app", s->app};
    shape->labels = (struct solver_labels){s->labels, 1};
}

static struct solver_selector select_it(struct scratch *s, size_t place)
{
    s->expressions[place] = (struct solver_expression){
        .key = "app", .op = SOLVER_IN, .values = &s->app_value, .value_count = 1};
    return (struct solver_selector){SOLVER_SELECTOR_GIVEN, {&s->expressions[place], 1}};
}

static void ask_new(struct scratch *s, struct solver_shape *shape, uint32_t number)
{
    name_anew(s, shape, number);
}

static void ask_new_spreads(struct scratch *s, struct solver_shape *shape, uint32_t number)
{
    name_anew(s, shape, number);
    s->spreads[0] = (struct solver_spread){
        .key = ZONE, .max_skew = 1, .hard = true, .selector = select_it(s, 0)};
    s->spreads[1] =
        (struct solver_spread){.key = HOSTNAME, .max_skew = 1, .selector = select_it(s, 0)};
    shape->spreads = s->spreads;
    shape->spread_count = 2;
}

/* Of every pod of the namespace. */
static void ask_wide_spread(struct scratch *s, struct solver_shape *shape, uint32_t number)
{
    ask_new_spreads(s, shape, number);
    s->expressions[0].op = SOLVER_NOT_IN;
}

static void ask_affinity(struct scratch *s, struct solver_shape *shape, uint32_t number)
{
    name_anew(s, shape, number);
    snprintf(s->app, sizeof s->app, "app-%u", number % WARM_WORKLOADS);
    s->affinity = (struct solver_pod_affinity){
        .required = true, .key = number % 2 ? ZONE : HOSTNAME, .selector = select_it(s, 0)};
    shape->affinities = &s->affinity;
    shape->affinity_count = 1;
    s->labels[1] = (struct solver_label){"asked", "yes"};
    shape->labels.items = &s->labels[1];
}

static void ask_volume(struct scratch *s, struct solver_shape *shape, uint32_t number)
{
    static const char *const zones[] = {"test-zone-1", "test-zone-2", "test-zone-3"};
    name_anew(s, shape, number);
    s->expressions[1] = (struct solver_expression){
        .key = ZONE, .op = SOLVER_IN, .values = &zones[number % 3], .value_count = 1};
    s->terms[0] = (struct solver_expressions){&s->expressions[1], 1};
    s->volume = (struct solver_volume){.alternatives = s->terms, .alternative_count = 1};
    shape->volumes = &s->volume;
    shape->volume_count = 1;
}

static void want_much(struct scratch *s, struct solver_shape *shape, int64_t cpu_milli)
{
    s->requests[0] = (struct solver_amount){SOLVER_CPU, cpu_milli};
    s->requests[1] = (struct solver_amount){SOLVER_MEMORY, 1 << 20};
    shape->requests = (struct solver_amounts){s->requests, 2};
}

/* No node has room; something can be bought. */
static void ask_to_buy(struct scratch *s, struct solver_shape *shape, uint32_t number)
{
    ask_new_spreads(s, shape, number);
    want_much(s, shape, 20000 + number % 1000);
}

static void ask_too_much(struct scratch *s, struct solver_shape *shape, uint32_t number)
{
    ask_new_spreads(s, shape, number);
    want_much(s, shape, 100000000);
}

static void ask_for_no_type(struct scratch *s, struct solver_shape *shape, uint32_t number)
{
    static const char *const types[] = {"fake-it-none"};
    ask_new_spreads(s, shape, number);
    s->expressions[1] = (struct solver_expression){.key = "node.kubernetes.io/instance-type",
                                                   .op = SOLVER_IN,
                                                   .values = types,
                                                   .value_count = 1};
    s->terms[0] = (struct solver_expressions){&s->expressions[1], 1};
    shape->required = s->terms;
    shape->required_count = 1;
}

/* Nothing is wrong but that no zone is right: every pool has to be asked. */
static void ask_for_no_zone(struct scratch *s, struct solver_shape *shape, uint32_t number)
{
    static const char *const zones[] = {"test-zone-1", "test-zone-2"};
    ask_new_spreads(s, shape, number);
    shape->spread_count = 1;
    for (size_t i = 0; i < 2; i++) {
        s->expressions[1 + i] = (struct solver_expression){
            .key = ZONE, .op = SOLVER_IN, .values = &zones[i], .value_count = 1};
        s->terms[i] = (struct solver_expressions){&s->expressions[1 + i], 1};
    }
    shape->required = s->terms;
    shape->required_count = 1;
    s->volume = (struct solver_volume){.alternatives = &s->terms[1], .alternative_count = 1};
    shape->volumes = &s->volume;
    shape->volume_count = 1;
}

/* ---- measuring ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_times(const char *what, double *times, size_t count)
{
    qsort(times, count, sizeof *times, compare_doubles);
    printf("%-22s p50 %7.1f  p99 %7.1f  max %8.1f", what, times[count / 2], times[count * 99 / 100],
           times[count - 1]);
}

static bool measure(const char *what, const struct warm *warm, struct solver_run *run,
                    void (*change)(struct scratch *, struct solver_shape *, uint32_t),
                    bool of_zones, struct error *error)
{
    static double times[QUESTIONS];
    size_t kinds[3] = {0};
    struct arena *arena = arena_create((size_t)64 << 20);
    if (arena == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no arena");
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        struct scratch scratch;
        struct solver_shape shape = *warm->shapes[i * 7919 % WARM_WORKLOADS];
        if (change != NULL)
            change(&scratch, &shape, i);
        const struct solver_question question = {.shape = &shape};
        struct solver_answer answer = {.kind = SOLVER_UNSCHEDULABLE};
        struct solver_strings zones;
        double began = microseconds();
        bool good = of_zones ? solver_query_zones(run, &question, arena, &zones, error)
                             : solver_query(run, &question, arena, &answer, error);
        arena_reset(arena);
        times[i] = microseconds() - began;
        if (!good)
            return false;
        kinds[answer.kind]++;
    }
    print_times(what, times, QUESTIONS);
    if (of_zones)
        printf("\n");
    else
        printf("  nowhere %zu node %zu claim %zu\n", kinds[SOLVER_UNSCHEDULABLE],
               kinds[SOLVER_ON_NODE], kinds[SOLVER_ON_NODE_CLAIM]);
    arena_destroy(arena);
    return true;
}

int main(void)
{
    static const struct {
        const char *what;
        void (*change)(struct scratch *, struct solver_shape *, uint32_t);
        bool of_zones;
    } cases[] = {
        {"known", NULL, false},
        {"new", ask_new, false},
        {"new spreads", ask_new_spreads, false},
        {"new, spread of all", ask_wide_spread, false},
        {"new affinity", ask_affinity, false},
        {"new volume", ask_volume, false},
        {"to be bought", ask_to_buy, false},
        {"too much", ask_too_much, false},
        {"of no type", ask_for_no_type, false},
        {"in no zone", ask_for_no_zone, false},
        {"zones, known", NULL, true},
        {"zones, new spreads", ask_new_spreads, true},
    };
    const struct solver_settings settings = {0};
    struct error error;
    struct warm warm;
    struct arena *arena = arena_create((size_t)4 << 30);
    if (arena == NULL)
        return 1;
    double began = microseconds();
    bool good = warm_build(&settings, arena, &warm, &error);
    printf("%-22s %.0f us\n", "built from nothing", microseconds() - began);
    struct solver_run *run = good ? solver_run_create(warm.problem, arena) : NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases && good; i++)
        good = measure(cases[i].what, &warm, run, cases[i].change, cases[i].of_zones, &error);
    if (!good)
        fprintf(stderr, "bench_solver_query: %s\n", error.what);
    arena_destroy(arena);
    return good ? 0 : 1;
}
