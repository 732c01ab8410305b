/* JUnit XML as Jenkins reads it. It holds no times: the same input gives the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "report/format.h"

/* ---- cases: an object each, and an unreadable document each ---- */

struct test_case {
    const char *file; /* "" when an error has none */
    const struct object *object;
    const struct located_finding *findings;
    size_t finding_count;
    const struct located_error *error; /* NULL: an object */
    size_t order;
};

static int compare_cases(const void *a_pointer, const void *b_pointer)
{
    const struct test_case *a = a_pointer;
    const struct test_case *b = b_pointer;
    int order = strcmp(a->file, b->file);
    return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

static const char *file_of(const char *file, struct arena *arena)
{
    return file == NULL ? "" : text_as_utf8(text_of(short_path(file)), arena).data;
}

/* By file; in a file first the objects in their order, then the errors. */
static const struct test_case *collect(const struct report *report, struct arena *arena,
                                       size_t *count)
{
    size_t finding_count, error_count;
    const struct located_finding *findings = locate_findings(report, arena, &finding_count);
    const struct located_error *errors = locate_errors(report, arena, &error_count);
    *count = report->entry_count + error_count;
    struct test_case *cases = ARENA_ARRAY(arena, *count, struct test_case);
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct report_entry *entry = &report->entries[i];
        cases[i] = (struct test_case){.file = file_of(entry->object->source->file, arena),
                                      .object = entry->object,
                                      .findings = findings,
                                      .finding_count = entry->verdict.finding_count};
        findings += entry->verdict.finding_count;
    }
    for (size_t i = 0; i < error_count; i++)
        cases[report->entry_count + i] =
            (struct test_case){.file = file_of(errors[i].path, arena), .error = &errors[i]};
    for (size_t i = 0; i < *count; i++)
        cases[i].order = i;
    if (*count > 1)
        qsort(cases, *count, sizeof *cases, compare_cases);
    return cases;
}

static bool fails(const struct finding *finding, const struct report_style *style)
{
    return !finding->undecided && (finding->action == ACTION_DENY ||
                                   (finding->action == ACTION_WARN && style->warnings_fail));
}

struct totals {
    size_t tests, failures, errors;
};

/* Failed cases: one with two failures counts once. */
static struct totals total(const struct test_case *cases, size_t count,
                           const struct report_style *style)
{
    struct totals totals = {.tests = count};
    for (size_t i = 0; i < count; i++) {
        bool failed = false;
        for (size_t j = 0; j < cases[i].finding_count; j++)
            failed = failed || fails(cases[i].findings[j].finding, style);
        totals.failures += failed;
        totals.errors += cases[i].error != NULL;
    }
    return totals;
}

static void put_totals(const struct totals *totals, FILE *out)
{
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", totals->tests, totals->failures,
            totals->errors);
}

/* ---- elements ---- */

/* "shop.yaml:17:24: deny topology-keys", the message, and the notes. */
static struct text story(const struct located_finding *located, struct arena *arena)
{
    const struct finding *finding = located->finding;
    return arena_printf(arena, "%s:%u:%u: %s %s\n%.*s", located->place.file, located->place.line,
                        located->place.column, finding_label(finding), finding->rail,
                        TEXT_ARGS(finding_advice(finding, arena)));
}

static void put_failure(const struct located_finding *located, struct arena *arena, FILE *out)
{
    fputs("      <failure", out);
    put_xml_attribute("type", text_of(located->finding->rail), out);
    put_xml_attribute("message", located->finding->problem, out);
    fputc('>', out);
    put_xml(story(located, arena), out);
    fputs("</failure>\n", out);
}

static void put_case(const struct test_case *test, const struct report_style *style,
                     struct arena *arena, FILE *out)
{
    struct text kind = test->error == NULL ? test->object->kind_name : TEXT("document");
    struct text name = test->error == NULL
                           ? object_title(test->object, arena)
                           : arena_printf(arena, "line %u", test->error->place.line);
    fputs("    <testcase", out);
    put_xml_attribute("classname", kind, out);
    put_xml_attribute("name", name, out);
    if (test->error == NULL && test->finding_count == 0) {
        fputs("/>\n", out);
        return;
    }
    fputs(">\n", out);
    if (test->error != NULL) {
        fputs("      <error type=\"not readable\"", out);
        put_xml_attribute("message", test->error->message, out);
        fputs("/>\n", out);
    }
    struct text_builder told = {.arena = arena};
    for (size_t i = 0; i < test->finding_count; i++) {
        if (fails(test->findings[i].finding, style))
            put_failure(&test->findings[i], arena, out);
        else
            text_builder_printf(&told, "%s%.*s", told.size == 0 ? "" : "\n\n",
                                TEXT_ARGS(story(&test->findings[i], arena)));
    }
    if (told.size > 0) {
        fputs("      <system-out>", out);
        put_xml(text_builder_text(&told), out);
        fputs("</system-out>\n", out);
    }
    fputs("    </testcase>\n", out);
}

bool report_junit(const struct report *report, const struct report_style *style,
                  struct arena *arena, FILE *out, struct error *error)
{
    (void)error;
    size_t count;
    const struct test_case *cases = collect(report, arena, &count);
    struct totals totals = total(cases, count, style);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"taffrail\"", out);
    put_totals(&totals, out);
    fputs(">\n", out);
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start; end < count && strcmp(cases[end].file, cases[start].file) == 0;)
            end++;
        totals = total(&cases[start], end - start, style);
        fputs("  <testsuite", out);
        put_xml_attribute("name", text_of(cases[start].file), out);
        put_totals(&totals, out);
        fputs(" skipped=\"0\">\n", out);
        for (size_t i = start; i < end; i++)
            put_case(&cases[i], style, arena, out);
        fputs("  </testsuite>\n", out);
    }
    fputs("</testsuites>\n", out);
    return true;
}
