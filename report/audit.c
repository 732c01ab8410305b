/* Sorts the results of an audit for people. */
#include "report/audit.h"

#include <stdlib.h>
#include <string.h>

/* In the order of the names. */
static const struct {
    report_writer *write;
    bool holds_errors;
} formats[] = {
    {report_audit_text, false},        {report_json, true},       {report_sarif, true},
    {report_audit_openreports, false}, {report_audit_html, true},
};
const char *const report_audit_format_names[] = {"text",        "json", "sarif",
                                                 "openreports", "html", NULL};

bool report_audit_write(int format, const struct report *report, const struct report_style *style,
                        struct arena *arena, FILE *out, struct error *error)
{
    return formats[format].write(report, style, arena, out, error);
}

bool report_audit_holds_errors(int format)
{
    return formats[format].holds_errors;
}

/* ---- counting ---- */

const char *const audit_outcome_names[AUDIT_OUTCOMES] = {"denied", "warned", "audited", "excepted",
                                                         "undecided"};

enum audit_outcome audit_outcome_of(const struct finding *finding)
{
    static const enum audit_outcome outcomes[] = {
        [ACTION_NONE] = AUDIT_AUDITED,  [ACTION_EXCEPTED] = AUDIT_EXCEPTED,
        [ACTION_AUDIT] = AUDIT_AUDITED, [ACTION_WARN] = AUDIT_WARNED,
        [ACTION_DENY] = AUDIT_DENIED,
    };
    return finding->undecided ? AUDIT_UNDECIDED : outcomes[finding->action];
}

static void add_counts(struct audit_counts *sum, const struct audit_counts *counts)
{
    for (size_t i = 0; i < AUDIT_OUTCOMES; i++)
        sum->of[i] += counts->of[i];
}

/* The worse is first. */
static int compare_counts(const struct audit_counts *a, const struct audit_counts *b)
{
    for (size_t i = 0; i < AUDIT_OUTCOMES; i++)
        if (a->of[i] != b->of[i])
            return a->of[i] > b->of[i] ? -1 : 1;
    return 0;
}

struct text audit_counts_text(const struct audit_counts *counts, struct arena *arena)
{
    struct text_builder text = {.arena = arena};
    for (size_t i = 0; i < AUDIT_OUTCOMES; i++)
        if (counts->of[i] > 0)
            text_builder_printf(&text, "%s%zu %s", text.size == 0 ? "" : ", ", counts->of[i],
                                audit_outcome_names[i]);
    return text.size == 0 ? TEXT("nothing found") : text_builder_text(&text);
}

/* ---- rows: objects ---- */

static int compare_findings(const void *a_pointer, const void *b_pointer)
{
    const struct finding *a = *(const struct finding *const *)a_pointer;
    const struct finding *b = *(const struct finding *const *)b_pointer;
    if (a->action != b->action)
        return a->action > b->action ? -1 : 1;
    int order = strcmp(a->rail, b->rail);
    return order != 0 ? order : text_compare(a->path, b->path);
}

static struct audit_row row_of(const struct report_entry *entry, struct arena *arena)
{
    const struct verdict *verdict = &entry->verdict;
    struct audit_row row = {
        .object = entry->object,
        .findings = ARENA_ARRAY(arena, verdict->finding_count, const struct finding *),
    };
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const struct finding *finding = &verdict->findings[i];
        row.counts.of[audit_outcome_of(finding)]++;
        if (!finding->undecided)
            row.findings[row.finding_count++] = finding;
    }
    if (row.finding_count > 1)
        qsort(row.findings, row.finding_count, sizeof *row.findings, compare_findings);
    return row;
}

/* 0: they have the same findings, in the same words. */
static int compare_wrongs(const struct audit_row *a, const struct audit_row *b)
{
    if (a->finding_count != b->finding_count)
        return a->finding_count > b->finding_count ? -1 : 1;
    for (size_t i = 0; i < a->finding_count; i++) {
        const struct finding *one = a->findings[i], *other = b->findings[i];
        int order = compare_findings(&a->findings[i], &b->findings[i]);
        if (order == 0)
            order = text_compare(one->problem, other->problem);
        if (order == 0)
            order = text_compare(one->fix, other->fix);
        if (order == 0)
            order = text_compare(one->exception, other->exception);
        if (order == 0)
            order = (int)one->spared - (int)other->spared;
        if (order != 0)
            return order;
    }
    return 0;
}

/* Rows with the same findings are neighbours, and among these those of one controller. */
static int compare_rows(const void *a_pointer, const void *b_pointer)
{
    const struct audit_row *a = a_pointer, *b = b_pointer;
    const struct object *one = a->object, *other = b->object;
    int order = text_compare(one->namespace, other->namespace);
    if (order == 0)
        order = compare_counts(&a->counts, &b->counts);
    if (order == 0)
        order = text_compare(one->kind_name, other->kind_name);
    if (order == 0)
        order = compare_wrongs(a, b);
    if (order == 0)
        order = text_compare(one->controller.kind, other->controller.kind);
    if (order == 0)
        order = text_compare(one->controller.name, other->controller.name);
    return order != 0 ? order : text_compare(one->name, other->name);
}

static bool are_siblings(const struct object *a, const struct object *b)
{
    return a->controller.name.size > 0 && text_equal(a->controller.name, b->controller.name) &&
           text_equal(a->controller.kind, b->controller.kind);
}

/* ---- namespaces ---- */

static int compare_namespaces(const void *a_pointer, const void *b_pointer)
{
    const struct audit_namespace *a = a_pointer, *b = b_pointer;
    int order = compare_counts(&a->counts, &b->counts);
    return order != 0 ? order : text_compare(a->name, b->name);
}

/* Rows that count with an earlier one are removed, and the later ones move up. */
static void add_row(struct audit_namespace *space, struct audit_row row)
{
    add_counts(&space->counts, &row.counts);
    if (space->row_count > 0) {
        struct audit_row *last = &space->rows[space->row_count - 1];
        row.repeats = text_equal(last->object->kind_name, row.object->kind_name) &&
                      compare_wrongs(last, &row) == 0;
        if (row.repeats && are_siblings(last->object, row.object)) {
            last->more++;
            return;
        }
    }
    space->rows[space->row_count++] = row;
}

static void group_rows(struct audit_view *view, struct audit_row *rows, size_t count,
                       struct arena *arena)
{
    view->namespaces = ARENA_ARRAY(arena, count, struct audit_namespace);
    struct audit_namespace *space = NULL;
    for (size_t i = 0; i < count; i++) {
        if (space == NULL || !text_equal(space->name, rows[i].object->namespace)) {
            space = &view->namespaces[view->namespace_count++];
            *space = (struct audit_namespace){.name = rows[i].object->namespace, .rows = &rows[i]};
        }
        add_counts(&view->counts, &rows[i].counts);
        for (size_t j = 0; j < AUDIT_OUTCOMES; j++)
            view->objects.of[j] += rows[i].counts.of[j] > 0;
        add_row(space, rows[i]);
    }
    if (view->namespace_count > 1)
        qsort(view->namespaces, view->namespace_count, sizeof *view->namespaces,
              compare_namespaces);
}

/* ---- rails, and undecided findings ---- */

static void count_rails(struct audit_view *view, const struct report *report, struct arena *arena)
{
    struct audit_rail *all = ARENA_ARRAY(arena, rail_count(), struct audit_rail);
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct verdict *verdict = &report->entries[i].verdict;
        for (size_t j = 0; j < verdict->finding_count; j++) {
            const struct finding *finding = &verdict->findings[j];
            size_t at = 0;
            while (at + 1 < rail_count() && strcmp(rail_name(rail_at(at)), finding->rail) != 0)
                at++;
            all[at].name = finding->rail;
            all[at].counts.of[audit_outcome_of(finding)]++;
            if (all[at].docs.size == 0)
                all[at].docs = finding->docs;
            if (all[at].contact.size == 0)
                all[at].contact = finding->contact;
        }
    }
    view->rails = all;
    for (size_t i = 0; i < rail_count(); i++)
        if (all[i].name != NULL)
            all[view->rail_count++] = all[i];
}

/* Those that nothing of a kind is visible for are next to each other. */
static int compare_reasons(const void *a_pointer, const void *b_pointer)
{
    const struct audit_doubt *a = a_pointer, *b = b_pointer;
    int order = strcmp(a->finding->rail, b->finding->rail);
    if (order == 0)
        order =
            (a->finding->unseen > b->finding->unseen) - (a->finding->unseen < b->finding->unseen);
    if (order == 0)
        order = text_compare(a->finding->problem, b->finding->problem);
    if (order == 0)
        order = text_compare(a->object->namespace, b->object->namespace);
    return order != 0 ? order : text_compare(a->object->name, b->object->name);
}

static int compare_frequencies(const void *a_pointer, const void *b_pointer)
{
    const struct audit_doubt *a = a_pointer, *b = b_pointer;
    if (a->more != b->more)
        return a->more > b->more ? -1 : 1;
    return compare_reasons(a, b);
}

static bool have_one_reason(const struct finding *a, const struct finding *b)
{
    return unseen_alike(a, b) ||
           (strcmp(a->rail, b->rail) == 0 && text_equal(a->problem, b->problem));
}

static void group_doubts(struct audit_view *view, const struct report *report, struct arena *arena)
{
    size_t total = view->counts.of[AUDIT_UNDECIDED], count = 0;
    struct audit_doubt *all = ARENA_ARRAY(arena, total, struct audit_doubt);
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct report_entry *entry = &report->entries[i];
        for (size_t j = 0; j < entry->verdict.finding_count; j++)
            if (entry->verdict.findings[j].undecided)
                all[count++] = (struct audit_doubt){&entry->verdict.findings[j], entry->object, 0};
    }
    view->doubts = all;
    if (count == 0)
        return;
    qsort(all, count, sizeof *all, compare_reasons);
    for (size_t i = 0; i < count; i++) {
        struct audit_doubt *last = view->doubt_count == 0 ? NULL : &all[view->doubt_count - 1];
        if (last != NULL && have_one_reason(last->finding, all[i].finding))
            last->more++;
        else
            all[view->doubt_count++] = all[i];
    }
    qsort(all, view->doubt_count, sizeof *all, compare_frequencies);
}

struct audit_view audit_view(const struct report *report, struct arena *arena)
{
    struct audit_view view = {0};
    struct audit_row *rows = ARENA_ARRAY(arena, report->entry_count, struct audit_row);
    size_t count = 0;
    for (size_t i = 0; i < report->entry_count; i++)
        if (report->entries[i].verdict.finding_count > 0)
            rows[count++] = row_of(&report->entries[i], arena);
    if (count > 1)
        qsort(rows, count, sizeof *rows, compare_rows);
    group_rows(&view, rows, count, arena);
    count_rails(&view, report, arena);
    group_doubts(&view, report, arena);
    return view;
}

/* ---- notes ---- */

size_t audit_notes(const struct finding *finding, struct note notes[AUDIT_NOTES],
                   struct arena *arena)
{
    const struct note all[AUDIT_NOTES] = {
        {"fix", finding->fix},
        {"exception", finding_exception(finding, arena)},
        {"override", finding->override},
        {"since", finding->spared ? TEXT("it is older than the policy's since; created anew it "
                                         "would be denied")
                                  : TEXT("")},
    };
    size_t count = 0;
    for (size_t i = 0; i < AUDIT_NOTES; i++)
        if (all[i].text.size > 0)
            notes[count++] = all[i];
    return count;
}
