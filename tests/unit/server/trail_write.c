/* A line of the trail where the kernel does not say at once what a write would do: nobody waits for
 * a reader, and a file takes every line. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "file_limit.h"
#include "server/server.h"
#include "unit.h"

const char unit_suite[] = "server/trail write";

/* ---- in place of the kernel's ---- */

enum { ALL = 1 << 30 };
static ssize_t says; /* below 0: it fails, with errno: */
static int failure;
static unsigned calls;
static const char stuck[] = "standard output takes nothing more: its reader is stuck";

/* The header's names are the C library's own. NOLINTNEXTLINE(readability-inconsistent-*) */
ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    CU_ASSERT(fd == STDOUT_FILENO && parts != NULL && count == 3 && offset == -1);
    CU_ASSERT(flags == RWF_NOWAIT);
    ssize_t size = 0;
    for (int i = 0; i < count; i++)
        size += (ssize_t)parts[i].iov_len;
    calls++;
    errno = failure;
    return says == ALL ? size : says;
}

static unsigned turns_of_others; /* so often a terminal is another writer's */

/* The header's names are the C library's own. NOLINTNEXTLINE(readability-inconsistent-*) */
ssize_t writev(int fd, const struct iovec *parts, int count)
{
    if (turns_of_others == 0)
        return syscall(SYS_writev, fd, parts, count);
    turns_of_others--;
    errno = EAGAIN;
    return -1;
}

/* ---- standard output ---- */

enum output { EMPTY_PIPE, FULL_PIPE, PIPE_WITHOUT_READER, A_FILE };

/* What is read of it. */
static int open_output(enum output output)
{
    int ends[2];
    if (output == A_FILE) {
        FILE *file = tmpfile();
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        int reader = dup(fileno(file));
        fclose(file);
        dup2(reader, STDOUT_FILENO);
        return reader;
    }
    CU_ASSERT_FATAL(pipe2(ends, O_NONBLOCK) == 0);
    while (output == FULL_PIPE && write(ends[1], "x", 1) == 1)
        continue;
    CU_ASSERT_FATAL(fcntl(ends[1], F_SETFL, 0) == 0); /* as the server's is */
    if (output == PIPE_WITHOUT_READER)
        close(ends[0]);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    return output == PIPE_WITHOUT_READER ? -1 : ends[0];
}

static void what_becomes_of_a_line(void)
{
    static const char line[] = "{\"a\":1}";
    enum { LINE_BYTES = sizeof line - 1 };
    static const struct {
        ssize_t says;
        int failure;
        enum output output;
        const char *lost; /* NULL: it is not */
        bool written;     /* by another call */
    } cases[] = {
        {LINE_BYTES + 1, 0, EMPTY_PIPE, NULL, false},
        {LINE_BYTES, 0, EMPTY_PIPE, "written in part", false},
        {1, 0, EMPTY_PIPE, "written in part", false},
        /* it would wait: for a reader nobody does, and for a disk everybody, in whole */
        {-1, EAGAIN, EMPTY_PIPE, stuck, false},
        {-1, EAGAIN, FULL_PIPE, stuck, false},
        {-1, EAGAIN, A_FILE, NULL, true},
        {1, 0, A_FILE, NULL, true},
        /* it does not know such a write */
        {-1, EOPNOTSUPP, EMPTY_PIPE, NULL, true},
        {-1, EOPNOTSUPP, FULL_PIPE, stuck, false},
        {-1, EOPNOTSUPP, PIPE_WITHOUT_READER, "Broken pipe", false},
    };
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* as the server does */
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char read_bytes[2 * sizeof line];
        ssize_t size = 0;
        fflush(stdout);
        int standard_output = dup(STDOUT_FILENO), reader = open_output(cases[i].output);
        says = cases[i].says;
        failure = cases[i].failure;
        calls = 0;
        const char *lost = trail_write(TEXT(line));
        says = ALL;
        if (cases[i].output != A_FILE) /* which takes every line in whole */
            CU_ASSERT_PTR_NULL(trail_write(TEXT("the end of a torn line")));
        dup2(standard_output, STDOUT_FILENO);
        close(standard_output);
        ASSERT_INT(calls, cases[i].output == A_FILE ? 0 : 2);
        ASSERT_TEXT(text_of(lost == NULL ? "" : lost), cases[i].lost == NULL ? "" : cases[i].lost);
        if (cases[i].output == A_FILE)
            lseek(reader, 0, SEEK_SET);
        if (reader >= 0 && cases[i].output != FULL_PIPE)
            size = read(reader, read_bytes, sizeof read_bytes);
        if (cases[i].written)
            ASSERT_TEXT(((struct text){read_bytes, size < 0 ? 0 : (size_t)size}), "{\"a\":1}\n");
        else
            CU_ASSERT(size <= 0);
        close(reader);
    }
    signal(SIGPIPE, before);
}

/* One line is torn, and not two: each that is not told to be lost stands on a line of its own. */
static void a_torn_line_has_an_end(void)
{
    static const struct {
        rlim_t room;
        const char *lost;
    } steps[] = {
        {4, "written in part"}, {4, "File too large"},
        {5, "written in part"}, /* the end of the torn line alone */
        {7, "written in part"}, {RLIM_INFINITY, NULL},
        {RLIM_INFINITY, NULL},
    };
    char line[16];
    char read_bytes[64];
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    fflush(stdout);
    int standard_output = dup(STDOUT_FILENO), reader = open_output(A_FILE);
    const char *lost[COUNT_OF(steps)];
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        limit_files(steps[i].room);
        snprintf(line, sizeof line, "{\"a\":%zu}", i);
        lost[i] = trail_write(text_of(line));
    }
    limit_files(RLIM_INFINITY);
    dup2(standard_output, STDOUT_FILENO);
    close(standard_output);
    signal(SIGXFSZ, before);
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        CU_ASSERT_STRING_EQUAL(lost[i] == NULL ? "" : lost[i],
                               steps[i].lost == NULL ? "" : steps[i].lost);
    ssize_t size = pread(reader, read_bytes, sizeof read_bytes, 0);
    ASSERT_TEXT(((struct text){read_bytes, size < 0 ? 0 : (size_t)size}),
                "{\"a\"\n{\"\n{\"a\":4}\n{\"a\":5}\n");
    close(reader);
}

/* ---- a terminal ---- */

static int open_raw_terminal(void)
{
    struct termios settings;
    int reader = posix_openpt(O_RDWR | O_NOCTTY);
    CU_ASSERT_FATAL(reader >= 0 && grantpt(reader) == 0 && unlockpt(reader) == 0);
    int terminal = open(ptsname(reader), O_RDWR | O_NOCTTY);
    CU_ASSERT_FATAL(terminal >= 0 && tcgetattr(terminal, &settings) == 0);
    cfmakeraw(&settings);
    CU_ASSERT_FATAL(tcsetattr(terminal, TCSANOW, &settings) == 0);
    dup2(terminal, STDOUT_FILENO);
    close(terminal);
    return reader;
}

/* Which has room for a part of a line. What is written comes to the reader some time later. */
static void nobody_reads_the_terminal(void)
{
    enum { LINE_BYTES = 1 << 20, WAITS_S = 10 };
    static char bytes[LINE_BYTES];
    ssize_t size = 0;
    const char *first, *last, *later;
    memset(bytes, 'x', sizeof bytes);
    says = -1;
    failure = EOPNOTSUPP;
    fflush(stdout);
    int standard_output = dup(STDOUT_FILENO), reader = open_raw_terminal();
    alarm(WAITS_S); /* ends the test where it waits */
    first = last = trail_write((struct text){bytes, sizeof bytes});
    while (last != NULL && strcmp(last, "written in part") == 0)
        last = trail_write((struct text){bytes, sizeof bytes});
    do {
        size = read(reader, bytes, sizeof bytes);
        later = trail_write(TEXT("{\"a\":2}"));
    } while (size > 0 && later != NULL);
    while (size > 0 && bytes[size - 1] != '\n') /* of the last line alone */
        size = read(reader, bytes, sizeof bytes);
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    alarm(0);
    dup2(standard_output, STDOUT_FILENO);
    close(standard_output);
    close(reader);
    ASSERT_TEXT(text_of(first), "written in part");
    ASSERT_TEXT(text_of(last), stuck);
    CU_ASSERT_PTR_NULL(later);
    CU_ASSERT((flags & O_NONBLOCK) == 0); /* it is the terminal of others, too */
    CU_ASSERT(size > 0);
}

/* It has room, and who writes to it is soon ready, or never. */
static void others_write_to_the_terminal(void)
{
    enum { FOR_EVER = 1 << 30, STUCK_MS = 100, WITHIN_MS = 1000 };
    static const struct {
        unsigned turns;
        const char *lost;
    } cases[] = {{0, NULL},
                 {1, NULL},
                 {5, NULL},
                 {FOR_EVER, "standard output is a terminal that others write to all the time"},
                 {1, NULL}};
    says = -1;
    failure = EOPNOTSUPP;
    fflush(stdout);
    int standard_output = dup(STDOUT_FILENO), reader = open_raw_terminal();
    poll(NULL, 0, STUCK_MS); /* nobody waits right after a terminal without room */
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        turns_of_others = cases[i].turns;
        int64_t began_ms = monotonic_ms();
        const char *lost = trail_write(TEXT("{\"a\":3}"));
        CU_ASSERT_STRING_EQUAL(lost == NULL ? "" : lost,
                               cases[i].lost == NULL ? "" : cases[i].lost);
        CU_ASSERT(monotonic_ms() - began_ms < WITHIN_MS);
        CU_ASSERT(cases[i].lost != NULL || turns_of_others == 0);
    }
    dup2(standard_output, STDOUT_FILENO);
    close(standard_output);
    close(reader);
}

/* Nobody waits for a reader again and again. */
static void a_stuck_terminal_is_not_waited_for_again(void)
{
    enum { LINES = 2000, WITHIN_MS = 5000 };
    const char *lost = NULL;
    says = -1;
    failure = EOPNOTSUPP;
    fflush(stdout);
    int standard_output = dup(STDOUT_FILENO), reader = open_raw_terminal();
    while (lost == NULL || strcmp(lost, stuck) != 0)
        lost = trail_write(TEXT("{\"a\":4}"));
    int64_t began_ms = monotonic_ms();
    for (int i = 0; i < LINES; i++)
        CU_ASSERT_PTR_NOT_NULL(trail_write(TEXT("{\"a\":5}")));
    CU_ASSERT(monotonic_ms() - began_ms < WITHIN_MS);
    dup2(standard_output, STDOUT_FILENO);
    close(standard_output);
    close(reader);
}

const struct unit_test unit_tests[] = {
    {"nobody reads the terminal", nobody_reads_the_terminal},
    {"others write to the terminal", others_write_to_the_terminal},
    {"a stuck terminal is not waited for again", a_stuck_terminal_is_not_waited_for_again},
    {"what becomes of a line", what_becomes_of_a_line},
    {"a torn line has an end", a_torn_line_has_an_end},
    {NULL, NULL},
};
