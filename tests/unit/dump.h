/* Writes a tree as text, to compare trees: null true 12 "string" [1,2] {"key":1}; bytes that are
 * not printable ASCII are \xNN. */
#ifndef TAFFRAIL_UNIT_DUMP_H
#define TAFFRAIL_UNIT_DUMP_H

#include "base/base.h"

static inline void dump_string(struct text_builder *out, struct text t)
{
    text_builder_add(out, TEXT("\""));
    for (size_t i = 0; i < t.size; i++) {
        unsigned char c = (unsigned char)t.data[i];
        if (c < 0x20 || c > 0x7E)
            text_builder_printf(out, "\\x%02X", c);
        else
            text_builder_add(out, (struct text){t.data + i, 1});
    }
    text_builder_add(out, TEXT("\""));
}

static inline void dump_node(struct text_builder *out, const struct node *node)
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
        dump_string(out, node_text(node));
        break;
    case NODE_LIST:
        text_builder_add(out, TEXT("["));
        for (size_t i = 0; i < node_count(node); i++) {
            text_builder_add(out, i == 0 ? TEXT("") : TEXT(","));
            dump_node(out, node_item(node, i));
        }
        text_builder_add(out, TEXT("]"));
        break;
    case NODE_MAP:
        text_builder_add(out, TEXT("{"));
        for (size_t i = 0; i < node_count(node); i++) {
            text_builder_add(out, i == 0 ? TEXT("") : TEXT(","));
            const struct member *member = &node->members[i];
            dump_string(out, member_key(member));
            text_builder_add(out, TEXT(":"));
            dump_node(out, &member->value);
        }
        text_builder_add(out, TEXT("}"));
        break;
    }
}

static inline struct text dump(struct arena *arena, const struct node *node)
{
    struct text_builder out = {.arena = arena};
    dump_node(&out, node);
    return text_builder_text(&out);
}

#endif
