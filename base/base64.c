#include "base/base.h"

struct text text_base64(struct text bytes, struct arena *arena)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *encoded = arena_alloc(arena, (bytes.size + 2) / 3 * 4 + 1);
    size_t size = 0;
    for (size_t at = 0; at < bytes.size; at += 3) {
        size_t count = bytes.size - at < 3 ? bytes.size - at : 3;
        uint32_t group = 0;
        for (size_t i = 0; i < 3; i++)
            group = group << 8 | (i < count ? (unsigned char)bytes.data[at + i] : 0U);
        for (size_t i = 0; i < 4; i++)
            encoded[size++] = i <= count ? digits[group >> (18 - 6 * i) & 63] : '=';
    }
    return (struct text){encoded, size};
}
