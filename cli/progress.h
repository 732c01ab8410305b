/* A line on a terminal for what takes over a second; on anything else nothing. */
#ifndef TAFFRAIL_CLI_PROGRESS_H
#define TAFFRAIL_CLI_PROGRESS_H

#include "base/base.h"

struct progress {
    bool possible; /* standard error is a terminal that can go back in a line */
    bool plain;    /* nobody wants escapes */
    int64_t begun_ms;
    size_t width; /* of what is shown */
};
void progress_begin(struct progress *progress);
/* Shows this line instead of the one before, unless it is too early. */
void progress_show(struct progress *progress, const char *format, ...) PRINTF_LIKE(2, 3);
/* Leaves nothing behind. */
void progress_end(struct progress *progress);

#endif
