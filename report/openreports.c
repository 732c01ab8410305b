/* An audit as objects of openreports.io/v1alpha1, in a List that kubectl applies. Every namespace
 * gets a Report, also one without findings, so that older findings are overwritten. */
#include "report/openreports.h"

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

static const struct {
    const char *api_version, *kind, *cluster_kind;
    bool has_source; /* of the report, and its limits, besides those of each result */
    bool has_info;   /* the severity; the first definitions of the older API refuse it */
} apis[REPORT_API_COUNT] = {
    [REPORT_API_OPENREPORTS] = {"openreports.io/v1alpha1", "Report", "ClusterReport", true, true},
    [REPORT_API_WGPOLICY] = {"wgpolicyk8s.io/v1alpha2", "PolicyReport", "ClusterPolicyReport",
                             false, false},
};

/* ---- maps ---- */

struct members {
    struct member *items;
    size_t count, capacity;
};

static void add(struct members *members, struct arena *arena, const char *key, struct node value)
{
    *LIST_PUSH(arena, members) = member_of(text_of(key), value);
}

static void add_text(struct members *members, struct arena *arena, const char *key,
                     struct text value)
{
    add(members, arena, key, node_of_text(text_as_utf8(value, arena)));
}

static void add_given(struct members *members, struct arena *arena, const char *key,
                      struct text value)
{
    if (value.size > 0)
        add_text(members, arena, key, value);
}

static void add_count(struct members *members, struct arena *arena, const char *key, size_t count)
{
    add(members, arena, key, node_of_integer((int64_t)count, arena));
}

static struct node map_of(const struct members *members)
{
    return node_of_members(members->items, members->count);
}

/* ---- one result ---- */

struct text report_result_message(const struct finding *finding, struct arena *arena)
{
    struct text_builder message = {.arena = arena};
    if (finding->path.size > 0)
        text_builder_printf(&message, "%.*s: ", TEXT_ARGS(finding->path));
    text_builder_add(&message, finding->message);
    struct note notes[AUDIT_NOTES];
    size_t count = audit_notes(finding, notes, arena);
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&message, "\n%s: %.*s", notes[i].label, TEXT_ARGS(notes[i].text));
    return text_builder_text(&message);
}

static struct node node_of_subject(const struct object *object, struct arena *arena)
{
    struct members subject = {0};
    add_text(&subject, arena, "apiVersion", object->api_version);
    add_text(&subject, arena, "kind", object->kind_name);
    add_given(&subject, arena, "namespace", object->namespace);
    add_text(&subject, arena, "name", object->name);
    add_given(&subject, arena, "uid", object->uid);
    return map_of(&subject);
}

static struct node node_of_properties(const struct finding *finding, struct arena *arena)
{
    struct members properties = {0};
    add_text(&properties, arena, "action", text_of(finding_label(finding)));
    add_given(&properties, arena, "field", finding->path);
    add_given(&properties, arena, "found", finding->found);
    add_given(&properties, arena, "exception", finding->exception);
    add_given(&properties, arena, "docs", finding->docs);
    return map_of(&properties);
}

struct node report_result(const struct object *object, const struct finding *finding,
                          struct text message, struct arena *arena)
{
    enum audit_outcome outcome = audit_outcome_of(finding);
    struct members result = {0};
    add_text(&result, arena, "source", TEXT("taffrail"));
    add_text(&result, arena, "policy", finding->policy);
    add_text(&result, arena, "rule", text_of(finding->rail));
    add_text(&result, arena, "result", text_of(outcomes[outcome].result));
    add_text(&result, arena, "severity", text_of(outcomes[outcome].severity));
    add(&result, arena, "scored", node_of_bool(outcome == AUDIT_DENIED));
    if (object != NULL)
        add(&result, arena, "resources",
            node_of_items(node_keep(arena, node_of_subject(object, arena)), 1));
    add_text(&result, arena, "message", message);
    add(&result, arena, "properties", node_of_properties(finding, arena));
    return map_of(&result);
}

/* ---- one report ---- */

static struct node node_of_metadata(const struct report_space *space, struct arena *arena)
{
    struct members labels = {0}, annotations = {0}, metadata = {0};
    add_text(&labels, arena, REPORT_OWNER_LABEL, TEXT("taffrail"));
    add_text(&metadata, arena, "name", TEXT(REPORT_NAME));
    add_given(&metadata, arena, "namespace", space->namespace);
    add(&metadata, arena, "labels", map_of(&labels));
    if (space->left_out > 0) {
        add_text(&annotations, arena, REPORT_LEFT_OUT, arena_printf(arena, "%zu", space->left_out));
        add(&metadata, arena, "annotations", map_of(&annotations));
    }
    return map_of(&metadata);
}

static struct node node_of_summary(const struct audit_counts *counts, struct arena *arena)
{
    struct members summary = {0};
    add_count(&summary, arena, "pass", 0);
    add_count(&summary, arena, "fail", counts->of[AUDIT_DENIED]);
    add_count(&summary, arena, "warn", counts->of[AUDIT_WARNED] + counts->of[AUDIT_AUDITED]);
    add_count(&summary, arena, "error", counts->of[AUDIT_UNDECIDED]);
    add_count(&summary, arena, "skip", counts->of[AUDIT_EXCEPTED]);
    return map_of(&summary);
}

static struct node node_of_limits(size_t most, struct arena *arena)
{
    struct members limits = {0}, configuration = {0};
    add_count(&limits, arena, "maxResults", most);
    add(&configuration, arena, "limits", map_of(&limits));
    return map_of(&configuration);
}

static struct node without_info(const struct node *result, struct arena *arena)
{
    struct members kept = {0};
    for (size_t i = 0; i < result->size; i++) {
        const struct member *member = &result->members[i];
        if (!text_is(member_key(member), "severity") ||
            !text_is(node_string(&member->value), "info"))
            *LIST_PUSH(arena, &kept) = *member;
    }
    return map_of(&kept);
}

static struct node node_of_results(enum report_api api, const struct report_space *space,
                                   struct arena *arena)
{
    if (apis[api].has_info)
        return node_of_items(space->results, space->result_count);
    struct node *results = ARENA_ARRAY(arena, space->result_count, struct node);
    for (size_t i = 0; i < space->result_count; i++)
        results[i] = without_info(&space->results[i], arena);
    return node_of_items(results, space->result_count);
}

struct node report_node(enum report_api api, const struct report_space *space, struct arena *arena)
{
    bool in_namespace = space->namespace.size > 0;
    struct members report = {0};
    add_text(&report, arena, "apiVersion", text_of(apis[api].api_version));
    add_text(&report, arena, "kind",
             text_of(in_namespace ? apis[api].kind : apis[api].cluster_kind));
    add(&report, arena, "metadata", node_of_metadata(space, arena));
    if (apis[api].has_source)
        add_text(&report, arena, "source", TEXT("taffrail"));
    if (apis[api].has_source && space->left_out > 0)
        add(&report, arena, "configuration", node_of_limits(space->result_count, arena));
    add(&report, arena, "summary", node_of_summary(&space->counts, arena));
    add(&report, arena, "results", node_of_results(api, space, arena));
    return map_of(&report);
}

static bool is_same_at(const struct node *a, const struct node *b, const char *path)
{
    const struct node *one = node_at(a, path), *other = node_at(b, path);
    return one == NULL || other == NULL ? one == other : node_equal(one, other);
}

bool report_is_same(const struct node *a, const struct node *b)
{
    static const char *const parts[] = {"results", "summary", "source", "configuration"};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (!is_same_at(a, b, parts[i]))
            return false;
    const struct node *one = node_get(node_at(a, "metadata.annotations"), REPORT_LEFT_OUT);
    const struct node *other = node_get(node_at(b, "metadata.annotations"), REPORT_LEFT_OUT);
    return text_equal(node_string(one), node_string(other));
}

/* ---- all of an audit ---- */

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

struct spaces {
    struct report_space *items;
    size_t count;
};

static struct spaces group(const struct report *report, struct arena *arena)
{
    const struct report_entry **entries = sort_entries(report, arena);
    size_t total = 0;
    for (size_t i = 0; i < report->entry_count; i++)
        total += entries[i]->verdict.finding_count;
    struct node *next = ARENA_ARRAY(arena, total, struct node);
    struct spaces spaces = {.items = ARENA_ARRAY(arena, report->entry_count, struct report_space)};
    struct report_space *space = NULL;
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct object *object = entries[i]->object;
        const struct verdict *verdict = &entries[i]->verdict;
        if (space == NULL || !text_equal(space->namespace, object->namespace)) {
            space = &spaces.items[spaces.count++];
            *space = (struct report_space){.namespace = object->namespace, .results = next};
        }
        for (size_t j = 0; j < verdict->finding_count; j++) {
            const struct finding *finding = &verdict->findings[j];
            *next++ = report_result(object, finding, report_result_message(finding, arena), arena);
            space->result_count++;
            space->counts.of[audit_outcome_of(finding)]++;
        }
    }
    return spaces;
}

bool report_audit_openreports(const struct report *report, const struct report_style *style,
                              struct arena *arena, FILE *out, struct error *error)
{
    (void)style;
    const struct spaces spaces = group(report, arena);
    struct node *items = ARENA_ARRAY(arena, spaces.count, struct node);
    for (size_t i = 0; i < spaces.count; i++)
        items[i] = report_node(REPORT_API_OPENREPORTS, &spaces.items[i], arena);
    struct members list = {0};
    add_text(&list, arena, "apiVersion", TEXT("v1"));
    add_text(&list, arena, "kind", TEXT("List"));
    add(&list, arena, "items", node_of_items(items, spaces.count));
    const struct node root = map_of(&list);
    return json_write(json_of_node(&root), arena, out, error);
}
