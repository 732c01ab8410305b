#include "server/server.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* A line and its newline fit in PIPE_BUF, so that one write(2) of many threads and processes never
 * mixes with another. What does not fit: long texts are cut, then findings are counted only. */
enum {
    LINE_BYTES_MAX = PIPE_BUF - 1,
    NAME_BYTES_MAX = 256, /* what Kubernetes allows in names */
    USER_BYTES_MAX = 512, /* system:serviceaccount:NAMESPACE:NAME, with room */
    VALUE_BYTES_MAX = 128,
};

static size_t escaped_bytes(unsigned char c)
{
    return c < 0x20 ? sizeof "\\u0000" - 1 : c == '"' || c == '\\' ? 2 : 1;
}

/* The start of t that takes at most limit bytes in JSON, without a code point cut in two. */
static struct text shortened(struct text t, size_t limit)
{
    size_t size = 0;
    for (size_t used = 0; size < t.size; size++) {
        used += escaped_bytes((unsigned char)t.data[size]);
        if (used > limit)
            break;
    }
    while (size > 0 && size < t.size && ((unsigned char)t.data[size] & 0xC0) == 0x80)
        size--;
    return (struct text){t.data, size};
}

static void add_text(struct json_object *object, const char *key, struct text t, size_t limit)
{
    struct text part = shortened(t, limit);
    json_object_object_add(object, key, json_object_new_string_len(part.data, (int)part.size));
}

static void add_time(struct json_object *object, int64_t now_unix_ms)
{
    time_t seconds = now_unix_ms / 1000;
    struct tm parts;
    char day[32] = "", moment[48];
    if (gmtime_r(&seconds, &parts) != NULL)
        strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(moment, sizeof moment, "%s.%03dZ", day, (int)(now_unix_ms % 1000));
    json_object_object_add(object, "time", json_object_new_string(moment));
}

static struct json_object *new_finding(const struct finding *finding)
{
    struct json_object *object = json_object_new_object();
    add_text(object, "rail", text_of(finding->rail), NAME_BYTES_MAX);
    add_text(object, "action", text_of(action_name(finding->action)), NAME_BYTES_MAX);
    add_text(object, "policy", finding->policy, NAME_BYTES_MAX);
    add_text(object, "field", finding->path, NAME_BYTES_MAX);
    add_text(object, "found", finding->found, VALUE_BYTES_MAX);
    if (finding->override.data != NULL)
        add_text(object, "override", finding->override, VALUE_BYTES_MAX);
    if (finding->exception.data != NULL)
        add_text(object, "exception", finding->exception, VALUE_BYTES_MAX);
    if (finding->undecided)
        json_object_object_add(object, "undecided", json_object_new_boolean(true));
    if (finding->pre_existing)
        json_object_object_add(object, "preExisting", json_object_new_boolean(true));
    return object;
}

static struct json_object *new_amendment(const struct amendment *amendment)
{
    struct json_object *object = json_object_new_object();
    add_text(object, "rail", text_of(amendment->rail), NAME_BYTES_MAX);
    add_text(object, "outcome", text_of(outcome_name(amendment->outcome)), NAME_BYTES_MAX);
    add_text(object, "policy", amendment->policy, NAME_BYTES_MAX);
    add_text(object, "added", amendment->added, NAME_BYTES_MAX);
    if (amendment->exception.data != NULL)
        add_text(object, "exception", amendment->exception, VALUE_BYTES_MAX);
    return object;
}

static size_t json_size(struct json_object *object)
{
    size_t size = 0;
    json_object_to_json_string_length(
        object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &size);
    return size;
}

static struct json_object *new_line(const struct review_record *record, int64_t now_unix_ms)
{
    struct json_object *line = json_object_new_object();
    json_object_object_add(line, "schema", json_object_new_string("taffrail.dev/trail/v1"));
    add_time(line, now_unix_ms);
    add_text(line, "uid", record->uid, NAME_BYTES_MAX);
    add_text(line, "operation", record->operation, VALUE_BYTES_MAX);
    add_text(line, "kind", record->kind, VALUE_BYTES_MAX);
    add_text(line, "namespace", record->namespace, NAME_BYTES_MAX);
    add_text(line, "name", record->name, NAME_BYTES_MAX);
    add_text(line, "user", record->user, USER_BYTES_MAX);
    json_object_object_add(line, "dryRun", json_object_new_boolean(record->dry_run));
    json_object_object_add(line, "allowed", json_object_new_boolean(record->allowed));
    add_text(line, "action", text_of(action_name(record->verdict.action)), VALUE_BYTES_MAX);
    json_object_object_add(line, "findingsTotal",
                           json_object_new_int64((int64_t)record->verdict.finding_count));
    if (record->verdict.amendment_count > 0)
        json_object_object_add(line, "changesTotal",
                               json_object_new_int64((int64_t)record->verdict.amendment_count));
    return line;
}

/* Adds it while the line has room for it. */
static bool add_entry(struct json_object *list, struct json_object *entry, size_t *line_size)
{
    size_t size = json_size(entry) + 1;
    if (*line_size + size > LINE_BYTES_MAX) {
        json_object_put(entry);
        return false;
    }
    json_object_array_add(list, entry);
    *line_size += size;
    return true;
}

/* A review judges or changes: one of the two lists is always empty. */
static void add_entries(struct json_object *line, const struct verdict *verdict)
{
    struct json_object *findings = json_object_new_array();
    struct json_object *changes = json_object_new_array();
    json_object_object_add(line, "findings", findings);
    if (verdict->amendment_count > 0)
        json_object_object_add(line, "changes", changes);
    else
        json_object_put(changes);
    size_t size = json_size(line);
    for (size_t i = 0; i < verdict->amendment_count; i++)
        if (!add_entry(changes, new_amendment(&verdict->amendments[i]), &size))
            return;
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (!add_entry(findings, new_finding(&verdict->findings[i]), &size))
            return;
}

struct text trail_line(const struct review_record *record, int64_t now_unix_ms, struct arena *arena)
{
    /* Taken first: the objects below are malloc's, which an arena that runs out would leak. */
    char *bytes = ARENA_ARRAY(arena, LINE_BYTES_MAX + 1, char);
    struct json_object *line = new_line(record, now_unix_ms);
    add_entries(line, &record->verdict);
    size_t size = 0;
    const char *json = json_object_to_json_string_length(
        line, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &size);
    memcpy(bytes, json, size); /* the limits above leave more than half of it to the lists */
    json_object_put(line);
    return (struct text){bytes, size};
}
