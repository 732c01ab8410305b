/* `serve --manage-webhooks` and `--write-reports`: the places of the certificate's Secret, the
 * Lease and the webhook configurations, and contradictions between options. */
#include <string.h>

#include "cli/serve.h"
#include "kube/time.h"
#include "live/client.h"

enum { LOOPBACK_NAMES = 3 };

static bool is_name(struct text name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
    for (size_t i = 0; i < name.size; i++)
        if (strchr(allowed, name.data[i]) == NULL)
            return false;
    return name.size > 0 && name.size <= 253;
}

static bool wrong(struct error *error, const char *option, const char *value, const char *what)
{
    return error_set(error, ERROR_USAGE, NOWHERE, "--%s is \"%.100s\": %s", option, value, what);
}

/* NAMESPACE/NAME, or NAME in the given namespace. */
static bool read_place(const char *option, const char *given, const char *usual_namespace,
                       struct arena *arena, const char **namespace, const char **name,
                       struct error *error)
{
    struct text before = text_of(usual_namespace), after = text_of(given);
    text_split(text_of(given), '/', &before, &after);
    if (before.size == 0)
        return wrong(error, option, given,
                     "the namespace is not known outside of a cluster; give NAMESPACE/NAME");
    if (!is_name(before) || !is_name(after))
        return wrong(error, option, given,
                     "give NAMESPACE/NAME or NAME, as Kubernetes allows names");
    *namespace = arena_text(arena, before).data;
    *name = arena_text(arena, after).data;
    return true;
}

static bool read_duration(const char *option, const char *given, int64_t unit, int64_t *value,
                          struct error *error)
{
    enum { LONGEST_YEARS = 100, YEAR_S = 366 * 24 * 3600 };
    int64_t seconds;
    if (given == NULL)
        return true;
    if (!duration_parse(text_of(given), &seconds) || seconds < 1 ||
        seconds > (int64_t)LONGEST_YEARS * YEAR_S)
        return wrong(error, option, given,
                     "give a time from a second to a hundred years, as 15s, 10m or 2160h");
    *value = seconds * unit;
    return true;
}

static bool read_times(const struct manage_options *options,
                       struct webhook_manager_settings *settings, struct error *error)
{
    struct rotation_times *times = &settings->times;
    *times = rotation_times_usual;
    settings->lease_duration_ms = 15000;
    settings->renew_deadline_ms = 10000;
    settings->retry_ms = 2000;
    if (!read_duration("lease-duration", options->lease_duration, 1000,
                       &settings->lease_duration_ms, error) ||
        !read_duration("lease-renew-deadline", options->lease_renew_deadline, 1000,
                       &settings->renew_deadline_ms, error) ||
        !read_duration("lease-retry-period", options->lease_retry_period, 1000, &settings->retry_ms,
                       error) ||
        !read_duration("ca-lifetime", options->ca_lifetime, 1, &times->ca_valid_s, error) ||
        !read_duration("cert-lifetime", options->cert_lifetime, 1, &times->leaf_valid_s, error) ||
        !read_duration("bundle-settle", options->bundle_settle, 1, &times->settle_s, error))
        return false;
    if (times->ca_valid_s < 3 * times->leaf_valid_s)
        return error_set(error, ERROR_USAGE, NOWHERE,
                         "--ca-lifetime must be at least three times --cert-lifetime: the old CA "
                         "signs on while the new one becomes known");
    if (times->leaf_valid_s < 6 * times->settle_s)
        return error_set(error, ERROR_USAGE, NOWHERE,
                         "--cert-lifetime must be at least six times --bundle-settle: in the last "
                         "third of its life every replica must have the next");
    const struct lease_settings lease = {
        .duration_ms = settings->lease_duration_ms,
        .renew_deadline_ms = settings->renew_deadline_ms,
        .retry_ms = settings->retry_ms,
    };
    return lease_settings_check(&lease, error);
}

static void write_names(const char *service, const char *namespace, struct arena *arena,
                        struct cert_names *names)
{
    static const char *const addresses[] = {"127.0.0.1", "::1"};
    const char **dns = ARENA_ARRAY(arena, LOOPBACK_NAMES, const char *);
    dns[0] = arena_printf(arena, "%s.%s.svc", service, namespace).data;
    dns[1] = arena_printf(arena, "%s.cluster.local", dns[0]).data;
    dns[2] = "localhost";
    *names = (struct cert_names){dns, LOOPBACK_NAMES, addresses, COUNT_OF(addresses)};
}

bool manage_settings(const struct manage_options *options, const char *own_namespace,
                     struct arena *arena, struct webhook_manager_settings *settings,
                     struct error *error)
{
    const char *lease = options->lease == NULL ? "taffrail" : options->lease;
    const char *service = options->service == NULL ? "taffrail" : options->service;
    const char *configuration =
        options->configuration == NULL ? "taffrail" : options->configuration;
    *settings =
        (struct webhook_manager_settings){.configuration = configuration, .service = service};
    settings->namespace = own_namespace;
    if ((options->manage && !read_place("cert-secret", options->cert_secret, own_namespace, arena,
                                        &settings->namespace, &settings->secret, error)) ||
        !read_place("lease", lease, settings->namespace, arena, &settings->lease_namespace,
                    &settings->lease, error) ||
        !read_times(options, settings, error))
        return false;
    if (!is_name(text_of(configuration)))
        return wrong(error, "webhooks", configuration, "give a name, as Kubernetes allows it");
    if (!is_name(text_of(service)) || strlen(service) > 63)
        return wrong(error, "service", service,
                     "give the name of the Service that leads to this webhook");
    write_names(service, settings->namespace, arena, &settings->names);
    return true;
}

bool manage_elects(const struct manage_options *options)
{
    return options->manage || options->write_reports;
}

bool read_report_interval(const struct manage_options *options, int64_t *interval_s,
                          struct error *error)
{
    *interval_s = 3600;
    return read_duration("report-interval", options->report_interval, 1, interval_s, error);
}

const char *manage_contradiction(const struct manage_options *options, bool watches_cluster,
                                 bool has_files)
{
    bool any_detail = options->configuration != NULL || options->service != NULL ||
                      options->ca_lifetime != NULL || options->cert_lifetime != NULL ||
                      options->bundle_settle != NULL;
    bool any_lease = options->lease != NULL || options->lease_duration != NULL ||
                     options->lease_renew_deadline != NULL || options->lease_retry_period != NULL;
    if (options->manage && options->cert_secret == NULL)
        return "--manage-webhooks needs --cert-secret: the CA bundle it writes is that of the "
               "certificate there, which all replicas serve";
    if (!options->manage && options->cert_secret != NULL)
        return "--cert-secret needs --manage-webhooks: no API server would know the CA that is "
               "made there";
    if (!options->manage && any_detail)
        return "--webhooks, --service and the times of certificates are for --manage-webhooks, "
               "which is not given";
    if (!manage_elects(options) && any_lease)
        return "--lease and its times are for --manage-webhooks and --write-reports, and neither "
               "is given";
    if (!options->write_reports && options->report_interval != NULL)
        return "--report-interval is for --write-reports, which is not given";
    if (options->write_reports && !watches_cluster)
        return "--write-reports needs a cluster: --in-cluster, or --kubeconfig";
    if (options->manage && !watches_cluster)
        return "--manage-webhooks needs a cluster: --in-cluster, or --kubeconfig";
    if (options->manage && has_files)
        return "either --cert-secret, or certificates in files: --manage-webhooks would publish a "
               "CA that did not sign them";
    return NULL;
}
