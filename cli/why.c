/* `taffrail why`: why a pod is where it is, or pending; why a Node is still there. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "cli/cluster_view.h"
#include "cli/kind_argument.h"
#include "cli/plan_settings.h"
#include "kube/manifest.h"
#include "kube/snapshot.h"
#include "report/why.h"
#include "simulation/why_node.h"
#include "simulation/why_pod.h"

struct why_options {
    struct cluster_options cluster;
    const char *namespace, *state_dir, *catalog_file;
    struct policies_of_karpenter karpenter;
    int format;
    enum kind kind;   /* of what is asked */
    struct text name; /* of the pod or the Node */
};

static const char notes[] =
    "Says of a pod where it could run and what rules out each NodePool and the nodes there are,\n"
    "the nearest first, and what would change that; of a node what it is there for, whether it\n"
    "is to go, what keeps it, and when its NodePool's budgets let it.\n"
    "  taffrail why pod web-7d4f9-x2x          in the namespace of the kubeconfig's context\n"
    "  taffrail why pod shop/web-7d4f9-x2x     in that of its name, as -n shop does\n"
    "  taffrail why pod web-0 --state DIR      in a cluster as files\n"
    "  taffrail why node ip-10-0-3-4           a Node, or a NodeClaim\n"
    "A pod that is pending is placed beside all that are, as the provisioner does it; one that\n"
    "runs is looked at as if it were to be placed anew. Nothing in the cluster is changed.\n"
    "Exit codes: 0 it fits, or runs, 1 it fits nowhere, 2 there is none of that name, or\n"
    "something could not be read or understood, 3 the cluster is not reachable. Of a node it is 0\n"
    "whatever is said of it.\n";

/* ---- what is asked ---- */

struct asked;
typedef int answer(const struct asked *asked, const struct report_style *style, struct arena *arena,
                   struct problems *problems);
static answer answer_pod, answer_node;

/* By kind; NULL: it is not asked of. */
static answer *const answers[KIND_COUNT] = {
    [KIND_POD] = answer_pod, [KIND_NODE] = answer_node, [KIND_NODE_CLAIM] = answer_node};

/* "pod NAME" or "pod/NAME"; the namespace may stand before the name. */
static bool read_operands(const struct string_list *operands, struct why_options *options,
                          struct text *namespace)
{
    struct text what = operands->count > 0 ? text_of(operands->items[0]) : TEXT("");
    if (operands->count == 2) {
        options->name = text_of(operands->items[1]);
    } else if (operands->count != 1 || !text_split(what, '/', &what, &options->name)) {
        usage_error("why", "say of what, and its name: taffrail why pod NAME");
        return false;
    }
    options->kind = kind_of_argument(what);
    if (answers[options->kind] == NULL)
        usage_error("why", "it is asked of a pod or a node, not of \"%.*s\"", TEXT_ARGS(what));
    else if (options->kind == KIND_POD)
        (void)text_split(options->name, '/', namespace, &options->name);
    return answers[options->kind] != NULL;
}

static enum options_result read_options(int argc, char **argv, struct why_options *options,
                                        struct text *namespace)
{
    const struct option_spec table[] = {
        {'n', "namespace", OPTION_STRING, &options->namespace, "NAME",
         "of the pod (the context's, or default)", NULL},
        {0, "state", OPTION_STRING, &options->state_dir, "DIR",
         "the cluster as files, instead of the one kubectl would take", NULL},
        OPTIONS_CLUSTER(&options->cluster),
        OPTIONS_IMPERSONATION(&options->cluster),
        OPTION_CATALOG(&options->catalog_file),
        OPTIONS_KARPENTER(&options->karpenter),
        {'o', "output", OPTION_CHOICE, &options->format, "FORMAT", "text or json (text)",
         report_why_format_names},
        OPTION_QUIET,
        {0},
    };
    struct string_list operands = {0};
    enum options_result result = options_read(
        argc, argv, table, "why pod|node NAME [--state DIR] [OPTIONS]", notes, &operands);
    if (result != OPTIONS_READ)
        return result;
    return read_operands(&operands, options, namespace) &&
                   cluster_options_check("why", &options->cluster, options->state_dir)
               ? OPTIONS_READ
               : OPTIONS_WRONG;
}

/* ---- the cluster ---- */

struct asked {
    const struct why_options *options;
    struct text namespace;
    const struct snapshot *snapshot;
    const struct catalog *catalog;
    kind_set seen; /* kinds of which the snapshot has every object */
};

/* False with a problem when there is no cluster to ask about. */
static bool load(struct asked *asked, struct arena *arena, struct problems *problems)
{
    const struct why_options *options = asked->options;
    bool is_live = options->state_dir == NULL;
    struct cluster_view view;
    struct error error;
    bool loaded = cluster_view_find(&options->cluster, NULL, is_live, options->namespace, arena,
                                    &view, &error) &&
                  state_load(options->state_dir, is_live ? &view.cluster.objects : NULL, NULL,
                             arena, &asked->snapshot, problems, &error) &&
                  catalog_load(options->catalog_file, arena, &asked->catalog, &error);
    if (!loaded)
        problems_add_error(problems, &error);
    asked->seen = ~view.cluster.unseen;
    if (asked->namespace.size == 0)
        asked->namespace = view.namespace;
    return loaded;
}

/* ---- the answers ---- */

/* The exit code of what could not be answered. */
static int fail(const struct error *error, struct problems *problems)
{
    problems_add_error(problems, error);
    int code = print_problems(problems, "error");
    return code > EXIT_USAGE ? code : EXIT_USAGE;
}

static int answer_pod(const struct asked *asked, const struct report_style *style,
                      struct arena *arena, struct problems *problems)
{
    const struct why_options *options = asked->options;
    const struct simulation_settings settings = {.solver = solver_settings_of(&options->karpenter)};
    struct why_pod why;
    struct error error;
    if (!why_pod(asked->snapshot, asked->catalog, &settings, asked->namespace, options->name, arena,
                 &why, problems, &error) ||
        !report_why_pod_write(options->format, &why, style, arena, stdout, &error))
        return fail(&error, problems);
    int code = print_problems(problems, "error");
    return code == EXIT_CLEAN && why.fit == WHY_FITS_NOT ? EXIT_FINDINGS : code;
}

static int answer_node(const struct asked *asked, const struct report_style *style,
                       struct arena *arena, struct problems *problems)
{
    const struct why_options *options = asked->options;
    int64_t now_unix_s = (int64_t)time(NULL);
    struct why_node why;
    struct error error;
    if (!why_node(asked->snapshot, asked->seen, options->name, now_unix_s, arena, &why, &error) ||
        !report_why_node_write(options->format, &why, now_unix_s, style, arena, stdout, &error))
        return fail(&error, problems);
    return print_problems(problems, "error");
}

static int say_why(struct arena *arena, void *argument)
{
    struct asked *asked = argument;
    struct problems problems = {.arena = arena};
    const struct report_style style = {.colour = terminal_has_colours(STDOUT_FILENO),
                                       .columns = terminal_columns(STDOUT_FILENO)};
    if (load(asked, arena, &problems))
        return answers[asked->options->kind](asked, &style, arena, &problems);
    int code = print_problems(&problems, "error");
    return code > EXIT_USAGE ? code : EXIT_USAGE;
}

int command_why(int argc, char **argv)
{
    struct why_options options = {0};
    struct asked asked = {.options = &options};
    enum options_result result = read_options(argc, argv, &options, &asked.namespace);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    return run_in_arena(say_why, &asked);
}
