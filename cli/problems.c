/* Problems of loading, printed with their places. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "report/format.h"

bool quiet;

void say_note(const char *format, ...)
{
    va_list args;
    if (quiet)
        return;
    va_start(args, format);
    fputs("note: ", stderr);
    put_vprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

static void put_line(const char *label, const char *line)
{
    put_printf(stderr, "%s: %s", label, line);
    fputc('\n', stderr);
}

int print_problems(const struct problems *problems, const char *label)
{
    int worst = EXIT_CLEAN;
    for (size_t i = 0; i < problems->count; i++) {
        char line[1024];
        const char *label_shown = label;
        error_format(&problems->items[i], line, sizeof line);
        if (problems->items[i].kind == ERROR_TWICE)
            label_shown = "warning";
        if (!quiet || strcmp(label_shown, "warning") != 0)
            put_line(label_shown, line);
        int code = error_exit_code(problems->items[i].kind);
        if (code > worst)
            worst = code;
    }
    return worst;
}

int print_error(const struct error *error)
{
    char line[1024];
    error_format(error, line, sizeof line);
    put_line("error", line);
    return error_exit_code(error->kind);
}

struct run {
    int (*body)(struct arena *arena, void *argument);
    void *argument;
    struct arena *arena;
    int code;
};

static void run_guarded(void *argument)
{
    struct run *run = argument;
    run->code = run->body(run->arena, run->argument);
}

int run_in_arena(int (*body)(struct arena *arena, void *argument), void *argument)
{
    enum { BUDGET_BYTES = INT32_MAX };
    struct run run = {.body = body, .argument = argument, .arena = arena_create(BUDGET_BYTES)};
    struct error error = {.kind = ERROR_MEMORY, .what = "no memory"};
    if (run.arena == NULL || !arena_guard(run.arena, run_guarded, &run, &error))
        run.code = print_error(&error);
    arena_destroy(run.arena);
    return run.code;
}
