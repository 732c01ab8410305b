/* A line of the audit trail goes to standard output. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/write_now.h"
#include "server/server.h"

static const char stuck[] = "standard output takes nothing more: its reader is stuck";

/* A pipe without a reader must not stop the reviews. */
const char *trail_write(struct text line)
{
    const struct iovec parts[] = {{(void *)line.data, line.size}, {"\n", 1}};
    ssize_t written = write_now(STDOUT_FILENO, parts, 2);
    if (written == (ssize_t)(line.size + 1))
        return NULL;
    if (written >= 0)
        return "written in part";
    return errno == EAGAIN ? stuck : strerror(errno);
}
