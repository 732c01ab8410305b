/* Exec plugins: programs that a kubeconfig names to get credentials of. Here is what such a program
 * is told and what its answer says; who runs it is another's business. The rules are those of
 * client-go, API group client.authentication.k8s.io. */
#ifndef TAFFRAIL_LIVE_EXEC_CREDENTIAL_H
#define TAFFRAIL_LIVE_EXEC_CREDENTIAL_H

#include "live/client.h"

enum interactive_mode { INTERACTIVE_NEVER, INTERACTIVE_IF_AVAILABLE, INTERACTIVE_ALWAYS };

struct exec_plugin {
    const char *api_version;
    const char *const *arguments;   /* the command first; ends with NULL */
    const char *const *environment; /* NAME=VALUE beside what is inherited; ends with NULL */
    enum interactive_mode interactive;
    bool provides_cluster;             /* it is told which cluster it is for */
    const struct node *cluster_config; /* what the kubeconfig has for it there; NULL: nothing */
    struct text install_hint;          /* may have several lines, and no other control character */
};

/* user.exec of a kubeconfig; file is that kubeconfig, and cluster the entry it is used with. */
bool exec_plugin_read(const struct node *exec, const struct node *cluster, const char *file,
                      struct arena *arena, const struct exec_plugin **plugin,
                      struct error *error) MUST_CHECK;

/* The value of KUBERNETES_EXEC_INFO: an ExecCredential as JSON. */
bool exec_info_write(const struct exec_plugin *plugin, const struct client_config *config,
                     bool interactive, struct arena *arena, struct text *info,
                     struct error *error) MUST_CHECK;

struct exec_credential {
    struct text token, certificate_pem, key_pem;
    int64_t expires_unix_s; /* 0: it does not say */
};
/* What the plugin printed. It never appears in *error. */
bool exec_credential_read(struct text output, const struct exec_plugin *plugin, struct arena *arena,
                          struct exec_credential *credential, struct error *error) MUST_CHECK;

#endif
