/* What the files serve*.c share. */
#ifndef TAFFRAIL_CLI_SERVE_H
#define TAFFRAIL_CLI_SERVE_H

#include "server/server.h"

/* The options; NULL: not given. */
struct manage_options {
    bool manage;
    const char *cert_secret, *configuration, *service; /* the last two have defaults */
    const char *lease, *lease_duration, *lease_renew_deadline, *lease_retry_period;
    const char *ca_lifetime, *cert_lifetime, *bundle_settle;
    bool write_reports;
    const char *report_interval;
};

/* The contradiction between the options, in words; NULL: none. */
const char *manage_contradiction(const struct manage_options *options, bool watches_cluster,
                                 bool has_files);
/* own_namespace: of the Pod or of the kubeconfig's context; "" when unknown. */
bool manage_settings(const struct manage_options *options, const char *own_namespace,
                     struct arena *arena, struct webhook_manager_settings *settings,
                     struct error *error) MUST_CHECK;
bool read_report_interval(const struct manage_options *options, int64_t *interval_s,
                          struct error *error) MUST_CHECK;
/* Whether replicas elect one of them, which has duties. */
bool manage_elects(const struct manage_options *options);

#endif
