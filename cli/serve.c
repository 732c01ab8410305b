#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    "The log is on standard error, the audit trail (JSON lines) on standard output.\n"
    "Policies, state, catalogue and certificates are read again when their files change, and at\n"
    "SIGHUP; what is no good is said, and the last good one stays in force.\n";

static bool reads_standard_input(const struct string_list *policies)
{
    for (size_t i = 0; i < policies->count; i++)
        if (strcmp(policies->items[i], "-") == 0)
            return true;
    return false;
}

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
    else if (reads_standard_input(&options->policies))
        usage_error("serve", "-p - cannot be read again when it changes; give a file or a folder");
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

static struct reload_options reload_options_of(const struct serve_options *options,
                                               struct arena *arena)
{
    struct reload_options reload_options = {
        .world =
            {
                .policy_paths = options->policies.items,
                .policy_path_count = options->policies.count,
                .state_dir = options->state_dir,
                .catalog_file = options->catalog_file,
            },
        .certificate_file = options->cert_file,
        .key_file = options->key_file,
    };
    if (options->cert_dir != NULL) {
        reload_options.certificate_file = arena_printf(arena, "%s/tls.crt", options->cert_dir).data;
        reload_options.key_file = arena_printf(arena, "%s/tls.key", options->cert_dir).data;
    }
    return reload_options;
}

/* What a server is made of before it serves. */
struct serving {
    struct server_options server;
    struct world *world;
    size_t state_problem_count;
    struct reload *reload;
};

static int load_first_world(const struct world_options *options, int64_t now_unix_s,
                            struct arena *arena, struct serving *serving)
{
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    if (!world_load(options, 1, now_unix_s, &serving->world, &errors, &warnings))
        return print_problems(&errors, "error");
    log_warnings(&warnings);
    serving->state_problem_count = world_state_problem_count(&warnings);
    return EXIT_CLEAN;
}

/* Blocked before any thread starts, so that every thread has them blocked and sigwait gets them. */
static sigset_t block_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    return signals;
}

/* Returns when asked to stop; a second signal ends the process at once. */
static int64_t wait_for_stop(const sigset_t *signals, struct reload *reload)
{
    int received = SIGHUP;
    while (received == SIGHUP) {
        if (sigwait(signals, &received) != 0)
            return 0;
        if (received == SIGHUP)
            reload_now(reload);
    }
    log_line(LOG_INFO, "server", NULL, NULL, "%s: draining",
             received == SIGTERM ? "SIGTERM" : "interrupted");
    signal(SIGHUP, SIG_IGN);
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

/* Takes the world. */
static int serve_with(const struct serve_options *options, struct serving *serving,
                      const sigset_t *signals)
{
    struct error error;
    struct server *server = NULL;
    struct cell *cell = cell_create(server_slot_count(&serving->server));
    if (cell == NULL) {
        world_destroy(serving->world);
        fprintf(stderr, "error: no memory to start\n");
        return EXIT_USAGE;
    }
    struct reload_target target = {
        .cell = cell,
        .metrics = serving->server.metrics,
        .generation = serving->world->generation,
        .state_problem_count = serving->state_problem_count,
    };
    metrics_set_world(target.metrics, target.generation, serving->world->loaded_unix_s);
    cell_publish(cell, serving->world, world_destroy);
    if (!server_start(&serving->server, cell, &server, &error)) {
        cell_destroy(cell);
        return fail(&error);
    }
    target.server = server;
    if (!reload_start(serving->reload, &target, &error)) {
        server_drain(server, 0, 0);
        cell_destroy(cell);
        return fail(&error);
    }
    struct text host = text_of(options->listen);
    struct text ops_host = text_of(options->ops_listen);
    text_split_last(host, ':', &host, NULL);
    text_split_last(ops_host, ':', &ops_host, NULL);
    log_line(LOG_INFO, "server", NULL, NULL, "listening: webhook on %.*s:%u, ops on %.*s:%u",
             TEXT_ARGS(host), server_port(server), TEXT_ARGS(ops_host), server_ops_port(server));
    int64_t settle_ms = wait_for_stop(signals, serving->reload);
    reload_stop(serving->reload);
    server_drain(server, settle_ms, DRAIN_DEADLINE_MS);
    cell_destroy(cell);
    log_line(LOG_INFO, "server", NULL, NULL, "stopped");
    return EXIT_CLEAN;
}

static int load_and_serve(const struct serve_options *options,
                          const struct world_options *world_options, struct arena *arena,
                          struct serving *serving, const sigset_t *signals)
{
    int code = load_first_world(world_options, (int64_t)time(NULL), arena, serving);
    if (code != EXIT_CLEAN)
        return code;
    serving->server.metrics = metrics_create();
    if (serving->server.metrics == NULL) {
        world_destroy(serving->world);
        fprintf(stderr, "error: no memory to start\n");
        return EXIT_USAGE;
    }
    code = serve_with(options, serving, signals);
    metrics_destroy(serving->server.metrics);
    return code;
}

static int serve(struct arena *arena, void *argument)
{
    const struct serve_options *options = argument;
    int64_t now_unix_s = (int64_t)time(NULL), not_after_unix_s = 0;
    const sigset_t signals = block_signals();
    struct serving serving = {
        .server = {.listen = options->listen, .ops_listen = options->ops_listen},
    };
    const struct reload_options reload_options = reload_options_of(options, arena);
    struct error error;
    if (!reload_create(&reload_options, &serving.reload, &error))
        return fail(&error);
    int code = EXIT_CLEAN;
    if (open_certificate(options, now_unix_s, arena, &serving.server.certificate, &error) &&
        cert_check(&serving.server.certificate, now_unix_s, &not_after_unix_s, &error))
        code = load_and_serve(options, &reload_options.world, arena, &serving, &signals);
    else
        code = fail(&error);
    reload_destroy(serving.reload);
    return code;
}

int command_serve(int argc, char **argv)
{
    struct serve_options options = {.listen = "0.0.0.0:8443", .ops_listen = "0.0.0.0:8080"};
    enum options_result result = read_options(argc, argv, &options);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    return run_in_arena(serve, &options);
}
