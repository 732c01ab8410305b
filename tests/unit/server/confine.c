/* What a process has no more once it is confined, and what is said where it cannot be. Each case
 * confines a child. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/server.h"
#include "unit.h"

const char unit_suite[] = "server/confine";

enum { CAPABILITIES = 64, NO_ARGUMENT = -1 };

struct rights {
    uint64_t effective, permitted, inheritable, bounding, ambient;
    int no_new_privileges, dumpable;
    struct rlimit core;
};

static uint64_t of_words(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static struct rights read_rights(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    struct rights rights = {0};
    syscall(SYS_capget, &header, sets);
    rights.effective = of_words(sets[0].effective, sets[1].effective);
    rights.permitted = of_words(sets[0].permitted, sets[1].permitted);
    rights.inheritable = of_words(sets[0].inheritable, sets[1].inheritable);
    for (unsigned long i = 0; i < CAPABILITIES; i++) {
        rights.bounding |= (uint64_t)(prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1) << i;
        rights.ambient |= (uint64_t)(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, i, 0, 0) == 1)
                          << i;
    }
    rights.no_new_privileges = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    rights.dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    getrlimit(RLIMIT_CORE, &rights.core);
    return rights;
}

/* ---- a child ---- */

struct refused_call {
    int number;
    int argument; /* which one; NO_ARGUMENT: whatever they are */
    uint32_t value;
};

struct confining {
    enum process_need need;
    uint64_t dropped;           /* capabilities that it has no more when it begins */
    struct refused_call refuse; /* by the kernel, with EPERM; number 0: none */
};

struct confined {
    bool prepared, done;
    char problem[480];
    struct rights before, after;
};

static bool drop(uint64_t dropped)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &header, sets) != 0)
        return false;
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        sets[i].effective &= ~(uint32_t)(dropped >> 32 * i);
        sets[i].permitted &= ~(uint32_t)(dropped >> 32 * i);
        sets[i].inheritable = sets[i].permitted; /* more than it had, where it may */
    }
    return syscall(SYS_capset, &header, sets) == 0;
}

static bool refuse(const struct refused_call *call)
{
    const unsigned any = call->argument == NO_ARGUMENT;
    const unsigned at =
        any ? offsetof(struct seccomp_data, nr)
            : (unsigned)offsetof(struct seccomp_data, args) + 8 * (unsigned)call->argument;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call->number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, any ? (unsigned)call->number : call->value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ||
           /* without CAP_SYS_ADMIN */
           (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void confine(const struct confining *confining, struct confined *confined)
{
    struct error error = {0};
    confined->prepared = drop(confining->dropped);
    confined->before = read_rights();
    if (confining->refuse.number != 0)
        confined->prepared &= refuse(&confining->refuse);
    confined->done = process_confine(confining->need, &error);
    snprintf(confined->problem, sizeof confined->problem, "%s", error.what);
    confined->after = read_rights();
}

/* Its exit writes what it ran, where that is counted; a leak checker would be a debugger. */
static _Noreturn void end_child(bool written)
{
#ifdef __SANITIZE_ADDRESS__
    _exit(written ? 0 : 1);
#else
    exit(written ? 0 : 1);
#endif
}

static struct confined confine_child(const struct confining *confining)
{
    struct confined confined = {0};
    int ends[2], status = -1;
    fflush(NULL);
    CU_ASSERT_FATAL(pipe(ends) == 0);
    pid_t child = fork();
    CU_ASSERT_FATAL(child >= 0);
    if (child == 0) {
        confine(confining, &confined);
        end_child(write(ends[1], &confined, sizeof confined) == (ssize_t)sizeof confined);
    }
    close(ends[1]);
    CU_ASSERT(read(ends[0], &confined, sizeof confined) == (ssize_t)sizeof confined);
    close(ends[0]);
    CU_ASSERT(waitpid(child, &status, 0) == child);
    ASSERT_INT(status, 0);
    CU_ASSERT(confined.prepared);
    return confined;
}

/* ---- tests ---- */

#define CAPABILITY(name) (UINT64_C(1) << (name))

static void rights_are_given_up(void)
{
    static const struct confining cases[] = {
        {.need = PROCESS_BINDS},
        {.need = PROCESS_NEEDS_NOTHING},
        /* what it did not have it does not get */
        {.need = PROCESS_BINDS, .dropped = CAPABILITY(CAP_NET_BIND_SERVICE)},
        {.need = PROCESS_NEEDS_NOTHING, .dropped = CAPABILITY(CAP_NET_BIND_SERVICE)},
        {.need = PROCESS_BINDS, .dropped = CAPABILITY(CAP_SETPCAP)},
        {.need = PROCESS_NEEDS_NOTHING, .dropped = CAPABILITY(CAP_SETPCAP)},
        {.need = PROCESS_BINDS, .dropped = ~CAPABILITY(CAP_SETPCAP)},
        {.need = PROCESS_BINDS, .dropped = UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct confined confined = confine_child(&cases[i]);
        const struct rights *before = &confined.before, *after = &confined.after;
        uint64_t kept =
            cases[i].need == PROCESS_BINDS ? CAPABILITY(CAP_NET_BIND_SERVICE) : UINT64_C(0);
        CU_ASSERT(confined.done);
        ASSERT_INT(after->effective, before->effective & kept);
        ASSERT_INT(after->permitted, before->permitted & kept);
        ASSERT_INT(after->inheritable, 0);
        ASSERT_INT(after->ambient, 0);
        /* Only who may change it can empty it. */
        bool may = (before->effective & CAPABILITY(CAP_SETPCAP)) != 0;
        ASSERT_INT(after->bounding, may ? 0 : before->bounding);
        ASSERT_INT(after->no_new_privileges, 1);
        ASSERT_INT(after->dumpable, 0);
        ASSERT_INT(after->core.rlim_cur, 0);
        ASSERT_INT(after->core.rlim_max, 0);
    }
}

/* Where the kernel refuses, nobody is served. */
static void what_cannot_be_given_up_is_said(void)
{
    static const struct {
        struct refused_call refuse;
        uint64_t needs; /* a capability without which this is not asked for */
        const char *problem;
    } cases[] = {
        {{SYS_prctl, 0, PR_SET_NO_NEW_PRIVS}, 0, "cannot rule out new privileges"},
        {{SYS_capget, NO_ARGUMENT, 0}, 0, "cannot read the capabilities of the process"},
        {{SYS_prctl, 0, PR_CAPBSET_DROP},
         CAPABILITY(CAP_SETPCAP),
         "cannot empty the bounding set of capabilities"},
        {{SYS_prctl, 0, PR_CAP_AMBIENT}, 0, "cannot drop the ambient capabilities"},
        {{SYS_capset, NO_ARGUMENT, 0}, 0, "cannot drop the capabilities of the process"},
        {{SYS_prlimit64, 1, RLIMIT_CORE}, 0, "cannot rule out core dumps"},
        {{SYS_prctl, 0, PR_SET_DUMPABLE}, 0, "cannot rule out debuggers"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct confining confining = {.need = PROCESS_BINDS, .refuse = cases[i].refuse};
        const struct confined confined = confine_child(&confining);
        bool asked = (confined.before.effective & cases[i].needs) == cases[i].needs;
        char problem[200] = "";
        if (asked)
            snprintf(problem, sizeof problem, "%s: Operation not permitted", cases[i].problem);
        CU_ASSERT_EQUAL(confined.done, !asked);
        ASSERT_TEXT(text_of(confined.problem), problem);
    }
}

const struct unit_test unit_tests[] = {
    {"rights are given up", rights_are_given_up},
    {"what cannot be given up is said", what_cannot_be_given_up_is_said},
    {NULL, NULL},
};
