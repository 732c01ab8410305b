/* SARIF 2.1.0 (OASIS). Braces in messages are not doubled, as the standard asks for messages with
 * arguments: viewers show the text as it is, and people copy fixes from it. */
#include <json-c/json.h>
#include <string.h>

#include "base/version.h"
#include "report/format.h"

/* ---- work that needs the arena, before json-c is held ---- */

struct rule {
    const char *id, *summary, *detail;
    struct text page, help_uri;
};

struct rules {
    struct rule *items;
    size_t count;
};

struct result {
    const struct located_finding *located;
    size_t rule;
    struct region region;
    struct text uri, title, message, fingerprint;
    struct text justification; /* of an exception; empty: none */
    struct text insertion;     /* the replacement text; empty: no fix for tools */
};

struct notification {
    struct text uri, message; /* uri empty: no file */
    uint32_t line;
};

/* A path as a relative reference, an absolute one as a file URI; every character but RFC 3986's
 * unreserved ones and slashes is percent-encoded. */
static struct text uri_of(const char *path, struct arena *arena)
{
    static const char unreserved[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    struct text_builder uri = {.arena = arena};
    if (path == NULL)
        return TEXT("");
    if (path[0] == '/')
        text_builder_add(&uri, TEXT("file://"));
    for (const char *at = short_path(path); *at != '\0'; at++) {
        if (strchr(unreserved, *at) != NULL)
            text_builder_add(&uri, (struct text){at, 1});
        else
            text_builder_printf(&uri, "%%%02X", (unsigned)(unsigned char)*at);
    }
    return text_builder_text(&uri);
}

/* A policy's docs are free text; helpUri must be a URI. */
static bool is_web_address(struct text t)
{
    static const char others[] = "-._~:/?#[]@!$&'()*+,;=%";
    if (!text_starts_with(t, TEXT("https://")) && !text_starts_with(t, TEXT("http://")))
        return false;
    for (size_t i = 0; i < t.size; i++) {
        char c = t.data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && (c == '\0' || strchr(others, c) == NULL))
            return false;
    }
    return true;
}

static bool is_used(const char *id, const struct located_finding *findings, size_t count,
                    struct text *docs)
{
    bool used = false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(findings[i].finding->rail, id) != 0)
            continue;
        used = true;
        *docs = findings[i].finding->docs;
        if (is_web_address(*docs))
            return true;
    }
    *docs = TEXT("");
    return used;
}

/* Each rail with a finding, by name. */
static struct rules rules_of(const struct located_finding *findings, size_t count,
                             struct arena *arena)
{
    struct rules rules = {.items = ARENA_ARRAY(arena, rail_count(), struct rule)};
    for (size_t i = 0; i < rail_count(); i++) {
        const struct rail *rail = rail_at(i);
        struct text docs;
        if (!is_used(rail_name(rail), findings, count, &docs))
            continue;
        rules.items[rules.count++] = (struct rule){
            .id = rail_name(rail),
            .summary = rail_summary(rail),
            .detail = rail_detail(rail),
            .page = rail_explain(rail, arena),
            .help_uri = docs,
        };
    }
    return rules;
}

/* FNV-1a, with a NUL after each part. */
static uint64_t hash_part(uint64_t hash, struct text part)
{
    for (size_t i = 0; i <= part.size; i++)
        hash = (hash ^ (i < part.size ? (unsigned char)part.data[i] : 0)) * UINT64_C(0x100000001b3);
    return hash;
}

/* The same for the same mistake in the same object, in any file and line. */
static uint64_t hash_of(const struct located_finding *located)
{
    const struct finding *finding = located->finding;
    const struct object *object = located->object;
    const struct text parts[] = {
        text_of(finding->rail), object->kind_name, object->namespace, object->name,
        object->generate_name,  finding->path,     finding->found,
    };
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        hash = hash_part(hash, parts[i]);
    return hash;
}

static struct text justification_of(const struct finding *finding, struct arena *arena)
{
    if (finding->action != ACTION_EXCEPTED)
        return TEXT("");
    return arena_printf(arena, "exception %.*s of policy %.*s", TEXT_ARGS(finding->exception),
                        TEXT_ARGS(finding->policy));
}

static struct text insertion_of(const struct located_finding *located, struct arena *arena)
{
    const struct node *node = located->finding->field->node;
    if (located->object->source == NULL)
        return TEXT("");
    struct text written = scalar_written(located->object->source->text, node);
    if (located->finding->replacement.size == 0 || !node_is(node, NODE_STRING) || written.size == 0)
        return TEXT("");
    return scalar_rewritten(written, located->finding->replacement, arena);
}

static size_t rule_index(const struct rules *rules, const char *id)
{
    size_t index = 0;
    while (index + 1 < rules->count && strcmp(rules->items[index].id, id) != 0)
        index++;
    return index;
}

static const struct result *results_of(const struct located_finding *findings, size_t count,
                                       const struct rules *rules, struct arena *arena)
{
    struct result *results = ARENA_ARRAY(arena, count, struct result);
    uint64_t last_hash = 0;
    unsigned number = 0;
    for (size_t i = 0; i < count; i++) {
        const struct located_finding *located = &findings[i];
        const struct source *source = located->object->source;
        /* Equal ones (of two policies, or without a value found) are neighbours. */
        uint64_t hash = hash_of(located);
        number = hash == last_hash ? number + 1 : 1;
        last_hash = hash;
        results[i] = (struct result){
            .located = located,
            .rule = rule_index(rules, located->finding->rail),
            .region = finding_region(located, arena),
            .uri = uri_of(source == NULL ? NULL : source->file, arena),
            .title = object_title(located->object, arena),
            .message = finding_advice(located->finding, arena),
            .fingerprint = arena_printf(arena, "%016llx:%u", (unsigned long long)hash, number),
            .justification = justification_of(located->finding, arena),
            .insertion = insertion_of(located, arena),
        };
        results[i].title = arena_printf(arena, "%.*s %.*s", TEXT_ARGS(located->object->kind_name),
                                        TEXT_ARGS(results[i].title));
    }
    return results;
}

/* ---- JSON ---- */

static struct json_object *list_of(struct json_object *only)
{
    struct json_object *list = json_object_new_array();
    json_object_array_add(list, only);
    return list;
}

static struct json_object *json_of_message(struct text text)
{
    struct json_object *message = json_object_new_object();
    json_add_text(message, "text", text);
    return message;
}

static struct json_object *json_of_artifact(struct text uri)
{
    struct json_object *artifact = json_object_new_object();
    json_add_text(artifact, "uri", uri);
    return artifact;
}

static struct json_object *json_of_region(const struct region *region)
{
    struct json_object *json = json_object_new_object();
    json_add_count(json, "startLine", region->line);
    if (region->column > 0)
        json_add_count(json, "startColumn", region->column);
    if (region->end_line > 0) {
        json_add_count(json, "endLine", region->end_line);
        json_add_count(json, "endColumn", region->end_column);
    }
    return json;
}

static struct json_object *json_of_physical(struct text uri, const struct region *region)
{
    struct json_object *physical = json_object_new_object();
    json_object_object_add(physical, "artifactLocation", json_of_artifact(uri));
    if (region->line > 0)
        json_object_object_add(physical, "region", json_of_region(region));
    return physical;
}

static struct json_object *json_of_logical(struct text name, const char *kind)
{
    struct json_object *logical = json_object_new_object();
    json_add_text(logical, "fullyQualifiedName", name);
    json_add_string(logical, "kind", kind);
    return logical;
}

static struct json_object *json_of_location(const struct result *result)
{
    struct json_object *location = json_object_new_object();
    if (result->uri.size > 0)
        json_object_object_add(location, "physicalLocation",
                               json_of_physical(result->uri, &result->region));
    struct json_object *logical = list_of(json_of_logical(result->title, "resource"));
    if (result->located->finding->path.size > 0)
        json_object_array_add(logical, json_of_logical(result->located->finding->path, "property"));
    json_object_object_add(location, "logicalLocations", logical);
    return location;
}

static struct json_object *json_of_fix(const struct result *result)
{
    struct json_object *replacement = json_object_new_object();
    json_object_object_add(replacement, "deletedRegion", json_of_region(&result->region));
    json_object_object_add(replacement, "insertedContent", json_of_message(result->insertion));
    struct json_object *change = json_object_new_object();
    json_object_object_add(change, "artifactLocation", json_of_artifact(result->uri));
    json_object_object_add(change, "replacements", list_of(replacement));
    struct json_object *fix = json_object_new_object();
    json_object_object_add(fix, "description", json_of_message(result->located->finding->fix));
    json_object_object_add(fix, "artifactChanges", list_of(change));
    return fix;
}

static struct json_object *json_of_suppression(struct text justification)
{
    struct json_object *suppression = json_object_new_object();
    json_add_string(suppression, "kind", "external");
    json_add_string(suppression, "status", "accepted");
    json_add_text(suppression, "justification", justification);
    return suppression;
}

static const char *level_of(const struct finding *finding)
{
    static const char *const levels[] = {
        [ACTION_NONE] = "none",    [ACTION_EXCEPTED] = "note", [ACTION_AUDIT] = "note",
        [ACTION_WARN] = "warning", [ACTION_DENY] = "error",
    };
    return finding->undecided ? "none" : levels[finding->action];
}

static struct json_object *json_of_result(const struct result *result, const struct rules *rules)
{
    const struct finding *finding = result->located->finding;
    struct json_object *json = json_object_new_object();
    json_add_string(json, "ruleId", rules->items[result->rule].id);
    json_add_count(json, "ruleIndex", result->rule);
    json_add_string(json, "kind", finding->undecided ? "open" : "fail");
    json_add_string(json, "level", level_of(finding));
    json_object_object_add(json, "message", json_of_message(result->message));
    json_object_object_add(json, "locations", list_of(json_of_location(result)));
    struct json_object *fingerprints = json_object_new_object();
    json_add_text(fingerprints, "taffrailFinding/v1", result->fingerprint);
    json_object_object_add(json, "partialFingerprints", fingerprints);
    if (result->justification.size > 0)
        json_object_object_add(json, "suppressions",
                               list_of(json_of_suppression(result->justification)));
    if (result->insertion.size > 0)
        json_object_object_add(json, "fixes", list_of(json_of_fix(result)));
    struct json_object *properties = json_object_new_object();
    json_add_text(properties, "policy", finding->policy);
    json_object_object_add(json, "properties", properties);
    return json;
}

static struct json_object *json_of_rule(const struct rule *rule)
{
    struct json_object *json = json_object_new_object();
    json_add_string(json, "id", rule->id);
    json_object_object_add(json, "shortDescription", json_of_message(text_of(rule->summary)));
    json_object_object_add(json, "fullDescription", json_of_message(text_of(rule->detail)));
    json_object_object_add(json, "help", json_of_message(rule->page));
    if (rule->help_uri.size > 0)
        json_add_text(json, "helpUri", rule->help_uri);
    return json;
}

static struct json_object *json_of_tool(const struct rules *rules)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < rules->count; i++)
        json_object_array_add(list, json_of_rule(&rules->items[i]));
    struct json_object *driver = json_object_new_object();
    json_add_string(driver, "name", "Taffrail");
    json_add_string(driver, "version", taffrail_version);
    json_object_object_add(driver, "rules", list);
    struct json_object *tool = json_object_new_object();
    json_object_object_add(tool, "driver", driver);
    return tool;
}

static struct json_object *json_of_notification(const struct notification *notification)
{
    struct json_object *json = json_object_new_object();
    json_add_string(json, "level", "error");
    json_object_object_add(json, "message", json_of_message(notification->message));
    if (notification->uri.size > 0) {
        struct region region = {.line = notification->line};
        struct json_object *location = json_object_new_object();
        json_object_object_add(location, "physicalLocation",
                               json_of_physical(notification->uri, &region));
        json_object_object_add(json, "locations", list_of(location));
    }
    return json;
}

static struct json_object *json_of_invocation(const struct notification *notifications,
                                              size_t count)
{
    struct json_object *invocation = json_object_new_object();
    json_object_object_add(invocation, "executionSuccessful", json_object_new_boolean(count == 0));
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < count; i++)
        json_object_array_add(list, json_of_notification(&notifications[i]));
    json_object_object_add(invocation, "toolExecutionNotifications", list);
    return invocation;
}

/* ---- the whole ---- */

/* An error's column counts code points, and its text is gone, so only its line is given. */
static const struct notification *notifications_of(const struct report *report, struct arena *arena,
                                                   size_t *count)
{
    const struct located_error *errors = locate_errors(report, arena, count);
    struct notification *notifications = ARENA_ARRAY(arena, *count, struct notification);
    for (size_t i = 0; i < *count; i++)
        notifications[i] = (struct notification){uri_of(errors[i].path, arena), errors[i].message,
                                                 errors[i].place.line};
    return notifications;
}

bool report_sarif(const struct report *report, const struct report_style *style,
                  struct arena *arena, FILE *out, struct error *error)
{
    (void)style;
    size_t count, notification_count;
    const struct located_finding *findings = locate_findings(report, arena, &count);
    struct rules rules = rules_of(findings, count, arena);
    const struct result *results = results_of(findings, count, &rules, arena);
    const struct notification *notifications = notifications_of(report, arena, &notification_count);

    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < count; i++)
        json_object_array_add(list, json_of_result(&results[i], &rules));
    struct json_object *run = json_object_new_object();
    json_object_object_add(run, "tool", json_of_tool(&rules));
    json_object_object_add(run, "invocations",
                           list_of(json_of_invocation(notifications, notification_count)));
    json_add_string(run, "columnKind", "utf16CodeUnits");
    json_object_object_add(run, "results", list);
    struct json_object *root = json_object_new_object();
    json_add_string(root, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_add_string(root, "version", "2.1.0");
    json_object_object_add(root, "runs", list_of(run));
    return json_write(root, arena, out, error);
}
