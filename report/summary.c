#include "report/report.h"

struct report_summary report_summarize(const struct report *report)
{
    struct report_summary summary = {
        .objects = report->entry_count,
        .skipped = report->skipped,
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
