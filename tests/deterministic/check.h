/* What must hold at every step; the first failure ends the run. */
#ifndef TAFFRAIL_DETERMINISTIC_CHECK_H
#define TAFFRAIL_DETERMINISTIC_CHECK_H

#include "base/base.h"

/* Ends the run, with what is wrong. */
_Noreturn void check_failed(const char *format, ...) PRINTF_LIKE(1, 2);
#define CHECK(condition, ...) ((condition) ? (void)0 : check_failed(__VA_ARGS__))
/* After each step. */
void check_step(void);

#endif
