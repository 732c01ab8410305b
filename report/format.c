/* The table of formats. */
#include "report/format.h"

/* The name, and whether the format contains the errors. */
#define FORMATS(ROW) \
    ROW(text, false) ROW(json, true) ROW(junit, true) ROW(sarif, true) ROW(github, true)

#define NAME_OF(name, holds_errors) #name,
const char *const report_format_names[] = {FORMATS(NAME_OF) NULL};
#undef NAME_OF

static const struct {
    report_writer *write;
    bool holds_errors;
} formats[] = {
#define ROW_OF(name, holds_errors) {report_##name, (holds_errors)},
    FORMATS(ROW_OF)
#undef ROW_OF
};

bool report_write(int format, const struct report *report, const struct report_style *style,
                  struct arena *arena, FILE *out, struct error *error)
{
    return formats[format].write(report, style, arena, out, error);
}

bool report_holds_errors(int format)
{
    return formats[format].holds_errors;
}
