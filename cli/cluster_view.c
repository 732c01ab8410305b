/* Finds the cluster that a command judges by. */
#include "cli/cluster_view.h"

/* No kind is needed: who may not list some is told once what is not decided. */
static const struct cluster_wish wish = {.may_be_nothing = true};

bool cluster_view_find(const struct cluster_options *options,
                       const struct cluster_policies_options *policies, bool is_wanted,
                       const char *namespace, struct arena *arena, struct cluster_view *view,
                       struct error *error)
{
    bool from_cluster = policies != NULL && policies->from_cluster;
    struct client_config config = {0};
    struct problems warnings = {.arena = arena};
    *view =
        (struct cluster_view){.is_listed = is_wanted || from_cluster || cluster_is_named(options)};
    bool found = !view->is_listed ||
                 (cluster_config_read(options, arena, &config, error) &&
                  (!from_cluster || cluster_policies_read(policies, options, &config, arena,
                                                          &view->policies, error)) &&
                  cluster_list(options, &config, &wish, arena, &view->cluster, &warnings, error));
    print_problems(&warnings, "warning");
    print_problems(&view->cluster.objects.problems, "warning");
    view->namespace = namespace != NULL                    ? text_of(namespace)
                      : found && config.namespace.size > 0 ? config.namespace
                                                           : TEXT("default");
    return found;
}

void cluster_view_give(const struct cluster_view *view, struct world_options *options)
{
    options->policy_texts = view->policies.items;
    options->policy_text_count = view->policies.count;
    options->listed = view->is_listed ? &view->cluster.objects : NULL;
    options->unseen = view->cluster.unseen;
}
