/* `taffrail audit`: existing objects that break a rail. */
#include "cli/audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/cluster_policies.h"
#include "cli/comparison.h"
#include "server/server.h"

static const char *const fail_on_names[] = {"deny", "warn", "never", NULL};
enum fail_on { FAIL_ON_DENY, FAIL_ON_WARN, FAIL_ON_NEVER };

struct audit_options {
    struct input_options input;
    struct string_list policies;
    struct string_list old; /* of --compare */
    struct cluster_options cluster;
    struct cluster_policies_options cluster_policies;
    const char *namespace, *state_dir, *catalog_file;
    int format, fail_on;
    /* What they lead to. */
    struct client_config config;
    struct policy_texts texts; /* policies of the cluster */
};

static const char notes[] =
    "Judges what is there as if it were created now, and tells what of it breaks a rail: also "
    "what\n"
    "was let through while the webhook could not be reached. What is wrong in the template of a\n"
    "Deployment is said once, of the Deployment. Objects older than a rail's \"since\" are warned "
    "of\n"
    "at most. What is being deleted, and Pods and Jobs that have ended, are left out.\n"
    "The cluster is the one kubectl would take: $KUBECONFIG, ~/.kube/config, or the Pod's own. It\n"
    "is listed once, and nothing in it is changed.\n";

static enum options_result check_options(struct audit_options *options)
{
    if (options->old.count > 0 && options->format > 1) {
        usage_error("audit", "--compare prints text or json");
        return OPTIONS_WRONG;
    }
    if (options->old.count > 0 && options->policies.count == 0) {
        usage_error("audit", "--compare OLD wants the new policies, too: audit --compare OLD NEW");
        return OPTIONS_WRONG;
    }
    if (string_list_count(&options->policies, "-") + string_list_count(&options->old, "-") > 0) {
        usage_error("audit", "policies of standard input (-) cannot be read again once the cluster "
                             "is seen; give a file or a folder");
        return OPTIONS_WRONG;
    }
    if (!cluster_policies_check("audit", &options->cluster_policies, &options->policies))
        return OPTIONS_WRONG;
    if (options->state_dir != NULL && options->cluster_policies.from_cluster) {
        usage_error("audit", "either --state, or --from-cluster, which audits the cluster itself");
        return OPTIONS_WRONG;
    }
    return cluster_options_check("audit", &options->cluster, options->state_dir) ? OPTIONS_READ
                                                                                 : OPTIONS_WRONG;
}

static enum options_result refuse_operand(const struct string_list *operands)
{
    usage_error("audit", "what is \"%s\" for? policies are given with -p", operands->items[0]);
    return OPTIONS_WRONG;
}

static enum options_result read_options(int argc, char **argv, struct audit_options *options)
{
    const struct option_spec table[] = {
        OPTION_POLICIES(&options->policies),
        OPTIONS_CLUSTER_POLICIES(&options->cluster_policies),
        {0, "compare", OPTION_LIST, &options->old, "OLD",
         "the policies until now: say who is newly denied or freed by NEW, or by -p (repeats)",
         NULL},
        {0, "state", OPTION_STRING, &options->state_dir, "DIR",
         "a cluster as files: what kubectl get -o yaml wrote", NULL},
        OPTIONS_CLUSTER(&options->cluster),
        OPTIONS_IMPERSONATION(&options->cluster),
        {'n', "namespace", OPTION_STRING, &options->namespace, "NAME",
         "report only what is in this namespace", NULL},
        OPTION_CATALOG(&options->catalog_file),
        OPTIONS_INPUT(&options->input),
        {'o', "output", OPTION_CHOICE, &options->format, "FORMAT",
         "text, json, sarif, openreports or html (text)", report_audit_format_names},
        {0, "fail-on", OPTION_CHOICE, &options->fail_on, "deny|warn|never",
         "which findings give exit code 1 (deny)", fail_on_names},
        OPTION_QUIET,
        {0},
    };
    struct string_list operands = {0};
    enum options_result result = options_read(
        argc, argv, table, "audit -p POLICY|--from-cluster|--compare OLD NEW [OPTIONS]", notes,
        &operands);
    if (result != OPTIONS_READ)
        return result;
    if (options->old.count > 0 && options->policies.count == 0)
        options->policies = operands;
    else if (operands.count > 0)
        return refuse_operand(&operands);
    return check_options(options);
}

/* ---- the cluster ---- */

static bool read_state(const struct audit_options *options, struct arena *arena,
                       struct listed_cluster *cluster, struct error *error)
{
    const char *folder = options->state_dir;
    if (!path_is_folder(folder))
        return error_set(error, ERROR_IO, (struct place){folder, 0, 0},
                         access(folder, F_OK) == 0
                             ? "--state wants a folder of manifests, and this is none"
                             : "there is no such folder to be read as the cluster's state");
    cluster->title = arena_printf(arena, "folder %s", folder);
    input_begin(&cluster->objects, &options->input, arena);
    cluster->objects.keep_unknown = true;
    cluster->objects.allow_empty = true;
    manifests_read(&cluster->objects, folder, TEXT("default"));
    input_say(&cluster->objects);
    input_drop_fragments(&cluster->objects);
    return true;
}

/* The client lists only known kinds; others can only be audited as files. */
static void warn_of_custom(const struct policy_set *policies, struct arena *arena,
                           struct problems *warnings)
{
    struct custom_resources resources = {0};
    policy_set_custom_resources(policies, arena, &resources);
    for (size_t i = 0; i < resources.count; i++)
        problems_add(warnings, ERROR_POLICY, NOWHERE,
                     "%.*s.%.*s are not listed: their pod templates are audited with --state only, "
                     "and of a live cluster the Pods made of them",
                     TEXT_ARGS(resources.items[i].plural), TEXT_ARGS(resources.items[i].group));
}

static bool list_live(const struct audit_options *options, const struct policy_set *policies,
                      kind_set judged, struct arena *arena, struct listed_cluster *cluster,
                      struct problems *warnings, struct error *error)
{
    const struct cluster_wish wish = {.needed = judged, .left_out = "they are not audited"};
    warn_of_custom(policies, arena, warnings);
    if (!cluster_list(&options->cluster, &options->config, &wish, arena, cluster, warnings, error))
        return false;
    cluster->title = cluster_title(&options->config, arena);
    return true;
}

/* Finds the way to a cluster that is listed, and the policies that are there. */
static bool reach(struct audit_options *options, struct arena *arena, struct error *error)
{
    return options->state_dir != NULL ||
           (cluster_config_read(&options->cluster, arena, &options->config, error) &&
            (!options->cluster_policies.from_cluster ||
             cluster_policies_read(&options->cluster_policies, &options->cluster, &options->config,
                                   arena, &options->texts, error)));
}

/* ---- the audit ---- */

static const struct object *const *find_custom(const struct manifests *objects,
                                               const struct policy_set *policies,
                                               struct arena *arena, size_t *count)
{
    const struct object **custom = ARENA_ARRAY(arena, objects->count, const struct object *);
    *count = 0;
    for (size_t i = 0; i < objects->count; i++)
        if (objects->items[i].kind == KIND_UNKNOWN &&
            policy_set_has_templates(policies, &objects->items[i]))
            custom[(*count)++] = &objects->items[i];
    return custom;
}

static size_t count_unknown(const struct manifests *objects)
{
    size_t count = 0;
    for (size_t i = 0; i < objects->count; i++)
        count += objects->items[i].kind == KIND_UNKNOWN;
    return count;
}

static int exit_code_of(const struct report *report, int fail_on)
{
    struct report_summary summary = report_summarize(report);
    int code = EXIT_CLEAN;
    for (size_t i = 0; i < report->errors->count; i++) {
        int of_error = error_exit_code(report->errors->items[i].kind);
        code = of_error > code ? of_error : code;
    }
    bool failed = summary.denied > 0 || (fail_on == FAIL_ON_WARN && summary.warned > 0);
    if (code == EXIT_CLEAN && fail_on != FAIL_ON_NEVER && failed)
        code = EXIT_FINDINGS;
    return code;
}

static int print_report(const struct report *report, const struct report_about *about,
                        const struct audit_options *options, struct arena *arena)
{
    struct report_style style = {.colour = terminal_has_colours(STDOUT_FILENO),
                                 .columns = terminal_columns(STDOUT_FILENO),
                                 .warnings_fail = options->fail_on == FAIL_ON_WARN,
                                 .about = about};
    struct error error;
    if (!report_audit_holds_errors(options->format))
        print_problems(report->errors, "error");
    if (report_audit_write(options->format, report, &style, arena, stdout, &error))
        return EXIT_CLEAN;
    fprintf(stderr, "error: %s\n", error.what);
    return EXIT_USAGE;
}

static struct report judge(const struct audit_options *options, struct world *world,
                           const struct listed_cluster *cluster, int64_t now_unix_s,
                           struct arena *arena, struct problems *problems)
{
    const struct manifests *objects = &cluster->objects;
    size_t custom_count = 0;
    const struct object *const *custom =
        find_custom(objects, world->policies, arena, &custom_count);
    struct report report = {
        .skipped = objects->skipped + count_unknown(objects) - custom_count,
        .skipped_files = objects->skipped_files,
        .ignored = objects->ignored,
        .errors = problems,
    };
    world->of_cluster = options->state_dir == NULL;
    world->unseen = cluster->unseen;
    audit_judge(world, custom, custom_count, text_of(options->namespace), now_unix_s, arena,
                &report, problems);
    return report;
}

/* Called for the policies alone, which decide what to list, and with the cluster's objects. */
static bool load_world(const struct audit_options *options, const struct string_list *policies,
                       const struct manifests *objects, int64_t now_unix_s, struct world **world,
                       struct problems *errors, struct problems *warnings)
{
    bool of_cluster = policies == &options->policies; /* and not those before */
    const struct world_options world_options = {
        .policy_paths = policies->items,
        .policy_path_count = policies->count,
        .policy_texts = options->texts.items,
        .policy_text_count = of_cluster ? options->texts.count : 0,
        .catalog_file = options->catalog_file,
        .change = objects,
    };
    return world_load(&world_options, 1, now_unix_s, world, errors, warnings);
}

/* Reads the cluster, as far as the policies judge it. */
static bool see(const struct audit_options *options, int64_t now_unix_s, struct arena *arena,
                struct listed_cluster *cluster, int *code)
{
    struct problems errors = {.arena = arena}, warnings = {.arena = arena};
    struct world *world = NULL, *old = NULL;
    struct error error;
    bool loaded =
        load_world(options, &options->policies, NULL, now_unix_s, &world, &errors, &warnings);
    if (options->old.count > 0)
        loaded = load_world(options, &options->old, NULL, now_unix_s, &old, &errors, &warnings) &&
                 loaded;
    bool seen = loaded;
    if (loaded && options->state_dir != NULL)
        seen = read_state(options, arena, cluster, &error);
    else if (loaded)
        seen = list_live(options, world->policies,
                         policy_set_judged_kinds(world->policies) |
                             (old == NULL ? 0 : policy_set_judged_kinds(old->policies)),
                         arena, cluster, &warnings, &error);
    world_destroy(world);
    world_destroy(old);
    print_problems(&warnings, "warning");
    if (!seen)
        *code = loaded ? print_error(&error) : print_problems(&errors, "error");
    return seen;
}

static int audit_one(const struct audit_options *options, const struct listed_cluster *cluster,
                     int64_t now_unix_s, struct arena *arena)
{
    struct problems errors = {.arena = arena}, told = {.arena = arena};
    struct problems problems = cluster->objects.problems;
    struct world *world = NULL;
    if (!load_world(options, &options->policies, &cluster->objects, now_unix_s, &world, &errors,
                    &told))
        return print_problems(&errors, "error");
    struct report report = judge(options, world, cluster, now_unix_s, arena, &problems);
    const struct report_about about = {
        .cluster = cluster->title,
        .policies = options->cluster_policies.from_cluster
                        ? TEXT("those of the cluster")
                        : strings_joined(&options->policies, arena),
        .at_unix_s = now_unix_s,
    };
    int written = print_report(&report, &about, options, arena);
    int code = exit_code_of(&report, options->fail_on);
    world_destroy(world);
    return written > code ? written : code;
}

/* The differences that fail, by --fail-on. */
static const unsigned failing[] = {
    [FAIL_ON_DENY] = 1U << DIFFERENCE_DENIED,
    [FAIL_ON_WARN] = 1U << DIFFERENCE_DENIED | 1U << DIFFERENCE_WARNED,
    [FAIL_ON_NEVER] = 0,
};

static int audit_both(const struct audit_options *options, const struct listed_cluster *cluster,
                      int64_t now_unix_s, struct arena *arena)
{
    struct problems errors = {.arena = arena}, told = {.arena = arena};
    struct problems problems = cluster->objects.problems;
    struct audit_side before = {0}, after = {0};
    bool loaded = load_world(options, &options->old, &cluster->objects, now_unix_s, &before.world,
                             &errors, &told) &&
                  load_world(options, &options->policies, &cluster->objects, now_unix_s,
                             &after.world, &errors, &told);
    int code = EXIT_CLEAN;
    if (loaded) {
        struct problems twice = {.arena = arena}; /* the same as of the new policies */
        before.report = judge(options, before.world, cluster, now_unix_s, arena, &twice);
        after.report = judge(options, after.world, cluster, now_unix_s, arena, &problems);
        struct comparison comparison = {.schema = "taffrail.dev/audit-compare/v1",
                                        .unit = "object",
                                        .before = strings_joined(&options->old, arena),
                                        .after = strings_joined(&options->policies, arena),
                                        .errors = &problems};
        struct comparison_count undecided = {"undecided", "undecided", 0};
        audit_compare(&before, &after, arena, &comparison, &undecided.count);
        comparison.counts = &undecided;
        comparison.count_count = 1;
        code = print_comparison(&comparison, options->format, failing[options->fail_on], arena);
    } else {
        code = print_problems(&errors, "error");
    }
    world_destroy(before.world);
    world_destroy(after.world);
    return code;
}

static int audit(struct arena *arena, void *argument)
{
    struct audit_options *options = argument;
    int64_t now_unix_s = (int64_t)time(NULL);
    struct listed_cluster cluster = {0};
    struct error error;
    int code = EXIT_CLEAN;
    if (!reach(options, arena, &error))
        return print_error(&error);
    if (!see(options, now_unix_s, arena, &cluster, &code))
        return code;
    return options->old.count > 0 ? audit_both(options, &cluster, now_unix_s, arena)
                                  : audit_one(options, &cluster, now_unix_s, arena);
}

int command_audit(int argc, char **argv)
{
    struct audit_options options = {0};
    enum options_result result = read_options(argc, argv, &options);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    return run_in_arena(audit, &options);
}
