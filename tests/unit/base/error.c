/* labels: threads */
/* Errors and lists of problems. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

static void errors_are_set(void)
{
    struct error error = {0};
    struct place place = {"pod.yaml", 3, 7};
    CU_ASSERT_FALSE(error_set(&error, ERROR_INPUT, place, "found %d, expected %s", 5, "a list"));
    ASSERT_INT(error.kind, ERROR_INPUT);
    ASSERT_INT(error.place.line, 3);
    ASSERT_TEXT(text_of(error.what), "found 5, expected a list");
    CU_ASSERT_FALSE(error_set(NULL, ERROR_INPUT, NOWHERE, "nobody listens"));
}

/* What does not fit is cut, but never within a code point. */
static void long_messages_are_cut(void)
{
    static const char *const characters[] = {"a", "\xC3\xA9", "\xE6\xBC\xA2", "\xF0\x9F\x98\x80"};
    for (size_t size = 1; size <= 4; size++) {
        for (size_t before = 0; before < 4; before++) {
            char message[1024];
            memset(message, 'x', before);
            size_t end = before;
            for (; end + size < sizeof message - 1; end += size)
                memcpy(message + end, characters[size - 1], size);
            message[end] = '\0';
            struct error error;
            error_set(&error, ERROR_INPUT, NOWHERE, "%s", message);
            size_t room = sizeof error.what - 1;
            ASSERT_INT(strlen(error.what), room - (room - before) % size);
            CU_ASSERT(text_starts_with(text_of(message), text_of(error.what)));
        }
    }
}

static void kinds_have_exit_codes(void)
{
    ASSERT_INT(error_exit_code(ERROR_NONE), 0);
    for (int kind = ERROR_USAGE; kind <= ERROR_MEMORY; kind++)
        ASSERT_INT(error_exit_code((enum error_kind)kind), kind == ERROR_CLUSTER ? 3 : 2);
}

static void errors_are_formatted(void)
{
    static const struct {
        struct place place;
        const char *expected;
    } cases[] = {
        {{"a.yaml", 3, 7}, "a.yaml:3:7: what"},
        {{"a.yaml", 3, 0}, "a.yaml:3: what"},
        {{"a.yaml", 0, 0}, "a.yaml: what"},
        {{NULL, 3, 7}, "3:7: what"},
        {{NULL, 0, 0}, "what"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error;
        char buffer[64];
        error_set(&error, ERROR_INPUT, cases[i].place, "what");
        ASSERT_INT(error_format(&error, buffer, sizeof buffer), strlen(cases[i].expected));
        ASSERT_TEXT(text_of(buffer), cases[i].expected);
        ASSERT_INT(error_format(&error, buffer, 5), strlen(cases[i].expected));
        ASSERT_INT(strlen(buffer), 4);
    }
}

static void problems_are_collected(void)
{
    struct arena *arena = arena_create(1 << 20);
    struct problems problems = {.arena = arena};
    for (uint32_t i = 0; i < 100; i++) {
        struct error error;
        error_set(&error, ERROR_POLICY, (struct place){NULL, i, 1}, "number %u", i);
        if (i % 2 == 0)
            problems_add_error(&problems, &error);
        else
            problems_add(&problems, ERROR_POLICY, (struct place){NULL, i, 1}, "number %u", i);
    }
    ASSERT_INT(problems.count, 100);
    for (uint32_t i = 0; i < 100; i++) {
        ASSERT_INT(problems.items[i].place.line, i);
        ASSERT_TEXT(text_of(problems.items[i].what), arena_printf(arena, "number %u", i).data);
    }
    arena_destroy(arena);
}

static void more_problems_than_wanted_are_counted(void)
{
    static const struct {
        size_t most, kept;
    } cases[] = {{0, 5}, {1, 1}, {4, 4}, {5, 5}, {6, 5}};
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct problems problems = {.arena = arena, .most = cases[i].most};
        for (uint32_t k = 0; k < 5; k++) {
            const struct error error = {ERROR_INPUT, {NULL, k, 1}, "wrong"};
            if (k % 2 == 0)
                problems_add_error(&problems, &error);
            else
                problems_add(&problems, error.kind, error.place, "wrong");
        }
        ASSERT_INT(problems.count, cases[i].kept);
        ASSERT_INT(problems.left_out, 5 - cases[i].kept);
        ASSERT_INT(problems.items[problems.count - 1].place.line, cases[i].kept - 1);
    }
    arena_destroy(arena);
}

static void files_are_read(void)
{
    char folder[] = "/tmp/taffrail-unit-XXXXXX", path[64];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct arena *arena = arena_create(1 << 20);
        FILE *file = fopen(path, "w");
        for (size_t j = 0; j < sizes[i]; j++)
            fputc((int)(j % 251), file);
        fclose(file);
        struct text bytes = {0};
        struct error error = {0};
        CU_ASSERT(file_read(path, sizes[i], arena, &bytes, &error));
        ASSERT_INT(bytes.size, sizes[i]);
        for (size_t j = 0; j < bytes.size; j++)
            if ((unsigned char)bytes.data[j] != j % 251)
                CU_FAIL("another byte");
        ASSERT_INT(bytes.data[sizes[i]], '\0');
        if (sizes[i] > 0) {
            CU_ASSERT_FALSE(file_read(path, sizes[i] - 1, arena, &bytes, &error));
            ASSERT_INT(error.kind, ERROR_LIMIT);
            ASSERT_TEXT(text_of(error.place.file), path);
        }
        arena_destroy(arena);
    }
    unlink(path);
    rmdir(folder);
}

static void files_that_cannot_be_read_are_errors(void)
{
    char path[] = "/tmp/taffrail-unit-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    static const char data[10000];
    CU_ASSERT_EQUAL(write(fd, data, sizeof data), sizeof data);
    close(fd);
    const struct {
        const char *path, *what;
        size_t budget;
        enum error_kind kind;
    } cases[] = {
        {"/nonexistent/file", "cannot be opened: No such file or directory", 100000, ERROR_IO},
        {"/", "is a directory", 100000, ERROR_IO},
        {path, "memory budget of 5000 bytes exhausted", 5000, ERROR_LIMIT},
        {path, NULL, 100000, ERROR_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create(cases[i].budget);
        struct text bytes;
        struct error error = {0};
        ASSERT_INT(file_read(cases[i].path, SIZE_MAX, arena, &bytes, &error),
                   cases[i].what == NULL);
        ASSERT_INT(error.kind, cases[i].kind);
        if (cases[i].what != NULL) {
            CU_ASSERT(text_starts_with(text_of(error.what), text_of(cases[i].what)));
            ASSERT_TEXT(text_of(error.place.file), cases[i].path);
        }
        arena_destroy(arena);
    }
    unlink(path);
}

static void standard_input_is_a_file(void)
{
    int ends[2], saved = dup(STDIN_FILENO);
    CU_ASSERT_FATAL(pipe(ends) == 0);
    CU_ASSERT_EQUAL(write(ends[1], "a: b\n", 5), 5);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    struct arena *arena = arena_create(1 << 20);
    struct text bytes;
    CU_ASSERT(file_read("-", 100, arena, &bytes, NULL));
    ASSERT_TEXT(bytes, "a: b\n");
    dup2(saved, STDIN_FILENO);
    close(saved);
    arena_destroy(arena);
}

const char unit_suite[] = "base error";
const struct unit_test unit_tests[] = {
    {"errors are set", errors_are_set},
    {"long messages are cut", long_messages_are_cut},
    {"kinds have exit codes", kinds_have_exit_codes},
    {"errors are formatted", errors_are_formatted},
    {"problems are collected", problems_are_collected},
    {"more problems than wanted are counted", more_problems_than_wanted_are_counted},
    {"files are read", files_are_read},
    {"files that cannot be read are errors", files_that_cannot_be_read_are_errors},
    {"standard input is a file", standard_input_is_a_file},
    {NULL, NULL},
};
