/* The audit trail: a line a review. */
#include "server/server.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

/* A line and its newline fit in PIPE_BUF, so that one write(2) never mixes with others of any
 * thread or process. To fit, long texts are cut, and then findings are only counted. */
enum {
    LINE_BYTES_MAX = PIPE_BUF - 1,
    NAME_BYTES_MAX = 256, /* what Kubernetes allows in names */
    USER_BYTES_MAX = 512, /* system:serviceaccount:NAMESPACE:NAME, with reserve */
    VALUE_BYTES_MAX = 128,
};

static void add_text(struct text_builder *out, const char *key, struct text t, size_t limit)
{
    json_write_member(out, key, json_cut(t, limit));
}

static void add_word(struct text_builder *out, const char *key, const char *word)
{
    json_write_key(out, key);
    text_builder_add(out, text_of(word));
}

static void add_count(struct text_builder *out, const char *key, size_t count)
{
    json_write_key(out, key);
    text_builder_printf(out, "%zu", count);
}

static void add_time(struct text_builder *out, int64_t now_unix_ms)
{
    time_t seconds = now_unix_ms / 1000;
    struct tm parts;
    char day[32] = "", moment[48];
    if (gmtime_r(&seconds, &parts) != NULL)
        strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(moment, sizeof moment, "%s.%03dZ", day, (int)(now_unix_ms % 1000));
    json_write_member(out, "time", text_of(moment));
}

static struct text json_of_finding(const struct finding *finding, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    text_builder_add(&out, TEXT("{"));
    add_text(&out, "rail", text_of(finding->rail), NAME_BYTES_MAX);
    add_text(&out, "action", text_of(action_name(finding->action)), NAME_BYTES_MAX);
    add_text(&out, "policy", finding->policy, NAME_BYTES_MAX);
    add_text(&out, "field", finding->path, NAME_BYTES_MAX);
    add_text(&out, "found", finding->found, VALUE_BYTES_MAX);
    if (finding->override.data != NULL)
        add_text(&out, "override", finding->override, VALUE_BYTES_MAX);
    if (finding->exception.data != NULL)
        add_text(&out, "exception", finding->exception, VALUE_BYTES_MAX);
    if (finding->undecided)
        add_word(&out, "undecided", "true");
    if (finding->pre_existing)
        add_word(&out, "preExisting", "true");
    if (finding->more > 0)
        add_count(&out, "more", finding->more);
    text_builder_add(&out, TEXT("}"));
    return text_builder_text(&out);
}

static struct text json_of_change(const struct change *change, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    text_builder_add(&out, TEXT("{"));
    add_text(&out, "rail", text_of(change->rail), NAME_BYTES_MAX);
    add_text(&out, "outcome", text_of(outcome_name(change->outcome)), NAME_BYTES_MAX);
    add_text(&out, "policy", change->policy, NAME_BYTES_MAX);
    add_text(&out, "added", change->added, NAME_BYTES_MAX);
    if (change->exception.data != NULL)
        add_text(&out, "exception", change->exception, VALUE_BYTES_MAX);
    text_builder_add(&out, TEXT("}"));
    return text_builder_text(&out);
}

static size_t count_findings(const struct verdict *verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < verdict->finding_count; i++)
        count += verdict->findings[i].more > 0 ? verdict->findings[i].more : 1;
    return count;
}

static void add_record(struct text_builder *out, const struct review_record *record,
                       int64_t now_unix_ms)
{
    const struct verdict *verdict = &record->verdict;
    json_write_member(out, "schema", TEXT("taffrail.dev/trail/v1"));
    add_time(out, now_unix_ms);
    add_text(out, "uid", record->uid, NAME_BYTES_MAX);
    add_text(out, "operation", record->operation, VALUE_BYTES_MAX);
    add_text(out, "kind", record->kind, VALUE_BYTES_MAX);
    add_text(out, "namespace", record->namespace, NAME_BYTES_MAX);
    add_text(out, "name", record->name, NAME_BYTES_MAX);
    add_text(out, "user", record->user, USER_BYTES_MAX);
    add_word(out, "dryRun", record->dry_run ? "true" : "false");
    add_word(out, "allowed", record->allowed ? "true" : "false");
    add_text(out, "action", text_of(action_name(verdict->action)), VALUE_BYTES_MAX);
    if (verdict->limit != LIMIT_NONE)
        json_write_member(out, "limit", text_of(limit_name(verdict->limit)));
    add_count(out, "findingsTotal", count_findings(verdict));
    if (verdict->change_count > 0)
        add_count(out, "changesTotal", verdict->change_count);
}

/* Adds it if the line has room for it, and for the brackets that follow. */
static bool add_entry(struct text_builder *out, struct text entry)
{
    enum { CLOSING_BYTES = sizeof ",\"changes\":[]]}" };
    if (out->size + 1 + entry.size + CLOSING_BYTES > LINE_BYTES_MAX)
        return false;
    text_builder_add(out, out->data[out->size - 1] == '[' ? TEXT("") : TEXT(","));
    text_builder_add(out, entry);
    return true;
}

/* A review judges or changes: one of the two lists is always empty. */
static void add_entries(struct text_builder *out, const struct verdict *verdict)
{
    size_t i = 0;
    json_write_key(out, "findings");
    text_builder_add(out, TEXT("["));
    while (i < verdict->finding_count &&
           add_entry(out, json_of_finding(&verdict->findings[i], out->arena)))
        i++;
    text_builder_add(out, TEXT("]"));
    if (verdict->change_count == 0)
        return;
    json_write_key(out, "changes");
    text_builder_add(out, TEXT("["));
    i = 0;
    while (i < verdict->change_count &&
           add_entry(out, json_of_change(&verdict->changes[i], out->arena)))
        i++;
    text_builder_add(out, TEXT("]"));
}

struct text trail_line(const struct review_record *record, int64_t now_unix_ms, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    text_builder_add(&out, TEXT("{"));
    add_record(&out, record, now_unix_ms); /* at most half of the line */
    add_entries(&out, &record->verdict);
    text_builder_add(&out, TEXT("}"));
    return text_builder_text(&out);
}
