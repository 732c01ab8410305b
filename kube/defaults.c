#include "kube/kube.h"

/* ---- fields ---- */

static const struct {
    enum kind kind;
    const char *path;
    const char *value;
} field_defaults[] = {
    {KIND_STORAGE_CLASS, "volumeBindingMode", "Immediate"},
};

struct text default_string(const struct object *object, const char *path)
{
    struct text written = node_string(node_at(object->root->node, path));
    if (written.size > 0)
        return written;
    for (size_t i = 0; i < COUNT_OF(field_defaults); i++)
        if (field_defaults[i].kind == object->kind &&
            text_is(text_of(field_defaults[i].path), path))
            return text_of(field_defaults[i].value);
    return TEXT("");
}

/* ---- the default StorageClass ---- */

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

/* Of several the newest, then the first by name. */
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

/* ---- LimitRanges ---- */

/* Where an item of type Container keeps a default, in the order in which one stands in for the
 * other. */
static const char *const limit_sources[] = {"default", "max", NULL};
static const char *const request_sources[] = {"defaultRequest", "default", "max", "min", NULL};

static const struct node *item_default(const struct node *item, struct text resource,
                                       const char *const *sources)
{
    if (!text_is(node_string(node_get(item, "type")), "Container"))
        return NULL;
    for (; *sources != NULL; sources++) {
        const struct node *quantity = node_member(node_get(item, *sources), resource);
        if (quantity != NULL && !node_is(quantity, NODE_NULL))
            return quantity;
    }
    return NULL;
}

/* LimitRanges are sorted by namespace. */
static size_t first_limit_range(const struct snapshot *snapshot, struct text namespace)
{
    size_t low = 0;
    size_t high = snapshot_count(snapshot, KIND_LIMIT_RANGE);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct object *range = snapshot_object(snapshot, KIND_LIMIT_RANGE, middle);
        if (text_compare(range->namespace, namespace) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first LimitRange that says something fills it in; by name, as the API server's own order is
 * chance. */
static const struct node *namespace_default(const struct snapshot *snapshot, struct text namespace,
                                            struct text resource, const char *const *sources,
                                            const struct object **limit_range)
{
    size_t count = snapshot_count(snapshot, KIND_LIMIT_RANGE);
    for (size_t i = first_limit_range(snapshot, namespace); i < count; i++) {
        const struct object *range = snapshot_object(snapshot, KIND_LIMIT_RANGE, i);
        if (!text_equal(range->namespace, namespace))
            break;
        const struct node *items = node_at(range->root->node, "spec.limits");
        for (size_t j = 0; node_is(items, NODE_LIST) && j < node_count(items); j++) {
            const struct node *quantity = item_default(node_item(items, j), resource, sources);
            if (quantity == NULL)
                continue;
            *limit_range = range;
            return quantity;
        }
    }
    return NULL;
}

const struct node *default_limit(const struct snapshot *snapshot, struct text namespace,
                                 struct text resource, const struct object **limit_range)
{
    return namespace_default(snapshot, namespace, resource, limit_sources, limit_range);
}

const struct node *default_request(const struct snapshot *snapshot, struct text namespace,
                                   struct text resource, const struct object **limit_range)
{
    return namespace_default(snapshot, namespace, resource, request_sources, limit_range);
}
