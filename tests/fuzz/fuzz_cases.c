/* The cases of `taffrail test`: no crash, no leak; a file that is refused has a reason, and a case
 * that is taken has a name and a place. */
/* reads: cli/test_case.c policy/document_keys.c policy/schema.c policy/schema_message.c */
#include <string.h>
#include <unistd.h>

#include "cli/test_case.h"
#include "fuzz.h"

enum { ARENA_BYTES = 64 << 20 };

static char path[] = "/tmp/taffrail-fuzz-XXXXXX";

static void remove_file(void)
{
    unlink(path);
}

static void begin(void)
{
    int file = mkstemp(path);
    REQUIRE(file >= 0 && close(file) == 0);
    REQUIRE(atexit(remove_file) == 0);
}

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
        begin();
        arena = arena_create(ARENA_BYTES);
    }
    REQUIRE(arena != NULL);
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    arena_reset(arena);
    struct error error;
    REQUIRE(arena_guard(arena, read_all, arena, &error) || error.kind == ERROR_LIMIT);
    return 0;
}
