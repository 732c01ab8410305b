/* Runs an informer over HTTP, on a thread of its own. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "server/http.h"
#include "server/informer.h"
#include "server/memory.h"

enum { PAUSE_MS = 1000 }; /* when even waiting fails */

/* Two thirds of the memory are for reviews. One of 5 parts of it is for stored objects, and one of
 * 32 for bytes of lists and watches that are not read yet. */
enum { VIEW_PART = 5, LISTS_PART = 32 };

struct informer_thread {
    struct publisher *publisher;
    struct informer *informer;
    struct client *client;
    struct watch_budget lists;
    atomic_bool stopping;
    bool running;
    pthread_t thread;
};

static void wake(void *context)
{
    struct informer_thread *cluster = context;
    client_wake(cluster->client);
}

static struct watch_settings settings_of(struct informer_thread *cluster)
{
    struct watch_settings settings = {.budget = &cluster->lists};
    if (getrandom(&settings.seed, sizeof settings.seed, 0) < 0)
        settings.seed = (uint64_t)monotonic_us();
    return settings;
}

static void list_again(void *context, enum kind kind)
{
    struct informer_thread *cluster = context;
    client_list_again(cluster->client, kind);
}

static bool watch_owners(void *context, enum kind kind, const struct custom_kind *custom)
{
    struct informer_thread *cluster = context;
    struct watch_settings settings = settings_of(cluster);
    const struct event_handler handler = informer_handler(cluster->informer);
    struct error error;
    client_unwatch(cluster->client, kind);
    settings.custom = custom;
    return custom == NULL || client_watch(cluster->client, kind, &settings, &handler, &error);
}

static void *run(void *argument)
{
    struct informer_thread *cluster = argument;
    struct watch_report reports[KIND_COUNT] = {0};
    while (!atomic_load(&cluster->stopping)) {
        informer_follow(cluster->informer);
        for (enum kind kind = 0; kind < KIND_COUNT; kind++)
            if (!client_report(cluster->client, kind, &reports[kind]))
                reports[kind] = (struct watch_report){.age_ms = -1};
        int64_t wait_ms = informer_step(cluster->informer, reports);
        struct error error;
        if (!client_run(cluster->client, wait_ms, &error)) {
            log_line(LOG_ERROR, "cluster", NULL, error.what, "the API server cannot be waited for");
            poll(NULL, 0, PAUSE_MS);
        }
    }
    return NULL;
}

static bool watch_all(struct informer_thread *cluster, struct error *error)
{
    struct event_handler handler = informer_handler(cluster->informer);
    struct watch_settings settings = settings_of(cluster);
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        settings.watch_quiet_ms = informer_quiet_ms(kind);
        if ((informer_kinds() & KIND_BIT(kind)) != 0 &&
            !client_watch(cluster->client, kind, &settings, &handler, error))
            return false;
    }
    return true;
}

bool informer_thread_create(const struct client_config *config, struct publisher *publisher,
                            struct cluster_status *status, struct informer_thread **cluster,
                            struct error *error)
{
    struct informer_thread *made = calloc(1, sizeof *made);
    if (made == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory to watch the cluster");
    size_t limit_bytes = memory_limit_bytes();
    made->publisher = publisher;
    made->lists.limit_bytes = limit_bytes / LISTS_PART;
    const struct informer_options options = {.publisher = publisher,
                                             .status = status,
                                             .now_ms = monotonic_ms,
                                             .wake = wake,
                                             .watch_owners = watch_owners,
                                             .list_again = list_again,
                                             .context = made,
                                             .view_bytes_max = limit_bytes / VIEW_PART};
    if (!client_open(config, monotonic_ms, &made->client, error)) {
        informer_thread_destroy(made);
        return false;
    }
    made->informer = informer_create(&options);
    bool done = made->informer != NULL && watch_all(made, error);
    if (!done || !informer_begin(made->informer)) {
        informer_thread_destroy(made);
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory to watch the cluster");
    }
    *cluster = made;
    return true;
}

bool informer_thread_start(struct informer_thread *cluster, struct error *error)
{
    int code = pthread_create(&cluster->thread, NULL, run, cluster);
    if (code != 0)
        return error_set(error, ERROR_MEMORY, NOWHERE,
                         "the thread that watches the cluster cannot be started: %s",
                         strerror(code));
    cluster->running = true;
    publisher_listen(cluster->publisher, wake, cluster);
    return true;
}

void informer_thread_stop(struct informer_thread *cluster)
{
    if (cluster == NULL || !cluster->running)
        return;
    publisher_listen(cluster->publisher, NULL, NULL);
    atomic_store(&cluster->stopping, true);
    client_wake(cluster->client);
    pthread_join(cluster->thread, NULL);
    cluster->running = false;
}

void informer_thread_destroy(struct informer_thread *cluster)
{
    if (cluster == NULL)
        return;
    informer_thread_stop(cluster);
    client_close(cluster->client);
    informer_destroy(cluster->informer);
    free(cluster);
}
