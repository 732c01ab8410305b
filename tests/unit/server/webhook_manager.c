/* labels: threads */
/* The duties around the certificate, by a clock that the test turns, at the objects of the fake API
 * server. */
#include "server/webhook_manager.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log_fixture.h"
#include "objects.h"
#include "unit.h"

const char unit_suite[] = "server webhook manager";

enum { NOW_S = 1800000000, REQUESTS_MAX = 60 };
#define CONFIGURATION(kind, entries)                                                       \
    "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":\"" kind "Webhook"       \
    "Configuration\",\"metadata\":{\"name\":\"taffrail\",\"managedFields\":[{\"manager\":" \
    "\"argo\",\"fieldsV1\":{\"f:webhooks\":{\"f:caBundle\":{}}}}]},\"webhooks\":[" entries "]}"
#define CALLING(name, client) "{\"name\":\"" name "\",\"clientConfig\":{" client "},\"rules\":[]}"
#define SERVICE(name, namespace) \
    "\"service\":{\"name\":\"" name "\",\"namespace\":\"" namespace "\"}"
#define ENTRY(name) CALLING(name, SERVICE("taffrail", "taffrail"))
/* Of others, who chose the same name for their configuration. */
#define BUNDLE_OF_OTHERS "T1RIRVI="
#define OTHERS                                                                              \
    CALLING("x.b.c", SERVICE("other", "taffrail") ",\"caBundle\":\"" BUNDLE_OF_OTHERS "\"") \
    "," CALLING("y.b.c",                                                                    \
                SERVICE("taffrail",                                                         \
                        "other") ",\"caBundle\":\"" BUNDLE_OF_OTHERS                        \
                                 "\"") "," CALLING("z.b.c",                                 \
                                                   "\"url\":\"https://taffrail.taffrail.svc\"")
#define CONFIGURATIONS "/apis/admissionregistration.k8s.io/v1/"

static const char *const paths[CONFIGURATION_COUNT] = {
    CONFIGURATIONS "validatingwebhookconfigurations",
    CONFIGURATIONS "mutatingwebhookconfigurations"};
static const char *const dns[] = {"taffrail.taffrail.svc"};
static struct webhook_manager_settings settings;
static char secret_name[32];
static int64_t now_ms;
static unsigned serves, serves_again;
static bool refuse_leaf;

/* ---- one replica ---- */

static bool serve(void *context, const struct cert_pair *leaf, bool again, struct error *error)
{
    (void)context;
    int64_t not_after_unix_s;
    serves++;
    serves_again += again;
    return !refuse_leaf && cert_check(leaf, NOW_S + now_ms / 1000, &not_after_unix_s, error);
}

static struct webhook_manager *open_manager(void)
{
    const struct webhook_manager_options options = {&settings, serve, NULL};
    struct webhook_manager *manager = webhook_manager_create(&options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(manager);
    return manager;
}

/* A cluster of its own: another name of the Secret, and configurations as they are installed. */
static bool ask_fake(const char *method, const char *path, const char *who, const char *body,
                     unsigned *status, char **text)
{
    const struct objects_question question = {.method = method,
                                              .path = path,
                                              .who = who,
                                              .body = body,
                                              .field_selector = "",
                                              .continue_token = ""};
    struct objects_answer answered = {.status = 0};
    bool known = objects_answer(&question, &answered);
    *status = answered.status;
    *text = answered.text;
    return known;
}

static void open_cluster(bool registered)
{
    static unsigned count;
    snprintf(secret_name, sizeof secret_name, "certs-%u", ++count);
    settings = (struct webhook_manager_settings){
        .namespace = "taffrail",
        .secret = secret_name,
        .configuration = registered ? "taffrail" : "none",
        .service = "taffrail",
        .names = {.dns = dns, .dns_count = 1},
        .times = rotation_times_usual,
    };
    now_ms = 1000;
    log_set_level(LOG_ERROR + 1);
    serves = serves_again = 0;
    refuse_leaf = false;
    static const char *const bodies[CONFIGURATION_COUNT] = {
        CONFIGURATION("Validating", ENTRY("a.b.c") "," OTHERS "," ENTRY("d.b.c")),
        CONFIGURATION("Mutating", ENTRY("e.b.c"))};
    for (size_t i = 0; i < CONFIGURATION_COUNT; i++) {
        unsigned status;
        char *text = NULL, path[256];
        ask_fake("POST", paths[i], "", bodies[i], &status, &text);
        free(text);
        snprintf(path, sizeof path, "%s/taffrail", paths[i]);
        ask_fake("GET", path, "", NULL, &status, &text);
        /* Emptied of what the test before has left. */
        const char *version = strstr(text, "\"resourceVersion\":");
        char number[16] = "";
        CU_ASSERT_FATAL(version != NULL &&
                        sscanf(version, "\"resourceVersion\": \"%15[0-9]", number) == 1);
        char body[2048];
        const char *rest = strstr(bodies[i], "\"name\"");
        snprintf(body, sizeof body, "%.*s\"resourceVersion\":\"%s\",%s", (int)(rest - bodies[i]),
                 bodies[i], number, rest);
        free(text);
        ask_fake("PUT", path, "", body, &status, &text);
        ASSERT_INT(status, 200);
        free(text);
    }
}

static const char *const methods[] = {
    [CALL_GET] = "GET", [CALL_CREATE] = "POST", [CALL_UPDATE] = "PUT", [CALL_APPLY] = "PATCH"};

static void answer(struct webhook_manager *manager, const struct call_request *request)
{
    char path[CALL_PATH_BYTES], *text = NULL, *body = text_duplicate(request->body);
    unsigned status;
    CU_ASSERT_FATAL(call_path(request, path));
    path[strcspn(path, "?")] = '\0';
    bool writes = request->verb != CALL_GET;
    if (writes) {
        struct arena *arena = arena_create(1 << 20);
        struct source source = {.text = request->body};
        const struct node *root = NULL;
        struct error error; /* strict: no key stands there twice */
        CU_ASSERT(doc_read_json(&source, &doc_limits_policy, NULL, arena, &root, &error));
        arena_destroy(arena);
    }
    CU_ASSERT_FATAL(
        ask_fake(methods[request->verb], path, "", writes ? body : NULL, &status, &text));
    struct call_answer answered;
    call_read(status, text_of(text), 0, NULL, &answered);
    webhook_manager_take(manager, now_ms, &answered);
    free(text);
    free(body);
}

static const char letters[] = {
    [RESOURCE_SECRET] = 'S',
    [RESOURCE_VALIDATING_CONFIGURATION] = 'V',
    [RESOURCE_MUTATING_CONFIGURATION] = 'M',
};

/* Up to so many requests, without a pause; "Ss" reads and writes the Secret, "VvMm" the
 * configurations. A status in place of an answer: from the first such request on. */
static const char *work(struct webhook_manager *manager, bool leads, unsigned count)
{
    static char done[REQUESTS_MAX + 1];
    size_t size = 0;
    struct webhook_manager_step step;
    while (size < count && size < REQUESTS_MAX) {
        webhook_manager_next(manager, now_ms, NOW_S + now_ms / 1000, leads, &step);
        if (!step.ask)
            break;
        char letter = letters[step.request.resource];
        done[size++] = (char)(step.request.verb == CALL_GET ? letter : letter + ('a' - 'A'));
        answer(manager, &step.request);
    }
    done[size] = '\0';
    return done;
}

#define ASSERT_WORK(manager, leads, expected) \
    ASSERT_TEXT(text_of(work(manager, leads, REQUESTS_MAX)), expected)

static void answer_later(struct webhook_manager *manager, unsigned status, int64_t retry_after_s)
{
    struct webhook_manager_step step;
    struct call_answer answered;
    webhook_manager_next(manager, now_ms, NOW_S, true, &step);
    CU_ASSERT_FATAL(step.ask);
    call_read(status, TEXT(""), retry_after_s, NULL, &answered);
    webhook_manager_take(manager, now_ms, &answered);
}

static void answer_next(struct webhook_manager *manager, unsigned status)
{
    answer_later(manager, status, 0);
}

/* What there is; the caller frees it. */
static void show(const char *path, char **text)
{
    unsigned status;
    CU_ASSERT_FATAL(ask_fake("GET", path, "", NULL, &status, text));
}

/* How often the configurations hold the bundle of the Secret. */
static unsigned published(void)
{
    char path[256];
    snprintf(path, sizeof path, "/api/v1/namespaces/taffrail/secrets/%s", secret_name);
    char *secret = NULL;
    show(path, &secret);
    const char *start = strstr(secret, "\"ca.crt\": \"");
    unsigned count = 0;
    if (start != NULL) {
        start += strlen("\"ca.crt\": \"");
        size_t size = strcspn(start, "\"");
        for (size_t i = 0; i < CONFIGURATION_COUNT; i++) {
            snprintf(path, sizeof path, "%s/taffrail", paths[i]);
            char *text = NULL;
            show(path, &text);
            for (const char *at = text; (at = memmem(at, strlen(at), start, size)) != NULL; at++)
                count++;
            free(text);
        }
    }
    free(secret);
    return count;
}

static void put_bundle(const char *plural_path, const char *name, const char *bundle)
{
    char path[256], body[1024], *text = NULL;
    unsigned status;
    snprintf(path, sizeof path, "%s/taffrail", plural_path);
    snprintf(body, sizeof body,
             "{\"webhooks\":[{\"name\":\"%s\",\"clientConfig\":{\"caBundle\":\"%s\"}}]}", name,
             bundle);
    ask_fake("PATCH", path, "", body, &status, &text);
    ASSERT_INT(status, 200);
    free(text);
}

static struct webhook_manager_report report_of(const struct webhook_manager *manager)
{
    struct webhook_manager_report report;
    webhook_manager_report(manager, &report);
    return report;
}

/* How often a text stands in the validating configuration. */
static unsigned count_of(const char *wanted)
{
    char path[256], *text = NULL;
    unsigned count = 0;
    snprintf(path, sizeof path, "%s/taffrail", paths[0]);
    show(path, &text);
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at++)
        count++;
    free(text);
    return count;
}

/* ---- tests ---- */

static void the_first_certificate(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager();
    ASSERT_WORK(manager, false, "S");
    CU_ASSERT(!report_of(manager).serving);
    ASSERT_WORK(manager, true, "SVMsSVMvmSVM");
    CU_ASSERT(report_of(manager).serving);
    ASSERT_INT(published(), 3);
    ASSERT_INT(serves, 1);
    ASSERT_WORK(manager, true, "");
    now_ms += 10000;
    ASSERT_WORK(manager, true, "SVM");
    struct webhook_manager *other = open_manager();
    ASSERT_WORK(other, false, "S");
    CU_ASSERT(report_of(other).serving);
    now_ms += 9999;
    ASSERT_WORK(other, false, "");
    now_ms++;
    ASSERT_WORK(other, false, "S");
    ASSERT_INT(serves, 2); /* once each */
    webhook_manager_destroy(other);
    webhook_manager_destroy(manager);
}

static void entries_of_others_are_left_alone(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager();
    ASSERT_WORK(manager, true, "SVMsSVMvmSVM");
    ASSERT_INT(published(), 3);
    ASSERT_INT(count_of("\"caBundle\""), 4); /* two of ours, two of theirs, none at the URL */
    ASSERT_INT(count_of(BUNDLE_OF_OTHERS), 2);
    /* Whatever they do to theirs is nothing to write about. */
    put_bundle(paths[0], "x.b.c", "Cg==");
    now_ms += 10000;
    ASSERT_WORK(manager, true, "SVM");
    ASSERT_INT(count_of(BUNDLE_OF_OTHERS), 1);
    webhook_manager_destroy(manager);
}

static void who_leads_no_more_writes_no_more(void)
{
    for (unsigned count = 1; count < 12; count++) {
        open_cluster(true);
        struct webhook_manager *manager = open_manager();
        (void)work(manager, true, count);
        char *before = objects_writes();
        (void)work(manager, false, REQUESTS_MAX);
        now_ms += 20000;
        (void)work(manager, false, REQUESTS_MAX);
        char *after = objects_writes();
        CU_ASSERT_STRING_EQUAL(before, after);
        free(before);
        free(after);
        /* Another goes on from wherever it stopped. */
        struct webhook_manager *other = open_manager();
        (void)work(other, true, REQUESTS_MAX);
        ASSERT_INT(published(), 3);
        CU_ASSERT(report_of(other).serving);
        webhook_manager_destroy(other);
        webhook_manager_destroy(manager);
    }
}

static void what_another_wrote_is_not_overwritten(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager(), *other = open_manager();
    ASSERT_TEXT(text_of(work(manager, true, 3)), "SVM");
    ASSERT_WORK(other, true, "SVMsSVMvmSVM");
    ASSERT_TEXT(text_of(work(manager, true, 1)), "s"); /* it is there already */
    now_ms += 1000;
    ASSERT_WORK(manager, true, "SVM");
    ASSERT_INT(published(), 3);
    put_bundle(paths[0], "a.b.c", "Cg==");
    now_ms += 10000;
    ASSERT_TEXT(text_of(work(manager, true, 3)), "SVM");
    put_bundle(paths[0], "d.b.c", "Cgo="); /* a newer resourceVersion than was read */
    ASSERT_TEXT(text_of(work(manager, true, 1)), "v");
    ASSERT_INT(published(), 1);
    now_ms += 1000;
    ASSERT_WORK(manager, true, "SVMvSVM");
    ASSERT_INT(published(), 3);
    webhook_manager_destroy(other);
    webhook_manager_destroy(manager);
}

static void who_overwrites_each_time_is_met_less_often(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager();
    (void)work(manager, true, REQUESTS_MAX);
    uint64_t before = report_of(manager).writes[DUTY_BUNDLE];
    unsigned paused = 0;
    now_ms += 10000;
    for (int64_t end_ms = now_ms + 20 * 60LL * 1000; now_ms < end_ms; now_ms += 10000) {
        put_bundle(paths[0], "a.b.c", "Cg==");
        put_bundle(paths[1], "e.b.c", "Cg==");
        (void)work(manager, true, REQUESTS_MAX);
        struct webhook_manager_report report = report_of(manager);
        bool known = strstr(report.problem[DUTY_BUNDLE], "Validating") != NULL &&
                     strstr(report.problem[DUTY_BUNDLE + 1], "Mutating") != NULL &&
                     strstr(report.problem[DUTY_BUNDLE + 1], "manager argo; it is put") != NULL;
        CU_ASSERT_EQUAL(known, published() != 3);
        paused += known;
    }
    /* At once, then 20, 40, 80, 160, 320 and 320 s later; each 10 s it would be 120. */
    uint64_t writes = report_of(manager).writes[DUTY_BUNDLE] - before;
    ASSERT_INT(writes, 2 * 7);
    ASSERT_INT(paused, 120 - 7);
    now_ms += 60LL * 60 * 1000;
    (void)work(manager, true, REQUESTS_MAX);
    ASSERT_INT(published(), 3);
    ASSERT_TEXT(text_of(report_of(manager).problem[DUTY_BUNDLE]), "");
    webhook_manager_destroy(manager);
}

/* Only what was put back counts as a time that somebody was met. */
static void what_was_refused_is_put_back_without_a_pause(void)
{
    static const struct {
        unsigned status;
        int64_t again_ms;
    } refusals[] = {{500, 10000}, {409, 1000}};
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        open_cluster(true);
        struct webhook_manager *manager = open_manager();
        (void)work(manager, true, REQUESTS_MAX);
        put_bundle(paths[0], "a.b.c", "Cg==");
        now_ms += 10000;
        ASSERT_TEXT(text_of(work(manager, true, 3)), "SVM");
        answer_next(manager, refusals[i].status);
        ASSERT_WORK(manager, true, "");
        now_ms += refusals[i].again_ms;
        ASSERT_WORK(manager, true, "SVMvSVM");
        ASSERT_INT(published(), 3);
        webhook_manager_destroy(manager);
    }
}

static void a_refused_configuration_does_not_stop_the_other(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager();
    ASSERT_TEXT(text_of(work(manager, true, 7)), "SVMsSVM");
    answer_next(manager, 403);
    ASSERT_WORK(manager, true, "m"); /* and then a rest, as after each failure */
    ASSERT_INT(published(), 1);
    now_ms += 10000;
    ASSERT_TEXT(text_of(work(manager, true, 3)), "SVM");
    struct webhook_manager_report report = report_of(manager);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.problem[DUTY_BUNDLE], "ValidatingWebhookConfiguration"));
    ASSERT_TEXT(text_of(report.problem[DUTY_BUNDLE + 1]), "");
    answer_later(manager, 429, 60);
    ASSERT_WORK(manager, true, "");
    now_ms += 69999;
    ASSERT_WORK(manager, true, "");
    put_bundle(paths[1], "e.b.c", "Cg==");
    now_ms++;
    ASSERT_TEXT(text_of(work(manager, true, 3)), "SVM");
    answer_next(manager, 409);
    ASSERT_WORK(manager, true, "m");
    now_ms += 1000;
    ASSERT_WORK(manager, true, "SVMv"); /* the fourth write without a round that was well */
    now_ms += 10000;
    ASSERT_WORK(manager, true, "SVM");
    ASSERT_INT(published(), 3);
    report = report_of(manager);
    ASSERT_INT(report.failures[DUTY_BUNDLE], 2);
    ASSERT_TEXT(text_of(report.problem[DUTY_BUNDLE]), "");
    webhook_manager_destroy(manager);
}

static void nothing_is_well_before_it_is(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager();
    for (int i = 0; i < 3; i++, now_ms += 10000) {
        for (unsigned read = 0; read < 3; read++) {
            ASSERT_INT(strlen(work(manager, true, 1)), 1);
            CU_ASSERT_EQUAL(report_of(manager).problem[DUTY_SECRET][0] != '\0', i > 0);
        }
        answer_next(manager, 403); /* to write the Secret that was read */
        CU_ASSERT_PTR_NOT_NULL(strstr(report_of(manager).problem[DUTY_SECRET], secret_name));
    }
    ASSERT_TEXT(text_of(work(manager, true, 6)), "SVMsSV");
    ASSERT_TEXT(text_of(report_of(manager).problem[DUTY_BUNDLE + 1]), "");
    answer_next(manager, 403); /* to read the mutating one */
    ASSERT_TEXT(text_of(work(manager, true, 1)), "v");
    struct webhook_manager_report report = report_of(manager);
    ASSERT_TEXT(text_of(report.problem[DUTY_SECRET]), "");
    ASSERT_TEXT(text_of(report.problem[DUTY_BUNDLE]), "");
    CU_ASSERT_PTR_NOT_NULL(strstr(report.problem[DUTY_BUNDLE + 1], "MutatingWebhook"));
    ASSERT_WORK(manager, true, "SVMmSVM");
    ASSERT_TEXT(text_of(report_of(manager).problem[DUTY_BUNDLE + 1]), "");
    webhook_manager_destroy(manager);
    manager = open_manager(); /* who does not lead has only to read */
    struct webhook_manager_step step;
    struct call_answer refused;
    webhook_manager_next(manager, now_ms, NOW_S, false, &step);
    call_read(500, TEXT(""), 0, NULL, &refused);
    webhook_manager_take(manager, now_ms, &refused);
    CU_ASSERT_NOT_EQUAL(report_of(manager).problem[DUTY_SECRET][0], '\0');
    now_ms += 10000;
    ASSERT_WORK(manager, false, "S");
    ASSERT_TEXT(text_of(report_of(manager).problem[DUTY_SECRET]), "");
    webhook_manager_destroy(manager);
}

static void what_may_not_be_read_stops_nothing_else(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager();
    ASSERT_TEXT(text_of(work(manager, true, 1)), "S");
    answer_next(manager, 403);
    ASSERT_TEXT(text_of(work(manager, true, 2)), "Ms"); /* a first certificate all the same */
    ASSERT_TEXT(text_of(work(manager, true, 1)), "S");
    CU_ASSERT(report_of(manager).serving);
    answer_next(manager, 403);
    ASSERT_WORK(manager, true, "MmSVMvSVM");
    struct webhook_manager_report report = report_of(manager);
    ASSERT_INT(report.failures[DUTY_BUNDLE], 2);
    ASSERT_TEXT(text_of(report.problem[DUTY_BUNDLE]), "");
    now_ms += 10000;
    answer_next(manager, 500);
    report = report_of(manager);
    ASSERT_INT(report.failures[DUTY_SECRET], 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.problem[DUTY_SECRET], secret_name));
    CU_ASSERT(report.serving);
    webhook_manager_destroy(manager);
}

/* Of a Secret that is lost the replica still serves the certificate, which a configuration that
 * cannot be read may trust. */
static void a_lost_secret_gets_no_certificate_before_all_can_be_read(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager();
    (void)work(manager, true, REQUESTS_MAX);
    CU_ASSERT_FATAL(report_of(manager).serving);
    ASSERT_INT(serves, 1);
    snprintf(secret_name, sizeof secret_name, "lost");
    now_ms += 10000;
    ASSERT_TEXT(text_of(work(manager, true, 1)), "S");
    answer_next(manager, 500);
    answer_next(manager, 500);
    (void)work(manager, true, REQUESTS_MAX); /* the new CA, and the bundles */
    ASSERT_INT(serves, 1);
    for (int i = 0; i < 30; i++, now_ms += 10000)
        (void)work(manager, true, REQUESTS_MAX);
    ASSERT_INT(serves, 2);
    webhook_manager_destroy(manager);
}

/* A configuration that cannot be read may trust the old CA alone: the new one does not sign yet. */
static void a_ca_does_not_sign_before_all_trust_it(void)
{
    const int64_t day_ms = 24LL * 60 * 60 * 1000;
    open_cluster(true);
    settings.times.ca_valid_s = 270LL * 24 * 60 * 60;
    struct webhook_manager *manager = open_manager();
    (void)work(manager, true, REQUESTS_MAX);
    now_ms += 61 * day_ms;
    ASSERT_WORK(manager, true, "SVMsSVM"); /* the certificate, after two thirds of 90 days */
    now_ms += 34 * day_ms;                 /* and the CA while two certificates can still end */
    for (int i = 0; i < 30; i++, now_ms += 10000) {
        struct webhook_manager_step step;
        webhook_manager_next(manager, now_ms, NOW_S + now_ms / 1000, true, &step);
        while (step.ask) {
            bool unseen = step.request.resource == RESOURCE_MUTATING_CONFIGURATION;
            struct call_answer refused;
            call_read(403, TEXT(""), 0, NULL, &refused);
            if (unseen)
                webhook_manager_take(manager, now_ms, &refused);
            else
                answer(manager, &step.request);
            webhook_manager_next(manager, now_ms, NOW_S + now_ms / 1000, true, &step);
        }
    }
    ASSERT_INT(report_of(manager).writes[DUTY_SECRET], 3); /* the last is the new CA alone */
    for (int i = 0; i < 30; i++, now_ms += 10000)
        (void)work(manager, true, REQUESTS_MAX);
    ASSERT_INT(report_of(manager).writes[DUTY_SECRET], 4);
    webhook_manager_destroy(manager);
}

static void a_certificate_that_is_no_good_is_said_once_and_taken_when_it_is(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager();
    (void)work(manager, true, REQUESTS_MAX);
    webhook_manager_destroy(manager);
    manager = open_manager();
    refuse_leaf = true;
    serves = 0;
    for (int i = 0; i < 5; i++, now_ms += 10000)
        (void)work(manager, false, REQUESTS_MAX);
    ASSERT_INT(serves, 5);
    ASSERT_INT(serves_again, 4);
    CU_ASSERT(!report_of(manager).serving);
    ASSERT_INT(report_of(manager).failures[DUTY_SECRET], 1); /* said once */
    refuse_leaf = false;
    for (int i = 0; i < 5; i++, now_ms += 10000)
        (void)work(manager, false, REQUESTS_MAX);
    ASSERT_INT(serves, 6);
    CU_ASSERT(report_of(manager).serving);
    ASSERT_INT(report_of(manager).failures[DUTY_SECRET], 1);
    webhook_manager_destroy(manager);
}

/* Whoever serves it is told, as he has kept that the one between was refused. */
static void a_good_certificate_that_comes_back_is_served_again(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager(), *other = open_manager();
    (void)work(manager, true, REQUESTS_MAX);
    settings.secret = "certs-next";
    settings.configuration = "none";
    ASSERT_TEXT(text_of(work(other, true, REQUESTS_MAX)), "SVMsSVM");
    refuse_leaf = true;
    serves = 0;
    now_ms += 10000;
    ASSERT_WORK(manager, false, "S");
    CU_ASSERT(report_of(manager).serving);
    settings.secret = secret_name;
    refuse_leaf = false;
    for (int i = 0; i < 3; i++) {
        now_ms += 10000;
        ASSERT_WORK(manager, false, "S");
    }
    ASSERT_INT(serves, 2);
    webhook_manager_destroy(other);
    webhook_manager_destroy(manager);
}

static void a_configuration_that_is_not_there_is_not_made(void)
{
    open_cluster(false);
    struct webhook_manager *manager = open_manager();
    ASSERT_WORK(manager, true, "SVMsSVM");
    CU_ASSERT(report_of(manager).missing[0] && report_of(manager).missing[1]);
    CU_ASSERT(report_of(manager).serving);
    struct webhook_manager_status *status = webhook_manager_status_create(&settings);
    struct arena *arena = arena_create(1 << 20);
    struct webhook_manager_report report = report_of(manager);
    struct text why;
    CU_ASSERT(!webhook_manager_status_is_ready(status, arena, &why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why.data, secret_name));
    webhook_manager_status_set(status, &report);
    CU_ASSERT(webhook_manager_status_is_ready(status, arena, &why));
    struct text_builder out = {.arena = arena};
    webhook_manager_status_add_line(status, &out);
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "there is no MutatingWebhookConfiguration none"));
    webhook_manager_status_destroy(status);
    arena_destroy(arena);
    webhook_manager_destroy(manager);
}

/* A proxy, or an API server in trouble, answers 200 with something else. */
static void an_answer_is_the_object_that_was_asked_for(void)
{
    static const struct {
        const char *body;
        bool is_secret;
    } cases[] = {
        {"{\"kind\":\"Secret\",\"metadata\":{\"resourceVersion\":\"7\"}}", true},
        {"{\"kind\":\"ConfigMap\",\"metadata\":{\"resourceVersion\":\"7\"}}", false},
        {"{\"kind\":\"Status\",\"metadata\":{},\"status\":\"Failure\"}", false},
        {"{\"metadata\":{\"resourceVersion\":\"7\"}}", false},
        {"{\"kind\":\"Secret\",\"metadata\":{\"resourceVersion\":\"\"}}", false},
        {"{\"kind\":\"Secret\",\"metadata\":{}}", false},
        {"[]", false},
        {"<html>", false},
        {"", false},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ASSERT_INT(object_of(RESOURCE_SECRET, text_of(cases[i].body), arena) != NULL,
                   cases[i].is_secret);
    arena_destroy(arena);
}

/* A quarter of the time that bundles take to settle, within bounds; who has no certificate yet
 * looks each second. */
static void how_often_is_looked(void)
{
    static const struct {
        int64_t settle_s;
        bool serves;
        int64_t again_ms;
    } cases[] = {
        {600, true, 10000}, {40, true, 10000},  {39, true, 9750}, {20, true, 5000}, {1, true, 250},
        {0, true, 250},     {600, false, 1000}, {8, false, 1000}, {4, false, 1000}, {2, false, 500},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        open_cluster(true);
        if (cases[i].serves) { /* there is one, which another has made */
            struct webhook_manager *first = open_manager();
            (void)work(first, true, REQUESTS_MAX);
            webhook_manager_destroy(first);
        }
        settings.times.settle_s = cases[i].settle_s;
        struct webhook_manager *manager = open_manager();
        ASSERT_WORK(manager, false, "S");
        ASSERT_INT(report_of(manager).serving, cases[i].serves);
        struct webhook_manager_step step;
        webhook_manager_next(manager, now_ms, NOW_S, false, &step);
        CU_ASSERT_FALSE(step.ask);
        ASSERT_INT(step.until_ms, now_ms + cases[i].again_ms);
        webhook_manager_next(manager, now_ms + cases[i].again_ms - 1, NOW_S, false, &step);
        CU_ASSERT_FALSE(step.ask);
        webhook_manager_next(manager, now_ms + cases[i].again_ms, NOW_S, false, &step);
        CU_ASSERT(step.ask);
        /* While a request is open there is nothing to do. */
        webhook_manager_next(manager, now_ms + cases[i].again_ms, NOW_S, false, &step);
        CU_ASSERT_FALSE(step.ask);
        CU_ASSERT(step.until_ms == INT64_MAX);
        webhook_manager_destroy(manager);
    }
}

static void the_log_says_what_changed(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager();
    log_set_level(LOG_INFO);
    struct listening listening = listen_to_log();
    (void)work(manager, true, REQUESTS_MAX);
    struct text log = heard(&listening);
    ASSERT_HEARD(log, "CA and certificate of Secret written", 1);
    ASSERT_HEARD(log, "the CA bundle of ValidatingWebhookConfiguration written", 1);
    ASSERT_HEARD(log, "the CA bundle of MutatingWebhookConfiguration written", 1);
    ASSERT_HEARD(log, "its certificate is in force for new connections", 1);
    ASSERT_HEARD(log,
                 "entries of the ValidatingWebhookConfiguration call something else than the "
                 "service taffrail/taffrail, so that their CA bundle is left alone: x.b.c, y.b.c, "
                 "z.b.c",
                 1);
    ASSERT_HEARD(log, "call something else", 1);

    /* A failure is said once, and that it is over, too. */
    for (int i = 0; i < 2; i++) {
        now_ms += 10000;
        listening = listen_to_log();
        answer_next(manager, 500);
        ASSERT_HEARD(heard(&listening), "the request failed; it is made again in a while",
                     i == 0 ? 1 : 0);
    }
    now_ms += 10000;
    listening = listen_to_log();
    ASSERT_WORK(manager, true, "SVM");
    ASSERT_HEARD(heard(&listening), "all is well again: Secret ", 1);
    now_ms += 10000;
    listening = listen_to_log();
    ASSERT_WORK(manager, true, "SVM");
    ASSERT_INT(heard(&listening).size, 0);
    webhook_manager_destroy(manager);

    /* What is missing is said once, of each. */
    open_cluster(false);
    manager = open_manager();
    log_set_level(LOG_WARN);
    listening = listen_to_log();
    (void)work(manager, true, REQUESTS_MAX);
    log = heard(&listening);
    ASSERT_HEARD(log, "there is no ValidatingWebhookConfiguration of this name", 1);
    ASSERT_HEARD(log, "there is no MutatingWebhookConfiguration of this name", 1);
    webhook_manager_destroy(manager);
    log_set_level(LOG_ERROR + 1);
}

/* Whoever leads again knows nothing of before. */
static void a_new_leader_forgets_what_it_saw(void)
{
    open_cluster(false);
    struct webhook_manager *manager = open_manager();
    (void)work(manager, true, REQUESTS_MAX);
    CU_ASSERT(report_of(manager).missing[0] && report_of(manager).missing[1]);
    now_ms += 10000;
    answer_next(manager, 500);
    CU_ASSERT_NOT_EQUAL(report_of(manager).problem[DUTY_SECRET][0], '\0');
    struct webhook_manager_step step;
    webhook_manager_next(manager, now_ms, NOW_S, false, &step);
    CU_ASSERT_FALSE(report_of(manager).missing[0] || report_of(manager).missing[1]);
    ASSERT_TEXT(text_of(report_of(manager).problem[DUTY_SECRET]), "");
    webhook_manager_next(manager, now_ms, NOW_S, true, &step); /* it begins at once */
    CU_ASSERT(step.ask);
    webhook_manager_destroy(manager);
}

static void requests_say_what_they_are_for(void)
{
    static const struct {
        enum call_verb verb;
        enum resource resource;
        const char *namespace, *name;
    } requests[] = {
        {CALL_GET, RESOURCE_SECRET, "taffrail", NULL},
        {CALL_GET, RESOURCE_VALIDATING_CONFIGURATION, "", "taffrail"},
        {CALL_GET, RESOURCE_MUTATING_CONFIGURATION, "", "taffrail"},
        {CALL_CREATE, RESOURCE_SECRET, "taffrail", NULL},
        {CALL_GET, RESOURCE_SECRET, "taffrail", NULL},
        {CALL_GET, RESOURCE_VALIDATING_CONFIGURATION, "", "taffrail"},
        {CALL_GET, RESOURCE_MUTATING_CONFIGURATION, "", "taffrail"},
        {CALL_APPLY, RESOURCE_VALIDATING_CONFIGURATION, "", "taffrail"},
        {CALL_APPLY, RESOURCE_MUTATING_CONFIGURATION, "", "taffrail"},
    };
    open_cluster(true);
    struct webhook_manager *manager = open_manager();
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        struct webhook_manager_step step;
        webhook_manager_next(manager, now_ms, NOW_S, true, &step);
        CU_ASSERT_FATAL(step.ask);
        ASSERT_INT(step.request.verb, requests[i].verb);
        ASSERT_INT(step.request.resource, requests[i].resource);
        ASSERT_TEXT(text_of(step.request.namespace), requests[i].namespace);
        ASSERT_TEXT(text_of(step.request.name),
                    requests[i].name == NULL ? secret_name : requests[i].name);
        ASSERT_INT(step.request.limit_ms, 5000);
        ASSERT_INT(step.request.body.size > 0, requests[i].verb != CALL_GET);
        answer(manager, &step.request);
    }
    ASSERT_INT(report_of(manager).writes[DUTY_SECRET], 1);
    ASSERT_INT(report_of(manager).writes[DUTY_BUNDLE], 2);
    webhook_manager_destroy(manager);
}

static void a_flood_of_writes_pauses(void)
{
    open_cluster(true);
    struct webhook_manager *manager = open_manager();
    unsigned writes = 0;
    /* Each write is answered, and none is kept: what is read stays as it was. */
    for (int i = 0; i < 200; i++) {
        struct webhook_manager_step step;
        struct call_answer answered;
        webhook_manager_next(manager, now_ms, NOW_S, true, &step);
        if (!step.ask)
            break;
        bool secret = step.request.resource == RESOURCE_SECRET;
        bool reads = step.request.verb == CALL_GET;
        writes += !reads;
        call_read(reads ? 404 : 200, TEXT("{}"), 0, NULL, &answered);
        webhook_manager_take(manager, now_ms, &answered);
        CU_ASSERT(secret || reads);
    }
    ASSERT_INT(writes, 4);
    webhook_manager_destroy(manager);
}

/* Beside the rest after each failure. */
static void who_is_told_to_come_later_does(void)
{
    static const int64_t times_s[] = {0, 1, 2, 60, 300};
    for (size_t i = 0; i < COUNT_OF(times_s); i++) {
        open_cluster(true);
        struct webhook_manager *manager = open_manager();
        ASSERT_WORK(manager, true, "SVMsSVMvmSVM");
        now_ms += 10000;
        answer_later(manager, 429, times_s[i]);
        now_ms += 10000 + times_s[i] * 1000 - 1;
        ASSERT_WORK(manager, true, "");
        now_ms++;
        ASSERT_WORK(manager, true, "SVM");
        webhook_manager_destroy(manager);
    }
}

const struct unit_test unit_tests[] = {
    {"who is told to come later does", who_is_told_to_come_later_does},
    {"entries of others are left alone", entries_of_others_are_left_alone},
    {"the first certificate", the_first_certificate},
    {"who leads no more writes no more", who_leads_no_more_writes_no_more},
    {"what another wrote is not overwritten", what_another_wrote_is_not_overwritten},
    {"who overwrites each time is met less often", who_overwrites_each_time_is_met_less_often},
    {"what may not be read stops nothing else", what_may_not_be_read_stops_nothing_else},
    {"a lost Secret gets no certificate before all can be read",
     a_lost_secret_gets_no_certificate_before_all_can_be_read},
    {"a CA does not sign before all trust it", a_ca_does_not_sign_before_all_trust_it},
    {"what was refused is put back without a pause", what_was_refused_is_put_back_without_a_pause},
    {"a refused configuration does not stop the other",
     a_refused_configuration_does_not_stop_the_other},
    {"nothing is well before it is", nothing_is_well_before_it_is},
    {"a certificate that is no good is said once and taken when it is",
     a_certificate_that_is_no_good_is_said_once_and_taken_when_it_is},
    {"a good certificate that comes back is served again",
     a_good_certificate_that_comes_back_is_served_again},
    {"a configuration that is not there is not made",
     a_configuration_that_is_not_there_is_not_made},
    {"an answer is the object that was asked for", an_answer_is_the_object_that_was_asked_for},
    {"how often is looked", how_often_is_looked},
    {"the log says what changed", the_log_says_what_changed},
    {"a new leader forgets what it saw", a_new_leader_forgets_what_it_saw},
    {"requests say what they are for", requests_say_what_they_are_for},
    {"a flood of writes pauses", a_flood_of_writes_pauses},
    {NULL, NULL},
};
