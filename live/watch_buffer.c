/* The bytes of a list or a watch until they are read. */
#include "live/watch_buffer.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_BYTES = 4096,
    SMALL_BYTES =
        1 << 16, /* does not count towards the budget, and stays when the buffer is dropped */
    STEP_BYTES = 1 << 18, /* beyond the budget it grows by no more than this */
};

static size_t counted(size_t capacity)
{
    return capacity > SMALL_BYTES ? capacity : 0;
}

static bool is_used_up(const struct watch_budget *budget, size_t more_bytes)
{
    return budget != NULL && budget->used_bytes + more_bytes > budget->limit_bytes;
}

static bool grow(struct watch_buffer *buffer, size_t needed)
{
    size_t capacity = buffer->capacity == 0 ? FIRST_BYTES : buffer->capacity;
    while (capacity < needed)
        capacity *= 2;
    if (is_used_up(buffer->budget, counted(capacity)) && capacity > needed + STEP_BYTES)
        capacity = needed + STEP_BYTES;
    char *bytes = realloc(buffer->bytes, capacity);
    if (bytes == NULL)
        return false;
    if (buffer->budget != NULL)
        buffer->budget->used_bytes += counted(capacity) - counted(buffer->capacity);
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

bool watch_buffer_add(struct watch_buffer *buffer, struct text bytes)
{
    if (bytes.size == 0)
        return true;
    if (buffer->size + bytes.size > buffer->capacity && !grow(buffer, buffer->size + bytes.size))
        return false;
    memcpy(buffer->bytes + buffer->size, bytes.data, bytes.size);
    buffer->size += bytes.size;
    return true;
}

bool watch_buffer_waits(struct watch_buffer *buffer)
{
    struct watch_budget *budget = buffer->budget;
    if (counted(buffer->capacity) == 0 || budget == NULL)
        return false;
    if (budget->senior == NULL)
        budget->senior = buffer;
    return budget->senior != buffer && is_used_up(budget, 0);
}

void watch_buffer_drop(struct watch_buffer *buffer)
{
    buffer->size = 0;
    if (counted(buffer->capacity) > 0)
        watch_buffer_free(buffer);
}

void watch_buffer_free(struct watch_buffer *buffer)
{
    if (buffer->budget != NULL) {
        buffer->budget->used_bytes -= counted(buffer->capacity);
        if (buffer->budget->senior == buffer)
            buffer->budget->senior = NULL;
    }
    free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->size = buffer->capacity = 0;
}

struct text watch_buffer_text(const struct watch_buffer *buffer)
{
    return buffer->size == 0 ? TEXT("") : (struct text){buffer->bytes, buffer->size};
}
