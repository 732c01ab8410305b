/* `taffrail test`: runs policies against cases. */
#include "cli/test.h"

#include <stdio.h>
#include <string.h>

#include "base/wrap.h"
#include "cli/cli.h"

static const char file_name[] = "cases.yaml";

/* The sums of all files. */
struct tally {
    size_t passed, failed;
};

static struct text folder_of(struct text file, struct arena *arena)
{
    struct text folder = TEXT(".");
    text_split_last(file, '/', &folder, NULL);
    return arena_text(arena, folder);
}

static bool is_case_file(struct text path)
{
    struct text name = path;
    text_split_last(path, '/', NULL, &name);
    return text_is(name, file_name);
}

static void print_differences(struct text differences)
{
    while (differences.size > 0) {
        struct text line = differences;
        struct text rest = TEXT("");
        text_split(differences, '\n', &line, &rest);
        put_printf(stdout, "        %.*s", TEXT_ARGS(line));
        putchar('\n');
        differences = rest;
    }
}

static void run_file(const char *file, struct arena *arena, struct problems *problems,
                     struct tally *tally)
{
    struct test_cases cases = {0};
    test_cases_read(file, arena, &cases, problems);
    struct text folder = folder_of(text_of(file), arena);
    for (size_t i = 0; i < cases.count; i++) {
        const struct test_case *one = &cases.items[i];
        struct text differences = test_case_judge(one, folder.data, arena);
        bool passed = differences.size == 0;
        put_printf(stdout, "%s  %s:%u: %.*s", passed ? "ok    " : "FAILED", file, one->place.line,
                   TEXT_ARGS(one->name));
        putchar('\n');
        print_differences(differences);
        *(passed ? &tally->passed : &tally->failed) += 1;
    }
}

static void find_files(const char *path, struct arena *arena, struct path_list *files,
                       struct problems *problems)
{
    struct path_list all = {0};
    if (!path_is_folder(path)) {
        *LIST_PUSH(arena, files) = path;
        return;
    }
    folder_find_documents(path, NULL, arena, &all, problems);
    for (size_t i = 0; i < all.count; i++)
        if (is_case_file(text_of(all.items[i])))
            *LIST_PUSH(arena, files) = all.items[i];
}

static int test(struct arena *arena, const struct string_list *operands)
{
    struct problems problems = {.arena = arena};
    struct path_list files = {0};
    struct tally tally = {0};
    for (size_t i = 0; i < operands->count; i++)
        find_files(operands->items[i], arena, &files, &problems);
    for (size_t i = 0; i < files.count; i++)
        run_file(files.items[i], arena, &problems, &tally);
    int code = print_problems(&problems, "error");
    if (code == EXIT_CLEAN && tally.passed + tally.failed == 0)
        return usage_error("test", "there are no cases in %s (a file named %s holds them)",
                           operands->items[0], file_name);
    printf("%zu passed, %zu failed\n", tally.passed, tally.failed);
    return code != EXIT_CLEAN ? code : tally.failed > 0 ? EXIT_FINDINGS : EXIT_CLEAN;
}

struct words {
    int argc;
    char **argv;
};

static int read_and_test(struct arena *arena, void *argument)
{
    static const struct option_spec table[] = {OPTION_QUIET, {0}};
    static const char about[] =
        "Runs the cases of every cases.yaml in the folders: each a manifest, and what the policy "
        "is to find in it and to change. Of a case that fails it prints what was expected and is "
        "not there (-) and what is there and was not expected (+). Exit code 1: a case failed.\n";
    const struct words *words = argument;
    struct text notes = arena_printf(arena, "%s\n%.*s", about, TEXT_ARGS(test_case_keys(arena)));
    struct string_list operands = {0};
    enum options_result result = options_read(words->argc, words->argv, table,
                                              "test DIR ... [OPTIONS]", notes.data, &operands);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    if (operands.count == 0)
        return usage_error("test", "no folder of cases is given");
    return test(arena, &operands);
}

int command_test(int argc, char **argv)
{
    return run_in_arena(read_and_test, &(struct words){argc, argv});
}
