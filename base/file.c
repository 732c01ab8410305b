/* Reads whole files, up to a limit. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct buffer {
    char *data;
    size_t size, capacity;
};

static bool buffer_reserve(struct buffer *buffer, size_t limit_bytes)
{
    if (buffer->size < buffer->capacity)
        return true;
    size_t capacity = buffer->capacity == 0 ? 64 << 10 : 2 * buffer->capacity;
    /* One byte more than allowed, so that a file over the limit is noticed. */
    if (capacity > limit_bytes)
        capacity = limit_bytes + 1;
    char *data = realloc(buffer->data, capacity);
    if (data == NULL)
        return false;
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

static bool read_all(int fd, const char *name, size_t limit_bytes, struct buffer *buffer,
                     struct error *error)
{
    struct place place = {name, 0, 0};
    struct stat status;
    if (fstat(fd, &status) != 0)
        return error_set(error, ERROR_IO, place, "cannot be examined: %s", strerror(errno));
    if (S_ISDIR(status.st_mode))
        return error_set(error, ERROR_IO, place, "is a directory; a file is wanted");
    for (;;) {
        if (!buffer_reserve(buffer, limit_bytes))
            return error_set(error, ERROR_MEMORY, place,
                             "the system gives no memory to read it: %zu bytes so far",
                             buffer->size);
        ssize_t count = read(fd, buffer->data + buffer->size, buffer->capacity - buffer->size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return error_set(error, ERROR_IO, place, "cannot be read: %s", strerror(errno));
        if (count == 0)
            return true;
        buffer->size += (size_t)count;
        if (buffer->size > limit_bytes)
            return error_set(error, ERROR_LIMIT, place, "is larger than the limit of %zu bytes",
                             limit_bytes);
    }
}

struct copy {
    struct arena *arena;
    struct text from, to;
};

static void copy_text(void *argument)
{
    struct copy *copy = argument;
    copy->to = arena_text(copy->arena, copy->from);
}

const char *path_as_shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

bool file_read(const char *path, size_t limit_bytes, struct arena *arena, struct text *bytes,
               struct error *error)
{
    bool standard_input = strcmp(path, "-") == 0;
    const char *name = path_as_shown(path);
    if (limit_bytes > PTRDIFF_MAX - 1)
        limit_bytes = PTRDIFF_MAX - 1;
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(error, ERROR_IO, (struct place){path, 0, 0}, "cannot be opened: %s",
                         strerror(errno));
    struct buffer buffer = {0};
    bool done = read_all(fd, name, limit_bytes, &buffer, error);
    if (!standard_input)
        close(fd);
    if (done) {
        struct copy copy = {arena, {buffer.data, buffer.size}, {NULL, 0}};
        done = arena_guard(arena, copy_text, &copy, error);
        if (!done && error != NULL)
            error->place.file = name;
        *bytes = copy.to;
    }
    free(buffer.data);
    return done;
}
