/* When the elected replica audits and writes reports: first when it becomes the leader, then after
 * each interval, and soon after other policies are in force. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/cluster_status.h"
#include "server/memory.h"
#include "server/reports.h"

enum {
    TURN_MS = 1000,
    SETTLE_MS = 3000,       /* after other policies came: more may follow */
    RETRY_MS = 30 * 1000,   /* after a round that failed, doubled each time */
    NO_API_MS = 300 * 1000, /* until it is looked for again */
    FINDINGS_PART = 32,     /* of the memory, for the findings of an audit */
    NICENESS = 10,          /* reviews come first */
};

struct reports_thread {
    struct reports_options options;
    struct client *client;
    struct reports_audit *audit;
    struct reports_writer *writer;
    struct reports_report report;
    bool led;
    bool said_no_api;
    unsigned failures;   /* in a row */
    int64_t due_ms;      /* of the next round */
    uint64_t generation; /* of the policies of the last audit */
    atomic_bool stopping;
    bool running;
    pthread_t thread;
};

static bool goes_on(void *context)
{
    struct reports_thread *thread = context;
    return !atomic_load(&thread->stopping) && webhook_thread_leads(thread->options.election);
}

/* ---- one round ---- */

static void tell(struct reports_thread *thread, const struct reports_audit_sums *sums)
{
    thread->report.leads = goes_on(thread);
    reports_status_set(thread->options.status, &thread->report, sums);
}

static int64_t retry_ms(struct reports_thread *thread)
{
    int64_t wait_ms = RETRY_MS, interval_ms = thread->options.interval_s * 1000;
    for (unsigned i = 0; i < thread->failures && wait_ms < interval_ms; i++)
        wait_ms *= 2;
    thread->failures++;
    return wait_ms < interval_ms ? wait_ms : interval_ms;
}

static void fail(struct reports_thread *thread, const char *problem)
{
    if (strcmp(thread->report.problem, problem) != 0)
        log_line(LOG_WARN, "reports", NULL, problem,
                 "no reports were written; it is tried again in a while");
    snprintf(thread->report.problem, sizeof thread->report.problem, "%s", problem);
    thread->report.failures++;
    thread->due_ms = monotonic_ms() + retry_ms(thread);
}

static void say_no_api(struct reports_thread *thread)
{
    if (!thread->said_no_api)
        log_line(LOG_WARN, "reports", NULL, NULL,
                 "no reports are written: the cluster has neither openreports.io/v1alpha1 nor "
                 "wgpolicyk8s.io/v1alpha2; install one of these APIs, or leave out "
                 "--write-reports; it is looked for again every %d minutes",
                 NO_API_MS / 60000);
    thread->said_no_api = true;
    int64_t interval_ms = thread->options.interval_s * 1000;
    thread->due_ms = monotonic_ms() + (interval_ms < NO_API_MS ? interval_ms : NO_API_MS);
}

static void add_written(struct reports_written *sum, const struct reports_written *written)
{
    sum->written += written->written;
    sum->unchanged += written->unchanged;
    sum->removed += written->removed;
    sum->failed += written->failed;
}

static void succeed(struct reports_thread *thread, const struct reports_written *written,
                    const struct reports_audit_sums *sums)
{
    struct reports_report *report = &thread->report;
    if (report->problem[0] != '\0')
        log_line(LOG_INFO, "reports", NULL, NULL, "all is well again: %s", report->problem);
    report->problem[0] = '\0';
    report->succeeded_unix_s = time(NULL);
    thread->failures = 0;
    thread->due_ms = monotonic_ms() + thread->options.interval_s * 1000;
    log_line(LOG_INFO, "reports", NULL, sums->unjudged_count > 0 ? sums->unjudged : NULL,
             "%zu findings of %zu objects, audited in %lld ms: %llu reports written, %llu as they "
             "were, %llu removed; %zu findings found no place in a report, %zu objects could not "
             "be judged",
             sums->finding_count, sums->object_count, (long long)report->audit_ms,
             (unsigned long long)written->written, (unsigned long long)written->unchanged,
             (unsigned long long)written->removed, report->left_out, sums->unjudged_count);
}

static uint64_t generation_now(const struct reports_thread *thread)
{
    const struct world *world = cell_pin(thread->options.worlds, thread->options.slot);
    uint64_t generation = world->generation;
    cell_unpin(thread->options.worlds, thread->options.slot);
    return generation;
}

static bool audit(struct reports_thread *thread, struct reports_link *link, struct error *error)
{
    int64_t start_ms = monotonic_ms();
    thread->generation = generation_now(thread);
    reports_audit_begin(thread->audit, time(NULL));
    if (!reports_list(link, thread->options.worlds, thread->options.slot, thread->audit, error))
        return false;
    thread->report.audits++;
    thread->report.audit_ms = monotonic_ms() - start_ms;
    return true;
}

static void run_round(struct reports_thread *thread, struct reports_link *link)
{
    struct reports_report *report = &thread->report;
    struct reports_written written = {0};
    struct error error = {0};
    bool looked = reports_discover(link, &report->api, &error);
    report->looked |= looked;
    if (looked && report->api == REPORTS_NO_API) {
        say_no_api(thread);
        tell(thread, NULL);
        return;
    }
    thread->said_no_api &= !looked;
    tell(thread, NULL); /* that there is something to write to; the round may take long */
    bool audited = looked && audit(thread, link, &error);
    bool done = audited &&
                reports_write(thread->writer, link, report->api, thread->audit, &written, &error);
    struct reports_audit_sums sums = reports_audit_sums(thread->audit);
    add_written(&report->written, &written);
    if (audited) {
        report->object_count = sums.object_count;
        report->report_count = reports_audit_space_count(thread->audit);
        report->left_out = written.left_out + sums.lost;
    }
    if (done && written.failed == 0)
        succeed(thread, &written, &sums);
    else if (error.kind != ERROR_NONE || written.failed > 0)
        fail(thread, error.kind != ERROR_NONE ? error.what : written.problem);
    tell(thread, audited ? &sums : NULL);
}

/* ---- the thread ---- */

/* A new leader looks anew: another may have done anything meanwhile. */
static void look_at_election(struct reports_thread *thread)
{
    bool leads = webhook_thread_leads(thread->options.election);
    if (leads && !thread->led) {
        thread->due_ms = monotonic_ms();
        thread->failures = 0;
        thread->report.problem[0] = '\0';
        thread->report.succeeded_unix_s = 0;
    }
    thread->led = leads;
}

static bool is_due(struct reports_thread *thread)
{
    int64_t now_ms = monotonic_ms();
    if (!thread->led || !cluster_status_is_visible(thread->options.cluster))
        return false;
    if (thread->generation != 0 && generation_now(thread) != thread->generation &&
        thread->due_ms > now_ms + SETTLE_MS) {
        thread->generation = generation_now(thread);
        thread->due_ms = now_ms + SETTLE_MS;
    }
    return now_ms >= thread->due_ms;
}

static void *run(void *argument)
{
    struct reports_thread *thread = argument;
    struct reports_link link = {.client = thread->client, .goes_on = goes_on, .context = thread};
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
    while (!atomic_load(&thread->stopping)) {
        look_at_election(thread);
        if (is_due(thread))
            run_round(thread, &link);
        else
            tell(thread, NULL);
        struct error error;
        if (!atomic_load(&thread->stopping) && !client_run(thread->client, TURN_MS, &error)) {
            log_line(LOG_ERROR, "reports", NULL, error.what, "the API server cannot be waited for");
            poll(NULL, 0, TURN_MS);
        }
    }
    free(link.body);
    return NULL;
}

bool reports_thread_create(const struct client_config *config,
                           const struct reports_options *options, struct reports_thread **result,
                           struct error *error)
{
    struct reports_thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory to write reports");
    thread->options = *options;
    thread->report.api = REPORTS_NO_API;
    thread->report.interval_s = options->interval_s;
    thread->audit = reports_audit_create(memory_limit_bytes() / FINDINGS_PART);
    thread->writer = reports_writer_create();
    if (thread->audit == NULL || thread->writer == NULL) {
        reports_thread_destroy(thread);
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory to write reports");
    }
    if (!client_open(config, monotonic_ms, &thread->client, error)) {
        reports_thread_destroy(thread);
        return false;
    }
    *result = thread;
    return true;
}

bool reports_thread_start(struct reports_thread *thread, struct error *error)
{
    int code = pthread_create(&thread->thread, NULL, run, thread);
    if (code != 0)
        return error_set(error, ERROR_MEMORY, NOWHERE,
                         "the thread that writes reports cannot be started: %s", strerror(code));
    thread->running = true;
    return true;
}

void reports_thread_stop(struct reports_thread *thread)
{
    if (thread == NULL || !thread->running)
        return;
    atomic_store(&thread->stopping, true);
    client_wake(thread->client);
    pthread_join(thread->thread, NULL);
    thread->running = false;
}

void reports_thread_destroy(struct reports_thread *thread)
{
    if (thread == NULL)
        return;
    reports_thread_stop(thread);
    client_close(thread->client);
    reports_audit_destroy(thread->audit);
    reports_writer_destroy(thread->writer);
    free(thread);
}
