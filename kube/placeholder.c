/* Values of templates that nobody has filled in yet. */
#include "kube/placeholder.h"

#include <limits.h>
#include <string.h>

/* Most values hold the beginning of no mark: they are told by one look at each byte. */
static bool may_hold_mark(struct text value)
{
    static const bool begins[UCHAR_MAX + 1] = {['$'] = true, ['{'] = true, ['<'] = true};
    for (size_t i = 0; i < value.size; i++)
        if (begins[(unsigned char)value.data[i]])
            return true;
    return false;
}

bool text_has_placeholder(struct text value)
{
    static const struct {
        const char *open, *close;
    } marks[] = {{"${", "}"}, {"$(", ")"}, {"{{", "}}"}, {"<<", ">>"}};
    if (!may_hold_mark(value))
        return false;
    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        const char *open = memmem(value.data, value.size, marks[i].open, 2);
        if (open != NULL && memmem(open, (size_t)(value.data + value.size - open), marks[i].close,
                                   strlen(marks[i].close)) != NULL)
            return true;
    }
    return false;
}

bool text_is_capitals(struct text value)
{
    enum { SHORTEST = 3 };
    for (size_t i = 0; i < value.size; i++)
        if ((value.data[i] < 'A' || value.data[i] > 'Z') && value.data[i] != '_')
            return false;
    return value.size >= SHORTEST;
}

bool node_has_placeholder(const struct node *node)
{
    if (node_is(node, NODE_MAP)) {
        for (size_t i = 0; i < node_count(node); i++)
            if (node_has_placeholder(&node->members[i].value))
                return true;
        return false;
    }
    FOR_ITEMS(item, node)
        if (node_has_placeholder(item))
            return true;
    return text_has_placeholder(node_string(node));
}

static bool is_named(const char *const *names, struct text name)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (text_is(name, names[i]))
            return true;
    return false;
}

/* Fields are made on the way down alone. */
const struct field *field_placeholder(struct arena *arena, const struct field *field,
                                      const char *const *but)
{
    static const char *const none[] = {NULL};
    const struct node *node = field->node;
    bool is_map = node_is(node, NODE_MAP);
    if (!is_map && !node_is(node, NODE_LIST))
        return text_has_placeholder(node_string(node)) ? field : NULL;
    for (size_t i = 0; i < node_count(node); i++) {
        if (is_map && is_named(but, member_key(&node->members[i])))
            continue;
        if (node_has_placeholder(is_map ? &node->members[i].value : &node->items[i]))
            return field_placeholder(
                arena, field_child(arena, field, is_map ? NODE_MAP : NODE_LIST, i), none);
    }
    return NULL;
}
