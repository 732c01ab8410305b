/* The policies that a cluster's webhook holds, for commands that are to say what it would say. */
#ifndef TAFFRAIL_CLI_CLUSTER_POLICIES_H
#define TAFFRAIL_CLI_CLUSTER_POLICIES_H

#include "cli/cluster.h"
#include "policy/policy.h"

struct cluster_policies_options {
    bool from_cluster;
    const char *namespace, *selector; /* NULL: the usual namespace, and no selector */
    struct string_list config_maps;   /* none: the usual one, unless there is a selector */
};
#define OPTIONS_CLUSTER_POLICIES(options)                                          \
    {0,           "from-cluster",                                                  \
     OPTION_FLAG, &(options)->from_cluster,                                        \
     NULL,        "the policies of the cluster's webhook, and the cluster itself", \
     NULL},                                                                        \
        {0,                                                                        \
         "policy-namespace",                                                       \
         OPTION_STRING,                                                            \
         &(options)->namespace,                                                    \
         "NAME",                                                                   \
         "where --from-cluster finds them (taffrail)",                             \
         NULL},                                                                    \
        {0,           "policy-configmap",                                          \
         OPTION_LIST, &(options)->config_maps,                                     \
         "NAME",      "a ConfigMap of policy files (taffrail-policies; repeats)",  \
         NULL},                                                                    \
    {                                                                              \
        0, "policy-selector", OPTION_STRING, &(options)->selector, "LABELS",       \
            "all ConfigMaps with these labels", NULL                               \
    }

/* Whether there are policies, from files (-p) or from the cluster; false with a usage error. */
bool cluster_policies_check(const char *command, const struct cluster_policies_options *options,
                            const struct string_list *files) MUST_CHECK;

struct policy_texts {
    struct policy_text *items;
    size_t count, capacity;
};
/* *error is ERROR_CLUSTER when the cluster did not answer, or knows nobody by these credentials. */
bool cluster_policies_read(const struct cluster_policies_options *options,
                           const struct cluster_options *cluster,
                           const struct client_config *config, struct arena *arena,
                           struct policy_texts *texts, struct error *error) MUST_CHECK;

#endif
