#include "server/patch.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

/* Numbers in changes are our own, or the user's where a whole list is written anew. */
static struct json_object *json_of_number(struct text t)
{
    enum { DIGITS_MAX = 64 };
    char digits[DIGITS_MAX] = "";
    int64_t integer;
    if (text_to_int64(t, &integer))
        return json_object_new_int64(integer);
    memcpy(digits, t.data, t.size < DIGITS_MAX - 1 ? t.size : DIGITS_MAX - 1);
    return json_object_new_double_s(strtod(digits, NULL), digits);
}

/* The depth is that of a tree that was read under limits, or of our own making. */
static struct json_object *json_of_node(const struct node *node)
{
    struct json_object *made = NULL;
    switch ((enum node_kind)node->kind) {
    case NODE_NULL:
        break;
    case NODE_BOOL:
        made = json_object_new_boolean(node_true(node));
        break;
    case NODE_NUMBER:
        made = json_of_number(node_text(node));
        break;
    case NODE_STRING:
        made = json_object_new_string_len(node->size == 0 ? "" : node->bytes, (int)node->size);
        break;
    case NODE_LIST:
        made = json_object_new_array();
        for (size_t i = 0; i < node->size; i++)
            json_object_array_add(made, json_of_node(&node->items[i]));
        break;
    case NODE_MAP:
        made = json_object_new_object();
        for (size_t i = 0; i < node->size; i++) {
            const struct member *member = &node->members[i];
            char *key = text_duplicate((struct text){member->key, member->key_size});
            if (key != NULL)
                json_object_object_add(made, key, json_of_node(&member->value));
            free(key);
        }
        break;
    }
    return made;
}

static struct json_object *json_of_change(const struct change *change)
{
    struct json_object *operation = json_object_new_object();
    json_object_object_add(operation, "op", json_object_new_string(change_op_name(change->op)));
    json_object_object_add(operation, "path", json_of_text(change->path));
    if (change->value != NULL)
        json_object_object_add(operation, "value", json_of_node(change->value));
    return operation;
}

bool patch_print(const struct change *changes, size_t count, struct arena *arena,
                 struct text *encoded, struct error *error)
{
    struct text printed;
    struct json_object *patch = json_object_new_array();
    for (size_t i = 0; i < count; i++)
        json_object_array_add(patch, json_of_change(&changes[i]));
    if (!json_print(patch, false, arena, &printed, error))
        return false;
    *encoded = text_base64(printed, arena);
    return true;
}
