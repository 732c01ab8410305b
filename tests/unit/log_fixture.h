/* What the log says while a test listens: standard error goes into a file meanwhile. */
#ifndef TAFFRAIL_UNIT_LOG_FIXTURE_H
#define TAFFRAIL_UNIT_LOG_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/log_internal.h"
#include "unit.h"

struct listening {
    int standard_error, file;
};

/* The log takes so many lines a second of each component, and tests are quicker than that: a new
 * second begins, each time a later one. */
static inline void begin_second(void)
{
    static const char *const components[] = {"cluster", "reload",          "reports", "server",
                                             "trail",   "webhook-manager", "world"};
    static int64_t second_ms = INT64_MAX / 2;
    second_ms += 1000;
    for (size_t i = 0; i < COUNT_OF(components); i++)
        for (enum log_level level = LOG_DEBUG; level <= LOG_ERROR; level++) {
            unsigned dropped;
            CU_ASSERT(log_admit(components[i], level, second_ms, &dropped));
        }
}

static inline struct listening listen_to_log(void)
{
    begin_second();
    char path[] = "/tmp/taffrail-heard-XXXXXX";
    struct listening listening = {.standard_error = dup(STDERR_FILENO), .file = mkstemp(path)};
    CU_ASSERT_FATAL(listening.standard_error >= 0 && listening.file >= 0);
    unlink(path);
    fflush(stderr);
    dup2(listening.file, STDERR_FILENO);
    return listening;
}

/* What was said since then, of 64 KiB. The text is valid until the next one. */
static inline struct text heard(struct listening *listening)
{
    static char said[64 << 10];
    fflush(stderr);
    dup2(listening->standard_error, STDERR_FILENO);
    close(listening->standard_error);
    ssize_t size = pread(listening->file, said, sizeof said - 1, 0);
    close(listening->file);
    said[size < 0 ? 0 : size] = '\0';
    return text_of(said);
}

/* Whether it stands in the message of its line, and not in another field. */
static inline bool is_in_message(const char *log, const char *at)
{
    const char *line = at;
    while (line > log && line[-1] != '\n')
        line--;
    const char *message = strstr(line, "\"msg\":\""), *end = strstr(line, "\",\"component\":");
    return message != NULL && end != NULL && message < at && at < end;
}

static inline size_t times_heard(struct text log, const char *what, bool anywhere)
{
    size_t times = 0;
    for (const char *at = log.data; (at = strstr(at, what)) != NULL; at++)
        times += anywhere || is_in_message(log.data, at);
    return times;
}

/* In messages; what begins with a quotation mark names its field itself, and what is not to be
 * heard stands in no field. */
static inline void assert_heard(struct text log, const char *what, size_t times, int line)
{
    size_t heard = times_heard(log, what, what[0] == '"' || times == 0);
    if (heard != times)
        fprintf(stderr, "line %d: \"%s\" stands %zu times, not %zu, in\n%.*s", line, what, heard,
                times, TEXT_ARGS(log));
    CU_ASSERT_EQUAL(heard, times);
}
#define ASSERT_HEARD(log, what, times) assert_heard((log), (what), (times), __LINE__)

#endif
