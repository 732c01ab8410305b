/* rotation_driver DIR NOW_S PUBLISHED_FOR_S NAME: one step of certs_rotate on a Secret whose keys
 * are files of DIR, beside the file "published", the caBundle of the only webhook entry. What the
 * step asks for is done: "wrote", "published" or "rests" says what, and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certs/certs.h"

static struct text read_item(const char *folder, const char *name, struct arena *arena)
{
    struct text bytes = TEXT("");
    if (!file_read(arena_printf(arena, "%s/%s", folder, name).data, 1 << 20, arena, &bytes, NULL))
        return TEXT("");
    return bytes;
}

static bool write_item(const char *folder, const char *name, struct text bytes, struct arena *arena)
{
    FILE *file = fopen(arena_printf(arena, "%s/%s", folder, name).data, "w");
    return file != NULL && fwrite(bytes.data, 1, bytes.size, file) == bytes.size &&
           fclose(file) == 0;
}

static struct text *item_of(struct rotation_secret *secret, size_t i)
{
    return (struct text *)(void *)((char *)secret + rotation_items[i].offset);
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create(1 << 22);
    if (argc != 5 || arena == NULL)
        return 2;
    const char *const dns[] = {argv[4]};
    struct text published = read_item(argv[1], "published", arena);
    struct rotation_view view = {
        .names = {.dns = dns, .dns_count = 1},
        .published = &published,
        .published_count = 1,
        .published_for_s = atoll(argv[3]),
        .times = rotation_times_usual,
        .now_unix_s = atoll(argv[2]),
    };
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++)
        *item_of(&view.secret, i) = read_item(argv[1], rotation_items[i].key, arena);

    struct rotation_step step;
    struct error error;
    bool done = certs_rotate(&view, arena, &step, &error);
    if (!done)
        fprintf(stderr, "%s\n", error.what);
    if (done && step.write)
        for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++)
            done &= write_item(argv[1], rotation_items[i].key, *item_of(&step.secret, i), arena);
    else if (done && !step.published)
        done = write_item(argv[1], "published", step.bundle, arena);
    if (done)
        printf("%s: %.*s\n",
               step.write        ? "wrote"
               : !step.published ? "published"
                                 : "rests",
               TEXT_ARGS(step.what));
    arena_destroy(arena);
    return done ? 0 : 2;
}
