/* `taffrail replay`: the requests of an API server's audit log, judged by other policies. */
#include "cli/replay.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_records.h"
#include "cli/cluster_view.h"
#include "cli/comparison.h"
#include "cli/log_file.h"

static const char *const fail_on_names[] = {"deny", "never", NULL};
enum fail_on { FAIL_ON_DENY, FAIL_ON_NEVER };

struct options {
    struct cluster_options cluster;
    struct string_list policies, old, logs;
    const char *state_dir, *catalog_file;
    int format, fail_on;
};

static const char notes[] =
    "Judges what people and controllers asked for, as the API server's audit log has it, by these\n"
    "policies: who would be denied that was not then, how often, and who would be freed. With\n"
    "--against both sides are policies. AUDIT-LOG is a file, a folder, or - for standard input:\n"
    "lines of audit.k8s.io/v1 Events, gzip or not, as the API server writes them, as CloudWatch\n"
    "exports them to S3, or what aws logs prints. Requests are judged where their object is "
    "logged\n"
    "(level Request, and RequestResponse for patches); an update where the log, or the cluster,\n"
    "shows what was there before. What the log holds besides is counted and never printed.\n";

static enum options_result read_options(int argc, char **argv, struct options *options)
{
    const struct option_spec table[] = {
        OPTION_POLICIES(&options->policies),
        {0, "against", OPTION_LIST, &options->old, "OLD",
         "the policies to compare with, instead of what was decided then (repeats)", NULL},
        {0, "state", OPTION_STRING, &options->state_dir, "DIR",
         "a cluster as files: NodePools, namespaces with their labels, owners", NULL},
        OPTIONS_CLUSTER(&options->cluster),
        OPTION_CATALOG(&options->catalog_file),
        {'o', "output", OPTION_CHOICE, &options->format, "FORMAT", "text or json (text)",
         report_comparison_format_names},
        {0, "fail-on", OPTION_CHOICE, &options->fail_on, "deny|never",
         "whether somebody who is newly denied gives exit code 1 (deny)", fail_on_names},
        OPTION_QUIET,
        {0},
    };
    enum options_result result = options_read(
        argc, argv, table, "replay AUDIT-LOG ... -p POLICY [OPTIONS]", notes, &options->logs);
    if (result != OPTIONS_READ)
        return result;
    options->cluster.standard_input_uses = string_list_count(&options->logs, "-") +
                                           string_list_count(&options->policies, "-") +
                                           string_list_count(&options->old, "-");
    if (options->policies.count == 0)
        usage_error("replay", "no policy is given (-p FILE)");
    else if (options->logs.count == 0)
        usage_error("replay", "no audit log is given (a file, a folder, or - for standard input)");
    else if (cluster_options_check("replay", &options->cluster, options->state_dir))
        return OPTIONS_READ;
    return OPTIONS_WRONG;
}

/* ---- one file ---- */

enum { PROBLEMS_MAX = 5 }; /* of a file, one by one */

struct reading {
    struct replay *replay;
    const char *file; /* as messages call it */
    struct json_records records;
    struct problems *problems;
    size_t events, others, cut, large;
};

static void take_record(void *context, enum record_end end, struct text record, size_t line)
{
    struct reading *reading = context;
    struct place place = {reading->file, (uint32_t)(line > UINT32_MAX ? UINT32_MAX : line), 0};
    if (end == RECORD_OTHER) {
        reading->others++;
    } else if (end == RECORD_CUT && reading->cut++ < PROBLEMS_MAX) {
        problems_add(reading->problems, ERROR_INPUT, place,
                     "an event breaks off here and is passed over; the others are judged");
    } else if (end == RECORD_LARGE && reading->large++ < PROBLEMS_MAX) {
        problems_add(reading->problems, ERROR_LIMIT, place,
                     "an event is over 32 MiB and is passed over; the others are judged");
    } else if (end == RECORD_WHOLE) {
        bool is_event = replay_take(reading->replay, record);
        reading->events += is_event;
        reading->others += !is_event;
    }
}

static bool take_bytes(void *context, const char *bytes, size_t size)
{
    struct reading *reading = context;
    return json_records_take(&reading->records, bytes, size);
}

static void say_rest(const struct reading *reading)
{
    struct place place = {reading->file, 0, 0};
    size_t more = (reading->cut > PROBLEMS_MAX ? reading->cut - PROBLEMS_MAX : 0) +
                  (reading->large > PROBLEMS_MAX ? reading->large - PROBLEMS_MAX : 0);
    if (more > 0)
        problems_add(reading->problems, ERROR_INPUT, place,
                     "%zu more events break off, or are too large, and are passed over", more);
}

/* The number of its events. */
static size_t read_log(struct replay *replay, const char *path, struct problems *problems,
                       size_t *others)
{
    /* What holds Events: `aws logs`, a List of kubectl or of the audit API, a subscription. */
    static const char *const lists[] = {"events", "items", "logEvents", NULL};
    enum { RECORD_BYTES_MAX = 32 << 20 };
    struct reading reading = {
        .replay = replay,
        .file = path_as_shown(path),
        .problems = problems,
        .records = {.lists = lists, .limit_bytes = RECORD_BYTES_MAX, .sink = take_record},
    };
    struct error error;
    reading.records.context = &reading;
    bool good = log_file_read(path, take_bytes, &reading, &error);
    json_records_end(&reading.records);
    if (!good)
        problems_add_error(problems, &error);
    say_rest(&reading);
    *others += reading.others;
    return reading.events;
}

/* ---- all of them ---- */

static void read_logs(const struct options *options, struct replay *replay, struct arena *arena,
                      struct problems *problems, size_t *others)
{
    struct path_list files = {0};
    for (size_t i = 0; i < options->logs.count; i++)
        log_files_find(options->logs.items[i], arena, &files, problems);
    size_t events = 0;
    bool terminal = isatty(STDERR_FILENO) == 1;
    int64_t begun_ms = monotonic_ms();
    bool told = false;
    for (size_t i = 0; i < files.count; i++) {
        events += read_log(replay, files.items[i], problems, others);
        if (terminal && files.count > 1 && monotonic_ms() - begun_ms > 1000) {
            fprintf(stderr, "\r%zu of %zu files, %zu events", i + 1, files.count, events);
            told = true;
        }
    }
    if (told)
        fputc('\n', stderr);
    if (events == 0 && problems->count == 0)
        problems_add(problems, ERROR_INPUT,
                     (struct place){path_as_shown(options->logs.items[0]), 0, 0},
                     "it holds no audit event: expected lines of kind Event of audit.k8s.io/v1, "
                     "plain or gzip");
}

static int print_result(const struct options *options, struct replay *replay, size_t others,
                        const struct problems *problems, struct arena *arena)
{
    const struct replay_result result = replay_result(replay);
    const size_t *of = result.outcomes;
    const struct comparison_count counts[] = {
        {"undecided", "undecided (--state, or a cluster, shows more)", result.undecided},
        {"withoutObject", "logged without their object", of[REPLAY_NO_OBJECT]},
        {"patchesWithoutResult", "patches logged without their result", of[REPLAY_PATCH]},
        {"updatesOfUnseen", "updates of objects not seen before", of[REPLAY_OLD_UNSEEN]},
        {"subresources", "subresources", of[REPLAY_SUBRESOURCE]},
        {"dryRuns", "dry runs", of[REPLAY_DRY_RUN]},
        {"deletes", "deletes", of[REPLAY_DELETE]},
        {"failedThen", "failed for other reasons", of[REPLAY_FAILED]},
        {"overLimits", "too large to judge", of[REPLAY_LIMIT]},
        {"otherRequests", "other kinds, and reads", of[REPLAY_OTHER_KIND]},
        {"otherRecords", "lines without an event", others},
        {"ownersLeftOut", "differences that are counted only here", result.rows_left_out},
    };
    struct text before = options->old.count == 0 ? TEXT("what was decided then")
                                                 : strings_joined(&options->old, arena);
    const struct comparison comparison = {
        .schema = "taffrail.dev/replay/v1",
        .unit = "request",
        .before = before,
        .after = strings_joined(&options->policies, arena),
        .first = result.first,
        .last = result.last,
        .rows = result.rows,
        .row_count = result.row_count,
        .judged = of[REPLAY_JUDGED],
        .counts = counts,
        .count_count = COUNT_OF(counts),
        .errors = problems,
    };
    unsigned failing = options->fail_on == FAIL_ON_DENY ? 1U << DIFFERENCE_DENIED : 0;
    return print_comparison(&comparison, options->format, failing, arena);
}

static bool load(const struct options *options, const struct cluster_view *view,
                 const struct string_list *policies, int64_t now_unix_s, struct world **world,
                 struct problems *errors, struct problems *warnings)
{
    struct world_options world_options = {
        .policy_paths = policies->items,
        .policy_path_count = policies->count,
        .state_dir = options->state_dir,
        .catalog_file = options->catalog_file,
    };
    cluster_view_give(view, &world_options);
    return world_load(&world_options, 1, now_unix_s, world, errors, warnings);
}

static int replay_logs(const struct options *options, const struct replay_options *sides,
                       struct arena *arena)
{
    struct replay *replay = replay_create(sides);
    struct problems problems = {.arena = arena};
    size_t others = 0;
    if (replay == NULL)
        return usage_error("replay", "no memory");
    read_logs(options, replay, arena, &problems, &others);
    int code = print_result(options, replay, others, &problems, arena);
    replay_destroy(replay);
    return code;
}

static int run(struct arena *arena, void *argument)
{
    const struct options *options = argument;
    int64_t now_unix_s = (int64_t)time(NULL);
    struct problems errors = {.arena = arena}, warnings = {.arena = arena}, told = {.arena = arena};
    struct world *before = NULL, *after = NULL;
    struct cluster_view view;
    struct error error;
    if (!cluster_view_find(&options->cluster, NULL, false, NULL, arena, &view, &error))
        return print_error(&error);
    bool loaded = load(options, &view, &options->policies, now_unix_s, &after, &errors, &warnings);
    if (options->old.count > 0)
        loaded = load(options, &view, &options->old, now_unix_s, &before, &errors, &told) && loaded;
    print_problems(&warnings, "warning");
    int code = EXIT_CLEAN;
    if (loaded)
        code = replay_logs(options, &(struct replay_options){before, after, now_unix_s}, arena);
    else
        code = print_problems(&errors, "error");
    world_destroy(before);
    world_destroy(after);
    return code;
}

int command_replay(int argc, char **argv)
{
    struct options options = {0};
    enum options_result result = read_options(argc, argv, &options);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    return run_in_arena(run, &options);
}
