/* labels: threads */
/* The thread that elects a replica and keeps the certificate: what it asks the API server for, what
 * it says, and how it gives the Lease back. The API server, the HTTPS server and the clock are a
 * test's. */
#include <unistd.h>

#include "lease_server.h"
#include "log_fixture.h"
#include "objects.h"
#include "scripted_client.h"
#include "server/http.h"
#include "server/webhook_manager.h"

const char unit_suite[] = "server/webhook manager over HTTP";

#define SECOND_MS INT64_C(1000)
#define RETRY_MS (2 * SECOND_MS)
#define DEADLINE_MS (10 * SECOND_MS)
#define DURATION_MS (15 * SECOND_MS)

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
#define WRITTEN "?fieldManager=taffrail"
#define HELD_BY(holder)                                                                           \
    "{\"holderIdentity\":\"" holder "\",\"leaseDurationSeconds\":15,\"acquireTime\":\"2026-11-06" \
    "T00:00:00.000000Z\",\"renewTime\":\"2026-11-06T00:00:00.000000Z\",\"leaseTransitions\":3}"

/* ---- in place of server/http.c ---- */

static struct {
    struct server *server;
    atomic_uint certificates, failures_set, successes_set;
    atomic_bool refuses;
    char failure[200];
} seen;

bool server_set_certificate(struct server *server, const struct cert_pair *certificate,
                            struct error *error)
{
    int64_t not_after_unix_s;
    CU_ASSERT_PTR_EQUAL(server, seen.server);
    CU_ASSERT(cert_check(certificate, time(NULL), &not_after_unix_s, error));
    atomic_fetch_add(&seen.certificates, 1);
    return !atomic_load(&seen.refuses) ||
           error_set(error, ERROR_INPUT, NOWHERE, "the server takes no certificate");
}

void server_set_reload_failure(struct server *server, enum reload_subject subject,
                               const char *failure, int64_t failed_unix_s)
{
    CU_ASSERT_PTR_EQUAL(server, seen.server);
    CU_ASSERT_EQUAL(subject, RELOAD_CERTIFICATE);
    CU_ASSERT(failed_unix_s >= time(NULL) - 600 && failed_unix_s <= time(NULL));
    atomic_fetch_add(failure == NULL ? &seen.successes_set : &seen.failures_set, 1);
    snprintf(seen.failure, sizeof seen.failure, "%s", failure == NULL ? "" : failure);
}

/* ---- the API server ---- */

static struct lease_server leases;
static struct webhook_manager_settings settings;
static const char *const dns[] = {"taffrail.taffrail.svc"};
static char secret_name[32];
static unsigned lease_status, object_status;    /* 0: as the server answers, else with this one */
static int64_t lease_takes_ms, object_takes_ms; /* NEVER_MS: there is no answer */
static bool object_takes_ms_of_writes;          /* and of reads nothing */

static void answer_object(const struct call_request *request, const char *path,
                          struct script_reply *reply, char **body)
{
    static const char *const methods[] = {
        [CALL_GET] = "GET", [CALL_CREATE] = "POST", [CALL_UPDATE] = "PUT", [CALL_APPLY] = "PATCH"};
    char *sent = text_duplicate(request->body), *plain = strdup(path);
    plain[strcspn(plain, "?")] = '\0';
    const struct objects_question question = {.method = methods[request->verb],
                                              .path = plain,
                                              .who = "",
                                              .body = request->verb == CALL_GET ? NULL : sent,
                                              .field_selector = "",
                                              .continue_token = ""};
    struct objects_answer answered = {.status = 0};
    CU_ASSERT(objects_answer(&question, &answered));
    reply->status = answered.status;
    *body = answered.text;
    if (!object_takes_ms_of_writes || request->verb != CALL_GET)
        reply->after_ms = object_takes_ms;
    free(sent);
    free(plain);
}

static bool answer(const struct call_request *request, const char *path, struct script_reply *reply,
                   char **body)
{
    bool of_lease = request->resource == RESOURCE_LEASE;
    unsigned forced = of_lease ? lease_status : object_status;
    *reply = (struct script_reply){.status = forced};
    if (forced != 0)
        return true;
    if (!of_lease) {
        answer_object(request, path, reply, body);
        return true;
    }
    struct lease_reply answered;
    lease_server_answer(&leases, request, &answered);
    reply->status = answered.status;
    reply->after_ms = lease_takes_ms;
    *body = strdup(answered.body);
    return true;
}

/* ---- a thread ---- */

static struct arena *arena;
static struct webhook_manager_status *status;
static struct metrics *metrics;
static struct webhook_thread *thread;
static struct error error;
static int server_in_place; /* whose address is the server's */
static atomic_llong longest_ms;

static void note_run(int64_t for_ms)
{
    if (for_ms > atomic_load(&longest_ms))
        atomic_store(&longest_ms, for_ms);
}

static void create(bool with_secret)
{
    static unsigned count;
    script_begin();
    script.held = true;
    script.answer = answer;
    script.runs = note_run;
    snprintf(secret_name, sizeof secret_name, "certs-%u", ++count);
    settings = (struct webhook_manager_settings){
        .namespace = "taffrail",
        .secret = with_secret ? secret_name : NULL,
        .lease_namespace = "ns",
        .lease = "taffrail",
        .lease_duration_ms = DURATION_MS,
        .renew_deadline_ms = DEADLINE_MS,
        .retry_ms = RETRY_MS,
        .configuration = "none",
        .service = "taffrail",
        .names = {.dns = dns, .dns_count = 1},
        .times = rotation_times_usual,
    };
    leases = (struct lease_server){0};
    lease_status = object_status = 0;
    lease_takes_ms = object_takes_ms = 0;
    object_takes_ms_of_writes = false;
    seen.server = (struct server *)(void *)&server_in_place;
    atomic_store(&seen.certificates, 0);
    atomic_store(&seen.failures_set, 0);
    atomic_store(&seen.successes_set, 0);
    atomic_store(&seen.refuses, false);
    atomic_store(&longest_ms, 0);
    strcpy(seen.failure, "none yet");
    arena = arena_create(16 << 20);
    status = webhook_manager_status_create(&settings);
    metrics = metrics_create();
    CU_ASSERT_FATAL(status != NULL && metrics != NULL &&
                    webhook_thread_create(NULL, &settings, status, &thread, &error));
}

static void start(void)
{
    bool started = webhook_thread_start(thread, seen.server, metrics, &error);
    script_await_rest();
    CU_ASSERT_FATAL(started);
}

static void begin(bool with_secret)
{
    create(with_secret);
    start();
}

/* How long it takes to end. */
static int64_t stop(void)
{
    script_await_rest();
    int64_t begin_ms = monotonic_ms();
    script_let_go();
    webhook_thread_stop(thread);
    return monotonic_ms() - begin_ms;
}

static void end(void)
{
    script_let_go();
    webhook_thread_destroy(thread);
    CU_ASSERT(!script.client.open);
    webhook_manager_status_destroy(status);
    metrics_destroy(metrics);
    arena_destroy(arena);
    script_end();
    ASSERT_INT(leases.refusals, 0);
}

static struct text status_line(void)
{
    struct text_builder out = {.arena = arena};
    webhook_manager_status_add_line(status, &out);
    return text_builder_text(&out);
}

static bool is_ready(void)
{
    struct text why;
    return webhook_manager_status_is_ready(status, arena, &why);
}

static long long metric_in(struct text said, const char *name)
{
    char line[128];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(said.data, line);
    return at == NULL ? -1 : atoll(at + strlen(line));
}

static long long metric(const char *name)
{
    struct text_builder out = {.arena = arena};
    webhook_manager_status_add_metrics(status, &out);
    return metric_in(text_builder_text(&out), name);
}
#define FAILURES(duty) "taffrail_duty_failures_total{duty=\"" duty "\"}"

/* ---- the election ---- */

static void who_leads_renews_the_lease(void)
{
    create(false);
    struct listening listening = listen_to_log();
    CU_ASSERT(!webhook_thread_leads(thread));
    start();
    struct text log = heard(&listening);
    ASSERT_ASKED("GET " LEASES "/taffrail\nPOST " LEASES WRITTEN "\n");
    CU_ASSERT(webhook_thread_leads(thread));
    ASSERT_HEARD(log, "this replica leads, as ", 1);
    ASSERT_HEARD(log, "it keeps the certificate", 0);
    ASSERT_HEARD(log, "\"object\":\"taffrail\"", 1);
    ASSERT_HEARD(log, leases.holder, 1);
    ASSERT_TEXT(status_line(), "; elected is this replica");
    ASSERT_INT(metric("taffrail_leader"), 1);
    CU_ASSERT(is_ready());

    listening = listen_to_log();
    script_pass(RETRY_MS - 1);
    ASSERT_ASKED("");
    script_pass(1);
    ASSERT_ASKED("PUT " LEASES "/taffrail" WRITTEN "\n");
    script_pass(10 * RETRY_MS);
    ASSERT_INT(script_count("PUT " LEASES "/taffrail" WRITTEN), 10);
    ASSERT_INT(script.asked_count, 10);
    CU_ASSERT(webhook_thread_leads(thread));
    ASSERT_HEARD(heard(&listening), "this replica", 0);
    /* It looks at itself once a second, whatever the Lease waits for. */
    ASSERT_INT(atomic_load(&longest_ms), SECOND_MS);
    end();
}

/* After a restart it is another one, also on the same host. */
static void each_thread_is_another_one(void)
{
    char holders[2][128], host[65] = "";
    ASSERT_INT(gethostname(host, sizeof host - 1), 0);
    for (size_t i = 0; i < 2; i++) {
        begin(false);
        memcpy(holders[i], leases.holder, sizeof holders[i]);
        CU_ASSERT(text_starts_with(text_of(holders[i]), text_of(host)));
        const char *number = holders[i] + strlen(host);
        CU_ASSERT(*number == '_');
        ASSERT_INT(strspn(number + 1, "0123456789abcdef"), 32);
        ASSERT_INT(strlen(number), 33);
        end();
    }
    CU_ASSERT(strcmp(holders[0], holders[1]) != 0);
    /* Of its two numbers each is by chance, too. */
    CU_ASSERT(strncmp(holders[0] + strlen(host) + 1, holders[0] + strlen(host) + 17, 16) != 0);
}

static void a_lease_that_lapses_is_taken_over(void)
{
    create(false);
    lease_server_put(&leases, "other", HELD_BY("other"));
    struct listening listening = listen_to_log();
    start();
    CU_ASSERT(!webhook_thread_leads(thread));
    ASSERT_TEXT(status_line(), "; elected is other");
    ASSERT_INT(metric("taffrail_leader"), 0);
    script_pass(DURATION_MS - SECOND_MS);
    CU_ASSERT(!webhook_thread_leads(thread));
    ASSERT_INT(leases.writes, 0);
    ASSERT_HEARD(heard(&listening), "this replica", 0);
    listening = listen_to_log();
    script_pass(SECOND_MS + 3 * RETRY_MS);
    ASSERT_HEARD(heard(&listening), "this replica leads", 1);
    CU_ASSERT(webhook_thread_leads(thread));
    ASSERT_TEXT(status_line(), "; elected is this replica");
    end();
}

static void who_lost_the_lease_leads_no_more(void)
{
    begin(false);
    lease_server_put(&leases, "other", HELD_BY("other"));
    struct listening listening = listen_to_log();
    script_pass(RETRY_MS);
    struct text log = heard(&listening);
    CU_ASSERT(!webhook_thread_leads(thread));
    ASSERT_HEARD(log, "this replica leads no more", 1);
    ASSERT_HEARD(log, "\"object\":\"taffrail\"", 1);
    ASSERT_TEXT(status_line(), "; elected is other");
    listening = listen_to_log();
    script_pass(5 * RETRY_MS);
    ASSERT_HEARD(heard(&listening), "this replica", 0);
    /* There is nothing to give back. */
    unsigned writes = leases.writes;
    stop();
    ASSERT_INT(leases.writes, writes);
    ASSERT_TEXT(text_of(leases.holder), "other");
    end();
}

/* Others wait for longer, so that no two lead. */
static void who_cannot_renew_stops_in_time(void)
{
    begin(false);
    lease_status = 500;
    script_pass(DEADLINE_MS - 1);
    CU_ASSERT(webhook_thread_leads(thread));
    CU_ASSERT(metric(FAILURES("lease")) >= 1);
    CU_ASSERT(text_starts_with(status_line(), TEXT("; elected is this replica; ")));
    CU_ASSERT(strstr(status_line().data, "answered 500") != NULL);
    struct listening listening = listen_to_log();
    script_pass(SECOND_MS + 1);
    ASSERT_HEARD(heard(&listening), "this replica leads no more", 1);
    CU_ASSERT(!webhook_thread_leads(thread));
    lease_status = 0;
    script_pass(3 * RETRY_MS);
    CU_ASSERT(webhook_thread_leads(thread));
    end();
}

static void what_cannot_be_sent_is_a_failure(void)
{
    create(false);
    script.calls_fail = 1;
    start();
    CU_ASSERT(!webhook_thread_leads(thread));
    ASSERT_INT(metric(FAILURES("lease")), 1);
    CU_ASSERT(strstr(status_line().data, "the script sends nothing") != NULL);
    script_pass(3 * RETRY_MS);
    CU_ASSERT(webhook_thread_leads(thread));
    ASSERT_INT(metric(FAILURES("lease")), 1);
    end();
}

static void a_client_that_does_not_run_is_said(void)
{
    begin(false);
    struct listening listening = listen_to_log();
    script.runs_fail = 1;
    int64_t begin_ms = real_ms();
    script_pass(SECOND_MS);
    CU_ASSERT(real_ms() - begin_ms >= 900); /* it does not spin */
    struct text log = heard(&listening);
    ASSERT_HEARD(log, "the API server cannot be waited for", 1);
    ASSERT_HEARD(log, "\"error\":\"the script does not run\"", 1);
    script_forget_asked();
    script_pass(2 * RETRY_MS);
    ASSERT_INT(script.asked_count, 2);
    CU_ASSERT(webhook_thread_leads(thread));
    end();
}

/* ---- the end ---- */

static void the_lease_is_given_back(void)
{
    static const struct {
        int64_t lease_takes_ms; /* from the end on */
        int64_t took_ms;
        bool given_back;
    } cases[] = {
        {0, 0, true},
        {400, 400, true},
        {999, 999, true},
        /* the write may still be made, and is not waited for */
        {NEVER_MS, SECOND_MS, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin(false);
        lease_takes_ms = cases[i].lease_takes_ms;
        script_forget_asked();
        struct listening listening = listen_to_log();
        ASSERT_INT(stop(), cases[i].took_ms);
        struct text log = heard(&listening);
        CU_ASSERT_EQUAL(leases.holder[0] == '\0', cases[i].given_back);
        ASSERT_ASKED("PUT " LEASES "/taffrail" WRITTEN "\n");
        ASSERT_HEARD(log, "this replica leads no more", 1);
        CU_ASSERT(!webhook_thread_leads(thread));
        ASSERT_INT(metric("taffrail_leader"), 0);
        end();
    }
}

/* A request that is open at the end comes first. */
static void an_open_request_for_the_lease_comes_first(void)
{
    begin(false);
    lease_takes_ms = 300;
    script_pass(RETRY_MS);
    script_forget_asked();
    ASSERT_INT(stop(), 600);
    ASSERT_ASKED("PUT " LEASES "/taffrail" WRITTEN "\n");
    ASSERT_TEXT(text_of(leases.holder), "");
    end();
    /* One that is never answered is waited for no longer than the release. */
    begin(false);
    lease_takes_ms = NEVER_MS;
    script_pass(RETRY_MS);
    script_forget_asked();
    ASSERT_INT(stop(), SECOND_MS);
    ASSERT_ASKED("");
    end();
}

/* Another replica may write as soon as it has the Lease. */
static void an_open_write_comes_before_the_lease(void)
{
    static const struct {
        int64_t takes_ms, released_after_ms;
    } cases[] = {{400, 400}, {NEVER_MS, SECOND_MS}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        create(true);
        object_takes_ms = cases[i].takes_ms;
        object_takes_ms_of_writes = true;
        start();
        ASSERT_INT(script_count("POST /api/v1/namespaces/taffrail/secrets" WRITTEN), 1);
        script_forget_asked();
        int64_t begin_ms = monotonic_ms();
        ASSERT_INT(stop(), cases[i].released_after_ms);
        ASSERT_INT(script.asked_count, 1);
        ASSERT_INT(script_last("PUT " LEASES "/taffrail" WRITTEN).at_ms,
                   begin_ms + cases[i].released_after_ms);
        ASSERT_TEXT(text_of(leases.holder), "");
        end();
    }
}

static void it_ends_once(void)
{
    begin(false);
    stop();
    unsigned writes = leases.writes;
    webhook_thread_leave(thread);
    webhook_thread_stop(thread);
    ASSERT_INT(leases.writes, writes);
    end();
    create(false); /* one that never ran */
    webhook_thread_leave(thread);
    webhook_thread_stop(thread);
    ASSERT_INT(script.asked_count, 0);
    ASSERT_INT(atomic_load(&script.wake_count), 0);
    end();
    webhook_thread_leave(NULL);
    webhook_thread_stop(NULL);
    webhook_thread_destroy(NULL);
}

/* ---- the certificate ---- */

static void the_leader_makes_and_serves_a_certificate(void)
{
    create(true);
    struct listening listening = listen_to_log();
    start();
    struct text log = heard(&listening);
    CU_ASSERT(webhook_thread_leads(thread));
    ASSERT_HEARD(log, "it keeps the certificate and the CA bundles", 1);
    CU_ASSERT(is_ready());
    ASSERT_INT(atomic_load(&seen.certificates), 1);
    ASSERT_INT(atomic_load(&seen.successes_set), 1);
    ASSERT_INT(atomic_load(&seen.failures_set), 0);
    ASSERT_TEXT(text_of(seen.failure), "");
    ASSERT_INT(script_count("POST /api/v1/namespaces/taffrail/secrets" WRITTEN), 1);
    CU_ASSERT(text_starts_with(status_line(), TEXT("; certificate of Secret taffrail/certs-")));
    CU_ASSERT(strstr(status_line().data, "signed by the only CA of ca.crt, kept by this replica") !=
              NULL);
    /* It looks at it now and then, and is served once. */
    script_forget_asked();
    script_pass(50 * SECOND_MS);
    CU_ASSERT(script_count("GET /api/v1/namespaces/taffrail/secrets/*") >= 1);
    ASSERT_INT(atomic_load(&seen.certificates), 1);
    end();
}

/* It waits for the leader's. */
static void who_does_not_lead_makes_none(void)
{
    create(true);
    lease_server_put(&leases, "other", HELD_BY("other"));
    start();
    script_pass(10 * SECOND_MS);
    CU_ASSERT(!is_ready());
    ASSERT_INT(script_count("POST *"), 0);
    ASSERT_INT(atomic_load(&seen.certificates), 0);
    end();
}

/* It is a failed reload once, however often it is tried. */
static void a_certificate_that_is_not_taken_is_a_failed_reload(void)
{
    create(true);
    atomic_store(&seen.refuses, true);
    start();
    script_pass(60 * SECOND_MS);
    CU_ASSERT(!is_ready());
    unsigned tries = atomic_load(&seen.certificates);
    CU_ASSERT(tries > 1);
    ASSERT_INT(atomic_load(&seen.failures_set), tries);
    ASSERT_INT(atomic_load(&seen.successes_set), 0);
    CU_ASSERT(strstr(seen.failure, "the server takes no certificate") != NULL);
    ASSERT_INT(metric_in(metrics_text(metrics, arena),
                         "taffrail_reload_failures_total{what=\"certificate\"}"),
               1);
    atomic_store(&seen.refuses, false);
    script_pass(60 * SECOND_MS);
    CU_ASSERT(is_ready());
    ASSERT_INT(atomic_load(&seen.successes_set), 1);
    ASSERT_TEXT(text_of(seen.failure), "");
    end();
}

/* The server may be drained then, also while the answer with a certificate is on its way. */
static void who_left_does_not_use_the_server(void)
{
    create(true);
    atomic_store(&seen.refuses, true);
    start();
    unsigned tries = atomic_load(&seen.certificates);
    CU_ASSERT(tries > 0);
    object_takes_ms = 400;
    script_forget_asked();
    for (int i = 0; i < 200 && script_count("GET /api/v1/namespaces/taffrail/secrets/*") == 0; i++)
        script_pass(100);
    ASSERT_INT(script_count("GET /api/v1/namespaces/taffrail/secrets/*"), 1);
    webhook_thread_leave(thread);
    seen.server = NULL;
    stop();
    ASSERT_INT(atomic_load(&seen.certificates), tries);
    ASSERT_TEXT(text_of(leases.holder), "");
    end();
}

/* ---- the begin ---- */

static void what_cannot_work_is_refused(void)
{
    create(false);
    webhook_thread_destroy(thread);
    thread = NULL;
    settings.renew_deadline_ms = settings.lease_duration_ms;
    CU_ASSERT_FALSE(webhook_thread_create(NULL, &settings, status, &thread, &error));
    ASSERT_INT(error.kind, ERROR_USAGE);
    settings.renew_deadline_ms = DEADLINE_MS;
    script.opens_fail = 1;
    CU_ASSERT_FALSE(webhook_thread_create(NULL, &settings, status, &thread, &error));
    ASSERT_TEXT(text_of(error.what), "the script opens no client");
    CU_ASSERT_PTR_NULL(thread);
    end();
}

static void a_thread_that_cannot_be_started_is_said(void)
{
    create(false);
    ASSERT_NO_THREAD(webhook_thread_start(thread, seen.server, metrics, &error), error,
                     "the thread that keeps the certificate cannot be started: ");
    end();
}

const struct unit_test unit_tests[] = {
    {"a thread that cannot be started is said", a_thread_that_cannot_be_started_is_said},
    {"who leads renews the Lease", who_leads_renews_the_lease},
    {"each thread is another one", each_thread_is_another_one},
    {"a Lease that lapses is taken over", a_lease_that_lapses_is_taken_over},
    {"who lost the Lease leads no more", who_lost_the_lease_leads_no_more},
    {"who cannot renew stops in time", who_cannot_renew_stops_in_time},
    {"what cannot be sent is a failure", what_cannot_be_sent_is_a_failure},
    {"a client that does not run is said", a_client_that_does_not_run_is_said},
    {"the Lease is given back", the_lease_is_given_back},
    {"an open request for the Lease comes first", an_open_request_for_the_lease_comes_first},
    {"an open write comes before the Lease", an_open_write_comes_before_the_lease},
    {"it ends once", it_ends_once},
    {"the leader makes and serves a certificate", the_leader_makes_and_serves_a_certificate},
    {"who does not lead makes none", who_does_not_lead_makes_none},
    {"a certificate that is not taken is a failed reload",
     a_certificate_that_is_not_taken_is_a_failed_reload},
    {"who left does not use the server", who_left_does_not_use_the_server},
    {"what cannot work is refused", what_cannot_work_is_refused},
    {NULL, NULL},
};
