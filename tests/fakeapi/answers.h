/* What the fake API server answers: truth, bent as the script says. Thread-safe. */
#ifndef TAFFRAIL_FAKEAPI_ANSWERS_H
#define TAFFRAIL_FAKEAPI_ANSWERS_H

#include <sys/types.h>

#include "truth.h"

struct question {
    enum kind kind;
    bool watching, bookmarks;
    const char *limit, *continue_token, *resource_version, *timeout_seconds;
    const char *authorization, *encoding, *accept;
};
struct stream;
struct answer {
    bool refused;          /* close the connection */
    struct stream *stream; /* or NULL, and the rest holds */
    unsigned status, retry_after_s;
    char *text; /* the caller's */
    const char *type;
};

void fake_open(void);
void fake_close(void); /* ends every stream */
void fake_free(void);
/* Runs lines of a script; NULL, or what is wrong, which the caller frees. */
char *fake_script(const char *lines);
bool fake_kind_of_path(const char *path, enum kind *kind);
void fake_answer(const struct question *question, struct answer *answer);
/* Discovery, and the pages below /fake. */
char *fake_page(const char *path, unsigned *status);

#define STREAM_END ((ssize_t)-1)
#define STREAM_CUT ((ssize_t)-2)
/* The next bytes; waits for them. */
ssize_t stream_read(struct stream *stream, char *buffer, size_t size);
void stream_destroy(struct stream *stream);

#endif
