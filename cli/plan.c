/* `taffrail plan`: what Karpenter would buy for the pending pods. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "catalog/catalog.h"
#include "cli/cluster.h"
#include "cli/plan_drill.h"
#include "cli/plan_settings.h"
#include "kube/manifest.h"
#include "kube/snapshot.h"
#include "report/report.h"
#include "simulation/drill.h"
#include "simulation/simulation.h"

struct plan_options {
    struct input_options input;
    struct cluster_options cluster;
    struct drill_options drill;
    struct string_list reservations;
    const char *namespace, *state_dir, *catalog_file, *rounds, *feature_gates;
    const char *optimize; /* NULL: not given */
    const char *optimize_time;
    struct policies_of_karpenter karpenter;
    int format, extended_resource_toleration;
};

static const char notes[] =
    "Says which nodes Karpenter would buy for the pods that are pending, which pods go to nodes\n"
    "there are, what that costs, and of a pod that fits nowhere why, with the nearest miss.\n"
    "  taffrail plan                           what is pending in the cluster kubectl would take\n"
    "  taffrail plan --context NAME            in that of another context\n"
    "  taffrail plan --state DIR               in a cluster as files\n"
    "  taffrail plan -f web.yaml               and with this change\n"
    "  taffrail plan --without-zone eu-west-1a if that zone were lost\n"
    "  taffrail plan -o html > plan.html       as a page with a picture\n"
    "A cluster is listed once, and nothing in it is changed. DIR holds what `kubectl get\n"
    "nodepools,nodes,pods,... -A -o yaml` writes: docs/guides/plan.md.\n"
    "A workload of -f or --state without pods of its own counts with those it would make. Prices\n"
    "are on-demand ones of us-east-1 unless --catalog has yours (taffrail catalog import). CPU "
    "and\n"
    "MEM are what pods ask for, of what a node has for them. --optimize alone, or =all, does all "
    "it\n"
    "can; by name:\n"
    "  joint-zones    pods that must be together go where their volumes are\n"
    "  spread-in-one  replicas that exclude each other spread over zones in one round\n"
    "  exact-limits   a NodePool's limit counts what is bought, not what might be\n"
    "  best-fit       the fullest node first, not the emptiest\n"
    "  cheapest       the cheapest plan among NodePools of equal weight\n"
    "A drill says what would become of the cluster: --without-zone, --without-pool, --sold-out\n"
    "(what runs stays) and --scale go together, and the plan is compared with the one without.\n"
    "Exit codes: 0 every pod fits, as far as can be seen, 1 some pod fits nowhere, 2 something\n"
    "could not be read or understood, 3 the cluster is not reachable.\n";

/* The admission plugin ExtendedResourceToleration adds to a Pod the tolerations of what it asks
 * for. */
static const char *const extended_resource_toleration[] = {"true", "false", NULL};
enum { NOT_ADDED = 1 };

static enum options_result read_options(int argc, char **argv, struct plan_options *options)
{
    const struct option_spec table[] = {
        {0, "state", OPTION_STRING, &options->state_dir, "DIR",
         "the cluster as files: NodePools, Nodes, Pods, volumes", NULL},
        OPTIONS_FILES(&options->input, "objects beside it, which win over it (repeats)"),
        {'n', "namespace", OPTION_STRING, &options->namespace, "NAME",
         "for objects of -f that name none (the context's, or default)", NULL},
        OPTIONS_CLUSTER(&options->cluster),
        OPTIONS_IMPERSONATION(&options->cluster),
        OPTION_CATALOG(&options->catalog_file),
        {0, "optimize", OPTION_MAYBE, &options->optimize, "NAME,...",
         "the best plan there could be, and what it saves", NULL},
        {0, "optimize-time", OPTION_STRING, &options->optimize_time, "DURATION",
         "how long to look for it (10s); what is cut short says so", NULL},
        OPTIONS_DRILL(&options->drill),
        {'o', "output", OPTION_CHOICE, &options->format, "FORMAT", "text, json, svg or html (text)",
         report_plan_format_names},
        {0, "rounds", OPTION_STRING, &options->rounds, "N",
         "rounds at most (until nothing changes)", NULL},
        OPTIONS_KARPENTER(&options->karpenter),
        {0, "extended-resource-toleration", OPTION_CHOICE, &options->extended_resource_toleration,
         "BOOL", "the API server's: true or false (true)", extended_resource_toleration},
        {0, "feature-gates", OPTION_STRING, &options->feature_gates, "GATES",
         "Karpenter's: ReservedCapacity=false buys no reserved capacity", NULL},
        {0, "reservation", OPTION_LIST, &options->reservations, "ID=N",
         "machines free in a capacity reservation (repeats)", NULL},
        OPTIONS_INPUT(&options->input),
        OPTION_ALLOW_EMPTY(&options->input),
        OPTION_QUIET,
        {0},
    };
    struct string_list operands = {0};
    enum options_result result = options_read(
        argc, argv, table, "plan [--state DIR] [-f FILE|DIR|- ...] [OPTIONS]", notes, &operands);
    if (result != OPTIONS_READ)
        return result;
    options->cluster.standard_input_uses = string_list_count(&options->input.files, "-");
    if (operands.count > 0)
        usage_error("plan", "what is \"%s\" for? manifests are given with -f", operands.items[0]);
    else if (cluster_options_check("plan", &options->cluster, options->state_dir))
        return OPTIONS_READ;
    return OPTIONS_WRONG;
}

static bool read_settings(const struct plan_options *options, struct arena *arena,
                          struct simulation_settings *settings)
{
    int64_t rounds = 0;
    if (options->rounds != NULL &&
        (!text_to_int64(text_of(options->rounds), &rounds) || rounds < 1)) {
        usage_error("plan", "--rounds is \"%s\"; it wants a whole number from 1", options->rounds);
        return false;
    }
    *settings = (struct simulation_settings){
        .max_rounds = (size_t)rounds,
        .no_extended_resource_toleration = options->extended_resource_toleration == NOT_ADDED,
        .solver = solver_settings_of(&options->karpenter),
    };
    return plan_read_reservations(&options->reservations, arena, &settings->reserved) &&
           (options->feature_gates == NULL ||
            plan_read_feature_gates(options->feature_gates, &settings->reserved));
}

/* ---- input ---- */

struct planned {
    const struct snapshot *snapshot;
    struct drill *drill; /* NULL: none */
    const struct catalog *catalog;
    struct text title; /* which cluster it is, for people */
};

/* The cluster, when it is not one of files, and the namespace its context names. */
static bool list_live(const struct plan_options *options, struct arena *arena,
                      struct listed_cluster *cluster, struct text *namespace,
                      struct problems *problems)
{
    static const struct cluster_wish wish = {.needed = KIND_BIT(KIND_POD) | KIND_BIT(KIND_NODE) |
                                                       KIND_BIT(KIND_NODE_POOL),
                                             .left_out = "the plan knows none of them"};
    struct client_config config;
    struct error error;
    struct problems warnings = {.arena = arena};
    bool listed =
        cluster_config_read(&options->cluster, arena, &config, &error) &&
        cluster_list(&options->cluster, &config, &wish, arena, cluster, &warnings, &error);
    print_problems(&warnings, "warning");
    if (!listed) {
        problems_add_error(problems, &error);
        return false;
    }
    for (size_t i = 0; i < cluster->objects.problems.count; i++)
        problems_add_error(problems, &cluster->objects.problems.items[i]);
    *namespace = config.namespace;
    cluster->title = cluster_title(&config, arena);
    return true;
}

/* What -f names. */
static void read_change(const struct plan_options *options, struct text namespace,
                        struct arena *arena, struct manifests *change)
{
    input_begin(change, &options->input, arena);
    input_read(change, &options->input, namespace);
    input_say(change);
    input_drop_fragments(change);
}

/* False when there is nothing to plan with; broken parts of a file are left out. */
static bool load(const struct plan_options *options, struct arena *arena, struct planned *planned,
                 struct problems *problems)
{
    struct error error;
    struct manifests change;
    struct listed_cluster cluster = {0};
    struct text namespace = TEXT("");
    if (options->state_dir == NULL && !list_live(options, arena, &cluster, &namespace, problems))
        return false;
    planned->title = options->state_dir == NULL
                         ? cluster.title
                         : arena_printf(arena, "folder %s", options->state_dir);
    struct text own = options->namespace != NULL ? text_of(options->namespace)
                      : namespace.size > 0       ? namespace
                                                 : TEXT("default");
    if (planned->drill != NULL)
        planned->drill->namespace = own;
    read_change(options, own, arena, &change);
    bool loaded = state_load(options->state_dir, &cluster.objects, &change, arena,
                             &planned->snapshot, problems, &error);
    if (!loaded)
        problems_add_error(problems, &error);
    for (size_t i = 0; i < change.problems.count; i++)
        problems_add_error(problems, &change.problems.items[i]);
    if (!catalog_load(options->catalog_file, arena, &planned->catalog, &error)) {
        problems_add_error(problems, &error);
        loaded = false;
    }
    return loaded;
}

/* ---- simulations ---- */

static bool is_among(const struct problems *problems, const struct error *error)
{
    for (size_t i = 0; i < problems->count; i++)
        if (strcmp(problems->items[i].what, error->what) == 0)
            return true;
    return false;
}

/* Of a simulation that failed: adds what the one before has not said. Returns false. */
static bool add_new_problems(const struct problems *again, struct problems *problems)
{
    for (size_t i = 0; i < again->count; i++)
        if (!is_among(problems, &again->items[i]))
            problems_add_error(problems, &again->items[i]);
    return false;
}

static bool run_simulation(const struct planned *planned,
                           const struct simulation_settings *settings, struct arena *arena,
                           struct simulation *simulation, struct problems *problems)
{
    struct error error;
    if (simulation_run(planned->snapshot, planned->catalog, settings, arena, simulation, problems,
                       &error))
        return true;
    if (!is_among(problems, &error))
        problems_add_error(problems, &error);
    return false;
}

/* Ends the search for a better plan. */
static bool is_late(void *deadline_ms)
{
    return monotonic_ms() >= *(const int64_t *)deadline_ms;
}

/* Karpenter's plan, and with --optimize the better one, too; and what is shown without a drill. */
struct simulations {
    struct simulation compat, best, without;
};

/* Adds Karpenter's plan of the cluster as it is to what a drill did. */
static bool add_plan_without(const struct planned *planned, struct simulation_settings settings,
                             struct arena *arena, struct simulations *simulations,
                             struct problems *problems)
{
    struct drilled *drilled = simulations->compat.drilled;
    settings.drill = NULL;
    if (drilled == NULL)
        return true;
    drilled->without = &simulations->without;
    struct problems again = {.arena = arena};
    return run_simulation(planned, &settings, arena, &simulations->without, &again) ||
           add_new_problems(&again, problems);
}

static bool run_simulations(const struct planned *planned, struct simulation_settings settings,
                            const struct plan_optimize *optimize, struct arena *arena,
                            struct simulations *simulations, struct problems *problems)
{
    settings.drill = planned->drill;
    if (!run_simulation(planned, &settings, arena, &simulations->compat, problems) ||
        !add_plan_without(planned, settings, arena, simulations, problems))
        return false;
    if (optimize == NULL)
        return true;
    int64_t deadline_ms = monotonic_ms() + 1000 * optimize->time_s;
    settings.solver.optimize = optimize->what;
    settings.solver.patience = (struct solver_patience){is_late, &deadline_ms};
    /* These problems were printed before. */
    struct problems again = {.arena = arena};
    if (run_simulation(planned, &settings, arena, &simulations->best, &again)) {
        simulations->best.incomplete = simulations->compat.incomplete;
        if (simulations->best.drilled != NULL)
            simulations->best.drilled->without = &simulations->without;
        return true;
    }
    return add_new_problems(&again, problems);
}

static int plan(struct arena *arena, void *argument)
{
    const struct plan_options *options = argument;
    struct simulation_settings settings;
    struct plan_optimize optimize;
    if (!read_settings(options, arena, &settings) ||
        !plan_read_optimize(options->optimize, options->optimize_time, &optimize))
        return EXIT_USAGE;
    struct problems problems = {.arena = arena};
    struct planned planned;
    struct simulations simulations;
    if (!plan_read_drill(&options->drill, arena, &planned.drill))
        return EXIT_USAGE;
    bool done = load(options, arena, &planned, &problems) &&
                run_simulations(&planned, settings, options->optimize != NULL ? &optimize : NULL,
                                arena, &simulations, &problems);
    int code = print_problems(&problems, "error");
    if (!done)
        return code > EXIT_USAGE ? code : EXIT_USAGE;

    bool optimized = options->optimize != NULL;
    const struct simulation *shown = optimized ? &simulations.best : &simulations.compat;
    const struct simulation *compat = optimized ? &simulations.compat : NULL;
    const struct report_about about = {.cluster = planned.title, .at_unix_s = (int64_t)time(NULL)};
    struct report_style style = {.colour = terminal_has_colours(STDOUT_FILENO),
                                 .columns = terminal_columns(STDOUT_FILENO),
                                 .about = &about};
    struct error error;
    if (!report_plan_write(options->format, shown, compat, &style, arena, stdout, &error)) {
        fprintf(stderr, "error: %s\n", error.what);
        return EXIT_USAGE;
    }
    if (code == EXIT_CLEAN && shown->unschedulable_count > 0)
        code = EXIT_FINDINGS;
    return code;
}

int command_plan(int argc, char **argv)
{
    struct plan_options options = {0};
    enum options_result result = read_options(argc, argv, &options);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    return run_in_arena(plan, &options);
}
