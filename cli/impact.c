/* `taffrail impact`: what changes of NodePools, node classes and the like do to nodes and pods,
 * before they are made. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cluster_view.h"
#include "cli/plan_settings.h"
#include "kube/manifest.h"
#include "kube/snapshot.h"
#include "report/impact.h"
#include "server/server.h"
#include "simulation/simulation.h"

static const char *const cascades[] = {"background", "foreground", "orphan", NULL};
enum { CASCADE_ORPHAN = 2, PLAN_BYTES = INT32_MAX };

struct impact_options {
    struct input_options input;
    struct cluster_options cluster;
    struct string_list policies;
    const char *namespace, *state_dir, *catalog_file;
    bool deletes;
    struct policies_of_karpenter karpenter;
    int cascade, format;
};

static const char notes[] =
    "Holds what -f names against what the cluster has, and says of each change how many nodes it\n"
    "replaces or deletes, how many at once and from when under the budgets, what blocks, what the\n"
    "pods need afterwards and what it costs. NodePools, EC2NodeClasses and other node classes,\n"
    "StorageClasses, PriorityClasses, PersistentVolumeClaims and Namespaces count; objects of "
    "other\n"
    "kinds are passed over and counted. Each change is looked at as if it came alone.\n"
    "  taffrail impact -f nodepool.yaml --state cluster       against a cluster as files\n"
    "  taffrail impact -f nodepool.yaml --context prod        against a live one, only when told "
    "to\n"
    "  taffrail impact -f nodepool.yaml --delete --state DIR  what its deletion would do\n"
    "  taffrail impact -f pools --state DIR -o markdown       as a comment for a pull request\n"
    "Exit codes: 0 whatever is said, 1 a ceiling of the rail change-impact in a policy of -p is\n"
    "passed and denies, 2 something could not be read or understood, 3 the cluster is not\n"
    "reachable.\n";

static bool check_options(struct impact_options *options, const struct string_list *operands)
{
    if (operands->count > 0)
        usage_error("impact", "what is \"%s\" for? what changes is given with -f",
                    operands->items[0]);
    else if (options->input.files.count == 0)
        usage_error("impact", "no change is given (-f FILE, or -f - for standard input)");
    else if (!cluster_options_check("impact", &options->cluster, options->state_dir))
        return false;
    else if (options->state_dir == NULL && !cluster_is_named(&options->cluster))
        usage_error("impact", "say against which cluster: --state DIR, --kubeconfig FILE or "
                              "--context NAME");
    else if (options->cascade != 0 && !options->deletes)
        usage_error("impact", "--cascade is for --delete");
    else
        return true;
    return false;
}

static enum options_result read_options(int argc, char **argv, struct impact_options *options)
{
    const struct option_spec table[] = {
        OPTIONS_FILES(&options->input, "what changes (repeats)"),
        {0, "delete", OPTION_FLAG, &options->deletes, NULL,
         "the objects of -f are deleted, not applied", NULL},
        {0, "cascade", OPTION_CHOICE, &options->cascade, "HOW",
         "kubectl delete's: background, foreground or orphan (background)", cascades},
        {0, "state", OPTION_STRING, &options->state_dir, "DIR",
         "the cluster as files: NodePools, NodeClaims, Nodes, Pods, PodDisruptionBudgets", NULL},
        OPTIONS_CLUSTER(&options->cluster),
        OPTIONS_IMPERSONATION(&options->cluster),
        OPTION_POLICIES(&options->policies),
        {'n', "namespace", OPTION_STRING, &options->namespace, "NAME",
         "for objects that name none (the context's, or default)", NULL},
        OPTION_CATALOG(&options->catalog_file),
        OPTIONS_KARPENTER(&options->karpenter),
        {'o', "output", OPTION_CHOICE, &options->format, "FORMAT", "text, json or markdown (text)",
         report_impact_format_names},
        OPTIONS_INPUT(&options->input),
        OPTION_ALLOW_EMPTY(&options->input),
        OPTION_QUIET,
        {0},
    };
    struct string_list operands = {0};
    enum options_result result =
        options_read(argc, argv, table,
                     "impact -f FILE|DIR|- ... --state DIR|--context NAME [--delete] [OPTIONS]",
                     notes, &operands);
    if (result != OPTIONS_READ)
        return result;
    options->cluster.standard_input_uses =
        string_list_count(&options->input.files, "-") + string_list_count(&options->policies, "-");
    return check_options(options, &operands) ? OPTIONS_READ : OPTIONS_WRONG;
}

/* ---- what is there, and what changes ---- */

struct forecast {
    const struct impact_options *options;
    struct arena *arena, *scratch;
    int64_t now_unix_s;
    struct manifests change;
    size_t fragments; /* parts of objects, which are passed over */
    struct {
        const struct object **items;
        size_t count, capacity;
    } new_classes; /* EC2NodeClasses of the change that are not stored */
    struct world *world;
    kind_set seen; /* kinds of which the snapshot has every object */
    struct problems problems;
};

/* Files need not hold all there is: without a single Node, NodeClaim or Pod nobody has exported
 * them. */
static kind_set kinds_seen(const struct forecast *forecast)
{
    static const enum kind exported[] = {KIND_NODE, KIND_NODE_CLAIM, KIND_POD};
    kind_set seen = ~forecast->world->unseen;
    for (size_t i = 0; i < COUNT_OF(exported) && forecast->options->state_dir != NULL; i++)
        if (snapshot_count(forecast->world->snapshot, exported[i]) == 0)
            seen &= ~KIND_BIT(exported[i]);
    return seen;
}

static void add_all(struct problems *problems, const struct problems *more)
{
    for (size_t i = 0; i < more->count; i++)
        problems_add_error(problems, &more->items[i]);
}

static void read_change(struct forecast *forecast, struct text namespace)
{
    const struct input_options *input = &forecast->options->input;
    input_begin(&forecast->change, input, forecast->arena);
    input_read(&forecast->change, input, namespace);
    input_say(&forecast->change);
    if (!forecast->options->deletes)
        forecast->fragments = input_drop_fragments(&forecast->change);
    add_all(&forecast->problems, &forecast->change.problems);
}

/* False with a problem when there is nothing to hold the change against. */
static bool load(struct forecast *forecast)
{
    const struct impact_options *options = forecast->options;
    struct cluster_view view;
    struct error error;
    struct problems warnings = {.arena = forecast->arena};
    if (!cluster_view_find(&options->cluster, NULL, false, options->namespace, forecast->arena,
                           &view, &error)) {
        problems_add_error(&forecast->problems, &error);
        return false;
    }
    read_change(forecast, view.namespace);
    struct world_options world_options = {
        .policy_paths = options->policies.items,
        .policy_path_count = options->policies.count,
        .state_dir = options->state_dir,
        .catalog_file = options->catalog_file,
    };
    cluster_view_give(&view, &world_options);
    bool loaded = world_load(&world_options, 1, forecast->now_unix_s, &forecast->world,
                             &forecast->problems, &warnings);
    print_problems(&warnings, "warning");
    if (loaded)
        forecast->seen = kinds_seen(forecast);
    return loaded;
}

/* ---- one change ---- */

static const struct object *stored_of(const struct forecast *forecast, const struct object *object)
{
    return snapshot_find(forecast->world->snapshot, object->kind, object->namespace, object->name);
}

static void find_new_classes(struct forecast *forecast)
{
    const struct manifests *change = &forecast->change;
    for (size_t i = 0; i < change->count && !forecast->options->deletes; i++)
        if (change->items[i].kind == KIND_EC2_NODE_CLASS &&
            stored_of(forecast, &change->items[i]) == NULL)
            *LIST_PUSH(forecast->arena, &forecast->new_classes) = &change->items[i];
}

struct planning {
    const struct forecast *forecast;
    const struct change_question *question;
    const struct impact_entry *entry;
    struct problems problems;
    struct impact_plan plan;
    bool planned;
};

static void plan_change(void *argument)
{
    struct planning *planning = argument;
    const struct forecast *forecast = planning->forecast;
    const struct simulation_settings settings = {
        .solver = solver_settings_of(&forecast->options->karpenter)};
    struct error error;
    planning->planned = change_impact_plan(planning->question, &planning->entry->impact,
                                           forecast->world->catalog, &settings, forecast->scratch,
                                           &planning->plan, &planning->problems, &error);
    if (!planning->planned)
        problems_add_error(&planning->problems, &error);
}

/* Problems of the cluster are said once, whatever the number of changes. */
static void add_new(struct problems *problems, const struct problems *more)
{
    for (size_t i = 0; i < more->count; i++) {
        bool said = false;
        for (size_t j = 0; j < problems->count && !said; j++)
            said = strcmp(problems->items[j].what, more->items[i].what) == 0;
        if (!said)
            problems_add_error(problems, &more->items[i]);
    }
}

static struct text_list keep(const struct forecast *forecast, const struct text_list *texts)
{
    struct text_list kept = {0};
    FOR_EACH(text, texts)
        *LIST_PUSH(forecast->arena, &kept) = arena_text(forecast->arena, *text);
    return kept;
}

/* What the pods need afterwards. A plan takes a hundred megabytes, so each is made in the memory of
 * the one before, and only what is printed is kept. */
static void plan_entry(struct forecast *forecast, const struct change_question *question,
                       struct impact_entry *entry)
{
    struct planning planning = {.forecast = forecast,
                                .question = question,
                                .entry = entry,
                                .problems = {.arena = forecast->scratch}};
    struct error error;
    arena_reset(forecast->scratch);
    if (!arena_guard(forecast->scratch, plan_change, &planning, &error)) {
        problems_add_error(&forecast->problems, &error);
        return;
    }
    add_new(&forecast->problems, &planning.problems);
    entry->planned = planning.planned;
    if (!planning.planned)
        return;
    entry->plan = planning.plan;
    entry->plan.simulation = NULL;
    entry->plan.stopped = arena_text(forecast->arena, planning.plan.stopped);
    entry->plan.unschedulable = keep(forecast, &planning.plan.unschedulable);
    entry->plan.undecided = keep(forecast, &planning.plan.undecided);
    entry->plan.staying = keep(forecast, &planning.plan.staying);
    entry->plan.gone = keep(forecast, &planning.plan.gone);
}

/* What the rail change-impact of the policies says: denials, warnings. */
static void judge_entry(struct forecast *forecast, const struct change_question *question,
                        struct impact_entry *entry)
{
    struct verdict verdict;
    const struct subject subject = {
        .operation = question->after == NULL ? OPERATION_DELETE : OPERATION_UPDATE,
        .object = question->after == NULL ? question->before : question->after,
        .old_object = question->after == NULL ? NULL : question->before,
        .orphans = question->orphans,
    };
    policy_evaluate(forecast->world, &subject, forecast->now_unix_s, forecast->arena, &verdict);
    const struct finding **findings =
        ARENA_ARRAY(forecast->arena, verdict.finding_count, const struct finding *);
    for (size_t i = 0; i < verdict.finding_count; i++) {
        const struct finding *finding = &verdict.findings[i];
        if (strcmp(finding->rail, "change-impact") == 0 && finding->action >= ACTION_WARN)
            findings[entry->finding_count++] = finding;
    }
    entry->findings = findings;
}

static struct text nothing_of(const struct forecast *forecast, const struct object *object,
                              const struct object *before)
{
    if (before == NULL)
        return forecast->options->deletes ? TEXT("It is not there, so nothing is deleted.")
                                          : TEXT("It is new: no node and no pod hangs on it yet.");
    if (before->deleting)
        return TEXT("It is being deleted already.");
    return object->deleting ? TEXT("It is being deleted.") : TEXT("");
}

/* Each is a plan of the cluster. */
static size_t most_alone(const struct snapshot *snapshot)
{
    enum { OF_SMALL = 100, OF_LARGE = 10 };
    return simulation_is_quick(snapshot) ? OF_SMALL : OF_LARGE;
}

/* What comes of a NodePool that is refused, or of a value that is written wrong, nobody need know.
 * Of a StorageClass or a PriorityClass it is said what comes of it when it is made anew. */
static void check_change(struct forecast *forecast, const struct object *before,
                         const struct object *after, struct impact_entry *entry)
{
    const struct change_refusal refusal =
        change_check(before, after, forecast->arena, &forecast->problems);
    if (refusal.first.size == 0)
        return;
    entry->refusal =
        arena_printf(forecast->arena, "The API server refuses it: %.*s.", TEXT_ARGS(refusal.first));
    if (!refusal.may_be_made_anew)
        entry->nothing = entry->refusal;
}

static void forecast_one(struct forecast *forecast, const struct object *object,
                         struct impact_entry *entry)
{
    const struct object *before = stored_of(forecast, object);
    bool deletes = forecast->options->deletes;
    const struct change_question question = {
        .snapshot = forecast->world->snapshot,
        .seen = forecast->seen,
        .now_unix_s = forecast->now_unix_s,
        .before = before,
        .after = deletes ? NULL : object,
        .orphans = forecast->options->cascade == CASCADE_ORPHAN,
        .most_alone = most_alone(forecast->world->snapshot),
        .beside = forecast->new_classes.items,
        .beside_count = forecast->new_classes.count,
    };
    *entry = (struct impact_entry){
        .operation = deletes          ? IMPACT_DELETE
                     : before == NULL ? IMPACT_CREATE
                                      : IMPACT_UPDATE,
        .object = deletes && before != NULL ? before : object,
        .nothing = nothing_of(forecast, object, before),
    };
    if (!deletes)
        check_change(forecast, before, object, entry);
    if (entry->nothing.size > 0)
        return;
    if (!change_impact(&question, forecast->arena, &entry->impact)) {
        entry->nothing = TEXT("What it does is not known: it is of an old version.");
        return;
    }
    plan_entry(forecast, &question, entry);
    entry->words = change_impact_words(&question, &entry->impact,
                                       entry->planned ? &entry->plan : NULL, forecast->arena);
    if (forecast->options->policies.count > 0)
        judge_entry(forecast, &question, entry);
}

/* ---- all ---- */

/* Nodes that go, each once. Of those that a NodePool of a fixed size gives up, and of those that
 * stay beside them, nobody knows the names. */
static size_t count_together(const struct impact_report *report, struct arena *arena)
{
    struct text_map nodes = {0};
    size_t unnamed = 0;
    for (size_t i = 0; i < report->count; i++) {
        const struct disruption *forecast = &report->entries[i].impact.forecast;
        const struct impact_plan *plan = &report->entries[i].plan;
        struct text_map staying = {0};
        FOR_EACH(name, &plan->staying)
            (void)text_map_add(&staying, arena, *name);
        unnamed += change_impact_nodes(&report->entries[i].impact) - plan->staying_count -
                   (forecast->node_count - plan->staying.count);
        for (size_t j = 0; j < forecast->node_count; j++) {
            const struct disruption_node *node = &forecast->nodes[j];
            if (text_map_has(&staying, disruption_node_name(node)))
                continue;
            const struct object *named = node->claim != NULL ? node->claim : node->node;
            (void)text_map_add(&nodes, arena,
                               arena_printf(arena, "%.*s %.*s", TEXT_ARGS(named->kind_name),
                                            TEXT_ARGS(named->name)));
        }
    }
    return nodes.count + unnamed;
}

static struct impact_report forecast_all(struct forecast *forecast)
{
    const struct manifests *change = &forecast->change;
    struct impact_entry *entries = ARENA_ARRAY(forecast->arena, change->count, struct impact_entry);
    struct impact_report report = {.entries = entries,
                                   .skipped = change->skipped,
                                   .fragments = forecast->fragments,
                                   .catalog = forecast->world->catalog,
                                   .now_unix_s = forecast->now_unix_s};
    find_new_classes(forecast);
    for (size_t i = 0; i < change->count; i++) {
        const struct object *object = &change->items[i];
        if ((KINDS_OF_IMPACT & KIND_BIT(object->kind)) == 0) {
            report.skipped++;
            continue;
        }
        struct impact_entry *entry = &entries[report.count++];
        forecast_one(forecast, object, entry);
        for (size_t j = 0; j < entry->finding_count; j++)
            report.denied |= entry->findings[j]->action == ACTION_DENY;
    }
    report.nodes_together = count_together(&report, forecast->arena);
    return report;
}

struct run {
    const struct impact_options *options;
    struct arena *scratch;
};

static int impact(struct arena *arena, void *argument)
{
    const struct run *run = argument;
    struct forecast forecast = {.options = run->options,
                                .arena = arena,
                                .scratch = run->scratch,
                                .now_unix_s = (int64_t)time(NULL),
                                .problems = {.arena = arena}};
    const struct report_style style = {.colour = terminal_has_colours(STDOUT_FILENO),
                                       .columns = terminal_columns(STDOUT_FILENO)};
    if (!load(&forecast)) {
        int failed = print_problems(&forecast.problems, "error");
        return failed > EXIT_USAGE ? failed : EXIT_USAGE;
    }
    struct impact_report report = forecast_all(&forecast);
    report.errors = forecast.problems.count;
    struct error error;
    if (report.skipped > 0)
        say_note("passed over %s %zu object%s of kinds whose changes are not looked at",
                 report.skipped == 1 ? "is" : "are", report.skipped, plural_s(report.skipped));
    if (!report_impact_write(forecast.options->format, &report, &style, arena, stdout, &error))
        problems_add_error(&forecast.problems, &error);
    int code = print_problems(&forecast.problems, "error");
    world_destroy(forecast.world);
    return code == EXIT_CLEAN && report.denied ? EXIT_FINDINGS : code;
}

int command_impact(int argc, char **argv)
{
    struct impact_options options = {0};
    enum options_result result = read_options(argc, argv, &options);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    struct run run = {&options, arena_create(PLAN_BYTES)};
    if (run.scratch == NULL)
        return print_error(&(struct error){.kind = ERROR_MEMORY, .what = "no memory"});
    int code = run_in_arena(impact, &run);
    arena_destroy(run.scratch);
    return code;
}
