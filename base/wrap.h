/* Words on the lines of a terminal. */
#ifndef TAFFRAIL_BASE_WRAP_H
#define TAFFRAIL_BASE_WRAP_H

#include <stdio.h>

#include "base/base.h"

static inline bool starts_code_point(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}
size_t code_points(struct text t);
/* Blanks stand for what is obeyed where the words are shown, each for one character, so that
 * columns stay aligned: control characters and ends of lines, which a terminal and a reader of YAML
 * obey, and what a pipeline takes for a command, `::` at the beginning, `##[` and `##vso[`
 * anywhere. */
void put_printable(struct text t, FILE *out);
/* What fprintf would print, as put_printable prints. */
void put_printf(FILE *out, const char *format, ...) PRINTF_LIKE(2, 3);
void put_vprintf(FILE *out, const char *format, va_list args) PRINTF_LIKE(2, 0);
/* A blank at which put_wrapped breaks no line, and prints as a blank. */
#define GLUE '\x1f'
/* Prints words from column `at` on; later lines begin at `indent`, and none but a long word is
 * longer than columns (0: all is one line). A newline in them is a blank. Ends the line. */
void put_wrapped(struct text words, size_t at, size_t indent, size_t columns, FILE *out);

#endif
