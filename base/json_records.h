/* The records of a stream of JSON: objects one after the other, a line each, or inside a document's
 * list. In bounded memory: of the stream no more than one record is held. */
#ifndef TAFFRAIL_BASE_JSON_RECORDS_H
#define TAFFRAIL_BASE_JSON_RECORDS_H

#include "base/base.h"

/* How a record ended. */
enum record_end {
    RECORD_WHOLE,
    RECORD_CUT,   /* its line, or the stream, ended before its last bracket */
    RECORD_LARGE, /* it is over the limit, and not kept */
    RECORD_OTHER, /* a line without a record */
};

/* Called for each, in order. record: empty unless it is whole; line: the one it begins in. */
typedef void record_sink(void *context, enum record_end end, struct text record, size_t line);

struct json_records {
    /* Members whose lists hold the records of a document: {"items": [...]}; ends with NULL. */
    const char *const *lists;
    size_t limit_bytes;
    record_sink *sink;
    void *context;
    /* Its own; zero-initialise. */
    char *buffer; /* malloc */
    size_t size, capacity;
    size_t line, record_line;
    size_t depth, record_depth; /* brackets that are open: of all, and around the record */
    bool in_string, escaped, large;
    bool in_lines; /* a record ends with its line */
    bool form_known;
    bool line_has_other, line_has_record;
    char key[64]; /* the last string at the depth of a document's members */
    size_t key_size;
    bool in_key;
};
/* Takes the next part of the stream. False when memory ran out. */
bool json_records_take(struct json_records *records, const char *bytes, size_t size) MUST_CHECK;
/* The stream is over: a record that is open is cut. Frees what the records took. */
void json_records_end(struct json_records *records);

#endif
