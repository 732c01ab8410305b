/* Words on the lines of a terminal. */
#include "base/wrap.h"

size_t code_points(struct text t)
{
    size_t count = 0;
    for (size_t i = 0; i < t.size; i++)
        count += starts_code_point(t.data[i]);
    return count;
}

void put_printable(struct text t, FILE *out)
{
    for (size_t i = 0; i < t.size; i++)
        fputc((unsigned char)t.data[i] < 0x20 || t.data[i] == 0x7f ? ' ' : t.data[i], out);
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
