/* A line of the audit trail goes to standard output. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/write_now.h"
#include "server/server.h"

static const char stuck[] = "standard output takes nothing more: its reader is stuck";
static const char busy[] = "standard output is a terminal that others write to all the time";

/* A pipe without a reader must not stop the reviews. */
const char *trail_write(struct text line)
{
    static struct line_output output = LINE_OUTPUT(STDOUT_FILENO);
    switch (line_write_now(&output, line)) {
    case LINE_WHOLE:
        return NULL;
    case LINE_IN_PART:
        return "written in part";
    case LINE_LOST:
        break;
    }
    return errno == EAGAIN ? stuck : errno == EBUSY ? busy : strerror(errno);
}
