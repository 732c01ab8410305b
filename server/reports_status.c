/* The reports on /readyz and /metrics: their thread writes the status, the ops port reads it. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "server/metric_table.h"
#include "server/reports.h"

struct reports_status {
    pthread_mutex_t mutex;
    struct reports_report report;
    size_t (*findings)[AUDIT_OUTCOMES]; /* of each rail, in the last audit */
};

static const char *const api_names[REPORT_API_COUNT] = {
    [REPORT_API_OPENREPORTS] = "openreports.io/v1alpha1",
    [REPORT_API_WGPOLICY] = "wgpolicyk8s.io/v1alpha2",
};

struct reports_status *reports_status_create(void)
{
    struct reports_status *status = calloc(1, sizeof *status);
    size_t(*findings)[AUDIT_OUTCOMES] = calloc(rail_count(), sizeof *findings);
    if (status == NULL || findings == NULL) {
        free(status);
        free(findings);
        return NULL;
    }
    pthread_mutex_init(&status->mutex, NULL);
    status->findings = findings;
    status->report.api = REPORTS_NO_API;
    return status;
}

void reports_status_destroy(struct reports_status *status)
{
    if (status == NULL)
        return;
    pthread_mutex_destroy(&status->mutex);
    free(status->findings);
    free(status);
}

void reports_status_set(struct reports_status *status, const struct reports_report *report,
                        const struct reports_audit_sums *sums)
{
    pthread_mutex_lock(&status->mutex);
    status->report = *report;
    if (sums != NULL)
        memcpy(status->findings, sums->of, rail_count() * sizeof *sums->of);
    pthread_mutex_unlock(&status->mutex);
}

/* A copy, because printing may end in its arena's guard, and would leave a lock behind. findings
 * may be NULL. */
static struct reports_report read_status(struct reports_status *status,
                                         size_t (*findings)[AUDIT_OUTCOMES])
{
    pthread_mutex_lock(&status->mutex);
    struct reports_report report = status->report;
    if (findings != NULL)
        memcpy(findings, status->findings, rail_count() * sizeof *findings);
    pthread_mutex_unlock(&status->mutex);
    return report;
}

/* ---- /readyz ---- */

void reports_status_add_line(struct reports_status *status, struct text_builder *out)
{
    struct reports_report report = read_status(status, NULL);
    if (!report.leads)
        return;
    text_builder_add(out, TEXT("; reports: "));
    if (report.problem[0] != '\0')
        text_builder_add_line(out, text_of(report.problem));
    else if (report.looked && report.api == REPORTS_NO_API)
        text_builder_add(out, TEXT("neither openreports.io/v1alpha1 nor wgpolicyk8s.io/v1alpha2 is "
                                   "installed"));
    else if (report.succeeded_unix_s == 0)
        text_builder_add(out, TEXT("none yet"));
    else
        text_builder_printf(out, "%zu of %s, %lld s old", report.report_count,
                            api_names[report.api],
                            (long long)(time(NULL) - report.succeeded_unix_s));
}

/* ---- /metrics ---- */

static void add_findings(const size_t (*findings)[AUDIT_OUTCOMES], struct text_builder *out)
{
    metric_begin(out, METRIC_AUDIT_FINDINGS);
    for (size_t rail = 0; rail < rail_count(); rail++)
        for (size_t outcome = 0; outcome < AUDIT_OUTCOMES; outcome++)
            metric_add(out, METRIC_AUDIT_FINDINGS, (int64_t)findings[rail][outcome],
                       "rail=\"%s\",outcome=\"%s\"", rail_name(rail_at(rail)),
                       audit_outcome_names[outcome]);
}

static void add_writes(const struct reports_written *written, struct text_builder *out)
{
    const struct {
        const char *result;
        uint64_t count;
    } results[] = {
        {"written", written->written},
        {"unchanged", written->unchanged},
        {"removed", written->removed},
        {"failed", written->failed},
    };
    metric_begin(out, METRIC_REPORT_WRITES);
    for (size_t i = 0; i < COUNT_OF(results); i++)
        metric_add(out, METRIC_REPORT_WRITES, (int64_t)results[i].count, "result=\"%s\"",
                   results[i].result);
}

/* What only the leader knows; an old leader's numbers would be old. */
static void add_last_audit(const struct reports_report *report,
                           const size_t (*findings)[AUDIT_OUTCOMES], struct text_builder *out)
{
    if (report->api != REPORTS_NO_API)
        metric_one(out, METRIC_REPORTS_SUCCEEDED, report->succeeded_unix_s);
    if (report->audits == 0)
        return;
    metric_begin(out, METRIC_AUDIT_DURATION);
    metric_add_ms(out, METRIC_AUDIT_DURATION, report->audit_ms, NULL);
    metric_one(out, METRIC_AUDIT_OBJECTS, (int64_t)report->object_count);
    add_findings(findings, out);
    metric_one(out, METRIC_REPORTS_LEFT_OUT, (int64_t)report->left_out);
    if (report->api == REPORTS_NO_API)
        return;
    metric_begin(out, METRIC_REPORTS);
    metric_add(out, METRIC_REPORTS, (int64_t)report->report_count, "api=\"%s\"",
               api_names[report->api]);
}

void reports_status_add_metrics(struct reports_status *status, struct text_builder *out)
{
    size_t(*findings)[AUDIT_OUTCOMES] = arena_array(out->arena, rail_count(), sizeof *findings);
    struct reports_report report = read_status(status, findings);
    metric_one(out, METRIC_REPORTS_INTERVAL, report.interval_s);
    metric_one(out, METRIC_AUDITS, (int64_t)report.audits);
    metric_one(out, METRIC_REPORT_FAILURES, (int64_t)report.failures);
    add_writes(&report.written, out);
    if (report.leads)
        add_last_audit(&report, (const size_t(*)[AUDIT_OUTCOMES])findings, out);
}
