/* The process of a replica: its command line, its signals, its end. */
#include "replica.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "answers.h"
#include "chance.h"
#include "check.h"
#include "cli/cli.h"
#include "disk.h"
#include "door.h"
#include "memory.h"
#include "server/http.h"
#include "server/publish.h"
#include "singles.h"
#include "threads.h"
#include "transport.h"

enum { MEMORY_LIMIT_BYTES = 512 << 20, FIXED_WORDS = 7, WORDS_MAX = 32 };

static struct {
    bool runs, stops;
    bool serves; /* it has read its command line, and had memory to begin */
    int signal;  /* that came; 0: none */
    struct thread *waits;
    struct publisher *publisher;
    char policy[32], kubeconfig[32], catalog[32], certificate[32], key[32];
} replicas[REPLICAS_MAX];
unsigned long replica_lives, replica_kills;
bool replica_speaks, replica_has_files;

bool replica_runs(int replica)
{
    return replicas[replica].runs;
}

/* ---- a life ---- */

static void start_again(void *context)
{
    replica_start((int)(intptr_t)context);
}

static void *live(void *context)
{
    int replica = (int)(intptr_t)context;
    char *words[WORDS_MAX] = {(char[]){"serve"},
                              (char[]){"-p"},
                              replicas[replica].policy,
                              (char[]){"--kubeconfig"},
                              replicas[replica].kubeconfig,
                              (char[]){"--catalog"},
                              replicas[replica].catalog};
    char *managed[] = {(char[]){"--manage-webhooks"},
                       (char[]){"--cert-secret"},
                       (char[]){"ns/tls"},
                       (char[]){"--cert-lifetime"},
                       (char[]){"20m"},
                       (char[]){"--ca-lifetime"},
                       (char[]){"80m"},
                       (char[]){"--bundle-settle"},
                       (char[]){"20s"}};
    char *of_files[] = {(char[]){"--cert"}, replicas[replica].certificate, (char[]){"--key"},
                        replicas[replica].key};
    int count = FIXED_WORDS;
    if (replica_has_files) {
        memcpy(words + count, of_files, sizeof of_files);
        count += (int)COUNT_OF(of_files);
    } else {
        memcpy(words + count, managed, sizeof managed);
        count += (int)COUNT_OF(managed);
    }
    int code = command_serve(count, words);
    CHECK(code == 0 || !replicas[replica].stops, "replica %d stopped with %d", replica, code);
    CHECK(threads_of(replica) == 0, "replica %d left %u threads", replica, threads_of(replica));
    if (!replicas[replica].serves) /* as main() does after a command */
        memory_keep(replica, options_free);
    if (memory_blocks(replica) > 0) {
        memory_print(replica);
        check_failed("replica %d left %zu blocks of memory", replica, memory_blocks(replica));
    }
    disk_drop(replica);
    replicas[replica].runs = false;
    replicas[replica].publisher = NULL;
    world_at(world_now_us() + SECOND + chance_long_tail(10 * SECOND), start_again, context);
    return NULL;
}

static void set_path(int replica, char path[static 32], const char *name)
{
    snprintf(path, 32, "%s", disk_path(replica, name));
}

void replica_start(int replica)
{
    set_path(replica, replicas[replica].policy, "policy.yaml");
    set_path(replica, replicas[replica].kubeconfig, "kubeconfig");
    set_path(replica, replicas[replica].catalog, "catalog.json");
    set_path(replica, replicas[replica].certificate, "tls.crt");
    set_path(replica, replicas[replica].key, "tls.key");
    replicas[replica].runs = true;
    replicas[replica].stops = replicas[replica].serves = false;
    replicas[replica].signal = 0;
    replicas[replica].waits = NULL;
    replica_lives++;
    answers_forget(replica);
    world_event(500);
    if (thread_start(replica, "main", live, (void *)(intptr_t)replica) == NULL)
        check_failed("there is no thread for replica %d", replica);
}

void replica_kill(int replica)
{
    if (!replicas[replica].runs)
        return;
    threads_kill(replica);
    transport_drop(replica);
    singles_drop(replica);
    door_drop(replica);
    disk_drop(replica);
    memory_drop(replica);
    replicas[replica].runs = false;
    replicas[replica].publisher = NULL;
    replica_kills++;
    world_event(501);
    world_at(world_now_us() + SECOND + chance_long_tail(10 * SECOND), start_again,
             (void *)(intptr_t)replica);
}

/* ---- what its reviews see ---- */

struct publisher *__real_publisher_create(unsigned slot_count);
struct publisher *__wrap_publisher_create(unsigned slot_count);
static unsigned last_slot;
struct publisher *__wrap_publisher_create(unsigned slot_count)
{
    last_slot = slot_count - 1; /* of the reports, which are not written here */
    return replicas[thread_replica()].publisher = __real_publisher_create(slot_count);
}

void __real_publisher_destroy(struct publisher *publisher);
void __wrap_publisher_destroy(struct publisher *publisher);
void __wrap_publisher_destroy(struct publisher *publisher)
{
    replicas[thread_replica()].publisher = NULL;
    __real_publisher_destroy(publisher);
}

const struct snapshot *replica_look(int replica)
{
    if (replicas[replica].publisher == NULL)
        return NULL;
    const struct world *world = cell_pin(publisher_cell(replicas[replica].publisher), last_slot);
    return world == NULL ? NULL : world->snapshot;
}

void replica_done(int replica)
{
    if (replicas[replica].publisher != NULL)
        cell_unpin(publisher_cell(replicas[replica].publisher), last_slot);
}

/* ---- signals ---- */

void replica_signal(int replica, int number)
{
    if (!replicas[replica].runs || replicas[replica].waits == NULL)
        return;
    replicas[replica].signal = number;
    thread_wake_at(replicas[replica].waits, world_now_us());
}

int __wrap_sigwait(const sigset_t *signals, int *received);
int __wrap_sigwait(const sigset_t *signals, int *received)
{
    int replica = thread_replica();
    (void)signals;
    replicas[replica].waits = thread_current();
    while (replicas[replica].signal == 0)
        thread_sleep_until(NEVER);
    *received = replicas[replica].signal;
    replicas[replica].signal = 0;
    if (*received != SIGHUP) {
        replicas[replica].waits = NULL;
        replicas[replica].stops = true;
    }
    return 0;
}

void (*__wrap_signal(int number, void (*handler)(int)))(int);
void (*__wrap_signal(int number, void (*handler)(int)))(int)
{
    (void)number;
    return handler;
}

int __wrap_pthread_sigmask(int how, const sigset_t *signals, sigset_t *before);
int __wrap_pthread_sigmask(int how, const sigset_t *signals, sigset_t *before)
{
    (void)signals, (void)before;
    if (how == SIG_BLOCK) {
        replicas[thread_replica()].serves = true;
        memory_keep(thread_replica(), options_free); /* the command line is read */
    }
    return 0;
}

/* For want of memory, a process may end before it serves. */
_Noreturn void __real_exit(int code);
_Noreturn void __wrap_exit(int code);
_Noreturn void __wrap_exit(int code)
{
    if (thread_current() == NULL)
        __real_exit(code);
    CHECK(code != 0, "replica %d ended by itself", thread_replica());
    replica_kill(thread_replica());
    thread_end();
}

/* ---- the rest of the system ---- */

bool __wrap_process_confine(enum process_need need, struct error *error);
bool __wrap_process_confine(enum process_need need, struct error *error)
{
    (void)need, (void)error;
    return true;
}

size_t __wrap_memory_limit_bytes(void);
size_t __wrap_memory_limit_bytes(void)
{
    return MEMORY_LIMIT_BYTES;
}

long __wrap_sysconf(int name);
long __wrap_sysconf(int name)
{
    (void)name; /* the one use is the number of processors */
    return 2;
}

/* Of open files, the one that is asked about, there are enough. */
int __wrap_getrlimit(int resource, struct rlimit *limit);
int __wrap_getrlimit(int resource, struct rlimit *limit)
{
    (void)resource;
    *limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
    return 0;
}

int __wrap_setrlimit(int resource, const struct rlimit *limit);
int __wrap_setrlimit(int resource, const struct rlimit *limit)
{
    (void)resource, (void)limit;
    return 0;
}

ssize_t __wrap_getrandom(void *buffer, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *buffer, size_t size, unsigned flags)
{
    (void)flags;
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)buffer)[i] = (unsigned char)chance_draw(256);
    return (ssize_t)size;
}

int __wrap_gethostname(char *name, size_t size);
int __wrap_gethostname(char *name, size_t size)
{
    snprintf(name, size, "replica-%d", thread_replica());
    return 0;
}

void __wrap_log_line(enum log_level level, const char *component, const char *object,
                     const char *error, const char *format, ...) PRINTF_LIKE(5, 6);
void __wrap_log_line(enum log_level level, const char *component, const char *object,
                     const char *error, const char *format, ...)
{
    if (!replica_speaks)
        return;
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%12.6f %d %d %s %s: ", (double)world_now_us() / 1e6, thread_replica(),
            (int)level, component, object == NULL ? "" : object);
    vfprintf(stderr, format, args);
    fprintf(stderr, "%s%s\n", error == NULL ? "" : ": ", error == NULL ? "" : error);
    va_end(args);
}

void __wrap_log_set_waiting(bool waits);
void __wrap_log_set_waiting(bool waits)
{
    (void)waits;
}

/* A replica that cannot start says why on standard error. */
int __real_print_error(const struct error *error);
int __wrap_print_error(const struct error *error);
int __wrap_print_error(const struct error *error)
{
    return replica_speaks ? __real_print_error(error) : 1;
}

int __real_print_problems(const struct problems *problems, const char *what);
int __wrap_print_problems(const struct problems *problems, const char *what);
int __wrap_print_problems(const struct problems *problems, const char *what)
{
    return replica_speaks ? __real_print_problems(problems, what) : 1;
}

/* Nobody asks for help here. */
void help_print(const struct description *description)
{
    (void)description;
}
