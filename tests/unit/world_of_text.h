/* A world whose policies are a text. */
#ifndef TAFFRAIL_TESTS_UNIT_WORLD_OF_TEXT_H
#define TAFFRAIL_TESTS_UNIT_WORLD_OF_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/server.h"
#include "unit.h"

/* options: of what is beside the policies. The caller destroys the world. */
static inline struct world *world_of_text(const char *text, struct world_options options,
                                          uint64_t generation, int64_t now_unix_s)
{
    struct arena *arena = arena_create(1 << 20);
    struct problems errors = {.arena = arena}, warnings = {.arena = arena};
    struct world *world = NULL;
    char path[] = "/tmp/taffrail-policy-XXXXXX.yaml";
    int file = mkstemps(path, 5);
    CU_ASSERT_FATAL(file >= 0 && dprintf(file, "%s", text) >= 0);
    close(file);
    options.policy_paths = (const char *const[]){path};
    options.policy_path_count = 1;
    bool loaded = world_load(&options, generation, now_unix_s, &world, &errors, &warnings);
    for (size_t i = 0; i < errors.count; i++)
        fprintf(stderr, "%s\n", errors.items[i].what);
    unlink(path);
    arena_destroy(arena);
    CU_ASSERT_FATAL(loaded);
    return world;
}

#endif
