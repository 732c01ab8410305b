/* labels: threads */
/* Metrics: counters, histograms and gauges. */
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/metric_table.h"
#include "server/server.h"

static double series(const struct metrics *metrics, const char *name)
{
    struct arena *arena = arena_create(8 << 20);
    struct text text = metrics_text(metrics, arena);
    struct text start = arena_printf(arena, "\n%s ", name);
    const char *found = strstr(text.data, start.data);
    double value = found == NULL ? -1 : strtod(found + start.size, NULL);
    arena_destroy(arena);
    return value;
}

static struct review_record record(const char *operation, const char *kind, enum action action)
{
    return (struct review_record){
        .operation = text_of(operation),
        .kind = text_of(kind),
        .verdict = {.action = action},
    };
}

static void reviews_are_counted_by_bounded_labels(void)
{
    static const struct {
        const char *operation, *kind;
        enum action action;
        const char *series;
    } cases[] = {
        {"CREATE", "Pod", ACTION_NONE, "operation=\"CREATE\",kind=\"Pod\",verdict=\"none\""},
        {"UPDATE", "Deployment", ACTION_DENY,
         "operation=\"UPDATE\",kind=\"Deployment\",verdict=\"deny\""},
        {"DELETE", "NodePool", ACTION_WARN,
         "operation=\"DELETE\",kind=\"NodePool\",verdict=\"warn\""},
        {"CONNECT", "PodExecOptions", ACTION_AUDIT,
         "operation=\"CONNECT\",kind=\"other\",verdict=\"audit\""},
        {"PATCH", "Widget\"} 1\nevil{a=\"", ACTION_EXCEPTED,
         "operation=\"other\",kind=\"other\",verdict=\"excepted\""},
        {"", "", ACTION_NONE, "operation=\"other\",kind=\"other\",verdict=\"none\""},
    };
    struct metrics *metrics = metrics_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[256];
        struct review_record one = record(cases[i].operation, cases[i].kind, cases[i].action);
        snprintf(name, sizeof name, "taffrail_reviews_total{phase=\"validate\",%s}",
                 cases[i].series);
        ASSERT_INT(series(metrics, name), -1);
        metrics_count_review(metrics, REVIEW_VALIDATE, &one, 10, 100);
        ASSERT_INT(series(metrics, name), 1);
    }
    ASSERT_INT(series(metrics, "taffrail_request_body_bytes_total"), 600);
    metrics_destroy(metrics);
}

static void durations_fall_into_buckets(void)
{
    static const struct {
        uint64_t micros;
        const char *least_bound; /* the first bucket that holds it */
        const char *bound_below; /* NULL: there is none */
    } cases[] = {
        {0, "0.000025", NULL},     {25, "0.000025", NULL},    {26, "0.00005", "0.000025"},
        {1000, "0.001", "0.0005"}, {1001, "0.0025", "0.001"}, {5000000, "5", "2.5"},
        {5000001, "+Inf", "5"},    {3600000000, "+Inf", "5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct metrics *metrics = metrics_create();
        struct review_record one = record("CREATE", "Pod", ACTION_NONE);
        char name[128];
        metrics_count_review(metrics, REVIEW_MUTATE, &one, cases[i].micros, 1);
        snprintf(name, sizeof name,
                 "taffrail_review_duration_seconds_bucket{phase=\"mutate\",le=\"%s\"}",
                 cases[i].least_bound);
        ASSERT_INT(series(metrics, name), 1);
        if (cases[i].bound_below != NULL) {
            snprintf(name, sizeof name,
                     "taffrail_review_duration_seconds_bucket{phase=\"mutate\",le=\"%s\"}",
                     cases[i].bound_below);
            ASSERT_INT(series(metrics, name), 0);
        }
        ASSERT_INT(series(metrics, "taffrail_review_duration_seconds_count{phase=\"mutate\"}"), 1);
        ASSERT_INT(series(metrics, "taffrail_review_duration_seconds_count{phase=\"validate\"}"),
                   0);
        double sum = series(metrics, "taffrail_review_duration_seconds_sum{phase=\"mutate\"}");
        CU_ASSERT(sum * 1e6 > (double)cases[i].micros - 0.5 &&
                  sum * 1e6 < (double)cases[i].micros + 0.5);
        metrics_destroy(metrics);
    }
}

/* What takes just as long as a bound says is in its bucket, and a microsecond more in the next. */
static void each_bound_is_what_its_label_says(void)
{
    static const struct {
        uint64_t micros;
        const char *bound;
    } bounds[] = {
        {25, "0.000025"}, {50, "0.00005"},  {100, "0.0001"},  {250, "0.00025"}, {500, "0.0005"},
        {1000, "0.001"},  {2500, "0.0025"}, {5000, "0.005"},  {10000, "0.01"},  {25000, "0.025"},
        {50000, "0.05"},  {100000, "0.1"},  {250000, "0.25"}, {500000, "0.5"},  {1000000, "1"},
        {2500000, "2.5"}, {5000000, "5"},   {10000000, "10"}, {30000000, "30"},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        struct metrics *metrics = metrics_create();
        struct review_record one = record("CREATE", "Pod", ACTION_NONE);
        char name[128];
        snprintf(name, sizeof name,
                 "taffrail_review_duration_seconds_bucket{phase=\"validate\",le=\"%s\"}",
                 bounds[i].bound);
        metrics_count_review(metrics, REVIEW_VALIDATE, &one, bounds[i].micros, 1);
        ASSERT_INT(series(metrics, name), 1);
        metrics_count_review(metrics, REVIEW_VALIDATE, &one, bounds[i].micros + 1, 1);
        ASSERT_INT(series(metrics, name), 1);
        metrics_destroy(metrics);
    }
}

static void findings_are_counted_by_rail_and_action(void)
{
    struct finding findings[4];
    memset(findings, 0, sizeof findings);
    findings[0].rail = findings[1].rail = findings[2].rail = rail_name(rail_at(0));
    findings[0].action = findings[1].action = ACTION_DENY;
    findings[2].action = ACTION_AUDIT;
    findings[3].rail = "no such rail";
    findings[3].action = ACTION_DENY;
    struct review_record one = record("CREATE", "Pod", ACTION_DENY);
    one.verdict.findings = findings;
    one.verdict.finding_count = 4;
    struct metrics *metrics = metrics_create();
    metrics_count_review(metrics, REVIEW_VALIDATE, &one, 1, 1);
    static const struct {
        const char *action;
        int count;
    } cases[] = {{"deny", 2}, {"audit", 1}, {"warn", 0}, {"excepted", 0}, {"none", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[128];
        snprintf(name, sizeof name, "taffrail_findings_total{rail=\"%s\",action=\"%s\"}",
                 rail_name(rail_at(0)), cases[i].action);
        ASSERT_INT(series(metrics, name), cases[i].count);
    }
    metrics_destroy(metrics);
}

static void changes_are_counted_by_rail_and_outcome(void)
{
    const struct rail *changer = rail_find(TEXT("accelerators"));
    struct change changes[] = {
        {.rail = rail_name(changer), .outcome = OUTCOME_APPLIED},
        {.rail = rail_name(changer), .outcome = OUTCOME_APPLIED},
        {.rail = rail_name(changer), .outcome = OUTCOME_FAILED},
        {.rail = "no such rail", .outcome = OUTCOME_APPLIED},
    };
    struct review_record one = record("CREATE", "Pod", ACTION_NONE);
    one.verdict.changes = changes;
    one.verdict.change_count = 4;
    struct metrics *metrics = metrics_create();
    metrics_count_review(metrics, REVIEW_MUTATE, &one, 1, 1);
    static const struct {
        const char *labels;
        int count;
    } cases[] = {
        {"rail=\"accelerators\",outcome=\"applied\"", 2},
        {"rail=\"accelerators\",outcome=\"failed\"", 1},
        {"rail=\"accelerators\",outcome=\"warned\"", 0},
        {"rail=\"accelerators\",outcome=\"audited\"", 0},
        {"rail=\"accelerators\",outcome=\"excepted\"", 0},
        {"rail=\"topology-keys\",outcome=\"applied\"", -1}, /* it changes nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[128];
        snprintf(name, sizeof name, "taffrail_changes_total{%s}", cases[i].labels);
        ASSERT_INT(series(metrics, name), cases[i].count);
    }
    ASSERT_INT(series(metrics, "taffrail_reviews_total{phase=\"mutate\",operation=\"CREATE\","
                               "kind=\"Pod\",verdict=\"none\"}"),
               1);
    metrics_destroy(metrics);
}

static void gauges_say_what_was_set(void)
{
    struct metrics *metrics = metrics_create();
    ASSERT_INT(series(metrics, "taffrail_policy_loaded_timestamp_seconds"), -1);
    ASSERT_INT(series(metrics, "taffrail_certificate_not_after_timestamp_seconds"), -1);
    metrics_set_world(metrics, 3, 1794000000);
    metrics_set_certificate(metrics, 1825536000);
    metrics_set_in_flight(metrics, 1);
    metrics_set_in_flight(metrics, 1);
    metrics_set_in_flight(metrics, -1);
    metrics_count_refusal(metrics, REFUSED_OVERLOAD);
    ASSERT_INT(series(metrics, "taffrail_policy_generation"), 3);
    ASSERT_INT(series(metrics, "taffrail_policy_loaded_timestamp_seconds"), 1794000000);
    ASSERT_INT(series(metrics, "taffrail_certificate_not_after_timestamp_seconds"), 1825536000);
    ASSERT_INT(series(metrics, "taffrail_reviews_in_flight"), 1);
    ASSERT_INT(series(metrics, "taffrail_requests_refused_total{reason=\"overload\"}"), 1);
    ASSERT_INT(series(metrics, "taffrail_requests_refused_total{reason=\"malformed\"}"), 0);
    struct arena *arena = arena_create(8 << 20);
    CU_ASSERT(strstr(metrics_text(metrics, arena).data, "\ntaffrail_build_info{version=\"") !=
              NULL);
    arena_destroy(arena);
    metrics_destroy(metrics);
}

/* Each has its own number: none is counted as its neighbour. */
static void each_label_has_its_own_number(void)
{
    static const char *const refusals[REFUSAL_COUNT] = {
        [REFUSED_MALFORMED] = "malformed",     [REFUSED_TOO_LARGE] = "too_large",
        [REFUSED_OVERLOAD] = "overload",       [REFUSED_TIMEOUT] = "timeout",
        [REFUSED_CLIENT_GONE] = "client_gone",
    };
    struct metrics *metrics = metrics_create();
    for (size_t i = 0; i < REFUSAL_COUNT; i++)
        for (size_t times = 0; times <= i; times++)
            metrics_count_refusal(metrics, (enum refusal)i);
    for (size_t i = 0; i < REFUSAL_COUNT; i++) {
        char name[128];
        snprintf(name, sizeof name, "taffrail_requests_refused_total{reason=\"%s\"}", refusals[i]);
        ASSERT_INT(series(metrics, name), i + 1);
    }
    static const char *const subjects[RELOAD_SUBJECT_COUNT] = {
        [RELOAD_WORLD] = "world",
        [RELOAD_CERTIFICATE] = "certificate",
    };
    for (size_t i = 0; i < RELOAD_SUBJECT_COUNT; i++)
        for (size_t times = 0; times <= i; times++)
            metrics_count_reload_failure(metrics, (enum reload_subject)i);
    metrics_set_reload_failing(metrics, RELOAD_CERTIFICATE, true);
    for (size_t i = 0; i < RELOAD_SUBJECT_COUNT; i++) {
        char name[128];
        snprintf(name, sizeof name, "taffrail_reload_failures_total{what=\"%s\"}", subjects[i]);
        ASSERT_INT(series(metrics, name), i + 1);
        snprintf(name, sizeof name, "taffrail_reload_failing{what=\"%s\"}", subjects[i]);
        ASSERT_INT(series(metrics, name), i == RELOAD_CERTIFICATE);
    }
    for (enum review_limit limit = LIMIT_NONE + 1; limit < LIMIT_COUNT; limit++) {
        struct review_record one = record("CREATE", "Pod", ACTION_DENY);
        one.verdict.limit = limit;
        for (int times = 0; times < (int)limit; times++)
            metrics_count_review(metrics, REVIEW_VALIDATE, &one, 1, 1);
    }
    for (enum review_limit limit = LIMIT_NONE + 1; limit < LIMIT_COUNT; limit++) {
        char name[128];
        snprintf(name, sizeof name, "taffrail_review_limits_total{limit=\"%s\",verdict=\"deny\"}",
                 limit_name(limit));
        ASSERT_INT(series(metrics, name), limit);
        snprintf(name, sizeof name, "taffrail_review_limits_total{limit=\"%s\",verdict=\"warn\"}",
                 limit_name(limit));
        ASSERT_INT(series(metrics, name), 0);
    }
    metrics_destroy(metrics);
}

/* Of who sends no timeout nothing is said. */
static void the_callers_time_is_in_seconds(void)
{
    static const struct {
        int64_t timeout_us;
        double seconds;
    } cases[] = {{0, -1}, {10000000, 10}, {2500000, 2.5}, {1005000, 1.005}, {900, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct metrics *metrics = metrics_create();
        metrics_set_timeout(metrics, cases[i].timeout_us);
        double seconds = series(metrics, "taffrail_review_timeout_seconds");
        CU_ASSERT_DOUBLE_EQUAL(seconds, cases[i].seconds, 1e-9);
        metrics_destroy(metrics);
    }
}

enum { THREADS = 4, COUNTED = 20000 };

static void *count_many(void *argument)
{
    struct review_record one = record("CREATE", "Pod", ACTION_NONE);
    for (int i = 0; i < COUNTED; i++)
        metrics_count_review(argument, REVIEW_VALIDATE, &one, 30, 2);
    return NULL;
}

static void threads_lose_no_count(void)
{
    struct metrics *metrics = metrics_create();
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count_many, metrics);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ASSERT_INT(series(metrics, "taffrail_review_duration_seconds_count{phase=\"validate\"}"),
               THREADS * COUNTED);
    ASSERT_INT(series(metrics, "taffrail_request_body_bytes_total"), 2 * THREADS * COUNTED);
    metrics_destroy(metrics);
}

/* A metric without labels, or one that is always there, has no line about that. */
static void the_page_explains_each_metric(void)
{
    struct arena *arena = arena_create(1 << 20);
    struct text page = metric_page(arena);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const struct metric_info *info = &metric_table[i];
        struct text part =
            arena_printf(arena, "\n%s\n  %s, in: %s\n%s%s%s%s%s%s  %s\n", info->name, info->type,
                         info->unit, info->labels[0] == '\0' ? "" : "  labels: ", info->labels,
                         info->labels[0] == '\0' ? "" : "\n",
                         info->shown[0] == '\0' ? "" : "  there when: ", info->shown,
                         info->shown[0] == '\0' ? "" : "\n", info->help);
        CU_ASSERT_PTR_NOT_NULL(memmem(page.data, page.size, part.data, part.size));
    }
    arena_destroy(arena);
}

const char unit_suite[] = "server/metrics";
const struct unit_test unit_tests[] = {
    {"reviews are counted by bounded labels", reviews_are_counted_by_bounded_labels},
    {"durations fall into buckets", durations_fall_into_buckets},
    {"each bound is what its label says", each_bound_is_what_its_label_says},
    {"findings are counted by rail and action", findings_are_counted_by_rail_and_action},
    {"changes are counted by rail and outcome", changes_are_counted_by_rail_and_outcome},
    {"gauges say what was set", gauges_say_what_was_set},
    {"each label has its own number", each_label_has_its_own_number},
    {"the caller's time is in seconds", the_callers_time_is_in_seconds},
    {"threads lose no count", threads_lose_no_count},
    {"the page explains each metric", the_page_explains_each_metric},
    {NULL, NULL},
};
