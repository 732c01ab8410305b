/* Files of a log: plain or gzip, read piece by piece. */
#ifndef TAFFRAIL_CLI_LOG_FILE_H
#define TAFFRAIL_CLI_LOG_FILE_H

#include "base/base.h"

/* The files that a path names: itself, or every file below a folder, by name. */
void log_files_find(const char *path, struct arena *arena, struct path_list *files,
                    struct problems *problems);

/* Gives the file's bytes to take, unpacked where it is gzip ("-": standard input); take returns
 * false to end it. False with *error when the file could not be read to its end. */
bool log_file_read(const char *path, bool (*take)(void *context, const char *bytes, size_t size),
                   void *context, struct error *error) MUST_CHECK;

#endif
