/* The service account that Kubernetes gives every Pod for the API server. */
#include <string.h>
#include <unistd.h>

#include "live/client.h"

#define USUAL_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"
enum { NAMESPACE_BYTES = 4096 };

bool client_config_in_cluster(const char *folder, const char *host, const char *port,
                              struct arena *arena, struct client_config *config,
                              struct error *error)
{
    if (host == NULL || *host == '\0' || port == NULL || *port == '\0')
        return error_set(error, ERROR_USAGE, NOWHERE,
                         "not in a cluster: KUBERNETES_SERVICE_HOST and "
                         "KUBERNETES_SERVICE_PORT are not set");
    if (folder == NULL)
        folder = USUAL_FOLDER;
    bool bare_ipv6 = strchr(host, ':') != NULL && *host != '[';
    *config = (struct client_config){
        .server = arena_printf(arena, bare_ipv6 ? "https://[%s]:%s" : "https://%s:%s", host, port),
        .ca_file = arena_printf(arena, "%s/ca.crt", folder),
        .token_file = arena_printf(arena, "%s/token", folder),
        .origin = TEXT("the service account of this Pod"),
    };
    const char *needed[] = {config->ca_file.data, config->token_file.data};
    for (size_t i = 0; i < 2; i++)
        if (access(needed[i], R_OK) != 0)
            return error_set(error, ERROR_IO, (struct place){needed[i], 0, 0},
                             "cannot be read: is automountServiceAccountToken false?");
    struct text namespace_file = arena_printf(arena, "%s/namespace", folder);
    if (access(namespace_file.data, R_OK) == 0)
        return file_read(namespace_file.data, NAMESPACE_BYTES, arena, &config->namespace, error);
    return true;
}
