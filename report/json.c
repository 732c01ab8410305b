/* Findings as JSON. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "catalog/catalog.h"
#include "report/format.h"

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

bool json_write(struct json_object *value, struct arena *arena, FILE *out, struct error *error)
{
    struct text printed;
    if (!json_print(value, true, arena, &printed, error))
        return false;
    fwrite(printed.data, 1, printed.size, out);
    fputc('\n', out);
    return true;
}

struct json_object *json_of_text(struct text t)
{
    return t.data == NULL ? NULL : json_object_new_string_len(t.data, (int)t.size);
}

static struct json_object *json_of_number(struct text t)
{
    enum { DIGITS_MAX = 64 };
    char digits[DIGITS_MAX] = "";
    int64_t integer;
    if (text_to_int64(t, &integer))
        return json_object_new_int64(integer);
    memcpy(digits, t.data, t.size < DIGITS_MAX - 1 ? t.size : DIGITS_MAX - 1);
    return json_object_new_double_s(strtod(digits, NULL), digits);
}

struct json_object *json_of_node(const struct node *node)
{
    struct json_object *made = NULL;
    switch ((enum node_kind)node->kind) {
    case NODE_NULL:
        break;
    case NODE_BOOL:
        made = json_object_new_boolean(node_true(node));
        break;
    case NODE_NUMBER:
        made = json_of_number(node_text(node));
        break;
    case NODE_STRING:
        made = json_object_new_string_len(node->size == 0 ? "" : node->bytes, (int)node->size);
        break;
    case NODE_LIST:
        made = json_object_new_array();
        for (size_t i = 0; i < node->size; i++)
            json_object_array_add(made, json_of_node(&node->items[i]));
        break;
    case NODE_MAP:
        made = json_object_new_object();
        for (size_t i = 0; i < node->size; i++) {
            const struct member *member = &node->members[i];
            char *key = text_duplicate(member_key(member));
            if (key != NULL)
                json_object_object_add(made, key, json_of_node(&member->value));
            free(key);
        }
        break;
    }
    return made;
}

void json_add_text(struct json_object *map, const char *key, struct text value)
{
    json_object_object_add(map, key, json_of_text(value));
}

void json_add_string(struct json_object *map, const char *key, const char *value)
{
    json_object_object_add(map, key, value == NULL ? NULL : json_object_new_string(value));
}

void json_add_text_or_null(struct json_object *map, const char *key, struct text value)
{
    json_object_object_add(map, key, value.size == 0 ? NULL : json_of_text(value));
}

void json_add_texts(struct json_object *map, const char *key, const struct text *items,
                    size_t count)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < count; i++)
        json_object_array_add(list, json_of_text(items[i]));
    json_object_object_add(map, key, list);
}

struct text time_rfc3339(int64_t unix_s, struct arena *arena)
{
    time_t seconds = (time_t)unix_s;
    struct tm utc;
    char written[40] = "";
    if (gmtime_r(&seconds, &utc) == NULL ||
        strftime(written, sizeof written, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        return TEXT("");
    return arena_text(arena, text_of(written));
}

void json_add_count(struct json_object *map, const char *key, size_t count)
{
    json_object_object_add(map, key, json_object_new_int64((int64_t)count));
}

struct json_object *json_of_usd(int64_t usd_micro)
{
    long long absolute = usd_micro < 0 ? -usd_micro : usd_micro;
    char digits[32];
    int size = snprintf(digits, sizeof digits, "%s%lld.%06lld", usd_micro < 0 ? "-" : "",
                        absolute / 1000000, absolute % 1000000);
    while (digits[size - 1] == '0' && digits[size - 2] != '.')
        digits[--size] = '\0';
    return json_object_new_double_s((double)usd_micro / 1e6, digits);
}

void json_add_usd(struct json_object *map, const char *key, int64_t usd_micro)
{
    json_object_object_add(map, key, usd_micro < 0 ? NULL : json_of_usd(usd_micro));
}

struct json_object *json_of_prices(const struct catalog *catalog)
{
    const struct catalog_prices *prices = catalog_prices(catalog);
    const struct {
        const char *key;
        struct text value;
    } members[] = {{"region", prices->region}, {"date", prices->date}, {"file", prices->file}};
    struct json_object *json = json_object_new_object();
    for (size_t i = 0; i < COUNT_OF(members); i++)
        json_object_object_add(json, members[i].key,
                               members[i].value.size > 0 ? json_of_text(members[i].value) : NULL);
    return json;
}

static void add_place(struct json_object *map, struct place place)
{
    json_add_string(map, "file", place.file);
    if (place.file == NULL && place.line == 0) {
        json_object_object_add(map, "line", NULL);
        json_object_object_add(map, "column", NULL);
        return;
    }
    json_add_count(map, "line", place.line);
    json_add_count(map, "column", place.column);
}

static struct json_object *json_of_kinds(kind_set kinds)
{
    struct json_object *names = json_object_new_array();
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        if ((kinds & KIND_BIT(kind)) != 0)
            json_object_array_add(names, json_object_new_string(kind_table[kind].name));
    return names;
}

static struct json_object *json_of_finding(const struct located_finding *located,
                                           struct text exception_expires)
{
    const struct object *object = located->object;
    const struct finding *finding = located->finding;
    struct json_object *json = json_object_new_object();
    json_add_string(json, "rail", finding->rail);
    json_add_string(json, "action", action_name(finding->action));
    json_object_object_add(json, "undecided", json_object_new_boolean(finding->undecided));
    json_add_text(json, "apiVersion", object->api_version);
    json_add_text(json, "kind", object->kind_name);
    json_add_text(json, "namespace", object->namespace);
    json_add_text(json, "name", object->name.size > 0 ? object->name : object->generate_name);
    json_add_text(json, "field", finding->path);
    json_add_text(json, "found", finding->found.data == NULL ? TEXT("") : finding->found);
    struct json_object *allowed = json_object_new_array();
    for (size_t i = 0; i < finding->allowed_count; i++)
        json_object_array_add(allowed, json_of_text(finding->allowed[i]));
    json_object_object_add(json, "allowed", allowed);
    json_add_count(json, "allowedTotal", finding->allowed_total);
    json_add_text(json, "message", finding->message);
    json_add_text(json, "fix", finding->fix.data == NULL ? TEXT("") : finding->fix);
    json_add_text(json, "policy", finding->policy);
    json_add_text(json, "docs", finding->docs);
    json_add_text(json, "contact", finding->contact);
    json_add_text(json, "exception", finding->exception);
    json_add_text(json, "exceptionExpires", exception_expires);
    json_add_text(json, "override", finding->override);
    json_object_object_add(json, "unseen", json_of_kinds(finding->unseen));
    json_object_object_add(json, "spared", json_object_new_boolean(finding->spared));
    add_place(json, located->place);
    return json;
}

static struct json_object *json_of_summary(const struct report_summary *summary)
{
    const struct {
        const char *key;
        size_t count;
    } counts[] = {
        {"objects", summary->objects},
        {"skipped", summary->skipped},
        {"denied", summary->denied},
        {"warned", summary->warned},
        {"audited", summary->audited},
        {"excepted", summary->excepted},
        {"undecided", summary->undecided},
        {"errors", summary->errors},
        {"skippedFiles", summary->skipped_files},
        {"ignored", summary->ignored},
        {"fragments", summary->fragments},
        {"boundPods", summary->bound_pods},
    };
    struct json_object *json = json_object_new_object();
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        json_add_count(json, counts[i].key, counts[i].count);
    return json;
}

bool report_json(const struct report *report, const struct report_style *style, struct arena *arena,
                 FILE *out, struct error *error)
{
    (void)style;
    size_t finding_count, error_count;
    const struct located_finding *located = locate_findings(report, arena, &finding_count);
    const struct located_error *located_errors = locate_errors(report, arena, &error_count);
    struct text *days = ARENA_ARRAY(arena, finding_count, struct text);
    for (size_t i = 0; i < finding_count; i++)
        if (located[i].finding->exception.data != NULL)
            days[i] = message_day(located[i].finding->exception_expires_unix_s, arena);
    struct json_object *findings = json_object_new_array();
    for (size_t i = 0; i < finding_count; i++)
        json_object_array_add(findings, json_of_finding(&located[i], days[i]));
    struct json_object *errors = json_object_new_array();
    for (size_t i = 0; i < error_count; i++) {
        struct json_object *one = json_object_new_object();
        add_place(one, located_errors[i].place);
        json_add_text(one, "message", located_errors[i].message);
        json_object_array_add(errors, one);
    }
    struct report_summary summary = report_summarize(report);
    struct json_object *root = json_object_new_object();
    json_add_string(root, "schema", "taffrail.dev/findings/v1");
    json_object_object_add(root, "findings", findings);
    json_object_object_add(root, "errors", errors);
    json_object_object_add(root, "summary", json_of_summary(&summary));
    return json_write(root, arena, out, error);
}
