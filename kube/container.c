/* Containers, their requests and limits, with the defaults of LimitRanges applied. */
#include "kube/container.h"

#include "kube/limit_range.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/quantity.h"

bool container_is_sidecar(const struct node *init_container)
{
    return text_is(node_string(node_get(init_container, "restartPolicy")), "Always");
}

void containers_read(const struct workload *workload, struct arena *arena,
                     struct containers *containers)
{
    static const struct {
        const char *key;
        bool init;
    } lists[] = {{"containers", false}, {"initContainers", true}};
    *containers = (struct containers){0};
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        const struct field *list = field_get(arena, workload->spec, lists[i].key);
        FOR_FIELDS(field, arena, list) {
            if (node_is(field->node, NODE_MAP))
                *LIST_PUSH(arena, containers) = (struct container){
                    .field = field,
                    .name = node_string(node_get(field->node, "name")),
                    .init = lists[i].init,
                };
        }
    }
}

/* In thousandths; a value that is too large becomes the largest. */
static bool parse(struct text t, int64_t *milli)
{
    enum { EXA = -18 };
    int64_t exa = 0;
    if (!quantity_milli(t, milli)) {
        if (!quantity_scaled(t, EXA, &exa))
            return false;
        *milli = exa < 0 ? -1 : INT64_MAX;
    }
    return *milli >= 0;
}

static void take(struct amount *amount, const struct node *node)
{
    amount->given = true;
    amount->text = node_text(node);
    amount->valid = parse(amount->text, &amount->milli);
}

void amount_read(const struct field *field, struct amount *amount)
{
    *amount = (struct amount){.field = field};
    if (field->node == NULL || node_is(field->node, NODE_NULL))
        return;
    amount->written = true;
    take(amount, field->node);
}

/* A default; node NULL: none. */
static void take_default(struct amount *amount, const struct node *node, const struct object *by)
{
    amount->limit_range = by;
    if (node != NULL)
        take(amount, node);
}

static const struct limit_default *default_of(const struct snapshot *snapshot,
                                              const struct workload *workload, struct text resource,
                                              struct arena *arena, struct limit_defaults *defaults)
{
    static const struct limit_default none;
    if (!defaults->read)
        limit_defaults_read(snapshot, workload->object->namespace, arena, defaults);
    const struct limit_default *found = limit_defaults_find(defaults, resource);
    return found == NULL ? &none : found;
}

void container_amounts(const struct snapshot *snapshot, const struct workload *workload,
                       const struct field *container, struct text resource, struct arena *arena,
                       struct limit_defaults *defaults, struct amount *request,
                       struct amount *limit)
{
    const struct field *resources = field_get(arena, container, "resources");
    const struct field *requests = field_get(arena, resources, "requests");
    const struct field *limits = field_get(arena, resources, "limits");
    amount_read(field_member(arena, requests, resource), request);
    amount_read(field_member(arena, limits, resource), limit);
    bool limited = limit->written;
    bool takes_defaults = container != workload->spec;
    const struct limit_default *given = NULL;
    if (takes_defaults && (!limited || !request->written))
        given = default_of(snapshot, workload, resource, arena, defaults);
    if (!limited && takes_defaults)
        take_default(limit, given->limit, given->limit_by);
    if (request->written)
        return;
    if (limited) {
        request->given = true;
        request->valid = limit->valid;
        request->text = limit->text;
        request->milli = limit->milli;
    } else if (takes_defaults) {
        take_default(request, given->request, given->request_by);
    }
}
