/* UTF-8: valid sequences, printable characters. */
#include "base/doc_internal.h"

size_t utf8_length(const char *text, const char *end)
{
    const unsigned char *bytes = (const unsigned char *)text;
    /* The range of the second byte: no overlong forms, no surrogates, nothing above U+10FFFF. */
    unsigned char least = 0x80, most = 0xBF;
    size_t length;
    switch (bytes[0]) {
    case 0xC2 ... 0xDF:
        length = 2;
        break;
    case 0xE0 ... 0xEF:
        length = 3;
        least = bytes[0] == 0xE0 ? 0xA0 : 0x80;
        most = bytes[0] == 0xED ? 0x9F : 0xBF;
        break;
    case 0xF0 ... 0xF4:
        length = 4;
        least = bytes[0] == 0xF0 ? 0x90 : 0x80;
        most = bytes[0] == 0xF4 ? 0x8F : 0xBF;
        break;
    default:
        return 0;
    }
    if ((size_t)(end - text) < length || bytes[1] < least || bytes[1] > most)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

size_t control_size(struct text t)
{
    const unsigned char *bytes = (const unsigned char *)t.data;
    if (bytes[0] < 0x20 || bytes[0] == 0x7f)
        return 1;
    if (bytes[0] == 0xC2 && t.size > 1 && bytes[1] >= 0x80 && bytes[1] < 0xA0)
        return 2;
    static const char longer[][4] = {"\u2028", "\u2029", "\xEF\xBF\xBE", "\xEF\xBF\xBF"};
    for (size_t i = 0; i < COUNT_OF(longer); i++)
        if (text_starts_with(t, text_of(longer[i])))
            return 3;
    return 0;
}

/* The length of the character at the start, of ASCII too; 0 when it is not a valid one. */
static size_t character_length(const char *text, const char *end)
{
    return (unsigned char)*text < 0x80 ? 1 : utf8_length(text, end);
}

struct text text_as_utf8(struct text t, struct arena *arena)
{
    if (t.size == 0)
        return TEXT(""); /* its data may be NULL, from which C lets nobody count */
    const char *end = t.data + t.size;
    const char *at = t.data;
    for (size_t length; at < end && (length = character_length(at, end)) > 0;)
        at += length;
    if (at == end)
        return t;
    struct text_builder valid = {.arena = arena};
    text_builder_add(&valid, (struct text){t.data, (size_t)(at - t.data)});
    while (at < end) {
        size_t length = character_length(at, end);
        text_builder_add(&valid, length > 0 ? (struct text){at, length} : TEXT("\xEF\xBF\xBD"));
        at += length > 0 ? length : 1;
    }
    return text_builder_text(&valid);
}
