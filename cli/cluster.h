/* The cluster of a command: which one it is, as kubectl finds it, and what it has. */
#ifndef TAFFRAIL_CLI_CLUSTER_H
#define TAFFRAIL_CLI_CLUSTER_H

#include "cli/cli.h"
#include "kube/manifest.h"
#include "live/client.h"

/* ---- which one ---- */

struct cluster_options {
    const char *kubeconfig, *context;
    bool in_cluster;
    const char *user, *uid;    /* whom to be taken for by the API server; NULL: nobody else */
    struct string_list groups; /* of that user */
    const char *timeout;       /* NULL: the usual ones */
    int64_t timeout_ms;        /* 0 likewise; cluster_options_check reads it */
    /* How often other options name standard input (-): then no exec plugin may read it. */
    size_t standard_input_uses;
};
/* The rows of a table of options. */
#define OPTIONS_CLUSTER(cluster)                                                    \
    OPTION_KUBECONFIG(&(cluster)->kubeconfig), OPTION_CONTEXT(&(cluster)->context), \
        OPTION_IN_CLUSTER(&(cluster)->in_cluster),                                  \
    {                                                                               \
        0, "timeout", OPTION_STRING, &(cluster)->timeout, "TIME",                   \
            "how long the cluster may take, and an exec plugin (60s)", NULL         \
    }

/* Of commands in which --as means nobody else. */
#define OPTIONS_IMPERSONATION(cluster)                                                \
    {0,                                                                               \
     "as",                                                                            \
     OPTION_STRING,                                                                   \
     &(cluster)->user,                                                                \
     "USER",                                                                          \
     "ask the API server as this user (impersonation)",                               \
     NULL},                                                                           \
        {0,           "as-group",                                                     \
         OPTION_LIST, &(cluster)->groups,                                             \
         "GROUP",     "and as a member of this group (repeats)",                      \
         NULL},                                                                       \
    {                                                                                 \
        0, "as-uid", OPTION_STRING, &(cluster)->uid, "UID", "and with this uid", NULL \
    }

/* Whether an option names a cluster. */
bool cluster_is_named(const struct cluster_options *options);
/* Whether these options and --state (NULL: not given) go together, and standard input is named once
 * at most; false with a usage error. */
bool cluster_options_check(const char *command, struct cluster_options *options,
                           const char *state_dir) MUST_CHECK;
/* Address and credentials: of --in-cluster, of --kubeconfig, of the files of $KUBECONFIG or of
 * ~/.kube/config, and else of the Pod it runs in, as kubectl does. Runs no other program. */
bool cluster_config_find(const struct cluster_options *options, struct arena *arena,
                         struct client_config *config, struct error *error) MUST_CHECK;
/* The same, with the credentials of an exec plugin where the kubeconfig names one, and as the user
 * of the options where they name one. */
bool cluster_config_read(const struct cluster_options *options, struct arena *arena,
                         struct client_config *config, struct error *error) MUST_CHECK;

/* For people: "the context prod of FILE, https://10.0.0.1:443". */
struct text cluster_title(const struct client_config *config, struct arena *arena);

/* ---- what it has ---- */

/* What a command lists beside the kinds that rails and plans look up. */
struct cluster_wish {
    /* One of these that cannot be listed is an error, of others, and of those that most clusters do
     * not have, a warning. */
    kind_set needed;
    const char *left_out; /* what becomes of a kind that cannot be: "they are not audited" */
    bool may_be_nothing;  /* it is no error when none may be listed */
};
struct listed_cluster {
    struct manifests objects; /* whole, except what only the API server reads */
    kind_set unseen;          /* kinds that may have objects and could not be listed */
    struct text title;        /* which cluster it is; "folder state" of files */
};
/* Errors are added to the problems of cluster->objects. False with *error (ERROR_CLUSTER) when
 * nothing could be listed in time. The objects live in the arena. */
bool cluster_list(const struct cluster_options *options, const struct client_config *config,
                  const struct cluster_wish *wish, struct arena *arena,
                  struct listed_cluster *cluster, struct problems *warnings,
                  struct error *error) MUST_CHECK;

#endif
