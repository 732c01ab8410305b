/* `taffrail policy explain`: what holds for an object, and from which file and line. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cluster_view.h"
#include "cli/kind_argument.h"
#include "kube/manifest.h"
#include "kube/snapshot.h"
#include "report/holding.h"
#include "server/server.h"

struct policy_options {
    struct input_options input;
    struct cluster_options cluster;
    struct cluster_policies_options cluster_policies;
    struct string_list policies, groups, named;
    const char *namespace, *user, *state_dir, *catalog_file;
    int format;
};

static const char notes[] =
    "Says for each policy whether it is for the object, and for each of its rails how strict it "
    "is\n"
    "here: the mode, the override, `since` and the exception that decide, each with its file and\n"
    "line. What is found in the object is taffrail check's to say. -f gives objects as they would\n"
    "be created by --as; KIND/NAME is one of --state, or of the cluster that kubectl would take, "
    "as\n"
    "it is there already.\n";

static enum options_result check_options(struct policy_options *options)
{
    options->cluster.standard_input_uses =
        string_list_count(&options->input.files, "-") + string_list_count(&options->policies, "-");
    if (!cluster_policies_check("policy", &options->cluster_policies, &options->policies))
        return OPTIONS_WRONG;
    if (options->input.files.count == 0 && options->named.count == 0)
        usage_error("policy", "no object is given (-f FILE, or KIND/NAME)");
    else if (options->state_dir != NULL && options->cluster_policies.from_cluster)
        usage_error("policy",
                    "either --state, or --from-cluster, which looks at the cluster itself");
    else if (cluster_options_check("policy", &options->cluster, options->state_dir))
        return OPTIONS_READ;
    return OPTIONS_WRONG;
}

static enum options_result read_options(int argc, char **argv, struct policy_options *options)
{
    const struct option_spec table[] = {
        OPTION_POLICIES(&options->policies),
        OPTIONS_CLUSTER_POLICIES(&options->cluster_policies),
        OPTIONS_FILES(&options->input, "the objects (repeats)"),
        {'n', "namespace", OPTION_STRING, &options->namespace, "NAME",
         "of KIND/NAME, and of objects that name none (the context's, or default)", NULL},
        {0, "state", OPTION_STRING, &options->state_dir, "DIR",
         "a cluster as files: namespaces with their labels, owners", NULL},
        OPTIONS_CLUSTER(&options->cluster),
        {0, "as", OPTION_STRING, &options->user, "USER", "who asks (a person in no group)", NULL},
        {0, "as-group", OPTION_LIST, &options->groups, "GROUP", "a group of theirs (repeats)",
         NULL},
        {'o', "output", OPTION_CHOICE, &options->format, "FORMAT", "text or json (text)",
         report_holding_format_names},
        OPTION_CATALOG(&options->catalog_file),
        OPTIONS_INPUT(&options->input),
        OPTION_QUIET,
        {0},
    };
    struct string_list operands = {0};
    enum options_result result =
        options_read(argc, argv, table, "policy explain -p POLICY -f FILE|KIND/NAME [OPTIONS]",
                     notes, &operands);
    if (result != OPTIONS_READ)
        return result;
    if (operands.count == 0 || strcmp(operands.items[0], "explain") != 0) {
        usage_error("policy", "what is it to do? explain is all there is");
        return OPTIONS_WRONG;
    }
    options->named = (struct string_list){operands.items + 1, operands.count - 1};
    return check_options(options);
}

/* ---- KIND/NAME ---- */

static const struct object *find_named(const char *argument, struct text namespace,
                                       struct text cluster, const struct snapshot *snapshot,
                                       struct problems *errors)
{
    struct text kind_name = text_of(argument);
    struct text name = TEXT("");
    text_split(text_of(argument), '/', &kind_name, &name);
    enum kind kind = kind_of_argument(kind_name);
    if (kind == KIND_UNKNOWN || name.size == 0) {
        problems_add(errors, ERROR_USAGE, NOWHERE,
                     "\"%s\" is no KIND/NAME of a kind that rails know, such as deployment/shop; a "
                     "custom resource is given with -f",
                     argument);
        return NULL;
    }
    if (!kind_table[kind].namespaced)
    namespace = TEXT("");
    const struct object *found = snapshot_find(snapshot, kind, namespace, name);
    if (found == NULL)
        problems_add(errors, ERROR_USAGE, NOWHERE, "there is no %s %.*s%s%.*s in %.*s",
                     kind_table[kind].name, TEXT_ARGS(namespace), namespace.size > 0 ? "/" : "",
                     TEXT_ARGS(name), TEXT_ARGS(cluster));
    return found;
}

/* ---- the explanation ---- */

struct subjects {
    struct subject *items;
    size_t count, capacity;
};

static void add_subjects(const struct policy_options *options, const struct cluster_view *view,
                         const struct manifests *manifests, const struct world *world,
                         struct arena *arena, struct subjects *subjects, struct problems *errors)
{
    struct text *groups = ARENA_ARRAY(arena, options->groups.count, struct text);
    for (size_t i = 0; i < options->groups.count; i++)
        groups[i] = text_of(options->groups.items[i]);
    struct subject subject = {
        .operation = OPERATION_CREATE,
        .requester = {text_of(options->user), groups, options->groups.count},
    };
    for (size_t i = 0; i < manifests->count; i++) {
        subject.object = &manifests->items[i];
        if (subject.object->kind != KIND_UNKNOWN ||
            policy_set_has_templates(world->policies, subject.object))
            *LIST_PUSH(arena, subjects) = subject;
        else
            say_note("no policy looks into a %.*s", TEXT_ARGS(subject.object->kind_name));
    }
    subject.existing = true;
    for (size_t i = 0; i < options->named.count; i++) {
        subject.object =
            find_named(options->named.items[i], view->namespace,
                       view->is_listed ? view->cluster.title : text_of(options->state_dir),
                       world->snapshot, errors);
        if (subject.object != NULL)
            *LIST_PUSH(arena, subjects) = subject;
    }
}

static int print_holdings(const struct policy_options *options, const struct world *world,
                          const struct subjects *subjects, int64_t now_unix_s, struct arena *arena,
                          const struct problems *errors)
{
    struct report_style style = {.colour = terminal_has_colours(STDOUT_FILENO),
                                 .columns = terminal_columns(STDOUT_FILENO)};
    struct object_holding *holdings = ARENA_ARRAY(arena, subjects->count, struct object_holding);
    struct error error;
    for (size_t i = 0; i < subjects->count; i++)
        holding_find(world, &subjects->items[i], now_unix_s, arena, &holdings[i]);
    int code = print_problems(errors, "error");
    if (!report_holding_write(options->format, holdings, subjects->count, errors, &style, arena,
                              stdout, &error))
        return print_error(&error);
    return code;
}

static int explain(struct arena *arena, void *argument)
{
    const struct policy_options *options = argument;
    int64_t now_unix_s = (int64_t)time(NULL);
    struct cluster_view view;
    struct manifests manifests;
    struct error error;
    if (!cluster_view_find(&options->cluster, &options->cluster_policies,
                           options->named.count > 0 && options->state_dir == NULL,
                           options->namespace, arena, &view, &error))
        return print_error(&error);
    input_begin(&manifests, &options->input, arena);
    manifests.keep_unknown = true;
    input_read(&manifests, &options->input, view.namespace);
    input_say(&manifests);

    struct world_options world_options = {
        .policy_paths = options->policies.items,
        .policy_path_count = options->policies.count,
        .state_dir = options->state_dir,
        .catalog_file = options->catalog_file,
        .change = &manifests,
    };
    cluster_view_give(&view, &world_options);
    struct problems errors = {.arena = arena}, warnings = {.arena = arena};
    struct world *world = NULL;
    bool loaded = world_load(&world_options, 1, now_unix_s, &world, &errors, &warnings);
    print_problems(&warnings, "warning");
    if (!loaded) {
        print_problems(&manifests.problems, "error");
        return print_problems(&errors, "error");
    }
    struct subjects subjects = {0};
    add_subjects(options, &view, &manifests, world, arena, &subjects, &manifests.problems);
    int code = print_holdings(options, world, &subjects, now_unix_s, arena, &manifests.problems);
    world_destroy(world);
    return code;
}

int command_policy(int argc, char **argv)
{
    struct policy_options options = {.user = ""};
    enum options_result result = read_options(argc, argv, &options);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    return run_in_arena(explain, &options);
}
