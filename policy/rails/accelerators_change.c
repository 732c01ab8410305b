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

static void add(struct tolerations *tolerations, struct text key, struct arena *arena)
{
    if (!tolerates(tolerations, key))
        *LIST_PUSH(arena, tolerations) = (struct toleration){.key = key, .op = TEXT("Exists")};
}

/* A resource of a part of a device (MIG, vGPU) stands on nodes that are tainted for the device. */
static void add_taints_of(const struct accelerators *settings, struct tolerations *tolerations,
                          struct text resource, struct arena *arena)
{
    enum device device = device_of_resource(resource);
    add(tolerations, resource, arena);
    if (device == DEVICE_COUNT || accelerators_is_taint(settings, resource))
        return;
    for (size_t i = 0; i < settings->taints.count; i++)
        if (device_of_resource(settings->taints.items[i]) == device)
            add(tolerations, settings->taints.items[i], arena);
}

void accelerators_add_tolerations(const struct accelerators *settings,
                                  const struct resource_names *names,
                                  struct tolerations *tolerations, struct arena *arena)
{
    for (size_t i = 0; settings->add_toleration && i < names->count; i++)
        if (accelerators_is_resource(settings, names->items[i]))
            add_taints_of(settings, tolerations, names->items[i], arena);
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
    if (!workload_read(judgement->object, arena, &workload))
        return;
    struct tolerations tolerations;
    struct resource_names names;
    tolerations_read(&workload, arena, &tolerations);
    resource_names_read(&workload, arena, &names);
    size_t written = tolerations.count;
    accelerators_add_tolerations(settings, &names, &tolerations, arena);
    if (tolerations.count == written)
        return;

    const struct field *list = field_get(arena, workload.spec, "tolerations");
    struct changes changes = {0};
    struct text_builder added = {.arena = arena};
    text_builder_add(&added, tolerations.count == written + 1 ? TEXT("a toleration of ")
                                                              : TEXT("tolerations of "));
    for (size_t i = written; i < tolerations.count; i++) {
        struct text key = tolerations.items[i].key;
        changes_append(&changes, arena, list, toleration_of(key, arena));
        text_builder_printf(&added, "%s%.*s", i == written ? "" : ", ", TEXT_ARGS(key));
    }
    judgement_propose(judgement, &(struct proposal){
                                     .changes = changes.items,
                                     .change_count = changes.count,
                                     .added = text_builder_text(&added),
                                 });
}
