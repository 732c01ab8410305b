/* The files of the replicas, in memory: a folder for each, /sim/0 to /sim/2. */
#ifndef TAFFRAIL_DETERMINISTIC_DISK_H
#define TAFFRAIL_DETERMINISTIC_DISK_H

#include <stdbool.h>
#include <stdint.h>

/* Puts a file in the place of another, as by a rename. */
void disk_put(int replica, const char *name, const char *content);
/* Writes into a file as it is: who reads meanwhile sees a part, and the disk may be full. */
void disk_overwrite(int replica, const char *name, const char *content);
void disk_remove(int replica, const char *name);
/* The path of a file, until the next call. */
const char *disk_path(int replica, const char *name);
/* Until then, reading fails now and then. */
void disk_fail(int replica, int64_t until_us);
/* Until then, standard output takes nothing. */
void output_fail(int replica, int64_t until_us);
/* What was written to standard output. */
uint64_t output_lines(int replica);

/* A sign that a thread of the program waits for, by the number of its eventfd, is wanted no more.
 */
void disk_drop(int replica);

#endif
