/* Kinds as people write them on a command line. */
#include "cli/kind_argument.h"

#include <string.h>
#include <strings.h>

static bool is_named(struct text argument, const char *name)
{
    return argument.size == strlen(name) && strncasecmp(argument.data, name, argument.size) == 0;
}

enum kind kind_of_argument(struct text argument)
{
    static const struct {
        const char *name;
        enum kind kind;
    } short_names[] = {
        {"po", KIND_POD},
        {"deploy", KIND_DEPLOYMENT},
        {"rs", KIND_REPLICA_SET},
        {"rc", KIND_REPLICATION_CONTROLLER},
        {"sts", KIND_STATEFUL_SET},
        {"ds", KIND_DAEMON_SET},
        {"cj", KIND_CRON_JOB},
        {"sc", KIND_STORAGE_CLASS},
        {"pvc", KIND_PERSISTENT_VOLUME_CLAIM},
        {"pv", KIND_PERSISTENT_VOLUME},
        {"pdb", KIND_POD_DISRUPTION_BUDGET},
        {"no", KIND_NODE},
    };
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_OWNER_FIRST; kind++)
        if (is_named(argument, kind_table[kind].name) ||
            is_named(argument, kind_table[kind].plural))
            return kind;
    for (size_t i = 0; i < COUNT_OF(short_names); i++)
        if (is_named(argument, short_names[i].name))
            return short_names[i].kind;
    return KIND_UNKNOWN;
}
