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
/* Control characters become blanks, because a terminal obeys them; tabs, too, so that columns stay
 * aligned. */
void put_printable(struct text t, FILE *out);
/* A blank at which put_wrapped breaks no line, and prints as a blank. */
#define GLUE '\x1f'
/* Prints words from column `at` on; later lines begin at `indent`, and none but a long word is
 * longer than columns (0: all is one line). A newline in them is a blank. Ends the line. */
void put_wrapped(struct text words, size_t at, size_t indent, size_t columns, FILE *out);

#endif
