/* Single objects of the fake API server, read and written: Secrets, Leases, webhook configurations.
 * Thread-safe. */
#ifndef TAFFRAIL_FAKEAPI_OBJECTS_H
#define TAFFRAIL_FAKEAPI_OBJECTS_H

#include <stdbool.h>

/* False: the path is of nothing of them. Else the answer, whose text the caller frees. */
bool objects_answer(const char *method, const char *path, const char *who, const char *body,
                    unsigned *status, char **text);
/* From now on (or no longer) requests of this Authorization header are closed without an answer. */
void objects_cut(const char *who, bool cut);
bool objects_is_cut(const char *who);
/* A line each, of what was asked for and of what was written; the caller frees them. */
char *objects_requests(void);
char *objects_writes(void);

#endif
