/* `taffrail serve`: the webhook, from its options to its end. */
#include "cli/serve.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cluster.h"
#include "server/open_files.h"
#include "server/webhook_manager.h"
#include "simulation/cluster.h"

/* After SIGTERM the API server may not know yet that this replica is leaving, so it answers for
 * some more time (docs/reference/admission.md 6). Ctrl-C does not wait. */
enum { SETTLE_MS = 5000, DRAIN_DEADLINE_MS = 14000 };

struct serve_options {
    struct string_list policies;
    const char *state_dir, *kubeconfig, *catalog_file, *listen, *ops_listen;
    const char *cert_file, *key_file, *cert_dir;
    bool in_cluster;
    struct manage_options manage;
};

static const char notes[] =
    "POST /validate and /mutate over TLS; /livez, /readyz and /metrics on the plain ops port.\n"
    "--kubeconfig and --in-cluster list and watch a cluster; until it is visible, and of kinds "
    "that\n"
    "may not be read, what rails would have to see is not decided (/readyz?verbose tells).\n"
    "--cert-dir holds tls.crt and tls.key; when it is missing or empty, they are made there with "
    "a\n"
    "ca.crt. With no certificate at all one is made that lives as long as the process.\n"
    "--manage-webhooks keeps the certificate in a Secret and its CA in the webhook "
    "configurations;\n"
    "of several replicas one does it, which they elect by a Lease. All serve that certificate.\n"
    "--write-reports has the elected replica audit the cluster and write what it finds as Reports\n"
    "of openreports.io, or as PolicyReports where the cluster has only these.\n"
    "The log is on standard error, the audit trail (JSON lines) on standard output.\n"
    "Policies, state, catalogue and certificates are read again when their files change, and at\n"
    "SIGHUP; what is no good is said, and the last good one stays in force.\n";

static bool watches_cluster(const struct serve_options *options)
{
    return options->kubeconfig != NULL || options->in_cluster;
}

static enum options_result check_options(const struct serve_options *options)
{
    const char *contradiction =
        manage_contradiction(&options->manage, watches_cluster(options),
                             options->cert_file != NULL || options->cert_dir != NULL);
    if (options->policies.count == 0)
        usage_error("serve", "no policy is given (-p FILE)");
    else if (string_list_count(&options->policies, "-") > 0)
        usage_error("serve", "-p - cannot be read again when it changes; give a file or a folder");
    else if ((options->cert_file == NULL) != (options->key_file == NULL))
        usage_error("serve", "--cert and --key go together");
    else if ((options->state_dir != NULL) + (options->kubeconfig != NULL) + options->in_cluster > 1)
        usage_error("serve", "either --state, or --kubeconfig, or --in-cluster");
    else if (options->cert_file != NULL && options->cert_dir != NULL)
        usage_error("serve", "either --cert and --key, or --cert-dir");
    else if (contradiction != NULL)
        usage_error("serve", "%s", contradiction);
    else
        return OPTIONS_READ;
    return OPTIONS_WRONG;
}

static enum options_result read_options(int argc, char **argv, struct serve_options *options)
{
    struct manage_options *manage = &options->manage;
    const struct option_spec table[] = {
        OPTION_POLICIES(&options->policies),
        {0, "state", OPTION_STRING, &options->state_dir, "DIR", "a cluster as files", NULL},
        OPTION_KUBECONFIG(&options->kubeconfig),
        OPTION_IN_CLUSTER(&options->in_cluster),
        OPTION_CATALOG(&options->catalog_file),
        {0, "listen", OPTION_STRING, &options->listen, "ADDR:PORT", "for reviews (0.0.0.0:8443)",
         NULL},
        {0, "ops-listen", OPTION_STRING, &options->ops_listen, "ADDR:PORT",
         "for probes and metrics (0.0.0.0:8080)", NULL},
        {0, "cert", OPTION_STRING, &options->cert_file, "FILE", "certificate chain, PEM", NULL},
        {0, "key", OPTION_STRING, &options->key_file, "FILE", "its key, PEM", NULL},
        {0, "cert-dir", OPTION_STRING, &options->cert_dir, "DIR", "a folder for certificates",
         NULL},
        {0, "manage-webhooks", OPTION_FLAG, &manage->manage, NULL,
         "keep the certificate and the CA bundles right", NULL},
        {0, "cert-secret", OPTION_STRING, &manage->cert_secret, "[NS/]NAME",
         "the Secret of CA and certificate; is made", NULL},
        {0, "webhooks", OPTION_STRING, &manage->configuration, "NAME",
         "of the configurations (taffrail)", NULL},
        {0, "service", OPTION_STRING, &manage->service, "NAME",
         "the certificate is for NAME.NAMESPACE.svc (taffrail)", NULL},
        {0, "lease", OPTION_STRING, &manage->lease, "[NS/]NAME",
         "of the election (taffrail, beside the Secret)", NULL},
        {0, "lease-duration", OPTION_STRING, &manage->lease_duration, "TIME",
         "without a sign of life until another leads (15s)", NULL},
        {0, "lease-renew-deadline", OPTION_STRING, &manage->lease_renew_deadline, "TIME",
         "after which who cannot renew stops (10s)", NULL},
        {0, "lease-retry-period", OPTION_STRING, &manage->lease_retry_period, "TIME",
         "between two renewals (2s)", NULL},
        {0, "ca-lifetime", OPTION_STRING, &manage->ca_lifetime, "TIME", "of a CA (87600h)", NULL},
        {0, "cert-lifetime", OPTION_STRING, &manage->cert_lifetime, "TIME",
         "of a certificate, renewed after two thirds (2160h)", NULL},
        {0, "bundle-settle", OPTION_STRING, &manage->bundle_settle, "TIME",
         "until every API server uses a new CA bundle (1m)", NULL},
        {0, "write-reports", OPTION_FLAG, &manage->write_reports, NULL,
         "audit the cluster, and write a report for each namespace", NULL},
        {0, "report-interval", OPTION_STRING, &manage->report_interval, "TIME",
         "between two audits (1h); one follows each new policy, too", NULL},
        {0},
    };
    struct string_list operands = {0};
    enum options_result result =
        options_read(argc, argv, table, "serve -p POLICY [OPTIONS]", notes, &operands);
    if (result != OPTIONS_READ)
        return result;
    if (operands.count == 0)
        return check_options(options);
    usage_error("serve", "what is \"%s\" for? policies are given with -p", operands.items[0]);
    return OPTIONS_WRONG;
}

/* ---- certificates ---- */

static const char *const dns_names[] = {"taffrail.taffrail.svc",
                                        "taffrail.taffrail.svc.cluster.local", "localhost"};
static const char *const addresses[] = {"127.0.0.1", "::1"};
static const struct cert_names own_names = {dns_names, COUNT_OF(dns_names), addresses,
                                            COUNT_OF(addresses)};

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
    if (!options->manage.manage)
        log_line(LOG_WARN, "certs", NULL, NULL,
                 "no certificate is given: made one that nobody can verify; use --cert-dir");
    return cert_issue_ca(now_unix_s, arena, &ca, error) &&
           cert_issue_leaf(&ca, &own_names, now_unix_s, arena, pair, error);
}

/* ---- serving ---- */

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
                .serves = true,
                .watches = watches_cluster(options),
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

/* The parts of a server. */
struct serving {
    const struct serve_options *options;
    struct server_options server;
    struct world *world; /* until the publisher owns it */
    struct client_config cluster_config;
    struct publisher *publisher;
    struct informer_thread *cluster; /* NULL: no cluster is watched */
    struct webhook_manager_settings manager_settings;
    struct webhook_thread *webhook_thread; /* NULL: nobody is elected */
    int64_t report_interval_s;
    struct reports_thread *reports; /* NULL: no reports are written */
    struct reload *reload;
    sigset_t signals;
};

static bool read_settings(const struct serve_options *options, struct arena *arena,
                          struct serving *serving, struct error *error)
{
    const char *namespace = arena_text(arena, serving->cluster_config.namespace).data;
    return !manage_elects(&options->manage) ||
           (manage_settings(&options->manage, namespace, arena, &serving->manager_settings,
                            error) &&
            read_report_interval(&options->manage, &serving->report_interval_s, error));
}

static int load_first_world(const struct world_options *options, int64_t now_unix_s,
                            struct arena *arena, struct serving *serving)
{
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena, .most = LOGGED_PROBLEMS_MOST};
    if (!world_load(options, 1, now_unix_s, &serving->world, &errors, &warnings))
        return print_problems(&errors, "error");
    log_problems(LOG_WARN, "world", NULL, &warnings);
    return EXIT_CLEAN;
}

/* Called before any thread starts, so that every thread has them blocked and sigwait gets them. A
 * reader of the log or of the trail that goes away ends nothing. */
static sigset_t block_signals(void)
{
    sigset_t signals;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&signals);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    return signals;
}

static unsigned take_connections(void)
{
    size_t files = open_files_take();
    unsigned connections = connections_within(files);
    if (connections < CONNECTIONS_MOST)
        log_line(LOG_WARN, "server", NULL, NULL,
                 "this process may have %zu files open, so it takes %u connections at once; for %d "
                 "let it have %d (ulimit -Hn)",
                 files, connections, CONNECTIONS_MOST, CONNECTIONS_MOST + OTHER_FILES);
    return connections;
}

/* Returns at a signal to stop; a second signal ends the process at once. */
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

static bool prepare_webhook_thread(struct serving *serving, struct error *error)
{
    struct server_options *server = &serving->server;
    if (!manage_elects(&serving->options->manage))
        return true;
    server->webhook_manager_status = webhook_manager_status_create(&serving->manager_settings);
    if (server->webhook_manager_status == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory to start");
    return webhook_thread_create(&serving->cluster_config, &serving->manager_settings,
                                 server->webhook_manager_status, &serving->webhook_thread, error);
}

static bool prepare_reports(struct serving *serving, struct error *error)
{
    struct server_options *server = &serving->server;
    if (!serving->options->manage.write_reports)
        return true;
    server->reports_status = reports_status_create();
    if (server->reports_status == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory to start");
    const struct reports_options options = {
        .interval_s = serving->report_interval_s,
        .election = serving->webhook_thread,
        .worlds = publisher_cell(serving->publisher),
        .slot = server_slot_count(server),
        .cluster = server->status,
        .status = server->reports_status,
    };
    return reports_thread_create(&serving->cluster_config, &options, &serving->reports, error);
}

/* Prepares the first world, and the threads that publish the next ones; nothing runs yet. */
static bool prepare(struct serving *serving, struct error *error)
{
    struct server_options *server = &serving->server;
    server->metrics = metrics_create();
    if (watches_cluster(serving->options))
        server->status = cluster_status_create();
    /* One more slot than the server has connections, for the reports. */
    serving->publisher = publisher_create(server_slot_count(server) + 1);
    if (server->metrics == NULL || serving->publisher == NULL ||
        (watches_cluster(serving->options) && server->status == NULL))
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory to start");
    if (server->status != NULL &&
        !informer_thread_create(&serving->cluster_config, serving->publisher, server->status,
                                &serving->cluster, error))
        return false;
    if (!prepare_webhook_thread(serving, error) || !prepare_reports(serving, error))
        return false;
    metrics_set_world(server->metrics, serving->world->generation, serving->world->loaded_unix_s);
    struct world *world = serving->world;
    if (!publisher_set_policies(serving->publisher, world))
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory to start");
    serving->world = NULL;
    return true;
}

static void log_addresses(const struct serve_options *options, const struct server *server)
{
    struct text host = text_of(options->listen);
    struct text ops_host = text_of(options->ops_listen);
    text_split_last(host, ':', &host, NULL);
    text_split_last(ops_host, ':', &ops_host, NULL);
    log_line(LOG_INFO, "server", NULL, NULL, "listening: webhook on %.*s:%u, ops on %.*s:%u",
             TEXT_ARGS(host), server_port(server), TEXT_ARGS(ops_host), server_ops_port(server));
}

/* Starts the threads; if one fails, the owner stops the others. */
static bool start(struct serving *serving, const struct reload_target *target, struct error *error)
{
    return (serving->cluster == NULL || informer_thread_start(serving->cluster, error)) &&
           server_start(target->server, error) && reload_start(serving->reload, target, error) &&
           (serving->webhook_thread == NULL ||
            webhook_thread_start(serving->webhook_thread, target->server, target->metrics,
                                 error)) &&
           (serving->reports == NULL || reports_thread_start(serving->reports, error));
}

static bool run(struct serving *serving, const struct reload_target *now, struct error *error)
{
    struct reload_target target = *now;
    if (!server_open(&serving->server, publisher_cell(serving->publisher), &target.server, error))
        return false;
    if (!process_confine(PROCESS_NEEDS_NOTHING, error) || !start(serving, &target, error)) {
        reload_stop(serving->reload);
        webhook_thread_leave(serving->webhook_thread);
        server_close(target.server);
        return false;
    }
    log_addresses(serving->options, target.server);
    int64_t settle_ms = wait_for_stop(&serving->signals, serving->reload);
    reload_stop(serving->reload);
    reports_thread_stop(serving->reports);
    webhook_thread_leave(serving->webhook_thread);
    /* The cluster is watched until the last answer. */
    server_drain(target.server, settle_ms, DRAIN_DEADLINE_MS);
    webhook_thread_stop(serving->webhook_thread);
    return true;
}

static int prepare_and_run(struct serving *serving)
{
    struct error error;
    struct reload_target target = {.generation = serving->world->generation};
    bool done = prepare(serving, &error);
    target.publisher = serving->publisher;
    target.metrics = serving->server.metrics;
    done = done && run(serving, &target, &error);
    reports_thread_destroy(serving->reports);
    informer_thread_stop(serving->cluster);
    webhook_thread_destroy(serving->webhook_thread);
    webhook_manager_status_destroy(serving->server.webhook_manager_status);
    reports_status_destroy(serving->server.reports_status);
    publisher_destroy(serving->publisher);
    informer_thread_destroy(serving->cluster);
    cluster_status_destroy(serving->server.status);
    metrics_destroy(serving->server.metrics);
    world_destroy(serving->world);
    if (!done)
        return print_error(&error);
    log_line(LOG_INFO, "server", NULL, NULL, "stopped");
    return EXIT_CLEAN;
}

static int serve(struct arena *arena, void *argument)
{
    const struct serve_options *options = argument;
    int64_t now_unix_s = (int64_t)time(NULL), not_after_unix_s = 0;
    log_set_waiting(false); /* reviews go on, and SIGTERM ends it, while nobody reads the log */
    struct serving serving = {
        .options = options,
        .server = {.listen = options->listen,
                   .ops_listen = options->ops_listen,
                   .connection_limit = take_connections()},
        .signals = block_signals(),
    };
    const struct reload_options reload_options = reload_options_of(options, arena);
    const struct cluster_options cluster = {.kubeconfig = options->kubeconfig,
                                            .in_cluster = options->in_cluster};
    struct error error;
    /* Before any file is read, so that a file which cannot be read again later fails now. */
    if (!process_confine(PROCESS_BINDS, &error) ||
        (watches_cluster(options) &&
         !cluster_config_find(&cluster, arena, &serving.cluster_config, &error)) ||
        !read_settings(options, arena, &serving, &error) ||
        !reload_create(&reload_options, &serving.reload, &error))
        return print_error(&error);
    int code = EXIT_CLEAN;
    if (!open_certificate(options, now_unix_s, arena, &serving.server.certificate, &error) ||
        !cert_check(&serving.server.certificate, now_unix_s, &not_after_unix_s, &error))
        code = print_error(&error);
    else
        code = load_first_world(&reload_options.world, now_unix_s, arena, &serving);
    if (serving.world != NULL)
        code = prepare_and_run(&serving);
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
