/* labels: threads */
/* One replica and a Lease, with a clock that the test sets. */
#include "lease_server.h"

const char unit_suite[] = "client lease";

enum { HALF = 0x7FFFFFFF };
/* 2027-01-15T08:00:00.000000Z, as `date -u -d @1800000000` has it. */
#define UNIX_US 1800000000000000LL

static const struct lease_settings usual = {"me_1", "ns", "taffrail", 15000, 10000, 2000};
static struct lease_server server;
static struct lease *lease;
static int64_t now_ms;
static struct lease_step step;

static void open_lease(void)
{
    struct error error;
    server = (struct lease_server){0};
    now_ms = 1000000;
    CU_ASSERT(lease_settings_check(&usual, &error));
    lease = lease_create(&usual);
    CU_ASSERT_PTR_NOT_NULL_FATAL(lease);
}

static bool next(void)
{
    lease_next(lease, now_ms, UNIX_US + (now_ms - 1000000) * 1000, &step);
    return step.ask;
}

static void answer(unsigned status, const char *body, const char *failure, int64_t retry_after_s)
{
    struct call_answer answered;
    call_read(status, text_of(body), retry_after_s, failure, &answered);
    lease_take(lease, now_ms, 0, &answered);
}

/* Does what is to be done now, each by the server at once: "GCU" of get, create, update. */
static const char *work(void)
{
    static char done[16];
    size_t count = 0;
    while (next() && count < sizeof done - 1) {
        struct lease_reply reply;
        lease_server_answer(&server, &step.request, &reply);
        done[count++] = "GCU"[step.request.verb];
        answer(reply.status, reply.body, NULL, 0);
    }
    done[count] = '\0';
    return done;
}

#define ASSERT_WORK(expected) ASSERT_TEXT(text_of(work()), expected)
#define OTHER(renewed)                                                                       \
    "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15,\"acquireTime\":\"2027-01-15" \
    "T07:00:00.000000Z\",\"renewTime\":\"" renewed "\",\"leaseTransitions\":4}"

static void nobody_is_there(void)
{
    open_lease();
    ASSERT_WORK("GC");
    CU_ASSERT(lease_leads(lease, now_ms));
    ASSERT_TEXT(text_of(server.spec),
                "{\"holderIdentity\":\"me_1\",\"leaseDurationSeconds\":15,"
                "\"acquireTime\":\"2027-01-15T08:00:00.000000Z\","
                "\"renewTime\":\"2027-01-15T08:00:00.000000Z\",\"leaseTransitions\":0}");
    ASSERT_INT(step.until_ms, now_ms + 2000);
    now_ms += 2001;
    ASSERT_WORK("U"); /* without another look; the time of its taking stays */
    ASSERT_TEXT(text_of(server.spec),
                "{\"holderIdentity\":\"me_1\",\"leaseDurationSeconds\":15,"
                "\"acquireTime\":\"2027-01-15T08:00:00.000000Z\","
                "\"renewTime\":\"2027-01-15T08:00:02.001000Z\",\"leaseTransitions\":0}");
    lease_destroy(lease);
}

static void another_holds_it(void)
{
    open_lease();
    /* What its times say does not matter: by this clock it has expired long ago. */
    lease_server_put(&server, "other", OTHER("2020-01-01T00:00:00.000000Z"));
    ASSERT_WORK("G");
    CU_ASSERT(!lease_leads(lease, now_ms));
    now_ms += 14000;
    ASSERT_WORK("G");
    lease_server_put(&server, "other", OTHER("2020-01-01T00:00:01.000000Z"));
    now_ms += 2000;
    ASSERT_WORK("G"); /* seen to change: 15 s from here */
    now_ms += 15000;
    server.version++; /* a label changed, and the record did not */
    ASSERT_WORK("G");
    now_ms += 2000;
    ASSERT_WORK("GU");
    CU_ASSERT(lease_leads(lease, now_ms));
    CU_ASSERT_PTR_NOT_NULL(strstr(server.spec, "\"leaseTransitions\":5"));
    CU_ASSERT_PTR_NOT_NULL(strstr(server.spec, "\"acquireTime\":\"2027-01-15T08:00:33"));
    lease_destroy(lease);
}

static void its_own_duration_counts(void)
{
    open_lease();
    lease_server_put(
        &server, "other",
        "{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":60,\"renewTime\":\"x\"}");
    ASSERT_WORK("G");
    now_ms += 59000;
    ASSERT_WORK("G");
    now_ms += 2000;
    ASSERT_WORK("GU");
    lease_destroy(lease);
}

static void one_that_was_given_back_is_taken_at_once(void)
{
    open_lease();
    lease_server_put(&server, "", "{\"leaseDurationSeconds\":1,\"leaseTransitions\":7}");
    ASSERT_WORK("GU");
    CU_ASSERT_PTR_NOT_NULL(strstr(server.spec, "\"leaseTransitions\":8"));
    lease_destroy(lease);
}

static void who_cannot_renew_stops(void)
{
    open_lease();
    ASSERT_WORK("GC");
    int64_t sent_ms = now_ms;
    now_ms += 2000;
    CU_ASSERT(next());
    ASSERT_INT(step.request.verb, CALL_UPDATE);
    ASSERT_INT(step.request.limit_ms, 5000);
    now_ms += 5000;
    answer(0, "", "timed out", 0);
    CU_ASSERT(next()); /* at once, by a look */
    ASSERT_INT(step.request.verb, CALL_GET);
    now_ms = sent_ms + 9999;
    CU_ASSERT(lease_leads(lease, now_ms));
    now_ms++;
    CU_ASSERT(!lease_leads(lease, now_ms));
    answer(503, "", NULL, 0);
    CU_ASSERT(!next());
    ASSERT_INT(step.until_ms, now_ms + 2000);
    now_ms = step.until_ms;
    ASSERT_WORK("GU"); /* still its own: nobody took it */
    CU_ASSERT(lease_leads(lease, now_ms));
    CU_ASSERT_PTR_NOT_NULL(strstr(server.spec, "\"leaseTransitions\":0"));
    lease_destroy(lease);
}

static void time_counts_from_when_it_was_sent(void)
{
    open_lease();
    ASSERT_WORK("GC");
    now_ms += 2000;
    CU_ASSERT(next());
    struct lease_reply reply;
    lease_server_answer(&server, &step.request, &reply);
    now_ms += 20000; /* frozen */
    answer(reply.status, reply.body, NULL, 0);
    CU_ASSERT(!lease_leads(lease, now_ms));
    lease_destroy(lease);
}

static void a_lost_answer_is_no_loss(void)
{
    open_lease();
    ASSERT_WORK("GC");
    now_ms += 2000;
    CU_ASSERT(next());
    struct lease_reply reply;
    lease_server_answer(&server, &step.request, &reply);
    answer(0, "", "reset", 0);
    ASSERT_WORK("GU");
    CU_ASSERT(lease_leads(lease, now_ms));
    lease_destroy(lease);
}

static void a_conflict_means_look_again(void)
{
    open_lease();
    ASSERT_WORK("GC");
    lease_server_put(&server, "other", OTHER("2027-01-15T08:00:01.000000Z"));
    now_ms += 2000;
    ASSERT_WORK("UG");
    CU_ASSERT(!lease_leads(lease, now_ms)); /* though its own time is not over */
    struct lease_report report;
    lease_report(lease, &report);
    ASSERT_TEXT(text_of(report.holder), "other");
    ASSERT_INT(report.transitions, 4);
    lease_destroy(lease);
}

/* As when another admission webhook changes what is written. */
static void a_write_that_is_answered_with_another_holder_leads_nobody(void)
{
    open_lease();
    ASSERT_WORK("GC");
    now_ms += 2000;
    CU_ASSERT(next());
    ASSERT_INT(step.request.verb, CALL_UPDATE);
    struct lease_reply reply;
    lease_server_put(&server, "other", OTHER("2027-01-15T08:00:01.000000Z"));
    lease_server_show(&server, &reply);
    answer(200, reply.body, NULL, 0);
    CU_ASSERT(!lease_leads(lease, now_ms)); /* though its own time is not over */
    ASSERT_WORK("G");
    CU_ASSERT(!lease_leads(lease, now_ms));
    lease_destroy(lease);
}

static void two_make_it_at_once(void)
{
    open_lease();
    CU_ASSERT(next());
    answer(404, "", NULL, 0);
    CU_ASSERT(next());
    ASSERT_INT(step.request.verb, CALL_CREATE);
    lease_server_put(&server, "other", OTHER("2027-01-15T08:00:00.000000Z"));
    answer(409, "", NULL, 0);
    CU_ASSERT(!lease_leads(lease, now_ms));
    CU_ASSERT(!next());
    now_ms = step.until_ms;
    ASSERT_WORK("G");
    lease_destroy(lease);
}

static void deleted_under_its_holder_it_is_not_taken_at_once(void)
{
    open_lease();
    lease_server_put(&server, "other", OTHER("2027-01-15T08:00:00.000000Z"));
    ASSERT_WORK("G");
    server.there = false;
    now_ms += 2000;
    ASSERT_WORK("G");
    now_ms += 14000;
    ASSERT_WORK("GC");
    lease_destroy(lease);
}

static void the_server_says_when_to_come_back(void)
{
    open_lease();
    ASSERT_WORK("GC");
    now_ms += 2000;
    CU_ASSERT(next());
    answer(429, "", NULL, 4);
    CU_ASSERT(!next());
    ASSERT_INT(step.until_ms, now_ms + 6000);
    CU_ASSERT(lease_leads(lease, now_ms));
    lease_destroy(lease);
}

static void what_is_no_lease_is_said(void)
{
    static const char *const bodies[] = {
        "<html>", "{}", "{\"metadata\":{}}", "{\"metadata\":{\"resourceVersion\":7}}", "[]", ""};
    open_lease();
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        CU_ASSERT(next());
        answer(200, bodies[i], NULL, 0);
        struct lease_report report;
        lease_report(lease, &report);
        ASSERT_TEXT(text_of(report.problem), "the answer is no Lease");
        ASSERT_INT(report.failures, i + 1);
        now_ms += 5000;
    }
    CU_ASSERT(!lease_leads(lease, now_ms));
    lease_destroy(lease);
}

static void it_is_given_back(void)
{
    open_lease();
    ASSERT_WORK("GC");
    lease_release(lease);
    CU_ASSERT(!lease_leads(lease, now_ms));
    ASSERT_WORK("U");
    ASSERT_TEXT(text_of(server.spec),
                "{\"leaseDurationSeconds\":1,\"acquireTime\":\"2027-01-15T08:00:00.000000Z\","
                "\"renewTime\":\"2027-01-15T08:00:00.000000Z\",\"leaseTransitions\":0}");
    now_ms += 60000;
    CU_ASSERT(!next());
    CU_ASSERT_EQUAL(step.until_ms, INT64_MAX);
    lease_destroy(lease);
    open_lease(); /* another's is left alone */
    lease_server_put(&server, "other", OTHER("2027-01-15T08:00:00.000000Z"));
    ASSERT_WORK("G");
    lease_release(lease);
    ASSERT_WORK("");
    lease_destroy(lease);
    open_lease(); /* after a lost answer it looks once more */
    ASSERT_WORK("GC");
    now_ms += 2000;
    CU_ASSERT(next());
    struct lease_reply reply;
    lease_server_answer(&server, &step.request, &reply);
    lease_release(lease);
    answer(0, "", "reset", 0);
    ASSERT_WORK("GU");
    CU_ASSERT_PTR_NULL(strstr(server.spec, "holderIdentity"));
    lease_destroy(lease);
}

static void times_that_cannot_be_are_refused(void)
{
    static const struct {
        int64_t duration_ms, renew_deadline_ms, retry_ms;
        const char *what;
    } cases[] = {
        {15500, 10000, 2000, "whole seconds"},
        {0, 10000, 2000, "whole seconds"},
        {10000, 10000, 2000, "longer than the renew deadline"},
        {15000, 2400, 2000, "1.2 times the retry period"},
        {15000, 10000, 0, "1.2 times the retry period"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lease_settings settings = usual;
        settings.duration_ms = cases[i].duration_ms;
        settings.renew_deadline_ms = cases[i].renew_deadline_ms;
        settings.retry_ms = cases[i].retry_ms;
        struct error error = {0};
        CU_ASSERT(!lease_settings_check(&settings, &error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error.what, cases[i].what));
    }
}

const struct unit_test unit_tests[] = {
    {"nobody is there", nobody_is_there},
    {"another holds it", another_holds_it},
    {"its own duration counts", its_own_duration_counts},
    {"one that was given back is taken at once", one_that_was_given_back_is_taken_at_once},
    {"who cannot renew stops", who_cannot_renew_stops},
    {"time counts from when it was sent", time_counts_from_when_it_was_sent},
    {"a lost answer is no loss", a_lost_answer_is_no_loss},
    {"a conflict means look again", a_conflict_means_look_again},
    {"a write that is answered with another holder leads nobody",
     a_write_that_is_answered_with_another_holder_leads_nobody},
    {"two make it at once", two_make_it_at_once},
    {"deleted under its holder it is not taken at once",
     deleted_under_its_holder_it_is_not_taken_at_once},
    {"the server says when to come back", the_server_says_when_to_come_back},
    {"what is no lease is said", what_is_no_lease_is_said},
    {"it is given back", it_is_given_back},
    {"times that cannot be are refused", times_that_cannot_be_are_refused},
    {NULL, NULL},
};
