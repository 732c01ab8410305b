/* labels: threads */
/* The thread that watches a cluster: what it asks the client for, and when it publishes what that
 * tells it. The client and the clock are a test's. */
#include "kube/snapshot.h"
#include "log_fixture.h"
#include "scripted_client.h"
#include "server/cluster_status.h"
#include "server/informer.h"
#include "server/memory.h"
#include "world_of_text.h"

const char unit_suite[] = "server/informer thread";

enum { NOW_S = 1795230245, SLOT = 0, SLOTS = 1, NODES = 3 };
static const size_t PLENTY = (size_t)1 << 30;

/* ---- in place of server/memory.c ---- */

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

/* ---- a thread ---- */

static struct publisher *publisher;
static struct cluster_status *status;
static struct informer_thread *cluster;
static struct error error;
static atomic_size_t nodes_there, pods_there; /* in the cluster */
static atomic_bool pods_go;                   /* each of them is removed */

static void set_rules(uint64_t generation, const char *spec)
{
    char policy[512];
    snprintf(policy, sizeof policy,
             "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: p}, spec: "
             "{mode: enforce, %s rails: {zone-pin: {}}}}\n",
             spec);
    struct world *rules = world_of_text(policy, (struct world_options){0}, generation, NOW_S);
    if (!publisher_set_policies(publisher, rules)) /* the thread goes on at once */
        abort();
}

static void tell(bool (*told)(void *context, const struct object *object), void *context,
                 enum kind kind, size_t number)
{
    char name[32];
    snprintf(name, sizeof name, "object-%zu", number);
    const struct object object = {.kind = kind,
                                  .api_version = TEXT("v1"),
                                  .kind_name = text_of(kind_table[kind].name),
                                  .namespace = TEXT("shop"),
                                  .name = text_of(name)};
    CU_ASSERT(told(context, &object));
}

static void list(enum kind kind, struct script_watch *watch)
{
    const struct event_handler *handler = &watch->handler;
    size_t count = kind == KIND_NODE  ? atomic_load(&nodes_there)
                   : kind == KIND_POD ? atomic_load(&pods_there)
                                      : 0;
    CU_ASSERT(handler->list_begin(handler->context, kind));
    for (size_t i = 0; i < count; i++)
        tell(handler->put, handler->context, kind, i);
    CU_ASSERT(handler->list_end(handler->context, kind));
    watch->report = (struct watch_report){.synced = true, .watching = true, .lists = 1};
}

static bool turn(void)
{
    bool happened = false;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (script.of[kind].watched && !script.of[kind].report.synced) {
            list(kind, &script.of[kind]);
            happened = true;
        }
    const struct event_handler *handler = &script.of[KIND_POD].handler;
    if (atomic_exchange(&pods_go, false))
        for (size_t i = 0; i < atomic_load(&pods_there); i++, happened = true)
            tell(handler->remove, handler->context, KIND_POD, i);
    return happened;
}

static void open_publisher(void)
{
    script_begin();
    script.held = true;
    memory_bytes = PLENTY;
    atomic_store(&nodes_there, NODES);
    atomic_store(&pods_there, 0);
    atomic_store(&pods_go, false);
    publisher = publisher_create(SLOTS);
    status = cluster_status_create();
    cluster = NULL;
    CU_ASSERT_FATAL(publisher != NULL && status != NULL);
}

static void create(void)
{
    open_publisher();
    CU_ASSERT_FATAL(informer_thread_create(NULL, publisher, status, &cluster, &error));
    set_rules(1, "");
}

static void start(void)
{
    script.turn = turn;
    bool started = informer_thread_start(cluster, &error);
    script_await_rest();
    CU_ASSERT_FATAL(started);
}

static void end(void)
{
    script_let_go();
    informer_thread_stop(cluster);
    publisher_destroy(publisher);
    informer_thread_destroy(cluster);
    CU_ASSERT(!script.client.open);
    cluster_status_destroy(status);
    script_end();
}

static size_t seen(enum kind kind)
{
    const struct world *world = cell_pin(publisher_cell(publisher), SLOT);
    size_t count = snapshot_count(world->snapshot, kind);
    cell_unpin(publisher_cell(publisher), SLOT);
    return count;
}

/* It comes, and nobody waits for the next tick. */
static void see_one_more_node(void)
{
    script.of[KIND_NODE].report.synced = false;
    atomic_store(&nodes_there, NODES + 1);
    script_stir();
    script_pass(1);
    ASSERT_INT(seen(KIND_NODE), NODES + 1);
}

static uint64_t generation(void)
{
    const struct world *world = cell_pin(publisher_cell(publisher), SLOT);
    uint64_t number = world->generation;
    cell_unpin(publisher_cell(publisher), SLOT);
    return number;
}

/* ---- what it watches ---- */

static void what_rails_look_up_is_watched(void)
{
    create();
    struct watch_budget *budget = script.of[KIND_NODE].settings.budget;
    CU_ASSERT_PTR_NOT_NULL_FATAL(budget);
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        const struct script_watch *watch = &script.of[kind];
        ASSERT_INT(watch->watched, (informer_kinds() & KIND_BIT(kind)) != 0);
        if (!watch->watched)
            continue;
        /* What is not read yet is limited for all of them together. */
        CU_ASSERT_PTR_EQUAL(watch->settings.budget, budget);
        CU_ASSERT(!watch->settings.whole);
        CU_ASSERT_PTR_NULL(watch->settings.custom);
    }
    ASSERT_INT(budget->limit_bytes, PLENTY / 32);
    /* So that replicas do not all ask at once; by chance they are the same once in 2^64. */
    uint64_t seed = script.of[KIND_NODE].settings.seed;
    end();
    create();
    CU_ASSERT_NOT_EQUAL(script.of[KIND_NODE].settings.seed, seed);
    end();
}

static void what_cannot_be_watched_is_said(void)
{
    open_publisher();
    script.opens_fail = 1;
    CU_ASSERT_FALSE(informer_thread_create(NULL, publisher, status, &cluster, &error));
    ASSERT_TEXT(text_of(error.what), "the script opens no client");
    CU_ASSERT_PTR_NULL(cluster);
    script.watches_fail = 1;
    CU_ASSERT_FALSE(informer_thread_create(NULL, publisher, status, &cluster, &error));
    ASSERT_INT(error.kind, ERROR_MEMORY);
    ASSERT_TEXT(text_of(error.what), "no memory to watch the cluster");
    CU_ASSERT_PTR_NULL(cluster);
    CU_ASSERT(!script.client.open);
    end();
}

/* ---- what it publishes ---- */

static void what_is_listed_is_published(void)
{
    create();
    start();
    script_pass(1);
    ASSERT_INT(seen(KIND_NODE), NODES);
    CU_ASSERT(cluster_status_is_visible(status));
    /* An event ends its rest: nobody waits for the next tick. */
    CU_ASSERT(script.rests_until_ms > monotonic_ms() + 1);
    see_one_more_node();
    end();
}

/* Of what is not watched the report says that it was never seen. */
static void what_is_not_listed_is_waited_for(void)
{
    create();
    bool started = informer_thread_start(cluster, &error);
    script_await_rest();
    CU_ASSERT_FATAL(started);
    script_pass(2000);
    CU_ASSERT(!cluster_status_is_visible(status));
    ASSERT_INT(seen(KIND_NODE), 0);
    end();
}

/* Its thread hears of new rules, and follows them without waiting for anything else. */
static void new_rules_wake_it(void)
{
    create();
    start();
    script_pass(1);
    CU_ASSERT(!script.of[KIND_OWNER_FIRST].watched);
    set_rules(2, "trustedControllers: [{account: a/b, owner: Rollout.argoproj.io, makes: "
                 "ReplicaSet}],");
    script_await_rest();
    ASSERT_INT(generation(), 2);
    CU_ASSERT(script.of[KIND_OWNER_FIRST].watched);
    ASSERT_TEXT(text_of(script.of[KIND_OWNER_FIRST].custom), "Rollout.argoproj.io rollouts");
    CU_ASSERT_PTR_EQUAL(script.of[KIND_OWNER_FIRST].settings.budget,
                        script.of[KIND_NODE].settings.budget);
    CU_ASSERT(script.of[KIND_OWNER_FIRST].report.synced);
    /* Others are watched in their place. */
    set_rules(3, "trustedControllers: [{account: a/b, owner: Canary.example.com, makes: "
                 "ReplicaSet}],");
    script_await_rest();
    ASSERT_TEXT(text_of(script.of[KIND_OWNER_FIRST].custom), "Canary.example.com canarys");
    ASSERT_INT(script.of[KIND_OWNER_FIRST].count, 2);
    set_rules(4, "");
    script_await_rest();
    CU_ASSERT(!script.of[KIND_OWNER_FIRST].watched);
    end();
}

static void owners_that_cannot_be_watched_are_tried_again(void)
{
    create();
    start();
    script_pass(1);
    script.watches_fail = 1;
    set_rules(2, "trustedControllers: [{account: a/b, owner: Rollout.argoproj.io, makes: "
                 "ReplicaSet}],");
    script_await_rest();
    CU_ASSERT(!script.of[KIND_OWNER_FIRST].watched);
    script_pass(1000);
    CU_ASSERT(script.of[KIND_OWNER_FIRST].watched);
    end();
}

/* A part of the memory is for what is stored. What found no room is listed again when there is
 * some. */
static void what_found_no_room_is_listed_again(void)
{
    enum { FLOOD = 3000 };
    open_publisher();
    memory_bytes = 1000000;
    atomic_store(&pods_there, FLOOD);
    CU_ASSERT_FATAL(informer_thread_create(NULL, publisher, status, &cluster, &error));
    set_rules(1, "");
    struct listening listening = listen_to_log();
    start();
    script_pass(100);
    CU_ASSERT(seen(KIND_POD) > 100 && seen(KIND_POD) < FLOOD / 2);
    ASSERT_INT(seen(KIND_NODE), NODES);
    script_pass(120000);
    ASSERT_TEXT(text_of(script.listed_again), "");
    atomic_store(&pods_go, true);
    script_stir();
    script_pass(62000);
    ASSERT_HEARD(heard(&listening), "\"level\":\"error\"", 0);
    ASSERT_TEXT(text_of(script.listed_again), "pods");
    end();
}

/* ---- the thread ---- */

static void a_client_that_does_not_run_is_said(void)
{
    create();
    start();
    script_pass(1);
    struct listening listening = listen_to_log();
    script.runs_fail = 1;
    int64_t begin_ms = real_ms();
    script_pass(1000);
    CU_ASSERT(real_ms() - begin_ms >= 900); /* it does not spin */
    struct text log = heard(&listening);
    ASSERT_HEARD(log, "the API server cannot be waited for", 1);
    ASSERT_HEARD(log, "\"error\":\"the script does not run\"", 1);
    /* It goes on. */
    see_one_more_node();
    end();
}

static void after_its_end_nobody_wakes_it(void)
{
    create();
    /* Nor before its begin. */
    unsigned wakes = atomic_load(&script.wake_count);
    set_rules(2, "");
    ASSERT_INT(atomic_load(&script.wake_count), wakes);
    start();
    script_pass(1);
    wakes = atomic_load(&script.wake_count);
    set_rules(3, "");
    script_await_rest();
    ASSERT_INT(atomic_load(&script.wake_count), wakes + 1);
    script_let_go();
    informer_thread_stop(cluster);
    ASSERT_INT(generation(), 3);
    wakes = atomic_load(&script.wake_count);
    set_rules(4, "");
    informer_thread_stop(cluster);
    ASSERT_INT(atomic_load(&script.wake_count), wakes);
    ASSERT_INT(generation(), 4);
    end();
    /* One that never ran. */
    create();
    informer_thread_stop(cluster);
    end();
    informer_thread_stop(NULL);
    informer_thread_destroy(NULL);
}

static void a_thread_that_cannot_be_started_is_said(void)
{
    create();
    ASSERT_NO_THREAD(informer_thread_start(cluster, &error), error,
                     "the thread that watches the cluster cannot be started: ");
    end();
}

const struct unit_test unit_tests[] = {
    {"a thread that cannot be started is said", a_thread_that_cannot_be_started_is_said},
    {"what rails look up is watched", what_rails_look_up_is_watched},
    {"what cannot be watched is said", what_cannot_be_watched_is_said},
    {"what is listed is published", what_is_listed_is_published},
    {"what is not listed is waited for", what_is_not_listed_is_waited_for},
    {"new rules wake it", new_rules_wake_it},
    {"owners that cannot be watched are tried again",
     owners_that_cannot_be_watched_are_tried_again},
    {"what found no room is listed again", what_found_no_room_is_listed_again},
    {"a client that does not run is said", a_client_that_does_not_run_is_said},
    {"after its end nobody wakes it", after_its_end_nobody_wakes_it},
    {NULL, NULL},
};
