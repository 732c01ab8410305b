/* labels: threads */
/* Replicas elect a leader, for hours of simulated time: with delays, lost requests and answers,
 * network cuts, freezes, wrong clocks and restarts. Never do two lead at one instant, and after
 * each fault one leads soon. TAFFRAIL_SEED=N repeats a run. */
#include <stdlib.h>
#include <time.h>

#include "lease_server.h"

const char unit_suite[] = "client election";

enum {
    TICK_MS = 10,
    REPLICAS_MAX = 5,
    ROUND_MS = 10 * 60 * 1000,
    QUIET_MS = 3 * 60 * 1000, /* the end of each round */
    ROUNDS = 12,
    /* What is on its way when quiet begins takes 5 s to fail, a holder that is gone 15 s; then come
     * two pauses of those who wait. */
    BOUND_MS = 5000 + 15000 + 2 * 4400 + 1000,
};

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % below;
}

struct replica {
    struct lease *lease;
    char identity[32];
    int64_t offset_ms, rate_ppm; /* of its clock */
    int64_t frozen_until_ms, cut_until_ms;
    bool asking, arrived, answered;
    int64_t arrives_ms, returns_ms, limit_ms; /* of the request on its way; -1: it is lost */
    struct call_request request;
    char body[2048];
    struct lease_reply reply;
    bool dead;
};

static struct replica replicas[REPLICAS_MAX];
static size_t replica_count;
static struct lease_server server;
static int64_t now_ms;
static unsigned started;
static bool faults;
static size_t fault_count, changes;
static const struct replica *last_leader;

static int64_t clock_of(const struct replica *replica)
{
    return now_ms + replica->offset_ms + now_ms * replica->rate_ppm / 1000000;
}

static bool fault(uint32_t in_100000)
{
    bool happens = faults && draw(100000) < in_100000;
    fault_count += happens;
    return happens;
}

static void start(struct replica *replica)
{
    *replica = (struct replica){
        .offset_ms = draw(1000000),
        .rate_ppm = (int64_t)draw(2001) - 1000,
    };
    snprintf(replica->identity, sizeof replica->identity, "replica_%u", ++started);
    const struct lease_settings settings = {
        replica->identity, "ns", "taffrail", 15000, 10000, 2000};
    replica->lease = lease_create(&settings);
    CU_ASSERT_PTR_NOT_NULL_FATAL(replica->lease);
}

static void send_request(struct replica *replica, const struct lease_step *step)
{
    replica->request = step->request;
    if (step->request.body.size > 0)
        memcpy(replica->body, step->request.body.data, step->request.body.size);
    replica->request.body = (struct text){replica->body, step->request.body.size};
    replica->asking = true;
    replica->arrived = replica->answered = false;
    bool cut = now_ms < replica->cut_until_ms;
    int64_t there_ms = faults && draw(10) == 0 ? draw(8000) : draw(50);
    int64_t back_ms = faults && draw(10) == 0 ? draw(8000) : draw(50);
    replica->arrives_ms = cut || fault(2000) ? -1 : now_ms + there_ms;
    replica->returns_ms =
        replica->arrives_ms < 0 || fault(2000) ? -1 : replica->arrives_ms + back_ms;
    replica->limit_ms = clock_of(replica) + step->request.limit_ms;
}

static void give(struct replica *replica, unsigned status, const char *body, const char *failure)
{
    struct call_answer answer;
    call_read(status, text_of(body), status == 429 ? 1 : 0, failure, &answer);
    replica->asking = false;
    lease_take(replica->lease, clock_of(replica), draw(UINT32_MAX), &answer);
}

/* The server works though the one who asked is frozen. */
static void carry(struct replica *replica)
{
    if (!replica->asking || replica->arrived || replica->arrives_ms < 0 ||
        now_ms < replica->arrives_ms)
        return;
    static const unsigned refusals[] = {429, 500, 503, 401};
    replica->arrived = true;
    replica->reply.status = 0;
    if (fault(3000))
        replica->reply = (struct lease_reply){.status = refusals[draw(COUNT_OF(refusals))]};
    else
        lease_server_answer(&server, &replica->request, &replica->reply);
}

static void act(struct replica *replica)
{
    if (replica->asking && clock_of(replica) >= replica->limit_ms)
        give(replica, 0, "", "timed out");
    else if (replica->asking && replica->arrived && replica->returns_ms >= 0 &&
             now_ms >= replica->returns_ms && now_ms >= replica->cut_until_ms)
        give(replica, replica->reply.status, replica->reply.body, NULL);
    if (replica->asking)
        return;
    struct lease_step step;
    lease_next(replica->lease, clock_of(replica), INT64_C(1800000000000000) + now_ms * 1000, &step);
    if (step.ask)
        send_request(replica, &step);
}

static void trouble(struct replica *replica)
{
    if (fault(20))
        replica->frozen_until_ms = now_ms + draw(40000);
    if (fault(20))
        replica->cut_until_ms = now_ms + draw(40000);
    if (fault(5) || (replica->dead && !replica->asking)) {
        /* Killed, or told to end: then the one before gives it back, if it still can. */
        if (!replica->dead && draw(2) == 0) {
            lease_release(replica->lease);
            replica->dead = true;
            return;
        }
        lease_destroy(replica->lease);
        start(replica);
    }
}

static const struct replica *leader(void)
{
    const struct replica *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < replica_count; i++)
        if (lease_leads(replicas[i].lease, clock_of(&replicas[i]))) {
            found = &replicas[i];
            count++;
        }
    if (count > 1)
        CU_FAIL_FATAL("two lead at one instant");
    return found;
}

static void tick(void)
{
    now_ms += TICK_MS;
    for (size_t i = 0; i < replica_count; i++) {
        struct replica *replica = &replicas[i];
        carry(replica);
        if (now_ms >= replica->frozen_until_ms) {
            act(replica);
            trouble(replica);
        }
        const struct replica *now = leader();
        if (now != NULL && now != last_leader) {
            last_leader = now;
            changes++;
        }
    }
}

static void run_round(void)
{
    int64_t end_ms = now_ms + ROUND_MS;
    faults = true;
    while (now_ms < end_ms - QUIET_MS)
        tick();
    faults = false;
    for (size_t i = 0; i < replica_count; i++)
        replicas[i].frozen_until_ms = replicas[i].cut_until_ms = now_ms;
    int64_t quiet_ms = now_ms;
    while (leader() == NULL && now_ms < end_ms)
        tick();
    if (now_ms - quiet_ms > BOUND_MS)
        printf("    nobody led for %lld ms\n", (long long)(now_ms - quiet_ms));
    CU_ASSERT(now_ms - quiet_ms <= BOUND_MS);
    /* Who leads then leads on. */
    while (now_ms < quiet_ms + BOUND_MS)
        tick();
    const struct replica *stays = leader();
    CU_ASSERT_PTR_NOT_NULL_FATAL(stays);
    while (now_ms < end_ms) {
        tick();
        CU_ASSERT_FATAL(leader() == stays);
    }
}

static void never_two_and_soon_one(void)
{
    const char *given = getenv("TAFFRAIL_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("    TAFFRAIL_SEED=%llu\n", (unsigned long long)seed);
    random_state = seed;
    for (replica_count = 1; replica_count <= REPLICAS_MAX; replica_count++) {
        server = (struct lease_server){0};
        now_ms = 0;
        for (size_t i = 0; i < replica_count; i++)
            start(&replicas[i]);
        for (int i = 0; i < ROUNDS; i++)
            run_round();
        ASSERT_INT(server.refusals, 0);
        for (size_t i = 0; i < replica_count; i++)
            lease_destroy(replicas[i].lease);
    }
    printf("    %zu faults, %u processes, %zu times another led\n", fault_count, started, changes);
    CU_ASSERT(fault_count > 1000 && changes > 100);
}

const struct unit_test unit_tests[] = {
    {"never two, and soon one", never_two_and_soon_one},
    {NULL, NULL},
};
