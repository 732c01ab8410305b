/* Private to report/: what the formats of an impact share. */
#ifndef TAFFRAIL_REPORT_IMPACT_FORMAT_H
#define TAFFRAIL_REPORT_IMPACT_FORMAT_H

#include "report/format.h"
#include "report/impact.h"

extern const char *const impact_operation_names[]; /* "create", "update", "delete" */
/* "NodePool general", "PersistentVolumeClaim shop/data" */
struct text impact_title(const struct impact_entry *entry, struct arena *arena);
/* The sentences about one change, each a line. */
struct text_list impact_sentences(const struct impact_entry *entry, struct arena *arena);
/* Whether nothing of what it does can be seen. */
bool impact_is_unknown(const struct impact_entry *entry);
/* "pod shop/db-0 of StatefulSet db: PodDisruptionBudget db" */
struct text impact_block_words(const struct impact_block *block, struct arena *arena);
/* What several changes do together; empty: there is one. */
struct text impact_together(const struct impact_report *report, struct arena *arena);

/* Where there is no change: why; empty: nothing could be read. */
struct text impact_none(const struct impact_report *report);

void impact_markdown(const struct impact_report *report, struct arena *arena, FILE *out);

#endif
