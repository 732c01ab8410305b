/* The rights that the process gives up before it answers anybody: new privileges, dumps and
 * debuggers, and capabilities. An attacker who takes it over then has only its open files. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/server.h"

typedef struct __user_cap_data_struct capability_sets[_LINUX_CAPABILITY_U32S_3];

enum { WORD_BITS = 32 };

static bool failed(const char *what, struct error *error)
{
    return error_set(error, ERROR_IO, NOWHERE, "cannot %s: %s", what, strerror(errno));
}

static bool has(const capability_sets sets, unsigned capability)
{
    return (sets[capability / WORD_BITS].effective >> capability % WORD_BITS & 1) != 0;
}

/* Capabilities that no later exec can give back. Without CAP_SETPCAP the set cannot be changed, but
 * new privileges are ruled out all the same. */
static bool drop_bounding_set(void)
{
    int present = 1;
    for (unsigned capability = 0; present >= 0; capability++) {
        present = prctl(PR_CAPBSET_READ, capability, 0, 0,
                        0); /* -1: the kernel knows no more capabilities */
        if (present == 1 && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
            return false;
    }
    return true;
}

static bool drop_capabilities(const struct __user_cap_data_struct *kept_first, struct error *error)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    capability_sets sets, kept = {*kept_first};
    if (syscall(SYS_capget, &header, sets) != 0)
        return failed("read the capabilities of the process", error);
    if (has(sets, CAP_SETPCAP) && !drop_bounding_set())
        return failed("empty the bounding set of capabilities", error);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
        return failed("drop the ambient capabilities", error);
    kept[0].effective &= sets[0].effective;
    kept[0].permitted &= sets[0].permitted;
    if (syscall(SYS_capset, &header, kept) != 0)
        return failed("drop the capabilities of the process", error);
    return true;
}

bool process_confine(enum process_need need, struct error *error)
{
    static const struct rlimit no_core = {0, 0};
    static const struct __user_cap_data_struct kept[] = {
        [PROCESS_BINDS] = {.effective = 1U << CAP_NET_BIND_SERVICE,
                           .permitted = 1U << CAP_NET_BIND_SERVICE},
        [PROCESS_NEEDS_NOTHING] = {0},
    };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return failed("rule out new privileges", error);
    if (!drop_capabilities(&kept[need], error))
        return false;
    if (setrlimit(RLIMIT_CORE, &no_core) != 0)
        return failed("rule out core dumps", error);
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        return failed("rule out debuggers", error);
    return true;
}
