/* The pod template of a workload. */
#include "kube/object.h"
#include "kube/pod.h"

bool workload_read(const struct object *object, struct arena *arena, struct workload *workload)
{
    if (object->kind == KIND_CUSTOM) {
        *workload = (struct workload){object, object->template->metadata, object->template->spec};
        return true;
    }
    const char *path = kind_table[object->kind].pod_template;
    if (path == NULL)
        return false;
    const struct field *template =
        path[0] == '\0' ? object->root : field_at(arena, object->root, path);
    *workload = (struct workload){
        .object = object,
        .metadata = field_get(arena, template, "metadata"),
        .spec = field_get(arena, template, "spec"),
    };
    return true;
}
