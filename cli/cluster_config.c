/* The address of the API server, from the options of a command. */
#include <stdlib.h>

#include "cli/cli.h"
#include "live/client.h"

bool cluster_config_read(bool in_cluster, const char *kubeconfig, struct arena *arena,
                         struct client_config *config, struct error *error)
{
    if (in_cluster)
        return client_config_in_cluster(NULL, getenv("KUBERNETES_SERVICE_HOST"),
                                        getenv("KUBERNETES_SERVICE_PORT"), arena, config, error);
    return client_config_kubeconfig(kubeconfig, NULL, arena, config, error);
}
