/* What changes do to nodes and pods, as text and as JSON. */
#include "report/impact.h"

#include <json-c/json.h>
#include <string.h>

#include "kube/object.h"
#include "report/impact_format.h"
#include "report/plan.h"

const char *const report_impact_format_names[] = {"text", "json", "markdown", NULL};
const char *const impact_operation_names[] = {
    [IMPACT_CREATE] = "create", [IMPACT_UPDATE] = "update", [IMPACT_DELETE] = "delete"};

/* ---- sentences ---- */

struct text impact_title(const struct impact_entry *entry, struct arena *arena)
{
    return arena_printf(arena, "%.*s %.*s", TEXT_ARGS(entry->object->kind_name),
                        TEXT_ARGS(object_title(entry->object, arena)));
}

struct text impact_block_words(const struct impact_block *block, struct arena *arena)
{
    if (block->pod == NULL)
        return arena_printf(arena, "node %.*s: %.*s", TEXT_ARGS(object_title(block->node, arena)),
                            TEXT_ARGS(block->by));
    return block_text(block->pod, block->owner, block->by, arena);
}

/* Without one of its sentences, and a space beside it. */
static struct text without(struct text said, struct text sentence, struct arena *arena)
{
    const char *at = memmem(said.data, said.size, sentence.data, sentence.size);
    if (at == NULL || sentence.size == said.size)
        return said;
    const char *rest = at + sentence.size, *end = said.data + said.size;
    int before = (int)(at - said.data);
    if (rest < end)
        rest++;
    else
        before--;
    return arena_printf(arena, "%.*s%.*s", before, said.data, (int)(end - rest), rest);
}

/* What stands above is not said again. */
static struct text denial_words(const struct finding *finding, const struct text_list *above,
                                struct arena *arena)
{
    struct text said = finding->message;
    FOR_EACH(sentence, above)
        said = without(said, *sentence, arena);
    return arena_printf(arena, "Denied by policy %.*s: %.*s", TEXT_ARGS(finding->policy),
                        TEXT_ARGS(said));
}

static void add(struct text_list *sentences, struct text sentence, struct arena *arena)
{
    if (sentence.size > 0)
        *LIST_PUSH(arena, sentences) = sentence;
}

bool impact_is_unknown(const struct impact_entry *entry)
{
    return entry->nothing.size == 0 && entry->words.unseen.size > 0 &&
           !change_impact_is_felt(&entry->impact);
}

static struct text effect_of(const struct impact_entry *entry, struct arena *arena)
{
    if (entry->nothing.size > 0)
        return entry->nothing;
    struct text effect =
        impact_is_unknown(entry) ? TEXT("What it does is not known.") : entry->words.effect;
    return entry->refusal.size == 0
               ? effect
               : arena_printf(arena, "%.*s %.*s", TEXT_ARGS(entry->refusal), TEXT_ARGS(effect));
}

struct text_list impact_sentences(const struct impact_entry *entry, struct arena *arena)
{
    struct text_list sentences = {0};
    add(&sentences, effect_of(entry, arena), arena);
    if (entry->nothing.size > 0)
        return sentences;
    add(&sentences, entry->words.blocks, arena);
    if (entry->planned) {
        const struct impact_plan_words words =
            change_plan_words(&entry->impact, &entry->plan, arena);
        add(&sentences, words.price, arena);
        add(&sentences, words.unschedulable, arena);
    }
    if (entry->words.unseen.size > 0)
        add(&sentences,
            arena_printf(arena, "This is not certain: %.*s.", TEXT_ARGS(entry->words.unseen)),
            arena);
    const struct text_list above = sentences;
    for (size_t i = 0; i < entry->finding_count; i++)
        if (entry->findings[i]->action == ACTION_DENY)
            add(&sentences, denial_words(entry->findings[i], &above, arena), arena);
    return sentences;
}

struct text impact_together(const struct impact_report *report, struct arena *arena)
{
    if (report->count < 2)
        return TEXT("");
    return arena_printf(arena,
                        "Each of the %zu changes is looked at as if it came alone. Together they "
                        "take %zu node%s, each counted once.",
                        report->count, report->nodes_together, plural_s(report->nodes_together));
}

struct text impact_none(const struct impact_report *report)
{
    if (report->fragments > 0)
        return TEXT(
            "Only parts of objects were given, as kustomize patches are: what they change is "
            "not known. Give what they are built into (kustomize build).");
    return report->errors > 0 ? TEXT("")
                              : TEXT("There is no change of a NodePool, a node class, a "
                                     "StorageClass, a PriorityClass, a PersistentVolumeClaim or a "
                                     "Namespace.");
}

/* ---- text ---- */

enum { INDENT = 2, BLOCKS_IN_A_SENTENCE = 3 };

static void put_line(struct text line, size_t indent, size_t columns, FILE *out)
{
    fprintf(out, "%*s", (int)indent, "");
    put_wrapped(line, indent, indent + INDENT, columns, out);
}

static void put_entry(const struct impact_entry *entry, const struct report_style *style,
                      size_t columns, struct arena *arena, FILE *out)
{
    const struct change_impact *impact = &entry->impact;
    const struct text_list sentences = impact_sentences(entry, arena);
    fputs(style->colour ? "\033[1m" : "", out);
    put_wrapped(arena_printf(arena, "%s of %.*s",
                             entry->operation == IMPACT_CREATE   ? "Creation"
                             : entry->operation == IMPACT_DELETE ? "Deletion"
                                                                 : "Update",
                             TEXT_ARGS(impact_title(entry, arena))),
                0, INDENT, columns, out);
    fputs(style->colour ? "\033[0m" : "", out);
    FOR_EACH(sentence, &sentences)
        put_line(*sentence, INDENT, columns, out);
    if (entry->nothing.size > 0)
        return;
    FOR_EACH(reason, &impact->reasons)
        if (entry->operation != IMPACT_DELETE) /* whose only reason is that */
            put_line(arena_printf(arena, "because of %.*s", TEXT_ARGS(*reason)), INDENT, columns,
                     out);
    bool named = impact->block_total <= BLOCKS_IN_A_SENTENCE;
    for (size_t i = 0; i < impact->block_count && !named; i++)
        put_line(arena_printf(arena, "blocked: %.*s",
                              TEXT_ARGS(impact_block_words(&impact->blocks[i], arena))),
                 INDENT, columns, out);
    if (impact->block_total > impact->block_count)
        put_line(
            arena_printf(arena, "blocked: %zu more", impact->block_total - impact->block_count),
            INDENT, columns, out);
}

static void put_text(const struct impact_report *report, const struct report_style *style,
                     struct arena *arena, FILE *out)
{
    size_t columns = page_columns(style);
    for (size_t i = 0; i < report->count; i++)
        put_entry(&report->entries[i], style, columns, arena, out);
    struct text together = impact_together(report, arena);
    if (together.size > 0)
        put_wrapped(together, 0, 0, columns, out);
    if (report->count == 0 && impact_none(report).size > 0)
        put_wrapped(impact_none(report), 0, 0, columns, out);
}

/* ---- JSON ---- */

/* All that the arena is needed for: json-c is not held across its calls. */
struct written {
    struct text name, namespace, effect, first_window;
    struct text *pods, *nodes; /* of what blocks */
    struct text *users;
};

static struct written write_texts(const struct impact_report *report,
                                  const struct impact_entry *entry, struct arena *arena)
{
    const struct change_impact *impact = &entry->impact;
    struct written written = {
        .name = object_display_name(entry->object, arena),
        .namespace = entry->object->namespace,
        .effect = effect_of(entry, arena),
        .pods = ARENA_ARRAY(arena, impact->block_count, struct text),
        .nodes = ARENA_ARRAY(arena, impact->block_count, struct text),
        .users = ARENA_ARRAY(arena, impact->user_count, struct text),
    };
    for (size_t i = 0; i < impact->block_count; i++) {
        const struct impact_block *block = &impact->blocks[i];
        written.pods[i] = block->pod == NULL ? TEXT("") : object_title(block->pod, arena);
        written.nodes[i] = block->node == NULL ? TEXT("") : object_title(block->node, arena);
    }
    for (size_t i = 0; i < impact->user_count; i++)
        written.users[i] = arena_printf(arena, "%.*s %.*s", TEXT_ARGS(impact->users[i]->kind_name),
                                        TEXT_ARGS(object_title(impact->users[i], arena)));
    int64_t opens_unix_s = impact->window.open_unix_s;
    if (impact->windows == WINDOW_FOUND && impact->nodes_replaced > 0)
        written.first_window = time_rfc3339(
            opens_unix_s > report->now_unix_s ? opens_unix_s : report->now_unix_s, arena);
    return written;
}

static struct json_object *json_of_blocks(const struct change_impact *impact,
                                          const struct written *written)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < impact->block_count; i++) {
        struct json_object *json = json_object_new_object();
        json_add_text_or_null(json, "pod", written->pods[i]);
        json_add_text(json, "by", impact->blocks[i].by);
        json_add_text_or_null(json, "owner", impact->blocks[i].owner);
        json_add_text_or_null(json, "node", written->nodes[i]);
        json_object_array_add(list, json);
    }
    return list;
}

static void add_name_or_null(struct json_object *json, const char *key, const struct object *object)
{
    json_add_text_or_null(json, key, object == NULL ? TEXT("") : object->name);
}

/* The nodes that go; with a bound on them, those that were looked at. */
static struct json_object *json_of_nodes(const struct disruption *forecast)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < forecast->node_count; i++) {
        const struct disruption_node *node = &forecast->nodes[i];
        struct json_object *json = json_object_new_object();
        add_name_or_null(json, "node", node->node);
        add_name_or_null(json, "nodeClaim", node->claim);
        json_object_object_add(json, "blocked", json_object_new_boolean(node->blocked));
        json_object_array_add(list, json);
    }
    return list;
}

static struct json_object *json_of_findings(const struct impact_entry *entry)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < entry->finding_count; i++) {
        struct json_object *json = json_object_new_object();
        json_add_text(json, "policy", entry->findings[i]->policy);
        json_add_string(json, "action", action_name(entry->findings[i]->action));
        json_add_text(json, "message", entry->findings[i]->message);
        json_object_array_add(list, json);
    }
    return list;
}

static void add_nodes(struct json_object *json, const struct change_impact *impact)
{
    json_add_count(json, "nodesReplaced", change_impact_nodes(impact));
    json_add_count(json, "nodesTotal", impact->nodes_total);
    json_add_count(json, "nodesDeleted", impact->nodes_deleted);
    json_add_count(json, "nodesWaiting", impact->nodes_waiting);
    json_add_count(json, "nodesSpared", impact->nodes_spared);
    json_add_count(json, "nodesUnknown", impact->nodes_unknown);
    json_add_count(json, "nodesKept", impact->nodes_kept);
    json_add_count(json, "nodesBlocked", impact->nodes_blocked);
    json_object_object_add(json, "nodes", json_of_nodes(&impact->forecast));
    json_add_texts(json, "nodePools", impact->pools.items, impact->pools.count);
    json_add_texts(json, "reasons", impact->reasons.items, impact->reasons.count);
}

static void add_plan(struct json_object *json, const struct impact_entry *entry)
{
    bool known = entry->planned;
    json_add_usd(json, "usdPerHourBefore", known ? entry->plan.usd_micro_per_hour_before : -1);
    json_add_usd(json, "usdPerHourAfter", known ? entry->plan.usd_micro_per_hour_after : -1);
    json_add_texts(json, "unschedulable", entry->plan.unschedulable.items,
                   entry->plan.unschedulable.count);
    json_add_texts(json, "podsUndecided", entry->plan.undecided.items, entry->plan.undecided.count);
    json_add_texts(json, "podsGone", entry->plan.gone.items, entry->plan.gone.count);
    json_add_count(json, "nodesStaying", entry->plan.staying_count);
}

static struct json_object *json_of_entry(const struct impact_entry *entry,
                                         const struct written *written)
{
    const struct change_impact *impact = &entry->impact;
    struct json_object *json = json_object_new_object();
    json_add_string(json, "operation", impact_operation_names[entry->operation]);
    json_add_text(json, "kind", entry->object->kind_name);
    json_add_text(json, "name", written->name);
    json_add_text_or_null(json, "namespace", written->namespace);
    add_nodes(json, impact);
    json_add_count(json, "atOnce", impact->at_once);
    json_add_count(json, "atOnceLater", impact->at_once_most);
    json_add_text_or_null(json, "firstWindow", written->first_window);
    json_object_object_add(json, "blockedBy", json_of_blocks(impact, written));
    json_add_count(json, "blockedByTotal", impact->block_total);
    add_plan(json, entry);
    json_add_texts(json, "usedBy", written->users, impact->user_count);
    json_add_count(json, "usedByTotal", impact->user_total);
    json_object_object_add(json, "undecided",
                           json_object_new_boolean(entry->words.unseen.size > 0));
    json_add_text_or_null(json, "unseen", entry->words.unseen);
    json_object_object_add(json, "findings", json_of_findings(entry));
    json_add_text_or_null(json, "message", written->effect);
    return json;
}

static bool put_json(const struct impact_report *report, struct arena *arena, FILE *out,
                     struct error *error)
{
    struct written *written = ARENA_ARRAY(arena, report->count, struct written);
    for (size_t i = 0; i < report->count; i++)
        written[i] = write_texts(report, &report->entries[i], arena);
    struct json_object *root = json_object_new_object(), *changes = json_object_new_array();
    for (size_t i = 0; i < report->count; i++)
        json_object_array_add(changes, json_of_entry(&report->entries[i], &written[i]));
    struct json_object *summary = json_object_new_object();
    json_add_count(summary, "changes", report->count);
    json_add_count(summary, "skipped", report->skipped + report->fragments);
    json_add_count(summary, "nodes", report->nodes_together);
    json_add_count(summary, "errors", report->errors);
    json_object_object_add(summary, "denied", json_object_new_boolean(report->denied));
    json_add_string(root, "schema", "taffrail.dev/impact/v1");
    json_object_object_add(root, "changes", changes);
    json_object_object_add(root, "summary", summary);
    json_object_object_add(root, "prices", json_of_prices(report->catalog));
    return json_write(root, arena, out, error);
}

bool report_impact_write(int format, const struct impact_report *report,
                         const struct report_style *style, struct arena *arena, FILE *out,
                         struct error *error)
{
    enum { TEXT_FORMAT, JSON_FORMAT, MARKDOWN_FORMAT };
    if (format == JSON_FORMAT)
        return put_json(report, arena, out, error);
    if (format == MARKDOWN_FORMAT)
        impact_markdown(report, arena, out);
    else
        put_text(report, style, arena, out);
    return true;
}
