/* Judges the objects of a cluster as they come, and keeps of each namespace what its report holds:
 * the objects themselves are not kept, so that the memory does not grow with the cluster. */
#include "server/reports.h"

#include <stdio.h>
#include <stdlib.h>

#include "policy/existing.h"

enum { JUDGING_BYTES = 64 << 20 };

struct space {
    struct text namespace;
    struct text_list results[AUDIT_OUTCOMES]; /* as JSON, the first ones of each outcome */
    struct audit_counts counts;
};

/* An object that others may be made of, and that has findings, or whose owner has. */
struct item {
    struct existing existing;
    struct text uid;
};

/* That nothing of these kinds is visible, said once a rail. */
struct saying {
    const char *rail;
    kind_set unseen;
};

struct reports_audit {
    int64_t now_unix_s;
    struct arena *arena;    /* of all that is kept */
    struct arena *scratch;  /* of one object */
    struct text_map spaces; /* index + 1 */
    LIST(struct space *) space_list;
    struct text_map items; /* "Deployment web/shop": index + 1 */
    LIST(struct item *) item_list;
    LIST(struct saying) sayings;
    struct reports_audit_sums sums;
    size_t counted; /* results, by the spaces; those without memory for their text, too */
    size_t (*of)[AUDIT_OUTCOMES];
};

struct reports_audit *reports_audit_create(size_t bytes)
{
    struct reports_audit *audit = calloc(1, sizeof *audit);
    if (audit == NULL)
        return NULL;
    audit->arena = arena_create(bytes);
    audit->scratch = arena_create(JUDGING_BYTES);
    audit->of = calloc(rail_count(), sizeof *audit->of);
    if (audit->arena == NULL || audit->scratch == NULL || audit->of == NULL) {
        reports_audit_destroy(audit);
        return NULL;
    }
    return audit;
}

void reports_audit_destroy(struct reports_audit *audit)
{
    if (audit == NULL)
        return;
    arena_destroy(audit->arena);
    arena_destroy(audit->scratch);
    free(audit->of);
    free(audit);
}

void reports_audit_begin(struct reports_audit *audit, int64_t now_unix_s)
{
    struct reports_audit next = {.now_unix_s = now_unix_s,
                                 .arena = audit->arena,
                                 .scratch = audit->scratch,
                                 .of = audit->of};
    arena_reset(audit->arena);
    memset(audit->of, 0, rail_count() * sizeof *audit->of);
    *audit = next;
}

/* ---- owners ---- */

static struct text item_key(enum kind kind, struct text namespace, struct text name,
                            struct arena *arena)
{
    return arena_printf(arena, "%s %.*s/%.*s", kind_table[kind].name,
                        kind_table[kind].namespaced ? (int)namespace.size : 0, namespace.data,
                        TEXT_ARGS(name));
}

/* NULL: none is there, or nothing is to be said of it. */
static const struct existing *find_owner(const struct reports_audit *audit,
                                         const struct object *object)
{
    const struct owner *owner = &object->controller;
    enum kind kind = kind_of(owner->api_version, owner->kind);
    if (owner->name.size == 0 || kind == KIND_UNKNOWN)
        return NULL;
    size_t at = text_map_get(&audit->items,
                             item_key(kind, object->namespace, owner->name, audit->scratch), 0);
    const struct item *item = at == 0 ? NULL : audit->item_list.items[at - 1];
    return item != NULL && uids_agree(item->uid, owner->uid) ? &item->existing : NULL;
}

static void keep_item(struct reports_audit *audit, const struct object *object,
                      const struct existing *owner, const struct verdict *verdict)
{
    struct arena *arena = audit->arena;
    if (object->kind == KIND_POD || (verdict->finding_count == 0 && owner == NULL))
        return;
    struct item *item = ARENA_NEW(arena, struct item);
    item->existing.owner = owner;
    item->uid = arena_text(arena, object->uid);
    existing_tell(&item->existing, object, verdict, arena);
    *LIST_PUSH(arena, &audit->item_list) = item;
    *text_map_at(&audit->items, arena,
                 item_key(object->kind, object->namespace, object->name, arena)) =
        audit->item_list.count;
}

/* ---- results ---- */

static struct space *space_of(struct reports_audit *audit, struct text namespace)
{
    struct arena *arena = audit->arena;
    size_t at = text_map_get(&audit->spaces, namespace, 0);
    if (at > 0)
        return audit->space_list.items[at - 1];
    struct space *space = ARENA_NEW(arena, struct space);
    space->namespace = arena_text(arena, namespace);
    *LIST_PUSH(arena, &audit->space_list) = space;
    *text_map_at(&audit->spaces, arena, space->namespace) = audit->space_list.count;
    return space;
}

static void keep_result(struct reports_audit *audit, struct text namespace,
                        enum audit_outcome outcome, struct text json)
{
    struct space *space = space_of(audit, namespace);
    struct text_list *results = &space->results[outcome];
    space->counts.of[outcome]++;
    audit->counted++;
    if (results->count < REPORT_RESULTS_MAX)
        *LIST_PUSH(audit->arena, results) = arena_text(audit->arena, json);
}

static struct text json_of(const struct object *object, const struct finding *finding,
                           struct text message, struct arena *arena)
{
    const struct node result = report_result(object, finding, message, arena);
    return node_json(&result, arena);
}

/* Of many objects for one reason, so it is said of the cluster, in words that do not change with
 * the objects. Empty: it is said already. */
static struct text json_of_saying(const struct reports_audit *audit, const struct finding *finding,
                                  struct arena *arena)
{
    FOR_EACH(saying, &audit->sayings)
        if (saying->rail == finding->rail && saying->unseen == finding->unseen)
            return TEXT("");
    struct finding general = *finding;
    general.path = general.found = TEXT("");
    struct text message =
        arena_printf(arena, "No %.*s is visible, so what %s says of them is not decided.",
                     TEXT_ARGS(unseen_kinds(finding->unseen, arena)), finding->rail);
    return json_of(NULL, &general, message, arena);
}

/* ---- one object ---- */

struct judging {
    struct reports_audit *audit;
    const struct world *world;
    const struct object *object;
    const struct existing *owner;
    struct verdict verdict;
    struct text *results; /* a finding's, as JSON; empty: it is said of the cluster already */
};

/* In the scratch arena. */
static void judge(void *argument)
{
    struct judging *judging = argument;
    struct reports_audit *audit = judging->audit;
    struct arena *arena = audit->scratch;
    judging->owner = find_owner(audit, judging->object);
    judging->verdict =
        existing_judge(judging->world, judging->object, judging->owner, audit->now_unix_s, arena);
    judging->results = ARENA_ARRAY(arena, judging->verdict.finding_count, struct text);
    if (existing_is_left_out(judging->object))
        return;
    for (size_t i = 0; i < judging->verdict.finding_count; i++) {
        const struct finding *finding = &judging->verdict.findings[i];
        judging->results[i] =
            finding->unseen != 0
                ? json_of_saying(audit, finding, arena)
                : json_of(judging->object, finding, report_result_message(finding, arena), arena);
    }
}

static void count_finding(struct reports_audit *audit, const struct finding *finding)
{
    audit->sums.finding_count++;
    for (size_t rail = 0; rail < rail_count(); rail++)
        if (strcmp(rail_name(rail_at(rail)), finding->rail) == 0)
            audit->of[rail][audit_outcome_of(finding)]++;
}

/* In the arena of all that is kept. */
static void keep(void *argument)
{
    const struct judging *judging = argument;
    struct reports_audit *audit = judging->audit;
    const struct object *object = judging->object;
    keep_item(audit, object, judging->owner, &judging->verdict);
    for (size_t i = 0; i < judging->verdict.finding_count; i++) {
        const struct finding *finding = &judging->verdict.findings[i];
        if (judging->results[i].size == 0)
            continue;
        if (finding->unseen != 0)
            *LIST_PUSH(audit->arena, &audit->sayings) =
                (struct saying){finding->rail, finding->unseen};
        keep_result(audit, finding->unseen != 0 ? TEXT("") : object->namespace,
                    audit_outcome_of(finding), judging->results[i]);
    }
}

static void note_unjudged(struct reports_audit *audit, const struct object *object,
                          const struct error *error)
{
    audit->sums.unjudged_count++;
    snprintf(audit->sums.unjudged, sizeof audit->sums.unjudged, "%.*s %.*s in %.*s: %.100s",
             TEXT_ARGS(object->kind_name), TEXT_ARGS(object->name), TEXT_ARGS(object->namespace),
             error->what);
}

void reports_audit_put(struct reports_audit *audit, const struct world *world,
                       const struct object *object)
{
    struct judging judging = {.audit = audit, .world = world, .object = object};
    struct error error;
    audit->sums.object_count++;
    /* What has ended owns nothing that still counts. */
    if (object->kind == KIND_POD && existing_is_left_out(object))
        return;
    arena_reset(audit->scratch);
    if (!arena_guard(audit->scratch, judge, &judging, &error)) {
        note_unjudged(audit, object, &error);
        return;
    }
    size_t known = audit->sums.finding_count, counted = audit->counted;
    for (size_t i = 0; i < judging.verdict.finding_count; i++)
        if (judging.results[i].size > 0)
            count_finding(audit, &judging.verdict.findings[i]);
    if (!arena_guard(audit->arena, keep, &judging, &error))
        audit->sums.lost += audit->sums.finding_count - known - (audit->counted - counted);
}

/* ---- what is missing ---- */

struct missing {
    struct reports_audit *audit;
    const char *plural, *why;
};

static void keep_missing(void *argument)
{
    const struct missing *missing = argument;
    struct reports_audit *audit = missing->audit;
    const struct finding finding = {
        .rail = "audit", .action = ACTION_WARN, .undecided = true, .policy = TEXT("taffrail")};
    struct text message =
        arena_printf(audit->arena, "%s are not audited: they cannot be listed (%s).",
                     missing->plural, missing->why);
    keep_result(audit, TEXT(""), AUDIT_UNDECIDED, json_of(NULL, &finding, message, audit->arena));
}

void reports_audit_miss(struct reports_audit *audit, const char *plural, const char *why)
{
    struct missing missing = {audit, plural, why};
    struct error error;
    size_t counted = audit->counted;
    if (!arena_guard(audit->arena, keep_missing, &missing, &error))
        audit->sums.lost += audit->counted == counted;
}

/* ---- results as a report has them ---- */

size_t reports_audit_space_count(const struct reports_audit *audit)
{
    return audit->space_list.count;
}

static struct node node_of(struct text json, struct arena *arena)
{
    static const struct doc_limits limits = {
        .bytes = REPORT_BYTES_MAX, .nodes = 10000, .depth = 16};
    struct source *source = ARENA_NEW(arena, struct source);
    const struct node *root = NULL;
    struct error error;
    source->text = json;
    return doc_read_json(source, &limits, NULL, arena, &root, &error) ? *root : (struct node){0};
}

struct report_space reports_audit_space(const struct reports_audit *audit, size_t index,
                                        size_t results_max, struct arena *arena)
{
    const struct space *space = audit->space_list.items[index];
    struct node *results = ARENA_ARRAY(arena, results_max, struct node);
    struct report_space report = {
        .namespace = space->namespace, .results = results, .counts = space->counts};
    size_t bytes = 0, total = 0;
    for (size_t outcome = 0; outcome < AUDIT_OUTCOMES; outcome++) {
        total += space->counts.of[outcome];
        FOR_EACH(json, &space->results[outcome]) {
            bytes += json->size;
            if (report.result_count < results_max && bytes <= REPORT_BYTES_MAX)
                results[report.result_count++] = node_of(*json, arena);
        }
    }
    report.left_out = total - report.result_count;
    return report;
}

struct reports_audit_sums reports_audit_sums(const struct reports_audit *audit)
{
    struct reports_audit_sums sums = audit->sums;
    sums.of = (const size_t(*)[AUDIT_OUTCOMES])audit->of;
    return sums;
}
