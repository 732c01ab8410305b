/* What holds for objects, printed: `taffrail policy explain`. */
#ifndef TAFFRAIL_REPORT_HOLDING_H
#define TAFFRAIL_REPORT_HOLDING_H

#include "policy/holding.h"
#include "report/report.h"

/* "text", "json" (taffrail.dev/policy-explain/v1); ends with NULL. */
extern const char *const report_holding_format_names[];
/* As report_write. */
bool report_holding_write(int format, const struct object_holding *holdings, size_t count,
                          const struct problems *errors, const struct report_style *style,
                          struct arena *arena, FILE *out, struct error *error) MUST_CHECK;

#endif
