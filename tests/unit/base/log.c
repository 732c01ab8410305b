/* labels: threads */
/* Log lines: format, and the limit of their rate. */
#include "unit.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log_internal.h"
#include "file_limit.h"

static const struct timespec moment = {.tv_sec = 1767323045, .tv_nsec = 678999999};

static void lines_are_formatted(void)
{
    static const struct {
        const char *message, *object, *error;
        unsigned dropped;
        const char *json, *text;
    } cases[] = {
        {"started", NULL, NULL, 0,
         "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"level\":\"warn\",\"msg\":\"started\","
         "\"component\":\"server\"}\n",
         "2026-01-02T03:04:05.678Z warn server: started\n"},
        {"refused", "default/web", "no \"zone\"", 3,
         "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"level\":\"warn\",\"msg\":\"refused\","
         "\"component\":\"server\",\"object\":\"default/web\",\"error\":\"no \\\"zone\\\"\","
         "\"dropped\":3}\n",
         "2026-01-02T03:04:05.678Z warn server: refused [default/web]: no \"zone\" (3 lines "
         "dropped before)\n"},
        {"a\\b\n\t\x1B[31m\x7F\xC2\x9B \xC3\xA9\xF0\x9F\x98\x80", NULL, NULL, 0,
         "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"level\":\"warn\",\"msg\":"
         "\"a\\\\b\\n\\u0009\\u001b[31m\\u007f\\u009b \xC3\xA9\xF0\x9F\x98\x80\","
         "\"component\":\"server\"}\n",
         "2026-01-02T03:04:05.678Z warn server: a\\b\\n\\u0009\\u001b[31m\\u007f\\u009b "
         "\xC3\xA9\xF0\x9F\x98\x80\n"},
        {"\xFF\xC3", NULL, NULL, 0,
         "{\"ts\":\"2026-01-02T03:04:05.678Z\",\"level\":\"warn\",\"msg\":\"\\ufffd\\ufffd\","
         "\"component\":\"server\"}\n",
         "2026-01-02T03:04:05.678Z warn server: \\ufffd\\ufffd\n"},
    };
    char line[LOG_LINE_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct log_entry entry = {moment,          LOG_WARN,       cases[i].message, "server",
                                  cases[i].object, cases[i].error, cases[i].dropped};
        size_t size = log_format_json(&entry, line);
        ASSERT_TEXT(((struct text){line, size}), cases[i].json);
        size = log_format_text(&entry, line);
        ASSERT_TEXT(((struct text){line, size}), cases[i].text);
    }
}

/* A pipe takes a line in whole or not at all. */
static void long_lines_are_cut(void)
{
    static const char *const characters[] = {"x", "\x01", "\"", "\n", "\xFF", "\xF0\x9F\x98\x80"};
    for (size_t i = 0; i < COUNT_OF(characters); i++) {
        enum { TIMES = 10000 };
        size_t size = strlen(characters[i]);
        char *message = calloc(TIMES, size + 1);
        for (size_t j = 0; j < TIMES; j++)
            memcpy(message + j * size, characters[i], size);
        struct log_entry entry = {moment, LOG_ERROR, message, message, message, message, UINT_MAX};
        char line[LOG_LINE_BYTES];
        size = log_format_json(&entry, line);
        CU_ASSERT(size <= PIPE_BUF);
        CU_ASSERT(text_ends_with((struct text){line, size}, TEXT("\",\"dropped\":4294967295}\n")));
        size = log_format_text(&entry, line);
        CU_ASSERT(size <= PIPE_BUF);
        CU_ASSERT(text_ends_with((struct text){line, size},
                                 TEXT(" (4294967295 lines dropped before)\n")));
        free(message);
    }
}

static void twenty_lines_a_second_are_admitted(void)
{
    static const struct {
        const char *component;
        enum log_level level;
        int64_t milliseconds;
        unsigned lines, admitted, dropped_before; /* of the first line */
    } cases[] = {
        {"rate-a", LOG_WARN, 5000, 25, 20, 0}, {"rate-a", LOG_WARN, 5999, 3, 0, 0},
        {"rate-a", LOG_INFO, 5999, 2, 2, 0},   {"rate-b", LOG_WARN, 5999, 2, 2, 0},
        {"rate-a", LOG_WARN, 6000, 1, 1, 8},   {"rate-a", LOG_WARN, 6001, 25, 19, 0},
        {"rate-a", LOG_WARN, 9000, 25, 20, 6}, {"rate-a", LOG_WARN, 90000, 1, 1, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned admitted = 0, dropped = 0;
        for (unsigned line = 0; line < cases[i].lines; line++) {
            unsigned before = 0;
            admitted +=
                log_admit(cases[i].component, cases[i].level, cases[i].milliseconds, &before);
            dropped += before;
        }
        ASSERT_INT(admitted, cases[i].admitted);
        ASSERT_INT(dropped, cases[i].dropped_before);
    }
    /* More components than there is room for still have a limit. */
    unsigned admitted = 0, dropped = 0;
    for (int i = 0; i < 200; i++) {
        char component[32];
        snprintf(component, sizeof component, "many-%d", i);
        for (int line = 0; line < 30; line++)
            admitted += log_admit(component, LOG_WARN, 1, &dropped);
    }
    CU_ASSERT(admitted >= 20 && admitted <= 64 * 20);
}

static int capture_start(FILE *file)
{
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    return saved;
}

static size_t capture_end(FILE *file, int saved, char *buffer, size_t size)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    return fread(buffer, 1, size, file);
}

static void levels_are_kept(void)
{
    FILE *file = tmpfile();
    char output[4096];
    int saved = capture_start(file);
    log_line(LOG_DEBUG, "levels", NULL, NULL, "not by default");
    log_line(LOG_INFO, "levels", NULL, NULL, "number %d", 1);
    log_set_level(LOG_ERROR);
    log_line(LOG_WARN, "levels", NULL, NULL, "too low");
    log_line(LOG_ERROR, "levels", "a/b", "broken", "number %d", 2);
    log_set_level(LOG_DEBUG);
    log_line(LOG_DEBUG, "levels", NULL, NULL, "number %d", 3);
    log_set_level(LOG_INFO);
    size_t size = capture_end(file, saved, output, sizeof output);
    fclose(file);
    struct text rest = {output, size}, line;
    static const char *const tails[] = {
        ",\"level\":\"info\",\"msg\":\"number 1\",\"component\":\"levels\"}",
        (",\"level\":\"error\",\"msg\":\"number 2\",\"component\":\"levels\",\"object\":\"a/b\","
         "\"error\":\"broken\"}"),
        ",\"level\":\"debug\",\"msg\":\"number 3\",\"component\":\"levels\"}",
    };
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_FATAL(text_split(rest, '\n', &line, &rest));
        CU_ASSERT(text_starts_with(line, TEXT("{\"ts\":\"20")));
        CU_ASSERT(text_ends_with(line, text_of(tails[i])));
    }
    ASSERT_INT(rest.size, 0);
}

static void *log_some(void *argument)
{
    for (int i = 0; i < 10; i++)
        log_line(LOG_INFO, argument, NULL, NULL, "%s line %d of a thread", (char *)argument, i);
    return NULL;
}

static void threads_write_whole_lines(bool waiting)
{
    log_set_waiting(waiting);
    static char *const components[] = {"thread-a", "thread-b", "thread-c", "thread-d",
                                       "thread-e", "thread-f", "thread-g", "thread-h"};
    pthread_t threads[4];
    FILE *file = tmpfile();
    static char output[64 << 10];
    int saved = capture_start(file);
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, log_some, components[2 * i + waiting]);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    size_t size = capture_end(file, saved, output, sizeof output);
    fclose(file);
    struct text rest = {output, size}, line;
    size_t count = 0;
    for (; text_split(rest, '\n', &line, &rest); count++) {
        CU_ASSERT(text_starts_with(line, TEXT("{\"ts\":\"")));
        CU_ASSERT(text_ends_with(line, TEXT("\"}")));
    }
    ASSERT_INT(count, 40);
    log_set_waiting(true);
}

static void threads_that_wait_write_whole_lines(void)
{
    threads_write_whole_lines(true);
}

static void threads_that_do_not_wait_write_whole_lines(void)
{
    threads_write_whole_lines(false);
}

/* ---- a pipe that is full ---- */

struct full_pipe {
    int standard_error, reader;
};

static struct full_pipe fill_pipe(void)
{
    int ends[2];
    CU_ASSERT_FATAL(pipe2(ends, O_NONBLOCK) == 0);
    while (write(ends[1], "x", 1) == 1)
        continue;
    CU_ASSERT_FATAL(fcntl(ends[1], F_SETFL, 0) == 0);
    fflush(stderr);
    struct full_pipe full = {dup(STDERR_FILENO), ends[0]};
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    return full;
}

static void empty_pipe(int reader)
{
    char bytes[4096];
    while (read(reader, bytes, sizeof bytes) > 0)
        continue;
}

static void close_pipe(struct full_pipe *full)
{
    dup2(full->standard_error, STDERR_FILENO);
    close(full->standard_error);
    close(full->reader);
}

static void what_nobody_reads_is_counted(void)
{
    static const struct {
        enum log_level level;
        const char *end;
    } cases[] = {
        {LOG_WARN, "\"msg\":\"read\",\"component\":\"unread\",\"dropped\":2}\n"},
        {LOG_INFO, "\"msg\":\"read\",\"component\":\"unread\",\"dropped\":1}\n"},
        {LOG_INFO, "\"msg\":\"read\",\"component\":\"unread\"}\n"},
    };
    log_set_waiting(false);
    struct full_pipe full = fill_pipe();
    log_line(LOG_WARN, "unread", NULL, NULL, "lost");
    log_line(LOG_WARN, "unread", NULL, NULL, "lost");
    log_line(LOG_INFO, "unread", NULL, NULL, "lost");
    empty_pipe(full.reader);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[LOG_LINE_BYTES];
        log_line(cases[i].level, "unread", NULL, NULL, "read");
        ssize_t size = read(full.reader, line, sizeof line);
        CU_ASSERT_FATAL(size > 0);
        CU_ASSERT(text_ends_with((struct text){line, (size_t)size}, text_of(cases[i].end)));
    }
    close_pipe(&full);
    log_set_waiting(true);
}

static void *log_one(void *argument)
{
    (void)argument;
    log_line(LOG_WARN, "waits", NULL, NULL, "read at last");
    return NULL;
}

static void commands_wait_for_their_reader(void)
{
    pthread_t thread;
    char bytes[4096];
    ssize_t size = 0;
    struct full_pipe full = fill_pipe();
    CU_ASSERT_FATAL(fcntl(full.reader, F_SETFL, 0) == 0);
    pthread_create(&thread, NULL, log_one, NULL);
    do {
        size = read(full.reader, bytes, sizeof bytes);
    } while (size > 0 && bytes[size - 1] == 'x');
    CU_ASSERT_FATAL(size > 0);
    CU_ASSERT(text_ends_with((struct text){bytes, (size_t)size},
                             TEXT("\"msg\":\"read at last\",\"component\":\"waits\"}\n")));
    pthread_join(thread, NULL);
    close_pipe(&full);
}

/* ---- a disk that is full ---- */

static void a_torn_line_has_an_end(void)
{
    enum { TORN_BYTES = 10 };
    char output[4096];
    FILE *file = tmpfile();
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    log_set_waiting(false);
    int saved = capture_start(file);
    limit_files(TORN_BYTES);
    log_line(LOG_WARN, "torn", NULL, NULL, "in part");
    log_line(LOG_WARN, "torn", NULL, NULL, "not at all");
    limit_files(RLIM_INFINITY);
    log_line(LOG_WARN, "torn", NULL, NULL, "in whole");
    log_line(LOG_WARN, "torn", NULL, NULL, "in whole, too");
    size_t size = capture_end(file, saved, output, sizeof output);
    log_set_waiting(true);
    signal(SIGXFSZ, handler);
    fclose(file);
    static const char *const ends[] = {
        "{\"ts\":\"202",
        "\"msg\":\"in whole\",\"component\":\"torn\",\"dropped\":2}",
        "\"msg\":\"in whole, too\",\"component\":\"torn\"}",
    };
    struct text rest = {output, size}, line;
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        CU_ASSERT_FATAL(text_split(rest, '\n', &line, &rest));
        CU_ASSERT(text_starts_with(line, TEXT("{\"ts\":\"202")));
        CU_ASSERT(text_ends_with(line, text_of(ends[i])));
    }
    ASSERT_INT(rest.size, 0);
}

/* On a terminal lines are text. */
static void a_terminal_gets_text(void)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
        CU_PASS("no pseudo-terminal here");
        return;
    }
    int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    CU_ASSERT_FATAL(other >= 0);
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    dup2(other, STDERR_FILENO);
    log_line(LOG_INFO, "terminal", NULL, NULL, "hello");
    dup2(saved, STDERR_FILENO);
    close(saved);
    char output[256];
    ssize_t size = read(terminal, output, sizeof output);
    close(other);
    close(terminal);
    CU_ASSERT_FATAL(size > 0);
    CU_ASSERT(
        text_ends_with((struct text){output, (size_t)size}, TEXT("Z info terminal: hello\r\n")));
}

const char unit_suite[] = "base log";
const struct unit_test unit_tests[] = {
    {"lines are formatted", lines_are_formatted},
    {"long lines are cut", long_lines_are_cut},
    {"levels are kept", levels_are_kept},
    {"threads that wait write whole lines", threads_that_wait_write_whole_lines},
    {"threads that do not wait write whole lines", threads_that_do_not_wait_write_whole_lines},
    {"what nobody reads is counted", what_nobody_reads_is_counted},
    {"commands wait for their reader", commands_wait_for_their_reader},
    {"a torn line has an end", a_torn_line_has_an_end},
    {"a terminal gets text", a_terminal_gets_text},
    {"twenty lines a second are admitted", twenty_lines_a_second_are_admitted},
    {NULL, NULL},
};
