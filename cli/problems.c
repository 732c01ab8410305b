/* Problems of loading, printed with their places. */
#include <stdio.h>

#include "cli/cli.h"

int print_problems(const struct problems *problems, const char *label)
{
    int worst = EXIT_CLEAN;
    for (size_t i = 0; i < problems->count; i++) {
        char line[1024];
        error_format(&problems->items[i], line, sizeof line);
        bool warns = problems->items[i].kind == ERROR_TWICE;
        fprintf(stderr, "%s: %s\n", warns ? "warning" : label, line);
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
    fprintf(stderr, "error: %s\n", line);
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
