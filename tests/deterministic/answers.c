/* Reviews whose verdict is known: whatever happens, what the policy denies is never admitted. */
#include "answers.h"

#include <inttypes.h>

#include "base/clock.h"
#include "chance.h"
#include "check.h"
#include "cluster.h"
#include "replica.h"
#include "singles.h"
#include "threads.h"

enum {
    LARGE_VARIABLES = 4000,
    TRUST_CALM_MINUTES = 12, /* a CA that nobody could publish signs after ten times the settling */
    SETTLE_S = 20,
};

static struct {
    uint64_t newest, good; /* on the disk */
    bool newest_is_good;
    uint64_t seen;  /* the newest that a review was judged by */
    bool was_ready; /* in this life */
    /* What was seen since the replica had to be well. */
    bool ready, denied, allowed, pinned;
} replicas[REPLICAS_MAX];
static bool expect_well;
static int64_t disturbed_us;
static uint64_t uids;
struct answer_counts answer_counts;

void answers_set_policy(int replica, uint64_t number, bool good)
{
    replicas[replica].newest = number;
    replicas[replica].newest_is_good = good;
    if (good)
        replicas[replica].good = number;
}

uint64_t answers_good_policy(int replica)
{
    return replicas[replica].good;
}

void answers_forget(int replica)
{
    replicas[replica].seen = 0;
    replicas[replica].was_ready = false;
}

void answers_disturb_trust(void)
{
    disturbed_us = world_now_us();
}

void answers_expect_well(bool well)
{
    expect_well = well;
    for (int i = 0; i < REPLICAS_MAX; i++)
        replicas[i].ready = replicas[i].denied = replicas[i].allowed = replicas[i].pinned = false;
}

bool answers_is_well(int replica, char *why, size_t why_bytes)
{
    snprintf(why, why_bytes, "%s%s%s%s", replicas[replica].ready ? "" : " it was not ready",
             replicas[replica].denied ? "" : " it denied nothing",
             replicas[replica].allowed ? "" : " it allowed nothing",
             replicas[replica].pinned ? "" : " it pinned nothing");
    return why[0] == '\0';
}

/* ---- questions ---- */

static const char *operation_of(enum asked asked)
{
    return asked == ASKED_NONSENSE ? "DREAM" : "CREATE";
}

static void add_spec(struct question *question)
{
    struct bytes *body = &question->body;
    bytes_printf(body, "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"");
    if (question->asked == ASKED_LARGE) {
        bytes_printf(body, ",\"env\":[{\"name\":\"V\",\"value\":\"v\"}");
        for (unsigned i = 0; i < LARGE_VARIABLES; i++)
            bytes_printf(body, ",{\"name\":\"V%u\",\"value\":\"v\"}", i);
        bytes_printf(body, "]");
    }
    bytes_printf(body, "}]");
    if (question->asked == ASKED_BAD || question->asked == ASKED_LARGE)
        bytes_printf(body, ",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":"
                           "\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]");
    if (question->asked == ASKED_PIN)
        bytes_printf(body,
                     ",\"volumes\":[{\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":"
                     "\"o-%02d\"}}]",
                     question->claim);
    bytes_printf(body, "}");
}

void answers_ask(enum asked asked, struct question *question)
{
    *question = (struct question){.asked = asked,
                                  .path = asked == ASKED_PIN ? "/mutate" : "/validate",
                                  .target = asked == ASKED_PIN ? "/mutate?timeout=10s"
                                                               : "/validate?timeout=10s",
                                  .claim = (int)chance_draw(CLUSTER_NAMES)};
    const char *namespace = cluster_namespace((unsigned)question->claim);
    snprintf(question->uid, sizeof question->uid, "uid-%" PRIu64, ++uids);
    bytes_printf(&question->body,
                 "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":"
                 "{\"uid\":\"%s\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},"
                 "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},"
                 "\"namespace\":\"%s\",\"operation\":\"%s\",\"oldObject\":null,\"dryRun\":false,"
                 "\"userInfo\":{\"username\":\"jane\",\"groups\":[\"developers\"]},\"object\":{"
                 "\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                 "\"namespace\":\"%s\"},",
                 question->uid, namespace, operation_of(asked), namespace);
    add_spec(question);
    bytes_printf(&question->body, "}}}");
}

/* ---- answers ---- */

static bool says(const struct bytes *body, const char *words)
{
    return memmem(body->data, body->size, words, strlen(words)) != NULL;
}

/* The policy that a denial names: its number only grows. */
static void check_policy(int replica, const struct bytes *body)
{
    const char *named = memmem(body->data, body->size, "policy: p", strlen("policy: p"));
    if (named == NULL)
        return;
    uint64_t number = strtoull(named + strlen("policy: p"), NULL, 10);
    CHECK(number >= replicas[replica].seen, "replica %d went from policy %" PRIu64 " to %" PRIu64,
          replica, replicas[replica].seen, number);
    CHECK(number <= replicas[replica].good, "replica %d knows policy %" PRIu64 " of %" PRIu64,
          replica, number, replicas[replica].good);
    CHECK(!expect_well || number == replicas[replica].good,
          "replica %d judges by policy %" PRIu64 " and not by %" PRIu64, replica, number,
          replicas[replica].good);
    replicas[replica].seen = number;
}

static void check_pin(int replica, const struct question *question, const struct bytes *body)
{
    int zone = cluster_zone_of_claim((unsigned)question->claim);
    bool patched = says(body, "\"patch\":");
    answer_counts.pinned += patched;
    replicas[replica].pinned |= patched || zone < 0;
    if (!expect_well)
        return;
    CHECK(patched == (zone >= 0), "replica %d %s a Pod of claim %d, whose zone is %d: %s", replica,
          patched ? "pins" : "does not pin", question->claim, zone, body->data);
}

static void judge_verdict(int replica, const struct question *question, const struct bytes *body)
{
    bool allowed = says(body, "\"allowed\":true");
    char uid[48];
    snprintf(uid, sizeof uid, "\"uid\":\"%s\"", question->uid);
    CHECK(says(body, uid), "replica %d answers another review: %s", replica, body->data);
    CHECK(allowed || says(body, "\"allowed\":false"), "replica %d gives no verdict: %s", replica,
          body->data);
    answer_counts.allowed += allowed;
    answer_counts.denied += !allowed;
    switch (question->asked) {
    case ASKED_BAD:
    case ASKED_LARGE:
        CHECK(!allowed, "replica %d admits what is denied: %s", replica, body->data);
        check_policy(replica, body);
        replicas[replica].denied = true;
        break;
    case ASKED_GOOD:
        CHECK(allowed || !expect_well, "replica %d denies what is allowed: %s", replica,
              body->data);
        replicas[replica].allowed |= allowed;
        break;
    case ASKED_PIN:
        CHECK(allowed, "replica %d denies by /mutate: %s", replica, body->data);
        check_pin(replica, question, body);
        break;
    default:
        check_failed("replica %d judges nonsense: %s", replica, body->data);
    }
}

void answers_judge(int replica, const struct question *question, unsigned status,
                   const struct bytes *body)
{
    world_event(1000 + status);
    if (status == 200) {
        judge_verdict(replica, question, body);
        return;
    }
    answer_counts.refused++;
    CHECK(status == 400 || status == 413 || status == 429 || status == 500 || status == 503,
          "replica %d answers %u: %s", replica, status, body->data);
    CHECK(!expect_well || question->asked == ASKED_NONSENSE, "replica %d refuses, well: %u %s",
          replica, status, body->data);
}

/* ---- /readyz ---- */

void answers_judge_ready(int replica, unsigned status, const struct bytes *body)
{
    static const char *const troubles[] = {"cannot be seen",
                                           "may be out of date",
                                           "no longer be read",
                                           "reload failed",
                                           "too old to require",
                                           "cannot be read",
                                           "no memory",
                                           "lease:",
                                           "secret:",
                                           "ca-bundle:"};
    world_event(2000 + status);
    CHECK(status == 200 || status == 503 || status == 500, "replica %d is %u ready", replica,
          status);
    replicas[replica].was_ready |= status == 200;
    answer_counts.ready += status == 200;
    answer_counts.not_ready += status != 200;
    if (!expect_well)
        return;
    CHECK(status == 200, "replica %d is not ready: %s", replica, body->data);
    bool failed = says(body, "last reload failed");
    CHECK(failed == !replicas[replica].newest_is_good, "replica %d says of its policy: %s", replica,
          body->data);
    for (size_t i = 0; i < COUNT_OF(troubles); i++)
        CHECK(!says(body, troubles[i]) || strstr(troubles[i], "reload") != NULL,
              "replica %d says, well: %s", replica, body->data);
    replicas[replica].ready = true;
}

/* ---- trust ---- */

/* Valid, and trusted. Certificates of files are only valid: nobody publishes their CA here. */
void answers_check_certificate(int replica, const char *certificate)
{
    int64_t from_s = 0, until_s = 0, now_s = unix_us() / SECOND;
    answer_counts.handshakes++;
    /* Nobody is sent to a replica that is not ready; it shows a certificate of its own. */
    if (!replicas[replica].was_ready || world_now_us() < disturbed_us + TRUST_CALM_MINUTES * MINUTE)
        return;
    CHECK(sscanf(certificate, "-----BEGIN CERTIFICATE-----\nleaf %*s %*s %" SCNd64 " %" SCNd64,
                 &from_s, &until_s) == 2 &&
              from_s <= now_s && now_s <= until_s,
          "replica %d shows a certificate that is not valid: %s", replica, certificate);
    CHECK(replica_has_files || singles_trust(certificate, SETTLE_S * SECOND / 2),
          "replica %d shows a certificate that an API server does not trust: %s", replica,
          certificate);
}
