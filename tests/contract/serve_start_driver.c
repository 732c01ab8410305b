/* `taffrail serve`, whose threads start in order until one cannot: by then those before it may use
 * the server, and it must not be closed under them.
 *
 * usage: contract_serve_start serve OPTIONS */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "server/reload.h"
#include "server/reports.h"
#include "server/server.h"

enum step { STEP_CLUSTER, STEP_SERVER, STEP_RELOAD, STEP_WEBHOOKS, STEP_REPORTS, STEP_COUNT };
static const char *const names[] = {"cluster", "server", "reload", "webhooks", "reports"};
static enum step fails;
static bool webhooks_use_server, closed;

static bool start(enum step step, struct error *error)
{
    return step != fails || error_set(error, ERROR_MEMORY, NOWHERE, "%s fails", names[step]);
}

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s cannot be started: %s\n", names[fails], what);
    exit(1);
}

/* ---- in place of the program's ---- */

bool __wrap_process_confine(enum process_need need, struct error *error);
bool __wrap_process_confine(enum process_need need, struct error *error)
{
    (void)need, (void)error;
    return true;
}

bool __wrap_informer_thread_start(struct informer_thread *thread, struct error *error);
bool __wrap_informer_thread_start(struct informer_thread *thread, struct error *error)
{
    (void)thread;
    return start(STEP_CLUSTER, error);
}

bool __wrap_server_start(struct server *server, struct error *error);
bool __wrap_server_start(struct server *server, struct error *error)
{
    (void)server;
    return start(STEP_SERVER, error);
}

bool __wrap_reload_start(struct reload *reload, const struct reload_target *target,
                         struct error *error);
bool __wrap_reload_start(struct reload *reload, const struct reload_target *target,
                         struct error *error)
{
    (void)reload, (void)target;
    return start(STEP_RELOAD, error);
}

bool __wrap_webhook_thread_start(struct webhook_thread *thread, struct server *server,
                                 struct metrics *metrics, struct error *error);
bool __wrap_webhook_thread_start(struct webhook_thread *thread, struct server *server,
                                 struct metrics *metrics, struct error *error)
{
    (void)thread, (void)server, (void)metrics;
    webhooks_use_server = start(STEP_WEBHOOKS, error);
    return webhooks_use_server;
}

void __wrap_webhook_thread_leave(struct webhook_thread *thread);
void __wrap_webhook_thread_leave(struct webhook_thread *thread)
{
    (void)thread;
    webhooks_use_server = false;
}

bool __wrap_reports_thread_start(struct reports_thread *thread, struct error *error);
bool __wrap_reports_thread_start(struct reports_thread *thread, struct error *error)
{
    (void)thread;
    return start(STEP_REPORTS, error);
}

void __real_server_close(struct server *server);
void __wrap_server_close(struct server *server);
void __wrap_server_close(struct server *server)
{
    require(!webhooks_use_server, "the server is closed, and the thread of the webhooks uses it");
    closed = true;
    __real_server_close(server);
}

void help_print(const struct description *description)
{
    (void)description;
}

/* The options are read once in a process. */
static bool serves_in_child(int argc, char **argv)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        require(command_serve(argc - 1, argv + 1) != EXIT_CLEAN, "it ends as if all was well");
        require(closed, "the server is not closed");
        exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv)
{
    bool done = true;
    for (fails = STEP_CLUSTER; fails < STEP_COUNT; fails++)
        done &= serves_in_child(argc, argv);
    return !done;
}
