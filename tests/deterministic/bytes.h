/* Text of the world that grows. */
#ifndef TAFFRAIL_DETERMINISTIC_BYTES_H
#define TAFFRAIL_DETERMINISTIC_BYTES_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "memory.h"

struct bytes {
    char *data;
    size_t size, capacity;
};

static inline void bytes_reserve(struct bytes *bytes, size_t more)
{
    if (bytes->capacity - bytes->size > more)
        return;
    bytes->capacity = 2 * (bytes->size + more) + 256;
    bytes->data = world_realloc(bytes->data, bytes->capacity);
}

static inline void bytes_add(struct bytes *bytes, const char *data, size_t size)
{
    bytes_reserve(bytes, size + 1);
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
    bytes->data[bytes->size] = '\0';
}

static inline void bytes_printf(struct bytes *bytes, const char *format, ...) PRINTF_LIKE(2, 3);
static inline void bytes_printf(struct bytes *bytes, const char *format, ...)
{
    enum { LINE_BYTES = 1200 };
    va_list args;
    va_start(args, format);
    bytes_reserve(bytes, LINE_BYTES);
    int size = vsnprintf(bytes->data + bytes->size, LINE_BYTES, format, args);
    va_end(args);
    if (size < 0 || size >= LINE_BYTES)
        abort();
    bytes->size += (size_t)size;
}

static inline void bytes_free(struct bytes *bytes)
{
    world_free(bytes->data);
    *bytes = (struct bytes){0};
}

#endif
