/* RFC 6902 applied to a tree. */
#include "base/doc_internal.h"

/* The tree never changes: nodes on the path to a change are made anew, all others are shared. There
 * is no `move` and no `copy`, because nothing here needs them. */

const char *patch_verb_name(enum patch_verb op)
{
    static const char *const names[] = {
        [PATCH_ADD] = "add",
        [PATCH_REMOVE] = "remove",
        [PATCH_REPLACE] = "replace",
        [PATCH_TEST] = "test",
    };
    return names[op];
}

/* ---- pointers ---- */

struct patching {
    const struct patch_op *change;
    struct arena *arena;
    struct error *error;
};

static bool refuse(const struct patching *patching, const char *why)
{
    enum { PATH_SHOWN = 200 };
    struct text path = patching->change->path;
    return error_set(patching->error, ERROR_INPUT, NOWHERE, "%s \"%.*s\": %s",
                     patch_verb_name(patching->change->op),
                     (int)(path.size < PATH_SHOWN ? path.size : PATH_SHOWN), path.data, why);
}

/* Removes the first token from a pointer that is not empty. */
static bool take_token(const struct patching *patching, struct text *pointer, struct text *token)
{
    if (pointer->data[0] != '/')
        return refuse(patching, "a JSON pointer begins with /");
    struct text rest = {pointer->data + 1, pointer->size - 1};
    const char *end = rest.size == 0 ? NULL : memchr(rest.data, '/', rest.size);
    struct text raw = {rest.data, end == NULL ? rest.size : (size_t)(end - rest.data)};
    *pointer = (struct text){raw.data + raw.size, rest.size - raw.size};
    *token = raw;
    if (raw.size == 0 || memchr(raw.data, '~', raw.size) == NULL)
        return true;
    char *plain = ARENA_ARRAY(patching->arena, raw.size, char);
    size_t size = 0;
    for (size_t i = 0; i < raw.size; i++) {
        char c = raw.data[i];
        if (c == '~') {
            char escaped = ++i < raw.size ? raw.data[i] : '\0';
            if (escaped != '0' && escaped != '1')
                return refuse(patching, "after ~ stands neither 0 nor 1");
            c = escaped == '0' ? '~' : '/';
        }
        plain[size++] = c;
    }
    *token = (struct text){plain, size};
    return true;
}

/* Digits without a leading zero, below limit. */
static bool read_index(struct text token, size_t limit, size_t *index)
{
    int64_t value;
    if (token.size == 0 || (token.size > 1 && token.data[0] == '0'))
        return false;
    for (size_t i = 0; i < token.size; i++)
        if (token.data[i] < '0' || token.data[i] > '9')
            return false;
    if (!text_to_int64(token, &value) || (uint64_t)value >= limit)
        return false;
    *index = (size_t)value;
    return true;
}

/* The index that a token leads to; the node's count: a new one at the end. */
static bool find_place(const struct patching *patching, const struct node *node, struct text token,
                       bool adds, size_t *place)
{
    size_t count = node_count(node);
    if (node_is(node, NODE_MAP)) {
        for (*place = 0; *place < count; ++*place) {
            const struct member *member = &node->members[*place];
            if (text_equal(member_key(member), token))
                return true;
        }
        return adds || refuse(patching, "a key of the path is not there");
    }
    if (!node_is(node, NODE_LIST))
        return refuse(patching, "the path goes through what is neither a map nor a list");
    if (adds && text_is(token, "-")) {
        *place = count;
        return true;
    }
    return read_index(token, count + adds, place) || refuse(patching, "no such index in the list");
}

static const struct node *child_at(const struct node *node, size_t place)
{
    return node_is(node, NODE_MAP) ? &node->members[place].value : &node->items[place];
}

/* ---- a new map or list ---- */

static struct node map_with(const struct patching *patching, const struct node *map, size_t place,
                            struct text key, const struct node *value)
{
    bool is_new = place == map->size;
    struct member *members =
        ARENA_ARRAY(patching->arena, (size_t)map->size + is_new, struct member);
    if (map->size > 0)
        memcpy(members, map->members, map->size * sizeof *members);
    if (is_new)
        members[place] = member_of(key, *value);
    else
        members[place].value = *value;
    struct node made = *map;
    made.members = members;
    made.indexed = false;
    made.size = (map->size + is_new) & DOC_BYTES_MAX;
    return made;
}

/* With value before the item at the place, or instead of it. */
static struct node list_with(const struct patching *patching, const struct node *list, size_t place,
                             bool inserts, const struct node *value)
{
    struct node *items = ARENA_ARRAY(patching->arena, (size_t)list->size + inserts, struct node);
    if (place > 0)
        memcpy(items, list->items, place * sizeof *items);
    items[place] = *value;
    size_t next = place + !inserts;
    if (next < list->size)
        memcpy(items + place + 1, list->items + next, (list->size - next) * sizeof *items);
    struct node made = *list;
    made.items = items;
    made.size = (list->size + inserts) & DOC_BYTES_MAX;
    return made;
}

static struct node without(const struct patching *patching, const struct node *node, size_t place)
{
    bool is_map = node_is(node, NODE_MAP);
    size_t size = is_map ? sizeof(struct member) : sizeof(struct node);
    const char *from = is_map ? (const char *)node->members : (const char *)node->items;
    char *to = arena_array(patching->arena, node->size, size);
    memcpy(to, from, place * size);
    memcpy(to + place * size, from + (place + 1) * size, (node->size - place - 1) * size);
    struct node made = *node;
    if (is_map)
        made.members = (const struct member *)(const void *)to;
    else
        made.items = (const struct node *)(const void *)to;
    made.indexed = false;
    made.size = (node->size - 1) & DOC_BYTES_MAX;
    return made;
}

/* ---- one change ---- */

static bool apply_test(const struct patching *patching, const struct node *node)
{
    struct text pointer = patching->change->path;
    while (pointer.size > 0) {
        struct text token = TEXT("");
        size_t place = 0;
        if (!take_token(patching, &pointer, &token) ||
            !find_place(patching, node, token, false, &place))
            return false;
        node = child_at(node, place);
    }
    return node_equal(node, patching->change->value) ||
           refuse(patching, "another value stands there");
}

/* The node after the change at a pointer below it. */
static bool apply_below(const struct patching *patching, const struct node *node,
                        struct text pointer, struct node *made)
{
    enum patch_verb op = patching->change->op;
    struct text token = TEXT("");
    size_t place = 0;
    if (!take_token(patching, &pointer, &token))
        return false;
    bool is_last = pointer.size == 0;
    if (!find_place(patching, node, token, is_last && op == PATCH_ADD, &place))
        return false;
    if (is_last && op == PATCH_REMOVE) {
        *made = without(patching, node, place);
        return true;
    }
    struct node value;
    if (is_last)
        value = *patching->change->value;
    else if (!apply_below(patching, child_at(node, place), pointer, &value))
        return false;
    if (node_is(node, NODE_MAP))
        *made = map_with(patching, node, place, token, &value);
    else
        *made = list_with(patching, node, place, is_last && op == PATCH_ADD, &value);
    return true;
}

static bool apply(const struct patching *patching, struct node *root)
{
    const struct patch_op *change = patching->change;
    struct node made;
    if (change->op != PATCH_REMOVE && change->value == NULL)
        return refuse(patching, "the value is missing");
    if (change->op == PATCH_TEST)
        return apply_test(patching, root);
    if (change->path.size > 0) {
        if (!apply_below(patching, root, change->path, &made))
            return false;
        *root = made;
        return true;
    }
    if (change->op == PATCH_REMOVE)
        return refuse(patching, "nothing would be left");
    *root = *change->value;
    return true;
}

bool doc_patch(const struct node *root, const struct patch_op *operations, size_t count,
               struct arena *arena, const struct node **patched, struct error *error)
{
    struct node *made = ARENA_NEW(arena, struct node);
    *made = *root;
    for (size_t i = 0; i < count; i++) {
        struct patching patching = {.change = &operations[i], .arena = arena, .error = error};
        if (!apply(&patching, made))
            return false;
    }
    *patched = made;
    return true;
}
