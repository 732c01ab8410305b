#include <json-c/json.h>
#include <string.h>

#include "report/report.h"

struct printing {
    struct arena *arena;
    struct text from, copy;
};

static void copy_printed(void *argument)
{
    struct printing *printing = argument;
    printing->copy = arena_text(printing->arena, printing->from);
}

bool json_print(struct json_object *value, bool pretty, struct arena *arena, struct text *printed,
                struct error *error)
{
    int flags =
        JSON_C_TO_STRING_NOSLASHESCAPE |
        (pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED : JSON_C_TO_STRING_PLAIN);
    struct printing printing = {.arena = arena};
    printing.from.data = json_object_to_json_string_length(value, flags, &printing.from.size);
    bool done = printing.from.data != NULL && arena_guard(arena, copy_printed, &printing, error);
    if (printing.from.data == NULL)
        error_set(error, ERROR_MEMORY, NOWHERE, "no memory to write JSON");
    json_object_put(value);
    *printed = printing.copy;
    return done;
}

struct json_object *json_of_text(struct text t)
{
    return t.data == NULL ? NULL : json_object_new_string_len(t.data, (int)t.size);
}

static void add_text(struct json_object *map, const char *key, struct text value)
{
    json_object_object_add(map, key, json_of_text(value));
}

static void add_count(struct json_object *map, const char *key, size_t count)
{
    json_object_object_add(map, key, json_object_new_int64((int64_t)count));
}

static void add_place(struct json_object *map, struct place place)
{
    json_object_object_add(map, "file",
                           place.file == NULL ? NULL : json_object_new_string(place.file));
    add_count(map, "line", place.line);
    add_count(map, "column", place.column);
}

static struct json_object *json_of_finding(const struct object *object,
                                           const struct finding *finding, struct place place)
{
    struct json_object *json = json_object_new_object();
    json_object_object_add(json, "rail", json_object_new_string(finding->rail));
    json_object_object_add(json, "action", json_object_new_string(action_name(finding->action)));
    json_object_object_add(json, "undecided", json_object_new_boolean(finding->undecided));
    add_text(json, "apiVersion", object->api_version);
    add_text(json, "kind", object->kind_name);
    add_text(json, "namespace", object->namespace);
    add_text(json, "name", object->name.size > 0 ? object->name : object->generate_name);
    add_text(json, "field", finding->path);
    add_text(json, "found", finding->found.data == NULL ? TEXT("") : finding->found);
    struct json_object *allowed = json_object_new_array();
    for (size_t i = 0; i < finding->allowed_count; i++)
        json_object_array_add(allowed, json_of_text(finding->allowed[i]));
    json_object_object_add(json, "allowed", allowed);
    add_count(json, "allowedTotal", finding->allowed_total);
    add_text(json, "message", finding->message);
    add_text(json, "fix", finding->fix.data == NULL ? TEXT("") : finding->fix);
    add_text(json, "policy", finding->policy);
    add_text(json, "exception", finding->exception);
    add_place(json, place);
    return json;
}

static struct json_object *json_of_summary(const struct report_summary *summary)
{
    const struct {
        const char *key;
        size_t count;
    } counts[] = {
        {"objects", summary->objects},     {"skipped", summary->skipped},
        {"denied", summary->denied},       {"warned", summary->warned},
        {"audited", summary->audited},     {"excepted", summary->excepted},
        {"undecided", summary->undecided}, {"errors", summary->errors},
    };
    struct json_object *json = json_object_new_object();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        add_count(json, counts[i].key, counts[i].count);
    return json;
}

/* Places are computed first: that may allocate from the arena, which may not happen while json-c
 * holds memory. */
static struct place *places_of(const struct report *report, struct arena *arena)
{
    size_t total = 0;
    for (size_t i = 0; i < report->entry_count; i++)
        total += report->entries[i].verdict.finding_count;
    struct place *places = ARENA_ARRAY(arena, total, struct place);
    size_t next = 0;
    for (size_t i = 0; i < report->entry_count; i++)
        for (size_t j = 0; j < report->entries[i].verdict.finding_count; j++)
            places[next++] =
                source_place(report->entries[i].object->source, arena,
                             field_offset(report->entries[i].verdict.findings[j].field));
    return places;
}

bool report_json(const struct report *report, struct arena *arena, struct text *json,
                 struct error *error)
{
    const struct place *places = places_of(report, arena);
    struct json_object *findings = json_object_new_array();
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct report_entry *entry = &report->entries[i];
        for (size_t j = 0; j < entry->verdict.finding_count; j++)
            json_object_array_add(
                findings, json_of_finding(entry->object, &entry->verdict.findings[j], *places++));
    }
    struct json_object *errors = json_object_new_array();
    for (size_t i = 0; i < report->errors->count; i++) {
        struct json_object *one = json_object_new_object();
        add_place(one, report->errors->items[i].place);
        json_object_object_add(one, "message",
                               json_object_new_string(report->errors->items[i].what));
        json_object_array_add(errors, one);
    }
    struct report_summary summary = report_summarize(report);
    struct json_object *root = json_object_new_object();
    json_object_object_add(root, "schema", json_object_new_string("taffrail.dev/findings/v1"));
    json_object_object_add(root, "findings", findings);
    json_object_object_add(root, "errors", errors);
    json_object_object_add(root, "summary", json_of_summary(&summary));
    return json_print(root, true, arena, json, error);
}
