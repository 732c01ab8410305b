/* What a command judges by besides its files: a cluster as it is now, the policies of its webhook,
 * the namespace of objects that name none. */
#ifndef TAFFRAIL_CLI_CLUSTER_VIEW_H
#define TAFFRAIL_CLI_CLUSTER_VIEW_H

#include "cli/cluster_policies.h"
#include "server/server.h"

struct cluster_view {
    bool is_listed;
    struct listed_cluster cluster;
    struct policy_texts policies; /* of its webhook, when they are asked for */
    struct text namespace;        /* of objects that name none */
};
/* Lists the cluster when it is wanted, when the options name one, or when the policies are those of
 * its webhook (NULL: they are not). The namespace is the one given, else that of the kubeconfig's
 * context, else "default". What cannot be listed is warned of. False with *error: usage, or the
 * cluster cannot be reached. */
bool cluster_view_find(const struct cluster_options *options,
                       const struct cluster_policies_options *policies, bool is_wanted,
                       const char *namespace, struct arena *arena, struct cluster_view *view,
                       struct error *error) MUST_CHECK;
/* Has the world hold what was found. */
void cluster_view_give(const struct cluster_view *view, struct world_options *options);

#endif
