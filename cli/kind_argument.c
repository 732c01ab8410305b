/* Kinds as people write them on a command line. */
#include "cli/kind_argument.h"

#include <strings.h>

enum kind kind_of_argument(const char *argument)
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
    };
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_OWNER_FIRST; kind++)
        if (strcasecmp(argument, kind_table[kind].name) == 0 ||
            strcasecmp(argument, kind_table[kind].plural) == 0)
            return kind;
    for (size_t i = 0; i < COUNT_OF(short_names); i++)
        if (strcasecmp(argument, short_names[i].name) == 0)
            return short_names[i].kind;
    return KIND_UNKNOWN;
}
