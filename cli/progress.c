/* Shows on a terminal that something is going on, and takes it away again. */
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

enum { QUIET_MS = 1000, WIDEST = 79 };

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0';
}

void progress_begin(struct progress *progress)
{
    const char *terminal = getenv("TERM");
    *progress = (struct progress){
        .possible = isatty(STDERR_FILENO) == 1 && terminal != NULL && *terminal != '\0' &&
                    strcmp(terminal, "dumb") != 0,
        .plain = is_set("NO_COLOR"),
        .begun_ms = monotonic_ms(),
    };
}

static void clear(struct progress *progress)
{
    if (progress->width > 0 && progress->plain)
        fprintf(stderr, "\r%*s\r", (int)progress->width, "");
    else if (progress->width > 0)
        fputs("\r\033[K", stderr);
    progress->width = 0;
}

void progress_show(struct progress *progress, const char *format, ...)
{
    char line[WIDEST + 1];
    va_list arguments;
    if (!progress->possible || monotonic_ms() - progress->begun_ms < QUIET_MS)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    clear(progress);
    progress->width = strlen(line);
    fputs(line, stderr);
    fflush(stderr);
}

void progress_end(struct progress *progress)
{
    clear(progress);
    fflush(stderr);
}
