/* Base64 (RFC 4648), both ways. */
#include <string.h>

#include "base/base.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct text text_base64(struct text bytes, struct arena *arena)
{
    char *encoded = arena_alloc(arena, (bytes.size + 2) / 3 * 4 + 1);
    size_t size = 0;
    for (size_t at = 0; at < bytes.size; at += 3) {
        size_t count = bytes.size - at < 3 ? bytes.size - at : 3;
        uint32_t group = 0;
        for (size_t i = 0; i < 3; i++)
            group = group << 8 | (i < count ? (unsigned char)bytes.data[at + i] : 0U);
        for (size_t i = 0; i < 4; i++)
            encoded[size++] = i <= count ? alphabet[group >> (18 - 6 * i) & 63] : '=';
    }
    return (struct text){encoded, size};
}

static int digit_of(char c)
{
    const char *at = c == '\0' ? NULL : strchr(alphabet, c);
    return at == NULL ? -1 : (int)(at - alphabet);
}

bool text_from_base64(struct text encoded, struct arena *arena, struct text *bytes)
{
    char *out = (char *)arena_text(arena, encoded).data;
    size_t size = 0, digits = 0, padding = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < encoded.size; i++) {
        char c = encoded.data[i];
        if (c == '\n' || c == '\r')
            continue;
        int digit = digit_of(c);
        if (c == '=')
            padding++;
        else if (digit < 0 || padding != 0)
            return false;
        bits = bits << 6 | (uint32_t)(digit < 0 ? 0 : digit);
        if (++digits % 4 != 0)
            continue;
        if (padding > 2)
            return false;
        for (size_t shift = 16, left = 3 - padding; left > 0; left--, shift -= 8)
            out[size++] = (char)(bits >> shift & 0xFF);
        if (padding != 0)
            padding = 3; /* nothing may follow */
    }
    *bytes = (struct text){out, size};
    return digits % 4 == 0;
}
