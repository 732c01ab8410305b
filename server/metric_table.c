/* The metrics, and how they are written as text. */
#include "server/metric_table.h"

#define CLUSTER "a cluster is watched"
#define ELECTION "--manage-webhooks or --write-reports is given"
#define LEADER "the replica leads, with --write-reports"

const struct metric_info metric_table[METRIC_COUNT] = {
    [METRIC_REVIEWS] = {"taffrail_reviews_total", "counter", "reviews",
                        "phase, operation, kind, verdict", "",
                        "Admission reviews answered, by the strictest action of their findings."},
    [METRIC_KNOWN_REVIEWS] = {"taffrail_known_reviews_total", "counter", "reviews", "", "",
                              "Of these, Pods that differ in names alone from one in which nothing "
                              "was found seconds before: not judged again."},
    [METRIC_FINDINGS] = {"taffrail_findings_total", "counter", "findings", "rail, action", "",
                         "Findings of each rail, by what was done about them."},
    [METRIC_CHANGES] = {"taffrail_changes_total", "counter", "changes", "rail, outcome", "",
                        "Changes of pods that each rail wanted, by what became of them."},
    [METRIC_REVIEW_DURATION] = {"taffrail_review_duration_seconds", "histogram", "seconds", "phase",
                                "", "Time from the last byte of a review to its answer."},
    [METRIC_REVIEW_TIMEOUT] = {"taffrail_review_timeout_seconds", "gauge", "seconds", "",
                               "a review came with a timeout",
                               "Time that the last caller gave a review (timeoutSeconds of the "
                               "webhook configuration)."},
    [METRIC_REVIEWS_IN_FLIGHT] = {"taffrail_reviews_in_flight", "gauge", "reviews", "", "",
                                  "Reviews being judged now."},
    [METRIC_REQUESTS_REFUSED] = {"taffrail_requests_refused_total", "counter", "requests", "reason",
                                 "", "Requests and connections that got no review."},
    [METRIC_REVIEW_LIMITS] = {"taffrail_review_limits_total", "counter", "reviews",
                              "limit, verdict", "",
                              "Reviews that came to a limit before they were judged to the end, by "
                              "their verdict."},
    [METRIC_BODY_BYTES] = {"taffrail_request_body_bytes_total", "counter", "bytes", "", "",
                           "Bytes of reviews answered."},
    [METRIC_BODY_BYTES_IN_FLIGHT] = {"taffrail_body_bytes_in_flight", "gauge", "bytes", "", "",
                                     "Bytes of requests being read or judged now."},
    [METRIC_READY] = {"taffrail_ready", "gauge", "1 or 0", "", "",
                      "1 when /readyz answers 200: the replica gets reviews."},
    [METRIC_POLICY_GENERATION] = {"taffrail_policy_generation", "gauge", "reloads", "", "",
                                  "Number of the policies and cluster state in force; each reload "
                                  "adds one."},
    [METRIC_POLICY_LOADED] = {"taffrail_policy_loaded_timestamp_seconds", "gauge",
                              "seconds since 1970", "", "",
                              "When the policies in force were loaded."},
    [METRIC_RELOAD_FAILURES] = {"taffrail_reload_failures_total", "counter", "reloads", "what", "",
                                "Reloads that were no good, so that the last good one stayed in "
                                "force."},
    [METRIC_RELOAD_FAILING] = {"taffrail_reload_failing", "gauge", "1 or 0", "what", "",
                               "1 while what was read last is no good, and an older one is in "
                               "force."},
    [METRIC_CERTIFICATE_NOT_AFTER] = {"taffrail_certificate_not_after_timestamp_seconds", "gauge",
                                      "seconds since 1970", "", "",
                                      "When the serving certificate expires."},
    [METRIC_BUILD_INFO] = {"taffrail_build_info", "gauge", "always 1", "version", "",
                           "The label says which version runs."},
    [METRIC_CLUSTER_VISIBLE] = {"taffrail_cluster_visible", "gauge", "1 or 0", "", CLUSTER,
                                "1 once there was a first look at the cluster."},
    [METRIC_CLUSTER_VOLUMES_STALE] = {"taffrail_cluster_volumes_stale", "gauge", "1 or 0", "",
                                      CLUSTER,
                                      "1 when claims or volumes are too old to require a zone."},
    [METRIC_CLUSTER_VIEWS] = {"taffrail_cluster_views_total", "counter", "views", "", CLUSTER,
                              "Views of the cluster that reviews were given."},
    [METRIC_CLUSTER_OBJECTS] = {"taffrail_cluster_objects", "gauge", "objects", "kind", CLUSTER,
                                "Objects of the cluster that are kept."},
    [METRIC_CLUSTER_OBJECT_BYTES] = {"taffrail_cluster_object_bytes", "gauge", "bytes", "kind",
                                     CLUSTER, "Bytes that they take."},
    [METRIC_CLUSTER_UNREADABLE] = {"taffrail_cluster_unreadable_objects", "gauge", "objects",
                                   "kind", CLUSTER,
                                   "Objects of which nothing but the name is known: they could not "
                                   "be read, or not be kept."},
    [METRIC_CLUSTER_LACKING] = {"taffrail_cluster_lacking", "gauge", "1 or 0", "kind", CLUSTER,
                                "1 when there was no memory for all of the kind."},
    [METRIC_CLUSTER_LISTS] = {"taffrail_cluster_lists_total", "counter", "lists", "kind", CLUSTER,
                              "Lists that were read to their end."},
    [METRIC_CLUSTER_EVENTS] = {"taffrail_cluster_events_total", "counter", "events", "kind",
                               CLUSTER, "Events that watches brought."},
    [METRIC_CLUSTER_FAILURES] = {"taffrail_cluster_failures_total", "counter", "requests", "kind",
                                 CLUSTER,
                                 "Lists and watches that failed, expired or were refused."},
    [METRIC_CLUSTER_DEGRADED] = {"taffrail_cluster_degraded", "gauge", "1 or 0", "kind", CLUSTER,
                                 "1 when the kind may not be read, or is not there; it is asked "
                                 "for again now and then."},
    [METRIC_CLUSTER_AGE] = {"taffrail_cluster_age_seconds", "gauge", "seconds", "kind", CLUSTER,
                            "Time since the objects were last known to be as the API server has "
                            "them."},
    [METRIC_LEADER] =
        {"taffrail_leader", "gauge", "1 or 0", "", ELECTION,
         "1 when this replica is the elected one: it keeps the certificate and the CA "
         "bundles, and writes reports."},
    [METRIC_DUTY_FAILURES] = {"taffrail_duty_failures_total", "counter", "requests", "duty",
                              ELECTION,
                              "Requests to the API server around election and certificate that "
                              "failed."},
    [METRIC_DUTY_WRITES] = {"taffrail_duty_writes_total", "counter", "requests", "duty", ELECTION,
                            "Writes of this replica, renewals of the lease aside."},
    [METRIC_CONFIGURATION_MISSING] = {"taffrail_webhook_configuration_missing", "gauge", "1 or 0",
                                      "kind", "--manage-webhooks is given",
                                      "1 when the replica that leads finds no such "
                                      "configuration."},
    [METRIC_AUDITS] = {"taffrail_audits_total", "counter", "audits", "", "--write-reports is given",
                       "Audits of the whole cluster that this replica made."},
    [METRIC_AUDIT_DURATION] = {"taffrail_audit_duration_seconds", "gauge", "seconds", "", LEADER,
                               "How long the last audit took."},
    [METRIC_AUDIT_OBJECTS] = {"taffrail_audit_objects", "gauge", "objects", "", LEADER,
                              "Objects of the last audit."},
    [METRIC_AUDIT_FINDINGS] = {"taffrail_audit_findings", "gauge", "findings", "rail, outcome",
                               LEADER,
                               "What runs and breaks a rail, as the last audit found it: denied, "
                               "warned, audited, excepted or undecided, were it created now."},
    [METRIC_REPORTS] = {"taffrail_reports", "gauge", "reports", "api", LEADER,
                        "Reports in the cluster as of the last audit, by the API they are of."},
    [METRIC_REPORTS_INTERVAL] = {"taffrail_reports_interval_seconds", "gauge", "seconds", "",
                                 "--write-reports is given", "The time between two audits."},
    [METRIC_REPORTS_SUCCEEDED] = {"taffrail_reports_last_success_timestamp_seconds", "gauge",
                                  "seconds since 1970", "",
                                  LEADER ", and the cluster has an API of reports",
                                  "When the reports were last brought up to date; 0 before the "
                                  "first time."},
    [METRIC_REPORTS_LEFT_OUT] = {"taffrail_reports_left_out_findings", "gauge", "findings", "",
                                 LEADER,
                                 "Findings of the last audit that found no place in a report."},
    [METRIC_REPORT_WRITES] = {"taffrail_report_writes_total", "counter", "reports", "result",
                              "--write-reports is given",
                              "Reports that were written, left as they were, removed, or could not "
                              "be written."},
    [METRIC_REPORT_FAILURES] = {"taffrail_report_failures_total", "counter", "audits", "",
                                "--write-reports is given",
                                "Audits after which not every report could be written."},
};

/* ---- text ---- */

void metric_begin(struct text_builder *out, enum metric metric)
{
    const struct metric_info *info = &metric_table[metric];
    text_builder_printf(out, "# HELP %s %s\n# TYPE %s %s\n", info->name, info->help, info->name,
                        info->type);
}

static void add_name(struct text_builder *out, enum metric metric, const char *labels, va_list args)
{
    text_builder_add(out, text_of(metric_table[metric].name));
    if (labels == NULL)
        return;
    struct text printed = arena_vprintf(out->arena, labels, args);
    text_builder_printf(out, "{%.*s}", TEXT_ARGS(printed));
}

void metric_add(struct text_builder *out, enum metric metric, int64_t value, const char *labels,
                ...)
{
    va_list args;
    va_start(args, labels);
    add_name(out, metric, labels, args);
    va_end(args);
    text_builder_printf(out, " %lld\n", (long long)value);
}

void metric_add_ms(struct text_builder *out, enum metric metric, int64_t milliseconds,
                   const char *labels, ...)
{
    va_list args;
    va_start(args, labels);
    add_name(out, metric, labels, args);
    va_end(args);
    text_builder_printf(out, " %lld.%03d\n", (long long)milliseconds / 1000,
                        (int)(milliseconds % 1000));
}

void metric_one(struct text_builder *out, enum metric metric, int64_t value)
{
    metric_begin(out, metric);
    metric_add(out, metric, value, NULL);
}

/* ---- the page ---- */

struct text metric_page(struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    text_builder_add(&out, TEXT("What GET /metrics of the ops port says, in the text format of "
                                "Prometheus:\n"));
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const struct metric_info *info = &metric_table[i];
        text_builder_printf(&out, "\n%s\n  %s, in: %s\n", info->name, info->type, info->unit);
        if (info->labels[0] != '\0')
            text_builder_printf(&out, "  labels: %s\n", info->labels);
        if (info->shown[0] != '\0')
            text_builder_printf(&out, "  there when: %s\n", info->shown);
        text_builder_printf(&out, "  %s\n", info->help);
    }
    return text_builder_text(&out);
}
