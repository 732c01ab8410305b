/* The class that a claim gets which names none. */
#include "kube/defaults.h"

#include "kube/object.h"
#include "kube/snapshot.h"

static bool is_default_class(const struct object *class)
{
    static const char *const annotations[] = {
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    };
    const struct node *written = node_at(class->root->node, "metadata.annotations");
    for (size_t i = 0; i < COUNT_OF(annotations); i++)
        if (text_is(node_string(node_get(written, annotations[i])), "true"))
            return true;
    return false;
}

/* If there are several, the newest, then the first by name. */
const struct object *default_storage_class(const struct snapshot *snapshot)
{
    const struct object *chosen = NULL;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_STORAGE_CLASS); i++) {
        const struct object *class = snapshot_object(snapshot, KIND_STORAGE_CLASS, i);
        if (is_default_class(class) &&
            (chosen == NULL || class->created_unix_s > chosen->created_unix_s))
            chosen = class;
    }
    return chosen;
}
