/* The end of a run that failed, and what is looked at after each step. */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "outcome.h"
#include "singles.h"
#include "threads.h"

void check_failed(const char *format, ...)
{
    struct outcome *outcome = outcome_of_run;
    va_list args;
    va_start(args, format);
    vsnprintf(outcome->problem, sizeof outcome->problem, format, args);
    va_end(args);
    uint64_t sort = UINT64_C(0xCBF29CE484222325);
    for (const char *at = format; *at != '\0'; at++)
        sort = (sort ^ (unsigned char)*at) * UINT64_C(0x100000001B3);
    outcome->sort = sort | 1;
    outcome->at_us = world_now_us();
    run_note();
    _exit(1);
}

void check_step(void)
{
    singles_check_leaders();
}
