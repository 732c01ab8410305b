/* Trees written down again, as JSON without a space. */
#include "base/base.h"

static void add_string(struct text_builder *out, struct text t)
{
    text_builder_add(out, TEXT("\""));
    size_t start = 0;
    for (size_t i = 0; i < t.size; i++) {
        unsigned char byte = (unsigned char)t.data[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        text_builder_add(out, (struct text){t.data + start, i - start});
        text_builder_printf(out, "\\u%04x", byte);
        start = i + 1;
    }
    if (start < t.size)
        text_builder_add(out, (struct text){t.data + start, t.size - start});
    text_builder_add(out, TEXT("\""));
}

static void add_node(struct text_builder *out, const struct node *node)
{
    switch ((enum node_kind)node->kind) {
    case NODE_NULL:
        text_builder_add(out, TEXT("null"));
        break;
    case NODE_BOOL:
    case NODE_NUMBER:
        text_builder_add(out, node_text(node));
        break;
    case NODE_STRING:
        add_string(out, node_string(node));
        break;
    case NODE_LIST:
        for (size_t i = 0; i < node->size; i++) {
            text_builder_add(out, i == 0 ? TEXT("[") : TEXT(","));
            add_node(out, &node->items[i]);
        }
        text_builder_add(out, node->size == 0 ? TEXT("[]") : TEXT("]"));
        break;
    case NODE_MAP:
        for (size_t i = 0; i < node->size; i++) {
            const struct member *member = &node->members[i];
            text_builder_add(out, i == 0 ? TEXT("{") : TEXT(","));
            add_string(out, (struct text){member->key, member->key_size});
            text_builder_add(out, TEXT(":"));
            add_node(out, &member->value);
        }
        text_builder_add(out, node->size == 0 ? TEXT("{}") : TEXT("}"));
        break;
    }
}

struct text node_json(const struct node *node, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    add_node(&out, node);
    return text_builder_text(&out);
}
