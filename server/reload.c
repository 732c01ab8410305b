/* Loads policies, catalogues and certificates again when their files change. */
#include "server/reload.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/publish.h"

enum {
    QUIET_MS = 200,      /* nothing may happen for this time: files are written one after another */
    QUIET_MS_MAX = 2000, /* the longest wait for it */
    POLL_MS = 10 * 1000, /* when not everything can be watched, or something may pass later */
    SURE_MS =
        60 *
        1000, /* for changes that inotify does not see: other machines' writes, a moved parent */
    ATTEMPTS = 5, /* to read files that do not change meanwhile */
    PROBLEMS_BYTES = 256 << 20,
    PEM_LIMIT_BYTES = 1 << 20,
    LINES_AT_ONCE = LOG_LINES_A_SECOND - 1, /* one is left for what else is wrong */
};

/* ---- state ---- */

/* A subject that is loaded as a whole, and stays in force until the next one is good. */
struct loaded {
    struct path_set paths;
    struct fingerprint seen;     /* stamps of the last look */
    struct fingerprint in_force; /* content */
    struct fingerprint refused;  /* content of the last failure */
    bool failed;                 /* the last load failed */
    enum error_kind reason;      /* of the last failure */
    /* It is tried at each look: the system may give by then what it did not, and a certificate's
     * time may come. */
    bool may_pass_later;
};

struct reload {
    struct reload_options options;
    struct reload_target target;
    struct loaded parts[RELOAD_SUBJECT_COUNT];
    const char **all_paths; /* of every subject, one after the other */
    size_t all_count;
    struct watch watch;
    int wake; /* an eventfd */
    atomic_bool asked, stopping;
    bool running;
    pthread_t thread;
};

/* The next world or certificate, before it is in force. */
struct next {
    struct reload *reload;
    struct arena *arena; /* of everything but the world */
    struct problems errors, warnings;
    struct loaded_policies *in_force; /* NULL: none */
    struct world *world;
    struct cert_pair pair;
};

/* ---- the log ---- */

void log_problems(enum log_level level, const char *component, const char *message,
                  const struct problems *problems)
{
    size_t count = problems->count + problems->left_out;
    size_t said = count <= LINES_AT_ONCE ? count : LINES_AT_ONCE - 1;
    for (size_t i = 0; i < said + (said < count); i++) {
        char line[1024];
        if (i < said)
            error_format(&problems->items[i], line, sizeof line);
        else
            snprintf(line, sizeof line, "%zu more problems", count - said);
        if (message == NULL)
            log_line(level, component, NULL, NULL, "%s", line);
        else
            log_line(level, component, NULL, line, "%s", message);
    }
}

/* ---- the world ---- */

/* If a file of the state becomes unreadable, its objects must not vanish: somebody may be editing
 * it. */
static void refuse_holes(struct next *next)
{
    next->errors.most = LOGGED_PROBLEMS_MOST;
    holes_add_new(next->in_force == NULL ? NULL : next->in_force->world, next->world,
                  &next->errors);
    if (next->errors.count == 0)
        return;
    world_destroy(next->world);
    next->world = NULL;
}

static void load_world(struct next *next)
{
    struct reload *reload = next->reload;
    if (world_load(&reload->options.world, reload->target.generation + 1, time(NULL), &next->world,
                   &next->errors, &next->warnings))
        refuse_holes(next);
}

static bool take_world(struct next *next, struct error *error)
{
    struct reload_target *target = &next->reload->target;
    int64_t loaded_unix_s = next->world->loaded_unix_s;
    if (!publisher_set_policies(target->publisher, next->world))
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory for the next world");
    next->world = NULL;
    target->generation++;
    /* Before the metric: a reader of the new generation must not see the old failure. */
    server_set_reload_failure(target->server, RELOAD_WORLD, NULL, 0);
    metrics_set_world(target->metrics, target->generation, loaded_unix_s);
    log_problems(LOG_WARN, "world", NULL, &next->warnings);
    log_line(LOG_INFO, "reload", NULL, NULL, "world %llu is in force",
             (unsigned long long)target->generation);
    return true;
}

/* ---- the certificate ---- */

static void load_certificate(struct next *next)
{
    const struct reload_options *options = &next->reload->options;
    struct error error;
    if (!file_read(options->certificate_file, PEM_LIMIT_BYTES, next->arena, &next->pair.certificate,
                   &error) ||
        !file_read(options->key_file, PEM_LIMIT_BYTES, next->arena, &next->pair.key, &error))
        problems_add_error(&next->errors, &error);
}

static bool take_certificate(struct next *next, struct error *error)
{
    if (!server_set_certificate(next->reload->target.server, &next->pair, error)) {
        error->place.file = next->reload->options.certificate_file;
        return false;
    }
    log_line(LOG_INFO, "reload", NULL, NULL, "a new certificate is in force for new connections");
    return true;
}

/* ---- one check ---- */

static const struct {
    const char *name;
    void (*load)(struct next *next); /* errors go to errors */
    bool (*take)(struct next *next, struct error *error);
} actions[RELOAD_SUBJECT_COUNT] = {
    [RELOAD_WORLD] = {"world", load_world, take_world},
    [RELOAD_CERTIFICATE] = {"certificate", load_certificate, take_certificate},
};

struct trial {
    enum reload_subject which;
    struct next *next;
};

static void run_load(void *argument)
{
    const struct trial *trial = argument;
    actions[trial->which].load(trial->next);
}

static enum error_kind reason_of(const struct problems *errors)
{
    FOR_EACH(error, errors)
        if (error->kind == ERROR_MEMORY)
            return ERROR_MEMORY;
    return errors->items[0].kind;
}

/* Where there is room for one error, it is the first. again: it has been said and counted, if the
 * reason is the same: not the words, which tell the time. */
static void fail(struct reload *reload, enum reload_subject which, const struct problems *errors,
                 bool again)
{
    struct loaded *loaded = &reload->parts[which];
    enum error_kind reason = reason_of(errors);
    again &= reason == loaded->reason;
    loaded->failed = true;
    loaded->reason = reason;
    if (!again) {
        char message[64];
        snprintf(message, sizeof message, "the last good %s stays in force", actions[which].name);
        log_problems(LOG_ERROR, "reload", message, errors);
        metrics_count_reload_failure(reload->target.metrics, which);
    }
    char line[1024];
    error_format(&errors->items[0], line, sizeof line);
    server_set_reload_failure(reload->target.server, which, line, time(NULL));
}

/* The system gave no memory, or did not read what is there to be read: another open file may have
 * been one too many. Where nothing is there, or nobody may read it, a change shows. */
static bool system_failed(const struct problems *errors)
{
    FOR_EACH(error, errors)
        if (error->kind == ERROR_MEMORY || (error->kind == ERROR_IO && error->place.file != NULL &&
                                            access(error->place.file, R_OK) == 0))
            return true;
    return false;
}

static struct problems only(struct error *error)
{
    return (struct problems){.items = error, .count = 1};
}

static void succeed(struct reload *reload, enum reload_subject which)
{
    reload->parts[which].failed = reload->parts[which].may_pass_later = false;
    server_set_reload_failure(reload->target.server, which, NULL, 0);
}

static bool is_refused(const struct loaded *loaded, const struct fingerprint *content)
{
    return loaded->failed && fingerprint_equal(content, &loaded->refused);
}

static void settle(struct reload *reload, enum reload_subject which, struct next *next,
                   const struct fingerprint *content, bool asked)
{
    struct loaded *loaded = &reload->parts[which];
    struct error error = {0};
    const struct problems untaken = only(&error);
    bool again = !asked && loaded->may_pass_later && is_refused(loaded, content);
    if (next->errors.count > 0) {
        fail(reload, which, &next->errors, again);
        loaded->may_pass_later = system_failed(&next->errors);
    } else if (!actions[which].take(next, &error)) {
        fail(reload, which, &untaken, again);
        loaded->may_pass_later = true;
    } else {
        loaded->in_force = *content;
        succeed(reload, which);
        return;
    }
    loaded->refused = *content;
}

/* Nothing to load: the current content is in force, or was refused for good. */
static bool is_settled(struct reload *reload, enum reload_subject which,
                       const struct fingerprint *content, bool asked)
{
    struct loaded *loaded = &reload->parts[which];
    if (!fingerprint_equal(content, &loaded->in_force))
        return !asked && !loaded->may_pass_later && is_refused(loaded, content);
    if (loaded->failed || asked)
        log_line(LOG_INFO, "reload", NULL, NULL, "the %s is as it was when it was loaded",
                 actions[which].name);
    if (loaded->failed)
        succeed(reload, which);
    return true;
}

/* Loads what comes next. Where memory ends, that is what is wrong with it. */
static void load(enum reload_subject which, struct next *next, struct error *error)
{
    struct trial trial = {which, next};
    next->errors.arena = next->warnings.arena = next->arena;
    next->warnings.most = LOGGED_PROBLEMS_MOST;
    if (next->arena == NULL)
        error_fill(error, ERROR_MEMORY, NOWHERE, "no memory to load the next %s",
                   actions[which].name);
    else if (arena_guard(next->arena, run_load, &trial, error))
        return;
    next->errors = only(error);
}

enum outcome {
    DONE,
    CHANGING,
    UNKNOWN, /* no memory to tell one content from another */
};

static enum outcome attempt(struct reload *reload, enum reload_subject which, bool asked,
                            struct error *error)
{
    struct loaded *loaded = &reload->parts[which];
    struct fingerprint stamps, content, after;
    if (!fingerprint_stamps(loaded->paths, &stamps, error))
        return UNKNOWN;
    if (!asked && !loaded->may_pass_later && fingerprint_equal(&stamps, &loaded->seen))
        return DONE;
    if (!fingerprint_content(loaded->paths, &content, error))
        return UNKNOWN;
    if (is_settled(reload, which, &content, asked)) {
        loaded->seen = stamps;
        return DONE;
    }
    struct next next = {
        .reload = reload,
        .arena = arena_create(PROBLEMS_BYTES),
        .in_force = publisher_hold_policies(reload->target.publisher),
    };
    struct error failure;
    load(which, &next, &failure);
    enum outcome outcome = UNKNOWN;
    if (fingerprint_stamps(loaded->paths, &after, error))
        outcome = fingerprint_equal(&stamps, &after) ? DONE : CHANGING;
    if (outcome == DONE) {
        loaded->seen = stamps;
        settle(reload, which, &next, &content, asked);
    }
    publisher_release_policies(reload->target.publisher, next.in_force);
    world_destroy(next.world);
    arena_destroy(next.arena);
    return outcome;
}

/* True when another check is needed even without an event. */
static bool look(struct reload *reload, enum reload_subject which, bool asked)
{
    struct error error = {0};
    const struct problems failure = only(&error);
    enum outcome outcome = CHANGING;
    struct loaded *loaded = &reload->parts[which];
    if (loaded->paths.count == 0)
        return false;
    for (unsigned i = 0; i < ATTEMPTS && outcome == CHANGING; i++)
        outcome = attempt(reload, which, asked, &error);
    if (outcome == DONE)
        return false;
    if (outcome == CHANGING)
        error_fill(&error, ERROR_IO, NOWHERE,
                   "the files of the %s changed each time while they were read (%d times); replace "
                   "them by a rename, and seldom",
                   actions[which].name, ATTEMPTS);
    fail(reload, which, &failure, outcome == UNKNOWN && !asked && loaded->failed);
    loaded->may_pass_later |= error.kind == ERROR_MEMORY;
    return outcome == CHANGING;
}

/* ---- the thread ---- */

/* True when a file changed; reload_now ends the wait, too. */
static bool wait_for_sign(struct reload *reload, int64_t timeout_ms)
{
    struct pollfd signs[] = {
        {.fd = reload->wake, .events = POLLIN},
        {.fd = reload->watch.fd, .events = POLLIN}, /* -1 is ignored */
    };
    uint64_t count;
    if (poll(signs, 2, (int)timeout_ms) <= 0)
        return false;
    if (signs[0].revents != 0 && read(reload->wake, &count, sizeof count) < 0 && errno != EAGAIN)
        log_line(LOG_ERROR, "reload", NULL, strerror(errno), "the sign to reload cannot be read");
    return watch_drain(&reload->watch);
}

static bool is_asked(const struct reload *reload)
{
    return atomic_load(&reload->asked) || atomic_load(&reload->stopping);
}

static void wait_for_change(struct reload *reload, int64_t timeout_ms)
{
    if (is_asked(reload) || !wait_for_sign(reload, timeout_ms))
        return;
    int64_t end_ms = monotonic_ms() + QUIET_MS_MAX;
    while (!is_asked(reload) && monotonic_ms() < end_ms && wait_for_sign(reload, QUIET_MS))
        ;
}

/* The longest wait for the next look, when this one has ended. */
static int64_t rest_ms(const struct reload *reload, bool again)
{
    bool sure = reload->watch.complete;
    for (enum reload_subject which = 0; which < RELOAD_SUBJECT_COUNT; which++)
        sure &= !reload->parts[which].may_pass_later;
    return again ? QUIET_MS_MAX : sure ? SURE_MS : POLL_MS;
}

static void *run(void *argument)
{
    struct reload *reload = argument;
    while (!atomic_load(&reload->stopping)) {
        /* In this order: the watch sees all changes from here on. */
        bool asked = atomic_exchange(&reload->asked, false), again = false;
        watch_arm(&reload->watch, (struct path_set){reload->all_paths, reload->all_count});
        for (enum reload_subject which = 0; which < RELOAD_SUBJECT_COUNT; which++)
            again |= look(reload, which, asked);
        wait_for_change(reload, rest_ms(reload, again));
    }
    return NULL;
}

static void wake(struct reload *reload)
{
    uint64_t one = 1;
    /* It fails only when the counter is full, and then the thread is awake. */
    if (write(reload->wake, &one, sizeof one) < 0 && errno != EAGAIN)
        log_line(LOG_ERROR, "reload", NULL, strerror(errno), "the sign to reload cannot be given");
}

/* ---- start and stop ---- */

static bool list_paths(struct reload *reload)
{
    const struct world_options *world = &reload->options.world;
    size_t capacity = world->policy_path_count + 4;
    reload->all_paths = (const char **)calloc(capacity, sizeof *reload->all_paths);
    if (reload->all_paths == NULL)
        return false;
    const char **paths = reload->all_paths;
    size_t count = 0;
    for (size_t i = 0; i < world->policy_path_count; i++)
        paths[count++] = world->policy_paths[i];
    if (world->state_dir != NULL)
        paths[count++] = world->state_dir;
    if (world->catalog_file != NULL)
        paths[count++] = world->catalog_file;
    reload->parts[RELOAD_WORLD].paths = (struct path_set){paths, count};
    if (reload->options.certificate_file != NULL) {
        reload->parts[RELOAD_CERTIFICATE].paths = (struct path_set){paths + count, 2};
        paths[count++] = reload->options.certificate_file;
        paths[count++] = reload->options.key_file;
    }
    reload->all_count = count;
    return true;
}

bool reload_create(const struct reload_options *options, struct reload **reload,
                   struct error *error)
{
    struct reload *made = calloc(1, sizeof *made);
    if (made == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "no memory to watch for changes");
    made->options = *options;
    watch_open(&made->watch);
    made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made->wake < 0 || !list_paths(made)) {
        error_fill(error, ERROR_MEMORY, NOWHERE, "changes cannot be watched for: %s",
                   strerror(errno));
        reload_destroy(made);
        return false;
    }
    for (enum reload_subject which = 0; which < RELOAD_SUBJECT_COUNT; which++) {
        struct loaded *loaded = &made->parts[which];
        if (fingerprint_content(loaded->paths, &loaded->in_force, error))
            continue;
        reload_destroy(made);
        return false;
    }
    *reload = made;
    return true;
}

bool reload_start(struct reload *reload, const struct reload_target *target, struct error *error)
{
    reload->target = *target;
    int code = pthread_create(&reload->thread, NULL, run, reload);
    if (code != 0)
        return error_set(error, ERROR_MEMORY, NOWHERE,
                         "the thread that reloads cannot be started: %s", strerror(code));
    reload->running = true;
    return true;
}

void reload_now(struct reload *reload)
{
    atomic_store(&reload->asked, true);
    wake(reload);
}

void reload_stop(struct reload *reload)
{
    if (!reload->running)
        return;
    atomic_store(&reload->stopping, true);
    wake(reload);
    pthread_join(reload->thread, NULL);
    reload->running = false;
}

void reload_destroy(struct reload *reload)
{
    if (reload == NULL)
        return;
    reload_stop(reload);
    watch_close(&reload->watch);
    if (reload->wake >= 0)
        close(reload->wake);
    free((void *)reload->all_paths);
    free(reload);
}
