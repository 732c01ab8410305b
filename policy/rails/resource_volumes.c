/* What resource-requests says of volumes in memory. */
#include "kube/container.h"
#include "kube/pod.h"
#include "kube/quantity.h"
#include "policy/rails/resource_requests.h"

static const size_t UNLIMITED = SIZE_MAX;

static size_t bytes_of_limit(const struct amount *limit)
{
    static const int64_t byte_milli = 1000;
    return limit->given && limit->valid ? (size_t)(limit->milli / byte_milli) : UNLIMITED;
}

/* A volume counts once for a container, however often it mounts it. */
static void add_room(struct text_map *rooms, const struct container *container, size_t bytes,
                     struct arena *arena)
{
    struct text_map seen = {0};
    FOR_ITEMS(mount, node_get(container->field->node, "volumeMounts")) {
        struct text name = node_string(node_get(mount, "name"));
        if (!text_map_add(&seen, arena, name))
            continue;
        size_t *room = text_map_at(rooms, arena, name);
        *room = bytes > UNLIMITED - *room ? UNLIMITED : *room + bytes;
    }
}

static bool is_in_memory(const struct node *volume)
{
    return text_is(node_string(node_at(volume, "emptyDir.medium")), "Memory");
}

static bool some_is_in_memory(const struct node *volumes)
{
    FOR_ITEMS(volume, volumes)
        if (is_in_memory(volume))
            return true;
    return false;
}

static void judge_volume(struct rail_call *call, const struct field *volume, size_t room)
{
    struct arena *arena = call->arena;
    const struct field *empty_dir = field_get(arena, volume, "emptyDir");
    struct amount size;
    amount_read(field_get(arena, empty_dir, "sizeLimit"), &size);
    if (!is_in_memory(volume->node) || !size.valid || room == 0 || room == UNLIMITED ||
        bytes_of_limit(&size) <= room)
        return;
    static const size_t mebi = (size_t)1 << 20;
    struct text limit = room % mebi == 0
                            ? quantity_canonical(arena_printf(arena, "%zuMi", room / mebi), arena)
                            : quantity_canonical(arena_printf(arena, "%zu", room), arena);
    report_found(
        call, SEVERITY_WARN, size.field, size.text,
        arena_printf(arena, "Set sizeLimit below %.*s, or raise limits.memory.", TEXT_ARGS(limit)),
        "This emptyDir may hold %.*s in memory, but its containers are limited to %.*s. "
        "What they write there counts as their memory, and they are killed above it.",
        TEXT_ARGS(size.text), TEXT_ARGS(limit));
}

/* tmpfs counts as memory of the container that writes, and of the pod. */
void resource_volumes_judge(struct rail_call *call, const struct workload *workload,
                            const struct containers *containers, struct limit_defaults *defaults)
{
    struct arena *arena = call->arena;
    struct text_map rooms = {0};
    struct amount request, limit;
    const struct field *volumes = field_get(arena, workload->spec, "volumes");
    if (!some_is_in_memory(volumes->node))
        return;
    FOR_EACH(container, containers) {
        container_amounts(call->world->snapshot, workload, container->field, TEXT("memory"), arena,
                          defaults, &request, &limit);
        add_room(&rooms, container, bytes_of_limit(&limit), arena);
    }
    container_amounts(call->world->snapshot, workload, workload->spec, TEXT("memory"), arena,
                      defaults, &request, &limit);
    size_t most_bytes = bytes_of_limit(&limit);
    for (size_t i = 0; i < node_count(volumes->node); i++) {
        const struct field *volume = field_item(arena, volumes, i);
        size_t room = text_map_get(&rooms, node_string(node_get(volume->node, "name")), 0);
        judge_volume(call, volume, room < most_bytes ? room : most_bytes);
    }
}
