/* What several threads use at once is used by one after the other: whoever comes while another has
 * its lock waits, and lets it go again. ThreadSanitizer sees the same only where two threads meet.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "server/cluster_status.h"
#include "server/http.h"
#include "server/publish.h"
#include "server/reports.h"
#include "server/webhook_manager.h"
#include "world_of_text.h"

const char unit_suite[] = "server/locks";

enum { LET_GO_S = 20 };

/* ---- in place of the C library's: it tells who waits ---- */

static _Thread_local bool noted;    /* what this thread locks */
static pthread_mutex_t *first_lock; /* that was noted; NULL: none */
static sem_t waits_or_done;

static int lock_really(pthread_mutex_t *mutex)
{
    static int (*_Atomic real)(pthread_mutex_t *);
    int (*lock)(pthread_mutex_t *) = atomic_load(&real);
    if (lock == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "pthread_mutex_lock");
        memcpy(&lock, &symbol, sizeof lock);
        atomic_store(&real, lock);
    }
    return lock(mutex);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!noted)
        return lock_really(mutex);
    if (first_lock == NULL)
        first_lock = mutex;
    if (pthread_mutex_trylock(mutex) == 0)
        return 0;
    sem_post(&waits_or_done);
    return lock_really(mutex);
}

/* ---- a call, alone and beside another one ---- */

struct call {
    void (*make)(void);
    atomic_bool done;
};

static void *make_noted(void *argument)
{
    struct call *call = argument;
    noted = true;
    call->make();
    noted = false;
    atomic_store(&call->done, true);
    sem_post(&waits_or_done);
    return NULL;
}

static void assert_waits(const char *name, void (*make)(void))
{
    struct call alone = {.make = make}, beside = {.make = make};
    pthread_t thread;
    CU_ASSERT_FATAL(sem_init(&waits_or_done, 0, 0) == 0);
    first_lock = NULL;
    make_noted(&alone);
    while (sem_trywait(&waits_or_done) == 0) /* it may have waited for the table's own thread */
        continue;
    if (first_lock == NULL)
        fprintf(stderr, "%s takes no lock\n", name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first_lock);
    const struct timespec until = {.tv_sec = time(NULL) + LET_GO_S};
    bool is_free = pthread_mutex_timedlock(first_lock, &until) == 0;
    if (!is_free)
        fprintf(stderr, "%s keeps its lock\n", name);
    CU_ASSERT_FATAL(is_free);
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, make_noted, &beside) == 0);
    sem_wait(&waits_or_done);
    CU_ASSERT(!atomic_load(&beside.done));
    pthread_mutex_unlock(first_lock);
    CU_ASSERT(pthread_join(thread, NULL) == 0);
    CU_ASSERT(atomic_load(&beside.done));
    sem_destroy(&waits_or_done);
}

/* ---- the publisher ---- */

static struct publisher *publisher;
static struct loaded_policies *held[4];
static size_t held_count;

static struct world *rules[2];
static size_t rules_count;

static void set_policies(void)
{
    if (!publisher_set_policies(publisher, rules[--rules_count]))
        abort();
}

static void set_view(void)
{
    static const struct visibility none;
    if (!publisher_set_view(publisher, NULL, &none))
        abort();
}

static void hold(void)
{
    held[held_count++] = publisher_hold_policies(publisher);
}

static void release(void)
{
    publisher_release_policies(publisher, held[--held_count]);
}

static void listen_to_it(void)
{
    publisher_listen(publisher, NULL, NULL);
}

/* ---- what is told to people ---- */

static struct arena *arena;
static struct reports_status *of_reports;
static struct webhook_manager_status *of_manager;
static struct cluster_status *of_cluster;
static struct text_builder out;

static void set_reports(void)
{
    static const struct reports_report report;
    reports_status_set(of_reports, &report, NULL);
}

static void add_line_of_reports(void)
{
    reports_status_add_line(of_reports, &out);
}

static void add_metrics_of_reports(void)
{
    reports_status_add_metrics(of_reports, &out);
}

static void set_manager(void)
{
    static const struct webhook_manager_report report;
    webhook_manager_status_set(of_manager, &report);
}

static void add_line_of_manager(void)
{
    webhook_manager_status_add_line(of_manager, &out);
}

static void set_cluster(void)
{
    static const struct cluster_report report;
    cluster_status_set(of_cluster, &report);
}

static void ask_cluster(void)
{
    (void)cluster_status_is_visible(of_cluster);
}

/* ---- connections, and their arenas ---- */

static struct server server;
static struct connection *of_arena;

static void set_failure(void)
{
    server_set_reload_failure(&server, RELOAD_WORLD, "broken", 1);
}

static void trim(void)
{
    spare_arenas_trim(&server.spare_arenas);
}

static void take_arena(void)
{
    of_arena->arena = NULL;
    if (!open_arena(of_arena))
        abort();
    arena_destroy(of_arena->arena);
}

static void keep_arena(void)
{
    of_arena->arena = arena_create(1 << 20);
    return_shares(of_arena);
}

static struct connection *opened[4];
static size_t opened_count;

static void open_one(void)
{
    opened[opened_count] = connection_open(&server.connections, DOOR_OPS, -1);
    if (opened[opened_count++] == NULL)
        abort();
}

static void close_one(void)
{
    connection_close(&server.connections, opened[--opened_count]);
}

static void admit(void)
{
    if (!connections_admit(&server.connections, DOOR_WEBHOOK))
        abort();
}

static void end_slowest(void)
{
    connections_end_slowest_but(of_arena);
}

static void drain(void)
{
    (void)connections_drain(&server.connections, 0);
}

/* ---- tests ---- */

struct named_call {
    const char *name;
    void (*make)(void);
};

static void assert_each_waits(const struct named_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_waits(calls[i].name, calls[i].make);
}

static void one_publishes_after_the_other(void)
{
    static const struct named_call calls[] = {
        {"set policies", set_policies}, {"set a view", set_view}, {"hold", hold},
        {"release", release},           {"listen", listen_to_it},
    };
    publisher = publisher_create(1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(publisher);
    for (rules_count = 0; rules_count < COUNT_OF(rules); rules_count++)
        rules[rules_count] = world_of_text(
            "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: p}, "
            "spec: {rails: {topology-keys: {}}}}\n",
            (struct world_options){0}, rules_count + 1, 0);
    assert_each_waits(calls, COUNT_OF(calls));
    ASSERT_INT(held_count, 0);
    publisher_destroy(publisher);
}

static void what_is_told_is_of_one_moment(void)
{
    static const struct named_call calls[] = {
        {"set the reports'", set_reports},
        {"the reports' line", add_line_of_reports},
        {"the reports' metrics", add_metrics_of_reports},
        {"set the manager's", set_manager},
        {"the manager's line", add_line_of_manager},
        {"set the cluster's", set_cluster},
        {"the cluster", ask_cluster},
        {"a reload's failure", set_failure},
    };
    static const struct webhook_manager_settings settings;
    arena = arena_create(4 << 20);
    out = (struct text_builder){.arena = arena};
    of_reports = reports_status_create();
    of_manager = webhook_manager_status_create(&settings);
    of_cluster = cluster_status_create();
    memset(&server, 0, sizeof server);
    server.metrics = metrics_create();
    CU_ASSERT_FATAL(of_reports != NULL && of_manager != NULL && of_cluster != NULL &&
                    server.metrics != NULL);
    pthread_mutex_init(&server.failures_mutex, NULL);
    assert_each_waits(calls, COUNT_OF(calls));
    pthread_mutex_destroy(&server.failures_mutex);
    metrics_destroy(server.metrics);
    cluster_status_destroy(of_cluster);
    webhook_manager_status_destroy(of_manager);
    reports_status_destroy(of_reports);
    arena_destroy(arena);
}

static void a_place_and_an_arena_are_taken_by_one(void)
{
    static const struct named_call calls[] = {
        {"keep an arena", keep_arena},
        {"take an arena", take_arena},
        {"trim", trim},
        {"open a connection", open_one},
        {"close a connection", close_one},
        {"admit", admit},
        {"end the slowest", end_slowest},
        {"drain", drain},
    };
    const struct lane_limits of_lane = {1, 1, 1, 1};
    struct error error;
    memset(&server, 0, sizeof server);
    server.metrics = metrics_create();
    load_limits_start(&server.load_limits,
                      (const struct lane_limits[LANE_COUNT]){of_lane, of_lane});
    CU_ASSERT_FATAL(
        spare_arenas_start(&server.spare_arenas, 8) &&
        connections_start(&server.connections, &server, 4, 1000000, server.metrics, &error));
    of_arena = &server.connections.items[0];
    assert_each_waits(calls, COUNT_OF(calls));
    ASSERT_INT(opened_count, 0);
    connections_stop(&server.connections);
    spare_arenas_stop(&server.spare_arenas);
    metrics_destroy(server.metrics);
}

const struct unit_test unit_tests[] = {
    {"one publishes after the other", one_publishes_after_the_other},
    {"what is told is of one moment", what_is_told_is_of_one_moment},
    {"a place and an arena are taken by one", a_place_and_an_arena_are_taken_by_one},
    {NULL, NULL},
};
