/* What the terminal can do, as its user and other programs agree on it: NO_COLOR (no-color.org),
 * CLICOLOR_FORCE (bixense.com/clicolors), TERM and COLUMNS. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0';
}

bool terminal_has_colours(int file)
{
    const char *term = getenv("TERM");
    const char *force = getenv("CLICOLOR_FORCE");
    if (is_set("NO_COLOR"))
        return false;
    if (force != NULL && *force != '\0' && strcmp(force, "0") != 0)
        return true;
    return isatty(file) == 1 && term != NULL && *term != '\0' && strcmp(term, "dumb") != 0;
}

size_t terminal_columns(int file)
{
    enum { LEAST = 40, MOST = 500 };
    const char *said = getenv("COLUMNS");
    int64_t columns = 0;
    struct winsize size = {0};
    if (isatty(file) != 1)
        return 0;
    if (said == NULL || !text_to_int64(text_of(said), &columns) || columns <= 0)
        columns = ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (columns == 0)
        return TERMINAL_COLUMNS;
    return columns < LEAST ? LEAST : columns > MOST ? MOST : (size_t)columns;
}
