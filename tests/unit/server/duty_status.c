/* What the ops port says about the duties of the elected replica: the certificate, and reports. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/reports.h"
#include "server/webhook_manager.h"
#include "unit.h"

const char unit_suite[] = "server/duty status";

static struct arena *arena;
static const struct webhook_manager_settings keeps = {
    .namespace = "taffrail", .secret = "taffrail-tls", .configuration = "rails"};
static const struct webhook_manager_settings elects = {.namespace = "taffrail"};

static bool has(struct text metrics, const char *line)
{
    return strstr(metrics.data, arena_printf(arena, "\n%s\n", line).data) != NULL;
}

/* ---- the certificate ---- */

static struct webhook_manager_status *manager_status(const struct webhook_manager_settings *of,
                                                     const struct webhook_manager_report *report)
{
    struct webhook_manager_status *status = webhook_manager_status_create(of);
    CU_ASSERT_PTR_NOT_NULL_FATAL(status);
    webhook_manager_status_set(status, report);
    return status;
}

static void the_line_says_who_keeps_the_certificate(void)
{
    static const struct {
        const struct webhook_manager_settings *settings;
        struct webhook_manager_report report;
        const char *line;
    } cases[] = {
        {&keeps,
         {.leads = true, .serving = true},
         "; certificate of Secret taffrail/taffrail-tls, kept by this replica"},
        {&keeps,
         {.leads = true, .serving = true, .ca_count = 1},
         "; certificate of Secret taffrail/taffrail-tls, signed by the only CA of ca.crt, kept by "
         "this replica"},
        {&keeps,
         {.leads = true, .serving = true, .ca_count = 2, .signer = 1},
         "; certificate of Secret taffrail/taffrail-tls, signed by an older one of 2 CAs of "
         "ca.crt, kept by this replica"},
        {&keeps,
         {.leads = true, .serving = true, .ca_count = 2},
         "; certificate of Secret taffrail/taffrail-tls, signed by the newest of 2 CAs of ca.crt, "
         "kept by this replica"},
        {&keeps,
         {.leads = true, .serving = true, .ca_count = 2, .signer = 2},
         "; certificate of Secret taffrail/taffrail-tls, signed by no CA of ca.crt, kept by this "
         "replica"},
        {&keeps,
         {.leads = true, .ca_count = 1},
         "; certificate of Secret taffrail/taffrail-tls, kept by this replica"},
        {&keeps,
         {.holder = "taffrail-7d9f\n"},
         "; certificate of Secret taffrail/taffrail-tls, kept by taffrail-7d9f "},
        {&keeps, {0}, "; certificate of Secret taffrail/taffrail-tls, kept by nobody yet"},
        {&elects, {.leads = true}, "; elected is this replica"},
        {&elects, {.holder = "taffrail-0"}, "; elected is taffrail-0"},
        {&keeps,
         {.leads = true, .missing = {true, false}},
         "; certificate of Secret taffrail/taffrail-tls, kept by this replica; there is no "
         "ValidatingWebhookConfiguration rails"},
        {&keeps,
         {.leads = true, .missing = {false, true}},
         "; certificate of Secret taffrail/taffrail-tls, kept by this replica; there is no "
         "MutatingWebhookConfiguration rails"},
        {&keeps,
         {.leads = true, .problem = {"refused\t403", "", "gone", "late"}},
         "; certificate of Secret taffrail/taffrail-tls, kept by this replica; lease: refused 403; "
         "ca-bundle: gone; ca-bundle: late"},
        {&keeps,
         {.leads = true, .problem = {"", "no answer"}},
         "; certificate of Secret taffrail/taffrail-tls, kept by this replica; secret: no answer"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct webhook_manager_status *status = manager_status(cases[i].settings, &cases[i].report);
        struct text_builder out = {.arena = arena};
        webhook_manager_status_add_line(status, &out);
        ASSERT_TEXT(text_builder_text(&out), cases[i].line);
        webhook_manager_status_destroy(status);
    }
    webhook_manager_status_destroy(NULL);
}

static void who_waits_for_a_certificate_is_not_ready(void)
{
    static const struct {
        const struct webhook_manager_settings *settings;
        struct webhook_manager_report report;
        const char *why; /* NULL: it is ready */
    } cases[] = {
        {&keeps, {.serving = true, .problem = {"", "no answer"}}, NULL},
        {&elects, {0}, NULL}, /* its certificate comes from files */
        {&keeps, {0}, "waiting for a certificate in Secret taffrail/taffrail-tls\n"},
        {&keeps,
         {.leads = true, .problem = {"", "answered\n403"}},
         "waiting for a certificate in Secret taffrail/taffrail-tls; secret: answered 403\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct webhook_manager_status *status = manager_status(cases[i].settings, &cases[i].report);
        struct text why = TEXT("");
        bool ready = webhook_manager_status_is_ready(status, arena, &why);
        ASSERT_INT(ready, cases[i].why == NULL);
        ASSERT_TEXT(why, cases[i].why == NULL ? "" : cases[i].why);
        webhook_manager_status_destroy(status);
    }
}

static void metrics_of_duties_are_each_its_own(void)
{
    static const struct webhook_manager_report report = {
        .leads = true, .failures = {1, 2, 3}, .writes = {4, 5, 6}, .missing = {false, true}};
    struct webhook_manager_status *status = manager_status(&keeps, &report);
    struct text_builder out = {.arena = arena};
    webhook_manager_status_add_metrics(status, &out);
    static const char *const lines[] = {
        "taffrail_leader 1",
        "taffrail_duty_failures_total{duty=\"lease\"} 1",
        "taffrail_duty_failures_total{duty=\"secret\"} 2",
        "taffrail_duty_failures_total{duty=\"ca-bundle\"} 3",
        "taffrail_duty_writes_total{duty=\"lease\"} 4",
        "taffrail_duty_writes_total{duty=\"secret\"} 5",
        "taffrail_duty_writes_total{duty=\"ca-bundle\"} 6",
        "taffrail_webhook_configuration_missing{kind=\"ValidatingWebhookConfiguration\"} 0",
        "taffrail_webhook_configuration_missing{kind=\"MutatingWebhookConfiguration\"} 1",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        CU_ASSERT(has(text_builder_text(&out), lines[i]));
    webhook_manager_status_destroy(status);

    /* Who only elects has no configuration to miss. */
    status = manager_status(&elects, &report);
    out = (struct text_builder){.arena = arena};
    webhook_manager_status_add_metrics(status, &out);
    CU_ASSERT(has(text_builder_text(&out), "taffrail_leader 1"));
    CU_ASSERT(strstr(text_builder_text(&out).data, "configuration_missing") == NULL);
    webhook_manager_status_destroy(status);
}

/* ---- reports ---- */

static void the_line_says_how_old_reports_are(void)
{
    static const struct {
        struct reports_report report;
        const char *line;
    } cases[] = {
        {{.api = REPORT_API_WGPOLICY, .succeeded_unix_s = 1}, ""}, /* the leader writes them */
        {{.leads = true, .api = REPORTS_NO_API}, "; reports: none yet"},
        {{.leads = true, .looked = true, .api = REPORTS_NO_API},
         "; reports: neither openreports.io/v1alpha1 nor wgpolicyk8s.io/v1alpha2 is installed"},
        {{.leads = true, .looked = true, .api = REPORT_API_WGPOLICY}, "; reports: none yet"},
        {{.leads = true, .api = REPORTS_NO_API, .looked = true, .problem = "answered\n500"},
         "; reports: answered 500"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct reports_status *status = reports_status_create();
        CU_ASSERT_PTR_NOT_NULL_FATAL(status);
        struct text_builder out = {.arena = arena};
        reports_status_set(status, &cases[i].report, NULL);
        reports_status_add_line(status, &out);
        ASSERT_TEXT(text_builder_text(&out), cases[i].line);
        reports_status_destroy(status);
    }
    static const char *const apis[REPORT_API_COUNT] = {
        [REPORT_API_OPENREPORTS] = "openreports.io/v1alpha1",
        [REPORT_API_WGPOLICY] = "wgpolicyk8s.io/v1alpha2",
    };
    for (size_t i = 0; i < COUNT_OF(apis); i++) {
        struct reports_status *status = reports_status_create();
        CU_ASSERT_PTR_NOT_NULL_FATAL(status);
        const struct reports_report report = {.leads = true,
                                              .looked = true,
                                              .api = (enum report_api)i,
                                              .report_count = 12,
                                              .succeeded_unix_s = time(NULL) - 5};
        struct text_builder out = {.arena = arena};
        reports_status_set(status, &report, NULL);
        reports_status_add_line(status, &out);
        struct text start = arena_printf(arena, "; reports: 12 of %s, ", apis[i]);
        CU_ASSERT_TRUE(text_starts_with(text_builder_text(&out), start));
        long long age_s = -1;
        CU_ASSERT(sscanf(text_builder_text(&out).data + start.size, "%lld s old", &age_s) == 1);
        CU_ASSERT(age_s >= 5 && age_s < 60);
        reports_status_destroy(status);
    }
    reports_status_destroy(NULL);
}

static void metrics_of_the_last_audit_are_the_leaders(void)
{
    struct reports_status *status = reports_status_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(status);
    struct reports_report report = {
        .leads = true,
        .api = REPORT_API_OPENREPORTS,
        .interval_s = 600,
        .succeeded_unix_s = 1794000000,
        .audit_ms = 1250,
        .written = {.written = 1, .unchanged = 2, .removed = 3, .failed = 4},
        .audits = 7,
        .failures = 5,
        .object_count = 11,
        .left_out = 8,
        .report_count = 9,
    };
    size_t(*findings)[AUDIT_OUTCOMES] = arena_array(arena, rail_count(), sizeof *findings);
    const struct reports_audit_sums sums = {.of = findings};
    findings[0][0] = 21;
    findings[rail_count() - 1][AUDIT_OUTCOMES - 1] = 22;
    reports_status_set(status, &report, &sums);
    static const char *const of_all[] = {
        "taffrail_reports_interval_seconds 600",
        "taffrail_audits_total 7",
        "taffrail_report_failures_total 5",
        "taffrail_report_writes_total{result=\"written\"} 1",
        "taffrail_report_writes_total{result=\"unchanged\"} 2",
        "taffrail_report_writes_total{result=\"removed\"} 3",
        "taffrail_report_writes_total{result=\"failed\"} 4",
    };
    const char *const of_leader[] = {
        "taffrail_reports_last_success_timestamp_seconds 1794000000",
        "taffrail_reports{api=\"openreports.io/v1alpha1\"} 9",
        "taffrail_audit_duration_seconds 1.250",
        "taffrail_audit_objects 11",
        "taffrail_reports_left_out_findings 8",
        arena_printf(arena, "taffrail_audit_findings{rail=\"%s\",outcome=\"%s\"} 21",
                     rail_name(rail_at(0)), audit_outcome_names[0])
            .data,
        arena_printf(arena, "taffrail_audit_findings{rail=\"%s\",outcome=\"%s\"} 22",
                     rail_name(rail_at(rail_count() - 1)), audit_outcome_names[AUDIT_OUTCOMES - 1])
            .data,
    };
    enum { API_LINES = 2 }; /* of them, the first: there where reports have an API */
    static const struct {
        bool leads, has_api, audited;
    } cases[] = {{true, true, true}, {true, false, true}, {true, true, false}, {false, true, true}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        report.leads = cases[i].leads;
        report.api = cases[i].has_api ? REPORT_API_OPENREPORTS : REPORTS_NO_API;
        report.audits = cases[i].audited ? 7 : 0;
        reports_status_set(status, &report, NULL); /* the sums stay */
        struct text_builder out = {.arena = arena};
        reports_status_add_metrics(status, &out);
        struct text said = text_builder_text(&out);
        for (size_t j = 0; j < COUNT_OF(of_all); j++)
            CU_ASSERT(has(said, of_all[j]) || (j == 1 && !cases[i].audited));
        for (size_t j = 0; j < COUNT_OF(of_leader); j++) {
            bool there = cases[i].leads && (cases[i].has_api || j >= API_LINES) &&
                         (cases[i].audited || j == 0);
            ASSERT_INT(has(said, of_leader[j]), there);
        }
    }
    reports_status_destroy(status);
}

#define TEST(function)                       \
    static void in_arena_##function(void)    \
    {                                        \
        arena = arena_create(1 << 24);       \
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena); \
        function();                          \
        arena_destroy(arena);                \
    }
TEST(the_line_says_who_keeps_the_certificate)
TEST(who_waits_for_a_certificate_is_not_ready)
TEST(metrics_of_duties_are_each_its_own)
TEST(the_line_says_how_old_reports_are)
TEST(metrics_of_the_last_audit_are_the_leaders)

const struct unit_test unit_tests[] = {
    {"the line says who keeps the certificate", in_arena_the_line_says_who_keeps_the_certificate},
    {"who waits for a certificate is not ready", in_arena_who_waits_for_a_certificate_is_not_ready},
    {"metrics of duties are each its own", in_arena_metrics_of_duties_are_each_its_own},
    {"the line says how old reports are", in_arena_the_line_says_how_old_reports_are},
    {"metrics of the last audit are the leader's",
     in_arena_metrics_of_the_last_audit_are_the_leaders},
    {NULL, NULL},
};
