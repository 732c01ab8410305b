/* Which cluster a command is about, found as kubectl finds it. */
#include <stdlib.h>
#include <unistd.h>

#include "cli/cluster.h"
#include "cli/exec_plugin.h"

bool cluster_is_named(const struct cluster_options *options)
{
    return options->kubeconfig != NULL || options->context != NULL || options->in_cluster;
}

bool cluster_options_check(const char *command, const struct cluster_options *options,
                           const char *state_dir)
{
    if (state_dir != NULL && cluster_is_named(options))
        usage_error(command,
                    "either --state, or a cluster (--kubeconfig, --context or --in-cluster)");
    else if (options->in_cluster && (options->kubeconfig != NULL || options->context != NULL))
        usage_error(command, "either --in-cluster, or --kubeconfig and --context");
    else if (state_dir != NULL && options->timeout != NULL)
        usage_error(command, "--timeout is for a cluster that is listed, not for --state");
    else
        return true;
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

bool cluster_config_read(const struct cluster_options *options, struct arena *arena,
                         struct client_config *config, struct error *error)
{
    return cluster_config_find(options, arena, config, error) &&
           (config->exec == NULL ||
            exec_plugin_run(config, !options->standard_input_used, arena, error));
}

struct text cluster_title(const struct client_config *config, struct arena *arena)
{
    if (config->origin.size == 0)
        return config->server;
    return arena_printf(arena, "%.*s, %.*s", TEXT_ARGS(config->origin), TEXT_ARGS(config->server));
}
