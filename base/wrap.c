/* Words on the lines of a terminal. */
#include "base/wrap.h"

#include <stdlib.h>
#include <string.h>

size_t code_points(struct text t)
{
    size_t count = 0;
    for (size_t i = 0; i < t.size; i++)
        count += starts_code_point(t.data[i]);
    return count;
}

static struct text rest_of(struct text t, size_t at)
{
    return (struct text){t.data + at, t.size - at};
}

/* Where the text begins with `::`, behind blanks of any alphabet; its size: nowhere. */
static size_t command_at(struct text t)
{
    size_t at = 0;
    while (at < t.size && ((unsigned char)t.data[at] <= ' ' || (unsigned char)t.data[at] >= 0x7f))
        at++;
    return text_starts_with(rest_of(t, at), TEXT("::")) ? at : t.size;
}

static bool begins_command(struct text t)
{
    return text_starts_with(t, TEXT("#[")) || text_starts_with(t, TEXT("#vso["));
}

void put_printable(struct text t, FILE *out)
{
    size_t command = command_at(t);
    for (size_t i = 0; i < t.size;) {
        size_t control = control_size(rest_of(t, i));
        bool obeyed = control > 0 || i == command ||
                      (i > 0 && t.data[i - 1] == '#' && begins_command(rest_of(t, i)));
        fputc(obeyed ? ' ' : t.data[i], out);
        if (i == command && text_starts_with(rest_of(t, i + 1), TEXT("::")))
            command++; /* of more colons the last one stays */
        i += control > 0 ? control : 1;
    }
}

void put_vprintf(FILE *out, const char *format, va_list args)
{
    char *words = NULL;
    int size = vasprintf(&words, format, args);
    if (size < 0)
        return;
    put_printable((struct text){words, (size_t)size}, out);
    free(words);
}

void put_printf(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_vprintf(out, format, args);
    va_end(args);
}

static bool is_break(char c)
{
    return c == ' ' || c == '\n';
}

/* The first word, which is taken off; empty: there is no more. */
static struct text next_word(struct text *words)
{
    size_t begin = 0, end;
    while (begin < words->size && is_break(words->data[begin]))
        begin++;
    for (end = begin; end < words->size && !is_break(words->data[end]);)
        end++;
    struct text word = {words->data + begin, end - begin};
    *words = (struct text){words->data + end, words->size - end};
    return word;
}

void put_wrapped(struct text words, size_t at, size_t indent, size_t columns, FILE *out)
{
    if (columns == 0) {
        put_printable(words, out);
        words = TEXT("");
    }
    bool first = true;
    for (struct text word; words.size > 0 && (word = next_word(&words)).size > 0; first = false) {
        size_t width = code_points(word);
        if (!first && at + 1 + width > columns) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', out);
            at++;
        }
        put_printable(word, out);
        at += width;
    }
    fputc('\n', out);
}
