/* Shared by all fuzz targets. */
#ifndef TAFFRAIL_FUZZ_H
#define TAFFRAIL_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

#define REQUIRE(condition)                                                                \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

/* The bytes are a copy of exactly so many, so that reading beyond them is seen. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Calls read under a guard of the arena, which is empty then. Too little room is no fault. */
void fuzz_guarded(struct arena *arena, void (*read)(void *), void *argument);
/* The same with the bytes as a struct text, in an arena that the first call makes. Returns 0. */
int fuzz_text(struct arena **arena, size_t budget_bytes, void (*read)(void *), const uint8_t *data,
              size_t size);
/* NULL: it is no JSON within the limits. */
const struct node *fuzz_tree(struct text json, const struct doc_limits *limits,
                             struct arena *arena);
/* A folder in memory where there is one, because an input is a file each; it goes at the end, with
 * the files of fuzz_path. */
const char *fuzz_folder(void);
/* The path of a file of the folder. */
const char *fuzz_path(const char *name);
void fuzz_write(const char *path, const void *bytes, size_t size);

#endif
