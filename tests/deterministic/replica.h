/* Replicas of the program: `taffrail serve` as people start it, on threads of threads.c. */
#ifndef TAFFRAIL_DETERMINISTIC_REPLICA_H
#define TAFFRAIL_DETERMINISTIC_REPLICA_H

#include <stdbool.h>

struct snapshot;

/* Starts it; when it has ended it starts again. */
void replica_start(int replica);
void replica_signal(int replica, int number); /* as kill does */
void replica_kill(int replica);
bool replica_runs(int replica);
/* What its reviews see now; NULL: nothing yet. replica_done releases it. */
const struct snapshot *replica_look(int replica);
void replica_done(int replica);
extern unsigned long replica_lives, replica_kills;
extern bool replica_speaks;    /* prints the log */
extern bool replica_has_files; /* the certificate is in files, and not in a Secret */

#endif
