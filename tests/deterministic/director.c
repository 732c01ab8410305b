/* The deeds of a run, by their rates, and the end of each round. */
#include "director.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#include "answers.h"
#include "base/clock.h"
#include "certs/certs.h"
#include "chance.h"
#include "check.h"
#include "cluster.h"
#include "disk.h"
#include "kube/kind.h"
#include "memory.h"
#include "outcome.h"
#include "replica.h"
#include "server/informer.h"
#include "singles.h"
#include "threads.h"
#include "transport.h"

enum {
    TICK_MS = 50,
    TROUBLE_MINUTES = 10,
    /* A kind that was refused is asked for again after 7.5 minutes at most, a silent connection
     * ends after 3, a Retry-After after 5. */
    QUIET_MINUTES = 17,
    CALMER = 8,          /* so many times less happens when all is quiet */
    RELOAD_SECONDS = 75, /* a change that no watch sees is found after a minute */
};

static bool goes_on;
static int64_t end_us;
static uint64_t policies;

/* ---- files ---- */

static const char catalog_text[] =
    "[{\"name\":\"m5.large\",\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"],"
    "\"resources\":{\"cpu\":\"2\",\"memory\":\"8Gi\",\"pods\":\"29\"},\"offerings\":["
    "{\"Price\":0.1,\"Available\":true,\"Requirements\":["
    "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"on-demand\"]},"
    "{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"zone-0\"]}]}]}]";

static const char kubeconfig_text[] =
    "{apiVersion: v1, kind: Config, current-context: here, contexts: [{name: here, context: "
    "{cluster: sim, user: me, namespace: ns}}], clusters: [{name: sim, cluster: {server: "
    "\"http://127.0.0.1:1\"}}], users: [{name: me, user: {}}]}";

/* A part of it is no document. */
static void write_policy(uint64_t number, char text[static 400])
{
    snprintf(text, 400,
             "{\"apiVersion\":\"taffrail.dev/v1alpha1\",\"kind\":\"GuardRails\",\"metadata\":{"
             "\"name\":\"p%" PRIu64 "\"},\"spec\":{\"mode\":\"enforce\",\"rails\":{"
             "\"topology-keys\":{},\"zone-pin\":{\"bound\":\"require\"}}}}\n",
             number);
}

static void put_policy(int replica)
{
    char text[400];
    write_policy(++policies, text);
    disk_put(replica, "policy.yaml", text);
    answers_set_policy(replica, policies, true);
}

/* Who writes a file in place leaves a part of it when the disk is full. */
static void tear_policy(int replica, uint64_t part)
{
    char text[400];
    write_policy(++policies, text);
    text[part % (strlen(text) - 2)] = '\0';
    disk_overwrite(replica, "policy.yaml", text);
    answers_set_policy(replica, policies, false);
}

static void put_certificate(int replica, uint64_t chance)
{
    struct arena *arena = arena_create(1 << 20);
    struct cert_pair ca, leaf;
    struct error error;
    int64_t now_s = unix_us() / SECOND;
    if (arena == NULL || !cert_issue_ca(now_s, arena, &ca, &error) ||
        !cert_issue_leaf(&ca, &(struct cert_names){0}, now_s, arena, &leaf, &error))
        abort();
    if (chance % 4 == 0) /* it is noticed between the two files */
        disk_put(replica, "tls.crt", "");
    disk_put(replica, "tls.key", leaf.key.data);
    if (chance % 8 != 1) /* else the other does not come */
        disk_put(replica, "tls.crt", leaf.certificate.data);
    arena_destroy(arena);
}

/* ---- deeds ---- */

static int64_t after(enum deed deed, int64_t most_us)
{
    return world_now_us() + 1 + (int64_t)chance_of_deed(deed, (uint64_t)most_us);
}

static int any_replica(enum deed deed)
{
    return (int)chance_of_deed(deed, REPLICAS_MAX);
}

static void change(void)
{
    world_event(1);
    cluster_change(chance_of_deed(DEED_CHANGE, UINT64_C(1) << 60));
}

static void storm(void)
{
    for (uint64_t left = 50 + chance_of_deed(DEED_STORM, 800); left > 0; left--) {
        world_event(2);
        cluster_change(chance_of_deed(DEED_STORM, UINT64_C(1) << 60));
    }
}

static void compact(void)
{
    transport_compact();
}

static void slow(void)
{
    transport_slow(after(DEED_SLOW, 5 * MINUTE));
    answers_disturb_trust();
}

static void outage(void)
{
    transport_outage(after(DEED_OUTAGE, 4 * MINUTE));
    answers_disturb_trust();
}

static void cut_off(void)
{
    int replica = any_replica(DEED_CUT_OFF);
    int64_t late_until_us = after(DEED_CUT_OFF, 6 * SECOND);
    transport_cut_off(replica, late_until_us,
                      late_until_us + (int64_t)chance_of_deed(DEED_CUT_OFF, MINUTE));
}

static void forbid(void)
{
    enum kind kind = (enum kind)(KIND_POD + chance_of_deed(DEED_FORBID, KIND_OWNER_FIRST - 1));
    unsigned status = chance_of_deed(DEED_FORBID, 2) == 0 ? 403 : 404;
    transport_forbid(kind, status, after(DEED_FORBID, 8 * MINUTE));
}

static void lose_secret(void)
{
    singles_lose_secret();
    answers_disturb_trust();
}

static void spoil_secret(void)
{
    singles_spoil_secret();
    answers_disturb_trust();
}

static void spoil_bundle(void)
{
    singles_spoil_bundle(chance_of_deed(DEED_SPOIL_BUNDLE, 64));
    answers_disturb_trust();
}

static void freeze(void)
{
    replica_freeze(any_replica(DEED_FREEZE), after(DEED_FREEZE, MINUTE));
}

/* As wrong as a clock is that is set now and then: within the five minutes that a certificate is
 * valid before it is made. */
static void jump(void)
{
    int64_t ahead_us = (int64_t)chance_of_deed(DEED_JUMP, 8 * MINUTE) - 4 * MINUTE;
    replica_set_clock(any_replica(DEED_JUMP), ahead_us);
    answers_disturb_trust();
}

static void replace_policy(void)
{
    put_policy(any_replica(DEED_POLICY));
}

static void write_again(void *context)
{
    put_policy((int)(intptr_t)context);
}

/* Whoever wrote it notices, and writes it again. */
static void tear_file(void)
{
    int replica = any_replica(DEED_TORN_FILE);
    tear_policy(replica, chance_of_deed(DEED_TORN_FILE, 1000));
    world_at(after(DEED_TORN_FILE, 2 * MINUTE), write_again, (void *)(intptr_t)replica);
}

static void fail_disk(void)
{
    disk_fail(any_replica(DEED_DISK_ERROR), after(DEED_DISK_ERROR, 30 * SECOND));
}

static void fail_output(void)
{
    output_fail(any_replica(DEED_FULL_OUTPUT), after(DEED_FULL_OUTPUT, MINUTE));
}

static void replace_certificate(void)
{
    int replica = any_replica(DEED_CERTIFICATE);
    if (replica_has_files)
        put_certificate(replica, chance_of_deed(DEED_CERTIFICATE, 64));
}

static void end_memory(void)
{
    static const unsigned one_of[] = {2, 10, 100, 1000, 5000};
    memory_fail(any_replica(DEED_NO_MEMORY), after(DEED_NO_MEMORY, 20 * SECOND),
                one_of[chance_of_deed(DEED_NO_MEMORY, COUNT_OF(one_of))]);
}

static void come(enum deed deed, bool crowded)
{
    struct visit visit = {.replica = any_replica(deed),
                          .asked = (enum asked)chance_of_deed(deed, ASKED_COUNT),
                          .requests = 1 + (unsigned)chance_of_deed(deed, 3),
                          .slow = crowded && chance_of_deed(deed, 3) == 0,
                          .leaves = !chance_is_calm() && chance_of_deed(deed, 20) == 0};
    if (visit.asked == ASKED_LARGE && !crowded && chance_of_deed(deed, 10) != 0)
        visit.asked = ASKED_BAD;
    door_visit(&visit);
}

static void ask_one(void)
{
    come(DEED_REVIEW, false);
}

static void crowd(void)
{
    for (uint64_t left = 20 + chance_of_deed(DEED_CROWD, 100); left > 0; left--)
        come(DEED_CROWD, true);
}

static void kill_one(void)
{
    replica_kill(any_replica(DEED_KILL));
}

static void stop_one(void)
{
    replica_signal(any_replica(DEED_STOP), chance_of_deed(DEED_STOP, 3) == 0 ? SIGINT : SIGTERM);
}

static void hang_up(void)
{
    replica_signal(any_replica(DEED_HANG_UP), SIGHUP);
}

/* The deeds that come by themselves; the others happen to what is going on. */
static const struct {
    enum deed deed;
    uint32_t in_million; /* of a tick */
    void (*happens)(void);
} rates[] = {
    {DEED_CHANGE, 200000, change},
    {DEED_STORM, 12000, storm},
    {DEED_COMPACT, 400, compact},
    {DEED_SLOW, 80, slow},
    {DEED_OUTAGE, 60, outage},
    {DEED_CUT_OFF, 200, cut_off},
    {DEED_FORBID, 150, forbid},
    {DEED_LOSE_SECRET, 20, lose_secret},
    {DEED_SPOIL_SECRET, 20, spoil_secret},
    {DEED_SPOIL_BUNDLE, 40, spoil_bundle},
    {DEED_FREEZE, 200, freeze},
    {DEED_JUMP, 100, jump},
    {DEED_POLICY, 400, replace_policy},
    {DEED_TORN_FILE, 150, tear_file},
    {DEED_DISK_ERROR, 150, fail_disk},
    {DEED_FULL_OUTPUT, 100, fail_output},
    {DEED_CERTIFICATE, 300, replace_certificate},
    {DEED_NO_MEMORY, 150, end_memory},
    {DEED_REVIEW, 60000, ask_one},
    {DEED_CROWD, 100, crowd},
    {DEED_KILL, 60, kill_one},
    {DEED_STOP, 60, stop_one},
    {DEED_HANG_UP, 100, hang_up},
};

static void tick(void *context)
{
    static unsigned ticks;
    for (size_t i = 0; goes_on && i < COUNT_OF(rates); i++)
        if (chance_of(rates[i].deed, rates[i].in_million / (chance_is_calm() ? CALMER : 1)))
            rates[i].happens();
    if (++ticks % (5000 / TICK_MS) == 0)
        for (int replica = 0; replica < REPLICAS_MAX; replica++)
            if (replica_runs(replica))
                door_probe(replica);
    world_at(world_now_us() + TICK_MS * MS, tick, context);
}

/* ---- the end of a round ---- */

static void mend(void)
{
    chance_calm(true);
    transport_mend();
    for (int replica = 0; replica < REPLICAS_MAX; replica++) {
        replica_freeze(replica, 0);
        replica_set_clock(replica, 0);
        disk_fail(replica, 0);
        output_fail(replica, 0);
        memory_fail(replica, 0, 1);
        put_policy(replica);
        if (replica_has_files)
            put_certificate(replica, 3);
    }
}

static void pass(int64_t us)
{
    int64_t until_us = world_now_us() + us;
    bool is_over = end_us != 0 && until_us >= end_us;
    world_run(is_over ? end_us : until_us);
    if (is_over) {
        run_note();
        _exit(0);
    }
}

static void compare_views(void)
{
    char where[200];
    for (int replica = 0; replica < REPLICAS_MAX; replica++) {
        const struct snapshot *snapshot = replica_look(replica);
        CHECK(snapshot != NULL, "replica %d sees nothing", replica);
        CHECK(cluster_compare(snapshot, informer_kinds(), NEVER, where, sizeof where),
              "replica %d, when all is quiet: %s", replica, where);
        replica_done(replica);
    }
}

static void ask_all(void)
{
    for (int replica = 0; replica < REPLICAS_MAX; replica++) {
        for (enum asked asked = ASKED_BAD; asked <= ASKED_PIN; asked++)
            door_visit(&(struct visit){.replica = replica, .asked = asked, .requests = 4});
        door_probe(replica);
    }
}

static void check_all_well(void)
{
    char why[200];
    answers_expect_well(true);
    ask_all();
    pass(20 * SECOND);
    for (int replica = 0; replica < REPLICAS_MAX; replica++)
        CHECK(answers_is_well(replica, why, sizeof why), "replica %d is not well:%s", replica, why);
    answers_expect_well(false);
}

/* A policy that cannot be loaded, and one that can. */
static void check_reloads(void)
{
    for (int replica = 0; replica < REPLICAS_MAX; replica++)
        tear_policy(replica, chance_draw(1000));
    pass(RELOAD_SECONDS * SECOND);
    check_all_well();
    for (int replica = 0; replica < REPLICAS_MAX; replica++)
        put_policy(replica);
    pass(RELOAD_SECONDS * SECOND);
    check_all_well();
}

static void check_quiet(void)
{
    char why[200];
    CHECK(replica_has_files || singles_settled(why, sizeof why), "when all is quiet, %s", why);
    CHECK(replica_has_files || singles_leader() != WORLD, "when all is quiet, nobody leads");
    compare_views();
    check_all_well();
    compare_views();
    check_reloads();
}

static void go_round(void)
{
    chance_calm(false);
    goes_on = true;
    pass(TROUBLE_MINUTES * MINUTE);
    mend();
    pass(QUIET_MINUTES * MINUTE);
    goes_on = false;
    pass(20 * SECOND);
    check_quiet();
}

static void start(void *context)
{
    replica_start((int)(intptr_t)context);
}

void director_run(const struct director_plan *plan)
{
    replica_has_files = plan->seed % 5 == 4;
    end_us = plan->until_us;
    cluster_begin(informer_kinds());
    transport_begin();
    for (int replica = 0; replica < REPLICAS_MAX; replica++) {
        disk_put(replica, "kubeconfig", kubeconfig_text);
        disk_put(replica, "catalog.json", catalog_text);
        put_policy(replica);
        put_certificate(replica, 3);
        world_at(world_now_us() + (int64_t)chance_draw(5 * SECOND), start,
                 (void *)(intptr_t)replica);
    }
    tick(NULL);
    for (unsigned round = 0; round < plan->rounds; round++)
        go_round();
}
