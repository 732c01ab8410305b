/* Writes changes as a JSON patch. */
#include "server/patch.h"

static void add_value(struct text_builder *out, const struct node *value)
{
    if (value == NULL)
        return;
    json_write_key(out, "value");
    json_write_node(out, value);
}

static void add_change(struct text_builder *out, const struct patch_op *change)
{
    text_builder_add(out, TEXT("{"));
    json_write_member(out, "op", text_of(patch_verb_name(change->op)));
    json_write_member(out, "path", change->path);
    add_value(out, change->value);
    text_builder_add(out, TEXT("}"));
}

struct text patch_print(const struct patch_op *changes, size_t count, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    text_builder_add(&out, TEXT("["));
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_builder_add(&out, TEXT(","));
        add_change(&out, &changes[i]);
    }
    text_builder_add(&out, TEXT("]"));
    return text_base64(text_builder_text(&out), arena);
}
