/* labels: threads */
/* Answers of a real API server (fakeapi/recorded), cut in pieces in every way: in the end the
 * watcher has reported all objects of the server. scripts/e2e --record writes the recordings. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/object.h"
#include "live/client.h"
#include "unit.h"

const char unit_suite[] = "client recorded";

enum { OBJECTS_MAX = 64, LINE_BYTES = 4096, CUTS_AT_RANDOM = 30 };

static const struct {
    const char *file;
    enum kind kind;
} recordings[] = {
    {"pods", KIND_POD},
    {"deployments", KIND_DEPLOYMENT},
    {"nodepools", KIND_NODE_POOL},
    {"persistentvolumeclaims", KIND_PERSISTENT_VOLUME_CLAIM},
};

/* ---- what is told ---- */

/* "namespace/name resourceVersion" of what is there, and whether the list that goes on had it. */
struct cluster {
    char lines[OBJECTS_MAX][512];
    bool listed[OBJECTS_MAX];
    size_t count;
    unsigned puts, removes, lists, warnings;
};

static char *find(struct cluster *cluster, const struct object *object)
{
    char key[400];
    int size = snprintf(key, sizeof key, "%.*s/%.*s ", TEXT_ARGS(object->namespace),
                        TEXT_ARGS(object->name));
    for (size_t i = 0; i < cluster->count; i++)
        if (strncmp(cluster->lines[i], key, (size_t)size) == 0)
            return cluster->lines[i];
    return NULL;
}

static void drop(struct cluster *cluster, size_t i)
{
    cluster->count--;
    memmove(cluster->lines[i], cluster->lines[cluster->count], sizeof cluster->lines[i]);
    cluster->listed[i] = cluster->listed[cluster->count];
}

static bool begin_list(void *context, enum kind kind)
{
    struct cluster *cluster = context;
    (void)kind;
    memset(cluster->listed, 0, sizeof cluster->listed);
    return true;
}

static bool end_list(void *context, enum kind kind)
{
    struct cluster *cluster = context;
    (void)kind;
    for (size_t i = cluster->count; i-- > 0;)
        if (!cluster->listed[i])
            drop(cluster, i);
    cluster->lists++;
    return true;
}

static bool put(void *context, const struct object *object)
{
    struct cluster *cluster = context;
    char *line = find(cluster, object);
    if (line == NULL && cluster->count == OBJECTS_MAX)
        return false;
    if (line == NULL)
        line = cluster->lines[cluster->count++];
    struct text version = node_string(node_at(object->root->node, "metadata.resourceVersion"));
    snprintf(line, sizeof cluster->lines[0], "%.*s/%.*s %.*s", TEXT_ARGS(object->namespace),
             TEXT_ARGS(object->name), TEXT_ARGS(version));
    cluster->listed[(size_t)(line - cluster->lines[0]) / sizeof cluster->lines[0]] = true;
    cluster->puts++;
    return true;
}

static bool remove_object(void *context, const struct object *object)
{
    struct cluster *cluster = context;
    char *line = find(cluster, object);
    cluster->removes++;
    if (line != NULL)
        drop(cluster, (size_t)(line - cluster->lines[0]) / sizeof cluster->lines[0]);
    return line != NULL;
}

static bool put_unreadable(void *context, const struct object *object, const char *why)
{
    (void)context, (void)object, (void)why;
    return false;
}

static void say(void *context, enum kind kind, enum log_level level, const char *message)
{
    struct cluster *cluster = context;
    (void)kind, (void)message;
    cluster->warnings += level == LOG_WARN;
}

/* ---- how bytes are cut ---- */

enum cut { AS_RECORDED, WHOLE, BYTE_BY_BYTE, AT_RANDOM };

static uint64_t random_state;

static size_t draw(size_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % limit);
}

static size_t piece_bytes(enum cut cut, size_t size)
{
    if (cut == BYTE_BY_BYTE)
        return 1;
    if (cut != AT_RANDOM)
        return size;
    size_t piece = 1 + draw(draw(2) == 0 ? 16 : 3000);
    return piece < size ? piece : size;
}

/* ---- the replay ---- */

struct replay {
    FILE *file;
    struct watcher *watcher;
    int64_t now_ms;
    enum cut cut;
    char line[LINE_BYTES];
};

static bool read_line(struct replay *replay)
{
    bool read = fgets(replay->line, sizeof replay->line, replay->file) != NULL;
    replay->line[strcspn(replay->line, "\n")] = '\0';
    return read;
}

/* Whether they are alike but for how long a watch shall last. */
static bool same_request(const char *asked, const char *recorded)
{
    static const char limit[] = "timeoutSeconds=";
    const char *here = strstr(asked, limit), *there = strstr(recorded, limit);
    if (here == NULL || there == NULL)
        return strcmp(asked, recorded) == 0;
    return here - asked == there - recorded &&
           strncmp(asked, recorded, (size_t)(here - asked)) == 0 &&
           strcmp(here + strcspn(here, "&"), there + strcspn(there, "&")) == 0;
}

static void send_request(struct replay *replay)
{
    struct watch_step step;
    for (watcher_next(replay->watcher, replay->now_ms, &step); step.kind == WATCH_WAIT;
         watcher_next(replay->watcher, replay->now_ms, &step))
        replay->now_ms = step.until_ms;
    ASSERT_INT(step.kind, WATCH_SEND);
    const char *recorded = replay->line + strlen("request ");
    bool same = step.kind == WATCH_SEND && same_request(step.path, recorded);
    if (!same)
        fprintf(stderr, "it asks for %s\nrecorded is %s\n", step.path, recorded);
    CU_ASSERT_FATAL(same);
}

/* False: the watcher wants no more of this answer. */
static bool give(struct replay *replay, const char *bytes, size_t size)
{
    while (size > 0) {
        size_t piece = piece_bytes(replay->cut, size);
        if (!watcher_bytes(replay->watcher, replay->now_ms, (struct text){bytes, piece}))
            return false;
        bytes += piece;
        size -= piece;
    }
    return true;
}

/* The body of an answer, up to its "end". */
static void take_answer(struct replay *replay, long retry_after_s)
{
    char *body = NULL;
    size_t held = 0, size = 0;
    bool wanted = true;
    while (read_line(replay) && sscanf(replay->line, "chunk %zu", &size) == 1) {
        char *grown = realloc(body, held + size + 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(grown);
        body = grown;
        ASSERT_INT(fread(body + held, 1, size + 1, replay->file), size + 1);
        held += size;
        if (replay->cut == AS_RECORDED || replay->cut == BYTE_BY_BYTE) {
            wanted = wanted && give(replay, body, held);
            held = 0;
        }
    }
    ASSERT_TEXT(text_of(replay->line), "end");
    wanted = wanted && give(replay, body, held);
    free(body);
    replay->now_ms += 8000;
    if (wanted)
        watcher_end(replay->watcher, replay->now_ms, NULL, retry_after_s);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void compare(struct replay *replay, struct cluster *cluster)
{
    size_t count = 0;
    ASSERT_INT(sscanf(replay->line, "truth %zu", &count), 1);
    qsort(cluster->lines, cluster->count, sizeof cluster->lines[0], by_text);
    ASSERT_INT(cluster->count, count);
    CU_ASSERT(count > 3);
    for (size_t i = 0; i < count && i < cluster->count; i++) {
        CU_ASSERT(read_line(replay));
        ASSERT_TEXT(text_of(cluster->lines[i]), replay->line);
    }
    CU_ASSERT(!read_line(replay));
}

static void replay_one(size_t recording, enum cut cut, struct cluster *cluster)
{
    char path[1024];
    const char *source = getenv("TAFFRAIL_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/fakeapi/recorded/%s.watch", source == NULL ? "." : source,
             recordings[recording].file);
    *cluster = (struct cluster){0};
    struct watch_settings settings = {.page_objects = 2, .seed = 1, .whole = true};
    struct event_handler handler = {.context = cluster,
                                    .list_begin = begin_list,
                                    .list_end = end_list,
                                    .put = put,
                                    .put_unreadable = put_unreadable,
                                    .remove = remove_object,
                                    .say = say};
    struct replay replay = {.file = fopen(path, "r"), .now_ms = 1000000, .cut = cut};
    CU_ASSERT_PTR_NOT_NULL_FATAL(replay.file);
    replay.watcher = watcher_create(recordings[recording].kind, &settings, &handler);
    CU_ASSERT_PTR_NOT_NULL_FATAL(replay.watcher);
    unsigned status = 0;
    long retry_after_s = 0;
    bool refused = false;
    while (read_line(&replay) && strncmp(replay.line, "request ", 8) == 0) {
        send_request(&replay);
        CU_ASSERT(read_line(&replay) &&
                  sscanf(replay.line, "status %u %ld", &status, &retry_after_s) == 2);
        watcher_head(replay.watcher, replay.now_ms, status);
        take_answer(&replay, retry_after_s);
        refused |= status != 200;
    }
    ASSERT_INT(cluster->warnings, refused); /* an API server that starts asks for a second */
    compare(&replay, cluster);
    struct watch_report report;
    watcher_report(replay.watcher, replay.now_ms, &report);
    CU_ASSERT(report.synced && !report.degraded && report.problem[0] == '\0');
    watcher_destroy(replay.watcher);
    fclose(replay.file);
}

static struct cluster told, again;

static void as_it_was_cut_by_the_server(void)
{
    for (size_t i = 0; i < COUNT_OF(recordings); i++) {
        replay_one(i, AS_RECORDED, &told);
        ASSERT_INT(told.lists, 2); /* the second after its version had expired, which is no fault */
        CU_ASSERT(told.removes >= 2 && told.puts >= 12);
    }
}

static void cut_in_other_ways(void)
{
    random_state = UINT64_C(0x9E3779B97F4A7C15);
    const char *given = getenv("TAFFRAIL_SEED");
    if (given != NULL)
        random_state = strtoull(given, NULL, 10) | 1;
    printf("    TAFFRAIL_SEED=%" PRIu64 "\n", random_state);
    for (size_t i = 0; i < COUNT_OF(recordings); i++) {
        replay_one(i, AS_RECORDED, &told);
        for (int cut = 0; cut < 2 + CUTS_AT_RANDOM; cut++) {
            replay_one(i, cut == 0 ? WHOLE : cut == 1 ? BYTE_BY_BYTE : AT_RANDOM, &again);
            ASSERT_INT(again.puts, told.puts);
            ASSERT_INT(again.removes, told.removes);
            ASSERT_INT(again.lists, told.lists);
        }
    }
}

const struct unit_test unit_tests[] = {
    {"as it was cut by the server", as_it_was_cut_by_the_server},
    {"cut in other ways", cut_in_other_ways},
    {NULL, NULL},
};
