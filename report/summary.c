/* The last line of a report. */
#include "report/format.h"

struct report_summary report_summarize(const struct report *report)
{
    struct report_summary summary = {
        .objects = report->entry_count,
        .skipped = report->skipped + report->skipped_files + report->fragments + report->bound_pods,
        .skipped_files = report->skipped_files,
        .ignored = report->ignored,
        .fragments = report->fragments,
        .bound_pods = report->bound_pods,
        .errors = report->errors->count,
    };
    size_t *const counters[] = {
        [ACTION_NONE] = NULL,
        [ACTION_EXCEPTED] = &summary.excepted,
        [ACTION_AUDIT] = &summary.audited,
        [ACTION_WARN] = &summary.warned,
        [ACTION_DENY] = &summary.denied,
    };
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct verdict *verdict = &report->entries[i].verdict;
        for (size_t j = 0; j < verdict->finding_count; j++) {
            const struct finding *finding = &verdict->findings[j];
            size_t *counter = finding->undecided ? &summary.undecided : counters[finding->action];
            if (counter != NULL)
                (*counter)++;
        }
    }
    return summary;
}

void put_summary(const struct report *report, FILE *out)
{
    struct report_summary summary = report_summarize(report);
    const struct {
        size_t count;
        const char *what;
    } counts[] = {
        {summary.denied, "denied"},       {summary.warned, "warned"},
        {summary.audited, "audited"},     {summary.excepted, "excepted"},
        {summary.undecided, "undecided"}, {summary.skipped, "skipped"},
        {summary.ignored, "ignored"},
    };
    fprintf(out, "%zu object%s checked", summary.objects, summary.objects == 1 ? "" : "s");
    bool any = false;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        if (counts[i].count == 0)
            continue;
        fprintf(out, "%s%zu %s", any ? ", " : ": ", counts[i].count, counts[i].what);
        any = true;
    }
    if (summary.errors > 0)
        fprintf(out, "%s%zu error%s", any ? ", " : ": ", summary.errors,
                summary.errors == 1 ? "" : "s");
    else if (!any)
        fputs(", nothing found", out);
    fputc('\n', out);
}
