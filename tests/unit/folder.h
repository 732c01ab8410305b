/* A folder of a test's own, and the files in it. */
#ifndef TAFFRAIL_TESTS_UNIT_FOLDER_H
#define TAFFRAIL_TESTS_UNIT_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char folder[64];

static inline void make_folder(void)
{
    strcpy(folder, "/tmp/taffrail-unit-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

static inline void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ASSERT_INT(system(command), 0);
}

static inline void path_in_folder(const char *name, char path[static 256])
{
    snprintf(path, 256, "%s%s%s", folder, name[0] == '\0' ? "" : "/", name);
}

/* The last eight are valid. */
static inline const char *path_of(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    path_in_folder(name, path);
    return path;
}

static inline void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_FATAL(fputs(text, file) >= 0 && fclose(file) == 0);
}

static inline void write_folder(const char *name)
{
    ASSERT_INT(mkdir(path_of(name), 0700), 0);
}

#endif
