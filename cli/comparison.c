/* What another policy changes, printed. */
#include "cli/comparison.h"

#include <stdio.h>
#include <unistd.h>

int print_comparison(const struct comparison *comparison, int format, bool denial_fails,
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
    bool denied = comparison_owners(comparison, DIFFERENCE_DENIED, arena) > 0;
    return code == EXIT_CLEAN && denied && denial_fails ? EXIT_FINDINGS : code;
}
