/* Pod templates in custom resources, as policies name them. */
#include "policy/pod_templates.h"

#include <string.h>

#include "kube/label.h"

const struct key pod_template_keys[] = {
    {.name = "group",
     .type = KEY_STRING,
     .offset = offsetof(struct templated_kind, group),
     .summary =
         "the API group of the custom resource, such as ray.io; every version of it is meant",
     .maximum = 253,
     .required = true},
    {.name = "kind",
     .type = KEY_STRING,
     .offset = offsetof(struct templated_kind, kind),
     .summary = "its kind, such as RayCluster",
     .maximum = 63,
     .required = true},
    {.name = "resource",
     .type = KEY_STRING,
     .offset = offsetof(struct templated_kind, resource),
     .summary = "its plural, which the webhook's rules name; absent: the kind in lower case and "
                "an s, as in rayclusters",
     .maximum = 63},
    {.name = "paths",
     .type = KEY_PATHS,
     .offset = offsetof(struct templated_kind, templates),
     .summary = "where its pod templates are, which have metadata and spec as a Deployment's "
                "spec.template has; one that is not there in an object is passed over",
     .minimum = 1},
    {.name = "podSpecs",
     .type = KEY_PATHS,
     .offset = offsetof(struct templated_kind, specs),
     .summary = "where it has parts of a pod's spec that its controller completes, as spec.driver "
                "of a SparkApplication has nodeSelector and tolerations; what containers ask for "
                "is not judged there",
     .minimum = 1},
    {.name = "controllers",
     .type = KEY_ACCOUNTS,
     .offset = offsetof(struct templated_kind, controllers),
     .summary = "the service accounts that make its Pods, as in ray-system/kuberay-operator: of a "
                "Pod that one of them makes the name is the custom resource's, in match and in "
                "exceptions; absent: the Pod's own, as whoever makes a Pod may write an owner down",
     .minimum = 1},
    {0},
};

/* ---- loading ---- */

bool kind_name_is_valid(struct text t)
{
    for (size_t i = 0; i < t.size; i++) {
        char c = t.data[i];
        bool upper = c >= 'A' && c <= 'Z';
        if (!upper && (i == 0 || !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))))
            return false;
    }
    return t.size > 0;
}

static bool is_known(const struct templated_kind *item)
{
    enum kind kind = kind_by_name(item->kind);
    return kind != KIND_UNKNOWN && text_is(item->group, kind_table[kind].group);
}

/* What stands at a key of an item is not what it should be. */
static bool refuse(const struct schema *schema, const struct field *item, const char *key,
                   struct text wanted)
{
    return schema_refuse(schema, field_get(schema->arena, item, key), wanted, TEXT(""));
}

static bool check_names(const struct schema *schema, const struct field *item,
                        const struct templated_kind *kind)
{
    bool good = true;
    /* A key that was refused is empty. */
    if (kind->kind.size > 0 && is_known(kind)) {
        const struct field *field = field_get(schema->arena, item, "kind");
        return schema_problem(schema, field, field->node->offset,
                              "found \"%.*s\", which is judged without being named here: take the "
                              "entry out; podTemplates are for custom resources",
                              TEXT_ARGS(kind->kind));
    }
    /* Groups of custom resources have a dot; those without one are Kubernetes' own. */
    if (kind->group.size > 0 &&
        (!domain_is_valid(kind->group) || !text_split(kind->group, '.', NULL, NULL)))
        good = refuse(schema, item, "group",
                      TEXT("the API group of a custom resource without its version, such as "
                           "ray.io"));
    if (kind->kind.size > 0 && !kind_name_is_valid(kind->kind))
        good =
            refuse(schema, item, "kind", TEXT("a kind as manifests name it, such as RayCluster"));
    return resource_check(schema, item, kind->resource) && good;
}

bool resource_check(const struct schema *schema, const struct field *item, struct text resource)
{
    if (resource.size == 0 || (domain_is_valid(resource) && !text_split(resource, '.', NULL, NULL)))
        return true;
    return refuse(schema, item, "resource",
                  TEXT("a plural in small letters, as kubectl api-resources names it, such as "
                       "rayclusters"));
}

struct text usual_resource(struct text kind, struct arena *arena)
{
    char *plural = ARENA_ARRAY(arena, kind.size + 2, char);
    for (size_t i = 0; i < kind.size; i++)
        plural[i] =
            (char)(kind.data[i] >= 'A' && kind.data[i] <= 'Z' ? kind.data[i] | 0x20 : kind.data[i]);
    plural[kind.size] = 's';
    return (struct text){plural, kind.size + 1};
}

/* The steps of a path that the table has checked. */
static struct template_path read_path(struct text written, bool of_spec, struct arena *arena)
{
    const struct text each = TEXT("[*]");
    LIST(struct template_step) steps = {0};
    struct text rest = written;
    for (bool more = true; more;) {
        struct text part = rest;
        more = text_split(rest, '.', &part, &rest);
        bool of_items = text_ends_with(part, each);
        if (of_items)
            part.size -= each.size;
        *LIST_PUSH(arena, &steps) = (struct template_step){part, of_items};
    }
    return (struct template_path){steps.items, steps.count, of_spec};
}

/* Whether they lead to the same spec. Paths of templates stand before those of specs. */
static bool same_place(struct text path, bool of_spec, struct text before, bool before_of_spec)
{
    const struct text spec = TEXT(".spec");
    if (of_spec == before_of_spec)
        return text_equal(path, before);
    return path.size == before.size + spec.size && text_starts_with(path, before) &&
           text_ends_with(path, spec);
}

static bool check_paths(const struct schema *schema, const struct field *item,
                        struct templated_kind *kind)
{
    struct arena *arena = schema->arena;
    size_t of_templates = kind->templates.count;
    size_t count = of_templates + kind->specs.count;
    if (count == 0 && node_get(item->node, "paths") == NULL &&
        node_get(item->node, "podSpecs") == NULL)
        return schema_problem(schema, item, item->node->offset,
                              "`paths` is missing, expected where its pod templates are, such as "
                              "[spec.template]; or `podSpecs`");
    struct template_path *paths = ARENA_ARRAY(arena, count, struct template_path);
    struct text *written = ARENA_ARRAY(arena, count, struct text);
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        bool of_spec = i >= of_templates;
        size_t at = of_spec ? i - of_templates : i;
        const struct key_strings *list = of_spec ? &kind->specs : &kind->templates;
        written[i] = list->items[at];
        paths[i] = read_path(written[i], of_spec, arena);
        for (size_t j = 0; j < i; j++) {
            if (!same_place(written[i], of_spec, written[j], j >= of_templates))
                continue;
            const char *key = of_spec ? "podSpecs" : "paths";
            const struct field *field = field_item(arena, field_get(arena, item, key), at);
            good = schema_problem(schema, field, list->nodes[at]->offset,
                                  "found \"%.*s\", where \"%.*s\" leads already: take one of them "
                                  "out",
                                  TEXT_ARGS(written[i]), TEXT_ARGS(written[j]));
            break;
        }
    }
    kind->paths = paths;
    kind->path_count = count;
    return good;
}

static bool same_kind(const struct templated_kind *a, const struct templated_kind *b)
{
    return text_equal(a->group, b->group) && text_equal(a->kind, b->kind);
}

bool pod_templates_check(const struct schema *schema, const struct field *spec,
                         struct templated_kind *items, size_t count)
{
    struct arena *arena = schema->arena;
    const struct field *list = field_get(arena, spec, "podTemplates");
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const struct field *item = field_item(arena, list, i);
        if (!node_is(item->node, NODE_MAP))
            continue;
        good = check_names(schema, item, &items[i]) && good;
        good = check_paths(schema, item, &items[i]) && good;
        if (items[i].resource.size == 0)
            items[i].resource = usual_resource(items[i].kind, arena);
        for (size_t j = 0; j < i && items[i].kind.size > 0; j++) {
            if (!same_kind(&items[i], &items[j]))
                continue;
            const struct field *field = field_get(arena, item, "kind");
            good = schema_problem(schema, field, field->node->offset,
                                  "found \"%.*s\" of %.*s, which spec.podTemplates[%zu] has "
                                  "already: put all of its paths there",
                                  TEXT_ARGS(items[i].kind), TEXT_ARGS(items[i].group), j);
            break;
        }
    }
    return good;
}

static struct text full_name(const struct templated_kind *kind, struct arena *arena)
{
    return arena_printf(arena, "%.*s.%.*s", TEXT_ARGS(kind->kind), TEXT_ARGS(kind->group));
}

bool custom_kinds_check(const struct schema *schema, const struct field *match,
                        const struct key_kinds *kinds, const struct templated_kind *items,
                        size_t count)
{
    struct arena *arena = schema->arena;
    struct text *names = ARENA_ARRAY(arena, count, struct text);
    for (size_t i = 0; i < count; i++)
        names[i] = full_name(&items[i], arena);
    bool good = true;
    for (size_t i = 0; i < kinds->custom.count; i++) {
        struct text name = kinds->custom.items[i];
        if (texts_have(names, count, name))
            continue;
        struct text near = schema_nearest(arena, name, names, count);
        const struct node *node = kinds->custom.nodes[i];
        good = schema_problem(
            schema, field_get(arena, match, "kinds"), node->offset,
            "found %.*s, which podTemplates of this policy do not name%.*s%s they name: %.*s",
            TEXT_ARGS(schema_found(schema, node)), TEXT_ARGS(near), near.size > 0 ? "" : ";",
            TEXT_ARGS(count == 0 ? TEXT("none") : schema_join(arena, names, count)));
    }
    return good;
}

/* ---- finding templates ---- */

const struct templated_kind *templated_kind_find(const struct policy *policy,
                                                 struct text api_version, struct text kind)
{
    struct text group = TEXT("");
    text_split(api_version, '/', &group, NULL);
    for (size_t i = 0; i < policy->templated_count; i++)
        if (text_equal(policy->templated[i].kind, kind) &&
            text_equal(policy->templated[i].group, group))
            return &policy->templated[i];
    return NULL;
}

struct search {
    struct arena *arena;
    const struct object *object;
    const struct template_path *path;
    LIST(struct object) views;
    bool cut;
};

static bool is_of_containers(const struct member *member)
{
    return TEXT_IS_ONE_OF(member_key(member), "containers", "initContainers");
}

/* The controller completes the containers: no rail is to judge them by halves. */
static const struct field *without_containers(const struct field *field, struct arena *arena)
{
    struct node *node = ARENA_NEW(arena, struct node);
    struct member *members = ARENA_ARRAY(arena, field->node->size, struct member);
    size_t count = 0;
    for (size_t i = 0; i < field->node->size; i++)
        if (!is_of_containers(&field->node->members[i]))
            members[count++] = field->node->members[i];
    *node = node_of_members(members, count);
    node->offset = field->node->offset;
    struct field *rest = ARENA_NEW(arena, struct field);
    *rest = *field;
    rest->node = node;
    return rest;
}

/* Beside the spec, as in a template, or in it; else labels and annotations stand in it themselves.
 * What the custom resource itself is called says nothing of its pods. */
static const struct field *metadata_of(const struct field *spec, struct arena *arena)
{
    const struct field *inside = field_get(arena, spec, "metadata");
    if (node_is(inside->node, NODE_MAP))
        return inside;
    bool beside = text_is(spec->key, "spec") && spec->parent->parent != NULL;
    return beside ? field_get(arena, spec->parent, "metadata") : spec;
}

static void add_view(struct search *search, const struct field *field)
{
    struct arena *arena = search->arena;
    search->cut = search->views.count == TEMPLATES_MAX;
    if (search->cut)
        return;
    struct pod_template *template = ARENA_NEW(arena, struct pod_template);
    if (search->path->of_spec) {
        template->spec = without_containers(field, arena);
        template->metadata = metadata_of(template->spec, arena);
    } else {
        template->spec = field_get(arena, field, "spec");
        template->metadata = field_get(arena, field, "metadata");
    }
    struct object *view = LIST_PUSH(arena, &search->views);
    *view = *search->object;
    view->kind = KIND_CUSTOM;
    view->template = template;
}

/* What is of another kind than the path says is for the API server to refuse. */
static void descend(struct search *search, const struct field *field, size_t step)
{
    if (!node_is(field->node, NODE_MAP) || search->cut)
        return;
    if (step == search->path->count) {
        add_view(search, field);
        return;
    }
    const struct template_step *next = &search->path->steps[step];
    const struct field *below = field_member(search->arena, field, next->key);
    if (!next->each) {
        descend(search, below, step + 1);
        return;
    }
    FOR_FIELDS(item, search->arena, below)
        descend(search, item, step + 1);
}

struct views pod_templates_read(const struct templated_kind *kind, const struct object *object,
                                struct arena *arena)
{
    struct search search = {.arena = arena, .object = object};
    for (size_t i = 0; i < kind->path_count; i++) {
        search.path = &kind->paths[i];
        descend(&search, object->root, 0);
    }
    return (struct views){search.views.items, search.views.count, search.cut};
}

/* ---- what the webhook is to be sent ---- */

bool policy_set_has_templates(const struct policy_set *policies, const struct object *object)
{
    for (size_t i = 0; i < policies->count; i++)
        if (templated_kind_find(&policies->items[i], object->api_version, object->kind_name) !=
            NULL)
            return true;
    return false;
}

static bool judges_templates(const struct policy *policy)
{
    for (size_t i = 0; i < policy->rail_count; i++)
        if ((policy->rails[i].rail->kinds & KIND_BIT(KIND_CUSTOM)) != 0 &&
            policy_may_use(policy, &policy->rails[i]))
            return true;
    return false;
}

static bool has_resource(const struct custom_resources *resources,
                         const struct templated_kind *kind)
{
    FOR_EACH(resource, resources)
        if (text_equal(resource->group, kind->group) &&
            text_equal(resource->plural, kind->resource))
            return true;
    return false;
}

void policy_set_custom_resources(const struct policy_set *policies, struct arena *arena,
                                 struct custom_resources *resources)
{
    *resources = (struct custom_resources){0};
    FOR_EACH(policy, policies) {
        for (size_t j = 0; judges_templates(policy) && j < policy->templated_count; j++)
            if (!has_resource(resources, &policy->templated[j]))
                *LIST_PUSH(arena, resources) = (struct custom_resource){
                    policy->templated[j].group, policy->templated[j].resource};
    }
}
