/* Loaded before the C library (LD_PRELOAD), fails one allocation of the process: the n-th from the
 * moment that the file named by TAFFRAIL_ALLOCATION_FILE says so. The file is shared with the test
 * (allocation.py), which reads there who wanted the memory, and who ended the process for want of
 * it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { NAME_BYTES = 128 };

/* As allocation.py has it. */
struct control {
    _Atomic int64_t countdown;   /* n: the n-th allocation from now fails; 0: none does */
    _Atomic int64_t failed;      /* how many have */
    _Atomic int64_t live_blocks; /* allocated and not freed */
    _Atomic int64_t calls;       /* of malloc and its kin, so far */
    char wanted_by[NAME_BYTES];  /* the library of the allocation that failed */
    char ended_by[NAME_BYTES];   /* the library that called abort, whose assertion failed, or that
                                    read from a null pointer */
};

static struct control nothing;
static struct control *control = &nothing;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static void note_library(char *name, const void *address)
{
    Dl_info info;
    const char *path = dladdr(address, &info) != 0 ? info.dli_fname : "?";
    const char *slash = strrchr(path, '/');
    strncpy(name, slash == NULL ? path : slash + 1, NAME_BYTES - 1);
}

/* Whether this allocation is the one that fails. */
static int fails(const void *caller)
{
    atomic_fetch_add(&control->calls, 1);
    int64_t left = atomic_load(&control->countdown);
    while (left > 0)
        if (atomic_compare_exchange_weak(&control->countdown, &left, left - 1)) {
            if (left > 1)
                return 0;
            note_library(control->wanted_by, caller);
            atomic_fetch_add(&control->failed, 1);
            errno = ENOMEM;
            return 1;
        }
    return 0;
}

/* The C library's headers have other names for the parameters, which are not anybody else's to use.
 */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
static void *counted(void *memory)
{
    if (memory != NULL)
        atomic_fetch_add(&control->live_blocks, 1);
    return memory;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    if (fails(__builtin_return_address(0)))
        return NULL;
    void *moved = __libc_realloc(memory, size);
    if (memory == NULL)
        return counted(moved);
    if (size == 0)
        atomic_fetch_sub(&control->live_blocks, 1);
    return moved;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (fails(__builtin_return_address(0)))
        return ENOMEM;
    *memory = counted(__libc_memalign(alignment, size));
    return *memory == NULL ? ENOMEM : 0;
}

void free(void *memory)
{
    if (memory != NULL)
        atomic_fetch_sub(&control->live_blocks, 1);
    __libc_free(memory);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

static _Noreturn void end(const void *caller)
{
    note_library(control->ended_by, caller);
    signal(SIGABRT, SIG_DFL);
    raise(SIGABRT);
    _exit(2);
}

void abort(void)
{
    end(__builtin_return_address(0));
}

void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
    (void)assertion, (void)file, (void)line, (void)function;
    end(__builtin_return_address(0));
}

/* What a library does that never looks whether it got its memory. */
static void end_by_fault(int signal_number, siginfo_t *info, void *context)
{
    (void)info;
#ifdef __aarch64__
    const void *at = (const void *)((ucontext_t *)context)->uc_mcontext.pc;
#else
    const void *at = (const void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#endif
    note_library(control->ended_by, at);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

__attribute__((constructor)) static void open_control(void)
{
    const char *path = getenv("TAFFRAIL_ALLOCATION_FILE");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    void *shared = fd < 0 ? MAP_FAILED
                          : mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        _exit(2);
    close(fd);
    control = shared;
    const struct sigaction fault = {.sa_sigaction = end_by_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &fault, NULL);
}
