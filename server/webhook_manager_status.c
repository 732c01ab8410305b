/* The webhook manager on /readyz and /metrics: its thread writes the status, the ops port reads it.
 */
#include <pthread.h>
#include <stdlib.h>

#include "server/metric_table.h"
#include "server/webhook_manager.h"

struct webhook_manager_status {
    pthread_mutex_t mutex;
    const struct webhook_manager_settings *settings;
    struct webhook_manager_report report;
};

static const char *const duty_names[DUTY_COUNT] = {
    [DUTY_LEASE] = "lease",
    [DUTY_SECRET] = "secret",
    [DUTY_BUNDLE] = "ca-bundle",
};

static const char *configuration_kind(size_t which)
{
    return resource_table[RESOURCE_VALIDATING_CONFIGURATION + which].kind;
}

struct webhook_manager_status *webhook_manager_status_create(
    const struct webhook_manager_settings *settings)
{
    struct webhook_manager_status *status = calloc(1, sizeof *status);
    if (status == NULL)
        return NULL;
    pthread_mutex_init(&status->mutex, NULL);
    status->settings = settings;
    return status;
}

void webhook_manager_status_destroy(struct webhook_manager_status *status)
{
    if (status == NULL)
        return;
    pthread_mutex_destroy(&status->mutex);
    free(status);
}

void webhook_manager_status_set(struct webhook_manager_status *status,
                                const struct webhook_manager_report *report)
{
    pthread_mutex_lock(&status->mutex);
    status->report = *report;
    pthread_mutex_unlock(&status->mutex);
}

/* A copy, because printing may end in its arena's guard, and would leave a lock behind. */
static struct webhook_manager_report read_status(struct webhook_manager_status *status)
{
    pthread_mutex_lock(&status->mutex);
    struct webhook_manager_report report = status->report;
    pthread_mutex_unlock(&status->mutex);
    return report;
}

static void add_problems(const struct webhook_manager_report *report, struct text_builder *out)
{
    for (size_t i = 0; i < MANAGER_PROBLEM_COUNT; i++) {
        if (report->problem[i][0] == '\0')
            continue;
        text_builder_printf(out, "; %s: ", duty_names[i < DUTY_BUNDLE ? i : DUTY_BUNDLE]);
        text_builder_add_line(out, text_of(report->problem[i]));
    }
}

bool webhook_manager_status_is_ready(struct webhook_manager_status *status, struct arena *arena,
                                     struct text *why)
{
    struct webhook_manager_report report = read_status(status);
    if (report.serving || status->settings->secret == NULL)
        return true;
    struct text_builder out = {.arena = arena};
    text_builder_printf(&out, "waiting for a certificate in Secret %s/%s",
                        status->settings->namespace, status->settings->secret);
    add_problems(&report, &out);
    text_builder_add(&out, TEXT("\n"));
    *why = text_builder_text(&out);
    return false;
}

/* While an older CA is there, API servers trust it, too. */
static void add_signer(const struct webhook_manager_report *report, struct text_builder *out)
{
    if (!report->serving || report->ca_count == 0)
        return;
    if (report->signer == report->ca_count)
        text_builder_add(out, TEXT(", signed by no CA of ca.crt"));
    else if (report->ca_count == 1)
        text_builder_add(out, TEXT(", signed by the only CA of ca.crt"));
    else
        text_builder_printf(out, ", signed by %s of %zu CAs of ca.crt",
                            report->signer == 0 ? "the newest" : "an older one", report->ca_count);
}

void webhook_manager_status_add_line(struct webhook_manager_status *status,
                                     struct text_builder *out)
{
    struct webhook_manager_report report = read_status(status);
    if (status->settings->secret != NULL) {
        text_builder_printf(out, "; certificate of Secret %s/%s", status->settings->namespace,
                            status->settings->secret);
        add_signer(&report, out);
        text_builder_add(out, TEXT(", kept by "));
    } else {
        text_builder_add(out, TEXT("; elected is "));
    }
    if (report.leads)
        text_builder_add(out, TEXT("this replica"));
    else
        text_builder_add_line(out,
                              text_of(report.holder[0] == '\0' ? "nobody yet" : report.holder));
    for (size_t i = 0; i < CONFIGURATION_COUNT; i++)
        if (report.missing[i])
            text_builder_printf(out, "; there is no %s %s", configuration_kind(i),
                                status->settings->configuration);
    add_problems(&report, out);
}

static void add_duty(struct text_builder *out, enum metric metric,
                     const uint64_t values[DUTY_COUNT])
{
    metric_begin(out, metric);
    for (enum duty duty = 0; duty < DUTY_COUNT; duty++)
        metric_add(out, metric, (int64_t)values[duty], "duty=\"%s\"", duty_names[duty]);
}

void webhook_manager_status_add_metrics(struct webhook_manager_status *status,
                                        struct text_builder *out)
{
    struct webhook_manager_report report = read_status(status);
    metric_one(out, METRIC_LEADER, report.leads);
    add_duty(out, METRIC_DUTY_FAILURES, report.failures);
    add_duty(out, METRIC_DUTY_WRITES, report.writes);
    if (status->settings->secret == NULL)
        return;
    metric_begin(out, METRIC_CONFIGURATION_MISSING);
    for (size_t i = 0; i < CONFIGURATION_COUNT; i++)
        metric_add(out, METRIC_CONFIGURATION_MISSING, report.missing[i], "kind=\"%s\"",
                   configuration_kind(i));
}
