/* The tolerations that accelerators adds to Pods. */
#include "kube/pod.h"
#include "kube/taint.h"
#include "policy/policy_set.h"
#include "policy/rails/accelerators.h"

/* What a pod tolerates whatever the value: of each key, and of all keys. */
enum { SCHEDULES = 1, EXECUTES = 2, HARD = SCHEDULES | EXECUTES };
struct tolerated {
    struct text_map effects;
    size_t of_all_keys;
};

static size_t effects_of(const struct toleration *toleration)
{
    if (!text_is(toleration->op, "Exists"))
        return 0;
    if (toleration->effect.size == 0)
        return HARD;
    if (text_is(toleration->effect, "NoSchedule"))
        return SCHEDULES;
    return text_is(toleration->effect, "NoExecute") ? EXECUTES : 0;
}

static struct tolerated tolerated_read(const struct tolerations *tolerations, struct arena *arena)
{
    struct tolerated tolerated = {0};
    FOR_EACH(toleration, tolerations) {
        if (toleration->key.size == 0)
            tolerated.of_all_keys |= effects_of(toleration);
        else
            *text_map_at(&tolerated.effects, arena, toleration->key) |= effects_of(toleration);
    }
    return tolerated;
}

/* The pod is to tolerate every hard taint of the key. */
static void add(struct tolerations *tolerations, struct tolerated *tolerated, struct text key,
                struct arena *arena)
{
    size_t *effects = text_map_at(&tolerated->effects, arena, key);
    if ((*effects | tolerated->of_all_keys) == HARD)
        return;
    *effects = HARD;
    *LIST_PUSH(arena, tolerations) = (struct toleration){.key = key, .op = TEXT("Exists")};
}

/* A resource of a part of a device (MIG, vGPU) stands on nodes that are tainted for the device. */
static void add_taints_of(const struct accelerators *settings, struct tolerations *tolerations,
                          struct tolerated *tolerated, struct text resource, struct arena *arena)
{
    enum device device = device_of_resource(resource);
    add(tolerations, tolerated, resource, arena);
    if (device == DEVICE_COUNT || accelerators_is_taint(settings, resource))
        return;
    for (size_t i = 0; i < settings->taints.count; i++)
        if (device_of_resource(settings->taints.items[i]) == device)
            add(tolerations, tolerated, settings->taints.items[i], arena);
}

void accelerators_add_tolerations(const struct accelerators *settings, const struct text_map *names,
                                  struct tolerations *tolerations, struct arena *arena)
{
    enum { RESOURCES_MAX = 32 };
    if (!settings->add_toleration)
        return;
    struct tolerated tolerated = tolerated_read(tolerations, arena);
    size_t asked = 0;
    for (size_t i = 0; i < names->count && asked < RESOURCES_MAX; i++) {
        if (!accelerators_is_resource(settings, names->items[i].key))
            continue;
        asked++;
        add_taints_of(settings, tolerations, &tolerated, names->items[i].key, arena);
    }
}

void accelerators_foresee_tolerations(const struct rail_call *call, const struct text_map *names,
                                      struct tolerations *tolerations)
{
    /* Most pods ask for nothing but cpu and memory: then nobody need know what the policy says. */
    size_t own = 0;
    while (own < names->count && !text_split(names->items[own].key, '/', NULL, NULL))
        own++;
    if (own == names->count)
        return;
    const struct rail_use *use = NULL;
    while ((use = rail_applied(call, &rail_accelerators, use)) != NULL)
        accelerators_add_tolerations(use->settings, names, tolerations, call->arena);
}

void accelerators_assume_tolerations(const struct rail_call *call, const struct text_map *names,
                                     struct tolerations *tolerations)
{
    if (!call->policy->extended_resource_toleration)
        return;
    for (size_t i = 0; i < names->count; i++) {
        struct text name = names->items[i].key;
        if (resource_is_extended(name))
            *LIST_PUSH(call->arena, tolerations) = toleration_of_resource(name);
    }
}

static struct node toleration_of(struct text key, struct arena *arena)
{
    struct member *members = ARENA_ARRAY(arena, 2, struct member);
    members[0] = member_of(TEXT("key"), node_of_text(key));
    members[1] = member_of(TEXT("operator"), node_of_text(TEXT("Exists")));
    return node_of_members(members, 2);
}

void accelerators_change_pod(struct rail_call *call, const struct accelerators *settings)
{
    struct arena *arena = call->arena;
    struct workload workload;
    if (!workload_read(call->object, arena, &workload))
        return;
    struct tolerations tolerations;
    struct text_map names;
    tolerations_read(&workload, arena, &tolerations);
    resource_names_read(&workload, arena, &names);
    size_t written = tolerations.count;
    accelerators_add_tolerations(settings, &names, &tolerations, arena);
    if (tolerations.count == written)
        return;

    const struct field *list = field_get(arena, workload.spec, "tolerations");
    struct patch patch = {0};
    struct text_builder added = {.arena = arena};
    text_builder_add(&added, tolerations.count == written + 1 ? TEXT("a toleration of ")
                                                              : TEXT("tolerations of "));
    for (size_t i = written; i < tolerations.count; i++) {
        struct text key = tolerations.items[i].key;
        patch_append(&patch, arena, list, toleration_of(key, arena));
        text_builder_printf(&added, "%s%.*s", i == written ? "" : ", ", TEXT_ARGS(key));
    }
    propose_change(call, &(struct change){.patch = patch, .added = text_builder_text(&added)});
}
