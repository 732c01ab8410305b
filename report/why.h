/* `taffrail why`: why a pod is where it is, and why a Node is there, printed. */
#ifndef TAFFRAIL_REPORT_WHY_H
#define TAFFRAIL_REPORT_WHY_H

#include "report/report.h"

struct why_node;
struct why_pod;

/* "text", "json" (taffrail.dev/why/v1); ends with NULL. */
extern const char *const report_why_format_names[];
/* As report_write. */
bool report_why_pod_write(int format, const struct why_pod *why, const struct report_style *style,
                          struct arena *arena, FILE *out, struct error *error) MUST_CHECK;
/* Times are told from now on. */
bool report_why_node_write(int format, const struct why_node *why, int64_t now_unix_s,
                           const struct report_style *style, struct arena *arena, FILE *out,
                           struct error *error) MUST_CHECK;

#endif
