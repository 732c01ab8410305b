/* `taffrail check`: judges manifests before they are pushed. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/cluster_view.h"
#include "kube/manifest.h"
#include "kube/whole.h"
#include "report/report.h"
#include "server/server.h"

static const char *const fail_on_names[] = {"deny", "warn", "never", NULL};
enum fail_on { FAIL_ON_DENY, FAIL_ON_WARN, FAIL_ON_NEVER };

struct check_options {
    struct input_options input;
    struct cluster_options cluster;
    struct cluster_policies_options cluster_policies;
    struct string_list policies, groups;
    const char *namespace, *user, *state_dir, *catalog_file;
    int format, fail_on;
};

static const char notes[] =
    "Judges as if the objects were created by --as. A FILE is a file, a folder, an address "
    "(https://...)\n"
    "or - for standard input: YAML or JSON, many documents, Lists, AdmissionReviews, the output of "
    "kubectl get.\n"
    "What -f names is judged as one change: its objects see each other beside --state. Files that\n"
    "hold no Kubernetes object, kinds that no policy handles, parts of objects (kustomize "
    "patches)\n"
    "and Pods that are on a node are passed over and counted. A folder may have a "
    ".taffrailignore.\n"
    "Of charts: helm template . | taffrail check -p POLICY -f -\n"
    "--from-cluster judges by the policies that the cluster's webhook has, and looks at the "
    "cluster\n"
    "as --context and --kubeconfig do, as far as you may; the cluster is the one kubectl would "
    "take.\n"
    "--as is who is judged; whom the API server takes you for, your kubeconfig says.\n";

static enum options_result read_options(int argc, char **argv, struct check_options *options)
{
    const struct option_spec table[] = {
        OPTION_POLICIES(&options->policies),
        OPTIONS_CLUSTER_POLICIES(&options->cluster_policies),
        OPTIONS_FILES(&options->input, "what to judge (repeats)"),
        {'n', "namespace", OPTION_STRING, &options->namespace, "NAME",
         "for objects that name none (the context's, or default)", NULL},
        {0, "as", OPTION_STRING, &options->user, "USER", "who asks (a person in no group)", NULL},
        {0, "as-group", OPTION_LIST, &options->groups, "GROUP", "a group of theirs (repeats)",
         NULL},
        {'o', "output", OPTION_CHOICE, &options->format, "FORMAT",
         "text, json, junit, sarif or github (text)", report_format_names},
        {0, "fail-on", OPTION_CHOICE, &options->fail_on, "deny|warn|never",
         "which findings give exit code 1 (deny)", fail_on_names},
        {0, "state", OPTION_STRING, &options->state_dir, "DIR",
         "a cluster as files: NodePools, Nodes, owners", NULL},
        OPTIONS_CLUSTER(&options->cluster),
        OPTION_CATALOG(&options->catalog_file),
        OPTIONS_INPUT(&options->input),
        OPTION_ALLOW_EMPTY(&options->input),
        OPTION_QUIET,
        {0},
    };
    struct string_list operands = {0};
    enum options_result result = options_read(
        argc, argv, table, "check -p POLICY|--from-cluster -f FILE|DIR|- ... [OPTIONS]", notes,
        &operands);
    if (result != OPTIONS_READ)
        return result;
    options->cluster.standard_input_uses =
        string_list_count(&options->input.files, "-") + string_list_count(&options->policies, "-");
    if (operands.count > 0)
        usage_error("check", "what is \"%s\" for? manifests are given with -f", operands.items[0]);
    else if (!cluster_policies_check("check", &options->cluster_policies, &options->policies))
        return OPTIONS_WRONG;
    else if (options->input.files.count == 0)
        usage_error("check", "nothing to judge is given (-f FILE, or -f - for standard input)");
    else if (options->state_dir != NULL && options->cluster_policies.from_cluster)
        usage_error("check",
                    "either --state, or --from-cluster, which looks at the cluster itself");
    else if (cluster_options_check("check", &options->cluster, options->state_dir))
        return OPTIONS_READ;
    return OPTIONS_WRONG;
}

/* An object that no policy handles is not part of the report, nor is a Pod that the API server has
 * already. The number of such Pods is returned. */
static size_t skip_others(struct manifests *manifests, const struct policy_set *policies)
{
    size_t kept = 0, bound = 0;
    for (size_t i = 0; i < manifests->count; i++) {
        const struct object *object = &manifests->items[i];
        if (object->kind == KIND_UNKNOWN && !policy_set_has_templates(policies, object))
            manifests->skipped++;
        else if (object_is_stored_pod(object))
            bound++;
        else
            manifests->items[kept++] = *object;
    }
    manifests->count = kept;
    if (bound > 0)
        say_note("passed over %s %zu Pod%s of a cluster, on a node or being deleted; taffrail "
                 "audit judges what runs",
                 bound == 1 ? "is" : "are", bound, bound == 1 ? "" : "s");
    return bound;
}

static struct report_entry *judge_all(const struct check_options *options,
                                      const struct manifests *manifests, const struct world *world,
                                      int64_t now_unix_s, struct arena *arena)
{
    struct text *groups = ARENA_ARRAY(arena, options->groups.count, struct text);
    for (size_t i = 0; i < options->groups.count; i++)
        groups[i] = text_of(options->groups.items[i]);
    struct report_entry *entries = ARENA_ARRAY(arena, manifests->count, struct report_entry);
    for (size_t i = 0; i < manifests->count; i++) {
        struct subject subject = {
            .operation = OPERATION_CREATE,
            .object = &manifests->items[i],
            .requester = {text_of(options->user), groups, options->groups.count},
        };
        entries[i].object = &manifests->items[i];
        policy_evaluate(world, &subject, now_unix_s, arena, &entries[i].verdict);
    }
    return entries;
}

static int exit_code_of(const struct report *report, int fail_on)
{
    struct report_summary summary = report_summarize(report);
    if (summary.errors > 0)
        return EXIT_USAGE;
    if (fail_on == FAIL_ON_NEVER)
        return EXIT_CLEAN;
    bool failed = summary.denied > 0 || (fail_on == FAIL_ON_WARN && summary.warned > 0);
    return failed ? EXIT_FINDINGS : EXIT_CLEAN;
}

static int print_report(const struct report *report, const struct check_options *options,
                        struct arena *arena)
{
    struct report_style style = {.colour = terminal_has_colours(STDOUT_FILENO),
                                 .columns = terminal_columns(STDOUT_FILENO),
                                 .warnings_fail = options->fail_on == FAIL_ON_WARN};
    struct error error;
    if (!report_holds_errors(options->format))
        print_problems(report->errors, "error");
    if (report_write(options->format, report, &style, arena, stdout, &error))
        return EXIT_CLEAN;
    fprintf(stderr, "error: %s\n", error.what);
    return EXIT_USAGE;
}

/* A server goes on when a file of its state is broken. A check with such a file did not see
 * everything it should. */
static void take_input_errors(struct problems *warnings, struct problems *errors)
{
    size_t kept = 0;
    for (size_t i = 0; i < warnings->count; i++) {
        if (world_warning_is_hole(&warnings->items[i]))
            problems_add_error(errors, &warnings->items[i]);
        else
            warnings->items[kept++] = warnings->items[i];
    }
    warnings->count = kept;
}

static size_t read_files(const struct check_options *options, struct text namespace,
                         struct arena *arena, struct manifests *manifests)
{
    input_begin(manifests, &options->input, arena);
    manifests->keep_unknown = true;
    input_read(manifests, &options->input, namespace);
    input_say(manifests);
    return input_drop_fragments(manifests);
}

static int check(struct arena *arena, void *argument)
{
    const struct check_options *options = argument;
    int64_t now_unix_s = (int64_t)time(NULL);
    struct cluster_view view;
    struct manifests manifests;
    struct error error;
    if (!cluster_view_find(&options->cluster, &options->cluster_policies, false, options->namespace,
                           arena, &view, &error))
        return print_error(&error);
    size_t fragments = read_files(options, view.namespace, arena, &manifests);

    struct world_options world_options = {
        .policy_paths = options->policies.items,
        .policy_path_count = options->policies.count,
        .state_dir = options->state_dir,
        .catalog_file = options->catalog_file,
        .change = &manifests,
    };
    cluster_view_give(&view, &world_options);
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    struct world *world = NULL;
    bool loaded = world_load(&world_options, 1, now_unix_s, &world, &errors, &warnings);
    take_input_errors(&warnings, &manifests.problems);
    print_problems(&warnings, "warning");
    if (!loaded) {
        print_problems(&manifests.problems, "error");
        return print_problems(&errors, "error");
    }
    size_t bound_pods = skip_others(&manifests, world->policies);
    struct report report = {
        .entries = judge_all(options, &manifests, world, now_unix_s, arena),
        .entry_count = manifests.count,
        .skipped = manifests.skipped,
        .skipped_files = manifests.skipped_files,
        .ignored = manifests.ignored,
        .fragments = fragments,
        .bound_pods = bound_pods,
        .errors = &manifests.problems,
    };
    int written = print_report(&report, options, arena);
    int code = exit_code_of(&report, options->fail_on);
    world_destroy(world);
    return written > code ? written : code;
}

int command_check(int argc, char **argv)
{
    struct check_options options = {.user = ""};
    enum options_result result = read_options(argc, argv, &options);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    return run_in_arena(check, &options);
}
