/* The cases of `taffrail test`: no crash, no leak; a file that is refused has a reason, and a case
 * that is taken has a name and a place. */
/* reads: cli/test_case.c */
#include "cli/test_case.h"
#include "fuzz.h"

enum { ARENA_BYTES = 64 << 20 };

static const char *path;

static void read_all(void *argument)
{
    struct arena *arena = argument;
    struct test_cases cases = {0};
    struct problems problems = {.arena = arena};
    test_cases_read(path, arena, &cases, &problems);
    for (size_t i = 0; i < problems.count; i++)
        REQUIRE(problems.items[i].what[0] != '\0');
    for (size_t i = 0; i < cases.count; i++)
        REQUIRE(cases.items[i].place.file != NULL && cases.items[i].place.line > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena *arena;
    if (arena == NULL) {
        path = fuzz_path("cases.yaml");
        arena = arena_create(ARENA_BYTES);
    }
    fuzz_write(path, data, size);
    fuzz_guarded(arena, read_all, arena);
    return 0;
}
