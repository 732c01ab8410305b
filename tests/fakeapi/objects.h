/* Single objects of the fake API server, read and written: Secrets, Leases, webhook configurations,
 * reports. Thread-safe. */
#ifndef TAFFRAIL_FAKEAPI_OBJECTS_H
#define TAFFRAIL_FAKEAPI_OBJECTS_H

#include <stdbool.h>

struct objects_question {
    const char *method, *path, *who, *body;
    const char *field_selector, *continue_token; /* of a list; "" for none */
};
struct objects_answer {
    unsigned status, retry_after_s;
    char *text; /* the caller frees it */
};
/* False: the path is of nothing of them. */
bool objects_answer(const struct objects_question *question, struct objects_answer *answer);
/* "openreports.io on": the group is served from now on; false: there is none. */
bool objects_serve(const char *line);
/* "patch reports 429 3 2 MESSAGE": the next 3 such requests get this answer, and Retry-After 2. */
bool objects_fault(const char *line);
/* From now on (or no longer) requests of this Authorization header are closed without an answer. */
void objects_cut(const char *who, bool cut);
bool objects_is_cut(const char *who);
/* A line each, of what was asked for and of what was written; the caller frees them. */
char *objects_requests(void);
char *objects_writes(void);

#endif
