#include "policy/rails/accelerators.h"

/* What the pod is to tolerate: every hard taint of the key, whatever its value. */
static bool tolerates(const struct tolerations *tolerations, struct text key)
{
    bool schedules = false;
    bool executes = false;
    for (size_t i = 0; i < tolerations->count; i++) {
        const struct toleration *toleration = &tolerations->items[i];
        if (!text_is(toleration->op, "Exists"))
            continue;
        struct taint taint = {.key = key, .effect = TEXT("NoSchedule")};
        schedules |= toleration_covers(toleration, &taint);
        taint.effect = TEXT("NoExecute");
        executes |= toleration_covers(toleration, &taint);
    }
    return schedules && executes;
}

struct wanted_keys {
    struct text *items;
    size_t count, capacity;
};

static void want(struct wanted_keys *keys, const struct tolerations *tolerations, struct text key,
                 struct arena *arena)
{
    if (tolerates(tolerations, key))
        return;
    for (size_t i = 0; i < keys->count; i++)
        if (text_equal(keys->items[i], key))
            return;
    *LIST_PUSH(arena, keys) = key;
}

/* A resource of a part of a device (MIG, vGPU) stands on nodes that are tainted for the device. */
static void want_taints_of(const struct accelerators *settings, struct wanted_keys *keys,
                           const struct tolerations *tolerations, struct text resource,
                           struct arena *arena)
{
    enum device device = device_of_resource(resource);
    want(keys, tolerations, resource, arena);
    if (device == DEVICE_COUNT || accelerators_is_taint(settings, resource))
        return;
    for (size_t i = 0; i < settings->taints.count; i++)
        if (device_of_resource(settings->taints.items[i]) == device)
            want(keys, tolerations, settings->taints.items[i], arena);
}

static struct node toleration_of(struct text key, struct arena *arena)
{
    struct member *members = ARENA_ARRAY(arena, 2, struct member);
    members[0] = member_of(TEXT("key"), node_of_text(key));
    members[1] = member_of(TEXT("operator"), node_of_text(TEXT("Exists")));
    return node_of_members(members, 2);
}

void accelerators_change_pod(struct judgement *judgement, const struct accelerators *settings)
{
    struct arena *arena = judgement->arena;
    struct workload workload;
    if (!settings->add_toleration || !workload_read(judgement->object, arena, &workload))
        return;
    struct tolerations tolerations;
    struct resource_names names;
    struct wanted_keys keys = {0};
    tolerations_read(&workload, arena, &tolerations);
    resource_names_read(&workload, arena, &names);
    for (size_t i = 0; i < names.count; i++)
        if (accelerators_is_resource(settings, names.items[i]))
            want_taints_of(settings, &keys, &tolerations, names.items[i], arena);
    if (keys.count == 0)
        return;

    const struct field *list = field_get(arena, workload.spec, "tolerations");
    struct changes changes = {0};
    struct text_builder added = {.arena = arena};
    text_builder_add(&added, keys.count == 1 ? TEXT("a toleration of ") : TEXT("tolerations of "));
    for (size_t i = 0; i < keys.count; i++) {
        changes_append(&changes, arena, list, toleration_of(keys.items[i], arena));
        text_builder_printf(&added, "%s%.*s", i == 0 ? "" : ", ", TEXT_ARGS(keys.items[i]));
    }
    judgement_propose(judgement, &(struct proposal){
                                     .changes = changes.items,
                                     .change_count = changes.count,
                                     .added = text_builder_text(&added),
                                 });
}
