/* The JSON reader against json-c: CPU time and memory for each file named. Rounds of the two take
 * turns, because the machine's speed changes; medians are printed. */
#include <json-c/json.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"

enum { ROUNDS = 9 };
static const double round_seconds = 0.05;

struct subject {
    const char *name;
    /* Reads the text once and forgets it again. */
    void (*read)(struct text text);
    size_t (*memory_bytes)(struct text text);
    double seconds[ROUNDS];
};

static struct arena *arena;
static struct json_tokener *tokener;

static const struct node *read_ours(struct text text)
{
    struct source source = {.text = text};
    const struct node *root;
    struct error error;
    if (!doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error)) {
        fprintf(stderr, "%u:%u: %s\n", error.place.line, error.place.column, error.what);
        exit(1);
    }
    return root;
}

static void read_and_forget(struct text text)
{
    read_ours(text);
    arena_reset(arena);
}

static size_t measure_arena(struct text text)
{
    read_ours(text);
    size_t bytes = arena_used_bytes(arena);
    arena_reset(arena);
    return bytes;
}

static struct json_object *read_json_c(struct text text)
{
    json_tokener_reset(tokener);
    struct json_object *root = json_tokener_parse_ex(tokener, text.data, (int)text.size);
    if (root == NULL) {
        fprintf(stderr, "json-c: %s\n", json_tokener_error_desc(json_tokener_get_error(tokener)));
        exit(1);
    }
    return root;
}

static void read_and_put(struct text text)
{
    json_object_put(read_json_c(text));
}

static size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static size_t measure_heap(struct text text)
{
    size_t before = heap_bytes();
    struct json_object *root = read_json_c(text);
    size_t bytes = heap_bytes() - before;
    json_object_put(root);
    return bytes;
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double measure_seconds(void (*read)(struct text text), struct text text)
{
    double start = cpu_seconds(), elapsed;
    size_t count = 0;
    do {
        for (int i = 0; i < 16; i++, count++)
            read(text);
        elapsed = cpu_seconds() - start;
    } while (elapsed < round_seconds);
    return elapsed / (double)count;
}

static int compare_seconds(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void compare(const char *path)
{
    struct subject ours = {"taffrail", read_and_forget, measure_arena, {0}};
    struct subject theirs = {"json-c", read_and_put, measure_heap, {0}};
    struct arena *file_arena = arena_create((size_t)1 << 30);
    struct text text;
    struct error error;
    if (file_arena == NULL ||
        !file_read(path, doc_limits_review.bytes, file_arena, &text, &error)) {
        fprintf(stderr, "%s: %s\n", path, error.what);
        exit(1);
    }
    for (int round = 0; round < ROUNDS; round++) {
        ours.seconds[round] = measure_seconds(ours.read, text);
        theirs.seconds[round] = measure_seconds(theirs.read, text);
    }
    qsort(ours.seconds, ROUNDS, sizeof(double), compare_seconds);
    qsort(theirs.seconds, ROUNDS, sizeof(double), compare_seconds);
    double our_microseconds = ours.seconds[ROUNDS / 2] * 1e6;
    double their_microseconds = theirs.seconds[ROUNDS / 2] * 1e6;
    size_t our_bytes = ours.memory_bytes(text), their_bytes = theirs.memory_bytes(text);
    const char *slash = strrchr(path, '/');
    printf("%-16s %8zu %12.1f %12.1f %7.1fx %12zu %12zu %7.1fx\n", slash == NULL ? path : slash + 1,
           text.size, our_microseconds, their_microseconds, their_microseconds / our_microseconds,
           our_bytes, their_bytes, (double)their_bytes / (double)our_bytes);
    arena_destroy(file_arena);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_json FILE...\n");
        return 2;
    }
    arena = arena_create((size_t)1 << 30);
    tokener = json_tokener_new_ex((int)doc_limits_review.depth);
    if (arena == NULL || tokener == NULL)
        return 1;
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    printf("%-16s %8s %12s %12s %8s %12s %12s %8s\n", "file", "bytes", "taffrail us", "json-c us",
           "faster", "taffrail B", "json-c B", "smaller");
    for (int i = 1; i < argc; i++)
        compare(argv[i]);
    json_tokener_free(tokener);
    arena_destroy(arena);
    return 0;
}
