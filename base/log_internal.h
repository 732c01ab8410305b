/* The parts of the log that do not ask the clock or the terminal. */
#ifndef TAFFRAIL_BASE_LOG_INTERNAL_H
#define TAFFRAIL_BASE_LOG_INTERNAL_H

#include <time.h>

#include "base/base.h"

struct log_entry {
    struct timespec now;
    enum log_level level;
    const char *message, *component, *object, *error; /* the last two may be NULL */
    unsigned dropped;
};

/* Linux' PIPE_BUF: one write of so many bytes is whole in a pipe. */
enum { LOG_LINE_BYTES = 4 << 10 };

/* The line with its newline; returns its size. */
size_t log_format_json(const struct log_entry *entry, char data[LOG_LINE_BYTES]);
size_t log_format_text(const struct log_entry *entry, char data[LOG_LINE_BYTES]);

/* Whether a line of this component and level may be written now, and how many were dropped since
 * the last written one. */
bool log_admit(const char *component, enum log_level level, int64_t now_milliseconds,
               unsigned *dropped);
/* These were admitted, or told of by a line that was, and are lost all the same. */
void log_count_lost(const char *component, enum log_level level, unsigned lines);

#endif
