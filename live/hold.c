#include "live/hold.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_BYTES = 4096,
    SMALL_BYTES = 1 << 16, /* does not count towards the budget, and is kept when it is dropped */
    STEP_BYTES = 1 << 18,  /* beyond the budget it grows by no more */
};

static size_t counted(size_t capacity)
{
    return capacity > SMALL_BYTES ? capacity : 0;
}

static bool is_used_up(const struct watch_budget *budget, size_t more_bytes)
{
    return budget != NULL && budget->used_bytes + more_bytes > budget->limit_bytes;
}

static bool grow(struct hold *hold, size_t needed)
{
    size_t capacity = hold->capacity == 0 ? FIRST_BYTES : hold->capacity;
    while (capacity < needed)
        capacity *= 2;
    if (is_used_up(hold->budget, counted(capacity)) && capacity > needed + STEP_BYTES)
        capacity = needed + STEP_BYTES;
    char *bytes = realloc(hold->bytes, capacity);
    if (bytes == NULL)
        return false;
    if (hold->budget != NULL)
        hold->budget->used_bytes += counted(capacity) - counted(hold->capacity);
    hold->bytes = bytes;
    hold->capacity = capacity;
    return true;
}

bool hold_add(struct hold *hold, struct text bytes)
{
    if (bytes.size == 0)
        return true;
    if (hold->size + bytes.size > hold->capacity && !grow(hold, hold->size + bytes.size))
        return false;
    memcpy(hold->bytes + hold->size, bytes.data, bytes.size);
    hold->size += bytes.size;
    return true;
}

bool hold_waits(struct hold *hold)
{
    struct watch_budget *budget = hold->budget;
    if (counted(hold->capacity) == 0 || budget == NULL)
        return false;
    if (budget->senior == NULL)
        budget->senior = hold;
    return budget->senior != hold && is_used_up(budget, 0);
}

void hold_drop(struct hold *hold)
{
    hold->size = 0;
    if (counted(hold->capacity) > 0)
        hold_free(hold);
}

void hold_free(struct hold *hold)
{
    if (hold->budget != NULL) {
        hold->budget->used_bytes -= counted(hold->capacity);
        if (hold->budget->senior == hold)
            hold->budget->senior = NULL;
    }
    free(hold->bytes);
    hold->bytes = NULL;
    hold->size = hold->capacity = 0;
}

struct text hold_text(const struct hold *hold)
{
    return (struct text){hold->bytes, hold->size};
}
