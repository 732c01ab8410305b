/* The metrics of reviews. */
#include "server/server.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "server/metric_table.h"

/* Every table is as large as its labels allow and never grows: a name that a client chooses never
 * becomes a label. */

static const char *const operation_labels[] = {"CREATE", "UPDATE", "DELETE", "CONNECT", "other"};
enum { OPERATION_LABELS = COUNT_OF(operation_labels) };

enum { VERDICT_LABELS = ACTION_DENY + 1 };

static const char *const phase_labels[] = {
    [REVIEW_VALIDATE] = "validate",
    [REVIEW_MUTATE] = "mutate",
};
enum { PHASE_LABELS = COUNT_OF(phase_labels) };

static const char *const refusal_labels[REFUSAL_COUNT] = {
    [REFUSED_MALFORMED] = "malformed",     [REFUSED_TOO_LARGE] = "too_large",
    [REFUSED_OVERLOAD] = "overload",       [REFUSED_TIMEOUT] = "timeout",
    [REFUSED_CLIENT_GONE] = "client_gone",
};

static const char *const reload_labels[RELOAD_SUBJECT_COUNT] = {
    [RELOAD_WORLD] = "world",
    [RELOAD_CERTIFICATE] = "certificate",
};

/* Upper bounds of the duration's buckets; one more bucket is for the rest. */
static const struct {
    uint64_t micros;
    const char *seconds;
} bounds[] = {
    {25, "0.000025"}, {50, "0.00005"},  {100, "0.0001"},  {250, "0.00025"}, {500, "0.0005"},
    {1000, "0.001"},  {2500, "0.0025"}, {5000, "0.005"},  {10000, "0.01"},  {25000, "0.025"},
    {50000, "0.05"},  {100000, "0.1"},  {250000, "0.25"}, {500000, "0.5"},  {1000000, "1"},
    {2500000, "2.5"}, {5000000, "5"},   {10000000, "10"}, {30000000, "30"},
};
enum { BOUNDS = COUNT_OF(bounds) };

typedef atomic_uint_fast64_t counter;

struct histogram {
    counter buckets[BOUNDS + 1]; /* not cumulative */
    counter sum_micros;
};

struct metrics {
    counter reviews[PHASE_LABELS][OPERATION_LABELS][KIND_COUNT][VERDICT_LABELS];
    struct histogram durations[PHASE_LABELS];
    counter known_reviews;
    counter body_bytes;
    counter refused[REFUSAL_COUNT];
    counter limits[LIMIT_COUNT][VERDICT_LABELS];
    counter reload_failures[RELOAD_SUBJECT_COUNT];
    atomic_bool reload_failing[RELOAD_SUBJECT_COUNT];
    atomic_int_fast64_t in_flight, timeout_us; /* of the last review that came with one; 0: none */
    counter body_bytes_in_flight;
    counter generation;
    atomic_int_fast64_t loaded_unix_s, certificate_not_after_unix_s; /* 0: not known */
    counter *changes;   /* [rail][outcome], behind the findings */
    counter findings[]; /* [rail][action] */
};

struct metrics *metrics_create(void)
{
    size_t findings = rail_count() * VERDICT_LABELS;
    size_t changes = rail_count() * OUTCOME_COUNT;
    struct metrics *metrics =
        calloc(1, sizeof(struct metrics) + (findings + changes) * sizeof(counter));
    if (metrics != NULL)
        metrics->changes = metrics->findings + findings;
    return metrics;
}

void metrics_destroy(struct metrics *metrics)
{
    free(metrics);
}

static void add(counter *counted, uint64_t amount)
{
    atomic_fetch_add_explicit(counted, amount, memory_order_relaxed);
}

static uint64_t value(const counter *counted)
{
    return atomic_load_explicit(counted, memory_order_relaxed);
}

static size_t operation_index(struct text operation)
{
    size_t i = 0;
    while (i < OPERATION_LABELS - 1 && !text_is(operation, operation_labels[i]))
        i++;
    return i;
}

static size_t rail_index(const char *name)
{
    size_t i = 0;
    while (i < rail_count() && strcmp(rail_name(rail_at(i)), name) != 0)
        i++;
    return i;
}

static void count_verdict(struct metrics *metrics, const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->finding_count; i++) {
        size_t rail = rail_index(verdict->findings[i].rail);
        if (rail < rail_count())
            add(&metrics->findings[rail * VERDICT_LABELS + verdict->findings[i].action], 1);
    }
    for (size_t i = 0; i < verdict->change_count; i++) {
        size_t rail = rail_index(verdict->changes[i].rail);
        if (rail < rail_count())
            add(&metrics->changes[rail * OUTCOME_COUNT + verdict->changes[i].outcome], 1);
    }
}

void metrics_count_limit(struct metrics *metrics, const struct verdict *verdict)
{
    add(&metrics->limits[verdict->limit][verdict->action], 1);
}

void metrics_count_review(struct metrics *metrics, enum review_phase phase,
                          const struct review_record *record, uint64_t micros, size_t body_bytes)
{
    add(&metrics->reviews[phase][operation_index(record->operation)][kind_by_name(record->kind)]
                         [record->verdict.action],
        1);
    count_verdict(metrics, &record->verdict);
    if (record->verdict.limit != LIMIT_NONE)
        metrics_count_limit(metrics, &record->verdict);
    struct histogram *durations = &metrics->durations[phase];
    size_t bucket = 0;
    while (bucket < BOUNDS && micros > bounds[bucket].micros)
        bucket++;
    add(&durations->buckets[bucket], 1);
    add(&durations->sum_micros, micros);
    add(&metrics->body_bytes, body_bytes);
}

void metrics_count_known_review(struct metrics *metrics)
{
    add(&metrics->known_reviews, 1);
}

void metrics_count_refusal(struct metrics *metrics, enum refusal refusal)
{
    add(&metrics->refused[refusal], 1);
}

void metrics_count_reload_failure(struct metrics *metrics, enum reload_subject subject)
{
    add(&metrics->reload_failures[subject], 1);
}

void metrics_set_reload_failing(struct metrics *metrics, enum reload_subject subject, bool failing)
{
    atomic_store_explicit(&metrics->reload_failing[subject], failing, memory_order_relaxed);
}

void metrics_set_timeout(struct metrics *metrics, int64_t timeout_us)
{
    atomic_store_explicit(&metrics->timeout_us, timeout_us, memory_order_relaxed);
}

void metrics_set_in_flight(struct metrics *metrics, int64_t delta)
{
    atomic_fetch_add_explicit(&metrics->in_flight, delta, memory_order_relaxed);
}

void metrics_set_body_bytes_in_flight(struct metrics *metrics, size_t bytes)
{
    atomic_store_explicit(&metrics->body_bytes_in_flight, bytes, memory_order_relaxed);
}

void metrics_set_world(struct metrics *metrics, uint64_t generation, int64_t loaded_unix_s)
{
    atomic_store_explicit(&metrics->generation, generation, memory_order_relaxed);
    atomic_store_explicit(&metrics->loaded_unix_s, loaded_unix_s, memory_order_relaxed);
}

void metrics_set_certificate(struct metrics *metrics, int64_t not_after_unix_s)
{
    atomic_store_explicit(&metrics->certificate_not_after_unix_s, not_after_unix_s,
                          memory_order_relaxed);
}

/* ---- text ---- */

static void print_reviews_of(const struct metrics *metrics, enum review_phase phase,
                             size_t operation, struct text_builder *out)
{
    for (size_t kind = 0; kind < KIND_COUNT; kind++)
        for (enum action action = ACTION_NONE; action <= ACTION_DENY; action++) {
            uint64_t count = value(&metrics->reviews[phase][operation][kind][action]);
            if (count == 0)
                continue;
            metric_add(out, METRIC_REVIEWS, (int64_t)count,
                       "phase=\"%s\",operation=\"%s\",kind=\"%s\",verdict=\"%s\"",
                       phase_labels[phase], operation_labels[operation],
                       kind == KIND_UNKNOWN ? "other" : kind_table[kind].name, action_name(action));
        }
}

static void print_reviews(const struct metrics *metrics, struct text_builder *out)
{
    metric_begin(out, METRIC_REVIEWS);
    for (int phase = 0; phase < PHASE_LABELS; phase++)
        for (size_t operation = 0; operation < OPERATION_LABELS; operation++)
            print_reviews_of(metrics, (enum review_phase)phase, operation, out);
}

static void print_findings(const struct metrics *metrics, struct text_builder *out)
{
    metric_begin(out, METRIC_FINDINGS);
    for (size_t rail = 0; rail < rail_count(); rail++)
        for (enum action action = ACTION_EXCEPTED; action <= ACTION_DENY; action++)
            metric_add(out, METRIC_FINDINGS,
                       (int64_t)value(&metrics->findings[rail * VERDICT_LABELS + action]),
                       "rail=\"%s\",action=\"%s\"", rail_name(rail_at(rail)), action_name(action));
}

static void print_changes(const struct metrics *metrics, struct text_builder *out)
{
    metric_begin(out, METRIC_CHANGES);
    for (size_t rail = 0; rail < rail_count(); rail++)
        for (enum change_outcome outcome = 0;
             outcome < OUTCOME_COUNT && rail_changes_pods(rail_at(rail)); outcome++)
            metric_add(out, METRIC_CHANGES,
                       (int64_t)value(&metrics->changes[rail * OUTCOME_COUNT + outcome]),
                       "rail=\"%s\",outcome=\"%s\"", rail_name(rail_at(rail)),
                       outcome_name(outcome));
}

static void print_durations(const struct metrics *metrics, struct text_builder *out)
{
    const char *name = metric_table[METRIC_REVIEW_DURATION].name;
    metric_begin(out, METRIC_REVIEW_DURATION);
    for (size_t phase = 0; phase < PHASE_LABELS; phase++) {
        const struct histogram *durations = &metrics->durations[phase];
        /* The count is the sum of the buckets read here, so that both agree. */
        unsigned long long count = 0;
        for (size_t i = 0; i <= BOUNDS; i++) {
            count += value(&durations->buckets[i]);
            text_builder_printf(out, "%s_bucket{phase=\"%s\",le=\"%s\"} %llu\n", name,
                                phase_labels[phase], i < BOUNDS ? bounds[i].seconds : "+Inf",
                                count);
        }
        uint64_t sum_micros = value(&durations->sum_micros);
        text_builder_printf(out,
                            "%s_sum{phase=\"%s\"} %llu.%06u\n"
                            "%s_count{phase=\"%s\"} %llu\n",
                            name, phase_labels[phase], (unsigned long long)(sum_micros / 1000000),
                            (unsigned)(sum_micros % 1000000), name, phase_labels[phase], count);
    }
    int64_t timeout_us = atomic_load(&metrics->timeout_us);
    if (timeout_us == 0)
        return;
    metric_begin(out, METRIC_REVIEW_TIMEOUT);
    metric_add_ms(out, METRIC_REVIEW_TIMEOUT, timeout_us / 1000, NULL);
}

static void print_refused(const struct metrics *metrics, struct text_builder *out)
{
    metric_begin(out, METRIC_REQUESTS_REFUSED);
    for (size_t i = 0; i < REFUSAL_COUNT; i++)
        metric_add(out, METRIC_REQUESTS_REFUSED, (int64_t)value(&metrics->refused[i]),
                   "reason=\"%s\"", refusal_labels[i]);
}

static void print_limits(const struct metrics *metrics, struct text_builder *out)
{
    metric_begin(out, METRIC_REVIEW_LIMITS);
    for (enum review_limit limit = LIMIT_NONE + 1; limit < LIMIT_COUNT; limit++)
        for (enum action action = ACTION_NONE; action <= ACTION_DENY; action++)
            metric_add(out, METRIC_REVIEW_LIMITS, (int64_t)value(&metrics->limits[limit][action]),
                       "limit=\"%s\",verdict=\"%s\"", limit_name(limit), action_name(action));
}

static void print_reloads(const struct metrics *metrics, struct text_builder *out)
{
    metric_begin(out, METRIC_RELOAD_FAILURES);
    for (enum reload_subject subject = 0; subject < RELOAD_SUBJECT_COUNT; subject++)
        metric_add(out, METRIC_RELOAD_FAILURES, (int64_t)value(&metrics->reload_failures[subject]),
                   "what=\"%s\"", reload_labels[subject]);
    metric_begin(out, METRIC_RELOAD_FAILING);
    for (enum reload_subject subject = 0; subject < RELOAD_SUBJECT_COUNT; subject++)
        metric_add(out, METRIC_RELOAD_FAILING, atomic_load(&metrics->reload_failing[subject]),
                   "what=\"%s\"", reload_labels[subject]);
}

struct text metrics_text(const struct metrics *metrics, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    print_reviews(metrics, &out);
    metric_one(&out, METRIC_KNOWN_REVIEWS, (int64_t)value(&metrics->known_reviews));
    print_findings(metrics, &out);
    print_changes(metrics, &out);
    print_durations(metrics, &out);
    metric_one(&out, METRIC_REVIEWS_IN_FLIGHT, atomic_load(&metrics->in_flight));
    print_refused(metrics, &out);
    print_limits(metrics, &out);
    metric_one(&out, METRIC_BODY_BYTES, (int64_t)value(&metrics->body_bytes));
    metric_one(&out, METRIC_BODY_BYTES_IN_FLIGHT, (int64_t)value(&metrics->body_bytes_in_flight));
    metric_one(&out, METRIC_POLICY_GENERATION, (int64_t)value(&metrics->generation));
    int64_t loaded = atomic_load(&metrics->loaded_unix_s);
    if (loaded != 0)
        metric_one(&out, METRIC_POLICY_LOADED, loaded);
    print_reloads(metrics, &out);
    int64_t not_after = atomic_load(&metrics->certificate_not_after_unix_s);
    if (not_after != 0)
        metric_one(&out, METRIC_CERTIFICATE_NOT_AFTER, not_after);
    metric_begin(&out, METRIC_BUILD_INFO);
    metric_add(&out, METRIC_BUILD_INFO, 1, "version=\"%s\"", taffrail_version);
    return text_builder_text(&out);
}
