#include "cli/render.h"

/* A line of one of the files that begins like this is written anew, with its indentation. */
struct slot {
    const char *file; /* NULL: any */
    const char *prefix;
    struct text value;
    const char *suffix;
    bool replaces_block; /* the deeper lines after it go too */
};

static size_t indentation_of(struct text line)
{
    size_t count = 0;
    while (count < line.size && line.data[count] == ' ')
        count++;
    return count;
}

static const struct slot *slot_of(const struct slot *slots, const char *file, struct text line)
{
    for (const struct slot *slot = slots; slot->prefix != NULL; slot++)
        if ((slot->file == NULL || text_is(text_of(file), slot->file)) &&
            text_starts_with(line, text_of(slot->prefix)))
            return slot;
    return NULL;
}

static void fill(const struct render_text *file, const struct slot *slots,
                 struct text_builder *filled)
{
    struct text rest = text_of(file->text);
    size_t block_indentation = SIZE_MAX; /* of a block that is replaced */
    while (rest.size > 0) {
        struct text line = rest;
        struct text after = TEXT("");
        text_split(rest, '\n', &line, &after);
        rest = after;
        size_t indentation = indentation_of(line);
        if (indentation > block_indentation)
            continue;
        block_indentation = SIZE_MAX;
        struct text words = {line.data + indentation, line.size - indentation};
        const struct slot *slot = slot_of(slots, file->name, words);
        if (slot == NULL) {
            text_builder_printf(filled, "%.*s\n", TEXT_ARGS(line));
            continue;
        }
        text_builder_printf(filled, "%*s%s%.*s%s\n", (int)indentation, "", slot->prefix,
                            TEXT_ARGS(slot->value), slot->suffix);
        if (slot->replaces_block)
            block_indentation = indentation;
    }
}

struct text render_fill(const struct render_text *file, const struct render_values *values,
                        struct arena *arena)
{
    struct text namespace = render_word(values->namespace, arena);
    struct text ca_bundle = TEXT("");
    if (values->ca_bundle.size > 0)
        ca_bundle = arena_printf(arena, "\n      caBundle: %.*s", TEXT_ARGS(values->ca_bundle));
    const struct slot slots[] = {
        {"namespace.yaml", "name: ", namespace, "", false},
        {"deployment.yaml", "replicas: ", values->replicas, "", false},
        {"deployment.yaml", "image: ", render_word(values->image, arena), "", false},
        {"validating.yaml", "rules:", values->rules, "", true},
        {"mutating.yaml", "rules:", values->change_rules, "", true},
        {NULL, "clientConfig:", ca_bundle, "", false},
        {NULL, "values: [kube-system, kube-node-lease, kube-public, ", namespace, "]", false},
        {NULL, "namespace: ", namespace, "", false},
        {0},
    };
    struct text_builder filled = {.arena = arena};
    fill(file, slots, &filled);
    return text_builder_text(&filled);
}

struct text render_text_of(const char *name)
{
    const struct render_text *file = render_texts;
    while (!text_is(text_of(name), file->name))
        file++;
    return text_of(file->text);
}

/* ---- scalars ---- */

/* Other words could be read as a number, a boolean or null. The names and images written here hold
 * no character that ends a plain scalar. */
static bool stays_a_string(struct text word)
{
    static const char *const others[] = {"true", "false", "yes", "no", "on",
                                         "off",  "null",  "y",   "n",  NULL};
    for (const char *const *other = others; *other != NULL; other++)
        if (text_is(word, *other))
            return false;
    return word.size > 0 && word.data[0] >= 'a' && word.data[0] <= 'z';
}

struct text render_word(struct text word, struct arena *arena)
{
    return stays_a_string(word) ? word : arena_printf(arena, "\"%.*s\"", TEXT_ARGS(word));
}
