/* Runs the exec plugin of a kubeconfig, the one program that a command may start. */
#ifndef TAFFRAIL_CLI_EXEC_PLUGIN_H
#define TAFFRAIL_CLI_EXEC_PLUGIN_H

#include "live/exec_credential.h"

/* Puts the plugin's credentials into *config, whose kubeconfig is not followed from here on. The
 * plugin writes to our standard error, and reads our standard input if its mode and a terminal
 * allow it. It may take limit_ms; 0: a minute, or ten where a person looks on. *error is
 * ERROR_CLUSTER: without credentials the cluster cannot be reached. */
bool exec_plugin_run(struct client_config *config, int64_t limit_ms, bool standard_input_is_free,
                     struct arena *arena, struct error *error) MUST_CHECK;

#endif
