/* Errors: a kind, a place, a message. */
#include "base/base.h"

#include <stdio.h>
#include <string.h>

/* Size of t without an incomplete UTF-8 sequence at its end. */
static size_t whole_code_points(const char *data, size_t size)
{
    size_t start = size;
    while (start > 0 && size - start < 3 && ((unsigned char)data[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return size;
    unsigned char lead = (unsigned char)data[start - 1];
    size_t wanted = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    return wanted > size - start + 1 ? start - 1 : size;
}

static void error_vset(struct error *error, enum error_kind kind, struct place place,
                       const char *format, va_list args)
{
    error->kind = kind;
    error->place = place;
    int size = vsnprintf(error->what, sizeof error->what, format, args);
    if (size < 0)
        error->what[0] = '\0';
    else if ((size_t)size >= sizeof error->what)
        error->what[whole_code_points(error->what, sizeof error->what - 1)] = '\0';
}

void error_fill(struct error *error, enum error_kind kind, struct place place, const char *format,
                ...)
{
    if (error == NULL)
        return;
    va_list args;
    va_start(args, format);
    error_vset(error, kind, place, format, args);
    va_end(args);
}

int error_exit_code(enum error_kind kind)
{
    switch (kind) {
    case ERROR_NONE:
    case ERROR_TWICE:
        return 0;
    case ERROR_CLUSTER:
        return 3;
    case ERROR_USAGE:
    case ERROR_INPUT:
    case ERROR_POLICY:
    case ERROR_LIMIT:
    case ERROR_IO:
    case ERROR_TLS:
    case ERROR_MEMORY:
        break;
    }
    return 2;
}

int error_format(const struct error *error, char *buffer, size_t size)
{
    const struct place *place = &error->place;
    if (place->file == NULL && place->line == 0)
        return snprintf(buffer, size, "%s", error->what);
    if (place->line == 0)
        return snprintf(buffer, size, "%s: %s", place->file, error->what);
    const char *file = place->file == NULL ? "" : place->file;
    const char *colon = place->file == NULL ? "" : ":";
    if (place->column == 0)
        return snprintf(buffer, size, "%s%s%u: %s", file, colon, place->line, error->what);
    return snprintf(buffer, size, "%s%s%u:%u: %s", file, colon, place->line, place->column,
                    error->what);
}

static bool is_left_out(struct problems *problems)
{
    bool full = problems->most > 0 && problems->count >= problems->most;
    problems->left_out += full;
    return full;
}

/* The list may outlive the loader that named the file. */
static const char *keep_file(struct problems *problems, const char *file)
{
    return file == NULL ? NULL : arena_text(problems->arena, text_of(file)).data;
}

void problems_add_error(struct problems *problems, const struct error *error)
{
    if (is_left_out(problems))
        return;
    const char *file = keep_file(problems, error->place.file);
    struct error *added = LIST_PUSH(problems->arena, problems);
    *added = *error;
    added->place.file = file;
}

bool problems_have_errors(const struct problems *problems)
{
    for (size_t i = 0; i < problems->count; i++)
        if (problems->items[i].kind != ERROR_TWICE)
            return true;
    return false;
}

void problems_add(struct problems *problems, enum error_kind kind, struct place place,
                  const char *format, ...)
{
    if (is_left_out(problems))
        return;
    place.file = keep_file(problems, place.file);
    struct error *error = LIST_PUSH(problems->arena, problems);
    va_list args;
    va_start(args, format);
    error_vset(error, kind, place, format, args);
    va_end(args);
}
