#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/cli.h"
#include "server/server.h"

/* After SIGTERM the API server may not know yet that this replica leaves: it goes on answering for
 * a while (webhook contract 6). Ctrl-C does not wait. */
enum { SETTLE_MS = 5000, DRAIN_DEADLINE_MS = 14000 };

struct serve_options {
    struct string_list policies;
    const char *state_dir, *catalog_file, *listen, *ops_listen, *cert_file, *key_file, *cert_dir;
};

static const char notes[] =
    "POST /validate and /mutate over TLS; /livez, /readyz and /metrics on the plain ops port.\n"
    "--cert-dir holds tls.crt and tls.key; when it is missing or empty, they are made there with "
    "a\n"
    "ca.crt. With no certificate at all one is made that lives as long as the process.\n"
    "The log is on standard error, the audit trail (JSON lines) on standard output.\n";

static enum options_result read_options(int argc, char **argv, struct serve_options *options)
{
    const struct option_spec table[] = {
        {'p', "policy", OPTION_LIST, &options->policies, "FILE",
         "a policy file or folder (repeats)", NULL},
        {0, "state", OPTION_STRING, &options->state_dir, "DIR", "a cluster as files", NULL},
        {0, "catalog", OPTION_STRING, &options->catalog_file, "FILE",
         "instance types instead of the built-in ones", NULL},
        {0, "listen", OPTION_STRING, &options->listen, "ADDR:PORT", "for reviews (0.0.0.0:8443)",
         NULL},
        {0, "ops-listen", OPTION_STRING, &options->ops_listen, "ADDR:PORT",
         "for probes and metrics (0.0.0.0:8080)", NULL},
        {0, "cert", OPTION_STRING, &options->cert_file, "FILE", "certificate chain, PEM", NULL},
        {0, "key", OPTION_STRING, &options->key_file, "FILE", "its key, PEM", NULL},
        {0, "cert-dir", OPTION_STRING, &options->cert_dir, "DIR", "a folder for certificates",
         NULL},
        {0},
    };
    struct string_list operands = {0};
    enum options_result result =
        options_read(argc, argv, table, "serve -p POLICY [OPTIONS]", notes, &operands);
    if (result != OPTIONS_READ)
        return result;
    if (operands.count > 0)
        usage_error("serve", "what is \"%s\" for? policies are given with -p", operands.items[0]);
    else if (options->policies.count == 0)
        usage_error("serve", "no policy is given (-p FILE)");
    else if ((options->cert_file == NULL) != (options->key_file == NULL))
        usage_error("serve", "--cert and --key go together");
    else if (options->cert_file != NULL && options->cert_dir != NULL)
        usage_error("serve", "either --cert and --key, or --cert-dir");
    else
        return OPTIONS_READ;
    return OPTIONS_WRONG;
}

/* ---- certificates
 * ----------------------------------------------------------------------------------- */

static const char *const dns_names[] = {"taffrail.taffrail.svc",
                                        "taffrail.taffrail.svc.cluster.local", "localhost"};
static const char *const addresses[] = {"127.0.0.1", "::1"};
static const struct cert_names own_names = {dns_names, sizeof dns_names / sizeof dns_names[0],
                                            addresses, sizeof addresses / sizeof addresses[0]};

static bool read_pair(const struct serve_options *options, struct arena *arena,
                      struct cert_pair *pair, struct error *error)
{
    enum { PEM_LIMIT_BYTES = 1 << 20 };
    return file_read(options->cert_file, PEM_LIMIT_BYTES, arena, &pair->certificate, error) &&
           file_read(options->key_file, PEM_LIMIT_BYTES, arena, &pair->key, error);
}

static bool open_certificate(const struct serve_options *options, int64_t now_unix_s,
                             struct arena *arena, struct cert_pair *pair, struct error *error)
{
    if (options->cert_file != NULL)
        return read_pair(options, arena, pair, error);
    if (options->cert_dir != NULL) {
        bool made = false;
        if (!certs_open_dir(options->cert_dir, &own_names, now_unix_s, arena, pair, &made, error))
            return false;
        if (made)
            log_line(LOG_INFO, "certs", options->cert_dir, NULL,
                     "made a CA and a certificate for %s", dns_names[0]);
        return true;
    }
    struct cert_pair ca;
    log_line(LOG_WARN, "certs", NULL, NULL,
             "no certificate is given: made one that nobody can verify; use --cert-dir");
    return cert_issue_ca(now_unix_s, arena, &ca, error) &&
           cert_issue_leaf(&ca, &own_names, now_unix_s, arena, pair, error);
}

/* ---- serving
 * --------------------------------------------------------------------------------------- */

static void log_warnings(const struct problems *warnings)
{
    for (size_t i = 0; i < warnings->count; i++) {
        char line[1024];
        error_format(&warnings->items[i], line, sizeof line);
        log_line(LOG_WARN, "world", NULL, NULL, "%s", line);
    }
}

static int load_first_world(const struct serve_options *options, int64_t now_unix_s,
                            struct arena *arena, struct world **world)
{
    const struct world_options world_options = {
        .policy_paths = options->policies.items,
        .policy_path_count = options->policies.count,
        .state_dir = options->state_dir,
        .catalog_file = options->catalog_file,
    };
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    if (!world_load(&world_options, 1, now_unix_s, world, &errors, &warnings))
        return print_problems(&errors, "error");
    log_warnings(&warnings);
    return EXIT_CLEAN;
}

/* Returns when asked to stop; a second signal ends the process at once. */
static int64_t wait_for_stop(const sigset_t *signals)
{
    int received = 0;
    if (sigwait(signals, &received) != 0)
        return 0;
    log_line(LOG_INFO, "server", NULL, NULL, "%s: draining",
             received == SIGTERM ? "SIGTERM" : "interrupted");
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, signals, NULL);
    return received == SIGTERM ? SETTLE_MS : 0;
}

static int fail(const struct error *error)
{
    char line[1024];
    error_format(error, line, sizeof line);
    fprintf(stderr, "error: %s\n", line);
    return error_exit_code(error->kind);
}

static int serve_with(const struct serve_options *options, struct server_options *server_options,
                      struct world *world, const sigset_t *signals)
{
    struct error error;
    struct server *server = NULL;
    struct cell *cell = cell_create(server_slot_count(server_options));
    if (cell == NULL) {
        world_destroy(world);
        fprintf(stderr, "error: no memory to start\n");
        return EXIT_USAGE;
    }
    metrics_set_world(server_options->metrics, world->generation, world->loaded_unix_s);
    cell_publish(cell, world, world_destroy);
    if (!server_start(server_options, cell, &server, &error)) {
        cell_destroy(cell);
        return fail(&error);
    }
    struct text host = text_of(options->listen);
    struct text ops_host = text_of(options->ops_listen);
    text_split_last(host, ':', &host, NULL);
    text_split_last(ops_host, ':', &ops_host, NULL);
    log_line(LOG_INFO, "server", NULL, NULL, "listening: webhook on %.*s:%u, ops on %.*s:%u",
             TEXT_ARGS(host), server_port(server), TEXT_ARGS(ops_host), server_ops_port(server));
    int64_t settle_ms = wait_for_stop(signals);
    server_drain(server, settle_ms, DRAIN_DEADLINE_MS);
    cell_destroy(cell);
    log_line(LOG_INFO, "server", NULL, NULL, "stopped");
    return EXIT_CLEAN;
}

static int serve(struct arena *arena, void *argument)
{
    const struct serve_options *options = argument;
    int64_t now_unix_s = (int64_t)time(NULL);

    /* Blocked before any thread starts, so that every thread has them blocked and sigwait gets
     * them. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);

    struct server_options server_options = {.listen = options->listen,
                                            .ops_listen = options->ops_listen};
    struct error error;
    int64_t not_after_unix_s = 0;
    if (!open_certificate(options, now_unix_s, arena, &server_options.certificate, &error) ||
        !cert_check(&server_options.certificate, now_unix_s, &not_after_unix_s, &error))
        return fail(&error);
    struct world *world = NULL;
    int code = load_first_world(options, now_unix_s, arena, &world);
    if (code != EXIT_CLEAN)
        return code;
    server_options.metrics = metrics_create();
    if (server_options.metrics == NULL) {
        world_destroy(world);
        fprintf(stderr, "error: no memory to start\n");
        return EXIT_USAGE;
    }
    metrics_set_certificate(server_options.metrics, not_after_unix_s);
    code = serve_with(options, &server_options, world, &signals);
    metrics_destroy(server_options.metrics);
    return code;
}

int command_serve(int argc, char **argv)
{
    struct serve_options options = {.listen = "0.0.0.0:8443", .ops_listen = "0.0.0.0:8080"};
    switch (read_options(argc, argv, &options)) {
    case OPTIONS_HELPED:
        return EXIT_CLEAN;
    case OPTIONS_WRONG:
        return EXIT_USAGE;
    case OPTIONS_READ:
        break;
    }
    return run_in_arena(serve, &options);
}
