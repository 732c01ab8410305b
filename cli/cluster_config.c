/* Which cluster a command is about, found as kubectl finds it. */
#include <stdlib.h>
#include <unistd.h>

#include "cli/cluster.h"
#include "cli/exec_plugin.h"
#include "kube/time.h"
#include "live/impersonation.h"

bool cluster_is_named(const struct cluster_options *options)
{
    return options->kubeconfig != NULL || options->context != NULL || options->in_cluster;
}

static bool read_timeout(const char *command, struct cluster_options *options)
{
    enum { LONGEST_S = 24 * 3600 };
    int64_t seconds = 0;
    if (options->timeout == NULL)
        return true;
    bool read =
        duration_parse(text_of(options->timeout), &seconds) && seconds >= 1 && seconds <= LONGEST_S;
    if (!read)
        usage_error(command,
                    "--timeout is \"%s\"; it wants a time from 1s to 24h, such as 90s or 5m",
                    options->timeout);
    options->timeout_ms = 1000 * seconds;
    return read;
}

bool cluster_options_check(const char *command, struct cluster_options *options,
                           const char *state_dir)
{
    if (options->standard_input_uses > 1)
        usage_error(command, "standard input (-) is named more than once, and can be read once: "
                             "give the others as files");
    else if (state_dir != NULL && cluster_is_named(options))
        usage_error(command,
                    "either --state, or a cluster (--kubeconfig, --context or --in-cluster)");
    else if (options->in_cluster && (options->kubeconfig != NULL || options->context != NULL))
        usage_error(command, "either --in-cluster, or --kubeconfig and --context");
    else if (state_dir != NULL && options->timeout != NULL)
        usage_error(command, "--timeout is for a cluster that is listed, not for --state");
    else if (state_dir != NULL &&
             (options->user != NULL || options->uid != NULL || options->groups.count > 0))
        usage_error(command, "--as, --as-group and --as-uid are for a cluster that is listed, not "
                             "for --state");
    else
        return read_timeout(command, options);
    return false;
}

static bool read_in_cluster(struct arena *arena, struct client_config *config, struct error *error)
{
    return client_config_in_cluster(NULL, getenv("KUBERNETES_SERVICE_HOST"),
                                    getenv("KUBERNETES_SERVICE_PORT"), arena, config, error);
}

/* Of a list of files, as $KUBECONFIG has it. */
static bool one_is_there(const char *paths, struct arena *arena)
{
    struct text rest = text_of(paths), path;
    for (bool more = true; more;) {
        path = rest;
        more = text_split(rest, ':', &path, &rest);
        if (path.size > 0 && access(arena_text(arena, path).data, F_OK) == 0)
            return true;
    }
    return false;
}

/* The files that kubectl reads where none is named: what the environment says, and if it says
 * nothing, those of the home folder. */
static const char *usual_files(struct arena *arena)
{
    const char *named = getenv("KUBECONFIG");
    const char *home = getenv("HOME");
    if (named != NULL && *named != '\0')
        return named;
    return home == NULL || *home == '\0' ? "" : arena_printf(arena, "%s/.kube/config", home).data;
}

bool cluster_config_find(const struct cluster_options *options, struct arena *arena,
                         struct client_config *config, struct error *error)
{
    if (options->in_cluster)
        return read_in_cluster(arena, config, error);
    if (options->kubeconfig != NULL)
        return client_config_kubeconfig(options->kubeconfig, options->context, arena, config,
                                        error);
    const char *files = usual_files(arena);
    if (one_is_there(files, arena))
        return client_config_kubeconfig(files, options->context, arena, config, error);
    if (options->context == NULL && read_in_cluster(arena, config, error))
        return true;
    return error_set(error, ERROR_USAGE, NOWHERE,
                     "no cluster is given: there is no kubeconfig (%s), and this is no Pod; name "
                     "one with --kubeconfig FILE, or give it as files with --state DIR",
                     *files == '\0' ? "neither $KUBECONFIG nor $HOME is set" : files);
}

/* Whom the command line names replaces whom the kubeconfig names, with all of their groups. */
static bool impersonate(const struct cluster_options *options, struct arena *arena,
                        struct client_config *config, struct error *error)
{
    struct text *groups = ARENA_ARRAY(arena, options->groups.count, struct text);
    for (size_t i = 0; i < options->groups.count; i++)
        groups[i] = text_of(options->groups.items[i]);
    const struct impersonation who = {.user = text_of(options->user),
                                      .uid = text_of(options->uid),
                                      .groups = groups,
                                      .group_count = options->groups.count};
    if (who.user.size == 0 && who.uid.size == 0 && who.group_count == 0)
        return true;
    return impersonation_headers(&who, arena, &config->impersonation, error);
}

bool cluster_config_read(const struct cluster_options *options, struct arena *arena,
                         struct client_config *config, struct error *error)
{
    return cluster_config_find(options, arena, config, error) &&
           impersonate(options, arena, config, error) &&
           (config->exec == NULL ||
            exec_plugin_run(config, options->timeout_ms, options->standard_input_uses == 0, arena,
                            error));
}

struct text cluster_title(const struct client_config *config, struct arena *arena)
{
    if (config->origin.size == 0)
        return config->server;
    return arena_printf(arena, "%.*s, %.*s", TEXT_ARGS(config->origin), TEXT_ARGS(config->server));
}
