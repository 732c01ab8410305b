/* What another policy changes, printed. */
#include "cli/comparison.h"

#include <stdio.h>
#include <unistd.h>

int print_comparison(const struct comparison *comparison, int format, unsigned failing,
                     struct arena *arena)
{
    enum { FORMAT_TEXT };
    struct report_style style = {.colour = terminal_has_colours(STDOUT_FILENO),
                                 .columns = terminal_columns(STDOUT_FILENO)};
    int code = EXIT_CLEAN;
    struct error error;
    for (size_t i = 0; i < comparison->errors->count; i++) {
        int of_error = error_exit_code(comparison->errors->items[i].kind);
        code = of_error > code ? of_error : code;
    }
    if (format == FORMAT_TEXT)
        print_problems(comparison->errors, "error");
    if (!report_comparison_write(format, comparison, &style, arena, stdout, &error))
        return print_error(&error);
    for (enum difference i = 0; i < DIFFERENCES; i++)
        if ((failing & 1U << i) != 0 && code == EXIT_CLEAN &&
            comparison_owners(comparison, i, arena) > 0)
            code = EXIT_FINDINGS;
    return code;
}
