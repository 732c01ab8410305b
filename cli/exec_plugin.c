/* Runs an exec plugin: no shell, bounded output, and an end. */
#include "cli/exec_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    OUTPUT_BYTES = 1 << 20, /* of an answer; a chain of certificates has some KiB */
    ALONE_MS = 60 * 1000,
    ATTENDED_MS = 10 * 60 * 1000, /* somebody may have to type a code, or to log in elsewhere */
    END_MS = 2000,                /* between the end of its output and its own */
};

struct run {
    const struct exec_plugin *plugin;
    struct arena *arena;
    struct error *error;
    bool interactive; /* it reads our standard input */
    bool attended;    /* a person looks on */
    int64_t limit_ms;
    pid_t pid;
    int output;  /* of the plugin, to read */
    char *bytes; /* what was read */
    size_t size;
};

/* Takes no memory: while the plugin runs, nothing may unwind. */
static bool fail(const struct run *run, const char *format, ...) PRINTF_LIKE(2, 3);
static bool fail(const struct run *run, const char *format, ...)
{
    char what[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return error_set(run->error, ERROR_CLUSTER, NOWHERE, "the exec plugin %.120s %s",
                     run->plugin->arguments[0], what);
}

/* ---- starting ---- */

/* What is inherited, then what the kubeconfig says, then what the protocol says; of two with one
 * name the last counts. */
static char **environment_of(const struct run *run, struct text info)
{
    size_t inherited = 0, added = 0, count = 0;
    while (environ[inherited] != NULL)
        inherited++;
    while (run->plugin->environment[added] != NULL)
        added++;
    const char **all = (const char **)ARENA_ARRAY(run->arena, inherited + added + 2, const char *);
    for (size_t i = 0; i < inherited + added; i++) {
        const char *entry = i < inherited ? environ[i] : run->plugin->environment[i - inherited];
        size_t name = strcspn(entry, "=") + 1, at = 0;
        while (at < count && (i < inherited || strncmp(all[at], entry, name) != 0))
            at++;
        all[at] = entry;
        count += at == count;
    }
    size_t at = 0;
    while (at < count && strncmp(all[at], "KUBERNETES_EXEC_INFO=", 21) != 0)
        at++;
    all[at] = arena_printf(run->arena, "KUBERNETES_EXEC_INFO=%.*s", TEXT_ARGS(info)).data;
    return (char **)(void *)all;
}

/* A plugin that nobody attends gets a process group of its own, so that all of it can be ended. At
 * a terminal it stays in ours: there Ctrl-C ends both, and another group could not read. */
static int spawn(struct run *run, int output, char **environment)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&files) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    int failed = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    if (failed == 0 && !run->interactive)
        failed = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (failed == 0 && !run->attended)
        failed = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    if (failed == 0)
        failed = posix_spawnp(&run->pid, run->plugin->arguments[0], &files, &attributes,
                              (char **)(void *)run->plugin->arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

static bool say_not_started(const struct run *run, int failed)
{
    struct text hint = run->plugin->install_hint;
    if (failed != ENOENT)
        return fail(run, "cannot be started: %s", strerror(failed));
    if (hint.size > 0) /* it may have many lines */
        fprintf(stderr, "%.*s\n", TEXT_ARGS(hint));
    return fail(run, "is not installed, or not in $PATH%s",
                hint.size > 0 ? "; the kubeconfig says how to get it (above)" : "");
}

static bool start(struct run *run, char **environment)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(run, "cannot be started: %s", strerror(errno));
    int failed = spawn(run, ends[1], environment);
    close(ends[1]);
    run->output = ends[0];
    if (failed == 0)
        return true;
    close(run->output);
    return say_not_started(run, failed);
}

/* ---- reading ---- */

/* Ends what is left of it, and waits for it. Returns its status; -1: it had to be killed. */
static int finish(const struct run *run, bool at_once)
{
    int status = 0;
    int64_t end_ms = monotonic_ms() + (at_once ? 0 : END_MS);
    const struct timespec pause = timespec_of_ms(5);
    for (;;) {
        pid_t ended = waitpid(run->pid, &status, WNOHANG);
        if (ended == run->pid)
            return status;
        if (ended < 0 && errno != EINTR)
            return -1;
        if (monotonic_ms() >= end_ms)
            break;
        nanosleep(&pause, NULL);
    }
    kill(run->attended ? run->pid : -run->pid, SIGKILL);
    while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return -1;
}

/* All of its output. False: it never ended, or there was too much. */
static bool read_output(struct run *run)
{
    int64_t end_ms = monotonic_ms() + run->limit_ms;
    for (;;) {
        struct pollfd ready = {.fd = run->output, .events = POLLIN};
        int64_t left_ms = end_ms - monotonic_ms();
        if (left_ms <= 0)
            return fail(run, "has not answered within %lld s", (long long)(run->limit_ms / 1000));
        if (poll(&ready, 1, (int)left_ms) <= 0)
            continue;
        ssize_t size = read(run->output, run->bytes + run->size, OUTPUT_BYTES + 1 - run->size);
        if (size == 0)
            return true;
        if (size < 0 && errno != EINTR)
            return fail(run, "cannot be read: %s", strerror(errno));
        run->size += size > 0 ? (size_t)size : 0;
        if (run->size > OUTPUT_BYTES)
            return fail(run, "prints more than a mebibyte; an ExecCredential has a few KiB");
    }
}

static bool take_output(struct run *run)
{
    bool read = read_output(run);
    close(run->output);
    int status = finish(run, !read);
    if (!read)
        return false;
    if (status == -1)
        return fail(run, "closed its output and did not end");
    if (WIFSIGNALED(status))
        return fail(run, "was ended by signal %d (%s)", WTERMSIG(status),
                    strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return fail(run, "ended with exit code %d", WEXITSTATUS(status));
    return true;
}

/* ---- the whole ---- */

static bool choose_input(struct run *run, bool standard_input_is_free)
{
    bool terminal = isatty(STDIN_FILENO) == 1;
    run->attended = terminal || isatty(STDERR_FILENO) == 1;
    if (run->limit_ms == 0)
        run->limit_ms = run->attended ? ATTENDED_MS : ALONE_MS;
    run->interactive =
        run->plugin->interactive != INTERACTIVE_NEVER && terminal && standard_input_is_free;
    if (run->plugin->interactive != INTERACTIVE_ALWAYS || run->interactive)
        return true;
    return fail(run, "wants to ask a person (interactiveMode: Always), and standard input is %s",
                terminal ? "read as a manifest (-f -)" : "no terminal");
}

static bool take_credential(const struct run *run, struct client_config *config)
{
    struct exec_credential credential;
    struct error wrong;
    if (!exec_credential_read((struct text){run->bytes, run->size}, run->plugin, run->arena,
                              &credential, &wrong))
        return fail(run, "gives no credentials: %s", wrong.what);
    if (credential.expires_unix_s != 0 && credential.expires_unix_s <= (int64_t)time(NULL))
        fprintf(stderr,
                "warning: the credentials of the exec plugin %s have expired already: is "
                "this machine's clock right?\n",
                run->plugin->arguments[0]);
    config->token = credential.token;
    config->certificate_pem = credential.certificate_pem;
    config->key_pem = credential.key_pem;
    config->exec = NULL;
    config->kubeconfig = TEXT(""); /* read again, it would have no credentials */
    return true;
}

bool exec_plugin_run(struct client_config *config, int64_t limit_ms, bool standard_input_is_free,
                     struct arena *arena, struct error *error)
{
    struct run run = {
        .plugin = config->exec,
        .arena = arena,
        .error = error,
        .limit_ms = limit_ms,
        .bytes = ARENA_ARRAY(arena, OUTPUT_BYTES + 1, char),
    };
    struct text info;
    return choose_input(&run, standard_input_is_free) &&
           exec_info_write(run.plugin, config, run.interactive, arena, &info, error) &&
           start(&run, environment_of(&run, info)) && take_output(&run) &&
           take_credential(&run, config);
}
