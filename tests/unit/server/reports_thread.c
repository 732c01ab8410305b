/* labels: threads */
/* When the leader audits and writes reports, what it says of it, and when it tries again: the API
 * server, the clock and the election are a test's. */
#include <sys/resource.h>
#include <unistd.h>

#include "log_fixture.h"
#include "object_fixture.h"
#include "scripted_client.h"
#include "server/cluster_status.h"
#include "server/memory.h"
#include "server/reports.h"
#include "world_of_text.h"

const char unit_suite[] = "server/reports thread";

enum { NOW_S = 1795230245, SLOT = 1, SLOTS = 2, INTERVAL_S = 600, NICENESS = 10 };
#define SECOND_MS INT64_C(1000)
#define MINUTE_MS (60 * SECOND_MS)
#define INTERVAL_MS (INTERVAL_S * SECOND_MS)

#define NEW_API "/apis/openreports.io/v1alpha1"
#define OLD_API "/apis/wgpolicyk8s.io/v1alpha2"
#define ROUND "DISCOVER " NEW_API
#define LIST_OF(items) "{\"metadata\":{},\"items\":[" items "]}"
#define STATUS(message) "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"" message "\"}"

/* ---- in place of server/memory.c and of the election ---- */

static size_t memory_bytes;

size_t memory_limit_bytes(void)
{
    return memory_bytes;
}

size_t memory_limit_in(const char *path)
{
    (void)path;
    return memory_bytes;
}

struct webhook_thread {
    atomic_bool leads;
};

bool webhook_thread_leads(const struct webhook_thread *webhook_thread)
{
    return atomic_load(&webhook_thread->leads);
}

/* ---- a thread ---- */

static struct arena *arena;
static struct webhook_thread election;
static struct cell *worlds;
static struct cluster_status *cluster;
static struct reports_status *status;
static struct reports_thread *thread;
static struct error error;
static atomic_size_t pod_count; /* in the cluster */
static atomic_int lose_at;      /* the kind with whose list the replica leads no more */
static atomic_bool jobs_are_refused;
static atomic_int niceness;
static atomic_uint ran;

static void publish(uint64_t generation)
{
    cell_publish(worlds,
                 world_of_text("{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: "
                               "{name: p}, spec: {mode: enforce, rails: {topology-keys: {}}}}\n",
                               (struct world_options){0}, generation, NOW_S),
                 world_destroy);
}

static void put_pod(const struct event_handler *handler, size_t number)
{
    struct arena *own = arena_create(1 << 20);
    struct text pod = arena_printf(
        own,
        "{apiVersion: v1, kind: Pod, metadata: {name: pod-%zu}, spec: {topologySpreadConstraints: "
        "[{topologyKey: zone}]}}",
        number);
    CU_ASSERT(handler->put(handler->context, fixture_object(own, pod.data, "shop")));
    arena_destroy(own);
}

/* Each list has one page. */
static bool turn(void)
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        struct script_watch *watch = &script.of[kind];
        if (!watch->watched || watch->report.synced || watch->report.degraded)
            continue;
        const struct event_handler *handler = &watch->handler;
        if (atomic_load(&lose_at) == (int)kind)
            atomic_store(&election.leads, false);
        if (kind == KIND_JOB && atomic_load(&jobs_are_refused)) {
            watch->report.degraded = true;
            watch->report.refused_status = 403;
            strcpy(watch->report.problem, "answered 403");
            handler->say(handler->context, kind, LOG_WARN, "answered 403");
            return true;
        }
        CU_ASSERT(handler->list_begin(handler->context, kind));
        for (size_t i = 0; kind == KIND_POD && i < atomic_load(&pod_count); i++)
            put_pod(handler, i);
        CU_ASSERT(handler->list_end(handler->context, kind));
        watch->report.synced = true;
        return true;
    }
    return false;
}

static void note_run(int64_t for_ms)
{
    (void)for_ms;
    atomic_fetch_add(&ran, 1);
    atomic_store(&niceness, getpriority(PRIO_PROCESS, (id_t)gettid()));
}

static void show_cluster(bool visible)
{
    const struct cluster_report report = {.visible = visible};
    cluster_status_set(cluster, &report);
}

static void reply(const char *request, unsigned code, const char *body)
{
    script_reply((struct script_reply){.request = request, .status = code, .body = body});
}

/* The cluster has the newer API, and takes every report. */
static void all_is_well(void)
{
    script_new_replies();
    reply("DISCOVER " NEW_API, 200, "{}");
    reply("LIST *", 200, LIST_OF(""));
    reply("PATCH *", 200, "{}");
}

static void create_every(int64_t interval_s)
{
    script_begin();
    script.held = true;
    script.turn = turn;
    script.runs = note_run;
    arena = arena_create(16 << 20);
    memory_bytes = (size_t)1 << 30;
    atomic_store(&election.leads, true);
    atomic_store(&pod_count, 1);
    atomic_store(&lose_at, -1);
    atomic_store(&jobs_are_refused, false);
    atomic_store(&ran, 0);
    worlds = cell_create(SLOTS);
    cluster = cluster_status_create();
    status = reports_status_create();
    CU_ASSERT_FATAL(worlds != NULL && cluster != NULL && status != NULL);
    publish(1);
    show_cluster(true);
    all_is_well();
    const struct reports_options options = {.interval_s = interval_s,
                                            .election = &election,
                                            .worlds = worlds,
                                            .slot = SLOT,
                                            .cluster = cluster,
                                            .status = status};
    CU_ASSERT_FATAL(reports_thread_create(NULL, &options, &thread, &error));
}

static void start(void)
{
    bool started = reports_thread_start(thread, &error);
    script_await_rest();
    CU_ASSERT_FATAL(started);
}

static void begin(void)
{
    create_every(INTERVAL_S);
    start();
}

static void end(void)
{
    script_let_go();
    reports_thread_destroy(thread);
    CU_ASSERT(!script.client.open);
    reports_status_destroy(status);
    cluster_status_destroy(cluster);
    cell_destroy(worlds);
    arena_destroy(arena);
    script_end();
}

/* Asserts when rounds began, in seconds since the start, and forgets them. */
static void assert_rounds(const char *expected, int line)
{
    struct text_builder at_s = {.arena = arena};
    for (size_t i = 0; i < script.asked_count; i++)
        if (strcmp(script.asked[i].request, ROUND) == 0)
            text_builder_printf(&at_s, "%lld ",
                                (long long)(script.asked[i].at_ms - SCRIPT_BEGINS_MS) / 1000);
    unit_assert_text(text_builder_text(&at_s), text_of(expected), __FILE__, line);
    script_forget_asked();
}
#define ASSERT_ROUNDS(expected) assert_rounds((expected), __LINE__)

static struct text ready_line(void)
{
    struct text_builder out = {.arena = arena};
    reports_status_add_line(status, &out);
    return text_builder_text(&out);
}

static long long metric(const char *name)
{
    struct text_builder out = {.arena = arena};
    char line[128];
    long long value = -1;
    reports_status_add_metrics(status, &out);
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(text_builder_text(&out).data, line);
    if (at != NULL)
        value = atoll(at + strlen(line));
    return value;
}
#define WRITES(result) "taffrail_report_writes_total{result=\"" result "\"}"

/* ---- when ---- */

static void a_leader_audits_at_once_and_after_each_interval(void)
{
    begin();
    ASSERT_ROUNDS("0 ");
    script_pass(INTERVAL_MS - 1);
    ASSERT_ROUNDS("");
    script_pass(1);
    ASSERT_ROUNDS("600 ");
    script_pass(2 * INTERVAL_MS);
    ASSERT_ROUNDS("1200 1800 ");
    ASSERT_INT(metric("taffrail_audits_total"), 4);
    ASSERT_INT(metric("taffrail_reports_interval_seconds"), INTERVAL_S);
    end();
}

/* A new leader looks anew, whatever was due before. */
static void who_does_not_lead_audits_nothing(void)
{
    create_every(INTERVAL_S);
    atomic_store(&election.leads, false);
    start();
    script_pass(2 * INTERVAL_MS);
    ASSERT_ROUNDS("");
    ASSERT_TEXT(ready_line(), "");
    atomic_store(&election.leads, true);
    script_pass(SECOND_MS);
    ASSERT_ROUNDS("1201 ");
    CU_ASSERT(text_starts_with(ready_line(), TEXT("; reports: 1 of openreports.io/v1alpha1, ")));
    atomic_store(&election.leads, false);
    script_pass(SECOND_MS);
    ASSERT_TEXT(ready_line(), "");
    script_pass(5 * SECOND_MS);
    atomic_store(&election.leads, true);
    script_pass(SECOND_MS);
    ASSERT_ROUNDS("1208 ");
    end();
}

/* What the rails look up in the cluster must be seen. */
static void an_audit_waits_for_the_cluster(void)
{
    create_every(INTERVAL_S);
    show_cluster(false);
    start();
    script_pass(MINUTE_MS);
    ASSERT_ROUNDS("");
    ASSERT_TEXT(ready_line(), "; reports: none yet");
    show_cluster(true);
    script_pass(SECOND_MS);
    ASSERT_ROUNDS("61 ");
    end();
}

static void other_policies_are_audited_soon(void)
{
    begin();
    ASSERT_ROUNDS("0 ");
    script_pass(10 * SECOND_MS);
    publish(2);
    script_pass(3 * SECOND_MS);
    ASSERT_ROUNDS(""); /* it looks once a second, and sees them a second later */
    publish(3);        /* they do not put it off */
    script_pass(SECOND_MS);
    ASSERT_ROUNDS("14 ");
    ASSERT_INT(metric("taffrail_audits_total"), 2);
    /* The third are audited with the second. */
    script_pass(INTERVAL_MS - SECOND_MS);
    ASSERT_ROUNDS("");
    /* What is due sooner anyway is not put off. */
    publish(4);
    script_pass(SECOND_MS);
    ASSERT_ROUNDS("614 ");
    script_pass(10 * SECOND_MS);
    ASSERT_ROUNDS("");
    end();
}

/* Of nobody who has not audited yet. */
static void other_policies_do_not_hurry_who_does_not_lead(void)
{
    create_every(INTERVAL_S);
    atomic_store(&election.leads, false);
    start();
    script_pass(10 * SECOND_MS);
    publish(2);
    script_pass(10 * SECOND_MS);
    ASSERT_ROUNDS("");
    end();
}

/* ---- what fails ---- */

static void what_failed_is_tried_again_less_and_less_often(void)
{
    static const struct {
        int64_t interval_s, for_s;
        const char *rounds;
    } cases[] = {
        {600, 1529, "0 30 90 210 450 930 "},
        {600, 2130, "0 30 90 210 450 930 1530 2130 "}, /* never less often than without */
        {60, 150, "0 30 90 150 "},
        {30, 60, "0 30 60 "},
        {20, 60, "0 20 40 60 "},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        create_every(cases[i].interval_s);
        script_new_replies();
        reply("DISCOVER *", 403, STATUS("no"));
        struct listening listening = listen_to_log();
        start();
        script_pass(cases[i].for_s * SECOND_MS);
        struct text log = heard(&listening);
        ASSERT_HEARD(log, "no reports were written", 1); /* the same is said once */
        ASSERT_HEARD(log, "\"error\":\"reports cannot be looked for: answered 403: no\"", 1);
        size_t rounds = script_count(ROUND);
        ASSERT_ROUNDS(cases[i].rounds);
        ASSERT_INT(metric("taffrail_report_failures_total"), rounds);
        ASSERT_INT(metric("taffrail_audits_total"), 0);
        ASSERT_TEXT(ready_line(), "; reports: reports cannot be looked for: answered 403: no");
        end();
    }
}

static void a_round_that_succeeds_ends_the_trouble(void)
{
    begin();
    ASSERT_ROUNDS("0 ");
    script_new_replies();
    reply("DISCOVER *", 403, STATUS("no"));
    struct listening listening = listen_to_log();
    script_pass(INTERVAL_MS + 30 * SECOND_MS);
    script_new_replies();
    reply("DISCOVER *", 403, STATUS("not now"));
    script_pass(MINUTE_MS);
    script_new_replies();
    reply("DISCOVER *", 403, STATUS("another"));
    script_pass(2 * MINUTE_MS);
    struct text log = heard(&listening);
    ASSERT_ROUNDS("600 630 690 810 ");
    ASSERT_HEARD(log, "no reports were written", 3); /* another problem is said, too */
    ASSERT_HEARD(log, "\"error\":\"reports cannot be looked for: answered 403: not now\"", 1);
    ASSERT_HEARD(log, "\"error\":\"reports cannot be looked for: answered 403: another\"", 1);
    all_is_well();
    listening = listen_to_log();
    script_pass(4 * MINUTE_MS);
    log = heard(&listening);
    ASSERT_ROUNDS("1050 ");
    ASSERT_HEARD(log, "all is well again: reports cannot be looked for: answered 403: another", 1);
    CU_ASSERT(text_starts_with(ready_line(), TEXT("; reports: 1 of openreports.io/v1alpha1, ")));
    listening = listen_to_log();
    script_pass(INTERVAL_MS);
    log = heard(&listening);
    ASSERT_ROUNDS("1650 ");
    ASSERT_HEARD(log, "all is well again", 0);
    /* The next trouble begins from the start. */
    script_new_replies();
    reply("DISCOVER *", 403, STATUS("no"));
    script_pass(INTERVAL_MS + 90 * SECOND_MS);
    ASSERT_ROUNDS("2250 2280 2340 ");
    end();
}

static void a_new_leader_forgets_the_trouble(void)
{
    create_every(INTERVAL_S);
    script_new_replies();
    reply("DISCOVER *", 403, STATUS("no"));
    start();
    script_pass(90 * SECOND_MS);
    ASSERT_ROUNDS("0 30 90 ");
    atomic_store(&election.leads, false);
    script_pass(SECOND_MS);
    show_cluster(false); /* nothing is asked for meanwhile */
    atomic_store(&election.leads, true);
    script_pass(SECOND_MS);
    ASSERT_TEXT(ready_line(), "; reports: none yet");
    show_cluster(true);
    script_pass(31 * SECOND_MS);
    ASSERT_ROUNDS("93 123 ");
    end();
    /* Nor does it claim what it wrote the last time. */
    begin();
    atomic_store(&election.leads, false);
    script_pass(SECOND_MS);
    show_cluster(false);
    atomic_store(&election.leads, true);
    script_pass(SECOND_MS);
    ASSERT_TEXT(ready_line(), "; reports: none yet");
    ASSERT_INT(metric("taffrail_reports_last_success_timestamp_seconds"), 0);
    end();
}

static void without_an_api_it_is_looked_for_now_and_then(void)
{
    static const struct {
        int64_t interval_s, for_s;
        const char *rounds;
    } cases[] = {
        {600, 900, "0 300 600 900 "},
        {300, 300, "0 300 "},
        {20, 40, "0 20 40 "},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        create_every(cases[i].interval_s);
        script_new_replies();
        struct listening listening = listen_to_log();
        start();
        script_pass(cases[i].for_s * SECOND_MS);
        struct text log = heard(&listening);
        ASSERT_HEARD(log,
                     "no reports are written: the cluster has neither openreports.io/v1alpha1 nor "
                     "wgpolicyk8s.io/v1alpha2; install one of these APIs, or leave out "
                     "--write-reports; it is looked for again every 5 minutes",
                     1);
        ASSERT_ROUNDS(cases[i].rounds);
        ASSERT_INT(metric("taffrail_report_failures_total"), 0);
        ASSERT_TEXT(ready_line(), "; reports: neither openreports.io/v1alpha1 nor "
                                  "wgpolicyk8s.io/v1alpha2 is installed");
        end();
    }
    /* It comes, and goes again, which is said again; trouble between is no news of it. */
    create_every(INTERVAL_S);
    script_new_replies();
    start();
    all_is_well();
    script_pass(5 * MINUTE_MS);
    ASSERT_ROUNDS("0 300 ");
    ASSERT_INT(metric("taffrail_audits_total"), 1);
    script_new_replies();
    struct listening listening = listen_to_log();
    script_pass(INTERVAL_MS);
    reply("DISCOVER *", 403, STATUS("no"));
    script_pass(5 * MINUTE_MS);
    script_new_replies();
    script_pass(MINUTE_MS);
    struct text log = heard(&listening);
    ASSERT_ROUNDS("900 1200 1230 ");
    ASSERT_HEARD(log, "the cluster has neither", 1);
    end();
}

/* What could be written is counted, and the rest is tried again. */
static void a_report_that_cannot_be_written_is_a_failure(void)
{
    create_every(INTERVAL_S);
    atomic_store(&jobs_are_refused, true);
    script_new_replies();
    reply("DISCOVER " NEW_API, 200, "{}");
    reply("LIST *", 200, LIST_OF(""));
    reply("PATCH " NEW_API "/namespaces/*", 403, STATUS("no"));
    reply("PATCH *", 200, "{}");
    start();
    ASSERT_INT(script_count("PATCH *"), 2);
    script_pass(30 * SECOND_MS);
    ASSERT_ROUNDS("0 30 ");
    ASSERT_INT(metric("taffrail_audits_total"), 2);
    ASSERT_INT(metric("taffrail_report_failures_total"), 2);
    ASSERT_INT(metric(WRITES("written")), 2);
    ASSERT_INT(metric(WRITES("failed")), 2);
    ASSERT_INT(metric("taffrail_reports_last_success_timestamp_seconds"), 0);
    /* The audit itself is done. */
    ASSERT_INT(metric("taffrail_audit_objects"), 1);
    ASSERT_INT(metric("taffrail_audit_findings{rail=\"topology-keys\",outcome=\"denied\"}"), 1);
    ASSERT_TEXT(ready_line(), "; reports: the Report of shop cannot be written: answered 403: no");
    end();
}

static void the_end_of_leading_is_no_failure(void)
{
    create_every(INTERVAL_S);
    atomic_store(&lose_at, KIND_POD);
    struct listening listening = listen_to_log();
    start();
    struct text log = heard(&listening);
    ASSERT_ROUNDS("0 ");
    ASSERT_HEARD(log, "\"component\":\"reports\"", 0);
    ASSERT_TEXT(ready_line(), "");
    ASSERT_INT(metric("taffrail_report_failures_total"), 0);
    ASSERT_INT(metric("taffrail_audits_total"), 0);
    end();
}

/* ---- what is told ---- */

static void a_round_is_counted(void)
{
    create_every(INTERVAL_S);
    atomic_store(&pod_count, 3);
    atomic_store(&jobs_are_refused, true);
    script_new_replies();
    reply("DISCOVER " NEW_API, 200, "{}");
    reply("LIST " NEW_API "/reports?*", 200,
          LIST_OF("{\"metadata\":{\"name\":\"taffrail\",\"namespace\":\"old\",\"labels\":{"
                  "\"app.kubernetes.io/managed-by\":\"taffrail\"}}}"));
    reply("LIST *", 200, LIST_OF(""));
    reply("DELETE *", 200, "{}");
    script_reply(
        (struct script_reply){.request = "PATCH *", .status = 200, .body = "{}", .after_ms = 250});
    struct listening listening = listen_to_log();
    start();
    script_pass(10 * SECOND_MS);
    struct text log = heard(&listening);
    ASSERT_HEARD(log,
                 "3 findings of 3 objects, audited in 0 ms: 2 reports written, 0 as they were, 1 "
                 "removed; 0 findings found no place in a report, 0 objects could not be judged",
                 1);
    ASSERT_INT(metric("taffrail_audits_total"), 1);
    ASSERT_INT(metric("taffrail_audit_objects"), 3);
    ASSERT_INT(metric("taffrail_reports{api=\"openreports.io/v1alpha1\"}"), 2);
    ASSERT_INT(metric(WRITES("written")), 2);
    ASSERT_INT(metric(WRITES("removed")), 1);
    ASSERT_INT(metric(WRITES("unchanged")), 0);
    ASSERT_INT(metric(WRITES("failed")), 0);
    ASSERT_INT(metric("taffrail_reports_left_out_findings"), 0);
    CU_ASSERT(metric("taffrail_reports_last_success_timestamp_seconds") >= time(NULL) - 600);
    CU_ASSERT(text_starts_with(ready_line(), TEXT("; reports: 2 of openreports.io/v1alpha1, ")));
    end();
}

/* Findings get a part of the memory; which find no room is counted. */
static void findings_have_a_part_of_the_memory(void)
{
    static const struct {
        size_t memory_bytes;
        bool lost;
    } cases[] = {{640000, true}, {32 << 20, false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        create_every(INTERVAL_S);
        reports_thread_destroy(thread);
        memory_bytes = cases[i].memory_bytes;
        atomic_store(&pod_count, 200);
        const struct reports_options options = {.interval_s = INTERVAL_S,
                                                .election = &election,
                                                .worlds = worlds,
                                                .slot = SLOT,
                                                .cluster = cluster,
                                                .status = status};
        CU_ASSERT_FATAL(reports_thread_create(NULL, &options, &thread, &error));
        start();
        ASSERT_INT(metric("taffrail_audit_objects"), 200);
        long long left_out = metric("taffrail_reports_left_out_findings");
        CU_ASSERT_EQUAL(left_out > 0, cases[i].lost);
        CU_ASSERT(left_out < 200);
        end();
    }
}

/* ---- the thread ---- */

static void reviews_come_first(void)
{
    begin();
    CU_ASSERT(atomic_load(&niceness) >= NICENESS);
    end();
}

static void a_client_that_does_not_run_is_said(void)
{
    begin();
    struct listening listening = listen_to_log();
    script.runs_fail = 1;
    int64_t begin_ms = real_ms();
    script_pass(SECOND_MS);
    CU_ASSERT(real_ms() - begin_ms >= 900); /* it does not spin */
    struct text log = heard(&listening);
    ASSERT_HEARD(log, "the API server cannot be waited for", 1);
    ASSERT_HEARD(log, "\"error\":\"the script does not run\"", 1);
    script_pass(INTERVAL_MS);
    ASSERT_ROUNDS("0 600 ");
    end();
}

/* Also while a request is open; and nothing is asked for after it. */
static void it_ends_when_it_is_told(void)
{
    create_every(INTERVAL_S);
    script_new_replies();
    script_reply(
        (struct script_reply){.request = "DISCOVER " NEW_API, .status = 200, .after_ms = NEVER_MS});
    start();
    script_let_go();
    reports_thread_stop(thread);
    ASSERT_INT(script.asked_count, 1);
    unsigned before = atomic_load(&ran);
    ASSERT_TEXT(ready_line(), "");
    reports_thread_stop(thread);
    ASSERT_INT(atomic_load(&ran), before);
    end();
    /* One that never ran. */
    create_every(INTERVAL_S);
    reports_thread_stop(thread);
    ASSERT_INT(atomic_load(&ran), 0);
    end();
    reports_thread_stop(NULL);
    reports_thread_destroy(NULL);
}

static void without_a_client_there_is_no_thread(void)
{
    create_every(INTERVAL_S);
    reports_thread_destroy(thread);
    thread = NULL;
    script.opens_fail = 1;
    const struct reports_options options = {.interval_s = INTERVAL_S, .election = &election};
    CU_ASSERT_FALSE(reports_thread_create(NULL, &options, &thread, &error));
    ASSERT_TEXT(text_of(error.what), "the script opens no client");
    CU_ASSERT_PTR_NULL(thread);
    end();
}

static void a_thread_that_cannot_be_started_is_said(void)
{
    create_every(INTERVAL_S);
    ASSERT_NO_THREAD(reports_thread_start(thread, &error), error,
                     "the thread that writes reports cannot be started: ");
    end();
}

const struct unit_test unit_tests[] = {
    {"a thread that cannot be started is said", a_thread_that_cannot_be_started_is_said},
    {"a leader audits at once and after each interval",
     a_leader_audits_at_once_and_after_each_interval},
    {"who does not lead audits nothing", who_does_not_lead_audits_nothing},
    {"an audit waits for the cluster", an_audit_waits_for_the_cluster},
    {"other policies are audited soon", other_policies_are_audited_soon},
    {"other policies do not hurry who does not lead",
     other_policies_do_not_hurry_who_does_not_lead},
    {"what failed is tried again less and less often",
     what_failed_is_tried_again_less_and_less_often},
    {"a round that succeeds ends the trouble", a_round_that_succeeds_ends_the_trouble},
    {"a new leader forgets the trouble", a_new_leader_forgets_the_trouble},
    {"without an API it is looked for now and then", without_an_api_it_is_looked_for_now_and_then},
    {"a report that cannot be written is a failure", a_report_that_cannot_be_written_is_a_failure},
    {"the end of leading is no failure", the_end_of_leading_is_no_failure},
    {"a round is counted", a_round_is_counted},
    {"findings have a part of the memory", findings_have_a_part_of_the_memory},
    {"reviews come first", reviews_come_first},
    {"a client that does not run is said", a_client_that_does_not_run_is_said},
    {"it ends when it is told", it_ends_when_it_is_told},
    {"without a client there is no thread", without_a_client_there_is_no_thread},
    {NULL, NULL},
};
