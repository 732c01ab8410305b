/* Runs the election and the webhook manager over HTTP, on a thread of their own: a Lease must be
 * renewed also while the cluster is listed. Without a Secret there is only the election. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/http.h"
#include "server/webhook_manager.h"

enum {
    PAUSE_MS = 1000, /* at most, between two steps */
    LEAVE_MS = 1000, /* for open requests, and again to give the Lease back */
    IDENTITY_BYTES = 128,
};

struct webhook_thread {
    const struct webhook_manager_settings *settings;
    struct webhook_manager_status *status;
    struct client *client;
    struct lease *lease;
    struct webhook_manager *manager; /* NULL: the certificate does not come from a Secret */
    pthread_mutex_t server_mutex;
    struct server *server; /* NULL: the server is draining */
    struct metrics *metrics;
    char identity[IDENTITY_BYTES];
    bool lease_asks, webhook_manager_ask; /* their request is open */
    bool led;
    atomic_bool leads, stopping;
    bool running;
    pthread_t thread;
};

static uint64_t random_number(void)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = (uint64_t)monotonic_us();
    return number;
}

/* ---- the certificate ---- */

static bool serve_by(struct server *server, struct metrics *metrics, const struct cert_pair *leaf,
                     bool again, struct error *error)
{
    bool served = server_set_certificate(server, leaf, error);
    if (!served && !again)
        metrics_count_reload_failure(metrics, RELOAD_CERTIFICATE);
    server_set_reload_failure(server, RELOAD_CERTIFICATE, served ? NULL : error->what, time(NULL));
    return served;
}

static bool serve(void *context, const struct cert_pair *leaf, bool again, struct error *error)
{
    struct webhook_thread *webhook_thread = context;
    pthread_mutex_lock(&webhook_thread->server_mutex);
    bool served = webhook_thread->server == NULL ||
                  serve_by(webhook_thread->server, webhook_thread->metrics, leaf, again, error);
    pthread_mutex_unlock(&webhook_thread->server_mutex);
    return served;
}

/* ---- requests ---- */

static void take_lease(void *context, const struct call_answer *answer)
{
    struct webhook_thread *webhook_thread = context;
    webhook_thread->lease_asks = false;
    lease_take(webhook_thread->lease, monotonic_ms(), random_number(), answer);
    client_wake(webhook_thread->client);
}

static void take_answer(void *context, const struct call_answer *answer)
{
    struct webhook_thread *webhook_thread = context;
    webhook_thread->webhook_manager_ask = false;
    webhook_manager_take(webhook_thread->manager, monotonic_ms(), answer);
    client_wake(webhook_thread->client);
}

static void send_call(struct webhook_thread *webhook_thread, const struct call_request *request,
                      bool *asks, void (*take)(void *context, const struct call_answer *answer))
{
    struct error error;
    *asks = true;
    if (client_call(webhook_thread->client, request, take, webhook_thread, &error))
        return;
    struct call_answer answer;
    call_read(0, TEXT(""), 0, error.what, &answer);
    take(webhook_thread, &answer);
}

static int64_t step_lease(struct webhook_thread *webhook_thread)
{
    struct lease_step step;
    lease_next(webhook_thread->lease, monotonic_ms(), unix_us(), &step);
    if (step.ask)
        send_call(webhook_thread, &step.request, &webhook_thread->lease_asks, take_lease);
    return step.until_ms;
}

static int64_t step_manager(struct webhook_thread *webhook_thread)
{
    struct webhook_manager_step step;
    int64_t now_ms = monotonic_ms();
    if (webhook_thread->manager == NULL)
        return INT64_MAX;
    webhook_manager_next(webhook_thread->manager, now_ms, time(NULL),
                         lease_leads(webhook_thread->lease, now_ms), &step);
    if (step.ask)
        send_call(webhook_thread, &step.request, &webhook_thread->webhook_manager_ask, take_answer);
    return step.until_ms;
}

/* ---- the log ---- */

static void say_leader(struct webhook_thread *webhook_thread,
                       const struct webhook_manager_report *report)
{
    if (report->leads && !webhook_thread->led)
        log_line(LOG_INFO, "webhook-manager", webhook_thread->settings->lease, NULL,
                 webhook_thread->manager == NULL
                     ? "this replica leads, as %s"
                     : "this replica leads, as %s: it keeps the certificate and the CA bundles",
                 webhook_thread->identity);
    else if (!report->leads && webhook_thread->led)
        log_line(LOG_INFO, "webhook-manager", webhook_thread->settings->lease, NULL,
                 "this replica leads no more");
    webhook_thread->led = report->leads;
}

static void tell(struct webhook_thread *webhook_thread)
{
    struct webhook_manager_report report = {0};
    struct lease_report lease;
    if (webhook_thread->manager != NULL)
        webhook_manager_report(webhook_thread->manager, &report);
    lease_report(webhook_thread->lease, &lease);
    report.leads = lease_leads(webhook_thread->lease, monotonic_ms());
    memcpy(report.holder, lease.holder, sizeof report.holder);
    memcpy(report.problem[DUTY_LEASE], lease.problem, sizeof lease.problem);
    report.failures[DUTY_LEASE] = lease.failures;
    atomic_store(&webhook_thread->leads, report.leads && !atomic_load(&webhook_thread->stopping));
    say_leader(webhook_thread, &report);
    webhook_manager_status_set(webhook_thread->status, &report);
}

static void wait_until(struct webhook_thread *webhook_thread, int64_t until_ms)
{
    struct error error;
    int64_t wait_ms = until_ms - monotonic_ms();
    wait_ms = wait_ms > PAUSE_MS ? PAUSE_MS : wait_ms < 0 ? 0 : wait_ms;
    if (!client_run(webhook_thread->client, wait_ms, &error)) {
        log_line(LOG_ERROR, "webhook-manager", NULL, error.what,
                 "the API server cannot be waited for");
        poll(NULL, 0, PAUSE_MS);
    }
}

/* Waits for an open write before another replica may write. */
static void leave(struct webhook_thread *webhook_thread)
{
    int64_t end_ms = monotonic_ms() + LEAVE_MS;
    while (webhook_thread->webhook_manager_ask && monotonic_ms() < end_ms)
        wait_until(webhook_thread, end_ms);
    lease_release(webhook_thread->lease);
    end_ms = monotonic_ms() + LEAVE_MS;
    (void)step_lease(webhook_thread);
    while (webhook_thread->lease_asks && monotonic_ms() < end_ms) {
        wait_until(webhook_thread, end_ms);
        (void)step_lease(webhook_thread);
    }
}

static void *run(void *argument)
{
    struct webhook_thread *webhook_thread = argument;
    while (!atomic_load(&webhook_thread->stopping)) {
        int64_t lease_ms = step_lease(webhook_thread);
        int64_t until_ms = step_manager(webhook_thread);
        tell(webhook_thread);
        wait_until(webhook_thread, lease_ms < until_ms ? lease_ms : until_ms);
    }
    leave(webhook_thread);
    tell(webhook_thread);
    return NULL;
}

/* ---- start and end ---- */

static void write_identity(char identity[static IDENTITY_BYTES])
{
    char host[65] = "";
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        snprintf(host, sizeof host, "taffrail");
    snprintf(identity, IDENTITY_BYTES, "%s_%016llx%016llx", host,
             (unsigned long long)random_number(), (unsigned long long)random_number());
}

bool webhook_thread_create(const struct client_config *config,
                           const struct webhook_manager_settings *settings,
                           struct webhook_manager_status *status, struct webhook_thread **result,
                           struct error *error)
{
    struct webhook_thread *webhook_thread = calloc(1, sizeof *webhook_thread);
    if (webhook_thread == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory for the certificate's duties");
    pthread_mutex_init(&webhook_thread->server_mutex, NULL);
    webhook_thread->settings = settings;
    webhook_thread->status = status;
    write_identity(webhook_thread->identity);
    const struct lease_settings lease = {
        .identity = webhook_thread->identity,
        .namespace = settings->lease_namespace,
        .name = settings->lease,
        .duration_ms = settings->lease_duration_ms,
        .renew_deadline_ms = settings->renew_deadline_ms,
        .retry_ms = settings->retry_ms,
    };
    const struct webhook_manager_options options = {settings, serve, webhook_thread};
    if (!lease_settings_check(&lease, error) ||
        !client_open(config, monotonic_ms, &webhook_thread->client, error)) {
        webhook_thread_destroy(webhook_thread);
        return false;
    }
    webhook_thread->lease = lease_create(&lease);
    if (settings->secret != NULL)
        webhook_thread->manager = webhook_manager_create(&options);
    if (webhook_thread->lease == NULL ||
        (settings->secret != NULL && webhook_thread->manager == NULL)) {
        webhook_thread_destroy(webhook_thread);
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory for the certificate's duties");
    }
    *result = webhook_thread;
    return true;
}

bool webhook_thread_start(struct webhook_thread *webhook_thread, struct server *server,
                          struct metrics *metrics, struct error *error)
{
    webhook_thread->server = server;
    webhook_thread->metrics = metrics;
    int code = pthread_create(&webhook_thread->thread, NULL, run, webhook_thread);
    if (code != 0)
        return error_set(error, ERROR_MEMORY, NOWHERE,
                         "the thread that keeps the certificate cannot be started: %s",
                         strerror(code));
    webhook_thread->running = true;
    return true;
}

void webhook_thread_leave(struct webhook_thread *webhook_thread)
{
    if (webhook_thread == NULL || !webhook_thread->running)
        return;
    pthread_mutex_lock(&webhook_thread->server_mutex);
    webhook_thread->server = NULL;
    pthread_mutex_unlock(&webhook_thread->server_mutex);
    atomic_store(&webhook_thread->stopping, true);
    client_wake(webhook_thread->client);
}

void webhook_thread_stop(struct webhook_thread *webhook_thread)
{
    if (webhook_thread == NULL || !webhook_thread->running)
        return;
    webhook_thread_leave(webhook_thread);
    pthread_join(webhook_thread->thread, NULL);
    webhook_thread->running = false;
}

void webhook_thread_destroy(struct webhook_thread *webhook_thread)
{
    if (webhook_thread == NULL)
        return;
    webhook_thread_stop(webhook_thread);
    client_close(webhook_thread->client);
    lease_destroy(webhook_thread->lease);
    webhook_manager_destroy(webhook_thread->manager);
    pthread_mutex_destroy(&webhook_thread->server_mutex);
    free(webhook_thread);
}

bool webhook_thread_leads(const struct webhook_thread *webhook_thread)
{
    return atomic_load(&webhook_thread->leads);
}
