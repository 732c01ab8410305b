/* An audit as objects of openreports.io/v1alpha1, in a List that kubectl applies. Every namespace
 * gets a Report, also one without findings, so that older findings are overwritten. */
#include <json-c/json.h>
#include <stdlib.h>

#include "report/audit.h"

/* "fail" and "warn" say whether a finding is enforced; "error" is an undecided finding, "skip" one
 * under an exception. */
static const struct {
    const char *result, *severity;
} outcomes[AUDIT_OUTCOMES] = {
    [AUDIT_DENIED] = {"fail", "high"},     [AUDIT_WARNED] = {"warn", "medium"},
    [AUDIT_AUDITED] = {"warn", "low"},     [AUDIT_EXCEPTED] = {"skip", "info"},
    [AUDIT_UNDECIDED] = {"error", "info"},
};

/* ---- what is computed before json-c holds memory ---- */

struct result {
    const struct object *object;
    const struct finding *finding;
    struct text message;
};
struct space {
    struct text namespace;
    struct result *results;
    size_t count;
    struct audit_counts counts;
};
struct spaces {
    struct space *items;
    size_t count;
};

static int compare_entries(const void *a_pointer, const void *b_pointer)
{
    const struct object *a = (*(const struct report_entry *const *)a_pointer)->object;
    const struct object *b = (*(const struct report_entry *const *)b_pointer)->object;
    int order = text_compare(a->namespace, b->namespace);
    if (order == 0)
        order = text_compare(a->kind_name, b->kind_name);
    return order != 0 ? order : text_compare(a->name, b->name);
}

static const struct report_entry **sort_entries(const struct report *report, struct arena *arena)
{
    const struct report_entry **sorted =
        ARENA_ARRAY(arena, report->entry_count, const struct report_entry *);
    for (size_t i = 0; i < report->entry_count; i++)
        sorted[i] = &report->entries[i];
    if (report->entry_count > 1)
        qsort(sorted, report->entry_count, sizeof(struct report_entry *), compare_entries);
    return sorted;
}

static struct text message_of(const struct finding *finding, struct arena *arena)
{
    struct text_builder message = {.arena = arena};
    if (finding->path.size > 0)
        text_builder_printf(&message, "%.*s: ", TEXT_ARGS(finding->path));
    text_builder_add(&message, finding->message);
    struct note notes[AUDIT_NOTES];
    size_t count = audit_notes(finding, notes, arena);
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&message, "\n%s: %.*s", notes[i].label, TEXT_ARGS(notes[i].text));
    return text_as_utf8(text_builder_text(&message), arena);
}

static struct spaces group(const struct report *report, struct arena *arena)
{
    const struct report_entry **entries = sort_entries(report, arena);
    size_t total = 0;
    for (size_t i = 0; i < report->entry_count; i++)
        total += entries[i]->verdict.finding_count;
    struct result *next = ARENA_ARRAY(arena, total, struct result);
    struct spaces spaces = {.items = ARENA_ARRAY(arena, report->entry_count, struct space)};
    struct space *space = NULL;
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct object *object = entries[i]->object;
        const struct verdict *verdict = &entries[i]->verdict;
        if (space == NULL || !text_equal(space->namespace, object->namespace)) {
            space = &spaces.items[spaces.count++];
            *space = (struct space){.namespace = object->namespace, .results = next};
        }
        for (size_t j = 0; j < verdict->finding_count; j++) {
            const struct finding *finding = &verdict->findings[j];
            *next++ = (struct result){object, finding, message_of(finding, arena)};
            space->count++;
            space->counts.of[audit_outcome_of(finding)]++;
        }
    }
    return spaces;
}

/* ---- JSON ---- */

static void add_given(struct json_object *map, const char *key, struct text value)
{
    if (value.size > 0)
        json_add_text(map, key, value);
}

static struct json_object *json_of_subject(const struct object *object)
{
    struct json_object *json = json_object_new_object();
    json_add_text(json, "apiVersion", object->api_version);
    json_add_text(json, "kind", object->kind_name);
    add_given(json, "namespace", object->namespace);
    json_add_text(json, "name", object->name);
    add_given(json, "uid", object->uid);
    return json;
}

static struct json_object *json_of_result(const struct result *result)
{
    const struct finding *finding = result->finding;
    enum audit_outcome outcome = audit_outcome_of(finding);
    struct json_object *json = json_object_new_object();
    json_add_string(json, "source", "taffrail");
    json_add_text(json, "policy", finding->policy);
    json_add_string(json, "rule", finding->rail);
    json_add_string(json, "result", outcomes[outcome].result);
    json_add_string(json, "severity", outcomes[outcome].severity);
    json_object_object_add(json, "scored", json_object_new_boolean(outcome == AUDIT_DENIED));
    struct json_object *subjects = json_object_new_array();
    json_object_array_add(subjects, json_of_subject(result->object));
    json_object_object_add(json, "resources", subjects);
    json_add_text(json, "message", result->message);
    struct json_object *properties = json_object_new_object();
    json_add_string(properties, "action", finding_label(finding));
    add_given(properties, "field", finding->path);
    add_given(properties, "found", finding->found);
    add_given(properties, "exception", finding->exception);
    add_given(properties, "docs", finding->docs);
    json_object_object_add(json, "properties", properties);
    return json;
}

static struct json_object *json_of_metadata(const struct space *space)
{
    struct json_object *labels = json_object_new_object();
    json_add_string(labels, "app.kubernetes.io/managed-by", "taffrail");
    struct json_object *metadata = json_object_new_object();
    json_add_string(metadata, "name", "taffrail");
    add_given(metadata, "namespace", space->namespace);
    json_object_object_add(metadata, "labels", labels);
    return metadata;
}

static struct json_object *json_of_summary(const struct audit_counts *counts)
{
    struct json_object *json = json_object_new_object();
    json_add_count(json, "pass", 0);
    json_add_count(json, "fail", counts->of[AUDIT_DENIED]);
    json_add_count(json, "warn", counts->of[AUDIT_WARNED] + counts->of[AUDIT_AUDITED]);
    json_add_count(json, "error", counts->of[AUDIT_UNDECIDED]);
    json_add_count(json, "skip", counts->of[AUDIT_EXCEPTED]);
    return json;
}

static struct json_object *json_of_space(const struct space *space)
{
    struct json_object *results = json_object_new_array();
    for (size_t i = 0; i < space->count; i++)
        json_object_array_add(results, json_of_result(&space->results[i]));
    struct json_object *json = json_object_new_object();
    json_add_string(json, "apiVersion", "openreports.io/v1alpha1");
    json_add_string(json, "kind", space->namespace.size > 0 ? "Report" : "ClusterReport");
    json_object_object_add(json, "metadata", json_of_metadata(space));
    json_add_string(json, "source", "taffrail");
    json_object_object_add(json, "summary", json_of_summary(&space->counts));
    json_object_object_add(json, "results", results);
    return json;
}

bool report_audit_openreports(const struct report *report, const struct report_style *style,
                              struct arena *arena, FILE *out, struct error *error)
{
    (void)style;
    const struct spaces spaces = group(report, arena);
    struct json_object *items = json_object_new_array();
    for (size_t i = 0; i < spaces.count; i++)
        json_object_array_add(items, json_of_space(&spaces.items[i]));
    struct json_object *root = json_object_new_object();
    json_add_string(root, "apiVersion", "v1");
    json_add_string(root, "kind", "List");
    json_object_object_add(root, "items", items);
    return json_write(root, arena, out, error);
}
