#include "server/patch.h"

#include <json-c/json.h>

#include "report/report.h"

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
