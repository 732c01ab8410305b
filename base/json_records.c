/* Cuts a stream of JSON into records, by quotes and brackets alone: the reader says whether they
 * are valid. A record of a file of lines that is cut off costs itself and not those behind it,
 * because a line ends every record. */
#include "base/json_records.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 64 << 10 };

/* ---- the record at hand ---- */

static bool keep(struct json_records *records, char c)
{
    if (records->large)
        return true;
    if (records->size == records->limit_bytes) {
        records->large = true;
        records->size = 0;
        return true;
    }
    if (records->size == records->capacity) {
        size_t capacity = records->capacity == 0 ? FIRST_BYTES : 2 * records->capacity;
        char *buffer = realloc(records->buffer, capacity);
        if (buffer == NULL)
            return false;
        records->buffer = buffer;
        records->capacity = capacity;
    }
    records->buffer[records->size++] = c;
    return true;
}

static void hand_over(struct json_records *records, enum record_end end)
{
    struct text record = {records->buffer, end == RECORD_WHOLE ? records->size : 0};
    if (records->large)
        end = RECORD_LARGE;
    if (records->large)
        record.size = 0;
    records->size = 0;
    records->large = false;
    records->sink(records->context, end, record, records->record_line);
}

/* Whether a record is open. */
static bool is_inside(const struct json_records *records)
{
    return records->depth > records->record_depth;
}

/* What was a document, and holds its records in a list, is none itself. */
static bool opens_list(const struct json_records *records)
{
    if (records->depth != 1 || records->record_depth != 0)
        return false;
    for (size_t i = 0; records->lists[i] != NULL; i++)
        if (strlen(records->lists[i]) == records->key_size &&
            memcmp(records->lists[i], records->key, records->key_size) == 0)
            return true;
    return false;
}

/* ---- characters ---- */

static void take_key(struct json_records *records, char c)
{
    if (records->in_key && records->key_size < sizeof records->key)
        records->key[records->key_size++] = c;
}

static bool take_in_string(struct json_records *records, char c)
{
    if (records->escaped) {
        records->escaped = false;
    } else if (c == '\\') {
        records->escaped = true;
    } else if (c == '"') {
        records->in_string = false;
        records->in_key = false;
    }
    if (records->in_string)
        take_key(records, c);
    return !is_inside(records) || keep(records, c);
}

static bool open_bracket(struct json_records *records, char c)
{
    if (c == '[' && opens_list(records)) {
        /* The head of the document goes; each item is a record. */
        records->size = 0;
        records->large = false;
        records->depth = records->record_depth = 2;
        return true;
    }
    if (!is_inside(records) && c != '{') {
        records->line_has_other = true;
        return true;
    }
    if (!is_inside(records)) {
        records->record_line = records->line;
        records->line_has_record = true;
    }
    records->depth++;
    return keep(records, c);
}

static bool close_bracket(struct json_records *records, char c)
{
    if (!is_inside(records)) {
        /* The end of the list and of the document around it. */
        if (records->record_depth > 0)
            records->depth = --records->record_depth;
        return true;
    }
    bool kept = keep(records, c);
    records->depth--;
    if (kept && !is_inside(records)) {
        if (!records->form_known)
            records->form_known = records->in_lines = true;
        hand_over(records, RECORD_WHOLE);
    }
    return kept;
}

static bool begins_document(const struct json_records *records)
{
    size_t size = records->size;
    while (size > 0 && records->buffer[size - 1] == ' ')
        size--;
    return size == 1;
}

static void end_line(struct json_records *records)
{
    if (is_inside(records) && !records->form_known) {
        /* A document of many lines has a bracket alone in its first one. */
        records->form_known = true;
        records->in_lines = !begins_document(records);
    }
    if (is_inside(records) && (records->in_lines || records->in_string)) {
        hand_over(records, RECORD_CUT);
        records->depth = records->record_depth = 0;
        records->in_string = records->escaped = false;
    } else if (records->line_has_other && !records->line_has_record && records->depth == 0) {
        records->record_line = records->line;
        hand_over(records, RECORD_OTHER);
    }
    records->line_has_other = records->line_has_record = false;
    records->line++;
}

static bool take(struct json_records *records, char c)
{
    if (c == '\n') {
        end_line(records);
        return !is_inside(records) || keep(records, ' ');
    }
    if (records->in_string)
        return take_in_string(records, c);
    if (c == '{' || c == '[')
        return open_bracket(records, c);
    if (c == '}' || c == ']')
        return close_bracket(records, c);
    if (records->depth > 0 && c == '"') {
        records->in_string = true;
        records->in_key = records->depth == 1;
        if (records->in_key)
            records->key_size = 0;
    }
    if (is_inside(records))
        return (c == '\r') || keep(records, c);
    records->line_has_other |= c != ' ' && c != '\t' && c != '\r' && c != ',';
    return true;
}

bool json_records_take(struct json_records *records, const char *bytes, size_t size)
{
    if (records->line == 0)
        records->line = 1;
    for (size_t i = 0; i < size; i++)
        if (!take(records, bytes[i]))
            return false;
    return true;
}

void json_records_end(struct json_records *records)
{
    if (is_inside(records))
        hand_over(records, RECORD_CUT);
    else if (records->line_has_other && !records->line_has_record && records->depth == 0) {
        records->record_line = records->line;
        hand_over(records, RECORD_OTHER);
    }
    free(records->buffer);
    *records = (struct json_records){0};
}
