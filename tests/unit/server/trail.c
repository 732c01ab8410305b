/* labels: threads */
/* Lines of the audit trail. */
#include "server_fixture.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>

#include "base/clock.h"

enum { FINDINGS_MAX = 100 };

static struct json_object *parse(struct text line)
{
    struct json_tokener *tokener = json_tokener_new();
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *object = json_tokener_parse_ex(tokener, line.data, (int)line.size);
    CU_ASSERT_FATAL(object != NULL);
    ASSERT_INT(json_tokener_get_parse_end(tokener), line.size);
    json_tokener_free(tokener);
    return object;
}

static struct text value(struct json_object *object, const char *key)
{
    struct json_object *found;
    if (!json_object_object_get_ex(object, key, &found))
        return TEXT("(absent)");
    return text_of(json_object_get_string(found));
}

static void line_says_who_what_and_why(void)
{
    static const struct finding findings[] = {
        {.rail = "topology-keys",
         .action = ACTION_DENY,
         .path = {"spec.topologySpreadConstraints[0].topologyKey", 45},
         .found = {"zone/\"a\"\n", 9},
         .policy = {"production", 10}},
        {.rail = "instance-types",
         .action = ACTION_EXCEPTED,
         .path = {"spec.nodeSelector", 17},
         .policy = {"production", 10},
         .exception = {"EX-12", 5},
         .pre_existing = true},
        {.rail = "zones",
         .action = ACTION_WARN,
         .undecided = true,
         .override = {"payments", 8},
         .more = 4}, /* stands for four */
    };
    const struct review_record record = {
        .uid = TEXT("705ab4f5-6393-11e8-b7cc-42010a800002"),
        .operation = TEXT("CREATE"),
        .kind = TEXT("Deployment"),
        .namespace = TEXT("web"),
        .name = TEXT("shop"),
        .user = TEXT("jane@example.com"),
        .dry_run = true,
        .allowed = false,
        .verdict = {.action = ACTION_DENY,
                    .limit = LIMIT_TIMEOUT,
                    .findings = findings,
                    .finding_count = 3},
    };
    struct arena *arena = arena_create(1 << 20);
    struct text line = trail_line(&record, 1794000000123, arena);
    CU_ASSERT(memchr(line.data, '\n', line.size) == NULL);
    struct json_object *object = parse(line), *list;
    static const struct {
        const char *key, *expected;
    } cases[] = {
        {"schema", "taffrail.dev/trail/v1"},
        {"time", "2026-11-06T21:20:00.123Z"},
        {"uid", "705ab4f5-6393-11e8-b7cc-42010a800002"},
        {"operation", "CREATE"},
        {"kind", "Deployment"},
        {"namespace", "web"},
        {"name", "shop"},
        {"user", "jane@example.com"},
        {"dryRun", "true"},
        {"allowed", "false"},
        {"action", "deny"},
        {"limit", "timeout"},
        {"findingsTotal", "6"},
        {"changesTotal", "(absent)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ASSERT_TEXT(value(object, cases[i].key), cases[i].expected);
    CU_ASSERT_FATAL(json_object_object_get_ex(object, "findings", &list));
    ASSERT_INT(json_object_array_length(list), 3);
    struct json_object *denied = json_object_array_get_idx(list, 0);
    ASSERT_TEXT(value(denied, "rail"), "topology-keys");
    ASSERT_TEXT(value(denied, "action"), "deny");
    ASSERT_TEXT(value(denied, "policy"), "production");
    ASSERT_TEXT(value(denied, "field"), "spec.topologySpreadConstraints[0].topologyKey");
    ASSERT_TEXT(value(denied, "found"), "zone/\"a\"\n");
    static const char *const unsaid[] = {"exception", "undecided", "override", "more",
                                         "preExisting"};
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++)
        ASSERT_TEXT(value(denied, unsaid[i]), "(absent)");
    struct json_object *excepted = json_object_array_get_idx(list, 1);
    ASSERT_TEXT(value(excepted, "exception"), "EX-12");
    ASSERT_TEXT(value(excepted, "preExisting"), "true");
    struct json_object *undecided = json_object_array_get_idx(list, 2);
    ASSERT_TEXT(value(undecided, "undecided"), "true");
    ASSERT_TEXT(value(undecided, "override"), "payments");
    ASSERT_TEXT(value(undecided, "more"), "4");
    json_object_put(object);
    arena_destroy(arena);
}

static void line_says_what_was_changed(void)
{
    static const struct change changes[] = {
        {.rail = "accelerators",
         .outcome = OUTCOME_APPLIED,
         .added = {"a toleration of nvidia.com/gpu", 30},
         .policy = {"production", 10}},
        {.rail = "zone-spread",
         .outcome = OUTCOME_EXCEPTED,
         .policy = {"production", 10},
         .exception = {"EX-12", 5}},
    };
    struct review_record record = {.operation = TEXT("CREATE"), .allowed = true};
    record.verdict.changes = changes;
    record.verdict.change_count = 2;
    struct arena *arena = arena_create(1 << 20);
    struct json_object *object = parse(trail_line(&record, 1794000000123, arena)), *list;
    ASSERT_TEXT(value(object, "changesTotal"), "2");
    ASSERT_TEXT(value(object, "findingsTotal"), "0");
    ASSERT_TEXT(value(object, "limit"), "(absent)");
    CU_ASSERT_FATAL(json_object_object_get_ex(object, "changes", &list));
    ASSERT_INT(json_object_array_length(list), 2);
    struct json_object *applied = json_object_array_get_idx(list, 0);
    ASSERT_TEXT(value(applied, "rail"), "accelerators");
    ASSERT_TEXT(value(applied, "outcome"), "applied");
    ASSERT_TEXT(value(applied, "policy"), "production");
    ASSERT_TEXT(value(applied, "added"), "a toleration of nvidia.com/gpu");
    ASSERT_TEXT(value(applied, "exception"), "(absent)");
    ASSERT_TEXT(value(json_object_array_get_idx(list, 1), "outcome"), "excepted");
    ASSERT_TEXT(value(json_object_array_get_idx(list, 1), "exception"), "EX-12");
    json_object_put(object);
    arena_destroy(arena);
}

/* However long its parts, the line and its newline fit in one atomic write to a pipe. */
static void line_is_never_longer_than_a_pipe_takes(void)
{
    static const struct {
        const char *unit; /* repeated to fill every text */
        size_t size;
    } cases[] = {
        {"a", 1},  {"\x01", 1},     {"\"", 1},           {"\\", 1},
        {"/", 1},  {"\xC3\xA9", 2}, {"\xE2\x82\xAC", 3}, {"\xF0\x9F\x9A\xA2", 4},
        {"\0", 1},
    };
    static char filler[12000];
    static struct finding findings[FINDINGS_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t at = 0; at < sizeof filler; at += cases[i].size)
            memcpy(filler + at, cases[i].unit, cases[i].size);
        struct text long_text = {filler, sizeof filler};
        for (size_t j = 0; j < FINDINGS_MAX; j++)
            findings[j] = (struct finding){.rail = "topology-keys",
                                           .action = ACTION_WARN,
                                           .path = long_text,
                                           .found = long_text,
                                           .policy = long_text,
                                           .exception = long_text};
        struct review_record record = {
            .uid = long_text,
            .operation = long_text,
            .kind = long_text,
            .namespace = long_text,
            .name = long_text,
            .user = long_text,
            .verdict = {.action = ACTION_WARN, .findings = findings, .finding_count = FINDINGS_MAX},
        };
        struct arena *arena = arena_create(1 << 20);
        struct text line = trail_line(&record, 1794000000123, arena);
        CU_ASSERT(line.size + 1 <= PIPE_BUF);
        struct json_object *object = parse(line), *list;
        ASSERT_TEXT(value(object, "findingsTotal"), "100");
        CU_ASSERT_FATAL(json_object_object_get_ex(object, "findings", &list));
        CU_ASSERT(json_object_array_length(list) >= 1);
        CU_ASSERT(json_object_array_length(list) < FINDINGS_MAX);
        json_object_put(object);
        arena_destroy(arena);
    }
}

/* Names as Kubernetes allows them stay whole; what is longer is cut. */
static void texts_are_cut_where_they_cannot_be_right(void)
{
    static char filler[600];
    memset(filler, 'n', sizeof filler);
    const struct text all = {filler, sizeof filler};
    const struct finding finding = {.rail = "zones",
                                    .path = all,
                                    .found = all,
                                    .policy = all,
                                    .override = all,
                                    .exception = all};
    const struct change changed = {.rail = "zones", .added = all, .policy = all, .exception = all};
    struct review_record record = {
        .uid = all, .operation = all, .kind = all, .namespace = all, .name = all, .user = all};
    static const struct {
        const char *list, *key; /* list NULL: of the line itself */
        size_t size;
    } cases[] = {
        {NULL, "uid", 256},
        {NULL, "operation", 128},
        {NULL, "kind", 128},
        {NULL, "namespace", 256},
        {NULL, "name", 256},
        {NULL, "user", 512},
        {"findings", "policy", 256},
        {"findings", "field", 256},
        {"findings", "found", 128},
        {"findings", "override", 128},
        {"findings", "exception", 128},
        {"changes", "policy", 256},
        {"changes", "added", 256},
        {"changes", "exception", 128},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool changes = cases[i].list != NULL && strcmp(cases[i].list, "changes") == 0;
        struct arena *arena = arena_create(1 << 20);
        record.verdict = (struct verdict){.findings = &finding,
                                          .finding_count = !changes,
                                          .changes = &changed,
                                          .change_count = changes};
        struct json_object *object = parse(trail_line(&record, 0, arena)), *list, *of = object;
        if (cases[i].list != NULL) {
            CU_ASSERT_FATAL(json_object_object_get_ex(object, cases[i].list, &list));
            of = json_object_array_get_idx(list, 0);
        }
        ASSERT_INT(value(of, cases[i].key).size, cases[i].size);
        json_object_put(object);
        arena_destroy(arena);
    }
}

/* As many findings as find room, and not one less: the next would not fit. */
static void a_line_is_filled(void)
{
    enum { MANY = 200 };
    static struct finding findings[MANY];
    struct review_record record = {.uid = TEXT("u"), .verdict = {.findings = findings}};
    for (size_t i = 0; i < MANY; i++)
        findings[i] = (struct finding){.rail = "zones", .action = ACTION_WARN};
    for (record.verdict.finding_count = 1; record.verdict.finding_count <= MANY;
         record.verdict.finding_count++) {
        struct arena *arena = arena_create(1 << 20);
        struct text line = trail_line(&record, 0, arena);
        struct json_object *object = parse(line), *list;
        CU_ASSERT_FATAL(json_object_object_get_ex(object, "findings", &list));
        size_t shown = json_object_array_length(list);
        static const char one[] = ",{\"rail\":\"zones\",\"action\":\"warn\",\"policy\":\"\","
                                  "\"field\":\"\",\"found\":\"\"}";
        CU_ASSERT(line.size < PIPE_BUF);
        /* Beside the brackets that close either list. */
        CU_ASSERT(shown == record.verdict.finding_count ||
                  line.size + sizeof one - 1 + sizeof ",\"changes\":[]" >= PIPE_BUF);
        json_object_put(object);
        arena_destroy(arena);
    }
}

/* ---- standard output ---- */

/* Standard output as the server has it goes into a pipe, until given back. */
struct diversion {
    int standard_output, reader;
};

static struct diversion divert(void)
{
    int ends[2];
    struct diversion diversion = {.standard_output = dup(STDOUT_FILENO)};
    CU_ASSERT_FATAL(pipe(ends) == 0);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    diversion.reader = ends[0];
    return diversion;
}

static void give_back(struct diversion *diversion)
{
    dup2(diversion->standard_output, STDOUT_FILENO);
    close(diversion->standard_output);
}

enum { TRAIL_CLIENTS = 4, TRAIL_POSTS = 50, TRAIL_LINES = TRAIL_CLIENTS * TRAIL_POSTS };

static void *post_findings(void *argument)
{
    struct client client = open_client(argument);
    char body[200]; /* becomes the uid, so that lines are long */
    memset(body, 'x', sizeof body);
    memcpy(body, "finding", strlen("finding"));
    for (int i = 0; i < TRAIL_POSTS; i++)
        if (post(&client, "/validate", (struct text){body, sizeof body}).status != 200)
            break;
    client_hang_up(&client);
    return NULL;
}

static void lines_of_many_threads_are_whole(void)
{
    struct fixture fixture = start((struct server_options){0});
    struct diversion diversion = divert();
    pthread_t threads[TRAIL_CLIENTS];
    for (size_t i = 0; i < TRAIL_CLIENTS; i++)
        pthread_create(&threads[i], NULL, post_findings, &fixture);
    FILE *lines = fdopen(diversion.reader, "r");
    char *line = NULL;
    size_t capacity = 0, whole = 0;
    while (whole < TRAIL_LINES && getline(&line, &capacity, lines) > 0) {
        struct json_object *object = json_tokener_parse(line);
        if (object == NULL || !text_is(value(object, "schema"), "taffrail.dev/trail/v1"))
            break;
        json_object_put(object);
        whole++;
    }
    for (size_t i = 0; i < TRAIL_CLIENTS; i++)
        pthread_join(threads[i], NULL);
    give_back(&diversion);
    free(line);
    fclose(lines);
    ASSERT_INT(whole, TRAIL_LINES);
    ASSERT_INT(metric(&fixture, "taffrail_findings_total{rail=\"topology-keys\",action=\"deny\"}"),
               TRAIL_LINES);
    stop(&fixture);
}

/* Of a review that was answered just now. */
static void a_line_has_the_time_of_its_review(void)
{
    struct fixture fixture = start((struct server_options){0});
    struct diversion diversion = divert();
    struct client client = open_client(&fixture);
    const time_t before = unix_us() / 1000000; /* time() may be a tick behind this clock */
    int status = post(&client, "/validate", TEXT("finding")).status;
    const time_t after = unix_us() / 1000000;
    give_back(&diversion);
    ASSERT_INT(status, 200);
    char line[PIPE_BUF + 1] = "";
    CU_ASSERT(read(diversion.reader, line, sizeof line - 1) > 0);
    struct json_object *object = json_tokener_parse(line);
    struct tm moment = {0};
    CU_ASSERT_PTR_NOT_NULL(strptime(value(object, "time").data, "%Y-%m-%dT%H:%M:%S", &moment));
    CU_ASSERT(timegm(&moment) >= before && timegm(&moment) <= after);
    json_object_put(object);
    close(diversion.reader);
    client_hang_up(&client);
    stop(&fixture);
}

static void reader_that_is_stuck_stops_nobody(void)
{
    struct fixture fixture = start((struct server_options){0});
    struct diversion diversion = divert();
    struct client client = open_client(&fixture);
    int failures = 0;
    for (int i = 0; i < 500; i++) /* a pipe holds 64 KiB, a line is over 200 bytes long */
        failures += post(&client, "/validate", TEXT("finding")).status != 200;
    close(diversion.reader); /* now a write fails, with a signal that must not end the process */
    failures += post(&client, "/validate", TEXT("finding")).status != 200;
    give_back(&diversion);
    ASSERT_INT(failures, 0);
    client_hang_up(&client);
    stop(&fixture);
}

enum {
    LONG_LINE_BYTES = PIPE_BUF - 1,
    WRITERS = 8,
    LONG_LINES = 100,
    LINES_TOTAL = WRITERS * LONG_LINES,
    FULL_PIPES = 200,
};

static void *write_long_lines(void *argument)
{
    static char line[LONG_LINE_BYTES];
    size_t *lost = argument;
    for (int i = 0; i < LONG_LINES; i++)
        *lost += trail_write((struct text){line, sizeof line}) != NULL;
    return NULL;
}

/* The last place in a pipe is for one of those who saw it. */
static void writers_of_a_full_pipe_do_not_wait(void)
{
    for (int i = 0; i < FULL_PIPES; i++) {
        pthread_t threads[WRITERS];
        size_t lost[WRITERS] = {0}, lost_total = 0;
        struct diversion diversion = divert();
        for (size_t j = 0; j < WRITERS; j++)
            pthread_create(&threads[j], NULL, write_long_lines, &lost[j]);
        for (size_t j = 0; j < WRITERS; j++) {
            pthread_join(threads[j], NULL);
            lost_total += lost[j];
        }
        int size = fcntl(diversion.reader, F_GETPIPE_SZ);
        give_back(&diversion);
        close(diversion.reader);
        ASSERT_INT(lost_total, LINES_TOTAL - size / PIPE_BUF);
    }
}

static void a_file_takes_every_line(void)
{
    char path[] = "/tmp/trail-XXXXXX";
    int file = mkstemp(path);
    struct diversion diversion = divert();
    dup2(file, STDOUT_FILENO);
    const char *failures[] = {trail_write(TEXT("one")), trail_write(TEXT("two"))};
    give_back(&diversion);
    close(diversion.reader);
    CU_ASSERT(failures[0] == NULL && failures[1] == NULL);
    char written[16] = "";
    CU_ASSERT(pread(file, written, sizeof written - 1, 0) == strlen("one\ntwo\n"));
    ASSERT_TEXT(text_of(written), "one\ntwo\n");
    close(file);
    unlink(path);
}

const char unit_suite[] = "server/trail";
const struct unit_test unit_tests[] = {
    {"a line says who, what and why", line_says_who_what_and_why},
    {"a line says what was changed", line_says_what_was_changed},
    {"a line is never longer than a pipe takes", line_is_never_longer_than_a_pipe_takes},
    {"texts are cut where they cannot be right", texts_are_cut_where_they_cannot_be_right},
    {"a line is filled", a_line_is_filled},
    {"a line has the time of its review", a_line_has_the_time_of_its_review},
    {"lines of many threads are whole", lines_of_many_threads_are_whole},
    {"a reader that is stuck stops nobody", reader_that_is_stuck_stops_nobody},
    {"writers of a full pipe do not wait", writers_of_a_full_pipe_do_not_wait},
    {"a file takes every line", a_file_takes_every_line},
    {NULL, NULL},
};
