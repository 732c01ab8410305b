/* Runs the election and the duties over HTTP, on a thread of their own: a Lease must be renewed
 * though the cluster is being looked at. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "server/duties.h"
#include "server/http.h"

enum {
    PAUSE_MS = 1000, /* at most, between two looks at what is to be done */
    LEAVE_MS = 1000, /* for what is on its way, and again to give the Lease back */
    IDENTITY_BYTES = 128,
};

struct steward {
    const struct duties_settings *settings;
    struct duties_board *board;
    struct client *client;
    struct lease *lease;
    struct duties *duties;
    pthread_mutex_t server_mutex;
    struct server *server; /* NULL: it is being drained */
    struct metrics *metrics;
    char identity[IDENTITY_BYTES];
    bool lease_asks, duties_ask; /* their request is on its way */
    bool led;
    atomic_bool stopping;
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

static int64_t unix_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
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
    struct steward *steward = context;
    pthread_mutex_lock(&steward->server_mutex);
    bool served =
        steward->server == NULL || serve_by(steward->server, steward->metrics, leaf, again, error);
    pthread_mutex_unlock(&steward->server_mutex);
    return served;
}

/* ---- requests ---- */

static void take_lease(void *context, const struct call_answer *answer)
{
    struct steward *steward = context;
    steward->lease_asks = false;
    lease_take(steward->lease, monotonic_ms(), random_number(), answer);
    client_wake(steward->client);
}

static void take_duties(void *context, const struct call_answer *answer)
{
    struct steward *steward = context;
    steward->duties_ask = false;
    duties_take(steward->duties, monotonic_ms(), answer);
    client_wake(steward->client);
}

static void send_call(struct steward *steward, const struct call_request *request, bool *asks,
                      void (*take)(void *context, const struct call_answer *answer))
{
    struct error error;
    *asks = true;
    if (client_call(steward->client, request, take, steward, &error))
        return;
    struct call_answer answer;
    call_read(0, TEXT(""), 0, error.what, &answer);
    take(steward, &answer);
}

static int64_t step_lease(struct steward *steward)
{
    struct lease_step step;
    lease_next(steward->lease, monotonic_ms(), unix_us(), &step);
    if (step.ask)
        send_call(steward, &step.request, &steward->lease_asks, take_lease);
    return step.until_ms;
}

static int64_t step_duties(struct steward *steward)
{
    struct duties_step step;
    int64_t now_ms = monotonic_ms();
    duties_next(steward->duties, now_ms, time(NULL), lease_leads(steward->lease, now_ms), &step);
    if (step.ask)
        send_call(steward, &step.request, &steward->duties_ask, take_duties);
    return step.until_ms;
}

/* ---- what is told ---- */

static void say_leader(struct steward *steward, const struct duties_status *status)
{
    if (status->leads && !steward->led)
        log_line(LOG_INFO, "duties", steward->settings->lease, NULL,
                 "this replica leads, as %s: it keeps the certificate and the CA bundles",
                 steward->identity);
    else if (!status->leads && steward->led)
        log_line(LOG_INFO, "duties", steward->settings->lease, NULL, "this replica leads no more");
    steward->led = status->leads;
}

static void tell(struct steward *steward)
{
    struct duties_status status;
    struct lease_report report;
    duties_report(steward->duties, &status);
    lease_report(steward->lease, &report);
    status.leads = lease_leads(steward->lease, monotonic_ms());
    memcpy(status.holder, report.holder, sizeof status.holder);
    memcpy(status.problem[DUTY_LEASE], report.problem, sizeof report.problem);
    status.failures[DUTY_LEASE] = report.failures;
    say_leader(steward, &status);
    duties_board_set(steward->board, &status);
}

static void wait_until(struct steward *steward, int64_t until_ms)
{
    struct error error;
    int64_t wait_ms = until_ms - monotonic_ms();
    wait_ms = wait_ms > PAUSE_MS ? PAUSE_MS : wait_ms < 0 ? 0 : wait_ms;
    if (!client_run(steward->client, wait_ms, &error)) {
        log_line(LOG_ERROR, "duties", NULL, error.what, "the API server cannot be waited for");
        poll(NULL, 0, PAUSE_MS);
    }
}

/* What is being written is waited for before another may write. */
static void leave(struct steward *steward)
{
    int64_t end_ms = monotonic_ms() + LEAVE_MS;
    while (steward->duties_ask && monotonic_ms() < end_ms)
        wait_until(steward, end_ms);
    lease_release(steward->lease);
    end_ms = monotonic_ms() + LEAVE_MS;
    (void)step_lease(steward);
    while (steward->lease_asks && monotonic_ms() < end_ms) {
        wait_until(steward, end_ms);
        (void)step_lease(steward);
    }
}

static void *run(void *argument)
{
    struct steward *steward = argument;
    while (!atomic_load(&steward->stopping)) {
        int64_t lease_ms = step_lease(steward);
        int64_t duties_ms = step_duties(steward);
        tell(steward);
        wait_until(steward, lease_ms < duties_ms ? lease_ms : duties_ms);
    }
    leave(steward);
    tell(steward);
    return NULL;
}

/* ---- beginning and end ---- */

static void write_identity(char identity[static IDENTITY_BYTES])
{
    char host[65] = "";
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        snprintf(host, sizeof host, "taffrail");
    snprintf(identity, IDENTITY_BYTES, "%s_%016llx%016llx", host,
             (unsigned long long)random_number(), (unsigned long long)random_number());
}

bool steward_create(const struct client_config *config, const struct duties_settings *settings,
                    struct duties_board *board, struct steward **result, struct error *error)
{
    struct steward *steward = calloc(1, sizeof *steward);
    if (steward == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory for the certificate's duties");
    pthread_mutex_init(&steward->server_mutex, NULL);
    steward->settings = settings;
    steward->board = board;
    write_identity(steward->identity);
    const struct lease_settings lease = {
        .identity = steward->identity,
        .namespace = settings->lease_namespace,
        .name = settings->lease,
        .duration_ms = settings->lease_duration_ms,
        .renew_deadline_ms = settings->renew_deadline_ms,
        .retry_ms = settings->retry_ms,
    };
    const struct duties_options options = {settings, serve, steward};
    if (!lease_settings_check(&lease, error) ||
        !client_open(config, monotonic_ms, &steward->client, error)) {
        steward_destroy(steward);
        return false;
    }
    steward->lease = lease_create(&lease);
    steward->duties = duties_create(&options);
    if (steward->lease == NULL || steward->duties == NULL) {
        steward_destroy(steward);
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory for the certificate's duties");
    }
    *result = steward;
    return true;
}

bool steward_start(struct steward *steward, struct server *server, struct metrics *metrics,
                   struct error *error)
{
    steward->server = server;
    steward->metrics = metrics;
    int code = pthread_create(&steward->thread, NULL, run, steward);
    if (code != 0)
        return error_set(error, ERROR_MEMORY, NOWHERE,
                         "the thread that keeps the certificate cannot be started: %s",
                         strerror(code));
    steward->running = true;
    return true;
}

void steward_leave(struct steward *steward)
{
    if (steward == NULL || !steward->running)
        return;
    pthread_mutex_lock(&steward->server_mutex);
    steward->server = NULL;
    pthread_mutex_unlock(&steward->server_mutex);
    atomic_store(&steward->stopping, true);
    client_wake(steward->client);
}

void steward_stop(struct steward *steward)
{
    if (steward == NULL || !steward->running)
        return;
    steward_leave(steward);
    pthread_join(steward->thread, NULL);
    steward->running = false;
}

void steward_destroy(struct steward *steward)
{
    if (steward == NULL)
        return;
    steward_stop(steward);
    client_close(steward->client);
    lease_destroy(steward->lease);
    duties_destroy(steward->duties);
    pthread_mutex_destroy(&steward->server_mutex);
    free(steward);
}
