/* For each file named: "accepted NAME" or "refused NAME LINE:COLUMN: WHY". Duplicate keys are
 * reported, "duplicate NAME LINE:COLUMN: WHY", and accepted. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"

static const struct doc_limits limits = {.bytes = 64 << 20, .nodes = 4000000, .depth = 512};

static void print(const char *verdict, const char *name, const struct error *error)
{
    printf("%s %s %u:%u: %s\n", verdict, name, error->place.line, error->place.column, error->what);
}

static bool judge(const char *path, struct arena *arena)
{
    struct source source = {.file = path};
    struct problems duplicates = {.arena = arena};
    const struct node *root;
    struct error error;
    if (!file_read(path, limits.bytes, arena, &source.text, &error)) {
        fprintf(stderr, "%s: %s\n", path, error.what);
        return false;
    }
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    if (doc_read_json(&source, &limits, &duplicates, arena, &root, &error))
        printf("accepted %s\n", name);
    else
        print("refused", name, &error);
    for (size_t i = 0; i < duplicates.count; i++)
        print("duplicate", name, &duplicates.items[i]);
    return true;
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create((size_t)1 << 30);
    bool done = arena != NULL;
    for (int i = 1; i < argc && done; i++) {
        done = judge(argv[i], arena);
        arena_reset(arena);
    }
    arena_destroy(arena);
    return done ? 0 : 1;
}
